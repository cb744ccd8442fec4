/* SPDX-License-Identifier: ISC */
/* text.c, format.c, suggest.c - numbers, UTF-8, formatted text and suggestions */

#include "base/base.h"
#include "host/host.h"
#include "event/event.h"
#include "show/show.h"
#include "unit.h"

static long number(const char *s, unsigned long low, unsigned long high)
{
	unsigned long n = 0;

	return text_number(s, low, high, &n) ? -1 : (long)n;
}

static void test_number(void)
{
	EQUAL(number("0", 0, 9), 0);
	EQUAL(number("9", 0, 9), 9);
	EQUAL(number("10", 0, 9), -1);
	EQUAL(number("0", 1, 9), -1);
	EQUAL(number("", 0, 9), -1);
	EQUAL(number("-1", 0, 9), -1);
	EQUAL(number("+1", 0, 9), -1);
	EQUAL(number(" 1", 0, 9), -1);
	EQUAL(number("1 ", 0, 9), -1);
	EQUAL(number("0x1", 0, 9), -1);
	EQUAL(number("007", 0, 9), 7);
	EQUAL(number("18446744073709551616", 0, ULONG_MAX), -1);
	EQUAL(number("99999999999999999999999", 0, ULONG_MAX), -1);
}

/* Is this the value of the text up to the rest? */
static int value(const char *s, unsigned base, uint64_t v, const char *rest)
{
	const char *end;

	return text_value(s, &end, base) == v && text_value(s, NULL, base) == v &&
	       !strcmp(end, rest);
}

static void test_value(void)
{
	EQUAL(value("0", 10, 0, ""), 1);
	EQUAL(value("", 10, 0, ""), 1);
	EQUAL(value("\t 12 34", 10, 12, " 34"), 1);
	EQUAL(value("-1", 10, 0, "-1"), 1);
	EQUAL(value("0x1f", 16, 0, "x1f"), 1);
	EQUAL(value("1aFg", 16, 0x1af, "g"), 1);
	EQUAL(value("01000008", 8, 0100000, "8"), 1);
	EQUAL(value("19a", 10, 19, "a"), 1);
	EQUAL(value("18446744073709551614", 10, UINT64_MAX - 1, ""), 1);
	EQUAL(value("18446744073709551615:", 10, UINT64_MAX, ":"), 1);
	EQUAL(value("18446744073709551616", 10, UINT64_MAX, ""), 1);
	EQUAL(value("184467440737095516150000", 10, UINT64_MAX, ""), 1);
	EQUAL(value("ffffffffffffffff", 16, UINT64_MAX, ""), 1);
	EQUAL(value("10000000000000000 ", 16, UINT64_MAX, " "), 1);
}

static void test_pid(void)
{
	EQUAL(text_pid("1"), 1);
	EQUAL(text_pid("4194304"), 4194304);
	EQUAL(text_pid("0"), 0);
	EQUAL(text_pid("4194305"), 0);
	EQUAL(text_pid("4294967297"), 0);
}

static size_t utf8(const char *s)
{
	return text_utf8((const unsigned char *)s, strlen(s));
}

/* Return the length of the first character, and 10 more if it is a control character. */
static size_t character(const char *s)
{
	int control;
	size_t n = text_char(s, strlen(s), &control);

	return n + (control ? 10 : 0);
}

static const char *masked(const char *s, char keep)
{
	static char text[64];

	str_format(text, sizeof(text), "%s", s);
	text_mask(text, text + strlen(text), keep);
	return text;
}

static void test_control(void)
{
	for (int c = 1; c < 256; c++) {
		char one[] = { (char)c, '\0' }, two[] = { '\xc2', (char)c, '\0' };

		EQUAL(character(one), c < 32 || (c >= 127 && c < 160) ? 11 : 1);
		EQUAL(character(two), c < 128 || c >= 192 ? 1 : c < 160 ? 12 : 2);
	}
	EQUAL(character("\xc3\x9b"), 2);
	EQUAL(character("\xe2\x9b\x84"), 3);
	EQUAL(character("\xe2\x9b"), 1);
	EQUAL(character("\xf0\x9f\x98\x80"), 4);
	CHECK(!text_has_control("a\xe2\x9b\x84\xc3\xa4 b"));
	CHECK(text_has_control("a\xe2\x9b"));
	CHECK(text_has_control("a\xc2\x9b"));
	CHECK(!text_has_control(""));
	/* marks that turn text around or begin a line, and their neighbours */
	CHECK(text_has_control("a\u202e") && text_has_control("\u202a") &&
	      text_has_control("\u2066") && text_has_control("\u2069") &&
	      text_has_control("\u200e") && text_has_control("\u200f") &&
	      text_has_control("\u061c") && text_has_control("\u2028") &&
	      text_has_control("\u2029"));
	CHECK(!text_has_control("\u2027\u202f\u2065\u206a\u200d\u2010\u061b\u061d"));
	CHECK(!text_has_control("\U0001f02e"));
	EQUAL_TEXT(masked("a\tb\n\x7f", '\t'), "a\tb??");
	EQUAL_TEXT(masked("\xc2\x9b" "31m\x9b\xe2\x9b\x84", '\n'), "??31m?\xe2\x9b\x84");
}

static const char *json(const char *s)
{
	static char text[64];
	struct out o = out_to(text, sizeof(text) - 1);

	json_string(&o, s, strlen(s));
	*o.at = '\0';
	return text;
}

static void test_json(void)
{
	EQUAL_TEXT(json("\xc2\x80" "a\xc2\x9b\xc2\x9f\xc2\xa0"),
		   "\"\\u0080a\\u009b\\u009f\xc2\xa0\"");
	EQUAL_TEXT(json("\x9b\x7f\xe2\x9b\x84"), "\"\xef\xbf\xbd\\u007f\xe2\x9b\x84\"");
}

static void test_utf8(void)
{
	EQUAL(utf8("\xc3\xa4"), 2);
	EQUAL(utf8("\xe2\x82\xac"), 3);
	EQUAL(utf8("\xf0\x9f\x98\x80"), 4);
	EQUAL(utf8("\xc3"), 0);            /* cut off */
	EQUAL(utf8("\xc0\x80"), 0);        /* longer than needed */
	EQUAL(utf8("\xed\xa0\x80"), 0);    /* a surrogate */
	EQUAL(utf8("\xf4\x90\x80\x80"), 0); /* above U+10FFFF */
	EQUAL(utf8("\x80"), 0);
}

static void test_format(void)
{
	char buf[32];

	EQUAL(str_format(buf, sizeof(buf), "%s %d %u %x %c%%", "a", -1, 2u, 255u, 'b'), 12);
	EQUAL_TEXT(buf, "a -1 2 ff b%");
	EQUAL(str_format(buf, sizeof(buf), "%.2s|%.*s", "abc", 1, "xyz"), 4);
	EQUAL_TEXT(buf, "ab|x");
	str_format(buf, sizeof(buf), "%lld", LLONG_MIN);
	EQUAL_TEXT(buf, "-9223372036854775808");
	EQUAL(str_format(buf, 4, "%s", "abcdef"), 6);
	EQUAL_TEXT(buf, "abc");
}

static void test_out(void)
{
	char buf[32];
	struct out o = out_to(buf, 4);

	out_string(&o, "abcdef");
	out_char(&o, 'g');
	out_fill(&o, ' ', 3);
	out_decimal(&o, 10);
	EQUAL(o.at - buf, 4);
	EQUAL(o.cut, 2 + 1 + 3 + 2);
	o = out_to(buf, sizeof(buf) - 1);
	out_decimals(&o, 1500000, 6);
	out_decimals(&o, 7, 3);
	out_decimals(&o, 12000000034, 9);
	out_address(&o, 0xab);
	out_byte(&o, 5);
	*o.at = '\0';
	EQUAL_TEXT(buf, "1.5000000.00712.0000000340xab05");
	EQUAL(o.cut, 0);
}

static void test_suggest(void)
{
	struct suggest s = { .word = "sched_swich" };

	suggest_offer(&s, "sched_waking");
	suggest_offer(&s, "sys_enter_openat");
	suggest_offer(&s, "sched_switch");
	CHECK(s.n >= 1);
	EQUAL_TEXT(s.name[0], "sched_switch");
	EQUAL(s.far[0], 1);
}

int main(void)
{
	TEST(number);
	TEST(value);
	TEST(pid);
	TEST(utf8);
	TEST(control);
	TEST(json);
	TEST(format);
	TEST(out);
	TEST(suggest);
	return unit_end();
}
