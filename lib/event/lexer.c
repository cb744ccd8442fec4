/* SPDX-License-Identifier: ISC */
/* lexer.c - split a print fmt into tokens */

#include "event/event.h"
#include "event/compile.h"

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && (*s == ' ' || *s == '\t' || *s == '\n'))
		s++;
	return s;
}

/* Return the end of the literal that starts at s with its quote; NULL if it has none. */
static const char *skip_string(const char *s, const char *end)
{
	for (s++; s < end && *s != '"'; s++)
		if (*s == '\\')
			s++;
	return s < end ? s + 1 : NULL;
}

/* Read an integer constant and its type. */
static void number_token(struct compiler *c)
{
	const char *s = c->from;
	int base = 10, u = 0, l = 0;
	uint64_t v = 0;

	if (*s == '0' && s + 1 < c->end) {
		base = (s[1] | 0x20) == 'x' ? 16 : 8;
		s += base == 16 ? 2 : 1;
	}
	for (; s < c->end; s++) {
		int d = is_digit(*s) ? *s - '0' : (*s | 0x20) >= 'a' && (*s | 0x20) <= 'f'
			? (*s | 0x20) - 'a' + 10 : 99;

		if (d >= base)
			break;
		v = v * (unsigned)base + (unsigned)d;
	}
	for (; s < c->end && is_letter(*s); s++)
		if ((*s | 0x20) == 'u')
			u = 1;
		else if ((*s | 0x20) == 'l')
			l++;
		else
			c->bad = 1;
	c->s = s;
	c->number = v;
	c->number_size = (uint8_t)(l > 1 ? 8 : l ? c->evs->long_size : 4);
	if (v > UINT32_MAX || (v > INT32_MAX && base == 10 && !u))
		c->number_size = 8;
	c->number_signed = !u && (c->number_size == 4 ? v <= INT32_MAX : v <= INT64_MAX);
}

/* Read a character constant; c->s is after the first quote. */
static void character_token(struct compiler *c)
{
	const char *s = c->s;

	c->number = 0;
	if (s < c->end && *s == '\\' && s + 1 < c->end) {
		s++;
		c->number = *s == 'n' ? '\n' : *s == 't' ? '\t' : *s == '0' ? 0
			    : (unsigned char)*s;
		s++;
	} else if (s < c->end) {
		c->number = (unsigned char)*s++;
	}
	if (s >= c->end || *s != '\'')
		c->bad = 1;
	else
		s++;
	c->s = s;
	c->token = T_NUMBER;
	c->number_size = 4;
	c->number_signed = 1;
}

void lexer_next(struct compiler *c)
{
	static const struct {
		char text[3];
		uint8_t token;
	} pairs[] = {
		{ "->", T_ARROW }, { "<<", T_SHL }, { ">>", T_SHR }, { "<=", T_LE },
		{ ">=", T_GE }, { "==", T_EQ }, { "!=", T_NE }, { "&&", T_AND },
		{ "||", T_OR },
	};

	c->from = c->s = skip_blanks(c->s, c->end);
	c->token = T_END;
	if (c->bad || c->s >= c->end)
		return;
	if (is_letter(*c->s)) {
		while (c->s < c->end && (is_letter(*c->s) || is_digit(*c->s)))
			c->s++;
		c->token = T_NAME;
		return;
	}
	if (is_digit(*c->s)) {
		c->token = T_NUMBER;
		number_token(c);
		return;
	}
	if (*c->s == '"') {
		const char *s = skip_string(c->s, c->end), *again;

		while (s && (again = skip_blanks(s, c->end)) < c->end && *again == '"')
			s = skip_string(again, c->end);
		c->token = T_STRING;
		c->bad |= !s;
		c->s = s ? s : c->end;
		return;
	}
	if (*c->s == '\'') {
		c->s++;
		character_token(c);
		return;
	}
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (c->end - c->s > 1 && c->s[0] == pairs[i].text[0] &&
		    c->s[1] == pairs[i].text[1]) {
			c->token = pairs[i].token;
			c->s += 2;
			return;
		}
	c->token = (unsigned char)*c->s++;
}

void lexer_back_to(struct compiler *c, const char *from)
{
	c->s = from;
	lexer_next(c);
}

int lexer_accept(struct compiler *c, int token)
{
	if (c->token != token)
		return 0;
	lexer_next(c);
	return 1;
}

void lexer_expect(struct compiler *c, int token)
{
	if (!lexer_accept(c, token))
		c->bad = 1;
}

int lexer_at_name(const struct compiler *c, const char *name)
{
	size_t n = strlen(name);

	return c->token == T_NAME && (size_t)(c->s - c->from) == n &&
	       !memcmp(c->from, name, n);
}

int lexer_literal_char(const char **at, const char *end)
{
	const char *s = *at;
	int v = 0, n = 0;

	while (s < end && *s == '"') { /* the end, unless an adjacent literal follows */
		s = skip_blanks(s + 1, end);
		if (s >= end || *s != '"')
			return -1;
		s++;
	}
	if (s >= end)
		return -1;
	if (*s != '\\' || s + 1 >= end) {
		*at = s + 1;
		return (unsigned char)*s;
	}
	s++;
	switch (*s) {
	case 'n': v = '\n'; break;
	case 't': v = '\t'; break;
	case 'r': v = '\r'; break;
	case 'a': v = '\a'; break;
	case 'x':
		for (s++; s < end && n < 2; s++, n++) {
			int d = is_digit(*s) ? *s - '0' : (*s | 0x20) - 'a' + 10;

			if (d < 0 || d > 15)
				break;
			v = v * 16 + d;
		}
		*at = s;
		return v;
	default:
		if (*s < '0' || *s > '7') {
			v = (unsigned char)*s;
			break;
		}
		for (; s < end && n < 3 && *s >= '0' && *s <= '7'; s++, n++)
			v = v * 8 + *s - '0';
		*at = s;
		return v & 255;
	}
	*at = s + 1;
	return v;
}

void emit_literal_text(struct compiler *c, const char *s)
{
	int ch;

	for (s++; (ch = lexer_literal_char(&s, c->end)) >= 0;)
		emit_char(c, (char)ch);
}
