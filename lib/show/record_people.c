/* SPDX-License-Identifier: ISC */
/*
 * record_people.c - print a record as a line for people (people.h)
 *
 * The text of an event comes with marks around the values that get names or columns (KEY_BEGIN).
 * Strings are escaped, so no program can make a mark.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "event/event.h"
#include "show/show.h"

/* The parts of the event that is printed. */
struct parts {
	struct line_parts head;
	struct text_part event;
	const struct show *show;
	struct { const char *key; struct text_part value; } v[32];
	size_t n;
};

/* Return the name of a system call in the tables of the machine, or NULL. */
static const char *call_name(const struct show *s, int64_t number)
{
	static struct calls *calls;
	static int opened;
	const struct call *c;

	if (!opened++)
		calls = calls_open(s->machine);
	c = calls ? calls_find(calls, (uint64_t)number) : NULL;
	return c ? c->name : NULL;
}

/* Find a part by its key (struct people_event). */
static struct text_part part_of(const void *source, const char *key)
{
	const struct parts *p = source;

	if (*key != '.') {
		if (!strcmp(key, "comm"))
			return p->head.comm;
		if (!strcmp(key, "pid"))
			return p->head.pid;
		if (!strcmp(key, "time"))
			return p->head.time;
		if (!strcmp(key, "event"))
			return p->event;
	}
	key += *key == '.';
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->v[i].key, key))
			return p->v[i].value;
	return (struct text_part){ 0 };
}

static const char *name_of_call(const void *source, int64_t number)
{
	return call_name(((const struct parts *)source)->show, number);
}

/* Add the value of a key that ends here. It begins at its 0x, and is without quotes and padding. */
static void add_part(struct parts *p, const char *key, const char *line, const char *s,
		     const char *end)
{
	if (s - line >= 2 && s[-2] == '0' && s[-1] == 'x')
		s -= 2;
	while (s < end && *s == ' ')
		s++;
	while (end > s && end[-1] == ' ')
		end--;
	if (end - s >= 2 && *s == '"' && end[-1] == '"') {
		s++;
		end--;
	}
	if (p->n < sizeof(p->v) / sizeof(*p->v)) {
		p->v[p->n].key = key;
		p->v[p->n++].value = (struct text_part){ s, (size_t)(end - s) };
	}
}

/* Remove the marks from a text of n bytes, and find the parts. Return the length that is left. */
static size_t find_parts(struct parts *p, const char *const *keys, char *text, size_t n)
{
	const char *key = NULL, *begin = text, *end = text + n, *s;
	char *to = memchr(text, KEY_BEGIN, n);
	size_t most = 0;

	if (!to)
		return n;
	while (keys[most])
		most++;
	for (s = to; s < end; s++)
		if (*s == KEY_BEGIN && s + 1 < end) {
			key = (size_t)(*++s - 'A') < most ? keys[*s - 'A'] : NULL;
			begin = to;
		} else if (*s != KEY_END) {
			*to++ = *s;
		} else if (key) {
			add_part(p, key, text, begin, to);
			key = NULL;
		}
	return (size_t)(to - text);
}

/* Add what is derived from several events, NAME=VALUE with spaces between, to the parts. */
static void find_facts(struct parts *p, char *s)
{
	static const char *const keys[] = { "sent", "exit_code", "process_exit_code" };

	while (*s) {
		size_t n = strcspn(s, "="), end = n + strcspn(s + n, " ");

		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			if (strlen(keys[i]) == n && !memcmp(keys[i], s, n))
				add_part(p, keys[i], s, s + n + 1, s + end);
		s += end + (s[end] == ' ');
	}
}

/* Set the parts of the head, in LINE_HEAD_ROOM bytes of head. */
static void set_head(const struct show *s, const struct record *r, char *head,
		     struct line_parts *parts, struct people_event *e)
{
	line_parts(s->line, r, head, parts);
	*e = (struct people_event){
		.time = parts->time, .comm = parts->comm, .pid = parts->pid,
		.timed = !s->line->raw_clock, .ns = (r->ts + 500) / 1000 * 1000,
	};
}

static void start(const struct show *s, const struct record *r, struct out *o)
{
	char head[LINE_HEAD_ROOM];
	struct line_parts parts;
	struct people_event e;

	set_head(s, r, head, &parts, &e);
	people_head(s->people, o, &e);
}

/* Find the name of the event in its text of n bytes, and what kind of event it is. */
static void set_event(struct people_event *e, const struct event *of, const char *text, size_t n)
{
	static const char enter[] = "sys_enter_", leave[] = "sys_exit_", call[] = "sys_";
	const char *colon = NULL;

	e->body = (struct text_part){ text, n };
	if (!strcmp(of->system, "syscalls")) {
		int enters = !strncmp(of->name, enter, strlen(enter));

		e->kind = enters ? PEOPLE_ENTER : PEOPLE_RETURN;
		e->event.text = text + strlen(call);
		e->event.n = strlen(of->name) - (enters ? strlen(enter) : strlen(leave));
		e->body.text = e->event.text + e->event.n;
		e->body.n = n - strlen(call) - e->event.n;
		return;
	}
	if (strcmp(of->system, "ftrace"))
		colon = text + strlen(of->name);
	else if (!strcmp(of->name, "print") || !strcmp(of->name, "bputs") ||
		 !strcmp(of->name, "bprint"))
		colon = memchr(text, ':', n);
	if (colon && colon < text + n && *colon == ':') {
		e->event = (struct text_part){ text, (size_t)(colon - text) };
		e->body.text = colon + 1 + (colon[1] == ' ');
		e->body.n = (size_t)(text + n - e->body.text);
	}
	if (!strcmp(of->system, "raw_syscalls"))
		e->kind = PEOPLE_RAW_CALL;
	else if (!strcmp(of->system, "signal"))
		e->kind = PEOPLE_SIGNAL;
}

static size_t line(const struct show *s, const struct record *r, char *buf, size_t size)
{
	static char text[2 * SHOW_ROOM + 1];
	const struct event *of = event_wanted(s->line->events, r);
	struct out o = out_to(buf, size - 1), facts;
	char head[LINE_HEAD_ROOM];
	struct people_event e;
	struct parts parts;
	size_t n;

	if (!of || record_is_stack(s->line->events, r))
		return line_print(s->line, r, buf, size);
	set_head(s, r, head, &parts.head, &e);
	parts.show = s;
	parts.n = 0;
	n = line_event(s->line, r, text, sizeof(text) / 2) - 1; /* without the newline */
	n = find_parts(&parts, s->keys, text, n);
	facts = out_to(text + n, sizeof(text) / 2);
	if (s->tells && s->facts.told)
		facts_put(&s->facts, &facts, 0);
	*facts.at = '\0';
	find_facts(&parts, text + n + (facts.at > text + n));
	n = (size_t)(facts.at - text);
	set_event(&e, of, text, n);
	parts.event = e.event.n ? e.event :
		      (struct text_part){ of->name, strlen(of->name) };
	e.key = part_of;
	e.call = name_of_call;
	e.source = &parts;
	people_event(s->people, &o, &e);
	*o.at++ = '\n';
	return (size_t)(o.at - buf);
}

static void set_keys(struct show *s)
{
	static const char *const names[] = {
		"ret", "error", "err", "errno", "result", "retval", "rc", "sector", "lat", "sig",
		"code", "dfd", "olddfd", "newdfd", "id",
	};
	const struct people *p = s->people;
	const char *const fields[] = { p->comm, p->pid };
	size_t n = 0;

	for (; n < sizeof(names) / sizeof(*names); n++)
		s->keys[n] = names[n];
	for (size_t i = 0; i < p->ncolumns; i++)
		s->keys[n++] = p->columns[i].field + (*p->columns[i].field == '.');
	for (size_t i = 0; i < 2; i++)
		if (fields[i])
			s->keys[n++] = fields[i] + (*fields[i] == '.');
	s->keys[n] = NULL;
	s->line->events->keys = s->keys;
}

int people_take(struct show *s, const struct tool *tool)
{
	static const struct people_view view = {
		set_keys, line, start, call_name, people_begin, people_result, people_siginfo,
		people_exit,
	};
	int human = !strcmp(opt_last.name, "human"), columns = !strcmp(opt_last.name, "columns");

	if (human && !s->people) {
		s->people = xcalloc(1, sizeof(*s->people));
		s->view = &view;
		people_screen(s->people, isatty(STDOUT_FILENO));
	}
	if (human && (s->json || s->header || s->exact))
		usage_error(tool, "-m cannot be combined with -j, -H and -x");
	if (columns && (!s->people || people_columns(s->people, opt_value) < 0))
		usage_error(tool, "-c needs -m before it, and at most %d columns: '%.80s'",
			    PEOPLE_COLUMNS, opt_value);
	return human || columns;
}
