/* SPDX-License-Identifier: ISC */
/*
 * numbers - a program whose system calls are numbered
 *
 *	numbers SECONDS RATE THREADS EVERY
 * It waits for a line of standard input. Then for SECONDS each of the THREADS
 * makes RATE calls per second of getpriority(PRIO_USER, N), for N = 0, 1, 2 ... up to
 * SECONDS * RATE - 1, without pause if it is late. The main thread calls umask every EVERY
 * seconds. A second line of standard input ends this early. Then it prints the number of calls.
 */
#include <poll.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "prog.h"

static long seconds, rate;
static atomic_long made;
static atomic_bool ended;

static void *count(void *arg)
{
	struct timespec ms = { .tv_nsec = 1000000 }, now, begin;
	long n = 0, due = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
		due = (long)((double)(now.tv_sec - begin.tv_sec) * (double)rate +
			     (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 * (double)rate);
		due = due < seconds * rate ? due : seconds * rate;
		while (n < due && !ended)
			syscall(SYS_getpriority, PRIO_USER, (int)n++);
		nanosleep(&ms, NULL);
	} while (due < seconds * rate && !ended);
	made += n;
	return arg;
}

int main(int argc, char **argv)
{
	struct pollfd line = { .fd = STDIN_FILENO, .events = POLLIN };
	pthread_t id[64];
	char c;

	if (argc != 5 || atol(argv[3]) > 64)
		return 100;
	seconds = atol(argv[1]);
	rate = atol(argv[2]);
	if (read(STDIN_FILENO, &c, 1) < 0)
		return 111;
	for (long i = 0; i < atol(argv[3]); i++)
		if (pthread_create(&id[i], NULL, count, NULL))
			return 111;
	for (long i = 1; i < seconds && !ended; i++) {
		ended = poll(&line, 1, 1000) > 0;
		if (!ended && i % atol(argv[4]) == 0)
			umask(022);
	}
	for (long i = 0; i < atol(argv[3]); i++)
		pthread_join(id[i], NULL);
	return printf("%ld\n", made) < 0 ? 111 : 0;
}
