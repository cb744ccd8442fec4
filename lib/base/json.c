/* SPDX-License-Identifier: ISC */
/* json.c - JSON text, RFC 8259: write strings and members, walk through objects and arrays */

#include "base/base.h"

/* ---- write ------------------------------------------------------------------------------- */

void json_string(struct out *o, const void *text, size_t n)
{
	out_char(o, '"');
	out_escaped(o, text, n, ESCAPE_JSON);
	out_char(o, '"');
}

void json_key(struct out *o, const char *name, size_t n)
{
	if (o->at[-1] != '{' && o->at[-1] != '[')
		out_char(o, ',');
	out_char(o, '"');
	out_text(o, name, n);
	out_text(o, "\":", 2);
}

void json_put(struct out *o, const char *name, struct text_part value)
{
	if (!value.n)
		return;
	json_key(o, name, strlen(name));
	out_text(o, value.text, value.n);
}

void json_put_plain(struct out *o, const char *name, const char *value)
{
	if (!*value)
		return;
	json_key(o, name, strlen(name));
	out_format(o, "\"%s\"", value);
}

/* ---- read -------------------------------------------------------------------------------- */

/* Return the end of the JSON value at s. If the value is cut, return end. */
static const char *behind_value(const char *s, const char *end)
{
	int depth = 0, quoted = 0;

	for (; s < end; s++) {
		if (quoted)
			if (*s == '\\')
				s++;
			else
				quoted = *s != '"';
		else if (*s == '"')
			quoted = 1;
		else if (*s == '{' || *s == '[')
			depth++;
		else if (!depth && (*s == ',' || *s == '}' || *s == ']'))
			return s;
		else if (*s == '}' || *s == ']')
			depth--;
	}
	return end;
}

int json_element(const char **s, const char *end, struct text_part *value)
{
	const char *from;

	if (*s == end || (**s != '[' && **s != ','))
		return 0;
	from = *s + 1;
	*s = behind_value(from, end);
	*value = (struct text_part){ from, (size_t)(*s - from) };
	return value->n != 0;
}

int json_member(const char **s, const char *end, struct text_part *name, struct text_part *value)
{
	const char *from, *quote;

	if (*s == end || (**s != '{' && **s != ','))
		return 0;
	from = *s + 1;
	if (from == end || *from++ != '"')
		return 0;
	quote = memchr(from, '"', (size_t)(end - from));
	if (!quote || end - quote < 2 || quote[1] != ':')
		return 0;
	*name = (struct text_part){ from, (size_t)(quote - from) };
	from = quote + 2;
	*s = behind_value(from, end);
	*value = (struct text_part){ from, (size_t)(*s - from) };
	return 1;
}

struct text_part json_unquoted(struct text_part value)
{
	if (value.n >= 2 && *value.text == '"' && value.text[value.n - 1] == '"')
		return (struct text_part){ value.text + 1, value.n - 2 };
	return value;
}
