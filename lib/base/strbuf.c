/* SPDX-License-Identifier: ISC */
/* words.c - text that grows, and an event's values in it */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n + !n, size);

	if (!p)
		err_exit(REFUSED, "out of memory");
	return p;
}

void strbuf_add(struct strbuf *w, const char *s, size_t n)
{
	if (w->n + n >= w->room) {
		w->room = 2 * (w->n + n) + 1;
		w->text = realloc(w->text, w->room);
		if (!w->text)
			err_exit(REFUSED, "out of memory");
	}
	if (n)
		memcpy(w->text + w->n, s, n);
	w->n += n;
	w->text[w->n] = '\0';
}

void strbuf_puts(struct strbuf *w, const char *s)
{
	strbuf_add(w, s, strlen(s));
}
