/* SPDX-License-Identifier: ISC */
/* uring - open two files by io_uring */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	struct io_uring_params p = { 0 };
	int r = syscall(SYS_io_uring_setup, 8, &p);
	if (r < 0) {
		perror("setup");
		return 1;
	}
	char *sq = mmap(0, p.sq_off.array + p.sq_entries * 4, 3,
			MAP_SHARED | MAP_POPULATE, r, IORING_OFF_SQ_RING);
	char *cq = mmap(0, p.cq_off.cqes + p.cq_entries * 16, 3,
			MAP_SHARED | MAP_POPULATE, r, IORING_OFF_CQ_RING);
	struct io_uring_sqe *e = mmap(0, p.sq_entries * sizeof *e, 3,
				      MAP_SHARED | MAP_POPULATE, r, IORING_OFF_SQES);
	const char *f[] = { "/etc/hostname", "/none/uring" };
	unsigned *tail = (unsigned *)(sq + p.sq_off.tail),
		 *arr = (unsigned *)(sq + p.sq_off.array);
	for (int i = 0; i < 2; i++) {
		memset(&e[i], 0, sizeof e[i]);
		e[i].opcode = IORING_OP_OPENAT;
		e[i].fd = AT_FDCWD;
		e[i].addr = (unsigned long)f[i];
		e[i].open_flags = O_RDONLY;
		e[i].user_data = i;
		arr[(*tail) & 7] = i;
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	}
	syscall(SYS_io_uring_enter, r, 2, 2, IORING_ENTER_GETEVENTS, 0, 0);
	struct io_uring_cqe *c = (void *)(cq + p.cq_off.cqes);
	for (int i = 0; i < 2; i++)
		fprintf(stderr, "cqe %llu res %d\n", c[i].user_data, c[i].res);
	char b[16];
	if (read(c[0].res >= 0 ? c[0].res : c[1].res, b, 4) > 0)
		return 0;
	return 0;
}
