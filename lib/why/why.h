/* SPDX-License-Identifier: ISC */
/*
 * why.h - where the time of a task went: an account whose parts add up to the whole
 *
 * The caller reads records or lines, and gives the switches, wake-ups, calls and interrupts in
 * order. This layer knows neither records nor lines. A task is running, waits for a CPU, or is
 * blocked until another task or an interrupt wakes it. If a task did that, the account goes on with
 * what that task did meanwhile. Time of which nothing is known is a part of its own.
 *
 * Terms: a subject is a task whose time is accounted. A window is a time of a subject: all of it, a
 * call, or what the caller opens. A part is what a window was spent on; the parts of a part are
 * what the task that ended it had done meanwhile.
 *
 * It relies on these facts of the kernel:
 *
 *	sched_waking comes before its task is runnable, also if it never left its CPU. It may then
 *	precede the switch that says that the task sleeps.
 *	A CPU does not switch within an interrupt.
 *	If a CPU runs idle while a task waits for it, and this task comes back to it, the task was
 *	throttled: its cgroup had used up its quota. If the CPU is busy, why_throttled tells so.
 */
#ifndef WHY_H
#define WHY_H

#include "base/base.h"
#include "event/event.h"

enum why_state {
	WHY_UNKNOWN, WHY_RUNNING, WHY_RUNNABLE, WHY_PREEMPTED, WHY_THROTTLED, WHY_BLOCKED,
	WHY_STATES
};

/* What becomes of a task that leaves its CPU. */
enum why_leave { WHY_STAYS, WHY_SLEEPS, WHY_STOPS, WHY_DIES };

/* The kinds of windows. */
enum why_scope {
	WHY_TASKS,      /* the time of a subject from its first event to its end */
	WHY_CALLS,      /* a system call of a subject */
	WHY_SPANS,      /* from why_open to why_close, or between two events */
};

/* A task as an event names it. comm need not end with a NUL. */
struct why_who {
	int32_t pid;
	struct text_part comm;
};

/* What a task waits for. */
struct why_wait {
	const char *on;         /* a word of why_words: futex, pipe, ...; not copied */
	char detail[160];       /* read(3<pipe:[77]>); "": nothing more is known */
};

enum {
	WHY_NEAR = 256,
	WHY_ALL = 1000000000,   /* --top all: the greatest number of options.c */
	WHY_CONTEXT = 128,
	WHY_PIDS = 1 << 22,     /* a pid of host N is N times this plus the pid (PID_MAX_LIMIT) */
};

/* Zero it, set the members that are not private, and call why_begin. */
struct why {
	enum why_scope scope;
	uint64_t slower;        /* forget windows that are shorter, in ns */
	unsigned depth;         /* how many waits follow each other; 1: only who woke the task */
	size_t top;             /* print so many windows, and so many parts of each */
	int json, folded;       /* print JSON, or lines "a;b;c MICROSECONDS" for flame graphs */
	int all;                /* all tasks but the idle ones are subjects */
	int traced;             /* the trace says who are the subjects */
	int given;              /* the user has named them all */
	int requests;           /* nothing is known of a task between its windows */
	const char *opens, *closes; /* WHY_SPANS: globs of the events around a window */
	/* Say what the task waits for, which is in a call if name is not NULL. */
	void (*doing)(void *arg, int32_t pid, const char *name, struct why_wait *);
	/* NULL; or write the trace context of the task, as it is printed, or "". */
	void (*context)(void *arg, int32_t pid, char text[WHY_CONTEXT]);
	void *arg;
	/* private */
	struct table tasks, names, cpus;
	const char **name;              /* by number; 0 is "" */
	size_t nnames, names_room;
	struct why_task *near[WHY_NEAR];        /* tasks and CPUs that were looked up last */
	struct why_cpu *near_cpus[WHY_NEAR];
	uint32_t interrupt, in_call, in_user, others, between, a_signal, poll, sleep,
		timer;          /* names */
	struct strbuf disks;            /* " 8:0 sda 8:1 sda1 " */
	uint64_t first, now;
	int begun;                      /* there was an event */
	int filtered;                   /* the trace has only the switches of some tasks */
	uint32_t losses;
	struct why_window **kept;
	size_t nkept, kept_room, dropped, open;
	uint64_t dropped_ns;
	size_t segments, dead;
	uint64_t steps;                 /* saved for waits with many parts */
	unsigned long long told;        /* number of switches and marks; 0: nothing is known */
	int calls, faults;              /* the trace has system calls, page faults */
};

void why_begin(struct why *);

/* The task is a subject, and so are its later children. */
void why_subject(struct why *, struct why_who);

/* ---- what the caller gives, in the order of time: ns of any clock --------------------------- */

/*
 * The task waits when its recording has begun. If it had no event so far, it has waited since the
 * beginning, for this: on is a word, and what says more.
 */
void why_waits(struct why *, uint64_t ts, struct why_who, struct text_part on,
	       struct text_part what);
void why_switch(struct why *, uint64_t ts, int cpu, struct why_who prev, enum why_leave,
		struct why_who next);
/* by: the running task. soft, hard: within an interrupt of this kind. */
void why_waking(struct why *, uint64_t ts, int cpu, struct why_who by, int soft, int hard,
		struct why_who woken);
void why_new_task(struct why *, uint64_t ts, struct why_who by, struct why_who child);
/*
 * The task executes a program. If all that is known of it is that it waited before, its account
 * begins here: somebody has made it for this program. old: its pid until now, which differs if the
 * task is not the first one of its process; 0: not known.
 */
void why_exec(struct why *, uint64_t ts, struct why_who, int32_t old);
/* A call begins. */
void why_call(struct why *, uint64_t ts, struct why_who, const char *name);
/* A call ends with this result. If a signal has interrupted it, the signal ended its wait. */
void why_return(struct why *, uint64_t ts, struct why_who, const char *name, int64_t result);
/*
 * The task takes this signal with its si_code. If the last call was interrupted, this signal did
 * it.
 */
void why_signal(struct why *, uint64_t ts, struct why_who, int signal, int code);
/* An interrupt begins, or ends (begins is 0). */
void why_irq(struct why *, uint64_t ts, int cpu, struct why_who by, const char *name, int begins);
/* The task sends a request to this disk. */
void why_disk(struct why *, uint64_t ts, struct why_who by, const char *disk);
/* A page fault of the task at this address. */
void why_fault(struct why *, uint64_t ts, struct why_who, uint64_t address);
/*
 * The kernel stops a cgroup that has used up its quota. If the task's next event is that it leaves
 * its CPU, this is why, and it is throttled until it runs again. by: the running task, not an
 * interrupt.
 */
void why_throttled(struct why *, uint64_t ts, struct why_who by);
/* A window of WHY_SPANS. runs: the task runs, because it is the one that opens the window. */
void why_open(struct why *, uint64_t ts, struct why_who, struct text_part label, int runs);
void why_close(struct why *, uint64_t ts, int32_t pid);
/*
 * The reader has read a message from the sender. The sender ended the reader's last wait, unless
 * more is known of another task that did.
 */
void why_message(struct why *, int32_t reader, int32_t sender);
/*
 * Open and close the windows of opens and closes at an event that was already given. call:
 * the call that the event begins or ends, so that the event is also one of that call; or "".
 */
void why_event(struct why *, uint64_t ts, struct why_who, const char *event, const char *call);
/* Events were lost before the next one. */
void why_lost(struct why *);
/* Advance to the time of an event of another kind, or of the end of the trace. */
void why_time(struct why *, uint64_t ts);

/* ---- events.c: which events the account reads, and what each of them means --------------- */

enum why_kind {
	WHY_OTHER = KIND_OTHER, WHY_SWITCH, WHY_WAKING, WHY_NEW_TASK, WHY_EXEC, WHY_CALL,
	WHY_RETURN, WHY_IRQ, WHY_IRQ_END, WHY_SOFTIRQ, WHY_VECTOR, WHY_DISK, WHY_FAULT,
	WHY_THROTTLE, WHY_SIGNAL, WHY_MARK,
};

extern const struct event_kind why_kinds[]; /* why_events.rows */

/* An event of one of these kinds, read from a record or a line. */
struct why_event {
	uint64_t ts;
	int cpu, soft, hard;    /* soft, hard: within such an interrupt */
	struct why_who by;      /* the running task */
	struct text_part name;  /* of the event */
	/* Return a field by its place in the row. prev_state is that of the kernel, as a number. */
	int64_t (*number)(const void *source, unsigned field);
	struct text_part (*text)(const void *source, unsigned field);
	/* Return the task whose pid and name these fields are. */
	struct why_who (*who)(const void *source, unsigned pid, unsigned comm);
	const void *source;
};

/* Account an event that is not about a call. */
void why_take(struct why *, enum why_kind, const struct why_event *);

/* ---- wait_words.c: the words for what a call waits for ----------------------------------- */

/*
 * Set what a task waits for in this call: its word, and the call with the argument that tells it,
 * as in read(3<pipe:[77]>), futex(0x7f0012345678), wait4(17). first: the first argument; NULL: it
 * is not known; -1 means any, and is left out. file is the file of the descriptor as
 * struct file_known of calls.h has it, or "".
 */
void why_describe(struct why_wait *, const char *call, const uint64_t *first, const char *file);

/* ---- windows.c --------------------------------------------------------------------------- */

/* A call that polls these files, of which one was ready, has returned; or it does not return. */
void why_polled(struct why *, int32_t pid, const char *call, const char *files);

/* Close all windows, and print them to stdout_print. Return the number of windows. */
size_t why_end(struct why *);

/* ---- private to this layer ----------------------------------------------------------------- */

/* A part of a window. */
struct why_node {
	uint64_t ns, n;
	uint32_t on, detail;    /* numbers of names */
	uint32_t comm;          /* of who ended it, or of who ran instead */
	int32_t pid;            /* 0: it was no task */
	uint32_t signal;        /* by which it was ended, or 0 */
	uint32_t first, next;   /* numbers of nodes; 0: none */
	uint8_t state;
};

#define WHY_PENDING UINT32_MAX          /* the signal of a node that is to be moved */

struct why_window {
	int32_t pid;
	uint32_t comm, label, context;
	uint64_t begin, end;
	struct why_node *node;  /* the first one is the whole */
	size_t n, room;
	uint32_t losses;        /* intervals that a loss touches */
	uint32_t others;        /* the name of the parts that are too many */
	int merge;              /* parts that only differ in the pid of their task are one */
	uint32_t wait;          /* the node of the wait that the trace begins with, or 0 */
};

#define WHY_OTHERS "others"

/*
 * Add time to a part of a node, which is made unless it is there. If the window has too many parts,
 * that part is "others". Return its number; 0 for others below a part.
 */
uint32_t why_add(struct why_window *, uint32_t node, const struct why_node *part);

/* Move the part from, and what is below it, to the part as of the node to. Return its number. */
uint32_t why_move(struct why_window *, uint32_t from, uint32_t to, const struct why_node *as);

/* Return the last name of a task that began before ns; 0: not known, or several had the pid. */
uint32_t why_comm(const struct why *, int32_t pid, uint64_t ns);

/* Close the windows of all tasks. */
void why_close_all(struct why *);

#endif
