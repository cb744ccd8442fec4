/* SPDX-License-Identifier: ISC */
/*
 * dt-trace - print whether a thread of this host serves a marked request
 *
 * Requires: a request probe that is on (dt-probe), root.
 * The signals of -w are SIGHUP, SIGINT, SIGTERM and SIGUSR1.
 * dt-trace prints 1 if a thread serves a marked request, 0 if no thread does.
 * Exit: 0 done, 100 usage error, 111 refused.
 */
#include <poll.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "bpf/bpf.h"
#include "live/live.h"
#include "requests.h"

static const char *name;
static int waiting;

static const struct tool tool = {
	TOOL_DT_TRACE, .places = (const struct opt_place[]){
		{ 'N', .text = &name }, { 'w', .flag = &waiting }, { 0 },
	},
};

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
 * Wait until the answer changes or a signal comes. The programs write a mark for each window: look
 * at the map whenever a mark comes. Return 0, or not 0 with an error message.
 */
static int wait_for_change(int map)
{
	struct channel ch;
	int stop = wait_stop_signals(), held = stop < 0 ? -1 : dt_reader_add(name, &ch, -1);
	int before, r = 0;
	struct pollfd *p = held < 0 ? NULL : calloc(ch.n + 1, sizeof(*p));
	struct rings rings;

	if (held < 0)
		return -1;
	if (!p)
		return err_msg("out of memory");
	if (channel_take(&ch, &rings) < 0)
		return -1;
	confine_paths(CAPS_BPF, NULL, 0);
	p[0] = (struct pollfd){ .fd = stop, .events = POLLIN };
	for (size_t i = 0; i < ch.n; i++)
		p[i + 1] = (struct pollfd){ .fd = ch.rings[i], .events = POLLIN };
	before = serving(map);
	while (!r && !p[0].revents && serving(map) == before) {
		if (poll(p, ch.n + 1, -1) < 0 && errno != EINTR)
			r = err_errno("unable to wait for marks");
		rings_drop(&rings);
	}
	dt_reader_remove(name, &ch);
	return r;
}

int main(int argc, char **argv)
{
	int map;

	name = dt_name();
	opt_next(&tool, argc, argv);
	dt_check_name(&tool, name);
	opt_end(&tool, argv[opt_index]);
	map = dt_open(name, DT_PIDS);
	if (map < 0 || (waiting && wait_for_change(map) < 0))
		return REFUSED;
	stdout_print("%d\n", serving(map));
	stdout_flush();
	return DONE;
}
