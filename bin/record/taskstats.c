/* SPDX-License-Identifier: ISC */
/* taskstats.c - listen for the exit codes of tasks: taskstats over generic netlink */
#include <poll.h>
#include <sys/socket.h>

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

/* Of generic netlink, before the attributes */
struct family_head {
	uint8_t command, version;
	uint16_t reserved;
};

/* Find an attribute of a message of a family. */
static const char *attribute(const struct netlink_answer *a, unsigned type, size_t *len)
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
	id = attribute(&a, K_CTRL_ATTR_FAMILY_ID, &len);
	if (id && len >= sizeof(number))
		memcpy(&number, id, sizeof(number));
	return number;
}

void taskstats_open(struct taskstats *x, unsigned cpus)
{
	int room = ROOM;
	char mask[32];
	unsigned family;

	x->fd = netlink_open(K_NETLINK_GENERIC);
	if (x->fd < 0)
		return;
	setsockopt(x->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	str_format(mask, sizeof(mask), "0-%u", cpus ? cpus - 1 : 0);
	if (!(family = find_family(x->fd)) ||
	    ask(x->fd, family, K_TASKSTATS_CMD_GET, K_TASKSTATS_CMD_ATTR_REGISTER_CPUMASK,
		mask) < 0) {
		close(x->fd);
		x->fd = -1;
	}
}

static struct taskstats_exit *slot_of(struct taskstats *x, int pid)
{
	return &x->slot[(unsigned)pid % (sizeof(x->slot) / sizeof(*x->slot))];
}

/* Return the struct taskstats of an attribute for a task or a process, or NULL. */
static const char *stats_of(const char *aggregate, size_t len)
{
	size_t n;
	const char *stats = aggregate ?
			    netlink_find(aggregate, len, K_TASKSTATS_TYPE_STATS, &n) : NULL;

	return stats && n >= K_TASKSTATS_ETIME + sizeof(uint64_t) ? stats : NULL;
}

/*
 * Keep the exit code of a message, and what its process used. If the process had more threads, the
 * message of the last one has the sum.
 */
static void take(struct taskstats *x, const struct netlink_answer *a)
{
	const char *task, *id, *stats, *process;
	size_t len, nid;
	struct taskstats_exit e = { .look = x->looks };
	uint32_t code;

	task = attribute(a, K_TASKSTATS_TYPE_AGGR_PID, &len);
	id = task ? netlink_find(task, len, K_TASKSTATS_TYPE_PID, &nid) : NULL;
	stats = stats_of(task, len);
	if (!id || !stats || nid < sizeof(e.pid))
		return;
	process = stats_of(attribute(a, K_TASKSTATS_AGGR_TGID, &len), len);
	memcpy(&e.pid, id, sizeof(e.pid));
	memcpy(&code, stats + K_TASKSTATS_EXITCODE, sizeof(code));
	e.code = (uint16_t)code; /* as wait(2) gives it */
	e.used.last = process || stats[K_TASKSTATS_FLAG] & K_AGROUP;
	memcpy(&e.used.runs, stats + K_TASKSTATS_RUNS, sizeof(e.used.runs));
	memcpy(&e.used.uid, stats + K_TASKSTATS_UID, sizeof(e.used.uid));
	memcpy(&e.used.age, stats + K_TASKSTATS_ETIME, sizeof(e.used.age));
	memcpy(&e.used.cpu, (process ? process : stats) + K_TASKSTATS_CPU, sizeof(e.used.cpu));
	*slot_of(x, e.pid) = e;
}

void taskstats_read(struct taskstats *x)
{
	struct netlink_answer a = { .fd = x->fd };
	int r = x->fd < 0 ? -1 : 0;

	while (r >= 0 || r == -ENOBUFS) {
		r = netlink_next(&a);
		if (r > 0)
			take(x, &a);
		else if (r == -ENOBUFS) /* messages were lost: a slot may be too old */
			memset(x->slot, 0, sizeof(x->slot));
	}
}

long taskstats_exit_code(void *taskstats, int pid, struct used *used)
{
	struct taskstats_exit *e = slot_of(taskstats, pid);

	if (e->pid != pid || pid <= 0)
		return -1;
	e->pid = 0;
	*used = e->used;
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
