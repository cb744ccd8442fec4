/* SPDX-License-Identifier: ISC */
/*
 * paths - a program that names files in ways that a tracer may get wrong
 *
 *	paths dots|chroot|chrooted|pivot|pivotdot|unknown|moved|accept|uring DIR
 * DIR is a directory of its own.
 *	dots      each read is of /etc/hostname: by links, "..", /proc/self, a link that is removed
 *	chroot    DIR becomes the root directory; opens /sub, ../sub, and /sub/../../none
 *	chrooted  prints "ready" in there, and waits for a line before and after its opens
 *	pivot     in a new mount namespace DIR becomes the root, "DIR/a b" is bound to /b, and /t is
 *	          a tmpfs; opens /f, /b/x, /t/y and /sub. pivotdot: pivot_root(".", ".")
 *	unknown   reads /etc/hostname by a hard link of a symbolic link, and removes both
 *	moved     writes to a file before and after its rename, and after its removal
 *	accept    two connections to a socket of all addresses; the second gives no address
 *	uring     two opens by io_uring. Exit 2: the kernel has none
 */
#include <arpa/inet.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "prog.h"

#define open(...) openat(AT_FDCWD, __VA_ARGS__) /* as glibc does, not musl */

static void must(long r)
{
	if (r < 0) {
		perror("paths");
		exit(1);
	}
}

static int readable(const char *path)
{
	int fd = open(path, O_RDONLY);
	char c;

	must(fd);
	must(read(fd, &c, 1));
	return fd;
}

static void dots(void)
{
	char path[64];
	int fd;

	must(symlink("/etc/alternatives", "lnk"));
	must(symlink("/etc/hostname", "gone"));
	close(readable("lnk/../hostname"));
	close(readable("/proc/self/cwd/lnk/../hostname"));
	close(readable("/proc/self/root/etc/hostname"));
	close(readable("gone"));
	must(unlink("gone"));
	must(chdir("lnk"));
	fd = readable("../hostname");
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	close(readable(path));
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	close(readable(path));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	close(readable(path));
}

/* linkat gives the link another name, which no symlink names */
static void unknown(void)
{
	must(symlink("/etc/hostname", "first"));
	must(link("first", "link"));
	close(readable("link"));
	must(unlink("link"));
	must(unlink("first"));
}

static void root(int wait)
{
	must(mkdir("sub", 0700));
	must(chroot("."));
	must(chdir("/sub"));
	if (wait)
		puts("ready");
	fflush(stdout);
	while (wait && getchar() != '\n')
		;
	must(open("/sub", O_RDONLY));
	must(open("../sub", O_RDONLY));
	(void)!open("/sub/../../none", O_RDONLY);
	while (wait && getchar() != '\n')
		;
}

static void pivot(const char *dir, int dot)
{
	char old[4096];
	int fd;

	must(mkdir("sub", 0700));
	must(mkdir("b", 0700));
	must(mkdir("t", 0700));
	must(mkdir("old", 0700));
	must(mkdir("a b", 0700));
	must(close(open("a b/x", O_CREAT | O_EXCL, 0600)));
	must(close(open("f", O_CREAT | O_EXCL, 0600)));
	must(unshare(CLONE_NEWNS));
	must(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	must(mount(dir, dir, NULL, MS_BIND, NULL));
	must(chdir(dir));
	must(mount("a b", "b", NULL, MS_BIND, NULL));
	must(mount("t", "t", "tmpfs", 0, NULL));
	fd = open("sub", O_RDONLY);
	must(fd);
	snprintf(old, sizeof(old), "%s/old", dir);
	must(syscall(SYS_pivot_root, dot ? "." : dir, dot ? "." : old));
	if (dot)
		must(umount2(".", MNT_DETACH));
	must(chdir("/"));
	if (!dot)
		must(umount2("/old", MNT_DETACH));
	must(open("/f", O_RDONLY));
	must(open("b/x", O_RDONLY));
	must(open("/t/y", O_CREAT | O_EXCL, 0600));
	must(openat(fd, "../sub", O_RDONLY));
}

static void moved(void)
{
	int fd = open("one", O_CREAT | O_EXCL | O_WRONLY, 0600);

	must(fd);
	must(write(fd, "1", 1));
	must(rename("one", "two"));
	must(write(fd, "2", 1));
	must(unlink("two"));
	must(write(fd, "3", 1));
}

static void accepts(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET }, peer;
	int s = socket(AF_INET, SOCK_STREAM, 0), c, fd;
	socklen_t len = sizeof(in);

	must(bind(s, (struct sockaddr *)&in, sizeof(in)));
	must(listen(s, 2));
	must(getsockname(s, (struct sockaddr *)&in, &len));
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < 2; i++) {
		c = socket(AF_INET, SOCK_STREAM, 0);
		must(connect(c, (struct sockaddr *)&in, sizeof(in)));
		len = sizeof(peer);
		fd = i ? accept(s, NULL, NULL) : accept(s, (struct sockaddr *)&peer, &len);
		must(fd);
		must(write(fd, "x", 1));
		close(c);
		close(fd);
	}
}

static void uring(void)
{
	struct io_uring_params p = { 0 };
	int r = (int)syscall(SYS_io_uring_setup, 8, &p);
	struct io_uring_sqe *e;
	unsigned *tail, *index;
	char *sq;

	if (r < 0)
		exit(2);
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, r,
		  IORING_OFF_SQ_RING);
	e = mmap(NULL, p.sq_entries * sizeof(*e), PROT_READ | PROT_WRITE, MAP_SHARED, r,
		 IORING_OFF_SQES);
	if (sq == MAP_FAILED || e == MAP_FAILED)
		exit(2);
	tail = (unsigned *)(void *)(sq + p.sq_off.tail);
	index = (unsigned *)(void *)(sq + p.sq_off.array);
	for (unsigned i = 0; i < 2; i++) {
		e[i] = (struct io_uring_sqe){ .opcode = IORING_OP_OPENAT, .fd = AT_FDCWD };
		e[i].addr = (unsigned long)(i ? "/none/uring" : "/etc/hostname");
		index[i] = i;
	}
	__atomic_store_n(tail, 2, __ATOMIC_RELEASE);
	must(syscall(SYS_io_uring_enter, r, 2, 2, IORING_ENTER_GETEVENTS, NULL, 0));
}

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[1] : "", *dir = argc == 3 ? argv[2] : ".";

	must(chdir(dir));
	if (!strcmp(what, "dots"))
		dots();
	else if (!strncmp(what, "chroot", 6))
		root(!!what[6]);
	else if (!strncmp(what, "pivot", 5))
		pivot(dir, !!what[5]);
	else if (!strcmp(what, "unknown"))
		unknown();
	else if (!strcmp(what, "moved"))
		moved();
	else if (!strcmp(what, "accept"))
		accepts();
	else if (!strcmp(what, "uring"))
		uring();
	return 0;
}
