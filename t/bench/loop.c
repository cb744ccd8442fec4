/* SPDX-License-Identifier: ISC */
/*
 * loop - the traced program: so many calls of getppid, timed by itself
 *
 *	loop [-w] N FILE
 * With -w it says "ready" and waits for a line of standard input first. The
 * calls are made in batches of a thousand; a line with the nanoseconds a call
 * of the median batch goes to FILE at the end: where the program was put off
 * its processor for a while is not in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BATCH 1000

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int held = argc > 1 && !strcmp(argv[1], "-w");
	long long *took, begin;
	long batches;
	char c;
	FILE *f;

	if (argc != held + 3 || (batches = atol(argv[held + 1]) / BATCH) < 1)
		return 100;
	took = calloc((size_t)batches, sizeof(*took));
	if (!took)
		return 111;
	if (held) {
		puts("ready");
		fflush(stdout);
		while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
			;
	}
	for (long b = 0; b < batches; b++) {
		begin = now();
		for (int i = 0; i < BATCH; i++)
			syscall(SYS_getppid);
		took[b] = now() - begin;
	}
	qsort(took, (size_t)batches, sizeof(*took), by_value);
	f = fopen(argv[held + 2], "w");
	if (!f || fprintf(f, "%.1f\n", (double)took[batches / 2] / BATCH) < 0 || fclose(f))
		return 111;
	return 0;
}
