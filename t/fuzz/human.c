/* SPDX-License-Identifier: ISC */
/* human.c - lines for people */
#include "again.h"

#define main tool_main
#include "../../bin/filter/tfs-human.c"
#undef main

static void check(const char *out, size_t n, int status, const char *line)
{
	(void)line;
	must(status == DONE);
	for (size_t i = 0; i < n; i++)
		must((unsigned char)out[i] >= ' ' || strchr("\n\t\033", out[i]));
	must(!n || out[n - 1] == '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const lines[] = {
		"",
		"!",
		"-c COMM=comm^PID=pid^A=dfd^B:5=filename",
		"!-c RET:8=ret^PATH=filename-/etc^X=prev_state",
		"-c E=event^C=comm^P=pid^T=time^F=func",
		NULL,
	};
	static const struct again again = { .main = tool_main, .lines = lines, .check = check };

	run_again(&again, data, size);
	return 0;
}
