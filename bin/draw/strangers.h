/* SPDX-License-Identifier: ISC */
/* strangers.h - tasks of a trace that the session did not trace */
#ifndef STRANGERS_H
#define STRANGERS_H

#include "answers/answers.h"

/* ---- strangers.c: tasks of a trace that the session did not trace --------------------- */

/*
 * A session's pid filter also passes switches and wake-ups between a traced task and
 * another one, a stranger. The caller sets slices, in whose lanes the flags of strangers.c are, and
 * zeroes the rest.
 */
struct strangers {
	struct slices *slices;
	struct table pairs;
	int unfiltered;         /* the trace has events that no pid filter passes */
	int named;              /* the trace names the traced tasks */
};

/* Does the next event matter, for slices and strangers_read? */
int strangers_matter(const struct strangers *);

/* Read an event line, which slices has taken. */
void strangers_read(struct strangers *, const struct seen *);

/* Read a line that is no event: it may name a traced task. */
void strangers_comment(struct strangers *, const char *line);

/* Decide which tasks are strangers, after the last line. */
void strangers_decide(struct strangers *);

/*
 * Is the task a stranger? The idle task is one, unless the trace has other events of it than
 * switches and wake-ups.
 */
int strangers_has(const struct lane *);

#endif
