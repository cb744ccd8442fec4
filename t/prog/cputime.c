/* SPDX-License-Identifier: ISC */
/*
 * cputime - run processes that use a known CPU time
 *
 *	cputime N     N processes, one after the other; of each print PID OWN USAGE: its own clock
 *	              at its end, and what wait4(2) says of it, in ns
 *	cputime old   let two threads end and print "ready"; after a line on standard input let
 *	              another thread end, and then the process; print "PID OWN 0"
 * The kinds of processes follow each other: one thread; four threads, which end before it; a thread
 * after the first one; killed; an exec; one that has to give back much memory; a short one.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, MEMORY = 16 << 20 };

static long long *own; /* shared: of the threads that have ended, of the process */

static long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void burn(long long us)
{
	long long begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin < us * 1000)
		;
}

static void *thread(void *us)
{
	burn((long long)(size_t)us);
	__atomic_add_fetch(&own[0], clock_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_SEQ_CST);
	return NULL;
}

static void start(pthread_t *t, int n, size_t us)
{
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)us))
			exit(111);
}

static void run(int kind)
{
	pthread_t t[THREADS];
	char *memory;

	switch (kind) {
	case 0:
		burn(5500);
		break;
	case 1:
		start(t, THREADS, 900);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		break;
	case 2:
		start(t, 1, 2000);
		own[1] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		pthread_exit(NULL);
	case 4:
		burn(700);
		own[1] = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		execl("/bin/true", "true", NULL);
		_exit(127);
	case 5:
		memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
		memset(memory, 1, MEMORY);
		break;
	}
	/* the clock of the process lacks what its threads ran after their last tick */
	own[1] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (kind == 3)
		raise(SIGKILL);
	_exit(0);
}

static long long ns(struct timeval t)
{
	return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL;
}

/* A process that is older than the trace: so is the end of its first threads. */
static void old(void)
{
	pthread_t t[2];
	char c;

	start(t, 2, 3000);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	puts("ready");
	fflush(stdout);
	if (read(0, &c, 1) != 1)
		_exit(111);
	start(t, 1, 3000);
	pthread_join(t[0], NULL);
	printf("%d %lld 0\n", (int)getpid(), clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc < 2 || own == MAP_FAILED)
		return 111;
	if (!strcmp(argv[1], "old"))
		old();
	for (int i = 0; i < atoi(argv[1]); i++) {
		struct rusage used;
		int status;
		pid_t pid;

		own[0] = own[1] = 0;
		pid = fork();
		if (!pid)
			run(i % 7);
		if (wait4(pid, &status, 0, &used) != pid)
			return 111;
		printf("%d %lld %lld\n", (int)pid, own[0] + own[1],
		       ns(used.ru_utime) + ns(used.ru_stime));
		fflush(stdout); /* a process must not have it, too */
	}
	return 0;
}
