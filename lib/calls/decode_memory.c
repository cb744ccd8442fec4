/* SPDX-License-Identifier: ISC */
/* decode_memory.c - the user memory of the calls of tasks, as records bring it */

#include "calls/decode.h"

enum { PARTS_MOST = CALL_ARGS * CALL_USER_MOST }; /* of the next record of a task */

static void free_user(struct decode *d, struct decode_task *t)
{
	if (!t->user)
		return;
	d->held -= call_user_room(t->user);
	call_user_free(t->user);
	free(t->user);
	t->user = NULL;
}

void memory_drop(struct decode *d, struct decode_task *t)
{
	t->lacking = t->early = 0;
	t->memory = d->pairing.losses;
	if (d->held >= HELD_MOST / 2)
		free_user(d, t);
	else if (t->filled)
		call_user_clear(t->user);
	t->filled = 0;
}

/* Forget the parts of the next record. */
static void free_parts(struct decode *d, struct decode_task *t)
{
	d->held -= t->parts.room;
	free(t->parts.text);
	t->parts = (struct strbuf){ 0 };
}

void memory_free(struct decode *d, struct decode_task *t)
{
	free_user(d, t);
	free_parts(d, t);
}

struct call_user *memory_of(struct decode *d, struct decode_task *t)
{
	/* a part may be lost */
	t->lacking |= t->memory != d->pairing.losses;
	t->memory = d->pairing.losses;
	if (t->lacking)
		return NULL;
	if (!t->user && d->held < HELD_MOST && (t->user = calloc(1, sizeof(*t->user)))) {
		t->user->big = d->events->big;
		t->user->held = &d->held;
		d->held += sizeof(*t->user);
	}
	t->lacking = !t->user || d->held >= HELD_MOST;
	t->filled |= t->user != NULL;
	return t->lacking ? NULL : t->user;
}

/* Add user memory of an argument (call_user_add). */
static void add_memory(struct decode *d, struct decode_task *t, char tag, unsigned arg,
		       const void *bytes, size_t n)
{
	struct call_user *u = memory_of(d, t);

	if (u)
		t->lacking = call_user_add(u, tag, arg, bytes, n) < 0;
}

void memory_use(struct decode *d, struct decode_task *t)
{
	if (t->filled && !t->lacking && t->memory == d->pairing.losses) {
		call_user_get(t->user, t->c.call, &t->c.values);
		t->c.used = 1;
	} else if (t->c.used) {
		t->c.used = 0;
		t->c.values.netlink = 0;
		memset(t->c.values.files, 0, sizeof(t->c.values.files));
		memset(t->c.values.user, 0, sizeof(t->c.values.user));
		memset(t->c.values.entry, 0, sizeof(t->c.values.entry));
	}
	if (t->c.call && !d->known.by_kernel && (d->known.prints || d->known.groups.n))
		t->c.used |= (uint8_t)noted_refer(&d->known, decode_group(d, t), t->c.call,
						  &t->c.values);
}

void memory_copies(struct decode *d, struct decode_task *t, const struct decode_event *of,
		   const struct record *r)
{
	static const char fault[] = "(fault)", more[] = "...";
	struct field_data v;

	for (unsigned i = 0; i < of->nargs; i++) {
		if (!of->user[i] || field_value(d->events, of->user[i], r, &v) < 0 ||
		    v.kind <= FIELD_POINTER || !v.size /* none was copied */ ||
		    (t->user && t->user->entry[i].bytes.bytes))
			continue;
		if (v.kind == FIELD_ARRAY)
			add_memory(d, t, 'D', i, v.data, v.n * of->user[i]->elem);
		else if (v.n == sizeof(fault) - 1 && !memcmp(v.data, fault, v.n))
			add_memory(d, t, 'X', i, "", 0);
		else if (v.n >= 3 && !memcmp(v.data + v.n - 3, more, 3))
			add_memory(d, t, 'C', i, v.data, v.n - 3);
		else
			add_memory(d, t, 'A', i, v.data, v.n);
	}
}

uint64_t own_number(const struct decode *d, const struct record *r, size_t at, unsigned size)
{
	return raw_number(r->data + at, size, 1, d->events->big);
}

static void add_part(struct decode *d, struct decode_task *t, const void *bytes, size_t n)
{
	d->held -= t->parts.room;
	strbuf_add(&t->parts, bytes, n);
	d->held += t->parts.room;
}

/* May a part of the memory of the next record be missing? */
static int is_torn(const struct decode *d, const struct decode_task *t)
{
	return t->torn || (t->parts.n && t->parted != d->pairing.losses);
}

void memory_part(struct decode *d, const struct decode_event *of, const struct record *r)
{
	struct decode_task *t = decode_task_at(d, record_pid(d->events, r));
	const int torn = is_torn(d, t);
	struct field_data v;

	t->parted = d->pairing.losses;
	v = event_value(&of->seen, 0, d->events, r);
	if (torn || v.kind != FIELD_ARRAY || t->parts.n + v.n > PARTS_MOST ||
	    d->held >= HELD_MOST) {
		t->torn = 1;
		free_parts(d, t);
	} else {
		add_part(d, t, v.data, v.n);
	}
}

void memory_record(struct decode *d, struct decode_task *t, const struct record *r)
{
	const uint64_t place = OWN(memory);
	size_t at = place & 0xffff, n = place >> 16 & 0xffff;
	const void *memory = r->data + at;
	struct call_user *u;

	if (is_torn(d, t) || at + n > r->len) {
		t->lacking = 1;
	} else if (n || t->parts.n) {
		if (t->parts.n) {
			add_part(d, t, memory, n);
			memory = t->parts.text;
			n = t->parts.n;
		}
		u = memory_of(d, t);
		if (u)
			t->lacking = call_user_take(u, memory, n) < 0;
	}
	t->torn = 0;
	free_parts(d, t);
}

/*
 * The fields have the names of records: a1 is the string of argument 1, s1_0 of its array; a number
 * e1 says that the array has more. If the kernel could not read the string, a1 has no bytes.
 */
void memory_probe(struct decode *d, const struct event *e, const struct record *r)
{
	const struct event_set *evs = d->events;
	struct decode_task *t = decode_find(d, record_pid(evs, r));
	struct field_data v;

	for (unsigned i = e->ncommon; t && t->pair.open && i < e->nfields; i++) {
		const char *name = e->fields[i].name;
		const unsigned argument = (unsigned)(unsigned char)name[1] - '0';

		if (argument >= CALL_ARGS || field_value(evs, &e->fields[i], r, &v) < 0)
			continue;
		if (v.kind != FIELD_STRING || *name == 's')
			add_memory(d, t, *name, argument, "", 0);
		if (v.kind == FIELD_STRING)
			add_memory(d, t, *name == 's' || v.n ? 'a' : 'x', argument, v.data, v.n);
	}
}

int memory_older(struct decode *d, const struct decode_event *of, const struct record *r)
{
	const struct event_set *evs = d->events;
	int32_t pid = record_pid(evs, r);
	struct decode_task *t;
	struct call_user *u;
	size_t n;
	const char *text = older_text(evs, of->seen.field[0], r, d->id, &n);

	if (!text)
		return 0;
	t = decode_find(d, pid);
	if (older_begins(text, n)) {
		/* the return of the last call is missing, as that of an exec of 32-bit code */
		t = t ? t : decode_task_at(d, pid);
		decode_unfinished(d, t);
		memory_drop(d, t);
		t->early = 1;
	} else if (!t) { /* perhaps its first part is from before the trace */
		t = decode_task_at(d, pid);
		t->lacking = 1;
	}
	/* a call of 32-bit code has no events: it returns here, so the memory is its own */
	if (t->early && *text == 'k')
		t->early = 0;
	if (n == 1 && (*text == 'K' || *text == 'k')) {
		t->marked = *text == 'K' ? MARK_ENTRY : MARK_RETURN;
		t->mark = d->pairing.losses;
		return 1;
	}
	u = memory_of(d, t);
	if (u)
		t->lacking = older_memory(u, text, n) < 0;
	return d->id || !t->lacking;
}

void memory_program(struct decode *d, struct decode_task *t, const struct decode_event *of,
		    const struct record *r)
{
	struct field_data v;

	v = event_value(&of->seen, 1, d->events, r);
	if (v.kind != FIELD_STRING || (t->user && t->user->program.bytes.bytes))
		return;
	add_memory(d, t, 'n', 0, v.data, v.n);
}
