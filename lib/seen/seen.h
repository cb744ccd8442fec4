/* SPDX-License-Identifier: ISC */
/*
 * seen.h - the events of a trace, whatever it is: text, JSON, or a trace.dat
 *
 * A filter asks an event for its parts by seen_text and the like (lines.h). It need not know
 * whether the event was read from a line, or is a record of a trace.dat.
 *
 * This layer includes layers of both towers (ARCHITECTURE.md).
 */
#ifndef SEEN_H
#define SEEN_H

#include "base/base.h"
#include "event/event.h"
#include "lines/lines.h"
#include "tracedat/tracedat.h"
#include "show/show.h"

/* ---- replay.c: the records of a trace.dat -------------------------------------------------- */

/* An open trace.dat, and how to show its events. Zero it; set the members up to decode. */
struct replay {
	int names_calls;        /* decode the calls that our programs recorded */
	struct show show;
	struct decode decode;

	struct dat dat;
	struct event_set events;
	struct line_format line;
	struct merge merge;     /* of the instance that is read */

	/* private */
	const struct dat_buffer *buffer;
	struct subbuf_format layout;
	struct line_graph graph;
	struct dat_subbufs *subbufs;    /* one for each CPU */
	unsigned long long bad;         /* corrupt sub-buffers */
	int failed;                     /* the file could not be read to its end */
};

/*
 * Open the file, give up all rights (confine of base.h), and read its head. Return 0, or -1,
 * reported.
 */
int replay_open(struct replay *, const char *path);

/* Begin to read an instance, by merge_next, and end it. */
void replay_begin(struct replay *, const struct dat_buffer *);
void replay_end(struct replay *);

/* Print the line with the name of the instance. Return its length; 0: it has none. */
size_t replay_name(const struct replay *, char *buf, size_t size);

/* Print what comes after the last record: calls that have not returned. Call it until it is 0. */
size_t replay_rest(struct replay *, char *buf, size_t size);

/* Print the line of lost events. Return its length; 0: none is lost. */
size_t replay_losses(const struct replay *, char *buf, size_t size);

/* Return DONE; or REFUSED, reported, if the file is damaged. */
int replay_status(const struct replay *);

/* ---- input.c: the frame of a filter --------------------------------------------------- */

/*
 * The trace of a filter: text or JSON on standard input, or a trace.dat. A trace.dat gives the
 * lines of tfs-report, and decodes the calls that our programs have recorded. All zero at first.
 */
struct input {
	/* set by the filter */
	int whole;              /* it prints lines of events, so each event needs its line */
	int facts;              /* it needs what tfs-report -F adds */
	int paths;              /* calls of a trace.dat have the files of descriptors */
	int metrics;            /* input_end ends the output as metrics */

	struct line_reader in;
	struct comments comments;
	struct seen l;    /* of input_event */
	char *line;             /* of n bytes; "" if an event of a trace.dat needs none */
	size_t n;

	/* private */
	const char *dat;        /* the path of a trace.dat; NULL: lines */
	struct replay *replay;
	void (*each_of_dat)(struct input *);
	struct strbuf text;
	int is_event;           /* l is an event that has no line */
	int damaged;            /* the trace.dat could be read only in part, which is reported */
	void (*each)(void);
};

/*
 * Make the file that the last operand of a filter names its standard input; without an operand, or
 * with "-", keep it. Exit MISUSED if there is another operand, or REFUSED if the file cannot be
 * read or is no text. A trace.dat will do only if input_takes_dat was called; with input NULL, only
 * text will do.
 */
void input_file(struct input *, const struct tool *, char **operands);

/* Let a trace.dat do as well: only programs that call this have the code (input_dat.c). */
void input_takes_dat(struct input *);

/*
 * Give up all rights, write for the reader of a filter (reader.h), and call each for each line or
 * event, to the end of the trace. Exit REFUSED, reported, if it cannot be read. SIGINT is ignored,
 * so that the program that makes the trace can finish first.
 */
void input_each(struct input *, void (*each)(void));

/*
 * Read the line as an event, as comments_event does. input_look does not count a line that is not
 * understood.
 */
int input_event(struct input *);
int input_look(struct input *);

/*
 * Print the kept comments after the output. Return DONE; NO if the text nothing is given, which is
 * printed as a note; or REFUSED if a trace.dat could be read only in part.
 */
int input_end(struct input *, const char *nothing);

#endif
