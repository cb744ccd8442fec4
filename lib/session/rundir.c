/* SPDX-License-Identifier: ISC */
/* rundir.c - the directories of sessions: /run/tfs/SUBSYSTEM/SESSION */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "session/session.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* A directory in which nobody else can plant or swap anything. 0 or -1 said. */
static int only_ours(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno("unable to look at %s", path);
	if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
		return err_msg("%s must be ours alone to write: remove it, or set "
			       "TFS_RUNDIR to another directory", path);
	return 0;
}

/*
 * May path, a directory on the way to ours, be trusted? Its owner must be root or us, and
 * others may write to it only if it is sticky, so that they cannot exchange what is in it,
 * or if something is mounted there: a volume of a container, as Kubernetes makes them.
 */
static int check_way(int parent, int fd, const char *path)
{
	struct stat st, up;

	if (fstat(fd, &st) < 0 || fstat(parent, &up) < 0)
		return err_errno("unable to look at %s", path);
	if ((st.st_uid && st.st_uid != geteuid()) ||
	    (!S_ISLNK(st.st_mode) && st.st_mode & (S_IWGRP | S_IWOTH) &&
	     !(st.st_mode & S_ISVTX) && st.st_dev == up.st_dev))
		return err_msg("%s can be changed by others: set TFS_RUNDIR to another "
			       "directory", path);
	return 0;
}

/* Open the directory that path's last component is in, and make what is missing. -1 said. */
static int open_way(char *path)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
	char *name = path + 1, *slash;

	for (; fd >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
		if (slash == name)
			continue;
		*slash = '\0';
		if (mkdirat(fd, name, 0755) < 0 && errno != EEXIST)
			next = err_errno("unable to make %s; TFS_RUNDIR may name "
					 "another directory", path);
		else if ((next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) < 0)
			err_errno("unable to open %s", path);
		if (next >= 0 && check_way(fd, next, path) < 0) {
			close(next);
			next = -1;
		}
		/* a link that root made, as /var/run is one, leads where root wants */
		if (next >= 0) {
			close(next);
			next = openat(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
			if (next < 0)
				err_errno("unable to open %s", path);
		}
		close(fd);
		fd = next;
		*slash = '/';
	}
	return fd;
}

/* Does the run directory have nothing but directories of subsystems? 0 or -1 said. */
static int only_sessions(int fd, const char *path)
{
	int copy = openat(fd, ".", OPEN_DIR), r = 0;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;
	struct stat st;

	if (!d) {
		if (copy >= 0)
			close(copy);
		return err_errno("unable to look at %s", path);
	}
	while (!r && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    !fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			r = err_msg("%s has files of others, such as %.80s: set TFS_RUNDIR to a "
				    "directory of its own", path, e->d_name);
	closedir(d);
	return r;
}

/* Make and open one directory below another. */
static int enter(int at, const char *name, mode_t mode, const char *path)
{
	int fd;

	if (mkdirat(at, name, mode) < 0 && errno != EEXIST)
		return err_errno("unable to make %s; TFS_RUNDIR may name "
				 "another directory", path);
	fd = openat(at, name, OPEN_DIR);
	if (fd < 0)
		return err_errno("unable to open %s", path);
	if (only_ours(fd, path) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int rundir_open(const char *name, char *path)
{
	const char *root = getenv("TFS_RUNDIR");
	int fd, sub, way;

	if (!root || !*root)
		root = "/run/tfs";
	/* the reader is told an absolute path, and a session's name follows */
	if (*root != '/' || strlen(root) + strlen(name) > PATH_MAX - 512)
		return err_msg("TFS_RUNDIR must be an absolute path: '%.80s'", root);
	strcpy(path, root);
	umask(022); /* what we make is as we say, whatever the caller's */
	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
	way = open_way(path);
	if (way < 0)
		return -1;
	fd = enter(way, path[1] ? strrchr(path, '/') + 1 : ".", 0755, path);
	close(way);
	if (fd >= 0 && only_sessions(fd, path) < 0) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		return -1;
	strcat(strcat(path, "/"), name);
	/* whoever could open this one could hold its lock for ever (owned.c) */
	sub = enter(fd, name, 0700, path);
	close(fd);
	return sub;
}

void rundir_hand_over(const char *session)
{
	char path[PATH_MAX];
	int rundir = rundir_open(manager_subsystem.name, path);
	int dir = rundir < 0 ? -1 : openat(rundir, session, OPEN_DIR);

	/* the session may have ended already, and the file is there for the next --clear */
	if (dir >= 0 && fchmodat(dir, "trace", 0600, 0) < 0 && errno != ENOENT)
		err_errno("unable to set the mode of the trace");
	if (dir >= 0)
		close(dir);
	if (rundir >= 0)
		close(rundir);
}

int rundir_unlink_trace(int dir)
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

int rundir_remove(int dir, const char *name, int files)
{
	int fd = openat(dir, name, OPEN_DIR), trace, told, left = 0;
	struct dirent *e;
	struct stat st;
	DIR *d;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	told = !fstatat(fd, "trace", &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	       !(st.st_mode & S_ISVTX);
	trace = told && !files ? -1 : rundir_unlink_trace(fd);
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
