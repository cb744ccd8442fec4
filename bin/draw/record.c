/* SPDX-License-Identifier: ISC */
/* record.c - parse a record of JSON, and print its fields again without what is secret */

#include "export.h"

enum { NAME_MOST = 400 };       /* bytes of a name as JSON */

static int is(struct text_part name, const char *word)
{
	return text_part_is(name, word);
}

static uint64_t number(struct text_part value)
{
	uint64_t n = 0;

	value = json_unquoted(value);
	return text_part_number(value, 10, &n) < 0 ? 0 : n;
}

/* Return the value, or an empty string if no kernel prints a value that long. */
static struct text_part short_value(struct text_part value)
{
	return value.n <= NAME_MOST ? value : (struct text_part){ "\"\"", 2 };
}

/* Read the fields of --otel: hexadecimal digits. */
static void read_context(struct export_context *c, struct text_part name, struct text_part value)
{
	struct text_part high = { value.text + 1, 16 }, low = { value.text + 17, 16 };
	uint64_t n;

	if (!value.n || *value.text != '"')
		return;
	value = json_unquoted(value);
	if (is(name, "trace_id") && value.n == 32) {
		if (text_part_number(high, 16, &c->trace[0]) < 0 ||
		    text_part_number(low, 16, &c->trace[1]) < 0)
			c->trace[0] = c->trace[1] = 0;
	} else if (is(name, "span_id") && value.n == 16) {
		c->span = text_part_number(value, 16, &n) < 0 ? 0 : n;
	} else if (is(name, "trace_flags") && value.n == 2 && !text_part_number(value, 16, &n)) {
		c->flags = (unsigned)n;
	}
}

static void read_fields(struct export_record *r)
{
	const char *s = r->fields.text, *end = s + r->fields.n;
	struct text_part name, value;

	while (json_member(&s, end, &name, &value)) {
		if (is(name, "lat"))
			r->lat = decimal_latency(value, 0);
		else if (is(name, "error"))
			r->error = short_value(value);
		else if (is(name, "code") && is(json_unquoted(r->system), "dns") &&
			 !is(value, "\"NOERROR\""))
			r->error = short_value(value);
		else if (is(name, "args") && value.n && *value.text == '[')
			r->decoded = 1;
		else if (is(name, "denied") || is(name, "emulated"))
			r->answered = 1;
		else if (is(name, "resumed"))
			r->lat = -1;
		else
			read_context(&r->context, name, value);
	}
}

int export_read(struct export_record *r, const char *line, size_t n)
{
	const struct { const char *name; uint64_t *to; } numbers[] = {
		{ "timeUnixNano", &r->time }, { "pid", &r->tid }, { "tgid", &r->tgid },
		{ "cpu", &r->cpu },
	};
	const struct { const char *name; struct text_part *to; } texts[] = {
		{ "comm", &r->comm }, { "system", &r->system }, { "event", &r->event },
		{ "lost", &r->lost }, { "comment", &r->comment }, { "host", &r->host },
		{ "overwritten", &r->overwritten },
	};
	const char *s = line, *end = line + n;
	struct text_part name, value;

	*r = (struct export_record){ .line = line, .n = n, .lat = -1,
				     .cpu = EXPORT_NO_CPU };
	while (json_member(&s, end, &name, &value)) {
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
			if (is(name, numbers[i].name))
				*numbers[i].to = number(value);
		for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
			if (is(name, texts[i].name))
				*texts[i].to = short_value(value);
		if (is(name, "fields") && value.n && *value.text == '{')
			r->fields = value;
		r->contained |= is(name, "container_id");
	}
	if (n < 2 || s != end - 1 || *s != '}')
		return 0;
	if (r->fields.n)
		read_fields(r);
	if (!(r->context.trace[0] | r->context.trace[1]) || !r->context.span)
		r->context = (struct export_context){ .flags = 0 };
	return 1;
}

int export_is_mark(const struct export_record *r)
{
	return is(json_unquoted(r->event), "mark") ||
	       is(json_unquoted(r->event), "bpf_trace_printk") ||
	       is(json_unquoted(r->event), "print");
}

/* ---- fields ---------------------------------------------------------------------------- */

/* May a redacted record have the string? Numbers in quotes are addresses and masks. */
static int is_public(struct text_part name, struct text_part value)
{
	return value.n < 2 || *value.text != '"' || !strncmp(value.text, "\"0x", 3) ||
	       text_part_ends(name, "comm") || is(name, "error") || is(name, "name") ||
	       is(name, "by"); /* a task, or what left records out */
}

/* Is it the text of a string, a structure or a buffer, which is quoted or in brackets? */
static int is_data(struct text_part text)
{
	return memchr(text.text, '\\', text.n) || memchr(text.text, '{', text.n) ||
	       memchr(text.text, '[', text.n) || memchr(text.text, '<', text.n);
}

/* Write an argument of a decoded call, an object with name, value and text, without its data. */
static void put_redacted(struct out *o, struct text_part object)
{
	const char *s = object.text, *end = s + object.n;
	struct text_part name, value, number = { NULL, 0 };

	out_char(o, '{');
	while (json_member(&s, end, &name, &value)) {
		if (is(name, "value"))
			number = value;
		if (is(name, "text") && is_data(value))
			value = number;
		json_key(o, name.text, name.n);
		out_format(o, is(name, "text") && value.n && *value.text != '"' ?
			   "\"%.*s\"" : "%.*s", (int)value.n, value.text);
	}
	out_char(o, '}');
}

/* Write the elements that fit. Return 0 if one does not. */
static int put_elements(struct out *o, struct text_part array, int redact)
{
	const char *s = array.text, *end = s + array.n;
	struct text_part value;
	int whole = 1;

	out_char(o, '[');
	while (whole && json_element(&s, end, &value)) {
		char *mark = o->at;

		out_text(o, ",", mark[-1] != '[');
		if (redact)
			put_redacted(o, value);
		else
			out_text(o, value.text, value.n);
		whole = !o->cut && o->at < o->end;
		if (!whole)
			o->at = mark;
		o->cut = 0;
	}
	out_char(o, ']');
	return whole;
}

/* Write as much of a JSON string as fits, in whole characters. */
static void put_cut_string(struct out *o, struct text_part string)
{
	size_t i = 1, next;

	for (; i < string.n - 1; i = next) {
		const unsigned char *s = (const unsigned char *)string.text + i;

		next = i + (*s == '\\' ? s[1] == 'u' ? 6 : 2 : 1);
		while (next < string.n - 1 && ((unsigned char)string.text[next] & 0xc0) == 0x80)
			next++;
		if (next > string.n - 1 || next + 1 > out_room(o))
			break;
	}
	out_text(o, string.text, i);
	out_char(o, '"');
}

void export_fields(struct out *o, const struct export_record *r, int flags)
{
	static const char cut_mark[] = ",\"cut\":true}";
	const char *s = r->fields.text, *end = s ? s + r->fields.n : NULL;
	int redact = flags & EXPORT_REDACT, whole = 1;
	struct text_part name, value;

	o->end -= strlen(cut_mark);
	out_char(o, '{');
	while (s && json_member(&s, end, &name, &value)) {
		char *mark = o->at, *head;

		json_key(o, name.text, name.n);
		head = o->at;
		if (redact && !is_public(name, value))
			out_string(o, "\"\"");
		else if (value.n && *value.text == '[')
			whole &= put_elements(o, value, redact && is(name, "args"));
		else
			out_text(o, value.text, value.n);
		if (!o->cut)
			continue;
		whole = 0;
		o->at = head;
		o->cut = 0;
		if (out_room(o) < 3 || !value.n || *value.text != '"')
			o->at = mark;
		else
			put_cut_string(o, value);
	}
	o->end += strlen(cut_mark);
	out_string(o, whole ? "}" : cut_mark + (o->at[-1] == '{'));
}
