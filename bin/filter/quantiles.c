/* SPDX-License-Identifier: ISC */
/* quantiles.c - percentiles of many numbers in little memory */

#include "quantiles.h"

/*
 * Numbers are counted in thousandths. Each power of two has 32 buckets of the same width, so that
 * the middle of a bucket differs from its numbers by at most 1/64.
 */
enum { BUCKETS = 32, BUCKET_BITS = 5 };

static uint64_t *counters_of(struct quantiles *q, unsigned power)
{
	if (!q->counters[power])
		q->counters[power] = xcalloc(BUCKETS, sizeof(uint64_t));
	return q->counters[power];
}

void quantiles_add(struct quantiles *q, const struct decimal *v)
{
	uint64_t n = v->negative ? 0 : v->whole >= UINT64_MAX / 1000 ? UINT64_MAX :
		     v->whole * 1000 + v->nano / 1000000;
	/* the number of bits without the lowest ones, and at least 0 */
	unsigned power = n < BUCKETS ? 0 : 63 - (unsigned)__builtin_clzll(n) - BUCKET_BITS + 1;

	counters_of(q, power)[power ? (n >> (power - 1)) - BUCKETS : n]++;
	q->n++;
}

void quantiles_merge(struct quantiles *to, const struct quantiles *from)
{
	for (unsigned power = 0; power < QUANTILES_POWERS; power++)
		for (int i = 0; from->counters[power] && i < BUCKETS; i++)
			counters_of(to, power)[i] += from->counters[power][i];
	to->n += from->n;
}

void quantiles_clear(struct quantiles *q)
{
	for (unsigned power = 0; power < QUANTILES_POWERS; power++)
		free(q->counters[power]);
	*q = (struct quantiles){ 0 };
}

struct decimal quantiles_get(const struct quantiles *q, unsigned percent,
			     const struct decimal *least, const struct decimal *most, int whole)
{
	/* the number of numbers that are not greater; n * 99 fits into 64 bits */
	uint64_t rank = (q->n * percent + 99) / 100, seen = 0, n;
	struct decimal v = { 0 };

	for (unsigned power = 0; power < QUANTILES_POWERS; power++)
		for (uint64_t i = 0; q->counters[power] && i < BUCKETS; i++) {
			seen += q->counters[power][i];
			if (seen < rank)
				continue;
			n = !power ? i : ((BUCKETS + i) << (power - 1)) +
					 ((uint64_t)1 << (power - 1)) / 2;
			v.whole = (n + (whole ? 500 : 0)) / 1000;
			v.nano = whole ? 0 : (uint32_t)(n % 1000) * 1000000;
			return decimal_compare(&v, least) < 0 ? *least :
			       decimal_compare(&v, most) > 0 ? *most : v;
		}
	return *most;
}
