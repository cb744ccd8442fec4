/* SPDX-License-Identifier: ISC */
/* words.c - split text into words and quote words, as a shell does */
#include "base/base.h"
#include "unit.h"

/* Split s. Return its words with | between them, or why words_split returned NULL. */
static const char *split(const char *s)
{
	static char out[1000];
	const char *why = "no reason";
	char **v = words_split(s, &why), *p = out;

	if (!v)
		return why;
	*p = 0;
	for (char **w = v; *w; w++)
		p += sprintf(p, "%s%s", w == v ? "" : "|", *w);
	free(v);
	return out;
}

static void test_split(void)
{
	EQUAL_TEXT(split(""), "");
	EQUAL_TEXT(split(" \n "), "");
	EQUAL_TEXT(split("a b  c\nd"), "a|b|c|d");
	EQUAL_TEXT(split("'a b' \"c d\" e\\ f"), "a b|c d|e f");
	EQUAL_TEXT(split("a'b'\"c\"d"), "abcd");
	EQUAL_TEXT(split("'' \"\""), "|");
	EQUAL_TEXT(split("'a\"b' \"c'd\" \"e\\\"f\""), "a\"b|c'd|e\"f");
	EQUAL_TEXT(split("$HOME `x` * ; & #"), "$HOME|`x`|*|;|&|#");
}

static void test_unfinished(void)
{
	const char *why = NULL;

	CHECK(!words_split("'a", &why) && why && *why);
	why = NULL;
	CHECK(!words_split("a \"b", &why) && why && *why);
	why = NULL;
	CHECK(!words_split("a\\", &why) && why && *why);
}

/* words_split reads the output of words_quote as the same word. */
static void test_quote(void)
{
	const char *const words[] = { "a", "", "a b", "'", "\"", "\\", "a'b\"c\\d", "$x `y` *",
				      "\n", "''''" };
	char buf[64];

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		*buf = 0;
		EQUAL(words_quote(buf, sizeof(buf), words[i]), 0);
		EQUAL_TEXT(split(buf), words[i]);
	}
}

static void test_quote_room(void)
{
	char buf[64];

	for (size_t room = 1; room < 32; room++) {
		memset(buf, 'x', sizeof(buf));
		*buf = 0;
		words_quote(buf, room, "it's");
		CHECK(memchr(buf, 0, room));
		for (size_t i = room; i < sizeof(buf); i++)
			CHECK(buf[i] == 'x');
	}
}

int main(void)
{
	TEST(split);
	TEST(unfinished);
	TEST(quote);
	TEST(quote_room);
	return unit_end();
}
