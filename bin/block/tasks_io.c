/* SPDX-License-Identifier: ISC */
/* tasks_io.c - select the records of some tasks' I/O */

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "blktrace.h"

/* Requests that are not complete. If there are more, the device has lost some completions. */
#define MOST_UNDER_WAY 65536

/* Select the new task if this line of the kernel is a task_newtask. Return 0, or -1, reported. */
static int learn_child(struct blk_pick *k, const char *line)
{
	/* a task's name may contain any text and newlines, but is shorter than this */
	static const char event[] = ": task_newtask: pid=";
	const char *p = strstr(line, event);
	pid_t pid = p ? (p += strlen(event), (pid_t)text_digits(&p)) : 0;

	if (!pid || pids_has(&k->selected, pid))
		return 0;
	pids_add(&k->selected, pid);
	return pids_sort(&k->selected);
}

int blk_pick_children(struct blk_pick *k)
{
	char text[4096];
	ssize_t n;

	while (k->child_pipe >= 0 && (n = read(k->child_pipe, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			int end = text[i] == '\n';

			k->line[k->nline] = end ? '\0' : text[i];
			if (end && learn_child(k, k->line) < 0)
				return -1;
			k->nline = end ? 0 : k->nline + (k->nline < sizeof(k->line) - 1);
		}
	return 0;
}

/* Remove the sectors from the requests that are not complete. */
static void complete(struct blk_pick *k, uint32_t device, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < k->nbusy; i++) {
		struct blk_request *u = &k->busy[i];

		if (u->device != device || u->to <= from || u->from >= to)
			continue;
		if (u->from >= from && u->to <= to)
			*u = k->busy[--k->nbusy], i--;
		else if (u->from < from)
			u->to = from; /* in the middle: drop the sectors after them, too */
		else
			u->from = to;
	}
}

/* Did a selected task queue a request for some of these sectors? */
static int waited_for(const struct blk_pick *k, uint32_t device, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < k->nbusy; i++)
		if (k->busy[i].device == device && k->busy[i].to > from && k->busy[i].from < to)
			return 1;
	return 0;
}

int blk_picked(struct blk_pick *k, const struct blk_record *r)
{
	uint64_t to = r->sector + (r->bytes >> 9);
	int any_task, selected;

	/* the task of these records is only the one that happened to run */
	any_task = r->act == BLK_COMPLETE || r->act == BLK_ISSUE || r->act == BLK_REQUEUE;
	selected = (!k->only_selected || pids_has(&k->selected, (pid_t)r->pid)) &&
		   !pids_has(&k->excluded, (pid_t)r->pid);
	if (!k->only_selected)
		return r->note || any_task || selected;
	if (r->note)
		return 0;
	if (any_task)
		selected = r->bytes >> 9 ? waited_for(k, r->device, r->sector, to) : selected;
	else if (!selected)
		selected = waited_for(k, r->device, r->sector, to);
	else if (r->act == BLK_QUEUE && r->bytes >> 9) {
		if (k->nbusy == MOST_UNDER_WAY) /* drop the oldest: its completion is lost */
			memmove(k->busy, k->busy + 1, --k->nbusy * sizeof(*k->busy));
		k->busy = xgrow(k->busy, k->nbusy, &k->room, sizeof(*k->busy));
		k->busy[k->nbusy++] = (struct blk_request){ r->sector, to, r->device };
	}
	if (r->act == BLK_COMPLETE)
		complete(k, r->device, r->sector, to);
	return selected;
}

int blk_pick_follow(struct blk_pick *k, const char *instance)
{
	int dir = tracefs_open(NULL, instance, NULL), r;

	if (dir < 0)
		return -1;
	k->only_selected = 1;
	/* open this before pidfilter_list, so that no child is missed in between */
	k->child_pipe = openat(dir, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	r = k->child_pipe < 0 ? err_file("unable to open trace_pipe of %s", instance) :
	    pidfilter_list(dir, &k->selected);
	close(dir);
	return r;
}
