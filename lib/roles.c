/* SPDX-License-Identifier: ISC */
/* roles.c - records that tell of processes: their fields by name, their lines */
#include <string.h>

#include "follow.h"
#include "run.h"

/* ---- fields by name -------------------------------------------------------------- */

static const struct {
	const char *system, *name;
	unsigned kind;
	const char *fields[4];
} roles[ROLES] = {
	[ROLE_ENTER] = { "raw_syscalls", "sys_enter", SHOW_SYSCALLS, { "id", "args" } },
	[ROLE_EXIT] = { "raw_syscalls", "sys_exit", SHOW_SYSCALLS, { "id", "ret" } },
	[ROLE_DELIVER] = { "signal", "signal_deliver", SHOW_SIGNALS,
			   { "sig", "errno", "code", "sa_handler" } },
	[ROLE_GENERATE] = { "signal", "signal_generate", 0, { "sig", "pid", "result" } },
	[ROLE_NEWTASK] = { "task", "task_newtask", SHOW_LIFECYCLE,
			   { "pid", "clone_flags", "comm" } },
	[ROLE_RENAME] = { "task", "task_rename", 0, { "pid", "newcomm" } },
	[ROLE_EXEC] = { "sched", "sched_process_exec", SHOW_LIFECYCLE, { "old_pid" } },
	[ROLE_END] = { "sched", "sched_process_exit", SHOW_LIFECYCLE, { "pid" } },
};

static enum role ask(const struct event *e)
{
	for (unsigned i = ROLE_NONE + 1; i < ROLES; i++)
		if (!strcmp(e->name, roles[i].name) && !strcmp(e->system, roles[i].system))
			return i;
	return ROLE_NONE;
}

HOT enum role role_of(struct process *p, const struct record *r)
{
	struct event *e = event_wanted(p->line->events, r);
	struct role_of *of;

	if (!e)
		return ROLE_NONE;
	if (!e->role)
		e->role = (uint8_t)ask(e);
	of = &p->roles[e->role];
	if (of->event != e) {
		of->event = e;
		for (unsigned i = 0; i < 4; i++)
			of->field[i] = roles[e->role].fields[i] ?
				       event_field(e, roles[e->role].fields[i]) : NULL;
	}
	return e->role;
}

HOT int role_value(struct process *p, enum role role, unsigned i, const struct record *r,
		   struct value *v)
{
	const struct field *f = p->roles[role].field[i];

	return f ? field_value(p->line->events, f, r, v) : -1;
}

HOT int64_t role_number(struct process *p, enum role role, unsigned i, const struct record *r)
{
	struct value v;

	if (role_value(p, role, i, r, &v) < 0 || v.kind > FIELD_POINTER)
		return 0;
	return v.i;
}

HOT uint64_t role_argument(struct process *p, unsigned i, const struct record *r)
{
	struct value v;

	if (role_value(p, ROLE_ENTER, 1, r, &v) < 0 || v.kind != FIELD_ARRAY || i >= v.n)
		return 0;
	return field_element(p->line->events, p->roles[ROLE_ENTER].field[1], &v, i);
}

/* ---- kinds ------------------------------------------------------------------------ */

int process_kinds(struct process *p, const char *names)
{
	static const char *const kinds[] = { "syscalls", "signals", "lifecycle" };

	for (;; names++) {
		size_t n = strcspn(names, ","), i = 0;

		while (i < 3 && (strlen(kinds[i]) != n || strncmp(kinds[i], names, n)))
			i++;
		if (i == 3)
			return -1;
		p->kinds |= 1u << i;
		names += n;
		if (!*names)
			return 0;
	}
}

HOT int role_shown(struct process *p, const struct record *r)
{
	return (roles[role_of(p, r)].kind & p->kinds) != 0;
}

/* ---- lines ------------------------------------------------------------------------- */

static void put_text(struct out *o, const char *s)
{
	put(o, s, strlen(s));
}

static void put_signed(struct out *o, int64_t v)
{
	if (v < 0)
		put_char(o, '-');
	put_decimal(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void put_address(struct out *o, uint64_t v)
{
	put(o, "0x", 2);
	put_hex(o, v);
}

/* Right-justified. */
static void put_column(struct out *o, int width, int64_t v)
{
	char *start = o->at;

	put_signed(o, v);
	put_padded(o, start, 0, width, -1);
}

/* "%16s %5d %3d %9lu.%06ld " */
HOT static void put_who(struct process *p, struct out *o, const struct record *r)
{
	struct line *l = p->line;
	int pid = record_pid(l->events, r);
	uint64_t us = (r->ts + 500) / 1000;
	char *start = o->at;
	const char *name;

	if (l->who && pid > 0)
		l->who(l->arg, pid);
	name = task_name(l->events, pid);
	put_text(o, name ? name : "<...>");
	mask_controls(start, o->at);
	put_padded(o, start, 0, 16, -1);
	put_char(o, ' ');
	put_column(o, 5, pid);
	put_char(o, ' ');
	put_column(o, 3, r->cpu < 0 ? 0 : r->cpu);
	put_char(o, ' ');
	if (l->raw_clock) {
		start = o->at;
		put_decimal(o, r->ts);
		put_padded(o, start, 0, 16, -1);
	} else {
		put_column(o, 9, (int64_t)(us / 1000000));
		put_char(o, '.');
		o->at = six_digits(o->at, (uint32_t)(us % 1000000));
	}
	put_char(o, ' ');
}

HOT size_t process_line(struct process *p, const struct record *r, char *buf, size_t size)
{
	enum role role = role_of(p, r);
	struct out o = { buf, buf + size };

	put_who(p, &o, r);
	switch (role) {
	case ROLE_ENTER:
		put_text(&o, "syscall ");
		put_signed(&o, role_number(p, role, 0, r));
		for (unsigned i = 0; i < 6; i++) {
			put_text(&o, i ? " " : " [");
			put_address(&o, role_argument(p, i, r));
		}
		put_char(&o, ']');
		break;
	case ROLE_EXIT: {
		int64_t rc = role_number(p, role, 1, r);

		put_text(&o, "syscall rc ");
		put_signed(&o, rc);
		put_text(&o, " error ");
		put_signed(&o, rc < 0 && rc >= -4095 ? rc : 0);
		break;
	}
	case ROLE_DELIVER:
		put_text(&o, "signal ");
		put_signed(&o, p->signal);
		put_text(&o, " errno ");
		put_signed(&o, role_number(p, role, 1, r));
		put_text(&o, " code ");
		put_address(&o, (uint32_t)role_number(p, role, 2, r));
		break;
	case ROLE_NEWTASK:
		put_text(&o, "fork ");
		put_signed(&o, role_number(p, role, 0, r));
		put_text(&o, " flags ");
		put_address(&o, (uint64_t)role_number(p, role, 1, r));
		break;
	case ROLE_EXEC:
		put_text(&o, "exec");
		break;
	case ROLE_END:
		put_text(&o, "exit ");
		put_signed(&o, p->code);
		break;
	default:
		break;
	}
	put_char(&o, '\n');
	return (size_t)(o.at - buf);
}

size_t process_header(char *buf, size_t size)
{
	return format(buf, size, "# tracer: process\n#\n"
		      "#           TASK   PID CPU        TIMESTAMP  EVENT\n");
}
