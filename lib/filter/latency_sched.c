/* SPDX-License-Identifier: ISC */
/*
 * latsched.c - how long tasks wait for a processor
 *
 * A task waits from the moment that it may run until it runs. A wait begins with
 * the wake-up of a task that sleeps, or with a switch away from a task that could
 * have gone on: it was preempted, or it yielded. The kernel tells that as prev_state
 * R, or R+ when it preempted the task in the kernel (include/trace/events/sched.h).
 * A task of R+ may have been about to sleep: it is woken before it runs again, and
 * waits from the switch on. The kernel also wakes tasks that run: no wait begins.
 */
#include <string.h>

#include "base/base.h"
#include "proc/proc.h"
#include "filter/filter.h"

/* Bits of prev_state, as JSON has it (TASK_REPORT): exit and zombie; all but R+. */
enum { STATE_DEAD = 0x30, STATE_LETTERS = 0xff };

struct waiter {
	struct table_entry entry;       /* by pid and origin */
	enum { NOT_SEEN, RUNS, SLEEPS, WOKEN, WAITS } now; /* woken: it may run already */
	struct latency_start wait;      /* of one that was woken or waits */
};

static void set_key(struct latency *t, const struct trace_line *l, pid_t pid)
{
	char text[16];

	str_format(text, sizeof(text), "%d", (int)pid);
	t->key.n = 0;
	strbuf_puts(&t->key, text);
	latency_key_origin(t, l);
}

static int is_followed(const struct latency *t, pid_t pid)
{
	return pid && (!t->only.n || pids_has(&t->only, pid)) && !pids_has(&t->except, pid);
}

/* What is known of a task that is followed. */
static struct waiter *waiter(struct latency *t, const struct trace_line *l, pid_t pid)
{
	set_key(t, l, pid);
	return table_at(&t->open, t->key.text, t->key.n);
}

/* Its number may be another task's next. */
static void forget_dead(struct latency *t, struct waiter *w, pid_t pid)
{
	struct pids dead = { .v = &pid, .n = 1 };

	latency_start_clear(&w->wait);
	table_remove(&t->open, w);
	/* an empty list would be everybody */
	if (t->only.n > 1)
		pids_minus(&t->only, &dead);
}

static void wake_up(struct latency *t, const struct latency_event *m)
{
	pid_t pid = latency_task(m->l, ".pid");
	struct waiter *w;

	if (!pid && !t->only.n)
		t->no_end++; /* cut, or no such event */
	if (!is_followed(t, pid))
		return;
	w = waiter(t, m->l, pid);
	if (w->now != NOT_SEEN && w->now != SLEEPS)
		return;
	w->now = w->now == SLEEPS ? WAITS : WOKEN;
	latency_start_set(t, &w->wait, m);
}

static int could_go_on(const struct trace_line *l, struct text_part state)
{
	struct decimal v;

	if (l->json)
		return !decimal_parse(&v, state) && !(v.whole & STATE_LETTERS);
	return state.n && *state.text == 'R';
}

static int is_dead(const struct trace_line *l, struct text_part state)
{
	struct decimal v;

	if (l->json)
		return !decimal_parse(&v, state) && v.whole & STATE_DEAD;
	return state.n && (memchr(state.text, 'X', state.n) || memchr(state.text, 'Z', state.n));
}

static void leave(struct latency *t, const struct latency_event *m, pid_t pid)
{
	struct text_part state = trace_line_key(m->l, "prev_state");
	struct waiter *w = waiter(t, m->l, pid);

	/* the switch to it is missing; one that was only woken ran all the time */
	t->no_end += w->now == WAITS;
	latency_start_clear(&w->wait);
	if (is_dead(m->l, state)) {
		forget_dead(t, w, pid);
	} else if (could_go_on(m->l, state)) {
		w->now = WAITS;
		latency_start_set(t, &w->wait, m);
	} else {
		w->now = SLEEPS;
	}
}

static void take_over(struct latency *t, const struct latency_event *m, pid_t pid)
{
	struct waiter *w = waiter(t, m->l, pid);

	if (w->now == WAITS || w->now == WOKEN)
		latency_start_print(t, &w->wait, m);
	else
		t->no_begin++;
	latency_start_clear(&w->wait);
	w->now = RUNS;
}

/*
 * An instance that records for some tasks has each switch that one of them has a part
 * in, and each wake-up by or of one. Of other tasks it has a part only. A switch
 * between the idle task and another tells that it records for the other.
 */
static int switch_tasks(struct latency *t, const struct latency_event *m)
{
	pid_t prev = latency_task(m->l, "prev_pid"), next = latency_task(m->l, "next_pid");

	if (t->only.n && !prev != !next && latency_follow_task(t, prev ? prev : next) < 0)
		return -1;
	if (!t->only.n && !trace_line_key(m->l, "next_pid").n)
		t->no_begin++; /* cut */
	if (is_followed(t, prev))
		leave(t, m, prev);
	if (is_followed(t, next))
		take_over(t, m, next);
	return 0;
}

/*
 * A thread that calls exec gets the number of its process: sched_process_exec is in
 * the name of the new number.
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
	if (!strcmp(m->event, "sched_wakeup") || !strcmp(m->event, "sched_wakeup_new"))
		wake_up(t, m);
	else if (t->only.n && !strcmp(m->event, "sched_process_fork"))
		return latency_follow_fork(t, m->l);
	else if (t->only.n && !strcmp(m->event, "sched_process_exec"))
		return exec(t, m);
	return 0;
}

static void forget_one(struct latency *t, void *entry)
{
	struct waiter *w = entry;

	t->no_end += w->now == WAITS || w->now == WOKEN;
	latency_start_clear(&w->wait);
}

static void forget(struct latency *t)
{
	latency_forget_all(t, &t->open, forget_one);
}

const struct latency_matcher latency_sched = { sizeof(struct waiter), event, forget };
