/* SPDX-License-Identifier: ISC */
/*
 * budget.c - the steps of a recorder with a budget, in a plain directory
 *
 * The functions here stand for those of load.c: the test says how often each event comes and
 * which events a sample misses, and the time of the test goes on by the time that the governor
 * wants to wait. So no step depends on the machine. The argument is an empty directory.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "flight/flight.h"
#include "unit.h"

enum { MS = 1000000, SECOND = 1000 * MS, PERCENT = 10000 };

/* ---- the kernel of the test ---------------------------------------------------------- */

/* How often each event comes in a second, on one CPU. */
static struct source {
	const char *name;
	uint64_t rate;
	int missed;             /* samples do not see it */
} *sources;

static struct flight_event events[8];
static struct flight_governor g;
static uint64_t recorded;       /* since the beginning */
static double part;             /* of an event that is not recorded yet */
static uint64_t since_look;     /* ns that have passed since the last measurement */
static unsigned samples;
static int dir;

static struct source *source_of(const struct flight_event *e)
{
	struct source *s = sources;

	while (strcmp(s->name, e->name))
		s++;
	return s;
}

int flight_event_is_call(const char *event)
{
	return !strncmp(event, "syscalls:", 9);
}

int flight_load_open(struct flight_load *l, int top, const char *instance)
{
	(void)top, (void)instance;
	l->record = 400;
	return 0;
}

void flight_load_close(struct flight_load *l)
{
	l->n = 0;
}

int flight_load_events(struct flight_load *l)
{
	memset(events, 0, sizeof(events));
	l->events = events;
	for (l->n = 0; sources[l->n].name; l->n++) {
		events[l->n].name = sources[l->n].name;
		events[l->n].call = (uint8_t)flight_event_is_call(sources[l->n].name);
	}
	return 0;
}

void flight_load_interval(struct flight_load *l, struct flight_interval *i, int busy)
{
	(void)busy;
	*i = (struct flight_interval){ .wall = since_look, .own = since_look / 10000 };
	since_look = 0;
	for (struct flight_event *e = l->events; e < l->events + l->n; e++) {
		uint64_t n = source_of(e)->rate * i->wall / SECOND;

		if (e->now == EVENT_RECORDED)
			part += (double)source_of(e)->rate * (double)i->wall / SECOND;
		if (e->now == EVENT_COUNTED)
			e->hits += n, i->hits += n;
	}
	i->most = i->sum = (uint64_t)part;
	part -= (double)i->most;
	recorded += i->most;
	l->total = recorded + g.markers;
}

int flight_load_sample(struct flight_load *l, int look)
{
	samples++;
	for (struct flight_event *e = l->events; e < l->events + l->n; e++) {
		const struct source *s = source_of(e);

		e->most /= 2;
		if (!s->missed && s->rate > e->most && (look == LOOK_DOWN || e->now))
			e->most = s->rate;
		e->sum = e->most;
	}
	return 0;
}

int urgent_begin(void)
{
	return 0;
}

void urgent_end(void)
{
}

/* ---- the directory -------------------------------------------------------------------- */

static void put(int at, const char *path, const char *text)
{
	char part_of[256];
	int fd;

	str_format(part_of, sizeof(part_of), "%s", path);
	for (char *p = part_of; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdirat(at, part_of, 0700);
	}
	fd = openat(at, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void put_of_event(const char *event, const char *file, const char *text)
{
	char path[PATH_MAX];

	ctl_event_file(path, event, file);
	put(g.load.dir, path, text);
}

/* Return what was written last to the file of the event: 0 or 1. */
static int enabled(const char *event)
{
	char path[PATH_MAX], *text;
	int last;

	ctl_event_file(path, event, "enable");
	text = file_read(g.load.dir, path, NULL);
	last = text && *text ? text[strlen(text) - 2] - '0' : -1;
	free(text);
	return last;
}

static char *of_file(const char *path)
{
	static char *text;

	free(text);
	text = file_read(dir, path, NULL);
	return text ? text : "";
}

/* The lines of the steps, as the trace has them. */
static char *trace(void)
{
	return of_file("trace_marker");
}

/* Return the last line that was published, and so not yet the one after it. */
static const char *told(void)
{
	char *text = of_file("out"), *last = text;

	for (char *p = text; (p = strchr(p, '\n')) && p[1]; )
		last = ++p;
	return last;
}

/* ---- a recorder ------------------------------------------------------------------------- */

static struct flight_control controls;
static struct flight_dumps dumps;
static struct flight_trigger trigger;
static const char *triggers[1];

static void begin(struct source *of, uint32_t budget, uint32_t count)
{
	sources = of;
	memset(&g, 0, sizeof(g));
	recorded = samples = 0;
	part = 0;
	since_look = 0;
	g.load.dir = dir;
	put(g.load.dir, "tracing_on", "1\n");
	put(g.load.dir, "set_event_pid", "");
	put(g.load.dir, "set_event_notrace_pid", "");
	put(g.load.dir, "trace_marker", "");
	put(g.load.dir, "per_cpu/cpu0/stats", "now ts:     5.250000\n");
	put(g.load.dir, "out", "");
	for (struct source *s = of; s->name; s++) {
		put_of_event(s->name, "enable", "1\n");
		put_of_event(s->name, "filter", "none\n");
		put_of_event(s->name, "trigger", "");
	}
	dumps.out = openat(g.load.dir, "out", O_WRONLY | O_APPEND | O_CLOEXEC);
	g.account.budget = budget;
	g.trigger = &trigger;
	g.dumps = &dumps;
	g.controls = &controls;
	EQUAL(flight_governor_begin(&g, -1, NULL), 0);
	g.load.count = count;
}

/* Let the time pass that the governor wants to wait. Return it in ms. */
static unsigned wait_once(void)
{
	unsigned ms = (unsigned)flight_governor_wait(&g);

	since_look += (uint64_t)ms * MS;
	flight_governor_look(&g);
	return ms;
}

/* Let time pass until the last line begins with this, or the limit has. Return the ms. */
static unsigned wait_until(const char *line, unsigned limit)
{
	unsigned ms = 0;

	while (ms < limit && strncmp(told(), line, strlen(line)))
		ms += wait_once();
	return ms;
}

static void wait_ms(unsigned limit)
{
	for (unsigned ms = 0; ms < limit;)
		ms += wait_once();
}

static void end(void)
{
	flight_governor_end(&g);
	for (struct source *s = sources; s->name; s++)
		EQUAL(enabled(s->name), 1);
	close(g.marker);
	close(dumps.out);
}

/* The text of a number of events. */
static const char *events_before(uint64_t n)
{
	static char text[64];

	str_format(text, sizeof(text), "; %llu events recorded before", (unsigned long long)n);
	return text;
}

/* ---- the tests ------------------------------------------------------------------------ */

/* While the load is below the budget there is no step and no sample. */
static void test_calm(void)
{
	struct source calm[] = { { "sched:switch", 20000, 0 }, { "sched:exit", 10, 0 }, { 0 } };

	begin(calm, PERCENT, 0);
	EQUAL_TEXT(told(), "# budget: all: load 0.00 % of 1.00 %; an event costs 400 ns here, or "
		   "up to 0 ns less\n");
	wait_ms(20000);
	EQUAL_TEXT(trace(), "");
	EQUAL(samples, 0);
	EQUAL(enabled("sched:switch"), 1);
	end();
	EQUAL_TEXT(trace(), "");
}

/*
 * A heavy flood: everything is disabled at once, then the rare event is recorded again. The
 * lines say so, with the number of events.
 */
static void test_flood(void)
{
	struct source flood[] = { { "syscalls:call", 500000, 0 }, { "sched:exit", 1, 0 }, { 0 } };
	uint64_t n;
	char *text;

	begin(flood, PERCENT, 0);
	/* credit for half a second at 1 %, which the flood spends at 20 % */
	CHECK(wait_until("# budget: filtered: ", 10000) <= 100);
	n = recorded;
	text = trace();
	CHECK(!strncmp(text, "budget: off: load ", 18));
	CHECK(strstr(text, "; not recorded from here on: sched:exit, syscalls:call") != NULL);
	CHECK(strstr(text, "; recorded again, not since 5.250000: sched:exit;") != NULL);
	CHECK(strstr(told(), "; not recorded since 5.250000: syscalls:call;") != NULL);
	CHECK(strstr(told(), events_before(n)) != NULL);
	CHECK(strstr(trace(), events_before(n)) != NULL);
	EQUAL(enabled("syscalls:call"), 0);
	EQUAL(enabled("sched:exit"), 1);
	/* looks upwards find the flood, more and more rarely */
	wait_ms(300000);
	CHECK(samples < 12); /* after 1, 2, 4 ... seconds, and then once in a minute */
	EQUAL(enabled("syscalls:call"), 0);
	/* it ends */
	flood[0].rate = 0;
	wait_until("# budget: all: ", 600000);
	CHECK(strstr(told(), "; recorded again, not since 5.250000: syscalls:call;") != NULL);
	EQUAL(enabled("syscalls:call"), 1);
	end();
}

/* After a short flood, all is recorded again when the looks have halved its rate six times. */
static void test_ends(void)
{
	struct source flood[] = { { "syscalls:call", 500000, 0 }, { "sched:exit", 1, 0 }, { 0 } };

	begin(flood, PERCENT, 0);
	wait_until("# budget: filtered: ", 10000);
	flood[0].rate = 0;
	CHECK(wait_until("# budget: all: ", 120000) <= 64000);
	end();
}

/* A load just above the budget: one step, without the way by way of nothing. */
static void test_moderate(void)
{
	struct source two[] = { { "sched:switch", 60000, 0 }, { "sched:exit", 100, 0 }, { 0 } };

	begin(two, PERCENT, 0);
	wait_until("# budget: filtered: ", 10000);
	CHECK(!strncmp(trace(), "budget: filtered: load 2.4", 26));
	CHECK(strstr(trace(), "; not recorded from here on: sched:switch") != NULL);
	EQUAL(enabled("sched:switch"), 0);
	EQUAL(enabled("sched:exit"), 1);
	EQUAL(samples, 1);
	flight_governor_tell(&g);
	CHECK(strstr(trace(), "not recorded since 5.250000: sched:switch;") != NULL);
	end();
	CHECK(strstr(trace(), "budget: all: ") != NULL);
}

/* If the samples miss the flood, the rare event is not blamed for it. */
static void test_missed(void)
{
	struct source flood[] = { { "syscalls:call", 500000, 1 }, { "sched:exit", 900, 0 }, { 0 } };

	begin(flood, PERCENT, 0);
	wait_until("# budget: off: ", 10000);
	CHECK(strstr(told(), "syscalls:call") != NULL);
	wait_ms(200000);
	/* alone it would cost nearly nothing */
	CHECK(strstr(of_file("out"), "since 5.250000: sched:exit;") == NULL);
	end();
}

/* If all events are a flood, nothing is recorded. */
static void test_off(void)
{
	struct source flood[] = { { "syscalls:call", 500000, 0 }, { 0 } };

	begin(flood, PERCENT / 2, 0);
	wait_until("# budget: off: ", 10000);
	EQUAL(enabled("syscalls:call"), 0);
	CHECK(strstr(told(), "; not recorded since 5.250000: syscalls:call;") != NULL);
	CHECK(strstr(told(), "counted") == NULL);
	end();
}

/* An event that starts dumps is disabled last. */
static void test_trigger(void)
{
	struct source two[] = { { "sched:oom", 17000, 0 }, { "sched:exit", 16000, 0 }, { 0 } };

	triggers[0] = "sched:oom";
	trigger.events = triggers;
	trigger.n = 1;
	begin(two, PERCENT, 0);
	wait_until("# budget: filtered: ", 10000);
	EQUAL(enabled("sched:exit"), 0);
	EQUAL(enabled("sched:oom"), 1);
	two[0].rate = 50000;
	wait_until("# budget: off: ", 10000);
	EQUAL(enabled("sched:oom"), 0);
	end();
	trigger.n = 0;
}

/* A kernel that counts events cheaply does that, and says how many. */
static void test_counted(void)
{
	struct source two[] = { { "sched:switch", 80000, 0 }, { "sched:exit", 1, 0 }, { 0 } };

	begin(two, PERCENT, 50);
	wait_until("# budget: filtered: ", 10000);
	CHECK(strstr(told(), "; counted, not recorded since 5.250000: sched:switch (") != NULL);
	EQUAL_TEXT(of_file("events/sched/switch/trigger"), EVENT_COUNTER "\n");
	EQUAL(enabled("sched:switch"), 0);
	wait_ms(1000);
	two[0].rate = 0;
	wait_until("# budget: all: ", 60000);
	CHECK(strstr(told(), " counted)") != NULL);
	EQUAL_TEXT(of_file("events/sched/switch/trigger"), EVENT_COUNTER "\n!" EVENT_COUNTER "\n");
	end();
}

/* While the recording is stopped there is no step. */
static void test_stopped(void)
{
	struct source flood[] = { { "syscalls:call", 500000, 0 }, { "sched:exit", 1, 0 }, { 0 } };

	begin(flood, PERCENT, 0);
	put(g.load.dir, "tracing_on", "0\n");
	wait_ms(5000);
	EQUAL_TEXT(trace(), "");
	EQUAL(enabled("syscalls:call"), 1);
	put(g.load.dir, "tracing_on", "1\n");
	CHECK(wait_until("# budget: filtered: ", 10000) <= 100);
	EQUAL(enabled("syscalls:call"), 0);
	end();
}

/* A short budget of the smallest size, and the largest. */
static void test_extremes(void)
{
	struct source two[] = { { "sched:switch", 1000000, 0 }, { "sched:exit", 1, 0 }, { 0 } };

	begin(two, PERCENT / 100, 0);
	wait_until("# budget: filtered: ", 10000);
	EQUAL(enabled("sched:switch"), 0);
	EQUAL(enabled("sched:exit"), 1);
	end();
	begin(two, 50 * PERCENT, 0);
	wait_ms(60000);
	EQUAL_TEXT(trace(), "");
	two[0].rate = 1500000;
	wait_until("# budget: filtered: ", 10000);
	EQUAL(enabled("sched:switch"), 0);
	end();
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 100;
	dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return 111;
	TEST(calm);
	TEST(flood);
	TEST(ends);
	TEST(moderate);
	TEST(missed);
	TEST(off);
	TEST(trigger);
	TEST(counted);
	TEST(stopped);
	TEST(extremes);
	return unit_end();
}
