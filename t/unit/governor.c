/* SPDX-License-Identifier: ISC */
/* governor.c - the account of a recorder with a budget, and its plans */
#include "flight/flight.h"
#include "unit.h"

enum { MS = 1000000, PERCENT = 10000 };

/* The account of a recorder with 1 % that has all its credit: half a second of the budget. */
static const struct flight_account begin = {
	.budget = PERCENT, .record = 400, .credit = 5 * MS, .patience = 1000 * MS,
	.cpus = 1000000,
};

/* An interval of 20 ms in which the busiest of two CPUs has so many events. */
static struct flight_interval events(uint64_t most, uint64_t sum)
{
	return (struct flight_interval){ .wall = 20 * MS, .most = most, .sum = sum };
}

/* 400 ns each: 500 events take 200 us of 20 ms. */
static void test_load(void)
{
	struct flight_account a = begin;
	struct flight_interval i = events(500, 500);

	EQUAL(flight_account_charge(&a, &i), LOOK_NOT);
	EQUAL(a.load, PERCENT);
	/* programs that run by turns on two CPUs are slowed by the events of both */
	i = events(500, 1000);
	flight_account_charge(&a, &i);
	EQUAL(a.load, 2 * PERCENT);
	/* but not if both CPUs are busy all the time */
	i.busy = 40 * MS;
	flight_account_charge(&a, &i);
	EQUAL(a.load, PERCENT);
	EQUAL(a.cpus, 2000000);
	/* one busy CPU of many counts for itself */
	i = events(500, 500);
	i.busy = 640 * MS;
	flight_account_charge(&a, &i);
	EQUAL(a.load, PERCENT);
	/* events that are counted and not recorded */
	a.count = 100;
	i = (struct flight_interval){ .wall = 20 * MS, .hits = 2000 };
	flight_account_charge(&a, &i);
	EQUAL(a.load, PERCENT);
}

/* Own processor time is charged little by little, but all of it. */
static void test_own_time(void)
{
	struct flight_account a = begin;
	struct flight_interval i = events(500, 500);
	int64_t before;

	/* a quarter of the budget while events take all of it */
	i.own = MS;
	flight_account_charge(&a, &i);
	EQUAL(a.load, PERCENT + PERCENT / 4);
	EQUAL(a.debt, MS * 19 / 20);
	/* what the events leave of it: a look upwards has to wait, but is no reason to step down */
	before = a.credit;
	i = (struct flight_interval){ .wall = 50 * MS };
	EQUAL(flight_account_charge(&a, &i), LOOK_NOT);
	EQUAL(a.load, PERCENT);
	EQUAL(a.debt, MS * 9 / 20);
	EQUAL(a.credit, before);
	flight_account_charge(&a, &i);
	EQUAL(a.debt, 0);
	EQUAL(a.load, PERCENT * 9 / 10);
	flight_account_charge(&a, &i);
	EQUAL(a.load, 0);
	CHECK(a.credit > before);
	/* programs that run by turns on two CPUs, whose events take half of the budget on each */
	a.debt = MS;
	before = a.credit;
	i = events(200, 400);
	EQUAL(flight_account_charge(&a, &i), LOOK_NOT);
	EQUAL(a.load, PERCENT * 21 / 20);
}

/* A flood of 10 % takes the credit of 5 ms within three intervals, 1.2 % within five seconds. */
static void test_steps_down(void)
{
	struct flight_account a = begin;
	struct flight_interval i = events(5000, 5000);
	int n = 0;

	a.quiet = 1000 * MS;
	while (flight_account_charge(&a, &i) != LOOK_DOWN && n < 1000)
		n++;
	EQUAL(n, 2);
	a = begin;
	i = events(600, 600);
	for (n = 0; flight_account_charge(&a, &i) != LOOK_DOWN && n < 1000; n++)
		;
	EQUAL(n, 125);
	/* at the budget there is never a step */
	a = begin;
	i = events(500, 500);
	for (n = 0; n < 1000; n++)
		EQUAL(flight_account_charge(&a, &i), LOOK_NOT);
	EQUAL(a.credit, begin.credit);
	/* nor is there one while the debt of a flood is paid back */
	a.credit = -MS;
	i = events(400, 400);
	EQUAL(flight_account_charge(&a, &i), LOOK_NOT);
}

/* A reduced recorder looks upwards when it has credit and has waited; a full one does not. */
static void test_looks_up(void)
{
	struct flight_account a = begin;
	struct flight_interval i = events(0, 0);
	int n;

	for (n = 0; n < 1000; n++)
		EQUAL(flight_account_charge(&a, &i), LOOK_NOT);
	a.reduced = 1;
	a.quiet = 0;
	for (n = 0; flight_account_charge(&a, &i) != LOOK_UP && n < 1000; n++)
		;
	EQUAL(n, 49);
	a.credit = -100 * MS;
	for (n = 0; flight_account_charge(&a, &i) != LOOK_UP && n < 1000; n++)
		;
	/* 102.5 ms and some rounding, of which 0.2 come with each interval */
	EQUAL(n, 512);
}

/* A flood costs at most ten seconds of the budget afterwards. */
static void test_debt_ends(void)
{
	struct flight_account a = begin;
	struct flight_interval i = events(50000, 100000);

	for (int n = 0; n < 1000; n++)
		flight_account_charge(&a, &i);
	EQUAL(a.credit, -100 * MS);
	i.most = i.sum = UINT64_C(1) << 40;
	flight_account_charge(&a, &i);
	EQUAL(a.credit, -100 * MS);
}

static struct flight_event *find(struct flight_event *v, const char *name)
{
	while (strcmp(v->name, name))
		v++;
	return v;
}

static const struct flight_event none;

#define NEXT(name) find(v, name)->next

/* The plan drops frequent events, and keeps rare ones. 7.5 ms a second are to be spent. */
static void test_plan_down(void)
{
	struct flight_account a = begin;
	struct flight_event v[] = {
		{ .name = "switch", .most = 500000, .sum = 500000 },
		{ .name = "oom" },
		{ .name = "wakeup", .most = 15000, .sum = 15000 },
		{ .name = "exit", .most = 3000, .sum = 3000 },
	};

	EQUAL(flight_account_plan(&a, &none, v, 4, LOOK_DOWN), 1);
	EQUAL(NEXT("switch"), EVENT_OFF);
	EQUAL(NEXT("wakeup"), EVENT_RECORDED);
	EQUAL(NEXT("exit"), EVENT_RECORDED);
	EQUAL(NEXT("oom"), EVENT_RECORDED);
	/* who has spent too much has less to spend */
	a.credit = -10 * MS;
	EQUAL(flight_account_plan(&a, &none, v, 4, LOOK_DOWN), 2);
	EQUAL(NEXT("wakeup"), EVENT_OFF);
	EQUAL(NEXT("exit"), EVENT_RECORDED);
	/* an event that starts dumps is kept before others, but not at any price */
	a = begin;
	find(v, "wakeup")->first = 1;
	find(v, "exit")->most = find(v, "exit")->sum = 6000;
	EQUAL(flight_account_plan(&a, &none, v, 4, LOOK_DOWN), 2);
	EQUAL(NEXT("wakeup"), EVENT_RECORDED);
	EQUAL(NEXT("exit"), EVENT_OFF);
	find(v, "wakeup")->most = 20000;
	EQUAL(flight_account_plan(&a, &none, v, 4, LOOK_DOWN), 2);
	EQUAL(NEXT("wakeup"), EVENT_OFF);
	EQUAL(NEXT("exit"), EVENT_RECORDED);
}

/* The rates of both CPUs together count as well, with as many CPUs as are busy. */
static void test_plan_cpus(void)
{
	struct flight_account a = begin;
	struct flight_event v[] = { { .name = "switch", .most = 15000, .sum = 30000 } };

	EQUAL(flight_account_plan(&a, &none, v, 1, LOOK_DOWN), 1);
	a.cpus = 2000000;
	EQUAL(flight_account_plan(&a, &none, v, 1, LOOK_DOWN), 0);
}

/* Upwards only half of the budget is planned, and nothing is reduced. */
static void test_plan_up(void)
{
	struct flight_account a = begin;
	struct flight_event v[] = {
		{ .name = "switch", .most = 13000, .sum = 13000, .now = EVENT_OFF },
		{ .name = "exit" },
	};

	EQUAL(flight_account_plan(&a, &none, v, 2, LOOK_UP), 0);
	EQUAL(NEXT("switch"), EVENT_OFF);
	find(v, "switch")->most = find(v, "switch")->sum = 12000;
	EQUAL(flight_account_plan(&a, &none, v, 2, LOOK_UP), 1);
	EQUAL(NEXT("switch"), EVENT_RECORDED);
	find(v, "switch")->most = find(v, "switch")->sum = 500000;
	find(v, "switch")->now = EVENT_RECORDED;
	EQUAL(flight_account_plan(&a, &none, v, 2, LOOK_UP), 0);
}

/* An event that costs too much to record is counted, if counting costs less. */
static void test_plan_counts(void)
{
	struct flight_account a = begin;
	struct flight_event v[] = {
		{ .name = "a", .most = 50000, .sum = 50000 },
		{ .name = "b", .most = 60000, .sum = 60000 },
	};

	a.count = 100;
	EQUAL(flight_account_plan(&a, &none, v, 2, LOOK_DOWN), 2);
	EQUAL(NEXT("a"), EVENT_COUNTED);
	EQUAL(NEXT("b"), EVENT_OFF);
	find(v, "a")->now = EVENT_COUNTED;
	find(v, "b")->now = EVENT_OFF;
	find(v, "a")->most = find(v, "a")->sum = 90000;
	EQUAL(flight_account_plan(&a, &none, v, 2, LOOK_DOWN), 1);
	EQUAL(NEXT("a"), EVENT_OFF);
}

/* While a system call is traced, all of them are slower. If they are many, none is traced. */
static void test_plan_calls(void)
{
	struct flight_account a = begin;
	struct flight_event calls = { .most = 100000, .sum = 100000 };
	struct flight_event v[] = {
		{ .name = "flock", .call = 1 },
		{ .name = "exit", .most = 12000, .sum = 12000 },
	};

	a.detour = 20;
	EQUAL(flight_account_plan(&a, &calls, v, 2, LOOK_DOWN), 0);
	/* 2 of 7.5 ms are left out of what events may cost */
	find(v, "exit")->most = find(v, "exit")->sum = 15000;
	EQUAL(flight_account_plan(&a, &calls, v, 2, LOOK_DOWN), 1);
	EQUAL(NEXT("exit"), EVENT_OFF);
	EQUAL(NEXT("flock"), EVENT_RECORDED);
	calls.most = calls.sum = 200000;
	EQUAL(flight_account_plan(&a, &calls, v, 2, LOOK_DOWN), 1);
	EQUAL(NEXT("flock"), EVENT_OFF);
	EQUAL(NEXT("exit"), EVENT_RECORDED);
	/* the load that is seen may be low: a look upwards finds out */
	EQUAL(flight_account_plan(&a, &calls, v, 2, LOOK_UP), 1);
	EQUAL(NEXT("flock"), EVENT_OFF);
	find(v, "flock")->now = EVENT_OFF;
	EQUAL(flight_account_plan(&a, &calls, v, 2, LOOK_UP), 0);
}

static void test_percent(void)
{
	static const struct { const char *text; long ppm; } v[] = {
		{ "1", 10000 }, { "1%", 10000 }, { "0.5", 5000 }, { "0.01%", 100 },
		{ "12.3456", 123456 }, { "50", 500000 }, { "1.", 10000 }, { "50.0001", -1 },
		{ "0.009", -1 }, { "0", -1 }, { "", -1 }, { "%", -1 }, { "1%%", -1 },
		{ "1.23456", -1 }, { "1.2.3", -1 }, { "-1", -1 }, { " 1", -1 }, { "1e1", -1 },
		{ "99999999999999999999999", -1 },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		struct flight_governor g = { 0 };
		int r = flight_governor_parse(&g, v[i].text);

		EQUAL(r < 0 ? -1 : (long)g.account.budget, v[i].ppm);
	}
}

int main(void)
{
	TEST(load);
	TEST(own_time);
	TEST(steps_down);
	TEST(looks_up);
	TEST(debt_ends);
	TEST(plan_down);
	TEST(plan_cpus);
	TEST(plan_up);
	TEST(plan_counts);
	TEST(plan_calls);
	TEST(percent);
	return unit_end();
}
