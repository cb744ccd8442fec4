/* SPDX-License-Identifier: ISC */
/*
 * decode.c - the calls of a trace: the beginning and the return of each, paired
 *
 * A record of the beginning of a call waits in its task until the call returns. The records of
 * its user memory come in between. In this file, each part uses those above it:
 *	events, and what their records say
 *	tasks
 *	events of tracefs
 *	records of our own
 *	tasks that begin, execute and end
 *	the interface
 */
#include <sys/socket.h>
#include <sys/utsname.h>

#include "host/host.h"
#include "calls/decode.h"

/* ---- events, and what their records say ---- */

/* Find out what an event says, and where. A trace knows only the events that were enabled. */
static void decide(const struct decode *d, struct decode_event *of, const struct event *e)
{
	static const struct event_kind kinds[] = {
		/* the number, and the first argument or the result */
		{ "syscalls:sys_enter_*", ENTER, "__syscall_nr" },
		{ "syscalls:sys_exit_*", EXIT, "__syscall_nr ret" },
		{ "raw_syscalls:sys_enter", ENTER, "id args" },
		{ "raw_syscalls:sys_exit", EXIT, "id ret" },
		{ "bpf_trace:bpf_trace_printk", MEMORY, "bpf_string" },
		{ RECORD_SYSTEM ":enter", BEGUN, "" },
		{ RECORD_SYSTEM ":call", CALLED, "" },
		{ RECORD_SYSTEM ":open", BEGUN, "" },
		{ RECORD_SYSTEM ":part", PART, "memory" },
		{ RECORD_SYSTEM ":file", FILED, "path socket inside" },
		{ RECORD_SYSTEM ":task", TOLD, "" }, /* tasks.c has learned it */
		{ "task:task_newtask", NEWTASK, "pid clone_flags" },
		{ "sched:sched_process_exec", EXEC, "old_pid filename" },
		{ "sched:sched_process_exit", END, "" },
		{ "io_uring:io_uring_submit_req", REQUEST, "" }, /* since 6.4 */
		{ "io_uring:io_uring_submit_sqe", REQUEST, "" },
		{ "io_uring:io_uring_create", RING, "flags" },
		{ "", 0, "" },
	};
	const struct field **field = of->seen.field;
	char name[64];

	event_see(&of->seen, e, kinds, 0);
	if (d->id && !strcmp(e->system, d->id))
		of->seen.kind = PROBE;
	if ((of->seen.kind == ENTER || of->seen.kind == EXIT) && !strcmp(e->system, "syscalls"))
		of->call = e->name + strlen(of->seen.kind == ENTER ? "sys_enter_" : "sys_exit_");
	of->entries = of->seen.kind == CALLED;
	if (of->seen.kind == EXIT) {
		str_format(name, sizeof(name), "sys_enter%s%.50s", of->call ? "_" : "",
			   of->call ? of->call : "");
		of->entries = event_named(d->events, e->system, name) != NULL;
	}
	if (of->seen.kind != ENTER)
		return;
	if (field[1]) { /* all arguments in one field */
		of->nargs = CALL_ARGS;
		return;
	}
	/* an argument each, and after them __NAME_val, what the argument NAME points to */
	for (unsigned i = e->ncommon; i < e->nfields && of->nargs < CALL_ARGS; i++) {
		const struct field *f = &e->fields[i];

		if (f == field[0] || f->place != PLACE_HERE)
			continue;
		if (!of->nargs)
			field[1] = f;
		str_format(name, sizeof(name), "__%.50s_val", f->name);
		of->user[of->nargs++] = event_field(e, name);
	}
}

/* Return what the event of a record says, until the next call; NULL if it is not known. */
static const struct decode_event *event_at(struct decode *d, const struct record *r)
{
	const struct event *e = event_wanted(d->events, r);
	struct decode_event *of = e ? event_note(&d->notes, e, sizeof(*of)) : NULL;

	if (of && !of->seen.kind)
		decide(d, of, e);
	return of;
}

/* Return field i of a record as a number; 0 if there is none. */
static int64_t number_at(const struct decode *d, const struct decode_event *of, unsigned i,
			 const struct record *r)
{
	return field_integer(d->events, of->seen.field[i], r);
}

/* ---- tasks ---- */

static void forget(struct decode *d, struct decode_task *t)
{
	memory_free(d, t);
	if (d->last == t)
		d->last = NULL;
	table_remove(&d->pairing.tasks, t);
}

struct decode_task *decode_find(struct decode *d, int32_t pid)
{
	if (d->last && d->last->c.pid == pid)
		return d->last;
	return table_find(&d->pairing.tasks, (const char *)&pid, sizeof(pid));
}

int decode_group(struct decode *d, struct decode_task *t)
{
	if (!t->c.group)
		t->c.group = noted_begin(&d->known, t->c.pid);
	return t->c.group;
}

/* Return the tables of calls of 64-bit or of 32-bit code. */
static struct calls *tables_of(const struct decode *d, int compat)
{
	return compat && d->calls_32 ? d->calls_32 : d->calls;
}

const char *decoded_name(const struct decoded *c)
{
	return c->call ? c->call->name : c->name;
}

/* The record of the beginning of a call, as far as a line's head needs it. */
static struct record head_of(const struct decode_task *t)
{
	return (struct record){ .ts = t->c.ts, .data = t->head, .len = t->nhead,
				.cpu = t->pair.cpu };
}

static unsigned roles_of_task(const struct decode_task *t)
{
	return t->c.call ? t->c.call->role->is : role_of_call(t->c.name)->is;
}

/*
 * Give a call that is selected to d->take. r: the record of its beginning, or of its return if that
 * is all there is.
 */
static void tell(struct decode *d, struct decode_task *t, const struct record *r)
{
	const struct file_known *file;
	struct decoded_files files;

	if (d->files && !decode_files(d, &t->c, &files))
		return;
	d->last = t; /* for decode_print_fd */
	file = decoded_file(&t->c, 0);
	if (file && file->family == AF_NETLINK)
		t->c.values.netlink = (uint8_t)(1 + file->protocol);
	d->take(d->arg, &t->c, d->files ? &files : NULL, r);
}

/* End the call of a task that does not return. */
static void end_open(struct decode *d, struct decode_task *t, enum pairing_fate fate)
{
	struct record r = head_of(t);

	t->c.fate = fate;
	t->c.values.returned = 0;
	memory_use(d, t);
	if (t->shown && decode_picks_endless(d, &t->c))
		tell(d, t, &r);
	memory_drop(d, t);
}

/*
 * The call of a task has returned at ts. r is the record of its beginning or, if that is not known,
 * of its return.
 */
static void end_returned(struct decode *d, struct decode_task *t, int64_t result, uint64_t ts,
			 int shown, const struct record *r)
{
	t->c.time = ts > t->c.ts ? ts - t->c.ts : 0;
	t->c.values.result = result;
	t->c.values.returned = 1;
	memory_use(d, t);
	if (t->c.fate == PAIRING_RETURNED && t->c.call && (d->names || !d->known.by_kernel))
		t->c.group = noted_call(&d->known, t->c.tables, t->c.pid, decode_group(d, t),
					t->c.call, &t->c.values);
	if (shown && d->files && t->c.call && result > 0 && t->c.call->role->does & DOES_QUEUED)
		d->queued += (uint64_t)result;
	if (shown && decode_picks(d, &t->c))
		tell(d, t, r);
	memory_drop(d, t);
}

/*
 * End an exec that has returned without an event of the system syscalls, because the program that
 * called it, or the new one, is 32-bit code.
 */
static void end_executed(struct decode *d, struct decode_task *t)
{
	struct record r = head_of(t);

	t->c.fate = PAIRING_RETURNED;
	t->c.trapped = 0;
	end_returned(d, t, 0, t->executed, t->shown, &r);
}

void decode_unfinished(struct decode *d, struct decode_task *t)
{
	if (!t->pair.open)
		return;
	t->pair.open = 0;
	if (t->executed)
		end_executed(d, t);
	else
		end_open(d, t, PAIRING_UNFINISHED);
	t->executed = 0;
}

struct decode_task *decode_task_at(struct decode *d, int32_t pid)
{
	struct decode_task *t = decode_find(d, pid);
	struct pairing_task *surplus;

	while (!t && (surplus = pairing_surplus(&d->pairing))) {
		decode_unfinished(d, (struct decode_task *)surplus);
		forget(d, (struct decode_task *)surplus);
	}
	if (!t) {
		t = table_at(&d->pairing.tasks, (const char *)&pid, sizeof(pid));
		t->c.decode = d;
		t->c.pid = pid;
		t->memory = d->pairing.losses;
		t->c.values.print_fd = d->names ? decode_print_fd : NULL;
		t->c.values.arg = d;
	}
	d->last = t;
	return t;
}

/* ---- events of tracefs ---- */

/*
 * Set the call of a task. compat: it is one of 32-bit code, which has other numbers. A call that is
 * not in the tables has the name that strace(1) gives it.
 */
static void set_call(struct decode *d, struct decode_task *t, const struct decode_event *of,
		     uint64_t number, int compat)
{
	t->compat = compat != 0;
	t->c.tables = tables_of(d, compat);
	t->c.call = compat && !d->calls_32 ? NULL : calls_find(t->c.tables, number);
	if (t->c.call)
		return;
	if (of->call)
		str_format(t->c.name, sizeof(t->c.name), "%s", of->call);
	else
		str_format(t->c.name, sizeof(t->c.name), "syscall_0x%llx",
			   (unsigned long long)number);
}

/*
 * Is this event one of 32-bit code? If the mark of the event may be lost, the code is that of the
 * task's event before.
 */
static int is_compat(const struct decode *d, struct decode_task *t, enum mark mark)
{
	int marked = t->marked == mark;

	if (marked ? t->mark != d->pairing.losses : d->gap)
		return t->compat;
	return marked;
}

/*
 * A call of the task begins, whose record has this head; its CPU is that of the entry. Its values
 * have nargs arguments.
 */
static void begin(struct decode *d, struct decode_task *t, const struct decode_event *of,
		  uint64_t number, const struct record *r, int shown)
{
	set_call(d, t, of, number, t->compat);
	t->shown = shown != 0;
	t->own = 0;
	t->c.ts = r->ts;
	t->executed = 0;
	t->nhead = (uint8_t)(r->len < HEAD ? r->len : HEAD);
	memcpy(t->head, r->data, t->nhead);
	if (d->otel)
		t->c.context = otel_of(d->otel, d->events, r);
	if (t->c.call)
		t->c.call = calls_match(t->c.call, t->c.values.args);
}

/* The call has begun: is it one that does not return? Then end it. */
static void open_call(struct decode *d, struct decode_task *t, const struct pairing_event *e)
{
	if (pairing_enter(&d->pairing, &t->pair, e) == PAIRING_NO_RETURN)
		end_open(d, t, PAIRING_NO_RETURN);
}

static void enter(struct decode *d, const struct decode_event *of, const struct record *r,
		  int shown)
{
	const struct event_set *evs = d->events;
	struct decode_task *t = decode_task_at(d, record_pid(evs, r));
	uint32_t at = of->seen.field[1] ? of->seen.field[1]->offset : 0;
	unsigned size = (unsigned)evs->long_size;
	uint64_t number = (uint64_t)number_at(d, of, 0, r);
	int compat;

	if (t->pair.open && t->own && t->pair.id == number)
		return; /* a raw event of the same call, as trace_process has them */
	decode_unfinished(d, t);
	/* of a call without events, as those of 32-bit code */
	compat = is_compat(d, t, MARK_ENTRY);
	t->marked = MARK_NONE;
	if (!t->early || (compat && of->call))
		memory_drop(d, t);
	t->early = 0;
	t->compat = compat && !d->abi && !of->call;
	t->c.nargs = of->nargs;
	for (unsigned i = 0; i < CALL_ARGS; i++, at += size)
		t->c.values.args[i] = i < of->nargs && at + size <= r->len ?
				      raw_number(r->data + at, size, 0, evs->big) : 0;
	begin(d, t, of, number, r, shown);
	memory_copies(d, t, of, r);
	open_call(d, t, &(struct pairing_event){ .id = number, .cpu = r->cpu,
						 .class = pairing_class(roles_of_task(t)) });
}

/* Return the class of the call that returns by this number. */
static enum pairing_class class_of(const struct decode *d, const struct decode_task *t,
				   uint64_t number, int compat)
{
	const struct call *c;

	if (t->pair.open && t->pair.id == number)
		return t->pair.class;
	c = calls_find(tables_of(d, compat), number);
	return pairing_class(c ? c->role->is : 0);
}

/*
 * Has a call without an entry no result? If the call is trapped or killed, the kernel puts back
 * what was in the register of the result (syscall_rollback): the number, or the first argument.
 */
static int is_trapped(const struct decode *d, const struct decode_task *t, uint64_t number,
		      int64_t result)
{
	uint64_t first;

	if (d->keeps_number)
		return result == (int64_t)number;
	if (!t->user || t->lacking || !t->user->nregisters)
		return 0;
	first = t->user->registers[0];
	return result == (int64_t)first || (first <= UINT32_MAX && result == (int32_t)first);
}

/* Take the arguments of a call without an entry, if they are known. */
static void take_registers(struct decode_task *t)
{
	t->c.nargs = t->user && !t->lacking ? t->user->nregisters : 0;
	memcpy(t->c.values.args, t->c.nargs ? t->user->registers : (uint64_t[CALL_ARGS]){ 0 },
	       sizeof(t->c.values.args));
	if (t->c.call && t->c.nargs)
		t->c.call = calls_match(t->c.call, t->c.values.args);
}

/* Is the next record of another CPU after a loss, which began before this record? */
static int in_loss(const struct decode *d)
{
	return d->merge && merge_in_loss(d->merge);
}

/*
 * The call of a task returns, by the number and with the result of e. compat: it is one of 32-bit
 * code.
 */
static void end(struct decode *d, struct decode_task *t, const struct decode_event *of,
		struct pairing_event *e, const struct record *r, int compat, int shown)
{
	struct record begin = head_of(t);
	int marked = compat, exec, open = t->pair.open;
	enum pairing_fate fate;

	e->class = class_of(d, t, e->id, compat);
	e->cpu = r->cpu;
	e->registers = t->user && t->user->nregisters;
	e->losing = (!open || t->pair.cpu != r->cpu) && in_loss(d);
	e->trapped = !open && is_trapped(d, t, e->id, e->result);
	/* on x86 an exec returns by the number of the new program's ABI */
	exec = open && t->pair.class == PAIRING_EXEC && e->class == PAIRING_EXEC;
	d->pairing.entries = of->entries;
	fate = pairing_return(&d->pairing, &t->pair, e);
	if (fate == PAIRING_NOTHING)
		return;
	if (open && fate != PAIRING_RETURNED)
		end_open(d, t, PAIRING_UNFINISHED);
	t->c.fate = fate == PAIRING_ACROSS || fate == PAIRING_BORN ? PAIRING_RESUMED : fate;
	if (fate == PAIRING_RETURNED && exec && t->user && e->id != t->pair.id &&
	    t->c.call && t->c.call->args[0].kind == CALL_DIRFD)
		call_user_shift(t->user);
	if (fate == PAIRING_RETURNED && (exec || t->compat))
		compat = t->compat;
	if (fate != PAIRING_RETURNED || compat != t->compat)
		set_call(d, t, of, e->id, compat);
	if (fate != PAIRING_RETURNED && d->otel)
		t->c.context = otel_of(d->otel, d->events, r);
	t->c.trapped = decoded_no_entry(&t->c) && e->trapped;
	if (decoded_no_entry(&t->c))
		take_registers(t);
	/* strace shows no return of a fork in the child */
	end_returned(d, t, e->result, r->ts,
		     shown && decode_picks_name(d, of, &t->c) &&
		     !(d->strace && fate == PAIRING_BORN),
		     fate == PAIRING_RETURNED ? &begin : r);
	t->compat = (uint8_t)(exec && fate == PAIRING_RETURNED ? marked : compat);
}

static void leave(struct decode *d, const struct decode_event *of, const struct record *r,
		  int shown)
{
	struct decode_task *t = decode_task_at(d, record_pid(d->events, r));
	struct pairing_event e = {
		.id = (uint64_t)number_at(d, of, 0, r), .result = number_at(d, of, 1, r),
	};
	/* 32-bit code has other numbers, unless --abi names them; syscalls has no events of it */
	int compat = is_compat(d, t, MARK_RETURN) && !d->abi && !of->call;

	t->marked = MARK_NONE;
	end(d, t, of, &e, r, compat, shown);
}

/* ---- records of our own ---- */

/* The call of the record begins. */
static void begin_own(struct decode *d, struct decode_task *t, const struct decode_event *of,
		      const struct record *r, uint64_t ts, unsigned flags, int shown)
{
	struct record at = *r;

	decode_unfinished(d, t);
	at.ts = ts;
	if (t->foretold <= ts) /* keep only the path of the program that this call executed */
		memory_drop(d, t);
	t->foretold = 0;
	t->compat = (flags & CALL_COMPAT) && !d->abi;
	t->c.untimed = (flags & CALL_AT_RETURN) != 0;
	t->c.nargs = CALL_ARGS;
	for (unsigned i = 0; i < CALL_ARGS; i++)
		t->c.values.args[i] = OWN(call.args[i]);
	begin(d, t, of, OWN(call.nr), &at, shown);
	t->own = 1;
	t->pair.cpu = (int)OWN(call.cpu);
	t->shown &= (uint8_t)decode_picks_name(d, of, &t->c);
	/* its memory was in the record enter, which is lost */
	t->lacking = of->seen.kind == CALLED && (flags & CALL_ENTERED);
}

/* Take what is told of the task of a call's record. Its pid may be that of an earlier task. */
static void take_task(struct decode *d, struct decode_task *t)
{
	if (d->told->reused) {
		decode_unfinished(d, t);
		memory_drop(d, t);
		d->reused(d->arg, t->c.pid);
	}
	if (d->told->now)
		t->c.task = *d->told->now;
}

/* Take a record of a call, which has begun, or has returned. */
static void take_call(struct decode *d, const struct decode_event *of, const struct record *r,
		      int shown)
{
	struct decode_task *t = decode_task_at(d, record_pid(d->events, r));
	struct pairing_event e = { 0 };
	struct record begin;
	struct call_user *u;
	unsigned flags;
	uint64_t ts;
	int begins;

	if (r->len < sizeof(struct call_record))
		return;
	take_task(d, t);
	ts = OWN(call.begin);
	flags = (unsigned)OWN(call.flags);
	begins = ts && !(t->pair.open && t->c.ts == ts);
	if (begins)
		begin_own(d, t, of, r, ts, flags, shown);
	else if (!ts && !t->pair.open && (u = memory_of(d, t))) {
		for (unsigned i = 0; i < CALL_ARGS; i++)
			u->registers[i] = OWN(call.args[i]);
		u->nregisters = CALL_ARGS;
	}
	memory_record(d, t, r);
	if (begins) {
		e.id = OWN(call.nr);
		e.cpu = (int)OWN(call.cpu);
		e.class = pairing_class(roles_of_task(t));
		if (of->seen.kind == CALLED && OWN(ret_nr) == e.id &&
		    !(flags & (CALL_COMPAT | CALL_COMPAT_RETURN)) &&
		    pairing_whole(&d->pairing, &t->pair, &e)) {
			begin = head_of(t);
			t->c.fate = PAIRING_RETURNED;
			t->c.trapped = 0;
			end_returned(d, t, (int64_t)OWN(ret), r->ts, t->shown, &begin);
			return;
		}
		open_call(d, t, &e);
	}
	if (of->seen.kind != CALLED)
		return;
	e.id = OWN(ret_nr);
	e.result = (int64_t)OWN(ret);
	end(d, t, of, &e, r, (flags & CALL_COMPAT_RETURN) && !d->abi, shown);
}

/* ---- tasks that begin, execute and end ---- */

/*
 * The task has executed a program by a call of 32-bit code, of which syscalls has no
 * event: all that is known is the program. Skip the return of the call.
 */
static void take_foreign(struct decode *d, struct decode_task *t, const struct decode_event *of,
			const struct record *r)
{
	const struct call *c = NULL;

	for (unsigned n = 0; n <= calls_most(d->calls) && !(c && c->role->is & IS_EXEC); n++)
		c = calls_find(d->calls, n);
	memory_drop(d, t);
	memory_program(d, t, of, r);
	t->c.tables = d->calls;
	t->c.call = c;
	t->c.nargs = 1;
	t->c.ts = t->executed = r->ts;
	t->nhead = (uint8_t)(r->len < HEAD ? r->len : HEAD);
	memcpy(t->head, r->data, t->nhead);
	t->c.values.args[0] = 1; /* not NULL */
	t->shown = t->c.foreign = 1;
	end_executed(d, t);
	t->executed = t->c.foreign = 0;
	t->pair.skip = 1;
}

/* A thread that is not the leader has executed a program: it takes the leader's pid. */
static void exec(struct decode *d, int old_pid, int pid)
{
	struct decode_task *old = old_pid != pid ? decode_find(d, old_pid) : NULL, *t;
	struct table_entry entry;

	if (!old)
		return;
	t = decode_task_at(d, pid);
	old = decode_find(d, old_pid); /* if decode_task has not dropped it */
	if (!old)
		return decode_unfinished(d, t);
	decode_unfinished(d, t);
	memory_free(d, t);
	entry = t->pair.entry;
	*t = *old;
	t->pair.entry = entry;
	t->c.pid = pid;
	old->user = NULL;
	old->parts = (struct strbuf){ 0 };
	old->pair.open = 0;
	forget(d, old);
}

/* A program has been executed. */
static void take_exec(struct decode *d, const struct decode_event *of, const struct record *r,
		      int pid)
{
	struct decode_task *t;

	exec(d, (int)number_at(d, of, 0, r), pid);
	t = decode_task_at(d, pid);
	if (!t->pair.open) { /* its record comes at its return, if it has one */
		t->pair.outside = d->pairing.losses + 1;
		memory_drop(d, t);
		t->foretold = r->ts;
	}
	memory_program(d, t, of, r);
	if (t->pair.open && t->pair.class == PAIRING_EXEC)
		t->executed = r->ts;
	else if (d->execs)
		take_foreign(d, t, of, r);
	t->c.group = noted_exec(&d->known, decode_group(d, t), pid);
}

/* The task has a child. */
static void take_child(struct decode *d, const struct decode_event *of, const struct record *r,
		       int pid)
{
	int child = (int)number_at(d, of, 0, r), group;
	struct decode_task *t;

	if (!decode_find(d, child))
		pairing_born(&d->pairing, &decode_task_at(d, child)->pair);
	group = decode_group(d, decode_task_at(d, pid));
	t = decode_find(d, child);
	if (t)
		t->c.group = noted_fork(&d->known, group, child,
					(uint64_t)number_at(d, of, 1, r));
}

static void take_end(struct decode *d, int pid)
{
	struct decode_task *t = decode_find(d, pid);

	if (!t)
		return;
	decode_unfinished(d, t);
	noted_forget(&d->known, pid);
	noted_forget(&d->known, (int)-(unsigned)pid);
	forget(d, t);
}

/* ---- the interface ---- */

int decode_record(struct decode *d, const struct record *r, int lost, int shown)
{
	const struct decode_event *of = event_at(d, r);
	const unsigned kind = of ? of->seen.kind : OTHER;
	int pid = record_pid(d->events, r);

	d->gap = lost != 0;
	d->pairing.losses += lost != 0;
	if (lost)
		noted_lost(&d->known);
	switch (kind) {
	case ENTER:
		enter(d, of, r, shown);
		break;
	case EXIT:
		leave(d, of, r, shown);
		break;
	case BEGUN:
	case CALLED:
		take_call(d, of, r, shown);
		break;
	case PART:
		memory_part(d, of, r);
		break;
	case FILED:
		decode_file(d, of, r);
		break;
	case PROBE:
		memory_probe(d, of->seen.event, r);
		break;
	case MEMORY:
		return !memory_older(d, of, r);
	case EXEC:
		take_exec(d, of, r, pid);
		break;
	case NEWTASK:
		take_child(d, of, r, pid);
		break;
	case RING:
		d->polled += (number_at(d, of, 0, r) & K_IORING_SETUP_SQPOLL) != 0;
		break;
	case END:
		take_end(d, pid);
	}
	d->requests += kind == REQUEST;
	return kind < MEMORY;
}

int decode_open(struct decode *d, const char *machine)
{
	const char *abi = d->abi ? d->abi : machine, *abi_32 = NULL;
	struct utsname u;

	machine = abi ? abi : !uname(&u) ? u.machine : "";
	if (!d->abi)
		abi_32 = calls_abi_32(machine);
	d->keeps_number = !strncmp(machine, "x86", 3) || !strncmp(machine, "mips", 4) ||
			  (*machine == 'i' && !strcmp(machine + 2, "86"));
	d->calls = calls_open(abi);
	d->calls_32 = abi_32 && d->calls ? calls_open(abi_32) : NULL;
	return d->calls && (!abi_32 || d->calls_32) ? 0 : -1;
}

void decode_begin(struct decode *d)
{
	decode_free(d);
	d->pairing.tasks.size = sizeof(struct decode_task);
	d->root = d->known.live ? file_root() : 0;
	wanted_begin(&d->wanted, d->root);
}

/* Compare the times at which the calls of two tasks began. */
static int by_time(const void *a, const void *b)
{
	const struct decode_task *x = *(struct decode_task *const *)a;
	const struct decode_task *y = *(struct decode_task *const *)b;

	return x->c.ts != y->c.ts ? x->c.ts > y->c.ts ? 1 : -1 :
	       (x->c.pid > y->c.pid) - (x->c.pid < y->c.pid);
}

const struct call *decode_call(struct decode *d, int pid, const struct call_values **values)
{
	struct decode_task *t = decode_find(d, pid);

	*values = t ? &t->c.values : NULL;
	if (t && t->pair.open)
		memory_use(d, t); /* as far as it is known */
	return t && t->pair.open ? t->c.call : NULL;
}

int decode_end(struct decode *d)
{
	if (!d->ended++) {
		table_sort(&d->pairing.tasks, by_time);
		d->hand = 0;
	}
	if (d->hand >= d->pairing.tasks.n)
		return 0;
	decode_unfinished(d, (struct decode_task *)(void *)d->pairing.tasks.v[d->hand++]);
	return 1;
}

void decode_free(struct decode *d)
{
	for (size_t i = 0; i < d->pairing.tasks.room; i++) {
		struct decode_task *t = (struct decode_task *)(void *)d->pairing.tasks.v[i];

		if (t)
			memory_free(d, t);
		free(t);
	}
	event_notes_free(&d->notes);
	files_free(&d->known);
	wanted_free(&d->wanted);
	free(d->pairing.tasks.v);
	d->pairing.tasks = (struct table){ 0 };
	d->held = d->hand = 0;
	d->last = NULL;
	d->ended = 0;
	d->requests = d->polled = d->queued = d->unnamed = 0;
}
