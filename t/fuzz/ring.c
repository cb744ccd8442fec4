/* SPDX-License-Identifier: ISC */
/*
 * ring.c - a ring of BPF programs with any bytes, as sub-buffers
 *
 * Input: a byte of flags (1: the lengths are those of whole records), then what is in the ring.
 * With the flag, two bytes before a record are its length; the highest bit discards it.
 */
#include "fuzz.h"

enum { RING = 8192, WORD = 8, ID = sizeof(struct ring_head) };

static _Alignas(8) unsigned char ring[2 * RING];

/* Put the data into the ring as whole records; return their bytes, and count those to read. */
static unsigned long put_records(const uint8_t *data, size_t size, uint64_t *records)
{
	static const uint16_t part = RECORD_FIRST + RECORD_PART, tcp = RECORD_FIRST + RECORD_TCP;
	unsigned long at = 0;

	while (size >= 2) {
		size_t n = (size_t)(data[0] | (data[1] & 0x7f) << 8);
		uint32_t word;

		n = n < size - 2 ? n : size - 2;
		if (at + n + 2 * WORD > RING)
			break;
		word = (uint32_t)n | (data[1] & 0x80 ? 1u << 30 : 0);
		memcpy(ring + at, &word, sizeof(word));
		memcpy(ring + at + WORD, data + 2, n);
		/* only the reader makes parts */
		if (n >= ID + sizeof(part) && !memcmp(ring + at + WORD + ID, &part, sizeof(part)))
			memcpy(ring + at + WORD + ID, &tcp, sizeof(tcp));
		*records += !(data[1] & 0x80) && !record_helps(&(struct record){
			.data = ring + at + WORD + ID, .len = n > ID ? (uint32_t)(n - ID) : 0,
		});
		at += (n + 2 * WORD - 1) & ~7ul;
		data += 2 + n;
		size -= 2 + n;
	}
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct subbuf_format format = {
		.size = 4096, .commit = 8, .commit_size = 8, .data = 16,
	};
	static unsigned char subbuf[4096];
	volatile unsigned long consumer = 0;
	unsigned long producer = 0;
	struct live_ring r = { .consumer = &consumer, .producer = &producer, .data = ring,
			       .mask = RING - 1 };
	struct rings all = { .v = &r, .n = 1 };
	uint64_t made = 0, records = 0, most;
	const int sound = size && *data & 1;
	struct record record;
	struct subbuf p;
	unsigned n;

	if (!size || size > RING)
		return 0;
	memset(ring, 0, sizeof(ring));
	if (sound) {
		producer = put_records(data + 1, size - 1, &made);
	} else {
		memcpy(ring, data + 1, size - 1);
		producer = size & ~7ul;
	}
	memcpy(ring + RING, ring, RING);
	most = rings_records(&all);
	must(!sound || most == made);
	while ((n = ring_take(&r, &format, subbuf))) {
		must(!subbuf_open(&p, &format, subbuf, sizeof(subbuf), 0));
		for (; subbuf_next(&p, &record); n--) {
			must(record.len >= sizeof(struct record_head));
			records += !record_helps(&record);
		}
		must(!n && !p.bad && consumer <= producer);
	}
	/* each is given or counted, in whichever pieces */
	must(records + r.unread + rings_records(&all) == most);
	must(!sound || consumer == producer);
	must(rings_lost_of(&all, 0) == r.unread);
	return 0;
}
