/* SPDX-License-Identifier: ISC */
/*
 * tfs-timeline - draw a trace as a timeline, in SVG
 *
 * Requires: only a trace on standard input, as text or lines of JSON.
 * A broad bar shows that a task ran, from one sched_switch to the next on the same
 * processor. A narrow bar shows a latency: a line with lat=MICROSECONDS, as tfs-latency
 * prints it, ends such a bar. Any other event is a tick. If several marks of a lane begin
 * in the same pixel, tfs-timeline draws the longest, whose tooltip counts the others.
 * tfs-timeline ignores SIGINT, so that the program that makes the trace can finish first.
 * Exit: 0 done, 1 no event, 100 usage error, 111 refused.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "filter/filter.h"

static const struct tool tool = {
	.name = "tfs-timeline",
	.usage = "tfs-timeline [-c] [-n LANES]",
	.purpose = "draw a trace as a timeline, in SVG",
	.options =
		"-c  draw a lane for each processor instead of each task\n"
		"-n LANES  draw at most LANES lanes, those with most marks; default 64\n",
};

enum { LEFT = 170, WIDTH = 1020, RIGHT = 10, HEAD = 50, FOOT = 40, LANE = 24, MARKS = 10 };

enum kind { RAN, TOOK, TICK, KINDS };

struct mark {
	uint64_t from, to;
	const char *name;       /* memory of an entry of timeline.names */
	enum kind kind;
};

struct lane {
	struct table_entry entry;
	const char *label;      /* the last name of its task */
	struct mark *v;
	size_t n, room;
	uint64_t first;         /* begin of the earliest mark */
};

/* The task that runs on a processor. */
struct running {
	struct table_entry entry;
	uint64_t since;
	const char *name;       /* NULL: the task is unknown */
	size_t npid;
	char pid[32];
};

struct timeline {
	int by_cpu;
	unsigned long most;
	struct table lanes, names, running;
	struct comments comments;
	struct strbuf words;
	uint64_t begin, end;
	int digits;             /* behind the point of its times; -1: a clock that counts */
	unsigned long long events;
};

/* ---- read the trace -------------------------------------------------------------------- */

/* Return a copy of the name that lives as long as the timeline; one copy for each name. */
static const char *keep_name(struct timeline *t, const char *s, size_t n)
{
	return ((struct table_entry *)table_at(&t->names, s, n))->key;
}

/* Begin t->words with "HOST ", if dt-join has put a host in front of the line. */
static void begin_with_host(struct timeline *t, const struct trace_line *l)
{
	t->words.n = 0;
	strbuf_add(&t->words, l->host.text, l->host.n);
	strbuf_puts(&t->words, l->host.n ? " " : "");
}

/* Return the label of a task, COMM-PID. */
static const char *task_label(struct timeline *t, const struct trace_line *l,
			      struct text_part comm, struct text_part pid)
{
	begin_with_host(t, l);
	strbuf_add(&t->words, comm.n ? comm.text : "?", comm.n ? comm.n : 1);
	strbuf_puts(&t->words, "-");
	strbuf_add(&t->words, pid.text, pid.n);
	return keep_name(t, t->words.text, t->words.n);
}

static const char *cpu_label(struct timeline *t, const struct trace_line *l)
{
	begin_with_host(t, l);
	strbuf_puts(&t->words, "cpu ");
	strbuf_add(&t->words, l->cpu.text, l->cpu.n);
	return keep_name(t, t->words.text, t->words.n);
}

/* Add a mark to the lane of a pid or processor. */
static void add_mark(struct timeline *t, const struct trace_line *line, struct text_part lane,
		     const char *label, struct mark m)
{
	struct lane *l;

	begin_with_host(t, line);
	strbuf_add(&t->words, lane.n ? lane.text : "-", lane.n ? lane.n : 1);
	l = table_at(&t->lanes, t->words.text, t->words.n);

	l->v = xgrow(l->v, l->n, &l->room, sizeof(*l->v));
	if (!l->n || m.from < l->first)
		l->first = m.from;
	if (m.from < t->begin)
		t->begin = m.from;
	if (m.to > t->end)
		t->end = m.to;
	l->label = label;
	l->v[l->n++] = m;
}

static int is_running(const struct running *r, struct text_part pid)
{
	return r->name && r->npid == pid.n && !memcmp(r->pid, pid.text, pid.n);
}

/*
 * Add a mark for the task that leaves the processor, from the switch to it until now, if
 * the trace has that switch. The idle task, pid 0, gets none.
 */
static void read_switch(struct timeline *t, const struct trace_line *l, uint64_t now)
{
	struct text_part prev = trace_line_key(l, "prev_pid");
	struct text_part next = trace_line_key(l, "next_pid");
	struct running *r;

	begin_with_host(t, l);
	strbuf_add(&t->words, l->cpu.text, l->cpu.n);
	r = table_at(&t->running, t->words.text, t->words.n);

	if (is_running(r, prev) && now >= r->since && !(prev.n == 1 && *prev.text == '0')) {
		const char *cpu = cpu_label(t, l);

		if (t->by_cpu)
			add_mark(t, l, l->cpu, cpu, (struct mark){ r->since, now, r->name, RAN });
		else
			add_mark(t, l, prev, r->name, (struct mark){ r->since, now, cpu, RAN });
	}
	r->name = next.n && next.n <= sizeof(r->pid) ?
		  task_label(t, l, trace_line_key(l, "next_comm"), next) : NULL;
	r->npid = next.n;
	if (r->name)
		memcpy(r->pid, next.text, next.n);
	r->since = now;
}

/* Return the value of lat in ns, or in counts of the clock, or 0 if the line has none. */
static uint64_t latency_of(const struct trace_line *l, int digits)
{
	struct text_part p = trace_line_key(l, "lat");
	struct decimal v;

	if (!p.n || decimal_parse(&v, p) < 0 || v.negative || v.whole > UINT64_MAX / 2000)
		return 0;
	return digits < 0 ? v.whole : v.whole * 1000 + v.nano / 1000000;
}

static void read_line(struct timeline *t, const char *line, size_t n)
{
	struct text_part lane, comm, pid;
	struct trace_line l;
	const char *label, *name;
	uint64_t now, lat;
	int digits, switched;

	if (!trace_line(&l, line, n) || trace_line_time(&l, &now, &digits) < 0) {
		/* after lost events, the running tasks are unknown until the next switch */
		int gap = comments_is_gap(line);

		for (size_t i = 0; gap && i < t->running.room; i++)
			if (t->running.v[i])
				((struct running *)t->running.v[i])->name = NULL;
		comments_keep(&t->comments, line);
		return;
	}
	if (!l.cpu.n)
		l.cpu = (struct text_part){ "-", 1 };
	t->events++;
	t->digits = digits;
	switched = l.event.n == 12 && !memcmp(l.event.text, "sched_switch", 12);
	if (switched)
		read_switch(t, &l, now);
	lat = latency_of(&l, digits);
	if (switched && !lat) {
		if (now < t->begin)
			t->begin = now;
		if (now > t->end)
			t->end = now;
		return;
	}
	/* the latency of a switch is the wait of the task that the processor switches to */
	comm = switched ? trace_line_key(&l, "next_comm") : l.comm;
	pid = switched ? trace_line_key(&l, "next_pid") : l.pid;
	if (!pid.n)
		pid = (struct text_part){ "-", 1 };
	label = t->by_cpu ? cpu_label(t, &l) : task_label(t, &l, comm, pid);
	lane = t->by_cpu ? l.cpu : pid;
	t->words.n = 0;
	strbuf_puts(&t->words, l.prefix);
	strbuf_add(&t->words, l.event.text, l.event.n);
	name = keep_name(t, t->words.text, t->words.n);
	add_mark(t, &l, lane, label, (struct mark){ lat < now ? now - lat : 0, now, name,
						    lat ? TOOK : TICK });
}

/* ---- draw the lanes -------------------------------------------------------------------- */

static int by_most(const void *a, const void *b)
{
	const struct lane *x = *(struct lane *const *)a, *y = *(struct lane *const *)b;

	return x->n != y->n ? x->n < y->n ? 1 : -1 : table_by_key(a, b);
}

/* Compare two lanes by their earliest mark. */
static int by_first(const void *a, const void *b)
{
	const struct lane *x = *(struct lane *const *)a, *y = *(struct lane *const *)b;

	return x->first != y->first ? x->first < y->first ? -1 : 1 : table_by_key(a, b);
}

static int by_kind(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Return the place of a time, in hundredths of a pixel from the left. */
static uint64_t across(const struct timeline *t, uint64_t time)
{
	double all = (double)(t->end - t->begin);

	return LEFT * 100 + (uint64_t)(all > 0 ? (double)(time - t->begin) / all *
				       (WIDTH * 100) : 0);
}

/* Append the time in microseconds, or as the number that the clock counts. */
static void put_time(const struct timeline *t, struct strbuf *w, uint64_t time)
{
	char text[32];

	if (t->digits < 0) {
		str_format(text, sizeof(text), "%llu", (unsigned long long)time);
		strbuf_puts(w, text);
		return;
	}
	svg_number(w, time / 10);
	strbuf_puts(w, " us");
}

static void draw_mark(struct timeline *t, const struct mark *m, size_t more, uint64_t y)
{
	static const unsigned top[KINDS] = { 2, 15, 1 }, height[KINDS] = { 12, 6, 21 };
	uint64_t x = across(t, m->from), width = across(t, m->to) - x;
	struct strbuf *w = &t->words;
	char text[48];

	w->n = 0;
	strbuf_puts(w, "<g><title>");
	svg_text(w, m->name, strlen(m->name), SIZE_MAX);
	strbuf_puts(w, " at ");
	put_time(t, w, m->from - t->begin);
	if (m->kind != TICK) {
		strbuf_puts(w, ", ");
		put_time(t, w, m->to - m->from);
	}
	str_format(text, sizeof(text), ", and %zu more", more);
	if (more)
		strbuf_puts(w, text);
	strbuf_puts(w, "</title><rect");
	svg_attribute(w, "x", x);
	svg_attribute(w, "y", (y + top[m->kind]) * 100);
	svg_attribute(w, "width", m->kind == TICK ? 50 : width < 50 ? 50 : width);
	svg_attribute(w, "height", height[m->kind] * 100);
	if (m->kind != TICK)
		svg_colour(w, m->name, strlen(m->name));
	strbuf_puts(w, "/>");
	if (m->kind == RAN && width > 600) {
		size_t n = w->n;

		strbuf_puts(w, "<text");
		svg_attribute(w, "x", x + 300);
		svg_attribute(w, "y", (y + 12) * 100);
		strbuf_puts(w, ">");
		svg_text(w, m->name, strlen(m->name), (size_t)((width - 600) / SVG_LETTER));
		if (w->text[w->n - 1] == '>')
			w->n = n; /* the bar has no room for a letter */
		else
			strbuf_puts(w, "</text>");
		w->text[w->n] = '\0';
	}
	strbuf_puts(w, "</g>");
	stdout_print("%s\n", w->text);
}

/* Return whether both marks are of the same kind and begin in the same pixel. */
static int same_pixel(const struct timeline *t, const struct mark *a, const struct mark *b)
{
	return a->kind == b->kind && across(t, a->from) / 100 == across(t, b->from) / 100;
}

static void draw_lane(struct timeline *t, struct lane *l, uint64_t y)
{
	size_t i, j;

	stdout_print("<path d='M0 %llu h%d' stroke='#ddd'/>\n", (unsigned long long)y,
		     LEFT + WIDTH + RIGHT);
	svg_label(10, y + 16, l->label, strlen(l->label), (LEFT - 15) * 100 / SVG_LETTER);
	qsort(l->v, l->n, sizeof(*l->v), by_kind);
	for (i = 0; i < l->n; i = j) {
		const struct mark *longest = &l->v[i];

		for (j = i + 1; j < l->n && same_pixel(t, &l->v[i], &l->v[j]); j++)
			if (l->v[j].to - l->v[j].from > longest->to - longest->from)
				longest = &l->v[j];
		draw_mark(t, longest, j - i - 1, y);
	}
}

static void draw_axis(struct timeline *t, uint64_t height)
{
	for (unsigned i = 0; i <= MARKS; i++) {
		uint64_t time = (t->end - t->begin) / MARKS * i;
		unsigned x = LEFT + WIDTH / MARKS * i;

		stdout_print("<path d='M%u %d V%llu' stroke='#ddd'/>\n", x, HEAD - 5,
			     (unsigned long long)height - FOOT);
		if (i % 2 || i == MARKS)
			continue;
		t->words.n = 0;
		put_time(t, &t->words, time);
		svg_label(x, HEAD - 10, t->words.text, t->words.n, SIZE_MAX);
	}
}

static void draw(struct timeline *t)
{
	size_t shown = t->lanes.n < t->most ? t->lanes.n : t->most;
	uint64_t height = HEAD + FOOT + LANE * shown;
	char title[160], micro[16];

	/* add 1000000 to keep the leading zeros of the fraction; the 1 is not printed */
	str_format(micro, sizeof(micro), "%llu",
		   1000000 + (unsigned long long)t->begin % 1000000000 / 1000);
	str_format(title, sizeof(title), t->digits < 0 ? "%llu event%s from %llu" :
		   "%llu event%s from %llu.%s s", t->events, t->events == 1 ? "" : "s",
		   (unsigned long long)t->begin / (t->digits < 0 ? 1 : 1000000000), micro + 1);
	svg_begin(LEFT + WIDTH + RIGHT, height + comments_room(&t->comments), title);
	draw_axis(t, height);
	for (size_t i = 0; i < shown; i++)
		draw_lane(t, (struct lane *)t->lanes.v[i], HEAD + LANE * i);
	if (shown < t->lanes.n) {
		str_format(title, sizeof(title),
			   "%zu lanes more, with less in them, are not shown",
			   t->lanes.n - shown);
		svg_label(LEFT, height - 24, title, strlen(title), SIZE_MAX);
	}
	comments_draw(&t->comments, height + comments_room(&t->comments) - 6);
	svg_end();
}

int main(int argc, char **argv)
{
	static struct timeline t = {
		.most = 64, .begin = UINT64_MAX,
		.lanes = { .size = sizeof(struct lane) },
		.names = { .size = sizeof(struct table_entry) },
		.running = { .size = sizeof(struct running) },
	};
	static struct line_reader in;
	char *line;
	ssize_t n;
	int c;

	while ((c = opt_next(&tool, argc, argv)) != -1)
		if (c == 'c')
			t.by_cpu = 1;
		else if (text_number(opt_value, 1, 1000000, &t.most) < 0)
			usage_error(&tool, "not a number: '%.80s'", opt_value);
	if (argv[opt_index])
		usage_error(&tool, "unexpected operand '%.80s'", argv[opt_index]);

	confine();
	signal(SIGINT, SIG_IGN);
	while ((n = line_read(&in, &line)) >= 0)
		read_line(&t, line, (size_t)n);
	if (in.failed)
		return REFUSED;
	if (!t.events)
		return NO;
	table_sort(&t.lanes, by_most);
	if (t.lanes.n)
		qsort(t.lanes.v, t.lanes.n < t.most ? t.lanes.n : t.most,
		      sizeof(*t.lanes.v), by_first);
	draw(&t);
	stdout_flush();
	return DONE;
}
