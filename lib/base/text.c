/* SPDX-License-Identifier: ISC */
/* text.c - numbers, names and lines in untrusted text */

#include "base/base.h"

/* Convert the first len characters of s. Return 0, or -1 if they are not a number. */
static int number(const char *s, size_t len, unsigned long *n)
{
	*n = 0;
	for (size_t i = 0; i < len; i++) {
		unsigned long digit = (unsigned long)(s[i] - '0');

		if (s[i] < '0' || s[i] > '9' || *n > (ULONG_MAX - digit) / 10)
			return -1;
		*n = 10 * *n + digit;
	}
	return len ? 0 : -1;
}

int text_number(const char *s, unsigned long low, unsigned long high, unsigned long *n)
{
	unsigned long v;

	if (number(s, strlen(s), &v) < 0 || v < low || v > high)
		return -1;
	*n = v;
	return 0;
}

int text_quantity(const char *s, const struct text_unit *units, unsigned long low,
		  unsigned long high, unsigned long *n)
{
	size_t digits = strspn(s, "0123456789");
	unsigned long v;

	while (units->factor && strcmp(units->name, s + digits))
		units++;
	if (!units->factor || number(s, digits, &v) < 0 || v > ULONG_MAX / units->factor)
		return -1;
	v *= units->factor;
	if (v < low || v > high)
		return -1;
	*n = v;
	return 0;
}

unsigned long long text_digits(const char **s)
{
	unsigned long long n = 0;

	while (**s >= '0' && **s <= '9')
		n = 10 * n + (unsigned long long)(*(*s)++ - '0');
	return n;
}

size_t text_utf8(const unsigned char *s, size_t n)
{
	size_t len = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;

	if (*s < 0xc2 || *s > 0xf4 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if (s[i] >> 6 != 2)
			return 0;
	/* refuse overlong forms, surrogates, and characters above U+10FFFF */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

uint32_t text_code_point(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c = len < 2 ? *s : *s & (0x7fu >> len);

	for (size_t i = 1; i < len; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

/*
 * Does the character change the direction of the text around it (Unicode: Bidi_Control), or begin a
 * new line (U+2028, U+2029) in programs that know Unicode, such as Python?
 */
static int turns_text(uint32_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

size_t text_char(const char *text, size_t n, int *control)
{
	size_t len = (unsigned char)*text < 0x80 ? 1 : text_utf8((const unsigned char *)text, n);
	uint32_t c = text_code_point(text, len);

	*control = c < ' ' || (c >= 0x7f && c < 0xa0) || (len && turns_text(c));
	return len + !len;
}

void text_mask_semicolons(char *s, const char *end)
{
	for (; s < end; s++)
		if (*s == ';')
			*s = ':';
}

int text_has_control(const char *s)
{
	int control = 0;

	for (size_t n = strlen(s), len; n && !control; s += len, n -= len)
		len = text_char(s, n, &control);
	return control;
}

void text_mask(char *s, const char *end, char keep)
{
	int control;

	for (size_t len; s < end; s += len) {
		len = text_char(s, (size_t)(end - s), &control);
		if (control && *s != keep)
			memset(s, '?', len);
	}
}

void text_mask_controls(char *s, const char *end)
{
	text_mask(s, end, '?');
}

int text_name_fits(const char *s, size_t most)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "abcdefghijklmnopqrstuvwxyz0123456789_.-");

	return n >= 1 && n <= most && !s[n] && *s != '.' && *s != '-';
}

int text_is_name(const char *s)
{
	return text_name_fits(s, 64);
}

size_t text_line_length(const char *text, size_t n)
{
	const char *end = memchr(text, '\n', n);

	return end ? (size_t)(end - text) + 1 : n;
}

char *text_next_line(char **text)
{
	char *line = *text, *end = line ? strchr(line, '\n') : NULL;

	*text = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return line;
}

unsigned long long text_count_lines(const char *text, size_t n)
{
	unsigned long long count = 0;

	for (size_t len; n; text += len, n -= len, count++)
		len = text_line_length(text, n);
	return count;
}

uint64_t text_hash(uint64_t h, const char *s, size_t n)
{
	while (n--)
		h = (h ^ (unsigned char)*s++) * 0x100000001b3u;
	return h;
}

int text_part_is(struct text_part p, const char *word)
{
	return p.n == strlen(word) && !memcmp(p.text, word, p.n);
}

int text_part_begins(struct text_part p, const char *word)
{
	return p.n >= strlen(word) && !memcmp(p.text, word, strlen(word));
}

int text_part_ends(struct text_part p, const char *word)
{
	size_t n = strlen(word);

	return p.n >= n && !memcmp(p.text + p.n - n, word, n);
}

struct text_part text_part_of(const char *s)
{
	return (struct text_part){ s, s ? strlen(s) : 0 };
}

int text_part_number(struct text_part p, unsigned base, uint64_t *n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < p.n; i++) {
		char c = p.text[i];
		unsigned d = c >= '0' && c <= '9' ? (unsigned)(c - '0') :
			     c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : base;

		if (d >= base || v > (UINT64_MAX - d) / base)
			return -1;
		v = base * v + d;
	}
	*n = v;
	return p.n ? 0 : -1;
}

void text_mask_nul(char *line, size_t n)
{
	for (char *nul; (nul = memchr(line, '\0', n)); *nul = '?')
		;
}

/* the values of digits, plus 1 */
static const unsigned char digits[256] = {
	['0'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
	['A'] = 11, 12, 13, 14, 15, 16, ['a'] = 11, 12, 13, 14, 15, 16,
};

uint64_t text_value(const char *s, const char **end, unsigned base)
{
	uint64_t v = 0;
	unsigned digit;

	s += strspn(s, " \t");
	for (; (digit = digits[(unsigned char)*s]) && digit <= base; s++)
		v = v > (UINT64_MAX - digit + 1) / base ? UINT64_MAX : v * base + (digit - 1);
	if (end)
		*end = s;
	return v;
}

uint64_t text_hex(const char **s, const char *end)
{
	uint64_t v = 0;
	unsigned digit;

	for (; *s < end && (digit = digits[(unsigned char)**s]); ++*s)
		v = v << 4 | (digit - 1);
	return v;
}
