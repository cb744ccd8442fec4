/* SPDX-License-Identifier: ISC */
/*
 * spawn - measure programs from their start to their end
 *
 *	spawn ROUNDS PROGRAM [ARG]... [-- PROGRAM [ARG]...]...
 * It runs them in turn, ROUNDS times, with output to /dev/null. It prints a line for
 * each: minimum and median in microseconds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 16

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double run(char **argv)
{
	double begin = now_us();
	pid_t pid = vfork();
	int status;

	if (!pid) {
		execvp(*argv, argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "spawn: %s failed\n", *argv);
		exit(111);
	}
	return now_us() - begin;
}

int main(int argc, char **argv)
{
	char **programs[MOST];
	double *took[MOST];
	long rounds = argc > 2 ? atol(argv[1]) : 0;
	int n = 0, out = dup(STDOUT_FILENO), null = open("/dev/null", O_RDWR);

	if (rounds < 1)
		return 100;
	programs[n++] = argv + 2;
	for (char **p = argv + 2; *p && n < MOST; p++)
		if (!strcmp(*p, "--")) {
			*p = NULL;
			programs[n++] = p + 1;
		}
	for (int i = 0; i < n; i++)
		took[i] = calloc((size_t)rounds, sizeof(double));
	dup2(null, STDOUT_FILENO);
	close(null);
	fcntl(out, F_SETFD, FD_CLOEXEC);
	for (long r = 0; r < rounds; r++)
		for (int i = 0; i < n; i++)
			took[i][r] = run(programs[i]);
	dup2(out, STDOUT_FILENO);
	for (int i = 0; i < n; i++) {
		qsort(took[i], (size_t)rounds, sizeof(double), by_value);
		printf("%.1f %.1f\n", took[i][0], took[i][rounds / 2]);
	}
	return fflush(stdout) ? 111 : 0;
}
