/* SPDX-License-Identifier: ISC */
/* sequence_draw.c - print a sequence diagram, which sequence.c has laid out, as SVG */
#include <string.h>

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
	unsigned long long us = (unsigned long long)(time - s->rows[0].time) / 1000;
	unsigned long long unit = us < 1000000 ? 1000 : 1000000;
	char text[48];

	str_format(text, sizeof(text), "%llu", us < 1000 ? us : us / unit);
	strbuf_puts(&s->words, text);
	/* add a leading digit and replace it by the point: this keeps leading zeros */
	str_format(text, sizeof(text), "%llu%s", unit + us % unit, unit == 1000 ? " ms" : " s");
	*text = '.';
	strbuf_puts(&s->words, us < 1000 ? " us" : text);
}

static void begin(struct sequence *s, const char *text)
{
	s->words.n = 0;
	strbuf_puts(&s->words, text);
}

static void put(struct sequence *s, const char *text)
{
	strbuf_puts(&s->words, text);
}

static void put_text(struct sequence *s, const char *text, size_t most)
{
	svg_text(&s->words, text, strlen(text), most);
}

static void put_number(struct sequence *s, const char *name, uint64_t hundredths)
{
	svg_attribute(&s->words, name, hundredths);
}

static void end(struct sequence *s, const char *text)
{
	stdout_print("%s%s\n", s->words.text, text);
}

/* Append a command of a path, such as "M12.5 7". */
static void put_place(struct sequence *s, const char *letter, uint64_t x, uint64_t y)
{
	put(s, letter);
	svg_number(&s->words, x);
	put(s, " ");
	svg_number(&s->words, y);
}

static void begin_text(struct sequence *s, const char *class, uint64_t x, uint64_t y)
{
	begin(s, "<text class='");
	put(s, class);
	put(s, "'");
	put_number(s, "x", x);
	put_number(s, "y", y);
	put(s, ">");
}

static void draw_text(struct sequence *s, const char *class, uint64_t x, uint64_t y,
		      const char *text, size_t most)
{
	begin_text(s, class, x, y);
	put_text(s, text, most);
	end(s, "</text>");
}

/* Draw the names of all lanes at this height. */
static void draw_names(struct sequence *s, const char *class, uint64_t y)
{
	for (size_t i = 0; i < s->nlanes; i++)
		draw_text(s, class, s->lanes[i]->x, y, s->lanes[i]->label,
			  LANE * 100 / SVG_LETTER - 1);
}

/* Draw a background for each host, and the lines of the lanes. */
static void draw_bands(struct sequence *s)
{
	for (size_t i = 0, j; i < s->nlanes; i = j) {
		unsigned host = s->lanes[i]->actor->host;
		uint64_t x = s->lanes[i]->x - LANE * 50;

		for (j = i; j < s->nlanes && s->lanes[j]->actor->host == host; j++)
			;
		begin(s, "<rect class='b'");
		put_number(s, "x", x + 200);
		put_number(s, "y", TITLE * 100);
		put_number(s, "width", (j - i) * LANE * 100 - 400);
		put_number(s, "height", s->bottom + 22 * 100 - TITLE * 100);
		end(s, " rx='6'/>");
		draw_text(s, "c h", x + (j - i) * LANE * 50, (TITLE + 20) * 100, s->hosts[host],
			  (j - i) * LANE * 100 / (SVG_LETTER * 7 / 6) - 1);
	}
	draw_names(s, "c", (TITLE + 40) * 100);
	draw_names(s, "c", s->bottom + 14 * 100);
	for (size_t i = 0; i < s->nlanes; i++) {
		begin(s, "<path class='l' d='");
		put_place(s, "M", s->lanes[i]->x, (TITLE + BAND - 4) * 100);
		put(s, "V");
		svg_number(&s->words, s->bottom);
		end(s, "'/>");
	}
}

/* Draw a line with the time for each row, and the pauses. */
static void draw_rows(struct sequence *s)
{
	uint64_t labelled = 0;

	for (size_t i = 0; i < s->nrows; i++) {
		const struct sequence_row *r = &s->rows[i];
		uint64_t middle = r->y - (r->named ? 3 * PAUSE * 50 : PAUSE * 50);

		if (r->paused) {
			begin(s, "<rect class='p'");
			put_number(s, "x", LEFT * 100);
			put_number(s, "y", middle - 900);
			put_number(s, "width", (s->right - LEFT) * 100);
			end(s, " height='18'/>");
			begin_text(s, "c g", (s->right + LEFT) * 50, middle + 400);
			put_span(&s->words, r->time - r[-1].time);
			end(s, " later</text>");
		}
		if (r->y - labelled < 1300 && i)
			continue;
		labelled = r->y;
		begin(s, "<path class='t' d='");
		put_place(s, "M", (LEFT - 6) * 100, r->y);
		put(s, "H");
		svg_number(&s->words, s->right * 100);
		end(s, "'/>");
		begin_text(s, "e", (LEFT - 10) * 100, r->y + 400);
		put_when(s, r->time);
		end(s, "</text>");
	}
}

static void draw_window(struct sequence *s, const struct sequence_lane *l,
			const struct sequence_window *w)
{
	uint64_t from = sequence_y(s, w->from), to = sequence_y(s, w->to);

	/* a window without an end goes on below the diagram */
	if (!w->whole && w->to == s->rows[s->nrows - 1].time)
		to = s->bottom;
	begin(s, "<g><title>");
	put_text(s, l->label, SIZE_MAX);
	put(s, " on ");
	put(s, s->hosts[l->actor->host]);
	put(s, " at ");
	put_when(s, w->from);
	put(s, ", ");
	put_span(&s->words, w->to - w->from);
	put(s, w->whole ? "" : " or more");
	put(s, "</title><rect");
	put_number(s, "x", l->x - BAR * 50);
	put_number(s, "y", from);
	put_number(s, "width", BAR * 100);
	put_number(s, "height", to - from > 200 ? to - from : 200);
	svg_colour(&s->words, l->label, strlen(l->label));
	if (!w->whole)
		put(s, " fill-opacity='0.5'");
	end(s, " rx='2'/></g>");
}

static void draw_tick(struct sequence *s, const struct sequence_lane *l,
		      const struct sequence_tick *t)
{
	char text[48];

	begin(s, "<g class='k'><title>");
	put_text(s, t->name, SIZE_MAX);
	put(s, " at ");
	put_when(s, t->time);
	str_format(text, sizeof(text), ", and %zu more", t->more);
	put(s, t->more ? text : "");
	put(s, "</title><path d='");
	put_place(s, "M", l->x - BAR * 50, t->y);
	put(s, "h");
	svg_number(&s->words, BAR * 100 + 400);
	end(s, "'/></g>");
}

/* Append a text and the thread and host at one end of an arrow. */
static void put_end(struct sequence *s, const char *before, const struct dt_point *p)
{
	char text[48];

	put(s, before);
	str_format(text, sizeof(text), "%s-%u", *p->actor->comm ? p->actor->comm : "?",
		   p->actor->tid);
	put_text(s, text, SIZE_MAX);
	put(s, " on ");
	put(s, s->hosts[p->actor->host]);
}

/* Return the distance from the middle of the lane at which an arrow ends. */
static uint64_t half(const struct dt_point *p)
{
	return p->actor->lane->nwindows ? BAR * 50 : 100;
}

/* Draw an arrow whose other end is unknown or not shown. */
static void draw_stub(struct sequence *s, const struct dt_point *p)
{
	uint64_t x = p->actor->lane->x, y = sequence_y(s, p->time);
	int sent = p->what == 'M';

	begin(s, "<g class='m'><title>");
	put_end(s, sent ? "sent by " : "received by ", p);
	put(s, " at ");
	put_when(s, p->time);
	put(s, p->peer == PEER_MANY ? ": several messages have this key" :
	       sequence_peer(s, p) ? ": the other end is not shown" :
	       sent ? ": nobody here has received it" : ": nobody here has sent it");
	put(s, "</title><circle");
	put_number(s, "cx", sent ? x + 3400 : x - 3400);
	put_number(s, "cy", y);
	put(s, " r='3'/><path d='");
	put_place(s, "M", sent ? x + half(p) : x - 3100, y);
	put(s, "H");
	svg_number(&s->words, sent ? x + 3100 : x - half(p));
	end(s, "' marker-end='url(#a)'/></g>");
}

static void draw_message(struct sequence *s, const struct dt_point *from, const struct dt_point *to)
{
	uint64_t x1 = from->actor->lane->x, x2 = to->actor->lane->x;
	uint64_t y1 = sequence_y(s, from->time), y2 = sequence_y(s, to->time);
	int early = to->time < from->time;

	begin(s, "<g class='m");
	put(s, to->what == 'R' ? " r" : "");
	put(s, early ? " x'><title>" : "'><title>");
	put_end(s, "", from);
	put_end(s, " to ", to);
	put(s, " at ");
	put_when(s, from->time);
	put(s, ", ");
	put_span(&s->words, to->time - from->time);
	put(s, "</title><path d='");
	if (x1 == x2) { /* the thread sends to itself */
		put_place(s, "M", x1 + half(from), y1);
		put(s, "h26V");
		svg_number(&s->words, y2);
		put(s, "h-22");
		x2 += 11000;
	} else {
		put_place(s, "M", x1 < x2 ? x1 + half(from) : x1 - half(from), y1);
		put_place(s, "L", x1 < x2 ? x2 - half(to) : x2 + half(to), y2);
	}
	put(s, early ? "' marker-end='url(#x)'/><text class='c'" :
		       "' marker-end='url(#a)'/><text class='c'");
	put_number(s, "x", (x1 + x2) / 2);
	put_number(s, "y", (y1 + y2) / 2 - 300);
	put(s, ">");
	put_span(&s->words, to->time - from->time);
	end(s, "</text></g>");
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

static void draw_style(void)
{
	stdout_print("<style>.c{text-anchor:middle}.e{text-anchor:end;font-size:10px;fill:#777}"
		     ".h{font-size:14px;font-weight:bold}.g{fill:#777;font-style:italic}"
		     ".b{fill:#fff;stroke:#ddd}.p{fill:#f8f8f8}.l{stroke:#bbb;stroke-dasharray:2 3}"
		     ".t{stroke:#eee}.k path{stroke:#222}"
		     ".m path{stroke:#345;stroke-width:1.2;fill:none}"
		     ".m circle{fill:#fff;stroke:#345}"
		     ".m text{font-size:10px;fill:#345;stroke:#fff;stroke-width:3;"
		     "paint-order:stroke}"
		     ".a{fill:#777;stroke:#fff;stroke-width:4;paint-order:stroke}"
		     ".n{font-size:11px;fill:#555}"
		     ".r path{stroke-dasharray:5 3}.x path{stroke:#c22}.x text{fill:#c22}"
		     ".m:hover path,.k:hover path{stroke-width:3}</style>\n"
		     "<defs><marker id='a' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='8' "
		     "markerHeight='8' markerUnits='userSpaceOnUse' orient='auto'>"
		     "<path d='M0 0.5L8 4L0 7.5Z' style='fill:#345;stroke:none'/></marker>"
		     "<marker id='x' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='8' "
		     "markerHeight='8' markerUnits='userSpaceOnUse' orient='auto'>"
		     "<path d='M0 0.5L8 4L0 7.5Z' style='fill:#c22;stroke:none'/></marker>"
		     "</defs>\n");
}

static uint64_t draw_note(struct sequence *s, const char *class, uint64_t y, const char *text)
{
	draw_text(s, class, 1000, y, text, SIZE_MAX);
	return y + LINE * 100;
}

static uint64_t draw_more(struct sequence *s, uint64_t y, unsigned long long more,
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
	char text[96];
	unsigned hosts = 0;

	for (size_t i = 0; i < s->nlanes; i++)
		hosts += !i || s->lanes[i]->actor->host != s->lanes[i - 1]->actor->host;
	str_format(text, sizeof(text), "%llu message%s, %u host%s, %zu thread%s", s->messages,
		   s->messages == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s", s->nlanes,
		   s->nlanes == 1 ? "" : "s");
	begin(s, text);
	if (!s->nrows)
		return;
	put(s, " from ");
	strbuf_seconds(&s->words, s->rows[0].time, 6);
	put(s, " s by the clock of ");
	put(s, s->hosts[0]);
}

void sequence_draw(struct sequence *s, char *const *notes, size_t nnotes)
{
	const char *legend = !s->nrows ? "there are no marks in these traces" :
		"full arrows begin a window, dashed ones do not; bars are windows, ticks events";
	size_t lines = nnotes + 1 + (s->more_messages > 0) + (s->more_points > 0) +
		       (s->more_lanes > 0), longest = strlen(legend);
	uint64_t y = s->bottom + (22 + FOOT) * 100, width = s->right;

	for (size_t i = 0; i < nnotes; i++)
		if (longest < strlen(notes[i]))
			longest = strlen(notes[i]);
	if (width < longest * SVG_LETTER / 100)
		width = longest * SVG_LETTER / 100;
	put_title(s);
	svg_begin(width + RIGHT, y / 100 + lines * LINE, s->words.text);
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
