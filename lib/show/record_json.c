/* SPDX-License-Identifier: ISC */
/* record_json.c - print a record as one line of JSON, RFC 8259 */

#include "base/base.h"
#include "event/event.h"
#include "show/show.h"

enum {
	TAIL = 420,             /* room after the last field: a context, }, "cut", "facts", } */
	MOST_NAME = 256,        /* bytes of the name of an event or instance that are printed */
};

static void put_name(struct out *o, const char *name)
{
	json_string(o, name, strnlen(name, MOST_NAME));
}

static void put_address(struct out *o, uint64_t v)
{
	out_string(o, "\"0x");
	out_hex(o, v);
	out_char(o, '"');
}

static void put_integer(struct out *o, uint64_t v, int is_signed)
{
	if (is_signed)
		out_signed(o, (int64_t)v);
	else
		out_decimal(o, v);
}

/* Print a bit mask as one number; the first word has the lowest bits. */
static void put_mask(const struct event_set *evs, struct out *o, const unsigned char *s, size_t n)
{
	struct conversion c = { .letter = 'x', .flags = F_ZERO,
				.size = (uint8_t)evs->long_size };
	unsigned size = c.size;
	int first = 1;

	out_string(o, "\"0x");
	for (size_t i = n / size; i--;) {
		uint64_t v = raw_number(s + i * size, size, 0, evs->big);

		if (!first)
			out_number(o, &c, 2 * (int)size, -1, v);
		else if (v || !i)
			out_hex(o, v);
		first = first && !v;
	}
	if (n < size)
		out_char(o, '0');
	out_char(o, '"');
}

static void put_array(const struct event_set *evs, struct out *o, const struct field *f,
		      const struct field_data *v, int addresses)
{
	out_char(o, '[');
	for (size_t i = 0; i < v->n && o->at < o->end; i++) {
		uint64_t element = field_element(evs, f, v, i);

		if (i)
			out_char(o, ',');
		if (addresses)
			put_address(o, element);
		else
			put_integer(o, element, f->is_signed);
	}
	out_char(o, ']');
}

/* Is the field a kernel stack? It goes to the end of the record, whatever its format says. */
static int is_stack(const struct event *e, const struct field *f)
{
	return f->kind == FIELD_ARRAY && f->place == PLACE_HERE && f->elem >= 4 &&
	       !strcmp(f->name, "caller") && !strcmp(e->system, "ftrace");
}

/* Print the lines of a user stack. */
static void put_frames(struct out *o, const char *s, size_t n)
{
	const char *end = s + n, *next;

	out_char(o, '[');
	for (; s < end; s = next + (next < end)) {
		next = memchr(s, '\n', (size_t)(end - s));
		next = next ? next : end;
		json_string(o, s, (size_t)(next - s));
		if (next < end)
			out_char(o, ',');
	}
	out_char(o, ']');
}

void json_value(const struct event_set *evs, struct out *o, const struct event *e,
		const struct field *f, const struct record *r)
{
	struct field_data v;

	if (f->kind == FIELD_ARRAY && is_stack(e, f) && f->offset < r->len) {
		v = (struct field_data){ .kind = FIELD_ARRAY, .data = r->data + f->offset,
				    .n = (r->len - f->offset) / f->elem };
		put_array(evs, o, f, &v, 1);
		return;
	}
	if (field_value(evs, f, r, &v) < 0) {
		out_string(o, "null");
		return;
	}
	if (e->id == evs->own_stack && v.kind == FIELD_STRING) {
		put_frames(o, (const char *)v.data, v.n);
		return;
	}
	switch (v.kind) {
	case FIELD_NUMBER:
		put_integer(o, v.u, f->is_signed);
		break;
	case FIELD_POINTER:
		put_address(o, v.u);
		break;
	case FIELD_STRING:
		json_string(o, v.data, v.n);
		break;
	case FIELD_ARRAY:
		put_array(evs, o, f, &v, strchr(f->type, '*') != NULL);
		break;
	case FIELD_BITMASK:
		put_mask(evs, o, v.data, v.n);
		break;
	}
}

/* Print {"ts":...,"cpu":N,"instance":"..." */
static void put_when(const struct json *j, struct out *o, const struct record *r)
{
	out_string(o, "{\"ts\":");
	if (j->line->raw_clock)
		out_decimal(o, r->ts);
	else
		out_decimals(o, r->ts, 9);
	if (j->dated) {
		int64_t nano = (int64_t)(r->ts + (uint64_t)j->offset * 1000);

		out_string(o, ",\"timeUnixNano\":\"");
		out_decimal(o, nano < 0 ? 0 : (uint64_t)nano);
		out_char(o, '"');
	}
	out_string(o, ",\"cpu\":");
	out_decimal(o, r->cpu < 0 ? 0 : (uint64_t)r->cpu);
	if (j->instance) {
		out_string(o, ",\"instance\":");
		put_name(o, j->instance);
	}
}

/* Make the text with pid and name of a task. */
static void make_head(struct json *j, struct json_head *h, int pid)
{
	struct out o = out_to(h->text, sizeof(h->text));
	struct line_format *l = j->line;
	const char *name;

	if (l->learn_name && pid > 0)
		l->learn_name(l->arg, pid);
	name = line_task_name(l->events, pid);
	out_string(&o, ",\"pid\":");
	out_signed(&o, pid);
	out_string(&o, ",\"comm\":");
	if (name)
		json_string(&o, name, strlen(name));
	else
		out_string(&o, "null");
	h->pid = pid;
	h->len = (uint8_t)(o.at - h->text);
}

/* Print up to the name of the task. */
static void put_head(struct json *j, struct out *o, const struct record *r)
{
	int pid = record_pid(j->line->events, r);
	struct json_head *h = &j->heads[(unsigned)pid % (sizeof(j->heads) / sizeof(*j->heads))];

	if (!h->len || h->pid != pid)
		make_head(j, h, pid);
	put_when(j, o, r);
	out_text(o, h->text, h->len);
	if (j->container)
		j->container(o, pid);
}

size_t json_begin(struct json *j, const struct record *r, char *buf, size_t size)
{
	struct out o = out_to(buf, size);

	put_head(j, &o, r);
	return (size_t)(o.at - buf);
}

size_t json_line(struct json *j, const struct record *r, char *buf, size_t size)
{
	struct event_set *evs = j->line->events;
	struct event *e = event_wanted(evs, r);
	struct out o = out_to(buf, size - TAIL);
	char *mark;
	int cut = 0;

	put_head(j, &o, r);
	if (e) {
		out_string(&o, ",\"system\":");
		put_name(&o, e->system);
		out_string(&o, ",\"event\":");
		put_name(&o, e->name);
	} else {
		out_string(&o, ",\"system\":null,\"event\":null,\"type\":");
		out_decimal(&o, r->len < 2 ? 0 : raw_number(r->data, 2, 0, evs->big));
	}
	out_string(&o, ",\"fields\":{");
	for (unsigned i = e ? e->ncommon : 0; e && i < e->nfields; i++) {
		const struct field *f = &e->fields[i];

		mark = o.at;
		json_key(&o, f->name, strlen(f->name));
		json_value(evs, &o, e, f, r);
		if (o.at == o.end) {
			o.at = mark;
			cut = 1;
		}
	}
	o.end += TAIL;
	if (j->otel) {
		struct otel_context c = otel_of(j->otel, evs, r);

		if (o.at[-1] != '{')
			out_char(&o, ',');
		otel_put(&c, &o, 1);
	}
	out_char(&o, '}');
	if (cut)
		out_string(&o, ",\"cut\":true");
	if (j->facts && j->facts->told) {
		out_string(&o, ",\"facts\":{");
		facts_put(j->facts, &o, 1);
		out_char(&o, '}');
	}
	out_string(&o, "}\n");
	return (size_t)(o.at - buf);
}

size_t json_lost(struct json *j, const struct record *r, int64_t lost, char *buf, size_t size)
{
	struct out o = out_to(buf, size);

	put_when(j, &o, r);
	out_string(&o, ",\"lost\":");
	if (lost == LOST_UNKNOWN)
		out_string(&o, "null");
	else
		out_decimal(&o, (uint64_t)lost);
	out_string(&o, "}\n");
	return (size_t)(o.at - buf);
}

void json_changed(struct json *j)
{
	for (size_t i = 0; i < sizeof(j->heads) / sizeof(*j->heads); i++)
		j->heads[i].len = 0;
}
