/* SPDX-License-Identifier: ISC */
/* strings.h - the BPF programs of tfs-strings */
#ifndef STRINGS_H
#define STRINGS_H

#include "bpf/bpf.h"
#include "live/live.h"

enum { STRINGS_WORDS_MAX = 32, STRINGS_PROGRAMS = 128 };

/* ---- attach.c: load and attach ------------------------------------------------------------- */

struct plan {
	int root;               /* the tracefs root */
	int instance;           /* the instance that is in use */
	char id[16];            /* programs and maps have it as name */
	unsigned words;         /* the most words of a program, 1 to STRINGS_WORDS_MAX */
	unsigned data;          /* the most bytes of a buffer; 0: no buffer is read */
	int no_args, env;       /* not the arguments of execs; their environment, too */
	int cpu;                /* also the CPU time of processes that end */
	int files;              /* also which files the descriptors are, with BTF */
	int sockets;            /* with files, only calls whose first argument is a socket */
	int roots;              /* and the root directories of tasks, and of file systems */
	int entries;            /* each call has a record when it begins, too */
	int at_return;          /* a call is seen only when it returns */
	char *const *names;     /* only these calls, up to NULL; none: all */
	int listed;             /* only tasks of the instance's pid filter are traced */
	int tasks;              /* the map of tasks; 0: there is none */
	struct channel channel;
	struct bpf_alone alone; /* of all programs that the kernel may skip */
	size_t n;               /* number of fds */
	int fds[STRINGS_PROGRAMS]; /* descriptors that keep the programs attached */
};

/*
 * Load the code and attach it to an event, such as sched/sched_process_fork; or if raw is not 0,
 * to a raw tracepoint. raw is RAW_TRACEPOINT, or the type of the tracepoint as btf_tracepoint
 * returns it: the program can then load the kernel's memory without calls; or it is PROBE_EVENT, if
 * the event is a kprobe or uprobe. Add the descriptor to the plan. Return 0, or -1, reported.
 */
enum { RAW_TRACEPOINT = 1, PROBE_EVENT = 2 };
int plan_attach(struct plan *, struct bpf_code *, const char *event, uint32_t raw);

/* Do so with a probe of the program or library at a path. */
int plan_attach_uprobe(struct plan *, struct bpf_code *, const char *path, uint64_t offset,
		       int at_return);

/* Find what emit_alone needs, if the kernel may skip a program. */
void plan_alone(struct plan *, const struct btf *);

/* Make a map whose name begins with the plan's id. Return a descriptor, or -1, reported. */
int plan_map(const struct plan *, enum bpf_map_type, const char *name, unsigned key,
	     unsigned value, unsigned entries);

/* Make a MAP_ARRAY that this process writes without bpf(2). Return it and set *fd, or NULL. */
void *plan_array(const struct plan *, const char *name, int *fd, unsigned size, unsigned entries);

/* Return the offset of a field, "NAME;", in the format of an event; 0: there is none. */
int format_field(const char *format, const char *field);

/* ---- what tfs-strings attaches --------------------------------------------------------------- */

/*
 * Attach programs that record each system call with its user memory: the records of
 * lib/calls/calls.h. Return 0, or -1, reported. The caller closes fds anyway.
 */
int calls_attach(struct plan *);

/*
 * Return 0 if calls_attach knows the registers of this kernel, or -1, reported. Call this before
 * channel_make: while the clock of an instance is being set, events/header_page cannot be read.
 */
int calls_check(const struct plan *);

/*
 * Do so with programs that record the end of a TCP connection (struct tcp_record); with accepts,
 * also which task accepts one; with failed, only connects that fail at once.
 */
int tcp_attach(struct plan *, int accepts, int failed);

/*
 * Do so with programs that record the user stack after each event that the instance records now,
 * with blocked only after a switch of a task that blocks, not of one that could go on;
 * and, unless binary is NULL, after each probe of this file in the group TFS_GROUP, which must not
 * be enabled yet: of several users of a place, the kernel runs the newest first.
 */
int stacks_attach(struct plan *, const char *binary, int blocked);

#endif
