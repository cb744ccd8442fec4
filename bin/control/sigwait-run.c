/* SPDX-License-Identifier: ISC */
/*
 * sigwait-run - wait for a signal, a time limit or the end of tasks; then undo
 *
 * Requires: procfs for -p.
 * sigwait-run runs PROG during the wait; the end of PROG ends the wait. If something else
 * ends the wait, sigwait-run sends SIGTERM to PROG and waits for its end.
 * These signals end the wait: HUP INT QUIT TERM USR1 USR2. sigwait-run sleeps in one system
 * call, with no handler and no polling.
 * Exit: 0 the tasks have ended, PROG's own status, 99 the time limit is over, 128+n signal n,
 * 100 usage error, 111 refused, or the undo command failed; 126 127 PROG cannot be run.
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "proc/proc.h"

static const char *undo;
static unsigned long ms = ULONG_MAX;

static const struct tool tool = {
	TOOL_SIGWAIT_RUN,
	.places = (const struct opt_place[]){
		{ 't', .number = &ms }, { 'u', .text = &undo }, { 0 },
	},
};

static sigset_t inherited;

/*
 * Start a program with the signal mask that sigwait-run was started with. Return its pid, or
 * -1, reported. If the exec fails, the child prints an error message and exits
 * with 126 or 127.
 */
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

/* Append the tasks of -p to out, for wait_for. Return 0, or -1 if memory runs out. */
static int tasks(void *arg, struct pids *out)
{
	return pids_plus(out, arg);
}

/* Run the undo command. Return 0, or -1, reported. */
static int run_undo(void)
{
	char *const sh[] = { "sh", "-c", (char *)(size_t)undo, NULL };
	pid_t child = start(sh);

	return child < 0 || child_wait(child) ? err_msg("the undo failed: %s", undo) : 0;
}

int main(int argc, char **argv)
{
	static const int ending[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };
	struct pids given = { 0 };
	struct wait w = { .fd = -1, .arg = &given };
	pid_t child = 0;
	sigset_t set;
	int c = 0, signo = 0, r, status;

	while (opt_next(&tool, argc, argv) != -1)
		pids_add(&given, text_pid(opt_value));
	w.ms = (long)ms; /* without -t: -1 */
	argv += opt_index;
	if (pids_sort(&given) < 0)
		return REFUSED;
	w.tasks = given.n ? tasks : NULL;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		sigaddset(&set, ending[i]);
	w.signals = &set;
	/* if the caller left SIGCHLD ignored, the kernel would reap the child unseen */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, &inherited);
	if (*argv && (child = start(argv)) < 0)
		return REFUSED;
	/* do not wait for SIGCHLD: other children and a stopped child send it as well */
	if (child && (w.fd = (int)syscall(SYS_pidfd_open, child, 0)) < 0)
		err_errno("unable to wait for %s", *argv);
	r = child && w.fd < 0 ? -1 : wait_for(&w, &signo);
	status = r == ENDED_TASKS ? DONE : r == ENDED_TIME ? TIMED_OUT :
		 r == ENDED_SIGNAL ? 128 + signo : REFUSED;
	if (child && r != ENDED_FD)
		kill(child, SIGTERM);
	if (child)
		c = child_wait(child);
	if (child && r == ENDED_FD)
		status = c;
	if (undo && run_undo() < 0)
		status = REFUSED;
	pids_clear(&given);
	return status;
}
