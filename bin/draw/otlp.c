/* SPDX-License-Identifier: ISC */
/*
 * otlp.c - log records and spans as lines of OTLP's JSON
 *
 * The names and types are those of opentelemetry-proto (common/v1, logs/v1, trace/v1) in
 * protobuf's JSON mapping: 64-bit numbers are strings, ids are hexadecimal. Attributes of the
 * resource have the names of OpenTelemetry's semantic conventions, if those have one.
 */

#include "export.h"

enum {
	DEEPEST = 6,                    /* arrays and objects in a value */
	INTEGER = 18,                   /* digits that an int64 always has room for */
	RESOURCE_MOST = 2816,           /* bytes of a resource */
	SERVICE_MOST = 256,             /* and of these, for the name of the service */
	REST = 1024,                    /* bytes of a record's line without its fields */
};

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

static void put_attribute(struct out *o, struct text_part key, struct text_part value, int depth);

/* Write a value of JSON as an AnyValue. */
static void put_value(struct out *o, struct text_part v, int depth)
{
	const char *s = v.text, *end = s + v.n, *form = "{}"; /* null */
	char first = v.n ? *s : 'n';
	struct text_part name, value;

	if ((first == '[' || first == '{') && depth < DEEPEST) {
		out_string(o, first == '[' ? "{\"arrayValue\":{\"values\":[" :
					     "{\"kvlistValue\":{\"values\":[");
		while (first == '{' && json_member(&s, end, &name, &value))
			put_attribute(o, name, value, depth + 1);
		while (first == '[' && json_element(&s, end, &value)) {
			out_text(o, ",", o->at[-1] != '[');
			put_value(o, value, depth + 1);
		}
		out_string(o, "]}}");
		return;
	}
	if (first == '"')
		form = "{\"stringValue\":%.*s}";
	else if (is_integer(v))
		form = "{\"intValue\":\"%.*s\"}";
	else if (text_part_is(v, "true") || text_part_is(v, "false"))
		form = "{\"boolValue\":%.*s}";
	else if ((first >= '0' && first <= '9') || first == '-') /* or more than 64 bits */
		form = memchr(s, '.', v.n) || memchr(s, 'e', v.n) ? "{\"doubleValue\":%.*s}" :
								    "{\"stringValue\":\"%.*s\"}";
	out_format(o, form, (int)v.n, s);
}

/* Write an attribute whose value is JSON. The first one is at the beginning of the array. */
static void put_attribute(struct out *o, struct text_part key, struct text_part value, int depth)
{
	out_text(o, ",", o->at[-1] != '[');
	out_string(o, "{\"key\":\"");
	out_text(o, key.text, key.n);
	out_string(o, "\",\"value\":");
	put_value(o, value, depth);
	out_char(o, '}');
}

static void put_named(struct out *o, const char *key, struct text_part value)
{
	if (value.n)
		put_attribute(o, (struct text_part){ key, strlen(key) }, value, 0);
}

/* Write an attribute whose value is formatted as JSON; none if it is the empty string. */
static void put_plain(struct out *o, const char *key, const char *value)
{
	char text[NAME_MAX + 3];

	if (*value)
		put_named(o, key, (struct text_part){
				  text, str_format(text, sizeof(text), "\"%s\"", value) });
}

/* Write the members of an object as attributes, except those that are there already. */
static void put_members(struct out *o, const char *start, const char *members)
{
	const char *end = members + strlen(members);
	struct text_part name, value;
	char key[128];

	while (json_member(&members, end, &name, &value)) {
		struct out before = *o;
		size_t n = str_format(key, sizeof(key), "\"key\":\"%.*s\"", (int)name.n, name.text);

		if (n >= sizeof(key) || memmem(start, (size_t)(o->at - start), key, n))
			continue;
		put_attribute(o, name, value, 0);
		if (o->cut)
			*o = before;
	}
}

/* Write the name of the service: of these members, or if there is none that fits, the other one. */
static void put_service(struct out *o, const char *members, struct text_part other)
{
	const char *end = members + strlen(members);
	struct text_part name, value, service = other;
	struct out before = *o;

	while (json_member(&members, end, &name, &value))
		if (text_part_is(name, "service.name"))
			service = value;
	put_named(o, "service.name", service);
	if (!o->cut)
		return;
	*o = before;
	put_named(o, "service.name", other);
	if (o->cut)
		*o = before;
}

static void put_integer(struct out *o, const char *key, uint64_t n)
{
	char text[24];

	put_named(o, key, (struct text_part){
			  text, str_format(text, sizeof(text), "%llu", (unsigned long long)n) });
}

/* ---- resources and lines ---------------------------------------------------------------- */

/*
 * Set next_resource to that of the record. A service names itself by the environment of its
 * process; otherwise the name is that of its program. If the process cannot be looked up, do not
 * take the name of a task, because a program names its threads as it likes. On another host, take
 * it, because nothing else is known.
 */
static void set_resource(struct otlp *o, const struct export_record *r)
{
	struct origin *from = o->origin;
	const struct origin_task *t = origin_of(from, r);
	const struct container *c = t->container;
	/* the ends of the resource need room, too */
	struct out b = strbuf_out(&o->next_resource, RESOURCE_MOST);
	const struct text_part own = { "\"tfs-tools\"", 11 };
	const struct text_part unknown = { "\"unknown_service\"", 17 };
	const char *start = b.at;

	b.end -= REST / 4;
	out_string(&b, "{\"resource\":{\"attributes\":[");
	put_named(&b, "host.name", r->host);
	if (!r->host.n) {
		put_plain(&b, "host.name", from->host);
		put_plain(&b, "host.id", from->id);
		put_plain(&b, "tfs.boot_id", from->boot);
	}
	put_plain(&b, "tfs.session", from->session);
	put_plain(&b, "container.id", c->id);
	put_plain(&b, *c->uid ? "k8s.container.name" : "container.name", c->name);
	put_plain(&b, "k8s.pod.uid", c->uid);
	put_plain(&b, "k8s.pod.name", c->pod);
	put_plain(&b, "k8s.namespace.name", c->namespace);
	if (t->process)
		put_integer(&b, "process.pid", (uint64_t)t->process);
	b.end -= SERVICE_MOST; /* its attributes may fill the room, but not that of its name */
	put_members(&b, start, t->names); /* what the process says of itself comes second */
	b.end += SERVICE_MOST;
	if (!memmem(start, (size_t)(b.at - start), "\"key\":\"service.name\"", 20))
		put_service(&b, t->names, !json_unquoted(r->comm).n ? own :
			    from->no_tasks || r->host.n ? r->comm : unknown);
	if (!r->host.n)
		put_members(&b, start, from->names);
	b.end += REST / 4;
	out_format(&b, "]},\"scope%s\":[{\"scope\":{\"name\":\"tfs-tools\",\"version\":\""
		   VERSION "\"},\"%s\":[", o->spans ? "Spans" : "Logs",
		   o->spans ? "spans" : "logRecords");
	o->next_resource.n = (size_t)(b.at - o->next_resource.text);
}

/* The ends of the records of a resource, and of a line */
#define RESOURCE_END "],\"schemaUrl\":\"" SCHEMA_URL "\"}],\"schemaUrl\":\"" SCHEMA_URL "\"}"
#define LINE_END "]}"

void otlp_flush(struct otlp *o)
{
	if (o->line.n)
		stdout_print("%.*s" RESOURCE_END LINE_END "\n", (int)o->line.n, o->line.text);
	o->line.n = o->resource.n = 0;
}

/* Add the record to the line, or begin a new line with it. */
static void add_record(struct otlp *o, const struct out *record)
{
	const size_t ends = sizeof(RESOURCE_END LINE_END);
	size_t n = (size_t)(record->at - o->record.text);
	struct strbuf *b = &o->line;
	int same = o->resource.n == o->next_resource.n &&
		   !memcmp(o->resource.text, o->next_resource.text, o->resource.n);

	if (b->n && b->n + n + o->next_resource.n + 2 * ends > o->most) {
		otlp_flush(o);
		same = 0;
	}
	if (!b->n)
		strbuf_puts(b, o->spans ? "{\"resourceSpans\":[" : "{\"resourceLogs\":[");
	else
		strbuf_puts(b, same ? "," : RESOURCE_END ",");
	if (!same) {
		strbuf_add(b, o->next_resource.text, o->next_resource.n);
		strbuf_add(strbuf_empty(&o->resource), o->next_resource.text, o->next_resource.n);
	}
	strbuf_add(b, o->record.text, n);
}

/* Write the attribute if there is room for it; else set *cut. */
static void put_if_it_fits(struct out *o, const struct export_word *w, int *cut)
{
	char *mark = o->at;

	out_text(o, ",", o->at[-1] != '[');
	out_format(o, "{\"key\":\"%s%.*s\",\"value\":", w->prefix, (int)w->name.n,
		   w->name.text);
	put_value(o, w->value, 0);
	out_char(o, '}');
	if (!o->cut)
		return;
	o->at = mark;
	o->cut = 0;
	*cut = 1;
}

/* Write the arguments of a decoded call: of {"name":NAME,"value":...,"text":TEXT}, NAME is TEXT. */
static void put_arguments(struct out *o, struct text_part args, int *cut)
{
	const char *a = args.text, *end = a + args.n;
	struct text_part argument, name, value;

	while (json_element(&a, end, &argument)) {
		const char *s = argument.text, *end_of_it = s + argument.n;
		struct export_word w = { EXPORT_ARGUMENT, { "argument", 8 }, { NULL, 0 }, "" };

		while (json_member(&s, end_of_it, &name, &value))
			if (text_part_is(name, "name"))
				w.name = json_unquoted(value);
			else if (text_part_is(name, "text"))
				w.value = value;
		if (w.value.n)
			put_if_it_fits(o, &w, cut);
	}
}

/* Write the fields of a record as attributes, as far as they fit into so many bytes. */
static void put_fields(struct otlp *o, struct out *b, const struct export_record *r, size_t most)
{
	size_t n = (size_t)(b->at - o->record.text), longest = 2 * r->n + 256;
	size_t room = most > n + 256 ? most - n - 128 : 128;
	struct out fields = strbuf_out(&o->fields, room < longest ? room : longest);
	const char *s = fields.at;
	struct text_part name, value;
	struct export_word w;
	char *end = b->end;
	int cut = 0;

	if (most < (size_t)(end - o->record.text))
		b->end = most > n ? o->record.text + most : b->at;
	export_fields(&fields, r, o->flags & EXPORT_REDACT);
	while (json_member(&s, fields.at, &name, &value))
		if (r->decoded && text_part_is(name, "args"))
			put_arguments(b, value, &cut);
		else if (value.n && export_word(&w, r, name, value, o->flags))
			put_if_it_fits(b, &w, &cut);
	b->end = end;
	if (cut)
		put_named(b, "tfs.cut", (struct text_part){ "true", 4 });
}

/* Write the attributes of a record: its task, its place, its fields. */
static void put_attributes(struct otlp *o, struct out *b, const struct export_record *r,
			   const char *note, uint64_t number)
{
	/* the rest of a line takes less than REST bytes */
	size_t others = o->next_resource.n + REST;

	out_string(b, ",\"attributes\":[");
	if (r->tid)
		put_integer(b, "thread.id", r->tid);
	put_named(b, "thread.name", r->comm);
	if (r->cpu != EXPORT_NO_CPU)
		put_integer(b, "cpu.logical_number", r->cpu);
	if (number)
		put_integer(b, "tfs.seq", number);
	if (json_unquoted(r->system).n)
		put_named(b, "tfs.system", r->system);
	put_named(b, "tfs.lost", r->lost);
	put_named(b, "tfs.overwritten", r->overwritten);
	if (note)
		put_named(b, note, (struct text_part){ "true", 4 });
	put_fields(o, b, r, o->most > others ? o->most - others : 0);
	out_char(b, ']');
}

/* ---- records ----------------------------------------------------------------------------- */

enum { SEVERITY_INFO = 9, SEVERITY_WARN = 13 };

/* Begin a record. An attribute takes fewer than 32 bytes for each byte of its JSON. */
static struct out begin_record(struct otlp *o, const struct export_record *r)
{
	set_resource(o, r);
	return strbuf_out(&o->record, (32 * r->n < o->most ? 32 * r->n : o->most) + 4 * REST);
}

/* Return the value if it is a string of JSON, or else an empty string. */
static struct text_part string_or(struct text_part value, const char *other)
{
	return value.n && *value.text == '"' ? value :
	       (struct text_part){ other, strlen(other) };
}

static void put_ids(struct out *o, const uint64_t *trace, uint64_t span)
{
	out_format(o, "\"traceId\":\"%016llx%016llx\",\"spanId\":\"%016llx\"",
		   (unsigned long long)trace[0], (unsigned long long)trace[1],
		   (unsigned long long)span);
}

void otlp_log(struct otlp *o, const struct export_record *r, uint64_t number)
{
	struct text_part name = string_or(r->event, r->lost.n ? "\"lost_events\"" : "\"\"");
	struct text_part body = string_or(r->comment, "\"\"");
	const struct export_context *c = &r->context;
	struct out b = begin_record(o, r);

	out_format(&b, "{\"timeUnixNano\":\"%llu\",\"observedTimeUnixNano\":\"%llu\","
		   "\"severityNumber\":%u,\"severityText\":\"%s\"",
		   (unsigned long long)r->time, (unsigned long long)time_of_day_us() * 1000,
		   r->lost.n ? SEVERITY_WARN : SEVERITY_INFO, r->lost.n ? "WARN" : "INFO");
	if (name.n > 2)
		out_format(&b, ",\"eventName\":%.*s", (int)name.n, name.text);
	else
		out_format(&b, ",\"body\":{\"stringValue\":%.*s}", (int)body.n, body.text);
	if (c->span) {
		out_char(&b, ',');
		put_ids(&b, c->trace, c->span);
		out_format(&b, ",\"flags\":%u", c->flags);
	}
	put_attributes(o, &b, r, NULL, number);
	out_char(&b, '}');
	add_record(o, &b);
}

void otlp_span(struct otlp *o, const struct otlp_span *s, const struct export_record *r,
	       uint64_t number)
{
	struct text_part name = string_or(s->name, "\"\"");
	struct out b = begin_record(o, r);
	unsigned long long parent = s->parent;

	out_char(&b, '{');
	put_ids(&b, s->trace, s->id);
	if (parent)
		out_format(&b, ",\"parentSpanId\":\"%016llx\"", parent);
	out_format(&b, ",\"name\":%.*s,\"kind\":%s,\"startTimeUnixNano\":\"%llu\","
		   "\"endTimeUnixNano\":\"%llu\"", (int)name.n, name.text, s->kind,
		   (unsigned long long)s->from, (unsigned long long)s->to);
	put_attributes(o, &b, r, s->note, number);
	if (s->link.span) {
		out_string(&b, ",\"links\":[{");
		put_ids(&b, s->link.trace, s->link.span);
		out_string(&b, "}]");
	}
	if (export_is_failure(r, o->flags)) /* STATUS_CODE_ERROR */
		out_format(&b, ",\"status\":{\"code\":2,\"message\":%.*s}", (int)r->error.n,
			   r->error.text);
	out_char(&b, '}');
	add_record(o, &b);
}
