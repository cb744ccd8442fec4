/* SPDX-License-Identifier: ISC */
/* notes.c - what a part of a tool keeps of each event */

#include "event/event.h"

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

void event_see(struct event_seen *of, const struct event *e, const struct event_kind *k, int strict)
{
	const char *names;
	char name[32];

	while (*k->name && !glob_names(k->name, e->system, e->name))
		k++;
	names = k->fields;
	of->kind = *k->name ? k->kind : KIND_OTHER;
	of->event = e;
	for (size_t i = 0, n; *names; i++, names += n + !!names[n]) {
		n = strcspn(names, " ");
		str_format(name, sizeof(name), "%.*s", (int)n, names);
		if (!(of->field[i] = event_field(e, name)) && strict)
			of->kind = KIND_OTHER;
	}
}

const struct event_seen *event_seen(struct event_notes *notes, struct event_set *evs,
				    const struct record *r, const struct event_kind *kinds,
				    int strict)
{
	static const struct event_seen other = { .kind = KIND_OTHER };
	const struct event *e = event_wanted(evs, r);
	struct event_seen *of = e ? event_note(notes, e, sizeof(*of)) : NULL;

	if (of && !of->kind)
		event_see(of, e, kinds, strict);
	return of ? of : &other;
}

struct field_data event_value(const struct event_seen *of, unsigned i, const struct event_set *evs,
			      const struct record *r)
{
	struct field_data v;

	if (!of->field[i] || field_value(evs, of->field[i], r, &v) < 0)
		v = (struct field_data){ .kind = FIELD_NUMBER };
	return v;
}

void event_notes_free(struct event_notes *t)
{
	free(t->v);
	*t = (struct event_notes){ 0 };
}
