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
 * If the trace names the traced tasks (comments_traced), that decides. Their children are named as
 * well, or task_newtask tells of them.
 */

#include "lines/lines.h"
#include "strangers.h"

enum {
	OWN = 1,        /* the task had an event that only traced tasks have */
	ODD = 2,        /* a switch of the task is missing */
	HELPER = 4,     /* a thread of the kernel that works for a CPU */
	BESIDE = 8,     /* a switch or wake-up with a stranger: the task is traced */
	TRACED = 16,    /* the trace names the task, or of a host all tasks, as traced */
	NAMED = 32,     /* of a host: the trace names its traced tasks */
};

struct known_task {
	struct table_entry entry;
	unsigned flags;
};

struct cpu_task {
	struct table_entry entry;
	struct known_task *task;        /* that runs on the CPU; NULL: unknown */
};

/* Two tasks of a switch or wake-up. The key is their addresses. */
struct pair {
	struct table_entry entry;
	struct known_task *a, *b;
};

void task_key(struct strbuf *key, const struct trace_line *l, struct text_part id)
{
	strbuf_add(strbuf_empty(key), l->host.text, l->host.n);
	strbuf_puts(key, "\t");
	strbuf_add(key, id.text, id.n);
}

static struct known_task *task_of(struct strangers *s, const struct trace_line *l,
				  struct text_part pid)
{
	s->tasks.size = sizeof(struct known_task);
	task_key(&s->key, l, pid);
	return table_at(&s->tasks, s->key.text, s->key.n);
}

static void add_pair(struct strangers *s, struct known_task *a, struct known_task *b)
{
	struct known_task *both[2] = { a, b };
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

/* The task runs on the line's CPU. If another task did, a switch between them is missing. */
static struct cpu_task *read_cpu(struct strangers *s, const struct trace_line *l,
				 struct known_task *now)
{
	struct cpu_task *c;

	s->cpus.size = sizeof(*c);
	task_key(&s->key, l, l->cpu);
	c = table_at(&s->cpus, s->key.text, s->key.n);
	if (c->task && c->task != now) {
		c->task->flags |= ODD;
		now->flags |= ODD;
		c->task = NULL;
	}
	return c;
}

/* Return what the trace says about all tasks of the key's host: TRACED, NAMED, or 0. */
static unsigned host_flags(const struct strangers *s, const char *key)
{
	const struct known_task *host = table_find(&s->tasks, key, strcspn(key, "\t") + 1);

	return host ? host->flags : 0;
}

/* If a traced task makes a task, that is traced as well. */
static void read_child(struct strangers *s, const struct trace_line *l)
{
	const char *child, *comm;

	if (trace_line_born(l, &child, &comm))
		task_of(s, l, trace_line_key(l, child))->flags |= TRACED;
}

void strangers_comment(struct strangers *s, const char *line)
{
	struct trace_line l = { .prefix = "" };
	struct text_part pid, none = { "", 0 };

	if (!comments_traced(line, &l.host, &pid))
		return;
	if (text_part_is(pid, "all")) {
		task_of(s, &l, none)->flags |= TRACED;
	} else {
		task_of(s, &l, none)->flags |= NAMED;
		task_of(s, &l, pid)->flags |= TRACED;
	}
}

void strangers_read(struct strangers *s, const struct trace_line *l)
{
	int switches = !*l->prefix && text_part_is(l->event, "sched_switch");
	int wakes = !*l->prefix && trace_line_wakes(l);
	struct known_task *now, *next = NULL;
	struct cpu_task *cpu = NULL;
	struct text_part other;

	if (!l->pid.n || s->unfiltered)
		return;
	now = task_of(s, l, l->pid);
	if (is_helper(l->comm))
		now->flags |= HELPER;
	read_child(s, l);
	if (!switches && !wakes) {
		now->flags |= OWN;
		/* the pid filter never passes an event of the idle task itself */
		s->unfiltered |= text_part_is(l->pid, "0");
	}
	if (l->cpu.n)
		cpu = read_cpu(s, l, now);
	if (!switches && !wakes)
		return;
	/* the key pid is the running task, and .pid the field */
	other = trace_line_key(l, switches ? "next_pid" : ".pid");
	if (other.n) {
		next = task_of(s, l, other);
		add_pair(s, now, next);
		if (switches && is_helper(trace_line_key(l, "next_comm")))
			next->flags |= HELPER;
		/* tfs-latency has measured the wait of this task */
		if (switches && trace_line_key(l, "lat").n)
			next->flags |= OWN;
	}
	if (switches && cpu)
		cpu->task = next;
}

void strangers_gap(struct strangers *s)
{
	struct cpu_task *c;

	for (size_t i = 0; (c = table_next(&s->cpus, &i));)
		c->task = NULL;
}

/* Is a switch of the task missing, or is the task the idle task of a host? */
static int is_odd(const struct known_task *t)
{
	return ((t->flags & ODD) && !(t->flags & OWN)) ||
	       !strcmp(strchr(t->entry.key, '\t'), "\t0");
}

void strangers_decide(struct strangers *s)
{
	const struct known_task *t;
	struct pair *p;

	s->filtered = 0;
	for (size_t i = 0; (t = table_next(&s->tasks, &i));)
		s->filtered |= (t->flags & ODD) && is_odd(t);
	if (s->unfiltered)
		s->filtered = 0;
	for (size_t i = 0; (p = table_next(&s->pairs, &i));) {
		/* no pid filter lets two strangers pass */
		if (is_odd(p->a) && is_odd(p->b))
			s->filtered = 0;
		if (is_odd(p->a))
			p->b->flags |= BESIDE;
		if (is_odd(p->b))
			p->a->flags |= BESIDE;
	}
}

int strangers_has(const struct strangers *s, const char *key, size_t n)
{
	unsigned host = host_flags(s, key);
	const struct known_task *t = s->filtered || host ? table_find(&s->tasks, key, n) : NULL;

	if (n > 1 && !memcmp(key + n - 2, "\t0", 2))
		return !s->unfiltered;
	if (host)
		return t && !((t->flags | host) & TRACED) && !(t->flags & OWN);
	return t && (is_odd(t) || (t->flags & (OWN | BESIDE | HELPER)) == HELPER);
}
