/* SPDX-License-Identifier: ISC */
/*
 * syscall-nr - print the numbers and names of system calls
 *
 * Requires: nothing. The table comes from the kernel headers of the build.
 *	NAME...  print the numbers of these calls, one per line; "newstat", as tracefs
 *	         calls it, is "stat", and "pread" of the C library is "pread64"
 *	-r  print the names of the calls that one of these words describes: opened, exec, file ...
 * Without NAME, syscall-nr prints all calls, one per line: number and name.
 * Exit: 0 printed, 1 there is no such call, 100 usage error.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "calls/calls.h"
#include "help.h"

static const struct tool tool = { TOOL_SYSCALL_NR };

/* Return the number of the call, or -1. */
static int nr(const char *name)
{
	const char *wanted = syscall_of_name(name), *call = NULL;
	int n;

	while (wanted && (call = syscall_next(call, &n)))
		if (!strcmp(call, wanted))
			return n;
	return -1;
}

/* Print the names of the calls that one of the words describes. Return a status. */
static int print_roles(const char *words)
{
	struct calls *calls = calls_open(NULL);
	const struct call *c;
	struct call_role_set set;

	if (roles_parse(words, &set) < 0)
		usage_error(&tool, "-r %.80s: no such role; give words such as opened,written",
			    words);
	if (!calls)
		return REFUSED;
	for (unsigned n = 0; n <= calls_most(calls); n++)
		if ((c = calls_find(calls, n)) && roles_match(&set, c->role))
			stdout_print("%s\n", c->name);
	stdout_flush();
	return DONE;
}

int main(int argc, char **argv)
{
	const char *call = NULL, *roles = NULL;
	int n;

	while (opt_next(&tool, argc, argv) != -1)
		roles = opt_value;
	argv += opt_index;
	if (roles && *argv)
		usage_error(&tool, "-r and NAME cannot be combined");
	if (roles)
		return print_roles(roles);
	while (!*argv && (call = syscall_next(call, &n)))
		stdout_print("%d %s\n", n, call);
	for (; *argv; argv++) {
		n = nr(*argv);
		if (n < 0)
			err_exit(NO, "no system call '%.80s' here; syscall-nr lists them", *argv);
		stdout_print("%d\n", n);
	}
	stdout_flush();
	return DONE;
}
