/* SPDX-License-Identifier: ISC */
/* root.c - find and open tracefs in the same way for every tool */

#include "base/base.h"
#include "host/host.h"
#include "tracefs/tracefs.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* Search a mounted tracefs, and write its path to path. Return a descriptor, or -1, reported. */
static int open_found(char *path)
{
	/* the second path is an automount: the open mounts it */
	static const char *const usual[] = { "kernel/tracing",
					     "kernel/debug/tracing" };
	int fd = -1, denied = 0;

	for (size_t i = 0; i < 2 && fd < 0; i++) {
		str_format(path, PATH_MAX, "%s/%s", path_sysfs(), usual[i]);
		fd = path_open_mounted(path, K_TRACEFS_MAGIC);
		denied |= fd < 0 && errno == EACCES;
	}
	if (fd < 0)
		fd = path_open_listed(path, "tracefs", K_TRACEFS_MAGIC);
	if (fd >= 0)
		return fd;
	if (denied || errno == EACCES)
		return err_msg("no permission for %s/kernel/tracing%s: run this as root, "
			       "or remount it with mode=750 and gid= of a group of yours",
			       path_sysfs(), caps_hint(EACCES, CAPS_DAC_OVERRIDE));
	return err_msg("no tracefs at %s/kernel/tracing: as root, "
		       "mount -t tracefs nodev %s/kernel/tracing", path_sysfs(), path_sysfs());
}

int tracefs_open(const char *root, const char *instance, char *path)
{
	char own[PATH_MAX], below[sizeof("instances/") + 256];
	int fd, sub;

	if (!path)
		path = own;
	if (!instance)
		instance = path_from_env("TFS_INSTANCE", NULL);
	if (instance && (!*instance || !strcmp(instance, TOP_LEVEL)))
		instance = NULL;
	if (instance && (*instance == '.' || strchr(instance, '/') || strlen(instance) > 255))
		return err_msg("not an instance's name: '%s'; tfs-instance list prints the "
			       "names", instance);
	if (root) {
		fd = open(root, OPEN_DIR);
		if (fd < 0)
			return err_file("unable to open %s", root);
		str_format(path, PATH_MAX, "%s", root);
	} else {
		fd = open_found(path);
		if (fd < 0)
			return -1;
	}
	if (!instance)
		return fd;
	str_format(below, sizeof(below), "instances/%s", instance);
	sub = openat(fd, below, OPEN_DIR);
	close(fd);
	if (sub < 0 && errno == ENOENT)
		return err_msg("no instance '%s' in %s; tfs-instance list prints the names",
			       instance, path);
	if (sub < 0)
		return err_file("unable to open instance %s in %s", instance, path);
	if (strlen(path) + 1 + strlen(below) < PATH_MAX)
		strcat(strcat(path, "/"), below);
	return sub;
}
