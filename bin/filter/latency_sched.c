/* SPDX-License-Identifier: ISC */
/*
 * latency_sched.c - how long tasks wait for a CPU
 *
 * A task waits from the moment when it can run until it runs. A wait begins with the
 * wake-up of a sleeping task, or with a switch away from a task that could go on, because
 * it was preempted or it yielded. Such a switch has prev_state R, or R+ if the task was
 * preempted in the kernel (include/trace/events/sched.h). A task with R+ may have been
 * about to sleep. It is then woken before it runs again, but it waits from the switch on.
 * The kernel also wakes running tasks; then no wait begins.
 *
 * A wake-up is sched_waking and then sched_wakeup or sched_wakeup_new. The last of these that the
 * trace has begins the wait. The kernel reports sched_waking before it knows whether the task has
 * left its CPU. If the task leaves it afterwards as if to sleep, it is woken at once, unless it
 * went on before: then another wake-up comes.
 *
 * A task may wait when the trace begins or ends. Every other incomplete wait of a task lacks
 * an event inside the trace: the event was lost, or the kernel does not record the events of
 * a task. If a hidden task gives the CPU to another task, the trace has neither the end of
 * one wait nor the beginning of the next.
 */

#include "base/base.h"
#include "proc/proc.h"
#include "lines/lines.h"
#include "latency.h"

struct waiter {
	struct table_entry entry;       /* by pid and origin */
	/*
	 * WOKEN: may have been running; WAKING: sched_waking came while it ran; DOZES: and then it
	 * left the CPU, to sleep or to wait
	 */
	enum { NOT_SEEN, RUNS, WAKING, SLEEPS, DOZES, WOKEN, WAITS } now;
	int begun;                      /* by sched_waking, in the states WOKEN and WAITS */
	struct latency_start wait;      /* in the states DOZES, WOKEN and WAITS */
};

static int is_followed(const struct latency *t, pid_t pid)
{
	return pid && (!t->only.n || pids_has(&t->only, pid)) && !pids_has(&t->except, pid);
}

/* Return the entry of a followed task. */
static struct waiter *waiter(struct latency *t, const struct trace_line *l, pid_t pid)
{
	strbuf_format(strbuf_empty(&t->key), "%d", (int)pid);
	latency_key_origin(t, l);
	return table_at(&t->open, t->key.text, t->key.n);
}

/* Forget a task that has ended, because a new task may get its pid. */
static void forget_dead(struct latency *t, struct waiter *w, pid_t pid)
{
	struct pids dead = { .v = &pid, .n = 1 };

	latency_start_clear(&w->wait);
	table_remove(&t->open, w);
	/* an empty list would select all tasks */
	if (t->only.n > 1)
		pids_minus(&t->only, &dead);
}

static void wake_up(struct latency *t, const struct latency_event *m)
{
	pid_t pid = latency_task(m->l, ".pid");
	int waking = !strcmp(m->event, "sched_waking");
	struct waiter *w;

	if (!pid && !t->only.n)
		t->no_end++; /* the line is cut, or has no pid */
	if (!is_followed(t, pid))
		return;
	w = waiter(t, m->l, pid);
	if (w->now == RUNS || w->now == WAKING)
		w->now = waking ? WAKING : RUNS;
	if (w->now == RUNS || w->now == WAKING ||
	    (w->now >= WOKEN && (waking || !w->begun)))
		return;
	if (w->now < WOKEN)
		w->now = w->now == NOT_SEEN ? WOKEN : WAITS;
	w->begun = waking;
	latency_start_set(t, &w->wait, m, NULL);
}

/* The task leaves the CPU. */
static void switch_from(struct latency *t, const struct latency_event *m, pid_t pid)
{
	enum task_wait next = trace_line_wait(m->l);
	struct waiter *w = waiter(t, m->l, pid);
	int waking = w->now == WAKING || (w->now == WOKEN && w->begun);

	/* WAITS: the switch to the task is missing; WOKEN: the task ran all the time */
	t->no_end += w->now == WAITS;
	t->lost_end += w->now == WAITS;
	latency_start_clear(&w->wait);
	w->begun = 0;
	if (next == WAIT_NONE && trace_line_key(m->l, "prev_state").n) {
		forget_dead(t, w, pid);
	} else if (next == WAIT_RUNNABLE) {
		w->now = WAITS;
		latency_start_set(t, &w->wait, m, NULL);
	} else if (waking) {
		w->now = DOZES;
		latency_start_keep(t, &w->wait, m, NULL);
	} else {
		w->now = SLEEPS;
	}
}

/* The task gets the CPU. */
static void switch_to(struct latency *t, const struct latency_event *m, pid_t pid)
{
	struct waiter *w = waiter(t, m->l, pid);

	if (w->now >= DOZES) {
		latency_start_print(t, &w->wait, m);
	} else {
		t->no_begin++;
		/* a task that no event has shown waited when the trace began */
		t->lost_begin += w->now != NOT_SEEN || t->gap;
	}
	latency_start_clear(&w->wait);
	w->begun = 0;
	w->now = RUNS;
}

/*
 * Pair a switch. An instance with a pid filter has each switch from or to a selected task,
 * and each wake-up by or of a selected task, but only some events of other tasks. In a
 * switch between the idle task and another task, the other task must be a selected one.
 */
static int switch_tasks(struct latency *t, const struct latency_event *m)
{
	pid_t prev = latency_task(m->l, "prev_pid"), next = latency_task(m->l, "next_pid");

	if (t->only.n && !prev != !next && latency_follow_task(t, prev ? prev : next) < 0)
		return -1;
	if (!t->only.n && !trace_line_key(m->l, "next_pid").n)
		t->no_begin++; /* the line is cut */
	if (is_followed(t, prev))
		switch_from(t, m, prev);
	if (is_followed(t, next))
		switch_to(t, m, next);
	return 0;
}

/*
 * Handle that a thread other than the leader calls exec, and so gets the pid of its
 * process. sched_process_exec has the new pid in the column of the task.
 */
static int exec(struct latency *t, const struct latency_event *m)
{
	pid_t pid = latency_task(m->l, "pid"), old = latency_task(m->l, "old_pid");

	if (!pid || !old || pid == old || !pids_has(&t->only, old))
		return 0;
	if (latency_follow_task(t, pid) < 0)
		return -1;
	waiter(t, m->l, pid)->now = RUNS;
	forget_dead(t, waiter(t, m->l, old), old);
	return 0;
}

static int event(struct latency *t, const struct latency_event *m)
{
	if (!strcmp(m->event, "sched_switch"))
		return switch_tasks(t, m);
	if (trace_line_wakes(m->l))
		wake_up(t, m);
	else if (t->only.n && !strcmp(m->event, "sched_process_exec"))
		return exec(t, m);
	return 0;
}

static void forget_one(struct latency *t, void *entry)
{
	struct waiter *w = entry;

	t->no_end += w->now >= WOKEN;
	t->lost_end += !t->ended && w->now >= WOKEN;
	latency_start_clear(&w->wait);
}

static void forget(struct latency *t)
{
	latency_forget_all(t, &t->open, forget_one);
	t->gap = 1;
}

const struct latency_matcher latency_sched = { sizeof(struct waiter), event, forget };
