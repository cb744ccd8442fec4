/* SPDX-License-Identifier: ISC */
/*
 * budget.c - keep what a recorder takes from programs below a budget
 *
 * A bucket holds time, at most the budget of half a second. Time refills it at the rate of the
 * budget; events and the work of this file spend from it. When it is empty, the costly events are
 * off until it is full again. Until then it is filled at half the rate, because steps cost more
 * than can be measured: they stop CPUs. So the load is at most the budget on the average of ten
 * seconds. Events that start dumps or name tasks are never off.
 */

#include "base/base.h"
#include "host/host.h"
#include "tracefs/tracefs.h"
#include "lines/lines.h"
#include "flight.h"

enum { MILLION = 1000000 };
#define SECOND 1000000000u
enum { LISTED = 8 }; /* names of events in a line */

/* ---- tell ---------------------------------------------------------------------------- */

static int by_cost(const void *a, const void *b)
{
	const struct flight_event *x = a, *y = b;

	return x->sampled != y->sampled ? ASCENDING(y->sampled, x->sampled) :
	       strcmp(x->name, y->name);
}

/*
 * Write a line to the trace: the events that this step changes, or if change is NULL, the events
 * that are not recorded; the most frequent come first. If publish is set, write the line to the
 * reader and to the control file, too. Return 0, or -1 if the instance does not record.
 */
static int tell(struct flight_budget *b, const char *change, int publish)
{
	const struct flight_cost *c = &b->cost;
	char text[1000]; /* trace_marker takes no more than 1 KiB at once */
	struct out o = out_to(text, sizeof(text) - 1);
	uint64_t since = UINT64_MAX;
	size_t off = 0, n = 0;

	for (const struct flight_event *e = c->events; e < c->events + c->n; e++)
		off += e->off;
	out_format(&o, "# budget: %s: load %u.%02u %% of %u.%02u %%",
		   !off ? "all" : off < c->n ? "filtered" : "off", b->load / 10000,
		   b->load / 100 % 100, b->ppm / 10000, b->ppm / 100 % 100);
	for (const struct flight_event *e = c->events; e < c->events + c->n; e++) {
		if (!(change ? e->change : e->off) || ++n > LISTED)
			continue;
		if (e->since == since) {
			out_string(&o, ",");
		} else if (e->since) {
			out_format(&o, "; %s since ", change ? change : "not recorded");
			out_decimals(&o, e->since / 1000, 6);
			out_string(&o, ":");
		} else {
			out_string(&o, "; not recorded from here on:");
		}
		since = e->since;
		out_format(&o, " %s", e->name);
	}
	if (n > LISTED)
		out_format(&o, " and %zu more", n - LISTED);
	if (b->steps)
		out_format(&o, "; %llu events recorded before",
			   (unsigned long long)(c->recorded - b->markers));
	else if (!change)
		out_format(&o, "; an event costs %u ns here", c->event);
	if (b->steps || change) {
		if (write(b->marker, text + 2, (size_t)(o.at - text) - 2) < 0)
			return -1;
		b->markers++;
	}
	if (!publish)
		return 0;
	out_string(&o, "\n");
	*o.at = '\0';
	while (write(b->dumps->out, text, (size_t)(o.at - text)) < 0 && errno == EINTR)
		;
	flight_control_budget(b->controls, text + 2);
	return 0;
}

/* ---- steps ----------------------------------------------------------------------------- */

/* Return the rate at which the bucket is filled, in ppm. */
static uint32_t rate(const struct flight_budget *b)
{
	return b->off ? b->ppm / 2 : b->ppm;
}

/* Charge the events and the own time since the last call to the bucket, and compute the load. */
static void charge(struct flight_budget *b)
{
	uint64_t at = time_ns(CLOCK_MONOTONIC), wall = at - b->at;
	uint64_t own = time_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t spent = flight_cost_count(&b->cost) * b->cost.event;

	b->load = (uint32_t)(spent * MILLION / (wall ? wall : 1));
	b->bucket += (int64_t)(wall * rate(b) / MILLION) - (int64_t)(spent + own - b->own);
	b->at = at;
	b->own = own;
}

/*
 * Choose the costly events by the sample, the most frequent first, so that the others take at
 * most three eighths of the budget. A sample that misses the flood chooses the wrong ones; the
 * next sample then has no event, and chooses all.
 */
static void choose(struct flight_budget *b)
{
	struct flight_cost *c = &b->cost;
	uint64_t all = c->sampled ? c->sampled : 1, rest = b->load, aim = b->ppm / 8 * 3;
	/* any event of a system call makes every call slower */
	int calls = (uint64_t)b->load * c->calls / all * c->detour / c->event > aim / 2;

	array_sort(c->events, c->n, sizeof(*c->events), by_cost);
	for (struct flight_event *e = c->events; e < c->events + c->n; e++) {
		e->costly |= !e->stays && (rest > aim || (calls && e->call));
		if (e->costly)
			rest -= (uint64_t)b->load * e->sampled / all;
	}
}

/* Switch the costly events off, or all events on again. Say so before and after. */
static void step(struct flight_budget *b, int off)
{
	struct flight_cost *c = &b->cost;
	uint64_t now = off ? trace_clock_now(c->dir) : 0;
	uint32_t reason = b->load;
	unsigned changes = 0;
	int told;

	charge(b);
	b->load = reason;
	for (struct flight_event *e = c->events; e < c->events + c->n; e++) {
		changes |= e->change = e->off != off && (e->costly || !off);
		e->off ^= e->change;
	}
	b->steps += changes;
	told = !changes ? -1 : off ? tell(b, "not recorded", 0) : 0;
	if (!told)
		flight_cost_enable(c, c->dir, !off);
	for (struct flight_event *e = c->events; e < c->events + c->n; e++)
		if (e->change && told)
			e->off = !off;
		else if (e->change && off)
			e->since = now;
	if (told)
		return;
	b->off = off;
	charge(b); /* events during the step say nothing about the load after it */
	b->load = reason;
	tell(b, off ? NULL : "recorded again, not", 1);
	for (struct flight_event *e = c->events; e < c->events + c->n; e++)
		e->since = e->off ? e->since : 0;
}

/* Note which events stay on. Return 1 if any recorded event can be switched off, else 0. */
static int can_reduce(struct flight_budget *b)
{
	struct flight_cost *c = &b->cost;
	int can = 0;

	for (struct flight_event *e = c->events; e < c->events + c->n; e++) {
		if (!b->known)
			e->costly = 0;
		e->stays = !strncmp(e->name, "task:", 5);
		for (size_t i = 0; i < b->trigger->events.n; i++)
			e->stays |= !strcmp(e->name, b->trigger->events.v[i]);
		can |= !e->off && !e->stays;
	}
	return can;
}

/* Record less. Events that were costly the last time are known; others need a sample. */
static void step_down(struct flight_budget *b)
{
	int sample = b->off || !b->known;

	if ((!b->off && !b->known && flight_cost_events(&b->cost) < 0) || !can_reduce(b) ||
	    (sample && flight_cost_sample(&b->cost) < 0))
		return;
	if (sample)
		choose(b);
	b->known = 1;
	step(b, 1);
}

/* ---- public --------------------------------------------------------------------------- */

int flight_budget_parse(struct flight_budget *b, const char *percent)
{
	struct text_part p = { percent, strlen(percent) };
	struct decimal d;

	p.n -= p.n && percent[p.n - 1] == '%';
	if (strpbrk(percent, "+-x") || decimal_parse(&d, p) < 0 || d.whole > 50 ||
	    d.nano % 100000)
		return -1;
	b->ppm = (uint32_t)d.whole * 10000 + d.nano / 100000;
	return b->ppm < 100 || b->ppm > 500000 ? -1 : 0;
}

int flight_budget_begin(struct flight_budget *b, int top, const char *instance)
{
	if (!b->ppm)
		return 0;
	b->marker = openat(b->cost.dir, "trace_marker", O_WRONLY | O_CLOEXEC);
	if (b->marker < 0)
		return err_file("unable to open trace_marker");
	if (flight_cost_open(&b->cost, top, instance) < 0 || flight_cost_events(&b->cost) < 0)
		return -1;
	tell(b, NULL, 1);
	flight_budget_hurry(b, 1);
	return 0;
}

int flight_budget_wait(const struct flight_budget *b)
{
	return !b->ppm ? -1 : b->load > b->ppm ? 10 : b->load > b->ppm / 2 ? 20 : 40;
}

void flight_budget_look(struct flight_budget *b)
{
	int64_t full = (int64_t)b->ppm * 500;

	if (!b->ppm)
		return;
	charge(b);
	b->bucket = b->bucket > full ? full : b->bucket < -10 * full ? -10 * full : b->bucket;
	if (!file_begins(b->cost.dir, "tracing_on", '1'))
		return; /* stopped: the trace takes no line of a step */
	if (b->bucket < 0 && b->load > rate(b))
		step_down(b);
	else if (b->bucket == full && b->off)
		step(b, 0);
	else if (b->bucket == full)
		b->known = 0;
}

void flight_budget_hurry(struct flight_budget *b, int on)
{
	if (b->ppm && on) {
		b->urgent = urgent_begin();
		/* dumps are not charged */
		b->own = time_ns(CLOCK_PROCESS_CPUTIME_ID);
	} else if (b->urgent) {
		urgent_end();
	}
}

void flight_budget_tell(struct flight_budget *b)
{
	if (b->off)
		tell(b, NULL, 0);
}

void flight_budget_end(struct flight_budget *b)
{
	if (!b->ppm)
		return;
	if (b->off)
		step(b, 0);
	flight_cost_close(&b->cost);
}
