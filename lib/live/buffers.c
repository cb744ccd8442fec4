/* SPDX-License-Identifier: ISC */
/*
 * live.c - an instance's buffers, read page by page while it records
 *
 * A record that one processor made before another's may be found after it,
 * when that buffer was looked at too early. But whatever was made before a
 * record that a look found is there for the next look at all buffers, if that
 * empties them. So what a look finds is held until the next one is done.
 *
 * A page is read only when there is a record for it. Otherwise it may be that
 * all of the page that the kernel's reader is at was read, and that the writer
 * is at it still; then rb_get_reader_page (kernel/trace/ring_buffer.c) asks
 * whether there is more on it, and next whether the writer has left it. What
 * the writer puts there in between, before it leaves, nobody ever gets, and
 * nothing counts it: a processor that stands still for a moment, as a virtual
 * one does, is enough.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"

/* The shortest record: its header, and four bytes. */
#define LEAST 8

/* Bytes that a processor's pages may take; four of them at least. */
#define HELD_BYTES (128 * 1024)

/* The merge has taken all records of the lane's page: the next one. */
static int next_page(void *arg, unsigned i, struct subbuf *page)
{
	struct live *l = arg;
	struct live_cpu *h = &l->cpu[i];

	if (h->open) {
		h->open = 0;
		h->n--;
		/* from the start again: memory that was never needed stays so */
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
	subbuf_open(page, &l->format, h->pages + h->first * l->page, l->page, (int)i);
	return MERGE_SUBBUF;
}

/* -1 when there is none, as numbers may have holes; -2 said */
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

static int open_buffer(struct live_cpu *h, int per_cpu, unsigned cpu)
{
	h->fd = open_of(per_cpu, cpu, "trace_pipe_raw");
	h->stats = open_of(per_cpu, cpu, "stats");
	return h->fd < -1 || h->stats < -1 ? -1 : 0;
}

/* Two files a processor: 512 processors have more than a session's usual limit. */
static void allow_files(void)
{
	struct rlimit l;

	if (!prlimit(0, RLIMIT_NOFILE, NULL, &l)) {
		l.rlim_cur = l.rlim_max;
		prlimit(0, RLIMIT_NOFILE, &l, NULL);
	}
}

int live_open(struct live *l, int dir)
{
	size_t n = 0;
	char *text = file_read(dir, "events/header_page", &n);
	int per_cpu;

	*l = (struct live){ .format.big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };
	if (!text)
		return err_file("unable to read events/header_page");
	if (subbuf_format_parse(&l->format, text, n) < 0) {
		free(text);
		return err_msg("unable to make sense of events/header_page");
	}
	free(text);
	l->page = l->format.size;
	l->room = (unsigned)(HELD_BYTES / l->page > 4 ? HELD_BYTES / l->page : 4);

	per_cpu = openat(dir, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (per_cpu < 0)
		return err_file("unable to open per_cpu");
	allow_files();
	l->ncpus = instance_cpu_count(per_cpu);
	l->cpu = calloc(l->ncpus, sizeof(*l->cpu));
	l->merge = (struct merge){
		.lanes = calloc(l->ncpus, sizeof(*l->merge.lanes)),
		.n = l->ncpus,
		.more = next_page,
		.arg = l,
		.gate = &l->old,
	};
	if (!l->ncpus || !l->cpu || !l->merge.lanes)
		return err_msg("out of memory");
	for (unsigned i = 0; i < l->ncpus; i++)
		if (open_buffer(&l->cpu[i], per_cpu, i) < 0)
			return -1;
	close(per_cpu);
	return 0;
}

/* How many records its buffer has, by the first line of its stats; 1 if unknown. */
static unsigned long long records(const struct live_cpu *h)
{
	char text[48] = "";
	const char *p = text + strlen("entries: ");

	return pread(h->stats, text, sizeof(text) - 1, 0) < 0 ? 1 : text_digits(&p);
}

/* As live_page. */
static int take(const struct live *l, const struct live_cpu *h, unsigned char *page)
{
	ssize_t got = read(h->fd, page, l->page);

	/* ENODEV: a processor that never was there, and may come */
	if (!got || (got < 0 && (errno == EAGAIN || errno == ENODEV)))
		return 0;
	if (got < 0)
		return err_errno("unable to read trace_pipe_raw");
	memset(page + got, 0, l->page - (size_t)got);
	return 1;
}

int live_page(struct live *l, unsigned cpu, void *page)
{
	const struct live_cpu *h = &l->cpu[cpu];

	return h->fd >= 0 && records(h) ? take(l, h, page) : 0;
}

/* Pages of one processor, until its buffer is empty or there is no more room. */
static long fill(struct live *l, struct live_cpu *h)
{
	unsigned long long most = l->page / LEAST, known = 0;
	long n = 0;

	h->empty = 0;
	for (; h->n < l->room; known -= known < most ? known : most) {
		unsigned char *page;
		int got;

		if (!known && !(known = records(h))) {
			h->empty = 1;
			break;
		}
		if (!h->pages && !(h->pages = malloc(l->room * l->page)))
			return err_msg("out of memory");
		page = h->pages + (h->first + h->n) % l->room * l->page;
		got = take(l, h, page);
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
	l->merge.running = 0; /* whoever had nothing may be first now */
	for (unsigned i = 0; i < l->ncpus; i++) {
		struct live_cpu *h = &l->cpu[i];
		long more;

		h->old = h->n;
		l->merge.lanes[i].none = 0;
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
		const struct merge_lane *lane = &l->merge.lanes[i];
		struct subbuf p = lane->page;

		n += lane->has && counts(arg, &lane->next);
		for (unsigned k = (unsigned)h->open;; k++) {
			while (subbuf_next(&p, &r))
				n += counts(arg, &r) != 0;
			if (k >= h->n)
				break;
			subbuf_open(&p, &l->format, h->pages + (h->first + k) % l->room * l->page,
				    l->page, (int)i);
		}
	}
	return n;
}

void live_close(struct live *l)
{
	for (unsigned i = 0; i < l->ncpus; i++) {
		close(l->cpu[i].fd);
		close(l->cpu[i].stats);
		free(l->cpu[i].pages);
	}
	free(l->cpu);
	free(l->merge.lanes);
	*l = (struct live){ 0 };
}
