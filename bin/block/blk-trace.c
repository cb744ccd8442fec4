/* SPDX-License-Identifier: ISC */
/*
 * blk-trace - set up, start, stop and remove the tracing of block devices
 *
 * Requires: a kernel with CONFIG_BLK_DEV_IO_TRACE, debugfs mounted, root.
 * blk-trace refuses to set up a device that is traced already. It prints the directories of
 * the relay files, one per line. The kinds of actions are read write flush sync queue
 * requeue issue complete fs pc notify ahead meta discard drv_data fua. With -l there is no
 * room for a key, so only -f starts, stops or removes the trace.
 * A DEVICE is a name below /dev, or a path.
 * Exit: 0 done, 100 usage error, 111 refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "blktrace.h"

static const struct tool tool = {
	.name = "blk-trace",
	.help =
		"blk-trace [-f] [-k KEY] [-a ACTION[,ACTION]...] [-p PID] [-l FROM-TO] [-b KB] "
		"[-n N] setup|start|stop|remove DEVICE...\n"
		"set up, start, stop and remove the tracing of block devices\n"
		"setup DEVICE...  set up a trace of each device, or of none\n"
		"start DEVICE...  start traces that were set up with the same key\n"
		"stop DEVICE...  stop these traces\n"
		"remove DEVICE...  remove these traces\n"
		"-a ACTION,...  setup: record only these kinds of actions\n"
		"-b KB  setup: the size of the buffer of each CPU; default 2048\n"
		"-f  start, stop, remove: ignore the key of the trace\n"
		"-k KEY  distinguish this trace; default $BLK_TRACE_KEY, or blk-trace\n"
		"-l FROM-TO  setup: record only these sectors\n"
		"-n N  setup: the number of sub-buffers in a buffer; default 4\n"
		"-p PID  setup: record only what this task does itself\n",
};

/* Return the bits of the kinds in the list of -a. */
static unsigned actions(const char *list)
{
	unsigned mask = 0;

	for (size_t n; *list; list += n + (list[n] == ',')) {
		unsigned i = 0;

		n = strcspn(list, ",");
		while (*blk_actions[i] && (strlen(blk_actions[i]) != n ||
					  strncmp(blk_actions[i], list, n)))
			i++;
		if (!*blk_actions[i])
			usage_error(&tool, "not a kind of action: '%.*s'",
				    n < 80 ? (int)n : 80, list);
		mask |= 1u << i;
	}
	return mask;
}

/* Parse FROM-TO of -l. */
static void range(const char *s, struct blk_wanted *w)
{
	const char *p = s;

	w->from = text_digits(&p);
	if (*p++ == '-')
		w->to = text_digits(&p);
	if (*p || w->to < w->from || !w->to)
		usage_error(&tool, "not FROM-TO in sectors: '%.80s'", s);
}

/*
 * Write the path of the relay files to dir, and check that they can be opened: in lockdown
 * they cannot. Return 0, or -1, reported.
 */
static int readable(const char *name, char *dir)
{
	char path[PATH_MAX + 16];
	int fd;

	blk_directory(name, dir);
	str_format(path, sizeof(path), "%s/trace0", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == EPERM)
		return err_errno("unable to open %s (the lockdown of the kernel forbids relay "
				 "files)", path);
	if (fd < 0)
		return err_file("unable to open %s (is debugfs mounted?)", path);
	return close(fd);
}

/* Set up the trace of a device and print its directory. Return 0, or -1, reported. */
static int set_up(int fd, const char *device, const struct blk_wanted *w)
{
	char name[BLK_NAME], dir[PATH_MAX];
	int r = blk_setup(fd, w, name);

	if (r == -EBUSY)
		return err_msg("%s is traced already; end that trace first", device);
	if (r == -ENOTTY)
		return err_msg("this kernel does not trace %s; it needs "
			       "CONFIG_BLK_DEV_IO_TRACE", device);
	if (r < 0) {
		errno = -r;
		return err_capability(CAPS_SYS_ADMIN, "unable to set up the tracing of %s",
				      device);
	}
	if (readable(name, dir) < 0) {
		blk_remove(fd);
		return -1;
	}
	stdout_print("%s\n", dir);
	return 0;
}

/*
 * Start, stop or remove the trace of a device. Return 0, or -1, reported, if the
 * kernel refuses or if the trace has another key and any_key is 0.
 */
static int command(int fd, const char *device, const char *what, dev_t dev,
		   const struct blk_wanted *w, int any_key)
{
	uint64_t end = blk_end_lba(dev);
	int r;

	if (!end)
		return err_msg("%s is not traced", device);
	if (end != w->to && !any_key)
		return err_msg("%s is traced with another key; give -k KEY, or -f", device);
	r = !strcmp(what, "start") ? blk_start(fd) : !strcmp(what, "stop") ? blk_stop(fd) :
	    blk_remove(fd);
	/* it is started or stopped already */
	if (r == -EINVAL && strcmp(what, "remove"))
		return 0;
	errno = -r;
	return r < 0 ? err_capability(CAPS_SYS_ADMIN, "unable to %s the tracing of %s", what,
				      device) : 0;
}

int main(int argc, char **argv)
{
	struct blk_wanted w = { 0 };
	const char *key = getenv("BLK_TRACE_KEY"), *what = NULL;
	unsigned long kb = 2048, n = 4;
	int c, any_key = 0, setting_up, done = 0, r = 0;
	size_t ndevices;
	static int *fd;
	static dev_t *dev;

	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case 'f':
			any_key = 1;
			break;
		case 'k':
			key = opt_value;
			break;
		case 'a':
			w.actions = actions(opt_value);
			break;
		case 'p':
			w.pid = (unsigned)opt_pid(&tool, opt_value);
			break;
		case 'l':
			range(opt_value, &w);
			break;
		case 'b':
			opt_number(&tool, "a number of kilobytes, 16 to 1048576", 16, 1024 * 1024,
				   &kb);
			break;
		case 'n':
			opt_number(&tool, "a number of sub-buffers, 2 to 1024", 2, 1024, &n);
		}
	argv += opt_index;
	what = *argv;
	if (!what)
		usage_error(&tool, "no command; give setup, start, stop or remove");
	setting_up = !strcmp(what, "setup");
	if (!setting_up && strcmp(what, "start") && strcmp(what, "stop") && strcmp(what, "remove"))
		usage_error(&tool, "no such command: '%.80s'", what);
	if (!*++argv)
		usage_error(&tool, "%s needs a DEVICE", what);
	w.n = (uint32_t)n;
	w.size = (uint32_t)(KB_BYTES(kb) / n);
	if (!w.to)
		w.to = blk_key(key && *key ? key : tool.name);

	for (ndevices = 0; argv[ndevices]; )
		ndevices++;
	fd = xcalloc(ndevices, sizeof(*fd));
	dev = xcalloc(ndevices, sizeof(*dev));
	for (size_t i = 0; i < ndevices; i++) {
		fd[i] = blk_open(argv[i], &dev[i]);
		if (fd[i] < 0)
			return REFUSED;
	}
	for (; !r && argv[done]; done += !r)
		r = setting_up ? set_up(fd[done], argv[done], &w)
			       : command(fd[done], argv[done], what, dev[done], &w, any_key);
	while (r && setting_up && done--)
		blk_remove(fd[done]);
	if (!r)
		stdout_flush();
	return r ? REFUSED : DONE;
}
