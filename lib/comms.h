/* SPDX-License-Identifier: ISC */
/*
 * comms.h - what the tasks of a trace are called: a table from pid to name
 *
 * Events carry pids alone. The kernel remembers the names of the tasks that
 * recorded last, 128 of them (saved_cmdlines); procfs knows those that live.
 * Who looks at both from time to time knows nearly all.
 */
#ifndef COMMS_H
#define COMMS_H

#include "tfs.h"

struct comm {
	pid_t pid;              /* 0: an empty slot */
	pid_t tgid;             /* of its leader; 0: not known */
	uint32_t seen;          /* the caller's: when it was looked for */
	uint32_t asked;         /* the caller's: when it was asked for tgid itself */
	uint32_t told;          /* the caller's: since when the trace tells it */
	uint16_t state;         /* follow.h's: what is known of it, */
	uint16_t code, group;   /* the code that it, that its process is to end with, */
	uint16_t sent;          /* the last deadly signal sent to its process */
	char name[16];          /* NUL-terminated, as long as the kernel's; "": not known */
	struct comm *next;      /* comms.c's: of those that may be used again */
};

/*
 * All zero at first. A task is found by its pid in a step or two. It stays where it is
 * until it is pruned or the table is cleared, however many others are added: only the
 * slots move when the table grows.
 */
struct comms {
	struct comm **v;        /* room slots, NULL or a task; the next takes who collides */
	size_t n, room;         /* tasks; slots, a power of two */
	int failed;             /* memory ran out: a task is missing */
	struct comm_block *blocks; /* comms.c's: where the tasks are */
	struct comm *unused;    /* comms.c's: tasks in blocks that are none now */
};

/*
 * The task is called so from now on: the n bytes of name, or less if that is
 * longer than a name can be. 1 when the pid was not known, else 0. Out of memory it
 * stays unknown, and failed is set.
 */
int comms_add(struct comms *, pid_t, const char *name, size_t n);

/* The same of a task that procfs shows. */
int comms_add_task(struct comms *, const struct task *);

/* The task; NULL: not known. */
const struct comm *comms_find(const struct comms *, pid_t);

/* The same, made without a name if need be; NULL: no pid, or failed. */
struct comm *comms_entry(struct comms *, pid_t);

/*
 * Add the lines "PID NAME" of a saved_cmdlines of n bytes; others are passed
 * over. How many were not known.
 */
size_t comms_parse(struct comms *, const char *text, size_t n);

/*
 * Add the lines "PID TGID" of a saved_tgids of n bytes, but for those who were asked
 * themselves at the moment now; 0: all.
 */
void tgids_parse(struct comms *, const char *text, size_t n, uint32_t now);

/*
 * Add what procfs calls all tasks, their threads too, that live now, or with
 * only not NULL those. Nothing, silent, when procfs cannot be read or shows
 * the pids of a container. How many were not known.
 */
size_t comms_procfs(struct comms *, const struct pids *only);

/* The same of those whose events the instance at dir records: all, or by pid. */
size_t comms_traced(struct comms *, int dir);

/*
 * The events by which a task gets its name, task:task_newtask, task:task_rename:
 * which of them the instance at dir records, as bits; enable those that it does
 * not, which are returned; and disable these. Silent.
 */
enum { NAMING = 3 };
unsigned naming_enabled(int dir);
unsigned naming_enable(int dir);
void naming_disable(int dir, unsigned which);

/* Drop all that keep does not want; their places may get other tasks. */
void comms_prune(struct comms *, int (*keep)(void *arg, struct comm *), void *arg);

/* Forget all; may be used again. */
void comms_clear(struct comms *);

#endif
