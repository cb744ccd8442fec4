/* SPDX-License-Identifier: ISC */
/*
 * chains.h - programs whose stacks are known
 *
 * Each function that says HERE is on a list of what its thread is in, innermost first. Every chain
 * ends in deepest, which makes the system call at which a tracer and a debugger look, or prints
 * the list.
 */
#ifndef T_CHAINS_H
#define T_CHAINS_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* no copy of it, and none of its body elsewhere */
#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noipa))
#endif

/* Keep what comes before from being the last thing of a function, which would be a jump. */
#define AFTER(result) ({ __asm__ volatile("" : "+r"(result)); })

struct here {
	const char *function;
	struct here *up;
};

static __thread struct here *inmost;
static int print_only; /* -x: print the chain in place of the call */
static int in_vdso;    /* make the call from the kernel's own code in the process */

static inline void leave_here(struct here *h)
{
	inmost = h->up;
}

#define HERE \
	struct here here __attribute__((cleanup(leave_here), unused)) = { __func__, inmost }; \
	inmost = &here

/* musl's functions have no tables, so that no debugger finds who called them. */
static inline long ask(void)
{
#if defined(__GLIBC__) || !defined(__x86_64__)
	return getppid();
#else
	long result = SYS_getppid;

	__asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
	return result;
#endif
}

/* End a chain: getppid, or clock_gettime of a clock for which the vdso has to ask the kernel. */
static FUNCTION long deepest(void)
{
	struct timespec t;
	long result = 0;
	HERE;

	if (print_only) {
		static char line[1 << 16]; /* its frame is to be small */
		size_t n = 0;

		for (struct here *h = inmost; h && n < sizeof(line) - 100; h = h->up)
			n += (size_t)sprintf(line + n, "%s%c", h->function, h->up ? ' ' : '\n');
		result = write(STDOUT_FILENO, line, n);
	} else if (in_vdso) {
		result = clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} else {
		result = ask();
	}
	AFTER(result);
	return result;
}

/* Call what below depth calls of this function. */
static FUNCTION long again(int depth, long (*what)(void))
{
	long result;
	HERE;

	result = depth > 0 ? again(depth - 1, what) : what();
	AFTER(result);
	return result;
}

struct mode {
	const char *name;
	long (*what)(void);
};

static int number; /* which of the N chains of a mode */

/*
 * Take [-x] MODE [N], or -l, which lists the modes. Run the mode N times (10), below 0, 1 ... 19
 * calls and again. Return the exit status.
 */
static inline int run_modes(const struct mode *modes, int argc, char **argv)
{
	int list = argc == 2 && !strcmp(argv[1], "-l"), n;

	print_only = argc > 1 && !strcmp(argv[1], "-x");
	argc -= print_only;
	argv += print_only;
	n = argc > 2 ? atoi(argv[2]) : 10;
	for (; modes->name; modes++) {
		if (list)
			puts(modes->name);
		else if (argc > 1 && !strcmp(modes->name, argv[1]))
			break;
	}
	fflush(stdout);
	if (list)
		return 0;
	if (!modes->name)
		return 100;
	for (number = 0; number < n; number++)
		again(number % 20, modes->what);
	return 0;
}

#endif
