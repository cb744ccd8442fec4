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

RUN_AGAIN(check, "", "!", "-c COMM=comm^PID=pid^A=dfd^B:5=filename",
	  "!-c RET:8=ret^PATH=filename-/etc^X=prev_state", "-c E=event^C=comm^P=pid^T=time^F=func")
