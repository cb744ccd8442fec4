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

RUN_AGAIN(check, "a=%", "-c a=% b=%", "a=% b=%", "a=% b=% c=&", "-s /dev/null a=% b=%",
	  "-c -s /dev/null a=% b=&")
