/* SPDX-License-Identifier: ISC */
/*
 * sequence.h - a picture of messages, between who lays it out and who draws it
 *
 * Others have join.h. Places are hundredths of pixels; the numbers that have names are
 * pixels.
 */
#ifndef REQUESTS_SEQUENCE_H
#define REQUESTS_SEQUENCE_H

#include "base/base.h"
#include "requests/requests.h"

enum {
	MOST_LANES = 24,

	LEFT = 100, LANE = 180, TITLE = 34, BAND = 52, PAUSE = 44,
};

struct sequence_window {
	int64_t from, to;       /* INT64_MAX while its end is not known */
	int whole;              /* its end is in the trace */
};

/* An event, or several at one place, of which the first has its name here. */
struct sequence_tick {
	uint64_t y;
	int64_t time;
	const char *name;       /* of the names of struct sequence */
	size_t more;
};

/* A thread. */
struct sequence_lane {
	const struct dt_actor *actor;
	char *label;
	uint64_t x;             /* its middle */
	int64_t first, last;
	struct sequence_window *windows; /* by time, as the ticks are */
	size_t nwindows, room, at;
	struct sequence_tick *ticks;
	size_t nticks, ticks_room;
};

/* A mark's time, or that of several. */
struct sequence_row {
	int64_t time;
	uint64_t y;
	int paused, named;      /* between it and the one before: nothing, the names */
};

struct sequence {
	const char *const *hosts;
	const struct dt_messages *m;
	struct dt_point **points; /* that are shown, by time */
	size_t n;
	struct sequence_lane *lanes[MOST_LANES]; /* from left to right, those of a host side by side */
	size_t nlanes;
	struct sequence_row *rows;
	size_t nrows;
	unsigned long long messages, more_messages, more_points, more_lanes;
	struct table names;     /* of events */
	struct strbuf words;    /* what is put together before it is printed */
	uint64_t right;         /* in pixels */
	uint64_t bottom;
};

/* The other end of the message; NULL: there is none. */
const struct dt_point *sequence_peer(const struct sequence *, const struct dt_point *);

/* Where the time is, between two rows; there is one at least. */
uint64_t sequence_y(const struct sequence *, int64_t time);

#endif
