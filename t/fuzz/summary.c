/* SPDX-License-Identifier: ISC */
/* summary.c - the summary of a trace */
#include "again.h"

#define main tool_main
#include "../../bin/filter/tfs-summary.c"
#undef main

static void check(const char *out, size_t n, int status, const char *line)
{
	(void)line;
	must(status != REFUSED || !n); /* a trace.dat is refused */
	/* comment lines of the trace are copied */
	for (const char *end = out + n, *next; out < end; out = next) {
		next = memchr(out, '\n', (size_t)(end - out));
		must(next++);
		if (*out != '#' && *out != '{')
			must_be_clean(out, (size_t)(next - out));
	}
}

RUN_AGAIN(check, "", "-k comm", "-k pid -k call", "-s calls -n 1", "-s errors", "-s avg",
	  "-s max -k ret", "-H -s p99", "-j -k comm -k call -a ret",
	  "-s name -c share,calls/s,min,p50,p99")
