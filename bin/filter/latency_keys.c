/* SPDX-License-Identifier: ISC */
/*
 * latency_keys.c - pairs of events whose keys have the same values
 *
 * A beginning stays open until an event with the same values ends it. With a suffix, the pairs are
 * the calls and returns of functions, which are nested: an open call goes on around a later one.
 */

#include "base/base.h"
#include "proc/proc.h"
#include "lines/lines.h"
#include "latency.h"

/* An open call, in which a later call of the same function began. */
struct caller {
	struct latency_start begun;
	struct caller *next;
};

/*
 * Put the values of the keys into t->key; with a suffix also the name of the function, which is
 * t->event. Return -1 if the event has none of the keys.
 */
static int make_key(struct latency *t, const struct latency_half *h, const struct seen *l)
{
	size_t found = latency_key(t, l, h->keys);

	if (t->suffix)
		strbuf_format(&t->key, " %s", t->event.text);
	return found ? 0 : -1;
}

/* Return the entry of t->key, or NULL. */
static struct keyed *find(struct latency *t)
{
	return table_find(&t->open, t->key.text, t->key.n);
}

static struct keyed *keyed_begin(struct latency *t, const struct seen *l)
{
	struct keyed *k;

	if (make_key(t, &t->first, l) < 0)
		return NULL;
	k = table_at(&t->open, t->key.text, t->key.n);
	if (t->suffix && k->open) {
		struct caller *c = xcalloc(1, sizeof(*c));

		*c = (struct caller){ k->begun, k->callers };
		k->callers = c;
		k->begun = (struct latency_start){ 0 };
	} else {
		t->no_end += (unsigned)k->open;
	}
	k->open = 1;
	return k;
}

static struct keyed *keyed_end(struct latency *t, const struct seen *l)
{
	return make_key(t, &t->last, l) < 0 ? NULL : find(t);
}

static void keyed_close(struct latency *t, struct keyed *k)
{
	struct caller *c = k->callers;

	latency_start_clear(&k->begun);
	if (!c) {
		table_remove(&t->open, k);
		return;
	}
	k->begun = c->begun;
	k->callers = c->next;
	free(c);
}

/*
 * Begin a pair. If -p does not select the task, and a beginning of a selected task is open by the
 * same key, the end of that one is missing: count and close it.
 */
static void begin(struct latency *t, const struct latency_event *m)
{
	struct keyed *k;

	if (!latency_unselected(t, m->l)) {
		if (t->once && !make_key(t, &t->first, m->l) && find(t))
			return;
		k = keyed_begin(t, m->l);
		if (k)
			latency_start_set(t, &k->begun, m, NULL);
		else
			t->no_end++;
		return;
	}
	k = make_key(t, &t->first, m->l) < 0 ? NULL : find(t);
	if (k) {
		t->no_end++;
		keyed_close(t, k);
	}
}

static void end(struct latency *t, const struct latency_event *m)
{
	struct keyed *k = keyed_end(t, m->l);

	if (k) {
		latency_start_print(t, &k->begun, m);
		keyed_close(t, k);
	} else if (t->only.n) {
		return; /* most ends belong to other tasks */
	} else if (t->ends) {
		stdout_print("%s\n", m->line);
		t->printed++;
	} else {
		t->no_begin++;
	}
}

static int event(struct latency *t, const struct latency_event *m)
{
	size_t n = t->suffix ? strlen(t->suffix) : 0;

	if (t->suffix && m->l->stack)
		return 0;
	if (t->suffix && (t->event.n <= n || strcmp(m->event + t->event.n - n, t->suffix))) {
		end(t, m);
	} else if (t->suffix) {
		t->event.n -= n;
		t->event.text[t->event.n] = '\0';
		begin(t, m);
	} else {
		/* if both globs match an event, end the open pair before beginning the next */
		if (glob_matches(t->last.event, m->event))
			end(t, m);
		if (glob_matches(t->first.event, m->event))
			begin(t, m);
	}
	return 0;
}

static void forget_one(struct latency *t, void *entry)
{
	struct keyed *k = entry;

	for (struct caller *c; (c = k->callers); t->no_end++) {
		latency_start_clear(&c->begun);
		k->callers = c->next;
		free(c);
	}
	t->no_end++;
	latency_start_clear(&k->begun);
}

static void forget(struct latency *t)
{
	latency_forget_all(t, &t->open, forget_one);
}

const struct latency_matcher latency_keys = { sizeof(struct keyed), event, forget };

/* ---- -d: drop the ends that have a beginning --------------------------------------- */

/* Return the number of the CPU at s, or ULLONG_MAX if there is none. */
static unsigned long long cpu_at(const char *s)
{
	return *s >= '0' && *s <= '9' ? text_digits(&s) : ULLONG_MAX;
}

/*
 * Close the beginnings on the CPU of a line about lost events: "CPU:1 [LOST 3 EVENTS]", or in
 * JSON "cpu":1. The lost events of a CPU contain no end of a beginning on another CPU.
 */
static void forget_cpu(struct latency *t, const char *line)
{
	const char *json = strstr(line, "\"cpu\":"), *text = strstr(line, "CPU:");
	unsigned long long cpu = cpu_at(json ? json + 6 : text ? text + 4 : "");
	struct keyed *k;

	for (size_t i = 0; (k = table_next(&t->open, &i));)
		if (k->cpu == cpu)
			k->open = 0;
}

/* Is the line a stack: in text the line above the frames, in JSON an event? */
static int is_stack(const struct seen *l)
{
	return l->stack || (l->json && (text_part_is(l->event, "kernel_stack") ||
					text_part_is(l->event, "user_stack")));
}

/*
 * Store for the CPU of this line whether the event was dropped, because a following stack on the
 * same CPU belongs to that event. With dropped -1, store nothing. Return the stored value.
 */
static int last_was_dropped(struct latency *t, const struct seen *l, int dropped)
{
	static const char *const cpu[] = { "cpu", NULL };
	struct keyed *k;

	latency_key(t, l, cpu);
	strbuf_puts(&t->key, " last");
	k = dropped > 0 ? table_at(&t->open, t->key.text, t->key.n) : find(t);
	if (!k)
		return 0;
	if (dropped >= 0)
		k->dropped = dropped;
	return k->dropped;
}

/* Return 1 if the event is an end with an open beginning. Otherwise store a beginning. */
static int drops(struct latency *t, const struct latency_event *m)
{
	struct keyed *k;
	int open;

	if (!glob_matches(t->last.event, m->event)) {
		k = glob_matches(t->first.event, m->event) ? keyed_begin(t, m->l) : NULL;
		if (k)
			k->cpu = cpu_at(m->l->cpu.text);
		return 0;
	}
	k = keyed_end(t, m->l);
	open = k && k->open;
	if (k)
		table_remove(&t->open, k);
	return open;
}

void keyed_drop_ends(struct latency *t, char *line, size_t n)
{
	static int below; /* the head line of a stack was dropped, so drop the frames too */
	struct latency_event m = { .line = line, .n = n };
	struct seen l;
	int event_line = seen_line(&l, line, n), dropped;

	if (below && !strncmp(line, " => ", 4))
		return;
	below = is_stack(&l) && last_was_dropped(t, &l, -1);
	if (below)
		return;
	if (event_line && !is_stack(&l)) {
		latency_event_set(t, &m, &l);
		dropped = drops(t, &m);
		last_was_dropped(t, &l, dropped);
		if (dropped)
			return;
		t->printed++;
	} else if (comments_is_gap(line)) {
		forget_cpu(t, line);
	}
	stdout_print("%s\n", line);
}
