/* SPDX-License-Identifier: ISC */
/* atomic_file.c - a file that appears complete, or not at all */
#include <stdio.h>
#include <sys/stat.h>

#include "base/base.h"
#include "tool/tool.h"

/* Return the temporary name. A program makes one file at a time, so one name is enough. */
static const char *own_name(void)
{
	static char name[40];

	str_format(name, sizeof(name), ".%s.%d", program_name, (int)getpid());
	return name;
}

static int open_named(const struct atomic_file *p)
{
	return openat(p->dir, own_name(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

int atomic_file_scratch(const struct atomic_file *p)
{
	int fd = openat(p->dir, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		fd = open_named(p);
		if (fd >= 0)
			atomic_file_drop(p);
	}
	return fd;
}

int atomic_file_make(const struct atomic_file *p)
{
	return p->named ? open_named(p) : atomic_file_scratch(p);
}

void atomic_file_drop(const struct atomic_file *p)
{
	unlinkat(p->dir, own_name(), 0);
}

/* Give an unnamed file the name own_name(). -1 and errno, silent. */
static int give_name(const struct atomic_file *p, int fd)
{
	char path[PATH_MAX];

	if (!linkat(fd, "", p->dir, own_name(), AT_EMPTY_PATH))
		return 0;
	/* AT_EMPTY_PATH needs CAP_DAC_READ_SEARCH; a link in procfs does not (open(2)) */
	str_format(path, sizeof(path), "%s/self/fd/%d", path_procfs(), fd);
	return linkat(AT_FDCWD, path, p->dir, own_name(), AT_SYMLINK_FOLLOW);
}

void atomic_file_try(struct atomic_file *p, int scratch)
{
	if (!give_name(p, scratch))
		atomic_file_drop(p);
	else
		p->named = 1;
}

/* Return NAME for i = 0, NAME.i otherwise. Two further calls overwrite the name. */
static const char *name_of(const struct atomic_file *p, unsigned long i)
{
	static char name[2][NAME_MAX + 24];
	static int which;
	char *text = name[which ^= 1];

	str_format(text, sizeof(name[0]), i ? "%s.%lu" : "%s", p->name, i);
	return text;
}

int atomic_file_remove(const struct atomic_file *p, unsigned long i)
{
	if (unlinkat(p->dir, name_of(p, i), 0) < 0 && errno != ENOENT)
		return err_errno("unable to remove %s", name_of(p, i));
	return 0;
}

int atomic_file_publish(const struct atomic_file *p, int fd)
{
	if (!p->named && give_name(p, fd) < 0)
		return err_errno("unable to write %s", p->path);
	for (unsigned long i = p->files; i-- > 1;)
		if (renameat(p->dir, name_of(p, i - 1), p->dir, name_of(p, i)) < 0 &&
		    errno != ENOENT)
			return err_errno("unable to rename %s to %s",
					 name_of(p, i - 1), name_of(p, i));
	if (renameat(p->dir, own_name(), p->dir, p->name) < 0)
		return err_errno("unable to rename %s to %s", own_name(), p->name);
	return 0;
}

int atomic_file_find(struct atomic_file *p, const struct tool *tool, const char *path)
{
	int regular;

	p->path = path;
	p->dir = output_parent(path, &p->name);
	if (p->dir == OUTPUT_NO_NAME)
		usage_error(tool, "not a file's name: '%.80s'", path);
	if (p->dir < 0)
		return -1;
	/* without this check, a rename would replace /dev/stdout by a file */
	for (unsigned long i = 0; i < p->files + !p->files; i++) {
		regular = output_is_regular(p->dir, name_of(p, i));
		if (regular < 0)
			return err_errno("unable to write %s", name_of(p, i));
		if (!regular)
			usage_error(tool, "not a regular file: '%.80s'", name_of(p, i));
	}
	return 0;
}
