/* SPDX-License-Identifier: ISC */
/*
 * printfmt.c - a format's print fmt, compiled
 *
 * It is C as a macro left it: a string, and expressions over the record. One
 * pass, no tree: an expression is a description (struct ex) of what is still
 * to be done, which keeps constants and fields off the stack until somebody
 * needs them there, and lets a conversion of a plain field become one step.
 *
 * What a %s takes is compiled by the same functions with emit set: what they
 * then meet of strings is written out by the steps they make, where it stands.
 */
#include <stdlib.h>

#include "run.h"

/* Inlined where it is called once, as it is to be small, each is larger. */
#define SMALL __attribute__((noinline))

enum kind {
	X_BAD, X_CONST, X_FIELD, X_STACK,       /* numbers */
	X_HERE, X_LOC, X_REGION,                /* memory */
	X_TEXT,                                 /* a literal, its source at s */
	X_DONE,                                 /* written */
};

struct ex {
	uint8_t kind;
	uint8_t size, is_signed;        /* its type: 1 2 4 8 bytes; 0 not known */
	uint8_t read_size, read_signed; /* X_FIELD: as it lies in the record */
	uint8_t pointer;                /* a number that is an address */
	uint8_t page;                   /* one of struct page */
	uint8_t elem, elem_signed;      /* memory: what is in it */
	uint8_t place;                  /* X_LOC */
	uint32_t n;                     /* offset */
	union {
		uint64_t k;             /* constant; bytes of X_HERE */
		const char *s;
		const struct field *field; /* X_FIELD */
	};
};

enum token {
	T_END, T_NUMBER, T_STRING, T_NAME,
	T_ARROW, T_SHL, T_SHR, T_LE, T_GE, T_EQ, T_NE, T_AND, T_OR,
	/* all others are their own character */
};

struct compiler {
	const struct events *evs;
	struct event *e;
	struct program *p;
	const char *s, *end;            /* behind the token */
	int token;
	const char *from;               /* its first character */
	uint64_t number;
	uint8_t number_size, number_signed;
	uint32_t text_at;               /* text behind it is of no step yet */
	struct local {                  /* of a statement in parentheses, as min() */
		const char *name;
		size_t len;
		struct ex x;
	} locals[4];
	unsigned nlocals;
	int bad, depth, stack;
};

enum { DEEPEST = 120, MOST_STEPS = 4096, MOST_TEXT = 1 << 20 };

static struct ex ternary(struct compiler *c, int emit);

/* ---- what is made ---------------------------------------------------------- */

/* Room for one more in the n elements at *v; NULL, and bad, without memory. */
static void *more(struct compiler *c, void *v, uint32_t n, size_t size, uint32_t most)
{
	char **at = v;

	if (n >= most)
		c->bad = 1;
	if (c->bad)
		return NULL;
	if (!(n & (n - 1))) { /* full at each power of two */
		char *grown = realloc(*at, (n ? 2 * n : 1) * size);

		if (!grown) {
			c->bad = 1;
			return NULL;
		}
		*at = grown;
	}
	return *at + n * size;
}

static void add_char(struct compiler *c, char ch)
{
	char *p = c->bad ? NULL : more(c, &c->p->text, c->p->ntext, 1, MOST_TEXT);

	if (p) {
		*p = ch;
		c->p->ntext++;
	}
}

static void add_text(struct compiler *c, const char *s)
{
	while (*s)
		add_char(c, *s++);
}

/* What each step leaves on the stack. */
static int effect(enum op op)
{
	switch (op) {
	case OP_CONST: case OP_FIELD: case OP_REGION: case OP_LOCATE:
		return 1;
	case OP_ELEMENT: case OP_BINARY: case OP_JUMP_ZERO: case OP_PRINT:
	case OP_FLAGS: case OP_SYMBOLIC: case OP_HEX: case OP_BITS: case OP_STRING:
	case OP_POINTED: case OP_POINTER: case OP_OWN:
		return -1;
	case OP_SELECT:
		return -2;
	case OP_ARRAY:
		return -3;
	case OP_DUMP:
		return -5;
	default:
		return 0;
	}
}

static struct step *step(struct compiler *c, enum op op)
{
	static struct step nowhere;
	struct step *s = more(c, &c->p->steps, c->p->nsteps, sizeof(*s), MOST_STEPS);

	if (!s)
		return &nowhere;
	c->p->nsteps++;
	*s = (struct step){ .op = (uint8_t)op };
	c->stack += effect(op);
	if (c->stack > STACK || c->stack < 0)
		c->bad = 1;
	return s;
}

/* A step that writes: with what text is waiting in front. */
static struct step *writing(struct compiler *c, enum op op)
{
	struct step *s = step(c, op);

	s->text = c->text_at;
	s->len = c->p->ntext - c->text_at;
	c->text_at = c->p->ntext;
	return s;
}

static void flush_text(struct compiler *c)
{
	if (c->p->ntext != c->text_at)
		writing(c, OP_TEXT);
}

/* ---- tokens ---------------------------------------------------------------- */

static int is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

static int is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && (*s == ' ' || *s == '\t' || *s == '\n'))
		s++;
	return s;
}

/* Behind the string that starts at s with its quote; NULL: it has no end. */
static const char *skip_string(const char *s, const char *end)
{
	for (s++; s < end && *s != '"'; s++)
		if (*s == '\\')
			s++;
	return s < end ? s + 1 : NULL;
}

/* An integer constant and its type. */
static void number_token(struct compiler *c)
{
	const char *s = c->from;
	int base = 10, u = 0, l = 0;
	uint64_t v = 0;

	if (*s == '0' && s + 1 < c->end) {
		base = (s[1] | 0x20) == 'x' ? 16 : 8;
		s += base == 16 ? 2 : 1;
	}
	for (; s < c->end; s++) {
		int d = is_digit(*s) ? *s - '0' : (*s | 0x20) >= 'a' && (*s | 0x20) <= 'f'
			? (*s | 0x20) - 'a' + 10 : 99;

		if (d >= base)
			break;
		v = v * (unsigned)base + (unsigned)d;
	}
	for (; s < c->end && is_letter(*s); s++)
		if ((*s | 0x20) == 'u')
			u = 1;
		else if ((*s | 0x20) == 'l')
			l++;
		else
			c->bad = 1;
	c->s = s;
	c->number = v;
	c->number_size = (uint8_t)(l > 1 ? 8 : l ? c->evs->long_size : 4);
	if (v > UINT32_MAX || (v > INT32_MAX && base == 10 && !u))
		c->number_size = 8;
	c->number_signed = !u && (c->number_size == 4 ? v <= INT32_MAX : v <= INT64_MAX);
}

static void character_token(struct compiler *c)
{
	const char *s = c->s;

	c->number = 0;
	if (s < c->end && *s == '\\' && s + 1 < c->end) {
		s++;
		c->number = *s == 'n' ? '\n' : *s == 't' ? '\t' : *s == '0' ? 0
			    : (unsigned char)*s;
		s++;
	} else if (s < c->end) {
		c->number = (unsigned char)*s++;
	}
	if (s >= c->end || *s != '\'')
		c->bad = 1;
	else
		s++;
	c->s = s;
	c->token = T_NUMBER;
	c->number_size = 4;
	c->number_signed = 1;
}

static void next(struct compiler *c)
{
	static const struct {
		char text[3];
		uint8_t token;
	} pairs[] = {
		{ "->", T_ARROW }, { "<<", T_SHL }, { ">>", T_SHR }, { "<=", T_LE },
		{ ">=", T_GE }, { "==", T_EQ }, { "!=", T_NE }, { "&&", T_AND },
		{ "||", T_OR },
	};

	c->from = c->s = skip_blanks(c->s, c->end);
	c->token = T_END;
	if (c->bad || c->s >= c->end)
		return;
	if (is_letter(*c->s)) {
		while (c->s < c->end && (is_letter(*c->s) || is_digit(*c->s)))
			c->s++;
		c->token = T_NAME;
		return;
	}
	if (is_digit(*c->s)) {
		c->token = T_NUMBER;
		number_token(c);
		return;
	}
	if (*c->s == '"') {
		const char *s = skip_string(c->s, c->end), *again;

		while (s && (again = skip_blanks(s, c->end)) < c->end && *again == '"')
			s = skip_string(again, c->end);
		c->token = T_STRING;
		c->bad |= !s;
		c->s = s ? s : c->end;
		return;
	}
	if (*c->s == '\'') {
		c->s++;
		character_token(c);
		return;
	}
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (c->end - c->s > 1 && c->s[0] == pairs[i].text[0] &&
		    c->s[1] == pairs[i].text[1]) {
			c->token = pairs[i].token;
			c->s += 2;
			return;
		}
	c->token = (unsigned char)*c->s++;
}

/* Back to the token that started there. */
static void go_back(struct compiler *c, const char *from)
{
	c->s = from;
	next(c);
}

static int accept(struct compiler *c, int token)
{
	if (c->token != token)
		return 0;
	next(c);
	return 1;
}

static void expect(struct compiler *c, int token)
{
	if (!accept(c, token))
		c->bad = 1;
}

/* Is the token this name? */
static int is(const struct compiler *c, const char *name)
{
	size_t n = strlen(name);

	return c->token == T_NAME && (size_t)(c->s - c->from) == n &&
	       !memcmp(c->from, name, n);
}

/*
 * The character at *s of a literal, and *s behind it: what it says. -1 at its
 * end; the next adjacent literal is part of it.
 */
static int literal_char(const char **at, const char *end)
{
	const char *s = *at;
	int v = 0, n = 0;

	while (s < end && *s == '"') { /* the end, or the next one's start */
		s = skip_blanks(s + 1, end);
		if (s >= end || *s != '"')
			return -1;
		s++;
	}
	if (s >= end)
		return -1;
	if (*s != '\\' || s + 1 >= end) {
		*at = s + 1;
		return (unsigned char)*s;
	}
	s++;
	switch (*s) {
	case 'n': v = '\n'; break;
	case 't': v = '\t'; break;
	case 'r': v = '\r'; break;
	case 'a': v = '\a'; break;
	case 'x':
		for (s++; s < end && n < 2; s++, n++) {
			int d = is_digit(*s) ? *s - '0' : (*s | 0x20) - 'a' + 10;

			if (d < 0 || d > 15)
				break;
			v = v * 16 + d;
		}
		*at = s;
		return v;
	default:
		if (*s < '0' || *s > '7') {
			v = (unsigned char)*s;
			break;
		}
		for (; s < end && n < 3 && *s >= '0' && *s <= '7'; s++, n++)
			v = v * 8 + *s - '0';
		*at = s;
		return v & 255;
	}
	*at = s + 1;
	return v;
}

static void add_literal(struct compiler *c, const char *s)
{
	int ch;

	for (s++; (ch = literal_char(&s, c->end)) >= 0;)
		add_char(c, (char)ch);
}

/* ---- numbers --------------------------------------------------------------- */

static struct ex bad(struct compiler *c)
{
	c->bad = 1;
	return (struct ex){ .kind = X_BAD };
}

static struct ex constant(uint64_t k, unsigned size, int is_signed)
{
	return (struct ex){ .kind = X_CONST, .size = (uint8_t)size,
			    .is_signed = (uint8_t)is_signed, .k = k };
}

static struct ex on_stack(unsigned size, int is_signed)
{
	return (struct ex){ .kind = X_STACK, .size = (uint8_t)size,
			    .is_signed = (uint8_t)is_signed };
}

static int is_number(const struct ex *x)
{
	return x->kind == X_CONST || x->kind == X_FIELD || x->kind == X_STACK;
}

static int is_lazy(const struct ex *x)
{
	return x->kind != X_STACK && x->kind != X_REGION;
}

static void push(struct compiler *c, struct ex *x)
{
	struct step *s;

	switch (x->kind) {
	case X_CONST:
		step(c, OP_CONST)->k = x->k;
		break;
	case X_FIELD:
		s = step(c, OP_FIELD);
		s->n = x->n;
		s->size = x->read_size;
		s->is_signed = x->read_signed;
		break;
	case X_TEXT: /* as a condition: it is there */
		step(c, OP_CONST)->k = 1;
		break;
	case X_HERE:
		s = step(c, OP_REGION);
		s->n = x->n;
		s->k = x->k;
		break;
	case X_LOC:
		s = step(c, OP_LOCATE);
		s->n = x->n;
		s->what = x->place;
		break;
	case X_STACK:
	case X_REGION:
		return;
	default:
		c->bad = 1;
	}
	x->kind = x->kind == X_HERE || x->kind == X_LOC ? X_REGION : X_STACK;
}

static void push_number(struct compiler *c, struct ex *x)
{
	if (!is_number(x))
		c->bad = 1;
	push(c, x);
}

static void promote(struct ex *x)
{
	if (x->size && x->size < 4) {
		x->size = 4;
		x->is_signed = 1;
	}
}

/* The type that both operands have: the usual arithmetic conversions. */
static void common_type(struct ex *a, struct ex *b, unsigned *size, int *is_signed)
{
	promote(a);
	promote(b);
	*size = a->size > b->size ? a->size : b->size;
	*is_signed = a->size == b->size ? a->is_signed && b->is_signed
		     : a->size > b->size ? a->is_signed : b->is_signed;
	if (!a->size || !b->size) { /* of a type that we do not know: the widest */
		*size = 8;
		*is_signed = 1;
	}
}

static struct ex operate(struct compiler *c, enum operator op, struct ex a, struct ex b)
{
	unsigned size;
	int is_signed, result_signed;
	struct step *s;

	if (c->bad)
		return bad(c);
	/* a string or an array, as a condition, is there */
	if (op == LAND || op == LOR || op == EQ || op == NE) {
		if (!is_number(&a) && is_lazy(&a))
			a = constant(1, 4, 1);
		if (!is_number(&b) && is_lazy(&b))
			b = constant(1, 4, 1);
	}
	if (!is_number(&a) || !is_number(&b))
		return bad(c);
	if (a.page && !b.pointer && (op == ADD || op == SUB)) { /* an array of them */
		b.size = 8;
		b = operate(c, MUL, b, constant(64, 8, 0));
		a.page = 0;
		a = operate(c, op, a, b);
		a.pointer = a.page = 1;
		return a;
	}
	common_type(&a, &b, &size, &is_signed);
	if (op == SHL || op == SHR) {
		size = a.size ? a.size : 8;
		is_signed = a.is_signed;
	} else if (op == LAND || op == LOR) {
		size = 8;
	}
	result_signed = is_signed;
	if (a.kind == X_CONST && b.kind == X_CONST) {
		a.k = calculate(op, a.k, b.k, size, is_signed);
	} else {
		int behind = is_lazy(&a) && !is_lazy(&b);

		push(c, &a);
		if (behind)
			step(c, OP_SWAP);
		if (b.kind == X_CONST) {
			s = step(c, OP_BINARY_K);
			s->k = b.k;
		} else {
			push(c, &b);
			s = step(c, OP_BINARY);
		}
		s->what = (uint8_t)op;
		s->size = (uint8_t)size;
		s->is_signed = (uint8_t)is_signed;
	}
	if (op >= EQ && op <= LOR) {
		size = 4;
		result_signed = 1;
	}
	a.size = (uint8_t)size;
	a.is_signed = (uint8_t)result_signed;
	a.pointer = 0;
	return a;
}

/* What the machine does, and the compiler with constants. */
uint64_t calculate(enum operator op, uint64_t a, uint64_t b, unsigned size, int is_signed)
{
	int64_t sa, sb;
	unsigned bits = size * 8;

	a = extend(a, size, is_signed);
	if (op != SHL && op != SHR)
		b = extend(b, size, is_signed);
	sa = (int64_t)a;
	sb = (int64_t)b;
	switch (op) {
	case ADD: a += b; break;
	case SUB: a -= b; break;
	case MUL: a *= b; break;
	case DIV:
	case MOD:
		if (!b || (is_signed && sb == -1 && sa == INT64_MIN))
			return 0;
		if (op == DIV)
			a = is_signed ? (uint64_t)(sa / sb) : a / b;
		else
			a = is_signed ? (uint64_t)(sa % sb) : a % b;
		break;
	case SHL: a = b < bits ? a << b : 0; break;
	case SHR:
		if (b >= bits)
			a = is_signed && sa < 0 ? ~0ull : 0;
		else
			a = is_signed ? (uint64_t)(sa >> b) : a >> b;
		break;
	case AND: a &= b; break;
	case OR: a |= b; break;
	case XOR: a ^= b; break;
	case EQ: return a == b;
	case NE: return a != b;
	case LT: return is_signed ? sa < sb : a < b;
	case LE: return is_signed ? sa <= sb : a <= b;
	case GT: return is_signed ? sa > sb : a > b;
	case GE: return is_signed ? sa >= sb : a >= b;
	case LAND: return a && b;
	case LOR: return a || b;
	case NEG: a = 0 - a; break;
	case INV: a = ~a; break;
	case NOT: return !a;
	}
	return extend(a, size, is_signed);
}

static struct ex unary_operate(struct compiler *c, enum operator op, struct ex a)
{
	struct step *s;

	if (op == NOT && !is_number(&a) && is_lazy(&a) && a.kind != X_BAD)
		return constant(0, 4, 1);
	promote(&a);
	if (!is_number(&a))
		return bad(c);
	if (!a.size) {
		a.size = 8;
		a.is_signed = 1;
	}
	if (a.kind == X_CONST) {
		a.k = calculate(op, a.k, 0, a.size, a.is_signed);
	} else {
		push(c, &a);
		s = step(c, OP_UNARY);
		s->what = (uint8_t)op;
		s->size = a.size;
		s->is_signed = a.is_signed;
	}
	if (op == NOT) {
		a.size = 4;
		a.is_signed = 1;
	}
	a.pointer = 0;
	return a;
}

/* ---- types ----------------------------------------------------------------- */

struct type {
	uint8_t size, is_signed;        /* of what it is, or points to; 0: who knows */
	uint8_t pointer, is_bool, is_page;
};

/* Is the token a variable of statements in parentheses? */
static const struct ex *local(const struct compiler *c)
{
	for (unsigned i = 0; i < c->nlocals; i++)
		if (c->locals[i].len == (size_t)(c->s - c->from) &&
		    !memcmp(c->locals[i].name, c->from, c->locals[i].len))
			return &c->locals[i].x;
	return NULL;
}

/* u8 __u8 s64 be16 uint32_t: the number in it says it all. */
SMALL static int sized_type(const char *s, size_t n, struct type *t)
{
	const char *end = s + n;
	unsigned bits = 0;

	while (s < end && *s == '_')
		s++;
	t->is_signed = s < end && (*s == 's' || *s == 'i');
	if (s < end && *s == 'u')
		s++;
	if (end - s > 3 && !memcmp(s, "int", 3))
		s += 3;
	else if (end - s > 2 && (!memcmp(s, "be", 2) || !memcmp(s, "le", 2)))
		s += 2;
	else if (s < end && *s == 's')
		s++;
	while (s < end && is_digit(*s))
		bits = bits * 10 + (unsigned)(*s++ - '0');
	if (end - s == 2 && !memcmp(s, "_t", 2))
		s = end;
	if (s != end || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
		return 0;
	t->size = (uint8_t)(bits / 8);
	return 1;
}

static int named_type(struct compiler *c, struct type *t)
{
	static const struct {
		char name[13];
		uint8_t size, is_signed; /* 0: a long */
	} types[] = {
		{ "gfp_t", 4, 0 }, { "dev_t", 4, 0 }, { "pid_t", 4, 1 }, { "umode_t", 2, 0 },
		{ "loff_t", 8, 1 }, { "sector_t", 8, 0 }, { "bool", 1, 0 }, { "_Bool", 1, 0 },
		{ "size_t", 0, 0 }, { "ssize_t", 0, 1 }, { "pgoff_t", 0, 0 },
		{ "ino_t", 0, 0 }, { "dma_addr_t", 8, 0 }, { "phys_addr_t", 8, 0 },
		{ "blk_opf_t", 4, 0 }, { "ktime_t", 8, 1 }, { "time64_t", 8, 1 },
		{ "fmode_t", 4, 0 }, { "uintptr_t", 0, 0 }, { "uid_t", 4, 0 },
		{ "gid_t", 4, 0 },
	};
	size_t n = (size_t)(c->s - c->from);

	if (local(c))
		return 0;
	if (sized_type(c->from, n, t))
		return 1;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (is(c, types[i].name)) {
			t->size = types[i].size ? types[i].size
						: (uint8_t)c->evs->long_size;
			t->is_signed = types[i].is_signed;
			t->is_bool = is(c, "bool") || is(c, "_Bool");
			return 1;
		}
	/* not known, and not a constant that the kernel did not resolve */
	for (size_t i = 0; i < n; i++)
		if (c->from[i] >= 'a' && c->from[i] <= 'z') {
			t->size = 0;
			return 1;
		}
	return 0;
}

/* A type and what token is behind it: 1, taken; 0: none, nothing taken. */
static int type_name(struct compiler *c, struct type *t, int behind)
{
	const char *was = c->from;
	int words = 0, longs = 0, u = 0, s = 0, named = 0;
	uint8_t size = 4;

	*t = (struct type){ .is_signed = 1 };
	for (; c->token == T_NAME; next(c)) {
		if (is(c, "const") || is(c, "volatile") || is(c, "__force") ||
		    is(c, "__user") || is(c, "__kernel") || is(c, "__iomem"))
			continue;
		if (is(c, "unsigned"))
			u = 1;
		else if (is(c, "signed"))
			s = 1;
		else if (is(c, "long"))
			longs++;
		else if (is(c, "char"))
			size = 1;
		else if (is(c, "short"))
			size = 2;
		else if (is(c, "void"))
			size = 1, u = 1;
		else if (is(c, "struct") || is(c, "union") || is(c, "enum")) {
			int is_enum = is(c, "enum");

			next(c);
			if (c->token != T_NAME || named)
				break;
			named = 1;
			t->is_page = (uint8_t)is(c, "page");
			t->size = is_enum ? 4 : 0;
			t->is_signed = 0;
		} else if (!is(c, "int")) {
			if (named || words || is(c, "REC") || !named_type(c, t))
				break;
			named = 1;
		}
		words++;
	}
	if (!named) {
		t->size = longs > 1 ? 8 : longs ? (uint8_t)c->evs->long_size : size;
		t->is_signed = !u;
		/* the kernel is built with -funsigned-char since 6.2; as formats say */
		(void)s;
	}
	for (; c->token == '*'; next(c)) {
		if (t->pointer) { /* to a pointer */
			t->size = (uint8_t)c->evs->long_size;
			t->is_signed = 0;
		}
		t->pointer = 1;
		while (is(c, "const"))
			next(c);
	}
	if (words && c->token == behind && !c->bad) {
		next(c);
		return 1;
	}
	/* "int x": the name was taken for a type */
	if (behind == T_NAME && words && c->token == '=' && !c->bad)
		return 1;
	go_back(c, was);
	return 0;
}

SMALL static struct ex cast(struct compiler *c, const struct type *t, struct ex x)
{
	struct step *s;

	if (x.kind == X_TEXT || x.kind == X_DONE || x.kind == X_BAD)
		return x;
	if (!is_number(&x)) { /* memory: what is in it */
		if (!t->pointer)
			return bad(c);
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
	if (!t->size) /* as wide as it is */
		return x;
	x.pointer = 0;
	if (t->is_bool)
		return operate(c, NE, x, constant(0, 4, 1));
	if (x.kind == X_CONST) {
		x.k = extend(x.k, t->size, t->is_signed);
	} else if (x.kind == X_FIELD && t->size == x.read_size) {
		x.read_signed = t->is_signed;
	} else if (x.kind == X_FIELD && t->size > x.read_size &&
		   (!x.read_signed || t->is_signed || t->size == 8)) {
		; /* nothing changes */
	} else if (t->size < 8) {
		push(c, &x);
		s = step(c, OP_EXTEND);
		s->size = t->size;
		s->is_signed = t->is_signed;
	}
	x.size = t->size;
	x.is_signed = t->is_signed;
	return x;
}

/* ---- what the kernel's macros make ------------------------------------------ */

static struct ex field_ex(struct compiler *c, const struct field *f)
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
static struct ex record_field(struct compiler *c)
{
	const struct field *f;

	if (c->token != T_ARROW)
		return bad(c);
	do { /* of REC->graph_ent.func, the format has the last name */
		next(c);
		if (c->token != T_NAME)
			return bad(c);
		f = find_field(c);
		next(c);
	} while (c->token == '.');
	return f ? field_ex(c, f) : bad(c);
}

/* ( field ), of a macro that finds its memory */
static struct ex dynamic(struct compiler *c)
{
	const struct field *f = NULL;
	struct ex x;

	expect(c, '(');
	if (c->token == T_NAME)
		f = find_field(c);
	next(c);
	expect(c, ')');
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
		expect(c, ',');
	return x;
}

static void push_memory(struct compiler *c, struct ex *x)
{
	if (x->kind != X_HERE && x->kind != X_LOC && x->kind != X_REGION)
		c->bad = 1;
	push(c, x);
}

/* { value, "name" }, ... ) */
SMALL static uint32_t table(struct compiler *c)
{
	struct table *t = more(c, &c->p->tables, c->p->ntables, sizeof(*t), 4096);
	uint32_t first = c->p->nnames;

	while (!c->bad && accept(c, '{')) {
		struct ex x = ternary(c, 0);
		uint32_t text = c->p->ntext;
		struct name *name;

		expect(c, ',');
		if (c->token != T_STRING && !c->bad) { /* { -1, NULL }, the end */
			x = ternary(c, 0);
			if (x.kind != X_CONST || x.k)
				bad(c);
			accept(c, ',');
			expect(c, '}');
			accept(c, ',');
			break;
		}
		name = more(c, &c->p->names, c->p->nnames, sizeof(*name), 65536);
		if (!name || x.kind != X_CONST || c->token != T_STRING) {
			bad(c);
			break;
		}
		add_literal(c, c->from);
		*name = (struct name){ x.k, text, c->p->ntext - text };
		c->p->nnames++;
		next(c);
		accept(c, ',');
		expect(c, '}');
		accept(c, ',');
	}
	c->text_at = c->p->ntext;
	expect(c, ')');
	if (!t || c->bad)
		return 0;
	*t = (struct table){ first, c->p->nnames - first };
	return c->p->ntables++;
}

static struct ex done(void)
{
	return (struct ex){ .kind = X_DONE };
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
		expect(c, '(');
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
			next(c);
			accept(c, ',');
		}
		size = which == FLAGS || which == SYMBOLIC ? (uint8_t)c->evs->long_size : 8;
		n = table(c);
		s = step(c, which <= FLAGS64 ? OP_FLAGS : OP_SYMBOLIC);
		s->n = n;
		s->text = text;
		s->len = len;
		s->size = size;
		return done();
	case HEX: case HEX_STR:
		x = argument(c);
		push_memory(c, &x);
		y = argument(c);
		push_number(c, &y);
		expect(c, ')');
		step(c, OP_SELECT)->what = 1; /* cut the region to the length */
		c->stack++;
		writing(c, OP_HEX)->n = which == HEX ? ' ' : 0;
		return done();
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
		expect(c, ')');
		writing(c, OP_ARRAY);
		return done();
	case DUMP:
		if (c->token != T_STRING)
			return bad(c);
		flush_text(c);
		text = c->p->ntext;
		add_literal(c, c->from);
		len = c->p->ntext - text;
		c->text_at = c->p->ntext;
		next(c);
		expect(c, ',');
		for (int i = 0; i < 6; i++) { /* type, row, group, buf, len, ascii */
			x = argument(c);
			if (i == 3)
				push_memory(c, &x);
			else
				push_number(c, &x);
		}
		expect(c, ')');
		s = step(c, OP_DUMP);
		s->text = text;
		s->len = len;
		c->stack--;
		return done();
	default:
		x = dynamic(c);
		push_memory(c, &x);
		writing(c, OP_BITS);
		return done();
	}
}

static struct ex own(struct compiler *c, enum own which)
{
	struct ex x;

	expect(c, '(');
	x = argument(c);
	push(c, &x);
	if (which == OWN_BPRINT) {
		x = argument(c);
		push_memory(c, &x);
	}
	expect(c, ')');
	writing(c, OP_OWN)->k = which;
	c->stack -= which == OWN_BPRINT;
	return done();
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
				next(c);
				return constant(v, 4, 1);
			}
			p += word + 1;
		}
	}
	return bad(c);
}

/* { TYPE NAME = EXPRESSION; ... EXPRESSION; } as min() and max() are made of */
SMALL static struct ex statements(struct compiler *c)
{
	struct type t;
	struct ex x = { 0 };

	while (!c->bad) {
		const char *was = c->from;
		struct local *l = &c->locals[c->nlocals];

		/* a declaration, or the value */
		if (c->token == T_NAME && (is(c, "__auto_type") || is(c, "typeof") ||
					   is(c, "const") || type_name(c, &t, T_NAME))) {
			if (c->nlocals == sizeof(c->locals) / sizeof(*c->locals))
				return bad(c);
			/* the name is the one in front of the '=' */
			go_back(c, was);
			for (; c->token != '=' && c->token != T_END && c->token != ';'; next(c)) {
				l->name = c->from;
				l->len = (size_t)(c->s - c->from);
			}
			expect(c, '=');
			x = ternary(c, 0);
			if (!is_number(&x) || !is_lazy(&x))
				return bad(c);
			c->locals[c->nlocals++].x = x;
			expect(c, ';');
			continue;
		}
		go_back(c, was);
		x = ternary(c, 0);
		expect(c, ';');
		if (accept(c, '}'))
			return x;
	}
	return bad(c);
}

/* A function call; its name is the token. */
SMALL static struct ex call(struct compiler *c)
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
	};
	struct ex x;

	for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); i++)
		if (is(c, memory[i])) {
			next(c);
			return dynamic(c);
		}
	for (size_t i = 0; i < sizeof(writers) / sizeof(*writers); i++)
		if (is(c, writers[i])) {
			next(c);
			return writer(c, (int)i);
		}
	for (size_t i = 0; i < sizeof(owns) / sizeof(*owns); i++)
		if (owns[i] && is(c, owns[i])) {
			next(c);
			return own(c, (enum own)i);
		}
	if (is(c, "__get_dynamic_array_len") || is(c, "__get_rel_dynamic_array_len")) {
		next(c);
		x = dynamic(c);
		push(c, &x);
		step(c, OP_LENGTH);
		return on_stack(2, 0);
	}
	if (is(c, "__print_ns_to_secs") || is(c, "__print_ns_without_secs")) {
		enum operator op = c->s - c->from == 18 ? DIV : MOD;

		next(c);
		expect(c, '(');
		x = argument(c);
		expect(c, ')');
		x.size = 8;
		x.is_signed = 0;
		x = operate(c, op, x, constant(1000000000, 8, 0));
		if (op == MOD) {
			x.size = 4;
		}
		return x;
	}
	if (is(c, "__builtin_expect") || is(c, "__builtin_constant_p")) {
		int expects = is(c, "__builtin_expect");

		next(c);
		expect(c, '(');
		x = argument(c);
		if (expects)
			argument(c);
		expect(c, ')');
		if (expects)
			return x;
		if (!is_lazy(&x)) /* computed for nothing */
			return bad(c);
		return constant(0, 4, 1);
	}
	if (local(c)) {
		x = *local(c);
		next(c);
		return x;
	}
	if (is(c, "vmemmap_base") || is(c, "vmemmap")) {
		x = constant(c->evs->vmemmap, 8, 0);
		x.page = (uint8_t)is(c, "vmemmap"); /* a pointer, and the other a number */
		next(c);
		return x;
	}
	return known_constant(c);
}

/* ---- expressions ------------------------------------------------------------- */

SMALL static struct ex primary(struct compiler *c, int emit)
{
	struct ex x;

	if (c->token == T_NUMBER) {
		x = constant(c->number, c->number_size, c->number_signed);
		next(c);
	} else if (c->token == T_STRING) {
		x = (struct ex){ .kind = X_TEXT, .s = c->from };
		next(c);
	} else if (accept(c, '(')) {
		if (accept(c, '{')) {
			x = statements(c);
			expect(c, ')');
			return x;
		}
		if (is(c, "REC")) { /* (REC)->field */
			const char *was = c->from;

			next(c);
			if (accept(c, ')') && c->token == T_ARROW)
				return record_field(c);
			go_back(c, was);
		}
		x = ternary(c, emit);
		expect(c, ')');
	} else if (is(c, "REC")) {
		next(c);
		x = record_field(c);
	} else if (is(c, "NULL") || is(c, "false")) {
		x = constant(0, 4, 1);
		next(c);
	} else if (is(c, "true")) {
		x = constant(1, 4, 1);
		next(c);
	} else if (c->token == T_NAME) {
		x = call(c);
	} else {
		x = bad(c);
	}
	return x;
}

/* Element i of memory; i is not pushed yet when it is a constant or a field. */
static struct ex element(struct compiler *c, struct ex x, struct ex i)
{
	struct step *s;

	if (c->bad || !is_number(&i) || !x.elem)
		return bad(c);
	if (x.kind == X_HERE && i.kind == X_CONST && i.k < x.k / x.elem)
		return (struct ex){ .kind = X_FIELD, .n = x.n + (uint32_t)i.k * x.elem,
				    .size = x.elem, .read_size = x.elem,
				    .is_signed = x.elem_signed,
				    .read_signed = x.elem_signed };
	if (is_lazy(&x) && !is_lazy(&i)) {
		push_memory(c, &x);
		step(c, OP_SWAP);
	} else {
		push_memory(c, &x);
		push(c, &i);
	}
	s = step(c, OP_ELEMENT);
	s->size = x.elem;
	s->is_signed = x.elem_signed;
	return on_stack(x.elem, x.elem_signed);
}

static struct ex unary(struct compiler *c, int emit)
{
	struct type t;
	struct ex x;

	if (c->bad || ++c->depth > DEEPEST)
		return bad(c);
	if (accept(c, '!')) {
		x = unary_operate(c, NOT, unary(c, 0));
	} else if (accept(c, '~')) {
		x = unary_operate(c, INV, unary(c, 0));
	} else if (accept(c, '-')) {
		x = unary_operate(c, NEG, unary(c, 0));
	} else if (accept(c, '+')) {
		x = unary(c, 0);
	} else if (accept(c, '*')) {
		x = element(c, unary(c, 0), constant(0, 4, 1));
	} else if (accept(c, '&')) {
		x = unary(c, 0);
		if (x.kind == X_FIELD) {
			x.kind = X_HERE;
			x.k = x.elem = x.read_size;
			x.elem_signed = x.read_signed;
		} else if (x.kind != X_HERE && x.kind != X_LOC) {
			x = bad(c);
		}
	} else if (is(c, "sizeof")) {
		next(c);
		expect(c, '(');
		if (type_name(c, &t, ')')) {
			x = constant(t.pointer ? (unsigned)c->evs->long_size : t.size,
				     (unsigned)c->evs->long_size, 0);
			c->bad |= !x.k;
		} else {
			x = ternary(c, 0);
			if (x.kind == X_FIELD || x.kind == X_CONST || x.kind == X_HERE)
				x = constant(x.kind == X_HERE ? x.k : x.size,
					     (unsigned)c->evs->long_size, 0);
			else
				x = bad(c);
			expect(c, ')');
		}
	} else {
		int paren = c->token == '(';
		const char *was = c->from;

		if (paren)
			next(c);
		if (paren && type_name(c, &t, ')')) {
			x = cast(c, &t, unary(c, emit));
		} else {
			go_back(c, was);
			x = primary(c, emit);
			while (!c->bad && accept(c, '[')) {
				x = element(c, x, ternary(c, 0));
				expect(c, ']');
			}
		}
	}
	c->depth--;
	return x;
}

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

static struct ex binary(struct compiler *c, int level, int emit)
{
	struct ex a = unary(c, emit);
	enum operator op;
	int found;

	while (!c->bad && (found = precedence(c->token, &op)) >= level && found) {
		if (++c->depth > DEEPEST)
			return bad(c);
		next(c);
		a = operate(c, op, a, binary(c, found + 1, 0));
		c->depth--;
	}
	return a;
}

/* Write a string out. */
static void emit_string(struct compiler *c, struct ex x)
{
	struct step *s;

	switch (x.kind) {
	case X_DONE:
		break;
	case X_TEXT:
		add_literal(c, x.s);
		break;
	case X_HERE:
		s = writing(c, OP_HERE);
		s->n = x.n;
		s->k = x.k;
		break;
	case X_LOC:
		s = writing(c, OP_LOC);
		s->n = x.n;
		s->what = x.place;
		break;
	case X_REGION:
		writing(c, OP_STRING);
		break;
	case X_CONST:
		if (x.k)
			c->bad = 1;
		add_text(c, "(null)");
		break;
	case X_FIELD:
	case X_STACK: /* an address of the kernel's */
		push(c, &x);
		writing(c, OP_POINTED);
		break;
	default:
		c->bad = 1;
	}
}

static struct ex ternary(struct compiler *c, int emit)
{
	struct ex a, b, x;
	unsigned size;
	int is_signed;

	if (c->bad || ++c->depth > DEEPEST)
		return bad(c);
	a = binary(c, 1, emit);
	if (!c->bad && accept(c, '?')) {
		uint32_t over, out;

		if (!is_number(&a) && is_lazy(&a) && a.kind != X_DONE && a.kind != X_BAD)
			a = constant(1, 4, 1);
		push_number(c, &a);
		if (emit) {
			flush_text(c);
			over = c->p->nsteps;
			step(c, OP_JUMP_ZERO);
			emit_string(c, ternary(c, 1));
			flush_text(c);
			out = c->p->nsteps;
			step(c, OP_JUMP);
			expect(c, ':');
			if (c->bad)
				return bad(c);
			c->p->steps[over].n = c->p->nsteps;
			emit_string(c, ternary(c, 1));
			flush_text(c);
			if (c->bad)
				return bad(c);
			c->p->steps[out].n = c->p->nsteps;
			a = done();
		} else {
			b = ternary(c, 0);
			push(c, &b);
			expect(c, ':');
			x = ternary(c, 0);
			push(c, &x);
			if (b.kind != x.kind)
				return bad(c);
			step(c, OP_SELECT);
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

/* ---- the format string --------------------------------------------------------- */

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

static uint64_t keep_conversion(struct compiler *c, const struct conversion *v)
{
	struct conversion *kept = more(c, &c->p->conversions, c->p->nconversions,
				       sizeof(*kept), 4096);

	if (!kept)
		return 0;
	*kept = *v;
	return c->p->nconversions++;
}

static int stars(const struct conversion *v)
{
	return !!(v->flags & F_STAR) + !!(v->flags & F_STAR_PRECISION);
}

static void number_conversion(struct compiler *c, const struct conversion *v, struct ex x)
{
	int plain = !v->flags && v->width < 0;
	struct step *s;

	if (x.kind == X_FIELD && x.field && v->letter == 'x' &&
	    !strncmp(x.field->name, "__probe_", 8)) {
		/* the kernel has the symbol there */
		push(c, &x);
		writing(c, OP_OWN)->k = strcmp(x.field->name, "__probe_func")
						? OWN_PROBE : OWN_PROBE_BARE;
		return;
	}
	if (plain && x.kind == X_FIELD && strchr("dux", v->letter) &&
	    (v->size == x.read_size || v->size == 8 ||
	     (v->size > x.read_size && !x.read_signed))) {
		s = writing(c, OP_NUMBER);
		s->n = x.n;
		s->size = x.read_size;
		s->what = (uint8_t)v->letter;
		s->is_signed = v->size == x.read_size ? v->letter == 'd' : x.read_signed;
		return;
	}
	push_number(c, &x);
	s = writing(c, OP_PRINT);
	s->k = keep_conversion(c, v);
	c->stack -= stars(v);
}

/* The conversion's arguments, of which the comma in front is the token. */
SMALL static void conversion(struct compiler *c, const struct conversion *v)
{
	struct ex x;
	struct step *s;
	uint64_t k;

	for (int i = stars(v); i; i--) {
		expect(c, ',');
		x = ternary(c, 0);
		push_number(c, &x);
	}
	expect(c, ',');
	if (v->letter == 's') {
		int plain = !v->flags && v->width < 0;

		if (!plain) {
			flush_text(c);
			step(c, OP_PAD)->k = keep_conversion(c, v);
			c->stack -= stars(v);
		}
		emit_string(c, ternary(c, 1));
		if (!plain) {
			flush_text(c);
			step(c, OP_PADDED);
		}
		return;
	}
	x = ternary(c, 0);
	if (v->letter == 'p') {
		int number = is_number(&x);

		push(c, &x);
		k = keep_conversion(c, v);
		s = writing(c, OP_POINTER);
		s->k = k;
		s->what = (uint8_t)number;
		c->stack -= stars(v);
		return;
	}
	number_conversion(c, v, x);
}

/* "FORMAT", ARGUMENT... */
static void print_format(struct compiler *c, const char *text)
{
	char spec[24];
	const char *s;
	int ch;

	c->s = text;
	c->end = text + strlen(text);
	next(c);
	if (c->token != T_STRING) {
		c->bad = 1;
		return;
	}
	s = c->from + 1;
	next(c);
	while (!c->bad && (ch = literal_char(&s, c->end)) >= 0) {
		struct conversion v;
		const char *was = s, *behind;
		size_t n = 0;

		if (ch != '%') {
			add_char(c, (char)ch);
			continue;
		}
		/* look at what is behind it, escapes resolved; then take as many */
		while (n < sizeof(spec) && (ch = literal_char(&s, c->end)) >= 0)
			spec[n++] = (char)ch;
		behind = conversion_parse(&v, spec, spec + n, c->evs->long_size);
		s = was;
		for (; behind > spec; behind--)
			literal_char(&s, c->end);
		if (v.letter == '%')
			add_char(c, '%');
		else if (v.letter && strchr("duxXocsp", v.letter))
			conversion(c, &v);
		else
			c->bad = 1;
	}
}

/* ---- whole events ---------------------------------------------------------------- */

/*
 * The text of ftrace's own entries is made by functions of the kernel's, not by
 * their print fmt: here as what it should have been. A '!' in front: the text
 * brings its own newline.
 */
static const struct {
	const char *name, *fmt;
} own_formats[] = {
	{ "function", "\"%s%s%s\", __own_ip(REC->ip), REC->parent_ip ? \" <-\" : \"\", "
		"REC->parent_ip ? __own_ip(REC->parent_ip) : \"\"" },
	{ "print", "!\"%s: %s\", __own_ip(REC->ip), REC->buf" },
	{ "bputs", "!\"%s: %s\", __own_ip(REC->ip), REC->str" },
	{ "bprint", "!\"%s: %s\", __own_ip(REC->ip), __own_bprint(REC->fmt, REC->buf)" },
	{ "raw_data", "\"# %x buf:%s\", REC->id, __own_bytes(REC->buf)" },
	{ "kernel_stack", "!\"<stack trace>\\n%s\", __own_stack(REC->caller)" },
	{ "user_stack", "!\"<user stack trace>\\n%s\", __own_user_stack(REC->caller)" },
	{ "hwlat", "\"#%-5u inner/outer(us): %4llu/%-5llu ts:%lld.%09ld count:%d\", "
		"REC->seqnum, REC->duration, REC->outer_duration, REC->tv_sec, REC->tv_nsec, "
		"REC->count" },
	{ "osnoise", "\"%llu %10llu %3llu.%05llu %7llu %6u %6u %6u %6u %6u\", "
		"REC->runtime, REC->noise, "
		"(REC->runtime - REC->noise) * 10000000 / REC->runtime / 100000, "
		"(REC->runtime - REC->noise) * 10000000 / REC->runtime % 100000, "
		"REC->max_sample, REC->hw_count, REC->nmi_count, REC->irq_count, "
		"REC->softirq_count, REC->thread_count" },
	{ "timerlat", "\"#%-5u context %6s timer_latency %9llu ns\", REC->seqnum, "
		"REC->context == 2 ? \"user-ret\" : REC->context ? \"thread\" : \"irq\", "
		"REC->timer_latency" },
	{ "func_repeats", "\"%s%s%s (repeats: %u, last_ts:%s)\", __own_ip(REC->ip), "
		"REC->parent_ip ? \" <-\" : \"\", "
		"REC->parent_ip ? __own_ip(REC->parent_ip) : \"\", REC->count, "
		"__own_time(((u64)REC->top_delta_ts << 32) | REC->bottom_delta_ts)" },
};

/* The number in front of a name in a table of flags: 0xNUMBER, "NAME" */
static uint64_t flag_in(const char *table, const char *name)
{
	const char *end = strstr(table, name), *s = end;

	while (s && s > table && *s != 'x')
		s--;
	s += s != NULL;
	return s ? hex_at(&s, end) : 0;
}

/*
 * openat, since 7.0: numbers are decimal, flags have names, the mode is there
 * where it counts. The table of the format lacks the first name of the kernel's.
 */
SMALL static void openat_call(struct compiler *c)
{
	enum { O_TMPFILE_ITSELF = 020000000 };
	const char *table = strchr(c->e->print_fmt, '{'), *end = strrchr(c->e->print_fmt, '}');
	uint64_t tmpfile, creat;
	char fmt[2048];

	if (!table || !end || end - table > 1500) {
		c->bad = 1;
		return;
	}
	tmpfile = O_TMPFILE_ITSELF | flag_in(table, "\"O_DIRECTORY\"");
	creat = flag_in(table, "\"O_CREAT\"");
	format(fmt, sizeof(fmt),
	       "\"sys_openat(dfd: %%lu, filename: %%lu \\\"%%s\\\", flags: %%s%%s%%s)\\n\", "
	       "(unsigned long)REC->dfd, (unsigned long)REC->filename, __get_str(__filename_val), "
	       "REC->flags & 3 || !REC->flags ? \"\" : \"O_RDONLY|\", "
	       "REC->flags ? __print_flags(REC->flags, \"|\", { %llu, \"O_TMPFILE\" }, %.*s) "
	       ": \"O_RDONLY\", REC->flags & %llu ? __own_mode(REC->mode) : \"\"",
	       (unsigned long long)tmpfile, (int)(end + 1 - table), table,
	       (unsigned long long)(tmpfile | creat));
	print_format(c, fmt);
}

/* sys_NAME(argument: value, ...) */
SMALL static void system_call(struct compiler *c, const char *name)
{
	const struct event *e = c->e;
	int n = 0;

	add_text(c, "sys_");
	add_text(c, name);
	add_char(c, '(');
	for (unsigned i = e->ncommon; i < e->nfields; i++) {
		const struct field *f = &e->fields[i], *user = NULL;
		size_t len = strlen(f->name);
		struct step *s;

		/* what the kernel read from user space has its pointer's place */
		if (!strcmp(f->name, "__syscall_nr") || f->place)
			continue;
		for (unsigned j = e->ncommon; j < e->nfields; j++)
			if (e->fields[j].place == PLACE_DATA_LOC &&
			    !strncmp(e->fields[j].name, "__", 2) &&
			    !strncmp(e->fields[j].name + 2, f->name, len) &&
			    !strcmp(e->fields[j].name + 2 + len, "_val"))
				user = &e->fields[j];
		if (n++)
			add_text(c, ", ");
		add_text(c, f->name);
		add_text(c, ": ");
		s = writing(c, OP_ARGUMENT);
		s->n = f->offset;
		s->size = (uint8_t)c->evs->long_size;
		/* without 0x, once */
		s->what = c->evs->version && c->evs->version < KERNEL(6, 13);
		if (!user)
			continue;
		if (strstr(e->print_fmt, "__get_str")) {
			add_text(c, " \"");
			emit_string(c, (struct ex){ .kind = X_LOC, .n = user->offset,
						    .place = PLACE_DATA_LOC });
			add_char(c, '"');
		} else if (i + 1 < e->nfields) { /* its length is the next argument */
			struct ex length = field_ex(c, &e->fields[i + 1]);
			struct ex x = { .kind = X_LOC, .n = user->offset,
					.place = PLACE_DATA_LOC };

			add_char(c, ' ');
			push(c, &length);
			push(c, &x);
			writing(c, OP_OWN)->k = OWN_BUFFER;
			c->stack--;
		}
	}
	add_text(c, ")\n");
}

SMALL static void whole(struct compiler *c)
{
	const struct event *e = c->e;
	const char *fmt = e->print_fmt;
	const struct field *ret;

	if (!strcmp(e->system, "syscalls") && !strcmp(e->name, "sys_enter_openat") &&
	    strstr(fmt, "\"O_RDONLY\"")) {
		openat_call(c);
	} else if (!strcmp(e->system, "syscalls") && !strncmp(e->name, "sys_enter_", 10)) {
		system_call(c, e->name + 10);
	} else if (!strcmp(e->system, "syscalls") && !strncmp(e->name, "sys_exit_", 9) &&
		   (ret = event_field(e, "ret"))) {
		add_text(c, "sys_");
		add_text(c, e->name + 9);
		add_text(c, " -> 0x");
		number_conversion(c, &(struct conversion){ .letter = 'x', .width = -1,
				  .size = (uint8_t)ret->size }, field_ex(c, ret));
		add_char(c, '\n');
	} else if (!strcmp(e->system, "ftrace")) {
		for (size_t i = 0; i < sizeof(own_formats) / sizeof(*own_formats); i++)
			if (!strcmp(e->name, own_formats[i].name))
				fmt = own_formats[i].fmt;
		print_format(c, fmt + (*fmt == '!'));
		if (*fmt != '!')
			add_char(c, '\n');
	} else {
		add_text(c, e->name);
		add_text(c, ": ");
		print_format(c, fmt);
		add_char(c, '\n');
	}
}

static void forget(struct compiler *c)
{
	struct program *p = c->p;

	free(p->steps);
	free(p->names);
	free(p->tables);
	free(p->conversions);
	free(p->text);
	*p = (struct program){ 0 };
	c->bad = c->depth = c->stack = 0;
	c->text_at = 0;
	c->nlocals = 0;
}

struct program *program_make(const struct events *evs, struct event *e)
{
	struct compiler c = { .evs = evs, .e = e, .p = calloc(1, sizeof(*c.p)) };

	if (!c.p)
		return NULL;
	whole(&c);
	e->opaque = c.bad || c.stack;
	if (e->opaque) {
		forget(&c);
		add_text(&c, e->name);
		add_char(&c, ':');
		writing(&c, OP_FIELDS);
		add_char(&c, '\n');
	}
	writing(&c, OP_END);
	/* text is copied in pieces of that size */
	for (int i = 0; i < TEXT_SLACK; i++)
		add_char(&c, ' ');
	if (c.bad) {
		program_free(c.p);
		return NULL;
	}
	return c.p;
}

void program_free(struct program *p)
{
	if (!p)
		return;
	free(p->steps);
	free(p->names);
	free(p->tables);
	free(p->conversions);
	free(p->text);
	free(p);
}
