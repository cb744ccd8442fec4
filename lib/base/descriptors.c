/* SPDX-License-Identifier: ISC */
/* descriptors.c - pass open descriptors to another process, and close them */
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/base.h"

/* Room for the control message with n descriptors. */
#define ROOM(n) CMSG_SPACE((n) * sizeof(int))

int fd_send(int socket, const int *fds, size_t n)
{
	union {
		struct cmsghdr align;
		char bytes[ROOM(FD_SEND_MAX)];
	} control;
	struct iovec byte = { (char[1]){ 0 }, 1 };
	struct msghdr m = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = (socklen_t)ROOM(n) };
	struct cmsghdr *c;

	if (!n || n > FD_SEND_MAX) {
		errno = EINVAL;
		return -1;
	}
	memset(&control, 0, sizeof(control));
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = (socklen_t)CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	return sendmsg(socket, &m, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

size_t fd_receive(int socket, int *fds, size_t room)
{
	size_t n = 0, got;

	while (n + FD_SEND_MAX <= room) {
		union {
			struct cmsghdr align;
			char bytes[ROOM(FD_SEND_MAX)];
		} control;
		char byte[1];
		struct iovec v = { byte, 1 };
		struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
				    .msg_controllen = sizeof(control) };
		struct cmsghdr *c;

		if (recvmsg(socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
			break;
		c = CMSG_FIRSTHDR(&m);
		if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		got = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds + n, CMSG_DATA(c), got * sizeof(int));
		n += got;
	}
	return n;
}

/*
 * A process of its own is the last to hold each descriptor: all of them close at the same
 * time when the pipe closes.
 */
void fd_close_together(const int *fds, size_t n)
{
	pid_t pids[64];
	int gate[2] = { -1, -1 };
	size_t made = 0;
	char c;

	if (n > 1 && n <= sizeof(pids) / sizeof(*pids) && pipe2(gate, O_CLOEXEC) < 0)
		gate[0] = -1;
	for (; gate[0] >= 0 && made < n; made++) {
		pids[made] = fork();
		if (pids[made] < 0)
			break;
		if (pids[made])
			continue;
		for (size_t i = 0; i < n; i++)
			if (i != made)
				close(fds[i]);
		close(gate[1]);
		while (read(gate[0], &c, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
	if (gate[0] < 0)
		return;
	close(gate[0]);
	close(gate[1]);
	for (size_t i = 0; i < made; i++)
		while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
			;
}
