/* SPDX-License-Identifier: ISC */
/* weird_sys - make calls whose numbers no kernel knows */
#define _GNU_SOURCE
#include <unistd.h>
#include <stdio.h>
#include <errno.h>
#include <sys/syscall.h>

int main(void)
{
	long n[] = { 999, 1000000, 0x40000000 | 39, -1, 600, 500 };
	for (unsigned i = 0; i < sizeof n / sizeof *n; i++) {
		errno = 0;
		long r = syscall(n[i], 1, 2, 3, 4, 5, 6);
		fprintf(stderr, "%ld -> %ld errno %d\n", n[i], r, errno);
	}
}
