/* SPDX-License-Identifier: ISC */
/*
 * read.c - read a trace.dat of version 6 or 7
 *
 * See trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5). The file is not trusted (cursor.h). An
 * allocation is not larger than the file and not larger than the maximum of its section,
 * because a sparse file may have any size.
 */
#include <sys/stat.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "tracedat/tracedat.h"
#include "tracedat/cursor.h"

/* Bytes of sub-buffers of one CPU in memory at a time; one sub-buffer if that is larger. */
#define AHEAD (128 * 1024)
/* The same for all CPUs of a ring buffer together. */
#define AHEAD_ALL (16 * 1024 * 1024)
/* Maximum number of option sections in version 7. */
#define SECTIONS 1000
/*
 * The limits of a file, in bytes where it is not a number of things. Linux 6.18 with all
 * modules of a distribution has 15 MB of symbols and 4 MB of formats; it supports up to 8,192
 * CPUs.
 */
enum {
	BUFFERS_MOST = 1000, CPUS_MOST = 8192, SUBBUFS_MOST = 256 << 20, FORMAT_MOST = 1 << 20,
	FORMATS_MOST = 32 << 20, KALLSYMS_MOST = 32 << 20, PRINTK_MOST = 8 << 20,
	CMDLINES_MOST = 8 << 20, STATS_MOST = 1 << 20,
};
/* The flag of a compressed section */
#define COMPRESSED 1

/* Fail if n bytes of the current range are more than most. */
static void at_most(struct dat_cursor *a, uint64_t n, uint64_t most)
{
	if (!a->failed && n > most)
		a->failed = err_msg("%s: %s may have at most %llu bytes, not %llu", a->d->path,
				    a->what, (unsigned long long)most, (unsigned long long)n) < 0;
}

/* Read as dat_cursor_extent does; fail if the extent has more than most bytes. */
static struct dat_extent limited_extent(struct dat_cursor *a, size_t size, uint64_t most)
{
	struct dat_extent e = dat_cursor_extent(a, size);

	at_most(a, e.n, most);
	return e;
}

/* ---- parts of a head that both versions have ---- */

/* Read header_page and header_event. */
static void header_pages(struct dat_cursor *a, struct dat *d)
{
	struct dat_extent e;
	uint32_t size = d->layout.size;
	char *text;

	a->what = "its header_page";
	dat_cursor_expect(a, "header_page", 12, "no header_page");
	e = d->header_page = dat_cursor_extent(a, 8);
	if (!a->failed && e.n > 1 << 20)
		dat_cursor_damaged(a, "its header_page is not valid");
	text = a->failed ? NULL : dat_text(d, e);
	if (!a->failed && !text)
		a->failed = 1;
	if (text && subbuf_format_parse(&d->layout, text) < 0)
		dat_cursor_damaged(a, "its header_page is not valid");
	free(text);
	/* the head of the file has the real size of its sub-buffers */
	d->layout.size = size;
	if (!a->failed && d->layout.data + 4 > size)
		dat_cursor_damaged(a, "its sub-buffers are too small");
	a->what = "its header_event";
	dat_cursor_expect(a, "header_event", 13, "no header_event");
	d->header_event = limited_extent(a, 8, FORMAT_MOST);
}

/* Read the formats of a system after their number, and call fn with each unless it is NULL. */
static int some_formats(struct dat_cursor *a, const char *system,
			int (*fn)(void *, const char *, const char *, size_t), void *arg)
{
	int r = 0;

	for (uint64_t n = dat_cursor_number(a, 4); n && !r && !a->failed; n--) {
		struct dat_extent e = limited_extent(a, 8, FORMAT_MOST);
		char *text = fn && !a->failed ? dat_text(a->d, e) : NULL;

		if (text)
			r = fn(arg, system, text, (size_t)e.n);
		else if (fn)
			a->failed = 1;
		free(text);
	}
	return a->failed ? -1 : r;
}

/* Read the formats of all systems after their number. */
static int all_systems(struct dat_cursor *a, int (*fn)(void *, const char *, const char *, size_t),
		       void *arg)
{
	char system[256];
	int r = 0;

	for (uint64_t n = dat_cursor_number(a, 4); n && !r && !a->failed; n--) {
		dat_cursor_string(a, system, sizeof(system));
		r = some_formats(a, system, fn, arg);
	}
	return a->failed ? -1 : r;
}

/* Skip the formats of ftrace, or with systems those of all systems. Return their extent. */
static struct dat_extent passed(struct dat_cursor *a, int systems)
{
	struct dat_extent e = { .at = a->at };

	if (systems)
		all_systems(a, NULL, NULL);
	else
		some_formats(a, NULL, NULL, NULL);
	e.n = a->at - e.at;
	at_most(a, e.n, FORMATS_MOST);
	return e;
}

int dat_formats(const struct dat *d,
		int (*fn)(void *, const char *system, const char *text, size_t n), void *arg)
{
	struct dat_cursor a = dat_cursor_begin(d, d->ftrace.at, d->ftrace.n, "its formats");
	int r = d->ftrace.n ? some_formats(&a, "ftrace", fn, arg) : 0;

	if (r || !d->events.n)
		return r;
	a = dat_cursor_begin(d, d->events.at, d->events.n, "its formats");
	return all_systems(&a, fn, arg);
}

int dat_comms(const struct dat *d, struct comms *c)
{
	char *text = dat_text(d, d->cmdlines);

	if (!text)
		return -1;
	comms_parse(c, text, (size_t)d->cmdlines.n);
	free(text);
	return 0;
}

/* Add an event's format. Text that is not a format leaves the event unknown. */
static int add_format(void *events, const char *system, const char *text, size_t n)
{
	event_add(events, system, text, n);
	return 0;
}

int dat_events(const struct dat *d, struct event_set *events)
{
	char *text;
	int r;

	events->big = d->layout.big;
	events->long_size = (int)d->layout.commit_size;
	events->version = kernel_version(d->release);
	if (dat_formats(d, add_format, events) < 0 || dat_comms(d, &events->comms) < 0)
		return -1;
	text = dat_text(d, d->printk);
	if (!text)
		return -1;
	r = events_strings(events, text, (size_t)d->printk.n);
	free(text);
	return r < 0 ? err_msg("out of memory") : 0;
}

/* Add a ring buffer. Return NULL if the cursor fails or there are too many. */
static struct dat_buffer *add_buffer(struct dat_cursor *a, struct dat *d)
{
	if (!a->failed && d->nbuffers == BUFFERS_MOST)
		dat_cursor_damaged(a, "too many instances");
	if (a->failed)
		return NULL;
	d->buffers = xrealloc(d->buffers, d->nbuffers + 1, sizeof(*d->buffers));
	d->buffers[d->nbuffers] = (struct dat_buffer){ .subbuf_size = d->layout.size };
	return &d->buffers[d->nbuffers++];
}

/* Read where the sub-buffers of the next CPU are, and add the CPU. */
static void add_cpu(struct dat_cursor *a, struct dat *d, struct dat_buffer *b, unsigned cpu)
{
	struct dat_extent e;

	e.at = dat_cursor_number(a, 8);
	e.n = dat_cursor_number(a, 8);
	if (a->failed)
		return;
	if (e.n % b->subbuf_size)
		dat_cursor_damaged(a, "an incomplete sub-buffer");
	if (e.n && (e.at > d->size || e.n > d->size - e.at)) {
		if (!d->cut)
			d->cut = cpu + 1ull;
		e.n = e.at < d->size ? (d->size - e.at) / b->subbuf_size * b->subbuf_size : 0;
	}
	if (!e.n)
		e.at = 0;
	/* if CPUs shared sub-buffers, their sum could be larger than the file */
	if (e.n > d->size - d->subbuf_bytes)
		dat_cursor_damaged(a, "CPUs have sub-buffers in common");
	if (b->ncpus == CPUS_MOST)
		dat_cursor_damaged(a, "too many CPUs");
	b->nfull += e.n != 0;
	if (b->nfull > SUBBUFS_MOST / b->subbuf_size)
		dat_cursor_damaged(a, "too many CPUs with large sub-buffers");
	if (a->failed)
		return;
	d->subbuf_bytes += e.n;
	if (!(b->ncpus & (b->ncpus - 1)))
		b->cpus = xrealloc(b->cpus, b->ncpus ? 2 * b->ncpus : 1, sizeof(*b->cpus));
	b->cpus[b->ncpus++] = (struct dat_cpu){ .cpu = cpu, .subbufs = e };
}

/* Set the clock from the text of a trace_clock: the word in brackets, or all of it. */
static void set_clock(struct dat_buffer *b, const char *text)
{
	const char *open = strchr(text, '['), *from = open ? open + 1 : text;

	str_format(b->clock, sizeof(b->clock), "%.*s",
		   (int)strcspn(from, open ? "]\n" : "\n"), from);
}

/* ---- lost events ---- */

/* The options DAT_CPUSTAT, whose ring buffers may come later in the file. */
struct stats {
	struct stat_of {
		size_t owner;           /* in names, plus 1; 0: the buffer without a name */
		unsigned cpu;
		int written;            /* cpu has no meaning: lost is the number not written */
		uint64_t lost;
	} *v;
	size_t n;
	char (*names)[64];
	size_t nnames;
};

/* Read an option: whose stats follow, the stats of a CPU, or the number of unwritten events. */
static void option_stats(struct stats *s, struct dat_cursor *a, struct dat_cursor *o)
{
	size_t n = o->end - o->at < DAT_CURSOR_MAX ? (size_t)(o->end - o->at) : DAT_CURSOR_MAX - 1;
	const unsigned char *bytes = dat_cursor_bytes(o, n);
	char text[DAT_CURSOR_MAX], *line = text;
	struct stat_of v = { .owner = s->nnames };

	if (!bytes) {
		a->failed = 1;
		return;
	}
	memcpy(text, bytes, n);
	text[n] = '\0';
	line += strspn(line, "\n");
	if (!strncmp(line, "Buffer: ", 8)) {
		if (s->nnames == BUFFERS_MOST) {
			dat_cursor_damaged(a, "too many instances");
			return;
		}
		s->names = xrealloc(s->names, s->nnames + 1, sizeof(*s->names));
		str_format(s->names[s->nnames++], sizeof(*s->names), "%.*s",
			   (int)strcspn(line + 8, "\n"), line + 8);
		return;
	}
	if (!strncmp(line, "CPU: ", 5)) {
		v.cpu = (unsigned)stats_count(line, "CPU: ");
		v.lost = stats_lost(line);
	} else if (!strncmp(line, "not written: ", 13)) {
		v.written = 1;
		v.lost = stats_count(line, "not written: ");
	} else {
		return;
	}
	if (s->n == STATS_MOST) {
		dat_cursor_damaged(a, "the stats of too many CPUs");
		return;
	}
	if (!(s->n & (s->n - 1)))
		s->v = xrealloc(s->v, s->n ? 2 * s->n : 1, sizeof(*s->v));
	s->v[s->n++] = v;
}

/* Return the CPU of a ring buffer, or NULL. Their numbers ascend; if not, some are not found. */
static struct dat_cpu *cpu_of(const struct dat_buffer *b, unsigned cpu)
{
	size_t low = 0, high = b->ncpus;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->cpus[middle].cpu < cpu)
			low = middle + 1;
		else
			high = middle;
	}
	return low < b->ncpus && b->cpus[low].cpu == cpu ? &b->cpus[low] : NULL;
}

/* Return the ring buffer of that name, or NULL. */
static struct dat_buffer *buffer_of(const struct dat *d, const char *name)
{
	for (size_t i = 0; i < d->nbuffers; i++)
		if (!strcmp(d->buffers[i].name, name))
			return &d->buffers[i];
	return NULL;
}

/* Give the stats to their ring buffers, and free them. */
static void assign_stats(struct stats *s, struct dat *d)
{
	struct dat_buffer *b = NULL;
	size_t owner = SIZE_MAX;

	for (size_t i = 0; i < s->n; i++) {
		const struct stat_of *v = &s->v[i];
		struct dat_cpu *cpu;

		if (v->owner != owner)
			b = buffer_of(d, v->owner ? s->names[v->owner - 1] : "");
		owner = v->owner;
		if (!b)
			continue;
		b->counted = 1;
		*(v->written ? &b->unwritten : &b->lost) += v->lost;
		cpu = v->written ? NULL : cpu_of(b, v->cpu);
		if (cpu)
			cpu->lost += v->lost;
	}
	free(s->v);
	free(s->names);
}

/* ---- version 6 ---- */

/* Read the table of a ring buffer, and with clock the clock after it. */
static void table6(struct dat_cursor *a, struct dat *d, const char *name, int clock)
{
	struct dat_buffer *b = add_buffer(a, d);
	struct dat_extent e;
	char *text;

	if (!b)
		return;
	a->what = "its table";
	str_format(b->name, sizeof(b->name), "%s", name);
	for (unsigned cpu = 0; cpu < d->cpus && !a->failed; cpu++)
		add_cpu(a, d, b, cpu);
	if (!clock || a->failed)
		return;
	e = dat_cursor_extent(a, 8);
	if (!a->failed && e.n > DAT_CURSOR_MAX)
		dat_cursor_damaged(a, "the name of its clock is too long");
	text = a->failed ? NULL : dat_text(d, e);
	if (text)
		set_clock(b, text);
	else
		a->failed = 1;
	free(text);
}

/* Read the kind of data: sub-buffers, or the text of a latency tracer, which is an error. */
static void flyrecord(struct dat_cursor *a)
{
	const unsigned char *p = dat_cursor_bytes(a, 10);

	if (p && !memcmp(p, "latency  ", 10))
		dat_cursor_damaged(a, "it has a latency tracer's text, and no sub-buffers");
	else if (p && memcmp(p, "flyrecord", 10))
		dat_cursor_damaged(a, "no table of sub-buffers");
}

/* Set the release: the third word of system, host, release and machine. */
static void set_host(struct dat *d, struct dat_cursor *option)
{
	char text[256], *word = text;

	d->uname = (struct dat_extent){ option->at, option->end - option->at };
	dat_cursor_string(option, text, sizeof(text));
	for (int i = 0; i < 2; i++) {
		word += strcspn(word, " ");
		word += *word == ' ';
	}
	str_format(d->release, sizeof(d->release), "%.*s", (int)strcspn(word, " "), word);
	word += strcspn(word, " ");
	word += *word == ' ';
	str_format(d->machine, sizeof(d->machine), "%.*s", (int)strcspn(word, " "), word);
}

/* A date is less than 190 years away from the clock's zero. */
#define DATE_MOST INT64_C(6000000000000000)

/* Set the date: "0x5f3a", with a minus sign, or of 64 bits in two's complement. */
static void set_date(struct dat *d, struct dat_cursor *option)
{
	char text[32], *digit = text;
	uint64_t us = 0;

	dat_cursor_string(option, text, sizeof(text));
	digit += *text == '-';
	if (strncmp(digit, "0x", 2))
		return;
	for (digit += 2; *digit; digit++) {
		unsigned v = (unsigned)*digit - (*digit <= '9' ? '0' : 'a' - 10);

		if (v > 15 || us >> 60)
			return;
		us = 16 * us + v;
	}
	d->offset = (int64_t)(*text == '-' ? 0 - us : us);
	d->dated = d->offset < DATE_MOST && d->offset > -DATE_MOST;
}

/* Read an option that means the same in both versions. */
static void any_option(struct dat_cursor *a, struct dat *d, struct stats *stats, unsigned id,
		       struct dat_cursor *o)
{
	if (id == DAT_UNAME)
		set_host(d, o);
	else if (id == DAT_DATE)
		set_date(d, o);
	else if (id == DAT_CPUSTAT)
		option_stats(stats, a, o);
	a->failed |= o->failed;
}

/* Further ring buffers: where their tables are. */
struct instances {
	struct { uint64_t at; char name[64]; } *v;
	size_t n;
};

/* Read the options; add ring buffers to others, and set *clock if there is a clock. */
static void options6(struct dat_cursor *a, struct dat *d, struct stats *stats,
		     struct instances *others, int *clock)
{
	uint16_t id;

	while ((id = (uint16_t)dat_cursor_number(a, 2)) != DAT_DONE && !a->failed) {
		struct dat_extent e = dat_cursor_extent(a, 4);
		struct dat_cursor o = dat_cursor_begin(a->d, e.at, e.n, "its options");

		if (a->failed)
			continue;
		any_option(a, d, stats, id, &o);
		*clock |= id == DAT_TRACECLOCK;
		if (id != DAT_BUFFER)
			continue;
		if (others->n == BUFFERS_MOST) {
			dat_cursor_damaged(a, "too many instances");
			continue;
		}
		others->v = xrealloc(others->v, others->n + 1, sizeof(*others->v));
		others->v[others->n].at = dat_cursor_number(&o, 8);
		dat_cursor_string(&o, others->v[others->n].name, sizeof(others->v->name));
		others->n++;
		a->failed |= o.failed;
	}
}

static void version6(struct dat_cursor *a, struct dat *d, struct stats *stats)
{
	struct instances others = { 0 };
	const unsigned char *p;
	int clock = 0;

	header_pages(a, d);
	a->what = "its formats";
	d->ftrace = passed(a, 0);
	d->events = passed(a, 1);
	a->what = "its symbols";
	d->kallsyms = limited_extent(a, 4, KALLSYMS_MOST);
	a->what = "its printk_formats";
	d->printk = limited_extent(a, 4, PRINTK_MOST);
	a->what = "its names";
	d->cmdlines = limited_extent(a, 8, CMDLINES_MOST);
	d->cpus = (unsigned)dat_cursor_number(a, 4);
	if (d->cpus > CPUS_MOST)
		dat_cursor_damaged(a, "too many CPUs");
	a->what = "its options";
	p = dat_cursor_bytes(a, 10);
	if (p && !memcmp(p, "options  ", 10))
		options6(a, d, stats, &others, &clock);
	else
		a->at -= p ? 10 : 0;
	flyrecord(a);
	table6(a, d, "", clock);
	for (size_t i = 0; i < others.n && !a->failed; i++) {
		/* each table is after the one before, so that none is read twice */
		if (others.v[i].at < a->at) {
			dat_cursor_damaged(a, "the tables of instances are not in order");
			break;
		}
		a->at = others.v[i].at < d->size ? others.v[i].at : d->size;
		flyrecord(a);
		table6(a, d, others.v[i].name, clock);
	}
	free(others.v);
}

/* ---- version 7 ---- */

/* Return a cursor over the data of the section at an offset; fail if it is compressed. */
static struct dat_cursor section(struct dat_cursor *a, uint64_t at, const char *what)
{
	struct dat_cursor s = dat_cursor_begin(a->d, at < a->d->size ? at : a->d->size,
					       at < a->d->size ? a->d->size - at : 0, what);
	unsigned flags;
	uint64_t n;

	dat_cursor_number(&s, 2);
	flags = (unsigned)dat_cursor_number(&s, 2);
	dat_cursor_number(&s, 4);
	n = dat_cursor_number(&s, 8);
	if (!s.failed && flags & COMPRESSED)
		dat_cursor_damaged(&s, "a section is compressed, but its head names no "
				       "compression");
	at = s.at;
	if (dat_cursor_skip(&s, n)) {
		s.end = s.at;
		s.at = at;
	}
	return s;
}

/* Read an option with a ring buffer. */
static void buffer7(struct dat_cursor *o, struct dat *d)
{
	struct dat_buffer *b = add_buffer(o, d);
	char clock[256];

	if (!b)
		return;
	dat_cursor_number(o, 8); /* offset of its section; the option has all that is needed */
	dat_cursor_string(o, b->name, sizeof(b->name));
	dat_cursor_string(o, clock, sizeof(clock));
	set_clock(b, clock);
	b->subbuf_size = (size_t)dat_cursor_number(o, 4);
	if (!o->failed && (b->subbuf_size < d->layout.data + 4 || b->subbuf_size > 1 << 24))
		dat_cursor_damaged(o, "the size of its sub-buffers is not valid");
	for (uint64_t n = dat_cursor_number(o, 4); n && !o->failed; n--)
		add_cpu(o, d, b, (unsigned)dat_cursor_number(o, 4));
}

/* Read an option with its data in the extent, and the section that it refers to. */
static void option7(struct dat_cursor *a, struct dat *d, struct stats *stats, unsigned id,
		    struct dat_extent e)
{
	struct dat_cursor o = dat_cursor_begin(d, e.at, e.n, "its options"), s;
	uint64_t at;

	if (id == DAT_BUFFER)
		buffer7(&o, d);
	else if (id == DAT_CPUCOUNT)
		d->cpus = (unsigned)dat_cursor_number(&o, 4);
	any_option(a, d, stats, id, &o);
	if (id < DAT_HEADER_INFO || id > DAT_CMDLINES || a->failed)
		return;
	at = dat_cursor_number(&o, 8);
	if (o.failed) {
		a->failed = 1;
		return;
	}
	s = section(&o, at, "a section");
	if (id == DAT_HEADER_INFO)
		header_pages(&s, d);
	else if (id == DAT_FTRACE_EVENTS)
		d->ftrace = passed(&s, 0);
	else if (id == DAT_EVENT_FORMATS)
		d->events = passed(&s, 1);
	else if (id == DAT_KALLSYMS)
		d->kallsyms = limited_extent(&s, 4, KALLSYMS_MOST);
	else if (id == DAT_PRINTK)
		d->printk = limited_extent(&s, 4, PRINTK_MOST);
	else
		d->cmdlines = limited_extent(&s, 8, CMDLINES_MOST);
	a->failed |= s.failed;
}

static void version7(struct dat_cursor *a, struct dat *d, struct stats *stats)
{
	char algorithm[64], version[64];
	uint64_t at, after = 0;

	a->what = "its head";
	dat_cursor_string(a, algorithm, sizeof(algorithm));
	dat_cursor_string(a, version, sizeof(version));
	at = dat_cursor_number(a, 8);
	if (!a->failed && strcmp(algorithm, "none"))
		a->failed = err_msg("%s is compressed by %s: convert it with trace-cmd convert "
				    "--file-version 6", d->path, algorithm) < 0;
	for (int n = 0; at && !a->failed; n++) {
		struct dat_cursor s = section(a, at, "its options");

		/* each section is after the one before, so that none is read twice */
		if (!s.failed && at < after)
			dat_cursor_damaged(&s, "the sections of options are not in order");
		after = s.end;
		at = 0;
		if (n == SECTIONS)
			dat_cursor_damaged(&s, "options without an end");
		while (!s.failed && s.at < s.end) {
			unsigned id = (unsigned)dat_cursor_number(&s, 2);
			struct dat_extent e = dat_cursor_extent(&s, 4);
			struct dat_cursor o = dat_cursor_begin(d, e.at, e.n, "its options");

			if (s.failed)
				break;
			if (id == DAT_DONE) {
				at = e.n ? dat_cursor_number(&o, 8) : 0;
				s.failed |= o.failed;
				break;
			}
			option7(&s, d, stats, id, e);
		}
		a->failed |= s.failed;
	}
	if (!a->failed && !d->layout.commit_size)
		dat_cursor_damaged(a, "no header_page");
}

/* ---- the interface ---- */

int dat_file(struct dat *d, const char *path)
{
	struct stat st;

	*d = (struct dat){ .path = path };
	d->fd = file_open(path, FILE_REGULAR, O_RDONLY, &st);
	if (d->fd == FILE_OTHER)
		return err_msg("%s is not a regular file", path);
	if (d->fd < 0)
		return err_errno("unable to open %s", path);
	d->size = (uint64_t)st.st_size;
	return 0;
}

int dat_read_head(struct dat *d)
{
	const char *path = d->path;
	struct stats stats = { 0 };
	struct dat_cursor a = dat_cursor_begin(d, 0, d->size, "its head");
	char version[8];
	const unsigned char *p;
	uint64_t size, wide;

	p = d->size < 12 ? NULL : dat_cursor_bytes(&a, 10);
	if (!a.failed && (!p || memcmp(p, "\x17\x08\x44tracing", 10)))
		a.failed = err_msg("%s is not a trace.dat; tfs-run -o NAME.dat records one",
				   path) < 0;
	dat_cursor_string(&a, version, sizeof(version));
	if (!a.failed && strcmp(version, "6") && strcmp(version, "7"))
		a.failed = err_msg("%s is a trace.dat of version %s; only 6 and 7 are supported",
				   path, version) < 0;
	d->version = version[0] == '6' ? 6 : 7;
	d->layout.big = dat_cursor_number(&a, 1) != 0;
	wide = dat_cursor_number(&a, 1);
	size = dat_cursor_number(&a, 4);
	if (!a.failed && ((wide != 4 && wide != 8) || size < 64 || size > 1 << 24))
		dat_cursor_damaged(&a, "the size of its sub-buffers is not valid");
	d->layout.size = (uint32_t)size;
	if (!a.failed)
		(d->version == 6 ? version6 : version7)(&a, d, &stats);
	assign_stats(&stats, d);
	if (a.failed)
		dat_close(d);
	else if (d->cut)
		err_msg("%s ends in the sub-buffers of cpu %llu: it was cut short, or the "
			"recording was killed", path, (unsigned long long)d->cut - 1);
	return a.failed ? -1 : 0;
}

void dat_close(struct dat *d)
{
	for (size_t i = 0; i < d->nbuffers; i++)
		free(d->buffers[i].cpus);
	free(d->buffers);
	d->buffers = NULL;
	d->nbuffers = 0;
	fd_close(d->fd);
	d->fd = -1;
}

void dat_subbufs_begin(struct dat_subbufs *p, const struct dat *d, const struct dat_buffer *b,
		       const struct dat_cpu *cpu)
{
	size_t most = b->nfull * AHEAD > AHEAD_ALL ? AHEAD_ALL / b->nfull : AHEAD;

	*p = (struct dat_subbufs){ .dat = d, .subbuf_size = b->subbuf_size, .left = cpu->subbufs };
	p->most = p->subbuf_size > most ? p->subbuf_size : most / p->subbuf_size * p->subbuf_size;
}

const void *dat_subbufs_next(struct dat_subbufs *p)
{
	if (p->failed)
		return NULL;
	if (p->at == p->n) {
		p->at = 0;
		p->n = p->left.n < p->most ? (size_t)p->left.n : p->most;
		if (!p->n)
			return NULL;
		if (!p->text)
			p->text = xrealloc(NULL, p->n, 1); /* no later read is larger */
		if (dat_read(p->dat, p->text, p->n, p->left.at) < 0) {
			p->failed = 1;
			return NULL;
		}
		p->left.at += p->n;
		p->left.n -= p->n;
	}
	p->at += p->subbuf_size;
	return p->text + p->at - p->subbuf_size;
}

void dat_subbufs_end(struct dat_subbufs *p)
{
	free(p->text);
	p->text = NULL;
}
