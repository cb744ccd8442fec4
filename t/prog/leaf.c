/* SPDX-License-Identifier: ISC */
/* leaf - a library whose function middle makes a system call in another function; for reload */
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MIDDLE
#define MIDDLE middle
#endif
#define AFTER(result) __asm__ volatile("" : "+r"(result))

long MIDDLE(void);

static __attribute__((noinline)) long leaf(void)
{
	long result = syscall(SYS_getppid);

	AFTER(result);
	return result;
}

long MIDDLE(void)
{
	long result = leaf();

	AFTER(result);
	return result;
}
