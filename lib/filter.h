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
 * with a tab between; "-" for what it does not have; \n, \t or \x1b for control
 * characters. Returns how many it has.
 */
size_t words_values(struct words *, const struct trace_line *, const char *const *keys);

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

/* ---- value.c: a number as a trace has it ----------------------------------------------- */

struct value {
	int negative;
	uint64_t whole;
	uint32_t nano;          /* behind the point, cut to nine digits */
};

/*
 * [+-]DIGITS[.DIGITS], or 0xDIGITS, negative as a signed number of 64 bits is. 0, or
 * -1: it is none, or 64 bits do not hold it. Silent.
 */
int value_parse(struct value *, struct part);

/* As strcmp. */
int value_compare(const struct value *, const struct value *);

/*
 * Its power of two: 0 of [0, 1), 1 of [1, 2), 2 of [2, 4) ... 64, and of negative
 * ones -1 of (-1, 0), -2 of (-2, -1] ... -65.
 */
enum { POWER_LEAST = -65 };
int value_power(const struct value *);

/* ---- svg.c: pictures, well-formed whatever the names are ------------------------------ */

/*
 * The text, escaped; what is no character of XML is a question mark. What is longer
 * than so many characters ends in two points, or is left out where they do not fit.
 */
void svg_text(struct words *, const char *, size_t n, size_t most);

/* A number of hundredths, as 12.5. */
void svg_number(struct words *, uint64_t hundredths);

/* " NAME='NUMBER'" of hundredths. */
void svg_attribute(struct words *, const char *name, uint64_t hundredths);

/* The beginning of a picture of this size, in pixels, with a title, and its end. */
void svg_begin(uint64_t width, uint64_t height, const char *title);
void svg_end(void);

/* A fill of its own for each name. */
void svg_colour(struct words *, const char *name, size_t n);

/* Text at a place. */
void svg_label(unsigned x, uint64_t y, const char *, size_t n, size_t most);

enum { SVG_LETTER = 720 /* hundredths: how wide one is */ };

/* ---- remarks.c: what is no event, and is told at the end --------------------------- */

/*
 * "# lost" and then "# unpaired", in text or JSON, the last of each, and of each host
 * where they have one in front; all zero at first.
 */
enum { REMARKS = 128 };
struct remarks {
	char *line[REMARKS];
	unsigned kind[REMARKS], n;
};

/* Is the line one? It is kept then. */
int remark(struct remarks *, const char *line);
void remarks_print(const struct remarks *);

/* Below a picture that has room for two: the room that more take, and all of them. */
uint64_t remarks_room(const struct remarks *);
void remarks_draw(const struct remarks *, uint64_t bottom);

/* Does the line tell of a gap in the trace, in front of the next event? */
int tells_gap(const char *line);

#endif
