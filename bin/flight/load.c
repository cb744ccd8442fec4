/* SPDX-License-Identifier: ISC */
/*
 * load.c - measure what a recorder takes from programs
 *
 * The load of a recorder is the time that its events cost and its own processor time. The
 * kernel counts the events of each CPU (per_cpu/cpuN/stats). The cost of one event is measured at
 * the start: a small second instance records system calls of this process, or not, in turn. The
 * same instance tells which events are frequent, when that matters: it records all of them for a
 * few milliseconds. Nothing of that is in the buffer of the recorder.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"
#include "flight.h"

/* Calls of one measurement, and measurements. */
enum { CALLS = 200, ROUNDS = 12 };
/* The length of a sample. */
#define SAMPLE_NS (5 * 1000 * 1000)
/* Kilobytes of the small instance for each CPU. */
#define SAMPLE_KB "32"
/* A record of each system call. */
#define CALLS_EVENT "raw_syscalls:sys_enter"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- what an event costs ------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Return the time of the calls, in ns of processor time. */
static uint64_t time_calls(int rename)
{
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < CALLS; i++)
		if (rename)
			prctl(PR_SET_NAME, "tfs-flight");
		else
			syscall(SYS_getppid);
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

/*
 * Measure calls with this record in the control file, and with the other one. Return the
 * cost of one event in ns: the upper quartile of the one less the lower quartile of the
 * other. Set *error to how much less it may be. Return 0 if the kernel refuses a record.
 */
static uint32_t measure(const struct flight_load *l, const char *file, const char *on,
			const char *off, int rename, uint32_t *error)
{
	uint64_t with[ROUNDS], without[ROUNDS], most;

	for (int i = 0; i < ROUNDS; i++) {
		/* the first calls after a change of the kernel's text are slow */
		time_calls(rename);
		without[i] = time_calls(rename);
		if (ctl_try(l->beside.dir, file, on, 0) < 0)
			return 0;
		time_calls(rename);
		with[i] = time_calls(rename);
		ctl_try(l->beside.dir, file, off, 0);
	}
	array_sort(with, ROUNDS, sizeof(*with), by_number);
	array_sort(without, ROUNDS, sizeof(*without), by_number);
	most = with[ROUNDS * 3 / 4] - without[ROUNDS / 4];
	*error = (uint32_t)((most - with[ROUNDS / 4] + without[ROUNDS * 3 / 4]) / CALLS);
	return most > INT32_MAX ? 1 : (uint32_t)(most / CALLS) + 1;
}

/* Give the small instance the options that make events expensive. */
static void copy_option(const struct flight_load *l, const char *file)
{
	char *text = file_read(l->dir, file, NULL);

	if (text)
		ctl_try(l->beside.dir, file, *text == '1' ? "1" : "0", 0);
	free(text);
}

/* Read the id of the event. Return 0 or -1. */
static int read_id(const struct flight_load *l, struct flight_event *e)
{
	char file[PATH_MAX], *text;
	const char *p;

	ctl_event_file(file, e->name, "id");
	p = text = file_read(l->dir, file, NULL);
	e->id = (uint16_t)(p ? text_digits(&p) : 0);
	free(text);
	return e->id ? 0 : -1;
}

static int calibrate(struct flight_load *l)
{
	const char *event = "syscalls:sys_enter_getppid";
	char file[PATH_MAX], pid[16];
	int dir = l->beside.dir, rename;
	uint32_t error;

	ctl_event_file(file, event, "enable");
	rename = !file_exists(dir, file);
	if (rename)
		event = "task:task_rename";
	copy_option(l, "options/stacktrace");
	copy_option(l, "options/userstacktrace");
	str_format(pid, sizeof(pid), "%d", (int)task_self());
	l->calls.name = CALLS_EVENT;
	read_id(l, &l->calls);
	if (ctl_write(dir, "set_event_pid", pid, 0) < 0)
		return -1;
	ctl_event_file(file, event, "enable");
	l->record = measure(l, file, "1", "0", rename, &l->record_error);
	if (!l->record) /* report why */
		return ctl_write(dir, file, "1", 0), -1;
	ctl_event_file(file, "syscalls:sys_enter_flock", "enable");
	if (!rename)
		l->detour = measure(l, file, "1", "0", 0, &error);
	ctl_event_file(file, event, "hist");
	if (file_exists(dir, file)) {
		ctl_event_file(file, event, "trigger");
		l->count = measure(l, file, EVENT_COUNTER, "!" EVENT_COUNTER, rename,
				   &error);
	}
	return ctl_write(dir, "tracing_on", "0", 0) || ctl_write(dir, "options/overwrite", "0", 0) ?
	       -1 : 0;
}

/* ---- how many events there are ---------------------------------------------------------- */

/* Return the number of events that the CPU has tried to record, from its stats. */
static uint64_t events_of(const struct live_cpu *cpu)
{
	/* those in the buffer, overwritten, lost in an interrupt, without room, and read */
	static const char *const keys[] = { "entries: ", "overrun: ", "commit overrun: ",
					    "dropped events: ", "read events: " };
	char text[512];
	ssize_t n = cpu->stats < 0 ? -1 : pread(cpu->stats, text, sizeof(text) - 1, 0);
	uint64_t sum = 0;

	text[n < 0 ? 0 : n] = '\0';
	for (const char *p = text; *p; p += strcspn(p, "\n"), p += !!*p)
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			if (!strncmp(p, keys[i], strlen(keys[i]))) {
				p += strlen(keys[i]);
				sum += text_digits(&p);
			}
	return sum;
}

/* Return the time that all CPUs together were busy since the start of the kernel, in ns. */
static uint64_t busy_time(const struct flight_load *l)
{
	static const char wanted[] = "yyynnyy"; /* user nice system idle iowait irq softirq */
	char text[128] = "";
	const char *p = text + strlen("cpu  ");
	uint64_t sum = 0;

	if (pread(l->stat, text, sizeof(text) - 1, 0) < 0)
		return 0;
	for (const char *w = wanted; *w; w++, p += *p == ' ') {
		uint64_t ticks = text_digits(&p);

		sum += *w == 'y' ? ticks : 0;
	}
	return sum * (uint64_t)(1000000000 / sysconf(_SC_CLK_TCK));
}

/* Read how many events were counted. Return the sum of all. */
static uint64_t read_hits(const struct flight_load *l)
{
	char file[PATH_MAX], *text, *end;
	uint64_t sum = 0;

	for (struct flight_event *e = l->events; e < l->events + l->n; e++) {
		if (e->now != EVENT_COUNTED)
			continue;
		ctl_event_file(file, e->name, "hist");
		text = file_read(l->dir, file, NULL);
		/* the totals are the last lines */
		end = text ? strstr(text, "\n    Hits: ") : NULL;
		if (end) {
			const char *digits = end + strlen("\n    Hits: ");

			e->hits = text_digits(&digits);
		}
		free(text);
		sum += e->hits;
	}
	return sum;
}

void flight_load_interval(struct flight_load *l, struct flight_interval *i, int busy)
{
	uint64_t at = clock_ns(CLOCK_MONOTONIC), own = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t hits = read_hits(l), now = busy ? busy_time(l) : 0;

	*i = (struct flight_interval){
		.wall = at - l->at,
		.own = own - l->own,
		.hits = hits > l->hits ? hits - l->hits : 0,
		.busy = l->busy && now > l->busy ? now - l->busy : 0,
	};
	for (unsigned cpu = 0; cpu < l->live->ncpus; cpu++) {
		uint64_t n = events_of(&l->live->cpu[cpu]);
		/* the buffer may have been cleared */
		uint64_t more = n >= l->seen[cpu] ? n - l->seen[cpu] : n;

		l->seen[cpu] = n;
		i->sum += more;
		if (more > i->most)
			i->most = more;
	}
	l->total += i->sum;
	l->at = at;
	l->own = own;
	l->hits = hits;
	l->busy = now;
	i->measured = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - own;
}

/* ---- which events are frequent -------------------------------------------------------- */

/* Copy the filter of the event, if it has one. */
static void copy_filter(const struct flight_load *l, const char *event)
{
	char file[PATH_MAX], *text;

	ctl_event_file(file, event, "filter");
	text = file_read(l->dir, file, NULL);
	if (text && strcmp(text, "none\n"))
		ctl_try(l->beside.dir, file, text, 0);
	free(text);
}

int flight_event_is_call(const char *event)
{
	return !strncmp(event, "syscalls:", 9) || !strncmp(event, "raw_syscalls:", 13);
}

int flight_load_events(struct flight_load *l)
{
	char *text = file_read(l->dir, "set_event", NULL), *save, *whole;
	size_t room = 1;

	if (!text)
		return err_file("unable to read set_event");
	if (l->enabled && !strcmp(text, l->enabled)) {
		free(text);
		return 0;
	}
	free(l->enabled);
	free(l->names);
	free(l->events);
	l->names = l->enabled = NULL;
	l->events = NULL;
	l->n = 0;
	whole = file_read(l->dir, "events/syscalls/enable", NULL);
	l->all_calls = whole && *whole == '1';
	free(whole);
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		room++;
	l->names = text;
	l->enabled = strdup(text);
	l->events = calloc(room, sizeof(*l->events));
	if (!l->events || !l->enabled)
		return err_msg("out of memory");
	for (char *p = strtok_r(text, "\n", &save); p; p = strtok_r(NULL, "\n", &save)) {
		l->events[l->n].name = p;
		if (!strchr(p, ':') || read_id(l, &l->events[l->n]) < 0)
			continue;
		copy_filter(l, p);
		l->events[l->n++].call = (uint8_t)flight_event_is_call(p);
	}
	return 0;
}

/*
 * Choose the events of a sample. A look upwards asks only for the events that are not recorded,
 * because each event that is enabled takes time and stops the other CPUs for a moment.
 */
static void choose(struct flight_load *l, int look)
{
	int many = 0;

	for (struct flight_event *e = l->events; e < l->events + l->n; e++) {
		e->asked = look != LOOK_UP || e->now != EVENT_RECORDED;
		many += e->asked && e->call && *e->name == 's';
	}
	/* all events of system calls at once take less time than some of them */
	l->ask_calls = many > 4;
	for (struct flight_event *e = l->events; e < l->events + l->n; e++)
		e->asked |= l->ask_calls && e->call && *e->name == 's';
}

/* Enable the chosen events in the small instance, or disable them; and all system calls. */
static void enable_chosen(const struct flight_load *l, const char *value)
{
	char file[PATH_MAX];
	int calls = 0;

	if (l->ask_calls)
		ctl_try(l->beside.dir, "events/syscalls/enable", value, 0);
	for (const struct flight_event *e = l->events; e < l->events + l->n; e++) {
		calls |= e->call;
		if (!e->asked || (l->ask_calls && e->call && *e->name == 's'))
			continue;
		ctl_event_file(file, e->name, "enable");
		ctl_try(l->beside.dir, file, value, 0);
	}
	if (calls)
		ctl_try(l->beside.dir, "events/raw_syscalls/sys_enter/enable", value, 0);
}

/* Count the records of one CPU, by their events and all in *n. Return 0 or -1. */
static int count_records(struct flight_load *l, unsigned cpu, void *data, uint64_t *n)
{
	struct subbuf subbuf;
	struct record r;
	int got;

	*n = 0;
	while ((got = live_read_subbuf(&l->small, cpu, data)) > 0) {
		subbuf_open(&subbuf, &l->small.format, data, l->small.subbuf_size, (int)cpu);
		while (subbuf_next(&subbuf, &r)) {
			uint16_t id = 0;

			if (r.len >= sizeof(id))
				memcpy(&id, r.data, sizeof(id));
			++*n;
			l->calls.here += id == l->calls.id;
			for (size_t i = 0; i < l->n; i++)
				if (l->events[i].id == id) {
					l->events[i].here++;
					break;
				}
		}
	}
	return got;
}

/* Add the records of a CPU to a rate. A sample that is full has only some of those tried. */
static void add_rate(struct flight_event *e, uint64_t recorded, uint64_t tried, uint64_t ns)
{
	uint64_t rate = recorded ? e->here * tried / recorded * 1000000000 / ns : 0;

	if (rate > e->most)
		e->most = rate;
	e->sum += rate;
	e->here = 0;
}

/* Forget half of a rate. The sample adds up the sum of the CPUs anew. */
static void halve(struct flight_event *e, int asked)
{
	e->most /= 2;
	e->sum = asked ? 0 : e->sum / 2;
}

int flight_load_sample(struct flight_load *l, int look)
{
	const struct timespec pause = { .tv_nsec = SAMPLE_NS };
	void *data = malloc(l->small.subbuf_size);
	int dir = l->beside.dir, r = 0;
	struct pids us = { 0 };
	uint64_t ns = 0;

	if (!data)
		return err_msg("out of memory");
	if (ctl_write(dir, "trace", "", CTL_TRUNCATE) < 0 ||
	    ctl_write(dir, "set_event_pid", "", CTL_TRUNCATE) < 0 ||
	    flight_beside_pids(&l->beside, l->dir, &us) < 0)
		r = -1;
	choose(l, look);
	if (!r) {
		enable_chosen(l, "1");
		ns = clock_ns(CLOCK_MONOTONIC);
		r = ctl_write(dir, "tracing_on", "1", 0);
		nanosleep(&pause, NULL);
		ctl_write(dir, "tracing_on", "0", 0);
		ns = clock_ns(CLOCK_MONOTONIC) - ns;
		enable_chosen(l, "0");
	}
	for (size_t i = 0; !r && i < l->n; i++)
		halve(&l->events[i], l->events[i].asked);
	halve(&l->calls, 1);
	for (unsigned cpu = 0; !r && cpu < l->small.ncpus; cpu++) {
		uint64_t tried = events_of(&l->small.cpu[cpu]), recorded;

		r = count_records(l, cpu, data, &recorded);
		for (size_t i = 0; i < l->n; i++)
			if (l->events[i].asked)
				add_rate(&l->events[i], recorded, tried, ns);
		add_rate(&l->calls, recorded, tried, ns);
	}
	free(data);
	return r;
}

int flight_load_open(struct flight_load *l, int top, const char *instance)
{
	struct flight_interval i;
	char path[PATH_MAX];

	str_format(path, sizeof(path), "%s/stat", path_procfs());
	l->stat = open(path, O_RDONLY | O_CLOEXEC);
	l->seen = calloc(l->live->ncpus, sizeof(*l->seen));
	if (!l->seen)
		return err_msg("out of memory");
	if (flight_beside_make(&l->beside, top, l->dir, instance, BUDGET_SUFFIX) < 0 ||
	    ctl_write(l->beside.dir, "buffer_size_kb", SAMPLE_KB, 0) < 0 ||
	    live_open(&l->small, l->beside.dir) < 0 || calibrate(l) < 0)
		return -1;
	flight_load_interval(l, &i, 0);
	l->total = i.sum;
	return 0;
}

void flight_load_close(struct flight_load *l)
{
	if (l->small.cpu)
		live_close(&l->small);
	flight_beside_remove(&l->beside);
}
