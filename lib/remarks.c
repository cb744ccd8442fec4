/* SPDX-License-Identifier: ISC */
/* remarks.c - what is no event, and is told at the end */
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "tfs.h"

static int begins(const char *s, const char *word)
{
	return !strncmp(s, word, strlen(word));
}

int remark(struct remarks *r, const char *line)
{
	static const char *const words[][2] = {
		{ "# lost ", "{\"lost\":" }, { "# unpaired ", "{\"unpaired\":" },
	};

	if (*line != '#' && *line != '{')
		return 0;
	for (int i = 0; i < 2; i++)
		if (begins(line, words[i][0]) || begins(line, words[i][1])) {
			free(r->line[i]);
			r->line[i] = strdup(line);
			if (!r->line[i])
				die(REFUSED, "out of memory");
			return 1;
		}
	return 0;
}

void remarks_print(const struct remarks *r)
{
	for (int i = 0; i < 2; i++)
		if (r->line[i])
			print("%s\n", r->line[i]);
}

int tells_gap(const char *line)
{
	/* trace_print_lat_context's "CPU:1 [LOST 3 EVENTS]"; {"ts":1.0,"cpu":1,"lost":3} */
	return begins(line, "CPU:") ? strstr(line, " [LOST ") != NULL :
	       begins(line, "{\"ts\":") && strstr(line, ",\"lost\":") != NULL;
}
