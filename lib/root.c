/* SPDX-License-Identifier: ISC */
/* root.c - where the kernel's files are, found in one way by every tool */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "tfs.h"

/* include/uapi/linux/magic.h */
#define TRACEFS_MAGIC_NUMBER 0x74726163
#define CGROUP2_MAGIC_NUMBER 0x63677270

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

static const char *from_env(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

const char *procfs(void)
{
	return from_env("TRACER_PROCFS_PATH", "/proc");
}

const char *sysfs(void)
{
	return from_env("TRACER_SYSFS_PATH", "/sys");
}

/*
 * Is that mounted at path? An unmounted mount point is an empty directory of
 * sysfs, so the magic number decides. EACCES tells that it is one, but not
 * for us.
 */
static int open_mounted(const char *path, unsigned long magic)
{
	struct statfs fs;
	int fd = open(path, OPEN_DIR);

	if (fd < 0)
		return -1;
	if (!fstatfs(fd, &fs) && (unsigned long)fs.f_type == magic)
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

/* Field n of a line, ended by a blank; NULL: it has not so many. */
static char *field(char *line, int n)
{
	while (n-- > 0 && (line = strchr(line, ' ')))
		line++;
	if (line)
		line[strcspn(line, " ")] = '\0';
	return line;
}

/*
 * Any of that type in the mount table (fstab(5): device, directory, type, ...),
 * a path under /sys re-rooted at sysfs(). A directory with a blank in its name
 * is written with an escape and not found; -R reaches it.
 */
static int open_listed(char *path, const char *wanted, unsigned long magic)
{
	static const char *const tables[] = { "1/mounts", "self/mounts" };
	int fd = -1;

	for (size_t i = 0; i < 2 && fd < 0; i++) {
		char *text, *line, *next;

		format(path, PATH_MAX, "%s/%s", procfs(), tables[i]);
		text = ctl_read(AT_FDCWD, path, NULL);
		for (line = text; line && *line && fd < 0; line = next) {
			char *type, *dir;

			next = line + strcspn(line, "\n");
			if (*next)
				*next++ = '\0';
			type = field(line, 2);
			if (!type || strcmp(type, wanted))
				continue;
			dir = field(line, 1);
			if (!strncmp(dir, "/sys/", 5))
				format(path, PATH_MAX, "%s%s", sysfs(), dir + 4);
			else
				format(path, PATH_MAX, "%s", dir);
			fd = open_mounted(path, magic);
		}
		free(text);
	}
	return fd;
}

int open_cgroup2(void)
{
	char path[PATH_MAX];

	return open_listed(path, "cgroup2", CGROUP2_MAGIC_NUMBER);
}

static int open_found(char *path)
{
	/* the second is an automount: opening the full path mounts it */
	static const char *const usual[] = { "kernel/tracing",
					     "kernel/debug/tracing" };
	int fd = -1, denied = 0;

	for (size_t i = 0; i < 2 && fd < 0; i++) {
		format(path, PATH_MAX, "%s/%s", sysfs(), usual[i]);
		fd = open_mounted(path, TRACEFS_MAGIC_NUMBER);
		denied |= fd < 0 && errno == EACCES;
	}
	if (fd < 0)
		fd = open_listed(path, "tracefs", TRACEFS_MAGIC_NUMBER);
	if (fd >= 0)
		return fd;
	if (denied || errno == EACCES)
		return complain("no permission for %s/kernel/tracing%s: run this as root, "
				"or remount it with mode=750 and gid= of a group of yours",
				sysfs(), caps_hint(EACCES, CAPS_DAC_OVERRIDE));
	return complain("no tracefs at %s/kernel/tracing: as root, "
			"mount -t tracefs nodev %s/kernel/tracing", sysfs(), sysfs());
}

int open_tracefs(const char *root, const char *instance, char *path)
{
	char own[PATH_MAX], below[sizeof("instances/") + 256];
	int fd, sub;

	if (!path)
		path = own;
	if (!instance)
		instance = from_env("TFS_INSTANCE", NULL);
	if (instance && (!*instance || !strcmp(instance, TOP_LEVEL)))
		instance = NULL;
	if (instance && (*instance == '.' || strchr(instance, '/') ||
			 strlen(instance) > 255))
		return complain("not an instance's name: '%s'", instance);
	if (root) {
		fd = open(root, OPEN_DIR);
		if (fd < 0)
			return complain_file("unable to open %s", root);
		format(path, PATH_MAX, "%s", root);
	} else {
		fd = open_found(path);
		if (fd < 0)
			return -1;
	}
	if (!instance)
		return fd;
	format(below, sizeof(below), "instances/%s", instance);
	sub = openat(fd, below, OPEN_DIR);
	close(fd);
	if (sub < 0)
		return complain_file("unable to open instance %s in %s", instance, path);
	if (strlen(path) + 1 + strlen(below) < PATH_MAX)
		strcat(strcat(path, "/"), below);
	return sub;
}
