/* SPDX-License-Identifier: ISC */
/*
 * cost.c - measure what recorded events take from programs
 *
 * The kernel counts the events of each CPU (per_cpu/cpuN/stats). A small second instance measures
 * what an event costs. It also records all events for a moment, which shows the frequent ones. The
 * buffer of the recorder has no event of these measurements.
 */
#include <sys/syscall.h>
#include <time.h>

#include "base/base.h"
#include "host/host.h"
#include "tracefs/tracefs.h"
#include "flight.h"

enum { CALLS = 200, ROUNDS = 12 }; /* calls of one measurement, and measurements */
enum { ENOUGH = 200 }; /* events of a sample */
/* This event names no call, and every kernel with events of system calls has it. */
#define EVERY_CALL "raw_syscalls:sys_enter"

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return ASCENDING(*x, *y);
}

/* Return the CPU time of the calls, in ns. The first ones after a change are slow. */
static uint64_t time_calls(void)
{
	uint64_t begin = 0;

	for (int i = -CALLS; i < CALLS; i++) {
		if (!i)
			begin = time_ns(CLOCK_THREAD_CPUTIME_ID);
		syscall(SYS_getppid);
	}
	return time_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static int enable(int dir, const char *event, const char *value)
{
	char file[PATH_MAX];

	ctl_event_file(file, event, "enable");
	return ctl_write(dir, file, value, 0);
}

/* Set *ns to how much longer a call takes while the event is enabled. Return 0 or -1. */
static int measure(const struct flight_cost *c, const char *event, uint32_t *ns)
{
	uint64_t with[ROUNDS], without[ROUNDS], most;

	for (int i = 0; i < ROUNDS; i++) {
		without[i] = time_calls();
		if (enable(c->beside.dir, event, "1") < 0)
			return -1;
		with[i] = time_calls();
		enable(c->beside.dir, event, "0");
	}
	array_sort(with, ROUNDS, sizeof(*with), by_number);
	array_sort(without, ROUNDS, sizeof(*without), by_number);
	most = with[ROUNDS * 3 / 4] - without[ROUNDS / 4];
	*ns = most > INT32_MAX ? 1 : (uint32_t)(most / CALLS) + 1;
	return 0;
}

/* Copy a setting of the recorder's instance, except the filter "none". */
static void copy(const struct flight_cost *c, const char *file)
{
	char *text = file_read(c->dir, file, NULL);

	if (text && strcmp(text, "none\n"))
		ctl_try(c->beside.dir, file, text, 0);
	free(text);
}

/* Return the number of events of all CPUs since the buffers were cleared. */
static uint64_t tried(const struct live *l)
{
	uint64_t n = 0;

	for (unsigned cpu = 0; cpu < l->ncpus; cpu++)
		n += live_tried(l, cpu);
	return n;
}

int flight_cost_open(struct flight_cost *c, int top, const char *instance)
{
	char pid[16];

	str_format(pid, sizeof(pid), "%d", (int)task_self());
	if (flight_beside_make(&c->beside, top, c->dir, instance, BUDGET_SUFFIX, "128") < 0 ||
	    ctl_write(c->beside.dir, "set_event_pid", pid, 0) < 0)
		return -1;
	copy(c, "options/stacktrace");
	copy(c, "options/userstacktrace");
	if (measure(c, EVERY_CALL, &c->event) < 0 ||
	    /* an event of system calls that is never recorded */
	    ctl_write(c->beside.dir, "events/raw_syscalls/sys_exit/filter", "id < -1", 0) < 0 ||
	    measure(c, "raw_syscalls:sys_exit", &c->detour) < 0 ||
	    ctl_write(c->beside.dir, "tracing_on", "0", 0) < 0 ||
	    ctl_write(c->beside.dir, "options/overwrite", "0", 0) < 0)
		return -1;
	flight_cost_count(c);
	return 0;
}

void flight_cost_close(struct flight_cost *c)
{
	flight_beside_remove(&c->beside);
}

uint64_t flight_cost_count(struct flight_cost *c)
{
	uint64_t n = tried(c->live), more = n >= c->seen ? n - c->seen : n; /* n: cleared */

	c->seen = n;
	c->recorded += more;
	return more;
}

/* ---- which events are frequent ---------------------------------------------------------- */

static int read_event(struct flight_cost *c, struct flight_event *e)
{
	char file[PATH_MAX];

	ctl_event_file(file, e->name, "id");
	e->id = (uint16_t)file_number(c->dir, file, NULL, 0);
	ctl_event_file(file, e->name, "filter");
	copy(c, file);
	e->call = !strncmp(e->name, "syscalls:", 9);
	return e->id ? 0 : -1;
}

int flight_cost_events(struct flight_cost *c)
{
	char *text = file_read(c->dir, "set_event", NULL), *save;
	size_t room = 1;

	if (!text)
		return err_file("unable to read set_event");
	/* to copy the filters of hundreds of events takes seconds */
	if (c->enabled && !strcmp(text, c->enabled)) {
		free(text);
		return 0;
	}
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		room++;
	free(c->enabled);
	free(c->names);
	free(c->events);
	c->names = text;
	c->n = 0;
	c->enabled = strdup(text);
	c->events = calloc(room, sizeof(*c->events));
	if (!c->events || !c->enabled)
		return err_msg("out of memory");
	for (char *p = strtok_r(text, "\n", &save); p; p = strtok_r(NULL, "\n", &save)) {
		c->events[c->n].name = p;
		c->n += strchr(p, ':') && !read_event(c, &c->events[c->n]);
	}
	c->all_calls = file_begins(c->dir, "events/syscalls/enable", '1');
	return 0;
}

int flight_cost_enable(const struct flight_cost *c, int dir, int on)
{
	const char *value = on ? "1" : "0";
	int calls = 1, r = 0;

	/* all system calls at once take much less time than each of them */
	for (const struct flight_event *e = c->events; e < c->events + c->n; e++)
		calls &= !e->call || e->change;
	if (calls && c->all_calls)
		r = ctl_write(dir, "events/syscalls/enable", value, 0);
	for (const struct flight_event *e = c->events; e < c->events + c->n; e++)
		if (e->change && !(e->call && calls && c->all_calls))
			r |= enable(dir, e->name, value);
	return r;
}

/* Count a record of the sample. */
static void count(struct flight_cost *c, const struct record *r)
{
	uint16_t id = 0;

	if (r->len >= sizeof(id))
		memcpy(&id, r->data, sizeof(id));
	for (struct flight_event *e = c->events; e < c->events + c->n; e++)
		if (e->id == id) {
			e->sampled++;
			c->sampled++;
			return;
		}
	c->calls++; /* EVERY_CALL */
}

int flight_cost_sample(struct flight_cost *c)
{
	const struct timespec pause = { .tv_nsec = 5 * 1000 * 1000 };
	struct live small = { 0 };
	const struct record *r;
	struct pids us = { 0 };
	int dir = c->beside.dir;
	int64_t lost;

	c->sampled = c->calls = 0;
	for (struct flight_event *e = c->events; e < c->events + c->n; e++) {
		e->sampled = 0;
		e->change = !e->off;
	}
	if (ctl_write(dir, "trace", "", CTL_TRUNCATE) < 0 ||
	    ctl_write(dir, "set_event_pid", "", CTL_TRUNCATE) < 0 ||
	    flight_beside_pids(&c->beside, c->dir, &us) < 0 || live_open(&small, dir) < 0)
		return -1;
	flight_cost_enable(c, dir, 1);
	enable(dir, EVERY_CALL, "1");
	ctl_write(dir, "tracing_on", "1", 0);
	/* the tasks of the flood may have to wait for a CPU */
	for (int i = 0; i < 10 && tried(&small) < ENOUGH; i++)
		nanosleep(&pause, NULL);
	ctl_write(dir, "tracing_on", "0", 0);
	flight_cost_enable(c, dir, 0);
	enable(dir, EVERY_CALL, "0");
	while (live_fill(&small, 0) >= 0 && !live_done(&small))
		while ((r = live_next(&small, &lost)))
			count(c, r);
	live_close(&small);
	return 0;
}
