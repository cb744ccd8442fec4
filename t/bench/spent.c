/* SPDX-License-Identifier: ISC */
/*
 * spent - measure the CPU time of a program
 *
 *	spent [-t] FILE PROG [ARG]...
 * It runs PROG to its end. A line goes to FILE: microseconds of user and kernel
 * time together, and microseconds from start to end. It passes SIGTERM on to PROG.
 * With -t a SIGTERM is pending from the start, for a program that blocks the signal
 * and finishes its work when it reads the signal.
 * Exit: the status of PROG.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double us(struct timeval t)
{
	return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

int main(int argc, char **argv)
{
	int stop = argc > 1 && !strcmp(argv[1], "-t"), status = 0, signo;
	double begin = now_us(), took;
	struct rusage used;
	sigset_t set;
	pid_t pid;
	FILE *f;

	argv += 1 + stop;
	if (argc < 3 + stop)
		return 100;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid = fork();
	if (!pid) {
		if (stop)
			raise(SIGTERM);
		else
			sigprocmask(SIG_UNBLOCK, &set, NULL);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	while (pid > 0 && !wait4(pid, &status, WNOHANG, &used)) {
		sigwait(&set, &signo);
		if (signo == SIGTERM)
			kill(pid, SIGTERM);
	}
	took = now_us() - begin;
	f = fopen(argv[0], "w");
	if (pid < 0 || !f || fprintf(f, "%.0f %.0f\n", us(used.ru_utime) + us(used.ru_stime),
				     took) < 0 || fclose(f))
		return 111;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
