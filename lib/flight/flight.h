/* SPDX-License-Identifier: ISC */
/*
 * flight.h - PURPOSE of flight
 */
#ifndef FLIGHT_H
#define FLIGHT_H

#include "live/live.h"
#include "tracedat/tracedat.h"
#include "view/view.h"

/*
 * flight.h - what a flight recorder is made of
 *
 * Dumps of what a buffer holds, the events that make one, and the files by which
 * it is told what to do. Each is zero at first, but for what its caller sets.
 */

/* ---- flightdump.c: dumps, each of which is whole or not there ---------------- */

/* DIR/dump.1, dump.2 and so on, or dump.1.cpu0 ... */
struct flight_dumps {
	/* the caller's */
	int per_cpu;            /* a file for each processor that has events */
	unsigned long keep;     /* so many, the newest */
	uint64_t most;          /* bytes of a text; 0: any */
	int out;                /* gets a line for each file; nobody is waited for */
	int packets;            /* a line to out is a packet */
	int skip_empty;         /* make no file of no events */
	unsigned long long cut; /* events that were read and are in no dump, added up */

	int dir;
	char path[PATH_MAX];    /* its */
	unsigned long number;   /* of the newest */
	unsigned cpus;
	struct part *parts;     /* one, or one for each processor */
	unsigned nparts;
	size_t chunk;           /* that are written at once */
	int failed;             /* errno of the dump that is being made */
};

/*
 * In the directory, which is ours alone (flock(2)) until we end; numbers go on from those
 * that are there. 0 or -1 said.
 */
int flight_dumps_open(struct flight_dumps *, const char *path);

/* Before the first: of a buffer of so many processors. 0 or -1 said. */
int flight_dumps_begin(struct flight_dumps *, unsigned cpus);

/*
 * All that the buffer holds, of this time or later (ns, by the clock of the trace),
 * as text or as trace.dat, whole pages of it. It records nothing meanwhile. One that
 * cannot be written is said, to out as well, and counted in cut.
 */
void flight_dump_text(struct flight_dumps *, struct live *, struct live_kernel *, struct show *, uint64_t from);
void flight_dump_raw(struct flight_dumps *, struct live *, struct dat_head *, uint64_t from);

/*
 * Write to out what flight_dump_text would write to a file, and wait for the reader. Nothing
 * can be dumped after it. 0: nobody reads out, or it is no FIFO, and nothing is taken
 * from the buffer; otherwise 1.
 */
int flight_dump_out(struct flight_dumps *, struct live *, struct live_kernel *, struct show *, uint64_t from);

/* ---- flighttrigger.c: events that make a dump --------------------------------- */

/* An instance of its own, which records nothing but them. */
struct flight_trigger {
	/* the caller's */
	const char **events;    /* n of them, SYSTEM:EVENT */
	size_t n;
	const char *filter;     /* of each; NULL: none */

	int pipe;               /* polls ready when it has recorded something; -1: none */
	int made, dir, instances;
	char name[160];
	struct live live;
};

/*
 * Of tasks that this instance traces, by its clock; with no events nothing is made.
 * top is tracefs itself. 0 or -1 said; flight_trigger_close it also then.
 */
int flight_trigger_open(struct flight_trigger *, int top, int dir, const char *instance);

/* All that it recorded is done with: when the first was, in ns; 0 there is nothing. */
uint64_t flight_trigger_take(struct flight_trigger *);

/* What cannot be removed is said. */
void flight_trigger_close(struct flight_trigger *);

/* ---- flightctl.c: control files ------------------------------------------------ */

/*
 * state says start or stop; who opens dropped waits until its number is there; reset
 * is written to. SIGIO, which the caller has blocked, tells that somebody opens dropped.
 */
struct flight_control {
	int notify;             /* polls ready: flight_control_asked; -1, the caller's: no files */
	int dir;                /* 0: none were made */
	int state, dropped;
	int tries;              /* not 0: flight_control_lease, each ms */
};

/* In the directory, which has this path. 0 or -1 said. */
int flight_control_make(struct flight_control *, int dir, const char *path, int on);

enum { ASKED_STATE = 1, ASKED_RESET = 2 };

/* Which of the two somebody has written to. */
int flight_control_asked(struct flight_control *);

/* What state says: 1 start, 0 stop, -1 neither. */
int flight_control_state(const struct flight_control *);

/* It says so from now on. */
void flight_control_tell(const struct flight_control *, int on);

/* Who opens dropped has the number. */
void flight_control_answer(struct flight_control *, unsigned long long dropped);

/* To be told of the next who does, once he that has it open has closed it. */
void flight_control_lease(struct flight_control *);

/* Those that were made, and no others. */
void flight_control_remove(const struct flight_control *);

#endif
