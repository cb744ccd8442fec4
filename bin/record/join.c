/* SPDX-License-Identifier: ISC */
/* join.c - make a trace.dat of the parts of the CPUs */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "event/event.h"
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
		count += subbuf_count(&p->head->layout, p->subbuf, size);
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

int dat_parts_join(struct dat_parts *p, int more)
{
	unsigned cpus = p->head->cpus, base;
	struct dat_part *part = p->part;
	uint64_t *offset = p->table, *size = offset + cpus;
	uint64_t at, table;
	struct bytes head = { 0 };
	int out, status = 0, first;

	if (!part) /* dat_parts_begin had no memory, and printed a message */
		return -1;
	memset(offset, 0, 2 * cpus * sizeof(*offset));
	dat_look(p->head, 1);
	/* if the size of the file is limited, that of the head is as well */
	table = dat_table_size(p->head);
	dat_head(p->head, &head, p->most ? (size_t)(dat_parts_head_room(p) - table) : SIZE_MAX);
	first = head.failed;
	if (first) { /* the first head has no names and formats that were added since */
		free(head.v);
		head = p->first;
	}
	table += head.n;
	base = base_of(p, table);
	out = base < cpus ? part[base].fd : atomic_file_make(p->place);
	if (p->ballast >= 0)
		close(p->ballast);
	p->ballast = -1;
	p->part = NULL;
	if (more && dat_parts_begin(p) < 0)
		p->full = REFUSED;

	at = dat_parts_round_up(p, table);
	if (base < cpus) {
		offset[base] = p->reserve;
		size[base] = part[base].size;
		at = p->reserve + size[base];
	}
	/* write the head first, while there is room, and again when the table is known */
	if (out < 0 || pwrite(out, head.v, head.n, 0) != (ssize_t)head.n ||
	    ftruncate(out, (off_t)at) < 0)
		status = err_errno("unable to write %s", p->place->path);
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		const struct dat_part *f = &part[cpu];

		if (cpu == base)
			continue;
		if (f->fd >= 0) {
			size[cpu] = status < 0 ? 0 : move(p, f->fd, p->reserve, out, at,
							  f->size, more);
			if (size[cpu] < f->size) {
				p->full = REFUSED;
				p->cut += events_in(p, f->fd, p->reserve + size[cpu],
						    f->size - size[cpu]);
			}
			close(f->fd);
		}
		offset[cpu] = at;
		at += size[cpu];
	}
	dat_table(p->head, &head, offset, size);
	if (!status && (ftruncate(out, (off_t)at) < 0 ||
			pwrite(out, head.v, head.n, 0) != (ssize_t)head.n))
		status = err_errno("unable to write %s", p->place->path);
	if (!status)
		status = atomic_file_publish(p->place, out);
	if (status < 0 && base < cpus)
		p->cut += events_in(p, out, p->reserve, size[base]);
	if (status < 0)
		atomic_file_drop(p->place);
	if (out >= 0)
		close(out);
	if (!first)
		free(head.v);
	free(part);
	return status;
}
