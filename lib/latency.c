/* SPDX-License-Identifier: ISC */
/* latency.c - beginnings and ends of what takes time */
#include <stdlib.h>
#include <string.h>

#include "latency.h"

void begun_clear(struct begun *b)
{
	free(b->carried);
	*b = (struct begun){ 0 };
}

static int is_of_task(const char *key)
{
	return !strcmp(key, "comm") || !strcmp(key, "pid");
}

char *task_fields(struct latency *t, const struct trace_line *l)
{
	char *s;

	t->fields.n = 0;
	for (size_t i = 0; t->keys[i]; i++)
		if (is_of_task(t->keys[i])) {
			words_field(&t->fields, l, t->names[i], trace_key(l, t->keys[i]));
			words_put(&t->fields, "\n");
		}
	if (!t->fields.n)
		return NULL;
	s = allocate(t->fields.n + 1, 1);
	memcpy(s, t->fields.text, t->fields.n);
	return s;
}

/* Put what -c carries into t->fields; comm and pid come from task, if there is one. */
static void put_carried(struct latency *t, const struct trace_line *l, const char *task)
{
	t->fields.n = 0;
	for (size_t i = 0; t->keys[i]; i++) {
		size_t n;

		if (!task || !is_of_task(t->keys[i])) {
			words_field(&t->fields, l, t->names[i], trace_key(l, t->keys[i]));
			continue;
		}
		n = strcspn(task, "\n");
		words_add(&t->fields, task, n);
		task += n + 1;
	}
}

/* Begin, and keep what is in t->fields. */
static void keep(struct latency *t, struct begun *b, const struct moment *m)
{
	begun_clear(b);
	b->time = m->time;
	b->digits = m->digits;
	if (!t->fields.n)
		return;
	b->n = t->fields.n;
	b->carried = allocate(b->n, 1);
	memcpy(b->carried, t->fields.text, b->n);
}

void begun_set(struct latency *t, struct begun *b, const struct moment *m)
{
	if (t->beginnings) {
		print("%s\n", m->line);
		t->printed++;
	}
	put_carried(t, m->l, NULL);
	keep(t, b, m);
}

void begun_set_for(struct latency *t, struct begun *b, const struct moment *m,
		   const char *task)
{
	put_carried(t, m->l, task);
	if (t->beginnings) {
		if (t->fields.n)
			words_line(&t->line, m->l, m->line, m->n, &t->fields);
		print("%s\n", t->fields.n ? t->line.text : m->line);
		t->printed++;
	}
	keep(t, b, m);
}

/* Microseconds, with three digits more where one of the times has them. */
static void put_lat(struct words *w, const struct begun *b, const struct moment *m)
{
	uint64_t lat = m->time > b->time ? m->time - b->time : b->time - m->time;
	const char *sign = m->time < b->time ? "-" : "";
	uint64_t nano = 1000 + lat % 1000;
	char text[48];

	if (m->digits < 0)
		format(text, sizeof(text), "%s%llu", sign, (unsigned long long)lat);
	else if (m->digits > 6 || b->digits > 6)
		format(text, sizeof(text), "%s%llu.%c%c%c", sign,
		       (unsigned long long)lat / 1000, '0' + (int)(nano / 100 % 10),
		       '0' + (int)(nano / 10 % 10), '0' + (int)(nano % 10));
	else
		format(text, sizeof(text), "%s%llu", sign, (unsigned long long)lat / 1000);
	words_put(w, m->l->json ? ",\"lat\":" : " lat=");
	words_put(w, text);
}

void begun_print(struct latency *t, const struct begun *b, const struct moment *m)
{
	/* a clock without a point counts what it counts */
	uint64_t unit = m->digits < 0 ? 1 : 1000;
	uint64_t least = t->least > UINT64_MAX / 1000 ? UINT64_MAX : unit * t->least;

	if (least && (m->time < b->time || m->time - b->time < least))
		return;
	t->fields.n = 0;
	words_add(&t->fields, b->carried, b->n);
	put_lat(&t->fields, b, m);
	words_line(&t->line, m->l, m->line, m->n, &t->fields);
	print("%s\n", t->line.text);
	t->printed++;
}

void key_origin(struct latency *t, const struct trace_line *l)
{
	words_put(&t->key, l->json ? "j" : "t");
	words_add(&t->key, l->host.text, l->host.n);
}

pid_t task_at(const struct trace_line *l, const char *key)
{
	struct part p = trace_key(l, key);
	char text[16];

	if (!p.n)
		return 0;
	format(text, sizeof(text), "%.*s", (int)(p.n < 16 ? p.n : 0), p.text);
	return pid_number(text);
}

int follow_task(struct latency *t, pid_t pid)
{
	size_t at = t->only.n;

	if (!pid || pids_has(&t->only, pid))
		return 0;
	if (pids_add(&t->only, pid) < 0)
		return -1;
	/* most often it is the greatest, and in its place */
	for (; at && t->only.v[at - 1] > pid; at--)
		t->only.v[at] = t->only.v[at - 1];
	t->only.v[at] = pid;
	return 0;
}

int follow_fork(struct latency *t, const struct trace_line *l)
{
	if (!pids_has(&t->only, task_at(l, ".pid")))
		return 0;
	return follow_task(t, task_at(l, "child_pid"));
}

void forget_all(struct latency *t, struct table *all, void (*fn)(struct latency *, void *))
{
	for (size_t i = 0; i < all->room; i++)
		if (all->v[i]) {
			fn(t, all->v[i]);
			free(all->v[i]);
			all->v[i] = NULL;
		}
	all->n = 0;
}
