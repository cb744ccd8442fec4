/* SPDX-License-Identifier: ISC */
/*
 * sequence.h - a picture of messages, between who lays it out and who draws it
 *
 * Others have join.h. Places are hundredths of pixels; the numbers that have names are
 * pixels.
 */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include "join.h"

enum {
	MOST_LANES = 24,

	LEFT = 100, LANE = 180, TITLE = 34, BAND = 52, PAUSE = 44,
};

struct window {
	int64_t from, to;       /* INT64_MAX while its end is not known */
	int whole;              /* its end is in the trace */
};

/* An event, or several at one place, of which the first has its name here. */
struct tick {
	uint64_t y;
	int64_t time;
	const char *name;       /* of the names of struct sequence */
	size_t more;
};

/* A thread. */
struct lane {
	const struct actor *actor;
	char *label;
	uint64_t x;             /* its middle */
	int64_t first, last;
	struct window *windows; /* by time, as the ticks are */
	size_t nwindows, room, at;
	struct tick *ticks;
	size_t nticks, ticks_room;
};

/* A mark's time, or that of several. */
struct row {
	int64_t time;
	uint64_t y;
	int paused, named;      /* between it and the one before: nothing, the names */
};

struct sequence {
	const char *const *hosts;
	const struct messages *m;
	struct point **points;  /* that are shown, by time */
	size_t n;
	struct lane *lanes[MOST_LANES]; /* from left to right, those of a host side by side */
	size_t nlanes;
	struct row *rows;
	size_t nrows;
	unsigned long long messages, more_messages, more_points, more_lanes;
	struct table names;     /* of events */
	struct words words;     /* what is put together before it is printed */
	uint64_t right;         /* in pixels */
	uint64_t bottom;
};

/* The other end of the message; NULL: there is none. */
const struct point *sequence_peer(const struct sequence *, const struct point *);

/* Where the time is, between two rows; there is one at least. */
uint64_t sequence_y(const struct sequence *, int64_t time);

#endif
