/* SPDX-License-Identifier: ISC */
/* merge.c - records of several processors in the order of time */
#include "merge.h"
#include "run.h"

/* Add two counts of lost events; either may be LOST_UNKNOWN, and a file may lie. */
static int64_t add_lost(int64_t a, int64_t b)
{
	return a > 0 && b > 0 && a <= INT64_MAX - b ? a + b : LOST_UNKNOWN;
}

/* Its oldest record into next. As more has it. */
static int look(struct merge *m, unsigned i)
{
	struct lane *l = &m->lanes[i];
	int r;

	while (!page_next(&l->page, &l->next)) {
		r = m->more(m->arg, i, &l->page);
		if (r != MORE_PAGE) {
			l->page.at = l->page.end = NULL;
			l->none = r == MORE_NONE;
			return r;
		}
		/* a page without a record leaves its loss to the next */
		if (l->page.lost)
			l->lost = l->lost ? add_lost(l->lost, l->page.lost) : l->page.lost;
	}
	l->has = 1;
	return MORE_PAGE;
}

/* Whose turn is it? MORE_PAGE, run and until are set; or as more has it. */
static int choose(struct merge *m)
{
	const struct lane *first = NULL, *second = NULL;

	for (unsigned i = 0; i < m->n; i++) {
		struct lane *l = &m->lanes[i];

		if (l->none)
			continue;
		if (!l->has) {
			int r = look(m, i);

			if (r == MORE_LATER)
				return r;
			if (r == MORE_NONE)
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
		return MORE_NONE;
	m->run = (unsigned)(first - m->lanes);
	m->rival = second ? (unsigned)(second - m->lanes) : m->n;
	m->until = second ? second->next.ts : UINT64_MAX;
	return MORE_PAGE;
}

HOT const struct record *merge_next(struct merge *m, int64_t *lost)
{
	struct lane *l = m->lanes + m->run;

	/* most often it is the turn of the one that had it */
	if (m->running && !l->has)
		l->has = page_plain(&l->page, &l->next) ||
			 (!l->none && look(m, m->run) == MORE_PAGE);
	if (!m->running || !l->has || l->next.ts > m->until ||
	    (l->next.ts == m->until && m->run > m->rival)) {
		m->running = choose(m) == MORE_PAGE;
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
