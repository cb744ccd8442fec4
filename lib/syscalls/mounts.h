/* SPDX-License-Identifier: ISC */
/*
 * mounts.h - private to the layer: where the mounts of a mount namespace are on the host
 *
 * Paths are absolute, from the root of the namespace, without a slash at the end.
 */
#ifndef MOUNTS_H
#define MOUNTS_H

#include <sys/types.h>

struct mounts {
	size_t n, room;
	struct mount_point {
		char *at;               /* a directory of the namespace */
		char *host;             /* the same directory on the host, or NULL: unknown */
	} *v;                           /* of two with the same at, the later one is in front */
	size_t bytes;                   /* of memory */
	unsigned over;                  /* mounts on top of "/", which no path leads to */
};

/* Return a table in which every path is the same on the host. */
struct mounts *mounts_same(void);

/*
 * Read the mounts of a task whose root directory is root, a path from the root of its
 * namespace. What cannot be read is unknown.
 */
struct mounts *mounts_read(pid_t, const char *root);

/* Return a table in which every path is unknown, or a copy of a table. */
struct mounts *mounts_unknown(void);
struct mounts *mounts_copy(const struct mounts *);
void mounts_free(struct mounts *);

/* Write the path that a path has on the host to out (PATH_MAX bytes). Return 0; -1: unknown. */
int mounts_host(const struct mounts *, const char *path, char *out);

/* Follow mount, umount and pivot_root. host may be NULL: unknown. */
void mounts_add(struct mounts *, const char *at, const char *host);
void mounts_bind(struct mounts *, const char *from, const char *to, int all); /* MS_BIND */
void mounts_remove(struct mounts *, const char *at);
void mounts_move(struct mounts *, const char *from, const char *to);
void mounts_pivot(struct mounts *, const char *root, const char *old);

/*
 * Open a file by the kernel's cache of names alone (RESOLVE_CACHED, Linux 5.12): a file system
 * of the task, such as FUSE, could let this program wait. Follow links, but none of procfs. If
 * root is a descriptor, it is the root directory of the path. Return a descriptor, or -1.
 */
enum { PATH_LINKS, PATH_NO_LINKS };
int path_open_cached(int root, const char *path, int flags, int how);

/* Is the path the directory, or below it? */
int path_is_below(const char *path, const char *dir);

/*
 * Let a path be what it is when the directory root has become "/", and the old root directory is
 * at old. Write it to out (PATH_MAX bytes). Return 0, or -1 if it has no such path.
 */
int path_pivot(const char *path, const char *root, const char *old, char *out);

#endif
