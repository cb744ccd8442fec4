/* SPDX-License-Identifier: ISC */
/* cursor.c - read the head of an untrusted trace.dat step by step */

#include "base/base.h"
#include "event/event.h"
#include "tracedat/tracedat.h"
#include "tracedat/cursor.h"

void dat_cursor_damaged(struct dat_cursor *a, const char *why)
{
	if (!a->failed)
		err_msg("%s is damaged: %s", a->d->path, why);
	a->failed = 1;
}

int dat_read(const struct dat *d, void *out, size_t n, uint64_t at)
{
	while (n) {
		ssize_t got = pread(d->fd, out, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno("unable to read %s", d->path);
		if (!got)
			return err_msg("%s became shorter while it was read", d->path);
		out = (char *)out + got;
		n -= (size_t)got;
		at += (uint64_t)got;
	}
	return 0;
}

int dat_cursor_skip(struct dat_cursor *a, uint64_t n)
{
	if (!a->failed && n > a->end - a->at)
		a->failed = err_msg("%s ends in %s: it is damaged, or was cut short", a->d->path,
				    a->what) < 0;
	if (a->failed)
		return 0;
	a->at += n;
	return 1;
}

const unsigned char *dat_cursor_bytes(struct dat_cursor *a, size_t n)
{
	uint64_t at = a->at;

	if (!dat_cursor_skip(a, n))
		return NULL;
	if (at < a->from || at + n > a->from + a->n) {
		a->from = at;
		a->n = a->end - at < DAT_CURSOR_MAX ? (size_t)(a->end - at) : DAT_CURSOR_MAX;
		if (dat_read(a->d, a->text, a->n, at) < 0) {
			a->failed = 1;
			a->n = 0;
			return NULL;
		}
	}
	return a->text + (at - a->from);
}

uint64_t dat_cursor_number(struct dat_cursor *a, size_t n)
{
	const unsigned char *p = dat_cursor_bytes(a, n);
	uint64_t value = 0;

	for (size_t i = 0; p && i < n; i++)
		value |= (uint64_t)p[i] << 8 * (a->d->layout.big ? n - 1 - i : i);
	return value;
}

void dat_cursor_string(struct dat_cursor *a, char *out, size_t size)
{
	size_t n = 0;

	*out = '\0';
	for (const unsigned char *p; (p = dat_cursor_bytes(a, 1)) && *p;) {
		if (++n == DAT_CURSOR_MAX)
			dat_cursor_damaged(a, "a name without an end");
		if (n < size) {
			out[n - 1] = (char)*p;
			out[n] = '\0';
		}
	}
}

void dat_cursor_expect(struct dat_cursor *a, const char *word, size_t n, const char *why)
{
	const unsigned char *p = dat_cursor_bytes(a, n);

	if (p && memcmp(p, word, n))
		dat_cursor_damaged(a, why);
}

struct dat_extent dat_cursor_extent(struct dat_cursor *a, size_t size)
{
	uint64_t n = dat_cursor_number(a, size);
	struct dat_extent e = { .at = a->at, .n = n };

	return dat_cursor_skip(a, n) ? e : (struct dat_extent){ 0 };
}

struct dat_cursor dat_cursor_begin(const struct dat *d, uint64_t at, uint64_t n, const char *what)
{
	return (struct dat_cursor){ .d = d, .at = at, .end = at + n, .what = what };
}

char *dat_text(const struct dat *d, struct dat_extent e)
{
	char *text = e.n < SIZE_MAX ? malloc((size_t)e.n + 1) : NULL;

	if (!text) {
		err_msg("%s: no memory for %llu bytes", d->path, (unsigned long long)e.n);
		return NULL;
	}
	if (dat_read(d, text, (size_t)e.n, e.at) < 0) {
		free(text);
		return NULL;
	}
	text[e.n] = '\0';
	return text;
}
