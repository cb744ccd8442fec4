/* SPDX-License-Identifier: ISC */
/*
 * call_programs.h - what the parts of the programs of tfs-strings calls share
 *
 *	call_plan.c      the map that says what each call passes, from the tables of the calls
 *	call_sides.c     the programs of the two sides of a call
 *	call_memory.c    their parts that read user memory
 *	call_files.c     their parts that read the files of descriptors
 *	call_tasks.c     the programs that follow the traced tasks
 */
#ifndef CALL_PROGRAMS_H
#define CALL_PROGRAMS_H

#include "base/base.h"
#include "calls/calls.h"
#include "event/event.h"
#include "live/live.h"
#include "strings.h"

/*
 * Offsets in the architecture's struct pt_regs: of the arguments, of the number of the call (NR),
 * and of the stack. A call is one of 32-bit code if the bits MODE_MASK of the register MODE are
 * MODE_32; if MODE_MASK is 0, there is no such call. On x86, 64-bit code can make such a call, too
 * (int 0x80), so MODE is -1, and the bits are those of thread_info.status: TS_COMPAT
 * (arch/x86/include/asm/thread_info.h). The instruction syscall, which only 64-bit calls use,
 * copies the register IP to the register COPY_OF_IP. NR_SIZE is SIZE_W or SIZE_DW. An exec that
 * succeeds keeps the number, except on arm: there it clears the number and the register CLEARED.
 * KNOWN_REGISTERS is 0 if the registers are not known.
 */
#if defined(__x86_64__)
enum { KNOWN_REGISTERS = 1, NR = 120, NR_SIZE = SIZE_DW, STACK = 152,
       MODE = -1, MODE_MASK = 2, MODE_32 = 2, IP = 128, COPY_OF_IP = 88 };
#define REGISTERS { { 112, 104, 96, 56, 72, 64 }, { 40, 88, 96, 104, 112, 32 } }
#define ABI_32 "i386"
#elif defined(__aarch64__)
enum { KNOWN_REGISTERS = 1, NR = 280, NR_SIZE = SIZE_W, STACK = 248,
       MODE = 264, MODE_MASK = 0x10, MODE_32 = 0x10, IP = 0, COPY_OF_IP = 0 };
#define REGISTERS { { 272, 8, 16, 24, 32, 40 }, { 272, 8, 16, 24, 32, 40 } }
#define ABI_32 "arm"
#else
#if defined(__arm__)
enum { KNOWN_REGISTERS = 1, NR = 28, NR_SIZE = SIZE_W, STACK = 52, CLEARED = 56, EXECVE = 11 };
#define REGISTERS { { 68, 4, 8, 12, 16, 20 }, { 0 } }
#elif defined(__s390x__)
enum { KNOWN_REGISTERS = 1, NR = 160, NR_SIZE = SIZE_W, STACK = 144 };
#define REGISTERS { { 152, 48, 56, 64, 72, 80 }, { 0 } }
#elif defined(__riscv)
enum { KNOWN_REGISTERS = 1, NR = 136, NR_SIZE = SIZE_DW, STACK = 16 };
#define REGISTERS { { 280, 88, 96, 104, 112, 120 }, { 0 } }
#elif defined(__powerpc64__)
enum { KNOWN_REGISTERS = 1, NR = 0, NR_SIZE = SIZE_DW, STACK = 8 };
#define REGISTERS { { 272, 32, 40, 48, 56, 64 }, { 0 } }
#else
enum { KNOWN_REGISTERS = 0, NR = 0, NR_SIZE = SIZE_DW, STACK = 0 };
#define REGISTERS { { 0 }, { 0 } }
#endif
enum { MODE = 0, MODE_MASK = 0, MODE_32 = 0, IP = 0, COPY_OF_IP = 0 };
#define ABI_32 NULL
#endif

enum { WORD = sizeof(long) };
#define WORD_SIZE (WORD == 8 ? SIZE_DW : SIZE_W)

/* The bits of a task's byte in the map of tasks (rings_list); MISSING is for its present call. */
enum {
	LISTED = LIST_BIT,      /* it is traced; or if all tasks are, it is not */
	MISSING = 4,            /* argument 0 was not in memory at the entry; 8: argument 1 ... */
	MISSING_SHIFT = 2,
};

/*
 * Numbers of calls are below NUMBERS. In the array, the calls of 32-bit code follow the others;
 * then come one entry for all other numbers, and at most VARIANTS variants of calls.
 */
enum { NUMBERS = 1024, OTHER_CALL = 2 * NUMBERS, VARIANTS = 1024, POINTS_MOST = 1024,
       ENTRIES = OTHER_CALL + 1 + VARIANTS };

/* The most bytes of strings, of the words of an array, and of structures; ENV_MOST is in words */
enum { STRING_MOST = 4096, WORDS_MOST = 4480, WORD_LEAST = 448, STRUCT_MOST = 512,
       SOCKADDR_MOST = 128, MESSAGE_MOST = 1024,
       ENV_MOST = 32, PAGE = 4096 };

enum item_kind { END, STRING, DATA, STRINGS };

enum item_flag {
	AT_ENTRY = 1,           /* read it at the entry, or else at the return */
	AT_RETURN = 2,          /* read it at the return if the call succeeds */
	IF_INTERRUPTED = 4,     /* read it at the return if a signal interrupted the call */
	COUNT_IS_ADDRESS = 8,   /* the argument with the count is the address of an int */
	COUNT_IS_RESULT = 16,   /* the result is the count, if it is smaller */
	ON_STACK = 32,          /* after an exec that succeeded, it is where count says (NEW_...) */
	MAY_BE_PART = 128,      /* its beginning counts if the rest is not in memory */
};

/* For count: what a new program has on its stack. */
enum { NEW_NOTHING, NEW_WORDS, NEW_ENV };

/* Is a call recorded? ENDS: only as the return of another call that executes a program */
enum { RECORDED = 1, HAS_MEMORY, ENDS };

/*
 * What is read at one side of a call, beside files: anything, nothing, the string that is the first
 * item, or one structure of at most SHORT_STRUCT bytes; NEW_FILE: the file that the call returns
 */
enum { ANYTHING, BARE, ONE_STRING, ONE_STRUCT, NEW_FILE };
enum { SHORT_STRUCT = 144 };

/*
 * Files of a call: of an argument that is a descriptor, or a descriptor or AT_FDCWD; the directory
 * of the task, from which a path begins; and its root directory
 */
enum file_source { FILE_FD = 1, FILE_DIRFD, FILE_CWD, FILE_ROOT };
/* The most files of a call, with a 0 after them (a power of 2); the bytes that their pieces take */
enum { CALL_FILES = 4, FILE_PIECE = sizeof(struct memory_piece) + PIECE_ROUND,
       FILE_PIECES = (CALL_FILES - 1) * FILE_PIECE };

/*
 * The files of the return of a call: a descriptor, or two in the memory of the argument (returns -
 * FILE_PAIR); the program that it executes; or again the first argument, now with an address
 */
enum file_returns { FILE_NONE, FILE_RESULT, FILE_PROGRAM, FILE_AGAIN, FILE_PAIR };

/* An item of an entry of the map of calls: the user memory that an argument passes */
struct item {
	uint8_t kind, flags, arg;
	uint8_t has_count;              /* 1 + the shift of the count; 0: it has none */
	uint8_t count;                  /* the argument with the count */
	uint8_t npoints;
	uint8_t message;                /* it may be one of netlink: record more bytes */
	uint8_t pad;
	uint16_t size, most;
	uint16_t points;                /* the first pointer of the structure, in its map */
	uint16_t pad_2;
};

/* The value of the map of points: a pointer in a structure, and the memory that it points to */
struct point {
	uint16_t offset, count;         /* in the structure: of the pointer, and of the count */
	uint8_t count_width;            /* 0: it is 1 */
	uint8_t flags;                  /* AT_ENTRY, AT_RETURN */
	uint16_t size, most;
	uint16_t points;                /* the pointers in that memory */
	uint8_t npoints, message, pad[2];
};

/* What is read at the return of a call; for ONE_STRUCT, the argument and the size */
struct call_end {
	uint8_t what, arg, size, pad;
};

/* The value of the map of calls. A call that is not recorded has known 0. */
struct entry {
	uint8_t known;                  /* RECORDED, HAS_MEMORY */
	uint8_t exec;
	uint8_t at_entry, at_return;    /* has such items */
	uint8_t messages;               /* it passes messages of the first argument, a socket */
	uint8_t by;                     /* the argument whose value chooses a variant */
	uint8_t any_mode;               /* this number is recorded in 64-bit or in 32-bit code */
	uint8_t returns;                /* enum file_returns */
	uint8_t files[CALL_FILES];      /* descriptors: an argument, and enum file_source << 4 */
	uint8_t begins;                 /* what is read at the entry */
	uint8_t pad[3];
	struct call_end ends;
	uint32_t pad_2;
	uint64_t values;                /* a bit for each value that may choose a variant */
	struct item items[CALL_ARGS];
};

/* The bit of an argument in struct entry values; the programs compute it, too */
#define VALUE_BIT(value) (((value) ^ (value) >> VALUE_SHIFT) & 63)
enum { VALUE_SHIFT = 5 };

/* The key of the map of variants, whose value is the index of an entry */
struct variant {
	uint32_t value, number;
};

/*
 * Slots on the stack, and in the buffer of the CPU, to which R7 points. The verifier does not know
 * what is in the buffer. RECORD is a struct ring_head and a struct call_record, and MEMORY is its
 * memory, of which AT bytes are used.
 */
#define SLOTS(X) \
	X(KEY, FP, -8) X(SLOT, FP, -16) X(RESULT, FP, -24) X(STATE, FP, -32) X(TASK, FP, -40) \
	X(ENTRY, FP, -48) X(NUMBER, FP, -56) X(CONTROL, FP, -72) \
	X(CURRENT, FP, -192) \
	X(AT, R7, 0) X(LEFT, R7, 8) X(ARRAY, R7, 16) X(COUNT, R7, 24) X(INDEX, R7, 32) \
	X(CUT, R7, 40) X(CHUNK, R7, 48) X(ABSENT, R7, 56) X(RETURNED, R7, 64) X(WIDE, R7, 72) \
	X(ITEM, R7, 80) X(NEW, R7, 96) X(NEST, R7, 120) X(QUEUE_HEAD, R7, 128) \
	X(QUEUE_TAIL, R7, 136) X(PARENT, R7, 144) X(PARENT_END, R7, 152) X(STRIDE, R7, 160) \
	X(POINT, R7, 168) X(POINTS, R7, 176) X(NPOINTS, R7, 184) X(TARGET, R7, 192) \
	X(ARGUMENT, R7, 200) X(QUEUE, R7, 208) X(RECORD, R7, QUEUE + 16 * QUEUE_MOST) \
	X(HEAD, R7, RECORD + 16) X(CALL, R7, HEAD + 8) X(RET, R7, CALL + 64) \
	X(MEMORY, R7, HEAD + (int)sizeof(struct call_record))
/* The queue has the pointers of one argument: 16 bytes each */
enum { QUEUE_MOST = 64 };
enum { SLOTS(BPF_SLOT_AT) };

/* The memory of a record. Behind MEMORY_FULL it still has room for the largest piece. */
enum { MEMORY_MASK = 0x3ff8, MEMORY_FULL = 12000, CHUNK_MASK = 0x1fff,
       BUFFER = MEMORY + MEMORY_MASK + 1 + CHUNK_MASK + 64 };
_Static_assert(MEMORY_FULL + 2 * (int)sizeof(struct memory_piece) + STRING_MOST + 16 <= MEMORY_MASK,
	       "the offset of a piece has no other bits");
_Static_assert(BUFFER <= 32 * 1024, "the kernel has room for such a buffer for each CPU");

/* The errors of a call that a signal interrupted: EINTR, ERESTART_RESTARTBLOCK */
enum { INTERRUPTED = -4, INTERRUPTED_RESTART = -516 };

/* The members on the way from a task to the protocol of a socket */
#define STEP_MEMBERS(X) \
	X(FILES, task_struct, files) X(TABLE, files_struct, fdt) X(MOST, fdtable, max_fds) \
	X(FDS, fdtable, fd) X(PRIVATE, file, private_data) X(BACK, socket, file) X(SK, socket, sk) \
	X(FAMILY, sock_common, skc_family) X(PROTOCOL, sock, sk_protocol)
#define STEP_NAME(NAME, structure, member) NAME,
enum { STEP_MEMBERS(STEP_NAME) STEPS };

/* The task of a record */
#define TASK_MEMBERS(X) \
	X(TASK_START, task_struct, start_time) X(TASK_COMM, task_struct, comm) \
	X(TASK_TGID, task_struct, tgid) X(TASK_CRED, task_struct, cred) X(TASK_UID, cred, uid)
enum { TASK_MEMBERS(STEP_NAME) TASK_MEMBERS_ALL };

/* The members on the way from a task, or a file, to the names of the file */
#define FILE_MEMBERS(X) \
	X(TASK_FS, task_struct, fs) X(FS_ROOT, fs_struct, root) X(FS_PWD, fs_struct, pwd) \
	X(FILE_PATH, file, f_path) X(FILE_INODE, file, f_inode) X(PATH_MNT, path, mnt) \
	X(PATH_DENTRY, path, dentry) X(D_HASH, dentry, d_hash) X(PPREV, hlist_bl_node, pprev) \
	X(D_PARENT, dentry, d_parent) X(D_NAME, dentry, d_name) X(D_INODE, dentry, d_inode) \
	X(HASH, qstr, hash) X(LENGTH, qstr, len) X(NAME, qstr, name) X(I_MODE, inode, i_mode) \
	X(I_INO, inode, i_ino) X(I_GENERATION, inode, i_generation) \
	X(I_SB, inode, i_sb) X(S_DEV, super_block, s_dev) \
	X(S_MAGIC, super_block, s_magic) X(MNT, mount, mnt) X(MNT_PARENT, mount, mnt_parent) \
	X(MNT_MOUNTPOINT, mount, mnt_mountpoint) X(MNT_ID, mount, mnt_id) \
	X(MNT_ROOT, vfsmount, mnt_root) X(I_PRIVATE, inode, i_private) \
	X(FSDATA, dentry, d_fsdata) X(NS_OPS, ns_common, ops) \
	X(OPS_NAME, proc_ns_operations, name) X(TASK_MM, task_struct, mm) \
	X(MM_PROGRAM, mm_struct, exe_file) \
	X(MNT_NS, mount, mnt_ns) X(NS_OF_MOUNTS, mnt_namespace, ns) X(NS_INUM, ns_common, inum)
enum { FILE_MEMBERS(STEP_NAME) FILE_MEMBERS_ALL };

/* From a socket to its addresses */
#define SOCKET_MEMBERS(X) \
	X(SOCKET_TYPE, socket, type) X(PORT_HERE, inet_sock, inet_sport) \
	X(PORT_THERE, sock_common, skc_dport) X(ADDRESS_HERE, sock_common, skc_rcv_saddr) \
	X(ADDRESS_THERE, sock_common, skc_daddr) X(ADDRESS6_HERE, sock_common, skc_v6_rcv_saddr) \
	X(ADDRESS6_THERE, sock_common, skc_v6_daddr) X(UNIX_ADDRESS, unix_sock, addr) \
	X(UNIX_PEER, unix_sock, peer) X(UNIX_NAME, unix_address, name) \
	X(UNIX_LENGTH, unix_address, len)
enum { SOCKET_MEMBERS(STEP_NAME) SOCKET_MEMBERS_ALL };
enum { TYPE_TASK, TYPE_MOUNT, TYPE_FILE, TYPE_POINTER, TYPE_SPACE, TYPE_SPACE_OPS,
       TYPE_SOCKET, TYPE_UNIX, TYPE_DENTRY, TYPE_INODE, FILE_TYPES };

/* The state of call_files.c */
struct file_programs {
	int known;              /* the files of descriptors are recorded */
	int sent;               /* the map of the ids that were recorded */
	int at[FILE_MEMBERS_ALL];       /* offsets */
	int socket[SOCKET_MEMBERS_ALL]; /* without the last one, addresses are not recorded */
	int ns_of_inode;                /* the inode of a namespace leads to its name (6.9) */
	uint32_t cast;          /* of emit_cast; 0: not used */
	uint32_t types[FILE_TYPES];
};

/* The programs */
struct programs {
	struct plan *p;
	int calls;              /* the map of calls */
	int variants;           /* the map of variants */
	int tasks;              /* the map of the traced tasks */
	int points;             /* the map of pointers in structures */
	struct point *point;    /* its entries, */
	unsigned npoints;       /* and how many are in use */
	struct calls *tables[2];
	int told;               /* the map of what was recorded of tasks */
	unsigned cpus, slots;   /* its CPUs, and entries of a CPU: powers of 2 */
	int buffer;             /* the map of the buffers */
	int open;               /* the map of open calls; -1: none are kept */
	unsigned places, place_size;    /* which has so many, a power of 2, of so many bytes */
	int all;                /* all tasks are traced */
	int entering;           /* the program is that of sys_enter */
	unsigned version;       /* KERNEL(5, 10) */
	int pid;                /* offset of the pid in struct task_struct; -1: not known */
	int status;             /* on x86, that of thread_info.status in struct task_struct */
	int may_goto;           /* the kernel has this instruction */
	int skips;              /* the kernel may skip a program */
	int steps[STEPS];       /* offsets from a task to the protocol of a socket; -1: not known */
	int task[TASK_MEMBERS_ALL]; /* offsets; -1: not known */
	int messages;           /* the call that is described passes messages */
	struct file_programs files;
	uint32_t types[2];      /* of sys_exit and sys_enter in BTF; 0: not used */
	unsigned kinds;         /* a bit for each kind of item that the calls have */
	unsigned rounds;        /* most rounds of the loop: those of the call with the most */
};

/* ---- call_plan.c --------------------------------------------------------------------------- */

/* Make and fill the maps of calls, variants and points. Return 0, or -1, reported. */
int plan_calls(struct programs *);

/* ---- call_sides.c: phrases of instructions, and the two sides -------------------------------- */

void emit_side(struct bpf_code *, struct programs *, int entering);

/* R2 = the number of the call whose registers are at R6 */
void load_number(struct bpf_code *, const struct programs *);

/* R1 = the word whose bits MODE_MASK selects. On x86 with BTF, R7 is the task. */
void load_mode(struct bpf_code *, const struct programs *);

/* Begin a program. */
void begin_program(struct bpf_code *, const struct programs *);

/* Load a slot of the buffer; store a register, or a number, in one. */
void load(struct bpf_code *, enum bpf_reg to, int at);
void store(struct bpf_code *, int at, enum bpf_reg from);
void set(struct bpf_code *, int at, int32_t n);

/* Jump if the slot of the buffer CONDITION n. Sets R1. */
void jump_if_slot(struct bpf_code *, int at, enum bpf_jump, int32_t n, const char *to);

/* R7 = the buffer of this side on this CPU; jump to out if there is none. */
void find_buffer(struct bpf_code *, const struct programs *);

/* R0 = the address of the byte of the task whose pid is in reg. */
void find_task(struct bpf_code *, const struct programs *, enum bpf_reg reg);

/* to = the pid of the running task */
void set_pid(struct bpf_code *, enum bpf_reg to);

/*
 * R7 = the place of the open call of the task whose pid is in TASK; jump to other if it has none.
 * With claim the task takes the place if no other task has it. Overwrites R0 to R2.
 */
void find_open(struct bpf_code *, const struct programs *, int claim, const char *other);

/* The task no longer needs the place at R7. Overwrites R1. */
void leave_open(struct bpf_code *);

/*
 * Write the record of the open call at R7, whose task is in TASK. Overwrites R8; jumps to out if it
 * is damaged.
 */
void write_open(struct bpf_code *, const struct programs *, enum record_kind);

/*
 * Record the running task if the last such record of this CPU is of another task, or if the task
 * has another name now. The record of its call must be at R7 + at. Overwrites all registers but R7.
 */
void write_task(struct bpf_code *, const struct programs *, int at);

/* Copy size bytes of the kernel's memory at R3 to SLOT. R0 is 0, or an error. */
void read_kernel(struct bpf_code *, int size);

/* Copy R2 bytes of user memory at R3 to SLOT, which is cleared. R0 is 0, or an error. */
void read_slot(struct bpf_code *);

/* to = bytes of a pointer of the task, which is 4 in 32-bit code */
void load_word(struct bpf_code *, enum bpf_reg to);

/* Copy the pointer at R8 to SLOT, and move R8 after it. R0 is 0, or an error. */
void read_word(struct bpf_code *);

/* to = the argument whose number is in R1 */
void load_argument(struct bpf_code *, enum bpf_reg to);

/*
 * Count a round of the loop, and jump to done after the last. Before Linux 6.9 the verifier checks
 * each round anew.
 */
void count_round(struct bpf_code *, const struct programs *);

/*
 * Emit a label of a loop that is entered in several places. Before Linux 6.8 the verifier
 * refuses an edge back to it from an instruction that is not a jump (check_cfg in
 * kernel/bpf/verifier.c), so go on to it by a jump.
 */
void loop_label(struct bpf_code *, const char *label);

/* to = the member of the item, or of the entry at R6; jump if it CONDITION n, or lacks the flag */
#define load_item(c, member, to) \
	emit_load(c, BPF_SIZE_OF(item, member), to, R7, ITEM + (int)offsetof(struct item, member))
#define load_entry(c, member, to) emit_get(c, to, R6, entry, member)
#define jump_if_item(c, member, is, n, to) \
	(load_item(c, member, R1), emit_jump_if_imm(c, R1, is, n, to))
#define jump_if_entry(c, member, is, n, to) \
	(load_entry(c, member, R1), emit_jump_if_imm(c, R1, is, n, to))
#define jump_unless_item(c, flag, to) \
	(load_item(c, flags, R1), emit_alu_imm(c, ALU_AND, R1, flag), \
	 emit_jump_if_imm(c, R1, JEQ, 0, to))

/* ---- call_memory.c -------------------------------------------------------------------------- */

/* Read what the item at R8 has, of each kind that the calls have, and jump to next. */
void emit_memory(struct bpf_code *, const struct programs *);

/* Append a piece without bytes for the argument of the item. Overwrites R1 and R2. */
void append_empty(struct bpf_code *, const struct programs *, char tag);

/* ---- call_files.c --------------------------------------------------------------------------- */

/*
 * Read the files of descriptors: arguments at the entry, results at the return. Overwrites all
 * registers but R7.
 */
void append_files(struct bpf_code *, const struct programs *);

/* Jump to out unless the descriptor R9 is a socket. Overwrites all registers but R6, R7 and R8. */
void skip_no_socket(struct bpf_code *, const struct programs *);

/* Append the functions that append_files calls. */
void append_file_functions(struct bpf_code *, const struct programs *);

/* Set which arguments of a call are descriptors. */
void describe_files(struct entry *, const struct calls *, const struct call *, int roots);

/* Find offsets, and make the maps, if the plan has files. Return 0, or -1, reported. */
int files_prepare(struct programs *, const struct btf *, unsigned version);

/* ---- call_tasks.c --------------------------------------------------------------------------- */

/*
 * Find the offsets in the kernel's BTF, or use those since Linux 5.10 if it has none; and the
 * files, if the plan has them. Return 0, or -1, reported.
 */
int programs_offsets(struct programs *);

/* Attach the programs that follow tasks. Return 0, or -1, reported. */
int follow_tasks(const struct programs *, struct bpf_code *);

/* ---- cpu_programs.c ------------------------------------------------------------------------- */

/*
 * Attach programs that record the CPU time of each process after its end (struct cpu_record), if
 * the kernel has its BTF and 64 bits. Silent: the time of a process without a record is not known.
 */
void cpu_attach(struct plan *, const struct programs *);

#endif
