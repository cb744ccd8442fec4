/* SPDX-License-Identifier: ISC */
/* otel.h - the trace context of threads: its programs, and where processes publish it */
#ifndef OTEL_H
#define OTEL_H

#include "strings.h"

enum {
	OTEL_PROCESSES = 16384,
	OTEL_NOTES = 64 * 1024,
	OTEL_EVENTS = 12,       /* the plan has room for them, three other programs and a socket */
};

/* Where a process has the variable: the value of the map of places, by the pid of the process. */
struct otel_place {
	uint32_t state;         /* enum otel_state */
	uint32_t pending;       /* to be found, perhaps anew */
	int64_t offset;         /* from the thread pointer, or in the block of the module */
	int64_t dtv;            /* from the thread pointer to the address of the table of blocks */
	int64_t length;         /* from that table to the last module that it has */
	uint64_t module;        /* the offset of the block in that table; 0: no block */
	uint64_t words, word[2];        /* where the loader wrote the module, and what */
	uint64_t code;          /* pages of code that the process had mapped at the last look */
	uint64_t looks;         /* since the last exec */
	uint64_t next_us;       /* otel_find.c does not look at the process before */
};
enum otel_state { OTEL_UNKNOWN, OTEL_NONE, OTEL_FOUND };

struct otel {
	int places, contexts, notes;    /* maps */
	int all;                        /* all tasks are traced */
};

/*
 * Attach programs that run before the events in plan->names, or if there are none, before all
 * calls. A tracepoint is named as sched_switch; an event of one call, which costs other calls
 * nothing, as syscalls/sys_enter_openat. Return 0, or -1, reported.
 */
int otel_attach(struct plan *, struct otel *);

/* Fill the map of places with the processes of the traced tasks. Return 0, or -1, reported. */
int otel_find_all(const struct plan *, struct otel *);

/*
 * Find the places of the processes that send notes, until the descriptor is readable. A session
 * does this in a process of its own.
 */
void otel_serve(const struct otel *, int until);

#endif
