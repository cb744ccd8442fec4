/* SPDX-License-Identifier: ISC */
/*
 * clocks.c - compute how the clocks of hosts differ, and describe the result in words
 *
 * Let a(i) be the value to add to the times of host i. A message is sent at s by the clock
 * of i and received at r by the clock of j. Then s + a(i) <= r + a(j), so a(i) - a(j) <=
 * r - s is a bound. The hosts are the nodes of a graph, and the bounds are the lengths of
 * its edges. The shortest paths (Floyd, Warshall) are the tightest bounds that follow from
 * all messages. The bounds contradict each other if a cycle is negative.
 *
 * The largest values that the bounds allow fulfil all of them together, and so do the
 * smallest values. So the middles between both fulfil them as well.
 */

#include "base/base.h"
#include "requests.h"

#define NONE NO_MESSAGE

/* Add two lengths. The result is limited to the largest difference of two times. */
static int64_t sum(int64_t a, int64_t b)
{
	if (a == NONE || b == NONE)
		return NONE;
	a += b;
	return a < -TIME_MOST ? -TIME_MOST : a > TIME_MOST ? TIME_MOST : a;
}

/* Replace all lengths in d by those of the shortest paths. Return 0, or -1 for a negative cycle. */
static int shortest(int64_t *d, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		for (unsigned i = 0; i < n; i++) {
			if (d[i * n + k] == NONE)
				continue;
			for (unsigned j = 0; j < n; j++) {
				int64_t s = sum(d[i * n + k], d[k * n + j]);

				if (s < d[i * n + j])
					d[i * n + j] = s;
			}
			if (d[i * n + i] < 0)
				return -1;
		}
	return 0;
}

/*
 * Compute the shortest paths to d. Each bound is made longer by wider. The difference of
 * two hosts that are known already is exact. Return as shortest does.
 */
static int paths(const struct dt_clocks *c, int64_t wider, const unsigned char *known, int64_t *d)
{
	unsigned n = c->n;

	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++)
			if (i == j)
				d[i * n + j] = 0;
			else if (known && known[i] && known[j])
				d[i * n + j] = c->v[i].add - c->v[j].add;
			else
				d[i * n + j] = sum(c->least[i * n + j], wider);
	return shortest(d, n);
}

/* Return by how much all bounds must be wider so that they do not contradict each other. */
static int64_t contradiction(const struct dt_clocks *c, int64_t *d)
{
	int64_t low = -1, high = 0;

	/* this ends: with TIME_MOST no bound is negative */
	while (paths(c, high, NULL, d) < 0) {
		low = high;
		high = high ? 2 * high : 1;
	}
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;

		if (paths(c, middle, NULL, d) < 0)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Return the first unknown host whose bounds in d are of this kind; n: none. */
static unsigned find(const struct dt_clocks *c, const unsigned char *known, const int64_t *d,
		     enum known as, unsigned from)
{
	for (unsigned i = from; i < c->n; i++) {
		int most = d[i * c->n] != NONE, least = d[i] != NONE;

		if (!known[i] && as == (most ? least ? CLOCK_BOTH : CLOCK_MOST :
					least ? CLOCK_LEAST : CLOCK_ALONE))
			return i;
	}
	return c->n;
}

/* Return the largest possible error of the host's add, by the bounds in wide. */
static int64_t within(const struct dt_clocks *c, const int64_t *wide, unsigned i)
{
	int64_t most = wide[i * c->n], least = -wide[i];
	int64_t up = most - c->v[i].add, down = c->v[i].add - least;

	return up > down ? up : down;
}

/*
 * Find the hosts in rounds. A round takes all hosts that have bounds on both sides; or else
 * one host with a bound on one side; or else one host without bounds. These hosts are then
 * known, and give bounds for the others as the first host does.
 */
void dt_clocks_align(struct dt_clocks *c)
{
	static const enum known order[] = { CLOCK_BOTH, CLOCK_MOST, CLOCK_LEAST, CLOCK_ALONE };
	unsigned n = c->n, left = n - 1, by = 0;
	int64_t *d = xcalloc((size_t)n * n, sizeof(*d));
	int64_t *wide = xcalloc((size_t)n * n, sizeof(*wide));
	unsigned char *known = xcalloc(n, 1);
	int64_t wider = contradiction(c, d);

	c->off = wider > c->unit ? wider : 0;
	known[0] = 1;
	c->v[0] = (struct dt_clock){ .known = CLOCK_FIRST };
	while (left) {
		unsigned i = n;
		enum known as = CLOCK_BOTH;

		paths(c, wider, known, d);
		/* if the bounds contradict each other, add may be wrong by as much as they do */
		paths(c, c->off ? sum(wider, wider) : wider + c->unit, known, wide);
		for (size_t o = 0; i == n; o++) {
			as = order[o];
			i = find(c, known, d, as, 1);
		}
		for (; i < n; i = as == CLOCK_BOTH ? find(c, known, d, as, i + 1) : n) {
			int64_t most = d[i * n], least = -d[i];
			struct dt_clock *v = &c->v[i];

			*v = (struct dt_clock){ .known = as, .by = by };
			if (as == CLOCK_BOTH) {
				v->add = least + (most - least) / 2;
				v->within = within(c, wide, i);
			} else if (as != CLOCK_ALONE) {
				v->add = as == CLOCK_MOST ? most : least;
			}
			known[i] = 1;
			left--;
			if (as != CLOCK_BOTH)
				by = i;
		}
	}
	free(d);
	free(wide);
	free(known);
}

/* ---- description of a host's clock ------------------------------------------------ */

/* Append, for example, "5.000000 s ahead" (of the first host's clock). */
static void put_ahead(struct strbuf *w, int64_t ahead, int digits)
{
	strbuf_seconds(w, ahead < 0 ? -ahead : ahead, digits);
	strbuf_puts(w, ahead < 0 ? " s after" : " s ahead");
}

void dt_clock_describe(struct strbuf *w, const struct dt_clocks *all, unsigned host,
		       const char *const *names, int digits)
{
	const struct dt_clock *c = &all->v[host];
	int64_t ahead = -c->add;

	switch (c->known) {
	case CLOCK_FIRST:
		strbuf_puts(w, "all times are by this clock");
		break;
	case CLOCK_ALONE:
		strbuf_puts(w, "its clock is not adjusted, because there are no messages");
		break;
	case CLOCK_BOTH:
		put_ahead(w, ahead, digits);
		strbuf_puts(w, ", plus or minus ");
		strbuf_seconds(w, c->within, digits);
		if (c->by) {
			strbuf_puts(w, ", if that of ");
			strbuf_puts(w, names[c->by]);
			strbuf_puts(w, " is right");
		}
		break;
	default:
		/* a lower bound on a time ahead is an upper bound on a time after */
		strbuf_puts(w, (c->known == CLOCK_MOST) == (ahead >= 0) ? "at least " : "at most ");
		put_ahead(w, ahead, digits);
		strbuf_puts(w, ", by messages of one direction");
	}
}
