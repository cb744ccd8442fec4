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

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"

/* Bytes of the shortest record: its header, and four bytes. */
#define LEAST 8

/* Bytes of sub-buffers that are held per CPU; four sub-buffers at least. */
#define HELD_BYTES (128 * 1024)

/* Return the memory of the sub-buffer i of those that are held of a CPU, oldest first. */
static unsigned char *held_subbuf(const struct live *l, const struct live_cpu *h, unsigned i)
{
	return h->subbufs + (h->first + i) % l->room * l->subbuf_size;
}

/* Open the next sub-buffer of CPU i for the merge (merge.more); it has given the last one. */
static int next_subbuf(void *arg, unsigned i, struct subbuf *subbuf)
{
	struct live *l = arg;
	struct live_cpu *h = &l->cpu[i];

	if (h->open) {
		h->open = 0;
		h->n--;
		/* when empty begin at the start again: untouched memory stays untouched */
		h->first = h->n ? (h->first + 1) % l->room : 0;
		l->held--;
		if (h->old) {
			h->old--;
			l->old--;
		}
	}
	if (!h->n)
		return h->empty ? MERGE_NONE : MERGE_LATER;
	h->open = 1;
	subbuf_open(subbuf, &l->format, held_subbuf(l, h, 0), l->subbuf_size, (int)i);
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
	l->room = (unsigned)(HELD_BYTES / l->subbuf_size > 4 ? HELD_BYTES / l->subbuf_size : 4);

	per_cpu = openat(dir, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (per_cpu < 0)
		return err_file("unable to open per_cpu");
	file_raise_limit(); /* two per CPU are more than the usual 1024 with 512 CPUs */
	l->ncpus = instance_cpu_count(per_cpu);
	l->cpu = calloc(l->ncpus, sizeof(*l->cpu));
	l->merge = (struct merge){
		.cpus = calloc(l->ncpus, sizeof(*l->merge.cpus)),
		.n = l->ncpus,
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

/*
 * Read sub-buffers of one CPU until its ring buffer is empty or there is no more room. Return
 * how many, or -1, reported.
 */
static long fill(struct live *l, struct live_cpu *h)
{
	unsigned long long most = l->subbuf_size / LEAST, known = 0;
	long n = 0;

	h->empty = 0;
	for (; h->n < l->room; known -= known < most ? known : most) {
		unsigned char *data;
		int got;

		if (!known && !(known = records(h))) {
			h->empty = 1;
			break;
		}
		if (!h->subbufs && !(h->subbufs = malloc(l->room * l->subbuf_size)))
			return err_msg("out of memory");
		data = held_subbuf(l, h, h->n);
		got = take(l, h, data);
		if (got <= 0) {
			h->empty = 1;
			if (got < 0)
				return -1;
			break;
		}
		h->n++;
		n++;
	}
	return n;
}

long live_fill(struct live *l)
{
	long n = 0;

	l->old = l->held;
	l->merge.running = 0; /* a CPU that had no record may be first now */
	for (unsigned i = 0; i < l->ncpus; i++) {
		struct live_cpu *h = &l->cpu[i];
		long more;

		h->old = h->n;
		l->merge.cpus[i].none = 0;
		more = h->fd < 0 ? 0 : fill(l, h);
		if (more < 0)
			return -1;
		n += more;
		l->held += (size_t)more;
	}
	return n;
}

int live_empty(const struct live *l)
{
	for (unsigned i = 0; i < l->ncpus; i++)
		if (l->cpu[i].fd >= 0 && !l->cpu[i].empty)
			return 0;
	return 1;
}

const struct record *live_next(struct live *l, int64_t *lost)
{
	return merge_next(&l->merge, lost);
}

unsigned long long live_rest(const struct live *l,
			     int (*counts)(void *, const struct record *), void *arg)
{
	unsigned long long n = 0;
	struct record r;

	for (unsigned i = 0; i < l->ncpus; i++) {
		const struct live_cpu *h = &l->cpu[i];
		const struct merge_cpu *cpu = &l->merge.cpus[i];
		struct subbuf p = cpu->subbuf;

		n += cpu->has && counts(arg, &cpu->next);
		for (unsigned k = (unsigned)h->open;; k++) {
			while (subbuf_next(&p, &r))
				n += counts(arg, &r) != 0;
			if (k >= h->n)
				break;
			subbuf_open(&p, &l->format, held_subbuf(l, h, k), l->subbuf_size, (int)i);
		}
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

void live_close(struct live *l)
{
	for (unsigned i = 0; i < l->ncpus; i++) {
		close(l->cpu[i].fd);
		close(l->cpu[i].stats);
		free(l->cpu[i].subbufs);
	}
	free(l->cpu);
	free(l->merge.cpus);
	*l = (struct live){ 0 };
}
