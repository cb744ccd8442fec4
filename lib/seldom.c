/* SPDX-License-Identifier: ISC */
/* seldom.c - the steps that few records take, or that take long anyway */
#include "run.h"

const unsigned char *memory(const struct machine *m, uint64_t where, size_t *len)
{
	uint32_t at = (uint32_t)where, n = (uint32_t)(where >> 32);

	if (at > m->r->len || n > m->r->len - at) {
		*len = 0;
		return m->r->data;
	}
	*len = n;
	return m->r->data + at;
}

/* What was written from start on. */
static void remember(struct machine *m, const struct step *s, uint64_t v, const char *start)
{
	struct memo *memo = memo_of(m->evs, s, v);
	size_t len = (size_t)(m->o.at - start);

	if (len > sizeof(memo->text) || !room(&m->o)) /* it may be cut */
		return;
	memo->step = s;
	memo->value = v;
	memo->len = (uint8_t)len;
	memcpy(memo->text, start, len);
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

void put_bytes(struct machine *m, uint64_t where, char between)
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
		put_data(&m->o, (const char *)v.data, v.n, m->evs->exact);
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

void put_one(struct machine *m, const struct conversion *c, int width, int precision,
	     uint64_t v)
{
	char *start = m->o.at, byte = (char)v;

	if (c->letter != 'c' || m->evs->exact || !is_control((unsigned char)byte)) {
		put_number(&m->o, c, width, precision, v);
		return;
	}
	put_data(&m->o, &byte, 1, 0);
	put_padded(&m->o, start, c->flags & F_LEFT, width, -1);
}

/* ---- the steps ------------------------------------------------------------------ */

static void pointer(struct machine *m, const struct step *s, const struct conversion *c,
		    int width, uint64_t v)
{
	size_t len = 0;
	const unsigned char *data = s->what ? NULL : memory(m, v, &len);
	const char *start = m->o.at;

	put_pointer(m->evs, &m->o, c, width, v, data, len);
	if (s->n)
		remember(m, s, v, start);
}

/* The string at an address of the kernel's. */
static void put_pointed(struct machine *m, uint64_t v)
{
	const char *text = string_at(m->evs, v);

	if (text) {
		put_data(&m->o, text, strlen(text), m->evs->exact);
	} else if (!v) {
		put(&m->o, "(null)", 6);
	} else { /* in its memory, which we do not have */
		put(&m->o, "(0x", 3);
		put_hex(&m->o, v);
		put_char(&m->o, ')');
	}
}

static void dump(struct machine *m, const struct step *s, const uint64_t *v)
{
	size_t len;
	const unsigned char *data = memory(m, v[3], &len);

	put_dump(&m->o, m->p->text + s->text, s->len, (int)v[0], (int)v[1], (int)v[2], data,
		 v[4] < len ? (size_t)v[4] : len, v[5] != 0, m->evs->big);
}

uint64_t *run_seldom(struct machine *m, const struct step *s, uint64_t *top)
{
	const char *text = m->p->text + s->text;
	const struct conversion *c;
	int width, precision;
	size_t len;
	const unsigned char *data;
	uint64_t v;

	if (s->op != OP_FLAGS && s->op != OP_DUMP) /* theirs stands between */
		put(&m->o, text, s->len);
	switch ((enum op)s->op) {
	case OP_REGION:
		*++top = region(s->n, (uint32_t)s->k);
		break;
	case OP_LOCATE:
		*++top = locate(m->evs, m->r, s->n, s->what);
		break;
	case OP_LENGTH:
		*top >>= 32;
		break;
	case OP_ELEMENT:
		v = *top--;
		data = memory(m, *top, &len);
		*top = v < len / s->size
			? get(data + v * s->size, s->size, s->is_signed, m->evs->big)
			: 0;
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
	case OP_PRINT:
		c = &m->p->conversions[s->k];
		v = *top--;
		precision = c->flags & F_STAR_PRECISION ? (int)*top-- : c->precision;
		width = c->flags & F_STAR ? (int)*top-- : c->width;
		put_one(m, c, width, precision, v);
		break;
	case OP_PAD:
		c = &m->p->conversions[s->k];
		m->pad_precision = c->flags & F_STAR_PRECISION ? (int)*top-- : c->precision;
		m->pad_width = c->flags & F_STAR ? (int)*top-- : c->width;
		m->pad_flags = c->flags;
		m->padded = m->o.at;
		break;
	case OP_PADDED:
		put_padded(&m->o, m->padded, m->pad_flags, m->pad_width, m->pad_precision);
		break;
	case OP_FLAGS:
	case OP_SYMBOLIC:
		put_names(m, s, *top--);
		break;
	case OP_HEX:
		put_bytes(m, *top--, (char)s->n);
		break;
	case OP_ARRAY:
		top -= 3;
		put_array(m, top[1], top[2], top[3]);
		break;
	case OP_BITS:
		data = memory(m, *top--, &len);
		put_bits(m->evs, &m->o, data, len, len * 8, 0);
		break;
	case OP_DUMP:
		top -= 6;
		dump(m, s, top + 1);
		break;
	case OP_STRING:
		data = memory(m, *top--, &len);
		put_data(&m->o, (const char *)data, strnlen((const char *)data, len),
			 m->evs->exact);
		break;
	case OP_POINTED:
		put_pointed(m, *top--);
		break;
	case OP_POINTER:
		c = &m->p->conversions[s->k];
		v = *top--;
		top -= (c->flags & F_STAR_PRECISION) != 0;
		width = c->flags & F_STAR ? (int)*top-- : c->width;
		pointer(m, s, c, width, v);
		break;
	case OP_OWN:
		v = *top--;
		if (s->k == OWN_BPRINT || s->k == OWN_BUFFER)
			put_own(m, (enum own)s->k, v, *top--);
		else
			put_own(m, (enum own)s->k, v, 0);
		break;
	case OP_FIELDS:
		put_fields(m);
		break;
	default: /* run's own */
		break;
	}
	return top;
}
