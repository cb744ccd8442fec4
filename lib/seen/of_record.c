/* SPDX-License-Identifier: ISC */
/* of_record.c - a record of a trace.dat as an event of lines.h, mostly without its text */

#include "seen/seen.h"
#include "seen/of_record.h"

enum { KEYS = 256, KEY = 32, VALUES = 4096 };

/* The event whose parts are asked for. */
static struct {
	struct replay *of;
	const struct record *record;
	const struct decoded *call;     /* NULL: another event */
	char head[LINE_HEAD_ROOM], result[64];
	char values[VALUES];            /* numbers as text */
	size_t nvalues;
	int read;                       /* line is set: it is read from n bytes of text */
	struct seen line;
	size_t n;
	char text[SHOW_ROOM];
} now;

/* The field that a key means in an event. */
static struct {
	const struct event *event;
	const struct field *field;      /* NULL: what the text has */
	char key[KEY];
} keys[KEYS];

/* Return the field that is the value of the key, or NULL. */
static const struct field *field_of(const struct event *e, const char *key)
{
	size_t n = strlen(key), i;

	if (n >= KEY)
		return NULL;
	i = (text_hash(TEXT_HASH, key, n) + e->serial) % KEYS;
	if (keys[i].event != e || strcmp(keys[i].key, key)) {
		keys[i].event = e;
		keys[i].field = event_plain_field(e, key);
		memcpy(keys[i].key, key, n + 1);
	}
	return keys[i].field;
}

size_t record_text(struct replay *of, const struct record *r, const struct decoded *call,
		   char *buf, size_t size)
{
	struct show *s = &of->show;
	const struct show_sink *sink = s->sink;
	size_t n;

	if (call) {
		n = line_begin(&of->line, r, buf);
		return n + show_call_text(s, call, buf + n, size - n);
	}
	s->sink = NULL;
	n = show_text(s, r, buf, size);
	s->sink = sink;
	return n - (n && buf[n - 1] == '\n');
}

/* Return the event as read from its line, which is made at the first call. */
static const struct seen *as_text(void)
{
	if (!now.read) {
		now.n = record_text(now.of, now.record, now.call, now.text, sizeof(now.text) - 1);
		seen_line(&now.line, now.text, now.n);
		now.read = 1;
	}
	return &now.line;
}

static struct text_part body(const struct seen *l)
{
	(void)l;
	return as_text()->body;
}

/* Is this string the same in the text, without quotes and escapes? */
static int is_plain(const struct field_data *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->data[i] <= ' ' || v->data[i] >= 0x7f || strchr("\"\\=<>()[],:", v->data[i]))
			return 0;
	return v->n > 0;
}

/* Set v to the value of the key. Return its field, or NULL if only the text has it. */
static const struct field *value(const char *key, struct field_data *v)
{
	const struct event *e = event_of(&now.of->events, now.record);
	const struct field *f = now.call ? NULL : field_of(e, key);

	return f && !field_value(&now.of->events, f, now.record, v) &&
	       (v->kind == FIELD_NUMBER || is_plain(v)) ? f : NULL;
}

static int number(const struct seen *l, const char *key, int64_t *result)
{
	struct field_data v;

	(void)l;
	/* these are no fields; the time is read as text */
	if (!strcmp(key, "pid"))
		*result = record_pid(&now.of->events, now.record);
	else if (!strcmp(key, "cpu"))
		*result = now.record->cpu;
	else if (strcmp(key, "time") && value(key, &v) && v.kind == FIELD_NUMBER)
		*result = v.i;
	else
		return 0;
	return 1;
}

static struct text_part field(const struct seen *l, const char *key)
{
	struct field_data v;
	const struct field *f = value(key, &v);
	struct out o;

	(void)l;
	if (!f)
		return seen_field(as_text(), key);
	if (v.kind == FIELD_STRING)
		return (struct text_part){ (const char *)v.data, v.n };
	if (VALUES - now.nvalues < DECIMAL_TEXT)
		now.nvalues = 0;
	o = out_to(now.values + now.nvalues, DECIMAL_TEXT);
	key = o.at;
	f->is_signed ? out_signed(&o, v.i) : out_decimal(&o, v.u);
	now.nvalues += (size_t)(o.at - key);
	return (struct text_part){ key, (size_t)(o.at - key) };
}

static const struct seen_source source = { field, number, body };

/* Set what the line of a decoded call has. */
static void set_call(struct seen *l, const struct decoded *c)
{
	size_t n = show_call_result(&now.of->show, c, now.result, sizeof(now.result));
	const char *end = memchr(now.result, ' ', n), *last, *name = decoded_name(c);
	struct out o = out_to(l->lat, sizeof(l->lat) - 1);

	l->event = (struct text_part){ name, strlen(name) };
	l->prefix = "sys_exit_";
	l->decoded = c->fate;
	l->ret = (struct text_part){ now.result, end ? (size_t)(end - now.result) : n };
	if (end && now.result + n > end + 1 && end[1] == 'E') {
		last = memchr(end + 1, ' ', (size_t)(now.result + n - end - 1));
		l->error.text = end + 1;
		l->error.n = (size_t)((last ? last : now.result + n) - end - 1);
	}
	if (!n)
		l->ret.text = NULL;
	if (decoded_timed(c))
		out_decimal(&o, now.of->line.raw_clock ? c->time : (c->time + 500) / 1000);
	*o.at = '\0';
}

int seen_record(struct seen *l, struct replay *of, const struct record *r,
		const struct decoded *call)
{
	static const char *const sides[] = { "sys_enter_", "sys_exit_" };
	const struct event *e = event_of(&of->events, r);
	struct line_parts parts;

	if (!call && (!e || !strcmp(e->system, "ftrace")))
		return 0; /* its text is of a form of its own */
	now.of = of;
	now.record = r;
	now.call = call;
	now.read = 0;
	now.nvalues = 0;
	line_parts(&of->line, r, now.head, &parts);
	*l = (struct seen){
		.comm = parts.comm, .pid = parts.pid, .cpu = parts.cpu, .flags = parts.flags,
		.time = parts.time, .prefix = "", .from = &source,
		.ts = of->line.raw_clock ? r->ts : (r->ts + 500) / 1000 * 1000,
	};
	if (call) {
		set_call(l, call);
		return 1;
	}
	l->event = (struct text_part){ e->name, strlen(e->name) };
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(e->system, "syscalls") &&
		    !strncmp(e->name, sides[i], strlen(sides[i]))) {
			l->prefix = sides[i];
			l->event.text += strlen(sides[i]);
			l->event.n -= strlen(sides[i]);
		}
	return 1;
}
