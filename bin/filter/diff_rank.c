/* SPDX-License-Identifier: ISC */
/* diff_rank.c - the test of Mann and Whitney, with the exact distribution of the ranks */

#include "diff.h"

enum { MOST = 2 * DIFF_MOST, SUM_MOST = MOST * (MOST + 1) };

struct number {
	uint64_t v;
	uint32_t rank;          /* twice the rank; equal numbers have the mean of their ranks */
	int before;
};

static int by_value(const void *a, const void *b)
{
	const struct number *x = a, *y = b;

	return ASCENDING(x->v, y->v);
}

static void set_ranks(struct number *v, size_t n)
{
	array_sort(v, n, sizeof(*v), by_value);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && v[k].v == v[i].v;)
			k++;
		for (size_t j = i; j < k; j++)
			v[j].rank = (uint32_t)(i + k + 1);
	}
}

double diff_rank(const uint64_t *before, size_t nbefore, const uint64_t *after, size_t nafter)
{
	/* ways[k][s]: in how many ways k of the numbers can have ranks whose sum is s */
	static double ways[DIFF_MOST + 1][SUM_MOST + 1];
	const size_t n = nbefore + nafter, whole = n * (n + 1);
	struct number v[MOST];
	double below = 0, above = 0, all = 0, squares = 0, off;
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		v[i] = (struct number){ i < nbefore ? before[i] : after[i - nbefore], 0,
					i < nbefore };
	set_ranks(v, n);
	for (size_t i = 0; i < n; i++) {
		off = (double)v[i].rank - (double)(n + 1);
		squares += off * off;
		sum += v[i].before ? v[i].rank : 0;
	}
	/* a difference within two standard deviations is no change, so p need not be exact */
	off = (double)sum - (double)(nbefore * (n + 1));
	if (off * off * (double)(n * (n - 1)) < 4 * squares * (double)(nbefore * nafter))
		return 1;
	for (size_t k = 0; k <= nbefore; k++)
		memset(ways[k], 0, (whole + 1) * sizeof(**ways));
	ways[0][0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i < nbefore ? i + 1 : nbefore; k; k--)
			for (size_t s = v[i].rank; s <= whole; s++)
				ways[k][s] += ways[k - 1][s - v[i].rank];
	for (size_t s = 0; s <= whole; s++) {
		all += ways[nbefore][s];
		below += s <= sum ? ways[nbefore][s] : 0;
		above += s >= sum ? ways[nbefore][s] : 0;
	}
	below = 2 * (below < above ? below : above) / all;
	return below < 1 ? below : 1;
}
