/* SPDX-License-Identifier: ISC */
/* paths.c - where procfs and sysfs are */
#include <stdlib.h>

#include "base/base.h"

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
