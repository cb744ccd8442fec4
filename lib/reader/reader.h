/* SPDX-License-Identifier: ISC */
/*
 * reader.h - the reader of a trace
 *
 * This layer includes base.
 */
#ifndef READER_H
#define READER_H

#include "base/base.h"

/* ---- consumer.c: write a trace to a reader that may be slow, or leave --------------- */

/*
 * The reader of a tool's standard output. If the last reader of a FIFO leaves, the tool
 * ends; the stream of a session (NEXT_READER) waits for another reader. consumer_wait is
 * the only place where a tool waits, so a tool never misses that its reader has died or
 * that it must stop.
 */
struct consumer {
	int out;                /* standard output, or the same FIFO opened again */
	int signals;            /* wait_stop_signals() */
	int packets;            /* write one line at a time, in parts of at most PIPE_BUF */
	int stopping;           /* a signal told the tool to stop */
	unsigned readers;       /* how many readers came after others had left */
	int given_up;           /* GIVE_UP came: do not wait for the reader any more */
	/*
	 * Not 0: nothing more can be written. 1: the size limit leaves no room (the owner
	 * may set this, too). TIMED_OUT: the reader took nothing. REFUSED: a write
	 * failed, and the error is reported.
	 */
	int full;
	int in_line;            /* the last write did not end a line */
	int failed;             /* errno of the write that failed */
	char tail[4096];        /* the text that was written last */
	size_t ntail;
	unsigned long patience; /* ms to wait for a reader that takes nothing, when stopping */
	long long left;         /* bytes that may still be written; < 0: no limit */
};

/* The initial value: no descriptors yet, two seconds of patience, any size. */
#define CONSUMER (struct consumer){ .out = -1, .signals = -1, .patience = 2000, .left = -1 }

/* Bytes that a size limit reserves for the last line. */
enum { CONSUMER_LAST = 256 };

/* Limit the output to this many kilobytes, the value of an option. Exit MISUSED on no number. */
void consumer_limit(struct consumer *, const struct tool *, const char *kilobytes);

/*
 * Set out by stdout_reopen, with packets if c->packets is set. If the FIFO has no reader,
 * do as consumer_wait does when the reader leaves. From here on SIGPIPE is ignored. Return
 * 0, or -1, reported.
 */
int consumer_open(struct consumer *, const struct tool *);

/*
 * Wait for at most us microseconds (< 0: no limit) for events on fd (-1: none), a signal
 * that stops the tool or gives up the reader, or the reader's death. Return 1 if fd is
 * ready, or 0 if the time is over or a signal came. If the last reader is gone, end the
 * program as SIGPIPE does. The stream of a session waits for the next reader first,
 * without a limit, and leaves signals pending until that reader comes.
 */
int consumer_wait(struct consumer *, int fd, short events, long us);

/*
 * Write all of the text and wait for the reader as needed. Return how many bytes were not
 * written. If there are any, full is set; an error is reported.
 */
size_t consumer_put(struct consumer *, const char *text, size_t n);

/*
 * Make room for a last line in a regular file whose disk is full: move its end back by as many
 * whole lines as CONSUMER_LAST bytes need. Return how many of these lines were events.
 */
unsigned long long consumer_take_back(struct consumer *);

/*
 * Write the last line, of at most CONSUMER_LAST bytes. If the reader was given up, make
 * the FIFO larger for the line, so that the reader gets it if it ever reads on.
 */
void consumer_last(struct consumer *, const char *line, size_t n);

/* Return how many bytes of text, in whole lines, fit below the size limit. */
size_t consumer_fitting(const struct consumer *, const char *text, size_t n);

#endif
