/* SPDX-License-Identifier: ISC */
/*
 * filter.h - what the filters of traces share
 *
 * They read a trace of any length, made by strangers, and keep what differs in it
 * and no line. What is out of memory ends the tool, status REFUSED.
 */
#ifndef FILTER_H
#define FILTER_H

#include <stdint.h>

#include "traceline.h"

/* ---- words.c: text that grows, and an event's values in it ------------------------- */

struct words {
	char *text;
	size_t n, room;
};

void words_add(struct words *, const char *, size_t n);
void words_put(struct words *, const char *);

/*
 * In place of what was in it: what the event has in the keys, NULL at their end,
 * with a tab between; "-" for what it does not have.
 */
void words_values(struct words *, const struct trace_line *, const char *const *keys);

/*
 * Behind what is in it: a field for this event's line, as text or JSON. The value
 * is a part of a line of the same form. In text trace_key gives it back, but for
 * double quotes, which are single ones then.
 */
void words_field(struct words *, const struct trace_line *, const char *name, struct part);

/* In place of what was in it: the event's line, of n bytes, with such fields. */
void words_line(struct words *, const struct trace_line *, const char *line, size_t n,
		const struct words *fields);

/* calloc; room for nothing is room, too. */
void *allocate(size_t n, size_t size);

/* ---- table.c: what a tool keeps of each key ------------------------------------------ */

/* The first member of what it keeps. */
struct entry {
	uint64_t hash;
	size_t n;
	char *key;              /* of n bytes, a NUL behind them */
};

/* All zero but for size: that of what is kept. */
struct table {
	size_t size;
	struct entry **v;
	size_t n, room;
};

/* What is kept of the key; all zero when it is new. */
void *table_at(struct table *, const char *key, size_t n);

/* The same; NULL: nothing is. */
void *table_find(const struct table *, const char *key, size_t n);

/* It is freed, and what it points to is the caller's. */
void table_remove(struct table *, void *entry);

/* All are in v[0..n), in the order of compare(struct entry **, ...): the table's end. */
void table_sort(struct table *, int (*compare)(const void *, const void *));

/* By the bytes of their keys. */
int table_by_key(const void *, const void *);

/* ---- remarks.c: what is no event, and is told at the end --------------------------- */

/* "# lost" and "# unpaired", in text or JSON, the last of each; all zero at first. */
struct remarks {
	char *line[2];
};

/* Is the line one? It is kept then. */
int remark(struct remarks *, const char *line);
void remarks_print(const struct remarks *);

/* Does the line tell of a gap in the trace, in front of the next event? */
int tells_gap(const char *line);

#endif
