/* SPDX-License-Identifier: ISC */
/*
 * tracks.c - event lines as Perfetto's slices, arrows, counters and instants
 *
 * Each host is a process, and each task is a thread of it. A thread has a track for each category
 * of its slices: call, wait, latency, window, message, event; the slices of markers are on its own
 * track. Perfetto wants the slices of a track nested, so a slice that begins before the end of the
 * last one goes to another track of the same name, which the user interface shows as the same
 * track. Perfetto sorts by time, so a slice is written when it ends.
 */

#include "answers/answers.h"
#include "seen/seen.h"
#include "perfetto.h"

/* TrackEvent.Type */
enum { BEGIN = 1, END, INSTANT, COUNTER };

/* The kinds of tracks. */
enum { HOST = 'H', SLICES = 'S', ASYNC = 'A', NUMBER = 'C' };

enum { MARK_NS = 1 /* duration of the slice of a mark, so that an arrow can bind to it */ };

/* A track. Its key is the uuid of its parent, its kind and its name. */
struct track {
	struct table_entry entry;
	uint64_t uuid;                  /* 0: it is new */
	uint64_t end;                   /* of the last slice */
	unsigned open;                  /* slices of markers that have not ended */
};

/* The track of a task. */
struct thread {
	struct lane lane;
	struct track track;             /* without a key */
	struct track *host;
	char comm[16];                  /* as it was written last, NUL-terminated */
	struct dt_window window;
};

struct slice {
	const char *category;
	struct text_part name;
	uint64_t from, ns;
	const struct seen *line;  /* whose fields are the arguments, or NULL */
	const char *arrow;              /* the form of its end at the slice: "47f" or "48f" */
	uint64_t key;                   /* 0: none */
};

static struct {
	struct slices slices;           /* whose tasks are threads */
	struct table tracks;
	struct table sent;              /* the keys of messages that no task has received */
	uint64_t uuids;
	struct input in;
	unsigned long long events;
	uint64_t last;                  /* the latest time */
} all = {
	.slices.tasks = { .size = sizeof(struct thread) },
	.slices.cpus = { .size = sizeof(struct lane) },
	.tracks = { .size = sizeof(struct track) }, .sent = { .size = sizeof(struct table_entry) },
};

/* ---- tracks ------------------------------------------------------------------------------- */

/* Return a track. If it has no uuid yet, give it one and set *added; the caller describes it. */
static struct track *track_at(const struct track *parent, char kind, struct text_part key,
			      int *added)
{
	static struct strbuf w;
	struct track *t;

	strbuf_add(strbuf_empty(&w), (const char *)&parent->uuid, sizeof(parent->uuid));
	strbuf_add(&w, &kind, 1);
	strbuf_add(&w, key.text, key.n);
	t = table_at(&all.tracks, w.text, w.n);
	*added = !t->uuid;
	if (*added)
		t->uuid = ++all.uuids;
	return t;
}

/* Return a track below another one. */
static struct track *track_below(const struct track *parent, char kind, struct text_part key,
				 struct text_part name)
{
	int added;
	struct track *t = track_at(parent, kind, key, &added);

	if (added) {
		proto_put("1{60{1u5u2p", t->uuid, parent->uuid, &name);
		proto_put(kind == NUMBER ? "8{}}." : "}.");
	}
	return t;
}

/* Describe the thread of a task of the line's host, if it is new or has another name now. */
static struct track *describe(struct lane *lane, const struct seen *l, const char *comm)
{
	static const struct track top;
	static struct strbuf string;
	struct thread *t = (struct thread *)lane;
	struct text_part name = l->host.n ? l->host : text_part_of("trace");
	int added = !t->track.uuid, host;
	uint64_t lane_pid;

	if (added)
		t->host = track_at(&top, HOST, name, &host);
	if (added && host)
		proto_put("1{60{1u3{1u6p}}.", t->host->uuid, t->host->uuid, &name);
	if (added)
		t->track.uuid = ++all.uuids;
	name = strbuf_unescaped(&string, seen_text(l, comm), l->json);
	if (name.n >= sizeof(t->comm))
		name.n = sizeof(t->comm) - 1;
	if (name.n && *name.text != '<' && !text_part_is(name, t->comm))
		str_format(t->comm, sizeof(t->comm), "%.*s", (int)name.n, name.text);
	else if (!added)
		return &t->track;
	lane_pid = text_value(strrchr(lane->entry.key, '\t') + 1, NULL, 10);
	proto_put(*t->comm ? "1{60{1u4{1u2u5s}}." : "1{60{1u4{1u2u}}.", t->track.uuid,
		  t->host->uuid, lane_pid & INT32_MAX, t->comm);
	return &t->track;
}

/* ---- events of tracks ----------------------------------------------------------------------- */

/* Begin the packet of an event. The caller adds to the event. */
static void event_begin(const struct track *t, unsigned type, uint64_t time)
{
	proto_put("1{8u10u11{9u11u", time, (uint64_t)1, (uint64_t)type, t->uuid);
}

static void put_event(const struct track *t, unsigned type, uint64_t time, const char *category,
		      struct text_part name)
{
	event_begin(t, type, time);
	if (type != END) /* it ends the last slice, whatever its name is */
		proto_put("22s23p", category, &name);
	proto_put("}.");
}

/* Write the fields of a line as arguments: as JSON if the line is whole, or else as text. */
static void put_arguments(const struct seen *l)
{
	const char *last = l->body.n ? l->body.text + l->body.n - 1 : "";

	if (l->json && *last == '}' && last + 1 < all.in.line + all.in.n &&
	    l->body.n < PACKET_MOST / 2) {
		proto_put("4{10s", "fields");
		proto_string(9, l->body.text, l->body.n); /* legacy_json_value */
		proto_end();
	} else {
		proto_put("4{10s6p}", "text", &l->body);
	}
}

/* Write a slice of a thread, or an instant. */
static void put_slice(const struct track *t, unsigned type, const struct slice *s)
{
	struct text_part category = text_part_of(s->category);
	struct track *track = track_below(t, SLICES, category, category);
	char key[20];

	if (type == BEGIN && s->from < track->end) { /* it is not nested */
		table_remove(&all.tracks, track);
		track = track_below(t, SLICES, category, category);
	}
	event_begin(track, type, s->from);
	proto_put("22s23p", s->category, &s->name);
	if (s->arrow)
		proto_put(s->arrow, s->key);
	if (s->key) {
		str_format(key, sizeof(key), "%llx", (unsigned long long)s->key);
		proto_put("4{10s6s}", "key", key);
	}
	if (s->line)
		put_arguments(s->line);
	proto_put("}.");
	if (type != BEGIN)
		return;
	track->end = s->from + s->ns;
	put_event(track, END, track->end, NULL, s->name);
}

/* ---- waits and requests --------------------------------------------------------------------- */

static void put_window(const struct thread *t, const struct dt_window *w, uint64_t now)
{
	if (w->open)
		put_slice(&t->track, BEGIN, &(struct slice){
			.category = "window", .name = text_part_of("window"), .key = w->key,
			.from = w->since, .ns = now > w->since ? now - w->since : 0 });
}

/* Process a mark line: the end of a message, the beginning or the end of a window. */
static void read_mark(const struct seen *l, const struct dt_mark *m, uint64_t now)
{
	char tid[24];
	struct text_part id = { tid, str_format(tid, sizeof(tid), "%llu",
						(unsigned long long)m->tid) };
	struct thread *t = (struct thread *)slices_lane(&all.slices, &all.slices.tasks, l, id);
	void *sent = table_find(&all.sent, (const char *)&m->key, sizeof(m->key));
	struct slice s = { .category = "message", .from = now, .ns = MARK_NS, .key = m->key };
	struct dt_window ended;

	describe(&t->lane, l, "");
	ended = dt_window_mark(&t->window, m, now);
	put_window(t, &ended, now);
	if (m->what == 'E')
		return;
	s.name = text_part_of(m->what == 'M' ? "send" : "receive");
	/* the first send of a key and its first receive make an arrow: flow_ids, and the end */
	if (m->what == 'M' && !sent) {
		s.arrow = "47f";
		table_at(&all.sent, (const char *)&m->key, sizeof(m->key));
	} else if (m->what != 'M' && sent) {
		s.arrow = "48f";
		table_remove(&all.sent, sent);
	}
	put_slice(&t->track, BEGIN, &s);
}

/* ---- markers of Android --------------------------------------------------------------------- */

/* Take the text up to the next bar from *s. */
static struct text_part up_to_bar(struct text_part *s)
{
	const char *bar = s->n ? memchr(s->text, '|', s->n) : NULL;
	struct text_part p = { s->text, bar ? (size_t)(bar - s->text) : s->n };

	s->text += p.n + (bar != NULL);
	s->n -= p.n + (bar != NULL);
	return p;
}

/* Return the text of a marker, or nothing. */
static struct text_part marker_text(const struct seen *l)
{
	static struct strbuf string;
	struct text_part s = seen_marker(l);

	if (!s.text)
		return s;
	s = strbuf_unescaped(&string, s, l->json);
	while (s.n && strchr("\r\n ", s.text[s.n - 1]))
		s.n--;
	return s;
}

/* Write one end of a slice on its track. Leave out an end whose beginning the trace lacks. */
static void put_marker(struct track *t, int begins, uint64_t now, struct text_part name)
{
	if (!begins && !t->open)
		return;
	put_event(t, begins ? BEGIN : END, now, "marker", name);
	t->open += begins ? 1 : -1U;
}

static void put_counter(struct track *host, uint64_t now, struct text_part name,
			struct text_part value)
{
	struct decimal v;

	if (decimal_parse(&v, value) < 0)
		v = (struct decimal){ 0 };
	event_begin(track_below(host, NUMBER, name, name), COUNTER, now);
	proto_put("30u}.", v.negative ? 0 - v.whole : v.whole);
}

/*
 * Write what a marker means: B|PID|NAME begins a slice of the thread and E ends it,
 * S|PID|NAME|COOKIE and F|PID|NAME|COOKIE are the ends of a slice of no thread, C|PID|NAME|VALUE
 * is a counter, and I|PID|NAME an instant. Return 1, or 0 if the line is no marker.
 */
static int read_marker(const struct seen *l, struct thread *t, uint64_t now)
{
	struct text_part s = marker_text(l), pid, key, name;
	struct track *async;
	char kind = s.n ? *s.text : '\0';
	uint64_t n;

	if (!kind || !strchr("BESFCI", kind) || (s.n > 1 ? s.text[1] != '|' : kind != 'E'))
		return 0;
	up_to_bar(&s);
	pid = up_to_bar(&s);
	if (kind != 'E' && (text_part_number(pid, 10, &n) < 0 || !s.n))
		return 0;
	key = s;
	/* the name of a slice may have bars */
	name = kind == 'B' || kind == 'I' ? s : up_to_bar(&s);
	if (kind == 'C') {
		put_counter(t->host, now, name, s);
	} else if (kind == 'S' || kind == 'F') {
		async = track_below(t->host, ASYNC, key, name);
		put_marker(async, kind == 'S', now, name);
		if (!async->open)
			table_remove(&all.tracks, async);
	} else if (kind == 'I') {
		put_event(&t->track, INSTANT, now, "marker", name);
	} else {
		put_marker(&t->track, kind == 'B', now, name);
	}
	return 1;
}

/* ---- the trace ------------------------------------------------------------------------------ */

/* End what is open: events were lost, or the trace has ended. */
static void forget(void)
{
	struct thread *t;

	slices_gap(&all.slices);
	for (size_t i = 0; (t = table_next(&all.slices.tasks, &i));) {
		put_window(t, &t->window, all.last);
		t->window.open = 0;
	}
}

static void read_event(const struct seen *l, uint64_t now, int digits)
{
	const struct slices *is = &all.slices;
	/* a decoded call has the time of its beginning, and other lines that of their end */
	int call = seen_is_call(l);
	uint64_t ns = is->wakes >= 0 || is->measured ? seen_latency(l, digits) : 0;
	struct slice s = { .category = call ? "call" : "latency", .name = l->event, .ns = ns,
			   .from = call ? now : now > ns ? now - ns : 0, .line = l };
	struct track *t = describe(is->task, l, "comm"), *other;
	struct dt_mark m;
	char text[64];

	if (dt_mark(&m, l)) {
		read_mark(l, &m, now);
		return;
	}
	if (read_marker(l, (struct thread *)is->task, now))
		return;
	/* the kernel may have forgotten the name in the head */
	if (is->wakes < 0 && !is->measured && !lane_is_idle(is->task))
		describe(is->task, l, "prev_comm");
	other = is->other ? describe(is->other, l, is->wakes < 0 ? "next_comm" : ".comm") : NULL;
	if (call && l->json)
		s.name = seen_text(l, "call");
	else if (*l->prefix && !call)
		s.name = (struct text_part){ text, str_format(text, sizeof(text), "%s%.*s",
							      l->prefix, (int)l->event.n,
							      l->event.text) };
	if (is->waited && now > is->waited_from)
		put_slice(other, BEGIN, &(struct slice){
			.category = "wait", .name = text_part_of(task_wait_names[is->waited]),
			.from = is->waited_from, .ns = now - is->waited_from,
		});
	if (ns || (call && seen_text(l, "lat").n)) {
		t = is->wakes < 0 ? other : t; /* the next task has waited this long */
		if (t)
			put_slice(t, BEGIN, &s);
	} else if (!is->wakes) {
		s.category = "event";
		s.from = now;
		put_slice(t, INSTANT, &s);
	}
}

static void read_line(void)
{
	uint64_t now, tid;
	int digits;

	if (!input_event(&all.in) || seen_time(&all.in.l, &now, &digits) < 0) {
		if (comments_is_gap(all.in.line))
			forget();
		comments_keep(&all.in.comments, all.in.line);
		return;
	}
	if (text_part_number(all.in.l.pid, 10, &tid) < 0)
		all.in.l.pid = text_part_of("0");
	all.events++;
	if (now > all.last)
		all.last = now;
	slices_take(&all.slices, &all.in.l, now);
	read_event(&all.in.l, now, digits);
}

/* Write the lines about lost events, and about lines that are not understood, as instants. */
static void put_comments(void)
{
	static const struct track top;
	struct text_part name = text_part_of("comments");

	comments_end(&all.in.comments);
	for (unsigned i = 0; i < all.in.comments.n; i++)
		put_event(track_below(&top, SLICES, name, name), INSTANT, all.last, "comment",
			  text_part_of(all.in.comments.line[i]));
}

int perfetto_lines(void)
{
	input_each(&all.in, read_line);
	forget();
	put_comments();
	packets_write();
	return all.events ? DONE : err_no("no event in the trace");
}
