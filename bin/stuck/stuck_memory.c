/* SPDX-License-Identifier: ISC */
/* stuck_memory.c - read the memory of other processes, by a helper that may be abandoned */

#include "stuck.h"

enum { MOST = 65536 };

struct question {
	pid_t pid;
	uint64_t address;
	size_t n;
};

/* Read memory: a stranger_fn. The fault of a page may wait for a file system for ever. */
static void read_memory(const void *question, struct stranger_answer *a)
{
	const struct question *q = question;
	char path[PATH_MAX];
	ssize_t n = -1;
	int fd;

	str_format(path, sizeof(path), "%s/%d/mem", path_procfs(), (int)q->pid);
	if (stranger_enter(STRANGER_PROCESS | (unsigned)q->pid))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	a->part[0] = malloc(q->n);
	if (fd >= 0 && a->part[0])
		n = pread(fd, a->part[0], q->n, (off_t)q->address);
	fd_close(fd);
	a->size[0] = n > 0 ? (size_t)n : 0;
}

/* Read at most n bytes. Return how many. */
static size_t memory_part(pid_t pid, uint64_t address, void *to, size_t n)
{
	struct question q = { pid, address, n };
	struct stranger_answer a;

	if (n > MOST || address > INT64_MAX || stranger_ask(read_memory, &q, sizeof(q), pid, &a))
		return 0;
	n = a.size[0] < n ? a.size[0] : n;
	memcpy(to, a.part[0], n);
	stranger_free(&a);
	return n;
}

int memory_read(pid_t pid, uint64_t address, void *to, size_t n)
{
	return memory_part(pid, address, to, n) == n ? 0 : -1;
}

int memory_string(pid_t pid, uint64_t address, char *to, size_t size)
{
	/* a string near the end of a page may be followed by no memory */
	size_t page = 4096 - (size_t)(address & 4095);
	size_t n = memory_part(pid, address, to, size < page ? size : page);

	if (n == page && page < size && !memchr(to, '\0', n))
		n += memory_part(pid, address + n, to + n, size - n);
	return memchr(to, '\0', n) ? 0 : -1;
}
