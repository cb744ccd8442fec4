/* SPDX-License-Identifier: ISC */
/*
 * stdout.c - buffered text to standard output, lines from standard input
 *
 * printf and stdio would be a third of a small static program, most of it for floating
 * point. The functions here replace the small part of stdio that the tools need.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

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

void stdout_broken_pipe(void)
{
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
	exit(128 + SIGPIPE); /* only if the signal is blocked */
}

static char pending[4096];
static size_t npending;
static int out = STDOUT_FILENO;
static const char *out_name = "standard output";

/*
 * A session gives up a stalled reader: the janitor sends GIVE_UP. That reader may be
 * reading the output of a filter. tfs-run gives up a terminal that is slow when a person
 * wants to stop. From then on the filter counts its lines instead of writing them.
 */
static volatile sig_atomic_t reader_given_up;
static unsigned long long unwritten;
static char last_out = '\n';
static int outlives; /* stdout_outlives_reader() */
static int terminal; /* the output is one */

/*
 * Handle GIVE_UP. A write that waits for the reader fails with EINTR, and later writes do
 * not wait. The FIFO gets larger, so that the last lines fit. A terminal is shared with other
 * programs, so its mode stays.
 */
static void handle_give_up(int signo)
{
	int size = fcntl(out, F_GETPIPE_SZ), e = errno;

	(void)signo;
	if (size > 0)
		fcntl(out, F_SETPIPE_SZ, 2 * size);
	if (!terminal)
		fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
	reader_given_up = 1;
	errno = e;
}

/* Wait so long for a terminal that shows nothing, because its user typed ^S, for example. */
enum { TERMINAL_MS = 1000 };

/* Write after GIVE_UP. Return what write(2) does, or -1 if the terminal shows nothing. */
static ssize_t write_last(const char *text, size_t n)
{
	struct pollfd p = { .fd = out, .events = POLLOUT };

	return terminal && poll(&p, 1, TERMINAL_MS) == 0 ? -1 : write(out, text, n);
}

/* At exit: atexit(3) of musl takes 900 bytes, which no other function needs. */
__attribute__((destructor)) static void report_unwritten(void)
{
	char line[80];
	size_t n = str_format(line, sizeof(line), "# unwritten %llu lines: %s\n", unwritten,
			      terminal ? "the terminal was too slow" : "the reader took nothing");

	if (unwritten && write_last(line, n) < 0)
		return; /* the FIFO is full: nothing more can be done */
}

/*
 * After GIVE_UP, write only the rest of a line that was begun, comment lines and JSON
 * lines of lost events, because they fit into the enlarged FIFO. Count all other lines.
 */
static void put_after_give_up(const char *text, size_t n)
{
	static enum { AT_START, IN_WRITTEN, IN_LOST } where;
	static int called;

	if (!called++)
		where = last_out == '\n' ? AT_START : IN_WRITTEN;
	for (size_t len; n; text += len, n -= len) {
		const char *end = memchr(text, '\n', n);

		len = end ? (size_t)(end - text) + 1 : n;
		if (where == AT_START)
			where = *text == '#' || !strncmp(text, "{\"lost\"", n < 7 ? n : 7) ?
				IN_WRITTEN : IN_LOST;
		if (where == IN_WRITTEN && write_last(text, len) < 0)
			where = IN_LOST;
		unwritten += end && where == IN_LOST;
		if (end)
			where = AT_START;
	}
}

/* Before the first write to a FIFO or terminal, handle GIVE_UP and the death of the reader. */
static void prepare_reader(void)
{
	struct sigaction act = { .sa_handler = handle_give_up };
	static int ready;
	struct winsize w;
	struct stat st;

	if (ready++)
		return;
	terminal = !ioctl(out, TIOCGWINSZ, &w); /* confine() does not let isatty(3) ask */
	if (!terminal && (fstat(out, &st) < 0 || !S_ISFIFO(st.st_mode)))
		return;
	sigaction(GIVE_UP, &act, NULL);
	outlives = stdout_outlives_reader(out);
	if (outlives)
		signal(SIGPIPE, SIG_IGN);
}

static void put_out(const char *text, size_t n)
{
	npending = 0;
	prepare_reader();
	while (n && !reader_given_up) {
		ssize_t done = write(out, text, n);

		if (done > 0) {
			last_out = text[done - 1];
			text += done;
			n -= (size_t)done;
		} else if (done < 0 && errno == EPIPE && outlives && !reader_given_up) {
			stdout_await_reader(out);
		} else if (done < 0 && errno != EINTR && !reader_given_up) {
			const char *name = out == STDOUT_FILENO ? getenv(STDOUT_NAME) : NULL;

			err_errno("unable to write to %s", name ? name : out_name);
			_exit(REFUSED);
		}
	}
	if (n)
		put_after_give_up(text, n);
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

/* Is standard output a FIFO of packets (pipe(7), O_DIRECT), where each write is a packet? */
static int is_packets(void)
{
	static int is = -1;

	if (is < 0)
		is = (fcntl(out, F_GETFL) & O_DIRECT) != 0;
	return is;
}

void stdout_print(const char *f, ...)
{
	char *text = pending + npending, *more = NULL;
	va_list ap;
	size_t n;

	va_start(ap, f);
	n = str_vformat(text, sizeof(pending) - npending, f, ap);
	va_end(ap);
	if (n < sizeof(pending) - npending) {
		npending += n;
		if (n && text[n - 1] == '\n' && is_packets())
			stdout_flush();
		return;
	}
	/* the text does not fit into the rest of the buffer, or not into an empty one */
	stdout_flush();
	text = pending;
	if (n >= sizeof(pending))
		text = more = xrealloc(NULL, n + 1, 1);
	va_start(ap, f);
	str_vformat(text, n + 1, f, ap);
	va_end(ap);
	if (more)
		put_out(more, n);
	npending = more ? 0 : n;
	free(more);
	if (npending && text[n - 1] == '\n' && is_packets())
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

/* Is standard output a FIFO? If not, exit MISUSED with packets. */
static int is_fifo(const struct tool *t, int packets)
{
	struct stat st;

	if (!fstat(STDOUT_FILENO, &st) && S_ISFIFO(st.st_mode))
		return 1;
	if (packets)
		usage_error(t, "-l needs a FIFO or pipe as standard output");
	return 0;
}

int stdout_reopen(const struct tool *t, int access, int packets)
{
	char path[PATH_MAX];
	int fd;

	if (!is_fifo(t, packets))
		return STDOUT_FILENO;
	str_format(path, sizeof(path), "%s/self/fd/%d", path_procfs(), STDOUT_FILENO);
	fd = open(path, access | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENXIO)
		return STDOUT_NO_READER;
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

int stdout_expect_next_reader(int fd)
{
	char id[48];

	return identify(fd, id, sizeof(id)) < 0 ? -1 : setenv(NEXT_READER, id, 1);
}

int stdout_outlives_reader(int fd)
{
	const char *value = getenv(NEXT_READER);
	char id[48];

	return value && !identify(fd, id, sizeof(id)) && !strcmp(value, id);
}

/* A confined tool cannot open the FIFO, so it looks for a reader in this interval. */
#define LOOK_AGAIN_MS 100

/* When a reader opens a FIFO, the kernel wakes a writer in open, but not one in poll. */
void stdout_await_reader(int fd)
{
	struct pollfd p = { .fd = fd };
	char path[PATH_MAX];
	int other;

	str_format(path, sizeof(path), "%s/self/fd/%d", path_procfs(), fd);
	while (poll(&p, 1, 0) > 0 && p.revents & POLLERR) {
		other = open(path, O_WRONLY | O_CLOEXEC);
		fd_close(other);
		/* pause, because readers may come and leave all the time */
		poll(NULL, 0, other < 0 ? LOOK_AGAIN_MS : 1);
	}
}
