/* SPDX-License-Identifier: ISC */
/* taskstats.c - ask the kernel for a message at the end of each task: taskstats, generic netlink */
#include <sys/socket.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"

/* The bytes that the socket can hold: some thousand exits between two reads. */
#define ROOM (8 * 1024 * 1024)

/* Of generic netlink, before the attributes */
struct family_head {
	uint8_t command, version;
	uint16_t reserved;
};

const char *taskstats_attribute(const struct netlink_answer *a, unsigned type, size_t *len)
{
	const size_t size = sizeof(struct family_head);

	return a->n < size ? NULL : netlink_find(a->text + size, a->n - size, type, len);
}

/* Send a command with one attribute of text. Return 0 or -1. */
static int ask(int fd, unsigned family, unsigned command, unsigned type, const char *text)
{
	const struct family_head head = { .command = (uint8_t)command, .version = 1 };
	struct netlink_message m;

	netlink_begin(&m, family, 0, &head, sizeof(head));
	netlink_add(&m, type, text, strlen(text) + 1);
	return netlink_send(fd, &m);
}

/* Return the number of the family TASKSTATS; 0 if this kernel has none. */
static unsigned find_family(int fd)
{
	struct netlink_answer a = { .fd = fd };
	const char *id;
	uint16_t number = 0;
	size_t len;

	/* the kernel puts the answer into the socket before send returns */
	if (ask(fd, K_GENL_ID_CTRL, K_CTRL_CMD_GETFAMILY, K_CTRL_ATTR_FAMILY_NAME,
		"TASKSTATS") < 0 || netlink_next(&a) != 1)
		return 0;
	id = taskstats_attribute(&a, K_CTRL_ATTR_FAMILY_ID, &len);
	if (id && len >= sizeof(number))
		memcpy(&number, id, sizeof(number));
	return number;
}

int taskstats_listen(unsigned cpus)
{
	int room = ROOM, fd = netlink_open(K_NETLINK_GENERIC);
	char mask[32];
	unsigned family;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	str_format(mask, sizeof(mask), "0-%u", cpus ? cpus - 1 : 0);
	if (!(family = find_family(fd)) ||
	    ask(fd, family, K_TASKSTATS_CMD_GET, K_TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, mask) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}
