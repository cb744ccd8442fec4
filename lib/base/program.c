/* SPDX-License-Identifier: ISC */
/* program.c - find the other programs of this installation */
#include <string.h>
#include <unistd.h>

#include "base/base.h"

const char *program_link;

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
	for (; *candidates; candidates++) {
		if (str_format(path, PATH_MAX, "%s/%s", dir, *candidates) >= PATH_MAX)
			continue;
		if (!access(path, F_OK))
			return 0;
	}
	return -1;
}
