/* SPDX-License-Identifier: ISC */
/*
 * blk-trace - set up, start, stop and remove the tracing of block devices
 *
 * Requires: a kernel with CONFIG_BLK_DEV_IO_TRACE, debugfs mounted, root.
 * blk-trace refuses to set up a device that is traced already. It prints the directories of
 * the relay files, one per line. The kinds of actions are read write flush sync queue
 * requeue issue complete fs pc notify ahead meta discard drv_data fua. With -l the trace has no
 * key, so only -f starts, stops or removes it.
 * A DEVICE is a name below /dev, or a path.
 * Exit: 0 done, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "blktrace.h"

static struct blk_wanted wanted;
static const char *key;
static int any_key;
static unsigned long kb = 2048, buffers = 4;

static const struct tool tool = {
	TOOL_BLK_TRACE,
	.places = (const struct opt_place[]){
		{ 'f', .flag = &any_key }, { 'k', .text = &key }, { 'b', .number = &kb },
		{ 'n', .number = &buffers }, { 0 },
	},
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
			usage_error(&tool, "not a kind of action: '%.*s'; blk-trace(1) lists them",
				    n < 80 ? (int)n : 80, list);
		mask |= 1u << i;
	}
	return mask;
}

/* Parse FROM-TO of -l. */
static void range(const char *s)
{
	const char *p = s;

	wanted.from = text_digits(&p);
	if (*p++ == '-')
		wanted.to = text_digits(&p);
	if (*p || wanted.to < wanted.from || !wanted.to)
		usage_error(&tool, "not FROM-TO in sectors: '%.80s'; give two numbers, the smaller "
			    "first", s);
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

/* A device of the command line. */
struct device {
	const char *name;
	int fd;
	dev_t number;
};

/* Set up the trace of a device and print its directory. Return 0, or -1, reported. */
static int set_up(const struct device *d)
{
	char name[BLK_NAME], dir[PATH_MAX];
	int r = blk_setup(d->fd, &wanted, name);

	if (r == -EBUSY)
		return err_msg("%s is traced already; end that trace first", d->name);
	if (r == -ENOTTY)
		return err_msg("this kernel does not trace %s; it needs "
			       "CONFIG_BLK_DEV_IO_TRACE", d->name);
	if (r < 0) {
		errno = -r;
		return err_capability(CAPS_SYS_ADMIN, "unable to set up the tracing of %s",
				      d->name);
	}
	if (readable(name, dir) < 0) {
		blk_remove(d->fd);
		return -1;
	}
	stdout_print("%s\n", dir);
	return 0;
}

static const struct command {
	const char *name;
	int (*fn)(int fd);              /* NULL: set_up */
	int forgives;                   /* EINVAL is no error: started or stopped already */
} commands[] = {
	{ "setup", NULL, 0 }, { "start", blk_start, 1 }, { "stop", blk_stop, 1 },
	{ "remove", blk_remove, 0 },
};

/*
 * Start, stop or remove the trace of a device. Return 0, or -1, reported, if the
 * kernel refuses or if the trace has another key and any_key is 0.
 */
static int run(const struct command *c, const struct device *d)
{
	uint64_t end = blk_end_lba(d->number);
	int r;

	if (!end)
		return err_msg("%s is not traced", d->name);
	if (end != wanted.to && !any_key)
		return err_msg("%s is traced with another key; give -k KEY, or -f", d->name);
	r = c->fn(d->fd);
	if (r == -EINVAL && c->forgives)
		return 0;
	errno = -r;
	return r < 0 ? err_capability(CAPS_SYS_ADMIN, "unable to %s the tracing of %s", c->name,
				      d->name) : 0;
}

/* Read the options into wanted. */
static void parse(int argc, char **argv)
{
	int c;

	key = getenv("BLK_TRACE_KEY");
	while ((c = opt_next(&tool, argc, argv)) != -1)
		if (c == 'a')
			wanted.actions = actions(opt_value);
		else if (c == 'p')
			wanted.pid = (unsigned)text_pid(opt_value);
		else
			range(opt_value);
	wanted.n = (uint32_t)buffers;
	wanted.size = (uint32_t)(KB_BYTES(kb) / buffers);
	if (!wanted.to)
		wanted.to = blk_key(key && *key ? key : tool.name);
}

int main(int argc, char **argv)
{
	const struct command *c = commands;
	struct device *devices;
	size_t done = 0;
	int r = 0;

	parse(argc, argv);
	argv += opt_index;
	if (!*argv)
		usage_error(&tool, "no command; give setup, start, stop or remove");
	while (c < commands + sizeof(commands) / sizeof(*commands) && strcmp(*argv, c->name))
		c++;
	if (c == commands + sizeof(commands) / sizeof(*commands))
		usage_error(&tool, "no such command: '%.80s'", *argv);
	if (!*++argv)
		usage_error(&tool, "%s needs a DEVICE", c->name);

	devices = xcalloc((size_t)argc, sizeof(*devices));
	for (struct device *d = devices; (d->name = *argv); argv++, d++)
		if ((d->fd = blk_open(d->name, &d->number)) < 0)
			return REFUSED;
	for (; !r && devices[done].name; done += !r)
		r = c->fn ? run(c, &devices[done]) : set_up(&devices[done]);
	while (r && !c->fn && done--)
		blk_remove(devices[done].fd);
	if (!r)
		stdout_flush();
	return r ? REFUSED : DONE;
}
