/* SPDX-License-Identifier: ISC */
/*
 * tfs-perfetto - convert a trace.dat to a trace of Perfetto
 *
 * Requires: only the files; they contain all that is needed, so any machine will do.
 * The output is a message Trace of Perfetto's schema, protos/perfetto/trace/trace.proto. Each
 * record becomes one FtraceEvent. Perfetto's user interface makes tracks of the events in the
 * table below, which become messages of the schema. The other events describe themselves. The
 * sub-buffers of a processor follow each other, because Perfetto sorts events itself.
 * With several files, each file is a machine. The n-th -a belongs to the n-th file behind the
 * first file. Without -a, the dates of the files tell how far their clocks are apart.
 * Exit: 0 done, 100 usage error, 111 a file could not be read or is damaged, and the readable
 * part was converted; 141 the reader is gone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "event/event.h"
#include "tracedat/tracedat.h"
#include "lines/lines.h"
#include "view/view.h"

static const struct tool tool = {
	.name = "tfs-perfetto",
	.help =
		"tfs-perfetto [-a SECONDS]... FILE...\n"
		"convert a trace.dat to a trace of Perfetto\n"
		"-a SECONDS  how far the next host's clock is ahead of the first host's\n",
};

enum {
	BUNDLE = 64 * 1024,     /* bytes of a bundle, before it is written */
	EVENT = 96 * 1024,      /* bytes of an event; fields beyond that are left out */
	TAIL = 64,              /* bytes behind an event for what ends its messages */
	MOST_FIELDS = 31,       /* Perfetto rejects the descriptor of an event with more */
	MOST_NAME = 256,        /* bytes of the name of an event or a field */
	PRINT = 3,              /* FtraceEvent.print: the text is field 2 */
	MOST_MARKER = 8192,     /* bytes of the text of a marker */
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
static const char typed[] =
	"ftrace:print 3 ip buf\n"
	"sched:sched_switch 4"
	" prev_comm prev_pid prev_prio prev_state next_comm next_pid next_prio\n"
	"power:cpu_frequency 11 state cpu_id\n"
	"power:cpu_idle 13 state cpu_id\n"
	"sched:sched_waking 20 comm pid prio success target_cpu\n"
	"irq:softirq_entry 24 vec\n"
	"irq:softirq_exit 25 vec\n"
	"irq:irq_handler_entry 36 irq name\n"
	"irq:irq_handler_exit 37 irq ret\n"
	"task:task_newtask 235 pid comm clone_flags oom_score_adj\n"
	"task:task_rename 236 pid oldcomm newcomm oom_score_adj\n"
	"sched:sched_process_exec 237 filename pid old_pid\n"
	"sched:sched_process_exit 238 comm pid tgid prio\n"
	"sched:sched_process_fork 239 parent_comm parent_pid child_comm child_pid\n"
	"raw_syscalls:sys_enter 329 id args\n"
	"syscalls:sys_enter_* 329 __syscall_nr *\n"
	"raw_syscalls:sys_exit 330 id ret\n"
	"syscalls:sys_exit_* 330 __syscall_nr ret\n";

/* How the records of an event are written. */
struct plan {
	const struct event *event;      /* NULL: its format is not known */
	unsigned number;                /* in FtraceEvent */
	const struct field *fields[MOST_FIELDS]; /* field 1, 2, ...; NULL: the event lacks it */
	unsigned nfields;
	int marker;                     /* its text becomes that of a print */
};

static struct convert {
	struct dat *dat;                /* the present file */
	unsigned machine;               /* its number */
	int status;
	unsigned long long bad;         /* corrupt sub-buffers of the present file */

	struct event_set events;
	struct plan *plans[UINT16_MAX + 1]; /* by id; NULL: no record yet */
	struct total {
		uint64_t events, lost, unwritten;
	} *totals;                      /* by processor */
	unsigned ncpus;

	/* the bundle that is being written */
	unsigned cpu;
	int lost;                       /* events were lost before the next bundle */
	int begun;                      /* the first packets of the file are written */
	int bundle;                     /* a bundle is open */
	char *open[8];                  /* where the messages that are open begin in text */
	unsigned depth;                 /* their number */
	struct out o;                   /* in text */
	char text[BUNDLE + EVENT + TAIL];
} c;

/* ---- messages ---------------------------------------------------------------------------- */

static void put_number(struct out *o, uint64_t v)
{
	for (; v >= 0x80 && o->at < o->end; v >>= 7)
		*o->at++ = (char)(v | 0x80);
	if (o->at < o->end)
		*o->at++ = (char)v;
}

/* Begin a message or a string. message_end ends it. */
static void message_begin(unsigned field)
{
	put_number(&c.o, (uint64_t)field << 3 | 2);
	out_char(&c.o, 0);
	c.open[c.depth++] = c.o.at;
}

/*
 * Write the length in front of the message. The message moves if the length needs more than a
 * byte.
 */
static void message_end(void)
{
	char *begin = c.open[--c.depth];
	size_t n = (size_t)(c.o.at - begin);
	struct out length = out_to(begin - 1, 10);
	unsigned more = 0;

	for (size_t rest = n; rest >>= 7; more++)
		;
	/* the end leaves TAIL bytes for this */
	if (more)
		memmove(begin + more, begin, n);
	c.o.at += more;
	put_number(&length, n);
}

static void put_varint(unsigned field, uint64_t v)
{
	put_number(&c.o, (uint64_t)field << 3);
	put_number(&c.o, v);
}

/* Write a string; bytes that are no UTF-8 become U+FFFD. */
static void put_string(unsigned field, const void *text, size_t n)
{
	const unsigned char *s = text, *end = s + n;

	message_begin(field);
	while (s < end) {
		size_t len = text_utf8(s, (size_t)(end - s));

		if (*s < 0x80)
			for (len = 1; s + len < end && s[len] < 0x80; len++)
				;
		out_text(&c.o, len ? (const char *)s : "\xef\xbf\xbd", len ? len : 3);
		s += len ? len : 1;
	}
	message_end();
}

/*
 * Write fields. In form, a field is its number and a letter: u for a number of 64 bits, s for a
 * string, or { for a message, which } ends. The values follow.
 */
static void put(const char *form, ...)
{
	va_list ap;

	va_start(ap, form);
	for (; *form; form++) {
		unsigned field = (unsigned)text_digits(&form);
		const char *s;

		if (*form == '{') {
			message_begin(field);
		} else if (*form == 'u') {
			put_varint(field, va_arg(ap, uint64_t));
		} else if (*form == 's') {
			s = va_arg(ap, const char *);
			put_string(field, s, strnlen(s, MOST_NAME));
		} else {
			message_end();
		}
	}
	va_end(ap);
}

/* ---- packets ----------------------------------------------------------------------------- */

static void text_clear(void)
{
	c.o = out_to(c.text, sizeof(c.text) - TAIL);
}

static void write_text(void)
{
	if (fd_write_all(STDOUT_FILENO, c.text, (size_t)(c.o.at - c.text)) < 0) {
		if (errno == EPIPE)
			stdout_broken_pipe();
		err_errno("unable to write to standard output");
		exit(REFUSED);
	}
	text_clear();
}

/* Write Trace.packet.machine_id, end the packet, and write the text if there is enough of it. */
static void packet_end(void)
{
	c.o.end += TAIL;
	put_varint(98, c.machine);
	message_end();
	c.o.end -= TAIL;
	if (c.o.at - c.text >= BUNDLE)
		write_text();
}

/*
 * Write TracePacket.ftrace_stats: the number of events, read_events, and of lost events,
 * overrun, of each processor, and of unwritten ones, dropped_events. phase is 1 at the start,
 * and 2 at the end.
 */
static void write_totals(int phase)
{
	put("1{34{1u", (uint64_t)phase);
	for (unsigned cpu = 0; cpu < c.ncpus; cpu++)
		put("2{1u3u8u9u}", (uint64_t)cpu, c.totals[cpu].lost, c.totals[cpu].unwritten,
		    c.totals[cpu].events);
	put("}");
	packet_end();
}

/*
 * Write what comes before the first event. The system_info tells Perfetto how to read the numbers
 * of system calls and the states of tasks. Clock 6 is CLOCK_BOOTTIME, for which Perfetto takes
 * the trace clock, and 1 is CLOCK_REALTIME. The names of tasks are packets of renamings, because
 * a ProcessTree would claim to know the process of each task.
 */
static void write_first(uint64_t ts, int64_t ahead)
{
	const struct comms *comms = &c.events.comms;
	uint64_t host = ahead < 0 ? 1 - (uint64_t)ahead : 1, client = host + (uint64_t)ahead;

	put("1{45{1{1s3s4s}}", "Linux", c.dat->release, c.dat->machine);
	packet_end();
	if (c.machine) {
		/* Perfetto wants two pairs, and takes a time of 0 for none */
		put("1{107{");
		for (int i = 0; i < 2; i++)
			put("1{2{1{1u2u}}3{1{1u2u}}}", (uint64_t)6, client, (uint64_t)6, host);
		put("}");
		packet_end();
	}
	/* without a snapshot of the first host's clock, Perfetto drops the other hosts' events */
	if (!c.machine || c.dat->dated) {
		put("1{6{1{1u2u}", (uint64_t)6, ts);
		if (c.dat->dated)
			put("1{1u2u}", (uint64_t)1, ts + (uint64_t)c.dat->offset * 1000);
		put("}");
		packet_end();
	}
	for (size_t i = 0; i < comms->room; i++) {
		const struct comm *task = comms->v[i];

		if (!task || !*task->name)
			continue;
		put("1{8u120{1u2s}", ts, (uint64_t)task->pid, task->name);
		packet_end();
	}
}

/* ---- events ------------------------------------------------------------------------------ */

static void bundle_begin(void)
{
	put("1{1{1u3u", (uint64_t)c.cpu, (uint64_t)c.lost);
	c.bundle = 1;
	c.lost = 0;
}

static void bundle_end(void)
{
	if (!c.bundle && c.lost)
		bundle_begin();
	if (c.bundle) {
		message_end();
		packet_end();
	}
	c.bundle = 0;
}

/*
 * Describe an event in the bundle, as a DescriptorProto. The older GenericFtraceEvent would
 * repeat all names in each event. Perfetto reads descriptors since version 50 of 2025.
 */
static void describe(const struct plan *p)
{
	put("11{1u2{1s", (uint64_t)p->number, p->event ? p->event->name : "unknown");
	for (unsigned i = 0; i < p->nfields; i++) {
		const struct field *f = p->fields[i];

		/* label 1: optional */
		put("2{1s3u4u5u}", f->name, (uint64_t)i + 1, (uint64_t)1,
		    (uint64_t)(f->kind > FIELD_POINTER ? TYPE_STRING :
			       f->kind == FIELD_NUMBER && f->is_signed ? TYPE_INT64 : TYPE_UINT64));
	}
	put("}}");
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
	char word[32];
	int matches = 0;

	for (const char *s = typed; *s; s++) {
		int first = s == typed || s[-1] == '\n';
		size_t n = strcspn(s, " \n");

		str_format(word, sizeof(word), "%.*s", (int)n, s);
		s += n;
		if (first) {
			matches = glob_names(word, e->system, e->name);
			s++;
			n = (size_t)text_digits(&s);
			if (matches)
				p->number = (unsigned)n;
		} else if (matches && *word != '*') {
			plan_field(p, event_field(e, word));
		}
		for (unsigned i = e->ncommon; matches && *word == '*' && i < e->nfields; i++)
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
	static const char end[] = "tracing_mark_write";
	size_t n = strlen(e->name);

	return n >= sizeof(end) - 1 && !strcmp(e->name + n - (sizeof(end) - 1), end) &&
	       event_prepare(&c.events, e) == 0;
}

/* Write the text of a marker as a print, which Perfetto makes slices and counters of. */
static void put_marker(const struct plan *p, const struct record *r)
{
	static struct line_format line = { .events = &c.events };
	static char text[MOST_MARKER];
	size_t head = line_begin(&line, r, text) + strlen(p->event->name) + strlen(": ");
	size_t n = line_print(&line, r, text, sizeof(text));

	line_changed(&line); /* another file may follow */
	put_string(2, text + head, n > head ? n - head : 0);
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

/* Write a field. A field for which the record or the event has no room is left out. */
static void put_field(const struct plan *p, unsigned i, const struct record *r)
{
	const struct field *f = p->fields[i];
	unsigned number = p->number == SYS_ENTER && i ? 2 : i + 1;
	struct field_data v;
	char *mark = c.o.at;

	/* json_value knows how long a stack is */
	if (!f || (field_value(&c.events, f, r, &v) < 0 && f->kind != FIELD_ARRAY))
		return;
	if (f->kind <= FIELD_POINTER) {
		put_varint(number, v.u);
	} else if (f->kind == FIELD_STRING) {
		put_string(number, v.data, v.n);
	} else if (p->number < GENERIC) {
		/* the only array of a typed event: the arguments of a system call */
		for (size_t k = 0; k < v.n && c.o.at < c.o.end; k++)
			put_varint(number, field_element(&c.events, f, &v, k));
	} else {
		message_begin(number);
		json_value(&c.events, &c.o, p->event, f, r);
		message_end();
	}
	if (c.o.at >= c.o.end)
		c.o.at = mark;
}

static void put_record(const struct record *r)
{
	const struct plan *p;

	if (c.bundle && c.o.at - c.text >= BUNDLE)
		bundle_end();
	if (!c.bundle)
		bundle_begin();
	c.totals[c.cpu].events++;
	p = plan_of(record_id(&c.events, r));
	/* Perfetto is fastest with this order */
	message_begin(2);
	put_varint(1, r->ts);
	put_varint(2, (uint32_t)record_pid(&c.events, r));
	message_begin(p->number);
	for (unsigned i = 0; i < p->nfields; i++)
		put_field(p, i, r);
	if (p->marker)
		put_marker(p, r);
	message_end();
	message_end();
}

/* ---- files ------------------------------------------------------------------------------- */

/* Convert the sub-buffers of a processor. ahead: by how much its clock is ahead, in ns. */
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

/* Convert a file. Return 0, or -1, reported. */
static int convert_file(struct dat *d, int64_t ahead)
{
	c.dat = d;
	c.bad = 0;
	c.begun = c.lost = 0;
	if (dat_events(d, &c.events) < 0)
		return -1;
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
		if (b->ncpus) /* the file does not say of which processor they are */
			c.totals[b->cpus->cpu].unwritten += b->unwritten;
	}
	write_totals(2);
	if (c.bad) {
		err_msg("%s is damaged: %llu of its sub-buffers could be converted only in part",
			d->path, c.bad);
		c.status = REFUSED;
	}
	for (unsigned i = 0; i <= UINT16_MAX; i++) {
		free(c.plans[i]);
		c.plans[i] = NULL;
	}
	free(c.totals);
	c.ncpus = 0;
	events_free(&c.events);
	c.events = (struct event_set){ 0 };
	dat_close(d);
	return 0;
}

/* Return seconds in ns. Exit with a usage error for another word. */
static int64_t nanoseconds(const char *word)
{
	struct decimal v;
	int64_t ns;

	if (decimal_parse(&v, (struct text_part){ word, strlen(word) }) < 0 ||
	    v.whole > INT64_MAX / 2000000000)
		usage_error(&tool, "not a number of seconds: '%.80s'", word);
	ns = (int64_t)v.whole * 1000000000 + v.nano;
	return v.negative ? -ns : ns;
}

int main(int argc, char **argv)
{
	static struct dat *dats;
	static int64_t *ahead;
	unsigned n, given = 0;

	ahead = xcalloc((size_t)argc + 1, sizeof(*ahead));
	while (opt_next(&tool, argc, argv) != -1)
		ahead[++given] = nanoseconds(opt_value);
	n = (unsigned)(argc - opt_index);
	if (n <= given)
		usage_error(&tool, "too few files; -a is for each file but the first");
	dats = xcalloc(n, sizeof(*dats));
	for (unsigned i = 0; i < n; i++)
		if (dat_file(&dats[i], argv[opt_index + (int)i]) < 0)
			return REFUSED;
	/* the files may be hostile */
	confine();
	for (unsigned i = 0; i < n; i++) {
		if (dat_read_head(&dats[i]) < 0)
			return REFUSED;
		if (dats[i].cut)
			c.status = REFUSED;
		if (i <= given)
			continue;
		/* the same time of day tells how far the clocks are apart */
		if (dats[0].dated && dats[i].dated)
			ahead[i] = (int64_t)(((uint64_t)dats[0].offset -
					      (uint64_t)dats[i].offset) * 1000);
		else
			err_note("%s: its clock is not adjusted; give -a, or record with -d",
				 dats[i].path);
	}
	text_clear();
	for (; c.machine < n; c.machine++)
		if (convert_file(&dats[c.machine], ahead[c.machine]) < 0)
			return REFUSED;
	write_text();
	return c.status;
}
