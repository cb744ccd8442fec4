/* SPDX-License-Identifier: ISC */
/* instance.c - instances of tracefs */
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "tfs.h"

int instance_remove(int instances, const char *name, long ms)
{
	long long end = now_ms() + ms;
	struct timespec pause = { .tv_nsec = 500 * 1000 };

	/* EBUSY while a file of it is open; nothing tells when that ends */
	while (unlinkat(instances, name, AT_REMOVEDIR) < 0) {
		if (errno != EBUSY || now_ms() >= end)
			return -1;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 50 * 1000 * 1000)
			pause.tv_nsec *= 2;
	}
	return 0;
}
