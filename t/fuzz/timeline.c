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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const lines[] = {
		"",
		"-a",
		"-c",
		"-ac",
		"-a -n 1",
		"-a -n 1000000",
		NULL,
	};
	static const struct again again = { .main = tool_main, .lines = lines, .check = check };

	run_again(&again, data, size);
	return 0;
}
