/* SPDX-License-Identifier: ISC */
/*
 * beats - numbered events, and the last numbers in memory that survives a crash
 *
 *	beats ADDRESS THREADS MARKER	each thread, on a CPU of its own, counts for ever:
 *		it stores its number at this physical address, and then writes "beat THREAD NUMBER"
 *		to the file MARKER
 *	beats ADDRESS THREADS		print the numbers that are stored there
 *	beats ADDRESS 0			set them to 0
 */
#include <sched.h>

#include "prog.h"

enum { PAGE = 4096, APART = 16, THREADS_MOST = PAGE / sizeof(long) / APART };

static volatile unsigned long *numbers; /* each in a cache line of its own */
static const char *marker;

static void *count(void *arg)
{
	size_t thread = (size_t)arg;
	int fd = open(marker, O_WRONLY);
	char text[64];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(thread, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (unsigned long n = 1; fd >= 0; n++) {
		int len = snprintf(text, sizeof(text), "beat %zu %lu", thread, n);

		numbers[thread * APART] = n;
		if (write(fd, text, (size_t)len) != len)
			break;
	}
	perror(marker);
	exit(111);
}

int main(int argc, char **argv)
{
	size_t threads = argc > 2 ? strtoul(argv[2], NULL, 0) : THREADS_MOST + 1;
	int fd = open("/dev/mem", O_RDWR | O_SYNC);
	pthread_t id;
	void *map;

	if (threads > THREADS_MOST)
		return 100;
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   (off_t)strtoull(argv[1], NULL, 0));
	if (fd < 0 || map == MAP_FAILED)
		return perror("/dev/mem"), 111;
	numbers = map;
	if (!threads)
		memset(map, 0, PAGE);
	if (argc == 3) {
		for (size_t i = 0; i < threads; i++)
			printf("%lu%c", numbers[i * APART], i + 1 < threads ? ' ' : '\n');
		return 0;
	}
	marker = argv[3];
	for (size_t i = 0; i < threads; i++)
		if (pthread_create(&id, NULL, count, (void *)i))
			return 111;
	pause();
	return 0;
}
