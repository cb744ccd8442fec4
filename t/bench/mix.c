/* SPDX-License-Identifier: ISC */
/*
 * mix - make events of many kinds
 *
 *	mix [-w] N
 * N times, two processes on one CPU wake each other by two pipes, and the first process
 * opens a file, reads its status and closes it. With -w the first process prints "ready"
 * and waits for a line of standard input before it forks the second.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int pass(int from, int to)
{
	char c = 0;

	return read(from, &c, 1) == 1 && write(to, &c, 1) == 1;
}

int main(int argc, char **argv)
{
	int held = argc > 1 && !strcmp(argv[1], "-w"), there[2], back[2], fd;
	struct stat st;
	cpu_set_t set;
	char c = 0;

	if (argc != held + 2 || pipe(there) < 0 || pipe(back) < 0)
		return 100;
	if (held) {
		puts("ready");
		fflush(stdout);
		while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
			;
	}
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (!fork()) {
		close(there[1]);
		while (pass(there[0], back[1]))
			;
		return 0;
	}
	for (long i = atol(argv[held + 1]); i; i--) {
		fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
		if (fstat(fd, &st) < 0 || write(there[1], &c, 1) != 1 ||
		    read(back[0], &c, 1) != 1)
			return 111;
		close(fd);
	}
	close(there[1]);
	wait(NULL);
	return 0;
}
