/* SPDX-License-Identifier: ISC */
/*
 * bpf.h - programs for the kernel's BPF machine, without a library
 *
 * The numbers are the kernel's (include/uapi/linux/bpf.h, Documentation/bpf);
 * they are written here since not every libc brings that header, and none one
 * that is new enough for TCX.
 */
#ifndef BPF_H
#define BPF_H

#include <stddef.h>
#include <stdint.h>

/* ---- bpf.c: bpf(2) ------------------------------------------------------------ */

enum map_kind { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6, MAP_LRU_HASH = 9,
		MAP_LPM_TRIE = 11 };

enum program_kind { PROGRAM_KPROBE = 2, PROGRAM_SCHED_CLS = 3, PROGRAM_CGROUP_SKB = 8,
		    PROGRAM_RAW_TRACEPOINT = 17, PROGRAM_TRACING = 26 };

enum attach_kind { ATTACH_CGROUP_INGRESS = 0, ATTACH_FENTRY = 24, ATTACH_PERF_EVENT = 41,
		   ATTACH_TCX_EGRESS = 47 };

/* All return a descriptor, or 0, or -1 and errno, silent. */
int bpf_map(enum map_kind, const char *name, unsigned key, unsigned value, unsigned entries);
int bpf_lookup(int map, const void *key, void *value);
int bpf_update(int map, const void *key, const void *value);
int bpf_delete(int map, const void *key);
int bpf_next(int map, const void *key, void *next); /* key NULL: the first */
int bpf_pin(int fd, const char *path);
int bpf_pinned(const char *path);
/* The number that the kernel knows a map or program by; 0: none. */
uint32_t bpf_id(int fd);
int bpf_raw_tracepoint(int program, const char *name); /* NULL: as it was loaded for */
/* target: a cgroup, an event of perf, or the number of a device */
int bpf_link(int program, int target, enum attach_kind);

/* ---- btf.c: what the running kernel's structures look like ------------------------ */

/* The kernel's own description of its types; text NULL: not read. */
struct btf {
	char *text;
	size_t size;
	const char *types, *types_end, *strings;
	size_t nstrings;
};

/* Read /sys/kernel/btf/vmlinux (Documentation/bpf/btf.rst). -1 and errno, silent. */
int btf_read(struct btf *, const char *path);
void btf_free(struct btf *);

/*
 * Where the member is in the structure, in bytes, also in one without a name
 * inside of it. -1: there is none.
 */
int btf_member(const struct btf *, const char *structure, const char *member);

/* The number of a function's type, which fentry names it by. 0: there is none. */
uint32_t btf_function(const struct btf *, const char *name);

/* ---- emit.c: instructions ---------------------------------------------------------- */

/* R1 to R5 are a helper's arguments and lost in a call, R6 to R9 are kept. */
enum reg { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, FP };

/* How many bytes; as the instruction has it. */
enum width { U32 = 0x00, U16 = 0x08, U8 = 0x10, U64 = 0x18 };

enum arithmetic { PLUS = 0x00, MINUS = 0x10, OR_ = 0x40, AND_ = 0x50, LEFT = 0x60,
		  RIGHT = 0x70, SET = 0xb0, RIGHT_SIGNED = 0xc0 };

enum condition { IS = 0x10, ABOVE = 0x20, HAS = 0x40, IS_NOT = 0x50, MORE = 0x60,
		 LESS = 0xc0, AT_MOST = 0xd0, AT_LEAST = 0x70 };

enum helper { MAP_LOOKUP = 1, MAP_UPDATE = 2, MAP_DELETE = 3, TRACE_PRINTK = 6,
	      STORE_BYTES = 9, L4_CSUM_REPLACE = 11, CURRENT_PID_TGID = 14, LOAD_BYTES = 26,
	      SK_FULLSOCK = 95, TCP_SOCK = 96, READ_KERNEL = 113 };

struct insn {
	uint8_t code, regs;
	int16_t off;
	int32_t imm;
};

enum { CODE_MOST = 512, LABELS_MOST = 32 };

/* A program as it grows; all zero at first. */
struct code {
	struct insn v[CODE_MOST];
	uint8_t label[CODE_MOST];       /* of a jump: its label + 1 */
	unsigned n, here[LABELS_MOST];  /* of a label: its instruction + 1 */
};

void load(struct code *, enum width, enum reg to, enum reg from, int at);
void store(struct code *, enum width, enum reg to, int at, enum reg from);
void store_number(struct code *, enum width, enum reg to, int at, int32_t n);
/* to = to OPERATION from; of 64 bits, or of the low 32, which clears the high */
void compute(struct code *, enum arithmetic, enum reg to, enum reg from);
void compute32(struct code *, enum arithmetic, enum reg to, enum reg from);
void compute_number(struct code *, enum arithmetic, enum reg to, int32_t n);
void compute_number32(struct code *, enum arithmetic, enum reg to, int32_t n);
/* From network order, 16 or 32 bits. */
void from_network(struct code *, enum reg, int bits);
/* *(u64 *)(to + at) += from, whoever else does */
void add_to(struct code *, enum reg to, int at, enum reg from);
/*
 * *(u64 *)(to + at) = from, if it is R0; R0 = what it was; nobody comes in between
 * (Linux 5.12)
 */
void exchange(struct code *, enum reg to, int at, enum reg from);
void load_map(struct code *, enum reg to, int map);
void load_number(struct code *, enum reg to, uint64_t n);
void jump(struct code *, int label);
/* to the label if a CONDITION b; the 32 forms look at the low half, signed */
void jump_if(struct code *, enum reg a, enum condition, enum reg b, int label);
void jump_if_number(struct code *, enum reg a, enum condition, int32_t b, int label);
void jump_if_number32(struct code *, enum reg a, enum condition, int32_t b, int label);
void label(struct code *, int label);
void call(struct code *, enum helper);
/* R0 = n; the end */
void leave(struct code *, int32_t n);

/* Give the jumps their distances: last of all. */
void code_resolve(struct code *);

/* What a program is loaded as. */
struct kind {
	enum program_kind kind;
	enum attach_kind attach;
	uint32_t function;              /* fentry: btf_function's */
};

/*
 * Give the program to the kernel, under that name (bpf.c). A descriptor; -1 and
 * errno with what the verifier said last in why, silent.
 */
int code_load(struct code *, const char *name, const struct kind *, char *why, size_t size);

#endif
