/* SPDX-License-Identifier: ISC */
/* input_dat.c - read a trace.dat for a filter: programs with this file have the tables of calls */

#include "base/base.h"
#include "tool/tool.h"
#include "seen/seen.h"
#include "seen/of_record.h"

/* Give the filter each line of this text. */
static void each_text(void *input, const char *text, size_t n)
{
	struct input *f = input;

	for (size_t length; n; text += length, n -= length) {
		length = text_line_length(text, n);
		f->n = length - (text[length - 1] == '\n');
		strbuf_add(strbuf_empty(&f->text), text, f->n);
		f->line = f->text.text;
		f->each();
	}
}

static void each_event(void *input, const struct record *r, const struct decoded *call)
{
	static char text[SHOW_ROOM];
	struct input *f = input;

	f->is_event = !f->whole && seen_record(&f->l, f->replay, r, call);
	f->line = "";
	f->n = 0;
	if (f->is_event)
		f->each();
	else
		each_text(f, text, record_text(f->replay, r, call, text, sizeof(text)));
	f->is_event = 0;
}

static void each_record(struct input *f, const struct dat_buffer *b)
{
	static char text[SHOW_ROOM];
	struct replay *r = f->replay;
	const struct record *record;
	int64_t lost;
	size_t n;
	int shown;

	replay_begin(r, b);
	each_text(f, text, replay_name(r, text, sizeof(text)));
	while ((record = merge_next(&r->merge, &lost)))
		each_text(f, text, show_record(&r->show, record, lost, text, sizeof(text), &shown));
	while ((n = replay_rest(r, text, sizeof(text))))
		each_text(f, text, n);
	each_text(f, text, replay_losses(r, text, sizeof(text)));
	replay_end(r);
}

static void each_of_dat(struct input *f)
{
	struct replay *r = xcalloc(1, sizeof(*r));
	const struct show_sink sink = { each_event, each_text, f };

	f->replay = r;
	r->show.sink = &sink;
	r->show.tells = f->facts;
	r->names_calls = 1;
	r->decode.names = r->decode.paths = r->decode.known.prints = f->paths;
	if (replay_open(r, f->dat) < 0)
		exit(REFUSED);
	for (size_t i = 0; i < r->dat.nbuffers; i++)
		each_record(f, &r->dat.buffers[i]);
	f->damaged = replay_status(r) != DONE;
}

void input_takes_dat(struct input *f)
{
	f->each_of_dat = each_of_dat;
}
