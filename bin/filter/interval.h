/* SPDX-License-Identifier: ISC */
/* interval.h - a table every so often, of the events since the table before */
#ifndef INTERVAL_H
#define INTERVAL_H

#include "seen/seen.h"

/* The events to print: those since the last table, or if all is set, those of the whole trace. */
struct interval_now {
	int all;
	unsigned long ms;               /* how long that was; 0: not known */
	unsigned long rows;             /* print at most so many rows of the table */
};

/*
 * Call this before input_each, which then calls print every so many ms of real time, even if no
 * event comes. If every is 0, only interval_end calls print. At a terminal each table replaces the
 * table before, and the last one has all events. Elsewhere each line begins with the seconds since
 * the beginning, and the tables add up to the whole trace.
 */
void interval_begin(struct input *, unsigned long every,
		    void (*print)(const struct interval_now *));
void interval_end(void);

/* Does a person see the table at a terminal, perhaps through tfs-run? */
int interval_people(void);

#endif
