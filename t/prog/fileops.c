/* SPDX-License-Identifier: ISC */
/*
 * fileops DIR N SEED - N times, say which file a descriptor is, among random operations on files
 *
 * Five processes with four threads open files in each way, copy, pass, inherit and close
 * descriptors, rename, link, replace and remove files and the directories above them, and change
 * mounts, namespaces and root directories. A check asks fstat and readlink of /proc/thread-self/fd
 * for a descriptor, and then calls pwrite64(FD, ..., NUMBER); or faccessat(AT_FDCWD, "no.NUMBER")
 * for the directory of the thread. Nothing changes meanwhile, but for the names in DIR/top.N/storm.
 * Standard output has a line for each check:
 *
 *	NUMBER KIND WRITTEN MAJOR:MINOR INODE NAME
 *
 * KIND is w; r, and the call before made the descriptor; c for a directory; or s if NAME is two
 * names, between which the name was. WRITTEN is 1 if a file has the byte, else 0. Control
 * characters and <>"\ in names are octal. The processes begin when standard input ends.
 *
 * fileops -c FD NUMBER - the check of a program that has inherited the descriptor
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXCHANGE = 2, CLONE_TREE = 1, UNSHARE = 2 }; /* of renameat2, open_tree and close_range */
enum { CHANGES_DIRECTORY = 1, OWN_MOUNTS, CHROOT, PIVOT, PROCESSES }; /* what each process does */
enum { THREADS = 4, HELD = 8, DIRS = 5, PATH = 128, LINE = 1200 };

static const char *const files[] = {
	"f0", "f 1", "f>2, \"x\", 1, 3)", "f\n3", "f\"4\\", "f (deleted)", "f\303\274\001 = 7",
	"f7.0123456789.0123456789.0123456789.0123456789.0123456789.0123456789"
};
enum { FILES = sizeof(files) / sizeof(*files) };

static struct shared {
	pthread_rwlock_t names;         /* held for writing while names and mounts change */
	unsigned next, most, top;       /* all is in the directory top.TOP */
	pid_t pids[PROCESSES];
} *shared;

static int pair[2];                     /* descriptors are passed here */
static int above, outside;              /* DIR, and DIR/top.N, as before chroot and unshare */
static int stormy[2];                   /* a file and one in a directory, always renamed */
static int common[HELD];                /* descriptors of all threads of the process */
static unsigned process;
static const char *dir;

struct worker {
	uint64_t random;
	int fds[HELD];
	int alone;                      /* it has descriptors of its own */
	FILE *out;                      /* or standard output */
	struct ring {
		int fd;
		char *submitted, *completed;
		struct io_uring_sqe *entries;
		struct io_uring_params p;
	} ring;
};

/* End all processes: the judge is wrong. */
static _Noreturn void fail(int line)
{
	dprintf(STDERR_FILENO, "fileops.c:%d: process %u: %s\n", line, process, strerror(errno));
	__atomic_store_n(&shared->next, shared->most + 1, __ATOMIC_RELAXED);
	for (int i = 0; i < PROCESSES; i++)
		if (shared->pids[i] && shared->pids[i] != getpid())
			kill(shared->pids[i], SIGKILL);
	_exit(111);
}

static unsigned dice(struct worker *w, unsigned n)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(w->random >> 33) % n;
}

/* Write a random path below DIR to path: of a file, or of a directory. */
static const char *any(struct worker *w, char path[PATH], int directory)
{
	unsigned d = dice(w, DIRS), deep = dice(w, 3);

	if (directory)
		snprintf(path, PATH, deep ? "d%u" : "d%u/sub", d);
	else
		snprintf(path, PATH, deep ? "d%u/%s" : "d%u/sub/%s", d, files[dice(w, FILES)]);
	return path;
}

static int open_by_handle(struct worker *w, const char *path)
{
	struct {
		struct file_handle h;
		unsigned char bytes[128];
	} f = { .h.handle_bytes = 128 };
	int id, at, fd;

	(void)w;
	if (name_to_handle_at(AT_FDCWD, path, &f.h, &id, 0) < 0)
		return -1;
	at = open(".", O_RDONLY);
	fd = open_by_handle_at(at, &f.h, O_RDWR);
	close(at);
	return fd;
}

static int receive(void)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(pair[0], &m, MSG_DONTWAIT) == 1 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

static void pass(int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	sendmsg(pair[1], &m, MSG_DONTWAIT);
}

/* Open a file by io_uring. */
static int open_by_ring(struct worker *w, const char *path)
{
	struct ring *r = &w->ring;
	unsigned *tail, *head, at;
	struct io_uring_cqe *c;

	if (!r->p.sq_entries) {
		r->fd = (int)syscall(SYS_io_uring_setup, 4, &r->p);
		if (r->fd < 0)
			return -1;
		r->submitted = mmap(NULL, r->p.sq_off.array + r->p.sq_entries * 4, PROT_READ |
				    PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
		r->completed = mmap(NULL, r->p.cq_off.cqes + r->p.cq_entries * sizeof(*c),
				    PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_CQ_RING);
		r->entries = mmap(NULL, r->p.sq_entries * sizeof(*r->entries), PROT_READ |
				  PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQES);
	}
	tail = (unsigned *)(void *)(r->submitted + r->p.sq_off.tail);
	at = *tail & (r->p.sq_entries - 1);
	memset(&r->entries[at], 0, sizeof(*r->entries));
	r->entries[at].opcode = IORING_OP_OPENAT;
	r->entries[at].fd = AT_FDCWD;
	r->entries[at].addr = (uintptr_t)path;
	r->entries[at].open_flags = O_RDWR | O_CREAT;
	r->entries[at].len = 0600;
	((unsigned *)(void *)(r->submitted + r->p.sq_off.array))[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	head = (unsigned *)(void *)(r->completed + r->p.cq_off.head);
	while (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		if (errno != EINTR)
			return -1;
	at = *head & (r->p.cq_entries - 1);
	c = (struct io_uring_cqe *)(void *)(r->completed + r->p.cq_off.cqes) + at;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return c->res;
}

/* Accept a connection to a Unix socket with a name that the kernel chooses. */
static int accepted(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	socklen_t n = sizeof(a.sun_family);
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0), fd;

	bind(server, (struct sockaddr *)&a, n);
	listen(server, 1);
	n = sizeof(a);
	getsockname(server, (struct sockaddr *)&a, &n);
	connect(client, (struct sockaddr *)&a, n);
	close(client);
	fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	close(server);
	return fd;
}

/* Let a file without a name have one, which no other file has had. */
static int named(const char *directory, const char *path)
{
	static unsigned number;
	char link[64], name[PATH + 16];
	int fd = open(directory, O_RDWR | O_TMPFILE, 0600);

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
	snprintf(name, sizeof(name), "%s.%u.%d", path,
		 __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED), (int)getpid());
	if (linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) < 0)
		linkat(fd, "", AT_FDCWD, name, AT_EMPTY_PATH);
	return fd;
}

static int mount_made(void)
{
	int at = (int)syscall(SYS_fsopen, "tmpfs", 0), fd = -1;

	if (at >= 0 && syscall(SYS_fsconfig, at, 6 /* create */, NULL, NULL, 0) == 0)
		fd = (int)syscall(SYS_fsmount, at, 0, 0);
	close(at);
	return fd;
}

/* Make a descriptor of a file that is in no directory. */
static int make_special(struct worker *w, int *returned)
{
	struct perf_event_attr clock = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(clock),
					 .exclude_kernel = 1 };
	union bpf_attr map = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4,
			       .max_entries = 1 };
	uint64_t handled = 1;
	sigset_t none;
	int fds[2];

	sigemptyset(&none);
	switch (dice(w, 20)) {
	case 0:
		return memfd_create(dice(w, 2) ? "one" : "two<2>\n", 0);
	case 1:
		*returned = 0;
		if (pipe2(fds, O_NONBLOCK) < 0)
			return -1;
		close(fds[0]);
		return fds[1];
	case 2:
		*returned = 0;
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
			return -1;
		close(fds[1]);
		return fds[0];
	case 3:
		return eventfd(0, 0);
	case 4:
		return epoll_create1(0);
	case 5:
		return timerfd_create(CLOCK_MONOTONIC, 0);
	case 6:
		return inotify_init1(0);
	case 7:
		return signalfd(-1, &none, 0);
	case 8:
		return (int)syscall(SYS_pidfd_open, getpid(), 0);
	case 9:
		return (int)syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof(map));
	case 10:
		return (int)syscall(SYS_perf_event_open, &clock, 0, -1, -1, 0);
	case 11:
		return fanotify_init(FAN_CLASS_NOTIF, O_RDONLY);
	case 12:
		return (int)syscall(SYS_userfaultfd, 1);
	case 13:
		return socket(dice(w, 2) ? AF_INET : AF_NETLINK, SOCK_DGRAM, 0);
	case 14:
		*returned = 0;
		return accepted();
	case 15:
		return (int)syscall(SYS_fsopen, "tmpfs", 0);
	case 16:
		*returned = 0;
		return mount_made();
	case 17:
		return (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
	case 18:
		*returned = 0;
		return (int)syscall(SYS_mq_open, "fileops", O_RDWR | O_CREAT, 0600, NULL);
	}
	return (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
}

/* Make a descriptor. *returned: it is the result of the last call. */
static int make(struct worker *w, int *returned)
{
	static const char *const special[] = { "/proc/self/status", "/proc/self/ns/mnt",
					       "/proc/self/ns/pid", "/proc/thread-self/comm" };
	static const char *const magic[] = { "/proc/%d/cwd/%s", "/proc/%d/root/proc/version" };
	static const uint64_t resolve[] = { 0x10, 0x10, 0x8, 0x4, 0x2, 0x1, 0x14, 0 };
	struct { uint64_t flags, mode, resolve; } how = { O_RDWR | O_CREAT, 0644,
							  resolve[dice(w, 8)] };
	char path[PATH], link[PATH + 64];
	int at, fd, old = w->fds[dice(w, HELD)];

	*returned = 1;
	any(w, path, 0);
	switch (dice(w, 30)) {
	case 0:
		return open(path, O_RDWR | O_CREAT, 0644);
	case 1:
		any(w, link, 1);
		at = open(link, O_RDONLY | O_DIRECTORY);
		fd = openat(at, files[dice(w, FILES)], O_WRONLY | O_CREAT, 0644);
		*returned = 0;
		close(at);
		return fd;
	case 2:
	case 3:
		at = open(dice(w, 2) ? any(w, link, 1) : ".", O_PATH);
		snprintf(link, sizeof(link), how.resolve & 0x10 ? "/../%s" : "./%s", path);
		fd = (int)syscall(SYS_openat2, at, link, &how, sizeof(how));
		*returned = 0;
		close(at);
		return fd;
	case 4:
		snprintf(link, sizeof(link), "to%u", dice(w, 3));
		return open(link, dice(w, 2) ? O_RDWR : O_PATH | O_NOFOLLOW);
	case 5:
		return open(any(w, path, 1), O_RDWR | O_TMPFILE, 0600);
	case 6:
		*returned = 0;
		return named(any(w, link, 1), path);
	case 7:
	case 8:
		return dup(old);
	case 9:
		fd = w->fds[dice(w, HELD)];
		if (fd < 0 || old < 0 || fd == old)
			return -1;
		for (unsigned i = 0; i < HELD; i++)
			if (w->fds[i] == fd)
				w->fds[i] = -1;
		/* musl makes more calls than one */
		return dice(w, 2) ? dup2(old, fd) : (int)syscall(SYS_dup3, old, fd, O_CLOEXEC);
	case 10:
		return (int)syscall(SYS_fcntl, old, dice(w, 2) ? F_DUPFD : F_DUPFD_CLOEXEC,
				    20L + dice(w, 40));
	case 11:
		snprintf(link, sizeof(link), "/proc/self/fd/%d", old);
		return open(link, O_RDONLY | O_NONBLOCK);
	case 12:
		return open(path, O_PATH);
	case 13:
		*returned = 0;
		return open_by_handle(w, path);
	case 14:
	case 15:
		*returned = 0;
		return receive();
	case 16:
		return open(special[dice(w, 4)], O_RDONLY);
	case 17:
		return open(any(w, path, 1), O_RDONLY | O_DIRECTORY);
	case 18:
		*returned = 0;
		at = (int)syscall(SYS_pidfd_open, shared->pids[dice(w, PROCESSES)], 0);
		fd = (int)syscall(SYS_pidfd_getfd, at, 3 + (int)dice(w, 30), 0);
		close(at);
		return fd;
	case 19:
	case 20:
		*returned = 0;
		/* workers of a ring keep the descriptors that the thread had at first */
		return w->alone ? -1 : open_by_ring(w, path);
	case 21:
		snprintf(link, sizeof(link), magic[dice(w, 2)], shared->pids[dice(w, PROCESSES)],
			 path);
		return open(link, O_RDWR);
	case 22:
		return (int)syscall(SYS_open_tree, AT_FDCWD, path, CLONE_TREE);
	case 23: /* of another thread, which makes it, or closes it */
	case 24:
		*returned = 0;
		return w->alone ? -1 : __atomic_exchange_n(&common[dice(w, HELD)], -1,
							   __ATOMIC_RELAXED);
	case 25:
	case 26:
	case 27:
	case 28:
		return make_special(w, returned);
	}
	return creat(path, 0644);
}

/* Go to the mount namespace of another process, and to the directory there. */
static void enter_space(struct worker *w)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", shared->pids[dice(w, PROCESSES)]);
	fd = open(path, O_RDONLY);
	if (setns(fd, CLONE_NEWNS) == 0) {
		snprintf(path, sizeof(path), "top.%u", shared->top);
		if (dice(w, 2) || chdir(dir) < 0 || chdir(path) < 0)
			if (fchdir(outside) < 0)
				fail(__LINE__);
	}
	close(fd);
}

static void remove_directory(const char *path)
{
	char file[2 * PATH];

	for (unsigned i = 0; i < FILES; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, files[i]);
		remove(file);
	}
	rmdir(path);
}

/* Let names and mounts change. */
static void change(struct worker *w)
{
	char a[PATH], b[PATH];
	unsigned n;

	pthread_rwlock_wrlock(&shared->names);
	any(w, a, 0);
	any(w, b, 0);
	switch (dice(w, 17)) {
	case 0:
	case 1:
		rename(a, b);
		break;
	case 2:
		syscall(SYS_renameat2, AT_FDCWD, any(w, a, 1), AT_FDCWD, any(w, b, 1), EXCHANGE);
		break;
	case 3:
		snprintf(a, sizeof(a), "d%u", n = dice(w, DIRS));
		snprintf(b, sizeof(b), "moved\t%u.%u", n, dice(w, 1000));
		rename(a, b);
		mkdir(a, 0755);
		snprintf(b, sizeof(b), "d%u/sub", n);
		mkdir(b, 0755);
		break;
	case 4:
	case 5:
		remove(a);
		break;
	case 6:
		link(a, b);
		break;
	case 7:
		snprintf(b, sizeof(b), "to%u", dice(w, 3));
		unlink(b);
		symlink(a, b);
		break;
	case 8:
		if (process >= OWN_MOUNTS)
			mount(any(w, a, 1), any(w, b, 1), NULL, MS_BIND, NULL);
		break;
	case 9:
		if (process >= OWN_MOUNTS)
			umount2(any(w, a, 1), MNT_DETACH);
		break;
	case 10:
		if (process == OWN_MOUNTS)
			mount("none", any(w, a, 1), "tmpfs", 0, NULL);
		break;
	case 11:
		if (process >= OWN_MOUNTS)
			mount(any(w, a, 1), any(w, b, 1), NULL, MS_MOVE, NULL);
		break;
	case 12: /* ext4 gives the same inode again */
		remove(a);
		if (dice(w, 2))
			mkdir(a, 0755);
		else
			mknod(a, S_IFCHR | 0644, makedev(1, 3));
		break;
	case 13: /* the file of a mount */
		if (process >= OWN_MOUNTS)
			mount(a, b, NULL, MS_BIND, NULL);
		break;
	case 14:
		remove_directory(any(w, a, 1));
		mkdir(a, 0755);
		break;
	case 15:
		if (process >= CHROOT)
			break;
		snprintf(a, sizeof(a), "top.%u", shared->top);
		snprintf(b, sizeof(b), "top.%u", shared->top + 1);
		if (renameat(above, a, above, b) == 0)
			shared->top++;
		else if (errno != EBUSY) /* something is mounted there, in the namespace */
			fail(__LINE__);
		break;
	case 16:
		if (process == CHANGES_DIRECTORY)
			enter_space(w);
		break;
	}
	pthread_rwlock_unlock(&shared->names);
}

/* Write the link of procfs to name, with octal numbers. Return 0 or -1. */
static int read_name(const char *link, char name[LINE])
{
	char text[LINE];
	ssize_t n = readlink(link, text, sizeof(text));
	char *to = name;

	for (ssize_t i = 0; i < n && to < name + LINE - 5; i++)
		if ((unsigned char)text[i] < ' ' || strchr("<>\"\\|", text[i]))
			to += sprintf(to, "\\%03o", text[i]);
		else
			*to++ = text[i];
	*to = '\0';
	return n < 0 ? -1 : 0;
}

static void say(struct worker *w, unsigned n, char kind, int written, const struct stat *st,
		const char *name, const char *then)
{
	char line[2 * LINE + 100];
	int size = snprintf(line, sizeof(line), "%u %c %d %u:%u %llu %s%s%s\n", n, kind, written,
			    major(st->st_dev), minor(st->st_dev), (unsigned long long)st->st_ino,
			    name, then ? "|" : "", then ? then : "");

	if (w->out)
		fwrite(line, 1, (size_t)size, w->out);
	else if (write(STDOUT_FILENO, line, (size_t)size) != size)
		fail(__LINE__);
}

/* Check a descriptor. kind: as in the output; n: the number, or 0 for the next one */
static void check_as(struct worker *w, int fd, char kind, unsigned n)
{
	char link[64], name[LINE], then[LINE];
	struct stat st;
	long written;

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
	if (fstat(fd, &st) < 0 || read_name(link, name) < 0)
		return;
	if (!n)
		n = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED);
	if (shared && n > shared->most)
		return;
	written = syscall(SYS_pwrite64, fd, "x", 1, (long)n);
	if (strstr(name, "/storm/"))
		kind = 's';
	say(w, n, kind, written == 1 && S_ISREG(st.st_mode), &st, name,
	    kind == 's' && !read_name(link, then) ? then : NULL);
}

static void check(struct worker *w, int fd, char kind)
{
	check_as(w, fd, kind, 0);
}

/* Check a descriptor in a new process: its copy, the same one, or a program's. */
static void check_in_child(struct worker *w, int fd)
{
	struct worker child = { 0 };
	char number[16], own[16], *const words[] = { "fileops", "-c", own, number, NULL };
	/* a program needs the libraries of the host */
	unsigned how = dice(w, process < CHROOT && process != CHANGES_DIRECTORY ? 4 : 2), n;
	pid_t pid;

	snprintf(own, sizeof(own), "%d", fd);
	if (how == 3) {
		n = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED);
		snprintf(number, sizeof(number), "%u", n);
		if (n > shared->most)
			return;
		if (fcntl(fd, F_SETFD, 0) < 0 ||
		    posix_spawn(&pid, "/proc/self/exe", NULL, NULL, words, NULL))
			fail(__LINE__);
	} else {
#ifdef __s390x__
		pid = how ? fork() : (pid_t)syscall(SYS_clone, 0, CLONE_FILES | CLONE_FS | SIGCHLD,
						    0, 0, 0);
#else
		pid = how ? fork() : (pid_t)syscall(SYS_clone, CLONE_FILES | CLONE_FS | SIGCHLD, 0,
						    0, 0, 0);
#endif
	}
	if (!pid) {
		check(&child, fd, 'w');
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void check_directory(struct worker *w)
{
	char name[LINE], path[32];
	struct stat st;
	unsigned n;

	if (stat("/proc/thread-self/cwd/", &st) < 0 || read_name("/proc/thread-self/cwd", name) < 0)
		return;
	n = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED);
	if (n > shared->most)
		return;
	snprintf(path, sizeof(path), "no.%u", n);
	syscall(SYS_faccessat, AT_FDCWD, path, F_OK);
	say(w, n, 'c', 0, &st, name, NULL);
}

/* Forget a descriptor: close it, or let another thread have it. */
static void drop(struct worker *w, int fd)
{
	switch (dice(w, 6)) {
	case 0:
		if (!w->alone)
			fd = __atomic_exchange_n(&common[dice(w, HELD)], fd, __ATOMIC_RELAXED);
		break;
	case 1:
		if (syscall(SYS_close_range, fd, fd, 0) == 0)
			return;
		break;
	}
	close(fd);
}

static void step(struct worker *w)
{
	unsigned at = dice(w, HELD), what = dice(w, 41);
	int returned, fd;
	char path[PATH];

	if (what < 4) {
		change(w);
		return;
	}
	pthread_rwlock_rdlock(&shared->names);
	if (what < 20) {
		fd = make(w, &returned);
		if (w->fds[at] >= 0)
			drop(w, w->fds[at]);
		w->fds[at] = fd;
		if (fd >= 0)
			check(w, fd, returned ? 'r' : 'w');
	} else if (what < 31) {
		if (w->fds[at] >= 0)
			check(w, w->fds[at], 'w');
	} else if (what < 35) {
		if (w->fds[at] >= 0)
			pass(w->fds[at]);
		check(w, stormy[dice(w, 2)], 's');
	} else if (what == 35) {
		fd = w->fds[at];
		if (fd >= 0 && syscall(SYS_close_range, fd, fd, UNSHARE) == 0) {
			w->fds[at] = -1;
			w->alone = 1;
		}
	} else if (what < 38) {
		if (w->fds[at] >= 0)
			check_in_child(w, w->fds[at]);
	} else {
		if (process == CHANGES_DIRECTORY && dice(w, 2)) {
			if (chdir(any(w, path, 1)) == 0) {
				check_directory(w);
				if (fchdir(outside) < 0)
					fail(__LINE__);
			}
		}
		check_directory(w);
	}
	pthread_rwlock_unlock(&shared->names);
}

static void *work(void *number)
{
	struct worker w = { .random = (uintptr_t)number };
	char *text;
	size_t n;

	w.out = open_memstream(&text, &n);
	if (process == CHANGES_DIRECTORY)
		unshare(CLONE_FS);
	for (unsigned i = 0; i < HELD; i++)
		w.fds[i] = -1;
	while (__atomic_load_n(&shared->next, __ATOMIC_RELAXED) <= shared->most)
		step(&w);
	fclose(w.out);
	for (size_t at = 0; at < n;) {
		ssize_t k = write(STDOUT_FILENO, text + at, n - at);

		if (k <= 0)
			fail(__LINE__);
		at += (size_t)k;
	}
	return NULL;
}

/* Rename what is in storm, each time to a new name, until all checks are done. */
static void storm(void)
{
	char a[64], b[64];

	for (unsigned at = 0; __atomic_load_n(&shared->next, __ATOMIC_RELAXED) <= shared->most;
	     at++) {
		for (int i = 0; i < 2; i++) {
			snprintf(a, sizeof(a), i ? "storm/d/s.%u" : "storm/s.%u", at);
			snprintf(b, sizeof(b), i ? "storm/d/s.%u" : "storm/s.%u", at + 1);
			if (rename(a, b) < 0)
				fail(__LINE__);
		}
	}
}

/* Let the process have the mounts and the root directory that it should have. */
static int enter(void)
{
	char path[600];
	int result = -1;

	if (process < OWN_MOUNTS)
		return 0;
	pthread_rwlock_wrlock(&shared->names);
	snprintf(path, sizeof(path), "%s/top.%u", dir, shared->top);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		;
	else if (process == OWN_MOUNTS)
		result = 0;
	else if (process == PIVOT)
		result = mount(path, path, NULL, MS_BIND, NULL) < 0 || chdir(path) < 0 ||
			 mount("/proc", "proc", NULL, MS_BIND, NULL) < 0 ||
			 /* rootfs, as of a guest, cannot be moved */
			 (syscall(SYS_pivot_root, ".", ".") < 0 ? chroot(".") :
			  umount2(".", MNT_DETACH)) < 0 || chdir("/") < 0 ? -1 : 0;
	else
		result = chdir(path) < 0 || mount("/proc", "proc", NULL, MS_BIND, NULL) < 0 ||
			 chroot(path) < 0 || chdir("/") < 0 ? -1 : 0;
	pthread_rwlock_unlock(&shared->names);
	return result;
}

int main(int argc, char **argv)
{
	pthread_rwlockattr_t attributes;
	pthread_t threads[THREADS];
	char path[PATH], c;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;

	if (argc == 4 && !strcmp(argv[1], "-c")) {
		check_as(&(struct worker){ 0 }, atoi(argv[2]), 'w', (unsigned)atoi(argv[3]));
		return 0;
	}
	if (argc < 3 || chdir(dir = argv[1]) < 0)
		return 100;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	shared->most = (unsigned)atoi(argv[2]);
	shared->next = 1;
	pthread_rwlockattr_init(&attributes);
	pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&shared->names, &attributes);
	above = open(".", O_RDONLY | O_DIRECTORY);
	mkdir("top.0", 0755);
	if (chdir("top.0") < 0)
		return 111;
	mkdir("proc", 0755);
	for (int i = 0; i < DIRS; i++) {
		snprintf(path, sizeof(path), "d%d", i);
		mkdir(path, 0755);
		snprintf(path, sizeof(path), "d%d/sub", i);
		mkdir(path, 0755);
	}
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
		return 111;
	outside = open(".", O_RDONLY | O_DIRECTORY);
	mkdir("storm", 0755);
	mkdir("storm/d", 0755);
	mkdir("storm/d/s.0", 0755);
	stormy[0] = creat("storm/s.0", 0644);
	stormy[1] = creat("storm/d/s.0/file", 0644);
	memset(common, -1, sizeof(common));
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	for (process = 0; process <= PROCESSES; process++) {
		pid_t pid = fork();

		if (!pid && process == PROCESSES) {
			storm();
			_exit(0);
		}
		if (!pid) {
			shared->pids[process] = getpid();
			if (enter() < 0)
				fail(__LINE__);
			for (uintptr_t i = 0; i < THREADS; i++)
				pthread_create(&threads[i], NULL, work,
					       (void *)(seed * 1000 + process * 10 + i));
			for (int i = 0; i < THREADS; i++)
				pthread_join(threads[i], NULL);
			_exit(0);
		}
	}
	for (int status, bad = 0; ; bad |= status)
		if (wait(&status) < 0)
			return bad ? 111 : 0;
}
