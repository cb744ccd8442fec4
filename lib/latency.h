/* SPDX-License-Identifier: ISC */
/*
 * latency.h - what has begun in a trace and has not ended yet
 *
 * tfs-latency pairs events by their keys. Two of its pairs need to know more: how
 * the scheduler moves tasks (latsched.c), and how requests reach a disk
 * (latblock.c, bios.c). Each matcher keeps what has begun in the table of struct latency.
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
	struct table bios;              /* latblock.c: what no request has taken yet */
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

/*
 * Return what -c carries of the event's task, which are the keys comm and pid: a field a
 * line, the caller's to free. NULL: -c names neither.
 */
char *task_fields(struct latency *, const struct trace_line *);

/*
 * Do as begun_set, but carry comm and pid from task, which task_fields has made of another
 * event, and print what is carried behind the beginning.
 */
void begun_set_for(struct latency *, struct begun *, const struct moment *, const char *task);

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
void forget_all(struct latency *, struct table *, void (*fn)(struct latency *, void *entry));

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

/* ---- bios.c: bios that are queued, until a request takes them ---------------------- */

/* A bio, or what is left of it, and the task that queued it. */
struct bio {
	uint64_t from, to;              /* its first sector, and the first one behind it */
	uint64_t number;                /* that of the oldest is the least */
	int strangers;                  /* -p: of a task that is not followed */
	int fua;                        /* it is to be on the medium when it is complete */
	char *task;                     /* task_fields; may be NULL */
};

/* Those of a device and an operation, by from and number. All zero at first. */
struct bios {
	struct entry entry;
	struct bio *v;
	size_t n, room;
	int served;                     /* a request has come that could take one */
};

/*
 * Add a bio and take over the memory of its task. If there are too many bios, forget the
 * older half: the device makes no requests of bios, or the trace lost some.
 */
void bios_add(struct bios *, const struct bio *);

/*
 * Remove the sectors of a request from the bios, and give in *got whose it is: that of
 * the first bio, or of the first one of a task that is followed. got->task is the
 * caller's. Return 0 if there is no such bio.
 */
int bios_take(struct bios *, uint64_t from, uint64_t to, struct bio *got);

/* Return the oldest bio of a task that is followed, else the oldest. NULL: none. */
const struct bio *bios_oldest(const struct bios *);

/* Remove the oldest bio that begins or ends at this sector, if there is one. */
void bios_end(struct bios *, uint64_t sector);

/* Remove all of them. */
void bios_clear(struct bios *);

#endif
