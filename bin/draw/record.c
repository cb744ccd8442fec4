/* SPDX-License-Identifier: ISC */
/* record.c - parse a record of JSON, and print its fields again without what is secret */
#include <string.h>

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

/* Return a value, or an empty string if it is longer than any of a kernel. */
static struct text_part short_value(struct text_part value)
{
	return value.n <= NAME_MOST ? value : (struct text_part){ "\"\"", 2 };
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
		else if (is(name, "args") && value.n && *value.text == '[')
			r->decoded = 1;
		else if (is(name, "resumed"))
			r->lat = -1;
	}
}

int export_read(struct export_record *r, const char *line, size_t n)
{
	const char *s = line, *end = line + n;
	struct text_part name, value;

	*r = (struct export_record){ .line = line, .n = n, .lat = -1 };
	while (json_member(&s, end, &name, &value)) {
		if (is(name, "timeUnixNano"))
			r->time = number(value);
		else if (is(name, "pid"))
			r->tid = number(value);
		else if (is(name, "cpu"))
			r->cpu = number(value);
		else if (is(name, "comm"))
			r->comm = short_value(value);
		else if (is(name, "system"))
			r->system = short_value(value);
		else if (is(name, "event"))
			r->event = short_value(value);
		else if (is(name, "fields"))
			r->fields = value;
		else if (is(name, "lost"))
			r->lost = short_value(value);
		else if (is(name, "comment"))
			r->comment = short_value(value);
		else if (is(name, "host"))
			r->host = short_value(value);
	}
	if (n < 2 || s != end - 1 || *s != '}')
		return 0;
	if (r->fields.n && *r->fields.text == '{')
		read_fields(r);
	else
		r->fields.n = 0;
	return 1;
}

int export_is_mark(const struct export_record *r)
{
	return is(json_unquoted(r->event), "bpf_trace_printk") ||
	       is(json_unquoted(r->event), "tracing_mark_write");
}

/* ---- fields ---------------------------------------------------------------------------- */

static void put_part(struct strbuf *b, struct text_part p)
{
	strbuf_add(b, p.text, p.n);
}

static int ends(struct text_part name, const char *word)
{
	size_t n = strlen(word);

	return name.n >= n && !memcmp(name.text + name.n - n, word, n);
}

/* May a redacted record have the string? Numbers in quotes are addresses and masks. */
static int is_public(struct text_part name, struct text_part value)
{
	return value.n < 2 || *value.text != '"' || !strncmp(value.text, "\"0x", 3) ||
	       ends(name, "comm") || is(name, "error") || is(name, "name");
}

/* Append an argument of a decoded call, an object with name, value and text. */
static void put_argument(struct strbuf *b, struct text_part object, int flags)
{
	const char *s = object.text, *end = s + object.n;
	struct text_part name, value, number = { NULL, 0 };
	int n = 0;

	if (!(flags & EXPORT_REDACT)) {
		put_part(b, object);
		return;
	}
	strbuf_puts(b, "{");
	while (json_member(&s, end, &name, &value)) {
		if (is(name, "value"))
			number = value;
		/* the text of strings, structures and buffers is quoted or in brackets */
		if (is(name, "text") &&
		    (memchr(value.text, '\\', value.n) || memchr(value.text, '{', value.n) ||
		     memchr(value.text, '[', value.n) || memchr(value.text, '<', value.n)))
			value = number;
		strbuf_puts(b, n++ ? ",\"" : "\"");
		put_part(b, name);
		strbuf_puts(b, "\":");
		if (value.n && *value.text != '"' && is(name, "text")) {
			strbuf_puts(b, "\"");
			put_part(b, value);
			strbuf_puts(b, "\"");
		} else {
			put_part(b, value);
		}
	}
	strbuf_puts(b, "}");
}

/* Append what of the elements fits. Return 0 if something does not. */
static int put_elements(struct strbuf *b, struct text_part array, int arguments, int flags,
			size_t most)
{
	const char *s = array.text, *end = s + array.n;
	struct text_part value;
	int n = 0, whole = 1;

	strbuf_puts(b, "[");
	while (json_element(&s, end, &value)) {
		size_t before = b->n;

		if (n)
			strbuf_puts(b, ",");
		if (arguments)
			put_argument(b, value, flags);
		else
			put_part(b, value);
		n++;
		if (b->n + 1 > most) {
			b->n = before;
			whole = 0;
			break;
		}
	}
	strbuf_puts(b, "]");
	return whole;
}

/* Append as much of a JSON string as fits, in whole characters. */
static void put_cut_string(struct strbuf *b, struct text_part string, size_t most)
{
	size_t i = 1, next;

	for (; i < string.n - 1; i = next) {
		const unsigned char *s = (const unsigned char *)string.text + i;

		next = i + (*s == '\\' ? s[1] == 'u' ? 6 : 2 : 1);
		while (next < string.n - 1 && ((unsigned char)string.text[next] & 0xc0) == 0x80)
			next++;
		if (next > string.n - 1 || b->n + next + 1 > most)
			break;
	}
	strbuf_add(b, string.text, i);
	strbuf_puts(b, "\"");
}

void export_fields(struct strbuf *b, const struct export_record *r, int flags, size_t room)
{
	static const char cut_mark[] = "\"cut\":true}";
	const char *s = r->fields.text, *end = s ? s + r->fields.n : NULL;
	size_t most = b->n + room - sizeof(cut_mark);
	struct text_part name, value;
	int n = 0, whole = 1;

	strbuf_puts(b, "{");
	while (s && json_member(&s, end, &name, &value)) {
		size_t before = b->n, head;
		int is_array = value.n && *value.text == '[';

		if (n)
			strbuf_puts(b, ",");
		strbuf_puts(b, "\"");
		put_part(b, name);
		strbuf_puts(b, "\":");
		head = b->n;
		if (flags & EXPORT_REDACT && !is_public(name, value))
			strbuf_puts(b, "\"\"");
		else if (is_array)
			whole &= put_elements(b, value, is(name, "args"), flags, most);
		else
			put_part(b, value);
		if (b->n > most) {
			whole = 0;
			b->n = head;
			if (head + 3 > most || !value.n || *value.text != '"') {
				b->n = before;
				continue;
			}
			put_cut_string(b, value, most);
		}
		n++;
	}
	if (!whole) {
		strbuf_puts(b, n ? "," : "");
		strbuf_puts(b, cut_mark);
	} else {
		strbuf_puts(b, "}");
	}
}
