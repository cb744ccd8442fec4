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
#include "people/people.h"
#include "reader/reader.h"
#include "event/event.h"
#include "tracedat/tracedat.h"
#include "show/show.h"
#include "seen/seen.h"

static const struct tool tool = { TOOL_TFS_REPORT };

#define CHUNK (64 * 1024)

struct report {
	struct replay of;
	int told;               /* the date is printed */
	int width;              /* of the terminal, before the tool gives up to ask for it */
	size_t n;               /* bytes in text */
	char text[CHUNK];
};

static void write_text(struct report *r)
{
	if (r->of.show.people) {
		people_print(r->text, r->n, r->width);
		stdout_flush();
	} else {
		reader_write(r->text, r->n);
	}
	r->n = 0;
}

/* Return 1 if each glob of -e matches an event of the file. Otherwise print an error. */
static int globs_match_events(const struct replay *r)
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
static int take_date(struct replay *r)
{
	int dated = r->dat.dated;

	for (size_t i = 0; i < r->dat.nbuffers; i++)
		dated &= !line_clock_counts(r->dat.buffers[i].clock);
	r->show.offset = r->dat.offset;
	return dated ? 0 : err_msg("%s has no date, or its trace clock does not count seconds",
				   r->dat.path);
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

static void print_records(struct report *r)
{
	struct show *show = &r->of.show;
	const struct record *record;
	int64_t lost;
	size_t n;
	int shown;

	while ((record = merge_next(&r->of.merge, &lost))) {
		if (pick_when(&show->pick, record) > 0)
			break;
		if (!r->told)
			r->n += show_date(show, (int64_t)(record->ts / 1000), r->text + r->n,
					  CHUNK - r->n);
		r->told = 1;
		r->n += show_record(show, record, lost, r->text + r->n, CHUNK - r->n, &shown);
		if (CHUNK - r->n < SHOW_ROOM)
			write_text(r);
	}
	while ((n = replay_rest(&r->of, r->text + r->n, CHUNK - r->n))) {
		r->n += n;
		write_text(r);
	}
	print_account(r);
}

static void print_buffer(struct report *r, const struct dat_buffer *b)
{
	replay_begin(&r->of, b);
	account_begin(&r->of.show, &r->of.decode);
	account_subject(0);
	r->n += replay_name(&r->of, r->text + r->n, CHUNK - r->n);
	print_records(r);
	r->n += replay_losses(&r->of, r->text + r->n, CHUNK - r->n);
	replay_end(&r->of);
}

/* Take the options. Return the file of -B, or NULL. */
static const char *parse(struct replay *r, int argc, char **argv, const char **instance)
{
	int last_boot = 0;
	const struct opt_place places[] = {
		{ .name = "instance", .text = instance },
		{ .name = "last-boot", .flag = &last_boot }, { 0 },
	};
	const char *file;

	while (opt_next(&tool, argc, argv) != -1)
		if (!opt_put(places) && !account_take(&r->show, &r->decode, &tool) &&
		    !decode_take(&r->decode, &tool) && !people_take(&r->show, &tool) &&
		    !show_tcp_take(&r->show, &tool) && show_option(&r->show, &tool) < 0)
			exit(REFUSED);
	file = last_boot ? persist_last_boot() : NULL;
	show_calls_check(&r->show, &r->decode, &tool);
	if (!file && !argv[opt_index])
		usage_error(&tool, "no file; give a trace.dat");
	opt_end(&tool, argv[opt_index + !file]);
	return file ? file : argv[opt_index];
}

int main(int argc, char **argv)
{
	static struct report report;
	struct replay *r = &report.of;
	const char *instance = NULL, *file = parse(r, argc, argv, &instance);
	int found = 0;

	report.width = people_width();
	if (replay_open(r, file) < 0)
		return REFUSED;
	if (!globs_match_events(r) || (r->show.dated && take_date(r) < 0))
		return NO;
	for (size_t i = 0; i < r->dat.nbuffers; i++)
		found |= !instance || !strcmp(instance, r->dat.buffers[i].name);
	if (!found) {
		err_msg("%s has no instance '%.80s'", r->dat.path, instance);
		return NO;
	}

	show_begin(&r->show, &r->line);
	report.n = show_header(&r->show, r->dat.cpus, report.text, CHUNK);
	for (size_t i = 0; i < r->dat.nbuffers; i++)
		if (!instance || !strcmp(instance, r->dat.buffers[i].name))
			print_buffer(&report, &r->dat.buffers[i]);
	write_text(&report);
	return replay_status(r);
}
