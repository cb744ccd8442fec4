/* SPDX-License-Identifier: ISC */
/*
 * sigwait-run - wait for a signal, a time limit or the end of tasks; then undo
 *
 * Requires: procfs for -p. Knows nothing of tracing.
 *	-t MS        wait no longer than MS milliseconds
 *	-p PID       wait until this task is gone; given more often, all of them
 *	-u COMMAND   the undo: a command for sh -c, run once, however it ended
 *	PROG...      run it meanwhile; its end ends the wait. When something
 *	             else does, it is sent SIGTERM and waited for
 * Signals that end the wait: HUP INT QUIT TERM USR1 USR2. It sleeps at one
 * point, with no handler and no polling.
 * Exit: 0 the tasks are gone, PROG's own status, 99 time is up, 128+n signal n,
 * 100 misused, 111 refused, or the undo failed; 126 127 PROG.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"

static const struct tool tool = {
	.name = "sigwait-run",
	.usage = "sigwait-run [-t MS] [-p PID]... [-u COMMAND] [PROG...]",
	.purpose = "wait for a signal, a time limit or the end of tasks; then undo",
	.letters = "t:p:u:",
};

static sigset_t inherited;

/* Start argv with the signals as we found them; its exec failing is 126/127. */
static pid_t start(char *const *argv)
{
	pid_t pid = fork();

	if (pid < 0)
		err_errno("unable to fork");
	if (pid)
		return pid;
	sigprocmask(SIG_SETMASK, &inherited, NULL);
	execvp(argv[0], argv);
	err_errno("unable to run %s", argv[0]);
	_exit(errno == ENOENT ? 127 : 126);
}

static int tasks(void *arg, struct pids *out)
{
	const struct pids *given = arg;

	for (size_t i = 0; i < given->n; i++)
		pids_add(out, given->v[i]);
	return out->failed ? -1 : 0;
}

int main(int argc, char **argv)
{
	static const int ending[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1,
				      SIGUSR2 };
	struct pids given = { 0 };
	struct wait w = { .ms = -1, .fd = -1, .arg = &given };
	const char *undo = NULL;
	unsigned long ms;
	pid_t child = 0, pid;
	sigset_t set;
	int c, signo = 0, r, status;

	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case 't':
			if (text_number(opt_value, 0, INT_MAX, &ms) < 0)
				usage_error(&tool, "not a number of milliseconds: '%.80s'", opt_value);
			w.ms = (long)ms;
			break;
		case 'p':
			pid = text_pid(opt_value);
			if (!pid)
				usage_error(&tool, "not a pid: '%.80s'", opt_value);
			pids_add(&given, pid);
			break;
		default:
			undo = opt_value;
		}
	argv += opt_index;
	if (pids_sort(&given) < 0)
		return REFUSED;
	if (given.n)
		w.tasks = tasks;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		sigaddset(&set, ending[i]);
	w.signals = &set;
	/* somebody may have left SIGCHLD ignored, and a child would vanish */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, &inherited);
	if (*argv && (child = start(argv)) < 0)
		return REFUSED;
	/* not SIGCHLD, which other children and a stopped one send as well */
	if (child && (w.fd = (int)syscall(SYS_pidfd_open, child, 0)) < 0)
		err_errno("unable to wait for %s", *argv);
	r = child && w.fd < 0 ? -1 : wait_for(&w, &signo);

	status = r == ENDED_TASKS ? DONE : r == ENDED_TIME ? TIMED_OUT :
		 r == ENDED_SIGNAL ? 128 + signo : REFUSED;
	if (child && r == ENDED_FD) {
		status = child_wait(child);
	} else if (child) {
		kill(child, SIGTERM);
		child_wait(child);
	}
	if (undo) {
		char *const sh[] = { "sh", "-c", (char *)undo, NULL };

		child = start(sh);
		if (child < 0 || child_wait(child)) {
			err_msg("the undo failed: %s", undo);
			status = REFUSED;
		}
	}
	pids_clear(&given);
	return status;
}
