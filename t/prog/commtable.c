/* SPDX-License-Identifier: ISC */
/*
 * commtable - check that the tasks of a table stay where they are
 *
 *	commtable N
 * Add N tasks, and read each through its pointer. Prune every other task, and read again.
 * Add the pruned tasks again. Print how many tasks have moved, how many are missing, and how
 * many exist although they were pruned. AddressSanitizer ends the program if a pointer leads
 * to freed memory.
 */
#include <stdio.h>

#include "event/event.h"

static int is_odd(void *unused, struct comm *c)
{
	(void)unused;
	return c->pid & 1;
}

static void add(struct comms *c, struct comm **at, int n, int step)
{
	char name[16];

	for (int pid = step; pid <= n; pid += step) {
		comms_add(c, pid, name, (size_t)snprintf(name, sizeof(name), "task%d", pid));
		at[pid] = comms_entry(c, pid);
	}
}

static void look(const char *when, struct comms *c, struct comm **at, int n, int only_odd)
{
	int moved = 0, missing = 0, there = 0;

	for (int pid = 1; pid <= n; pid++) {
		const struct comm *found = comms_find(c, pid);

		if (only_odd && !(pid & 1)) {
			there += found != NULL;
			continue;
		}
		missing += !found || atoi(found->name + 4) != pid;
		moved += at[pid]->pid != pid || found != at[pid];
	}
	printf("%s: %zu tasks, %d moved, %d missing, %d too many\n", when, c->n, moved, missing,
	       there);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	struct comm **at = calloc((size_t)n + 1, sizeof(*at));
	struct comms c = { 0 };

	if (!at)
		return 111;
	add(&c, at, n, 1);
	look("added", &c, at, n, 0);
	comms_prune(&c, is_odd, NULL);
	look("pruned", &c, at, n, 1);
	add(&c, at, n, 2);
	look("again", &c, at, n, 0);
	comms_clear(&c);
	free(at);
	return 0;
}
