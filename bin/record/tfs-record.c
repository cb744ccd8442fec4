/* SPDX-License-Identifier: ISC */
/*
 * tfs-record - record an instance into a trace.dat for trace-cmd and KernelShark
 *
 * Requires: tracefs; no other reader of the instance's buffer.
 * With -m, further events stay in the buffer and are counted as lost. With -n, the newest
 * file is FILE, then FILE.1 and so on.
 * HUP, INT, TERM and USR1 stop tfs-record. It then records the events that the buffer
 * still holds, and FILE appears complete. If events were lost, a line on standard error
 * gives their number. Recorded and lost events add up to all events. With -d another line
 * says if the time of day and the trace clock have moved apart.
 * The records of the rings of TFS_RINGS, which tfs-strings(1) passes, become events of the file.
 * Exit: 0 stopped, 100 usage error, 111 refused, or the disk was full.
 */
#include <poll.h>
#include <sys/signalfd.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "tracefs/tracefs.h"
#include "tracedat/tracedat.h"
#include "record.h"

static const struct tool tool = { TOOL_TFS_RECORD, .takes_instance = 1 };

/*
 * The kernel wakes tfs-record when the buffer of a CPU is half full
 * (buffer_percent). Before 6.1, or if buffer_percent is 0, it does so at each event.
 * Therefore sleep this long after a read that got little.
 */
#define GATHER_MS 5

/* How often to look for new names: soon after a look that found many, then less often. */
#define LOOK_MS 100
#define LOOK_MOST_MS 1000

struct recording {
	struct dat_head head;
	struct atomic_file place;
	struct dat_parts parts;
	int stopping;
	long long look_at;      /* time of the next look for names, in ms */
	int look_ms;            /* interval of the looks */
};

/*
 * Wait up to ms milliseconds (-1: no limit) for a stop signal or, unless signals_only is
 * set, for a buffer. Return whether a buffer is ready.
 */
static int wait_on(struct recording *r, int signals_only, int ms)
{
	struct pollfd *all = r->parts.polls, *signals = &all[r->head.cpus];
	struct signalfd_siginfo si;
	int n;

	while ((n = signals_only ? poll(signals, 1, ms) :
				   poll(all, r->head.cpus + 1, ms)) < 0)
		if (errno != EINTR) {
			err_errno("unable to wait for events");
			r->parts.full = REFUSED;
			r->stopping = 1;
			return 0;
		}
	if (!signals->revents)
		return n > 0;
	if (read(signals->fd, &si, sizeof(si)) == sizeof(si))
		r->stopping = 1;
	return n > 1;
}

/* Look for new names if it is time. Return the ms until the next look. */
static int look(struct recording *r)
{
	long long now = time_now_ms();

	if (now >= r->look_at) {
		r->look_ms = dat_look(&r->head, 0) > 16 ? LOOK_MS : 2 * r->look_ms;
		if (r->look_ms > LOOK_MOST_MS)
			r->look_ms = LOOK_MOST_MS;
		r->look_at = now + r->look_ms;
		dat_parts_watch(&r->parts);
	}
	return (int)(r->look_at - now);
}

/* Return whether the file is full and -n allows another one. */
static int may_turn(const struct recording *r)
{
	return r->parts.full == 1 && r->place.files;
}

/* Finish the full file and begin the next one. Remove the oldest file first, for its room. */
static int turn(struct recording *r)
{
	int status;

	if (atomic_file_remove(&r->place, r->place.files - 2) < 0)
		return -1;
	status = dat_parts_join(&r->parts, 1);
	dat_forget(&r->head);
	dat_look(&r->head, 1);
	if (!status && dat_parts_hold(&r->parts) < 0)
		r->parts.full = REFUSED;
	return status;
}

static int record(struct recording *r)
{
	ssize_t n = dat_parts_collect(&r->parts, 1);
	int ready = 1;

	while (n >= 0 && !r->stopping) {
		/* with rings, a pass that had no room for all that there is has to go on at once */
		const int more = r->parts.writers && !live_empty(&r->parts.live);
		int ms = look(r), held;

		if (may_turn(r)) {
			if (turn(r) < 0)
				return -1;
		} else if (r->parts.full) { /* the newest events stay in the buffer */
			wait_on(r, 1, -1);
			continue;
		} else if (ready && !more && (size_t)n < r->parts.holds / 4) {
			wait_on(r, 1, GATHER_MS);
		}
		/* the next pass gives the records that the last one has read */
		held = r->parts.writers && !live_done(&r->parts.live);
		ready = wait_on(r, 0, r->stopping || more ? 0 : held ? GATHER_MS : ms);
		n = ready || held ? dat_parts_collect(&r->parts, 0) : 0;
	}
	return n < 0 ? -1 : 0;
}

/* Record the rest of a CPU's buffer: its full sub-buffers, then the partial one. */
static int drain_cpu(struct recording *r, unsigned cpu)
{
	/* new events may keep the buffer from ever being empty: take at most twice its size */
	size_t left = 2 * r->parts.holds;
	ssize_t n, rest;
	int again;

	do {
		n = dat_parts_take(&r->parts, cpu, left);
		rest = n < 0 ? -1 : dat_parts_rest(&r->parts, cpu);
		if (n < 0 || rest < 0)
			return -1;
		again = rest > 0 || may_turn(r);
		/* while turn() finishes a file, it may fill the next one */
		while (may_turn(r))
			if (turn(r) < 0)
				return -1;
		left -= (size_t)n < left ? (size_t)n : left;
		left -= left && rest;
	} while (again && left && !r->parts.full);
	return 0;
}

/*
 * Record the rest of all buffers. A writer may finish an event after the buffer seemed
 * empty, so try again while the kernel counts entries.
 */
static int drain(struct recording *r)
{
	int again;

	if (r->parts.writers) {
		rings_stop(&r->parts.live.rings);
		do {
			if (dat_merged_rest(&r->parts) < 0)
				return -1;
			again = may_turn(r);
			if (again && turn(r) < 0)
				return -1;
		} while (again);
		dat_merged_flush(&r->parts);
		return 0;
	}
	for (int tries = 0; tries < 3 && (!r->parts.full || may_turn(r)); tries++) {
		for (unsigned cpu = 0; cpu < r->head.cpus; cpu++)
			if (drain_cpu(r, cpu) < 0)
				return -1;
		if (!instance_buffer_count(r->head.dir, "entries: "))
			break;
		wait_on(r, 1, 1);
	}
	return 0;
}

/* For dat_head.ring_lost. */
static unsigned long long ring_lost(void *rings, unsigned cpu)
{
	return rings_lost_of(rings, cpu);
}

static void print_losses(const struct recording *r)
{
	int dir = r->head.dir;
	long long moved = r->head.dated ? trace_clock_moved(dir, r->head.offset) : 0;
	unsigned long long over = instance_lost(dir) + rings_lost(&r->parts.live.rings);
	unsigned long long cut = r->parts.cut + instance_buffer_count(dir, "entries: ");

	if (over || cut)
		err_note("lost %llu events: %llu overwritten in a full buffer, "
			 "%llu not written", over + cut, over, cut);
	if (moved)
		err_note("the time of day moved by %lld ms against the trace's clock", moved);
}

/* Read the command line. Exit with a usage error if it is wrong. Return the file. */
static const char *take_options(struct recording *r, int argc, char **argv)
{
	int c;

	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case 'd':
			r->head.dated = 1;
			break;
		case 'm':
			r->parts.most = KB_BYTES(opt_number());
			break;
		case 'n':
			r->place.files = opt_number();
		}
	if (!argv[opt_index])
		usage_error(&tool, "no file; give the name of the trace.dat to write");
	opt_end(&tool, argv[opt_index + 1]);
	if (r->place.files && !r->parts.most)
		usage_error(&tool, "-n needs -m");
	instance_require(&tool, opt_root, opt_instance);
	return argv[opt_index];
}

/* Open the instance and read what a head needs. Return 0, or -1, reported. */
static int open_instance(struct recording *r)
{
	struct dat_head *h = &r->head;

	h->dir = tracefs_open(opt_root, opt_instance, NULL);
	h->root = h->dir < 0 ? -1 : tracefs_open(opt_root, "", NULL);
	if (h->root < 0 || dat_begin(h) < 0 ||
	    (h->dated && trace_clock_offset(h->dir, &h->offset) < 0))
		return -1;
	dat_look(h, 1);
	return 0;
}

/* Open the ring buffers and begin the first file. Return 0, or -1, reported. */
static int open_parts(struct recording *r, int signals)
{
	struct dat_parts *p = &r->parts;
	uint64_t least = dat_parts_reserve(p);

	if (!least)
		return -1;
	if (p->most && p->most < least)
		usage_error(&tool, "%llu KB are too few for a file; give at least %llu",
			    (unsigned long long)p->most / 1024,
			    (unsigned long long)(least + 1023) / 1024);
	if (dat_parts_open(p) < 0)
		return -1;
	p->polls[r->head.cpus] = (struct pollfd){ .fd = signals, .events = POLLIN };
	if (r->place.files && atomic_file_remove(&r->place, r->place.files - 1) < 0)
		return -1;
	return dat_parts_hold(p);
}

int main(int argc, char **argv)
{
	static struct recording r = {
		.look_ms = LOOK_MS,
		.parts = { .place = &r.place, .head = &r.head },
		.head = { .ring_lost = ring_lost, .arg = &r.parts.live.rings },
	};
	const char *file = take_options(&r, argc, argv);
	int signals, status;

	if (atomic_file_find(&r.place, &tool, file) < 0)
		return REFUSED;
	signals = wait_stop_signals();
	signal(SIGXFSZ, SIG_IGN); /* handle a limit on file sizes like a full disk */
	if (open_instance(&r) < 0 || open_parts(&r, signals) < 0)
		return REFUSED;
	confine_paths(CAPS_STREAM | (rings_have(&r.parts.live.rings, RINGS_STACKS) ?
				     CAPS_MAPPED : 0), (int[]){ r.head.dir, r.place.dir }, 2);
	atomic_file_try(&r.place, r.parts.ballast); /* with the rights after confine_paths */

	status = record(&r);
	if (status >= 0)
		status = drain(&r);
	r.head.unwritten = r.parts.cut + instance_buffer_count(r.head.dir, "entries: ");
	if (dat_parts_join(&r.parts, 0) < 0)
		status = -1;
	print_losses(&r);
	return status < 0 || r.parts.full == REFUSED ? REFUSED : DONE;
}
