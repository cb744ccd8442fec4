/* SPDX-License-Identifier: ISC */
/* join.c - the traces of up to three hosts */
#include "again.h"

#define main tool_main
#include "../../bin/requests/dt-join.c"
#undef main

static void check(const char *out, size_t n, int status, const char *line)
{
	(void)line, (void)status;
	must(!n || out[n - 1] == '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const lines[] = {
		"a=%",
		"-c a=% b=%",
		"a=% b=%",
		"a=% b=% c=&",
		"-s /dev/null a=% b=%",
		"-c -s /dev/null a=% b=&",
		NULL,
	};
	static const struct again again = { .main = tool_main, .lines = lines, .check = check };

	run_again(&again, data, size);
	return 0;
}
