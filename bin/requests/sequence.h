/* SPDX-License-Identifier: ISC */
/*
 * sequence.h - a sequence diagram, shared by sequence.c (layout) and sequence_draw.c (SVG)
 *
 * A lane is the column of a thread. A row is the height of one or more mark lines. Members
 * x and y are in hundredths of a pixel. The constants are in pixels.
 */
#ifndef REQUESTS_SEQUENCE_H
#define REQUESTS_SEQUENCE_H

#include "base/base.h"
#include "lines/lines.h"
#include "requests.h"

enum {
	MOST_LANES = 24,

	LEFT = 100,             /* width of the column of times */
	LANE = 180,             /* width of a lane */
	TITLE = 34, BAND = 52,  /* heights of the title, and of the names of hosts and lanes */
	PAUSE = 44,             /* height of a pause, and of repeated names */
};

struct sequence_window {
	int64_t from, to;       /* to is INT64_MAX while the end is unknown */
	int whole;              /* the end is in the trace */
};

/* The first of the events at one height. */
struct sequence_tick {
	unsigned y;
	int64_t time;
	const char *name;       /* points into the names of struct sequence */
	size_t more;            /* number of further events */
};

/* The column of a thread. */
struct sequence_lane {
	const struct dt_actor *actor;
	char *label;
	unsigned x;             /* the middle */
	int64_t first, last;    /* times of its mark lines */
	struct dt_window window; /* the last one */
	struct sequence_window *windows; /* sorted by time, as the ticks are */
	size_t nwindows, room, at; /* at: the window of the last event */
	struct sequence_tick *ticks;
	size_t nticks, ticks_room;
};

/* One or more mark lines of one time. */
struct sequence_row {
	int64_t time;
	unsigned y;
	int paused, named;      /* before it are: a pause, the names of the lanes */
};

struct sequence {
	const char *const *hosts;
	const struct dt_messages *m;
	struct dt_point **points; /* n shown mark lines, sorted by time */
	size_t n;
	struct sequence_lane *lanes[MOST_LANES]; /* from left to right, sorted by host */
	size_t nlanes;
	struct sequence_row *rows;
	size_t nrows;
	/* messages that are shown; messages, mark lines and mark lines of lanes that are not */
	unsigned long long messages, more_messages, more_points, more_lanes;
	struct table names;     /* of events */
	struct strbuf words;    /* output line in progress */
	unsigned right;         /* in pixels */
	unsigned bottom;
};

/* Return the other end of the message, or NULL. */
const struct dt_point *sequence_peer(const struct sequence *, const struct dt_point *);

/* Return the y of a time, interpolated between two rows. There must be a row. */
unsigned sequence_y(const struct sequence *, int64_t time);

#endif
