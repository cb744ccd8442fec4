/* SPDX-License-Identifier: ISC */
/* latency.c - beginnings and ends of latencies */

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "lines/lines.h"
#include "latency.h"

void latency_event_set(struct latency *t, struct latency_event *m, const struct seen *l)
{
	strbuf_puts(strbuf_empty(&t->event), l->prefix);
	strbuf_add(&t->event, l->event.text, l->event.n);
	m->l = l;
	m->event = t->event.text;
}

void latency_start_clear(struct latency_start *b)
{
	free(b->carried);
	free(b->context);
	*b = (struct latency_start){ 0 };
}

/* Does the key describe the task of an event? .comm is the name in the event itself. */
static int is_of_task(const char *key)
{
	return !strcmp(key, "comm") || !strcmp(key, ".comm") || !strcmp(key, "pid");
}

char *latency_task_fields(struct latency *t, const struct seen *l)
{
	strbuf_puts(strbuf_empty(&t->fields), "");
	for (size_t i = 0; t->keys[i]; i++)
		if (is_of_task(t->keys[i])) {
			seen_add_field(&t->fields, l, t->names[i],
				       seen_text(l, t->keys[i]));
			strbuf_puts(&t->fields, "\n");
		}
	strbuf_add(&t->fields, l->context.text, l->context.n);
	return xstrdup(t->fields.text);
}

void latency_start_keep(struct latency *t, struct latency_start *b, const struct latency_event *m,
			const char *task)
{
	latency_start_clear(b);
	b->time = m->time;
	b->digits = m->digits;
	t->fields.n = 0;
	for (size_t i = 0; t->keys[i]; i++)
		if (task && is_of_task(t->keys[i])) {
			size_t n = strcspn(task, "\n");

			strbuf_add(&t->fields, task, n);
			task += n + 1;
		} else {
			seen_add_field(&t->fields, m->l, t->names[i],
				       seen_text(m->l, t->keys[i]));
		}
	if (task)
		b->context = xstrdup(task);
	if (!t->fields.n)
		return;
	b->n = t->fields.n;
	b->carried = xcalloc(b->n, 1);
	memcpy(b->carried, t->fields.text, b->n);
}

/* Set t->line to the line of the event with t->fields and the context of the beginning. */
static void add_fields(struct latency *t, const struct latency_start *b,
		       const struct latency_event *m)
{
	struct text_part context = { b->context, b->context ? strlen(b->context) : 0 };

	seen_with_fields(&t->line, m->l, m->line, m->n, &t->fields,
			 b->context ? context : m->l->context);
}

void latency_start_set(struct latency *t, struct latency_start *b, const struct latency_event *m,
		       const char *task)
{
	latency_start_keep(t, b, m, task);
	if (!t->beginnings)
		return;
	if (task && b->n)
		add_fields(t, b, m);
	stdout_print("%s\n", task && b->n ? t->line.text : m->line);
	t->printed++;
}

struct decimal latency_start_time(const struct latency_start *b, const struct latency_event *m)
{
	uint64_t lat = m->time > b->time ? m->time - b->time : b->time - m->time;
	struct decimal v = { .negative = m->time < b->time, .whole = lat };

	if (m->digits >= 0) {
		v.whole = lat / 1000;
		v.nano = (uint32_t)(lat % 1000) * 1000000;
	}
	return v;
}

void latency_start_print(struct latency *t, const struct latency_start *b,
			 const struct latency_event *m)
{
	struct decimal lat = latency_start_time(b, m);
	char text[DECIMAL_TEXT];

	if (t->least && (lat.negative || lat.whole < t->least))
		return;
	/* three more digits if one of the times has nanoseconds */
	decimal_text(text, &lat, m->digits > 6 || (m->digits >= 0 && b->digits > 6));
	strbuf_add(strbuf_empty(&t->fields), b->carried, b->n);
	strbuf_format(&t->fields, m->l->json ? ",\"lat\":%s" : " lat=%s", text);
	add_fields(t, b, m);
	stdout_print("%s\n", t->line.text);
	t->printed++;
}

void latency_key_origin(struct latency *t, const struct seen *l)
{
	strbuf_puts(&t->key, l->json ? "j" : "t");
	strbuf_add(&t->key, l->host.text, l->host.n);
}

size_t latency_key(struct latency *t, const struct seen *l, const char *const *keys)
{
	size_t found = seen_values(&t->key, l, keys);

	latency_key_origin(t, l);
	for (; *keys; keys++)
		if (seen_is_idle(l, *keys))
			strbuf_format(&t->key, " cpu %.*s", (int)l->cpu.n, l->cpu.text);
	return found;
}

pid_t latency_task(const struct seen *l, const char *key)
{
	struct text_part p = seen_text(l, key);
	char text[16];

	if (!p.n)
		return 0;
	str_format(text, sizeof(text), "%.*s", (int)(p.n < 16 ? p.n : 0), p.text);
	return text_pid(text);
}

int latency_unselected(const struct latency *t, const struct seen *l)
{
	return t->only.n && !pids_has(&t->only, latency_task(l, "pid"));
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

int latency_follow_child(struct latency *t, const struct seen *l)
{
	const char *child, *comm;

	if (!t->only.n || !seen_born(l, &child, &comm) ||
	    !pids_has(&t->only, latency_task(l, "pid")))
		return 0;
	return latency_follow_task(t, latency_task(l, child));
}

void latency_forget_all(struct latency *t, struct table *all,
			void (*fn)(struct latency *, void *))
{
	for (size_t i = 0; i < all->room; i++)
		if (all->v[i])
			fn(t, all->v[i]);
	table_clear(all);
}
