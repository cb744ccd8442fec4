/* SPDX-License-Identifier: ISC */
/* traceline.c - a line of a trace, text or JSON, and one of its keys */
#include "draw/draw.h"
#include "fuzz.h"

/* Check that the text lies inside the line, which has this length. */
static void must_be_in(struct text_part p, const char *line, size_t n)
{
	if (p.n == strlen("function") && !memcmp(p.text, "function", p.n))
		return; /* not part of the line: two names replace it */
	if (p.text)
		must(p.text >= line && p.text <= line + n && p.n <= (size_t)(line + n - p.text));
	else
		must(!p.n);
}

static int same(struct text_part p, const char *s, size_t n)
{
	return p.n == n && (!n || !memcmp(p.text, s, n));
}

/* Is the part of a line of text this string? */
static int means(struct text_part p, const char *s, size_t n)
{
	struct strbuf string = { 0 };
	int r = p.text && same(strbuf_unescaped(&string, p, 0), s, n);

	free(string.text);
	return r;
}

/*
 * Append a field to the line. It must be found if the line is of a plain event that has no
 * field of that name, or may have one.
 */
static void must_be_carried(const struct seen *l, const char *line, size_t n,
			    const char *key)
{
	struct strbuf fields = { 0 }, more = { 0 }, string = { 0 };
	struct text_part p = seen_text(l, key), got;
	struct seen again;

	if (!l->json && l->event.n > 6 && !memcmp(l->event.text, "block_", 6))
		return; /* these lines end in brackets */
	if (!l->json && l->body.n && *l->body.text >= '0' && *l->body.text <= '9')
		return; /* a number before a name is the period of perf script */
	if (l->json ? l->body.n < 2 || *l->body.text != '{' ||
			l->body.text[l->body.n - 1] != '}' :
		      memchr(line, '"', n) || memchr(line, '=', n) ||
		      memchr(line, ':', n) != l->time.text + l->time.n)
		return;
	seen_add_field(&fields, l, "Carried", p);
	seen_with_fields(&more, l, line, n, &fields, l->context);
	must(seen_line(&again, more.text, more.n));
	must(same(again.event, l->event.text, l->event.n));
	got = seen_text(&again, "Carried");
	if (!l->json && p.text) {
		p = strbuf_unescaped(&string, p, 0);
		must(means(got, p.text, p.n));
		free(string.text);
	} else if (!l->json) {
		must(same(got, "-", 1));
	}
	free(fields.text);
	free(more.text);
}

/* Take the next bytes of the input, at most so many, as a name. */
static struct text_part take_name(const uint8_t **data, size_t *size, size_t most)
{
	struct text_part p = { "", 0 };

	if (*size > 1)
		p = (struct text_part){ (const char *)*data + 1, **data % (most + 1) };
	p.n = strnlen(p.text, p.n < *size - !!*size ? p.n : *size - !!*size);
	*data += p.n + !!*size;
	*size -= p.n + !!*size;
	return p;
}

/*
 * Read a line of text whose event is the format, with the name, escaped thus, for its first %s and
 * other for the next. The key must be the value.
 */
static void must_have(const char *format, enum escape how, struct text_part name,
		      struct text_part other, const char *key, struct text_part value)
{
	struct strbuf w = { 0 };
	struct seen l;

	strbuf_puts(&w, "              sh-5     [001] d..2. 1.000000: ");
	for (; *format; format++) {
		if (*format != '%') {
			strbuf_add(&w, format, 1);
			continue;
		}
		strbuf_escaped(&w, name.text, name.n, how);
		name = other;
	}
	must(seen_line(&l, w.text, w.n));
	value.n = value.n == SIZE_MAX ? strlen(value.text) : value.n;
	must(how == ESCAPE_NOTHING ? same(seen_text(&l, key), value.text, value.n) :
	     means(seen_text(&l, key), value.text, value.n));
	free(w.text);
}

/* Events of tasks and of a file with such a name must keep their fields. */
static void must_tell(const uint8_t *data, size_t size)
{
	static const struct {
		const char *text;
		int quoted, foreign;    /* foreign: also without escapes */
		const char *fields[8];  /* names and values; NULL is the name, "" the other one */
	} events[] = {
		{ "sched_switch: prev_comm=% prev_pid=71 prev_prio=72 prev_state=R+ ==> "
		  "next_comm=% next_pid=73 next_prio=74 lat=75", 0, 1,
		  { "prev_comm", NULL, "prev_pid", "71", "next_comm", "", "next_pid", "73" } },
		{ "sched_wakeup: comm=% pid=71 prio=72 target_cpu=003", 0, 1,
		  { ".comm", NULL, ".pid", "71", "prio", "72", "target_cpu", "003" } },
		{ "block_rq_issue: 8,16 WS 4096 () 71 + 8 none,0,0 [%] lat=75", 0, 1,
		  { ".comm", NULL, "dev", "8,16", "sector", "71", "lat", "75" } },
		{ "sched_process_fork: comm=% pid=71 child_comm=% child_pid=72", 0, 0,
		  { ".comm", NULL, ".pid", "71", "child_comm", "", "child_pid", "72" } },
		{ "sched_process_exec: filename=% pid=71 old_pid=72 lat=75", 0, 0,
		  { "filename", NULL, ".pid", "71", "old_pid", "72", "lat", "75" } },
		{ "a_probe: (f+0x0/0x1) first=71 path=\"%\" last=72 other=\"%\"", 1, 0,
		  { "path", NULL, "first", "71", "last", "72", "other", "" } },
	};
	struct text_part name = take_name(&data, &size, 15), other = take_name(&data, &size, 15);
	size_t i = size ? *data % (sizeof(events) / sizeof(*events)) : 0;

	if (events[i].quoted || !strncmp(events[i].text, "sched_process_exec", 18))
		name = take_name(&data, &size, 4096);
	if (name.n > 1 && !memcmp(name.text, "0x", 2))
		return; /* 0x7b (123) is a number of the kernel's option fields */
	for (int f = 0; f < 8; f += 2) {
		const char *text = events[i].fields[f + 1];
		struct text_part value = !text ? name : !*text ? other :
					 (struct text_part){ text, SIZE_MAX };

		must_have(events[i].text, events[i].quoted ? ESCAPE_QUOTED : ESCAPE_NAME, name,
			  other, events[i].fields[f], value);
		if (events[i].foreign && !memchr(name.text, '\\', name.n) &&
		    !memchr(other.text, '\\', other.n))
			must_have(events[i].text, ESCAPE_NOTHING, name, other,
				  events[i].fields[f], value);
	}
}

static void must_be_svg(const char *s, size_t n)
{
	struct strbuf w = { 0 };

	svg_text(&w, s, n, SIZE_MAX);
	for (size_t i = 0; i < w.n; i++)
		must((unsigned char)w.text[i] >= ' ' && !strchr("<>'\"", w.text[i]));
	free(w.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = { "comm", "pid", "cpu", "time", "event", "ret",
					    "func", "caller", "next_comm", ".pid", "call",
					    "dev", "rwbs", "sector", "nr_sector",
					    "host" };
	char *key = next_part(&data, &size), *line;
	struct seen l;
	uint64_t time;
	int point;

	must_tell(data, size);
	line = copy_of(data, size);
	if (seen_line(&l, line, size)) {
		must(l.event.n && l.time.n);
		must_be_in(seen_text(&l, key), line, size);
		must_be_in(l.tgid, line, size);
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			must_be_in(seen_text(&l, keys[i]), line, size);
		must(seen_time(&l, &time, &point) < 0 || (point >= -1 && point <= 9));
		must_be_carried(&l, line, size, key);
		must_be_carried(&l, line, size, "comm");
	}
	must_be_svg(line, size);
	free(line);
	free(key);
	return 0;
}
