/* SPDX-License-Identifier: ISC */
/*
 * bios.c - bios that wait for a request
 *
 * A task queues a bio (block_bio_queue), and the block layer makes requests of bios. A
 * request may consist of several bios, and a bio that is too large for a request is split.
 * struct bios keeps the parts that no request has taken yet. The bios are sorted by their
 * first sectors, and rarely overlap.
 */

#include "base/base.h"
#include "lines/lines.h"
#include "latency.h"

/*
 * The number of bios that are kept of a device. A device without any request so far may
 * pass its bios on to other devices (device mapper, RAID), or its driver may handle bios
 * without requests (zram).
 */
enum { MOST = 16384, MOST_UNSERVED = 1024 };

/* How many bios that begin before a sector are searched for one that contains it. */
enum { LOOK_BACK = 16 };

/* Return the index of the first bio that sorts after from and number. */
static size_t upper_bound(const struct bios *b, uint64_t from, uint64_t number)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct bio *v = &b->v[middle];

		if (v->from < from || (v->from == from && v->number <= number))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void free_bio(struct bio *bio)
{
	free(bio->task);
	latency_start_clear(&bio->begun);
}

static void drop(struct bios *b, size_t i)
{
	b->n--;
	memmove(b->v + i, b->v + i + 1, (b->n - i) * sizeof(*b->v));
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return ASCENDING(*x, *y);
}

static void forget_older_half(struct bios *b)
{
	uint64_t *numbers = xcalloc(b->n, sizeof(*numbers)), middle;
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		numbers[i] = b->v[i].number;
	array_sort(numbers, b->n, sizeof(*numbers), by_number);
	middle = numbers[b->n / 2];
	free(numbers);
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].number <= middle)
			free_bio(&b->v[i]);
		else
			b->v[n++] = b->v[i];
	b->n = n;
}

void bios_add(struct bios *b, const struct bio *bio)
{
	size_t i;

	if (b->n == (b->served || b->completed ? MOST : MOST_UNSERVED))
		forget_older_half(b);
	b->v = xgrow(b->v, b->n, &b->room, sizeof(*b->v));
	i = upper_bound(b, bio->from, bio->number);
	memmove(b->v + i + 1, b->v + i, (b->n - i) * sizeof(*b->v));
	b->v[i] = *bio;
	b->n++;
}

/*
 * Return the index of the bio that contains the sector; of bios that begin at the same
 * sector, the oldest. If there is none, return the index of the next bio.
 */
static size_t find(const struct bios *b, uint64_t sector)
{
	size_t i = upper_bound(b, sector, UINT64_MAX), next = i;

	for (size_t n = 0; i && n < LOOK_BACK; n++) {
		if (b->v[--i].to <= sector)
			continue;
		while (i && b->v[i - 1].from == b->v[i].from && b->v[i - 1].to > sector)
			i--;
		return i;
	}
	return next;
}

/* Add a part of a bio, with a copy of its task. */
static void add_part(struct bios *b, const struct bio *whole, uint64_t from, uint64_t to)
{
	struct bio part = *whole;

	if (from >= to)
		return;
	part.from = from;
	part.to = to;
	part.task = xstrdup(whole->task);
	bios_add(b, &part);
}

int bios_take(struct bios *b, uint64_t from, uint64_t to, struct bio *got)
{
	int found = 0;

	b->served = 1;
	while (from < to) {
		size_t i = find(b, from);
		struct bio bio;

		if (i == b->n || b->v[i].from >= to)
			break;
		bio = b->v[i];
		drop(b, i);
		latency_start_clear(&bio.begun);
		add_part(b, &bio, bio.from, from);
		add_part(b, &bio, to, bio.to);
		from = bio.to;
		if (found && (!got->unfollowed || bio.unfollowed)) {
			free(bio.task);
			continue;
		}
		if (found)
			free(got->task);
		*got = bio;
		found = 1;
	}
	return found;
}

const struct bio *bios_oldest(const struct bios *b)
{
	const struct bio *oldest = NULL;

	for (size_t i = 0; i < b->n; i++) {
		const struct bio *v = &b->v[i];

		if (!oldest || v->unfollowed < oldest->unfollowed ||
		    (v->unfollowed == oldest->unfollowed && v->number < oldest->number))
			oldest = v;
	}
	return oldest;
}

/*
 * Return the index of the oldest bio of these sectors, or else of the oldest one that begins or
 * ends at from; b->n if there is none.
 */
static size_t touching(const struct bios *b, uint64_t from, uint64_t to)
{
	size_t best = b->n;
	int exact = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct bio *v = &b->v[i];
		int same = v->from == from && v->to == to;

		if (!same && v->from != from && v->to != from)
			continue;
		if (best == b->n || same > exact ||
		    (same == exact && v->number < b->v[best].number)) {
			best = i;
			exact = same;
		}
	}
	return best;
}

void bios_end(struct bios *b, uint64_t sector)
{
	size_t i = touching(b, sector, UINT64_MAX);

	if (i == b->n)
		return;
	free_bio(&b->v[i]);
	drop(b, i);
}

int bios_complete(struct bios *b, uint64_t from, uint64_t to, struct bio *got)
{
	size_t i = touching(b, from, to);

	b->completed = 1;
	if (i == b->n)
		return 0;
	*got = b->v[i];
	drop(b, i);
	return 1;
}

void bios_clear(struct bios *b)
{
	for (size_t i = 0; i < b->n; i++)
		free_bio(&b->v[i]);
	free(b->v);
	b->v = NULL;
	b->n = b->room = 0;
}
