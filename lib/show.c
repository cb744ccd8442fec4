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
		pick_event(&s->pick, optarg);
		break;
	case 'p':
		if (pick_pids(&s->pick, optarg) < 0)
			misused(tool, "not pids with commas between: '%.80s'", optarg);
		break;
	case 't':
		if (pick_time(&s->pick, optarg) < 0)
			misused(tool, "not a range of seconds: '%.80s'", optarg);
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

void show_begin(struct show *s, struct line *l)
{
	s->line = l;
	s->lines.line = l;
	pick_begin(&s->pick, l->raw_clock);
	show_changed(s);
}

size_t show_record(struct show *s, const struct record *r, int64_t lost, char *buf,
		       size_t size, int *shown)
{
	size_t n = 0;

	*shown = s->pick.all || !pick_when(&s->pick, r);
	if (!*shown)
		return 0;
	if (lost)
		n = s->json ? json_lost(&s->lines, r, lost, buf, size)
			    : lost_line(r->cpu, lost, buf, size);
	*shown = s->pick.all || pick_record(&s->pick, s->line->events, r);
	if (!*shown)
		return n;
	return n + (s->json ? json_line(&s->lines, r, buf + n, size - n)
			    : event_line(s->line, r, buf + n, size - n));
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
