/* SPDX-License-Identifier: ISC */
/*
 * calls - a program that makes a known number of system calls
 *
 *	calls N [THREADS [CHILDREN]]
 * It waits for a line (or the end) of standard input. Then each of the THREADS
 * of each of CHILDREN processes, or of this process if CHILDREN is 0, makes N
 * calls of getppid, and no other task does. With -e in front, threads and children
 * exist before the wait; otherwise they start after it. It prints "ready" once it
 * waits, unless standard output is closed.
 */
#include "prog.h"

static long n, threads = 1, children;
static int early, go[2];

static void *make_calls(void *arg)
{
	(void)arg;
	if (early)
		wait_line(go[0]); /* the end of the pipe is the sign: all children get it */
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
	return NULL;
}

static void run_threads(void)
{
	pthread_t *id = calloc((size_t)threads, sizeof(*id));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	for (long i = 1; i < threads; i++)
		if (pthread_create(&id[i], &attr, make_calls, NULL))
			_exit(111);
	if (early && !children) {
		ready();
		close(go[1]);
	} else if (early && write(STDOUT_FILENO, "ready\n", 6) < 0) {
		_exit(111);
	}
	make_calls(NULL);
	for (long i = 1; i < threads; i++)
		pthread_join(id[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "-e")) {
		early = 1;
		argv++, argc--;
	}
	if (argc < 2)
		return 100;
	n = atol(argv[1]);
	threads = argc > 2 ? atol(argv[2]) : 1;
	children = argc > 3 ? atol(argv[3]) : 0;
	if (pipe(go) < 0)
		return 111;
	if (!early)
		ready();
	for (long i = 0; i < children; i++)
		if (!fork()) {
			close(go[1]);
			run_threads();
			_exit(0);
		}
	if (!children) {
		run_threads();
		return 0;
	}
	if (early) {
		wait_line(STDIN_FILENO);
		close(go[1]);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
