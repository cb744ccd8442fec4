/* SPDX-License-Identifier: ISC */
/* taskstats.c - listen for the exit codes of tasks: taskstats over generic netlink */
#include <poll.h>

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

static void forget(struct taskstats *x)
{
	memset(x->slot, 0, sizeof(x->slot));
	memset(x->second, 0, sizeof(x->second));
}

void taskstats_open(struct taskstats *x, unsigned cpus)
{
	const char *inherited = getenv(TASKSTATS_FD);

	x->fd = inherited ? atoi(inherited) : taskstats_listen(cpus);
	/* after lost messages, those before them may be of earlier tasks with the same pids */
	if (inherited && taskstats_read(x))
		forget(x);
}

static struct taskstats_exit *slot_of(struct taskstats *x, int pid)
{
	return &x->slot[(unsigned)pid % (sizeof(x->slot) / sizeof(*x->slot))];
}

static struct taskstats_exit *second_of(struct taskstats *x, int pid)
{
	return &x->second[(unsigned)pid % (sizeof(x->second) / sizeof(*x->second))];
}

/*
 * Does a message follow that of the first thread of its process, which execve of another thread
 * ended? That thread took its pid and its time of birth, and ends with the process.
 */
static int is_second(const struct taskstats_exit *first, const struct taskstats_exit *e)
{
	return first->pid == e->pid && !first->used.last && first->began - e->began + 1 <= 2;
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
	memcpy(&e.began, stats + K_TASKSTATS_BTIME, sizeof(e.began));
	memcpy(&e.used.age, stats + K_TASKSTATS_ETIME, sizeof(e.used.age));
	memcpy(&e.used.cpu, (process ? process : stats) + K_TASKSTATS_CPU, sizeof(e.used.cpu));
	*(is_second(slot_of(x, e.pid), &e) ? second_of(x, e.pid) : slot_of(x, e.pid)) = e;
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

long taskstats_exit_code(void *taskstats, int pid, struct used *used)
{
	struct taskstats_exit *e = slot_of(taskstats, pid), *second = second_of(taskstats, pid);
	long code = e->code;

	if (e->pid != pid || pid <= 0)
		return -1;
	*used = e->used;
	if (is_second(e, second)) {
		*e = *second;
		second->pid = 0;
	} else {
		e->pid = 0;
	}
	return code;
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
