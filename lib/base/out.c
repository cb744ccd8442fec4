/* SPDX-License-Identifier: ISC */
/* out.c - write text, numbers and the conversions of printf(3) within a bound */

#include "base/base.h"

void out_text(struct out *o, const char *s, size_t n)
{
	if (n > out_room(o)) {
		o->cut += n - out_room(o);
		n = out_room(o);
	}
	memcpy(o->at, s, n);
	o->at += n;
}

void out_fill(struct out *o, char c, int n)
{
	size_t len = n < 0 ? 0 : (size_t)n;

	if (len > out_room(o)) {
		o->cut += len - out_room(o);
		len = out_room(o);
	}
	memset(o->at, c, len);
	o->at += len;
}

void out_address(struct out *o, uint64_t v)
{
	out_string(o, "0x");
	out_hex(o, v);
}

void out_byte(struct out *o, unsigned char byte)
{
	char digits[8];

	digits_eight_hex(digits, (uint32_t)byte << 24);
	out_text(o, digits, 2);
}

/* Return the number of bytes before the first one that may need an escape (out_plain_bytes). */
static size_t plain(const char *s, size_t n)
{
	size_t i = 0;

	for (; n - i >= 8; i += 8) {
		unsigned some = out_plain_bytes(s + i);

		if (some < 8)
			return i + some;
	}
	while (i < n && s[i] > '"' && s[i] < 0x7f && s[i] != '\\')
		i++;
	return i;
}

/* Write the escape of the byte at s. */
static void put_escape(struct out *o, const char *s, const char *end, enum escape how)
{
	static const char bytes[] = "\n\t\"\\\v\f\r", letters[] = "nt\"\\vfr";
	const unsigned char c = (unsigned char)*s;
	const char *e = memchr(bytes, c, how == ESCAPE_C ? 7 : 4);
	int three = end - s > 1 && s[1] >= '0' && s[1] <= '7'; /* octal digits */

	out_char(o, '\\');
	if (e) {
		out_char(o, letters[e - bytes]);
	} else if (how == ESCAPE_C) {
		if (three || c >= 64)
			out_char(o, (char)('0' + (c >> 6)));
		if (three || c >= 8)
			out_char(o, (char)('0' + (c >> 3 & 7)));
		out_char(o, (char)('0' + (c & 7)));
	} else {
		out_string(o, how == ESCAPE_JSON ? "u00" : "x");
		out_byte(o, c);
	}
}

/* Write the JSON escape of a character that is not ASCII, or U+FFFD for a byte that is no UTF-8. */
static void put_unicode(struct out *o, const char *s, size_t n)
{
	uint32_t c = text_code_point(s, n);

	if (n == 1) {
		out_string(o, "\xef\xbf\xbd");
	} else { /* no control character needs a pair of surrogates */
		out_string(o, "\\u");
		out_byte(o, (unsigned char)(c >> 8));
		out_byte(o, (unsigned char)c);
	}
}

size_t out_escape_length(const char *s, size_t n)
{
	return n < 2 || *s != '\\' ? 1 : s[1] == 'x' && n >= 4 ? 4 :
	       memchr("nt\\\"", s[1], 4) ? 2 : 1;
}

void out_escaped(struct out *o, const char *s, size_t n, enum escape how)
{
	/* readers drop spaces before and after a field, and a comma after it */
	const int dropped = how == ESCAPE_NAME && n && memchr(" ,", s[n - 1], 2);
	const char *first = s, *end = s + n - dropped;
	int spaced = 0; /* a space was written, so the text after it may look like a field */

	if (how == ESCAPE_NOTHING) {
		out_text(o, s, n);
		return;
	}
	while (s < end && o->at < o->end) {
		int control, ascii;

		n = spaced ? 0 : plain(s, (size_t)(end - s));
		out_text(o, s, n);
		s += n;
		if (s == end)
			break;
		n = text_char(s, (size_t)(end - s), &control);
		ascii = (unsigned char)*s < 0x80;
		if (how == ESCAPE_JSON && !ascii && (control || n == 1))
			put_unicode(o, s, n);
		else if (control || (!ascii && (n == 1 || how == ESCAPE_C)) || *s == '\\' ||
			 (*s == '"' && how != ESCAPE_TEXT) ||
			 (how == ESCAPE_NAME && *s == ' ' && s == first) ||
			 (spaced && (*s == '=' || (*s == ':' && (s + 1 == end || s[1] == ' ')))))
			for (size_t i = 0; i < n; i++)
				put_escape(o, s + i, end, how);
		else
			out_text(o, s, n);
		spaced |= how == ESCAPE_NAME && *s == ' ' && s > first;
		s += n;
	}
	o->cut += (size_t)(end - s);
	if (dropped)
		put_escape(o, end, end, how);
}

const char digits_pairs[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

/* Write the digits of v before end. Return the first digit. */
static inline char *decimal(char *end, uint64_t v)
{
	while (v > UINT32_MAX) { /* a 64-bit division is slow: do few of them */
		uint64_t q = v / 100;

		end -= 2;
		memcpy(end, digits_pairs + 2 * (v - q * 100), 2);
		v = q;
	}
	for (uint32_t u = (uint32_t)v;;) {
		uint32_t q = u / 100, r = u - q * 100;

		if (u < 10) {
			*--end = (char)('0' + u);
			return end;
		}
		end -= 2;
		memcpy(end, digits_pairs + 2 * r, 2);
		if (!q)
			return end;
		u = q;
	}
}

char *digits_decimal(char *p, uint64_t v)
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
	char digits[DIGITS_ROOM];

	if (out_room(o) >= DIGITS_ROOM)
		o->at = digits_decimal(o->at, v);
	else
		out_text(o, digits, (size_t)(digits_decimal(digits, v) - digits));
}

void out_signed(struct out *o, int64_t v)
{
	if (v < 0)
		out_char(o, '-');
	out_decimal(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void out_hex(struct out *o, uint64_t v)
{
	char digits[DIGITS_ROOM];

	if (out_room(o) >= DIGITS_ROOM)
		o->at = digits_hex(o->at, v);
	else
		out_text(o, digits, (size_t)(digits_hex(digits, v) - digits));
}

void out_decimals(struct out *o, uint64_t v, unsigned digits)
{
	char text[DIGITS_ROOM];
	unsigned n = (unsigned)(digits_decimal(text, v) - text);
	unsigned whole = n > digits ? n - digits : 0;

	if (whole)
		out_text(o, text, whole);
	else
		out_char(o, '0');
	out_char(o, '.');
	out_fill(o, '0', (int)(digits - (n - whole)));
	out_text(o, text + whole, n - whole);
}

/* Read the number at *f, or the next argument for an asterisk, and move *f after it. */
static size_t count_at(const char **f, va_list *ap)
{
	if (**f != '*')
		return (size_t)text_digits(f);
	++*f;
	return (size_t)va_arg(*ap, int);
}

/* Write the argument of a conversion; f is behind its %. Return the text after the conversion. */
static const char *conversion(struct out *o, const char *f, va_list *ap)
{
	char digits[DIGITS_ROOM + 1], *end = digits, *s = digits;
	int left = 0, zeros = 0, longs = 0, pad;
	size_t width, most = SIZE_MAX;
	unsigned long long u;
	long long d;

	for (; *f == '-' || *f == '0'; f++)
		*(*f == '-' ? &left : &zeros) = 1;
	width = count_at(&f, ap);
	if (*f == '.') {
		f++;
		most = count_at(&f, ap);
	}
	for (; *f == 'l' || *f == 'z'; f++)
		longs += *f == 'l' ? 1 : (int)(sizeof(size_t) / sizeof(long));
	switch (*f) {
	case 's':
		s = va_arg(*ap, char *);
		s = s || most ? s : digits; /* NULL: a missing part of a line, of 0 bytes */
		end = s + strnlen(s, most);
		break;
	case 'd':
		d = longs > 1 ? va_arg(*ap, long long) : longs ? va_arg(*ap, long) :
		    va_arg(*ap, int);
		*s = '-';
		end = digits_decimal(s + (d < 0), d < 0 ? 0 - (uint64_t)d : (uint64_t)d);
		break;
	case 'u':
	case 'x':
		u = longs > 1 ? va_arg(*ap, unsigned long long) :
		    longs ? va_arg(*ap, unsigned long) : va_arg(*ap, unsigned);
		end = (*f == 'u' ? digits_decimal : digits_hex)(s, u);
		break;
	default:
		*end++ = *f == 'c' ? (char)va_arg(*ap, int) : *f; /* %% */
	}
	pad = (size_t)(end - s) < width ? (int)(width - (size_t)(end - s)) : 0;
	out_fill(o, zeros ? '0' : ' ', left ? 0 : pad);
	out_text(o, s, (size_t)(end - s));
	out_fill(o, ' ', left ? pad : 0);
	return f + 1;
}

void out_vformat(struct out *o, const char *f, va_list args)
{
	va_list ap;

	va_copy(ap, args);
	while (*f) {
		size_t n = strcspn(f, "%");

		out_text(o, f, n);
		f += n;
		if (*f)
			f = conversion(o, f + 1, &ap);
	}
	va_end(ap);
}

void out_format(struct out *o, const char *f, ...)
{
	va_list ap;

	va_start(ap, f);
	out_vformat(o, f, ap);
	va_end(ap);
}

size_t str_vformat(char *buf, size_t size, const char *f, va_list ap)
{
	char none, *to = size ? buf : &none;
	struct out o = out_to(to, size ? size - 1 : 0);

	out_vformat(&o, f, ap);
	*o.at = '\0';
	return (size_t)(o.at - to) + o.cut;
}

size_t str_format(char *buf, size_t size, const char *f, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, f);
	n = str_vformat(buf, size, f, ap);
	va_end(ap);
	return n;
}

void out_ip6(struct out *o, const unsigned char *a, int ip4)
{
	const int words = ip4 ? 6 : 8;
	int at = words, longest = 1, run = 0;

	for (int i = 0; i < words; i++) {
		run = a[2 * i] || a[2 * i + 1] ? 0 : run + 1;
		if (run > longest) {
			longest = run;
			at = i + 1 - run;
		}
	}
	for (int i = 0; i < words; i++) {
		if (i == at) {
			out_string(o, "::");
			i += longest - 1;
		} else {
			if (i && i != at + longest)
				out_char(o, ':');
			out_hex(o, (uint64_t)(a[2 * i] << 8 | a[2 * i + 1]));
		}
	}
	if (ip4)
		out_format(o, "%s%d.%d.%d.%d", at + longest == words ? "" : ":", a[12], a[13],
			   a[14], a[15]);
}
