/* SPDX-License-Identifier: ISC */
/* sort.c - sorted arrays */
#include "base/base.h"
#include "unit.h"

/* 3 bytes an entry, so that no entry is aligned */
struct entry { unsigned char key, high, low; };

static int by_all(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct entry));
}

/* Sort n entries whose keys repeat; check the order, and that no entry is lost. */
static void check_sorted(size_t n, unsigned keys)
{
	struct entry *v = xcalloc(n + 1, sizeof(*v));
	unsigned long sum = 0;

	for (size_t i = 0; i < n; i++)
		v[i] = (struct entry){ (unsigned char)(i * 7919 % keys), (unsigned char)(i >> 8),
				       (unsigned char)i };
	v[n].key = 1;
	array_sort(v, n, sizeof(*v), by_all);
	for (size_t i = 1; i < n; i++)
		CHECK(by_all(&v[i - 1], &v[i]) < 0);
	for (size_t i = 0; i < n; i++)
		sum += (unsigned long)v[i].high << 8 | v[i].low;
	EQUAL(sum, n * (n - !!n) / 2);
	EQUAL(v[n].key, 1);
	free(v);
}

static void test_sizes(void)
{
	for (size_t n = 0; n < 40; n++)
		check_sorted(n, 5);
	check_sorted(20000, 1);
	check_sorted(20000, 251);
}

/* An array without elements may be NULL. */
static void test_empty(void)
{
	array_sort(NULL, 0, 8, NULL);
	CHECK(1);
}

int main(void)
{
	TEST(empty);
	TEST(sizes);
	return unit_end();
}
