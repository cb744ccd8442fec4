/* SPDX-License-Identifier: ISC */
/* netlink.c - write requests to the kernel, and read its answers: netlink(7) */
#include <sys/socket.h>

#include "base/base.h"
#include "host/host.h"

#define ALIGNED(n) (((size_t)(n) + 3) & ~(size_t)3)

int netlink_open(int protocol)
{
	static const struct {
		uint16_t family, pad;
		uint32_t port, groups;
	} us = { .family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&us, sizeof(us)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void netlink_begin(struct netlink_message *m, unsigned type, unsigned flags, const void *head,
		   size_t n)
{
	*m = (struct netlink_message){ .type = (uint16_t)type,
				       .flags = (uint16_t)(K_NLM_F_REQUEST | flags) };
	memcpy(m->text, head, n);
	m->len = (uint32_t)(offsetof(struct netlink_message, text) + n);
}

char *netlink_add(struct netlink_message *m, unsigned type, const void *value, size_t n)
{
	char *at = (char *)m + m->len;
	uint16_t head[2] = { (uint16_t)(sizeof(head) + n), (uint16_t)type };

	memcpy(at, head, sizeof(head));
	memcpy(at + sizeof(head), value, n);
	m->len += (uint32_t)ALIGNED(head[0]);
	return at;
}

void netlink_end(const struct netlink_message *m, char *outer)
{
	uint16_t n = (uint16_t)((const char *)m + m->len - outer);

	memcpy(outer, &n, sizeof(n));
}

int netlink_send(int fd, const struct netlink_message *m)
{
	return send(fd, m, m->len, 0) == (ssize_t)m->len ? 0 : -1;
}

int netlink_next(struct netlink_answer *a)
{
	const size_t size = offsetof(struct netlink_message, text);
	struct netlink_message head;
	size_t step;
	ssize_t n = 0;

	while (!a->left) {
		n = recv(a->fd, a->room, sizeof(a->room), a->wait ? 0 : MSG_DONTWAIT);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			return -EIO;
		a->at = a->room;
		a->left = n < 0 ? 0 : (size_t)n;
	}
	memcpy(&head, a->at, a->left < size ? a->left : size);
	if (a->left < size || head.len < size || head.len > a->left) {
		a->left = 0;
		return -EIO;
	}
	a->type = head.type;
	a->text = a->at + size;
	a->n = head.len - size;
	step = ALIGNED(head.len) < a->left ? ALIGNED(head.len) : a->left;
	a->at += step;
	a->left -= step;
	a->error = 0;
	if (a->type == K_NLMSG_ERROR && a->n >= sizeof(a->error))
		memcpy(&a->error, a->text, sizeof(a->error));
	return a->type != K_NLMSG_ERROR && a->type != K_NLMSG_DONE;
}

const char *netlink_find(const char *p, size_t n, unsigned type, size_t *len)
{
	uint16_t head[2];

	for (size_t step; n >= sizeof(head); p += step, n -= step) {
		memcpy(head, p, sizeof(head));
		if (head[0] < sizeof(head) || head[0] > n)
			break;
		*len = head[0] - sizeof(head);
		if ((head[1] & K_NLA_TYPE_MASK) == type)
			return p + sizeof(head);
		step = ALIGNED(head[0]);
		if (step > n)
			break;
	}
	return NULL;
}
