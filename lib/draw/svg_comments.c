/* SPDX-License-Identifier: ISC */
/* svg_comments.c - the comment lines of a trace in its picture */

#include "lines/lines.h"
#include "draw/draw.h"

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

void comments_tell(const struct comments *r)
{
	for (unsigned i = 0; i < r->n; i++)
		err_note("%s", r->line[i]);
}
