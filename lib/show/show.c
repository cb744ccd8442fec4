/* SPDX-License-Identifier: ISC */
/* show.c - the options with which a tool shows records */

#include "base/base.h"
#include "tool/tool.h"
#include "proc/proc.h"
#include "event/event.h"
#include "calls/calls.h"
#include "show/show.h"

/* Add the signals of a list. Return 0, or -1 if it has another word. */
static int take_signals(struct show *s, const char *list)
{
	for (;; list++) {
		unsigned long long sig = text_digits(&list);

		if (sig < 1 || sig > 64 || (*list && *list != ','))
			return -1;
		s->signals |= (uint64_t)1 << (sig - 1);
		if (!*list)
			return 0;
	}
}

/* Follow the tasks of the trace, if that is asked for. */
static void learn(struct show *s, const struct record *r, int lost)
{
	if (!s->follows)
		return;
	facts_learn(&s->facts, r, lost);
	identity_learn(&s->identity, r, lost);
}

/* Take an option whose value has to be checked. Return 1; 0: another option; or -1, reported. */
static int take_checked(struct show *s, const struct tool *tool)
{
	const struct { const char *name; int flags; struct pids *out; } lists[] = {
		{ "pid", PID_LIST_IDLE, &s->pick.pids },
		{ "uid-pids", PID_LIST_IDLE | PID_LIST_OTHERS, &s->identity.uids },
		{ "comm-pids", PID_LIST_IDLE | PID_LIST_OTHERS, &s->identity.comms },
	};
	const char *name = opt_last.name;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (!strcmp(name, lists[i].name))
			return pids_option(tool, opt_value, lists[i].flags, lists[i].out) < 0 ? -1 :
											       1;
	if (!strcmp(name, "event"))
		return pick_event(&s->pick, opt_value) < 0 ? -1 : 1;
	if (!strcmp(name, "uid")) {
		s->identity.uid = (uid_t)opt_number();
		s->identity.by_uid = 1;
	} else if (!strcmp(name, "between")) {
		if (pick_time(&s->pick, opt_value) < 0)
			opt_refuse(tool, "a range of seconds, FROM-TO");
	} else if (!strcmp(name, "signal")) {
		s->tells = 1;
		if (take_signals(s, opt_value) < 0)
			opt_refuse(tool, "a list of signals from 1 to 64");
	} else if (!strcmp(name, "trace")) {
		if (process_kinds(s, opt_value) < 0)
			opt_refuse(tool, "a list of syscalls, signals, lifecycle");
	} else {
		return 0;
	}
	return 1;
}

int show_option(struct show *s, const struct tool *tool)
{
	const struct opt_place places[] = {
		{ .name = "json", .flag = &s->json }, { .name = "header", .flag = &s->header },
		{ .name = "exact", .flag = &s->exact }, { .name = "date", .flag = &s->dated },
		{ .name = "facts", .flag = &s->tells }, { .name = "otel", .flag = &s->otel.on },
		{ .name = "comm", .text = &s->identity.comm }, { 0 },
	};
	int taken = opt_put(places) ? 1 : take_checked(s, tool);

	if (taken < 1)
		return taken;
	if (s->json && s->process)
		usage_error(tool, "-j and -P cannot be combined; leave one out");
	if (s->exact && (s->json || s->process))
		usage_error(tool, "-x cannot be combined with -j and -P");
	if (s->people && (s->json || s->header || s->exact))
		usage_error(tool, "-m cannot be combined with -j, -H and -x");
	s->asked |= strcmp(opt_last.name, "exact") && strcmp(opt_last.name, "date");
	return 1;
}

static void tell_unclear(void *arg, const struct event *e)
{
	(void)arg;
	if (e->opaque)
		err_note("%s:%s: unsupported print fmt, its fields are printed instead",
			 e->system, e->name);
	else
		err_note("%s:%s: unsupported in its print fmt, and printed as a value: %.*s%s",
			 e->system, e->name, e->unclear_len < 60 ? (int)e->unclear_len : 60,
			 e->unclear, e->unclear_len < 60 ? "" : "...");
}

void show_begin(struct show *s, struct line_format *l)
{
	int all;

	l->events->unclear = tell_unclear;
	l->events->exact = s->exact;
	s->line = l;
	s->lines.line = l;
	s->lines.dated = s->dated;
	s->lines.offset = s->offset;
	if (s->people)
		s->view->keys(s);
	event_notes_free(&s->subjects.about);
	told_free(&s->told);
	pick_begin(&s->pick, l->raw_clock);
	s->tells |= s->json;
	s->follows = s->tells || s->process || identity_on(&s->identity);
	s->lines.facts = &s->facts;
	s->lines.otel = s->otel.on ? &s->otel : NULL;
	event_notes_free(&s->otel.events);
	facts_begin(&s->facts, l->events);
	identity_begin(&s->identity, l, &s->facts);
	all = s->pick.all && !s->process && !identity_on(&s->identity) && !s->subjects.member;
	s->plain = all && !l->events->own_stack && !s->follows && !s->people && !s->decoder &&
		   !s->otel.on && !s->sink && !s->container;
	/* leave out a stack without an event before it, unless all is shown */
	memset(s->left_out, all ? 0 : 0xff, sizeof(s->left_out));
	s->nleft_out = 0;
	show_changed(s);
}

/* Replace the newline of a record's text by the derived fields and a newline. */
static size_t add_fields(struct show *s, const struct record *r, char *buf, size_t n, size_t size)
{
	struct out o = out_to(buf + n - 1, size - n + 1);
	struct otel_context c;

	if (s->tells && s->facts.told && !s->people)
		facts_put(&s->facts, &o, 0);
	if (s->otel.on && !record_is_stack(s->line->events, r)) {
		c = otel_of(&s->otel, s->line->events, r);
		otel_put(&c, &o, 0);
	}
	out_char(&o, '\n');
	return (size_t)(o.at - buf);
}

/* Is the record there only for the names of containers? */
static int hides(const struct show *s, const struct record *r)
{
	const struct event *e = event_wanted(s->line->events, r);

	return e && subjects_hide(&s->subjects, e);
}

/* Is the record shown? A stack is shown if the event before it in its context is. */
static int picked(struct show *s, const struct record *r, int is_context)
{
	struct event_set *evs = s->line->events;
	unsigned flags = record_flags(evs, r);
	/* within one context no event comes between an event and its stack */
	unsigned bit = flags & FLAG_NMI ? 8 : flags & FLAG_HARDIRQ ? 4
		       : flags & FLAG_SOFTIRQ ? 2 : 1;
	unsigned char *left_out = &s->left_out[(unsigned)r->cpu % SHOW_CPUS];
	int about = !s->subjects.member || subjects_pick(&s->subjects, evs, r);
	int64_t sig = s->signals ? facts_signal(&s->facts, r) : 0;
	int shown = about && pick_when(&s->pick, r) == 0 && pick_record(&s->pick, evs, r) &&
		    (sig <= 0 || sig > 64 || s->signals >> (sig - 1) & 1); /* -G */

	shown = shown && (!s->process || process_picks(s)) && identity_picks(&s->identity, r);
	if (s->process)
		return shown;
	if (record_is_own_stack(evs, r))
		return stack_pairs_stack(&s->stacks, r) > 0 || (s->pick.nglobs && shown);
	if (record_is_stack(evs, r))
		return !(*left_out & bit) || (s->pick.nglobs && shown);
	shown = shown && !is_context && !(s->hide_names && record_names_task(evs, r)) &&
		!(s->container && hides(s, r));
	s->nleft_out += !shown;
	s->nleft_out -= (*left_out & bit) != 0;
	*left_out = (unsigned char)(shown ? *left_out & ~bit : *left_out | bit);
	if (evs->own_stack)
		stack_pairs_event(&s->stacks, r->cpu, &(struct record_head){
				  .id = (uint16_t)record_id(evs, r), .flags = (uint8_t)flags,
				  .pid = record_pid(evs, r) }, shown);
	return shown;
}

size_t show_text(struct show *s, const struct record *r, char *buf, size_t size)
{
	size_t n;

	if (s->sink) {
		s->sink->event(s->sink->arg, r, NULL);
		return 0;
	}
	if (s->line->graph && !s->json && graph_kind(s->line->events, r))
		return graph_print(s->line, r, buf, size);
	if (s->json)
		return json_line(&s->lines, r, buf, size);
	if (s->process)
		return process_line(s, r, buf, size);
	n = s->people ? s->view->line(s, r, buf, size) : line_print(s->line, r, buf, size);
	return n && (s->otel.on || s->tells) ? add_fields(s, r, buf, n, size) : n;
}

/* If the record is a hidden one of a traced task's new child, name the child. */
static size_t name_child(const struct show *s, const struct record *r, char *buf, size_t size)
{
	struct event_set *evs = s->line->events;
	const struct event *e = s->traced && s->hide_names ? event_wanted(evs, r) : NULL;
	const struct field *f = e && e->id == evs->newtask ? event_field(e, "pid") : NULL;

	return f ? show_traced(s, (int)field_integer(evs, f, r), buf, size) : 0;
}

/* Name tasks that have joined: the rest at the next record if the text has no room for all. */
static size_t name_joined(struct show *s, char *buf, size_t size)
{
	struct pids *p = &s->subjects.joined;
	size_t n = 0;

	while (p->n && n < size / 8)
		n += show_traced(s, (int)p->v[--p->n], buf + n, size - n);
	return n;
}

/* Show a record that needs more than its line. */
static size_t show_other(struct show *s, const struct record *r, int64_t lost, char *buf,
			 size_t size, int *shown)
{
	int is_context = s->otel.on && otel_learn(&s->otel, s->line->events, r, lost != 0);
	size_t n = 0;

	s->line->losses += lost != 0;
	if ((record_names_task(s->line->events, r) ? line_learn(s->line, r) :
	     told_learn(&s->told, s->line, r)) && s->json)
		json_changed(&s->lines);
	learn(s, r, lost != 0);
	*shown = picked(s, r, is_context);
	if (lost && !pick_when(&s->pick, r))
		n = s->json ? json_lost(&s->lines, r, lost, buf, size)
			    : line_lost(r->cpu, lost, buf, size);
	if (n && s->sink) {
		s->sink->line(s->sink->arg, buf, n);
		n = 0;
	}
	if (s->traced)
		n += name_child(s, r, buf + n, size - n);
	if (s->subjects.joined.n)
		n += name_joined(s, buf + n, size - n);
	if (s->container)
		n += s->container(s, r, *shown, buf + n, size - n);
	buf += n;
	size -= n;
	if (s->decoder && !is_context)
		return n + s->decoder(s, r, lost != 0, shown, buf, size);
	return *shown ? n + show_text(s, r, buf, size) : n;
}

size_t show_record(struct show *s, const struct record *r, int64_t lost, char *buf,
		   size_t size, int *shown)
{
	if (lost || !s->plain || s->nleft_out || record_names_task(s->line->events, r) ||
	    record_is_own(s->line->events, r))
		return show_other(s, r, lost, buf, size, shown);
	*shown = 1;
	if (s->line->graph && graph_kind(s->line->events, r))
		return graph_print(s->line, r, buf, size);
	return line_print(s->line, r, buf, size);
}

int show_counts(void *show, const struct record *r)
{
	struct show *s = show;

	int is_context = s->otel.on && otel_learn(&s->otel, s->line->events, r, 0);

	learn(s, r, 0);
	return picked(s, r, is_context) && !(s->decoder && record_helps(r));
}

size_t show_header(const struct show *s, unsigned cpus, char *buf, size_t size)
{
	if (s->header && s->process)
		return process_header(buf, size);
	return s->header && !s->json ? line_header(s->line, cpus, buf, size) : 0;
}

size_t show_traced(const struct show *s, int pid, char *buf, size_t size)
{
	const struct comm *c = pid ? comms_find(&s->line->events->comms, pid) : NULL;
	struct out o = out_to(buf, size);
	size_t n = c ? strlen(c->name) : 0;

	if (!(s->header || s->subjects.names) || s->process || s->people)
		return 0;
	if (!pid)
		out_string(&o, s->json ? "{\"traced\":\"all\"" : "# traced: all");
	else
		out_format(&o, s->json ? "{\"traced\":%d" : "# traced: %d", pid);
	if (n && s->json) {
		out_string(&o, ",\"comm\":");
		json_string(&o, c->name, n);
	} else if (n) {
		out_char(&o, ' ');
		out_escaped(&o, c->name, n, ESCAPE_TEXT);
	}
	out_string(&o, s->json ? "}\n" : "\n");
	return (size_t)(o.at - buf);
}

size_t show_date(const struct show *s, int64_t at, char *buf, size_t size)
{
	struct out o = out_to(buf, size);
	char date[TIME_DATE];

	if (!s->dated || s->json || s->strace)
		return 0;
	if (at < 0)
		at = time_of_day_us() - s->offset;
	/* neither time can be negative */
	if (at < 0 || at + s->offset < 0)
		at = s->offset < 0 ? -s->offset : 0;
	if (s->people) {
		s->view->begin(s->people, &o, (uint64_t)at * 1000, s->offset * 1000);
		return (size_t)(o.at - buf);
	}
	time_date(date, at + s->offset);
	out_format(&o, "# date: %s, ", date);
	out_decimals(&o, (uint64_t)(at + s->offset), 6);
	out_string(&o, " since 1970, is ");
	out_decimals(&o, (uint64_t)at, 6);
	out_string(&o, " of the trace's clock\n");
	return (size_t)(o.at - buf);
}

size_t show_losses(const struct show *s, const struct losses *l, char *buf, size_t size)
{
	unsigned long long over = l->overwritten, not = l->unwritten;
	struct out o = out_to(buf, size);

	if (!over && !not)
		return 0;
	out_format(&o, s->json ? "{\"lost\":%llu,\"overwritten\":%llu,\"unwritten\":%llu" :
		   "# lost %llu events: %llu overwritten in a full buffer, %llu not written",
		   over + not, over, not);
	if (s->json && s->lines.instance) {
		out_string(&o, ",\"instance\":");
		json_string(&o, s->lines.instance, strlen(s->lines.instance));
	}
	out_string(&o, s->json ? "}\n" : "\n");
	return (size_t)(o.at - buf);
}

void show_changed(struct show *s)
{
	line_changed(s->line);
	json_changed(&s->lines);
}
