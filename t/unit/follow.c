/* SPDX-License-Identifier: ISC */
/* follow.c - descriptors and directories of tasks, driven by made-up calls */
#include <sched.h>
#include <sys/socket.h>

#include "syscalls/syscalls.h"
#include "unit.h"

enum { A = 1001, B = 1002, C = 1003 };

static struct follow f;
static char text[4200];

/* The file of a descriptor, "" if it is unknown. */
static const char *file(int pid, int fd)
{
	size_t n = follow_print_fd(&f, pid, fd, text, sizeof(text));

	text[n] = '\0';
	return text;
}

static const char *path(int pid, int dirfd, const char *name)
{
	size_t n = follow_print_path(&f, pid, dirfd, name, text, sizeof(text));

	text[n] = '\0';
	return text;
}

/* User memory of the next call: of argument i. */
static struct call_values next;

static void user(unsigned i, const void *bytes, size_t n)
{
	next.user[i] = (struct call_bytes){ .bytes = bytes, .n = n };
}

/* Return the call with this name of 64-bit or of 32-bit code. */
static const struct call *find(const char *name)
{
	for (unsigned abi = 0; abi < 2; abi++) {
		struct calls *calls = calls_open(abi ? "i386" : "x86_64");

		for (unsigned n = 0; n <= calls_most(calls); n++) {
			const struct call *c = calls_find(calls, n);

			if (c && !strcmp(c->name, name))
				return c;
		}
	}
	CHECK(!name);
	return NULL;
}

static void call(int pid, const char *name, int64_t result, uint64_t a, uint64_t b, uint64_t c,
		 uint64_t d)
{
	next.args[0] = a;
	next.args[1] = b;
	next.args[2] = c;
	next.args[3] = d;
	next.result = result;
	next.returned = 1;
	follow_call(&f, pid, find(name), &next);
	next = (struct call_values){ 0 };
}

static void openat_of(int pid, const char *name, int dirfd, int flags, int fd)
{
	user(1, name, strlen(name));
	call(pid, "openat", fd, (uint64_t)dirfd, 0, (uint64_t)flags, 0);
}

static void chdir_to(int pid, const char *name)
{
	user(0, name, strlen(name));
	call(pid, "chdir", 0, 0, 0, 0, 0);
}

static void test_open(void)
{
	struct { uint64_t flags, mode, resolve; } how = { O_CLOEXEC, 0, 0 };

	EQUAL_TEXT(file(A, 3), "");
	openat_of(A, "/etc/passwd", AT_FDCWD, 0, 3);
	EQUAL_TEXT(file(A, 3), "/etc/passwd");
	openat_of(A, "/etc//./ssh/", AT_FDCWD, 0, 4);
	EQUAL_TEXT(file(A, 4), "/etc/ssh");
	openat_of(A, "keys", 4, 0, 5);
	EQUAL_TEXT(file(A, 5), "/etc/ssh/keys");
	openat_of(A, "../passwd", 4, 0, 6);
	EQUAL_TEXT(file(A, 6), "/etc/passwd");
	openat_of(A, "../../../x", 4, 0, 6);
	EQUAL_TEXT(file(A, 6), "/x");
	/* link/.. is not the directory of link */
	openat_of(A, "link/../x", 4, 0, 6);
	EQUAL_TEXT(file(A, 6), "/etc/ssh/link/../x");

	/* without the directory a relative path is unknown, and so is the descriptor */
	openat_of(A, "x", AT_FDCWD, 0, 6);
	EQUAL_TEXT(file(A, 6), "");
	openat_of(A, "/x", AT_FDCWD, 0, -2);
	next.user[1].cut = 1;
	next.user[1].bytes = "/long";
	next.user[1].n = 5;
	call(A, "openat", 3, (uint64_t)AT_FDCWD, 0, 0, 0);
	EQUAL_TEXT(file(A, 3), "");
	user(1, "/x", 2);
	next.user[1].fault = 1;
	call(A, "openat", 3, (uint64_t)AT_FDCWD, 0, 0, 0);
	EQUAL_TEXT(file(A, 3), "");

	user(0, "/a", 2);
	call(A, "open", 3, 0, 0, 0, 0);
	EQUAL_TEXT(file(A, 3), "/a");
	user(0, "/b", 2);
	call(A, "creat", 3, 0, 0, 0, 0);
	EQUAL_TEXT(file(A, 3), "/b");
	user(1, "/c", 2);
	user(2, &how, sizeof(how));
	call(A, "openat2", 7, (uint64_t)AT_FDCWD, 0, 0, 0);
	EQUAL_TEXT(file(A, 7), "/c");
	follow_exec(&f, A);
	EQUAL_TEXT(file(A, 7), "");
	EQUAL_TEXT(file(A, 3), "/b");
	/* a file without a name */
	openat_of(A, "/tmp", AT_FDCWD, 020200002, 3);
	EQUAL_TEXT(file(A, 3), "");
}

static void test_close(void)
{
	openat_of(A, "/a", AT_FDCWD, 0, 3);
	openat_of(A, "/b", AT_FDCWD, O_CLOEXEC, 4);
	openat_of(A, "/c", AT_FDCWD, 0, 100);
	call(A, "close", 0, 3, 0, 0, 0);
	EQUAL_TEXT(file(A, 3), "");
	/* close(2): the descriptor is closed even so */
	call(A, "close", -4, 4, 0, 0, 0);
	EQUAL_TEXT(file(A, 4), "");
	EQUAL_TEXT(file(A, 100), "/c");
	call(A, "close", -9, (uint64_t)-1, 0, 0, 0);

	for (int fd = 3; fd < 8; fd++)
		openat_of(A, "/d", AT_FDCWD, 0, fd);
	call(A, "close_range", 0, 4, 5, 0, 0);
	EQUAL_TEXT(file(A, 3), "/d");
	EQUAL_TEXT(file(A, 4), "");
	EQUAL_TEXT(file(A, 5), "");
	EQUAL_TEXT(file(A, 6), "/d");
	call(A, "close_range", 0, 6, UINT32_MAX, 4, 0);
	EQUAL_TEXT(file(A, 100), "/c");
	follow_exec(&f, A);
	EQUAL_TEXT(file(A, 3), "/d");
	EQUAL_TEXT(file(A, 6), "");
	EQUAL_TEXT(file(A, 100), "");
}

static void test_dup(void)
{
	openat_of(A, "/a", AT_FDCWD, O_CLOEXEC, 3);
	call(A, "dup", 4, 3, 0, 0, 0);
	call(A, "dup2", 5, 3, 5, 0, 0);
	call(A, "dup3", 6, 3, 6, O_CLOEXEC, 0);
	call(A, "fcntl", 7, 3, F_DUPFD, 7, 0);
	call(A, "fcntl", 8, 3, F_DUPFD_CLOEXEC, 8, 0);
	call(A, "fcntl64", 9, 3, F_DUPFD, 7, 0);
	call(A, "dup2", 3, 3, 3, 0, 0);
	for (int fd = 3; fd < 10; fd++)
		EQUAL_TEXT(file(A, fd), "/a");
	call(A, "dup2", -9, 77, 4, 0, 0);
	EQUAL_TEXT(file(A, 4), "/a");
	/* the copy of an unknown descriptor is unknown */
	call(A, "dup2", 5, 77, 5, 0, 0);
	EQUAL_TEXT(file(A, 5), "");
	call(A, "fcntl", 0, 7, F_SETFD, FD_CLOEXEC, 0);
	call(A, "fcntl", 0, 8, F_SETFD, 0, 0);
	call(A, "ioctl", 0, 9, 0x5451, 0, 0);
	follow_exec(&f, A);
	EQUAL_TEXT(file(A, 3), "");
	EQUAL_TEXT(file(A, 4), "/a");
	EQUAL_TEXT(file(A, 6), "");
	EQUAL_TEXT(file(A, 7), "");
	EQUAL_TEXT(file(A, 8), "/a");
	EQUAL_TEXT(file(A, 9), "");
}

static void test_directories(void)
{
	EQUAL_TEXT(file(A, AT_FDCWD), "");
	EQUAL_TEXT(path(A, AT_FDCWD, "x"), "");
	EQUAL_TEXT(path(A, AT_FDCWD, "/x"), "/x");
	chdir_to(A, "/usr/lib");
	EQUAL_TEXT(file(A, AT_FDCWD), "/usr/lib");
	EQUAL_TEXT(path(A, AT_FDCWD, "x"), "/usr/lib/x");
	EQUAL_TEXT(path(A, AT_FDCWD, "../x"), "/usr/x");
	EQUAL_TEXT(path(A, AT_FDCWD, ".."), "/usr");
	EQUAL_TEXT(path(A, AT_FDCWD, "../.."), "/");
	EQUAL_TEXT(path(A, AT_FDCWD, "."), "/usr/lib");
	EQUAL_TEXT(path(A, AT_FDCWD, ""), "");
	chdir_to(A, "..");
	EQUAL_TEXT(file(A, AT_FDCWD), "/usr");
	openat_of(A, "share", AT_FDCWD, O_DIRECTORY, 3);
	call(A, "fchdir", 0, 3, 0, 0, 0);
	EQUAL_TEXT(file(A, AT_FDCWD), "/usr/share");
	call(A, "close", 0, 3, 0, 0, 0);
	EQUAL_TEXT(file(A, AT_FDCWD), "/usr/share");
	EQUAL_TEXT(path(A, 3, "x"), "");
	call(A, "fchdir", -9, 77, 0, 0, 0);
	EQUAL_TEXT(file(A, AT_FDCWD), "/usr/share");
	call(A, "fchdir", 0, 77, 0, 0, 0);
	EQUAL_TEXT(file(A, AT_FDCWD), "");
	chdir_to(A, "/srv");
	EQUAL_TEXT(path(A, AT_FDCWD, "../../x"), "/x");
	EQUAL_TEXT(path(A, AT_FDCWD, ""), "");
	/* no room: no part of a path */
	chdir_to(A, "/srv");
	EQUAL(follow_print_path(&f, A, AT_FDCWD, "x", text, 6), 0);
	EQUAL(follow_print_path(&f, A, AT_FDCWD, "x", text, 7), 6);
	EQUAL_TEXT(text, "/srv/x");
}

static void test_tasks(void)
{
	chdir_to(A, "/a");
	openat_of(A, "/a", AT_FDCWD, 0, 3);
	/* a copy */
	follow_task(&f, A, B, SIGCHLD);
	EQUAL_TEXT(file(B, 3), "/a");
	EQUAL_TEXT(file(B, AT_FDCWD), "/a");
	call(B, "close", 0, 3, 0, 0, 0);
	chdir_to(B, "/b");
	EQUAL_TEXT(file(A, 3), "/a");
	EQUAL_TEXT(file(B, 3), "");
	EQUAL_TEXT(file(A, AT_FDCWD), "/a");
	/* a thread */
	follow_task(&f, A, C, CLONE_FILES | CLONE_FS | CLONE_THREAD);
	openat_of(C, "/c", AT_FDCWD, 0, 4);
	chdir_to(C, "/c");
	EQUAL_TEXT(file(A, 4), "/c");
	EQUAL_TEXT(file(A, AT_FDCWD), "/c");
	EQUAL_TEXT(file(B, 4), "");
	call(C, "unshare", 0, CLONE_FILES | CLONE_FS, 0, 0, 0);
	call(C, "close", 0, 4, 0, 0, 0);
	chdir_to(C, "/d");
	EQUAL_TEXT(file(A, 4), "/c");
	EQUAL_TEXT(file(A, AT_FDCWD), "/c");
	EQUAL_TEXT(file(C, 3), "/a");
	EQUAL_TEXT(file(C, AT_FDCWD), "/d");
	/* vfork shares the directory only if it is asked to, and exec ends the sharing */
	follow_end(&f, C);
	EQUAL_TEXT(file(C, 3), "");
	follow_task(&f, A, C, CLONE_FILES);
	follow_exec(&f, C);
	call(C, "close", 0, 3, 0, 0, 0);
	EQUAL_TEXT(file(A, 3), "/a");
	/* a thread executes a program after its leader has ended */
	follow_task(&f, B, C, CLONE_FILES | CLONE_FS | CLONE_THREAD);
	openat_of(C, "/d", AT_FDCWD, 0, 5);
	follow_end(&f, B);
	EQUAL_TEXT(file(B, 5), "");
	follow_rename(&f, C, B);
	follow_exec(&f, B);
	EQUAL_TEXT(file(B, 5), "/d");
	EQUAL_TEXT(file(B, AT_FDCWD), "/b");
	EQUAL_TEXT(file(C, 5), "");
	/* the pid is used again */
	follow_task(&f, B, A, SIGCHLD);
	EQUAL_TEXT(file(A, 3), "");
	EQUAL_TEXT(file(A, AT_FDCWD), "/b");
	follow_lost(&f);
	EQUAL_TEXT(file(A, AT_FDCWD), "");
	EQUAL(f.used > 0, 1);
}

static void test_anonymous(void)
{
	uint32_t fds[2] = { 3, 4 };

	user(0, fds, sizeof(fds));
	call(A, "pipe2", 0, 0, O_CLOEXEC, 0, 0);
	EQUAL_TEXT(file(A, 3), "pipe");
	EQUAL_TEXT(file(A, 4), "pipe");
	fds[0] = 5 << 24;
	fds[1] = 6 << 24;
	f.swapped = 1;
	user(0, fds, sizeof(fds));
	call(A, "pipe", 0, 0, 0, 0, 0);
	f.swapped = 0;
	EQUAL_TEXT(file(A, 5), "pipe");
	EQUAL_TEXT(file(A, 6), "pipe");
	follow_exec(&f, A);
	EQUAL_TEXT(file(A, 4), "");
	EQUAL_TEXT(file(A, 6), "pipe");
	call(A, "epoll_create1", 3, O_CLOEXEC, 0, 0, 0);
	EQUAL_TEXT(file(A, 3), "anon_inode:[eventpoll]");
	call(A, "eventfd2", 4, 0, O_CLOEXEC, 0, 0);
	EQUAL_TEXT(file(A, 4), "anon_inode:[eventfd]");
	call(A, "timerfd_create", 5, 0, 0, 0, 0);
	EQUAL_TEXT(file(A, 5), "anon_inode:[timerfd]");
	call(A, "inotify_init1", 6, 0, 0, 0, 0);
	EQUAL_TEXT(file(A, 6), "anon_inode:inotify");
	call(A, "signalfd4", 7, (uint64_t)-1, 0, 8, 0);
	EQUAL_TEXT(file(A, 7), "anon_inode:[signalfd]");
	call(A, "signalfd4", 7, 7, 0, 8, O_CLOEXEC);
	call(A, "pidfd_open", 8, 1, 0, 0, 0);
	EQUAL_TEXT(file(A, 8), "anon_inode:[pidfd]");
	user(0, "m<>", 3);
	call(A, "memfd_create", 9, 0, 1, 0, 0);
	EQUAL_TEXT(file(A, 9), "/memfd:m\\074\\076 (deleted)");
	follow_exec(&f, A);
	for (int fd = 3; fd < 10; fd++)
		EQUAL(!*file(A, fd), fd == 3 || fd == 4 || fd > 7);
}

static void test_sockets(void)
{
	uint32_t fds[2] = { 20, 21 };

	call(A, "socket", 3, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0, 0);
	EQUAL_TEXT(file(A, 3), "TCP");
	call(A, "dup", 4, 3, 0, 0, 0);
	call(A, "socket", 5, AF_INET, SOCK_DGRAM, 0, 0);
	EQUAL_TEXT(file(A, 5), "UDP");
	call(A, "accept4", 7, 4, 0, 0, SOCK_CLOEXEC);
	EQUAL_TEXT(file(A, 7), "TCP");
	call(A, "socket", 8, AF_INET6, SOCK_STREAM, 0, 0);
	EQUAL_TEXT(file(A, 8), "TCPv6");
	call(A, "socket", 9, AF_UNIX, SOCK_SEQPACKET, 0, 0);
	EQUAL_TEXT(file(A, 9), "UNIX-SEQPACKET");
	user(3, fds, sizeof(fds));
	call(A, "socketpair", 0, AF_UNIX, SOCK_STREAM, 0, 0);
	EQUAL_TEXT(file(A, 20), "UNIX-STREAM");
	EQUAL_TEXT(file(A, 21), "UNIX-STREAM");
	call(A, "socket", 11, AF_NETLINK, SOCK_RAW, 0, 0);
	EQUAL_TEXT(file(A, 11), "NETLINK");
	follow_exec(&f, A);
	EQUAL_TEXT(file(A, 3), "");
	EQUAL_TEXT(file(A, 4), "TCP");
	EQUAL_TEXT(file(A, 7), "");
}

static void test_print(void)
{
	openat_of(A, "/a\n<b>\\\x7f", AT_FDCWD, 0, 3);
	EQUAL_TEXT(file(A, 3), "/a\\012\\074b\\076\\134\\177");
	openat_of(A, "/123456789", AT_FDCWD, 0, 3);
	EQUAL(follow_print_fd(&f, A, 3, text, 11), 10);
	EQUAL_TEXT(text, "/123456789");
	EQUAL(follow_print_fd(&f, A, 3, text, 10), 9);
	EQUAL_TEXT(text, "/12345...");
	EQUAL(follow_print_fd(&f, A, 3, text, 1), 0);
	EQUAL(follow_print_fd(&f, A, 3, text, 0), 0);
}

/* A program may make more descriptors, and a machine more tasks than memory has room for. */
static void test_bounds(void)
{
	for (int fd = 0; fd < 100000; fd++)
		openat_of(A, "/a", AT_FDCWD, 0, fd);
	EQUAL_TEXT(file(A, 65535), "/a");
	EQUAL_TEXT(file(A, 65536), "");
	CHECK(f.used < 64 << 20);
	for (int pid = 2000; pid < 400000; pid++) {
		follow_task(&f, A, pid, CLONE_FILES | CLONE_FS);
		if (pid % 100 == 0)
			follow_task(&f, A, pid + 1, SIGCHLD);
	}
	CHECK(f.used <= 64 << 20);
	CHECK(!*file(399999, 3) || !strcmp(file(399999, 3), "/a"));
	/* without memory a descriptor is unknown, and not what it was */
	openat_of(A, "/b", AT_FDCWD, 0, 3);
	CHECK(!*file(A, 3) || !strcmp(file(A, 3), "/b"));
}

/* The entries of procfs for this program itself. */
static void test_live(void)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC), other = open("/", O_RDONLY);
	int pid = getpid(), pair[2];
	char wanted[256], cwd[128] = "";

	CHECK(fd > 2 && other > 2 && !pipe(pair) && getcwd(cwd, sizeof(cwd)));
	f.live = 1;
	follow_begin(&f, pid);
	EQUAL_TEXT(file(pid, fd), "?/etc/passwd");
	EQUAL_TEXT(file(pid, other), "?/");
	snprintf(wanted, sizeof(wanted), "?%s", cwd);
	EQUAL_TEXT(file(pid, AT_FDCWD), wanted);
	CHECK(!strncmp(file(pid, pair[0]), "?pipe:[", 7));
	follow_exec(&f, pid);
	EQUAL_TEXT(file(pid, fd), "");
	EQUAL_TEXT(file(pid, other), "?/");
	/* the path that the task gave, wherever it leads */
	openat_of(pid, "/proc/self/maps", AT_FDCWD, 0, 50);
	EQUAL_TEXT(file(pid, 50), "/proc/self/maps");
	openat_of(pid, "there", AT_FDCWD, 0, 51);
	snprintf(wanted, sizeof(wanted), "?%s/there", cwd);
	EQUAL_TEXT(file(pid, 51), wanted);
	close(fd);
	close(other);
	f.live = 0;
}

#define RUN(name) do { \
	TEST(name); \
	follow_free(&f); \
	EQUAL(f.used, 0); \
} while (0)

int main(void)
{
	RUN(open);
	RUN(close);
	RUN(dup);
	RUN(directories);
	RUN(tasks);
	RUN(anonymous);
	RUN(sockets);
	RUN(print);
	RUN(bounds);
	RUN(live);
	return unit_end();
}
