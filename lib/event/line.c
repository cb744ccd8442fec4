/* SPDX-License-Identifier: ISC */
/* line.c - the lines around and in front of the events' text, as `trace` has them */
#include <stdlib.h>

#include "base/base.h"
#include "event/event.h"
#include "event/vm.h"

/* ---- a line ---------------------------------------------------------------------- */

void line_changed(struct line_format *l)
{
	for (size_t i = 0; i < sizeof(l->heads) / sizeof(*l->heads); i++)
		l->heads[i].len = 0;
	l->second_len = 0;
}

const char *line_task_name(const struct event_set *evs, int pid)
{
	const struct comm *comm = comms_find(&evs->comms, pid);

	return !pid ? "<idle>" : pid < 0 ? "<XXX>" : comm && *comm->name ? comm->name : NULL;
}

/* Those that count something else than nanoseconds: kernel/trace/trace.c. */
int line_clock_counts(const char *name)
{
	static const char *const raw[] = { "counter", "uptime", "x86-tsc", "ppc-tb" };

	for (size_t i = 0; i < sizeof(raw) / sizeof(*raw); i++)
		if (!strcmp(name, raw[i]))
			return 1;
	return 0;
}

static char *put_flags_letters(const struct event_set *evs, char *p, unsigned flags,
			       unsigned preempt)
{
	unsigned v = evs->version ? evs->version : KERNEL(99, 0);
	/* by RESCHED, FLAG_PREEMPT_RESCHED, LAZY */
	static const char resched[8] = { '.', 'n', 'p', 'N', 'l', 'b', 'L', 'B' };
	int lazy = v >= KERNEL(6, 13), bh = v >= KERNEL(5, 17) && flags & FLAG_BH_OFF;
	unsigned which = (flags & FLAG_NEED_RESCHED ? 1u : 0) | (flags & FLAG_PREEMPT_RESCHED ? 2u : 0) |
			 (flags & FLAG_NEED_RESCHED_LAZY && lazy ? 4u : 0);

	*p++ = flags & FLAG_IRQS_OFF ? bh ? 'D' : 'd' : bh ? 'b'
	       : flags & FLAG_NEED_RESCHED_LAZY && !lazy ? 'X' : '.';
	*p++ = resched[which];
	*p++ = flags & FLAG_NMI ? flags & FLAG_HARDIRQ ? 'Z' : 'z'
	       : flags & FLAG_HARDIRQ ? flags & FLAG_SOFTIRQ ? 'H' : 'h'
	       : flags & FLAG_SOFTIRQ ? 's' : '.';
	if (v < KERNEL(5, 13)) { /* the whole byte is one number */
		if (preempt > 15)
			*p++ = "0123456789abcdef"[preempt >> 4];
		*p++ = preempt ? "0123456789abcdef"[preempt & 15] : '.';
		return p;
	}
	*p++ = preempt & 15 ? "0123456789abcdef"[preempt & 15] : '.';
	*p++ = preempt >> 4 ? "0123456789abcdef"[preempt >> 4] : '.';
	return p;
}

static char *put_cpu(char *p, int cpu)
{
	static const struct conversion number = { .letter = 'u', .size = 4, .flags = F_ZERO };
	struct out o = { p, p + 16 };

	out_char(&o, '[');
	out_number(&o, &number, 3, -1, cpu < 0 ? 0 : (uint64_t)cpu);
	out_text(&o, "] ", 2);
	return o.at;
}

/* What stands in front of the time, of a task on a processor with such flags. */
static void make_head(struct line_format *l, struct line_head *h, const struct record *r)
{
	static const struct conversion number = { .letter = 'd', .size = 4 };
	const struct event_set *evs = l->events;
	int pid = record_pid(evs, r);
	const struct comm *comm;
	const char *name;
	struct out o = { h->text, h->text + sizeof(h->text) };

	if (l->who && pid > 0)
		l->who(l->arg, pid);
	comm = comms_find(&evs->comms, pid);
	name = line_task_name(evs, pid);
	if (!name)
		name = "<...>";
	out_text(&o, name, strnlen(name, sizeof(comm->name)));
	if (!evs->exact)
		text_mask_controls(h->text, o.at);
	out_padded(&o, h->text, 0, 16, -1);
	out_char(&o, '-');
	out_number(&o, &number, -7, -1, (uint64_t)(int64_t)pid);
	out_char(&o, ' ');
	if (l->tgid) {
		if (comm && comm->tgid) {
			out_char(&o, '(');
			out_number(&o, &number, 7, -1, (uint64_t)comm->tgid);
			out_text(&o, ") ", 2);
		} else {
			out_text(&o, "(-------) ", 10);
		}
	}
	/* of numbers as long as they can be: 39, 13 and 5 characters */
	o.at = put_cpu(o.at, r->cpu);
	if (!l->no_irq_info && r->len > evs->flags_at && r->len > evs->preempt_at)
		o.at = put_flags_letters(evs, o.at, r->data[evs->flags_at],
					 r->data[evs->preempt_at]);
	h->pid = pid;
	h->cpu = r->cpu;
	h->len = (uint8_t)(o.at - h->text);
}

HOT static char *line_time(struct line_format *l, char *p, uint64_t ts)
{
	uint64_t us = (ts + 500) / 1000;
	struct out o;

	/* lines of the same second follow each other */
	if (us - l->second >= 1000000 || !l->second_len) {
		if (l->raw_clock) {
			o = (struct out){ p, p + 24 };
			out_time(&o, ts, 1);
			return o.at;
		}
		l->second = us - us % 1000000;
		o = (struct out){ l->second_text, l->second_text + sizeof(l->second_text) };
		out_time(&o, l->second * 1000, 0);
		l->second_len = (uint32_t)(o.at - l->second_text) - 6;
	}
	memcpy(p, l->second_text, sizeof(l->second_text));
	return six_digits(p + l->second_len, (uint32_t)(us - l->second));
}

void line_learn(struct line_format *l, const struct record *r)
{
	struct event_set *evs = l->events;
	const struct event *e = event_of(evs, r);
	const struct field *field;
	struct field_data v;
	struct comm *comm;
	int pid;

	/* a task that was renamed is who did it, where there is no such field */
	field = event_field(e, "pid");
	pid = field && !field_value(evs, field, r, &v) ? (int)v.i : record_pid(evs, r);
	field = event_field(e, e->id == evs->newtask ? "comm" : "newcomm");
	if (!field || field_value(evs, field, r, &v) < 0 || v.kind != FIELD_STRING)
		return;
	comms_add(&evs->comms, pid, (const char *)v.data, v.n);
	comm = comms_entry(&evs->comms, pid);
	if (comm) {
		comm->told = l->told;
		comm->seen = l->seen;
	}
	for (size_t i = 0; i < sizeof(l->heads) / sizeof(*l->heads); i++)
		if (l->heads[i].pid == pid)
			l->heads[i].len = 0;
}

/*
 * What tells one head from another: all of the header that every record starts
 * with, but the type in front. NOBODY, which none of them is: of a record too
 * short, or of a kernel whose header is another.
 */
#define NOBODY UINT64_MAX

HOT static inline uint64_t who(const struct event_set *evs, const struct record *r)
{
	const uint64_t type = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 0xffffull << 48 : 0xffff;

	if (!evs->usual_header || r->len < 8)
		return NOBODY;
	return raw_number(r->data, 8, 0, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) & ~type;
}

enum { HEAD_ROOM = 128 };

HOT size_t line_print(struct line_format *l, const struct record *r, char *buf, size_t size)
{
	struct event_set *evs = l->events;
	uint64_t of = who(evs, r);
	struct line_head *h = &l->heads[(of * 0x9e3779b97f4a7c15ull >> 32 ^ (unsigned)r->cpu) %
					(sizeof(l->heads) / sizeof(*l->heads))];
	char *p;

	if (size < HEAD_ROOM)
		return 0;
	if (h->who != of || h->cpu != r->cpu || !h->len || of == NOBODY) {
		make_head(l, h, r);
		h->who = of;
	}
	memcpy(buf, h->text, sizeof(h->text));
	p = line_time(l, buf + h->len, r->ts);
	memcpy(p, ": ", 2);
	p = vm_run(evs, r, l->raw_clock, p + 2, buf + size);
	if (p == buf + size) /* it may be cut */
		p[-1] = '\n';
	return (size_t)(p - buf);
}

/* ---- other lines ------------------------------------------------------------------ */

size_t line_lost(int cpu, int64_t lost, char *buf, size_t size)
{
	struct out o = { buf, buf + size };

	out_text(&o, "CPU:", 4);
	out_decimal(&o, cpu < 0 ? 0 : (uint64_t)cpu);
	out_text(&o, " [LOST ", 7);
	if (lost != LOST_UNKNOWN) {
		out_decimal(&o, (uint64_t)lost);
		out_char(&o, ' ');
	}
	out_text(&o, "EVENTS]\n", 8);
	return (size_t)(o.at - buf);
}

size_t line_header(const struct line_format *l, const char *tracer, uint64_t entries,
		   uint64_t written, unsigned cpus, char *buf, size_t size)
{
	/* what is in front, over the thread group's column, and behind it */
	static const struct {
		const char *before, *column, *behind;
	} lines[] = {
#define ROOM "                            ", "            "
		/* since 5.13 */
		{ ROOM, "  _-----=> irqs-off/BH-disabled\n" },
		{ ROOM, " / _----=> need-resched\n" },
		{ ROOM, "| / _---=> hardirq/softirq\n" },
		{ ROOM, "|| / _--=> preempt-depth\n" },
		{ ROOM, "||| / _-=> migrate-disable\n" },
		{ ROOM, "|||| /     delay\n" },
		{ "           TASK-PID  ", "     TGID   ", " CPU#  |||||  TIMESTAMP  FUNCTION\n" },
		{ "              | |    ", "       |    ", "   |   |||||     |         |\n" },
		/* before */
		{ ROOM, "  _-----=> irqs-off\n" },
		{ ROOM, " / _----=> need-resched\n" },
		{ ROOM, "| / _---=> hardirq/softirq\n" },
		{ ROOM, "|| / _--=> preempt-depth\n" },
		{ ROOM, "||| /     delay\n" },
		{ "           TASK-PID  ", "     TGID   ", " CPU#  ||||   TIMESTAMP  FUNCTION\n" },
		{ "              | |    ", "       |    ", "   |   ||||      |         |\n" },
		/* without irq-info */
		{ "           TASK-PID    ", "   TGID   ", " CPU#     TIMESTAMP  FUNCTION\n" },
		{ "              | |      ", "     |    ", "   |         |         |\n" },
	};
	static const char entries_written[] = "\n#\n# entries-in-buffer/entries-written: ";
	unsigned version = l->events->version ? l->events->version : KERNEL(99, 0);
	size_t first = 0, last = 8;
	struct out o = { buf, buf + size };

	if (l->no_irq_info) {
		first = 15;
		last = 17;
	} else if (version < KERNEL(5, 13)) {
		first = 8;
		last = 15;
	}
	out_text(&o, "# tracer: ", 10);
	out_text(&o, tracer, strlen(tracer));
	out_text(&o, entries_written, sizeof(entries_written) - 1);
	out_decimal(&o, entries);
	out_char(&o, '/');
	out_decimal(&o, written);
	out_text(&o, "   #P:", 6);
	out_decimal(&o, cpus);
	out_text(&o, "\n#\n", 3);
	for (size_t i = first; i < last; i++) {
		size_t n = l->tgid ? strlen(lines[i].column) : l->no_irq_info ? 0 : 2;
		/* once it was the other name */
		int old_name = i == 0 && version < KERNEL(5, 17);

		out_char(&o, '#');
		out_text(&o, lines[i].before, strlen(lines[i].before));
		out_text(&o, lines[i].column, n);
		out_text(&o, lines[old_name ? 8 : i].behind, strlen(lines[old_name ? 8 : i].behind));
	}
	return (size_t)(o.at - buf);
}
