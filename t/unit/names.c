/* SPDX-License-Identifier: ISC */
/* names.c - the names of tasks that a recorder of any length keeps */

#include "base/base.h"
#include "host/host.h"
#include "live/live.h"
#include "unit.h"

enum { ROUNDS = 2000, TASKS = 100, MOST = 9000 };

/* A hundred tasks are named, and die, between two refreshes: 200,000 in all. */
static void test_dead_tasks(void)
{
	struct live_kernel k = { .procfs = 1, .follows = 1, .round = 1 };
	struct comms *c = &k.events.comms;
	pid_t pid = K_PID_MAX_LIMIT - ROUNDS * TASKS;
	size_t most = 0;

	live_names_prepare(&k);
	comms_add(c, getpid(), "unit", 4);
	for (int i = 0; i < ROUNDS; i++) {
		for (int n = 0; n < TASKS; n++) {
			pid++;
			line_task(&k.line, pid, 0, "dead", 4);
		}
		live_kernel_refresh(&k);
		/* the last names are there */
		CHECK(comms_find(c, pid) && (!i || comms_find(c, pid - TASKS)));
		if (c->n > most)
			most = c->n;
	}
	CHECK(most < MOST);
	CHECK(comms_find(c, getpid()));
	EQUAL(k.living, 1);
	CHECK(!comms_find(c, K_PID_MAX_LIMIT - ROUNDS * TASKS + 1));
	comms_clear(c);
}

/* Without a procfs nobody knows which tasks are dead. */
static void test_without_procfs(void)
{
	struct live_kernel k = { .procfs = 0 };
	struct comms *c = &k.events.comms;

	live_names_prepare(&k);
	for (pid_t pid = 1; pid <= MOST; pid++)
		comms_add(c, K_PID_MAX_LIMIT - pid, "dead", 4);
	for (int i = 0; i < 100; i++)
		live_kernel_refresh(&k);
	EQUAL(c->n, MOST);
	EQUAL(k.living, MOST);
	comms_clear(c);
}

int main(void)
{
	TEST(dead_tasks);
	TEST(without_procfs);
	return unit_end();
}
