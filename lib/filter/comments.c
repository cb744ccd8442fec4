/* SPDX-License-Identifier: ISC */
/* comments.c - comment lines that are repeated at the end of the output */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "filter/filter.h"

static int begins(const char *s, const char *word)
{
	return !strncmp(s, word, strlen(word));
}

/* Return the line without the host's column of dt-join. */
static const char *behind_host(const char *line)
{
	struct text_part host;

	return *line == ' ' ? line : line + trace_line_host(line, strlen(line), &host);
}

static int same_host(const char *a, const char *b)
{
	struct trace_line x, y;

	trace_line(&x, a, strlen(a));
	trace_line(&y, b, strlen(b));
	return x.host.n == y.host.n && (!x.host.n || !memcmp(x.host.text, y.host.text, x.host.n));
}

int comments_keep(struct comments *r, const char *line)
{
	static const char *const words[][2] = {
		{ "# lost ", "{\"lost\":" }, { "# unpaired ", "{\"unpaired\":" },
	};
	const char *s = behind_host(line);
	unsigned kind = 0, i;

	if (*s != '#' && *s != '{')
		return 0;
	while (kind < 2 && !begins(s, words[kind][0]) && !begins(s, words[kind][1]))
		kind++;
	if (kind == 2)
		return 0;
	for (i = 0; i < r->n && r->kind[i] < kind; i++)
		;
	for (; i < r->n && r->kind[i] == kind; i++)
		if (same_host(r->line[i], line))
			break;
	if (i == r->n || r->kind[i] != kind) {
		if (r->n == COMMENTS_MAX)
			return 1;
		memmove(r->line + i + 1, r->line + i, (r->n - i) * sizeof(*r->line));
		memmove(r->kind + i + 1, r->kind + i, (r->n - i) * sizeof(*r->kind));
		r->line[i] = NULL;
		r->kind[i] = kind;
		r->n++;
	}
	free(r->line[i]);
	r->line[i] = xstrdup(line);
	return 1;
}

void comments_print(const struct comments *r)
{
	for (unsigned i = 0; i < r->n; i++)
		stdout_print("%s\n", r->line[i]);
}

enum { LINE = 14 /* the height of a line, in pixels */ };

uint64_t comments_room(const struct comments *r)
{
	return r->n > 2 ? (r->n - 2) * LINE : 0;
}

void comments_draw(const struct comments *r, uint64_t bottom)
{
	for (unsigned i = 0; i < r->n; i++)
		svg_label(10, bottom - (uint64_t)i * LINE, r->line[i], strlen(r->line[i]),
			  SIZE_MAX);
}

int comments_date(const char *line, struct text_part *seconds, int64_t *time, int64_t *offset)
{
	static const char *const words[] = { "# date: ", "Z, ", " since 1970, is " };
	const char *s = behind_host(line);
	struct trace_line l = { .prefix = "" };
	uint64_t v[3] = { 0 };
	int digits;

	for (int i = 0; i < 3; i++) {
		if (!begins(s, words[i]))
			return 0;
		s += strlen(words[i]);
		l.time = (struct text_part){ s, strspn(s, i ? "0123456789." : "0123456789-T:.") };
		s += l.time.n;
		if (i && (trace_line_time(&l, &v[i], &digits) < 0 || v[i] > INT64_MAX / 2))
			return 0;
	}
	*seconds = l.time;
	*time = (int64_t)v[2];
	*offset = (int64_t)(v[1] - v[2]);
	return 1;
}

int comments_is_gap(const char *line)
{
	line = behind_host(line);
	/* trace_print_lat_context's "CPU:1 [LOST 3 EVENTS]"; {"ts":1.0,"cpu":1,"lost":3} */
	return begins(line, "CPU:") ? strstr(line, " [LOST ") != NULL :
	       begins(line, "{\"ts\":") && strstr(line, ",\"lost\":") != NULL;
}
