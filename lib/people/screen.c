/* SPDX-License-Identifier: ISC */
/* screen.c - a table at a terminal that is drawn again in its place */

#include "people/people.h"

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
