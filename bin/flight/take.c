/* SPDX-License-Identifier: ISC */
/*
 * take.c - take the records of a dump out of the ring buffers while the instance records
 *
 * A dump has all records up to one time, its end. The sub-buffers of a CPU are read until one
 * of them has a later record, or until the ring buffer is empty. The later records are kept
 * for the next dump. So each record is in one dump, or the kernel overwrites the record and
 * counts it. A record that a CPU is just writing at the end of a dump may be in the next dump.
 *
 * To make text of a sub-buffer takes much longer than to read it. The sub-buffers are read
 * into memory first, so that the kernel overwrites few of them meanwhile. The memory is
 * bounded: sub-buffers that do not fit are read one by one while text is made.
 */
#include <sys/mman.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"
#include "flight.h"

/* The most bytes of sub-buffers that are read into memory. */
#define MEMORY (32ul * 1024 * 1024)

/* The sub-buffers that were taken from one CPU. */
struct taken {
	unsigned char *now;     /* the sub-buffer that is read one by one; at first, older */
	unsigned char *rest;    /* a sub-buffer with the records after the end of the dump */
	int older, has_rest;    /* now has the rest of the last dump; rest has records */
	int done;               /* the ring buffer has no more records of this dump */
	size_t n, given;        /* sub-buffers in memory; how many of them were given */
	unsigned long long lost; /* events that the ring buffer had dropped by then */
};

static size_t memory_size(const struct flight_take *t)
{
	return t->room * t->live.ncpus * t->live.subbuf_size;
}

/* Return the memory of the sub-buffer i of the CPU. */
static unsigned char *in_memory(const struct flight_take *t, unsigned cpu, size_t i)
{
	return t->memory + (t->room * cpu + i) * t->live.subbuf_size;
}

/* Read the next sub-buffer of the CPU. Return 1, or 0 if it has no more records of this dump. */
static int read_subbuf(struct flight_take *t, unsigned cpu, unsigned char *data)
{
	struct taken *c = &t->cpu[cpu];

	if (c->done || live_read_subbuf(&t->live, cpu, data) <= 0) {
		c->done = 1;
		return 0;
	}
	c->has_rest = subbuf_split(&t->live.format, data, t->live.subbuf_size, t->end, c->rest);
	c->done = c->has_rest;
	return 1;
}

/* Open the next sub-buffer of the CPU for the merge (merge.more). */
static int next_subbuf(void *arg, unsigned cpu, struct subbuf *subbuf)
{
	struct flight_take *t = arg;
	const void *data = flight_take_subbuf(t, cpu);

	if (!data)
		return MERGE_NONE;
	subbuf_open(subbuf, &t->live.format, data, t->live.subbuf_size, (int)cpu);
	return MERGE_SUBBUF;
}

int flight_take_open(struct flight_take *t, int dir)
{
	size_t size;

	t->dir = dir;
	if (live_open(&t->live, dir) < 0)
		return -1;
	size = t->live.subbuf_size;
	t->room = MEMORY / size / t->live.ncpus;
	t->cpu = calloc(t->live.ncpus, sizeof(*t->cpu));
	t->merge = (struct merge){
		.cpus = calloc(t->live.ncpus, sizeof(*t->merge.cpus)),
		.n = t->live.ncpus,
		.more = next_subbuf,
		.arg = t,
	};
	if (!t->cpu || !t->merge.cpus)
		return err_msg("out of memory");
	for (unsigned i = 0; i < t->live.ncpus; i++) {
		t->cpu[i].now = malloc(2 * size);
		if (!t->cpu[i].now)
			return err_msg("out of memory");
		t->cpu[i].rest = t->cpu[i].now + size;
	}
	return 0;
}

int flight_take_begin(struct flight_take *t, uint64_t least, int last)
{
	uint64_t end = trace_clock_mark(t->dir);

	if (!end)
		return -1;
	t->end = end > least ? end : least;
	t->last = last;
	t->merge.running = 0;
	t->memory = mmap(NULL, memory_size(t), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	for (unsigned i = 0; i < t->live.ncpus; i++) {
		struct taken *c = &t->cpu[i];
		unsigned char *rest = c->rest;

		c->older = c->has_rest;
		c->rest = c->now;
		c->now = rest;
		c->has_rest = c->done = 0;
		c->n = c->given = 0;
		t->merge.cpus[i].none = 0;
		while (t->memory != MAP_FAILED && c->n < t->room &&
		       read_subbuf(t, i, in_memory(t, i, c->n)))
			c->n++;
		c->lost = live_lost(&t->live, i);
	}
	return 0;
}

unsigned long long flight_take_lost(const struct flight_take *t, int cpu)
{
	unsigned long long n = 0;

	for (unsigned i = 0; i < t->live.ncpus; i++)
		if (cpu < 0 || i == (unsigned)cpu)
			n += t->cpu[i].lost;
	return n;
}

const void *flight_take_subbuf(struct flight_take *t, unsigned cpu)
{
	struct taken *c = &t->cpu[cpu];

	if (c->older) {
		c->older = 0;
		return c->now;
	}
	if (c->given < c->n)
		return in_memory(t, cpu, c->given++);
	if (read_subbuf(t, cpu, c->now))
		return c->now;
	if (!t->last || !c->has_rest)
		return NULL;
	c->has_rest = 0;
	return c->rest;
}

const struct record *flight_take_record(struct flight_take *t, int64_t *lost)
{
	return merge_next(&t->merge, lost);
}

void flight_take_end(struct flight_take *t)
{
	if (t->memory != MAP_FAILED)
		munmap(t->memory, memory_size(t));
}

void flight_take_forget(struct flight_take *t)
{
	for (unsigned i = 0; i < t->live.ncpus; i++)
		t->cpu[i].has_rest = 0;
}
