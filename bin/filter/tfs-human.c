/* SPDX-License-Identifier: ISC */
/*
 * tfs-human - print a trace for people: names for numbers, times of day, colours
 *
 * Requires: only a trace on standard input, as text.
 * tfs-human prints each event as TIME COMM PID EVENT, below a header, and leaves out the
 * CPU and the flags. Errors, signals, exit statuses and system calls get their names.
 * tfs-human never removes or reorders a line. It passes every other line through, with a
 * question mark for each control character. tfs-human ignores SIGINT, so that the program
 * that makes the trace can finish first.
 * Exit: 0 done, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "people/people.h"
#include "seen/seen.h"
#include "tracefs/tracefs.h"

static const struct tool tool = { TOOL_TFS_HUMAN, .takes_instance = 1 };

static struct people to;
static struct input in;
static struct strbuf line, name;
static int width;               /* see people_width */

/* ---- event lines --------------------------------------------------------------------- */

/* Find a part of a struct seen. The calls of raw_syscalls have their numbers as NR. */
static struct text_part part_of(const void *source, const char *key)
{
	const struct seen *l = source;
	int raw = text_part_is(l->event, "sys_enter") || text_part_is(l->event, "sys_exit");

	return !raw ? seen_text(l, key) :
	       !strcmp(key, "id") ? seen_call_number(l) :
	       !strcmp(key, "ret") ? seen_call_result(l) : seen_text(l, key);
}

static const char *name_of_call(const void *source, int64_t number)
{
	(void)source;
	return name_of_syscall(number);
}

static enum people_kind kind_of(const struct seen *l)
{
	if (*l->prefix)
		return !strcmp(l->prefix, "sys_enter_") ? PEOPLE_ENTER : PEOPLE_RETURN;
	if (text_part_is(l->event, "sys_enter") || text_part_is(l->event, "sys_exit"))
		return PEOPLE_RAW_CALL;
	return text_part_is(l->event, "signal_generate") ||
	       text_part_is(l->event, "signal_deliver") ? PEOPLE_SIGNAL : PEOPLE_OTHER;
}

/* Set the parts of a line of n bytes that every line has. */
static void set_head(struct people_event *e, const struct seen *l, const char *s, size_t n)
{
	int digits;

	*e = (struct people_event){ .time = l->time, .pid = l->pid };
	seen_add_string(strbuf_empty(&name), l, l->comm);
	e->comm = (struct text_part){ name.text, name.n };
	if (l->host.n)
		e->host = (struct text_part){ s, line_prefix(s, n, &(struct text_part){ 0 }) };
	e->timed = to.by_day && !seen_time(l, &e->ns, &digits) && digits >= 0;
}

/* Write an event line of n bytes. */
static void put_event(struct out *o, const struct seen *l, const char *s, size_t n)
{
	const char *body = l->body.text;
	struct people_event e;

	set_head(&e, l, s, n);
	e.body = (struct text_part){ body, (size_t)(s + n - body) };
	if (l->decoded) {
		int64_t error = l->error.n ? error_of_name(l->error.text, l->error.n) : 0;
		const char *why = error < 512 ? name_of_error(error) : NULL;

		people_head(&to, o, &e);
		if (why) { /* in words */
			out_text(o, body, (size_t)(l->ret.text - body));
			people_error(&to, o, error, why);
			body = l->error.text + l->error.n;
		}
		out_text(o, body, (size_t)(s + n - body));
		return;
	}
	e.kind = kind_of(l);
	/* a line FUNCTION <-CALLER has no name of an event */
	if (l->event.text >= s && l->event.text < body)
		e.event = l->event;
	e.key = part_of;
	e.call = name_of_call;
	e.source = l;
	people_event(&to, o, &e);
}

/* ---- the lines of trace_process ------------------------------------------------------ */

static struct text_part word_at(const char **s)
{
	struct text_part p = { *s, strcspn(*s, " ") };

	*s = p.text + p.n + strspn(p.text + p.n, " ");
	return p;
}

/*
 * Read a line of trace_process: "%16s %5d %3d %9lu.%06ld TEXT" (lib/show/process.c). Set
 * body to TEXT. Return 1, or 0 if the line is another one.
 */
static int process_parse(struct seen *l, const char *s, size_t n)
{
	enum { COMM = 16 };
	const char *comm;
	struct text_part *heads[] = { &l->pid, &l->cpu, &l->time };

	s += line_prefix(s, n, &l->host);
	comm = s + strspn(s, " ");
	if (strlen(s) <= COMM || s[COMM] != ' ' || comm >= s + COMM)
		return 0;
	l->comm = (struct text_part){ comm, (size_t)(s + COMM - comm) };
	s += COMM + strspn(s + COMM, " ");
	for (size_t i = 0; i < 3; i++) {
		*heads[i] = word_at(&s);
		if (strspn(heads[i]->text, i < 2 ? "0123456789" : "0123456789.") != heads[i]->n)
			return 0;
	}
	l->body = (struct text_part){ s, strlen(s) };
	return l->time.n && l->body.n;
}

/* Write "syscall NR [...]" or "syscall rc RESULT error E" with names. Return 1, or 0. */
static int put_call(struct out *o, const char *body, const char *s)
{
	struct text_part nr = word_at(&s), result = word_at(&s);
	const char *call;
	int64_t v;

	out_text(o, body, (size_t)(nr.text - body));
	if (text_part_is(nr, "rc")) {
		if (people_number(result, &v) < 0 || !text_part_is(word_at(&s), "error"))
			return 0;
		word_at(&s);
		people_result(&to, o, v);
	} else {
		if (people_number(nr, &v) < 0 || *result.text != '[')
			return 0;
		call = name_of_syscall(v);
		out_text(o, call ? call : nr.text, call ? strlen(call) : nr.n);
		s = nr.text + nr.n;
	}
	out_string(o, s);
	return 1;
}

/* Write "signal N errno E code 0xC" with names; s is after the first word. Return 1, or 0. */
static int put_signal(struct out *o, const char *s)
{
	static const char *const names[] = { "errno", "code", "" };
	int64_t v[3];

	for (size_t i = 0; i < 3; i++)
		if (people_number(word_at(&s), &v[i]) < 0 || !text_part_is(word_at(&s), names[i]))
			return 0;
	people_siginfo(&to, o, v[0], v[1], v[2]);
	return 1;
}

/* Write a line of trace_process. Return 1, or 0 if it is another line. */
static int put_process(struct out *o, const char *text, size_t n)
{
	struct seen l = { .prefix = "" };
	struct people_event e;
	struct text_part event, code;
	struct out before = *o;
	const char *s;
	int64_t v;
	int ok;

	if (strlen(text) != n || !process_parse(&l, text, n))
		return 0;
	set_head(&e, &l, text, n);
	s = l.body.text;
	event = word_at(&s);
	if (!text_part_is(event, "syscall") && !text_part_is(event, "signal") &&
	    !text_part_is(event, "exit") && !text_part_is(event, "fork") &&
	    !text_part_is(l.body, "exec"))
		return 0;
	people_head(&to, o, &e);
	if (text_part_is(event, "syscall")) {
		ok = put_call(o, l.body.text, s);
	} else if (text_part_is(event, "signal")) {
		ok = put_signal(o, s);
	} else if (text_part_is(event, "exit")) {
		code = word_at(&s);
		ok = !*s && !people_number(code, &v) && people_exit(&to, o, v);
	} else {
		out_text(o, l.body.text, l.body.n);
		ok = 1;
	}
	if (!ok)
		*o = before;
	return ok;
}

/* Write a line that is not an event. Say "incomplete" where programs read "unpaired N events". */
static void put_other(struct out *o, const char *s, size_t n)
{
	static const char unpaired[] = "# unpaired ";
	const char *colon = strncmp(s, unpaired, sizeof(unpaired) - 1) ? NULL : strchr(s, ':');

	if (colon) {
		out_string(o, "# incomplete, and not shown");
		n -= (size_t)(colon - s);
		s = colon;
	}
	out_text(o, s, n);
}

/* ---- main ---------------------------------------------------------------------------- */

/* Find the difference between the trace clock and the time of day. Return 0, or -1. */
static int find_offset(void)
{
	int dir = tracefs_open(opt_root, opt_instance, NULL);

	if (dir < 0 || trace_clock_offset(dir, &to.offset) < 0)
		return -1;
	close(dir);
	to.offset *= 1000;
	to.by_day = 1;
	return 0;
}

/* Write the first date of the trace as a date line. Return 1, or 0. */
static int put_date(struct out *o, const char *s)
{
	struct text_part seconds;
	int64_t time, offset;

	if (to.by_day || !comments_date(s, &seconds, &time, &offset))
		return 0;
	people_begin(&to, o, (uint64_t)time, offset);
	return 1;
}

/* The most bytes by which a line becomes longer: its head, the title, eight edits, and colours. */
enum { LONGER = 4096 };

static void each_line(void)
{
	const size_t n = in.n;
	char *s = in.line;
	struct out o = strbuf_out(&line, 2 * n + LONGER);
	struct seen l;

	/* tfs-run draws a table that begins with this byte in place; mask it elsewhere */
	text_mask(s + (n && (*s == SCREEN_FRAME || *s == SCREEN_LAST) && getenv(PEOPLE_SCREEN)),
		  s + n, '\t');
	if (!put_date(&o, s)) {
		if (seen_line(&l, s, n) && !l.json)
			put_event(&o, &l, s, n);
		else if (*s == '#' || *s == '{' || !put_process(&o, s, n))
			put_other(&o, s, n);
		out_char(&o, '\n');
	}
	*o.at = '\0';
	people_print(line.text, (size_t)(o.at - line.text), width);
}

int main(int argc, char **argv)
{
	while (opt_next(&tool, argc, argv) != -1)
		if (people_columns(&to, opt_value) < 0)
			usage_error(&tool, "not at most %d columns: '%.80s'", PEOPLE_COLUMNS,
				    opt_value);
	in.whole = 1;
	width = people_width(); /* before a file confines the tool */
	input_takes_dat(&in);
	input_file(&in, &tool, argv + opt_index);
	if (opt_instance && find_offset() < 0)
		return REFUSED;
	people_screen(&to, width >= 0);
	input_each(&in, each_line);
	return input_end(&in, NULL);
}
