/* SPDX-License-Identifier: ISC */
/*
 * audit.c - write a record of each session to the host's log
 *
 * A record is a datagram to a socket such as /dev/log, in the format of syslog(3), or a line
 * of /dev/kmsg. A record that cannot be sent at once is lost, because a session must not
 * depend on the log.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "base/base.h"
#include "session/session.h"

/* The kernel cuts longer lines (LOG_LINE_MAX). */
#define MOST_RECORD 900
/* <syslog.h>: LOG_AUTHPRIV | LOG_INFO */
#define PRIORITY (10 << 3 | 6)

static const char *to; /* the path of a socket, or kernel_log; NULL: no records */
static long long began; /* when the session began, in seconds since 1970 */

static const char kernel_log[] = "/dev/kmsg";

int audit_to(const char *where)
{
	if (!strcmp(where, "off"))
		to = NULL;
	else if (!strcmp(where, "syslog"))
		to = "/dev/log";
	else if (!strcmp(where, "kmsg"))
		to = kernel_log;
	else if (*where == '/' && strlen(where) < sizeof(((struct sockaddr_un *)0)->sun_path))
		to = where;
	else
		return -1;
	return 0;
}

/* Append the words, quoted, as far as they fit, and "cut" if they do not. Return the length. */
static size_t add_words(char *line, size_t n, const char *words)
{
	n += str_format(line + n, MOST_RECORD - n, " args=\"");
	for (; *words && n < MOST_RECORD - 12; words++) {
		unsigned char c = (unsigned char)*words;

		if (c < ' ' || c > '~')
			n += str_format(line + n, MOST_RECORD - n, "\\x%c%c",
					"0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]);
		else
			n += str_format(line + n, MOST_RECORD - n,
					c == '"' || c == '\\' ? "\\%c" : "%c", c);
	}
	return n + str_format(line + n, MOST_RECORD - n, *words ? "\" cut" : "\"");
}

/*
 * Send a line, which has room for one more byte. Keep errno. Return NULL, or why the line is lost.
 * In a container, /dev/kmsg may be another file, such as /dev/null, which would drop the line.
 */
static const char *send_record(char *line, size_t n)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *why = NULL;
	int e = errno, fd;
	struct stat st;

	if (to == kernel_log) {
		line[n++] = '\n'; /* without it the kernel expects the rest of the line */
		fd = file_open(to, FILE_KMSG, O_WRONLY, &st);
		if (fd == FILE_OTHER)
			why = "it is not the kernel's log";
		else if (fd < 0 || write(fd, line, n) != (ssize_t)n)
			why = strerror(errno);
	} else {
		strcpy(address.sun_path, to);
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (fd < 0 || sendto(fd, line, n, MSG_DONTWAIT | MSG_NOSIGNAL,
				     (const struct sockaddr *)&address,
				     sizeof(address)) != (ssize_t)n)
			why = strerror(errno);
	}
	fd_close(fd);
	errno = e;
	return why;
}

static const char *record(const struct request *rq, const char *subsystem, const char *text)
{
	char line[MOST_RECORD + 1];
	size_t n;

	n = str_format(line, MOST_RECORD, "<%d>tfs[%d]: session=%s %s subsystem=%s hook=%s uid=%u",
		       PRIORITY, (int)getpid(), rq->session, text, subsystem, rq->hook->name,
		       (unsigned)getuid());
	n = add_words(line, n, rq->args);
	return send_record(line, n);
}

void audit_begin(const struct request *rq, const char *subsystem)
{
	const char *why;
	char text[64];

	if (!to || rq->dry)
		return;
	began = (long long)time(NULL);
	str_format(text, sizeof(text), "begin start=%lld", began);
	why = record(rq, subsystem, text);
	if (why)
		err_note("audit: unable to write to %s: %s; this session has no record", to, why);
}

void audit_end(const struct request *rq, const char *subsystem, int status)
{
	char text[128];
	size_t n;

	if (!to || rq->dry)
		return;
	n = str_format(text, sizeof(text), "end start=%lld end=%lld", began, (long long)time(NULL));
	if (status < 0)
		str_format(text + n, sizeof(text) - n, " status=killed");
	else
		str_format(text + n, sizeof(text) - n, " status=%d", status);
	record(rq, subsystem, text);
}
