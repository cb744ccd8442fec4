/* SPDX-License-Identifier: ISC */
/* tasks.c - the tasks of calls, as the records of BPF programs tell them */

#include "base/base.h"
#include "event/event.h"
#include "calls/calls.h"

/* More CPUs than any kernel has, so that no file takes all memory */
enum { CPUS_MOST = 8192 };

/* Return the place for the task of a record; NULL: there is none. */
static struct task_record *place(const struct told_tasks *told, int pid, int cpu)
{
	return (unsigned)cpu < told->n && told->v[cpu] ?
	       &told->v[cpu][(unsigned)pid % TOLD_SLOTS] : NULL;
}

/* Make the places of a CPU. Return 0, or -1. */
static int make(struct told_tasks *told, unsigned cpu)
{
	struct task_record **all;

	if (cpu >= CPUS_MOST)
		return -1;
	if (cpu >= told->n) {
		all = realloc(told->v, (cpu + 1) * sizeof(struct task_record *));
		if (!all)
			return -1;
		told->v = all;
		while (told->n <= cpu)
			all[told->n++] = NULL;
	}
	if (!told->v[cpu])
		told->v[cpu] = calloc(TOLD_SLOTS, sizeof(struct task_record));
	return told->v[cpu] ? 0 : -1;
}

#define NUMBER(TYPE, MEMBER) \
	raw_number(r->data + offsetof(TYPE, MEMBER), sizeof(((TYPE *)0)->MEMBER), 0, evs->big)

/* Keep what an event tfs:task says. */
static void keep(struct told_tasks *told, const struct event_set *evs, const struct record *r)
{
	struct task_record *t;

	if (r->len < sizeof(*t) || make(told, (unsigned)r->cpu) < 0)
		return;
	t = place(told, record_pid(evs, r), r->cpu);
	t->head.pid = record_pid(evs, r);
	t->start = NUMBER(struct task_record, start);
	t->tgid = (int32_t)NUMBER(struct task_record, tgid);
	t->uid = (uint32_t)NUMBER(struct task_record, uid);
	memcpy(t->comm, r->data + offsetof(struct task_record, comm), sizeof(t->comm));
}

int told_learn(struct told_tasks *told, struct line_format *l, const struct record *r)
{
	const struct event_set *evs = l->events;
	const unsigned kind = record_id(evs, r) - RECORD_FIRST;
	const int pid = record_pid(evs, r);
	const struct task_record *t;
	struct comm *c;

	told->now = NULL;
	told->reused = 0;
	if (kind == RECORD_TASK)
		keep(told, evs, r);
	if (!told->n || kind > RECORD_OPEN || r->len < sizeof(struct call_record))
		return 0;
	t = place(told, pid, r->cpu);
	if (!t || !pid || t->head.pid != pid ||
	    NUMBER(struct call_record, call.flags) & CALL_UNTOLD)
		return kind == RECORD_OPEN ? 0 : line_task(l, pid, 0, "", 0);
	told->now = t;
	c = comms_entry(&l->events->comms, pid);
	if (c && t->start) {
		told->reused = c->start && c->start != t->start;
		c->start = t->start;
	}
	return line_task(l, pid, t->tgid, t->comm, sizeof(t->comm));
}

void told_free(struct told_tasks *told)
{
	for (unsigned i = 0; i < told->n; i++)
		free(told->v[i]);
	free(told->v);
	*told = (struct told_tasks){ 0 };
}
