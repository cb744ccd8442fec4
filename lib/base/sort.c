/* SPDX-License-Identifier: ISC */
/*
 * sort.c - sort an array
 *
 * qsort(3) of musl takes 2 KiB in a static program, and twice as long as this function.
 */
#include "base/base.h"

static void swap(char *a, char *b, size_t size)
{
	for (char c; size; size--) {
		c = *a;
		*a++ = *b;
		*b++ = c;
	}
}

/* Shell's method: sort entries that are `gap` apart, with smaller and smaller gaps. */
void array_sort(void *array, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	char *v = array, *end;
	size_t step;

	if (n < 2) /* an empty array may be NULL */
		return;
	end = v + n * size;
	for (size_t gap = n; gap > 1;) {
		gap = gap < 3 ? 1 : gap * 5 / 11;
		step = gap * size;
		for (char *i = v + step; i < end; i += size)
			for (char *j = i; (size_t)(j - v) >= step; j -= step) {
				if (compare(j - step, j) <= 0)
					break;
				swap(j - step, j, size);
			}
	}
}
