/* SPDX-License-Identifier: ISC */
/*
 * handover - two threads on one CPU that hand over to each other, and compute in between
 *
 *	handover SECONDS NS
 * Each handover is one switch, one wake-up and two system calls; before it, a thread computes for
 * about NS nanoseconds. It prints how many handovers it made per second.
 */
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

#include "prog.h"

static unsigned turn;
static long loops, made;
static double end;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void compute(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
}

static void hand_over(unsigned mine)
{
	__atomic_store_n(&turn, !mine, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) == !mine && end > 0)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !mine, NULL, NULL, 0);
}

static void *work(void *arg)
{
	const unsigned mine = arg != NULL;

	while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != mine)
		sched_yield();
	while (end > 0) {
		compute(loops);
		if (!(++made & 1023) && now(CLOCK_MONOTONIC) >= end)
			end = 0;
		hand_over(mine);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const long trial = 20000000;
	double begun;
	pthread_t t;
	cpu_set_t set;

	if (argc != 3)
		return 100;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return 111;
	begun = now(CLOCK_THREAD_CPUTIME_ID);
	compute(trial);
	loops = (long)(atof(argv[2]) / 1e9 * (double)trial /
		       (now(CLOCK_THREAD_CPUTIME_ID) - begun));
	begun = now(CLOCK_MONOTONIC);
	end = begun + atof(argv[1]);
	if (pthread_create(&t, NULL, work, &turn))
		return 111;
	work(NULL);
	printf("%.0f\n", (double)made / (now(CLOCK_MONOTONIC) - begun));
	return 0;
}
