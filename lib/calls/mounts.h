/* SPDX-License-Identifier: ISC */
/* mounts.h - private to the layer: where the files of a file system are on the host */
#ifndef MOUNTS_H
#define MOUNTS_H

#include <stdint.h>
#include <sys/types.h>

struct mounts;

/* Read the mounts of a process. */
struct mounts *mounts_of(pid_t);
void mounts_free(struct mounts *);

/*
 * Write the path of a file, whose path in the file system of the device is inside, to out (PATH_MAX
 * bytes). Return 0; -1: no mount has it.
 */
int mounts_find(const struct mounts *, uint32_t device, const char *inside, char *out);

/* Set device to that of the mount with this id. Return 0; -1: it is not there. */
int mounts_device(const struct mounts *, uint64_t id, uint32_t *device);

/* Is anything mounted on the way from a directory to a path below it? Also 1 if it is not known. */
int mounts_between(const struct mounts *, const char *from, const char *to);

/*
 * Open a file by the kernel's cache of names alone (RESOLVE_CACHED, Linux 5.12): a file system
 * of the task, such as FUSE, could let this program wait. Follow links, but none of procfs. If
 * root is a descriptor, it is the root directory of the path. Return a descriptor, or -1.
 */
enum { PATH_LINKS, PATH_NO_LINKS, PATH_MAGIC /* those of procfs, too */ };
int path_open_cached(int root, const char *path, int flags, int how);

/* Is the path the directory, or below it? */
int path_is_below(const char *path, const char *dir);

#endif
