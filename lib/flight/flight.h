/* SPDX-License-Identifier: ISC */
/*
 * flight.h - a flight recorder: dumps, the events that start one, and its control files
 *
 * A flight recorder lets the ring buffer of an instance overwrite its oldest records, and
 * reads nothing until something happens. bin/tfs-flight.c is the program. Terms:
 *
 *	dump            what the ring buffer holds, moved to one file or to one per CPU
 *	trigger         an event that starts a dump; a second instance records it
 *	control file    here a plain file by which a user controls the recorder
 *
 * The layer uses base, proc, tracefs, event, live, tracedat and view. All structures are
 * zero at first, except for the members that the caller sets. A function that fails writes
 * an error message and returns -1, unless its comment says otherwise.
 */
#ifndef FLIGHT_H
#define FLIGHT_H

#include "live/live.h"
#include "tracedat/tracedat.h"
#include "view/view.h"

/* ---- take.c: take the records of a dump out of the ring buffers -------------------- */

/* The records of the dump in progress, and those that are kept for the next one. */
struct flight_take {
	int dir;                /* the instance; owned by the caller */
	struct live live;
	uint64_t end;           /* time of the dump; later records are in the next one */
	int last;               /* no dump follows: keep nothing */
	struct taken *cpu;
	unsigned char *memory;  /* room sub-buffers for each CPU */
	size_t room;
	struct merge merge;
};

/* Open the ring buffers of the instance at dir. Return 0 or -1. */
int flight_take_open(struct flight_take *, int dir);

/*
 * Begin to take the records up to now, or up to the time least if that is later (in units of
 * a record's time). The instance may record meanwhile. If no dump will follow, last is 1: the
 * dump then has all records that are taken. Return 0, or -1 without a message if there is no
 * memory to read the time; nothing is taken then.
 */
int flight_take_begin(struct flight_take *, uint64_t least, int last);

/* Return the CPU's next sub-buffer, valid until the next call for this CPU, or NULL. */
const void *flight_take_subbuf(struct flight_take *, unsigned cpu);

/* Return the next record of all CPUs as merge_next does, instead of sub-buffers. */
const struct record *flight_take_record(struct flight_take *, int64_t *lost);

/* End the dump, of which all records were taken. */
void flight_take_end(struct flight_take *);

/* Forget the records that are kept for the next dump, because the ring buffer was cleared. */
void flight_take_forget(struct flight_take *);

/* ---- dump.c: write dumps, each of them complete or absent -------------------- */

/* Files dump.1, dump.2 and so on in a directory, or dump.1.cpu0 and so on. */
struct flight_dumps {
	/* set by the caller */
	int per_cpu;            /* write one file for each CPU that has events */
	unsigned long keep;     /* number of dumps to keep; the oldest are removed */
	uint64_t most;          /* limit of a text dump in bytes; 0: none */
	int out;                /* receives the path of each file as a line; never blocks */
	int packets;            /* write each line to out as one packet */
	int skip_empty;         /* write no file for a dump without events */
	unsigned long long cut; /* total of events that were read but are in no dump */

	/* private */
	int dir;
	char path[PATH_MAX];    /* of dir */
	unsigned long number;   /* of the newest dump */
	unsigned cpus;
	struct part *parts;     /* one, or one per CPU */
	unsigned nparts;
	size_t chunk;           /* bytes of text to collect before a write */
	int failed;             /* errno of the dump in progress; 0: none */
};

/*
 * Open the directory and lock it (flock(2)) until the process ends. Numbers continue
 * after those of the dumps that are already there. Return 0 or -1.
 */
int flight_dumps_open(struct flight_dumps *, const char *path);

/* Prepare for a ring buffer of this many CPUs. Call it before the first dump. Return 0 or -1. */
int flight_dumps_begin(struct flight_dumps *, unsigned cpus);

/*
 * Take the records and write those from this time on (ns of the trace clock) to a new dump, as
 * text or as trace.dat. A trace.dat also gets older records of the first sub-buffers. least and
 * last are those of flight_take_begin. If the dump cannot be written, say so in an error
 * message and to out, and add its events to cut.
 */
void flight_dump_text(struct flight_dumps *, struct flight_take *, struct live_kernel *,
		      struct show *, uint64_t from, uint64_t least, int last);
void flight_dump_raw(struct flight_dumps *, struct flight_take *, struct dat_head *,
		     uint64_t from, uint64_t least, int last);

/*
 * Write to out what flight_dump_text would write to a file, and wait for the reader. No
 * dump can follow. Return 1; or 0 and take nothing from the ring buffer, if out has no
 * reader or is no FIFO.
 */
int flight_dump_out(struct flight_dumps *, struct flight_take *, struct live_kernel *,
		    struct show *, uint64_t from);

/* ---- trigger.c: record the events that start a dump --------------------------- */

/* An instance that records only the triggers. */
struct flight_trigger {
	/* set by the caller */
	const char **events;    /* n names SYSTEM:EVENT; no instance is made for none */
	size_t n;
	const char *filter;     /* filter of each event; NULL: none */

	int pipe;               /* polls readable after a trigger was recorded; -1: no triggers */
	int made, dir, instances;
	char name[160];
	struct live live;
	uint64_t newest;        /* time of the newest trigger that was consumed */
};

/*
 * Make the instance of the triggers. It has the trace clock and the pid filter of the
 * instance at dir; top is the tracefs root. Return 0 or -1; call flight_trigger_close in
 * both cases.
 */
int flight_trigger_open(struct flight_trigger *, int top, int dir, const char *instance);

/*
 * Consume all recorded triggers. Return the time of the first one after this time, in units
 * of a record's time, or 0 for none.
 */
uint64_t flight_trigger_take(struct flight_trigger *, uint64_t after);

/* Remove the instance. Write an error message if that fails. */
void flight_trigger_close(struct flight_trigger *);

/* ---- control.c: the control files state, dropped and reset ------------------------ */

/*
 * A user writes start or stop to `state`, or anything to `reset`. A user who opens
 * `dropped` waits until flight_control_answer has written the number. The kernel sends
 * SIGIO, which the caller has blocked, when a process opens `dropped`.
 */
struct flight_control {
	int notify;             /* polls readable for flight_control_asked; the caller sets -1
				   if there are no control files */
	int dir;                /* 0: no file was made */
	int state, dropped;
	int tries;              /* not 0: call flight_control_lease every ms */
};

/* Make the files in the directory dir, whose path is path. Return 0 or -1. */
int flight_control_make(struct flight_control *, int dir, const char *path, int on);

enum { ASKED_STATE = 1, ASKED_RESET = 2 };

/* Return the bits of the files that a user has written to since the last call. */
int flight_control_asked(struct flight_control *);

/* Return what `state` contains: 1 start, 0 stop, -1 anything else. */
int flight_control_state(const struct flight_control *);

/* Write start or stop to `state`. */
void flight_control_tell(const struct flight_control *, int on);

/* Write the number to `dropped` and let the user who opens the file continue. */
void flight_control_answer(struct flight_control *, unsigned long long dropped);

/* Try once to lease `dropped` again. The kernel refuses while a process has the file open. */
void flight_control_lease(struct flight_control *);

/* Remove the files, if flight_control_make has made them. */
void flight_control_remove(const struct flight_control *);

#endif
