/* SPDX-License-Identifier: ISC */
/* consumer.c - write a trace to a reader that may be slow, or leave */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "reader/reader.h"

/*
 * Handle the departure of the reader. If another reader has come, go on. The stream of a
 * session waits for the next reader; its open descriptor keeps the FIFO's contents. Any
 * other program closes the FIFO and ends.
 */
static void reader_left(struct consumer *c, int out)
{
	static const struct timespec now;
	struct pollfd p = { .fd = out };

	if (ppoll(&p, 1, &now, NULL) == 0)
		return;
	if (!stdout_outlives_reader(out)) {
		close(out);
		stdout_broken_pipe();
	}
	stdout_await_reader(out);
	c->readers++;
}

void consumer_limit(struct consumer *c, const struct tool *t, const char *kilobytes)
{
	unsigned long kb;

	if (text_number(kilobytes, 1, KB_MAX, &kb) < 0)
		usage_error(t, "not a number of kilobytes: '%.80s'", kilobytes);
	c->left = (long long)KB_BYTES(kb) - CONSUMER_LAST;
}

int consumer_open(struct consumer *c, const struct tool *t)
{
	signal(SIGPIPE, SIG_IGN); /* reader_left() handles it */
	/* the reader that opened the FIFO may be gone already */
	while ((c->out = stdout_reopen(t, O_WRONLY, c->packets)) == STDOUT_NO_READER)
		reader_left(c, STDOUT_FILENO);
	if (c->out < 0)
		return -1;
	/* half of the usual limit, so that consumer_last can double the size */
	fcntl(c->out, F_SETPIPE_SZ, 512 * 1024);
	return 0;
}

int consumer_wait(struct consumer *c, int fd, short events, long us)
{
	struct timespec limit = { us / 1000000, us % 1000000 * 1000 };
	struct pollfd p[] = {
		{ .fd = fd, .events = events },
		{ .fd = c->signals, .events = POLLIN },
		{ .fd = c->out, .events = 0 },
	};
	struct signalfd_siginfo si;

	while (ppoll(p, 3, us < 0 ? NULL : &limit, NULL) < 0)
		if (errno != EINTR) {
			err_errno("unable to wait for the reader");
			c->stopping = 1;
			c->full = REFUSED;
			return 0;
		}
	if (p[1].revents && read(c->signals, &si, sizeof(si)) == sizeof(si)) {
		c->stopping = 1;
		c->given_up |= si.ssi_signo == GIVE_UP;
	}
	if (p[2].revents & POLLERR)
		reader_left(c, c->out);
	return p[0].revents != 0;
}

/*
 * Wait until the full FIFO has room. When stopping, wait for c->patience at most, and as
 * long again if another reader comes meanwhile. After that time, set c->full to TIMED_OUT.
 */
static void await_room(struct consumer *c)
{
	int stopping = c->stopping;
	unsigned readers = c->readers;
	long long end = time_now_ms() + (long long)c->patience;

	if (c->given_up || (!consumer_wait(c, c->out, POLLOUT,
					   stopping ? (long)c->patience * 1000 : -1) &&
			    (c->given_up || (stopping && c->readers == readers &&
					     time_now_ms() >= end))))
		c->full = TIMED_OUT;
}

/* Append the text to c->tail, which keeps the last bytes that were written. */
static void keep_tail(struct consumer *c, const char *text, size_t n)
{
	size_t most = sizeof(c->tail), old;

	if (n > most) {
		text += n - most;
		n = most;
	}
	old = c->ntail < most - n ? c->ntail : most - n;
	memmove(c->tail, c->tail + c->ntail - old, old);
	memcpy(c->tail + old, text, n);
	c->ntail = old + n;
}

/* Write the text, and return how many bytes were not written. */
static size_t put(struct consumer *c, const char *text, size_t n)
{
	if (!c->full && c->left >= 0 && (long long)n > c->left)
		c->full = 1;
	while (n && !c->full) {
		ssize_t done = write(c->out, text, n);

		if (done > 0) {
			c->in_line = text[done - 1] != '\n';
			keep_tail(c, text, (size_t)done);
			text += done;
			n -= (size_t)done;
			if (c->left >= 0)
				c->left -= done;
		} else if (done < 0 && errno == EAGAIN) {
			await_room(c);
		} else if (errno == EPIPE && c->out == STDOUT_FILENO) {
			stdout_broken_pipe(); /* not a FIFO: no other reader can come */
		} else if (errno == EPIPE) {
			reader_left(c, c->out);
		} else if (done < 0 && errno != EINTR) {
			err_errno("unable to write the trace");
			c->failed = errno;
			c->full = REFUSED;
		}
	}
	return n;
}

/* Write a packet per line. A packet holds PIPE_BUF bytes; the reader joins longer lines. */
static size_t put_packets(struct consumer *c, const char *text, size_t n)
{
	size_t rest = 0;

	while (n && !rest) {
		size_t len = text_line_length(text, n), part;

		for (; len && !rest; len -= part, text += part, n -= part) {
			part = len < PIPE_BUF ? len : PIPE_BUF;
			rest = put(c, text, part);
		}
	}
	return n + rest;
}

/* Double the FIFO of a reader that stopped reading, to make room for one more line. */
static void make_room(struct consumer *c)
{
	int size = fcntl(c->out, F_GETPIPE_SZ);

	if (size > 0)
		fcntl(c->out, F_SETPIPE_SZ, 2 * size);
	c->given_up = 1;
	c->full = 0;
}

size_t consumer_put(struct consumer *c, const char *text, size_t n)
{
	size_t rest = (c->packets ? put_packets : put)(c, text, n), len;

	/* complete a line that was cut, because the last line would be appended to it */
	if (c->full == TIMED_OUT && rest && c->in_line) {
		make_room(c);
		len = text_line_length(text + n - rest, rest);
		rest -= len - put(c, text + n - rest, len);
		c->full = TIMED_OUT;
	}
	return rest;
}

/* Is this an event line, and not part of a stack, a "CPU:" line of lost events, or a comment? */
static int is_event(const char *line)
{
	return *line != '#' && strncmp(line, "CPU:", 4) && strncmp(line, " => ", 4);
}

unsigned long long consumer_take_back(struct consumer *c)
{
	unsigned long long events = 0;
	size_t end = c->ntail;
	struct stat st;

	if (c->full != REFUSED || !c->failed || fstat(c->out, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	while (end && (c->ntail - end < CONSUMER_LAST || c->tail[end - 1] != '\n')) {
		end--;
		/* a line without a newline was not counted as written */
		if ((!end || c->tail[end - 1] == '\n') && is_event(c->tail + end) &&
		    memchr(c->tail + end, '\n', c->ntail - end))
			events++;
	}
	if (!end || lseek(c->out, -(off_t)(c->ntail - end), SEEK_CUR) < 0)
		return 0;
	/* overwriting needs no new blocks, but O_APPEND would append */
	fcntl(c->out, F_SETFL, fcntl(c->out, F_GETFL) & ~O_APPEND);
	c->failed = 0;
	return events;
}

void consumer_last(struct consumer *c, const char *line, size_t n)
{
	int full = c->full;

	if (full == 1) /* the size limit reserved CONSUMER_LAST bytes */
		full = c->full = 0;
	c->left = -1;
	if (full == TIMED_OUT)
		make_room(c);
	else if (full == REFUSED && !c->failed)
		c->full = 0;
	consumer_put(c, line, n);
	if (full == REFUSED && !c->full && ftruncate(c->out, lseek(c->out, 0, SEEK_CUR)) < 0)
		err_errno("unable to write the trace");
	c->full = full ? full : c->full;
}

size_t consumer_fitting(const struct consumer *c, const char *text, size_t n)
{
	size_t fit = 0, len;

	if (c->left < 0 || (long long)n <= c->left)
		return n;
	while ((len = text_line_length(text + fit, n - fit)) &&
	       (long long)(fit + len) <= c->left)
		fit += len;
	return fit;
}
