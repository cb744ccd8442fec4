/* SPDX-License-Identifier: ISC */
/* time.c - the clock for time limits */
#include <time.h>

#include "base/base.h"

long long time_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}
