/* SPDX-License-Identifier: ISC */
/*
 * bios.c - bios that are queued, until a request takes them
 *
 * A task queues a bio (block_bio_queue), and the block layer makes requests of bios. A
 * request may have several bios in it, and a bio that is too large for a request is
 * split. What no request has taken yet is kept here. The bios are sorted by their first
 * sectors, and seldom have a sector in common.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "filter/filter.h"

/*
 * So many bios are kept of a device. One that has never shown a request makes none of
 * bios (device mapper, RAID), or its driver takes bios as they are (zram).
 */
enum { MOST = 16384, MOST_UNSERVED = 1024 };

/* How many bios to try that begin in front of a sector, and may go on behind it. */
enum { LOOK_BACK = 16 };

/* Return the index of the first bio behind those of from and number. */
static size_t place_behind(const struct bios *b, uint64_t from, uint64_t number)
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

static void drop(struct bios *b, size_t i)
{
	b->n--;
	memmove(b->v + i, b->v + i + 1, (b->n - i) * sizeof(*b->v));
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void forget_older_half(struct bios *b)
{
	uint64_t *numbers = xcalloc(b->n, sizeof(*numbers)), middle;
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		numbers[i] = b->v[i].number;
	qsort(numbers, b->n, sizeof(*numbers), by_number);
	middle = numbers[b->n / 2];
	free(numbers);
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].number <= middle)
			free(b->v[i].task);
		else
			b->v[n++] = b->v[i];
	b->n = n;
}

void bios_add(struct bios *b, const struct bio *bio)
{
	size_t i;

	if (b->n == (b->served ? MOST : MOST_UNSERVED))
		forget_older_half(b);
	if (b->n == b->room) {
		b->room = b->room ? 2 * b->room : 16;
		b->v = realloc(b->v, b->room * sizeof(*b->v));
		if (!b->v)
			err_exit(REFUSED, "out of memory");
	}
	i = place_behind(b, bio->from, bio->number);
	memmove(b->v + i + 1, b->v + i, (b->n - i) * sizeof(*b->v));
	b->v[i] = *bio;
	b->n++;
}

/* The bio that the sector is in, the oldest of those that begin alike; else the next. */
static size_t find(const struct bios *b, uint64_t sector)
{
	size_t i = place_behind(b, sector, UINT64_MAX), next = i;

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
	size_t n;

	if (from >= to)
		return;
	part.from = from;
	part.to = to;
	if (part.task) {
		n = strlen(part.task) + 1;
		part.task = memcpy(xcalloc(n, 1), whole->task, n);
	}
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
		add_part(b, &bio, bio.from, from);
		add_part(b, &bio, to, bio.to);
		from = bio.to;
		if (found && (!got->strangers || bio.strangers)) {
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

		if (!oldest || v->strangers < oldest->strangers ||
		    (v->strangers == oldest->strangers && v->number < oldest->number))
			oldest = v;
	}
	return oldest;
}

void bios_end(struct bios *b, uint64_t sector)
{
	size_t oldest = b->n;

	for (size_t i = 0; i < b->n; i++)
		if ((b->v[i].from == sector || b->v[i].to == sector) &&
		    (oldest == b->n || b->v[i].number < b->v[oldest].number))
			oldest = i;
	if (oldest == b->n)
		return;
	free(b->v[oldest].task);
	drop(b, oldest);
}

void bios_clear(struct bios *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->v[i].task);
	free(b->v);
	b->v = NULL;
	b->n = b->room = 0;
}
