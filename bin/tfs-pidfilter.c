/* SPDX-License-Identifier: ISC */
/*
 * tfs-pidfilter - say whose events an instance records
 *
 * Requires: tracefs.
 *	set PID...     these and no others
 *	add PID...     these as well
 *	remove PID...  these no more
 *	list           print them, one a line
 *	mirror         the function tracers' filter becomes what the events' is
 *	-f             the function tracers' filter as well
 *	-R ROOT        take ROOT for the tracefs root, unchecked
 *	-i INSTANCE    the filter of this instance; default $TFS_INSTANCE
 * No PID, or "-": they come from standard input, between
 * commas, blanks or lines.
 * Children are followed from their fork on, and forgotten when they are gone.
 * With a list that was never set, an instance records everybody.
 * Exit: 0 done, 1 list: nobody, 100 misused, 111 refused.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"

static const struct tool tool = {
	.name = "tfs-pidfilter",
	.usage = "tfs-pidfilter [-f] [-R ROOT] [-i INSTANCE] set|add|remove|list|mirror [PID]...",
	.purpose = "say whose events an instance records",
	.letters = "fR:i:",
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
	r = s.n ? DONE : NO;
	pids_clear(&s);
	return r;
}

/* The new ones first: at no time is the list empty, which means everybody. */
static int set(int dir, struct pids *s, int functions)
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
	const char *root = NULL, *instance = NULL, *command;
	struct pids s = { 0 };
	int c, dir, functions = 0, r;

	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case 'f':
			functions = 1;
			break;
		case 'R':
			root = opt_value;
			break;
		default:
			instance = opt_value;
		}
	argv += opt_index;
	command = *argv ? *argv++ : "";
	if (!strcmp(command, "list") || !strcmp(command, "mirror")) {
		if (*argv)
			usage_error(&tool, "unexpected operand '%.80s'", *argv);
		if (*command == 'm')
			instance_require(&tool, root, instance);
		dir = tracefs_open(root, instance, NULL);
		if (dir < 0)
			return REFUSED;
		return *command == 'l' ? print_list(dir) :
		       pidfilter_mirror(dir) < 0 ? REFUSED : DONE;
	}
	if (strcmp(command, "set") && strcmp(command, "add") && strcmp(command, "remove"))
		usage_error(&tool, *command ? "no such command: '%.80s'" : "nothing to do%s",
			    command);
	instance_require(&tool, root, instance);
	pids_operands(&tool, argv, &s);
	dir = tracefs_open(root, instance, NULL);
	if (dir < 0)
		r = -1;
	else if (*command == 's')
		r = set(dir, &s, functions);
	else if (*command == 'a')
		r = pidfilter_add(dir, &s, functions);
	else
		r = pidfilter_remove(dir, &s, functions);
	pids_clear(&s);
	return r < 0 ? REFUSED : DONE;
}
