/* SPDX-License-Identifier: ISC */
/*
 * flight.h - what a flight recorder is made of
 *
 * The events that make a dump. It is zero at first, but for what its caller sets.
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

#endif
