/* SPDX-License-Identifier: ISC */
/* slower.c - the calls of function_graph that took long */
#include "again.h"

#define main tool_main
#include "../../bin/filter/tfs-slower.c"
#undef main

static void check(const char *out, size_t n, int status, const char *line)
{
	(void)line;
	must(status != REFUSED || !n); /* a trace.dat is refused */
	must(!n || out[n - 1] == '\n');
}

RUN_AGAIN(check, "0", "1", "1000", "18446744073709551615")
