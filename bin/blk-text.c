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
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "blktext.h"
#include "relay.h"

static const struct tool tool = {
	.name = "blk-text",
	.usage = "blk-text [-l] [-s KB] [-w MS] [-i INSTANCE] [-p PID[,PID...]]... "
		 "[-n PID[,PID...]]... [-d DIR]... [FILE]...",
	.purpose = "print records of the block layer's trace as blkparse does",
	.letters = "ls:w:i:p:n:d:",
};

/* A reader that was told to stop reads what is left, or is given up. */
#define PATIENCE_MS 2000

/* Room that a size limit leaves for the last line. */
#define LAST_LINE 256

/* Sectors of requests that are under way: more are a device's that forgets some. */
#define MOST_UNDER_WAY 65536

struct place {
	uint64_t time;
	size_t at;
};

struct under_way {
	uint64_t from, to;
	uint32_t device;
};

struct stream {
	struct relay relay;
	int signals, stopping;
	/* records that came, and where each begins */
	uint8_t *bytes;
	size_t nbytes, room;
	struct place *v;
	size_t n, vroom;
	int odd;                /* bytes that were no record, and what followed them */
	/* whose */
	int picky;
	struct pids who, but;
	int forks;              /* trace_pipe of the instance, -1 none */
	char fork[512];         /* the beginning of a line of it */
	size_t nfork;
	struct under_way *busy;
	size_t nbusy;
	/* text */
	struct blk_names names;
	uint64_t start;
	int started;
	char text[PIPE_BUF];
	size_t ntext;
	unsigned lines;         /* in text */
	int packets, full;
	long long left;         /* bytes that may still be written; < 0 any */
	unsigned long long cut; /* events that were to be shown and were not written */
};

static void *grown(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p)
		die(REFUSED, "out of memory");
	return p;
}

/* ---- text ------------------------------------------------------------------- */

static void put(struct stream *s)
{
	struct pollfd p[] = { { .fd = STDOUT_FILENO, .events = POLLOUT },
			      { .fd = s->stopping ? -1 : s->signals, .events = POLLIN } };
	ssize_t n = -1;

	if (!s->full && s->left >= 0 && (long long)s->ntext > s->left)
		s->full = 1;
	/* as much as a pipe takes at once, when it says that it does */
	while (s->ntext && !s->full && n < 0) {
		int r = poll(p, 2, s->stopping ? PATIENCE_MS : -1);

		if (r == 0) {
			s->full = TIMED_OUT;
		} else if (r > 0 && p[1].revents) {
			s->stopping = 1;
			p[1].fd = -1;
		} else if (r > 0 && (n = write(STDOUT_FILENO, s->text, s->ntext)) < 0) {
			if (errno == EPIPE)
				die_of_pipe();
			if (errno != EINTR && errno != EAGAIN) {
				complain_errno("unable to write the trace");
				s->full = REFUSED;
			}
		} else if (n >= 0 && (size_t)n < s->ntext) { /* of a file */
			memmove(s->text, s->text + n, s->ntext - (size_t)n);
			s->ntext -= (size_t)n;
			s->left -= s->left >= 0 ? n : 0;
			n = -1;
		}
	}
	if (s->full)
		s->cut += s->lines;
	else if (s->left >= 0)
		s->left -= (long long)s->ntext;
	s->ntext = s->lines = 0;
}

static void put_line(struct stream *s, const char *line, size_t n)
{
	if (s->ntext + n > sizeof(s->text))
		put(s);
	memcpy(s->text + s->ntext, line, n);
	s->ntext += n;
	s->lines++;
	if (s->packets || s->left >= 0)
		put(s);
}

/* ---- whose it is -------------------------------------------------------------- */

/* A line of the instance's trace: "...: sched_process_fork: ... child_pid=N". */
static void learn_fork(struct stream *s, const char *line)
{
	static const char key[] = "child_pid=";
	const char *p = NULL, *next = line;
	pid_t pid;

	/* a newline in a task's name begins a line that is no event */
	if (!strstr(line, ": sched_process_fork: "))
		return;
	/* the last: a task may be called like that */
	while ((next = strstr(next, key)))
		p = next += strlen(key);
	pid = p ? pid_number(p) : 0;
	if (pid && !pids_has(&s->who, pid)) {
		pids_add(&s->who, pid);
		pids_sort(&s->who);
	}
}

static void learn_forks(struct stream *s)
{
	char text[4096];
	ssize_t n;

	while (s->forks >= 0 && (n = read(s->forks, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			int end = text[i] == '\n';

			s->fork[s->nfork] = end ? '\0' : text[i];
			if (end)
				learn_fork(s, s->fork);
			s->nfork = end ? 0 : s->nfork + (s->nfork < sizeof(s->fork) - 1);
		}
}

/* Its sectors wait no more. */
static void complete(struct stream *s, uint32_t device, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < s->nbusy; i++) {
		struct under_way *u = &s->busy[i];

		if (u->device != device || u->to <= from || u->from >= to)
			continue;
		if (u->from >= from && u->to <= to)
			*u = s->busy[--s->nbusy], i--;
		else if (u->from < from)
			u->to = from; /* what is behind a hole is not waited for: none comes */
		else
			u->from = to;
	}
}

static int waited_for(const struct stream *s, uint32_t device, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < s->nbusy; i++)
		if (s->busy[i].device == device && s->busy[i].to > from && s->busy[i].from < to)
			return 1;
	return 0;
}

static int shown(struct stream *s, const struct blk_record *r)
{
	uint64_t to = r->sector + (r->bytes >> 9);
	int anybodys, ours;

	/* an interrupt hits whom it hits: a request's end is whose it was */
	anybodys = r->act == BLK_COMPLETE || r->act == BLK_ISSUE || r->act == BLK_REQUEUE;
	ours = (!s->picky || pids_has(&s->who, (pid_t)r->pid)) &&
	       !pids_has(&s->but, (pid_t)r->pid);
	if (!s->picky)
		return r->note || anybodys || ours;
	if (r->note)
		return 0;
	if (anybodys)
		ours = r->bytes >> 9 ? waited_for(s, r->device, r->sector, to) : ours;
	else if (!ours)
		ours = waited_for(s, r->device, r->sector, to);
	else if (r->act == BLK_QUEUE && r->bytes >> 9) {
		if (s->nbusy == MOST_UNDER_WAY) /* the end of the oldest never came */
			memmove(s->busy, s->busy + 1, --s->nbusy * sizeof(*s->busy));
		else if (!(s->nbusy & (s->nbusy - 1)))
			s->busy = grown(s->busy, (s->nbusy ? 2 * s->nbusy : 1) * sizeof(*s->busy));
		s->busy[s->nbusy++] = (struct under_way){ r->sector, to, r->device };
	}
	if (r->act == BLK_COMPLETE)
		complete(s, r->device, r->sector, to);
	return ours;
}

/* ---- records -------------------------------------------------------------------- */

static int keep(void *arg, const struct relay_file *f, const void *bytes, size_t n)
{
	struct stream *s = arg;

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
static void find_records(struct stream *s, size_t at)
{
	struct blk_record r;
	ssize_t n;

	for (; (n = blk_record(&r, s->bytes + at, s->nbytes - at)) > 0; at += (size_t)n) {
		if (s->n == s->vroom) {
			s->vroom = s->vroom ? 2 * s->vroom : 1024;
			s->v = grown(s->v, s->vroom * sizeof(*s->v));
		}
		s->v[s->n++] = (struct place){ r.time, at };
	}
	s->odd |= at < s->nbytes;
	s->nbytes = at;
}

static int by_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Print those from before this time; the others stay. */
static void print_until(struct stream *s, uint64_t time)
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
		if (n && shown(s, &r))
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
static int look(struct stream *s, int last)
{
	uint64_t began = last ? UINT64_MAX : now();
	size_t before = s->nbytes;

	if (relay_read(&s->relay, last, keep, s) < 0)
		return -1;
	learn_forks(s);
	find_records(s, before);
	if (s->odd)
		return complain("what the kernel wrote is no record");
	print_until(s, began);
	put(s);
	return 0;
}

static int live(struct stream *s, int ms)
{
	while (!s->stopping) {
		if (look(s, 0) < 0)
			return -1;
		switch (relay_wait(&s->relay, s->signals, STDOUT_FILENO, ms)) {
		case RELAY_READER:
			die_of_pipe();
		case RELAY_TOLD:
		case RELAY_ENDED:
			s->stopping = 1;
		case RELAY_LOOK:
			break;
		}
	}
	return look(s, 1);
}

static int recorded(struct stream *s, char **files)
{
	static const char *const none[] = { "-", NULL };
	size_t before;

	for (const char *const *f = *files ? (const char *const *)files : none; *f; f++) {
		int fd = strcmp(*f, "-") ? open(*f, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
		char chunk[16 * 1024];
		ssize_t n;

		if (fd < 0)
			return complain_errno("unable to open %s", *f);
		before = s->nbytes;
		while ((n = read(fd, chunk, sizeof(chunk))) != 0)
			if (n > 0)
				keep(s, NULL, chunk, (size_t)n);
			else if (errno != EINTR)
				return complain_errno("unable to read %s", *f);
		if (fd != STDIN_FILENO)
			close(fd);
		find_records(s, before);
		if (s->odd)
			return complain("%s is no blktrace file, or the end of it is missing", *f);
	}
	return 0;
}

/* ---- main ------------------------------------------------------------------------ */

static void tell_losses(struct stream *s, char *const *dirs)
{
	unsigned long long dropped = 0;
	char line[LAST_LINE];
	size_t n;

	for (; *dirs; dirs++)
		dropped += relay_dropped(*dirs);
	if (!dropped && !s->cut)
		return;
	n = format(line, sizeof(line), "# lost %llu events: %llu dropped at a full buffer, "
		   "%llu not written\n", dropped + s->cut, dropped, s->cut);
	if (s->full == 1) /* the size limit, which left room for this */
		s->full = 0;
	s->left = -1;
	put_line(s, line, n);
	put(s);
}

static void follow(struct stream *s, const char *instance)
{
	int dir = open_tracefs(NULL, instance, NULL);

	if (dir < 0)
		exit(REFUSED);
	s->picky = 1;
	/* those that are born after the look are told of by the other */
	s->forks = openat(dir, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (s->forks < 0) {
		complain_errno("unable to open trace_pipe of %s", instance);
		exit(REFUSED);
	}
	if (pidfilter_list(dir, &s->who) < 0)
		exit(REFUSED);
	close(dir);
}

int main(int argc, char **argv)
{
	static struct stream s; /* large */
	unsigned long ms = 100, kb;
	const char *instance = NULL;
	char **dirs = grown(NULL, ((size_t)argc + 1) * sizeof(*dirs));
	size_t ndirs = 0;
	int c, r = 0;

	s.left = s.forks = s.signals = -1;
	while ((c = next_option(&tool, argc, argv)) != -1)
		switch (c) {
		case 'l':
			s.packets = 1;
			break;
		case 's':
			if (number(opt_value, 1, LONG_MAX / 1024, &kb) < 0)
				misused(&tool, "not a number of kilobytes: '%.80s'", opt_value);
			s.left = (long long)kb * 1024 - LAST_LINE;
			break;
		case 'w':
			if (number(opt_value, 1, INT_MAX, &ms) < 0)
				misused(&tool, "not a number of milliseconds: '%.80s'",
					opt_value);
			break;
		case 'i':
			instance = opt_value;
			break;
		case 'p':
		case 'n':
			if (!*opt_value || opt_value[strspn(opt_value, "0123456789,")])
				misused(&tool, "not a list of pids: '%.80s'", opt_value);
			pids_parse(c == 'p' ? &s.who : &s.but, opt_value);
			s.picky |= c == 'p';
			break;
		case 'd':
			dirs[ndirs++] = (char *)(size_t)opt_value;
		}
	dirs[ndirs] = NULL;
	if (ndirs && argv[opt_index])
		misused(&tool, "-d and files do not go together: '%.80s'", argv[opt_index]);
	if (s.packets)
		packet_output(&tool);
	if (ndirs)
		s.signals = stop_signals();
	pids_sort(&s.who);
	pids_sort(&s.but);
	if (instance)
		follow(&s, instance);
	for (size_t i = 0; i < ndirs; i++)
		if (relay_open(&s.relay, dirs[i], "trace") < 0)
			return REFUSED;
	if (ndirs)
		r = live(&s, (int)ms);
	else
		r = recorded(&s, argv + opt_index);
	print_until(&s, UINT64_MAX);
	put(&s);
	tell_losses(&s, dirs);
	return r < 0 ? REFUSED : s.full > 1 ? s.full : ndirs || s.started ? DONE : NO;
}
