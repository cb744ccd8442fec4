/* SPDX-License-Identifier: ISC */
/*
 * flight.h - a flight recorder: dumps, the events that start one, and its control files
 *
 * A flight recorder lets the ring buffer of an instance overwrite its oldest records, and
 * reads nothing until something happens. bin/flight/tfs-flight.c is the program. Terms:
 *
 *	dump            what the ring buffer holds, moved to one file or to one per CPU
 *	trigger         an event that starts a dump; a second instance records it
 *	control file    here a plain file by which a user controls the recorder
 *	budget          the share of a CPU's time that the recorder may take from programs
 *	load            the share that it takes
 *	ppm             parts per million of the time of one CPU
 *
 * The layer uses base, pairing, proc, tracefs, event, live, tracedat and view. All structures are
 * zero at first, except for the members that the caller sets. A function that fails writes
 * an error message and returns -1, unless its comment says otherwise.
 */
#ifndef FLIGHT_H
#define FLIGHT_H

#include "tool/tool.h"
#include "live/live.h"
#include "calls/calls.h"
#include "tracedat/tracedat.h"
#include "show/show.h"

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

/*
 * Return the number of events that the ring buffer of a CPU, or of all CPUs (-1), had dropped
 * since it was made, when flight_take_begin read it.
 */
unsigned long long flight_take_lost(const struct flight_take *, int cpu);

/* Return the CPU's next sub-buffer, valid until the next call for this CPU, or NULL. */
const void *flight_take_subbuf(struct flight_take *, unsigned cpu);

/* Return the next record of all CPUs as merge_next does, instead of sub-buffers. */
const struct record *flight_take_record(struct flight_take *, int64_t *lost);

/* End the dump, after all its records were taken. */
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
	unsigned long oldest;   /* of the oldest dump of this process, or number + 1 */
	uint64_t total;         /* limit of all dumps in bytes, from DUMPS_MOST; 0: none */
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

/* ---- beside.c: a small second instance beside the one that records ------------- */

struct flight_beside {
	int made, dir, instances;
	char name[160];
};

/*
 * Make a second instance: its name is that of the instance (NULL: $TFS_INSTANCE) plus the suffix,
 * its buffers have so many KB, and its trace clock is that of the instance at dir. top is the
 * tracefs root. Return 0 or -1; call flight_beside_remove in both cases.
 */
int flight_beside_make(struct flight_beside *, int top, int dir, const char *instance,
		       const char *suffix, const char *kb);

/*
 * Copy the pid filter of the instance at from, but leave the tasks in us out of the list of
 * excluded tasks, so that they are recorded. Return 0 or -1.
 */
int flight_beside_pids(const struct flight_beside *, int from, const struct pids *us);

/* Remove the instance, if it was made. Write an error message if that fails. */
void flight_beside_remove(const struct flight_beside *);

/* ---- trigger.c: record the events that start a dump --------------------------- */

/* An instance that records only the triggers. */
struct flight_trigger {
	/* set by the caller */
	struct opt_list events; /* SYSTEM:EVENT; no instance is made for none */
	const char *filter;     /* filter of each event; NULL: none */

	int pipe;               /* polls readable after a trigger was recorded; -1: no triggers */
	int dir;
	struct flight_beside beside;
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

/* ---- slow.c: system calls that start a dump because they took too long -------------- */

struct flight_slow {
	/* set by the caller */
	unsigned long us;       /* a call that takes so long starts a dump; 0: none does */
	struct opt_list calls;  /* names of calls; none: all */

	uint64_t newest;        /* time of the newest return of a slow call */
	char line[128];         /* from flight_slow_take or _lost, for the reader of the paths */

	/* private */
	struct flight_beside beside;
	struct live live;
	struct live_kernel kernel;
	struct pairing pairing;
	pid_t self;
};

/* As flight_trigger_open, _take and _close. The time is that of the return of a slow call. */
int flight_slow_open(struct flight_slow *, int top, int dir, const char *instance);
uint64_t flight_slow_take(struct flight_slow *, uint64_t after);
void flight_slow_close(struct flight_slow *);

/* Return for how many milliseconds poll(2) may wait, at most ms. In both, -1 means no limit. */
int flight_slow_wait(const struct flight_slow *, int ms);

/* Set line to the number of events that were lost; "": none. */
void flight_slow_lost(struct flight_slow *);

/* Is a task in a slow call at this time? */
int flight_slow_lasts(const struct flight_slow *, uint64_t now);

/* ---- cost.c: measure what recorded events take from programs ---------------------- */

/* An event that the instance records, unless it is off. */
struct flight_event {
	const char *name;       /* SYSTEM:EVENT */
	uint16_t id;            /* the number in its records */
	uint8_t call;           /* it makes all system calls of the machine slower */
	uint8_t stays;          /* never switch it off: it starts dumps, or names tasks */
	uint8_t off, costly;
	uint8_t change;         /* flight_cost_enable is to change it */
	uint32_t sampled;       /* its records in the last sample */
	uint64_t since;         /* the time when its recording ended, in ns of the trace clock */
};

struct flight_cost {
	/* set by the caller */
	int dir;                /* the instance */
	const struct live *live; /* its ring buffers */

	uint32_t event;         /* ns that a recorded event costs */
	uint32_t detour;        /* ns that a system call takes longer while any is traced */
	struct flight_event *events;
	size_t n;
	uint64_t recorded;      /* events of the instance until now */
	uint64_t sampled, calls; /* records of the last sample: of the events, of all calls */

	/* private */
	struct flight_beside beside;
	char *enabled, *names;  /* set_event, as it was read; names of events */
	int all_calls;          /* the instance recorded all events of syscalls */
	uint64_t seen;          /* events when they were counted last */
};

/*
 * Make an instance for measurements, and measure there what an event costs. Return 0 or -1;
 * call flight_cost_close in both cases.
 */
int flight_cost_open(struct flight_cost *, int top, const char *instance);

/* Return the number of events of all CPUs since the last call. */
uint64_t flight_cost_count(struct flight_cost *);

/*
 * Read which events the instance records, and their filters, unless the list of events is the same
 * as at the last call. Return 0 or -1.
 */
int flight_cost_events(struct flight_cost *);

/* Enable or disable the events with `change` in the instance at dir. Return 0 or -1. */
int flight_cost_enable(const struct flight_cost *, int dir, int on);

/* For a moment, record in the small instance the events that are not off. Return 0 or -1. */
int flight_cost_sample(struct flight_cost *);

void flight_cost_close(struct flight_cost *);

/* ---- flight_control.c: the control files state, dropped, reset and budget ---------------- */

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
	int budget;             /* 0: not made yet */
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

/* Write the line to `budget`, if there are control files. */
void flight_control_budget(struct flight_control *, const char *line);

/* Try once to lease `dropped` again. The kernel refuses while a process has the file open. */
void flight_control_lease(struct flight_control *);

/* Remove the files, if flight_control_make has made them. */
void flight_control_remove(const struct flight_control *);

/* ---- budget.c: keep the load below a budget ------------------------------------------ */

/*
 * The budget of a recorder. It writes each step as a line to the trace_marker of the instance,
 * to the reader of the dumps' paths, and to the control file `budget`. An event is missing only
 * between the line of a step down and the line of the next step up.
 */
struct flight_budget {
	/* set by the caller */
	uint32_t ppm;           /* 0: there is no budget */
	struct flight_cost cost; /* dir and live */
	const struct flight_trigger *trigger; /* its events are never off */
	const struct flight_dumps *dumps; /* its out receives the lines as well */
	struct flight_control *controls;

	/* private */
	int marker;
	int64_t bucket;         /* ns that may still be spent */
	uint32_t load;          /* of the events since the last look, in ppm */
	uint64_t at, own;       /* of the last look: its time, the CPU time of this process */
	uint64_t markers, steps; /* lines in the trace, steps */
	int off, known;         /* costly events are off, or known by a sample */
	int urgent;             /* this task runs before all ordinary ones */
};

/* Read PERCENT, a number from 0.01 to 50 with up to four decimals. Return 0 or -1, silent. */
int flight_budget_parse(struct flight_budget *, const char *percent);

/* Begin. Return 0 or -1; call flight_budget_end in both cases. */
int flight_budget_begin(struct flight_budget *, int top, const char *instance);

/* Return for how many milliseconds poll(2) may wait; -1: for ever. */
int flight_budget_wait(const struct flight_budget *);

/* Measure, and take a step if one is due. */
void flight_budget_look(struct flight_budget *);

/*
 * If on is 1, let this task run before all ordinary tasks, because a flood may leave an ordinary
 * task no CPU for a second. If on is 0, let it run as an ordinary task: use that for a dump, which
 * takes long. flight_budget_begin sets 1.
 */
void flight_budget_hurry(struct flight_budget *, int on);

/* Write to the trace which events are not recorded now, for the dump that follows. */
void flight_budget_tell(struct flight_budget *);

/* Record all events again, and say so. */
void flight_budget_end(struct flight_budget *);

#endif
