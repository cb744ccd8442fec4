/* SPDX-License-Identifier: ISC */
/* record.h - what tfs-catpipe and tfs-record add to the libraries */
#ifndef RECORD_H
#define RECORD_H

#include <poll.h>
#include "base/base.h"
#include "tool/tool.h"
#include "proc/proc.h"
#include "elf/elf.h"
#include "event/event.h"
#include "live/live.h"
#include "tracedat/tracedat.h"
#include "show/show.h"

/* ---- parts.c: read the ring buffers into a part per CPU -------------------------------- */

/*
 * The format wants the sub-buffers of a CPU side by side, but their number is not known before the
 * end. So each CPU has a part, an unlinked file with room for the head. At the end the largest part
 * gets the head, the sub-buffers of the other parts and a name.
 */
struct dat_part {
	int fd;                 /* -1: none yet */
	uint64_t size;          /* bytes of sub-buffers, which begin at dat_parts.reserve */
};

/* The caller zeroes the struct, and sets place, head and most. */
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
	struct live live;       /* with rings: all records come from here, in their order */
	struct subbuf_writer *writers; /* one per CPU; NULL: there are no rings */
	int64_t *carried;       /* per CPU: losses that the next record says */
	unsigned long long records; /* that were read with rings */
	int counts;             /* the descriptor of SESSION_COUNTS, or -1 */
};

/* Compute the room for the head. Return the least value of most; 0, reported, without memory. */
uint64_t dat_parts_reserve(struct dat_parts *);

/* Open the ring buffers of the instance. Return 0, or -1, reported. */
int dat_parts_open(struct dat_parts *);

/* Begin a new file; the caller keeps the old parts. Return 0, or -1, reported. */
int dat_parts_begin(struct dat_parts *);

/*
 * Move about `most` full sub-buffers of one CPU to its part. Set full if there is no room for more.
 * Return how many, or -1, reported.
 */
ssize_t dat_parts_take(struct dat_parts *, unsigned cpu, size_t most);

/* Do so with the sub-buffer that is not full yet. Return the bytes that were read, or -1. */
ssize_t dat_parts_rest(struct dat_parts *, unsigned cpu);

/* Do so for all CPUs, or for those that are ready in polls. Return how many, or -1, reported. */
ssize_t dat_parts_collect(struct dat_parts *, int everything);

/* Poll all CPUs again: a CPU without a ring buffer may have one now. */
void dat_parts_watch(struct dat_parts *);

/* Return the maximum size of a head: reserve, and the formats that were added since. */
uint64_t dat_parts_head_room(const struct dat_parts *);

/* Return n rounded up to a multiple of the sub-buffer size. */
uint64_t dat_parts_round_up(const struct dat_parts *, uint64_t n);

/* ---- merged.c: sub-buffers of the records of ring buffers and rings ---------------------- */

/* Open the ring buffers and the rings. Return 0, or -1, reported. */
int dat_merged_open(struct dat_parts *);

/*
 * Write the present records that are old enough for their order to sub-buffers, and the full
 * sub-buffers to the parts. Return how many sub-buffers were read, or -1, reported.
 */
ssize_t dat_merged_take(struct dat_parts *);

/* Do the same until no record is left. Return 0, or -1, reported. */
int dat_merged_rest(struct dat_parts *);

/* Write the open calls, then all sub-buffers, to the parts. Count the records that do not fit. */
void dat_merged_flush(struct dat_parts *);

/* Write one sub-buffer to the end of the part of a CPU, or count its events as cut. */
void dat_parts_store(struct dat_parts *, unsigned cpu, const void *subbuf);

/* ---- join.c: make one file of the parts --------------------------------------------------- */

/* Reserve the disk space that dat_parts_join needs. Return 0, or -1, reported. */
int dat_parts_hold(struct dat_parts *);

/*
 * Make a file of the parts and put it in its place. With more, begin new parts, and read the ring
 * buffers into them in the meantime. Return 0; or -1, reported, with its events counted in cut.
 */
int dat_parts_join(struct dat_parts *, int more);

/* ---- mapped_files.c: the files that traced tasks map, and the programs that they execute - */

/* The beginnings of a record (linux/perf_event.h), whose texts end with a NUL */
struct mapping_head {
	uint32_t type;          /* K_PERF_RECORD_* */
	uint16_t misc, size;
};
struct mapping {
	struct mapping_head head;
	union {
		struct {
			int32_t tgid, pid;
			char name[];
		} comm;
		struct {
			int32_t tgid, parent_tgid, pid, parent_pid;
		} fork;
		struct {
			int32_t tgid, pid;
			uint64_t from, length, offset;
			struct mapped_file {
				uint32_t major, minor;
				uint64_t inode;
			} file;
			uint64_t generation;
			uint32_t prot, flags;
			char path[];
		} map;
	};
};

/*
 * Take the ring buffers that the session has opened, or else open them for the tasks of the
 * instance's pid filter. Silent: if the kernel refuses, it tells nothing.
 */
void mappings_open(int instance);

/*
 * Return the next record, valid until the next call, or NULL if there is none. when: its time in
 * nanoseconds of the clock of perf events.
 */
const struct mapping *mappings_next(uint64_t *when);

/* Return the time of that clock at a time of the trace, or 0 if that is not known. */
uint64_t mappings_time(uint64_t ts);

/* ---- function_names.c: functions of programs, by addresses in the memory of a task ------- */

/*
 * Give each record to programs_record before it is printed, so that it learns which tasks
 * are new or begin another program. Return the record's field parent_ip, the address to
 * which the function of a uprobe returns; 0 if it has none.
 */
uint64_t programs_record(struct line_format *, const struct record *);

/*
 * Print the function at an address of a task, and for a frame of a stack also its file; or
 * FILE:0xOFFSET if the function is unknown. call (0 or 1) says that the address follows a call.
 * Return 1; or print nothing and return 0 if nothing is known. For put_user of struct event_set.
 */
int programs_put(const struct event_set *, struct out *, int pid, uint64_t address, int call,
		 int frame);

/*
 * Append the field caller, the function at parent_ip, to the line of a record, text or JSON,
 * of n bytes in room for size. Return the length of the line.
 */
size_t programs_caller(const struct event_set *, const struct record *, uint64_t parent_ip,
		       char *line, size_t n, size_t size);

/* The file that a task maps at an address */
struct program_place {
	const char *file;       /* its path, with its functions; NULL: nothing is known */
	const struct elf_unwind *tables; /* how to find the callers of its functions; NULL: none */
	uint64_t offset;        /* in the file */
	enum { PLACE_OF_FILE, PLACE_OF_JIT } kind;
	const char *name;       /* of the function, up to an @; NULL: not known */
	uint64_t into;          /* the place in the function */
};

/* Learn what the kernel has told of mappings. ts: of the record for which programs_at is called. */
void programs_learn(uint64_t ts);

/* Find what the task of this name, pid and process maps at an address. */
void programs_at(const char *name, int pid, pid_t tgid, uint64_t address, struct program_place *);

/*
 * Print the function at the place, as programs_put does for a frame. call: 1 if the frame's address
 * is the one after the place. whole 0: without its file.
 */
void programs_function(struct out *, const struct program_place *, int call, int whole);

/* ---- jit_names.c: functions that a just-in-time compiler has made ------------------------ */

/* In a helper, read the functions of the process whose pid the question is, by address. */
void jit_read(const void *tgid, struct stranger_answer *);

/* Take the functions from n bytes of a file, which f keeps, in the order of its lines. */
void jit_parse(char *text, size_t n, struct elf_functions *f);

/* ---- stacks.c: the functions of a user stack --------------------------------------------- */

/* If the rings have user stacks, let their functions be named. Return whether they have. */
int stacks_begin(const struct rings *, int instance);

/* Count a stack that is shown, a struct stack_record. */
void stacks_count(const struct record *);

/* Say how many stacks are whole, and why the others are not. Return the length; 0: no stacks. */
size_t stacks_told(char *text, size_t size);

/* ---- exit_codes.c: the exit codes of tasks on this machine --------------------------------- */

/*
 * The kernel sends the exit code by taskstats (a netlink protocol) before it records the end of
 * the task. So the code of a record is there if the socket is read after the record. Without
 * permission, or without taskstats in the kernel, no code is known.
 */
struct taskstats {
	int fd;                 /* -1: none */
	uint32_t looks, look;   /* of struct live: now, and of the present record */
	unsigned messages;      /* number of messages kept so far */
	struct taskstats_exit {
		int32_t pid;    /* 0: empty */
		uint16_t code;
		uint32_t look;  /* looks when the code was read */
		unsigned next;  /* message of the same slot, by its number; 0: none */
		struct used used;
	} kept[65536];          /* by the number of the message, the last ones */
	struct { unsigned first, last; } slot[65536]; /* by pid: a pid may be used again; 0: none */
};

/*
 * Begin to listen for the tasks on that many CPUs, or take the socket that the session has opened.
 * If it fails, fd is -1.
 */
void taskstats_open(struct taskstats *, unsigned cpus);

/* Read the messages that the kernel has sent. Return whether some were lost. */
int taskstats_read(struct taskstats *);

/*
 * Return the code of a task, or -1 if it is not known, and set *used. Forget this message, and
 * those of earlier tasks with that pid. The caller has set used->age to the age by the trace. For
 * facts.ended.
 */
long taskstats_exit_code(void *taskstats, int pid, struct used *);

/* Forget what was read before the present record was made: it is of earlier tasks with that pid. */
void taskstats_forget_old(void *taskstats, int pid);

/* Return the code of a task that was delivered SIGKILL; wait a moment for its end. */
long taskstats_killed_code(void *taskstats, int pid);

#endif
