/* SPDX-License-Identifier: ISC */
/* tables.c - the compiled tables of system calls, and the calls of an ABI made from them */

#include "calls/tables.h"
#include "syscalls_data.h" /* made by tables.awk */

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

struct call_condition {
	uint32_t value, bits;
	uint8_t test, arg;
};

/* A call, or a variant, which follows its call. The last one of a call has no test. */
struct call_entry {
	struct call call;
	struct call_condition when[2];
};

static unsigned width_of(const struct calls *c, unsigned width)
{
	return width == WIDTH_LONG ? c->word : width == WIDTH_OLD ? (c->word == 4 ? 2 : 4) : width;
}

const struct call_layout *call_layout(const struct calls *c, unsigned layout)
{
	const struct layout_rows *at = &call_layout_rows[layout];

	return &call_layouts[at->first + call_forms[at->form].row[c->abi - call_abis]];
}

static struct call_member *make_members(const struct call_layout *l)
{
	struct call_member *first = xcalloc(l->n + 1u, sizeof(*first)), *m = first;
	unsigned offset = 0;

	for (const uint16_t *w = call_member_words + l->first; m < first + l->n; m++) {
		m->name = *w++;
		m->shape = call_shapes[*w & 0x3ff];
		offset = *w >> 10 == 63 ? w[1] : offset + (*w >> 10);
		w += *w >> 10 == 63 ? 2 : 1;
		m->offset = (uint16_t)offset;
		for (unsigned i = 0; i < m->words; i++)
			m->bits |= (uint32_t)*w++ << 16 * i;
	}
	return first;
}

const struct call_member *call_members(const struct call_layout *l)
{
	static struct call_member *found[LENGTH(call_layouts)];
	struct call_member **members = &found[l - call_layouts];

	if (!*members)
		*members = make_members(l);
	return *members;
}

static void make_arg(const struct calls *c, struct call_arg *a, unsigned index)
{
	const unsigned set = call_arguments[index].set;
	const struct call_argument_kind *from = &call_kinds[call_arguments[index].kind];

	*a = (struct call_arg){
		.name = call_texts + call_arguments[index].name, .label = call_texts + from->label,
		.kind = from->kind, .in = from->in, .out = from->out, .after = from->after,
		.count = (int8_t)(from->count - 1), .place = from->place, .sized = from->sized,
		.whole = from->whole,
		.size = (uint16_t)width_of(c, from->width), .set = (uint16_t)set,
	};
	if (from->kind == CALL_BUFFER) {
		a->bits = set == BUFFER_BITS;
		a->message = set == BUFFER_MESSAGE;
	}
	if (from->eights)
		a->size = (uint16_t)(8 * from->eights);
	a->less = from->unit == UNIT_NODES;
	if (from->unit)
		a->shift = from->unit == UNIT_PAGES ? 12 : c->word == 8 ? 6 : 5;
	if (from->kind == CALL_STRUCT) {
		a->size = call_layout(c, set)->size;
		a->used = call_layout(c, set)->used;
		if (call_layout(c, set)->chain)
			a->size = 1;
		a->bits = call_members(call_layout(c, set))->kind == MEMBER_FDSET;
	}
}

void call_pointed(const struct calls *c, const struct call_member *m, struct call_arg *a)
{
	make_arg(c, a, m->set);
}

/* Set p to pointer *i of a layout at an offset, and count *i down. Return 1, or 0. */
static int find_pointer(const struct calls *c, unsigned layout, size_t offset, unsigned *i,
			struct call_pointer *p)
{
	const struct call_member *first = call_members(call_layout(c, layout));

	for (const struct call_member *m = first; m < first + call_layout(c, layout)->n; m++) {
		if (m->kind == CALL_STRUCT && m->count == 1 &&
		    find_pointer(c, m->set, offset + m->offset, i, p))
			return 1;
		if (m->kind != MEMBER_POINTER || (*i)--)
			continue;
		call_pointed(c, m, &p->arg);
		p->offset = (uint16_t)(offset + m->offset);
		p->count_width = 0;
		if (p->arg.count >= 0) {
			p->count_at = (uint16_t)(offset + first[p->arg.count].offset);
			p->count_width = (uint8_t)first[p->arg.count].width;
		}
		return 1;
	}
	return 0;
}

int call_pointer(const struct calls *c, const struct call_arg *a, unsigned i,
		 struct call_pointer *p)
{
	return a->kind == CALL_STRUCT && find_pointer(c, a->set, 0, &i, p);
}

int call_addresses(const struct call *c)
{
	return c->nargs > 1 && c->args[0].kind == CALL_FD && c->args[1].kind == CALL_SOCKADDR &&
	       c->args[1].in;
}

int call_makes_pair(const struct calls *c, const struct call_arg *a)
{
	const struct call_member *first;

	if (a->kind != CALL_STRUCT || !a->out || a->in)
		return 0;
	first = call_members(call_layout(c, a->set));
	return first->kind == CALL_FD && first->count == 2;
}

int call_names_link(const struct call *c, const uint64_t *args, unsigned i)
{
	for (unsigned k = 0; k < 2; k++) {
		const unsigned link = c->role->file[k].link;
		const uint64_t flags = args[link % LINK_IF % CALL_ARGS];

		if (c->role->file[k].arg == i + 1)
			return link >= LINK_UNLESS ? !(flags & AT_SYMLINK_FOLLOW) :
			       link >= LINK_IF ? (flags & AT_SYMLINK_NOFOLLOW) != 0 : link != 0;
	}
	return 0;
}

/*
 * Make a call of n arguments and a result in a list. A number of 64 bits takes two registers of a
 * 32-bit ABI, from an even one on if the ABI aligns 8 bytes so. Write the registers to at.
 */
static void make_call(const struct calls *c, struct call *call, const uint16_t *list, unsigned n,
		      uint8_t at[CALL_ARGS])
{
	static const struct call_arg none = { .kind = CALL_NONE, .count = -1 };
	struct call_arg *args = call->args, arg;
	unsigned r = 0;

	for (unsigned i = 0; i < n; i++) {
		int pair;

		make_arg(c, &arg, list[i]);
		pair = arg.place == PLACE_PAIR && c->word == 4;
		if (pair && c->abi->align8 == 8 && r % 2)
			args[r++] = none;
		at[i] = (uint8_t)r;
		args[r++] = arg;
		if (pair)
			args[r++] = none;
	}
	call->nargs = (uint8_t)r;
	make_arg(c, &call->result, list[n]);
	while (r--) {
		if (args[r].count >= 0)
			args[r].count = (int8_t)at[args[r].count];
		if (args[r].sized)
			args[r].sized = (uint8_t)(1 + at[args[r].sized - 1]);
	}
}

static struct call_condition make_condition(unsigned i, const uint8_t at[CALL_ARGS])
{
	const struct call_test *test = &call_tests[i];

	return (struct call_condition){ call_test_values[i], call_test_bits[test->bits],
					test->test, at[test->arg] };
}

static struct call_entry *make_entries(const struct calls *c, const struct call_data *d)
{
	const size_t most = d[1].variants - d->variants + 2u;
	struct call_entry *first = xcalloc(most, sizeof(*first)), *e = first;
	uint8_t at[CALL_ARGS];

	e->call.name = call_texts + d->name;
	e->call.role = role_of_call(e->call.name);
	make_call(c, &e->call, call_lists + d->args, d->nargs, at);
	for (unsigned i = d->variants; i < d[1].variants; i++) {
		const struct call_variant_data *v = &call_variants[i];

		if (!(v->abis & c->bit))
			continue;
		(++e)->call.name = first->call.name;
		e->call.role = first->call.role;
		make_call(c, &e->call, call_lists + v->args, v->nargs, at);
		for (unsigned k = 0; k < 2; k++)
			e->when[k] = make_condition(v->when[k], at);
	}
	return first;
}

const struct call *calls_find(struct calls *c, uint64_t n)
{
	unsigned index = n < c->abi->n ? call_numbers[c->abi->numbers + n] : 0;

	if (!index)
		return NULL;
	if (!c->found[n])
		c->found[n] = make_entries(c, &call_table[index - 1]);
	return &c->found[n]->call;
}

static int holds(const struct call_condition *when, const uint64_t *args)
{
	uint64_t v = args[when->arg], bits = when->bits ? when->bits : UINT32_MAX;

	return when->test == TEST_EQUAL ? (v & bits) == when->value :
	       when->test == TEST_ANY ? !!(v & when->value) :
	       when->test == TEST_NONE ? !(v & when->value) : 1;
}

const struct call *calls_match(const struct call *call, const uint64_t *args)
{
	for (const struct call_entry *e = (const void *)call; (++e)->when[0].test;)
		if (holds(&e->when[0], args) && holds(&e->when[1], args))
			return &e->call;
	return call;
}

/* Is the variant chosen by the value of one argument alone? */
static int has_value(const struct call_entry *e)
{
	return e->when[0].test == TEST_EQUAL && !e->when[1].test && !e->when[0].bits;
}

int calls_variant(const struct call *call, unsigned i, struct call_variant *v)
{
	for (const struct call_entry *e = (const void *)call; (++e)->when[0].test;) {
		const struct call_entry *f = (const void *)call;

		if (!has_value(e))
			continue;
		while (++f < e && (!has_value(f) || f->when[0].arg != e->when[0].arg ||
				   f->when[0].value != e->when[0].value))
			;
		if (f < e || i--)
			continue;
		*v = (struct call_variant){ &e->call, e->when[0].value, e->when[0].arg };
		return 1;
	}
	return 0;
}

unsigned calls_most(const struct calls *c)
{
	return c->abi->n - 1u;
}

int calls_big_endian(const struct calls *c)
{
	return c->big;
}

struct calls *calls_open(const char *abi)
{
	static struct calls tables[LENGTH(call_abis)];

	if (!abi)
		abi =
#if defined(__x86_64__)
			"x86_64";
#elif defined(__i386__)
			"i386";
#elif defined(__aarch64__)
			"aarch64";
#elif defined(__arm__)
			"arm";
#elif defined(__s390x__)
			"s390x";
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
			"ppc64le";
#elif defined(__riscv) && __riscv_xlen == 64
			"riscv64";
#elif defined(__mips64)
			"mips64";
#elif defined(__mips__)
			"mips";
#else
			"this machine";
#endif
	if (!strncmp(abi, "armv", 4))
		abi = "arm";
	else if (*abi == 'i' && !strcmp(abi + 2, "86"))
		abi = "i386";
	for (unsigned i = 0; i < LENGTH(call_abis); i++) {
		struct calls *c = &tables[i];
		const struct call_abi *a = &call_abis[i];

		if (strcmp(a->name, abi))
			continue;
		if (!c->abi)
			*c = (struct calls){ a, a->word, a->big, *abi == 'p', (uint8_t)(1 << i),
					     xcalloc(a->n, sizeof(struct call_entry *)) };
		return c;
	}
	err_msg("unable to decode system calls of %s: there is no table of them", abi);
	return NULL;
}

const char *calls_abi_32(const char *abi)
{
	return !strcmp(abi, "x86_64") ? "i386" : !strcmp(abi, "aarch64") ? "arm" : NULL;
}
