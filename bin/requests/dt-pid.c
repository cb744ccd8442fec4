/* SPDX-License-Identifier: ISC */
/*
 * dt-pid - add, remove and list the threads whose requests a request probe follows
 *
 * Requires: a request probe that is on (dt-probe), root.
 * TAG is the socket, in hexadecimal, whose request the thread serves now; 0: the thread was
 * added.
 * Without PID, or with "-", dt-pid reads the pids from standard input, separated by commas,
 * spaces or newlines. A pid is a thread of the initial pid namespace; with "dt-probe -g" it
 * is a process.
 * Exit: 0 done, 1 list: no thread; remove: a thread was not in the list, 100 usage error,
 * 111 refused.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "help.h"
#include "proc/proc.h"
#include "bpf/bpf.h"
#include "requests.h"

static const char *name;

static const struct tool tool = {
	TOOL_DT_PID, .places = (const struct opt_place[]){ { 'N', .text = &name }, { 0 } },
};

/* Print the tasks of the map. Return an exit status. */
static int print_list(int map)
{
	struct pids all = { 0 };
	uint32_t pid;
	int n = 0;

	if (dt_tasks(map, 0, &all) < 0)
		return REFUSED;
	for (size_t i = 0; i < all.n; i++) {
		struct dt_task t;

		pid = (uint32_t)all.v[i];
		if (bpf_lookup(map, &pid, &t) < 0)
			continue; /* the task has ended meanwhile */
		n++;
		stdout_print("%u %u (%llx)\n", pid, t.count, (unsigned long long)t.tag);
	}
	pids_clear(&all);
	stdout_flush();
	return n ? DONE : err_no("the request probe follows no task");
}

/*
 * Check that each pid is an existing task, and with of_processes a process. Return 0, or -1,
 * reported.
 */
static int check(const struct pids *s, int of_processes)
{
	struct task t;

	if (procfs_is_initial() < 0)
		return -1;
	for (size_t i = 0; i < s->n; i++) {
		pid_t tgid;
		uid_t uid;

		if (task_read(s->v[i], &t) < 0)
			return err_msg("there is no task %d", (int)s->v[i]);
		if (of_processes && !task_ids(s->v[i], &tgid, &uid) && tgid != s->v[i])
			return err_msg("%d is a thread of %d, and this request probe follows "
				       "processes; give %d", (int)s->v[i], (int)tgid, (int)tgid);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct pids s;
	const char *command;
	int map, flags, r = 0;

	name = dt_name();
	opt_next(&tool, argc, argv);
	dt_check_name(&tool, name);
	argv += opt_index;
	command = *argv ? *argv++ : "";
	if (!strcmp(command, "list")) {
		opt_end(&tool, *argv);
		map = dt_open(name, DT_PIDS);
		return map < 0 ? REFUSED : print_list(map);
	}
	if (strcmp(command, "add") && strcmp(command, "remove"))
		usage_error(&tool, *command ? "no such command: '%.80s'" :
			    "no command; give add, remove or list%s", command);
	if (pids_operands(&tool, argv, &s) < 0)
		return REFUSED;
	flags = dt_flags(name);
	map = flags < 0 ? -1 : dt_open(name, DT_PIDS);
	if (map < 0)
		return REFUSED;
	if (*command == 'a') {
		r = check(&s, flags & DT_GROUP);
		for (size_t i = 0; !r && i < s.n; i++)
			r = dt_follow(map, s.v[i]);
		return r < 0 ? REFUSED : DONE;
	}
	for (size_t i = 0; i < s.n; i++)
		r |= bpf_delete(map, &s.v[i]) < 0;
	return r ? err_no("the request probe %s did not follow all of these tasks", name) : DONE;
}
