/* SPDX-License-Identifier: ISC */
/* ctl.c - control files: one record one write, and the kernel's own reason */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tfs.h"

int ctl_try(int dir, const char *file, const char *record, int flags)
{
	size_t len = strlen(record);
	char *text = malloc(len + 1), *p = text;
	int fd, e = 0;

	if (!text)
		return -ENOMEM;
	memcpy(text, record, len);
	/* without it a word may be held back to close, where errors are lost */
	text[len++] = '\n';
	fd = openat(dir, file, O_WRONLY | O_CLOEXEC |
			       (flags & CTL_TRUNCATE ? O_TRUNC : O_APPEND));
	if (fd < 0)
		e = errno;
	/* an empty record after a truncation is the truncation alone */
	if (!*record && flags & CTL_TRUNCATE)
		len = 0;
	while (fd >= 0 && len && !e) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			e = n < 0 ? errno : EIO;
			break;
		}
		p += n;
		len -= (size_t)n;
	}
	if (fd >= 0 && close(fd) && !e)
		e = errno;
	free(text);
	return -e;
}

/*
 * error_log (Documentation/trace/ftrace.rst) ends in the newest entry, each
 *	[TIME] WHERE: error: MESSAGE
 *	  Command: RECORD
 *	           ^
 * Give the newest entry's three lines when its command is part of record.
 */
static char *newest_error(int dir, const char *record, char **command)
{
	static const char mark[] = "\n  Command: ";
	char *log = ctl_read(dir, "error_log", NULL), *entry = log, *next, *end;

	*command = NULL;
	while (entry && (next = strstr(entry, mark))) {
		*command = next + 1;
		entry = next + 1;
	}
	if (!*command)
		goto none;
	end = strchr(*command, '\n');
	if (!end)
		goto none;
	*end = '\0';
	/* the log shows the record as the kernel took it apart */
	if (!strstr(record, *command + strlen(mark) - 1))
		goto none;
	*end = '\n';
	entry = *command - 1;
	*entry = '\0';
	while (entry > log && entry[-1] != '\n')
		entry--;
	memmove(log, entry, strlen(entry) + 1);
	return log;
none:
	free(log);
	return NULL;
}

int ctl_write(int dir, const char *file, const char *record, int flags)
{
	int e = -ctl_try(dir, file, record, flags);
	char *command, *log, *message;

	if (!e)
		return 0;
	log = e == EINVAL || e == ENOENT || e == EADDRNOTAVAIL ?
		newest_error(dir, record, &command) : NULL;
	message = log ? strstr(log, ": error: ") : NULL;
	errno = e;
	complain_file("unable to write '%s' to %s%s%s", record, file,
		       message ? ", the kernel says: " : "",
		       message ? message + strlen(": error: ") : "");
	free(log);
	return -1;
}

void ctl_caret(int dir, const char *record)
{
	char *command, *log = newest_error(dir, record, &command);

	for (char *p = log ? command : ""; *p; p++)
		if (((unsigned char)*p < ' ' && *p != '\n') || *p == 0x7f)
			*p = '?';
	if (log)
		write_all(STDERR_FILENO, command, strlen(command));
	free(log);
}

char *ctl_read(int dir, const char *file, size_t *len)
{
	size_t n = 0, room = 0;
	char *text = NULL, *more;
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC), e;
	ssize_t got;

	if (fd < 0)
		return NULL;
	for (;;) {
		if (room - n < 4096) {
			room = room ? 2 * room : 8192;
			more = realloc(text, room);
			if (!more)
				goto fail;
			text = more;
		}
		got = read(fd, text + n, room - n - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			goto fail;
		if (!got)
			break;
		n += (size_t)got;
	}
	close(fd);
	text[n] = '\0';
	if (len)
		*len = n;
	return text;
fail:
	e = errno;
	close(fd);
	free(text);
	errno = e;
	return NULL;
}

int ctl_is_below(const char *path)
{
	return *path != '/' && strncmp(path, "../", 3) && !strstr(path, "/../");
}

int ctl_exists(int dir, const char *path)
{
	struct stat st;

	return !fstatat(dir, path, &st, 0);
}

/* The names, NUL-terminated one behind the other, in *text; how many. -1 and errno. */
static ssize_t read_names(DIR *d, char **text, size_t *size)
{
	struct dirent *e;
	size_t room = 0, len;
	ssize_t n = 0;
	char *more;

	while ((e = readdir(d))) {
		if (*e->d_name == '.')
			continue;
		len = strlen(e->d_name) + 1;
		while (*size + len > room) {
			room = room ? 2 * room : 4096;
			more = realloc(*text, room);
			if (!more)
				return -1;
			*text = more;
		}
		memcpy(*text + *size, e->d_name, len);
		*size += len;
		n++;
	}
	return n;
}

char **names_in(const char *path)
{
	char *text = NULL, **names, *p;
	size_t size = 0, n, j;
	DIR *d = opendir(path);
	ssize_t got;

	if (!d)
		return NULL;
	got = read_names(d, &text, &size);
	closedir(d);
	n = (size_t)got;
	names = got < 0 ? NULL : malloc((n + 1) * sizeof(*names) + size);
	if (!names) {
		free(text);
		errno = ENOMEM;
		return NULL;
	}
	p = size ? memcpy(names + n + 1, text, size) : NULL;
	free(text);
	for (size_t i = 0; i < n; i++, p += strlen(p) + 1) {
		for (j = i; j && strcmp(names[j - 1], p) > 0; j--)
			names[j] = names[j - 1];
		names[j] = p;
	}
	names[n] = NULL;
	return names;
}
