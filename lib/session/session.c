/* SPDX-License-Identifier: ISC */
/*
 * session.c - the manager's side of a session, and --clear
 *
 * The manager starts the janitor (janitor.c), prints the path that the janitor sends, waits, and
 * hangs up. The two processes share a socket. Only the manager holds the manager's end, so the
 * socket also hangs up when the manager dies, for any reason.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "session/session.h"

/* The signals that end a session, blocked from session_hold_signals on. */
static sigset_t signals;

static int members(void *arg, struct pids *out)
{
	return manager_subsystem.members(arg, out);
}

/* The first bytes that the janitor and the hook wrote to stderr. */
struct messages {
	char text[1100];
	size_t n;
};

/*
 * Read what was written, so that no writer blocks. Return 1, 0 at the end, or -1 if there is
 * nothing to read now.
 */
static int read_messages(int errors, struct messages *s)
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

/* Return the first line, or the first error of a tool, which may stand below notes. */
static char *main_line(char *text)
{
	char *fatal = strstr(text, ": fatal: "), *at = fatal;

	while (at && at > text && at[-1] != '\n')
		at--;
	/* the janitor's error is the last one, and only says that the hook failed */
	return at && strncmp(at, program_name, (size_t)(fatal - at)) ? at :
		text + strspn(text, "\n");
}

/*
 * Print the main line as a message of the manager, and the lines below it that begin with two
 * spaces: the kernel's command and caret.
 */
static void print_messages(struct messages *s)
{
	char *line, *more, *end;
	size_t n;

	s->text[s->n] = '\0';
	line = main_line(s->text);
	more = line + strcspn(line, "\n");
	if (*more)
		*more++ = '\0';
	/* print MESSAGE of "TOOL: fatal: MESSAGE": the manager's callers do not know the tool */
	n = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789-");
	n = n && !strncmp(line + n, ": fatal: ", 9) ? n + 9 : 0;
	if (!*line)
		err_msg("the session could not be made: its janitor was killed, or has crashed; "
			"try again");
	else
		err_msg("%s", line + n);
	for (end = more; !strncmp(end, "  ", 2) && strchr(end, '\n'); )
		end = strchr(end, '\n') + 1;
	text_mask(more, end, '\n');
	fd_write_all(STDERR_FILENO, more, (size_t)(end - more));
}

/* Print the lines that are notes of the janitor. */
static void print_notes(struct messages *s)
{
	char *save, head[64];
	size_t n = str_format(head, sizeof(head), "%s: ", program_name);

	s->text[s->n] = '\0';
	for (char *p = strtok_r(s->text, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		if (!strncmp(p, head, n))
			err_note("%s", p + n);
}

/* Receive the path. Return 0, or the exit status after reporting the reason. */
static int await_path(int janitor, int errors, char *path)
{
	struct epoll_event in = { .events = EPOLLIN };
	struct wait w = { .signals = &signals, .ms = -1 };
	struct messages messages = { .n = 0 };
	int signo, r;
	ssize_t n;

	w.fd = epoll_create1(EPOLL_CLOEXEC);
	if (w.fd < 0 || epoll_ctl(w.fd, EPOLL_CTL_ADD, janitor, &in) < 0 ||
	    epoll_ctl(w.fd, EPOLL_CTL_ADD, errors, &in) < 0)
		return err_errno("unable to wait for the session"), REFUSED;
	do {
		r = wait_for(&w, &signo);
		if (r == ENDED_SIGNAL || r < 0) {
			shutdown(janitor, SHUT_WR);
			close(w.fd);
			return r < 0 ? REFUSED : 128 + signo;
		}
		if (!read_messages(errors, &messages))
			epoll_ctl(w.fd, EPOLL_CTL_DEL, errors, NULL);
		n = recv(janitor, path, PATH_MAX - 2, MSG_DONTWAIT);
	} while (n < 0 && (errno == EAGAIN || errno == EINTR));
	close(w.fd);
	/* the janitor has written all of its messages by now */
	while (messages.n < sizeof(messages.text) - 1 && read_messages(errors, &messages) > 0)
		;
	if (n <= 0) {
		print_messages(&messages);
		return REFUSED;
	}
	print_notes(&messages);
	path[n] = '\0';
	return 0;
}

/* Give the session's file its final mode, because its path was printed. */
static void hand_over(const char *session)
{
	char path[PATH_MAX];
	int rundir = rundir_open(manager_subsystem.name, path);
	int dir = rundir < 0 ? -1 : openat(rundir, session,
					   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	/* the session may have ended already, and its file may be removed */
	if (dir >= 0 && syscall(SYS_fchmodat, dir, "trace", 0600) < 0 && errno != ENOENT)
		err_errno("unable to set the mode of the trace");
	fd_close(dir);
	fd_close(rundir);
}

/* Print the path; then a file belongs to the caller. Return 0, or the exit status. */
static int print_path(const struct request *rq, char *path)
{
	size_t n = strlen(path);

	path[n] = '\n';
	if (fd_write_all(STDOUT_FILENO, path, n + 1) < 0)
		return err_errno("unable to print the path"), REFUSED;
	path[n] = '\0';
	if (rq->output >= OUTPUT_FILE)
		hand_over(rq->session);
	return 0;
}

static int remove_stale(void *clear, int dir, const char *name, pid_t owner)
{
	if (owner != OWNER_NONE || !rundir_remove(dir, name, *(int *)clear) || !*(int *)clear)
		return 0;
	return err_errno("unable to remove session directory %s", name);
}

/*
 * Remove the directories of stale sessions. With clear, remove files that should stay, too, and
 * report what cannot be removed.
 */
static int sweep_rundir(int dir, int clear)
{
	return owned_each(dir, "", remove_stale, &clear) < 0 ? -1 : 0;
}

/* Kill a process of the janitor's session (setsid(2)), such as one of the hook. */
static int kill_member(void *janitor, pid_t pid)
{
	if (getsid(pid) == *(pid_t *)janitor)
		kill(pid, SIGKILL);
	return 0;
}

/*
 * Wait for the janitor and return its status. If it was killed, remove what it held and nothing
 * that another session of the same name made.
 */
static int wait_for_janitor(pid_t pid, const struct request *rq)
{
	siginfo_t gone = { .si_pid = 0 };
	char path[PATH_MAX];
	int status, dir;

	while (waitid(P_PID, (id_t)pid, &gone, WEXITED | WNOWAIT) < 0)
		if (errno != EINTR)
			return REFUSED;
	if (gone.si_code != CLD_EXITED) /* no process can reuse its pid before waitpid */
		task_each_process(kill_member, &pid);
	if (waitpid(pid, &status, 0) != pid)
		return REFUSED;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	audit_end(rq, manager_subsystem.name, -1);
	dir = rundir_open(manager_subsystem.name, path);
	if (dir >= 0) {
		sweep_rundir(dir, 0);
		close(dir);
	}
	manager_subsystem.sweep(rq->session);
	return REFUSED;
}

/* Check that a file fits into its file system, which others use too. Return 0, or -1, reported. */
static int check_size(const struct request *rq, int dir, const char *path)
{
	struct statfs fs;
	unsigned long long kb;

	if (rq->output < OUTPUT_FILE || fstatfs(dir, &fs) < 0)
		return 0;
	kb = (unsigned long long)fs.f_bavail * (unsigned long)fs.f_frsize / 1024;
	if (rq->size_kb <= kb)
		return 0;
	return err_msg("--size: %lu KB do not fit into %s, which has %llu left",
		       rq->size_kb, path, kb);
}

void session_hold_signals(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
	sigset_t all;

	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		sigaddset(&signals, ending[i]);
	all = signals;
	sigaddset(&all, SIGCHLD);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGCHLD, SIG_DFL); /* if ignored, waitpid gets no status */
	signal(SIGPIPE, SIG_IGN);
}

/* Wait as wait_for does, but forward SIGUSR1 to a stream that works alone. */
static int wait_for_end(struct wait *w, const struct request *rq, int *signo)
{
	long long end = time_now_ms() + w->ms;
	char byte = FORWARD_SIGUSR1;
	int r;

	while ((r = wait_for(w, signo)) == ENDED_SIGNAL && *signo == SIGUSR1 &&
	       rq->hook->alone && send(w->fd, &byte, 1, MSG_NOSIGNAL) == 1)
		if (rq->ms >= 0)
			w->ms = end > time_now_ms() ? (long)(end - time_now_ms()) : 0;
	return r;
}

/*
 * Check the limits again, with the sessions that began at the same time. Return 0, or -1, reported.
 */
static int within_limits(const struct request *rq)
{
	char path[PATH_MAX];
	int rundir = rundir_open(manager_subsystem.name, path), r;

	if (rundir < 0)
		return -1;
	r = policy_limits(rq, rundir, 0);
	close(rundir);
	return r;
}

/* Make room for a session, and check that it may begin. Return 0, or -1, reported. */
static int make_way(const struct request *rq)
{
	char path[PATH_MAX];
	int rundir = rundir_open(manager_subsystem.name, path), r;

	if (rundir < 0)
		return -1;
	r = check_size(rq, rundir, path);
	/* remove what stale sessions left; only --clear reports failures */
	if (!r)
		sweep_rundir(rundir, 0);
	if (!r)
		r = policy_limits(rq, rundir, 1);
	close(rundir);
	if (!r)
		manager_subsystem.sweep("");
	return r;
}

/* Fork the janitor. Set the manager's end of its socket, and of its stderr. -1, reported. */
static pid_t start_janitor(const struct request *rq, const char *tools, int *janitor, int *errors)
{
	int ends[2], text[2], status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ||
	    pipe2(text, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return err_errno("unable to start the session");
	if (!pid) {
		close(ends[0]);
		dup2(text[1], STDERR_FILENO);
		close(text[0]);
		close(text[1]);
		status = janitor_run(rq, tools, ends[1]);
		audit_end(rq, manager_subsystem.name, status);
		_exit(status);
	}
	close(ends[1]);
	close(text[1]);
	fcntl(text[0], F_SETFL, O_NONBLOCK);
	*janitor = ends[0];
	*errors = text[0];
	return pid;
}

/* End a session that has failed to begin (status is not 0), or a check. Return the exit status. */
static int end_unseen(const struct request *rq, pid_t pid, int status)
{
	int r = wait_for_janitor(pid, rq);

	if (!status && r)
		return err_msg("%s: unable to remove what the check has made; run --clear",
			       rq->session), REFUSED;
	/* the janitor's status tells whether the options of the hook were wrong */
	return status == REFUSED && r == MISUSED ? r : status;
}

/*
 * Pass the janitor's message about a failure on to tfs-run, which prints it; or say that the
 * manager failed with the error e, unless that is 0.
 */
static void forward_reason(int janitor, int to, int e)
{
	char why[FAILURE_MAX];
	ssize_t n = recv(janitor, why, sizeof(why), MSG_DONTWAIT);

	/* if the janitor ended with unread bytes, the first recv only reports that */
	if (n < 0 && errno == ECONNRESET)
		n = recv(janitor, why, sizeof(why), MSG_DONTWAIT);
	if (n <= 0 && e)
		n = (ssize_t)str_format(why, sizeof(why), "unable to tell which tasks are left: %s",
					strerror(e));
	if (to >= 0 && n > 0)
		fd_write_all(to, why, (size_t)n);
}

int session_run(const struct request *rq, const char *tools)
{
	struct wait w = { .ms = rq->ms, .arg = (void *)(size_t)rq, .signals = &signals,
			  .tasks = rq->all_tasks || rq->waits ? NULL : members };
	char path[PATH_MAX], byte = ENDED_BY_ITSELF;
	int errors = -1, person, status, r, e, signo = 0;
	pid_t pid;

	if (make_way(rq) < 0)
		return REFUSED;
	audit_begin(rq, manager_subsystem.name);
	pid = start_janitor(rq, tools, &w.fd, &errors);
	if (pid < 0) {
		audit_end(rq, manager_subsystem.name, REFUSED);
		return REFUSED;
	}
	status = await_path(w.fd, errors, path);
	if (!status && within_limits(rq) < 0)
		status = REFUSED;
	if (!status && !rq->dry)
		status = print_path(rq, path);
	close(errors);
	if (status || rq->dry) {
		close(w.fd);
		return end_unseen(rq, pid, status);
	}
	person = getenv(FOR_PEOPLE) ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : -1;
	fd_to_null(STDOUT_FILENO);
	fd_to_null(STDERR_FILENO);
	r = wait_for_end(&w, rq, &signo);
	e = r < 0 ? errno : 0;
	if ((r == ENDED_TIME || r == ENDED_TASKS) && send(w.fd, &byte, 1, MSG_NOSIGNAL) < 0)
		r = ENDED_FD; /* the janitor ended the session first */
	shutdown(w.fd, SHUT_WR);
	status = wait_for_janitor(pid, rq);
	forward_reason(w.fd, person, e);
	close(w.fd);
	return r < 0 ? REFUSED : status;
}

/* ---- --clear ----------------------------------------------------------------------- */

static int collect_owner(void *arg, int dir, const char *name, pid_t owner)
{
	(void)dir, (void)name;
	if (owner > 0)
		pids_add(arg, owner);
	return 0;
}

int session_clear(void)
{
	struct pids owners = { 0 };
	char path[PATH_MAX];
	int dir = rundir_open(manager_subsystem.name, path), r = 0;

	if (dir < 0)
		return -1;
	owned_each(dir, "", collect_owner, &owners);
	running_end(&owners);
	pids_clear(&owners);
	if (sweep_rundir(dir, 1) < 0)
		r = -1;
	close(dir);
	return manager_subsystem.sweep(NULL) < 0 ? -1 : r;
}
