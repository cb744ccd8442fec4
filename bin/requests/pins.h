/* SPDX-License-Identifier: ISC */
/* pins.h - the directories of request probes, for probe.c and readers.c */
#ifndef REQUESTS_PINS_H
#define REQUESTS_PINS_H

/*
 * Open the directory of all request probes, bpffs/tfs. Make it first if it is missing and
 * make is set. Every user may be able to write to bpffs (mode 1777), so bpffs/tfs must be ours
 * and closed to other users. Then no other user can put a symbolic link, a
 * directory or a wrong pin into it. Return a descriptor, or -1 and errno, with an error
 * message except for ENOENT.
 */
int dt_open_home(int make);

/* Open the directory of the request probe. Return as dt_open_home does. */
int dt_open_probe(const char *name);

/*
 * probe.c: open the directory and lock it, as flock(2) does. Return a descriptor, or -1 and errno.
 * Only a directory that cannot be opened gives an error message.
 */
int dt_lock(const char *name, int how);

/* Remove the empty directory of the request probe, if it exists. Return 0 or -1. */
int dt_remove_directory(const char *name);

#endif
