/* SPDX-License-Identifier: ISC */
/* noted.c - what is known of descriptors that no record names, by made-up calls */
#include <sched.h>
#include <sys/socket.h>

#include "calls/calls.h"
#include "unit.h"

enum { A = 1001, B = 1002, C = 1003, NOFOLLOW = 0400000 };

static struct known_files f;
static struct calls *abi;

/* The file of a descriptor, "" if it is unknown. */
static const char *file(int group, int fd)
{
	const struct file_known *known = noted_file(&f, group, fd);

	return known ? known->name : "";
}

/* The next call, whose argument i has this user memory */
static struct call_values next;

static void user(unsigned i, const void *bytes, size_t n)
{
	next.user[i] = (struct call_bytes){ .bytes = bytes, .n = n };
}

static const struct call *find(const char *name)
{
	const struct call *c = NULL;

	for (unsigned n = 0; n <= calls_most(abi) && (!c || strcmp(c->name, name)); n++)
		c = calls_find(abi, n);
	CHECK(c && !strcmp(c->name, name));
	return c;
}

/* Let a task of a group make a call. Return its group. */
static int call(int group, const char *name, int64_t result, uint64_t a, uint64_t b, uint64_t c)
{
	const struct call *made;

	next.args[0] = a;
	next.args[1] = b;
	next.args[2] = c;
	next.result = result;
	next.returned = 1;
	made = calls_match(find(name), next.args);
	noted_refer(&f, group, made, &next);
	group = noted_call(&f, abi, group, group, made, &next);
	next = (struct call_values){ 0 };
	return group;
}

static void opens(int group, const char *name, int dirfd, int flags, int fd)
{
	user(1, name, strlen(name));
	call(group, "openat", fd, (uint64_t)dirfd, 0, (uint64_t)flags);
}

static void chdir_to(int group, const char *name)
{
	user(0, name, strlen(name));
	call(group, "chdir", 0, 0, 0, 0);
}

static void test_open(void)
{
	struct { uint64_t flags, mode, resolve; } how = { O_CLOEXEC, 0, 0 };

	opens(A, "/etc//./passwd", AT_FDCWD, 0, 3);
	EQUAL_TEXT(file(A, 3), "/etc/passwd");
	opens(A, "/etc/ssh/", AT_FDCWD, 0, 4);
	opens(A, "keys", 4, 0, 5);
	EQUAL_TEXT(file(A, 5), "/etc/ssh/keys");
	/* the directory may be a link, so it stays */
	opens(A, "../passwd", 4, 0, 6);
	EQUAL_TEXT(file(A, 6), "/etc/ssh/../passwd");
	opens(A, "..", 4, 0, 6);
	EQUAL_TEXT(file(A, 6), "/etc/ssh/..");
	opens(A, "../x", 6, 0, 6); /* and it grows no more */
	EQUAL_TEXT(file(A, 6), "");
	opens(A, "//etc", AT_FDCWD, NOFOLLOW, 6);
	opens(A, "ssh/", 6, NOFOLLOW, 7);
	opens(A, "../passwd", 7, NOFOLLOW, 8);
	EQUAL_TEXT(file(A, 8), "/etc/passwd");
	opens(A, "..", 7, NOFOLLOW, 8);
	opens(A, "..", 8, 0, 8);
	EQUAL_TEXT(file(A, 8), "/");
	opens(A, "a/b", 7, NOFOLLOW, 8);
	opens(A, "../c", 8, NOFOLLOW, 8);
	EQUAL_TEXT(file(A, 8), "/etc/ssh/a/b/../c");
	/* a relative path without its directory; a file without a name; a path that is not whole */
	opens(A, "x", AT_FDCWD, 0, 6);
	EQUAL_TEXT(file(A, 6), "");
	opens(A, "/tmp", AT_FDCWD, 020200002, 3);
	EQUAL_TEXT(file(A, 3), "");
	opens(A, "/x", AT_FDCWD, 0, -2);
	for (int i = 0; i < 2; i++) {
		opens(A, "/a", AT_FDCWD, 0, 3);
		user(1, "/long", 5);
		next.user[1].cut = i == 0;
		next.user[1].fault = i == 1;
		call(A, "openat", 3, (uint64_t)AT_FDCWD, 0, 0);
		EQUAL_TEXT(file(A, 3), "");
	}
	user(0, "/b", 2);
	call(A, "creat", 3, 0, 0, 0);
	EQUAL_TEXT(file(A, 3), "/b");
	for (int i = 0; i < 2; i++) {
		how.resolve = i ? 16 : 0; /* RESOLVE_IN_ROOT */
		user(1, "/c", 2);
		user(2, &how, sizeof(how));
		call(A, "openat2", 7, (uint64_t)AT_FDCWD, 0, sizeof(how));
		EQUAL_TEXT(file(A, 7), i ? "" : "/c");
	}
	/* any other call returns a descriptor that is unknown */
	call(A, "userfaultfd", 3, 0, 0, 0);
	EQUAL_TEXT(file(A, 3), "");
	call(A, "epoll_create1", 3, 0, 0, 0);
	EQUAL_TEXT(file(A, 3), "anon_inode:[eventpoll]");
}

static void test_copies_and_ends(void)
{
	opens(A, "/a", AT_FDCWD, O_CLOEXEC, 3);
	call(A, "dup", 4, 3, 0, 0);
	call(A, "dup2", 5, 3, 5, 0);
	call(A, "dup3", 6, 3, 6, O_CLOEXEC);
	call(A, "fcntl", 7, 3, F_DUPFD, 7);
	call(A, "fcntl", 8, 3, F_DUPFD_CLOEXEC, 8);
	call(A, "dup2", -9, 77, 4, 0);
	for (int fd = 3; fd < 9; fd++)
		EQUAL_TEXT(file(A, fd), "/a");
	call(A, "dup2", 9, 77, 9, 0);
	EQUAL_TEXT(file(A, 9), "");
	call(A, "fcntl", 0, 7, F_SETFD, FD_CLOEXEC);
	call(A, "fcntl", 0, 8, F_SETFD, 0);
	call(A, "ioctl", 0, 5, 0x5451, 0);
	EQUAL(noted_exec(&f, A, A), A);
	for (int fd = 3; fd < 9; fd++)
		EQUAL_TEXT(file(A, fd), fd == 4 || fd == 8 ? "/a" : "");
	call(A, "close", -4, 4, 0, 0); /* close(2): the descriptor is closed even so */
	EQUAL_TEXT(file(A, 4), "");
	call(A, "close", -9, (uint64_t)-1, 0, 0);
	for (int fd = 3; fd < 8; fd++)
		opens(A, "/d", AT_FDCWD, 0, fd);
	call(A, "close_range", 0, 4, 5, 0);
	call(A, "close_range", 0, 7, UINT32_MAX, 4);
	noted_exec(&f, A, A);
	for (int fd = 3; fd < 9; fd++)
		EQUAL_TEXT(file(A, fd), fd == 3 || fd == 6 ? "/d" : "");
	noted_lost(&f);
	EQUAL_TEXT(file(A, 3), "");
}

static void test_directories(void)
{
	char path[PATH_MAX];

	opens(A, "x", AT_FDCWD, 0, 3);
	EQUAL_TEXT(file(A, 3), "");
	chdir_to(A, "/usr/lib");
	EQUAL_TEXT(file(A, AT_FDCWD), "/usr/lib");
	EQUAL(noted_path(&f, noted_file(&f, A, AT_FDCWD), &(struct call_bytes){ "x", 1, 0, 0, 0 },
			 path), 10);
	EQUAL_TEXT(path, "/usr/lib/x");
	chdir_to(A, "..");
	EQUAL_TEXT(file(A, AT_FDCWD), "/usr/lib/..");
	opens(A, "share", AT_FDCWD, O_DIRECTORY, 3);
	call(A, "fchdir", 0, 3, 0, 0);
	EQUAL_TEXT(file(A, AT_FDCWD), "/usr/lib/../share");
	call(A, "fchdir", 0, 77, 0, 0);
	EQUAL_TEXT(file(A, AT_FDCWD), "");
	for (unsigned i = 0; i < 4; i++) {
		static const char *const names[] = { "chroot", "pivot_root", "setns", "unshare" };

		chdir_to(A, "/srv");
		opens(A, "/a", AT_FDCWD, 0, 3);
		call(A, names[i], 0, CLONE_NEWNS, 0, 0);
		EQUAL_TEXT(file(A, AT_FDCWD), "");
		EQUAL_TEXT(file(A, 3), i == 3 ? "/a" : "");
	}
}

static void test_tasks(void)
{
	int own;

	chdir_to(A, "/a");
	opens(A, "/a", AT_FDCWD, 0, 3);
	EQUAL(noted_fork(&f, A, B, SIGCHLD), B);
	EQUAL_TEXT(file(B, 3), "/a");
	EQUAL_TEXT(file(B, AT_FDCWD), "/a");
	call(B, "close", 0, 3, 0, 0);
	EQUAL_TEXT(file(A, 3), "/a");
	EQUAL(noted_fork(&f, A, C, CLONE_FILES | CLONE_FS | CLONE_THREAD), A);
	own = call(A, "unshare", 0, CLONE_FILES, 0, 0);
	CHECK(own != A);
	EQUAL_TEXT(file(own, 3), "");
	EQUAL_TEXT(file(A, 3), "/a");
	/* tasks that share one of the two have their own directory, or it is not known */
	EQUAL(noted_fork(&f, A, C, CLONE_FILES), A);
	EQUAL_TEXT(file(A, AT_FDCWD), "");
	EQUAL_TEXT(file(A, 3), "/a");
	/* an exec ends the sharing */
	EQUAL(noted_exec(&f, A, C), C);
	EQUAL_TEXT(file(C, 3), "/a");
	call(C, "close", 0, 3, 0, 0);
	EQUAL_TEXT(file(A, 3), "/a");
	noted_forget(&f, A);
	EQUAL_TEXT(file(A, 3), "");
}

static void test_sockets(void)
{
	uint32_t fds[2] = { 3, 4 };

	opens(A, "/a", AT_FDCWD, 0, 4);
	user(0, fds, sizeof(fds));
	call(A, "pipe2", 0, 0, O_CLOEXEC, 0);
	EQUAL_TEXT(file(A, 3), "pipe");
	EQUAL_TEXT(file(A, 4), "pipe");
	call(A, "accept", 5, 3, 0, 0);
	EQUAL_TEXT(file(A, 5), "");
	call(A, "socket", 3, AF_INET6, SOCK_STREAM, 0);
	call(A, "accept", 5, 3, 0, 0);
	EQUAL_TEXT(file(A, 5), "TCPv6");
	user(3, (uint32_t[]){ 6, 7 }, 8);
	call(A, "socketpair", 0, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	EQUAL_TEXT(file(A, 7), "UNIX-STREAM");
	noted_exec(&f, A, A);
	for (int fd = 3; fd < 8; fd++)
		EQUAL_TEXT(file(A, fd), fd == 3 || fd == 5 ? "TCPv6" : "");
	/* without names, only netlink sockets and what becomes of them are noted */
	f.prints = 0;
	noted_lost(&f);
	opens(A, "/a", AT_FDCWD, 0, 4);
	EQUAL(f.groups.n, 0);
	call(A, "socket", 5, AF_NETLINK, SOCK_RAW, 7);
	call(A, "dup", 6, 5, 0, 0);
	EQUAL(noted_file(&f, A, 6)->family, AF_NETLINK);
	EQUAL(noted_file(&f, A, 6)->protocol, 7);
	f.prints = 1;
}

static void test_kernel(void)
{
	struct file_record r = { .id = 7 };
	int64_t ends[] = { 3, 4 };

	files_add(&f, &r, "/k", "", "");
	f.by_kernel = 1;
	next.files[CALL_ARGS] = 7;
	opens(A, "/a", AT_FDCWD, 0, 3);
	EQUAL_TEXT(file(A, 3), "/k");
	noted_exec(&f, A, A); /* it may be closed by that */
	EQUAL_TEXT(file(A, 3), "");
	next.files[CALL_ARGS + 1] = 7;
	user(0, (uint32_t[]){ 3, 4 }, 8);
	call(A, "pipe2", 0, 0, 0, 0);
	EQUAL_TEXT(file(A, (int)ends[0]), "");
	EQUAL_TEXT(file(A, (int)ends[1]), "/k");
	f.by_kernel = 0;
}

/* A program may open more files, and a machine have more tasks, than memory has room for. */
static void test_bounds(void)
{
	for (int fd = 0; fd < 100000; fd++)
		opens(A, "/a", AT_FDCWD, 0, fd);
	EQUAL_TEXT(file(A, 65535), "/a");
	EQUAL_TEXT(file(A, 65536), "");
	CHECK(f.held < 17 << 20);
	for (int pid = 2000; pid < 400000; pid++) {
		opens(pid, "/b", AT_FDCWD, 0, 100);
		CHECK(f.held < 17 << 20);
	}
	EQUAL_TEXT(file(399999, 100), "/b");
}

/* The entries of procfs for this program itself. */
static void test_live(void)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC), other = open("/", O_RDONLY);
	int pid = getpid(), pair[2];
	char wanted[256], cwd[128] = "";

	CHECK(fd > 2 && other > 2 && !pipe(pair) && getcwd(cwd, sizeof(cwd)));
	f.live = 1;
	EQUAL(noted_begin(&f, pid), pid);
	EQUAL_TEXT(file(pid, fd), "?/etc/passwd");
	EQUAL_TEXT(file(pid, other), "?/");
	snprintf(wanted, sizeof(wanted), "?%s", cwd);
	EQUAL_TEXT(file(pid, AT_FDCWD), wanted);
	CHECK(!strncmp(file(pid, pair[0]), "?pipe:[", 7));
	noted_exec(&f, pid, pid);
	EQUAL_TEXT(file(pid, fd), "");
	EQUAL_TEXT(file(pid, other), "?/");
	opens(pid, "there", AT_FDCWD, 0, 51);
	snprintf(wanted, sizeof(wanted), "?%s/there", cwd);
	EQUAL_TEXT(file(pid, 51), wanted);
	/* what procfs says later is not asked for again */
	call(pid, "chroot", 0, 0, 0, 0);
	EQUAL_TEXT(file(pid, other), "");
	call(pid, "close", 0, 3, 0, 0);
	EQUAL_TEXT(file(pid, other), "");
	f.by_kernel = 1;
	EQUAL(noted_begin(&f, B), B);
	EQUAL(f.groups.n, 1);
	close(fd);
	close(other);
	f.live = f.by_kernel = 0;
}

#define RUN(name) do { \
	f.prints = 1; \
	TEST(name); \
	files_free(&f); \
	EQUAL(f.held, 0); \
} while (0)

int main(void)
{
	abi = calls_open("x86_64");
	RUN(open);
	RUN(copies_and_ends);
	RUN(directories);
	RUN(tasks);
	RUN(sockets);
	RUN(kernel);
	RUN(bounds);
	RUN(live);
	return unit_end();
}
