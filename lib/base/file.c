/* SPDX-License-Identifier: ISC */
/*
 * file.c - read files and directories, open a path only if it has the right kind, and find mounted
 * file systems
 *
 * If a device is opened, a watchdog may start, or a tape rewind. If a FIFO is opened, its other end
 * wakes up. So file_open first looks at the file through a descriptor that opens nothing (O_PATH,
 * open(2)), and then opens the same file through that descriptor. Nobody can exchange the file in
 * between.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "base/base.h"

/*
 * Is the file of one of the kinds? Documentation/admin-guide/devices.txt gives the device numbers
 * of /dev/null and /dev/kmsg.
 */
static int fits(const struct stat *st, int kinds)
{
	return (S_ISREG(st->st_mode) && kinds & FILE_REGULAR) ||
	       (S_ISFIFO(st->st_mode) && kinds & FILE_FIFO) ||
	       (S_ISBLK(st->st_mode) && kinds & FILE_BLOCK) ||
	       (S_ISCHR(st->st_mode) && kinds & FILE_NULL && st->st_rdev == makedev(1, 3)) ||
	       (S_ISCHR(st->st_mode) && kinds & FILE_KMSG && st->st_rdev == makedev(1, 11));
}

/*
 * Open the file that fd, an O_PATH descriptor, refers to. If procfs is not mounted, open the path
 * again: then another process can have exchanged the file, which the comparison with *st detects.
 */
static int open_again(int fd, const char *path, int flags, const struct stat *st)
{
	const char *const procs[] = { "/proc", path_procfs() };
	struct stat now;
	char link[PATH_MAX];
	int again = -1;

	for (int i = 0; again < 0 && i < 2; i++) {
		str_format(link, sizeof(link), "%s/self/fd/%d", procs[i], fd);
		again = open(link, flags);
		if (again < 0 && errno != ENOENT)
			return -1;
	}
	if (again < 0)
		again = open(path, flags);
	if (again < 0)
		return -1;
	if (!fstat(again, &now) && now.st_dev == st->st_dev && now.st_ino == st->st_ino &&
	    now.st_mode == st->st_mode && now.st_rdev == st->st_rdev)
		return again;
	close(again);
	errno = EAGAIN;
	return -1;
}

int file_open(const char *path, int kinds, int flags, struct stat *st)
{
	int fd = open(path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW)), again, e;

	if (fd < 0)
		return -1;
	if (fstat(fd, st) < 0 || S_ISLNK(st->st_mode)) {
		errno = S_ISLNK(st->st_mode) ? ELOOP : errno;
		again = -1;
	} else if (!fits(st, kinds)) {
		again = FILE_OTHER;
	} else {
		/* if the caller wants a FIFO, the open waits for the FIFO's writer */
		flags |= O_CLOEXEC | O_NOCTTY | (kinds & FILE_FIFO ? 0 : O_NONBLOCK);
		again = open_again(fd, path, flags & ~O_NOFOLLOW, st);
	}
	e = errno;
	close(fd);
	errno = e;
	return again;
}

char *file_read_most(int dir, const char *file, size_t most, size_t *len)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	struct bytes b = { 0 };
	ssize_t got = 1;

	if (fd < 0)
		return NULL;
	while (got && b.n < most && !bytes_room(&b, 4096)) {
		size_t room = b.room - b.n - 1;

		got = read(fd, b.v + b.n, most - b.n < room ? most - b.n : room);
		if (got < 0 && errno != EINTR)
			break;
		b.n += got > 0 ? (size_t)got : 0;
	}
	fd_close(fd);
	if (got < 0 || b.failed) {
		free(b.v);
		return NULL;
	}
	b.v[b.n] = '\0';
	if (len)
		*len = b.n;
	return b.v;
}

char *file_read(int dir, const char *file, size_t *len)
{
	return file_read_most(dir, file, SIZE_MAX, len);
}

int file_begins(int dir, const char *file, char c)
{
	char *text = file_read(dir, file, NULL);
	int r = text && *text == c;

	free(text);
	return r;
}

unsigned long long file_number(int dir, const char *file, const char *key,
			       unsigned long long none)
{
	char *text = file_read(dir, file, NULL);
	const char *p = text && key ? strstr(text, key) : text;
	unsigned long long n = none;

	if (p) {
		p += key ? strlen(key) : 0;
		p += strspn(p, " \t");
		n = text_digits(&p);
	}
	free(text);
	return n;
}

void file_raise_limit(void)
{
	struct rlimit l;

	if (!prlimit(0, RLIMIT_NOFILE, NULL, &l)) {
		l.rlim_cur = l.rlim_max;
		prlimit(0, RLIMIT_NOFILE, &l, NULL);
	}
}

int dir_open(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

DIR *file_list(int dir, const char *name)
{
	int fd = dir_open(dir, name);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !d)
		close(fd);
	return d;
}

const char *file_next(DIR *d)
{
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (*e->d_name != '.')
			return e->d_name;
	if (d)
		closedir(d);
	return NULL;
}

int file_is_below(const char *path)
{
	for (size_t n; *path != '/'; path += n + 1) {
		n = strcspn(path, "/");
		if (n == 2 && !memcmp(path, "..", 2))
			return 0;
		while (path[n] == '/' && path[n + 1] == '/')
			n++;
		if (!path[n])
			return 1;
	}
	return 0;
}

int file_exists(int dir, const char *path)
{
	struct stat st;

	return !fstatat(dir, path, &st, 0);
}

char **file_names(const char *path)
{
	DIR *d = file_list(AT_FDCWD, path);
	struct bytes text = { 0 };
	char **names, *p;
	const char *name;
	size_t n = 0, j;

	if (!d)
		return NULL;
	for (; (name = file_next(d)); n++)
		bytes_string(&text, name);
	names = text.failed ? NULL : malloc((n + 1) * sizeof(*names) + text.n);
	if (!names) {
		free(text.v);
		errno = ENOMEM;
		return NULL;
	}
	p = text.n ? memcpy(names + n + 1, text.v, text.n) : NULL;
	free(text.v);
	for (size_t i = 0; i < n; i++, p += strlen(p) + 1) {
		for (j = i; j && strcmp(names[j - 1], p) > 0; j--)
			names[j] = names[j - 1];
		names[j] = p;
	}
	names[n] = NULL;
	return names;
}

int path_open_mounted(const char *path, unsigned long magic)
{
	struct statfs fs;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

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
 * A line of the mount table begins with device, directory and type (fstab(5)). The table escapes
 * spaces in a directory's name; such a directory is not found here, and -R has to name it.
 */
int path_open_listed(char *path, const char *wanted, unsigned long magic)
{
	static const char *const tables[] = { "1/mounts", "self/mounts" };
	int fd = -1;

	for (size_t i = 0; i < 2 && fd < 0; i++) {
		char *text, *at, *line, *type, *dir;

		str_format(path, PATH_MAX, "%s/%s", path_procfs(), tables[i]);
		text = at = file_read_most(AT_FDCWD, path, MOUNTS_MOST, NULL);
		while (fd < 0 && (line = text_next_line(&at))) {
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
