/* SPDX-License-Identifier: ISC */
/* expression.c - C expressions over a record */
#include "compile.h"

SMALL static struct ex primary(struct compiler *c, int emit)
{
	struct ex x;

	if (c->token == T_NUMBER) {
		x = constant(c->number, c->number_size, c->number_signed);
		next_token(c);
	} else if (c->token == T_STRING) {
		x = (struct ex){ .kind = X_TEXT, .s = c->from };
		next_token(c);
	} else if (took(c, '(')) {
		if (took(c, '{')) {
			x = statements(c);
			need(c, ')');
			return x;
		}
		if (token_is(c, "REC")) { /* (REC)->field */
			const char *was = c->from;

			next_token(c);
			if (took(c, ')') && c->token == T_ARROW)
				return record_field(c);
			back_to(c, was);
		}
		x = ternary(c, emit);
		need(c, ')');
	} else if (token_is(c, "REC")) {
		next_token(c);
		x = record_field(c);
	} else if (token_is(c, "NULL") || token_is(c, "false")) {
		x = constant(0, 4, 1);
		next_token(c);
	} else if (token_is(c, "true")) {
		x = constant(1, 4, 1);
		next_token(c);
	} else if (c->token == T_NAME) {
		x = macro_call(c);
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
	if (took(c, '!')) {
		x = unary_operate(c, NOT, unary(c, 0));
	} else if (took(c, '~')) {
		x = unary_operate(c, INV, unary(c, 0));
	} else if (took(c, '-')) {
		x = unary_operate(c, NEG, unary(c, 0));
	} else if (took(c, '+')) {
		x = unary(c, 0);
	} else if (took(c, '*')) {
		x = element(c, unary(c, 0), constant(0, 4, 1));
	} else if (took(c, '&')) {
		x = unary(c, 0);
		if (x.kind == X_FIELD) {
			x.kind = X_HERE;
			x.k = x.elem = x.read_size;
			x.elem_signed = x.read_signed;
		} else if (x.kind != X_HERE && x.kind != X_LOC) {
			x = bad(c);
		}
	} else if (token_is(c, "sizeof")) {
		next_token(c);
		need(c, '(');
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
			need(c, ')');
		}
	} else {
		int paren = c->token == '(';
		const char *was = c->from;

		if (paren)
			next_token(c);
		if (paren && type_name(c, &t, ')')) {
			x = cast(c, &t, unary(c, emit));
		} else {
			back_to(c, was);
			x = primary(c, emit);
			while (!c->bad && took(c, '[')) {
				x = element(c, x, ternary(c, 0));
				need(c, ']');
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
		next_token(c);
		a = operate(c, op, a, binary(c, found + 1, 0));
		c->depth--;
	}
	return a;
}

/* Write a string out. */
void emit_string(struct compiler *c, struct ex x)
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

struct ex ternary(struct compiler *c, int emit)
{
	struct ex a, b, x;
	unsigned size;
	int is_signed;

	if (c->bad || ++c->depth > DEEPEST)
		return bad(c);
	a = binary(c, 1, emit);
	if (!c->bad && took(c, '?')) {
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
			need(c, ':');
			if (c->bad)
				return bad(c);
			c->p->steps[over].n = c->p->nsteps;
			emit_string(c, ternary(c, 1));
			flush_text(c);
			if (c->bad)
				return bad(c);
			c->p->steps[out].n = c->p->nsteps;
			a = written();
		} else {
			b = ternary(c, 0);
			push(c, &b);
			need(c, ':');
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
