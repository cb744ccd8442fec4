/* SPDX-License-Identifier: ISC */
/* values.c - numbers and pids on the command line, and operands that are too many */
#include "base/base.h"

void opt_number(const struct tool *t, const char *what, unsigned long low, unsigned long high,
		unsigned long *n)
{
	if (text_number(opt_value, low, high, n) < 0)
		usage_error(t, "not %s: '%.80s'", what, opt_value);
}

pid_t opt_pid(const struct tool *t, const char *word)
{
	pid_t pid = text_pid(word);

	if (!pid)
		usage_error(t, "not a pid: '%.80s'", word);
	return pid;
}

void opt_end(const struct tool *t, const char *operand)
{
	if (operand)
		usage_error(t, "unexpected operand '%.80s'", operand);
}
