/* SPDX-License-Identifier: ISC */
/* child.c - child processes */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/base.h"

pid_t child_fork(void)
{
	pid_t self = getpid(), pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(REFUSED);
	}
	return pid;
}

int child_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int child_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return REFUSED;
	return child_status(status);
}

void fd_close(int fd)
{
	int e = errno;

	if (fd >= 0)
		close(fd);
	errno = e;
}

void fd_pass(int fd, const char *name)
{
	char number[12];

	str_format(number, sizeof(number), "%d", fd);
	fcntl(fd, F_SETFD, 0);
	setenv(name, number, 1);
}

void fd_to_null(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0)
		dup2(null, fd);
	fd_close(null);
}

void fd_open_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	fd_close(fd);
}
