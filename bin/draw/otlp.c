/* SPDX-License-Identifier: ISC */
/*
 * otlp.c - log records and spans as lines of OTLP's JSON
 *
 * The names and types are those of opentelemetry-proto (common/v1, logs/v1, trace/v1) in
 * protobuf's JSON mapping: 64-bit numbers are strings, ids are hexadecimal. Attributes of the
 * resource have the names of OpenTelemetry's semantic conventions, if those have one.
 */
#include <stdlib.h>
#include <string.h>

#include "export.h"

enum {
	DEEPEST = 6,                    /* arrays and objects in a value */
	INTEGER = 18,                   /* digits that an int64 always has room for */
};

static void put(struct strbuf *b, const char *s)
{
	strbuf_puts(b, s);
}

static void put_part(struct strbuf *b, struct text_part p)
{
	strbuf_add(b, p.text, p.n);
}

static void put_number(struct strbuf *b, const char *format, uint64_t n)
{
	char text[64];

	str_format(text, sizeof(text), format, (unsigned long long)n);
	put(b, text);
}

/* Append the 16 hexadecimal digits of an id. */
static void put_id(struct strbuf *b, uint64_t id)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		strbuf_add(b, &"0123456789abcdef"[id >> shift & 15], 1);
}

/* ---- attributes ------------------------------------------------------------------------- */

static int is_integer(struct text_part v)
{
	size_t i = v.n && *v.text == '-';

	if (i == v.n || v.n - i > INTEGER)
		return 0;
	while (i < v.n && v.text[i] >= '0' && v.text[i] <= '9')
		i++;
	return i == v.n;
}

/* Append a value of JSON as an AnyValue. */
static void put_value(struct strbuf *b, struct text_part v, int depth)
{
	const char *s = v.text, *end = s + v.n;
	struct text_part name, value;
	int n = 0;

	if (v.n && *s == '"') {
		put(b, "{\"stringValue\":");
		put_part(b, v);
	} else if (is_integer(v)) {
		put(b, "{\"intValue\":\"");
		put_part(b, v);
		put(b, "\"");
	} else if (text_part_is(v, "true") || text_part_is(v, "false")) {
		put(b, "{\"boolValue\":");
		put_part(b, v);
	} else if (v.n && *s == '[' && depth < DEEPEST) {
		put(b, "{\"arrayValue\":{\"values\":[");
		while (json_element(&s, end, &value)) {
			put(b, n++ ? "," : "");
			put_value(b, value, depth + 1);
		}
		put(b, "]}");
	} else if (v.n && *s == '{' && depth < DEEPEST) {
		put(b, "{\"kvlistValue\":{\"values\":[");
		while (json_member(&s, end, &name, &value)) {
			put(b, n++ ? ",{\"key\":\"" : "{\"key\":\"");
			put_part(b, name);
			put(b, "\",\"value\":");
			put_value(b, value, depth + 1);
			put(b, "}");
		}
		put(b, "]}");
	} else if (v.n && ((*s >= '0' && *s <= '9') || *s == '-') &&
		   (memchr(s, '.', v.n) || memchr(s, 'e', v.n))) {
		put(b, "{\"doubleValue\":");
		put_part(b, v);
	} else if (v.n && ((*s >= '0' && *s <= '9') || *s == '-')) { /* more than 64 bits sign */
		put(b, "{\"stringValue\":\"");
		put_part(b, v);
		put(b, "\"");
	} else {
		put(b, "{"); /* null */
	}
	put(b, "}");
}

/* Append an attribute whose value is JSON. The first one is at the beginning of the array. */
static void put_attribute(struct strbuf *b, struct text_part key, struct text_part value)
{
	put(b, b->text[b->n - 1] == '[' ? "{\"key\":\"" : ",{\"key\":\"");
	put_part(b, key);
	put(b, "\",\"value\":");
	put_value(b, value, 0);
	put(b, "}");
}

static void put_named(struct strbuf *b, const char *key, struct text_part value)
{
	if (value.n)
		put_attribute(b, (struct text_part){ key, strlen(key) }, value);
}

static void put_integer(struct strbuf *b, const char *key, uint64_t n)
{
	char text[24];

	str_format(text, sizeof(text), "%llu", (unsigned long long)n);
	put_named(b, key, (struct text_part){ text, strlen(text) });
}

/* Append an attribute whose value is a plain string; none if it is empty. */
static void put_plain(struct strbuf *b, const char *key, const char *value)
{
	char text[128];

	str_format(text, sizeof(text), "\"%s\"", value);
	if (*value)
		put_named(b, key, (struct text_part){ text, strlen(text) });
}

/* ---- resources and lines ---------------------------------------------------------------- */

/* Set next_resource to that of the record. */
static void set_resource(struct otlp *o, const struct export_record *r)
{
	struct origin *from = o->origin;
	const struct origin_task *t = origin_of(from, r);
	struct strbuf *b = &o->next_resource;

	b->n = 0;
	put(b, "{\"resource\":{\"attributes\":[");
	put_plain(b, "service.name", *from->session ? from->session : "tfs-tools");
	if (r->host.n) {
		put_named(b, "host.name", r->host);
	} else {
		put_plain(b, "host.name", from->host);
		put_plain(b, "tfs.boot_id", from->boot);
	}
	put_plain(b, "container.id", t->container);
	put_plain(b, "k8s.pod.uid", t->pod);
	put(b, "]},");
	put(b, o->spans ? "\"scopeSpans\":[{\"scope\":{\"name\":\"tfs-tools\"},\"spans\":["
			: "\"scopeLogs\":[{\"scope\":{\"name\":\"tfs-tools\"},\"logRecords\":[");
}

/* The ends of the records of a resource, and of a line */
#define RESOURCE_END "]}]}"
#define LINE_END "]}"

void otlp_flush(struct otlp *o)
{
	if (o->line.n)
		stdout_print("%.*s" RESOURCE_END LINE_END "\n", (int)o->line.n, o->line.text);
	o->line.n = o->resource.n = 0;
}

/* Add the record to the line, or begin a new line with it. */
static void add_record(struct otlp *o)
{
	const size_t ends = sizeof(RESOURCE_END LINE_END);
	struct strbuf *b = &o->line;
	int same = o->resource.n == o->next_resource.n &&
		   !memcmp(o->resource.text, o->next_resource.text, o->resource.n);

	if (b->n && b->n + o->record.n + o->next_resource.n + 2 * ends > o->most) {
		otlp_flush(o);
		same = 0;
	}
	if (!b->n)
		put(b, o->spans ? "{\"resourceSpans\":[" : "{\"resourceLogs\":[");
	else
		put(b, same ? "," : RESOURCE_END ",");
	if (!same) {
		strbuf_add(b, o->next_resource.text, o->next_resource.n);
		o->resource.n = 0;
		strbuf_add(&o->resource, o->next_resource.text, o->next_resource.n);
	}
	strbuf_add(b, o->record.text, o->record.n);
}

/* Append an attribute if the record then has at most so many bytes; else set *cut. */
static void put_if_it_fits(struct strbuf *b, struct text_part key, struct text_part value,
			   size_t most, int *cut)
{
	size_t before = b->n;

	if (value.n)
		put_attribute(b, key, value);
	if (b->n > most) {
		b->n = before;
		*cut = 1;
	}
}

/* Append the attributes of a record: its task, its place, its fields. */
static void put_attributes(struct otlp *o, const struct export_record *r, const char *note,
			   uint64_t number)
{
	struct strbuf *b = &o->record, fields = { 0 };
	struct text_part name, value, system = json_unquoted(r->system);
	/* what else a line has takes less than 1024 bytes */
	size_t most = o->most > o->next_resource.n + 1024 ? o->most - o->next_resource.n - 1024 : 0;
	const char *s, *end;
	int cut = 0;

	put(b, ",\"attributes\":[");
	if (r->tid)
		put_integer(b, "thread.id", r->tid);
	put_named(b, "thread.name", r->comm);
	put_integer(b, "tfs.cpu", r->cpu);
	put_integer(b, "tfs.seq", number);
	if (system.n)
		put_named(b, "tfs.system", r->system);
	put_named(b, "tfs.lost", r->lost);
	if (note)
		put_named(b, note, (struct text_part){ "true", 4 });
	export_fields(&fields, r, o->flags, most > b->n + 256 ? most - b->n - 128 : 128);
	s = fields.text;
	end = s + fields.n;
	while (json_member(&s, end, &name, &value)) {
		struct text_part argument;
		const char *a = value.text, *end_of = a + value.n;

		if (!text_part_is(name, "args") || !r->decoded) {
			put_if_it_fits(b, name, value, most, &cut);
			continue;
		}
		/* {"name":NAME,"value":...,"text":TEXT}: NAME is TEXT */
		while (json_element(&a, end_of, &argument)) {
			const char *p = argument.text, *end_of_it = p + argument.n;
			struct text_part key = { "argument", 8 }, text = { NULL, 0 }, member;

			while (json_member(&p, end_of_it, &member, &value))
				if (text_part_is(member, "name"))
					key = json_unquoted(value);
				else if (text_part_is(member, "text"))
					text = value;
			put_if_it_fits(b, key, text, most, &cut);
		}
	}
	if (cut)
		put_named(b, "cut", (struct text_part){ "true", 4 });
	put(b, "]");
	free(fields.text);
}

/* ---- records ----------------------------------------------------------------------------- */

enum { SEVERITY_INFO = 9, SEVERITY_WARN = 13 };

void otlp_log(struct otlp *o, const struct export_record *r, uint64_t number)
{
	struct strbuf *b = &o->record;

	set_resource(o, r);
	b->n = 0;
	put_number(b, "{\"timeUnixNano\":\"%llu\"", r->time);
	put_number(b, ",\"observedTimeUnixNano\":\"%llu\"", (uint64_t)time_of_day_us() * 1000);
	put_number(b, ",\"severityNumber\":%llu", r->lost.n ? SEVERITY_WARN : SEVERITY_INFO);
	put(b, ",\"body\":{\"stringValue\":");
	if (r->event.n && *r->event.text == '"')
		put_part(b, r->event);
	else if (r->comment.n && *r->comment.text == '"')
		put_part(b, r->comment);
	else
		put(b, r->lost.n ? "\"lost events\"" : "\"\"");
	put(b, "}");
	put_attributes(o, r, NULL, number);
	put(b, "}");
	add_record(o);
}

void otlp_span(struct otlp *o, const struct otlp_span *s, const struct export_record *r,
	       uint64_t number)
{
	struct strbuf *b = &o->record;

	set_resource(o, r);
	b->n = 0;
	put(b, "{\"traceId\":\"");
	put_id(b, s->trace);
	put_id(b, s->trace);
	put(b, "\",\"spanId\":\"");
	put_id(b, s->id);
	if (s->parent) {
		put(b, "\",\"parentSpanId\":\"");
		put_id(b, s->parent);
	}
	put(b, "\",\"name\":");
	if (s->name.n && *s->name.text == '"')
		put_part(b, s->name);
	else
		put(b, "\"\"");
	put(b, ",\"kind\":");
	put(b, s->kind);
	put_number(b, ",\"startTimeUnixNano\":\"%llu\"", s->from);
	put_number(b, ",\"endTimeUnixNano\":\"%llu\"", s->to);
	put_attributes(o, r, s->note, number);
	if (r->error.n && *r->error.text == '"') { /* STATUS_CODE_ERROR */
		put(b, ",\"status\":{\"code\":2,\"message\":");
		put_part(b, r->error);
		put(b, "}");
	}
	put(b, "}");
	add_record(o);
}
