/* SPDX-License-Identifier: ISC */
/* rundir.c - the directories of sessions: /run/tfs/SUBSYSTEM/SESSION */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manager.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* A directory in which nobody else can plant or swap anything. 0 or -1 said. */
static int only_ours(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return complain_errno("unable to look at %s", path);
	if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
		return complain("%s must be ours alone to write: remove it, or set "
				"TFS_RUNDIR to another directory", path);
	return 0;
}

/* Make the directories on the way to path as far as they are missing. */
static int make_all(char *path)
{
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return complain_errno("unable to make %s; TFS_RUNDIR may name "
					      "another directory", path);
		*p = '/';
	}
	return 0;
}

/* Make and open one directory below another. */
static int enter(int at, const char *name, mode_t mode, const char *path)
{
	int fd;

	if (mkdirat(at, name, mode) < 0 && errno != EEXIST)
		return complain_errno("unable to make %s; TFS_RUNDIR may name "
				      "another directory", path);
	fd = openat(at, name, OPEN_DIR);
	if (fd < 0)
		return complain_errno("unable to open %s", path);
	if (only_ours(fd, path) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int open_rundir(const char *name, char *path)
{
	const char *root = getenv("TFS_RUNDIR");
	int fd, sub;

	if (!root || !*root)
		root = "/run/tfs";
	/* the reader is told an absolute path, and a session's name follows */
	if (*root != '/' || strlen(root) + strlen(name) > PATH_MAX - 512)
		return complain("TFS_RUNDIR must be an absolute path: '%.80s'", root);
	strcpy(path, root);
	umask(022); /* what we make is as we say, whatever the caller's */
	if (make_all(path) < 0)
		return -1;
	fd = enter(AT_FDCWD, path, 0755, path);
	if (fd < 0)
		return -1;
	strcat(strcat(path, "/"), name);
	/* whoever could open this one could hold its lock for ever (owned.c) */
	sub = enter(fd, name, 0700, path);
	close(fd);
	return sub;
}

int unlink_trace(int dir)
{
	int fd = openat(dir, "trace", O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

	unlinkat(dir, "trace", 0);
	return fd;
}

/*
 * Is the file to stay, in a directory whose trace is a file that was told of or not?
 * Names with a dot are of one that is made, which a tool may be at still.
 */
static int stays(const char *name, int told)
{
	return !strncmp(name, DUMP_PREFIX, strlen(DUMP_PREFIX)) ||
	       (told && (!strcmp(name, "trace") || *name == '.'));
}

int remove_rundir(int dir, const char *name, int files)
{
	int fd = openat(dir, name, OPEN_DIR), trace, told, left = 0;
	struct dirent *e;
	struct stat st;
	DIR *d;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	told = !fstatat(fd, "trace", &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	       !(st.st_mode & S_ISVTX);
	trace = told && !files ? -1 : unlink_trace(fd);
	if (trace >= 0)
		close(trace);
	d = fdopendir(fd);
	if (!d) { /* no memory: there is seldom more than the trace */
		close(fd);
		return told && !files ? -1 : unlinkat(dir, name, AT_REMOVEDIR);
	}
	while ((e = readdir(d)))
		if (!files && stays(e->d_name, told))
			left |= *e->d_name != '.';
		else
			unlinkat(fd, e->d_name, 0);
	closedir(d);
	if (left)
		return 0;
	return unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -1 : 0;
}
