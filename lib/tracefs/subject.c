/* SPDX-License-Identifier: ISC */
/*
 * subject.c - events that are about another task than the one that runs
 *
 * The kernel's pid filter asks which task runs when the event happens. For the events of this
 * table that is often or always another one: the task that wakes, migrates or kills, or one that
 * an interrupt has stopped. trace_events.c makes an exception for sched_switch and wake-ups.
 */

#include "base/base.h"
#include "tracefs/tracefs.h"

static const struct subject subjects[] = {
	/* the kernel's filter knows the task that is switched to or woken */
	{ "sched", "sched_switch", "next_pid", SUBJECT_FILTERED },
	{ "sched", "sched_waking", "pid", SUBJECT_FILTERED },
	{ "sched", "sched_wakeup", "pid", SUBJECT_FILTERED },
	{ "sched", "sched_wakeup_new", "pid", SUBJECT_FILTERED },
	/* in the task that wakes, in a migration thread, in a timer */
	{ "sched", "sched_migrate_task", "pid", SUBJECT_OTHER },
	/* in the task that wakes, or that is switched from */
	{ "sched", "sched_stat_blocked", "pid", SUBJECT_OTHER },
	{ "sched", "sched_stat_iowait", "pid", SUBJECT_OTHER },
	{ "sched", "sched_stat_sleep", "pid", SUBJECT_OTHER },
	{ "sched", "sched_stat_wait", "pid", SUBJECT_OTHER },
	{ "sched", "sched_process_free", "pid", SUBJECT_OTHER },
	{ "sched", "sched_process_hang", "pid", SUBJECT_OTHER },
	{ "sched", "sched_pi_setprio", "pid", SUBJECT_EITHER },
	{ "sched", "sched_kthread_stop", "pid", SUBJECT_EITHER },
	{ "signal", "signal_generate", "pid", SUBJECT_EITHER },
	{ "cgroup", "cgroup_attach_task", "pid", SUBJECT_EITHER },
	{ "cgroup", "cgroup_transfer_tasks", "pid", SUBJECT_EITHER },
	{ "oom", "mark_victim", "pid", SUBJECT_EITHER },
	{ "oom", "oom_score_adj_update", "pid", SUBJECT_EITHER },
	{ "oom", "wake_reaper", "pid", SUBJECT_EITHER },
	{ "oom", "start_task_reaping", "pid", SUBJECT_OTHER },
	{ "oom", "finish_task_reaping", "pid", SUBJECT_OTHER },
	{ "oom", "skip_task_reaping", "pid", SUBJECT_OTHER },
	{ "timer", "itimer_expire", "pid", SUBJECT_OTHER },
	/* in interrupts of unrelated tasks, or in the idle task; the event names no task */
	{ "block", "block_rq_complete", "", SUBJECT_NONE },
	{ "block", "block_rq_error", "", SUBJECT_NONE },
	{ "block", "block_bio_complete", "", SUBJECT_NONE },
	{ "tcp", "tcp_retransmit_skb", "", SUBJECT_NONE },
	{ "tcp", "tcp_retransmit_synack", "", SUBJECT_NONE },
	{ "tcp", "tcp_receive_reset", "", SUBJECT_NONE },
	{ "power", "cpu_idle", "", SUBJECT_NONE },
	{ "power", "cpu_idle_miss", "", SUBJECT_NONE },
};

/* Return the row of an event; system may be NULL: of any. */
static const struct subject *find(const char *system, size_t n, const char *event)
{
	for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
		const struct subject *s = &subjects[i];

		if (!strcmp(s->event, event) &&
		    (!system || (strlen(s->system) == n && !strncmp(s->system, system, n))))
			return s;
	}
	return NULL;
}

const struct subject *subject_of(const char *system, const char *event)
{
	return find(system, strlen(system), event);
}

const struct subject *subject_named(const char *word)
{
	const char *colon = strchr(word, ':');

	return find(colon ? word : NULL, colon ? (size_t)(colon - word) : 0,
		    colon ? colon + 1 : word);
}
