/* SPDX-License-Identifier: ISC */
/* descriptors.c - pass open descriptors to another process */
#include <sys/socket.h>

#include "base/base.h"
#include "host/host.h"

/* Room for the control message with n descriptors. */
#define ROOM(n) CMSG_SPACE((n) * sizeof(int))

/* Send up to FD_SEND_MAX descriptors. */
static int send_some(int socket, const int *fds, size_t n, enum keep kind)
{
	union {
		struct cmsghdr align;
		char bytes[ROOM(FD_SEND_MAX)];
	} control;
	struct iovec byte = { (char[1]){ (char)kind }, 1 };
	struct msghdr m = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = (socklen_t)ROOM(n) };
	struct cmsghdr *c;

	memset(&control, 0, sizeof(control));
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = (socklen_t)CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	return sendmsg(socket, &m, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

int fd_send(int socket, const int *fds, size_t n, enum keep kind)
{
	for (size_t some; n; n -= some, fds += some) {
		some = n < FD_SEND_MAX ? n : FD_SEND_MAX;
		if (send_some(socket, fds, some, kind) < 0)
			return -1;
	}
	return 0;
}

size_t fd_receive(int socket, int *fds, uint8_t *kinds, size_t room)
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
		memset(kinds + n, *byte, got);
		n += got;
	}
	return n;
}
