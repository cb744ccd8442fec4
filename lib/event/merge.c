/* SPDX-License-Identifier: ISC */
/* merge.c - records of several processors in the order of time */

#include "event/event.h"
#include "event/vm.h"

/* Add two counts of lost events; either may be LOST_UNKNOWN, and a file may lie. */
static int64_t add_lost(int64_t a, int64_t b)
{
	return a > 0 && b > 0 && a <= INT64_MAX - b ? a + b : LOST_UNKNOWN;
}

/* Its oldest record into next. As more has it. */
static int look(struct merge *m, unsigned i)
{
	struct merge_lane *l = &m->lanes[i];
	int r;

	while (!subbuf_next(&l->page, &l->next)) {
		r = m->more(m->arg, i, &l->page);
		if (r != MERGE_SUBBUF) {
			l->page.at = l->page.end = NULL;
			l->none = r == MERGE_NONE;
			return r;
		}
		/* a page without a record leaves its loss to the next */
		if (l->page.lost)
			l->lost = l->lost ? add_lost(l->lost, l->page.lost) : l->page.lost;
	}
	l->has = 1;
	return MERGE_SUBBUF;
}

/* Whose turn is it? MERGE_SUBBUF, run and until are set; or as more has it. */
static int choose(struct merge *m)
{
	const struct merge_lane *first = NULL, *second = NULL;

	for (unsigned i = 0; i < m->n; i++) {
		struct merge_lane *l = &m->lanes[i];

		if (l->none)
			continue;
		if (!l->has) {
			int r = look(m, i);

			if (r == MERGE_LATER)
				return r;
			if (r == MERGE_NONE)
				continue;
		}
		if (!first || l->next.ts < first->next.ts) {
			second = first;
			first = l;
		} else if (!second || l->next.ts < second->next.ts) {
			second = l;
		}
	}
	if (!first)
		return MERGE_NONE;
	m->run = (unsigned)(first - m->lanes);
	m->rival = second ? (unsigned)(second - m->lanes) : m->n;
	m->until = second ? second->next.ts : UINT64_MAX;
	return MERGE_SUBBUF;
}

HOT const struct record *merge_next(struct merge *m, int64_t *lost)
{
	struct merge_lane *l = m->lanes + m->run;

	/* most often it is the turn of the one that had it */
	if (m->running && !l->has)
		l->has = page_plain(&l->page, &l->next) ||
			 (!l->none && look(m, m->run) == MERGE_SUBBUF);
	if (!m->running || !l->has || l->next.ts > m->until ||
	    (l->next.ts == m->until && m->run > m->rival)) {
		m->running = choose(m) == MERGE_SUBBUF;
		if (!m->running)
			return NULL;
		l = m->lanes + m->run;
	}
	if (m->gate && !*m->gate)
		return NULL;
	*lost = l->lost;
	l->lost = 0;
	l->has = 0;
	return &l->next;
}
