/* SPDX-License-Identifier: ISC */
/*
 * pages N - touch N new pages in touch_once and 3 N in touch_thrice
 *
 * Then it prints "ready" and waits for a line of standard input, so that others can read which
 * files it has mapped.
 */
#include "prog.h"

enum { PAGE = 4096 };

__attribute__((noinline)) static void touch_once(volatile char *area, long n)
{
	for (long i = 0; i < n; i++)
		area[i * PAGE] = 1;
}

__attribute__((noinline)) static void touch_thrice(volatile char *area, long n)
{
	for (long i = 0; i < 3 * n; i++)
		area[i * PAGE] = 3;
}

int main(int argc, char **argv)
{
	long n = argc == 2 ? atol(argv[1]) : 0;
	size_t size = (size_t)n * 4 * PAGE;
	char *area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (n < 1 || area == MAP_FAILED)
		return 100;
	madvise(area, size, MADV_NOHUGEPAGE);
	touch_once(area, n);
	touch_thrice(area + n * PAGE, n);
	ready();
	return 0;
}
