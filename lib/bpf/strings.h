/* SPDX-License-Identifier: ISC */
/* strings.h - what the programs of strings.c and memory.c share */
#ifndef BPF_STRINGS_H
#define BPF_STRINGS_H

#include "bpf/bpf.h"

/*
 * Most bytes of a string in a record. Before Linux 5.13 the kernel prints at most 63 bytes of each
 * string. Since then all strings and numbers of a record share 512 bytes.
 */
enum { PIECE_OLD = 63, PIECE_NEW = 448 };

/* Size of the value of the map strings_plan.buffer, which has two for each CPU. */
enum { STRINGS_BUFFER = 1216 };

/* Return the most pieces of a path. */
int strings_pieces(const struct strings_plan *);

/*
 * Load the code and attach it to an event, such as syscalls/sys_exit_open, or to a raw
 * tracepoint. Add the descriptor to the plan. Return 0, or -1, reported.
 */
int strings_attach(struct strings_plan *, struct bpf_code *, const char *event, int raw);

/* Return the offset of the path in the kernel's struct linux_binprm. */
int strings_binprm_file(const struct strings_plan *);

/* Return the offset of thread_info.status in the kernel's struct task_struct, on x86. */
int strings_status(void);

#endif
