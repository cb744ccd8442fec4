/* SPDX-License-Identifier: ISC */
/*
 * tfs-run - run a trace hook and show its trace, for people
 *
 * Requires: the managers of trace-hooks/, and what their hooks require.
 *	-m SUBSYSTEM  whose hooks; default ftrace
 *	-o FILE       write the trace to FILE; PROG keeps standard output
 *	HOOK          the hook; without one, all of them are listed
 *	OPTION...     the hook's options, as manager --describe HOOK lists them
 *	-- PROG...    trace this program, which is held until the trace records
 * The trace goes to standard output until ^C, a time limit (--time MS), the
 * end of PROG or of all traced tasks. PROG's standard output goes to standard
 * error, so that the trace has nothing but events. HUP INT TERM go to PROG, and
 * without a living PROG they end the session; USR1 goes to the manager. Nothing
 * is left behind.
 * Exit: 0 done, PROG's own status, 100 misused, 111 refused, 126 127 PROG,
 * 128+n signal n before it recorded, or its reader went away.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

static const struct tool tool = {
	.name = "tfs-run",
	.usage = "tfs-run [-m SUBSYSTEM] [-o FILE] [HOOK [OPTION]... [-- PROG...]]",
	.purpose = "run a trace hook and show its trace, for people",
	.letters = "m:o:",
};

/* A stop signal came, and the reader of the trace takes nothing for so long. */
#define STUCK_MS 2000

static sigset_t inherited;

/* A run from the manager's start to the end of all that belongs to it. */
struct run {
	pid_t manager, prog;    /* 0: none, or it has ended and was waited for */
	int prog_over;          /* it has ended; its status is not taken yet */
	int status;             /* the manager's */
	int signals;            /* a signalfd */
	int trace;              /* -1: closed */
	int out, chunk;         /* where the trace goes; bytes that one write may have */
	int told;               /* the last signal that told us to stop; 0: none */
	int failed;             /* the status to leave with when a write failed; or 0 */
	int no_reader;          /* nobody reads what we write */
	size_t at, n;           /* of text: from here, so many bytes are to be written */
	char text[64 * 1024];
};

/* No descriptor of ours may land where the caller closed a standard one. */
static void occupy_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static void find_manager(char *path, const char *subsystem)
{
	char dir[PATH_MAX], here[300], installed[300];
	const char *const near[] = { here, installed, NULL };

	if (!text_is_name(subsystem))
		usage_error(&tool, "not a subsystem's name: '%.80s'", subsystem);
	str_format(here, sizeof(here), "../trace-hooks/%s/manager", subsystem);
	str_format(installed, sizeof(installed), "../lib/trace-hooks/%s/manager", subsystem);
	if (program_directory(dir) < 0)
		exit(REFUSED);
	if (program_find(dir, path, near) < 0)
		err_exit(MISUSED, "no subsystem %s in %s/../trace-hooks", subsystem, dir);
}

/*
 * Start PROG, held until a byte comes. If the other end just closes, PROG never
 * runs. Its standard output is standard error, unless it keeps its own.
 */
static pid_t hold(char **argv, int keeps_stdout, int *release)
{
	int hold[2];
	pid_t pid;
	char c;

	if (pipe2(hold, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		err_errno("unable to start %s", *argv);
		exit(REFUSED);
	}
	if (pid) {
		close(hold[0]);
		*release = hold[1];
		return pid;
	}
	close(hold[1]);
	sigprocmask(SIG_SETMASK, &inherited, NULL);
	if (!keeps_stdout)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (read(hold[0], &c, 1) != 1)
		_exit(REFUSED);
	execvp(*argv, argv);
	err_errno("unable to run %s", *argv);
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
		err_exit(REFUSED, "out of memory");
	/* in front: the caller's own --output is then the one too many */
	str_format(args, size, "--output fifo");
	for (; *words; words++)
		words_quote(args, size, *words);
	if (prog_pid) {
		size_t n = strlen(args);

		str_format(args + n, size - n, " --pid %d", (int)prog_pid);
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
		err_errno("unable to start the manager");
		exit(REFUSED);
	}
	if (!pid) {
		/* a terminal's ^C comes to us, who tell the manager when to end */
		setpgid(0, 0);
		signal(SIGTTOU, SIG_IGN); /* and it may still say there what is wrong */
		signal(SIGINT, SIG_DFL); /* how we tell it, even if we came to ignore it */
		/* should we die without a word, the session ends as well */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		sigprocmask(SIG_SETMASK, &inherited, NULL);
		dup2(ends[1], STDOUT_FILENO);
		execv(path, argv);
		err_errno("unable to run %s", path);
		_exit(126);
	}
	close(ends[1]);
	*out = ends[0];
	return pid;
}

/* ---- before the trace records ---------------------------------------------- */

/*
 * Read the manager's line, the path of the trace, into path (PATH_MAX bytes). 0; -1:
 * the manager has said why there is none; or the number of a signal that told us to
 * stop. SIGUSR1 stays for later, in *dump.
 */
static int await_path(int from, int signals, char *path, int *dump)
{
	struct pollfd p[] = { { .fd = from, .events = POLLIN },
			      { .fd = signals, .events = POLLIN } };
	struct signalfd_siginfo si;
	size_t n = 0;
	ssize_t got;

	for (;;) {
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents && read(signals, &si, sizeof(si)) == sizeof(si)) {
			if (si.ssi_signo == SIGUSR1)
				*dump = 1;
			else if (si.ssi_signo != SIGCHLD)
				return (int)si.ssi_signo;
		}
		if (!p[0].revents)
			continue;
		got = read(from, path + n, PATH_MAX - 1 - n);
		if (got <= 0)
			return -1;
		n += (size_t)got;
		if (path[n - 1] != '\n')
			continue;
		path[n - 1] = '\0';
		return 0;
	}
}

/* End a run whose PROG is not to start: closing release lets it go for nothing. */
static int abandon(struct run *r, int release, int signo)
{
	close(release);
	kill(r->manager, signo ? signo : SIGINT);
	if (r->prog)
		child_wait(r->prog);
	return child_wait(r->manager);
}

/* ---- while it records, and until all is over ---------------------------------- */

static void close_trace(struct run *r)
{
	if (r->trace >= 0)
		close(r->trace);
	r->trace = -1;
	r->n = 0;
}

/* Nothing more can be written: the session is to end, and nobody waits for its events. */
static void give_up(struct run *r)
{
	close_trace(r);
	if (r->manager)
		kill(r->manager, SIGINT);
}

/* As if PROG wrote to that reader itself, it hears of the broken pipe as well. */
static void reader_left(struct run *r)
{
	r->no_reader = 1;
	if (r->prog && !r->prog_over)
		kill(r->prog, SIGPIPE);
	give_up(r);
}

static void write_some(struct run *r)
{
	size_t most = r->n < (size_t)r->chunk ? r->n : (size_t)r->chunk;
	ssize_t n = write(r->out, r->text + r->at, most);

	if (n >= 0) {
		r->at += (size_t)n;
		r->n -= (size_t)n;
	} else if (errno == EPIPE) {
		reader_left(r);
	} else if (errno != EINTR && errno != EAGAIN) {
		err_errno("unable to write the trace");
		r->failed = REFUSED;
		give_up(r);
	}
}

static void read_some(struct run *r)
{
	ssize_t n = read(r->trace, r->text, sizeof(r->text));

	r->at = 0;
	r->n = n > 0 ? (size_t)n : 0;
	if (n == 0 || (n < 0 && errno != EINTR))
		close_trace(r);
}

/*
 * Note who has ended. PROG is a zombie until the manager has ended, so that its
 * status can be seen in procfs by whom it concerns.
 */
static void look_at_children(struct run *r)
{
	siginfo_t gone = { .si_pid = 0 };
	int status;

	if (r->manager && waitpid(r->manager, &status, WNOHANG) == r->manager) {
		r->manager = 0;
		r->status = child_status(status);
	}
	if (!r->prog || r->prog_over ||
	    waitid(P_PID, (id_t)r->prog, &gone, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    !gone.si_pid)
		return;
	r->prog_over = 1;
	if (r->manager)
		kill(r->manager, SIGINT);
}

/* A terminal's signal is PROG's already, as long as it is in our process group. */
static void stop(struct run *r, const struct signalfd_siginfo *si)
{
	r->told = (int)si->ssi_signo;
	if (!r->prog || r->prog_over) {
		if (r->manager)
			kill(r->manager, SIGINT);
	} else if (si->ssi_code != SI_KERNEL || getpgid(r->prog) != getpgrp()) {
		kill(r->prog, r->told);
	}
}

static void hear(struct run *r)
{
	struct signalfd_siginfo si;

	while (read(r->signals, &si, sizeof(si)) == sizeof(si))
		if (si.ssi_signo == SIGCHLD)
			look_at_children(r);
		else if (si.ssi_signo != SIGUSR1)
			stop(r, &si);
		else if (r->manager)
			kill(r->manager, SIGUSR1);
}

/* Copy the trace to its end, and see the manager's and PROG's. */
static void see_through(struct run *r)
{
	while (r->trace >= 0 || r->manager || (r->prog && !r->prog_over)) {
		/* until the text is written nothing more is read */
		struct pollfd p[] = {
			{ .fd = r->signals, .events = POLLIN },
			{ .fd = r->n ? -1 : r->trace, .events = POLLIN },
			{ .fd = r->no_reader || r->failed ? -1 : r->out,
			  .events = r->n ? POLLOUT : 0 },
		};
		int stoppable = r->told && r->n && (!r->prog || r->prog_over);
		int ready = poll(p, 3, stoppable ? STUCK_MS : -1);

		if (!ready) {
			err_msg("unable to write the trace: signal %d came, and its reader "
				"takes nothing", r->told);
			r->failed = 128 + r->told;
			give_up(r);
		}
		if (ready <= 0)
			continue;
		if (p[0].revents)
			hear(r);
		if (p[2].revents & (POLLERR | POLLHUP))
			reader_left(r);
		else if (r->n && p[2].revents)
			write_some(r);
		else if (r->trace >= 0 && p[1].revents)
			read_some(r);
	}
}

/* ---- main ------------------------------------------------------------------------ */

static int hold_signals(void)
{
	static const int those[] = { SIGINT, SIGTERM, SIGUSR1, SIGCHLD };
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(those) / sizeof(*those); i++)
		sigaddset(&set, those[i]);
	/* nohup(1); a signal that is blocked comes even if it is ignored */
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, &inherited);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A pipe that polls writable takes so much without a wait: pipe(7). */
static int chunk_of(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) ? INT_MAX : PIPE_BUF;
}

int main(int argc, char **argv)
{
	static struct run r; /* large: values here would make the program as large */
	const char *subsystem = "ftrace", *file = NULL;
	char manager[PATH_MAX], path[PATH_MAX], *hook, *args, **command = NULL;
	int release = -1, from, dump = 0, told, status;
	int c;

	r.trace = -1;
	r.out = STDOUT_FILENO;
	occupy_standard_descriptors();
	while ((c = opt_next(&tool, argc, argv)) != -1)
		if (c == 'm')
			subsystem = opt_value;
		else
			file = opt_value;
	argv += opt_index;
	find_manager(manager, subsystem);
	hook = *argv;
	if (!hook) {
		execl(manager, manager, "--get-all", (char *)NULL);
		err_exit(REFUSED, "unable to run %s", manager);
	}
	for (argv++; argv[0] && strcmp(argv[0], "--"); argv++)
		;
	if (*argv) {
		*argv = NULL;
		command = argv + 1;
		if (!*command)
			usage_error(&tool, "nothing behind --");
	}
	for (argv--; *argv != hook; argv--)
		;
	if (file && (r.out = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0) {
		err_errno("unable to open %s", file);
		return REFUSED;
	}
	r.chunk = chunk_of(r.out);

	r.signals = hold_signals();
	if (command)
		r.prog = hold(command, file != NULL, &release);
	args = make_args(argv + 1, r.prog);
	r.manager = start_manager(manager, hook, args, &from);
	free(args);
	signal(SIGPIPE, SIG_IGN); /* write tells it, of PROG and of the reader */
	told = await_path(from, r.signals, path, &dump);
	if (told) {
		status = abandon(&r, release, told > 0 ? told : 0);
		return told > 0 ? 128 + told : status ? status : REFUSED;
	}
	r.trace = open(path, O_RDONLY | O_CLOEXEC);
	if (r.trace < 0) {
		err_errno("unable to open %s", path);
		status = abandon(&r, release, 0);
		return status ? status : REFUSED;
	}
	/* somebody may have killed PROG meanwhile */
	if (command && write(release, "", 1) != 1)
		err_errno("unable to release %s", *command);
	if (dump)
		kill(r.manager, SIGUSR1);
	look_at_children(&r);
	see_through(&r);
	status = r.prog ? child_wait(r.prog) : 0;
	if (r.no_reader)
		stdout_broken_pipe();
	return r.failed ? r.failed : r.status ? r.status : status;
}
