/* SPDX-License-Identifier: ISC */
/* head.c - write the head of a trace.dat of version 6, from a tracefs */
#include <sys/utsname.h>

#include "base/base.h"
#include "host/host.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "calls/calls.h"
#include "live/live.h"
#include "tracedat/tracedat.h"

/*
 * Add a file after its length of size bytes; without a file the length is 0. If the head comes
 * from a saved one, add its bytes at saved.
 */
static void add_file(const struct dat_head *h, struct bytes *b, int dir, const char *file,
		     size_t size, struct dat_extent saved)
{
	size_t n = (size_t)saved.n;
	char *text = h->from ? dat_text(h->from, saved) : file_read(dir, file, &n);

	if (!text && (h->from || errno == ENOMEM)) {
		b->failed = 1;
		n = 0;
	}
	if (size == sizeof(uint64_t))
		bytes_u64(b, n);
	else
		bytes_u32(b, (uint32_t)n);
	bytes_add(b, text, n);
	free(text);
}

/* Add a format, whose text of len bytes was allocated and is kept. */
static void keep_format(struct dat_head *h, const char *system, const char *event, char *text,
			size_t len)
{
	size_t room = strlen(system) + strlen(event) + 2;
	char *names = malloc(room);
	struct dat_format *more = array_more(h->formats, h->nformats, sizeof(*more));

	if (!names || !more) {
		h->failed = 1;
		h->formats = more ? more : h->formats;
		free(text);
		free(names);
		return;
	}
	h->formats = more;
	/* an event that prints an address as a symbol needs symbols (lib/vsprintf.c) */
	for (const char *p = strcmp(system, "ftrace") ? text : ""; (p = strstr(p, "%p")); p += 2)
		h->symbols |= p[2] && strchr("sSfFB", p[2]);
	h->bytes += len + room + 12;
	h->formats[h->nformats++] = (struct dat_format){
		.system = names,
		.event = stpcpy(names, system) + 1,
		.text = text,
		.len = len,
	};
	strcpy(h->formats[h->nformats - 1].event, event);
}

/* Add the format of an event, unless it is there or the event has none. */
static void add_format(struct dat_head *h, const char *system, const char *event)
{
	char file[600], *text, *shorter;
	size_t len;

	for (size_t i = 0; i < h->nformats; i++)
		if (!strcmp(h->formats[i].event, event) &&
		    !strcmp(h->formats[i].system, system))
			return;
	str_format(file, sizeof(file), "events/%s/%s/format", system, event);
	text = file_read(h->dir, file, &len);
	if (!text) {
		h->failed |= errno == ENOMEM;
		return;
	}
	/* file_read leaves spare room, and there may be thousands of formats */
	shorter = realloc(text, len + 1);
	keep_format(h, system, event, shorter ? shorter : text, len);
}

/* Add a copy of a saved format (dat_formats). Only its text is written, so it needs no name. */
static int copy_format(void *head, const char *system, const char *text, size_t n)
{
	struct dat_head *h = head;
	char *copy = malloc(n + 1);

	if (!copy)
		return h->failed = 1;
	memcpy(copy, text, n);
	keep_format(h, system, "", copy, n);
	return h->failed;
}

/* Add the formats of the enabled events. */
static void add_enabled(struct dat_head *h)
{
	char *list = file_read(h->dir, "set_event", NULL), *at = list;
	const char *system, *event;

	/* most often the list has not changed since the last call */
	if (!list || (h->enabled && !h->failed && !strcmp(h->enabled, list))) {
		free(list);
		return;
	}
	h->failed = 0;
	free(h->enabled);
	h->enabled = strdup(list);
	while (events_next(&at, &system, &event))
		add_format(h, system, event);
	free(list);
}

/* Add the formats of the records of the session's programs. */
static void add_own(struct dat_head *h)
{
	for (unsigned i = 0; i < RECORDS; i++) {
		char *text = malloc(RECORD_FORMAT);

		if (!text) {
			h->failed = 1;
			return;
		}
		keep_format(h, RECORD_SYSTEM, "", text, record_format(i, text, RECORD_FORMAT));
	}
}

/* Does the tracer or an option record addresses of code? */
static int records_addresses(int dir)
{
	char *tracer = file_read(dir, "current_tracer", NULL);
	int some = tracer && strcmp(tracer, "nop\n") && strcmp(tracer, "nop");

	free(tracer);
	return some || file_begins(dir, "options/stacktrace", '1') ||
	       file_begins(dir, "options/func_stack_trace", '1');
}

int dat_begin(struct dat_head *h)
{
	char *text = file_read(h->dir, "events/header_page", NULL);
	int fd, r = text ? subbuf_format_parse(&h->layout, text) : -1;
	const char *name;
	DIR *d;

	free(text);
	if (!text)
		return err_file("unable to read events/header_page");
	if (r < 0)
		return err_msg("unable to parse events/header_page");
	h->layout.big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	fd = openat(h->dir, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_file("unable to read per_cpu");
	h->cpus = instance_cpu_count(fd);
	close(fd);
	if (!h->cpus)
		return err_msg("no CPU in per_cpu");

	d = file_list(h->dir, "events/ftrace");
	if (!d)
		return err_file("unable to read events/ftrace");
	while ((name = file_next(d)))
		add_format(h, "ftrace", name);
	if (getenv(SESSION_RINGS))
		add_own(h);
	return h->failed ? err_msg("unable to read events/ftrace: out of memory") : 0;
}

int dat_begin_from(struct dat_head *h, const struct dat *d)
{
	const struct dat_buffer *b = d->buffers;

	h->from = d;
	h->layout = d->layout;
	h->cpus = d->cpus;
	h->dated = d->dated;
	h->offset = d->offset;
	h->symbols = d->kallsyms.n > 0;
	h->clock = d->nbuffers && *b->clock ? strdup(b->clock) : NULL;
	if (dat_formats(d, copy_format, h) < 0 || dat_comms(d, &h->comms) < 0)
		return -1;
	return h->failed || (d->nbuffers && *b->clock && !h->clock) ?
		err_msg("%s: out of memory", d->path) : 0;
}

size_t dat_look(struct dat_head *h, int all)
{
	size_t n = 0, len;
	char *text;

	if (h->from)
		return 0;
	add_enabled(h);
	h->symbols |= records_addresses(h->dir);
	text = file_read(h->root, "saved_cmdlines", &len);
	if (text)
		n = comms_parse(&h->comms, text, len);
	free(text);
	if (!all)
		return n;
	n += names_from_instance(&h->comms, h->dir);
	text = file_read(h->dir, "trace_clock", NULL);
	if (text || errno != ENOMEM) {
		free(h->clock);
		h->clock = text;
	} else if (!h->clock) {
		h->failed = 1;
	}
	return n;
}

void dat_forget(struct dat_head *h)
{
	comms_clear(&h->comms);
}

/* Add the number of formats of a system, from formats[first] on, and the formats. */
static void add_system(const struct dat_head *h, struct bytes *out, const char *system,
		       size_t first)
{
	uint32_t n = 0;

	for (size_t i = first; i < h->nformats; i++)
		n += !strcmp(h->formats[i].system, system);
	bytes_u32(out, n);
	for (size_t i = first; i < h->nformats; i++) {
		const struct dat_format *f = &h->formats[i];

		if (strcmp(f->system, system))
			continue;
		bytes_u64(out, f->len);
		bytes_add(out, f->text, f->len);
	}
}

/* Is format i the first of its system? Not for ftrace, whose formats are apart. */
static int leads(const struct dat_head *h, size_t i)
{
	if (!strcmp(h->formats[i].system, "ftrace"))
		return 0;
	for (size_t j = 0; j < i; j++)
		if (!strcmp(h->formats[j].system, h->formats[i].system))
			return 0;
	return 1;
}

/* Add all formats: those of ftrace, then system by system. */
static void add_formats(const struct dat_head *h, struct bytes *out)
{
	uint32_t systems = 0;

	add_system(h, out, "ftrace", 0);
	for (size_t i = 0; i < h->nformats; i++)
		systems += (uint32_t)leads(h, i);
	bytes_u32(out, systems);
	for (size_t i = 0; i < h->nformats; i++)
		if (leads(h, i)) {
			bytes_string(out, h->formats[i].system);
			add_system(h, out, h->formats[i].system, i);
		}
}

/* Add an option: id, length, data. */
static void add_option(struct bytes *out, uint16_t id, const void *data, size_t n)
{
	bytes_add(out, &id, sizeof(id));
	bytes_u32(out, (uint32_t)n);
	bytes_add(out, data, n);
}

/* Add an option that is text, with its NUL. */
__attribute__((format(printf, 3, 4)))
static void add_text_option(struct bytes *out, uint16_t id, const char *f, ...)
{
	char text[5 * sizeof(((struct utsname *)NULL)->release)];
	size_t n;
	va_list ap;

	va_start(ap, f);
	n = str_vformat(text, sizeof(text), f, ap);
	va_end(ap);
	add_option(out, id, text, 1 + (n < sizeof(text) ? n : sizeof(text) - 1));
}

/* Add the stats of the ring buffer of a CPU. */
static void add_stats(const struct dat_head *h, struct bytes *out, unsigned cpu)
{
	struct bytes data = { 0 };
	char text[40], *stats;
	size_t n;

	str_format(text, sizeof(text), "per_cpu/cpu%u/stats", cpu);
	stats = file_read(h->dir, text, &n);
	if (!stats) {
		out->failed |= errno == ENOMEM;
		return;
	}
	bytes_add(&data, text, str_format(text, sizeof(text), "CPU: %u\n", cpu));
	bytes_add(&data, stats, n + 1);
	add_option(out, DAT_CPUSTAT, data.v, data.n);
	out->failed |= data.failed;
	free(data.v);
	free(stats);
}

/* Add the options: the CPUs' stats, the date, the clock, uname. */
static void add_options(const struct dat_head *h, struct bytes *out)
{
	static const uint16_t done = DAT_DONE;
	struct utsname u;
	char *saved;

	bytes_add(out, "options  ", 10);
	for (unsigned cpu = 0; cpu < h->cpus; cpu++)
		if (!h->only || h->only == cpu + 1)
			add_stats(h, out, cpu);
	for (unsigned cpu = 0; h->ring_lost && cpu < h->cpus; cpu++)
		if (h->ring_lost(h->arg, cpu))
			add_text_option(out, DAT_CPUSTAT, "CPU: %u, rings of BPF programs\n"
					"overrun: %llu\n", cpu, h->ring_lost(h->arg, cpu));
	if (h->unwritten)
		add_text_option(out, DAT_CPUSTAT, "not written: %llu\n", h->unwritten);
	if (h->dated) /* trace-cmd reads it with strtoll(3): no two's complement */
		add_text_option(out, DAT_DATE, "%s0x%llx", h->offset < 0 ? "-" : "",
				(unsigned long long)(h->offset < 0 ? -h->offset : h->offset));
	if (h->clock)
		add_option(out, DAT_TRACECLOCK, NULL, 0);
	if (h->from) {
		saved = dat_text(h->from, h->from->uname);
		out->failed |= !saved;
		add_option(out, DAT_UNAME, saved, saved ? (size_t)h->from->uname.n : 0);
		free(saved);
	} else if (!uname(&u)) {
		add_text_option(out, DAT_UNAME, "%s %s %s %s", u.sysname, u.nodename, u.release,
				u.machine);
	}
	bytes_add(out, &done, sizeof(done));
}

void dat_names(const struct dat_head *h, struct bytes *out, size_t most)
{
	for (size_t i = 0; i < h->comms.room; i++) {
		const struct comm *c = h->comms.v[i];
		char line[64];
		size_t n;

		if (!c)
			continue;
		n = str_format(line, sizeof(line), "%d %s\n", (int)c->pid, c->name);
		/* a newline in a name would begin the line of another task */
		text_mask_controls(line, line + n - 1);
		if (n > most - out->n)
			break;
		bytes_add(out, line, n);
	}
}

int dat_head(const struct dat_head *h, struct bytes *out, size_t most)
{
	static const struct dat none;
	const struct dat *from = h->from ? h->from : &none;
	struct bytes symbols = { 0 }, prints = { 0 }, names = { 0 }, tail = { 0 };
	char kallsyms[PATH_MAX];
	int fits;

	out->n = 0;
	out->failed = 0;
	bytes_add(out, "\x17\x08\x44" "tracing6", 12); /* and the NUL */
	bytes_add(out, h->layout.big ? "\1" : "\0", 1);
	bytes_add(out, h->layout.commit_size == 8 ? "\10" : "\4", 1);
	bytes_u32(out, h->layout.size);
	bytes_string(out, "header_page");
	add_file(h, out, h->dir, "events/header_page", sizeof(uint64_t), from->header_page);
	bytes_string(out, "header_event");
	add_file(h, out, h->dir, "events/header_event", sizeof(uint64_t), from->header_event);
	add_formats(h, out);

	if (h->symbols) {
		str_format(kallsyms, sizeof(kallsyms), "%s/kallsyms", path_procfs());
		add_file(h, &symbols, AT_FDCWD, kallsyms, sizeof(uint32_t), from->kallsyms);
	}
	add_file(h, &prints, h->root, "printk_formats", sizeof(uint32_t), from->printk);
	bytes_u32(&tail, h->cpus);
	add_options(h, &tail);
	bytes_string(&tail, "flyrecord");

	if (out->n + symbols.n + prints.n + tail.n + 8 > most)
		symbols.n = 0;
	if (!symbols.n)
		bytes_u32(&symbols, 0);
	bytes_add(out, symbols.v, symbols.n);
	bytes_add(out, prints.v, prints.n);
	fits = out->n + 8 + tail.n <= most;
	out->failed |= symbols.failed | prints.failed | tail.failed;
	if (fits)
		dat_names(h, &names, most - out->n - 8 - tail.n);
	bytes_u64(out, names.n);
	bytes_add(out, names.v, names.n);
	bytes_add(out, tail.v, tail.n);
	out->failed |= bytes_room(out, dat_table_size(h)) < 0;
	free(symbols.v);
	free(prints.v);
	free(names.v);
	free(tail.v);
	return fits && !out->failed ? 0 : -1;
}

size_t dat_table_size(const struct dat_head *h)
{
	return h->cpus * 16 + (h->clock ? 8 + strlen(h->clock) : 0);
}

void dat_table(const struct dat_head *h, struct bytes *out, const uint64_t *offset,
	       const uint64_t *size)
{
	for (unsigned cpu = 0; cpu < h->cpus; cpu++) {
		bytes_u64(out, offset[cpu]);
		bytes_u64(out, size[cpu]);
	}
	if (h->clock) {
		bytes_u64(out, strlen(h->clock));
		bytes_add(out, h->clock, strlen(h->clock));
	}
}
