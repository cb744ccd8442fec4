/* SPDX-License-Identifier: ISC */
/* time.c - the clock for time limits, and dates */
#include <time.h>

#include "base/base.h"

long long time_now_ms(void)
{
	return time_now_us() / 1000;
}

long long time_now_us(void)
{
	return (long long)(time_ns(CLOCK_MONOTONIC) / 1000);
}

int64_t time_of_day_us(void)
{
	return (int64_t)(time_ns(CLOCK_REALTIME) / 1000);
}

void time_words(char *out, uint64_t ns, int precise)
{
	static const char units[][3] = { "ns", "us", "ms", "s" };
	unsigned unit = precise ? 0 : 1;
	uint64_t size = precise ? 1 : 1000, part;

	for (; unit < 3 && ns >= 1000 * size; size *= 1000)
		unit++;
	part = ns % size * 100 / size;
	ns /= size;
	if (ns >= 100 || size == 1 || (unit == 1 && !precise))
		str_format(out, TIME_WORDS, "%llu %s", (unsigned long long)ns, units[unit]);
	else if (ns >= 10)
		str_format(out, TIME_WORDS, "%llu.%u %s", (unsigned long long)ns,
			   (unsigned)part / 10, units[unit]);
	else
		str_format(out, TIME_WORDS, "%llu.%02u %s", (unsigned long long)ns,
			   (unsigned)part, units[unit]);
}

/*
 * Years begin in March here, so that February 29 is the last day of a year. Days count from
 * 0000-03-01, which is 719,468 days before 1970. 153 days are five months.
 */
void time_date(char *out, int64_t us)
{
	int64_t second = us / 1000000, day = second / 86400 + 719468;
	int in_era = (int)(day % 146097); /* 400 years */
	int year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	int in_year = in_era - 365 * year - year / 4 + year / 100;
	int month = (5 * in_year + 2) / 153;

	str_format(out, TIME_DATE, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ",
		   year + 400 * (int)(day / 146097) + (month > 9), (month + 2) % 12 + 1,
		   in_year - (153 * month + 2) / 5 + 1, (int)(second / 3600 % 24),
		   (int)(second / 60 % 60), (int)(second % 60), (int)(us % 1000000));
}
