/* SPDX-License-Identifier: ISC */
/*
 * stdout.c - buffered text to standard output, lines from standard input
 *
 * printf and stdio would be a third of a small static program, most of it for floating
 * point. The functions here replace the small part of stdio that the tools need.
 */

#include "base/base.h"

int fd_write_all(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno != EINTR)
			return -1;
		if (done > 0) {
			text += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

static char pending[4096];
static size_t npending;
static int out = STDOUT_FILENO, each_line;
static const char *out_name = "standard output";
static void (*writer)(const char *, size_t);
static struct strbuf *collected;

static void put_out(const char *text, size_t n)
{
	npending = 0;
	if (collected) {
		strbuf_add(collected, text, n);
	} else if (writer) {
		writer(text, n);
	} else if (fd_write_all(out, text, n) < 0) {
		err_errno("unable to write to %s", out_name);
		_exit(REFUSED);
	}
}

void stdout_flush(void)
{
	put_out(pending, npending);
}

void stdout_to(int fd, const char *name)
{
	stdout_flush();
	out = fd;
	out_name = name;
}

void stdout_by(void (*put)(const char *, size_t), int by_line)
{
	writer = put;
	each_line = by_line;
}

void stdout_collect(struct strbuf *to)
{
	stdout_flush();
	collected = to;
}

void stdout_print(const char *f, ...)
{
	char *text = pending + npending;
	va_list ap;
	size_t n;

	va_start(ap, f);
	n = str_vformat(text, sizeof(pending) - npending, f, ap);
	va_end(ap);
	if (n >= sizeof(pending) - npending) {
		/* the text does not fit into the rest of the buffer, or not into an empty one */
		stdout_flush();
		text = n < sizeof(pending) ? pending : xcalloc(n + 1, 1);
		va_start(ap, f);
		str_vformat(text, n + 1, f, ap);
		va_end(ap);
		if (text != pending) {
			put_out(text, n);
			free(text);
			return;
		}
	}
	npending += n;
	if (each_line && n && text[n - 1] == '\n')
		stdout_flush();
}

/* A longer line is cut and continues as another line, so that memory is bounded. */
#define LONGEST_LINE (64 * 1024 * 1024)

/* Read more bytes, and grow the buffer if it is full. Return as read(2) does. */
static ssize_t read_more(struct line_reader *r)
{
	ssize_t got;

	if (r->room - r->n < 2) {
		size_t room = r->room ? 2 * r->room : 64 * 1024;
		char *more = realloc(r->text, room);

		if (!more)
			return -1;
		r->text = more;
		r->room = room;
	}
	stdout_flush(); /* do not withhold lines from the reader during the wait */
	if (r->wait)
		r->wait();
	do
		got = read(r->fd, r->text + r->n, r->room - r->n - 1);
	while (got < 0 && errno == EINTR);
	return got;
}

ssize_t line_read(struct line_reader *r, char **line)
{
	for (;;) {
		char *end = r->n > r->seen ?
			memchr(r->text + r->at + r->seen, '\n', r->n - r->seen) : NULL;
		ssize_t got;

		r->seen = r->n;
		if (end || (r->ended && r->n) || r->n >= LONGEST_LINE) {
			size_t len = end ? (size_t)(end - r->text) - r->at : r->n;

			*line = r->text + r->at;
			(*line)[len] = '\0';
			r->seen = 0;
			r->at += len + (end != NULL);
			r->n -= len + (end != NULL);
			return (ssize_t)len;
		}
		if (r->ended)
			return -1;
		if (r->n)
			memmove(r->text, r->text + r->at, r->n);
		r->at = 0;
		got = read_more(r);
		r->failed = got < 0;
		if (r->failed) {
			err_errno("unable to read %s", r->name ? r->name : "standard input");
			return -1;
		}
		r->n += (size_t)got;
		r->ended = !got;
	}
}
