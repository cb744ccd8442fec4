/* SPDX-License-Identifier: ISC */
/*
 * blkpick.h - whose I/O is shown
 *
 * It is a task's that queues it; others carry it out: what the kernel's threads and
 * interrupts do with the same sectors, until it is complete, is the task's.
 */
#ifndef BLKPICK_H
#define BLKPICK_H

#include "blktext.h"

struct under_way {
	uint64_t from, to;      /* sectors */
	uint32_t device;
};

/* All zero but for forks: everybody's. who and but are sorted. */
struct blk_pick {
	int picky;              /* only who's, and their children's */
	struct pids who, but;
	int forks;              /* trace_pipe of the instance, -1 none */
	char fork[512];         /* the beginning of a line of it */
	size_t nfork;
	struct under_way *busy;
	size_t nbusy;
};

/*
 * Whom the instance of tracefs follows, and from here on their children. Exits
 * REFUSED, said.
 */
void blk_pick_follow(struct blk_pick *, const char *instance);

/* Whose births the instance has told of are followed, too. */
void blk_pick_forks(struct blk_pick *);

/* Is it shown? Of each record once, in the order of time. */
int blk_picked(struct blk_pick *, const struct blk_record *);

#endif
