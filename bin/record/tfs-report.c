/* SPDX-License-Identifier: ISC */
/*
 * tfs-report - print the events of a trace.dat as text or JSON
 *
 * With -B the file is that of the last boot, which tfs-persist(1) writes.
 * Requires: only the file; it contains all that is needed, so any machine will do.
 * The text is the kernel's own trace: the events of all CPUs in the order of time.
 * Instances follow each other, each after a line "# instance: NAME". If events were lost, a
 * last line gives their number:
 *	# lost N events: N overwritten in a full buffer, N not written
 * or with -j {"lost":N,"overwritten":N,"unwritten":N}.
 * Exit: 0 done, 1 no such event, instance or date, 100 usage error, 111 the file could not be
 * read or is damaged, and the readable part was printed; 141 the reader is gone.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "reader/reader.h"
#include "event/event.h"
#include "tracedat/tracedat.h"
#include "view/view.h"

static const struct tool tool = { TOOL_TFS_REPORT };

#define CHUNK (64 * 1024)

struct report {
	struct dat dat;
	struct event_set events;
	struct line_format line;
	struct line_graph graph;
	struct merge *merge;            /* of the instance that is being printed */
	struct show show;
	struct decode decode;
	int status;
	int told;               /* the date is printed */

	/* the instance that is being printed */
	const struct dat_buffer *buffer;
	struct subbuf_format layout;
	struct dat_subbufs *subbufs;    /* one for each CPU */
	unsigned long long bad;         /* corrupt sub-buffers */

	size_t n;                       /* bytes in text */
	char text[CHUNK];
};

static void write_text(struct report *r)
{
	reader_write(r->text, r->n);
	r->n = 0;
}

/* ---- the head of the file: symbols, formats, names --------------------------- */

/* Return the kernel's symbols, or NULL. The decoder calls it at the first address. */
static struct symbols *load_symbols(void *report)
{
	struct report *r = report;
	char *text;

	if (!r->dat.kallsyms.n)
		return NULL;
	text = dat_text(&r->dat, r->dat.kallsyms);
	if (!text)
		r->status = REFUSED;
	return text ? symbols_parse(text, (size_t)r->dat.kallsyms.n) : NULL;
}

/* Open the tables of calls of the host that recorded. Return 0, or -1, reported. */
static int open_tables(struct report *r)
{
	if (!r->decode.abi && !*r->dat.machine)
		return err_msg("%s does not name its machine; give --abi NAME", r->dat.path);
	if (decode_open(&r->decode, r->dat.machine) < 0)
		return -1;
	confine();
	return 0;
}

static int open_file(struct report *r, const char *path)
{
	if (dat_file(&r->dat, path) < 0)
		return -1;
	/* the file may be hostile; the tables of calls are opened when its machine is known */
	if (r->decode.on)
		confine_paths(0, NULL, 0);
	else
		confine();
	if (dat_read_head(&r->dat) < 0)
		return -1;
	if (r->decode.on && open_tables(r) < 0)
		return -1;
	if (r->dat.cut)
		r->status = REFUSED;
	r->events.load_symbols = load_symbols;
	r->events.arg = r;
	return dat_events(&r->dat, &r->events);
}

/* Return 1 if each glob of -e matches an event of the file. Otherwise print an error. */
static int globs_match_events(const struct report *r)
{
	for (size_t i = 0; i < r->show.pick.nglobs; i++) {
		const char *glob = r->show.pick.globs[i];
		int found = 0, decodes = 0;

		for (unsigned id = 0; id < r->events.size; id++) {
			const struct event *e = event_by_id(&r->events, id);

			found |= e && glob_names(glob, e->system, e->name);
			decodes |= e && pick_is_call(e) && strstr(glob, "sys");
		}
		if (!found && !(decodes && r->decode.on))
			return err_msg("%s has no event '%.80s'%s", r->dat.path, glob, decodes ?
				       "; its calls are tfs:call: add -D, or give -e tfs:call" :
				       ""), 0;
	}
	return 1;
}

/* Take the date of the file. Return 0, or -1, reported, if a time has none. */
static int take_date(struct report *r)
{
	int dated = r->dat.dated;

	for (size_t i = 0; i < r->dat.nbuffers; i++)
		dated &= !line_clock_counts(r->dat.buffers[i].clock);
	r->show.offset = r->dat.offset;
	return dated ? 0 : err_msg("%s has no date, or its trace clock does not count seconds",
				   r->dat.path);
}

/* ---- the records of an instance ------------------------------------------------------ */

/* Open the next sub-buffer of a CPU for the merge, and count a corrupt one. */
static int next_subbuf(void *report, unsigned i, struct subbuf *subbuf)
{
	struct report *r = report;
	const void *data = dat_subbufs_next(&r->subbufs[i]);

	r->bad += subbuf->bad != 0;
	subbuf->bad = 0;
	if (r->subbufs[i].failed)
		r->status = REFUSED;
	if (!data)
		return MERGE_NONE;
	subbuf_open(subbuf, &r->layout, data, r->buffer->subbuf_size,
		    (int)r->buffer->cpus[i].cpu);
	return MERGE_SUBBUF;
}

static const struct record *next_of_cpu(void *report)
{
	struct report *r = report;

	return merge_peek(r->merge);
}

/* Print the account of --why. */
static void print_account(struct report *r)
{
	struct strbuf text = { 0 };

	account_end(&text);
	write_text(r);
	if (text.n && fd_write_all(STDOUT_FILENO, text.text, text.n) < 0 && errno == EPIPE)
		reader_broken_pipe();
	free(text.text);
}

static void print_records(struct report *r, struct merge *m)
{
	const struct record *record;
	int64_t lost;
	size_t n;
	int shown;

	while ((record = merge_next(m, &lost))) {
		if (pick_when(&r->show.pick, record) > 0)
			break;
		if (!r->told)
			r->n += show_date(&r->show, (int64_t)(record->ts / 1000),
					  r->text + r->n, CHUNK - r->n);
		r->told = 1;
		r->n += show_record(&r->show, record, lost, r->text + r->n, CHUNK - r->n,
				    &shown);
		if (CHUNK - r->n < SHOW_ROOM)
			write_text(r);
	}
	while ((n = r->decode.on ? decode_end(&r->decode, r->text + r->n, CHUNK - r->n) :
		    tcp_end(&r->show, r->text + r->n, CHUNK - r->n))) {
		r->n += n;
		write_text(r);
	}
	print_account(r);
}

/* Print how many events were lost, as the kernel counted them: the records mark only where. */
static void print_losses(struct report *r, const struct dat_buffer *b)
{
	struct losses l = { .overwritten = b->lost, .unwritten = b->unwritten };

	r->n += show_losses(&r->show, &l, r->text + r->n, CHUNK - r->n);
}

/* Print the name of an instance, with each control character as a question mark. */
static void print_name(struct report *r, const char *name)
{
	char *s = r->text + r->n;

	r->n += str_format(s, CHUNK - r->n, "# instance: %s\n", name);
	text_mask_controls(s, r->text + r->n - 1);
}

static void print_buffer(struct report *r, const struct dat_buffer *b)
{
	struct merge m = { .n = (unsigned)b->ncpus, .more = next_subbuf, .arg = r };

	r->buffer = b;
	r->layout = r->dat.layout;
	r->layout.size = (uint32_t)b->subbuf_size;
	r->merge = &m;
	r->graph = (struct line_graph){ .cpus = r->dat.cpus, .peek = next_of_cpu, .arg = r };
	r->line = (struct line_format){ .events = &r->events, .graph = &r->graph,
					.raw_clock = line_clock_counts(b->clock) };
	r->show.lines.instance = *b->name ? b->name : NULL;
	r->show.machine = *r->dat.machine ? r->dat.machine : NULL;
	show_begin(&r->show, &r->line);
	r->decode.merge = &m;
	if (r->decode.on) {
		decode_begin(&r->decode, &r->show);
		account_begin(&r->show, &r->decode);
		account_subject(0);
	}
	if (*b->name && !r->show.json)
		print_name(r, b->name);
	m.cpus = xcalloc(b->ncpus, sizeof(*m.cpus));
	r->subbufs = xcalloc(b->ncpus, sizeof(*r->subbufs));
	for (unsigned i = 0; i < m.n; i++)
		dat_subbufs_begin(&r->subbufs[i], &r->dat, b, &b->cpus[i]);
	print_records(r, &m);
	print_losses(r, b);
	for (unsigned i = 0; i < m.n; i++)
		dat_subbufs_end(&r->subbufs[i]);
	graph_end(&r->graph);
	free(m.cpus);
	free(r->subbufs);
}

int main(int argc, char **argv)
{
	static struct report r;
	const char *instance = NULL, *file = NULL;
	int c, found = 0;

	while ((c = opt_next(&tool, argc, argv)) != -1) {
		int shown;

		if (c == 'B') {
			file = persist_last_boot();
			continue;
		}
		shown = show_option(&r.show, &tool, c);
		if (shown < 0)
			return REFUSED;
		if (shown || account_take(&r.show, &r.decode, &tool, c) ||
		    decode_take(&r.decode, &tool, c) || people_take(&r.show, &tool, c) ||
		    tcp_take(&r.show, &tool, c))
			continue;
		instance = opt_value;
	}
	decode_check(&r.decode, &tool, &r.show);
	if (!file && !argv[opt_index])
		usage_error(&tool, "no file; give a trace.dat");
	opt_end(&tool, argv[opt_index + !file]);
	if (open_file(&r, file ? file : argv[opt_index]) < 0)
		return REFUSED;
	if (!globs_match_events(&r) || (r.show.dated && take_date(&r) < 0))
		return NO;
	for (size_t i = 0; i < r.dat.nbuffers; i++)
		found |= !instance || !strcmp(instance, r.dat.buffers[i].name);
	if (!found) {
		err_msg("%s has no instance '%.80s'", r.dat.path, instance);
		return NO;
	}

	r.line.events = &r.events;
	show_begin(&r.show, &r.line);
	r.n = show_header(&r.show, r.dat.cpus, r.text, CHUNK);
	for (size_t i = 0; i < r.dat.nbuffers; i++)
		if (!instance || !strcmp(instance, r.dat.buffers[i].name))
			print_buffer(&r, &r.dat.buffers[i]);
	write_text(&r);
	if (r.bad) {
		err_msg("%s is damaged: %llu of its sub-buffers could be printed only in part",
			r.dat.path, r.bad);
		r.status = REFUSED;
	}
	return r.status;
}
