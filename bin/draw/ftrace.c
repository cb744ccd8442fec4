/* SPDX-License-Identifier: ISC */
/*
 * ftrace.c - the records of a trace.dat as Perfetto's FtraceEvents
 *
 * Perfetto's user interface makes tracks of the events in the table below, which become messages
 * of the schema. The other events describe themselves. The sub-buffers of a CPU follow each other,
 * because Perfetto sorts events itself.
 */

#include "base/base.h"
#include "event/event.h"
#include "tracedat/tracedat.h"
#include "show/show.h"
#include "lines/lines.h"
#include "perfetto.h"

enum {
	MOST_FIELDS = 31,       /* Perfetto rejects the descriptor of an event with more */
	PRINT = 3,              /* FtraceEvent.print: the text is field 2 */
	SYS_ENTER = 329,        /* FtraceEvent.sys_enter: id is field 1, each argument field 2 */
	GENERIC = 65536,        /* number of the first event that describes itself */
};

/* Types of FieldDescriptorProto. */
enum { TYPE_INT64 = 3, TYPE_UINT64 = 4, TYPE_STRING = 9 };

/*
 * Events that have a message in the schema: a glob, its number in FtraceEvent, and the fields
 * 1, 2, 3, ... of the message. "*" stands for all other numbers of the event, which are the
 * arguments of a system call.
 */
static const struct typed {
	const char *event;
	unsigned number;
	const char *fields;
} typed[] = {
#include "typed.h"
};

/* How the records of an event are written. */
struct plan {
	const struct event *event;      /* NULL: its format is not known */
	unsigned number;                /* in FtraceEvent */
	const struct field *fields[MOST_FIELDS]; /* field 1, 2, ...; NULL: the event lacks it */
	unsigned nfields;
	int marker;                     /* its text becomes that of a print */
};

static struct {
	struct dat *dat;                /* the present file */
	int status;
	unsigned long long bad;         /* corrupt sub-buffers of the present file */

	struct event_set events;
	struct plan *plans[UINT16_MAX + 1]; /* by id; NULL: no record yet */
	struct total {
		uint64_t events, lost, unwritten;
	} *totals;                      /* by CPU */
	unsigned ncpus;

	/* the bundle that is being written */
	unsigned cpu;
	int lost;                       /* events were lost before the next bundle */
	int begun;                      /* the first packets of the file are written */
	int bundle;                     /* a bundle is open */
} c;

/* ---- packets ----------------------------------------------------------------------------- */

/*
 * Write TracePacket.ftrace_stats: the number of events, read_events, and of lost events,
 * overrun, of each CPU, and of unwritten ones, dropped_events. phase is 1 at the start,
 * and 2 at the end.
 */
static void write_totals(int phase)
{
	proto_put("1{34{1u", (uint64_t)phase);
	for (unsigned cpu = 0; cpu < c.ncpus; cpu++)
		proto_put("2{1u3u8u9u}", (uint64_t)cpu, c.totals[cpu].lost, c.totals[cpu].unwritten,
		    c.totals[cpu].events);
	proto_put("}.");
}

/*
 * Write what comes before the first event. The system_info tells Perfetto how to read the numbers
 * of system calls and the states of tasks. Clock 6 is CLOCK_BOOTTIME, for which Perfetto takes
 * the trace clock, and 1 is CLOCK_REALTIME. Name each task by a packet of a renaming, because a
 * ProcessTree would also need the process of the task, which is not known.
 */
static void write_first(uint64_t ts, int64_t ahead)
{
	const struct comms *comms = &c.events.comms;
	uint64_t host = ahead < 0 ? 1 - (uint64_t)ahead : 1, client = host + (uint64_t)ahead;

	proto_put("1{45{1{1s3s4s}}.", "Linux", c.dat->release, c.dat->machine);
	if (packets.machine) {
		/* Perfetto wants two pairs, and takes a time of 0 for none */
		proto_put("1{107{");
		for (int i = 0; i < 2; i++)
			proto_put("1{2{1{1u2u}}3{1{1u2u}}}", (uint64_t)6, client, (uint64_t)6,
				  host);
		proto_put("}.");
	}
	/* without a snapshot of the first host's clock, Perfetto drops the other hosts' events */
	if (!packets.machine || c.dat->dated) {
		proto_put("1{6{1{1u2u}", (uint64_t)6, ts);
		if (c.dat->dated)
			proto_put("1{1u2u}", (uint64_t)1, ts + (uint64_t)c.dat->offset * 1000);
		proto_put("}.");
	}
	for (size_t i = 0; i < comms->room; i++) {
		const struct comm *task = comms->v[i];

		if (!task || !*task->name)
			continue;
		proto_put("1{8u120{1u2s}.", ts, (uint64_t)task->pid, task->name);
	}
}

/* ---- events ------------------------------------------------------------------------------ */

static void bundle_begin(void)
{
	if (!c.bundle)
		proto_put("1{1{1u3u", (uint64_t)c.cpu, (uint64_t)c.lost);
	c.bundle = 1;
	c.lost = 0;
}

static void bundle_end(void)
{
	if (c.lost)
		bundle_begin();
	if (c.bundle)
		proto_put("}.");
	c.bundle = 0;
}

/*
 * Describe an event in the bundle, as a DescriptorProto. The older GenericFtraceEvent would
 * repeat all names in each event. Perfetto reads descriptors since version 50 of 2025.
 */
static void describe(const struct plan *p)
{
	proto_put("11{1u2{1s", (uint64_t)p->number, p->event ? p->event->name : "unknown");
	for (unsigned i = 0; i < p->nfields; i++) {
		const struct field *f = p->fields[i];

		/* label 1: optional */
		proto_put("2{1s3u4u5u}", f->name, (uint64_t)i + 1, (uint64_t)1,
		    (uint64_t)(f->kind > FIELD_POINTER ? TYPE_STRING :
			       f->kind == FIELD_NUMBER && f->is_signed ? TYPE_INT64 : TYPE_UINT64));
	}
	proto_put("}}");
}

/* Add a field of the event to the plan. */
static void plan_field(struct plan *p, const struct field *f)
{
	if (p->nfields < MOST_FIELDS)
		p->fields[p->nfields++] = f;
}

/* Find the message that the schema has for an event. */
static void plan_typed(struct plan *p)
{
	const struct event *e = p->event;
	const struct typed *t = typed, *end = typed + sizeof(typed) / sizeof(*typed);
	char name[32];

	while (t < end && !glob_names(t->event, e->system, e->name))
		t++;
	if (t == end)
		return;
	p->number = t->number;
	for (const char *s = t->fields; *s; s += *s == ' ') {
		size_t n = strcspn(s, " ");

		str_format(name, sizeof(name), "%.*s", (int)n, s);
		s += n;
		if (*name != '*')
			plan_field(p, event_field(e, name));
		for (unsigned i = e->ncommon; *name == '*' && i < e->nfields; i++)
			if (&e->fields[i] != p->fields[0] && e->fields[i].kind <= FIELD_POINTER)
				plan_field(p, &e->fields[i]);
	}
}

/*
 * Is it an event with which a driver of Android marks slices and counters? Their texts are those of
 * trace_marker, as "B|PID|NAME"; their fields differ.
 */
static int is_marker(struct event *e)
{
	static const char end[] = MARKER_EVENT;
	size_t n = strlen(e->name);

	return n >= sizeof(end) - 1 && !strcmp(e->name + n - (sizeof(end) - 1), end) &&
	       event_prepare(&c.events, e) == 0;
}

/* Write the text of a marker as a print, which Perfetto makes slices and counters of. */
static void put_marker(const struct plan *p, const struct record *r)
{
	static struct line_format line; /* large */
	static char text[PACKET_TEXT];
	size_t head, n;

	line.events = &c.events;
	head = line_begin(&line, r, text) + strlen(p->event->name) + strlen(": ");
	n = line_print(&line, r, text, sizeof(text));
	line_changed(&line); /* another file may follow */
	proto_string(2, text + head, n > head ? n - head : 0);
}

/* Return how to write the events of this id. Describe them in the bundle if necessary. */
static const struct plan *plan_of(unsigned id)
{
	struct event *e = event_by_id(&c.events, id);
	struct plan *p = c.plans[id];

	if (p)
		return p;
	p = c.plans[id] = xcalloc(1, sizeof(*p));
	p->event = e;
	if (e)
		plan_typed(p);
	if (!p->number && e && is_marker(e)) {
		p->number = PRINT;
		p->marker = 1;
	}
	if (p->number)
		return p;
	p->number = GENERIC + id;
	if (e && e->nfields - e->ncommon > MOST_FIELDS)
		err_note("%s:%s: only the first %d of its fields are converted", e->system,
			 e->name, MOST_FIELDS);
	for (unsigned i = e ? e->ncommon : 0; e && i < e->nfields; i++)
		plan_field(p, &e->fields[i]);
	describe(p);
	return p;
}

/* Write a field, unless the event lacks it or the record ends before it. */
static void put_field(const struct plan *p, unsigned i, const struct record *r)
{
	const struct field *f = p->fields[i];
	unsigned number = p->number == SYS_ENTER && i ? 2 : i + 1;
	struct field_data v;
	char *mark = packets.o.at;

	/* json_value knows how long a stack is */
	if (!f || (field_value(&c.events, f, r, &v) < 0 && f->kind != FIELD_ARRAY))
		return;
	if (f->kind <= FIELD_POINTER) {
		proto_varint(number, v.u);
	} else if (f->kind == FIELD_STRING) {
		proto_string(number, v.data, v.n);
	} else if (p->number < GENERIC) {
		/* the only array of a typed event: the arguments of a system call */
		for (size_t k = 0; k < v.n && packets.o.at < packets.o.end; k++)
			proto_varint(number, field_element(&c.events, f, &v, k));
	} else {
		proto_begin(number);
		json_value(&c.events, &packets.o, p->event, f, r);
		proto_end();
	}
	if (packets.o.at >= packets.o.end)
		packets.o.at = mark;
}

static void put_record(const struct record *r)
{
	const struct plan *p;

	if (c.bundle && packets_full())
		bundle_end();
	bundle_begin();
	c.totals[c.cpu].events++;
	p = plan_of(record_id(&c.events, r));
	/* Perfetto is fastest with this order */
	proto_put("2{1u2u", r->ts, (uint64_t)(uint32_t)record_pid(&c.events, r));
	proto_begin(p->number);
	for (unsigned i = 0; i < p->nfields; i++)
		put_field(p, i, r);
	if (p->marker)
		put_marker(p, r);
	proto_put("}}");
}

/* ---- files ------------------------------------------------------------------------------- */

/* Convert the sub-buffers of a CPU. ahead: by how much its clock is ahead, in ns. */
static void convert_cpu(const struct dat_buffer *b, const struct dat_cpu *cpu, int64_t ahead)
{
	struct subbuf_format layout = c.dat->layout;
	struct dat_subbufs subbufs;
	struct subbuf subbuf;
	struct record r;
	const void *data;

	c.cpu = cpu->cpu;
	c.totals[c.cpu].lost += cpu->lost;
	layout.size = (uint32_t)b->subbuf_size;
	dat_subbufs_begin(&subbufs, c.dat, b, cpu);
	while ((data = dat_subbufs_next(&subbufs))) {
		subbuf_open(&subbuf, &layout, data, b->subbuf_size, (int)cpu->cpu);
		if (!c.begun++) {
			write_first(subbuf.ts, ahead);
			write_totals(1);
		}
		if (subbuf.lost) {
			/* in a bundle there is no loss */
			bundle_end();
			c.lost = 1;
			if (subbuf.lost != LOST_UNKNOWN && !b->counted)
				c.totals[c.cpu].lost += (uint64_t)subbuf.lost;
		}
		while (subbuf_next(&subbuf, &r))
			put_record(&r);
		c.bad += subbuf.bad != 0;
	}
	bundle_end();
	if (subbufs.failed)
		c.status = REFUSED;
	dat_subbufs_end(&subbufs);
}

/* Forget the events of the present file. */
static void forget(void)
{
	for (unsigned i = 0; i <= UINT16_MAX; i++) {
		free(c.plans[i]);
		c.plans[i] = NULL;
	}
	free(c.totals);
	events_free(&c.events);
	c.events = (struct event_set){ 0 };
	c.ncpus = 0;
	c.bad = 0;
	c.begun = c.lost = c.status = 0;
}

int perfetto_file(struct dat *d, int64_t ahead)
{
	int status;

	c.dat = d;
	if (dat_events(d, &c.events) < 0)
		return REFUSED;
	for (size_t i = 0; i < d->nbuffers; i++)
		for (size_t k = 0; k < d->buffers[i].ncpus; k++)
			if (d->buffers[i].cpus[k].cpu >= c.ncpus)
				c.ncpus = d->buffers[i].cpus[k].cpu + 1;
	c.totals = xcalloc(c.ncpus, sizeof(*c.totals));
	for (size_t i = 0; i < d->nbuffers; i++) {
		const struct dat_buffer *b = &d->buffers[i];

		if (line_clock_counts(b->clock))
			err_note("%s: its trace clock does not count seconds", d->path);
		for (size_t k = 0; k < b->ncpus; k++)
			convert_cpu(b, &b->cpus[k], ahead);
		if (b->ncpus) /* the file does not say of which CPU they are */
			c.totals[b->cpus->cpu].unwritten += b->unwritten;
	}
	write_totals(2);
	if (c.bad) {
		err_msg("%s is damaged: %llu of its sub-buffers could be converted only in part",
			d->path, c.bad);
		c.status = REFUSED;
	}
	status = c.status;
	forget();
	dat_close(d);
	return status;
}
