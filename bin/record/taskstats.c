/* SPDX-License-Identifier: ISC */
/* taskstats.c - listen for the exit codes of tasks: taskstats over generic netlink */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "view/view.h"
#include "record.h"

/*
 * How long to wait for the end of a killed task. The kernel ends the task directly after it
 * delivered SIGKILL, so the task only has to get a CPU.
 */
#define END_MS 500

/*
 * A code is too old for a record if it was read so many looks before. live_next holds a record
 * for one more live_fill, so a record was made after the last look but two that found the ring
 * buffers empty. A code from before that look belongs to an earlier task with this pid.
 */
#define OLD_LOOKS 3

/* Bytes of the socket: some thousand exits that come between two reads. */
#define ROOM (8 * 1024 * 1024)

/*
 * Constants and structures of linux/netlink.h, linux/genetlink.h and linux/taskstats.h. A
 * build with musl has no kernel headers.
 */
enum { PROTOCOL = 16, MESSAGE_ERROR = 2, MESSAGE_REQUEST = 1 };
enum { CONTROL = 16, GET_FAMILY = 3, FAMILY_ID = 1, FAMILY_NAME = 2 };
enum { STATS_GET = 1, STATS_CPUS = 3, STATS_PID = 1, STATS = 3, STATS_TASK = 4 };
enum { EXIT_CODE = 4 }; /* its offset in struct taskstats */

struct address {
	uint16_t family, pad;
	uint32_t pid, groups;
};

struct taskstats_message {
	uint32_t len;
	uint16_t type, flags;
	uint32_t seq, pid;
	uint8_t command, version; /* of the family */
	uint16_t reserved;
};

struct attribute {
	uint16_t len, type;
};

#define ALIGNED(n) (((size_t)(n) + 3) & ~(size_t)3)
#define TYPE 0x3fff /* the bits above are flags */

/* Find the attribute of that type in the n bytes at p. Return it and set *len, or NULL. */
static const unsigned char *attribute(const unsigned char *p, size_t n, unsigned type,
				      size_t *len)
{
	struct attribute a;

	for (size_t step; n >= sizeof(a); p += step, n -= step) {
		memcpy(&a, p, sizeof(a));
		if (a.len < sizeof(a) || a.len > n)
			break;
		*len = a.len - sizeof(a);
		if ((a.type & TYPE) == type)
			return p + sizeof(a);
		step = ALIGNED(a.len);
		if (step > n)
			break;
	}
	return NULL;
}

/* Receive a message. Return the length of its contents; -1 if it is an error or none came. */
static ssize_t receive(int fd, unsigned char *buf, size_t size)
{
	struct taskstats_message h;
	ssize_t n = recv(fd, buf, size, MSG_DONTWAIT);

	if (n < (ssize_t)sizeof(h))
		return -1;
	memcpy(&h, buf, sizeof(h));
	return h.type == MESSAGE_ERROR ? -1 : n - (ssize_t)sizeof(h);
}

/* Send a command with one attribute of text. Return 0 or -1. */
static int ask(int fd, unsigned family, unsigned command, unsigned type, const char *text)
{
	struct {
		struct taskstats_message h;
		struct attribute a;
		char text[64];
	} m = {
		.h = { .type = (uint16_t)family, .flags = MESSAGE_REQUEST,
		       .command = (uint8_t)command, .version = 1 },
		.a = { .type = (uint16_t)type },
	};

	m.a.len = (uint16_t)(sizeof(m.a) + str_format(m.text, sizeof(m.text), "%s", text) + 1);
	m.h.len = (uint32_t)(sizeof(m.h) + ALIGNED(m.a.len));
	return send(fd, &m, m.h.len, 0) == (ssize_t)m.h.len ? 0 : -1;
}

/* Return the number of the family TASKSTATS; 0 if this kernel has none. */
static unsigned find_family(int fd)
{
	unsigned char buf[4096];
	const unsigned char *id;
	uint16_t number = 0;
	ssize_t n;
	size_t len;

	/* the kernel puts the answer into the socket before send returns */
	if (ask(fd, CONTROL, GET_FAMILY, FAMILY_NAME, "TASKSTATS") < 0 ||
	    (n = receive(fd, buf, sizeof(buf))) < 0)
		return 0;
	id = attribute(buf + sizeof(struct taskstats_message), (size_t)n, FAMILY_ID, &len);
	if (id && len >= sizeof(number))
		memcpy(&number, id, sizeof(number));
	return number;
}

void taskstats_open(struct taskstats *x, unsigned cpus)
{
	struct address us = { .family = AF_NETLINK };
	int room = ROOM;
	char mask[32];
	unsigned family;

	x->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, PROTOCOL);
	if (x->fd < 0)
		return;
	setsockopt(x->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	str_format(mask, sizeof(mask), "0-%u", cpus ? cpus - 1 : 0);
	if (bind(x->fd, (struct sockaddr *)&us, sizeof(us)) < 0 ||
	    !(family = find_family(x->fd)) ||
	    ask(x->fd, family, STATS_GET, STATS_CPUS, mask) < 0) {
		close(x->fd);
		x->fd = -1;
	}
}

/* Keep the exit code of a message. */
static void take(struct taskstats *x, const unsigned char *p, size_t n)
{
	const unsigned char *task, *id, *stats;
	size_t len, nid, nstats;
	struct taskstats_exit e = { .look = x->looks };
	uint32_t code;

	task = attribute(p, n, STATS_TASK, &len);
	id = task ? attribute(task, len, STATS_PID, &nid) : NULL;
	stats = task ? attribute(task, len, STATS, &nstats) : NULL;
	if (!id || !stats || nid < sizeof(e.pid) || nstats < EXIT_CODE + sizeof(code))
		return;
	memcpy(&e.pid, id, sizeof(e.pid));
	memcpy(&code, stats + EXIT_CODE, sizeof(code));
	e.code = (uint16_t)code; /* as wait(2) gives it */
	x->slot[(unsigned)e.pid % (sizeof(x->slot) / sizeof(*x->slot))] = e;
}

void taskstats_read(struct taskstats *x)
{
	unsigned char buf[8192];
	ssize_t n;

	while (x->fd >= 0) {
		errno = 0;
		n = receive(x->fd, buf, sizeof(buf));
		if (n >= 0)
			take(x, buf + sizeof(struct taskstats_message), (size_t)n);
		else if (errno == ENOBUFS) /* messages were lost: a slot may be too old */
			memset(x->slot, 0, sizeof(x->slot));
		else if (errno)
			return;
	}
}

static struct taskstats_exit *slot_of(struct taskstats *x, int pid)
{
	return &x->slot[(unsigned)pid % (sizeof(x->slot) / sizeof(*x->slot))];
}

long taskstats_exit_code(void *taskstats, int pid)
{
	struct taskstats_exit *e = slot_of(taskstats, pid);

	if (e->pid != pid || pid <= 0)
		return -1;
	e->pid = 0;
	return (long)e->code;
}

/* Has the task ended? The kernel sends the code before the task becomes a zombie. */
static int has_ended(int pid)
{
	struct task t;

	return task_read(pid, &t) < 0 || t.state == 'Z' || t.state == 'X' || t.state == 'x';
}

long taskstats_killed_code(void *taskstats, int pid)
{
	struct taskstats *x = taskstats;
	struct taskstats_exit *e = slot_of(x, pid);
	long long end = time_now_ms() + END_MS, left;
	struct pollfd p = { .fd = x->fd, .events = POLLIN };
	int over = 0;

	taskstats_read(x);
	/* the task lived at a later record, so the code is of an earlier task with its pid */
	if (e->pid == pid && (uint16_t)(x->looks - e->look) >= OLD_LOOKS)
		e->pid = 0;
	/*
	 * Do not wait for a task that has ended: if it ended before the socket was open, or
	 * while the socket was full, its code never comes.
	 */
	while (e->pid != pid && x->fd >= 0 && !over) {
		left = end - time_now_ms();
		over = left <= 0 || has_ended(pid);
		if (!over)
			poll(&p, 1, (int)left);
		taskstats_read(x);
	}
	return e->pid == pid && pid > 0 ? (long)e->code : -1;
}
