/* SPDX-License-Identifier: ISC */
/* process.c - print the lines of trace_process (-P) */

#include "base/base.h"
#include "event/event.h"
#include "answers/answers.h"
#include "show/show.h"

static const unsigned kinds[ROLES] = {
	[ROLE_ENTER] = SHOW_SYSCALLS, [ROLE_EXIT] = SHOW_SYSCALLS, [ROLE_DELIVER] = SHOW_SIGNALS,
	[ROLE_NEWTASK] = SHOW_LIFECYCLE, [ROLE_EXEC] = SHOW_LIFECYCLE, [ROLE_END] = SHOW_LIFECYCLE,
};

/* Write a number, right-justified. */
static void put_column(struct out *o, int width, int64_t v)
{
	char *start = o->at;

	out_signed(o, v);
	out_padded(o, start, 0, width, -1);
}

/* Write task, pid, CPU and time: "%16s %5d %3d %9lu.%06ld " */
static void put_head(const struct show *s, struct out *o, const struct record *r)
{
	struct line_format *l = s->line;
	int pid = record_pid(l->events, r);
	uint64_t us = (r->ts + 500) / 1000;
	char *start = o->at;
	const char *name;

	if (l->learn_name && pid > 0)
		l->learn_name(l->arg, pid);
	name = line_task_name(l->events, pid);
	out_string(o, name ? name : "<...>");
	text_mask_controls(start, o->at);
	out_padded(o, start, 0, 16, -1);
	out_char(o, ' ');
	put_column(o, 5, pid);
	out_char(o, ' ');
	put_column(o, 3, r->cpu < 0 ? 0 : r->cpu);
	out_char(o, ' ');
	start = o->at;
	if (l->raw_clock)
		out_decimal(o, r->ts);
	else
		out_decimals(o, us, 6);
	out_padded(o, start, 0, 16, -1);
	out_char(o, ' ');
}

size_t process_line(const struct show *s, const struct record *r, char *buf, size_t size)
{
	const struct facts *f = &s->facts;
	const struct people *people = s->people;
	const struct people_view *view = s->view;
	struct out o = out_to(buf, size);
	long long first = facts_number(f, 0, r), second = facts_number(f, 1, r), code;
	const char *call;

	if (people)
		view->start(s, r, &o);
	else
		put_head(s, &o, r);
	switch (f->now->kind) {
	case ROLE_ENTER:
		call = people ? view->call(s, first) : NULL;
		out_string(&o, "syscall ");
		if (call)
			out_string(&o, call);
		else
			out_signed(&o, first);
		for (unsigned i = 0; i < 6; i++) {
			out_string(&o, i ? " " : " [");
			out_address(&o, facts_argument(f, i, r));
		}
		out_char(&o, ']');
		break;
	case ROLE_EXIT:
		if (people) {
			out_string(&o, "syscall ");
			view->result(people, &o, second);
			break;
		}
		out_format(&o, "syscall rc %lld error %lld", second,
			   second < 0 && second >= -4095 ? second : 0);
		break;
	case ROLE_DELIVER:
		code = facts_number(f, 2, r);
		if (people)
			view->siginfo(people, &o, facts_signal(f, r), second, (int32_t)code);
		else
			out_format(&o, "signal %lld errno %lld code 0x%x",
				   (long long)facts_signal(f, r), second, (unsigned)code);
		break;
	case ROLE_NEWTASK:
		out_format(&o, "fork %lld flags 0x%llx", first, (unsigned long long)second);
		break;
	case ROLE_EXEC:
		out_string(&o, "exec");
		break;
	case ROLE_END:
		code = facts_knows(f, FACT_CODE) ? (long long)f->value[FACT_CODE] : 0;
		if (!people || !view->ended(people, &o, code))
			out_format(&o, "exit %lld", code);
		break;
	default:
		break;
	}
	out_char(&o, '\n');
	return (size_t)(o.at - buf);
}

int process_picks(const struct show *s)
{
	return (kinds[s->facts.now->kind] & s->process) != 0;
}

size_t process_header(char *buf, size_t size)
{
	return str_format(buf, size, "# tracer: process\n#\n"
			  "#           TASK   PID CPU        TIMESTAMP  EVENT\n");
}

int process_kinds(struct show *s, const char *names)
{
	static const char *const names_of[] = { "syscalls", "signals", "lifecycle" };

	for (;; names++) {
		size_t n = strcspn(names, ","), i = 0;

		while (i < 3 && (strlen(names_of[i]) != n || strncmp(names_of[i], names, n)))
			i++;
		if (i == 3)
			return -1;
		s->process |= 1u << i;
		names += n;
		if (!*names)
			return 0;
	}
}
