/* SPDX-License-Identifier: ISC */
/* names.c - the names of tasks that a recorder of any length keeps */
#include "live/live.h"
#include "unit.h"

enum { ROUNDS = 2000, TASKS = 100, MOST = 9000 };

/* A hundred tasks are named, and die, between two refreshes: 200,000 in all. */
static void test_dead_tasks(void)
{
	struct live_kernel k = { .procfs = 1 };
	struct comms *c = &k.events.comms;
	pid_t pid = PID_MAX_LIMIT - ROUNDS * TASKS;
	size_t most = 0;

	k.line.events = &k.events;
	comms_add(c, getpid(), "unit", 4);
	for (int i = 0; i < ROUNDS; i++) {
		for (int n = 0; n < TASKS; n++) {
			comms_add(c, ++pid, "dead", 4);
			comms_entry(c, pid)->generation = 1;
		}
		live_kernel_refresh(&k);
		/* the last names are there */
		CHECK(comms_find(c, pid) && (!i || comms_find(c, pid - TASKS)));
		if (c->n > most)
			most = c->n;
	}
	CHECK(most < MOST);
	CHECK(comms_find(c, getpid()));
	CHECK(!comms_find(c, PID_MAX_LIMIT - ROUNDS * TASKS + 1));
	comms_clear(c);
}

/* Live tasks keep their names, and cost no search at each refresh. */
static void test_live_tasks(void)
{
	struct live_kernel k = { .procfs = 1 };
	struct comms *c = &k.events.comms;

	k.line.events = &k.events;
	comms_add(c, getpid(), "unit", 4);
	comms_entry(c, getpid())->generation = 1;
	for (int i = 0; i < 1000; i++)
		live_kernel_refresh(&k);
	CHECK(comms_find(c, getpid()));
	EQUAL(c->n, 1);
	comms_clear(c);
}

int main(void)
{
	TEST(dead_tasks);
	TEST(live_tasks);
	return unit_end();
}
