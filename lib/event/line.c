/* SPDX-License-Identifier: ISC */
/* line.c - print lines as the kernel's `trace` has them */

#include "base/base.h"
#include "event/event.h"
#include "event/vm.h"

/* ---- the line of a record ---- */

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

/* kernel/trace/trace.c, trace_clocks: those whose in_ns is 0 */
int line_clock_counts(const char *name)
{
	static const char *const raw[] = { "counter", "uptime", "x86-tsc", "ppc-tb" };

	for (size_t i = 0; i < sizeof(raw) / sizeof(*raw); i++)
		if (!strcmp(name, raw[i]))
			return 1;
	return 0;
}

/*
 * Write the letters for interrupts, reschedule, context and preemption (kernel/trace/
 * trace_output.c, trace_print_lat_fmt). Return their end.
 */
static char *put_flag_letters(const struct event_set *evs, char *p, unsigned flags,
			      unsigned preempt)
{
	unsigned v = evs->version ? evs->version : KERNEL(99, 0);
	/* bit 0: NEED_RESCHED, 1: PREEMPT_RESCHED, 2: NEED_RESCHED_LAZY */
	static const char resched[8] = { '.', 'n', 'p', 'N', 'l', 'b', 'L', 'B' };
	int lazy = v >= KERNEL(6, 13), bh = v >= KERNEL(5, 17) && flags & FLAG_BH_OFF;
	unsigned which = (flags & FLAG_NEED_RESCHED ? 1u : 0) |
			 (flags & FLAG_PREEMPT_RESCHED ? 2u : 0) |
			 (flags & FLAG_NEED_RESCHED_LAZY && lazy ? 4u : 0);

	*p++ = flags & FLAG_IRQS_OFF ? bh ? 'D' : 'd' : bh ? 'b'
	       : flags & FLAG_NEED_RESCHED_LAZY && !lazy ? 'X' : '.';
	*p++ = resched[which];
	*p++ = flags & FLAG_NMI ? flags & FLAG_HARDIRQ ? 'Z' : 'z'
	       : flags & FLAG_HARDIRQ ? flags & FLAG_SOFTIRQ ? 'H' : 'h'
	       : flags & FLAG_SOFTIRQ ? 's' : '.';
	if (v < KERNEL(5, 13)) { /* the whole byte is the preemption depth */
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
	struct out o = out_to(p, 16);

	out_char(&o, '[');
	out_number(&o, &number, 3, -1, cpu < 0 ? 0 : (uint64_t)cpu);
	out_string(&o, "] ");
	return o.at;
}

/* Make the text before the time, for a task on a CPU with such flags. */
static void make_head(struct line_format *l, struct line_head *h, const struct record *r)
{
	static const struct conversion number = { .letter = 'd', .size = 4 };
	const struct event_set *evs = l->events;
	int pid = record_pid(evs, r);
	const struct comm *comm;
	const char *name;
	struct out o = out_to(h->text, sizeof(h->text));

	if (l->learn_name && pid > 0)
		l->learn_name(l->arg, pid);
	comm = comms_find(&evs->comms, pid);
	name = line_task_name(evs, pid);
	if (!name)
		name = "<...>";
	out_escaped(&o, name, strnlen(name, sizeof(comm->name)),
		    evs->exact ? ESCAPE_NOTHING : evs->keys ? ESCAPE_TEXT : ESCAPE_NAME);
	h->comm = (uint8_t)(o.at - h->text);
	out_padded(&o, h->text, 0, 16, -1);
	out_char(&o, '-');
	out_number(&o, &number, -7, -1, (uint64_t)(int64_t)pid);
	out_char(&o, ' ');
	if (l->tgid) {
		if (comm && comm->tgid) {
			out_char(&o, '(');
			out_number(&o, &number, 7, -1, (uint64_t)comm->tgid);
			out_string(&o, ") ");
		} else {
			out_string(&o, "(-------) ");
		}
	}
	/* at most 85 characters are in use here, 13 and 6 more follow */
	o.at = put_cpu(o.at, r->cpu);
	if (!l->no_irq_info && r->len > evs->flags_at && r->len > evs->preempt_at)
		o.at = put_flag_letters(evs, o.at, r->data[evs->flags_at],
					r->data[evs->preempt_at]);
	h->pid = pid;
	h->cpu = r->cpu;
	h->len = (uint8_t)(o.at - h->text);
}

/* Write the time stamp. Return its end. */
static char *line_time(struct line_format *l, char *p, uint64_t ts)
{
	uint64_t us = (ts + 500) / 1000;
	struct out o;

	/* many lines are of the same second: keep its text */
	if (us - l->second >= 1000000 || !l->second_len) {
		if (l->raw_clock) {
			o = out_to(p, 24);
			out_time(&o, ts, 1);
			return o.at;
		}
		l->second = us - us % 1000000;
		o = out_to(l->second_text, sizeof(l->second_text));
		out_time(&o, l->second * 1000, 0);
		l->second_len = (uint32_t)(o.at - l->second_text) - 6;
	}
	memcpy(p, l->second_text, sizeof(l->second_text));
	return digits_six(p + l->second_len, (uint32_t)(us - l->second));
}

int line_task(struct line_format *l, int pid, int tgid, const char *name, size_t n)
{
	struct comm *task = comms_entry(&l->events->comms, pid);

	if (!task)
		return 0;
	tgid = tgid ? tgid : task->tgid;
	n = strnlen(name, n < sizeof(task->name) - 1 ? n : sizeof(task->name) - 1);
	if (l->learned_name)
		l->learned_name(l->arg, task);
	if (tgid == task->tgid && !task->name[n] && !memcmp(task->name, name, n))
		return 0;
	task->tgid = tgid;
	memcpy(task->name, name, n);
	task->name[n] = '\0';
	for (size_t i = 0; i < sizeof(l->heads) / sizeof(*l->heads); i++)
		if (l->heads[i].pid == pid)
			l->heads[i].len = 0;
	return 1;
}

int line_learn(struct line_format *l, const struct record *r)
{
	struct event_set *evs = l->events;
	const struct event *e = event_of(evs, r);
	const struct field *field;
	struct field_data v;
	int pid;

	/* without a field pid, the task renamed itself */
	field = event_field(e, "pid");
	pid = field && !field_value(evs, field, r, &v) ? (int)v.i : record_pid(evs, r);
	field = event_field(e, e->id == evs->newtask ? "comm" : "newcomm");
	if (!field || field_value(evs, field, r, &v) < 0 || v.kind != FIELD_STRING)
		return 0;
	return line_task(l, pid, 0, (const char *)v.data, v.n);
}

/* The head_key of a short record or an unusual header. No usual record has this key. */
#define NOBODY UINT64_MAX

/*
 * Return a number that is the same for records with the same head on a CPU: the header that
 * begins every record, without common_type.
 */
static inline uint64_t head_key(const struct event_set *evs, const struct record *r)
{
	const uint64_t type = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 0xffffull << 48 : 0xffff;

	if (!evs->usual_header || r->len < 8)
		return NOBODY;
	return raw_number(r->data, 8, 0, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) & ~type;
}

/* The bytes of a head whose name has no escape. */
enum { USUAL_HEAD = 63 };

static inline const struct line_head *head_of(struct line_format *l, const struct record *r)
{
	uint64_t key = head_key(l->events, r);
	struct line_head *h = &l->heads[(key * 0x9e3779b97f4a7c15ull >> 32 ^ (unsigned)r->cpu) %
					(sizeof(l->heads) / sizeof(*l->heads))];

	if (h->key != key || h->cpu != r->cpu || !h->len || key == NOBODY) {
		make_head(l, h, r);
		h->key = key;
	}
	return h;
}

/* Write the head and the time of a line, in LINE_HEAD_ROOM bytes. Return their end. */
static inline char *begin_line(struct line_format *l, const struct record *r, char *buf)
{
	const struct line_head *h = head_of(l, r);
	char *p;

	memcpy(buf, h->text, USUAL_HEAD);
	if (h->len > USUAL_HEAD) /* the name has many escapes */
		memcpy(buf + USUAL_HEAD, h->text + USUAL_HEAD, sizeof(h->text) - USUAL_HEAD);
	p = line_time(l, buf + h->len, r->ts);
	memcpy(p, ": ", 2);
	return p + 2;
}

size_t line_begin(struct line_format *l, const struct record *r, char *buf)
{
	return (size_t)(begin_line(l, r, buf) - buf);
}

void line_parts(struct line_format *l, const struct record *r, char *buf, struct line_parts *parts)
{
	const struct line_head *h = head_of(l, r);
	const char *end = begin_line(l, r, buf), *time = buf + h->len;
	const char *pid = buf + (h->comm < 16 ? 16 : h->comm) + 1;
	const char *cpu = buf + h->len;

	time += strspn(time, " ");
	parts->comm = (struct text_part){ pid - 1 - h->comm, h->comm };
	parts->pid = (struct text_part){ pid, strcspn(pid, " ") };
	parts->time = (struct text_part){ time, (size_t)(end - 2 - time) };
	while (*cpu != '[') /* behind it are only letters */
		cpu--;
	parts->cpu = (struct text_part){ cpu + 1, strcspn(cpu + 1, "]") };
	cpu += parts->cpu.n + strlen("[] ");
	parts->flags = (struct text_part){ cpu, cpu < buf + h->len ? strcspn(cpu, " ") : 0 };
}

size_t line_event(struct line_format *l, const struct record *r, char *buf, size_t size)
{
	char *p = vm_run(l->events, r, l->raw_clock, buf, buf + size);

	if (p == buf + size) /* the line may be cut */
		p[-1] = '\n';
	return (size_t)(p - buf);
}

size_t line_print(struct line_format *l, const struct record *r, char *buf, size_t size)
{
	char *p;

	if (size < LINE_HEAD_ROOM)
		return 0;
	p = begin_line(l, r, buf);
	return (size_t)(p - buf) + line_event(l, r, p, size - (size_t)(p - buf));
}

/* ---- other lines ---- */

COLD size_t line_lost(int cpu, int64_t lost, char *buf, size_t size)
{
	struct out o = out_to(buf, size);

	out_string(&o, "CPU:");
	out_decimal(&o, cpu < 0 ? 0 : (uint64_t)cpu);
	out_string(&o, " [LOST ");
	if (lost != LOST_UNKNOWN) {
		out_decimal(&o, (uint64_t)lost);
		out_char(&o, ' ');
	}
	out_string(&o, "EVENTS]\n");
	return (size_t)(o.at - buf);
}

COLD size_t line_header(const struct line_format *l, unsigned cpus, char *buf, size_t size)
{
	/* the text before, above and after the column of the thread group */
	static const struct {
		char before[29], column[13], after[42];
	} lines[] = {
#define ROOM "                            ", "            "
		/* 5.13 and later */
		{ ROOM, "  _-----=> irqs-off/BH-disabled\n" },
		{ ROOM, " / _----=> need-resched\n" },
		{ ROOM, "| / _---=> hardirq/softirq\n" },
		{ ROOM, "|| / _--=> preempt-depth\n" },
		{ ROOM, "||| / _-=> migrate-disable\n" },
		{ ROOM, "|||| /     delay\n" },
		{ "           TASK-PID  ", "     TGID   ", " CPU#  |||||  TIMESTAMP  FUNCTION\n" },
		{ "              | |    ", "       |    ", "   |   |||||     |         |\n" },
		/* before 5.13 */
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
	unsigned version = l->events->version ? l->events->version : KERNEL(99, 0);
	size_t first = 0, last = 8;
	struct out o = out_to(buf, size);

	if (l->no_irq_info) {
		first = 15;
		last = 17;
	} else if (version < KERNEL(5, 13)) {
		first = 8;
		last = 15;
	}
	out_string(&o, "# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:");
	out_decimal(&o, cpus);
	out_string(&o, "\n#\n");
	for (size_t i = first; i < last; i++) {
		size_t n = l->tgid ? strlen(lines[i].column) : l->no_irq_info ? 0 : 2;
		/* the first line had another name before 5.17 */
		int old_name = i == 0 && version < KERNEL(5, 17);

		out_char(&o, '#');
		out_string(&o, lines[i].before);
		out_text(&o, lines[i].column, n);
		out_string(&o, lines[old_name ? 8 : i].after);
	}
	return (size_t)(o.at - buf);
}
