/* SPDX-License-Identifier: ISC */
/* fdrace DIR - 4 threads open, write and close their own files, so that numbers of descriptors are
 * used again at once by others; file tT.K gets K bytes in all */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char b[4096];

static void *thread(void *x)
{
	char p[64];

	for (int i = 1; i <= 500; i++) {
		int d, e;

		sprintf(p, "t%ld.%d", (long)x, i);
		d = open(p, O_CREAT | O_WRONLY, 0600);
		if (i % 3 == 0) {
			e = dup(d);
			close(d);
			d = e;
		}
		if (i % 7 == 0) {
			e = open("/dev/null", O_WRONLY);
			dup2(d, e);
			close(d);
			d = e;
		}
		write(d, b, i - i / 2);
		write(d, b, i / 2);
		close(d);
	}
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t t[4];

	chdir(argv[1]);
	for (long i = 0; i < 4; i++)
		pthread_create(t + i, 0, thread, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return 0;
}
