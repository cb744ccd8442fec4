/* SPDX-License-Identifier: ISC */
/*
 * merge.h - the records of all processors as one stream, in the order of time
 *
 * merge.c puts pages of several processors together; live.c brings it those of
 * an instance that records, tracedat.c those of a file.
 */
#ifndef MERGE_H
#define MERGE_H

#include "event.h"

enum { MORE_LATER = -1, MORE_NONE = 0, MORE_PAGE = 1 };

/* One processor's part. */
struct lane {
	struct page page;
	struct record next;     /* the oldest record not given, if has is set */
	int has;
	int none;               /* there was MORE_NONE; whoever gets more clears it */
	int64_t lost;           /* in front of next; see struct page */
};

/*
 * Zero it; set lanes (zeroed), n, more and arg.
 *
 * more: the last record of a lane's page was taken. Open the lane's next page
 * and return MORE_PAGE; MORE_NONE when nothing older than what other lanes
 * hold can come any more; MORE_LATER when it can, and all must wait for it.
 * gate: NULL, or nothing is given while that is 0.
 */
struct merge {
	struct lane *lanes;
	unsigned n;
	int (*more)(void *arg, unsigned lane, struct page *);
	void *arg;
	const size_t *gate;

	/* while lane run is before all others: up to whose turn, and when */
	unsigned run, rival;
	uint64_t until;
	int running;
};

/*
 * The next record, of equal ones that of the first processor, as the kernel
 * has it; *lost is how many events were lost in front of it, as in struct
 * page. It is good until the next call. NULL: none that may be given now.
 */
const struct record *merge_next(struct merge *, int64_t *lost);

#endif
