/* SPDX-License-Identifier: ISC */
/*
 * json.h - a record as one line of JSON
 *
 *	{"ts":12.345678901,"cpu":0,"pid":42,"comm":"cat","system":"sched",
 *	 "event":"sched_wakeup","fields":{"comm":"sh","pid":7,...}}
 *
 * ts is seconds, or what a clock counts. Numbers are numbers, of 64 bits too,
 * arrays arrays; pointers and bit masks are strings of hexadecimal digits;
 * what in a string is no UTF-8 is U+FFFD. comm is null when it is not known,
 * a field that the record has no room for as well. Of an event that is not
 * known, system and event are null, and "type" is its number. What would make
 * the line longer than its room is left out, and "cut" is true.
 */
#ifndef JSON_H
#define JSON_H

#include "event.h"

/* Zero it, set the first two. */
struct json {
	struct line *line;      /* whose events, names and clock */
	const char *instance;   /* NULL, or "instance" in each line */

	struct json_head {
		int32_t pid;
		uint8_t len;
		char text[135];
	} heads[64];            /* "pid":N,"comm":"...", by pid */
};

/* Of a line's room: enough for what the kernel makes. */
enum { JSON_ROOM = 32 * 1024 };

/* The line, its newline included. size: JSON_ROOM, 8 KiB at least. */
size_t json_line(struct json *, const struct record *, char *buf, size_t size);

/* {"ts":...,"cpu":0,"lost":204} in front of the record; null is not known. */
size_t json_lost(struct json *, const struct record *, int64_t lost, char *buf, size_t size);

/* As line_changed. */
void json_changed(struct json *);

#endif
