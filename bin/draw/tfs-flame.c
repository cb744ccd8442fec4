/* SPDX-License-Identifier: ISC */
/*
 * tfs-flame - draw the stacks of a trace as a flame graph, in SVG
 *
 * Requires: only a trace with stacks on standard input, as text.
 * KEY is any key of tfs-count that the stack's event has; -k may be repeated.
 * tfs-flame counts the stacks of --stack, of the options stacktrace and userstacktrace, and
 * of the function tracer. The outermost function is at the bottom, and the functions of a
 * program are below those of the kernel. The width of a function is the number of stacks
 * that contain it, or with -w the sum of a field of their events. lat of a sched_switch
 * without that field is the time until the task runs again; if its wake-up has a stack, that
 * stack is drawn above it, upside down. Frames narrower than a tenth of a pixel are not drawn.
 * Lines of tfs-diff -f give a picture of two times, in colours for longer and shorter.
 * The functions that make the trace itself are left out. tfs-flame ignores SIGINT, so that
 * the program that makes the trace can finish first.
 * Exit: 0 done, 1 no stack, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "help.h"
#include "seen/seen.h"
#include "draw/draw.h"
#include "strangers.h"
#include "profile.h"

static const char *title = "Flame graph";
static const char *weights;
static int all, folded, pprof, otlp;
static struct opt_list keys = { .v = OPT_LIST("comm") };

static const struct tool tool = {
	TOOL_TFS_FLAME,
	.places = (const struct opt_place[]){
		{ 'a', .flag = &all }, { 'f', .flag = &folded }, { 'p', .flag = &pprof },
		{ 'o', .flag = &otlp },
		{ 'k', .list = &keys }, { 'T', .text = &title }, { 'w', .text = &weights }, { 0 },
	},
};

/*
 * Separates the frames of a stack. No frame contains this byte. It is less than any byte
 * of a frame, so stacks that begin with the same frames are adjacent when sorted.
 */
#define EDGE "\1"

/* The first byte of a frame of a program. No other frame begins with it. */
#define USER '\2'

/* Separates the stack of a task that waits from that of its waker. */
#define WAKER "--"

enum { WIDTH = 1180, LEFT = 10, HEAD = 74, FOOT = 44, FRAME = 16,
       NARROWEST = 10 /* hundredths */ };

/*
 * The key is the pid after the host if the task may be a stranger, then EDGE, and then the
 * frames.
 */
struct stack {
	struct table_entry entry;
	unsigned long long n, weight;
	unsigned long long weighed; /* how many of n have a weight */
	int wakes;              /* it is the stack of a wake-up */
	int64_t more;           /* AFTER minus BEFORE of a line of tfs-diff -f, in ns */
};

/* The last time that a task left a CPU. The key is that of the task. */
struct off {
	struct table_entry entry;
	struct strbuf stack;    /* where the task left it, as the key of a struct stack; or empty */
	struct strbuf waker;    /* what follows: the stack of the wake-up, with an EDGE before it */
	uint64_t since, time;   /* time: 0 until the task runs again */
};

/* The last event of a CPU, as far as it is known, and its stack. */
struct last_event {
	struct lane lane;
	struct strbuf task;     /* the pid after the host, or empty */
	struct strbuf roots;    /* the values of the keys */
	/* an EDGE follows each frame, the innermost is first */
	struct strbuf frames;
	int user;               /* the frames of the program have been read as well */
	uint64_t weight;        /* 0: unknown */
	struct off *off;        /* its time weighs the stack; NULL: none */
	int wakes, hard;        /* it is a wake-up; in a hard interrupt */
};

struct flame {
	struct input in;
	struct table stacks, shown;
	struct table off;       /* struct off, by task */
	char weight[64];        /* the key that weighs; "": none yet */
	struct slices slices;   /* each CPU has a struct last_event */
	struct strangers strangers;
	unsigned long long left_out, unweighed, n; /* numbers of stacks; n are drawn */
	struct last_event *now; /* whose stack is read; NULL: none */
	int user;               /* it is the stack of a program */
	int compares;           /* the lines are those of tfs-diff -f */
	uint64_t from, to;      /* the times of the first event and of the last one */
	int64_t offset;         /* between these and the time of day, if dated */
	int dated;
	struct strbuf key;
};

/* ---- read the trace -------------------------------------------------------------------- */

/* Append a frame, without control characters and semicolons. */
static void add_frame(struct strbuf *w, const char *s, size_t n)
{
	char *end;

	strbuf_add(w, s, n);
	end = w->text + w->n;
	text_mask_controls(end - n, end);
	text_mask_semicolons(end - n, end);
}

/* Make one frame of each key's value; values have tabs between them. */
static void make_roots(struct flame *f, const struct seen *l, struct strbuf *roots)
{
	seen_values(&f->key, l, keys.v);
	roots->n = 0;
	for (char *s = f->key.text, *end; s; s = end ? end + 1 : NULL) {
		end = strchr(s, '\t');
		add_frame(roots, s, end ? (size_t)(end - s) : strlen(s));
		strbuf_puts(roots, EDGE);
	}
}

/* ---- the weight of a stack --------------------------------------------------------------- */

static void add_weight(struct stack *s, uint64_t weight)
{
	s->weight += weight;
	s->weighed += weight != 0;
}

/* Return the value of a key, or 0. */
static uint64_t value_of(const struct seen *l, const char *key, int digits)
{
	struct decimal d;

	if (!strcmp(key, "lat"))
		return seen_latency(l, digits);
	return decimal_parse(&d, seen_text(l, key)) < 0 || d.negative ? 0 : d.whole;
}

/* Does the stack of the event weigh the time until its task runs again? */
static int is_off(const struct seen *l)
{
	return text_part_is(l->event, "sched_switch") && !*l->lat && !seen_text(l, "lat").n;
}

/* Choose the first key of -w that the event has. */
static void choose_weight(struct flame *f, const struct seen *l, int digits)
{
	for (const char *s = weights, *end; s && !*f->weight; s = *end ? end + 1 : NULL) {
		end = s + strcspn(s, ",");
		str_format(f->weight, sizeof(f->weight), "%.*s", (int)(end - s), s);
		if (f->weight[strcspn(f->weight, "<>&'\"")] || /* it goes into the picture */
		    (!value_of(l, f->weight, digits) && (strcmp(f->weight, "lat") || !is_off(l))))
			*f->weight = '\0';
	}
}

static void count_stack(struct flame *f, struct last_event *e);

/* Count the stack of a task that was off the CPU, with that of its wake-up above it. */
static void count_off(struct flame *f, struct off *off)
{
	struct last_event *e;
	struct stack *stack;

	for (size_t i = 0; (e = table_next(&f->slices.cpus, &i));) /* stacks that may go on */
		if (e->off == off)
			count_stack(f, e);
	if (off->stack.n) {
		strbuf_add(&off->stack, off->waker.text, off->waker.n);
		stack = table_at(&f->stacks, off->stack.text, off->stack.n);
		stack->n++;
		add_weight(stack, off->time);
	}
	off->stack.n = off->waker.n = 0;
}

/* Note when a task leaves the CPU, and how long the next task was off the CPU. */
static void read_switch(struct flame *f, const struct seen *l, struct last_event *last,
			uint64_t now)
{
	struct off *off;

	lane_key(&f->key, l, seen_text(l, "next_pid"));
	off = table_find(&f->off, f->key.text, f->key.n);
	if (off && !off->time)
		off->time = now > off->since ? now - off->since : 1;
	if (text_part_is(seen_text(l, "prev_pid"), "0"))
		return;
	lane_key(&f->key, l, seen_text(l, "prev_pid"));
	off = table_at(&f->off, f->key.text, f->key.n);
	count_off(f, off);
	off->since = now;
	off->time = 0;
	last->off = off;
}

/* Find the weight of the stack that follows the event. */
static void weigh(struct flame *f, const struct seen *l, struct last_event *last)
{
	uint64_t now;
	int digits;

	last->weight = 0;
	last->off = NULL;
	last->wakes = seen_wakes(l);
	last->hard = seen_within(l, "hHzZ");
	if (!weights || seen_time(l, &now, &digits) < 0)
		return;
	if (!*f->weight)
		choose_weight(f, l, digits);
	if (!strcmp(f->weight, "lat") && is_off(l)) {
		read_switch(f, l, last, now);
	} else if (last->wakes && f->off.n) {
		lane_key(&f->key, l, seen_text(l, ".pid"));
		last->off = table_find(&f->off, f->key.text, f->key.n);
		if (last->off && last->off->time)
			last->off = NULL;
	} else {
		last->weight = value_of(l, f->weight, digits);
	}
}

static void count_all(struct flame *f)
{
	void *e;

	for (size_t i = 0; (e = table_next(&f->slices.cpus, &i));)
		count_stack(f, e);
	for (size_t i = 0; (e = table_next(&f->off, &i));)
		count_off(f, e);
}

/* Forget the tasks that left a CPU: lost events may have changed what is known of them. */
static void forget_off(struct flame *f)
{
	struct off *off;

	count_all(f);
	for (size_t i = 0; (off = table_next(&f->off, &i));) {
		free(off->stack.text);
		free(off->waker.text);
	}
	table_clear(&f->off);
}

/*
 * Set to to the stack of a wake-up, with its innermost frame first, and then its task. The task
 * that an interrupt has interrupted has nothing to do with the wake-up.
 */
static void put_waker(const struct last_event *e, struct strbuf *to)
{
	/* functions that handle interrupts on x86, arm64 and s390 */
	static const char *const interrupts[] = {
		"asm_sysvec_", "asm_common_interrupt", "apic_timer_interrupt", "ret_from_intr",
		"el0_irq", "el1_irq", "el0t_64_irq", "el1h_64_irq", "ext_int_handler",
		"io_int_handler",
	};
	const char *s = e->frames.text, *end = s + e->frames.n, *next;
	int hard = e->hard;

	strbuf_puts(strbuf_empty(to), EDGE WAKER EDGE);
	for (; s < end; s = next) {
		next = (const char *)memchr(s, *EDGE, (size_t)(end - s)) + 1;
		for (size_t i = 0; i < sizeof(interrupts) / sizeof(*interrupts); i++)
			if (text_part_begins((struct text_part){ s, (size_t)(next - s) },
					     interrupts[i]))
				hard = 1, end = s;
		if (s < end)
			strbuf_add(to, s, (size_t)(next - s));
	}
	if (hard)
		strbuf_puts(to, "interrupt");
	else
		strbuf_add(to, e->roots.text, e->roots.n - 1);
}

/* Count the stack of the event, with the outermost frame first. */
static void count_stack(struct flame *f, struct last_event *e)
{
	const char *text = e->frames.text, *end, *s;
	struct stack *stack;

	if (e->frames.n && e->wakes && e->off) {
		put_waker(e, &e->off->waker);
	} else if (e->frames.n) {
		end = text + e->frames.n;
		strbuf_add(strbuf_empty(&f->key), e->task.text, e->task.n);
		strbuf_puts(&f->key, EDGE);
		strbuf_add(&f->key, e->roots.text, e->roots.n);
		while (end-- > text) { /* end: the EDGE after the frame */
			for (s = end; s > text && s[-1] != *EDGE; s--)
				;
			strbuf_add(&f->key, s, (size_t)(end - s) + (s > text));
			end = s;
		}
		if (e->off) {
			strbuf_add(strbuf_empty(&e->off->stack), f->key.text, f->key.n);
		} else {
			stack = table_at(&f->stacks, f->key.text, f->key.n);
			stack->n++;
			stack->wakes = e->wakes;
			add_weight(stack, e->weight);
		}
	}
	if (e->frames.n)
		e->off = NULL;
	e->frames.n = 0;
	e->user = 0;
}

/* Read a frame of the stack. Any other line ends the stack. */
static void read_frame(struct flame *f, const char *line, size_t n)
{
	/* innermost functions that make the trace itself */
	static const char *const own[] = { "trace_event_raw_event_", "__traceiter_" };
	struct line_frame frame;

	if (!line_frame(&frame, line, n)) {
		f->now = NULL;
		return;
	}
	for (size_t i = 0; !f->now->frames.n && i < sizeof(own) / sizeof(*own); i++)
		if (frame.name.n > strlen(own[i]) && text_part_begins(frame.name, own[i]))
			return;
	/* trace-cmd also prints the unused entries of a program's stack */
	if (!frame.name.n || text_part_is(frame.name, "0x0"))
		return;
	if (f->user || frame.user)
		strbuf_add(&f->now->frames, (const char []){ USER }, 1);
	add_frame(&f->now->frames, frame.name.text, frame.name.n);
	strbuf_puts(&f->now->frames, EDGE);
}

/* Note the time of an event, for the range of a profile. */
static void note_time(struct flame *f, const struct seen *l)
{
	uint64_t now;
	int digits;

	if (seen_time(l, &now, &digits) < 0)
		return;
	if (!f->to || now < f->from)
		f->from = now;
	if (now > f->to)
		f->to = now;
}

/* Read an event, or the title of a stack. */
static void read_event(struct flame *f, int event)
{
	const struct seen *l = &f->in.l;
	struct last_event *last;

	/* a trace of several hosts has several CPUs of the same number */
	last = (struct last_event *)slices_lane(&f->slices, &f->slices.cpus, l, l->cpu);
	f->now = NULL;
	f->user = 0;
	/* the stack of the program follows that of the kernel, and continues it */
	if (event || last->user || l->stack == SEEN_STACK)
		count_stack(f, last);
	if (event) {
		if (otlp)
			note_time(f, l);
		if (!all && strangers_matter(&f->strangers)) {
			slices_take(&f->slices, l, 0);
			strangers_read(&f->strangers, l);
		}
		/* a switch or wake-up of a task that is not traced may be in the trace */
		if (!all && (text_part_is(l->event, "sched_switch") || seen_wakes(l)))
			lane_key(&last->task, l, l->pid);
		else
			last->task.n = 0;
		make_roots(f, l, &last->roots);
		weigh(f, l, last);
		if (l->perf) /* its frames have no title */
			f->now = last;
		return;
	}
	/* the event of the stack is missing: only the stack's own line has keys */
	if (!last->roots.n)
		make_roots(f, l, &last->roots);
	f->user = last->user = l->stack == SEEN_USER_STACK;
	f->now = last;
	/* trace-cmd prints the first frame behind the title */
	if (text_part_begins(l->body, "=> "))
		read_frame(f, l->body.text, l->body.n);
}

/* Read a line of tfs-diff -f, a;b;c BEFORE AFTER in microseconds. Return 0 for another line. */
static int read_compared(struct flame *f)
{
	const char *line = f->in.line, *end = line + f->in.n, *at;
	uint64_t us[2];
	struct stack *s;

	for (int i = 1; i >= 0; i--, end = at) {
		at = memrchr(line, ' ', (size_t)(end - line));
		if (!at || text_part_number((struct text_part){ at + 1, (size_t)(end - at) - 1 },
					    10, &us[i]))
			return 0;
	}
	if (end == line || *line == '#')
		return 0;
	strbuf_add(strbuf_empty(&f->key), line, (size_t)(end - line));
	text_mask_controls(f->key.text, f->key.text + f->key.n);
	for (char *c = f->key.text; (c = strchr(c, ';'));)
		*c = *EDGE;
	s = table_at(&f->shown, f->key.text, f->key.n);
	s->n += (us[0] > us[1] ? us[0] : us[1]) * 1000;
	s->more += ((int64_t)us[1] - (int64_t)us[0]) * 1000;
	f->compares = 1;
	f->n++;
	return 1;
}

static void read_line(struct flame *f)
{
	struct text_part seconds;
	int64_t at;
	int event;

	if ((f->compares || !f->in.comments.lines) && read_compared(f))
		return;
	event = input_event(&f->in);
	if (event || f->in.l.stack) {
		read_event(f, event);
		return;
	}
	if (comments_is_gap(f->in.line)) {
		slices_gap(&f->slices);
		forget_off(f);
	}
	strangers_comment(&f->strangers, f->in.line);
	f->dated |= comments_date(f->in.line, &seconds, &at, &f->offset);
	if (!comments_keep(&f->in.comments, f->in.line) && f->now)
		read_frame(f, f->in.line, f->in.n);
}

/* Move the stacks that are to be drawn to f->shown, without the tasks in their keys. */
static void choose_stacks(struct flame *f)
{
	const struct stack *s;

	strangers_decide(&f->strangers);
	for (size_t i = 0; (s = table_next(&f->stacks, &i));) {
		size_t n = strcspn(s->entry.key, EDGE);
		const struct lane *task;
		struct stack *to;

		/* those of tasks that were not off the CPU */
		if (s->wakes && f->off.n)
			continue;
		task = n ? table_find(&f->slices.tasks, s->entry.key, n) : NULL;
		if (task && strangers_has(task)) {
			f->left_out += s->n;
			continue;
		}
		f->n += *f->weight ? s->weighed : s->n;
		f->unweighed += s->n - s->weighed;
		if (*f->weight && !s->weight)
			continue;
		to = table_at(&f->shown, s->entry.key + n + 1, s->entry.n - n - 1);
		to->n += *f->weight ? s->weight : s->n;
		to->weighed += *f->weight ? s->weighed : s->n;
	}
}

/* ---- draw the stacks ------------------------------------------------------------------- */

/* Return the length of the frame at *s, and move *s to the next frame, or NULL. */
static size_t next_frame(const char **s, const char *end)
{
	const char *edge = memchr(*s, *EDGE, (size_t)(end - *s));
	size_t n = (size_t)((edge ? edge : end) - *s);

	*s = edge ? edge + 1 : NULL;
	return n;
}

static void print_folded(const struct flame *f)
{
	for (size_t i = 0; i < f->shown.n; i++) {
		struct stack *s = (struct stack *)f->shown.v[i];
		char *to = s->entry.key;

		for (const char *p = to; *p; p++)
			if (*p != USER)
				*to++ = *p == *EDGE ? ';' : *p;
		stdout_print("%.*s %llu\n", (int)(to - s->entry.key), s->entry.key, s->n);
	}
	comments_tell(&f->in.comments);
}

/* Print the stacks as a profile: the keys are labels. */
static void print_profile(const struct flame *f, const struct profile_form *to)
{
	const int time = !strcmp(f->weight, "lat");
	const uint64_t offset = (uint64_t)f->offset;

	to->begin(&(const struct profile_head){
		.name = !time ? f->weight : f->off.n && otlp ? "off_cpu" : "time",
		.unit = time ? "nanoseconds" : !strncmp(f->weight, "bytes", 5) ? "bytes" : "count",
		.from = f->dated ? f->from + offset : 0, .to = f->dated ? f->to + offset : 0,
	});
	for (size_t i = 0; i < f->shown.n; i++) {
		const struct stack *s = (const struct stack *)f->shown.v[i];
		const char *p = s->entry.key, *end = p + s->entry.n;
		const char *const *key = keys.v;

		while (p) {
			int program = *p == USER;
			const char *name = p + program;
			struct text_part part = { name, next_frame(&p, end) - (size_t)program };

			if (*key)
				to->label(*key++, part);
			else
				to->function(part, !program);
		}
		to->sample(s->weighed, s->n);
	}
	for (unsigned i = 0; i < f->in.comments.n; i++)
		to->comment(f->in.comments.line[i]);
	to->end();
}

/* A frame that begins at the stack number from, and has not ended yet. */
struct open {
	const char *name;
	size_t n;
	unsigned long long from;
	int64_t more;           /* of the stacks before it */
	int waker;              /* it belongs to the stack of a wake-up */
};

enum kind { KEY, KERNEL, PROGRAM, WOKE, LONGER, SHORTER, SAME, KINDS };

struct drawing {
	unsigned long long total;
	const char *weight;     /* the key that weighs, or "" */
	uint64_t bottom;        /* of the frame "all" */
	struct open *open;      /* depth frames, from the bottom up */
	size_t depth, nkeys;
	int compares;
	int64_t more;           /* of the stacks so far */
	int used[KINDS];
	struct strbuf words;
};

/* Return the place of the n-th stack, in hundredths of a pixel from the left. */
static uint64_t across(const struct drawing *d, unsigned long long n)
{
	return LEFT * 100 + (uint64_t)((double)n * (WIDTH * 100) / (double)d->total);
}

/* Append a number of stacks, or their weight, with its unit. */
static void put_weight(struct strbuf *w, const char *weight, unsigned long long n)
{
	if (!strcmp(weight, "lat"))
		svg_time(w, n, svg_time_unit(n), -1);
	else if (*weight)
		strbuf_format(w, "%llu %s", n, strncmp(weight, "bytes", 5) ? weight : "bytes");
	else
		strbuf_format(w, "%llu stack%s", n, n == 1 ? "" : "s");
}

static void draw_frame(struct drawing *d, const struct open *o, size_t level,
		       unsigned long long to)
{
	uint64_t x = across(d, o->from), width = across(d, to) - x;
	uint64_t y = d->bottom - FRAME * (level + 1);
	unsigned long long n = to - o->from;
	unsigned permille = (unsigned)((double)n * 1000 / (double)d->total);
	const int64_t more = d->more - o->more;
	const unsigned long long off = more < 0 ? 0ull - (uint64_t)more : (uint64_t)more;
	enum kind kind = d->compares ? off < n / 10 ? SAME : more < 0 ? SHORTER : LONGER :
			 level <= d->nkeys ? KEY : o->waker ? WOKE :
			 *o->name == USER ? PROGRAM : KERNEL;
	const char *name = o->name + (*o->name == USER), *end = o->name + o->n, *label = name;
	struct strbuf *w = &d->words;

	if (width < NARROWEST)
		return;
	d->used[kind] = 1;
	strbuf_format(strbuf_empty(w), "<g class='%c", "ckuvbls"[kind]);
	if (kind != KEY && !d->compares)
		strbuf_format(w, "%u", svg_shade(name, (size_t)(end - name), 6));
	svg_item(w, o->from, n);
	svg_text(w, name, (size_t)(end - name), SIZE_MAX);
	strbuf_puts(w, " (");
	put_weight(w, d->weight, n);
	if (d->compares && off) {
		strbuf_puts(w, ", ");
		put_weight(w, d->weight, off);
		strbuf_puts(w, more < 0 ? " less than before" : " more than before");
	}
	strbuf_format(w, ", %u.%u%%)</title>", permille / 10, permille % 10);
	svg_rect(w, x, y * 100, width, (FRAME - 1) * 100);
	strbuf_puts(w, " rx='2'/>");
	/* the label of a file is without its folder, as in the script */
	for (const char *p = name; kind == PROGRAM && p < end; p++)
		if (*p == '/')
			label = p + 1;
	svg_text_at(w, x + 300, (y + 12) * 100, label, (size_t)(end - label),
		    width > 600 ? (size_t)((width - 600) / SVG_LETTER) : 0);
	stdout_print("%s</g>\n", w->text);
}

/* Draw the open frames from this level on, which end at the stack number to. */
static void close_frames(struct drawing *d, size_t level, unsigned long long to)
{
	while (d->depth > level) {
		d->depth--;
		draw_frame(d, &d->open[d->depth], d->depth, to);
	}
}

/* Draw the frames of the stacks, which are sorted. */
static void draw_stacks(struct drawing *d, const struct flame *f)
{
	unsigned long long sum = 0;

	d->open[d->depth++] = (struct open){ "all", 3, 0, 0, 0 };
	for (size_t i = 0; i < f->shown.n; i++) {
		const struct stack *s = (const struct stack *)f->shown.v[i];
		const char *p = s->entry.key, *end = p + s->entry.n;
		int same = 1;

		for (size_t level = 1; p; level++) {
			const char *name = p;
			size_t n = next_frame(&p, end);

			same = same && level < d->depth && d->open[level].n == n &&
			       !memcmp(d->open[level].name, name, n);
			if (same)
				continue;
			close_frames(d, level, sum);
			d->open[d->depth++] = (struct open){
				name, n, sum, d->more, d->open[level - 1].waker ||
				(n == strlen(WAKER) && !memcmp(name, WAKER, n)),
			};
		}
		sum += s->n;
		d->more += s->more;
	}
	close_frames(d, 0, sum);
}

static void draw(const struct flame *f)
{
	static struct drawing d;
	struct svg_picture picture = { .kind = "flame", .title = title, .left = LEFT,
				       .width = WIDTH + 2 * LEFT, .head = HEAD };
	size_t deepest = 0;
	struct strbuf detail = { 0 };

	for (size_t i = 0; i < f->shown.n; i++) {
		const struct stack *s = (const struct stack *)f->shown.v[i];
		size_t depth = 2;

		d.total += s->n;
		for (const char *p = s->entry.key; (p = strchr(p, *EDGE)); p++)
			depth++;
		deepest = depth > deepest ? depth : deepest;
	}
	d.open = xcalloc(deepest, sizeof(*d.open));
	while (keys.v[d.nkeys])
		d.nkeys++;
	d.bottom = HEAD + FRAME * deepest;
	picture.height = d.bottom + FOOT + comments_room(&f->in.comments);
	picture.length = d.total;
	picture.unit = !*f->weight ? NULL : !strcmp(f->weight, "lat") ? "ns" : f->weight;
	d.weight = f->weight;
	d.compares = f->compares;
	svg_picture_begin(&picture);
	draw_stacks(&d, f);
	comments_draw(&f->in.comments, picture.height - 12);
	if (f->compares) {
		strbuf_puts(&detail, "width: the longer time of both, in ");
	} else if (*f->weight) {
		strbuf_puts(&detail, "width: ");
		put_weight(&detail, f->weight, d.total);
		strbuf_puts(&detail, f->off.n ? " off CPU in " : " in ");
	}
	put_weight(&detail, "", f->n);
	if (f->left_out)
		strbuf_format(&detail, "; left out: %llu of tasks that were not traced",
			      f->left_out);
	if (*f->weight && f->unweighed)
		strbuf_format(&detail, "%s%llu without %s", f->left_out ? ", " : "; left out: ",
			      f->unweighed, f->off.n ? "an end in the trace" : f->weight);
	svg_picture_head(&picture, detail.text, (const struct svg_key []){
		{ "k1", "kernel", d.used[KERNEL] }, { "u1", "program", d.used[PROGRAM] },
		{ "v1", "waker, upside down", d.used[WOKE] },
		{ "c", d.nkeys == 1 ? *keys.v : "keys", d.used[KEY] },
		{ "b", "longer than before", d.used[LONGER] },
		{ "l", "shorter than before", d.used[SHORTER] },
		{ "s", "as before, within 10 %", d.used[SAME] },
	}, 7);
	svg_picture_end();
}

static struct flame f = { .stacks = { .size = sizeof(struct stack) },
			  .shown = { .size = sizeof(struct stack) },
			  .slices.tasks = { .size = sizeof(struct lane) },
			  .slices.cpus = { .size = sizeof(struct last_event) },
			  .strangers.slices = &f.slices,
			  .off = { .size = sizeof(struct off) } };

static void each(void)
{
	read_line(&f);
}

int main(int argc, char **argv)
{
	opt_next(&tool, argc, argv);
	if (folded + pprof + otlp > 1)
		usage_error(&tool, "-f, -o and -p cannot be combined");
	if (pprof && isatty(STDOUT_FILENO))
		usage_error(&tool, "standard output is a terminal; append >FILE");
	if ((pprof || otlp) && !weights)
		weights = "lat";
	input_file(&f.in, &tool, argv + opt_index);
	input_each(&f.in, each);
	if (f.compares)
		str_format(f.weight, sizeof(f.weight), "lat");
	count_all(&f);
	choose_stacks(&f);
	comments_end(&f.in.comments);
	if (!f.shown.n) {
		comments_tell(&f.in.comments);
		return err_no("no stack in the trace");
	}
	table_sort(&f.shown, table_by_key);
	if (pprof || otlp)
		print_profile(&f, pprof ? &profile_pprof : &profile_otlp);
	else if (folded)
		print_folded(&f);
	else
		draw(&f);
	stdout_flush();
	return DONE;
}
