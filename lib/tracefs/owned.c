/* SPDX-License-Identifier: ISC */
/*
 * owned.c - directories that live as long as the process that made them
 *
 * The maker holds a read lock (fcntl(2), F_SETLK) on the directory itself; tracefs supports that
 * like any file system. The kernel drops the lock when the process ends for any reason, and F_GETLK
 * translates the holder's pid. owned_make and owned_each exclude each other by flock(2) on the
 * parent, so that no process sees a directory that is made but not locked yet.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include "tracefs/tracefs.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Open the parent again, because flock does not exclude a description that fork shares. */
int owned_guard(int parent)
{
	int fd = openat(parent, ".", OPEN_DIR);

	while (fd >= 0 && flock(fd, LOCK_EX) < 0) {
		int e = errno;

		if (e == EINTR)
			continue;
		close(fd);
		errno = e;
		return -1;
	}
	return fd;
}

int owned_make(int parent, const char *name, mode_t mode)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	int held = owned_guard(parent), fd = -1, e;

	if (held < 0)
		return -1;
	if (!mkdirat(parent, name, mode)) {
		fd = openat(parent, name, OPEN_DIR);
		if (fd < 0 || fcntl(fd, F_SETLK, &lock) < 0) {
			e = errno;
			fd_close(fd);
			unlinkat(parent, name, AT_REMOVEDIR);
			errno = e;
			fd = -1;
		}
	}
	e = errno;
	close(held);
	errno = e;
	return fd;
}

int owned_take(int parent, const char *name)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int held = owned_guard(parent), fd, e;

	if (held < 0)
		return -1;
	fd = openat(parent, name, OPEN_DIR);
	e = fd < 0 || fcntl(fd, F_GETLK, &lock) < 0 ? errno : lock.l_type == F_UNLCK ? 0 : EBUSY;
	lock = (struct flock){ .l_type = F_RDLCK, .l_whence = SEEK_SET };
	if (!e && fcntl(fd, F_SETLK, &lock) < 0)
		e = errno;
	if (e && fd >= 0)
		close(fd);
	close(held);
	errno = e;
	return e ? -1 : fd;
}

/* Return the pid of the owner, OWNER_NONE or OWNER_ELSEWHERE; -1 if the directory is gone. */
static pid_t owned_by(int parent, const char *name)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = openat(parent, name, OPEN_DIR), r;

	if (fd < 0)
		return -1;
	r = fcntl(fd, F_GETLK, &lock);
	close(fd);
	if (r < 0)
		return -1;
	if (lock.l_type == F_UNLCK)
		return OWNER_NONE;
	return lock.l_pid > 0 ? lock.l_pid : OWNER_ELSEWHERE;
}

int owned_each(int parent, const char *prefix,
	       int (*fn)(void *, int parent, const char *name, pid_t owner),
	       void *arg)
{
	int held = owned_guard(parent), sum = 0;
	const char *name;
	DIR *d;

	if (held < 0)
		return -1;
	d = file_list(parent, ".");
	while ((name = file_next(d))) {
		pid_t owner;

		if (strncmp(name, prefix, strlen(prefix)))
			continue;
		owner = owned_by(parent, name);
		if (owner != -1)
			sum += fn(arg, parent, name, owner);
	}
	close(held);
	return sum;
}
