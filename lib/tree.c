/* SPDX-License-Identifier: ISC */
/* tree.c - where the programs of this tree are, seen from the running one */
#include <string.h>
#include <unistd.h>

#include "tfs.h"

const char *own_link;

int own_directory(char *dir)
{
	ssize_t n;
	char *slash;

	if (own_link)
		return format(dir, PATH_MAX, "%s", own_link), 0;
	n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	if (n < 0)
		return complain_errno("unable to read /proc/self/exe");
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	return 0;
}

int find_near(const char *dir, char *path, const char *const *candidates)
{
	for (; *candidates; candidates++) {
		if (format(path, PATH_MAX, "%s/%s", dir, *candidates) >= PATH_MAX)
			continue;
		if (!access(path, F_OK))
			return 0;
	}
	return -1;
}
