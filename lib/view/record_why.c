/* SPDX-License-Identifier: ISC */
/*
 * record_why.c - the account of why.h from records
 *
 * The events are sched:sched_switch, sched_waking and sched_process_fork, and as far as the trace
 * has them the system calls, interrupts, requests of disks and page faults. decode.c knows which
 * call a task is in, and the files of descriptors.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "event/event.h"
#include "view/view.h"
#include "why/why.h"

enum kind {
	OTHER = KIND_OTHER, SWITCH, WAKING, NEWTASK, EXEC, CALL, RETURN, IRQ, IRQ_END, SOFTIRQ,
	VECTOR, DISK, FAULT, THROTTLE, SIGNAL,
};

static struct {
	int on;
	struct why why;
	struct decode *decode;
	struct show *show;
	struct event_notes events;
	struct pids of;                 /* the tasks of --of */
	int given;
	size_t (*decoder)(void *decode, const struct record *, int lost, int *shown, char *buf,
			  size_t size);
} account = { .why = { .depth = 3, .top = 5 } };

/* ---- what records say ---- */

static const struct event_seen *event_at(const struct record *r)
{
	static const struct event_kind kinds[] = {
#include "account_events.h"
		{ NULL, 0, "" },
	};

	return event_seen(&account.events, account.show->line->events, r, kinds, 1);
}

static struct field_data get(const struct event_seen *of, unsigned i, const struct record *r)
{
	return event_value(of, i, account.show->line->events, r);
}

/* Return the task of these fields. */
static struct why_who who_at(const struct event_seen *of, unsigned pid, unsigned comm,
			     const struct record *r)
{
	struct field_data name = get(of, comm, r);

	return (struct why_who){
		.pid = (int32_t)get(of, pid, r).i,
		.comm = { (const char *)name.data, name.kind == FIELD_STRING ? name.n : 0 },
	};
}

/* Return the task that ran at the record. */
static struct why_who current(const struct record *r)
{
	const struct event_set *evs = account.show->line->events;
	struct why_who who = { .pid = record_pid(evs, r) };
	const struct comm *c = comms_find(&evs->comms, who.pid);

	if (c)
		who.comm = (struct text_part){ c->name, strlen(c->name) };
	return who;
}

/* What becomes of the task that leaves: the bits of __trace_sched_switch_state. */
static enum why_leave leave_of(int64_t state)
{
	enum { STOPPED = 4 | 8, DEAD = 0x10 | 0x20, ALL = 0xff };

	return !(state & ALL) || state & (ALL + 1) ? WHY_STAYS : state & DEAD ? WHY_DIES :
	       state & STOPPED ? WHY_STOPS : WHY_SLEEPS;
}

/* Say what a task waits for in this call (struct why). */
static void doing(void *unused, int32_t pid, const char *name, struct why_wait *wait)
{
	const struct call_values *values;
	const struct call *c = decode_call(account.decode, pid, &values);
	const int same = c && !strcmp(c->name, name) && c->nargs;
	const struct file_known *known = same ? files_find(&account.decode->known,
							   values->files[0]) : NULL;
	char file[128] = "";

	(void)unused;
	if (same && c->args[0].kind == CALL_FD && known)
		str_format(file, sizeof(file), "%s", known->name);
	why_describe(wait, name, same ? &values->args[0] : NULL, file);
}

/* Write the context in which the task ends its window (struct why). */
static void context_of(void *unused, int32_t pid, char text[WHY_CONTEXT])
{
	struct otel_context c = otel_of_task(&account.show->otel, pid);
	struct out o = out_to(text, WHY_CONTEXT - 1);

	(void)unused;
	otel_put(&c, &o, account.show->json);
	*o.at = '\0';
}

/* Return the name of the call that begins or returns. */
static const char *name_of_call(const struct record *r, const struct event_seen *of)
{
	const struct call_values *values;
	const struct call *c = decode_call(account.decode,
					   record_pid(account.show->line->events, r), &values);

	if (!c)
		c = calls_find(account.decode->calls, (uint64_t)get(of, 0, r).i);
	return c ? c->name : "a call without a name";
}

static const char *softirq(uint64_t vec)
{
	static const char *const names[] = { /* include/linux/interrupt.h */
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED",
		"HRTIMER", "RCU",
	};

	return vec < sizeof(names) / sizeof(*names) ? names[vec] : "softirq";
}

/* Account an event that is not about a call. */
static void take(const struct event_seen *of, const struct record *r)
{
	const struct event_set *evs = account.show->line->events;
	unsigned flags = record_flags(evs, r);
	struct why *w = &account.why;
	struct field_data v;
	char name[32];

	switch (of->kind) {
	case SWITCH:
		why_switch(w, r->ts, r->cpu, who_at(of, 0, 3, r), leave_of(get(of, 1, r).i),
			   who_at(of, 2, 4, r));
		break;
	case WAKING:
		why_waking(w, r->ts, r->cpu, current(r), flags & FLAG_SOFTIRQ,
			   flags & (FLAG_HARDIRQ | FLAG_NMI), who_at(of, 0, 1, r));
		break;
	case NEWTASK:
		why_new_task(w, r->ts, current(r), who_at(of, 0, 1, r));
		break;
	case EXEC:
		why_exec(w, r->ts, current(r), (int32_t)get(of, 0, r).i);
		break;
	case IRQ:
		v = get(of, 0, r);
		str_format(name, sizeof(name), "%.*s", v.kind == FIELD_STRING ? (int)v.n : 0,
			   v.data);
		why_irq(w, r->ts, r->cpu, current(r), name, 1);
		break;
	case SOFTIRQ:
		why_irq(w, r->ts, r->cpu, current(r), softirq(get(of, 0, r).u), 1);
		break;
	case VECTOR:
		str_format(name, sizeof(name), "%.*s",
			   (int)(strlen(of->event->name) - strlen("_entry")), of->event->name);
		why_irq(w, r->ts, r->cpu, current(r), name, 1);
		break;
	case IRQ_END:
		why_irq(w, r->ts, r->cpu, current(r), "", 0);
		break;
	case DISK: /* the kernel's dev_t: 12 bits, 20 bits */
		v = get(of, 1, r);
		str_format(name, sizeof(name), "%u:%u %.*s", (unsigned)(get(of, 0, r).u >> 20),
			   (unsigned)(get(of, 0, r).u & 0xfffff),
			   v.kind == FIELD_STRING ? (int)v.n : 0, v.data);
		if (!(flags & FLAG_INTERRUPT))
			why_disk(w, r->ts, current(r), name);
		break;
	case THROTTLE:
		if (!(flags & FLAG_INTERRUPT))
			why_throttled(w, r->ts, current(r));
		break;
	case SIGNAL:
		why_signal(w, r->ts, current(r), (int)get(of, 0, r).i);
		break;
	case FAULT:
		why_fault(w, r->ts, current(r), get(of, 0, r).u);
		break;
	default:
		why_time(w, r->ts);
	}
}

/* If a selection waits for tasks, those that have joined it are subjects from then on. */
static void take_joined(const struct record *r)
{
	const struct subjects *s = &account.show->subjects;

	if (s->member && !account.given &&
	    subjects_have(s, record_pid(account.show->line->events, r)))
		why_subject(&account.why, current(r));
}

/* Account a record, and print nothing (struct show). */
static size_t take_record(void *decode, const struct record *r, int lost, int *shown, char *buf,
			  size_t size)
{
	const struct event_seen *of = event_at(r);
	struct why *w = &account.why;
	const char *call = "";
	int hidden = 0;

	if (lost)
		why_lost(w);
	take_joined(r);
	if (of->kind == RETURN)
		why_return(w, r->ts, current(r), call = name_of_call(r, of), get(of, 1, r).i);
	account.decoder(decode, r, lost, &hidden, buf, size);
	if (of->kind == CALL)
		why_call(w, r->ts, current(r), call = name_of_call(r, of));
	else if (of->kind != RETURN && of->kind != OTHER)
		take(of, r);
	if (w->scope == WHY_SPANS && of->event)
		why_event(w, r->ts, current(r), of->event->name, call);
	*shown = 0;
	return 0;
}

/* ---- the interface ---- */

int account_take(struct show *s, struct decode *d, const struct tool *tool, int letter)
{
	struct why *w = &account.why;

	if (letter != OPT_LONG)
		return 0;
	if (!strcmp(opt_last.name, "why"))
		w->scope = !strcmp(opt_value, "calls") ? WHY_CALLS : WHY_TASKS;
	else if (!strcmp(opt_last.name, "depth"))
		w->depth = (unsigned)opt_number();
	else if (!strcmp(opt_last.name, "top"))
		w->top = opt_number();
	else if (!strcmp(opt_last.name, "of"))
		account.given |= pids_option(tool, opt_value, 0, &account.of) >= 0;
	else if (!strcmp(opt_last.name, "folded"))
		w->folded = 1;
	else if (!strcmp(opt_last.name, "begin"))
		w->opens = opt_value;
	else if (!strcmp(opt_last.name, "end"))
		w->closes = opt_value;
	else
		return 0;
	account.on = 1;
	d->on = d->names = d->known.prints = 1;
	s->asked = 1;
	return 1;
}

void account_begin(struct show *s, struct decode *d)
{
	struct why *w = &account.why;

	if (!account.on)
		return;
	account.show = s;
	account.decode = d;
	account.decoder = s->decoder;
	s->decoder = take_record;
	w->slower = d->slower;
	if (w->opens)
		w->scope = WHY_SPANS;
	w->json = s->json;
	w->doing = doing;
	w->context = s->otel.on && w->scope != WHY_TASKS ? context_of : NULL;
	why_begin(w);
	for (size_t i = 0; i < account.of.n; i++)
		why_subject(w, (struct why_who){ .pid = account.of.v[i] });
}

int account_on(void)
{
	return account.on;
}

void account_subject(int pid)
{
	if (!account.on || account.given)
		return;
	if (!pid)
		account.why.all = 1;
	else
		why_subject(&account.why, (struct why_who){ .pid = pid });
}

void account_end(struct strbuf *text)
{
	if (!account.on)
		return;
	stdout_collect(text);
	why_end(&account.why);
	stdout_collect(NULL);
}
