/* SPDX-License-Identifier: ISC */
/*
 * latency_block.c - how long requests to block devices take
 *
 * Device, kind (rwbs), first sector and length identify a request. Several requests may
 * be alike; then the oldest is paired first, so that the sum of the latencies is right. A
 * request without a place, such as a flush, has sector 0 in the event of its issue, and
 * sector -1 in the event of its completion (blk_rq_trace_sector and blk_rq_pos).
 *
 * A request is issued by the task that queued its bios, or by a kernel thread, or by any
 * task that completes another request. So if the trace has block_bio_queue, the request
 * belongs to the task that queued its bio: that task runs during the event, and the event
 * has the sectors of the whole disk even if the bio is for a partition
 * (submit_bio_noacct). A flush (FF) has no bio. It belongs to a task that waits for it:
 * the task queued a bio with a flush in front (rwbs begins with F), or a bio with a flush
 * after it (FUA), if the device cannot write through its cache.
 *
 * Some devices make no requests: their drivers do what a bio says (zram, a RAM disk), or pass bios
 * on to other devices (device mapper, RAID). There a bio takes the time from block_bio_queue to
 * block_bio_complete. A bio that a request has taken is no longer here when it is complete.
 */

#include "base/base.h"
#include "proc/proc.h"
#include "lines/lines.h"
#include "latency.h"

struct disk_request {
	struct latency_start begun;
	uint64_t length;                /* in sectors; 0 for a flush or a command */
	int unfollowed;                 /* with -p: the task is not followed */
	char *task;                     /* latency_task_fields of its task */
	struct disk_request *next;
};

/* Requests in flight that differ only in their lengths, the oldest first. */
struct alike {
	struct table_entry entry;
	struct disk_request *first;
};

/* The fields of an event that identify a request. */
struct disk_place {
	struct text_part dev, rwbs;
	uint64_t sector, length;
};

static int number_at(const struct seen *l, const char *key, uint64_t *n)
{
	struct decimal v;

	if (decimal_parse(&v, seen_text(l, key)) < 0)
		return -1;
	*n = v.negative ? 0 - v.whole : v.whole;
	return 0;
}

/* Read the fields from the event. Return 0, or -1 if a field is missing. */
static int read_place(const struct seen *l, struct disk_place *p)
{
	p->dev = seen_text(l, "dev");
	p->rwbs = seen_text(l, "rwbs");
	if (!p->dev.n || !p->rwbs.n || number_at(l, "sector", &p->sector) < 0 ||
	    number_at(l, "nr_sector", &p->length) < 0)
		return -1;
	if (p->sector == UINT64_MAX)
		p->sector = 0;
	return 0;
}

static void set_key(struct latency *t, const struct seen *l, const struct disk_place *p)
{
	strbuf_format(strbuf_empty(&t->key), "%llu %.*s %.*s ", (unsigned long long)p->sector,
		      (int)p->dev.n, p->dev.text, (int)p->rwbs.n, p->rwbs.text);
	latency_key_origin(t, l);
}

static void put(struct latency *t, const struct seen *l, const struct disk_place *p,
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
 * Return the oldest request that a completion of length sectors can belong to. Prefer a
 * request of the same length. Otherwise take a longer request, whose first part is
 * complete, or a command, whose length is 0 at its issue and not 0 at its completion.
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

/* Remove a request from those in flight, and return it. NULL if there is none. */
static struct disk_request *take(struct latency *t, const struct seen *l,
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

/* Return the letter of the operation (blk_fill_rwbs). The F of a flush precedes it. */
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
 * Return the bios of the device that wait for this operation; 'F' is a flush. If there are
 * none, make an empty set, or return NULL if make is 0.
 */
static struct bios *bios_of(struct latency *t, const struct seen *l,
			    const struct disk_place *p, char operation, int make)
{
	t->bios.size = sizeof(struct bios);
	strbuf_format(strbuf_empty(&t->key), "%c%.*s ", operation, (int)p->dev.n, p->dev.text);
	latency_key_origin(t, l);
	return make ? table_at(&t->bios, t->key.text, t->key.n) :
		      table_find(&t->bios, t->key.text, t->key.n);
}

/* Return a bio of these sectors, queued by the task of the event. */
static struct bio bio_at(struct latency *t, const struct seen *l, uint64_t from,
			 uint64_t to)
{
	static uint64_t number;

	return (struct bio){
		.from = from, .to = to, .number = ++number,
		.unfollowed = latency_unselected(t, l),
		.task = latency_task_fields(t, l),
	};
}

/* Return the end. A request without a length, such as a zone reset, counts as a sector. */
static uint64_t end_of(const struct disk_place *p)
{
	return p->sector + (p->length ? p->length : 1);
}

/* Add a bio of the task of the event. Keep its time unless the device makes requests. */
static void add_bio(struct latency *t, const struct latency_event *m, struct bios *b,
		    struct bio *bio)
{
	if (!b->served && !bio->unfollowed)
		latency_start_keep(t, &bio->begun, m, bio->task);
	bios_add(b, bio);
}

static void queue(struct latency *t, const struct latency_event *m)
{
	struct disk_place p;
	struct bio bio;

	if (read_place(m->l, &p) < 0)
		return;
	if (flush_in_front(&p)) {
		bio = bio_at(t, m->l, p.sector, p.sector + p.length);
		add_bio(t, m, bios_of(t, m->l, &p, 'F', 1), &bio);
		if (!p.length)
			return;
	}
	bio = bio_at(t, m->l, p.sector, end_of(&p));
	bio.fua = is_fua(&p) && !flush_in_front(&p);
	add_bio(t, m, bios_of(t, m->l, &p, operation(&p), 1), &bio);
}

/* A bio is complete. Print it, unless its device makes requests of bios. */
static void complete_bio(struct latency *t, const struct latency_event *m)
{
	struct disk_place p;
	struct bios *b, *flushes;
	struct bio bio;
	int flush;

	if (read_place(m->l, &p) < 0)
		return;
	flush = flush_in_front(&p) && !p.length;
	b = bios_of(t, m->l, &p, flush ? 'F' : operation(&p), 0);
	if (!b || b->served)
		return;
	if (!bios_complete(b, p.sector, flush ? p.sector : end_of(&p), &bio)) {
		t->no_begin += !t->only.n;
		return;
	}
	if (!bio.unfollowed)
		latency_start_print(t, &bio.begun, m);
	free(bio.task);
	latency_start_clear(&bio.begun);
	/* the flush before data is complete as well */
	flushes = flush ? NULL : bios_of(t, m->l, &p, 'F', 0);
	if (flushes && !flushes->served)
		bios_end(flushes, bio.from);
}

/* Set the task of a request that is issued: the task that queued it, or else the issuer. */
static void find_task(struct latency *t, const struct seen *l, const struct disk_place *p,
		      struct disk_request *r)
{
	char kind = operation(p);
	struct bios *b = bios_of(t, l, p, kind, 0);
	const struct bio *oldest = b && kind == 'F' ? bios_oldest(b) : NULL;
	struct bio bio = { 0 }, flush;

	if (b)
		b->served = 1;
	if (oldest) {
		bio = *oldest;
		bio.begun = (struct latency_start){ 0 };
		bio.task = xstrdup(oldest->task);
	} else if (!b || kind == 'F' || !bios_take(b, p->sector, end_of(p), &bio)) {
		bio = bio_at(t, l, p->sector, end_of(p));
	}
	r->unfollowed = bio.unfollowed;
	r->task = bio.task;
	if (!bio.fua || is_fua(p))
		return;
	/* the request lacks the FUA of its bio: a flush will follow instead */
	flush = bio;
	flush.fua = 0;
	flush.from = p->sector;
	flush.to = p->sector + p->length;
	flush.task = xstrdup(bio.task);
	bios_add(bios_of(t, l, p, 'F', 1), &flush);
}

/* ---- events ------------------------------------------------------------------------ */

static void issue(struct latency *t, const struct latency_event *m)
{
	struct disk_request *r;
	struct disk_place p;

	if (read_place(m->l, &p) < 0) {
		t->no_end++;
		return;
	}
	r = xcalloc(1, sizeof(*r));
	find_task(t, m->l, &p, r);
	if (!r->unfollowed)
		latency_start_set(t, &r->begun, m, r->task);
	put(t, m->l, &p, r);
}

/*
 * Was the completed request never issued to the device? For an fsync the file system makes
 * a request without sectors, and the block layer issues a flush (FF) for it. The request
 * without sectors has a completion event, but no issue event.
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

	if (!read_place(m->l, &p)) {
		r = take(t, m->l, &p);
		if (!r && never_issued(&p)) {
			waiting = bios_of(t, m->l, &p, 'F', 0);
			if (waiting) {
				waiting->served = 1;
				bios_end(waiting, p.sector);
			}
			return;
		}
	}
	if (!r) {
		/* with -p, most of these belong to tasks that are not followed */
		t->no_begin += !t->only.n;
		return;
	}
	if (!r->unfollowed)
		latency_start_print(t, &r->begun, m);
	if (r->length > p.length) {
		/* a part is complete: the rest begins at the next sector */
		p.sector += p.length;
		p.length = r->length - p.length;
		put(t, m->l, &p, r);
	} else {
		drop(r);
	}
}

/* The device did not accept the request, which will be issued again. */
static void requeue(struct latency *t, const struct latency_event *m)
{
	struct disk_request *r;
	struct disk_place p;
	struct bio bio;

	if (read_place(m->l, &p) < 0)
		return;
	r = take(t, m->l, &p);
	if (!r)
		return;
	if (operation(&p) != 'F') {
		bio = bio_at(t, m->l, p.sector, end_of(&p));
		free(bio.task);
		bio.unfollowed = r->unfollowed;
		bio.task = xstrdup(r->task);
		bios_add(bios_of(t, m->l, &p, operation(&p), 1), &bio);
	}
	drop(r);
}

static int event(struct latency *t, const struct latency_event *m)
{
	if (!strcmp(m->event, "block_bio_queue"))
		queue(t, m);
	else if (!strcmp(m->event, "block_bio_complete"))
		complete_bio(t, m);
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
		t->no_end += !r->unfollowed;
		drop(r);
	}
}

static void forget_bios(struct latency *t, void *entry)
{
	const struct bios *b = entry;

	for (size_t i = 0; b->completed && !b->served && i < b->n; i++)
		t->no_end += !b->v[i].unfollowed;
	bios_clear(entry);
}

static void forget(struct latency *t)
{
	latency_forget_all(t, &t->open, forget_one);
	latency_forget_all(t, &t->bios, forget_bios);
}

const struct latency_matcher latency_block = { sizeof(struct alike), event, forget };
