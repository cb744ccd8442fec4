/* SPDX-License-Identifier: ISC */
/* latency.c - beginnings and ends of latencies */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "proc/proc.h"
#include "lines/lines.h"
#include "latency.h"

void latency_start_clear(struct latency_start *b)
{
	free(b->carried);
	*b = (struct latency_start){ 0 };
}

/* Does the key describe the task of an event? .comm is the name in the event itself. */
static int is_of_task(const char *key)
{
	return !strcmp(key, "comm") || !strcmp(key, ".comm") || !strcmp(key, "pid");
}

char *latency_task_fields(struct latency *t, const struct trace_line *l)
{
	t->fields.n = 0;
	for (size_t i = 0; t->keys[i]; i++)
		if (is_of_task(t->keys[i])) {
			trace_line_add_field(&t->fields, l, t->names[i],
					     trace_line_key(l, t->keys[i]));
			strbuf_puts(&t->fields, "\n");
		}
	return t->fields.n ? xstrdup(t->fields.text) : NULL;
}

/* Set t->fields to the fields of -c. Take those of the task from task unless it is NULL. */
static void put_carried(struct latency *t, const struct trace_line *l, const char *task)
{
	t->fields.n = 0;
	for (size_t i = 0; t->keys[i]; i++) {
		size_t n;

		if (!task || !is_of_task(t->keys[i])) {
			trace_line_add_field(&t->fields, l, t->names[i],
					     trace_line_key(l, t->keys[i]));
			continue;
		}
		n = strcspn(task, "\n");
		strbuf_add(&t->fields, task, n);
		task += n + 1;
	}
}

/* Set b to the time of the event, and to a copy of t->fields. */
static void keep(struct latency *t, struct latency_start *b, const struct latency_event *m)
{
	latency_start_clear(b);
	b->time = m->time;
	b->digits = m->digits;
	if (!t->fields.n)
		return;
	b->n = t->fields.n;
	b->carried = xcalloc(b->n, 1);
	memcpy(b->carried, t->fields.text, b->n);
}

void latency_start_set(struct latency *t, struct latency_start *b, const struct latency_event *m)
{
	if (t->beginnings) {
		stdout_print("%s\n", m->line);
		t->printed++;
	}
	put_carried(t, m->l, NULL);
	keep(t, b, m);
}

void latency_start_set_for(struct latency *t, struct latency_start *b,
			   const struct latency_event *m, const char *task)
{
	put_carried(t, m->l, task);
	if (t->beginnings) {
		if (t->fields.n)
			trace_line_with_fields(&t->line, m->l, m->line, m->n, &t->fields);
		stdout_print("%s\n", t->fields.n ? t->line.text : m->line);
		t->printed++;
	}
	keep(t, b, m);
}

/*
 * Append the latency in microseconds, with three more digits if one of the times has
 * nanoseconds. Append the plain difference if the clock has no point.
 */
static void put_lat(struct strbuf *w, const struct latency_start *b, const struct latency_event *m)
{
	uint64_t lat = m->time > b->time ? m->time - b->time : b->time - m->time;
	const char *sign = m->time < b->time ? "-" : "";
	uint64_t nano = 1000 + lat % 1000;
	char text[48];

	if (m->digits < 0)
		str_format(text, sizeof(text), "%s%llu", sign, (unsigned long long)lat);
	else if (m->digits > 6 || b->digits > 6)
		str_format(text, sizeof(text), "%s%llu.%c%c%c", sign,
			   (unsigned long long)lat / 1000, '0' + (int)(nano / 100 % 10),
			   '0' + (int)(nano / 10 % 10), '0' + (int)(nano % 10));
	else
		str_format(text, sizeof(text), "%s%llu", sign, (unsigned long long)lat / 1000);
	strbuf_puts(w, m->l->json ? ",\"lat\":" : " lat=");
	strbuf_puts(w, text);
}

void latency_start_keep_for(struct latency *t, struct latency_start *b,
			    const struct latency_event *m, const char *task)
{
	put_carried(t, m->l, task);
	keep(t, b, m);
}

void latency_start_print(struct latency *t, const struct latency_start *b,
			 const struct latency_event *m)
{
	/* a clock without a point has its own unit */
	uint64_t unit = m->digits < 0 ? 1 : 1000;
	uint64_t least = t->least > UINT64_MAX / 1000 ? UINT64_MAX : unit * t->least;

	if (least && (m->time < b->time || m->time - b->time < least))
		return;
	t->fields.n = 0;
	strbuf_add(&t->fields, b->carried, b->n);
	put_lat(&t->fields, b, m);
	trace_line_with_fields(&t->line, m->l, m->line, m->n, &t->fields);
	stdout_print("%s\n", t->line.text);
	t->printed++;
}

static void add_origin(struct strbuf *key, const struct trace_line *l)
{
	strbuf_puts(key, l->json ? "j" : "t");
	strbuf_add(key, l->host.text, l->host.n);
}

void latency_key_origin(struct latency *t, const struct trace_line *l)
{
	add_origin(&t->key, l);
}

size_t latency_key(struct strbuf *key, const struct trace_line *l, const char *const *keys)
{
	size_t found = trace_line_values(key, l, keys);

	add_origin(key, l);
	return found;
}

pid_t latency_task(const struct trace_line *l, const char *key)
{
	struct text_part p = trace_line_key(l, key);
	char text[16];

	if (!p.n)
		return 0;
	str_format(text, sizeof(text), "%.*s", (int)(p.n < 16 ? p.n : 0), p.text);
	return text_pid(text);
}

int latency_follow_task(struct latency *t, pid_t pid)
{
	size_t at = t->only.n;

	if (!pid || pids_has(&t->only, pid))
		return 0;
	if (pids_add(&t->only, pid) < 0)
		return -1;
	/* a new pid is usually the greatest, so this loop is short */
	for (; at && t->only.v[at - 1] > pid; at--)
		t->only.v[at] = t->only.v[at - 1];
	t->only.v[at] = pid;
	return 0;
}

int latency_follow_fork(struct latency *t, const struct trace_line *l)
{
	if (!pids_has(&t->only, latency_task(l, ".pid")))
		return 0;
	return latency_follow_task(t, latency_task(l, "child_pid"));
}

void latency_forget_all(struct latency *t, struct table *all,
			void (*fn)(struct latency *, void *))
{
	for (size_t i = 0; i < all->room; i++)
		if (all->v[i])
			fn(t, all->v[i]);
	table_clear(all);
}
