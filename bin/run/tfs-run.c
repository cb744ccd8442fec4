/* SPDX-License-Identifier: ISC */
/*
 * tfs-run - run a trace hook and show its trace, for people
 *
 * Requires: the managers of trace-hooks/, and the files that the hook requires.
 * Without HOOK, tfs-run lists all hooks. OPTION... are options of the hook; tfs-run HOOK
 * --help lists them. tfs-run holds PROG until the session records.
 * tfs-run copies the trace to standard output until ^C, a time limit (--time MS), the
 * end of PROG or the end of all traced tasks. PROG's standard output goes to standard
 * error, so that the trace contains nothing but events. tfs-run passes HUP, INT and TERM
 * to PROG; if no PROG is alive, these signals end the session. tfs-run passes USR1 to
 * the manager. Nothing is left behind.
 * Exit: 0 done, PROG's status, 100 usage error, 111 refused, 126 127 PROG did not start,
 * 128+n signal n came before the session recorded, or the reader of the trace left.
 */
#include <poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/base.h"
#include "tool/tool.h"
#include "help.h"
#include "reader/reader.h"
#include "people/people.h"
#include "front.h"
#include "proc/proc.h"
#include "session/session.h"

static const struct tool tool = { TOOL_TFS_RUN };

/* After a stop signal: how long to wait for a reader of the trace that reads nothing. */
#define STUCK_MS 2000

/*
 * After a stop signal: how long a terminal may go on showing what came before it, and after that
 * how long to wait for one that shows nothing, because its user typed ^S, for example.
 */
#define SHOW_MS 250
#define TERMINAL_MS 1000

/* Wait so long for the stream to read which files PROG has open. */
#define FILES_MS 2000

/* The caller's signal mask and environment, which PROG gets unchanged. */
static sigset_t inherited;
static char **environment;

/* One run: the manager, PROG, and the copy of the trace. */
struct run {
	pid_t manager, prog;    /* 0: not started, or reaped */
	int prog_over;          /* PROG has ended, but is not reaped yet */
	int status;             /* of the manager */
	int from;               /* its standard output: the path, and why the session failed */
	int signals;            /* a signalfd */
	int trace;              /* -1: closed */
	struct output output;
	int out, chunk;         /* output of the trace; the most bytes of one write */
	struct silence end;     /* while it ends */
	const struct ask *ask;
	long long quiet_at;     /* when to say what the tasks wait for, in ms; 0: never */
	int stop_signal;        /* the last signal that asked tfs-run to stop; 0: none */
	long long hurry_at;     /* when to end the output at a terminal, in ms; 0: not yet known */
	int failed;             /* exit status after a failed write; 0: no failure */
	int no_reader;          /* the reader of the output has left; 2: that of the filter */
	const char *at;         /* n bytes are not written yet */
	size_t n;
	char text[64 * 1024];
};

/* Run a file without #! as a shell does, see execvp(3). */
static void run_script(const char *path, char **argv)
{
	size_t n = 1;
	char **words;

	while (argv[n])
		n++;
	words = xcalloc(n + 2, sizeof(*words));
	words[0] = (char[]){ "sh" };
	words[1] = (char *)(size_t)path;
	memcpy(words + 2, argv + 1, (n - 1) * sizeof(*words));
	execv("/bin/sh", words);
}

/* The byte that PROG waits for: start, or stop first. */
enum { START = 'g', STOP = 's' };

/*
 * Let the child stop itself, as a debugger does. If the child waited in a call, this call would
 * return when the session records, and be the first event of the trace. The kernel kills the child
 * if tfs-run dies (PTRACE_O_EXITKILL, ptrace(2)). Return 0; -1 if a seccomp filter or the like
 * forbids ptrace(2).
 */
static int stop_child(pid_t pid, int release)
{
	siginfo_t si;

	if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_EXITKILL) < 0)
		return -1;
	if (write(release, &(char){ STOP }, 1) != 1)
		return 0; /* it is dead: start_child fails */
	/* without WEXITED: child_wait gets the status if another signal kills the child */
	while (!waitid(P_PID, (id_t)pid, &si, WSTOPPED) && si.si_status != SIGSTOP)
		ptrace(PTRACE_CONT, pid, NULL, si.si_status < 128 ? si.si_status : 0);
	return 0;
}

/*
 * Fork PROG and hold it, either stopped or until a byte arrives on *release. If *release closes
 * without a byte, PROG never runs. PROG's standard output becomes standard error unless
 * keeps_stdout is set. Return its pid. *release is -1 if PROG is stopped.
 */
static pid_t hold(const char *path, char **argv, int keeps_stdout, int *release)
{
	volatile size_t touched = 0;
	int hold[2];
	pid_t pid;
	char c;

	if (pipe2(hold, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		err_refuse("unable to start %s", *argv);
	if (pid) {
		close(hold[0]);
		*release = hold[1];
		if (!stop_child(pid, *release)) {
			close(*release);
			*release = -1;
		}
		return pid;
	}
	close(hold[1]);
	sigprocmask(SIG_SETMASK, &inherited, NULL);
	environ = environment;
	if (!keeps_stdout)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	/* touch the arguments: some machines map their pages at the first access, and BPF cannot */
	for (char **word = argv; *word; word++)
		touched += strlen(*word);
	(void)touched;
	if (read(hold[0], &c, 1) != 1)
		_exit(REFUSED);
	if (c == STOP)
		kill(getpid(), SIGSTOP);
	execv(path, argv);
	if (errno == ENOEXEC)
		run_script(path, argv);
	err_errno("unable to run %s", *argv);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Start the program that is held. Return 0, or -1 if it was killed meanwhile. */
static int start_child(pid_t pid, int release)
{
	if (release < 0)
		return (int)ptrace(PTRACE_DETACH, pid, NULL, 0);
	return write(release, &(char){ START }, 1) == 1 ? 0 : -1;
}

/* A path that begins at the working directory: the manager has another one. */
static int is_relative(const char *path)
{
	return !strncmp(path, "./", 2) || !strncmp(path, "../", 3);
}

/* Return a word of the hook's options. A relative path, the word or its value, becomes absolute. */
static char *absolute(char *word)
{
	char *value = *word == '-' && strchr(word, '=') ? strchr(word, '=') + 1 : word;
	char *path = is_relative(value) ? realpath(value, NULL) : NULL;
	struct strbuf whole = { 0 };

	if (!path)
		return word;
	strbuf_format(&whole, "%.*s%s", (int)(value - word), word, path);
	free(path);
	return whole.text;
}

/* Return the command line of a manager: options of the output, of the caller, and PROG's pid. */
static char **manager_words(const char *manager, const char *action, const char *hook,
			    char **words, const struct output *o, pid_t prog)
{
	static char pid[16];
	const struct { int given; const char *word; } all[] = {
		{ 1, manager }, { 1, action }, { 1, hook }, { 1, "--" },
		/* in front, so that the manager refuses an --output of the caller as the second */
		{ 1, "--output" }, { 1, o->dat ? "dat" : "fifo" }, { o->json, "--json" },
		{ o->date, "--date" }, { o->header, "--header" },
	};
	int all_tasks = ask_has_word(words, "--all");
	char **argv;
	size_t n = 0;

	while (words[n])
		n++;
	argv = xcalloc(n + sizeof(all) / sizeof(*all) + OUTPUT_MORE + 3, sizeof(*argv));
	n = 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].given)
			argv[n++] = (char *)(size_t)all[i].word;
	for (const char *const *word = o->more; *word; word++)
		argv[n++] = (char *)(size_t)*word;
	for (; *words; words++)
		argv[n++] = absolute(*words);
	/* with --all the session traces PROG anyway, and ends with it */
	if (prog && !all_tasks) {
		/* in a container, tfs-run and the manager may know PROG by different pids */
		str_format(pid, sizeof(pid), "%d", (int)task_procfs_pid(prog));
		argv[n++] = (char *)(size_t)"--pid";
		argv[n++] = pid;
	}
	return argv;
}

static pid_t start_manager(char **argv, int *out)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		err_refuse("unable to start the manager");
	if (!pid) {
		/* ^C at the terminal must reach tfs-run only; tfs-run ends the manager */
		setpgid(0, 0);
		signal(SIGTTOU, SIG_IGN); /* the manager may still write to the terminal */
		signal(SIGINT, SIG_DFL); /* tfs-run ends the manager by SIGINT */
		/* if tfs-run is killed, the session ends as well */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		sigprocmask(SIG_SETMASK, &inherited, NULL);
		dup2(ends[1], STDOUT_FILENO);
		execv(*argv, argv);
		err_errno("unable to run %s", *argv);
		_exit(126);
	}
	close(ends[1]);
	*out = ends[0];
	return pid;
}

/* ---- before the session records --------------------------------------------- */

/*
 * Read the manager's line, the path of the trace, into path (PATH_MAX bytes). Return 0,
 * or -1 if the manager ended with a message of its own, or the number of a signal that
 * asks tfs-run to stop. If SIGUSR1 arrives, set *dump for later.
 */
static int await_path(int from, int signals, struct silence *start, char *path, int *dump)
{
	struct pollfd p[] = { { .fd = from, .events = POLLIN },
			      { .fd = signals, .events = POLLIN } };
	struct signalfd_siginfo si;
	size_t n = 0;
	ssize_t got;

	for (;;) {
		if (poll(p, 2, silence_wait(start)) <= 0) {
			silence_tell(start);
			continue;
		}
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

/*
 * End the run before PROG starts: kill PROG, or let it exit because release closes. Pass signo,
 * or SIGINT if it is 0, to the manager. Return the manager's status.
 */
static int abandon(struct run *r, int release, int signo)
{
	if (release >= 0)
		close(release);
	else if (r->prog)
		kill(r->prog, SIGKILL);
	kill(r->manager, signo ? signo : SIGINT);
	if (r->prog)
		child_wait(r->prog);
	return child_wait(r->manager);
}

/* ---- while the session records, and until everything has ended ----------------- */

static void close_trace(struct run *r)
{
	fd_close(r->trace);
	r->trace = -1;
}

/* End the session and drop the rest of the trace, since it cannot be written. */
static void give_up(struct run *r)
{
	close_trace(r);
	r->n = 0;
	if (r->manager)
		kill(r->manager, SIGINT);
}

/*
 * Send SIGPIPE to PROG, as if PROG itself wrote to the reader, and end the session. whose: see
 * no_reader.
 */
static void reader_left(struct run *r, int whose)
{
	r->no_reader = whose;
	if (r->prog && !r->prog_over)
		kill(r->prog, SIGPIPE);
	give_up(r);
}

static void write_some(struct run *r)
{
	size_t most = r->n < (size_t)r->chunk ? r->n : (size_t)r->chunk;
	ssize_t n = write(r->out, r->at, most);

	if (n >= 0) {
		r->at += n;
		r->n -= (size_t)n;
	} else if (errno == EPIPE) {
		reader_left(r, 1);
	} else if (errno != EINTR && errno != EAGAIN) {
		err_errno("unable to write %s", r->output.file ? r->output.file : "the trace");
		r->failed = REFUSED;
		give_up(r);
	}
}

/* Read no more for a terminal than it shows in a moment. */
enum { TERMINAL_BYTES = 16 * 1024 };

static void read_some(struct run *r)
{
	ssize_t n;

	if (r->output.reader[0] && !r->output.decided) {
		if (output_reader(&r->output, &r->trace) < 0) {
			r->failed = REFUSED;
			give_up(r);
		}
		return;
	}
	n = read(r->trace, r->text, r->output.terminal ? TERMINAL_BYTES : sizeof(r->text));
	if (n < 0 && errno == EINTR)
		return;
	r->at = r->text;
	r->n = n > 0 ? (size_t)n : 0;
	output_count(&r->output, r->text, r->n);
	if (n <= 0)
		close_trace(r);
	if (r->output.terminal)
		output_show(&r->output, &r->at, &r->n);
}

/*
 * Check whether the manager or PROG has ended. PROG stays a zombie until the manager has
 * ended, because the session reads PROG's exit code from procfs.
 */
static void look_at_children(struct run *r)
{
	siginfo_t ended = { .si_pid = 0 };
	int status, is_over = 0;

	if (r->manager && waitpid(r->manager, &status, WNOHANG) == r->manager) {
		r->manager = 0;
		r->status = child_status(status);
		is_over = 1;
	}
	if (!r->prog || r->prog_over ||
	    waitid(P_PID, (id_t)r->prog, &ended, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    !ended.si_pid) {
		if (is_over && r->prog && !r->prog_over && !r->stop_signal && !r->no_reader &&
		    !r->failed && isatty(STDERR_FILENO))
			err_note("the recording has ended, and the program (pid %d) goes on; "
				 "Ctrl-C ends it", (int)r->prog);
		return;
	}
	r->prog_over = 1;
	if (r->manager)
		kill(r->manager, SIGINT);
}

/*
 * Pass a stop signal to PROG, or end the session if PROG is not alive. A signal from the
 * terminal (SI_KERNEL) has reached PROG already if PROG is in the same process group.
 */
static void stop(struct run *r, const struct signalfd_siginfo *si)
{
	r->stop_signal = (int)si->ssi_signo;
	if (!r->prog || r->prog_over) {
		if (r->manager)
			kill(r->manager, SIGINT);
	} else if (si->ssi_code != SI_KERNEL || getpgid(r->prog) != getpgrp()) {
		kill(r->prog, r->stop_signal);
	}
}

static void handle_signals(struct run *r)
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

/* Was tfs-run told to stop, and is there no PROG that may go on? */
static int is_ending(const struct run *r)
{
	return r->stop_signal && (!r->prog || r->prog_over);
}

/*
 * A person who has typed ^C wants the prompt back. If a terminal is still busy with the trace
 * SHOW_MS later, show the last lines only. Return for how many ms poll(2) may wait; -1: for ever.
 */
static int hurry(struct run *r)
{
	long long now;

	if (!is_ending(r))
		return r->output.progress ? PROGRESS_MS : -1;
	if (!r->output.terminal || r->output.hurried)
		return !r->n ? -1 : r->output.terminal ? TERMINAL_MS : STUCK_MS;
	now = time_now_ms();
	if (!r->hurry_at)
		r->hurry_at = now + SHOW_MS;
	r->output.hurried = now >= r->hurry_at;
	return r->output.hurried ? TERMINAL_MS : (int)(r->hurry_at - now);
}

/* End the run: a stop signal has come, and the reader takes no output. */
static void reader_stuck(struct run *r)
{
	if (!r->output.terminal) {
		err_msg("unable to write the trace: signal %d came, and the reader reads nothing",
			r->stop_signal);
		r->failed = 128 + r->stop_signal;
	}
	give_up(r);
}

/* Return for how many ms poll(2) may wait; at the end, a person gets to know what takes so long. */
static int wait_at_most(struct run *r, int wait)
{
	int ends = r->manager && !r->n && (r->prog_over || is_ending(r) ||
					   (r->trace < 0 && !r->output.dat)), most;

	if (!ends)
		silence_end(&r->end);
	else if (!r->end.since)
		silence_begin(&r->end, "ending", r->manager);
	most = silence_wait(&r->end);
	if (r->quiet_at && !ends && !r->n)
		most = (int)(r->quiet_at > time_now_ms() ? r->quiet_at - time_now_ms() : 0);
	return most < 0 || (wait >= 0 && wait < most) ? wait : most;
}

/* If no line comes for so long, tell a person what the tasks wait for. */
enum { QUIET_MS = 2000 };

/* Begin the quiet time again: a line has come, or the recording begins. */
static void hear(struct run *r)
{
	if (r->quiet_at)
		r->quiet_at = time_now_ms() + QUIET_MS;
}

/* Tell once what the tasks wait for. */
static void tell_waits(struct run *r)
{
	hear(r);
	if (is_ending(r) || output_waits(r->ask))
		r->quiet_at = 0;
}

/* Copy the trace until it ends and the manager and PROG have ended. */
static void copy_trace(struct run *r)
{
	r->quiet_at = !r->prog && r->output.terminal && isatty(STDERR_FILENO);
	hear(r);
	while (r->trace >= 0 || r->n || r->manager || (r->prog && !r->prog_over)) {
		/* read no more until the text is written */
		struct pollfd p[] = {
			{ .fd = r->signals, .events = POLLIN },
			{ .fd = r->n ? -1 : r->trace, .events = POLLIN },
			{ .fd = r->no_reader || r->failed ? -1 : r->out,
			  .events = r->n ? POLLOUT : 0 },
			/* the filter notices only when it writes that its reader has left */
			{ .fd = r->no_reader || r->output.file || !r->output.filter[0] ? -1 :
				STDOUT_FILENO },
		};
		int wait = hurry(r), ready = poll(p, 4, wait_at_most(r, wait));

		output_progress(&r->output);
		if (ready > 0 && p[1].revents)
			hear(r);
		else if (ready <= 0 && r->quiet_at && !r->n && time_now_ms() >= r->quiet_at)
			tell_waits(r);
		if (ready > 0)
			silence_end(&r->end);
		else
			silence_tell(&r->end);
		if (!ready && r->n && is_ending(r) && wait >= TERMINAL_MS)
			reader_stuck(r);
		if (ready <= 0)
			continue;
		if (p[0].revents)
			handle_signals(r);
		if (p[2].revents & (POLLERR | POLLHUP))
			reader_left(r, 1);
		else if (p[3].revents)
			reader_left(r, 2);
		else if (r->n && p[2].revents)
			write_some(r);
		else if (r->trace >= 0 && p[1].revents)
			read_some(r);
	}
}

/* ---- main ------------------------------------------------------------------------ */

/* Copy the pointers of the environment, because tfs-run sets variables for the manager. */
static char **copy_environment(void)
{
	size_t n = 0;

	while (environ[n])
		n++;
	return memcpy(xcalloc(n + 1, sizeof(*environ)), environ, n * sizeof(*environ));
}

static int hold_signals(void)
{
	int blocked[] = { SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGHUP, 0 };
	struct sigaction hangup;

	/* nohup(1) ignores SIGHUP, but a signalfd delivers a blocked signal nevertheless */
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler == SIG_IGN)
		blocked[4] = 0;
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, NULL, &inherited);
	return wait_signals(blocked);
}

/*
 * Return the number of bytes that one write may have. A pipe that polls writable takes
 * PIPE_BUF bytes without blocking, see pipe(7).
 */
static int write_limit(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) ? INT_MAX : PIPE_BUF;
}

/* Exit unless the program can be run, and write its path to path (PATH_MAX bytes). */
static void find_program(const char *name, char *path)
{
	int status = ask_find_program(name, path);

	if (status)
		err_exit(status, status == 127 && strchr(name, '/') ?
				 "unable to run %s: no such program; correct the path" :
			 status == 127 ?
				 "unable to run %s: no such program in PATH; give its path" :
				 "unable to run %s: not executable; run chmod +x %s",
			 name, path);
}

/* Find the hook that ask names. Exit if there is none. */
static void choose_hook(const struct ask *ask, const char *hooks, struct catalog_hook *hook)
{
	int r = catalog_choose(hook, hooks, ask->subsystem, ask->hook);

	if (r == CATALOG_NONE && ask->subsystem && !catalog_choose(hook, hooks, NULL, ask->hook))
		err_msg("%s is a hook of %s, not of %s; leave -m out", hook->name,
			hook->subsystem, ask->subsystem);
	else if (r == CATALOG_NONE && !strcmp(ask->hook, "strace"))
		peers_strace(ask, hooks);
	else if (r == CATALOG_NONE && !peers_answer(ask) && !ask_hook_is_program(ask))
		catalog_suggest(hooks, ask->subsystem, ask->hook);
	if (r < 0)
		exit(MISUSED);
}

/* Answer a command line that runs nothing. */
static int answer(const struct ask *ask, const char *hooks)
{
	struct catalog_hook hook;

	if (!ask->hook && ask->check)
		return help_check(hooks, ask->subsystem);
	if (!ask->hook) {
		help_list(hooks, ask->subsystem);
		return DONE;
	}
	choose_hook(ask, hooks, &hook);
	return help_hook(&hook, ask_options, ask->help_all) < 0 ? REFUSED : DONE;
}

/* Become the manager that checks the hook, with its options if there are any. */
static int check(const struct ask *ask, const struct output *o, const char *manager,
		 const char *hook)
{
	char **argv = manager_words(manager, "--check", hook, ask->words, o, 0);

	if (!*ask->words)
		argv[3] = NULL;
	execv(manager, argv);
	return err_errno("unable to run %s", manager), REFUSED;
}

/* Start PROG, and read from the session. The trace is in path. Return 0, or the exit status. */
static int start_prog(struct run *r, const struct ask *ask, const char *path, int release)
{
	int status;

	if (!r->output.dat) {
		r->trace = open(path, O_RDONLY | O_CLOEXEC);
		if (r->trace < 0)
			err_errno("unable to open %s", path);
	}
	if ((!r->output.dat && r->trace < 0) || output_start(&r->output) < 0) {
		status = abandon(r, release, 0);
		return status ? status : REFUSED;
	}
	r->out = r->output.fd;
	r->chunk = r->out != STDOUT_FILENO && r->output.terminal ? INT_MAX : write_limit(r->out);
	if (ask->command && r->trace >= 0 && r->output.ready)
		poll((struct pollfd[]){ { r->trace, POLLIN, 0 }, { r->signals, POLLIN, 0 } }, 2,
		     FILES_MS);
	/* fails if PROG was killed meanwhile */
	if (ask->command && start_child(r->prog, release) < 0)
		err_errno("unable to release %s", *ask->command);
	return 0;
}

/* Make the session, and start PROG. Set path (PATH_MAX bytes). Return 0, or the exit status. */
static int begin(struct run *r, const struct ask *ask, const struct catalog_hook *hook,
		 const char *manager, const char *prog, char *path)
{
	int release = -1, dump = 0, signo, status;
	struct silence start;

	r->signals = hold_signals();
	if (ask->command)
		r->prog = hold(prog, ask->command, ask->file != NULL, &release);
	r->manager = start_manager(manager_words(manager, "--run", hook->name, ask->words,
						 &r->output, r->prog), &r->from);
	signal(SIGPIPE, SIG_IGN); /* write(2) returns EPIPE, for PROG and for the reader */
	silence_begin(&start, "starting", r->manager);
	signo = await_path(r->from, r->signals, &start, path, &dump);
	silence_end(&start);
	if (signo) {
		status = abandon(r, release, signo > 0 ? signo : 0);
		output_drop(&r->output);
		if (signo < 0 && status == MISUSED)
			ask_hint(ask, hook);
		return signo > 0 ? 128 + signo : status ? status : REFUSED;
	}
	status = start_prog(r, ask, path, release);
	if (!status && dump)
		kill(r->manager, SIGUSR1);
	return status;
}

/* Return the status of PROG as a shell does. Tell a person if PROG failed. */
static int wait_for_prog(const struct run *r, const char *name)
{
	siginfo_t ended = { .si_pid = 0 };
	int status;

	waitid(P_PID, (id_t)r->prog, &ended, WEXITED | WNOWAIT);
	status = child_wait(r->prog);
	if (!status || r->stop_signal || !isatty(STDERR_FILENO))
		return status;
	if (ended.si_code == CLD_EXITED)
		err_note("%s ended with status %d", name, status);
	else
		err_note("%s was killed by signal %d (%s)", name, status - 128,
			 strsignal(status - 128));
	return status;
}

/*
 * Print why the manager failed, or what the session has to say. The manager, which has ended, wrote
 * this to its standard output.
 */
static void tell_end(const struct run *r)
{
	char why[FAILURE_MAX];
	ssize_t n;

	fcntl(r->from, F_SETFL, O_NONBLOCK);
	n = read(r->from, why, sizeof(why) - 1);
	why[n > 0 ? n : 0] = '\0';
	if (!r->status && n > 0)
		err_note("%s", why);
	if (r->status)
		err_msg("the session ended early with status %d: %s; see the end of the trace",
			r->status, n > 0 ? why :
			"memory or the disk is short, or somebody ended its processes");
}

/* The trace is over: complete the output, and tell a person how it ended. Return the status. */
static int end(struct run *r, const struct ask *ask, const char *path)
{
	int status = r->prog ? wait_for_prog(r, *ask->command) : 0, filter;

	/* a recorder that failed may have left no file */
	if (r->output.dat && (!r->status || !access(path, F_OK)) &&
	    output_copy(&r->output, path) < 0)
		r->failed = REFUSED;
	filter = output_close(&r->output);
	if (r->no_reader > 1 ||
	    (r->no_reader && (!r->output.filter[0] || filter == 128 + SIGPIPE)))
		reader_broken_pipe();
	output_end(&r->output, ask, filter == NO && !r->failed, r->status);
	if (!r->failed)
		tell_end(r);
	if (r->failed || r->status)
		return r->failed ? r->failed : r->status;
	return filter > NO && filter != 128 + SIGPIPE ? filter : status ? status : filter;
}

int main(int argc, char **argv)
{
	static struct run r; /* large; an initializer would put it into the program's file */
	static struct catalog_hook hook;
	static struct hook parsed;
	char hooks[PATH_MAX], manager[PATH_MAX + 16], path[PATH_MAX], prog[PATH_MAX];
	struct ask ask;
	int status;

	r.trace = -1;
	fd_open_standard();
	environment = copy_environment();
	program_name = tool.name;
	setenv(FOR_PEOPLE, "1", 1);
	status = catalog_find(hooks, NULL);
	if (!status && ask_check_option(hooks, argv + 1) < 0)
		return MISUSED;
	ask_parse(&ask, &tool, argc, argv);
	if (ask.list || ask.end)
		return ask.end ? sessions_end(ask.end) : sessions_list();
	if (!status && ask.subsystem)
		status = catalog_find(hooks, ask.subsystem);
	if (status)
		return status;
	if (!ask.hook || ask.help)
		return answer(&ask, hooks);
	choose_hook(&ask, hooks, &hook);
	if (hook_read(&parsed, hook.dir, hook.name) < 0 || ask_check_first(&ask, &parsed) < 0 ||
	    peers_check_options(&ask, &parsed) < 0 || ask_check_units(&ask, &parsed) < 0 ||
	    ask_check_summary(&ask, &parsed) < 0)
		return MISUSED;
	str_format(manager, sizeof(manager), "%s/manager", hook.dir);
	if (ask.command)
		find_program(*ask.command, prog);
	if (output_plan(&r.output, &ask, &parsed) < 0)
		return MISUSED;
	if (r.output.direct)
		setenv(FOR_PEOPLE, FOR_EYES, 1);
	if (r.output.terminal)
		setenv(PEOPLE_SCREEN, "1", 1);
	if (ask.color)
		setenv(PEOPLE_COLOUR, ask.color, 1);
	if (ask.check)
		return check(&ask, &r.output, manager, hook.name);
	if (output_open(&r.output) < 0)
		return REFUSED;
	status = begin(&r, &ask, &hook, manager, prog, path);
	if (status)
		return status;
	output_begin(&r.output, &ask, r.prog);
	look_at_children(&r);
	output_watch(&r.output, path);
	r.ask = &ask;
	copy_trace(&r);
	output_clear(&r.output);
	return end(&r, &ask, path);
}
