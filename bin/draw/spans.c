/* SPDX-License-Identifier: ISC */
/* spans.c - calls, waits, windows of requests and messages as spans */

#include "lines/lines.h"
#include "export.h"

enum {
	THREADS_MOST = 65536,           /* threads with a window or a message */
	MESSAGES_MOST = 262144,         /* messages whose trace is known */
};

/* SpanKind of trace.proto */
#define KIND_INTERNAL "1"
#define KIND_SERVER "2"
#define KIND_CLIENT "3"

/* The state of a thread. */
struct thread {
	struct table_entry entry;       /* host, NUL, number of the thread */
	int serves, sends;
	int no_sender;                  /* serves: the trace of all hosts lacks the message */
	uint64_t window, trace;         /* serves: the key of its message, and its trace */
	uint64_t since;                 /* serves: when the window began */
	uint64_t message, sent;         /* sends: the key, and when */
	uint64_t root;                  /* the trace of messages without a window */
	char comm[100];                 /* serves or sends: its name, as JSON */
	char host[68];                  /* as JSON */
	uint64_t tid, cpu;
};

/* A message that was sent. */
struct message {
	struct table_entry entry;       /* the key */
	uint64_t trace;
};

/*
 * Mix a number into a hash, which is never 0. The finalizer of MurmurHash3 spreads each bit, and
 * gives the same on hosts of both byte orders.
 */
static uint64_t mix(uint64_t hash, uint64_t n)
{
	hash ^= n + 0x9e3779b97f4a7c15;
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
	hash ^= hash >> 33;
	return hash ? hash : 1;
}

/* The hash of the record's task: host, boot and thread. */
static uint64_t task_hash(const struct spans *s, const struct export_record *r)
{
	const struct origin *o = s->to->origin;
	struct text_part host = json_unquoted(r->host);
	uint64_t hash;

	if (r->host.n)
		hash = text_hash(TEXT_HASH, host.text, host.n);
	else
		hash = text_hash(text_hash(TEXT_HASH, o->host, strlen(o->host)), o->boot,
				 strlen(o->boot));
	return mix(hash, r->tid);
}

/* Is the trace one that is kept? */
static int is_kept(struct spans *s, uint64_t trace)
{
	if (s->sample < 2 || mix(0, trace) % s->sample == 0)
		return 1;
	s->left_out++;
	return 0;
}

/* Return the thread of a record with its own state; make one if there is none and add is set. */
static struct thread *thread_of(struct spans *s, const struct export_record *r, int add)
{
	struct text_part host = json_unquoted(r->host);
	char key[256];
	size_t n = str_format(key, sizeof(key), "%.*s|%llu", (int)(host.n < 128 ? host.n : 128),
			      host.text, (unsigned long long)r->tid);

	return add ? table_at(&s->threads, key, n) : table_find(&s->threads, key, n);
}

/* ---- windows and messages ------------------------------------------------------------------ */

/* Copy a JSON string if it fits; otherwise set an empty one. */
static void copy_string(char *to, size_t size, struct text_part from)
{
	if (from.n < 2 || *from.text != '"' || from.n >= size)
		from = (struct text_part){ "\"\"", 2 };
	str_format(to, size, "%.*s", (int)from.n, from.text);
}

/* Print a span of a window or a message. */
static void put_span(struct spans *s, const struct thread *t, struct otlp_span *span,
		     uint64_t number)
{
	struct export_record r = { .time = span->from, .tid = t->tid, .cpu = t->cpu,
				   .comm = { t->comm, strlen(t->comm) } };

	if (t->host[0] && t->host[1] != '"')
		r.host = (struct text_part){ t->host, strlen(t->host) };
	span->name = r.comm;
	if (span->to < span->from)
		span->to = span->from;
	if (is_kept(s, span->trace))
		otlp_span(s->to, span, &r, number);
}

/* The message is over: it was answered, another follows, or the window ends. */
static void end_message(struct spans *s, struct thread *t, uint64_t time, const char *note,
			uint64_t number)
{
	struct otlp_span span = { .id = t->message, .kind = KIND_CLIENT, .from = t->sent,
				  .to = time, .note = note };

	if (!t->sends)
		return;
	t->sends = 0;
	span.trace = t->serves ? t->trace : t->root;
	span.parent = t->serves && t->window ? ~t->window : 0;
	put_span(s, t, &span, number);
}

static void end_window(struct spans *s, struct thread *t, uint64_t time, const char *note,
		       uint64_t number)
{
	struct otlp_span span = { .trace = t->trace, .kind = KIND_SERVER, .from = t->since,
				  .to = time, .note = note };

	end_message(s, t, time, "tfs.not_answered", number);
	if (!t->serves)
		return;
	t->serves = 0;
	if (!t->window) /* a task that is traced from the beginning serves no message */
		return;
	span.id = ~t->window;
	span.parent = t->no_sender ? 0 : t->window;
	if (t->no_sender)
		span.note = "tfs.no_sender";
	put_span(s, t, &span, number);
}

/* Take a mark line of a request probe. */
static void take_mark(struct spans *s, const struct dt_mark *mark, const struct export_record *r,
		      uint64_t number)
{
	struct export_record of = *r;
	struct thread *t;
	struct message *m;

	of.tid = mark->tid;
	if (s->threads.n >= THREADS_MOST && !thread_of(s, &of, 0))
		spans_end(s, r->time);
	t = thread_of(s, &of, 1);
	t->tid = mark->tid;
	t->cpu = r->cpu;
	if (mark->tid == r->tid || !*t->comm)
		copy_string(t->comm, sizeof(t->comm), r->comm);
	copy_string(t->host, sizeof(t->host), r->host);
	switch (mark->what) {
	case 'B':
		end_window(s, t, r->time, "tfs.replaced", number);
		t->serves = 1;
		t->window = mark->key;
		m = table_find(&s->messages, (const char *)&mark->key, sizeof(mark->key));
		t->trace = m ? m->trace : mark->key;
		t->no_sender = !m && r->host.n;
		t->since = r->time;
		break;
	case 'R':
		end_message(s, t, r->time, NULL, number);
		break;
	case 'M':
		if (t->sends && t->message == mark->key) /* it is sent again */
			break;
		end_message(s, t, r->time, "tfs.not_answered", number);
		t->sends = 1;
		t->message = mark->key;
		t->sent = r->time;
		t->root = mark->key;
		if (s->messages.n >= MESSAGES_MOST)
			table_clear(&s->messages);
		m = table_at(&s->messages, (const char *)&mark->key, sizeof(mark->key));
		m->trace = t->serves && t->window ? t->trace : mark->key;
		break;
	default:
		if (t->serves && t->window == mark->key)
			end_window(s, t, r->time, NULL, number);
	}
	if (!t->serves && !t->sends)
		table_remove(&s->threads, t);
}

void spans_end(struct spans *s, uint64_t time)
{
	for (size_t i = 0; i < s->threads.room; i++)
		if (s->threads.v[i])
			end_window(s, (struct thread *)s->threads.v[i], time, "tfs.end_unknown", 0);
	table_clear(&s->threads);
}

/* ---- other records --------------------------------------------------------------------------- */

/* Return the name of an event without what all calls have in front. No event has a longer name. */
static struct text_part span_name(const struct export_record *r, char *name, size_t size)
{
	struct text_part event = json_unquoted(r->event);
	size_t skip = event.n > 9 && !memcmp(event.text, "sys_exit_", 9) ? 9 : 0;

	if (!event.n || event.n + 3 > size)
		return (struct text_part){ "\"\"", 2 };
	return (struct text_part){ name, str_format(name, size, "\"%.*s\"",
						    (int)(event.n - skip), event.text + skip) };
}

/* If the event ends a wait for a CPU, its task is the one that waited. */
static void set_waiter(struct export_record *r)
{
	const char *s = r->fields.text, *end;
	struct text_part name, value;
	uint64_t tid;

	if (r->lat < 0 || !text_part_is(json_unquoted(r->event), "sched_switch"))
		return;
	end = s + r->fields.n; /* it has the lat */
	while (json_member(&s, end, &name, &value))
		if (text_part_is(name, "next_pid") && !text_part_number(value, 10, &tid) && tid) {
			r->tid = tid;
			r->comm.n = 0; /* next_comm is among the fields */
		}
}

/* Add an event with a duration, or lost events, which take no time. */
static void put_event(struct spans *s, const struct export_record *record, uint64_t number)
{
	struct export_record r = *record;
	uint64_t lat = r.lat < 0 ? 0 : (uint64_t)r.lat;
	struct otlp_span span = { .kind = KIND_INTERNAL, .from = r.time, .to = r.time };
	struct thread *t;
	char name[256];

	set_waiter(&r);
	if (r.decoded)
		span.to += lat;
	else
		span.from -= lat < r.time ? lat : 0;
	t = thread_of(s, &r, 0);
	span.name = r.lost.n ? (struct text_part){ "\"lost events\"", 13 } :
			       span_name(&r, name, sizeof(name));
	span.trace = task_hash(s, &r);
	span.id = mix(mix(mix(span.trace, r.time), r.cpu), r.lost.n);
	if (t && t->serves && t->window && !r.lost.n) {
		span.trace = t->trace;
		span.parent = ~t->window;
	}
	if (r.lost.n || !r.tid || is_kept(s, span.trace))
		otlp_span(s->to, &span, &r, number);
}

void spans_take(struct spans *s, const struct export_record *r, uint64_t number)
{
	struct trace_line line;
	struct dt_mark mark;

	s->threads.size = sizeof(struct thread);
	s->messages.size = sizeof(struct message);
	if (export_is_mark(r) && trace_line(&line, r->line, r->n) && dt_mark(&mark, &line))
		take_mark(s, &mark, r, number);
	else if (r->lost.n || r->lat >= 0)
		put_event(s, r, number);
	else
		s->instants++;
	if (r->lost.n && s->threads.n) /* the ends of windows may be lost */
		spans_end(s, r->time);
}
