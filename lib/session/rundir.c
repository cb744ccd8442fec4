/* SPDX-License-Identifier: ISC */
/* rundir.c - the directories of sessions: /run/tfs/SUBSYSTEM/SESSION */
#include <sys/stat.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "session/session.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define UNABLE "unable to make %s (TFS_RUNDIR can name another directory)"

/* Check that only this user can change the directory. Return 0, or -1, reported. */
static int check_owner(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno("unable to look at %s", path);
	if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
		return err_msg("%s must belong to this user, and nobody else may write to it: "
			       "remove it, or set TFS_RUNDIR to another directory", path);
	return 0;
}

/*
 * Check that path, a directory above the run directory, can be trusted. Its owner must be
 * root or this user. Others may write to it only if it is sticky, so that they cannot replace
 * its entries, or if it is a mount point: a volume of a container, as Kubernetes makes them.
 * Return 0, or -1, reported.
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

/*
 * Make the missing directories above path, and open its parent. Return a descriptor, or -1,
 * reported.
 */
static int open_way(char *path)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
	char *name = path + 1, *slash;

	for (; fd >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
		if (slash == name)
			continue;
		*slash = '\0';
		if (mkdirat(fd, name, 0755) < 0 && errno != EEXIST)
			next = err_errno(UNABLE, path);
		else if ((next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) < 0)
			err_errno("unable to open %s", path);
		if (next >= 0 && check_way(fd, next, path) < 0) {
			close(next);
			next = -1;
		}
		/* follow a link that root made, such as /var/run */
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

/* Check that the run directory contains directories only. Return 0, or -1, reported. */
static int only_sessions(int fd, const char *path)
{
	DIR *d = file_list(fd, ".");
	struct dirent *e;
	struct stat st;
	int r = 0;

	if (!d)
		return err_errno("unable to look at %s", path);
	while (!r && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    !fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			r = err_msg("%s has files of others, such as %.80s: set TFS_RUNDIR to a "
				    "directory of its own", path, e->d_name);
	closedir(d);
	return r;
}

/* Make and open a directory below another. Return a descriptor, or -1, reported. */
static int enter(int at, const char *name, mode_t mode, const char *path)
{
	int fd;

	if (mkdirat(at, name, mode) < 0 && errno != EEXIST)
		return err_errno(UNABLE, path);
	fd = openat(at, name, OPEN_DIR);
	if (fd < 0)
		return err_errno("unable to open %s", path);
	if (check_owner(fd, path) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

const char *rundir_root(void)
{
	return path_from_env("TFS_RUNDIR", "/run/tfs");
}

int rundir_open(const char *name, char *path)
{
	const char *root = rundir_root();
	int fd, sub, way;

	/* leave room for the name of a session */
	if (*root != '/' || strlen(root) + strlen(name) > PATH_MAX - 512)
		return err_msg("TFS_RUNDIR must be an absolute path: '%.80s'", root);
	strcpy(path, root);
	umask(022); /* do not depend on the caller's umask */
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
	/* 0700: a process that can open the directory can hold its lock without end (owned.c) */
	sub = enter(fd, name, 0700, path);
	close(fd);
	return sub;
}

/*
 * The space is a link to numbers, because a link appears complete, and needs no other file system
 * feature. Only a live session has it.
 */
static const char reserved[] = ".reserved";

int rundir_reserve(int dir, unsigned long kb, unsigned long files)
{
	char numbers[48];

	str_format(numbers, sizeof(numbers), "%lu %lu", kb, files);
	unlinkat(dir, reserved, 0); /* of a killed session of this name */
	return symlinkat(numbers, dir, reserved);
}

void rundir_reserved(int dir, unsigned long *kb, unsigned long *files)
{
	char numbers[48];
	ssize_t n = readlinkat(dir, reserved, numbers, sizeof(numbers) - 1);
	const char *s = numbers;

	numbers[n > 0 ? n : 0] = '\0';
	*kb = (unsigned long)text_digits(&s);
	s += *s == ' ';
	*files = (unsigned long)text_digits(&s);
}

int rundir_unlink_trace(int dir)
{
	int fd = openat(dir, "trace", O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

	unlinkat(dir, "trace", 0);
	return fd;
}

/*
 * Return whether a file stays when its session ends: a dump, a trace whose path was printed,
 * or a file with a leading dot, which a tool may still write.
 */
static int stays(const char *name, int announced)
{
	return !strncmp(name, DUMP_PREFIX, strlen(DUMP_PREFIX)) ||
	       (announced && strcmp(name, reserved) && (!strcmp(name, "trace") || *name == '.'));
}

int rundir_remove(int dir, const char *name, int files)
{
	int fd = openat(dir, name, OPEN_DIR), trace, announced, left = 0;
	struct dirent *e;
	struct stat st;
	DIR *d;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	announced = !fstatat(fd, "trace", &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
		    !(st.st_mode & S_ISVTX);
	trace = announced && !files ? -1 : rundir_unlink_trace(fd);
	fd_close(trace);
	d = fdopendir(fd);
	if (!d) { /* no memory: usually there is only the trace */
		close(fd);
		return announced && !files ? -1 : unlinkat(dir, name, AT_REMOVEDIR);
	}
	while ((e = readdir(d)))
		if (!files && stays(e->d_name, announced))
			left |= *e->d_name != '.';
		else
			unlinkat(fd, e->d_name, 0);
	closedir(d);
	if (left)
		return 0;
	return unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -1 : 0;
}
