/* SPDX-License-Identifier: ISC */
/*
 * relay-cat - copy the data of a relay channel, such as a block trace
 *
 * Requires: a directory of debugfs with a relay channel: trace0, trace1, ...
 * Without -o, relay-cat writes all to standard output. -1 is for a channel in flight mode,
 * which overwrites its oldest data.
 * relay-cat does not look into the bytes. The bytes of one CPU keep their order, and
 * a piece of them ends where a record ends. SIGHUP, SIGINT, SIGTERM and SIGUSR1 stop
 * relay-cat: it writes the bytes that exist, and gives up a reader that takes nothing
 * for two seconds. If the file "dropped" of the directory is not 0, relay-cat prints its
 * number on standard error.
 * Exit: 0 stopped, or the channel was closed, 99 the reader was given up, 100 usage error,
 * 111 refused, 141 the reader is gone.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "blktrace.h"
#include "reader/reader.h"

static const char *prefix = "trace", *to;
static int once;
static unsigned long ms = 100;

static const struct tool tool = {
	TOOL_RELAY_CAT,
	.places = (const struct opt_place[]){
		{ '1', .flag = &once }, { 'o', .text = &to }, { 'p', .text = &prefix },
		{ 'w', .number = &ms }, { 0 },
	},
};

struct outlet {
	const struct relay *relay;
	int *fd;                /* one for each relay file; NULL: standard output */
	struct consumer to;
};

/* Write bytes of a relay file. This is a sink of relay_read. */
static int put(void *arg, const struct relay_file *f, const void *bytes, size_t n)
{
	struct outlet *o = arg;

	if (!o->fd)
		return consumer_put(&o->to, bytes, n) ? -1 : 0;
	if (fd_write_all(o->fd[f - o->relay->v], bytes, n) == 0)
		return 0;
	return err_errno("unable to write the data of %s", f->name);
}

/* Make a file for each relay file in the directory, or none. Return 0 or -1. */
static int make_files(struct outlet *o, const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t n = o->relay->n, i;

	if (dir < 0)
		return err_errno("unable to open %s", path);
	o->fd = xcalloc(n, sizeof(*o->fd));
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
	static struct relay relay;
	static struct outlet out; /* large; an initializer would put it into the program's file */
	const char *dir;
	unsigned long long dropped;
	int ended = 0, r = 0, counter;

	out.relay = &relay;
	out.to = CONSUMER;
	opt_next(&tool, argc, argv);
	dir = argv[opt_index];
	if (!dir)
		usage_error(&tool, "no directory; give the one with the relay files");
	opt_end(&tool, argv[opt_index + 1]);

	out.to.signals = wait_stop_signals();
	if (relay_open(&relay, dir, prefix) < 0 || (to && make_files(&out, to) < 0))
		return REFUSED;
	counter = relay_open_dropped(dir);
	if (!to && consumer_open(&out.to, &tool) < 0)
		return REFUSED;
	confine();
	while (!r && !once && !out.to.stopping && !ended) {
		r = relay_read(&relay, 0, put, &out);
		if (!r)
			ended = relay_wait(&relay, out.to.signals, out.to.out, (int)ms);
		/* has the reader died, or has a signal come? */
		consumer_wait(&out.to, -1, 0, 0);
	}
	if (!r)
		r = relay_read(&relay, 1, put, &out);
	dropped = relay_dropped(counter);
	if (dropped)
		err_note("lost %llu records; %s/dropped counts them", dropped, dir);
	return out.to.full ? out.to.full : r < 0 ? REFUSED : DONE;
}
