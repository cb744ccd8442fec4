/* SPDX-License-Identifier: ISC */
/* replay.c - read the records of a trace.dat, in the order of time */

#include "base/base.h"
#include "event/event.h"
#include "tracedat/tracedat.h"
#include "show/show.h"
#include "seen/seen.h"

/* Return the kernel's symbols, or NULL. The decoder calls it at the first address. */
static struct symbols *load_symbols(void *replay)
{
	struct replay *r = replay;
	char *text;

	if (!r->dat.kallsyms.n)
		return NULL;
	text = dat_text(&r->dat, r->dat.kallsyms);
	if (!text)
		r->failed = 1;
	return text ? symbols_parse(text, (size_t)r->dat.kallsyms.n) : NULL;
}

int replay_open(struct replay *r, const char *path)
{
	r->line.events = &r->events;
	if (dat_file(&r->dat, path) < 0)
		return -1;
	confine(); /* the file may be hostile */
	if (dat_read_head(&r->dat) < 0)
		return -1;
	r->failed = r->dat.cut != 0;
	r->events.load_symbols = load_symbols;
	r->events.arg = r;
	if (dat_events(&r->dat, &r->events) < 0)
		return -1;
	if (r->names_calls)
		r->decode.on = event_named(&r->events, RECORD_SYSTEM, "call") != NULL;
	if (r->decode.on && !r->decode.abi && !*r->dat.machine)
		return err_msg("%s does not name its machine; give --abi NAME", path);
	return r->decode.on ? decode_open(&r->decode, r->dat.machine) : 0;
}

/* Open the next sub-buffer of a CPU for the merge, and count a corrupt one. */
static int next_subbuf(void *replay, unsigned i, struct subbuf *subbuf)
{
	struct replay *r = replay;
	const void *data = dat_subbufs_next(&r->subbufs[i]);

	r->bad += subbuf->bad != 0;
	subbuf->bad = 0;
	r->failed |= r->subbufs[i].failed;
	if (!data)
		return MERGE_NONE;
	subbuf_open(subbuf, &r->layout, data, r->buffer->subbuf_size,
		    (int)r->buffer->cpus[i].cpu);
	return MERGE_SUBBUF;
}

static const struct record *next_of_cpu(void *replay)
{
	return merge_peek(&((struct replay *)replay)->merge);
}

void replay_begin(struct replay *r, const struct dat_buffer *b)
{
	r->merge = (struct merge){ .n = (unsigned)b->ncpus, .more = next_subbuf, .arg = r };
	r->buffer = b;
	r->layout = r->dat.layout;
	r->layout.size = (uint32_t)b->subbuf_size;
	r->graph = (struct line_graph){ .cpus = r->dat.cpus, .peek = next_of_cpu, .arg = r };
	r->line = (struct line_format){ .events = &r->events, .graph = &r->graph,
					.raw_clock = line_clock_counts(b->clock) };
	r->show.lines.instance = *b->name ? b->name : NULL;
	r->show.machine = *r->dat.machine ? r->dat.machine : NULL;
	show_begin(&r->show, &r->line);
	r->decode.merge = &r->merge;
	if (r->decode.on)
		show_calls_begin(&r->show, &r->decode);
	r->merge.cpus = xcalloc(b->ncpus, sizeof(*r->merge.cpus));
	r->subbufs = xcalloc(b->ncpus, sizeof(*r->subbufs));
	for (unsigned i = 0; i < r->merge.n; i++)
		dat_subbufs_begin(&r->subbufs[i], &r->dat, b, &b->cpus[i]);
}

size_t replay_name(const struct replay *r, char *buf, size_t size)
{
	size_t n;

	if (!r->show.lines.instance || r->show.json)
		return 0;
	n = str_format(buf, size, "# instance: %s\n", r->show.lines.instance);
	text_mask_controls(buf, buf + n - 1);
	return n;
}

size_t replay_rest(struct replay *r, char *buf, size_t size)
{
	return (r->decode.on ? show_calls_end : show_tcp_end)(&r->show, buf, size);
}

size_t replay_losses(const struct replay *r, char *buf, size_t size)
{
	/* as the kernel counted them: the records mark only where */
	const struct losses l = { .overwritten = r->buffer->lost,
				  .unwritten = r->buffer->unwritten };

	return show_losses(&r->show, &l, buf, size);
}

void replay_end(struct replay *r)
{
	for (unsigned i = 0; i < r->merge.n; i++)
		dat_subbufs_end(&r->subbufs[i]);
	graph_end(&r->graph);
	free(r->merge.cpus);
	free(r->subbufs);
}

int replay_status(const struct replay *r)
{
	if (r->bad)
		err_msg("%s is damaged: %llu of its sub-buffers could be printed only in part",
			r->dat.path, r->bad);
	return r->bad || r->failed ? REFUSED : DONE;
}
