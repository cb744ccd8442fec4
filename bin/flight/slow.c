/* SPDX-License-Identifier: ISC */
/*
 * slow.c - system calls that start a dump because they took too long
 *
 * A second instance records the entries and returns of the calls. They are read every few
 * milliseconds, not one by one: a task may make a million calls in a second.
 */

#include "base/base.h"
#include "calls/calls.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"
#include "flight.h"

#define SOME_KB "1024"          /* of the buffer of each CPU if only some calls are recorded */
#define ALL_KB "4096"           /* if all are: about 60,000 */

enum {
	LOOK_MS = 20,
	FILLS = 64,             /* of one look, because the calls may come faster than we read */
};

/* The offset of the number of the call in each record of syscalls: __syscall_nr in its format. */
#define NUMBER_AT 8

struct slow_task {
	struct pairing_task pair;
	uint64_t since;
};

/* Enable the entry and the return of each call, or of all calls. */
static int enable_calls(const struct flight_slow *s)
{
	static const char *const sides[] = { "enter", "exit" };
	char file[PATH_MAX];

	if (!s->calls.n)
		return ctl_write(s->beside.dir, "events/syscalls/enable", "1", 0);
	for (size_t i = 0; i < s->calls.n * 2; i++) {
		str_format(file, sizeof(file), "events/syscalls/sys_%s_%s/enable", sides[i % 2],
			   s->calls.v[i / 2]);
		if (ctl_write(s->beside.dir, file, "1", 0) < 0)
			return -1;
	}
	return 0;
}

int flight_slow_open(struct flight_slow *s, int top, int dir, const char *instance)
{
	struct pids us = { .v = &s->self, .n = 1 };

	if (!s->us)
		return 0;
	s->self = task_self();
	s->pairing.tasks.size = sizeof(struct slow_task);
	if (flight_beside_make(&s->beside, top, dir, instance, SLOW_SUFFIX,
			       s->calls.n ? SOME_KB : ALL_KB) < 0 ||
	    flight_beside_pids(&s->beside, dir, &us) < 0 ||
	    live_open(&s->live, s->beside.dir) < 0 || enable_calls(s) < 0)
		return -1;
	live_kernel_open(&s->kernel, s->beside.dir, top);
	return s->kernel.failed ? err_msg("out of memory") : 0;
}

int flight_slow_wait(const struct flight_slow *s, int ms)
{
	return s->beside.made && (ms < 0 || ms > LOOK_MS) ? LOOK_MS : ms;
}

static struct slow_task *task_of(struct flight_slow *s, int pid)
{
	struct pairing_task *surplus;
	const char *key = (const char *)&pid;
	struct slow_task *t = table_find(&s->pairing.tasks, key, sizeof(pid));

	while (!t && (surplus = pairing_surplus(&s->pairing)))
		table_remove(&s->pairing.tasks, surplus);
	return t ? t : table_at(&s->pairing.tasks, key, sizeof(pid));
}

/* Pair the record. Return the time that its call took, in ns; 0: it is not a whole call. */
static uint64_t take_record(struct flight_slow *s, const struct record *r, int *pid,
			    const char **call)
{
	const struct event *e = event_wanted(&s->kernel.events, r);
	struct pairing_event p = { .cpu = r->cpu };
	struct slow_task *t;
	int enters, number;

	*pid = record_pid(&s->kernel.events, r);
	if (!e || strcmp(e->system, "syscalls") || *pid == s->self ||
	    r->len < NUMBER_AT + sizeof(number))
		return 0;
	enters = !strncmp(e->name, "sys_enter_", 10);
	*call = e->name + (enters ? 10 : 9);
	memcpy(&number, r->data + NUMBER_AT, sizeof(number));
	p.id = (uint32_t)number;
	p.class = pairing_class(role_of_call(*call)->is);
	t = task_of(s, *pid);
	if (!t)
		return 0;
	if (enters) {
		t->since = r->ts;
		pairing_enter(&s->pairing, &t->pair, &p);
		return 0;
	}
	return pairing_return(&s->pairing, &t->pair, &p) == PAIRING_RETURNED && r->ts > t->since ?
	       r->ts - t->since : 0;
}

uint64_t flight_slow_take(struct flight_slow *s, uint64_t after)
{
	uint64_t first = 0, took;
	const struct record *r;
	const char *call = NULL;
	int64_t lost;
	long n;
	int pid;

	if (!s->beside.made)
		return 0;
	for (int i = 0; i < FILLS; i++) {
		n = live_fill(&s->live, 0);
		while ((r = live_next(&s->live, &lost))) {
			s->pairing.losses += lost != 0;
			took = take_record(s, r, &pid, &call);
			if (took / 1000 < s->us)
				continue;
			s->newest = r->ts;
			if (first || r->ts <= after)
				continue;
			first = r->ts;
			str_format(s->line, sizeof(s->line),
				   "# slow: %.64s of task %d took %llu us\n", call, pid,
				   (unsigned long long)took / 1000);
		}
		if (n < 0 || live_done(&s->live))
			break;
	}
	return first;
}

void flight_slow_lost(struct flight_slow *s)
{
	unsigned long long lost = s->beside.made ? instance_lost(s->beside.dir) : 0;

	*s->line = '\0';
	if (lost)
		str_format(s->line, sizeof(s->line), "# lost %llu entries or returns of system "
			   "calls, so slow calls may have made no dump\n", lost);
}

int flight_slow_lasts(const struct flight_slow *s, uint64_t now)
{
	const struct slow_task *t;
	pid_t pid;

	for (size_t i = 0; (t = table_next(&s->pairing.tasks, &i));) {
		memcpy(&pid, t->pair.entry.key, sizeof(pid));
		if (t->pair.open && pairing_is_certain(&s->pairing, &t->pair) &&
		    now > t->since && (now - t->since) / 1000 >= s->us &&
		    task_alive(pid))
			return 1;
	}
	return 0;
}

void flight_slow_close(struct flight_slow *s)
{
	if (!s->beside.made)
		return;
	live_close(&s->live);
	flight_beside_remove(&s->beside);
}
