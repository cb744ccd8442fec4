/* SPDX-License-Identifier: ISC */
/*
 * syscall-nr - print the numbers and names of system calls
 *
 * Requires: nothing. The table comes from the kernel headers of the build.
 *	NAME...  print the numbers of these calls, one per line; "newstat", as tracefs
 *	         calls it, is "stat", and "pread" of the C library is "pread64"
 *	-f  print the names of the calls that do this to files: opened, written ...
 * Without NAME, syscall-nr prints all calls, one per line: number and name.
 * Exit: 0 printed, 1 there is no such call, 100 usage error.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "syscalls/syscalls.h"
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

/* Print the names of the calls that do this to files. Return a status. */
static int print_files(const char *words)
{
	const unsigned does = calls_does(words);
	struct calls *calls = calls_open(NULL);
	const struct call *c;

	if (!does)
		usage_error(&tool, "-f %.80s: not what calls do to files; give words such as "
			    "opened,written", words);
	if (!calls)
		return REFUSED;
	for (unsigned n = 0; n <= calls_most(calls); n++)
		if ((c = calls_find(calls, n)) && c->files->does & does)
			stdout_print("%s\n", c->name);
	stdout_flush();
	return DONE;
}

int main(int argc, char **argv)
{
	const char *call = NULL, *files = NULL;
	int n;

	while (opt_next(&tool, argc, argv) != -1)
		files = opt_value;
	argv += opt_index;
	if (files && *argv)
		usage_error(&tool, "-f and NAME cannot be combined");
	if (files)
		return print_files(files);
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
