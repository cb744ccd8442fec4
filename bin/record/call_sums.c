/* SPDX-License-Identifier: ISC */
/*
 * call_sums.c - the programs that add up system calls in maps
 *
 * Programs run at the raw tracepoints sys_enter and sys_exit of all tasks. The entry of a call goes
 * to the map of open calls, and the return adds its duration to the sums of the name of the call.
 * Each CPU has its own sums, which only the program of the return writes, so no addition is atomic
 * but the rare ones. A call that does not return is counted at its entry.
 */
#include "host/host.h"
#include "call_programs.h"
#include "call_sums.h"

/*
 * The tasks that have a place in the map of open calls, by their keys modulo PLACES; the most tasks
 * that have none, because another one has it; the most pairs of a name and an error
 */
enum { PLACES = 16 * 1024, CROWDED_MOST = 16 * 1024, ERRORS_MOST = 8 * 1024 };

/* How a call is counted. SUM_ENDS: only as the return of another one that the task has begun */
enum { SUM_NOT, SUM_RETURNS, SUM_NEVER_RETURNS, SUM_FORKS, SUM_ENDS };

/* The value of the map of calls, which has those of 32-bit code as the map of struct entry has. */
struct sum_entry {
	uint16_t name;
	uint8_t how, any_mode;
};

/* An open call, in its place or in the map of crowded tasks: see struct open_call */
struct sum_open {
	uint64_t claims;
	int32_t pid;
	uint16_t open, name;
	uint64_t begin;
};
_Static_assert(offsetof(struct sum_open, pid) == offsetof(struct open_call, pid) &&
	       offsetof(struct sum_open, open) == offsetof(struct open_call, open),
	       "find_open finds both");

struct sum_maps {
	struct programs m;
	int crowded, sums, lacks, errors;
	int by_stack;           /* the key of a task is the place of its stack, and not its pid */
	unsigned room;
};

/* Where the stack has a struct sum_open */
enum { NEW_OPEN = -104 };

static void begin(struct bpf_code *c, struct sum_maps *s, int entering)
{
	begin_program(c, &s->m);
	s->m.entering = entering;
}

static void count_lack(struct bpf_code *c, const struct sum_maps *s, size_t at)
{
	emit_value(c, R0, s->lacks);
	emit_count(c, R0, (int)at);
}

/* R6 = the sums on this CPU of the name in R9; jump to out if there are none. */
static void find_sums(struct bpf_code *c, const struct sum_maps *s)
{
	emit_call(c, FN_GET_SMP_PROCESSOR_ID);
	emit_store(c, SIZE_W, FP, KEY, R0);
	emit_find(c, s->sums, KEY, R6, "out");
	emit_mov(c, R1, R9);
	emit_alu_imm(c, ALU_AND, R1, (int32_t)s->room - 1);
	emit_alu_imm(c, ALU_MUL, R1, sizeof(struct call_sums));
	emit_alu(c, ALU_ADD, R6, R1);
}

/* to = the entry of the call with the number in R9 */
static void find_entry_of(struct bpf_code *c, const struct sum_maps *s, enum bpf_reg to)
{
	emit_value(c, to, s->m.calls);
	emit_mov(c, R1, R9);
	emit_alu_imm(c, ALU_MUL, R1, sizeof(struct sum_entry));
	emit_alu(c, ALU_ADD, to, R1);
}

/*
 * TASK = the key of the running task, of 32 bits, not 0. With BTF, regs has its saved registers,
 * which are at the top of its stack: that saves the call of a helper. Overwrites R0 to R5.
 */
static void store_key(struct bpf_code *c, const struct sum_maps *s, enum bpf_reg regs)
{
	if (s->by_stack) { /* the verifier allows the difference of two pointers */
		emit_mov(c, R1, regs);
		emit_value(c, R2, s->m.open);
		emit_alu(c, ALU_SUB, R1, R2);
		emit_alu_imm(c, ALU_RSH, R1, 14); /* no stack is smaller */
		emit_alu_imm(c, ALU_AND, R1, 0x7fffffff);
		emit_alu_imm(c, ALU_OR, R1, 0x40000000);
	} else {
		set_pid(c, R1);
	}
	emit_store(c, SIZE_DW, FP, TASK, R1);
}

/*
 * Let R6 be the registers, R8 the result, R9 the number of the call, and TASK the key. Jump to exit
 * if no call with this number is counted.
 */
static void find_number(struct bpf_code *c, const struct sum_maps *s)
{
	emit_load(c, SIZE_DW, R6, R1, 0);
	if (!s->m.entering)
		emit_load(c, SIZE_DW, R8, R1, 8);
	load_number(c, &s->m);
	emit_mov(c, R9, R2);
	emit_jump_if_imm(c, R9, JLE, NUMBERS - 1, "in_table");
	emit_mov_imm(c, R9, OTHER_CALL);
	emit_label(c, "in_table");
	find_entry_of(c, s, R7);
	emit_get(c, R1, R7, sum_entry, any_mode);
	emit_jump_if_imm(c, R1, JEQ, 0, "exit");
	emit_alone(c);
	store_key(c, s, R6);
}

/*
 * R7 = the entry of the call in R9, R9 = its name, R1 = how it is counted; or jump to out. R6 has
 * the registers.
 */
static void find_how(struct bpf_code *c, const struct sum_maps *s)
{
	if (MODE_MASK) {
		emit_jump_if_imm(c, R9, JEQ, OTHER_CALL, "native");
		if (MODE < 0 && s->m.types[s->m.entering]) {
			emit_load(c, SIZE_DW, R1, R6, IP);
			emit_load(c, SIZE_DW, R2, R6, COPY_OF_IP);
			emit_jump_if(c, R1, JEQ, R2, "native");
			emit_call(c, FN_GET_CURRENT_TASK_BTF);
			emit_mov(c, R7, R0);
		}
		load_mode(c, &s->m);
		emit_alu_imm(c, ALU_AND, R1, MODE_MASK);
		emit_jump_if_imm(c, R1, JNE, MODE_32, "native");
		emit_alu_imm(c, ALU_ADD, R9, NUMBERS);
		emit_label(c, "native");
	}
	find_entry_of(c, s, R7);
	emit_get(c, R9, R7, sum_entry, name);
	emit_get(c, R1, R7, sum_entry, how);
	emit_jump_if_imm(c, R1, JEQ, SUM_NOT, "out");
}

static void emit_begins(struct bpf_code *c, struct sum_maps *s)
{
	begin(c, s, 1);
	find_number(c, s);
	find_how(c, s);
	emit_jump_if_imm(c, R1, JEQ, SUM_ENDS, "out");
	emit_jump_if_imm(c, R1, JEQ, SUM_NEVER_RETURNS, "never_returns");
	find_open(c, &s->m, 1, "crowded");
	emit_label(c, "found");
	emit_get(c, R6, R7, sum_open, open);
	emit_set_imm(c, R7, sum_open, open, 1);
	emit_set(c, R7, sum_open, name, R9);
	emit_call(c, FN_KTIME_GET_NS);
	emit_set(c, R7, sum_open, begin, R0);
	emit_jump_if_imm(c, R6, JEQ, 0, "out");
	count_lack(c, s, offsetof(struct call_lacks, lost)); /* the kernel skipped its return */
	emit_jump(c, "out");
	emit_label(c, "crowded");
	for (int i = 0; i < (int)sizeof(struct sum_open); i += 8)
		emit_store_imm(c, SIZE_DW, FP, NEW_OPEN + i, 0);
	emit_update(c, s->crowded, TASK, FP, NEW_OPEN, UPDATE_NEW);
	emit_find(c, s->crowded, TASK, R7, "full");
	emit_jump(c, "found");
	emit_label(c, "full");
	count_lack(c, s, offsetof(struct call_lacks, tasks_full));
	emit_jump(c, "out");
	emit_label(c, "never_returns");
	find_sums(c, s);
	emit_count(c, R6, offsetof(struct call_sums, untimed));
	emit_out(c, 0);
}

/*
 * Add the duration in R2 to the sums at R6. Bucket k has those of at most 1000 << k ns: the least k
 * for which (ns - 1) >> k is below 1000.
 */
static void add_duration(struct bpf_code *c)
{
	emit_get(c, R1, R6, call_sums, ns);
	emit_alu(c, ALU_ADD, R1, R2);
	emit_set(c, R6, call_sums, ns, R1);
	emit_mov_imm(c, R3, 0);
	emit_jump_if_imm(c, R2, JEQ, 0, "bucket");
	emit_alu_imm(c, ALU_SUB, R2, 1);
	for (int shift = 16; shift; shift /= 2) {
		emit_scope(c);
		emit_mov(c, R4, R2);
		emit_alu_imm(c, ALU_RSH, R4, shift);
		emit_jump_if_imm(c, R4, JLE, 999, "shorter");
		emit_mov(c, R2, R4);
		emit_alu_imm(c, ALU_ADD, R3, shift);
		emit_label(c, "shorter");
		emit_scope_end(c);
	}
	emit_jump_if_imm(c, R2, JLE, 999, "bucket");
	emit_alu_imm(c, ALU_ADD, R3, 1);
	emit_jump_if_imm(c, R3, JLE, METRICS_BUCKETS, "bucket");
	emit_mov_imm(c, R3, METRICS_BUCKETS);
	emit_label(c, "bucket");
	emit_alu_imm(c, ALU_LSH, R3, 3);
	emit_alu(c, ALU_ADD, R6, R3);
	emit_get(c, R1, R6, call_sums, buckets[0]);
	emit_alu_imm(c, ALU_ADD, R1, 1);
	emit_set(c, R6, call_sums, buckets[0], R1);
}

/* Count the error in R8 of the call whose name is in R9. */
static void count_error(struct bpf_code *c, const struct sum_maps *s)
{
	emit_jump_if_imm(c, R8, JSGE, 0, "out");
	emit_jump_if_imm(c, R8, JSLT, -4095, "out");
	emit_mov_imm(c, R1, 0);
	emit_alu(c, ALU_SUB, R1, R8);
	emit_store(c, SIZE_W, FP, KEY, R9);
	emit_store(c, SIZE_W, FP, KEY + 4, R1);
	emit_find(c, s->errors, KEY, R7, "new_error");
	emit_count(c, R7, 0);
	emit_jump(c, "out");
	emit_label(c, "new_error");
	emit_store_imm(c, SIZE_DW, FP, SLOT, 0);
	emit_update(c, s->errors, KEY, FP, SLOT, UPDATE_NEW);
	emit_find(c, s->errors, KEY, R7, "no_room"); /* another CPU may have made it */
	emit_count(c, R7, 0);
	emit_jump(c, "out");
	emit_label(c, "no_room");
	count_lack(c, s, offsetof(struct call_lacks, errors_full));
}

static void emit_returns(struct bpf_code *c, struct sum_maps *s)
{
	begin(c, s, 0);
	find_number(c, s);
	if (WORD == 4) {
		emit_alu_imm(c, ALU_LSH, R8, 32);
		emit_alu_imm(c, ALU_ARSH, R8, 32);
	}
	find_open(c, &s->m, 0, "crowded");
	emit_label(c, "found");
	emit_get(c, R1, R7, sum_open, open);
	emit_jump_if_imm(c, R1, JEQ, 0, "not_begun");
	emit_set_imm(c, R7, sum_open, open, 0);
	emit_get(c, R9, R7, sum_open, name);
	find_sums(c, s);
	emit_call(c, FN_KTIME_GET_NS);
	emit_get(c, R1, R7, sum_open, begin);
	emit_mov(c, R2, R0);
	emit_alu(c, ALU_SUB, R2, R1);
	add_duration(c);
	emit_jump(c, "error");
	emit_label(c, "crowded");
	emit_find(c, s->crowded, TASK, R7, "not_begun");
	emit_jump(c, "found");
	emit_label(c, "not_begun"); /* it began before these programs, or seccomp(2) answered it */
	find_how(c, s);
	emit_jump_if_imm(c, R1, JEQ, SUM_ENDS, "out");
	emit_jump_if_imm(c, R1, JNE, SUM_FORKS, "counts");
	emit_jump_if_imm(c, R8, JEQ, 0, "out"); /* a new task, which has made no call */
	emit_label(c, "counts");
	find_sums(c, s);
	emit_count(c, R6, offsetof(struct call_sums, untimed));
	emit_label(c, "error");
	count_error(c, s);
	emit_out(c, 0);
}

/*
 * A task ends, or takes the pid of the first thread to execute a program, and so leaves its own:
 * its call is no longer open. The second is not for keys of stacks.
 */
static void emit_forgets(struct bpf_code *c, struct sum_maps *s, int executes)
{
	begin(c, s, 0);
	if (executes)
		emit_load(c, SIZE_DW, R6, R1, 8); /* the second argument: the task's old pid */
	emit_alone(c);
	if (s->by_stack) {
		emit_call(c, FN_GET_CURRENT_TASK_BTF);
		emit_mov(c, R1, R0);
		emit_call(c, FN_TASK_PT_REGS);
	}
	store_key(c, s, R0);
	if (executes) {
		emit_alu32(c, ALU_MOV, R6, R6);
		emit_jump_if(c, R6, JEQ, R1, "out");
		emit_store(c, SIZE_DW, FP, TASK, R6);
	}
	find_open(c, &s->m, 0, "crowded");
	leave_open(c);
	emit_label(c, "crowded"); /* it may have been that before, too */
	emit_delete(c, s->crowded, TASK);
	emit_out(c, 0);
}

/* Return the index of a name in the totals; add the name if it is new. */
static uint16_t name_index(struct call_totals *t, const char *name)
{
	unsigned i = 0;

	while (i < t->n && strcmp(t->names[i], name))
		i++;
	if (i == t->n)
		t->names[t->n++] = name;
	return (uint16_t)i;
}

/* Return how a call with these roles is counted. ends: the roles of chosen calls (SUM_ENDS) */
static uint8_t how_counted(const struct call_role *role, int chosen, unsigned ends)
{
	return !chosen ? role->is & ends ? SUM_ENDS : SUM_NOT :
	       role->is & IS_EXIT ? SUM_NEVER_RETURNS :
	       role->is & IS_FORK ? SUM_FORKS : SUM_RETURNS;
}

/*
 * Fill the map of calls, and find their names. A call that the tables do not have is "other", and
 * so is the return of a signal, which has no number. Return 0, or -1, reported.
 */
static int fill(struct call_totals *t, struct sum_entry *entries, char *const *names)
{
	const char *abi_32 = ABI_32;
	struct calls *calls[] = { calls_open(NULL), abi_32 ? calls_open(abi_32) : NULL };
	const int all = !*names;
	static unsigned char found[SUMS_NAMES];
	unsigned roles = 0, chosen;

	if (!calls[0] || (abi_32 && !calls[1]))
		return -1;
	for (; *names; names++) {
		name_index(t, *names);
		roles |= role_of_call(*names)->is & (IS_EXEC | IS_SIGRETURN);
	}
	t->given = chosen = t->n;
	for (unsigned n = 0; n <= OTHER_CALL; n++) {
		const struct call *call = n < OTHER_CALL && calls[n / NUMBERS] ?
					  calls_find(calls[n / NUMBERS], n % NUMBERS) : NULL;
		const char *name = call ? call->name : "other";
		unsigned i = 0;

		while (i < chosen && strcmp(t->names[i], name))
			i++;
		if (all)
			i = name_index(t, name);
		else if (call && i < chosen)
			found[i] = 1;
		entries[n].name = (uint16_t)i;
		entries[n].how = call ? how_counted(call->role, all || i < chosen, roles) : all ?
				 SUM_RETURNS : n == OTHER_CALL && roles & IS_SIGRETURN ? SUM_ENDS :
				 SUM_NOT;
		entries[n].any_mode = entries[n].how != SUM_NOT;
	}
	for (unsigned n = 0; n < NUMBERS; n++)
		entries[n].any_mode |= entries[n + NUMBERS].any_mode;
	for (unsigned i = 0; i < chosen; i++)
		if (!found[i])
			return err_msg("unknown system call '%.80s'", t->names[i]);
	return 0;
}

/* Make the maps. Return 0, or -1, reported. */
static int make_maps(struct sum_maps *s, struct call_totals *t, char *const *names)
{
	const struct plan *p = s->m.p;
	struct sum_entry *entries;

	entries = plan_array(p, "calls", &s->m.calls, (OTHER_CALL + 1) * sizeof(*entries), 1);
	if (!entries || fill(t, entries, names) < 0)
		return -1;
	for (s->room = 1; s->room < t->n; s->room *= 2)
		;
	t->room = s->room;
	t->cpus = channel_cpus();
	t->sums = plan_array(p, "sums", &s->sums, s->room * (unsigned)sizeof(*t->sums), t->cpus);
	t->lacks = plan_array(p, "lacks", &s->lacks, sizeof(*t->lacks), 1);
	s->m.places = PLACES;
	s->m.place_size = sizeof(struct sum_open);
	s->m.open = plan_map(p, MAP_ARRAY, "open", 4, PLACES * sizeof(struct sum_open), 1);
	s->crowded = plan_map(p, MAP_HASH, "crowded", 8, sizeof(struct sum_open), CROWDED_MOST);
	s->errors = plan_map(p, MAP_HASH, "errors", sizeof(struct call_error), 8, ERRORS_MOST);
	t->errors = s->errors;
	return t->sums && t->lacks && s->m.open >= 0 && s->crowded >= 0 && s->errors >= 0 ? 0 : -1;
}

int sums_attach(struct call_totals *t, char *const *names)
{
	static struct bpf_code code;
	static struct plan p;
	struct sum_maps s = { .m.p = &p };

	str_format(p.id, sizeof(p.id), "tfs_m%d", (int)getpid());
	if (!KNOWN_REGISTERS)
		return err_msg("the registers of this kernel are not known");
	if (programs_offsets(&s.m) < 0 || make_maps(&s, t, names) < 0)
		return -1;
	s.by_stack = s.m.types[0] && s.m.types[1] && s.m.version >= KERNEL(5, 15);
	emit_forgets(&code, &s, 0);
	if (plan_attach(&p, &code, "sched_process_exit", RAW_TRACEPOINT) < 0)
		return -1;
	emit_forgets(&code, &s, 1);
	if (!s.by_stack && plan_attach(&p, &code, "sched_process_exec", RAW_TRACEPOINT) < 0)
		return -1;
	emit_returns(&code, &s);
	if (plan_attach(&p, &code, "sys_exit", s.m.types[0] ? s.m.types[0] : RAW_TRACEPOINT) < 0)
		return -1;
	emit_begins(&code, &s);
	return plan_attach(&p, &code, "sys_enter", s.m.types[1] ? s.m.types[1] : RAW_TRACEPOINT);
}
