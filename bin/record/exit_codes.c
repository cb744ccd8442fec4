/* SPDX-License-Identifier: ISC */
/* exit_codes.c - listen for the exit codes of tasks: taskstats over generic netlink */
#include <poll.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "show/show.h"
#include "record.h"

/*
 * How long to wait for the end of a killed task. The kernel ends the task directly after it
 * delivered SIGKILL, so the task only has to get a CPU.
 */
#define END_MS 500

enum { SLOTS = 65536 };

/* The most by which the ages of a task in the trace and in a message differ, in microseconds. */
enum { SLACK = 20000 };

static void forget(struct taskstats *x)
{
	memset(x->kept, 0, sizeof(x->kept));
	memset(x->slot, 0, sizeof(x->slot));
}

void taskstats_open(struct taskstats *x, unsigned cpus)
{
	const char *inherited = getenv(TASKSTATS_FD);

	x->fd = inherited ? (int)text_value(inherited, NULL, 10) : taskstats_listen(cpus);
	/* after lost messages, those before them may be of earlier tasks with the same pids */
	if (inherited && taskstats_read(x))
		forget(x);
}

static struct taskstats_exit *message(struct taskstats *x, unsigned number)
{
	return &x->kept[number % SLOTS];
}

/* Forget the first message of a slot. */
static void drop_first(struct taskstats *x, unsigned slot)
{
	struct taskstats_exit *e = message(x, x->slot[slot].first);

	x->slot[slot].first = e->next;
	e->pid = 0;
}

/* Keep a message behind those of the same slot, instead of the oldest message of all. */
static void keep(struct taskstats *x, const struct taskstats_exit *e)
{
	unsigned n = x->messages = x->messages + 1 ? x->messages + 1 : 1;
	unsigned slot = (unsigned)e->pid % SLOTS;

	if (message(x, n)->pid) /* the oldest one is the first of its slot */
		drop_first(x, (unsigned)message(x, n)->pid % SLOTS);
	*message(x, n) = *e;
	if (x->slot[slot].first)
		message(x, x->slot[slot].last)->next = n;
	else
		x->slot[slot].first = n;
	x->slot[slot].last = n;
}

/* Return the first message of a pid, without those of other pids before it; NULL: none. */
static struct taskstats_exit *first_of(struct taskstats *x, int pid)
{
	unsigned slot = (unsigned)pid % SLOTS;

	while (pid > 0 && x->slot[slot].first) {
		if (message(x, x->slot[slot].first)->pid == pid)
			return message(x, x->slot[slot].first);
		drop_first(x, slot);
	}
	return NULL;
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

	task = taskstats_attribute(a, K_TASKSTATS_TYPE_AGGR_PID, &len);
	id = task ? netlink_find(task, len, K_TASKSTATS_TYPE_PID, &nid) : NULL;
	stats = stats_of(task, len);
	if (!id || !stats || nid < sizeof(e.pid))
		return;
	process = stats_of(taskstats_attribute(a, K_TASKSTATS_AGGR_TGID, &len), len);
	memcpy(&e.pid, id, sizeof(e.pid));
	memcpy(&code, stats + K_TASKSTATS_EXITCODE, sizeof(code));
	e.code = (uint16_t)code; /* as wait(2) gives it */
	e.used.last = process || stats[K_TASKSTATS_FLAG] & K_AGROUP;
	memcpy(&e.used.runs, stats + K_TASKSTATS_RUNS, sizeof(e.used.runs));
	memcpy(&e.used.uid, stats + K_TASKSTATS_UID, sizeof(e.used.uid));
	memcpy(&e.used.age, stats + K_TASKSTATS_ETIME, sizeof(e.used.age));
	memcpy(&e.used.cpu, (process ? process : stats) + K_TASKSTATS_CPU, sizeof(e.used.cpu));
	if (e.pid > 0)
		keep(x, &e);
}

int taskstats_read(struct taskstats *x)
{
	struct netlink_answer a = { .fd = x->fd };
	int r = x->fd < 0 ? -1 : 0, lost = 0;

	while (r >= 0 || r == -ENOBUFS) {
		r = netlink_next(&a);
		if (r > 0) {
			take(x, &a);
		} else if (r == -ENOBUFS) { /* messages were lost: a slot may be too old */
			forget(x);
			lost = 1;
		}
	}
	return lost;
}

/* Return the difference between the age in a message and the age that the trace tells. */
static uint64_t distance(const struct taskstats_exit *e, const struct used *told)
{
	if (e->used.age >= told->age)
		return told->born ? e->used.age - told->age : 0;
	return told->age - e->used.age;
}

long taskstats_exit_code(void *taskstats, int pid, struct used *used)
{
	struct taskstats *x = taskstats;
	const struct used told = *used;
	unsigned slot = (unsigned)pid % SLOTS;
	const struct taskstats_exit *best = NULL;
	struct taskstats_exit *e;
	long code;

	*used = (struct used){ .last = 0 };
	if (!first_of(x, pid))
		return -1;
	/* the first one that fits, or else the nearest */
	for (unsigned n = x->slot[slot].first; n; n = e->next) {
		e = message(x, n);
		if (e->pid == pid && (!best || distance(e, &told) < distance(best, &told)))
			best = e;
		if (best && distance(best, &told) <= SLACK)
			break;
	}
	code = best->code;
	*used = best->used;
	while (best->pid)
		drop_first(x, slot);
	return code;
}

void taskstats_forget_old(void *taskstats, int pid)
{
	struct taskstats *x = taskstats;
	const struct taskstats_exit *e;

	/* a code that was read before the look of the present record is of an earlier task */
	while ((e = first_of(x, pid)) && (int32_t)(x->look - e->look) > 0)
		drop_first(x, (unsigned)pid % SLOTS);
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
	struct taskstats_exit *e;
	long long end = time_now_ms() + END_MS, left;
	struct pollfd p = { .fd = x->fd, .events = POLLIN };
	int over = 0;

	taskstats_read(x);
	/* the task lived at a later record, so the code is of an earlier task with its pid */
	taskstats_forget_old(x, pid);
	e = first_of(x, pid);
	/*
	 * Do not wait for a task that has ended: if it ended before the socket was open, or
	 * while the socket was full, its code never comes.
	 */
	while (!e && x->fd >= 0 && !over) {
		left = end - time_now_ms();
		over = left <= 0 || has_ended(pid);
		if (!over)
			poll(&p, 1, (int)left);
		taskstats_read(x);
		e = first_of(x, pid);
	}
	return e ? (long)e->code : -1;
}
