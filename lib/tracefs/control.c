/* SPDX-License-Identifier: ISC */
/* control.c - write control files: one record per write, and the kernel's own reason */

#include "base/base.h"
#include "host/host.h"
#include "tracefs/tracefs.h"

int ctl_try(int dir, const char *file, const char *record, int flags)
{
	size_t len = strlen(record);
	char *text = malloc(len + 1), *p = text;
	int fd, e = 0;

	if (!text)
		return -ENOMEM;
	memcpy(text, record, len);
	/* without a newline the kernel may parse a word only at close, and errors are lost */
	text[len++] = '\n';
	fd = openat(dir, file, O_WRONLY | O_CLOEXEC | (flags & CTL_TRUNCATE ? O_TRUNC : O_APPEND));
	if (fd < 0)
		e = errno;
	/* with an empty record, only truncate */
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
 * Return the three lines of the newest entry of error_log if its command is part of
 * record; *command is then its second line, and the caller frees the text. Otherwise
 * return NULL. The newest entry is the last one, and each has the form
 * (Documentation/trace/ftrace.rst):
 *	[TIME] WHERE: error: MESSAGE
 *	  Command: RECORD
 *	           ^
 */
static char *newest_error(int dir, const char *record, char **command)
{
	static const char mark[] = "\n  Command: ";
	char *log = file_read(dir, "error_log", NULL), *entry = log, *next, *end;

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
	/* the log may show only the part of the record that the kernel was parsing */
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

/*
 * Remove from text, in place, the prefix /proc/self/fd/N that uprobe_path has put before a path.
 * Return how many bytes were removed, and set *at to their place; 0: none.
 */
static size_t show_path(char *text, size_t *at)
{
	char *way = strstr(text, UPROBE_FD);
	const char *shown = way ? uprobe_shown(way) : NULL;
	size_t n = way ? (size_t)(shown - way) : 0;

	if (!n)
		return 0;
	memmove(way, shown, strlen(shown) + 1);
	*at = (size_t)(way - text);
	return n;
}

int ctl_write(int dir, const char *file, const char *record, int flags)
{
	int e = -ctl_try(dir, file, record, flags);
	char *command, *log, *message, *shown;
	size_t at;

	if (!e)
		return 0;
	log = e == EINVAL || e == ENOENT || e == EADDRNOTAVAIL ?
		newest_error(dir, record, &command) : NULL;
	message = log ? strstr(log, ": error: ") : NULL;
	shown = strdup(record);
	if (shown)
		show_path(shown, &at);
	errno = e;
	err_file("unable to write '%s' to %s%s%s", shown ? shown : record, file,
		 message ? ", the kernel says: " : "",
		 message ? message + strlen(": error: ") : "");
	free(shown);
	free(log);
	return -1;
}

int ctl_explain(int dir, const char *file, const char *record, int flags)
{
	char *command, *log, *caret;
	size_t n, at = 0;

	if (!ctl_write(dir, file, record, flags))
		return 0;
	log = newest_error(dir, record, &command);
	n = log ? show_path(command, &at) : 0;
	caret = n ? strchr(command, '\n') : NULL;
	/* the caret in the line below moves with the text that it points to */
	if (caret && strspn(++caret, " ") >= at + n)
		memmove(caret, caret + n, strlen(caret + n) + 1);
	if (log)
		text_mask(command, command + strlen(command), '\n');
	if (log)
		fd_write_all(STDERR_FILENO, command, strlen(command));
	free(log);
	return -1;
}

void ctl_event_file(char *path, const char *event, const char *file)
{
	int system = (int)strcspn(event, ":");

	str_format(path, PATH_MAX, "events/%.*s/%s/%s", system, event,
		   event + system + (event[system] == ':'), file);
}

const char *ctl_cut(const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c <= ' ' || c == '#' || c == 0x7f || c == 0xa0)
			return s;
	}
	return NULL;
}

const char *ctl_cut_name(const char *at)
{
	switch ((unsigned char)*at) {
	case ' ':
		return "a space";
	case '\t':
		return "a tab";
	case '\n':
		return "a newline";
	case '#':
		return "'#'";
	case 0xa0:
		return "the byte a0, a space for the kernel";
	default:
		return "a control character";
	}
}

int events_next(char **list, const char **system, const char **event)
{
	char *line, *colon;

	while ((line = text_next_line(list))) {
		colon = strchr(line, ':');
		if (!colon || *line == '.' || strchr(line, '/'))
			continue;
		*colon++ = '\0';
		colon[strcspn(colon, " :")] = '\0';
		*system = line;
		*event = colon;
		return 1;
	}
	return 0;
}
