/* SPDX-License-Identifier: ISC */
/*
 * blk.h - the kernel's tracing of block devices, and whose it is
 *
 * It belongs to the device: one at a time, and nothing ends it with the process
 * that began it. So ours carries a key. A trace is limited to sectors from
 * start_lba to end_lba, of which the latter may lie behind any device's end and
 * still is told in sysfs (/sys/dev/block/MAJOR:MINOR/trace/end_lba): there the
 * key is, from the moment on in which the trace is.
 */
#ifndef BLK_H
#define BLK_H

#include "tfs.h"

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
uint64_t blk_end(dev_t dev);

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

#endif
