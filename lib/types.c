/* SPDX-License-Identifier: ISC */
/* types.c - names of types in a print fmt, and casts */
#include "compile.h"

/* Is the token a variable of statements in parentheses? */
const struct ex *local_of(const struct compiler *c)
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

	if (local_of(c))
		return 0;
	if (sized_type(c->from, n, t))
		return 1;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (token_is(c, types[i].name)) {
			t->size = types[i].size ? types[i].size
						: (uint8_t)c->evs->long_size;
			t->is_signed = types[i].is_signed;
			t->is_bool = token_is(c, "bool") || token_is(c, "_Bool");
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
int type_name(struct compiler *c, struct type *t, int behind)
{
	const char *was = c->from;
	int words = 0, longs = 0, u = 0, s = 0, named = 0;
	uint8_t size = 4;

	*t = (struct type){ .is_signed = 1 };
	for (; c->token == T_NAME; next_token(c)) {
		if (token_is(c, "const") || token_is(c, "volatile") || token_is(c, "__force") ||
		    token_is(c, "__user") || token_is(c, "__kernel") || token_is(c, "__iomem"))
			continue;
		if (token_is(c, "unsigned"))
			u = 1;
		else if (token_is(c, "signed"))
			s = 1;
		else if (token_is(c, "long"))
			longs++;
		else if (token_is(c, "char"))
			size = 1;
		else if (token_is(c, "short"))
			size = 2;
		else if (token_is(c, "void"))
			size = 1, u = 1;
		else if (token_is(c, "struct") || token_is(c, "union") || token_is(c, "enum")) {
			int is_enum = token_is(c, "enum");

			next_token(c);
			if (c->token != T_NAME || named)
				break;
			named = 1;
			t->is_page = (uint8_t)token_is(c, "page");
			t->size = is_enum ? 4 : 0;
			t->is_signed = 0;
		} else if (!token_is(c, "int")) {
			if (named || words || token_is(c, "REC") || !named_type(c, t))
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
	for (; c->token == '*'; next_token(c)) {
		if (t->pointer) { /* to a pointer */
			t->size = (uint8_t)c->evs->long_size;
			t->is_signed = 0;
		}
		t->pointer = 1;
		while (token_is(c, "const"))
			next_token(c);
	}
	if (words && c->token == behind && !c->bad) {
		next_token(c);
		return 1;
	}
	/* "int x": the name was taken for a type */
	if (behind == T_NAME && words && c->token == '=' && !c->bad)
		return 1;
	back_to(c, was);
	return 0;
}

SMALL struct ex cast(struct compiler *c, const struct type *t, struct ex x)
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
