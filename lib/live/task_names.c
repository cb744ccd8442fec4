/* SPDX-License-Identifier: ISC */
/* task_names.c - names of tasks, from procfs and from the naming events */

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"

int names_add_task(struct comms *c, const struct task *t)
{
	size_t n = strlen(t->comm);
	const char *colon;

	/*
	 * procfs adds the current work of a kworker after its name and a '-' or '+'. The
	 * trace does not.
	 */
	if (!strncmp(t->comm, "kworker/", 8) && (colon = strchr(t->comm, ':')))
		n = (size_t)(colon - t->comm) + strcspn(colon, "-+");
	/* sizeof(task_struct.comm) - 1; procfs has longer names of kworkers only */
	if (n > 15)
		n = 15;
	return comms_add(c, t->pid, t->comm, n);
}

static size_t add_pids(struct comms *c, const struct pids *pids)
{
	size_t new = 0;
	struct task t;

	for (size_t i = 0; i < pids->n; i++)
		if (!task_read(pids->v[i], &t))
			new += (size_t)names_add_task(c, &t);
	return new;
}

struct walk {
	struct comms *comms;
	size_t new;
};

static int add_process(void *arg, pid_t pid)
{
	struct walk *w = arg;
	struct pids threads = { 0 };
	struct task t;

	if (task_read(pid, &t) < 0)
		return 0;
	w->new += (size_t)names_add_task(w->comms, &t);
	if (t.threads < 2)
		return 0;
	task_add_threads(&threads, &t);
	w->new += add_pids(w->comms, &threads);
	pids_clear(&threads);
	return 0;
}

/* Add the names of these tasks, or with NULL of all. Return how many were not known. */
static size_t names_from_procfs(struct comms *c, const struct pids *only)
{
	struct walk w = { .comms = c };

	if (!procfs_shows_initial() || access(path_procfs(), R_OK | X_OK) < 0)
		return 0;
	if (only)
		return add_pids(c, only);
	task_each_process(add_process, &w);
	return w.new;
}

size_t names_from_instance(struct comms *c, int dir)
{
	char *text = file_read(dir, "set_event_pid", NULL);
	struct pids only = { 0 };
	size_t new;

	if (text)
		pids_parse(&only, text);
	free(text);
	new = names_from_procfs(c, only.n ? &only : NULL);
	pids_clear(&only);
	return new;
}

static const char *const naming[] = {
	"events/task/task_newtask/enable", "events/task/task_rename/enable",
};

unsigned names_events_enabled(int dir)
{
	unsigned which = 0;

	for (unsigned i = 0; i < 2; i++)
		which |= (unsigned)file_begins(dir, naming[i], '1') << i;
	return which;
}

unsigned names_events_enable(int dir, unsigned which)
{
	unsigned missing = which & ~names_events_enabled(dir), enabled = 0;

	for (unsigned i = 0; i < 2; i++)
		if (missing >> i & 1 && !ctl_try(dir, naming[i], "1", 0))
			enabled |= 1u << i;
	return enabled;
}

void names_events_disable(int dir, unsigned which)
{
	for (unsigned i = 0; i < 2; i++)
		if (which >> i & 1)
			ctl_try(dir, naming[i], "0", 0);
}
