/* SPDX-License-Identifier: ISC */
/* line_calls.h - the system calls of event lines, each once (pairing.h) */
#ifndef LINE_CALLS_H
#define LINE_CALLS_H

#include "calls/calls.h"
#include "latency.h"


/* A task, and the call that it is in. */
struct call_task {
	struct pairing_task pair;       /* by host, form and pid */
	struct latency_start begun;
	void *owner;                    /* of tfs-summary */
	int8_t side;                    /* of its last event: seen_side */
	uint8_t raw;                    /* its last event was one of raw_syscalls */
};

/* All zero at first, except pairing.tasks.size. */
struct line_calls {
	struct pairing pairing;
	unsigned long long no_end;      /* calls that are not known to return */
	struct strbuf key, name;        /* name: of the last line's call */
};

/*
 * Return what an event says about a call; PAIRING_NOTHING also for another event. Set *task to the
 * task of the call, or to NULL if the line has the time of the call, and its entry is not known.
 */
enum pairing_fate line_calls_event(struct line_calls *, const struct seen *,
				   struct call_task **task);

/*
 * Is this the line with which the call counts, if each call counts once? Set fate and task as
 * line_calls_event does. A call whose beginning is not known does not count.
 */
int line_calls_counts(enum pairing_fate, const struct call_task *);

/* Count the calls that are open at the end of the trace. */
void line_calls_end(struct line_calls *);

/*
 * Read the result of a call. A kernel of 32 bits prints errors with eight hexadecimal digits.
 * Return 0, or -1 if there is none.
 */
int line_calls_result(const struct seen *, int64_t *result);

#endif
