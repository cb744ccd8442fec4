/* SPDX-License-Identifier: ISC */
/* hosttrace.c - one host's trace, line by line */
#include <string.h>

#include "join.h"

int host_next(struct host *h)
{
	ssize_t n = next_line(&h->in, &h->line);
	uint64_t time;

	h->there = n >= 0;
	if (!h->there)
		return 0;
	h->n = (size_t)n;
	/* a line of text has none; what has is a stranger's */
	for (char *nul; (nul = memchr(h->line, '\0', h->n)); *nul = '?')
		;
	/* a stack is no event and has a time, and so is a gap in JSON */
	h->event = trace_line(&h->l, h->line, h->n);
	h->timed = (h->event || h->l.stack || h->l.json) &&
		   trace_time(&h->l, &time, &h->digits_now) == 0 && time < TIME_MOST;
	if (!h->timed)
		return 1;
	if (h->digits_now < 0)
		die(REFUSED, "unable to join %s: its clock counts and has no seconds", h->file);
	if (h->digits_now > h->digits)
		h->digits = h->digits_now;
	h->time = (int64_t)time;
	return 1;
}

int host_rank(const struct host *h)
{
	struct dt_mark m;

	if (!h->timed)
		return 0;
	return h->event && dt_mark(&m, &h->l) && (m.what == 'B' || m.what == 'R') ? 2 : 1;
}

void words_seconds(struct words *w, int64_t time, int digits)
{
	char text[32];

	format(text, sizeof(text), "%llu", (unsigned long long)(time / SECOND));
	words_put(w, text);
	/* a digit too many in front, so that no zero is lost */
	format(text, sizeof(text), "%llu", (unsigned long long)(time % SECOND + SECOND));
	*text = '.';
	words_add(w, text, digits ? (size_t)digits + 1 : 0);
}

static void put_blanks(struct words *w, size_t n)
{
	while (n--)
		words_put(w, " ");
}

void host_print(const struct host *h, size_t wide)
{
	static struct words w, time;
	const char *line = h->line, *end = line + h->n;
	int json = h->n > 1 && *line == '{' && end[-1] == '}';

	w.n = 0;
	if (!json) {
		words_put(&w, h->name);
		put_blanks(&w, wide - strlen(h->name));
		words_put(&w, " | ");
	}
	if (h->timed) {
		const char *from = h->l.time.text, *to = from + h->l.time.n;
		size_t n, was;

		/* it is as wide as it was with the blanks in front, but for one */
		while (!h->l.json && from - line > 1 && from[-2] == ' ')
			from--;
		was = (size_t)(to - from);
		words_add(&w, line, (size_t)(from - line));
		time.n = 0;
		words_seconds(&time, h->time, h->digits_now);
		n = time.n;
		put_blanks(&w, !h->l.json && n < was ? was - n : 0);
		words_add(&w, time.text, n);
		line = to;
	}
	words_add(&w, line, (size_t)(end - line) - (size_t)json);
	if (json) {
		words_put(&w, w.n > 1 ? ",\"host\":\"" : "\"host\":\"");
		words_put(&w, h->name);
		words_put(&w, "\"}");
	}
	print("%s\n", w.text);
}
