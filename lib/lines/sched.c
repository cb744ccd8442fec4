/* SPDX-License-Identifier: ISC */
/* sched.c - what switches, wake-ups and new tasks say, for tfs-latency(1) and the pictures */

#include "lines/lines.h"

const char *const task_wait_names[] = {
	[WAIT_NONE] = "", [WAIT_ASLEEP] = "asleep", [WAIT_BLOCKED] = "blocked",
	[WAIT_RUNNABLE] = "waiting",
};

enum task_wait seen_wait(const struct seen *l)
{
	/* bits of prev_state: exit and zombie; all bits except those of a preempted task */
	enum { STATE_DEAD = 0x30, STATE_LETTERS = 0xff };
	struct text_part p = seen_text(l, "prev_state");
	struct decimal v;

	if (!p.n)
		return WAIT_NONE;
	/* in JSON and with trace-cmd report -R: the number of __trace_sched_switch_state */
	if (!decimal_parse(&v, p))
		return !(v.whole & STATE_LETTERS) ? WAIT_RUNNABLE :
		       v.whole & STATE_DEAD ? WAIT_NONE : v.whole & 2 ? WAIT_BLOCKED :
		       WAIT_ASLEEP;
	/* a plus sign: preempted, before it could sleep */
	return *p.text == 'R' || memchr(p.text, '+', p.n) ? WAIT_RUNNABLE :
	       memchr(p.text, 'X', p.n) || memchr(p.text, 'Z', p.n) ? WAIT_NONE :
	       *p.text == 'D' ? WAIT_BLOCKED : WAIT_ASLEEP;
}

int seen_within(const struct seen *l, const char *letters)
{
	return l->flags.n > 2 && strchr(letters, l->flags.text[2]);
}

int seen_wakes(const struct seen *l)
{
	return text_part_is(l->event, "sched_waking") || text_part_is(l->event, "sched_wakeup") ||
	       text_part_is(l->event, "sched_wakeup_new");
}

int seen_is_idle(const struct seen *l, const char *key)
{
	return (!strcmp(key, "pid") || !strcmp(key, "prev_pid") || !strcmp(key, "next_pid")) &&
	       text_part_is(seen_text(l, key), "0");
}

int seen_born(const struct seen *l, const char **pid, const char **comm)
{
	int fork = text_part_is(l->event, "sched_process_fork");

	*pid = fork ? "child_pid" : ".pid";
	*comm = fork ? "child_comm" : ".comm";
	return !*l->prefix && (fork || text_part_is(l->event, "task_newtask")) &&
	       seen_text(l, *pid).n;
}
