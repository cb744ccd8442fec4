/* SPDX-License-Identifier: ISC */
/* parts.c - move sub-buffers from the ring buffers of an instance to a part per CPU */
#include <sys/auxv.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "event/event.h"
#include "calls/calls.h"
#include "tracedat/tracedat.h"
#include "record.h"

/* Bytes before the sub-buffers for names that a recording adds to the head. */
#define NAMES_ROOM (64 * 1024)

uint64_t dat_parts_round_up(const struct dat_parts *p, uint64_t n)
{
	size_t subbuf_size = p->head->layout.size;

	return (n + subbuf_size - 1) / subbuf_size * subbuf_size;
}

uint64_t dat_parts_reserve(struct dat_parts *p)
{
	uint64_t names = p->most && p->most / 8 < NAMES_ROOM ? p->most / 8 : NAMES_ROOM;
	struct bytes head = { 0 };

	if (dat_head(p->head, &head, SIZE_MAX) < 0) {
		free(head.v);
		err_msg("out of memory");
		return 0;
	}
	/* the numbers in the CPUs' stats grow as well: 256 bytes each */
	p->reserve = dat_parts_round_up(p, head.n + dat_table_size(p->head) + names +
					(uint64_t)p->head->cpus * 256);
	p->formats = p->head->bytes;
	free(p->first.v);
	p->first = head;
	return p->reserve + (uint64_t)p->head->cpus * p->head->layout.size;
}

uint64_t dat_parts_head_room(const struct dat_parts *p)
{
	return p->reserve + dat_parts_round_up(p, p->head->bytes - p->formats);
}

int dat_parts_begin(struct dat_parts *p)
{
	p->part = calloc(p->head->cpus, sizeof(*p->part));
	if (!p->part)
		return err_msg("out of memory");
	for (unsigned cpu = 0; cpu < p->head->cpus; cpu++)
		p->part[cpu].fd = -1;
	p->size = 0;
	p->full = 0;
	return 0;
}

/* Return about how many sub-buffers the ring buffer of a CPU has. */
static size_t subbufs_held(const struct dat_parts *p)
{
	unsigned long long kb = file_number(p->head->dir, "per_cpu/cpu0/buffer_size_kb", NULL, 0);

	return (size_t)(KB_BYTES(kb) / p->head->layout.size) + 1;
}

int dat_parts_open(struct dat_parts *p)
{
	char file[64];
	int fd;

	file_raise_limit(); /* two files per CPU, and there may be many CPUs */
	if (dat_parts_begin(p) < 0)
		return -1;
	p->ballast = -1;
	p->holds = subbufs_held(p);
	p->raw = calloc(p->head->cpus, sizeof(*p->raw));
	p->polls = calloc(p->head->cpus + 1, sizeof(*p->polls));
	p->subbuf = malloc(p->head->layout.size);
	p->table = calloc(2 * (size_t)p->head->cpus, sizeof(*p->table));
	if (!p->raw || !p->polls || !p->subbuf || !p->table)
		return err_msg("out of memory");
	if (getenv(SESSION_RINGS)) {
		for (unsigned cpu = 0; cpu < p->head->cpus; cpu++)
			p->polls[cpu].fd = p->raw[cpu] = -1;
		if (dat_merged_open(p) < 0)
			return -1;
		p->polls[0] = (struct pollfd){ .fd = live_wake(&p->live, -1), .events = POLLIN };
		return p->polls[0].fd < 0 ? -1 : 0;
	}
	for (unsigned cpu = 0; cpu < p->head->cpus; cpu++) {
		str_format(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
		fd = openat(p->head->dir, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 && errno != ENOENT) /* the CPU numbers may have gaps */
			return err_file("unable to open %s", file);
		p->raw[cpu] = fd;
		p->polls[cpu] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	if (pipe2(p->pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_errno("unable to make a pipe");
	/* in the pipe a sub-buffer takes the room of a memory page, whatever its size */
	fcntl(p->pipe[1], F_SETPIPE_SZ, 1024 * 1024);
	p->pipe_room = (size_t)fcntl(p->pipe[1], F_GETPIPE_SZ) / getauxval(AT_PAGESZ);
	return 0;
}

/*
 * Empty the pipe into nothing and count its events as cut, because the part has no room. The
 * first `written` bytes are in the part already; they may end inside of a sub-buffer.
 */
static void spill(struct dat_parts *p, struct dat_part *f, size_t written)
{
	size_t subbuf_size = p->head->layout.size, have = written % subbuf_size;
	size_t whole = written - have;
	char *text = p->subbuf;
	ssize_t n;

	if (have && pread(f->fd, text, have, (off_t)(p->reserve + f->size + whole)) < 0)
		have = 0;
	while ((n = read(p->pipe[0], text + have, subbuf_size - have)) > 0) {
		have += (size_t)n;
		if (have < subbuf_size)
			continue;
		p->cut += records_in(&p->head->layout, text, subbuf_size);
		have = 0;
	}
	f->size += whole;
	p->size += whole;
	if (f->fd >= 0 && ftruncate(f->fd, (off_t)(p->reserve + f->size)) < 0)
		return; /* nothing reads after size */
}

/* Move up to n bytes from the pipe to the file without splice. Return how many, or -1. */
static ssize_t copy_out(struct dat_parts *p, int fd, off_t at, size_t n)
{
	char text[4096];
	ssize_t got = read(p->pipe[0], text, n < sizeof(text) ? n : sizeof(text));

	for (ssize_t done = 0, m; done < got; done += m) {
		m = pwrite(fd, text + done, (size_t)(got - done), at + done);
		if (m <= 0)
			return err_errno("unable to write %s", p->place->path);
	}
	return got;
}

/* Move the n bytes in the pipe to the end of the part. */
static void store(struct dat_parts *p, struct dat_part *f, size_t n)
{
	size_t done = 0;

	if (f->fd < 0)
		f->fd = atomic_file_scratch(p->place);
	while (f->fd >= 0 && done < n) {
		loff_t at = (loff_t)(p->reserve + f->size + done);
		ssize_t m = splice(p->pipe[0], NULL, f->fd, &at, n - done, 0);

		if (m < 0 && errno == EINVAL)
			m = copy_out(p, f->fd, at, n - done);
		if (m < 0 && errno == EINTR)
			continue;
		if (m <= 0)
			break;
		done += (size_t)m;
	}
	if (done < n) {
		err_errno("unable to write %s", p->place->path);
		p->full = REFUSED;
		spill(p, f, done);
		return;
	}
	f->size += n;
	p->size += n;
}

/* Return how many sub-buffers may still be recorded, at most that many. */
static size_t room_for(const struct dat_parts *p, size_t n)
{
	uint64_t taken = dat_parts_head_room(p) + p->size, left;

	if (!p->most)
		return n;
	left = taken < p->most ? (p->most - taken) / p->head->layout.size : 0;
	return left < n ? (size_t)left : n;
}

void dat_parts_store(struct dat_parts *p, unsigned cpu, const void *text)
{
	size_t subbuf_size = p->head->layout.size;
	struct dat_part *f = &p->part[cpu];

	if (!p->full && !room_for(p, 1))
		p->full = 1;
	if (p->full) {
		p->cut += records_in(&p->head->layout, text, subbuf_size);
		return;
	}

	if (f->fd < 0)
		f->fd = atomic_file_scratch(p->place);
	if (f->fd < 0 || pwrite(f->fd, text, subbuf_size, (off_t)(p->reserve + f->size)) !=
			 (ssize_t)subbuf_size) {
		err_errno("unable to write %s", p->place->path);
		p->full = REFUSED;
		p->cut += records_in(&p->head->layout, text, subbuf_size);
		return;
	}
	f->size += subbuf_size;
	p->size += subbuf_size;
}

ssize_t dat_parts_take(struct dat_parts *p, unsigned cpu, size_t most)
{
	size_t subbuf_size = p->head->layout.size, all = 0;

	while (p->raw[cpu] >= 0 && all < most && !p->full) {
		size_t left = most - all;
		size_t room = room_for(p, left < p->pipe_room ? left : p->pipe_room);
		ssize_t n;

		if (!room) {
			p->full = 1;
			break;
		}
		n = splice(p->raw[cpu], NULL, p->pipe[1], NULL, room * subbuf_size,
			   SPLICE_F_NONBLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return err_errno("unable to read cpu%u/trace_pipe_raw", cpu);
		if (!n) { /* end of file: not a file of the kernel */
			close(p->raw[cpu]);
			p->raw[cpu] = -1;
			break;
		}
		store(p, &p->part[cpu], (size_t)n);
		all += (size_t)n / subbuf_size;
	}
	return (ssize_t)all;
}

/* read(2) gives a sub-buffer that is not full; splice does not. */
ssize_t dat_parts_rest(struct dat_parts *p, unsigned cpu)
{
	size_t subbuf_size = p->head->layout.size;
	char *text;
	ssize_t n;

	if (p->raw[cpu] < 0 || p->full)
		return 0;
	if (!room_for(p, 1)) {
		p->full = 1;
		return 0;
	}
	text = memset(p->subbuf, 0, subbuf_size);
	do
		n = read(p->raw[cpu], text, subbuf_size);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == ENODEV)) /* ENODEV: never online */
		n = 0;
	else if (n < 0)
		err_errno("unable to read cpu%u/trace_pipe_raw", cpu);
	else if (n > 0 && subbuf_count(&p->head->layout, text, p->head->layout.size))
		dat_parts_store(p, cpu, text);
	return n;
}

ssize_t dat_parts_collect(struct dat_parts *p, int everything)
{
	ssize_t all = 0;

	if (p->writers)
		return dat_merged_take(p);

	for (unsigned cpu = 0; cpu < p->head->cpus && !p->full; cpu++) {
		struct pollfd *ready = &p->polls[cpu];
		ssize_t n;

		if (!everything && !ready->revents)
			continue;
		n = dat_parts_take(p, cpu, 64 * p->pipe_room);
		if (n < 0)
			return -1;
		/* a CPU that was never online has no ring buffer: poll would always return */
		ready->fd = !n && ready->revents & (POLLERR | POLLNVAL) ? -1 : p->raw[cpu];
		all += n;
	}
	return all;
}

void dat_parts_watch(struct dat_parts *p)
{
	if (p->writers)
		return;
	for (unsigned cpu = 0; cpu < p->head->cpus; cpu++)
		p->polls[cpu].fd = p->raw[cpu];
}
