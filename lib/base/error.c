/* SPDX-License-Identifier: ISC */
/* say.c - the one grammar of messages: "PROG: fatal: MESSAGE", one line, one write */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

const char *program_name = "tfs";

static void say(const char *kind, const char *fmt, va_list ap, const char *reason)
{
	char line[1024];
	/* a long value may be cut, the reason behind it is what one needs */
	size_t room = sizeof(line) - 2 - (reason ? strlen(reason) + 2 : 0);
	size_t n = str_format(line, room, "%s: %s", program_name, kind), len;

	len = str_vformat(line + n, room - n, fmt, ap);
	if (len < room - n)
		n += len;
	else
		n = (size_t)(stpcpy(line + room - 4, "...") - line);
	if (reason)
		n += str_format(line + n, sizeof(line) - n, ": %s", reason);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* nobody listens: the status still tells */
}

void err_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", fmt, ap, NULL);
	va_end(ap);
}

int err_msg(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("fatal: ", fmt, ap, NULL);
	va_end(ap);
	return -1;
}

void err_vmsg(const char *fmt, va_list ap, const char *reason)
{
	say("fatal: ", fmt, ap, reason);
}

int err_errno(const char *fmt, ...)
{
	int e = errno;
	va_list ap;

	va_start(ap, fmt);
	say("fatal: ", fmt, ap, strerror(e));
	va_end(ap);
	errno = e;
	return -1;
}

void err_exit(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("fatal: ", fmt, ap, NULL);
	va_end(ap);
	exit(status);
}
