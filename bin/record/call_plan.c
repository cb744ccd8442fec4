/* SPDX-License-Identifier: ISC */
/*
 * call_plan.c - the map that says what user memory each call passes
 *
 * The map has an entry for each call, by its number: where user memory is, and when it is read. The
 * entry is made from the tables of the calls. A call that is not recorded has known 0 there.
 */

#include "host/host.h"
#include "call_programs.h"

/* Set the item of an argument that is user memory. arrays: of an exec, which array it is; or -1 */
static void describe(struct item *item, const struct plan *p, const struct call_arg *a, int arrays)
{
	int exec = arrays >= 0, count = a->count, shift = a->shift;

	item->flags = (uint8_t)((a->in ? AT_ENTRY : 0) | (a->out & CALL_OUT ? AT_RETURN : 0) |
				(a->out == CALL_OUT_INTERRUPTED ? IF_INTERRUPTED : 0));
	item->most = STRUCT_MOST;
	item->size = 1;
	switch (a->kind) {
	case CALL_PATH:
	case CALL_STRING:
		item->kind = a->out && a->count >= 0 ? DATA : STRING;
		item->most = STRING_MOST;
		item->flags |= exec ? ON_STACK : 0;
		break;
	case CALL_STRINGS:
		item->kind = arrays == 1 ? !p->env ? END : STRINGS : p->no_args ? END : STRINGS;
		item->most = (uint16_t)(arrays == 1 ? ENV_MOST : p->words);
		item->flags |= exec ? ON_STACK : 0;
		item->count = arrays ? NEW_ENV : NEW_WORDS;
		break;
	case CALL_BUFFER:
		item->most = (uint16_t)(a->bits ? STRUCT_MOST : p->data);
		item->kind = item->most ? DATA : END;
		item->message = a->message && item->most && item->most < MESSAGE_MOST;
		break;
	case CALL_STRUCT:
		item->kind = a->size ? DATA : END;
		item->size = count < 0 ? a->used : a->size;
		item->flags |= count < 0 && !a->sized ? 0 : MAY_BE_PART;
		if (a->bits) { /* in units of 8 bytes */
			shift = 6;
			item->size = 8;
			count = 0;
		} else if (a->sized) {
			item->size = 1;
			count = a->sized - 1;
		}
		break;
	case CALL_SOCKADDR:
	case CALL_OPTION:
		item->kind = DATA;
		item->most = a->kind == CALL_SOCKADDR ? SOCKADDR_MOST : STRUCT_MOST;
		item->flags |= a->kind == CALL_OPTION ? MAY_BE_PART : 0;
		if (a->out) { /* the address of its length follows */
			item->flags |= COUNT_IS_ADDRESS | MAY_BE_PART;
			count = item->arg + 1;
		}
	}
	if (count >= 0) {
		item->has_count = (uint8_t)(1 + shift);
		item->count = (uint8_t)count;
		if (a->count >= 0 && a->out && !a->in && !a->whole &&
		    !(item->flags & COUNT_IS_ADDRESS))
			item->flags |= COUNT_IS_RESULT;
	}
}

/* Describe the pointers of an argument that is a structure, and return the index of the first. */
static uint16_t describe_points(struct programs *m, int compat, const struct call_arg *a,
				uint8_t *number)
{
	struct call_pointer p;
	unsigned first = m->npoints, n = 0;

	while (n < UINT8_MAX && call_pointer(m->tables[compat], a, n, &p))
		n++;
	if (first + n > POINTS_MOST)
		n = 0;
	m->npoints += n;
	*number = (uint8_t)n;
	for (unsigned i = 0; i < n; i++) {
		struct item item = { 0 };
		struct point *to = &m->point[first + i];

		call_pointer(m->tables[compat], a, i, &p);
		m->messages |= p.arg.message && m->p->data;
		describe(&item, m->p, &p.arg, -1);
		if (item.kind != DATA)
			item.most = 0;
		*to = (struct point){ .offset = p.offset, .count = p.count_at,
				      .count_width = p.count_width, .flags = item.flags,
				      .size = item.size, .most = item.most,
				      .message = item.message };
		to->points = describe_points(m, compat, &p.arg, &to->npoints);
	}
	return (uint16_t)first;
}

/* Return the most rounds of the loop that an item takes. */
static unsigned rounds_of(const struct item *item)
{
	switch (item->kind) {
	case STRINGS:
		return item->most + 2u;
	case DATA:
		return 3;
	}
	return 1;
}

/* Is this call recorded? */
static int is_chosen(const struct plan *p, const char *name)
{
	char *const *n = p->names;

	if (!*n)
		return 1;
	while (*n && strcmp(*n, name))
		n++;
	return *n != NULL;
}

static int is_exec(const char *name)
{
	return (role_of_call(name)->is & IS_EXEC) != 0;
}

/* Is a call recorded that executes a program? It may return with the number of another call. */
static int executes(const struct plan *p)
{
	char *const *n = p->names;

	while (*n && !is_exec(*n))
		n++;
	return *n != NULL;
}

/* Describe a call, and raise the number of rounds to what it needs. */
static void describe_call(struct entry *e, struct programs *m, const struct call *call, int compat)
{
	int exec = is_exec(call->name), arrays = exec ? 0 : -1;
	struct item *item = e->items;
	unsigned rounds = 4;

	m->messages = 0;
	e->exec = (uint8_t)exec;
	e->known = RECORDED;
	if (m->files.known)
		describe_files(e, m->tables[compat], call, m->p->roots);
	for (unsigned i = 0; i < call->nargs; i++) {
		*item = (struct item){ .arg = (uint8_t)i };
		describe(item, m->p, &call->args[i], arrays);
		m->messages |= call->args[i].message && m->p->data;
		arrays += exec && call->args[i].kind == CALL_STRINGS;
		if (!item->kind)
			continue;
		if (m->may_goto && item->kind == DATA)
			item->points = describe_points(m, compat, &call->args[i], &item->npoints);
		m->kinds |= 1u << item->kind;
		e->known = HAS_MEMORY;
		e->at_entry |= !!(item->flags & AT_ENTRY);
		e->at_return |= !!(item->flags & (AT_RETURN | IF_INTERRUPTED));
		rounds += rounds_of(item);
		item++;
	}
	if (item < e->items + CALL_ARGS)
		*item = (struct item){ .kind = END };
	e->messages = m->messages && call->args[0].kind == CALL_FD;
	e->at_entry |= e->messages;
	if (rounds > m->rounds)
		m->rounds = rounds;
}

/*
 * Describe the variants of the call with this index that have other memory than the call itself.
 * The entries from *next on are free. Return 0, or -1 and errno.
 */
static int describe_variants(struct entry *entries, struct programs *m, const struct call *call,
			     uint32_t index, uint32_t *next)
{
	int compat = index >= NUMBERS;
	struct call_variant v;
	struct entry e;

	for (unsigned i = 0; calls_variant(call, i, &v); i++) {
		struct variant key = { .value = v.value, .number = index };

		memset(&e, 0, sizeof(e));
		describe_call(&e, m, v.call, compat);
		if (!memcmp(e.items, entries[index].items, sizeof(e.items)) &&
		    e.returns == entries[index].returns)
			continue;
		if (*next == ENTRIES) {
			errno = E2BIG; /* all variants are in this source tree, so this is a bug */
			return -1;
		}
		entries[*next] = e;
		entries[index].known = HAS_MEMORY;
		entries[index].values |= 1ull << VALUE_BIT(key.value);
		entries[index].by = (uint8_t)v.arg;
		if (bpf_update(m->variants, &key, next) < 0)
			return -1;
		++*next;
	}
	return 0;
}

/*
 * Report a name that no call has. The kernel may have a call that the tables do not have; nothing
 * is known of its memory. Return 0 or -1.
 */
static int check_names(const struct plan *p, struct calls *const *calls)
{
	for (char *const *names = p->names; *names; names++) {
		const struct call *call = NULL;
		char event[128];
		unsigned n = 0;

		while (n < 2 * NUMBERS && (!call || strcmp(call->name, *names))) {
			call = calls[n & 1] ? calls_find(calls[n & 1], n / 2) : NULL;
			n++;
		}
		str_format(event, sizeof(event), "events/syscalls/sys_enter_%.80s", *names);
		if ((!call || strcmp(call->name, *names)) && !file_exists(p->root, event))
			return err_msg("unknown system call '%.80s'", *names);
	}
	return 0;
}

/* Return what is read at the entry of a call, unless it is a variant. */
static uint8_t begins(const struct entry *e)
{
	const struct item *item = e->items;

	if (e->messages || e->exec)
		return ANYTHING;
	if (!e->at_entry)
		return BARE;
	if (item->kind != STRING || item->flags != AT_ENTRY)
		return ANYTHING;
	while (++item < e->items + CALL_ARGS && item->kind)
		if (item->flags & AT_ENTRY)
			return ANYTHING;
	return ONE_STRING;
}

/* Return what is read at the return of a call, unless it is a variant. */
static struct call_end ends(const struct entry *e)
{
	struct call_end end = { .what = e->returns ? NEW_FILE : BARE };

	if (e->exec || e->returns == FILE_AGAIN)
		return (struct call_end){ .what = ANYTHING };
	for (const struct item *i = e->items; i < e->items + CALL_ARGS && i->kind; i++) {
		if (!(i->flags & (AT_RETURN | IF_INTERRUPTED)))
			continue;
		if (end.what != BARE || i->kind != DATA || i->has_count || i->npoints ||
		    (i->flags & ~MAY_BE_PART) != AT_RETURN || i->size > i->most ||
		    i->size > SHORT_STRUCT)
			return (struct call_end){ .what = ANYTHING };
		end = (struct call_end){ .what = ONE_STRUCT, .arg = i->arg,
					 .size = (uint8_t)i->size };
	}
	return end;
}

/* Fill the map of calls. Return 0, or -1, reported. */
static int describe_calls(struct programs *m, struct entry *entries)
{
	const char *abi_32 = ABI_32;
	struct calls **calls = m->tables;
	uint32_t next = OTHER_CALL + 1;
	const struct call *call;

	calls[0] = calls_open(NULL);
	calls[1] = abi_32 ? calls_open(abi_32) : NULL;
	if (!calls[0] || (abi_32 && !calls[1]) || check_names(m->p, calls) < 0)
		return -1;
	for (unsigned n = 0; n <= OTHER_CALL; n++) {
		int compat = n >= NUMBERS && n < OTHER_CALL;

		call = n < OTHER_CALL && calls[compat] ? calls_find(calls[compat], n % NUMBERS) :
		       NULL;
		if (!call) /* nothing is known of its memory */
			entries[n].known = !*m->p->names;
		if (call && is_exec(call->name) && executes(m->p))
			entries[n].known = ENDS;
		if (!call || !is_chosen(m->p, call->name))
			continue;
		describe_call(&entries[n], m, call, compat);
		if (describe_variants(entries, m, call, n, &next) < 0)
			return err_capability(CAPS_BPF, "unable to fill a BPF map");
	}
	for (unsigned n = 0; n < next; n++) {
		struct entry *e = &entries[n];

		e->begins = begins(e);
		e->ends = ends(e);
		e->any_mode = e->known || (n < NUMBERS && entries[n + NUMBERS].known);
	}
	return 0;
}

int plan_calls(struct programs *m)
{
	struct entry *entries;

	m->variants = plan_map(m->p, MAP_HASH, "variants", sizeof(struct variant), 4, VARIANTS);
	if (m->variants < 0)
		return -1;
	m->point = plan_array(m->p, "points", &m->points, sizeof(*m->point), POINTS_MOST);
	entries = plan_array(m->p, "calls", &m->calls, ENTRIES * sizeof(*entries), 1);
	return m->point && entries ? describe_calls(m, entries) : -1;
}
