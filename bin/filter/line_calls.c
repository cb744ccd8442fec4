/* SPDX-License-Identifier: ISC */
/*
 * line_calls.c - the system calls of event lines, each once
 *
 * The lines are entries and returns of syscalls or raw_syscalls, in text or JSON, with the lat of
 * tfs-latency or without, or decoded calls. All of them give the same calls.
 */

#include "base/base.h"
#include "host/host.h"
#include "calls/calls.h"
#include "lines/lines.h"
#include "line_calls.h"

int line_calls_result(const struct seen *l, int64_t *result)
{
	struct text_part p = seen_call_result(l);
	struct decimal v;

	if (!p.text || decimal_parse(&v, p) < 0)
		return -1;
	*result = p.n == 10 && text_part_begins(p, "0x") ? (int32_t)(uint32_t)v.whole :
		  v.negative ? (int64_t)(0 - v.whole) : (int64_t)v.whole;
	return 0;
}

/* Return what a decoded line, or one with lat, says about its call; PAIRING_NOTHING for others. */
static enum pairing_fate told(const struct seen *l)
{
	static const struct { const char *key; enum pairing_fate fate; } keys[] = {
		{ "lat", PAIRING_RETURNED }, { "unfinished", PAIRING_UNFINISHED },
		{ "denied", PAIRING_DENIED }, { "emulated", PAIRING_EMULATED },
		{ "resumed", PAIRING_RESUMED },
	};

	const char *at = l->body.text, *end;
	struct text_part name, value;

	if (l->decoded || !at) /* a record has no more than the kernel says */
		return l->decoded;
	end = at + l->body.n;
	if (!l->json) /* most lines have no lat, so look for its letters first */
		return memmem(at, l->body.n, " lat=", 5) && seen_text(l, "lat").n ?
		       PAIRING_RETURNED : PAIRING_NOTHING;
	while (json_member(&at, end, &name, &value))
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			if (text_part_is(name, keys[i].key))
				return keys[i].fate;
	return PAIRING_NOTHING;
}

/* A cache: a trace has the same names of calls again and again. */
static struct {
	char call[32], name[40];
	int decoded;
	struct pairing_event e;
} memo[64];

/* Set the name of the line's call, and its id and class. Return 1 for an event of raw_syscalls. */
static int identify(struct line_calls *c, const struct seen *l, struct pairing_event *e)
{
	struct text_part call = seen_text(l, "call"), number = { 0 };
	const size_t at = text_hash(TEXT_HASH, call.text, call.n) % 64;
	const char *name = NULL;
	struct decimal v;

	if (!call.n)
		number = seen_call_number(l);
	c->name.n = 0;
	if (call.n && text_part_is(call, memo[at].call) && memo[at].decoded == (l->decoded != 0)) {
		strbuf_puts(&c->name, memo[at].name);
		*e = memo[at].e;
		return 0;
	}
	if (call.n) {
		strbuf_escaped(&c->name, call.text, call.n, ESCAPE_TEXT);
		/* an event has the name of the kernel's function, a decoded call its own */
		if (!seen_is_call(l))
			name = syscall_of_function(c->name.text);
	} else if (!number.n) {
		strbuf_puts(&c->name, "-");
	} else if (decimal_parse(&v, number) < 0) { /* no kernel prints such a number */
		strbuf_puts(&c->name, "syscall_");
		strbuf_escaped(&c->name, number.text, number.n, ESCAPE_TEXT);
	} else {
		e->id = v.negative ? 0 - v.whole : v.whole;
		name = name_of_syscall((int64_t)e->id);
		if (!name)
			strbuf_format(&c->name, "syscall_0x%llx", (unsigned long long)e->id);
	}
	if (name && name != c->name.text) {
		strbuf_puts(strbuf_empty(&c->name), name);
	}
	if (e->id != PAIRING_FORGOTTEN)
		e->id = text_hash(TEXT_HASH, c->name.text, c->name.n);
	e->class = pairing_class(role_of_call(c->name.text)->is);
	if (call.n && call.n < sizeof(memo->call) && c->name.n < sizeof(memo->name)) {
		str_format(memo[at].call, sizeof(memo->call), "%.*s", (int)call.n, call.text);
		str_format(memo[at].name, sizeof(memo->name), "%s", c->name.text);
		memo[at].decoded = l->decoded != 0;
		memo[at].e = *e;
	}
	return !call.n;
}

/* Forget the open call of the task, and count it as a call that is not known to return. */
static void end_open(struct line_calls *c, struct call_task *t)
{
	c->no_end += t->pair.open;
	t->pair.open = 0;
	latency_start_clear(&t->begun);
}

static struct call_task *task_of(struct line_calls *c, const struct seen *l)
{
	struct text_part pid = seen_text(l, "pid");
	struct pairing_task *surplus;
	struct call_task *t;

	strbuf_puts(strbuf_empty(&c->key), l->json ? "j" : "t");
	strbuf_add(&c->key, pid.text, pid.n);
	strbuf_puts(&c->key, " ");
	strbuf_add(&c->key, l->host.text, l->host.n);
	t = table_find(&c->pairing.tasks, c->key.text, c->key.n);
	while (!t && (surplus = pairing_surplus(&c->pairing))) {
		end_open(c, (struct call_task *)surplus);
		table_remove(&c->pairing.tasks, surplus);
	}
	return t ? t : table_at(&c->pairing.tasks, c->key.text, c->key.n);
}

/*
 * Give the task the call with which one of its threads has executed a program, if that is certain:
 * no other task of this host is in such a call.
 */
static void take_exec(struct line_calls *c, struct call_task *t)
{
	size_t n = strcspn(t->pair.entry.key, " ");
	const char *host = t->pair.entry.key + n;
	struct call_task *thread = NULL, *other;

	for (size_t i = 0; (other = table_next(&c->pairing.tasks, &i));) {
		if (!other->pair.open || other->pair.class != PAIRING_EXEC ||
		    *other->pair.entry.key != *t->pair.entry.key ||
		    strcmp(other->pair.entry.key + strcspn(other->pair.entry.key, " "), host))
			continue;
		if (thread)
			return;
		thread = other;
	}
	if (!thread)
		return;
	end_open(c, t);
	thread->pair.entry = t->pair.entry;
	*t = *thread;
	/* the pid of the thread is free */
	thread->pair.open = 0;
	thread->begun = (struct latency_start){ 0 };
}

/*
 * Is the result of a failed call the number of the call? On these machines, if seccomp(2) traps or
 * kills, the kernel puts the number of the call back where it was (syscall_rollback).
 */
static int is_trapped(const struct line_calls *c, int64_t result)
{
#if defined(__x86_64__) || defined(__i386__) || defined(__mips__)
	const char *name = name_of_syscall(result);

	return name && !strcmp(name, c->name.text);
#else
	(void)c;
	(void)result;
	return 0;
#endif
}

enum pairing_fate line_calls_event(struct line_calls *c, const struct seen *l,
				   struct call_task **task)
{
	int side = seen_side(l), raw, same;
	enum pairing_fate said, fate;
	struct pairing_event e = { 0 };
	struct call_task *t;

	if (!side)
		return PAIRING_NOTHING;
	said = side < 0 ? told(l) : PAIRING_NOTHING;
	if (said == PAIRING_UNFINISHED || said == PAIRING_NO_RETURN)
		side = 1;
	raw = identify(c, l, &e);
	*task = t = task_of(c, l);
	/* a trace of both syscalls and raw_syscalls has each entry and return twice */
	if (!said && raw != t->raw && side == t->side && e.id == t->pair.id)
		return PAIRING_NOTHING;
	t->raw = (uint8_t)raw;
	t->side = (int8_t)side;
	same = pairing_is_same(&t->pair, &e);
	if (side > 0) {
		end_open(c, t);
		fate = pairing_enter(&c->pairing, &t->pair, &e);
		t->pair.begun -= said == PAIRING_UNFINISHED; /* a return comes after a loss */
		c->no_end += fate == PAIRING_NO_RETURN;
		return fate;
	}
	if (!same) {
		line_calls_result(l, &e.result);
		e.trapped = !said && is_trapped(c, e.result);
		if (!said && e.class == PAIRING_EXEC && !e.result &&
		    pairing_is_certain(&c->pairing, &t->pair)) {
			take_exec(c, t);
			same = pairing_is_same(&t->pair, &e);
		}
	}
	/* after a loss, a line with a time may not be the return of the call that was open */
	if (!same || (said && said != PAIRING_RESUMED &&
		      !pairing_is_certain(&c->pairing, &t->pair)))
		end_open(c, t);
	fate = pairing_return(&c->pairing, &t->pair, &e);
	if (said == PAIRING_RETURNED && fate != said)
		*task = NULL;
	return !said || fate == PAIRING_ACROSS || fate == PAIRING_BORN ? fate : said;
}

int line_calls_counts(enum pairing_fate fate, const struct call_task *t)
{
	return fate == PAIRING_BEGAN || fate == PAIRING_NO_RETURN || fate == PAIRING_UNFINISHED ||
	       fate == PAIRING_DENIED || fate == PAIRING_EMULATED ||
	       (fate == PAIRING_RETURNED && !t);
}

void line_calls_end(struct line_calls *c)
{
	struct call_task *t;

	for (size_t i = 0; (t = table_next(&c->pairing.tasks, &i));)
		end_open(c, t);
}
