/* SPDX-License-Identifier: ISC */
/*
 * compile.h - what the parts of the compiler of print fmts share
 *
 * A print fmt is C as a macro left it: a string, and expressions over the
 * record. One pass, no tree: an expression is a description (struct ex) of what
 * is still to be done, which keeps constants and fields off the stack until
 * somebody needs them there, and lets a conversion of a plain field become one
 * step.
 *
 * What a %s takes is compiled by the same functions with emit set: what they
 * then meet of strings is written out by the steps they make, where it stands.
 *
 * A print fmt that is not understood sets bad, and that is all: whoever loops
 * looks at it, and bytecode_make throws away what was made.
 */
#ifndef EVENT_COMPILE_H
#define EVENT_COMPILE_H

#include "event/event.h"
#include "event/vm.h"

/* Inlined where it is called once, as it is to be small, each is larger. */
#define SMALL __attribute__((noinline))

enum expr_kind {
	X_BAD, X_CONST, X_FIELD, X_STACK,       /* numbers */
	X_HERE, X_LOC, X_REGION,                /* memory */
	X_TEXT,                                 /* a literal, its source at s */
	X_DONE,                                 /* written */
};

struct expr {
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
	const struct event_set *evs;
	struct event *e;
	struct bytecode *p;
	const char *s, *end;            /* behind the token */
	int token;
	const char *from;               /* its first character */
	uint64_t number;
	uint8_t number_size, number_signed;
	uint32_t text_at;               /* text behind it is of no step yet */
	struct local {                  /* of a statement in parentheses, as min() */
		const char *name;
		size_t len;
		struct expr x;
	} locals[4];
	unsigned nlocals;
	int bad, depth, stack;
};

struct c_type {
	uint8_t size, is_signed;        /* of what it is, or points to; 0: who knows */
	uint8_t pointer, is_bool, is_page;
};

enum { DEEPEST = 120, MOST_STEPS = 4096, MOST_TEXT = 1 << 20 };

static inline struct expr compile_fail(struct compiler *c)
{
	c->bad = 1;
	return (struct expr){ .kind = X_BAD };
}

static inline struct expr constant(uint64_t k, unsigned size, int is_signed)
{
	return (struct expr){ .kind = X_CONST, .size = (uint8_t)size,
			    .is_signed = (uint8_t)is_signed, .k = k };
}

static inline struct expr on_stack(unsigned size, int is_signed)
{
	return (struct expr){ .kind = X_STACK, .size = (uint8_t)size,
			    .is_signed = (uint8_t)is_signed };
}

static inline struct expr written(void)
{
	return (struct expr){ .kind = X_DONE };
}

static inline int is_number(const struct expr *x)
{
	return x->kind == X_CONST || x->kind == X_FIELD || x->kind == X_STACK;
}

static inline int is_lazy(const struct expr *x)
{
	return x->kind != X_STACK && x->kind != X_REGION;
}

/* ---- token.c: c->token is the one that is looked at --------------------------- */

static inline int is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

static inline int is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

void lexer_next(struct compiler *c);

/* Back to the token that starts there. */
void lexer_back_to(struct compiler *c, const char *from);

/* Is it that token? 1, and it is left behind. */
int lexer_accept(struct compiler *c, int token);

/* The same, and all else is bad. */
void lexer_expect(struct compiler *c, int token);

/* Is it that name? */
int lexer_at_name(const struct compiler *c, const char *name);

/*
 * The next character of a literal, escapes resolved, *at behind it; -1 at the end
 * of the literal and of those that follow it. *at starts behind the first quote.
 */
int lexer_literal_char(const char **at, const char *end);

/* The literal that starts at s, with its quote, to the program's text. */
void emit_literal_text(struct compiler *c, const char *s);

/* ---- steps.c: the program as it is made ----------------------------------------- */

/* Room for one more in the n elements at *v, a malloc'd array; NULL: c is bad. */
void *array_grow(struct compiler *c, void *v, uint32_t n, size_t size, uint32_t most);

/* Text that the next step that writes will have in front. */
void emit_char(struct compiler *c, char ch);
void emit_text(struct compiler *c, const char *s);

/* One more step; never NULL. writing: one that has the text so far in front. */
struct vm_insn *emit_insn(struct compiler *c, enum op op);
struct vm_insn *emit_text_insn(struct compiler *c, enum op op);

/* The text so far by a step of its own, before a jump. */
void emit_pending_text(struct compiler *c);

/* Onto the stack, if it is not there; emit_push_number: bad, if it is no number. */
void emit_push(struct compiler *c, struct expr *x);
void emit_push_number(struct compiler *c, struct expr *x);

/* The type that both operands have: the usual arithmetic conversions. */
void common_type(struct expr *a, struct expr *b, unsigned *size, int *is_signed);

/* What C makes of operands, at once or by steps. */
struct expr emit_binary(struct compiler *c, enum operator op, struct expr a, struct expr b);
struct expr emit_unary(struct compiler *c, enum operator op, struct expr a);

/* ---- types.c ---------------------------------------------------------------------- */

/* ---- macros.c: what the kernel's macros make -------------------------------------- */

/* ---- expression.c ------------------------------------------------------------------- */

#endif
