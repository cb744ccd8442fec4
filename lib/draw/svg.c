/* SPDX-License-Identifier: ISC */
/* svg.c - pictures that are well-formed with any names */

#include "base/base.h"
#include "draw/draw.h"
#include "svg_script.h"

/* Return the number of bytes of the character at s, or 0 if XML does not allow it. */
static size_t character(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t len = *u < 0x80 ? 1 : text_utf8(u, n);
	int control;

	text_char(s, n, &control);
	if (control) /* XML forbids most control characters, and discourages the others */
		return 0;
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
		most = most > 4 ? most - 2 : 0;
	for (; s < end && i < most; i++) {
		size_t len = character(s, (size_t)(end - s));

		put_character(w, s, len);
		s += len + !len;
	}
	if (i && s < end)
		strbuf_puts(w, "..");
}

unsigned svg_time_unit(uint64_t ns)
{
	unsigned u = 0;

	for (; u < 3 && ns >= 1000; u++)
		ns /= 1000;
	return u;
}

void svg_time(struct strbuf *w, uint64_t ns, unsigned u, int digits)
{
	static const char *const units[] = { " ns", " us", " ms", " s" };
	char text[40];
	struct out o = out_to(text, sizeof(text));

	if (u)
		out_decimals(&o, ns, 3 * u);
	else
		out_decimal(&o, ns);
	if (u && digits >= 0)
		o.at -= 3 * (int)u - digits;
	while (u && digits < 0 && o.at[-1] == '0')
		o.at--;
	o.at -= o.at[-1] == '.';
	strbuf_format(w, "%.*s%s", (int)(o.at - text), text, units[u]);
}

void svg_number(struct strbuf *w, uint64_t hundredths)
{
	unsigned part = (unsigned)(hundredths % 100);

	strbuf_format(w, "%llu", (unsigned long long)hundredths / 100);
	if (part % 10)
		strbuf_format(w, ".%02u", part);
	else if (part)
		strbuf_format(w, ".%u", part / 10);
}

/* Append " NAME='NUMBER'"; the number is given in hundredths. */
static void put_attribute(struct strbuf *w, const char *name, uint64_t hundredths)
{
	strbuf_format(w, " %s='", name);
	svg_number(w, hundredths);
	strbuf_puts(w, "'");
}

void svg_item(struct strbuf *w, unsigned long long from, unsigned long long n)
{
	strbuf_format(w, "' data-f='%llu' data-n='%llu'><title>", from, n);
}

void svg_rect(struct strbuf *w, uint64_t x, uint64_t y, uint64_t width, uint64_t height)
{
	strbuf_puts(w, "<rect");
	put_attribute(w, "x", x);
	put_attribute(w, "y", y);
	put_attribute(w, "width", width);
	put_attribute(w, "height", height);
}

int svg_text_at(struct strbuf *w, uint64_t x, uint64_t y, const char *s, size_t n, size_t most)
{
	size_t before;

	strbuf_puts(w, "<text");
	put_attribute(w, "x", x);
	put_attribute(w, "y", y);
	strbuf_puts(w, ">");
	before = w->n;
	svg_text(w, s, n, most);
	strbuf_puts(w, "</text>");
	return w->n > before + strlen("</text>");
}

void svg_begin(uint64_t width, uint64_t height, const char *title)
{
	unsigned long long w = width, h = height;

	stdout_print("<?xml version='1.0' encoding='UTF-8'?>\n"
		     "<svg xmlns='http://www.w3.org/2000/svg' width='%llu' height='%llu' "
		     "viewBox='0 0 %llu %llu'>\n"
		     "<style>svg{background:#f8f8f8}text{font:12px monospace}"
		     "g:hover rect{stroke:#000}@media(prefers-color-scheme:dark){"
		     "svg{background:#16181c}.bg{fill:#16181c}text{fill:#ddd}"
		     "g:hover rect{stroke:#fff}}</style>\n"
		     "<rect class='bg' width='100%%' height='100%%' fill='#f8f8f8'/>\n",
		     w, h, w, h);
	svg_label(10, 20, title, strlen(title), SIZE_MAX);
}

void svg_end(void)
{
	stdout_print("</svg>\n");
}

static unsigned hash(const char *name, size_t n)
{
	unsigned h = 2166136261;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619;
	return h;
}

void svg_colour(struct strbuf *w, const char *name, size_t n)
{
	unsigned h = hash(name, n);

	strbuf_format(w, " fill='rgb(%u,%u,%u)'", 205 + (h >> 3) % 50, 60 + (h >> 9) % 170,
		      (h >> 18) % 55);
}

unsigned svg_shade(const char *name, size_t n, unsigned shades)
{
	return (hash(name, n) >> 9) % shades;
}

void svg_label(unsigned x, uint64_t y, const char *s, size_t n, size_t most)
{
	static struct strbuf w;

	svg_text(strbuf_empty(&w), s, n, most);
	if (w.n)
		stdout_print("<text x='%u' y='%llu'>%s</text>\n", x, (unsigned long long)y, w.text);
}

/* ---- pictures with a script ---------------------------------------------------------- */

static const char style[] =
#include "svg_style.h" /* svg.css */
	;

void svg_picture_begin(const struct svg_picture *p)
{
	static struct strbuf w;

	svg_text(strbuf_empty(&w), p->title, strlen(p->title), SIZE_MAX);
	stdout_print("<?xml version='1.0' encoding='UTF-8'?>\n"
		     "<svg xmlns='http://www.w3.org/2000/svg' class='%s' width='%llu' "
		     "height='%llu' viewBox='0 0 %llu %llu' data-n='%llu' data-left='%u' "
		     "data-digits='%d'%s%s%s>\n"
		     "<title>%s</title>\n<style>\n", p->kind, (unsigned long long)p->width,
		     (unsigned long long)p->height, (unsigned long long)p->width,
		     (unsigned long long)p->height, p->length, p->left, p->digits,
		     p->unit ? " data-unit='" : "", p->unit ? p->unit : "", p->unit ? "'" : "",
		     w.text);
	stdout_print("%s</style>\n<rect class='bg' width='100%%' height='100%%'/>\n", style);
}

void svg_picture_head(const struct svg_picture *p, const char *detail,
		      const struct svg_key *keys, size_t nkeys)
{
	static struct strbuf w;
	unsigned x = 10;

	w.n = 0;
	/* cut the title as the script does: the search needs space on the right */
	svg_text(&w, p->title, strlen(p->title), (size_t)(p->width - 200) * 10 / 98);
	stdout_print("<g class='head' data-height='%u'>\n"
		     "<rect class='bg' width='100%%' height='%u'/>\n"
		     "<text class='t' x='10' y='24'>%s</text>\n"
		     "<text class='detail' x='10' y='44'>%s</text>\n",
		     p->head, p->head, w.text, detail);
	for (size_t i = 0; i < nkeys; i++) {
		if (!keys[i].used)
			continue;
		svg_text(strbuf_empty(&w), keys[i].label, strlen(keys[i].label), 40);
		stdout_print("<g class='key'><rect class='%s' x='%u' y='54' width='12' "
			     "height='10'/><text x='%u' y='63'>%s</text></g>\n",
			     keys[i].kind, x, x + 16, w.text);
		x += 30 + (unsigned)strlen(keys[i].label) * SVG_LETTER / 100;
	}
}

void svg_picture_end(void)
{
	stdout_print("</g>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", svg_script);
}
