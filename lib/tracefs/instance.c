/* SPDX-License-Identifier: ISC */
/* instance.c - instances of tracefs */
#include <sys/syscall.h>
#include <time.h>

#include "base/base.h"
#include "tool/tool.h"
#include "tracefs/tracefs.h"

int instance_remove(int instances, const char *name, long ms)
{
	long long end = time_now_ms() + ms;
	struct timespec pause = { .tv_nsec = 500 * 1000 };

	/* EBUSY while a file of the instance is open; no event announces its close */
	while (unlinkat(instances, name, AT_REMOVEDIR) < 0) {
		if (errno != EBUSY || time_now_ms() >= end)
			return -1;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 50 * 1000 * 1000)
			pause.tv_nsec *= 2;
	}
	return 0;
}

/* An entry of getdents64(2). */
struct entry {
	uint64_t inode, offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

unsigned long long stats_count(const char *text, const char *key)
{
	const char *p = text;

	/* "overrun: " is also the end of "commit overrun: " */
	while ((p = strstr(p, key)) && p != text && p[-1] != '\n')
		p += strlen(key);
	return p ? (p += strlen(key), text_digits(&p)) : 0;
}

/* The kernel counts lost events in ring_buffer_overrun_cpu and the like. */
static const char *const lost_keys[] = { "overrun: ", "commit overrun: ", "dropped events: " };

unsigned long long stats_lost(const char *text)
{
	unsigned long long n = 0;

	for (size_t i = 0; i < sizeof(lost_keys) / sizeof(*lost_keys); i++)
		n += stats_count(text, lost_keys[i]);
	return n;
}

/* Return the count of the key in the stats of one CPU, or 0. */
static unsigned long long count_of(int per_cpu, const char *cpu, const char *key)
{
	char file[300], text[2048];
	ssize_t n;
	int fd;

	str_format(file, sizeof(file), "%s/stats", cpu);
	fd = openat(per_cpu, file, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	fd_close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return stats_count(text, key);
}

/* opendir would allocate memory, but lost events must be counted even without memory. */
unsigned long long instance_buffer_count(int instance, const char *key)
{
	int fd = dir_open(instance, "per_cpu");
	uint64_t some[512];
	unsigned long long sum = 0;
	long n;

	while (fd >= 0 && (n = syscall(SYS_getdents64, fd, some, sizeof(some))) > 0)
		for (const char *at = (const char *)some; at < (const char *)some + n;) {
			const struct entry *e = (const struct entry *)(const void *)at;

			if (*e->name != '.')
				sum += count_of(fd, e->name, key);
			at += e->length;
		}
	fd_close(fd);
	return sum;
}

unsigned long long instance_lost(int instance)
{
	unsigned long long n = 0;

	for (size_t i = 0; i < sizeof(lost_keys) / sizeof(*lost_keys); i++)
		n += instance_buffer_count(instance, lost_keys[i]);
	return n;
}

unsigned instance_cpu_count(int per_cpu)
{
	DIR *d = file_list(per_cpu, ".");
	unsigned long n, most = 0;
	const char *name;

	while ((name = file_next(d)))
		if (!strncmp(name, "cpu", 3) && !text_number(name + 3, 0, 65535, &n) && n >= most)
			most = n + 1;
	return (unsigned)most;
}

void instance_require(const struct tool *t, const char *root, const char *instance)
{
	if (!instance)
		instance = getenv("TFS_INSTANCE");
	if (!root && (!instance || !*instance))
		usage_error(t, "no instance is named; use -i NAME, or -i " TOP_LEVEL " for the top "
			    "level, which all users share");
}
