/* SPDX-License-Identifier: ISC */
/* mark.c - the text of markers, and the mark lines that a request probe writes into a trace */

#include "lines/lines.h"

/* Return the text up to the next space, and move *rest after that. */
static struct text_part word(struct text_part *rest)
{
	const char *space = memchr(rest->text, ' ', rest->n);
	struct text_part p = { rest->text, space ? (size_t)(space - rest->text) : rest->n };
	size_t used = p.n + (space != NULL);

	rest->text += used;
	rest->n -= used;
	return p;
}

/* Are these the fields that --otel adds? */
static int is_context(struct text_part p)
{
	return text_part_begins(p, "otel=") || text_part_begins(p, "trace_id=");
}

struct text_part seen_marker(const struct seen *l)
{
	static const char buf[] = " buf=";
	struct text_part p = seen_body(l), e = l->event;
	const char *at;

	if (l->json && text_part_is(e, "print"))
		return seen_text(l, "buf");
	/* the address of the function, or 0, if the kernel hides its name */
	if (l->json || !p.text || *l->prefix ||
	    !(text_part_is(e, "print") || text_part_is(e, "0") || text_part_ends(e, MARKER_EVENT) ||
	      (e.n > 2 && !memcmp(e.text, "0x", 2))))
		return (struct text_part){ NULL, 0 };
	if (!text_part_is(e, "print"))
		return p;
	/* trace-cmd report: "ADDRESS: TEXT", with -R "ip=ADDRESS buf=TEXT" */
	at = p.n > 3 && !memcmp(p.text, "ip=", 3) ? memmem(p.text, p.n, buf, strlen(buf)) : NULL;
	if (at)
		at += strlen(buf);
	else if ((at = memchr(p.text, ' ', p.n)) && at > p.text && at[-1] == ':')
		at++;
	else
		at = p.text;
	return (struct text_part){ at, p.n - (size_t)(at - p.text) };
}

/* Read the numbers of a mark in a line of JSON. Return 0 or -1. */
static int numbers(struct dt_mark *m, const struct seen *l)
{
	struct text_part key = seen_text(l, "key");

	if (key.n < 3 || memcmp(key.text, "0x", 2))
		return -1;
	return text_part_number(seen_text(l, "probe"), 10, &m->id) < 0 ||
	       text_part_number(seen_text(l, "task"), 10, &m->tid) < 0 ||
	       text_part_number((struct text_part){ key.text + 2, key.n - 2 }, 16, &m->key) < 0 ?
	       -1 : 0;
}

int dt_mark(struct dt_mark *m, const struct seen *l)
{
	struct text_part p = seen_body(l), first;
	/* a manager writes the other event, for tasks that are traced from the beginning */
	const char *written = l->json ? "print" : "tracing_mark_write";
	int is_written = text_part_is(l->event, written), is_own = text_part_is(l->event, "mark");

	if (!is_written && !is_own && !text_part_is(l->event, "bpf_trace_printk"))
		return 0;
	if (l->json && is_own)
		p = seen_text(l, "what");
	/* in JSON, and in text with options/fields, a line of earlier versions is a field */
	else if (l->json || (p.n > 11 && !memcmp(p.text, "bpf_string=", 11)))
		p = seen_text(l, is_written ? "buf" : "bpf_string");
	if (l->json && is_written && p.n > 2 && !memcmp(p.text + p.n - 2, "\\n", 2))
		p.n -= 2;
	while (p.n && p.text[p.n - 1] == ' ')
		p.n--;
	if (p.n < 3)
		return 0;
	first = word(&p);
	if (first.n != 3 || memcmp(first.text, "dt", 2) || !memchr("BRME", first.text[2], 4))
		return 0;
	m->what = first.text[2];
	if (l->json && is_own)
		return !p.n && !numbers(m, l);
	return !text_part_number(word(&p), 16, &m->id) &&
	       !text_part_number(word(&p), 10, &m->tid) &&
	       !text_part_number(word(&p), 16, &m->key) && (!p.n || is_context(p));
}

struct dt_window dt_window_mark(struct dt_window *w, const struct dt_mark *m, uint64_t now)
{
	struct dt_window was = *w;

	if (m->what != 'B' && (m->what != 'E' || m->key != w->key))
		return (struct dt_window){ 0 };
	*w = (struct dt_window){ m->what == 'B', m->key, now };
	return was;
}
