/* SPDX-License-Identifier: ISC */
/*
 * tfs-pidfilter - set the pid filter: the tasks whose events an instance records
 *
 * Requires: tracefs.
 * Without PID, or with "-", tfs-pidfilter reads the pids from standard input, separated
 * by commas, spaces or newlines. The kernel adds the children of a task when they are
 * forked, and drops tasks that have ended. If the list of an instance was never set, the
 * instance records all tasks.
 * Exit: 0 done, 1 list: no task, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "help.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"

static int functions;

static const struct tool tool = {
	TOOL_TFS_PIDFILTER,
	.takes_instance = 1,
	.places = (const struct opt_place[]){ { 'f', .flag = &functions }, { 0 } },
};

static int print_list(int dir)
{
	struct pids s = { 0 };
	int r;

	if (pidfilter_list(dir, &s) < 0)
		return REFUSED;
	for (size_t i = 0; i < s.n; i++)
		stdout_print("%d\n", (int)s.v[i]);
	stdout_flush();
	r = s.n ? DONE : err_no("the pid filter names no task");
	pids_clear(&s);
	return r;
}

/* Add the new pids before removing the old ones: an empty list would record all tasks. */
static int set(int dir, struct pids *s)
{
	struct pids old = { 0 };
	int r = pidfilter_list(dir, &old);

	if (!r)
		r = pidfilter_add(dir, s, functions);
	pids_minus(&old, s);
	if (!r)
		r = pidfilter_remove(dir, &old, functions);
	pids_clear(&old);
	return r;
}

int main(int argc, char **argv)
{
	const char *command;
	struct pids s = { 0 };
	int dir, r;

	opt_next(&tool, argc, argv);
	argv += opt_index;
	command = *argv ? *argv++ : "";
	if (!strcmp(command, "list") || !strcmp(command, "mirror")) {
		opt_end(&tool, *argv);
		if (*command == 'm')
			instance_require(&tool, opt_root, opt_instance);
		dir = tracefs_open(opt_root, opt_instance, NULL);
		if (dir < 0)
			return REFUSED;
		return *command == 'l' ? print_list(dir) :
		       pidfilter_mirror(dir) < 0 ? REFUSED : DONE;
	}
	if (strcmp(command, "set") && strcmp(command, "add") && strcmp(command, "remove"))
		usage_error(&tool, *command ? "no such command: '%.80s'" :
			    "no command; give set, add, remove, list or mirror%s", command);
	instance_require(&tool, opt_root, opt_instance);
	if (pids_operands(&tool, argv, &s) < 0)
		return REFUSED;
	dir = tracefs_open(opt_root, opt_instance, NULL);
	if (dir < 0)
		r = -1;
	else if (*command == 's')
		r = set(dir, &s);
	else if (*command == 'a')
		r = pidfilter_add(dir, &s, functions);
	else
		r = pidfilter_remove(dir, &s, functions);
	pids_clear(&s);
	return r < 0 ? REFUSED : DONE;
}
