/* SPDX-License-Identifier: ISC */
/*
 * relay-cat - drain the files of a relay channel until told to stop
 *
 * Requires: a directory of debugfs with a relay channel: trace0, trace1, ...
 *	-1           write what is there now, and end: for a channel in flight mode,
 *	             which overwrites what is old
 *	-o DIR       a file for each processor's, of the same name, in DIR; one that
 *	             is there already is refused. Default: all to standard output
 *	-p PREFIX    the files are called PREFIX and a number; default trace
 *	-w MS        look for what a sub-buffer holds that is not full so often;
 *	             default 100
 * Bytes, of which nothing is known: what one processor wrote comes in its order,
 * and what comes of one in a row ends where a record does. HUP INT TERM USR1 tell
 * it to stop: it writes what there is then. If the directory has a file "dropped"
 * that is not 0, it says so on standard error.
 * A reader that takes nothing for two seconds then is given up.
 * Exit: 0 stopped, or the channel was closed, 99 the reader was given up, 100
 * misused, 111 refused.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "blktrace/blktrace.h"

static const struct tool tool = {
	.name = "relay-cat",
	.usage = "relay-cat [-1] [-o DIR] [-p PREFIX] [-w MS] DIRECTORY",
	.purpose = "drain the files of a relay channel until told to stop",
	.letters = "1o:p:w:",
};

struct outlet {
	const struct relay *relay;
	int *fd;                /* one a file; NULL: to standard output */
	struct consumer to;
};

static int put(void *arg, const struct relay_file *f, const void *bytes, size_t n)
{
	struct outlet *o = arg;

	if (!o->fd)
		return consumer_put(&o->to, bytes, n) ? -1 : 0;
	if (fd_write_all(o->fd[f - o->relay->v], bytes, n) == 0)
		return 0;
	return err_errno("unable to write what %s had", f->name);
}

/* One for each, or none. */
static int make_files(struct outlet *o, const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t n = o->relay->n, i;

	if (dir < 0)
		return err_errno("unable to open %s", path);
	o->fd = calloc(n, sizeof(*o->fd));
	if (!o->fd)
		err_exit(REFUSED, "out of memory");
	for (i = 0; i < n; i++) {
		o->fd[i] = openat(dir, o->relay->v[i].name,
				  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (o->fd[i] < 0)
			break;
	}
	if (i == n)
		return close(dir);
	err_errno("unable to make %s/%s", path, o->relay->v[i].name);
	while (i--)
		unlinkat(dir, o->relay->v[i].name, 0);
	return -1;
}

int main(int argc, char **argv)
{
	const char *prefix = "trace", *to = NULL, *dir;
	static struct relay relay;
	static struct outlet out = { .relay = &relay };
	unsigned long ms = 100;
	unsigned long long dropped;
	int once = 0, ended = 0, c, r = 0, counter;

	out.to = CONSUMER;
	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case '1':
			once = 1;
			break;
		case 'o':
			to = opt_value;
			break;
		case 'p':
			if (!text_is_name(opt_value))
				usage_error(&tool, "not the beginning of a name: '%.80s'", opt_value);
			prefix = opt_value;
			break;
		case 'w':
			if (text_number(opt_value, 1, INT_MAX, &ms) < 0)
				usage_error(&tool, "not a number of milliseconds: '%.80s'",
					    opt_value);
		}
	dir = argv[opt_index];
	if (!dir)
		usage_error(&tool, "of which directory?");
	if (argv[opt_index + 1])
		usage_error(&tool, "unexpected operand '%.80s'", argv[opt_index + 1]);

	out.to.signals = wait_stop_signals();
	if (relay_open(&relay, dir, prefix) < 0 || (to && make_files(&out, to) < 0))
		return REFUSED;
	counter = relay_open_dropped(dir);
	if (!to)
		consumer_open(&out.to, &tool);
	confine();
	while (!r && !once && !out.to.stopping && !ended) {
		r = relay_read(&relay, 0, put, &out);
		if (!r)
			ended = relay_wait(&relay, out.to.signals, out.to.out, (int)ms);
		/* a reader's death, and the word to stop */
		consumer_wait(&out.to, -1, 0, 0);
	}
	if (!r)
		r = relay_read(&relay, 1, put, &out);
	dropped = relay_dropped(counter);
	if (dropped)
		err_note("lost %llu records, as %s/dropped has it", dropped, dir);
	return out.to.full ? out.to.full : r < 0 ? REFUSED : DONE;
}
