/* SPDX-License-Identifier: ISC */
/*
 * stranger.c - read files and memory of strangers in a process that may be abandoned
 *
 * A file system without its server (FUSE, NFS) may never answer. A task that waits for an answer in
 * a stat, an open, a read or a page fault does not even end by SIGKILL. A hostile file may keep its
 * reader busy for hours. So a helper, a fork of the tool, reads, and the tool waits only for some
 * time. The helper has no descriptor but its socket, and a session and a directory of its own, so
 * it keeps nothing that others need. Nobody waits for its end.
 *
 * All helpers and the tool share memory. A helper that makes progress counts its steps there, and
 * names the place that it waits for, a device or a process. If a helper was silent for too long,
 * its place is left alone for some seconds, and each further time twice as long.
 */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"

enum {
	SILENT_MS = 1000,       /* abandon a helper that made no progress for so long */
	LONGEST_MS = 3000,      /* or that works so long on one question */
	LAST_MS = 500,          /* after the tool was told to stop: the time for all questions */
	LOOK_MS = 100,          /* how often to look whether a helper makes progress */
	ABANDONED = 256,        /* ask nothing more if so many abandoned helpers have not ended */
	OF_ONE = 16,            /* nothing more of a user for whom there are so many helpers */
	ALONE_MS = 4000,        /* leave a place that was silent alone for so long */
	PLACES = 256,           /* silent places that are remembered */
	QUESTION = PATH_MAX + 256,
	ANSWER = 256 << 20,     /* bytes of a part of an answer */
	CHUNK = 1 << 20,
};

struct shared {
	struct {
		volatile uint32_t steps;
		volatile uint64_t place;
	} helper[STRANGER_HELPERS];
	struct silent_place {
		volatile uint64_t place;
		volatile int64_t until; /* leave it alone before this time in ms */
		int64_t alone;          /* for how many ms it is left alone */
	} silent[PLACES + 1];           /* the last one is empty */
	unsigned n;                     /* places noted so far, overwritten ones included */
};

struct question {
	stranger_fn *fn;
	size_t n;
};

struct answer_head {
	int32_t error, fd;
	uint64_t size[2];
};

static struct helper {
	pid_t pid;              /* 0: not started */
	int fd;
	int busy;
	uid_t user;             /* whose process the question is about */
	long long asked, heard; /* times in ms: of the question, and of the last progress */
	uint32_t steps;         /* at that time */
	struct answer_head head;
	size_t got;             /* bytes of the head and of the parts */
	struct stranger_answer answer;
} helpers[STRANGER_HELPERS];

static struct {
	struct shared *shared;
	int self;               /* in a helper: its number plus 1 */
	int stop;               /* the descriptor that says when to stop, plus 1 */
	long long until;        /* wait for no answer after this; 0: not told to stop */
	struct {
		pid_t pid;
		uid_t user;
	} abandoned[ABANDONED + STRANGER_HELPERS]; /* room for those at work, too */
	size_t n;
} all;

/* ---- in the helper ------------------------------------------------------------------------ */

void stranger_step(void)
{
	if (all.self)
		all.shared->helper[all.self - 1].steps++;
}

int stranger_enter(uint64_t place)
{
	if (!all.self)
		return 0;
	for (const struct silent_place *p = all.shared->silent; p->place; p++)
		if (p->place == place && time_now_ms() < p->until) {
			errno = EHOSTDOWN;
			return -1;
		}
	all.shared->helper[all.self - 1].place = place;
	stranger_step();
	return 0;
}

/* Write a path that leads to the file that fd names, of PATH_MAX bytes. */
static void path_of(int fd, char *path)
{
	str_format(path, PATH_MAX, "%s/self/fd/%d", path_procfs(), fd);
}

int stranger_open(const char *path, struct stat *st)
{
	struct k_statx known = { 0 };
	char again[PATH_MAX];
	int fd = open(path, O_PATH | O_CLOEXEC), file = -1;

	if (fd < 0)
		return -1;
	/* this asks no server, and tells the device, whose server the next calls ask */
	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | K_AT_STATX_DONT_SYNC, K_STATX_TYPE,
		    &known) < 0 || !stranger_enter(makedev(known.major, known.minor))) {
		path_of(fd, again);
		file = file_open(again, FILE_REGULAR, O_RDONLY, st);
		stranger_step();
	}
	fd_close(fd);
	return file;
}

/* Close all descriptors except fd; redirect those below 3 to /dev/null. */
static void close_others(int fd)
{
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	if (dup2(fd, 3) < 0)
		_exit(REFUSED);
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, 4, ~0u, 0))
		return;
#endif
	for (int i = 4, end = (int)sysconf(_SC_OPEN_MAX); i < end; i++)
		close(i);
}

/* Read or write all n bytes. Return 0, or -1 if the tool has ended or abandoned this helper. */
static int transfer(void *bytes, size_t n, int is_answer)
{
	for (char *p = bytes; n;) {
		size_t part = n < CHUNK ? n : CHUNK;
		ssize_t r = is_answer ? send(3, p, part, MSG_NOSIGNAL) : recv(3, p, part, 0);

		if (r <= 0 && (!r || errno != EINTR))
			return -1;
		stranger_step();
		p += r > 0 ? r : 0;
		n -= r > 0 ? (size_t)r : 0;
	}
	return 0;
}

/* Answer questions. */
__attribute__((noreturn))
static void serve(int fd)
{
	static char bytes[QUESTION];
	struct question q;
	int score;

	setsid();
	close_others(fd);
	/* if memory runs out, the kernel kills the helper first, and not the tool */
	score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (chdir("/") < 0 || (score >= 0 && write(score, "1000", 4) < 0))
		stranger_step();
	fd_close(score);
	while (!transfer(&q, sizeof(q), 0) && !transfer(bytes, q.n, 0)) {
		struct stranger_answer a = { 0 };
		struct answer_head head;

		q.fn(bytes, &a);
		head = (struct answer_head){ a.error, a.fd, { a.size[0], a.size[1] } };
		if (transfer(&head, sizeof(head), 1) < 0 ||
		    (a.fd && fd_send(3, &a.fd, 1, KEEP) < 0) ||
		    transfer(a.part[0], a.size[0], 1) < 0 || transfer(a.part[1], a.size[1], 1) < 0)
			break;
		stranger_free(&a);
		all.shared->helper[all.self - 1].place = 0;
	}
	_exit(DONE);
}

/* ---- in the tool -------------------------------------------------------------------------- */

void stranger_free(struct stranger_answer *a)
{
	free(a->part[0]);
	free(a->part[1]);
	if (a->fd)
		close(a->fd);
	*a = (struct stranger_answer){ 0 };
}

void stranger_stop_at(int fd)
{
	all.stop = fd + 1;
}

void stranger_stop(void)
{
	if (!all.until)
		all.until = time_now_ms() + LAST_MS;
}

/*
 * Return the user who has made the outermost user namespace of a process below ours: there may be
 * thousands of uids in that namespace. If root has made it for somebody, return the inode of the
 * namespace instead. Return -1 if the process is in our own namespace.
 */
static uid_t maker_of(pid_t pid)
{
	char path[PATH_MAX];
	struct stat st;
	uid_t user = (uid_t)-1;
	int fd, parent;

	str_format(path, sizeof(path), "%s/%d/ns/user", path_procfs(), (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (parent = ioctl(fd, K_NS_GET_PARENT)) >= 0) {
		if (ioctl(fd, K_NS_GET_OWNER_UID, &user) < 0)
			user = (uid_t)-1;
		else if (!user && !fstat(fd, &st))
			user = (uid_t)st.st_ino;
		close(fd);
		fd = parent;
	}
	fd_close(fd);
	return user;
}

/* Return the user of a process. If a process has ended, its user is not known. */
static uid_t user_of(pid_t pid)
{
	const uid_t maker = pid ? maker_of(pid) : geteuid();
	struct stat st = { .st_uid = (uid_t)-1 };
	char path[PATH_MAX];

	if (maker != (uid_t)-1)
		return maker;
	str_format(path, sizeof(path), "%s/%d", path_procfs(), (int)pid);
	return stat(path, &st) < 0 ? (uid_t)-1 : st.st_uid;
}

/* Start a helper if it is not there. Return 0, or -1. */
static int start(struct helper *h)
{
	int ends[2], of_one = 0;

	for (size_t i = 0; i < all.n;)
		if (waitpid(all.abandoned[i].pid, NULL, WNOHANG))
			all.abandoned[i] = all.abandoned[--all.n];
		else
			of_one += all.abandoned[i++].user == h->user;
	for (const struct helper *at = helpers; at < helpers + STRANGER_HELPERS; at++)
		of_one += at->busy && at->user == h->user;
	if (all.n >= ABANDONED || of_one >= OF_ONE)
		return -1;
	if (h->pid)
		return 0;
	if (!all.shared) {
		void *p = mmap(NULL, sizeof(*all.shared), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return -1;
		all.shared = p;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	h->pid = fork();
	if (!h->pid) {
		all.self = (int)(h - helpers) + 1;
		serve(ends[1]);
	}
	close(ends[1]);
	if (h->pid < 0) {
		close(ends[0]);
		h->pid = 0;
		return -1;
	}
	h->fd = ends[0];
	return 0;
}

static void note_silent(uint64_t place)
{
	struct silent_place *p = all.shared->silent;

	while (p->place && p->place != place)
		p++;
	if (!p->place) {
		p = &all.shared->silent[all.shared->n++ % PLACES];
		p->alone = ALONE_MS / 2;
	}
	p->alone *= 2;
	p->until = time_now_ms() + p->alone;
	p->place = place;
}

/* Abandon a helper. If silent is set, note that the place that it waits for does not answer. */
static void abandon(struct helper *h, int silent)
{
	uint64_t place = all.shared->helper[h - helpers].place;

	if (silent && place)
		note_silent(place);
	kill(h->pid, SIGKILL);
	close(h->fd);
	all.abandoned[all.n].pid = h->pid;
	all.abandoned[all.n++].user = h->user;
	stranger_free(&h->answer);
	*h = (struct helper){ 0 };
	procfs_miss();
}

int stranger_begin(stranger_fn *fn, const void *question, size_t n, pid_t of)
{
	struct question q = { fn, n };
	char bytes[sizeof(q) + QUESTION];
	struct helper *h = helpers;

	while (h < helpers + STRANGER_HELPERS && h->busy)
		h++;
	if (h == helpers + STRANGER_HELPERS || n > QUESTION)
		return -1;
	h->user = user_of(of);
	if (start(h) < 0)
		return -1;
	memcpy(bytes, &q, sizeof(q));
	memcpy(bytes + sizeof(q), question, n);
	if (send(h->fd, bytes, sizeof(q) + n, MSG_NOSIGNAL) != (ssize_t)(sizeof(q) + n)) {
		abandon(h, 0);
		return -1;
	}
	h->busy = 1;
	h->got = 0;
	h->asked = h->heard = time_now_ms();
	h->steps = all.shared->helper[h - helpers].steps;
	return (int)(h - helpers);
}

int stranger_fd(int helper)
{
	return helpers[helper].fd;
}

void stranger_demote(int helper)
{
	static const struct sched_param none;

	syscall(SYS_sched_setscheduler, helpers[helper].pid, SCHED_OTHER, &none);
}

/* Read what there is of the answer. Return 1 if it is complete, 0 if not, or -1. */
static int receive(struct helper *h)
{
	struct stranger_answer *a = &h->answer;
	size_t head = sizeof(h->head);

	for (;;) {
		size_t first = head + a->size[0], end = first + a->size[1];
		char *to = h->got < head ? (char *)&h->head + h->got :
			   h->got < first ? (char *)a->part[0] + (h->got - head) :
			   (char *)a->part[1] + (h->got - first);
		size_t n = h->got < head ? head - h->got : h->got < first ? first - h->got :
			   end - h->got;
		uint8_t kinds[FD_SEND_MAX];
		int fds[FD_SEND_MAX];
		ssize_t r;

		if (h->got == head && h->head.fd && !a->fd) {
			size_t sent = fd_receive(h->fd, fds, kinds, FD_SEND_MAX);

			a->fd = sent ? fds[0] : 0;
			while (sent > 1)
				close(fds[--sent]);
			if (!a->fd)
				return recv(h->fd, to, 1, MSG_PEEK | MSG_DONTWAIT) ? 0 : -1;
		}
		if (!n)
			return 1;
		r = recv(h->fd, to, n, MSG_DONTWAIT);
		if (r < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (r <= 0)
			return -1;
		h->got += (size_t)r;
		if (h->got != head)
			continue;
		a->error = (int)h->head.error;
		for (size_t i = 0; i < 2; i++) {
			if (h->head.size[i] > ANSWER)
				return -1;
			a->size[i] = (size_t)h->head.size[i];
			a->part[i] = malloc(a->size[i] + 1);
			if (!a->part[i])
				return -1;
			((char *)a->part[i])[a->size[i]] = '\0';
		}
	}
}

/* Return whether the helper may go on at this time, and the time of the next look in *next. */
static int may_go_on(struct helper *h, long long now, long long *next)
{
	uint32_t steps = all.shared->helper[h - helpers].steps;
	struct task t;

	if (steps != h->steps) {
		h->steps = steps;
		h->heard = now;
	}
	if (now - h->heard >= SILENT_MS && !task_read(h->pid, &t) && t.state == 'R')
		h->heard = now; /* it runs, or waits only for a CPU */
	*next = now + LOOK_MS;
	if (all.until && *next > all.until)
		*next = all.until;
	return now - h->heard < SILENT_MS && now - h->asked < LONGEST_MS &&
	       (!all.until || now < all.until);
}

int stranger_end(int helper, int ms, struct stranger_answer *a)
{
	struct helper *h = &helpers[helper];
	long long until = time_now_ms() + ms, next;

	for (;;) {
		struct pollfd p[] = { { .fd = h->fd, .events = POLLIN },
				      { .fd = all.until ? -1 : all.stop - 1, .events = POLLIN } };
		int r = receive(h);
		long long now = time_now_ms();

		if (r > 0) {
			*a = h->answer;
			h->answer = (struct stranger_answer){ 0 };
			h->busy = 0;
			return 1;
		}
		if (r < 0 || !may_go_on(h, now, &next)) {
			abandon(h, r == 0 && now - h->heard >= SILENT_MS);
			return -1;
		}
		if (ms >= 0 && now >= until)
			return 0;
		next = ms >= 0 && next > until ? until : next;
		poll(p, 2, (int)(next - now));
		if (p[1].revents)
			stranger_stop();
	}
}

int stranger_ask(stranger_fn *fn, const void *question, size_t n, pid_t of,
		 struct stranger_answer *a)
{
	int helper;

	*a = (struct stranger_answer){ 0 };
	if (all.until && time_now_ms() >= all.until)
		helper = -1;
	else
		helper = stranger_begin(fn, question, n, of);
	if (helper >= 0 && stranger_end(helper, -1, a) > 0)
		return 0;
	if (helper < 0)
		procfs_miss();
	errno = EIO;
	return -1;
}
