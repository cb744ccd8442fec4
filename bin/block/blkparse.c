/* SPDX-License-Identifier: ISC */
/* blkparse.c - decode the records of a block trace, and print each as blkparse(1) does */

#include "base/base.h"
#include "blktrace.h"

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

void blk_learn(struct table *names, const struct blk_record *r)
{
	struct blk_name *name;

	if (!r->note || r->act != BLK_NOTE_PROCESS)
		return;
	names->size = sizeof(*name);
	name = table_at(names, (const char *)&r->pid, sizeof(r->pid));
	str_format(name->comm, sizeof(name->comm), "%.*s", (int)r->npayload,
		   (const char *)r->payload);
	/* a task's name may contain any bytes */
	text_mask_controls(name->comm, name->comm + strlen(name->comm));
}

/* ---- a line ----------------------------------------------------------------- */

/* Write blkparse's RWBS field to s. */
static const char *rwbs_field(const struct blk_record *r, char *s)
{
	static const struct { unsigned bit; char letter; } rest[] = {
		{ IS_FUA, 'F' }, { IS_AHEAD, 'A' }, { IS_SYNC, 'S' }, { IS_META, 'M' },
	};
	unsigned bits = r->action >> 16;
	char *p = s;

	if (bits & IS_FLUSH)
		*p++ = 'F';
	*p++ = bits & IS_DISCARD ? 'D' : bits & IS_WRITE ? 'W' : r->bytes ? 'R' : 'N';
	for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++)
		if (bits & rest[i].bit)
			*p++ = rest[i].letter;
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

static void head(struct out *o, const struct blk_record *r, uint32_t device, uint64_t start,
		 const char *act, const char *rwbs)
{
	uint64_t t = r->time - start;

	out_format(o, "%3u,%-3u %2u %8d %5d.%09u %5u %2s %3s ", major_of(device), minor_of(device),
		   r->cpu, (int32_t)r->sequence, (int32_t)(t / 1000000000),
		   (unsigned)(t % 1000000000), r->pid, act, rwbs);
}

/* Append the bytes of a command in a packet, without the zeros at its end. */
static void command(struct out *o, const struct blk_record *r)
{
	size_t n = r->npayload;

	if (!n)
		return;
	while (n && !r->payload[n - 1])
		n--;
	out_format(o, "(");
	for (size_t i = 0; i < n + (n < r->npayload); i++)
		out_format(o, "%s%02x", i ? " " : "", r->payload[i]);
	out_format(o, n < r->npayload ? " ..) " : ") ");
}

static void sectors(struct out *o, const struct blk_record *r)
{
	out_format(o, "%llu + %u ", (unsigned long long)r->sector, r->bytes >> 9);
}

static void tail(struct out *o, const struct blk_record *r, const char *comm)
{
	int pc = r->action >> 16 & IS_PC;
	const uint8_t *p = r->payload;

	switch (r->act) {
	case BLK_REQUEUE:
	case BLK_COMPLETE:
		if (pc && r->act == BLK_COMPLETE)
			command(o, r);
		else if (!pc && r->bytes >> 9)
			sectors(o, r);
		else if (!pc)
			out_format(o, "%llu ", (unsigned long long)r->sector);
		out_format(o, "[%u]\n", r->error);
		return;
	case BLK_REMAP: /* payload: source device, target device, sector */
		if (r->npayload >= 16)
			out_format(o, "%llu + %u <- (%u,%u) %llu", (unsigned long long)r->sector,
			    r->bytes >> 9, major_of((uint32_t)word(p, 4, 1)),
			    minor_of((uint32_t)word(p, 4, 1)),
			    (unsigned long long)word(p + 8, 8, 1));
		break;
	case BLK_UNPLUG:
	case BLK_UNPLUG_TIMER:
		out_format(o, "[%s]", comm);
		if (r->npayload >= 8)
			out_format(o, " %u", (unsigned)word(p, 8, 1));
		break;
	case BLK_SPLIT:
		out_format(o, "%llu / ", (unsigned long long)r->sector);
		if (r->npayload >= 8)
			out_format(o, "%u ", (unsigned)word(p, 8, 1));
		out_format(o, "[%s]", comm);
		break;
	default:
		if (pc && r->act != BLK_GETRQ && r->act != BLK_SLEEPRQ) {
			out_format(o, "%u ", r->bytes);
			if (r->act != BLK_QUEUE)
				command(o, r);
		} else if (r->act != BLK_PLUG && r->bytes >> 9) {
			sectors(o, r);
		}
		out_format(o, "[%s]", comm);
	}
	out_format(o, "\n");
}

static void message(struct out *o, const struct blk_record *r, uint64_t start)
{
	struct blk_record plainly = *r;
	char text[1024];
	size_t n = r->npayload;

	n -= r->payload[n - 1] == '\n';
	plainly.sequence = plainly.pid = 0;
	head(o, &plainly, r->device, start, "m", "N");
	str_format(text, sizeof(text), "%.*s", (int)n, (const char *)r->payload);
	text_mask_controls(text, text + strlen(text));
	out_format(o, "%s\n", text);
}

size_t blk_line(const struct table *names, const struct blk_record *r, uint64_t start, char *text,
		size_t size)
{
	static const char acts[][3] = {
		"?", "Q", "M", "F", "G", "S", "R", "D", "C", "P", "U", "UT", "I", "X", "B", "A",
	};
	const struct blk_name *name = table_find(names, (const char *)&r->pid, sizeof(r->pid));
	struct out o = out_to(text, size - 1);
	uint32_t device = r->device;
	char rwbs[8];

	if (r->note ? r->act != BLK_NOTE_MESSAGE || !r->npayload : r->act == BLK_DRV_DATA)
		return 0;
	/* the line of a remap begins with the device that the I/O goes to */
	if (!r->note && r->act == BLK_REMAP && r->npayload >= 16)
		device = (uint32_t)word(r->payload + 4, 4, 1);
	if (r->note) {
		message(&o, r, start);
	} else {
		head(&o, r, device, start, acts[r->act < BLK_ABORT ? r->act : 0],
		     rwbs_field(r, rwbs));
		tail(&o, r, name ? name->comm : "(null)");
	}
	if (o.cut)
		o.at[-1] = '\n';
	*o.at = '\0';
	return (size_t)(o.at - text);
}
