/* SPDX-License-Identifier: ISC */
/*
 * signals - start a program with no signal ignored and none blocked
 *
 *	signals PROG...
 * A program inherits what its parent ignores: SIGHUP below nohup(1), SIGINT and SIGQUIT
 * in the background of a script, SIGPIPE below many daemons. A shell cannot undo that.
 * Exit: PROG's status, 100 usage error, 127 PROG cannot be run.
 */
#include "prog.h"

int main(int argc, char **argv)
{
	/* the kernel's struct sigaction, all zero: SIG_DFL. libc's function refuses two signals */
	static const unsigned long plain[8];
	sigset_t none;

	if (argc < 2)
		return 100;
	for (int sig = 1; sig <= 64; sig++)
		syscall(SYS_rt_sigaction, sig, plain, NULL, 8);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
