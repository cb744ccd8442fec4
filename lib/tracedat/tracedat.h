/* SPDX-License-Identifier: ISC */
/*
 * tracedat.h - write and read trace.dat, a file with the raw sub-buffers of a trace
 *
 * trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5) describe the format. The head comes first: the
 * kernel's layout of a sub-buffer, formats of events, names of tasks, options, and a table
 * with the place of each CPU's sub-buffers. The sub-buffers of a CPU follow each other in the
 * file. Numbers have the byte order of the kernel that recorded. The format calls a sub-buffer
 * a page.
 *
 * A file is written in three steps: struct dat_head collects the head, struct dat_parts
 * collects the sub-buffers of each CPU in a part (an unlinked file), and dat_parts_join makes
 * one file of them. struct dat reads a file.
 *
 * This layer includes base and event. Its .c files also include tracefs and live.
 */
#ifndef TRACEDAT_H
#define TRACEDAT_H

#include <poll.h>

#include "base/base.h"
#include "event/event.h"

/* Ids of options. In version 7, option 3 and those from 16 on describe sections. */
enum dat_option {
	DAT_DONE = 0,
	DAT_DATE = 1,           /* text, NUL: hexadecimal microseconds to add to all times */
	/*
	 * text, NUL: "CPU: N\n" and its stats; "\nBuffer: NAME\n": of this instance are those
	 * that follow; and only from tfs-record "not written: N\n"
	 */
	DAT_CPUSTAT = 2,
	DAT_BUFFER = 3,
	DAT_TRACECLOCK = 4,     /* empty: the clock is behind the table */
	DAT_UNAME = 5,          /* text, NUL: system, name, release, machine */
	DAT_CPUCOUNT = 8,
	DAT_HEADER_INFO = 16,
	DAT_FTRACE_EVENTS = 17,
	DAT_EVENT_FORMATS = 18,
	DAT_KALLSYMS = 19,
	DAT_PRINTK = 20,
	DAT_CMDLINES = 21,
};

struct dat;

/* ---- head.c: write the head of a file, from a tracefs ------------------------------ */

/* The format of one event, as the kernel gives it. */
struct dat_format {
	char *system, *event;   /* one allocation: system */
	char *text;
	size_t len;
};

/* The contents of a head. Zero it; set dir and root. */
struct dat_head {
	int dir, root;          /* an instance, and the tracefs root; owned by the caller */
	struct subbuf_format layout;
	unsigned cpus;          /* highest CPU number in per_cpu, plus 1 */
	struct dat_format *formats;
	size_t nformats, bytes; /* their number, and their bytes in a head */
	char *enabled;          /* set_event when it was last read */
	int symbols;            /* the trace has addresses of code */
	struct comms comms;
	char *clock;            /* text of trace_clock */
	int failed;             /* memory ran out: formats are missing */
	unsigned long long unwritten; /* set by the caller: events that are not in the file */
	unsigned only;          /* set by the caller: give the stats of CPU only - 1; 0: of all */
	/* set by the caller: write the offset of the time of day to the clock, in microseconds */
	int dated;
	int64_t offset;
	const struct dat *from; /* a saved head, which replaces files of the kernel; NULL: none */
};

/*
 * Read what does not change: layout, number of CPUs, formats of the system ftrace. Return 0,
 * or -1, reported.
 */
int dat_begin(struct dat_head *);

/*
 * Read the same, the formats of all events, the names, the clock and the date from a file, which
 * has to live as long as the head. Then dat_head needs only the stats of the instance at dir.
 * Return 0, or -1, reported.
 */
int dat_begin_from(struct dat_head *, const struct dat *);

/*
 * Read what changed since the last call: enabled events and names of tasks. With all, also
 * read the clock and the names of living tasks. Return how many names were not known. Set
 * failed if a format is missing, else clear it.
 */
size_t dat_look(struct dat_head *, int all);

/* Forget the names. */
void dat_forget(struct dat_head *);

/*
 * Write the head up to its table into out, at most `most` bytes with room for the table; drop
 * symbols and names to fit. Return 0, or -1 without a message if the rest does not fit or
 * memory ran out (out->failed).
 */
int dat_head(const struct dat_head *, struct bytes *out, size_t most);

/* Return the size of the table and the clock behind it. */
size_t dat_table_size(const struct dat_head *);

/* Write the table, with offset and size of each CPU's sub-buffers, and the clock. */
void dat_table(const struct dat_head *, struct bytes *out, const uint64_t *offset,
	       const uint64_t *size);

/* ---- read.c: read a file of version 6 or 7 ------------------------------------------- */

/* A range of the file; always inside of the file. */
struct dat_extent {
	uint64_t at, n;
};

/* The sub-buffers of one CPU; n is a multiple of their size. */
struct dat_cpu {
	unsigned cpu;
	struct dat_extent subbufs;
	uint64_t lost;          /* events that its ring buffer dropped; 0 unless counted */
};

/* The ring buffer of one instance. The first buffer of a version 6 file has no name. */
struct dat_buffer {
	char name[64];          /* a longer name is cut */
	char clock[32];         /* "local"; "": not known */
	size_t subbuf_size;     /* bytes of a sub-buffer of this instance */
	struct dat_cpu *cpus;   /* in version 6 all CPUs, in 7 those with sub-buffers */
	size_t ncpus;
	size_t nfull;           /* CPUs with sub-buffers */
	/*
	 * counted: the file has the stats of the ring buffer (DAT_CPUSTAT). Its sub-buffers only
	 * mark where events are missing. Recorded and lost events add up to all events since the
	 * ring buffer was made.
	 */
	int counted;
	uint64_t lost;          /* events that the ring buffers of all CPUs dropped */
	uint64_t unwritten;     /* further events that tfs-record did not write */
};

struct dat {
	const char *path;       /* owned by the caller */
	int fd;
	uint64_t size;          /* of the file */
	unsigned version;       /* 6 or 7 */
	struct subbuf_format layout;
	unsigned cpus;          /* of the machine; 0: not known */
	uint64_t cut;           /* 0, or 1 + the first CPU whose sub-buffers end too early */
	char release[64];       /* of the kernel, as in uname; "": not known */
	char machine[16];       /* of the host, as in uname; "": not known */
	struct dat_extent uname; /* system, host, release and machine, with a NUL */
	int dated;              /* the file has the offset of the time of day to its clock */
	int64_t offset;         /* in microseconds */
	struct dat_extent header_page, header_event;
	struct dat_extent ftrace, events; /* formats, see dat_formats */
	struct dat_extent kallsyms, printk, cmdlines;
	struct dat_buffer *buffers;
	size_t nbuffers;
	uint64_t subbuf_bytes;  /* bytes of all sub-buffers, at most size */
};

/*
 * Open the file, and read nothing: the caller may drop its privileges before dat_read_head. d is
 * overwritten. Return 0, or -1, reported. After -1, d needs no dat_close.
 */
int dat_file(struct dat *d, const char *path);

/*
 * Read the head and the table of the open file. Each extent is checked against the size of the
 * file. If the file ends in its sub-buffers, keep those that are there, set cut and print a
 * message. Return 0, or -1 after a message of one line: it is not a trace.dat, it is damaged,
 * compressed or of another version. After -1, d needs no dat_close.
 */
int dat_read_head(struct dat *d);
void dat_close(struct dat *d);

/*
 * Call fn with the format of each event: its system ("ftrace" first) and the n bytes of text,
 * NUL-terminated and valid during the call. Stop when fn returns another value than 0, and
 * return that value. Return -1, reported, if the file is damaged or cannot be read.
 */
int dat_formats(const struct dat *d,
		int (*fn)(void *, const char *system, const char *text, size_t n), void *arg);

/* Add the names of the tasks. Return 0, or -1, reported. */
int dat_comms(const struct dat *d, struct comms *);

/*
 * Set what the file says of its kernel: byte order, size of a long and version. Add its formats,
 * its names of tasks and its printk_formats. The other fields stay as the caller has set them.
 * Return 0, or -1, reported.
 */
int dat_events(const struct dat *d, struct event_set *);

/* An iterator over the sub-buffers of one CPU. */
struct dat_subbufs {
	const struct dat *dat;
	size_t subbuf_size;     /* bytes of a sub-buffer */
	size_t most;            /* bytes that are read at a time, a multiple of subbuf_size */
	struct dat_extent left; /* in the file, behind the bytes in text */
	char *text;
	size_t at, n;           /* offset in text, bytes in text */
	int failed;             /* a read failed; the message has been printed */
};

/* Begin; dat and the CPU's extent must live as long as the iterator. */
void dat_subbufs_begin(struct dat_subbufs *, const struct dat *, const struct dat_buffer *,
		       const struct dat_cpu *);
/* Return the next sub-buffer, valid until the next call; NULL at the end or if failed is set. */
const void *dat_subbufs_next(struct dat_subbufs *);
void dat_subbufs_end(struct dat_subbufs *);

/* ---- cursor.c: read bytes of a file --------------------------------------------------- */

/* Return the bytes of an extent, NUL-terminated; free() them. Return NULL, reported. */
char *dat_text(const struct dat *d, struct dat_extent);

/* ---- parts.c: read the ring buffers into a part per CPU -------------------------------- */

/*
 * The format wants the sub-buffers of a CPU side by side, but their number is not known
 * before the end. So each CPU has an unlinked file of its own, its part, with room for the
 * head in front. At the end the largest part gets the head, the sub-buffers of the other parts
 * and a name.
 */
struct dat_part {
	int fd;                 /* -1: none yet */
	uint64_t size;          /* bytes of sub-buffers, which begin at dat_parts.reserve */
};

/* Zero it; set place, head and most. */
struct dat_parts {
	const struct atomic_file *place; /* owned by the caller */
	struct dat_head *head;  /* owned by the caller, after dat_begin */
	uint64_t most;          /* limit of a file in bytes; 0: none */
	int full;               /* 1: most is reached; REFUSED: a write failed, after a message */
	unsigned long long cut; /* events that were read and are in no file */
	size_t holds;           /* about how many sub-buffers a ring buffer has */
	int ballast;            /* a file that keeps the disk space that dat_parts_join needs */
	struct pollfd *polls;   /* one per CPU, and one more for the caller */

	/* private */
	uint64_t reserve;       /* bytes for the head in each part */
	size_t formats;         /* head->bytes when reserve was computed */
	struct dat_part *part;  /* one per CPU */
	uint64_t size;          /* bytes of sub-buffers in all parts */
	int *raw;               /* trace_pipe_raw of each CPU, -1: ended */
	int pipe[2];
	size_t pipe_room;       /* sub-buffers that the pipe holds */
	char *subbuf;           /* room for one sub-buffer */
	uint64_t *table;        /* offset of each CPU's sub-buffers, then size of each */
	struct bytes first;     /* the first head: later there may be no memory for another */
};

/*
 * Compute the room for the head from its present contents. Return the least possible value of
 * most: the head and one sub-buffer per CPU. Return 0 after a message if memory ran out.
 */
uint64_t dat_parts_reserve(struct dat_parts *);

/* Open the ring buffers of the instance. Return 0, or -1, reported. */
int dat_parts_open(struct dat_parts *);

/*
 * Begin a new file: no CPU has a part, and nothing is full. The caller keeps the old parts.
 * Return 0, or -1, reported.
 */
int dat_parts_begin(struct dat_parts *);

/*
 * Move full sub-buffers of one CPU to its part, about `most` of them. Set full if there is no
 * room for more. Return how many, or -1, reported, if they cannot be read.
 */
ssize_t dat_parts_take(struct dat_parts *, unsigned cpu, size_t most);

/*
 * Write the sub-buffer that the CPU has not filled yet, as a full one. Return the bytes that
 * were read, 0 if there are none, or -1, reported.
 */
ssize_t dat_parts_rest(struct dat_parts *, unsigned cpu);

/*
 * If everything is set, move the full sub-buffers of all CPUs, else of the CPUs that are ready
 * in polls. Stop polling a CPU that has no ring buffer. Return how many, or -1, reported.
 */
ssize_t dat_parts_collect(struct dat_parts *, int everything);

/* Poll all CPUs again: a CPU without a ring buffer may have one now. */
void dat_parts_watch(struct dat_parts *);

/* Return the maximum size of a head: reserve, and the formats that were added since. */
uint64_t dat_parts_head_room(const struct dat_parts *);

/* Return n rounded up to a multiple of the sub-buffer size. */
uint64_t dat_parts_round_up(const struct dat_parts *, uint64_t n);

/* ---- join.c: make one file of the parts --------------------------------------------------- */

/*
 * Reserve the disk space that dat_parts_join needs, while there is some. Return 0, or -1,
 * reported.
 */
int dat_parts_hold(struct dat_parts *);

/*
 * Make a file of the parts and put it in its place. Afterwards there are no parts, and no space
 * is reserved. With more, begin new parts for the next file, and read the ring buffers into
 * them in the meantime. Return 0, or -1, reported: there is no file, and its events are
 * counted in cut.
 */
int dat_parts_join(struct dat_parts *, int more);

#endif
