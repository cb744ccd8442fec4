/* SPDX-License-Identifier: ISC */
/*
 * pick.h - which records: by event, task and time
 *
 * Asked of a record as it is, before any text is made of it; whether an event
 * is meant is found out once and kept in struct event.
 */
#ifndef PICK_H
#define PICK_H

#include "event.h"

/* A number of seconds as somebody wrote it, or of what a clock counts. */
struct moment {
	uint64_t whole;
	uint32_t nano;          /* of a second */
	uint8_t digits;         /* behind the point, that were given */
	uint8_t given;
};

/* All zero at first: everything. */
struct pick {
	const char **globs;     /* any of them is enough; the caller's */
	size_t nglobs;
	struct pids pids;
	struct moment begin, end;
	/* set by pick_begin */
	uint64_t from, to;      /* in units of the clock, both included */
	int all;                /* nothing is left out */
};

/* Events that SYSTEM:EVENT or EVENT, a glob, names. */
int pick_event(struct pick *, const char *glob); /* 0 or -1 said */

/*
 * FROM-TO, FROM- or -TO in seconds, both included. With six digits behind the
 * point or less it is the time that lines show, which is rounded; with up to
 * nine to the nanosecond. Of a clock that counts, its whole numbers. -1,
 * silent: no such range.
 */
int pick_time(struct pick *, const char *range);

/* After the last of the above, and again when the clock is another. */
void pick_begin(struct pick *, int raw_clock);

/* Is it before (-1), within (0) or after (1) the time? */
static inline int pick_when(const struct pick *p, const struct record *r)
{
	return r->ts < p->from ? -1 : r->ts > p->to;
}

/* Is it of such an event and task? An event that is not known is of none. */
int pick_record(const struct pick *, struct events *, const struct record *);

#endif
