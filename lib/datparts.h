/* SPDX-License-Identifier: ISC */
/*
 * datparts.h - a trace.dat in the making: the pages of each processor, apart
 *
 * The format wants the pages of a processor side by side, and nobody knows
 * beforehand how many there will be. So each has an unlinked file of its own,
 * its part, with room in front for the head. In the end the largest gets the
 * head and the pages of the others, and a name.
 */
#ifndef DATPARTS_H
#define DATPARTS_H

#include <poll.h>

#include "place.h"
#include "tracedat.h"

struct part_file {
	int fd;                 /* -1: none yet */
	uint64_t size;          /* of the pages, which begin at reserve */
};

/* All zero at first, but for what is the caller's. */
struct parts {
	const struct place *place; /* the caller's */
	struct dat_head *head;  /* the caller's, begun */
	uint64_t most;          /* the caller's: bytes of a file; 0: any */
	int full;               /* 1: most; REFUSED: it could not be written, which was said */
	unsigned long long cut; /* events that were read and are in no file */
	size_t holds;           /* pages, a processor's buffer, about */
	int ballast;            /* a file, which keeps the room that parts_join takes */
	struct pollfd *polls;   /* of each processor, and one more that is the caller's */

	/* its own */
	uint64_t reserve;       /* of each part, for the head */
	size_t formats;         /* bytes of them that reserve counts with */
	struct part_file *part; /* a processor each */
	uint64_t size;          /* of all pages in them */
	int *raw;               /* trace_pipe_raw of each, -1: ended */
	int pipe[2];
	size_t pipe_pages;
	char *page;             /* room for one */
	uint64_t *table;        /* offset of each processor's pages, then size of each */
	struct bytes first;     /* the head as it was at first: there may be no memory later */
};

/* ---- datparts.c: from the buffer to the parts ------------------------------- */

/*
 * Find out how much room the head takes, by what it is now. The least that most
 * has to be: that, and a page of each processor. 0: out of memory, said.
 */
uint64_t parts_reserve(struct parts *);

/* Open the buffers of the instance, for which there are no parts yet. -1 said. */
int parts_open(struct parts *);

/* Begin anew, with room for most: no processor has a part. The old are the caller's. -1 said. */
int parts_begin(struct parts *);

/*
 * The full pages of one processor, at most so many. Returns how many, -1 said:
 * they cannot be read. Sets full when there is room for no more.
 */
ssize_t parts_take(struct parts *, unsigned cpu, size_t most);

/* What of its last page is written, as a page. Bytes read, 0 none; else as above. */
ssize_t parts_rest(struct parts *, unsigned cpu);

/*
 * Full pages of those that are ready, by polls, or of all, one after the other. How
 * many pages; -1 said. One that has no buffer is polled no more.
 */
ssize_t parts_collect(struct parts *, int everything);

/* Poll all again: those that had no buffer may have one now. */
void parts_watch(struct parts *);

/* How long a head may be: what is reserved, and the formats that came since. */
uint64_t parts_head_room(const struct parts *);

/* So many bytes, up to a whole page. */
uint64_t parts_whole(const struct parts *, uint64_t n);

/* ---- datjoin.c: from the parts to a file ------------------------------------- */

/* Hold the room that parts_join takes, while there is some. -1 said. */
int parts_hold(struct parts *);

/*
 * Make a file of the parts, and put it in its place; then there are none, and no
 * room is held. With more, another is to follow: while this is made the buffers
 * go on being read, into new parts. -1 said: it is not there, its events are cut.
 */
int parts_join(struct parts *, int more);

#endif
