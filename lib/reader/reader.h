/* SPDX-License-Identifier: ISC */
/*
 * reader.h - the reader of a trace, who may be slow, stop reading, or leave
 *
 * One protocol for all tools whose output is a trace. If the last reader of a FIFO leaves, the
 * tool ends; the stream of a session waits for another reader (NEXT_READER). If a session sends
 * GIVE_UP, the tool waits no longer for a reader that takes nothing: it writes only the last lines,
 * which fit into the enlarged FIFO, and they count the others.
 *
 * This layer includes base.
 */
#ifndef READER_H
#define READER_H

#include "base/base.h"

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
	const char *what;       /* is written, for messages */
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

/*
 * lib/view makes these lines from records, and tfs-human from lines of text. Both find the parts of
 * an event in their own way; the functions here do the rest, as tfs-human(1) describes.
 */

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
	struct text_part host;  /* with the characters after it */
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

/* Begin a trace with times of day by the date of this time. offset: see struct people. */
void people_begin(struct people *, struct out *, uint64_t ns, int64_t offset);

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

/* The mark of people.marks. No other control character is in the lines of a trace for people. */
enum { PEOPLE_MARK = 1 };

/*
 * Add n bytes, which are whole lines, to the text. Break each line that has a mark between words,
 * if it is too wide for a terminal of so many columns: the parts below are indented, as no other
 * line is. No word, such as a path in quotes, is broken, so that it can be copied.
 */
void people_wrap(struct strbuf *, const char *text, size_t n, size_t columns);

/* ---- screen.c: a table at a terminal that is drawn again in its place ------------------- */

/*
 * The first byte of a table's first line, in the text of a tool for people: the table replaces the
 * one before it; or it is the last one, which may be longer than the terminal is high.
 */
enum { SCREEN_FRAME = '\f', SCREEN_LAST = '\v' };

/* All zero at first. */
struct screen {
	int frames;             /* the text is in a table that another one replaces */
	unsigned rows, columns; /* of that table on the terminal */
};

/*
 * Add n bytes, which are whole lines, for a terminal of this size, or of any size if it is 0. In a
 * table, cut lines that are too wide, and leave out those that are too many.
 */
void screen_add(struct screen *, struct strbuf *to, const char *text, size_t n, unsigned columns,
		unsigned rows);

/* tfs-run sets this variable for a tool whose lines it copies to a terminal. */
#define PEOPLE_SCREEN "TFS_SCREEN"

/* In their environment: "always" and "never" decide about colours, also against NO_COLOR. */
#define PEOPLE_COLOUR "TFS_COLOR"

/* Set marks and colours, if the lines go to a terminal, for what the environment says. */
void people_screen(struct people *, int terminal);

#endif
