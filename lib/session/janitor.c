/* SPDX-License-Identifier: ISC */
/*
 * janitor.c - the process that makes a session and takes it down
 *
 * The janitor makes everything, and undoes everything in one place (take_down) for any reason: the
 * manager is done or dead, or --clear sent SIGTERM. If the janitor is killed, it leaves locks that
 * no process holds (owned.c). Then the manager or the next manager removes what is left.
 */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "live/live.h"
#include "session/session.h"

/* The time that a hook has. */
#define HOOK_MS 30000
/* A stream that works alone writes to this descriptor when it has started. */
#define READY_FD 3

/* The most descriptors of a hook's tools that the janitor keeps. */
#define KEEPS_MAX 4096
/* How long a session that ended by itself waits for a reader. */
#define LATE_READER_MS 1000
/* Time for a reader inside open() to get from the name to the FIFO. */
#define OPENING_MS 20
/*
 * A stream that does not run for this long at the end, while the FIFO has text, waits for a reader
 * that does not read. A slow reader is waited for as long as it reads.
 */
#define STALL_MS 10000
/*
 * A stream that does not run while the FIFO is empty waits for something else: a disk, a CPU
 * that others keep busy, or a tool before the filter that waits for these. If it does not run
 * for this long, take it for a stream that hangs for ever.
 */
#define HANG_MS 60000
/* How often to check for a reader while the stream ends. */
#define LOOK_MS 100
/* How long a slow reader is waited for after --clear, which waits CLEAR_MS (session.c). */
#define HURRY_MS 5000
/* How long a stream that gives up its reader may take for its last line. */
#define GIVE_UP_MS 3000

/* How long to wait for a process after SIGKILL, because it may never end. */
#define KILLED_MS 500

struct janitor {
	const struct request *rq;
	const char *tools;
	int manager;      /* the janitor's end of the socket */
	int signals;      /* signalfd: SIGCHLD, and SIGTERM from --clear */
	int rundir, dir;  /* the directories of the subsystem and of this session */
	int is_open;      /* manager_subsystem.open was called */
	long long end;    /* when to stop waiting for readers, in ms; 0: never while they read */
	struct stream_words words;
	int keeps[KEEPS_MAX]; /* descriptors that the hook's tools left */
	uint8_t kinds[KEEPS_MAX]; /* enum keep */
	size_t nkeeps;
	pid_t stream;     /* 0: none runs */
	pid_t waits;      /* tfs-stuck, which marks what tasks wait for; 0: none */
	pid_t parts[2];   /* the processes of the stream; 0: not so many */
	const char *failed; /* the process of the stream that failed, and its status; NULL: none */
	int status;
	int errors[2];    /* a pipe: what the stream writes to stderr */
	int misused;      /* the hook or a tool reported a usage error */
	char path[PATH_MAX];
};

/* ---- the janitor's children -------------------------------------------------------- */

/*
 * Wait at most ms until the child has ended. With hangup, stop waiting when the manager hangs up.
 * Return 1 if waitpid gets its status at once, 0 if it still runs.
 */
static int await(struct janitor *j, pid_t pid, long ms, int hangup)
{
	long long end = time_now_ms() + ms, left;

	for (;;) {
		struct pollfd p[] = {
			{ .fd = j->signals, .events = POLLIN },
			{ .fd = hangup ? j->manager : -1, .events = POLLIN },
		};
		struct signalfd_siginfo si;
		siginfo_t gone = { .si_pid = 0 };

		if (!waitid(P_PID, (id_t)pid, &gone, WEXITED | WNOHANG | WNOWAIT) && gone.si_pid)
			return 1;
		left = end - time_now_ms();
		if (left < 0 || poll(p, 2, (int)left) == 0)
			return 0;
		if (p[0].revents && read(j->signals, &si, sizeof(si)) == sizeof(si) &&
		    si.ssi_signo == SIGTERM) {
			if (hangup)
				return 0;
			if (!j->end)
				j->end = time_now_ms() + HURRY_MS;
			if (end > j->end)
				end = j->end;
		}
		if (p[1].revents)
			return 0;
	}
}

/* Write the command of the last child of the last child ... of a task to text (size bytes). */
static void name_last_child(pid_t pid, char *text, size_t size)
{
	char file[40], pids[4096], *word, *rest;
	size_t n = 0;

	for (int depth = 0; depth < 16; depth++) {
		str_format(file, sizeof(file), "task/%d/children", (int)pid);
		if (task_read_file(pid, file, pids, sizeof(pids)) < 0)
			break;
		for (word = strtok_r(pids, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
			pid = text_pid(word) ? text_pid(word) : pid;
	}
	if (task_read_file(pid, "cmdline", text, size) < 0)
		str_format(text, size, "?");
	/* NULs are between the words, and behind the last one */
	for (; n < size - 1 && (text[n] || text[n + 1]); n++)
		if (!text[n])
			text[n] = ' ';
}

/*
 * Run the hook with its standard output on words and KEEPS_FD on socket. Return 0, or -1, reported.
 */
static int run_hook(struct janitor *j, int words, int socket)
{
	const char *name = j->rq->hook->name, *variables[HOOK_VARIABLES_MAX + 1];
	char *argv[] = { (char *)(size_t)name, NULL }, **env;
	pid_t pid = child_fork();
	long long begun = time_now_ms();
	char what[120];
	sigset_t none;
	int status, ended;

	if (pid < 0)
		return err_errno("unable to start the hook");
	if (!pid) {
		dup2(words, STDOUT_FILENO);
		setpgid(0, 0);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGPIPE, SIG_DFL);
		if (fchdir(manager_subsystem.hook_env(j->rq, variables)) < 0)
			_exit(REFUSED);
		env = request_environment(j->rq, j->tools, variables);
		if (!env) {
			err_msg("out of memory");
			_exit(REFUSED);
		}
		/* last, because another file of the janitor may have this number */
		if (dup2(socket, KEEPS_FD) < 0 || fcntl(KEEPS_FD, F_SETFD, 0) < 0)
			_exit(REFUSED);
		execve(j->rq->hook->path, argv, env);
		if (errno == ENOEXEC)
			err_msg("unable to run %s: its first line must be #!/bin/sh",
				j->rq->hook->path);
		else
			err_errno("unable to run %s", j->rq->hook->path);
		_exit(126);
	}
	setpgid(pid, pid); /* here and in the child: either may run first */
	ended = await(j, pid, HOOK_MS, 1);
	if (!ended)
		name_last_child(pid, what, sizeof(what));
	/* Kill also what the hook left running. Before waitpid no process can reuse the group. */
	kill(-pid, SIGKILL);
	/* not even SIGKILL ends a shell that waits for a file whose server does not answer */
	if (ended || await(j, pid, KILLED_MS, 0))
		waitpid(pid, &status, 0);
	if (!ended)
		return err_msg("%s: the hook was stopped %s; it waited for: %s", name,
			       time_now_ms() - begun >= HOOK_MS ? "after 30 seconds" :
			       "by a signal to the session", what);
	j->misused = child_status(status) == MISUSED;
	if (child_status(status))
		return err_msg("%s: the hook failed with status %d and wrote no message; add "
			       "set -x to it", name, child_status(status));
	return 0;
}

/* Run the hook and parse the words that it prints. Return 0, or -1, reported. */
static int ask_hook(struct janitor *j)
{
	struct stream_words *s = &j->words;
	size_t n = 0;
	ssize_t got;
	int ends[2], keeps[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, keeps) < 0)
		return err_errno("unable to make a pipe");
	r = run_hook(j, ends[1], keeps[1]);
	j->nkeeps = fd_receive(keeps[0], j->keeps, j->kinds, KEEPS_MAX);
	close(keeps[0]);
	close(keeps[1]);
	if (r < 0)
		return -1;
	/* do not wait for processes of the hook that left its process group */
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	close(ends[1]);
	while ((got = read(ends[0], s->text + n, sizeof(s->text) - n)) > 0)
		n += (size_t)got;
	close(ends[0]);
	if (stream_parse(s, n, j->rq->hook, j->tools) < 0)
		return -1;
	if ((j->rq->json || j->rq->containers) && s->tool)
		return err_msg("%s: --%s is not possible: %s prints no events", j->rq->hook->name,
			       j->rq->json ? "json" : "container-names", s->word[0]);
	return 0;
}

/*
 * Wait until a stream that works alone writes a newline. If it ends instead, it has reported the
 * reason, and its status tells whether it was a usage error. Return 0, or -1, reported.
 */
static int await_ready(struct janitor *j, int fd)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN },
			      { .fd = j->manager, .events = POLLIN } };
	long long end = time_now_ms() + HOOK_MS;
	int status;
	char c = 0;

	while (!p[0].revents && !p[1].revents && end > time_now_ms())
		if (poll(p, 2, (int)(end - time_now_ms())) < 0)
			p[0].revents = p[1].revents = 0;
	if (p[0].revents && read(fd, &c, 1) < 0)
		c = 0;
	close(fd);
	if (c)
		return 0;
	if (p[0].revents && await(j, j->stream, GIVE_UP_MS, 1) &&
	    waitpid(j->stream, &status, 0) == j->stream) {
		j->stream = 0;
		j->misused = child_status(status) == MISUSED;
	}
	return err_msg("%s: the stream did not start", j->rq->hook->name);
}

/*
 * End the BPF programs of the hook's tools. Disable the events of the session before: the kernel
 * waits for all CPUs when it detaches a program from a tracepoint that has other users.
 */
static void end_programs(struct janitor *j)
{
	while (j->nkeeps)
		close(j->keeps[--j->nkeeps]);
}

/* Return the descriptor of this kind that the hook's tools left, or -1. */
static int kept(const struct janitor *j, enum keep kind)
{
	for (size_t i = 0; i < j->nkeeps; i++)
		if (j->kinds[i] == kind)
			return j->keeps[i];
	return -1;
}

static int turn_rings(const struct janitor *j, enum ring_state state)
{
	for (size_t i = 0; i < j->nkeeps; i++)
		if (j->kinds[i] == KEEP_CONTROL && rings_turn(j->keeps[i], state) < 0)
			return err_errno("unable to let the programs record");
	return 0;
}

/* Let this process, which becomes the stream, keep the rings of the programs; close the rest. */
static void take_rings(struct janitor *j)
{
	static const char letters[] = {
		[KEEP_CONTROL] = 'c', [KEEP_RING] = 'r', [KEEP_CALLS] = 'p',
	};
	static char list[12 * KEEPS_MAX];
	struct out o = out_to(list, sizeof(list) - 1);

	for (size_t i = 0; i < j->nkeeps; i++) {
		if (j->kinds[i] == KEEP || j->kinds[i] >= sizeof(letters)) {
			close(j->keeps[i]);
			continue;
		}
		if (j->kinds[i] == KEEP_CONTROL && o.at > list)
			out_char(&o, ' ');
		out_char(&o, letters[j->kinds[i]]);
		out_decimal(&o, (uint64_t)j->keeps[i]);
		stream_inherits(j->keeps[i]);
	}
	*o.at = '\0';
	if (o.at > list)
		setenv(SESSION_RINGS, list, 1);
}

/* For a person's tfs-run: open the file in which the recorder counts records. */
static void open_counts(const struct janitor *j)
{
	int fd = getenv(FOR_PEOPLE) && getenv(SESSION_RINGS) ?
		 openat(j->dir, SESSION_COUNTS_FILE, O_WRONLY | O_CREAT | O_EXCL, 0600) : -1;

	if (fd >= 0)
		fd_pass(fd, SESSION_COUNTS);
}

/*
 * Become the stream. The stream waits for the reader of a FIFO in open(), where all signals but
 * SIGKILL stay pending, so that a signal before the tool is ready is not lost. A stream that works
 * alone opens the FIFO for reading as well, does not wait for a reader, and writes to READY_FD when
 * it has started.
 */
static _Noreturn void become_stream(struct janitor *j, int ready, int pids, int go)
{
	int fd, alone = j->rq->hook->alone;
	struct request rq = *j->rq;
	unsigned long used;
	struct stat st;

	take_rings(j);
	/*
	 * If the janitor dies, the recorder gets SIGTERM and completes its file. In its own
	 * session, it is not killed with the janitor's processes.
	 */
	if (j->rq->output == OUTPUT_DAT) {
		setsid();
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (!j->rq->dry && recording_pin(j->rq) < 0)
			_exit(REFUSED);
	}
	/* the janitor reads stderr at the end; what does not fit into the pipe is lost */
	if (!alone) {
		dup2(j->errors[1], STDERR_FILENO);
		fcntl(j->errors[0], F_SETFD, 0); /* without a reader SIGPIPE would end a tool */
	}
	if (stream_hold(j->rq, &j->words, pids, go))
		stream_run(j->rq, &j->words, j->tools);
	fd = openat(j->dir, "trace", (alone ? O_RDWR : O_WRONLY) | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    !(j->rq->output >= OUTPUT_FILE ? S_ISREG(st.st_mode) : S_ISFIFO(st.st_mode)))
		_exit(REFUSED);
	if (j->rq->output == OUTPUT_DAT) {
		if (fchdir(j->dir) < 0)
			_exit(REFUSED);
		open_counts(j);
	} else {
		used = recording_write_dead_comments(&rq, fd) / 1024 + 1;
		if (rq.dead.n && rq.size_kb > used)
			rq.size_kb -= used;
		dup2(fd, STDOUT_FILENO);
	}
	if (alone && (fchdir(j->dir) < 0 || dup2(ready, READY_FD) < 0 ||
		      fcntl(READY_FD, F_SETFD, 0) < 0))
		_exit(REFUSED);
	stream_run(&rq, &j->words, j->tools);
}

/* Does the stream have two processes? Then the janitor's child is the filter. */
static int has_filter(const struct janitor *j)
{
	return j->rq->output != OUTPUT_DAT && *j->words.filter;
}

/*
 * Exclude the session's own tasks: those of recording_own_tasks, and the processes of the stream,
 * which write their pids to pids: the pid in procfs, and the pid for the janitor. Return 0, or
 * -1, reported.
 */
static int exclude_session(struct janitor *j, int pids)
{
	struct pids us = { 0 };
	size_t streams = 0;
	pid_t pid[2];
	int r;

	j->parts[1] = 0;
	for (; streams < 2 && read(pids, pid, sizeof(pid)) == sizeof(pid); streams++) {
		pids_add(&us, pid[0]);
		j->parts[streams] = pid[1];
	}
	if (streams != (has_filter(j) ? 2 : 1))
		r = err_msg("%s: the stream did not start", j->rq->hook->name);
	else
		r = recording_own_tasks(&us);
	if (!r && manager_subsystem.exclude)
		r = manager_subsystem.exclude(j->rq, &us);
	pids_clear(&us);
	return r;
}

/*
 * Start the stream. Call begin, if it is not NULL, before the stream reads, so that the reading is
 * not recorded. Return 0, or -1, reported.
 */
static int start_stream(struct janitor *j, int (*begin)(const struct request *))
{
	int ready[2] = { -1, -1 }, pids[2], go[2], r;

	if ((j->rq->hook->alone && pipe2(ready, O_CLOEXEC) < 0) ||
	    pipe2(pids, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0)
		return err_errno("unable to make a pipe");
	j->stream = child_fork();
	if (j->stream < 0)
		return err_errno("unable to start the stream");
	/* Here and in the child: either may run first. Not before setsid, which would fail. */
	if (j->rq->output != OUTPUT_DAT)
		setpgid(j->stream, j->stream);
	if (!j->stream) {
		close(j->manager);
		close(go[1]);
		become_stream(j, ready[1], pids[1], go[0]);
	}
	close(ready[1]);
	close(pids[1]);
	close(go[0]);
	r = exclude_session(j, pids[0]);
	if (!r && begin)
		r = turn_rings(j, RINGS_RECORD) < 0 ? -1 : begin(j->rq);
	if (!r && write(go[1], "", 1) != 1)
		r = err_msg("%s: the stream did not start", j->rq->hook->name);
	close(pids[0]);
	close(go[1]);
	if (!r && j->rq->hook->alone)
		return await_ready(j, ready[0]);
	close(ready[0]);
	return r;
}

/* ---- set-up and undo --------------------------------------------------------------- */

/*
 * Reserve space for the files of the session and for its dumps. DUMPS_MOST tells the stream the
 * limits of its dumps. Return 0, or -1, reported.
 */
static int reserve(const struct janitor *j)
{
	int is_file = j->rq->output >= OUTPUT_FILE;
	unsigned long files = 0, kb = 0;
	char most[48];

	if (j->rq->hook->alone) {
		request_dumps(j->rq, &files, &kb);
		if (policy_dumps(j->rq, j->rundir, &files, &kb) < 0)
			return -1;
		str_format(most, sizeof(most), "%lu %lu", files, kb);
		setenv(DUMPS_MOST, most, 1);
	}
	if (is_file || files)
		if (rundir_reserve(j->dir, kb + (is_file ? j->rq->size_kb : 0),
				   files + (unsigned)is_file) < 0)
			return err_errno("unable to make %s", j->path);
	return 0;
}

/* Make the directory of the session, and the trace in it. Return 0, or -1, reported. */
static int make_output(struct janitor *j)
{
	const char *name = j->rq->session;
	int fd, r;

	j->dir = owned_make(j->rundir, name, 0700);
	/* All sessions with --persist have the same name: a session finds the dumps of the last. */
	if (j->dir < 0 && errno == EEXIST && j->rq->persist)
		j->dir = owned_take(j->rundir, name);
	if (j->dir < 0 && errno == EEXIST)
		return err_msg("%s/%s exists already, left by a session of that name; "
			       "remove it, or give --instance another name", j->path, name);
	if (j->dir < 0)
		return err_errno("unable to make session directory %s/%s", j->path, name);
	strcat(strcat(strcat(j->path, "/"), name), "/trace");
	if (j->rq->output >= OUTPUT_FILE) {
		fd = openat(j->dir, "trace", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, UNANNOUNCED);
		r = fd < 0 ? fd : close(fd);
	} else {
		r = mkfifoat(j->dir, "trace", 0600);
	}
	return r < 0 ? err_errno("unable to make %s", j->path) : reserve(j);
}

/* Let tfs-stuck mark in the trace what the tasks wait for, from now on or since before. */
static void mark_waits(struct janitor *j)
{
	const char *variables[HOOK_VARIABLES_MAX + 1], **argv;
	struct pids pids = { 0 };
	char path[PATH_MAX], *end;
	size_t n = 0;
	int fd;

	if (!j->rq->hook->marked || j->rq->dry || (j->waits = child_fork()))
		return;
	fd_to_null(STDERR_FILENO);
	/* not in the janitor: to close a directory of an instance would end its lock on that */
	if (manager_subsystem.members(j->rq, &pids) < 0 || !pids.n)
		_exit(REFUSED);
	argv = xcalloc(pids.n + 4, sizeof(*argv));
	str_format(path, sizeof(path), "%s/tfs-stuck", j->tools);
	argv[n++] = "tfs-stuck";
	argv[n++] = "--marks";
	for (end = pids_text(&pids, " "); (argv[n] = strtok_r(NULL, " ", &end)); n++)
		;
	fd = fchdir(manager_subsystem.hook_env(j->rq, variables)) < 0 ? -1 :
	     open("trace_marker", O_WRONLY | O_CLOEXEC);
	if (dup2(fd, STDOUT_FILENO) == STDOUT_FILENO)
		execv(path, (char *const *)(size_t)argv);
	_exit(REFUSED);
}

/* Return the CPU time of a process in ns. It grows while the process works. */
static long long time_of(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	return !pid || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t) ? 0 :
	       t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* The recording ends: wait for the marks, also of a slow tool, but not for one that hangs. */
static void end_marks(struct janitor *j)
{
	enum { LOOKS = 10 };
	long long before = -1, now = 0;
	int ended = 0;

	if (j->waits <= 0)
		return;
	for (int i = 0; i < LOOKS && !ended && now > before; i++) {
		before = now;
		ended = await(j, j->waits, GIVE_UP_MS, 0);
		now = time_of(j->waits);
	}
	if (!ended)
		kill(j->waits, SIGKILL);
	if (await(j, j->waits, KILLED_MS, 0))
		child_wait(j->waits);
}

static int set_up(struct janitor *j)
{
	j->is_open = 1;
	if (manager_subsystem.open(j->rq) < 0 || make_output(j) < 0 || ask_hook(j) < 0 ||
	    (manager_subsystem.prepare &&
	     manager_subsystem.prepare(j->rq, &j->words, kept(j, KEEP_TASKS),
				       kept(j, KEEP_CALLS) >= 0) < 0) ||
	    start_stream(j, j->rq->dry ? NULL : manager_subsystem.start) < 0)
		return -1;
	mark_waits(j);
	return 0;
}

/* Do as time_of, for the stream's processes. */
static long long time_run(const struct janitor *j)
{
	return time_of(j->parts[0]) + time_of(j->parts[1]);
}

/*
 * Return how many bytes of the FIFO a reader has left unread, 0 for a file, or -1 if the FIFO has
 * no reader. mode says how to open it: O_WRONLY, or O_RDONLY if there is no reader, because this
 * process would itself be a reader then.
 */
static int unread_bytes(const struct janitor *j, int mode)
{
	int fd = openat(j->dir, "trace", mode | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC), n = 0;

	if (fd < 0)
		return -1;
	if (j->rq->output >= OUTPUT_FILE || ioctl(fd, FIONREAD, &n) < 0)
		n = 0;
	close(fd);
	return n;
}

static int reader_is_there(const struct janitor *j)
{
	return unread_bytes(j, O_WRONLY) >= 0;
}

/*
 * A reader that left is not a failure, nor is a filter that ended with NO, because it printed
 * nothing, or a tool that ended when the janitor gave up its reader.
 */
static int is_failure(int status)
{
	return status > NO && status != TIMED_OUT && status != 128 + SIGPIPE &&
	       status != 128 + GIVE_UP;
}

static const char *tool_name(const struct janitor *j)
{
	const char *argv[STREAM_ARGV];

	if (j->rq->output != OUTPUT_DAT && j->words.tool)
		return j->words.word[0];
	return manager_subsystem.stream(j->rq, argv) < 0 ? "the stream" : argv[0];
}

/*
 * Keep which process of the stream failed. The janitor's child has ended with this status. The tool
 * before a filter is the child of the filter, and then of the janitor (PR_SET_CHILD_SUBREAPER). If
 * the tool outlived the filter, the kernel has killed it. early: the stream had no reason to end.
 */
static void judge_stream(struct janitor *j, int status, int early)
{
	pid_t tool = j->parts[j->parts[0] == j->stream];
	int before = 0;

	if (has_filter(j) && tool && await(j, tool, GIVE_UP_MS, 0) &&
	    waitpid(tool, &before, 0) == tool)
		before = child_status(before);
	j->stream = 0;
	/* a filter with wrong options ends at once, and makes the tool before it fail, too */
	if (is_failure(before) && status != MISUSED &&
	    (before != 128 + SIGKILL || !is_failure(status))) {
		j->failed = tool_name(j);
		j->status = before;
	} else if (is_failure(status) || early) {
		j->failed = has_filter(j) ? *j->words.filter : tool_name(j);
		j->status = status;
	}
}

/* Tell the manager which process failed, and why. */
static void tell_manager(const struct janitor *j)
{
	char how[160], said[1024], text[FAILURE_MAX];
	ssize_t n = read(j->errors[0], said, sizeof(said) - 1);
	char *why;

	said[n > 0 ? n : 0] = '\0';
	why = strstr(said, ": fatal: ");
	why = why ? why + strlen(": fatal: ") : said;
	why[strcspn(why, "\n")] = '\0';
	if (j->status > 128)
		str_format(how, sizeof(how), "was killed by signal %d (%s)", j->status - 128,
			   strsignal(j->status - 128));
	else
		str_format(how, sizeof(how), "ended with status %d", j->status);
	str_format(text, sizeof(text), "%s %s: %s", j->failed, how,
		   *why ? why : "memory or the disk is short, or somebody ended it");
	send(j->manager, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void tell_stream(const struct janitor *j, int signo)
{
	if (kill(-j->stream, signo) < 0)
		kill(j->stream, signo); /* it does not lead a group yet */
}

/*
 * Wait for the stream as long as one of its processes runs, because then its reader reads. Tell a
 * stream that stalls to give up its reader and to count the lost events. If the reader leaves, do
 * not wait for another one. Return 1 if the stream has ended, 0 if it has to be killed.
 */
static int drain(struct janitor *j)
{
	long long before = time_run(j), since = time_now_ms(), now, left;

	for (;;) {
		left = since + (unread_bytes(j, O_WRONLY) > 0 ? STALL_MS : HANG_MS);
		left = (j->end ? j->end : left) - time_now_ms();
		if (left <= 0)
			break;
		if (await(j, j->stream, left < LOOK_MS ? (long)left : LOOK_MS, 0))
			return 1;
		end_programs(j); /* a slow reader does not slow down other programs */
		/* a stream that works alone has other work than to write to a reader */
		if (!j->rq->hook->alone && !reader_is_there(j))
			return 0;
		now = time_run(j);
		if (now != before)
			since = time_now_ms();
		before = now;
	}
	tell_stream(j, GIVE_UP);
	return await(j, j->stream, GIVE_UP_MS, 0);
}

/*
 * Let the stream write the rest to a reader that has the FIFO open. Kill the stream of a dry
 * session, which has nothing to write and must not make a file.
 */
static void end_stream(struct janitor *j, int wait_for_reader)
{
	int status, ended = 0;

	if (j->stream <= 0)
		return;
	if (!j->rq->dry) {
		tell_stream(j, SIGTERM);
		if (!reader_is_there(j)) {
			end_programs(j);
			ended = await(j, j->stream, wait_for_reader ? LATE_READER_MS : 0, 0);
		}
		if (!ended && reader_is_there(j))
			ended = drain(j);
	}
	if (!ended) {
		kill(-j->stream, SIGKILL);
		kill(j->stream, SIGKILL);
	}
	waitpid(j->stream, &status, 0);
	/*
	 * a stream that was killed has not failed, because it had no reader; but the stream may
	 * have ended just before
	 */
	if (ended || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		judge_stream(j, child_status(status), 0);
}

/* Undo everything that exists. Return 0, or -1, reported. */
static int take_down(struct janitor *j, int by_itself)
{
	int r = 0, fifo = -1, unread;
	long long unlinked = 0, left;
	struct stat st;

	if (j->is_open) {
		end_marks(j);
		unread = manager_subsystem.stop();
		turn_rings(j, RINGS_ENDED);
		/* the hook's own tool and a filter write at their end */
		end_stream(j, by_itself && (unread || j->words.tool || *j->words.filter ||
					    unread_bytes(j, O_RDONLY) > 0));
		if (j->dir >= 0 && j->rq->output < OUTPUT_FILE)
			fifo = rundir_unlink_trace(j->dir);
		unlinked = time_now_ms();
		r = manager_subsystem.close(j->rq);
		end_programs(j);
	}
	if (fifo >= 0) {
		left = unlinked + OPENING_MS - time_now_ms();
		if (left > 0)
			poll(NULL, 0, (int)left);
		close(fifo);
	}
	if (j->dir >= 0) {
		/* remove an empty file: the disk was full, so no trace.dat was made */
		if (j->rq->output == OUTPUT_DAT &&
		    !fstatat(j->dir, "trace", &st, AT_SYMLINK_NOFOLLOW) && !st.st_size)
			unlinkat(j->dir, "trace", 0);
		if (rundir_remove(j->rundir, j->rq->session, 0) < 0)
			r = err_errno("unable to remove %s", j->path);
		close(j->dir);
	}
	return r;
}

/* ---- the janitor ------------------------------------------------------------------- */

/* Handle a stream that ended too early. Return 0 if a new stream was started, else -1. */
static int stream_ended(struct janitor *j, int status)
{
	/* a tool without support for several readers lost its reader; another may come */
	if (child_status(status) != 128 + SIGPIPE || j->rq->output >= OUTPUT_FILE) {
		judge_stream(j, child_status(status), 1);
		return -1;
	}
	j->stream = 0;
	if (!start_stream(j, NULL))
		return 0;
	j->failed = "the stream";
	j->status = REFUSED;
	return -1;
}

/* Wait until the manager hangs up. Return 1 if the session ended by itself. */
static int watch(struct janitor *j)
{
	struct pollfd p[] = { { .fd = j->manager, .events = POLLIN },
			      { .fd = j->signals, .events = POLLIN } };
	struct signalfd_siginfo si;
	char how = 0;
	int status;

	for (;;) {
		if (j->stream > 0 && waitpid(j->stream, &status, WNOHANG) == j->stream &&
		    stream_ended(j, status) < 0)
			return 0;
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].revents) {
			if (read(j->manager, &how, 1) != 1 || how != FORWARD_SIGUSR1)
				return how == ENDED_BY_ITSELF;
			if (j->stream > 0)
				kill(j->stream, SIGUSR1);
			continue;
		}
		if (read(j->signals, &si, sizeof(si)) == sizeof(si) && si.ssi_signo == SIGTERM) {
			j->end = time_now_ms() + HURRY_MS;
			return 0;
		}
	}
}

int janitor_run(const struct request *rq, const char *tools, int manager)
{
	static const int mine[] = { SIGCHLD, SIGTERM, 0 };
	struct janitor j = { .rq = rq, .tools = tools, .manager = manager, .dir = -1 };
	int by_itself = 0, r, undone;
	const char *words;

	setsid(); /* only the manager gets SIGINT from the terminal */
	fd_to_null(STDIN_FILENO);
	fd_to_null(STDOUT_FILENO);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	j.signals = wait_signals(mine);
	j.rundir = rundir_open(manager_subsystem.name, j.path);
	if (j.signals < 0 || j.rundir < 0 || pipe2(j.errors, O_CLOEXEC | O_NONBLOCK) < 0)
		return REFUSED;
	r = set_up(&j);
	if (!r) {
		size_t n = strlen(j.path);

		fd_to_null(STDERR_FILENO);
		if (send(manager, j.path, n, MSG_NOSIGNAL) == (ssize_t)n)
			by_itself = watch(&j);
	}
	undone = take_down(&j, by_itself);
	if (!r && !rq->dry && j.failed)
		tell_manager(&j);
	else if (!r && !rq->dry && manager_subsystem.last_words &&
		 (words = manager_subsystem.last_words(rq)))
		send(manager, words, strlen(words), MSG_NOSIGNAL | MSG_DONTWAIT);
	if (undone < 0)
		return REFUSED;
	if (r)
		return j.misused ? MISUSED : REFUSED;
	if (rq->dry || !j.failed)
		return DONE;
	return j.status == MISUSED ? MISUSED : REFUSED;
}
