/* SPDX-License-Identifier: ISC */
/* notes.c - what a part of this layer keeps of each event */

#include "event/event.h"
#include "view/view.h"

void *event_note(struct event_notes *t, const struct event *e, size_t size)
{
	static char nothing[NOTE_MOST];

	if (e->serial >= t->n) {
		size_t n = e->serial + 64u;
		char *more = realloc(t->v, n * size);

		if (!more)
			return memset(nothing, 0, size);
		memset(more + t->n * size, 0, (n - t->n) * size);
		t->v = more;
		t->n = n;
	}
	return t->v + e->serial * size;
}

void event_notes_free(struct event_notes *t)
{
	free(t->v);
	*t = (struct event_notes){ 0 };
}
