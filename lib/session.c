/* SPDX-License-Identifier: ISC */
/*
 * session.c - one session: the manager that waits, the janitor that undoes
 *
 * The janitor makes everything and holds the one end of a socket whose other
 * end is the manager's. When the manager is done, or dead, the socket tells,
 * and the janitor takes down what there is, in the one place where that is
 * done. A janitor that is killed leaves locks that nobody holds (owned.c): the
 * manager sweeps that up, or the next one that runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "manager.h"

/* A recipe that takes longer hangs. */
#define RECIPE_MS 30000
/* A session that ended by itself waits this long for a reader to come. */
#define LATE_READER_MS 1000
/* A reader may take this long for what the buffer holds at the end. */
#define DRAIN_MS 60000
/* How long to wait for a session that was told to end. */
#define CLEAR_MS 10000

/* What the manager says over the socket: it ended, but nobody asked it to. */
#define BY_ITSELF 'e'

struct janitor {
	const struct request *rq;
	const char *tools;
	int manager;      /* our end of the socket */
	int signals;      /* CHLD, and TERM from --clear */
	int rundir, dir;  /* of all sessions, of this one */
	int is_open;      /* subsystem.open was called */
	int began;        /* the path was told: a file is the caller's from then on */
	pid_t stream;     /* 0: none runs */
	int stream_status;
	char path[PATH_MAX];
};

/* ---- the janitor's children ---------------------------------------------------- */

/* fork, and the child dies with us even by SIGKILL. */
static pid_t fork_bound(void)
{
	pid_t self = getpid(), pid = fork();

	if (pid < 0)
		complain_errno("unable to fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(REFUSED);
	}
	return pid;
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * Wait until the child is gone, at most ms; stop waiting when the manager
 * hangs up, if asked to. 1: its status is there to be had; 0 it still runs.
 */
static int await(struct janitor *j, pid_t pid, long ms, int hangup)
{
	long long end = now_ms() + ms, left;

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
		left = end - now_ms();
		if (left < 0 || poll(p, 2, (int)left) == 0)
			return 0;
		if (p[0].revents && read(j->signals, &si, sizeof(si)) == sizeof(si) &&
		    si.ssi_signo == SIGTERM && hangup)
			return 0;
		if (p[1].revents)
			return 0;
	}
}

static int run_recipe(struct janitor *j)
{
	const char *name = j->rq->recipe->name, *variable;
	char *argv[] = { (char *)(size_t)name, NULL };
	pid_t pid = fork_bound();
	sigset_t none;
	int status, ended;

	if (pid < 0)
		return -1;
	if (!pid) {
		setpgid(0, 0);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGPIPE, SIG_DFL);
		if (fchdir(subsystem.place(j->rq, &variable)) < 0)
			_exit(REFUSED);
		execve(j->rq->recipe->path, argv,
		       recipe_environment(j->rq, j->tools, variable));
		complain_errno("unable to run %s", j->rq->recipe->path);
		_exit(126);
	}
	setpgid(pid, pid); /* whoever of us two comes first */
	ended = await(j, pid, RECIPE_MS, 1);
	/* what it left running, too: the group's number is ours until the wait */
	kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (!ended)
		return complain("%s: the recipe was stopped before its end", name);
	if (exit_status(status))
		return complain("%s: the recipe failed with status %d", name,
				exit_status(status));
	return 0;
}

/*
 * The child that becomes the streaming tool. On a FIFO it waits for the reader
 * in open(), where all signals but SIGKILL stay pending: one that comes before
 * the tool is ready for it is not lost.
 */
static int start_stream(struct janitor *j)
{
	const char *argv[16], *base;
	char tool[PATH_MAX];
	struct stat st;
	int fd;

	j->stream = fork_bound();
	if (j->stream)
		return j->stream < 0 ? -1 : 0;
	close(j->manager);
	fd = openat(j->dir, "trace", O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    !(j->rq->output == OUTPUT_FILE ? S_ISREG(st.st_mode) : S_ISFIFO(st.st_mode)))
		_exit(REFUSED);
	dup2(fd, STDOUT_FILENO);
	subsystem.stream(j->rq, argv);
	base = argv[0];
	format(tool, sizeof(tool), "%s/%s", j->tools, base);
	execv(tool, (char *const *)argv);
	_exit(127);
}

/* ---- set-up and undo ------------------------------------------------------------ */

static int make_output(struct janitor *j)
{
	const char *name = j->rq->session;
	int fd, r;

	j->dir = owned_make(j->rundir, name, 0700);
	if (j->dir < 0 && errno == EEXIST)
		return complain("%s/%s is there, with what a session of that name left; "
				"remove it, or give --instance another name", j->path, name);
	if (j->dir < 0)
		return complain_errno("unable to make session directory %s/%s", j->path,
				      name);
	strcat(strcat(strcat(j->path, "/"), name), "/trace");
	if (j->rq->output == OUTPUT_FILE) {
		fd = openat(j->dir, "trace", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		r = fd < 0 ? fd : close(fd);
	} else {
		r = mkfifoat(j->dir, "trace", 0600);
	}
	return r < 0 ? complain_errno("unable to make %s", j->path) : 0;
}

static int set_up(struct janitor *j)
{
	j->is_open = 1;
	if (subsystem.open(j->rq) < 0 || make_output(j) < 0 || run_recipe(j) < 0 ||
	    subsystem.arm(j->rq) < 0 || start_stream(j) < 0)
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

/* Let the stream write what is left; for ever is no option. */
static void end_stream(struct janitor *j, int wait_for_reader)
{
	int status;

	if (j->stream <= 0)
		return;
	kill(j->stream, SIGTERM);
	if (!reader_is_there(j) &&
	    await(j, j->stream, wait_for_reader ? LATE_READER_MS : 0, 0))
		goto ended;
	if (reader_is_there(j) && await(j, j->stream, DRAIN_MS, 0))
		goto ended;
	kill(j->stream, SIGKILL);
	waitpid(j->stream, &status, 0);
	return; /* nobody read: that is the reader's affair */
ended:
	waitpid(j->stream, &status, 0);
	j->stream_status = exit_status(status);
}

/* The one undo, whatever there is and whoever wanted it. */
static int take_down(struct janitor *j, int by_itself)
{
	int r = 0;

	if (j->is_open) {
		end_stream(j, subsystem.disarm() && by_itself);
		r = subsystem.close(j->rq);
	}
	if (j->dir >= 0) {
		if (remove_rundir(j->rundir, j->rq->session, !j->began) < 0)
			r = complain_errno("unable to remove %s", j->path);
		close(j->dir);
	}
	return r;
}

/* ---- the janitor ------------------------------------------------------------------ */

/* The stream ended though nobody told it to. 0: it goes on with a new one. */
static int stream_ended(struct janitor *j, int status)
{
	j->stream = 0;
	/* the reader died; another may come */
	if (exit_status(status) == 128 + SIGPIPE && j->rq->output != OUTPUT_FILE)
		return start_stream(j) < 0 ? j->stream_status = REFUSED, -1 : 0;
	j->stream_status = exit_status(status) ? exit_status(status) : REFUSED;
	return -1;
}

/* Until the manager hangs up. 1: its session ended by itself. */
static int watch(struct janitor *j)
{
	struct pollfd p[] = { { .fd = j->manager, .events = POLLIN },
			      { .fd = j->signals, .events = POLLIN } };
	struct signalfd_siginfo si;
	char how;
	int status;

	for (;;) {
		if (j->stream > 0 && waitpid(j->stream, &status, WNOHANG) == j->stream &&
		    stream_ended(j, status) < 0)
			return 0;
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].revents)
			return read(j->manager, &how, 1) == 1 && how == BY_ITSELF;
		if (read(j->signals, &si, sizeof(si)) == sizeof(si) &&
		    si.ssi_signo == SIGTERM)
			return 0;
	}
}

/* Streams end well when stopped; a reader that went away is no error of ours. */
static int stream_failed(const struct janitor *j)
{
	return j->stream_status && j->stream_status != TIMED_OUT &&
	       j->stream_status != 128 + SIGPIPE;
}

static void to_null(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, fd);
		close(null);
	}
}

/* All of it. stderr is a pipe to the manager until the session has begun. */
static int janitor(const struct request *rq, const char *tools, int manager)
{
	struct janitor j = { .rq = rq, .tools = tools, .manager = manager, .dir = -1 };
	sigset_t mine;
	int by_itself = 0, r;

	setsid(); /* a terminal's ^C is the manager's to hear */
	to_null(STDIN_FILENO);
	to_null(STDOUT_FILENO);
	sigemptyset(&mine);
	sigaddset(&mine, SIGCHLD);
	sigaddset(&mine, SIGTERM);
	j.signals = signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK);
	j.rundir = open_rundir(subsystem.name, j.path);
	if (j.signals < 0 || j.rundir < 0)
		return REFUSED;
	r = set_up(&j);
	if (!r) {
		size_t n = strlen(j.path);

		to_null(STDERR_FILENO);
		j.began = 1;
		if (send(manager, j.path, n, MSG_NOSIGNAL) == (ssize_t)n)
			by_itself = watch(&j);
	}
	if (take_down(&j, by_itself) < 0 || r || stream_failed(&j))
		return REFUSED;
	return DONE;
}

/* ---- the manager --------------------------------------------------------------------- */

/* What ends a session, blocked from hold_signals on. */
static sigset_t signals;

static int members(void *arg, struct pids *out)
{
	return subsystem.members(arg, out);
}

/* The beginning of what the janitor and the recipe said. */
struct said {
	char text[1100];
	size_t n;
};

/*
 * Read what there is of it, so that nobody waits for room to say more. 0 at
 * the end, -1 there is nothing now.
 */
static int hear(int errors, struct said *s)
{
	char rest[4096];
	ssize_t n = read(errors, rest, sizeof(rest));
	size_t room = sizeof(s->text) - 1 - s->n;

	if (n <= 0)
		return (int)n;
	if ((size_t)n < room)
		room = (size_t)n;
	memcpy(s->text + s->n, rest, room);
	s->n += room;
	return 1;
}

/* The first line of it, as ours. */
static void pass_on(struct said *s)
{
	char *line = s->text;

	s->text[s->n] = '\0';
	line += strspn(line, "\n");
	line[strcspn(line, "\n")] = '\0';
	if (!*line)
		complain("the session could not be made");
	else if (!strncmp(line, prog, strlen(prog)) &&
		 !strncmp(line + strlen(prog), ": fatal: ", 9))
		complain("%s", line + strlen(prog) + 9);
	else
		complain("%s", line);
}

/* Wait for the path. 0; otherwise the status to leave with, the reason said. */
static int await_path(int janitor, int errors, char *path)
{
	struct epoll_event in = { .events = EPOLLIN };
	struct waiting w = { .signals = &signals, .ms = -1 };
	struct said said = { .n = 0 };
	int signo, r;
	ssize_t n;

	w.fd = epoll_create1(EPOLL_CLOEXEC);
	if (w.fd < 0 || epoll_ctl(w.fd, EPOLL_CTL_ADD, janitor, &in) < 0 ||
	    epoll_ctl(w.fd, EPOLL_CTL_ADD, errors, &in) < 0) {
		complain_errno("unable to wait for the session");
		return REFUSED;
	}
	do {
		r = wait_for(&w, &signo);
		if (r == ENDED_SIGNAL || r < 0) {
			shutdown(janitor, SHUT_WR);
			close(w.fd);
			return r < 0 ? REFUSED : 128 + signo;
		}
		if (!hear(errors, &said))
			epoll_ctl(w.fd, EPOLL_CTL_DEL, errors, NULL);
		n = recv(janitor, path, PATH_MAX - 2, MSG_DONTWAIT);
	} while (n < 0 && (errno == EAGAIN || errno == EINTR));
	close(w.fd);
	if (n <= 0) {
		/* all that the janitor said is in the pipe by now */
		while (said.n < sizeof(said.text) - 1 && hear(errors, &said) > 0)
			;
		pass_on(&said);
		return REFUSED;
	}
	path[n] = '\0';
	return 0;
}

static int remove_stale(void *clear, int dir, const char *name, pid_t owner)
{
	if (owner != OWNER_NONE || !remove_rundir(dir, name, *(int *)clear) ||
	    !*(int *)clear)
		return 0;
	return complain_errno("unable to remove session directory %s", name);
}

/* With clear: files that were to stay too, and what cannot be removed is said. */
static int sweep_rundir(int dir, int clear)
{
	return owned_each(dir, "", remove_stale, &clear) < 0 ? -1 : 0;
}

/* The recipe's processes are in the janitor's session (setsid(2)). */
static int kill_member(void *janitor, pid_t pid)
{
	if (getsid(pid) == *(pid_t *)janitor)
		kill(pid, SIGKILL);
	return 0;
}

/*
 * The janitor's status. When it was killed, what it held is nobody's now:
 * take that down, and nothing that is another's by the same name.
 */
static int end_of(pid_t pid, const struct request *rq)
{
	siginfo_t gone = { .si_pid = 0 };
	char path[PATH_MAX];
	int status, dir;

	while (waitid(P_PID, (id_t)pid, &gone, WEXITED | WNOWAIT) < 0)
		if (errno != EINTR)
			return REFUSED;
	if (gone.si_code != CLD_EXITED) /* its number is taken until the wait */
		each_process(kill_member, &pid);
	if (waitpid(pid, &status, 0) != pid)
		return REFUSED;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	dir = open_rundir(subsystem.name, path);
	if (dir >= 0) {
		sweep_rundir(dir, 0);
		close(dir);
	}
	subsystem.sweep(rq->session);
	return REFUSED;
}

/* A file must fit where it goes: others live there too. */
static int check_size(const struct request *rq, int dir, const char *path)
{
	struct statvfs fs;
	unsigned long long kb;

	if (rq->output != OUTPUT_FILE || fstatvfs(dir, &fs) < 0)
		return 0;
	kb = (unsigned long long)fs.f_bavail * fs.f_frsize / 1024;
	if (rq->size_kb <= kb)
		return 0;
	return complain("--size: %lu KB do not fit into %s, which has %llu left",
			rq->size_kb, path, kb);
}

void hold_signals(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
	sigset_t all;

	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		sigaddset(&signals, ending[i]);
	all = signals;
	sigaddset(&all, SIGCHLD);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGCHLD, SIG_DFL); /* ignored, it would take the statuses away */
	signal(SIGPIPE, SIG_IGN);
}

int run_session(const struct request *rq, const char *tools)
{
	struct waiting w = { .ms = rq->ms, .arg = (void *)(size_t)rq };
	int ends[2], errors[2], status, r, signo = 0, rundir;
	char path[PATH_MAX], byte = BY_ITSELF;
	pid_t pid;

	rundir = open_rundir(subsystem.name, path);
	if (rundir < 0 || check_size(rq, rundir, path) < 0)
		return REFUSED;
	/* what the dead left; where that does not work it is --clear's to say */
	sweep_rundir(rundir, 0);
	close(rundir);
	subsystem.sweep("");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ||
	    pipe2(errors, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		complain_errno("unable to start the session");
		return REFUSED;
	}
	if (!pid) {
		close(ends[0]);
		dup2(errors[1], STDERR_FILENO);
		close(errors[0]);
		close(errors[1]);
		_exit(janitor(rq, tools, ends[1]));
	}
	close(ends[1]);
	close(errors[1]);
	fcntl(errors[0], F_SETFL, O_NONBLOCK);

	status = await_path(ends[0], errors[0], path);
	if (!status && write_all(STDOUT_FILENO, path, strlen(strcat(path, "\n"))) < 0) {
		complain_errno("unable to print the path");
		status = REFUSED;
	}
	close(errors[0]);
	if (status) {
		close(ends[0]);
		r = end_of(pid, rq);
		return status ? status : r;
	}
	to_null(STDOUT_FILENO);
	to_null(STDERR_FILENO);

	w.signals = &signals;
	w.fd = ends[0];
	w.tasks = rq->everybody ? NULL : members;
	r = wait_for(&w, &signo);
	if ((r == ENDED_TIME || r == ENDED_TASKS) &&
	    send(ends[0], &byte, 1, MSG_NOSIGNAL) < 0)
		r = ENDED_FD; /* the janitor ended it before us */
	close(ends[0]);
	status = end_of(pid, rq);
	return r < 0 ? REFUSED : status;
}

/* ---- clear ------------------------------------------------------------------------------ */

static int collect_owner(void *arg, int dir, const char *name, pid_t owner)
{
	(void)dir, (void)name;
	if (owner > 0)
		pids_add(arg, owner);
	return 0;
}

/* Wait until a janitor that was told to end has. */
static void await_end(pid_t pid, long long end)
{
	struct pollfd p = { .fd = task_fd(pid), .events = POLLIN };
	long long left = end - now_ms();

	struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };

	while (p.fd < 0 && !kill(pid, 0) && now_ms() < end) /* no pidfds here */
		nanosleep(&pause, NULL);
	if (p.fd < 0)
		return;
	if (poll(&p, 1, left > 0 ? (int)left : 0) == 0) {
		kill(pid, SIGKILL);
		poll(&p, 1, CLEAR_MS);
	}
	close(p.fd);
}

int clear_sessions(void)
{
	struct pids owners = { 0 };
	char path[PATH_MAX];
	long long end;
	int dir = open_rundir(subsystem.name, path), r = 0;

	if (dir < 0)
		return -1;
	owned_each(dir, "", collect_owner, &owners);
	for (size_t i = 0; i < owners.n; i++)
		kill(owners.v[i], SIGTERM);
	end = now_ms() + CLEAR_MS;
	for (size_t i = 0; i < owners.n; i++)
		await_end(owners.v[i], end);
	pids_clear(&owners);
	if (sweep_rundir(dir, 1) < 0)
		r = -1;
	close(dir);
	return subsystem.sweep(NULL) < 0 ? -1 : r;
}
