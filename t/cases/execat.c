/* SPDX-License-Identifier: ISC */
/* execat - execute programs by a descriptor, below a directory, and without arguments */
#define _GNU_SOURCE
#include <unistd.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

int main(void)
{
	if (!fork()) {
		int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
		char *a[] = { "MARK1", "x", 0 };
		syscall(SYS_execveat, fd, "", a, environ, AT_EMPTY_PATH);
		_exit(1);
	}
	wait(0);
	if (!fork()) {
		int fd = open("/bin", O_RDONLY | O_DIRECTORY);
		char *a[] = { "MARK2", "y", 0 };
		syscall(SYS_execveat, fd, "true", a, environ, 0);
		_exit(1);
	}
	wait(0);
	if (!fork()) {
		char *a[] = { "MARK3", 0 };
		syscall(SYS_execveat, 999, "nope", a, environ, 0);
		_exit(1);
	}
	wait(0);
	if (!fork()) {
		char *a[] = { 0 };
		execve("/bin/true", a, environ);
		_exit(1);
	}
	wait(0);
	if (!fork()) {
		execve("/bin/true", 0, environ);
		_exit(1);
	}
	wait(0);
}
