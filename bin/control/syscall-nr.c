/* SPDX-License-Identifier: ISC */
/*
 * syscall-nr - print the numbers and names of system calls
 *
 * Requires: nothing. The table comes from the kernel headers of the build.
 *	NAME...  print the numbers of these calls, one per line; "newstat", as tracefs
 *	         calls it, is "stat", and "pread" of the C library is "pread64"
 * Without NAME, syscall-nr prints all calls, one per line: number and name.
 * Exit: 0 printed, 1 there is no such call, 100 usage error.
 */

#include "base/base.h"
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

int main(int argc, char **argv)
{
	const char *call = NULL;
	int n;

	while (opt_next(&tool, argc, argv) != -1)
		;
	argv += opt_index;
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
