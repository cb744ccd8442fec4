/* SPDX-License-Identifier: ISC */
/*
 * tfs-run - run a trace hook and show its trace, for people
 *
 * Requires: the managers of trace-hooks/, and what their hooks require.
 *	-m SUBSYSTEM  whose hooks; default ftrace
 *	HOOK          the hook; without one, all of them are listed
 *	OPTION...     the hook's options, as manager --describe HOOK lists them
 *	-- PROG...    trace this program, which is held until the trace records
 * The trace goes to standard output until ^C, a time limit (--time MS), the
 * end of PROG or of all traced tasks. Nothing is left behind.
 * Exit: 0 done, PROG's own status, 100 misused, 111 refused, 126 127 PROG.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tfs.h"

static const struct tool tool = {
	.name = "tfs-run",
	.usage = "tfs-run [-m SUBSYSTEM] [HOOK [OPTION]... [-- PROG...]]",
	.purpose = "run a trace hook and show its trace, for people",
	.letters = "m:",
};

static sigset_t inherited;

static void find_manager(char *path, const char *subsystem)
{
	char dir[PATH_MAX], here[300], installed[300];
	const char *const near[] = { here, installed, NULL };

	if (!name_ok(subsystem))
		misused(&tool, "not a subsystem's name: '%.80s'", subsystem);
	format(here, sizeof(here), "../trace-hooks/%s/manager", subsystem);
	format(installed, sizeof(installed), "../lib/trace-hooks/%s/manager", subsystem);
	if (own_directory(dir) < 0)
		exit(REFUSED);
	if (find_near(dir, path, near) < 0)
		die(MISUSED, "no subsystem %s in %s/../trace-hooks", subsystem, dir);
}

/* PROG, held until a byte comes; when the other end just closes, it never was. */
static pid_t hold(char **argv, int *release)
{
	int hold[2];
	pid_t pid;
	char c;

	if (pipe2(hold, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		complain_errno("unable to start %s", *argv);
		exit(REFUSED);
	}
	if (pid) {
		close(hold[0]);
		*release = hold[1];
		return pid;
	}
	close(hold[1]);
	sigprocmask(SIG_SETMASK, &inherited, NULL);
	if (read(hold[0], &c, 1) != 1)
		_exit(REFUSED);
	execvp(*argv, argv);
	complain_errno("unable to run %s", *argv);
	_exit(errno == ENOENT ? 127 : 126);
}

/* The hook's options as one --args string; PROG's pid and the output are ours. */
static char *make_args(char **words, pid_t prog_pid)
{
	size_t size = 64;
	char *args;

	for (char **w = words; *w; w++)
		size += 4 * strlen(*w) + 4;
	args = malloc(size);
	if (!args)
		die(REFUSED, "out of memory");
	/* in front: the caller's own --output is then the one too many */
	format(args, size, "--output fifo");
	for (; *words; words++)
		quote_word(args, size, *words);
	if (prog_pid) {
		size_t n = strlen(args);

		format(args + n, size - n, " --pid %d", (int)prog_pid);
	}
	return args;
}

static pid_t start_manager(char *path, char *hook, char *args, int *out)
{
	char *const argv[] = { path, (char[]){ "--run" }, hook, (char[]){ "--args" }, args,
			       NULL };
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		complain_errno("unable to start the manager");
		exit(REFUSED);
	}
	if (!pid) {
		/* should we die without a word, the session ends as well */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		sigprocmask(SIG_SETMASK, &inherited, NULL);
		dup2(ends[1], STDOUT_FILENO);
		execv(path, argv);
		complain_errno("unable to run %s", path);
		_exit(126);
	}
	close(ends[1]);
	*out = ends[0];
	return pid;
}

/* The path that the manager prints. Its absence was explained by it. */
static int open_trace(int from)
{
	char path[PATH_MAX];
	size_t n = 0;
	ssize_t got;
	int fd;

	while (n < sizeof(path) - 1 && (got = read(from, path + n, sizeof(path) - 1 - n)) > 0)
		n += (size_t)got;
	if (!n || path[n - 1] != '\n')
		return -1;
	path[n - 1] = '\0';
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		complain_errno("unable to open %s", path);
	return fd;
}

/*
 * Copy the trace to its end. Once PROG is gone, or we are told to stop, the
 * manager is told, and what the buffer holds still comes.
 */
static int copy(int trace, pid_t manager, pid_t child, int signals)
{
	static char text[64 * 1024];
	struct pollfd p[] = { { .fd = trace, .events = POLLIN },
			      { .fd = signals, .events = POLLIN } };
	struct signalfd_siginfo si;
	siginfo_t gone;
	ssize_t n;

	for (;;) {
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents && read(signals, &si, sizeof(si)) == sizeof(si)) {
			gone.si_pid = 0;
			if (si.ssi_signo == SIGCHLD && child)
				waitid(P_PID, (id_t)child, &gone,
				       WEXITED | WNOHANG | WNOWAIT);
			if (si.ssi_signo != SIGCHLD || gone.si_pid)
				kill(manager, SIGINT);
		}
		if (!p[0].revents)
			continue;
		n = read(trace, text, sizeof(text));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return DONE;
		if (write_all(STDOUT_FILENO, text, (size_t)n) < 0) {
			complain_errno("unable to write the trace");
			kill(manager, SIGINT);
			return REFUSED;
		}
	}
}

int main(int argc, char **argv)
{
	const char *subsystem = "ftrace";
	char manager[PATH_MAX], *hook, *args, **command = NULL;
	int signals, release = -1, from, trace, status, r;
	pid_t child = 0, pid;
	sigset_t set;
	int c;

	while ((c = next_option(&tool, argc, argv)) != -1)
		subsystem = opt_value;
	argv += opt_index;
	find_manager(manager, subsystem);
	hook = *argv;
	if (!hook) {
		execl(manager, manager, "--get-all", (char *)NULL);
		die(REFUSED, "unable to run %s", manager);
	}
	for (argv++; argv[0] && strcmp(argv[0], "--"); argv++)
		;
	if (*argv) {
		*argv = NULL;
		command = argv + 1;
		if (!*command)
			misused(&tool, "nothing behind --");
	}
	for (argv--; *argv != hook; argv--)
		;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, &inherited);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (command)
		child = hold(command, &release);
	args = make_args(argv + 1, child);
	pid = start_manager(manager, hook, args, &from);
	free(args);
	trace = open_trace(from);
	if (trace < 0) {
		close(release);
		kill(pid, SIGINT);
		if (child)
			finish(child);
		status = finish(pid);
		return status ? status : REFUSED;
	}
	signal(SIGPIPE, SIG_IGN); /* somebody may have killed PROG meanwhile */
	if (command && write(release, "", 1) != 1)
		complain_errno("unable to release %s", *command);
	signal(SIGPIPE, SIG_DFL);
	r = copy(trace, pid, child, signals);
	close(trace);
	status = finish(pid);
	r = r ? r : status;
	status = child ? finish(child) : 0;
	return r ? r : status;
}
