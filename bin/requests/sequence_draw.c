/* SPDX-License-Identifier: ISC */
/* sequence_draw.c - print a sequence diagram, which sequence.c has laid out, as SVG */

#include "base/base.h"
#include "lines/lines.h"
#include "requests.h"
#include "sequence.h"
#include "draw/draw.h"

/* In pixels: right margin, width of a window, space above the notes, height of a note. */
enum { RIGHT = 10, BAR = 10, FOOT = 16, LINE = 15 };

/* Append a duration in us, ms or s, so that it has few digits. */
static void put_span(struct strbuf *w, int64_t ns)
{
	static const struct { int64_t ns; const char *name; } units[] = {
		{ 1000, " us" }, { 1000000, " ms" }, { 1000000000, " s" },
	};
	size_t u = 0;

	if (ns < 0) {
		strbuf_puts(w, "-");
		ns = -ns;
	}
	while (u < 2 && ns >= 1000 * units[u].ns)
		u++;
	if (!u && ns >= 10000) /* cut off nanoseconds: no clock is so exact */
		ns -= ns % 1000;
	svg_number(w, (uint64_t)(ns / (units[u].ns / 100)));
	strbuf_puts(w, units[u].name);
}

/* Append the time since the first row, in microseconds. */
static void put_when(struct sequence *s, int64_t time)
{
	const unsigned long long us = (unsigned long long)(time - s->rows[0].time) / 1000;

	if (us < 1000)
		strbuf_format(&s->words, "%llu us", us);
	else if (us < 1000000)
		strbuf_format(&s->words, "%llu.%03llu ms", us / 1000, us % 1000);
	else
		strbuf_format(&s->words, "%llu.%06llu s", us / 1000000, us % 1000000);
}

/*
 * Append SVG in which these letters stand for an argument:
 *	@	a number of pixels: hundredths, unsigned
 *	$	a text, const char *, which is escaped
 *	~ ^	a duration, and a time: int64_t
 */
static void put(struct sequence *s, const char *svg, ...)
{
	va_list args;
	const char *text;

	va_start(args, svg);
	for (; *svg; svg++)
		switch (*svg) {
		case '@':
			svg_number(&s->words, va_arg(args, unsigned));
			break;
		case '$':
			text = va_arg(args, const char *);
			svg_text(&s->words, text, strlen(text), SIZE_MAX);
			break;
		case '~':
			put_span(&s->words, va_arg(args, int64_t));
			break;
		case '^':
			put_when(s, va_arg(args, int64_t));
			break;
		default:
			strbuf_add(&s->words, svg, 1);
		}
	va_end(args);
}

/* Print what was put, as a line. */
static void end(struct sequence *s)
{
	stdout_print("%s\n", s->words.text);
	s->words.n = 0;
}

/* Draw a text of at most so many letters. */
static void draw_text(struct sequence *s, const char *class, unsigned x, unsigned y,
		      const char *text, size_t most)
{
	put(s, "<text class='$' x='@' y='@'>", class, x, y);
	svg_text(&s->words, text, strlen(text), most);
	put(s, "</text>");
	end(s);
}

/* Draw the names of all lanes at this height. */
static void draw_names(struct sequence *s, const char *class, unsigned y)
{
	for (size_t i = 0; i < s->nlanes; i++)
		draw_text(s, class, s->lanes[i]->x, y, s->lanes[i]->label,
			  LANE * 100 / SVG_LETTER - 1);
}

/* Draw a background for each host, and the lines of the lanes. */
static void draw_bands(struct sequence *s)
{
	for (size_t i = 0, j; i < s->nlanes; i = j) {
		const unsigned host = s->lanes[i]->actor->host, x = s->lanes[i]->x - LANE * 50;
		unsigned wide;

		for (j = i; j < s->nlanes && s->lanes[j]->actor->host == host; j++)
			;
		wide = (unsigned)(j - i) * LANE * 100;
		put(s, "<rect class='b' x='@' y='@' width='@' height='@' rx='6'/>", x + 200,
		    TITLE * 100, wide - 400, s->bottom + 22 * 100 - TITLE * 100);
		end(s);
		draw_text(s, "c h", x + wide / 2, (TITLE + 20) * 100, s->hosts[host],
			  wide / (SVG_LETTER * 7 / 6) - 1);
	}
	draw_names(s, "c", (TITLE + 40) * 100);
	draw_names(s, "c", s->bottom + 14 * 100);
	for (size_t i = 0; i < s->nlanes; i++) {
		put(s, "<path class='l' d='M@ @V@'/>", s->lanes[i]->x, (TITLE + BAND - 4) * 100,
		    s->bottom);
		end(s);
	}
}

/* Draw a line with the time for each row, and the pauses. */
static void draw_rows(struct sequence *s)
{
	unsigned labelled = 0;

	for (size_t i = 0; i < s->nrows; i++) {
		const struct sequence_row *r = &s->rows[i];
		const unsigned middle = r->y - (r->named ? 3 * PAUSE * 50 : PAUSE * 50);

		if (r->paused) {
			put(s, "<rect class='p' x='@' y='@' width='@' height='18'/>", LEFT * 100,
			    middle - 900, (s->right - LEFT) * 100);
			end(s);
			put(s, "<text class='c g' x='@' y='@'>~ later</text>",
			    (s->right + LEFT) * 50, middle + 400, r->time - r[-1].time);
			end(s);
		}
		if (r->y - labelled < 1300 && i)
			continue;
		labelled = r->y;
		put(s, "<path class='t' d='M@ @H@'/>", (LEFT - 6) * 100, r->y, s->right * 100);
		end(s);
		put(s, "<text class='e' x='@' y='@'>^</text>", (LEFT - 10) * 100, r->y + 400,
		    r->time);
		end(s);
	}
}

static void draw_window(struct sequence *s, const struct sequence_lane *l,
			const struct sequence_window *w)
{
	unsigned from = sequence_y(s, w->from), to = sequence_y(s, w->to);

	/* a window without an end goes on below the diagram */
	if (!w->whole && w->to == s->rows[s->nrows - 1].time)
		to = s->bottom;
	put(s, "<g><title>$ on $ at ^, ~", l->label, s->hosts[l->actor->host], w->from,
	    w->to - w->from);
	put(s, w->whole ? "</title><rect" : " or more</title><rect");
	put(s, " x='@' y='@' width='@' height='@'", l->x - BAR * 50, from, BAR * 100,
	    to - from > 200 ? to - from : 200);
	svg_colour(&s->words, l->label, strlen(l->label));
	put(s, w->whole ? " rx='2'/></g>" : " fill-opacity='0.5' rx='2'/></g>");
	end(s);
}

static void draw_tick(struct sequence *s, const struct sequence_lane *l,
		      const struct sequence_tick *t)
{
	put(s, "<g class='k'><title>$ at ^", t->name, t->time);
	if (t->more)
		strbuf_format(&s->words, ", and %zu more", t->more);
	put(s, "</title><path d='M@ @h@'/></g>", l->x - BAR * 50, t->y, BAR * 100 + 400);
	end(s);
}

/* Append the thread and host at one end of an arrow. */
static void put_end(struct sequence *s, const struct dt_point *p)
{
	char pid[16];

	str_format(pid, sizeof(pid), "%u", p->actor->tid);
	put(s, "$-$ on $", *p->actor->comm ? p->actor->comm : "?", pid, s->hosts[p->actor->host]);
}

/* Return the distance from the middle of the lane at which an arrow ends. */
static unsigned half(const struct dt_point *p)
{
	return p->actor->lane->nwindows ? BAR * 50 : 100;
}

/* Draw an arrow whose other end is unknown or not shown. */
static void draw_stub(struct sequence *s, const struct dt_point *p)
{
	const unsigned x = p->actor->lane->x, y = sequence_y(s, p->time);
	const int sent = p->what == 'M';

	put(s, sent ? "<g class='m'><title>sent by " : "<g class='m'><title>received by ");
	put_end(s, p);
	put(s, " at ^", p->time);
	put(s, p->peer == PEER_MANY ? ": several messages have this key" :
	       sequence_peer(s, p) ? ": the other end is not shown" :
	       sent ? ": nobody here has received it" : ": nobody here has sent it");
	put(s, "</title><circle cx='@' cy='@' r='3'/><path d='M@ @H@' marker-end='url(#a)'/></g>",
	    sent ? x + 3400 : x - 3400, y, sent ? x + half(p) : x - 3100, y,
	    sent ? x + 3100 : x - half(p));
	end(s);
}

static void draw_message(struct sequence *s, const struct dt_point *from, const struct dt_point *to)
{
	const unsigned x1 = from->actor->lane->x, x2 = to->actor->lane->x;
	const unsigned y1 = sequence_y(s, from->time), y2 = sequence_y(s, to->time);
	const int early = to->time < from->time;

	put(s, "<g class='m");
	put(s, to->what == 'R' ? " r" : "");
	put(s, early ? " x'><title>" : "'><title>");
	put_end(s, from);
	put(s, " to ");
	put_end(s, to);
	put(s, " at ^, ~</title><path d='", from->time, to->time - from->time);
	if (x1 == x2) /* the thread sends to itself */
		put(s, "M@ @h26V@h-22", x1 + half(from), y1, y2);
	else
		put(s, "M@ @L@ @", x1 < x2 ? x1 + half(from) : x1 - half(from), y1,
		    x1 < x2 ? x2 - half(to) : x2 + half(to), y2);
	put(s, early ? "' marker-end='url(#x)'/>" : "' marker-end='url(#a)'/>");
	put(s, "<text class='c' x='@' y='@'>~</text></g>",
	    x1 == x2 ? x1 + 5500 : (x1 + x2) / 2, (y1 + y2) / 2 - 300, to->time - from->time);
	end(s);
}

static int is_shown(const struct sequence *s, const struct dt_point *p)
{
	return p->actor->lane && p->time <= s->points[s->n - 1]->time;
}

static void draw_all(struct sequence *s)
{
	for (size_t i = 0; i < s->nlanes; i++) {
		const struct sequence_lane *l = s->lanes[i];

		for (size_t k = 0; k < l->nwindows; k++)
			draw_window(s, l, &l->windows[k]);
		for (size_t k = 0; k < l->nticks; k++)
			draw_tick(s, l, &l->ticks[k]);
	}
	for (size_t i = 0; i < s->n; i++) {
		const struct dt_point *p = s->points[i], *other = sequence_peer(s, p);

		if (!p->actor->lane || p->peer == PEER_NOT)
			continue;
		if (!other || !other->actor->lane || !is_shown(s, other))
			draw_stub(s, p);
		else if (p->what == 'M')
			draw_message(s, p, other);
	}
	for (size_t i = 0; i < s->nrows; i++)
		if (s->rows[i].named)
			draw_names(s, "c a", s->rows[i].y - PAUSE * 50 + 400);
}

static const char style[] =
#include "sequence_style.h" /* sequence.css */
	;

static void draw_style(void)
{
	static const char *const marker[] = { "a", "#345", "x", "#c22" };

	stdout_print("<style>%s</style>\n<defs>", style);
	for (size_t i = 0; i < 4; i += 2)
		stdout_print("<marker id='%s' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='8' "
			     "markerHeight='8' markerUnits='userSpaceOnUse' orient='auto'>"
			     "<path d='M0 0.5L8 4L0 7.5Z' stroke='none' fill='%s'/></marker>",
			     marker[i], marker[i + 1]);
	stdout_print("</defs>\n");
}

static unsigned draw_note(struct sequence *s, const char *class, unsigned y, const char *text)
{
	draw_text(s, class, 1000, y, text, SIZE_MAX);
	return y + LINE * 100;
}

static unsigned draw_more(struct sequence *s, unsigned y, unsigned long long more,
			  const char *what)
{
	char text[80];

	if (!more)
		return y;
	str_format(text, sizeof(text), "%llu %s not shown", more, what);
	return draw_note(s, "n x", y, text);
}

static void put_title(struct sequence *s)
{
	unsigned hosts = 0;

	for (size_t i = 0; i < s->nlanes; i++)
		hosts += !i || s->lanes[i]->actor->host != s->lanes[i - 1]->actor->host;
	strbuf_format(strbuf_empty(&s->words), "%llu message%s, %u host%s, %zu thread%s",
		      s->messages, s->messages == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s",
		      s->nlanes, s->nlanes == 1 ? "" : "s");
	if (!s->nrows)
		return;
	strbuf_puts(&s->words, " from ");
	strbuf_seconds(&s->words, s->rows[0].time, 6);
	strbuf_format(&s->words, " s by the clock of %s", s->hosts[0]);
}

void sequence_draw(struct sequence *s, char *const *notes, size_t nnotes)
{
	const char *legend = !s->nrows ? "there are no marks in these traces" :
		"full arrows begin a window, dashed ones do not; bars are windows, ticks events";
	size_t lines = nnotes + 1 + (s->more_messages > 0) + (s->more_points > 0) +
		       (s->more_lanes > 0), longest = strlen(legend);
	unsigned y = s->bottom + (22 + FOOT) * 100;
	size_t width = s->right;

	for (size_t i = 0; i < nnotes; i++)
		if (longest < strlen(notes[i]))
			longest = strlen(notes[i]);
	if (width < longest * SVG_LETTER / 100)
		width = longest * SVG_LETTER / 100;
	put_title(s);
	svg_begin(width + RIGHT, y / 100 + lines * LINE, s->words.text);
	s->words.n = 0;
	draw_style();
	if (s->nrows) {
		draw_bands(s);
		draw_rows(s);
		draw_all(s);
	}
	y = draw_more(s, y, s->more_messages, "more messages are");
	y = draw_more(s, y, s->more_points, "later marks are");
	y = draw_more(s, y, s->more_lanes, "marks are of threads that are");
	for (size_t i = 0; i < nnotes; i++)
		y = draw_note(s, "n", y, notes[i]);
	draw_note(s, "n", y, legend);
	svg_end();
}
