/* SPDX-License-Identifier: ISC */
/*
 * governor.c - keep the load of a recorder below a budget
 *
 * The load is the larger of two shares: the time that events cost on the busiest CPU, of the
 * time of one CPU; and the time that they cost on all CPUs, of the time that the CPUs were busy,
 * which is at least the time of one CPU. The first bounds how much slower a program is that
 * runs on one CPU. The second bounds that for programs that run by turns on several CPUs.
 *
 * The budget is an account. Time adds credit, up to that of CREDIT_NS, and load takes it. A
 * recorder without credit whose load is above the budget steps down: it records the rarer
 * events, as many as the budget pays for, because rare events tell most: errors, exits, a
 * process that ran out of memory. It counts the others by histograms if the kernel has
 * them and a counted event costs less, or disables them. Rates come from a sample. A recorder
 * with credit samples now and then, more and more rarely if that did not help, and
 * steps up if all that it would then record costs at most half of the budget.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "flight.h"

enum { MILLION = 1000000, SECOND = 1000000000 };
/* The credit is at most the budget of this time. */
#define CREDIT_NS (SECOND / 2)
/* A flood costs more than the budget until it is noticed: pay for at most this time. */
#define DEBT_NS ((uint64_t)10 * SECOND)
/* Time between two samples, while the load is too high. */
#define LEAST_QUIET (SECOND / 10)
/* Time before a look upwards, at first and at most. */
#define LEAST_PATIENCE ((uint64_t)SECOND)
#define MOST_PATIENCE ((uint64_t)60 * SECOND)
/* Time between two measurements: above the budget, below it, while the load is low, at most. */
#define FLOOD_INTERVAL (10 * 1000 * 1000)
#define LEAST_INTERVAL (20 * 1000 * 1000)
#define CALM_INTERVAL (40 * 1000 * 1000)
#define MOST_INTERVAL (200 * 1000 * 1000)

/* ---- decide ------------------------------------------------------------------------ */

/*
 * Return how much of the recorder's own time to charge, in ns: what the events leave of the budget
 * of this time, and at least a quarter of the budget. So the account gets no credit for a look
 * upwards until the own time is paid for. events is the cost of the events, in ns of wall.
 */
static uint64_t charge_debt(struct flight_account *a, uint64_t wall, uint64_t events)
{
	uint64_t all = wall * a->budget / MILLION;
	uint64_t most = events < all - all / 4 ? all - events : all / 4;
	uint64_t charged = a->debt < most ? a->debt : most;

	a->debt -= charged;
	return charged;
}

int flight_account_charge(struct flight_account *a, const struct flight_interval *i)
{
	uint64_t wall = i->wall ? i->wall : 1, cpus = i->busy > wall ? i->busy : wall;
	uint64_t own, here, all, load, counted = i->hits * a->count;
	int64_t most = (int64_t)a->budget * (CREDIT_NS / MILLION);
	int64_t lowest = (int64_t)a->budget * (int64_t)(DEBT_NS / MILLION);

	a->debt += i->own;
	if (a->debt > (uint64_t)lowest)
		a->debt = (uint64_t)lowest;
	here = i->most * a->record + counted;
	all = (i->sum * a->record + counted) * wall / cpus;
	own = charge_debt(a, wall, here > all ? here : all) + counted;
	here = (i->most * a->record + own) * MILLION / wall;
	all = (i->sum * a->record + own) * MILLION / cpus;
	load = here > all ? here : all;
	a->load = (uint32_t)(load < UINT32_MAX ? load : UINT32_MAX);
	a->cpus = (uint32_t)(cpus * 1000 / wall) * 1000;
	a->credit += ((int64_t)a->budget - (int64_t)a->load) * (int64_t)wall / MILLION;
	if (a->credit > most)
		a->credit = most;
	if (a->credit < -lowest)
		a->credit = -lowest;
	a->quiet += wall;
	if (a->credit < 0 && a->load > a->budget && a->quiet >= LEAST_QUIET)
		return LOOK_DOWN;
	if (a->reduced && a->quiet >= a->patience && a->credit > most / 2)
		return LOOK_UP;
	return LOOK_NOT;
}

/* Order events by what they cost; those that are to stay come first. */
static int by_cost(const void *a, const void *b)
{
	const struct flight_event *x = a, *y = b;

	if (x->first != y->first)
		return y->first - x->first;
	return x->most != y->most ? (x->most < y->most ? -1 : 1) :
	       x->sum < y->sum ? -1 : x->sum > y->sum;
}

size_t flight_account_plan(const struct flight_account *a, const struct flight_event *calls,
			   struct flight_event *events, size_t n, int look)
{
	/* ns a second, on one CPU and on all */
	uint64_t here = calls->most * a->detour, sum = calls->sum * a->detour, cost, aim, all;
	uint64_t back = a->credit < 0 ? (uint64_t)-a->credit / 2 : 0;
	size_t changes = 0;
	int traced = 0, slow;

	/* if the detour takes half of what is planned, no system call is traced */
	for (size_t i = 0; i < n; i++)
		traced |= events[i].call && events[i].now != EVENT_OFF;
	aim = (uint64_t)a->budget * 1000 * (traced ? 3 : 2) / 8;
	slow = here > aim || sum > aim * (a->cpus / 1000) / 1000;
	if (slow)
		here = sum = 0;
	if (slow && traced)
		look = LOOK_DOWN;
	aim = (uint64_t)a->budget * 1000 * (look == LOOK_UP ? 2 : 3) / 4;
	/* pay back what was spent too much, within two seconds */
	aim -= back < aim / 2 ? back : aim / 2;
	all = aim * (a->cpus / 1000) / 1000;
	array_sort(events, n, sizeof(*events), by_cost);
	for (struct flight_event *e = events; e < events + n; e++) {
		e->next = slow && e->call ? EVENT_OFF : EVENT_RECORDED;
		for (; e->next < EVENT_OFF; e->next++) {
			cost = e->next == EVENT_RECORDED ? a->record : a->count;
			if (cost && here + e->most * cost <= aim && sum + e->sum * cost <= all)
				break;
		}
		if (look == LOOK_UP ? e->next > e->now : e->next < e->now)
			e->next = e->now;
		cost = e->next == EVENT_OFF ? 0 :
		       e->next == EVENT_RECORDED ? a->record : a->count;
		here += e->most * cost;
		sum += e->sum * cost;
		changes += e->next != e->now;
	}
	return changes;
}

/*
 * A sample is short, but the interval has exact counts. If the interval counted more than the
 * sample, scale up the rates of the events whose state is `now`. Return 0, and scale nothing, if
 * the sample has less than a quarter of the interval's rate: it missed the flood, for example
 * because the task did not run.
 */
static int scale(struct flight_event *events, size_t n, const struct flight_interval *i, int now)
{
	uint64_t sampled = 0, counted = i->wall ? i->most * SECOND / i->wall : 0;

	for (struct flight_event *e = events; e < events + n; e++)
		sampled += e->now == now ? e->most : 0;
	if (sampled < counted / 4)
		return 0;
	for (struct flight_event *e = events; sampled && counted > sampled && e < events + n; e++)
		if (e->now == now) {
			e->most = e->most * counted / sampled;
			e->sum = e->sum * counted / sampled;
		}
	return 1;
}

/* ---- tell ---------------------------------------------------------------------------- */

/* A line for the trace, behind "# ". trace_marker takes no more than 1 KiB at once. */
struct line {
	char text[1000];
	size_t n;
};

static void __attribute__((format(printf, 2, 3))) put(struct line *line, const char *f, ...)
{
	size_t room = sizeof(line->text) - 1 - line->n, n; /* without the newline */
	va_list ap;

	va_start(ap, f);
	n = str_vformat(line->text + line->n, room, f, ap);
	va_end(ap);
	line->n += n < room ? n : room - 1;
}

static void put_percent(struct line *line, const char *what, uint32_t ppm)
{
	put(line, "%s %u.%u%u %%", what, ppm / 10000, ppm / 1000 % 10, ppm / 100 % 10);
}

static void put_since(struct line *line, uint64_t ns)
{
	char digits[7] = "";
	uint64_t us = ns / 1000;

	for (int i = 5; i >= 0; i--, us /= 10)
		digits[i] = (char)('0' + us % 10);
	put(line, " since %llu.%s:", (unsigned long long)us, digits);
}

/*
 * Put the events that are in the state next after the step, the most frequent first. change:
 * those that enter the state with this step, or else those that were in it before. Put the time
 * at which their recording ended, too, unless it ends with this step.
 */
static void put_events(struct line *line, const struct flight_load *l, const char *what, int next,
		       int change)
{
	enum { LISTED = 8 };
	uint64_t since = 0;
	size_t n = 0;

	for (const struct flight_event *e = l->events + l->n; e-- > l->events;) {
		uint64_t from = e->now == EVENT_RECORDED ? 0 : e->since;

		if (e->next != next || (e->next != e->now) != change || ++n > LISTED)
			continue;
		if (n > 1 && from == since)
			put(line, ",");
		else if (put(line, "; %s", what), from)
			put_since(line, from);
		else
			put(line, " from here on:");
		since = from;
		put(line, " %s", e->name);
		if (e->now == EVENT_COUNTED)
			put(line, " (%llu counted)", (unsigned long long)e->hits);
	}
	if (n > LISTED)
		put(line, " and %zu more", n - LISTED);
}

/*
 * Make a line of what is recorded after the step, what the recorder takes, and which events
 * change; or, without a change, which events are not recorded, and how many were.
 */
static void make_line(const struct flight_governor *g, struct line *line, int change)
{
	const struct flight_load *l = &g->load;
	size_t left[EVENT_OFF + 1] = { 0 };

	for (size_t i = 0; i < l->n; i++)
		left[l->events[i].next]++;
	line->n = 0;
	put(line, "# budget: %s: ", left[EVENT_RECORDED] == l->n ? "all" :
	    left[EVENT_RECORDED] ? "filtered" : left[EVENT_COUNTED] ? "counted" : "off");
	put_percent(line, "load", g->account.load);
	put_percent(line, " of", g->account.budget);
	put_events(line, l, "not recorded", EVENT_OFF, change);
	put_events(line, l, "counted, not recorded", EVENT_COUNTED, change);
	if (change)
		put_events(line, l, "recorded again, not", EVENT_RECORDED, 1);
	if (g->told)
		put(line, "; %llu events recorded before", (unsigned long long)g->told);
}

/* Write the line to the trace. Return 0, or -1 if the instance does not record. */
static int write_marker(struct flight_governor *g, const struct line *line)
{
	if (write(g->marker, line->text + 2, line->n - 2) < 0)
		return -1;
	g->markers++;
	return 0;
}

/* Write the line to the reader and to the control file. */
static void publish(const struct flight_governor *g, struct line *line)
{
	line->text[line->n++] = '\n';
	while (write(g->dumps->out, line->text, line->n) < 0 && errno == EINTR)
		;
	line->text[line->n] = '\0';
	flight_control_budget(g->controls, line->text + 2);
}

/* ---- take a step ---------------------------------------------------------------------- */

/* Write COUNTER with the filter of the event, behind the prefix, to its triggers. 0 or -1. */
static int write_counter(const struct flight_load *l, const char *event, const char *prefix)
{
	char file[PATH_MAX], record[PATH_MAX], *filter;
	int none;

	ctl_event_file(file, event, "filter");
	filter = file_read(l->dir, file, NULL);
	none = !filter || !strcmp(filter, "none\n");
	str_format(record, sizeof(record), "%s" EVENT_COUNTER "%s%.*s", prefix,
		   none ? "" : " if ", none ? 0 : (int)strcspn(filter, "\n"),
		   none ? "" : filter);
	free(filter);
	ctl_event_file(file, event, "trigger");
	return ctl_write(l->dir, file, record, 0);
}

static int enable(const struct flight_load *l, const char *event, const char *value)
{
	char file[PATH_MAX];

	ctl_event_file(file, event, "enable");
	return ctl_write(l->dir, file, value, 0);
}

/* Do with the event what the plan says. Return 0 or -1, reported. */
static int change(const struct flight_load *l, const struct flight_event *e)
{
	/* a histogram begins before the recording ends, and ends after the recording begins */
	if (e->next == EVENT_COUNTED && write_counter(l, e->name, "") < 0)
		return -1;
	if (e->next == EVENT_RECORDED && enable(l, e->name, "1") < 0)
		return -1;
	if (e->now == EVENT_RECORDED && enable(l, e->name, "0") < 0)
		return -1;
	return e->now == EVENT_COUNTED ? write_counter(l, e->name, "!") : 0;
}

/*
 * If the plan does the same with all system calls, do it at once. That is much faster. Return 1
 * if no call needs more.
 */
static int change_calls(const struct flight_load *l)
{
	uint8_t now[EVENT_OFF + 1] = { 0 }, next[EVENT_OFF + 1] = { 0 };
	size_t n = 0;

	for (const struct flight_event *e = l->events; e < l->events + l->n; e++)
		if (e->call && *e->name == 's') {
			now[e->now] = 1;
			next[e->next] = 1;
			n++;
		}
	if (n < 8 || now[EVENT_COUNTED] || next[EVENT_COUNTED])
		return 0;
	if (!next[EVENT_RECORDED] || (l->all_calls && !next[EVENT_OFF] && !now[EVENT_RECORDED]))
		return ctl_try(l->dir, "events/syscalls/enable", next[EVENT_OFF] ? "0" : "1",
			       0) >= 0;
	return 0;
}

/* Do with each event what the plan says. Report what fails, and keep it as it is. */
static void apply(struct flight_governor *g, uint64_t now)
{
	struct flight_load *l = &g->load;
	int done = change_calls(l);

	g->account.reduced = 0;
	for (struct flight_event *e = l->events; e < l->events + l->n; e++) {
		if (e->next != e->now && !(done && e->call && *e->name == 's') && change(l, e) < 0)
			e->next = e->now;
		if (e->next != e->now && e->now == EVENT_RECORDED)
			e->since = now;
		e->now = e->next;
		e->hits = e->now == EVENT_COUNTED ? e->hits : 0;
		g->account.reduced |= e->now != EVENT_RECORDED;
	}
}

/* Does the instance record now? Otherwise a step would not be reported. */
static int is_recording(const struct flight_governor *g)
{
	char *text = file_read(g->load.dir, "tracing_on", NULL);
	int on = text && *text == '1';

	free(text);
	return on;
}

static uint64_t longer(uint64_t patience)
{
	return patience < MOST_PATIENCE / 2 ? 2 * patience : MOST_PATIENCE;
}

/* Count the events until now. */
static void count(struct flight_governor *g)
{
	struct flight_interval i;

	flight_load_interval(&g->load, &i, 0);
	g->told = g->load.total - g->markers;
}

/* Write and print which events are not recorded now, and how many were recorded. */
static void report(struct flight_governor *g)
{
	struct line line;

	count(g);
	make_line(g, &line, 0);
	write_marker(g, &line);
	publish(g, &line);
}

/* Record fewer events, as planned. The line of the step comes first. Return 0 or -1. */
static int step_down(struct flight_governor *g)
{
	uint64_t now = trace_clock_now(g->load.dir);
	struct line line;

	make_line(g, &line, 1);
	if (write_marker(g, &line) < 0) {
		for (size_t i = 0; i < g->load.n; i++)
			g->load.events[i].next = g->load.events[i].now;
		return -1;
	}
	apply(g, now);
	return 0;
}

/* Record more events, as planned. The line of the step, which is set, comes last. */
static void step_up(struct flight_governor *g, struct line *line)
{
	count(g);
	make_line(g, line, 1);
	apply(g, 0);
	write_marker(g, line);
}

/* Take the step that is planned. The number of events is read when fewer are recorded. */
static void step(struct flight_governor *g)
{
	struct flight_account *a = &g->account;
	struct line line;
	int look = LOOK_UP;

	for (size_t i = 0; i < g->load.n; i++)
		if (g->load.events[i].next > g->load.events[i].now)
			look = LOOK_DOWN;
	/* wait longer if the last step upwards was wrong */
	a->patience = look == LOOK_UP || !g->rose ? LEAST_PATIENCE : longer(a->patience);
	g->rose = look == LOOK_UP;
	if (look == LOOK_UP) {
		step_up(g, &line);
		publish(g, &line);
	} else if (!step_down(g)) {
		report(g);
	}
}

/*
 * Meet a heavy flood of unknown events: the first one, when a sample would take as long as it took
 * to notice the flood, or one that the sample missed. So record only the events that come first,
 * then take a sample, and record the rare events again. If the samples missed the flood, these
 * events stay off until a later sample. Return 0 if only those that come first are recorded.
 */
static int stop_flood(struct flight_governor *g, const struct flight_interval *i)
{
	struct flight_load *l = &g->load;
	struct line line;
	int changes = 0;

	for (struct flight_event *e = l->events; e < l->events + l->n; e++) {
		e->next = e->first || e->now == EVENT_COUNTED ? e->now : EVENT_OFF;
		changes |= e->next != e->now;
	}
	if (!changes)
		return 0;
	if (step_down(g) < 0)
		return 1;
	g->sampled = 0;
	for (int tries = 0; tries < 3 && !g->sampled; tries++)
		g->sampled = !flight_load_sample(l, LOOK_DOWN) &&
			     scale(l->events, l->n, i, EVENT_OFF);
	if (g->sampled && flight_account_plan(&g->account, &l->calls, l->events, l->n, LOOK_UP))
		step_up(g, &line);
	report(g);
	g->account.quiet = LEAST_QUIET; /* those that come first may be the flood */
	return 1;
}

/* Read the events, and find out whether they can be counted. Return 0 or -1. */
static int read_events(struct flight_governor *g)
{
	struct flight_load *l = &g->load;
	struct pids pids = { 0 };

	if (flight_load_events(l) < 0)
		return -1;
	for (size_t i = 0; i < l->n; i++) {
		struct flight_event *e = &l->events[i];

		e->first = !strncmp(e->name, "task:", 5);
		for (size_t k = 0; k < g->trigger->n; k++)
			e->first |= !strcmp(e->name, g->trigger->events[k]);
	}
	/* a histogram counts all tasks */
	g->account.count = !pidfilter_list(l->dir, &pids) && !pids.n ? l->count : 0;
	pids_clear(&pids);
	return 0;
}

/* ---- public --------------------------------------------------------------------------- */

int flight_governor_parse(struct flight_governor *g, const char *percent)
{
	uint64_t n = 0;
	int digits = -1;

	for (; (*percent >= '0' && *percent <= '9') || (*percent == '.' && digits < 0); percent++) {
		digits += *percent == '.' || digits >= 0;
		if (*percent != '.')
			n = 10 * n + (uint64_t)(*percent - '0');
		if (digits > 4 || n > 1000000)
			return -1;
	}
	for (digits += digits < 0; digits < 4; digits++)
		n *= 10;
	percent += *percent == '%';
	if (*percent || n < 100 || n > 500000)
		return -1;
	g->account.budget = (uint32_t)n;
	return 0;
}

int flight_governor_begin(struct flight_governor *g, int top, const char *instance)
{
	struct flight_account *a = &g->account;
	struct line line;

	if (!a->budget)
		return 0;
	g->interval = LEAST_INTERVAL;
	a->patience = LEAST_PATIENCE;
	a->quiet = LEAST_QUIET;
	a->cpus = MILLION;
	a->credit = (int64_t)a->budget * (CREDIT_NS / MILLION);
	g->marker = openat(g->load.dir, "trace_marker", O_WRONLY | O_CLOEXEC);
	if (g->marker < 0)
		return err_file("unable to open trace_marker");
	if (flight_load_open(&g->load, top, instance) < 0)
		return -1;
	if (read_events(g) < 0)
		return -1;
	a->record = g->load.record;
	a->detour = g->load.detour;
	/* calls take the detour anyway if one of them starts dumps, so rare ones cost no more */
	for (size_t i = 0; i < g->trigger->n; i++)
		if (flight_event_is_call(g->trigger->events[i]))
			a->detour = 0;
	make_line(g, &line, 0);
	put(&line, "; an event costs %u ns here, or up to %u ns less", a->record,
	    g->load.record_error);
	if (g->load.count)
		put(&line, "; a counted one %u ns", g->load.count);
	publish(g, &line);
	flight_governor_hurry(g, 1);
	return 0;
}

int flight_governor_wait(const struct flight_governor *g)
{
	return g->account.budget ? (int)(g->interval / MILLION) : -1;
}

void flight_governor_look(struct flight_governor *g)
{
	struct flight_account *a = &g->account;
	struct flight_load *l = &g->load;
	struct flight_interval i;
	uint64_t least;
	int look, heavy, explained;

	if (!a->budget)
		return;
	flight_load_interval(l, &i, a->load > a->budget / 2);
	look = flight_account_charge(a, &i);
	/* the measurements themselves may take a quarter of the budget, except in a flood */
	least = i.measured * 4 * MILLION / a->budget;
	g->interval = a->load < a->budget / 2 ? CALM_INTERVAL : LEAST_INTERVAL;
	if (g->interval < least)
		g->interval = least < MOST_INTERVAL ? least : MOST_INTERVAL;
	if (a->load > a->budget)
		g->interval = FLOOD_INTERVAL;
	if (look == LOOK_NOT || !is_recording(g))
		return;
	a->quiet = 0;
	/* in a heavy flood, first use the rates of the last sample, because a sample takes time */
	heavy = look == LOOK_DOWN && a->load / 4 > a->budget;
	g->guessed = heavy && !g->guessed && g->sampled &&
		     scale(l->events, l->n, &i, EVENT_RECORDED);
	if (!g->guessed && !a->reduced && read_events(g) < 0)
		return;
	if (heavy && !g->sampled && stop_flood(g, &i))
		return;
	if (!g->guessed) {
		if (flight_load_sample(l, look) < 0)
			return;
		/* a look upwards does not sample the recorded events, unless they matter */
		explained = scale(l->events, l->n, &i, EVENT_RECORDED);
		if (look == LOOK_UP && !explained && a->load > a->budget / 4) {
			if (flight_load_sample(l, LOOK_DOWN) < 0)
				return;
			explained = scale(l->events, l->n, &i, EVENT_RECORDED);
		} else if (look == LOOK_UP) {
			explained = 1;
		}
		if (!explained) {
			if (heavy)
				stop_flood(g, &i);
			return;
		}
	}
	g->sampled = 1;
	if (flight_account_plan(a, &l->calls, l->events, l->n, look))
		step(g);
	else if (look == LOOK_UP)
		a->patience = longer(a->patience);
}

void flight_governor_hurry(struct flight_governor *g, int on)
{
	if (!g->account.budget)
		return;
	if (on)
		g->urgent = urgent_begin();
	else if (g->urgent)
		urgent_end();
}

void flight_governor_tell(struct flight_governor *g)
{
	struct line line;

	if (!g->account.reduced)
		return;
	make_line(g, &line, 0);
	write_marker(g, &line);
}

void flight_governor_end(struct flight_governor *g)
{
	if (!g->account.budget)
		return;
	for (size_t i = 0; i < g->load.n; i++)
		g->load.events[i].next = EVENT_RECORDED;
	if (g->account.reduced)
		step(g);
	flight_load_close(&g->load);
}
