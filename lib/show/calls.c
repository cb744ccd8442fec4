/* SPDX-License-Identifier: ISC */
/* calls.c - print each system call as one line, when it returns */

#include "base/base.h"
#include "tool/tool.h"
#include "show/call_forms.h"

enum { LINE_MOST = SHOW_ROOM / 4 }; /* of a line, in bytes */

/* Write the beginning of a line of strace -f -ttt: PID, and seconds since 1970. */
static void put_strace_head(const struct show *s, const struct decoded *c,
			    const struct record *r, struct out *o)
{
	int64_t us = (int64_t)((r->ts + 500) / 1000) + s->offset;

	us = us < 0 ? 0 : us;
	out_format(o, "%-5d %lld.%06d ", c->pid, (long long)us / 1000000, (int)(us % 1000000));
}

/* Print a call (struct decode). */
static void take_call(void *show, struct decoded *c, const struct decoded_files *files,
		      const struct record *r)
{
	struct show *s = show;
	struct out *o = s->out, line = *o;

	if (s->sink) {
		s->sink->event(s->sink->arg, r, c);
		return;
	}
	if (out_room(o) < LINE_MOST)
		return;
	line.end = o->at + LINE_MOST - 2 * LINE_HEAD_ROOM;
	if (s->json) {
		line.at += json_begin(&s->lines, r, line.at, out_room(&line));
		form_put_json(s, c, files, &line);
	} else {
		if (s->strace)
			put_strace_head(s, c, r, &line);
		else if (s->people)
			s->view->start(s, r, &line);
		else
			line.at += line_begin(s->line, r, line.at);
		if (files)
			form_put_files(s, c, files, &line);
		else
			form_put_line(s, c, &line);
		line.end += LINE_HEAD_ROOM;
		if (s->otel.on) {
			line.at--; /* the newline */
			otel_put(&c->context, &line, 0);
			out_char(&line, '\n');
		}
	}
	o->at = line.at;
}

/* A pid is now that of another task. */
static void take_reused(void *show, int32_t pid)
{
	struct show *s = show;
	char line[40];

	if (s->sink)
		s->sink->line(s->sink->arg, line,
			      str_format(line, sizeof(line), "# reused %d\n", pid));
	else if (!s->strace && !s->people)
		out_format(s->out, s->json ? "{\"reused\":%d}\n" : "# reused %d\n", pid);
}

/* Print what a record gives: nothing, a call, or the text of another event (struct show). */
static size_t take_record(struct show *s, const struct record *r, int lost, int *shown, char *buf,
			  size_t size)
{
	struct out o = out_to(buf, size);

	s->out = &o;
	if (decode_record(s->decode, r, lost, *shown) && *shown)
		o.at += show_text(s, r, o.at, out_room(&o));
	*shown = o.at > buf;
	return (size_t)(o.at - buf);
}

/* Tell how many requests of io_uring and io_submit came. A thread that polls may not be traced. */
static void put_requests(struct show *s, struct out *o)
{
	struct decode *d = s->decode;

	if (d->requests || d->polled)
		out_format(o, s->json ? "{\"io_uring\":%llu" :
			   "# %llu requests of io_uring are not shown: they make no system calls",
			   d->requests);
	if (d->polled)
		out_format(o, s->json ? ",\"polled_rings\":%llu" :
			   "; those of %llu rings with SQPOLL may be missing in this number",
			   d->polled);
	if (d->requests || d->polled)
		out_string(o, s->json ? "}\n" : "\n");
	if (d->queued)
		out_format(o, s->json ? "{\"io_submit\":%llu}\n" :
			   "# %llu requests of io_submit are not shown: one call makes several\n",
			   d->queued);
	d->requests = d->polled = d->queued = 0;
}

/* ---- the interface ---- */

void show_calls_check(struct show *s, const struct decode *d, const struct tool *tool)
{
	if (d->option && !d->on)
		usage_error(tool, "%.*s is for -D", (int)strcspn(d->option, " "), d->option);
	if (d->on && s->process)
		usage_error(tool, "-D and -P cannot be combined; leave one out");
	if (s->decoder && (d->on || s->process))
		usage_error(tool, "-T cannot be combined with -D and -P");
	if (d->strace && (s->json || s->people || s->otel.on || d->files))
		usage_error(tool, "--strace cannot be combined with -j, -m, -O and --files");
	s->strace = d->strace;
	s->dated |= d->strace;
	s->asked |= d->on;
}

void show_calls_begin(struct show *s, struct decode *d)
{
	d->events = s->line->events;
	d->pick = &s->pick;
	d->told = &s->told;
	d->otel = s->otel.on ? &s->otel : NULL;
	d->take = take_call;
	d->reused = take_reused;
	d->arg = s;
	decode_begin(d);
	s->pick.calls = 1;
	s->decoder = take_record;
	s->decode = d;
	s->plain = 0;
}

size_t show_call_text(const struct show *s, const struct decoded *c, char *buf, size_t size)
{
	struct out o = out_to(buf, size - LINE_HEAD_ROOM);

	form_put_line(s, c, &o);
	return (size_t)(o.at - 1 - buf);
}

size_t show_call_result(const struct show *s, const struct decoded *c, char *buf, size_t size)
{
	struct out o = out_to(buf, size);

	if (form_has_result(c))
		form_put_result(s, c, &o);
	else if (c->fate != PAIRING_UNFINISHED)
		out_char(&o, '?');
	return (size_t)(o.at - buf);
}

size_t show_calls_end(struct show *s, char *buf, size_t size)
{
	struct decode *d = s->decode;
	struct out o = out_to(buf, size);
	int more = 1;

	s->out = &o;
	while (more && out_room(&o) >= LINE_MOST)
		more = decode_end(d);
	if (more)
		return (size_t)(o.at - buf);
	if (o.at == buf)
		put_requests(s, &o);
	if (d->unnamed && out_room(&o) >= LINE_MOST) {
		out_format(&o, s->json ? "{\"unnamed\":%llu}\n" :
			   "# %llu names of files are not known: without BTF "
			   "(CONFIG_DEBUG_INFO_BTF), the kernel does not say them\n", d->unnamed);
		d->unnamed = 0;
	}
	return (size_t)(o.at - buf);
}
