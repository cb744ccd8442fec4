/* SPDX-License-Identifier: ISC */
/* merge.c - records of several CPUs in the order of time */

#include "event/event.h"
#include "unit.h"

enum { CPUS = 3, SUBBUFS = 2, RECORDS = 4 };

/* times[cpu][sub-buffer][record]; 0: no further record */
static const uint64_t times[CPUS][SUBBUFS][RECORDS] = {
	{ { 10, 40, 40 }, { 90 } },
	{ { 20, 30, 40, 50 }, { 60, 70 } },
	{ { 5 }, { 100 } },
};
static const uint64_t expected[] = { 5, 10, 20, 30, 40, 40, 40, 50, 60, 70, 90, 100 };
static const int expected_cpu[] = { 2, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 2 };

static unsigned char bytes[CPUS][256];
static int taken[CPUS], later;

static void put(unsigned char *p, uint64_t v, int n)
{
	while (n--)
		*p++ = (unsigned char)v, v >>= 8;
}

/*
 * Make the CPU's next sub-buffer, of a little-endian machine: the time, the length of the
 * data, and records of four bytes. type_len is the low five bits of a record's header, the
 * time since the record before it is above (include/linux/ring_buffer.h).
 */
static int more(void *unused, unsigned cpu, struct subbuf *sb)
{
	const struct subbuf_format format = { .commit = 8, .commit_size = 8, .data = 16,
					      .size = 256 };
	unsigned char *p = bytes[cpu] + 16;
	const uint64_t *t;
	uint64_t last;

	(void)unused;
	if (cpu == 0 && later) {
		later--;
		return MERGE_LATER;
	}
	if (taken[cpu] == SUBBUFS)
		return MERGE_NONE;
	t = times[cpu][taken[cpu]++];
	last = *t;
	put(bytes[cpu], *t, 8);
	for (int i = 0; i < RECORDS && t[i]; i++) {
		put(p, (t[i] - last) << 5 | 1, 4);
		put(p + 4, t[i], 4);
		last = t[i];
		p += 8;
	}
	put(bytes[cpu] + 8, (uint64_t)(p - bytes[cpu] - 16), 8);
	CHECK(!subbuf_open(sb, &format, bytes[cpu], sizeof(bytes[cpu]), (int)cpu));
	return MERGE_SUBBUF;
}

/* Take all records, and continue after the records that came before. */
static size_t take(struct merge *m, size_t n)
{
	const struct record *r;
	int64_t lost;

	while ((r = merge_next(m, &lost)) != NULL) {
		CHECK(n < sizeof(expected) / sizeof(*expected));
		EQUAL(r->ts, expected[n]);
		EQUAL(r->cpu, expected_cpu[n]);
		EQUAL(lost, 0);
		n++;
	}
	return n;
}

static void test_order(void)
{
	struct merge_cpu cpus[CPUS] = { 0 };
	struct merge m = { .cpus = cpus, .n = CPUS, .more = more };

	EQUAL(take(&m, 0), sizeof(expected) / sizeof(*expected));
}

/* While a CPU may still get older records, nothing newer is given. */
static void test_later(void)
{
	struct merge_cpu cpus[CPUS] = { 0 };
	struct merge m = { .cpus = cpus, .n = CPUS, .more = more };
	size_t n;

	memset(taken, 0, sizeof(taken));
	later = 1;
	n = take(&m, 0);
	EQUAL(n, 0);
	EQUAL(take(&m, n), sizeof(expected) / sizeof(*expected));
}

int main(void)
{
	TEST(order);
	TEST(later);
	return unit_end();
}
