/* SPDX-License-Identifier: ISC */
/* late.c - how many tasks a session has traced only after their first events */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "proc/proc.h"

int late_open(void)
{
	return (int)syscall(SYS_memfd_create, "tfs-late", MFD_CLOEXEC);
}

unsigned late_count(int fd)
{
	unsigned n = 0;

	return fd < 0 || pread(fd, &n, sizeof(n), 0) != sizeof(n) ? 0 : n;
}

int late_add(int fd, unsigned more)
{
	more += late_count(fd);
	return pwrite(fd, &more, sizeof(more), 0) < 0 ? -1 : 0;
}

size_t late_text(char *text, size_t size, unsigned n)
{
	return n ? str_format(text, size, "not known: events of %u task%s, above all the first: "
			      "tasks that entered a cgroup, threads of io_uring or vhost", n,
			      n == 1 ? "" : "s") : 0;
}
