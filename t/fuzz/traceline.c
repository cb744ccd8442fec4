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

/*
 * Append a field to the line. It must be found if the line is of a plain event that has no
 * field of that name, or may have one.
 */
static void must_be_carried(const struct trace_line *l, const char *line, size_t n,
			    const char *key)
{
	struct strbuf fields = { 0 }, more = { 0 };
	struct text_part p = trace_line_key(l, key), got;
	struct trace_line again;

	if (!l->json && l->event.n > 6 && !memcmp(l->event.text, "block_", 6))
		return; /* these lines end in brackets */
	if (l->json ? l->body.n < 2 || *l->body.text != '{' ||
			l->body.text[l->body.n - 1] != '}' :
		      memchr(line, '"', n) || memchr(line, '=', n) ||
		      memchr(line, ':', n) != l->time.text + l->time.n)
		return;
	trace_line_add_field(&fields, l, "Carried", p);
	trace_line_with_fields(&more, l, line, n, &fields);
	must(trace_line(&again, more.text, more.n));
	must(same(again.event, l->event.text, l->event.n));
	got = trace_line_key(&again, "Carried");
	must(l->json ? 1 : same(got, p.text ? p.text : "-", p.text ? p.n : 1));
	free(fields.text);
	free(more.text);
}

/* Take the next bytes of the input, at most so many, as a name that the decoder prints. */
static size_t take_name(char *name, const uint8_t **data, size_t *size, size_t most)
{
	size_t n = *size ? **data % (most + 1) : 0, i;

	*size -= *size != 0;
	*data += *size != 0;
	for (i = 0; i < n && i < *size; i++)
		name[i] = (*data)[i] < ' ' || (*data)[i] == 0x7f ? '=' : (char)(*data)[i];
	*data += i;
	*size -= i;
	name[i] = '\0';
	return i;
}

static void must_have(const struct trace_line *l, const char *key, const char *value)
{
	struct text_part p = trace_line_key(l, key);

	must(p.text && same(p, value, strlen(value)));
}

/* Events of tasks and of a file with such a name must keep their fields. */
static void must_tell(const uint8_t *data, size_t size)
{
	char one[16], other[16], path[4097], line[8192];
	struct trace_line l;
	size_t n;

	take_name(one, &data, &size, 15);
	take_name(other, &data, &size, 15);
	n = str_format(line, sizeof(line),
		       "              sh-5     [001] d..2. 1.000000: sched_switch: "
		       "prev_comm=%s prev_pid=71 prev_prio=72 prev_state=R+ ==> next_comm=%s "
		       "next_pid=73 next_prio=74 lat=75", one, other);
	must(trace_line(&l, line, n));
	must_have(&l, "prev_comm", one);
	must_have(&l, "prev_pid", "71");
	must_have(&l, "prev_prio", "72");
	must_have(&l, "prev_state", "R+");
	must_have(&l, "next_comm", other);
	must_have(&l, "next_pid", "73");
	must_have(&l, "next_prio", "74");
	must_have(&l, "lat", "75");
	n = str_format(line, sizeof(line),
		       "              sh-5     [001] d..2. 1.000000: sched_wakeup: "
		       "comm=%s pid=71 prio=72 target_cpu=003", one);
	must(trace_line(&l, line, n));
	must_have(&l, ".comm", one);
	must_have(&l, ".pid", "71");
	must_have(&l, "target_cpu", "003");
	n = str_format(line, sizeof(line),
		       "              sh-5     [001] d..2. 1.000000: block_rq_issue: "
		       "8,16 WS 4096 () 71 + 8 none,0,0 [%s] lat=75", one);
	must(trace_line(&l, line, n));
	must_have(&l, "dev", "8,16");
	must_have(&l, "sector", "71");
	must_have(&l, "lat", "75");
	take_name(path, &data, &size, size < 4096 ? size : 4096);
	n = str_format(line, sizeof(line),
		       "              sh-5     [001] d..2. 1.000000: sched_process_exec: "
		       "filename=%s pid=71 old_pid=72 lat=75", path);
	must(trace_line(&l, line, n));
	must_have(&l, "filename", path);
	must_have(&l, ".pid", "71");
	must_have(&l, "old_pid", "72");
	must_have(&l, "lat", "75");
	n = str_format(line, sizeof(line), "              sh-5     [001] d..2. 1.000000: a_probe: "
		       "(f+0x0/0x1) first=71 path=\"%s\" last=72 lat=75", path);
	must(trace_line(&l, line, n));
	must_have(&l, "first", "71");
	must_have(&l, "last", "72");
	must_have(&l, "lat", "75");
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
	struct trace_line l;
	uint64_t time;
	int point;

	must_tell(data, size);
	line = copy_of(data, size);
	if (trace_line(&l, line, size)) {
		must(l.event.n && l.time.n);
		must_be_in(trace_line_key(&l, key), line, size);
		must_be_in(l.tgid, line, size);
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			must_be_in(trace_line_key(&l, keys[i]), line, size);
		must(trace_line_time(&l, &time, &point) < 0 || (point >= -1 && point <= 9));
		must_be_carried(&l, line, size, key);
		must_be_carried(&l, line, size, "comm");
	}
	must_be_svg(line, size);
	free(line);
	free(key);
	return 0;
}
