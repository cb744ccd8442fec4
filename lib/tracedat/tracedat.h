/* SPDX-License-Identifier: ISC */
/*
 * tracedat.h - PURPOSE of tracedat
 */
#ifndef TRACEDAT_H
#define TRACEDAT_H

#include <poll.h>

#include "base/base.h"
#include "event/event.h"

/*
 * tracedat.h - trace.dat: a trace as raw pages of the ring buffer in one file
 *
 * trace-cmd.dat.v6(5) has the format. In front is the head: what the kernel
 * says of its pages and events, names of tasks, options, and a table of where
 * each processor's pages are. The pages follow, a processor's one behind the
 * other. A number has the byte order of the kernel that recorded.
 *
 * A page, or sub-buffer: u64 time stamp, the commit word (as long as a long;
 * how many bytes of events follow in its low 20 bits, flags at bits 30 and 31),
 * the events. An event begins with u32: type_len (5 bits), time_delta (27).
 */

/* Ids of options; those of version 7, 3 and from 16 on, are sections. */
enum dat_option {
	DAT_DONE = 0,
	DAT_CPUSTAT = 2,        /* text, NUL: "CPU: N\n" and its stats */
	DAT_BUFFER = 3,
	DAT_TRACECLOCK = 4,     /* empty: the clock follows the table */
	DAT_UNAME = 5,          /* text, NUL: system, name, release, machine */
	DAT_CPUCOUNT = 8,
	DAT_HEADER_INFO = 16,
	DAT_FTRACE_EVENTS = 17,
	DAT_EVENT_FORMATS = 18,
	DAT_KALLSYMS = 19,
	DAT_PRINTK = 20,
	DAT_CMDLINES = 21,
};

/* ---- datwrite.c: the head of a file, from a tracefs ------------------------ */

/* One event's format, as the kernel tells it. */
struct dat_format {
	char *system, *event;   /* one allocation: system */
	char *text;
	size_t len;
};

/* What a head is made of; dir and root are the caller's, all else is zero at first. */
struct dat_head {
	int dir, root;          /* an instance, and tracefs itself */
	struct subbuf_format layout;
	unsigned cpus;          /* of per_cpu, the highest number + 1 */
	struct dat_format *formats;
	size_t nformats, bytes; /* how many, and all their bytes in a head */
	char *enabled;          /* set_event when last looked at */
	int symbols;            /* something records addresses of code */
	struct comms comms;
	char *clock;            /* of trace_clock */
	int failed;             /* memory ran out: formats are missing */
	unsigned long long unwritten; /* the caller's: events that are not in the file */
};

/*
 * Read what does not change: layout, number of processors, formats of ftrace's
 * own. -1 said.
 */
int dat_begin(struct dat_head *);

/*
 * Learn what may have come since: events that were enabled, tasks' names. With
 * all, also the names of those that live and the clock. How many names were
 * not known. Sets failed, or clears it again when nothing is missing any more.
 */
size_t dat_look(struct dat_head *, int all);

/* Forget the names. */
void dat_forget(struct dat_head *);

/*
 * The head into out, up to the table: no more than most bytes, for which names
 * and symbols are left out, and with room for the table. -1, silent: not even the
 * rest fits, or out->failed.
 */
int dat_head(const struct dat_head *, struct bytes *out, size_t most);

/* The table and what is behind it: its length, or itself with offset and size of each. */
size_t dat_table_size(const struct dat_head *);
void dat_table(const struct dat_head *, struct bytes *out, const uint64_t *offset,
	       const uint64_t *size);

/* ---- tracedat.c, datat.c: a file of version 6 or 7 that somebody gave us --- */

/* A part of the file, which is not in memory; inside the file, always. */
struct dat_extent {
	uint64_t at, n;
};

/* The pages of one processor; n is a multiple of the page. */
struct dat_cpu {
	unsigned cpu;
	struct dat_extent pages;
};

/* One instance's buffer: the first of a file, or of version 6, has no name. */
struct dat_buffer {
	char name[64];          /* longer ones are cut */
	char clock[32];         /* "local"; "" when it is not told */
	size_t page;            /* bytes of a page, as in the layout but of its own */
	struct dat_cpu *cpus;   /* of version 6 all, of 7 those that have pages */
	size_t ncpus;
	size_t nfull;           /* those with pages */
};

struct dat {
	const char *path;       /* the caller's */
	int fd;
	uint64_t size;          /* of the file */
	unsigned version;       /* 6 or 7 */
	struct subbuf_format layout;
	unsigned cpus;          /* that the machine had; 0 not told */
	uint64_t cut;           /* 0; or pages are missing at the end, which was said */
	char release[64];       /* of its kernel, as uname has it; "" not told */
	struct dat_extent ftrace, events; /* formats, see dat_formats */
	struct dat_extent kallsyms, printk, cmdlines;
	struct dat_buffer *buffers;
	size_t nbuffers;
	uint64_t paged;         /* bytes of all pages, no more than size */
};

/*
 * Open the file and read its head and its table; every extent has been checked
 * against the size of the file. d is filled anew; path stays the caller's. -1
 * said in one line: no such file, no trace.dat, one whose head ends too early
 * or is damaged, compressed, or of another version; d needs no dat_close then.
 * One that ends in its pages has those that are there, and cut is set.
 */
int dat_open(struct dat *d, const char *path);

/*
 * The two halves of dat_open, for a caller that gives up its rights between them.
 * dat_file opens the file and reads nothing. d needs no dat_close if one of them fails.
 */
int dat_file(struct dat *d, const char *path);
int dat_read_head(struct dat *d);
void dat_close(struct dat *d);

/*
 * Call fn with each event's format: the system ("ftrace" first), and the n
 * bytes of text, NUL-terminated, valid during the call. It ends when fn
 * returns other than 0, and returns that; -1 said: damaged, or not readable.
 */
int dat_formats(const struct dat *d,
		int (*fn)(void *, const char *system, const char *text, size_t n), void *arg);

/* An extent's bytes, NUL-terminated; free() them. NULL said. */
char *dat_text(const struct dat *d, struct dat_extent);

/* Add the names of the tasks. -1 said. */
int dat_comms(const struct dat *d, struct comms *);

/* Going through the pages of one processor, some of them in memory at a time. */
struct dat_subbufs {
	const struct dat *dat;
	size_t page, most;      /* most: bytes in text, a multiple of page */
	struct dat_extent left; /* in the file, behind what is in text */
	char *text;
	size_t at, n;           /* in text */
	int failed;             /* it ended since it could not be read, which was said */
};

/* dat and the processor's extent must live as long as it. */
void dat_subbufs_begin(struct dat_subbufs *, const struct dat *, const struct dat_buffer *,
		       const struct dat_cpu *);
/* The next page, valid until the next call; NULL at the end or when failed. */
const void *dat_subbufs_next(struct dat_subbufs *);
void dat_subbufs_end(struct dat_subbufs *);

/*
 * datparts.h - a trace.dat in the making: the pages of each processor, apart
 *
 * The format wants the pages of a processor side by side, and nobody knows
 * beforehand how many there will be. So each has an unlinked file of its own,
 * its part, with room in front for the head. In the end the largest gets the
 * head and the pages of the others, and a name.
 */

struct dat_part {
	int fd;                 /* -1: none yet */
	uint64_t size;          /* of the pages, which begin at reserve */
};

/* All zero at first, but for what is the caller's. */
struct dat_parts {
	const struct atomic_file *place; /* the caller's */
	struct dat_head *head;  /* the caller's, begun */
	uint64_t most;          /* the caller's: bytes of a file; 0: any */
	int full;               /* 1: most; REFUSED: it could not be written, which was said */
	unsigned long long cut; /* events that were read and are in no file */
	size_t holds;           /* pages, a processor's buffer, about */
	int ballast;            /* a file, which keeps the room that dat_parts_join takes */
	struct pollfd *polls;   /* of each processor, and one more that is the caller's */

	/* its own */
	uint64_t reserve;       /* of each part, for the head */
	size_t formats;         /* bytes of them that reserve counts with */
	struct dat_part *part;  /* a processor each */
	uint64_t size;          /* of all pages in them */
	int *raw;               /* trace_pipe_raw of each, -1: ended */
	int pipe[2];
	size_t pipe_pages;
	char *page;             /* room for one */
	uint64_t *table;        /* offset of each processor's pages, then size of each */
	struct bytes first;     /* the head as it was at first: there may be no memory later */
};

/* ---- datparts.c: from the buffer to the parts ------------------------------- */

/*
 * Find out how much room the head takes, by what it is now. The least that most
 * has to be: that, and a page of each processor. 0: out of memory, said.
 */
uint64_t dat_parts_reserve(struct dat_parts *);

/* Open the buffers of the instance, for which there are no parts yet. -1 said. */
int dat_parts_open(struct dat_parts *);

/* Begin anew, with room for most: no processor has a part. The old are the caller's. -1 said. */
int dat_parts_begin(struct dat_parts *);

/*
 * The full pages of one processor, at most so many. Returns how many, -1 said:
 * they cannot be read. Sets full when there is room for no more.
 */
ssize_t dat_parts_take(struct dat_parts *, unsigned cpu, size_t most);

/* What of its last page is written, as a page. Bytes read, 0 none; else as above. */
ssize_t dat_parts_rest(struct dat_parts *, unsigned cpu);

/*
 * Full pages of those that are ready, by polls, or of all, one after the other. How
 * many pages; -1 said. One that has no buffer is polled no more.
 */
ssize_t dat_parts_collect(struct dat_parts *, int everything);

/* Poll all again: those that had no buffer may have one now. */
void dat_parts_watch(struct dat_parts *);

/* How long a head may be: what is reserved, and the formats that came since. */
uint64_t dat_parts_head_room(const struct dat_parts *);

/* So many bytes, up to a whole page. */
uint64_t dat_parts_round_up(const struct dat_parts *, uint64_t n);

/* ---- datjoin.c: from the parts to a file ------------------------------------- */

/* Hold the room that dat_parts_join takes, while there is some. -1 said. */
int dat_parts_hold(struct dat_parts *);

/*
 * Make a file of the parts, and put it in its place; then there are none, and no
 * room is held. With more, another is to follow: while this is made the buffers
 * go on being read, into new parts. -1 said: it is not there, its events are cut.
 */
int dat_parts_join(struct dat_parts *, int more);

#endif
