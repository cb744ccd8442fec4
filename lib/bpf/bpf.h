/* SPDX-License-Identifier: ISC */
/*
 * bpf.h - PURPOSE of bpf
 */
#ifndef BPF_H
#define BPF_H

#include <stddef.h>
#include <stdint.h>

/*
 * bpf.h - programs for the kernel's BPF machine, without a library
 *
 * The numbers are the kernel's (include/uapi/linux/bpf.h, Documentation/bpf);
 * they are written here since not every libc brings that header, and none one
 * that is new enough for TCX.
 */

/* ---- bpf.c: bpf(2) ------------------------------------------------------------ */

enum bpf_map_type { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6, MAP_LRU_HASH = 9,
		MAP_LPM_TRIE = 11 };

enum bpf_program_type { PROGRAM_KPROBE = 2, PROGRAM_SCHED_CLS = 3, PROGRAM_CGROUP_SKB = 8,
		    PROGRAM_RAW_TRACEPOINT = 17, PROGRAM_TRACING = 26 };

enum bpf_attach_type { ATTACH_CGROUP_INGRESS = 0, ATTACH_FENTRY = 24, ATTACH_PERF_EVENT = 41,
		   ATTACH_TCX_EGRESS = 47 };

/* All return a descriptor, or 0, or -1 and errno, silent. */
int bpf_map(enum bpf_map_type, const char *name, unsigned key, unsigned value, unsigned entries);
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
int bpf_link(int program, int target, enum bpf_attach_type);

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
enum bpf_reg { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, FP };

/* How many bytes; as the instruction has it. */
enum bpf_size { SIZE_W = 0x00, SIZE_H = 0x08, SIZE_B = 0x10, SIZE_DW = 0x18 };

enum bpf_alu { ALU_ADD = 0x00, ALU_SUB = 0x10, ALU_OR = 0x40, ALU_AND = 0x50, ALU_LSH = 0x60,
		  ALU_RSH = 0x70, ALU_MOV = 0xb0, ALU_ARSH = 0xc0 };

enum bpf_jump { JEQ = 0x10, JGT = 0x20, JSET = 0x40, JNE = 0x50, JSGT = 0x60,
		 JSLT = 0xc0, JSLE = 0xd0, JSGE = 0x70 };

enum bpf_helper { FN_MAP_LOOKUP_ELEM = 1, FN_MAP_UPDATE_ELEM = 2, FN_MAP_DELETE_ELEM = 3, FN_TRACE_PRINTK = 6,
	      FN_SKB_STORE_BYTES = 9, FN_L4_CSUM_REPLACE = 11, FN_GET_CURRENT_PID_TGID = 14, FN_SKB_LOAD_BYTES = 26,
	      FN_SK_FULLSOCK = 95, FN_TCP_SOCK = 96, FN_PROBE_READ_KERNEL = 113 };

struct bpf_insn {
	uint8_t code, regs;
	int16_t off;
	int32_t imm;
};

enum { CODE_MOST = 512, LABELS_MOST = 32 };

/* A program as it grows; all zero at first. */
struct bpf_code {
	struct bpf_insn v[CODE_MOST];
	uint8_t label[CODE_MOST];       /* of a jump: its label + 1 */
	unsigned n, here[LABELS_MOST];  /* of a label: its instruction + 1 */
};

void emit_load(struct bpf_code *, enum bpf_size, enum bpf_reg to, enum bpf_reg from, int at);
void emit_store(struct bpf_code *, enum bpf_size, enum bpf_reg to, int at, enum bpf_reg from);
void emit_store_imm(struct bpf_code *, enum bpf_size, enum bpf_reg to, int at, int32_t n);
/* to = to OPERATION from; of 64 bits, or of the low 32, which clears the high */
void emit_alu(struct bpf_code *, enum bpf_alu, enum bpf_reg to, enum bpf_reg from);
void emit_alu32(struct bpf_code *, enum bpf_alu, enum bpf_reg to, enum bpf_reg from);
void emit_alu_imm(struct bpf_code *, enum bpf_alu, enum bpf_reg to, int32_t n);
void emit_alu32_imm(struct bpf_code *, enum bpf_alu, enum bpf_reg to, int32_t n);
/* From network order, 16 or 32 bits. */
void emit_from_be(struct bpf_code *, enum bpf_reg, int bits);
/* *(u64 *)(to + at) += from, whoever else does */
void emit_atomic_add(struct bpf_code *, enum bpf_reg to, int at, enum bpf_reg from);
/*
 * *(u64 *)(to + at) = from, if it is R0; R0 = what it was; nobody comes in between
 * (Linux 5.12)
 */
void emit_cmpxchg(struct bpf_code *, enum bpf_reg to, int at, enum bpf_reg from);
void emit_load_map(struct bpf_code *, enum bpf_reg to, int map);
void emit_load_imm64(struct bpf_code *, enum bpf_reg to, uint64_t n);
void emit_jump(struct bpf_code *, int label);
/* to the label if a CONDITION b; the 32 forms look at the low half, signed */
void emit_jump_if(struct bpf_code *, enum bpf_reg a, enum bpf_jump, enum bpf_reg b, int label);
void emit_jump_if_imm(struct bpf_code *, enum bpf_reg a, enum bpf_jump, int32_t b, int label);
void emit_jump32_if_imm(struct bpf_code *, enum bpf_reg a, enum bpf_jump, int32_t b, int label);
void emit_label(struct bpf_code *, int label);
void emit_call(struct bpf_code *, enum bpf_helper);
/* R0 = n; the end */
void emit_exit(struct bpf_code *, int32_t n);

/* Give the jumps their distances: last of all. */
void emit_resolve(struct bpf_code *);

/* What a program is loaded as. */
struct bpf_load_as {
	enum bpf_program_type kind;
	enum bpf_attach_type attach;
	uint32_t function;              /* fentry: btf_function's */
};

/*
 * Give the program to the kernel, under that name (bpf.c). A descriptor; -1 and
 * errno with what the verifier said last in why, silent.
 */
int bpf_load(struct bpf_code *, const char *name, const struct bpf_load_as *, char *why, size_t size);

/*
 * netlink.h - queueing disciplines and filters of devices, by rtnetlink(7)
 *
 * The numbers are the kernel's (include/uapi/linux/rtnetlink.h, pkt_sched.h,
 * pkt_cls.h), written here for libcs without those headers.
 */

/*
 * A program at a device's egress by the queueing discipline clsact, for kernels
 * without TCX, in the network namespace of the caller. All return 0 or -errno,
 * silent; tc_has_clsact and tc_filters 1 for yes and the number of filters.
 */
int tc_has_clsact(unsigned device);
int tc_add_clsact(unsigned device);
int tc_remove_clsact(unsigned device);
/* Filters of the device's clsact, either way. */
int tc_filters(unsigned device);
int tc_add_program(unsigned device, unsigned priority, uint32_t handle, int program,
		   const char *name);
int tc_remove_program(unsigned device, unsigned priority, uint32_t handle);

#endif
