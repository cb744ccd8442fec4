/* SPDX-License-Identifier: ISC */
/* clock.c - the kernel's clocks */
#include <time.h>

#include "base/base.h"

uint64_t time_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
