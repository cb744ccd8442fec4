/* SPDX-License-Identifier: ISC */
/*
 * subbuf.c - read the records of a sub-buffer
 *
 * A sub-buffer begins with a time stamp of 8 bytes and a word, as long as the kernel's long,
 * with the length of the data and two flags. The records follow. Before each record is a
 * u32 with its type and the time since the record before (include/linux/ring_buffer.h).
 */

#include "event/event.h"
#include "event/vm.h"

enum {
	LENGTH_MASK = (1 << 27) - 1,
	PADDING = 29,           /* its length is in the next word; with time 0, up to the end */
	TIME_EXTEND = 30,       /* 27 bits of time; the next word has the higher bits */
	TIME_STAMP = 31,        /* an absolute time in the same form */
};
#define MISSED_EVENTS (1u << 31)        /* before this sub-buffer */
#define MISSED_STORED (1u << 30)        /* their number is a long after the data */

/* The top bits of a time that a TIME_STAMP lacks, because it has only 59 bits. */
#define STAMP_MISSING 0xf800000000000000ull

int subbuf_format_parse(struct subbuf_format *f, const char *text)
{
	const char *commit = strstr(text, " commit;"), *data = strstr(text, " data;");
	uint32_t at, size, first, room;

	*f = (struct subbuf_format){
		.commit = 8, .commit_size = sizeof(long), .data = 8 + sizeof(long), .size = 4096,
		.big = f->big,
	};
	if (!commit || !data)
		return -1;
	/* a line without a key gets the number of the next line */
	at = format_number(commit, "offset:");
	size = format_number(commit, "size:");
	first = format_number(data, "offset:");
	room = format_number(data, "size:");
	if ((size != 4 && size != 8) || at < 8 || at > 64 || first > 128 || at + size > first)
		return -1;
	f->commit = at;
	f->commit_size = size;
	f->data = first;
	if (room <= 65536 * 8)
		f->size = first + room;
	return 0;
}

int subbuf_open(struct subbuf *p, const struct subbuf_format *f, const void *data, size_t size,
		int cpu)
{
	const unsigned char *bytes = data;
	uint64_t commit, length;

	*p = (struct subbuf){ .cpu = cpu, .big = f->big };
	if (size < f->data || size < 8 || size < f->commit + f->commit_size)
		return -1;
	p->ts = raw_number(bytes, 8, 0, f->big);
	commit = raw_number(bytes + f->commit, f->commit_size, 0, f->big);
	length = commit & LENGTH_MASK;
	p->bad = length > size - f->data;
	if (p->bad)
		length = size - f->data;
	p->at = bytes + f->data;
	p->end = p->at + length;
	if (!(commit & MISSED_EVENTS))
		return 0;
	p->lost = LOST_UNKNOWN;
	if (commit & MISSED_STORED && size - f->data - length >= f->commit_size) {
		p->lost = (int64_t)raw_number(p->end, f->commit_size, 0, f->big);
		if (p->lost <= 0)
			p->lost = LOST_UNKNOWN;
	}
	return 0;
}

size_t subbuf_length(const struct subbuf_format *f, const void *data, size_t size)
{
	size_t length;
	struct subbuf p;

	if (subbuf_open(&p, f, data, size, 0) < 0)
		return size;
	length = (size_t)(p.end - (const unsigned char *)data);
	/* the number of lost events may follow */
	return !p.lost || size - length < f->commit_size ? length : length + f->commit_size;
}

int subbuf_next(struct subbuf *p, struct record *r)
{
	for (;;) {
		size_t left = (size_t)(p->end - p->at);
		const unsigned char *data;
		uint32_t word, type, more;
		uint64_t delta;

		if (subbuf_next_plain(p, r))
			return 1;
		if (left < 4)
			break;
		word = (uint32_t)raw_number(p->at, 4, 0, p->big);
		type = record_type(word, p->big);
		delta = record_delta(word, p->big);
		if (type == PADDING && !delta) { /* no more records */
			p->at = p->end;
			break;
		}
		if (left < 8)
			break;
		left -= 8;
		data = p->at + 8;
		more = (uint32_t)raw_number(p->at + 4, 4, 0, p->big);
		if (type == TIME_EXTEND || type == TIME_STAMP) {
			delta |= (uint64_t)more << 27;
			if (type == TIME_EXTEND) {
				p->ts += delta;
			} else {
				if (p->ts & STAMP_MISSING) {
					delta |= p->ts & STAMP_MISSING;
					if (delta < p->ts)
						delta += 1ull << 59;
				}
				p->ts = delta;
			}
			p->at = data;
			continue;
		}
		/* the length includes its own word */
		if ((type && type != PADDING) || more < 4 || more - 4 > left)
			break;
		more -= 4;
		if (type) { /* an event that the kernel discarded; its time does not count */
			p->at = data + more;
			continue;
		}
		p->ts += delta;
		p->at = data + ((more + 3) & ~3u);
		if (p->at > p->end)
			p->at = p->end;
		*r = (struct record){ p->ts, data, more, p->cpu };
		return 1;
	}
	p->bad |= p->at != p->end;
	p->at = p->end;
	return 0;
}

/* Write a number of size bytes, as raw_number reads it. */
static void put_number(unsigned char *p, unsigned size, uint64_t v, int big)
{
	for (unsigned i = 0; i < size; i++)
		p[big ? size - 1 - i : i] = (unsigned char)(v >> 8 * i);
}

/* Write the length of the data of a sub-buffer, and how many events were lost before it. */
static void put_commit(const struct subbuf_format *f, unsigned char *to, size_t len, int64_t lost)
{
	uint64_t flags = !lost ? 0 : lost > 0 ? MISSED_EVENTS | MISSED_STORED : MISSED_EVENTS;

	put_number(to + f->commit, f->commit_size, len | flags, f->big);
	if (lost > 0)
		put_number(to + f->data + len, f->commit_size, (uint64_t)lost, f->big);
}

/* Set the data of a sub-buffer to the len bytes at from, and the events lost before it. */
static void put_data(const struct subbuf_format *f, unsigned char *to, size_t size, uint64_t ts,
		     const unsigned char *from, size_t len, int64_t lost)
{
	memmove(to + f->data, from, len);
	memset(to + f->data + len, 0, size - f->data - len);
	put_number(to, 8, ts, f->big);
	/* there is room, because a record has been moved */
	put_commit(f, to, len, lost);
}

int subbuf_split(const struct subbuf_format *f, void *data, size_t size, uint64_t time,
		 void *rest)
{
	const unsigned char *begin = (unsigned char *)data + f->data, *at;
	struct record r;
	struct subbuf p;
	uint64_t ts;
	int more;

	subbuf_open(&p, f, data, size, 0);
	do {
		at = p.at;
		ts = p.ts;
		more = subbuf_next(&p, &r);
	} while (more && r.ts <= time);
	if (!more)
		return 0;
	if (at == begin)
		memcpy(rest, data, size);
	else /* the time of a record is relative to the one before it */
		put_data(f, rest, size, ts, at, (size_t)(p.end - at), 0);
	put_data(f, data, size, raw_number(data, 8, 0, f->big), begin, (size_t)(at - begin),
		 at == begin ? 0 : p.lost);
	return 1;
}

void subbuf_lose(const struct subbuf_format *f, void *data)
{
	unsigned char *commit = (unsigned char *)data + f->commit;
	uint64_t value = raw_number(commit, f->commit_size, 0, f->big);

	put_number(commit, f->commit_size, value | MISSED_EVENTS, f->big);
}

size_t subbuf_count(const struct subbuf_format *f, const void *data, size_t size)
{
	struct record r;
	struct subbuf p;
	size_t n = 0;

	subbuf_open(&p, f, data, size, 0);
	while (subbuf_next(&p, &r))
		n++;
	return n;
}

/* Write the word in front of a record. */
static void put_word(const struct subbuf_format *f, unsigned char *p, uint32_t type, uint32_t delta)
{
	put_number(p, 4, f->big ? type << 27 | delta : delta << 5 | type, f->big);
}

void subbuf_begin(struct subbuf_writer *w, const struct subbuf_format *f, void *data, int64_t lost)
{
	*w = (struct subbuf_writer){ .format = f, .data = data, .at = f->data, .lost = lost };
	memset(data, 0, f->size);
}

int subbuf_add(struct subbuf_writer *w, uint64_t ts, const void *data, uint32_t len)
{
	const struct subbuf_format *f = w->format;
	const uint32_t room = (len + 3) & ~3u, last = w->lost > 0 ? f->commit_size : 0;
	const uint64_t before = w->n ? w->ts : ts;
	uint64_t delta = ts > before ? ts - before : 0;
	unsigned char *p = w->data + w->at;

	if (w->at + (delta >> 27 ? 8 : 0) + (!room || room > 112 ? 8 : 4) + room + last > f->size)
		return -1;
	if (!w->n++)
		put_number(w->data, 8, ts, f->big);
	w->ts = before + delta;
	if (delta >> 27) {
		put_word(f, p, TIME_EXTEND, (uint32_t)delta & LENGTH_MASK);
		put_number(p + 4, 4, delta >> 27, f->big);
		p += 8;
		delta = 0;
	}
	/* up to 28 words have their length in the type */
	put_word(f, p, room && room <= 112 ? room / 4 : 0, (uint32_t)delta);
	p += 4;
	if (!room || room > 112) {
		put_number(p, 4, room + 4, f->big);
		p += 4;
	}
	memcpy(p, data, len);
	w->at = (size_t)(p - w->data) + room;
	return 0;
}

void subbuf_end(struct subbuf_writer *w)
{
	put_commit(w->format, w->data, w->at - w->format->data, w->lost);
}
