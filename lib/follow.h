/* SPDX-License-Identifier: ISC */
/*
 * follow.h - what the parts of process.c share: records, and the tasks they tell of
 *
 * A task is a struct comm, in the table of names that the line has. It stays where it
 * is while others are added, so a pointer to it is good for the whole record.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "process.h"

/* struct comm's state */
enum {
	UID_KNOWN = 1, UID_OK = 2,      /* is it the uid that is wanted? */
	COMM_KNOWN = 4, COMM_OK = 8,
	PENDING = 16,                   /* it is in a call that may change its uid, */
	PENDING_OK = 32,                /* to the one that is wanted, */
	PENDING_ASK = 64,               /* or not: procfs tells */
	EXEC = 128,                     /* in a call of execve */
	OWN_CODE = 256,                 /* code is its own, of exit */
	GROUP_CODE = 512,               /* group is that of its process, which ends */
	OVER = 1024,                    /* it ended: the pid may come again */
};

static inline struct comm *task(struct process *p, int pid)
{
	return comms_entry(&p->line->events->comms, pid);
}

static inline void set(struct comm *t, unsigned bits, unsigned to)
{
	t->state = (uint16_t)((t->state & ~bits) | to);
}

/* The leader of its process, of which process.c has made sure. */
static inline struct comm *group_of(struct process *p, const struct comm *t)
{
	return task(p, t->tgid ? t->tgid : t->pid);
}

/* ---- roles.c: records that tell of processes ------------------------------- */

/* Which of the events it is of; its fields are found then, for all that follow. */
enum role role_of(struct process *, const struct record *);

/* Is it of a kind that -P shows? */
int role_shown(struct process *, const struct record *);

/*
 * The value of field i, as the table of roles has them; the record is of that
 * role. 0; -1, silent: it has no such field.
 */
int role_value(struct process *, enum role, unsigned i, const struct record *, struct value *);

/* The same, a number; 0 where there is none. */
int64_t role_number(struct process *, enum role, unsigned i, const struct record *);

/* Argument i of the system call that is entered; 0 where there is none. */
uint64_t role_argument(struct process *, unsigned i, const struct record *);

/* ---- ends.c: how they end -------------------------------------------------------- */

/* All threads of its process are to end with this code, unless with another already. */
void end_group(struct process *, struct comm *, unsigned code);

/* A signal is delivered to the task. */
void end_delivered(struct process *, struct comm *, const struct record *);

/* A signal is sent, to a task that the record names. */
void end_generated(struct process *, const struct record *);

/* It ends: its code as wait(2) would tell it, of this one thread. */
long end_code(struct process *, struct comm *);

#endif
