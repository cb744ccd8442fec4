/* SPDX-License-Identifier: ISC */
/*
 * flightdump.c - dumps: what a buffer holds, in files that are whole or not there
 *
 * Each is written under another name and gets its own at the end, with those of the
 * other processors, or is removed. Of a text that has a limit two files are kept,
 * each up to half of it, of which the older makes room, and they are one in the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"
#include "tracedat/tracedat.h"
#include "view/view.h"
#include "flight/flight.h"

#define CHUNK (64 * 1024)
/* So many names of a dump may be taken. */
#define NAMES_TRIED 1000

/* One file of the dump that is being made. */
struct part {
	int fd;                 /* -1: none yet */
	size_t n, nevents;      /* of text, not written yet */
	char *text;
	uint64_t size;          /* of what is written */
	unsigned long long events;
	/* the file before, when that reached half of the limit; -1 there is none */
	int before;
	unsigned long long events_before, cut;
	int other;              /* which of its two names it has */
};

int flight_dumps_open(struct flight_dumps *d, const char *path)
{
	char **names, **n;

	if (!realpath(path, d->path) ||
	    (d->dir = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_errno("unable to open %s", path);
	/* two would give their dumps the same numbers; not every file system can lock */
	if (flock(d->dir, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_msg("another tfs-flight dumps into %s", path);
	/* others' dumps stay */
	names = file_names(d->path);
	if (!names)
		return err_errno("unable to list %s", path);
	for (n = names; n && *n; n++) {
		const char *digits = *n + strlen(DUMP_PREFIX);
		unsigned long number;

		if (strncmp(*n, DUMP_PREFIX, strlen(DUMP_PREFIX)))
			continue;
		number = (unsigned long)text_digits(&digits);
		if (number > d->number)
			d->number = number;
	}
	free(names);
	return 0;
}

int flight_dumps_begin(struct flight_dumps *d, unsigned cpus)
{
	d->cpus = cpus;
	d->nparts = d->per_cpu ? cpus : 1;
	d->parts = calloc(d->nparts, sizeof(*d->parts));
	d->chunk = d->most && d->most / 8 < CHUNK ? (size_t)d->most / 8 : CHUNK;
	return d->parts ? 0 : err_msg("out of memory");
}

/* ---- the files of a dump ------------------------------------------------- */

static void begin_parts(struct flight_dumps *d)
{
	for (unsigned i = 0; i < d->nparts; i++) {
		char *text = d->parts[i].text;

		d->parts[i] = (struct part){ .fd = -1, .before = -1, .text = text };
	}
	d->failed = 0;
}

static const char *temporary(const struct flight_dumps *d, const struct part *p, int other)
{
	static char name[40];

	str_format(name, sizeof(name), ".dump.%u.%d", (unsigned)(p - d->parts), other);
	return name;
}

static void name_dump(char *name, size_t size, unsigned long number, int cpu)
{
	size_t n = str_format(name, size, DUMP_PREFIX "%lu", number);

	if (cpu >= 0)
		str_format(name + n, size - n, ".cpu%d", cpu);
}

static int open_part(struct flight_dumps *d, struct part *p)
{
	const char *name = temporary(d, p, p->other);

	if (!p->text && !(p->text = malloc(CHUNK)))
		return -1;
	unlinkat(d->dir, name, 0); /* of one that was killed */
	p->fd = openat(d->dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	p->size = 0;
	p->events = 0;
	return p->fd;
}

/* Half of the limit is full: the file before it goes, and a new one begins. */
static void turn(struct flight_dumps *d, struct part *p)
{
	if (p->before >= 0) {
		close(p->before);
		p->cut += p->events_before;
	}
	p->before = p->fd;
	p->events_before = p->events;
	p->other ^= 1;
	if (open_part(d, p) < 0)
		d->failed = errno;
}

static void write_part(struct flight_dumps *d, struct part *p)
{
	if (d->most && p->size && p->size + p->n > d->most / 2)
		turn(d, p);
	if (!d->failed && fd_write_all(p->fd, p->text, p->n) < 0)
		d->failed = errno;
	p->size += p->n;
	p->events += p->nevents;
	p->n = p->nevents = 0;
}

/* What was written last goes behind what was written before it. */
static void join(struct flight_dumps *d, struct part *p)
{
	ssize_t n = 0;
	off_t at = 0;

	if (p->before < 0)
		return;
	while (!d->failed && (n = pread(p->fd, p->text, CHUNK, at)) > 0) {
		if (fd_write_all(p->before, p->text, (size_t)n) < 0)
			d->failed = errno;
		at += n;
	}
	if (n < 0)
		d->failed = errno;
	n = (ssize_t)str_format(p->text, CHUNK, "# %llu events before these are left out, a dump "
				"holds %llu KB\n", p->cut, (unsigned long long)d->most / 1024);
	if (!d->failed && p->cut && fd_write_all(p->before, p->text, (size_t)n) < 0)
		d->failed = errno;
	d->cut += p->cut;
	unlinkat(d->dir, temporary(d, p, p->other), 0);
	close(p->fd);
	p->fd = p->before;
	p->other ^= 1;
	p->events += p->events_before;
}

/* A line for whoever reads. */
static void tell(const struct flight_dumps *d, const char *text, const char *more)
{
	char line[2 * PATH_MAX];
	size_t n = str_format(line, sizeof(line), "%s%s\n", text, more);

	while (write(d->out, line, n) < 0 && errno == EINTR)
		;
}

/* The oldest dump that was kept is one too many. */
static void remove_oldest(const struct flight_dumps *d)
{
	char name[64];

	for (int cpu = -1; d->number > d->keep && cpu < (int)d->cpus; cpu++) {
		name_dump(name, sizeof(name), d->number - d->keep, cpu);
		unlinkat(d->dir, name, 0);
	}
}

/* include/uapi/linux/fs.h; musl has no name for it */
#define NO_REPLACE 1

/* Rename, and let nothing that is there make room. Not every file system has a call for it. */
static int rename_new(int dir, const char *from, const char *to)
{
	struct stat st;

	if (!syscall(SYS_renameat2, dir, from, dir, to, NO_REPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (!fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW)) {
		errno = EEXIST;
		return -1;
	}
	return renameat(dir, from, dir, to);
}

static void name_part(const struct flight_dumps *d, const struct part *p, char *name, size_t size)
{
	name_dump(name, size, d->number, d->per_cpu ? (int)(p - d->parts) : -1);
}

/* Give all files their names of this number. -1 and errno: none has one. */
static int name_parts(const struct flight_dumps *d)
{
	char name[64];

	for (struct part *p = d->parts; p < d->parts + d->nparts; p++) {
		int why;

		if (p->fd < 0)
			continue;
		name_part(d, p, name, sizeof(name));
		if (!rename_new(d->dir, temporary(d, p, p->other), name))
			continue;
		why = errno;
		while (p-- > d->parts) {
			if (p->fd < 0)
				continue;
			name_part(d, p, name, sizeof(name));
			if (renameat(d->dir, name, d->dir, temporary(d, p, p->other)) < 0)
				unlinkat(d->dir, name, 0);
		}
		errno = why;
		return -1;
	}
	return 0;
}

/* The file is in no dump: it goes, and its events are counted. */
static void drop_part(struct flight_dumps *d, struct part *p)
{
	if (p->before >= 0) {
		close(p->before);
		p->before = -1;
		unlinkat(d->dir, temporary(d, p, !p->other), 0);
		p->events += p->events_before;
	}
	d->cut += p->events + p->nevents;
	if (p->fd >= 0)
		unlinkat(d->dir, temporary(d, p, p->other), 0);
}

/* Its files get their names, all of them or none. */
static void end_parts(struct flight_dumps *d)
{
	char name[64], text[PATH_MAX];
	unsigned files = 0;

	for (unsigned i = 0; i < d->nparts; i++) {
		struct part *p = &d->parts[i];

		if (p->fd >= 0 && (p->n || p->nevents))
			write_part(d, p);
		if (p->fd >= 0)
			join(d, p);
		if (p->fd >= 0 && close(p->fd) < 0)
			d->failed = errno;
		files += p->fd >= 0;
	}
	if (!d->failed && !files && d->skip_empty)
		return;
	/* a name that somebody has taken since we began: the next number is free */
	for (unsigned i = 0; !d->failed && i < NAMES_TRIED; i++) {
		d->number++;
		if (!name_parts(d))
			break;
		if ((errno != EEXIST && errno != ENOTEMPTY && errno != EISDIR) ||
		    i == NAMES_TRIED - 1) {
			d->failed = errno;
			d->number -= i + 1;
		}
	}
	for (struct part *p = d->parts; p < d->parts + d->nparts; p++) {
		if (d->failed) {
			drop_part(d, p);
		} else if (p->fd >= 0) {
			name_part(d, p, name, sizeof(name));
			str_format(text, sizeof(text), "%s/%s", d->path, name);
			tell(d, text, "");
		}
	}
	if (!d->failed) {
		remove_oldest(d);
		return;
	}
	str_format(text, sizeof(text), "# unable to write a dump to %s: ", d->path);
	tell(d, text, strerror(d->failed));
	errno = d->failed;
	err_errno("unable to write a dump to %s", d->path);
}

/* ---- text ---------------------------------------------------------------- */

static void begin_text(struct flight_dumps *d, struct part *p, const struct show *show)
{
	if (open_part(d, p) < 0)
		d->failed = errno;
	else
		p->n = show_header(show, d->cpus, p->text, CHUNK);
}

static void put(struct flight_dumps *d, struct show *show, const struct record *r, int64_t lost)
{
	struct part *p = &d->parts[d->per_cpu ? r->cpu : 0];
	static char aside[SHOW_ROOM];
	size_t n;
	int shown;

	/* which processor's files there are only the text tells */
	n = show_record(show, r, lost, aside, sizeof(aside), &shown);
	if (n && p->fd < 0 && !d->failed)
		begin_text(d, p, show);
	if (p->n + n > d->chunk)
		write_part(d, p);
	p->nevents += (unsigned)shown;
	if (d->failed || !n)
		return;
	memcpy(p->text + p->n, aside, n);
	p->n += n;
}

/* Show what is of this time or later; time 0: all. */
static void begin_show(struct live_kernel *kernel, struct show *show, uint64_t from)
{
	show->pick.begin = (struct pick_time){
		.given = from > 0, .digits = 9,
		.whole = from / 1000000000, .nano = (uint32_t)(from % 1000000000),
	};
	live_kernel_refresh(kernel);
	show_begin(show, &kernel->line);
}

void flight_dump_text(struct flight_dumps *d, struct live *live, struct live_kernel *kernel, struct show *show,
		      uint64_t from)
{
	const struct record *r;
	int64_t lost;
	long n;

	begin_parts(d);
	begin_show(kernel, show, from);
	do {
		n = live_fill(live);
		while ((r = live_next(live, &lost)))
			put(d, show, r, lost);
	} while (n > 0 || (!n && live->held));
	if (n < 0)
		d->failed = EIO;
	/* while it did not record, somebody may have got another name */
	kernel->line.told += kernel->line.told != 0;
	if (d->parts->fd < 0 && !d->failed && !d->per_cpu && !d->skip_empty)
		begin_text(d, d->parts, show);
	end_parts(d);
}

/* ---- to a reader ----------------------------------------------------------- */

/*
 * Open out anew, to write only: with a descriptor that reads as well one cannot see
 * whether somebody else reads. 1: somebody does.
 */
static int only_write(struct flight_dumps *d)
{
	char path[PATH_MAX];
	struct pollfd p = { 0 };

	if (d->out == STDOUT_FILENO)
		return 0;
	str_format(path, sizeof(path), "%s/self/fd/%d", path_procfs(), d->out);
	p.fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (p.fd < 0)
		return 0;
	if (d->packets)
		fcntl(p.fd, F_SETFL, O_NONBLOCK | O_DIRECT);
	close(d->out);
	d->out = p.fd;
	return poll(&p, 1, 0) >= 0 && !(p.revents & POLLERR);
}

/* As fd_write_all, and wait until there is room. */
static void write_out(struct flight_dumps *d, const char *text, size_t n)
{
	struct pollfd p = { .fd = d->out, .events = POLLOUT };

	while (n && !d->failed) {
		size_t most = d->packets ? text_line_length(text, n) : n;
		ssize_t done = write(d->out, text, most);

		if (done >= 0) {
			text += done;
			n -= (size_t)done;
		} else if (errno == EAGAIN) {
			poll(&p, 1, -1);
		} else if (errno != EINTR) {
			d->failed = errno;
		}
	}
}

int flight_dump_out(struct flight_dumps *d, struct live *live, struct live_kernel *kernel, struct show *show,
		    uint64_t from)
{
	static char text[CHUNK], aside[SHOW_ROOM];
	const struct record *r;
	size_t len, begun = 0;
	int64_t lost;
	int shown;
	long n;

	if (!only_write(d))
		return 0;
	d->failed = 0;
	begin_show(kernel, show, from);
	do {
		n = live_fill(live);
		while ((r = live_next(live, &lost))) {
			len = show_record(show, r, lost, aside, sizeof(aside), &shown);
			if (len && !begun++)
				write_out(d, text, show_header(show, d->cpus, text, CHUNK));
			write_out(d, aside, len);
			d->cut += d->failed && shown;
		}
	} while (n > 0 || (!n && live->held));
	return 1;
}

/* ---- trace.dat ----------------------------------------------------------- */

/* Does the page hold a record of that time or later? */
static int reaches(const struct live *live, const void *data, uint64_t from)
{
	struct record r = { 0 };
	struct subbuf page;

	subbuf_open(&page, &live->format, data, live->page, 0);
	while (subbuf_next(&page, &r))
		;
	return r.data && r.ts >= from;
}

/* The head, and the table of where whose pages are. */
static void put_head(struct flight_dumps *d, struct part *p, const struct dat_head *head,
		     struct bytes *text, const uint64_t *offset, const uint64_t *size)
{
	size_t n = text->n;

	dat_table(head, text, offset, size);
	if (pwrite(p->fd, text->v, text->n, 0) != (ssize_t)text->n ||
	    ftruncate(p->fd, (off_t)p->size) < 0)
		d->failed = errno;
	text->n = n;
}

static void put_page(struct flight_dumps *d, struct part *p, const struct live *live,
		     const char *data)
{
	size_t page = live->page;
	ssize_t n = 0;

	p->events += subbuf_count(&live->format, data, page);
	if (!d->failed && (n = pwrite(p->fd, data, page, (off_t)p->size)) != (ssize_t)page)
		d->failed = n < 0 ? errno : ENOSPC;
	p->size += page;
}

void flight_dump_raw(struct flight_dumps *d, struct live *live, struct dat_head *head, uint64_t from)
{
	unsigned cpus = head->cpus;
	uint64_t *offset = calloc(2 * cpus, sizeof(*offset)), *size = offset + cpus, begin;
	char *data = malloc(live->page);
	struct bytes text = { 0 };

	begin_parts(d);
	if (offset && data) {
		dat_look(head, 1);
		dat_head(head, &text, SIZE_MAX);
	}
	if (!offset || !data || text.failed) {
		d->failed = ENOMEM; /* what the buffer holds stays in it */
		cpus = 0;
	}
	begin = (text.n + dat_table_size(head) + live->page - 1) / live->page *
		live->page;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		struct part *p = &d->parts[d->per_cpu ? cpu : 0];

		if (d->per_cpu)
			memset(offset, 0, 2 * cpus * sizeof(*offset));
		offset[cpu] = p->fd < 0 ? begin : p->size;
		while (live_page(live, cpu, data) > 0) {
			if (!reaches(live, data, from))
				continue;
			if (p->fd < 0 && !d->failed) {
				if (open_part(d, p) < 0)
					d->failed = errno;
				p->size = begin;
			}
			put_page(d, p, live, data);
		}
		size[cpu] = p->fd < 0 ? 0 : p->size - offset[cpu];
		if (d->per_cpu && p->fd >= 0 && !d->failed)
			put_head(d, p, head, &text, offset, size);
	}
	if (!d->per_cpu && d->parts->fd < 0 && !d->failed && !d->skip_empty) {
		if (open_part(d, d->parts) < 0)
			d->failed = errno;
		d->parts->size = begin;
	}
	if (!d->per_cpu && d->parts->fd >= 0 && !d->failed)
		put_head(d, d->parts, head, &text, offset, size);
	end_parts(d);
	dat_forget(head);
	free(text.v);
	free(offset);
	free(data);
}
