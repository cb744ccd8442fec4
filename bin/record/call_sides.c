/* SPDX-License-Identifier: ISC */
/*
 * call_sides.c - the programs at the two sides of a system call
 *
 * Programs run at the raw tracepoints sys_enter and sys_exit. They leave at once if the task is not
 * traced, or if the call is not recorded. At the entry a call goes to the map of open calls, with
 * the memory that it passes. At the return it becomes one record. Most calls pass no memory, or one
 * string: their record is made in the map itself. All others are put together in the buffer of the
 * CPU.
 *
 * Memory that the kernel reads is read at the entry, because the program may change it while the
 * call runs. A page that is not in memory cannot be read there, as a BPF program must not sleep;
 * it is read at the return, when the kernel has read it, too. A byte for each possible pid says
 * which arguments that concerns.
 *
 * After an exec, the words and the environment are on the stack of the new program.
 */
#include <sys/socket.h>

#include "call_programs.h"

static const uint16_t registers[2][CALL_ARGS] = REGISTERS;
static const struct bpf_slot slots[] = { SLOTS(BPF_SLOT) { 0 } };

/* ---- phrases of instructions ------------------------------------------------------------- */

void begin_program(struct bpf_code *c, const struct programs *m)
{
	bpf_begin(c, slots, &m->p->alone);
}

void load(struct bpf_code *c, enum bpf_reg to, int at)
{
	emit_load(c, SIZE_DW, to, R7, at);
}

void store(struct bpf_code *c, int at, enum bpf_reg from)
{
	emit_store(c, SIZE_DW, R7, at, from);
}

void set(struct bpf_code *c, int at, int32_t n)
{
	emit_store_imm(c, SIZE_DW, R7, at, n);
}

void jump_if_slot(struct bpf_code *c, int at, enum bpf_jump is, int32_t n, const char *to)
{
	load(c, R1, at);
	emit_jump_if_imm(c, R1, is, n, to);
}

void find_task(struct bpf_code *c, const struct programs *m, enum bpf_reg reg)
{
	emit_value(c, R0, m->tasks);
	emit_alu_imm(c, ALU_AND, reg, LIST_PIDS - 1);
	emit_alu(c, ALU_ADD, R0, reg);
}

void set_pid(struct bpf_code *c, enum bpf_reg to)
{
	emit_call(c, FN_GET_CURRENT_PID_TGID);
	emit_alu32(c, ALU_MOV, to, R0);
}

void find_open(struct bpf_code *c, const struct programs *m, int claim, const char *other)
{
	emit_scope(c);
	emit_load(c, SIZE_DW, R1, FP, TASK);
	emit_mov(c, R2, R1);
	emit_alu_imm(c, ALU_AND, R2, (int32_t)m->places - 1);
	emit_alu_imm(c, ALU_MUL, R2, (int32_t)m->place_size);
	emit_value(c, R7, m->open);
	emit_alu(c, ALU_ADD, R7, R2);
	emit_get(c, R2, R7, open_call, pid);
	emit_jump_if(c, R1, claim ? JEQ : JNE, R2, claim ? "has_place" : other);
	if (claim) {
		emit_count(c, R7, (int)offsetof(struct open_call, claims));
		emit_get(c, R1, R7, open_call, claims);
		emit_jump_if_imm(c, R1, JEQ, 1, "takes_place");
		emit_mov_imm(c, R1, -1);
		emit_add(c, R7, (int)offsetof(struct open_call, claims), R1);
		emit_jump(c, other);
		emit_label(c, "takes_place");
		emit_load(c, SIZE_DW, R1, FP, TASK);
		emit_set(c, R7, open_call, pid, R1);
		emit_set_imm(c, R7, open_call, open, 0);
		emit_label(c, "has_place");
	}
	emit_scope_end(c);
}

void leave_open(struct bpf_code *c)
{
	emit_set_imm(c, R7, open_call, open, 0);
	emit_set_imm(c, R7, open_call, pid, 0);
	emit_mov_imm(c, R1, -1);
	emit_add(c, R7, (int)offsetof(struct open_call, claims), R1);
}

void read_kernel(struct bpf_code *c, int size)
{
	emit_store_imm(c, SIZE_DW, FP, SLOT, 0);
	emit_address(c, R1, FP, SLOT);
	emit_mov_imm(c, R2, size);
	emit_call(c, FN_PROBE_READ_KERNEL);
}

void read_slot(struct bpf_code *c)
{
	emit_store_imm(c, SIZE_DW, FP, SLOT, 0);
	emit_address(c, R1, FP, SLOT);
	emit_call(c, FN_PROBE_READ_USER);
}

void load_word(struct bpf_code *c, enum bpf_reg to)
{
	if (MODE_MASK) {
		load(c, to, WIDE);
		emit_alu_imm(c, ALU_AND, to, 4);
		emit_alu_imm(c, ALU_ADD, to, 4);
	} else {
		emit_mov_imm(c, to, WORD);
	}
}

void read_word(struct bpf_code *c)
{
	load_word(c, R2);
	emit_mov(c, R3, R8);
	emit_alu(c, ALU_ADD, R8, R2);
	read_slot(c);
}

void count_round(struct bpf_code *c, const struct programs *m)
{
	if (m->may_goto) {
		emit_may_goto(c, "done");
		return;
	}
	emit_alu_imm(c, ALU_ADD, R9, 1);
	emit_jump_if_imm(c, R9, JGT, (int32_t)m->rounds, "done");
}

void loop_label(struct bpf_code *c, const char *label)
{
	emit_jump(c, label);
	emit_label(c, label);
}

/* to = the number at from + at in the kernel's memory. Without BTF, overwrites R0 to R5. */
static void load_kernel(struct bpf_code *c, const struct programs *m, enum bpf_size size,
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

/* ---- which call it is ---------------------------------------------------------------------- */

void load_number(struct bpf_code *c, const struct programs *m)
{
	load_kernel(c, m, (enum bpf_size)NR_SIZE, R2, R6, NR);
#ifdef __s390x__
	emit_alu_imm(c, ALU_AND, R2, 0xffff);
#endif
#ifdef __arm__
	if (!m->entering) {
		emit_jump_if_imm(c, R2, JNE, 0, "not_exec");
		load_kernel(c, m, SIZE_W, R1, R6, CLEARED);
		emit_mov_imm(c, R2, 0);
		emit_jump_if_imm(c, R1, JNE, 0, "not_exec");
		emit_mov_imm(c, R2, EXECVE);
		emit_label(c, "not_exec");
	}
#endif
}

/* R0 = the entry whose index is in reg, which is overwritten */
static void find_entry(struct bpf_code *c, const struct programs *m, enum bpf_reg reg)
{
	emit_alu_imm(c, ALU_MUL, reg, sizeof(struct entry));
	emit_value(c, R0, m->calls);
	emit_alu(c, ALU_ADD, R0, reg);
}

void load_mode(struct bpf_code *c, const struct programs *m)
{
	if (MODE >= 0) {
		load_kernel(c, m, SIZE_DW, R1, R6, MODE);
		return;
	}
	if (!m->types[m->entering]) {
		emit_call(c, FN_GET_CURRENT_TASK);
		emit_mov(c, R7, R0);
	}
	load_kernel(c, m, SIZE_W, R1, R7, m->status);
}

/*
 * Let R6 be the registers and R9 the byte of the task. Jump to exit if the task is not traced, or
 * before that if no call with this number is recorded. With BTF, this takes a single helper call.
 */
static void check_task(struct bpf_code *c, const struct programs *m)
{
	const int btf = m->types[m->entering] != 0;

	emit_load(c, SIZE_DW, R6, R1, 0);
	if (!m->entering)
		emit_load(c, SIZE_DW, R8, R1, 8);
	if (btf && *m->p->names) {
		load_number(c, m);
		emit_jump_if_imm(c, R2, JGT, NUMBERS - 1, "other_number");
		find_entry(c, m, R2);
		emit_get(c, R1, R0, entry, any_mode);
		emit_jump_if_imm(c, R1, JEQ, 0, "exit");
		emit_label(c, "other_number");
	}
	emit_call(c, btf ? FN_GET_CURRENT_TASK_BTF : FN_GET_CURRENT_PID_TGID);
	if (btf) {
		emit_mov(c, R7, R0);
		emit_store(c, SIZE_DW, FP, CURRENT, R0);
		emit_load(c, SIZE_W, R9, R0, m->pid);
	} else {
		emit_alu32(c, ALU_MOV, R9, R0);
	}
	emit_mov(c, R2, R9);
	find_task(c, m, R2);
	emit_load(c, SIZE_B, R1, R0, 0);
	emit_mov(c, R2, R1);
	emit_alu_imm(c, ALU_AND, R2, LISTED);
	emit_jump_if_imm(c, R2, m->all ? JNE : JEQ, 0, "exit");
	emit_store(c, SIZE_DW, FP, TASK, R9);
	emit_store(c, SIZE_DW, FP, STATE, R0);
	emit_mov(c, R9, R1);
	if (m->entering) { /* nothing is missing of the call that begins */
		emit_jump_if(c, R1, JEQ, R2, "none_missing"); /* CPUs share the cache line */
		emit_store(c, SIZE_B, R0, 0, R2);
		emit_label(c, "none_missing");
		emit_mov_imm(c, R8, -ENOSYS); /* no result: what the kernel writes is not read */
	} else if (WORD == 4) {
		emit_alu_imm(c, ALU_LSH, R8, 32);
		emit_alu_imm(c, ALU_ARSH, R8, 32);
	}
	emit_store(c, SIZE_DW, FP, RESULT, R8);
}

/*
 * Set R8 to the index of the entry of the call, and NUMBER and ENTRY. Jump out if it is not
 * recorded.
 */
static void find_call(struct bpf_code *c, const struct programs *m)
{
	load_number(c, m);
	emit_mov(c, R8, R2);
	emit_store(c, SIZE_DW, FP, NUMBER, R8);
	emit_jump_if_imm(c, R8, JLE, NUMBERS - 1, "in_table");
	emit_mov_imm(c, R8, OTHER_CALL);
	emit_jump(c, "found");
	emit_label(c, "in_table");
	if (MODE_MASK) {
		load_mode(c, m);
		emit_alu_imm(c, ALU_AND, R1, MODE_MASK);
		emit_jump_if_imm(c, R1, JNE, MODE_32, "found");
		emit_alu_imm(c, ALU_ADD, R8, NUMBERS);
	}
	emit_label(c, "found");
	emit_mov(c, R1, R8);
	find_entry(c, m, R1);
	emit_store(c, SIZE_DW, FP, ENTRY, R0);
	emit_get(c, R1, R0, entry, known);
	emit_jump_if_imm(c, R1, JEQ, 0, "out");
	if (m->entering)
		emit_jump_if_imm(c, R1, JEQ, ENDS, "out");
}

/* ---- the call, as the record has it ---------------------------------------------------------- */

/* The members of the call whose record is at R7 + at */
#define HEAD_OF(at) ((at) + (int)sizeof(struct ring_head))
#define OF_RECORD(at, member) (HEAD_OF(at) + (int)offsetof(struct call_record, member))
#define OF_CALL(at, member) OF_RECORD(at, call.member)

/* to = the argument whose number is in R1, of the call whose record is at R7 + at */
static void load_argument_of(struct bpf_code *c, enum bpf_reg to, int at)
{
	emit_alu_imm(c, ALU_AND, R1, 7);
	emit_alu_imm(c, ALU_LSH, R1, 3);
	emit_alu(c, ALU_ADD, R1, R7);
	emit_load(c, SIZE_DW, to, R1, OF_CALL(at, args));
}

void load_argument(struct bpf_code *c, enum bpf_reg to)
{
	load_argument_of(c, to, RECORD);
}

/*
 * Let R6, and ENTRY, be the entry of the variant of the call whose record is at R7 + at. R8 is the
 * index of the call.
 */
static void find_variant(struct bpf_code *c, const struct programs *m, int at)
{
	emit_scope(c);
	emit_load(c, SIZE_DW, R6, FP, ENTRY);
	jump_if_entry(c, values, JEQ, 0, "no_variant");
	load_entry(c, by, R1);
	load_argument_of(c, R2, at);
	emit_alu32(c, ALU_MOV, R2, R2);
	emit_store(c, SIZE_W, FP, KEY, R2);
	emit_store(c, SIZE_W, FP, KEY + 4, R8);
	emit_mov(c, R3, R2);
	emit_alu_imm(c, ALU_RSH, R3, VALUE_SHIFT);
	emit_alu(c, ALU_XOR, R2, R3);
	emit_alu_imm(c, ALU_AND, R2, 63);
	load_entry(c, values, R1);
	emit_alu(c, ALU_RSH, R1, R2);
	emit_alu_imm(c, ALU_AND, R1, 1);
	emit_jump_if_imm(c, R1, JEQ, 0, "no_variant");
	emit_find(c, m->variants, KEY, R0, "no_variant");
	emit_load(c, SIZE_W, R1, R0, 0);
	emit_jump_if_imm(c, R1, JGT, ENTRIES - 1, "no_variant");
	find_entry(c, m, R1);
	emit_mov(c, R6, R0);
	emit_store(c, SIZE_DW, FP, ENTRY, R6);
	emit_label(c, "no_variant");
	emit_scope_end(c);
}

/* Store the arguments from the registers at R6. */
static void store_arguments(struct bpf_code *c, const struct programs *m, int at, int compat)
{
	for (int i = 0; i < CALL_ARGS; i++) {
		load_kernel(c, m, compat ? SIZE_W : WORD_SIZE, R1, R6, registers[compat][i]);
		store(c, OF_CALL(at, args) + 8 * i, R1);
	}
}

/* Fill the record at R7 + at from the registers at R6. The call begins now, or is not known to. */
static void fill_call(struct bpf_code *c, const struct programs *m, int at)
{
	emit_scope(c);
	emit_store_imm(c, SIZE_H, R7, OF_CALL(at, flags), 0);
	if (MODE_MASK) {
		emit_jump_if_imm(c, R8, JLE, NUMBERS - 1, "native");
		emit_jump_if_imm(c, R8, JEQ, OTHER_CALL, "native");
		emit_store_imm(c, SIZE_H, R7, OF_CALL(at, flags), CALL_COMPAT);
		store_arguments(c, m, at, 1);
		emit_jump(c, "filled");
		emit_label(c, "native");
	}
	store_arguments(c, m, at, 0);
	if (MODE_MASK)
		emit_label(c, "filled");
	emit_load(c, SIZE_DW, R1, FP, NUMBER);
	emit_store(c, SIZE_W, R7, OF_CALL(at, nr), R1);
	emit_call(c, FN_GET_SMP_PROCESSOR_ID);
	emit_store(c, SIZE_H, R7, OF_CALL(at, cpu), R0);
	if (m->entering)
		emit_call(c, FN_KTIME_GET_NS);
	else
		emit_mov_imm(c, R0, 0);
	store(c, OF_CALL(at, begin), R0);
	emit_scope_end(c);
}

/* Set WIDE to 4 in 64-bit code, or to 0. */
static void set_width(struct bpf_code *c)
{
	if (!MODE_MASK)
		return;
	set(c, WIDE, 4);
	emit_load(c, SIZE_H, R1, R7, CALL + (int)offsetof(struct call_begun, flags));
	emit_alu_imm(c, ALU_AND, R1, CALL_COMPAT);
	emit_jump_if_imm(c, R1, JEQ, 0, "wide");
	set(c, WIDE, 0);
	emit_label(c, "wide");
}

/* Since Linux 7.2, another task may interrupt a program and run that of the other side. */
void find_buffer(struct bpf_code *c, const struct programs *m)
{
	emit_store_imm(c, SIZE_W, FP, KEY, m->entering);
	emit_find(c, m->buffer, KEY, R7, "out");
}

/* The record of the task is on the stack, below the slots of call_files.c. */
enum { TASK_RECORD = -240, TASK_WORDS = sizeof(struct task_record) / 8,
       OF_TASK = TASK_RECORD + (int)sizeof(struct ring_head) };
#define AT_TASK(MEMBER) (OF_TASK + (int)offsetof(struct task_record, MEMBER))

/* The parts of this record, and the kernel's members that have them */
static const struct { uint8_t size, at, member; } task_parts[] = {
	{ SIZE_DW, offsetof(struct task_record, comm), TASK_COMM },
	{ SIZE_DW, offsetof(struct task_record, comm) + 8, TASK_COMM },
	{ SIZE_DW, offsetof(struct task_record, start), TASK_START },
	{ SIZE_W, offsetof(struct task_record, tgid), TASK_TGID },
	{ SIZE_W, offsetof(struct task_record, uid), TASK_CRED },
};
enum { TASK_PARTS = sizeof(task_parts) / sizeof(*task_parts) };

/* Can programs load them? */
static int loads_task(const struct programs *m)
{
	for (int i = 0; i < TASK_MEMBERS_ALL; i++)
		if (m->task[i] < 0)
			return 0;
	return m->types[m->entering] != 0;
}

/* R1 = part i of the task R6, or of the record on the stack */
static void load_part(struct bpf_code *c, const struct programs *m, int i)
{
	const enum bpf_size size = (enum bpf_size)task_parts[i].size;

	if (!loads_task(m)) {
		emit_load(c, size, R1, FP, OF_TASK + task_parts[i].at);
	} else if (task_parts[i].member == TASK_CRED) {
		emit_load(c, SIZE_DW, R1, R6, m->task[TASK_CRED]);
		emit_load(c, size, R1, R1, m->task[TASK_UID]);
	} else {
		emit_load(c, size, R1, R6, m->task[task_parts[i].member] + 8 * (i == 1));
	}
}

/* Without BTF, fill the record on the stack from the running task. Overwrites R0 to R5. */
static void fill_task(struct bpf_code *c, const struct programs *m)
{
	emit_address(c, R1, FP, AT_TASK(comm));
	emit_mov_imm(c, R2, sizeof(((struct task_record *)0)->comm));
	emit_call(c, FN_GET_CURRENT_COMM);
	emit_call(c, FN_GET_CURRENT_PID_TGID);
	emit_alu_imm(c, ALU_RSH, R0, 32);
	emit_store(c, SIZE_W, FP, AT_TASK(tgid), R0);
	emit_call(c, FN_GET_CURRENT_UID_GID);
	emit_store(c, SIZE_W, FP, AT_TASK(uid), R0);
	emit_mov_imm(c, R1, 0);
	if (WORD == 8 && m->task[TASK_START] >= 0) {
		emit_call(c, FN_GET_CURRENT_TASK);
		emit_address(c, R3, R0, m->task[TASK_START]);
		read_kernel(c, 8);
		emit_load(c, SIZE_DW, R1, FP, SLOT);
	}
	emit_store(c, SIZE_DW, FP, AT_TASK(start), R1);
}

/* Or the flags at R7 + at. Overwrites R1. */
static void add_flag(struct bpf_code *c, int at, int flag)
{
	emit_load(c, SIZE_H, R1, R7, OF_CALL(at, flags));
	emit_alu_imm(c, ALU_OR, R1, flag);
	emit_store(c, SIZE_H, R7, OF_CALL(at, flags), R1);
}

void write_task(struct bpf_code *c, const struct programs *m, int at)
{
	emit_scope(c);
	if (loads_task(m)) {
		emit_call(c, FN_GET_CURRENT_TASK_BTF);
		emit_mov(c, R6, R0);
	} else {
		fill_task(c, m);
	}
	emit_load(c, SIZE_W, R0, FP, CONTROL + 8); /* the CPU (emit_until_end) */
	emit_alu_imm(c, ALU_MUL, R0, (int32_t)m->slots);
	emit_load(c, SIZE_DW, R8, FP, TASK);
	emit_mov(c, R1, R8);
	emit_alu_imm(c, ALU_AND, R1, (int32_t)m->slots - 1);
	emit_alu(c, ALU_ADD, R0, R1);
	emit_alu_imm(c, ALU_AND, R0, (int32_t)(m->cpus * m->slots) - 1);
	emit_alu_imm(c, ALU_MUL, R0, sizeof(struct task_record));
	emit_value(c, R9, m->told);
	emit_alu(c, ALU_ADD, R9, R0);
	for (int i = 0; i < TASK_PARTS; i++) {
		load_part(c, m, i);
		emit_load(c, (enum bpf_size)task_parts[i].size, R2, R9, task_parts[i].at);
		emit_jump_if(c, R1, JNE, R2, "other");
	}
	emit_load(c, SIZE_W, R2, R9, offsetof(struct task_record, head.pid));
	emit_jump_if(c, R8, JEQ, R2, "told");
	emit_label(c, "other");
	for (int i = 0; i < TASK_PARTS && loads_task(m); i++) {
		load_part(c, m, i);
		emit_store(c, (enum bpf_size)task_parts[i].size, FP,
			   OF_TASK + task_parts[i].at, R1);
	}
	emit_mov(c, R0, R8);
	emit_head_of(c, FP, TASK_RECORD, RECORD_TASK);
	if (m->entering) { /* not after the record of the call */
		emit_load(c, SIZE_DW, R1, R7, OF_CALL(at, begin));
		emit_store(c, SIZE_DW, FP, TASK_RECORD, R1);
	}
	emit_record(c, &m->p->channel, FP, TASK_RECORD,
		    (int)(sizeof(struct ring_head) + sizeof(struct task_record)), CONTROL, 0);
	emit_jump_if_imm(c, R0, JNE, 0, "untold");
	for (int i = 0; i < TASK_WORDS; i++) {
		emit_load(c, SIZE_DW, R1, FP, OF_TASK + 8 * i);
		emit_store(c, SIZE_DW, R9, 8 * i, R1);
	}
	emit_jump(c, "told");
	emit_label(c, "untold"); /* the ring is full, or does not record yet */
	emit_store_imm(c, SIZE_DW, R9, 0, 0);
	add_flag(c, at, CALL_UNTOLD);
	emit_label(c, "told");
	emit_scope_end(c);
}

/*
 * Write the record in the buffer with AT bytes of memory. The return of a call says if its entry is
 * lost.
 */
static void write_record(struct bpf_code *c, const struct programs *m, enum record_kind kind)
{
	write_task(c, m, RECORD);
	emit_load(c, SIZE_DW, R0, FP, TASK);
	emit_head_of(c, R7, RECORD, kind);
	if (m->entering) {
		load(c, R1, CALL);
		store(c, RECORD, R1);
	} else if (m->p->at_return) {
		store(c, CALL, R0); /* the time is known, but not that of the entry */
	}
	load(c, R8, AT);
	emit_alu_imm(c, ALU_AND, R8, MEMORY_MASK);
	emit_alu_imm(c, ALU_ADD, R8, MEMORY - RECORD);
	emit_record(c, &m->p->channel, R7, RECORD, 0, CONTROL, !m->entering);
}

/* The record of an open call */
enum { OPEN_RECORD = offsetof(struct open_call, head),
       OPEN_MEMORY = offsetof(struct open_call, memory), PIECE = sizeof(struct memory_piece),
       OPEN_CALL_WORDS = sizeof(struct call_begun) / 8 };

void write_open(struct bpf_code *c, const struct programs *m, enum record_kind kind)
{
	emit_load(c, SIZE_DW, R0, FP, TASK);
	emit_head_of(c, R7, OPEN_RECORD, kind);
	emit_get(c, R8, R7, open_call, used);
	emit_jump_if_imm(c, R8, JGT, OPEN_CALL_MEMORY, "out");
	emit_alu_imm(c, ALU_ADD, R8, OPEN_MEMORY - OPEN_RECORD);
	emit_record(c, &m->p->channel, R7, OPEN_RECORD, 0, CONTROL, 1);
}

/* Copy the call from one record to another. Overwrites R1. */
static void copy_call(struct bpf_code *c, enum bpf_reg to, int to_at, enum bpf_reg from,
		      int from_at)
{
	for (int i = 0; i < OPEN_CALL_WORDS; i++) {
		emit_load(c, SIZE_DW, R1, from, OF_CALL(from_at, begin) + 8 * i);
		emit_store(c, SIZE_DW, to, OF_CALL(to_at, begin) + 8 * i, R1);
	}
}

/*
 * R8 bytes of memory are at R9 + MEMORY: add them to the memory of the open call at R7. Jump to
 * more if they are more than FILE_PIECES.
 */
static void add_memory(struct bpf_code *c, const char *more)
{
	emit_jump_if_imm(c, R8, JGT, FILE_PIECES, more);
	emit_get(c, R2, R7, open_call, used);
	emit_jump_if_imm(c, R2, JGT, OPEN_CALL_MEMORY - FILE_PIECES, more);
	emit_mov(c, R3, R7);
	emit_alu(c, ALU_ADD, R3, R2);
	for (int i = 0; i < FILE_PIECES; i += 8) {
		if (i && i % FILE_PIECE == 0)
			emit_jump_if_imm(c, R8, JLE, i, "added");
		emit_load(c, SIZE_DW, R1, R9, MEMORY + i);
		emit_store(c, SIZE_DW, R3, OPEN_MEMORY + i, R1);
	}
	emit_label(c, "added");
	emit_alu(c, ALU_ADD, R2, R8);
	emit_set(c, R7, open_call, used, R2);
	emit_jump(c, "out");
}

/*
 * The memory of the entry is in the buffer: keep it with the call; or write a record of the entry,
 * and then keep the call alone.
 */
static void keep_memory(struct bpf_code *c, const struct programs *m)
{
	load(c, R8, AT);
	if (!m->p->entries)
		emit_jump_if_imm(c, R8, JLE, OPEN_CALL_MEMORY, "short");
	set(c, RET, 0); /* an earlier call of this CPU has left its result */
	set(c, RET + 8, 0);
	write_record(c, m, RECORD_ENTER);
	add_flag(c, RECORD, CALL_ENTERED);
	emit_mov_imm(c, R8, 0);
	emit_label(c, "short");
	emit_mov(c, R9, R7);
	find_open(c, m, 0, "no_place");
	emit_load(c, SIZE_H, R1, R9, OF_CALL(RECORD, flags));
	emit_alu_imm(c, ALU_AND, R1, ~CALL_UNTOLD);
	emit_store(c, SIZE_H, R7, OF_CALL(OPEN_RECORD, flags), R1);
	emit_set_imm(c, R7, open_call, open, 1);
	if (m->files.known) {
		add_memory(c, "long");
		emit_label(c, "long");
	}
	emit_set(c, R7, open_call, used, R8);
	emit_address(c, R1, R7, OPEN_MEMORY);
	emit_mov(c, R2, R8);
	emit_address(c, R3, R9, MEMORY);
	emit_call(c, FN_PROBE_READ_KERNEL);
	emit_jump(c, "out");
	emit_label(c, "no_place"); /* another task has it: the return will say what it knows */
	emit_mov(c, R7, R9);
	emit_load(c, SIZE_H, R1, R7, OF_CALL(RECORD, flags));
	emit_jump_if_imm(c, R1, JSET, CALL_ENTERED, "out");
	set(c, RET, 0);
	set(c, RET + 8, 0);
	write_record(c, m, RECORD_ENTER);
}

/*
 * The call passes one string: read it to the memory of the open call at R7. Jump to general if it
 * is long, or not in memory, and to bare if there is none.
 */
static void keep_string(struct bpf_code *c, const struct programs *m)
{
	const int most = OPEN_CALL_MEMORY - PIECE - (m->files.known ? FILE_PIECES : 0);

	emit_get(c, R1, R6, entry, items[0].arg);
	load_argument_of(c, R3, OPEN_RECORD);
	emit_jump_if_imm(c, R3, JEQ, 0, "bare");
	emit_address(c, R1, R7, OPEN_MEMORY + PIECE);
	emit_mov_imm(c, R2, most);
	emit_call(c, FN_PROBE_READ_USER_STR);
	emit_jump_if_imm(c, R0, JGT, most - 1, "general"); /* or below 0 */
	emit_jump_if_imm(c, R0, JEQ, 0, "empty"); /* Linux 5.10 */
	emit_alu_imm(c, ALU_SUB, R0, 1);
	emit_label(c, "empty");
	emit_store_imm(c, SIZE_DW, R7, OPEN_MEMORY, 0);
	emit_store_imm(c, SIZE_B, R7, OPEN_MEMORY, 'A');
	emit_store(c, SIZE_H, R7, OPEN_MEMORY + (int)offsetof(struct memory_piece, n), R0);
	emit_get(c, R1, R6, entry, items[0].arg);
	emit_store(c, SIZE_B, R7, OPEN_MEMORY + (int)offsetof(struct memory_piece, arg), R1);
	emit_alu_imm(c, ALU_ADD, R0, PIECE_ROUND);
	emit_alu_imm(c, ALU_AND, R0, -PIECE_ROUND);
	emit_alu_imm(c, ALU_ADD, R0, PIECE);
	emit_set(c, R7, open_call, used, R0);
}

/*
 * Let R7 be the open call that the task has begun; or jump to not_begun, where the registers at R6
 * say what is known. Set R9 to a bit for each argument that could not be read at the entry.
 */
static void find_begun(struct bpf_code *c, const struct programs *m)
{
	find_open(c, m, 0, "not_begun");
	emit_get(c, R1, R7, open_call, open);
	emit_jump_if_imm(c, R1, JEQ, 0, "not_begun");
	emit_set_imm(c, R7, open_call, open, 0);
	emit_alu_imm(c, ALU_RSH, R9, MISSING_SHIFT);
}

#define END_OF(member) \
	(int)(offsetof(struct open_call, end) + offsetof(struct call_end, member))

/*
 * The call has filled one structure: read it to the memory of the open call at R7. Jump to general
 * if there is no room, or it is not in memory, and to no_struct if there is none. R9 is 0.
 */
static void keep_struct(struct bpf_code *c)
{
	emit_load(c, SIZE_DW, R1, FP, RESULT);
	emit_jump_if_imm(c, R1, JSLT, 0, "no_struct");
	emit_get(c, R2, R7, open_call, used);
	emit_jump_if_imm(c, R2, JGT, OPEN_CALL_MEMORY - PIECE - PIECE_ROUND - SHORT_STRUCT,
			 "general");
	emit_load(c, SIZE_B, R1, R7, END_OF(arg));
	load_argument_of(c, R3, OPEN_RECORD);
	emit_jump_if_imm(c, R3, JEQ, 0, "no_struct");
	emit_mov(c, R9, R7);
	emit_alu(c, ALU_ADD, R9, R2);
	emit_address(c, R1, R9, OPEN_MEMORY + PIECE);
	emit_load(c, SIZE_B, R2, R7, END_OF(size));
	emit_jump_if_imm(c, R2, JGT, SHORT_STRUCT, "out");
	emit_call(c, FN_PROBE_READ_USER);
	emit_jump_if_imm(c, R0, JEQ, 0, "struct_read");
	emit_mov_imm(c, R9, 0);
	emit_jump(c, "general");
	emit_label(c, "struct_read");
	emit_load(c, SIZE_B, R2, R7, END_OF(size));
	emit_store_imm(c, SIZE_DW, R9, OPEN_MEMORY, 0);
	emit_store_imm(c, SIZE_B, R9, OPEN_MEMORY, 'd');
	emit_store(c, SIZE_H, R9, OPEN_MEMORY + (int)offsetof(struct memory_piece, n), R2);
	emit_load(c, SIZE_B, R1, R7, END_OF(arg));
	emit_store(c, SIZE_B, R9, OPEN_MEMORY + (int)offsetof(struct memory_piece, arg), R1);
	emit_alu_imm(c, ALU_ADD, R2, PIECE_ROUND);
	emit_alu_imm(c, ALU_AND, R2, -PIECE_ROUND);
	emit_get(c, R1, R7, open_call, used);
	emit_alu(c, ALU_ADD, R1, R2);
	emit_alu_imm(c, ALU_ADD, R1, PIECE);
	emit_set(c, R7, open_call, used, R1);
}

/* Copy the open call at R7, with its memory, to the buffer, and let R7 be the buffer. */
static void take_open(struct bpf_code *c, const struct programs *m)
{
	emit_store(c, SIZE_DW, FP, SLOT, R7);
	find_buffer(c, m);
	emit_load(c, SIZE_DW, R3, FP, SLOT);
	copy_call(c, R7, RECORD, R3, OPEN_RECORD);
	emit_get(c, R2, R3, open_call, used);
	emit_jump_if_imm(c, R2, JGT, OPEN_CALL_MEMORY, "out");
	store(c, AT, R2);
	emit_alu_imm(c, ALU_ADD, R3, OPEN_MEMORY);
	emit_address(c, R1, R7, MEMORY);
	emit_call(c, FN_PROBE_READ_KERNEL);
}

/* Let the record at R7 + at have the result. */
static void set_result(struct bpf_code *c, int at)
{
	emit_scope(c);
	emit_load(c, SIZE_DW, R1, FP, RESULT);
	store(c, OF_RECORD(at, ret), R1);
	emit_load(c, SIZE_DW, R1, FP, NUMBER);
	emit_store(c, SIZE_W, R7, OF_RECORD(at, ret_nr), R1);
	if (MODE_MASK) {
		emit_jump_if_imm(c, R8, JLE, NUMBERS - 1, "native");
		emit_jump_if_imm(c, R8, JEQ, OTHER_CALL, "native");
		add_flag(c, at, CALL_COMPAT_RETURN);
		emit_label(c, "native");
	}
	emit_scope_end(c);
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
 * Append the protocol if the first argument is a netlink socket. A socket and its file point to
 * each other.
 */
static void append_protocol(struct bpf_code *c, const struct programs *m)
{
	for (int i = 0; i < STEPS; i++)
		if (m->steps[i] < 0)
			return;
	emit_load(c, SIZE_DW, R1, FP, ENTRY);
	emit_get(c, R1, R1, entry, messages);
	emit_jump_if_imm(c, R1, JEQ, 0, "no_protocol");
	load(c, R1, CALL + 8);
	emit_alu32(c, ALU_MOV, R1, R1);
	store(c, LEFT, R1);
	emit_call(c, FN_GET_CURRENT_TASK);
	emit_mov(c, R3, R0);
	follow(c, R3, WORD_SIZE, m->steps[FILES]);
	follow(c, R3, WORD_SIZE, m->steps[TABLE]);
	store(c, COUNT, R3);
	follow(c, R1, SIZE_W, m->steps[MOST]);
	load(c, R2, LEFT);
	emit_jump_if(c, R1, JLE, R2, "no_protocol");
	load(c, R3, COUNT);
	follow(c, R3, WORD_SIZE, m->steps[FDS]);
	load(c, R1, LEFT);
	emit_alu_imm(c, ALU_MUL, R1, WORD);
	emit_alu(c, ALU_ADD, R3, R1);
	follow(c, R3, WORD_SIZE, 0);
	store(c, LEFT, R3);
	follow(c, R3, WORD_SIZE, m->steps[PRIVATE]);
	store(c, COUNT, R3);
	follow(c, R1, WORD_SIZE, m->steps[BACK]);
	load(c, R2, LEFT);
	emit_jump_if(c, R1, JNE, R2, "no_protocol");
	load(c, R3, COUNT);
	follow(c, R3, WORD_SIZE, m->steps[SK]);
	store(c, COUNT, R3);
	follow(c, R1, SIZE_H, m->steps[FAMILY]);
	emit_jump_if_imm(c, R1, JNE, AF_NETLINK, "no_protocol");
	load(c, R3, COUNT);
	follow(c, R3, SIZE_H, m->steps[PROTOCOL]);
	/* AT is 0: the first piece, without bytes */
	emit_store_imm(c, SIZE_DW, R7, MEMORY, 0);
	emit_store_imm(c, SIZE_B, R7, MEMORY, 'P');
	emit_store(c, SIZE_W, R7, MEMORY + (int)offsetof(struct memory_piece, value), R3);
	set(c, AT, sizeof(struct memory_piece) + PIECE_ROUND);
	emit_label(c, "no_protocol");
}

/* ---- the items ------------------------------------------------------------------------------- */

/*
 * After an exec, find words and environment on the stack: the number of words, the words, 0, and
 * the environment. The stack of a 64-bit big-endian program has the number in 8 bytes. R6 has the
 * registers.
 */
static void find_new_program(struct bpf_code *c, const struct programs *m)
{
	emit_load(c, SIZE_DW, R1, FP, ENTRY);
	emit_get(c, R1, R1, entry, exec);
	emit_jump_if_imm(c, R1, JEQ, 0, "no_program");
	jump_if_slot(c, RETURNED, JNE, 0, "no_program");
	emit_store(c, SIZE_DW, FP, NUMBER, R8);
	if (MODE_MASK) { /* the new program may have another width */
		set(c, WIDE, 4);
		emit_jump_if_imm(c, R8, JLE, NUMBERS - 1, "new_wide");
		set(c, WIDE, 0);
		emit_label(c, "new_wide");
	}
	load_kernel(c, m, WORD_SIZE, R8, R6, STACK);
	read_word(c);
	store(c, NEW + 8 * NEW_WORDS, R8);
	emit_load(c, WORD_SIZE, R1, FP, SLOT);
	emit_alu_imm(c, ALU_ADD, R1, 1);
	load_word(c, R2);
	emit_alu(c, ALU_MUL, R1, R2);
	emit_alu(c, ALU_ADD, R8, R1);
	store(c, NEW + 8 * NEW_ENV, R8);
	emit_load(c, SIZE_DW, R8, FP, NUMBER);
	/* execveat may return with the number of execve, whose arguments are in other registers */
	jump_if_slot(c, ABSENT, JEQ, 0, "no_program");
	set(c, ABSENT, -1);
	emit_label(c, "no_program");
}

/*
 * Jump to next unless the item, whose flags are in R2, is read at this side of the call. At the
 * entry all arguments are absent, and the call has failed.
 */
static void choose_side(struct bpf_code *c)
{
	/* R4: it is absent, and has to be read at the entry */
	load(c, R4, ABSENT);
	load_item(c, arg, R1);
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

/* R8 = the address of the item, or of what a new program has on its stack; jump to next if none */
static void find_address(struct bpf_code *c)
{
	load_item(c, flags, R2);
	emit_alu_imm(c, ALU_AND, R2, ON_STACK);
	emit_jump_if_imm(c, R2, JEQ, 0, "in_argument");
	jump_if_slot(c, RETURNED, JNE, 0, "in_argument");
	jump_if_item(c, count, JEQ, NEW_NOTHING, "next");
	load(c, R8, NEW + 8 * NEW_WORDS);
	emit_jump_if_imm(c, R1, JEQ, NEW_WORDS, "has_address");
	load(c, R8, NEW + 8 * NEW_ENV);
	emit_jump(c, "has_address");
	emit_label(c, "in_argument");
	load_item(c, arg, R1);
	load_argument(c, R8);
	emit_label(c, "has_address");
	emit_jump_if_imm(c, R8, JEQ, 0, "next");
}

/* Take the next item, R8 = its address, and jump to what reads its kind; in the end to done. */
static void take_items(struct bpf_code *c, const struct programs *m)
{
	if (!m->may_goto)
		emit_mov_imm(c, R9, 0);
	set(c, INDEX, 0);
	loop_label(c, "next");
	count_round(c, m);
	jump_if_slot(c, AT, JGT, MEMORY_FULL, "full");
	jump_if_slot(c, INDEX, JGT, CALL_ARGS - 1, "done");
	emit_address(c, R2, R1, 1);
	store(c, INDEX, R2);
	emit_alu_imm(c, ALU_LSH, R1, 4); /* sizeof(struct item) */
	emit_alu(c, ALU_ADD, R1, R6);
	for (int i = 0; i < 16; i += 8) {
		emit_load(c, SIZE_DW, R2, R1, (int)offsetof(struct entry, items) + i);
		store(c, ITEM + i, R2);
	}
	jump_if_item(c, kind, JEQ, END, "done");
	load_item(c, flags, R2);
	choose_side(c);
	find_address(c);
	emit_memory(c, m);
	emit_label(c, "full");
	emit_load(c, SIZE_H, R1, R7, CALL + (int)offsetof(struct call_begun, flags));
	emit_alu_imm(c, ALU_OR, R1, CALL_CUT);
	emit_store(c, SIZE_H, R7, CALL + (int)offsetof(struct call_begun, flags), R1);
}

/*
 * The argument is not in memory. At the entry, note that it has to be read at the return; the next
 * entry forgets what a return notes.
 */
static void note_missing(struct bpf_code *c, const struct programs *m)
{
	emit_label(c, "fault");
	emit_load(c, SIZE_DW, R3, FP, STATE);
	load_item(c, arg, R1);
	emit_alu_imm(c, ALU_AND, R1, 7);
	emit_mov_imm(c, R2, MISSING);
	emit_alu(c, ALU_LSH, R2, R1);
	emit_load(c, SIZE_B, R1, R3, 0);
	emit_alu(c, ALU_OR, R1, R2);
	emit_store(c, SIZE_B, R3, 0, R1);
	if (m->may_goto && m->kinds & 1 << DATA)
		jump_if_slot(c, NEST, JNE, 0, "pop");
	append_empty(c, m, 'x');
	emit_jump(c, "next");
}

/* The open call at R7 has its memory: go on with its files, or jump to out if it has none. */
static void keep_files(struct bpf_code *c, const struct programs *m)
{
	if (m->files.known) {
		emit_load(c, SIZE_DW, R1, FP, ENTRY);
		emit_load(c, SIZE_B, R1, R1, (int)offsetof(struct entry, files));
		emit_jump_if_imm(c, R1, JEQ, 0, "out");
		emit_mov(c, R9, R7);
		find_buffer(c, m);
		copy_call(c, R7, RECORD, R9, OPEN_RECORD);
		set(c, AT, 0);
		emit_jump(c, "files");
	} else {
		emit_jump(c, "out");
	}
}

static void emit_entry(struct bpf_code *c, const struct programs *m)
{
	find_open(c, m, 1, "crowded");
	if (m->skips) { /* was the return of the call before skipped? */
		emit_get(c, R1, R7, open_call, open);
		emit_jump_if_imm(c, R1, JEQ, 0, "returned");
		emit_lost(c, CONTROL);
		emit_label(c, "returned");
	}
	fill_call(c, m, OPEN_RECORD);
	if (m->kinds)
		find_variant(c, m, OPEN_RECORD);
	else
		emit_load(c, SIZE_DW, R6, FP, ENTRY);
	load_entry(c, ends, R1);
	emit_set(c, R7, open_call, end, R1);
	emit_set_imm(c, R7, open_call, used, 0);
	if (!m->p->entries) {
		jump_if_entry(c, begins, JEQ, BARE, "bare");
		if (m->kinds & 1 << STRING) {
			emit_jump_if_imm(c, R1, JNE, ONE_STRING, "general");
			keep_string(c, m);
		} else {
			emit_jump(c, "general");
		}
		emit_label(c, "bare");
		emit_set_imm(c, R7, open_call, open, 1);
		keep_files(c, m);
		emit_label(c, "general");
	}
	emit_mov(c, R9, R7);
	find_buffer(c, m);
	copy_call(c, R7, RECORD, R9, OPEN_RECORD);
	emit_jump(c, "in_buffer");
	emit_label(c, "crowded");
	find_buffer(c, m);
	fill_call(c, m, RECORD);
	if (m->kinds)
		find_variant(c, m, RECORD);
	emit_label(c, "in_buffer");
	set(c, AT, 0);
	if (m->kinds) {
		jump_if_entry(c, known, JEQ, RECORDED, "done");
		set(c, RETURNED, -ENOSYS);
		set_width(c);
		set(c, ABSENT, -1); /* what is not in memory here was not read before */
		append_protocol(c, m);
		jump_if_entry(c, at_entry, JEQ, 0, "done");
		take_items(c, m);
		emit_jump(c, "done");
		note_missing(c, m);
		emit_label(c, "done");
	}
	emit_label(c, "files");
	append_files(c, m);
	keep_memory(c, m);
}

/* Jump to out if only calls of sockets are recorded, and the call is none. R6 has the registers. */
static void check_socket(struct bpf_code *c, const struct programs *m)
{
	if (!m->p->sockets || !m->files.known)
		return;
	emit_scope(c);
	if (MODE_MASK) {
		emit_jump_if_imm(c, R8, JLE, NUMBERS - 1, "native");
		load_kernel(c, m, SIZE_W, R9, R6, registers[1][0]);
		emit_jump(c, "loaded");
		emit_label(c, "native");
	}
	load_kernel(c, m, SIZE_DW, R9, R6, registers[0][0]);
	if (MODE_MASK)
		emit_label(c, "loaded");
	emit_alu32(c, ALU_MOV, R9, R9);
	emit_scope_end(c);
	skip_no_socket(c, m);
}

/* Is anything read at the return of a call? */
static int reads_memory(const struct programs *m)
{
	return m->kinds || m->files.known;
}

/*
 * Write the record of a call from the registers at R6; or, from begun on, of the call that is in
 * the buffer.
 */
static void emit_from_registers(struct bpf_code *c, const struct programs *m)
{
	find_buffer(c, m);
	fill_call(c, m, RECORD);
	if (m->p->at_return)
		add_flag(c, RECORD, CALL_AT_RETURN);
	set(c, AT, 0);
	emit_mov_imm(c, R9, -1);
	if (reads_memory(m)) {
		emit_label(c, "begun");
		store(c, ABSENT, R9);
		emit_load(c, SIZE_DW, R1, FP, RESULT);
		store(c, RETURNED, R1);
	}
	set_result(c, RECORD);
	if (m->kinds) {
		emit_load(c, SIZE_DW, R1, FP, ENTRY);
		emit_get(c, R1, R1, entry, known);
		emit_jump_if_imm(c, R1, JNE, HAS_MEMORY, "done");
		set_width(c);
		find_new_program(c, m);
		find_variant(c, m, RECORD);
		jump_if_slot(c, ABSENT, JNE, 0, "needed");
		jump_if_entry(c, at_return, JEQ, 0, "done");
		emit_label(c, "needed");
		take_items(c, m);
		emit_jump(c, "done");
		note_missing(c, m);
		emit_label(c, "done");
	}
	append_files(c, m);
	write_record(c, m, RECORD_CALL);
}

static void emit_return(struct bpf_code *c, const struct programs *m)
{
	if (m->p->at_return) {
		emit_from_registers(c, m);
		return;
	}
	find_begun(c, m);
	if (reads_memory(m)) {
		emit_jump_if_imm(c, R9, JNE, 0, "general");
		emit_load(c, SIZE_B, R1, R7, END_OF(what));
		emit_jump_if_imm(c, R1, JEQ, BARE, "no_struct");
		if (m->files.known) {
			emit_load(c, SIZE_DW, R2, FP, RESULT);
			emit_jump_if_imm(c, R1, JNE, NEW_FILE, "no_file");
			emit_jump_if_imm(c, R2, JSLT, 0, "no_struct");
			emit_label(c, "no_file");
		}
		if (m->kinds & 1 << DATA) {
			emit_jump_if_imm(c, R1, JNE, ONE_STRUCT, "general");
			keep_struct(c);
		} else {
			emit_jump(c, "general");
		}
		emit_label(c, "no_struct");
	}
	set_result(c, OPEN_RECORD);
	write_task(c, m, OPEN_RECORD);
	write_open(c, m, RECORD_CALL);
	emit_jump(c, "out");
	if (reads_memory(m)) {
		emit_label(c, "general");
		take_open(c, m);
		emit_jump(c, "begun");
	}
	emit_label(c, "not_begun"); /* as after a filter of seccomp(2) refused it */
	emit_load(c, SIZE_DW, R1, FP, ENTRY);
	emit_get(c, R1, R1, entry, known);
	emit_jump_if_imm(c, R1, JEQ, ENDS, "out");
	check_socket(c, m);
	emit_from_registers(c, m);
}

void emit_side(struct bpf_code *c, struct programs *m, int entering)
{
	begin_program(c, m);
	m->entering = entering;
	check_task(c, m);
	emit_alone(c); /* not for tasks that are not traced, which are to pay little */
	find_call(c, m);
	if (entering)
		check_socket(c, m);
	emit_until_end(c, &m->p->channel, CONTROL);
	if (entering)
		emit_entry(c, m);
	else
		emit_return(c, m);
	emit_out(c, 0);
	append_file_functions(c, m);
}
