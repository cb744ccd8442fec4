/* SPDX-License-Identifier: ISC */
/*
 * backlog.c - what was read from a ring buffer and not given yet, oldest first
 *
 * The memory is in chunks, which are mapped and unmapped: an allocator would keep them for the
 * program, and a burst would cost memory for ever. Blocks are as long as their data, because the
 * sub-buffers of a slow trace are nearly empty.
 */
#include <sys/mman.h>

#include "base/base.h"
#include "event/event.h"
#include "live/live.h"

struct backlog_chunk {
	struct backlog_chunk *next;
	size_t used;            /* bytes, with this head */
};

/* The head of a block, whose data follow. */
struct block {
	uint32_t size;          /* of the data */
	uint32_t look;
};

enum { ALIGN = 8 };

/* Return how many bytes a block takes. */
static size_t room_of(size_t size)
{
	return sizeof(struct block) + (size + ALIGN - 1) / ALIGN * ALIGN;
}

void backlog_limit(struct backlog_memory *m, size_t largest, uint64_t most)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	m->chunk = sizeof(struct backlog_chunk) + 4 * room_of(largest);
	if (m->chunk < BACKLOG_CHUNK)
		m->chunk = BACKLOG_CHUNK;
	m->chunk = (m->chunk + page - 1) / page * page;
	m->most = most;
}

/* Bytes of address space that later chunks leave to the rest of the program. */
#define RESERVE (1024 * 1024)

/* Add a chunk. Return 0, or -1 if there is no memory for it. */
static int add_chunk(struct backlog *h, struct backlog_memory *m)
{
	size_t more = h->last ? RESERVE : 0;
	struct backlog_chunk *c = mmap(NULL, m->chunk + more, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (c == MAP_FAILED)
		return -1;
	if (more)
		munmap((char *)c + m->chunk, more);
	c->used = sizeof(*c);
	if (h->last)
		h->last->next = c;
	else
		h->first = c;
	h->last = c;
	if (!h->at)
		h->at = sizeof(*c);
	m->used += m->chunk;
	return 0;
}

void *backlog_room(struct backlog *h, struct backlog_memory *m, size_t size, int ahead)
{
	int fits = h->last && h->last->used + room_of(size) <= m->chunk;

	if (!fits && ((h->last && (!ahead || m->used + m->chunk > m->most)) || add_chunk(h, m) < 0))
		return NULL;
	return (char *)h->last + h->last->used + sizeof(struct block);
}

void backlog_add(struct backlog *h, size_t size, uint32_t look)
{
	struct block *b = (void *)((char *)h->last + h->last->used);

	*b = (struct block){ (uint32_t)size, look };
	h->last->used += room_of(size);
	h->n++;
}

struct backlog_at backlog_begin(const struct backlog *h)
{
	return (struct backlog_at){ h->first, h->at };
}

const void *backlog_next(struct backlog_at *p, size_t *size, uint32_t *look)
{
	const struct block *b;

	if (p->chunk && p->at == p->chunk->used)
		*p = (struct backlog_at){ p->chunk->next, sizeof(*p->chunk) };
	if (!p->chunk || p->at == p->chunk->used)
		return NULL;
	b = (const void *)((const char *)p->chunk + p->at);
	p->at += room_of(b->size);
	*size = b->size;
	*look = b->look;
	return b + 1;
}

void backlog_drop(struct backlog *h, struct backlog_memory *m)
{
	const struct block *b = (const void *)((char *)h->first + h->at);
	struct backlog_chunk *c = h->first;

	h->n--;
	h->at += room_of(b->size);
	if (h->at < c->used)
		return;
	h->at = sizeof(*c);
	if (h->first == h->last) { /* reuse the beginning, so that the rest stays untouched */
		c->used = sizeof(*c);
		return;
	}
	h->first = c->next;
	munmap(c, m->chunk);
	m->used -= m->chunk;
}

void backlog_free(struct backlog *h, const struct backlog_memory *m)
{
	for (struct backlog_chunk *c = h->first, *next; c; c = next) {
		next = c->next;
		munmap(c, m->chunk);
	}
	*h = (struct backlog){ .n = 0 };
}
