/* SPDX-License-Identifier: ISC */
/*
 * relay.h - relay channels: the files of a debugfs directory, one a processor
 *
 * The kernel writes such a file with interrupts off, on the processor that its
 * number names (Documentation/filesystems/relay.rst). So whoever runs there
 * himself while he reads sees whole records only, also of a sub-buffer that is
 * not full yet.
 */
#ifndef RELAY_H
#define RELAY_H

#include "tfs.h"

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

#endif
