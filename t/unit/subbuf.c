/* SPDX-License-Identifier: ISC */
/* subbuf.c - sub-buffers that are split at a time, and events lost before them */

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

int main(void)
{
	TEST(split);
	TEST(twice);
	TEST(lose);
	TEST(short);
	return unit_end();
}
