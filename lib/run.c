/* SPDX-License-Identifier: ISC */
/*
 * run.c - the machine that a compiled print fmt runs on
 *
 * Bounds: what is read from the record is checked where its offset becomes
 * known, what is written by whoever writes it; a stack deep enough and jumps
 * that only go forward are the compiler's promise.
 */
#include "run.h"

/* A program's text, behind which there is more to read; behind what it takes. */
HOT static inline char *text_to(char *at, char *end, const char *s, size_t n)
{
	struct out o = { at, end };

	if (n <= TEXT_SLACK && (size_t)(end - at) >= TEXT_SLACK) {
		memcpy(at, s, TEXT_SLACK);
		return at + n;
	}
	put(&o, s, n);
	return o.at;
}

/* Write a string of the record, up to its NUL, as put_data does. */
HOT static inline char *string_to(char *at, char *end, const struct events *evs,
				  const struct record *r, uint64_t where)
{
	uint32_t from = (uint32_t)where, n = (uint32_t)(where >> 32);
	const unsigned char *s = r->data + from;
	struct out o;

	if (from > r->len || n > r->len - from)
		return at;
	for (; n >= 8 && end - at >= 8; n -= 8, s += 8) {
		unsigned some = plain_bytes(s);

		memcpy(at, s, 8);
		at += some;
		if (some == 8)
			continue;
		s += some;
		if (!*s)
			return at;
		n -= some;
		break;
	}
	for (; n && at < end && (unsigned char)(*s - ' ') < 0x7f - ' '; n--)
		*at++ = (char)*s++;
	if (!n || !*s)
		return at;
	o = (struct out){ at, end };
	put_data(&o, (const char *)s, strnlen((const char *)s, n), evs->exact);
	return o.at;
}

/* As number_at, of the few that end within the first eight bytes: kept out of its way. */
static uint64_t common_number(const struct record *r, const struct step *s, int is_signed,
			      int big)
{
	return get(r->data + s->n - s->size, s->size, is_signed, big);
}

/* The number of size bytes that ends at s->n; of one behind the record 0. */
HOT static inline uint64_t number_at(const struct record *r, const struct step *s,
				     int is_signed, int big)
{
	unsigned shift = 64 - 8u * s->size;
	uint64_t v;

	if (s->n > r->len)
		return 0;
	if (s->n < 8)
		return common_number(r, s, is_signed, big);
	/* with what lies in front of it: the header at least, of all but common_type */
	v = get(r->data + s->n - 8, 8, 0, big);
	v = big ? v << shift : v;
	return is_signed ? (uint64_t)((int64_t)v >> shift) : v >> shift;
}

/* As OP_NUMBER and OP_ARGUMENT have it, where there is room for NUMBER; behind it. */
enum { NUMBER = DIGITS + 2 };

HOT static inline char *number_digits(char *p, const struct step *s, uint64_t v,
				      int long_size)
{
	switch (s->what) {
	case 'x':
		return hex_digits(p, v);
	case 'p':
		if (long_size == 8) {
			eight_hex(p, (uint32_t)(v >> 32));
			p += 8;
		}
		eight_hex(p, (uint32_t)v);
		return p + 8;
	case 'd':
		if (s->is_signed && (int64_t)v < 0) {
			*p++ = '-';
			v = 0 - v;
		}
	}
	return decimal_digits(p, v);
}

HOT static inline char *argument_digits(char *p, const struct step *s, uint64_t v)
{
	if (v >= 10 && !s->what) {
		memcpy(p, "0x", 2);
		p += 2;
	}
	return hex_digits(p, v);
}

/* The same of a number where there may be less room. */
static char *cut_number(char *at, char *end, const struct step *s, uint64_t v, int long_size)
{
	struct out o = { at, end };
	char digits[NUMBER];

	put(&o, digits, (size_t)((s->op == OP_NUMBER ? number_digits(digits, s, v, long_size)
						     : argument_digits(digits, s, v)) -
				 digits));
	return o.at;
}

/* The steps that most records are made of; at and end stay in registers here. */
HOT static char *run(struct machine *m, char *at, char *const end)
{
	const struct step *const steps = m->p->steps;
	const char *const texts = m->p->text;
	const struct record *const r = m->r;
	const int big = m->evs->big;
	char *p;
	uint64_t *top = m->stack; /* the slot below the first: never used */
	const struct memo *memo;
	uint64_t v;

	for (const struct step *s = steps;; s++) {
		if (s->op <= OP_LOC)
			at = text_to(at, end, texts + s->text, s->len);
		switch ((enum op)s->op) {
		case OP_END:
			return at;
		case OP_TEXT:
			continue;
		case OP_NUMBER:
		case OP_ARGUMENT:
			v = number_at(r, s, s->is_signed, big);
			if ((size_t)(end - at) < NUMBER)
				at = cut_number(at, end, s, v, m->evs->long_size);
			else if (s->op == OP_NUMBER)
				at = number_digits(at, s, v, m->evs->long_size);
			else
				at = argument_digits(at, s, v);
			continue;
		case OP_HERE:
		case OP_LOC:
			v = s->op == OP_HERE ? region(s->n, (uint32_t)s->k)
					     : locate(m->evs, r, s->n, s->what);
			at = string_to(at, end, m->evs, r, v);
			continue;
		case OP_CONST:
			*++top = s->k;
			continue;
		case OP_FIELD:
			*++top = number_at(r, s, s->is_signed, big);
			continue;
		case OP_BINARY_K:
			*top = calculate((enum operator)s->what, *top, s->k, s->size,
					 s->is_signed);
			continue;
		case OP_BINARY:
			top--;
			*top = calculate((enum operator)s->what, top[0], top[1], s->size,
					 s->is_signed);
			continue;
		case OP_UNARY:
			*top = calculate((enum operator)s->what, *top, 0, s->size,
					 s->is_signed);
			continue;
		case OP_EXTEND:
			*top = extend(*top, s->size, s->is_signed);
			continue;
		case OP_JUMP_ZERO:
			if (*top--)
				continue;
			/* fallthrough */
		case OP_JUMP:
			s = steps + s->n - 1;
			continue;
		case OP_POINTER:
		case OP_FLAGS:
		case OP_SYMBOLIC: /* what it wrote for that value before */
			memo = memo_of(m->evs, s, *top);
			if (memo->step != s || memo->value != *top)
				break;
			p = s->op == OP_POINTER ? text_to(at, end, texts + s->text, s->len) : at;
			if ((size_t)(end - p) < sizeof(memo->text))
				break;
			memcpy(p, memo->text, sizeof(memo->text));
			at = p + memo->len;
			top--;
			continue;
		default:
			break;
		}
		m->o.at = at;
		top = run_seldom(m, s, top);
		at = m->o.at;
	}
}

static char *unknown_type(const struct events *evs, const struct record *r, char *at,
			  char *end)
{
	struct out o = { at, end };

	put(&o, "Unknown type ", 13);
	put_decimal(&o, record_id(evs, r));
	put_char(&o, '\n');
	return o.at;
}

HOT char *run_event(struct events *evs, const struct record *r, int raw_clock, char *at,
		    char *end)
{
	struct event *e = event_of(evs, r);
	struct machine m;

	if (!e || !e->program) {
		e = event_wanted(evs, r);
		if (!e || (event_prepare(evs, e) < 0 && !e->program))
			return unknown_type(evs, r, at, end);
	}
	m.evs = evs;
	m.e = e;
	m.p = e->program;
	m.r = r;
	m.o.end = end;
	m.raw_clock = raw_clock;
	return run(&m, at, end);
}

size_t event_print(struct events *evs, const struct record *r, char *buf, size_t size)
{
	return (size_t)(run_event(evs, r, 0, buf, buf + size) - buf);
}
