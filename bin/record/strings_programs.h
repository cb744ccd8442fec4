/* SPDX-License-Identifier: ISC */
/* strings_programs.h - the BPF programs of tfs-strings */
#ifndef STRINGS_PROGRAMS_H
#define STRINGS_PROGRAMS_H

#include "bpf/bpf.h"

/* ---- strings_programs.c: programs that print the strings of system calls ----------------- */

enum { STRINGS_WORDS_MAX = 32 };

struct strings_plan {
	int root;               /* the tracefs root */
	char id[16];            /* each record begins with it, and programs have it as name */
	int failed;             /* opens: only those that fail; execs: also those that fail */
	unsigned words;         /* the most words of a program, 1 to STRINGS_WORDS_MAX */
	unsigned data;          /* calls: the most bytes of a buffer; 0: no buffer is read */
	int no_args, env;       /* calls: not the arguments of execs; their environment, too */
	char *const *names;     /* calls: only these, up to NULL; none: all */
	int tasks;              /* calls: the instance whose pid filter says which tasks; 0: all */
	size_t n;               /* number of fds */
	int fds[16];            /* descriptors that keep the programs attached */
	/* private */
	int buffer;
	int notes, longs;       /* paths of calls that have begun */
	unsigned piece;
	unsigned numbers;       /* the most numbers in a record */
	unsigned word;          /* bytes of the kernel's long */
};

/*
 * The programs print records in the event bpf_trace:bpf_trace_printk, in the task's own
 * context. A record is the id, a space, a tag, and what the tag says. CALL
 * is the name of a system call, and the last word of a record may contain spaces:
 *
 *	=CALL FLAGS RET PATH    a call has returned; FLAGS is hexadecimal
 *	+CALL FLAGS RET PART    the same, with the first part of the path
 *	!CALL FLAGS RET         the same; the path is not in memory
 *	?CALL RET               the same; nothing is known of its beginning
 *	#ARGC N                 a program was executed: N strings follow, the file and words
 *	&PART                   a part of a string, and more follow
 *	.PART                   the last part of a string
 *	x                       the string is not in memory, from here on
 *	~                       the strings are too long: no more of them follow
 */

/* Make what all programs use. Return 0, or -1, reported. */
int strings_prepare(struct strings_plan *);

/*
 * Attach programs to the system calls that open files, or that execute programs, and set
 * fds. Return 0, or -1, reported. The caller closes fds in both cases.
 */
int strings_attach_opens(struct strings_plan *);
int strings_attach_execs(struct strings_plan *);

/* ---- memory_programs.c: programs that print the user memory of system calls -------------- */

/*
 * Attach programs that print the user memory of system calls, as lib/syscalls/syscalls.h describes
 * their records, and set fds. Return 0, or -1, reported. The caller closes fds in both cases.
 */
int strings_attach_calls(struct strings_plan *);

/* ---- strings_programs.c: what the programs share ------------------------------------------ */

/*
 * Most bytes of a string in a record. Before Linux 5.13 the kernel prints at most 63 bytes of each
 * string. Since then all strings and numbers of a record share 512 bytes.
 */
enum { PIECE_OLD = 63, PIECE_NEW = 448 };

/* Size of the value of the map strings_plan.buffer, which has two for each CPU. */
enum { STRINGS_BUFFER = 1216 };

/* Make a map whose name begins with the plan's id. Return a descriptor, or -1, reported. */
int strings_map(const struct strings_plan *, enum bpf_map_type, const char *name, unsigned key,
		unsigned value, unsigned entries);

/* Return the width of the kernel's long. */
enum bpf_size strings_word_size(const struct strings_plan *);

/* Copy size bytes at from + offset to the slot on the stack. R0 is 0, or an error. */
void strings_read(struct bpf_code *, enum bpf_helper, int at, unsigned size, enum bpf_reg from,
		  int offset);

/*
 * Copy a piece of the string at R8 to R7 + at. R0 is its length with its NUL, 0 for an empty string
 * in Linux 5.10, or a negative error.
 */
void strings_read_piece(struct bpf_code *, const struct strings_plan *, enum bpf_helper, int at);

/* Return the most pieces of a path. */
int strings_pieces(const struct strings_plan *);

/*
 * Load the code and attach it to an event, such as syscalls/sys_exit_open, or to a raw
 * tracepoint. Add the descriptor to the plan. Return 0, or -1, reported.
 */
int strings_attach(struct strings_plan *, struct bpf_code *, const char *event, int raw);

/* Offsets in the kernel's struct linux_binprm and struct task_struct */
struct strings_offsets {
	int stack, argc, file;
	int other_stack;        /* where the stack is in other kernels; 0: it is known */
	int status;             /* thread_info.status, on x86 */
};

/* Find the offsets in the kernel's BTF, or use those since Linux 5.10 if it has none. */
void strings_find_offsets(const struct strings_plan *, struct strings_offsets *);

#endif
