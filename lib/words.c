/* SPDX-License-Identifier: ISC */
/* words.c - text that grows, and an event's values in it */
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "tfs.h"

void *allocate(size_t n, size_t size)
{
	void *p = calloc(n + !n, size);

	if (!p)
		die(REFUSED, "out of memory");
	return p;
}

void words_add(struct words *w, const char *s, size_t n)
{
	if (w->n + n >= w->room) {
		w->room = 2 * (w->n + n) + 1;
		w->text = realloc(w->text, w->room);
		if (!w->text)
			die(REFUSED, "out of memory");
	}
	if (n)
		memcpy(w->text + w->n, s, n);
	w->n += n;
	w->text[w->n] = '\0';
}

void words_put(struct words *w, const char *s)
{
	words_add(w, s, strlen(s));
}

/* Add a value; a control character in it ends no value and no line. */
static void add_value(struct words *w, struct part p)
{
	const char *from = p.text, *s = from, *end = s + p.n;

	for (; s < end; s++) {
		unsigned char c = (unsigned char)*s;
		char hex[8];

		if (c >= ' ' && c != 0x7f)
			continue;
		words_add(w, from, (size_t)(s - from));
		from = s + 1;
		format(hex, sizeof(hex), "\\x%c%c", "01234567"[c >> 4],
		       "0123456789abcdef"[c & 15]);
		words_put(w, c == '\n' ? "\\n" : c == '\t' ? "\\t" : hex);
	}
	words_add(w, from, (size_t)(end - from));
}

size_t words_values(struct words *w, const struct trace_line *l, const char *const *keys)
{
	size_t there = 0;

	w->n = 0;
	words_add(w, "", 0);
	for (const char *const *k = keys; *k; k++) {
		struct part p = trace_key(l, *k);

		if (k > keys)
			words_put(w, "\t");
		if (!strcmp(*k, "event"))
			words_put(w, l->prefix);
		add_value(w, p.n ? p : (struct part){ "-", 1 });
		there += p.n > 0;
	}
	return there;
}

/* Where the next field begins must stay plain. */
static int is_plain(struct part p)
{
	for (size_t i = 0; i < p.n; i++)
		if (strchr(NOT_PLAIN, p.text[i]))
			return 0;
	return p.n && p.text[p.n - 1] != ',' && p.text[p.n - 1] != ':';
}

/* Is it what a probe has for a string that it could not read? That has no quotes. */
static int is_fault(struct part p)
{
	return part_is(p, "(fault)") && p.text[-1] == '=';
}

void words_field(struct words *w, const struct trace_line *l, const char *name,
		 struct part value)
{
	if (l->json) {
		int quoted = value.text && value.text[-1] == '"';

		words_put(w, ",\"");
		words_put(w, name);
		words_put(w, "\":");
		if (value.text)
			words_add(w, value.text - quoted, value.n + 2 * (size_t)quoted);
		else
			words_put(w, "null");
		return;
	}
	words_put(w, " ");
	words_put(w, name);
	if (!value.text || is_plain(value) || is_fault(value)) {
		words_put(w, "=");
		words_add(w, value.text ? value.text : "-", value.text ? value.n : 1);
		return;
	}
	words_put(w, "=\"");
	for (size_t i = 0; i < value.n; i++)
		words_add(w, value.text[i] == '"' ? "'" : value.text + i, 1);
	words_put(w, "\"");
}

void words_line(struct words *w, const struct trace_line *l, const char *line, size_t n,
		const struct words *fields)
{
	const char *end = line + n;

	w->n = 0;
	if (!l->json) {
		words_add(w, line, n);
		words_add(w, fields->text, fields->n);
		return;
	}
	end = l->body.text + l->body.n - 1;
	words_add(w, line, (size_t)(end - line));
	/* the first of an object has no comma */
	words_add(w, fields->text + (end[-1] == '{'), fields->n - (end[-1] == '{'));
	words_add(w, end, (size_t)(line + n - end));
}
