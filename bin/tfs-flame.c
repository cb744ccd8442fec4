/* SPDX-License-Identifier: ISC */
/*
 * tfs-flame - draw the stacks of a trace as a flame graph, in SVG
 *
 * Requires: nothing but a trace with stacks on standard input, as text.
 *	-k KEY      below the stacks what their event has in this: comm (default),
 *	            or any key of tfs-count's; may be repeated
 *	-f          folded lines instead, "a;b;c N", for other programs
 * Each stack is counted: those of --stack, of the option stacktrace, of the
 * function tracer's. The outermost function is at the bottom; a function is as
 * wide as it is often in a stack. What is narrower than a tenth of a pixel is
 * not drawn. The functions by which the trace itself is made are left out. An
 * interrupt from the terminal is the trace's to hear.
 * Exit: 0 done, 1 no stack, 100 misused, 111 refused.
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
 * Between the frames of a stack: no frame has it, and all that begin with the same
 * frames are side by side when they are sorted.
 */
#define EDGE "\1"

enum { WIDTH = 1180, LEFT = 10, HEAD = 40, FRAME = 16, NARROWEST = 10 /* hundredths */ };

struct stack {
	struct table_entry entry;
	unsigned long long n;
};

/* What the last event of a processor has in the keys. */
struct seen {
	struct table_entry entry;
	struct strbuf roots;
};

struct flame {
	const char **keys;
	struct table stacks, seen;
	struct remarks remarks;
	/* the stack at hand, innermost first, each with an EDGE behind it */
	int inside;
	struct strbuf roots, frames, key;
};

/* ---- in ------------------------------------------------------------------------------- */

static void put_frame(struct strbuf *w, const char *s, size_t n)
{
	char *at, *end;

	strbuf_add(w, s, n);
	end = w->text + w->n;
	for (at = end - n; at < end; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
		else if (*at == ';')
			*at = ':'; /* it parts frames in folded lines */
}

/* Tabs become edges: each key is a frame. */
static void make_roots(struct flame *f, const struct trace_line *l, struct strbuf *roots)
{
	trace_line_values(&f->key, l, f->keys);
	roots->n = 0;
	for (char *s = f->key.text, *end; s; s = end ? end + 1 : NULL) {
		end = strchr(s, '\t');
		put_frame(roots, s, end ? (size_t)(end - s) : strlen(s));
		strbuf_puts(roots, EDGE);
	}
}

static void end_stack(struct flame *f)
{
	const char *text = f->frames.text, *end, *s;

	if (f->inside && f->frames.n) {
		end = text + f->frames.n;
		f->key.n = 0;
		strbuf_add(&f->key, f->roots.text, f->roots.n);
		while (end-- > text) { /* at the edge behind the frame */
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

/* " => FUNCTION", with " <ADDRESS>", " (ADDRESS)" or "+0xOFFSET" behind it */
static void take_frame(struct flame *f, const char *line, size_t n)
{
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
	put_frame(&f->frames, s, (size_t)(p - s));
	strbuf_puts(&f->frames, EDGE);
}

static void take_line(struct flame *f, const char *line, size_t n)
{
	struct trace_line l;
	struct seen *seen;
	int event = trace_line(&l, line, n);

	if (!event && !l.stack) {
		if (remarks_keep(&f->remarks, line) || !f->inside)
			return;
		take_frame(f, line, n);
		return;
	}
	end_stack(f);
	/* a processor is one of its host */
	f->key.n = 0;
	strbuf_add(&f->key, l.cpu.text, l.cpu.n);
	strbuf_puts(&f->key, " ");
	strbuf_add(&f->key, l.host.text, l.host.n);
	seen = table_at(&f->seen, f->key.text, f->key.n);
	if (event) {
		make_roots(f, &l, &seen->roots);
		return;
	}
	/* a stack without its event tells who it was and no more */
	if (!seen->roots.n)
		make_roots(f, &l, &seen->roots);
	f->roots.n = 0;
	strbuf_add(&f->roots, seen->roots.text, seen->roots.n);
	f->inside = 1;
}

/* ---- out ------------------------------------------------------------------------------ */

/* A stack's frame at s, so long; the next one in *s, NULL behind the last. */
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
	/* folded lines have no room for it */
	for (unsigned i = 0; i < f->remarks.n; i++)
		err_note("%s", f->remarks.line[i]);
}

/* Frames that are open at one place, from the bottom up. */
struct open {
	const char *name;
	size_t n;
	unsigned long long from;
};

struct drawing {
	unsigned long long total;
	uint64_t height;
	struct open *open;
	size_t depth;
	struct strbuf words;
};

/* Stacks so far, in hundredths of a pixel from the left. */
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

static void close_down(struct drawing *d, size_t level, unsigned long long at)
{
	while (d->depth > level) {
		d->depth--;
		draw_frame(d, &d->open[d->depth], d->depth, at);
	}
}

static void draw(const struct flame *f)
{
	static struct drawing d;
	unsigned long long at = 0;
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
	svg_begin(WIDTH + 2 * LEFT, d.height + remarks_room(&f->remarks), title);
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
			close_down(&d, level, at);
			d.open[d.depth++] = (struct open){ name, n, at };
		}
		at += s->n;
	}
	close_down(&d, 0, at);
	remarks_draw(&f->remarks, d.height + remarks_room(&f->remarks) - 8);
	svg_end();
}

int main(int argc, char **argv)
{
	static struct flame f = { .stacks = { .size = sizeof(struct stack) },
				  .seen = { .size = sizeof(struct seen) } };
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
		take_line(&f, line, (size_t)n);
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
