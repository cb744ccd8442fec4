/* SPDX-License-Identifier: ISC */
/*
 * reader.h - the reader of a trace, who may be slow, stop reading, or leave
 *
 * One protocol for all tools whose output is a trace. If the last reader of a FIFO leaves, the
 * tool ends; the stream of a session waits for another reader (NEXT_READER). If a session sends
 * GIVE_UP, the tool waits no longer for a reader that takes nothing: it writes only the last lines,
 * which fit into the enlarged FIFO, and they count the others.
 */
#ifndef READER_H
#define READER_H

#include "base/base.h"
#include "tool/tool.h"

/* Is this line an event, and no comment, title, frame of a stack or "CPU:" of lost events? */
int reader_is_event(const char *line);

/* Is this line, of n bytes, one that its reader gets even after GIVE_UP: a comment, or a loss? */
int reader_is_last(const char *line, size_t n);

/* ---- consumer.c: write a trace to its reader ------------------------------------------- */

/*
 * A session sets this variable for its stream to DEVICE:INODE of the session's FIFO (compare
 * JOURNAL_STREAM in systemd.exec(5)). The stream waits for the next reader, and keeps the text that
 * no reader has taken yet. A program whose standard output is another FIFO or pipe ends with its
 * reader, even if it has inherited the variable.
 */
#define NEXT_READER "TFS_NEXT_READER"

/* Set the variable for the FIFO fd. Return 0; -1 if fd is no FIFO or memory runs out. */
int reader_expect_next(int fd);

/* The environment variable with the name of the file that is standard output, for messages. */
#define STDOUT_NAME "TFS_STDOUT"

/* End the program as a filter ends if its reader has left: by SIGPIPE, even if it is ignored. */
_Noreturn void reader_broken_pipe(void);

/* Write to standard output, for main. End the program if its reader has left, or by REFUSED. */
void reader_write(const char *text, size_t n);

/*
 * For a filter, which writes by stdout_print: follow the protocol from now on. On a FIFO of packets
 * (O_DIRECT) each line is one packet. A failed write ends the program, as base.h says.
 */
void reader_of_filter(void);

/*
 * If standard output is a FIFO, open it again with this access (O_WRONLY or O_RDWR) and close
 * standard output. Return a descriptor whose writes do not wait; with packets, each write is one
 * packet. If standard output is no FIFO, return STDOUT_FILENO; with packets (option -l), exit
 * MISUSED instead. Return READER_NONE, silent, if access is O_WRONLY and the FIFO has no reader, or
 * -1, reported, if it cannot be opened; then standard output is unchanged.
 */
enum { READER_NONE = -2 };
int reader_reopen(const struct tool *t, int access, int packets);

/*
 * The reader of a tool that waits for events and for its reader. consumer_wait is the only place
 * where such a tool waits, so it never misses that its reader has died or that it must stop.
 */
struct consumer {
	int out;                /* standard output, or the same FIFO opened again */
	int signals;            /* wait_stop_signals() */
	int packets;            /* write one line at a time, in parts of at most PIPE_BUF */
	int stopping;           /* a signal told the tool to stop */
	unsigned readers;       /* how many readers came after others had left */
	volatile sig_atomic_t given_up; /* GIVE_UP came: do not wait for the reader any more */
	/*
	 * Not 0: nothing more can be written. 1: the size limit leaves no room (the owner
	 * may set this, too). TIMED_OUT: the reader took nothing. REFUSED: a write
	 * failed, and the error is reported.
	 */
	int full;
	int grown;              /* the FIFO is larger, for the last lines */
	const char *what;       /* what is written, for messages: "the trace" */
	int in_line;            /* the last write did not end a line */
	int failed;             /* errno of the write that failed */
	char tail[4096];        /* the text that was written last */
	size_t ntail;
	unsigned long patience; /* ms to wait for a reader that takes nothing, when stopping */
	long long left;         /* bytes that may still be written; < 0: no limit */
	/*
	 * Do other work while the reader takes nothing, unless the tool is stopping. Return for how
	 * many microseconds to wait until the next call (< 0: no limit), or set *fd to wait for
	 * input. NULL: there is none.
	 */
	long (*meanwhile)(void *arg, int *fd);
	void *arg;

	/* private: with packets, a pipe for a page of lines */
	int page[2];            /* -1: none yet */
	int no_page;            /* the kernel refuses it */
	size_t in_page;         /* bytes of the text that are in it */
};

/* The initial value: no descriptors yet, two seconds of patience, any size. */
#define CONSUMER \
	(struct consumer){ .out = -1, .signals = -1, .what = "the trace", .patience = 2000, \
			   .left = -1, .page = { -1, -1 } }

/* Bytes that a size limit reserves for the last line. */
enum { CONSUMER_LAST = 256 };

/* Limit the output to this many kilobytes. */
void consumer_limit(struct consumer *, unsigned long kb);

/*
 * Set out by reader_reopen, with packets if c->packets is set. If the FIFO has no reader,
 * do as consumer_wait does when the reader leaves. From here on SIGPIPE is ignored. Return
 * 0, or -1, reported.
 */
int consumer_open(struct consumer *, const struct tool *);

/*
 * Wait for at most us microseconds (< 0: no limit) for events on fd (-1: none), a signal that stops
 * the tool or gives up the reader, or the reader's death. Return 1 if fd is ready, else 0. If the
 * last reader is gone, end the program as SIGPIPE does. The stream of a session waits for the next
 * reader first, without a limit, and leaves signals pending until that reader comes.
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
