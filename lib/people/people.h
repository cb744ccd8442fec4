/* SPDX-License-Identifier: ISC */
/*
 * people.h - a trace for people: lines with names for numbers, and tables, at a terminal or not
 *
 * lib/show makes these lines from records, and tfs-human from lines of text. Both find the parts of
 * an event in their own way; the functions here do the rest, as tfs-human(1) describes.
 */
#ifndef PEOPLE_H
#define PEOPLE_H

#include "base/base.h"

/* ---- people.c: the columns of a trace for people --------------------------------------- */

/* A column of tfs-human, NAME[:WIDTH]=FIELD[-PREFIX], see tfs-human(1). */
struct column {
	const char *name, *prefix;      /* of nname and nprefix bytes */
	size_t nname, nprefix, width;
	char field[32];
};

/*
 * Read the next of the columns at *s, which spaces separate, and move *s after it. Return
 * 1, 0 at the end, or -1 if it is not a column.
 */
int column_next(const char **s, struct column *);

/* ---- people.c: an event as a line for people -------------------------------------------- */

enum { PEOPLE_COLUMNS = 7 };

/* How to make lines. Set colours and marks; all other members are zero at first. */
struct people {
	int colours;            /* times are dim, and failures are red */
	int marks;              /* write PEOPLE_MARK before the last column, for people_wrap */
	struct column columns[PEOPLE_COLUMNS + 1]; /* they replace the column EVENT */
	size_t ncolumns;
	const char *comm, *pid; /* fields for the columns COMM and PID; NULL: the task */

	/* private */
	int titled, by_day;
	int64_t offset;         /* the time of day minus that of the trace, in ns */
	int64_t second;         /* of now */
	char day[16];           /* "2026-11-23", as the last date line says */
	char now[28];           /* the time of day of the last event, as TIME_DATE */
};

/* The beginnings of titles, without and with times of day. */
#define PEOPLE_TITLE "        SECONDS"
#define PEOPLE_DAY_TITLE "TIME           "

enum people_kind { PEOPLE_OTHER, PEOPLE_ENTER, PEOPLE_RETURN, PEOPLE_RAW_CALL, PEOPLE_SIGNAL };

/* The parts of an event. A NUL follows body, but the body need not end there. */
struct people_event {
	enum people_kind kind;
	struct text_part host;  /* the host, with the characters after it */
	struct text_part time, comm, pid;
	int timed;              /* ns is the time in nanoseconds */
	uint64_t ns;
	struct text_part event; /* its name; no part: the text has none */
	struct text_part body;  /* the text after it */
	/* Return the part of the event with a key of tfs-count(1). NULL: there are no keys. */
	struct text_part (*key)(const void *source, const char *key);
	const char *(*call)(const void *source, int64_t number); /* the name of a call, or NULL */
	const void *source;
};

/* Set columns, as in tfs-human(1). Return 0, or -1, silent, if they are wrong or too many. */
int people_columns(struct people *, const char *columns);

/* Begin a trace with times of day: write the date of ns. offset: see struct people. */
void people_begin(struct people *, struct out *, uint64_t ns, int64_t offset);

/*
 * Return the time of day, "16:53:16.156772" and more, or NULL if it is not known. If the date has
 * changed, write it first.
 */
const char *people_time(struct people *, struct out *, uint64_t ns);

/* Write TIME, COMM and PID, and before them the date and the title where they are due. */
void people_head(struct people *, struct out *, const struct people_event *);

/* Write the line of an event, without a newline. */
void people_event(struct people *, struct out *, const struct people_event *);

/* Write "-1 ENOENT (No such file or directory)". */
void people_error(const struct people *, struct out *, int64_t error, const char *name);

/* Write the result of a call: "= 3", "= -1 ENOENT (No such file or directory)". */
void people_result(const struct people *, struct out *, int64_t result);

/* Write how a task has ended, by its code as in wait(2). Return 1, or 0 if it is no such code. */
int people_exit(const struct people *, struct out *, int64_t code);

/* Write a signal, its error and its reason: "signal SIGTERM errno 0 code SI_USER". */
void people_siginfo(const struct people *, struct out *, int64_t sig, int64_t error,
		    int64_t code);

/* Read a decimal number, or one with 0x, that takes up the whole part. Return 0, or -1. */
int people_number(struct text_part, int64_t *v);

/*
 * PEOPLE_MARK is the mark of people.marks. A line that begins with PEOPLE_ROW is a row of a table.
 * PEOPLE_WIDE begins and ends a part of a row for wide terminals. No other control character is in
 * the lines of a trace for people.
 */
enum { PEOPLE_MARK = 1, PEOPLE_ROW, PEOPLE_WIDE, PEOPLE_WIDE_COLUMNS = 100 };

/*
 * Add n bytes, which are whole lines, to the text, without marks. If a line is too wide for a
 * terminal of so many columns, cut it if it is a row, or break it between words and indent the
 * rest, as no other line is. No word, such as a path in quotes, is broken, so that it can be
 * copied. JSON stays as it is. columns 0: not known.
 */
void people_wrap(struct strbuf *, const char *text, size_t n, size_t columns);

/* Return how many columns standard output has; 0: not known; -1: it is no terminal. */
int people_width(void);

/* Print whole lines for such a width. */
void people_print(const char *text, size_t n, int width);

/* Return how many of n bytes fit into so many columns. 0: all. */
size_t people_fit(const char *text, size_t n, size_t columns);

/* ---- screen.c: a table every so often, which a terminal draws again in its place -------- */

/*
 * The first byte of a table's first line, in the text of a tool for people. The table replaces the
 * one before it. SCREEN_LAST: it is the last one, which may be longer than the terminal is high.
 */
enum { SCREEN_FRAME = '\f', SCREEN_LAST = '\v' };

/* All zero at first. */
struct screen {
	int frames;             /* the text is in a table that another one replaces */
	unsigned rows, columns; /* of that table on the terminal */
};

/*
 * Begin the text of a table for a person: ms have passed since the beginning. every: the time
 * between two tables, in ms; 0: it is the last one, of the whole time.
 */
void screen_title(struct strbuf *, long long ms, unsigned long every);

/*
 * Add the lines of a table that a program reads, text or JSON: each begins with the seconds after
 * which the table was made.
 */
void screen_timed(struct strbuf *to, const char *text, size_t n, long long ms);

/*
 * Add n bytes, which are whole lines, for a terminal of this size, or of any size if it is 0. In a
 * table, cut lines that are too wide, and leave out those that are too many.
 */
void screen_add(struct screen *, struct strbuf *to, const char *text, size_t n, unsigned columns,
		unsigned rows);

/* tfs-run sets this variable for a tool whose lines it copies to a terminal. */
#define PEOPLE_SCREEN "TFS_SCREEN"

/* In the environment: "always" and "never" decide about colours, also against NO_COLOR. */
#define PEOPLE_COLOUR "TFS_COLOR"

/* Set marks if the lines go to a terminal, and colours as the environment says. */
void people_screen(struct people *, int terminal);

#endif
