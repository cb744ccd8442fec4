/* SPDX-License-Identifier: ISC */
/*
 * only.c - open a path only if it leads to a file of the right kind
 *
 * The open of a device can do something: it starts a watchdog or rewinds a tape. The
 * open of a FIFO wakes up its other end. So look first, through a descriptor that opens
 * nothing (O_PATH, open(2)), and then open the same file through that descriptor. No
 * other file can take its place in between.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tfs.h"

/* /dev/null, which Documentation/admin-guide/devices.txt numbers, is an empty file. */
static int fits(const struct stat *st, int kinds)
{
	return (S_ISREG(st->st_mode) && kinds & ONLY_FILE) ||
	       (S_ISFIFO(st->st_mode) && kinds & ONLY_FIFO) ||
	       (S_ISBLK(st->st_mode) && kinds & ONLY_BLOCK) ||
	       (S_ISCHR(st->st_mode) && kinds & ONLY_NULL && st->st_rdev == makedev(1, 3));
}

/*
 * Open the file behind fd, which path named just now. Without a mounted procfs only the
 * path leads to the file again. Then somebody can exchange the file before the open, but
 * not after the comparison.
 */
static int open_again(int fd, const char *path, int flags, const struct stat *st)
{
	const char *const procs[] = { "/proc", procfs() };
	struct stat now;
	char link[PATH_MAX];
	int again = -1;

	for (int i = 0; again < 0 && i < 2; i++) {
		format(link, sizeof(link), "%s/self/fd/%d", procs[i], fd);
		again = open(link, flags);
		if (again < 0 && errno != ENOENT)
			return -1;
	}
	if (again < 0)
		again = open(path, flags);
	if (again < 0)
		return -1;
	if (!fstat(again, &now) && now.st_dev == st->st_dev && now.st_ino == st->st_ino &&
	    now.st_mode == st->st_mode && now.st_rdev == st->st_rdev)
		return again;
	close(again);
	errno = EAGAIN;
	return -1;
}

int open_only(const char *path, int kinds, int flags, struct stat *st)
{
	int fd = open(path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW)), again, e;

	if (fd < 0)
		return -1;
	if (fstat(fd, st) < 0 || S_ISLNK(st->st_mode)) {
		errno = S_ISLNK(st->st_mode) ? ELOOP : errno;
		again = -1;
	} else if (!fits(st, kinds)) {
		again = OTHER_KIND;
	} else {
		/* nobody waits for the writer of a FIFO that was asked for by its name */
		flags |= O_CLOEXEC | O_NOCTTY | (kinds & ONLY_FIFO ? 0 : O_NONBLOCK);
		again = open_again(fd, path, flags & ~O_NOFOLLOW, st);
	}
	e = errno;
	close(fd);
	errno = e;
	return again;
}
