/* SPDX-License-Identifier: ISC */
/* draw.h - pictures (SVG) */
#ifndef DRAW_H
#define DRAW_H

#include "base/base.h"
#include "lines/lines.h"

/* ---- svg.c: pictures that are well-formed with any names ----------------------------- */

/*
 * Append the text, escaped. A byte that is not a character of XML becomes a question mark. If the
 * text has more characters than the argument most, cut it, and end it with two dots; if most is
 * below five, append nothing of such a text.
 */
void svg_text(struct strbuf *, const char *, size_t n, size_t most);

/*
 * Append a time in nanoseconds, in the unit of this number, with so many digits after the point;
 * -1: all but the last zeros. svg_time_unit returns the largest unit that fits, from 0 for ns to 3
 * for s.
 */
void svg_time(struct strbuf *, uint64_t ns, unsigned unit, int digits);
unsigned svg_time_unit(uint64_t ns);

/* Append a number of hundredths, as 12.5. */
void svg_number(struct strbuf *, uint64_t hundredths);

/* Append a rectangle, without its end "/>", or a text; all numbers are in hundredths of a pixel. */
void svg_rect(struct strbuf *, uint64_t x, uint64_t y, uint64_t width, uint64_t height);
/* n and most are as for svg_text. Return 1, or 0 if nothing of the text fits. */
int svg_text_at(struct strbuf *, uint64_t x, uint64_t y, const char *, size_t n, size_t most);

/* Print the beginning of a picture with a title, of this size in pixels; print the end. */
void svg_begin(uint64_t width, uint64_t height, const char *title);
void svg_end(void);

/* Append a fill attribute whose colour depends on the name only. */
void svg_colour(struct strbuf *, const char *name, size_t n);

/* Print a text at x, y. n and most are as for svg_text. */
void svg_label(unsigned x, uint64_t y, const char *, size_t n, size_t most);

enum { SVG_LETTER = 720 /* the width of a letter, in hundredths of a pixel */ };

/* Return a number below shades that depends on the name only. */
unsigned svg_shade(const char *name, size_t n, unsigned shades);

/*
 * A picture with a script: zoom, search, and a layout as wide as the window. Its items are
 * <g class='KIND' data-f='FROM' data-n='LENGTH'><title>NAME ...</title><rect .../></g>;
 * svg.c lists the kinds. The items come between svg_picture_begin and svg_picture_head.
 * Everything that is printed between svg_picture_head and svg_picture_end stays at the top of the
 * window.
 */
struct svg_picture {
	const char *kind;               /* flame or lanes */
	const char *title;
	uint64_t width, height;         /* in pixels, as are left and head */
	unsigned left;                  /* left of the items */
	unsigned head;                  /* height of the head */
	unsigned long long length;      /* from the first item to the last, as FROM counts */
	const char *unit;               /* of FROM in a flame graph; NULL: stacks */
	int digits;                     /* of the times of the trace; -1: FROM counts a clock */
};

/* An entry of the legend: the items of a kind. */
struct svg_key {
	const char *kind, *label;
	int used;                       /* is there such an item? */
};

/* Append what follows the class of an item, up to the beginning of its title. */
void svg_item(struct strbuf *, unsigned long long from, unsigned long long n);

void svg_picture_begin(const struct svg_picture *);

/* The detail is escaped already. */
void svg_picture_head(const struct svg_picture *, const char *detail, const struct svg_key *,
		      size_t nkeys);
void svg_picture_end(void);

/* ---- svg_comments.c: the comment lines of a trace ------------------------------------- */

/*
 * Draw all kept lines in a picture, upwards from bottom. The picture has room for two;
 * comments_room returns the height in pixels that the others need.
 */
uint64_t comments_room(const struct comments *);
void comments_draw(const struct comments *, uint64_t bottom);

/* Print the kept lines to stderr, where there is no picture. */
void comments_tell(const struct comments *);

#endif
