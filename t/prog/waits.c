/* SPDX-License-Identifier: ISC */
/*
 * waits - run tasks that wait for a CPU, and print how often and how long they waited
 *
 *	waits loops N MS    N tasks on one CPU, each busy until it has run for MS
 *	                    milliseconds
 *	waits yields N TIMES    N tasks of SCHED_FIFO on one CPU, each yields so many
 *	                    times once all tasks exist
 * It prints "ready" and waits for a line of standard input. When all tasks have ended, it
 * prints "PID WAITS NANOSECONDS" for each from its schedstat (sched_info.pcount and
 * run_delay), from its fork to its end. Exit: 77 if it may not use SCHED_FIFO.
 */
#include <sched.h>
#include <time.h>

#include "prog.h"

static void loop(long ms)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

static void on_one_processor(void)
{
	cpu_set_t all, one;
	int last = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof(all), &all))
		exit(111);
	while (!CPU_ISSET(last, &all))
		last--;
	CPU_ZERO(&one);
	CPU_SET(last, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		exit(111);
}

static void report(pid_t pid)
{
	unsigned long long ran, waited, times;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu %llu %llu", &ran, &waited, &times) != 3)
		exit(111);
	fclose(f);
	printf("%d %llu %llu\n", (int)pid, times, waited);
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[2]) : 0, yields = argc == 4 && !strcmp(argv[1], "yields");
	struct sched_param p = { .sched_priority = 1 };

	if (n < 1)
		return 100;
	on_one_processor();
	ready();
	/* no task runs before all are forked, and then they run in turn */
	if (yields && sched_setscheduler(0, SCHED_FIFO, &p))
		return 77;
	for (int i = 0; i < n; i++)
		switch (fork()) {
		case -1:
			return 111;
		case 0:
			if (yields)
				for (int k = atoi(argv[3]); k; k--)
					sched_yield();
			else
				loop(atol(argv[3]));
			_exit(0);
		}
	for (int i = 0; i < n; i++) {
		siginfo_t gone;

		/* a zombie still has its schedstat */
		if (waitid(P_ALL, 0, &gone, WEXITED | WNOWAIT))
			return 111;
		report(gone.si_pid);
		waitpid(gone.si_pid, NULL, 0);
	}
	return 0;
}
