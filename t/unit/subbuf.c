/* SPDX-License-Identifier: ISC */
/* subbuf.c - sub-buffers that are split at a time, or written; and events lost before them */

#include "event/event.h"
#include "unit.h"

enum { SIZE = 128, RECORDS = 5 };

static struct subbuf_format format;
static unsigned char data[SIZE], rest[SIZE];

static void put(unsigned char *p, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		p[format.big ? n - 1 - i : i] = (unsigned char)(v >> 8 * i);
}

/* Write the header of a record (include/linux/ring_buffer.h), and return its end. */
static unsigned char *put_header(unsigned char *p, unsigned type, uint64_t delta)
{
	put(p, format.big ? type << 27 | delta : delta << 5 | type, 4);
	return p + 4;
}

static unsigned char *put_record(unsigned char *p, uint64_t delta, unsigned value)
{
	p = put_header(p, 1, delta);
	put(p, value, 4);
	return p + 4;
}

/*
 * Make a sub-buffer with five records of four bytes: 1 at 1000, 2 and 3 at 1010, 4 at
 * 1010 + 2^27 after a time extend, and 5 at 2^40 after a time stamp.
 */
static void make(int big, unsigned word, int64_t lost)
{
	unsigned char *p = data + 8 + word;
	uint64_t flags = !lost ? 0 : lost > 0 ? 3u << 30 : 1u << 31;

	format = (struct subbuf_format){ .commit = 8, .commit_size = word, .data = 8 + word,
					 .size = SIZE, .big = big };
	memset(data, 0xee, sizeof(data));
	memset(rest, 0xee, sizeof(rest));
	put(data, 1000, 8);
	p = put_record(p, 0, 1);
	p = put_record(p, 10, 2);
	p = put_record(p, 0, 3);
	put(put_header(p, 30, 0), 1, 4);
	p = put_record(p + 8, 0, 4);
	put(put_header(p, 31, 0), 1 << 13, 4);
	p = put_record(p + 8, 0, 5);
	put(data + 8, (uint64_t)(p - data - 8 - word) | flags, word);
	if (lost > 0)
		put(p, (uint64_t)lost, word);
}

/* Check that a sub-buffer has the records from first to last, and nothing is wrong with it. */
static void has(const unsigned char *subbuf, unsigned first, unsigned last, int64_t lost)
{
	static const uint64_t times[] = { 1000, 1010, 1010, 1010 + (1 << 27), 1ull << 40 };
	struct subbuf p;
	struct record r;

	EQUAL(subbuf_open(&p, &format, subbuf, SIZE, 0), 0);
	EQUAL(p.lost, lost);
	for (unsigned i = first; i <= last; i++) {
		CHECK(subbuf_next(&p, &r));
		EQUAL(r.ts, times[i - 1]);
		EQUAL(raw_number(r.data, 4, 0, format.big), i);
	}
	CHECK(!subbuf_next(&p, &r));
	CHECK(!p.bad);
}

static void check_split(uint64_t time, unsigned kept, int big, unsigned word, int64_t lost)
{
	make(big, word, lost);
	EQUAL(subbuf_split(&format, data, SIZE, time, rest), kept < RECORDS);
	has(data, 1, kept, kept ? lost : 0);
	if (kept < RECORDS)
		has(rest, kept + 1, RECORDS, kept ? 0 : lost);
	else
		EQUAL(*rest, 0xee);
}

static void test_split(void)
{
	static const int64_t lost[] = { 0, 7, LOST_UNKNOWN };

	for (int big = 0; big < 2; big++)
		for (unsigned word = 4; word <= 8; word += 4)
			for (unsigned i = 0; i < 3; i++) {
				check_split(999, 0, big, word, lost[i]);
				check_split(1000, 1, big, word, lost[i]);
				check_split(1009, 1, big, word, lost[i]);
				check_split(1010, 3, big, word, lost[i]);
				check_split(1010 + (1 << 27), 4, big, word, lost[i]);
				check_split((1ull << 40) - 1, 4, big, word, lost[i]);
				check_split(1ull << 40, 5, big, word, lost[i]);
				check_split(UINT64_MAX, 5, big, word, lost[i]);
			}
}

/* Both parts can be split again. */
static void test_twice(void)
{
	static unsigned char more[SIZE];

	make(0, 8, 7);
	EQUAL(subbuf_split(&format, data, SIZE, 1010, rest), 1);
	EQUAL(subbuf_split(&format, data, SIZE, 1010, more), 0);
	EQUAL(subbuf_split(&format, rest, SIZE, 1011 + (1 << 27), more), 1);
	has(rest, 4, 4, 0);
	has(more, 5, 5, 0);
	EQUAL(subbuf_split(&format, data, SIZE, 1000, rest), 1);
	has(data, 1, 1, 7);
	has(rest, 2, 3, 0);
}

/* A count of lost events stays. */
static void test_lose(void)
{
	static const int64_t lost[] = { 0, 7, LOST_UNKNOWN };

	for (int big = 0; big < 2; big++)
		for (unsigned word = 4; word <= 8; word += 4)
			for (unsigned i = 0; i < 3; i++) {
				make(big, word, lost[i]);
				subbuf_lose(&format, data);
				has(data, 1, RECORDS, lost[i] ? lost[i] : LOST_UNKNOWN);
			}
}

/* A sub-buffer without records, or shorter than its header, is not split. */
static void test_short(void)
{
	make(0, 8, 0);
	put(data + 8, 0, 8);
	EQUAL(subbuf_split(&format, data, SIZE, 0, rest), 0);
	EQUAL(subbuf_split(&format, data, 4, 0, rest), 0);
	EQUAL(*rest, 0xee);
}

/* ---- the writer ---- */

enum { WRITTEN = 4096 };

static unsigned char written[WRITTEN + 8], bytes[WRITTEN];

/* Return the byte of a record at an offset: it tells the record, too. */
static unsigned char byte_of(unsigned record, size_t at)
{
	return (unsigned char)(record * 31 + at * 7 + at / 256);
}

/* Add a record of n such bytes. */
static int give(struct subbuf_writer *w, unsigned record, uint64_t ts, uint32_t n)
{
	memset(bytes, 0xee, sizeof(bytes));
	for (size_t i = 0; i < n; i++)
		bytes[i] = byte_of(record, i);
	return subbuf_add(w, ts, bytes, n);
}

/* Check the next record. Its length is the next multiple of 4, and the bytes after it are 0. */
static void takes(struct subbuf *p, unsigned record, uint64_t ts, uint32_t n)
{
	struct record r = { 0 };

	CHECK(subbuf_next(p, &r));
	EQUAL(r.ts, ts);
	EQUAL(r.len, (n + 3) & ~3u);
	for (size_t i = 0; i < r.len; i++)
		EQUAL(r.data[i], i < n ? byte_of(record, i) : 0);
}

/* Let the format be as the kernel's: the length of the data has so many bytes. */
static void begin(struct subbuf_writer *w, int big, unsigned word, int64_t lost)
{
	format = (struct subbuf_format){ .commit = 8, .commit_size = word, .data = 8 + word,
					 .size = WRITTEN, .big = big };
	memset(written, 0xee, sizeof(written));
	subbuf_begin(w, &format, written, lost);
}

/* Complete the sub-buffer, and open it for the reader. Nothing is written after it. */
static void finish(struct subbuf_writer *w, struct subbuf *p, int64_t lost)
{
	subbuf_end(w);
	for (unsigned i = 0; i < 8; i++)
		EQUAL(written[WRITTEN + i], 0xee);
	EQUAL(subbuf_open(p, &format, written, WRITTEN, 3), 0);
	EQUAL(p->lost, lost);
	EQUAL(p->cpu, 3);
	CHECK(!p->bad);
	EQUAL(subbuf_count(&format, written, WRITTEN), w->n);
}

/* Lengths up to 28 words are in the first word of a record, longer ones in another. */
static const uint32_t lengths[] = { 1, 3, 4, 5, 108, 109, 111, 112, 113, 116, 117, 300, 0 };
/* A time goes into 27 bits, or into a record before. One older than the last is the same. */
static const uint64_t steps[] = { 0, 1, (1 << 27) - 1, 1 << 27, (1 << 27) + 1, 1ull << 40,
				  (1ull << 58) + 12345, 0, 7, 1ull << 32, (1ull << 32) - 1, 2, 3 };
enum { WRITES = sizeof(lengths) / sizeof(*lengths) };
_Static_assert(WRITES == sizeof(steps) / sizeof(*steps), "a step for each length");

static void check_written(int big, unsigned word, int64_t lost)
{
	struct subbuf_writer w;
	struct subbuf p;
	struct record r;
	uint64_t ts = 1ull << 59;

	begin(&w, big, word, lost);
	for (unsigned i = 0; i < WRITES; i++)
		EQUAL(give(&w, i, ts += steps[i], lengths[i]), 0);
	EQUAL(give(&w, WRITES, ts - 5, 8), 0);
	EQUAL(give(&w, WRITES + 1, ts + 1, 8), 0);
	EQUAL(w.n, WRITES + 2);
	finish(&w, &p, lost);
	ts = 1ull << 59;
	for (unsigned i = 0; i < WRITES; i++)
		takes(&p, i, ts += steps[i], lengths[i]);
	takes(&p, WRITES, ts, 8);
	takes(&p, WRITES + 1, ts + 1, 8);
	CHECK(!subbuf_next(&p, &r));
	CHECK(!p.bad);
}

static void test_writer(void)
{
	static const int64_t lost[] = { 0, 1, 7, 1ll << 31, LOST_UNKNOWN };

	for (int big = 0; big < 2; big++)
		for (unsigned word = 4; word <= 8; word += 4)
			for (unsigned i = 0; i < sizeof(lost) / sizeof(*lost); i++)
				if (word == 8 || lost[i] < 1ll << 31)
					check_written(big, word, lost[i]);
}

/*
 * Fill sub-buffers with records of one length, each a time extend after the last one, or not. What
 * does not fit is refused, changes nothing, and there is room for the number of lost events.
 */
static void check_full(int big, uint32_t n, uint64_t step, int64_t lost)
{
	struct subbuf_writer w;
	struct subbuf p;
	struct record r;
	uint64_t ts = 5;
	unsigned all = 0;
	size_t used;

	begin(&w, big, 8, lost);
	while (!give(&w, all, ts + step * all, n))
		all++;
	EQUAL(give(&w, all, ts + step * all, n), -1);
	EQUAL(w.n, all);
	used = (size_t)(all * (((n + 3) & ~3u) + (n > 112 ? 8 : 4)) +
			(all - 1) * (step >> 27 ? 8 : 0));
	EQUAL(w.at, 16 + used);
	/* no more would fit */
	CHECK(WRITTEN - w.at < ((n + 3) & ~3u) + 8 + 8 + 8);
	finish(&w, &p, lost);
	for (unsigned i = 0; i < all; i++)
		takes(&p, i, ts + step * i, n);
	CHECK(!subbuf_next(&p, &r));
	CHECK(!p.bad);
}

static void test_full(void)
{
	static const int64_t lost[] = { 0, 9, LOST_UNKNOWN };

	for (int big = 0; big < 2; big++)
		for (unsigned i = 0; i < 3; i++)
			for (uint32_t n = 1; n <= SUBBUF_MOST; n += n < 140 ? 1 : 193) {
				check_full(big, n, 3, lost[i]);
				check_full(big, n, 1 << 27, lost[i]);
			}
}

/* The longest record fits into an empty sub-buffer, in any case; one that is longer does not. */
static void test_longest(void)
{
	struct subbuf_writer w;
	struct subbuf p;

	for (int big = 0; big < 2; big++)
		for (int64_t lost = -1; lost < 2; lost++) {
			begin(&w, big, 8, lost);
			EQUAL(give(&w, 1, 1ull << 40, SUBBUF_MOST), 0);
			finish(&w, &p, lost);
			takes(&p, 1, 1ull << 40, SUBBUF_MOST);
		}
	begin(&w, 0, 8, 0);
	EQUAL(subbuf_add(&w, 1, bytes, WRITTEN), -1);
	EQUAL(w.n, 0);
	finish(&w, &p, 0);
}

/* What is written can be split as the kernel's. */
static void test_split_written(void)
{
	static unsigned char other[WRITTEN];
	struct subbuf_writer w;
	struct subbuf p;

	begin(&w, 0, 8, 4);
	for (unsigned i = 0; i < 5; i++)
		EQUAL(give(&w, i, 100 + i * (1ull << 30), 50 * i + 1), 0);
	finish(&w, &p, 4);
	EQUAL(subbuf_split(&format, written, WRITTEN, 100 + 2 * (1ull << 30), other), 1);
	EQUAL(subbuf_count(&format, written, WRITTEN), 3);
	EQUAL(subbuf_open(&p, &format, other, WRITTEN, 0), 0);
	for (unsigned i = 3; i < 5; i++)
		takes(&p, i, 100 + i * (1ull << 30), 50 * i + 1);
}

int main(void)
{
	TEST(split);
	TEST(twice);
	TEST(lose);
	TEST(short);
	TEST(writer);
	TEST(full);
	TEST(longest);
	TEST(split_written);
	return unit_end();
}
