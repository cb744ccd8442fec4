/* SPDX-License-Identifier: ISC */
/*
 * traceline.h - an event out of a line of text, as the filters read it
 *
 * Of the kernel's text (kernel/trace/trace_output.c, trace_print_context), as
 * trace, trace_pipe, tfs-catpipe, tfs-report and trace-cmd report have it, and
 * of the lines of JSON of json.h.
 */
#ifndef TRACELINE_H
#define TRACELINE_H

#include <stddef.h>
#include <stdint.h>

/* A part of the line; text NULL: there is none. */
struct part {
	const char *text;
	size_t n;
};

struct trace_line {
	struct part host;       /* of a trace that dt-join has made */
	struct part comm, pid, cpu, time, event;
	struct part tgid;       /* of text with a column for it; "-------": not known */
	const char *prefix;     /* in front of event: sys_enter_, sys_exit_, or "" */
	struct part body;       /* what the event's fields are in */
	int json;
	int stack;              /* no event, but the line that a stack is below */
};

/* Is it that word? */
int part_is(struct part, const char *word);

/*
 * How many bytes the column "HOST | " takes that dt-join puts in front of each line;
 * 0: there is none.
 */
size_t trace_host(const char *line, size_t n, struct part *host);

/* The line, without its newline: is it an event? 1 or 0. Its parts point into it. */
int trace_line(struct trace_line *, const char *line, size_t n);

/*
 * What a key names: comm, pid, cpu, time, event, call, or a field of the event; with
 * a dot in front, as .pid, a field in any case. In text a field is NAME=VALUE or
 * NAME: VALUE, the return of a call is ret, a function's names are func and caller,
 * and the events of block devices have dev, rwbs, sector and nr_sector. The event is
 * without its prefix; call is that of an event with one; host is a field as well where
 * the line has none.
 *
 * A string that a stranger has chosen may look like a field. It is none in the events
 * of known_field, in those of block devices, and where all strings are in quotes, as in
 * probes and calls, in front of the first quote and behind the last one. Elsewhere a
 * line that has a field twice, with two values, does not have it.
 */
struct part trace_key(const struct trace_line *, const char *key);

/* ---- eventtext.c: how the kernel prints some events, and what is behind that ---------- */

/* The bytes for which words_field puts a value in quotes. */
#define NOT_PLAIN " \"=()]"

/*
 * Look for a field of an event whose text is known and holds a task's or a file's name.
 * 1: *value is the field's, or is empty, since the event has none of that name. 0: the
 * event is not known, or its text has another form here.
 */
int known_field(const struct trace_line *, const char *key, struct part *value);

/* Is there nothing from s on but fields that words_field has appended? */
int only_appended(const char *s, const char *end);

/* The field of that name among those; text NULL: there is none. */
struct part appended_field(const char *s, const char *end, const char *key);

/*
 * The time in nanoseconds, or as a clock counts that has no point, with so many digits
 * behind the point, -1: it has none. 0, or -1: 64 bits do not hold it, or it is no time.
 */
int trace_time(const struct trace_line *, uint64_t *time, int *digits);

#endif
