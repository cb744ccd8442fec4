/* SPDX-License-Identifier: ISC */
/*
 * event_text.c - fields of events whose text does not name them
 *
 * Most events print NAME=VALUE, which event_line.c reads: in our own text no string looks like a
 * field (out_escaped). The others are here, by the fixed form in which the kernel or a plugin of
 * trace-cmd prints them. A name in them is not escaped if the text is not ours. Two facts tell
 * where it ends: it has at most 15 bytes, and only fields of seen_add_field follow the text.
 */

#include "lines/lines.h"
#include "lines/scan.h"

/* The bytes of a task's name; the same if all are escaped; the ends of strings to try. */
enum { COMM = 15, ESCAPED = 4 * COMM, TRIES = 64 };

/*
 * The forms. %d: a number, decimal or hexadecimal; %v: MAJOR,MINOR of a device; %w: up to a
 * space; %p: up to a closing parenthesis; %b: up to an opening bracket, perhaps nothing; %c: a
 * task's name; %s: a string of any length, at most one per event. The name of the field is
 * before it, or in braces after it. A space is a space or a tab, and ~ is any number of them.
 * An event that ends in an asterisk is any event that begins so.
 */
static const struct form {
	const char *event, *text;
} forms[] = {
#include "forms.h"
};

/* Tracers whose text has no name of an event (kernel/trace/trace_output.c). */
static const struct form tracers[] = {
#include "tracers.h"
};

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (c >= '0' && c <= '9');
}

/* ---- fields of seen_add_field ------------------------------------------------ */

/* Read the appended field at *s, and move *s after it. Return 1, or 0 if there is none. */
static int appended(const char **s, const char *end, struct text_part *name,
		    struct text_part *value)
{
	const char *p = *s, *from;

	if (p == end || *p++ != ' ')
		return 0;
	from = p;
	p = after(p, end, is_letter);
	*name = (struct text_part){ from, (size_t)(p - from) };
	if (!name->n || p == end || *p++ != '=')
		return 0;
	from = p;
	if (p < end && *p == '"') {
		from++;
		p = closing_quote(from, end);
		if (!p)
			return 0;
		*value = (struct text_part){ from, (size_t)(p - from) };
		p++;
	} else if (end - p >= 7 && !memcmp(p, "(fault)", 7)) {
		p += 7;
		*value = (struct text_part){ from, 7 };
	} else {
		while (p < end && !strchr(NOT_PLAIN, *p))
			p++;
		*value = (struct text_part){ from, (size_t)(p - from) };
	}
	*s = p;
	return p == end || *p == ' ';
}

int event_text_only_appended(const char *s, const char *end)
{
	struct text_part name, value;

	while (s < end)
		if (!appended(&s, end, &name, &value))
			return 0;
	return 1;
}

static struct text_part appended_value(const char *s, const char *end, const char *key)
{
	struct text_part name, value;

	while (appended(&s, end, &name, &value))
		if (text_part_is(name, key))
			return value;
	return (struct text_part){ NULL, 0 };
}

/* ---- forms ------------------------------------------------------------------------- */

struct field_search {
	const char *key;
	size_t n;               /* its length */
	struct text_part value; /* of the key */
	const char *after;     /* the end of the kernel's text */
	unsigned tries;         /* the ends of strings that may still be tried */
};

size_t event_text_length(const char *s, size_t n)
{
	size_t length = 0;

	for (size_t i = 0; i < n; length++)
		i += out_escape_length(s + i, n - i);
	return length;
}

/* Keep the value if its field has the wanted name. */
static void found(struct field_search *w, struct text_part name, const char *from, const char *to)
{
	if (name.n == w->n && !memcmp(name.text, w->key, w->n))
		w->value = (struct text_part){ from, (size_t)(to - from) };
}

/*
 * Return the name of the field whose letter is at *f: the name in braces after it, or the one
 * before its %. Move *f to the last character that belongs to the field.
 */
static struct text_part name_at(const char *form, const char **f)
{
	const char *s = *f - 1, *end;

	if ((*f)[1] == '{') {
		s = *f + 2;
		*f = strchr(s, '}');
		return (struct text_part){ s, (size_t)(*f - s) };
	}
	s -= s > form && s[-1] == '"';
	s -= s > form && (s[-1] == '=' || s[-1] == ':');
	end = s;
	s = before(form, s, is_letter);
	return (struct text_part){ s, (size_t)(end - s) };
}

/* Is the text at s the n characters of a form, with a tab for a space? */
static int is_text(const char *s, const char *form, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] != form[i] && !(form[i] == ' ' && s[i] == '\t'))
			return 0;
	return 1;
}

static int has_form(struct field_search *, const char *form, const char *f, const char *s,
		    const char *end);

/*
 * Match a string at s whose letter is at f, and all that follows it. If the string may end in
 * several places, choose the last one, because all text after the string comes from the kernel.
 */
static int has_string(struct field_search *w, const char *form, const char *f, char letter,
		      struct text_part name, const char *s, const char *end)
{
	size_t n = strcspn(f + 1, "%");
	const char *e = letter == 'c' && end - s > ESCAPED ? s + ESCAPED : end;

	if (!n) { /* the last string, which includes anything appended */
		found(w, name, s, end);
		w->after = end;
		return 1;
	}
	if ((size_t)(end - s) < n)
		return 0;
	for (e = (size_t)(end - e) < n ? end - n : e; e >= s; e--) {
		if ((*e != f[1] && *e != '\t') || !is_text(e, f + 1, n) ||
		    (letter == 'c' && e - s > COMM &&
		     event_text_length(s, (size_t)(e - s)) > COMM))
			continue;
		if (!w->tries)
			return 0;
		w->tries--;
		if (has_form(w, form, f + 1, e, end)) {
			found(w, name, s, e);
			return 1;
		}
	}
	return 0;
}

/* Return the end of the number at s. */
static const char *number_end(const char *s, const char *end)
{
	while (s < end && (is_digit(*s) || (*s >= 'a' && *s <= 'f') || *s == 'x' || *s == '-'))
		s++;
	return s;
}

/* Return the end of the value at s that is no string, or s if there is none. */
static const char *value_end(char letter, const char *s, const char *end)
{
	const char *comma = s;

	switch (letter) {
	case 'd':
		return number_end(s, end);
	case 'v':
		digits(&comma, end);
		return comma < end && *comma == ',' ? number_end(comma + 1, end) : s;
	case 'w':
		return after(s, end, not_blank);
	default:
		while (s < end && *s != (letter == 'p' ? ')' : '['))
			s++;
		return s;
	}
}

/* Does the text from s on match the form from f on? */
static int has_form(struct field_search *w, const char *form, const char *f, const char *s,
		    const char *end)
{
	for (; *f; f++) {
		const char *from = s;
		struct text_part name;
		char letter;

		if (*f == '~') {
			s = spaces(s, end);
			continue;
		}
		if (*f != '%') {
			if (s == end || !is_text(s++, f, 1))
				return 0;
			continue;
		}
		letter = *++f;
		name = name_at(form, &f);
		if (letter == 'c' || letter == 's')
			return has_string(w, form, f, letter, name, s, end);
		s = value_end(letter, from, end);
		if (s == from && letter != 'b')
			return 0;
		found(w, name, from, s);
	}
	w->after = s;
	return event_text_only_appended(s, end);
}

/* Is the event the one of the form, or one of its events? */
static int is_event_of(const struct form *f, struct text_part event)
{
	size_t i = 0;

	while (i < event.n && f->event[i] == event.text[i])
		i++;
	return f->event[i] == '*' || (i == event.n && !f->event[i]);
}

int event_text_tracer(struct seen *l, const char *s, const char *end)
{
	if (s == end || !(*s == '#' || is_digit(*s)))
		return 0;
	for (size_t i = 0; i < sizeof(tracers) / sizeof(*tracers); i++) {
		struct field_search w = { .key = "" };

		if (has_form(&w, tracers[i].text, tracers[i].text, s, end)) {
			l->event = (struct text_part){ tracers[i].event, strlen(tracers[i].event) };
			l->body = (struct text_part){ s, (size_t)(end - s) };
			return 1;
		}
	}
	return 0;
}

/* Do as event_text_field with these forms. */
static int field_of_forms(const struct form *v, size_t count, const struct seen *l,
			  const char *key, struct text_part *value)
{
	const char *s = l->body.text, *end = s + l->body.n;

	for (; count; v++, count--) {
		struct field_search w = { .key = key, .n = strlen(key), .tries = TRIES };

		if (!is_event_of(v, l->event) || !has_form(&w, v->text, v->text, s, end))
			continue;
		*value = w.value.text ? w.value : appended_value(w.after, end, key);
		return 1;
	}
	return 0;
}

int event_text_field(const struct seen *l, const char *key, struct text_part *value)
{
	return field_of_forms(forms, sizeof(forms) / sizeof(*forms), l, key, value) ||
	       field_of_forms(tracers, sizeof(tracers) / sizeof(*tracers), l, key, value);
}
