/* SPDX-License-Identifier: ISC */
/*
 * otel_programs.c - programs that record the trace context of the running thread
 *
 * OpenTelemetry's SDKs publish it in a thread-local variable (OTEP 4947, thread context): a pointer
 * to a record with the ids of the trace and of the span. The map of places has an entry for each
 * traced process, which says where the variable is; otel_find.c fills it. A program runs before
 * each event, in the task of the event. It follows the thread pointer to the record, and records
 * the context (struct otel_record) if it is another one than the task had, or if the last record is
 * some time ago, so that a reader knows it again after a loss. The context is unknown if the
 * process was not searched, or if its memory is absent. After an exec, and if the process has
 * mapped or unmapped code since the last event, the place must be found anew. Until this is done,
 * each event of the process sends a note of its pid.
 */
#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "calls/calls.h"
#include "live/live.h"
#include "strings.h"
#include "otel.h"

/* The thread pointer in struct thread_struct. */
#if defined(__x86_64__)
#define THREAD_POINTER "fsbase"
#elif defined(__aarch64__)
#define THREAD_POINTER "uw" /* its first member is tp_value */
#else
#define THREAD_POINTER ""
#endif

/* Print an unchanged context after so many ticks, 0.1 to 1 s. */
enum { AGE = 100 };

/* The record of the thread context: two ids of 8 bytes, the span, valid, flags (OTEP 4947) */
enum { HEAD = 28, HEAD_VALID = 24, HEAD_FLAGS = 25 };

/* Slots on the stack. The value of the map of contexts is what begins at TRACE. */
#define SLOTS(X) \
	X(PROCESS, FP, -8) X(TASK, FP, -16) X(READ, FP, -24) X(RECORD, FP, -56) \
	X(TRACE, FP, -96) X(TRACE_LOW, FP, -88) X(SPAN, FP, -80) X(STATE, FP, -72) \
	X(PRINTED, FP, -64) X(RING, FP, -112) X(WRITTEN, FP, -168) X(FIELDS, FP, -152) \
	X(PLACE, FP, -264)
enum { SLOTS(BPF_SLOT_AT) };
static const struct bpf_slot slots[] = { SLOTS(BPF_SLOT) { 0 } };
enum { CONTEXT = 40, WRITTEN_SIZE = sizeof(struct ring_head) + sizeof(struct otel_record) };
_Static_assert(WRITTEN + WRITTEN_SIZE <= RING &&
	       WRITTEN + (int)sizeof(struct ring_head) == FIELDS &&
	       sizeof(struct otel_place) <= WRITTEN - PLACE, "all has room on the stack");

/* The values of STATE: enum otel_seen; the flags of a known context are above. */
enum { NO_CONTEXT = OTEL_SEEN_NONE, UNKNOWN = OTEL_SEEN_UNKNOWN, KNOWN = OTEL_SEEN };

/* The places that differ between kernels. */
struct offsets {
	int thread_pointer, pid, tgid, mm;      /* in struct task_struct */
	int code;                               /* in struct mm_struct: pages of code */
};

/* PROCESS = the process of the running task; TASK = its pid */
static void set_pids(struct bpf_code *c)
{
	emit_call(c, FN_GET_CURRENT_PID_TGID);
	emit_store(c, SIZE_W, FP, TASK, R0);
	emit_alu_imm(c, ALU_RSH, R0, 32);
	emit_store(c, SIZE_W, FP, PROCESS, R0);
}

/* R8 = the word of user memory at R8; jump to unknown if it is absent */
static void follow_pointer(struct bpf_code *c)
{
	emit_copy(c, FN_PROBE_READ_USER, READ, 8, R8, 0);
	emit_jump_if_imm(c, R0, JNE, 0, "unknown");
	emit_load(c, SIZE_DW, R8, FP, READ);
}

/* R8 = the kernel's word at reg + at; jump to absent if it cannot be read */
static void read_word(struct bpf_code *c, enum bpf_reg reg, int at, const char *absent)
{
	emit_copy(c, FN_PROBE_READ_KERNEL, READ, 8, reg, at);
	emit_jump_if_imm(c, R0, JNE, 0, absent);
	emit_load(c, SIZE_DW, R8, FP, READ);
}

/* Send a note: the place of PROCESS is to be found. */
static void send_note(struct bpf_code *c, const struct otel *o)
{
	emit_map(c, o->notes, PROCESS);
	emit_mov_imm(c, R3, 4);
	emit_mov_imm(c, R4, 0);
	emit_call(c, FN_RINGBUF_OUTPUT);
}

/* If the task R9 maps more or less code than at the last look, look at the place R6 again. */
static void see_code(struct bpf_code *c, const struct otel *o, const struct offsets *at)
{
	emit_jump_if_member(c, R6, otel_place, state, JEQ, OTEL_FOUND, "is_found");
	read_word(c, R9, at->mm, "same_code");
	read_word(c, R8, at->code, "same_code");
	emit_get(c, R1, R6, otel_place, code);
	emit_jump_if(c, R1, JEQ, R8, "same_code");
	emit_set(c, R6, otel_place, code, R8);
	emit_set_imm(c, R6, otel_place, pending, 1);
	emit_label(c, "same_code");
	emit_jump_if_member(c, R6, otel_place, pending, JEQ, 0, "is_found");
	send_note(c, o);
	emit_label(c, "is_found");
}

/*
 * If the loader's words are not those that the place R6 was found by, the library is gone, or was
 * not ready: find the place anew, and jump to unknown.
 */
static void check_words(struct bpf_code *c, const struct otel *o)
{
	emit_get(c, R3, R6, otel_place, words);
	emit_jump_if_imm(c, R3, JEQ, 0, "same_words"); /* the program's own variable */
	emit_copy(c, FN_PROBE_READ_USER, RECORD, 16, R3, 0);
	emit_jump_if_imm(c, R0, JNE, 0, "other_words");
	emit_load(c, SIZE_DW, R1, FP, RECORD);
	emit_get(c, R2, R6, otel_place, word[0]);
	emit_jump_if(c, R1, JNE, R2, "other_words");
	emit_load(c, SIZE_DW, R1, FP, RECORD + 8);
	emit_get(c, R2, R6, otel_place, word[1]);
	emit_jump_if(c, R1, JEQ, R2, "same_words");
	emit_label(c, "other_words");
	emit_set_imm(c, R6, otel_place, state, OTEL_UNKNOWN);
	emit_set_imm(c, R6, otel_place, pending, 1);
	send_note(c, o);
	emit_jump(c, "unknown");
	emit_label(c, "same_words");
}

/* Copy the record of the task R9, whose place is R6, to TRACE, SPAN and STATE. */
static void read_context(struct bpf_code *c, const struct otel *o, const struct offsets *at)
{
	for (int slot = TRACE; slot < TRACE + CONTEXT; slot += 8)
		emit_store_imm(c, SIZE_DW, FP, slot, 0);
	emit_get(c, R1, R6, otel_place, state);
	emit_jump_if_imm(c, R1, JEQ, OTEL_FOUND, "found");
	emit_jump_if_imm(c, R1, JEQ, OTEL_UNKNOWN, "unknown");
	emit_jump_if_member(c, R6, otel_place, pending, JNE, 0, "unknown");
	emit_jump(c, "read");
	emit_label(c, "found");
	check_words(c, o);
	read_word(c, R9, at->thread_pointer, "unknown");
	emit_jump_if_member(c, R6, otel_place, module, JEQ, 0, "static");
	emit_get(c, R1, R6, otel_place, dtv);
	emit_alu(c, ALU_ADD, R8, R1);
	follow_pointer(c);
	emit_mov(c, R9, R8);
	emit_get(c, R1, R6, otel_place, length);
	emit_alu(c, ALU_ADD, R8, R1);
	follow_pointer(c);
	emit_get(c, R1, R6, otel_place, word[0]);
	emit_jump_if(c, R1, JGT, R8, "read"); /* the thread's table is shorter, or */
	emit_mov(c, R8, R9);
	emit_get(c, R1, R6, otel_place, module);
	emit_alu(c, ALU_ADD, R8, R1);
	follow_pointer(c);
	emit_address(c, R1, R8, 1); /* -1: it has no such block yet */
	emit_jump_if_imm(c, R1, JLE, 1, "read");
	emit_label(c, "static");
	emit_get(c, R1, R6, otel_place, offset);
	emit_alu(c, ALU_ADD, R8, R1);
	follow_pointer(c);
	emit_jump_if_imm(c, R8, JEQ, 0, "read");
	emit_copy(c, FN_PROBE_READ_USER, RECORD, HEAD, R8, 0);
	emit_jump_if_imm(c, R0, JNE, 0, "unknown");
	emit_load(c, SIZE_B, R1, FP, RECORD + HEAD_VALID);
	emit_jump_if_imm(c, R1, JNE, 1, "read");
	for (int i = 0; i < 3; i++) {
		emit_load(c, SIZE_DW, (enum bpf_reg)(R3 + i), FP, RECORD + 8 * i);
		emit_from_be(c, (enum bpf_reg)(R3 + i), 64);
	}
	emit_mov(c, R1, R3);
	emit_alu(c, ALU_OR, R1, R4);
	emit_jump_if_imm(c, R1, JEQ, 0, "read");
	emit_jump_if_imm(c, R5, JEQ, 0, "read");
	for (int i = 0; i < 3; i++)
		emit_store(c, SIZE_DW, FP, TRACE + 8 * i, (enum bpf_reg)(R3 + i));
	emit_load(c, SIZE_B, R1, FP, RECORD + HEAD_FLAGS);
	emit_alu_imm(c, ALU_LSH, R1, 8);
	emit_alu_imm(c, ALU_OR, R1, KNOWN);
	emit_store(c, SIZE_DW, FP, STATE, R1);
	emit_jump(c, "read");
	emit_label(c, "unknown");
	emit_store_imm(c, SIZE_DW, FP, STATE, UNKNOWN);
	emit_label(c, "read");
}

/* Record the context. */
static void record(struct bpf_code *c, const struct plan *p)
{
	const int trace = FIELDS + (int)offsetof(struct otel_record, trace);

	for (int i = 0; i < 3; i++) {
		emit_move(c, SIZE_DW, FP, trace + 8 * i, FP, TRACE + 8 * i);
	}
	emit_store_imm(c, SIZE_DW, FP, FIELDS + (int)offsetof(struct otel_record, state), 0);
	emit_load(c, SIZE_DW, R1, FP, STATE); /* the flags are above it */
	emit_store(c, SIZE_B, FP, FIELDS + (int)offsetof(struct otel_record, state), R1);
	emit_alu_imm(c, ALU_RSH, R1, 8);
	emit_store(c, SIZE_B, FP, FIELDS + (int)offsetof(struct otel_record, flags), R1);
	emit_until_end(c, &p->channel, RING);
	emit_head(c, FP, WRITTEN, RECORD_OTEL);
	emit_record(c, &p->channel, FP, WRITTEN, WRITTEN_SIZE, RING, 1);
}

/* Print the context unless it is the same as before; R7 = the task's entry in the map, or 0. */
static void record_context(struct bpf_code *c, const struct plan *p, const struct otel *o)
{
	emit_jump_if_imm(c, R7, JEQ, 0, "changed");
	for (int slot = TRACE; slot <= STATE; slot += 8) {
		emit_load(c, SIZE_DW, R1, FP, slot);
		emit_load(c, SIZE_DW, R2, R7, slot - TRACE);
		emit_jump_if(c, R1, JNE, R2, "changed");
	}
	emit_call(c, FN_JIFFIES64);
	emit_load(c, SIZE_DW, R1, R7, PRINTED - TRACE);
	emit_alu(c, ALU_SUB, R0, R1);
	emit_jump_if_imm(c, R0, JLE, AGE, "out");
	emit_label(c, "changed");
	emit_call(c, FN_JIFFIES64);
	emit_store(c, SIZE_DW, FP, PRINTED, R0);
	emit_jump_if_imm(c, R7, JNE, 0, "has_entry");
	emit_update(c, o->contexts, TASK, FP, TRACE, UPDATE_ANY);
	emit_jump(c, "is_kept");
	emit_label(c, "has_entry");
	for (int slot = TRACE; slot <= PRINTED; slot += 8) {
		emit_move(c, SIZE_DW, R7, slot - TRACE, FP, slot);
	}
	emit_label(c, "is_kept");
	record(c, p);
}

/* Run before an event. */
static void emit_event(struct bpf_code *c, const struct plan *p, const struct otel *o,
		       const struct offsets *at)
{
	bpf_begin(c, slots, &p->alone);
	set_pids(c);
	emit_find(c, o->places, PROCESS, R6, "exit");
	emit_alone(c);
	emit_lookup(c, o->contexts, TASK);
	emit_mov(c, R7, R0);
	emit_call(c, FN_GET_CURRENT_TASK);
	emit_mov(c, R9, R0);
	see_code(c, o, at);
	read_context(c, o, at);
	record_context(c, p, o);
	emit_out(c, 0);
}

/* Copy a member of the structure at R7 to a slot. */
static void copy_member(struct bpf_code *c, int at, int slot)
{
	emit_copy(c, FN_PROBE_READ_KERNEL, slot, 4, R7, at);
}

/* A process forks: the child has the same files at the same addresses. */
static void emit_fork(struct bpf_code *c, const struct plan *p, const struct otel *o,
		      const struct offsets *at)
{
	bpf_begin(c, slots, &p->alone);
	emit_load(c, SIZE_DW, R7, R1, 8); /* the child */
	emit_alone(c);
	set_pids(c);
	copy_member(c, at->pid, TASK);
	emit_delete(c, o->contexts, TASK); /* of an earlier task with its pid */
	emit_find(c, o->places, PROCESS, R6, "out");
	emit_load(c, SIZE_W, R8, FP, PROCESS);
	copy_member(c, at->tgid, PROCESS);
	emit_load(c, SIZE_W, R1, FP, PROCESS);
	emit_jump_if(c, R1, JEQ, R8, "out"); /* a thread */
	for (int i = 0; i < (int)sizeof(struct otel_place); i += 8) {
		emit_move(c, SIZE_DW, FP, PLACE + i, R6, i);
	}
	emit_update(c, o->places, PROCESS, FP, PLACE, UPDATE_ANY);
	emit_out(c, 0);
}

/* A process executes a program, whose variable is to be found. */
static void emit_exec(struct bpf_code *c, const struct plan *p, const struct otel *o)
{
	bpf_begin(c, slots, &p->alone);
	emit_alone(c);
	set_pids(c);
	if (!o->all)
		emit_find(c, o->places, PROCESS, R6, "out");
	for (int i = 0; i < (int)sizeof(struct otel_place); i += 8)
		emit_store_imm(c, SIZE_DW, FP, PLACE + i, 0);
	emit_store_imm(c, SIZE_W, FP, PLACE + (int)offsetof(struct otel_place, pending), 1);
	emit_update(c, o->places, PROCESS, FP, PLACE, UPDATE_ANY);
	emit_delete(c, o->contexts, TASK);
	send_note(c, o);
	emit_out(c, 0);
}

/* The kernel frees a task, and with the last one its process. */
static void emit_free(struct bpf_code *c, const struct plan *p, const struct otel *o,
		      const struct offsets *at)
{
	bpf_begin(c, slots, &p->alone);
	emit_load(c, SIZE_DW, R7, R1, 0);
	emit_alone(c);
	copy_member(c, at->pid, TASK);
	copy_member(c, at->tgid, PROCESS);
	emit_load(c, SIZE_W, R1, FP, TASK);
	emit_load(c, SIZE_W, R2, FP, PROCESS);
	emit_jump_if(c, R1, JNE, R2, "out");
	emit_delete(c, o->places, PROCESS);
	emit_out(c, 0);
}

/* Find the offsets in the kernel's BTF. Return 0, or -1, reported. */
static int find_offsets(struct plan *p, struct offsets *at)
{
	int in_thread = 0;
	const struct {
		const char *structure, *member;
		int *offset;
	} members[] = {
		{ "task_struct", "pid", &at->pid },
		{ "task_struct", "tgid", &at->tgid },
		{ "task_struct", "mm", &at->mm },
		{ "mm_struct", "exec_vm", &at->code },
		{ "task_struct", "thread", &at->thread_pointer },
		{ "thread_struct", THREAD_POINTER, &in_thread },
	};
	char path[PATH_MAX];
	struct btf btf;
	int r = 0;

	if (!*THREAD_POINTER)
		return err_msg("otel: the thread pointer of this architecture is not known; x86-64 "
			       "and arm64 have it");
	str_format(path, sizeof(path), "%s/kernel/btf/vmlinux", path_sysfs());
	if (btf_read(&btf, path) < 0)
		return err_file("unable to read %s (CONFIG_DEBUG_INFO_BTF)", path);
	for (size_t i = 0; !r && i < sizeof(members) / sizeof(*members); i++) {
		const char *in = members[i].structure, *name = members[i].member;

		*members[i].offset = btf_member(&btf, in, name);
		if (*members[i].offset < 0)
			r = err_msg("otel: the BTF of this kernel has no %s in %s", name, in);
	}
	plan_alone(p, &btf);
	btf_free(&btf);
	at->thread_pointer += in_thread;
	return r;
}

/* Make the maps. Return 0, or -1, reported. */
static int make_maps(struct plan *p, struct otel *o)
{
	o->places = plan_map(p, MAP_HASH, "otel", 4, sizeof(struct otel_place), OTEL_PROCESSES);
	o->contexts = o->places < 0 ? -1 :
		      plan_map(p, MAP_LRU_HASH, "contexts", 4, CONTEXT, 4 * OTEL_PROCESSES);
	o->notes = o->contexts < 0 ? -1 : plan_map(p, MAP_RINGBUF, "notes", 0, 0, OTEL_NOTES);
	return o->notes < 0 ? -1 : 0;
}

int otel_attach(struct plan *p, struct otel *o)
{
	static char *const calls[] = { "sys_enter", NULL };
	static struct bpf_code code;
	struct offsets at = { 0 };

	if (find_offsets(p, &at) < 0 || make_maps(p, o) < 0)
		return -1;
	emit_free(&code, p, o, &at);
	if (plan_attach(p, &code, "sched_process_free", 1) < 0)
		return -1;
	emit_fork(&code, p, o, &at);
	if (plan_attach(p, &code, "sched_process_fork", 1) < 0)
		return -1;
	emit_exec(&code, p, o);
	if (plan_attach(p, &code, "sched_process_exec", 1) < 0 || otel_find_all(p, o) < 0)
		return -1;
	for (char *const *event = *p->names ? p->names : calls; *event; event++) {
		emit_event(&code, p, o, &at);
		if (plan_attach(p, &code, *event, !strchr(*event, '/')) < 0)
			return -1;
	}
	return 0;
}
