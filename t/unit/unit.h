/* SPDX-License-Identifier: ISC */
/*
 * unit.h - checks for the tests of single functions of lib/
 *
 * A program of t/unit tests one file of lib/. Each function "test_..." is called from main
 * with TEST. A check that fails prints one line, and the program goes on. Exit: 0 all checks
 * hold, 1 some do not.
 */
#ifndef UNIT_H
#define UNIT_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int unit_failed, unit_checks;
static const char *unit_test;

#define UNIT_FAIL(...) (unit_failed = 1, printf("%s:%d: %s: ", __FILE__, __LINE__, unit_test), \
			printf(__VA_ARGS__), putchar('\n'))

#define CHECK(what) do { \
	unit_checks++; \
	if (!(what)) \
		UNIT_FAIL("%s does not hold", #what); \
} while (0)

#define EQUAL(got, wanted) do { \
	intmax_t got_ = (intmax_t)(got), wanted_ = (intmax_t)(wanted); \
	unit_checks++; \
	if (got_ != wanted_) \
		UNIT_FAIL("%s is %jd, not %jd", #got, got_, wanted_); \
} while (0)

#define EQUAL_TEXT(got, wanted) do { \
	const char *got_ = (got), *wanted_ = (wanted); \
	unit_checks++; \
	if (!got_ || strcmp(got_, wanted_)) \
		UNIT_FAIL("%s is \"%s\", not \"%s\"", #got, got_ ? got_ : "NULL", wanted_); \
} while (0)

#define TEST(name) (unit_test = #name, test_##name())

/* The end of main: a program without a check fails. */
static inline int unit_end(void)
{
	return unit_failed || !unit_checks;
}

#endif
