/* SPDX-License-Identifier: ISC */
/*
 * tfs-catpipe - stream an instance's trace as text until told to stop
 *
 * Requires: tracefs; no other reader of the instance's trace_pipe.
 *	-k           the text as the kernel makes it, from trace_pipe: slower, and
 *	             more is lost in a full buffer
 *	-l           standard output is a FIFO: one line a packet, so that each
 *	             read of 4096 bytes or more gets exactly one line
 *	-n           record how tasks get their names, too, and do not print that
 *	-x           control characters in strings as the kernel prints them, newlines too
 *	-s KB        write no more than KB kilobytes
 *	-e GLOB, -p PID,..., -t FROM-TO, -u UID, -C COMM, -U PID,..., -N PID,..., -j,
 *	-P KIND,..., -H
 *	             only these events, tasks, this time; lines of JSON or of the
 *	             process event tracer; the comment lines of `trace` first: as in
 *	             tfs-report, and not with -k
 *	-w MS        when stopping: give up a reader that takes nothing for MS
 *	             milliseconds; default 2000
 *	-R ROOT      take ROOT for the tracefs root, unchecked
 *	-i INSTANCE  the trace of this instance; default $TFS_INSTANCE
 * The text is the kernel's, to the byte, but for tasks' names, of which more
 * are known, and for control characters in strings, which are \n, \t or \x1b, so that
 * no string can begin a line; it is made here, from raw pages of the buffer. With another tracer
 * than nop, or an option that changes how lines look, as with -k. HUP INT TERM
 * USR1 tell it to stop, and USR2 to give up a slow reader as well: it writes what
 * the buffer still holds, which ends when tracing is off or the buffer found empty,
 * and, if any event did not get through, a last line
 *	# lost N events ...
 * or with -j {"lost":N,"overwritten":N,"unwritten":N}. N counts from the making
 * of the buffer. Delivered, left out as told and lost are all there were.
 * Exit: 0 stopped, 99 the reader was given up, 100 misused, 111 refused,
 * 141 the reader is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"
#include "view/view.h"

static const struct tool tool = {
	.name = "tfs-catpipe",
	.usage = "tfs-catpipe [-klnx] [-s KB] [-w MS] [-jH] [-P KIND[,KIND...]] [-e GLOB]... "
		 "[-p PID[,PID...]]... [-t FROM-TO] [-u UID] [-U PID[,PID...]]... "
		 "[-C COMM] [-N PID[,PID...]]... [-R ROOT] [-i INSTANCE]",
	.purpose = "stream an instance's trace as text until told to stop",
	.letters = "klnxs:w:e:p:t:u:U:C:N:jP:HR:i:",
};

/*
 * While a reader waits on the buffer, the kernel wakes it at every event, at
 * the cost of the traced program; and one that reads again at once what it
 * has all but emptied runs after each event as well. So it looks away for this
 * long, and then takes together what came meanwhile: less where events come so
 * fast that a quarter of the buffer would be full before; of the kernel's text,
 * only after a read that got less than SHORT bytes, where a full one gets a page.
 */
#define GATHER_US 5000
#define SHORT 2048

/* Names are looked up again after this long: an exec gives a task another. */
#define NAMES_MS 100

/* Who listens how tasks end has to do so before its socket is full. */
#define EXITS_US 1000000

/* Text that is written at once, of so many events at most. */
#define CHUNK (64 * 1024)
#define MOST_EVENTS 1024

struct stream {
	int dir, in;
	int text;               /* the kernel's, from trace_pipe */
	struct consumer to;
	unsigned readers;       /* to.readers at the last header */
	struct live_kernel kernel;
	struct live live;
	struct show show;
	struct taskstats exits;
	long quarter;           /* of one processor's buffer, in pages */
	long gather;            /* for how long to look away, in us */
	long pages;             /* that were read since the buffer was found empty, */
	long long looked;       /* at this time, in us */
	long long moment;       /* of the last look at names, in ms */
	unsigned long long cut; /* events read from the buffer and not written */
};

/* ---- the kernel's text ----------------------------------------------------- */

/* As pump, of trace_pipe. */
static int pump_text(struct stream *s)
{
	static char text[64 * 1024];
	ssize_t n = read(s->in, text, sizeof(text));
	size_t fit, done;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return err_errno("unable to read trace_pipe");
	fit = consumer_fitting(&s->to, text, (size_t)n);
	done = fit - consumer_put(&s->to, text, fit);
	if (fit < (size_t)n && !s->to.full)
		s->to.full = 1;
	s->cut += text_count_lines(text + done, (size_t)n - done);
	s->gather = GATHER_US;
	return n < SHORT ? n > 0 : 2;
}

/* ---- our text ---------------------------------------------------------------- */

/* As live_fill; with the codes of the ends that it may have read. */
static long fill(struct stream *s)
{
	long n = live_fill(&s->live);

	if (n >= 0 && live_empty(&s->live))
		s->exits.looks++;
	taskstats_read(&s->exits);
	return n;
}

/*
 * The next records as text, their ends in ends: how many, and *len. *over:
 * there was one more, which the size limit has no room for.
 */
static size_t chunk(struct stream *s, char *text, size_t *len, uint32_t *ends, int *over)
{
	const struct record *r;
	size_t n = 0;
	int64_t lost;
	int shown;

	*len = 0;
	while (n < MOST_EVENTS && CHUNK - *len >= SHOW_ROOM && !*over &&
	       (r = live_next(&s->live, &lost))) {
		size_t more = show_record(&s->show, r, lost, text + *len, CHUNK - *len,
					  &shown);

		if (s->to.left >= 0 && (long long)(*len + more) > s->to.left) {
			/* a line of losses alone is no event */
			*over = 1 + shown;
			break;
		}
		*len += more;
		if (shown)
			ends[n++] = (uint32_t)*len;
	}
	return n;
}

static void give(struct stream *s)
{
	static char text[CHUNK];
	static uint32_t ends[MOST_EVENTS];
	size_t n, len, done;
	int over = 0;

	do {
		n = chunk(s, text, &len, ends, &over);
		done = len - consumer_put(&s->to, text, len);
		for (s->cut += over > 1; n && ends[n - 1] > done; n--)
			s->cut++;
		if (over && !s->to.full)
			s->to.full = 1;
	} while (len && !s->to.full);
}

static int any(void *unused, const struct record *r)
{
	(void)unused;
	(void)r;
	return 1;
}

/*
 * How many events that were to be shown are left. With some left out, those in
 * the buffer have to be read to be told; no more of them than there are now.
 */
static unsigned long long left_over(struct stream *s)
{
	unsigned long long there = instance_buffer_count(s->dir, "entries: "), n = 0, seen = 0, before;
	const struct record *r;
	int64_t lost;
	long pages;

	if (s->text)
		return there;
	if (s->show.pick.all && !s->show.hide_names)
		return there + live_rest(&s->live, show_counts, &s->show);
	there += live_rest(&s->live, any, NULL);
	do {
		pages = fill(s);
		for (before = seen; (r = live_next(&s->live, &lost)); seen++)
			n += show_counts(&s->show, r) != 0;
	} while (seen < there && (pages > 0 || seen > before));
	return n + live_rest(&s->live, show_counts, &s->show);
}

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* As pump, of raw pages. */
static int pump_raw(struct stream *s)
{
	long long now = now_us(), since = now - s->looked;
	long n = fill(s);

	if (n < 0)
		return -1;
	if (now / 1000 - s->moment >= NAMES_MS) {
		s->moment = now / 1000;
		live_kernel_refresh(&s->kernel);
		show_changed(&s->show);
	}
	give(s);
	if (s->to.full)
		return 1;
	if (s->kernel.events.comms.failed || s->kernel.events.failed || s->kernel.failed)
		return err_msg("out of memory");
	s->pages += n;
	if (!live_empty(&s->live))
		return 2;
	n = s->pages;
	s->looked = now;
	s->gather = GATHER_US;
	if (n && since * s->quarter / n < GATHER_US)
		s->gather = (long)(since * s->quarter / n);
	/* what was found is all there was before: it need not wait for more */
	s->pages = fill(s);
	if (s->pages < 0)
		return -1;
	give(s);
	return n || s->live.held;
}

/*
 * Raw pages, unless lines look in a way that only the kernel knows. 0 or -1
 * said.
 */
static int open_raw(struct stream *s, const char *root)
{
	int top = tracefs_open(root, "", NULL), r;
	unsigned long kb = 0;
	char *text;

	if (top < 0)
		return -1;
	r = live_kernel_open(&s->kernel, s->dir, top);
	if (s->kernel.failed)
		return err_msg("out of memory");
	if (r && !s->show.json && !s->show.process.kinds) {
		s->text = 1;
		return !s->show.asked ? 0 :
		       err_msg("unable to show events otherwise than the kernel does: "
			       "current_tracer is not nop, or an option in trace_options "
			       "changes lines");
	}
	live_names_begin(&s->kernel, s->show.hide_names);
	s->show.process.live = s->kernel.procfs;
	show_begin(&s->show, &s->kernel.line);
	if (live_open(&s->live, s->dir) < 0)
		return -1;
	if (s->show.process.kinds & (SHOW_LIFECYCLE | SHOW_SIGNALS)) {
		taskstats_open(&s->exits, s->live.ncpus);
		s->show.process.ended = taskstats_exit_code;
		s->show.process.killed = taskstats_killed_code;
		s->show.process.arg = &s->exits;
	}
	text = file_read(s->dir, "buffer_size_kb", NULL);
	if (text) {
		const char *p = text;

		kb = (unsigned long)text_digits(&p);
	}
	free(text);
	s->quarter = (long)(KB_BYTES(kb) / s->live.page / 4);
	if (!s->quarter)
		s->quarter = 1;
	return 0;
}

/* ---- both ------------------------------------------------------------------------ */

/*
 * What the buffer holds now. 0 when it was found empty, 1 it is nearly, 2 it
 * may not be; -1 said.
 */
static int pump(struct stream *s)
{
	return s->text ? pump_text(s) : pump_raw(s);
}

/*
 * Read until nothing is left. A writer that was caught in the middle of an
 * event finishes it after the buffer seemed empty, so entries decide; but not
 * for ever: some have no text, and some are nowhere. While the reader's page is
 * the writer's too, rb_get_reader_page asks whether all of it was read, and then
 * whether the writer has left it. What it wrote in between, before it did, is
 * gone, and stays among the entries: no text of ours was that, so it is told.
 */
static int drain(struct stream *s)
{
	unsigned long long there = 0;
	int r = 1, found = 1;

	for (int tries = 0; r >= 0 && !s->to.full && tries < 4; tries++) {
		there = instance_buffer_count(s->dir, "entries: ");
		for (found = 0; !s->to.full && (r = pump(s)) > 0;)
			found = 1;
		if (!there)
			break;
		consumer_wait(&s->to, -1, 0, 1000);
	}
	if (!found && !s->to.full && !s->text)
		s->cut += there;
	return r;
}

static void tell_losses(struct stream *s, int failed)
{
	unsigned long long over = instance_buffer_count(s->dir, "overrun: ") +
				  instance_buffer_count(s->dir, "commit overrun: ") +
				  instance_buffer_count(s->dir, "dropped events: ");
	unsigned long long cut = s->cut;
	const char *why = s->to.failed && !s->show.json ? strerror(s->to.failed) : NULL;
	char line[CONSUMER_LAST];
	size_t n = 0;

	if (s->to.full || failed)
		cut += left_over(s);
	cut += consumer_take_back(&s->to);
	if (!over && !cut)
		return;
	if (why)
		n = str_format(line, sizeof(line), "# unable to write the trace: %.60s\n", why);
	n += str_format(line + n, sizeof(line) - n, s->show.json ?
		     "{\"lost\":%llu,\"overwritten\":%llu,\"unwritten\":%llu}\n" :
		     "# lost %llu events: %llu overwritten in a full buffer, %llu not written\n",
		   over + cut, over, cut);
	consumer_last(&s->to, line, n);
}

/*
 * Write the header in front of all text. For a reader that follows another one, write it
 * again, behind the rest of the text that the other one was to get.
 */
static void give_header(struct stream *s)
{
	char text[2048];
	size_t n = s->text ? 0 : show_header(&s->show, s->live.ncpus, text, sizeof(text));

	if (s->to.left >= 0 && (long long)n > s->to.left)
		s->to.full = 1;
	s->readers = s->to.readers;
	consumer_put(&s->to, text, n);
}

int main(int argc, char **argv)
{
	static struct stream s; /* large */
	const char *root = NULL, *instance = NULL;
	int c, r = 1;

	s.to = CONSUMER;
	s.exits.fd = -1;
	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case 'k':
			s.text = 1;
			break;
		case 'l':
			s.to.packets = 1;
			break;
		case 'n':
			s.show.hide_names = 1;
			break;
		case 's':
			consumer_limit(&s.to, &tool, opt_value);
			break;
		case 'w':
			if (text_number(opt_value, 0, INT_MAX, &s.to.patience) < 0)
				usage_error(&tool, "not a number of milliseconds: '%.80s'",
					    opt_value);
			break;
		case 'R':
			root = opt_value;
			break;
		case 'i':
			instance = opt_value;
			break;
		default:
			show_option(&s.show, &tool, c);
		}
	if (argv[opt_index])
		usage_error(&tool, "unexpected operand '%.80s'", argv[opt_index]);
	if (s.text && s.show.asked)
		usage_error(&tool, "-k is the kernel's text: -e, -p, -t, -u, -U, -C, -N, -j, -P and -H "
			    "have no part in it");

	instance_require(&tool, root, instance);
	s.to.signals = wait_stop_signals();
	s.dir = tracefs_open(root, instance, NULL);
	if (s.dir < 0)
		return REFUSED;
	s.in = openat(s.dir, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (s.in < 0) {
		err_file("unable to open trace_pipe");
		return REFUSED;
	}
	if (!s.text && open_raw(&s, root) < 0)
		return REFUSED;
	consumer_open(&s.to, &tool);
	confine_paths(CAPS_STREAM, &s.dir, 1);
	give_header(&s);

	while (r >= 0 && !s.to.stopping) {
		if (s.to.full) { /* the newest stay in the buffer */
			consumer_wait(&s.to, -1, 0, -1);
			continue;
		}
		if (s.readers != s.to.readers)
			give_header(&s);
		r = pump(&s);
		if (r < 0 || r > 1)
			continue;
		consumer_wait(&s.to, -1, 0, s.gather);
		if (!s.to.stopping && !r)
			/* of all ends that the kernel tells, few may be in the trace */
			consumer_wait(&s.to, s.in, POLLIN, s.exits.fd < 0 ? -1 : EXITS_US);
	}
	if (!s.text)
		live_names_end(&s.kernel);
	if (r >= 0)
		r = drain(&s);
	tell_losses(&s, r < 0);
	return r < 0 ? REFUSED : s.to.full > 1 ? s.to.full : DONE;
}
