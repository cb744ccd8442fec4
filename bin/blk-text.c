/* SPDX-License-Identifier: ISC */
/*
 * blk-text - print records of the block layer's trace as blkparse does
 *
 * Requires: records: of files, of standard input, or with -d of a device that is
 * traced, until told to stop.
 *	-d DIR       the relay files of DIR, a device's directory in debugfs, as they
 *	             are written; may be given many times
 *	-i INSTANCE  only I/O of the tasks that this instance of tracefs follows, and
 *	             of their children, of whose birth its sched_process_fork tells
 *	-l           standard output is a FIFO: one line a packet
 *	-n PID,...   and not of these
 *	-p PID,...   only I/O of these tasks
 *	-s KB        write no more than KB kilobytes
 *	-w MS        look for what a sub-buffer holds that is not full so often;
 *	             default 100
 * Records are put in the order of their times, which are told from the first on.
 * I/O is a task's that queues it: what the kernel's threads and interrupts do
 * with the same sectors, until it is complete, is shown with it. HUP INT TERM
 * USR1 tell it to stop: it writes what there is then and, if any was lost,
 *	# lost N events ...
 * Exit: 0 done or stopped, 1 no record, 99 the reader takes nothing for 2 s
 * after the stop, 100 misused, 111 refused, 141 the reader is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "blktrace/blktrace.h"

static const struct tool tool = {
	.name = "blk-text",
	.usage = "blk-text [-l] [-s KB] [-w MS] [-i INSTANCE] [-p PID[,PID...]]... "
		 "[-n PID[,PID...]]... [-d DIR]... [FILE]...",
	.purpose = "print records of the block layer's trace as blkparse does",
	.letters = "ls:w:i:p:n:d:",
};

struct blk_cpu {
	uint64_t time;
	size_t at;
};

struct blk_stream {
	struct relay relay;
	struct consumer to;
	/* records that came, and where each begins */
	uint8_t *bytes;
	size_t nbytes, room;
	struct blk_cpu *v;
	size_t n, vroom;
	int odd;                /* bytes that were no record, and what followed them */
	struct blk_pick pick;
	/* text */
	struct blk_names names;
	uint64_t start;
	int started;
	char text[PIPE_BUF];
	size_t ntext;
	unsigned long long cut; /* events that were to be shown and were not written */
};

static void *grown(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p)
		err_exit(REFUSED, "out of memory");
	return p;
}

/* ---- text ------------------------------------------------------------------- */

static void put(struct blk_stream *s)
{
	size_t rest = consumer_put(&s->to, s->text, s->ntext);

	s->cut += text_count_lines(s->text + s->ntext - rest, rest);
	s->ntext = 0;
}

static void put_line(struct blk_stream *s, const char *line, size_t n)
{
	if (s->ntext + n > sizeof(s->text))
		put(s);
	memcpy(s->text + s->ntext, line, n);
	s->ntext += n;
	if (s->to.left >= 0) /* the limit is between lines */
		put(s);
}

/* ---- records -------------------------------------------------------------------- */

static int keep(void *arg, const struct relay_file *f, const void *bytes, size_t n)
{
	struct blk_stream *s = arg;

	(void)f;
	if (s->nbytes + n > s->room) {
		s->room = 2 * (s->nbytes + n);
		s->bytes = grown(s->bytes, s->room);
	}
	memcpy(s->bytes + s->nbytes, bytes, n);
	s->nbytes += n;
	return 0;
}

/* Find the records from there on in what was kept; what is behind them goes. */
static void find_records(struct blk_stream *s, size_t at)
{
	struct blk_record r;
	ssize_t n;

	for (; at < s->nbytes; at += (size_t)n) {
		n = blk_record(&r, s->bytes + at, s->nbytes - at);
		if (n <= 0)
			break;
		if (s->n == s->vroom) {
			s->vroom = s->vroom ? 2 * s->vroom : 1024;
			s->v = grown(s->v, s->vroom * sizeof(*s->v));
		}
		s->v[s->n++] = (struct blk_cpu){ r.time, at };
	}
	s->odd |= at < s->nbytes;
	s->nbytes = at;
}

static int by_time(const void *a, const void *b)
{
	const struct blk_cpu *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Print those from before this time; the others stay. */
static void print_until(struct blk_stream *s, uint64_t time)
{
	char line[1024];
	struct blk_record r;
	size_t done, n, at = 0;

	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_time);
	for (done = 0; done < s->n && s->v[done].time < time; done++) {
		blk_record(&r, s->bytes + s->v[done].at, s->nbytes - s->v[done].at);
		blk_learn(&s->names, &r);
		if (!s->started && !r.note) {
			s->start = r.time;
			s->started = 1;
		}
		n = blk_line(&s->names, &r, s->start, line, sizeof(line));
		if (n && blk_picked(&s->pick, &r))
			put_line(s, line, n);
	}
	/* the others' bytes to the front, in the order in which they lie */
	s->n -= done;
	if (!s->n) {
		s->nbytes = 0;
		return;
	}
	memmove(s->v, s->v + done, s->n * sizeof(*s->v));
	for (size_t i = 0; i < s->n; i++)
		at = i && s->v[i].at > at ? at : s->v[i].at;
	memmove(s->bytes, s->bytes + at, s->nbytes - at);
	s->nbytes -= at;
	for (size_t i = 0; i < s->n; i++)
		s->v[i].at -= at;
}

/* The clock of the records. */
static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * What was written before a look began was found by it, on every processor; of
 * what was written during it, more may be to come.
 */
static int look(struct blk_stream *s, int last)
{
	uint64_t began = last ? UINT64_MAX : now();
	size_t before = s->nbytes;

	if (relay_read(&s->relay, last, keep, s) < 0)
		return -1;
	blk_pick_forks(&s->pick);
	find_records(s, before);
	if (s->odd)
		return err_msg("what the kernel wrote is no record");
	print_until(s, began);
	put(s);
	return 0;
}

static int live(struct blk_stream *s, int ms)
{
	while (!s->to.stopping) {
		if (look(s, 0) < 0)
			return -1;
		if (relay_wait(&s->relay, s->to.signals, s->to.out, ms))
			s->to.stopping = 1;
		/* a reader's death, and the word to stop */
		consumer_wait(&s->to, -1, 0, 0);
	}
	return look(s, 1);
}

/* Keep what the file has. 0, -1 said. */
static int read_one(struct blk_stream *s, const char *file)
{
	struct stat st;
	int fd = !strcmp(file, "-") ? STDIN_FILENO :
		 file_open(file, FILE_REGULAR | FILE_FIFO | FILE_NULL, O_RDONLY, &st);
	char chunk[16 * 1024];
	ssize_t n;

	if (fd == FILE_OTHER)
		return err_msg("%s is not a file to read from", file);
	if (fd < 0)
		return err_errno("unable to open %s", file);
	while ((n = read(fd, chunk, sizeof(chunk))) != 0)
		if (n > 0)
			keep(s, NULL, chunk, (size_t)n);
		else if (errno != EINTR)
			return err_errno("unable to read %s", file);
	if (fd != STDIN_FILENO)
		close(fd);
	return 0;
}

/* The files, or standard input. All are read before the first is looked into. */
static int recorded(struct blk_stream *s, char **files, size_t n)
{
	static char *none[] = { (char *)(size_t)"-", NULL };
	size_t *ends;

	if (!n) {
		files = none;
		n = 1;
	}
	ends = grown(NULL, n * sizeof(*ends));
	for (size_t i = 0; i < n; i++) {
		if (read_one(s, files[i]) < 0)
			return -1;
		ends[i] = s->nbytes;
	}
	confine();
	for (size_t i = 0; i < n; i++) {
		s->nbytes = ends[i];
		find_records(s, i ? ends[i - 1] : 0);
		if (s->odd)
			return err_msg("%s is no blktrace file, or the end of it is missing",
				       files[i]);
	}
	free(ends);
	return 0;
}

/* ---- main ------------------------------------------------------------------------ */

static void tell_losses(struct blk_stream *s, char *const *dirs)
{
	unsigned long long dropped = 0;
	char line[CONSUMER_LAST];
	size_t n;

	for (; *dirs; dirs++)
		dropped += relay_dropped(relay_open_dropped(*dirs));
	s->cut += consumer_take_back(&s->to);
	if (!dropped && !s->cut)
		return;
	n = str_format(line, sizeof(line), "# lost %llu events: %llu dropped at a full buffer, "
		       "%llu not written\n", dropped + s->cut, dropped, s->cut);
	consumer_last(&s->to, line, n);
}

int main(int argc, char **argv)
{
	static struct blk_stream s; /* large */
	unsigned long ms = 100;
	const char *instance = NULL;
	static char **dirs;
	size_t ndirs = 0;
	int c, r = 0;

	s.to = CONSUMER;
	s.pick.forks = -1;
	dirs = grown(NULL, ((size_t)argc + 1) * sizeof(*dirs));
	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case 'l':
			s.to.packets = 1;
			break;
		case 's':
			consumer_limit(&s.to, &tool, opt_value);
			break;
		case 'w':
			if (text_number(opt_value, 1, INT_MAX, &ms) < 0)
				usage_error(&tool, "not a number of milliseconds: '%.80s'",
					    opt_value);
			break;
		case 'i':
			instance = opt_value;
			break;
		case 'p':
		case 'n':
			pids_option(&tool, opt_value, PID_LIST_IDLE,
				    c == 'p' ? &s.pick.who : &s.pick.but);
			s.pick.picky |= c == 'p';
			break;
		case 'd':
			dirs[ndirs++] = (char *)(size_t)opt_value;
		}
	dirs[ndirs] = NULL;
	if (ndirs && argv[opt_index])
		usage_error(&tool, "-d and files do not go together: '%.80s'", argv[opt_index]);
	if (instance)
		instance_require(&tool, NULL, instance);
	if (ndirs)
		s.to.signals = wait_stop_signals();
	consumer_open(&s.to, &tool);
	pids_sort(&s.pick.who);
	pids_sort(&s.pick.but);
	if (instance)
		blk_pick_follow(&s.pick, instance);
	for (size_t i = 0; i < ndirs; i++)
		if (relay_open(&s.relay, dirs[i], "trace") < 0)
			return REFUSED;
	if (ndirs)
		confine_paths(CAPS_STREAM, &s.relay.v->fd, 1);
	if (ndirs)
		r = live(&s, (int)ms);
	else
		r = recorded(&s, argv + opt_index, (size_t)(argc - opt_index));
	print_until(&s, UINT64_MAX);
	put(&s);
	tell_losses(&s, dirs);
	return r < 0 ? REFUSED : s.to.full > 1 ? s.to.full : ndirs || s.started ? DONE : NO;
}
