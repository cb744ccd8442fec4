/* SPDX-License-Identifier: ISC */
/*
 * strangers.c - tell the traced tasks from the others, by the events of a trace
 *
 * The kernel's pid filter passes an event if the running task is traced. It passes a
 * switch also if the next task is traced, and a wake-up also if the task that wakes up is
 * (kernel/trace/trace_events.c, event_filter_pid_*). So every switch of a traced task is
 * recorded. If another task runs on a CPU than the last switch says, a switch
 * between two tasks that are not traced is missing.
 *
 * If the trace names the traced tasks (comments_traced), those names decide. The trace names their
 * children as well, or task_newtask tells of them.
 */

#include "strangers.h"

enum {
	OWN = 1,        /* the task had an event that only traced tasks have */
	ODD = 2,        /* a switch of the task is missing */
	HELPER = 4,     /* a thread of the kernel that works for a CPU */
	BESIDE = 8,     /* a switch or wake-up with a stranger: the task is traced */
	TRACED = 16,    /* the trace says that the task, or each task of the host, is traced */
	NAMED = 32,     /* of a host: the trace names its traced tasks */
	STRANGER = 64,
};

/* Two tasks of a switch or wake-up. The key is their addresses. */
struct pair {
	struct table_entry entry;
	struct lane *a, *b;
};

static void add_pair(struct strangers *s, struct lane *a, struct lane *b)
{
	struct lane *both[2] = { a, b };
	struct pair *p;

	s->pairs.size = sizeof(*p);
	p = table_at(&s->pairs, (const char *)both, sizeof(both));
	p->a = a;
	p->b = b;
}

/* Is this a thread of the kernel that runs on a CPU for a moment, on behalf of the tasks there? */
static int is_helper(struct text_part comm)
{
	return text_part_begins(comm, "kworker/") || text_part_begins(comm, "ksoftirqd/") ||
	       text_part_begins(comm, "migration/") || text_part_begins(comm, "rcu_preempt") ||
	       text_part_begins(comm, "rcu_sched") || text_part_begins(comm, "swapper/");
}

/* Return what the trace says about all tasks of the key's host: TRACED, NAMED, or 0. */
static unsigned host_flags(const struct strangers *s, const char *key)
{
	const struct lane *host = table_find(&s->slices->tasks, key, strcspn(key, "\t") + 1);

	return host ? host->flags : 0;
}

static struct lane *task_of(struct strangers *s, const struct seen *l, struct text_part pid)
{
	return slices_lane(s->slices, &s->slices->tasks, l, pid);
}

/* If a traced task makes a task, mark the new task as traced, too. */
static void read_child(struct strangers *s, const struct seen *l)
{
	const char *child, *comm;

	if (seen_born(l, &child, &comm))
		task_of(s, l, seen_text(l, child))->flags |= TRACED;
}

void strangers_comment(struct strangers *s, const char *line)
{
	struct seen l = { .prefix = "" };
	struct text_part pid, none = { "", 0 };

	if (!comments_traced(line, &l.host, &pid))
		return;
	s->named = 1;
	if (text_part_is(pid, "all")) {
		task_of(s, &l, none)->flags |= TRACED;
	} else {
		task_of(s, &l, none)->flags |= NAMED;
		task_of(s, &l, pid)->flags |= TRACED;
	}
}

int strangers_matter(const struct strangers *s)
{
	return s->named || !s->unfiltered;
}

void strangers_read(struct strangers *s, const struct seen *l)
{
	struct slices *of = s->slices;
	struct lane *now = of->task, *next;
	struct text_part pid;

	if (!now || !strangers_matter(s))
		return;
	if (is_helper(l->comm))
		now->flags |= HELPER;
	read_child(s, l);
	if (of->missed) {
		of->missed->flags |= ODD;
		now->flags |= ODD;
	}
	if (!of->wakes) {
		now->flags |= OWN;
		/* the pid filter never passes an event of the idle task itself */
		s->unfiltered |= lane_is_idle(now);
		return;
	}
	/* the key pid is the running task, and .pid the field */
	pid = seen_text(l, of->wakes < 0 ? "next_pid" : ".pid");
	if (!pid.n || s->unfiltered)
		return;
	next = task_of(s, l, pid);
	add_pair(s, now, next);
	if (of->wakes < 0 && is_helper(seen_text(l, "next_comm")))
		next->flags |= HELPER;
	/* tfs-latency has measured the wait of this task */
	if (of->measured)
		next->flags |= OWN;
}

/* Is a switch of the task missing, or is the task the idle task of a host? */
static int is_odd(const struct lane *t)
{
	return ((t->flags & ODD) && !(t->flags & OWN)) || lane_is_idle(t);
}

void strangers_decide(struct strangers *s)
{
	int filtered = 0; /* a pid filter explains the trace */
	struct pair *p;
	struct lane *t;

	for (size_t i = 0; !s->unfiltered && (t = table_next(&s->slices->tasks, &i));)
		filtered |= (t->flags & ODD) && is_odd(t);
	for (size_t i = 0; (p = table_next(&s->pairs, &i));) {
		/* no pid filter lets two strangers pass */
		if (is_odd(p->a) && is_odd(p->b))
			filtered = 0;
		if (is_odd(p->a))
			p->b->flags |= BESIDE;
		if (is_odd(p->b))
			p->a->flags |= BESIDE;
	}
	for (size_t i = 0; (t = table_next(&s->slices->tasks, &i));) {
		unsigned host = host_flags(s, t->entry.key);

		if (lane_is_idle(t) ? !s->unfiltered :
		    host ? !((t->flags | host) & (TRACED | OWN)) :
		    filtered && (is_odd(t) || (t->flags & (OWN | BESIDE | HELPER)) == HELPER))
			t->flags |= STRANGER;
	}
}

int strangers_has(const struct lane *t)
{
	return t->flags & STRANGER;
}
