/* SPDX-License-Identifier: ISC */
/*
 * uring_blk DEV s|a|b - 20 O_DIRECT reads of 4096 bytes by io_uring: by its thread (s), by a worker
 * (a), or by a worker of its thread (b); status 77: no io_uring
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int polls = argc > 2 && *argv[2] != 'a', async = argc > 2 && *argv[2] != 's';
	struct io_uring_params p = { .flags = polls ? IORING_SETUP_SQPOLL : 0,
				     .sq_thread_idle = 1000 };
	int ring = (int)syscall(SYS_io_uring_setup, 8, &p), fd = open(argv[1], O_RDONLY | O_DIRECT);
	struct io_uring_sqe *sqes;
	char *sq, *cq;
	void *to;

	if (ring < 0 || fd < 0 || posix_memalign(&to, 4096, 4096))
		return 77;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * 16, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		  IORING_OFF_CQ_RING);
	sqes = mmap(NULL, p.sq_entries * sizeof(*sqes), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		    IORING_OFF_SQES);
	for (unsigned i = 0; i < 20; i++) {
		unsigned *head = (void *)(cq + p.cq_off.head), *end = (void *)(cq + p.cq_off.tail);
		unsigned *tail = (void *)(sq + p.sq_off.tail), k = *tail % p.sq_entries;

		sqes[k] = (struct io_uring_sqe){
			.opcode = IORING_OP_READ, .flags = async ? IOSQE_ASYNC : 0, .fd = fd,
			.addr = (unsigned long)to, .len = 4096, .off = i * 32768,
		};
		((unsigned *)(void *)(sq + p.sq_off.array))[k] = k;
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
		syscall(SYS_io_uring_enter, ring, 1, 1,
			IORING_ENTER_GETEVENTS | (polls ? IORING_ENTER_SQ_WAKEUP : 0), NULL, 0);
		while (*head == __atomic_load_n(end, __ATOMIC_ACQUIRE))
			usleep(50);
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	}
	return 0;
}
