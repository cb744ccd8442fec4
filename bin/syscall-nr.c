/* SPDX-License-Identifier: ISC */
/*
 * syscall-nr - print the number of a system call, or the names of all
 *
 * Requires: nothing; the table is that of the kernel headers it was built with.
 *	NAME...  the numbers of these, one a line; "newstat" and its like, as
 *	         tracefs calls them, are "stat"
 * Without a NAME: all of them, a line each, number and name.
 * Exit: 0 printed, 1 no such call here, 100 misused.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

static const struct tool tool = {
	.name = "syscall-nr",
	.usage = "syscall-nr [NAME]...",
	.purpose = "print the number of a system call, or the names of all",
	.letters = "",
};

static const struct { const char *name; int nr; } calls[] = {
#include "syscall-nr.h" /* made by the Makefile from sys/syscall.h */
};

static const size_t ncalls = sizeof(calls) / sizeof(*calls);

static int nr(const char *name)
{
	for (size_t i = 0; i < ncalls; i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].nr;
	/* the kernel's function, and so its event, is the newer of two */
	return strncmp(name, "new", 3) ? -1 : nr(name + 3);
}

int main(int argc, char **argv)
{
	int n;

	while (opt_next(&tool, argc, argv) != -1)
		;
	argv += opt_index;
	for (size_t i = 0; !*argv && i < ncalls; i++)
		stdout_print("%d %s\n", calls[i].nr, calls[i].name);
	for (; *argv; argv++) {
		n = nr(*argv);
		if (n < 0)
			err_exit(NO, "no system call '%.80s' here; syscall-nr lists them", *argv);
		stdout_print("%d\n", n);
	}
	stdout_flush();
	return DONE;
}
