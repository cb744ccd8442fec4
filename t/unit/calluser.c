/* SPDX-License-Identifier: ISC */
/* calluser.c - user memory of calls, from records of a trace */
#include "calls/calls.h"
#include "unit.h"

static struct call_user u;

static int give(const char *record)
{
	return older_memory(&u, record, strlen(record));
}

/* Compare the bytes of an argument. */
static int holds(unsigned arg, const char *bytes, size_t n)
{
	const struct call_bytes *b = &u.after[arg].bytes;

	return b->bytes && b->n == n && !memcmp(b->bytes, bytes, n);
}

static void test_strings(void)
{
	EQUAL(give("b1 /etc/"), 0);
	EQUAL(give("a1 passwd"), 0);
	CHECK(holds(1, "/etc/passwd", 11));
	CHECK(!u.after[1].bytes.cut && !u.after[1].bytes.fault);
	EQUAL(give("a0 "), 0);
	CHECK(holds(0, "", 0));
	EQUAL(give("c2 abc"), 0);
	CHECK(holds(2, "abc", 3));
	EQUAL(u.after[2].bytes.cut, 1);
	EQUAL(give("x3"), 0);
	EQUAL(u.after[3].bytes.fault, 1);
	CHECK(!u.after[3].bytes.bytes && !u.after[4].bytes.bytes && !u.after[5].bytes.bytes);
	call_user_clear(&u);
	for (unsigned i = 0; i < CALL_ARGS; i++)
		CHECK(!u.after[i].bytes.bytes && !u.after[i].bytes.n && !u.after[i].bytes.cut &&
		      !u.after[i].bytes.fault);
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
	CHECK(holds(1, "ls\0-l\0\0lo", 10));
	EQUAL(u.after[1].bytes.cut_strings, 8);
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
	EQUAL(u.after[0].bytes.cut, 1);
	EQUAL(give("s1"), 0);
	EQUAL(give("a1 x"), 0);
	EQUAL(u.after[1].bytes.cut, 0);
	EQUAL(give("s1"), 0);
	EQUAL(u.after[1].bytes.cut, 1);
	CHECK(holds(1, "x", 2));
	EQUAL(give("s1"), 0);
	EQUAL(give("a1 y"), 0);
	EQUAL(u.after[1].bytes.cut, 0);
	EQUAL(give("e1"), 0);
	EQUAL(u.after[1].bytes.cut, 1);
	CHECK(holds(1, "x\0y", 4));
	EQUAL(give("c2 x"), 0);
	EQUAL(give("s2"), 0);
	EQUAL(give("a2 y"), 0);
	EQUAL(u.after[2].bytes.cut, 1);
	call_user_clear(&u);
	EQUAL(give("e2"), 0);
	EQUAL(u.after[2].bytes.cut, 1);
	CHECK(holds(2, "", 0));
	call_user_clear(&u);
	EQUAL(give("k1"), -1);
}

static const struct call exec = {
	.role = &(const struct call_role){ .is = IS_EXEC }, .nargs = 5,
	.args = { [1].kind = CALL_PATH, [2].kind = CALL_STRINGS },
};

static int are(const struct call_bytes *b, const char *text)
{
	return b->bytes && b->n == strlen(text) && !memcmp(b->bytes, text, b->n);
}

/* Capital letters are the memory at the entry. */
static void test_sides(void)
{
	struct call_values v = { 0 };

	EQUAL(older_begins("Ab /old", 7), 1);
	EQUAL(older_begins("K", 1), 1);
	EQUAL(older_begins("A1 /old", 7), 0);
	EQUAL(older_begins("ab /old", 7), 0);
	EQUAL(older_begins("", 0), 0);
	EQUAL(give("Ab /old"), 0);
	EQUAL(give("D2 3"), 0);
	EQUAL(give("X3"), 0);
	EQUAL(give("d2 8"), 0);
	EQUAL(give("a3 late"), 0);
	call_user_get(&u, NULL, &v);
	CHECK(are(&v.user[1], "/old"));
	CHECK(v.user[1].bytes == v.entry[1].bytes);
	EQUAL(*v.entry[2].bytes, 3);
	EQUAL(*v.user[2].bytes, 8);
	EQUAL(v.entry[3].fault, 1);
	EQUAL(v.user[3].fault, 0);
	CHECK(are(&v.user[3], "late"));
	EQUAL(give("ab x"), -1);
	EQUAL(give("Ag x"), -1);
	call_user_clear(&u);
	CHECK(!u.entry[1].bytes.bytes && !u.after[2].bytes.bytes);
}

/* Each string of an array that is cut has its bit; only a list that is not complete is cut. */
static void test_cut_strings(void)
{
	EQUAL(give("S1"), 0);
	EQUAL(give("A1 one"), 0);
	EQUAL(give("S1"), 0);
	EQUAL(give("B1 tw"), 0);
	EQUAL(give("C1 o"), 0);
	EQUAL(give("S1"), 0);
	EQUAL(give("A1 three"), 0);
	EQUAL(u.entry[1].bytes.n, 14);
	CHECK(!memcmp(u.entry[1].bytes.bytes, "one\0two\0three", 14));
	EQUAL(u.entry[1].bytes.cut_strings, 2);
	EQUAL(u.entry[1].bytes.cut, 0);
	EQUAL(give("E1"), 0);
	EQUAL(u.entry[1].bytes.cut, 1);
	EQUAL(give("Z2"), 0);
	CHECK(u.entry[2].bytes.bytes && !u.entry[2].bytes.n && !u.entry[2].bytes.cut);
	call_user_clear(&u);
	EQUAL(u.entry[1].bytes.cut_strings, 0);
}

/* The kernel's name of a program stands for a path that was not in memory. */
static void test_program(void)
{
	static const struct { const char *name, *path; } paths[] = {
		{ "/dev/fd/3", "" }, { "/dev/fd/3/true", "true" },
		{ "/dev/fd/33/x", "/dev/fd/33/x" }, { "/bin/true", "/bin/true" },
	};
	struct call_values v = { .args = { 3 } };
	char record[64];

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		EQUAL(give("Xb"), 0);
		EQUAL(give("S2"), 0);
		EQUAL(give("X2"), 0);
		str_format(record, sizeof(record), "n0 %s", paths[i].name);
		EQUAL(give(record), 0);
		/* as of execve */
		EQUAL(give("s1"), 0);
		EQUAL(give("a1 word"), 0);
		call_user_shift(&u);
		call_user_get(&u, &exec, &v);
		CHECK(are(&v.user[1], paths[i].path));
		CHECK(v.user[2].n == 5 && !memcmp(v.user[2].bytes, "word", 5));
		call_user_clear(&u);
	}
	EQUAL(give("Ab given"), 0);
	EQUAL(give("n0 /dev/fd/3/given"), 0);
	call_user_get(&u, &exec, &v);
	CHECK(are(&v.user[1], "given"));
	call_user_clear(&u);
}

static void test_words(void)
{
	for (u.big = 0; u.big < 2; u.big++) {
		const char *first = "\x02\0\0\x50\x7f\0\0\x01", *other = "\x01\0\0\x7f\x50\0\0\x02";

		EQUAL(give("d5 100007f50000002 0"), 0);
		CHECK(holds(5, u.big ? "\x01\0\0\x7f\x50\0\0\x02\0\0\0\0\0\0\0" :
			       "\x02\0\0\x50\x7f\0\0\x01\0\0\0\0\0\0\0", 16));
		CHECK(!memcmp(u.after[5].bytes.bytes, u.big ? other : first, 8));
		EQUAL(give("e5 ffffffffffffffff"), 0);
		EQUAL(u.after[5].bytes.n, 24);
		EQUAL(u.after[5].bytes.cut, 1);
		call_user_clear(&u);
	}
	u.big = 0;
	EQUAL(give("e1 656463626100 79.1"), 0);
	CHECK(holds(1, "\0abcde\0\0y", 9));
	EQUAL(u.after[1].bytes.cut, 1);
	EQUAL(give("e1 79.8"), -1);
	EQUAL(give("e1 79.0"), -1);
	EQUAL(give("e1 79.11"), -1);
	EQUAL(give("e1 79."), -1);
	EQUAL(give("e1 79.1 1"), -1);
	call_user_clear(&u);
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
	EQUAL(u.after[0].bytes.n, CALL_USER_MOST);
	EQUAL(u.after[0].bytes.cut, 1);
	CHECK(call_user_room(&u) < 4 * CALL_USER_MOST);
	call_user_free(&u);
	CHECK(call_user_room(&u) == sizeof(u));
}

/* Put a piece after n bytes, in the byte order of u, and return the number of bytes then. */
static size_t put_piece(unsigned char *to, size_t n, char tag, unsigned arg, const char *bytes,
			size_t size)
{
	const int big = u.big;

	memset(to + n, 0, 8 + size + PIECE_ROUND);
	to[n] = (unsigned char)tag;
	to[n + 1] = (unsigned char)arg;
	to[n + 2 + big] = (unsigned char)size;
	to[n + 3 - big] = (unsigned char)(size >> 8);
	memcpy(to + n + 8, bytes, size);
	return n + 8 + (size / PIECE_ROUND + 1) * PIECE_ROUND;
}

/* Pieces say what records as text say; each is whole, or all from it on is refused. */
static void test_pieces(void)
{
	static const char at[2][9] = { { 16 }, { 0, 0, 0, 0, 0, 0, 0, 16 } };
	unsigned char m[256];
	struct call_bytes b;
	char pointed[11];
	size_t n, whole;

	for (int big = 0; big < 2; big++) {
		u.big = big;
		memcpy(pointed, at[big], 8);
		memcpy(pointed + 8, "abc", 3);
		n = put_piece(m, 0, 'A', 1, "/etc", 4);
		n = put_piece(m, n, 'b', 2, "12345678", 8);
		n = put_piece(m, n, 'a', 2, "9", 1);
		n = put_piece(m, n, 'X', 3, "", 0);
		n = put_piece(m, n, 'D', 6, pointed, 11);
		whole = n;
		n = put_piece(m, n, 'P', 0, "", 0);
		m[n - PIECE_ROUND - (big ? 1 : 4)] = 16; /* its value */
		EQUAL(call_user_take(&u, m, n), 0);
		CHECK(u.entry[1].bytes.n == 4 && !memcmp(u.entry[1].bytes.bytes, "/etc", 4));
		CHECK(holds(2, "123456789", 9));
		EQUAL(u.entry[3].bytes.fault, 1);
		EQUAL(u.netlink, 17);
		CHECK(call_user_at(&u, 17, 2, &b) && b.n == 2 && !memcmp(b.bytes, "bc", 2));
		call_user_clear(&u);
		for (size_t less = 1; less < n; less++) {
			const int ends = less == 16 || less == 40 || less == 56 || less == 72 ||
					 less == whole;

			EQUAL(call_user_take(&u, m, less), ends ? 0 : -1);
			call_user_clear(&u);
		}
		EQUAL(call_user_take(&u, m, 0), 0);
		/* unknown tags and arguments, a pointer without its address */
		EQUAL(call_user_take(&u, m, put_piece(m, 0, 'q', 1, "x", 1)), -1);
		EQUAL(call_user_take(&u, m, put_piece(m, 0, '\0', 1, "x", 1)), -1);
		EQUAL(call_user_take(&u, m, put_piece(m, 0, 'a', 6, pointed, 11)), -1);
		EQUAL(call_user_take(&u, m, put_piece(m, 0, '\0', 6, pointed, 11)), -1);
		EQUAL(call_user_take(&u, m, put_piece(m, 0, 'D', 7, pointed, 11)), -1);
		EQUAL(call_user_take(&u, m, put_piece(m, 0, 'D', 6, pointed, 7)), -1);
		call_user_free(&u);
	}
	u.big = 0;
}

int main(void)
{
	TEST(strings);
	TEST(arrays);
	TEST(missing_parts);
	TEST(sides);
	TEST(cut_strings);
	TEST(program);
	TEST(words);
	TEST(others);
	TEST(much);
	TEST(pieces);
	return unit_end();
}
