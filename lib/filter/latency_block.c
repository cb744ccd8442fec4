/* SPDX-License-Identifier: ISC */
/*
 * latblock.c - how long requests to block devices take
 *
 * A request is known by device, kind (rwbs) and first sector, and by its length. There
 * may be several alike: the oldest is paired first, so that their sum is right. The
 * kernel tells a request without a place, as a flush, as sector 0 when it is issued,
 * and as sector -1 when it is complete (blk_rq_trace_sector and blk_rq_pos).
 *
 * A request is issued by the task that queued its bios, or by a thread of the kernel, or
 * by whoever completes another request. So if the trace has block_bio_queue, the task of
 * a request is the one that queued its bio: the event is in the name of that task, and
 * tells the whole disk and its sectors, whatever partition the bio is for
 * (submit_bio_noacct). A flush (FF) has no bio. It belongs to a task that waits for it:
 * one that queued a bio with a flush in front (rwbs begins with F), or behind it if the
 * device cannot write through its cache (FUA).
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "proc/proc.h"
#include "filter/filter.h"

struct disk_request {
	struct latency_start begun;
	uint64_t length;                /* in sectors; 0: of a flush or a command */
	int strangers;                  /* -p: of a task that is not followed */
	char *task;                     /* latency_task_fields of the one that it belongs to */
	struct disk_request *next;
};

/* Requests in flight that differ in nothing but their lengths, the oldest first. */
struct alike {
	struct table_entry entry;
	struct disk_request *first;
};

/* What the event says of a request. */
struct disk_place {
	struct text_part dev, rwbs;
	uint64_t sector, length;
};

static int number_at(const struct trace_line *l, const char *key, uint64_t *n)
{
	struct decimal v;

	if (decimal_parse(&v, trace_line_key(l, key)) < 0)
		return -1;
	*n = v.negative ? 0 - v.whole : v.whole;
	return 0;
}

/* 0, or -1: the event has not all of it. */
static int find_place(const struct trace_line *l, struct disk_place *p)
{
	p->dev = trace_line_key(l, "dev");
	p->rwbs = trace_line_key(l, "rwbs");
	if (!p->dev.n || !p->rwbs.n || number_at(l, "sector", &p->sector) < 0 ||
	    number_at(l, "nr_sector", &p->length) < 0)
		return -1;
	if (p->sector == UINT64_MAX)
		p->sector = 0;
	return 0;
}

static void set_key(struct latency *t, const struct trace_line *l, const struct disk_place *p)
{
	char text[32];

	str_format(text, sizeof(text), "%llu ", (unsigned long long)p->sector);
	t->key.n = 0;
	strbuf_puts(&t->key, text);
	strbuf_add(&t->key, p->dev.text, p->dev.n);
	strbuf_puts(&t->key, " ");
	strbuf_add(&t->key, p->rwbs.text, p->rwbs.n);
	strbuf_puts(&t->key, " ");
	latency_key_origin(t, l);
}

static void put(struct latency *t, const struct trace_line *l, const struct disk_place *p,
		struct disk_request *r)
{
	struct disk_request **last;

	set_key(t, l, p);
	last = &((struct alike *)table_at(&t->open, t->key.text, t->key.n))->first;
	while (*last)
		last = &(*last)->next;
	r->next = NULL;
	r->length = p->length;
	*last = r;
}

/*
 * The oldest of those alike that the completion of so many sectors can be of: of as
 * many, else of more, as the first part of it, else of a command, which has none at
 * its issue and what it moved when it is complete.
 */
static struct disk_request **choose(struct alike *a, uint64_t length)
{
	struct disk_request **r, **part = NULL;

	for (r = &a->first; *r; r = &(*r)->next)
		if ((*r)->length == length)
			return r;
		else if (length && !part && (!(*r)->length || (*r)->length > length))
			part = r;
	return part;
}

/* Take a request out of those in flight. NULL: there is none. */
static struct disk_request *take(struct latency *t, const struct trace_line *l,
				 const struct disk_place *p)
{
	struct disk_request **at, *r;
	struct alike *a;

	set_key(t, l, p);
	a = table_find(&t->open, t->key.text, t->key.n);
	at = a ? choose(a, p->length) : NULL;
	if (!at)
		return NULL;
	r = *at;
	*at = r->next;
	if (!a->first)
		table_remove(&t->open, a);
	return r;
}

static void drop(struct disk_request *r)
{
	latency_start_clear(&r->begun);
	free(r->task);
	free(r);
}

/* ---- the tasks of requests --------------------------------------------------------- */

static int flush_in_front(const struct disk_place *p)
{
	return p->rwbs.n >= 2 && p->rwbs.text[0] == 'F';
}

/* The letter of the operation, in blk_fill_rwbs: behind that of a flush in front. */
static char operation(const struct disk_place *p)
{
	return p->rwbs.text[flush_in_front(p)];
}

static int is_fua(const struct disk_place *p)
{
	size_t i = 1 + (size_t)flush_in_front(p);

	return p->rwbs.n > i && memchr(p->rwbs.text + i, 'F', p->rwbs.n - i);
}

/*
 * The bios of a device that wait for this operation; for 'F' those that wait for a flush.
 * NULL: there are none, unless they are to be made.
 */
static struct bios *bios_of(struct latency *t, const struct trace_line *l,
			    const struct disk_place *p, char operation, int make)
{
	t->bios.size = sizeof(struct bios);
	t->key.n = 0;
	strbuf_add(&t->key, &operation, 1);
	strbuf_add(&t->key, p->dev.text, p->dev.n);
	strbuf_puts(&t->key, " ");
	latency_key_origin(t, l);
	return make ? table_at(&t->bios, t->key.text, t->key.n) :
		      table_find(&t->bios, t->key.text, t->key.n);
}

/* The task of the event, as if it had just queued a bio of these sectors. */
static struct bio bio_at(struct latency *t, const struct trace_line *l, uint64_t from,
			 uint64_t to)
{
	static uint64_t number;

	return (struct bio){
		.from = from, .to = to, .number = ++number,
		.strangers = t->only.n && !pids_has(&t->only, latency_task(l, "pid")),
		.task = latency_task_fields(t, l),
	};
}

/* A request without a length, as the reset of a zone, counts as one sector here. */
static uint64_t end_of(const struct disk_place *p)
{
	return p->sector + (p->length ? p->length : 1);
}

static void queue(struct latency *t, const struct trace_line *l)
{
	struct disk_place p;
	struct bio bio;

	if (find_place(l, &p) < 0)
		return;
	if (flush_in_front(&p)) {
		bio = bio_at(t, l, p.sector, p.sector + p.length);
		bios_add(bios_of(t, l, &p, 'F', 1), &bio);
		if (!p.length)
			return;
	}
	bio = bio_at(t, l, p.sector, end_of(&p));
	bio.fua = is_fua(&p) && !flush_in_front(&p);
	bios_add(bios_of(t, l, &p, operation(&p), 1), &bio);
}

static char *copy_of(const char *s)
{
	size_t n = s ? strlen(s) + 1 : 0;

	return s ? memcpy(xcalloc(n, 1), s, n) : NULL;
}

/* Find the task of a request that is issued: if nobody queued it, the one that does so. */
static void find_task(struct latency *t, const struct trace_line *l, const struct disk_place *p,
		      struct disk_request *r)
{
	char kind = operation(p);
	struct bios *b = bios_of(t, l, p, kind, 0);
	const struct bio *oldest = b && kind == 'F' ? bios_oldest(b) : NULL;
	struct bio bio = { 0 }, flush;

	if (oldest) {
		bio = *oldest;
		bio.task = copy_of(oldest->task);
	} else if (!b || kind == 'F' || !bios_take(b, p->sector, end_of(p), &bio)) {
		bio = bio_at(t, l, p->sector, end_of(p));
	}
	r->strangers = bio.strangers;
	r->task = bio.task;
	if (!bio.fua || is_fua(p))
		return;
	/* the device will be given a flush instead */
	flush = bio;
	flush.fua = 0;
	flush.from = p->sector;
	flush.to = p->sector + p->length;
	flush.task = copy_of(bio.task);
	bios_add(bios_of(t, l, p, 'F', 1), &flush);
}

/* ---- events ------------------------------------------------------------------------ */

static void issue(struct latency *t, const struct latency_event *m)
{
	struct disk_request *r;
	struct disk_place p;

	if (find_place(m->l, &p) < 0) {
		t->no_end++;
		return;
	}
	r = xcalloc(1, sizeof(*r));
	find_task(t, m->l, &p, r);
	if (!r->strangers)
		latency_start_set_for(t, &r->begun, m, r->task);
	put(t, m->l, &p, r);
}

/*
 * An fsync is a request without sectors to the file system, and a flush (FF) to the
 * device. The former ends with an event of its own, and never was given to the device.
 */
static int never_issued(const struct disk_place *p)
{
	return !p->length && !(p->rwbs.n >= 2 && !memcmp(p->rwbs.text, "FF", 2));
}

static void complete(struct latency *t, const struct latency_event *m)
{
	struct disk_request *r = NULL;
	struct bios *waiting;
	struct disk_place p;

	if (!find_place(m->l, &p)) {
		r = take(t, m->l, &p);
		if (!r && never_issued(&p)) {
			waiting = bios_of(t, m->l, &p, 'F', 0);
			if (waiting)
				bios_end(waiting, p.sector);
			return;
		}
	}
	if (!r) {
		/* with -p most of them are others' */
		t->no_begin += !t->only.n;
		return;
	}
	if (!r->strangers)
		latency_start_print(t, &r->begun, m);
	if (r->length > p.length) {
		/* the rest of it goes on there */
		p.sector += p.length;
		p.length = r->length - p.length;
		put(t, m->l, &p, r);
	} else {
		drop(r);
	}
}

/* The device did not take it: it is issued once more. */
static void requeue(struct latency *t, const struct latency_event *m)
{
	struct disk_request *r;
	struct disk_place p;
	struct bio bio;

	if (find_place(m->l, &p) < 0)
		return;
	r = take(t, m->l, &p);
	if (!r)
		return;
	if (operation(&p) != 'F') {
		bio = bio_at(t, m->l, p.sector, end_of(&p));
		free(bio.task);
		bio.strangers = r->strangers;
		bio.task = copy_of(r->task);
		bios_add(bios_of(t, m->l, &p, operation(&p), 1), &bio);
	}
	drop(r);
}

static int event(struct latency *t, const struct latency_event *m)
{
	if (t->only.n && !strcmp(m->event, "sched_process_fork"))
		return latency_follow_fork(t, m->l);
	if (!strcmp(m->event, "block_bio_queue"))
		queue(t, m->l);
	else if (!strcmp(m->event, "block_rq_issue"))
		issue(t, m);
	else if (!strcmp(m->event, "block_rq_complete"))
		complete(t, m);
	else if (!strcmp(m->event, "block_rq_requeue"))
		requeue(t, m);
	return 0;
}

static void forget_one(struct latency *t, void *entry)
{
	struct alike *a = entry;

	for (struct disk_request *r = a->first, *next; r; r = next) {
		next = r->next;
		t->no_end += !r->strangers;
		drop(r);
	}
}

static void forget_bios(struct latency *t, void *entry)
{
	(void)t;
	bios_clear(entry);
}

static void forget(struct latency *t)
{
	latency_forget_all(t, &t->open, forget_one);
	latency_forget_all(t, &t->bios, forget_bios);
}

const struct latency_matcher latency_block = { sizeof(struct alike), event, forget };
