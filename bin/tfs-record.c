/* SPDX-License-Identifier: ISC */
/*
 * tfs-record - record an instance's raw trace into a trace.dat until told to stop
 *
 * Requires: tracefs; no other reader of the instance's buffer.
 *	-m KB        no file is larger than KB kilobytes; what does not fit stays
 *	             in the buffer and is counted
 *	-n FILES     with -m: a file that is full is kept and the next begun; the
 *	             newest is FILE, then FILE.1 and so on, FILES of them in all
 *	-R ROOT      take ROOT for the tracefs root, unchecked
 *	-i INSTANCE  the trace of this instance; default $TFS_INSTANCE
 * HUP INT TERM USR1 tell it to stop: it records what the buffer still holds,
 * and then FILE appears, whole. If any event did not get through, a line on
 * standard error tells how many; recorded and lost are all there were.
 * Exit: 0 stopped, 100 misused, 111 refused, or the disk was full.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracedat.h"

static const struct tool tool = {
	.name = "tfs-record",
	.usage = "tfs-record [-m KB] [-n FILES] [-R ROOT] [-i INSTANCE] FILE",
	.purpose = "record an instance's raw trace into a trace.dat until told to stop",
	.letters = "m:n:R:i:",
};

/*
 * The kernel wakes us when the buffer of a processor is half full
 * (buffer_percent). Where it does so at each event instead, before 6.1 or told
 * to, we look away for this long after we got little.
 */
#define GATHER_MS 5

/* How often to look for names that are new: soon after many were, then less. */
#define LOOK_MS 100
#define LOOK_MOST_MS 1000

/* Room for names that come in the course of a recording, before its pages. */
#define NAMES_ROOM (64 * 1024)

/* So much is moved at a time, and freed where it was; see make_file. */
#define CHUNK (256 * 1024)

/*
 * The format wants the pages of a processor side by side, and nobody knows
 * beforehand how many there will be. So each has an unlinked file of its own,
 * with room in front for the head. In the end the largest gets the head and
 * the pages of the others, and a name.
 */
struct part {
	int fd;                 /* -1: none yet */
	uint64_t size;          /* of the pages, which begin at reserve */
};

struct recording {
	struct dat_head head;
	const char *path, *name; /* FILE, and its last part */
	int dir;                /* where that is */
	int named;              /* files without a name cannot get one there */
	int ballast;            /* keeps the room that make_file takes */
	uint64_t reserve;       /* of each part, for the head */
	size_t formats;         /* bytes of them that reserve counts with */
	uint64_t most;          /* bytes of a file; 0: any */
	unsigned long files;    /* to keep; 0: no other */
	struct part *parts;     /* a processor each */
	uint64_t size;          /* of all pages in them */
	int *raw;               /* trace_pipe_raw of each, -1: ended */
	struct pollfd *polls;   /* of each, and of the signals */
	int pipe[2];
	size_t pipe_pages;
	size_t holds;           /* pages, a processor's buffer, about */
	int stopping, full;
	unsigned long long cut; /* events read and not recorded */
	long long look_at;      /* ms, when to look for names */
	int look_ms;
};

static uint64_t page_up(const struct recording *r, uint64_t n)
{
	size_t page = r->head.layout.size;

	return (n + page - 1) / page * page;
}

/* ---- files --------------------------------------------------------------------- */

/* While it has no place of its own; one file of this name is made at a time. */
static const char *own_name(void)
{
	static char name[40];

	format(name, sizeof(name), ".tfs-record.%d", (int)getpid());
	return name;
}

static int open_named(const struct recording *r)
{
	return openat(r->dir, own_name(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* A file that is gone when we are. -1 and errno, silent. */
static int open_unnamed(const struct recording *r)
{
	int fd = openat(r->dir, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		fd = open_named(r);
		if (fd >= 0)
			unlinkat(r->dir, own_name(), 0);
	}
	return fd;
}

/* Give an unnamed file own_name. -1 and errno, silent. */
static int give_name(const struct recording *r, int fd)
{
	char path[PATH_MAX];

	if (!linkat(fd, "", r->dir, own_name(), AT_EMPTY_PATH))
		return 0;
	/* which needs a right that not everybody has */
	format(path, sizeof(path), "%s/self/fd/%d", procfs(), fd);
	return linkat(AT_FDCWD, path, r->dir, own_name(), AT_SYMLINK_FOLLOW);
}

/* FILE's name for i 0, else FILE.i */
static const char *name_of(const struct recording *r, unsigned long i)
{
	static char name[2][NAME_MAX + 24];
	static int which;
	char *text = name[which ^= 1];

	format(text, sizeof(name[0]), i ? "%s.%lu" : "%s", r->name, i);
	return text;
}

/* Move the files that are finished one further, and put this one in front. */
static int publish(const struct recording *r)
{
	for (unsigned long i = r->files; i-- > 1;)
		if (renameat(r->dir, name_of(r, i - 1), r->dir, name_of(r, i)) < 0 &&
		    errno != ENOENT)
			return complain_errno("unable to rename %s to %s",
					      name_of(r, i - 1), name_of(r, i));
	if (renameat(r->dir, own_name(), r->dir, r->name) < 0)
		return complain_errno("unable to rename %s to %s", own_name(), r->name);
	return 0;
}

/* Hold the room that make_file takes, while there is some. -1 said. */
static int hold_ballast(struct recording *r)
{
	r->ballast = open_unnamed(r);
	if (r->ballast < 0)
		return complain_errno("unable to write %s", r->path);
	if (fallocate(r->ballast, 0, 0, (off_t)(r->reserve + CHUNK)) < 0 &&
	    (errno == ENOSPC || errno == EDQUOT))
		return complain_errno("unable to write %s", r->path);
	return 0;
}

/* How many events n bytes of pages hold, from there on in the file. */
static unsigned long long events_in(const struct recording *r, int fd, uint64_t at, uint64_t n)
{
	size_t page = r->head.layout.size;
	char *text = malloc(page);
	unsigned long long count = 0;

	if (!text)
		die(REFUSED, "out of memory");
	for (; n >= page && pread(fd, text, page, (off_t)at) == (ssize_t)page; n -= page)
		count += page_count(&r->head.layout, text, r->head.layout.size), at += page;
	free(text);
	return count;
}

/* ---- from the buffer to the parts --------------------------------------------------- */

/*
 * What is in the pipe has no room in the part: count its events. The first of
 * its pages may have come to the file in part.
 */
static void spill(struct recording *r, struct part *p, uint64_t written)
{
	size_t page = r->head.layout.size, have = written % page;
	uint64_t whole = written - have;
	char *text = malloc(page);
	ssize_t n;

	if (!text)
		die(REFUSED, "out of memory");
	if (have && pread(p->fd, text, have, (off_t)(r->reserve + p->size + whole)) < 0)
		have = 0;
	while ((n = read(r->pipe[0], text + have, page - have)) > 0) {
		have += (size_t)n;
		if (have < page)
			continue;
		r->cut += page_count(&r->head.layout, text, r->head.layout.size);
		have = 0;
	}
	free(text);
	p->size += whole;
	r->size += whole;
	if (p->fd >= 0 && ftruncate(p->fd, (off_t)(r->reserve + p->size)) < 0)
		return; /* nothing reads behind size */
}

/* Where splice is not to be had */
static ssize_t copy_out(struct recording *r, int fd, off_t at, size_t n)
{
	char text[4096];
	ssize_t got = read(r->pipe[0], text, n < sizeof(text) ? n : sizeof(text));

	for (ssize_t done = 0, m; done < got; done += m) {
		m = pwrite(fd, text + done, (size_t)(got - done), at + done);
		if (m <= 0)
			return complain_errno("unable to write %s", r->path);
	}
	return got;
}

/* The n bytes in the pipe to the part's end. */
static void store(struct recording *r, struct part *p, size_t n)
{
	uint64_t done = 0;

	if (p->fd < 0)
		p->fd = open_unnamed(r);
	while (p->fd >= 0 && done < n) {
		loff_t at = (loff_t)(r->reserve + p->size + done);
		ssize_t m = splice(r->pipe[0], NULL, p->fd, &at, n - done, 0);

		if (m < 0 && errno == EINVAL)
			m = copy_out(r, p->fd, at, n - done);
		if (m < 0 && errno == EINTR)
			continue;
		if (m <= 0)
			break;
		done += (uint64_t)m;
	}
	if (done < n) {
		complain_errno("unable to write %s", r->path);
		r->full = REFUSED;
		spill(r, p, done);
		return;
	}
	p->size += n;
	r->size += n;
}

/* One page to the part's end. */
static void store_page(struct recording *r, struct part *p, const char *text)
{
	size_t page = r->head.layout.size;

	if (p->fd < 0)
		p->fd = open_unnamed(r);
	if (p->fd < 0 || pwrite(p->fd, text, page, (off_t)(r->reserve + p->size)) !=
			 (ssize_t)page) {
		complain_errno("unable to write %s", r->path);
		r->full = REFUSED;
		r->cut += page_count(&r->head.layout, text, r->head.layout.size);
		return;
	}
	p->size += page;
	r->size += page;
}

/* What the head needs beyond reserve, of events that were enabled since. */
static uint64_t late_formats(const struct recording *r)
{
	return page_up(r, r->head.bytes - r->formats);
}

/* How many pages may still be recorded, at most so many. */
static size_t room_for(const struct recording *r, size_t pages)
{
	uint64_t taken = r->reserve + late_formats(r) + r->size, left;

	if (!r->most)
		return pages;
	left = taken < r->most ? (r->most - taken) / r->head.layout.size : 0;
	return left < pages ? (size_t)left : pages;
}

/*
 * The full pages of one processor, at most so many. Returns how many, -1 said:
 * they cannot be read. Sets full when there is room for no more.
 */
static ssize_t take(struct recording *r, unsigned cpu, size_t most)
{
	size_t page = r->head.layout.size, all = 0;

	while (r->raw[cpu] >= 0 && all < most && !r->full) {
		size_t room = room_for(r, most - all < r->pipe_pages ? most - all : r->pipe_pages);
		ssize_t n;

		if (!room) {
			r->full = 1;
			break;
		}
		n = splice(r->raw[cpu], NULL, r->pipe[1], NULL, room * page, SPLICE_F_NONBLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return complain_errno("unable to read cpu%u/trace_pipe_raw", cpu);
		if (!n) { /* not the kernel's */
			close(r->raw[cpu]);
			r->raw[cpu] = -1;
			break;
		}
		store(r, &r->parts[cpu], (size_t)n);
		all += (size_t)n / page;
	}
	return (ssize_t)all;
}

/* What of a page is written, as a page: read(2) gives it, splice does not. */
static ssize_t take_rest(struct recording *r, unsigned cpu)
{
	size_t page = r->head.layout.size;
	char *text;
	ssize_t n;

	if (r->raw[cpu] < 0 || r->full)
		return 0;
	if (!room_for(r, 1)) {
		r->full = 1;
		return 0;
	}
	text = calloc(1, page);
	if (!text)
		die(REFUSED, "out of memory");
	do
		n = read(r->raw[cpu], text, page);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == ENODEV)) /* ENODEV: it never was there */
		n = 0;
	else if (n < 0)
		complain_errno("unable to read cpu%u/trace_pipe_raw", cpu);
	else if (n > 0 && page_count(&r->head.layout, text, r->head.layout.size))
		store_page(r, &r->parts[cpu], text);
	free(text);
	return n;
}

/* All that is ready, or everything, one after the other. How many pages; -1 said. */
static ssize_t collect(struct recording *r, int everything)
{
	ssize_t all = 0;

	for (unsigned cpu = 0; cpu < r->head.cpus && !r->full; cpu++) {
		struct pollfd *p = &r->polls[cpu];
		ssize_t n;

		if (!everything && !p->revents)
			continue;
		n = take(r, cpu, 64 * r->pipe_pages);
		if (n < 0)
			return -1;
		/* a processor that never ran has no buffer, and would always be ready */
		p->fd = !n && p->revents & (POLLERR | POLLNVAL) ? -1 : r->raw[cpu];
		all += n;
	}
	return all;
}

/* ---- from the parts to a file ----------------------------------------------------------- */

/*
 * Move n bytes of pages from one file to another, and free them in the first:
 * on a disk that is full there is room for them once. Returns how many were.
 */
static uint64_t move(struct recording *r, int from, uint64_t from_at, int to, uint64_t at,
		     uint64_t n, int collecting)
{
	static char text[64 * 1024];
	uint64_t done = 0;

	while (done < n) {
		loff_t in = (loff_t)(from_at + done), out = (loff_t)(at + done);
		size_t part = n - done < CHUNK ? (size_t)(n - done) : CHUNK;
		ssize_t m = copy_file_range(from, &in, to, &out, part, 0);

		if (m < 0 && errno != ENOSPC && errno != EDQUOT && errno != EFBIG &&
		    errno != EIO) {
			m = pread(from, text, part < sizeof(text) ? part : sizeof(text),
				  (off_t)(from_at + done));
			if (m > 0)
				m = pwrite(to, text, (size_t)m, (off_t)(at + done));
		}
		if (m <= 0)
			break;
		fallocate(from, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)(from_at + done), m);
		done += (uint64_t)m;
		if (collecting && collect(r, 1) < 0)
			collecting = 0;
	}
	if (done < n)
		complain_errno("unable to write %s", r->path);
	return done / r->head.layout.size * r->head.layout.size;
}

/*
 * Make a file of the parts, and put it in its place. While it is made, and
 * another is to follow, the buffer goes on being read, into new parts. -1 said.
 */
static int make_file(struct recording *r, int more)
{
	unsigned cpus = r->head.cpus, base = 0;
	struct part *parts = r->parts;
	uint64_t *offset = calloc(2 * cpus, sizeof(*offset)), *size = offset + cpus;
	uint64_t at, table;
	struct bytes head = { 0 };
	int out, status = 0;

	if (!offset)
		die(REFUSED, "out of memory");
	dat_look(&r->head, 1);
	/* where the size is limited, what the head holds is as well */
	table = dat_table_size(&r->head);
	dat_head(&r->head, &head,
		 r->most ? (size_t)(r->reserve + late_formats(r) - table) : SIZE_MAX);
	table += head.n;
	for (unsigned cpu = 1; cpu < cpus; cpu++)
		if (parts[cpu].size > parts[base].size)
			base = cpu;
	if (r->named || parts[base].fd < 0 || table > r->reserve)
		base = cpus;
	out = base < cpus ? parts[base].fd : r->named ? open_named(r) : open_unnamed(r);
	if (r->ballast >= 0)
		close(r->ballast);
	r->ballast = -1;

	if (more) {
		r->parts = calloc(cpus, sizeof(*parts));
		if (!r->parts)
			die(REFUSED, "out of memory");
		for (unsigned cpu = 0; cpu < cpus; cpu++)
			r->parts[cpu].fd = -1;
		r->size = 0;
		r->full = 0;
	}

	at = page_up(r, table);
	if (base < cpus) {
		offset[base] = r->reserve;
		size[base] = parts[base].size;
		at = r->reserve + size[base];
	}
	/* the head first, while there is room, and once more with the table */
	if (out < 0 || pwrite(out, head.v, head.n, 0) != (ssize_t)head.n ||
	    ftruncate(out, (off_t)at) < 0)
		status = complain_errno("unable to write %s", r->path);
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		const struct part *p = &parts[cpu];

		if (cpu != base && p->fd >= 0) {
			size[cpu] = status < 0 ? 0 : move(r, p->fd, r->reserve, out, at,
							  p->size, more);
			if (size[cpu] < p->size) {
				r->full = REFUSED;
				r->cut += events_in(r, p->fd, r->reserve + size[cpu],
						    p->size - size[cpu]);
			}
			close(p->fd);
		}
		if (cpu != base)
			offset[cpu] = at;
		if (cpu != base)
			at += size[cpu];
	}
	dat_table(&r->head, &head, offset, size);
	if (!status && (ftruncate(out, (off_t)at) < 0 ||
			pwrite(out, head.v, head.n, 0) != (ssize_t)head.n ||
			(!r->named && give_name(r, out) < 0)))
		status = complain_errno("unable to write %s", r->path);
	if (!status)
		status = publish(r);
	if (status < 0 && base < cpus)
		r->cut += events_in(r, out, r->reserve, size[base]);
	if (status < 0)
		unlinkat(r->dir, own_name(), 0);
	if (out >= 0)
		close(out);
	free(offset);
	free(head.v);
	free(parts);
	return status;
}

/* A file is full, and the next begins: the oldest goes, for there to be room. */
static int turn(struct recording *r)
{
	int status;

	if (unlinkat(r->dir, name_of(r, r->files - 2), 0) < 0 && errno != ENOENT)
		return complain_errno("unable to remove %s", name_of(r, r->files - 2));
	status = make_file(r, 1);
	dat_forget(&r->head);
	dat_look(&r->head, 1);
	if (!status && hold_ballast(r) < 0)
		r->full = REFUSED;
	return status;
}

/* ---- waiting -------------------------------------------------------------------------- */

/*
 * Wait for the buffers unless deaf, for being told to stop, or for ms. Returns
 * whether a buffer is ready.
 */
static int wait_on(struct recording *r, int deaf, int ms)
{
	struct pollfd *signals = &r->polls[r->head.cpus];
	struct signalfd_siginfo si;
	int n;

	while ((n = deaf ? poll(signals, 1, ms) : poll(r->polls, r->head.cpus + 1, ms)) < 0)
		if (errno != EINTR)
			exit(REFUSED);
	if (!signals->revents)
		return n > 0;
	if (read(signals->fd, &si, sizeof(si)) == sizeof(si))
		r->stopping = 1;
	return n > 1;
}

/* Look for names when it is time; how long until the next look. */
static int look(struct recording *r)
{
	long long now = now_ms();

	if (now >= r->look_at) {
		r->look_ms = dat_look(&r->head, 0) > 16 ? LOOK_MS : 2 * r->look_ms;
		if (r->look_ms > LOOK_MOST_MS)
			r->look_ms = LOOK_MOST_MS;
		r->look_at = now + r->look_ms;
		/* those that had no buffer may have one now */
		for (unsigned cpu = 0; cpu < r->head.cpus; cpu++)
			r->polls[cpu].fd = r->raw[cpu];
	}
	return (int)(r->look_at - now);
}

static int record(struct recording *r)
{
	ssize_t n = collect(r, 1);
	int ready = 1;

	while (n >= 0 && !r->stopping) {
		int ms = look(r);

		if (r->full == 1 && r->files) {
			if (turn(r) < 0)
				return -1;
		} else if (r->full) { /* the newest stay in the buffer */
			wait_on(r, 1, -1);
			continue;
		} else if (ready && (size_t)n < r->holds / 4) {
			wait_on(r, 1, GATHER_MS);
		}
		ready = wait_on(r, 0, r->stopping ? 0 : ms);
		n = ready ? collect(r, 0) : 0;
	}
	return n < 0 ? -1 : 0;
}

/* What the buffer of a processor holds: its full pages, then the one that is not. */
static int drain_cpu(struct recording *r, unsigned cpu)
{
	/* while events go on coming it is never empty: not for ever */
	size_t left = 2 * r->holds;
	ssize_t n, rest;
	int again;

	do {
		n = take(r, cpu, left);
		rest = n < 0 ? -1 : take_rest(r, cpu);
		if (n < 0 || rest < 0)
			return -1;
		again = rest > 0 || (r->full == 1 && r->files);
		/* while a file is made, the next may be filled */
		while (r->full == 1 && r->files)
			if (turn(r) < 0)
				return -1;
		left -= (size_t)n < left ? (size_t)n : left;
		left -= left && rest;
	} while (again && left && !r->full);
	return 0;
}

/*
 * A writer that was caught in the middle of an event finishes it after the
 * buffer seemed empty, so entries decide.
 */
static int drain(struct recording *r)
{
	for (int tries = 0; tries < 3 && (!r->full || (r->full == 1 && r->files)); tries++) {
		for (unsigned cpu = 0; cpu < r->head.cpus; cpu++)
			if (drain_cpu(r, cpu) < 0)
				return -1;
		if (!buffer_count(r->head.dir, "entries: "))
			break;
		wait_on(r, 1, 1);
	}
	return 0;
}

static void tell_losses(const struct recording *r)
{
	int dir = r->head.dir;
	unsigned long long over = buffer_count(dir, "overrun: ") +
				  buffer_count(dir, "commit overrun: ") +
				  buffer_count(dir, "dropped events: ");
	unsigned long long cut = r->cut + buffer_count(dir, "entries: ");

	if (over || cut)
		note("lost %llu events: %llu overwritten in a full buffer, "
		     "%llu not written", over + cut, over, cut);
}

/* ---- the beginning ------------------------------------------------------------------------ */

/* Where FILE will be, and that nothing is there which is no earlier recording. */
static void find_place(struct recording *r)
{
	const char *slash = strrchr(r->path, '/');
	char dir[PATH_MAX] = ".";
	struct stat st;

	r->name = slash ? slash + 1 : r->path;
	if (!*r->name || !strcmp(r->name, ".") || !strcmp(r->name, ".."))
		misused(&tool, "not a file's name: '%.80s'", r->path);
	if (slash) {
		size_t n = slash == r->path ? 1 : (size_t)(slash - r->path);

		if (n >= sizeof(dir))
			misused(&tool, "not a file's name: '%.80s'", r->path);
		memcpy(dir, r->path, n);
		dir[n] = '\0';
	}
	r->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->dir < 0) {
		complain_errno("unable to open %s", dir);
		exit(REFUSED);
	}
	/* a rename would put a file in the place of /dev/stdout */
	for (unsigned long i = 0; i < r->files + !r->files; i++) {
		if (!fstatat(r->dir, name_of(r, i), &st, AT_SYMLINK_NOFOLLOW)) {
			if (!S_ISREG(st.st_mode))
				misused(&tool, "not a regular file: '%.80s'", name_of(r, i));
		} else if (errno != ENOENT) {
			complain_errno("unable to write %s", name_of(r, i));
			exit(REFUSED);
		}
	}
}

/* How much room the head takes, and whether it and a page of each fit. */
static void reserve_room(struct recording *r)
{
	uint64_t names = r->most && r->most / 8 < NAMES_ROOM ? r->most / 8 : NAMES_ROOM, least;
	struct bytes head = { 0 };

	dat_head(&r->head, &head, SIZE_MAX);
	/* the numbers in the processors' stats grow as well */
	r->reserve = page_up(r, head.n + dat_table_size(&r->head) + names +
				(uint64_t)r->head.cpus * 256);
	r->formats = r->head.bytes;
	free(head.v);
	least = r->reserve + (uint64_t)r->head.cpus * r->head.layout.size;
	if (r->most && r->most < least)
		misused(&tool, "too few kilobytes for a file: %llu, it takes %llu",
			(unsigned long long)r->most / 1024,
			(unsigned long long)(least + 1023) / 1024);
}

static void open_files(struct recording *r)
{
	struct rlimit files;
	char file[64], *text;
	const char *p;
	int fd;

	/* two of each processor, and there may be many */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	r->raw = calloc(r->head.cpus, sizeof(*r->raw));
	r->parts = calloc(r->head.cpus, sizeof(*r->parts));
	r->polls = calloc(r->head.cpus + 1, sizeof(*r->polls));
	if (!r->raw || !r->parts || !r->polls)
		die(REFUSED, "out of memory");
	for (unsigned cpu = 0; cpu < r->head.cpus; cpu++) {
		format(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
		fd = openat(r->head.dir, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 && errno != ENOENT) { /* their numbers may have gaps */
			complain_errno("unable to open %s", file);
			exit(REFUSED);
		}
		r->raw[cpu] = fd;
		r->parts[cpu].fd = -1;
		r->polls[cpu] = (struct pollfd){ .fd = fd, .events = POLLIN };
		text = ctl_read(r->head.dir, "per_cpu/cpu0/buffer_size_kb", NULL);
		p = text ? text : "";
		r->holds = (size_t)(digits_at(&p) * 1024 / r->head.layout.size) + 1;
		free(text);
	}
	if (pipe2(r->pipe, O_CLOEXEC | O_NONBLOCK) < 0) {
		complain_errno("unable to make a pipe");
		exit(REFUSED);
	}
	/* a page of the ring buffer takes the place of a page, whatever its size */
	fcntl(r->pipe[1], F_SETPIPE_SZ, 1024 * 1024);
	r->pipe_pages = (size_t)fcntl(r->pipe[1], F_GETPIPE_SZ) / (size_t)sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
	static struct recording r = { .ballast = -1, .look_ms = LOOK_MS };
	const char *root = NULL, *instance = NULL;
	unsigned long kb;
	int c, signals, status;

	while ((c = next_option(&tool, argc, argv)) != -1)
		switch (c) {
		case 'm':
			if (number(opt_value, 1, LONG_MAX / 1024, &kb) < 0)
				misused(&tool, "not a number of kilobytes: '%.80s'", opt_value);
			r.most = (uint64_t)kb * 1024;
			break;
		case 'n':
			if (number(opt_value, 2, 1000, &r.files) < 0)
				misused(&tool, "not a number of files from 2 to 1000: '%.80s'",
					opt_value);
			break;
		case 'R':
			root = opt_value;
			break;
		default:
			instance = opt_value;
		}
	if (!argv[opt_index])
		misused(&tool, "no file");
	if (argv[opt_index + 1])
		misused(&tool, "unexpected operand '%.80s'", argv[opt_index + 1]);
	if (r.files && !r.most)
		misused(&tool, "-n needs -m");
	r.path = argv[opt_index];
	find_place(&r);

	signals = stop_signals();
	signal(SIGXFSZ, SIG_IGN); /* a limit on sizes is a full disk */
	r.head.dir = open_tracefs(root, instance, NULL);
	if (r.head.dir < 0)
		return REFUSED;
	r.head.root = open_tracefs(root, "", NULL);
	if (r.head.root < 0 || dat_begin(&r.head) < 0)
		return REFUSED;
	dat_look(&r.head, 1);
	reserve_room(&r);
	open_files(&r);
	r.polls[r.head.cpus] = (struct pollfd){ .fd = signals, .events = POLLIN };
	if (r.files && unlinkat(r.dir, name_of(&r, r.files - 1), 0) < 0 && errno != ENOENT) {
		complain_errno("unable to remove %s", name_of(&r, r.files - 1));
		return REFUSED;
	}
	if (hold_ballast(&r) < 0)
		return REFUSED;
	if (!give_name(&r, r.ballast))
		unlinkat(r.dir, own_name(), 0);
	else
		r.named = 1;

	status = record(&r);
	if (status >= 0)
		status = drain(&r);
	if (make_file(&r, 0) < 0)
		status = -1;
	tell_losses(&r);
	return status < 0 || r.full == REFUSED ? REFUSED : DONE;
}
