/* SPDX-License-Identifier: ISC */
/* strbuf.c - growing text; the tool exits if memory runs out */

#include "base/base.h"

char *strbuf_room(struct strbuf *w, size_t n)
{
	const int huge = n > SIZE_MAX / 8 || w->n > SIZE_MAX / 8;

	if (w->n + n >= w->room || huge) {
		w->room = huge ? SIZE_MAX : 2 * (w->n + n) + 1; /* there is not so much memory */
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

void strbuf_escaped(struct strbuf *w, const char *s, size_t n, enum escape how)
{
	struct out o = out_to(strbuf_room(w, 6 * n), 6 * n); /* \u001b of JSON */

	out_escaped(&o, n ? s : "", n, how);
	*o.at = '\0';
	w->n = (size_t)(o.at - w->text);
}

/* Read a number of n hexadecimal digits. Return 1, or 0 if it is none. */
static int is_hex(const char *s, const char *end, int n, uint32_t *v)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";

	if (end - s < n)
		return 0;
	for (*v = 0; n--; s++) {
		const char *d = memchr(digits, *s, sizeof(digits) - 1);

		if (!d)
			return 0;
		*v = *v << 4 | ((uint32_t)(d - digits) & 15);
	}
	return 1;
}

/*
 * Write v, the number of an escape \u, as UTF-8. A character above U+FFFF is a pair of escapes, the
 * second one at *s: then move *s after it. Write U+FFFD for half of a pair.
 */
static char *unicode(char *to, uint32_t v, const char **s, const char *end)
{
	uint32_t low;

	if (v >> 10 == 0x36 && end - *s >= 2 && !memcmp(*s, "\\u", 2) &&
	    is_hex(*s + 2, end, 4, &low) && low >> 10 == 0x37) {
		*s += 6;
		v = 0x10000 + ((v & 0x3ff) << 10 | (low & 0x3ff));
		*to++ = (char)(0xf0 | v >> 18);
		*to++ = (char)(0x80 | (v >> 12 & 63));
	} else if (v >= 0x800) {
		v = v >> 11 == 0x1b ? 0xfffd : v; /* half of a pair */
		*to++ = (char)(0xe0 | v >> 12);
	}
	if (v >= 0x800)
		*to++ = (char)(0x80 | (v >> 6 & 63));
	else if (v >= 0x80)
		*to++ = (char)(0xc0 | v >> 6);
	*to++ = (char)(v < 0x80 ? v : 0x80 | (v & 63));
	return to;
}

struct text_part strbuf_unescaped(struct strbuf *w, struct text_part p, int json)
{
	static const char letters[] = "nt\"\\/bfr", bytes[] = "\n\t\"\\/\b\f\r";
	const char *s = p.text, *end, *e;
	uint32_t v;
	char *to;

	if (!p.n || !memchr(s, '\\', p.n))
		return p;
	end = s + p.n;
	w->n = 0;
	for (to = strbuf_room(w, p.n); s < end;) {
		e = *s == '\\' && end - s > 1 ? memchr(letters, s[1], json ? 8 : 4) : NULL;
		if (e) {
			*to++ = bytes[e - letters];
			s += 2;
		} else if (*s == '\\' && end - s > 1 && s[1] == (json ? 'u' : 'x') &&
			   is_hex(s + 2, end, json ? 4 : 2, &v)) {
			s += json ? 6 : 4;
			if (json)
				to = unicode(to, v, &s, end);
			else
				*to++ = (char)v;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
	w->n = (size_t)(to - w->text);
	return (struct text_part){ w->text, w->n };
}
