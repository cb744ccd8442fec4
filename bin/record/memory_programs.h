/* SPDX-License-Identifier: ISC */
/* memory_programs.h - the BPF programs of tfs-strings */
#ifndef MEMORY_PROGRAMS_H
#define MEMORY_PROGRAMS_H

#include "bpf/bpf.h"

enum { MEMORY_WORDS_MAX = 32 };

struct memory_plan {
	int root;               /* the tracefs root */
	char id[16];            /* each record begins with it, and programs have it as name */
	unsigned words;         /* the most words of a program, 1 to MEMORY_WORDS_MAX */
	unsigned data;          /* the most bytes of a buffer; 0: no buffer is read */
	int no_args, env;       /* not the arguments of execs; their environment, too */
	int cpu;                /* also the CPU time of processes that end */
	char *const *names;     /* only these calls, up to NULL; none: all */
	int tasks;              /* the instance whose pid filter says which tasks; 0: all */
	size_t n;               /* number of fds */
	int fds[FD_SEND_MAX];   /* descriptors that keep the programs attached */
};

/*
 * Attach programs that print the user memory of system calls, as lib/syscalls/syscalls.h describes
 * their records, and set id and fds. Return 0, or -1, reported. The caller closes fds anyway.
 */
int memory_attach(struct memory_plan *);

/*
 * Load the code and attach it to an event, such as sched/sched_process_fork; or if raw is not 0,
 * to a raw tracepoint. raw is RAW_TRACEPOINT, or the type of the tracepoint as btf_tracepoint
 * returns it: the program can then load the kernel's memory without calls. Add the descriptor to
 * the plan. Return 0, or -1, reported.
 */
enum { RAW_TRACEPOINT = 1 };
int memory_attach_at(struct memory_plan *, struct bpf_code *, const char *event, uint32_t raw);

/*
 * Attach programs that print the CPU time of each process after its end, "ID $ PID NS", if the
 * kernel has its BTF and 64 bits; the id is set. Silent: the time of a process without a record is
 * not known.
 */
void cpu_attach(struct memory_plan *);

/* Return the offset of a field, "NAME;", in the format of an event; 0: there is none. */
int memory_field(const char *format, const char *field);

/*
 * Do as memory_attach, with programs that print what ends a TCP connection, and with accepts, which
 * task accepts one: the records of lib/view/tcp.c.
 */
int tcp_attach(struct memory_plan *, int accepts, int failed);

#endif
