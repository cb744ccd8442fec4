/* SPDX-License-Identifier: ISC */
/*
 * blk-text - print blktrace recordings or live block traces as blkparse does
 *
 * Requires: records in files or on standard input; or with -d a device that is traced.
 * DIR is a device's directory in debugfs. With -i, blk-text also prints I/O of the tasks'
 * children, which the instance's event task_newtask reports.
 * Records are printed in the order of their times, which count from the first record. I/O
 * belongs to the task that queues it. Records of kernel threads and interrupts about the
 * same sectors are printed too, until the I/O is complete. SIGHUP, SIGINT, SIGTERM and
 * SIGUSR1 stop blk-text: it writes the records that exist. If events were lost, the
 * output ends with
 *	# lost N events ...
 * Exit: 0 done or stopped, 1 no record, 99 the reader takes nothing for 2 s after the stop,
 * 100 usage error, 111 refused, 141 the reader is gone.
 */
#include <sys/stat.h>
#include <time.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "blktrace.h"
#include "reader/reader.h"

static struct opt_list dirs = { .v = OPT_LIST(NULL) };
static const char *instance;
static unsigned long ms = 100;
static int packets;

static const struct tool tool = {
	TOOL_BLK_TEXT,
	.places = (const struct opt_place[]){
		{ 'i', .text = &instance }, { 'l', .flag = &packets },
		{ 'd', .list = &dirs }, { 'w', .number = &ms }, { 0 },
	},
};

/* A record that is not printed yet: its time, and its offset in bytes. */
struct blk_position {
	uint64_t time;
	size_t at;
};

struct blk_stream {
	struct relay relay;
	struct consumer to;
	/* records that are not printed yet, and where each begins */
	struct strbuf bytes;
	struct blk_position *v;
	size_t n, vroom;
	int odd;                /* there were bytes that are not a record */
	struct blk_pick pick;
	/* the text of the records */
	struct table names;
	uint64_t start;
	int started;
	char text[PIPE_BUF];
	size_t ntext;
	unsigned long long cut; /* events that were selected and not written */
};

/* ---- text ------------------------------------------------------------------- */

/* Write the collected lines, and count those that the limit or the reader cuts off. */
static void put(struct blk_stream *s)
{
	size_t rest = consumer_put(&s->to, s->text, s->ntext);

	s->cut += text_count_lines(s->text + s->ntext - rest, rest);
	s->ntext = 0;
}

/* Collect the line, and write the collected lines if necessary. */
static void put_line(struct blk_stream *s, const char *line, size_t n)
{
	if (s->ntext + n > sizeof(s->text))
		put(s);
	memcpy(s->text + s->ntext, line, n);
	s->ntext += n;
	if (s->to.left >= 0) /* the limit of -s cuts between two lines */
		put(s);
}

/* ---- records -------------------------------------------------------------------- */

/* Append bytes of records. This is a sink of relay_read. */
static int keep(void *arg, const struct relay_file *f, const void *bytes, size_t n)
{
	struct blk_stream *s = arg;

	(void)f;
	strbuf_add(&s->bytes, bytes, n);
	return 0;
}

/* Decode the record at this offset, as blk_record does. */
static ssize_t record_at(const struct blk_stream *s, size_t at, struct blk_record *r)
{
	return blk_record(r, (const uint8_t *)s->bytes.text + at, s->bytes.n - at);
}

/* Find the records from offset at on. Drop the bytes after the last complete record. */
static void find_records(struct blk_stream *s, size_t at)
{
	struct blk_record r;
	ssize_t n;

	for (; at < s->bytes.n; at += (size_t)n) {
		n = record_at(s, at, &r);
		if (n <= 0)
			break;
		s->v = xgrow(s->v, s->n, &s->vroom, sizeof(*s->v));
		s->v[s->n++] = (struct blk_position){ r.time, at };
	}
	s->odd |= at < s->bytes.n;
	s->bytes.n = at;
}

static int by_time(const void *a, const void *b)
{
	const struct blk_position *x = a, *y = b;

	return x->time != y->time ? ASCENDING(x->time, y->time) : ASCENDING(x->at, y->at);
}

/* Print the records from before this time, and keep the others. */
static void print_until(struct blk_stream *s, uint64_t time)
{
	char line[1024];
	struct blk_record r;
	size_t done, n, at = 0;

	if (s->n)
		array_sort(s->v, s->n, sizeof(*s->v), by_time);
	for (done = 0; done < s->n && s->v[done].time < time; done++) {
		record_at(s, s->v[done].at, &r);
		blk_learn(&s->names, &r);
		if (!s->started && !r.note) {
			s->start = r.time;
			s->started = 1;
		}
		n = blk_line(&s->names, &r, s->start, line, sizeof(line));
		if (n && blk_picked(&s->pick, &r))
			put_line(s, line, n);
	}
	/* move the bytes from the first remaining record on to the front */
	s->n -= done;
	if (!s->n) {
		s->bytes.n = 0;
		return;
	}
	memmove(s->v, s->v + done, s->n * sizeof(*s->v));
	for (size_t i = 0; i < s->n; i++)
		at = i && s->v[i].at > at ? at : s->v[i].at;
	s->bytes.n -= at;
	memmove(s->bytes.text, s->bytes.text + at, s->bytes.n);
	for (size_t i = 0; i < s->n; i++)
		s->v[i].at -= at;
}

/*
 * Read all relay files once, and print the records from before this reading: on every CPU, all
 * of these have been read. Later records are kept, because others of that time may still be
 * unread. If last is set, print all. Return 0 or -1.
 */
static int look(struct blk_stream *s, int last)
{
	uint64_t began = last ? UINT64_MAX : time_ns(CLOCK_MONOTONIC);
	size_t before = s->bytes.n;

	if (relay_read(&s->relay, last, keep, s) < 0)
		return -1;
	if (blk_pick_children(&s->pick) < 0)
		return -1;
	find_records(s, before);
	if (s->odd)
		return err_msg("unable to parse the records of the kernel");
	print_until(s, began);
	put(s);
	return 0;
}

/* Read and print until a signal comes, the reader is gone, or the trace ends. Return 0 or -1. */
static int live(struct blk_stream *s)
{
	while (!s->to.stopping) {
		if (look(s, 0) < 0)
			return -1;
		if (relay_wait(&s->relay, s->to.signals, s->to.out, (int)ms))
			s->to.stopping = 1;
		/* has the reader died, or has a signal come? */
		consumer_wait(&s->to, -1, 0, 0);
	}
	return look(s, 1);
}

/* Read the whole file. Return 0, or -1, reported. */
static int read_one(struct blk_stream *s, const char *file)
{
	struct stat st;
	int fd = !strcmp(file, "-") ? STDIN_FILENO :
		 file_open(file, FILE_REGULAR | FILE_FIFO | FILE_NULL, O_RDONLY, &st);
	char chunk[16 * 1024];
	ssize_t n;

	if (fd == FILE_OTHER)
		return err_msg("%s is neither a regular file nor a FIFO", file);
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

/*
 * Read the files, or standard input, and find their records. Read all files before the
 * first is parsed, so that the program can give up its rights in between. Return 0 or -1.
 */
static int recorded(struct blk_stream *s, char **files, size_t n)
{
	static char *none[] = { (char *)(size_t)"-", NULL };
	size_t *ends;

	if (!n) {
		files = none;
		n = 1;
	}
	ends = xcalloc(n, sizeof(*ends));
	for (size_t i = 0; i < n; i++) {
		if (read_one(s, files[i]) < 0)
			return -1;
		ends[i] = s->bytes.n;
	}
	confine();
	for (size_t i = 0; i < n; i++) {
		s->bytes.n = ends[i];
		find_records(s, i ? ends[i - 1] : 0);
		if (s->odd)
			return err_msg("%s is not a blktrace file, or its end is missing",
				       files[i]);
	}
	free(ends);
	return 0;
}

/* ---- main ------------------------------------------------------------------------ */

/* Write the "# lost" line if events were lost. */
static void tell_losses(struct blk_stream *s)
{
	unsigned long long dropped = 0;
	char line[CONSUMER_LAST];
	size_t n;

	for (const char **dir = dirs.v; *dir; dir++)
		dropped += relay_dropped(relay_open_dropped(*dir));
	s->cut += consumer_take_back(&s->to);
	if (!dropped && !s->cut)
		return;
	n = str_format(line, sizeof(line), "# lost %llu events: %llu dropped at a full buffer, "
		       "%llu not written\n", dropped + s->cut, dropped, s->cut);
	consumer_last(&s->to, line, n);
}

/* Read the options. Return 0, or -1, reported. */
static int parse(struct blk_stream *s, int argc, char **argv)
{
	int c;

	while ((c = opt_next(&tool, argc, argv)) != -1)
		if (c == 's') {
			consumer_limit(&s->to, opt_number());
		} else {
			if (pids_option(&tool, opt_value, PID_LIST_IDLE,
					c == 'p' ? &s->pick.selected : &s->pick.excluded) < 0)
				return -1;
			s->pick.only_selected |= c == 'p';
		}
	s->to.packets = packets;
	if (dirs.n && argv[opt_index])
		usage_error(&tool, "-d cannot be combined with files; leave out '%.80s'",
			    argv[opt_index]);
	if (instance)
		instance_require(&tool, NULL, instance);
	return 0;
}

/* Open the relay files, and everything else. Return 0, or -1, reported. */
static int begin(struct blk_stream *s)
{
	if (dirs.n)
		s->to.signals = wait_stop_signals();
	if (consumer_open(&s->to, &tool) < 0)
		return -1;
	pids_sort(&s->pick.selected);
	pids_sort(&s->pick.excluded);
	if (instance && blk_pick_follow(&s->pick, instance) < 0)
		return -1;
	for (const char **dir = dirs.v; *dir; dir++)
		if (relay_open(&s->relay, *dir, "trace") < 0)
			return -1;
	if (dirs.n)
		confine_paths(CAPS_STREAM, &s->relay.v->fd, 1);
	return 0;
}

int main(int argc, char **argv)
{
	static struct blk_stream s; /* large */
	int r;

	s.to = CONSUMER;
	s.pick.child_pipe = -1;
	if (parse(&s, argc, argv) < 0 || begin(&s) < 0)
		return REFUSED;
	r = dirs.n ? live(&s) : recorded(&s, argv + opt_index, (size_t)(argc - opt_index));
	print_until(&s, UINT64_MAX);
	put(&s);
	tell_losses(&s);
	if (r < 0 || s.to.full > 1)
		return r < 0 ? REFUSED : s.to.full;
	return dirs.n || s.started ? DONE : err_no("no record of blktrace in the input");
}
