/* SPDX-License-Identifier: ISC */
/*
 * live.h - PURPOSE of live
 */
#ifndef LIVE_H
#define LIVE_H

#include "proc/proc.h"
#include "event/event.h"

/*
 * kernel.h - this machine's kernel, as the decoder wants to know it
 */

struct live_kernel {
	int dir;                /* the instance; the caller's */
	int root;               /* tracefs itself; the caller's */
	struct event_set events;
	struct line_format line;
	char *enabled;          /* set_event when last looked at */
	int scanned;            /* since then all events were looked at */
	uint32_t now;           /* counts live_kernel_refresh */
	uint32_t tgids;         /* the moment at which saved_tgids was read */
	int procfs;             /* it shows the pids that tracefs has */
	size_t pruned;          /* names that were left when the dead were dropped */
	unsigned own;           /* events that tell names and were enabled by us */
	int failed;             /* memory ran out: a format is missing, or more */
};

/*
 * Learn how the instance prints and which events it records. 0; 1, silent: it
 * prints in a way that only the kernel knows (another tracer, an option that
 * changes lines), and only fields can be had.
 */
int live_kernel_open(struct live_kernel *, int dir, int root);

/*
 * The name of any task may have changed since: look again. Formats and names
 * are learnt as records come that want them.
 */
void live_kernel_refresh(struct live_kernel *);

/*
 * Where the instance records how tasks get their names (task:task_newtask,
 * task:task_rename), each has at each event the one that it had then, however
 * short it lives. With enable those events are enabled for that; where that
 * cannot be, nothing happens, without a word.
 */
void live_names_begin(struct live_kernel *, int enable);
void live_names_end(struct live_kernel *);

/* ---- names.c: names of tasks, from procfs and from events ------------------------ */

/* The same of a task that procfs shows. */
int names_add_task(struct comms *, const struct task *);

/* The same of those whose events the instance at dir records: all, or by pid. */
size_t names_from_instance(struct comms *, int dir);

/*
 * The events by which a task gets its name, task:task_newtask, task:task_rename:
 * which of them the instance at dir records, as bits; enable those that it does
 * not, which are returned; and disable these. Silent.
 */
enum { NAMING = 3 };
unsigned names_events_enabled(int dir);
unsigned names_events_enable(int dir);
void names_events_disable(int dir, unsigned which);

/* load_symbols for this machine: /proc/kallsyms. */
struct symbols *symbols_load(void *unused);

/*
 * live.h - the records of an instance while it records, all processors merged
 */

/* Pages read from one processor's buffer, oldest first, in a ring. */
struct live_cpu {
	int fd;                 /* its trace_pipe_raw */
	int stats;
	unsigned char *pages;   /* NULL until it has some */
	unsigned first, n;      /* the page at hand is the first */
	unsigned old;           /* of them, read before the last live_fill */
	int empty;              /* the buffer was found empty by it */
	int open;               /* the first was given to the merge */
};

struct live {
	struct subbuf_format format;
	size_t page;            /* bytes of a page */
	unsigned room;          /* pages a processor may hold */
	unsigned ncpus;
	struct live_cpu *cpu;
	size_t held, old;       /* pages, of all processors */
	struct merge merge;
};

/*
 * The instance at dir, which the caller keeps open; big and the sizes are this
 * machine's. 0 or -1 said.
 */
int live_open(struct live *, int dir);

/*
 * Read what the buffers have now, as far as there is room for it; a record is
 * given by live_next only after one more live_fill has found all that other
 * processors recorded before it. How many pages were read; -1 said.
 */
long live_fill(struct live *);

/* Did it find the buffers empty, and not itself without room? */
int live_empty(const struct live *);

/*
 * The next page of one processor alone, past live_next, into page: 1; 0 there is
 * none now; -1 said.
 */
int live_page(struct live *, unsigned cpu, void *page);

/* As merge_next. */
const struct record *live_next(struct live *, int64_t *lost);

/* How many records are held that live_next has not given, of those that counts counts. */
unsigned long long live_rest(const struct live *,
			     int (*counts)(void *, const struct record *), void *arg);

/* Let go of the instance, which can then be removed. */
void live_close(struct live *);

#endif
