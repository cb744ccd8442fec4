/* SPDX-License-Identifier: ISC */
/*
 * beside.c - a small second instance beside the one that records
 */

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "flight.h"

/* The highest pid that the kernel can give. In practice no task has it. */
#define NO_TASK (K_PID_MAX_LIMIT - 1)

int flight_beside_make(struct flight_beside *b, int top, int dir, const char *instance,
		       const char *suffix, const char *kb)
{
	char *clock, *name;
	int r;

	if (!instance)
		instance = getenv("TFS_INSTANCE");
	str_format(b->name, sizeof(b->name), "%s%s",
		   instance && strcmp(instance, TOP_LEVEL) ? instance : "", suffix);
	b->instances = openat(top, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	b->dir = b->instances < 0 ? -1 : owned_make(b->instances, b->name, 0750);
	if (b->dir < 0)
		return err_file("unable to make instance %s", b->name);
	b->made = 1;
	r = ctl_write(b->dir, "buffer_size_kb", kb, 0);
	clock = file_read(dir, "trace_clock", NULL);
	name = clock ? strchr(clock, '[') : NULL;
	if (name && !r) {
		name[strcspn(name, "]")] = '\0';
		r = ctl_write(b->dir, "trace_clock", name + 1, 0);
	}
	free(clock);
	return r;
}

/*
 * Repeat until no task is new, because followed tasks may fork meanwhile. The caller excludes
 * its own tasks by event filters.
 */
int flight_beside_pids(const struct flight_beside *b, int from, const struct pids *us)
{
	struct pids known = { 0 }, now = { 0 }, not = { 0 };
	char *text = file_read(from, "set_event_notrace_pid", NULL);
	int follow = file_begins(from, "options/event-fork", '1'), to = b->dir, r;
	size_t nobody;

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
	if (!r && !known.n && !nobody && follow) {
		r = pids_add(&known, NO_TASK);
		if (!r)
			r = pidfilter_add(to, &known, 0);
	}
	if (!r)
		r = ctl_write(to, "options/event-fork", follow ? "1" : "0", 0);
	free(text);
	pids_clear(&known);
	pids_clear(&now);
	pids_clear(&not);
	return r;
}

void flight_beside_remove(const struct flight_beside *b)
{
	if (b->made && instance_remove(b->instances, b->name, 1000) < 0)
		err_file("unable to remove instance %s", b->name);
}
