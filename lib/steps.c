/* SPDX-License-Identifier: ISC */
/*
 * steps.c - the steps of a program as they are made, and what is computed at once
 */
#include <stdlib.h>

#include "compile.h"

/* ---- what is made ---------------------------------------------------------- */

/* Room for one more in the n elements at *v; NULL, and bad, without memory. */
void *one_more(struct compiler *c, void *v, uint32_t n, size_t size, uint32_t most)
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

void add_char(struct compiler *c, char ch)
{
	char *p = c->bad ? NULL : one_more(c, &c->p->text, c->p->ntext, 1, MOST_TEXT);

	if (p) {
		*p = ch;
		c->p->ntext++;
	}
}

void add_text(struct compiler *c, const char *s)
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

struct step *step(struct compiler *c, enum op op)
{
	static struct step nowhere;
	struct step *s = one_more(c, &c->p->steps, c->p->nsteps, sizeof(*s), MOST_STEPS);

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
struct step *writing(struct compiler *c, enum op op)
{
	struct step *s = step(c, op);

	s->text = c->text_at;
	s->len = c->p->ntext - c->text_at;
	c->text_at = c->p->ntext;
	return s;
}

void flush_text(struct compiler *c)
{
	if (c->p->ntext != c->text_at)
		writing(c, OP_TEXT);
}

/* ---- numbers --------------------------------------------------------------- */

void push(struct compiler *c, struct ex *x)
{
	struct step *s;

	switch (x->kind) {
	case X_CONST:
		step(c, OP_CONST)->k = x->k;
		break;
	case X_FIELD:
		s = step(c, OP_FIELD);
		s->n = x->n + x->read_size;
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

void push_number(struct compiler *c, struct ex *x)
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
void common_type(struct ex *a, struct ex *b, unsigned *size, int *is_signed)
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

struct ex operate(struct compiler *c, enum operator op, struct ex a, struct ex b)
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

struct ex unary_operate(struct compiler *c, enum operator op, struct ex a)
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
