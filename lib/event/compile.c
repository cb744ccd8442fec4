/* SPDX-License-Identifier: ISC */
/*
 * compile.c - compile the print fmt of an event to bytecode
 *
 * In this file, each part uses those above it:
 *	parts that are not supported
 *	types and casts
 *	fields and other memory of the record
 *	macros of the kernel: __get_*(), __print_*(), min()
 *	C expressions
 *	the format string and its conversions
 *	whole events, also those whose text the kernel makes without a print fmt
 */

#include "base/base.h"
#include "event/event.h"
#include "event/compile.h"
#include "event/vm.h"

/* Compile an expression, and an operand; both have expressions inside. */
static struct expr ternary(struct compiler *c, int emit);
static struct expr unary(struct compiler *c, int emit);

/* ---- parts that are not supported ---- */

/* The state of a compiler before a part that may not be supported. */
struct undo {
	struct bytecode p;
	const char *from;
	uint32_t text_at;
	unsigned nlocals;
	int depth, stack;
};

static void undo_begin(const struct compiler *c, struct undo *u)
{
	*u = (struct undo){ *c->p, c->from, c->text_at, c->nlocals, c->depth, c->stack };
}

/* Drop the code of a part that is not supported, and go back to its beginning. */
static void undo(struct compiler *c, const struct undo *u)
{
	c->p->ninsns = u->p.ninsns;
	c->p->nnames = u->p.nnames;
	c->p->ntables = u->p.ntables;
	c->p->nconversions = u->p.nconversions;
	c->p->ntext = u->p.ntext;
	c->text_at = u->text_at;
	c->nlocals = u->nlocals;
	c->depth = u->depth;
	c->stack = u->stack;
	c->bad = 0;
	lexer_back_to(c, u->from);
}

/* Skip tokens up to the comma after an expression, or to the parenthesis around it. */
static void skip_expression(struct compiler *c)
{
	int depth = 0;

	for (; c->token != T_END && !c->bad; lexer_next(c)) {
		if (!depth && (c->token == ',' || c->token == ')' || c->token == '}'))
			break;
		depth += c->token == '(' || c->token == '{' || c->token == '[';
		depth -= c->token == ')' || c->token == '}' || c->token == ']';
	}
}

/*
 * Note that the part from s up to the token is not supported; if s is in a copy of the print fmt,
 * all of it. Note nothing for user_events, which the kernel itself prints by their fields.
 */
static void note_unclear(struct compiler *c, const char *s)
{
	const char *fmt = c->e->print_fmt, *end = fmt + strlen(fmt);
	int copy = (uintptr_t)s < (uintptr_t)fmt || (uintptr_t)s > (uintptr_t)end;

	if (c->e->unclear || !strncmp(c->e->system, "user_events", 11))
		return;
	c->e->unclear = copy ? fmt : s;
	c->e->unclear_len = (uint32_t)(copy ? end - fmt : c->from - s);
}

/* ---- types and casts ---- */

/* Return the value of the variable of a ({ ... }) that the token names, or NULL. */
static const struct expr *local_of(const struct compiler *c)
{
	for (unsigned i = 0; i < c->nlocals; i++)
		if (c->locals[i].len == (size_t)(c->s - c->from) &&
		    !memcmp(c->locals[i].name, c->from, c->locals[i].len))
			return &c->locals[i].x;
	return NULL;
}

/* Parse the type that the token names. Return 1, or 0 if it is not a type. */
static int named_type(struct compiler *c, struct c_type *t)
{
	size_t n = (size_t)(c->s - c->from);

	if (local_of(c))
		return 0;
	if (type_named(c->from, n, (unsigned)c->evs->long_size, t))
		return 1;
	/* an unknown name is a type if it has a small letter, else an unresolved constant */
	for (size_t i = 0; i < n; i++)
		if (c->from[i] >= 'a' && c->from[i] <= 'z') {
			t->size = 0;
			return 1;
		}
	return 0;
}

/* The meaning of a word of C in the name of a type. */
enum type_word { QUALIFIER, SIGNED, UNSIGNED, LONG, SHORT, CHAR, VOID, INT, TAG, ENUM, OTHER };

/* Return what the token says of a type. */
static enum type_word type_word(const struct compiler *c)
{
	static const struct {
		const char *name;
		enum type_word word;
	} words[] = {
		{ "const", QUALIFIER }, { "volatile", QUALIFIER }, { "__force", QUALIFIER },
		{ "__user", QUALIFIER }, { "__kernel", QUALIFIER }, { "__iomem", QUALIFIER },
		{ "signed", SIGNED }, { "unsigned", UNSIGNED }, { "long", LONG },
		{ "short", SHORT }, { "char", CHAR }, { "void", VOID }, { "int", INT },
		{ "struct", TAG }, { "union", TAG }, { "enum", ENUM },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (lexer_at_name(c, words[i].name))
			return words[i].word;
	return OTHER;
}

/* Parse the names of a type, without asterisks. Return how many there are. */
static int type_names(struct compiler *c, struct c_type *t)
{
	int names = 0, longs = 0, is_unsigned = 0, named = 0;
	uint8_t size = 4;

	for (; c->token == T_NAME; lexer_next(c)) {
		enum type_word word = type_word(c);

		if (word == QUALIFIER)
			continue;
		if (word == TAG || word == ENUM) {
			lexer_next(c);
			if (c->token != T_NAME || named)
				break;
			named = 1;
			*t = (struct c_type){ .size = word == ENUM ? 4 : 0,
					      .is_page = (uint8_t)lexer_at_name(c, "page") };
		} else if (word == OTHER) {
			if (named || names || lexer_at_name(c, "REC") || !named_type(c, t))
				break;
			named = 1;
		}
		longs += word == LONG;
		is_unsigned |= word == UNSIGNED || word == VOID;
		size = word == CHAR || word == VOID ? 1 : word == SHORT ? 2 : size;
		names++;
	}
	if (!named) {
		t->size = longs > 1 ? 8 : longs ? (uint8_t)c->evs->long_size : size;
		t->is_signed = !is_unsigned; /* char, too */
	}
	return names;
}

/*
 * Parse a type and the token that must follow it, and skip both. Return 1, or 0 and skip
 * nothing if there is no type.
 */
static int type_name(struct compiler *c, struct c_type *t, int next)
{
	const char *was = c->from;
	int names;

	*t = (struct c_type){ .is_signed = 1 };
	names = type_names(c, t);
	for (; c->token == '*'; lexer_next(c)) {
		if (t->pointer) { /* a pointer to a pointer */
			t->size = (uint8_t)c->evs->long_size;
			t->is_signed = 0;
		}
		t->pointer = 1;
		while (lexer_at_name(c, "const"))
			lexer_next(c);
	}
	if (names && c->token == next && !c->bad) {
		lexer_next(c);
		return 1;
	}
	/* in "int x =", the loop took the name x for a type */
	if (next == T_NAME && names && c->token == '=' && !c->bad)
		return 1;
	lexer_back_to(c, was);
	return 0;
}

/* Convert an expression to the type. */
static struct expr cast(struct compiler *c, const struct c_type *t, struct expr x)
{
	struct vm_insn *s;

	if (x.kind == X_TEXT || x.kind == X_DONE || x.kind == X_BAD)
		return x;
	if (!is_number(&x)) { /* memory: set the type of its elements */
		if (!t->pointer)
			return compile_fail(c);
		x.elem = t->size ? t->size : 1;
		x.elem_signed = t->is_signed;
		return x;
	}
	if (t->pointer) {
		x.size = (uint8_t)c->evs->long_size;
		x.is_signed = 0;
		x.pointer = 1;
		x.page = t->is_page;
		return x;
	}
	if (!t->size) /* an unknown type: keep the size */
		return x;
	x.pointer = 0;
	if (t->is_bool)
		return emit_binary(c, NE, x, constant(0, 4, 1));
	if (x.kind == X_CONST) {
		x.k = vm_extend(x.k, t->size, t->is_signed);
	} else if (x.kind == X_FIELD && t->size == x.read_size) {
		x.read_signed = t->is_signed;
	} else if (x.kind == X_FIELD && t->size > x.read_size &&
		   (!x.read_signed || t->is_signed || t->size == 8)) {
		; /* the value does not change */
	} else if (t->size < 8) {
		emit_push(c, &x);
		s = emit_insn(c, OP_EXTEND);
		s->size = t->size;
		s->is_signed = t->is_signed;
	}
	x.size = t->size;
	x.is_signed = t->is_signed;
	return x;
}

/* ---- fields and other memory of the record ---- */

/* Return an expression for the field. */
static struct expr field_expr(struct compiler *c, const struct field *f)
{
	struct expr x = { .field = f, .n = f->offset, .elem = f->elem,
			.elem_signed = f->is_signed, .place = f->place };

	if (f->place == PLACE_DATA_LOC || f->place == PLACE_REL_LOC) { /* the location */
		x.kind = X_FIELD;
		x.size = x.read_size = 4;
	} else if (f->kind == FIELD_NUMBER || f->kind == FIELD_POINTER) {
		x.kind = X_FIELD;
		x.size = x.read_size = (uint8_t)f->size;
		x.is_signed = x.read_signed = f->is_signed;
		x.pointer = f->kind == FIELD_POINTER;
		if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
			return compile_fail(c);
	} else if (f->place == PLACE_REST) {
		x.kind = X_LOC;
	} else {
		x.kind = X_HERE;
		x.k = f->size;
	}
	return x;
}

/* Return the field that the token names, or NULL. */
static const struct field *find_field(struct compiler *c)
{
	const char *s = c->from;
	size_t n = (size_t)(c->s - s);

	for (unsigned i = 0; i < c->e->nfields; i++) {
		const struct field *f = &c->e->fields[i];

		if ((strlen(f->name) == n && !memcmp(f->name, s, n)) ||
		    (n > 11 && !memcmp(s, "__data_loc_", 11) && strlen(f->name) == n - 11 &&
		     !memcmp(f->name, s + 11, n - 11)))
			return c->field = f;
	}
	return NULL;
}

/* Parse "->field"; REC is already skipped. */
static struct expr record_field(struct compiler *c)
{
	const struct field *f;
	int dynamic;

	if (c->token != T_ARROW)
		return compile_fail(c);
	do { /* of REC->graph_ent.func, the format has only the last name */
		lexer_next(c);
		if (c->token != T_NAME)
			return compile_fail(c);
		f = find_field(c);
		/* REC->__data_loc_NAME is the location; events of programs have REC->NAME */
		dynamic = f && f->place && f->place != PLACE_REST && *c->from != '_';
		lexer_next(c);
	} while (c->token == '.');
	return f && !dynamic ? field_expr(c, f) : compile_fail(c);
}

/* Parse "(field)" of a macro that finds the memory of a __data_loc or __rel_loc field. */
static struct expr dynamic_field(struct compiler *c)
{
	const struct field *f = NULL;
	struct expr x;

	lexer_expect(c, '(');
	if (c->token == T_NAME)
		f = find_field(c);
	lexer_next(c);
	lexer_expect(c, ')');
	if (!f || f->place == PLACE_HERE || f->place == PLACE_REST)
		return compile_fail(c);
	x = field_expr(c, f);
	x.kind = X_LOC;
	return x;
}

/* Push a region; set bad if the expression is not memory. */
static void push_memory(struct compiler *c, struct expr *x)
{
	if (x->kind != X_HERE && x->kind != X_LOC && x->kind != X_REGION)
		c->bad = 1;
	emit_push(c, x);
}

/* ---- macros of the kernel ---- */

/* Parse an argument of a macro and skip the comma after it. */
static struct expr argument(struct compiler *c)
{
	struct expr x = ternary(c, 0);

	if (c->token != ')')
		lexer_expect(c, ',');
	return x;
}

/* Parse an argument of a macro, a number or memory, and push it. */
static void push_argument(struct compiler *c, int memory)
{
	struct expr x = argument(c);

	if (memory)
		push_memory(c, &x);
	else
		emit_push_number(c, &x);
}

/* Parse the argument of a macro that has one. */
static struct expr only_argument(struct compiler *c)
{
	struct expr x;

	lexer_expect(c, '(');
	x = argument(c);
	lexer_expect(c, ')');
	return x;
}

/* Add a name to the program: the literal that is the token. */
static void add_name(struct compiler *c, uint64_t value)
{
	uint32_t text = c->p->ntext;
	struct vm_name *name = array_grow(c, &c->p->names, c->p->nnames, sizeof(*name), 65536);

	if (!name)
		return;
	emit_literal_text(c, c->from);
	*name = (struct vm_name){ value, text, c->p->ntext - text };
	c->p->nnames++;
}

/* Parse "{ value, "name" }, ... )" into a new table. Return the number of the table. */
static uint32_t table(struct compiler *c)
{
	struct vm_table *t = array_grow(c, &c->p->tables, c->p->ntables, sizeof(*t), 4096);
	uint32_t first = c->p->nnames;
	int more = 1;

	while (!c->bad && more && lexer_accept(c, '{')) {
		struct undo before;
		struct expr x, end;
		int known;

		undo_begin(c, &before);
		x = ternary(c, 0);
		known = !c->bad && x.kind == X_CONST;
		if (!known) { /* such as the name of an enum: only the kernel knows its number */
			undo(c, &before);
			skip_expression(c);
			note_unclear(c, before.from);
		}
		lexer_expect(c, ',');
		if (c->token == T_STRING) {
			if (known)
				add_name(c, x.k);
			lexer_next(c);
		} else { /* { -1, NULL } ends the table */
			end = ternary(c, 0);
			if (end.kind != X_CONST || end.k)
				compile_fail(c);
			more = 0;
		}
		lexer_accept(c, ',');
		lexer_expect(c, '}');
		lexer_accept(c, ',');
	}
	c->text_at = c->p->ntext;
	lexer_expect(c, ')');
	if (!t || c->bad)
		return 0;
	*t = (struct vm_table){ first, c->p->nnames - first };
	return c->p->ntables++;
}

/* Which function compiles a macro: MACRO_HEX is for compile_hex. */
enum macro_kind {
	MACRO_MEMORY, MACRO_NAMES, MACRO_HEX, MACRO_ARRAY, MACRO_DUMP, MACRO_BUILTIN,
	MACRO_SECONDS, MACRO_TIME, MACRO_ORDER, MACRO_EXPECT, MACRO_CONSTANT_P, MACRO_VMEMMAP,
};

/* A name that print fmts call or use. Arrays and numbers need no relocations. */
struct macro {
	char name[28];                  /* "be16_to_cpu": also __be16_to_cpu */
	uint8_t kind;                   /* enum macro_kind */
	uint8_t size;                   /* of a number, in bytes; 0: a long */
	unsigned what;                  /* enum op, enum builtin, or see the function */
};

/* Memory of the record; OP_LENGTH: its length; OP_BITS: printed as bits */
static struct expr compile_memory(struct compiler *c, const struct macro *m)
{
	struct expr x = dynamic_field(c);

	if (m->what == OP_LENGTH) {
		emit_push(c, &x);
		emit_insn(c, OP_LENGTH);
		return on_stack(2, 0);
	}
	if (m->what == OP_BITS) {
		push_memory(c, &x);
		emit_text_insn(c, OP_BITS);
		return written();
	}
	return x;
}

/* Compile the literal that is the token as the text of instruction s alone. Return the token. */
static int own_text(struct compiler *c, struct vm_insn *s)
{
	int token = c->token;

	emit_pending_text(c);
	s->text = c->p->ntext;
	if (token == T_STRING)
		emit_literal_text(c, c->from);
	s->len = c->p->ntext - s->text;
	c->text_at = c->p->ntext;
	lexer_next(c);
	return token;
}

/* __print_flags(NUMBER, "DELIMITER", TABLE) and __print_symbolic(NUMBER, TABLE) */
static struct expr compile_names(struct compiler *c, const struct macro *m)
{
	struct vm_insn names = { 0 }, *s;
	int token;

	lexer_expect(c, '(');
	push_argument(c, 0);
	emit_pending_text(c);
	if (m->what == OP_FLAGS) {
		token = own_text(c, &names);
		if (token != T_STRING && token != T_NUMBER) /* NULL */
			return compile_fail(c);
		lexer_accept(c, ',');
	}
	names.n = table(c);
	s = emit_insn(c, (enum op)m->what);
	s->n = names.n;
	s->text = names.text;
	s->len = names.len;
	s->size = m->size ? m->size : (uint8_t)c->evs->long_size;
	return written();
}

/* __print_hex(MEMORY, BYTES); m->what: the character between the bytes */
static struct expr compile_hex(struct compiler *c, const struct macro *m)
{
	lexer_expect(c, '(');
	push_argument(c, 1);
	push_argument(c, 0);
	lexer_expect(c, ')');
	emit_insn(c, OP_SELECT)->arg = 1; /* cut the region to the length */
	c->stack++;
	emit_text_insn(c, OP_HEX)->n = m->what;
	return written();
}

/* __print_array(MEMORY, COUNT, SIZE), or, if m->what is set, __print_dynamic_array(MEMORY, SIZE) */
static struct expr compile_array(struct compiler *c, const struct macro *m)
{
	struct expr x;

	lexer_expect(c, '(');
	push_argument(c, 1);
	x = m->what ? constant(UINT32_MAX, 8, 1) : argument(c);
	emit_push_number(c, &x);
	push_argument(c, 0);
	lexer_expect(c, ')');
	emit_text_insn(c, OP_ARRAY);
	return written();
}

/* __print_hex_dump("PREFIX", TYPE, ROW, GROUP, MEMORY, BYTES, ASCII) */
static struct expr compile_dump(struct compiler *c, const struct macro *m)
{
	enum { ARGUMENTS = 6, MEMORY = 3 };
	struct vm_insn prefix = { 0 }, *s;

	(void)m;
	lexer_expect(c, '(');
	if (own_text(c, &prefix) != T_STRING)
		return compile_fail(c);
	lexer_expect(c, ',');
	for (int i = 0; i < ARGUMENTS; i++)
		push_argument(c, i == MEMORY);
	lexer_expect(c, ')');
	s = emit_insn(c, OP_DUMP);
	s->text = prefix.text;
	s->len = prefix.len;
	c->stack--;
	return written();
}

/* A macro __ftrace_*() of ftrace_formats */
static struct expr compile_builtin(struct compiler *c, const struct macro *m)
{
	struct expr x;

	lexer_expect(c, '(');
	x = argument(c);
	emit_push(c, &x);
	if (m->what == BUILTIN_BPRINT)
		push_argument(c, 1);
	lexer_expect(c, ')');
	emit_text_insn(c, OP_BUILTIN)->k = m->what;
	c->stack -= m->what == BUILTIN_BPRINT;
	return written();
}

/* __print_ns_to_secs(TIME) and __print_ns_without_secs(TIME): DIV, MOD */
static struct expr compile_seconds(struct compiler *c, const struct macro *m)
{
	struct expr x = only_argument(c);

	x.size = 8;
	x.is_signed = 0;
	x = emit_binary(c, (enum operator)m->what, x, constant(1000000000, 8, 0));
	if (m->what == MOD)
		x.size = 4;
	return x;
}

/* ktime_to_us(TIME); m->what: the divisor */
static struct expr compile_time(struct compiler *c, const struct macro *m)
{
	struct expr x = cast(c, &(struct c_type){ .size = 8, .is_signed = 1 }, only_argument(c));

	return is_number(&x) ? emit_binary(c, DIV, x, constant(m->what, 8, 1)) : compile_fail(c);
}

/* The order of bytes between which a function converts. */
enum order { LITTLE, BIG, EITHER };

/* be16_to_cpu(NUMBER): swap the bytes unless m->what is the byte order of the machine. */
static struct expr compile_order(struct compiler *c, const struct macro *m)
{
	struct expr x = cast(c, &(struct c_type){ .size = m->size }, only_argument(c));
	enum order order = c->evs->big ? BIG : LITTLE;

	if (!is_number(&x))
		return compile_fail(c);
	return m->what == order ? x : emit_unary(c, SWAP, x);
}

/* __builtin_expect(EXPRESSION, VALUE) */
static struct expr compile_expect(struct compiler *c, const struct macro *m)
{
	struct expr x;

	(void)m;
	lexer_expect(c, '(');
	x = argument(c);
	argument(c);
	lexer_expect(c, ')');
	return x;
}

/* __builtin_constant_p(EXPRESSION): no, unless its code is already there */
static struct expr compile_constant_p(struct compiler *c, const struct macro *m)
{
	struct expr x = only_argument(c);

	(void)m;
	return is_lazy(&x) ? constant(0, 4, 1) : compile_fail(c);
}

/* vmemmap is a pointer to struct page, vmemmap_base a number. */
static struct expr compile_vmemmap(struct compiler *c, const struct macro *m)
{
	struct expr x = constant(c->evs->vmemmap, 8, 0);

	x.page = (uint8_t)m->what;
	return x;
}

static const struct macro macros[] = {
#include "macros.h"
};

/*
 * Return a constant that some print fmts have by its name. These constants have the same values
 * in all versions of the kernel.
 */
static struct expr known_constant(struct compiler *c)
{
	static const struct {
		const char *prefix, *names; /* in ascending order, from the value `first` on */
		unsigned first;
	} known[] = {
		{ "", "NULL ", 0 },
		{ "", "false true ", 0 },
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
				lexer_next(c);
				return constant(v, 4, 1);
			}
			p += word + 1;
		}
	}
	return compile_fail(c);
}

/* Compile a macro whose name is the token before. */
static struct expr compile_macro(struct compiler *c, const struct macro *m)
{
	switch ((enum macro_kind)m->kind) {
	case MACRO_MEMORY:
		return compile_memory(c, m);
	case MACRO_NAMES:
		return compile_names(c, m);
	case MACRO_HEX:
		return compile_hex(c, m);
	case MACRO_ARRAY:
		return compile_array(c, m);
	case MACRO_DUMP:
		return compile_dump(c, m);
	case MACRO_BUILTIN:
		return compile_builtin(c, m);
	case MACRO_SECONDS:
		return compile_seconds(c, m);
	case MACRO_TIME:
		return compile_time(c, m);
	case MACRO_ORDER:
		return compile_order(c, m);
	case MACRO_EXPECT:
		return compile_expect(c, m);
	case MACRO_CONSTANT_P:
		return compile_constant_p(c, m);
	case MACRO_VMEMMAP:
		return compile_vmemmap(c, m);
	}
	return compile_fail(c);
}

/* Compile a macro, a variable or a constant; its name is the token. */
static struct expr macro_call(struct compiler *c)
{
	const struct expr *local = local_of(c);
	const char *from = c->from;

	if (local) {
		lexer_next(c);
		return *local;
	}
	for (size_t i = 0; i < sizeof(macros) / sizeof(*macros); i++) {
		const char *name = macros[i].name;

		/* __NAME is the same as NAME, unless NAME begins with an underscore */
		c->from += *name != '_' && !strncmp(from, "__", 2) ? 2 : 0;
		if (lexer_at_name(c, name)) {
			lexer_next(c);
			return compile_macro(c, &macros[i]);
		}
		c->from = from;
	}
	return known_constant(c);
}

/* Parse "TYPE NAME = EXPRESSION; ... EXPRESSION; }" as in the macros min() and max(). */
static struct expr statement_block(struct compiler *c)
{
	struct c_type t;
	struct expr x = { 0 };

	while (!c->bad) {
		const char *was = c->from;
		struct local *l = &c->locals[c->nlocals];

		/* a declaration, or the value */
		if (c->token == T_NAME &&
		    (lexer_at_name(c, "__auto_type") || lexer_at_name(c, "typeof") ||
		     lexer_at_name(c, "const") || type_name(c, &t, T_NAME))) {
			if (c->nlocals == sizeof(c->locals) / sizeof(*c->locals))
				return compile_fail(c);
			/* the variable's name is the last token before the '=' */
			lexer_back_to(c, was);
			for (; c->token != '=' && c->token != T_END && c->token != ';';
			     lexer_next(c)) {
				l->name = c->from;
				l->len = (size_t)(c->s - c->from);
			}
			lexer_expect(c, '=');
			x = ternary(c, 0);
			if (!is_number(&x) || !is_lazy(&x))
				return compile_fail(c);
			c->locals[c->nlocals++].x = x;
			lexer_expect(c, ';');
			continue;
		}
		lexer_back_to(c, was);
		x = ternary(c, 0);
		lexer_expect(c, ';');
		if (lexer_accept(c, '}'))
			return x;
	}
	return compile_fail(c);
}

/* ---- C expressions ---- */

/* Compile a number, a literal, a name or an expression in parentheses. */
static struct expr primary(struct compiler *c, int emit)
{
	struct expr x;

	if (c->token == T_NUMBER) {
		x = constant(c->number, c->number_size, c->number_signed);
		lexer_next(c);
	} else if (c->token == T_STRING) {
		x = (struct expr){ .kind = X_TEXT, .s = c->from };
		lexer_next(c);
	} else if (lexer_accept(c, '(')) {
		if (lexer_accept(c, '{')) {
			x = statement_block(c);
			lexer_expect(c, ')');
			return x;
		}
		if (lexer_at_name(c, "REC")) { /* (REC)->field */
			const char *was = c->from;

			lexer_next(c);
			if (lexer_accept(c, ')') && c->token == T_ARROW)
				return record_field(c);
			lexer_back_to(c, was);
		}
		x = ternary(c, emit);
		lexer_expect(c, ')');
	} else if (lexer_at_name(c, "REC")) {
		lexer_next(c);
		x = record_field(c);
	} else if (c->token == T_NAME) {
		x = macro_call(c);
	} else {
		x = compile_fail(c);
	}
	return x;
}

/* Parse the rest of "(TYPE){ .MEMBER = EXPRESSION }", a structure or union of one member. */
static struct expr compound_literal(struct compiler *c)
{
	struct expr x;

	lexer_expect(c, '{');
	if (lexer_accept(c, '.')) {
		lexer_next(c);
		lexer_expect(c, '=');
	}
	x = ternary(c, 0);
	lexer_accept(c, ',');
	lexer_expect(c, '}');
	return x;
}

/* Is the token, after a parenthesis, "NAME) OPERAND", the cast to a type of that name? */
static int is_cast(struct compiler *c)
{
	const char *was = c->from;
	int yes = 0;

	if (c->token == T_NAME && !lexer_at_name(c, "REC") && !local_of(c)) {
		lexer_next(c);
		yes = lexer_accept(c, ')') && (c->token == T_NAME || c->token == T_NUMBER ||
					       c->token == '(' || c->token == '{');
	}
	lexer_back_to(c, was);
	return yes;
}

/* Return element i of the memory x. */
static struct expr element(struct compiler *c, struct expr x, struct expr i)
{
	struct vm_insn *s;

	if (c->bad || !is_number(&i) || !x.elem)
		return compile_fail(c);
	if (x.kind == X_HERE && i.kind == X_CONST && i.k < x.k / x.elem)
		return (struct expr){ .kind = X_FIELD, .n = x.n + (uint32_t)i.k * x.elem,
				    .size = x.elem, .read_size = x.elem,
				    .is_signed = x.elem_signed,
				    .read_signed = x.elem_signed };
	if (is_lazy(&x) && !is_lazy(&i)) {
		push_memory(c, &x);
		emit_insn(c, OP_SWAP);
	} else {
		push_memory(c, &x);
		emit_push(c, &i);
	}
	s = emit_insn(c, OP_ELEMENT);
	s->size = x.elem;
	s->is_signed = x.elem_signed;
	return on_stack(x.elem, x.elem_signed);
}

/* Compile the operand of &: the memory of a field. */
static struct expr address_of(struct compiler *c)
{
	struct expr x = unary(c, 0);

	if (x.kind == X_FIELD) {
		x.kind = X_HERE;
		x.k = x.elem = x.read_size;
		x.elem_signed = x.read_signed;
	} else if (x.kind != X_HERE && x.kind != X_LOC) {
		x = compile_fail(c);
	}
	return x;
}

/* Compile "(TYPE)" or "(EXPRESSION)" of sizeof. */
static struct expr size_of(struct compiler *c)
{
	unsigned word = (unsigned)c->evs->long_size;
	struct c_type t;
	struct expr x;

	lexer_expect(c, '(');
	if (type_name(c, &t, ')')) {
		x = constant(t.pointer ? word : t.size, word, 0);
		return x.k ? x : compile_fail(c);
	}
	x = ternary(c, 0);
	lexer_expect(c, ')');
	if (x.kind != X_FIELD && x.kind != X_CONST && x.kind != X_HERE)
		return compile_fail(c);
	return constant(x.kind == X_HERE ? x.k : x.size, word, 0);
}

/* Compile an operand without prefix operators, with its casts and indexes. */
static struct expr operand(struct compiler *c, int emit)
{
	const char *was = c->from;
	struct c_type t;
	struct expr x;

	if (lexer_accept(c, '(')) {
		int typed = type_name(c, &t, ')');

		if (typed || is_cast(c)) {
			if (!typed) { /* a type in capitals: its name and the parenthesis */
				lexer_next(c);
				lexer_next(c);
			}
			x = c->token == '{' ? compound_literal(c) : unary(c, emit);
			return typed ? cast(c, &t, x) : x;
		}
		lexer_back_to(c, was);
	}
	x = primary(c, emit);
	while (!c->bad && (c->token == '[' || c->token == '.')) {
		if (lexer_accept(c, '.')) { /* the member of a literal */
			c->bad |= c->token != T_NAME || !is_number(&x);
			lexer_next(c);
			continue;
		}
		lexer_next(c);
		x = element(c, x, ternary(c, 0));
		lexer_expect(c, ']');
	}
	return x;
}

/* Compile an operand with its prefix operators. */
static struct expr unary(struct compiler *c, int emit)
{
	struct expr x;

	if (c->bad || ++c->depth > MAX_DEPTH)
		return compile_fail(c);
	if (lexer_accept(c, '!')) {
		x = emit_unary(c, NOT, unary(c, 0));
	} else if (lexer_accept(c, '~')) {
		x = emit_unary(c, INV, unary(c, 0));
	} else if (lexer_accept(c, '-')) {
		x = emit_unary(c, NEG, unary(c, 0));
	} else if (lexer_accept(c, '+')) {
		x = unary(c, 0);
	} else if (lexer_accept(c, '*')) {
		x = element(c, unary(c, 0), constant(0, 4, 1));
	} else if (lexer_accept(c, '&')) {
		x = address_of(c);
	} else if (lexer_at_name(c, "sizeof")) {
		lexer_next(c);
		x = size_of(c);
	} else {
		x = operand(c, emit);
	}
	c->depth--;
	return x;
}

/* Return the precedence of a binary operator and set *op; 0 if the token is none. */
static int precedence(int token, enum operator *op)
{
	static const struct {
		uint8_t token, op, level;
	} all[] = {
		{ T_OR, LOR, 1 }, { T_AND, LAND, 2 }, { '|', OR, 3 }, { '^', XOR, 4 },
		{ '&', AND, 5 }, { T_EQ, EQ, 6 }, { T_NE, NE, 6 }, { '<', LT, 7 },
		{ '>', GT, 7 }, { T_LE, LE, 7 }, { T_GE, GE, 7 }, { T_SHL, SHL, 8 },
		{ T_SHR, SHR, 8 }, { '+', ADD, 9 }, { '-', SUB, 9 }, { '*', MUL, 10 },
		{ '/', DIV, 10 }, { '%', MOD, 10 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].token == token) {
			*op = all[i].op;
			return all[i].level;
		}
	return 0;
}

/* Compile binary operators of at least that precedence. */
static struct expr binary(struct compiler *c, int level, int emit)
{
	struct expr a = unary(c, emit);
	enum operator op;
	int found;

	while (!c->bad && (found = precedence(c->token, &op)) >= level && found) {
		if (++c->depth > MAX_DEPTH)
			return compile_fail(c);
		lexer_next(c);
		a = emit_binary(c, op, a, binary(c, found + 1, 0));
		c->depth--;
	}
	return a;
}

/* Return how to escape a string after the text so far: enum escape. */
static uint8_t escape_here(const struct compiler *c)
{
	unsigned quotes = 0;

	for (uint32_t i = 0; i < c->p->ntext; i++)
		quotes += c->p->text[i] == '"';
	return c->whole ? ESCAPE_TEXT : quotes % 2 ? ESCAPE_QUOTED : ESCAPE_NAME;
}

/* Add the instruction that writes a string. */
static void emit_string(struct compiler *c, struct expr x)
{
	const uint8_t escape = escape_here(c);
	struct vm_insn *s;

	switch (x.kind) {
	case X_DONE:
		break;
	case X_TEXT:
		emit_literal_text(c, x.s);
		break;
	case X_HERE:
		s = emit_text_insn(c, OP_HERE);
		s->n = x.n;
		s->k = x.k;
		s->size = escape;
		break;
	case X_LOC:
		s = emit_text_insn(c, OP_LOC);
		s->n = x.n;
		s->arg = x.place;
		s->size = escape;
		break;
	case X_REGION:
		emit_text_insn(c, OP_STRING)->size = escape;
		break;
	case X_CONST:
		if (x.k)
			c->bad = 1;
		emit_text(c, "(null)");
		break;
	case X_FIELD:
	case X_STACK: /* an address in the kernel */
		emit_push(c, &x);
		emit_text_insn(c, OP_POINTED)->size = escape;
		break;
	default:
		c->bad = 1;
	}
}

static struct expr ternary(struct compiler *c, int emit)
{
	struct expr a, b, x;
	unsigned size;
	int is_signed;

	if (c->bad || ++c->depth > MAX_DEPTH)
		return compile_fail(c);
	a = binary(c, 1, emit);
	if (!c->bad && lexer_accept(c, '?')) {
		uint32_t over, out;

		if (!is_number(&a) && is_lazy(&a) && a.kind != X_DONE && a.kind != X_BAD)
			a = constant(1, 4, 1);
		emit_push_number(c, &a);
		if (emit) {
			emit_pending_text(c);
			over = c->p->ninsns;
			emit_insn(c, OP_JUMP_ZERO);
			emit_string(c, ternary(c, 1));
			emit_pending_text(c);
			out = c->p->ninsns;
			emit_insn(c, OP_JUMP);
			lexer_expect(c, ':');
			if (c->bad)
				return compile_fail(c);
			c->p->insns[over].n = c->p->ninsns;
			emit_string(c, ternary(c, 1));
			emit_pending_text(c);
			if (c->bad)
				return compile_fail(c);
			c->p->insns[out].n = c->p->ninsns;
			a = written();
		} else {
			b = ternary(c, 0);
			emit_push(c, &b);
			lexer_expect(c, ':');
			x = ternary(c, 0);
			emit_push(c, &x);
			if (b.kind != x.kind)
				return compile_fail(c);
			emit_insn(c, OP_SELECT);
			a = b;
			if (is_number(&b)) {
				common_type(&b, &x, &size, &is_signed);
				a = on_stack(size, is_signed);
				a.pointer = b.pointer;
			}
		}
	}
	c->depth--;
	return a;
}

/* ---- the format string and its conversions ---- */

const char *conversion_parse(struct conversion *v, const char *s, const char *end,
			     int long_size)
{
	static const char letters[] = "-0# +";
	static const uint8_t bits[] = { F_LEFT, F_ZERO, F_ALT, F_SPACE, F_PLUS };
	const char *found;
	int n = 0;

	*v = (struct conversion){ .width = -1, .precision = -1, .size = 4 };
	for (; s < end && *s && (found = strchr(letters, *s)); s++)
		v->flags |= bits[found - letters];
	if (s < end && *s == '*') {
		v->flags |= F_STAR;
		s++;
	} else if (s < end && is_digit(*s)) {
		for (; s < end && is_digit(*s); s++)
			n = n > 999 ? n : n * 10 + *s - '0';
		v->width = (int16_t)n;
	}
	if (s < end && *s == '.') {
		v->flags |= F_HAS_PRECISION;
		s++;
		n = 0;
		if (s < end && *s == '*') {
			v->flags |= F_STAR_PRECISION;
			s++;
		} else {
			for (; s < end && is_digit(*s); s++)
				n = n > 999 ? n : n * 10 + *s - '0';
		}
		v->precision = (int16_t)n;
	}
	for (int l = 0, h = 0; s < end; s++) {
		if (*s == 'l')
			v->size = (uint8_t)(l++ ? 8 : long_size);
		else if (*s == 'L' || *s == 'q' || *s == 'j')
			v->size = 8;
		else if (*s == 'z' || *s == 'Z' || *s == 't')
			v->size = (uint8_t)long_size;
		else if (*s == 'h')
			v->size = h++ ? 1 : 2;
		else
			break;
	}
	if (s >= end)
		return end;
	v->letter = *s == 'i' ? 'd' : *s;
	s++;
	if (v->letter != 'p')
		return s;
	v->size = (uint8_t)long_size;
	for (; s < end && (is_letter(*s) || is_digit(*s)) && *s != '_'; s++)
		if (v->more < sizeof(v->suffix))
			v->suffix[v->more++] = *s;
	return s;
}

/* Add a conversion to the program. Return its number. */
static uint64_t add_conversion(struct compiler *c, const struct conversion *v)
{
	struct conversion *kept = array_grow(c, &c->p->conversions, c->p->nconversions,
					     sizeof(*kept), 4096);

	if (!kept)
		return 0;
	*kept = *v;
	return c->p->nconversions++;
}

/* Return how many arguments a conversion takes for its width and precision. */
static int stars(const struct conversion *v)
{
	return !!(v->flags & F_STAR) + !!(v->flags & F_STAR_PRECISION);
}

/*
 * Return the other address field of a return probe: the print fmt has __probe_ret_ip last, but
 * the kernel's text has it first.
 */
static struct expr return_probe_field(struct compiler *c, struct expr x)
{
	const char *name = strcmp(x.field->name, "__probe_func") ? "__probe_func"
								 : "__probe_ret_ip";

	for (size_t i = 0; i < c->e->nfields; i++)
		if (!strcmp(c->e->fields[i].name, name))
			return field_expr(c, &c->e->fields[i]);
	return x;
}

/* Compile a conversion of a number. */
static void number_conversion(struct compiler *c, const struct conversion *v, struct expr x)
{
	int plain = !v->flags && v->width < 0;
	struct vm_insn *s;

	if (x.kind == X_FIELD && x.field && v->letter == 'x' &&
	    !strncmp(x.field->name, "__probe_", 8)) {
		/* the kernel prints the symbol of the address */
		if (strcmp(x.field->name, "__probe_ip"))
			x = return_probe_field(c, x);
		emit_push(c, &x);
		emit_text_insn(c, OP_BUILTIN)->k = strcmp(x.field->name, "__probe_func")
						? BUILTIN_PROBE : BUILTIN_PROBE_BARE;
		return;
	}
	if (plain && x.kind == X_FIELD && strchr("dux", v->letter) &&
	    (v->size == x.read_size || v->size == 8 ||
	     (v->size > x.read_size && !x.read_signed))) {
		s = emit_text_insn(c, OP_NUMBER);
		s->n = x.n + x.read_size;
		s->size = x.read_size;
		s->arg = (uint8_t)v->letter;
		s->is_signed = v->size == x.read_size ? v->letter == 'd' : x.read_signed;
		return;
	}
	emit_push_number(c, &x);
	s = emit_text_insn(c, OP_PRINT);
	s->k = add_conversion(c, v);
	c->stack -= stars(v);
}

/* Compile a conversion and its arguments; the token is the comma before them. */
static void conversion(struct compiler *c, const struct conversion *v)
{
	struct expr x;
	struct vm_insn *s;
	uint64_t k;

	for (int i = stars(v); i; i--) {
		lexer_expect(c, ',');
		x = ternary(c, 0);
		emit_push_number(c, &x);
	}
	lexer_expect(c, ',');
	if (v->letter == 's') {
		int plain = !v->flags && v->width < 0;

		if (!plain) {
			emit_pending_text(c);
			emit_insn(c, OP_PAD)->k = add_conversion(c, v);
			c->stack -= stars(v);
		}
		emit_string(c, ternary(c, 1));
		if (!plain) {
			emit_pending_text(c);
			emit_insn(c, OP_PADDED);
		}
		return;
	}
	x = ternary(c, 0);
	if (v->letter == 'p') {
		int number = is_number(&x), bare = !v->more;

		if (x.kind == X_FIELD && bare && !v->flags && v->width < 0) {
			s = emit_text_insn(c, OP_NUMBER);
			s->n = x.n + x.read_size;
			s->size = x.read_size;
			s->arg = 'p';
			return;
		}
		emit_push(c, &x);
		k = add_conversion(c, v);
		s = emit_text_insn(c, OP_POINTER);
		s->k = k;
		s->arg = (uint8_t)number;
		s->n = number && !bare && !(v->flags & F_STAR);
		c->stack -= stars(v);
		return;
	}
	number_conversion(c, v, x);
}

/*
 * Print a conversion whose arguments are not supported: the value of the field in them, or all
 * fields in them as {NAME=VALUE NAME=VALUE}, or their C text if there is none. The token is the
 * comma before them.
 */
static void raw_arguments(struct compiler *c, const struct conversion *v)
{
	enum { MOST = 8 };
	const struct field *fields[MOST];
	int n = 0;
	const char *first = c->from, *end;

	for (int i = stars(v) + 1; i && c->token == ','; i--) {
		lexer_next(c);
		first = c->from;
		skip_expression(c);
	}
	end = c->from;
	note_unclear(c, first);
	lexer_back_to(c, first);
	while (c->from < end && c->token != T_END && !c->bad) {
		/* a field is after REC-> or in the parentheses of a macro */
		int is_field = c->token == T_ARROW || c->token == '(', i;
		const struct field *f;

		lexer_next(c);
		f = is_field && c->from < end && c->token == T_NAME ? find_field(c) : NULL;
		for (i = 0; i < n && fields[i] != f; i++)
			;
		if (f && i == n && n < MOST)
			fields[n++] = f;
	}
	for (int i = 0; i < n; i++) {
		if (n > 1) {
			emit_text(c, i ? " " : "{");
			emit_text(c, fields[i]->name);
			emit_char(c, '=');
		}
		emit_text_insn(c, OP_VALUE)->n = (uint32_t)(fields[i] - c->e->fields);
	}
	if (n > 1)
		emit_char(c, '}');
	if (first == end) { /* there is no argument */
		emit_char(c, '%');
		emit_char(c, v->letter ? v->letter : ' ');
	}
	for (const char *s = first; !n && s < end; s++)
		emit_char(c, *s == '\n' ? ' ' : *s);
	lexer_back_to(c, end);
}

/* Write the mark before the value of a name in event_set.keys. Return 1, or 0 for another name. */
static int begin_key(struct compiler *c, const char *name, size_t n)
{
	for (const char *const *key = c->evs->keys; key && *key; key++)
		if (strlen(*key) == n && !memcmp(*key, name, n)) {
			emit_char(c, KEY_BEGIN);
			emit_char(c, (char)('A' + (key - c->evs->keys)));
			return 1;
		}
	return 0;
}

/* If the text so far ends in NAME= or NAME=0x, return begin_key for that NAME. Otherwise -1. */
static int begin_value(struct compiler *c)
{
	const char *text = c->bad || !c->evs->keys ? NULL : c->p->text, *name, *end;

	if (!text)
		return -1;
	text += c->text_at;
	end = c->p->text + c->p->ntext;
	end -= end - text > 2 && !memcmp(end - 2, "0x", 2) ? 2 : 0;
	for (name = end - (end > text); name > text && (is_letter(name[-1]) || is_digit(name[-1]));
	     name--)
		;
	return end > text && end[-1] == '=' && name < end - 1 ?
	       begin_key(c, name, (size_t)(end - 1 - name)) : -1;
}

/*
 * Compile a string of a probe, "%s" in quotes; s is after the first quote. If the memory
 * could not be read, the string has no byte, not even a NUL, and the kernel prints neither the
 * string nor the quotes. Return the text after the last quote, or NULL if the format string
 * has something else there.
 */
static const char *quoted_string(struct compiler *c, const char *s)
{
	const char *p = c->s + strspn(c->s, " ");
	int marked;
	struct expr x;

	if (lexer_literal_char(&s, c->end) != '%' || lexer_literal_char(&s, c->end) != 's' ||
	    lexer_literal_char(&s, c->end) != '"' || c->token != ',' ||
	    strncmp(p, "__get_str(", 10))
		return NULL;
	p += strcspn(p, ")");
	p += *p == ')';
	p += strspn(p, " \n");
	if (*p && *p != ',')
		return NULL;
	marked = begin_value(c) > 0;
	lexer_expect(c, ',');
	x = ternary(c, 0);
	emit_push(c, &x);
	emit_text_insn(c, OP_BUILTIN)->k = BUILTIN_QUOTED;
	if (marked)
		emit_char(c, KEY_END);
	return s;
}

/* Return how many conversions are in the text, those for a width or precision included. */
static int count_conversions(const char *s, const char *end)
{
	int n = 0;

	for (; s < end; s++) {
		if (*s != '%')
			continue;
		for (s++; s < end && strchr("-0# +.*123456789", *s); s++)
			n += *s == '*';
		n += s < end && *s != '%';
	}
	return n;
}

/*
 * Return how many arguments follow: the commas outside of parentheses and strings. Return -1 if
 * a string does not end.
 */
static int count_arguments(const char *s)
{
	int n = 0, depth = 0, quoted = 0;

	for (; *s; s++) {
		quoted ^= *s == '"' && s[-1] != '\\';
		if (quoted)
			continue;
		depth += *s == '(' || *s == '{';
		depth -= *s == ')' || *s == '}';
		n += *s == ',' && !depth;
	}
	return quoted ? -1 : n;
}

/*
 * Some drivers have quotes in their format string that the kernel prints without a backslash:
 * "name="%s"", REC->name. Find the quote that ends the string: after it come as many arguments
 * as there are conversions before it. Return the text with the other quotes escaped, which the
 * caller frees; or NULL.
 */
static char *escape_quotes(const char *text)
{
	const char *first = strchr(text, '"'), *last = NULL, *after;
	char *copy, *p;

	for (const char *s = first ? strchr(first + 1, '"') : NULL; s; s = strchr(s + 1, '"')) {
		after = s + 1 + strspn(s + 1, " \n");
		if (s[-1] == '\\' || (*after && *after != ','))
			continue;
		if (!last || count_conversions(first, s) == count_arguments(after))
			last = s;
		if (count_conversions(first, s) == count_arguments(after))
			break;
	}
	p = copy = last ? malloc(2 * strlen(text) + 1) : NULL;
	if (!copy)
		return NULL;
	for (const char *s = text; *s; s++) {
		if (*s == '"' && s > first && s < last && s[-1] != '\\')
			*p++ = '\\';
		*p++ = *s;
	}
	*p = '\0';
	return copy;
}

/* Compile a conversion, or its arguments as they are if they are not supported. */
static void any_conversion(struct compiler *c, const struct conversion *v)
{
	struct undo before;

	undo_begin(c, &before);
	if (v->letter && strchr("duxXocsp", v->letter))
		conversion(c, v);
	else
		c->bad = 1;
	if (c->bad || c->stack != before.stack || (c->token != ',' && c->token != T_END)) {
		undo(c, &before);
		raw_arguments(c, v);
	}
}

/* Compile a conversion. Put marks around a value of event_set.keys. */
static void marked_conversion(struct compiler *c, const struct conversion *v)
{
	int marked = begin_value(c);
	struct undo before;

	undo_begin(c, &before);
	c->field = NULL;
	any_conversion(c, v);
	if (marked < 0 && c->field && !c->bad && c->evs->keys) { /* again, after the mark */
		undo(c, &before);
		marked = begin_key(c, c->field->name, strlen(c->field->name));
		any_conversion(c, v);
	}
	if (marked > 0)
		emit_char(c, KEY_END);
}

/* Compile "FORMAT", ARGUMENT... */
static void print_format(struct compiler *c, const char *text)
{
	char spec[24], *repaired = NULL;
	const char *s;
	int ch;

	c->s = text;
	c->end = text + strlen(text);
	lexer_next(c);
	if (c->token != T_STRING) {
		c->bad = 1;
		return;
	}
	s = c->from + 1;
	c->whole = !strncmp(s, "%s\"", 3);
	lexer_next(c);
	if (c->token != ',' && c->token != T_END && (repaired = escape_quotes(text))) {
		c->bad = 0;
		c->s = repaired;
		c->end = repaired + strlen(repaired);
		lexer_next(c);
		s = c->from + 1;
		lexer_next(c);
	}
	while (!c->bad && (ch = lexer_literal_char(&s, c->end)) >= 0) {
		struct conversion v;
		const char *was = s, *after;
		size_t n = 0;

		if (ch == '"' && (after = quoted_string(c, was))) {
			s = after;
			continue;
		}
		if (ch != '%') {
			emit_char(c, (char)ch);
			continue;
		}
		/* copy the conversion with escapes resolved, then skip its characters */
		while (n < sizeof(spec) && (ch = lexer_literal_char(&s, c->end)) >= 0)
			spec[n++] = (char)ch;
		after = conversion_parse(&v, spec, spec + n, c->evs->long_size);
		s = was;
		for (; after > spec; after--)
			lexer_literal_char(&s, c->end);
		if (v.letter == '%') {
			emit_char(c, '%');
			continue;
		}
		marked_conversion(c, &v);
	}
	free(repaired);
}

/* ---- whole events ---- */

/*
 * The kernel prints the events of the system ftrace by functions, not by their print fmts. These
 * print fmts make the same text. After a '!' the text has its own newline.
 */
static const struct {
	char name[13];
	const char *fmt;
} ftrace_formats[] = {
#include "ftrace_formats.h"
};

/* Return the number before a name in a table of flags: 0xNUMBER, "NAME" */
static uint64_t flag_in(const char *table, const char *name)
{
	const char *end = strstr(table, name), *s = end;

	while (s && s > table && *s != 'x')
		s--;
	s += s != NULL;
	return s ? text_hex(&s, end) : 0;
}

/*
 * Compile sys_enter_openat of Linux 7.0 and later: numbers are decimal, flags have names, and
 * the mode is printed if it matters. The kernel's function knows one more name, O_TMPFILE,
 * than the table of the format.
 */
static void openat_enter(struct compiler *c)
{
	enum { O_TMPFILE_ITSELF = 020000000 };
	const char *table = strchr(c->e->print_fmt, '{'), *end = strrchr(c->e->print_fmt, '}');
	uint64_t tmpfile, creat;
	char fmt[2048];

	if (!table || !end || end < table || end - table > 1500) {
		c->bad = 1;
		return;
	}
	tmpfile = O_TMPFILE_ITSELF | flag_in(table, "\"O_DIRECTORY\"");
	creat = flag_in(table, "\"O_CREAT\"");
	str_format(fmt, sizeof(fmt),
		   "\"sys_openat(dfd: %%lu, filename: %%lu %%s, flags: %%s%%s%%s)\\n\", "
		   "(unsigned long)REC->dfd, (unsigned long)REC->filename, "
		   "__ftrace_quoted(__get_str(__filename_val)), "
		   "REC->flags & 3 || !REC->flags ? \"\" : \"O_RDONLY|\", "
		   "REC->flags ? __print_flags(REC->flags, \"|\", { %llu, \"O_TMPFILE\" }, %.*s) "
		   ": \"O_RDONLY\", REC->flags & %llu ? __ftrace_mode(REC->mode) : \"\"",
		   (unsigned long long)tmpfile, (int)(end + 1 - table), table,
		   (unsigned long long)(tmpfile | creat));
	print_format(c, fmt);
}

/* Compile a sys_enter_NAME event: sys_NAME(argument: value, ...) */
static void syscall_enter(struct compiler *c, const char *name)
{
	const struct event *e = c->e;
	int n = 0;

	emit_text(c, "sys_");
	emit_text(c, name);
	emit_char(c, '(');
	for (unsigned i = e->ncommon; i < e->nfields; i++) {
		const struct field *f = &e->fields[i], *user = NULL;
		size_t len = strlen(f->name);
		struct vm_insn *s;
		int marked;

		/* a field that the kernel read from user space is printed with its pointer */
		if (!strcmp(f->name, "__syscall_nr") || f->place)
			continue;
		for (unsigned j = e->ncommon; j < e->nfields; j++)
			if (e->fields[j].place == PLACE_DATA_LOC &&
			    !strncmp(e->fields[j].name, "__", 2) &&
			    !strncmp(e->fields[j].name + 2, f->name, len) &&
			    !strcmp(e->fields[j].name + 2 + len, "_val"))
				user = &e->fields[j];
		if (n++)
			emit_text(c, ", ");
		emit_text(c, f->name);
		emit_text(c, ": ");
		marked = begin_key(c, f->name, len);
		s = emit_text_insn(c, OP_ARGUMENT);
		s->size = (uint8_t)c->evs->long_size;
		s->n = f->offset + s->size;
		/* kernels before 6.13 print no 0x */
		s->arg = c->evs->version && c->evs->version < KERNEL(6, 13);
		if (marked)
			emit_char(c, KEY_END);
		if (!user)
			continue;
		if (strstr(e->print_fmt, "__get_str")) {
			emit_text(c, " \"");
			emit_string(c, (struct expr){ .kind = X_LOC, .n = user->offset,
						    .place = PLACE_DATA_LOC });
			emit_char(c, '"');
		} else if (i + 1 < e->nfields) { /* the next argument is the length */
			struct expr length = field_expr(c, &e->fields[i + 1]);
			struct expr x = { .kind = X_LOC, .n = user->offset,
					.place = PLACE_DATA_LOC };

			emit_char(c, ' ');
			emit_push(c, &length);
			emit_push(c, &x);
			emit_text_insn(c, OP_BUILTIN)->k = BUILTIN_BUFFER;
			c->stack--;
		}
	}
	emit_text(c, ")\n");
}

/* Compile the text of an event. */
static void compile_event(struct compiler *c)
{
	const struct event *e = c->e;
	const char *fmt = e->print_fmt;
	const struct field *ret;
	int marked;

	if (!strcmp(e->system, "syscalls") && !strcmp(e->name, "sys_enter_openat") &&
	    strstr(fmt, "\"O_RDONLY\"")) {
		openat_enter(c);
	} else if (!strcmp(e->system, "syscalls") && !strncmp(e->name, "sys_enter_", 10)) {
		syscall_enter(c, e->name + 10);
	} else if (!strcmp(e->system, "syscalls") && !strncmp(e->name, "sys_exit_", 9) &&
		   (ret = event_field(e, "ret"))) {
		emit_text(c, "sys_");
		emit_text(c, e->name + 9);
		emit_text(c, " -> ");
		marked = begin_key(c, "ret", 3);
		emit_text(c, "0x");
		number_conversion(c, &(struct conversion){ .letter = 'x', .width = -1,
				  .size = (uint8_t)ret->size }, field_expr(c, ret));
		if (marked)
			emit_char(c, KEY_END);
		emit_char(c, '\n');
	} else if (!strcmp(e->system, "ftrace") || e->id == c->evs->own_stack) {
		const char *name = e->id == c->evs->own_stack ? "frames" : e->name;

		for (size_t i = 0; i < sizeof(ftrace_formats) / sizeof(*ftrace_formats); i++)
			if (!strcmp(name, ftrace_formats[i].name))
				fmt = ftrace_formats[i].fmt;
		print_format(c, fmt + (*fmt == '!'));
		if (*fmt != '!')
			emit_char(c, '\n');
	} else {
		emit_text(c, e->name);
		emit_text(c, ": ");
		print_format(c, fmt);
		emit_char(c, '\n');
	}
}

/* Drop all code, to begin again. */
static void discard(struct compiler *c)
{
	struct bytecode *p = c->p;

	free(p->insns);
	free(p->names);
	free(p->tables);
	free(p->conversions);
	free(p->text);
	*p = (struct bytecode){ 0 };
	c->bad = c->depth = c->stack = 0;
	c->text_at = 0;
	c->nlocals = 0;
}

struct bytecode *bytecode_make(const struct event_set *evs, struct event *e)
{
	struct compiler c = { .evs = evs, .e = e, .p = calloc(1, sizeof(*c.p)) };

	if (!c.p)
		return NULL;
	compile_event(&c);
	e->opaque = c.bad || c.stack;
	if (e->opaque) {
		discard(&c);
		emit_text(&c, e->name);
		emit_char(&c, ':');
		emit_text_insn(&c, OP_FIELDS);
		emit_char(&c, '\n');
	}
	emit_text_insn(&c, OP_END);
	/* the VM copies text in pieces of this size */
	for (int i = 0; i < TEXT_SLACK; i++)
		emit_char(&c, ' ');
	if (c.bad) {
		bytecode_free(c.p);
		return NULL;
	}
	return c.p;
}

void bytecode_free(struct bytecode *p)
{
	if (!p)
		return;
	free(p->insns);
	free(p->names);
	free(p->tables);
	free(p->conversions);
	free(p->text);
	free(p);
}
