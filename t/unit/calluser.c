/* SPDX-License-Identifier: ISC */
/* calluser.c - user memory of calls, from records of a trace */
#include "calls/calls.h"
#include "unit.h"

static struct call_user u;

static int give(const char *record)
{
	return call_user_add(&u, record, strlen(record));
}

/* Compare the bytes of an argument. */
static int holds(unsigned arg, const char *bytes, size_t n)
{
	return u.args[arg].bytes && u.args[arg].n == n && !memcmp(u.args[arg].bytes, bytes, n);
}

static void test_strings(void)
{
	EQUAL(give("b1 /etc/"), 0);
	EQUAL(give("a1 passwd"), 0);
	CHECK(holds(1, "/etc/passwd", 11));
	CHECK(!u.args[1].cut && !u.args[1].fault);
	EQUAL(give("a0 "), 0);
	CHECK(holds(0, "", 0));
	EQUAL(give("c2 abc"), 0);
	CHECK(holds(2, "abc", 3));
	EQUAL(u.args[2].cut, 1);
	EQUAL(give("x3"), 0);
	EQUAL(u.args[3].fault, 1);
	CHECK(!u.args[3].bytes && !u.args[4].bytes && !u.args[5].bytes);
	call_user_clear(&u);
	for (unsigned i = 0; i < CALL_ARGS; i++)
		CHECK(!u.args[i].bytes && !u.args[i].n && !u.args[i].cut && !u.args[i].fault);
	EQUAL(give("a1 x"), 0);
	CHECK(holds(1, "x", 1));
	call_user_clear(&u);
}

static void test_arrays(void)
{
	EQUAL(give("s1"), 0);
	EQUAL(give("a1 ls"), 0);
	EQUAL(give("s1"), 0);
	EQUAL(give("b1 -"), 0);
	EQUAL(give("a1 l"), 0);
	EQUAL(give("s1"), 0);
	EQUAL(give("a1 "), 0);
	CHECK(holds(1, "ls\0-l\0", 7));
	EQUAL(give("s1"), 0);
	EQUAL(give("c1 lo"), 0);
	CHECK(holds(1, "ls\0-l\0\0lo", 9));
	EQUAL(give("s1"), 0);
	CHECK(holds(1, "ls\0-l\0\0lo", 10));
	call_user_clear(&u);
	EQUAL(give("a1 ls"), 0);
	CHECK(holds(1, "ls", 2));
	call_user_clear(&u);
}

/* Parts that should follow b or s may be missing. */
static void test_missing_parts(void)
{
	EQUAL(give("b0 /etc"), 0);
	EQUAL(u.args[0].cut, 1);
	EQUAL(give("s1"), 0);
	EQUAL(give("a1 x"), 0);
	EQUAL(u.args[1].cut, 0);
	EQUAL(give("s1"), 0);
	EQUAL(u.args[1].cut, 1);
	CHECK(holds(1, "x", 2));
	EQUAL(give("s1"), 0);
	EQUAL(give("a1 y"), 0);
	EQUAL(u.args[1].cut, 0);
	EQUAL(give("e1"), 0);
	EQUAL(u.args[1].cut, 1);
	CHECK(holds(1, "x\0y", 4));
	EQUAL(give("c2 x"), 0);
	EQUAL(give("s2"), 0);
	EQUAL(give("a2 y"), 0);
	EQUAL(u.args[2].cut, 1);
	call_user_clear(&u);
	EQUAL(give("e2"), 0);
	EQUAL(u.args[2].cut, 1);
	CHECK(holds(2, "", 0));
	call_user_clear(&u);
	EQUAL(u.compat, 0);
	EQUAL(give("k"), 0);
	EQUAL(u.compat, 1);
	EQUAL(give("k1"), -1);
	call_user_clear(&u);
	EQUAL(u.compat, 0);
}

static void test_words(void)
{
	for (u.big = 0; u.big < 2; u.big++) {
		const char *first = "\x02\0\0\x50\x7f\0\0\x01", *other = "\x01\0\0\x7f\x50\0\0\x02";

		EQUAL(give("d5 100007f50000002 0"), 0);
		CHECK(holds(5, u.big ? "\x01\0\0\x7f\x50\0\0\x02\0\0\0\0\0\0\0" :
			       "\x02\0\0\x50\x7f\0\0\x01\0\0\0\0\0\0\0", 16));
		CHECK(!memcmp(u.args[5].bytes, u.big ? other : first, 8));
		EQUAL(give("e5 ffffffffffffffff"), 0);
		EQUAL(u.args[5].n, 24);
		EQUAL(u.args[5].cut, 1);
		call_user_clear(&u);
	}
	u.big = 0;
}

static void test_others(void)
{
	static const char *const wrong[] = { "", "a", "a6 x", "a: x", "ax x", "a1x", "q1 x", "d1",
		"d1 ", "d1 g", "d1  1", "d1 1 2 3 4 5 6 7 8 9 a b c d", "d1 11111111111111111" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		unit_checks++;
		if (give(wrong[i]) != -1)
			UNIT_FAIL("'%s' is taken", wrong[i]);
		call_user_clear(&u);
	}
}

static void test_much(void)
{
	char part[103] = "b0 ";

	memset(part + 3, 'y', 99);
	for (int i = 0; i < 1000; i++)
		EQUAL(give(part), 0);
	EQUAL(u.args[0].n, CALL_USER_MOST);
	EQUAL(u.args[0].cut, 1);
	CHECK(call_user_room(&u) < 4 * CALL_USER_MOST);
	EQUAL(call_user_set(&u, 0, "abc", 3), 0);
	CHECK(holds(0, "abc", 3));
	EQUAL(u.args[0].cut, 0);
	call_user_free(&u);
	CHECK(call_user_room(&u) == sizeof(u));
}

int main(void)
{
	TEST(strings);
	TEST(arrays);
	TEST(missing_parts);
	TEST(words);
	TEST(others);
	TEST(much);
	return unit_end();
}
