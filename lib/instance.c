/* SPDX-License-Identifier: ISC */
/* instance.c - instances of tracefs */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

unsigned long long buffer_count(int instance, const char *key)
{
	int fd = openat(instance, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	unsigned long long sum = 0;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char file[300], *text;
		const char *p;

		if (*e->d_name == '.')
			continue;
		format(file, sizeof(file), "per_cpu/%s/stats", e->d_name);
		text = ctl_read(instance, file, NULL);
		/* "overrun: " is the tail of "commit overrun: " too */
		for (p = text; p && (p = strstr(p, key)); p += strlen(key))
			if (p == text || p[-1] == '\n')
				break;
		if (p) {
			p += strlen(key);
			sum += digits_at(&p);
		}
		free(text);
	}
	if (d)
		closedir(d);
	return sum;
}

unsigned cpu_count(int per_cpu)
{
	int fd = openat(per_cpu, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	unsigned long n, most = 0;
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, "cpu", 3) && !number(e->d_name + 3, 0, 65535, &n) &&
		    n >= most)
			most = n + 1;
	if (d)
		closedir(d);
	return (unsigned)most;
}
