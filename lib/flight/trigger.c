/* SPDX-License-Identifier: ISC */
/*
 * trigger.c - events that start a dump, recorded by a second instance
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"
#include "flight/flight.h"

/* The highest pid that the kernel can give (PID_MAX_LIMIT - 1). In practice no task has it. */
#define NO_TASK 4194303

/*
 * Copy the pid filter of the instance at from to the one at to. Repeat until no task is new,
 * because followed tasks may fork meanwhile. The event filters exclude this process.
 */
static int copy_pids(int from, int to, const struct pids *us)
{
	struct pids known = { 0 }, now = { 0 }, not = { 0 };
	char *text = file_read(from, "set_event_notrace_pid", NULL);
	char *follow = file_read(from, "options/event-fork", NULL);
	size_t nobody;
	int r;

	r = pids_parse(&not, text ? text : "");
	nobody = not.n;
	pids_minus(&not, us);
	if (!r)
		r = pidfilter_remove(to, &not, 0);
	while (!r && !(r = pidfilter_list(from, &now))) {
		pids_minus(&now, &known);
		if (!now.n || (r = pidfilter_add(to, &now, 0)))
			break;
		r = pids_plus(&known, &now);
		pids_clear(&now);
	}
	/* All followed tasks have exited. An empty list would select every task. */
	if (!r && !known.n && !nobody && follow && *follow == '1') {
		r = pids_add(&known, NO_TASK);
		if (!r)
			r = pidfilter_add(to, &known, 0);
	}
	if (!r)
		r = ctl_write(to, "options/event-fork", follow && *follow == '1' ? "1" : "0", 0);
	free(text);
	free(follow);
	pids_clear(&known);
	pids_clear(&now);
	pids_clear(&not);
	return r;
}

/* Set the filter of the event, with this process excluded, and enable the event. */
static int enable_event(const struct flight_trigger *t, const char *event, const struct pids *us)
{
	char file[PATH_MAX], filter[4096];

	ctl_event_file(file, event, "filter");
	if (t->filter && ctl_explain(t->dir, file, t->filter, 0) < 0)
		return -1;
	if (exclude_filter(filter, sizeof(filter), event, t->filter, us) < 0)
		return err_msg("unable to exclude tfs-flight from %s: its filter is too long",
			       event);
	/* if there is no such event, the write to enable reports it */
	if (file_exists(t->dir, file) && ctl_write(t->dir, file, filter, 0) < 0)
		return -1;
	ctl_event_file(file, event, "enable");
	return ctl_write(t->dir, file, "1", 0);
}

int flight_trigger_open(struct flight_trigger *t, int top, int dir, const char *instance)
{
	pid_t self = task_self();
	struct pids us = { .v = &self, .n = 1 };
	char *clock, *name;

	t->pipe = -1;
	if (!t->n)
		return 0;
	str_format(t->name, sizeof(t->name), "%s" TRIGGER_SUFFIX,
		   instance && strcmp(instance, TOP_LEVEL) ? instance : "");
	t->instances = openat(top, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	t->dir = t->instances < 0 ? -1 : owned_make(t->instances, t->name, 0750);
	if (t->dir < 0)
		return err_file("unable to make instance %s", t->name);
	t->made = 1;
	clock = file_read(dir, "trace_clock", NULL);
	name = clock ? strchr(clock, '[') : NULL;
	if (name) {
		name[strcspn(name, "]")] = '\0';
		if (ctl_write(t->dir, "trace_clock", name + 1, 0) < 0)
			return -1;
	}
	free(clock);
	if (ctl_write(t->dir, "buffer_size_kb", "8", 0) < 0 || copy_pids(dir, t->dir, &us) < 0)
		return -1;
	t->pipe = openat(t->dir, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (t->pipe < 0)
		return err_file("unable to open trace_pipe of %s", t->name);
	if (live_open(&t->live, t->dir) < 0)
		return -1;
	for (size_t i = 0; i < t->n; i++)
		if (enable_event(t, t->events[i], &us) < 0)
			return -1;
	return 0;
}

uint64_t flight_trigger_take(struct flight_trigger *t, uint64_t after)
{
	const struct record *r;
	uint64_t first = 0;
	int64_t lost;
	long n;

	if (!t->made)
		return 0;
	do {
		n = live_fill(&t->live);
		while ((r = live_next(&t->live, &lost))) {
			if (!first && r->ts > after)
				first = r->ts;
			t->newest = r->ts;
		}
	} while (n > 0 || (!n && t->live.held));
	return first;
}

void flight_trigger_close(struct flight_trigger *t)
{
	if (!t->made)
		return;
	close(t->pipe);
	live_close(&t->live);
	if (instance_remove(t->instances, t->name, 1000) < 0)
		err_file("unable to remove instance %s", t->name);
}
