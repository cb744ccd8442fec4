/* SPDX-License-Identifier: ISC */
/* clocks.c - how the clocks of hosts differ, by the messages between them */
#include "requests/requests.h"
#include "unit.h"

enum { MOST = 3 };

static int64_t least[MOST * MOST];
static struct dt_clock v[MOST];

static struct dt_clocks align(unsigned n, int64_t unit)
{
	struct dt_clocks c = { .n = n, .unit = unit, .least = least, .v = v };

	dt_clocks_align(&c);
	EQUAL(v[0].known, CLOCK_FIRST);
	EQUAL(v[0].add, 0);
	return c;
}

static void no_messages(void)
{
	for (int i = 0; i < MOST * MOST; i++)
		least[i] = NO_MESSAGE;
}

static void test_both_ways(void)
{
	no_messages();
	least[0 * 2 + 1] = 1000 + 30; /* host 1 is 1000 ahead; 30 and 50 on the way */
	least[1 * 2 + 0] = -1000 + 50;
	EQUAL(align(2, 1).off, 0);
	EQUAL(v[1].known, CLOCK_BOTH);
	EQUAL(v[1].add, -990);
	EQUAL(v[1].within, 40 + 1); /* and the resolution of the times */
}

static void test_one_way(void)
{
	no_messages();
	least[0 * 2 + 1] = 1030;
	align(2, 1);
	EQUAL(v[1].known, CLOCK_LEAST);
	EQUAL(v[1].add, -1030);
	no_messages();
	least[1 * 2 + 0] = -950;
	align(2, 1);
	EQUAL(v[1].known, CLOCK_MOST);
	EQUAL(v[1].add, -950);
}

static void test_alone(void)
{
	no_messages();
	align(3, 1);
	EQUAL(v[1].known, CLOCK_ALONE);
	EQUAL(v[2].known, CLOCK_ALONE);
	EQUAL(v[1].add, 0);
}

/* Host 2 exchanges messages only with host 1: its clock is known through that of host 1. */
static void test_through_another(void)
{
	no_messages();
	least[0 * 3 + 1] = 100 + 10;
	least[1 * 3 + 0] = -100 + 10;
	least[1 * 3 + 2] = 50 + 10;
	least[2 * 3 + 1] = -50 + 10;
	EQUAL(align(3, 1).off, 0);
	EQUAL(v[1].add, -100);
	EQUAL(v[2].known, CLOCK_BOTH);
	EQUAL(v[2].add, -150);
	EQUAL(v[2].within, 20 + 2); /* and the resolution, for each of two clocks */
}

/* Messages that cannot all be true: each one is received before it is sent. */
static void test_contradiction(void)
{
	no_messages();
	least[0 * 2 + 1] = -100;
	least[1 * 2 + 0] = -300;
	EQUAL(align(2, 1).off, 200);
}

int main(void)
{
	TEST(both_ways);
	TEST(one_way);
	TEST(alone);
	TEST(through_another);
	TEST(contradiction);
	return unit_end();
}
