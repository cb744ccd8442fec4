/* SPDX-License-Identifier: ISC */
/* strangers.h - tasks of a trace that the session did not trace */
#ifndef STRANGERS_H
#define STRANGERS_H

#include "base/base.h"
#include "lines/lines.h"

/* ---- strangers.c: tasks of a trace that the session did not trace --------------------- */

/*
 * A session's pid filter also passes switches and wake-ups between a traced task and
 * another one, a stranger. All zero at first.
 */
struct strangers {
	struct table tasks, cpus, pairs;
	struct strbuf key;
	int unfiltered;         /* the trace has events that no pid filter passes */
	int filtered;           /* set by strangers_decide: a pid filter explains the trace */
};

/* Read an event line. */
void strangers_read(struct strangers *, const struct trace_line *);

/* Read a line that is no event: it may name a traced task. */
void strangers_comment(struct strangers *, const char *line);

/* After lost events, the running tasks are unknown. */
void strangers_gap(struct strangers *);

/* Decide which tasks are strangers, after the last line. */
void strangers_decide(struct strangers *);

/*
 * Return whether the task of the key is a stranger. A task that is not in the trace is none. The
 * idle task is one, unless the trace has other events of it than switches and wake-ups.
 */
int strangers_has(const struct strangers *, const char *key, size_t n);

/* Set the key to that of a task, or a CPU, of the line's host: "HOST\tID". */
void task_key(struct strbuf *key, const struct trace_line *, struct text_part id);

#endif
