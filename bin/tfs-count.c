/* SPDX-License-Identifier: ISC */
/*
 * tfs-count - count the events of a trace by what they have in a key
 *
 * Requires: nothing but a trace on standard input, as text or lines of JSON.
 *	-k KEY      count by this: event (default), comm, pid, cpu, time, or a
 *	            field of the event, .NAME if it is called as one of these;
 *	            with several, by what they have together
 *	-n N        print no more than the N that are most frequent
 * At the end of the trace: a line each, the most frequent first, those as
 * frequent by name; the number, a blank, the values with a tab between. "-"
 * stands for a key that an event does not have. What the trace says of lost
 * events comes last. An interrupt from the terminal is the trace's to hear.
 * Exit: 0 done, 1 no event, 100 misused, 111 refused.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tfs.h"
#include "traceline.h"

static const struct tool tool = {
	.name = "tfs-count",
	.usage = "tfs-count [-k KEY]... [-n N]",
	.purpose = "count the events of a trace by what they have in a key",
	.letters = "k:n:",
};

struct counted {
	unsigned long long n;
	uint64_t hash;
	size_t length;
	char *values;
};

/* By hash, in the first free place from there on; half of it is free. */
struct table {
	struct counted *v;
	size_t n, room;         /* room is a power of two */
};

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die(REFUSED, "out of memory");
	return p;
}

/* FNV-1a (Fowler, Noll, Vo), 64 bits */
static uint64_t hash_of(const char *s, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	while (n--)
		h = (h ^ (unsigned char)*s++) * 0x100000001b3u;
	return h;
}

static struct counted *place(const struct table *t, const char *s, size_t n, uint64_t hash)
{
	size_t i = hash & (t->room - 1);

	for (; t->v[i].values; i = (i + 1) & (t->room - 1))
		if (t->v[i].hash == hash && t->v[i].length == n && !memcmp(t->v[i].values, s, n))
			break;
	return &t->v[i];
}

static void count(struct table *t, const char *s, size_t n)
{
	uint64_t hash = hash_of(s, n);
	struct counted *c;

	if (2 * t->n >= t->room) {
		struct table more = { .room = t->room ? 2 * t->room : 64, .n = t->n };

		more.v = allocate(more.room, sizeof(*more.v));
		for (size_t i = 0; i < t->room; i++)
			if (t->v[i].values)
				*place(&more, t->v[i].values, t->v[i].length, t->v[i].hash) =
					t->v[i];
		free(t->v);
		*t = more;
	}
	c = place(t, s, n, hash);
	if (!c->values) {
		*c = (struct counted){ .hash = hash, .length = n, .values = allocate(n + 1, 1) };
		memcpy(c->values, s, n);
		t->n++;
	}
	c->n++;
}

/* The most frequent first, then by name. */
static int order(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	if (!x->values || !y->values)
		return !x->values - !y->values;
	return x->n != y->n ? x->n < y->n ? 1 : -1 : strcmp(x->values, y->values);
}

struct words {
	char *text;
	size_t n, room;
};

static void add(struct words *w, const char *s, size_t n)
{
	if (w->n + n > w->room) {
		w->room = 2 * (w->n + n);
		w->text = realloc(w->text, w->room);
		if (!w->text)
			die(REFUSED, "out of memory");
	}
	memcpy(w->text + w->n, s, n);
	w->n += n;
}

/* The values of one event. */
static void values(struct words *w, const struct trace_line *l, const char *const *keys)
{
	w->n = 0;
	for (const char *const *k = keys; *k; k++) {
		struct part p = trace_key(l, *k);

		if (k > keys)
			add(w, "\t", 1);
		if (!strcmp(*k, "event"))
			add(w, l->prefix, strlen(l->prefix));
		add(w, p.n ? p.text : "-", p.n ? p.n : 1);
	}
}

/* The number as wide as uniq -c has it. */
static void print_one(const struct counted *c)
{
	static const char blanks[] = "       ";
	char number[24];
	size_t n = format(number, sizeof(number), "%llu", c->n);

	print("%s%s %s\n", blanks + (n < 7 ? n : 7), number, c->values);
}

static int tells_losses(const char *line)
{
	return !strncmp(line, "# lost ", 7) || !strncmp(line, "{\"lost\":", 8);
}

int main(int argc, char **argv)
{
	const char **keys = allocate((size_t)argc + 2, sizeof(*keys));
	unsigned long most = ULONG_MAX;
	struct table table = { 0 };
	struct words words = { 0 };
	struct reader in = { 0 };
	char *line, *lost = NULL;
	size_t nkeys = 0;
	ssize_t n;
	int c;

	while ((c = next_option(&tool, argc, argv)) != -1)
		if (c == 'k') {
			if (!*opt_value || !strcmp(opt_value, "."))
				misused(&tool, "not a key: '%s'", opt_value);
			keys[nkeys++] = opt_value;
		} else if (number(opt_value, 1, LONG_MAX, &most) < 0) {
			misused(&tool, "not a number: '%.80s'", opt_value);
		}
	if (argv[opt_index])
		misused(&tool, "unexpected operand '%.80s'", argv[opt_index]);
	if (!nkeys)
		keys[0] = "event";

	signal(SIGINT, SIG_IGN);
	while ((n = next_line(&in, &line)) >= 0) {
		struct trace_line l;

		if (trace_line(&l, line, (size_t)n)) {
			values(&words, &l, keys);
			count(&table, words.text, words.n);
		} else if (tells_losses(line)) {
			free(lost);
			lost = strdup(line);
			if (!lost)
				die(REFUSED, "out of memory");
		}
	}
	if (table.n)
		qsort(table.v, table.room, sizeof(*table.v), order);
	for (size_t i = 0; i < table.n && i < most; i++)
		print_one(&table.v[i]);
	if (lost)
		print("%s\n", lost);
	flush();
	return table.n ? DONE : NO;
}
