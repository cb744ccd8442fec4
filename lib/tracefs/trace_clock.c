/* SPDX-License-Identifier: ISC */
/* trace_clock.c - the trace clock of an instance, and the time of day */

#include "tracefs/tracefs.h"

/* Return the time in ns, rounded down to 1 us, or the number of a clock that counts; or 0. */
static uint64_t read_clock(int dir, int *counts)
{
	char *text = file_read(dir, "per_cpu/cpu0/stats", NULL);
	const char *p = text ? strstr(text, "now ts:") : NULL;
	uint64_t now = 0;

	if (p) {
		p += strcspn(p, "0123456789");
		now = text_digits(&p);
		*counts = *p++ != '.'; /* a clock that counts prints no point */
		if (!*counts)
			now = now * 1000000000 + text_digits(&p) * 1000;
	}
	free(text);
	return now;
}

uint64_t trace_clock_now(int dir)
{
	int counts = 0;
	uint64_t now = read_clock(dir, &counts);

	return counts ? 0 : now;
}

uint64_t trace_clock_mark(int dir)
{
	int counts;

	return read_clock(dir, &counts);
}

/* Read both clocks this often, or until a reading takes less than ENOUGH microseconds. */
enum { READINGS = 32, ENOUGH = 20 };

/* Do as trace_clock_offset, silent. */
static int read_offset(int dir, int64_t *offset)
{
	int64_t least = INT64_MAX;

	for (int i = 0; i < READINGS && least > ENOUGH; i++) {
		int64_t before = time_of_day_us();
		uint64_t now = trace_clock_now(dir) / 1000;
		int64_t took = time_of_day_us() - before;

		if (!now)
			return -1;
		/* negative if the time of day was set meanwhile */
		if (took < 0 || took >= least)
			continue;
		least = took;
		*offset = before + took / 2 - (int64_t)now;
	}
	return 0;
}

int trace_clock_offset(int dir, int64_t *offset)
{
	return read_offset(dir, offset) < 0 ?
	       err_msg("unable to tell the date: trace_clock does not count seconds; choose "
		       "another") : 0;
}

long long trace_clock_moved(int dir, int64_t offset)
{
	int64_t now = offset;

	return read_offset(dir, &now) < 0 ? 0 : (now - offset) / 1000;
}
