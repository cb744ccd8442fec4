/* SPDX-License-Identifier: ISC */
/*
 * consumer.h - the reader of a tool's standard output, who may be slow, or leave
 *
 * A FIFO's reader may leave and another come; a tool waits for the one, and ends
 * with the last, unless it is a session's stream (NEXT_READER). Everything that a tool
 * waits for is waited for here, so that neither a reader's death nor the word to stop is
 * ever missed.
 */
#ifndef CONSUMER_H
#define CONSUMER_H

#include "tfs.h"

struct consumer {
	int out;                /* standard output, or the FIFO that it was, opened anew */
	int signals;            /* stop_signals() */
	int packets;            /* one line a write, in parts of PIPE_BUF at most */
	int stopping;           /* we were told to stop */
	unsigned readers;       /* how many readers came after another one had left */
	int given_up;           /* SIGUSR2: the reader is not worth waiting for any more */
	/*
	 * Nothing more can be written: 1 as the size limit leaves no room, which the
	 * owner may find first; TIMED_OUT, the reader took nothing; REFUSED, said.
	 */
	int full;
	int in_line;            /* what was written last does not end a line */
	int failed;             /* errno, of a write that could not be done */
	char tail[4096];        /* what was written last, */
	size_t ntail;
	unsigned long patience; /* ms, for a reader that takes nothing, when stopping */
	long long left;         /* bytes that may still be written; < 0 any */
};

/* At first: nobody yet, two seconds of patience, any size. */
#define CONSUMER (struct consumer){ .out = -1, .signals = -1, .patience = 2000, .left = -1 }

/* Room that a size limit leaves for the last line. */
enum { CONSUMER_LAST = 256 };

/* The value of an option: write no more than that many kilobytes. Exits MISUSED. */
void consumer_limit(struct consumer *, const struct tool *, const char *kilobytes);

/*
 * Standard output as own_output has it, in packets where packets is set. Without
 * a reader: as when one leaves. From here on SIGPIPE is ignored.
 */
void consumer_open(struct consumer *, const struct tool *);

/*
 * The one wait point: for events on fd (-1: none), for being told to stop or to give
 * up the reader, for the reader's death, at most us microseconds (< 0: any time). 1
 * when fd is ready, 0
 * when the time is up or we were told to stop just now. The last reader gone: ends
 * the program as SIGPIPE does; a session's stream waits for the next reader first, for
 * any time, and leaves signals pending until that reader comes.
 */
int consumer_wait(struct consumer *, int fd, short events, long us);

/*
 * Write all of it, waiting for the reader. Sets full when that cannot be, said where
 * it is an error. How many bytes of it were not written.
 */
size_t consumer_put(struct consumer *, const char *text, size_t n);

/*
 * A file has no more room: take back as many of its last lines as a last line needs.
 * How many of them were events. Else 0.
 */
unsigned long long consumer_take_back(struct consumer *);

/*
 * The same of a last line, of CONSUMER_LAST bytes at most. A reader that was given
 * up gets it as well, if he ever reads on: the FIFO is made larger for it.
 */
void consumer_last(struct consumer *, const char *line, size_t n);

/* How much of text fits below the size limit, in whole lines. */
size_t consumer_fitting(const struct consumer *, const char *text, size_t n);

/* The length of the first line, newline included; n when there is no end. */
size_t line_length(const char *text, size_t n);

/*
 * How many lines text has, one without its end too: Linux 5.10 keeps that for the
 * next read of trace_pipe.
 */
unsigned long long count_lines(const char *text, size_t n);

#endif
