/* SPDX-License-Identifier: ISC */
/* decode.h - private: the calls of tasks while they are decoded (decode.c) */
#ifndef DECODE_H
#define DECODE_H

#include "calls/calls.h"

enum {
	HELD_MOST = 16 * 1024 * 1024,   /* bytes of user memory of all tasks */
	HEAD = 16,                      /* bytes of a record with its common fields */
};

/* The kinds of events. From MEMORY on they only help to decode; the last five are ours. */
enum decode_kind {
	OTHER = KIND_OTHER, NEWTASK, EXEC, END, REQUEST, RING, MEMORY, ENTER, EXIT, PROBE, BEGUN,
	CALLED, PART, FILED, TOLD
};

struct decode_event {
	struct event_seen seen;
	const char *call;       /* ENTER, EXIT: the name of the call; NULL: one event for all */
	int entries;            /* EXIT, CALLED: the trace knows entries, too */
	unsigned nargs;
	const struct field *user[CALL_ARGS]; /* user memory that the kernel has copied */
};

/* tfs-strings marks an event of 32-bit code directly before it, with the record K or k. */
enum mark { MARK_NONE, MARK_ENTRY, MARK_RETURN };

/* The call of a task. */
struct decode_task {
	struct pairing_task pair;       /* by pid */
	struct decoded c;
	uint8_t shown;                  /* the beginning of the call is selected */
	uint8_t own;                    /* a record of ours began the call */
	uint8_t lacking;                /* user memory is missing: print addresses */
	uint8_t compat;                 /* the call is one of 32-bit code */
	uint8_t marked;                 /* the next event is one of 32-bit code: enum mark */
	uint32_t mark;                  /* the number of losses when the mark came */
	uint8_t filled;                 /* its user memory may have bytes */
	uint8_t early;                  /* its user memory is that of the call that begins next */
	uint8_t torn;                   /* a part of the memory of the next record is missing */
	uint8_t nhead;
	unsigned char head[HEAD];
	uint32_t memory;                /* the number of losses when its user memory began */
	uint64_t executed;              /* when the call that goes on executed a program, or 0 */
	uint64_t foretold;              /* when a call did whose record is to come; 0: none */
	struct call_user *user;         /* NULL: none */
	struct strbuf parts;            /* the beginning of the memory of the next record */
	uint32_t parted;                /* losses when the last part came */
};

/* ---- decode.c: the tasks and their calls ---- */

struct decode_task *decode_find(struct decode *, int32_t pid);

/* Return the task; make it if it is not known, and make room for that. */
struct decode_task *decode_task_at(struct decode *, int32_t pid);

/* Return the group of a task (noted.c). */
int decode_group(struct decode *, struct decode_task *);

/* End the call of a task that is not known to return. */
void decode_unfinished(struct decode *, struct decode_task *);

/* ---- decode_memory.c: the user memory of their calls ---- */

/* Forget the user memory of a call, and keep its room only if there is enough. */
void memory_drop(struct decode *, struct decode_task *);

/* Forget all memory of a task. */
void memory_free(struct decode *, struct decode_task *);

/* Return the user memory of a task; NULL if there is too much, and the call lacks it. */
struct call_user *memory_of(struct decode *, struct decode_task *);

/* Use the user memory of the call, if all of it came, and find the files of its arguments. */
void memory_use(struct decode *, struct decode_task *);

/* Take the user memory that the kernel has copied into the record. */
void memory_copies(struct decode *, struct decode_task *, const struct decode_event *,
		   const struct record *);

/* Return the number of size bytes at an offset of a record of our own. */
uint64_t own_number(const struct decode *, const struct record *, size_t at, unsigned size);
#define OWN(MEMBER) own_number(d, r, offsetof(struct call_record, MEMBER), \
			       (unsigned)sizeof(((struct call_record *)0)->MEMBER))

/* Keep a part of the memory of the next record of the task. */
void memory_part(struct decode *, const struct decode_event *, const struct record *);

/* Add the memory of a record, after its parts. */
void memory_record(struct decode *, struct decode_task *, const struct record *);

/* Take the strings of a probe inside of a call. */
void memory_probe(struct decode *, const struct event *, const struct record *);

/* Take a record of earlier versions. Return 1, or 0 if tfs-strings did not write the record. */
int memory_older(struct decode *, const struct decode_event *, const struct record *);

/* A program is executed: use its path from the kernel if the path of the call was not recorded. */
void memory_program(struct decode *, struct decode_task *, const struct decode_event *,
		    const struct record *);

/* ---- decode_files.c: the files of their calls ---- */

/* Print the file of a descriptor in a structure of the last task's call (call_values.print_fd). */
size_t decode_print_fd(void *decode, int fd, char *buf, size_t size);

/* Know a file, to which later records refer. */
void decode_file(struct decode *, const struct decode_event *, const struct record *);

/* Is a file of the call wanted, by a descriptor, its result, or a path? */
int decode_wanted(struct decode *, const struct decoded *);

/* Find the files of a call that has returned. Return 1, or 0 if --files and --path leave it out. */
int decode_files(struct decode *, struct decoded *, struct decoded_files *);

/* ---- decode_select.c: which calls are shown ---- */

/* Do the options select a call that does not return? */
int decode_picks_endless(struct decode *, const struct decoded *);

/* Do the options select the call that has returned? */
int decode_picks(struct decode *, const struct decoded *);

/* Do the globs of events select the call of a record? The record stands for entry and return. */
int decode_picks_name(const struct decode *, const struct decode_event *, const struct decoded *);

#endif
