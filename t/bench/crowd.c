/* SPDX-License-Identifier: ISC */
/*
 * crowd - run N processes that do nothing, until this process gets SIGTERM
 *
 *	crowd N
 * It prints "ready" once all processes exist; they end with it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n = argc == 2 ? atol(argv[1]) : 0;
	pid_t self = getpid(), *children = calloc((size_t)n, sizeof(*children));
	sigset_t term;
	int signo;

	if (n < 1 || !children)
		return 100;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	for (long i = 0; i < n; i++) {
		children[i] = fork();
		if (children[i] < 0)
			return 111;
		if (children[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == self)
			pause();
		return 0;
	}
	puts("ready");
	fflush(stdout);
	sigwait(&term, &signo);
	for (long i = 0; i < n; i++)
		kill(children[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}
