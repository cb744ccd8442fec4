/* SPDX-License-Identifier: ISC */
/* out.c - print numbers and text as the kernel's vsprintf does, within a bound */

#include "base/base.h"
#include "event/event.h"
#include "event/vm.h"

void out_text(struct out *o, const char *s, size_t n)
{
	if (n > out_room(o))
		n = out_room(o);
	memcpy(o->at, s, n);
	o->at += n;
}

void out_char(struct out *o, char c)
{
	if (o->at < o->end)
		*o->at++ = c;
}

/* Return the number of bytes in front of the first one that is not a printable one of ASCII. */
static size_t plain(const char *s, size_t n)
{
	size_t i = 0;

	for (; n - i >= 8; i += 8) {
		unsigned some = out_plain_bytes(s + i);

		if (some < 8)
			return i + some;
	}
	while (i < n && s[i] >= ' ' && s[i] < 0x7f)
		i++;
	return i;
}

void out_escaped(struct out *o, const char *s, size_t n, int exact)
{
	static const char hex[] = "0123456789abcdef";
	const char *end = s + n;

	if (exact) {
		out_text(o, s, n);
		return;
	}
	while (s < end && o->at < o->end) {
		int control;

		n = plain(s, (size_t)(end - s));
		out_text(o, s, n);
		s += n;
		if (s == end)
			return;
		n = text_char(s, (size_t)(end - s), &control);
		if (!control) {
			out_text(o, s, n);
			s += n;
			continue;
		}
		for (; n; n--, s++) {
			unsigned char c = (unsigned char)*s;

			out_char(o, '\\');
			if (c == '\n' || c == '\t') {
				out_char(o, c == '\n' ? 'n' : 't');
				continue;
			}
			out_char(o, 'x');
			out_char(o, hex[c >> 4]);
			out_char(o, hex[c & 15]);
		}
	}
}

const char two_digits[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

/* Write the digits of v in front of end. Return the first digit. */
static inline char *decimal(char *end, uint64_t v)
{
	while (v > UINT32_MAX) { /* a division of 64 bits is slow: get below it soon */
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

char *decimal_digits(char *p, uint64_t v)
{
	static const uint64_t powers[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000,
		1000000000000000000, 10000000000000000000u,
	};
	unsigned n;

	if (v < 10) {
		*p = (char)('0' + v);
		return p + 1;
	}
	/* the number of digits: bits times log10(2), at most one too few */
	n = (unsigned)(64 - __builtin_clzll(v)) * 1233 >> 12;
	p += n + (v >= powers[n]);
	decimal(p, v);
	return p;
}

void out_decimal(struct out *o, uint64_t v)
{
	char digits[DIGITS];

	if (out_room(o) >= DIGITS)
		o->at = decimal_digits(o->at, v);
	else
		out_text(o, digits, (size_t)(decimal_digits(digits, v) - digits));
}

void out_signed(struct out *o, int64_t v)
{
	if (v < 0)
		out_char(o, '-');
	out_decimal(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void out_hex(struct out *o, uint64_t v)
{
	char digits[DIGITS];

	if (out_room(o) >= DIGITS)
		o->at = hex_digits(o->at, v);
	else
		out_text(o, digits, (size_t)(hex_digits(digits, v) - digits));
}

static void fill(struct out *o, char c, int n)
{
	size_t len = n < 0 ? 0 : (size_t)n;

	if (len > out_room(o))
		len = out_room(o);
	memset(o->at, c, len);
	o->at += len;
}

/* lib/vsprintf.c, number() */
void out_number(struct out *o, const struct conversion *c, int width, int precision,
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
		out_char(o, (char)v);
		if (flags & F_LEFT)
			fill(o, ' ', width - 1);
		return;
	}
	if (c->letter == 'd') {
		v = vm_extend(v, c->size, 1);
		if ((int64_t)v < 0) {
			sign = '-';
			v = 0 - v;
		} else if (flags & (F_PLUS | F_SPACE)) {
			sign = flags & F_PLUS ? '+' : ' ';
		}
	} else {
		v = vm_extend(v, c->size, 0);
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
		out_char(o, sign);
	out_string(o, prefix);
	if ((flags & (F_ZERO | F_LEFT)) == F_ZERO)
		fill(o, '0', width);
	fill(o, '0', total - n);
	out_text(o, p, (size_t)n);
	if (flags & F_LEFT)
		fill(o, ' ', width);
}

void out_padded(struct out *o, char *start, unsigned flags, int width, int precision)
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

void out_time(struct out *o, uint64_t ts, int raw)
{
	static const struct conversion number = { .letter = 'u', .size = 8 };
	uint64_t us;
	char digits[6];

	out_char(o, ' ');
	if (raw) {
		out_number(o, &number, 12, -1, ts);
		return;
	}
	us = (ts + 500) / 1000; /* the kernel rounds as well */
	out_number(o, &number, 5, -1, us / 1000000);
	out_char(o, '.');
	six_digits(digits, (uint32_t)(us % 1000000));
	out_text(o, digits, 6);
}
