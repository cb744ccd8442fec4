/* SPDX-License-Identifier: ISC */
/* directory.c - the directory of saved heads and of the trace of the last boot */

#include "base/base.h"
#include "tracedat/tracedat.h"

const char *persist_directory(void)
{
	const char *path = getenv("TFS_STATE");

	return path && *path ? path : "/var/lib/tfs";
}

const char *persist_last_boot(void)
{
	static char path[PATH_MAX];

	str_format(path, sizeof(path), "%s/" LAST_BOOT, persist_directory());
	return path;
}
