/* SPDX-License-Identifier: ISC */
/* blkpick.c - whose I/O is shown */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "blktrace/blktrace.h"

/* Sectors of requests that are under way: more are a device's that forgets some. */
#define MOST_UNDER_WAY 65536

/* A line of the instance's trace: "...: sched_process_fork: ... child_pid=N". */
static void learn_fork(struct blk_pick *k, const char *line)
{
	static const char key[] = "child_pid=";
	const char *p = NULL, *next = line;
	pid_t pid;

	/* a newline in a task's name begins a line that is no event */
	if (!strstr(line, ": sched_process_fork: "))
		return;
	/* the last: a task may be called like that */
	while ((next = strstr(next, key)))
		p = next += strlen(key);
	pid = p ? text_pid(p) : 0;
	if (pid && !pids_has(&k->who, pid)) {
		pids_add(&k->who, pid);
		if (pids_sort(&k->who) < 0)
			exit(REFUSED);
	}
}

void blk_pick_forks(struct blk_pick *k)
{
	char text[4096];
	ssize_t n;

	while (k->forks >= 0 && (n = read(k->forks, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			int end = text[i] == '\n';

			k->fork[k->nfork] = end ? '\0' : text[i];
			if (end)
				learn_fork(k, k->fork);
			k->nfork = end ? 0 : k->nfork + (k->nfork < sizeof(k->fork) - 1);
		}
}

/* Its sectors wait no more. */
static void complete(struct blk_pick *k, uint32_t device, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < k->nbusy; i++) {
		struct blk_request *u = &k->busy[i];

		if (u->device != device || u->to <= from || u->from >= to)
			continue;
		if (u->from >= from && u->to <= to)
			*u = k->busy[--k->nbusy], i--;
		else if (u->from < from)
			u->to = from; /* what is behind a hole is not waited for: none comes */
		else
			u->from = to;
	}
}

static int waited_for(const struct blk_pick *k, uint32_t device, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < k->nbusy; i++)
		if (k->busy[i].device == device && k->busy[i].to > from && k->busy[i].from < to)
			return 1;
	return 0;
}

static void make_room(struct blk_pick *k)
{
	k->busy = realloc(k->busy, (k->nbusy ? 2 * k->nbusy : 1) * sizeof(*k->busy));
	if (!k->busy)
		err_exit(REFUSED, "out of memory");
}

int blk_picked(struct blk_pick *k, const struct blk_record *r)
{
	uint64_t to = r->sector + (r->bytes >> 9);
	int anybodys, ours;

	/* an interrupt hits whom it hits: a request's end is whose it was */
	anybodys = r->act == BLK_COMPLETE || r->act == BLK_ISSUE || r->act == BLK_REQUEUE;
	ours = (!k->picky || pids_has(&k->who, (pid_t)r->pid)) &&
	       !pids_has(&k->but, (pid_t)r->pid);
	if (!k->picky)
		return r->note || anybodys || ours;
	if (r->note)
		return 0;
	if (anybodys)
		ours = r->bytes >> 9 ? waited_for(k, r->device, r->sector, to) : ours;
	else if (!ours)
		ours = waited_for(k, r->device, r->sector, to);
	else if (r->act == BLK_QUEUE && r->bytes >> 9) {
		if (k->nbusy == MOST_UNDER_WAY) /* the end of the oldest never came */
			memmove(k->busy, k->busy + 1, --k->nbusy * sizeof(*k->busy));
		else if (!(k->nbusy & (k->nbusy - 1)))
			make_room(k);
		k->busy[k->nbusy++] = (struct blk_request){ r->sector, to, r->device };
	}
	if (r->act == BLK_COMPLETE)
		complete(k, r->device, r->sector, to);
	return ours;
}

void blk_pick_follow(struct blk_pick *k, const char *instance)
{
	int dir = tracefs_open(NULL, instance, NULL);

	if (dir < 0)
		exit(REFUSED);
	k->picky = 1;
	/* those that are born after the look are told of by the other */
	k->forks = openat(dir, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (k->forks < 0) {
		err_file("unable to open trace_pipe of %s", instance);
		exit(REFUSED);
	}
	if (pidfilter_list(dir, &k->who) < 0)
		exit(REFUSED);
	close(dir);
}
