/* SPDX-License-Identifier: ISC */
/* scan.h - steps through a line, for the files that read event lines */
#ifndef FILTER_SCAN_H
#define FILTER_SCAN_H

#include "lines/lines.h"

static inline int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Text that was pasted or aligned has tabs instead of spaces. */
static inline int is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline int not_blank(char c)
{
	return !is_blank(c);
}

static inline int is_hex_digit(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* Is it a character of the name of an event or a field? */
static inline int in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == '.';
}

static inline int begins(const char *s, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - s) >= n && !memcmp(s, word, n);
}

/* Return the first character at s or after it that is not of this kind. */
static inline const char *after(const char *s, const char *end, int (*is)(char))
{
	while (s < end && is(*s))
		s++;
	return s;
}

/* Return the first of the characters of this kind before s, or s. */
static inline const char *before(const char *from, const char *s, int (*is)(char))
{
	while (s > from && is(s[-1]))
		s--;
	return s;
}

/* Return the first character at s or after it that is not space. */
static inline const char *spaces(const char *s, const char *end)
{
	while (s < end && is_blank(*s))
		s++;
	return s;
}

/*
 * Return the quote that ends the string at s: the first one without a backslash that escapes it. In
 * text of others backslashes and quotes are not escaped, so if there is none, return the first
 * quote of all, or NULL.
 */
static inline const char *closing_quote(const char *s, const char *end)
{
	for (const char *p = s; p < end; p++)
		if (*p == '\\')
			p++;
		else if (*p == '"')
			return p;
	return s < end ? memchr(s, '"', (size_t)(end - s)) : NULL;
}

/* Return the digits at *s, and move *s after them. */
static inline struct text_part digits(const char **s, const char *end)
{
	struct text_part p = { *s, 0 };

	while (*s < end && is_digit(**s))
		++*s;
	p.n = (size_t)(*s - p.text);
	return p;
}

/* Return the last place of a word in the text from s to end, or NULL. */
static inline const char *last_of(const char *s, const char *end, const char *word)
{
	for (const char *p = end; p-- > s;)
		if (begins(p, end, word))
			return p;
	return NULL;
}

#endif
