/* SPDX-License-Identifier: ISC */
/* subjects.c - select the records that are about given tasks and their later children */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "view/view.h"

/* The kernel's PID_MAX_LIMIT of 64-bit hosts. */
enum { PIDS = 4 * 1024 * 1024 };

/* Values of event.about. */
enum { RUNNING = 1, OTHER, EITHER, EVERY };

static int has(const struct subjects *s, int64_t pid)
{
	return pid > 0 && pid < PIDS && s->member[pid / 8] >> pid % 8 & 1;
}

static void set(struct subjects *s, int64_t pid, int member)
{
	if (pid <= 0 || pid >= PIDS)
		return;
	s->member[pid / 8] &= (unsigned char)~(1u << pid % 8);
	s->member[pid / 8] |= (unsigned char)((unsigned)member << pid % 8);
}

int subjects_begin(struct subjects *s, const struct pids *pids)
{
	s->member = calloc(PIDS / 8, 1);
	if (!s->member)
		return err_msg("out of memory");
	for (size_t i = 0; i < pids->n; i++)
		set(s, pids->v[i], 1);
	return 0;
}

/* Decide once which task the event is about. */
static void decide(struct event *e)
{
	const struct subject *s = subject_of(e->system, e->name);

	/* the pid filter does not apply to markers */
	e->about = strcmp(e->system, "ftrace") ? RUNNING : EVERY;
	if (!s || s->kind == SUBJECT_NONE)
		return;
	e->subject = event_field(e, s->field);
	if (e->subject)
		e->about = s->kind == SUBJECT_OTHER ? OTHER : EITHER;
}

/* Return the field of a record as a number; 0: it has none. */
static int64_t number(const struct event_set *evs, const struct field *f, const struct record *r)
{
	struct field_data v;

	return f && !field_value(evs, f, r, &v) && v.kind <= FIELD_POINTER ? v.i : 0;
}

int subjects_pick(struct subjects *s, struct event_set *evs, const struct record *r)
{
	struct event *e = event_wanted(evs, r);
	int running = has(s, record_pid(evs, r));

	if (!e)
		return running;
	if (!e->about)
		decide(e);
	if (e->id == evs->newtask)
		set(s, number(evs, event_field(e, "pid"), r), running);
	if (e->about == RUNNING || e->about == EVERY)
		return running || e->about == EVERY;
	return (e->about == EITHER && running) || has(s, number(evs, e->subject, r));
}
