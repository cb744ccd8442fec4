/* SPDX-License-Identifier: ISC */
/* datat.c - reading at a place of a trace.dat that nobody vouches for */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "datat.h"

void at_damaged(struct at *a, const char *why)
{
	if (!a->failed)
		complain("%s is damaged: %s", a->d->path, why);
	a->failed = 1;
}

int dat_read(const struct dat *d, void *out, size_t n, uint64_t at)
{
	while (n) {
		ssize_t got = pread(d->fd, out, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return complain_errno("unable to read %s", d->path);
		if (!got)
			return complain("%s became shorter", d->path);
		out = (char *)out + got;
		n -= (size_t)got;
		at += (uint64_t)got;
	}
	return 0;
}

int at_pass(struct at *a, uint64_t n)
{
	if (!a->failed && n > a->end - a->at) {
		complain("%s ends in %s: it is damaged, or was cut short", a->d->path, a->what);
		a->failed = 1;
	}
	if (a->failed)
		return 0;
	a->at += n;
	return 1;
}

const unsigned char *at_next(struct at *a, size_t n)
{
	uint64_t at = a->at;

	if (!at_pass(a, n))
		return NULL;
	if (at < a->from || at + n > a->from + a->n) {
		a->from = at;
		a->n = a->end - at < SOME ? (size_t)(a->end - at) : SOME;
		if (dat_read(a->d, a->text, a->n, at) < 0) {
			a->failed = 1;
			a->n = 0;
			return NULL;
		}
	}
	return a->text + (at - a->from);
}

uint64_t at_number(struct at *a, size_t n)
{
	const unsigned char *p = at_next(a, n);
	uint64_t value = 0;

	for (size_t i = 0; p && i < n; i++)
		value |= (uint64_t)p[i] << 8 * (a->d->layout.big ? n - 1 - i : i);
	return value;
}

void at_string(struct at *a, char *out, size_t size)
{
	size_t n = 0;

	*out = '\0';
	for (const unsigned char *p; (p = at_next(a, 1)) && *p;) {
		if (++n == SOME)
			at_damaged(a, "a name without an end");
		if (n < size) {
			out[n - 1] = (char)*p;
			out[n] = '\0';
		}
	}
}

void at_expect(struct at *a, const char *word, size_t n, const char *why)
{
	const unsigned char *p = at_next(a, n);

	if (p && memcmp(p, word, n))
		at_damaged(a, why);
}

struct dat_extent at_extent(struct at *a, size_t size)
{
	uint64_t n = at_number(a, size);
	struct dat_extent e = { .at = a->at, .n = n };

	return at_pass(a, n) ? e : (struct dat_extent){ 0 };
}

struct at at_begin(const struct dat *d, uint64_t at, uint64_t n, const char *what)
{
	return (struct at){ .d = d, .at = at, .end = at + n, .what = what };
}

char *dat_text(const struct dat *d, struct dat_extent e)
{
	char *text = e.n < SIZE_MAX ? malloc((size_t)e.n + 1) : NULL;

	if (!text) {
		complain("%s: no memory for %llu bytes", d->path, (unsigned long long)e.n);
		return NULL;
	}
	if (dat_read(d, text, (size_t)e.n, e.at) < 0) {
		free(text);
		return NULL;
	}
	text[e.n] = '\0';
	return text;
}
