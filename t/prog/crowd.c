/* SPDX-License-Identifier: ISC */
/*
 * crowd - many processes that do nothing
 *
 *	crowd N
 * It prints the pids of N processes in one line, separated by spaces, and waits for
 * a line of standard input. Then, or when it dies, the processes end.
 */
#include <sys/prctl.h>

#include "prog.h"

int main(int argc, char **argv)
{
	long n = argc == 2 ? atol(argv[1]) : 0;
	pid_t self = getpid(), *pids = calloc((size_t)n + 1, sizeof(*pids));

	if (n < 1 || !pids)
		return 100;
	signal(SIGCHLD, SIG_IGN); /* no zombies: the kernel lists them as alive */
	for (long i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] < 0) {
			perror("crowd: unable to fork");
			return 111; /* the processes that exist die with this one */
		}
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (getppid() == self)
				pause();
			_exit(0);
		}
	}
	for (long i = 0; i < n; i++)
		printf("%s%d", i ? " " : "", (int)pids[i]);
	puts("");
	fflush(stdout);
	wait_line(STDIN_FILENO);
	for (long i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}
