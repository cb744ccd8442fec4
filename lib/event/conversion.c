/* SPDX-License-Identifier: ISC */
/* conversion.c - print numbers and text as the kernel's vsprintf does */

#include "base/base.h"
#include "event/event.h"
#include "event/vm.h"

/* Write the digits of v by the letter of a conversion into 22 bytes. Return their end. */
static char *digits_of(char *p, char letter, uint64_t v)
{
	unsigned n = v ? (66 - (unsigned)__builtin_clzll(v)) / 3 : 1;
	char *end;

	switch (letter) {
	case 'x':
		return digits_hex(p, v);
	case 'X':
		end = digits_hex(p, v);
		for (; p < end; p++)
			*p = (char)(*p < 'a' ? *p : *p - 'a' + 'A');
		return end;
	case 'o':
		for (end = p + n; n; v >>= 3)
			p[--n] = (char)('0' + (v & 7));
		return end;
	default:
		return digits_decimal(p, v);
	}
}

/* lib/vsprintf.c, number() */
void out_number(struct out *o, const struct conversion *c, int width, int precision,
		uint64_t v)
{
	unsigned flags = c->flags;
	char digits[24], sign = 0;
	const char *prefix = "";
	int n, zeros;

	if (width < 0) {
		flags |= width < -1 ? F_LEFT : 0;
		width = width < -1 ? -width : 0;
	}
	if (c->letter == 'c') {
		out_fill(o, ' ', flags & F_LEFT ? 0 : width - 1);
		out_char(o, (char)v);
		out_fill(o, ' ', flags & F_LEFT ? width - 1 : 0);
		return;
	}
	v = vm_extend(v, c->size, c->letter == 'd');
	if (c->letter == 'd' && (int64_t)v < 0) {
		sign = '-';
		v = 0 - v;
	} else if (c->letter == 'd' && flags & (F_PLUS | F_SPACE)) {
		sign = flags & F_PLUS ? '+' : ' ';
	}
	if (flags & F_ALT)
		prefix = c->letter == 'x' ? "0x" : c->letter == 'X' ? "0X" :
			 c->letter == 'o' && v ? "0" : "";
	n = (int)(digits_of(digits, c->letter, v) - digits);
	zeros = flags & F_HAS_PRECISION && precision > n ? precision - n : 0;
	width -= n + zeros + (sign != 0) + (int)strlen(prefix);
	if (!(flags & (F_ZERO | F_LEFT)))
		out_fill(o, ' ', width);
	if (sign)
		out_char(o, sign);
	out_string(o, prefix);
	if (!(flags & F_LEFT) && flags & F_ZERO)
		out_fill(o, '0', width);
	out_fill(o, '0', zeros);
	out_text(o, digits, (size_t)n);
	if (flags & F_LEFT)
		out_fill(o, ' ', width);
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
	digits_six(digits, (uint32_t)(us % 1000000));
	out_text(o, digits, 6);
}
