/* SPDX-License-Identifier: ISC */
/*
 * budget.c - the steps of a recorder with a budget, in a plain directory
 *
 * The functions here stand for those of cost.c: the test says how often each event comes and
 * which events a sample misses, and the time of the test goes on by the time that the recorder
 * wants to wait. So no step depends on the machine. The argument is an empty directory.
 */
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "tracefs/tracefs.h"
#include "flight/flight.h"
#include "unit.h"

enum { MS = 1000000, SECOND = 1000 * MS, PERCENT = 10000, COST = 400 };

/* ---- the kernel of the test ---------------------------------------------------------- */

/* How often each event comes in a second. */
static struct source {
	const char *name;
	uint64_t rate;
	int missed;             /* samples do not see it */
} *sources;

static struct flight_event events[8];
static struct flight_budget b;
static uint64_t now, own;       /* ns since the beginning, and of this process */
static uint64_t counted_at, spent; /* until when events were counted; ns that they took */
static uint64_t calls;          /* system calls a second that are not recorded */
static double part;             /* of an event that is not recorded yet */
static unsigned samples;
static int dir;

static struct source *source_of(const struct flight_event *e)
{
	struct source *s = sources;

	while (strcmp(s->name, e->name))
		s++;
	return s;
}

uint64_t time_ns(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC ? now : own;
}

int flight_cost_open(struct flight_cost *c, int top, const char *instance)
{
	(void)top, (void)instance;
	c->event = COST;
	c->detour = COST / 4;
	return 0;
}

void flight_cost_close(struct flight_cost *c)
{
	c->n = 0;
}

int flight_cost_events(struct flight_cost *c)
{
	if (c->events) /* the same as at the last call */
		return 0;
	memset(events, 0, sizeof(events));
	c->events = events;
	for (c->n = 0; sources[c->n].name; c->n++) {
		events[c->n].name = sources[c->n].name;
		events[c->n].call = !strncmp(sources[c->n].name, "syscalls:", 9);
	}
	return 0;
}

uint64_t flight_cost_count(struct flight_cost *c)
{
	uint64_t n;

	for (struct flight_event *e = c->events; e < c->events + c->n; e++)
		if (!e->off)
			part += (double)source_of(e)->rate * (double)(now - counted_at) / SECOND;
	counted_at = now;
	n = (uint64_t)part;
	part -= (double)n;
	spent += n * COST;
	c->recorded = spent / COST + b.markers;
	return n;
}

int flight_cost_enable(const struct flight_cost *c, int to, int on)
{
	char path[PATH_MAX];

	for (struct flight_event *e = c->events; e < c->events + c->n; e++)
		if (e->change) {
			ctl_event_file(path, e->name, "enable");
			EQUAL(ctl_write(to, path, on ? "1" : "0", 0), 0);
		}
	now += 2 * MS;
	own += MS;
	return 0;
}

int flight_cost_sample(struct flight_cost *c)
{
	samples++;
	now += 20 * MS;
	c->sampled = 0;
	c->calls = calls / 200;
	for (struct flight_event *e = c->events; e < c->events + c->n; e++) {
		const struct source *s = source_of(e);

		e->sampled = e->off || s->missed ? 0 : (uint32_t)(s->rate / 200);
		c->sampled += e->sampled;
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
	put(dir, path, text);
}

/* Return what was written last to the file of the event: 0 or 1. */
static int enabled(const char *event)
{
	char path[PATH_MAX], *text;
	int last;

	ctl_event_file(path, event, "enable");
	text = file_read(dir, path, NULL);
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

static void begin(struct source *of, uint32_t ppm)
{
	sources = of;
	memset(&b, 0, sizeof(b));
	counted_at = now = 3600 * (uint64_t)SECOND;
	own = spent = samples = 0;
	part = 0;
	put(dir, "tracing_on", "1\n");
	put(dir, "trace_marker", "");
	put(dir, "per_cpu/cpu0/stats", "now ts:     5.250000\n");
	put(dir, "out", "");
	for (struct source *s = of; s->name; s++)
		put_of_event(s->name, "enable", "1\n");
	dumps.out = openat(dir, "out", O_WRONLY | O_APPEND | O_CLOEXEC);
	b.cost.dir = dir;
	b.ppm = ppm;
	b.trigger = &trigger;
	b.dumps = &dumps;
	b.controls = &controls;
	EQUAL(flight_budget_begin(&b, -1, NULL), 0);
}

/* Let the time pass that the recorder wants to wait. Return it in ms. */
static unsigned wait_once(void)
{
	unsigned ms = (unsigned)flight_budget_wait(&b);

	now += (uint64_t)ms * MS;
	own += MS / 100;
	flight_budget_look(&b);
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
	flight_budget_end(&b);
	for (struct source *s = sources; s->name; s++)
		EQUAL(enabled(s->name), 1);
	close(b.marker);
	close(dumps.out);
}

/* ---- the tests ------------------------------------------------------------------------ */

/* While the load is below the budget there is no step and no sample. */
static void test_calm(void)
{
	struct source calm[] = { { "sched:switch", 20000, 0 }, { "sched:exit", 10, 0 }, { 0 } };

	begin(calm, PERCENT);
	EQUAL_TEXT(told(), "# budget: all: load 0.00 % of 1.00 %; an event costs 400 ns here\n");
	wait_ms(20000);
	EQUAL_TEXT(trace(), "");
	EQUAL(samples, 0);
	end();
	EQUAL_TEXT(trace(), "");
}

/* A flood is off until the bucket is full again. The lines say so, with the number of events. */
static void test_flood(void)
{
	struct source flood[] = { { "syscalls:call", 500000, 0 }, { "sched:exit", 1, 0 }, { 0 } };
	char wanted[64];
	size_t lines;

	begin(flood, PERCENT);
	/* the bucket has the budget of a second, which the flood spends at 20 % */
	CHECK(wait_until("# budget: filtered: ", 10000) <= 120);
	CHECK(!strncmp(trace(), "budget: filtered: load ", 23));
	CHECK(strstr(trace(), "; not recorded from here on: syscalls:call") != NULL);
	CHECK(strstr(told(), "; not recorded since 5.250000: syscalls:call;") != NULL);
	str_format(wanted, sizeof(wanted), "; %llu events recorded before\n",
		   (unsigned long long)(spent / COST));
	CHECK(strstr(told(), wanted) != NULL);
	EQUAL(enabled("syscalls:call"), 0);
	EQUAL(enabled("sched:exit"), 1);
	/* a dump says it again */
	lines = strlen(trace());
	flight_budget_tell(&b);
	CHECK(!strncmp(trace() + lines, "budget: filtered: ", 18));
	/* it comes back and is known now */
	CHECK(wait_until("# budget: all: ", 10000) >= 2500);
	CHECK(strstr(told(), "; recorded again, not since 5.250000: syscalls:call;") != NULL);
	CHECK(wait_until("# budget: filtered: ", 10000) <= 120);
	EQUAL(samples, 1);
	/* it ends */
	flood[0].rate = 0;
	wait_until("# budget: all: ", 20000);
	lines = strlen(trace());
	wait_ms(60000);
	EQUAL(strlen(trace()), lines);
	end();
}

/* Whatever comes, events and steps take at most the budget of each ten seconds, and its bucket. */
static void test_average(void)
{
	static const uint64_t rates[] = { 30000, 60000, 500000, 2000000, 25000 };
	struct source three[] = { { "sched:switch", 0, 0 }, { "sched:wake", 0, 0 },
				  { "sched:exit", 10, 0 }, { 0 } };
	uint64_t before[512];
	unsigned n = 0;

	begin(three, PERCENT);
	for (; n < 512; n++) {
		three[0].rate = rates[n / 7 % 5];
		three[1].rate = rates[n / 11 % 5] / 3;
		before[n] = spent + own;
		wait_ms(1000);
		/* the flood of the last look may be on: two percent of 2,000,000 in 40 ms */
		if (n >= 40)
			CHECK(spent + own - before[n - 40] <
			      (uint64_t)PERCENT * 41 * 1000 + 50 * MS);
	}
	CHECK(spent + own - before[0] < (uint64_t)PERCENT * 600 * 512);
	CHECK(spent > (uint64_t)PERCENT * 1000 * 100);
	end();
}

/* The most frequent events are off first, and no more than need be. */
static void test_moderate(void)
{
	struct source three[] = { { "sched:exit", 100, 0 }, { "sched:switch", 60000, 0 },
				  { "sched:wake", 9000, 0 }, { 0 } };

	begin(three, PERCENT);
	wait_until("# budget: filtered: ", 10000);
	EQUAL(enabled("sched:switch"), 0);
	EQUAL(enabled("sched:wake"), 1);
	EQUAL(enabled("sched:exit"), 1);
	/* another event becomes a flood meanwhile */
	three[2].rate = 100000;
	wait_until("never", 600);
	EQUAL(enabled("sched:wake"), 0);
	EQUAL(enabled("sched:exit"), 1);
	/* the floods end; a new one has nothing to do with them; 0.8 % would fill no bucket */
	three[1].rate = three[2].rate = 1000;
	wait_ms(60000);
	three[0].rate = 60000;
	three[1].rate = 20000;
	wait_until("# budget: filtered: ", 10000);
	EQUAL(enabled("sched:exit"), 0);
	EQUAL(enabled("sched:switch"), 0);
	EQUAL(enabled("sched:wake"), 1);
	end();
	CHECK(strstr(trace(), "budget: all: ") != NULL);
}

/* If the sample misses the flood, all events are off. */
static void test_missed(void)
{
	struct source flood[] = { { "syscalls:call", 500000, 1 }, { "sched:exit", 900, 0 }, { 0 } };

	begin(flood, PERCENT);
	wait_until("# budget: off: ", 10000);
	EQUAL(enabled("syscalls:call"), 0);
	EQUAL(enabled("sched:exit"), 0);
	CHECK(wait_until("# budget: all: ", 20000) < 20000);
	end();
}

/* If every call takes the detour, no call is traced. */
static void test_detour(void)
{
	struct source calls_and_more[] = { { "syscalls:rare", 10, 0 }, { "sched:switch", 60000, 0 },
					   { "sched:exit", 1, 0 }, { 0 } };

	calls = 1000000;
	begin(calls_and_more, PERCENT);
	wait_until("# budget: filtered: ", 10000);
	EQUAL(enabled("syscalls:rare"), 0);
	EQUAL(enabled("sched:exit"), 1);
	end();
	calls = 0;
}

/* Events that start dumps or name tasks are never off. */
static void test_stays(void)
{
	struct source two[] = { { "sched:oom", 400000, 0 }, { "task:rename", 90000, 0 },
				{ "sched:exit", 16000, 0 }, { 0 } };

	triggers[0] = "sched:oom";
	trigger.events.v = triggers;
	trigger.events.n = 1;
	begin(two, PERCENT);
	wait_ms(5000);
	EQUAL(enabled("sched:exit"), 0);
	EQUAL(enabled("sched:oom"), 1);
	EQUAL(enabled("task:rename"), 1);
	/* however long they come, their debt is that of ten seconds; a sample would be in vain */
	wait_ms(300000);
	CHECK(samples <= 2);
	two[0].rate = two[1].rate = 0;
	CHECK(wait_until("# budget: all: ", 60000) < 12000);
	end();
	trigger.events.n = 0;
}

/* While the recording is stopped there is no step. */
static void test_stopped(void)
{
	struct source flood[] = { { "syscalls:call", 500000, 0 }, { "sched:exit", 1, 0 }, { 0 } };

	begin(flood, PERCENT);
	put(dir, "tracing_on", "0\n");
	wait_ms(5000);
	EQUAL_TEXT(trace(), "");
	EQUAL(enabled("syscalls:call"), 1);
	put(dir, "tracing_on", "1\n");
	CHECK(wait_until("# budget: filtered: ", 10000) <= 100);
	end();
}

/* A dump, which takes long, is no reason for a step. */
static void test_dump(void)
{
	struct source some[] = { { "sched:switch", 24000, 0 }, { "sched:exit", 10, 0 }, { 0 } };

	begin(some, PERCENT);
	wait_ms(100);
	flight_budget_hurry(&b, 0);
	own += 500 * MS;
	now += 500 * MS;
	flight_budget_hurry(&b, 1);
	wait_ms(1000);
	some[0].rate = 60000; /* for a moment, which the bucket pays for */
	wait_ms(100);
	some[0].rate = 1000;
	wait_ms(5000);
	EQUAL_TEXT(trace(), "");
	end();
}

static void test_parse(void)
{
	static const char *const wrong[] = { "", "0", "0.00999", "51", "50.1", "1.x", "-1", "%",
					     "0x1", "1%%", "1e1" };

	EQUAL(flight_budget_parse(&b, "0.01"), 0);
	EQUAL(b.ppm, 100);
	EQUAL(flight_budget_parse(&b, "0.5%"), 0);
	EQUAL(b.ppm, 5000);
	EQUAL(flight_budget_parse(&b, "50"), 0);
	EQUAL(b.ppm, 500000);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		EQUAL(flight_budget_parse(&b, wrong[i]), -1);
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
	TEST(average);
	TEST(moderate);
	TEST(missed);
	TEST(detour);
	TEST(stays);
	TEST(stopped);
	TEST(dump);
	TEST(parse);
	return unit_end();
}
