/* SPDX-License-Identifier: ISC */
/*
 * pairing.h - what becomes of each system call: the entry and the return of a task, paired
 *
 * The caller reads records or lines, and gives the entries and the returns of each task, in
 * order. This layer knows neither records nor lines, so that decoded calls, summaries and
 * latencies have one answer. It relies on these facts of the kernel:
 *
 *	A call that seccomp(2) denies, traps or kills has a return and no entry.
 *	A call that executes a program returns as execve, whatever its entry was; if a thread made
 *	it, under the pid of the leader.
 *	A new task returns from the call of its parent.
 *	exit does not return. sigreturn returns to where a signal came, without its number.
 */
#ifndef PAIRING_H
#define PAIRING_H

#include "base/base.h"

/* The properties of a call that matter for pairing. */
enum pairing_class {
	PAIRING_PLAIN, PAIRING_EXEC, PAIRING_FORK,
	PAIRING_EXIT, PAIRING_SIGRETURN,        /* these two do not return */
};

/* Return the class of a call with these roles (roles.h). */
enum pairing_class pairing_class(unsigned roles);

/* The number of a call at its return if the kernel has forgotten it: -1. */
#define PAIRING_FORGOTTEN UINT64_MAX

/* The entry or the return of a call. */
struct pairing_event {
	uint64_t id;                    /* the call's number, or a hash of its name */
	enum pairing_class class;
	int32_t cpu;
	/* of a return */
	int64_t result;
	int losing;                     /* a loss of another CPU began before it */
	int registers;                  /* no entry was seen, so its arguments were recorded here */
	int trapped;                    /* the result is what the register had at the entry */
};

/* A task. The caller's struct begins with it. */
struct pairing_task {
	struct table_entry entry;
	uint64_t id;                    /* of its call, or its last one */
	uint32_t begun;                 /* number of losses when the call began */
	uint32_t outside;               /* 1 + their number when it was last known to be in none */
	int32_t cpu;                    /* of the entry */
	uint8_t class;
	uint8_t open;                   /* a call has begun */
	uint8_t entered;                /* the trace has an entry of its calls */
	uint8_t skip;                   /* skip its next return */
	uint8_t born;                   /* it was made just now, and has not returned yet */
};

enum { PAIRING_TASKS = 65536 };         /* tasks that are kept at the same time */

/* All zero at first, except tasks.size. */
struct pairing {
	struct table tasks;
	uint32_t losses;                /* the caller counts the losses of events */
	/* what the caller knows of the trace */
	int entries;                    /* if a call's return is recorded, its entry is */
	int complete;                   /* and each task began within the trace */
	size_t hand;                    /* private: where to look for a task to drop */
};

/* The result for an entry or a return. */
enum pairing_fate {
	PAIRING_NOTHING,                /* nothing: the return of sigreturn, or of a new task */
	PAIRING_BEGAN,
	PAIRING_NO_RETURN,              /* it began, and does not return */
	PAIRING_RETURNED,
	PAIRING_ACROSS,                 /* it returned, but events were lost meanwhile */
	PAIRING_UNFINISHED,             /* for the caller: the open call is not known to return */
	PAIRING_DENIED,                 /* it failed without an entry: seccomp(2) denied it */
	PAIRING_EMULATED,               /* or gave it a result that is no error */
	PAIRING_BORN,                   /* a new task returns from the call of its parent */
	PAIRING_RESUMED,                /* it returned; the trace has no entry */
};

/* A call begins. If one is open, it is unfinished, and the caller says so before. */
enum pairing_fate pairing_enter(const struct pairing *, struct pairing_task *,
				const struct pairing_event *);

/* Is the open call the one that returns here, if no event was lost? */
int pairing_is_same(const struct pairing_task *, const struct pairing_event *);

/* A call returns. If another one is open, that one is unfinished, and the caller says so before. */
enum pairing_fate pairing_return(const struct pairing *, struct pairing_task *,
				 const struct pairing_event *);

/*
 * A call begins, and returns by the same number, before anything else. Return 1; 0 if it may return
 * otherwise: then tell its entry and its return.
 */
int pairing_whole(const struct pairing *, struct pairing_task *, const struct pairing_event *);

/* The task, which is not known yet, has been made. */
void pairing_born(const struct pairing *, struct pairing_task *);

/* Is it certain what the task does, because no event was lost since it entered or left a call? */
int pairing_is_certain(const struct pairing *, const struct pairing_task *);

/* Return a task to drop (table_remove) before another one is made; NULL: there is room. */
struct pairing_task *pairing_surplus(struct pairing *);

#endif
