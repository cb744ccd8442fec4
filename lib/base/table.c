/* SPDX-License-Identifier: ISC */
/*
 * table.c - hash table from keys to entries
 *
 * An entry is in the slot of its hash or in the next free slot after it (linear
 * probing). At least half of the slots are free.
 */
#include <sys/auxv.h>

#include "base/base.h"

/* The hash starts with a random number, so that no user can choose keys that collide. */
static uint64_t hash_of(const char *s, size_t n)
{
	static uint64_t begin;
	uint64_t h;

	if (!begin) {
		const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);

		begin = TEXT_HASH;
		if (random)
			memcpy(&begin, random, sizeof(begin));
		begin += !begin;
	}
	h = text_hash(begin, s, n);
	return h ^ h >> 32;
}

/* Return the slot of the key, or the free slot where the key belongs. */
static struct table_entry **slot_of(const struct table *t, const char *s, size_t n, uint64_t hash)
{
	size_t i = (size_t)hash & (t->room - 1);

	for (; t->v[i]; i = (i + 1) & (t->room - 1))
		if (t->v[i]->hash == hash && t->v[i]->n == n && !memcmp(t->v[i]->key, s, n))
			break;
	return &t->v[i];
}

void *table_next(const struct table *t, size_t *i)
{
	while (*i < t->room)
		if (t->v[(*i)++])
			return t->v[*i - 1];
	return NULL;
}

static void grow(struct table *t)
{
	struct table more = { .size = t->size, .n = t->n, .room = t->room ? 2 * t->room : 64 };
	struct table_entry *e;

	more.v = xcalloc(more.room, sizeof(*more.v));
	for (size_t i = 0; (e = table_next(t, &i));)
		*slot_of(&more, e->key, e->n, e->hash) = e;
	free(t->v);
	*t = more;
}

void *table_find(const struct table *t, const char *key, size_t n)
{
	return t->n ? *slot_of(t, key, n, hash_of(key, n)) : NULL;
}

void *table_at(struct table *t, const char *key, size_t n)
{
	uint64_t hash = hash_of(key, n);
	struct table_entry **e;

	if (2 * t->n >= t->room)
		grow(t);
	e = slot_of(t, key, n, hash);
	if (!*e) {
		*e = xcalloc(t->size + n + 1, 1);
		**e = (struct table_entry){ hash, n, (char *)*e + t->size };
		memcpy((*e)->key, key, n);
		t->n++;
	}
	return *e;
}

void table_remove(struct table *t, void *entry)
{
	const struct table_entry *gone = entry;
	size_t mask = t->room - 1;
	struct table_entry **e = slot_of(t, gone->key, gone->n, gone->hash);
	size_t hole = (size_t)(e - t->v);

	/* move up each entry after the hole that a search could no longer reach */
	for (size_t i = (hole + 1) & mask; t->v[i]; i = (i + 1) & mask)
		if (((i - t->v[i]->hash) & mask) >= ((i - hole) & mask)) {
			t->v[hole] = t->v[i];
			hole = i;
		}
	t->v[hole] = NULL;
	t->n--;
	free(entry);
}

void table_clear(struct table *t)
{
	for (size_t i = 0; i < t->room; i++) {
		free(t->v[i]);
		t->v[i] = NULL;
	}
	t->n = 0;
}

void table_sort(struct table *t, int (*compare)(const void *, const void *))
{
	struct table_entry *e;
	size_t n = 0;

	for (size_t i = 0; (e = table_next(t, &i)); t->v[n++] = e)
		t->v[i - 1] = NULL;
	if (n)
		array_sort(t->v, n, sizeof(*t->v), compare);
}

int table_by_key(const void *a, const void *b)
{
	const struct table_entry *x = *(struct table_entry *const *)a;
	const struct table_entry *y = *(struct table_entry *const *)b;
	int differ = memcmp(x->key, y->key, x->n < y->n ? x->n : y->n);

	return differ ? differ : (x->n > y->n) - (x->n < y->n);
}
