/* SPDX-License-Identifier: ISC */
/* strbuf.c - growing text; the tool exits if memory runs out */

#include "base/base.h"

char *strbuf_room(struct strbuf *w, size_t n)
{
	if (w->n + n >= w->room) {
		w->room = 2 * (w->n + n) + 1;
		w->text = xrealloc(w->text, w->room, 1);
	}
	return w->text + w->n;
}

void strbuf_add(struct strbuf *w, const char *s, size_t n)
{
	char *to = strbuf_room(w, n);

	if (n)
		memcpy(to, s, n);
	to[n] = '\0';
	w->n += n;
}

void strbuf_puts(struct strbuf *w, const char *s)
{
	strbuf_add(w, s, strlen(s));
}

void strbuf_format(struct strbuf *w, const char *f, ...)
{
	va_list ap;
	size_t n;

	strbuf_room(w, 64);
	va_start(ap, f);
	n = str_vformat(w->text + w->n, w->room - w->n, f, ap);
	va_end(ap);
	if (n >= w->room - w->n) {
		strbuf_room(w, n);
		va_start(ap, f);
		str_vformat(w->text + w->n, n + 1, f, ap);
		va_end(ap);
	}
	w->n += n;
}

void strbuf_escaped(struct strbuf *w, const char *s, size_t n)
{
	struct out o = out_to(strbuf_room(w, 4 * n), 4 * n);

	out_escaped(&o, s, n, 0);
	*o.at = '\0';
	w->n = (size_t)(o.at - w->text);
}
