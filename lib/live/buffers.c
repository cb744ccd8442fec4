/* SPDX-License-Identifier: ISC */
/*
 * buffers.c - read the ring buffers of an instance while it records
 *
 * One pass over the CPUs may find a record and miss an older record of another CPU, if it
 * reads that CPU's buffer too early. The next pass finds the older record, if it empties the
 * buffers. So the records of a pass are held until the next pass is done.
 *
 * A sub-buffer is read only if its ring buffer has a record. Otherwise the kernel may lose
 * records. Suppose that the reader's sub-buffer has been read completely and the writer still
 * writes to it. Then rb_get_reader_page (kernel/trace/ring_buffer.c) first checks whether the
 * sub-buffer has more, and then whether the writer has left it. Records that the writer adds
 * between the two checks, before it leaves, are never read and never counted. It is enough
 * that the reading CPU pauses for a moment, as a virtual CPU does.
 */
#include <sys/epoll.h>

#include "base/base.h"
#include "host/host.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "calls/calls.h"
#include "live/live.h"

/* Bytes of the shortest record: its header, and four bytes. */
#define LEAST 8

/* Return the CPU of a source of the merge: a CPU's ring buffer, or a ring. */
static int cpu_of(const struct live *l, unsigned i)
{
	return i < l->ncpus ? (int)i : l->rings.v[i - l->ncpus].cpu;
}

/* Open the next sub-buffer of CPU i for the merge (merge.more); it has given the last one. */
static int next_subbuf(void *arg, unsigned i, struct subbuf *subbuf)
{
	struct live *l = arg;
	struct live_cpu *h = &l->cpu[i];
	struct backlog_at oldest;
	const void *data;
	size_t size;

	if (h->open) {
		h->open = 0;
		backlog_drop(&h->backlog, &l->memory);
		l->held--;
		if (h->old) {
			h->old--;
			l->old--;
		}
	}
	oldest = backlog_begin(&h->backlog);
	data = backlog_next(&oldest, &size, &h->look);
	if (!data)
		return h->empty ? MERGE_NONE : MERGE_LATER;
	h->open = 1;
	subbuf_open(subbuf, &l->format, data, size, cpu_of(l, i));
	return MERGE_SUBBUF;
}

/*
 * Open a file of a CPU. Return its descriptor, -1 if there is no such CPU (the numbers may have
 * gaps), or -2, reported.
 */
static int open_of(int per_cpu, unsigned cpu, const char *file)
{
	char path[40];
	int fd;

	str_format(path, sizeof(path), "cpu%u/%s", cpu, file);
	fd = openat(per_cpu, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return err_file("unable to open per_cpu/%s", path) - 1;
	return fd;
}

/* Open the two files of a CPU. Return 0, or -1, reported. */
static int open_buffer(struct live_cpu *h, int per_cpu, unsigned cpu)
{
	h->fd = open_of(per_cpu, cpu, "trace_pipe_raw");
	h->stats = open_of(per_cpu, cpu, "stats");
	return h->fd < -1 || h->stats < -1 ? -1 : 0;
}

int live_open(struct live *l, int dir)
{
	char *text = file_read(dir, "events/header_page", NULL);
	int per_cpu;

	*l = (struct live){ .format.big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };
	if (!text)
		return err_file("unable to read events/header_page");
	if (subbuf_format_parse(&l->format, text) < 0) {
		free(text);
		return err_msg("unable to parse events/header_page");
	}
	free(text);
	l->subbuf_size = l->format.size;
	backlog_limit(&l->memory, l->subbuf_size, 0);

	per_cpu = openat(dir, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (per_cpu < 0)
		return err_file("unable to open per_cpu");
	file_raise_limit(); /* two per CPU are more than the usual 1024 with 512 CPUs */
	if (rings_open(&l->rings) < 0)
		return -1;
	l->ncpus = instance_cpu_count(per_cpu);
	l->cpu = calloc(l->ncpus + l->rings.n, sizeof(*l->cpu));
	l->merge = (struct merge){
		.cpus = calloc(l->ncpus + l->rings.n, sizeof(*l->merge.cpus)),
		.n = l->ncpus + l->rings.n,
		.more = next_subbuf,
		.arg = l,
		.gate = &l->old,
	};
	if (!l->ncpus || !l->cpu || !l->merge.cpus)
		return err_msg("out of memory");
	for (unsigned i = 0; i < l->ncpus; i++)
		if (open_buffer(&l->cpu[i], per_cpu, i) < 0)
			return -1;
	close(per_cpu);
	return 0;
}

/* Return the number of records in the ring buffer, from its stats; 1 if that is not known. */
static unsigned long long records(const struct live_cpu *h)
{
	char text[48] = "";
	const char *p = text + strlen("entries: ");

	return pread(h->stats, text, sizeof(text) - 1, 0) < 0 ? 1 : text_digits(&p);
}

/* Read a sub-buffer. Return as live_read_subbuf does. */
static int take(const struct live *l, const struct live_cpu *h, unsigned char *data)
{
	ssize_t got = read(h->fd, data, l->subbuf_size);

	/* ENODEV: the CPU has never been online, but may come */
	if (!got || (got < 0 && (errno == EAGAIN || errno == ENODEV)))
		return 0;
	if (got < 0)
		return err_errno("unable to read trace_pipe_raw");
	memset(data + got, 0, l->subbuf_size - (size_t)got);
	return 1;
}

int live_read_subbuf(struct live *l, unsigned cpu, void *data)
{
	const struct live_cpu *h = &l->cpu[cpu];

	return h->fd >= 0 && records(h) ? take(l, h, data) : 0;
}

/* Do as fill, with a ring. */
static long fill_from_ring(struct live *l, struct live_cpu *h, struct live_ring *r, int ahead)
{
	unsigned char *data;
	long n = 0;

	for (h->empty = 0;; n++) {
		data = backlog_room(&h->backlog, &l->memory, l->subbuf_size, ahead);
		if (!data)
			return h->backlog.last ? n : err_msg("out of memory");
		if (!ring_take(r, &l->format, data))
			break;
		backlog_add(&h->backlog, subbuf_length(&l->format, data, l->subbuf_size), l->looks);
	}
	h->empty = 1;
	return n;
}

/*
 * Read sub-buffers of one CPU until its ring buffer is empty or there is no more room. Return
 * how many, or -1, reported.
 */
static long fill(struct live *l, struct live_cpu *h, int ahead)
{
	unsigned long long most = l->subbuf_size / LEAST, known = 0;
	unsigned char *data;
	long n = 0;
	int got;

	h->empty = 0;
	for (; known || (known = records(h)); known -= known < most ? known : most) {
		data = backlog_room(&h->backlog, &l->memory, l->subbuf_size, ahead);
		if (!data)
			return h->backlog.last ? n : err_msg("out of memory");
		got = take(l, h, data);
		if (got < 0)
			return -1;
		if (!got)
			break;
		backlog_add(&h->backlog, subbuf_length(&l->format, data, l->subbuf_size), l->looks);
		n++;
	}
	h->empty = 1;
	return n;
}

long live_fill(struct live *l, int ahead)
{
	long n = 0;

	l->old = l->held;
	l->merge.running = 0; /* a CPU that had no record may be first now */
	for (unsigned i = 0; i < l->merge.n; i++) {
		struct live_cpu *h = &l->cpu[i];
		long more;

		h->old = h->backlog.n;
		l->merge.cpus[i].none = 0;
		more = i >= l->ncpus ? fill_from_ring(l, h, &l->rings.v[i - l->ncpus], ahead) :
		       h->fd < 0 ? 0 : fill(l, h, ahead);
		if (more < 0)
			return -1;
		n += more;
		l->held += (size_t)more;
	}
	l->looks += (uint32_t)live_empty(l);
	return n;
}

int live_wake(struct live *l, int fd)
{
	int all = l->rings.n ? epoll_create1(EPOLL_CLOEXEC) : fd;
	struct epoll_event event = { .events = EPOLLIN };

	if (!l->rings.n)
		return fd;
	for (unsigned i = 0; all >= 0 && i < l->rings.n; i++)
		if (epoll_ctl(all, EPOLL_CTL_ADD, l->rings.v[i].fd, &event) < 0)
			return err_errno("unable to wait for records in the rings");
	for (unsigned i = 0; all >= 0 && fd < 0 && i < l->ncpus; i++)
		if (l->cpu[i].fd >= 0 && epoll_ctl(all, EPOLL_CTL_ADD, l->cpu[i].fd, &event) < 0)
			return err_errno("unable to wait for records in the rings");
	if (all >= 0 && fd >= 0 && epoll_ctl(all, EPOLL_CTL_ADD, fd, &event) < 0)
		return err_errno("unable to wait for records in the rings");
	return all < 0 ? err_errno("unable to wait for records in the rings") : all;
}

int live_empty(const struct live *l)
{
	for (unsigned i = 0; i < l->merge.n; i++)
		if ((i >= l->ncpus || l->cpu[i].fd >= 0) && !l->cpu[i].empty)
			return 0;
	return 1;
}

int live_done(const struct live *l)
{
	return live_empty(l) && !l->held;
}

const struct record *live_next(struct live *l, int64_t *lost)
{
	const struct record *r = merge_next(&l->merge, lost);

	if (r)
		l->look = l->cpu[l->merge.run].look;
	return r;
}

static int is_event(void *unused, const struct record *r)
{
	(void)unused;
	return !record_helps(r);
}

unsigned long long live_rest(const struct live *l,
			     int (*counts)(void *, const struct record *), void *arg)
{
	unsigned long long n = 0;
	struct record r;

	counts = counts ? counts : is_event;
	for (unsigned i = 0; i < l->merge.n; i++) {
		const struct merge_cpu *cpu = &l->merge.cpus[i];
		struct backlog_at at = backlog_begin(&l->cpu[i].backlog);
		struct subbuf p = cpu->subbuf;
		const void *data;
		uint32_t look;
		size_t size;

		n += cpu->has && counts(arg, &cpu->next);
		if (l->cpu[i].open)
			backlog_next(&at, &size, &look);
		do {
			while (subbuf_next(&p, &r))
				n += counts(arg, &r) != 0;
			data = backlog_next(&at, &size, &look);
			if (data)
				subbuf_open(&p, &l->format, data, size, cpu_of(l, i));
		} while (data);
	}
	return n;
}

/* Read the stats of the CPU. They are empty if that is not possible. */
static void read_stats(const struct live *l, unsigned cpu, char *text, size_t size)
{
	ssize_t n = l->cpu[cpu].stats < 0 ? -1 : pread(l->cpu[cpu].stats, text, size - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
}

unsigned long long live_lost(const struct live *l, unsigned cpu)
{
	char text[1024];

	read_stats(l, cpu, text, sizeof(text));
	return stats_lost(text);
}

unsigned long long live_tried(const struct live *l, unsigned cpu)
{
	char text[1024];

	read_stats(l, cpu, text, sizeof(text));
	return stats_lost(text) + stats_count(text, "entries: ") +
	       stats_count(text, "read events: ");
}

int live_has(const struct live *l, unsigned long long bytes)
{
	char text[1024];

	for (unsigned i = 0; i < l->rings.n; i++)
		if (ring_bytes(&l->rings.v[i]) >= bytes)
			return 1;
	for (unsigned i = 0; i < l->ncpus; i++) {
		read_stats(l, i, text, sizeof(text));
		if (stats_count(text, "bytes: ") >= bytes)
			return 1;
	}
	return 0;
}

void live_close(struct live *l)
{
	for (unsigned i = 0; i < l->merge.n; i++) {
		if (i < l->ncpus) {
			close(l->cpu[i].fd);
			close(l->cpu[i].stats);
		}
		backlog_free(&l->cpu[i].backlog, &l->memory);
	}
	free(l->cpu);
	free(l->merge.cpus);
	*l = (struct live){ 0 };
}
