/* SPDX-License-Identifier: ISC */
/* seccomp.c - the profile of the calls of a trace */
#include "again.h"

#define main tool_main
#include "../../bin/filter/tfs-seccomp.c"
#undef main

static void check(const char *out, size_t n, int status, const char *line)
{
	must((status == DONE) == (n > 0));
	must_be_clean(out, n);
	if (n && !strchr(line, 's')) {
		char *text = malloc(n), *to = text;

		/* names of calls have no spaces */
		must(text);
		for (size_t i = 0; i < n; i++)
			if (!strchr(" \n\t", out[i]))
				*to++ = out[i];
		must_be_json(text, (size_t)(to - text), 8);
		free(text);
	}
}

RUN_AGAIN(check, "", "-f", "-s", "-fs")
