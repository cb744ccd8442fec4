/* SPDX-License-Identifier: ISC */
/*
 * bpf.h - programs for the kernel's BPF machine, without a library
 *
 * The layer emits BPF instructions, prints programs as assembly, loads them with bpf(2), and reads
 * the kernel's BTF. Terms:
 *
 *	map, program, link    kernel objects of bpf(2); a process holds them by descriptors
 *	pin                   a name in bpffs that keeps such an object without a process
 *	BTF                   the kernel's description of its own types and functions
 *
 * The numbers are those of linux/bpf.h; t/suite/kernel-constants.bats compares them. Functions
 * are silent, unless their comment says otherwise.
 */
#ifndef BPF_H
#define BPF_H

#include <stddef.h>
#include <stdint.h>

/* ---- emit.c: emit instructions --------------------------------------------------- */

/* A call overwrites R0 to R5; R1 to R5 are its arguments. It keeps R6 to R9. */
enum bpf_reg { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, FP };

/* Width of a memory access: 4, 2, 1 or 8 bytes. */
enum bpf_size { SIZE_W = 0x00, SIZE_H = 0x08, SIZE_B = 0x10, SIZE_DW = 0x18 };

enum bpf_alu { ALU_ADD = 0x00, ALU_SUB = 0x10, ALU_MUL = 0x20, ALU_OR = 0x40,
	       ALU_AND = 0x50, ALU_LSH = 0x60, ALU_RSH = 0x70, ALU_XOR = 0xa0, ALU_MOV = 0xb0,
	       ALU_ARSH = 0xc0 };

enum bpf_jump { JEQ = 0x10, JGT = 0x20, JLE = 0xb0, JSET = 0x40, JNE = 0x50, JSGT = 0x60,
		JSGE = 0x70, JSLT = 0xc0, JSLE = 0xd0 };

#define BPF_HELPERS(X) \
	X(FN_MAP_LOOKUP_ELEM, map_lookup_elem, 1) \
	X(FN_MAP_UPDATE_ELEM, map_update_elem, 2) \
	X(FN_MAP_DELETE_ELEM, map_delete_elem, 3) \
	X(FN_KTIME_GET_NS, ktime_get_ns, 5) \
	X(FN_GET_SMP_PROCESSOR_ID, get_smp_processor_id, 8) \
	X(FN_SKB_STORE_BYTES, skb_store_bytes, 9) \
	X(FN_L4_CSUM_REPLACE, l4_csum_replace, 11) \
	X(FN_GET_CURRENT_PID_TGID, get_current_pid_tgid, 14) \
	X(FN_GET_CURRENT_UID_GID, get_current_uid_gid, 15) \
	X(FN_GET_CURRENT_COMM, get_current_comm, 16) \
	X(FN_SKB_LOAD_BYTES, skb_load_bytes, 26) \
	X(FN_GET_CURRENT_TASK, get_current_task, 35) \
	X(FN_SK_FULLSOCK, sk_fullsock, 95) \
	X(FN_TCP_SOCK, tcp_sock, 96) \
	X(FN_PROBE_READ_USER, probe_read_user, 112) \
	X(FN_PROBE_READ_KERNEL, probe_read_kernel, 113) \
	X(FN_PROBE_READ_USER_STR, probe_read_user_str, 114) \
	X(FN_PROBE_READ_KERNEL_STR, probe_read_kernel_str, 115) \
	X(FN_JIFFIES64, jiffies64, 118) \
	X(FN_RINGBUF_OUTPUT, ringbuf_output, 130) \
	X(FN_GET_CURRENT_TASK_BTF, get_current_task_btf, 158) \
	X(FN_TASK_PT_REGS, task_pt_regs, 175)
#define BPF_HELPER(ID, NAME, NUMBER) ID = (NUMBER),
enum bpf_helper { BPF_HELPERS(BPF_HELPER) };

struct bpf_insn {
	uint8_t code, regs;
	int16_t off;
	int32_t imm;
};

/* A place in memory that assembly calls by its name: the value at reg + at. */
struct bpf_slot {
	const char *name;
	enum bpf_reg reg;
	int at;
};

/*
 * LIST(X) has X(NAME, REG, AT) for each slot of a program. From one list come the constants
 * enum { LIST(BPF_SLOT_AT) } and the table struct bpf_slot[] = { LIST(BPF_SLOT) { 0 } }.
 */
#define BPF_SLOT_AT(NAME, REG, AT) NAME = (AT),
#define BPF_SLOT(NAME, REG, AT) { #NAME, REG, AT },

enum { CODE_MOST = 4096, LABELS_MOST = 256, FUNCTIONS_MOST = 4 };

/* The BTF ids of the kernel's functions that emit_alone needs (Linux 6.14); all 0: not used */
struct bpf_alone {
	uint32_t disable, enable, save, restore;
};

/* A program to which each emit_... function appends. All zero at first. */
struct bpf_code {
	struct bpf_insn v[CODE_MOST];
	const char *to[CODE_MOST];      /* per jump: its label */
	uint16_t in[CODE_MOST];         /* per jump: its scope */
	unsigned n;                     /* more than CODE_MOST: the program is too long */
	struct bpf_label {
		const char *name;
		unsigned scope, at;     /* index of the instruction that it names */
	} labels[LABELS_MOST];
	unsigned nlabels, scope, scopes, outer; /* outer: the scope around this one */
	unsigned functions[FUNCTIONS_MOST], nfunctions; /* the first instruction of each */
	const struct bpf_slot *slots;   /* for bpf_print, up to a slot without a name */
	const struct bpf_alone *alone;  /* NULL: not used */
	int is_alone;
};

/* Begin a program. */
void bpf_begin(struct bpf_code *, const struct bpf_slot *, const struct bpf_alone *);

/*
 * From here to the label out, let no other task run on this CPU, if the program has struct
 * bpf_alone: see btf_alone. Overwrites R0 to R5.
 */
void emit_alone(struct bpf_code *);

/* to = from; to = n */
void emit_mov(struct bpf_code *, enum bpf_reg to, enum bpf_reg from);
void emit_mov_imm(struct bpf_code *, enum bpf_reg to, int32_t n);
/* to = *(from + at); *(to + at) = from; *(to + at) = n */
void emit_load(struct bpf_code *, enum bpf_size, enum bpf_reg to, enum bpf_reg from, int at);
void emit_store(struct bpf_code *, enum bpf_size, enum bpf_reg to, int at, enum bpf_reg from);
void emit_store_imm(struct bpf_code *, enum bpf_size, enum bpf_reg to, int at, int32_t n);
/* *(to + at) = *(from + from_at). Overwrites R1. */
void emit_move(struct bpf_code *, enum bpf_size, enum bpf_reg to, int at, enum bpf_reg from,
	       int from_at);
/* to = to OPERATION from, on 64 bits; the 32 forms use the low half and clear the high one */
void emit_alu(struct bpf_code *, enum bpf_alu, enum bpf_reg to, enum bpf_reg from);
void emit_alu32(struct bpf_code *, enum bpf_alu, enum bpf_reg to, enum bpf_reg from);
void emit_alu_imm(struct bpf_code *, enum bpf_alu, enum bpf_reg to, int32_t n);
/* Convert from network byte order; 16, 32 or 64 bits. */
void emit_from_be(struct bpf_code *, enum bpf_reg, int bits);
/* to = from + at */
void emit_address(struct bpf_code *, enum bpf_reg to, enum bpf_reg from, int at);
/* *(u64 *)(to + at) += from, atomically */
void emit_add(struct bpf_code *, enum bpf_reg to, int at, enum bpf_reg from);
/* Add 1. Overwrites R1. */
void emit_count(struct bpf_code *, enum bpf_reg to, int at);
/* If *(u64 *)(to + at) == R0, set it to from; R0 = the old value; atomically (Linux 5.12) */
void emit_cmpxchg(struct bpf_code *, enum bpf_reg to, int at, enum bpf_reg from);
void emit_load_imm64(struct bpf_code *, enum bpf_reg to, uint64_t n);
/* R1 = the map of this descriptor, R2 = the address of the key at FP + key */
void emit_map(struct bpf_code *, int map, int key);
/* to = the address of the only value of an array */
void emit_value(struct bpf_code *, enum bpf_reg to, int map);
/* R0 = the address of the value for the key at FP + key, or 0 */
void emit_lookup(struct bpf_code *, int map, int key);
/* to = the address of the value; jump to skip if there is none */
void emit_find(struct bpf_code *, int map, int key, enum bpf_reg to, const char *skip);
/* Set the value to that at from + at. R0 is 0 unless the map is full or UPDATE_NEW finds one. */
enum { UPDATE_ANY, UPDATE_NEW };
void emit_update(struct bpf_code *, int map, int key, enum bpf_reg from, int at, int how);
void emit_delete(struct bpf_code *, int map, int key);
/* Copy the text with its NUL to to + at, in whole steps of 8 bytes. Overwrites R1. */
void emit_string(struct bpf_code *, enum bpf_reg to, int at, const char *text);
void emit_call(struct bpf_code *, enum bpf_helper);
/* Copy n bytes at from + at to FP + slot by this helper. R0 is 0, or an error. */
void emit_copy(struct bpf_code *, enum bpf_helper, int slot, int n, enum bpf_reg from, int at);
/*
 * R0 = R1, the address of a structure of this BTF id, whose members can be loaded without calls. A
 * load of memory that is not there gives 0. function: the id of bpf_rdonly_cast (Linux 6.2).
 */
void emit_cast(struct bpf_code *, uint32_t function, uint32_t type);
/*
 * Begin a function, after the end of the program; or call one: then R0 is its result. It has no
 * arguments, and a stack of its own. The verifier checks it once, and not again at each call.
 */
void emit_function(struct bpf_code *, const char *name);
void emit_call_function(struct bpf_code *, const char *name);
/* R0 = n; exit */
void emit_exit(struct bpf_code *, int32_t n);
/*
 * Do as emit_exit at the end of a program, after the label "out", and "exit" for jumps from before
 * emit_alone. Overwrites the top of the stack.
 */
void emit_out(struct bpf_code *, int32_t n);

/* to = reg->MEMBER; reg->MEMBER = from; reg->MEMBER = n; reg has the address of a struct TAG. */
#define BPF_SIZE_OF(TAG, MEMBER) \
	(sizeof(((struct TAG *)0)->MEMBER) == 1 ? SIZE_B : \
	 sizeof(((struct TAG *)0)->MEMBER) == 2 ? SIZE_H : \
	 sizeof(((struct TAG *)0)->MEMBER) == 4 ? SIZE_W : SIZE_DW)
#define emit_get(c, to, reg, TAG, MEMBER) \
	emit_load(c, BPF_SIZE_OF(TAG, MEMBER), to, reg, (int)offsetof(struct TAG, MEMBER))
#define emit_set(c, reg, TAG, MEMBER, from) \
	emit_store(c, BPF_SIZE_OF(TAG, MEMBER), reg, (int)offsetof(struct TAG, MEMBER), from)
#define emit_set_imm(c, reg, TAG, MEMBER, n) \
	emit_store_imm(c, BPF_SIZE_OF(TAG, MEMBER), reg, (int)offsetof(struct TAG, MEMBER), n)

/* Jump if reg->MEMBER CONDITION n. Overwrites R1. */
#define emit_jump_if_member(c, reg, TAG, MEMBER, is, n, to) \
	(emit_get(c, R1, reg, TAG, MEMBER), emit_jump_if_imm(c, R1, is, n, to))

/*
 * Labels are names. emit_label gives the next instruction its name, once in a program. If a
 * program has some code several times, that code puts its labels into a scope: they differ from the
 * labels outside of scopes, and its jumps reach both. A scope ends with emit_scope_end. It may have
 * scopes within, whose jumps do not reach its labels.
 */
void emit_label(struct bpf_code *, const char *name);
void emit_scope(struct bpf_code *);
void emit_scope_end(struct bpf_code *);
void emit_jump(struct bpf_code *, const char *to);
/* Jump if a CONDITION b; the 32 form compares the low halves as signed numbers. */
void emit_jump_if(struct bpf_code *, enum bpf_reg a, enum bpf_jump, enum bpf_reg b, const char *to);
void emit_jump_if_imm(struct bpf_code *, enum bpf_reg a, enum bpf_jump, int32_t b, const char *to);
void emit_jump32_if_imm(struct bpf_code *, enum bpf_reg a, enum bpf_jump, int32_t b,
			const char *to);

/* Jump after some million rounds of a loop, of which the verifier checks few (Linux 6.9). */
void emit_may_goto(struct bpf_code *, const char *to);

/*
 * Fill in the distances of all jumps. Return 0; or -1 with the reason in why, which is a bug,
 * because all programs are in this source tree.
 */
int emit_resolve(struct bpf_code *, char *why, size_t size);
/* Return the label of a jump. */
const struct bpf_label *emit_target(const struct bpf_code *, unsigned jump);

/* ---- asm.c: print programs as assembly --------------------------------------------- */

/*
 * Print to stdout, in LLVM's syntax, a program that emit_resolve has resolved. map_name returns
 * the name of the map of a descriptor.
 */
void bpf_print(const struct bpf_code *, const char *name, const char *(*map_name)(int map));

/* ---- bpf.c: bpf(2): create, pin, load and attach ----------------------------------- */

enum bpf_map_type { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6, MAP_LRU_HASH = 9,
		    MAP_LPM_TRIE = 11, MAP_ARRAY_OF_MAPS = 12, MAP_RINGBUF = 27 };

enum bpf_program_type { PROGRAM_KPROBE = 2, PROGRAM_SCHED_CLS = 3, PROGRAM_TRACEPOINT = 5,
			PROGRAM_CGROUP_SKB = 8, PROGRAM_RAW_TRACEPOINT = 17, PROGRAM_TRACING = 26 };

enum bpf_attach_type { ATTACH_CGROUP_INGRESS = 0, ATTACH_TRACEPOINT = 23, ATTACH_FENTRY = 24,
		       ATTACH_PERF_EVENT = 41, ATTACH_TCX_EGRESS = 47 };

/*
 * From now on, bpf_load prints programs and does not load them. The kernel makes nothing:
 * all other functions do as if they had succeeded.
 */
void bpf_print_only(void);
int bpf_is_printing(void);

/* All return a descriptor or 0, or -1 and errno. */
/* A MAP_ARRAY can be mapped into memory: its values follow each other, 8 bytes aligned. */
int bpf_map(enum bpf_map_type, const char *name, unsigned key, unsigned value, unsigned entries);
/* Make a MAP_ARRAY_OF_MAPS for maps like this one. */
int bpf_map_of_maps(const char *name, int inner, unsigned entries);
int bpf_lookup(int map, const void *key, void *value);
int bpf_update(int map, const void *key, const void *value);
int bpf_delete(int map, const void *key);
/* Write the key after this one to next; key NULL: the first key. */
int bpf_next(int map, const void *key, void *next);
int bpf_pin(int fd, const char *path);
/* Open the object that is pinned at the path. */
int bpf_pinned(const char *path);
/* Attach a program and return its link. name NULL: it was loaded for a BTF id. */
int bpf_raw_tracepoint(int program, const char *name);
/* Attach a program to a cgroup, a perf event, or the device with this index. */
int bpf_link(int program, int target, enum bpf_attach_type);
/* Detach the program now. The kernel detaches it some time after the last pin is removed. */
int bpf_link_detach(int link);
/*
 * Attach a program to the event of tracefs with this id (its file id). The descriptor that
 * is returned keeps the program attached.
 */
int bpf_tracepoint(int program, unsigned long id);
/* Do so with the code at this offset of a file, or with the return of the function there. */
int bpf_uprobe(int program, const char *path, uint64_t offset, int at_return);

/* Return the kernel's id of a map or program; 0: none. */
uint32_t bpf_id(int fd);

/* Return the number of entries of a map, or of bytes of a ring; 0: fd is no map. */
unsigned bpf_map_entries(int fd);

/* The type of a program that is loaded. */
struct bpf_load_as {
	enum bpf_program_type kind;
	enum bpf_attach_type attach;
	uint32_t function;              /* as btf_function or btf_tracepoint returns it */
	const char *where;              /* its purpose, for bpf_print; NULL: its name says it */
};

/*
 * Load the program under this name. Return a descriptor, or -1 and errno with the last
 * line of the verifier's log in why.
 */
int bpf_load(struct bpf_code *, const char *name, const struct bpf_load_as *, char *why,
	     size_t size);

/* ---- btf.c: find structure members and functions in BTF ---------------------------- */

/* The kernel's BTF; text NULL: not read. */
struct btf {
	char *text;
	size_t size;
	int mapped;             /* text is the file itself */
	const char *types, *types_end, *strings;
	size_t nstrings;
};

/* Read /sys/kernel/btf/vmlinux (Documentation/bpf/btf.rst). Return 0, or -1 and errno. */
int btf_read(struct btf *, const char *path);
void btf_free(struct btf *);

/*
 * Return the offset in bytes of the member in the structure, or -1. The member may be in
 * an unnamed structure or union inside it.
 */
int btf_member(const struct btf *, const char *structure, const char *member);

/* Return the BTF id of a function, or of a structure; 0: there is none. */
uint32_t btf_function(const struct btf *, const char *name);
uint32_t btf_structure(const struct btf *, const char *name);

/*
 * Find what emit_alone needs. While a task has been interrupted in a program, the kernel skips that
 * program for the other tasks of the CPU.
 */
void btf_alone(const struct btf *, struct bpf_alone *);

/* Return the BTF id of the type of a tracepoint's programs; 0: the kernel has none. */
uint32_t btf_tracepoint(const struct btf *, const char *name);

#endif
