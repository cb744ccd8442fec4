/* SPDX-License-Identifier: ISC */
/* otel.c - the trace context of the thread of each event (OpenTelemetry) */

#include "base/base.h"
#include "select/select.h"
#include "event/event.h"
#include "calls/calls.h"

/* Keep contexts of so many tasks; beyond that, forget all: they are soon recorded again. */
enum { TASKS = 65536 };

/* A task, by its pid. */
struct otel_task {
	struct table_entry entry;
	struct otel_context context;
};

/* The note of an event: its field with the text, if programs print it, and its subject. */
struct noted {
	int decided;
	const struct field *text;       /* of recordings of earlier versions */
	int own;                        /* it is tfs:otel */
	enum { ABOUT_RUNNING, ABOUT_OTHER, ABOUT_NOBODY } about;
	const struct field *other;      /* the pid */
};

static struct noted *noted_of(struct otel_contexts *all, struct event_set *evs,
			      const struct record *r)
{
	const struct event *e = event_wanted(evs, r);
	struct noted *of = e ? event_note(&all->events, e, sizeof(*of)) : NULL;
	const struct subject *s;

	if (!of || of->decided)
		return of;
	of->decided = 1;
	if (!strcmp(e->name, "bpf_trace_printk"))
		of->text = event_field(e, "bpf_string");
	of->own = !strcmp(e->system, RECORD_SYSTEM) && !strcmp(e->name, "otel");
	s = subject_of(e->system, e->name);
	if (s && s->kind == SUBJECT_NONE)
		of->about = ABOUT_NOBODY;
	else if (s && s->kind != SUBJECT_EITHER && (of->other = event_field(e, s->field)))
		of->about = ABOUT_OTHER;
	return of;
}

static int is_flag(char c)
{
	return c >= 'a' && c <= 'p';
}

/* Read the text after "tfs_ID o " of earlier versions. Return 0, or -1 if it is no context. */
static int parse(struct otel_context *c, const char *s, const char *end)
{
	*c = (struct otel_context){ .state = CONTEXT_UNKNOWN };
	if (end - s == 1 && (*s == '-' || *s == '?')) {
		c->state = *s == '-' ? CONTEXT_NONE : CONTEXT_UNKNOWN;
		return 0;
	}
	if (end - s < 8 || !is_flag(s[0]) || !is_flag(s[1]) || s[2] != ' ')
		return -1;
	c->state = CONTEXT_KNOWN;
	c->flags = (uint8_t)((s[0] - 'a') << 4 | (s[1] - 'a'));
	s += 3;
	c->trace[0] = text_hex(&s, end);
	s += s < end;
	c->trace[1] = text_hex(&s, end);
	s += s < end;
	c->span = text_hex(&s, end);
	return s == end ? 0 : -1;
}

/* Read the context of a record as text. Return 0, or -1 if it is none. */
static int read_text(struct otel_context *c, const struct noted *of, const struct event_set *evs,
		     const struct record *r)
{
	size_t n;
	const char *s = older_text(evs, of->text, r, NULL, &n);

	return !s || n < 3 || memcmp(s, "o ", 2) ? -1 : parse(c, s + 2, s + n);
}

/* Read the context of a record. Return 0, or -1 if it is too short. */
static int read_own(struct otel_context *c, const struct event_set *evs, const struct record *r)
{
	const unsigned char *at = r->data + offsetof(struct otel_record, trace);

	if (r->len < sizeof(struct otel_record))
		return -1;
	c->trace[0] = raw_number(at, 8, 0, evs->big);
	c->trace[1] = raw_number(at + 8, 8, 0, evs->big);
	c->span = raw_number(at + 16, 8, 0, evs->big);
	c->flags = r->data[offsetof(struct otel_record, flags)];
	switch (r->data[offsetof(struct otel_record, state)]) {
	case OTEL_SEEN:
		c->state = CONTEXT_KNOWN;
		break;
	case OTEL_SEEN_NONE:
		c->state = CONTEXT_NONE;
	}
	return 0;
}

int otel_learn(struct otel_contexts *all, struct event_set *evs, const struct record *r, int lost)
{
	const struct noted *of = noted_of(all, evs, r);
	int32_t pid = record_pid(evs, r);
	struct otel_context c = { .state = CONTEXT_UNKNOWN };
	struct otel_task *t;

	all->losses += lost != 0;
	if (!of || (of->own ? read_own(&c, evs, r) : read_text(&c, of, evs, r)) < 0)
		return 0;
	if (all->tasks.n >= TASKS)
		table_clear(&all->tasks);
	all->tasks.size = sizeof(*t);
	t = table_at(&all->tasks, (const char *)&pid, sizeof(pid));
	t->context = c;
	t->context.losses = all->losses;
	return 1;
}

struct otel_context otel_of_task(const struct otel_contexts *all, int32_t pid)
{
	const struct otel_task *t = table_find(&all->tasks, (const char *)&pid, sizeof(pid));

	if (!pid)
		return (struct otel_context){ .state = CONTEXT_NONE };
	return t && t->context.losses == all->losses ? t->context :
	       (struct otel_context){ .state = CONTEXT_UNKNOWN };
}

struct otel_context otel_of(struct otel_contexts *all, struct event_set *evs,
			    const struct record *r)
{
	const struct noted *of = noted_of(all, evs, r);
	int32_t pid = record_pid(evs, r);
	struct field_data v;

	if (of && of->about == ABOUT_OTHER)
		pid = field_value(evs, of->other, r, &v) < 0 ? 0 : (int32_t)v.i;
	else if ((of && of->about == ABOUT_NOBODY) || record_flags(evs, r) & FLAG_INTERRUPT)
		pid = 0;
	return otel_of_task(all, pid);
}

void otel_put(const struct otel_context *c, struct out *o, int json)
{
	if (c->state != CONTEXT_KNOWN) {
		out_format(o, json ? "\"otel\":\"%s\"" : " otel=%s",
			   c->state == CONTEXT_NONE ? "none" : "unknown");
		return;
	}
	out_format(o, json ? "\"trace_id\":\"%016llx%016llx\",\"span_id\":\"%016llx\","
			     "\"trace_flags\":\"%02x\"" :
		   " trace_id=%016llx%016llx span_id=%016llx trace_flags=%02x",
		   (unsigned long long)c->trace[0], (unsigned long long)c->trace[1],
		   (unsigned long long)c->span, c->flags);
}
