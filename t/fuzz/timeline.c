/* SPDX-License-Identifier: ISC */
/* timeline.c - the timeline of a trace */
#include "again.h"

#define main tool_main
#include "../../bin/draw/tfs-timeline.c"
#undef main

static void check(const char *out, size_t n, int status, const char *line)
{
	(void)line;
	must((status == DONE) == (n > 0));
	if (n)
		must_be_xml(out, n);
}

RUN_AGAIN(check, "", "-a", "-c", "-ac", "-a -n 1", "-a -n 1000000")
