/* SPDX-License-Identifier: ISC */
/*
 * live.h - the records of an instance while it records, all processors merged
 */
#ifndef LIVE_H
#define LIVE_H

#include "merge.h"

/* Pages read from one processor's buffer, oldest first, in a ring. */
struct held {
	int fd;                 /* its trace_pipe_raw */
	int stats;
	unsigned char *pages;   /* NULL until it has some */
	unsigned first, n;      /* the page at hand is the first */
	unsigned old;           /* of them, read before the last live_fill */
	int empty;              /* the buffer was found empty by it */
	int open;               /* the first was given to the merge */
};

struct live {
	struct page_format format;
	size_t page;            /* bytes of a page */
	unsigned room;          /* pages a processor may hold */
	unsigned ncpus;
	struct held *cpu;
	size_t held, old;       /* pages, of all processors */
	struct merge merge;
};

/*
 * The instance at dir, which the caller keeps open; big and the sizes are this
 * machine's. 0 or -1 said.
 */
int live_open(struct live *, int dir);

/*
 * Read what the buffers have now, as far as there is room for it; a record is
 * given by live_next only after one more live_fill has found all that other
 * processors recorded before it. How many pages were read; -1 said.
 */
long live_fill(struct live *);

/* Did it find the buffers empty, and not itself without room? */
int live_empty(const struct live *);

/*
 * The next page of one processor alone, past live_next, into page: 1; 0 there is
 * none now; -1 said.
 */
int live_page(struct live *, unsigned cpu, void *page);

/* As merge_next. */
const struct record *live_next(struct live *, int64_t *lost);

/* How many records are held that live_next has not given, of those that counts counts. */
unsigned long long live_rest(const struct live *,
			     int (*counts)(void *, const struct record *), void *arg);

/* Let go of the instance, which can then be removed. */
void live_close(struct live *);

#endif
