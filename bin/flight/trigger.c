/* SPDX-License-Identifier: ISC */
/*
 * trigger.c - events that start a dump, recorded by a second instance
 */

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"
#include "flight.h"

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

	t->pipe = -1;
	if (!t->events.n)
		return 0;
	if (flight_beside_make(&t->beside, top, dir, instance, TRIGGER_SUFFIX, "8") < 0 ||
	    flight_beside_pids(&t->beside, dir, &us) < 0)
		return -1;
	t->dir = t->beside.dir;
	t->pipe = openat(t->dir, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (t->pipe < 0)
		return err_file("unable to open trace_pipe of %s", t->beside.name);
	if (live_open(&t->live, t->dir) < 0)
		return -1;
	for (size_t i = 0; i < t->events.n; i++)
		if (enable_event(t, t->events.v[i], &us) < 0)
			return -1;
	return 0;
}

uint64_t flight_trigger_take(struct flight_trigger *t, uint64_t after)
{
	const struct record *r;
	uint64_t first = 0;
	int64_t lost;
	long n;

	if (!t->beside.made)
		return 0;
	do {
		n = live_fill(&t->live, 0);
		while ((r = live_next(&t->live, &lost))) {
			if (!first && r->ts > after)
				first = r->ts;
			t->newest = r->ts;
		}
	} while (n >= 0 && !live_done(&t->live));
	return first;
}

void flight_trigger_close(struct flight_trigger *t)
{
	if (!t->beside.made)
		return;
	close(t->pipe);
	live_close(&t->live);
	flight_beside_remove(&t->beside);
}
