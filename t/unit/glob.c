/* SPDX-License-Identifier: ISC */
/* glob.c - globs over names of events */
#include "base/base.h"
#include "unit.h"

static void test_matches(void)
{
	CHECK(glob_matches("", ""));
	CHECK(!glob_matches("", "a"));
	CHECK(glob_matches("*", "") && glob_matches("*", "abc"));
	CHECK(glob_matches("a*c", "ac") && glob_matches("a*c", "abbc"));
	CHECK(!glob_matches("a*c", "abcd"));
	CHECK(glob_matches("?", "a") && !glob_matches("?", "") && !glob_matches("?", "ab"));
	CHECK(glob_matches("[a-c]", "b") && !glob_matches("[a-c]", "d"));
	CHECK(glob_matches("[!a-c]", "d") && !glob_matches("[!a-c]", "b"));
	CHECK(glob_matches("\\*", "*") && !glob_matches("\\*", "a"));
	CHECK(glob_matches("*a*b*", "xaybz") && !glob_matches("*a*b*", "xbya"));
}

/* A glob of many stars does not take exponential time: this ends at once or never. */
static void test_many_stars(void)
{
	char text[2000];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	CHECK(!glob_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

static void test_names(void)
{
	CHECK(glob_names("sched_switch", "sched", "sched_switch"));
	CHECK(glob_names("sched:sched_*", "sched", "sched_switch"));
	CHECK(glob_names("*:*", "sched", "sched_switch"));
	CHECK(!glob_names("sched:", "sched", "sched_switch"));
	CHECK(!glob_names("irq:sched_switch", "sched", "sched_switch"));
	CHECK(!glob_names("sched", "sched", "sched_switch"));
}

int main(void)
{
	TEST(matches);
	TEST(many_stars);
	TEST(names);
	return unit_end();
}
