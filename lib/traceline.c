/* SPDX-License-Identifier: ISC */
/* traceline.c - an event out of a line of text */
#include <string.h>

#include "traceline.h"

/* The task's name takes so many columns, with blanks in front. */
enum { COMM_COLUMNS = 16 };

static const struct part none;

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == '.';
}

static int is(struct part p, const char *word)
{
	return p.n == strlen(word) && !memcmp(p.text, word, p.n);
}

static int begins(const char *s, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - s) >= n && !memcmp(s, word, n);
}

/* ---- the kernel's text ----------------------------------------------------------- */

static const char *blanks(const char *s, const char *end)
{
	while (s < end && *s == ' ')
		s++;
	return s;
}

/* The digits at *s; *s behind them. */
static struct part digits(const char **s, const char *end)
{
	struct part p = { *s, 0 };

	while (*s < end && is_digit(**s))
		++*s;
	p.n = (size_t)(*s - p.text);
	return p;
}

/* sys_NAME(...), sys_NAME -> VALUE, FUNCTION <-CALLER, or EVENT: FIELDS. */
static int event_of_text(struct trace_line *l, const char *s, const char *end)
{
	const char *name = s;

	while (s < end && in_name(*s))
		s++;
	l->event = (struct part){ name, (size_t)(s - name) };
	if (s == name || s == end)
		return 0;
	l->body = (struct part){ s, (size_t)(end - s) };
	if (*s == ':') {
		s = blanks(s + 1, end);
		l->body = (struct part){ s, (size_t)(end - s) };
		return 1;
	}
	if (begins(s, end, " <-")) {
		l->body = (struct part){ name, (size_t)(end - name) };
		l->event = (struct part){ "function", strlen("function") };
		return 1;
	}
	if (!begins(name, s, "sys_") || (size_t)(s - name) == strlen("sys_") ||
	    !(*s == '(' || begins(s, end, " -> ")))
		return 0;
	l->prefix = *s == '(' ? "sys_enter_" : "sys_exit_";
	l->event.text += strlen("sys_");
	l->event.n -= strlen("sys_");
	if (*s == '(' && end[-1] == ')')
		l->body = (struct part){ s + 1, (size_t)(end - s - 2) };
	return 1;
}

static int parse_text(struct trace_line *l, const char *s, const char *end)
{
	const char *comm = blanks(s, end);

	if (end - s <= COMM_COLUMNS || s[COMM_COLUMNS] != '-' || comm > s + COMM_COLUMNS)
		return 0;
	s += COMM_COLUMNS;
	l->comm = (struct part){ comm, (size_t)(s - comm) };
	s++;
	l->pid = digits(&s, end);
	s = blanks(s, end);
	if (s < end && *s == '(') { /* the thread group */
		s = memchr(s, ')', (size_t)(end - s));
		if (!s)
			return 0;
		s = blanks(s + 1, end);
	}
	if (!l->pid.n || s == end || *s++ != '[')
		return 0;
	l->cpu = digits(&s, end);
	if (!l->cpu.n || s == end || *s++ != ']')
		return 0;
	s = blanks(s, end);
	if (s < end && !is_digit(*s)) { /* letters */
		while (s < end && *s != ' ')
			s++;
		s = blanks(s, end);
	}
	l->time = digits(&s, end);
	if (s < end && *s == '.') {
		s++;
		l->time.n += 1 + digits(&s, end).n;
	}
	if (!l->time.n || s == end || *s++ != ':')
		return 0;
	return event_of_text(l, blanks(s, end), end);
}

/* Does NAME= or NAME: begin at s? Behind it, or NULL. */
static const char *behind_name(const char *s, const char *end)
{
	const char *name = s;

	while (s < end && in_name(*s))
		s++;
	if (s == name || s == end)
		return NULL;
	if (*s == '=')
		return s + 1;
	return begins(s, end, ": ") ? s + 2 : NULL;
}

/* A value ends where the next name begins, or a quote that it began with is closed. */
static struct part value_at(const char *s, const char *end)
{
	const char *p = s;

	if (s < end && *s == '"') {
		p = memchr(s + 1, '"', (size_t)(end - s - 1));
		return (struct part){ s + 1, (size_t)((p ? p : end) - s - 1) };
	}
	for (; p < end; p++)
		if ((*p == ' ' && behind_name(p + 1, end)) || begins(p, end, " ==> "))
			break;
	while (p > s && (p[-1] == ',' || p[-1] == ' '))
		p--;
	return (struct part){ s, (size_t)(p - s) };
}

static struct part field_of_text(const struct trace_line *l, const char *key)
{
	const char *s = l->body.text, *end = s + l->body.n, *arrow;
	size_t n = strlen(key);

	if (begins(s, end, " -> "))
		return strcmp(key, "ret") ? none : value_at(s + 4, end);
	arrow = memchr(s, ' ', l->body.n);
	if (is(l->event, "function") && arrow && begins(arrow, end, " <-"))
		return !strcmp(key, "func") ? (struct part){ s, (size_t)(arrow - s) } :
		       !strcmp(key, "caller") ?
			       (struct part){ arrow + 3, (size_t)(end - arrow - 3) } : none;
	while (s < end) {
		const char *value = behind_name(s, end);

		if (value && (size_t)(end - s) > n && !memcmp(s, key, n) &&
		    (s[n] == '=' || s[n] == ':'))
			return value_at(value, end);
		if (value && value < end && *value == '"') {
			/* what is quoted has no names */
			s = memchr(value + 1, '"', (size_t)(end - value - 1));
			if (!s)
				return none;
		}
		while (s < end && *s != ' ')
			s++;
		s = blanks(s, end);
	}
	return none;
}

/* ---- JSON --------------------------------------------------------------------------- */

/* Behind the value at s, of any kind; end when it is cut. */
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

/* The value of a member of the object at s, a string without its quotes. */
static struct part member(const char *s, const char *end, const char *key)
{
	size_t n = strlen(key);

	if (s == end || *s++ != '{')
		return none;
	while (s < end && *s == '"') {
		const char *name = s + 1, *value = memchr(name, '"', (size_t)(end - name)), *next;

		if (!value || ++value == end || *value != ':')
			return none;
		next = behind_value(++value, end);
		if ((size_t)(value - 2 - name) == n && !memcmp(name, key, n)) {
			if (next - value >= 2 && *value == '"' && next[-1] == '"')
				return (struct part){ value + 1, (size_t)(next - value - 2) };
			return (struct part){ value, (size_t)(next - value) };
		}
		s = next + (next < end && *next == ',');
	}
	return none;
}

static int parse_json(struct trace_line *l, const char *s, const char *end)
{
	l->json = 1;
	l->event = member(s, end, "event");
	l->comm = member(s, end, "comm");
	l->pid = member(s, end, "pid");
	l->cpu = member(s, end, "cpu");
	l->time = member(s, end, "ts");
	l->body = member(s, end, "fields");
	return l->event.n && l->time.n;
}

/* ---- both --------------------------------------------------------------------------- */

int trace_line(struct trace_line *l, const char *line, size_t n)
{
	*l = (struct trace_line){ .prefix = "" };
	if (n && *line == '{')
		return parse_json(l, line, line + n);
	return parse_text(l, line, line + n);
}

struct part trace_key(const struct trace_line *l, const char *key)
{
	const struct { const char *name; struct part part; } heads[] = {
		{ "comm", l->comm }, { "pid", l->pid }, { "cpu", l->cpu },
		{ "time", l->time }, { "event", l->event },
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (!strcmp(key, heads[i].name))
			return heads[i].part;
	key += *key == '.';
	if (!l->json)
		return field_of_text(l, key);
	return member(l->body.text, l->body.text ? l->body.text + l->body.n : NULL, key);
}
