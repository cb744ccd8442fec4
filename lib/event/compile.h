/* SPDX-License-Identifier: ISC */
/*
 * compile.h - the compiler of print fmts: what lexer.c, codegen.c and compile.c share
 *
 * A print fmt is the C text that a macro of the kernel left: a string, and expressions over
 * the record. The compiler makes one pass and no tree. struct expr describes an expression
 * whose code is not complete yet: constants and fields stay off the stack until an
 * instruction needs them there, and a conversion of a plain field becomes one instruction.
 *
 * The argument of a %s is compiled by the same functions with emit set: they make
 * instructions that write each string in its place.
 *
 * If the compiler meets something unsupported, it sets compiler.bad. Each loop checks bad, and
 * bytecode_make discards the code.
 */
#ifndef EVENT_COMPILE_H
#define EVENT_COMPILE_H

#include "event/event.h"
#include "event/vm.h"

enum expr_kind {
	X_BAD,                                  /* not supported; compiler.bad is set */
	/* numbers */
	X_CONST,                                /* k */
	X_FIELD,                                /* the number at offset n */
	X_STACK,                                /* on the stack */
	/* memory of the record */
	X_HERE,                                 /* k bytes at offset n */
	X_LOC,                                  /* located by the u32 at offset n */
	X_REGION,                               /* a region on the stack */
	/* strings */
	X_TEXT,                                 /* a literal; its source is s */
	X_DONE,                                 /* already written by an instruction */
};

struct expr {
	uint8_t kind;
	uint8_t size, is_signed;        /* its type: 1 2 4 8 bytes; 0: not known */
	uint8_t read_size, read_signed; /* X_FIELD: its type in the record */
	uint8_t pointer;                /* a number that is an address */
	uint8_t page;                   /* an address of a struct page */
	uint8_t elem, elem_signed;      /* memory: the type of its elements */
	uint8_t place;                  /* X_LOC: enum field_place */
	uint32_t n;                     /* offset in the record */
	union {
		uint64_t k;             /* the constant; bytes of X_HERE */
		const char *s;
		const struct field *field; /* X_FIELD */
	};
};

enum token {
	T_END, T_NUMBER, T_STRING, T_NAME,
	T_ARROW, T_SHL, T_SHR, T_LE, T_GE, T_EQ, T_NE, T_AND, T_OR,
	/* the value of each other token is its character */
};

struct compiler {
	const struct event_set *evs;
	struct event *e;
	struct bytecode *p;
	const char *s, *end;            /* the text after the token */
	int token;
	const char *from;               /* first character of the token */
	uint64_t number;                /* value and type of T_NUMBER */
	uint8_t number_size, number_signed;
	uint32_t text_at;               /* text from here on belongs to no instruction yet */
	const struct field *field;      /* the field that was found last */
	struct local {                  /* variables of a ({ ... }) as of min() */
		const char *name;
		size_t len;
		struct expr x;
	} locals[4];
	unsigned nlocals;
	int bad, depth;
	int whole;                      /* the text of the event is one string */
	int stack;                      /* numbers that the code so far leaves on the stack */
};

struct c_type {
	uint8_t size, is_signed;        /* of the type, or of the target; size 0: not known */
	uint8_t pointer, is_bool, is_page;
};

/*
 * types.c: find the type of that name, such as u8 or pid_t, and its size. Return 1, or 0 if it is
 * not known.
 */
int type_named(const char *s, size_t n, unsigned long_size, struct c_type *);

enum { MAX_DEPTH = 120, MAX_INSNS = 4096, MAX_TEXT = 1 << 20 };

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

/* Is the expression still off the stack? */
static inline int is_lazy(const struct expr *x)
{
	return x->kind != X_STACK && x->kind != X_REGION;
}

/* ---- lexer.c: split a print fmt into tokens -------------------------------------- */

static inline int is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

static inline int is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

/* Read the next token into c->token. */
void lexer_next(struct compiler *c);

/* Go back to the token that starts at from. */
void lexer_back_to(struct compiler *c, const char *from);

/* Skip the token if it is this one. Return 1 if it was, else 0. */
int lexer_accept(struct compiler *c, int token);

/* Skip the token if it is this one; set bad if it is another. */
void lexer_expect(struct compiler *c, int token);

/* Is the token this name? */
int lexer_at_name(const struct compiler *c, const char *name);

/*
 * Return the next character of a string literal with its escape resolved, and move *at after
 * it. Adjacent literals are one. Return -1 at the end. *at starts after the first quote.
 */
int lexer_literal_char(const char **at, const char *end);

/* Add the text of the literal that starts at s, with its quote. */
void emit_literal_text(struct compiler *c, const char *s);

/* ---- codegen.c: add text and instructions to the program --------------------------- */

/*
 * Make room for one more element in the array *v of n elements; *v is NULL or from malloc. Return
 * the new element. Set bad and return NULL if n has reached most or memory ran out.
 */
void *array_grow(struct compiler *c, void *v, uint32_t n, size_t size, uint32_t most);

/* Add text that the next writing instruction writes first. */
void emit_char(struct compiler *c, char ch);
void emit_text(struct compiler *c, const char *s);

/* Add an instruction; never NULL. emit_text_insn also gives it the text so far. */
struct vm_insn *emit_insn(struct compiler *c, enum op op);
struct vm_insn *emit_text_insn(struct compiler *c, enum op op);

/* Give the text so far an instruction of its own; call it before a jump. */
void emit_pending_text(struct compiler *c);

/* Push the expression onto the stack, if it is not there. */
void emit_push(struct compiler *c, struct expr *x);

/* Do as emit_push, but set bad if the expression is not a number. */
void emit_push_number(struct compiler *c, struct expr *x);

/* Find the common type of two operands: C's usual arithmetic conversions. */
void common_type(struct expr *a, struct expr *b, unsigned *size, int *is_signed);

/* Apply an operator as C does: compute constants at once, else add an instruction. */
struct expr emit_binary(struct compiler *c, enum operator op, struct expr a, struct expr b);
struct expr emit_unary(struct compiler *c, enum operator op, struct expr a);

#endif
