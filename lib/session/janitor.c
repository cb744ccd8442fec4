/* SPDX-License-Identifier: ISC */
/*
 * janitor.c - the process that makes a session and takes it down
 *
 * It makes everything and undoes everything, the latter in one place and
 * whatever the reason: the manager is done, or dead, or --clear sent SIGTERM.
 * When it is killed itself, it leaves locks that nobody holds (owned.c): the
 * manager sweeps that up, or the next one that runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "session/session.h"

/* A hook that takes longer hangs. */
#define HOOK_MS 30000
/* Where a stream that works alone says that it does. */
#define READY_FD 3
/* A session that ended by itself waits this long for a reader to come. */
#define LATE_READER_MS 1000
/* A reader that was scheduled away in open() between name and FIFO runs again. */
#define OPENING_MS 20
/*
 * A stream that does nothing for this long at the end waits for somebody who does
 * nothing. However slow a reader is, as long as he reads he is waited for.
 */
#define STALL_MS 10000
/* How often to look whether the reader is still there, while the stream ends. */
#define LOOK_MS 100
/* --clear does not wait for a slow reader: so long it waits for us (session.c). */
#define HURRY_MS 5000
/* A stream that was told to give up its reader has only a last line to write. */
#define GIVE_UP_MS 3000

struct janitor {
	const struct request *rq;
	const char *tools;
	int manager;      /* our end of the socket */
	int signals;      /* CHLD, and TERM from --clear */
	int rundir, dir;  /* of all sessions, of this one */
	int is_open;      /* ours.open was called */
	long long end;    /* when not to wait for readers any more; 0: while they read */
	struct stream_words words;
	pid_t stream;     /* 0: none runs */
	int stream_status;
	int misused;      /* by the caller, as the hook says */
	char path[PATH_MAX];
};

/* ---- its children ----------------------------------------------------------- */

/* fork, and the child dies with us even by SIGKILL. */
static pid_t fork_bound(void)
{
	pid_t self = getpid(), pid = fork();

	if (pid < 0)
		err_errno("unable to fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(REFUSED);
	}
	return pid;
}

/*
 * Wait until the child is gone, at most ms; stop waiting when the manager
 * hangs up, if asked to. 1: its status is there to be had; 0 it still runs.
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

		if (!waitid(P_PID, (id_t)pid, &gone, WEXITED | WNOHANG | WNOWAIT) &&
		    gone.si_pid)
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

/* What it prints goes to words. */
static int run_hook(struct janitor *j, int words)
{
	const char *name = j->rq->hook->name, *variables[HOOK_VARIABLES_MAX + 1];
	char *argv[] = { (char *)(size_t)name, NULL }, **env;
	pid_t pid = fork_bound();
	sigset_t none;
	int status, ended;

	if (pid < 0)
		return -1;
	if (!pid) {
		dup2(words, STDOUT_FILENO);
		setpgid(0, 0);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGPIPE, SIG_DFL);
		if (fchdir(manager_subsystem.place(j->rq, variables)) < 0)
			_exit(REFUSED);
		env = request_environment(j->rq, j->tools, variables);
		if (!env) {
			err_msg("out of memory");
			_exit(REFUSED);
		}
		execve(j->rq->hook->path, argv, env);
		err_errno("unable to run %s", j->rq->hook->path);
		_exit(126);
	}
	setpgid(pid, pid); /* whoever of us two comes first */
	ended = await(j, pid, HOOK_MS, 1);
	/* what it left running, too: the group's number is ours until the wait */
	kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (!ended)
		return err_msg("%s: the hook was stopped before its end", name);
	j->misused = child_status(status) == MISUSED;
	if (child_status(status))
		return err_msg("%s: the hook failed with status %d", name,
			       child_status(status));
	return 0;
}

static int ask_hook(struct janitor *j)
{
	struct stream_words *s = &j->words;
	size_t n = 0;
	ssize_t got;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno("unable to make a pipe");
	if (run_hook(j, ends[1]) < 0)
		return -1;
	/* who of it is left, in another group, has said what there is to say */
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	close(ends[1]);
	while ((got = read(ends[0], s->text + n, sizeof(s->text) - n)) > 0)
		n += (size_t)got;
	close(ends[0]);
	return stream_parse(s, n, j->rq->hook->name, j->tools);
}

/*
 * A line says that it has begun, an end that it has not, and has said why: its status
 * tells whether it was misused.
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
	return err_msg("%s: its stream did not begin", j->rq->hook->name);
}

/*
 * The child that becomes the stream. On a FIFO it waits for the reader in
 * open(), where all signals but SIGKILL stay pending: one that comes before
 * the tool is ready for it is not lost. One that works alone has the FIFO to
 * read as well, waits for nobody, and says on READY_FD when it has begun.
 */
static _Noreturn void become_stream(struct janitor *j, int ready, int pids, int go)
{
	int fd, alone = j->rq->hook->alone;
	struct request rq = *j->rq;
	unsigned long used;
	struct stat st;

	/* nobody hears it any more, and a broken pipe would end whoever speaks */
	if (!alone)
		fd_to_null(STDERR_FILENO);
	if (stream_hold(j->rq, &j->words, pids, go))
		stream_run(j->rq, &j->words, j->tools);
	fd = openat(j->dir, "trace", (alone ? O_RDWR : O_WRONLY) | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    !(j->rq->output >= OUTPUT_FILE ? S_ISREG(st.st_mode) : S_ISFIFO(st.st_mode)))
		_exit(REFUSED);
	if (j->rq->output == OUTPUT_DAT) {
		/* without us it makes a file of what it has; nobody kills it for being ours */
		setsid();
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (fchdir(j->dir) < 0)
			_exit(REFUSED);
	} else {
		used = recording_write_dead(&rq, fd) / 1024 + 1;
		if (rq.dead.n && rq.size_kb > used)
			rq.size_kb -= used;
		dup2(fd, STDOUT_FILENO);
	}
	if (alone && (fchdir(j->dir) < 0 || dup2(ready, READY_FD) < 0 ||
		      fcntl(READY_FD, F_SETFD, 0) < 0))
		_exit(REFUSED);
	stream_run(&rq, &j->words, j->tools);
}

/* The session's own tasks are we, the manager and the stream's, which write their pids. */
static int exclude_us(const struct janitor *j, int pids)
{
	pid_t self = task_self(), pid;
	size_t streams = 0;
	struct pids us = { 0 };
	struct task t;
	int r;

	for (; read(pids, &pid, sizeof(pid)) == sizeof(pid); streams++)
		pids_add(&us, pid);
	if (streams != (j->rq->output != OUTPUT_DAT && j->words.filter ? 2 : 1))
		r = err_msg("%s: its stream did not begin", j->rq->hook->name);
	else if (task_read(self, &t) < 0)
		r = err_errno("unable to find ourselves in %s", path_procfs());
	else {
		pids_add(&us, self);
		pids_add(&us, t.ppid);
		r = pids_sort(&us);
	}
	if (!r && manager_subsystem.exclude)
		r = manager_subsystem.exclude(j->rq, &us);
	pids_clear(&us);
	return r;
}

/* begin is called before the stream starts to read: what it reads is not yet recorded. */
static int start_stream(struct janitor *j, int (*begin)(const struct request *))
{
	int ready[2] = { -1, -1 }, pids[2], go[2], r;

	if ((j->rq->hook->alone && pipe2(ready, O_CLOEXEC) < 0) ||
	    pipe2(pids, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0)
		return err_errno("unable to make a pipe");
	j->stream = fork_bound();
	if (j->stream < 0)
		return -1;
	/* whoever of us two comes first; or setsid, which would be refused then */
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
	r = exclude_us(j, pids[0]);
	if (!r && begin)
		r = begin(j->rq);
	if (!r && write(go[1], "", 1) != 1)
		r = err_msg("%s: its stream did not begin", j->rq->hook->name);
	close(pids[0]);
	close(go[1]);
	if (!r && j->rq->hook->alone)
		return await_ready(j, ready[0]);
	close(ready[0]);
	return r;
}

/* ---- set-up and undo ------------------------------------------------------------ */

static int make_output(struct janitor *j)
{
	const char *name = j->rq->session;
	int fd, r;

	j->dir = owned_make(j->rundir, name, 0700);
	if (j->dir < 0 && errno == EEXIST)
		return err_msg("%s/%s is there, with what a session of that name left; "
			       "remove it, or give --instance another name", j->path, name);
	if (j->dir < 0)
		return err_errno("unable to make session directory %s/%s", j->path,
				 name);
	strcat(strcat(strcat(j->path, "/"), name), "/trace");
	if (j->rq->output >= OUTPUT_FILE) {
		fd = openat(j->dir, "trace", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, UNTOLD);
		r = fd < 0 ? fd : close(fd);
	} else {
		r = mkfifoat(j->dir, "trace", 0600);
	}
	return r < 0 ? err_errno("unable to make %s", j->path) : 0;
}

static int set_up(struct janitor *j)
{
	j->is_open = 1;
	if (manager_subsystem.open(j->rq) < 0 || make_output(j) < 0 || ask_hook(j) < 0 ||
	    (manager_subsystem.prepare && manager_subsystem.prepare(j->rq) < 0) ||
	    start_stream(j, j->rq->dry ? NULL : manager_subsystem.arm) < 0)
		return -1;
	return 0;
}

static int reader_is_there(const struct janitor *j)
{
	int fd = openat(j->dir, "trace", O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The time that the process has run, in ns: it grows while the process does anything. */
static long long time_run(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t) < 0)
		return -1;
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void tell_stream(const struct janitor *j, int signo)
{
	if (kill(-j->stream, signo) < 0)
		kill(j->stream, signo); /* it leads no group yet */
}

/*
 * Wait for the stream while it writes, for its reader reads then; one that stalls is
 * given up, and the stream tells what was lost. If the reader leaves now, stop waiting,
 * because the stream waits for another one. 1: it has ended; 0 it was no use.
 */
static int drain(struct janitor *j)
{
	long long before = time_run(j->stream), since = time_now_ms(), now, left;

	for (;;) {
		left = (j->end ? j->end : since + STALL_MS) - time_now_ms();
		if (left <= 0)
			break;
		if (await(j, j->stream, left < LOOK_MS ? (long)left : LOOK_MS, 0))
			return 1;
		/* one that works alone has more to do than to write to a reader */
		if (!j->rq->hook->alone && !reader_is_there(j))
			return 0;
		now = time_run(j->stream);
		if (now != before)
			since = time_now_ms();
		before = now;
	}
	tell_stream(j, GIVE_UP);
	return await(j, j->stream, GIVE_UP_MS, 0);
}

/*
 * Let the stream write what is left, for a reader that is there. That of a dry session
 * has nothing to write, and must not make a file of it.
 */
static void end_stream(struct janitor *j, int wait_for_reader)
{
	int status, ended = 0;

	if (j->stream <= 0)
		return;
	if (!j->rq->dry) {
		tell_stream(j, SIGTERM);
		if (!reader_is_there(j))
			ended = await(j, j->stream, wait_for_reader ? LATE_READER_MS : 0, 0);
		if (!ended && reader_is_there(j))
			ended = drain(j);
	}
	if (!ended) {
		kill(-j->stream, SIGKILL);
		kill(j->stream, SIGKILL);
	}
	waitpid(j->stream, &status, 0);
	/* to kill it is no failure, because nobody reads; but it may have ended just before */
	if (ended || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		j->stream_status = child_status(status);
}

/* Return 1 if a reader that is gone has left text in the FIFO. */
static int text_is_left(const struct janitor *j)
{
	int fd, n = 0;

	if (j->rq->output >= OUTPUT_FILE)
		return 0;
	fd = openat(j->dir, "trace", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (ioctl(fd, FIONREAD, &n) < 0)
		n = 0;
	close(fd);
	return n > 0;
}

/* A tool of the hook's own, or a filter, has its say when it is told to stop. */
static int speaks_at_end(const struct janitor *j)
{
	return (j->words.word[0] && *j->words.word[0] != '-') || j->words.filter;
}

/* The one undo, whatever there is and whoever wanted it. */
static int take_down(struct janitor *j, int by_itself)
{
	int r = 0, files, fifo = -1, unread;
	struct stat st;

	/* nobody was told of it yet */
	files = j->rq->dry ||
		(j->dir >= 0 && !fstatat(j->dir, "trace", &st, AT_SYMLINK_NOFOLLOW) &&
		 st.st_mode & S_ISVTX);
	if (j->is_open) {
		unread = manager_subsystem.disarm();
		end_stream(j, by_itself && (unread || speaks_at_end(j) || text_is_left(j)));
		if (j->dir >= 0 && j->rq->output < OUTPUT_FILE)
			fifo = rundir_unlink_trace(j->dir);
		r = manager_subsystem.close(j->rq);
	}
	if (fifo >= 0) {
		poll(NULL, 0, OPENING_MS);
		close(fifo);
	}
	if (j->dir >= 0) {
		/* the disk was full from the start: no trace.dat was made */
		if (j->rq->output == OUTPUT_DAT &&
		    !fstatat(j->dir, "trace", &st, AT_SYMLINK_NOFOLLOW) && !st.st_size)
			files = 1;
		if (rundir_remove(j->rundir, j->rq->session, files) < 0)
			r = err_errno("unable to remove %s", j->path);
		close(j->dir);
	}
	return r;
}

/* ---- the janitor ------------------------------------------------------------------ */

/* The stream ended though nobody told it to. 0: it goes on with a new one. */
static int stream_ended(struct janitor *j, int status)
{
	j->stream = 0;
	/* the reader died before the stream knew what to do then; another may come */
	if (child_status(status) == 128 + SIGPIPE && j->rq->output < OUTPUT_FILE)
		return start_stream(j, NULL) < 0 ? j->stream_status = REFUSED, -1 : 0;
	j->stream_status = child_status(status) > NO ? child_status(status) : REFUSED;
	return -1;
}

/* Until the manager hangs up. 1: its session ended by itself. */
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
			if (read(j->manager, &how, 1) != 1 || how != PASS_ON)
				return how == BY_ITSELF;
			if (j->stream > 0)
				kill(j->stream, SIGUSR1);
			continue;
		}
		if (read(j->signals, &si, sizeof(si)) == sizeof(si) &&
		    si.ssi_signo == SIGTERM) {
			j->end = time_now_ms() + HURRY_MS;
			return 0;
		}
	}
}

/*
 * Streams end well when stopped; a reader that went away is no error of ours, nor is
 * a filter's "no", that there was nothing.
 */
static int stream_failed(const struct janitor *j)
{
	return j->stream_status > NO && j->stream_status != TIMED_OUT &&
	       j->stream_status != 128 + SIGPIPE;
}

int janitor_run(const struct request *rq, const char *tools, int manager)
{
	struct janitor j = { .rq = rq, .tools = tools, .manager = manager, .dir = -1 };
	sigset_t mine;
	int by_itself = 0, r;

	setsid(); /* a terminal's ^C is the manager's to hear */
	fd_to_null(STDIN_FILENO);
	fd_to_null(STDOUT_FILENO);
	sigemptyset(&mine);
	sigaddset(&mine, SIGCHLD);
	sigaddset(&mine, SIGTERM);
	j.signals = signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK);
	j.rundir = rundir_open(manager_subsystem.name, j.path);
	if (j.signals < 0 || j.rundir < 0)
		return REFUSED;
	r = set_up(&j);
	if (!r) {
		size_t n = strlen(j.path);

		fd_to_null(STDERR_FILENO);
		if (send(manager, j.path, n, MSG_NOSIGNAL) == (ssize_t)n)
			by_itself = watch(&j);
	}
	if (take_down(&j, by_itself) < 0)
		return REFUSED;
	if (r || (!rq->dry && stream_failed(&j)))
		return (r ? j.misused : j.stream_status == MISUSED) ? MISUSED : REFUSED;
	return DONE;
}
