/* SPDX-License-Identifier: ISC */
/*
 * merged.c - record the ring buffers of an instance together with the rings of BPF programs
 *
 * A file has one row of sub-buffers for each CPU. So the records of a CPU's ring buffer and of its
 * ring are put in the order of time, into new sub-buffers.
 */

#include "base/base.h"
#include "host/host.h"
#include "event/event.h"
#include "calls/calls.h"
#include "live/live.h"
#include "record.h"

int dat_merged_open(struct dat_parts *p)
{
	const char *counts = getenv(SESSION_COUNTS);

	p->counts = counts ? (int)text_digits(&counts) : -1;
	if (live_open(&p->live, p->head->dir) < 0)
		return -1;
	stacks_begin(&p->live.rings, p->head->dir);
	p->writers = calloc(p->head->cpus, sizeof(*p->writers));
	p->carried = calloc(p->head->cpus, sizeof(*p->carried));
	return p->writers && p->carried ? 0 : err_msg("out of memory");
}

/* Store the sub-buffer of a CPU. */
static void store(struct dat_parts *p, unsigned cpu)
{
	struct subbuf_writer *w = &p->writers[cpu];

	if (!w->n)
		return;
	subbuf_end(w);
	dat_parts_store(p, cpu, w->data);
	w->n = 0;
}

/* Begin a sub-buffer for a CPU. */
static int begin(struct dat_parts *p, struct subbuf_writer *w, int64_t lost)
{
	void *data = w->data ? w->data : malloc(p->head->layout.size);

	if (!data) {
		p->full = REFUSED;
		return err_msg("out of memory");
	}
	subbuf_begin(w, &p->head->layout, data, lost);
	return 0;
}

/* Is the record a stack without its event? */
static int is_stray(const struct record *r)
{
	static struct stack_pairs pairs;
	struct record_head h;

	if (r->len < sizeof(h))
		return 0;
	memcpy(&h, r->data, sizeof(h));
	if (h.id == RECORD_FIRST + RECORD_STACK)
		return stack_pairs_stack(&pairs, r) < 0;
	stack_pairs_event(&pairs, r->cpu, &h, 1);
	return 0;
}

static void write_record(struct dat_parts *p, const struct record *r, int64_t lost)
{
	const unsigned cpu = (unsigned)r->cpu < p->head->cpus ? (unsigned)r->cpu : 0;
	struct subbuf_writer *w = &p->writers[cpu];

	if (p->carried[cpu] == LOST_UNKNOWN || lost == LOST_UNKNOWN)
		lost = LOST_UNKNOWN;
	else
		lost += p->carried[cpu];
	p->carried[cpu] = 0;
	if (is_stray(r)) {
		p->carried[cpu] = lost; /* the next record says it */
		return;
	}
	p->records += !record_helps(r);
	if (lost)
		store(p, cpu);
	if (!w->n && begin(p, w, lost) < 0) {
		p->cut += !record_helps(r);
		return;
	}
	if (!subbuf_add(w, r->ts, r->data, r->len))
		return;
	store(p, cpu);
	if (begin(p, w, 0) < 0 || subbuf_add(w, r->ts, r->data, r->len) < 0)
		p->cut += !record_helps(r);
}

ssize_t dat_merged_take(struct dat_parts *p)
{
	const struct record *r;
	char text[64];
	int64_t lost;
	long n = live_fill(&p->live, 0);

	while (n >= 0 && !p->full && (r = live_next(&p->live, &lost)))
		write_record(p, r, lost);
	if (p->counts >= 0 && pwrite(p->counts, text, str_format(text, sizeof(text),
	    "read: %llu lost: %llu\n", p->records, rings_lost(&p->live.rings)), 0) < 0)
		p->counts = -1;
	return n;
}

int dat_merged_rest(struct dat_parts *p)
{
	/* new events may keep the buffers from ever being empty: take at most twice their size */
	size_t left = 2 * p->holds * p->live.merge.n;
	ssize_t n;

	do {
		n = dat_merged_take(p);
		left -= n > 0 && (size_t)n < left ? (size_t)n : n > 0 ? left : 0;
	} while (n >= 0 && left && !p->full && !live_done(&p->live));
	return n < 0 ? -1 : 0;
}

void dat_merged_flush(struct dat_parts *p)
{
	const struct record *r;

	while (!p->full && (r = rings_next_open(&p->live.rings)))
		write_record(p, r, 0);
	for (unsigned cpu = 0; cpu < p->head->cpus; cpu++)
		store(p, cpu);
	p->cut += live_rest(&p->live, NULL, NULL) + rings_records(&p->live.rings);
}
