/* SPDX-License-Identifier: ISC */
/* memory.c - memory for tools, which exit without it */

#include "base/base.h"

static void *checked(void *p)
{
	if (!p)
		err_exit(REFUSED, "out of memory");
	return p;
}

/* calloc(0, ...) and realloc(p, 0) may return NULL without an error */

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n + !n, size));
}

void *xrealloc(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		return checked(NULL);
	return checked(realloc(p, n * size + !n));
}

void *xgrow(void *v, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return v;
	*room = 2 * *room + 16;
	return xrealloc(v, *room, size);
}

void *array_more(void *v, size_t n, size_t size)
{
	return n & (n - 1) ? v : realloc(v, (n ? 2 * n : 1) * size);
}

char *xstrdup(const char *s)
{
	return s ? checked(strdup(s)) : NULL;
}
