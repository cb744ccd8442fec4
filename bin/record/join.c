/* SPDX-License-Identifier: ISC */
/* join.c - make a trace.dat of the parts of the CPUs */

#include "base/base.h"
#include "tool/tool.h"
#include "event/event.h"
#include "calls/calls.h"
#include "tracedat/tracedat.h"
#include "record.h"

/* Bytes that are moved at a time, and then freed in the part. */
#define CHUNK (256 * 1024)

int dat_parts_hold(struct dat_parts *p)
{
	p->ballast = atomic_file_scratch(p->place);
	if (p->ballast < 0)
		return err_errno("unable to write %s", p->place->path);
	if (fallocate(p->ballast, 0, 0, (off_t)(p->reserve + CHUNK)) < 0 &&
	    (errno == ENOSPC || errno == EDQUOT))
		return err_errno("unable to write %s", p->place->path);
	return 0;
}

/* Return the number of events in n bytes of sub-buffers at an offset of the file. */
static unsigned long long events_in(const struct dat_parts *p, int fd, uint64_t at, uint64_t n)
{
	size_t size = p->head->layout.size;
	unsigned long long count = 0;

	for (; n >= size && pread(fd, p->subbuf, size, (off_t)at) == (ssize_t)size; n -= size) {
		count += records_in(&p->head->layout, p->subbuf, size);
		at += size;
	}
	return count;
}

/*
 * Move n bytes of sub-buffers from one file to another. Free them in the first file bit by
 * bit, because a full disk has no room for two copies. Return how many bytes of whole
 * sub-buffers were moved, with a message if they are fewer.
 */
static uint64_t move(struct dat_parts *p, int from, uint64_t from_at, int to, uint64_t at,
		     uint64_t n, int collecting)
{
	static char text[64 * 1024];
	uint64_t done = 0;

	while (done < n) {
		loff_t in = (loff_t)(from_at + done), out = (loff_t)(at + done);
		size_t some = n - done < CHUNK ? (size_t)(n - done) : CHUNK;
		ssize_t m = copy_file_range(from, &in, to, &out, some, 0);

		if (m < 0 && errno != ENOSPC && errno != EDQUOT && errno != EFBIG &&
		    errno != EIO) {
			m = pread(from, text, some < sizeof(text) ? some : sizeof(text),
				  (off_t)(from_at + done));
			if (m > 0)
				m = pwrite(to, text, (size_t)m, (off_t)(at + done));
		}
		if (m <= 0)
			break;
		fallocate(from, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)(from_at + done), m);
		done += (uint64_t)m;
		if (collecting && dat_parts_collect(p, 1) < 0)
			collecting = 0;
	}
	if (done < n)
		err_errno("unable to write %s", p->place->path);
	return done / p->head->layout.size * p->head->layout.size;
}

/*
 * Return the CPU whose part becomes the file: the largest, if it has room for a head of table
 * bytes. Return cpus if a new file is needed.
 */
static unsigned base_of(const struct dat_parts *p, uint64_t table)
{
	unsigned base = 0;

	for (unsigned cpu = 1; cpu < p->head->cpus; cpu++)
		if (p->part[cpu].size > p->part[base].size)
			base = cpu;
	if (p->place->named || p->part[base].fd < 0 || table > p->reserve)
		return p->head->cpus;
	return base;
}

/* The file that is made of the parts. */
struct joined {
	struct dat_part *part;  /* one per CPU */
	struct bytes head;
	unsigned base;          /* the CPU whose part becomes the file; or the number of CPUs */
	int out;                /* the file */
	uint64_t *offset, *size; /* of each CPU's sub-buffers in the file */
	int status;             /* 0, or -1: reported */
};

/* Make the head. Return whether it is the first one, which has no later names and formats. */
static int make_head(struct dat_parts *p, struct joined *j)
{
	/* if the size of the file is limited, that of the head is as well */
	size_t most = p->most ? (size_t)(dat_parts_head_room(p) - dat_table_size(p->head))
			      : SIZE_MAX;

	dat_head(p->head, &j->head, most);
	if (!j->head.failed)
		return 0;
	free(j->head.v);
	j->head = p->first;
	return 1;
}

/* Write the head, and let the file end there. */
static void write_head(const struct dat_parts *p, struct joined *j, uint64_t end)
{
	if (!j->status && (j->out < 0 ||
			   pwrite(j->out, j->head.v, j->head.n, 0) != (ssize_t)j->head.n ||
			   ftruncate(j->out, (off_t)end) < 0))
		j->status = err_errno("unable to write %s", p->place->path);
}

/* Move the other parts to the file, from the offset `at` on. Return the end of the file. */
static uint64_t move_parts(struct dat_parts *p, struct joined *j, uint64_t at, int collecting)
{
	for (unsigned cpu = 0; cpu < p->head->cpus; cpu++) {
		const struct dat_part *f = &j->part[cpu];
		uint64_t moved = 0;

		if (cpu == j->base)
			continue;
		if (f->fd >= 0 && !j->status)
			moved = move(p, f->fd, p->reserve, j->out, at, f->size, collecting);
		if (moved < f->size) {
			p->full = REFUSED;
			p->cut += events_in(p, f->fd, p->reserve + moved, f->size - moved);
		}
		fd_close(f->fd);
		j->offset[cpu] = at;
		j->size[cpu] = moved;
		at += moved;
	}
	return at;
}

/* Release what dat_parts_hold holds. */
static void release(struct dat_parts *p)
{
	fd_close(p->ballast);
	p->ballast = -1;
}

int dat_parts_join(struct dat_parts *p, int more)
{
	unsigned cpus = p->head->cpus;
	struct joined j = { .part = p->part, .offset = p->table, .size = p->table + cpus };
	uint64_t room, at;
	int first;

	if (!j.part) /* dat_parts_begin had no memory, and printed a message */
		return -1;
	dat_look(p->head, 1);
	first = make_head(p, &j);
	room = j.head.n + dat_table_size(p->head);
	j.base = base_of(p, room);
	j.out = j.base < cpus ? j.part[j.base].fd : atomic_file_make(p->place);
	release(p);
	p->part = NULL;
	if (more && dat_parts_begin(p) < 0)
		p->full = REFUSED;

	at = dat_parts_round_up(p, room);
	if (j.base < cpus) {
		j.offset[j.base] = p->reserve;
		j.size[j.base] = j.part[j.base].size;
		at = p->reserve + j.size[j.base];
	}
	/* write the head first, while there is room, and again when the table is known */
	write_head(p, &j, at);
	at = move_parts(p, &j, at, more);
	dat_table(p->head, &j.head, j.offset, j.size);
	write_head(p, &j, at);
	if (!j.status)
		j.status = atomic_file_publish(p->place, j.out);
	if (j.status < 0 && j.base < cpus)
		p->cut += events_in(p, j.out, p->reserve, j.size[j.base]);
	if (j.status < 0)
		atomic_file_drop(p->place);
	fd_close(j.out);
	if (!first)
		free(j.head.v);
	free(j.part);
	return j.status;
}
