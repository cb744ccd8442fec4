/* SPDX-License-Identifier: ISC */
/*
 * blktrace.h - PURPOSE of blktrace
 */
#ifndef BLKTRACE_H
#define BLKTRACE_H

#include "proc/proc.h"

/*
 * blk.h - the kernel's tracing of block devices, and whose it is
 *
 * It belongs to the device: one at a time, and nothing ends it with the process
 * that began it. So ours carries a key. A trace is limited to sectors from
 * start_lba to end_lba, of which the latter may lie behind any device's end and
 * still is told in sysfs (/sys/dev/block/MAJOR:MINOR/trace/end_lba): there the
 * key is, from the moment on in which the trace is.
 */

enum { BLK_NAME = 32 }; /* bytes of a device's name */

struct blk_wanted {
	unsigned actions;       /* bits of blk_actions, 0: all */
	unsigned pid;           /* 0: any */
	uint64_t from, to;      /* sectors; to is a key, or the last one */
	uint32_t size, n;       /* of a sub-buffer in bytes; how many a processor */
};

/* The end_lba that stands for a name. */
uint64_t blk_key(const char *name);

/*
 * Open a block device: a path, or a name below /dev; its number in *dev. -1
 * said, a device of another kind among others.
 */
int blk_open(const char *name, dev_t *dev);

#define BLK_UNTOLD UINT64_MAX

/*
 * The end_lba of the device's trace; 0, silent: it has none; BLK_UNTOLD: the kernel
 * does not tell while nobody has the device open.
 */
uint64_t blk_end_lba(dev_t dev);

/* The directory of its relay files, into path (PATH_MAX); name as the kernel's. */
void blk_directory(const char *name, char *path);

/* Make a trace; the kernel's name of the device into name. 0 or -errno. */
int blk_setup(int fd, const struct blk_wanted *, char name[BLK_NAME]);

/* 0, or -errno. blk_remove stops it first. */
int blk_start(int fd);
int blk_stop(int fd);
int blk_remove(int fd);

/*
 * Call fn, one of these three, for each disk whose trace has this key: how many
 * there are. -1 and errno, silent: one of them failed, and the others were tried.
 */
int blk_each(uint64_t key, int (*fn)(int fd), char failed[BLK_NAME]);

/* End the tracing of all devices of the session with this instance. As blk_each. */
int blk_end_session(const char *instance);

/* The words for kinds of actions, NULL at the end; the bit is the place. */
extern const char *const blk_actions[];

/*
 * relay.h - relay channels: the files of a debugfs directory, one a processor
 *
 * The kernel writes such a file with interrupts off, on the processor that its
 * number names (Documentation/filesystems/relay.rst). So whoever runs there
 * himself while he reads sees whole records only, also of a sub-buffer that is
 * not full yet.
 */

struct relay_file {
	int fd;
	unsigned cpu;
	char name[32];
	int alone;      /* the only one, of several processors: it may be all of theirs */
	int ready;      /* it polled readable, and was not read since */
	int ended;      /* the channel is closed, or its writers are gone */
};

/* Of one directory or of several; all zero at first. */
struct relay {
	struct relay_file *v;
	size_t n;
};

/*
 * Open the files of the directory that are called prefix and a number, in that
 * order, as further ones of r. 0 or -1 said.
 */
int relay_open(struct relay *r, const char *dir, const char *prefix);

/*
 * Read what there is of each file, one after the other, each to its end, so
 * that what sink gets of one in a row ends where a record does. What may not be
 * whole yet, since we cannot run where it is written, is left alone, except with
 * last. sink returns -1 to give up. 0 or -1 said.
 */
int relay_read(struct relay *r, int last,
	       int (*sink)(void *, const struct relay_file *, const void *, size_t), void *arg);

/*
 * Wait until a sub-buffer is full, or for ms at most: a reader is not told of
 * what a sub-buffer holds before that; or until one of these is ready, -1 none:
 * signals to be read, out in error. 1: the channel is closed; 0 otherwise.
 */
int relay_wait(struct relay *r, int signals, int out, int ms);

/* Open the directory's file "dropped". -1, silent. */
int relay_open_dropped(const char *dir);

/* The number in that file, which is closed; 0 without one. */
unsigned long long relay_dropped(int file);

/*
 * blktext.h - records of the block layer's trace, and blkparse's line of each
 *
 * A record is struct blk_io_trace (include/uapi/linux/blktrace_api.h) in the
 * byte order of the machine that wrote it, of which its first word tells, and
 * its payload, which is big-endian everywhere.
 */

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

/*
 * blkpick.h - whose I/O is shown
 *
 * It is a task's that queues it; others carry it out: what the kernel's threads and
 * interrupts do with the same sectors, until it is complete, is the task's.
 */

struct blk_request {
	uint64_t from, to;      /* sectors */
	uint32_t device;
};

/* All zero but for forks: everybody's. who and but are sorted. */
struct blk_pick {
	int picky;              /* only who's, and their children's */
	struct pids who, but;
	int forks;              /* trace_pipe of the instance, -1 none */
	char fork[512];         /* the beginning of a line of it */
	size_t nfork;
	struct blk_request *busy;
	size_t nbusy;
};

/*
 * Whom the instance of tracefs follows, and from here on their children. Exits
 * REFUSED, said.
 */
void blk_pick_follow(struct blk_pick *, const char *instance);

/* Whose births the instance has told of are followed, too. */
void blk_pick_forks(struct blk_pick *);

/* Is it shown? Of each record once, in the order of time. */
int blk_picked(struct blk_pick *, const struct blk_record *);

#endif
