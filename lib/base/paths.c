/* SPDX-License-Identifier: ISC */
/* paths.c - where procfs, sysfs and the other programs of this installation are */

#include "base/base.h"

const char *program_link;

const char *path_from_env(const char *name, const char *fallback)
{
	const char *value = getenv(name);

	return value && *value ? value : fallback;
}

const char *path_procfs(void)
{
	return path_from_env("TRACER_PROCFS_PATH", "/proc");
}

const char *path_sysfs(void)
{
	return path_from_env("TRACER_SYSFS_PATH", "/sys");
}

int program_directory(char *dir)
{
	ssize_t n;
	char *slash;

	if (program_link)
		return str_format(dir, PATH_MAX, "%s", program_link), 0;
	n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	if (n < 0)
		return err_errno("unable to read /proc/self/exe");
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	return 0;
}

int program_find(const char *dir, char *path, const char *const *candidates)
{
	for (; *candidates; candidates++)
		if (str_format(path, PATH_MAX, "%s/%s", dir, *candidates) < PATH_MAX &&
		    !access(path, F_OK))
			return 0;
	return -1;
}
