/* SPDX-License-Identifier: ISC */
/*
 * tc.c - attach programs by the queueing discipline clsact, with rtnetlink(7)
 *
 * The numbers are the kernel's (include/uapi/linux/rtnetlink.h, pkt_sched.h, pkt_cls.h).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/bpf.h"

enum { NEW_QDISC = 36, DELETE_QDISC = 37, GET_QDISC = 38, NEW_FILTER = 44, DELETE_FILTER = 45,
       GET_FILTER = 46, ERROR = 2, LAST = 3 };
enum { REQUEST = 1, ACK = 4, EXCLUSIVE = 0x200, CREATE = 0x400, DUMP = 0x300 };
enum { KIND = 1, OPTIONS = 2, BPF_FD = 6, BPF_NAME = 7, BPF_FLAGS = 8, DIRECT_ACTION = 1 };

#define HANDLE  0xffff0000u
#define CLSACT  0xfffffff1u
#define INGRESS 0xfffffff2u
#define EGRESS  0xfffffff3u

enum { EVERY_PROTOCOL = 3 }; /* ETH_P_ALL */

struct tc_head {
	uint32_t length;
	uint16_t type, flags;
	uint32_t sequence, port;
};

struct tc_message {
	struct tc_head head;
	/* struct tcmsg of rtnetlink.h */
	uint8_t family, pad[3];
	int32_t device;
	uint32_t handle, parent, info;
	/* each attribute: length, kind, value, padding to four bytes */
	char attributes[256];
};

static struct tc_message begin(int type, int flags, unsigned device, uint32_t handle,
			       uint32_t parent, uint32_t info)
{
	return (struct tc_message){
		.head = { .length = offsetof(struct tc_message, attributes), .type = (uint16_t)type,
			  .flags = (uint16_t)(REQUEST | flags) },
		.device = (int32_t)device, .handle = handle, .parent = parent, .info = info };
}

/* Append an attribute. Return its address in the message. */
static char *attribute(struct tc_message *m, int kind, const void *value, size_t n)
{
	char *at = (char *)m + m->head.length;
	uint16_t head[2] = { (uint16_t)(n + 4), (uint16_t)kind };

	memcpy(at, head, 4);
	memcpy(at + 4, value, n);
	m->head.length += (uint32_t)(n + 4 + 3) & ~3u;
	return at;
}

/*
 * Send the request and read all answers. Return 0 or -errno. For a dump, return the number
 * of answers about the device that have this parent (0: any) and this kind (NULL: any).
 */
static int ask(const struct tc_message *m, uint32_t parent, const char *kind)
{
	static const struct { uint16_t family, pad; uint32_t port, groups; } kernel = {
		.family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0), found = 0, r = 1;
	char answer[32 * 1024];
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (sendto(fd, m, m->head.length, 0, (const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		r = -errno;
	while (r > 0) {
		struct tc_message one;
		size_t size;

		n = recv(fd, answer, sizeof(answer), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			r = n < 0 ? -errno : -EIO;
		for (char *at = answer; r > 0 && n >= (ssize_t)sizeof(one.head);
		     at += size, n -= (ssize_t)size) {
			const char *first;

			memset(&one, 0, sizeof(one));
			memcpy(&one, at, (size_t)n < sizeof(one) ? (size_t)n : sizeof(one));
			size = (one.head.length + 3) & ~3u;
			if (one.head.length < sizeof(one.head) || size > (size_t)n)
				r = -EIO;
			else if (one.head.type == LAST)
				r = 0;
			else if (one.head.type == ERROR)
				memcpy(&r, &one.family, sizeof(r));
			else if (one.device == m->device && (!parent || one.parent == parent)) {
				/* the kind is the first attribute */
				first = one.attributes + 4;
				found += one.handle && (!kind || !strcmp(first, kind));
			}
		}
	}
	close(fd);
	return r < 0 ? r : found;
}

int tc_has_clsact(unsigned device)
{
	struct tc_message m = begin(GET_QDISC, DUMP, device, 0, 0, 0);
	int n = ask(&m, CLSACT, "clsact");

	return n > 0 ? 1 : n;
}

int tc_add_clsact(unsigned device)
{
	struct tc_message m = begin(NEW_QDISC, ACK | CREATE | EXCLUSIVE, device, HANDLE, CLSACT, 0);

	attribute(&m, KIND, "clsact", 7);
	return ask(&m, 0, NULL);
}

int tc_remove_clsact(unsigned device)
{
	struct tc_message m = begin(DELETE_QDISC, ACK, device, HANDLE, CLSACT, 0);

	return ask(&m, 0, NULL);
}

int tc_filters(unsigned device)
{
	int sum = 0;

	for (uint32_t parent = INGRESS; parent <= EGRESS; parent++) {
		struct tc_message m = begin(GET_FILTER, DUMP, device, 0, parent, 0);
		int n = ask(&m, 0, NULL);

		if (n < 0)
			return n;
		sum += n;
	}
	return sum;
}

/* Return tcm_info of a filter: its priority and its protocol. */
static uint32_t info(unsigned priority)
{
	return priority << 16 | htons(EVERY_PROTOCOL);
}

int tc_add_program(unsigned device, unsigned priority, uint32_t handle, int program,
		   const char *name)
{
	struct tc_message m = begin(NEW_FILTER, ACK | CREATE | EXCLUSIVE, device, handle, EGRESS,
				    info(priority));
	uint32_t flags = DIRECT_ACTION;
	uint16_t length;
	char *options;

	attribute(&m, KIND, "bpf", 4);
	options = attribute(&m, OPTIONS, "", 0);
	attribute(&m, BPF_FD, &program, sizeof(program));
	attribute(&m, BPF_NAME, name, strlen(name) + 1);
	attribute(&m, BPF_FLAGS, &flags, sizeof(flags));
	length = (uint16_t)((char *)&m + m.head.length - options);
	memcpy(options, &length, sizeof(length));
	return ask(&m, 0, NULL);
}

int tc_remove_program(unsigned device, unsigned priority, uint32_t handle)
{
	struct tc_message m = begin(DELETE_FILTER, ACK, device, handle, EGRESS, info(priority));

	attribute(&m, KIND, "bpf", 4);
	return ask(&m, 0, NULL);
}
