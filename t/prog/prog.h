/* SPDX-License-Identifier: ISC */
/* prog.h - the headers that most test programs need, and how a test holds and releases them */
#ifndef T_PROG_H
#define T_PROG_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Wait until the descriptor has a line or ends. */
static inline void wait_line(int fd)
{
	char c;

	while (read(fd, &c, 1) == 1 && c != '\n')
		;
}

/* Print "ready", and wait for a line of standard input. */
static inline void ready(void)
{
	puts("ready");
	fflush(stdout);
	wait_line(STDIN_FILENO);
}

/* Let the caller's process exist until a signal ends it. */
static inline _Noreturn void wait_forever(void)
{
	for (;;)
		pause();
}

#endif
