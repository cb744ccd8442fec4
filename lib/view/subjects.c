/* SPDX-License-Identifier: ISC */
/* subjects.c - select the records that are about given tasks and their later children */

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "view/view.h"

/* Which task an event is about. */
struct about {
	enum { UNDECIDED, RUNNING, OTHER, EITHER, EVERY } who;
	const struct field *field; /* the pid of the other one */
};

static int has(const struct subjects *s, int64_t pid)
{
	return pid > 0 && pid < K_PID_MAX_LIMIT && s->member[pid / 8] >> pid % 8 & 1;
}

static void set(struct subjects *s, int64_t pid, int member)
{
	if (pid <= 0 || pid >= K_PID_MAX_LIMIT)
		return;
	s->member[pid / 8] &= (unsigned char)~(1u << pid % 8);
	s->member[pid / 8] |= (unsigned char)((unsigned)member << pid % 8);
}

int subjects_begin(struct subjects *s, const struct pids *pids)
{
	s->member = calloc(K_PID_MAX_LIMIT / 8, 1);
	if (!s->member)
		return err_msg("out of memory");
	for (size_t i = 0; i < pids->n; i++)
		set(s, pids->v[i], 1);
	return 0;
}

/* Decide once which task the event is about. */
static void decide(struct about *a, const struct event *e)
{
	const struct subject *s = subject_of(e->system, e->name);

	/* the pid filter does not apply to markers */
	a->who = strcmp(e->system, "ftrace") ? RUNNING : EVERY;
	a->field = s && s->kind != SUBJECT_NONE ? event_field(e, s->field) : NULL;
	if (a->field)
		a->who = s->kind == SUBJECT_OTHER ? OTHER : EITHER;
}

/* Return the field of a record as a number; 0: it has none. */
static int64_t number(const struct event_set *evs, const struct field *f, const struct record *r)
{
	struct field_data v;

	return f && !field_value(evs, f, r, &v) && v.kind <= FIELD_POINTER ? v.i : 0;
}

int subjects_pick(struct subjects *s, struct event_set *evs, const struct record *r)
{
	const struct event *e = event_wanted(evs, r);
	int running = has(s, record_pid(evs, r));
	struct about *a;

	if (!e)
		return running;
	a = event_note(&s->about, e, sizeof(*a));
	if (a->who == UNDECIDED)
		decide(a, e);
	if (e->id == evs->newtask)
		set(s, number(evs, event_field(e, "pid"), r), running);
	return a->who == EVERY || (a->who != OTHER && running) ||
	       (a->who != RUNNING && has(s, number(evs, a->field, r)));
}
