/* SPDX-License-Identifier: ISC */
/* consumer.c - write a trace to a reader that may be slow, or leave */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "base/base.h"
#include "tool/tool.h"
#include "people/people.h"
#include "reader/reader.h"

int reader_is_event(const char *line)
{
	return *line != '#' && strncmp(line, "CPU:", 4) && strncmp(line, " => ", 4) &&
	       strncmp(line, PEOPLE_TITLE "  COMM ", strlen(PEOPLE_TITLE "  COMM ")) &&
	       strncmp(line, PEOPLE_DAY_TITLE "  COMM ", strlen(PEOPLE_DAY_TITLE "  COMM "));
}

int reader_is_last(const char *line, size_t n)
{
	return *line == '#' || !strncmp(line, "{\"lost\"", n < 7 ? n : 7);
}

/* ---- readers that come and leave --------------------------------------------------------- */

void reader_broken_pipe(void)
{
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
	exit(128 + SIGPIPE); /* only if the signal is blocked */
}

void reader_write(const char *text, size_t n)
{
	if (!fd_write_all(STDOUT_FILENO, text, n))
		return;
	if (errno == EPIPE)
		reader_broken_pipe();
	err_refuse("unable to write to standard output");
}

/* Write device and inode of the FIFO fd to id. Return 0, or -1 if fd is no FIFO. */
static int identify(int fd, char *id, size_t size)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return -1;
	str_format(id, size, "%llu:%llu", (unsigned long long)st.st_dev,
		   (unsigned long long)st.st_ino);
	return 0;
}

int reader_expect_next(int fd)
{
	char id[48];

	return identify(fd, id, sizeof(id)) < 0 ? -1 : setenv(NEXT_READER, id, 1);
}

/* Is fd the FIFO that NEXT_READER names? */
static int outlives_reader(int fd)
{
	const char *value = getenv(NEXT_READER);
	char id[48];

	return value && !identify(fd, id, sizeof(id)) && !strcmp(value, id);
}

/* A confined tool cannot open the FIFO, so it looks for a reader in this interval. */
#define LOOK_AGAIN_MS 100

/*
 * Handle the departure of the reader. If another reader has come, go on. The stream of a
 * session waits for the next reader; its open descriptor keeps the FIFO's contents. Any
 * other program closes its output and ends. When a reader opens a FIFO, the kernel wakes a
 * writer in open, but not one in poll.
 */
static void reader_left(struct consumer *c, int out)
{
	struct pollfd p = { .fd = out };
	char path[PATH_MAX];
	int other;

	if (poll(&p, 1, 0) == 0)
		return;
	if (!outlives_reader(out)) {
		close(out);
		reader_broken_pipe();
	}
	str_format(path, sizeof(path), "%s/self/fd/%d", path_procfs(), out);
	while (poll(&p, 1, 0) > 0 && p.revents & POLLERR) {
		other = open(path, O_WRONLY | O_CLOEXEC);
		fd_close(other);
		/* pause, because readers may come and leave all the time */
		poll(NULL, 0, other < 0 ? LOOK_AGAIN_MS : 1);
	}
	c->readers++;
}

int reader_reopen(const struct tool *t, int access, int packets)
{
	char path[PATH_MAX], id[48];
	int fd;

	if (identify(STDOUT_FILENO, id, sizeof(id)) < 0) {
		if (packets)
			usage_error(t, "-l needs a FIFO or pipe as standard output");
		return STDOUT_FILENO;
	}
	str_format(path, sizeof(path), "%s/self/fd/%d", path_procfs(), STDOUT_FILENO);
	fd = open(path, access | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENXIO)
		return READER_NONE;
	if (fd < 0)
		return err_errno("unable to open %s", path);
	/* packet mode, pipe(7): on a FIFO, F_SETFL accepts O_DIRECT and open does not */
	if (packets && fcntl(fd, F_SETFL, O_NONBLOCK | O_DIRECT) < 0) {
		err_errno("unable to write packets");
		close(fd);
		return -1;
	}
	close(STDOUT_FILENO);
	return fd;
}

/* ---- the reader of a tool that waits for it ---------------------------------------------- */

void consumer_limit(struct consumer *c, unsigned long kb)
{
	c->left = (long long)KB_BYTES(kb) - CONSUMER_LAST;
}

int consumer_open(struct consumer *c, const struct tool *t)
{
	signal(SIGPIPE, SIG_IGN); /* reader_left() handles it */
	/* the reader that opened the FIFO may be gone already */
	while ((c->out = reader_reopen(t, O_WRONLY, c->packets)) == READER_NONE)
		reader_left(c, STDOUT_FILENO);
	if (c->out < 0)
		return -1;
	/* half of the usual limit, so that consumer_last can double the size */
	fcntl(c->out, F_SETPIPE_SZ, 512 * 1024);
	return 0;
}

/* Do as consumer_wait, or wait for one of these events on the reader's descriptor, too. */
static int wait_for(struct consumer *c, int fd, short events, short room, long us)
{
	struct timespec limit = { us / 1000000, us % 1000000 * 1000 };
	struct pollfd p[] = {
		{ .fd = fd, .events = events },
		{ .fd = c->signals, .events = POLLIN },
		{ .fd = c->out, .events = room },
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
	return p[0].revents || p[2].revents & room;
}

int consumer_wait(struct consumer *c, int fd, short events, long us)
{
	return wait_for(c, fd, events, 0, us);
}

/*
 * Wait until the full FIFO has room. When stopping, wait for c->patience at most, and as
 * long again if another reader comes meanwhile. After that time, set c->full to TIMED_OUT.
 */
static void await_room(struct consumer *c)
{
	int stopping = c->stopping, fd = -1;
	unsigned readers = c->readers;
	long long end = time_now_ms() + (long long)c->patience;
	long us = stopping ? (long)c->patience * 1000 : -1;

	if (!stopping && c->meanwhile)
		us = c->meanwhile(c->arg, &fd);
	if (c->given_up || (!wait_for(c, fd, POLLIN, POLLOUT, us) &&
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

/* Empty the page, because its packets are not needed. */
static void drop_page(struct consumer *c)
{
	char text[PIPE_BUF];

	while (c->in_page && read(c->page[0], text, sizeof(text)) > 0)
		;
	c->in_page = 0;
}

/* Write the text, or as much of it as is in the page. Return as write does. */
static ssize_t write_some(struct consumer *c, const char *text, size_t n)
{
	ssize_t done;

	if (!c->in_page)
		return write(c->out, text, n);
	done = splice(c->page[0], NULL, c->out, NULL, n, SPLICE_F_NONBLOCK);
	if (done > 0)
		c->in_page -= (size_t)done;
	if (done >= 0 || errno == EAGAIN || errno == EPIPE || errno == EINTR)
		return done;
	c->no_page = 1;
	drop_page(c);
	return write(c->out, text, n);
}

/* Write the text, and return how many bytes were not written. */
static size_t put(struct consumer *c, const char *text, size_t n)
{
	if (!c->full && c->left >= 0 && (long long)n > c->left)
		c->full = 1;
	while (n && !c->full) {
		ssize_t done = write_some(c, text, n);

		if (done > 0) {
			c->in_line = text[done - 1] != '\n';
			keep_tail(c, text, (size_t)done);
			text += done;
			n -= (size_t)done;
			if (c->left >= 0)
				c->left -= done;
		} else if (done < 0 && (errno == EAGAIN || c->given_up)) {
			await_room(c);
		} else if (done < 0 && errno == EPIPE) {
			reader_left(c, c->out);
		} else if (done < 0 && errno != EINTR) {
			err_errno("unable to write %s", c->what);
			c->failed = errno;
			c->full = REFUSED;
		}
	}
	return n;
}

/* Return the length of the next packet of the text: a line, or PIPE_BUF bytes of a longer one. */
static size_t packet_length(const char *text, size_t n)
{
	size_t len = text_line_length(text, n);

	return len < PIPE_BUF ? len : PIPE_BUF;
}

/*
 * Fill the page with the next packets, if there are several. A packet that is written costs writer
 * and reader a page of memory. A packet that is spliced shares a page with others.
 */
static void fill_page(struct consumer *c, const char *text, size_t n)
{
	size_t all = 0, len = 0;

	for (; all < n && all + len <= PIPE_BUF; all += len)
		len = packet_length(text + all, n - all);
	if (all > PIPE_BUF)
		all -= len;
	if (c->no_page || !all || all == packet_length(text, n))
		return;
	if (c->page[0] < 0)
		c->no_page = pipe2(c->page, O_CLOEXEC | O_NONBLOCK | O_DIRECT) < 0;
	if (!c->no_page && write(c->page[1], text, all) == (ssize_t)all)
		c->in_page = all;
}

/* Write a packet per line. A packet holds PIPE_BUF bytes; the reader joins longer lines. */
static size_t put_packets(struct consumer *c, const char *text, size_t n)
{
	size_t rest = 0;

	for (size_t len; n && !rest; text += len, n -= len) {
		len = packet_length(text, n);
		if (!c->in_page)
			fill_page(c, text, n);
		rest = put(c, text, len);
	}
	drop_page(c);
	return n + rest;
}

/* Double the FIFO of a reader that stopped reading, once, to make room for the last lines. */
static void make_room(struct consumer *c)
{
	int size = c->grown++ ? 0 : fcntl(c->out, F_GETPIPE_SZ);

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
		if ((!end || c->tail[end - 1] == '\n') && reader_is_event(c->tail + end) &&
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

/* ---- the reader of a filter, which writes by stdout_print ------------------------------ */

/*
 * A filter waits for its input and not for its reader, and a write to the reader may wait for any
 * time. So GIVE_UP interrupts the write.
 */
static struct consumer printed;
static unsigned long long unwritten; /* lines, after GIVE_UP */

static void handle_give_up(int signo)
{
	int e = errno;

	(void)signo;
	fcntl(printed.out, F_SETFL, fcntl(printed.out, F_GETFL) | O_NONBLOCK);
	printed.given_up = 1;
	errno = e;
}

/* Write last lines. Return 0, or -1 if the FIFO is full. */
static int put_last(const char *text, size_t n)
{
	make_room(&printed);
	n = put(&printed, text, n);
	printed.full = TIMED_OUT;
	return n ? -1 : 0;
}

static void report_unwritten(void)
{
	char line[80];

	if (unwritten)
		put_last(line, str_format(line, sizeof(line), "# unwritten %llu lines: the reader "
					  "took nothing\n", unwritten));
}

/*
 * After GIVE_UP, write only the rest of a line that was begun, comment lines and JSON
 * lines of lost events, because they fit into the enlarged FIFO. Count all other lines.
 */
static void put_some(const char *text, size_t n)
{
	static enum { UNKNOWN, AT_START, IN_WRITTEN, IN_LOST } where;

	if (where == UNKNOWN)
		where = printed.in_line ? IN_WRITTEN : AT_START;
	for (size_t len; n; text += len, n -= len) {
		int whole;

		len = text_line_length(text, n);
		whole = text[len - 1] == '\n';
		if (where == AT_START)
			where = reader_is_last(text, n) ? IN_WRITTEN : IN_LOST;
		if (where == IN_WRITTEN && put_last(text, len) < 0)
			where = IN_LOST;
		unwritten += whole && where == IN_LOST;
		if (whole)
			where = AT_START;
	}
}

static void put_printed(const char *text, size_t n)
{
	size_t rest;

	if (printed.given_up)
		printed.full = TIMED_OUT;
	rest = put(&printed, text, n);
	if (printed.full == REFUSED)
		_exit(REFUSED);
	put_some(text + n - rest, rest);
}

void reader_of_filter(void)
{
	struct sigaction act = { .sa_handler = handle_give_up };
	const char *name = getenv(STDOUT_NAME);
	static char what[PATH_MAX];
	char id[48];

	printed = CONSUMER;
	printed.out = STDOUT_FILENO;
	str_format(what, sizeof(what), "to %s", name ? name : "standard output");
	printed.what = what;
	/* pipe(7), O_DIRECT: each write is a packet */
	stdout_by(put_printed, (fcntl(STDOUT_FILENO, F_GETFL) & O_DIRECT) != 0);
	if (identify(STDOUT_FILENO, id, sizeof(id)) < 0)
		return;
	atexit(report_unwritten);
	sigaction(GIVE_UP, &act, NULL);
	if (outlives_reader(STDOUT_FILENO))
		signal(SIGPIPE, SIG_IGN); /* reader_left() handles it */
}
