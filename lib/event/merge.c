/* SPDX-License-Identifier: ISC */
/* merge.c - give the records of all CPUs in the order of time */

#include "event/event.h"
#include "event/vm.h"

/* Add two counts of lost events; either may be LOST_UNKNOWN, or wrong in a damaged file. */
static int64_t add_lost(int64_t a, int64_t b)
{
	return a > 0 && b > 0 && a <= INT64_MAX - b ? a + b : LOST_UNKNOWN;
}

/* Read the next record of a CPU. Return MERGE_SUBBUF, or the result of more. */
static int look(struct merge *m, unsigned i)
{
	struct merge_cpu *l = &m->cpus[i];
	int r;

	while (!subbuf_next(&l->subbuf, &l->next)) {
		r = m->more(m->arg, i, &l->subbuf);
		if (r != MERGE_SUBBUF) {
			l->subbuf.at = l->subbuf.end = NULL;
			l->none = r == MERGE_NONE;
			return r;
		}
		/* the loss before a sub-buffer without a record counts for the next sub-buffer */
		if (l->subbuf.lost)
			l->lost = l->lost ? add_lost(l->lost, l->subbuf.lost) : l->subbuf.lost;
	}
	l->has = 1;
	return MERGE_SUBBUF;
}

/*
 * Find the CPU with the oldest record. Return MERGE_SUBBUF and set run, rival and until; or
 * return the result of more.
 */
static int choose(struct merge *m)
{
	const struct merge_cpu *first = NULL, *second = NULL;

	for (unsigned i = 0; i < m->n; i++) {
		struct merge_cpu *l = &m->cpus[i];

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
	m->run = (unsigned)(first - m->cpus);
	m->rival = second ? (unsigned)(second - m->cpus) : m->n;
	m->until = second ? second->next.ts : UINT64_MAX;
	return MERGE_SUBBUF;
}

const struct record *merge_next(struct merge *m, int64_t *lost)
{
	struct merge_cpu *l = m->cpus + m->run;

	/* most often the same CPU is first again */
	if (m->running && !l->has)
		l->has = subbuf_next_plain(&l->subbuf, &l->next) ||
			 (!l->none && look(m, m->run) == MERGE_SUBBUF);
	if (!m->running || !l->has || l->next.ts > m->until ||
	    (l->next.ts == m->until && m->run > m->rival)) {
		m->running = choose(m) == MERGE_SUBBUF;
		if (!m->running)
			return NULL;
		l = m->cpus + m->run;
	}
	if (m->gate && !*m->gate)
		return NULL;
	*lost = l->lost;
	l->lost = 0;
	l->has = 0;
	return &l->next;
}

int merge_in_loss(const struct merge *m)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->cpus[i].has && m->cpus[i].lost)
			return 1;
	return 0;
}

const struct record *merge_peek(struct merge *m)
{
	struct merge_cpu *l = m->cpus + m->run;

	if (!l->has && (l->none || look(m, m->run) != MERGE_SUBBUF))
		return NULL;
	return l->lost ? NULL : &l->next;
}
