/* SPDX-License-Identifier: ISC */
/*
 * answers.h - answers that several tools need, from the events of a trace
 *
 * This layer prints nothing and keeps nothing but what the caller gives it. It includes base and
 * lines.
 */
#ifndef ANSWERS_H
#define ANSWERS_H

#include "base/base.h"
#include "lines/lines.h"

/* ---- slices.c: in which state a task is, and who runs where -------------------------- */

/*
 * A state that is at least TASK_DOZES is a wait for a CPU. TASK_WAKING: sched_waking came while the
 * task ran. TASK_DOZES: it left its CPU after that, so it has to come back, unless another wake-up
 * shows that it slept. TASK_WOKEN: nothing was known of the task before, so it may have been
 * running.
 */
enum { TASK_UNSEEN, TASK_RUNS, TASK_WAKING, TASK_SLEEPS, TASK_DOZES, TASK_WOKEN, TASK_WAITS };

/* All zero at first, and when events were lost. */
struct task_state {
	uint8_t now;
	uint8_t waking;         /* TASK_WOKEN, TASK_WAITS: begun by sched_waking */
	uint8_t wait;           /* TASK_SLEEPS, TASK_DOZES: an enum task_wait */
};

/*
 * The wake-up of trace_line_wakes has this task. Return 1 if a wait for a CPU begins with it, or is
 * known better now: the last event of a wake-up begins it.
 */
int task_woken(struct task_state *, const struct trace_line *);

/* The task leaves its CPU, and will wait in this way. */
void task_leaves(struct task_state *, enum task_wait);

/* The task gets a CPU. Return how it has waited until now. */
enum task_wait task_comes(struct task_state *);

/* A task or a CPU, with the key "HOST\tID". The caller's struct may begin with it. */
struct lane {
	struct table_entry entry;
	uint64_t since;         /* of the state of a task, or of the task of a CPU */
	struct lane *task;      /* that runs on a CPU, perhaps an idle one; NULL: unknown */
	struct task_state state;
	uint8_t in_call;        /* the task is in a system call, as far as the trace has these */
	uint8_t woken;          /* while it ran; if it comes, it left its CPU unseen before that */
	uint8_t flags;          /* for the caller */
};

/* All zero at first, but the sizes of the tables. */
struct slices {
	struct table tasks, cpus;
	struct strbuf key;
	/* what the last line said */
	struct lane *task, *cpu; /* of the line; NULL: it names none */
	struct lane *other;     /* the task that gets the CPU or is woken, which is not idle */
	struct lane *missed;    /* another task ran on this CPU, so a switch is missing */
	int wakes;              /* 1: it is a wake-up; -1: a switch */
	int measured;           /* a switch with lat; the trace lacks other switches */
	int ran;                /* the task ran on the CPU from ran_from until now */
	uint64_t ran_from;
	enum task_wait waited;  /* other did so from waited_from until now */
	uint64_t waited_from;
	struct lane *waker;     /* of other, if it slept; NULL: an interrupt */
};

/* Set the key to that of this task or CPU on the line's host. */
void lane_key(struct strbuf *key, const struct trace_line *, struct text_part id);

/* Return the lane of this task or CPU on the line's host. */
struct lane *slices_lane(struct slices *, struct table *, const struct trace_line *,
			 struct text_part id);

/* Is it the idle task of a host, which has a lane for all CPUs? */
int lane_is_idle(const struct lane *);

/* Take the next event. */
void slices_take(struct slices *, const struct trace_line *, uint64_t now);

/* Events were lost: which tasks run, and how the others wait, is not known. */
void slices_gap(struct slices *);

#endif
