/* SPDX-License-Identifier: ISC */
/*
 * dt-trace - print whether a thread of this host serves a marked request
 *
 * Requires: a request probe that is on (dt-probe), root; -w: tracefs.
 * The signals of -w are SIGHUP, SIGINT, SIGTERM and SIGUSR1.
 * dt-trace prints 1 if a thread serves a marked request, 0 if no thread does.
 * Exit: 0 done, 100 usage error, 111 refused.
 */
#include <poll.h>

#include "base/base.h"
#include "help.h"
#include "tracefs/tracefs.h"
#include "bpf/bpf.h"
#include "requests.h"

static const struct tool tool = { TOOL_DT_TRACE };

/* Is a task of the map in a window? */
static int serving(int map)
{
	struct dt_task t;
	uint32_t pid = 0;
	int r = bpf_next(map, NULL, &pid);

	/*
	 * If the key is gone, bpf_next returns the first key again. Limit the number of steps
	 * to the size of the map, so that the loop ends.
	 */
	for (int n = 0; !r && n < DT_TASKS; n++, r = bpf_next(map, &pid, &pid))
		if (!bpf_lookup(map, &pid, &t) && t.tag)
			return 1;
	return 0;
}

/*
 * Wait until the answer changes or a signal comes. The programs write a mark line for each
 * window to every instance that records the event. Make such an instance, and read the map
 * whenever something arrives in it. Return 0, or not 0 with an error message.
 */
static int wait_for_change(int map)
{
	int root = tracefs_open(NULL, "", NULL), instances, dir, pipe, r = -1, before;
	struct pollfd p = { .events = POLLIN };
	char name[64], text[4096];
	int stop = wait_stop_signals();

	if (root < 0 || stop < 0)
		return -1;
	instances = openat(root, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	str_format(name, sizeof(name), INSTANCE_PREFIX "dt-trace.%d", (int)getpid());
	dir = instances < 0 ? -1 : owned_make(instances, name, 0750);
	if (dir < 0)
		return err_file("unable to make instance %s", name);
	pipe = openat(dir, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (pipe < 0)
		err_file("unable to open trace_pipe");
	else if (!ctl_write(dir, "buffer_percent", "0", 0) &&
		 !ctl_write(dir, "events/bpf_trace/bpf_trace_printk/enable", "1", 0))
		r = 0;
	confine_paths(CAPS_BPF, &instances, 1);
	before = serving(map);
	p.fd = pipe;
	while (!r && serving(map) == before) {
		struct pollfd both[2] = { p, { .fd = stop, .events = POLLIN } };

		if (poll(both, 2, -1) < 0 && errno != EINTR)
			r = err_errno("unable to wait");
		if (both[1].revents)
			break;
		while (read(pipe, text, sizeof(text)) > 0)
			;
	}
	fd_close(pipe);
	instance_remove(instances, name, 2000);
	return r;
}

int main(int argc, char **argv)
{
	const char *name = dt_name();
	int c, map, waiting = 0;

	while ((c = opt_next(&tool, argc, argv)) != -1)
		if (c == 'w')
			waiting = 1;
		else
			name = opt_value;
	if (!dt_name_ok(name))
		usage_error(&tool,
			    "not a request probe's name: '%.80s'; use letters, digits, _ . -",
			    name);
	opt_end(&tool, argv[opt_index]);
	map = dt_open(name, DT_PIDS);
	if (map < 0 || (waiting && wait_for_change(map) < 0))
		return REFUSED;
	stdout_print("%d\n", serving(map));
	stdout_flush();
	return DONE;
}
