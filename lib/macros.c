/* SPDX-License-Identifier: ISC */
/* macros.c - what the kernel's macros leave in a print fmt: REC, __get_*, __print_* */
#include "compile.h"

struct ex field_ex(struct compiler *c, const struct field *f)
{
	struct ex x = { .field = f, .n = f->offset, .elem = f->elem,
			.elem_signed = f->is_signed, .place = f->place };

	if (f->place == PLACE_DATA_LOC || f->place == PLACE_REL_LOC) { /* the word itself */
		x.kind = X_FIELD;
		x.size = x.read_size = 4;
	} else if (f->kind == FIELD_NUMBER || f->kind == FIELD_POINTER) {
		x.kind = X_FIELD;
		x.size = x.read_size = (uint8_t)f->size;
		x.is_signed = x.read_signed = f->is_signed;
		x.pointer = f->kind == FIELD_POINTER;
		if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
			return bad(c);
	} else if (f->place == PLACE_REST) {
		x.kind = X_LOC;
	} else {
		x.kind = X_HERE;
		x.k = f->size;
	}
	return x;
}

static const struct field *find_field(struct compiler *c)
{
	const char *s = c->from;
	size_t n = (size_t)(c->s - s);

	for (unsigned i = 0; i < c->e->nfields; i++) {
		const struct field *f = &c->e->fields[i];

		if (strlen(f->name) == n && !memcmp(f->name, s, n))
			return f;
		if (n > 11 && !memcmp(s, "__data_loc_", 11) && strlen(f->name) == n - 11 &&
		    !memcmp(f->name, s + 11, n - 11))
			return f;
	}
	return NULL;
}

/* REC -> field */
struct ex record_field(struct compiler *c)
{
	const struct field *f;

	if (c->token != T_ARROW)
		return bad(c);
	do { /* of REC->graph_ent.func, the format has the last name */
		next_token(c);
		if (c->token != T_NAME)
			return bad(c);
		f = find_field(c);
		next_token(c);
	} while (c->token == '.');
	return f ? field_ex(c, f) : bad(c);
}

/* ( field ), of a macro that finds its memory */
static struct ex dynamic(struct compiler *c)
{
	const struct field *f = NULL;
	struct ex x;

	need(c, '(');
	if (c->token == T_NAME)
		f = find_field(c);
	next_token(c);
	need(c, ')');
	if (!f || f->place == PLACE_HERE || f->place == PLACE_REST)
		return bad(c);
	x = field_ex(c, f);
	x.kind = X_LOC;
	return x;
}

static struct ex argument(struct compiler *c)
{
	struct ex x = ternary(c, 0);

	if (c->token != ')')
		need(c, ',');
	return x;
}

void push_memory(struct compiler *c, struct ex *x)
{
	if (x->kind != X_HERE && x->kind != X_LOC && x->kind != X_REGION)
		c->bad = 1;
	push(c, x);
}

/* { value, "name" }, ... ) */
SMALL static uint32_t table(struct compiler *c)
{
	struct table *t = one_more(c, &c->p->tables, c->p->ntables, sizeof(*t), 4096);
	uint32_t first = c->p->nnames;

	while (!c->bad && took(c, '{')) {
		struct ex x = ternary(c, 0);
		uint32_t text = c->p->ntext;
		struct name *name;

		need(c, ',');
		if (c->token != T_STRING && !c->bad) { /* { -1, NULL }, the end */
			x = ternary(c, 0);
			if (x.kind != X_CONST || x.k)
				bad(c);
			took(c, ',');
			need(c, '}');
			took(c, ',');
			break;
		}
		name = one_more(c, &c->p->names, c->p->nnames, sizeof(*name), 65536);
		if (!name || x.kind != X_CONST || c->token != T_STRING) {
			bad(c);
			break;
		}
		add_literal(c, c->from);
		*name = (struct name){ x.k, text, c->p->ntext - text };
		c->p->nnames++;
		next_token(c);
		took(c, ',');
		need(c, '}');
		took(c, ',');
	}
	c->text_at = c->p->ntext;
	need(c, ')');
	if (!t || c->bad)
		return 0;
	*t = (struct table){ first, c->p->nnames - first };
	return c->p->ntables++;
}

/* The functions that write text; their name was taken. -1: it is none. */
SMALL static struct ex writer(struct compiler *c, int which)
{
	struct ex x, y, z;
	struct step *s;
	uint32_t text = 0, len = 0, n;
	uint8_t size;

	enum { FLAGS, FLAGS64, SYMBOLIC, SYMBOLIC64, HEX, HEX_STR, ARRAY, DYNAMIC_ARRAY,
	       DUMP, BITMASK };

	if (which < BITMASK)
		need(c, '(');
	switch (which) {
	case FLAGS: case FLAGS64: case SYMBOLIC: case SYMBOLIC64:
		x = argument(c);
		push_number(c, &x);
		flush_text(c);
		if (which <= FLAGS64) {
			text = c->p->ntext;
			if (c->token == T_STRING)
				add_literal(c, c->from);
			else if (c->token != T_NUMBER)
				return bad(c);
			len = c->p->ntext - text;
			c->text_at = c->p->ntext;
			next_token(c);
			took(c, ',');
		}
		size = which == FLAGS || which == SYMBOLIC ? (uint8_t)c->evs->long_size : 8;
		n = table(c);
		s = step(c, which <= FLAGS64 ? OP_FLAGS : OP_SYMBOLIC);
		s->n = n;
		s->text = text;
		s->len = len;
		s->size = size;
		return written();
	case HEX: case HEX_STR:
		x = argument(c);
		push_memory(c, &x);
		y = argument(c);
		push_number(c, &y);
		need(c, ')');
		step(c, OP_SELECT)->what = 1; /* cut the region to the length */
		c->stack++;
		writing(c, OP_HEX)->n = which == HEX ? ' ' : 0;
		return written();
	case ARRAY: case DYNAMIC_ARRAY:
		x = argument(c);
		push_memory(c, &x);
		y = argument(c);
		if (which == DYNAMIC_ARRAY) {
			z = y;
			y = constant(UINT32_MAX, 8, 1); /* as many as there are */
			push(c, &y);
			if (!is_lazy(&z))
				return bad(c);
			push_number(c, &z);
		} else {
			push_number(c, &y);
			z = argument(c);
			push_number(c, &z);
		}
		need(c, ')');
		writing(c, OP_ARRAY);
		return written();
	case DUMP:
		if (c->token != T_STRING)
			return bad(c);
		flush_text(c);
		text = c->p->ntext;
		add_literal(c, c->from);
		len = c->p->ntext - text;
		c->text_at = c->p->ntext;
		next_token(c);
		need(c, ',');
		for (int i = 0; i < 6; i++) { /* type, row, group, buf, len, ascii */
			x = argument(c);
			if (i == 3)
				push_memory(c, &x);
			else
				push_number(c, &x);
		}
		need(c, ')');
		s = step(c, OP_DUMP);
		s->text = text;
		s->len = len;
		c->stack--;
		return written();
	default:
		x = dynamic(c);
		push_memory(c, &x);
		writing(c, OP_BITS);
		return written();
	}
}

static struct ex own(struct compiler *c, enum own which)
{
	struct ex x;

	need(c, '(');
	x = argument(c);
	push(c, &x);
	if (which == OWN_BPRINT) {
		x = argument(c);
		push_memory(c, &x);
	}
	need(c, ')');
	writing(c, OP_OWN)->k = which;
	c->stack -= which == OWN_BPRINT;
	return written();
}

/*
 * Constants that the kernel leaves as names in some print fmts, those that have
 * been the same in all versions.
 */
static struct ex known_constant(struct compiler *c)
{
	static const struct {
		const char *prefix, *names; /* in their order, from first on */
		unsigned first;
	} known[] = {
		{ "IOPRIO_CLASS_", "NONE RT BE IDLE - - - INVALID ", 0 },
		{ "HRTIMER_MODE_", "ABS REL ABS_PINNED REL_PINNED ABS_SOFT REL_SOFT "
			"ABS_PINNED_SOFT REL_PINNED_SOFT ABS_HARD REL_HARD "
			"ABS_PINNED_HARD REL_PINNED_HARD ", 0 },
		{ "TCP_", "ESTABLISHED SYN_SENT SYN_RECV FIN_WAIT1 FIN_WAIT2 TIME_WAIT CLOSE "
			"CLOSE_WAIT LAST_ACK LISTEN CLOSING NEW_SYN_RECV BOUND_INACTIVE ", 1 },
	};
	size_t len = (size_t)(c->s - c->from);

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		size_t n = strlen(known[i].prefix);
		unsigned v = known[i].first;

		if (len <= n || memcmp(c->from, known[i].prefix, n))
			continue;
		for (const char *p = known[i].names; *p; v++) {
			size_t word = strcspn(p, " ");

			if (word == len - n && !memcmp(p, c->from + n, word)) {
				next_token(c);
				return constant(v, 4, 1);
			}
			p += word + 1;
		}
	}
	return bad(c);
}

/* { TYPE NAME = EXPRESSION; ... EXPRESSION; } as min() and max() are made of */
SMALL struct ex statements(struct compiler *c)
{
	struct type t;
	struct ex x = { 0 };

	while (!c->bad) {
		const char *was = c->from;
		struct local *l = &c->locals[c->nlocals];

		/* a declaration, or the value */
		if (c->token == T_NAME && (token_is(c, "__auto_type") || token_is(c, "typeof") ||
					   token_is(c, "const") || type_name(c, &t, T_NAME))) {
			if (c->nlocals == sizeof(c->locals) / sizeof(*c->locals))
				return bad(c);
			/* the name is the one in front of the '=' */
			back_to(c, was);
			for (; c->token != '=' && c->token != T_END && c->token != ';';
			     next_token(c)) {
				l->name = c->from;
				l->len = (size_t)(c->s - c->from);
			}
			need(c, '=');
			x = ternary(c, 0);
			if (!is_number(&x) || !is_lazy(&x))
				return bad(c);
			c->locals[c->nlocals++].x = x;
			need(c, ';');
			continue;
		}
		back_to(c, was);
		x = ternary(c, 0);
		need(c, ';');
		if (took(c, '}'))
			return x;
	}
	return bad(c);
}

/* A function call; its name is the token. */
SMALL struct ex macro_call(struct compiler *c)
{
	static const char *const memory[] = {
		"__get_dynamic_array", "__get_rel_dynamic_array", "__get_str",
		"__get_rel_str", "__get_sockaddr", "__get_rel_sockaddr",
		"__get_sockaddr_rel",
	};
	static const char *const writers[] = {
		"__print_flags", "__print_flags_u64", "__print_symbolic",
		"__print_symbolic_u64", "__print_hex", "__print_hex_str", "__print_array",
		"__print_dynamic_array", "__print_hex_dump", "__get_bitmask",
		"__get_cpumask", "__get_rel_bitmask", "__get_rel_cpumask",
	};
	static const char *const owns[] = {
		[OWN_IP] = "__own_ip", [OWN_BYTES] = "__own_bytes", [OWN_STACK] = "__own_stack",
		[OWN_USER_STACK] = "__own_user_stack", [OWN_TIME] = "__own_time",
		[OWN_BPRINT] = "__own_bprint", [OWN_MODE] = "__own_mode",
		[OWN_TEXT] = "__own_text",
	};
	struct ex x;

	for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); i++)
		if (token_is(c, memory[i])) {
			next_token(c);
			return dynamic(c);
		}
	for (size_t i = 0; i < sizeof(writers) / sizeof(*writers); i++)
		if (token_is(c, writers[i])) {
			next_token(c);
			return writer(c, (int)i);
		}
	for (size_t i = 0; i < sizeof(owns) / sizeof(*owns); i++)
		if (owns[i] && token_is(c, owns[i])) {
			next_token(c);
			return own(c, (enum own)i);
		}
	if (token_is(c, "__get_dynamic_array_len") || token_is(c, "__get_rel_dynamic_array_len")) {
		next_token(c);
		x = dynamic(c);
		push(c, &x);
		step(c, OP_LENGTH);
		return on_stack(2, 0);
	}
	if (token_is(c, "__print_ns_to_secs") || token_is(c, "__print_ns_without_secs")) {
		enum operator op = c->s - c->from == 18 ? DIV : MOD;

		next_token(c);
		need(c, '(');
		x = argument(c);
		need(c, ')');
		x.size = 8;
		x.is_signed = 0;
		x = operate(c, op, x, constant(1000000000, 8, 0));
		if (op == MOD) {
			x.size = 4;
		}
		return x;
	}
	if (token_is(c, "__builtin_expect") || token_is(c, "__builtin_constant_p")) {
		int expects = token_is(c, "__builtin_expect");

		next_token(c);
		need(c, '(');
		x = argument(c);
		if (expects)
			argument(c);
		need(c, ')');
		if (expects)
			return x;
		if (!is_lazy(&x)) /* computed for nothing */
			return bad(c);
		return constant(0, 4, 1);
	}
	if (local_of(c)) {
		x = *local_of(c);
		next_token(c);
		return x;
	}
	if (token_is(c, "vmemmap_base") || token_is(c, "vmemmap")) {
		x = constant(c->evs->vmemmap, 8, 0);
		x.page = (uint8_t)token_is(c, "vmemmap"); /* a pointer, and the other a number */
		next_token(c);
		return x;
	}
	return known_constant(c);
}
