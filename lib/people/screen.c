/* SPDX-License-Identifier: ISC */
/* screen.c - a table every so often, which a terminal draws again in its place */

#include "people/people.h"

/* Add the time as seconds, in so many columns. */
static void add_seconds(struct strbuf *to, int columns, long long ms)
{
	strbuf_format(to, "%*llu.%03u", columns, (unsigned long long)(ms / 1000),
		      (unsigned)(ms % 1000));
}

void screen_title(struct strbuf *to, long long ms, unsigned long every)
{
	strbuf_format(to, "%c%s", every ? SCREEN_FRAME : SCREEN_LAST, every ? "" : "all of ");
	add_seconds(to, 0, ms);
	if (every) {
		strbuf_puts(to, " s, every ");
		add_seconds(to, 0, (long long)every);
	}
	strbuf_puts(to, " s\n");
}

void screen_timed(struct strbuf *to, const char *text, size_t n, long long ms)
{
	for (size_t len; n; text += len, n -= len) {
		const int object = *text == '{';

		len = text_line_length(text, n);
		if (object)
			strbuf_puts(to, "{\"seconds\":");
		add_seconds(to, object ? 0 : 5, ms);
		strbuf_add(to, object ? "," : " ", 1);
		strbuf_add(to, text + object, len - (size_t)object);
	}
}

void screen_add(struct screen *s, struct strbuf *to, const char *text, size_t n, unsigned columns,
		unsigned rows)
{
	for (size_t len; n; text += len, n -= len) {
		int mark = *text == SCREEN_FRAME || *text == SCREEN_LAST;
		size_t line;

		len = text_line_length(text, n);
		line = len - 1 - (size_t)mark;
		if (mark) {
			/* a terminal of another width has broken the lines in other places */
			if (s->rows && columns == s->columns)
				strbuf_format(to, "\033[%uF\033[J", s->rows);
			s->rows = 0;
			s->columns = columns;
			s->frames = *text == SCREEN_FRAME;
		}
		if (!s->frames) {
			strbuf_add(to, text + mark, len - (size_t)mark);
			continue;
		}
		if (rows && s->rows + 1 >= rows)
			continue;
		strbuf_add(to, text + mark, people_fit(text + mark, line, columns));
		strbuf_puts(to, "\n");
		s->rows++;
	}
}
