/* SPDX-License-Identifier: ISC */
/* pick.c - select records by event, task and time */

#include "base/base.h"
#include "proc/proc.h"
#include "event/event.h"
#include "select/select.h"

enum { UNDECIDED, PICKED, LEFT_OUT }; /* the entry of an event in pick.picked */
#define NSEC_PER_SEC 1000000000u

int pick_event(struct pick *p, const char *glob)
{
	const char **more = realloc(p->globs, (p->nglobs + 1) * sizeof(*p->globs));

	if (!more)
		return err_msg("out of memory");
	p->globs = more;
	p->globs[p->nglobs++] = glob;
	return 0;
}

/* Parse a time in seconds at *s. Return 0, or -1. */
static int parse_time(const char **s, struct pick_time *m)
{
	struct text_part whole = { *s, strspn(*s, "0123456789") };

	*m = (struct pick_time){ .given = 1 };
	if (text_part_number(whole, 10, &m->whole) < 0)
		return -1;
	*s += whole.n;
	if (**s != '.')
		return 0;
	for (++*s; **s >= '0' && **s <= '9' && m->digits < 9; ++*s, m->digits++)
		m->nano = 10 * m->nano + (uint32_t)(**s - '0');
	for (int i = m->digits; i < 9; i++)
		m->nano *= 10;
	return m->digits ? 0 : -1;
}

int pick_time(struct pick *p, const char *range)
{
	struct pick_time begin = { 0 }, end = { 0 };

	if (*range != '-' && parse_time(&range, &begin) < 0)
		return -1;
	if (*range++ != '-')
		return -1;
	if (*range && parse_time(&range, &end) < 0)
		return -1;
	if (*range || !(begin.given | end.given))
		return -1;
	if (begin.given && end.given &&
	    (begin.whole > end.whole || (begin.whole == end.whole && begin.nano > end.nano)))
		return -1;
	p->begin = begin;
	p->end = end;
	return 0;
}

/* Return the time in nanoseconds, or nearly the largest number if it is too large. */
static uint64_t nanoseconds(const struct pick_time *m)
{
	if (m->whole > UINT64_MAX / NSEC_PER_SEC - 1)
		return UINT64_MAX - NSEC_PER_SEC;
	return m->whole * NSEC_PER_SEC + m->nano;
}

void pick_begin(struct pick *p, int raw_clock)
{
	uint64_t from = raw_clock ? p->begin.whole : nanoseconds(&p->begin);
	uint64_t to = raw_clock ? p->end.whole : nanoseconds(&p->end);

	/* lines show (ts + 500) / 1000 */
	if (!raw_clock && p->begin.digits <= 6)
		from = from > 500 ? from - 500 : 0;
	if (!raw_clock && p->end.digits <= 6)
		to += 499;
	p->from = p->begin.given ? from : 0;
	p->to = p->end.given ? to : UINT64_MAX;
	event_notes_free(&p->picked);
	p->all = !p->nglobs && !p->pids.n && !p->begin.given && !p->end.given;
}

int pick_names(const struct pick *p, const char *system, const char *name)
{
	for (size_t i = 0; i < p->nglobs; i++)
		if (glob_names(p->globs[i], system, name))
			return 1;
	return 0;
}

int pick_is_call(const struct event *e)
{
	return !strcmp(e->system, RECORD_SYSTEM) && (!strcmp(e->name, "enter") ||
						     !strcmp(e->name, "call") ||
						     !strcmp(e->name, "open"));
}

int pick_record(struct pick *p, struct event_set *evs, const struct record *r)
{
	if (p->nglobs) {
		const struct event *e = event_wanted(evs, r);
		char *picked;

		if (!e)
			return 0;
		picked = event_note(&p->picked, e, sizeof(*picked));
		if (*picked == UNDECIDED)
			*picked = (p->calls && pick_is_call(e)) ||
				  pick_names(p, e->system, e->name) ? PICKED : LEFT_OUT;
		if (*picked == LEFT_OUT)
			return 0;
	}
	return !p->pids.n || pids_has(&p->pids, record_pid(evs, r));
}
