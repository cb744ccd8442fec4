/* SPDX-License-Identifier: ISC */
/* comments.c - what is said at the end of the output: comment lines, lines not understood */

#include "base/base.h"
#include "lines/lines.h"

static int begins(const char *s, const char *word)
{
	return !strncmp(s, word, strlen(word));
}

/* Return the line without the host's column of dt-join. */
static const char *behind_host(const char *line)
{
	struct text_part host;

	return *line == ' ' ? line : line + line_prefix(line, strlen(line), &host);
}

static int same_host(const char *a, const char *b)
{
	struct seen x, y;

	seen_line(&x, a, strlen(a));
	seen_line(&y, b, strlen(b));
	return x.host.n == y.host.n && (!x.host.n || !memcmp(x.host.text, y.host.text, x.host.n));
}

enum {
	NOT_KNOWN, STRINGS, STACKS, UNREAD, UNNAMED, UNPLACED, REQUESTS, LOST, UNWRITTEN, UNPAIRED,
	NOT_UNDERSTOOD, KINDS,
};

/* Does the comment line begin with these words? An @ is a number. */
static int has_words(const char *s, const char *words)
{
	for (; *words; words++)
		if (*words == '@' && *s >= '0' && *s <= '9')
			s += strspn(s, "0123456789");
		else if (*s++ != *words)
			return 0;
	return 1;
}

/* Return the kind of a line that says what a trace lacks, or KINDS. */
static unsigned kind_of(const char *s)
{
	static const char words[KINDS][2][26] = {
		[NOT_KNOWN] = { "# not known: ", "{\"comment\":\"not known: " },
		[STRINGS] = { "# strings are ", "{\"comment\":\"strings are " },
		[STACKS] = { "# user stacks", "{\"comment\":\"user stacks" },
		[UNREAD] = { "# @ reads of /proc ", "{\"unread\":" },
		[UNNAMED] = { "# @ names of files are ", "{\"unnamed\":" },
		[UNPLACED] = { "# @ tasks were made ", "{\"unplaced\":" },
		[REQUESTS] = { "# @ requests of io_uring ", "{\"io_uring\":" },
		[LOST] = { "# lost ", "{\"lost\":" },
		[UNWRITTEN] = { "# unwritten ", "# unwritten " },
		[UNPAIRED] = { "# unpaired ", "{\"unpaired\":" },
		[NOT_UNDERSTOOD] = { "# not understood ", "{\"not_understood\":" },
	};
	unsigned kind = 0;

	while (kind < KINDS && !has_words(s, words[kind][0]) && !has_words(s, words[kind][1]))
		kind++;
	return kind;
}

int comments_keep(struct comments *r, const char *line)
{
	const char *s = behind_host(line);
	unsigned kind, i;

	if (*s != '#' && *s != '{')
		return 0;
	kind = kind_of(s);
	if (kind == KINDS)
		return 0;
	for (i = 0; i < r->n && r->kind[i] < kind; i++)
		;
	for (; i < r->n && r->kind[i] == kind; i++)
		/* each filter has its own lines that it does not understand */
		if (kind != NOT_UNDERSTOOD && same_host(r->line[i], line))
			break;
	if (i == r->n || r->kind[i] != kind) {
		if (r->n == COMMENTS_MAX)
			return 1;
		memmove(r->line + i + 1, r->line + i, (r->n - i) * sizeof(*r->line));
		memmove(r->kind + i + 1, r->kind + i, (r->n - i) * sizeof(*r->kind));
		r->line[i] = NULL;
		r->kind[i] = kind;
		r->n++;
	}
	free(r->line[i]);
	r->line[i] = xstrdup(line);
	return 1;
}

/* ---- lines that are not understood ---- */

/* Take "==> FILE <==" of tail as the host of the lines below it. */
static void read_file(struct comments *r, struct seen *l, const char *line, size_t n)
{
	const size_t head = strlen("==> "), tail = strlen(" <==");

	if (n > head + tail && begins(line, "==> ") && !memcmp(line + n - tail, " <==", tail)) {
		free(r->file);
		r->file = xstrdup(line + head);
		r->file[n - head - tail] = '\0';
	} else if (r->file && !l->host.n) {
		l->host = (struct text_part){ r->file, strlen(r->file) };
	}
}

/*
 * Does the time of this line of perf script count from the event before (--deltatime)? perf sorts
 * all events, so the times of others go back only where another trace begins.
 */
static int is_delta(struct comments *r, const struct seen *l)
{
	uint64_t time;
	int digits;

	if (seen_time(l, &time, &digits) < 0)
		return 0;
	r->perf++;
	r->back += time < r->time;
	r->time = time;
	return r->back > 1 && r->back > r->perf / 8;
}

int comments_event(struct comments *r, struct seen *l, const char *line, size_t n)
{
	int event = seen_line(l, line, n);

	r->lines++;
	read_file(r, l, line, n);
	if (event && l->perf && is_delta(r, l)) {
		l->miss = MISS_DELTA;
		event = 0;
	}
	r->json |= event && l->json;
	comments_miss(r, l);
	return event;
}

void comments_miss(struct comments *r, const struct seen *l)
{
	if (!l->miss)
		return;
	if (!r->missed)
		r->first = r->lines;
	r->missed++;
	r->misses[l->miss]++;
}

int comments_lost(const struct comments *r)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->kind[i] == LOST)
			return 1;
	return 0;
}

int comments_missed(const struct comments *r, char *text, size_t size)
{
	static const char *const why[MISS_KINDS] = {
		[MISS_HEAD] = "without task, CPU and time in front",
		[MISS_TIME] = "without a time after the CPU",
		[MISS_EVENT] = "without an event after the time",
		[MISS_GRAPH] = "of function_graph, which tfs-slower reads",
		[MISS_JSON] = "of JSON that are no events",
		[MISS_DELTA] = "with the time since the event before, as of perf script "
			       "--deltatime",
	};
	struct out o = out_to(text, size - 1);
	int some = 0;

	out_format(&o, "%llu line%s:", r->missed, r->missed > 1 ? "s" : "");
	for (int i = 0; i < MISS_KINDS; i++)
		if (r->misses[i])
			out_format(&o, "%s %llu %s", some++ ? ";" : "", r->misses[i], why[i]);
	out_format(&o, "; the first is line %llu", r->first);
	*o.at = '\0';
	return r->missed > 0;
}

void comments_end(struct comments *r)
{
	char text[COMMENTS_MISSED], line[COMMENTS_MISSED + 64];

	if (!comments_missed(r, text, sizeof(text)))
		return;
	if (r->json)
		str_format(line, sizeof(line), "{\"not_understood\":%llu,\"because\":\"%s\"}",
			   r->missed, text);
	else
		str_format(line, sizeof(line), "# not understood %s", text);
	comments_keep(r, line);
	r->missed = 0;
}

/* ---- output ---- */

/* Print a comment line of text as an object. */
static void print_object(const char *line)
{
	static struct strbuf text;

	line += strspn(line, "# ");
	strbuf_escaped(strbuf_empty(&text), line, strlen(line), ESCAPE_JSON);
	stdout_print("{\"comment\":\"%s\"}\n", text.text);
}

void comments_print(struct comments *r)
{
	comments_end(r);
	for (unsigned i = 0; i < r->n; i++)
		if (r->json && *r->line[i] == '#')
			print_object(r->line[i]);
		else
			stdout_print("%s\n", r->line[i]);
}

int comments_date(const char *line, struct text_part *seconds, int64_t *time, int64_t *offset)
{
	static const char *const words[] = { "# date: ", "Z, ", " since 1970, is " };
	const char *s = behind_host(line);
	struct seen l = { .prefix = "" };
	uint64_t v[3] = { 0 };
	int digits;

	for (int i = 0; i < 3; i++) {
		if (!begins(s, words[i]))
			return 0;
		s += strlen(words[i]);
		l.time = (struct text_part){ s, strspn(s, i ? "0123456789." : "0123456789-T:.") };
		s += l.time.n;
		if (i && (seen_time(&l, &v[i], &digits) < 0 || v[i] > INT64_MAX / 2))
			return 0;
	}
	*seconds = l.time;
	*time = (int64_t)v[2];
	*offset = (int64_t)(v[1] - v[2]);
	return 1;
}

int comments_traced(const char *line, struct text_part *host, struct text_part *pid)
{
	static const char *const words[] = { "# traced: ", "{\"traced\":" };
	struct seen l = { .prefix = "" };
	const char *s = behind_host(line);
	int json = begins(s, words[1]);

	if (!json && !begins(s, words[0]))
		return 0;
	seen_line(&l, line, strlen(line));
	*host = l.host;
	s += strlen(words[json]);
	s += json && *s == '"';
	*pid = (struct text_part){ s, strcspn(s, " \",}") };
	return pid->n > 0;
}

int comments_is_gap(const char *line)
{
	const char *whole = line;
	struct seen l;

	line = behind_host(line);
	/*
	 * trace_print_lat_context's "CPU:1 [LOST 3 EVENTS]", trace-cmd's "CPU:1 [3 EVENTS
	 * DROPPED]", perf's PERF_RECORD_LOST, or {"ts":1.0,"cpu":1,"lost":3}
	 */
	if (strstr(line, ": PERF_RECORD_LOST"))
		return !seen_line(&l, whole, strlen(whole)) && l.perf;
	return begins(line, "CPU:") ? strstr(line, " [LOST ") || strstr(line, "EVENTS DROPPED]") :
	       begins(line, "{\"ts\":") && strstr(line, ",\"lost\":") != NULL;
}
