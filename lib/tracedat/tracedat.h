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
 */
#ifndef TRACEDAT_H
#define TRACEDAT_H

#include <poll.h>

#include "base/base.h"
#include "tool/tool.h"
#include "event/event.h"

/* Ids of options. In version 7, option 3 and those from 16 on describe sections. */
enum dat_option {
	DAT_DONE = 0,
	DAT_DATE = 1,           /* text, NUL: hexadecimal microseconds to add to all times */
	/*
	 * text, NUL: "CPU: N\n" and its stats; "\nBuffer: NAME\n" before those of an instance;
	 * and only from tfs-record "not written: N\n"
	 */
	DAT_CPUSTAT = 2,
	DAT_BUFFER = 3,
	DAT_TRACECLOCK = 4,     /* empty: the clock is after the table */
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
	/* NULL, or return the number of records of this CPU that its ring had no room for */
	unsigned long long (*ring_lost)(void *arg, unsigned cpu);
	void *arg;
	unsigned only;          /* set by the caller: give the stats of CPU only - 1; 0: of all */
	/* set by the caller: write the offset of the time of day to the clock, in microseconds */
	int dated;
	int64_t offset;
	const struct dat *from; /* a saved head, which replaces files of the kernel; NULL: none */
};

/* Read what does not change: layout, CPUs, formats of ftrace. Return 0, or -1, reported. */
int dat_begin(struct dat_head *);

/*
 * Read all but the stats of the instance from a file, which has to live as long as the head. Return
 * 0, or -1, reported.
 */
int dat_begin_from(struct dat_head *, const struct dat *);

/*
 * Read enabled events and names of tasks again; with all also the clock and the names of living
 * tasks. Return how many names were not known. Set failed if a format is missing, else clear it.
 */
size_t dat_look(struct dat_head *, int all);

/* Forget the names. */
void dat_forget(struct dat_head *);

/*
 * Write the head up to its table into out, at most `most` bytes, with room for the table; drop
 * symbols and names to fit. Return 0, or -1, silent: no room, or no memory (out->failed).
 */
int dat_head(const struct dat_head *, struct bytes *out, size_t most);

/* Add the names of tasks as lines of saved_cmdlines, as many as fit in `most` bytes. */
void dat_names(const struct dat_head *, struct bytes *out, size_t most);

/* Return the size of the table and the clock after it. */
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
	int counted;            /* the file has the stats, so lost is exact (DAT_CPUSTAT) */
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
 * Open the file and read nothing, so that the caller may drop its privileges before dat_read_head.
 * Return 0, or -1, reported: then d needs no dat_close.
 */
int dat_file(struct dat *d, const char *path);

/*
 * Read the head and the table, and check each extent against the size of the file. If the file ends
 * in its sub-buffers, keep those that are there, set cut and print a message. Return 0, or -1,
 * reported: then d needs no dat_close.
 */
int dat_read_head(struct dat *d);
void dat_close(struct dat *d);

/*
 * Call fn with system ("ftrace" first) and text of each format, until it returns another value than
 * 0, and return that; -1, reported, if the file is damaged or cannot be read.
 */
int dat_formats(const struct dat *d,
		int (*fn)(void *, const char *system, const char *text, size_t n), void *arg);

/* Add the names of the tasks. Return 0, or -1, reported. */
int dat_comms(const struct dat *d, struct comms *);

/* Set what the file says of its kernel, formats and names included. Return 0, or -1, reported. */
int dat_events(const struct dat *d, struct event_set *);

/* An iterator over the sub-buffers of one CPU. */
struct dat_subbufs {
	const struct dat *dat;
	size_t subbuf_size;     /* bytes of a sub-buffer */
	size_t most;            /* bytes that are read at a time, a multiple of subbuf_size */
	struct dat_extent left; /* in the file, after the bytes in text */
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

/* ---- ring buffers that survive a crash of the machine ------------------------------------ */

/*
 * Since Linux 6.12 the kernel's command line can place the ring buffer of an instance in memory
 * that the next boot does not clear (Documentation/trace/debugging.rst). After a crash the
 * events are still there, but not what they mean: the formats of events, the names of tasks
 * and the addresses of symbols belong to the boot that has ended. So these are saved to
 * files while the kernel that knows them runs. Terms:
 *
 *	reserved instance  an instance whose ring buffer lies in such memory
 *	saved head         the head of a trace.dat, without sub-buffers
 *	last boot          the boot whose events a reserved instance still has
 */

/* ---- reserved.c: instances in memory that the command line reserved ------------------- */

/* The name that `tfs-persist reserve` proposes: the instance of a session named "boot". */
#define PERSIST_SESSION "boot"
#define PERSIST_INSTANCE INSTANCE_PREFIX PERSIST_SESSION

/* Return whether the instance is reserved: only then it has the file last_boot_info. */
int reserved_is(int instances, const char *name);

/* Return whether nothing records in the instance, as in a backup that newer kernels make of it. */
int reserved_at_rest(int instance);

/* Reset a reserved instance, which cannot be removed: events, filters, buffer. Return 0 or -1. */
int reserved_reset(int instance);

/*
 * Write the kernel parameters that reserve this much memory: on x86 in the middle of a free range
 * of iomem, the text of /proc/iomem. machine is that of uname. Return 0 or -1.
 */
int reserved_words(const char *iomem, const char *machine, unsigned long mb, char *words,
		   size_t size);

/* ---- saved.c: what the events mean, in files -------------------------------------------- */

/* Return the path of the newest trace of a last boot, valid until the next call. */
const char *persist_last_boot(void);

#define LAST_BOOT "last-boot.dat"

/* The files of a directory. Zero it. */
struct persist {
	const char *path;       /* of the directory */
	int dir;
	struct dat_head head;
	struct dat saved;       /* the saved head */
	char formats_path[PATH_MAX], names_path[PATH_MAX], last_path[PATH_MAX];
	struct atomic_file formats, names, last; /* last: the trace.dat of the last boot */
	struct bytes text;      /* the names file as it was written last */
	size_t nformats;        /* of head, when it was written last */
	char boot[40];          /* id of the boot of the saved head; "": not known */
};

/* Make and open the directory, which nobody else may write to. Return 0 or -1. */
int persist_open(struct persist *);

/*
 * Save what the events of the instance mean, so that they can be read after a crash. The
 * descriptors have to stay open for persist_update. Return 0 or -1.
 */
int persist_save_head(struct persist *, int instance, int root);

/* Look again, and write what has changed. Return 0 or -1. */
int persist_update(struct persist *);

/* Forget the saved head, because the recording has ended. */
void persist_forget(const struct persist *);

/* Read the saved head of the last boot. Return 1, 0: none, or it is of this boot, or -1. */
int persist_load(struct persist *);

/* ---- last_boot.c: a trace.dat of the events of the last boot ----------------------------- */

/* The files of last boots to keep: last-boot.dat, last-boot.dat.1 and so on. */
#define LAST_BOOTS 3

/* Why an instance has no events of the last boot. */
enum last_boot_none {
	LAST_BOOT_IN_USE = 1,   /* it records, or events are enabled */
	LAST_BOOT_EMPTY,        /* it has no event at all */
	LAST_BOOT_NO_HEAD,      /* it has events, but nobody has saved what they mean */
	LAST_BOOT_THIS,         /* its events are of this boot */
};

/* The facts about the end of the last boot that could be saved or found. */
struct last_boot {
	enum last_boot_none none; /* after last_boot_save has returned 0 */
	unsigned long long events; /* in the file */
	int64_t end;            /* time of the last event, in microseconds since 1970 */
	char panic[256];        /* the kernel's line about its panic; "": not recorded */
	int64_t panicked;       /* its time, as end */
};

/*
 * Move the events of the last boot out of the instance into a trace.dat with the saved head. Return
 * 1, 0 and the reason in `none`, or -1: then the events are still in the ring buffer.
 */
int last_boot_save(struct persist *, int instance, struct atomic_file *, struct last_boot *);

#endif
