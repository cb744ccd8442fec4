/* SPDX-License-Identifier: ISC */
/* exits.c - a listener of taskstats: netlink messages, two families deep */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "view/view.h"

/*
 * How long a killed task may take to its end. The kernel delivers SIGKILL and ends the
 * task with no wait between the two, so it only has to get a processor.
 */
#define END_MS 500

/*
 * A record that is at hand was made after the last look but two that found the buffers
 * empty: live_next holds it for one more live_fill. A code that is older than that look
 * is older than the record, too.
 */
#define OLD_LOOKS 3

/* Some thousand ends, which come while nobody looks. */
#define ROOM (8 * 1024 * 1024)

/*
 * The kernel's headers, which musl's programs are built without: netlink(7),
 * linux/genetlink.h, linux/taskstats.h.
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
#define TYPE 0x3fff /* above it are flags */

/* The attribute of that type among the n bytes at p, its length in *len. */
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

/* One message; the length of what is in it, -1 when it is an error or none came. */
static ssize_t receive(int fd, unsigned char *buf, size_t size)
{
	struct taskstats_message h;
	ssize_t n = recv(fd, buf, size, MSG_DONTWAIT);

	if (n < (ssize_t)sizeof(h))
		return -1;
	memcpy(&h, buf, sizeof(h));
	return h.type == MESSAGE_ERROR ? -1 : n - (ssize_t)sizeof(h);
}

/* A command with one attribute, of text. */
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

/* The number of the family taskstats; 0: this kernel has none. */
static unsigned find_family(int fd)
{
	unsigned char buf[4096];
	const unsigned char *id;
	uint16_t number = 0;
	ssize_t n;
	size_t len;

	/* the kernel answers within send */
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
	e.code = (uint16_t)code; /* as wait(2) has it */
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
		else if (errno == ENOBUFS) /* some were not told */
			memset(x->slot, 0, sizeof(x->slot));
		else if (errno)
			return;
	}
}

static struct taskstats_exit *slot_of(struct taskstats *x, int pid)
{
	return &x->slot[(unsigned)pid % (sizeof(x->slot) / sizeof(*x->slot))];
}

long taskstats_exit_code(void *exits, int pid)
{
	struct taskstats_exit *e = slot_of(exits, pid);

	if (e->pid != pid || pid <= 0)
		return -1;
	e->pid = 0;
	return (long)e->code;
}

/* Has the task ended? The kernel tells the code before a task becomes a zombie. */
static int has_ended(int pid)
{
	struct task t;

	return task_read(pid, &t) < 0 || t.state == 'Z' || t.state == 'X' || t.state == 'x';
}

long taskstats_killed_code(void *exits, int pid)
{
	struct taskstats *x = exits;
	struct taskstats_exit *e = slot_of(x, pid);
	long long end = time_now_ms() + END_MS, left;
	struct pollfd p = { .fd = x->fd, .events = POLLIN };
	int over = 0;

	taskstats_read(x);
	/* the task lived at a record that is younger: an earlier task had the same pid */
	if (e->pid == pid && (uint16_t)(x->looks - e->look) >= OLD_LOOKS)
		e->pid = 0;
	/*
	 * The code of a task that ended before we listened, or while the socket was full,
	 * never comes. So do not wait for a task that has ended already.
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
