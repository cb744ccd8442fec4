/* SPDX-License-Identifier: ISC */
/*
 * memory_programs.c - programs that print the user memory of system calls
 *
 * Programs run at the raw tracepoints sys_enter and sys_exit. They leave at once if the task is not
 * traced. An array has an entry for each call, by its number, which is made from the tables of the
 * calls and says where user memory is, and when it is read. A call without user memory costs the
 * look-up of its entry.
 *
 * Memory that the kernel reads is read at the entry, because the program may change it while the
 * call runs. A page that is not in memory cannot be read there, as a BPF program must not sleep;
 * it is read at the return, when the kernel has read it, too. A byte for each possible pid says
 * which arguments that concerns. The registers still have the arguments at the return.
 *
 * After an exec, the words and the environment are on the stack of the new program.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "syscalls/syscalls.h"
#include "memory_programs.h"

/*
 * Where the kernel's struct pt_regs of the architecture has the arguments, the number of the
 * call, and the stack. The programs copy SIZE bytes of it, from FROM on. MODE says
 * that the call is one of 32-bit code, if its bits MODE_MASK are MODE_32; without MODE_MASK
 * no such call exists. On x86 64-bit code can make such a call, too (int 0x80), so MODE is -1, and
 * the bits are those of thread_info.status: TS_COMPAT (arch/x86/include/asm/thread_info.h).
 * NR_SIZE is SIZE_W or SIZE_DW. An exec that succeeds keeps the number, or else clears the register
 * CLEARED.
 */
#if defined(__x86_64__)
enum { FROM = 32, SIZE = 128, NR = 120, NR_SIZE = SIZE_DW, STACK = 152,
       MODE = -1, MODE_MASK = 2, MODE_32 = 2 };
static const uint16_t args[2][CALL_ARGS] = { { 112, 104, 96, 56, 72, 64 },
					     { 40, 88, 96, 104, 112, 32 } };
#define ABI_32 "i386"
#elif defined(__aarch64__)
enum { FROM = 0, SIZE = 288, NR = 280, NR_SIZE = SIZE_W, STACK = 248,
       MODE = 264, MODE_MASK = 0x10, MODE_32 = 0x10 };
static const uint16_t args[2][CALL_ARGS] = { { 272, 8, 16, 24, 32, 40 },
					     { 272, 8, 16, 24, 32, 40 } };
#define ABI_32 "arm"
#else
#if defined(__arm__)
enum { FROM = 0, SIZE = 72, NR = 28, NR_SIZE = SIZE_W, STACK = 52, CLEARED = 56,
       EXECVE = 11 };
static const uint16_t args[1][CALL_ARGS] = { { 68, 4, 8, 12, 16, 20 } };
#elif defined(__s390x__)
enum { FROM = 0, SIZE = 168, NR = 160, NR_SIZE = SIZE_W, STACK = 144 };
static const uint16_t args[1][CALL_ARGS] = { { 152, 48, 56, 64, 72, 80 } };
#elif defined(__riscv)
enum { FROM = 0, SIZE = 288, NR = 136, NR_SIZE = SIZE_DW, STACK = 16 };
static const uint16_t args[1][CALL_ARGS] = { { 280, 88, 96, 104, 112, 120 } };
#elif defined(__powerpc64__)
enum { FROM = 0, SIZE = 280, NR = 0, NR_SIZE = SIZE_DW, STACK = 8 };
static const uint16_t args[1][CALL_ARGS] = { { 272, 32, 40, 48, 56, 64 } };
#else
enum { FROM = 0, SIZE = 0, NR = 0, NR_SIZE = SIZE_DW, STACK = 0 };
static const uint16_t args[1][CALL_ARGS];
#endif
enum { MODE = 0, MODE_MASK = 0, MODE_32 = 0 };
#define ABI_32 NULL
#endif

enum { WORD = sizeof(long) };
static const enum bpf_size word_size = WORD == 8 ? SIZE_DW : SIZE_W;

/* The map of tasks has a byte for each possible pid, and so many bytes in an entry. */
enum { TASKS = 64, PIDS_64 = K_PID_MAX_LIMIT, PIDS_32 = 32 * 1024 };

/* The bits of the byte. The call is the one that the task is in. */
enum {
	TRACED = 1,
	ENTERED = 2,            /* the beginning of the call was seen */
	MISSING = 4,            /* argument 0 was not in memory at the entry; 8: argument 1 ... */
	MISSING_SHIFT = 2,
};

/*
 * Numbers of calls are below this. In the array, those of 32-bit code follow the others, and
 * then variants of calls, at most VARIANTS.
 */
enum { NUMBERS = 1024, VARIANTS = 1024, POINTS_MOST = 1024 };

/* Most bytes of structures, and of an environment, in words */
enum { STRUCT_MOST = 512, SOCKADDR_MOST = 128, MESSAGE_MOST = 1024, ENV_MOST = 32, PAGE = 4096 };

enum item_kind { END, STRING, DATA, STRINGS };

enum item_flag {
	AT_ENTRY = 1,           /* read it at the entry, or else at the return */
	AT_RETURN = 2,          /* read it at the return if the call succeeds */
	IF_INTERRUPTED = 4,     /* read it at the return if a signal interrupted the call */
	COUNT_IS_ADDRESS = 8,   /* the argument with the count is the address of an int */
	COUNT_IS_RESULT = 16,   /* the result is the count, if it is smaller */
	MAY_BE_PART = 128,      /* its beginning counts if the rest is not in memory */
	ON_STACK = 32,          /* of an exec that succeeded, the address is at count; 0: nowhere */
};

enum { NO_MEMORY = 1, HAS_MEMORY };

/*
 * An entry of the map: the user memory that a call passes. Arguments are offsets in the copied
 * registers.
 */
struct item {
	uint8_t kind, flags, digit;
	uint8_t has_count;              /* 1 + the shift of the count; 0: it has none */
	uint16_t arg, count;
	uint16_t size, most;
	uint16_t points;                /* the first pointer of the structure, in its map */
	uint8_t npoints;
	uint8_t message;                /* it may be one of netlink: record more of it */
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

/* The value of the map of calls. A call that is not known is all zero. */
struct entry {
	uint8_t known;                  /* has it memory? */
	uint8_t exec;
	uint8_t at_entry, at_return;    /* has such items */
	uint8_t variants;
	uint8_t messages;               /* of a socket, which is the first argument */
	uint16_t by;                    /* the register whose value chooses a variant */
	uint64_t pad_8;
	struct item items[CALL_ARGS];
};

/* The key of the map of variants, whose value is the index of an entry */
struct variant {
	uint32_t value, number;
};

/*
 * Slots on the stack of a program, where STATE has the address of the byte of the task, and in the
 * buffer of the CPU, to which R7 points. The verifier does not know what is in the buffer.
 */
enum { REGS_MASK = 0x1f8 };
#define SLOTS(X) \
	X(KEY, FP, -8) X(SLOT, FP, -16) X(RESULT, FP, -24) X(REGS_AT, FP, -32) X(STATE, FP, -40) \
	X(LEFT, R7, 0) X(ARRAY, R7, 8) X(WORDS, R7, 16) X(INDEX, R7, 24) X(MASK, R7, 32) \
	X(CUT, R7, 40) X(LENGTH, R7, 48) X(CHUNK, R7, 56) X(FIRST, R7, 64) X(ABSENT, R7, 72) \
	X(RETURNED, R7, 80) X(ITEM, R7, 88) X(REGS, R7, 104) X(FORMAT, R7, REGS + REGS_MASK + 8) \
	X(FORMAT_DATA, R7, FORMAT + 32) X(BASE, R7, FORMAT_DATA + 96) X(TEXT, R7, BASE + 8) \
	X(NEST, R7, 1280) X(QUEUE_HEAD, R7, 1288) X(QUEUE_TAIL, R7, 1296) X(PARENT, R7, 1304) \
	X(PARENT_END, R7, 1312) X(STRIDE, R7, 1320) X(POINT, R7, 1328) X(POINTS, R7, 1336) \
	X(NPOINTS, R7, 1344) X(TARGET, R7, 1352) X(QUEUE, R7, 1360)
/* The queue has the pointers of one argument: 16 bytes each */
enum { QUEUE_MOST = 64 };
enum { SLOTS(BPF_SLOT_AT) };
static const struct bpf_slot slots[] = { SLOTS(BPF_SLOT) { 0 } };

/*
 * Most bytes of a string in a record. Before Linux 5.13 the kernel prints at most 63 bytes of each
 * string. Since then all strings and numbers of a record share 512 bytes.
 */
enum { PIECE_OLD = 63, PIECE_NEW = 448, BUFFER = QUEUE + 16 * QUEUE_MOST };
_Static_assert(TEXT + PIECE_NEW + 8 <= NEST, "the buffer holds a piece, and a byte after it");


/* The digit of the first record of a call at its entry is a letter. */
enum { FIRST_DIGIT = 'a' - '0' };

/* After the copied registers: the addresses of a new program's words and environment */
enum { NEW_WORDS = 0x1e8, NEW_ENV = 0x1f0 };

/* The errors of a call that a signal interrupted: EINTR, ERESTART_RESTARTBLOCK */
enum { INTERRUPTED = -4, INTERRUPTED_RESTART = -516 };

/* The members on the way from a task to the protocol of a socket */
#define STEP_MEMBERS(X) \
	X(FILES, task_struct, files) X(TABLE, files_struct, fdt) X(MOST, fdtable, max_fds) \
	X(FDS, fdtable, fd) X(PRIVATE, file, private_data) X(BACK, socket, file) X(SK, socket, sk) \
	X(FAMILY, sock_common, skc_family) X(PROTOCOL, sock, sk_protocol)
#define STEP_NAME(NAME, structure, member) NAME,
enum { STEP_MEMBERS(STEP_NAME) STEPS };

/* The programs */
struct memory {
	const struct memory_plan *p;
	int calls;              /* the map of calls */
	int variants;           /* the map of variants */
	int tasks;              /* the map of the traced tasks */
	int points;             /* the map of pointers in structures */
	struct point *point;    /* its entries, */
	unsigned npoints;       /* and how many are in use */
	struct calls *tables[2];
	int buffer;             /* the map of the buffers */
	int all;                /* all tasks are traced */
	int id;                 /* length of the id */
	int entering;           /* the program is that of sys_enter */
	int pid;                /* offset of the pid in struct task_struct; -1: not known */
	int status;             /* on x86, that of thread_info.status in struct task_struct */
	int may_goto;           /* the kernel has this instruction */
	int steps[STEPS];       /* offsets from a task to the protocol of a socket; -1: not known */
	int messages;           /* the call that is described passes messages */
	uint32_t types[2];      /* of sys_exit and sys_enter in BTF; 0: not used */
	int piece;              /* most bytes of a string in a record */
	unsigned numbers;       /* the most numbers in a record */
	unsigned kinds;         /* a bit for each kind of item that the calls have */
	unsigned rounds;        /* most rounds of the loop: those of the call with the most */
};

/* ---- phrases of instructions ------------------------------------------------------------- */

/* Begin a program. */
static void clear(struct bpf_code *c)
{
	memset(c, 0, sizeof(*c));
	c->slots = slots;
}

static void load(struct bpf_code *c, enum bpf_reg to, int at)
{
	emit_load(c, SIZE_DW, to, R7, at);
}

static void store(struct bpf_code *c, int at, enum bpf_reg from)
{
	emit_store(c, SIZE_DW, R7, at, from);
}

static void set(struct bpf_code *c, int at, int32_t n)
{
	emit_store_imm(c, SIZE_DW, R7, at, n);
}

/* Jump if the slot of the buffer CONDITION n. Sets R1. */
static void jump_if_slot(struct bpf_code *c, int at, enum bpf_jump is, int32_t n, const char *to)
{
	load(c, R1, at);
	emit_jump_if_imm(c, R1, is, n, to);
}

/* R7 = the buffer */
static void find_buffer(struct bpf_code *c, const struct memory *m)
{
	emit_store_imm(c, SIZE_W, FP, KEY, 0);
	emit_find(c, m->buffer, KEY, R7, "out");
}

/* to = the register whose offset is in R1 */
static void load_register(struct bpf_code *c, enum bpf_reg to)
{
	emit_alu_imm(c, ALU_AND, R1, WORD == 8 ? REGS_MASK : REGS_MASK | 4);
	emit_alu(c, ALU_ADD, R1, R7);
	emit_load(c, word_size, to, R1, REGS);
	load(c, R1, MASK);
	emit_alu(c, ALU_AND, to, R1);
}

/* Return the most pieces of a path. */
static int pieces(const struct memory *m)
{
	return 4096 / m->piece + 1;
}

/* Return the letter of a tag: at the entry, a capital letter. */
static char tag_of(const struct memory *m, char tag)
{
	return m->entering ? (char)(tag - 'a' + 'A') : tag;
}

/* Prepare a record with this tag, and a string if strings is set, for the label PRINT. */
static void set_tag(struct bpf_code *c, const struct memory *m, char tag, int strings)
{
	emit_store_imm(c, SIZE_B, R7, FORMAT + m->id + 1, tag_of(m, tag));
	emit_store_imm(c, SIZE_B, R7, FORMAT + m->id + 3, strings ? ' ' : '\0');
	set(c, LENGTH, m->id + (strings ? 8 : 3)); /* without the NUL */
}

/*
 * Count a round of the loop, and jump after the last. Before Linux 6.9 the verifier checks each
 * round anew.
 */
static void count_round(struct bpf_code *c, const struct memory *m)
{
	if (m->may_goto) {
		emit_may_goto(c, "out");
		return;
	}
	emit_alu_imm(c, ALU_ADD, R9, 1);
	emit_jump_if_imm(c, R9, JGT, (int32_t)m->rounds, "out");
}

/* Copy size bytes at R3 to the slot. R0 is 0, or an error. */
static void read_kernel(struct bpf_code *c, int size)
{
	emit_store_imm(c, SIZE_DW, FP, SLOT, 0);
	emit_address(c, R1, FP, SLOT);
	emit_mov_imm(c, R2, size);
	emit_call(c, FN_PROBE_READ_KERNEL);
}

/* to = the number at from + at in the kernel's memory. Without BTF, overwrites R0 to R5. */
static void load_kernel(struct bpf_code *c, const struct memory *m, enum bpf_size size,
			enum bpf_reg to, enum bpf_reg from, int at)
{
	if (m->types[m->entering]) {
		emit_load(c, size, to, from, at);
		return;
	}
	emit_address(c, R3, from, at);
	read_kernel(c, size == SIZE_DW ? 8 : 4);
	emit_load(c, size, to, FP, SLOT);
}

/* Copy user memory to the slot, which is cleared. R2 and R3 are set. R0 is 0, or an error. */
static void read_slot(struct bpf_code *c)
{
	emit_store_imm(c, SIZE_DW, FP, SLOT, 0);
	emit_address(c, R1, FP, SLOT);
	emit_call(c, FN_PROBE_READ_USER);
}

/* to = bytes of a pointer of the task, which is 4 in 32-bit code */
static void load_word(struct bpf_code *c, enum bpf_reg to)
{
	if (MODE_MASK) {
		load(c, to, MASK); /* -1 or 2^32 - 1 */
		emit_alu_imm(c, ALU_RSH, to, 61);
		emit_alu_imm(c, ALU_AND, to, 4);
		emit_alu_imm(c, ALU_ADD, to, 4);
	} else {
		emit_mov_imm(c, to, WORD);
	}
}

/* Copy the pointer at R8 to the slot, and move R8 after it. R0 is 0, or an error. */
static void read_word(struct bpf_code *c)
{
	load_word(c, R2);
	emit_mov(c, R3, R8);
	emit_alu(c, ALU_ADD, R8, R2);
	read_slot(c);
}

/* to = the member of the item, or of the entry at R6 */
#define load_item(c, member, to) \
	emit_load(c, BPF_SIZE_OF(item, member), to, R7, ITEM + (int)offsetof(struct item, member))
#define load_entry(c, member, to) emit_get(c, to, R6, entry, member)

/* Jump if the member CONDITION n, or if it has none of the flags. Sets R1. */
#define jump_if_item(c, member, is, n, to) \
	(load_item(c, member, R1), emit_jump_if_imm(c, R1, is, n, to))
#define jump_if_entry(c, member, is, n, to) \
	(load_entry(c, member, R1), emit_jump_if_imm(c, R1, is, n, to))
#define jump_unless_item(c, flag, to) \
	(load_item(c, flags, R1), emit_alu_imm(c, ALU_AND, R1, flag), \
	 emit_jump_if_imm(c, R1, JEQ, 0, to))

/* Set R0 to the address of the byte of the task whose pid is in reg; jump if there is none. */
static void find_task(struct bpf_code *c, const struct memory *m, enum bpf_reg reg)
{
	emit_mov(c, R1, reg);
	emit_alu_imm(c, ALU_RSH, R1, 6);
	emit_store(c, SIZE_W, FP, KEY, R1);
	emit_find(c, m->tasks, KEY, R0, "out");
	emit_alu_imm(c, ALU_AND, reg, TASKS - 1);
	emit_alu(c, ALU_ADD, R0, reg);
}

/* Set the register to the pid of the task. */
static void set_pid(struct bpf_code *c, enum bpf_reg to)
{
	emit_call(c, FN_GET_CURRENT_PID_TGID);
	emit_alu32(c, ALU_MOV, to, R0);
}

/*
 * Emit a label of a loop that is entered in several places. Before Linux 6.8 the verifier
 * refuses an edge back to it from an instruction that is not a jump (check_cfg in
 * kernel/bpf/verifier.c), so go on to it by a jump.
 */
static void loop_label(struct bpf_code *c, const char *label)
{
	emit_jump(c, label);
	emit_label(c, label);
}

/* ---- the programs ------------------------------------------------------------------------- */

/* Set R1 to the bits that MODE_MASK is for. */
static void load_mode(struct bpf_code *c, const struct memory *m)
{
	if (MODE >= 0) {
		load_kernel(c, m, SIZE_DW, R1, R6, MODE);
		return;
	}
	emit_call(c, m->types[m->entering] ? FN_GET_CURRENT_TASK_BTF : FN_GET_CURRENT_TASK);
	load_kernel(c, m, SIZE_W, R1, R0, m->status);
}

/*
 * Let R9 be the byte of the task. Jump out if the task is not traced. A return, also one that is
 * not looked at, ends the call: the next one may have no entry.
 */
static void check_task(struct bpf_code *c, const struct memory *m)
{
	emit_load(c, SIZE_DW, R6, R1, 0);
	emit_load(c, SIZE_DW, R8, R1, 8);
	set_pid(c, R9);
	find_task(c, m, R9);
	emit_store(c, SIZE_DW, FP, STATE, R0);
	emit_load(c, SIZE_B, R9, R0, 0);
	emit_mov(c, R1, R9);
	emit_alu_imm(c, ALU_AND, R1, TRACED);
	if (!m->all)
		emit_jump_if_imm(c, R1, JEQ, 0, "out");
	if (!m->entering)
		emit_store(c, SIZE_B, R0, 0, R1);
}

/*
 * Set R8 to the index in the map of the call that has its registers at R6, and R6 to its entry.
 * Jump out if it is not known.
 */
static void find_call(struct bpf_code *c, const struct memory *m)
{
	if (m->entering) { /* no result: what the kernel writes is not read */
		emit_mov_imm(c, R8, -ENOSYS);
	} else if (WORD == 4) {
		emit_alu_imm(c, ALU_LSH, R8, 32);
		emit_alu_imm(c, ALU_ARSH, R8, 32);
	}
	emit_store(c, SIZE_DW, FP, REGS_AT, R6);
	emit_store(c, SIZE_DW, FP, RESULT, R8);
	load_kernel(c, m, (enum bpf_size)NR_SIZE, R8, R6, NR);
#ifdef __s390x__
	emit_alu_imm(c, ALU_AND, R8, 0xffff);
#endif
#ifdef __arm__
	if (!m->entering) {
		emit_jump_if_imm(c, R8, JNE, 0, "not_exec");
		load_kernel(c, m, SIZE_W, R1, R6, CLEARED);
		emit_jump_if_imm(c, R1, JNE, 0, "not_exec");
		emit_mov_imm(c, R8, EXECVE);
		emit_label(c, "not_exec");
	}
#endif
	emit_jump_if_imm(c, R8, JGT, NUMBERS - 1, "out");
	if (MODE_MASK) {
		load_mode(c, m);
		emit_alu_imm(c, ALU_AND, R1, MODE_MASK);
		emit_jump_if_imm(c, R1, JNE, MODE_32, "native");
		emit_alu_imm(c, ALU_ADD, R8, NUMBERS);
		emit_label(c, "native");
	}
	emit_store(c, SIZE_W, FP, KEY, R8);
	emit_find(c, m->calls, KEY, R6, "out");
	load_entry(c, known, R1);
	/* each call of 32-bit code says that it is one, because its number is not enough */
	if (MODE_MASK)
		emit_jump_if_imm(c, R8, JGT, NUMBERS - 1, "found");
	emit_jump_if_imm(c, R1, JEQ, 0, "out");
	if (!m->entering) { /* a filter of seccomp(2) may have denied it, without an entry */
		emit_jump_if_imm(c, R1, JEQ, HAS_MEMORY, "found");
		emit_load(c, SIZE_DW, R2, FP, RESULT);
		emit_jump_if_imm(c, R2, JSGE, 0, "out");
	}
	emit_label(c, "found");
}

/*
 * Note in the byte of the task that its call has begun. At the return, set R9 to a bit for each
 * argument that could not be read at the entry.
 */
static void note_call(struct bpf_code *c, const struct memory *m)
{
	emit_mov(c, R1, R9);
	if (m->entering) {
		emit_load(c, SIZE_DW, R0, FP, STATE);
		emit_alu_imm(c, ALU_AND, R1, TRACED);
		emit_alu_imm(c, ALU_OR, R1, ENTERED);
		emit_store(c, SIZE_B, R0, 0, R1);
		emit_mov_imm(c, R9, -1); /* what is not in memory here was not read before */
		return;
	}
	emit_alu_imm(c, ALU_RSH, R9, MISSING_SHIFT);
	emit_alu_imm(c, ALU_AND, R1, ENTERED);
	emit_jump_if_imm(c, R1, JNE, 0, "seen");
	emit_mov_imm(c, R9, -1); /* as after a filter of seccomp(2) refused it */
	emit_label(c, "seen");
}

/* Let R6 be the entry of the variant of the call, whose index is in R8. */
static void find_variant(struct bpf_code *c, const struct memory *m)
{
	jump_if_entry(c, variants, JEQ, 0, "no_variant");
	load_entry(c, by, R1);
	load_register(c, R2);
	emit_store(c, SIZE_W, FP, KEY, R2);
	emit_store(c, SIZE_W, FP, KEY + 4, R8);
	emit_find(c, m->variants, KEY, R0, "no_variant");
	emit_load(c, SIZE_W, R1, R0, 0);
	emit_store(c, SIZE_W, FP, KEY, R1);
	emit_find(c, m->calls, KEY, R6, "out");
	emit_label(c, "no_variant");
}

/*
 * Print the arguments of a call whose entry was not seen: a filter of seccomp(2) refused it, or
 * it began earlier. The kernel keeps their registers.
 */
static void print_registers(struct bpf_code *c, const struct memory *m)
{
	char text[48];

	for (int first = 0; first < CALL_ARGS; first += 3) {
		size_t n = str_format(text, sizeof(text), "%s r%d %%llx %%llx %%llx", m->p->id,
				      first);

		emit_scope(c);
		emit_string(c, R7, FORMAT_DATA, text);
		for (int i = 0; i < 3; i++)
			emit_load(c, word_size, (enum bpf_reg)(R3 + i), R7,
				  REGS + args[0][first + i] - FROM);
		if (MODE_MASK) {
			emit_jump_if_imm(c, R8, JLE, NUMBERS - 1, "native_registers");
			for (int i = 0; i < 3; i++)
				emit_load(c, SIZE_W, (enum bpf_reg)(R3 + i), R7,
					  REGS + args[MODE_MASK != 0][first + i] - FROM);
			emit_label(c, "native_registers");
		}
		emit_address(c, R1, R7, FORMAT_DATA);
		emit_mov_imm(c, R2, (int32_t)n + 1);
		emit_call(c, FN_TRACE_PRINTK);
		emit_scope_end(c);
	}
}

/* Print that the call is one of 32-bit code. */
static void print_compat(struct bpf_code *c, const struct memory *m)
{
	const int tag = FORMAT + m->id + 1;

	emit_store_imm(c, SIZE_B, R7, tag, tag_of(m, 'k'));
	emit_store_imm(c, SIZE_B, R7, tag + 1, '\0');
	emit_address(c, R1, R7, FORMAT);
	emit_mov_imm(c, R2, m->id + 3);
	emit_call(c, FN_TRACE_PRINTK);
	set(c, FIRST, 0);
}

/* to = the kernel's number of this size at R3 + at; 0 if it is absent. Overwrites R0 to R5. */
static void follow(struct bpf_code *c, enum bpf_reg to, enum bpf_size size, int at)
{
	if (at)
		emit_alu_imm(c, ALU_ADD, R3, at);
	read_kernel(c, size == SIZE_DW ? 8 : size == SIZE_W ? 4 : 2);
	emit_load(c, size, to, FP, SLOT);
}

/*
 * Print the protocol if the first argument is a netlink socket. A socket and its file point to each
 * other.
 */
static void print_protocol(struct bpf_code *c, const struct memory *m)
{
	char text[32];
	size_t n = str_format(text, sizeof(text), "%s %c0 %%llx", m->p->id, tag_of(m, 'p'));

	for (int i = 0; i < STEPS; i++)
		if (m->steps[i] < 0)
			return;
	jump_if_entry(c, messages, JEQ, 0, "no_protocol");
	emit_load(c, word_size, R1, R7, REGS + args[0][0] - FROM);
	if (MODE_MASK) {
		emit_jump_if_imm(c, R8, JLE, NUMBERS - 1, "native_socket");
		emit_load(c, SIZE_W, R1, R7, REGS + args[MODE_MASK != 0][0] - FROM);
		emit_label(c, "native_socket");
	}
	emit_alu32(c, ALU_MOV, R1, R1);
	store(c, LEFT, R1);
	emit_call(c, FN_GET_CURRENT_TASK);
	emit_mov(c, R3, R0);
	follow(c, R3, word_size, m->steps[FILES]);
	follow(c, R3, word_size, m->steps[TABLE]);
	store(c, WORDS, R3);
	follow(c, R1, SIZE_W, m->steps[MOST]);
	load(c, R2, LEFT);
	emit_jump_if(c, R1, JLE, R2, "no_protocol");
	load(c, R3, WORDS);
	follow(c, R3, word_size, m->steps[FDS]);
	load(c, R1, LEFT);
	emit_alu_imm(c, ALU_MUL, R1, WORD);
	emit_alu(c, ALU_ADD, R3, R1);
	follow(c, R3, word_size, 0);
	store(c, LEFT, R3);
	follow(c, R3, word_size, m->steps[PRIVATE]);
	store(c, WORDS, R3);
	follow(c, R1, word_size, m->steps[BACK]);
	load(c, R2, LEFT);
	emit_jump_if(c, R1, JNE, R2, "no_protocol");
	load(c, R3, WORDS);
	follow(c, R3, word_size, m->steps[SK]);
	store(c, WORDS, R3);
	follow(c, R1, SIZE_H, m->steps[FAMILY]);
	emit_jump_if_imm(c, R1, JNE, AF_NETLINK, "no_protocol");
	load(c, R3, WORDS);
	follow(c, R3, SIZE_H, m->steps[PROTOCOL]);
	emit_string(c, R7, FORMAT_DATA, text);
	load(c, R1, FIRST);
	emit_alu_imm(c, ALU_ADD, R1, '0');
	emit_store(c, SIZE_B, R7, FORMAT_DATA + m->id + 2, R1);
	emit_address(c, R1, R7, FORMAT_DATA);
	emit_mov_imm(c, R2, (int32_t)n + 1);
	emit_call(c, FN_TRACE_PRINTK);
	set(c, FIRST, 0);
	emit_label(c, "no_protocol");
}

/*
 * Find the entry of the call and the buffer: R6 and R7. Copy the registers. Jump out if there
 * is nothing to read.
 */
static void begin(struct bpf_code *c, const struct memory *m)
{
	char text[32];

	check_task(c, m);
	find_call(c, m);
	note_call(c, m);
	jump_if_entry(c, variants, JNE, 0, "needed");
	if (MODE_MASK)
		emit_jump_if_imm(c, R8, JGT, NUMBERS - 1, "needed");
	if (m->entering) {
		load_entry(c, at_entry, R1);
	} else {
		emit_jump_if_imm(c, R9, JNE, 0, "needed");
		load_entry(c, at_return, R1);
	}
	emit_jump_if_imm(c, R1, JEQ, 0, "out");
	emit_label(c, "needed");
	find_buffer(c, m);
	emit_address(c, R1, R7, REGS);
	emit_mov_imm(c, R2, SIZE);
	emit_load(c, SIZE_DW, R3, FP, REGS_AT);
	emit_alu_imm(c, ALU_ADD, R3, FROM);
	emit_call(c, FN_PROBE_READ_KERNEL);
	str_format(text, sizeof(text), "%s ?? %%pks", m->p->id);
	emit_string(c, R7, FORMAT, text);
	set(c, MASK, -1);
	set(c, INDEX, 0);
	set(c, FIRST, m->entering ? FIRST_DIGIT : 0);
	emit_load(c, SIZE_DW, R1, FP, RESULT);
	store(c, RETURNED, R1);
	store(c, ABSENT, R9);
	if (!m->entering) {
		emit_jump_if_imm(c, R9, JNE, -1, "has_entry");
		print_registers(c, m);
		emit_label(c, "has_entry");
	}
	if (MODE_MASK) {
		emit_jump_if_imm(c, R8, JLE, NUMBERS - 1, "known");
		emit_load_imm64(c, R1, UINT32_MAX);
		store(c, MASK, R1);
		print_compat(c, m);
		emit_label(c, "known");
	}
	if (m->entering)
		print_protocol(c, m);
	find_variant(c, m);
}

/*
 * After an exec, find words and environment on the stack: the number of words, the words, 0, and
 * the environment. The stack of a 64-bit big-endian program has the number in 8 bytes.
 */
static void find_new_program(struct bpf_code *c)
{

	jump_if_entry(c, exec, JEQ, 0, "in_register");
	jump_if_slot(c, RETURNED, JNE, 0, "in_register");
	emit_load(c, word_size, R8, R7, REGS + STACK - FROM);
	read_word(c);
	store(c, REGS + NEW_WORDS, R8);
	emit_load(c, word_size, R1, FP, SLOT);
	emit_alu_imm(c, ALU_ADD, R1, 1);
	load_word(c, R2);
	emit_alu(c, ALU_MUL, R1, R2);
	emit_alu(c, ALU_ADD, R8, R1);
	store(c, REGS + NEW_ENV, R8);
	/* execveat may return with the number of execve, whose arguments are in other registers */
	jump_if_slot(c, ABSENT, JEQ, 0, "in_register");
	set(c, ABSENT, -1);
	emit_label(c, "in_register");
}

/* Set the digit of a record. */
static void set_digit(struct bpf_code *c, const struct memory *m, int format)
{
	load_item(c, digit, R1);
	load(c, R2, FIRST);
	emit_alu(c, ALU_ADD, R1, R2);
	emit_store(c, SIZE_B, R7, format + m->id + 2, R1);
}

/* A record is printed: the next one is not the first. */
static void not_first(struct bpf_code *c, const struct memory *m)
{
	set(c, FIRST, 0);
	load_item(c, digit, R1);
	emit_store(c, SIZE_B, R7, FORMAT + m->id + 2, R1);
}

/*
 * Jump to NEXT unless the item, whose flags are in R2, is read at this side of the call. At the
 * entry all arguments are absent, and the call has failed.
 */
static void choose_side(struct bpf_code *c)
{
	/* R4: it is absent, and has to be read at the entry */
	load(c, R4, ABSENT);
	load_item(c, digit, R1);
	emit_alu_imm(c, ALU_AND, R1, 7);
	emit_alu(c, ALU_RSH, R4, R1);
	emit_alu(c, ALU_AND, R4, R2);
	emit_alu_imm(c, ALU_AND, R4, AT_ENTRY); /* which is 1 */
	emit_jump_if_imm(c, R4, JNE, 0, "read");
	emit_mov(c, R1, R2);
	emit_alu_imm(c, ALU_AND, R1, AT_RETURN);
	load(c, R3, RETURNED);
	emit_jump_if_imm(c, R1, JEQ, 0, "not_new");
	emit_jump_if_imm(c, R3, JSGE, 0, "read");
	emit_label(c, "not_new");
	emit_alu_imm(c, ALU_AND, R2, IF_INTERRUPTED);
	emit_jump_if_imm(c, R2, JEQ, 0, "next");
	emit_jump_if_imm(c, R3, JEQ, INTERRUPTED, "read");
	emit_jump_if_imm(c, R3, JNE, INTERRUPTED_RESTART, "next");
	emit_label(c, "read");
}

/* Take the next item, R8 = its address, and jump to what reads its kind. */
static void take_item(struct bpf_code *c, const struct memory *m)
{
	if (!m->may_goto)
		emit_mov_imm(c, R9, 0);
	loop_label(c, "next");
	count_round(c, m);
	set(c, ARRAY, 0);
	set(c, NEST, 0);
	set(c, QUEUE_HEAD, 0);
	set(c, QUEUE_TAIL, 0);
	jump_if_slot(c, INDEX, JGT, CALL_ARGS - 1, "out");
	emit_address(c, R2, R1, 1);
	store(c, INDEX, R2);
	emit_alu_imm(c, ALU_LSH, R1, 4); /* sizeof(struct item) */
	emit_alu(c, ALU_ADD, R1, R6);
	for (int i = 0; i < 16; i += 8) {
		emit_load(c, SIZE_DW, R2, R1, (int)offsetof(struct entry, items) + i);
		store(c, ITEM + i, R2);
	}
	jump_if_item(c, kind, JEQ, END, "out");
	load_item(c, flags, R2);
	choose_side(c);
	set_digit(c, m, FORMAT);
	load_item(c, flags, R2);
	emit_alu_imm(c, ALU_AND, R2, ON_STACK);
	emit_jump_if_imm(c, R2, JEQ, 0, "has_address");
	jump_if_slot(c, RETURNED, JNE, 0, "has_address");
	jump_if_item(c, count, JEQ, 0, "next");
	emit_jump(c, "has_register");
	emit_label(c, "has_address");
	load_item(c, arg, R1);
	emit_label(c, "has_register");
	load_register(c, R8);
	emit_jump_if_imm(c, R8, JEQ, 0, "next");
	load_item(c, kind, R1);
	if (m->kinds & 1 << STRINGS)
		emit_jump_if_imm(c, R1, JEQ, STRINGS, "array_begins");
	if (m->kinds & 1 << DATA)
		emit_jump_if_imm(c, R1, JEQ, DATA, "data_begins");
	set(c, LEFT, pieces(m));
}

/* Read a piece of the string at R8 to TEXT; jump to "fault" if it is not in memory. */
static void read_piece(struct bpf_code *c, const struct memory *m)
{
	const int piece = m->piece;

	emit_address(c, R1, R7, TEXT);
	emit_mov_imm(c, R2, piece + 1);
	emit_mov(c, R3, R8);
	emit_call(c, FN_PROBE_READ_USER_STR);
	emit_jump_if_imm(c, R0, JSLT, 0, m->entering ? "fault" : "part_of_string");
	set_tag(c, m, 'a', 1);
	emit_jump_if_imm(c, R0, JEQ, 0, "empty"); /* Linux 5.10: an empty string */
	emit_jump_if_imm(c, R0, JNE, piece + 1, "print");
	set_tag(c, m, 'c', 1);
	jump_if_slot(c, LEFT, JSLE, 1, "print");
	emit_alu_imm(c, ALU_SUB, R1, 1);
	store(c, LEFT, R1);
	set_tag(c, m, 'b', 1);
	emit_alu_imm(c, ALU_ADD, R8, piece);
	emit_jump(c, "print");
	emit_label(c, "empty");
	emit_store_imm(c, SIZE_B, R7, TEXT, 0);
}

/* At the return, read the string at R8 to the end of its page; the next page is not in memory. */
static void read_to_page_end(struct bpf_code *c, const struct memory *m)
{
	emit_label(c, "part_of_string");
	emit_mov(c, R1, R8);
	emit_alu_imm(c, ALU_AND, R1, PAGE - 1);
	emit_mov_imm(c, R2, PAGE);
	emit_alu(c, ALU_SUB, R2, R1);
	emit_jump_if_imm(c, R2, JGT, m->piece, "fault");
	store(c, CHUNK, R2);
	emit_address(c, R1, R7, TEXT);
	emit_mov(c, R3, R8);
	emit_call(c, FN_PROBE_READ_USER);
	emit_jump_if_imm(c, R0, JNE, 0, "fault");
	load(c, R1, CHUNK);
	emit_alu(c, ALU_ADD, R8, R1);
	emit_alu_imm(c, ALU_AND, R1, 511);
	emit_alu(c, ALU_ADD, R1, R7);
	emit_store_imm(c, SIZE_B, R1, TEXT, 0);
	set_tag(c, m, 'b', 1);
	emit_jump(c, "print");
}

/* Print the record that set_tag has prepared, and go on as its tag says. */
static void print_record(struct bpf_code *c, const struct memory *m)
{
	emit_address(c, R1, R7, FORMAT);
	load(c, R2, LENGTH);
	emit_alu_imm(c, ALU_AND, R2, 31);
	emit_alu_imm(c, ALU_ADD, R2, 1);
	emit_address(c, R3, R7, TEXT);
	emit_call(c, FN_TRACE_PRINTK);
	not_first(c, m);
	emit_load(c, SIZE_B, R1, R7, FORMAT + m->id + 1);
	emit_jump_if_imm(c, R1, JEQ, tag_of(m, 'b'), "more");
	emit_jump_if_imm(c, R1, JEQ, tag_of(m, 's'), "more");
	load(c, R8, ARRAY);
	emit_jump_if_imm(c, R8, JEQ, 0, "next");
}

/*
 * The argument is not in memory. Note that it has to be read at the return; the next entry forgets
 * what a return notes.
 */
static void note_missing(struct bpf_code *c, const struct memory *m)
{
	set(c, ARRAY, 0);
	emit_load(c, SIZE_DW, R3, FP, STATE);
	load_item(c, digit, R1);
	emit_alu_imm(c, ALU_AND, R1, 7);
	emit_mov_imm(c, R2, MISSING);
	emit_alu(c, ALU_LSH, R2, R1);
	emit_load(c, SIZE_B, R1, R3, 0);
	emit_alu(c, ALU_OR, R1, R2);
	emit_store(c, SIZE_B, R3, 0, R1);
	if (m->may_goto && m->kinds & 1 << DATA)
		jump_if_slot(c, NEST, JNE, 0, "pop");
	set_tag(c, m, 'x', 0);
	emit_jump(c, "print");
}

/* R8 = the next string of an array, whose place is at R8; or print why there is no more. */
static void take_word(struct bpf_code *c, const struct memory *m)
{
	count_round(c, m);
	read_word(c);
	store(c, ARRAY, R8);
	emit_load(c, word_size, R8, FP, SLOT);
	emit_jump_if_imm(c, R0, JNE, 0, "fault");
	load(c, R1, WORDS);
	emit_jump_if_imm(c, R8, JEQ, 0, "last_word");
	emit_jump_if_imm(c, R1, JEQ, 0, "many");
	emit_alu_imm(c, ALU_SUB, R1, 1);
	store(c, WORDS, R1);
	set_tag(c, m, 's', 0);
	emit_jump(c, "print");
	emit_label(c, "many");
	set(c, ARRAY, 0);
	set_tag(c, m, 'e', 0);
	emit_jump(c, "print");
	emit_label(c, "last_word");
	load_item(c, most, R2);
	emit_jump_if(c, R1, JNE, R2, "next");
	set(c, ARRAY, 0);
	set_tag(c, m, 'z', 0); /* there was no word */
	emit_jump(c, "print");
}

/* Print the string at R8, piece by piece, or the strings of an array. */
static void print_strings(struct bpf_code *c, const struct memory *m)
{
	loop_label(c, "more");
	count_round(c, m);
	read_piece(c, m);
	loop_label(c, "print");
	print_record(c, m);
	if (!(m->kinds & 1 << STRINGS)) {
		emit_jump(c, "next");
		return;
	}
	loop_label(c, "word");
	take_word(c, m);
	emit_label(c, "array_begins");
	set(c, LEFT, pieces(m));
	load_item(c, most, R1);
	store(c, WORDS, R1);
	emit_jump(c, "word");
}

/* LEFT = LEFT * the count that an argument says, at its address or as the result */
static void multiply_by_count(struct bpf_code *c)
{
	load_item(c, count, R1);
	load_register(c, R3);
	jump_unless_item(c, COUNT_IS_ADDRESS, "no_address");
	emit_mov_imm(c, R2, 4);
	read_slot(c);
	emit_load(c, SIZE_W, R3, FP, SLOT);
	emit_label(c, "no_address");
	emit_alu32(c, ALU_MOV, R3, R3);
	load_item(c, has_count, R1);
	emit_alu_imm(c, ALU_SUB, R1, 1);
	emit_alu_imm(c, ALU_AND, R1, 31);
	emit_mov_imm(c, R2, 1);
	emit_alu(c, ALU_LSH, R2, R1);
	emit_alu_imm(c, ALU_SUB, R2, 1);
	emit_alu(c, ALU_ADD, R3, R2);
	emit_alu(c, ALU_RSH, R3, R1);
	jump_unless_item(c, COUNT_IS_RESULT, "no_result");
	load(c, R1, RETURNED);
	emit_jump_if(c, R3, JSLE, R1, "no_result");
	emit_mov(c, R3, R1);
	emit_label(c, "no_result");
	load(c, R1, LEFT);
	emit_alu(c, ALU_MUL, R1, R3);
	store(c, LEFT, R1);
}

/*
 * R3 = LEFT; jump unless a message of netlink begins at the address in R3: its length, which is
 * that of the header at least, a type, and flags, of which linux/netlink.h has twelve.
 */
static void read_length(struct bpf_code *c, const char *to)
{
	emit_mov_imm(c, R2, 8);
	read_slot(c);
	emit_load(c, SIZE_W, R1, FP, SLOT);
	emit_load(c, SIZE_H, R2, FP, SLOT + 6);
	load(c, R3, LEFT);
	emit_jump_if_imm(c, R1, JLE, 15, to);
	emit_jump_if(c, R1, JGT, R3, to);
	emit_jump_if_imm(c, R2, JGT, 0xfff, to);
}

/*
 * LEFT = the bytes of the item to print, CUT = there are more; jump to "next" if there are none.
 * R9 is the count of rounds, R6 the entry, so the number of bytes is in the buffer.
 */
static void count_bytes(struct bpf_code *c)
{
	load_item(c, size, R1);
	store(c, LEFT, R1);
	jump_if_item(c, has_count, JEQ, 0, "counted");
	multiply_by_count(c);
	emit_label(c, "counted");
	set(c, CUT, 0);
	jump_if_slot(c, LEFT, JEQ, 0, "next");
	load_item(c, most, R2);
	emit_jump_if(c, R1, JSLE, R2, "fits");
	jump_if_item(c, message, JEQ, 0, "narrow");
	emit_mov(c, R3, R8);
	read_length(c, "narrow");
	emit_jump_if_imm(c, R3, JSLE, MESSAGE_MOST, "fits");
	emit_mov_imm(c, R2, MESSAGE_MOST);
	emit_jump(c, "wide");
	emit_label(c, "narrow");
	load_item(c, most, R2);
	emit_label(c, "wide");
	store(c, LEFT, R2);
	set(c, CUT, 1);
	emit_label(c, "fits");
}

/*
 * Read at most this many bytes at R8 to TEXT. R2 = CHUNK = how many, R1 = LEFT of them. At the
 * return, read only up to the end of the page if the next page is not in memory.
 */
static void read_chunk(struct bpf_code *c, const struct memory *m, int most)
{
	load(c, R2, LEFT);
	emit_jump_if_imm(c, R2, JEQ, 0, m->may_goto ? "item_done" : "next");
	if (m->may_goto) {
		load(c, R1, NEST);
		emit_alu_imm(c, ALU_AND, R1, 8);
		emit_mov_imm(c, R3, most);
		emit_alu(c, ALU_SUB, R3, R1);
		emit_jump_if(c, R2, JLE, R3, "part");
		emit_mov(c, R2, R3);
	} else { /* an older verifier needs a constant */
		emit_jump_if_imm(c, R2, JLE, most, "part");
		emit_mov_imm(c, R2, most);
	}
	emit_label(c, "part");
	store(c, CHUNK, R2);
	store(c, BASE, R8);
	/* no byte of an earlier record is after the last one */
	emit_mov(c, R1, R2);
	emit_alu_imm(c, ALU_SUB, R1, 1);
	emit_alu_imm(c, ALU_AND, R1, 0x78);
	emit_alu(c, ALU_ADD, R1, R7);
	emit_store_imm(c, SIZE_DW, R1, TEXT, 0);
	emit_address(c, R1, R7, TEXT);
	emit_mov(c, R3, R8);
	emit_call(c, FN_PROBE_READ_USER);
	load(c, R2, CHUNK);
	emit_jump_if_imm(c, R0, JEQ, 0, "chunk");
	if (!m->entering) {
		if (m->may_goto) { /* the elements before this page count */
			jump_if_slot(c, NEST, JNE, 0, "no_elements");
			jump_unless_item(c, MAY_BE_PART, "no_elements");
			emit_mov(c, R3, R8);
			emit_alu_imm(c, ALU_ADD, R3, PAGE - 1);
			emit_alu_imm(c, ALU_AND, R3, -PAGE);
			store(c, PARENT_END, R3);
			load(c, R1, PARENT);
			emit_mov(c, R4, R3); /* a part of a structure has pointers, too */
			emit_alu(c, ALU_SUB, R4, R1);
			load(c, R5, STRIDE);
			emit_jump_if(c, R5, JLE, R4, "whole_stride");
			store(c, STRIDE, R4);
			emit_label(c, "whole_stride");
			emit_jump_if(c, R1, JEQ, R8, "no_elements");
			emit_jump_if(c, R3, JEQ, R8, "item_done");
			emit_label(c, "no_elements");
		}
		emit_mov(c, R1, R8);
		emit_alu_imm(c, ALU_AND, R1, PAGE - 1);
		emit_mov_imm(c, R3, PAGE);
		emit_alu(c, ALU_SUB, R3, R1);
		emit_jump_if(c, R2, JSLE, R3, "fault");
		jump_if_slot(c, NEST, JNE, 0, "may_be_part");
		jump_unless_item(c, MAY_BE_PART, "fault");
		emit_label(c, "may_be_part");
		store(c, LEFT, R3);
		set(c, CUT, 1);
		emit_jump(c, "data_more");
	} else {
		emit_jump(c, "fault");
	}
	emit_label(c, "chunk");
	emit_alu(c, ALU_ADD, R8, R2);
	load(c, R1, LEFT);
	emit_alu(c, ALU_SUB, R1, R2);
	store(c, LEFT, R1);
}

/* Set the tag of a record of data. R4 = bytes of the last number of data that are cut off */
static void set_data_tag(struct bpf_code *c, const struct memory *m, int tag)
{
	emit_store_imm(c, SIZE_B, R7, tag, tag_of(m, 'd'));
	emit_mov_imm(c, R4, 0);
	emit_jump_if_imm(c, R1, JNE, 0, "not_last");
	jump_if_slot(c, CUT, JEQ, 0, "not_cut");
	emit_store_imm(c, SIZE_B, R7, tag, tag_of(m, 'e'));
	emit_jump(c, "bytes");
	emit_label(c, "not_cut");
	jump_if_slot(c, NEST, JEQ, 0, "not_last");
	emit_label(c, "bytes");
	emit_mov(c, R4, R2);
	emit_alu_imm(c, ALU_AND, R4, 7);
	emit_label(c, "not_last");
}

/*
 * End the format after the last number, and the number of bytes in R4: the format has 5 bytes for
 * each number. R2 = its length
 */
static void end_format(struct bpf_code *c, const struct memory *m)
{
	load(c, R1, NEST);
	emit_alu(c, ALU_ADD, R2, R1);
	emit_alu_imm(c, ALU_ADD, R2, 7);
	emit_alu_imm(c, ALU_RSH, R2, 3);
	emit_alu_imm(c, ALU_AND, R2, 15);
	emit_alu_imm(c, ALU_MUL, R2, 5);
	emit_mov(c, R1, R2);
	emit_alu(c, ALU_ADD, R1, R7);
	emit_store_imm(c, SIZE_B, R1, FORMAT_DATA + m->id + 3, 0);
	emit_alu_imm(c, ALU_ADD, R2, m->id + 4);
	emit_jump_if_imm(c, R4, JEQ, 0, "all_bytes");
	emit_store_imm(c, SIZE_B, R1, FORMAT_DATA + m->id + 3, '.');
	emit_alu_imm(c, ALU_ADD, R4, '0');
	emit_store(c, SIZE_B, R1, FORMAT_DATA + m->id + 4, R4);
	emit_store_imm(c, SIZE_B, R1, FORMAT_DATA + m->id + 5, 0);
	emit_alu_imm(c, ALU_ADD, R2, 2);
	emit_label(c, "all_bytes");
}

/* Print the numbers at TEXT with the format, whose length is in R2. */
static void print_numbers(struct bpf_code *c, const struct memory *m, int most)
{
	if (m->numbers > 3) {
		emit_mov_imm(c, R1, 8); /* with the address, or without it */
		load(c, R4, NEST);
		emit_alu(c, ALU_SUB, R1, R4);
		emit_alu_imm(c, ALU_AND, R1, 8);
		emit_address(c, R3, R7, BASE);
		emit_alu(c, ALU_ADD, R3, R1);
		emit_address(c, R1, R7, FORMAT_DATA);
		emit_mov_imm(c, R4, most);
		emit_call(c, FN_TRACE_VPRINTK);
	} else {
		load(c, R3, TEXT);
		load(c, R4, TEXT + 8);
		load(c, R5, TEXT + 16);
		emit_address(c, R1, R7, FORMAT_DATA);
		emit_call(c, FN_TRACE_PRINTK);
	}
}

/* The pointers of the structures at R8 follow, if the item has any. */
static void begin_points(struct bpf_code *c)
{
	load_item(c, points, R1);
	store(c, POINTS, R1);
	load_item(c, npoints, R1);
	store(c, NPOINTS, R1);
	load_item(c, size, R1);
	load(c, R2, LEFT);
	emit_jump_if_imm(c, R1, JNE, 1, "has_stride"); /* the size is an argument */
	emit_mov(c, R1, R2);
	emit_label(c, "has_stride");
	store(c, STRIDE, R1);
	store(c, PARENT, R8);
	emit_alu(c, ALU_ADD, R2, R8);
	store(c, PARENT_END, R2);
}

/* R3 = the count of the point at R9 of the structure at R8 */
static void read_count(struct bpf_code *c)
{
	emit_mov_imm(c, R3, 1);
	emit_get(c, R1, R9, point, count_width);
	emit_jump_if_imm(c, R1, JEQ, 0, "count_known");
	emit_get(c, R3, R9, point, count);
	emit_alu(c, ALU_ADD, R3, R8);
	emit_mov_imm(c, R2, 4);
	emit_jump_if_imm(c, R1, JEQ, 8, "long_count");
	read_slot(c);
	emit_load(c, SIZE_W, R3, FP, SLOT);
	emit_jump(c, "count_known");
	emit_label(c, "long_count");
	emit_mov_imm(c, R2, 8);
	read_slot(c);
	emit_load(c, SIZE_DW, R3, FP, SLOT);
	emit_label(c, "count_known");
	emit_jump_if_imm(c, R3, JLE, UINT16_MAX, "count_fits");
	emit_mov_imm(c, R3, UINT16_MAX);
	emit_label(c, "count_fits");
}

/* Jump to "point" unless the memory of the point at R9 is read at this side of the call. */
static void choose_point(struct bpf_code *c, const struct memory *m)
{
	emit_get(c, R1, R9, point, flags);
	if (!m->entering) {
		emit_mov(c, R2, R1);
		emit_alu_imm(c, ALU_AND, R2, AT_RETURN);
		emit_jump_if_imm(c, R2, JEQ, 0, "point_of_entry");
		load(c, R2, RETURNED);
		emit_jump_if_imm(c, R2, JSGE, 0, "point_chosen");
		emit_label(c, "point_of_entry");
		load(c, R2, ABSENT);
		load_item(c, digit, R3);
		emit_alu_imm(c, ALU_AND, R3, 7);
		emit_alu(c, ALU_RSH, R2, R3);
		emit_alu(c, ALU_AND, R1, R2);
	}
	emit_alu_imm(c, ALU_AND, R1, AT_ENTRY);
	emit_jump_if_imm(c, R1, JEQ, 0, "point");
	emit_label(c, "point_chosen");
}

/* The memory of the item is printed: put the next of the pointers that it has in the queue. */
static void put_points(struct bpf_code *c, const struct memory *m)
{
	emit_label(c, "item_done");
	set(c, POINT, 0);
	loop_label(c, "point");
	count_round(c, m);
	load(c, R1, POINT);
	load(c, R2, NPOINTS);
	load(c, R8, PARENT);
	load(c, R3, STRIDE);
	emit_alu(c, ALU_ADD, R3, R8);
	load(c, R4, PARENT_END);
	emit_jump_if_imm(c, R2, JEQ, 0, "pop");
	emit_jump_if(c, R3, JGT, R4, "pop");
	emit_jump_if(c, R1, JSLT, R2, "of_parent");
	set(c, POINT, 0);
	store(c, PARENT, R3);
	emit_jump(c, "point");
	emit_label(c, "of_parent");
	emit_address(c, R2, R1, 1);
	store(c, POINT, R2);
	load(c, R2, POINTS);
	emit_alu(c, ALU_ADD, R1, R2);
	emit_store(c, SIZE_W, FP, KEY, R1);
	emit_find(c, m->points, KEY, R9, "pop");
	choose_point(c, m);
	emit_get(c, R3, R9, point, offset);
	emit_alu(c, ALU_ADD, R3, R8);
	load_word(c, R2);
	read_slot(c);
	emit_load(c, word_size, R1, FP, SLOT);
	emit_jump_if_imm(c, R0, JNE, 0, "point");
	emit_jump_if_imm(c, R1, JEQ, 0, "point");
	store(c, TARGET, R1);
	read_count(c);
	emit_get(c, R1, R9, point, size);
	emit_alu(c, ALU_MUL, R3, R1);
	emit_get(c, R1, R9, point, most);
	emit_jump_if(c, R3, JLE, R1, "target_fits");
	store(c, LEFT, R3);
	emit_get(c, R1, R9, point, message);
	emit_jump_if_imm(c, R1, JEQ, 0, "target_narrow");
	load(c, R3, TARGET);
	read_length(c, "target_narrow");
	emit_mov_imm(c, R1, MESSAGE_MOST);
	emit_jump(c, "target_wide");
	emit_label(c, "target_narrow");
	load(c, R3, LEFT);
	emit_get(c, R1, R9, point, most);
	emit_label(c, "target_wide");
	emit_jump_if(c, R3, JLE, R1, "target_fits");
	emit_mov(c, R3, R1);
	emit_label(c, "target_fits");
	emit_jump_if_imm(c, R3, JEQ, 0, "point");
	load(c, R1, QUEUE_TAIL);
	emit_jump_if_imm(c, R1, JGT, QUEUE_MOST - 1, "pop");
	emit_address(c, R2, R1, 1);
	store(c, QUEUE_TAIL, R2);
	emit_alu_imm(c, ALU_LSH, R1, 4);
	emit_alu(c, ALU_ADD, R1, R7);
	load(c, R2, TARGET);
	emit_store(c, SIZE_DW, R1, QUEUE, R2);
	emit_store(c, SIZE_W, R1, QUEUE + 8, R3);
	emit_load(c, SIZE_W, R2, FP, KEY);
	emit_store(c, SIZE_W, R1, QUEUE + 12, R2);
	emit_jump(c, "point");
}

/* Take the next pointer of the queue, and print the memory that it points to. */
static void take_point(struct bpf_code *c, const struct memory *m, const char *format)
{
	emit_label(c, "pop");
	load(c, R1, QUEUE_HEAD);
	load(c, R2, QUEUE_TAIL);
	emit_jump_if(c, R1, JSGE, R2, "next");
	emit_jump_if_imm(c, R1, JGT, QUEUE_MOST - 1, "next");
	emit_address(c, R2, R1, 1);
	store(c, QUEUE_HEAD, R2);
	emit_alu_imm(c, ALU_LSH, R1, 4);
	emit_alu(c, ALU_ADD, R1, R7);
	emit_load(c, SIZE_DW, R8, R1, QUEUE);
	store(c, PARENT, R8);
	emit_load(c, SIZE_W, R2, R1, QUEUE + 8);
	store(c, LEFT, R2);
	emit_alu(c, ALU_ADD, R2, R8);
	store(c, PARENT_END, R2);
	emit_load(c, SIZE_W, R2, R1, QUEUE + 12);
	emit_store(c, SIZE_W, FP, KEY, R2);
	emit_find(c, m->points, KEY, R9, "next");
	emit_get(c, R1, R9, point, points);
	store(c, POINTS, R1);
	emit_get(c, R1, R9, point, npoints);
	store(c, NPOINTS, R1);
	emit_get(c, R1, R9, point, size);
	store(c, STRIDE, R1);
	set(c, NEST, 8);
	set(c, CUT, 0);
	emit_string(c, R7, FORMAT_DATA, format); /* a NUL may be in the last one */
	emit_store_imm(c, SIZE_B, R7, FORMAT_DATA + m->id + 2, '0' + CALL_ARGS);
	emit_jump(c, "data_more");
}

/* Print the bytes at R8 as numbers. */
static void print_data(struct bpf_code *c, const struct memory *m)
{
	const int most = (int)m->numbers * 8, tag = FORMAT_DATA + m->id + 1;
	char text[96];
	size_t n = str_format(text, sizeof(text), "%s d0", m->p->id);

	for (unsigned i = 0; i < m->numbers; i++)
		n += str_format(text + n, sizeof(text) - n, " %%llx");
	emit_label(c, "data_begins");
	emit_string(c, R7, FORMAT_DATA, text);
	set_digit(c, m, FORMAT_DATA);
	count_bytes(c);
	begin_points(c);
	loop_label(c, "data_more");
	count_round(c, m);
	read_chunk(c, m, most);
	set_data_tag(c, m, tag);
	end_format(c, m);
	print_numbers(c, m, most);
	not_first(c, m);
	jump_if_slot(c, NEST, JNE, 0, "data_more");
	load_item(c, digit, R1);
	emit_store(c, SIZE_B, R7, tag + 1, R1);
	emit_jump(c, "data_more");
	if (m->may_goto) {
		put_points(c, m);
		take_point(c, m, text);
	}
}

/* A call begins or ends. */
static void emit_side(struct bpf_code *c, struct memory *m, int entering)
{
	clear(c);
	m->entering = entering;
	begin(c, m);
	if (!entering)
		find_new_program(c);
	take_item(c, m);
	print_strings(c, m);
	if (m->kinds & 1 << DATA)
		print_data(c, m);
	if (!entering)
		read_to_page_end(c, m);
	emit_label(c, "fault");
	note_missing(c, m);
	emit_out(c, 0);
}

/* ---- the traced tasks -------------------------------------------------------------------- */

/*
 * A task forks: its child is traced if the task is. Without m->pid the pid of the child is at this
 * place of the event's record.
 */
static void emit_fork(struct bpf_code *c, const struct memory *m, int child)
{
	clear(c);
	if (m->pid >= 0) { /* a raw tracepoint with the child as its second argument */
		emit_load(c, SIZE_DW, R3, R1, 8);
		emit_alu_imm(c, ALU_ADD, R3, m->pid);
		read_kernel(c, 4);
		emit_load(c, SIZE_W, R7, FP, SLOT);
	} else {
		emit_load(c, SIZE_W, R7, R1, child);
	}
	set_pid(c, R6);
	find_task(c, m, R6);
	emit_load(c, SIZE_B, R8, R0, 0);
	emit_alu_imm(c, ALU_AND, R8, TRACED);
	emit_jump_if_imm(c, R8, JEQ, 0, "out");
	find_task(c, m, R7);
	emit_store(c, SIZE_B, R0, 0, R8);
	emit_out(c, 0);
}

/* A task ends: the next one with its pid is not traced. */
static void emit_end(struct bpf_code *c, const struct memory *m)
{
	clear(c);
	set_pid(c, R6);
	find_task(c, m, R6);
	emit_store_imm(c, SIZE_B, R0, 0, 0);
	emit_out(c, 0);
}

/* Let the task R7, which was R6 before an exec, have the byte of R6, also in R8. */
static void move_task(struct bpf_code *c, const struct memory *m)
{
	find_task(c, m, R6);
	emit_load(c, SIZE_B, R8, R0, 0);
	emit_store_imm(c, SIZE_B, R0, 0, 0);
	find_task(c, m, R7);
	emit_store(c, SIZE_B, R0, 0, R8);
}

/*
 * A task executes a program. If it is not the leader, it takes the pid of the leader, which has
 * ended.
 */
static void emit_exec(struct bpf_code *c, const struct memory *m)
{
	clear(c);
	emit_load(c, SIZE_DW, R6, R1, 8); /* the second argument: the task's old pid */
	set_pid(c, R7);
	move_task(c, m);
	emit_out(c, 0);
}

/* ---- load and attach ------------------------------------------------------------------------ */

/* Make a map whose name begins with the plan's id. Return a descriptor, or -1, reported. */
static int make_map(const struct memory_plan *p, enum bpf_map_type kind, const char *name,
		    unsigned key, unsigned value, unsigned entries)
{
	char as[32];
	int fd;

	str_format(as, sizeof(as), "%s_%s", p->id, name);
	fd = bpf_map(kind, as, key, value, entries);
	return fd < 0 ? err_capability(CAPS_BPF, "unable to make a BPF map") : fd;
}

/* Load the code. Return a descriptor, or -1, reported. */
static int load_program(const struct memory_plan *p, struct bpf_code *c, const char *name,
			const struct bpf_load_as *as)
{
	static const uint64_t needs = CAPS_BPF | CAPS_PERFMON;
	char why[256];
	int fd = bpf_load(c, p->id, as, why, sizeof(why));

	if (fd < 0 && *why)
		err_capability(needs, "the kernel refused the program for %s (%s)", name, why);
	else if (fd < 0)
		err_capability(needs, "the kernel refused the program for %s", name);
	return fd;
}

int memory_attach_at(struct memory_plan *p, struct bpf_code *c, const char *event, uint32_t raw)
{
	const uint32_t type = raw == RAW_TRACEPOINT ? 0 : raw;
	const struct bpf_load_as as = {
		.kind = type ? PROGRAM_TRACING : raw ? PROGRAM_RAW_TRACEPOINT : PROGRAM_TRACEPOINT,
		.attach = type ? ATTACH_TRACEPOINT : 0, .function = type, .where = event,
	};
	char path[128], *id = NULL;
	const char *digits;
	int fd, held;

	if (!raw) {
		str_format(path, sizeof(path), "events/%s/id", event);
		id = file_read(p->root, path, NULL);
		if (!id)
			return err_file("unable to read %s", path);
	}
	fd = load_program(p, c, event, &as);
	digits = id;
	held = fd < 0 ? -1 : raw ? bpf_raw_tracepoint(fd, type ? NULL : event) :
	       bpf_tracepoint(fd, (unsigned long)text_digits(&digits));
	if (fd >= 0 && held < 0)
		err_capability(CAPS_PERFMON, "unable to attach to %s", event);
	free(id);
	fd_close(fd);
	if (held < 0)
		return -1;
	p->fds[p->n++] = held;
	return 0;
}

int memory_field(const char *format, const char *field)
{
	const char *s = strstr(format, field);

	s = s ? strstr(s, "offset:") : NULL;
	s = s ? s + 7 : "";
	return (int)text_digits(&s);
}

/*
 * Follow the tasks of the pid filter, as the kernel does. A child of a task that is not
 * in the map yet is in the filter, so read the filter until it has no other tasks.
 * Return 0, or -1, reported.
 */
static int follow_tasks(const struct memory *m, struct memory_plan *p, struct bpf_code *code,
			volatile uint8_t *bytes, size_t pids)
{
	/* the kernel waits for long when a program leaves an event, but not a raw tracepoint */
	const int raw = m->pid >= 0;
	char *format = file_read(p->root, "events/sched/sched_process_fork/format", NULL);
	int child = format ? memory_field(format, " child_pid;") : 0, r;
	struct pids known = { 0 }, now = { 0 };

	free(format);
	if (!child)
		return err_file("unable to read events/sched/sched_process_fork/format");
	emit_end(code, m);
	r = memory_attach_at(p, code, "sched_process_exit", RAW_TRACEPOINT);
	emit_fork(code, m, child);
	r = r ? r : memory_attach_at(p, code, raw ? "sched_process_fork" :
				     "sched/sched_process_fork", raw ? RAW_TRACEPOINT : 0);
	while (!r) {
		r = pidfilter_list(p->tasks, &now);
		if (!r && pids_same(&known, &now))
			break;
		for (size_t i = 0; i < now.n; i++)
			if ((size_t)now.v[i] < pids)
				bytes[now.v[i]] |= TRACED;
		pids_clear(&known);
		known = now;
		now = (struct pids){ 0 };
	}
	pids_clear(&known);
	pids_clear(&now);
	return r;
}

/* ---- the map of calls ---------------------------------------------------------------------- */

/* Set the item of an argument that is user memory, in 32-bit code if compat is set. */
static void describe(struct item *item, const struct memory_plan *p, const struct call_arg *a,
		     int compat, int arrays)
{
	int exec = arrays >= 0, count = a->count, shift = a->shift;

	item->flags = (uint8_t)((a->in ? AT_ENTRY : 0) | (a->out & CALL_OUT ? AT_RETURN : 0) |
				(a->out == CALL_OUT_INTERRUPTED ? IF_INTERRUPTED : 0));
	item->most = STRUCT_MOST;
	item->size = 1;
	switch (a->kind) {
	case CALL_PATH:
	case CALL_STRING:
		item->kind = a->out && a->count >= 0 ? DATA : STRING;
		item->most = 4096;
		item->flags |= exec ? ON_STACK : 0;
		break;
	case CALL_STRINGS:
		item->kind = arrays == 1 ? !p->env ? END : STRINGS : p->no_args ? END : STRINGS;
		item->most = (uint16_t)(arrays == 1 ? ENV_MOST : p->words);
		item->flags |= exec ? ON_STACK : 0;
		item->count = arrays ? NEW_ENV : NEW_WORDS;
		break;
	case CALL_BUFFER:
		item->most = (uint16_t)(a->bits ? STRUCT_MOST : p->data);
		item->kind = item->most ? DATA : END;
		item->message = a->message && item->most && item->most < MESSAGE_MOST;
		break;
	case CALL_STRUCT:
		item->kind = a->size ? DATA : END;
		item->size = count < 0 ? a->used : a->size;
		item->flags |= count < 0 && !a->sized ? 0 : MAY_BE_PART;
		if (a->bits) { /* in units of 8 bytes */
			shift = 6;
			item->size = 8;
			count = 0;
		} else if (a->sized) {
			item->size = 1;
			count = a->sized - 1;
		}
		break;
	case CALL_SOCKADDR:
	case CALL_OPTION:
		item->kind = DATA;
		item->most = a->kind == CALL_SOCKADDR ? SOCKADDR_MOST : STRUCT_MOST;
		item->flags |= a->kind == CALL_OPTION ? MAY_BE_PART : 0;
		if (a->out) { /* the address of its length follows */
			item->flags |= COUNT_IS_ADDRESS | MAY_BE_PART;
			count = item->digit - '0' + 1;
		}
	}
	if (count >= 0) {
		item->has_count = (uint8_t)(1 + shift);
		item->count = (uint16_t)(args[compat][count] - FROM);
		if (a->count >= 0 && a->out && !a->in && !a->whole &&
		    !(item->flags & COUNT_IS_ADDRESS))
			item->flags |= COUNT_IS_RESULT;
	}
}

/* Describe the pointers of an argument that is a structure, and return the index of the first. */
static uint16_t describe_points(struct memory *m, int compat, const struct call_arg *a,
				uint8_t *number)
{
	struct call_pointer p;
	unsigned first = m->npoints, n = 0;

	while (n < UINT8_MAX && call_pointer(m->tables[compat], a, n, &p))
		n++;
	if (first + n > POINTS_MOST)
		n = 0;
	m->npoints += n;
	*number = (uint8_t)n;
	for (unsigned i = 0; i < n; i++) {
		struct item item = { .digit = '0' };
		struct point *to = &m->point[first + i];

		call_pointer(m->tables[compat], a, i, &p);
		m->messages |= p.arg.message && m->p->data;
		describe(&item, m->p, &p.arg, compat, -1);
		if (item.kind != DATA)
			item.most = 0;
		*to = (struct point){ .offset = p.offset, .count = p.count_at,
				      .count_width = p.count_width, .flags = item.flags,
				      .size = item.size, .most = item.most,
				      .message = item.message };
		to->points = describe_points(m, compat, &p.arg, &to->npoints);
	}
	return (uint16_t)first;
}

/* Return the most rounds of the loop that an item takes. */
static unsigned rounds_of(const struct memory *m, const struct item *item)
{
	switch (item->kind) {
	case STRING:
		return (unsigned)pieces(m) + 3;
	case STRINGS: /* words share the pieces, and each one takes a round and a piece at least */
		return (unsigned)pieces(m) + 2 * item->most + 4;
	case DATA:
		return (item->message ? MESSAGE_MOST : item->most) / (8 * m->numbers) + 4;
	}
	return 1;
}

/* Is this call recorded? */
static int is_chosen(const struct memory_plan *p, const char *name)
{
	char *const *n = p->names;

	if (!*n)
		return 1;
	while (*n && strcmp(*n, name))
		n++;
	return *n != NULL;
}

/* Describe a call, and raise the number of rounds to what it needs. */
static void describe_call(struct entry *e, struct memory *m, const struct call *call, int compat)
{
	int exec = !strncmp(call->name, "exec", 4), arrays = exec ? 0 : -1;
	struct item *item = e->items;
	unsigned rounds = 4;

	m->messages = 0;
	e->exec = (uint8_t)exec;
	e->known = NO_MEMORY;
	for (unsigned i = 0; i < call->nargs; i++) {
		*item = (struct item){ .digit = (uint8_t)('0' + i),
				       .arg = (uint16_t)(args[compat][i] - FROM) };
		describe(item, m->p, &call->args[i], compat, arrays);
		m->messages |= call->args[i].message && m->p->data;
		arrays += exec && call->args[i].kind == CALL_STRINGS;
		if (!item->kind)
			continue;
		if (m->may_goto && item->kind == DATA)
			item->points = describe_points(m, compat, &call->args[i], &item->npoints);
		m->kinds |= 1u << item->kind;
		e->known = HAS_MEMORY;
		e->at_entry |= !!(item->flags & AT_ENTRY);
		e->at_return |= !!(item->flags & (AT_RETURN | IF_INTERRUPTED));
		rounds += rounds_of(m, item);
		item++;
	}
	if (item < e->items + CALL_ARGS)
		*item = (struct item){ .kind = END };
	e->messages = m->messages && call->args[0].kind == CALL_FD;
	e->at_entry |= e->messages;
	if (rounds > m->rounds)
		m->rounds = rounds;
	if (compat) /* the tag k tells which call it is */
		e->known = HAS_MEMORY;
}

/*
 * Describe the variants of the call with this index that have other memory than the call itself.
 * The entries from *next on are free. Return 0, or -1 and errno.
 */
static int describe_variants(struct entry *entries, struct memory *m, const struct call *call,
			     uint32_t index, uint32_t *next)
{
	int compat = index >= NUMBERS;
	struct call_variant v;
	struct entry e;

	for (unsigned i = 0; calls_variant(call, i, &v); i++) {
		struct variant key = { .value = v.value, .number = index };

		memset(&e, 0, sizeof(e));
		describe_call(&e, m, v.call, compat);
		if (!memcmp(e.items, entries[index].items, sizeof(e.items)))
			continue;
		if (*next == 2 * NUMBERS + VARIANTS) {
			errno = E2BIG; /* all variants are in this source tree, so this is a bug */
			return -1;
		}
		e.known = HAS_MEMORY;
		entries[*next] = e;
		entries[index].known = HAS_MEMORY;
		entries[index].variants = 1;
		entries[index].by = (uint16_t)(args[compat][v.arg] - FROM);
		if (bpf_update(m->variants, &key, next) < 0)
			return -1;
		++*next;
	}
	return 0;
}

/*
 * Report a name that no call has. The kernel may have a call that the tables do not have; nothing
 * is known of its memory. Return 0 or -1.
 */
static int check_names(const struct memory_plan *p, struct calls *const *calls)
{
	for (char *const *names = p->names; *names; names++) {
		const struct call *call = NULL;
		char event[128];
		unsigned n = 0;

		while (n < 2 * NUMBERS && (!call || strcmp(call->name, *names))) {
			call = calls[n & 1] ? calls_find(calls[n & 1], n / 2) : NULL;
			n++;
		}
		str_format(event, sizeof(event), "events/syscalls/sys_enter_%.80s", *names);
		if ((!call || strcmp(call->name, *names)) && !file_exists(p->root, event))
			return err_msg("unknown system call '%.80s'", *names);
	}
	return 0;
}

/* Fill the map of calls. Return 0, or -1, reported. */
static int describe_calls(struct memory *m, struct entry *entries)
{
	const char *abi_32 = ABI_32;
	struct calls **calls = m->tables;
	uint32_t next = 2 * NUMBERS;
	const struct call *call;

	calls[0] = calls_open(NULL);
	calls[1] = abi_32 ? calls_open(abi_32) : NULL;
	if (!calls[0] || (abi_32 && !calls[1]) || check_names(m->p, calls) < 0)
		return -1;
	for (unsigned n = 0; n < 2 * NUMBERS; n++) {
		int compat = n >= NUMBERS;

		call = calls[compat] ? calls_find(calls[compat], n % NUMBERS) : NULL;
		if (!call || !is_chosen(m->p, call->name))
			continue;
		describe_call(&entries[n], m, call, compat);
		if (describe_variants(entries, m, call, n, &next) < 0)
			return err_capability(CAPS_BPF, "unable to fill a BPF map");
	}
	return 0;
}

/* Make a map of entries that this process writes without bpf(2). Return it and set *fd, or NULL. */
static void *shared_map(const struct memory_plan *p, const char *name, int *fd, unsigned size,
			unsigned entries)
{
	void *map;

	*fd = make_map(p, MAP_ARRAY, name, 4, size, entries);
	if (*fd < 0)
		return NULL;
	map = mmap(NULL, (size_t)size * entries, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (map == MAP_FAILED)
		err_capability(CAPS_BPF, "unable to make a BPF map");
	return map == MAP_FAILED ? NULL : map;
}

/* Find the offsets in the kernel's BTF, or use those since Linux 5.10 if it has none. */
static void find_offsets(struct memory *m, unsigned version)
{
	char path[PATH_MAX];
	struct btf btf;
	int info, status;

	/* flags, since Linux 5.11 syscall_work, and status; thread_info comes first */
	m->status = version < KERNEL(5, 11) ? 8 : 16;
	str_format(path, sizeof(path), "%s/kernel/btf/vmlinux", path_sysfs());
	m->pid = -1;
	memset(m->steps, -1, sizeof(m->steps));
	if (btf_read(&btf, path) < 0)
		return;
#define FIND_STEP(NAME, structure, member) \
	m->steps[NAME] = btf_member(&btf, #structure, #member);
	STEP_MEMBERS(FIND_STEP)
	m->pid = btf_member(&btf, "task_struct", "pid");
	info = btf_member(&btf, "task_struct", "thread_info");
	status = btf_member(&btf, "thread_info", "status");
	if (info >= 0 && status >= 0)
		m->status = info + status;
	if (MODE_MASK != 0 && version >= KERNEL(5, 11) && m->pid >= 0 &&
	    (MODE >= 0 || status >= 0)) {
		m->types[0] = btf_tracepoint(&btf, "sys_exit");
		m->types[1] = btf_tracepoint(&btf, "sys_enter");
	}
	btf_free(&btf);
}

/* Set what depends on the kernel, and make the buffer. Return 0, or -1, reported. */
static int prepare(struct memory *m, struct memory_plan *p)
{
	char *page = file_read(p->root, "events/header_page", NULL);
	const char *commit = page ? strstr(page, "commit;") : NULL;
	const int word = commit && strstr(commit, "size:8") ? 8 : 4;
	struct utsname host;
	unsigned version = !uname(&host) ? kernel_version(host.release) : 0;

	free(page);
	if (!page)
		return err_file("unable to read events/header_page");
	if (!SIZE || word != WORD)
		return err_msg("calls: the registers of this kernel are not known");
	find_offsets(m, version);
	m->piece = version >= KERNEL(5, 13) ? PIECE_NEW : PIECE_OLD;
	m->may_goto = version >= KERNEL(6, 9);
	m->numbers = version >= KERNEL(5, 16) ? 12 : 3; /* bpf_trace_vprintk */
	m->buffer = bpf_map(MAP_PERCPU_ARRAY, "tfs_strings", 4, BUFFER, 1);
	if (m->buffer < 0)
		return err_capability(CAPS_BPF, "unable to make a BPF map");
	/* not only a number: the kernel's filters take a glob that begins with a digit for one */
	m->id = (int)str_format(p->id, sizeof(p->id), "tfs_%x", bpf_id(m->buffer));
	return 0;
}

int memory_attach(struct memory_plan *p)
{
	static struct bpf_code code;
	struct memory m = { .p = p, .all = !p->tasks };
	const unsigned pids = WORD == 8 ? PIDS_64 : PIDS_32;
	struct entry *entries;
	uint8_t *tasks;
	int r;

	if (prepare(&m, p) < 0)
		return -1;
	m.variants = make_map(p, MAP_HASH, "variants", sizeof(struct variant), 4, VARIANTS);
	if (m.variants < 0)
		return -1;
	m.point = shared_map(p, "points", &m.points, sizeof(*m.point), POINTS_MOST);
	if (!m.point)
		return -1;
	entries = shared_map(p, "calls", &m.calls, sizeof(*entries), 2 * NUMBERS + VARIANTS);
	tasks = entries ? shared_map(p, "tasks", &m.tasks, TASKS, pids / TASKS) : NULL;
	if (!tasks || describe_calls(&m, entries) < 0)
		return -1;
	emit_exec(&code, &m);
	r = memory_attach_at(p, &code, "sched_process_exec", RAW_TRACEPOINT);
	if (!r && p->cpu)
		cpu_attach(p);
	if (p->tasks)
		r = r ? r : follow_tasks(&m, p, &code, tasks, pids);
	/* the return first: a call whose beginning was not seen is read there */
	emit_side(&code, &m, 0);
	r = r ? r : memory_attach_at(p, &code, "sys_exit",
				 m.types[0] ? m.types[0] : RAW_TRACEPOINT);
	emit_side(&code, &m, 1);
	return r ? r : memory_attach_at(p, &code, "sys_enter",
				    m.types[1] ? m.types[1] : RAW_TRACEPOINT);
}
