/* SPDX-License-Identifier: ISC */
/*
 * run.c - the machine that a compiled print fmt runs on, and its output
 *
 * Bounds: what is read from the record is checked where its offset becomes
 * known, what is written by whoever writes it; a stack deep enough and jumps
 * that only go forward are the compiler's promise.
 */
#include "run.h"

/* ---- output ------------------------------------------------------------------ */

HOT static inline size_t room(const struct out *o)
{
	return (size_t)(o->end - o->at);
}

void put(struct out *o, const char *s, size_t n)
{
	if (n > room(o))
		n = room(o);
	memcpy(o->at, s, n);
	o->at += n;
}

/* The same of a program's text, behind which there is more to read. */
HOT static inline void put_text(struct out *o, const char *s, size_t n)
{
	if (n > TEXT_SLACK || room(o) < TEXT_SLACK) {
		put(o, s, n);
		return;
	}
	memcpy(o->at, s, TEXT_SLACK);
	o->at += n;
}

void put_char(struct out *o, char c)
{
	if (o->at < o->end)
		*o->at++ = c;
}

const char two_digits[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

/* The digits of v, ending at end; the first. */
HOT static inline char *decimal(char *end, uint64_t v)
{
	while (v > UINT32_MAX) { /* the division by a constant of 64 bits is dear */
		uint64_t q = v / 100;

		end -= 2;
		memcpy(end, two_digits + 2 * (v - q * 100), 2);
		v = q;
	}
	for (uint32_t u = (uint32_t)v;;) {
		uint32_t q = u / 100, r = u - q * 100;

		if (u < 10) {
			*--end = (char)('0' + u);
			return end;
		}
		end -= 2;
		memcpy(end, two_digits + 2 * r, 2);
		if (!q)
			return end;
		u = q;
	}
}

HOT void put_decimal(struct out *o, uint64_t v)
{
	char digits[24 + TEXT_SLACK], *first;

	if (v < 10 && o->at < o->end) {
		*o->at++ = (char)('0' + v);
		return;
	}
	first = decimal(digits + 24, v);
	put_text(o, first, (size_t)(digits + 24 - first));
}

/* Eight hexadecimal digits, the first in the lowest byte in memory. */
HOT static inline void eight_hex(char *p, uint32_t v)
{
	uint64_t x = (uint64_t)(v >> 16) << 32 | (v & 0xffff), tens;

	x = (x << 8 | x) & 0x00ff00ff00ff00ffull;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0full;
	tens = (x + 0x0606060606060606ull) >> 4 & 0x0101010101010101ull;
	x += 0x3030303030303030ull + tens * ('a' - '0' - 10);
	x = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? x : __builtin_bswap64(x);
	memcpy(p, &x, 8);
}

HOT void put_hex(struct out *o, uint64_t v)
{
	unsigned n = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;
	char digits[16];

	v <<= 64 - 4 * n;
	if (room(o) >= 16) {
		eight_hex(o->at, (uint32_t)(v >> 32));
		if (n > 8)
			eight_hex(o->at + 8, (uint32_t)v);
		o->at += n;
		return;
	}
	eight_hex(digits, (uint32_t)(v >> 32));
	eight_hex(digits + 8, (uint32_t)v);
	put(o, digits, n);
}

static void fill(struct out *o, char c, int n)
{
	size_t len = n < 0 ? 0 : (size_t)n;

	if (len > room(o))
		len = room(o);
	memset(o->at, c, len);
	o->at += len;
}

/* As the kernel's number(): v has been extended to 64 bits. */
void put_number(struct out *o, const struct conversion *c, int width, int precision,
		uint64_t v)
{
	unsigned flags = c->flags;
	char digits[72], *p = digits + sizeof(digits), sign = 0;
	const char *prefix = "";
	int n, total;

	if (width < 0) {
		flags |= width < -1 ? F_LEFT : 0;
		width = width < -1 ? -width : 0;
	}
	if (c->letter == 'c') {
		if (!(flags & F_LEFT))
			fill(o, ' ', width - 1);
		put_char(o, (char)v);
		if (flags & F_LEFT)
			fill(o, ' ', width - 1);
		return;
	}
	if (c->letter == 'd') {
		v = extend(v, c->size, 1);
		if ((int64_t)v < 0) {
			sign = '-';
			v = 0 - v;
		} else if (flags & (F_PLUS | F_SPACE)) {
			sign = flags & F_PLUS ? '+' : ' ';
		}
	} else {
		v = extend(v, c->size, 0);
	}
	if (c->letter == 'x' || c->letter == 'X') {
		prefix = flags & F_ALT ? c->letter == 'x' ? "0x" : "0X" : "";
		eight_hex(p - 16, (uint32_t)(v >> 32));
		eight_hex(p - 8, (uint32_t)v);
		p -= v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;
		if (c->letter == 'X')
			for (char *q = p; q < digits + sizeof(digits); q++)
				*q = (char)(*q < 'a' ? *q : *q - 'a' + 'A');
	} else if (c->letter == 'o') {
		prefix = flags & F_ALT && v ? "0" : "";
		do
			*--p = (char)('0' + (v & 7));
		while (v >>= 3);
	} else {
		p = decimal(p, v);
	}
	n = (int)(digits + sizeof(digits) - p);
	if (flags & F_LEFT)
		flags &= ~(unsigned)F_ZERO;
	if (!(flags & F_HAS_PRECISION) || precision < 0)
		precision = 1;
	total = n > precision ? n : precision;
	width -= total + (sign != 0) + (int)strlen(prefix);
	if (!(flags & (F_ZERO | F_LEFT)))
		fill(o, ' ', width);
	if (sign)
		put_char(o, sign);
	put(o, prefix, strlen(prefix));
	if ((flags & (F_ZERO | F_LEFT)) == F_ZERO)
		fill(o, '0', width);
	fill(o, '0', total - n);
	put(o, p, (size_t)n);
	if (flags & F_LEFT)
		fill(o, ' ', width);
}

void put_padded(struct out *o, char *start, unsigned flags, int width, int precision)
{
	size_t len = (size_t)(o->at - start), wide, more;

	if (flags & F_HAS_PRECISION && precision >= 0 && len > (size_t)precision) {
		len = (size_t)precision;
		o->at = start + len;
	}
	if (width < -1) {
		flags |= F_LEFT;
		width = -width;
	}
	wide = width < 0 ? 0 : (size_t)width;
	if (wide <= len)
		return;
	if (wide > (size_t)(o->end - start))
		wide = (size_t)(o->end - start);
	more = wide > len ? wide - len : 0;
	if (flags & F_LEFT) {
		memset(start + len, ' ', more);
	} else {
		memmove(start + more, start, len);
		memset(start, ' ', more);
	}
	o->at = start + len + more;
}

void put_time(struct out *o, uint64_t ts, int raw)
{
	static const struct conversion number = { .letter = 'u', .size = 8 };
	uint64_t us;
	char digits[6];

	put_char(o, ' ');
	if (raw) {
		put_number(o, &number, 12, -1, ts);
		return;
	}
	us = (ts + 500) / 1000; /* as the kernel rounds */
	put_number(o, &number, 5, -1, us / 1000000);
	put_char(o, '.');
	six_digits(digits, (uint32_t)(us % 1000000));
	put(o, digits, 6);
}

/* ---- the steps ------------------------------------------------------------------ */

struct machine {
	struct events *evs;
	const struct event *e;
	const struct program *p;
	const struct record *r;
	struct out o;
	uint64_t stack[STACK + 1];
	int raw_clock;
};

static const unsigned char *memory(const struct machine *m, uint64_t where, size_t *len)
{
	uint32_t at = (uint32_t)where, n = (uint32_t)(where >> 32);

	if (at > m->r->len || n > m->r->len - at) {
		*len = 0;
		return m->r->data;
	}
	*len = n;
	return m->r->data + at;
}

HOT static inline uint64_t number_at(const struct machine *m, uint32_t at, unsigned size,
				 int is_signed)
{
	if (at > m->r->len || size > m->r->len - at)
		return 0;
	return get(m->r->data + at, size, is_signed, m->evs->big);
}

/* The place of what a step writes for a value, whosever it is now. */
HOT static inline struct memo *memo_of(const struct machine *m, const struct step *s,
				       uint64_t v)
{
	return &m->evs->memos[(v ^ v >> 8 ^ v >> 16 ^ (uintptr_t)s / sizeof(*s)) %
			      (sizeof(m->evs->memos) / sizeof(*m->evs->memos))];
}

/* Writes it, if it is there. */
HOT static inline int recall(struct machine *m, const struct step *s, uint64_t v)
{
	const struct memo *memo = memo_of(m, s, v);

	if (memo->step != s || memo->value != v || room(&m->o) < sizeof(memo->text))
		return 0;
	memcpy(m->o.at, memo->text, sizeof(memo->text));
	m->o.at += memo->len;
	return 1;
}

/* What was written from start on. */
static void remember(struct machine *m, const struct step *s, uint64_t v, const char *start)
{
	struct memo *memo = memo_of(m, s, v);
	size_t len = (size_t)(m->o.at - start);

	if (len > sizeof(memo->text) || !room(&m->o)) /* it may be cut */
		return;
	memo->step = s;
	memo->value = v;
	memo->len = (uint8_t)len;
	memcpy(memo->text, start, len);
}

/* Up to the NUL. */
static inline void put_string(struct machine *m, uint64_t where)
{
	size_t len;
	const unsigned char *s = memory(m, where, &len);

	put(&m->o, (const char *)s, strnlen((const char *)s, len));
}

static void put_flags(struct machine *m, const struct step *s, uint64_t v)
{
	const struct table *t = &m->p->tables[s->n];
	int first = 1;

	v = extend(v, s->size, 0);
	for (uint32_t i = 0; i < t->n && v; i++) {
		const struct name *name = &m->p->names[t->first + i];
		uint64_t mask = extend(name->value, s->size, 0);

		if ((v & mask) != mask)
			continue;
		v &= ~mask;
		if (!first)
			put(&m->o, m->p->text + s->text, s->len);
		first = 0;
		put(&m->o, m->p->text + name->text, name->len);
	}
	if (v) {
		if (!first)
			put(&m->o, m->p->text + s->text, s->len);
		put(&m->o, "0x", 2);
		put_hex(&m->o, v);
	}
}

static void put_symbolic(struct machine *m, const struct step *s, uint64_t v)
{
	const struct table *t = &m->p->tables[s->n];

	v = extend(v, s->size, 0);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct name *name = &m->p->names[t->first + i];

		if (v == extend(name->value, s->size, 0)) {
			/* an empty name counts as none */
			if (!name->len)
				break;
			put(&m->o, m->p->text + name->text, name->len);
			return;
		}
	}
	put(&m->o, "0x", 2);
	put_hex(&m->o, v);
}

/* The names of a number, not yet known. */
static void put_names(struct machine *m, const struct step *s, uint64_t v)
{
	const char *start = m->o.at;

	if (s->op == OP_FLAGS)
		put_flags(m, s, v);
	else
		put_symbolic(m, s, v);
	remember(m, s, v, start);
}

static void put_bytes(struct machine *m, uint64_t where, char between)
{
	size_t len;
	const unsigned char *s = memory(m, where, &len);
	char digits[8];

	for (size_t i = 0; i < len; i++) {
		if (i && between)
			put_char(&m->o, between);
		eight_hex(digits, (uint32_t)s[i] << 24);
		put(&m->o, digits, 2);
	}
}

/* {0x1,0x2}: count elements of the region, of size bytes. */
static void put_array(struct machine *m, uint64_t where, uint64_t count, uint64_t size)
{
	size_t len;
	const unsigned char *s = memory(m, where, &len), *end = s + len;

	if (count < len && size && size <= 8 && count * size < len)
		end = s + count * size;
	put_char(&m->o, '{');
	for (int first = 1; s < end; first = 0, s += size) {
		if (!first)
			put_char(&m->o, ',');
		if (size != 1 && size != 2 && size != 4 && size != 8) {
			put(&m->o, "BAD SIZE:", 9);
			put_decimal(&m->o, size);
			put(&m->o, " 0x", 3);
			put_hex(&m->o, *s);
			size = 1;
			continue;
		}
		if ((size_t)(end - s) < size)
			break;
		put(&m->o, "0x", 2);
		put_hex(&m->o, get(s, (unsigned)size, 0, m->evs->big));
	}
	put_char(&m->o, '}');
}

/* ---- what only the kernel's own entries have ------------------------------------- */

/* " <00...ADDRESS>" */
static void put_address(struct machine *m, uint64_t ip)
{
	static const struct conversion number = { .letter = 'x', .size = 8, .flags = F_ZERO };

	put(&m->o, " <", 2);
	put_number(&m->o, &number, 2 * m->evs->long_size, -1, ip);
	put_char(&m->o, '>');
}

/* seq_print_ip_sym */
static void put_ip(struct machine *m, uint64_t ip)
{
	if (!ip) {
		put_char(&m->o, '0');
		return;
	}
	put_symbol(m->evs, &m->o, ip, m->evs->sym_offset, m->evs->sym_offset, 8);
	if (m->evs->sym_addr)
		put_address(m, ip);
}

static void put_stack(struct machine *m, uint64_t where, int user)
{
	uint32_t at = (uint32_t)where, len = (uint32_t)(where >> 32);
	const unsigned char *s = m->r->data + at;
	unsigned size = (unsigned)m->evs->long_size;
	uint64_t last = size == 8 ? UINT64_MAX : UINT32_MAX;

	if (at > m->r->len)
		return;
	/* a kernel's goes to the end of the record, whatever the format says */
	if (!user || len > m->r->len - at)
		len = m->r->len - at;
	for (; len >= size; s += size, len -= size) {
		uint64_t ip = get(s, size, 0, m->evs->big);

		if (user ? !ip : ip == last)
			break;
		put(&m->o, " => ", 4);
		if (user)
			put_address(m, ip);
		else if (ip == INT32_MAX)
			put(&m->o, "[FTRACE TRAMPOLINE]", 19);
		else
			put_ip(m, ip);
		put_char(&m->o, '\n');
	}
}

/*
 * vbin_printf's packing of a trace_printk's arguments: numbers aligned to their
 * size, at least 4; strings in place.
 */
static void put_bprint(struct machine *m, uint64_t format, uint64_t where)
{
	const char *f = string_at(m->evs, format), *end;
	size_t len, at = 0;
	const unsigned char *s = memory(m, where, &len);

	if (!f) {
		put(&m->o, "0x", 2);
		put_hex(&m->o, format);
		put_char(&m->o, '\n');
		return;
	}
	for (end = f + strlen(f); f < end;) {
		struct conversion c;
		uint64_t v[3] = { 0 };
		int width, precision, n = 0;
		unsigned size;

		if (*f != '%') {
			put_char(&m->o, *f++);
			continue;
		}
		f = conversion_parse(&c, f + 1, end, m->evs->long_size);
		if (c.letter == '%') {
			put_char(&m->o, '%');
			continue;
		}
		n = !!(c.flags & F_STAR) + !!(c.flags & F_STAR_PRECISION);
		if (c.letter == 's') {
			size = 0;
		} else {
			v[n++] = 0;
			size = c.size == 8 ? 8 : 4;
		}
		for (int i = 0; i < n; i++) {
			unsigned one = i < n - (size != 0) ? 4 : size;

			at = (at + one - 1) & ~(size_t)(one - 1);
			if (at > len || one > len - at)
				return;
			v[i] = get(s + at, one, 1, m->evs->big);
			at += one;
		}
		n = 0;
		width = c.flags & F_STAR ? (int)v[n++] : c.width;
		precision = c.flags & F_STAR_PRECISION ? (int)v[n++] : c.precision;
		if (c.letter == 's') {
			char *start = m->o.at;
			size_t text = strnlen((const char *)s + at, len - at);

			put(&m->o, (const char *)s + at, text);
			put_padded(&m->o, start, c.flags, width, precision);
			at += text + (text < len - at);
		} else if (c.letter == 'p') {
			put_pointer(m->evs, &m->o, &c, width, v[n], NULL, 0);
		} else {
			put_number(&m->o, &c, width, precision, v[n]);
		}
	}
}

/* The bytes that a call read, as many as were kept of length: "(61:0a) "a."" */
static void put_buffer(struct machine *m, uint64_t length, uint64_t where)
{
	int cut = (int)(where >> 32) < (int)length, printable = 0;
	size_t len;
	const unsigned char *s = memory(m, where, &len);

	put_char(&m->o, '(');
	put_bytes(m, where, ':');
	if (cut)
		put(&m->o, ", ...", 5);
	put_char(&m->o, ')');
	for (size_t i = 0; i < len; i++)
		printable |= s[i] >= ' ' && s[i] < 127;
	if (!printable)
		return;
	put(&m->o, " \"", 2);
	for (size_t i = 0; i < len; i++)
		put_char(&m->o, s[i] >= ' ' && s[i] < 127 ? (char)s[i] : '.');
	put(&m->o, "\"...", cut ? 4 : 1);
}

static void put_own(struct machine *m, enum own which, uint64_t v, uint64_t below)
{
	static const struct conversion octal = { .letter = 'o', .size = 4,
						 .flags = F_HAS_PRECISION };
	size_t len;

	switch (which) {
	case OWN_IP:
		put_ip(m, v);
		break;
	case OWN_PROBE:
		put_symbol(m->evs, &m->o, v, 1, 1, 0);
		break;
	case OWN_PROBE_BARE:
		put_symbol(m->evs, &m->o, v, 0, 1, 0);
		break;
	case OWN_BYTES:
		memory(m, v, &len);
		if (len)
			put_char(&m->o, ' ');
		put_bytes(m, v, ' ');
		break;
	case OWN_STACK:
	case OWN_USER_STACK:
		put_stack(m, v, which == OWN_USER_STACK);
		break;
	case OWN_TIME:
		put_time(&m->o, m->r->ts - v, m->raw_clock);
		break;
	case OWN_BPRINT:
		put_bprint(m, below, v);
		break;
	case OWN_MODE:
		put(&m->o, ", mode: 0", 9);
		put_number(&m->o, &octal, -1, 3, v);
		break;
	case OWN_BUFFER:
		put_buffer(m, below, v);
		break;
	}
}

/* ---- a record whose print fmt is not understood -------------------------------- */

static void put_value(struct machine *m, const struct field *f)
{
	struct value v;

	if (field_value(m->evs, f, m->r, &v) < 0) {
		put(&m->o, "<OVERFLOW>", 10);
		return;
	}
	switch (v.kind) {
	case FIELD_NUMBER:
		if (f->is_signed && v.i < 0) {
			put_char(&m->o, '-');
			put_decimal(&m->o, 0 - v.u);
		} else {
			put_decimal(&m->o, v.u);
		}
		break;
	case FIELD_POINTER:
		put(&m->o, "0x", 2);
		put_hex(&m->o, v.u);
		break;
	case FIELD_STRING:
		put(&m->o, (const char *)v.data, v.n);
		break;
	case FIELD_ARRAY:
		put_array(m, region((uint32_t)(v.data - m->r->data), (uint32_t)v.n * f->elem),
			  v.n, f->elem);
		break;
	case FIELD_BITMASK:
		put_bits(m->evs, &m->o, v.data, v.n, v.n * 8, 0);
		break;
	}
}

static void put_fields(struct machine *m)
{
	for (unsigned i = m->e->ncommon; i < m->e->nfields; i++) {
		const struct field *f = &m->e->fields[i];

		put_char(&m->o, ' ');
		put(&m->o, f->name, strlen(f->name));
		put_char(&m->o, '=');
		put_value(m, f);
	}
}

/* ---- the machine ------------------------------------------------------------------- */

HOT static inline void put_plain(struct out *o, unsigned letter, uint64_t v, int is_signed)
{
	if (letter == 'x') {
		put_hex(o, v);
	} else {
		if (letter == 'd' && is_signed && (int64_t)v < 0) {
			put_char(o, '-');
			v = 0 - v;
		}
		put_decimal(o, v);
	}
}

static void pointer(struct machine *m, const struct step *s, const struct conversion *c,
		    int width, uint64_t v)
{
	size_t len = 0;
	const unsigned char *data = s->what ? NULL : memory(m, v, &len);
	const char *start = m->o.at;

	put_pointer(m->evs, &m->o, c, width, v, data, len);
	if (s->what && !(c->flags & F_STAR))
		remember(m, s, v, start);
}

static void dump(struct machine *m, const struct step *s, const uint64_t *v)
{
	size_t len;
	const unsigned char *data = memory(m, v[3], &len);

	put_dump(&m->o, m->p->text + s->text, s->len, (int)v[0], (int)v[1], (int)v[2], data,
		 v[4] < len ? (size_t)v[4] : len, v[5] != 0, m->evs->big);
}

HOT static void run(struct machine *m)
{
	const struct program *p = m->p;
	const struct step *s = p->steps;
	uint64_t *top = m->stack; /* the slot below the first: never used */
	char *padded = m->o.at;
	unsigned pad_flags = 0;
	int pad_width = -1, pad_precision = -1;

	for (;; s++) {
		const struct conversion *c;
		int width, precision;
		uint64_t v;

		switch ((enum op)s->op) {
		case OP_END:
			put_text(&m->o, p->text + s->text, s->len);
			return;
		case OP_TEXT:
			put_text(&m->o, p->text + s->text, s->len);
			break;
		case OP_NUMBER:
			put_text(&m->o, p->text + s->text, s->len);
			put_plain(&m->o, s->what, number_at(m, s->n, s->size, s->is_signed),
				  s->is_signed);
			break;
		case OP_ARGUMENT:
			put_text(&m->o, p->text + s->text, s->len);
			v = number_at(m, s->n, s->size, 0);
			if (v >= 10 && !s->what)
				put(&m->o, "0x", 2);
			put_hex(&m->o, v);
			break;
		case OP_HERE:
			put_text(&m->o, p->text + s->text, s->len);
			put_string(m, region(s->n, (uint32_t)s->k));
			break;
		case OP_LOC:
			put_text(&m->o, p->text + s->text, s->len);
			put_string(m, locate(m->evs, m->r, s->n, s->what));
			break;
		case OP_CONST:
			*++top = s->k;
			break;
		case OP_FIELD:
			*++top = number_at(m, s->n, s->size, s->is_signed);
			break;
		case OP_REGION:
			*++top = region(s->n, (uint32_t)s->k);
			break;
		case OP_LOCATE:
			*++top = locate(m->evs, m->r, s->n, s->what);
			break;
		case OP_LENGTH:
			*top >>= 32;
			break;
		case OP_ELEMENT: {
			uint64_t i = *top--;
			size_t len;
			const unsigned char *data = memory(m, *top, &len);

			*top = i < len / s->size
				? get(data + i * s->size, s->size, s->is_signed, m->evs->big)
				: 0;
			break;
		}
		case OP_BINARY_K:
			*top = calculate((enum operator)s->what, *top, s->k, s->size,
					 s->is_signed);
			break;
		case OP_BINARY:
			top--;
			*top = calculate((enum operator)s->what, top[0], top[1], s->size,
					 s->is_signed);
			break;
		case OP_UNARY:
			*top = calculate((enum operator)s->what, *top, 0, s->size,
					 s->is_signed);
			break;
		case OP_EXTEND:
			*top = extend(*top, s->size, s->is_signed);
			break;
		case OP_SWAP:
			v = top[0];
			top[0] = top[-1];
			top[-1] = v;
			break;
		case OP_SELECT:
			if (s->what) { /* a region cut to a length */
				top--;
				if (top[1] < top[0] >> 32)
					*top = region((uint32_t)*top, (uint32_t)top[1]);
				break;
			}
			top -= 2;
			*top = top[0] ? top[1] : top[2];
			break;
		case OP_JUMP_ZERO:
			if (*top--)
				break;
			/* fallthrough */
		case OP_JUMP:
			s = p->steps + s->n - 1;
			break;
		case OP_PRINT:
			put_text(&m->o, p->text + s->text, s->len);
			c = &p->conversions[s->k];
			v = *top--;
			precision = c->flags & F_STAR_PRECISION ? (int)*top-- : c->precision;
			width = c->flags & F_STAR ? (int)*top-- : c->width;
			put_number(&m->o, c, width, precision, v);
			break;
		case OP_PAD:
			c = &p->conversions[s->k];
			pad_precision = c->flags & F_STAR_PRECISION ? (int)*top--
								    : c->precision;
			pad_width = c->flags & F_STAR ? (int)*top-- : c->width;
			pad_flags = c->flags;
			padded = m->o.at;
			break;
		case OP_PADDED:
			put_padded(&m->o, padded, pad_flags, pad_width, pad_precision);
			break;
		case OP_FLAGS:
		case OP_SYMBOLIC:
			v = *top--;
			if (!recall(m, s, v))
				put_names(m, s, v);
			break;
		case OP_HEX:
			put_text(&m->o, p->text + s->text, s->len);
			put_bytes(m, *top--, (char)s->n);
			break;
		case OP_ARRAY:
			put_text(&m->o, p->text + s->text, s->len);
			top -= 3;
			put_array(m, top[1], top[2], top[3]);
			break;
		case OP_BITS: {
			size_t len;
			const unsigned char *data = memory(m, *top--, &len);

			put_text(&m->o, p->text + s->text, s->len);
			put_bits(m->evs, &m->o, data, len, len * 8, 0);
			break;
		}
		case OP_DUMP:
			top -= 6;
			dump(m, s, top + 1);
			break;
		case OP_STRING:
			put_text(&m->o, p->text + s->text, s->len);
			put_string(m, *top--);
			break;
		case OP_POINTED: {
			const char *text;

			put_text(&m->o, p->text + s->text, s->len);
			v = *top--;
			text = string_at(m->evs, v);
			if (text) {
				put(&m->o, text, strlen(text));
			} else if (!v) {
				put(&m->o, "(null)", 6);
			} else { /* in the kernel's memory, which we do not have */
				put(&m->o, "(0x", 3);
				put_hex(&m->o, v);
				put_char(&m->o, ')');
			}
			break;
		}
		case OP_POINTER:
			put_text(&m->o, p->text + s->text, s->len);
			c = &p->conversions[s->k];
			v = *top--;
			top -= (c->flags & F_STAR_PRECISION) != 0;
			width = c->flags & F_STAR ? (int)*top-- : c->width;
			if (!recall(m, s, v))
				pointer(m, s, c, width, v);
			break;
		case OP_OWN:
			put_text(&m->o, p->text + s->text, s->len);
			v = *top--;
			if (s->k == OWN_BPRINT || s->k == OWN_BUFFER)
				put_own(m, (enum own)s->k, v, *top--);
			else
				put_own(m, (enum own)s->k, v, 0);
			break;
		case OP_FIELDS:
			put_text(&m->o, p->text + s->text, s->len);
			put_fields(m);
			break;
		}
	}
}

HOT void run_event(struct events *evs, const struct record *r, int raw_clock, struct out *o)
{
	struct event *e = event_wanted(evs, r);
	struct machine m;

	if (!e || (!e->program && event_prepare(evs, e) < 0 && !e->program)) {
		put(o, "Unknown type ", 13);
		put_decimal(o, r->len < 2 ? 0 : get(r->data, 2, 0, evs->big));
		put_char(o, '\n');
		return;
	}
	m.evs = evs;
	m.e = e;
	m.p = e->program;
	m.r = r;
	m.o = *o;
	m.raw_clock = raw_clock;
	run(&m);
	o->at = m.o.at;
}

size_t event_print(struct events *evs, const struct record *r, char *buf, size_t size)
{
	struct out o = { buf, buf + size };

	run_event(evs, r, 0, &o);
	return (size_t)(o.at - buf);
}
