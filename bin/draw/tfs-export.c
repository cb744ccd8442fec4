/* SPDX-License-Identifier: ISC */
/*
 * tfs-export - export a trace as JSON or OpenTelemetry (OTLP) logs and spans
 *
 * Requires: a trace as lines of JSON with dates on standard input, as tfs-run --json --date,
 * tfs-catpipe -j -d and tfs-report -j -d print it.
 * Each record gets the names of host, boot and session, its number, and the ids and names of its
 * container and pod. OTLP is for collectors of OpenTelemetry. A record counts what -k and -r leave
 * out, and the numbers of the records have gaps.
 * SIGINT is ignored, so that the producer of the trace can finish first.
 * Exit: 0 done, 1 there was no record, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "proc/proc.h"
#include "seen/seen.h"
#include "export.h"

static struct {
	enum { JSON, LOGS, SPANS } format;
	unsigned long most, keep, rate, slower;
	int redact, errors;
} opt = { .most = 1024 * 1024 };

static struct origin origin;
static const char *format, *host, *session;

static const struct tool tool = {
	TOOL_TFS_EXPORT,
	.places = (const struct opt_place[]){
		{ 'f', .text = &format }, { 'H', .text = &host }, { 's', .text = &session },
		{ 'n', .flag = &origin.no_tasks }, { 'x', .flag = &opt.redact },
		{ 'e', .flag = &opt.errors },
		{ 'm', .number = &opt.most }, { 'k', .number = &opt.keep },
		{ 'r', .number = &opt.rate }, { 'S', .number = &opt.slower }, { 0 },
	},
};

enum {
	LEAST = 65,             /* bytes of the fields of a record */
	ORIGIN_MOST = 2048,     /* bytes of the names of an origin */
	SECOND = 1000000000,
};

static struct otlp otlp = { .origin = &origin };
static struct spans spans = { .to = &otlp };

/* The numbers of records that -k and -r have left out, and that no record has reported */
static unsigned long long sampled, over_rate;

static uint64_t lines;          /* lines that were read */
static uint64_t number;         /* of the last record: of the lines, and of the tool's own */
static uint64_t last;           /* the time of the last record */

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Begin a line with the names of its origin, and of the container unless the rest has it. */
static void put_origin(struct out *o, const struct export_record *r, int has_container)
{
	const struct container *c = origin_of(&origin, r)->container;

	out_char(o, '{');
	if (!r->host.n) { /* dt-join has named another host */
		json_put_plain(o, "host", origin.host);
		json_put_plain(o, "boot_id", origin.boot);
	}
	json_put_plain(o, "session", origin.session);
	json_key(o, "seq", 3);
	out_decimal(o, number);
	if (!has_container)
		container_members(o, c, 1);
	out_char(o, ',');
}

/* Write the line {HEAD,"fields":{...}TAIL, with as many fields as fit. */
static void put_members(struct out *o, const struct export_record *r)
{
	const char *fields = r->fields.n ? r->fields.text : r->line;
	size_t head = (size_t)(fields - r->line), tail = r->n - head - r->fields.n;

	if (!r->fields.n || (!opt.redact && r->n <= out_room(o))) {
		out_text(o, r->line + 1, r->n - 1);
		return;
	}
	out_text(o, r->line + 1, head - 1);
	if (out_room(o) < tail + LEAST) {
		o->cut = 1;
		return;
	}
	o->end -= tail + 1;
	export_fields(o, r, opt.redact ? EXPORT_REDACT : 0);
	o->end += tail + 1;
	out_text(o, fields + r->fields.n, tail);
}

static void put_json(const struct export_record *r)
{
	static struct strbuf b;
	/* a redacted argument may have its address twice */
	size_t longest = 2 * r->n + ORIGIN_MOST;
	struct out o = strbuf_out(&b, longest < opt.most ? longest : opt.most);

	put_origin(&o, r, r->contained);
	put_members(&o, r);
	if (o.cut) { /* what is too long is not among the fields */
		o = strbuf_out(&b, ORIGIN_MOST);
		put_origin(&o, r, 0);
		out_format(&o, "\"timeUnixNano\":\"%llu\",\"cut\":true}",
			   (unsigned long long)r->time);
	}
	stdout_print("%.*s\n", (int)(o.at - b.text), b.text);
}

/* ---- records -------------------------------------------------------------------------------- */

static void put_record(const struct export_record *r)
{
	if (opt.format == JSON)
		put_json(r);
	else if (opt.format == LOGS)
		otlp_log(&otlp, r, number);
	else
		spans_take(&spans, r, number);
}

/* Tell how many records were left out since the last time, or have no place in spans. */
static void tell_left_out(uint64_t time)
{
	const struct { const char *by; unsigned long long *n; } counts[] = {
		{ "sample", opt.format == SPANS ? &spans.left_out : &sampled },
		{ "rate", &over_rate },
		{ "no duration", &spans.instants },
	};
	char line[160];

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct export_record r;
		size_t n;

		if (!*counts[i].n)
			continue;
		/* in OTLP, a field of an event has the number */
		n = str_format(line, sizeof(line),
			       "{\"timeUnixNano\":\"%llu\",\"event\":\"left_out\","
			       "\"fields\":{\"left_out\":%llu,\"by\":\"%s\",\"lat\":0.0}}",
			       (unsigned long long)time, *counts[i].n, counts[i].by);
		*counts[i].n = 0;
		number++;
		if (export_read(&r, line, n))
			put_record(&r);
	}
}

/* Is the record within -k and -r? */
static int is_within(const struct export_record *r)
{
	static uint64_t second, in_second, kept;

	/* lost events and the marks of requests are always kept; -k of spans keeps whole traces */
	if (r->lost.n || !r->event.n || export_is_mark(r))
		return 1;
	if (opt.keep && opt.format != SPANS && kept++ % opt.keep) {
		sampled++;
		return 0;
	}
	if (r->time / SECOND != second)
		in_second = 0;
	second = r->time / SECOND;
	if (opt.rate)
		over_rate += in_second++ >= opt.rate;
	return !over_rate;
}

/* Take a line of the trace. Exit REFUSED if it is not a record with a date. */
static void take(const char *line, size_t n)
{
	static struct strbuf dated;
	struct export_record r;
	char head[64];

	lines++;
	if (memchr(line, '\0', n) || n > INT_MAX / 2 || !export_read(&r, line, n))
		err_exit(REFUSED, "line %llu is not a JSON record; tfs-run --json --date prints "
				  "such lines", (unsigned long long)lines);
	if (origin_note(&origin, &r))
		return;
	if (r.event.n && !r.time)
		err_exit(REFUSED, "line %llu has no timeUnixNano; tfs-run --json --date and "
				  "tfs-report -j -d print it", (unsigned long long)lines);
	if (!r.time && n > 2) { /* the counts at the end of a trace */
		str_format(head, sizeof(head), "{\"timeUnixNano\":\"%llu\",",
			   (unsigned long long)(last ? last : (uint64_t)time_of_day_us() * 1000));
		strbuf_puts(strbuf_empty(&dated), head);
		strbuf_add(&dated, line + 1, n - 1);
		export_read(&r, dated.text, dated.n);
	}
	if (over_rate && r.time / SECOND != last / SECOND)
		tell_left_out(r.time);
	last = r.time;
	origin_session(&origin, r.time);
	number++;
	if (is_within(&r))
		put_record(&r);
}

/* Read the options. Exit with a usage error if they are wrong. */
static void read_options(int argc, char **argv)
{
	static const char *const formats[] = { "json", "logs", "spans" };

	session = getenv("TFS_INSTANCE");
	opt_next(&tool, argc, argv);
	while (format && strcmp(format, formats[opt.format]))
		opt.format++;
	if (opt.slower && opt.format != SPANS)
		usage_error(&tool, "--slower needs --format spans");
	input_file(NULL, &tool, argv + opt_index);
	if (origin_begin(&origin, host, session) < 0)
		exit(MISUSED);
}

int main(int argc, char **argv)
{
	struct line_reader in = { 0 };
	ssize_t n;
	char *line;

	read_options(argc, argv);
	otlp.spans = opt.format == SPANS;
	otlp.flags = (opt.redact ? EXPORT_REDACT : 0) | (opt.errors ? EXPORT_ERRORS : 0);
	origin.processes = opt.format != JSON;
	otlp.most = opt.most;
	spans.sample = (unsigned)opt.keep;
	spans.slower = (uint64_t)opt.slower * 1000;
	if (origin.no_tasks)
		confine();
	else
		/* the programs and environments of other tasks, and the root of task 1 */
		confine_paths(CAPS(K_CAP_SYS_PTRACE), NULL, 0);
	container_limit();
	signal(SIGINT, SIG_IGN);
	for (;;) {
		/* write what there is before the tool waits for more */
		if (!in.text || !memchr(in.text + in.at, '\n', in.n))
			otlp_flush(&otlp);
		n = line_read(&in, &line);
		if (n < 0)
			break;
		take(line, (size_t)n);
	}
	if (opt.format == SPANS)
		spans_end(&spans, last);
	if (last)
		tell_left_out(last);
	otlp_flush(&otlp);
	if (procfs_missed())
		err_note("%llu names of containers were not looked up, because so many containers "
			 "came", procfs_missed());
	if (in.failed)
		return REFUSED;
	stdout_flush();
	return lines ? DONE : err_no("no line in the trace");
}
