/* SPDX-License-Identifier: ISC */
/* latency.h - latencies: the time from one event to another */
#ifndef LATENCY_H
#define LATENCY_H

#include "base/base.h"
#include "proc/proc.h"
#include "lines/lines.h"

/* ---- latency.c: beginnings and ends of latencies ------------------------------------- */

/*
 * A matcher pairs events, and keeps its open beginnings in latency.open: by their keys
 * (latency_keys.c), as the scheduler moves tasks (latency_sched.c), or as requests reach a disk
 * (latency_block.c, bios.c). Open calls are in a struct line_calls (latency_calls.c).
 */

/* An event, with its line and its time as seen_time gives it. */
struct latency_event {
	const struct seen *l;
	const char *event;              /* the whole name */
	const char *line;               /* of n bytes */
	size_t n;
	uint64_t time;
	int digits;
};

/* A beginning, and the fields that it passes on to the line of its end. */
struct latency_start {
	uint64_t time;
	int digits;
	size_t n;
	char *carried;                  /* of n bytes; NULL: none */
	char *context;                  /* the trace context of its task; NULL: that of the end */
};

/* The events that begin or end the latencies of a pair, and the keys to match by. */
struct latency_half {
	char *event;                    /* a glob */
	const char **keys;              /* NULL at the end */
};

struct latency {
	struct latency_half first, last; /* latency_keys.c */
	const char *suffix;             /* latency_keys.c: the ends are EVENTSUFFIX; or NULL */
	const char **keys, **names;     /* the fields of -c, NULL at the end */
	uint64_t least;                 /* print no latency of fewer microseconds */
	struct pids only;               /* latencies that these tasks began; empty: all */
	struct pids except;             /* latency_sched.c: but not of these tasks */
	int once;                       /* latency_keys.c: keep the first of two open beginnings */
	int beginnings;                 /* print the beginnings, too */
	int ends;                       /* print ends without a beginning, too */
	int some_end;                   /* do not count beginnings without an end */
	struct table open;              /* the matcher's open beginnings */
	struct table bios;              /* latency_block.c: bios that no request has taken */
	struct strbuf event, key, fields, line;
	unsigned long long printed, no_end, no_begin;
	/* latency_sched.c: how many of no_end and no_begin lack an event inside the trace */
	unsigned long long lost_end, lost_begin;
	/* latency_calls.c: calls that seccomp(2) denied, or gave a result that is no error */
	unsigned long long denied, answered;
	int gap;
	int ended;                      /* the trace has ended */
	int json;                       /* the last event was JSON */
};

/* Point m at the line and at the event's whole name. */
void latency_event_set(struct latency *, struct latency_event *, const struct seen *);

/*
 * Return the fields of -c of the event's task (comm, .comm, pid), one per line, and its trace
 * context; to be freed.
 */
char *latency_task_fields(struct latency *, const struct seen *);

/*
 * Set b to the time of the event and the fields to carry, and free what b carried before. Those of
 * the task come from task, which latency_task_fields made from another event, unless task is NULL.
 * latency_start_set prints the event if beginnings are printed, with the carried fields if task is
 * not NULL.
 */
void latency_start_keep(struct latency *, struct latency_start *, const struct latency_event *,
			const char *task);
void latency_start_set(struct latency *, struct latency_start *, const struct latency_event *,
		       const char *task);

/* Return the time from b to the event, in microseconds or in counts of its clock. */
struct decimal latency_start_time(const struct latency_start *, const struct latency_event *);

/* Print the line of the end with the carried fields and lat=, if it took long enough. */
void latency_start_print(struct latency *, const struct latency_start *,
			 const struct latency_event *);

/* Free what b carries, and set b to all zero. */
void latency_start_clear(struct latency_start *);

/*
 * Append the form and the host of the line to latency.key: a text line never ends the beginning
 * of a JSON line, and no host ends the beginning of another host.
 */
void latency_key_origin(struct latency *, const struct seen *);

/*
 * Set latency.key to the values of the keys, call latency_key_origin, and append the CPU of an idle
 * task. Return as seen_values does.
 */
size_t latency_key(struct latency *, const struct seen *, const char *const *keys);

/* Return the task that the key names; 0 if there is none, or for the idle task. */
pid_t latency_task(const struct seen *, const char *key);

/* Is the task of the event one that latency.only does not select? */
int latency_unselected(const struct latency *, const struct seen *);

/* Add a task to latency.only, or the task that one of these makes by this event. -1: reported. */
int latency_follow_task(struct latency *, pid_t);
int latency_follow_child(struct latency *, const struct seen *);

/* Free all entries of the table, after fn has freed what they point to. */
void latency_forget_all(struct latency *, struct table *,
			void (*fn)(struct latency *, void *entry));

struct latency_matcher {
	size_t size;                    /* of the entries of latency.open */
	/* Pair one event. Return 0, or -1, reported. */
	int (*event)(struct latency *, const struct latency_event *);
	/* Give up all open beginnings, after lost events or at the end of the trace. */
	void (*forget)(struct latency *);
};

/* from the moment when a task can run until it runs */
extern const struct latency_matcher latency_sched;

/* from the beginning of a system call to its end */
extern const struct latency_matcher latency_calls;

/* from the issue of a request to a block device to its completion */
extern const struct latency_matcher latency_block;

/* ---- latency_keys.c: pairs of events whose keys have the same values -------------------- */

/* A beginning, found by the values of its keys. With -d also the state of a CPU. */
struct keyed {
	struct table_entry entry;
	struct latency_start begun;
	int open;
	struct caller *callers;         /* with a suffix: the calls around it, innermost first */
	unsigned long long cpu;         /* with -d: the CPU of the beginning */
	int dropped;                    /* with -d, of a CPU: its last event was dropped */
};

/* first, last and suffix of struct latency choose the events. */
extern const struct latency_matcher latency_keys;

/* Print all lines of a trace except the ends that have a beginning: -d. */
void keyed_drop_ends(struct latency *, char *line, size_t n);

/* ---- bios.c: bios that wait for a request -------------------------------------------- */

/* A bio, or the rest of one, and the task that queued it. */
struct bio {
	uint64_t from, to;              /* its first sector, and the first sector after it */
	uint64_t number;                /* ascending: the oldest bio has the lowest */
	int unfollowed;                 /* with -p: the task is not followed */
	int fua;                        /* must be on the medium when it is complete */
	char *task;                     /* latency_task_fields; may be NULL */
	struct latency_start begun;     /* when it was queued; all zero: not needed */
};

/* The bios of a device and an operation, sorted by from and number. All zero at first. */
struct bios {
	struct table_entry entry;
	struct bio *v;
	size_t n, room;
	int served;                     /* a request has come that could take a bio */
	int completed;                  /* a bio is complete that no request took */
};

/*
 * Add a bio, and take over the memory of its task and begun. If there are too many bios, forget the
 * older half: the device makes no requests of bios, or the trace lost some requests.
 */
void bios_add(struct bios *, const struct bio *);

/*
 * Remove the sectors of a request from the bios. Set *got to the first of these bios, or
 * the first one of a followed task, without begun; the caller frees got->task. Return 1, or 0
 * if there is no such bio.
 */
int bios_take(struct bios *, uint64_t from, uint64_t to, struct bio *got);

/* Return the oldest bio of a followed task, or else the oldest bio, or NULL. */
const struct bio *bios_oldest(const struct bios *);

/* Remove the oldest bio that begins or ends at this sector, if there is one. */
void bios_end(struct bios *, uint64_t sector);

/*
 * Remove the bio that is complete by an event of these sectors: the oldest with the same sectors,
 * or else one that begins or ends there, because the kernel may have moved the beginning. Set
 * *got to it; the caller frees its task and clears begun. Return 1, or 0 if there is none.
 */
int bios_complete(struct bios *, uint64_t from, uint64_t to, struct bio *got);

/* Remove all bios. */
void bios_clear(struct bios *);

#endif
