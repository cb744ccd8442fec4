/* SPDX-License-Identifier: ISC */
/*
 * output_file.c - a file that the user has named for the output of a tool
 *
 * A trace has secrets of the traced programs, and often root writes it. So only the owner of a new
 * file can read it. In a directory that others write to, such as /tmp, the name may exist already:
 * as a link that leads to another file, as a FIFO on which an open would wait for ever, or as a
 * file that somebody else reads. The kernel refuses some of these (protected_symlinks,
 * protected_fifos and protected_regular in Documentation/admin-guide/sysctl/fs.rst), but not on
 * every system.
 */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/base.h"
#include "tool/tool.h"

int output_parent(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = ".";
	int fd;

	*name = slash ? slash + 1 : path;
	if (!**name || !strcmp(*name, ".") || !strcmp(*name, "..") ||
	    (slash && (size_t)(slash - path) >= sizeof(dir)))
		return OUTPUT_NO_NAME;
	if (slash)
		str_format(dir, sizeof(dir), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return err_msg("unable to open %s: no such directory; make it first", path);
	return fd < 0 ? err_errno("unable to open %s", dir) : fd;
}

int output_is_regular(int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 1 : -1;
	return S_ISREG(st.st_mode);
}

/*
 * Check an existing file, which would be written in place. Return NULL, or the reason why the
 * output must not go there.
 */
static const char *no_output(int dir, const struct stat *st)
{
	struct stat up;

	if (S_ISCHR(st->st_mode) && (st->st_rdev == makedev(1, 3) || st->st_rdev == makedev(1, 7)))
		return NULL;    /* /dev/null and /dev/full (admin-guide/devices.txt) */
	if (S_ISLNK(st->st_mode))
		return "it is a symbolic link; name the file that it leads to";
	if (!S_ISREG(st->st_mode))
		return "it is not a regular file; give the name of a file";
	if (fstat(dir, &up) < 0)
		return "its directory cannot be read";
	if (up.st_mode & S_ISVTX && up.st_mode & (S_IWOTH | S_IWGRP) &&
	    st->st_uid != geteuid() && st->st_uid != up.st_uid)
		return "it belongs to another user, in a directory that all write to; give another "
		       "name";
	if (st->st_nlink > 1)
		return "it has another name, a hard link; remove the file, or give another name";
	return NULL;
}

/* Open the existing file for writing. Return a descriptor, or -1, reported. */
static int open_existing(int dir, const char *name, const char *path)
{
	int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), again;
	const char *reason;
	struct stat st, now;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno("unable to open %s", path);
	reason = no_output(dir, &st);
	if (reason) {
		close(fd);
		return err_msg("unable to write to %s: %s", path, reason);
	}
	/* this open does not wait, and if the file was exchanged, it is refused below */
	again = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (again < 0)
		err_errno("unable to open %s", path);
	else if (fstat(again, &now) < 0 || now.st_dev != st.st_dev || now.st_ino != st.st_ino) {
		err_msg("unable to write to %s: it was exchanged meanwhile; try again", path);
		close(again);
		again = -1;
	}
	close(fd);
	return again;
}

int output_file(const char *path, int *made)
{
	const char *name;
	int dir = output_parent(path, &name), fd;

	*made = 0;
	if (dir == OUTPUT_NO_NAME)
		return err_msg("unable to write to %s: it is not the name of a file", path);
	if (dir < 0)
		return -1;
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	*made = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open_existing(dir, name, path);
	else if (fd < 0)
		err_errno("unable to open %s", path);
	close(dir);
	return fd;
}
