/* SPDX-License-Identifier: ISC */
/* strbuf.c - growing text; the tool exits if memory runs out */
#include <string.h>

#include "base/base.h"

void strbuf_add(struct strbuf *w, const char *s, size_t n)
{
	if (w->n + n >= w->room) {
		w->room = 2 * (w->n + n) + 1;
		w->text = xrealloc(w->text, w->room, 1);
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
