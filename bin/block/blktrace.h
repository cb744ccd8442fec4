/* SPDX-License-Identifier: ISC */
/*
 * blktrace.h - block tracing: its setup on a device, its relay files, its records as text
 *
 * The kernel has a tracer of its own for block devices (blktrace(8)), beside tracefs. Terms:
 *
 *	block trace     the tracing of one device; a device has at most one
 *	key             a number that tells which session has set up a block trace
 *	relay channel   one file per CPU in debugfs, through which the kernel hands out records
 *	action          the kind of a record: queue, issue, complete and so on
 *	note            a record that is not an action: a task's name, a time or a message
 *
 * A function that fails writes an error message and returns -1, unless its comment says
 * otherwise. relay.c, blkparse.c and tasks_io.c exit if memory runs out: they are not for managers.
 */
#ifndef BLKTRACE_H
#define BLKTRACE_H

#include "proc/proc.h"

/* The prefix of the instances of sessions. */
#define BLK_INSTANCE_PREFIX "tfs-blk."

/* ---- blk_setup.c: set up and remove block traces ------------------------------------ */

/*
 * A block trace does not end with the process that has set it up, so each of ours carries a key.
 * The kernel limits a block trace to sectors from start_lba to end_lba. It accepts an end_lba
 * beyond the end of any device and shows it in sysfs (/sys/dev/block/MAJOR:MINOR/trace/end_lba). So
 * end_lba is the key, which exists as soon as the block trace does.
 */

enum { BLK_NAME = 32 }; /* bytes of a device's name */

struct blk_wanted {
	unsigned actions;       /* bits as in blk_actions; 0: all */
	unsigned pid;           /* 0: all tasks */
	uint64_t from, to;      /* sectors; to is the last one, or a key */
	uint32_t size, n;       /* of a sub-buffer in bytes; sub-buffers per CPU */
};

/* Return the key that stands for a name, as an end_lba. */
uint64_t blk_key(const char *name);

/*
 * Open a block device by its path, or by its name below /dev, and store its number in *dev.
 * Return a descriptor, or -1; a file of another kind is an error.
 */
int blk_open(const char *name, dev_t *dev);

/*
 * Return the end_lba of the device's block trace, or 0 for no trace, silent. Return BLK_UNTOLD if
 * the kernel does not show it: before Linux 5.12, while no process has the device open.
 */
#define BLK_UNTOLD UINT64_MAX
uint64_t blk_end_lba(dev_t dev);

/* Write the path of the directory with the relay files to path (PATH_MAX bytes). */
void blk_directory(const char *name, char *path);

/* Set up a block trace. Write the kernel's name of the device to name. Return 0 or -errno. */
int blk_setup(int fd, const struct blk_wanted *, char name[BLK_NAME]);

/* Start, stop or remove the block trace. Return 0 or -errno. blk_remove stops it first. */
int blk_start(int fd);
int blk_stop(int fd);
int blk_remove(int fd);

/*
 * Call fn, one of these three, for each disk whose block trace has this key. Return the
 * number of disks. If fn fails for a disk, go on with the others, store its name in
 * failed, and return -1 with errno, silent.
 */
int blk_each(uint64_t key, int (*fn)(int fd), char failed[BLK_NAME]);

/* Remove all block traces of the session with this instance. Return 0, or -1 and errno. */
int blk_end_session(const char *instance);

/* Names of groups of actions; the index is the bit; "" at the end. */
extern const char blk_actions[][9];

/* ---- relay.c: read relay files -------------------------------------------------- */

/*
 * The kernel writes a relay file with interrupts off, on the CPU in its name
 * (Documentation/filesystems/relay.rst). A reader that runs on the same CPU sees complete
 * records only, even in a sub-buffer that is not full yet.
 */

struct relay_file {
	int fd;
	unsigned cpu;
	char name[32];
	int alone;      /* the only file, on several CPUs: perhaps all CPUs write to it */
	int ready;      /* poll(2) has reported it readable since the last read */
	int ended;      /* the channel is closed, or all writers of the FIFO are gone */
};

/* The relay files of one or more directories. All zero at first. */
struct relay {
	struct relay_file *v;
	size_t n;
};

/* Append the files whose names are the prefix and a number, in the order of the numbers. */
int relay_open(struct relay *r, const char *dir, const char *prefix);

/*
 * Read each file to its end, one after the other, and give the bytes to sink. The bytes of
 * a file end with a complete record. A file on whose CPU this process cannot run is left
 * for a later call, because its last record may be incomplete, except if last is set.
 * sink returns -1 to stop. Return 0 or -1.
 */
typedef int relay_sink(void *, const struct relay_file *, const void *, size_t);
int relay_read(struct relay *r, int last, relay_sink *sink, void *arg);

/*
 * Wait until a sub-buffer is full, until signals is readable, until out has an error, or
 * for ms milliseconds. The kernel does not wake a reader before a sub-buffer is full.
 * signals or out may be -1. Return 1 if all channels are closed, else 0.
 */
int relay_wait(struct relay *r, int signals, int out, int ms);

/* Open the file "dropped" of the directory. Return a descriptor, or -1, silent. */
int relay_open_dropped(const char *dir);

/* Return the number in that file, and close the file. Return 0 if file is -1. */
unsigned long long relay_dropped(int file);

/* ---- blkparse.c: records, and the line of blkparse(1) for each ------------------------ */

/*
 * A record is a struct blk_io_trace (include/uapi/linux/blktrace_api.h) and a payload. The struct
 * has the byte order of the machine that wrote it, as its first word shows. The payload is always
 * big-endian.
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
	unsigned act;           /* enum blk_act; enum blk_note if note is set */
	int note;
	size_t npayload;
	const uint8_t *payload; /* without the cgroup number before it */
};

/*
 * Decode the record at p, where there are n bytes. Return its length; 0 if it is longer
 * than n; -1, silent, if there is no record.
 */
ssize_t blk_record(struct blk_record *, const uint8_t *p, size_t n);

/* The name of a task, from a note of the trace. Its key is the pid. */
struct blk_name {
	struct table_entry entry;
	char comm[16];
};

/* Store the name of the task if the record is a note with one. The table is all zero at first. */
void blk_learn(struct table *names, const struct blk_record *);

/*
 * Write the line of the record, as blkparse(1) without options prints it, with its newline
 * and a NUL; longer lines are cut. Its time counts from start. Return the length; 0 if
 * records of this kind have no line.
 */
size_t blk_line(const struct table *names, const struct blk_record *, uint64_t start, char *,
		size_t size);

/* ---- tasks_io.c: select the records of some tasks' I/O ---------------------------------- */

/*
 * I/O belongs to the task that queues it. Other tasks and interrupts carry it out. So all
 * records about the same sectors, until the request is complete, belong to that task.
 */

struct blk_request {
	uint64_t from, to;      /* sectors */
	uint32_t device;
};

/* All zero except for child_pipe: select the records of all tasks. */
struct blk_pick {
	int only_selected;      /* select only tasks in selected, and their children */
	struct pids selected, excluded; /* both sorted */
	int child_pipe;         /* trace_pipe of the instance that records new tasks; -1: none */
	char line[512];         /* incomplete last line of child_pipe */
	size_t nline;
	struct blk_request *busy; /* requests of selected tasks that are not complete */
	size_t nbusy, room;
};

/* Select the tasks that the instance follows. blk_pick_children adds their children. */
int blk_pick_follow(struct blk_pick *, const char *instance);

/* Select the new tasks that the instance has recorded since the last call. */
int blk_pick_children(struct blk_pick *);

/* Is the record selected? Call it once for each record, in the order of time. */
int blk_picked(struct blk_pick *, const struct blk_record *);

#endif
