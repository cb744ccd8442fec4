/* SPDX-License-Identifier: ISC */
/* host.c - read and print the trace of one host, line by line */

#include "base/base.h"
#include "lines/lines.h"
#include "requests.h"

int dt_host_next(struct dt_host *h)
{
	ssize_t n = line_read(&h->in, &h->line);
	uint64_t time;
	int64_t offset;

	h->date = -1;
	h->there = n >= 0;
	if (!h->there)
		return h->in.failed ? -1 : 0;
	h->n = (size_t)n;
	/* replace NUL bytes, which only a damaged or hostile trace has */
	text_mask_nul(h->line, h->n);
	/* the head of a stack and a "lost" line of JSON have a time, too, but are not events */
	h->event = comments_event(&h->comments, &h->l, h->line, h->n);
	h->timed = (h->event || h->l.stack || h->l.json) &&
		   seen_time(&h->l, &time, &h->digits_now) == 0 && time < TIME_MOST;
	/* the line of the date stays where it is: its time may be later than the next event */
	if (!h->timed && !comments_date(h->line, &h->l.time, &h->date, &offset))
		return 1;
	if (!h->timed)
		h->digits_now = 6;
	if (h->digits_now < 0)
		return err_msg("unable to join %s: its trace clock does not count seconds",
			       h->file);
	if (h->digits_now > h->digits)
		h->digits = h->digits_now;
	if (h->timed)
		h->time = (int64_t)time;
	return 1;
}

int dt_host_rank(const struct dt_host *h)
{
	struct dt_mark m;

	if (!h->timed)
		return 0;
	return h->event && dt_mark(&m, &h->l) && (m.what == 'B' || m.what == 'R') ? 2 : 1;
}

void strbuf_seconds(struct strbuf *w, int64_t time, int digits)
{
	strbuf_format(w, "%llu.%09llu", (unsigned long long)(time / DT_SECOND),
		      (unsigned long long)(time % DT_SECOND));
	w->n -= digits ? 9 - (size_t)digits : 10;
	w->text[w->n] = '\0';
}

void dt_host_print(const struct dt_host *h, size_t wide)
{
	static struct strbuf w, time;
	const char *line = h->line, *end = line + h->n;
	int json = h->n > 1 && *line == '{' && end[-1] == '}';

	w.n = 0;
	if (!json) {
		strbuf_format(&w, "%-*s | ", (int)wide, h->name);
	}
	if (h->timed || h->date >= 0) {
		const char *from = h->l.time.text, *to = from + h->l.time.n;

		/* the new time takes the columns of the old one and its spaces, except one */
		while (!h->l.json && from - line > 1 && from[-2] == ' ')
			from--;
		strbuf_add(&w, line, (size_t)(from - line));
		strbuf_seconds(strbuf_empty(&time), h->timed ? h->time : h->date, h->digits_now);
		strbuf_format(&w, "%*s", h->timed && !h->l.json ? (int)(to - from) : 0, time.text);
		line = to;
	}
	strbuf_add(&w, line, (size_t)(end - line) - (size_t)json);
	if (json)
		strbuf_format(&w, "%s\"host\":\"%s\"}", w.n > 1 ? "," : "", h->name);
	stdout_print("%s\n", w.text);
}
