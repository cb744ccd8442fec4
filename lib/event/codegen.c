/* SPDX-License-Identifier: ISC */
/*
 * codegen.c - add text and instructions to a program, and compute constant expressions
 */

#include "event/event.h"
#include "event/compile.h"
#include "event/vm.h"

/* ---- text and instructions ---- */

void *array_grow(struct compiler *c, void *v, uint32_t n, size_t size, uint32_t most)
{
	char **at = v, *grown = c->bad || n >= most ? NULL : array_more(*at, n, size);

	if (!grown) {
		c->bad = 1;
		return NULL;
	}
	*at = grown;
	return *at + n * size;
}

void emit_char(struct compiler *c, char ch)
{
	char *p = c->bad ? NULL : array_grow(c, &c->p->text, c->p->ntext, 1, MAX_TEXT);

	if (p) {
		*p = ch;
		c->p->ntext++;
	}
}

void emit_text(struct compiler *c, const char *s)
{
	while (*s)
		emit_char(c, *s++);
}

/* Return by how many numbers the instruction makes the stack longer. */
static int stack_effect(enum op op)
{
	switch (op) {
	case OP_CONST: case OP_FIELD: case OP_REGION: case OP_LOCATE:
		return 1;
	case OP_ELEMENT: case OP_BINARY: case OP_JUMP_ZERO: case OP_PRINT:
	case OP_FLAGS: case OP_SYMBOLIC: case OP_HEX: case OP_BITS: case OP_STRING:
	case OP_POINTED: case OP_POINTER: case OP_BUILTIN:
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

struct vm_insn *emit_insn(struct compiler *c, enum op op)
{
	static struct vm_insn nowhere;
	struct vm_insn *s = array_grow(c, &c->p->insns, c->p->ninsns, sizeof(*s), MAX_INSNS);

	if (!s)
		return &nowhere;
	c->p->ninsns++;
	*s = (struct vm_insn){ .op = (uint8_t)op };
	c->stack += stack_effect(op);
	if (c->stack > STACK_ROOM || c->stack < 0)
		c->bad = 1;
	return s;
}

struct vm_insn *emit_text_insn(struct compiler *c, enum op op)
{
	struct vm_insn *s = emit_insn(c, op);

	s->text = c->text_at;
	s->len = c->p->ntext - c->text_at;
	c->text_at = c->p->ntext;
	return s;
}

void emit_pending_text(struct compiler *c)
{
	if (c->p->ntext != c->text_at)
		emit_text_insn(c, OP_TEXT);
}

/* ---- numbers ---- */

void emit_push(struct compiler *c, struct expr *x)
{
	struct vm_insn *s;

	switch (x->kind) {
	case X_CONST:
		emit_insn(c, OP_CONST)->k = x->k;
		break;
	case X_FIELD:
		s = emit_insn(c, OP_FIELD);
		s->n = x->n + x->read_size;
		s->size = x->read_size;
		s->is_signed = x->read_signed;
		break;
	case X_TEXT: /* a literal as a condition is true */
		emit_insn(c, OP_CONST)->k = 1;
		break;
	case X_HERE:
		s = emit_insn(c, OP_REGION);
		s->n = x->n;
		s->k = x->k;
		break;
	case X_LOC:
		s = emit_insn(c, OP_LOCATE);
		s->n = x->n;
		s->arg = x->place;
		break;
	case X_STACK:
	case X_REGION:
		return;
	default:
		c->bad = 1;
	}
	x->kind = x->kind == X_HERE || x->kind == X_LOC ? X_REGION : X_STACK;
}

void emit_push_number(struct compiler *c, struct expr *x)
{
	if (!is_number(x))
		c->bad = 1;
	emit_push(c, x);
}

/* Apply C's integer promotions. */
static void promote(struct expr *x)
{
	if (x->size && x->size < 4) {
		x->size = 4;
		x->is_signed = 1;
	}
}

void common_type(struct expr *a, struct expr *b, unsigned *size, int *is_signed)
{
	promote(a);
	promote(b);
	*size = a->size > b->size ? a->size : b->size;
	*is_signed = a->size == b->size ? a->is_signed && b->is_signed
		     : a->size > b->size ? a->is_signed : b->is_signed;
	if (!a->size || !b->size) { /* an unknown type: take the widest */
		*size = 8;
		*is_signed = 1;
	}
}

/* A string or an array as a condition is true. */
static void condition(struct expr *x)
{
	if (!is_number(x) && is_lazy(x))
		*x = constant(1, 4, 1);
}

/* Compute the operator at once, or add its instruction, for operands of that type. */
static struct expr operate(struct compiler *c, enum operator op, struct expr a, struct expr b,
			   unsigned size, int is_signed)
{
	int swap = is_lazy(&a) && !is_lazy(&b);
	struct vm_insn *s;

	if (a.kind == X_CONST && b.kind == X_CONST) {
		a.k = vm_calculate(op, a.k, b.k, size, is_signed);
		return a;
	}
	emit_push(c, &a);
	if (swap)
		emit_insn(c, OP_SWAP);
	if (b.kind != X_CONST)
		emit_push(c, &b);
	s = emit_insn(c, b.kind == X_CONST ? OP_BINARY_K : OP_BINARY);
	s->k = b.kind == X_CONST ? b.k : 0;
	s->arg = (uint8_t)op;
	s->size = (uint8_t)size;
	s->is_signed = (uint8_t)is_signed;
	return a;
}

struct expr emit_binary(struct compiler *c, enum operator op, struct expr a, struct expr b)
{
	unsigned size;
	int is_signed;

	if (op == LAND || op == LOR || op == EQ || op == NE) {
		condition(&a);
		condition(&b);
	}
	if (c->bad || !is_number(&a) || !is_number(&b))
		return compile_fail(c);
	if (a.page && !b.pointer && (op == ADD || op == SUB)) {
		/* pointer arithmetic: a struct page has 64 bytes */
		b.size = 8;
		b = emit_binary(c, MUL, b, constant(64, 8, 0));
		a.page = 0;
		a = emit_binary(c, op, a, b);
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
	a = operate(c, op, a, b, size, is_signed);
	if (op >= EQ && op <= LOR) {
		size = 4;
		is_signed = 1;
	}
	a.size = (uint8_t)size;
	a.is_signed = (uint8_t)is_signed;
	a.pointer = 0;
	return a;
}

uint64_t vm_calculate(enum operator op, uint64_t a, uint64_t b, unsigned size, int is_signed)
{
	int64_t sa, sb;
	unsigned bits = size * 8;

	a = vm_extend(a, size, is_signed);
	if (op != SHL && op != SHR)
		b = vm_extend(b, size, is_signed);
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
	case SWAP:
		a = size == 2 ? __builtin_bswap16((uint16_t)a) :
		    size == 4 ? __builtin_bswap32((uint32_t)a) :
		    size == 8 ? __builtin_bswap64(a) : a;
		break;
	}
	return vm_extend(a, size, is_signed);
}

struct expr emit_unary(struct compiler *c, enum operator op, struct expr a)
{
	struct vm_insn *s;

	if (op == NOT && !is_number(&a) && is_lazy(&a) && a.kind != X_BAD)
		return constant(0, 4, 1);
	if (op != SWAP)
		promote(&a);
	if (!is_number(&a))
		return compile_fail(c);
	if (!a.size) {
		a.size = 8;
		a.is_signed = 1;
	}
	if (a.kind == X_CONST) {
		a.k = vm_calculate(op, a.k, 0, a.size, a.is_signed);
	} else {
		emit_push(c, &a);
		s = emit_insn(c, OP_UNARY);
		s->arg = (uint8_t)op;
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
