/* SPDX-License-Identifier: ISC */
/* time.c - the clock for limits on time */
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

long long time_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}
