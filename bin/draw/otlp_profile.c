/* SPDX-License-Identifier: ISC */
/*
 * otlp_profile.c - write a profile of OpenTelemetry, as a line of OTLP's JSON
 *
 * The names and types are those of opentelemetry-proto 1.11.0 (profiles/v1development) in
 * protobuf's JSON mapping. JSON, because a message of protocol buffers begins with its length, and
 * because the collector's file receiver reads the lines of tfs-export, too.
 * A Profile has values of one type, so a profile with weights is two: by weight, and by number.
 */

#include "proc/proc.h"
#include "profile.h"
#include "export.h"

/* A table of the dictionary. Its first element, number 0, stands for nothing. */
struct dictionary {
	struct table known;     /* struct item */
	struct strbuf json;     /* the other elements, each with a comma before it */
};

struct item {
	struct table_entry entry;
	uint64_t id;
};

enum { LABELS_MOST = 16, TRACE = 32, SPAN = 16 /* digits of ids */ };

static struct {
	struct profile_head head;
	struct dictionary strings, functions, locations, stacks, attributes, links;
	uint64_t *frames;       /* the locations of the next sample; there is room for so many */
	size_t n, room;
	uint64_t labels[LABELS_MOST];
	unsigned nlabels;
	struct text_part trace, span;   /* the link of the next sample */
	struct strbuf samples[2];       /* by weight, and by number */
	struct strbuf comments, key;
} profile;

/* ---- the dictionary ---------------------------------------------------------------------- */

/* Return the number of an element. If *is_new, the caller appends it to json. */
static uint64_t number_of(struct dictionary *d, const void *key, size_t n, int *is_new)
{
	struct item *i;

	d->known.size = sizeof(*i);
	i = table_at(&d->known, key, n);
	*is_new = !i->id;
	if (*is_new) {
		i->id = d->known.n;
		strbuf_puts(&d->json, ",");
	}
	return i->id;
}

static void add_string(struct strbuf *b, struct text_part text)
{
	strbuf_puts(b, "\"");
	strbuf_escaped(b, text.text, text.n, ESCAPE_JSON);
	strbuf_puts(b, "\"");
}

static uint64_t string_of(struct text_part text)
{
	int is_new;
	uint64_t id = text.n ? number_of(&profile.strings, text.text, text.n, &is_new) : 0;

	if (id && is_new)
		add_string(&profile.strings.json, text);
	return id;
}

/* Return the number of an attribute, whose value is the n bytes of an AnyValue at v. */
static uint64_t attribute_of(const char *name, const char *v, size_t n)
{
	struct strbuf *key = strbuf_empty(&profile.key);
	uint64_t id;
	int is_new;

	strbuf_format(key, "%s\n", name);
	strbuf_add(key, v, n);
	id = number_of(&profile.attributes, key->text, key->n, &is_new);
	if (is_new) {
		strbuf_format(&profile.attributes.json, "{\"keyStrindex\":%llu,\"value\":",
			      (unsigned long long)string_of(text_part_of(name)));
		strbuf_add(&profile.attributes.json, v, n);
		strbuf_puts(&profile.attributes.json, "}");
	}
	return id;
}

/* Return the location of a function: each has one in the kernel, and one in programs. */
static uint64_t location_of(struct text_part name, int kernel)
{
	static const char *const kinds[] = { "{\"stringValue\":\"native\"}",
					     "{\"stringValue\":\"kernel\"}" };
	uint64_t string = string_of(name), key[2] = { 0, (uint64_t)kernel }, id;
	int is_new;

	key[0] = number_of(&profile.functions, &string, sizeof(string), &is_new);
	if (is_new)
		strbuf_format(&profile.functions.json, "{\"nameStrindex\":%llu}",
			      (unsigned long long)string);
	id = number_of(&profile.locations, key, sizeof(key), &is_new);
	if (is_new)
		strbuf_format(&profile.locations.json, "{\"lines\":[{\"functionIndex\":%llu}],"
			      "\"attributeIndices\":[%llu]}", (unsigned long long)key[0],
			      (unsigned long long)attribute_of("profile.frame.type", kinds[kernel],
							       strlen(kinds[kernel])));
	return id;
}

/* Append "NAME":[NUMBER,...] in the order of the array, or from its end. */
static void add_numbers(struct strbuf *b, const char *name, const uint64_t *v, size_t n, int back)
{
	strbuf_format(b, "\"%s\":[", name);
	for (size_t i = 0; i < n; i++)
		strbuf_format(b, "%s%llu", i ? "," : "",
			      (unsigned long long)v[back ? n - 1 - i : i]);
	strbuf_puts(b, "]");
}

/* Return the stack of the functions so far. */
static uint64_t take_stack(void)
{
	uint64_t id;
	int is_new;

	if (!profile.n)
		return 0;
	id = number_of(&profile.stacks, profile.frames, profile.n * sizeof(*profile.frames),
		       &is_new);
	if (is_new) { /* the innermost function is first */
		strbuf_puts(&profile.stacks.json, "{");
		add_numbers(&profile.stacks.json, "locationIndices", profile.frames, profile.n, 1);
		strbuf_puts(&profile.stacks.json, "}");
	}
	profile.n = 0;
	return id;
}

/* Return the span of the sample, or 0: it is in none. */
static uint64_t take_link(void)
{
	const struct text_part trace = profile.trace, span = profile.span;
	char key[TRACE + SPAN + 1];
	uint64_t id;
	int is_new;

	profile.trace.n = profile.span.n = 0;
	if (!trace.n || !span.n)
		return 0;
	str_format(key, sizeof(key), "%.*s%.*s", TRACE, trace.text, SPAN, span.text);
	id = number_of(&profile.links, key, TRACE + SPAN, &is_new);
	if (is_new)
		strbuf_format(&profile.links.json, "{\"traceId\":\"%.*s\",\"spanId\":\"%s\"}",
			      TRACE, key, key + TRACE);
	return id;
}

/* ---- samples ----------------------------------------------------------------------------- */

/* Is it an id of so many hexadecimal digits? */
static int is_id(struct text_part v, size_t digits)
{
	return v.n == digits && strspn(v.text, "0123456789abcdef") >= digits;
}

/*
 * Name a key as tfs-export does: numbers of tasks and CPUs are integers, and a name that only
 * consists of digits is a string.
 */
static void add_label(const char *key, struct text_part value)
{
	static const struct { const char *key, *name; int number; } words[] = {
		{ "comm", "thread.name", 0 }, { "pid", "thread.id", 1 },
		{ "tgid", "process.pid", 1 }, { "cpu", "cpu.logical_number", 1 },
		{ "host", "host.name", 0 },
	};
	static struct strbuf plain;
	struct strbuf name = { 0 }, v = { 0 };
	uint64_t n;
	int number = 0;

	value = strbuf_unescaped(&plain, value, 0);
	if (!strcmp(key, "trace_id") && is_id(value, TRACE))
		profile.trace = value;
	else if (!strcmp(key, "span_id") && is_id(value, SPAN))
		profile.span = value;
	if (profile.nlabels == LABELS_MOST || text_part_is(value, "-") ||
	    !strcmp(key, "trace_id") || !strcmp(key, "span_id"))
		return;
	strbuf_format(&name, EXPORT_ARGUMENT "%s", key);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(key, words[i].key)) {
			strbuf_puts(strbuf_empty(&name), words[i].name);
			number = words[i].number;
		}
	if (number && !text_part_number(value, 10, &n) && n <= INT32_MAX) {
		strbuf_format(&v, "{\"intValue\":\"%llu\"}", (unsigned long long)n);
	} else {
		strbuf_puts(&v, "{\"stringValue\":");
		add_string(&v, value);
		strbuf_puts(&v, "}");
	}
	profile.labels[profile.nlabels++] = attribute_of(name.text, v.text, v.n);
	free(name.text);
	free(v.text);
}

static void add_function(struct text_part name, int kernel)
{
	profile.frames = xgrow(profile.frames, profile.n, &profile.room, sizeof(*profile.frames));
	profile.frames[profile.n++] = location_of(name, kernel);
}

static void add_sample(uint64_t stacks, uint64_t weight)
{
	const uint64_t values[2] = { weight, stacks }, stack = take_stack(), link = take_link();

	for (int i = *profile.head.name == '\0'; i < 2; i++) {
		struct strbuf *b = &profile.samples[i];

		strbuf_format(b, "%s{\"stackIndex\":%llu,", b->n ? "," : "",
			      (unsigned long long)stack);
		add_numbers(b, "attributeIndices", profile.labels, profile.nlabels, 0);
		if (link)
			strbuf_format(b, ",\"linkIndex\":%llu", (unsigned long long)link);
		strbuf_format(b, ",\"values\":[\"%llu\"]}", (unsigned long long)values[i]);
	}
	profile.nlabels = 0;
}

static void add_comment(const char *text)
{
	strbuf_puts(&profile.comments, profile.comments.n ? ",{\"stringValue\":" :
		    "{\"arrayValue\":{\"values\":[{\"stringValue\":");
	add_string(&profile.comments, text_part_of(text));
	strbuf_puts(&profile.comments, "}");
}

/* ---- the line ---------------------------------------------------------------------------- */

static void begin(const struct profile_head *h)
{
	profile.head = *h;
}

/* Print a profile: the one by weight, or the one by number. */
static void print_profile(int by, uint64_t comments)
{
	const struct profile_head *h = &profile.head;
	uint64_t type = string_of(text_part_of(by ? "samples" : h->name));
	uint64_t unit = string_of(text_part_of(by ? "count" : h->unit));

	stdout_print("{\"sampleType\":{\"typeStrindex\":%llu,\"unitStrindex\":%llu},\"samples\":[",
		     (unsigned long long)type, (unsigned long long)unit);
	stdout_print("%s]", profile.samples[by].text);
	if (h->from) /* the end is behind the last event */
		stdout_print(",\"timeUnixNano\":\"%llu\",\"durationNano\":\"%llu\"",
			     (unsigned long long)h->from,
			     (unsigned long long)(h->to - h->from + 1));
	if (comments)
		stdout_print(",\"attributeIndices\":[%llu]", (unsigned long long)comments);
	stdout_print("}");
}

static void print_table(const char *name, const char *zero, const struct dictionary *d)
{
	stdout_print("\"%s\":[%s%s]", name, zero, d->json.n ? d->json.text : "");
}

/*
 * Print the resource: a trace does not say which host or service it is of, but the user may. The
 * collector 0.150 reads a key here only as a string of the dictionary (resolveKeyValueReferences).
 */
static void print_resource(void)
{
	const char *own = getenv("OTEL_RESOURCE_ATTRIBUTES");
	char names[1024];
	struct out o = out_to(names, sizeof(names) - 64); /* room for the name of a service */
	const char *s = names, *between = "";
	struct text_part name, value;

	out_char(&o, '{');
	resource_attributes(&o, own ? own : "");
	o.end += 64;
	if (!memmem(names, (size_t)(o.at - names), "\"service.name\":", 15))
		json_put_plain(&o, "service.name", "unknown_service");
	stdout_print("{\"resource\":{\"attributes\":[");
	for (; json_member(&s, o.at, &name, &value); between = ",")
		stdout_print("%s{\"keyStrindex\":%llu,\"value\":{\"stringValue\":%.*s}}", between,
			     (unsigned long long)string_of(name), (int)value.n, value.text);
	stdout_print("]},");
}

static void end(void)
{
	static const char no_link[] = "{\"traceId\":\"00000000000000000000000000000000\","
				      "\"spanId\":\"0000000000000000\"}";
	uint64_t comments = 0;

	if (profile.comments.n) {
		strbuf_puts(&profile.comments, "]}}");
		comments = attribute_of("pprof.profile.comment", profile.comments.text,
					profile.comments.n);
	}
	stdout_print("{\"resourceProfiles\":[");
	print_resource();
	stdout_print("\"scopeProfiles\":[{\"scope\":{\"name\":\"tfs-tools\",\"version\":\"" VERSION
		     "\"},\"profiles\":[");
	if (*profile.head.name) {
		print_profile(0, comments);
		stdout_print(",");
	}
	print_profile(1, comments);
	stdout_print("],\"schemaUrl\":\"" SCHEMA_URL "\"}],\"schemaUrl\":\"" SCHEMA_URL
		     "\"}],\"dictionary\":{");
	print_table("mappingTable", "{}", &(const struct dictionary){ .json = { 0 } });
	stdout_print(",");
	print_table("locationTable", "{}", &profile.locations);
	stdout_print(",");
	print_table("functionTable", "{}", &profile.functions);
	stdout_print(",");
	print_table("linkTable", no_link, &profile.links);
	stdout_print(",");
	print_table("stringTable", "\"\"", &profile.strings);
	stdout_print(",");
	print_table("attributeTable", "{}", &profile.attributes);
	stdout_print(",");
	print_table("stackTable", "{}", &profile.stacks);
	stdout_print("}}\n");
}

const struct profile_form profile_otlp = {
	begin, add_label, add_function, add_sample, add_comment, end,
};
