/* SPDX-License-Identifier: ISC */
/*
 * rings.c - read the rings into which BPF programs write, as sub-buffers
 *
 * A ring (kernel/bpf/ringbuf.c) is mapped: a page with the position of the reader, one with that
 * of the writer, and the data, twice. A record has a word with its length and two flags, and is
 * complete when the flag BUSY is clear.
 */
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "calls/calls.h"
#include "bpf/bpf.h"
#include "live/live.h"

#define BUSY (1u << 31)
#define DISCARD (1u << 30)

enum { RING_HEADER = 8 };

/* Map the ring of a CPU. Return 0 or -1. */
static int map_ring(struct live_ring *r, int fd, int cpu, struct ring_control *control)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = bpf_map_entries(fd);
	char *data;
	void *own;

	own = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	data = own == MAP_FAILED || !size ? MAP_FAILED :
	       mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (data == MAP_FAILED)
		return -1;
	*r = (struct live_ring){
		.fd = fd, .cpu = cpu, .consumer = own, .data = (unsigned char *)data + page,
		.producer = (const unsigned long *)(const void *)data, .mask = size - 1,
		.control = control,
		/* if the ring had an earlier reader, that one has told the losses so far */
		.lost = *(const unsigned long *)own ? control->lost : 0,
	};
	return 0;
}

/* Take a control map and its rings from the list at *at. Return 0 or -1. */
static int take_set(struct rings *all, const char **at)
{
	struct ring_set *s = &all->sets[all->nsets];
	int fd = (int)text_digits(at);
	void *map;

	s->calls = -1;
	s->cpus = bpf_map_entries(fd);
	map = mmap(NULL, s->cpus * sizeof(*s->control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -1;
	s->control = map;
	for (unsigned cpu = 0; cpu < s->cpus && **at == 'r'; cpu++) {
		struct live_ring *more;

		if (!s->control[cpu].ring)
			continue;
		++*at;
		more = realloc(all->v, (all->n + 1) * sizeof(*more));
		if (!more)
			return -1;
		all->v = more;
		if (map_ring(&more[all->n], (int)text_digits(at), (int)cpu,
			     &s->control[cpu]) < 0)
			return -1;
		all->n++;
	}
	if (**at == 'p') {
		++*at;
		s->calls = (int)text_digits(at);
	}
	all->nsets++;
	return 0;
}

int rings_have_calls(void)
{
	const char *list = getenv(SESSION_RINGS);

	return list && strchr(list, 'p');
}

int rings_open(struct rings *all)
{
	const char *at = getenv(SESSION_RINGS);

	*all = (struct rings){ 0 };
	for (; at && *at; at += *at == ' ')
		if (*at++ != 'c' || all->nsets == sizeof(all->sets) / sizeof(*all->sets) ||
		    take_set(all, &at) < 0 || (*at && *at != ' '))
			return err_errno("unable to take the rings of " SESSION_RINGS);
	return 0;
}

int rings_turn(int control, enum ring_state state)
{
	struct ring_control *c = mmap(NULL, sizeof(*c), PROT_READ, MAP_SHARED, control, 0);
	const size_t n = c == MAP_FAILED ? 0 : c->cpus;

	if (c == MAP_FAILED)
		return -1;
	munmap(c, sizeof(*c));
	c = mmap(NULL, n * sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, control, 0);
	if (c == MAP_FAILED)
		return -1;
	for (size_t cpu = 0; cpu < n; cpu++)
		__atomic_store_n(&c[cpu].state, (uint32_t)state, __ATOMIC_RELEASE);
	munmap(c, n * sizeof(*c));
	return 0;
}

int rings_set(int control, enum ring_has what)
{
	struct ring_control *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED,
				      control, 0);

	if (c == MAP_FAILED)
		return -1;
	c->has |= what;
	return munmap(c, sizeof(*c));
}

int rings_have(const struct rings *all, enum ring_has what)
{
	for (unsigned i = 0; i < all->nsets; i++)
		if (all->sets[i].control->has & what)
			return 1;
	return 0;
}

void rings_name_stacks(const struct rings *all, stack_frames *frames)
{
	for (unsigned i = 0; i < all->n; i++) {
		all->v[i].frames = frames;
		all->v[i].chunks = calloc(1, sizeof(*all->v[i].chunks));
	}
}

int rings_list(int map, const struct pids *pids)
{
	const size_t size = LIST_PIDS;
	uint8_t *bytes;

	if (bpf_is_printing())
		return 0;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (bytes == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < pids->n; i++)
		if ((size_t)pids->v[i] < size)
			__atomic_fetch_or(&bytes[pids->v[i]], LIST_BIT, __ATOMIC_RELAXED);
	munmap(bytes, size);
	return 0;
}

int rings_formats(struct event_set *evs)
{
	static char text[RECORD_FORMAT];
	int r = 0;

	for (unsigned i = 0; i < RECORDS && !r; i++)
		if (!event_add(evs, RECORD_SYSTEM, text, record_format(i, text, sizeof(text))))
			r = -1;
	return r;
}

/* Set the fields of a record of a call that say where its memory is. n: bytes of it */
static void set_memory(struct call_record *c, size_t n)
{
	const size_t head = sizeof(*c), piece = sizeof(struct memory_piece);
	const struct memory_piece *p = (const void *)(c + 1);

	c->memory = (uint32_t)(head | n << 16);
	c->path = (uint32_t)(offsetof(struct call_record, reserved) | 1 << 16);
	c->reserved = 0;
	if (n > piece && (p->tag | 0x20) == 'a' && p->n < n - piece)
		c->path = (uint32_t)((head + piece) | (p->n + 1u) << 16);
}

/* Add the record of a file: a path in place of the names. Return 0, or -1 without room. */
static int add_file(struct subbuf_writer *w, uint64_t ts, const unsigned char *data, size_t n)
{
	enum { SOCKET = 300 };
	const size_t head = sizeof(struct file_record);
	const char *names = (const char *)data + head;
	size_t path, inside, socket;
	struct {
		struct file_record file;
		char path[SUBBUF_MOST - sizeof(struct file_record)];
	} whole;

	memcpy(&whole.file, data, head);
	path = file_path(&whole.file, names, n - head, whole.path, sizeof(whole.path) - SOCKET) + 1;
	whole.file.flags |= *whole.path == '.' ? FILE_CUT : 0;
	inside = file_inside(&whole.file, names, n - head, whole.path + path,
			     sizeof(whole.path) - path - SOCKET + 1) + 1;
	socket = file_socket(&whole.file, names, n - head, whole.path + path + inside, SOCKET) + 1;
	whole.file.path = (uint32_t)(head | path << 16);
	whole.file.inside_path = (uint32_t)((head + path) | inside << 16);
	whole.file.socket = (uint32_t)((head + path + inside) | socket << 16);
	return subbuf_add(w, ts, &whole, (uint32_t)(head + path + inside + socket));
}

/*
 * Put a chunk behind those before it. Return 0 if one is missing: its loss is counted. A record for
 * which a sub-buffer had no room comes again.
 */
static int add_chunk(struct stack_chunks *k, const struct stack_copy *c, const unsigned char *data,
		     size_t n)
{
	const size_t head = sizeof(*c), at = head + (size_t)c->chunk * STACK_CHUNK;

	if (!c->chunk) {
		memcpy(k->bytes, data, head);
		k->n = head;
		k->pid = c->head.pid;
		k->stamp = c->stamp;
	}
	if (k->pid != c->head.pid || k->stamp != c->stamp || k->n < at || n - head > STACK_CHUNK ||
	    at + n - head > sizeof(k->bytes))
		return 0;
	memcpy(k->bytes + offsetof(struct stack_copy, missing), &c->missing, sizeof(c->missing));
	memcpy(k->bytes + at, data + head, n - head);
	k->n = at + n - head;
	return 1;
}

/* Add the record of a user stack: names in place of the registers and the memory. */
static int add_stack(struct live_ring *r, struct subbuf_writer *w, uint64_t ts,
		     const unsigned char *data, size_t n)
{
	const size_t head = sizeof(struct stack_record);
	struct stack_copy copy;
	struct stack_chunks *k = r->chunks;
	struct {
		struct stack_record stack;
		char frames[SUBBUF_MOST - sizeof(struct stack_record)];
	} whole;
	size_t length;

	memcpy(&copy, data, sizeof(copy));
	if (!r->frames || !k)
		return 0;
	if (copy.more || copy.chunk) {
		if (!add_chunk(k, &copy, data, n) || copy.more)
			return 0;
		data = k->bytes;
		n = k->n;
	}
	length = r->frames(data, n, ts, whole.frames, sizeof(whole.frames) - 1);
	whole.frames[length++] = '\0';
	memset(&whole.stack, 0, sizeof(whole.stack));
	whole.stack.head = copy.head;
	whole.stack.event = copy.event;
	whole.stack.frames = (uint32_t)(head | length << 16);
	return subbuf_add(w, ts, &whole, (uint32_t)(head + length));
}

static int helps(const unsigned char *data, size_t n)
{
	return record_helps(&(struct record){ .data = data, .len = (uint32_t)n });
}

/* A part of the memory of the next record */
struct part_record {
	struct record_head head;
	uint32_t reserved, memory;
	unsigned char bytes[SUBBUF_MOST - 16];
};

/*
 * Add a record of n bytes. A call with much memory becomes several records. Return 0, or -1 if the
 * sub-buffer has no room; r->done says how much of the memory has been added so far.
 */
static int add(struct live_ring *r, struct subbuf_writer *w, uint64_t ts, const unsigned char *data,
	       size_t n)
{
	const size_t head = sizeof(struct call_record);
	struct part_record part;
	struct {
		struct call_record call;
		unsigned char memory[SUBBUF_MOST];
	} whole;

	memcpy(&part.head, data, sizeof(part.head));
	if (part.head.id == RECORD_FIRST + RECORD_FILE && n >= sizeof(struct file_record))
		return add_file(w, ts, data, n);
	if (part.head.id == RECORD_FIRST + RECORD_STACK && n >= sizeof(struct stack_copy))
		return add_stack(r, w, ts, data, n);
	if (part.head.id >= RECORD_FIRST + RECORD_PART || n < head) {
		if (n <= SUBBUF_MOST)
			return subbuf_add(w, ts, data, (uint32_t)n);
		r->unread += !helps(data, n);
		return 0;
	}
	while (n - r->done > SUBBUF_MOST) {
		uint32_t some = (uint32_t)(n - head - r->done);

		if (some > sizeof(part.bytes))
			some = sizeof(part.bytes);
		part.head.id = RECORD_FIRST + RECORD_PART;
		part.memory = (uint32_t)offsetof(struct part_record, bytes) | some << 16;
		part.reserved = 0;
		memcpy(part.bytes, data + head + r->done, some);
		if (subbuf_add(w, ts, &part, (uint32_t)offsetof(struct part_record, bytes) + some) <
		    0)
			return -1;
		r->done += some;
	}
	memcpy(&whole, data, head);
	memcpy(whole.memory, data + head + r->done, n - head - r->done);
	set_memory(&whole.call, n - head - r->done);
	if (r->done)
		whole.call.path = (uint32_t)(offsetof(struct call_record, reserved) | 1 << 16);
	if (subbuf_add(w, ts, &whole, (uint32_t)(n - r->done)) < 0)
		return -1;
	r->done = 0;
	return 0;
}

/*
 * Go past the record at *at, before end, and set *data and *n; *data is NULL if it is discarded.
 * Return 0 if no complete record is there. After an impossible length the rest cannot be read: *at
 * is end then.
 */
static int next(const struct live_ring *r, unsigned long *at, unsigned long end,
		const unsigned char **data, size_t *n)
{
	const unsigned char *p = r->data + (*at & r->mask);
	uint32_t word = *at == end ? BUSY :
			__atomic_load_n((const uint32_t *)(const void *)p, __ATOMIC_ACQUIRE);
	const size_t length = word & ~(BUSY | DISCARD), room = (length + RING_HEADER + 7) & ~7ul;

	if (word & BUSY)
		return 0;
	*data = word & DISCARD ? NULL : p + RING_HEADER;
	*n = room <= end - *at ? length : 0;
	*at = room <= end - *at ? *at + room : end; /* positions wrap around */
	return 1;
}

unsigned ring_take(struct live_ring *r, const struct subbuf_format *f, void *subbuf)
{
	unsigned long at = *r->consumer, after = at;
	const unsigned long end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
	struct subbuf_writer w = { 0 };
	const unsigned char *data;
	struct ring_head head;
	size_t n;
	int full;

	for (; next(r, &after, end, &data, &n); at = after) {
		if (!data)
			continue;
		if (n < sizeof(head) + sizeof(struct record_head)) {
			r->unread++;
			continue;
		}
		memcpy(&head, data, sizeof(head));
		/* only the beginning of a sub-buffer can say that records are lost */
		if (!w.n)
			subbuf_begin(&w, f, subbuf, (int64_t)(head.lost - r->lost));
		else if (head.lost != r->lost)
			break;
		full = add(r, &w, head.ts, data + sizeof(head), n - sizeof(head)) < 0;
		if (w.n)
			r->lost = head.lost;
		if (full)
			break;
	}
	if (w.data)
		subbuf_end(&w);
	__atomic_store_n(r->consumer, at, __ATOMIC_RELEASE);
	return w.n;
}

void rings_stop(const struct rings *all)
{
	for (unsigned i = 0; i < all->nsets; i++)
		for (unsigned cpu = 0; cpu < all->sets[i].cpus; cpu++)
			__atomic_store_n(&all->sets[i].control[cpu].state, RINGS_ENDED,
					 __ATOMIC_RELEASE);
	/* wait for all readers of RCU: programs run as such */
	if (all->nsets)
		syscall(SYS_membarrier, K_MEMBARRIER_CMD_GLOBAL, 0, 0);
}

unsigned long long rings_records(const struct rings *all)
{
	unsigned long long n = 0;

	for (unsigned i = 0; i < all->n; i++) {
		const struct live_ring *r = &all->v[i];
		unsigned long at = *r->consumer;
		const unsigned long end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
		const unsigned char *data;
		size_t length;

		while (next(r, &at, end, &data, &length))
			n += data && (length < sizeof(struct ring_head) ||
				      !helps(data + sizeof(struct ring_head),
					     length - sizeof(struct ring_head)));
	}
	return n;
}

void rings_drop(const struct rings *all)
{
	const unsigned char *data;
	size_t length;

	for (unsigned i = 0; i < all->n; i++) {
		const struct live_ring *r = &all->v[i];
		unsigned long at = *r->consumer;

		while (next(r, &at, __atomic_load_n(r->producer, __ATOMIC_ACQUIRE), &data, &length))
			;
		__atomic_store_n(r->consumer, at, __ATOMIC_RELEASE);
	}
}

unsigned long long rings_lost_of(const struct rings *all, unsigned cpu)
{
	unsigned long long n = 0;

	for (unsigned i = 0; i < all->nsets; i++)
		if (cpu < all->sets[i].cpus)
			n += *(volatile uint64_t *)&all->sets[i].control[cpu].lost;
	for (unsigned i = 0; i < all->n; i++)
		n += (unsigned)all->v[i].cpu == cpu ? all->v[i].unread : 0;
	return n;
}

unsigned long long rings_lost(const struct rings *all)
{
	unsigned long long n = 0;

	for (unsigned cpu = 0; all->nsets && cpu < all->sets[0].cpus; cpu++)
		n += rings_lost_of(all, cpu);
	return n;
}

const struct record *rings_next_open(struct rings *all)
{
	struct call_record *c = (void *)all->bytes;

	for (; all->set < all->nsets; all->set++, all->at = 0) {
		struct ring_set *s = &all->sets[all->set];

		if (s->calls >= 0 && !s->open)
			s->open = mmap(NULL, OPEN_CALLS * sizeof(*s->open), PROT_READ, MAP_SHARED,
				       s->calls, 0);
		while (s->open != MAP_FAILED && s->open && all->at < OPEN_CALLS) {
			const struct open_call *v = &s->open[all->at++];
			const size_t used = v->used <= sizeof(v->memory) ? v->used : 0;

			if (!v->pid || !v->open)
				continue;
			*c = (struct call_record){
				.head = { .id = RECORD_FIRST + RECORD_OPEN, .pid = v->pid },
				.call = v->record.call,
			};
			c->call.flags |= CALL_UNTOLD; /* its task may be on another CPU now */
			memcpy(c + 1, v->memory, used);
			set_memory(c, used);
			all->record = (struct record){
				.ts = c->call.begin, .data = all->bytes, .cpu = c->call.cpu,
				.len = (uint32_t)(sizeof(*c) + used),
			};
			return &all->record;
		}
	}
	return NULL;
}
