/* SPDX-License-Identifier: ISC */
/* flame.c - the stacks of a trace */
#include "again.h"

#define main tool_main
#include "../../bin/draw/tfs-flame.c"
#undef main

static void check(const char *out, size_t n, int status, const char *line)
{
	must((status == DONE) == (n > 0));
	if (strstr(line, "-p"))
		must(!n || !memcmp(out, "2\0", 2)); /* the empty string, of a table of strings */
	else if (strstr(line, "f"))
		must_be_clean(out, n);
	else if (n)
		must_be_xml(out, n);
}

RUN_AGAIN(check, "", "-a", "-f", "-af", "-a -k pid -k lat -k event", "-k comm -f -T t", "-p",
	  "-a -p -w x,lat -k event")
