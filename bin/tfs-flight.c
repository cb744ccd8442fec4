/* SPDX-License-Identifier: ISC */
/*
 * tfs-flight - dump the last of an instance's trace when something happens
 *
 * Requires: tracefs; no other reader of the instance's buffer; inotify, leases.
 *	-b MS        a dump goes back so many milliseconds; default: all there is
 *	-t EVENT     SYSTEM:EVENT, of a task that the instance traces, makes a dump;
 *	             may be repeated; SIGUSR1 always does
 *	-f FILTER    only where this holds
 *	-r           dumps are trace.dat files; otherwise text
 *	-p           a file for each processor that has events
 *	-c COUNT     keep the COUNT newest; default 10
 *	-s KB        of a text keep the newest KB kilobytes
 *	-L           no control files
 *	-n           record how tasks get their names, too, and do not print that
 *	-j, -H       text: lines of JSON; the comment lines of `trace` first
 *	-l           one line a packet on standard output, a FIFO
 *	-d FD        write a newline to FD and close it once all is ready
 *	-R ROOT      take ROOT for the tracefs root, unchecked
 *	-i INSTANCE  the trace of this instance; default $TFS_INSTANCE
 * The buffer overwrites what is old and nobody reads it until then. A dump stops
 * the recording, takes what the buffer holds into DIR/dump.1, dump.2 and so on
 * (dump.1.cpu0 ...), which are there when they are complete, prints their paths,
 * a line each, and goes on. DIR, default ".", has three more files: `state` says
 * start or stop, and does what is written to it; reading `dropped` tells how many
 * events were lost; writing `reset` clears the buffer, and dropped.
 * Exit: 0 stopped by HUP INT TERM, 100 misused, 111 refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "flight.h"
#include "kernel.h"
#include "live.h"
#include "show.h"
#include "tracedat.h"

static const struct tool tool = {
	.name = "tfs-flight",
	.usage = "tfs-flight [-rpLnjHl] [-b MS] [-t EVENT]... [-f FILTER] [-c COUNT] [-s KB] "
		 "[-d FD] [-R ROOT] [-i INSTANCE] [DIR]",
	.purpose = "dump the last of an instance's trace when something happens",
	.letters = "rpLnjHlb:t:f:c:s:d:R:i:",
};

#define CHUNK (64 * 1024)

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

struct flight {
	int dir;                /* the instance */
	struct kernel kernel;
	struct live live;
	struct show show;
	struct dat_head head;
	struct trigger trigger;
	struct controls controls;

	int place;              /* DIR, and what it is called */
	char path[PATH_MAX];
	int raw, per_cpu, locked;
	unsigned long back;     /* ms; 0: all */
	unsigned long keep, number;
	uint64_t most;          /* bytes of a text; 0: any */
	size_t chunk;           /* that are written at once */
	struct part *parts;     /* one, or one for each processor */
	unsigned nparts;
	int failed;             /* errno of the dump that is being made */

	int out, signals;
	int on, dump, stopping;
	unsigned long long cut; /* events that were read and not written */
};

/* A line for whoever reads; nobody is waited for. */
static void tell(const struct flight *f, const char *text, const char *more)
{
	char line[2 * PATH_MAX];
	size_t n = format(line, sizeof(line), "%s%s\n", text, more);

	while (write(f->out, line, n) < 0 && errno == EINTR)
		;
}

static int record(struct flight *f, int on)
{
	return ctl_write(f->dir, "tracing_on", on ? "1" : "0", 0);
}

/* ---- the files of a dump ------------------------------------------------- */

static const char *temporary(const struct flight *f, const struct part *p, int other)
{
	static char name[40];

	format(name, sizeof(name), ".dump.%u.%d", (unsigned)(p - f->parts), other);
	return name;
}

static void name_dump(char *name, size_t size, unsigned long number, int cpu)
{
	size_t n = format(name, size, DUMP_PREFIX "%lu", number);

	if (cpu >= 0)
		format(name + n, size - n, ".cpu%d", cpu);
}

static int open_part(struct flight *f, struct part *p)
{
	const char *name = temporary(f, p, p->other);

	if (!p->text && !(p->text = malloc(CHUNK)))
		die(REFUSED, "out of memory");
	unlinkat(f->place, name, 0); /* of one that was killed */
	p->fd = openat(f->place, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	p->size = 0;
	p->events = 0;
	return p->fd;
}

/* Half of the limit is full: the file before it goes, and a new one begins. */
static void turn(struct flight *f, struct part *p)
{
	if (p->before >= 0) {
		close(p->before);
		p->cut += p->events_before;
	}
	p->before = p->fd;
	p->events_before = p->events;
	p->other ^= 1;
	if (open_part(f, p) < 0)
		f->failed = errno;
}

static void write_part(struct flight *f, struct part *p)
{
	if (f->most && p->size && p->size + p->n > f->most / 2)
		turn(f, p);
	if (!f->failed && write_all(p->fd, p->text, p->n) < 0)
		f->failed = errno;
	p->size += p->n;
	p->events += p->nevents;
	p->n = p->nevents = 0;
}

/* What was written last goes behind what was written before it. */
static void join(struct flight *f, struct part *p)
{
	ssize_t n = 0;
	off_t at = 0;

	if (p->before < 0)
		return;
	while (!f->failed && (n = pread(p->fd, p->text, CHUNK, at)) > 0) {
		if (write_all(p->before, p->text, (size_t)n) < 0)
			f->failed = errno;
		at += n;
	}
	if (n < 0)
		f->failed = errno;
	n = (ssize_t)format(p->text, CHUNK, "# %llu events before these are left out, a dump "
			    "holds %llu KB\n", p->cut, (unsigned long long)f->most / 1024);
	if (!f->failed && p->cut && write_all(p->before, p->text, (size_t)n) < 0)
		f->failed = errno;
	f->cut += p->cut;
	unlinkat(f->place, temporary(f, p, p->other), 0);
	close(p->fd);
	p->fd = p->before;
	p->other ^= 1;
	p->events += p->events_before;
}

/* The oldest dump that was kept is one too many. */
static void remove_oldest(const struct flight *f)
{
	char name[64];

	for (int cpu = -1; f->number > f->keep && cpu < (int)f->live.ncpus; cpu++) {
		name_dump(name, sizeof(name), f->number - f->keep, cpu);
		unlinkat(f->place, name, 0);
	}
}

/* Its files get their names, all of them or none. */
static void end_parts(struct flight *f)
{
	char name[64], text[PATH_MAX];

	for (unsigned i = 0; i < f->nparts; i++) {
		struct part *p = &f->parts[i];

		if (p->fd >= 0 && (p->n || p->nevents))
			write_part(f, p);
		if (p->fd >= 0)
			join(f, p);
		if (p->fd >= 0 && close(p->fd) < 0)
			f->failed = errno;
	}
	f->number++;
	for (unsigned i = 0; i < f->nparts; i++) {
		struct part *p = &f->parts[i];

		if (f->failed && p->before >= 0) {
			close(p->before);
			p->before = -1;
			unlinkat(f->place, temporary(f, p, !p->other), 0);
			p->events += p->events_before;
		}
		if (p->fd < 0) {
			f->cut += f->failed ? p->events + p->nevents : 0;
			continue;
		}
		name_dump(name, sizeof(name), f->number, f->per_cpu ? (int)i : -1);
		if (f->failed) {
			unlinkat(f->place, temporary(f, p, p->other), 0);
			f->cut += p->events;
		} else if (renameat(f->place, temporary(f, p, p->other), f->place, name) < 0) {
			f->failed = errno;
		} else {
			format(text, sizeof(text), "%s/%s", f->path, name);
			tell(f, text, "");
		}
	}
	if (!f->failed) {
		remove_oldest(f);
		return;
	}
	f->number--;
	format(text, sizeof(text), "# unable to write a dump to %s: ", f->path);
	tell(f, text, strerror(f->failed));
	errno = f->failed;
	complain_errno("unable to write a dump to %s", f->path);
}

static void begin_parts(struct flight *f)
{
	for (unsigned i = 0; i < f->nparts; i++) {
		char *text = f->parts[i].text;

		f->parts[i] = (struct part){ .fd = -1, .before = -1, .text = text };
	}
	f->failed = 0;
}

/* ---- text ---------------------------------------------------------------- */

static void begin_text(struct flight *f, struct part *p)
{
	if (open_part(f, p) < 0)
		f->failed = errno;
	else
		p->n = show_header(&f->show, f->live.ncpus, p->text, CHUNK);
}

static void put(struct flight *f, const struct record *r, int64_t lost)
{
	struct part *p = &f->parts[f->per_cpu ? r->cpu : 0];
	static char aside[SHOW_ROOM];
	size_t n;
	int shown;

	/* which processor's files there are only the text tells */
	n = show_record(&f->show, r, lost, aside, sizeof(aside), &shown);
	if (n && p->fd < 0 && !f->failed)
		begin_text(f, p);
	if (p->n + n > f->chunk)
		write_part(f, p);
	p->nevents += (unsigned)shown;
	if (f->failed || !n)
		return;
	memcpy(p->text + p->n, aside, n);
	p->n += n;
}

static void dump_text(struct flight *f, uint64_t from)
{
	const struct record *r;
	int64_t lost;
	long n;

	f->show.pick.begin = (struct moment){
		.given = from > 0, .digits = 9,
		.whole = from / 1000000000, .nano = (uint32_t)(from % 1000000000),
	};
	kernel_moment(&f->kernel);
	show_begin(&f->show, &f->kernel.line);
	do {
		n = live_fill(&f->live);
		while ((r = live_next(&f->live, &lost)))
			put(f, r, lost);
	} while (n > 0 || (!n && f->live.held));
	if (n < 0)
		f->failed = EIO;
	/* while it did not record, somebody may have got another name */
	f->kernel.line.told += f->kernel.line.told != 0;
}

/* ---- trace.dat ----------------------------------------------------------- */

/* Does the page hold a record of that time or later? */
static int reaches(const struct flight *f, const void *data, uint64_t from)
{
	struct record r = { 0 };
	struct page page;

	page_open(&page, &f->live.format, data, f->live.page, 0);
	while (page_next(&page, &r))
		;
	return r.data && r.ts >= from;
}

/* The head, and the table of where whose pages are. */
static void put_head(struct flight *f, struct part *p, struct bytes *head,
		     const uint64_t *offset, const uint64_t *size)
{
	size_t n = head->n;

	dat_table(&f->head, head, offset, size);
	if (pwrite(p->fd, head->v, head->n, 0) != (ssize_t)head->n ||
	    ftruncate(p->fd, (off_t)p->size) < 0)
		f->failed = errno;
	head->n = n;
}

static void put_page(struct flight *f, struct part *p, const char *data)
{
	size_t page = f->live.page;
	ssize_t n = 0;

	p->events += page_count(&f->live.format, data, page);
	if (!f->failed && (n = pwrite(p->fd, data, page, (off_t)p->size)) != (ssize_t)page)
		f->failed = n < 0 ? errno : ENOSPC;
	p->size += page;
}

static void dump_raw(struct flight *f, uint64_t from)
{
	unsigned cpus = f->head.cpus;
	uint64_t *offset = calloc(2 * cpus, sizeof(*offset)), *size = offset + cpus, begin;
	char *data = malloc(f->live.page);
	struct bytes head = { 0 };

	if (!offset || !data)
		die(REFUSED, "out of memory");
	dat_look(&f->head, 1);
	dat_head(&f->head, &head, SIZE_MAX);
	begin = (head.n + dat_table_size(&f->head) + f->live.page - 1) / f->live.page *
		f->live.page;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		struct part *p = &f->parts[f->per_cpu ? cpu : 0];

		if (f->per_cpu)
			memset(offset, 0, 2 * cpus * sizeof(*offset));
		offset[cpu] = p->fd < 0 ? begin : p->size;
		while (live_page(&f->live, cpu, data) > 0) {
			if (!reaches(f, data, from))
				continue;
			if (p->fd < 0 && !f->failed) {
				if (open_part(f, p) < 0)
					f->failed = errno;
				p->size = begin;
			}
			put_page(f, p, data);
		}
		size[cpu] = p->fd < 0 ? 0 : p->size - offset[cpu];
		if (f->per_cpu && p->fd >= 0 && !f->failed)
			put_head(f, p, &head, offset, size);
	}
	if (!f->per_cpu && f->parts->fd < 0 && !f->failed) {
		if (open_part(f, f->parts) < 0)
			f->failed = errno;
		f->parts->size = begin;
	}
	if (!f->per_cpu && !f->failed)
		put_head(f, f->parts, &head, offset, size);
	dat_forget(&f->head);
	free(head.v);
	free(offset);
	free(data);
}

/* ---- what makes a dump --------------------------------------------------- */

/* By the clock of the trace, in ns. */
static uint64_t trace_now(const struct flight *f)
{
	char *text = ctl_read(f->dir, "per_cpu/cpu0/stats", NULL);
	const char *p = text ? strstr(text, "now ts:") : NULL;
	uint64_t now = 0;

	if (p) {
		p += strcspn(p, "0123456789");
		now = digits_at(&p) * 1000000000;
		if (*p++ == '.')
			now += digits_at(&p) * 1000;
		else /* of a clock that counts something else */
			now = 0;
	}
	free(text);
	return now;
}

/* Nothing is recorded meanwhile: what the buffer holds ends at one moment. */
static void dump(struct flight *f, uint64_t moment)
{
	uint64_t back = (uint64_t)f->back * 1000000;

	f->dump = 0;
	record(f, 0);
	if (!moment)
		moment = trace_now(f);
	moment = back && moment > back ? moment - back : 0;
	begin_parts(f);
	(f->raw ? dump_raw : dump_text)(f, moment);
	if (!f->raw && f->parts->fd < 0 && !f->failed && !f->per_cpu)
		begin_text(f, f->parts);
	end_parts(f);
	trigger_take(&f->trigger);
	if (f->on)
		record(f, 1);
}

/* ---- waiting ------------------------------------------------------------- */

/* What state says otherwise than with its two words is put right. */
static void obey(struct flight *f)
{
	int asked = controls_asked(&f->controls), on;

	if (asked & ASKED_STATE) {
		on = controls_state(&f->controls);
		if (on >= 0) {
			f->on = on;
			record(f, on);
		}
		controls_tell(&f->controls, f->on);
	}
	if (asked & ASKED_RESET) {
		ctl_write(f->dir, "trace", "", CTL_TRUNCATE);
		f->cut = 0;
		f->kernel.line.told += f->kernel.line.told != 0;
	}
}

static unsigned long long dropped(const struct flight *f)
{
	return buffer_count(f->dir, "overrun: ") + buffer_count(f->dir, "commit overrun: ") +
	       buffer_count(f->dir, "dropped events: ") + f->cut;
}

static void hear(struct flight *f)
{
	struct signalfd_siginfo si;

	while (read(f->signals, &si, sizeof(si)) == sizeof(si))
		if (si.ssi_signo == SIGUSR1)
			f->dump = 1;
		else if (si.ssi_signo == SIGIO)
			controls_answer(&f->controls, dropped(f));
		else
			f->stopping = 1;
}

static void fly(struct flight *f)
{
	struct pollfd p[] = { { .fd = f->signals, .events = POLLIN },
			      { .fd = f->controls.notify, .events = POLLIN },
			      { .fd = f->trigger.pipe, .events = POLLIN } };

	while (!f->stopping) {
		uint64_t moment = 0;

		if (poll(p, 3, f->controls.tries ? 1 : -1) < 0)
			continue;
		if (p[1].revents)
			obey(f);
		controls_lease(&f->controls);
		if (p[0].revents)
			hear(f);
		if (p[2].revents)
			moment = trigger_take(&f->trigger);
		if (f->dump || moment)
			dump(f, moment);
	}
}

/* ---- the beginning ------------------------------------------------------- */

static void find_place(struct flight *f, const char *path)
{
	char **names, **n;

	if (!realpath(path, f->path) ||
	    (f->place = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		complain_errno("unable to open %s", path);
		exit(REFUSED);
	}
	/* others' dumps stay */
	names = names_in(f->path);
	for (n = names; n && *n; n++) {
		const char *digits = *n + strlen(DUMP_PREFIX);
		unsigned long number;

		if (strncmp(*n, DUMP_PREFIX, strlen(DUMP_PREFIX)))
			continue;
		number = (unsigned long)digits_at(&digits);
		if (number > f->number)
			f->number = number;
	}
	free(names);
}

static int hold_signals(void)
{
	static const int those[] = { SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGIO };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(those) / sizeof(*those); i++)
		sigaddset(&set, those[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int open_all(struct flight *f, const char *root, const char *instance)
{
	int top = open_tracefs(root, "", NULL);
	char *on;

	f->dir = top < 0 ? -1 : open_tracefs(root, instance, NULL);
	if (f->dir < 0 || live_open(&f->live, f->dir) < 0)
		return -1;
	f->nparts = f->per_cpu ? f->live.ncpus : 1;
	f->parts = calloc(f->nparts, sizeof(*f->parts));
	if (!f->parts)
		return complain("out of memory");
	if (f->raw) {
		f->head.dir = f->dir;
		f->head.root = top;
		if (dat_begin(&f->head) < 0)
			return -1;
		/* whose names are wanted is looked up; a reader is not to see these events */
		if (f->show.hide_names)
			naming_disable(f->dir, NAMING);
	} else if (kernel_open(&f->kernel, f->dir, top) && !f->show.json) {
		return complain("unable to show events otherwise than the kernel does: "
				"current_tracer is not nop, or an option in trace_options "
				"changes lines");
	} else {
		kernel_names_begin(&f->kernel, f->show.hide_names);
	}
	if (f->back && !trace_now(f))
		return complain("unable to tell the time by this trace_clock, for -b");
	on = ctl_read(f->dir, "tracing_on", NULL);
	f->on = on && *on == '1';
	free(on);
	if (trigger_open(&f->trigger, top, f->dir,
			 instance ? instance : getenv("TFS_INSTANCE")) < 0)
		return -1;
	return f->locked ? 0 : controls_make(&f->controls, f->place, f->path, f->on);
}

static void ready(unsigned long fd)
{
	if (write((int)fd, "\n", 1) < 0)
		note("nobody wants to know that it is ready");
	close((int)fd);
}

int main(int argc, char **argv)
{
	static struct flight f; /* large */
	const char *root = NULL, *instance = NULL;
	unsigned long kb, fd = 0;
	int c, packets = 0, r;

	f.keep = 10;
	f.chunk = CHUNK;
	f.controls.notify = -1;
	f.trigger.events = calloc((size_t)argc, sizeof(*f.trigger.events));
	if (!f.trigger.events)
		die(REFUSED, "out of memory");
	while ((c = next_option(&tool, argc, argv)) != -1)
		switch (c) {
		case 'r':
			f.raw = 1;
			break;
		case 'p':
			f.per_cpu = 1;
			break;
		case 'L':
			f.locked = 1;
			break;
		case 'n':
			f.show.hide_names = 1;
			break;
		case 'l':
			packets = 1;
			break;
		case 'b':
			if (number(opt_value, 1, INT_MAX, &f.back) < 0)
				misused(&tool, "not a number of milliseconds: '%.80s'",
					opt_value);
			break;
		case 't':
			if (!strchr(opt_value, ':') || strchr(opt_value, '/'))
				misused(&tool, "not SYSTEM:EVENT: '%.80s'", opt_value);
			f.trigger.events[f.trigger.n++] = opt_value;
			break;
		case 'f':
			f.trigger.filter = opt_value;
			break;
		case 'c':
			if (number(opt_value, 1, 100000, &f.keep) < 0)
				misused(&tool, "not a number of dumps from 1 to 100000: '%.80s'",
					opt_value);
			break;
		case 's':
			if (number(opt_value, 1, LONG_MAX / 1024, &kb) < 0)
				misused(&tool, "not a number of kilobytes: '%.80s'", opt_value);
			f.most = (uint64_t)kb * 1024;
			if (f.most / 8 < CHUNK)
				f.chunk = (size_t)f.most / 8;
			break;
		case 'd':
			if (number(opt_value, 3, INT_MAX, &fd) < 0)
				misused(&tool, "not a descriptor from 3 on: '%.80s'", opt_value);
			break;
		case 'R':
			root = opt_value;
			break;
		case 'i':
			instance = opt_value;
			break;
		default:
			show_option(&f.show, &tool, c);
		}
	if (argv[opt_index] && argv[opt_index + 1])
		misused(&tool, "unexpected operand '%.80s'", argv[opt_index + 1]);
	if (f.raw && f.show.asked)
		misused(&tool, "-j and -H are for text, and -r makes none");
	if (f.trigger.filter && !f.trigger.n)
		misused(&tool, "-f is for what -t names");

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit on sizes is a full disk */
	f.signals = hold_signals();
	find_place(&f, argv[opt_index] ? argv[opt_index] : ".");
	r = open_all(&f, root, instance);
	if (!r) {
		/*
		 * To read as well: what is written stays until a reader comes, who
		 * finds the end when we end.
		 */
		f.out = own_output(&tool, O_RDWR, packets);
		if (fd)
			ready(fd);
		fly(&f);
	}
	if (!f.locked)
		controls_remove(f.place);
	trigger_close(&f.trigger);
	if (!f.raw)
		kernel_names_end(&f.kernel);
	return r < 0 ? REFUSED : DONE;
}
