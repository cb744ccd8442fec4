/* SPDX-License-Identifier: ISC */
/* clock.c - the trace clock of an instance */
#include <stdlib.h>
#include <string.h>

#include "tracefs/tracefs.h"

uint64_t trace_clock_now(int dir)
{
	char *text = file_read(dir, "per_cpu/cpu0/stats", NULL);
	const char *p = text ? strstr(text, "now ts:") : NULL;
	uint64_t now = 0;

	if (p) {
		p += strcspn(p, "0123456789");
		now = text_digits(&p) * 1000000000;
		if (*p++ == '.')
			now += text_digits(&p) * 1000;
		else /* a clock that counts prints no point */
			now = 0;
	}
	free(text);
	return now;
}
