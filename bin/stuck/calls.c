/* SPDX-License-Identifier: ISC */
/* calls.c - for what a thread waits in its system call, by the arguments of the call */
#include <poll.h>
#include <sys/wait.h>

#include "calls/calls.h"
#include "stuck.h"

/* The rules for calls: their descriptors, the argument with a time limit, how they wait. */
enum limit { NO_LIMIT, MS, POINTER };
struct rule {
	const char *names;      /* with spaces around each */
	signed char reads, writes; /* the arguments that are descriptors; -1: none */
	signed char timed;      /* the argument with the time limit */
	enum limit limit;       /* in ms, negative: none; or its address, NULL: none */
	void (*wait)(struct thread *);
};

static int arg_int(const struct thread *t, unsigned i)
{
	return (int)(uint32_t)t->args[i];
}

/* ---- calls that wait for several descriptors -------------------------------------------- */

enum { MOST_POLLED = 512 };

/* The call is poll or ppoll: args[0] has args[1] structures. */
static void wait_poll(struct thread *t)
{
	struct pollfd fds[MOST_POLLED];
	size_t n = (size_t)t->args[1];

	t->on = "poll";
	if (n > MOST_POLLED) {
		link_unknown(t, "%zu of the descriptors", n - MOST_POLLED);
		n = MOST_POLLED;
	}
	if (n && memory_read(t->task.pid, t->args[0], fds, n * sizeof(*fds)) < 0) {
		link_unknown(t, "the descriptors, because its memory cannot be read");
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (fds[i].fd >= 0)
			fd_wait(t, fds[i].fd, (fds[i].events & POLLOUT ? TO_WRITE : 0) |
				(fds[i].events & POLLOUT && !(fds[i].events & POLLIN) ? 0 :
				 TO_READ));
}

/* The call is select or pselect6: args[0] bits in each of args[1] to read, args[2] to write. */
static void wait_select(struct thread *t)
{
	unsigned long bits[2][1024 / (8 * sizeof(long))] = { { 0 } };
	const unsigned width = 8 * sizeof(long);
	unsigned n = (unsigned)t->args[0];

	t->on = "poll";
	if (n > 1024) {
		link_unknown(t, "descriptors from 1024 on");
		n = 1024;
	}
	for (unsigned i = 0; i < 2; i++)
		if (n && t->args[i + 1] && memory_read(t->task.pid, t->args[i + 1], bits[i],
						       (n + width - 1) / width * sizeof(long)) < 0)
			link_unknown(t, "the descriptors, because its memory cannot be read");
	for (unsigned fd = 0; fd < n; fd++) {
		unsigned dir = (bits[0][fd / width] >> fd % width & 1 ? TO_READ : 0) |
			       (bits[1][fd / width] >> fd % width & 1 ? TO_WRITE : 0);

		if (dir)
			fd_wait(t, (int)fd, dir);
	}
}

static void wait_epoll(struct thread *t)
{
	t->on = "poll";
	fd_wait(t, arg_int(t, 0), TO_READ);
}

/* splice, sendfile and tee wait for one of two pipes: the kernel's function says which. */
static void wait_splice(struct thread *t)
{
	unsigned is_sendfile = !strncmp(t->call, "sendfile", 8);
	int in = arg_int(t, is_sendfile), out = arg_int(t, !strcmp(t->call, "splice") ? 2 :
							!is_sendfile);
	int writes = strstr(t->wchan, "writable") || strstr(t->wchan, "opipe") ||
		     strstr(t->wchan, "wait_for_space");

	if (writes)
		fd_wait(t, out, TO_WRITE);
	else if (strstr(t->wchan, "readable") || strstr(t->wchan, "ipipe"))
		fd_wait(t, in, TO_READ);
	else
		link_unknown(t, "which of its descriptors %d and %d", in, out);
}

/* ---- children --------------------------------------------------------------------------- */

/* The children that a task waits for in wait4 or waitid; pids as the task sees them. */
struct children {
	struct thread *t;
	int kind;               /* P_ALL, P_PID or P_PGID */
	pid_t id, self;         /* self: this tool, which does not count */
};

/* Return the process group of a task, as the waiting thread sees it. */
static pid_t group_inside(const struct thread *t, pid_t pid)
{
	char *text = procfs_read(pid, "status", NULL, NULL);
	const char *s = text ? strstr(text, "\nNSpgid:") : NULL;
	unsigned long long id = 0;

	for (unsigned i = 0; s && i < t->ninner && (s = strchr(s, '\t')); i++) {
		s++;
		id = text_digits(&s);
	}
	free(text);
	return (pid_t)id;
}

static int is_wanted(const struct children *c, const struct thread *other)
{
	const struct thread *t = c->t;

	if (c->kind == P_ALL)
		return 1;
	if (c->kind == P_PID)
		return t->ninner && other->ninner >= t->ninner &&
		       other->inner[t->ninner - 1] == c->id;
	return group_inside(t, other->task.pid) == c->id;
}

/* For task_each_process: link the process if it is a child, and its threads that are traced. */
static int add_child(void *arg, pid_t pid)
{
	const struct children *c = arg;
	const struct pids *all = process_threads(pid);

	if (pid == c->self)
		return 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct thread *other = thread_of(all->v[i]);
		int traced = other && other->tracer && (other->tracer == c->t->tgid ||
							other->tracer == c->t->task.pid);

		if (!other || !is_wanted(c, other))
			continue;
		if (other->task.pid == pid && other->task.ppid == c->t->tgid)
			link_task(c->t, "child", pid, 0);
		else if (traced)
			link_task(c->t, "tracee", pid, all->v[i]);
	}
	return 0;
}

static void link_children(struct thread *t, int kind, pid_t id)
{
	struct children c = { t, kind, id, task_self() };
	size_t before = t->nlinks;

	t->on = t->on ? t->on : "child";
	task_each_process(add_child, &c);
	if (t->nlinks == before)
		link_unknown(t, "the child");
}

/* Does the process have a child? */
static int has_child(const struct thread *t)
{
	const struct pids *all = process_threads(t->tgid);
	int found = 0;

	for (size_t i = 0; i < all->n && !found; i++) {
		char name[48], text[16];

		str_format(name, sizeof(name), "task/%d/children", (int)all->v[i]);
		found = !task_read_file(t->tgid, name, text, sizeof(text));
	}
	return found;
}

/* ---- signals ---------------------------------------------------------------------------- */

#define SIGNAL(n) ((uint64_t)1 << ((n) - 1))

/* If the set has SIGCHLD, link the children, because one that ends sends this signal. */
void expects_signals(struct thread *t, uint64_t set)
{
	if (set & SIGNAL(SIGCHLD) && has_child(t))
		link_children(t, P_ALL, 0);
	if (set & ~SIGNAL(SIGCHLD))
		link_active(t, "signal", "from anyone");
}

/*
 * A signal that the process handles may end the wait. A call with a signal mask expects one. For
 * any other call it is not known whether a timer, or a child that ends, will send one.
 */
static void handled_signals(struct thread *t)
{
	const int indirect = !strcmp(t->call, "pselect6");
	const int arg = indirect ? 5 : !strcmp(t->call, "ppoll") ? 3 :
			!strncmp(t->call, "epoll_pwait", 11) ? 4 :
			!strcmp(t->call, "rt_sigsuspend") ? 0 : -1;
	unsigned long mask[2] = { arg < 0 ? 0 : (unsigned long)t->args[arg], 0 };
	uint64_t blocked = t->blocked, caught;

	if (indirect && *mask && memory_read(t->task.pid, *mask, mask, sizeof(mask)) < 0)
		*mask = 0;
	if (*mask && memory_read(t->task.pid, *mask, &blocked, sizeof(blocked)) < 0)
		blocked = 0;
	caught = t->caught & ~blocked;
	if (*mask || !strcmp(t->call, "pause"))
		expects_signals(t, caught);
	else
		t->active |= caught & (SIGNAL(SIGALRM) | SIGNAL(SIGVTALRM) | SIGNAL(SIGPROF) |
				       SIGNAL(SIGIO)) ||
			     (caught & SIGNAL(SIGCHLD) && has_child(t));
}

static void wait_child(struct thread *t)
{
	pid_t id = (pid_t)arg_int(t, 0);

	if (strcmp(t->call, "waitid")) {
		link_children(t, id == -1 ? P_ALL : id > 0 ? P_PID : P_PGID,
			      id == 0 ? group_inside(t, t->task.pid) : id < -1 ? -id : id);
		return;
	}
	if (arg_int(t, 0) == 3) { /* P_PIDFD */
		t->on = "child";
		fd_wait(t, arg_int(t, 1), TO_READ);
		return;
	}
	id = (pid_t)arg_int(t, 1);
	link_children(t, arg_int(t, 0), arg_int(t, 0) == P_PGID && !id ?
		      group_inside(t, t->task.pid) : id);
}

/* The parent of a vfork waits until its newest child executes a program or ends. */
static void wait_vfork(struct thread *t)
{
	char name[48], *text, *last;

	str_format(name, sizeof(name), "task/%d/children", (int)t->task.pid);
	text = procfs_read(t->task.pid, name, NULL, NULL);
	t->on = "child";
	last = text ? text + strlen(text) : NULL;
	while (last && last > text && last[-1] == ' ')
		*--last = '\0';
	last = text ? strrchr(text, ' ') : NULL;
	last = last ? last + 1 : text;
	if (last && text_pid(last))
		link_task(t, "child", text_pid(last), 0);
	else
		link_unknown(t, "the child");
	free(text);
}

/* ---- others ----------------------------------------------------------------------------- */

static void wait_sleep(struct thread *t)
{
	t->on = "clock";
	link_active(t, "clock", "it sleeps");
}

/* A call goes on after a stop had interrupted it: the kernel does not show which call. */
static void wait_again(struct thread *t)
{
	link_unknown(t, "for what, because a stop interrupted the call");
}

static void wait_signal(struct thread *t)
{
	uint64_t set;

	t->on = "signal";
	if (!strncmp(t->call, "rt_sigtimedwait", 15) &&
	    !memory_read(t->task.pid, t->args[0], &set, sizeof(set)))
		expects_signals(t, set);
	if (!t->nlinks)
		link_active(t, "signal", "from anyone");
}

static void wait_flock(struct thread *t)
{
	fd_name(t, arg_int(t, 0));
	lock_wait(t, arg_int(t, 0), 1);
}

static void wait_fcntl(struct thread *t)
{
	fd_name(t, arg_int(t, 0));
	/* F_SETLKW, F_OFD_SETLKW */
	if (arg_int(t, 1) == F_SETLKW || arg_int(t, 1) == 38)
		lock_wait(t, arg_int(t, 0), 0);
	else
		file_system_wait(t, arg_int(t, 0), NULL);
}

static void wait_futex(struct thread *t)
{
	unsigned op = (unsigned)t->args[1], command = op & 127;

	strbuf_format(&t->what, " at 0x%llx", (unsigned long long)t->args[0]);
	/* FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI and LOCK_PI2 have a limit */
	if ((command == 0 || command == 6 || command == 9 || command == 11 || command == 13) &&
	    t->args[3])
		link_active(t, "clock", "a time limit");
	futex_wait(t, t->args[0], op, (uint32_t)t->args[2]);
}

/* futex_waitv(2): args[1] structures */
static void wait_futexes(struct thread *t)
{
	struct {
		uint64_t value, address;
		uint32_t flags, pad;
	} v[128];
	size_t n = t->args[1] < 128 ? (size_t)t->args[1] : 128;

	if (memory_read(t->task.pid, t->args[0], v, n * sizeof(*v)) < 0) {
		link_unknown(t, "the futexes, because its memory cannot be read");
		return;
	}
	for (size_t i = 0; i < n; i++)
		futex_wait(t, v[i].address, v[i].flags & 128, (uint32_t)v[i].value);
}

/* System V: who acts cannot be known, because anyone may. */
static void wait_ipc(struct thread *t)
{
	t->on = "ipc";
	strbuf_format(&t->what, ", %s %d", t->call[0] == 's' ? "semaphores" : "message queue",
		      arg_int(t, 0));
	link_unknown(t, "who %s", !strcmp(t->call, "msgrcv") ? "sends" :
		     !strcmp(t->call, "msgsnd") ? "receives" : "changes the semaphore");
}

static void wait_connect(struct thread *t)
{
	char address[128];
	size_t n = t->args[2] < sizeof(address) ? (size_t)t->args[2] : sizeof(address);
	struct file f;

	t->on = "socket";
	file_of(t->task.pid, arg_int(t, 0), &f);
	strbuf_format(&t->what, " %d<%s", arg_int(t, 0), f.name);
	if (f.kind == FILE_SOCKET && !memory_read(t->task.pid, t->args[1], address, n))
		socket_connects(t, f.inode, address, n);
	else
		link_unknown(t, "the address");
	strbuf_puts(&t->what, ">");
}

/* The call has a path: a FIFO without its other end, a lease, or a file system that is slow. */
static void wait_path(struct thread *t)
{
	size_t n = strlen(t->call);
	int at = (n > 2 && !strcmp(t->call + n - 2, "at")) || !strncmp(t->call, "openat", 6) ||
		 !strcmp(t->call, "statx") || !strncmp(t->call, "renameat", 8) ||
		 !strncmp(t->call, "faccessat", 9) || !strncmp(t->call, "fchmodat", 8);
	char path[PATH_MAX];
	struct file dir = { .kind = FILE_CLOSED };
	struct strbuf whole = { 0 };

	if (memory_string(t->task.pid, t->args[at], path, sizeof(path)) < 0) {
		link_unknown(t, "the path, because its memory cannot be read");
		return;
	}
	strbuf_puts(&t->what, " ");
	strbuf_escaped(&t->what, path, strlen(path), ESCAPE_TEXT);
	if (strstr(t->wchan, "wait_for_partner") || strstr(t->wchan, "fifo_open")) {
		t->on = "fifo";
		link_unknown(t, "who opens the other end of the FIFO");
	} else if (strstr(t->wchan, "break_lease")) {
		lock_wait(t, -1, 0);
	} else {
		if (*path != '/' && at && arg_int(t, 0) >= 0)
			file_of(t->task.pid, arg_int(t, 0), &dir);
		else if (*path != '/')
			working_directory(t->task.pid, &dir);
		strbuf_format(&whole, *path == '/' ? "%s%s" : "%s/%s",
			      *path == '/' ? "" : dir.name, path);
		file_system_wait(t, -1, whole.text);
		free(whole.text);
	}
}

static const struct rule rules[] = {
	{ " read readv pread64 preadv preadv2 recvfrom recvmsg recvmmsg recv getdents getdents64 "
	  "accept accept4 ", 0, -1, 0, NO_LIMIT, NULL },
	{ " write writev pwrite64 pwritev pwritev2 sendto sendmsg sendmmsg send vmsplice ", -1, 0,
	  0, NO_LIMIT, NULL },
	{ " mq_timedreceive ", 0, -1, 4, POINTER, NULL },
	{ " mq_timedsend ", -1, 0, 4, POINTER, NULL },
	{ " poll ", -1, -1, 2, MS, wait_poll },
	{ " ppoll ", -1, -1, 2, POINTER, wait_poll },
	{ " select _newselect pselect6 ", -1, -1, 4, POINTER, wait_select },
	{ " epoll_wait epoll_pwait ", -1, -1, 3, MS, wait_epoll },
	{ " epoll_pwait2 ", -1, -1, 3, POINTER, wait_epoll },
	{ " splice sendfile sendfile64 tee ", -1, -1, 0, NO_LIMIT, wait_splice },
	{ " wait4 waitid ", -1, -1, 0, NO_LIMIT, wait_child },
	{ " vfork clone clone3 ", -1, -1, 0, NO_LIMIT, wait_vfork },
	{ " nanosleep clock_nanosleep clock_nanosleep_time64 ", -1, -1, 0, NO_LIMIT, wait_sleep },
	{ " restart_syscall ", -1, -1, 0, NO_LIMIT, wait_again },
	{ " pause rt_sigsuspend sigsuspend ", -1, -1, 0, NO_LIMIT, wait_signal },
	{ " rt_sigtimedwait rt_sigtimedwait_time64 ", -1, -1, 2, POINTER, wait_signal },
	{ " flock ", -1, -1, 0, NO_LIMIT, wait_flock },
	{ " fcntl fcntl64 ", -1, -1, 0, NO_LIMIT, wait_fcntl },
	{ " futex futex_time64 ", -1, -1, 0, NO_LIMIT, wait_futex },
	{ " futex_waitv ", -1, -1, 3, POINTER, wait_futexes },
	{ " semop msgrcv msgsnd ", -1, -1, 0, NO_LIMIT, wait_ipc },
	{ " semtimedop semtimedop_time64 ", -1, -1, 3, POINTER, wait_ipc },
	{ " connect ", -1, -1, 0, NO_LIMIT, wait_connect },
};

static const struct rule *rule_of(const char *call)
{
	char word[48];

	str_format(word, sizeof(word), " %s ", call);
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (strstr(rules[i].names, word))
			return &rules[i];
	return NULL;
}

void call_wait(struct thread *t)
{
	const struct rule *r = rule_of(t->call);
	const struct call_role *role = role_of_call(t->call);

	strbuf_puts(&t->what, t->call);
	if (r && ((r->limit == MS && arg_int(t, (unsigned)r->timed) >= 0) ||
		  (r->limit == POINTER && t->args[r->timed])))
		link_active(t, "clock", "a time limit");
	handled_signals(t);
	if (r && r->wait)
		r->wait(t);
	else if (r && r->reads >= 0)
		fd_wait(t, arg_int(t, (unsigned)r->reads), TO_READ);
	else if (r)
		fd_wait(t, arg_int(t, (unsigned)r->writes), TO_WRITE);
	else if (role->is & IS_FILE)
		wait_path(t);
	else if (role->is & IS_DESC)
		file_system_wait(t, arg_int(t, 0), NULL);
	else
		link_unknown(t, "for what");
	if (!t->on)
		t->on = role_waits(role);
}
