/* SPDX-License-Identifier: ISC */
/*
 * dt-window - let through what a trace has of the requests that are followed
 *
 * Requires: nothing but a trace on standard input, as text or lines of JSON, that has
 * the marks of dt-probe in it (bpf_trace:bpf_trace_printk).
 *	-g          the marks are of thread groups: the text has their column
 *	-i ID       the marks of this probe only; default: of all
 *	-t TID      every line of this thread, too
 * A line goes through if its thread has read a marked request and not answered it
 * yet: from dtB to dtE, both included. So do marks that belong to such a window, lines
 * that begin with # and those that tell of lost events, over which all windows are
 * closed, which a line tells. What is no event goes the way of the event before it.
 * An interrupt from the terminal is the trace's to hear.
 * Exit: 0 done, 1 nothing went through, 100 misused, 111 refused.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "dtmark.h"
#include "filter.h"
#include "tfs.h"

static const struct tool tool = {
	.name = "dt-window",
	.usage = "dt-window [-g] [-i ID] [-t TID]...",
	.purpose = "let through what a trace has of the requests that are followed",
	.letters = "gi:t:",
};

/* More threads than these do not serve at once; it bounds what a stranger can make. */
#define MOST_WINDOWS 65536
#define MOST_PROBES 4

/* A thread that has a window: of each probe, by ID, what it began with. */
struct window {
	struct entry entry;
	unsigned n;
	struct {
		uint64_t id, key;
	} of[MOST_PROBES];
};

struct filter {
	int by_group, one_probe;
	uint64_t id;                    /* of the one probe */
	struct pids always;
	struct table windows;
	size_t nwindows;                /* of all probes */
	uint64_t ended;                 /* whose last event was a dtE that went through */
	int json, passes;               /* the last event was, did */
	int full, found;
};

static struct window *window_of(const struct filter *f, uint64_t tid)
{
	return table_find(&f->windows, (const char *)&tid, sizeof(tid));
}

static int is_followed(const struct filter *f, uint64_t tid)
{
	return tid && (window_of(f, tid) || (f->always.n && pids_has(&f->always, (pid_t)tid)));
}

static void begin(struct filter *f, const struct dt_mark *m)
{
	struct window *w;
	unsigned i = 0;

	if (f->windows.n >= MOST_WINDOWS && !window_of(f, m->tid)) {
		if (!f->full)
			print("# more than %d windows are open: the others are left out\n",
			      MOST_WINDOWS);
		f->full = 1;
		return;
	}
	w = table_at(&f->windows, (const char *)&m->tid, sizeof(m->tid));
	while (i < w->n && w->of[i].id != m->id)
		i++;
	if (i == MOST_PROBES)
		return;
	f->nwindows += i == w->n;
	w->n += i == w->n;
	w->of[i].id = m->id;
	w->of[i].key = m->key;
}

/* The thread's window of the mark's probe; the number of them: it has none. */
static unsigned which(const struct window *w, const struct dt_mark *m)
{
	unsigned i = 0;

	while (i < w->n && w->of[i].id != m->id)
		i++;
	return i;
}

/* Does the mark go through? */
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
	/* one that ends an older window came late, and that has been replaced */
	if (w->of[i].key != m->key)
		return always;
	w->of[i] = w->of[--w->n];
	f->nwindows--;
	f->ended = m->tid;
	if (!w->n)
		table_remove(&f->windows, w);
	return 1;
}

/* Who knows what ended in the gap? */
static void close_all(struct filter *f)
{
	size_t n = f->nwindows;

	for (size_t i = 0; i < f->windows.room; i++) {
		free(f->windows.v[i]);
		f->windows.v[i] = NULL;
	}
	f->windows.n = f->nwindows = 0;
	f->ended = 0;
	f->full = f->passes = 0;
	if (n)
		print(f->json ? "{\"closed\":%zu}\n" :
				"# closed %zu windows: what ended them may be lost\n", n);
}

/* The thread, or the group, of the event's line. */
static uint64_t who(const struct filter *f, const struct trace_line *l)
{
	uint64_t tid = 0;

	if (f->by_group && !l->tgid.text)
		die(REFUSED, "-g needs text with a column of thread groups: options/record-tgid");
	if (part_number(f->by_group ? l->tgid : l->pid, 10, &tid) < 0 || tid > INT_MAX)
		return 0;
	return tid;
}

/* Is it the head of a block that belongs to an event, "<stack trace>"? */
static int heads_block(const struct trace_line *l)
{
	return !l->json && l->time.n && !l->body.text;
}

static void pass(char *line, size_t n)
{
	/* a line of text has none; what has is a stranger's */
	for (char *nul; (nul = memchr(line, '\0', n)); *nul = '?')
		;
	print("%s\n", line);
}

static void each_line(struct filter *f, char *line, size_t n)
{
	int lost = !strncmp(line, "# lost ", 7) || !strncmp(line, "{\"lost\":", 8) ||
		   tells_gap(line);
	struct trace_line l;
	struct dt_mark m;
	uint64_t tid;

	if (*line == '#' || lost) {
		pass(line, n);
		if (lost)
			close_all(f);
		return;
	}
	if (trace_line(&l, line, n)) {
		f->json = l.json;
		tid = who(f, &l);
		if (tid == f->ended)
			f->ended = 0;
		f->passes = dt_mark(&m, &l) ? take_mark(f, &m) : is_followed(f, tid);
	} else if (heads_block(&l)) {
		tid = who(f, &l);
		f->passes = is_followed(f, tid) || (tid && tid == f->ended);
	}
	if (!f->passes)
		return;
	f->found = 1;
	pass(line, n);
}

/* As the marks have it; 0x may be in front. */
static int parse_id(const char *s, uint64_t *id)
{
	s += !strncmp(s, "0x", 2) ? 2 : 0;
	return part_number((struct part){ s, strlen(s) }, 16, id);
}

int main(int argc, char **argv)
{
	static struct filter f = { .windows = { .size = sizeof(struct window) } };
	static struct reader in;
	char *line;
	ssize_t n;
	pid_t tid;
	int c;

	while ((c = next_option(&tool, argc, argv)) != -1)
		switch (c) {
		case 'g':
			f.by_group = 1;
			break;
		case 'i':
			if (parse_id(opt_value, &f.id) < 0)
				misused(&tool, "not the ID of a probe: '%.80s'", opt_value);
			f.one_probe = 1;
			break;
		default:
			tid = pid_number(opt_value);
			if (!tid)
				misused(&tool, "not a thread: '%.80s'", opt_value);
			pids_add(&f.always, tid);
		}
	if (argv[opt_index])
		misused(&tool, "unexpected operand '%.80s'", argv[opt_index]);
	pids_sort(&f.always);

	signal(SIGINT, SIG_IGN);
	while ((n = next_line(&in, &line)) >= 0)
		each_line(&f, line, (size_t)n);
	flush();
	return f.found ? DONE : NO;
}
