/* SPDX-License-Identifier: ISC */
/*
 * latency_sched.c - how long tasks wait for a CPU
 *
 * slices.c says when a wait begins, and when it ends. A task may wait when the trace begins or
 * ends. Every other incomplete wait of a task lacks an event inside the trace: the event was lost,
 * or the kernel does not record the events of a task. If a hidden task gives the CPU to another
 * task, the trace has neither the end of one wait nor the beginning of the next.
 */

#include "answers/answers.h"
#include "latency.h"

struct waiter {
	struct table_entry entry;       /* by pid and origin */
	struct task_state state;
	struct latency_start wait;      /* if the state is a wait: its beginning */
};

static int is_followed(const struct latency *t, pid_t pid)
{
	return pid && (!t->only.n || pids_has(&t->only, pid)) && !pids_has(&t->except, pid);
}

/* Return the entry of a followed task. */
static struct waiter *waiter(struct latency *t, const struct seen *l, pid_t pid)
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
	struct waiter *w;

	if (!pid && !t->only.n)
		t->no_end++; /* the line is cut, or has no pid */
	if (!is_followed(t, pid))
		return;
	w = waiter(t, m->l, pid);
	if (task_woken(&w->state, m->l))
		latency_start_set(t, &w->wait, m, NULL);
}

/* The task leaves the CPU. */
static void switch_from(struct latency *t, const struct latency_event *m, pid_t pid)
{
	int cut = !seen_text(m->l, "prev_state").n;
	struct waiter *w = waiter(t, m->l, pid);

	/* the switch to the task is missing; TASK_WOKEN: the task ran all the time */
	t->no_end += w->state.now == TASK_WAITS;
	t->lost_end += w->state.now == TASK_WAITS;
	latency_start_clear(&w->wait);
	task_leaves(&w->state, cut ? WAIT_ASLEEP : seen_wait(m->l));
	if (w->state.now == TASK_UNSEEN)
		forget_dead(t, w, pid);
	else if (w->state.now == TASK_WAITS)
		latency_start_set(t, &w->wait, m, NULL);
	else if (w->state.now == TASK_DOZES)
		latency_start_keep(t, &w->wait, m, NULL);
}

/* The task gets the CPU. */
static void switch_to(struct latency *t, const struct latency_event *m, pid_t pid)
{
	struct waiter *w = waiter(t, m->l, pid);
	int seen = w->state.now != TASK_UNSEEN;

	if (task_comes(&w->state) == WAIT_RUNNABLE) {
		latency_start_print(t, &w->wait, m);
	} else {
		t->no_begin++;
		/* a task that no event has shown waited when the trace began */
		t->lost_begin += seen || t->gap;
	}
	latency_start_clear(&w->wait);
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
	if (!t->only.n && !seen_text(m->l, "next_pid").n)
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
	waiter(t, m->l, pid)->state = (struct task_state){ .now = TASK_RUNS };
	forget_dead(t, waiter(t, m->l, old), old);
	return 0;
}

static int event(struct latency *t, const struct latency_event *m)
{
	if (!strcmp(m->event, "sched_switch"))
		return switch_tasks(t, m);
	if (seen_wakes(m->l))
		wake_up(t, m);
	else if (t->only.n && !strcmp(m->event, "sched_process_exec"))
		return exec(t, m);
	return 0;
}

static void forget_one(struct latency *t, void *entry)
{
	struct waiter *w = entry;

	t->no_end += w->state.now >= TASK_WOKEN;
	t->lost_end += !t->ended && w->state.now >= TASK_WOKEN;
	latency_start_clear(&w->wait);
}

static void forget(struct latency *t)
{
	latency_forget_all(t, &t->open, forget_one);
	t->gap = 1;
}

const struct latency_matcher latency_sched = { sizeof(struct waiter), event, forget };
