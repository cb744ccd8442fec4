/* SPDX-License-Identifier: ISC */
/* traceline.c - a line of a trace, text or JSON, and a key of it */
#include "filter.h"
#include "fuzz.h"

/* It is in the line, which is so long and no longer. */
static void must_be_in(struct part p, const char *line, size_t n)
{
	if (p.n == strlen("function") && !memcmp(p.text, "function", p.n))
		return; /* no word of the line's: it has two names instead */
	if (p.text)
		must(p.text >= line && p.text <= line + n && p.n <= (size_t)(line + n - p.text));
	else
		must(!p.n);
}

static int same(struct part p, const char *s, size_t n)
{
	return p.n == n && (!n || !memcmp(p.text, s, n));
}

/*
 * What is behind the line as a field is found there, if the line is one of a plain
 * event that has none of that name, or may have one.
 */
static void must_be_carried(const struct trace_line *l, const char *line, size_t n,
			    const char *key)
{
	struct words fields = { 0 }, more = { 0 };
	struct part p = trace_key(l, key), got;
	struct trace_line again;

	if (l->json ? l->body.n < 2 || *l->body.text != '{' ||
			l->body.text[l->body.n - 1] != '}' :
		      memchr(line, '"', n) || memchr(line, '=', n) ||
		      memchr(line, ':', n) != l->time.text + l->time.n)
		return;
	words_field(&fields, l, "Carried", p);
	words_line(&more, l, line, n, &fields);
	must(trace_line(&again, more.text, more.n));
	must(same(again.event, l->event.text, l->event.n));
	got = trace_key(&again, "Carried");
	must(l->json ? 1 : same(got, p.text ? p.text : "-", p.text ? p.n : 1));
	free(fields.text);
	free(more.text);
}

static void must_be_svg(const char *s, size_t n)
{
	struct words w = { 0 };

	svg_text(&w, s, n, SIZE_MAX);
	for (size_t i = 0; i < w.n; i++)
		must((unsigned char)w.text[i] >= ' ' && !strchr("<>'\"", w.text[i]));
	free(w.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = { "comm", "pid", "cpu", "time", "event", "ret",
					    "func", "caller", "next_comm", ".pid", "call",
					    "dev", "rwbs", "sector", "nr_sector",
					    "host" };
	char *key = next_part(&data, &size), *line = malloc(size);
	struct trace_line l;
	uint64_t time;
	int point;

	must(line || !size);
	if (size)
		memcpy(line, data, size);
	if (trace_line(&l, line, size)) {
		must(l.event.n && l.time.n);
		must_be_in(trace_key(&l, key), line, size);
		must_be_in(l.tgid, line, size);
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			must_be_in(trace_key(&l, keys[i]), line, size);
		must(trace_time(&l, &time, &point) < 0 || (point >= -1 && point <= 9));
		must_be_carried(&l, line, size, key);
		must_be_carried(&l, line, size, "comm");
	}
	must_be_svg(line, size);
	free(line);
	free(key);
	return 0;
}
