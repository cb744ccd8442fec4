/* SPDX-License-Identifier: ISC */
/*
 * stack_programs.c - programs that record the user stack below each event
 *
 * The kernel itself finds the callers of a function only by frame pointers, which most libraries do
 * not have. So a program runs after each event, and records the registers of the task in user mode,
 * which are at the end of its kernel stack, and the user stack from the stack pointer on
 * (struct stack_copy). The reader unwinds that (stacks.c). A BPF program must not sleep, so pages
 * of the stack that are not in memory are missing.
 */
#include <sys/utsname.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "elf/elf.h"
#include "call_programs.h"

/* The size of a kernel stack before Linux 5.15, and the thread pointer in struct thread_struct */
#if defined(__x86_64__)
enum { KNOWS_STACKS = 1, THREAD_SIZE = 16384, REG_OF_ARM = 0 };
#define THREAD_POINTER "fsbase"
#elif defined(__aarch64__)
enum { KNOWS_STACKS = 1, THREAD_SIZE = 16384, REG_OF_ARM = 1 };
#define THREAD_POINTER "uw" /* its first member is tp_value */
#else
enum { KNOWS_STACKS = 0, THREAD_SIZE = 16384, REG_OF_ARM = 0 };
#define THREAD_POINTER ""
#endif

/* At most so many programs of a CPU are at work at once: interrupts come in between. */
enum { LEVELS = 4 };

/* Slots on the stack; and in the buffer, to which R7 points: the record. */
enum { PLACE = -8, VALUE = -16, PIECE = -24, RING = -40, LEVEL = -48,
       COPY = sizeof(struct ring_head), BYTES = COPY + (int)sizeof(struct stack_copy),
       /* The verifier does not know what is there: each round of the loop looks the same to it. */
       AT_SP = BYTES + STACK_CHUNK + PAGE, WANTED = AT_SP + 8, COPIED = AT_SP + 16,
       ROOM = AT_SP + 24 };
/* At most so many pieces, of a page or less, and ends of chunks */
enum { PIECES_MOST = (STACK_MOST / STACK_CHUNK) * (STACK_CHUNK / PAGE + 2), PAGE_SHIFT = 12 };
_Static_assert(ROOM <= 32 * 1024, "the kernel has room for such a buffer for each CPU");
#define IN_COPY(MEMBER) (COPY + (int)offsetof(struct stack_copy, MEMBER))
enum { REGISTERS_SIZE = sizeof(((struct stack_copy *)0)->kernel) };

enum { OF_STACK, OF_SPACE, OF_THREAD, OF_POINTER, OF_FIRST, OF_STATE, MEMBERS_ALL };

/* The states of a task that blocks (include/linux/sched.h) */
enum { BLOCKS = 0xcf };

struct stacks {
	struct programs m;
	int at[MEMBERS_ALL];    /* offsets */
	int buffers;            /* the map of buffers, LEVELS for each CPU */
	unsigned blocked;       /* the id of the switch, if only tasks that block matter; or 0 */
	int levels;             /* the map of which of them are in use: a word each */
	int numbers;            /* the map of struct call_ids, by the numbers of calls */
	struct call_ids {
		uint32_t enter, exit; /* ids of the events of a call that are recorded, or 0 */
	} *ids;
};

/* Which events of calls are recorded: their side, or none */
enum side { NO_CALL, ENTERS, EXITS };

/* to = the kernel's word at from + at; jump to leave if it cannot be read */
static void read_pointer(struct bpf_code *c, enum bpf_reg to, enum bpf_reg from, int at)
{
	emit_copy(c, FN_PROBE_READ_KERNEL, VALUE, 8, from, at);
	emit_jump32_if_imm(c, R0, JNE, 0, "leave");
	emit_load(c, SIZE_DW, to, FP, VALUE);
}

/* Copy the registers in user mode of the task R9 to the record at R7. */
static void copy_registers(struct bpf_code *c, const struct stacks *s)
{
	if (s->m.version >= KERNEL(5, 15)) {
		emit_call(c, FN_GET_CURRENT_TASK_BTF);
		emit_mov(c, R1, R0);
		emit_call(c, FN_TASK_PT_REGS);
		emit_mov(c, R3, R0);
	} else {
		read_pointer(c, R3, R9, s->at[OF_STACK]);
		emit_alu_imm(c, ALU_ADD, R3, THREAD_SIZE - REGISTERS_SIZE);
	}
	emit_address(c, R1, R7, IN_COPY(kernel));
	emit_mov_imm(c, R2, REGISTERS_SIZE);
	emit_call(c, FN_PROBE_READ_KERNEL);
	emit_jump32_if_imm(c, R0, JNE, 0, "leave");
}

/*
 * WANTED = how many bytes of the stack to copy. The first thread's stack ends where the kernel put
 * the arguments of the program, R8; that of another thread below its thread pointer, R6.
 */
static void find_end(struct bpf_code *c)
{
	emit_scope(c);
	emit_load(c, SIZE_DW, R1, R7, AT_SP);
	emit_alu_imm(c, ALU_ADD, R8, 16); /* the number of arguments, and the first one */
	emit_mov(c, R2, R8);
	emit_alu(c, ALU_SUB, R2, R1);
	emit_jump_if_imm(c, R2, JLE, STACK_MOST, "found");
	emit_mov(c, R2, R6);
	emit_alu(c, ALU_SUB, R2, R1);
	emit_jump_if_imm(c, R2, JLE, STACK_MOST, "found");
	emit_mov_imm(c, R2, STACK_MOST);
	emit_label(c, "found");
	emit_alu_imm(c, ALU_AND, R2, -8);
	emit_store(c, SIZE_DW, R7, WANTED, R2);
	emit_scope_end(c);
}

/* Write the record of a chunk, whose R9 bytes of memory are in the buffer. */
static void write_chunk(struct bpf_code *c, const struct stacks *s, int more)
{
	emit_store_imm(c, SIZE_B, R7, IN_COPY(more), more);
	emit_head(c, R7, 0, RECORD_STACK);
	emit_mov(c, R8, R9);
	emit_alu_imm(c, ALU_AND, R8, 2 * STACK_CHUNK - 1);
	emit_jump_if_imm(c, R8, JGT, STACK_CHUNK, "leave");
	emit_alu_imm(c, ALU_ADD, R8, BYTES);
	emit_record(c, &s->m.p->channel, R7, 0, 0, RING, 1);
}

/* If R4 > R2, R4 = R2 */
static void limit(struct bpf_code *c)
{
	emit_scope(c);
	emit_jump_if(c, R4, JLE, R2, "least");
	emit_mov(c, R4, R2);
	emit_label(c, "least");
	emit_scope_end(c);
}

/* Note that the page of the byte AT_SP + R9 is missing. */
static void miss_page(struct bpf_code *c)
{
	emit_load(c, SIZE_DW, R1, R7, AT_SP);
	emit_alu(c, ALU_ADD, R1, R9);
	emit_alu_imm(c, ALU_RSH, R1, PAGE_SHIFT);
	emit_load(c, SIZE_DW, R2, R7, IN_COPY(kernel) + STACK);
	emit_alu_imm(c, ALU_RSH, R2, PAGE_SHIFT);
	emit_alu(c, ALU_SUB, R1, R2);
	emit_alu_imm(c, ALU_AND, R1, 31);
	emit_mov_imm(c, R2, 1);
	emit_alu(c, ALU_LSH, R2, R1);
	emit_load(c, SIZE_W, R1, R7, IN_COPY(missing));
	emit_alu(c, ALU_OR, R1, R2);
	emit_store(c, SIZE_W, R7, IN_COPY(missing), R1);
}

/*
 * Copy WANTED bytes of the stack, page by page, and write them. R6 counts the pieces, and R9
 * the bytes of the present chunk.
 */
static void copy_stack(struct bpf_code *c, const struct stacks *s)
{
	emit_mov_imm(c, R6, 0);
	emit_store_imm(c, SIZE_DW, R7, COPIED, 0);
	emit_store_imm(c, SIZE_B, R7, IN_COPY(chunk), 0);
	emit_store_imm(c, SIZE_W, R7, IN_COPY(missing), 0);
	emit_label(c, "page");
	emit_load(c, SIZE_DW, R9, R7, COPIED);
	emit_alu_imm(c, ALU_ADD, R6, 1);
	emit_jump_if_imm(c, R6, JGT, PIECES_MOST, "copied");
	emit_load(c, SIZE_DW, R4, R7, WANTED);
	emit_alu(c, ALU_SUB, R4, R9);
	emit_jump_if_imm(c, R4, JSLE, 0, "copied");
	emit_jump_if_imm(c, R9, JSGE, STACK_CHUNK, "full");
	emit_mov_imm(c, R2, STACK_CHUNK);
	emit_alu(c, ALU_SUB, R2, R9);
	limit(c);
	emit_load(c, SIZE_DW, R3, R7, AT_SP);
	emit_alu(c, ALU_ADD, R3, R9);
	emit_mov(c, R1, R3);
	emit_alu_imm(c, ALU_AND, R1, PAGE - 1);
	emit_mov_imm(c, R2, PAGE);
	emit_alu(c, ALU_SUB, R2, R1);
	limit(c);
	emit_store(c, SIZE_DW, FP, PIECE, R4);
	emit_mov(c, R2, R4);
	emit_alu_imm(c, ALU_AND, R2, 2 * PAGE - 1);
	emit_jump_if_imm(c, R2, JGT, PAGE, "copied");
	emit_mov(c, R1, R9);
	emit_alu_imm(c, ALU_AND, R1, STACK_CHUNK - 1);
	emit_alu(c, ALU_ADD, R1, R7);
	emit_alu_imm(c, ALU_ADD, R1, BYTES);
	emit_call(c, FN_PROBE_READ_USER);
	emit_jump32_if_imm(c, R0, JEQ, 0, "read");
	miss_page(c);
	emit_label(c, "read");
	emit_load(c, SIZE_DW, R2, FP, PIECE);
	emit_alu(c, ALU_ADD, R9, R2);
	emit_store(c, SIZE_DW, R7, COPIED, R9);
	emit_jump(c, "page");
	emit_label(c, "full");
	write_chunk(c, s, 1);
	emit_jump_if_imm(c, R0, JNE, 0, "leave"); /* it is lost, and is counted once */
	emit_load(c, SIZE_B, R1, R7, IN_COPY(chunk));
	emit_alu_imm(c, ALU_ADD, R1, 1);
	emit_store(c, SIZE_B, R7, IN_COPY(chunk), R1);
	for (int i = 0; i < 2; i++) {
		const int slot = i ? WANTED : AT_SP;

		emit_load(c, SIZE_DW, R1, R7, slot);
		emit_alu_imm(c, ALU_ADD, R1, i ? -STACK_CHUNK : STACK_CHUNK);
		emit_store(c, SIZE_DW, R7, slot, R1);
	}
	emit_store_imm(c, SIZE_DW, R7, COPIED, 0);
	emit_jump(c, "page");
	emit_label(c, "copied");
	write_chunk(c, s, 0);
}

/*
 * Jump to exit unless the event is one that is recorded: a call of this number. R6 = its registers
 * at a raw tracepoint; R8 = the id of the event.
 */
static void find_number(struct bpf_code *c, const struct stacks *s, enum side side)
{
	emit_load(c, SIZE_DW, R6, R1, 0);
	if (side == ENTERS) {
		emit_load(c, SIZE_DW, R8, R1, 8);
	} else {
		emit_copy(c, FN_PROBE_READ_KERNEL, VALUE,
			  (enum bpf_size)NR_SIZE == SIZE_W ? 4 : 8, R6, NR);
		emit_load(c, (enum bpf_size)NR_SIZE, R8, FP, VALUE);
	}
	emit_store(c, SIZE_W, FP, PLACE, R8);
	emit_find(c, s->numbers, PLACE, R0, "exit");
	emit_load(c, SIZE_W, R8, R0, side == ENTERS ? 0 : 4);
	emit_jump_if_imm(c, R8, JEQ, 0, "exit");
	if (MODE_MASK) { /* the kernel's events leave out the calls of 32-bit code */
		load_mode(c, &s->m);
		emit_alu_imm(c, ALU_AND, R1, MODE_MASK);
		emit_jump_if_imm(c, R1, JEQ, MODE_32, "exit");
	}
}

/*
 * R7 = a buffer of this CPU that no other program uses, which this one has interrupted or preempted
 * (since Linux 6.0 a uprobe's may be). Jump to out without one, and count a loss. Overwrites R9.
 */
static void take_buffer(struct bpf_code *c, const struct stacks *s)
{
	emit_store_imm(c, SIZE_W, FP, PLACE, 0);
	emit_find(c, s->levels, PLACE, R9, "out");
	for (int i = 0; i < LEVELS; i++) {
		emit_store_imm(c, SIZE_DW, FP, LEVEL, i);
		if (s->m.version < KERNEL(5, 12)) { /* no instruction for it, and no preemption */
			emit_load(c, SIZE_DW, R0, R9, 8 * i);
			emit_store_imm(c, SIZE_DW, R9, 8 * i, 1);
		} else {
			emit_mov_imm(c, R0, 0);
			emit_mov_imm(c, R1, 1);
			emit_cmpxchg(c, R9, 8 * i, R1);
		}
		emit_jump_if_imm(c, R0, JEQ, 0, "claimed");
	}
	emit_lost(c, RING);
	emit_jump(c, "out");
	emit_label(c, "claimed");
	emit_load(c, SIZE_DW, R1, FP, LEVEL);
	emit_store(c, SIZE_W, FP, PLACE, R1);
	emit_find(c, s->buffers, PLACE, R7, "leave");
}

static void leave_buffer(struct bpf_code *c, const struct stacks *s)
{
	emit_label(c, "leave");
	emit_store_imm(c, SIZE_W, FP, PLACE, 0);
	emit_find(c, s->levels, PLACE, R0, "out");
	emit_load(c, SIZE_DW, R1, FP, LEVEL);
	emit_alu_imm(c, ALU_AND, R1, LEVELS - 1);
	emit_alu_imm(c, ALU_LSH, R1, 3);
	emit_alu(c, ALU_ADD, R0, R1);
	emit_store_imm(c, SIZE_DW, R0, 0, 0);
}

/* At a switch, jump to exit unless its first task, the second argument, blocks. Overwrites R6. */
static void skip_runnable(struct bpf_code *c, const struct stacks *s)
{
	const int whole = s->m.version < KERNEL(5, 14); /* it was a long before */

	emit_load(c, SIZE_DW, R6, R1, 0); /* whether the task is preempted */
	emit_jump_if_imm(c, R6, JNE, 0, "exit");
	if (s->m.version >= KERNEL(5, 18)) { /* as the event has it: a waker may change it */
		emit_load(c, SIZE_DW, R6, R1, 24);
		emit_jump_if_imm(c, R6, JSET, BLOCKS, "blocks");
		emit_jump(c, "exit");
		emit_label(c, "blocks");
		return;
	}
	emit_load(c, SIZE_DW, R6, R1, 8);
	emit_copy(c, FN_PROBE_READ_KERNEL, VALUE, whole ? 8 : 4, R6, s->at[OF_STATE]);
	emit_load(c, SIZE_W, R6, FP, VALUE);
	emit_jump_if_imm(c, R6, JSET, BLOCKS, "blocks");
	emit_jump(c, "exit");
	emit_label(c, "blocks");
}

/* Run after an event of this id, or after a side of the calls in s->numbers. */
static void emit_event(struct bpf_code *c, const struct stacks *s, unsigned id, enum side side)
{
	bpf_begin(c, NULL, &s->m.p->alone);
	if (side)
		find_number(c, s, side);
	if (s->blocked && id == s->blocked)
		skip_runnable(c, s);
	if (!side)
		emit_mov_imm(c, R8, (int32_t)id);
	set_pid(c, R6);
	find_task(c, &s->m, R6);
	emit_load(c, SIZE_B, R1, R0, 0);
	emit_alu_imm(c, ALU_AND, R1, LISTED);
	emit_jump_if_imm(c, R1, s->m.all ? JNE : JEQ, 0, "exit");
	emit_alone(c);
	emit_until_end(c, &s->m.p->channel, RING);
	take_buffer(c, s);
	emit_store(c, SIZE_H, R7, IN_COPY(event), R8);
	emit_call(c, FN_GET_CURRENT_TASK);
	emit_mov(c, R9, R0);
	read_pointer(c, R8, R9, s->at[OF_SPACE]);
	emit_jump_if_imm(c, R8, JEQ, 0, "leave"); /* a task of the kernel */
	read_pointer(c, R8, R8, s->at[OF_FIRST]);
	read_pointer(c, R6, R9, s->at[OF_THREAD] + s->at[OF_POINTER]);
	copy_registers(c, s);
	emit_call(c, FN_KTIME_GET_NS);
	emit_store(c, SIZE_W, R7, IN_COPY(stamp), R0);
	emit_load(c, SIZE_DW, R1, R7, IN_COPY(kernel) + STACK);
	emit_store(c, SIZE_DW, R7, AT_SP, R1);
	find_end(c);
	emit_call(c, FN_GET_CURRENT_PID_TGID);
	emit_alu_imm(c, ALU_RSH, R0, 32);
	emit_store(c, SIZE_W, R7, IN_COPY(tgid), R0);
	emit_address(c, R1, R7, IN_COPY(comm));
	emit_mov_imm(c, R2, sizeof(((struct stack_copy *)0)->comm));
	emit_call(c, FN_GET_CURRENT_COMM);
	copy_stack(c, s);
	leave_buffer(c, s);
	emit_out(c, 0);
}

/* Find the offsets in the kernel's BTF. Return 0, or -1, reported. */
static int find_offsets(struct stacks *s)
{
	const struct {
		const char *structure, *member;
	} members[MEMBERS_ALL] = {
		{ "task_struct", "stack" }, { "task_struct", "mm" }, { "task_struct", "thread" },
		{ "thread_struct", THREAD_POINTER }, { "mm_struct", "start_stack" },
		{ "task_struct", s->m.version < KERNEL(5, 14) ? "state" : "__state" },
	};
	char path[PATH_MAX];
	struct btf btf;
	int r = 0;

	str_format(path, sizeof(path), "%s/kernel/btf/vmlinux", path_sysfs());
	if (!KNOWS_STACKS)
		return err_msg("stack: the registers of this architecture are not known; x86-64 "
			       "and arm64 have them");
	/* without the kernel's function, the size of struct pt_regs must be known, as amd64's is */
	if (REG_OF_ARM && s->m.version < KERNEL(5, 15))
		return err_msg("stack: arm64 needs Linux 5.15");
	if (btf_read(&btf, path) < 0)
		return err_file("unable to read %s (CONFIG_DEBUG_INFO_BTF)", path);
	for (size_t i = 0; !r && i < MEMBERS_ALL; i++) {
		s->at[i] = btf_member(&btf, members[i].structure, members[i].member);
		if (s->at[i] < 0)
			r = err_msg("stack: the BTF of this kernel has no %s in %s",
				    members[i].member, members[i].structure);
	}
	btf_free(&btf);
	return r;
}

/* Return the id of an event, or 0. */
static unsigned id_of(const struct plan *p, const char *event)
{
	char path[160], *text;
	const char *digits;
	unsigned id;

	str_format(path, sizeof(path), "events/%s/id", event);
	digits = text = file_read(p->root, path, NULL);
	id = text ? (unsigned)text_digits(&digits) : 0;
	free(text);
	return id;
}

/* Return the number of a call of this host, or -1. */
static int number_of(const char *call)
{
	int number = -1, found = -1;

	for (const char *n = NULL; found < 0 && (n = syscall_next(n, &number));)
		found = strcmp(n, call) ? -1 : number;
	return found;
}

/* If it is an event of a call, note its id and return its side. */
static enum side note_call(struct stacks *s, const char *event, unsigned id)
{
	const char *name = !strncmp(event, "syscalls/sys_", 13) ? event + 13 : "";
	const int enters = !strncmp(name, "enter_", 6);
	const char *call = enters || !strncmp(name, "exit_", 5) ?
			   syscall_of_name(name + (enters ? 6 : 5)) : NULL;
	const int number = call ? number_of(call) : -1;

	if (number < 0 || number >= NUMBERS)
		return NO_CALL;
	if (enters)
		s->ids[number].enter = id;
	else
		s->ids[number].exit = id;
	return enters ? ENTERS : EXITS;
}

/* Is the event a probe of this session, or of an administrator, and no tracepoint? */
static int is_probe(const char *probes, const char *event)
{
	const char *at = probes;
	const size_t n = strlen(event);

	while (at && (at = strstr(at, event)) &&
	       (at == probes || at[-1] != ':' || !strchr(" \n", at[n])))
		at++;
	return at != NULL;
}

/*
 * Attach to the events that the instance records. set_event has a line SYSTEM:EVENT for each.
 * Tracepoints have the names of their events. Return 0, or -1, reported.
 */
static int attach_events(struct stacks *s, struct bpf_code *c)
{
	char *events = file_read(s->m.p->instance, "set_event", NULL), *next;
	char *probes = file_read(s->m.p->root, "dynamic_events", NULL);
	int sides = 0, r = events ? 0 : err_file("unable to read set_event");

	for (char *event = events; !r && event && *event; event = next) {
		char *name = event + strcspn(event, ":\n");
		enum side side;
		unsigned id;

		next = event + strcspn(event, "\n");
		if (*next)
			*next++ = '\0';
		if (*name != ':')
			continue;
		*name++ = '/';
		id = id_of(s->m.p, event);
		side = id ? note_call(s, event, id) : NO_CALL;
		sides |= 1 << side;
		if (!id || side)
			continue;
		emit_event(c, s, id, NO_CALL);
		if (is_probe(probes, event))
			r = plan_attach(s->m.p, c, event, PROBE_EVENT);
		else
			r = plan_attach(s->m.p, c, !strcmp(event, "raw_syscalls/sys_enter") ?
					"sys_enter" : name, RAW_TRACEPOINT);
	}
	for (int side = ENTERS; !r && side <= EXITS; side++)
		if (sides & 1 << side) {
			emit_event(c, s, 0, (enum side)side);
			r = plan_attach(s->m.p, c, side == ENTERS ? "sys_enter" : "sys_exit",
					RAW_TRACEPOINT);
		}
	free(events);
	free(probes);
	return r;
}

static int is_usdt(void *offset, const struct elf_usdt *u)
{
	return u->offset == *(const uint64_t *)offset;
}

/* Does a function or a USDT probe begin at this offset? Elsewhere a probe may break the program. */
static int is_place(const struct elf_file *file, uint64_t offset)
{
	struct elf_location location;

	return elf_function_at(file, offset, &location) > 0 ||
	       elf_each_usdt(file, is_usdt, &offset) > 0;
}

/* Return the offset in " PATH:0xOFFSET ARGUMENTS"; a path may look like that, too. */
static uint64_t offset_in(const char *s)
{
	const char *end = s + 1 + strcspn(s + 1, " "), *at = end;

	while (at > s && strncmp(at, ":0x", 3))
		at--;
	at += 3;
	return at < end ? text_hex(&at, end) : 0;
}

/*
 * Attach to the probes of the file, which have lines "p:GROUP/EVENT PATH:0xOFFSET ..." in
 * dynamic_events; r: a return. Return 0, or -1, reported.
 */
static int attach_probes(struct stacks *s, struct bpf_code *c, const char *binary)
{
	const char *group = getenv("TFS_GROUP");
	char *lines = file_read(s->m.p->root, "dynamic_events", NULL), *rest = lines, *line;
	struct elf_file file;
	char path[sizeof(UPROBE_FD) + 16], event[160];
	int r = 0, found = 0;

	if (!group || !lines)
		return err_msg("no probes; make them, and set TFS_GROUP");
	if (elf_file_open(&file, binary, binary, 0) < 0)
		return -1;
	str_format(path, sizeof(path), UPROBE_FD "%d", file.fd);
	while ((line = text_next_line(&rest))) {
		const char *name = strchr(line, ':');
		const size_t n = strlen(group);
		uint64_t offset;

		if (!strchr("pr", *line) || !name || strncmp(name + 1, group, n) ||
		    name[1 + n] != '/')
			continue;
		str_format(event, sizeof(event), "%.*s", (int)strcspn(name + 1, " "), name + 1);
		offset = offset_in(name + 1 + strcspn(name + 1, " "));
		found = 1;
		if (!is_place(&file, offset)) {
			r = err_msg("%s has no function at 0x%llx", binary,
				    (unsigned long long)offset);
			break;
		}
		emit_event(c, s, id_of(s->m.p, event), NO_CALL);
		r = plan_attach_uprobe(s->m.p, c, path, offset, *line == 'r');
		if (r < 0)
			break;
	}
	if (!found)
		r = err_msg("no probes; make them, and set TFS_GROUP");
	close(file.fd);
	free(lines);
	return r;
}

int stacks_attach(struct plan *p, const char *binary, int blocked)
{
	static struct bpf_code code;
	struct stacks s = { .m = { .p = p, .all = !p->listed, .open = -1 } };

	if (programs_offsets(&s.m) < 0 || find_offsets(&s) < 0)
		return -1;
	s.buffers = plan_map(p, MAP_PERCPU_ARRAY, "stack", 4, ROOM, LEVELS);
	s.levels = plan_map(p, MAP_PERCPU_ARRAY, "levels", 4, 8 * LEVELS, 1);
	s.ids = plan_array(p, "numbers", &s.numbers, sizeof(*s.ids), NUMBERS);
	s.m.tasks = plan_map(p, MAP_ARRAY, "tasks", 4, LIST_PIDS, 1);
	if (s.buffers < 0 || s.levels < 0 || !s.ids || s.m.tasks < 0)
		return -1;
	p->tasks = s.m.tasks;
	memset(s.m.types, 0, sizeof(s.m.types)); /* programs here call helpers to read memory */
	s.blocked = blocked ? id_of(p, "sched/sched_switch") : 0;
	if (rings_set(p->channel.control, RINGS_STACKS) < 0)
		return err_errno("unable to fill a BPF map");
	if (follow_tasks(&s.m, &code) < 0 || attach_events(&s, &code) < 0)
		return -1;
	return binary ? attach_probes(&s, &code, binary) : 0;
}
