/* SPDX-License-Identifier: ISC */
/*
 * nomemory - an allocator that fails once, for LD_PRELOAD
 *
 * NOMEMORY=PROGRAM LEVEL N FILE: In each process of PROGRAM that is LEVEL forks after its
 * exec, let the Nth allocation fail, and create FILE.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static long count, wanted, level, level_wanted;
static char file[256];

static void in_child(void)
{
	level++;
	count = 0;
}

static void __attribute__((constructor)) begin(void)
{
	const char *how = getenv("NOMEMORY");
	char name[64];

	if (!how || sscanf(how, "%63s %ld %ld %255s", name, &level_wanted, &wanted, file) != 4 ||
	    strcmp(name, program_invocation_short_name))
		wanted = 0;
	count = 0;
	pthread_atfork(NULL, NULL, in_child);
}

static int fails(void)
{
	int fd;

	if (!wanted || level != level_wanted || ++count != wanted)
		return 0;
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}
