/* SPDX-License-Identifier: ISC */
/* text.c - decode the records of a block trace, and print each as blkparse(1) does */
#include <string.h>

#include "base/base.h"
#include "blktrace/blktrace.h"

/* The first word of a record without its lowest byte, which is the version. */
#define MAGIC 0x656174u

/* Bits in the upper half of the action (BLK_TC_...). */
enum {
	IS_WRITE = 1 << 1, IS_FLUSH = 1 << 2, IS_SYNC = 1 << 3, IS_PC = 1 << 9,
	IS_NOTE = 1 << 10, IS_AHEAD = 1 << 11, IS_META = 1 << 12, IS_DISCARD = 1 << 13,
	IS_FUA = 1 << 15,
};
#define CGROUP (1u << 8) /* the payload begins with a cgroup number of eight bytes */

/* Return the number of this many bytes at p, big-endian or little-endian. */
static uint64_t word(const uint8_t *p, unsigned bytes, int big)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | p[big ? i : bytes - 1 - i];
	return v;
}

ssize_t blk_record(struct blk_record *r, const uint8_t *p, size_t n)
{
	size_t payload;
	int big;

	if (n < 4)
		return 0;
	big = word(p, 4, 1) >> 8 == MAGIC;
	if (!big && word(p, 4, 0) >> 8 != MAGIC)
		return -1;
	if (n < BLK_RECORD)
		return 0;
	payload = (size_t)word(p + 46, 2, big);
	if (n < BLK_RECORD + payload)
		return 0;
	*r = (struct blk_record){
		.sequence = (uint32_t)word(p + 4, 4, big), .time = word(p + 8, 8, big),
		.sector = word(p + 16, 8, big), .bytes = (uint32_t)word(p + 24, 4, big),
		.action = (uint32_t)word(p + 28, 4, big), .pid = (uint32_t)word(p + 32, 4, big),
		.device = (uint32_t)word(p + 36, 4, big), .cpu = (uint32_t)word(p + 40, 4, big),
		.error = (uint16_t)word(p + 44, 2, big),
		.payload = p + BLK_RECORD, .npayload = payload,
	};
	r->note = (r->action >> 16 & IS_NOTE) != 0;
	r->act = r->action & 0xffff & ~CGROUP;
	if (r->action & CGROUP && payload >= 8) {
		r->payload += 8;
		r->npayload -= 8;
	}
	return (ssize_t)(BLK_RECORD + payload);
}

/* ---- names ------------------------------------------------------------------ */

/* Return the index of the pid, or the index at which to insert it. */
static size_t find(const struct blk_names *t, uint32_t pid)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->v[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void blk_learn(struct blk_names *t, const struct blk_record *r)
{
	size_t i = find(t, r->pid), n;

	if (!r->note || r->act != BLK_NOTE_PROCESS)
		return;
	if (i == t->n || t->v[i].pid != r->pid) {
		t->v = xgrow(t->v, t->n, &t->room, sizeof(*t->v));
		memmove(t->v + i + 1, t->v + i, (t->n++ - i) * sizeof(*t->v));
	}
	t->v[i] = (struct blk_name){ .pid = r->pid };
	n = r->npayload < sizeof(t->v[i].comm) ? r->npayload : sizeof(t->v[i].comm) - 1;
	memcpy(t->v[i].comm, r->payload, n);
	/* a task's name may contain any bytes */
	text_mask_controls(t->v[i].comm, t->v[i].comm + strlen(t->v[i].comm));
}

/* ---- a line ----------------------------------------------------------------- */

struct line {
	char *text;
	size_t n, size;
};

/* Append n bytes, or as many as fit. */
static void add(struct line *l, const char *s, size_t n)
{
	if (n > l->size - 1 - l->n)
		n = l->size - 1 - l->n;
	memcpy(l->text + l->n, s, n);
	l->n += n;
	l->text[l->n] = '\0';
}

/* Append s right-aligned in width columns; left-aligned if width is negative. */
static void add_padded(struct line *l, const char *s, int width)
{
	static const char blanks[] = "          ";
	size_t n = strlen(s), all = (size_t)(width < 0 ? -width : width);
	size_t more = n < all ? all - n : 0;

	if (width > 0)
		add(l, blanks, more);
	add(l, s, n);
	if (width < 0)
		add(l, blanks, more);
}

/* Append the number, aligned as add_padded does. */
static void add_number(struct line *l, long long v, int width)
{
	char s[24];

	str_format(s, sizeof(s), "%lld", v);
	add_padded(l, s, width);
}

static void add_format(struct line *l, const char *f, ...) __attribute__((format(printf, 2, 3)));

static void add_format(struct line *l, const char *f, ...)
{
	char s[128];
	va_list ap;

	va_start(ap, f);
	str_vformat(s, sizeof(s), f, ap);
	va_end(ap);
	add(l, s, strlen(s));
}

/* Write blkparse's RWBS field to s. */
static const char *rwbs_field(const struct blk_record *r, char *s)
{
	unsigned bits = r->action >> 16;
	char *p = s;

	if (bits & IS_FLUSH)
		*p++ = 'F';
	*p++ = bits & IS_DISCARD ? 'D' : bits & IS_WRITE ? 'W' : r->bytes ? 'R' : 'N';
	if (bits & IS_FUA)
		*p++ = 'F';
	if (bits & IS_AHEAD)
		*p++ = 'A';
	if (bits & IS_SYNC)
		*p++ = 'S';
	if (bits & IS_META)
		*p++ = 'M';
	*p = '\0';
	return s;
}

static unsigned major_of(uint32_t device)
{
	return device >> 20;
}

static unsigned minor_of(uint32_t device)
{
	return device & 0xfffff;
}

static void head(struct line *l, const struct blk_record *r, uint32_t device, uint64_t start,
		 const char *act, const char *rwbs)
{
	uint64_t t = r->time - start;
	char nanoseconds[16];

	add_number(l, major_of(device), 3);
	add(l, ",", 1);
	add_number(l, minor_of(device), -3);
	add(l, " ", 1);
	add_number(l, r->cpu, 2);
	add(l, " ", 1);
	add_number(l, (int32_t)r->sequence, 8);
	add(l, " ", 1);
	add_number(l, (int32_t)(t / 1000000000), 5);
	/* print ten digits and replace the first by the point: this keeps leading zeros */
	str_format(nanoseconds, sizeof(nanoseconds), "%llu",
		   1000000000ull + (unsigned long long)(t % 1000000000));
	*nanoseconds = '.';
	add(l, nanoseconds, strlen(nanoseconds));
	add(l, " ", 1);
	add_number(l, r->pid, 5);
	add(l, " ", 1);
	add_padded(l, act, 2);
	add(l, " ", 1);
	add_padded(l, rwbs, 3);
	add(l, " ", 1);
}

/* Append the bytes of a command in a packet, without the zeros at its end. */
static void command(struct line *l, const struct blk_record *r)
{
	static const char digit[] = "0123456789abcdef";
	size_t n = r->npayload;

	if (!n)
		return;
	while (n && !r->payload[n - 1])
		n--;
	add(l, "(", 1);
	for (size_t i = 0; i < n + (n < r->npayload); i++) {
		char two[] = { ' ', digit[r->payload[i] >> 4], digit[r->payload[i] & 15] };

		add(l, two + !i, 3 - (size_t)!i);
	}
	if (n < r->npayload)
		add(l, " ..", 3);
	add(l, ") ", 2);
}

static void sectors(struct line *l, const struct blk_record *r)
{
	add_format(l, "%llu + %u ", (unsigned long long)r->sector, r->bytes >> 9);
}

static void tail(struct line *l, const struct blk_record *r, const char *comm)
{
	int pc = r->action >> 16 & IS_PC;
	const uint8_t *p = r->payload;

	switch (r->act) {
	case BLK_REQUEUE:
	case BLK_COMPLETE:
		if (pc && r->act == BLK_COMPLETE)
			command(l, r);
		else if (!pc && r->bytes >> 9)
			sectors(l, r);
		else if (!pc)
			add_format(l, "%llu ", (unsigned long long)r->sector);
		add_format(l, "[%u]\n", r->error);
		return;
	case BLK_REMAP: /* payload: source device, target device, sector */
		if (r->npayload >= 16)
			add_format(l, "%llu + %u <- (%u,%u) %llu", (unsigned long long)r->sector,
				   r->bytes >> 9, major_of((uint32_t)word(p, 4, 1)),
				   minor_of((uint32_t)word(p, 4, 1)),
				   (unsigned long long)word(p + 8, 8, 1));
		break;
	case BLK_UNPLUG:
	case BLK_UNPLUG_TIMER:
		add_format(l, "[%s]", comm);
		if (r->npayload >= 8)
			add_format(l, " %u", (unsigned)word(p, 8, 1));
		break;
	case BLK_SPLIT:
		add_format(l, "%llu / ", (unsigned long long)r->sector);
		if (r->npayload >= 8)
			add_format(l, "%u ", (unsigned)word(p, 8, 1));
		add_format(l, "[%s]", comm);
		break;
	default:
		if (pc && r->act != BLK_GETRQ && r->act != BLK_SLEEPRQ) {
			add_format(l, "%u ", r->bytes);
			if (r->act != BLK_QUEUE)
				command(l, r);
		} else if (r->act != BLK_PLUG && r->bytes >> 9) {
			sectors(l, r);
		}
		add_format(l, "[%s]", comm);
	}
	add(l, "\n", 1);
}

static void message(struct line *l, const struct blk_record *r, uint64_t start)
{
	struct blk_record plainly = *r;
	size_t n = r->npayload;

	n -= r->payload[n - 1] == '\n';
	plainly.sequence = plainly.pid = 0;
	head(l, &plainly, r->device, start, "m", "N");
	for (size_t i = 0, len; i < n && r->payload[i]; i += len) {
		const char *c = (const char *)r->payload + i;
		int control;

		len = text_char(c, n - i, &control);
		for (size_t k = 0; k < len; k++)
			add(l, control ? "?" : c + k, 1);
	}
	add(l, "\n", 1);
}

size_t blk_line(const struct blk_names *names, const struct blk_record *r, uint64_t start,
		char *text, size_t size)
{
	static const char acts[][3] = {
		"?", "Q", "M", "F", "G", "S", "R", "D", "C", "P", "U", "UT", "I", "X", "B", "A",
	};
	struct line l = { .text = text, .size = size };
	uint32_t device = r->device;
	size_t i = find(names, r->pid);
	char rwbs[8];

	if (r->note ? r->act != BLK_NOTE_MESSAGE || !r->npayload : r->act == BLK_DRV_DATA)
		return 0;
	/* the line of a remap begins with the device that the I/O goes to */
	if (!r->note && r->act == BLK_REMAP && r->npayload >= 16)
		device = (uint32_t)word(r->payload + 4, 4, 1);
	if (r->note) {
		message(&l, r, start);
	} else {
		head(&l, r, device, start, acts[r->act < BLK_ABORT ? r->act : 0],
		     rwbs_field(r, rwbs));
		tail(&l, r, i < names->n && names->v[i].pid == r->pid ? names->v[i].comm
								      : "(null)");
	}
	if (l.n == size - 1)
		text[l.n - 1] = '\n'; /* the line was cut */
	return l.n;
}
