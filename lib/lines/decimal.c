/* SPDX-License-Identifier: ISC */
/* decimal.c - a number in a trace, and its power of two */

#include "lines/lines.h"
#include "lines/scan.h"

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/*
 * Read the digits after the point, and keep nine. If only later digits are not zero, set
 * nano to 1. Return 0, or -1 if a character is not a digit.
 */
static int fraction(struct decimal *v, const char *s, const char *end)
{
	uint32_t unit = 100000000;

	for (; s < end; s++, unit /= 10) {
		int d = digit_of(*s);

		if (d > 9)
			return -1;
		if (unit)
			v->nano += unit * (uint32_t)d;
		else if (!v->nano && d)
			v->nano = 1;
	}
	return 0;
}

/* Are there only hexadecimal digits between s and end? */
static int is_hex(const char *s, const char *end)
{
	while (s < end && digit_of(*s) < 16)
		s++;
	return s == end;
}

int decimal_parse(struct decimal *v, struct text_part p)
{
	const char *s = p.text, *end, *first;
	int base = 10;

	*v = (struct decimal){ 0 };
	if (!p.n) /* its text may be NULL */
		return -1;
	end = s + p.n;
	/* the kernel's option fields prints a number as 0x7b (123) */
	if (p.n > 4 && p.n < 28 && s[1] == 'x' && end[-1] == ')' && (first = memchr(s, '(', p.n)) &&
	    first - s > 3 && end - first > 2 && is_blank(first[-1]) && is_hex(s + 2, first - 1)) {
		/* take the decimal number of 32 bits, because the hexadecimal one has no sign */
		s = first - s <= 11 ? first + 1 : s;
		end = s > first ? end - 1 : first - 1;
	}
	if (*s == '-' || *s == '+')
		v->negative = *s++ == '-';
	if (end - s > 2 && s[0] == '0' && s[1] == 'x') {
		base = 16;
		s += 2;
	}
	for (first = s; s < end && digit_of(*s) < base; s++) {
		uint64_t d = (uint64_t)digit_of(*s), most = UINT64_MAX - d;

		if (v->whole > most / (uint64_t)base)
			return -1;
		v->whole = (uint64_t)base * v->whole + d;
	}
	if (s == first)
		return -1;
	if (base == 10 && s < end && *s == '.' && s + 1 < end) {
		if (fraction(v, s + 1, end) < 0)
			return -1;
		s = end;
	}
	if (s < end)
		return -1;
	/* in text, -2 as the result of a system call is 0xfffffffffffffffe */
	if (base == 16 && !v->negative && v->whole >> 63) {
		v->negative = 1;
		v->whole = 0 - v->whole;
	}
	v->negative = v->negative && (v->whole || v->nano);
	return 0;
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
	int more = a->whole != b->whole ? a->whole > b->whole ? 1 : -1 :
		   (a->nano > b->nano) - (a->nano < b->nano);

	if (a->negative != b->negative)
		return a->negative ? -1 : 1;
	return a->negative ? -more : more;
}

int decimal_power(const struct decimal *v)
{
	int power = 0;

	for (uint64_t n = v->whole; n; n >>= 1)
		power++;
	return v->negative ? -1 - power : power;
}

int64_t seen_number(const struct seen *l, const char *key)
{
	struct decimal v;
	int64_t number;

	if (l->from && l->from->number(l, key, &number))
		return number;
	if (decimal_parse(&v, seen_text(l, key)) < 0)
		return 0;
	return (int64_t)(v.negative ? 0 - v.whole : v.whole);
}

int64_t decimal_latency(struct text_part p, int counts)
{
	struct decimal v;

	if (!p.n || decimal_parse(&v, p) < 0 || v.negative || v.whole > INT64_MAX / 2000)
		return -1;
	return counts ? (int64_t)v.whole : (int64_t)(v.whole * 1000 + v.nano / 1000000);
}

void decimal_text(char *s, const struct decimal *v, int three)
{
	const char *sign = v->negative ? "-" : "";
	unsigned long long whole = v->whole;

	if (three)
		str_format(s, DECIMAL_TEXT, "%s%llu.%03u", sign, whole, v->nano / 1000000);
	else
		str_format(s, DECIMAL_TEXT, "%s%llu", sign, whole);
}

void decimal_time(char *s, const struct decimal *us, int precise)
{
	time_words(s, us->whole < UINT64_MAX / 1000 ? us->whole * 1000 + us->nano / 1000000 :
		   UINT64_MAX, precise);
}

enum { SECOND = 1000000000 };   /* nanoseconds */

void decimal_add(struct decimal *to, const struct decimal *v)
{
	uint32_t nano = to->nano + v->nano, carry = nano >= SECOND;

	if (to->whole >= UINT64_MAX - v->whole) {
		to->whole = UINT64_MAX;
		to->nano = 0;
		return;
	}
	to->whole += v->whole + carry;
	to->nano = nano - carry * SECOND;
}
