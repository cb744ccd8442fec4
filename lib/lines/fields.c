/* SPDX-License-Identifier: ISC */
/* fields.c - values of several keys, and event lines with more fields */

#include "base/base.h"
#include "lines/lines.h"

void seen_add_string(struct strbuf *w, const struct seen *l, struct text_part p)
{
	struct strbuf string = { 0 };

	p = strbuf_unescaped(&string, p, l->json);
	strbuf_escaped(w, p.text, p.n, ESCAPE_TEXT);
	free(string.text);
}

size_t seen_values(struct strbuf *w, const struct seen *l, const char *const *keys)
{
	size_t there = 0;

	strbuf_add(strbuf_empty(w), "", 0);
	for (const char *const *k = keys; *k; k++) {
		struct text_part p = seen_text(l, *k);

		if (k > keys)
			strbuf_puts(w, "\t");
		if (!strcmp(*k, "event"))
			strbuf_puts(w, l->prefix);
		there += p.n > 0;
		seen_add_string(w, l, p.n ? p : (struct text_part){ "-", 1 });
	}
	return there;
}

void seen_shorten(char *values)
{
	static const char enter[] = "sys_enter_";
	const size_t most = sizeof(enter) - 1;
	char *to = values;

	for (const char *s = values; *s;) {
		size_t n;

		if (!strncmp(s, enter, most) && s[most] && s[most] != '\t')
			s += most;
		n = strcspn(s, "\t");
		n += s[n] != '\0';
		memmove(to, s, n);
		to += n;
		s += n;
	}
	*to = '\0';
}

/* Can the value stay without quotes? The beginning of the next field must be certain. */
static int is_plain(struct text_part p)
{
	for (size_t i = 0; i < p.n; i++)
		if (strchr(NOT_PLAIN, p.text[i]))
			return 0;
	/* a carriage return may be a part of the line's end */
	return p.n && !memchr(",:\r", p.text[p.n - 1], 3);
}

void seen_add_field(struct strbuf *w, const struct seen *l, const char *name,
		    struct text_part value)
{
	struct strbuf string = { 0 };

	if (l->json) {
		int quoted = value.text && value.text[-1] == '"';

		strbuf_puts(w, ",\"");
		strbuf_puts(w, name);
		strbuf_puts(w, "\":");
		if (value.text)
			strbuf_add(w, value.text - quoted, value.n + 2 * (size_t)quoted);
		else
			strbuf_puts(w, "null");
		return;
	}
	strbuf_puts(w, " ");
	strbuf_puts(w, name);
	/* a probe prints (fault), without quotes, for a string that it could not read */
	if (!value.text || is_plain(value) ||
	    (text_part_is(value, "(fault)") && value.text[-1] == '=')) {
		strbuf_puts(w, "=");
		strbuf_add(w, value.text ? value.text : "-", value.text ? value.n : 1);
		return;
	}
	strbuf_puts(w, "=\"");
	value = strbuf_unescaped(&string, value, 0);
	strbuf_escaped(w, value.text, value.n, ESCAPE_QUOTED);
	strbuf_puts(w, "\"");
	free(string.text);
}

void seen_with_fields(struct strbuf *w, const struct seen *l, const char *line,
		      size_t n, const struct strbuf *fields, struct text_part context)
{
	const char *end = l->context.n ? l->context.text :
			  l->json ? l->body.text + l->body.n - 1 : line + n;
	/* the first member of an object has no comma in front */
	const size_t comma = l->json && end[-1] == '{';

	strbuf_add(strbuf_empty(w), line, (size_t)(end - line));
	strbuf_add(w, fields->text + comma, fields->n - comma);
	if (l->context.n)
		strbuf_add(w, context.text, context.n);
	end += l->context.n;
	strbuf_add(w, end, (size_t)(line + n - end));
}

void json_print_string(const char *name, struct text_part s)
{
	static struct strbuf quoted;

	strbuf_puts(strbuf_empty(&quoted), ",\"");
	strbuf_escaped(&quoted, name, strlen(name), ESCAPE_JSON);
	strbuf_puts(&quoted, s.text ? "\":\"" : "\":null");
	strbuf_escaped(&quoted, s.text, s.n, ESCAPE_JSON);
	stdout_print("%s%s", quoted.text, s.text ? "\"" : "");
}

void json_print_name(const char *name, struct text_part s)
{
	static struct strbuf plain;

	plain.n = 0;
	json_print_string(name, s.text ? strbuf_unescaped(&plain, s, 0) : s);
}

void json_print_keys(const char *const *keys, const char *values)
{
	for (const char *s = values; *keys; keys++) {
		size_t n = strcspn(s, "\t");
		const char *name = *keys + (**keys == '.');
		struct text_part value = { s, n };

		if ((!strcmp(name, "pid") || !strcmp(name, "cpu")) &&
		    n && strspn(s, "0123456789") == n) {
			size_t zeros = strspn(s, "0"); /* 001 is no number of JSON */

			zeros -= zeros == n;
			stdout_print(",\"%s\":%.*s", name, (int)(n - zeros), s + zeros);
		} else {
			json_print_name(name, text_part_is(value, "-") ?
					(struct text_part){ NULL, 0 } : value);
		}
		s += n + (s[n] == '\t');
	}
}
