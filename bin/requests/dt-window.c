/* SPDX-License-Identifier: ISC */
/*
 * dt-window - select the lines of a trace that belong to traced requests
 *
 * Requires: a trace on standard input, as text or lines of JSON, with the mark lines of
 * dt-probe in it (tfs:mark).
 * With -a, dt-window follows requests by the events of this host's sockets (sockets.c in
 * bin/requests). The trace then has all fields of these events.
 * A line is printed if its thread has a window: from dtB to dtE, both included. Mark lines
 * of such a window are printed too, and lines that begin with #. A line that reports lost
 * events is printed and closes all windows; another line gives their number. A line that is
 * not an event is printed if the event before it is.
 * With -a, lines are held back while a followed thread sends, 65536 lines at most. Only the
 * end of the send shows its length, and another thread may have read the bytes before.
 * SIGINT is ignored, so that the producer of the trace can finish first.
 * Exit: 0 done, 1 no line except comments was printed, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "proc/proc.h"
#include "seen/seen.h"
#include "requests.h"

static const struct tool tool = { TOOL_DT_WINDOW };

/* Limits of memory for hostile traces: open windows, and probes with a window in a thread. */
#define MOST_WINDOWS 65536
#define MOST_PROBES 4

/* Limits of the lines that are held back while a followed thread sends. */
#define MOST_LINES 65536
#define MOST_BYTES (16 * 1024 * 1024)

/* The open windows of a thread, one for each request probe. */
struct window {
	struct table_entry entry;
	unsigned n;
	struct {
		uint64_t id;
		struct dt_window window;
	} of[MOST_PROBES];
};

/* A thread in a call that sends. */
struct sender {
	struct table_entry entry;
	struct socket_send *send;
};

/* A line that is held back. send is NULL unless the line begins or ends a send. */
struct held {
	struct held *next;
	size_t n;
	int begins;             /* the line begins the send, and does not end it */
	uint64_t tid;
	struct socket_send *send;
	char line[];
};

struct filter {
	struct input in;        /* its comments are only for lines that are not understood */
	int by_group, one_probe, by_sockets;
	uint64_t id;                    /* one_probe: of that request probe */
	struct pids always;
	struct table windows;
	size_t nwindows;                /* of all request probes */
	uint64_t ended;                 /* thread whose last event ended its window */
	int json, passes;               /* the last event was JSON; it was printed */
	int full, found, gave_up;
	struct sockets sockets;         /* with -a */
	struct table senders;
	struct held *first, **last;
	size_t lines, bytes;
};

/* Return the thread's windows, or NULL. */
static struct window *window_of(const struct filter *f, uint64_t tid)
{
	return table_find(&f->windows, (const char *)&tid, sizeof(tid));
}

static int is_followed(const struct filter *f, uint64_t tid)
{
	if (f->by_sockets)
		return sockets_follow(&f->sockets, tid);
	return tid && (window_of(f, tid) || (f->always.n && pids_has(&f->always, (pid_t)tid)));
}

/* Return the index of the thread's window of the mark's request probe; w->n: there is none. */
static unsigned which(const struct window *w, const struct dt_mark *m)
{
	unsigned i = 0;

	while (i < w->n && w->of[i].id != m->id)
		i++;
	return i;
}

/* Open a window, or give the open window of the same request probe this key. */
static void begin(struct filter *f, const struct dt_mark *m)
{
	struct window *w;
	unsigned i;

	if (f->windows.n >= MOST_WINDOWS && !window_of(f, m->tid)) {
		if (!f->full)
			stdout_print("# more than %d windows are open; later windows are left "
				     "out\n",
				     MOST_WINDOWS);
		f->full = 1;
		return;
	}
	w = table_at(&f->windows, (const char *)&m->tid, sizeof(m->tid));
	i = which(w, m);
	if (i == MOST_PROBES)
		return;
	f->nwindows += i == w->n;
	w->n += i == w->n;
	w->of[i].id = m->id;
	dt_window_mark(&w->of[i].window, m, 0);
}

/* Open or close the window that the mark line is about. Return whether to print the line. */
static int take_mark(struct filter *f, const struct dt_mark *m)
{
	struct window *w;
	unsigned i;
	int always;

	if (!m->tid || m->tid > INT_MAX || (f->one_probe && m->id != f->id))
		return 0;
	always = f->always.n && pids_has(&f->always, (pid_t)m->tid);
	if (m->what == 'B')
		begin(f, m);
	w = window_of(f, m->tid);
	if (!w || (i = which(w, m)) == w->n)
		return always;
	if (m->what != 'E')
		return 1;
	if (!dt_window_mark(&w->of[i].window, m, 0).open)
		return always;
	w->of[i] = w->of[--w->n];
	f->nwindows--;
	f->ended = m->tid;
	if (!w->n)
		table_remove(&f->windows, w);
	return 1;
}

/*
 * Close all windows, because their ends may be among lost events. Keep the windows of
 * threads that were traced from the beginning (key 0), which last as long as the thread.
 */
static void close_all(struct filter *f)
{
	size_t n = f->by_sockets ? sockets_forget(&f->sockets) : f->nwindows, kept = 0;
	struct dt_mark *own = f->nwindows ? xcalloc(f->nwindows, sizeof(*own)) : NULL;
	const struct window *w;
	struct sender *sender;

	for (size_t i = 0; (sender = table_next(&f->senders, &i));)
		free(sender->send);
	table_clear(&f->senders);
	for (size_t i = 0; (w = table_next(&f->windows, &i));)
		for (unsigned k = 0; k < w->n; k++)
			if (!w->of[k].window.key) {
				own[kept].what = 'B';
				own[kept].id = w->of[k].id;
				memcpy(&own[kept++].tid, w->entry.key, sizeof(own->tid));
			}
	table_clear(&f->windows);
	f->nwindows = 0;
	f->ended = 0;
	f->full = f->passes = 0;
	if (n > kept)
		stdout_print(f->json ? "{\"closed\":%zu}\n" :
			     "# closed %zu windows, because the events that end them may be "
			     "lost\n", n - kept);
	while (kept)
		begin(f, &own[--kept]);
	free(own);
}

/*
 * Return the line's thread, or with -g its thread group; 0: unknown. Exit REFUSED if the
 * text has no column of thread groups.
 */
static uint64_t who(const struct filter *f, const struct seen *l)
{
	uint64_t tid = 0;

	if (f->by_group && !l->tgid.text)
		err_exit(REFUSED,
			 "-g needs a trace with a column of thread groups; set "
			 "options/record-tgid");
	if (text_part_number(f->by_group ? l->tgid : l->pid, 10, &tid) < 0 || tid > INT_MAX)
		return 0;
	return tid;
}

/* Does a thread in a window get a CPU, or is it woken? The event itself is another thread's. */
static int is_about_followed(const struct filter *f, const struct seen *l)
{
	const char *key = text_part_is(l->event, "sched_switch") ? "next_pid" :
			  seen_wakes(l) ? ".pid" : NULL;
	uint64_t tid;

	return key && !f->by_group && text_part_number(seen_text(l, key), 10, &tid) == 0 &&
	       tid <= INT_MAX && is_followed(f, tid);
}

/* Does the line begin a block that belongs to an event, such as "<stack trace>"? */
static int heads_block(const struct seen *l)
{
	return !l->json && l->time.n && (l->stack || !l->body.text);
}

/* Print the line. A NUL, which only a hostile trace has, becomes a question mark. */
static void pass(char *line, size_t n)
{
	text_mask_nul(line, n);
	stdout_print("%s\n", line);
}

/*
 * Process the next line in the order of the trace, and print it or not. A line that is no
 * event has no time, unless it begins a block.
 */
static void take(struct filter *f, char *line, size_t n, const struct seen *l,
		 int is_event, struct socket_send *send)
{
	enum sock_event sock = f->by_sockets && is_event ? sock_event(l) : SOCK_NONE;
	uint64_t tid = l->time.n ? who(f, l) : 0;
	struct dt_mark m;

	if (is_event) {
		f->json = l->json;
		if (tid == f->ended)
			f->ended = 0;
		if (sock) {
			f->passes = sockets_event(&f->sockets, sock, l, tid, send);
			if (f->passes < 0)
				exit(REFUSED);
			if (f->passes > 1)
				f->ended = tid;
		} else if (!f->by_sockets && dt_mark(&m, l)) {
			f->passes = take_mark(f, &m);
		} else {
			f->passes = is_followed(f, tid) || is_about_followed(f, l);
		}
	} else if (heads_block(l)) {
		f->passes = is_followed(f, tid) || (tid && tid == f->ended);
	}
	if (!f->passes)
		return;
	f->found = 1;
	pass(line, n);
}

/* ---- lines that are held back ----------------------------------------------------------- */

/* Process the oldest line that is held back. */
static void take_held(struct filter *f)
{
	struct held *h = f->first;
	struct seen l;
	int is_event;

	f->first = h->next;
	if (!f->first)
		f->last = &f->first;
	f->lines--;
	f->bytes -= h->n;
	if (*h->line == '#') {
		pass(h->line, h->n);
	} else {
		is_event = seen_line(&l, h->line, h->n);
		take(f, h->line, h->n, &l, is_event, h->send);
		if (!h->begins)
			free(h->send);
	}
	free(h);
}

/*
 * Process the held lines, but stop at the beginning of a send that is not over yet, by a
 * followed thread. If all is set, or if too many lines are held, do not stop there.
 */
static void take_what_is_known(struct filter *f, int all)
{
	while (f->first) {
		const struct held *h = f->first;
		int waits = h->begins && !h->send->over && is_followed(f, h->tid);

		if (waits && !all) {
			if (f->lines < MOST_LINES && f->bytes < MOST_BYTES)
				return;
			if (!f->gave_up)
				stdout_print("# a send takes longer than %zu lines, so its "
					     "readers in that time are missed\n", f->lines);
			f->gave_up = 1;
		}
		take_held(f);
	}
}

/* Append a copy of the line to those held back. Exit REFUSED if memory runs out. */
static void hold(struct filter *f, const char *line, size_t n, int begins, uint64_t tid,
		 struct socket_send *send)
{
	struct held *h = xrealloc(NULL, 1, sizeof(*h) + n + 1);

	*h = (struct held){ .n = n, .begins = begins, .tid = tid, .send = send };
	memcpy(h->line, line, n);
	h->line[n] = '\0';
	*f->last = h;
	f->last = &h->next;
	f->lines++;
	f->bytes += n;
}

/*
 * Return the send that the event ends, or a new send if the event is the first of its call;
 * otherwise NULL. The sends of all threads are kept, followed or not. The caller frees a
 * send with the line that ends it.
 */
static struct socket_send *send_of(struct filter *f, enum sock_event sock,
				   const struct seen *l)
{
	struct sender *s;
	struct socket_send *send;
	uint64_t tid;

	if ((sock != SOCK_SENDS && sock != SOCK_SENT) || text_part_number(l->pid, 10, &tid) < 0)
		return NULL;
	s = table_find(&f->senders, (const char *)&tid, sizeof(tid));
	if (sock == SOCK_SENDS) {
		if (s || f->senders.n >= MOST_WINDOWS)
			return NULL;
		s = table_at(&f->senders, (const char *)&tid, sizeof(tid));
		s->send = xcalloc(1, sizeof(*s->send));
		return s->send;
	}
	if (!s)
		return NULL;
	send = s->send;
	table_remove(&f->senders, s);
	if (socket_send_end(send, l) < 0)
		exit(REFUSED);
	return send;
}

/* Read a line: process it at once, or hold it back. */
static void each_line(struct filter *f, char *line, size_t n)
{
	int lost = !strncmp(line, "# lost ", 7) || !strncmp(line, "{\"lost\":", 8) ||
		   comments_is_gap(line), is_event, begins;
	enum sock_event sock;
	struct seen l;
	struct socket_send *send;
	uint64_t tid;

	f->in.comments.lines += lost || *line == '#';
	if (lost) {
		take_what_is_known(f, 1);
		pass(line, n);
		close_all(f);
		return;
	}
	if (*line == '#') {
		if (f->first)
			hold(f, line, n, 0, 0, NULL);
		else
			pass(line, n);
		return;
	}
	is_event = comments_event(&f->in.comments, &l, line, n);
	sock = f->by_sockets && is_event ? sock_event(&l) : SOCK_NONE;
	send = send_of(f, sock, &l);
	begins = send && sock == SOCK_SENDS;
	tid = begins ? who(f, &l) : 0;
	if (!f->first && !(begins && is_followed(f, tid))) {
		take(f, line, n, &l, is_event, send);
		if (!begins)
			free(send);
		return;
	}
	hold(f, line, n, begins, tid, send);
	take_what_is_known(f, 0);
}

/* Print a note about events that the trace lacks for -a, and about a full table. */
static void tell_missing(const struct filter *f)
{
	static const struct {
		enum sock_event event, or;
		const char *name;
	} needed[] = {
		{ SOCK_SENT, SOCK_SENT, "sock:sock_send_length" },
		{ SOCK_RECEIVED, SOCK_RECEIVED, "sock:sock_recv_length" },
		{ SOCK_STATE, SOCK_READS, "sock:inet_sock_set_state or tcp:tcp_rcv_space_adjust" },
	};
	const int *seen = f->sockets.seen;

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!seen[needed[i].event] && !seen[needed[i].or]) {
			err_note("no %s in the trace, so no task can be followed; record that "
				 "event", needed[i].name);
			return;
		}
	if (!seen[SOCK_SENDS])
		err_note("no tcp:tcp_sendmsg_locked in the trace, so reads before the sender "
			 "returns are missed");
	if (f->sockets.full)
		err_note("more than 65536 sockets or windows were open; later ones are left out");
}

/* Parse the number of a request probe: hexadecimal, with or without 0x. Return 0 or -1. */
static int parse_id(const char *s, uint64_t *id)
{
	s += !strncmp(s, "0x", 2) ? 2 : 0;
	return text_part_number((struct text_part){ s, strlen(s) }, 16, id);
}

static struct filter f; /* large; an initializer would put it into the program's file */

static void each(void)
{
	each_line(&f, f.in.line, f.in.n);
}

int main(int argc, char **argv)
{
	char text[COMMENTS_MISSED];
	int c;

	f.windows.size = sizeof(struct window);
	f.senders.size = sizeof(struct sender);
	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case 'a':
			f.by_sockets = 1;
			break;
		case 'g':
			f.by_group = 1;
			break;
		case 'i':
			if (parse_id(opt_value, &f.id) < 0)
				opt_refuse(&tool, "the ID of a request probe");
			f.one_probe = 1;
			break;
		default:
			pids_add(&f.always, text_pid(opt_value));
		}
	opt_end(&tool, argv[opt_index]);
	if (f.by_sockets && f.one_probe)
		usage_error(&tool, "-i selects mark lines, and -a uses none; leave one "
				   "of them out");
	if (f.by_sockets && !f.always.n)
		usage_error(&tool, "-a needs -t; give the thread that sends the first request");
	if (pids_sort(&f.always) < 0)
		return REFUSED;
	sockets_begin(&f.sockets, &f.always);
	f.last = &f.first;

	input_each(&f.in, each);
	take_what_is_known(&f, 1);
	stdout_flush();
	if (comments_missed(&f.in.comments, text, sizeof(text)))
		err_note("not understood, and treated like the event before: %s", text);
	if (f.by_sockets)
		tell_missing(&f);
	return f.found ? DONE : err_no("no event of a request in the trace");
}
