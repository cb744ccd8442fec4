/* SPDX-License-Identifier: ISC */
/* svg.c - pictures that are well-formed with any names */
#include <string.h>

#include "base/base.h"
#include "filter/filter.h"

/* Return the number of bytes of the character at s, or 0 if XML does not allow it. */
static size_t character(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t len;

	if (*u < 0x80)
		return *u >= ' ' && *u != 0x7f;
	len = text_utf8(u, n);
	/* XML does not allow U+FFFE and U+FFFF */
	return len == 3 && !memcmp(s, "\xef\xbf", 2) && u[2] >= 0xbe ? 0 : len;
}

static void put_character(struct strbuf *w, const char *s, size_t len)
{
	static const char special[] = "&<>'\"";
	static const char *const names[] = { "&amp;", "&lt;", "&gt;", "&apos;", "&quot;" };
	const char *p = len == 1 ? strchr(special, *s) : NULL;

	if (p)
		strbuf_puts(w, names[p - special]);
	else
		strbuf_add(w, len ? s : "?", len ? len : 1);
}

void svg_text(struct strbuf *w, const char *s, size_t n, size_t most)
{
	const char *end = s + n;
	size_t all = 0, i = 0;

	for (const char *p = s; p < end && all <= most; all++) {
		size_t len = character(p, (size_t)(end - p));

		p += len + !len;
	}
	if (all > most)
		most = most > 2 ? most - 2 : 0;
	for (; s < end && i < most; i++) {
		size_t len = character(s, (size_t)(end - s));

		put_character(w, s, len);
		s += len + !len;
	}
	if (i && s < end)
		strbuf_puts(w, "..");
}

void svg_number(struct strbuf *w, uint64_t hundredths)
{
	char text[32];
	unsigned part = (unsigned)(hundredths % 100);

	str_format(text, sizeof(text), "%llu.%c%c", (unsigned long long)hundredths / 100,
		   '0' + (int)part / 10, '0' + (int)part % 10);
	if (part % 10 == 0)
		text[strlen(text) - (part ? 1 : 3)] = '\0';
	strbuf_puts(w, text);
}

void svg_attribute(struct strbuf *w, const char *name, uint64_t hundredths)
{
	strbuf_puts(w, " ");
	strbuf_puts(w, name);
	strbuf_puts(w, "='");
	svg_number(w, hundredths);
	strbuf_puts(w, "'");
}

void svg_begin(uint64_t width, uint64_t height, const char *title)
{
	unsigned long long w = width, h = height;

	stdout_print("<?xml version='1.0' encoding='UTF-8'?>\n"
		     "<svg xmlns='http://www.w3.org/2000/svg' width='%llu' height='%llu' "
		     "viewBox='0 0 %llu %llu'>\n"
		     "<style>text{font:12px monospace}g:hover rect{stroke:#000}</style>\n"
		     "<rect width='100%%' height='100%%' fill='#f8f8f8'/>\n", w, h, w, h);
	svg_label(10, 20, title, strlen(title), SIZE_MAX);
}

void svg_end(void)
{
	stdout_print("</svg>\n");
}

void svg_colour(struct strbuf *w, const char *name, size_t n)
{
	char text[64];
	unsigned h = 2166136261;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619;
	str_format(text, sizeof(text), " fill='rgb(%u,%u,%u)'", 205 + (h >> 3) % 50,
		   60 + (h >> 9) % 170, (h >> 18) % 55);
	strbuf_puts(w, text);
}

void svg_label(unsigned x, uint64_t y, const char *s, size_t n, size_t most)
{
	static struct strbuf w;

	w.n = 0;
	svg_text(&w, s, n, most);
	if (w.n)
		stdout_print("<text x='%u' y='%llu'>%s</text>\n", x, (unsigned long long)y, w.text);
}
