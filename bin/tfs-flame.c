/* SPDX-License-Identifier: ISC */
/*
 * tfs-flame - draw the stacks of a trace as a flame graph, in SVG
 *
 * Requires: only a trace with stacks on standard input, as text.
 *	-k KEY      draw the value of KEY, that the stack's event has, below the stack:
 *	            comm (default), or any key of tfs-count; may be repeated
 *	-f          print folded lines instead, "a;b;c N", for other programs
 * tfs-flame counts the stacks of --stack, of the option stacktrace and of the function
 * tracer. The outermost function is at the bottom. The width of a function is the number
 * of stacks that contain it. Frames narrower than a tenth of a pixel are not drawn. The
 * functions that make the trace itself are left out. tfs-flame ignores SIGINT, so that
 * the program that makes the trace can finish first.
 * Exit: 0 done, 1 no stack, 100 usage error, 111 refused.
 */
#include <signal.h>
#include <string.h>

#include "base/base.h"
#include "filter/filter.h"

static const struct tool tool = {
	.name = "tfs-flame",
	.usage = "tfs-flame [-f] [-k KEY]...",
	.purpose = "draw the stacks of a trace as a flame graph, in SVG",
	.letters = "fk:",
};

/*
 * Separates the frames of a stack. No frame contains this byte. It is less than any byte
 * of a frame, so stacks that begin with the same frames are adjacent when sorted.
 */
#define EDGE "\1"

enum { WIDTH = 1180, LEFT = 10, HEAD = 40, FRAME = 16, NARROWEST = 10 /* hundredths */ };

struct stack {
	struct table_entry entry;
	unsigned long long n;
};

/* The values of the keys in the last event of a processor. */
struct last_event {
	struct table_entry entry;
	struct strbuf roots;
};

struct flame {
	const char **keys;
	struct table stacks;
	struct table last;      /* struct last_event, by processor */
	struct comments comments;
	/* the stack that is being read; an EDGE follows each frame, the innermost is first */
	int inside;
	struct strbuf roots, frames, key;
};

/* ---- read the trace -------------------------------------------------------------------- */

/* Append a frame, without control characters and semicolons. */
static void add_frame(struct strbuf *w, const char *s, size_t n)
{
	char *c, *end;

	strbuf_add(w, s, n);
	end = w->text + w->n;
	for (c = end - n; c < end; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
		else if (*c == ';')
			*c = ':'; /* a semicolon separates frames in folded lines */
}

/* Make one frame of each key's value; values have tabs between them. */
static void make_roots(struct flame *f, const struct trace_line *l, struct strbuf *roots)
{
	trace_line_values(&f->key, l, f->keys);
	roots->n = 0;
	for (char *s = f->key.text, *end; s; s = end ? end + 1 : NULL) {
		end = strchr(s, '\t');
		add_frame(roots, s, end ? (size_t)(end - s) : strlen(s));
		strbuf_puts(roots, EDGE);
	}
}

/* Count the stack that was read, with the outermost frame first. */
static void end_stack(struct flame *f)
{
	const char *text = f->frames.text, *end, *s;

	if (f->inside && f->frames.n) {
		end = text + f->frames.n;
		f->key.n = 0;
		strbuf_add(&f->key, f->roots.text, f->roots.n);
		while (end-- > text) { /* end: the EDGE behind the frame */
			for (s = end; s > text && s[-1] != *EDGE; s--)
				;
			strbuf_add(&f->key, s, (size_t)(end - s) + (s > text));
			end = s;
		}
		((struct stack *)table_at(&f->stacks, f->key.text, f->key.n))->n++;
	}
	f->inside = 0;
	f->frames.n = 0;
}

/*
 * Read a line " => FUNCTION", which may have " <ADDRESS>", " (ADDRESS)" or "+0xOFFSET"
 * behind it. Any other line ends the stack.
 */
static void read_frame(struct flame *f, const char *line, size_t n)
{
	/* innermost functions that make the trace itself */
	static const char *const own[] = { "trace_event_raw_event_", "__traceiter_" };
	const char *s = line, *end = line + n, *p;
	struct text_part host;

	s += trace_line_host(line, n, &host);
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	if (end - s < 3 || memcmp(s, "=> ", 3)) {
		end_stack(f);
		return;
	}
	for (s += 3; s < end && *s == ' '; s++)
		;
	for (p = s; p < end; p++)
		if ((*p == ' ' && p > s && end - p > 2 && (p[1] == '<' || p[1] == '(')) ||
		    (*p == '+' && end - p > 3 && p[1] == '0' && p[2] == 'x'))
			break;
	for (size_t i = 0; !f->frames.n && i < sizeof(own) / sizeof(*own); i++)
		if ((size_t)(p - s) > strlen(own[i]) && !memcmp(s, own[i], strlen(own[i])))
			return;
	if (p == s)
		return;
	add_frame(&f->frames, s, (size_t)(p - s));
	strbuf_puts(&f->frames, EDGE);
}

static void read_line(struct flame *f, const char *line, size_t n)
{
	struct trace_line l;
	struct last_event *last;
	int event = trace_line(&l, line, n);

	if (!event && !l.stack) {
		if (comments_keep(&f->comments, line) || !f->inside)
			return;
		read_frame(f, line, n);
		return;
	}
	end_stack(f);
	/* a trace of several hosts has several processors of the same number */
	f->key.n = 0;
	strbuf_add(&f->key, l.cpu.text, l.cpu.n);
	strbuf_puts(&f->key, " ");
	strbuf_add(&f->key, l.host.text, l.host.n);
	last = table_at(&f->last, f->key.text, f->key.n);
	if (event) {
		make_roots(f, &l, &last->roots);
		return;
	}
	/* the event of the stack is missing: only the stack's own line has keys */
	if (!last->roots.n)
		make_roots(f, &l, &last->roots);
	f->roots.n = 0;
	strbuf_add(&f->roots, last->roots.text, last->roots.n);
	f->inside = 1;
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
	for (size_t i = 0; i < f->stacks.n; i++) {
		struct stack *s = (struct stack *)f->stacks.v[i];

		for (char *p = s->entry.key; (p = strchr(p, *EDGE)); *p = ';')
			;
		stdout_print("%s %llu\n", s->entry.key, s->n);
	}
	/* folded lines must not contain lines about lost events */
	for (unsigned i = 0; i < f->comments.n; i++)
		err_note("%s", f->comments.line[i]);
}

/* A frame that begins at the stack number from, and has not ended yet. */
struct open {
	const char *name;
	size_t n;
	unsigned long long from;
};

struct drawing {
	unsigned long long total;
	uint64_t height;
	struct open *open;      /* depth frames, from the bottom up */
	size_t depth;
	struct strbuf words;
};

/* Return the place of the n-th stack, in hundredths of a pixel from the left. */
static uint64_t across(const struct drawing *d, unsigned long long n)
{
	return LEFT * 100 + n * (WIDTH * 100) / d->total;
}

static void draw_frame(struct drawing *d, const struct open *o, size_t level,
		       unsigned long long to)
{
	uint64_t x = across(d, o->from), width = across(d, to) - x;
	uint64_t y = d->height - HEAD - FRAME * (level + 1);
	unsigned long long n = to - o->from, permille = n * 1000 / d->total;
	struct strbuf *w = &d->words;
	char text[96];

	if (width < NARROWEST)
		return;
	w->n = 0;
	strbuf_puts(w, "<g><title>");
	svg_text(w, o->name, o->n, SIZE_MAX);
	str_format(text, sizeof(text), " (%llu stack%s, %llu.%llu%%)</title><rect", n,
		   n == 1 ? "" : "s", permille / 10, permille % 10);
	strbuf_puts(w, text);
	svg_attribute(w, "x", x);
	svg_attribute(w, "y", y * 100);
	svg_attribute(w, "width", width);
	svg_attribute(w, "height", (FRAME - 1) * 100);
	svg_colour(w, o->name, o->n);
	strbuf_puts(w, " rx='2'/><text");
	svg_attribute(w, "x", x + 300);
	svg_attribute(w, "y", (y + 12) * 100);
	strbuf_puts(w, ">");
	svg_text(w, o->name, o->n, width > 600 ? (size_t)((width - 600) / SVG_LETTER) : 0);
	strbuf_puts(w, "</text></g>");
	stdout_print("%s\n", w->text);
}

/* Draw the open frames from this level on, which end at the stack number to. */
static void close_frames(struct drawing *d, size_t level, unsigned long long to)
{
	while (d->depth > level) {
		d->depth--;
		draw_frame(d, &d->open[d->depth], d->depth, to);
	}
}

static void draw(const struct flame *f)
{
	static struct drawing d;
	unsigned long long sum = 0;
	size_t deepest = 0;
	char title[64];

	for (size_t i = 0; i < f->stacks.n; i++) {
		const struct stack *s = (const struct stack *)f->stacks.v[i];
		size_t depth = 2;

		d.total += s->n;
		for (const char *p = s->entry.key; (p = strchr(p, *EDGE)); p++)
			depth++;
		deepest = depth > deepest ? depth : deepest;
	}
	d.open = xcalloc(deepest, sizeof(*d.open));
	d.height = 2 * HEAD + FRAME * deepest;
	str_format(title, sizeof(title), "%llu stack%s", d.total, d.total == 1 ? "" : "s");
	svg_begin(WIDTH + 2 * LEFT, d.height + comments_room(&f->comments), title);
	d.open[d.depth++] = (struct open){ "all", 3, 0 };
	for (size_t i = 0; i < f->stacks.n; i++) {
		const struct stack *s = (const struct stack *)f->stacks.v[i];
		const char *p = s->entry.key, *end = p + s->entry.n;
		int same = 1;

		for (size_t level = 1; p; level++) {
			const char *name = p;
			size_t n = next_frame(&p, end);

			same = same && level < d.depth && d.open[level].n == n &&
			       !memcmp(d.open[level].name, name, n);
			if (same)
				continue;
			close_frames(&d, level, sum);
			d.open[d.depth++] = (struct open){ name, n, sum };
		}
		sum += s->n;
	}
	close_frames(&d, 0, sum);
	comments_draw(&f->comments, d.height + comments_room(&f->comments) - 8);
	svg_end();
}

int main(int argc, char **argv)
{
	static struct flame f = { .stacks = { .size = sizeof(struct stack) },
				  .last = { .size = sizeof(struct last_event) } };
	static struct line_reader in;
	size_t nkeys = 0;
	int c, folded = 0;
	char *line;
	ssize_t n;

	f.keys = xcalloc((size_t)argc + 2, sizeof(*f.keys));
	while ((c = opt_next(&tool, argc, argv)) != -1)
		if (c == 'f')
			folded = 1;
		else if (!*opt_value || !strcmp(opt_value, "."))
			usage_error(&tool, "not a key: '%s'", opt_value);
		else
			f.keys[nkeys++] = opt_value;
	if (argv[opt_index])
		usage_error(&tool, "unexpected operand '%.80s'", argv[opt_index]);
	if (!nkeys)
		f.keys[0] = "comm";

	confine();
	signal(SIGINT, SIG_IGN);
	while ((n = line_read(&in, &line)) >= 0)
		read_line(&f, line, (size_t)n);
	if (in.failed)
		return REFUSED;
	end_stack(&f);
	if (!f.stacks.n)
		return NO;
	table_sort(&f.stacks, table_by_key);
	if (!folded)
		draw(&f);
	else
		print_folded(&f);
	stdout_flush();
	return DONE;
}
