/* SPDX-License-Identifier: ISC */
/*
 * fileops DIR N SEED - N times, say which file a descriptor is, among random operations on files
 *
 * Four processes with four threads open files in each way, copy, pass and close descriptors,
 * rename, link and remove files, and change mounts and root directories. A check asks fstat and
 * readlink of /proc/thread-self/fd for a descriptor, and then calls pwrite64(FD, ..., NUMBER); or
 * faccessat(AT_FDCWD, "no.NUMBER") for the directory of the thread. Nothing changes meanwhile, but
 * for the names in DIR/storm. Standard output has a line for each check:
 *
 *	NUMBER KIND TID MAJOR:MINOR INODE NAME
 *
 * KIND is w; r, and the call before made the descriptor; c for a directory; or s if NAME is two
 * names, between which the name was. The four processes begin when standard input ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXCHANGE = 2 };                  /* RENAME_EXCHANGE */
enum { PROCESSES = 4, THREADS = 4, HELD = 8, DIRS = 5, FILES = 6, LINE = 600 };

static struct shared {
	pthread_rwlock_t names;         /* held for writing while names and mounts change */
	unsigned next, most, stop;
	pid_t pids[PROCESSES];
} *shared;

static int pair[2];                     /* descriptors are passed here */
static int outside;                     /* a directory outside of a chroot */
static int stormy;                      /* a file that is renamed all the time */
static unsigned process;

struct worker {
	uint64_t random;
	int fds[HELD];
	FILE *out;
};

static unsigned dice(struct worker *w, unsigned n)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(w->random >> 33) % n;
}

/* Write a random path below DIR to path: of a file, or of a directory. */
static const char *any(struct worker *w, char path[64], int directory)
{
	unsigned d = dice(w, DIRS), deep = dice(w, 3);

	if (directory)
		snprintf(path, 64, deep ? "d%u" : "d%u/sub", d);
	else
		snprintf(path, 64, deep ? "d%u/f%u" : "d%u/sub/f%u", d, dice(w, FILES));
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

/* Make a descriptor. *returned: it is the result of the last call. */
static int make(struct worker *w, int *returned)
{
	static const char *const special[] = { "/proc/self/status", "/proc/self/ns/mnt",
					       "/proc/self/ns/pid", "/proc/thread-self/comm" };
	struct { uint64_t flags, mode, resolve; } how = { O_RDWR | O_CREAT, 0644, 0x10 };
	char path[64], link[80];
	int fds[2], at, fd, old = w->fds[dice(w, HELD)];
	sigset_t none;

	*returned = 1;
	sigemptyset(&none);
	any(w, path, 0);
	switch (dice(w, 27)) {
	case 0:
		return open(path, O_RDWR | O_CREAT, 0644);
	case 1:
		any(w, link, 1);
		at = open(link, O_RDONLY | O_DIRECTORY);
		snprintf(path, sizeof(path), "f%u", dice(w, FILES));
		fd = openat(at, path, O_WRONLY | O_CREAT, 0644);
		*returned = 0;
		close(at);
		return fd;
	case 2:
		at = open(".", O_PATH);
		snprintf(link, sizeof(link), "/../%s", path);
		fd = (int)syscall(SYS_openat2, at, link, &how, sizeof(how));
		*returned = 0;
		close(at);
		return fd;
	case 3:
		snprintf(link, sizeof(link), "to%u", dice(w, 3));
		return open(link, O_RDWR);
	case 4:
		return open(any(w, path, 1), O_RDWR | O_TMPFILE, 0600);
	case 5:
		return memfd_create(path[1] % 2 ? "one" : "two", 0);
	case 6:
		*returned = 0;
		if (pipe2(fds, O_NONBLOCK) < 0)
			return -1;
		close(fds[0]);
		return fds[1];
	case 7:
		*returned = 0;
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
			return -1;
		close(fds[1]);
		return fds[0];
	case 8:
		return eventfd(0, 0);
	case 9:
		return epoll_create1(0);
	case 10:
		return timerfd_create(CLOCK_MONOTONIC, 0);
	case 11:
		return inotify_init1(0);
	case 12:
		return signalfd(-1, &none, 0);
	case 13:
		return (int)syscall(SYS_pidfd_open, getpid(), 0);
	case 14:
	case 15:
		return dup(old);
	case 16:
		fd = w->fds[dice(w, HELD)];
		if (fd < 0 || old < 0 || fd == old)
			return -1;
		for (unsigned i = 0; i < HELD; i++)
			if (w->fds[i] == fd)
				w->fds[i] = -1;
		return dice(w, 2) ? dup2(old, fd) : dup3(old, fd, O_CLOEXEC);
	case 17:
		return fcntl(old, F_DUPFD, 20 + (int)dice(w, 40));
	case 18:
		snprintf(path, sizeof(path), "/proc/self/fd/%d", old);
		return open(path, O_RDONLY | O_NONBLOCK);
	case 19:
		return open(path, O_PATH);
	case 20:
		*returned = 0;
		return open_by_handle(w, path);
	case 21:
	case 22:
		*returned = 0;
		return receive();
	case 23:
		return open(special[dice(w, 4)], O_RDONLY);
	case 24:
		return open(any(w, path, 1), O_RDONLY | O_DIRECTORY);
	case 25:
		*returned = 0;
		at = (int)syscall(SYS_pidfd_open, shared->pids[dice(w, PROCESSES)], 0);
		fd = (int)syscall(SYS_pidfd_getfd, at, 3 + (int)dice(w, 30), 0);
		close(at);
		return fd;
	}
	return creat(path, 0644);
}

/* Let names and mounts change. */
static void change(struct worker *w)
{
	char a[64], b[64];
	unsigned n;

	pthread_rwlock_wrlock(&shared->names);
	any(w, a, 0);
	any(w, b, 0);
	switch (dice(w, 12)) {
	case 0:
	case 1:
		rename(a, b);
		break;
	case 2:
		syscall(SYS_renameat2, AT_FDCWD, any(w, a, 1), AT_FDCWD, any(w, b, 1), EXCHANGE);
		break;
	case 3:
		snprintf(a, sizeof(a), "d%u", n = dice(w, DIRS));
		snprintf(b, sizeof(b), "moved%u.%u", n, dice(w, 1000));
		rename(a, b);
		mkdir(a, 0755);
		snprintf(b, sizeof(b), "d%u/sub", n);
		mkdir(b, 0755);
		break;
	case 4:
	case 5:
		unlink(a);
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
		if (process >= 2)
			mount(any(w, a, 1), any(w, b, 1), NULL, MS_BIND, NULL);
		break;
	case 9:
		if (process >= 2)
			umount2(any(w, a, 1), MNT_DETACH);
		break;
	case 10:
		if (process == 2)
			mount("none", any(w, a, 1), "tmpfs", 0, NULL);
		break;
	case 11:
		if (process == 2)
			mount(any(w, a, 1), any(w, b, 1), NULL, MS_MOVE, NULL);
		break;
	}
	pthread_rwlock_unlock(&shared->names);
}

/* Write the link of procfs to name. Return 0 or -1. */
static int read_name(const char *link, char name[LINE])
{
	ssize_t n = readlink(link, name, LINE - 1);

	name[n < 0 ? 0 : n] = '\0';
	return n < 0 ? -1 : 0;
}

static void say(struct worker *w, unsigned n, char kind, const struct stat *st, const char *name,
		const char *then)
{
	fprintf(w->out, "%u %c %d %u:%u %llu %s%s%s\n", n, kind, (int)syscall(SYS_gettid),
		major(st->st_dev), minor(st->st_dev), (unsigned long long)st->st_ino, name,
		then ? "|" : "", then ? then : "");
}

/* Check a descriptor. kind: as in the output */
static void check(struct worker *w, int fd, char kind)
{
	char link[64], name[LINE], then[LINE];
	struct stat st;
	unsigned n;

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
	if (fstat(fd, &st) < 0 || read_name(link, name) < 0)
		return;
	n = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED);
	if (n > shared->most)
		return;
	syscall(SYS_pwrite64, fd, "x", 1, (long)n);
	if (strstr(name, "/storm/"))
		kind = 's';
	say(w, n, kind, &st, name, kind == 's' && !read_name(link, then) ? then : NULL);
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
	say(w, n, 'c', &st, name, NULL);
}

static void step(struct worker *w)
{
	unsigned at = dice(w, HELD), what = dice(w, 10);
	int returned, fd;
	char path[64];

	if (what == 0) {
		change(w);
		return;
	}
	pthread_rwlock_rdlock(&shared->names);
	if (what < 5) {
		fd = make(w, &returned);
		if (w->fds[at] >= 0)
			close(w->fds[at]);
		w->fds[at] = fd;
		if (fd >= 0)
			check(w, fd, returned && w->fds[at] == fd ? 'r' : 'w');
	} else if (what < 8) {
		if (w->fds[at] >= 0)
			check(w, w->fds[at], 'w');
	} else if (what == 8) {
		if (w->fds[at] >= 0)
			pass(w->fds[at]);
		check(w, stormy, 's');
	} else {
		if (process == 1 && dice(w, 2)) {
			if (chdir(any(w, path, 1)) == 0) {
				check_directory(w);
				if (fchdir(outside) < 0)
					abort();
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
	if (process == 1)
		unshare(CLONE_FS);
	for (unsigned i = 0; i < HELD; i++)
		w.fds[i] = -1;
	while (__atomic_load_n(&shared->next, __ATOMIC_RELAXED) <= shared->most)
		step(&w);
	fclose(w.out);
	for (size_t at = 0; at < n;) {
		ssize_t k = write(STDOUT_FILENO, text + at, n - at);

		if (k <= 0)
			abort();
		at += (size_t)k;
	}
	return NULL;
}

/* Rename the file in DIR/storm, each time to a new name, until all checks are done. */
static void storm(void)
{
	char a[64], b[64];

	for (unsigned at = 0; __atomic_load_n(&shared->next, __ATOMIC_RELAXED) <= shared->most;
	     at++) {
		snprintf(a, sizeof(a), "storm/s.%u", at);
		snprintf(b, sizeof(b), "storm/s.%u", at + 1);
		if (rename(a, b) < 0)
			abort();
	}
}

static int enter(const char *dir)
{
	char path[600];

	if (process < 2)
		return 0;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	if (process == 2)
		return 0;
	snprintf(path, sizeof(path), "%s/proc", dir);
	return mount("/proc", path, NULL, MS_BIND, NULL) < 0 || chroot(dir) < 0 || chdir("/") < 0 ?
	       -1 : 0;
}

int main(int argc, char **argv)
{
	pthread_rwlockattr_t attributes;
	pthread_t threads[THREADS];
	char path[64], c;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;

	if (argc < 3 || chdir(argv[1]) < 0)
		return 100;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	shared->most = (unsigned)atoi(argv[2]);
	shared->next = 1;
	pthread_rwlockattr_init(&attributes);
	pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&shared->names, &attributes);
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
	stormy = creat("storm/s.0", 0644);
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
			if (enter(argv[1]) < 0)
				_exit(111);
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
