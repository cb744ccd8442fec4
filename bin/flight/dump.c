/* SPDX-License-Identifier: ISC */
/*
 * dump.c - write dumps, each of them complete or absent
 *
 * A dump is written to files with temporary names. At the end all its files get their
 * final names, or all are removed. A text with a limit is written to two files, each up to
 * half of the limit: when the newer one is full, it replaces the older one. At the end the
 * newer is appended to the older.
 */
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"
#include "tracedat/tracedat.h"
#include "show/show.h"
#include "flight.h"

#define CHUNK (64 * 1024)
/* A name with a longer number is not that of a dump. */
#define NUMBER_DIGITS 9
/* How many dump numbers to try if another program has made files with their names. */
#define NAMES_TRIED 1000

/* One file of the dump in progress. */
struct part {
	int fd;                 /* -1: none yet */
	size_t n, nevents;      /* bytes and events in text, not written yet */
	char *text;
	uint64_t size;          /* bytes written to fd */
	unsigned long long events; /* events in fd */
	int before;             /* the full older half; -1: none */
	unsigned long long events_before, cut; /* events in before, and in removed halves */
	int other;              /* 0 or 1: which of the two temporary names fd has */
};

int flight_dumps_open(struct flight_dumps *d, const char *path)
{
	char **names, **n;

	if (!realpath(path, d->path) ||
	    (d->dir = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_errno("unable to open %s", path);
	/* two recorders would use the same numbers; not every file system can lock */
	if (flock(d->dir, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_msg("another tfs-flight dumps into %s", path);
	/* keep the existing dumps, and count on from the highest number */
	names = file_names(d->path);
	if (!names)
		return err_errno("unable to list %s", path);
	for (n = names; n && *n; n++) {
		const char *digits = *n + strlen(DUMP_PREFIX);
		unsigned long number;

		if (strncmp(*n, DUMP_PREFIX, strlen(DUMP_PREFIX)) ||
		    strspn(digits, "0123456789") > NUMBER_DIGITS)
			continue;
		number = (unsigned long)text_digits(&digits);
		if (number > d->number)
			d->number = number;
	}
	d->oldest = d->number + 1;
	free(names);
	return 0;
}

/* Take the limits that a manager gives: a number of files, and of KB in total. */
static int limit_dumps(struct flight_dumps *d, const char *most)
{
	unsigned long files;

	if (!most)
		return 0;
	files = (unsigned long)text_digits(&most) / d->nparts;
	most += *most == ' ';
	d->total = KB_BYTES((unsigned long)text_digits(&most));
	if (!files)
		return err_msg("each dump has up to %u files, and fewer are allowed; leave out "
			       "--per-cpu, remove files of ended sessions, or see tfs-policy(5)",
			       d->nparts);
	if (d->keep > files)
		d->keep = files;
	if (!d->most || d->most > d->total / d->nparts)
		d->most = d->total / d->nparts;
	return 0;
}

int flight_dumps_begin(struct flight_dumps *d, unsigned cpus)
{
	d->cpus = cpus;
	d->nparts = d->per_cpu ? cpus : 1;
	if (limit_dumps(d, getenv(DUMPS_MOST)) < 0)
		return -1;
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
	unlinkat(d->dir, name, 0); /* a killed recorder may have left it */
	p->fd = openat(d->dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	p->size = 0;
	p->events = 0;
	return p->fd;
}

/* Drop the older half of a limited text, and begin a new file. */
static void drop_older_half(struct flight_dumps *d, struct part *p)
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
		drop_older_half(d, p);
	if (!d->failed && fd_write_all(p->fd, p->text, p->n) < 0)
		d->failed = errno;
	p->size += p->n;
	p->events += p->nevents;
	p->n = p->nevents = 0;
}

/* Append the newer half of a limited text to the older half, and a line with the cut events. */
static void join_halves(struct flight_dumps *d, struct part *p)
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
	n = (ssize_t)str_format(p->text, CHUNK, "# %llu older events are left out, because a "
				"dump holds %llu KB\n", p->cut,
				(unsigned long long)d->most / 1024);
	if (!d->failed && p->cut && fd_write_all(p->before, p->text, (size_t)n) < 0)
		d->failed = errno;
	d->cut += p->cut;
	unlinkat(d->dir, temporary(d, p, p->other), 0);
	close(p->fd);
	p->fd = p->before;
	p->other ^= 1;
	p->events += p->events_before;
}

/* Write a line to the reader of out. */
static void tell_reader(const struct flight_dumps *d, const char *text, const char *more)
{
	char line[2 * PATH_MAX];
	size_t n = str_format(line, sizeof(line), "%s%s\n", text, more);

	while (write(d->out, line, n) < 0 && errno == EINTR)
		;
}

/* Remove this dump, with the files of all its CPUs. */
static void remove_dump(const struct flight_dumps *d, unsigned long number)
{
	char name[64];

	for (int cpu = -1; cpu < (int)d->cpus; cpu++) {
		name_dump(name, sizeof(name), number, cpu);
		unlinkat(d->dir, name, 0);
	}
}

/* Return the number of bytes of all dumps. */
static uint64_t dumped_bytes(const struct flight_dumps *d)
{
	uint64_t bytes = 0;
	char name[64];
	struct stat st;

	for (unsigned long number = d->oldest; number <= d->number; number++)
		for (int cpu = -1; cpu < (int)d->cpus; cpu++) {
			name_dump(name, sizeof(name), number, cpu);
			if (!fstatat(d->dir, name, &st, AT_SYMLINK_NOFOLLOW))
				bytes += (uint64_t)st.st_size;
		}
	return bytes;
}

/* Remove the dump that `keep` no longer allows, and old dumps until a manager's limits hold. */
static void remove_oldest(struct flight_dumps *d)
{
	if (d->number > d->keep)
		remove_dump(d, d->number - d->keep);
	for (; d->total && d->oldest < d->number; d->oldest++) {
		if (d->number - d->oldest < d->keep && dumped_bytes(d) <= d->total)
			return;
		remove_dump(d, d->oldest);
	}
}

/* Is the dump in progress larger than all dumps may be? */
static int is_too_large(const struct flight_dumps *d)
{
	uint64_t bytes = 0;
	struct stat st;

	for (const struct part *p = d->parts; d->total && p < d->parts + d->nparts; p++)
		if (p->fd >= 0 && !fstat(p->fd, &st))
			bytes += (uint64_t)st.st_size;
	return bytes > d->total;
}

/*
 * Rename, and fail with EEXIST if the new name exists. A file system without
 * RENAME_NOREPLACE leaves a short race.
 */
static int rename_new(int dir, const char *from, const char *to)
{
	struct stat st;

	if (!syscall(SYS_renameat2, dir, from, dir, to, K_RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (!fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW)) {
		errno = EEXIST;
		return -1;
	}
	return renameat(dir, from, dir, to);
}

/* Make the final name of the file. */
static void name_part(const struct flight_dumps *d, const struct part *p, char *name, size_t size)
{
	name_dump(name, size, d->number, d->per_cpu ? (int)(p - d->parts) : -1);
}

/* Give all files their final names. Return 0; or -1 and errno, and then no file has one. */
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

/* Remove the file, and count its events as cut. */
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

/*
 * Print to text the line with the number of events that a CPU, or all CPUs, lost. Return its
 * length.
 */
static size_t put_losses(const struct flight_dumps *d, const struct part *p,
			 const struct flight_take *take, const struct show *show, char *text,
			 size_t size)
{
	struct losses l = { .unwritten = d->per_cpu ? p->cut : d->cut };

	l.overwritten = flight_take_lost(take, d->per_cpu ? (int)(p - d->parts) : -1);
	return show_losses(show, &l, text, size);
}

/*
 * Complete the dump: give all files their final names, or remove all files. show is NULL for a
 * trace.dat, which has the number of lost events in its head.
 */
static void end_parts(struct flight_dumps *d, const struct flight_take *take,
		      const struct show *show)
{
	char name[64], text[PATH_MAX];
	unsigned files = 0;

	for (unsigned i = 0; i < d->nparts; i++) {
		struct part *p = &d->parts[i];

		if (p->fd >= 0 && (p->n || p->nevents))
			write_part(d, p);
		if (p->fd >= 0)
			join_halves(d, p);
		if (p->fd >= 0 && show &&
		    fd_write_all(p->fd, text, put_losses(d, p, take, show, text,
							 sizeof(text))) < 0)
			d->failed = errno;
		files += p->fd >= 0;
	}
	if (is_too_large(d) && !d->failed)
		d->failed = EFBIG;
	for (struct part *p = d->parts; p < d->parts + d->nparts; p++)
		if (p->fd >= 0 && close(p->fd) < 0)
			d->failed = errno;
	if (!d->failed && !files && d->skip_empty)
		return;
	/* if another program has made a file of this name meanwhile, try the next number */
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
			tell_reader(d, text, "");
		}
	}
	if (!d->failed) {
		remove_oldest(d);
		return;
	}
	str_format(text, sizeof(text), "# unable to write a dump to %s: ", d->path);
	tell_reader(d, text, strerror(d->failed));
	errno = d->failed;
	err_errno("unable to write a dump to %s", d->path);
}

/* ---- text ---------------------------------------------------------------- */

/* Write the comment lines of the head to text (CHUNK bytes), and return their length. */
static size_t put_head_lines(const struct flight_dumps *d, const struct show *show, char *text)
{
	size_t n = show_header(show, d->cpus, text, CHUNK);

	return n + show_date(show, -1, text + n, CHUNK - n);
}

static void begin_text(struct flight_dumps *d, struct part *p, const struct show *show)
{
	if (open_part(d, p) < 0)
		d->failed = errno;
	else
		p->n = put_head_lines(d, show, p->text);
}

static void put_record(struct flight_dumps *d, struct show *show, const struct record *r,
		       int64_t lost)
{
	struct part *p = &d->parts[d->per_cpu ? r->cpu : 0];
	static char record_text[SHOW_ROOM];
	size_t n;
	int shown;

	/* a CPU gets a file only if its records make text */
	n = show_record(show, r, lost, record_text, sizeof(record_text), &shown);
	if (n && p->fd < 0 && !d->failed)
		begin_text(d, p, show);
	if (p->n + n > d->chunk)
		write_part(d, p);
	p->nevents += (unsigned)shown;
	if (d->failed || !n)
		return;
	memcpy(p->text + p->n, record_text, n);
	p->n += n;
}

/* Show only records from this time on; 0: all. */
static void begin_show(struct live_kernel *kernel, struct show *show, uint64_t from)
{
	show->pick.begin = (struct pick_time){
		.given = from > 0, .digits = 9,
		.whole = from / 1000000000, .nano = (uint32_t)(from % 1000000000),
	};
	live_kernel_refresh(kernel);
	show_begin(show, &kernel->line);
}

void flight_dump_text(struct flight_dumps *d, struct flight_take *take,
		      struct live_kernel *kernel, struct show *show, uint64_t from,
		      uint64_t least, int last)
{
	const struct record *r;
	int64_t lost;

	begin_parts(d);
	if (flight_take_begin(take, least, last) < 0) {
		d->failed = ENOMEM;
	} else {
		begin_show(kernel, show, from);
		while ((r = flight_take_record(take, &lost)))
			put_record(d, show, r, lost);
		flight_take_end(take);
	}
	if (d->parts->fd < 0 && !d->failed && !d->per_cpu && !d->skip_empty)
		begin_text(d, d->parts, show);
	end_parts(d, take, show);
}

/* ---- to a reader ----------------------------------------------------------- */

/*
 * Open out again, write-only, because poll(2) does not show whether a FIFO has another
 * reader while this process can read it as well. Return 1 if it has a reader, else 0.
 */
static int reopen_write_only(struct flight_dumps *d)
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

/* Write as fd_write_all does, but wait while the FIFO is full. */
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

int flight_dump_out(struct flight_dumps *d, struct flight_take *take,
		    struct live_kernel *kernel, struct show *show, uint64_t from)
{
	static char text[CHUNK], record_text[SHOW_ROOM];
	const struct record *r;
	size_t len, begun = 0;
	int64_t lost;
	int shown;

	if (!reopen_write_only(d) || flight_take_begin(take, 0, 1) < 0)
		return 0;
	d->failed = 0;
	begin_show(kernel, show, from);
	while ((r = flight_take_record(take, &lost))) {
		len = show_record(show, r, lost, record_text, sizeof(record_text), &shown);
		if (len && !begun++)
			write_out(d, text, put_head_lines(d, show, text));
		write_out(d, record_text, len);
		d->cut += d->failed && shown;
	}
	write_out(d, text, put_losses(d, d->parts, take, show, text, sizeof(text)));
	flight_take_end(take);
	return 1;
}

/* ---- trace.dat ----------------------------------------------------------- */

/* Does the sub-buffer hold a record from this time on? */
static int has_record_from(const struct live *live, const void *data, uint64_t from)
{
	struct record r = { 0 };
	struct subbuf subbuf;

	subbuf_open(&subbuf, &live->format, data, live->subbuf_size, 0);
	while (subbuf_next(&subbuf, &r))
		;
	return r.data && r.ts >= from;
}

/* Write the head of the trace.dat, and the table with the offset of each CPU's sub-buffers. */
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

static void put_subbuf(struct flight_dumps *d, struct part *p, const struct live *live,
		       const void *data)
{
	size_t size = live->subbuf_size;
	ssize_t n = 0;

	p->events += subbuf_count(&live->format, data, size);
	if (!d->failed && (n = pwrite(p->fd, data, size, (off_t)p->size)) != (ssize_t)size)
		d->failed = n < 0 ? errno : ENOSPC;
	p->size += size;
}

/* Return the offset of the first sub-buffer, after the head and the table. */
static uint64_t begin_of_subbufs(const struct dat_head *head, const struct bytes *text,
				 const struct live *live)
{
	return (text->n + dat_table_size(head) + live->subbuf_size - 1) / live->subbuf_size *
	       live->subbuf_size;
}

void flight_dump_raw(struct flight_dumps *d, struct flight_take *take, struct dat_head *head,
		     uint64_t from, uint64_t least, int last)
{
	const struct live *live = &take->live;
	unsigned cpus = head->cpus, taken;
	uint64_t *offset = calloc(2 * cpus, sizeof(*offset)), *size = offset + cpus, begin;
	struct bytes text = { 0 };
	const void *data;

	begin_parts(d);
	if (offset) {
		dat_look(head, 1);
		head->only = 0;
		head->unwritten = d->per_cpu ? 0 : d->cut;
		dat_head(head, &text, SIZE_MAX);
	}
	taken = offset && !text.failed && !flight_take_begin(take, least, last);
	if (!taken) {
		d->failed = ENOMEM; /* leave the records in the ring buffer */
		cpus = 0;
	}
	begin = begin_of_subbufs(head, &text, live);
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		struct part *p = &d->parts[d->per_cpu ? cpu : 0];

		if (d->per_cpu) {
			memset(offset, 0, 2 * cpus * sizeof(*offset));
			/* a file of one CPU has the stats of this CPU */
			head->only = cpu + 1;
			dat_head(head, &text, SIZE_MAX);
			begin = begin_of_subbufs(head, &text, live);
			if (text.failed)
				d->failed = ENOMEM;
		}
		offset[cpu] = p->fd < 0 ? begin : p->size;
		while ((data = flight_take_subbuf(take, cpu))) {
			if (!has_record_from(live, data, from))
				continue;
			if (p->fd < 0 && !d->failed) {
				if (open_part(d, p) < 0)
					d->failed = errno;
				p->size = begin;
			}
			put_subbuf(d, p, live, data);
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
	if (taken)
		flight_take_end(take);
	end_parts(d, take, NULL);
	dat_forget(head);
	free(text.v);
	free(offset);
}
