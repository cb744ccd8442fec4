/* SPDX-License-Identifier: ISC */
/*
 * tfs-timeline - draw a trace as a timeline, in SVG
 *
 * Requires: only a trace on standard input, as text or lines of JSON.
 * A bar of a lane shows from one sched_switch or wake-up to the next what its task did: it
 * ran, waited for a processor, was blocked or asleep. A narrow bar shows a latency: a line
 * with lat=MICROSECONDS, as tfs-latency prints it, ends such a bar. Any other event is a
 * tick. The threads of a process are below each other. If a picture has more than 10,000
 * marks and several of a lane begin in the same pixel, tfs-timeline draws the longest,
 * whose tooltip counts the others. tfs-timeline ignores SIGINT, so that the program that
 * makes the trace can finish first.
 * Exit: 0 done, 1 no event, 100 usage error, 111 refused.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lines/lines.h"
#include "draw/draw.h"
#include "strangers.h"

static const struct tool tool = {
	.name = "tfs-timeline",
	.help =
		"tfs-timeline [-a] [-c] [-n LANES] [-T TITLE]\n"
		"draw a trace as a timeline, in SVG\n"
		"-a  draw all tasks, not only the traced tasks\n"
		"-c  draw a lane for each processor instead of each task\n"
		"-n LANES  draw at most LANES lanes, those with most marks; default 64\n"
		"-T TITLE  set the title of the picture\n",
};

/* In pixels: the label of a lane, the marks, the head, below the lanes, a lane. */
enum { LEFT = 190, WIDTH = 1000, RIGHT = 36, HEAD = 94, FOOT = 58, LANE = 20 };

/* Draw all marks if there are not more than these. */
enum { EACH_MARK = 10000 };

/* The marks of a lane, in the order in which they are drawn. */
enum kind { NONE, ASLEEP, BLOCKED, WAITED, RAN, TOOK, TICK, KINDS };

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
	const char *process;    /* "HOST TGID" of timeline.names, or NULL */
	uint64_t process_first; /* begin of the earliest mark of the process */
	size_t threads;         /* lanes of the process */
	int leader;             /* the first thread of its process */
};

static const enum kind kinds_of_wait[] = {
	[WAIT_NONE] = NONE, [WAIT_ASLEEP] = ASLEEP, [WAIT_BLOCKED] = BLOCKED,
	[WAIT_RUNNABLE] = WAITED,
};

/* The state of a task that does not run, and the time at which that state began. */
struct task_state {
	struct table_entry entry;
	enum kind kind;
	uint64_t since;
	const char *process;    /* as in struct lane */
	/* if the task is the first thread of a process: its lanes, and their earliest mark */
	size_t threads;
	uint64_t first;
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
	int by_cpu, all;
	const char *title;
	unsigned long most;
	struct table lanes, names, running, states;
	struct strangers strangers;
	size_t left_out, marks;
	int used[KINDS];
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

/* Return the state of a task of the line's host. */
static struct task_state *state_of(struct timeline *t, const struct trace_line *l,
				   struct text_part pid)
{
	begin_with_host(t, l);
	strbuf_add(&t->words, pid.text, pid.n);
	return table_at(&t->states, t->words.text, t->words.n);
}

/*
 * The task's state ends now, and another one, or NONE, begins. Add a mark for the state, if
 * label is the label of the task.
 */
static void change_state(struct timeline *t, const struct trace_line *l, struct text_part pid,
			 const char *label, uint64_t now, enum kind kind)
{
	static const char *const names[] = { "", "asleep", "blocked", "waiting" };
	struct task_state *s;

	if (t->by_cpu || !pid.n || (pid.n == 1 && *pid.text == '0'))
		return;
	s = state_of(t, l, pid);
	if (s->kind && label && now > s->since)
		add_mark(t, l, pid, label, (struct mark){ s->since, now, names[s->kind], s->kind });
	s->kind = kind;
	s->since = now;
}

/*
 * Add a mark for the task that leaves the processor, from the switch to it until now, if
 * the trace has that switch. The idle task, pid 0, gets none.
 */
static void read_switch(struct timeline *t, const struct trace_line *l, uint64_t now)
{
	struct text_part prev = trace_line_key(l, "prev_pid");
	struct text_part next = trace_line_key(l, "next_pid");
	/* if tfs-latency has measured this line, it has left out other switches */
	int some = !!trace_line_key(l, "lat").n;
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
	change_state(t, l, prev, NULL, now,
		     some ? NONE : kinds_of_wait[trace_line_wait(l)]);
	change_state(t, l, next, some ? NULL : r->name, now, NONE);
}

/* The task of a wake-up begins to wait for a processor. */
static void read_wakeup(struct timeline *t, const struct trace_line *l, uint64_t now)
{
	struct text_part pid = trace_line_key(l, ".pid"), comm = trace_line_key(l, ".comm");

	if (!pid.n || t->by_cpu || state_of(t, l, pid)->kind == WAITED)
		return;
	change_state(t, l, pid, task_label(t, l, comm, pid), now, WAITED);
}

/*
 * Note the process of a task: the trace has a column of thread groups, or tells that the
 * task is a new thread.
 */
static void read_process(struct timeline *t, const struct trace_line *l)
{
	struct text_part pid, flags;
	struct task_state *s, *parent;
	uint64_t bits;

	if (l->tgid.n && *l->tgid.text != '-') {
		const char *name = state_of(t, l, l->tgid)->entry.key;

		state_of(t, l, l->pid)->process = name;
	}
	if (!text_part_is(l->event, "task_newtask"))
		return;
	pid = trace_line_key(l, ".pid");
	flags = trace_line_key(l, "clone_flags");
	if (!pid.n)
		return;
	if (flags.n > 2 && !memcmp(flags.text, "0x", 2)) {
		flags.text += 2;
		flags.n -= 2;
	}
	parent = state_of(t, l, l->pid);
	if (!parent->process)
		parent->process = parent->entry.key;
	s = state_of(t, l, pid);
	s->process = !text_part_number(flags, 16, &bits) && (bits & 0x10000) ?
		     parent->process : s->entry.key;
}

static void read_line(struct timeline *t, const char *line, size_t n)
{
	struct text_part lane, comm, pid;
	struct trace_line l;
	const char *label, *name;
	uint64_t now, lat;
	int digits, switched;

	if (!comments_event(&t->comments, &l, line, n) || trace_line_time(&l, &now, &digits) < 0) {
		/* after lost events, the running tasks are unknown until the next switch */
		int gap = comments_is_gap(line);

		for (size_t i = 0; gap && i < t->running.room; i++)
			if (t->running.v[i])
				((struct running *)t->running.v[i])->name = NULL;
		for (size_t i = 0; gap && i < t->states.room; i++)
			if (t->states.v[i])
				((struct task_state *)t->states.v[i])->kind = NONE;
		if (gap)
			strangers_gap(&t->strangers);
		comments_keep(&t->comments, line);
		return;
	}
	if (!l.cpu.n)
		l.cpu = (struct text_part){ "-", 1 };
	t->events++;
	t->digits = digits;
	if (!t->all)
		strangers_read(&t->strangers, &l);
	read_process(t, &l);
	/* a task that has an event runs: the trace does not have the switch to it */
	if (l.pid.n && !(l.pid.n == 1 && *l.pid.text == '0'))
		state_of(t, &l, l.pid)->kind = NONE;
	switched = text_part_is(l.event, "sched_switch");
	if (switched)
		read_switch(t, &l, now);
	else if (trace_line_wakes(&l))
		read_wakeup(t, &l, now);
	lat = trace_line_latency(&l, digits);
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

/* ---- choose and sort the lanes --------------------------------------------------------- */

static int by_most(const void *a, const void *b)
{
	const struct lane *x = *(struct lane *const *)a, *y = *(struct lane *const *)b;

	return x->n != y->n ? x->n < y->n ? 1 : -1 : table_by_key(a, b);
}

static int same_process(const struct lane *x, const struct lane *y)
{
	return x->process && y->process && !strcmp(x->process, y->process);
}

/*
 * Compare two lanes by the earliest mark of their processes, and in a process the first
 * thread first, and then by the earliest mark.
 */
static int by_first(const void *a, const void *b)
{
	const struct lane *x = *(struct lane *const *)a, *y = *(struct lane *const *)b;
	int n;

	if (x->process_first != y->process_first)
		return x->process_first < y->process_first ? -1 : 1;
	n = strcmp(x->process ? x->process : x->entry.key, y->process ? y->process : y->entry.key);
	if (n)
		return n;
	if (x->leader != y->leader)
		return x->leader ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return table_by_key(a, b);
}

/* Remove the lanes of tasks that the session did not trace from v. Return how many stay. */
static size_t without_strangers(struct timeline *t, struct lane **v, size_t n)
{
	size_t kept = 0;

	strangers_decide(&t->strangers);
	for (size_t i = 0; i < n; i++) {
		const char *key = v[i]->entry.key, *pid = strrchr(key, ' ');
		struct trace_line l = { 0 };

		if (pid)
			l.host = (struct text_part){ key, (size_t)(pid - key) };
		pid = pid ? pid + 1 : key;
		if (strangers_has(&t->strangers, &l, (struct text_part){ pid, strlen(pid) }))
			t->left_out++;
		else
			v[kept++] = v[i];
	}
	return kept;
}

/* Sort n lanes by process and time. */
static void sort_lanes(struct timeline *t, struct lane **v, size_t n)
{
	struct task_state *s, *p;

	for (size_t i = 0; i < n; i++) {
		s = t->by_cpu ? NULL : table_find(&t->states, v[i]->entry.key, v[i]->entry.n);
		v[i]->process = s ? s->process : NULL;
		if (!v[i]->process)
			continue;
		v[i]->leader = !strcmp(v[i]->process, v[i]->entry.key);
		p = table_at(&t->states, v[i]->process, strlen(v[i]->process));
		if (!p->threads++ || v[i]->first < p->first)
			p->first = v[i]->first;
	}
	for (size_t i = 0; i < n; i++) {
		p = v[i]->process ? table_at(&t->states, v[i]->process, strlen(v[i]->process)) :
				    NULL;
		v[i]->process_first = p ? p->first : v[i]->first;
		v[i]->threads = p ? p->threads : 1;
	}
	array_sort(v, n, sizeof(*v), by_first);
}

/* ---- draw the lanes -------------------------------------------------------------------- */

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

/* Append the time with its largest unit, or as the number that the clock counts. */
static void put_time(const struct timeline *t, struct strbuf *w, uint64_t time)
{
	static const char *const units[] = { " ns", " us", " ms", " s" };
	uint64_t unit = 1;
	size_t u = 0;
	char text[48], number[32], *end;

	for (; t->digits >= 0 && u < 3 && time / unit >= 1000; u++)
		unit *= 1000;
	/* add a leading digit and replace it by the point: this keeps leading zeros */
	str_format(text, sizeof(text), "%llu", (unsigned long long)(unit + time % unit));
	*text = '.';
	for (end = text + strlen(text); end[-1] == '0'; end--)
		;
	*(end - text > 1 ? end : text) = '\0';
	str_format(number, sizeof(number), "%llu", (unsigned long long)(time / unit));
	strbuf_puts(w, number);
	strbuf_puts(w, text);
	strbuf_puts(w, t->digits < 0 ? "" : units[u]);
}

static void draw_mark(struct timeline *t, const struct mark *m, size_t more, uint64_t y)
{
	static const struct { unsigned top, height; const char *kind; } looks[KINDS] = {
		[ASLEEP] = { 9, 2, "s" }, [BLOCKED] = { 5, 10, "b" }, [WAITED] = { 5, 10, "w" },
		[RAN] = { 2, 16, "r" }, [TOOK] = { 14, 5, "l" }, [TICK] = { 0, 7, "e" },
	};
	uint64_t x = across(t, m->from), width = across(t, m->to) - x;
	struct strbuf *w = &t->words;
	char text[96];

	t->used[m->kind] = 1;
	w->n = 0;
	str_format(text, sizeof(text), "<g class='%s", looks[m->kind].kind);
	strbuf_puts(w, text);
	str_format(text, sizeof(text), " p%u", svg_shade(m->name, strlen(m->name), 8));
	strbuf_puts(w, t->by_cpu && m->kind == RAN ? text : "");
	str_format(text, sizeof(text), "' data-f='%llu' data-n='%llu'><title>",
		   (unsigned long long)(m->from - t->begin), (unsigned long long)(m->to - m->from));
	strbuf_puts(w, text);
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
	svg_attribute(w, "y", (y + looks[m->kind].top) * 100);
	svg_attribute(w, "width", m->kind == TICK ? 50 : width < 50 ? 50 : width);
	svg_attribute(w, "height", looks[m->kind].height * 100);
	strbuf_puts(w, "/>");
	if (m->kind == RAN && width > 600) {
		size_t n = w->n;

		strbuf_puts(w, "<text");
		svg_attribute(w, "x", x + 300);
		svg_attribute(w, "y", (y + 14) * 100);
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
	return t->marks > EACH_MARK && a->kind == b->kind &&
	       across(t, a->from) / 100 == across(t, b->from) / 100;
}

/* Draw a label of a row: the name of a process, or of a lane. */
static void draw_label(struct timeline *t, const char *kind, unsigned x, uint64_t y,
		       const char *text)
{
	struct strbuf *w = &t->words;
	size_t n = strlen(text);

	w->n = 0;
	strbuf_puts(w, "<g class='label");
	strbuf_puts(w, kind);
	strbuf_puts(w, "'><title>");
	svg_text(w, text, n, SIZE_MAX);
	strbuf_puts(w, "</title><text");
	svg_attribute(w, "x", x * 100);
	svg_attribute(w, "y", (y + 14) * 100);
	strbuf_puts(w, ">");
	svg_text(w, text, n, (LEFT - 8 - x) * 100 / SVG_LETTER);
	stdout_print("%s</text></g>\n", w->text);
}

static void draw_lane(struct timeline *t, struct lane *l, uint64_t y)
{
	size_t i, j;

	draw_label(t, "", l->threads > 1 ? 22 : 10, y, l->label);
	array_sort(l->v, l->n, sizeof(*l->v), by_kind);
	for (i = 0; i < l->n; i = j) {
		const struct mark *longest = &l->v[i];

		for (j = i + 1; j < l->n && same_pixel(t, &l->v[i], &l->v[j]); j++)
			if (l->v[j].to - l->v[j].from > longest->to - longest->from)
				longest = &l->v[j];
		draw_mark(t, longest, j - i - 1, y);
	}
}

/*
 * Draw the lines, or the labels at this height, of the round times: 1, 2 or 5 times a power
 * of ten. As in svg.js, all labels have the same unit.
 */
static void draw_axis(struct timeline *t, uint64_t y, uint64_t bottom)
{
	static const char *const units[] = { " ns", " us", " ms", " s" };
	uint64_t all = t->end - t->begin, step = 1, unit = 1, time;
	size_t u = 0;
	char text[48];
	int digits = 0;

	for (unsigned i = 0; all / step > 10; i++)
		step = i % 3 == 1 ? step / 2 * 5 : step * 2;
	for (; t->digits >= 0 && u < 3 && all / unit >= 1000; u++)
		unit *= 1000;
	for (uint64_t part = unit; part > step; part /= 10)
		digits++;
	for (time = 0; time <= all; time += step) {
		uint64_t x = across(t, t->begin + time);
		/* the leading 1 keeps zeros, and is replaced by the point */
		unsigned long long whole = time / unit, part = unit + time % unit;

		t->words.n = 0;
		strbuf_puts(&t->words, bottom ? "<path d='M" : "<text x='");
		svg_number(&t->words, x);
		if (bottom) {
			str_format(text, sizeof(text), " %dV%llu'/>", HEAD - 4,
				   (unsigned long long)bottom);
			strbuf_puts(&t->words, text);
		} else {
			str_format(text, sizeof(text), "' y='%llu'>%llu", (unsigned long long)y,
				   whole);
			strbuf_puts(&t->words, text);
			str_format(text, sizeof(text), "%llu", part);
			*text = '.';
			text[digits ? digits + 1 : 0] = '\0';
			strbuf_puts(&t->words, text);
			strbuf_puts(&t->words, t->digits < 0 ? "" : units[u]);
			strbuf_puts(&t->words, "</text>");
		}
		stdout_print("%s\n", t->words.text);
		if (all - time < step)
			break;
	}
}

/* Does this lane begin a process of several lanes? */
static int begins_process(struct lane *const *v, size_t i)
{
	return v[i]->threads > 1 && !(i && same_process(v[i - 1], v[i]));
}

/* Draw the rows: a heading for each process of several lanes, and the lanes. */
static void draw_rows(struct timeline *t, struct lane **v, size_t n)
{
	uint64_t y = HEAD;

	for (size_t i = 0; i < n; i++) {
		if (begins_process(v, i)) {
			/* the first lane is that of the first thread, if that has a lane */
			const char *dash = strrchr(v[i]->label, '-');
			const char *tgid = strrchr(v[i]->process, ' ');
			struct strbuf *w = &t->words;
			const char *name;

			w->n = 0;
			strbuf_add(w, v[i]->label, (size_t)(dash - v[i]->label));
			strbuf_puts(w, " (");
			strbuf_puts(w, tgid ? tgid + 1 : v[i]->process);
			strbuf_puts(w, ")");
			name = keep_name(t, w->text, w->n);
			draw_label(t, " group", 10, y, name);
			y += LANE;
		}
		draw_lane(t, v[i], y);
		y += LANE;
	}
}

static void draw(struct timeline *t)
{
	struct lane **v = (struct lane **)t->lanes.v;
	size_t all = t->by_cpu || t->all ? t->lanes.n : without_strangers(t, v, t->lanes.n);
	size_t shown = all < t->most ? all : t->most, rows = shown;
	struct svg_picture p = { .kind = "lanes", .title = t->title, .left = LEFT, .head = HEAD - 4,
				 .width = LEFT + WIDTH + RIGHT, .digits = t->digits };
	char text[160], micro[16];
	uint64_t bottom;

	sort_lanes(t, v, shown);
	for (size_t i = 0; i < shown; i++) {
		t->marks += v[i]->n;
		rows += (size_t)begins_process(v, i);
	}
	bottom = HEAD + LANE * rows;
	p.height = bottom + FOOT + comments_room(&t->comments);
	p.length = t->end - t->begin;
	svg_picture_begin(&p);
	for (size_t i = 1; i < rows; i += 2)
		stdout_print("<rect class='odd' y='%llu' width='100%%' height='%d'/>\n",
			     (unsigned long long)(HEAD + LANE * i), LANE);
	stdout_print("<g class='grid' data-top='%d' data-bottom='%llu'>\n", HEAD - 4,
		     (unsigned long long)bottom);
	draw_axis(t, 0, bottom);
	stdout_print("</g>\n<g class='axis' data-y='%llu'>\n", (unsigned long long)bottom + 14);
	draw_axis(t, bottom + 14, 0);
	stdout_print("</g>\n");
	draw_rows(t, v, shown);
	if (shown < all || t->left_out) {
		size_t n = 0;

		if (shown < all)
			n = str_format(text, sizeof(text), "%zu lanes more, with less in them, are "
				       "not shown; ", all - shown);
		if (t->left_out)
			n += str_format(text + n, sizeof(text) - n, t->left_out == 1 ?
					"%zu task that was not traced is left out; " :
					"%zu tasks that were not traced are left out; ",
					t->left_out);
		svg_label(10, bottom + 32, text, n - 2, SIZE_MAX);
	}
	comments_draw(&t->comments, p.height - 8);
	/* add 1000000 to keep the leading zeros of the fraction; the 1 is not printed */
	str_format(micro, sizeof(micro), "%llu",
		   1000000 + (unsigned long long)t->begin % 1000000000 / 1000);
	str_format(text, sizeof(text), t->digits < 0 ? "%llu event%s from %llu" :
		   "%llu event%s from %llu.%s s", t->events, t->events == 1 ? "" : "s",
		   (unsigned long long)t->begin / (t->digits < 0 ? 1 : 1000000000), micro + 1);
	svg_picture_head(&p, text, (const struct svg_key []){
		{ t->by_cpu ? "p0" : "r", t->by_cpu ? "a task" : "running", t->used[RAN] },
		{ "w", "waiting", t->used[WAITED] }, { "b", "blocked", t->used[BLOCKED] },
		{ "s", "asleep", t->used[ASLEEP] }, { "l", "latency", t->used[TOOK] },
		{ "e", "event", t->used[TICK] },
	}, 6);
	stdout_print("<g class='axis' data-y='%d'>\n", HEAD - 8);
	draw_axis(t, HEAD - 8, 0);
	stdout_print("</g>\n");
	svg_picture_end();
}

int main(int argc, char **argv)
{
	static struct timeline t; /* large; an initializer would put it into the program's file */
	static struct line_reader in;
	char *line;
	ssize_t n;
	int c;

	t.title = "Timeline";
	t.most = 64;
	t.begin = UINT64_MAX;
	t.lanes.size = sizeof(struct lane);
	t.names.size = sizeof(struct table_entry);
	t.running.size = sizeof(struct running);
	t.states.size = sizeof(struct task_state);
	while ((c = opt_next(&tool, argc, argv)) != -1)
		if (c == 'a')
			t.all = 1;
		else if (c == 'c')
			t.by_cpu = 1;
		else if (c == 'T')
			t.title = opt_value;
		else if (text_number(opt_value, 1, 1000000, &t.most) < 0)
			usage_error(&tool, "not a number: '%.80s'", opt_value);
	if (argv[opt_index])
		usage_error(&tool, "unexpected operand '%.80s'", argv[opt_index]);

	input_begin();
	while ((n = line_read(&in, &line)) >= 0)
		read_line(&t, line, (size_t)n);
	if (in.failed)
		return REFUSED;
	comments_end(&t.comments);
	for (unsigned i = 0; !t.events && i < t.comments.n; i++)
		err_note("%s", t.comments.line[i]);
	if (!t.events)
		return NO;
	table_sort(&t.lanes, by_most);
	draw(&t);
	stdout_flush();
	return DONE;
}
