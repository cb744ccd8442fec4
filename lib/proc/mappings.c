/* SPDX-License-Identifier: ISC */
/*
 * mappings.c - let the kernel report at once what tasks map and begin: perf_event_open(2)
 *
 * The kernel writes a record when a task maps a file as executable, gets a name, or makes a task.
 * Tasks that a task makes inherit its events, so the other tasks pay nothing. See
 * linux/perf_event.h.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"

enum { EVENTS = 4096 };         /* the most events: one for each task on each CPU */

/* struct perf_event_attr of its first version */
struct attributes {
	uint32_t type, size;
	uint64_t config, period, sample_type, read_format;
	uint64_t disabled : 1, inherit : 1, : 6, mmap : 1, comm : 1, : 3, task : 1, : 4,
		 sample_id_all : 1, : 4, mmap2 : 1, comm_exec : 1, : 39;
	uint32_t wakeup, breakpoint;
	uint64_t address;
};
_Static_assert(sizeof(struct attributes) == 64, "PERF_ATTR_SIZE_VER0");

char *mappings_map(int ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page + MAPPINGS_RING, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);

	return map == MAP_FAILED ? NULL : map;
}

/* Open the event of a task on a CPU; unless ring is -1, it writes to ring. Return it, or -1. */
static int open_event(int pid, int cpu, int ring)
{
	const struct attributes a = {
		.type = 1 /* PERF_TYPE_SOFTWARE */, .size = sizeof(a),
		.config = 9 /* PERF_COUNT_SW_DUMMY */, .sample_type = 4 /* PERF_SAMPLE_TIME */,
		.inherit = 1, .mmap = 1, .comm = 1, .task = 1, .sample_id_all = 1, .mmap2 = 1,
		.comm_exec = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, pid, cpu, -1, K_PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0 && (ring < 0 ? mappings_map(fd) != NULL :
			!syscall(SYS_ioctl, fd, _IO('$', 5) /* PERF_EVENT_IOC_SET_OUTPUT */, ring)))
		return fd;
	fd_close(fd);
	return -1;
}

unsigned mappings_listen(const struct pids *tasks, int rings[MAPPINGS_CPUS])
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned n = 0;

	if (cpus > MAPPINGS_CPUS || tasks->n > (size_t)(EVENTS / cpus))
		return 0;
	file_raise_limit();
	for (int cpu = 0; cpu < cpus; cpu++) {
		int ring = -1;

		for (size_t i = 0; !i || i < tasks->n; i++) {
			int fd = open_event(tasks->n ? tasks->v[i] : -1, cpu, ring);

			ring = ring < 0 ? fd : ring;
		}
		if (ring >= 0) /* the CPU is on-line, and the kernel allows it */
			rings[n++] = ring;
	}
	return n;
}
