/* SPDX-License-Identifier: ISC */
/*
 * tfs-timeline - draw a trace as a timeline, in SVG
 *
 * Requires: only a trace on standard input, as text or lines of JSON.
 * A bar of a lane shows from one sched_switch or wake-up to the next what its task did: it
 * ran, waited for a CPU, was blocked or asleep. A narrow bar shows a latency: a line
 * with lat=MICROSECONDS, as tfs-latency prints it, ends such a bar. Any other event is a
 * tick; a wake-up is one only if no bar shows the wait. An arrow goes from a task to one that it
 * wakes, for the longest waits. The threads of a process are below
 * each other. If a picture has more than 10,000 marks and several of a lane begin in the same
 * pixel, tfs-timeline draws the longest, at least as wide as the pixel. Its tooltip counts the
 * others. tfs-timeline ignores SIGINT, so that the program that makes the trace can finish first.
 * Exit: 0 done, 1 no event, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "help.h"
#include "answers/answers.h"
#include "seen/seen.h"
#include "draw/draw.h"
#include "strangers.h"

static const char *title = "Timeline";
static int all_tasks, by_cpu;
static unsigned long most = 64;

static const struct tool tool = {
	TOOL_TFS_TIMELINE,
	.places = (const struct opt_place[]){
		{ 'a', .flag = &all_tasks }, { 'c', .flag = &by_cpu }, { 'n', .number = &most },
		{ 'T', .text = &title }, { 0 },
	},
};

/* In pixels: the label of a lane, the marks, right of the marks, the head, the foot, a lane. */
enum { LEFT = 190, WIDTH = 1000, RIGHT = 36, HEAD = 94, FOOT = 58, LANE = 20 };

enum {
	EACH_MARK = 10000,      /* draw all marks if there are not more than these */
	ARROWS = 1000,          /* the most arrows of a picture */
	SEEN_ARROWS = 50,       /* the most arrows that are shown at a time */
	SEEN_WAIT = 10,         /* pixels of the shortest wait with such an arrow; as in svg.js */
	CLONE_THREAD = 0x10000,
};

/* The marks of a lane, in the order in which they are drawn. */
enum kind {
	NONE = WAIT_NONE, ASLEEP = WAIT_ASLEEP, BLOCKED = WAIT_BLOCKED, WAITED = WAIT_RUNNABLE,
	RAN, CALLED, TOOK, TICK, WOKE, KINDS
};

struct mark {
	uint64_t from, to;
	const char *name;       /* memory of an entry of timeline.names; of a wait: who ended it */
	enum kind kind;
};

/* A task wakes another one. */
struct arrow {
	const struct row *from, *to;
	uint64_t time, begin;   /* begin: the woken task runs */
	uint64_t wait;          /* how long it had waited */
};

/* The lane of a task or a CPU in the picture. */
struct row {
	struct lane lane;
	const char *label;      /* the last name of its task */
	struct mark *v;
	size_t n, room;
	uint64_t first;         /* begin of the earliest mark */
	size_t arrow;           /* the number of the arrow to its next begin, from 1 on; 0: none */
	uint64_t y;             /* in the picture; 0: not shown */
	const char *task_name;  /* of the task that runs on a CPU */
	struct row *process;    /* its first thread; NULL: unknown */
	/* of the first thread of a process */
	size_t threads;         /* rows of the process */
	uint64_t process_first; /* begin of their earliest mark */
};

struct timeline {
	struct input in;
	struct slices slices;   /* whose lanes are rows */
	struct table names;
	struct strangers strangers;
	struct arrow *arrow;
	size_t arrows, arrows_room;
	size_t left_out, marks;
	int switches;           /* the trace has any */
	int used[KINDS];
	struct strbuf words;
	uint64_t begin, end;
	int digits;             /* after the point of the trace's times; -1: a clock that counts */
	unsigned long long events;
};

/* ---- read the trace -------------------------------------------------------------------- */

/* Return a copy of t->words that lives as long as the timeline; one copy for each name. */
static const char *keep_words(struct timeline *t)
{
	return ((struct table_entry *)table_at(&t->names, t->words.text, t->words.n))->key;
}

/* Begin t->words with "HOST ", if dt-join has put a host before the line. */
static void begin_with_host(struct timeline *t, const struct seen *l)
{
	t->words.n = 0;
	if (l->host.n)
		strbuf_format(&t->words, "%.*s ", (int)l->host.n, l->host.text);
}

/* Return the label of a task, COMM-PID. */
static const char *task_label(struct timeline *t, const struct seen *l,
			      struct text_part comm, struct text_part pid)
{
	begin_with_host(t, l);
	seen_add_string(&t->words, l, comm.n ? comm : (struct text_part){ "?", 1 });
	strbuf_format(&t->words, "-%.*s", (int)pid.n, pid.text);
	return keep_words(t);
}

static const char *cpu_label(struct timeline *t, const struct seen *l)
{
	begin_with_host(t, l);
	strbuf_format(&t->words, "cpu %.*s", (int)l->cpu.n, l->cpu.text);
	return keep_words(t);
}

/* Return the row of a task of the line's host. */
static struct row *row_of(struct timeline *t, const struct seen *l, struct text_part pid)
{
	return (struct row *)slices_lane(&t->slices, &t->slices.tasks, l, pid);
}

static void add_mark(struct timeline *t, struct row *l, const char *label, struct mark m)
{
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

/*
 * Add a mark for the task that leaves the CPU, from the switch to it until now, if the trace has
 * that switch. The idle task, pid 0, gets none.
 */
static void read_switch(struct timeline *t, const struct seen *l, uint64_t now)
{
	const struct slices *s = &t->slices;
	struct row *cpu = (struct row *)s->cpu, *next = (struct row *)s->other;

	if (s->ran) {
		const char *label = cpu_label(t, l);
		struct mark m = { s->ran_from, now, by_cpu ? cpu->task_name : label, RAN };

		/* the task may have another name now, after an exec */
		add_mark(t, by_cpu ? cpu : (struct row *)s->task, by_cpu ? label :
			 task_label(t, l, seen_text(l, "prev_comm"),
				    seen_text(l, "prev_pid")), m);
	}
	cpu->task_name = task_label(t, l, seen_text(l, "next_comm"),
				    seen_text(l, "next_pid"));
	if (next && next->arrow)
		t->arrow[next->arrow - 1].begin = now;
	if (next)
		next->arrow = 0;
}

/* Note the arrow from the task that wakes another one. Return who ended its wait. */
static const char *read_waker(struct timeline *t, const struct seen *l, uint64_t now)
{
	const struct slices *s = &t->slices;
	struct row *task = (struct row *)s->other, *waker = (struct row *)s->waker;

	if (waker && waker != task && !by_cpu) {
		t->arrow = xgrow(t->arrow, t->arrows, &t->arrows_room, sizeof(*t->arrow));
		t->arrow[t->arrows] = (struct arrow){ waker, task, now, now, now - s->waited_from };
		task->arrow = ++t->arrows;
	}
	return waker ? task_label(t, l, l->comm, l->pid) : "interrupt";
}

/* Add a mark for the wait that ends with the switch or the wake-up. */
static void read_wait(struct timeline *t, const struct seen *l, uint64_t now)
{
	const struct slices *s = &t->slices;
	int wakes = s->wakes > 0;
	const char *who = wakes ? read_waker(t, l, now) : "";

	if (now > s->waited_from && !by_cpu)
		add_mark(t, (struct row *)s->other, wakes ?
			 task_label(t, l, seen_text(l, ".comm"), seen_text(l, ".pid")) :
			 ((struct row *)s->cpu)->task_name,
			 (struct mark){ s->waited_from, now, who, (enum kind)s->waited });
}

/*
 * Note the process of a task: the trace has a column of thread groups, or tells that the
 * task is a new thread.
 */
static void read_process(struct timeline *t, const struct seen *l)
{
	struct row *parent, *task;
	struct text_part flags;
	uint64_t bits;

	if (l->tgid.n && *l->tgid.text != '-')
		row_of(t, l, l->pid)->process = row_of(t, l, l->tgid);
	if (!text_part_is(l->event, "task_newtask") || !seen_text(l, ".pid").n)
		return;
	flags = seen_text(l, "clone_flags");
	if (flags.n > 2 && !memcmp(flags.text, "0x", 2))
		flags = (struct text_part){ flags.text + 2, flags.n - 2 };
	parent = row_of(t, l, l->pid);
	if (!parent->process)
		parent->process = parent;
	task = row_of(t, l, seen_text(l, ".pid"));
	task->process = !text_part_number(flags, 16, &bits) && (bits & CLONE_THREAD) ?
			parent->process : task;
}

/* After lost events, the running tasks and the states are unknown until the next switch. */
static void read_gap(struct timeline *t)
{
	struct row *row;

	slices_gap(&t->slices);
	for (size_t i = 0; (row = table_next(&t->slices.tasks, &i));)
		row->arrow = 0;
}

/* Add the mark of an event, or of the latency that it ends. */
static void read_event(struct timeline *t, const struct seen *l, uint64_t now, uint64_t lat)
{
	int switched = t->slices.wakes < 0, call = seen_is_call(l);
	/* the latency of a switch is the wait of the task that the CPU switches to */
	struct text_part comm = switched ? seen_text(l, "next_comm") : l->comm;
	struct text_part pid = switched ? seen_text(l, "next_pid") : l->pid;
	const char *label;
	struct mark m = { lat < now ? now - lat : 0, now, NULL, lat ? TOOK : TICK };

	if (m.kind == TICK && !by_cpu && t->slices.wakes > 0)
		m.kind = WOKE;
	if (call) /* its time is that of its beginning */
		m = (struct mark){ now, now + lat, NULL, lat ? CALLED : TICK };
	label = by_cpu ? cpu_label(t, l) : task_label(t, l, comm, pid);
	strbuf_puts(strbuf_empty(&t->words), call ? "" : l->prefix);
	strbuf_add(&t->words, l->event.text, l->event.n);
	m.name = keep_words(t);
	add_mark(t, by_cpu ? (struct row *)t->slices.cpu : row_of(t, l, pid), label, m);
}

static void read_line(struct timeline *t)
{
	const struct text_part none = { "-", 1 };
	struct seen *l = &t->in.l;
	uint64_t now, lat;
	int digits;

	if (!input_event(&t->in) || seen_time(l, &now, &digits) < 0) {
		if (comments_is_gap(t->in.line))
			read_gap(t);
		strangers_comment(&t->strangers, t->in.line);
		comments_keep(&t->in.comments, t->in.line);
		return;
	}
	l->cpu = l->cpu.n ? l->cpu : none;
	l->pid = l->pid.n ? l->pid : none;
	t->events++;
	t->digits = digits;
	slices_take(&t->slices, l, now);
	if (!all_tasks)
		strangers_read(&t->strangers, l);
	read_process(t, l);
	if (t->slices.wakes < 0)
		read_switch(t, l, now);
	if (t->slices.waited)
		read_wait(t, l, now);
	lat = t->slices.wakes >= 0 || t->slices.measured ? seen_latency(l, digits) : 0;
	t->switches |= t->slices.wakes < 0;
	if (t->slices.wakes >= 0 || lat)
		read_event(t, l, now, lat);
	if (now < t->begin)
		t->begin = now;
	if (now > t->end)
		t->end = now;
}

/* ---- choose and sort the lanes --------------------------------------------------------- */

static int by_most(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	return x->n != y->n ? ASCENDING(y->n, x->n) : table_by_key(a, b);
}

/* Return the first thread of the lane's process, or the lane itself. */
static struct row *leader(struct row *l)
{
	return l->process ? l->process : l;
}

/*
 * Compare two lanes by the earliest mark of their processes. In one process, the first thread comes
 * first, and then the thread with the earliest mark.
 */
static int by_first(const void *a, const void *b)
{
	struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	struct row *px = leader(x), *py = leader(y);

	if (px != py)
		return px->process_first != py->process_first ?
		       ASCENDING(px->process_first, py->process_first) :
		       strcmp(px->lane.entry.key, py->lane.entry.key);
	if (x == px || y == py)
		return x == px ? -(x != y) : 1;
	return x->first != y->first ? ASCENDING(x->first, y->first) : table_by_key(a, b);
}

/* Remove the wake-ups from the lane if the trace has switches: bars show the waits. */
static void remove_wakeups(const struct timeline *t, struct row *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].kind != WOKE || !t->switches)
			l->v[kept++] = l->v[i];
	l->n = kept;
}

/* Keep the lanes with marks of tasks that the session traced in v. Return how many stay. */
static size_t choose_lanes(struct timeline *t, struct row **v, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i]->n && !by_cpu && !all_tasks &&
		    strangers_has(&v[i]->lane))
			t->left_out += !lane_is_idle(&v[i]->lane);
		else if (v[i]->n)
			v[kept++] = v[i];
	return kept;
}

/* Sort n lanes by process and time. */
static void sort_lanes(struct row **v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct row *p = leader(v[i]);

		if (!p->threads++ || v[i]->first < p->process_first)
			p->process_first = v[i]->first;
	}
	array_sort(v, n, sizeof(*v), by_first);
}

/* ---- draw the lanes -------------------------------------------------------------------- */

/* Return the last kind of those that are never at the same time, or the kind itself. */
static enum kind layer(const struct mark *m)
{
	return m->kind < RAN ? RAN : m->kind;
}

static int by_layer(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;
	int r = ASCENDING(layer(x), layer(y));

	r = r ? r : ASCENDING(x->from, y->from);
	r = r ? r : ASCENDING(x->to, y->to);
	return r ? r : strcmp(x->name, y->name);
}

/* Return the place of a time, in hundredths of a pixel from the left. */
static uint64_t across(const struct timeline *t, uint64_t time)
{
	double all = (double)(t->end - t->begin);

	return LEFT * 100 + (uint64_t)(all > 0 ? (double)(time - t->begin) / all *
				       (WIDTH * 100) : 0);
}

/* Return the index of the largest unit of a time. A clock that counts has only one. */
static unsigned unit_of(const struct timeline *t, uint64_t time)
{
	return t->digits < 0 ? 0 : svg_time_unit(time);
}

/* Append a time as svg_time does, or the count of a clock that counts. */
static void put_time(const struct timeline *t, struct strbuf *w, uint64_t time, unsigned u,
		     int digits)
{
	if (t->digits < 0)
		strbuf_format(w, "%llu", (unsigned long long)time);
	else
		svg_time(w, time, u, digits);
}

static void draw_mark(struct timeline *t, const struct mark *m, size_t more, uint64_t y)
{
	static const struct { unsigned top, height; const char *kind; } looks[KINDS] = {
		[ASLEEP] = { 9, 2, "s" }, [BLOCKED] = { 5, 10, "b" }, [WAITED] = { 5, 10, "w" },
		[RAN] = { 2, 16, "r" }, [CALLED] = { 2, 16, "l" },
		[TOOK] = { 14, 5, "l" }, [TICK] = { 0, 7, "e" }, [WOKE] = { 0, 7, "e" },
	};
	uint64_t x = across(t, m->from), width = across(t, m->to) - x;
	uint64_t from = m->from - t->begin, time = m->to - m->from;
	/* one mark for several states is at least a pixel wide, so that no gap shows */
	uint64_t least = more && layer(m) == RAN ? (t->end - t->begin) / WIDTH : 0;
	const char *name = m->kind < RAN ? task_wait_names[m->kind] : m->name;
	size_t n = strlen(name);
	struct strbuf *w = &t->words;

	t->used[m->kind] = 1;
	strbuf_format(strbuf_empty(w), "<g class='%s", looks[m->kind].kind);
	if (m->kind == CALLED || (by_cpu && m->kind == RAN))
		strbuf_format(w, " p%u", svg_shade(name, n, 8));
	svg_item(w, from, time > least ? time : least);
	svg_text(w, name, n, SIZE_MAX);
	strbuf_puts(w, " at ");
	put_time(t, w, from, unit_of(t, from), -1);
	if (m->kind < TICK) {
		strbuf_puts(w, ", ");
		put_time(t, w, time, unit_of(t, time), -1);
	}
	if (m->kind < RAN && *m->name) {
		strbuf_puts(w, ", woken by ");
		svg_text(w, m->name, strlen(m->name), SIZE_MAX);
	}
	if (more)
		strbuf_format(w, ", and %zu more", more);
	strbuf_puts(w, "</title>");
	svg_rect(w, x, (y + looks[m->kind].top) * 100,
		 least && width < 100 ? 100 : m->kind >= TICK || width < 50 ? 50 : width,
		 looks[m->kind].height * 100);
	strbuf_puts(w, "/>");
	/* the name is never cut; the tooltip has it as well */
	if ((m->kind == RAN || m->kind == CALLED) && width > n * SVG_LETTER + 600)
		svg_text_at(w, x + 300, (y + 14) * 100, name, n, SIZE_MAX);
	strbuf_puts(w, "</g>\n");
	stdout_print("%s", w->text);
}

/* Return whether both marks are of the same layer and begin in the same pixel. */
static int same_pixel(const struct timeline *t, const struct mark *a, const struct mark *b)
{
	return t->marks > EACH_MARK && layer(a) == layer(b) &&
	       across(t, a->from) / 100 == across(t, b->from) / 100;
}

/* Draw a label of a row: the name of a process, or of a lane. */
static void draw_label(struct timeline *t, const char *kind, unsigned x, uint64_t y,
		       const char *text, size_t n)
{
	struct strbuf *w = &t->words;

	strbuf_format(strbuf_empty(w), "<g class='label%s'><title>", kind);
	svg_text(w, text, n, SIZE_MAX);
	strbuf_puts(w, "</title>");
	svg_text_at(w, x * 100, (y + 14) * 100, text, n, (LEFT - 8 - x) * 100 / SVG_LETTER);
	stdout_print("%s</g>\n", w->text);
}

static void draw_lane(struct timeline *t, struct row *l, uint64_t y)
{
	size_t i, j;

	draw_label(t, "", leader(l)->threads > 1 ? 22 : 10, y, l->label, strlen(l->label));
	array_sort(l->v, l->n, sizeof(*l->v), by_layer);
	for (i = 0; i < l->n; i = j) {
		const struct mark *longest = &l->v[i];

		for (j = i + 1; j < l->n && same_pixel(t, &l->v[i], &l->v[j]); j++)
			if (l->v[j].to - l->v[j].from > longest->to - longest->from)
				longest = &l->v[j];
		draw_mark(t, longest, j - i - 1, y);
	}
}

/*
 * Draw the lines down to bottom, or with bottom 0 the labels at y, of the round times: 1, 2 or 5
 * times a power of ten. As in svg.js, all labels have the same unit.
 */
static void draw_axis(struct timeline *t, uint64_t y, uint64_t bottom)
{
	uint64_t all = t->end - t->begin, step = 1, time;
	unsigned u = unit_of(t, all);
	int digits = 3 * (int)u;
	struct strbuf *w = &t->words;

	for (unsigned i = 0; all / step > 10; i++)
		step = i % 3 == 1 ? step / 2 * 5 : step * 2;
	for (uint64_t part = 10; digits && part <= step; part *= 10)
		digits--;
	for (time = 0; time <= all; time += step) {
		strbuf_puts(strbuf_empty(w), bottom ? "<path d='M" : "<text x='");
		svg_number(w, across(t, t->begin + time));
		if (bottom) {
			strbuf_format(w, " %dV%llu'/>\n", HEAD - 4, (unsigned long long)bottom);
		} else {
			strbuf_format(w, "' y='%llu'>", (unsigned long long)y);
			put_time(t, w, time, u, digits);
			strbuf_puts(w, "</text>\n");
		}
		stdout_print("%s", w->text);
		if (all - time < step)
			break;
	}
}

static void draw_labels(struct timeline *t, uint64_t place, uint64_t y)
{
	stdout_print("<g class='axis' data-y='%llu'>\n", (unsigned long long)place);
	draw_axis(t, y, 0);
	stdout_print("</g>\n");
}

/* Does this lane begin a process of several lanes? */
static int begins_process(struct row *const *v, size_t i)
{
	return leader(v[i])->threads > 1 && !(i && leader(v[i - 1]) == leader(v[i]));
}

/* Draw the rows: a heading for each process of several lanes, and the lanes. */
static void draw_rows(struct timeline *t, struct row **v, size_t n)
{
	uint64_t y = HEAD;

	for (size_t i = 0; i < n; i++) {
		if (begins_process(v, i)) {
			/* the first lane is that of the first thread, if that has a lane */
			const char *label = v[i]->label, *key = leader(v[i])->lane.entry.key;
			struct strbuf name = { 0 };

			strbuf_format(&name, "%.*s (%s)", (int)(strrchr(label, '-') - label), label,
				      strrchr(key, '\t') + 1);
			draw_label(t, " group", 10, y, name.text, name.n);
			free(name.text);
			y += LANE;
		}
		v[i]->y = y;
		draw_lane(t, v[i], y);
		y += LANE;
	}
}

/* The longest wait first. */
static int by_wait(const void *a, const void *b)
{
	const struct arrow *x = a, *y = b;

	return x->wait != y->wait ? ASCENDING(y->wait, x->wait) : ASCENDING(x->time, y->time);
}

/* Draw the arrows of the longest waits, and show those of waits that can be seen well. */
static void draw_arrows(struct timeline *t)
{
	uint64_t least = (t->end - t->begin) / (WIDTH / SEEN_WAIT);
	struct strbuf *w = &t->words;
	unsigned n = 0;

	array_sort(t->arrow, t->arrows, sizeof(*t->arrow), by_wait);
	for (size_t i = 0; i < t->arrows && n < ARROWS; i++) {
		const struct arrow *a = &t->arrow[i];
		int down = a->to->y > a->from->y;
		unsigned long long time = a->time - t->begin, from = a->from->y + (down ? 18 : 2);
		unsigned long long to = a->to->y + (down ? 2 : 18);

		if (!a->from->y || !a->to->y)
			continue;
		strbuf_format(strbuf_empty(w), "<path class='a' data-f='%llu' data-t='%llu' "
			      "data-n='%llu' data-y='%llu %llu' d='M", time,
			      (unsigned long long)(a->begin - t->begin),
			      (unsigned long long)a->wait, from, to);
		svg_number(w, across(t, a->time));
		strbuf_format(w, " %lluL", from);
		svg_number(w, across(t, a->begin));
		strbuf_format(w, " %llu%s'%s><title>", to,
			      down ? "m-3 -5l3 5l3 -5" : "m-3 5l3 -5l3 5",
			      n < SEEN_ARROWS && a->wait >= least ? "" : " display='none'");
		svg_text(w, a->from->label, strlen(a->from->label), SIZE_MAX);
		strbuf_puts(w, " wakes ");
		svg_text(w, a->to->label, strlen(a->to->label), SIZE_MAX);
		strbuf_puts(w, " at ");
		put_time(t, w, time, unit_of(t, time), -1);
		strbuf_puts(w, ", after ");
		put_time(t, w, a->wait, unit_of(t, a->wait), -1);
		stdout_print("%s</title></path>\n", w->text);
		n++;
	}
	t->used[WOKE] |= n != 0;
}

/* Say how many lanes are not shown, and how many tasks are left out. */
static void draw_rest(struct timeline *t, size_t more, uint64_t y)
{
	struct strbuf *w = &t->words;

	w->n = 0;
	if (more)
		strbuf_format(w, "%zu lanes more, with less in them, are not shown; ", more);
	if (t->left_out)
		strbuf_format(w, t->left_out == 1 ?
			      "%zu task that was not traced is left out; " :
			      "%zu tasks that were not traced are left out; ", t->left_out);
	if (w->n)
		svg_label(10, y, w->text, w->n - 2, SIZE_MAX);
}

/* Draw the head: how many events there are, and what the kinds of marks mean. */
static void draw_head(struct timeline *t, const struct svg_picture *p)
{
	unsigned long long begin = t->begin, second = 1000000000;
	struct strbuf *w = &t->words;

	strbuf_format(strbuf_empty(w), "%llu event%s from ", t->events, t->events == 1 ? "" : "s");
	strbuf_format(w, t->digits < 0 ? "%llu" : "%llu.%06llu s",
		      t->digits < 0 ? begin : begin / second, begin % second / 1000);
	svg_picture_head(p, w->text, (const struct svg_key []){
		{ by_cpu ? "p0" : "r", by_cpu ? "task, coloured by name" : "running",
		  t->used[RAN] },
		{ "w", "waiting for a CPU", t->used[WAITED] },
		{ "b", "blocked, as on disk", t->used[BLOCKED] },
		{ "s", "asleep", t->used[ASLEEP] },
		{ "p0", "system call, coloured by name", t->used[CALLED] },
		{ "l", "latency", t->used[TOOK] },
		{ "e", "event", t->used[TICK] || (t->used[WOKE] && !t->switches) },
		{ "a", "wake-up", t->used[WOKE] && t->switches },
	}, 8);
	draw_labels(t, HEAD - 8, HEAD - 8);
	svg_picture_end();
}

static void draw(struct timeline *t)
{
	struct table *lanes = by_cpu ? &t->slices.cpus : &t->slices.tasks;
	struct row **v = (struct row **)lanes->v;
	size_t all, shown, rows;
	struct svg_picture p = { .kind = "lanes", .title = title, .left = LEFT, .head = HEAD - 4,
				 .width = LEFT + WIDTH + RIGHT, .digits = t->digits };
	unsigned long long bottom;

	for (size_t i = 0; i < lanes->room; i++)
		if (v[i])
			remove_wakeups(t, v[i]);
	strangers_decide(&t->strangers);
	table_sort(lanes, by_most);
	all = choose_lanes(t, v, lanes->n);
	shown = rows = all < most ? all : most;
	sort_lanes(v, shown);
	for (size_t i = 0; i < shown; i++) {
		t->marks += v[i]->n;
		rows += (size_t)begins_process(v, i);
	}
	bottom = HEAD + LANE * rows;
	p.height = bottom + FOOT + comments_room(&t->in.comments);
	p.length = t->end - t->begin;
	svg_picture_begin(&p);
	for (size_t i = 1; i < rows; i += 2)
		stdout_print("<rect class='odd' y='%llu' width='100%%' height='%d'/>\n",
			     (unsigned long long)(HEAD + LANE * i), LANE);
	stdout_print("<g class='grid' data-top='%d' data-bottom='%llu'>\n", HEAD - 4, bottom);
	draw_axis(t, 0, bottom);
	stdout_print("</g>\n");
	draw_labels(t, bottom + 14, bottom + 14);
	draw_rows(t, v, shown);
	draw_arrows(t);
	draw_rest(t, all - shown, bottom + 32);
	comments_draw(&t->in.comments, p.height - 8);
	draw_head(t, &p);
}

static struct timeline t; /* large; an initializer would put it into the program's file */

static void each(void)
{
	read_line(&t);
}

int main(int argc, char **argv)
{
	t.begin = UINT64_MAX;
	t.slices.tasks.size = t.slices.cpus.size = sizeof(struct row);
	t.strangers.slices = &t.slices;
	t.names.size = sizeof(struct table_entry);
	opt_next(&tool, argc, argv);
	input_file(&t.in, &tool, argv + opt_index);
	input_each(&t.in, each);
	comments_end(&t.in.comments);
	if (!t.events) {
		comments_tell(&t.in.comments);
		return err_no("no event in the trace");
	}
	draw(&t);
	stdout_flush();
	return DONE;
}
