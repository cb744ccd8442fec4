/* SPDX-License-Identifier: ISC */
/*
 * exchanged - publish a thread context (OTEP 4947) by libraries that come and go
 *
 *	exchanged [-m MAPPINGS] [-t] [-w] CALLS LIBRARY...
 *
 * Load each library (published.c with -DPART=1), make so many calls as published does, and unload
 * it while its span is still active. -t: unload none, and call for the last one only. Then a thread
 * that has published a span by all other libraries, but none by the last one, makes so many calls.
 * After the first library was loaded, or with -t the last: -m: map a file so many times. -w: print
 * a line, and wait for a byte.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef void publish_fn(uint64_t trace, uint64_t span);

static unsigned long calls;
static int waits, file;
static long mappings;
static publish_fn *others[64];
static pthread_barrier_t barrier;

static publish_fn *load(const char *path, void **library)
{
	publish_fn *by;

	*library = dlopen(path, RTLD_NOW);
	by = *library ? (publish_fn *)(intptr_t)dlsym(*library, "publish") : NULL;
	if (!by)
		exit(1);
	return by;
}

static void wait_for_byte(void)
{
	char byte;

	for (; mappings > 0; mappings--)
		if (mmap(NULL, 1, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED)
			exit(1);
	if (waits && (write(1, "ready\n", 6) < 0 || read(0, &byte, 1) < 0))
		exit(1);
	waits = 0;
}

static void work(publish_fn *by)
{
	uint64_t self = (uint64_t)syscall(SYS_gettid) << 32;

	for (uint64_t n = 1; n <= calls; n++) {
		if (by)
			by(self, self | n);
		syscall(SYS_lseek, -1, self | n, 0);
	}
}

static void *thread(void *unused)
{
	pthread_barrier_wait(&barrier); /* it was begun before any library was loaded */
	for (size_t i = 0; others[i]; i++)
		others[i](1, 1);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	work(NULL);
	return unused;
}

/* Load n libraries at once. */
static void load_all(char **path, int n)
{
	pthread_t threads[8];
	void *library;

	pthread_barrier_init(&barrier, NULL, 9);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < n - 1 && i < 12; i++)
		others[i] = load(path[i], &library);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (int i = 12; i < n; i++)
		others[12] = load(path[i], &library);
	wait_for_byte();
	work(others[12]);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	int c, together = 0;
	publish_fn *by;
	void *library;

	file = open("/proc/self/exe", O_RDONLY);
	while ((c = getopt(argc, argv, "m:tw")) != -1)
		switch (c) {
		case 'm':
			mappings = atol(optarg);
			break;
		case 't':
			together = 1;
			break;
		case 'w':
			waits = 1;
		}
	calls = strtoul(argv[optind], NULL, 0);
	if (together)
		load_all(argv + optind + 1, argc - optind - 1);
	for (char **path = argv + optind + 1; !together && *path; path++) {
		by = load(*path, &library);
		wait_for_byte();
		work(by);
		dlclose(library);
	}
	return 0;
}
