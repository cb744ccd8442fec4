/* SPDX-License-Identifier: ISC */
/*
 * last_boot.c - a trace.dat of the events of the last boot
 *
 * To read a ring buffer removes its events. So the file gets its disk space first, and then
 * its sub-buffers after room for the head, which is written when all names are known.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "tracefs/tracefs.h"
#include "live/live.h"
#include "tracedat/tracedat.h"

/* Room for the names of tasks that the events tell. */
#define NAMES_ROOM (256 * 1024)

/* The kernel's message in panic() (kernel/panic.c). */
#define PANIC "Kernel panic"

/* A record that names a task. */
struct naming {
	uint64_t ts;
	uint32_t len;
	unsigned char data[60];
};

struct reading {
	struct live live;
	struct event_set events; /* of the saved head */
	struct line_format line;
	struct last_boot *last;
	int64_t offset;         /* from the trace clock to the time since 1970, in microseconds */
	uint64_t end;           /* time of the newest record */
	struct naming *names;   /* in the order of CPUs */
	size_t nnames;
	int instance, out;      /* where the sub-buffers are, and the file */
	char *subbuf;           /* room for one */
};

/* Keep the first of the kernel's messages about its panic, from the event printk:console. */
static void look_for_panic(struct reading *g, const struct event *e, const struct record *r)
{
	const struct field *field = event_field(e, "msg");
	struct field_data v;
	const char *line;
	size_t n;

	if (*g->last->panic || !field || field_value(&g->events, field, r, &v) < 0 ||
	    v.kind != FIELD_STRING)
		return;
	line = memmem(v.data, v.n, PANIC, sizeof(PANIC) - 1);
	if (!line)
		return;
	n = v.n - (size_t)(line - (const char *)v.data);
	str_format(g->last->panic, sizeof(g->last->panic), "%.*s", (int)n, line);
	g->last->panic[strcspn(g->last->panic, "\n")] = '\0';
	text_mask_controls(g->last->panic, g->last->panic + strlen(g->last->panic));
	g->last->panicked = (int64_t)(r->ts / 1000) + g->offset;
}

/* Keep a record that names a task: its CPU may be read before that of an older record. */
static void keep_naming(struct reading *g, const struct record *r)
{
	struct naming *more, *n;

	if (r->len > sizeof(n->data))
		return;
	more = array_more(g->names, g->nnames, sizeof(*more));
	if (!more)
		return;
	g->names = more;
	n = &g->names[g->nnames++];
	n->ts = r->ts;
	n->len = r->len;
	memcpy(n->data, r->data, r->len);
}

static int by_time(const void *a, const void *b)
{
	const struct naming *one = a, *other = b;

	return (one->ts > other->ts) - (one->ts < other->ts);
}

/* Give the tasks the names that the records tell, the newest last. */
static void learn_names(struct reading *g)
{
	if (g->nnames)
		array_sort(g->names, g->nnames, sizeof(*g->names), by_time);
	for (size_t i = 0; i < g->nnames; i++) {
		struct record r = { .data = g->names[i].data, .len = g->names[i].len };

		line_learn(&g->line, &r);
	}
	free(g->names);
}

/* Look at the records of a sub-buffer for names and for the end of the boot. */
static void look_at(struct reading *g, const void *data, unsigned cpu)
{
	struct subbuf subbuf;
	struct record r;

	subbuf_open(&subbuf, &g->live.format, data, g->live.subbuf_size, (int)cpu);
	while (subbuf_next(&subbuf, &r)) {
		const struct event *e = event_of(&g->events, &r);

		g->last->events++;
		if (r.ts > g->end)
			g->end = r.ts;
		if (e && record_names_task(&g->events, &r))
			keep_naming(g, &r);
		else if (e && !strcmp(e->name, "console"))
			look_for_panic(g, e, &r);
	}
}

/* Return the bytes of all ring buffers of the instance. */
static uint64_t size_of(int instance, unsigned cpus)
{
	return KB_BYTES(file_number(instance, "buffer_size_kb", NULL, 0)) * cpus;
}

/*
 * Return whether this is the number of all sub-buffers of the CPU, that of the reader included.
 * The kernel gives reserved instances the file buffer_meta (kernel/trace/ring_buffer.c).
 */
static int is_full(int instance, unsigned cpu, uint64_t subbufs)
{
	char file[64];
	uint64_t all;

	str_format(file, sizeof(file), "per_cpu/cpu%u/buffer_meta", cpu);
	all = file_number(instance, file, "\nnr_subbufs:", 0);
	return all && subbufs >= all;
}

/*
 * Say in the file that events are lost between the first sub-buffer of the CPU and the others. The
 * first one is that of the reader: a dump has taken it out of the ring. If the writer has filled
 * the ring since then, it has overwritten the events that followed, and the next boot does not
 * know that.
 */
static void tell_overwritten(const struct reading *g, uint64_t second)
{
	size_t n = g->live.subbuf_size;

	if (pread(g->out, g->subbuf, n, (off_t)second) != (ssize_t)n)
		return;
	subbuf_lose(&g->live.format, g->subbuf);
	if (pwrite(g->out, g->subbuf, n, (off_t)second) != (ssize_t)n)
		err_errno("unable to write a sub-buffer");
}

/* Move the sub-buffers of a CPU to the file from an offset on. Return how many bytes. */
static uint64_t move_subbufs(struct reading *g, unsigned cpu, uint64_t from)
{
	size_t n = g->live.subbuf_size;
	uint64_t at = from;

	while (cpu < g->live.ncpus && live_read_subbuf(&g->live, cpu, g->subbuf) > 0) {
		/* there is room; any other error leaves a hole, which the reader tells */
		if (pwrite(g->out, g->subbuf, n, (off_t)at) != (ssize_t)n)
			err_errno("unable to write a sub-buffer");
		look_at(g, g->subbuf, cpu);
		at += n;
	}
	if (is_full(g->instance, cpu, (at - from) / n))
		tell_overwritten(g, from + n);
	return at - from;
}

/* Write the file. Return 1 or -1. */
static int write_file(struct persist *p, int instance, struct atomic_file *place,
		      struct last_boot *last)
{
	unsigned cpus = p->head.cpus;
	uint64_t *offset = calloc(2 * cpus, sizeof(*offset)), *size = offset + cpus, from, end;
	struct reading g = { .last = last, .offset = p->head.offset, .instance = instance,
			     .out = -1 };
	struct bytes head = { 0 };
	int r = -1, e;

	p->head.dir = instance;
	g.line.events = &g.events;
	if (live_open(&g.live, instance) < 0 || dat_events(&p->saved, &g.events) < 0)
		goto end;
	g.subbuf = malloc(g.live.subbuf_size);
	if (!offset || !g.subbuf || dat_head(&p->head, &head, SIZE_MAX) < 0) {
		err_msg("out of memory");
		goto end;
	}
	from = head.n + dat_table_size(&p->head) + NAMES_ROOM;
	from = (from + g.live.subbuf_size - 1) / g.live.subbuf_size * g.live.subbuf_size;
	g.out = atomic_file_make(place);
	e = g.out < 0 ? errno : posix_fallocate(g.out, 0, (off_t)(from + size_of(instance, cpus)));
	if (e && (g.out < 0 || (e != EOPNOTSUPP && e != EINVAL))) {
		errno = e;
		err_errno("unable to write %s; the events are still in the ring buffer",
			  place->path);
		goto end;
	}
	end = from;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		offset[cpu] = end;
		size[cpu] = move_subbufs(&g, cpu, end);
		end += size[cpu];
	}
	comms_clear(&g.events.comms);
	g.events.comms = p->head.comms;
	learn_names(&g);
	p->head.comms = g.events.comms;
	last->end = (int64_t)(g.end / 1000) + g.offset;
	if (dat_head(&p->head, &head, (size_t)from - dat_table_size(&p->head)) < 0)
		err_msg("out of memory");
	dat_table(&p->head, &head, offset, size);
	if (pwrite(g.out, head.v, head.n, 0) != (ssize_t)head.n ||
	    ftruncate(g.out, (off_t)end) < 0 || fsync(g.out) < 0)
		err_errno("unable to write %s", place->path);
	else
		r = atomic_file_publish(place, g.out) < 0 ? -1 : 1;
end:
	if (r < 0)
		atomic_file_drop(place);
	fd_close(g.out);
	free(offset);
	free(g.subbuf);
	free(head.v);
	return r;
}

int last_boot_save(struct persist *p, int instance, struct atomic_file *place,
		   struct last_boot *last)
{
	int r;

	last->none = !reserved_at_rest(instance) ? LAST_BOOT_IN_USE :
		     !instance_buffer_count(instance, "entries: ") ? LAST_BOOT_EMPTY : 0;
	if (last->none)
		return 0;
	r = persist_load(p);
	if (!r)
		last->none = *p->boot ? LAST_BOOT_THIS : LAST_BOOT_NO_HEAD;
	return r > 0 ? write_file(p, instance, place, last) : r;
}
