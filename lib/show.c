/* SPDX-License-Identifier: ISC */
/* show.c - options of the tools that show records */
#include <unistd.h>

#include "run.h"
#include "show.h"
#include "tfs.h"

int show_option(struct show *s, const struct tool *tool, int letter)
{
	switch (letter) {
	case 'e':
		pick_event(&s->pick, opt_value);
		break;
	case 'p':
		if (pick_pids(&s->pick, opt_value) < 0)
			misused(tool, "not pids with commas between: '%.80s'", opt_value);
		break;
	case 't':
		if (pick_time(&s->pick, opt_value) < 0)
			misused(tool, "not a range of seconds: '%.80s'", opt_value);
		break;
	case 'j':
		s->json = 1;
		break;
	case 'H':
		s->header = 1;
		break;
	default:
		return 0;
	}
	if (s->json && s->header)
		misused(tool, "-H is for text, and -j makes none");
	s->asked = 1;
	return 1;
}

static void tell_unclear(void *arg, const struct event *e)
{
	(void)arg;
	note("%s:%s: its print fmt is beyond us, its fields are printed", e->system, e->name);
}

void show_begin(struct show *s, struct line *l)
{
	l->events->unclear = tell_unclear;
	s->line = l;
	s->lines.line = l;
	pick_begin(&s->pick, l->raw_clock);
	show_changed(s);
}

/* A record that is not like nearly all. */
static size_t show_other(struct show *s, const struct record *r, int64_t lost, char *buf,
			 size_t size, int *shown)
{
	int name = tells_name(s->line->events, r);
	size_t n = 0;

	s->line->told += s->line->told && lost;
	if (name) {
		line_learn(s->line, r);
		if (s->json)
			json_changed(&s->lines);
	}
	*shown = s->pick.all || !pick_when(&s->pick, r);
	if (!*shown)
		return 0;
	if (lost)
		n = s->json ? json_lost(&s->lines, r, lost, buf, size)
			    : lost_line(r->cpu, lost, buf, size);
	*shown = (s->pick.all || pick_record(&s->pick, s->line->events, r)) &&
		 !(name && s->hide_names);
	if (!*shown)
		return n;
	return n + (s->json ? json_line(&s->lines, r, buf + n, size - n)
			    : event_line(s->line, r, buf + n, size - n));
}

HOT size_t show_record(struct show *s, const struct record *r, int64_t lost, char *buf,
		       size_t size, int *shown)
{
	if (lost || s->json || !s->pick.all || tells_name(s->line->events, r))
		return show_other(s, r, lost, buf, size, shown);
	*shown = 1;
	return event_line(s->line, r, buf, size);
}

int show_counts(void *show, const struct record *r)
{
	struct show *s = show;

	return !(s->hide_names && tells_name(s->line->events, r)) &&
	       !pick_when(&s->pick, r) && pick_record(&s->pick, s->line->events, r);
}

size_t show_header(const struct show *s, unsigned cpus, char *buf, size_t size)
{
	return s->header ? header_lines(s->line, "nop", 0, 0, cpus, buf, size) : 0;
}

void show_changed(struct show *s)
{
	line_changed(s->line);
	json_changed(&s->lines);
}
