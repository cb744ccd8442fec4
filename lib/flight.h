/* SPDX-License-Identifier: ISC */
/*
 * flight.h - what a flight recorder is made of
 *
 * The events that make a dump, and the files by which it is told what to do. Each is zero at first, but for what its caller sets.
 */
#ifndef FLIGHT_H
#define FLIGHT_H

#include "live.h"
#include "tfs.h"

/* ---- flighttrigger.c: events that make a dump --------------------------------- */

/* An instance of its own, which records nothing but them. */
struct trigger {
	/* the caller's */
	const char **events;    /* n of them, SYSTEM:EVENT */
	size_t n;
	const char *filter;     /* of each; NULL: none */

	int pipe;               /* polls ready when it has recorded something; -1: none */
	int made, dir, instances;
	char name[160];
	struct live live;
};

/*
 * Of tasks that this instance traces, by its clock; with no events nothing is made.
 * top is tracefs itself. 0 or -1 said; trigger_close it also then.
 */
int trigger_open(struct trigger *, int top, int dir, const char *instance);

/* All that it recorded is done with: when the first was, in ns; 0 there is nothing. */
uint64_t trigger_take(struct trigger *);

/* What cannot be removed is said. */
void trigger_close(struct trigger *);

/* ---- flightctl.c: control files ------------------------------------------------ */

/*
 * state says start or stop; who opens dropped waits until its number is there; reset
 * is written to. SIGIO, which the caller has blocked, tells that somebody opens dropped.
 */
struct controls {
	int notify;             /* polls ready: controls_asked; -1, the caller's: no files */
	int state, dropped;
	int tries;              /* not 0: controls_lease, each ms */
};

/* In the directory, which has this path. 0 or -1 said. */
int controls_make(struct controls *, int dir, const char *path, int on);

enum { ASKED_STATE = 1, ASKED_RESET = 2 };

/* Which of the two somebody has written to. */
int controls_asked(struct controls *);

/* What state says: 1 start, 0 stop, -1 neither. */
int controls_state(const struct controls *);

/* It says so from now on. */
void controls_tell(const struct controls *, int on);

/* Who opens dropped has the number. */
void controls_answer(struct controls *, unsigned long long dropped);

/* To be told of the next who does, once he that has it open has closed it. */
void controls_lease(struct controls *);

void controls_remove(int dir);

#endif
