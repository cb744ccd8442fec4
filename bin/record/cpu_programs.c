/* SPDX-License-Identifier: ISC */
/*
 * cpu_programs.c - programs that record the CPU time of each process that has ended
 *
 * The scheduler accounts a task at ticks, at some wake-ups, and when the task leaves its CPU. So
 * the time of a task is complete when it leaves its CPU for ever (TASK_DEAD), after it has released
 * its memory and its files. One program runs at each switch of a task, and leaves at once if the
 * task lives on. It adds up the times of all tasks of a process, and records the sum after the last
 * one: the kernel's own sum lacks what a thread that has ended had run since its last tick. The
 * other program runs when a task begins to end, and takes the kernel's sum for the threads before.
 */
#include "base/base.h"
#include "proc/proc.h"
#include "call_programs.h"

/* include/linux/sched.h */
enum { TASK_DEAD = 0x80 };

/* The most processes that go on although a task of them ends or has ended. */
enum { PROCESSES_MOST = 8192 };

/* Such a process, by its pid: the time of its tasks in ns, and how many of them end now */
struct ending {
	uint64_t ns, tasks;
};

/* Slots on the stack: the key, a value, the rings, a record */
enum { CPU_KEY = -8, VALUE = -24, RING = -40,
       RECORD_SIZE = sizeof(struct ring_head) + sizeof(struct cpu_record),
       CPU_RECORD = RING - RECORD_SIZE, FIELDS = CPU_RECORD + (int)sizeof(struct ring_head) };

#define MEMBERS(X) \
	X(TGID, task_struct, tgid) X(SE, task_struct, se) \
	X(SIGNAL, task_struct, signal) X(LEADER, task_struct, group_leader) \
	X(EXIT_STATE, task_struct, exit_state) X(RAN, sched_entity, sum_exec_runtime) \
	X(RAN_BEFORE, signal_struct, sum_sched_runtime) X(THREADS, signal_struct, nr_threads)
#define MEMBER_NAME(NAME, structure, member) NAME,
enum { MEMBERS(MEMBER_NAME) MEMBERS_ALL };

static int at[MEMBERS_ALL];     /* offsets of the members */
static int endings;             /* the map of struct ending */
static const struct programs *traced;

/* The names of the slots in assembly. */
static const struct bpf_slot slots[] = { { "KEY", FP, CPU_KEY }, { "VALUE", FP, VALUE }, { 0 } };

/* CPU_KEY = the process of the task in R6; R7 = its number */
static void set_key(struct bpf_code *c)
{
	emit_load(c, SIZE_W, R7, R6, at[TGID]);
	emit_store(c, SIZE_DW, FP, CPU_KEY, R7);
}

static void emit_begins_to_end(struct bpf_code *c)
{
	bpf_begin(c, slots, &traced->p->alone);
	emit_load(c, SIZE_DW, R6, R1, 0);
	emit_alone(c);
	set_pid(c, R9);
	find_task(c, traced, R9);
	emit_load(c, SIZE_B, R1, R0, 0);
	emit_alu_imm(c, ALU_AND, R1, LISTED);
	emit_jump_if_imm(c, R1, traced->all ? JNE : JEQ, 0, "out");
	set_key(c);
	emit_find(c, endings, CPU_KEY, R8, "new");
	emit_jump(c, "known");
	emit_label(c, "new");
	emit_load(c, SIZE_DW, R1, R6, at[SIGNAL]);
	emit_move(c, SIZE_DW, FP, VALUE + (int)offsetof(struct ending, ns), R1, at[RAN_BEFORE]);
	emit_store_imm(c, SIZE_DW, FP, VALUE + (int)offsetof(struct ending, tasks), 0);
	emit_update(c, endings, CPU_KEY, FP, VALUE, UPDATE_NEW);
	emit_find(c, endings, CPU_KEY, R8, "out");
	emit_label(c, "known");
	emit_count(c, R8, offsetof(struct ending, tasks));
	emit_out(c, 0);
}

/* Go to "out" unless the task in R6, which has ended, was the last one of its process. */
static void skip_unless_last(struct bpf_code *c)
{
	emit_load(c, SIZE_DW, R1, R8, offsetof(struct ending, tasks));
	emit_jump_if_imm(c, R1, JSGT, 0, "out");
	/* the first thread stays until its parent has its status; if another one executes a
	 * program, it takes that place, and has no exit state */
	emit_load(c, SIZE_DW, R1, R6, at[SIGNAL]);
	emit_load(c, SIZE_W, R1, R1, at[THREADS]);
	emit_jump_if_imm(c, R1, JEQ, 0, "last");
	emit_jump_if_imm(c, R1, JGT, 1, "out");
	emit_load(c, SIZE_DW, R1, R6, at[LEADER]);
	emit_load(c, SIZE_W, R1, R1, at[EXIT_STATE]);
	emit_jump_if_imm(c, R1, JEQ, 0, "out");
	emit_label(c, "last");
}

static void emit_switch(struct bpf_code *c, const struct plan *p, int state, int wide)
{
	bpf_begin(c, slots, NULL); /* interrupts are disabled at a switch */
	emit_load(c, SIZE_DW, R6, R1, 8); /* after the first argument: the task that leaves */
	emit_load(c, wide ? SIZE_DW : SIZE_W, R1, R6, state);
	emit_jump_if_imm(c, R1, JNE, TASK_DEAD, "out");
	set_key(c);
	emit_find(c, endings, CPU_KEY, R8, "out");
	emit_load(c, SIZE_DW, R1, R6, at[SE] + at[RAN]);
	emit_add(c, R8, offsetof(struct ending, ns), R1);
	emit_mov_imm(c, R1, -1);
	emit_add(c, R8, offsetof(struct ending, tasks), R1);
	skip_unless_last(c);
	emit_load(c, SIZE_DW, R9, R8, offsetof(struct ending, ns));
	/* if two tasks leave at once, one of them records it */
	emit_delete(c, endings, CPU_KEY);
	emit_jump_if_imm(c, R0, JNE, 0, "out");
	emit_store(c, SIZE_DW, FP, FIELDS + (int)offsetof(struct cpu_record, ns), R9);
	emit_store_imm(c, SIZE_DW, FP, FIELDS + (int)offsetof(struct cpu_record, process), 0);
	emit_store(c, SIZE_W, FP, FIELDS + (int)offsetof(struct cpu_record, process), R7);
	emit_until_end(c, &p->channel, RING);
	emit_head(c, FP, CPU_RECORD, RECORD_CPU);
	emit_record(c, &p->channel, FP, CPU_RECORD, RECORD_SIZE, RING, 1);
	emit_out(c, 0);
}

/* Attach the code to a tracepoint of this type, silent. Return 0 or -1. */
static int attach(struct plan *p, struct bpf_code *c, const char *tracepoint, uint32_t type)
{
	const struct bpf_load_as as = {
		.kind = PROGRAM_TRACING, .attach = ATTACH_TRACEPOINT, .function = type,
		.where = tracepoint,
	};
	char why[8];
	int fd = bpf_load(c, p->id, &as, why, sizeof(why));
	int held = fd < 0 ? -1 : bpf_raw_tracepoint(fd, NULL);

	fd_close(fd);
	if (held < 0)
		return -1;
	p->fds[p->n++] = held;
	return 0;
}

void cpu_attach(struct plan *p, const struct programs *m)
{
	static struct bpf_code code;
	char path[PATH_MAX];
	struct btf btf;
	int state, wide, known = 1;
	uint32_t ends, switches;

	traced = m;

	str_format(path, sizeof(path), "%s/kernel/btf/vmlinux", path_sysfs());
	if (sizeof(long) < 8 || btf_read(&btf, path) < 0)
		return;
#define FIND_MEMBER(NAME, structure, member) \
	at[NAME] = btf_member(&btf, #structure, #member); \
	known &= at[NAME] >= 0;
	MEMBERS(FIND_MEMBER)
	state = btf_member(&btf, "task_struct", "__state");
	wide = state < 0; /* before Linux 5.14 */
	if (wide)
		state = btf_member(&btf, "task_struct", "state");
	ends = btf_tracepoint(&btf, "sched_process_exit");
	switches = btf_tracepoint(&btf, "sched_switch");
	btf_free(&btf);
	endings = known && state >= 0 && ends && switches ?
		  bpf_map(MAP_HASH, p->id, 8, sizeof(struct ending), PROCESSES_MOST) : -1;
	if (endings < 0)
		return;
	/* a task that began to end before the programs is in no map, and so is not recorded */
	emit_switch(&code, p, state, wide);
	if (attach(p, &code, "sched_switch", switches) < 0)
		return;
	emit_begins_to_end(&code);
	attach(p, &code, "sched_process_exit", ends);
}
