/* SPDX-License-Identifier: ISC */
/* spans.c - calls, waits, windows of requests and messages as spans */

#include "lines/lines.h"
#include "export.h"

enum {
	THREADS_MOST = 65536,           /* threads with a window or a message */
	MESSAGES_MOST = 262144,         /* messages whose trace is known */
	SUMS_MOST = 64,                 /* sums of calls of a thread */
};

/* The longest time of a root, so that a long trace has roots before its end: a minute */
#define ROOT_MOST 60000000000u

/* SpanKind of trace.proto */
#define KIND_INTERNAL "1"
#define KIND_SERVER "2"
#define KIND_CLIENT "3"

/* Where a span belongs: its trace, and its parent. */
struct place {
	uint64_t trace[2], parent;
};

/* Short calls of one name in one place. */
struct sum {
	struct sum *next;
	struct place place;
	uint64_t from, to, id, lat;     /* of the first, of the last, all */
	unsigned long long calls, errors;
	char name[];                    /* as JSON */
};

/* The state of a thread. */
struct thread {
	struct table_entry entry;       /* host, NUL, number of the thread */
	uint64_t trace_of_root;         /* 0: no root is open */
	uint64_t root_from, root_to;
	struct sum *sums;
	unsigned nsums;
	struct export_context link;     /* the application's first span in the window */
	struct export_context sent_in;  /* sends: the application's span */
	int sends;
	int no_sender;                  /* in a window: the trace of all hosts lacks the message */
	struct dt_window window;
	uint64_t trace;                 /* in a window: the trace of its message */
	uint64_t message, sent;         /* sends: the message's key, and its time */
	uint64_t root;                  /* the trace of messages without a window */
	char comm[100];                 /* its name, as JSON */
	char host[68];                  /* as JSON */
	uint64_t tid;
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
static int is_kept(const struct spans *s, uint64_t trace)
{
	return s->sample < 2 || mix(0, trace) % s->sample == 0;
}

/* Copy a JSON string if it fits; otherwise set an empty one. */
static void copy_string(char *to, size_t size, struct text_part from)
{
	if (from.n < 2 || *from.text != '"' || from.n >= size)
		from = (struct text_part){ "\"\"", 2 };
	str_format(to, size, "%.*s", (int)from.n, from.text);
}

/* Set the task of a record. */
static void set_task(struct export_record *r, const struct thread *t)
{
	r->tid = t->tid;
	r->comm = (struct text_part){ t->comm, strlen(t->comm) };
	if (t->host[0] && t->host[1] != '"')
		r->host = (struct text_part){ t->host, strlen(t->host) };
}

/* Print a span of a window, a message or a root. */
static void put_span(struct spans *s, const struct thread *t, struct otlp_span *span,
		     uint64_t number)
{
	struct export_record r = { .time = span->from, .cpu = EXPORT_NO_CPU };

	set_task(&r, t);
	span->name = r.comm;
	if (span->to < span->from)
		span->to = span->from;
	if (is_kept(s, span->trace[1]))
		otlp_span(s->to, span, &r, number);
	else
		s->left_out++;
}

/* Print the sums of the thread's short calls that began before a time. */
static void put_sums(struct spans *s, struct thread *t, uint64_t before)
{
	char line[160];

	for (struct sum **next = &t->sums, *sum; (sum = *next);) {
		struct otlp_span span = { .trace = { sum->place.trace[0], sum->place.trace[1] },
					  .id = sum->id, .parent = sum->place.parent,
					  .kind = KIND_INTERNAL, .from = sum->from, .to = sum->to,
					  .name = { sum->name, strlen(sum->name) } };
		struct export_record r;

		if (sum->from >= before) {
			next = &sum->next;
			continue;
		}
		export_read(&r, line, str_format(line, sizeof(line), "{\"fields\":{\"calls\":%llu,"
			    "\"errors\":%llu,\"lat\":%llu.%03u}}", sum->calls, sum->errors,
			    (unsigned long long)sum->lat / 1000, (unsigned)(sum->lat % 1000)));
		set_task(&r, t);
		otlp_span(s->to, &span, &r, 0);
		*next = sum->next;
		free(sum);
		t->nsums--;
	}
}

/* End the root of the thread's calls: print the sums below it, and the root. */
static void end_root(struct spans *s, struct thread *t)
{
	struct otlp_span span = { .trace = { t->trace_of_root, t->trace_of_root },
				  .id = mix(t->trace_of_root, 0), .kind = KIND_INTERNAL,
				  .from = t->root_from, .to = t->root_to };

	put_sums(s, t, UINT64_MAX);
	if (t->trace_of_root && is_kept(s, t->trace_of_root))
		put_span(s, t, &span, 0);
	t->trace_of_root = 0;
}

/* Does the window serve a message? A task that is traced from the beginning serves none. */
static int serves(const struct dt_window *w)
{
	return w->open && w->key;
}

/* The message that was sent in w is over: it was answered, another follows, or w ends. */
static void end_message(struct spans *s, struct thread *t, const struct dt_window *w,
			uint64_t time, const char *note, uint64_t number)
{
	struct otlp_span span = { .id = t->message, .kind = KIND_CLIENT, .from = t->sent,
				  .to = time, .note = note };

	if (!t->sends)
		return;
	t->sends = 0;
	span.trace[0] = span.trace[1] = serves(w) ? t->trace : t->root;
	span.parent = serves(w) ? ~w->key : 0;
	span.link = t->sent_in;
	put_span(s, t, &span, number);
}

/* Print the window w, which has ended, and the message that was sent in it. */
static void end_window(struct spans *s, struct thread *t, const struct dt_window *w,
		       uint64_t time, const char *note, uint64_t number)
{
	struct otlp_span span = { .trace = { t->trace, t->trace }, .kind = KIND_SERVER,
				  .from = w->since, .to = time, .note = note };

	end_message(s, t, w, time, "tfs.not_answered", number);
	if (!serves(w))
		return;
	put_sums(s, t, UINT64_MAX);
	span.id = ~w->key;
	span.link = t->link;
	span.parent = t->no_sender ? 0 : w->key;
	if (t->no_sender)
		span.note = "tfs.no_sender";
	put_span(s, t, &span, number);
}

/* End all windows, because their ends may be lost. */
static void end_windows(struct spans *s, uint64_t time)
{
	struct thread *t;

	for (size_t i = 0; (t = table_next(&s->threads, &i));) {
		struct dt_window w = t->window;

		t->window.open = 0;
		end_window(s, t, &w, time, "tfs.end_unknown", 0);
	}
}

/* End the roots and sums that are older than a minute. */
static void end_old(struct spans *s, uint64_t time)
{
	struct thread *t;

	for (size_t i = 0; (t = table_next(&s->threads, &i));)
		if (t->trace_of_root && t->root_from + ROOT_MOST <= time)
			end_root(s, t);
		else
			put_sums(s, t, time < ROOT_MOST ? 0 : time - ROOT_MOST);
	s->next = time + ROOT_MOST / 4;
}

/* Forget the threads without a window and a message, after their roots. */
static void forget_idle(struct spans *s)
{
	struct thread **idle = xcalloc(s->threads.n + 1, sizeof(*idle)), *t;
	size_t n = 0;

	for (size_t i = 0; (t = table_next(&s->threads, &i));) {
		if (t->window.open || t->sends)
			continue;
		end_root(s, t);
		idle[n++] = t;
	}
	while (n)
		table_remove(&s->threads, idle[--n]);
	free(idle);
}

void spans_end(struct spans *s, uint64_t time)
{
	end_windows(s, time);
	forget_idle(s);
}

/* Return the thread of a record, with its own state and its name and place now. */
static struct thread *thread_of(struct spans *s, const struct export_record *r)
{
	struct text_part host = json_unquoted(r->host);
	struct thread *t;
	char key[256];
	size_t n = str_format(key, sizeof(key), "%.*s|%llu", (int)(host.n < 128 ? host.n : 128),
			      host.text, (unsigned long long)r->tid);

	if (s->threads.n >= THREADS_MOST && !table_find(&s->threads, key, n)) {
		forget_idle(s);
		if (s->threads.n >= THREADS_MOST)
			spans_end(s, r->time);
	}
	t = table_at(&s->threads, key, n);
	t->tid = r->tid;
	if (r->comm.n)
		copy_string(t->comm, sizeof(t->comm), r->comm);
	copy_string(t->host, sizeof(t->host), r->host);
	return t;
}

/* Note the application's span in which something happens in a window. */
static void note_context(struct thread *t, const struct export_record *r)
{
	if (r->context.span && t->window.open && !t->link.span)
		t->link = r->context;
}

/* Take a mark line of a request probe. */
static void take_mark(struct spans *s, const struct dt_mark *mark, const struct export_record *r,
		      uint64_t number)
{
	struct export_record of = *r;
	struct dt_window ended;
	struct thread *t;
	struct message *m;

	of.tid = mark->tid;
	if (mark->tid != r->tid)
		of.comm.n = 0;
	t = thread_of(s, &of);
	if (!*t->comm)
		copy_string(t->comm, sizeof(t->comm), r->comm);
	ended = dt_window_mark(&t->window, mark, r->time);
	switch (mark->what) {
	case 'B':
		end_window(s, t, &ended, r->time, "tfs.replaced", number);
		m = table_find(&s->messages, (const char *)&mark->key, sizeof(mark->key));
		t->trace = m ? m->trace : mark->key;
		t->no_sender = !m && r->host.n;
		t->link.span = 0;
		break;
	case 'R':
		end_message(s, t, &t->window, r->time, NULL, number);
		break;
	case 'M':
		if (t->sends && t->message == mark->key) /* it is sent again */
			break;
		end_message(s, t, &t->window, r->time, "tfs.not_answered", number);
		t->sends = 1;
		t->message = mark->key;
		t->sent = r->time;
		t->sent_in = r->context;
		note_context(t, r);
		t->root = mark->key;
		if (s->messages.n >= MESSAGES_MOST)
			table_clear(&s->messages);
		m = table_at(&s->messages, (const char *)&mark->key, sizeof(mark->key));
		m->trace = serves(&t->window) ? t->trace : mark->key;
		break;
	default:
		if (ended.open)
			end_window(s, t, &ended, r->time, NULL, number);
	}
}

/* ---- other records --------------------------------------------------------------------------- */

/* Return the name of an event, for a call without its prefix. No event has a longer name. */
static struct text_part span_name(const struct export_record *r, char *name, size_t size)
{
	struct text_part event = json_unquoted(r->event);
	size_t skip = event.n > 9 && !memcmp(event.text, "sys_exit_", 9) ? 9 : 0;

	if (!event.n || event.n + 3 > size)
		return (struct text_part){ "\"\"", 2 };
	return (struct text_part){ name, str_format(name, size, "\"%.*s\"",
						    (int)(event.n - skip), event.text + skip) };
}

/*
 * If the event ends a wait for a CPU or a request to a disk, its task is the one that waited or
 * made the request.
 */
static void set_waiter(struct export_record *r)
{
	int is_switch = text_part_is(json_unquoted(r->event), "sched_switch");
	const char *s = r->fields.text, *end;
	struct text_part name, value, comm = { NULL, 0 };
	uint64_t tid;

	if (r->lat < 0 || (!is_switch && !text_part_is(json_unquoted(r->system), "block")))
		return;
	end = s + r->fields.n; /* it has the lat */
	while (json_member(&s, end, &name, &value))
		if (text_part_is(name, is_switch ? "next_comm" : "by")) {
			comm = value;
		} else if (text_part_is(name, is_switch ? "next_pid" : "by_pid") &&
			   !text_part_number(value, 10, &tid) && tid) {
			r->tid = tid;
			r->comm = comm;
		}
}

/*
 * Set the place of an event: below the span in which the application was, or else in the window of
 * a request, or else below a root of its thread. A span that the application does not sample has
 * no record that could be a parent.
 */
static void set_place(struct spans *s, struct thread *t, const struct export_record *r,
		      const struct otlp_span *span, struct place *place)
{
	const struct export_context *c = &r->context;
	uint64_t trace;

	note_context(t, r);
	if (c->span && c->flags & 1) {
		*place = (struct place){ { c->trace[0], c->trace[1] }, c->span };
		return;
	}
	if (serves(&t->window)) {
		*place = (struct place){ { t->trace, t->trace }, ~t->window.key };
		return;
	}
	if (t->trace_of_root && span->from >= t->root_from + ROOT_MOST)
		end_root(s, t);
	if (!t->trace_of_root) {
		t->trace_of_root = mix(task_hash(s, r), span->from);
		t->root_from = span->from;
		t->root_to = span->to;
	}
	if (span->from < t->root_from)
		t->root_from = span->from;
	if (span->to > t->root_to)
		t->root_to = span->to;
	trace = t->trace_of_root;
	*place = (struct place){ { trace, trace }, mix(trace, 0) };
}

/* Add a short call to the sum of its name and place. */
static void add_to_sum(struct spans *s, struct thread *t, const struct otlp_span *span,
		       const struct place *place, int failed)
{
	struct sum *sum = t->sums;

	while (sum && (memcmp(&sum->place, place, sizeof(*place)) ||
		       !text_part_is(span->name, sum->name)))
		sum = sum->next;
	if (!sum) {
		if (t->nsums++ == SUMS_MOST) {
			put_sums(s, t, UINT64_MAX);
			t->nsums = 1;
		}
		sum = xcalloc(1, sizeof(*sum) + span->name.n + 1);
		sum->next = t->sums;
		sum->place = *place;
		sum->from = span->from;
		sum->id = mix(span->id, 0);
		memcpy(sum->name, span->name.text, span->name.n);
		t->sums = sum;
	}
	sum->calls++;
	sum->errors += (unsigned)failed;
	sum->lat += span->to - span->from;
	if (span->from < sum->from)
		sum->from = span->from;
	if (span->to > sum->to)
		sum->to = span->to;
}

/* Add an event, whose duration may be 0, or lost events, which take no time. */
static void put_event(struct spans *s, const struct export_record *record, uint64_t number)
{
	struct export_record r = *record;
	uint64_t lat = r.lat < 0 ? 0 : (uint64_t)r.lat;
	struct otlp_span span = { .kind = KIND_INTERNAL, .from = r.time, .to = r.time };
	struct place place;
	struct thread *t = NULL;
	char name[256];

	set_waiter(&r);
	if (r.decoded)
		span.to += lat;
	else
		span.from -= lat < r.time ? lat : 0;
	span.name = r.lost.n ? (struct text_part){ "\"lost events\"", 13 } :
			       span_name(&r, name, sizeof(name));
	span.id = mix(mix(mix(task_hash(s, &r), r.time), r.cpu), r.lost.n);
	span.trace[0] = span.trace[1] = span.id;
	if (!r.lost.n && r.system.n) { /* the tool's own record of what it left out has none */
		t = thread_of(s, &r);
		set_place(s, t, &r, &span, &place);
		memcpy(span.trace, place.trace, sizeof(span.trace));
		span.parent = place.parent;
	}
	if (t && !is_kept(s, span.trace[1]))
		s->left_out++;
	else if (t && r.lat >= 0 && lat < s->slower)
		add_to_sum(s, t, &span, &place, export_is_failure(&r, s->to->flags));
	else
		otlp_span(s->to, &span, &r, number);
}

void spans_take(struct spans *s, const struct export_record *r, uint64_t number)
{
	struct seen line;
	struct dt_mark mark;

	s->threads.size = sizeof(struct thread);
	s->messages.size = sizeof(struct message);
	if (export_is_mark(r) && seen_line(&line, r->line, r->n) && dt_mark(&mark, &line))
		take_mark(s, &mark, r, number);
	else if (r->lost.n || r->lat >= 0 || r->answered || r->context.span)
		put_event(s, r, number);
	else
		s->instants++;
	if (r->lost.n)
		end_windows(s, r->time);
	if (r->time >= s->next)
		end_old(s, r->time);
}
