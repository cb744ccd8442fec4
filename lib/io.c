/* SPDX-License-Identifier: ISC */
/*
 * io.c - text in and out
 *
 * printf and its streams are a third of a small static program, most of it
 * for floating point. This is the rest of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tfs.h"

/* The digits of n, ending at end; returns the first. */
static char *digits(char *end, unsigned long long n, unsigned base)
{
	do
		*--end = "0123456789abcdef"[n % base];
	while (n /= base);
	return end;
}

size_t vformat(char *buf, size_t size, const char *f, va_list ap)
{
	size_t n = 0;

	for (; *f; f++) {
		char number[24], *end = number + sizeof(number);
		const char *s = f;
		size_t len = 1, most = SIZE_MAX;
		int longs = 0;

		if (*f == '%') {
			f++;
			if (*f == '.' && f[1] == '*') {
				most = (size_t)va_arg(ap, int);
				f += 2;
			} else if (*f == '.') {
				for (most = 0, f++; *f >= '0' && *f <= '9'; f++)
					most = 10 * most + (size_t)(*f - '0');
			}
			for (; *f == 'l' || *f == 'z'; f++)
				longs += *f == 'l' ? 1 : (int)(sizeof(size_t) / sizeof(long));
			if (*f == 's') {
				s = va_arg(ap, const char *);
				len = strnlen(s, most);
			} else if (*f == 'd') {
				long long d = longs > 1 ? va_arg(ap, long long) :
					      longs ? va_arg(ap, long) : va_arg(ap, int);

				s = digits(end, d < 0 ? 0 - (unsigned long long)d
						      : (unsigned long long)d, 10);
				if (d < 0)
					*(char *)--s = '-';
				len = (size_t)(end - s);
			} else if (*f == 'u' || *f == 'x') {
				s = digits(end, longs > 1 ? va_arg(ap, unsigned long long) :
					   longs ? va_arg(ap, unsigned long)
						 : va_arg(ap, unsigned), *f == 'u' ? 10 : 16);
				len = (size_t)(end - s);
			} else if (*f == 'c') {
				*number = (char)va_arg(ap, int);
				s = number;
			} else {
				s = f; /* %% */
			}
		}
		if (n < size)
			memcpy(buf + n, s, len < size - n ? len : size - n);
		n += len;
	}
	if (size)
		buf[n < size ? n : size - 1] = '\0';
	return n;
}

size_t format(char *buf, size_t size, const char *f, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, f);
	n = vformat(buf, size, f, ap);
	va_end(ap);
	return n;
}

int write_all(int fd, const char *text, size_t n)
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

void die_of_pipe(void)
{
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
	exit(128 + SIGPIPE); /* the signal is blocked */
}

static char pending[4096];
static size_t npending;
static int out = STDOUT_FILENO;
static const char *out_name = "standard output";

/*
 * A session gives up a reader that stalls (GIVE_UP, janitor.c), who may be reading what
 * a filter prints. From then on the filter counts its lines in place of writing them.
 */
static volatile sig_atomic_t given_up;
static unsigned long long unwritten;
static char last_out = '\n';
static int outlives; /* outlives_reader() */

/* A write that waits for the reader ends with EINTR, and those that follow do not wait. */
static void give_up(int signo)
{
	int size = fcntl(out, F_GETPIPE_SZ), e = errno;

	(void)signo;
	if (size > 0)
		fcntl(out, F_SETPIPE_SZ, 2 * size); /* for the last lines */
	fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
	given_up = 1;
	errno = e;
}

static void tell_unwritten(void)
{
	char line[80];
	size_t n = format(line, sizeof(line), "# unwritten %llu lines: the reader took nothing\n",
			  unwritten);

	if (unwritten && write(out, line, n) < 0)
		return; /* not even that */
}

/* Of the lines that are still printed: the rest of one that is begun, and remarks. */
static void put_last(const char *text, size_t n)
{
	static enum { AT_START, IN_WRITTEN, IN_LOST } where;
	static int told;

	if (!told++) {
		where = last_out == '\n' ? AT_START : IN_WRITTEN;
		atexit(tell_unwritten);
	}
	for (size_t len; n; text += len, n -= len) {
		const char *end = memchr(text, '\n', n);

		len = end ? (size_t)(end - text) + 1 : n;
		if (where == AT_START) /* there is room for what tells of losses */
			where = *text == '#' || !strncmp(text, "{\"lost\"", n < 7 ? n : 7) ?
				IN_WRITTEN : IN_LOST;
		if (where == IN_WRITTEN && write(out, text, len) < 0)
			where = IN_LOST;
		unwritten += end && where == IN_LOST;
		if (end)
			where = AT_START;
	}
}

static void be_ready(void)
{
	struct sigaction act = { .sa_handler = give_up };
	static int ready;
	struct stat st;

	if (ready++ || fstat(out, &st) < 0 || !S_ISFIFO(st.st_mode))
		return;
	sigaction(GIVE_UP, &act, NULL);
	outlives = outlives_reader(out);
	if (outlives)
		signal(SIGPIPE, SIG_IGN);
}

static void put_out(const char *text, size_t n)
{
	npending = 0;
	be_ready();
	while (n && !given_up) {
		ssize_t done = write(out, text, n);

		if (done > 0) {
			last_out = text[done - 1];
			text += done;
			n -= (size_t)done;
		} else if (done < 0 && errno == EPIPE && outlives && !given_up) {
			await_reader(out);
		} else if (done < 0 && errno != EINTR && !given_up) {
			complain_errno("unable to write to %s", out_name);
			_exit(REFUSED);
		}
	}
	if (n)
		put_last(text, n);
}

void flush(void)
{
	put_out(pending, npending);
}

void print_to(int fd, const char *name)
{
	flush();
	out = fd;
	out_name = name;
}

/*
 * Is standard output a FIFO of packets (pipe(7), O_DIRECT)? Each write is one.
 */
static int is_packets(void)
{
	static int is = -1;

	if (is < 0)
		is = (fcntl(out, F_GETFL) & O_DIRECT) != 0;
	return is;
}

void print(const char *f, ...)
{
	char *text = pending + npending, *more = NULL;
	va_list ap;
	size_t n;

	va_start(ap, f);
	n = vformat(text, sizeof(pending) - npending, f, ap);
	va_end(ap);
	if (n < sizeof(pending) - npending) {
		npending += n;
		if (n && text[n - 1] == '\n' && is_packets())
			flush();
		return;
	}
	/* not in what was left of it: make room, then it may, or be too long */
	flush();
	text = pending;
	if (n >= sizeof(pending))
		text = more = malloc(n + 1);
	if (!text)
		die(REFUSED, "out of memory");
	va_start(ap, f);
	vformat(text, n + 1, f, ap);
	va_end(ap);
	if (more)
		put_out(more, n);
	npending = more ? 0 : n;
	free(more);
	if (npending && text[n - 1] == '\n' && is_packets())
		flush();
}

/* What never ends takes no more memory than that: it goes on as another line. */
#define LONGEST_LINE (64 * 1024 * 1024)

ssize_t next_line(struct reader *r, char **line)
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
		if (r->room - r->n < 2) {
			r->room = r->room ? 2 * r->room : 64 * 1024;
			r->text = realloc(r->text, r->room);
			if (!r->text)
				die(REFUSED, "out of memory");
		}
		flush(); /* a filter's reader waits for no more than there is */
		got = read(r->fd, r->text + r->n, r->room - r->n - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			complain_errno("unable to read %s", r->name ? r->name : "standard input");
			exit(REFUSED);
		}
		r->n += (size_t)got;
		r->ended = !got;
	}
}
