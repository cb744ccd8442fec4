/* SPDX-License-Identifier: ISC */
/*
 * join.h - what puts the traces of several hosts together
 *
 * Times are nanoseconds, from zero to TIME_MOST; those of one host are of its own
 * clock. A message is sent before it is received, which is all that is known of two
 * clocks.
 */
#ifndef JOIN_H
#define JOIN_H

#include <stdint.h>

#include "dtmark.h"
#include "filter.h"
#include "tfs.h"

#define TIME_MOST INT64_C(3000000000000000000) /* 95 years; 64 bits hold the sum of three */
#define SECOND INT64_C(1000000000)

/* ---- hosttrace.c: one host's trace, line by line ------------------------------------- */

struct host {
	const char *name, *file;
	struct reader in;
	int digits;                     /* behind the point of its times, at most */
	int64_t begin;                  /* its earliest time; -1: it has none */
	struct remarks remarks;
	/* its next line */
	char *line;
	size_t n;
	int there, digits_now;
	struct trace_line l;
	int event, timed, rank;
	int64_t time;                   /* aligned; without one, that of the line before */
};

/*
 * The next line of a host, its time as it is: 1, or 0 at the end. A clock that has
 * no seconds ends the tool, REFUSED, said.
 */
int host_next(struct host *);

/* At one time: what has no time at once, what is received behind what is sent. */
int host_rank(const struct host *);

/* Print its line, its name in a column so wide and its time as it is in time. */
void host_print(const struct host *, size_t wide);

/* Add nanoseconds as seconds, so many digits behind the point, the others cut off. */
void words_seconds(struct words *, int64_t time, int digits);

/* ---- clocks.c: how clocks differ, by who heard from whom ---------------------------- */

#define NO_MESSAGE INT64_MAX

/* One host's clock. */
struct clock {
	int64_t add;            /* to its times: they are the first host's then */
	int64_t within;         /* add is right but for this, plus or minus */
	enum known {
		CLOCK_FIRST,    /* the one that the others are compared with */
		CLOCK_BOTH,     /* messages of both directions: add is the middle */
		CLOCK_MOST,     /* add is this or less: it is taken */
		CLOCK_LEAST,    /* add is this or more: it is taken */
		CLOCK_ALONE,    /* no message: add is 0, the clock as it is */
	} known;
	unsigned by;            /* compared with this host, which is not the first
				   where that is not known as CLOCK_BOTH */
};

struct clocks {
	unsigned n;
	int64_t unit;           /* a time may be so much too early or too late */
	/*
	 * [from * n + to]: of the messages between two hosts the least of the time at
	 * which it is received, by the one clock, less that at which it is sent, by
	 * the other. NO_MESSAGE: there was none.
	 */
	int64_t *least;
	struct clock *v;        /* of n: filled in */
	/*
	 * No clocks have each message received before it is not sent: 0, or by how
	 * much they are off. They are taken so that this is least.
	 */
	int64_t off;
};

void clocks_align(struct clocks *);

/*
 * Add what is known of a host's clock, and how (clocktell.c); times with so many
 * digits. names: all hosts'.
 */
void clock_tell(struct words *, const struct clocks *, unsigned host,
		const char *const *names, int digits);

/* ---- messages.c: both ends of a message ----------------------------------------------- */

/* A thread that has marks, or with -g a process; its key is host and tid. */
struct actor {
	struct entry entry;
	unsigned host;
	uint32_t tid;
	int group;              /* its marks are of several threads */
	char comm[16];          /* the last that its marks have, NUL-terminated */
	struct lane *lane;      /* the picture's */
};

/* A mark, where and when. */
struct point {
	uint64_t key;
	int64_t time;
	struct actor *actor;
	uint32_t peer;          /* the other end of the message, in the same array */
	uint32_t order;         /* as the traces have it */
	char what;              /* as in struct dt_mark */
};

/*
 * Instead of a peer: there is none; nobody knows which it is, as others have the key
 * too; another mark of the actor is the one with a peer, or it is no end of a message.
 */
#define PEER_NOT UINT32_C(0xfffffffd)
#define PEER_MANY UINT32_C(0xfffffffe)
#define PEER_NONE UINT32_C(0xffffffff)

struct messages {
	struct point *points;
	size_t n;
	unsigned nhosts;
	struct met {
		unsigned long long between;     /* messages with other hosts */
		unsigned long long sent, received; /* of which nobody has the other end */
	} *hosts;
	unsigned long long many;        /* keys that several have */
	int64_t *least;                 /* as in struct clocks */
};

/* Of points and hosts all the rest; the points are in another order then. */
void messages_find(struct messages *);

/* ---- sequence.c, seqdraw.c: the messages as a picture -------------------------------- */

struct sequence;

/* Of hosts and messages, which stay the caller's until it is drawn. */
struct sequence *sequence_make(const char *const *hosts, const struct messages *);

/* An event of a host, in the order of time. */
void sequence_event(struct sequence *, unsigned host, const struct trace_line *, int64_t time);

/* Print the picture, with these lines below it (seqdraw.c). */
void sequence_draw(struct sequence *, char *const *notes, size_t nnotes);

#endif
