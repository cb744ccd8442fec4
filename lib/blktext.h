/* SPDX-License-Identifier: ISC */
/*
 * blktext.h - records of the block layer's trace, and blkparse's line of each
 *
 * A record is struct blk_io_trace (include/uapi/linux/blktrace_api.h) in the
 * byte order of the machine that wrote it, of which its first word tells, and
 * its payload, which is big-endian everywhere.
 */
#ifndef BLKTEXT_H
#define BLKTEXT_H

#include "tfs.h"

enum { BLK_RECORD = 48 }; /* bytes, without its payload */

enum blk_act {
	BLK_QUEUE = 1, BLK_BACKMERGE, BLK_FRONTMERGE, BLK_GETRQ, BLK_SLEEPRQ, BLK_REQUEUE,
	BLK_ISSUE, BLK_COMPLETE, BLK_PLUG, BLK_UNPLUG, BLK_UNPLUG_TIMER, BLK_INSERT, BLK_SPLIT,
	BLK_BOUNCE, BLK_REMAP, BLK_ABORT, BLK_DRV_DATA,
};

enum blk_note { BLK_NOTE_PROCESS, BLK_NOTE_TIME, BLK_NOTE_MESSAGE };

struct blk_record {
	uint64_t time, sector;
	uint32_t sequence, bytes, action, pid, device, cpu;
	uint16_t error;
	unsigned act;           /* enum blk_act; of a note enum blk_note */
	int note;
	size_t npayload;
	const uint8_t *payload; /* a cgroup's number taken off */
};

/*
 * The record at p, of which there are n bytes: how long it is; 0: there is more
 * of it than n; -1: this is no record.
 */
ssize_t blk_record(struct blk_record *, const uint8_t *p, size_t n);

/* The names of tasks, as the trace tells them; all zero at first. */
struct blk_names {
	struct blk_name { uint32_t pid; char comm[16]; } *v;
	size_t n, room;
};

/* A record that tells a name: keep that. */
void blk_learn(struct blk_names *, const struct blk_record *);

/* No line of a record is longer, but for a message or a command of a packet. */
enum { BLK_LINE = 192 };

/*
 * Its line, newline included, as blkparse(1) has it without options; at most
 * size - 1 bytes and a NUL. 0: a record that has no line. Times are told from
 * start on.
 */
size_t blk_line(const struct blk_names *, const struct blk_record *, uint64_t start, char *,
		size_t size);

#endif
