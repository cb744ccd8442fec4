/* SPDX-License-Identifier: ISC */
/* quantiles.h - percentiles of many numbers in little memory */
#ifndef QUANTILES_H
#define QUANTILES_H

#include "lines/lines.h"

/* Counters of numbers; at most 256 bytes for each power of two in use. All zero at first. */
enum { QUANTILES_POWERS = 60 };
struct quantiles {
	uint64_t n;
	uint64_t *counters[QUANTILES_POWERS];
};

/* Count a number. A negative number counts as 0. */
void quantiles_add(struct quantiles *, const struct decimal *);

/* Count all numbers of from in to, too. */
void quantiles_merge(struct quantiles *to, const struct quantiles *from);

/* Free the counters, and set all to zero. */
void quantiles_clear(struct quantiles *);

/*
 * Return the least number that is at least as great as percent of all numbers, with an error of at
 * most 1/64, or 0.001; whole: rounded to a whole number. The numbers are from *least to *most, and
 * so is the result.
 */
struct decimal quantiles_get(const struct quantiles *, unsigned percent,
			     const struct decimal *least, const struct decimal *most, int whole);

#endif
