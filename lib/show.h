/* SPDX-License-Identifier: ISC */
/*
 * show.h - the options with which a tool shows records: which, and as what
 *
 *	-e GLOB     only these events, SYSTEM:EVENT or EVENT; may be repeated
 *	-p PID,...  only of these tasks; may be repeated
 *	-t FROM-TO  only of this time, in seconds
 *	-u UID      only of tasks with this real uid, at the moment
 *	-C COMM     only of tasks of this name, at the moment
 *	-U PID,...  at first these tasks have the uid, and those with a dash do not
 *	-N PID,...  the same of the name
 *	-j          lines of JSON
 *	-P KIND,... lines of the process event tracer: syscalls, signals, lifecycle
 *	-H          the comment lines that `trace` begins with
 *	-x          control characters in strings as they are, newlines too
 */
#ifndef SHOW_H
#define SHOW_H

#include "json.h"
#include "pick.h"
#include "process.h"

/* Processors whose stacks are told apart; with more some share. */
enum { SHOW_CPUS = 4096 };

/* All zero at first. */
struct show {
	struct pick pick;
	struct json lines;
	struct process process; /* its live, ended and arg are the caller's */
	struct line *line;
	int json, header, exact; /* -j, -H, -x */
	int asked;              /* any option by which text is not the kernel's */
	int plain;              /* nearly all records are text that is shown */
	int hide_names;         /* events that tell names are for that alone */
	/*
	 * By processor, a bit for each context: the last event there was left
	 * out, and so are the stacks that follow it.
	 */
	unsigned char left_out[SHOW_CPUS];
	unsigned nleft_out;     /* bits in it, of those that may be cleared again */
};

/* Was the letter, with its opt_value, one of these? 1 or 0; exits MISUSED. */
int show_option(struct show *, const struct tool *, int letter);

/* After the last option, with the line of what is shown; again with another. */
void show_begin(struct show *, struct line *);

/* Of the room that show_record needs. */
enum { SHOW_ROOM = JSON_ROOM };

/*
 * A record, and what was lost in front of it (as of merge_next): the length of
 * their text; *shown: the record itself is in it, and not left out. Where the
 * record is out of time, its loss is as well.
 */
size_t show_record(struct show *, const struct record *, int64_t lost, char *buf, size_t size,
		   int *shown);

/* Would it be in it? As live_rest wants it, of a struct show. */
int show_counts(void *show, const struct record *);

/* What is in front of all records: its length. */
size_t show_header(const struct show *, unsigned cpus, char *buf, size_t size);

/* As line_changed. */
void show_changed(struct show *);

#endif
