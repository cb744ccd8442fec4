/* SPDX-License-Identifier: ISC */
/*
 * tfs-catpipe - print the live trace of an instance as text or JSON
 *
 * Requires: tracefs; no other reader of the instance's trace_pipe.
 * With -l each read of 4096 bytes or more gets exactly one line. With -k a full buffer
 * loses more events, and no option that selects events or changes their text is allowed.
 * With -x, newlines in strings are printed, too. -S needs the events that name tasks, for the
 * children, and an instance that records all tasks.
 * tfs-catpipe makes the text itself, from raw sub-buffers. The text is the kernel's, to
 * the byte, with two exceptions: tfs-catpipe knows more names of tasks, and control
 * characters in strings are \n, \t or \x1b, so that no string can begin a line. With a
 * tracer other than nop, or an option that changes lines, it does as with -k.
 * HUP, INT, TERM and USR1 stop tfs-catpipe; USR2 also makes it give up the reader. It
 * then writes the events that the buffer still holds, until tracing is off or the buffer
 * is empty. If events were lost, a last line gives their number:
 *	# lost N events ...
 * or with -j {"lost":N,"overwritten":N,"unwritten":N}. N counts since the buffer was
 * made. Delivered, deselected and lost events add up to all events.
 * The rings of TFS_RINGS, which tfs-strings(1) passes, are read as if they were ring buffers.
 * With -d a line at the beginning tells the date, or with -j each event. If the time of day
 * and the trace clock have moved apart by a millisecond, a line at the end says it.
 * Exit: 0 stopped, 99 the reader was given up, 100 usage error, 111 refused,
 * 141 the reader is gone.
 */
#include <poll.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "calls/calls.h"
#include "live/live.h"
#include "show/show.h"
#include "reader/reader.h"
#include "record.h"
#include "services.h"

static const struct tool tool = { TOOL_TFS_CATPIPE, .takes_instance = 1 };

/*
 * How long to sleep after the buffer was found nearly empty. While a reader waits on the
 * buffer, the kernel wakes it at every event, which costs the traced program time. A
 * reader that reads again at once also runs after each event. So sleep, and then read all
 * new events together. Sleep less if a quarter of the buffer would fill up before. In the
 * kernel's text, sleep only after a read of less than SHORT bytes; a full read gets 4096.
 */
#define GATHER_US 5000
#define SHORT 2048

/* Keep events for a slow reader in so many KB, and in at most this part of the machine's memory. */
#define MEMORY_KB 65536
#define MEMORY_PART 8

/* How often to look up names again, since an exec changes the name of a task. */
#define NAMES_MS 100

/* How often to drain the taskstats socket, so that it does not fill up. */
#define EXITS_US 1000000

/* The most bytes and events of one write. */
#define CHUNK (64 * 1024)
#define MOST_EVENTS 1024

struct stream {
	int dir, in;
	int text;               /* copy the kernel's text from trace_pipe */
	int functions;          /* -f */
	int services;           /* -j with -H: say which services tasks are of */
	struct consumer to;
	unsigned readers;       /* value of to.readers when the header was written */
	struct live_kernel kernel;
	struct live live;
	struct show show;
	struct decode decode;
	struct taskstats exits;
	long quarter;           /* of one CPU's buffer, in sub-buffers */
	unsigned long memory_kb; /* -M */
	long gather;            /* how long to sleep, in us */
	long subbufs;           /* number read since the buffer was found empty */
	long round;             /* subbufs when it was found empty */
	long long taken_at;     /* time at which the buffer was read, in us */
	int failed;             /* the buffer could not be read, after a message */
	struct pids traced;     /* of the pid filter, also those that have ended since */
	unsigned begun;         /* tasks whose files were known at the beginning */
	long long empty_at;     /* time at which the buffer was found empty, in us */
	long long names_at;     /* time of the last look at names, in ms */
	unsigned long long cut; /* events read from the buffer and not written */
	unsigned long every;    /* --every, in ms */
	long long begun_at;     /* time at which the stream began, in ms */
	unsigned long long accounts; /* of --every, so far */
};

/* ---- copy the kernel's text -------------------------------------------------- */

/* Do as pump, with trace_pipe. */
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

/* ---- make text of raw sub-buffers ---------------------------------------------- */

/* Do as live_fill, and read the exit codes of tasks that the records may tell of. */
static long fill(struct stream *s, int ahead)
{
	long n = live_fill(&s->live, ahead);

	s->exits.looks = s->live.looks;
	taskstats_read(&s->exits);
	return n;
}

/* Call fill, and compute when to call it again. */
static long take(struct stream *s, int ahead)
{
	long long now = time_now_us(), since = now - s->empty_at;
	long n = fill(s, ahead);

	s->taken_at = now;
	s->failed |= n < 0;
	if (n < 0)
		return -1;
	s->subbufs += n;
	if (!live_empty(&s->live))
		return n;
	s->round = s->subbufs;
	s->subbufs = 0;
	s->empty_at = now;
	s->gather = GATHER_US;
	if (s->round && since * s->quarter / s->round < GATHER_US)
		s->gather = (long)(since * s->quarter / s->round);
	return n;
}

/*
 * While the reader takes nothing, move the events from the buffer into memory, as far as there is
 * room (consumer.meanwhile).
 */
static long keep_events(void *stream, int *fd)
{
	struct stream *s = stream;
	long left = (long)(s->taken_at + s->gather - time_now_us());

	if (left > 0)
		return left;
	if (!s->failed && take(s, 1) > 0)
		return s->gather;
	if (!s->failed && live_empty(&s->live))
		*fd = s->in;
	return s->exits.fd < 0 ? -1 : EXITS_US; /* tasks outside of the trace fill it, too */
}

/*
 * Print the next records into text (CHUNK bytes). Return the number of events, their ends
 * in the text in ends, and the length in *len. If the size limit leaves no room for the
 * next record, set *over to 1, or to 2 if the record is an event that would be shown.
 */
static size_t make_chunk(struct stream *s, char *text, size_t *len, uint32_t *ends, int *over)
{
	const struct record *r;
	uint64_t caller = 0;
	size_t n = 0;
	int64_t lost;
	int shown;

	*len = 0;
	while (n < MOST_EVENTS && CHUNK - *len >= SHOW_ROOM + 2 * SERVICES_ROOM && !*over &&
	       (r = live_next(&s->live, &lost))) {
		char *line = text + *len;
		size_t more;

		s->exits.look = s->live.look;
		if (s->functions)
			caller = programs_record(&s->kernel.line, r);
		more = s->services ? services_record(&s->kernel.events, r, line) : 0;
		more += show_record(&s->show, r, lost, line + more, CHUNK - *len - more, &shown);
		if (shown && record_is_own_stack(&s->kernel.events, r))
			stacks_count(r);
		if (caller && shown)
			more = programs_caller(&s->kernel.events, r, caller, line, more,
					       CHUNK - *len);
		if (s->to.left >= 0 && (long long)(*len + more) > s->to.left) {
			/* a line about lost events alone is not an event */
			*over = 1 + shown;
			break;
		}
		*len += more;
		if (shown)
			ends[n++] = (uint32_t)*len;
	}
	return n;
}

/* If the buffer has become half full while its events were written, move them into memory. */
static void keep_up(struct stream *s)
{
	long long now = time_now_us();

	if (s->to.stopping || now <= s->taken_at + s->gather)
		return;
	if (live_has(&s->live, 2 * (unsigned long long)s->quarter * s->live.subbuf_size))
		take(s, 1);
	else
		s->taken_at = now;
}

/* Write all records that are ready, and count the events that could not be written. */
static void write_records(struct stream *s)
{
	static char text[CHUNK];
	static uint32_t ends[MOST_EVENTS];
	size_t n, len, done;
	int over = 0;

	do {
		n = make_chunk(s, text, &len, ends, &over);
		done = len - consumer_put(&s->to, text, len);
		for (s->cut += over > 1; n && ends[n - 1] > done; n--)
			s->cut++;
		if (over && !s->to.full)
			s->to.full = 1;
		keep_up(s);
	} while (len && !s->to.full);
}

/*
 * Return the number of selected events that are left. With a selection, read the events in
 * the buffer to know which of them are selected, but no more than there are at first.
 */
static unsigned long long left_over(struct stream *s)
{
	unsigned long long entries = instance_buffer_count(s->dir, "entries: ");
	unsigned long long n = 0, seen = 0, before;
	const int whole = s->show.pick.all && !s->show.hide_names && !s->show.subjects.member &&
			  !s->show.container;
	const struct record *r;
	int64_t lost;
	long subbufs;

	if (s->text)
		return entries;
	if (whole && !s->live.rings.n)
		return entries + live_rest(&s->live, show_counts, &s->show);
	entries += live_rest(&s->live, NULL, NULL) + rings_records(&s->live.rings);
	do {
		subbufs = fill(s, 0);
		for (before = seen; (r = live_next(&s->live, &lost)); seen += !record_helps(r))
			n += show_counts(&s->show, r) != 0;
	} while (seen < entries && (subbufs > 0 || seen > before));
	return n + live_rest(&s->live, show_counts, &s->show);
}

/* Do as pump, with raw sub-buffers. */
static int pump_raw(struct stream *s)
{
	long long now = time_now_ms();

	if (take(s, 0) < 0)
		return -1;
	if (now - s->names_at >= NAMES_MS) {
		s->names_at = now;
		live_kernel_refresh(&s->kernel);
		show_changed(&s->show);
	}
	write_records(s);
	if (s->failed)
		return -1;
	if (s->to.full)
		return 1;
	if (s->kernel.events.comms.failed || s->kernel.events.failed || s->kernel.failed)
		return err_msg("out of memory");
	if (!live_empty(&s->live))
		return 2;
	/* a second fill releases the records that the merge still holds for their order */
	s->subbufs = fill(s, 0);
	if (s->subbufs < 0)
		return -1;
	write_records(s);
	return s->failed ? -1 : s->round || s->live.held;
}

/* Read the files of the traced tasks. tfs-run waits for the line that says so. */
static void begin_tasks(struct stream *s)
{
	char *list = s->decode.names || s->decode.paths ?
		     file_read(s->dir, "set_event_pid", NULL) : NULL;

	for (const char *p = list; p && *p; p += *p == '\n') {
		int pid = (int)text_digits(&p);

		if (pid && (*p == '\n' || !*p)) {
			noted_begin(&s->decode.known, pid);
			s->begun++;
		}
		p += strcspn(p, "\n");
	}
	free(list);
}

/* Add the tasks of the pid filter to those that the header names. */
static void read_traced(struct stream *s)
{
	char *list = file_read(s->dir, "set_event_pid", NULL);

	if (list)
		pids_parse(&s->traced, list);
	free(list);
	s->show.traced = s->traced.n > 0;
}

/*
 * Open the raw sub-buffers. If only the kernel can print this instance's lines, set
 * s->text instead. Return 0, or -1, reported.
 */
static int open_raw(struct stream *s, const char *root)
{
	struct utsname u;
	int top = tracefs_open(root, "", NULL), r;
	unsigned long long kb;

	if (top < 0)
		return -1;
	r = live_kernel_open(&s->kernel, s->dir, top);
	if (s->kernel.failed)
		return err_msg("out of memory");
	if (r && !s->show.json && !s->show.process) {
		s->text = 1;
		s->show.people = NULL; /* the reader has to do it: tfs-human(1) */
		return !s->show.asked ? 0 :
		       err_msg("unable to select or format events: current_tracer is not nop, or "
			       "trace_options change lines; reset them");
	}
	live_names_begin(&s->kernel, !s->show.hide_names ? 0 :
			 s->decode.on && rings_have_calls() ? NAMING_NEW : NAMING);
	s->show.facts.live = s->kernel.procfs;
	if (s->functions && s->kernel.procfs) {
		s->kernel.events.put_user = programs_put;
		mappings_open(s->dir);
	}
	show_begin(&s->show, &s->kernel.line);
	if (s->decode.on) {
		if (decode_open(&s->decode, uname(&u) < 0 ? NULL : u.machine) < 0)
			return -1;
		s->decode.known.live = s->kernel.procfs;
		s->decode.merge = &s->live.merge;
		show_calls_begin(&s->show, &s->decode);
		account_begin(&s->show, &s->decode);
	}
	if (!s->show.subjects.member)
		read_traced(s);
	if (live_open(&s->live, s->dir) < 0 || (s->in = live_wake(&s->live, s->in)) < 0)
		return -1;
	stacks_begin(&s->live.rings, s->dir);
	s->decode.known.by_kernel = rings_have(&s->live.rings, RINGS_FILES);
	if (s->decode.on)
		begin_tasks(s);
	s->live.memory.most = KB_BYTES(s->memory_kb);
	s->to.meanwhile = keep_events;
	s->to.arg = s;
	if (s->show.process & (SHOW_LIFECYCLE | SHOW_SIGNALS) ||
	    (s->show.tells &&
	     (file_begins(s->dir, "events/sched/sched_process_exit/enable", '1') ||
	      file_begins(s->dir, "events/signal/signal_deliver/enable", '1')))) {
		taskstats_open(&s->exits, s->live.ncpus);
		s->show.facts.ended = taskstats_exit_code;
		s->show.facts.killed = taskstats_killed_code;
		s->show.facts.begins = taskstats_forget_old;
		s->show.facts.arg = &s->exits;
	}
	kb = file_number(s->dir, "buffer_size_kb", NULL, 0);
	s->quarter = (long)(KB_BYTES(kb) / s->live.subbuf_size / 4);
	if (!s->quarter)
		s->quarter = 1;
	return 0;
}

/* ---- the stream from its header to its last line ----------------------------------- */

/*
 * Write the events that the buffer holds now. Return 0 if the buffer was empty, 1 if it is
 * nearly empty now, 2 if it may hold more, or -1, reported.
 */
static int pump(struct stream *s)
{
	return s->text ? pump_text(s) : pump_raw(s);
}

/*
 * Write the events that the buffer still holds. A writer may finish an event after the
 * buffer seemed empty, so go by the number of entries. Try only four times, because some
 * entries have no text, and the kernel loses sight of others: rb_get_reader_page first
 * checks whether all of the reader's page was read, and then whether the writer has left
 * it. Events written in between can never be read, but stay among the entries. They count
 * as not written.
 */
static int drain(struct stream *s)
{
	unsigned long long entries = 0;
	int r = 1, found = 1;

	for (int tries = 0; r >= 0 && !s->to.full && tries < 4; tries++) {
		entries = instance_buffer_count(s->dir, "entries: ");
		for (found = 0; !s->to.full && (r = pump(s)) > 0;)
			found = 1;
		if (!entries)
			break;
		consumer_wait(&s->to, -1, 0, 1000);
	}
	if (!found && !s->to.full && !s->text)
		s->cut += entries;
	return r;
}

/* Write lines that are no events, if the size limit leaves room. */
static void write_lines(struct stream *s, const char *text, size_t n)
{
	if (s->to.left >= 0 && (long long)n > s->to.left)
		s->to.full = 1;
	else
		consumer_put(&s->to, text, n);
}

/* Write the calls that have not returned, or the connects that still wait. */
static void write_unfinished(struct stream *s)
{
	static char text[CHUNK];
	const struct record *r;
	int shown;
	size_t n;

	while (!s->to.full && (r = rings_next_open(&s->live.rings)))
		write_lines(s, text, show_record(&s->show, r, 0, text, sizeof(text), &shown));

	while (!s->to.full &&
	       (n = s->decode.on ? show_calls_end(&s->show, text, sizeof(text)) :
		    show_tcp_end(&s->show, text, sizeof(text))))
		write_lines(s, text, n);
}

/* Write an account of --why: that of all, or one of --every. */
static void write_account(struct stream *s, const struct strbuf *account, int all)
{
	const long long ms = time_now_ms() - s->begun_at;
	const int person = s->every && !s->show.json && getenv(PEOPLE_SCREEN);
	struct strbuf lines = { 0 };

	if (!account->n || s->to.full)
		return;
	if (person)
		screen_title(&lines, ms, all ? 0 : s->every);
	if (s->every && !person)
		screen_timed(&lines, account->text, account->n, ms);
	else
		strbuf_add(&lines, account->text, account->n);
	write_lines(s, lines.text, lines.n);
	free(lines.text);
}

/* Return the time until the next account of --every, in us; -1: there is none. */
static long until_account(const struct stream *s)
{
	enum { MOST = 1000000 }; /* ms; later, this is asked again */
	long long at = s->begun_at + (long long)((s->accounts + 1) * s->every);
	long long ms = at - time_now_ms();

	return !s->every ? -1 : ms > 0 ? (long)(ms < MOST ? ms : MOST) * 1000 : 0;
}

/*
 * Write the account so far, which is due; none for each time that has passed meanwhile. If it
 * fails, after a message, the next one may not. Return the result of pump.
 */
static int write_so_far(struct stream *s)
{
	const uint64_t now = trace_clock_now(s->dir);
	struct strbuf account = { 0 };
	int r = pump(s);

	s->accounts = (unsigned long long)(time_now_ms() - s->begun_at) / s->every;
	/* with events left in the buffer, it ends with the last one that was read */
	if (r >= 0 && account_so_far(&account, r > 1 ? 0 : now) == 0)
		write_account(s, &account, 0);
	free(account.text);
	return r;
}

/* Write the account of all. */
static void write_last_account(struct stream *s)
{
	struct strbuf account = { 0 };

	account_end(&account);
	write_account(s, &account, 1);
	free(account.text);
}

/* Write lines that count the files and cgroups that this tool was to read, and could not. */
static void write_unread(struct stream *s)
{
	const char *late = getenv(LATE_FD);
	char line[5 * CONSUMER_LAST], text[700];
	struct out o = out_to(line, sizeof(line));

	if (s->to.full)
		return;
	if (late && late_text(text, sizeof(text), late_count((int)text_value(late, NULL, 10))))
		out_format(&o, s->show.json ? "{\"comment\":\"%s\"}\n" : "# %s\n", text);
	if (stacks_told(text, sizeof(text)))
		out_format(&o, s->show.json ? "{\"comment\":\"%s\"}\n" : "# %s\n", text);
	if (procfs_missed())
		out_format(&o, s->show.json ? "{\"unread\":%llu}\n" :
			   "# %llu reads of /proc were cut or left out: names or paths are "
			   "missing\n",
			   procfs_missed());
	if (s->show.subjects.unplaced)
		out_format(&o, s->show.json ? "{\"unplaced\":%llu}\n" :
			   "# %llu tasks were made in a cgroup and ended before it was known in "
			   "which: they are missing if it was a selected one\n",
			   s->show.subjects.unplaced);
	if (o.at > line)
		write_lines(s, line, (size_t)(o.at - line));
}

/* Write the last lines: if the date has moved, if events were lost, why a write failed. */
static void write_losses(struct stream *s, int failed)
{
	struct losses l = {
		.overwritten = instance_lost(s->dir) + rings_lost(&s->live.rings),
		.unwritten = s->cut,
	};
	long long moved = s->show.dated ? trace_clock_moved(s->dir, s->show.offset) : 0;
	int why = s->to.failed; /* consumer_take_back forgets it */
	char line[CONSUMER_LAST];
	struct out o = out_to(line, sizeof(line));

	if (s->to.full || failed)
		l.unwritten += left_over(s);
	l.unwritten += consumer_take_back(&s->to);
	if (moved)
		out_format(&o, s->show.json ? "{\"moved_ms\":%lld}\n" :
			   "# the time of day moved by %lld ms against the trace's clock\n", moved);
	if (why && !s->show.json && (l.overwritten || l.unwritten))
		out_format(&o, "# unable to write the trace: %.60s\n", strerror(why));
	o.at += show_losses(&s->show, &l, o.at, out_room(&o));
	if (o.at > line)
		consumer_last(&s->to, line, (size_t)(o.at - line));
}

/*
 * Does the instance record all tasks? If its pid filter is empty, it does, or all tasks of the
 * filter have ended. A filter that follows tasks has excluded some, if it records all others.
 */
static int records_all(const struct stream *s)
{
	char *excluded = file_read(s->dir, "set_event_notrace_pid", NULL);
	int some = excluded && *excluded >= '0' && *excluded <= '9';

	free(excluded);
	return some || !file_begins(s->dir, "options/event-fork", '1');
}

/* Take the tasks of the pid filter for the subjects of --why, and with -H name them. */
static void write_traced(struct stream *s)
{
	char line[CONSUMER_LAST], service[SERVICES_ROOM];

	if (!s->show.subjects.member)
		read_traced(s);
	services_begin();
	for (size_t i = 0; i < s->traced.n; i++) {
		account_subject(s->traced.v[i]);
		write_lines(s, line, show_traced(&s->show, s->traced.v[i], line, sizeof(line)));
		if (s->services)
			write_lines(s, service, services_task(s->traced.v[i], service));
	}
	if (!s->traced.n && !s->show.subjects.member && records_all(s)) {
		account_subject(0);
		write_lines(s, line, show_traced(&s->show, 0, line, sizeof(line)));
	}
}

/*
 * Write the comment lines of -H and -d before all text. For a reader that follows another, write
 * them again, after the rest of the text that the other reader was to get.
 */
static void write_header(struct stream *s)
{
	char text[2048];
	struct out o = out_to(text, sizeof(text));

	o.at += s->text ? 0 : show_header(&s->show, s->live.ncpus, o.at, out_room(&o));
	o.at += show_date(&s->show, -1, o.at, out_room(&o));
	if (s->decode.note && !s->show.strace) {
		out_format(&o, s->show.json ? "{\"comment\":\"" : "# ");
		out_escaped(&o, s->decode.note, strnlen(s->decode.note, 200),
			    s->show.json ? ESCAPE_JSON : ESCAPE_TEXT);
		out_format(&o, s->show.json ? "\"}\n" : "\n");
	}
	/* a person has the date as the first line */
	if ((s->decode.names || s->decode.paths) && !account_on() && !s->show.people)
		out_format(&o, s->show.json ? "{\"files\":%u}\n" :
			   "# files of %u tasks are known\n", s->begun);
	s->readers = s->to.readers;
	write_lines(s, text, (size_t)(o.at - text));
	if (!s->text)
		write_traced(s);
}

/* Return how long to wait for events, in us; -1: without a limit. */
static long until_look(const struct stream *s)
{
	long us = until_account(s);

	/* tasks outside of the trace fill the taskstats socket, too */
	return s->exits.fd < 0 || (us >= 0 && us < EXITS_US) ? us : EXITS_US;
}

/* Stream until a signal or an error. Return the result of the last pump. */
static int stream(struct stream *s)
{
	int r = 1;

	s->readers = s->to.readers - 1;
	s->begun_at = time_now_ms();
	for (;;) {
		/* also for a reader that comes just before the end */
		if (s->readers != s->to.readers)
			write_header(s);
		if (r < 0 || s->to.stopping)
			return r;
		if (s->to.full) { /* the newest events stay in the buffer */
			consumer_wait(&s->to, -1, 0, -1);
			continue;
		}
		r = until_account(s) ? pump(s) : write_so_far(s);
		if (r < 0 || r > 1)
			continue;
		consumer_wait(&s->to, -1, 0, s->gather);
		if (!s->to.stopping && !r)
			consumer_wait(&s->to, s->in, POLLIN, until_look(s));
	}
}

/* Exit with a usage error unless each line is a rule. */
static void check_rules(const char *rules)
{
	static const char *const keys[] = { "comm=", "uid=", "cgroup=", "container=" };

	for (const char *at = rules; *at; at = strchr(at, '\n') + 1) {
		size_t i = 0;

		while (i < sizeof(keys) / sizeof(*keys) && strncmp(at, keys[i], strlen(keys[i])))
			i++;
		if (i == sizeof(keys) / sizeof(*keys) || !strchr(at, '\n'))
			usage_error(&tool, "not a line comm=NAME, uid=N, cgroup=NAME or "
				    "container=GLOB: '%.80s'", at);
	}
}

/* Return the default of -M. */
static unsigned long default_memory_kb(void)
{
	struct sysinfo si;
	uint64_t kb;

	if (sysinfo(&si) < 0)
		return MEMORY_KB;
	kb = (uint64_t)si.totalram * si.mem_unit / 1024 / MEMORY_PART;
	return kb < MEMORY_KB ? (unsigned long)kb : MEMORY_KB;
}

/* Read the command line. Exit with a usage error if it is wrong. Return 0, or -1, reported. */
static int take_options(struct stream *s, int argc, char **argv)
{
	struct pids about = { 0 };
	unsigned long size = 0;
	const struct opt_place places[] = {
		{ .name = "begins", .flag = &s->show.subjects.names },
		{ .name = "every", .number = &s->every },
		{ .name = "function-names", .flag = &s->functions },
		{ .name = "kernel-text", .flag = &s->text },
		{ .name = "lines", .flag = &s->to.packets },
		{ .name = "memory", .number = &s->memory_kb },
		{ .name = "hide-names", .flag = &s->show.hide_names },
		{ .name = "size", .number = &size },
		{ .name = "patience", .number = &s->to.patience },
		{ .name = "join", .text = &s->show.subjects.rules },
		{ .name = "unseen", .text = &s->show.subjects.hidden }, { 0 },
	};

	while (opt_next(&tool, argc, argv) != -1)
		if (!strcmp(opt_last.name, "about")) {
			if (pids_option(&tool, opt_value, 0, &about) < 0)
				return -1;
		} else if (!opt_put(places) && !account_take(&s->show, &s->decode, &tool) &&
			   !decode_take(&s->decode, &tool) && !people_take(&s->show, &tool) &&
			   !containers_take(&s->show) && !show_tcp_take(&s->show, &tool) &&
			   show_option(&s->show, &tool) < 0) {
			return -1;
		}
	if (size)
		consumer_limit(&s->to, size);
	s->show.asked |= s->functions || about.n || s->show.subjects.rules;
	show_calls_check(&s->show, &s->decode, &tool);
	if (s->show.container && s->show.strace)
		usage_error(&tool, "--container-names cannot be combined with --strace");
	if (s->every && !account_on())
		usage_error(&tool, "--every needs --why");
	if (s->show.subjects.rules)
		check_rules(s->show.subjects.rules);
	if ((about.n || s->show.subjects.rules) && subjects_begin(&s->show.subjects, &about) < 0)
		return -1;
	s->traced = about;
	s->show.subjects.names |= s->show.header;
	s->services = s->show.json && s->show.header && !s->show.process;
	opt_end(&tool, argv[opt_index]);
	if (s->text && (s->show.asked || s->show.people))
		usage_error(&tool, "-k copies the kernel's text: it cannot be combined with -f, "
			    "-e, -p, -t, -u, -U, -C, -N, -j, -m, -F, -G, -O, -P, -H, -T, -D and "
			    "--container-names");
	instance_require(&tool, opt_root, opt_instance);
	return 0;
}

/* Open the instance. Return 0, or -1, reported. */
static int open_instance(struct stream *s)
{
	s->dir = tracefs_open(opt_root, opt_instance, NULL);
	if (s->dir < 0)
		return -1;
	s->in = openat(s->dir, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (s->in < 0)
		return err_file("unable to open trace_pipe");
	if (s->show.dated && trace_clock_offset(s->dir, &s->show.offset) < 0)
		return -1;
	return s->text ? 0 : open_raw(s, opt_root);
}

int main(int argc, char **argv)
{
	static struct stream s; /* large */
	int r;

	s.to = CONSUMER;
	s.memory_kb = default_memory_kb();
	s.gather = GATHER_US;
	s.exits.fd = -1;
	if (take_options(&s, argc, argv) < 0)
		return REFUSED;
	s.to.signals = wait_stop_signals();
	if (open_instance(&s) < 0 || consumer_open(&s.to, &tool) < 0)
		return REFUSED;
	procfs_limit();
	container_limit();
	stranger_stop_at(s.to.signals);
	confine_paths(CAPS_STREAM | (s.functions ? CAPS_MAPPED : 0), &s.dir, 1);

	r = stream(&s);
	procfs_stop();
	rings_stop(&s.live.rings);
	if (!s.text)
		live_names_end(&s.kernel);
	if (r >= 0)
		r = drain(&s);
	if (!s.text)
		write_unfinished(&s);
	write_last_account(&s);
	write_unread(&s);
	write_losses(&s, r < 0);
	return r < 0 ? REFUSED : s.to.full > 1 ? s.to.full : DONE;
}
