/* SPDX-License-Identifier: ISC */
/* error.c - messages of the form "PROGRAM: fatal: MESSAGE", one line in one write */

#include "base/base.h"

const char *program_name = "tfs";

static void write_line(const char *kind, const char *fmt, va_list ap, const char *reason)
{
	char line[1024];
	/* cut a long message, but keep the reason */
	size_t room = sizeof(line) - 2 - (reason ? strlen(reason) + 2 : 0);
	size_t n = str_format(line, room, "%s: %s", program_name, kind), len;

	len = str_vformat(line + n, room - n, fmt, ap);
	if (len < room - n)
		n += len;
	else
		n = (size_t)(stpcpy(line + room - 4, "...") - line);
	if (reason)
		n += str_format(line + n, sizeof(line) - n, ": %s", reason);
	text_mask_controls(line, line + n);
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* stderr is closed: the exit status must do */
}

void err_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_line("", fmt, ap, NULL);
	va_end(ap);
}

int err_msg(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_line("fatal: ", fmt, ap, NULL);
	va_end(ap);
	return -1;
}

void err_vmsg(const char *fmt, va_list ap, const char *reason)
{
	write_line("fatal: ", fmt, ap, reason);
}

int err_errno(const char *fmt, ...)
{
	int e = errno;
	va_list ap;

	va_start(ap, fmt);
	write_line("fatal: ", fmt, ap, strerror(e));
	va_end(ap);
	errno = e;
	return -1;
}

void err_refuse(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_line("fatal: ", fmt, ap, strerror(errno));
	va_end(ap);
	exit(REFUSED);
}

void err_exit(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_line("fatal: ", fmt, ap, NULL);
	va_end(ap);
	exit(status);
}

int err_no(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!getenv(FOR_PEOPLE))
		write_line("", fmt, ap, NULL);
	va_end(ap);
	return NO;
}
