/* SPDX-License-Identifier: ISC */
/* paths.c - where procfs, sysfs and mounted file systems are */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/base.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

const char *path_from_env(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

const char *path_procfs(void)
{
	return path_from_env("TRACER_PROCFS_PATH", "/proc");
}

const char *path_sysfs(void)
{
	return path_from_env("TRACER_SYSFS_PATH", "/sys");
}

int path_open_mounted(const char *path, unsigned long magic)
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

/* Return field n of a line, counted from 0, and end it with a NUL. NULL: there is none. */
static char *field(char *line, int n)
{
	while (n-- > 0 && (line = strchr(line, ' ')))
		line++;
	if (line)
		line[strcspn(line, " ")] = '\0';
	return line;
}

/*
 * A line of the mount table begins with device, directory and type (fstab(5)). The table
 * escapes blanks in a directory's name; such a directory is not found here, and -R has to
 * name it.
 */
int path_open_listed(char *path, const char *wanted, unsigned long magic)
{
	static const char *const tables[] = { "1/mounts", "self/mounts" };
	int fd = -1;

	for (size_t i = 0; i < 2 && fd < 0; i++) {
		char *text, *line, *next;

		str_format(path, PATH_MAX, "%s/%s", path_procfs(), tables[i]);
		text = file_read(AT_FDCWD, path, NULL);
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
				str_format(path, PATH_MAX, "%s%s", path_sysfs(), dir + 4);
			else
				str_format(path, PATH_MAX, "%s", dir);
			fd = path_open_mounted(path, magic);
		}
		free(text);
	}
	return fd;
}
