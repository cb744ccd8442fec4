/* SPDX-License-Identifier: ISC */
/*
 * mapped_files.c - read which files traced tasks map and which programs they execute, by time
 *
 * Each CPU has a ring buffer of the records (lib/proc/mappings.c).
 */

#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "record.h"

/* In the page before the records: struct perf_event_mmap_page has data_head, data_tail there. */
enum { HEAD = 1024, TAIL = 1032 };

static struct ring {
	char *page, *data;
	uint64_t at, until;     /* how many bytes are read, and were there at the last look */
} rings[MAPPINGS_CPUS];
static unsigned nrings;

static void add_ring(int fd)
{
	char *page = mappings_map(fd);

	if (page && nrings < MAPPINGS_CPUS)
		rings[nrings++] = (struct ring){ page, page + sysconf(_SC_PAGESIZE), 0, 0 };
}

/* The clock of perf events is so many nanoseconds ahead of the trace's. */
static int64_t ahead;
static int ahead_known;

/*
 * Write how far the clock of perf events is ahead of that of the trace. This process sets its name
 * again, which makes a perf event with a time, and looks at the clock of the trace before and
 * after. Of several tries, take the one with the shortest time between the two looks.
 */
static void tell_ahead(int instance, int to)
{
	enum { READINGS = 32, TASK_COMM = 16 };
	pid_t self = getpid();
	const struct pids own = { .v = &self, .n = 1 };
	uint64_t before, when, took, least = UINT64_MAX;
	int fds[MAPPINGS_CPUS];
	unsigned n = mappings_listen(&own, fds);
	const struct mapping *m;
	char name[TASK_COMM];
	int64_t found = 0;

	nrings = 0;
	for (unsigned i = 0; i < n; i++)
		add_ring(fds[i]);
	prctl(PR_GET_NAME, name);
	for (int i = 0; i < READINGS; i++) {
		before = trace_clock_now(instance);
		prctl(PR_SET_NAME, name);
		took = trace_clock_now(instance) - before;
		m = mappings_next(&when);
		if (!m || m->head.type != K_PERF_RECORD_COMM || !before || took >= least)
			continue;
		least = took;
		found = (int64_t)(when - before - took / 2);
	}
	if (least < UINT64_MAX)
		fd_write_all(to, (const char *)&found, sizeof(found));
}

/* Learn how far the clock is ahead, from a child, because its end removes its ring buffers. */
static void compare_clocks(int instance)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (!pid) {
		tell_ahead(instance, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	ahead_known = pid > 0 && read(ends[0], &ahead, sizeof(ahead)) == sizeof(ahead);
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

uint64_t mappings_time(uint64_t ts)
{
	return ahead_known ? ts + (uint64_t)ahead : 0;
}

void mappings_open(int instance)
{
	const char *inherited = getenv(MAPPINGS_RINGS);
	struct pids tasks = { 0 };
	int fds[MAPPINGS_CPUS];
	unsigned n = 0;

	if (nrings)
		return;
	for (; inherited && *inherited; inherited += *inherited == ' ')
		add_ring((int)text_digits(&inherited));
	if (!inherited && !pidfilter_list(instance, &tasks))
		n = mappings_listen(&tasks, fds);
	for (unsigned i = 0; i < n; i++)
		add_ring(fds[i]);
	pids_clear(&tasks);
	if (nrings)
		compare_clocks(instance);
}

/* Copy n bytes at the offset `at` of what is in the ring buffer. */
static void copy(const struct ring *r, uint64_t at, void *to, size_t n)
{
	size_t from = (size_t)at % MAPPINGS_RING;
	size_t first = n < MAPPINGS_RING - from ? n : MAPPINGS_RING - from;

	memcpy(to, r->data + from, first);
	memcpy((char *)to + first, r->data, n - first);
}

/* Machines of 32 bits have no atomic access to such a word; the kernel there changes half of it. */
static volatile uint64_t *word_at(const struct ring *r, int at)
{
	return (volatile uint64_t *)(void *)(r->page + at);
}

static uint64_t head_of(const struct ring *r)
{
	uint64_t head = *word_at(r, HEAD);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return head;
}

/* Return the size of the next record, and its time in *time; 0 if there is none. */
static size_t next(const struct ring *r, uint64_t *time)
{
	struct mapping_head h;

	if (r->at == head_of(r))
		return 0;
	copy(r, r->at, &h, sizeof(h));
	copy(r, r->at + h.size - sizeof(*time), time, sizeof(*time));
	return h.size;
}

/*
 * Look at all rings, unless one has a record of the last look. Return 0 if there is no record.
 * Leave records that come after a look: their cause may be in another ring, and not seen yet.
 */
static int look(void)
{
	int more = 0;

	for (struct ring *r = rings; r < rings + nrings; r++)
		more |= r->at < r->until;
	for (struct ring *r = rings; !more && r < rings + nrings; r++)
		r->until = head_of(r);
	for (struct ring *r = rings; r < rings + nrings; r++)
		more |= r->at < r->until;
	return more;
}

const struct mapping *mappings_next(uint64_t *when)
{
	static union {
		struct mapping m;
		char bytes[UINT16_MAX + 1];
	} record;
	struct ring *oldest = NULL;
	uint64_t time, least = 0;
	size_t n, size = 0;

	if (!look())
		return NULL;
	for (struct ring *r = rings; r < rings + nrings; r++) {
		n = next(r, &time);
		if (n && (!oldest || time < least)) {
			oldest = r;
			least = time;
			size = n;
		}
	}
	*when = least;
	copy(oldest, oldest->at, &record, size);
	memset(record.bytes + size - sizeof(time), 0, sizeof(time)); /* a name ends there */
	oldest->at += size;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*word_at(oldest, TAIL) = oldest->at;
	return &record.m;
}
