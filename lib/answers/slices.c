/* SPDX-License-Identifier: ISC */
/*
 * slices.c - in which state a task is, and who runs where, as switches and wake-ups tell
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
 */

#include "answers/answers.h"

/* ---- a task ------------------------------------------------------------------------------ */

int task_woken(struct task_state *t, const struct seen *l)
{
	int waking = text_part_is(l->event, "sched_waking");

	if (t->now == TASK_RUNS || t->now == TASK_WAKING) {
		t->now = waking ? TASK_WAKING : TASK_RUNS;
		return 0;
	}
	if (t->now >= TASK_WOKEN && (waking || !t->waking))
		return 0;
	if (t->now < TASK_WOKEN)
		t->now = t->now == TASK_UNSEEN ? TASK_WOKEN : TASK_WAITS;
	t->waking = (uint8_t)waking;
	return 1;
}

void task_leaves(struct task_state *t, enum task_wait wait)
{
	int waking = t->now == TASK_WAKING || (t->now == TASK_WOKEN && t->waking);

	*t = (struct task_state){ .wait = (uint8_t)wait };
	if (wait != WAIT_NONE)
		t->now = wait == WAIT_RUNNABLE ? TASK_WAITS : waking ? TASK_DOZES : TASK_SLEEPS;
}

enum task_wait task_comes(struct task_state *t)
{
	enum task_wait waited = t->now >= TASK_DOZES ? WAIT_RUNNABLE :
				t->now == TASK_SLEEPS ? (enum task_wait)t->wait : WAIT_NONE;

	*t = (struct task_state){ .now = TASK_RUNS };
	return waited;
}

/* ---- all tasks --------------------------------------------------------------------------- */

void lane_key(struct strbuf *key, const struct seen *l, struct text_part id)
{
	strbuf_add(strbuf_empty(key), l->host.text, l->host.n);
	strbuf_add(key, "\t", 1);
	strbuf_add(key, id.text, id.n);
}

struct lane *slices_lane(struct slices *s, struct table *table, const struct seen *l,
			 struct text_part id)
{
	/* most lines are of the same task and CPU as the line before */
	struct lane *last = table == &s->tasks ? s->task : s->cpu;

	lane_key(&s->key, l, id);
	if (last && last->entry.n == s->key.n && !memcmp(last->entry.key, s->key.text, s->key.n))
		return last;
	return table_at(table, s->key.text, s->key.n);
}

int lane_is_idle(const struct lane *lane)
{
	const char *end = lane->entry.key + lane->entry.n;

	return lane->entry.n > 1 && !memcmp(end - 2, "\t0", 2);
}

/* The line's CPU goes from its task to the next one. */
static void take_switch(struct slices *s, const struct seen *l, uint64_t now)
{
	struct text_part pid = seen_text(l, "next_pid");
	struct lane *next = pid.n ? slices_lane(s, &s->tasks, l, pid) : NULL;

	s->measured = !!seen_text(l, "lat").n;
	if (s->cpu) {
		s->ran = s->task && s->cpu->task == s->task && !lane_is_idle(s->task) &&
			 now >= s->cpu->since;
		s->ran_from = s->cpu->since;
		s->cpu->task = next;
		s->cpu->since = now;
	}
	if (s->task) {
		task_leaves(&s->task->state, s->measured ? WAIT_NONE : seen_wait(l));
		s->task->since = now;
	}
	if (!next || lane_is_idle(next))
		return;
	s->other = next;
	s->waited = task_comes(&next->state);
	if (!s->waited && next->woken)
		s->waited = WAIT_RUNNABLE;
	if (s->measured) /* other switches are left out */
		s->waited = WAIT_NONE;
	s->waited_from = next->since;
	next->since = now;
	next->woken = 0;
}

/*
 * A task is woken, and waits for a CPU unless it has one. The running task is the waker also in a
 * soft interrupt within its own call, as when it sends.
 */
static void take_wakeup(struct slices *s, const struct seen *l, uint64_t now)
{
	struct text_part pid = seen_text(l, ".pid");
	struct lane *t = pid.n ? slices_lane(s, &s->tasks, l, pid) : NULL;
	unsigned was;

	if (!t || lane_is_idle(t))
		return;
	s->other = t;
	was = t->state.now;
	task_woken(&t->state, l);
	if (was >= TASK_WOKEN || t->woken)
		return;
	t->woken = was == TASK_RUNS || was == TASK_WAKING;
	if (was == TASK_SLEEPS || was == TASK_DOZES) {
		s->waited = (enum task_wait)t->state.wait;
		s->waited_from = t->since;
		s->waker = s->task && !lane_is_idle(s->task) &&
			   !seen_within(l, s->task->in_call ? "hHzZ" : "hHzZs") ?
			   s->task : NULL;
	}
	t->since = now;
}

void slices_take(struct slices *s, const struct seen *l, uint64_t now)
{
	int switches = text_part_is(l->event, "sched_switch"), side = seen_side(l);
	struct text_part pid = switches ? seen_text(l, "prev_pid") : l->pid;

	pid = pid.n ? pid : l->pid;
	s->task = pid.n ? slices_lane(s, &s->tasks, l, pid) : NULL;
	s->cpu = l->cpu.n ? slices_lane(s, &s->cpus, l, l->cpu) : NULL;
	s->other = s->missed = s->waker = NULL;
	s->measured = s->ran = 0;
	s->waited = WAIT_NONE;
	s->wakes = switches ? -1 : seen_wakes(l);
	/* a decoded call is told when it has returned, perhaps on another CPU */
	if (s->cpu && s->cpu->task && s->cpu->task != s->task && !seen_is_call(l)) {
		s->missed = s->cpu->task;
		s->cpu->task = NULL;
	}
	if (s->task && side)
		s->task->in_call = side > 0;
	if (s->wakes < 0)
		take_switch(s, l, now);
	/* a task that has an event runs: the trace does not have the switch to it */
	else if (s->task && s->task->state.now != TASK_WAKING)
		s->task->state = (struct task_state){ .now = TASK_RUNS };
	if (s->task)
		s->task->woken = 0;
	if (s->wakes > 0)
		take_wakeup(s, l, now);
}

void slices_gap(struct slices *s)
{
	struct lane *lane;

	for (size_t i = 0; (lane = table_next(&s->cpus, &i));)
		lane->task = NULL;
	for (size_t i = 0; (lane = table_next(&s->tasks, &i));) {
		lane->state = (struct task_state){ 0 };
		lane->woken = 0;
	}
}
