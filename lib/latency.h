/* SPDX-License-Identifier: ISC */
/*
 * latency.h - what has begun in a trace and has not ended yet
 *
 * tfs-latency pairs events by their keys. Two of its pairs need to know more: how
 * the scheduler moves tasks (latsched.c), and how requests reach a disk
 * (latblock.c). Each matcher keeps what has begun in the table of struct latency.
 */
#ifndef LATENCY_H
#define LATENCY_H

#include "filter.h"
#include "tfs.h"

/* An event, its line and its time, as trace_time gives that. */
struct moment {
	const struct trace_line *l;
	const char *event;              /* its whole name */
	const char *line;               /* of n bytes */
	size_t n;
	uint64_t time;
	int digits;
};

/* A beginning, and the fields that its line gives to the line of its end. */
struct begun {
	uint64_t time;
	int digits;
	size_t n;
	char *carried;                  /* of n bytes; NULL: none */
};

struct latency {
	const char **keys, **names;     /* fields to carry, NULL at the end */
	uint64_t least;                 /* print no latency of fewer microseconds */
	struct pids only;               /* what these tasks began; none: all */
	struct pids except;             /* latsched.c: but not these */
	int beginnings;                 /* print them too */
	int ends;                       /* print those without a beginning, too */
	int some_end;                   /* beginnings without an end are no news */
	struct table open;              /* the matcher's */
	struct words event, key, fields, line;
	unsigned long long printed, no_end, no_begin;
	int json;                       /* the last event was */
};

/* ---- latency.c: beginnings and ends ------------------------------------------------ */

/*
 * Keep the time of the event, and what is carried, in place of what b had. Print the
 * event, if beginnings are printed.
 */
void begun_set(struct latency *, struct begun *, const struct moment *);

/* Print the line of the end, with what is carried and lat=, if it took long enough. */
void begun_print(struct latency *, const struct begun *, const struct moment *);

/* Free what b carries; it is as new. */
void begun_clear(struct begun *);

/*
 * Add what separates keys of different traces to latency.key: text never ends what
 * JSON began, and no host ends what another host began.
 */
void key_origin(struct latency *, const struct trace_line *);

/* The task in the key; 0: none, or the idle task. */
pid_t task_at(const struct trace_line *, const char *key);

/* Add a task, or the child of a sched_process_fork, to latency.only. 0, or -1 said. */
int follow_task(struct latency *, pid_t);
int follow_fork(struct latency *, const struct trace_line *);

/* Remove all entries of the table, after fn has freed what they point to. */
void forget_open(struct latency *, void (*fn)(struct latency *, void *entry));

/*
 * A matcher: pair one event, 0 or -1 said; and give up what is open, at a gap in the
 * trace or at its end.
 */
struct matcher {
	size_t size;                    /* of the table's entries */
	int (*event)(struct latency *, const struct moment *);
	void (*forget)(struct latency *);
};

/* latsched.c: from the moment that a task may run until it does */
extern const struct matcher latency_sched;

/* latblock.c: from the issue of a request to a block device to its completion */
extern const struct matcher latency_block;

#endif
