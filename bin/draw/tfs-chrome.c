/* SPDX-License-Identifier: ISC */
/*
 * tfs-chrome - convert a trace to Chrome's trace JSON
 *
 * Requires: only a trace on standard input, as text or lines of JSON.
 * Slices show decoded system calls, latencies with lat=MICROSECONDS, the waits of tasks, the
 * windows of followed requests and the ends of their messages. An arrow goes from the send of a
 * message to its receive. Any other event is an instant. Each host is a process, and each task
 * a thread of it. Chrome and Perfetto sort by time, so tfs-chrome writes a slice when the slice
 * ends. The output is complete JSON even if the input ends in the middle of a line. tfs-chrome
 * ignores SIGINT, so that the program that makes the trace can finish first.
 * Exit: 0 done, 1 no event, 100 usage error, 111 refused.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "event/event.h"
#include "lines/lines.h"
#include "view/view.h"

static const struct tool tool = {
	.name = "tfs-chrome",
	.help =
		"tfs-chrome\n"
		"convert a trace to Chrome's trace JSON\n",
};

enum {
	MOST_TEXT = 8192,       /* bytes of the text of an event that are written */
	ROOM = 6 * MOST_TEXT + 16, /* of such a text in JSON */
	MARK_NS = 1,            /* of the slice of a mark, to which an arrow can bind */
};

struct chrome_host {
	struct table_entry entry;       /* its name; "": the only one */
	unsigned long long pid;         /* of its process in the output */
};

/* A task of a host. */
struct thread {
	struct table_entry entry;       /* number of the host, tid */
	unsigned long long pid, tid;
	char comm[16];                  /* as it was written last, NUL-terminated */
	enum task_wait wait;
	uint64_t since;                 /* the wait began */
	int window;                     /* a window is open */
	uint64_t key, begun;            /* of the window */
};

/* A message that is sent and not received. */
struct sent {
	struct table_entry entry;       /* its key */
	struct thread from;
	uint64_t time;
};

struct chrome {
	struct table hosts, threads, sent;
	struct comments comments;
	unsigned long long events, slices, arrows, instants;
	uint64_t last;                  /* the latest time */
};

/* ---- output --------------------------------------------------------------------------------- */

/* Print text in quotes, escaped. */
static void print_string(struct text_part p)
{
	static char text[ROOM];
	struct out o = out_to(text, ROOM);

	json_string(&o, p.text ? p.text : "", p.n < MOST_TEXT ? p.n : MOST_TEXT);
	stdout_print("%.*s", (int)(o.at - text), text);
}

/* Print a member whose value is a time in nanoseconds, as microseconds. */
static void print_micro(const char *name, uint64_t ns)
{
	char digits[8];

	/* the 1 keeps the leading zeros and is not printed */
	str_format(digits, sizeof(digits), "%u", (unsigned)(ns % 1000) + 1000);
	stdout_print(",\"%s\":%llu.%s", name, (unsigned long long)ns / 1000, digits + 1);
}

/* Begin an event of the output with the fields that all events have. The caller ends it. */
static void begin(char phase, const char *category, struct text_part name,
		  const struct thread *t, uint64_t time)
{
	static int written;

	stdout_print("%s{\"ph\":\"%c\",\"cat\":\"%s\",\"pid\":%llu,\"tid\":%llu",
		     written++ ? ",\n" : "", phase, category, t->pid, t->tid);
	print_micro("ts", time);
	stdout_print(",\"name\":");
	print_string(name);
}

static struct text_part part_of(const char *s)
{
	return (struct text_part){ s, strlen(s) };
}

/* Begin a slice. The caller adds its arguments and ends it. */
static void begin_slice(struct chrome *c, const char *category, struct text_part name,
			const struct thread *t, uint64_t from, uint64_t ns)
{
	begin('X', category, name, t, from);
	print_micro("dur", ns);
	c->slices++;
}

/* Print an event that gives a process or a thread its name. */
static void print_name(const char *what, const struct thread *t, struct text_part name)
{
	begin('M', "", part_of(what), t, 0);
	stdout_print(",\"args\":{\"name\":");
	print_string(name);
	stdout_print("}}");
}

/*
 * Print the fields of a line as arguments, and end the event. JSON stays as it is, unless it is
 * cut. If it is cut, the fields go up to the end of the line.
 */
static void print_arguments(const struct trace_line *l, const char *line_end)
{
	struct text_part p = l->body;

	if (l->json && p.n && *p.text == '{' && p.text[p.n - 1] == '}' && p.text + p.n < line_end) {
		stdout_print(",\"args\":%.*s}", (int)p.n, p.text);
		return;
	}
	stdout_print(",\"args\":{\"text\":");
	print_string(p);
	stdout_print("}}");
}

/* ---- hosts and tasks ------------------------------------------------------------------------ */

/* Return a task of the line's host. comm is its name, or empty. */
static struct thread *thread_at(struct chrome *c, const struct trace_line *l, uint64_t tid,
			    struct text_part comm)
{
	struct chrome_host *h = table_at(&c->hosts, l->host.n ? l->host.text : "", l->host.n);
	int first = !h->pid;
	uint64_t key[2] = { first ? (h->pid = c->hosts.n) : h->pid, tid };
	struct thread *t = table_at(&c->threads, (const char *)key, sizeof(key));
	char name[sizeof(t->comm)] = "";

	if (comm.n)
		memcpy(name, comm.text, comm.n < sizeof(name) ? comm.n : sizeof(name) - 1);
	t->pid = h->pid;
	t->tid = tid;
	if (first)
		print_name("process_name", t, l->host.n ? l->host : part_of("trace"));
	if (*name && *name != '<' && memcmp(t->comm, name, sizeof(name))) {
		memcpy(t->comm, name, sizeof(name));
		print_name("thread_name", t, part_of(name));
	}
	return t;
}

/* Return the task that the key of a line names, or NULL for none or the idle task. */
static struct thread *thread_by_key(struct chrome *c, const struct trace_line *l, const char *pid,
				const char *comm)
{
	uint64_t tid;

	if (text_part_number(trace_line_key(l, pid), 10, &tid) < 0 || !tid)
		return NULL;
	return thread_at(c, l, tid, trace_line_key(l, comm));
}

/* ---- waits ---------------------------------------------------------------------------------- */

/* The task's wait ends now, and another one, or none, begins. Write the slice if it is known. */
static void change_wait(struct chrome *c, struct thread *t, uint64_t now, enum task_wait wait)
{
	static const char *const names[] = {
		[WAIT_ASLEEP] = "asleep", [WAIT_BLOCKED] = "blocked",
		[WAIT_RUNNABLE] = "waiting",
	};

	if (!t)
		return;
	if (t->wait && now > t->since) {
		begin_slice(c, "wait", part_of(names[t->wait]), t, t->since,
			    now - t->since);
		stdout_print("}");
	}
	t->wait = wait;
	t->since = now;
}

/* ---- requests ------------------------------------------------------------------------------- */

/* Print the window of a task as a pair of events, because it may begin in the middle of a call. */
static void print_window(struct chrome *c, struct thread *t, uint64_t now)
{
	for (int i = 0; i < 2; i++) {
		begin(i ? 'e' : 'b', "window", part_of("window"), t, i ? now : t->begun);
		stdout_print(",\"id\":\"%llx\",\"args\":{\"key\":\"%llx\"}}", t->tid,
			     (unsigned long long)t->key);
	}
	c->slices++;
	t->window = 0;
}

/* Print one end of an arrow. */
static void print_arrow(char phase, const struct thread *t, uint64_t time,
			uint64_t key)
{
	begin(phase, "message", part_of("message"), t, time);
	stdout_print(",\"bp\":\"e\",\"id\":\"%llx\"}", (unsigned long long)key);
}

/* Process a mark line: the end of a message, the beginning or the end of a window. */
static void read_mark(struct chrome *c, const struct trace_line *l, const struct dt_mark *m,
		      uint64_t now)
{
	struct thread *t = thread_at(c, l, m->tid, part_of(""));
	struct sent *s = table_find(&c->sent, (const char *)&m->key, sizeof(m->key));

	if (t->window && (m->what == 'B' || (m->what == 'E' && t->key == m->key)))
		print_window(c, t, now);
	if (m->what == 'E')
		return;
	begin_slice(c, "message", part_of(m->what == 'M' ? "send" : "receive"), t, now,
		    MARK_NS);
	stdout_print("}");
	if (m->what == 'M' && !s) {
		s = table_at(&c->sent, (const char *)&m->key, sizeof(m->key));
		s->from = *t;
		s->time = now;
	} else if (m->what != 'M' && s) {
		print_arrow('s', &s->from, s->time, m->key);
		print_arrow('f', t, now, m->key);
		c->arrows++;
		table_remove(&c->sent, s);
	}
	if (m->what == 'B') {
		t->window = 1;
		t->key = m->key;
		t->begun = now;
	}
}

/* Is the name of the event the address of the function that wrote a marker? */
static int is_address(struct text_part e)
{
	return e.n > 2 && !memcmp(e.text, "0x", 2);
}

/* Take the text up to the next bar from *s. */
static struct text_part up_to_bar(struct text_part *s)
{
	const char *bar = s->n ? memchr(s->text, '|', s->n) : NULL;
	struct text_part p = { s->text, bar ? (size_t)(bar - s->text) : s->n };

	s->text += p.n + (bar != NULL);
	s->n -= p.n + (bar != NULL);
	return p;
}

/*
 * Write what a marker of Android means: B|PID|NAME begins a slice of the thread and E ends it,
 * S|PID|NAME|COOKIE and F|PID|NAME|COOKIE are the ends of a slice of no thread, C|PID|NAME|VALUE
 * is a counter, and I|PID|NAME an instant. Return 1, or 0 if the line is no such marker.
 */
static int read_marker(struct chrome *c, const struct trace_line *l, const struct thread *t,
		       uint64_t now)
{
	static const char kinds[] = "BESFCI", phases[] = "BEbeCi";
	static const char end[] = "mark_write";
	struct text_part s = l->json ? trace_line_key(l, "buf") : l->body, e = l->event, pid, name;
	const char *kind;
	uint64_t n;

	if (l->json && s.n > 1 && !memcmp(s.text + s.n - 2, "\\n", 2))
		s.n -= 2;
	while (s.n && (s.text[s.n - 1] == '\r' || s.text[s.n - 1] == ' '))
		s.n--;
	kind = s.n ? memchr(kinds, *s.text, sizeof(kinds) - 1) : NULL;
	if (!kind || (s.n > 1 ? s.text[1] != '|' : *kind != 'E') ||
	    !(text_part_is(e, "print") || is_address(e) ||
	      (e.n >= strlen(end) && !memcmp(e.text + e.n - strlen(end), end, strlen(end)))))
		return 0;
	up_to_bar(&s);
	pid = up_to_bar(&s);
	if (*kind != 'E' && (text_part_number(pid, 10, &n) < 0 || !s.n))
		return 0;
	/* the name of a slice may have bars */
	name = *kind == 'B' || *kind == 'E' || *kind == 'I' ? s : up_to_bar(&s);
	begin(phases[kind - kinds], "marker", name, t, now);
	if (*kind == 'S' || *kind == 'F') {
		stdout_print(",\"id\":");
		print_string(s);
	} else if (*kind == 'C') {
		struct decimal v;

		stdout_print(",\"args\":{\"value\":");
		if (decimal_parse(&v, s) < 0)
			v = (struct decimal){ 0 };
		stdout_print("%s%llu}", v.negative ? "-" : "", (unsigned long long)v.whole);
	} else if (*kind == 'I') {
		stdout_print(",\"s\":\"t\"");
		c->instants++;
	}
	c->slices += *kind == 'B' || *kind == 'S';
	stdout_print("}");
	return 1;
}

/* End what is open: events were lost, or the trace has ended. */
static void forget(struct chrome *c)
{
	for (size_t i = 0; i < c->threads.room; i++) {
		struct thread *t = (struct thread *)(void *)c->threads.v[i];

		if (!t)
			continue;
		t->wait = WAIT_NONE;
		if (t->window)
			print_window(c, t, c->last);
	}
}

/* ---- the trace ------------------------------------------------------------------------------ */

static void read_event(struct chrome *c, const struct trace_line *l, const char *end,
		       uint64_t now, int digits)
{
	int switched = text_part_is(l->event, "sched_switch");
	/* a decoded call has the time of its beginning, and other lines that of their end */
	int call = l->decoded || (l->json && trace_line_key(l, "call").n &&
				  trace_line_key(l, "args").n);
	uint64_t ns = trace_line_latency(l, digits);
	struct text_part name = l->event;
	struct dt_mark m;
	struct thread *t;
	char text[64];
	uint64_t tid;

	if (text_part_number(l->pid, 10, &tid) < 0)
		tid = 0;
	t = thread_at(c, l, tid, l->comm);
	/* a task that has an event runs, or the trace does not have the switch to it */
	if (!call)
		t->wait = WAIT_NONE;
	if (dt_mark(&m, l)) {
		read_mark(c, l, &m, now);
		return;
	}
	if (read_marker(c, l, t, now))
		return;
	if (call && l->json)
		name = trace_line_key(l, "call");
	else if (*l->prefix && !call)
		name = (struct text_part){ text, str_format(text, sizeof(text), "%s%.*s",
							    l->prefix, (int)l->event.n,
							    l->event.text) };
	if (ns || (call && trace_line_key(l, "lat").n)) {
		/* the next task has waited this long */
		if (switched)
			t = thread_by_key(c, l, "next_pid", "next_comm");
		if (!t)
			return;
		begin_slice(c, call ? "call" : "latency", name, t,
			    call ? now : now > ns ? now - ns : 0, ns);
		print_arguments(l, end);
	} else if (switched) {
		change_wait(c, thread_by_key(c, l, "prev_pid", "prev_comm"), now,
			    trace_line_wait(l));
		change_wait(c, thread_by_key(c, l, "next_pid", "next_comm"), now, WAIT_NONE);
	} else if (trace_line_wakes(l)) {
		t = thread_by_key(c, l, ".pid", ".comm");
		if (t && t->wait != WAIT_RUNNABLE)
			change_wait(c, t, now, WAIT_RUNNABLE);
	} else {
		begin('i', "event", name, t, now);
		stdout_print(",\"s\":\"t\"");
		print_arguments(l, end);
		c->instants++;
	}
}

static void read_line(struct chrome *c, const char *line, size_t n)
{
	struct trace_line l;
	uint64_t now;
	int digits;

	if (!comments_event(&c->comments, &l, line, n) || trace_line_time(&l, &now, &digits) < 0) {
		if (comments_is_gap(line))
			forget(c);
		comments_keep(&c->comments, line);
		return;
	}
	c->events++;
	if (now > c->last)
		c->last = now;
	read_event(c, &l, line + n, now, digits);
}

/* Write what follows the events: how many there are, and lines about lost events. */
static void write_rest(struct chrome *c)
{
	comments_end(&c->comments);
	stdout_print("\n],\"otherData\":{\"slices\":%llu,\"arrows\":%llu,\"instants\":%llu,"
		     "\"comments\":[", c->slices, c->arrows, c->instants);
	for (unsigned i = 0; i < c->comments.n; i++) {
		stdout_print(i ? "," : "");
		print_string(part_of(c->comments.line[i]));
	}
	stdout_print("]}}\n");
}

int main(int argc, char **argv)
{
	static struct chrome c;
	static struct line_reader in;
	char *line;
	ssize_t n;

	c.hosts.size = sizeof(struct chrome_host);
	c.threads.size = sizeof(struct thread);
	c.sent.size = sizeof(struct sent);
	opt_next(&tool, argc, argv);
	opt_end(&tool, argv[opt_index]);

	confine();
	signal(SIGINT, SIG_IGN);
	stdout_print("{\"traceEvents\":[\n");
	while ((n = line_read(&in, &line)) >= 0)
		read_line(&c, line, (size_t)n);
	forget(&c);
	write_rest(&c);
	stdout_flush();
	return in.failed ? REFUSED : c.events ? DONE : NO;
}
