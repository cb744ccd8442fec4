/* SPDX-License-Identifier: ISC */
/*
 * neighbours - make calls in a process and in its child, whose pids differ by a chosen number
 *
 *	neighbours DISTANCE
 * The pid of the child differs by a multiple of 8,192, and by DISTANCE. It prints "ready", and
 * waits for a line first. The child opens paths, and asks for a structure, while its parent waits.
 * A second thread of the child executes this program, which waits until the parent kills it.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int told[2], never[2];

/* By the same calls with each library: musl makes others for these names. */
static void ask(const char *path)
{
	char st[512]; /* a structure of the kernel */

	close((int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY));
#ifdef SYS_newfstatat
	syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
#endif
}

static int execute(void *unused)
{
	char fd[2][12];

	(void)unused;
	snprintf(fd[0], sizeof(fd[0]), "%d", told[1]);
	snprintf(fd[1], sizeof(fd[1]), "%d", never[0]);
	execl("/proc/self/exe", "neighbours", fd[0], fd[1], (char *)NULL);
	_exit(111);
}

static void child(void)
{
	static char path[400] = "/of/child/", stack[64 * 1024];

	memset(path + 10, 'x', 300);
	ask("/of/child");
	ask("/");
	ask(path);
	clone(execute, stack + sizeof(stack), CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_FS |
	      CLONE_FILES, NULL);
	for (;;)
		pause();
}

/* Wait until the task sleeps; with calls that are not recorded, but for one openat. */
static void await_sleep(pid_t pid)
{
	char path[32], text[256], *name = NULL;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY);
	while (!name || name[2] != 'S') {
		memset(text, 0, sizeof(text));
		name = pread(fd, text, sizeof(text) - 1, 0) > 0 ? strrchr(text, ')') : NULL;
	}
	close(fd);
}

/* Make a child whose pid is a multiple of step from here, and distance. Return it, or -1. */
static pid_t make_child(int step, int distance)
{
	for (int i = 1; i < 100; i++) {
		pid_t pid = getpid() + i * step + distance;
		/* struct clone_args: exit_signal, set_tid and set_tid_size */
		uint64_t args[] = { 0, 0, 0, 0, SIGCHLD, 0, 0, 0, (uint64_t)(size_t)&pid, 1 };
		long made = syscall(SYS_clone3, args, sizeof(args));

		if (made >= 0)
			return (pid_t)made;
	}
	return -1;
}

int main(int argc, char **argv)
{
	char byte;
	pid_t pid;

	if (argc == 3) {
		if (write(atoi(argv[1]), "", 1) == 1 && read(atoi(argv[2]), &byte, 1) == 1)
			return 0;
		return 111;
	}
	puts("ready");
	fflush(stdout);
	if (argc != 2 || read(STDIN_FILENO, &byte, 1) != 1 || pipe(told) < 0 || pipe(never) < 0)
		return 100;
	ask("/of/parent");
	pid = make_child(8192, atoi(argv[1]));
	if (pid < 0)
		pid = make_child(-8192, atoi(argv[1]));
	if (!pid)
		child();
	if (pid < 0 || read(told[0], &byte, 1) != 1)
		return 77;
	ask("/");
	ask("/of/parent");
	await_sleep(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ask("/of/parent");
	return 0;
}
