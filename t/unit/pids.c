/* SPDX-License-Identifier: ISC */
/* pids.c - sorted sets of pids */
#include "proc/proc.h"
#include "unit.h"

static void fill(struct pids *p, const char *list)
{
	*p = (struct pids){ 0 };
	CHECK(!pids_parse(p, list));
}

static void test_sort(void)
{
	struct pids p = { 0 };

	for (pid_t pid = 1000; pid; pid--)
		CHECK(!pids_add(&p, pid) && !pids_add(&p, pid));
	CHECK(!pids_sort(&p));
	EQUAL(p.n, 1000);
	for (size_t i = 0; i < p.n; i++)
		EQUAL(p.v[i], i + 1);
	pids_clear(&p);
	EQUAL(p.n, 0);
	CHECK(!pids_sort(&p));
}

static void test_has(void)
{
	struct pids p;

	fill(&p, "2\n4\n6\n4194304\n");
	EQUAL(p.n, 4);
	CHECK(pids_has(&p, 2) && pids_has(&p, 4) && pids_has(&p, 6) && pids_has(&p, 4194304));
	CHECK(!pids_has(&p, 0) && !pids_has(&p, 1) && !pids_has(&p, 3) && !pids_has(&p, 7));
	pids_clear(&p);
	CHECK(!pids_has(&p, 2));
}

static void test_minus(void)
{
	struct pids p, gone, left;

	fill(&p, "1 2 3 4 5");
	fill(&gone, "0 2 5 9");
	fill(&left, "1 3 4");
	pids_minus(&p, &gone);
	CHECK(pids_same(&p, &left));
	pids_minus(&p, &p);
	EQUAL(p.n, 0);
	pids_minus(&p, &left);
	EQUAL(p.n, 0);
	pids_clear(&p);
	pids_clear(&gone);
	pids_clear(&left);
}

int main(void)
{
	TEST(sort);
	TEST(has);
	TEST(minus);
	return unit_end();
}
