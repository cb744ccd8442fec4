/* SPDX-License-Identifier: ISC */
/*
 * sequence.c - lay out a sequence diagram: choose what it shows, and where
 *
 * Time runs downwards, but not to scale. Each mark line has a row, and the distance of two
 * rows grows with the logarithm of the time between them. So microseconds remain visible
 * beside seconds, and arrows have room for their labels.
 */

#include "base/base.h"
#include "lines/lines.h"
#include "requests.h"
#include "sequence.h"

enum {
	MOST_MESSAGES = 200, MOST_POINTS = 1200, /* a larger diagram is hard to read */

	GAP = 14,               /* between the lanes of two hosts */
	ROW = 9, LABELLED = 16, /* least distance of two rows; of two with labels */
	OCTAVE = 3,             /* distance for each doubling of the time between two rows */
	ROW_MOST = 56,          /* largest distance of two rows */
	AGAIN = 900,            /* distance after which the names of the lanes are repeated */
	PAUSE_NS = 1000000,     /* shortest pause that is shown as one */
};

/* ---- choose points, lanes and windows --------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	const struct dt_point *x = *(struct dt_point *const *)a, *y = *(struct dt_point *const *)b;

	return x->time != y->time ? ASCENDING(x->time, y->time) : ASCENDING(x->order, y->order);
}

const struct dt_point *sequence_peer(const struct sequence *s, const struct dt_point *p)
{
	return p->peer < s->m->n ? &s->m->points[p->peer] : NULL;
}

static int is_message(const struct sequence *s, const struct dt_point *p)
{
	return p->what == 'M' && sequence_peer(s, p);
}

/* Show the first mark lines, up to MOST_POINTS of them and MOST_MESSAGES messages. */
static void choose_points(struct sequence *s)
{
	size_t n = 0;

	s->bottom = TITLE * 100;
	s->right = LEFT + LANE;
	s->points = xcalloc(s->m->n, sizeof(*s->points));
	for (size_t i = 0; i < s->m->n; i++)
		s->points[i] = &s->m->points[i];
	if (s->m->n)
		array_sort(s->points, s->m->n, sizeof(*s->points), by_time);
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
	const struct sequence_lane *x = *(struct sequence_lane *const *)a;
	const struct sequence_lane *y = *(struct sequence_lane *const *)b;
	int r = ASCENDING(x->actor->host, y->actor->host);

	r = r ? r : ASCENDING(x->first, y->first);
	return r ? r : ASCENDING(x->actor->tid, y->actor->tid);
}

/* Begin or end a window. If one is open when the next begins, its end is not in the trace. */
static void take_window(struct sequence_lane *l, const struct dt_point *p)
{
	const struct dt_mark mark = { .what = p->what, .key = p->key };

	if (p->what == 'B' && p->peer == PEER_NOT)
		return;
	if (dt_window_mark(&l->window, &mark, (uint64_t)p->time).open) {
		l->windows[l->nwindows - 1].to = p->time;
		l->windows[l->nwindows - 1].whole = p->what == 'E';
	}
	if (p->what == 'B') {
		l->windows = xgrow(l->windows, l->nwindows, &l->room, sizeof(*l->windows));
		l->windows[l->nwindows++] = (struct sequence_window){ p->time, INT64_MAX, 0 };
	}
}

/* Return the lane of the actor; make it if it is new. NULL: there are too many. */
static struct sequence_lane *lane_of(struct sequence *s, struct dt_actor *a, int64_t first)
{
	char text[48];
	struct sequence_lane *l;

	if (a->lane || s->nlanes == MOST_LANES)
		return a->lane;
	l = xcalloc(1, sizeof(*l));
	str_format(text, sizeof(text), "%s-%u", *a->comm ? a->comm : "?", a->tid);
	l->label = xstrdup(text);
	l->actor = a;
	l->first = first;
	return s->lanes[s->nlanes++] = a->lane = l;
}

/* Make lanes and windows for the points. An actor beyond MOST_LANES gets no lane. */
static void choose_lanes(struct sequence *s)
{
	static struct sequence_lane none;
	unsigned x = LEFT;

	for (size_t i = 0; i < s->n; i++) {
		struct dt_point *p = s->points[i];
		struct sequence_lane *l = lane_of(s, p->actor, p->time);

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
	array_sort(s->lanes, s->nlanes, sizeof(*s->lanes), by_host);
	for (size_t i = 0; i < s->nlanes; i++) {
		if (i && s->lanes[i]->actor->host != s->lanes[i - 1]->actor->host)
			x += GAP;
		s->lanes[i]->x = (x + LANE / 2) * 100;
		x += LANE;
	}
	s->right = x;
}

/* ---- compute the rows --------------------------------------------------------------------- */

/* Return the distance of a row from the one before it, which was ns earlier. */
static unsigned down(int64_t ns, int labelled)
{
	uint64_t us = (uint64_t)ns / 1000 + 1, octaves = 63 - (uint64_t)__builtin_clzll(us);
	uint64_t part = us - (UINT64_C(1) << octaves);
	uint64_t y = 100 * octaves + (uint64_t)((double)part * 100 /
						(double)(UINT64_C(1) << octaves));

	y = y * OCTAVE + (labelled ? LABELLED * 100 : ROW * 100);
	return y < ROW_MOST * 100 ? (unsigned)y : ROW_MOST * 100;
}

/* Return the number of windows and arrows that end at the point (0 or 1). */
static int ends(const struct sequence *s, const struct dt_point *p)
{
	const struct dt_point *other = sequence_peer(s, p);

	if (p->what == 'E')
		for (size_t i = 0; i < p->actor->lane->nwindows; i++)
			if (p->actor->lane->windows[i].to == p->time)
				return 1;
	return other && p->what != 'M' && other->time <= p->time;
}

/* Return the number of windows and arrows that begin at the point and have an end. */
static int begins(const struct sequence *s, const struct dt_point *p)
{
	const struct dt_point *other = sequence_peer(s, p);
	int n = is_message(s, p) && other->time >= p->time;

	if (p->what == 'B')
		for (size_t i = 0; i < p->actor->lane->nwindows; i++)
			if (p->actor->lane->windows[i].from == p->time)
				return n + p->actor->lane->windows[i].whole;
	return n;
}

/*
 * Make the rows. A time of PAUSE_NS or more without an open window or arrow is shown as a pause.
 * The names of the lanes are repeated about every AGAIN pixels.
 */
static void make_rows(struct sequence *s)
{
	unsigned y = (TITLE + BAND + 14) * 100, headed = y;
	int going = 0, labelled = 0;

	s->rows = xcalloc(s->n, sizeof(*s->rows));
	for (size_t i = 0; i < s->n; i++) {
		const struct dt_point *p = s->points[i];
		struct sequence_row *r = s->nrows ? &s->rows[s->nrows - 1] : NULL;
		int label = p->what != 'E';

		if (!p->actor->lane || (p->peer == PEER_NOT && p->what != 'E'))
			continue;
		if (!r || r->time != p->time) {
			int64_t ns = r ? p->time - r->time : 0;
			int paused = r && !going && ns >= PAUSE_NS;
			int named = y - headed > (going ? 2u : 1u) * AGAIN * 100;

			y += !r ? 0 : !paused && !named ? down(ns, label && labelled) :
			     (unsigned)(paused + named) * PAUSE * 100;
			if (named)
				headed = y;
			r = &s->rows[s->nrows++];
			*r = (struct sequence_row){ p->time, y, paused, named };
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

unsigned sequence_y(const struct sequence *s, int64_t time)
{
	size_t low = 0, high = s->nrows - 1;
	const struct sequence_row *a, *b;

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
	return a->y + (unsigned)((double)(time - a->time) / (double)(b->time - a->time) *
				 (double)(b->y - a->y));
}

struct sequence *sequence_make(const char *const *hosts, const struct dt_messages *m)
{
	struct sequence *s = xcalloc(1, sizeof(*s));

	s->hosts = hosts;
	s->m = m;
	s->names.size = sizeof(struct table_entry);
	choose_points(s);
	choose_lanes(s);
	make_rows(s);
	return s;
}

/* ---- events ------------------------------------------------------------------------------- */

/* Does the lane show events of this time? A thread without windows is traced all the time. */
static int is_inside(struct sequence_lane *l, int64_t time)
{
	while (l->at < l->nwindows && l->windows[l->at].to < time)
		l->at++;
	if (l->nwindows)
		return l->at < l->nwindows && l->windows[l->at].from <= time;
	return time >= l->first && time <= l->last;
}

static int is_actor(const struct dt_actor *a, unsigned host, const struct seen *l)
{
	struct text_part id = a->group && l->tgid.n ? l->tgid : l->pid;
	uint64_t n;

	return a->host == host && !text_part_number(id, 10, &n) && n == a->tid;
}

void sequence_event(struct sequence *s, unsigned host, const struct seen *l, int64_t time)
{
	struct sequence_lane *lane = NULL;
	struct sequence_tick *last;
	struct table_entry *name;
	unsigned y;
	struct dt_mark m;

	for (size_t i = 0; i < s->nlanes && !lane; i++)
		if (is_actor(s->lanes[i]->actor, host, l))
			lane = s->lanes[i];
	if (!lane || !is_inside(lane, time) || dt_mark(&m, l))
		return;
	y = sequence_y(s, time);
	last = lane->nticks ? &lane->ticks[lane->nticks - 1] : NULL;
	if (last && last->y / 100 == y / 100) {
		last->more++;
		return;
	}
	lane->ticks = xgrow(lane->ticks, lane->nticks, &lane->ticks_room, sizeof(*lane->ticks));
	strbuf_puts(strbuf_empty(&s->words), l->prefix);
	strbuf_add(&s->words, l->event.text, l->event.n);
	name = table_at(&s->names, s->words.text, s->words.n);
	lane->ticks[lane->nticks++] = (struct sequence_tick){ y, time, name->key, 0 };
}
