/* SPDX-License-Identifier: ISC */
/* comms.c - a hash table of tasks by pid, with open addressing */

#include "host/host.h"
#include "event/event.h"

/* Tasks that are allocated together, so that their addresses never change. */
struct comm_block {
	struct comm_block *next;
	_Alignas(max_align_t) char v[];
};

enum { BLOCK = 64 };

static size_t size_of(const struct comms *c)
{
	return c->size ? c->size : sizeof(struct comm);
}

/* Return the slot of the pid, or the empty slot for it; one slot at least is empty. */
static struct comm **slot(const struct comms *c, pid_t pid)
{
	/* consecutive pids would collide: spread them with Knuth's multiplier */
	size_t i = (uint32_t)pid * 2654435769U >> 7;

	for (;; i++) {
		struct comm **at = &c->v[i & (c->room - 1)];

		if (!*at || (*at)->pid == pid)
			return at;
	}
}

/* Double the slots. Return 0, or -1 if memory ran out. */
static int grow(struct comms *c)
{
	struct comms more = *c;

	more.room = c->room ? 2 * c->room : 256;
	more.v = calloc(more.room, sizeof(struct comm *));
	if (!more.v)
		return -1;
	for (size_t i = 0; i < c->room; i++)
		if (c->v[i])
			*slot(&more, c->v[i]->pid) = c->v[i];
	free(c->v);
	*c = more;
	return 0;
}

/* Put an entry on the list of unused entries. */
static void put_back(struct comms *c, struct comm *at)
{
	memset(at, 0, size_of(c));
	at->next = c->unused;
	c->unused = at;
}

/* Return an unused entry, or NULL if memory ran out. */
static struct comm *take(struct comms *c)
{
	struct comm *at;

	if (!c->unused) {
		size_t size = size_of(c);
		struct comm_block *more = malloc(sizeof(*more) + BLOCK * size);

		if (!more)
			return NULL;
		more->next = c->blocks;
		c->blocks = more;
		for (size_t i = BLOCK; i--;)
			put_back(c, (struct comm *)(void *)(more->v + i * size));
	}
	at = c->unused;
	c->unused = at->next;
	at->next = NULL;
	return at;
}

struct comm *comms_entry(struct comms *c, pid_t pid)
{
	struct comm *at;

	if (pid <= 0 || pid > K_PID_MAX_LIMIT)
		return NULL;
	at = c->room ? *slot(c, pid) : NULL;
	if (at)
		return at;
	if ((c->n >= c->room / 2 && grow(c) < 0) || !(at = take(c))) {
		c->failed = 1;
		return NULL;
	}
	c->n++;
	at->pid = pid;
	*slot(c, pid) = at;
	return at;
}

int comms_add(struct comms *c, pid_t pid, const char *name, size_t n)
{
	struct comm *at = comms_entry(c, pid);
	int known;

	if (!at)
		return 0;
	known = *at->name != '\0';
	if (n > sizeof(at->name) - 1)
		n = sizeof(at->name) - 1;
	memcpy(at->name, name, n);
	at->name[n] = '\0';
	return !known;
}

const struct comm *comms_find(const struct comms *c, pid_t pid)
{
	return c->room && pid > 0 ? *slot(c, pid) : NULL;
}

/*
 * Find the next line that begins with a pid and a space. Return 1 and set *rest to the n bytes
 * after them, or return 0 at the end.
 */
static int next_pid(const char **text, const char *end, pid_t *pid, const char **rest,
		    size_t *n)
{
	while (*text < end) {
		const char *p = *text, *eol = memchr(p, '\n', (size_t)(end - p));

		*text = eol ? eol + 1 : end;
		if (!eol)
			eol = end;
		for (*pid = 0; p < eol && *p >= '0' && *p <= '9' && *pid <= K_PID_MAX_LIMIT; p++)
			*pid = 10 * *pid + (*p - '0');
		if (p == eol || *p != ' ' || *pid > K_PID_MAX_LIMIT)
			continue;
		while (p < eol && *p == ' ')
			p++;
		*rest = p;
		*n = (size_t)(eol - p);
		if (*n)
			return 1;
	}
	return 0;
}

size_t comms_parse(struct comms *c, const char *text, size_t n)
{
	const char *end = text + n, *name;
	size_t new = 0;
	pid_t pid;

	while (next_pid(&text, end, &pid, &name, &n))
		new += (size_t)comms_add(c, pid, name, n);
	return new;
}

void comms_parse_tgids(struct comms *c, const char *text, size_t n,
		       int (*wanted)(void *, struct comm *), void *arg)
{
	const char *end = text + n, *p;
	pid_t pid, tgid;

	while (next_pid(&text, end, &pid, &p, &n)) {
		struct comm *at = comms_entry(c, pid);

		for (tgid = 0; n && *p >= '0' && *p <= '9' && tgid <= K_PID_MAX_LIMIT; p++, n--)
			tgid = 10 * tgid + (*p - '0');
		if (at && (!wanted || wanted(arg, at)))
			at->tgid = tgid;
	}
}

void comms_prune(struct comms *c, int (*keep)(void *, struct comm *), void *arg)
{
	struct comm **old = c->v, **v = calloc(c->room, sizeof(struct comm *));

	if (!v)
		return; /* a later call prunes */
	c->v = v;
	c->n = 0;
	for (size_t i = 0; i < c->room; i++) {
		if (!old[i])
			continue;
		if (keep(arg, old[i])) {
			*slot(c, old[i]->pid) = old[i];
			c->n++;
		} else {
			put_back(c, old[i]);
		}
	}
	free(old);
}

void comms_clear(struct comms *c)
{
	struct comm_block *next;

	for (struct comm_block *b = c->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	free(c->v);
	*c = (struct comms){ .size = c->size };
}
