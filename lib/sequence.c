/* SPDX-License-Identifier: ISC */
/*
 * sequence.c - messages between threads of several hosts as a picture
 *
 * Time goes down, but not evenly: each mark has a row of its own, and the longer the
 * time to the next the farther it is, by the logarithm. So a microsecond is seen
 * beside a second, and arrows have room for what is written at them.
 */
#include <stdlib.h>
#include <string.h>

#include "join.h"
#include "tfs.h"

enum {
	MOST_MESSAGES = 200, MOST_POINTS = 1200, MOST_LANES = 24,

	LEFT = 100, LANE = 180, GAP = 14, RIGHT = 10, BAR = 10,
	TITLE = 34, BAND = 52, FOOT = 16, LINE = 15,    /* heights */
	ROW = 9, LABELLED = 16, OCTAVE = 3, ROW_MOST = 56, PAUSE = 44, AGAIN = 900,
	PAUSE_NS = 1000000,
};

struct window {
	int64_t from, to;
	int whole;              /* its end is in the trace */
};

struct tick {
	uint64_t y;
	int64_t time;
	const char *name;
	size_t more;
};

struct lane {
	const struct actor *actor;
	char *label;
	uint64_t x;             /* its middle; all places are hundredths of pixels */
	int64_t first, last;
	struct window *windows;
	size_t nwindows, room, at;
	struct tick *ticks;
	size_t nticks, ticks_room;
};

struct row {
	int64_t time;
	uint64_t y;
	int paused, named;      /* between it and the one before: nothing, the names */
};

struct sequence {
	const char *const *hosts;
	const struct messages *m;
	struct point **points;  /* that are shown, by time */
	size_t n;
	struct lane *lanes[MOST_LANES];
	size_t nlanes;
	struct row *rows;
	size_t nrows;
	unsigned long long messages, more_messages, more_points, more_lanes;
	struct table names;
	struct words words;
	uint64_t right, bottom;
};

/* ---- what is shown ---------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	const struct point *x = *(struct point *const *)a, *y = *(struct point *const *)b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static const struct point *peer_of(const struct sequence *s, const struct point *p)
{
	return p->peer < s->m->n ? &s->m->points[p->peer] : NULL;
}

static int is_message(const struct sequence *s, const struct point *p)
{
	return p->what == 'M' && peer_of(s, p);
}

/* The first marks, so many and with so many messages that it can be looked at. */
static void choose_points(struct sequence *s)
{
	size_t n = 0;

	s->bottom = TITLE * 100;
	s->right = LEFT + LANE;
	s->points = allocate(s->m->n, sizeof(*s->points));
	for (size_t i = 0; i < s->m->n; i++)
		s->points[i] = &s->m->points[i];
	if (s->m->n)
		qsort(s->points, s->m->n, sizeof(*s->points), by_time);
	for (; n < s->m->n && n < MOST_POINTS; n++) {
		int message = is_message(s, s->points[n]);

		if (message && s->messages == MOST_MESSAGES)
			break;
		s->messages += (unsigned)message;
	}
	s->n = n;
	s->more_points = s->m->n - n;
	for (; n < s->m->n; n++)
		s->more_messages += (unsigned)is_message(s, s->points[n]);
}

static int by_host(const void *a, const void *b)
{
	const struct lane *x = *(struct lane *const *)a, *y = *(struct lane *const *)b;

	if (x->actor->host != y->actor->host)
		return x->actor->host < y->actor->host ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->actor->tid < y->actor->tid ? -1 : 1;
}

static void add_window(struct lane *l, int64_t from)
{
	if (l->nwindows == l->room) {
		l->room = 2 * l->room + 8;
		l->windows = realloc(l->windows, l->room * sizeof(*l->windows));
		if (!l->windows)
			die(REFUSED, "out of memory");
	}
	l->windows[l->nwindows++] = (struct window){ from, INT64_MAX, 0 };
}

/* A window that is open when the next begins has lost its end. */
static void take_window(struct lane *l, const struct point *p)
{
	struct window *last = l->nwindows ? &l->windows[l->nwindows - 1] : NULL;
	int open = last && last->to == INT64_MAX;

	if (p->what == 'B' && p->peer != PEER_NOT) {
		if (open)
			last->to = p->time;
		add_window(l, p->time);
	} else if (p->what == 'E' && open) {
		last->to = p->time;
		last->whole = 1;
	}
}

static struct lane *lane_of(struct sequence *s, struct actor *a, int64_t first)
{
	char text[48];
	struct lane *l;

	if (a->lane || s->nlanes == MOST_LANES)
		return a->lane;
	l = allocate(1, sizeof(*l));
	format(text, sizeof(text), "%s-%u", *a->comm ? a->comm : "?", a->tid);
	l->label = strdup(text);
	if (!l->label)
		die(REFUSED, "out of memory");
	l->actor = a;
	l->first = first;
	return s->lanes[s->nlanes++] = a->lane = l;
}

static void choose_lanes(struct sequence *s)
{
	static struct lane none;
	uint64_t x = LEFT;

	for (size_t i = 0; i < s->n; i++) {
		struct point *p = s->points[i];
		struct lane *l = lane_of(s, p->actor, p->time);

		if (!l) {
			p->actor->lane = &none;
			s->more_lanes++;
		} else if (l != &none) {
			l->last = p->time;
			take_window(l, p);
		}
	}
	for (size_t i = 0; i < s->n; i++)
		if (s->points[i]->actor->lane == &none)
			s->points[i]->actor->lane = NULL;
	qsort(s->lanes, s->nlanes, sizeof(*s->lanes), by_host);
	for (size_t i = 0; i < s->nlanes; i++) {
		if (i && s->lanes[i]->actor->host != s->lanes[i - 1]->actor->host)
			x += GAP;
		s->lanes[i]->x = (x + LANE / 2) * 100;
		x += LANE;
	}
	s->right = x;
}

/* ---- where it is shown -------------------------------------------------------------------- */

/* By how much a row is below the one before it, so long after it. */
static uint64_t down(int64_t ns, int labelled)
{
	uint64_t us = (uint64_t)ns / 1000 + 1, octaves = 63 - (uint64_t)__builtin_clzll(us);
	uint64_t part = us - (UINT64_C(1) << octaves);
	uint64_t y = 100 * octaves + (uint64_t)((double)part * 100 /
						(double)(UINT64_C(1) << octaves));

	y = y * OCTAVE + (labelled ? LABELLED * 100 : ROW * 100);
	return y < ROW_MOST * 100 ? y : ROW_MOST * 100;
}

/* Is it the end, is it the beginning of something that goes on over the rows between? */
static int ends(const struct sequence *s, const struct point *p)
{
	const struct point *other = peer_of(s, p);

	if (p->what == 'E')
		for (size_t i = 0; i < p->actor->lane->nwindows; i++)
			if (p->actor->lane->windows[i].to == p->time)
				return 1;
	return other && p->what != 'M' && other->time <= p->time;
}

static int begins(const struct sequence *s, const struct point *p)
{
	const struct point *other = peer_of(s, p);
	int n = is_message(s, p) && other->time >= p->time;

	if (p->what == 'B')
		for (size_t i = 0; i < p->actor->lane->nwindows; i++)
			if (p->actor->lane->windows[i].from == p->time)
				return n + p->actor->lane->windows[i].whole;
	return n;
}

static void make_rows(struct sequence *s)
{
	uint64_t y = (TITLE + BAND + 14) * 100, headed = y;
	int going = 0, labelled = 0;

	s->rows = allocate(s->n, sizeof(*s->rows));
	for (size_t i = 0; i < s->n; i++) {
		const struct point *p = s->points[i];
		struct row *r = s->nrows ? &s->rows[s->nrows - 1] : NULL;
		int label = p->what != 'E';

		if (!p->actor->lane || (p->peer == PEER_NOT && p->what != 'E'))
			continue;
		if (!r || r->time != p->time) {
			int64_t ns = r ? p->time - r->time : 0;
			int paused = r && !going && ns >= PAUSE_NS;
			int named = y - headed > (going ? 2 : 1) * AGAIN * 100;

			y += !r ? 0 : !paused && !named ? down(ns, label && labelled) :
			     (uint64_t)(paused + named) * PAUSE * 100;
			if (named)
				headed = y;
			r = &s->rows[s->nrows++];
			*r = (struct row){ p->time, y, paused, named };
			labelled = 0;
		}
		labelled |= label;
		going += begins(s, p) - ends(s, p);
	}
	if (!s->nrows)
		return;
	s->bottom = y + 24 * 100;
	for (size_t i = 0; i < s->nlanes; i++)
		for (size_t k = 0; k < s->lanes[i]->nwindows; k++)
			if (s->lanes[i]->windows[k].to == INT64_MAX)
				s->lanes[i]->windows[k].to = s->rows[s->nrows - 1].time;
}

/* Where the time is between two rows. */
static uint64_t y_of(const struct sequence *s, int64_t time)
{
	size_t low = 0, high = s->nrows - 1;
	const struct row *a, *b;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (s->rows[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	a = &s->rows[low];
	b = &s->rows[high];
	if (time <= a->time || a == b)
		return a->y;
	if (time >= b->time)
		return b->y;
	return a->y + (uint64_t)((double)(time - a->time) / (double)(b->time - a->time) *
				 (double)(b->y - a->y));
}

struct sequence *sequence_make(const char *const *hosts, const struct messages *m)
{
	struct sequence *s = allocate(1, sizeof(*s));

	s->hosts = hosts;
	s->m = m;
	s->names.size = sizeof(struct entry);
	choose_points(s);
	choose_lanes(s);
	make_rows(s);
	return s;
}

/* ---- events ------------------------------------------------------------------------------- */

/* A thread without a window is one that is traced all the time. */
static int is_inside(struct lane *l, int64_t time)
{
	while (l->at < l->nwindows && l->windows[l->at].to < time)
		l->at++;
	if (l->nwindows)
		return l->at < l->nwindows && l->windows[l->at].from <= time;
	return time >= l->first && time <= l->last;
}

static int is_actor(const struct actor *a, unsigned host, const struct trace_line *l)
{
	struct part id = a->group && l->tgid.n ? l->tgid : l->pid;
	uint64_t n;

	return a->host == host && !part_number(id, 10, &n) && n == a->tid;
}

void sequence_event(struct sequence *s, unsigned host, const struct trace_line *l, int64_t time)
{
	struct lane *lane = NULL;
	struct tick *last;
	uint64_t y;
	struct dt_mark m;

	for (size_t i = 0; i < s->nlanes && !lane; i++)
		if (is_actor(s->lanes[i]->actor, host, l))
			lane = s->lanes[i];
	if (!lane || !is_inside(lane, time) || dt_mark(&m, l))
		return;
	y = y_of(s, time);
	last = lane->nticks ? &lane->ticks[lane->nticks - 1] : NULL;
	if (last && last->y / 100 == y / 100) {
		last->more++;
		return;
	}
	if (lane->nticks == lane->ticks_room) {
		lane->ticks_room = 2 * lane->ticks_room + 16;
		lane->ticks = realloc(lane->ticks, lane->ticks_room * sizeof(*lane->ticks));
		if (!lane->ticks)
			die(REFUSED, "out of memory");
	}
	s->words.n = 0;
	words_put(&s->words, l->prefix);
	words_add(&s->words, l->event.text, l->event.n);
	lane->ticks[lane->nticks++] = (struct tick){
		y, time, ((struct entry *)table_at(&s->names, s->words.text, s->words.n))->key, 0,
	};
}

/* ---- out ------------------------------------------------------------------------------------ */

/* So long, in a unit that it has few digits of. */
static void put_span(struct words *w, int64_t ns)
{
	static const struct { int64_t ns; const char *name; } units[] = {
		{ 1000, " us" }, { 1000000, " ms" }, { 1000000000, " s" },
	};
	size_t u = 0;

	if (ns < 0) {
		words_put(w, "-");
		ns = -ns;
	}
	while (u < 2 && ns >= 1000 * units[u].ns)
		u++;
	if (!u && ns >= 10000) /* no clock is so exact */
		ns -= ns % 1000;
	svg_number(w, (uint64_t)(ns / (units[u].ns / 100)));
	words_put(w, units[u].name);
}

/* When, from the first row on, to the microsecond. */
static void put_when(struct sequence *s, int64_t time)
{
	unsigned long long us = (unsigned long long)(time - s->rows[0].time) / 1000;
	unsigned long long unit = us < 1000000 ? 1000 : 1000000;
	char text[48];

	format(text, sizeof(text), "%llu", us < 1000 ? us : us / unit);
	words_put(&s->words, text);
	/* a digit too many in front, so that none is lost behind the point */
	format(text, sizeof(text), "%llu%s", unit + us % unit, unit == 1000 ? " ms" : " s");
	*text = '.';
	words_put(&s->words, us < 1000 ? " us" : text);
}

static void begin(struct sequence *s, const char *text)
{
	s->words.n = 0;
	words_put(&s->words, text);
}

static void put(struct sequence *s, const char *text)
{
	words_put(&s->words, text);
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
	print("%s%s\n", s->words.text, text);
}

/* A path's "M12.5 7" and the like. */
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

/* The names of the threads at a height. */
static void draw_names(struct sequence *s, const char *class, uint64_t y)
{
	for (size_t i = 0; i < s->nlanes; i++)
		draw_text(s, class, s->lanes[i]->x, y, s->lanes[i]->label,
			  LANE * 100 / SVG_LETTER - 1);
}

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

static void draw_rows(struct sequence *s)
{
	uint64_t labelled = 0;

	for (size_t i = 0; i < s->nrows; i++) {
		const struct row *r = &s->rows[i];
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

static void draw_window(struct sequence *s, const struct lane *l, const struct window *w)
{
	uint64_t from = y_of(s, w->from), to = y_of(s, w->to);

	/* it goes on below the picture */
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

static void draw_tick(struct sequence *s, const struct lane *l, const struct tick *t)
{
	char text[48];

	begin(s, "<g class='k'><title>");
	put_text(s, t->name, SIZE_MAX);
	put(s, " at ");
	put_when(s, t->time);
	format(text, sizeof(text), ", and %zu more", t->more);
	put(s, t->more ? text : "");
	put(s, "</title><path d='");
	put_place(s, "M", l->x - BAR * 50, t->y);
	put(s, "h");
	svg_number(&s->words, BAR * 100 + 400);
	end(s, "'/></g>");
}

/* What is at both ends of an arrow, or at one. */
static void put_end(struct sequence *s, const char *before, const struct point *p)
{
	char text[48];

	put(s, before);
	format(text, sizeof(text), "%s-%u", *p->actor->comm ? p->actor->comm : "?",
	       p->actor->tid);
	put_text(s, text, SIZE_MAX);
	put(s, " on ");
	put(s, s->hosts[p->actor->host]);
}

/* How far from the middle of its lane an arrow ends. */
static uint64_t half(const struct point *p)
{
	return p->actor->lane->nwindows ? BAR * 50 : 100;
}

/* An arrow that nobody sends or receives. */
static void draw_stub(struct sequence *s, const struct point *p)
{
	uint64_t x = p->actor->lane->x, y = y_of(s, p->time);
	int sent = p->what == 'M';

	begin(s, "<g class='m'><title>");
	put_end(s, sent ? "sent by " : "received by ", p);
	put(s, " at ");
	put_when(s, p->time);
	put(s, p->peer == PEER_MANY ? ": several have its key" :
	       peer_of(s, p) ? ": the other end is not shown" :
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

static void draw_message(struct sequence *s, const struct point *from, const struct point *to)
{
	uint64_t x1 = from->actor->lane->x, x2 = to->actor->lane->x;
	uint64_t y1 = y_of(s, from->time), y2 = y_of(s, to->time);
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
	if (x1 == x2) { /* to itself */
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

static int is_shown(const struct sequence *s, const struct point *p)
{
	return p->actor->lane && p->time <= s->points[s->n - 1]->time;
}

static void draw_all(struct sequence *s)
{
	for (size_t i = 0; i < s->nlanes; i++) {
		const struct lane *l = s->lanes[i];

		for (size_t k = 0; k < l->nwindows; k++)
			draw_window(s, l, &l->windows[k]);
		for (size_t k = 0; k < l->nticks; k++)
			draw_tick(s, l, &l->ticks[k]);
	}
	for (size_t i = 0; i < s->n; i++) {
		const struct point *p = s->points[i], *other = peer_of(s, p);

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
	print("<style>.c{text-anchor:middle}.e{text-anchor:end;font-size:10px;fill:#777}"
	      ".h{font-size:14px;font-weight:bold}.g{fill:#777;font-style:italic}"
	      ".b{fill:#fff;stroke:#ddd}.p{fill:#f8f8f8}.l{stroke:#bbb;stroke-dasharray:2 3}"
	      ".t{stroke:#eee}.k path{stroke:#222}"
	      ".m path{stroke:#345;stroke-width:1.2;fill:none}.m circle{fill:#fff;stroke:#345}"
	      ".m text{font-size:10px;fill:#345;stroke:#fff;stroke-width:3;paint-order:stroke}"
	      ".a{fill:#777;stroke:#fff;stroke-width:4;paint-order:stroke}"
	      ".n{font-size:11px;fill:#555}"
	      ".r path{stroke-dasharray:5 3}.x path{stroke:#c22}.x text{fill:#c22}"
	      ".m:hover path,.k:hover path{stroke-width:3}</style>\n"
	      "<defs><marker id='a' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='8' "
	      "markerHeight='8' markerUnits='userSpaceOnUse' orient='auto'>"
	      "<path d='M0 0.5L8 4L0 7.5Z' style='fill:#345;stroke:none'/></marker>"
	      "<marker id='x' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='8' "
	      "markerHeight='8' markerUnits='userSpaceOnUse' orient='auto'>"
	      "<path d='M0 0.5L8 4L0 7.5Z' style='fill:#c22;stroke:none'/></marker></defs>\n");
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
	format(text, sizeof(text), "%llu %s not shown", more, what);
	return draw_note(s, "n x", y, text);
}

static void put_title(struct sequence *s)
{
	char text[96];
	unsigned hosts = 0;

	for (size_t i = 0; i < s->nlanes; i++)
		hosts += !i || s->lanes[i]->actor->host != s->lanes[i - 1]->actor->host;
	format(text, sizeof(text), "%llu message%s, %u host%s, %zu thread%s", s->messages,
	       s->messages == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s", s->nlanes,
	       s->nlanes == 1 ? "" : "s");
	begin(s, text);
	if (!s->nrows)
		return;
	/* a digit too many in front, so that none is lost behind the point */
	format(text, sizeof(text), "%llu",
	       1000000 + (unsigned long long)s->rows[0].time % 1000000000 / 1000);
	*text = '.';
	put(s, " from ");
	format(text + 16, sizeof(text) - 16, "%llu",
	       (unsigned long long)s->rows[0].time / 1000000000);
	put(s, text + 16);
	put(s, text);
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
	y = draw_more(s, y, s->more_messages, "messages more are");
	y = draw_more(s, y, s->more_points, "marks more, later than these, are");
	y = draw_more(s, y, s->more_lanes, "marks are of threads that are");
	for (size_t i = 0; i < nnotes; i++)
		y = draw_note(s, "n", y, notes[i]);
	draw_note(s, "n", y, legend);
	svg_end();
}
