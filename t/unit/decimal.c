/* SPDX-License-Identifier: ISC */
/* decimal.c - numbers as a trace has them */
#include "lines/lines.h"
#include "unit.h"

static int parse(struct decimal *d, const char *s)
{
	return decimal_parse(d, (struct text_part){ s, strlen(s) });
}

static int compare(const char *a, const char *b)
{
	struct decimal x, y;

	CHECK(!parse(&x, a) && !parse(&y, b));
	return decimal_compare(&x, &y);
}

static int power(const char *s)
{
	struct decimal d;

	CHECK(!parse(&d, s));
	return decimal_power(&d);
}

static void test_parse(void)
{
	const char *const wrong[] = { "", "-", "+", ".", "a", "1a", "1.", "0x", "0xg", "1e5",
				      "18446744073709551616", "0x10000000000000000",
				      "0x@ (0123)", "0x (0123)" };
	struct decimal d;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (!parse(&d, wrong[i]))
			UNIT_FAIL("'%s' is taken for a number", wrong[i]);
	CHECK(!parse(&d, "12.5"));
	EQUAL(d.whole, 12);
	EQUAL(d.nano, 500000000);
}

static void test_compare(void)
{
	CHECK(compare("1", "2") < 0 && compare("2", "1") > 0 && !compare("1", "1.0"));
	CHECK(compare("-1", "1") < 0 && compare("-2", "-1") < 0 && !compare("-0", "0"));
	CHECK(compare("0x7b (123)", "123") == 0);
	CHECK(compare("0x10", "16") == 0 && compare("0xffffffffffffffff", "-1") == 0);
	CHECK(compare("18446744073709551615", "9") > 0);
}

static void test_power(void)
{
	EQUAL(power("0"), 0);
	EQUAL(power("0.999"), 0);
	EQUAL(power("1"), 1);
	EQUAL(power("1.9"), 1);
	EQUAL(power("2"), 2);
	EQUAL(power("3"), 2);
	EQUAL(power("4"), 3);
	EQUAL(power("18446744073709551615"), 64);
	EQUAL(power("-0.5"), -1);
	EQUAL(power("-1"), -2);
}

/* A key that a line lacks has no text at all; UBSan watches what is done with it. */
static void test_none(void)
{
	struct decimal d;

	EQUAL(decimal_parse(&d, (struct text_part){ NULL, 0 }), -1);
	EQUAL(decimal_parse(&d, (struct text_part){ "12", 0 }), -1);
	EQUAL(decimal_parse(&d, (struct text_part){ "-", 1 }), -1);
}

int main(void)
{
	TEST(none);
	TEST(parse);
	TEST(compare);
	TEST(power);
	return unit_end();
}
