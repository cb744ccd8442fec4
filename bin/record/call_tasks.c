/* SPDX-License-Identifier: ISC */
/* call_tasks.c - the programs that follow the tasks whose calls are recorded */
#include <sys/mman.h>
#include <sys/utsname.h>

#include "host/host.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "call_programs.h"

/* A value of a map has at most 4 MiB (KMALLOC_MAX_SIZE). */
enum { TOLD_MOST = 64 * 1024 };

/*
 * A task forks: its child is listed if the task is. If m->pid is not known, the event's record has
 * the pid of the child at the offset child.
 */
static void emit_fork(struct bpf_code *c, const struct programs *m, int child)
{
	begin_program(c, m);
	if (m->pid >= 0) { /* a raw tracepoint with the child as its second argument */
		emit_load(c, SIZE_DW, R3, R1, 8);
		emit_alu_imm(c, ALU_ADD, R3, m->pid);
		read_kernel(c, 4);
		emit_load(c, SIZE_W, R7, FP, SLOT);
	} else {
		emit_load(c, SIZE_W, R7, R1, child);
	}
	emit_alone(c);
	set_pid(c, R6);
	find_task(c, m, R6);
	emit_load(c, SIZE_B, R8, R0, 0);
	emit_alu_imm(c, ALU_AND, R8, LISTED);
	emit_jump_if_imm(c, R8, JEQ, 0, "out");
	find_task(c, m, R7);
	emit_store(c, SIZE_B, R0, 0, R8);
	emit_out(c, 0);
}

/* A task ends: its call does not return, and the next one with its pid is not traced. */
static void emit_end(struct bpf_code *c, const struct programs *m)
{
	begin_program(c, m);
	emit_alone(c);
	set_pid(c, R6);
	emit_store(c, SIZE_DW, FP, TASK, R6);
	find_task(c, m, R6);
	emit_load(c, SIZE_B, R8, R0, 0);
	emit_store_imm(c, SIZE_B, R0, 0, 0);
	if (m->open < 0) {
		emit_out(c, 0);
		return;
	}
	emit_until_end(c, &m->p->channel, CONTROL);
	find_open(c, m, 0, "out");
	emit_get(c, R1, R7, open_call, open);
	emit_jump_if_imm(c, R1, JEQ, 0, "ended");
	emit_set_imm(c, R7, open_call, record.ret, 0); /* an earlier call has left its own */
	emit_set_imm(c, R7, open_call, record.ret_nr, 0);
	write_task(c, m, offsetof(struct open_call, head));
	write_open(c, m, RECORD_OPEN);
	emit_label(c, "ended");
	leave_open(c);
	emit_out(c, 0);
}

/*
 * A task executes a program. If it is not the leader, it takes the pid of the leader, which has
 * ended: move its byte and its call from its old pid, R6, to its new pid, R7.
 */
static void emit_exec(struct bpf_code *c, const struct programs *m)
{
	enum { OPEN_MOVES = offsetof(struct open_call, open) };

	begin_program(c, m);
	emit_load(c, SIZE_DW, R6, R1, 8); /* the second argument: the task's old pid */
	emit_alone(c);
	emit_alu32(c, ALU_MOV, R6, R6);
	set_pid(c, R7);
	emit_jump_if(c, R6, JEQ, R7, "out");
	emit_store(c, SIZE_DW, FP, TASK, R6);
	emit_store(c, SIZE_DW, FP, NUMBER, R7);
	find_task(c, m, R6);
	emit_load(c, SIZE_B, R8, R0, 0);
	emit_store_imm(c, SIZE_B, R0, 0, 0);
	find_task(c, m, R7);
	emit_store(c, SIZE_B, R0, 0, R8);
	if (m->open < 0) {
		emit_out(c, 0);
		return;
	}
	emit_until_end(c, &m->p->channel, CONTROL);
	find_open(c, m, 0, "out");
	emit_mov(c, R9, R7);
	emit_load(c, SIZE_DW, R1, FP, NUMBER);
	emit_store(c, SIZE_DW, FP, TASK, R1);
	find_open(c, m, 1, "taken");
	emit_address(c, R1, R7, OPEN_MOVES);
	emit_mov_imm(c, R2, (int32_t)sizeof(struct open_call) - OPEN_MOVES);
	emit_address(c, R3, R9, OPEN_MOVES);
	emit_call(c, FN_PROBE_READ_KERNEL);
	emit_mov(c, R7, R9);
	leave_open(c);
	emit_jump(c, "out");
	emit_label(c, "taken"); /* as the entry does, if it finds no place */
	emit_store(c, SIZE_DW, FP, TASK, R6);
	emit_mov(c, R7, R9);
	write_open(c, m, RECORD_ENTER);
	leave_open(c);
	emit_out(c, 0);
}

/* Read the tasks of the pid filter: those that are traced, or if all are, those that are not. */
static int read_filter(const struct programs *m, struct pids *out)
{
	return m->all ? pidfilter_excluded(m->p->instance, out) :
			pidfilter_list(m->p->instance, out);
}

/*
 * Follow the tasks of the pid filter, as the kernel does. A child of a task that is not
 * in the map yet is in the filter, so read the filter until it has no other tasks.
 * Return 0, or -1, reported.
 */
static int follow_filter(const struct programs *m, struct bpf_code *code)
{
	/* the kernel takes long to detach a program from an event, but not from a raw tracepoint */
	const int raw = m->pid >= 0;
	char *format = file_read(m->p->root, "events/sched/sched_process_fork/format", NULL);
	int child = format ? format_field(format, " child_pid;") : 0, r;
	struct pids known = { 0 }, now = { 0 };

	free(format);
	if (!child)
		return err_file("unable to read events/sched/sched_process_fork/format");
	emit_fork(code, m, child);
	r = plan_attach(m->p, code, raw ? "sched_process_fork" : "sched/sched_process_fork",
			raw ? RAW_TRACEPOINT : 0);
	while (!r) {
		r = read_filter(m, &now);
		if (!r && pids_same(&known, &now))
			break;
		if (!r && rings_list(m->tasks, &now) < 0)
			r = err_errno("unable to fill a BPF map");
		pids_clear(&known);
		known = now;
		now = (struct pids){ 0 };
	}
	pids_clear(&known);
	pids_clear(&now);
	return r;
}

int follow_tasks(const struct programs *m, struct bpf_code *code)
{
	int r;

	emit_exec(code, m);
	r = plan_attach(m->p, code, "sched_process_exec", RAW_TRACEPOINT);
	emit_end(code, m);
	r = r ? r : plan_attach(m->p, code, "sched_process_exit", RAW_TRACEPOINT);
	return r ? r : follow_filter(m, code);
}

int programs_offsets(struct programs *m)
{
	struct utsname host;
	const unsigned version = !uname(&host) ? kernel_version(host.release) : 0;
	char path[PATH_MAX];
	struct btf btf;
	int info, status, r;

	m->version = version;
	m->may_goto = version >= KERNEL(6, 9);
	/* flags, since Linux 5.11 syscall_work, and status; thread_info comes first */
	m->status = version < KERNEL(5, 11) ? 8 : 16;
	str_format(path, sizeof(path), "%s/kernel/btf/vmlinux", path_sysfs());
	m->pid = -1;
	memset(m->steps, -1, sizeof(m->steps));
	memset(m->task, -1, sizeof(m->task));
	if (btf_read(&btf, path) < 0)
		return 0;
#define FIND_STEP(NAME, structure, member) \
	m->steps[NAME] = btf_member(&btf, #structure, #member);
	STEP_MEMBERS(FIND_STEP)
#define FIND_OF_TASK(NAME, structure, member) \
	m->task[NAME] = btf_member(&btf, #structure, #member);
	TASK_MEMBERS(FIND_OF_TASK)
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
	plan_alone(m->p, &btf);
	r = files_prepare(m, &btf, version);
	btf_free(&btf);
	return r;
}

int calls_check(const struct plan *p)
{
	char *page = file_read(p->root, "events/header_page", NULL);
	const char *commit = page ? strstr(page, "commit;") : NULL;
	const int word = commit && strstr(commit, "size:8") ? 8 : 4;

	free(page);
	if (!page)
		return err_file("unable to read events/header_page");
	if (!KNOWN_REGISTERS || word != WORD)
		return err_msg("calls: the registers of this kernel are not known");
	return 0;
}

/* Set what depends on the kernel, and make the buffer. Return 0, or -1, reported. */
static int prepare(struct programs *m)
{
	if (programs_offsets(m) < 0)
		return -1;
	/* a task interrupts the program of another, which the kernel then does not run again */
	m->skips = kernel_skips_programs();
	m->buffer = plan_map(m->p, MAP_PERCPU_ARRAY, "buffer", 4, BUFFER, 2);
	m->places = OPEN_CALLS;
	m->place_size = sizeof(struct open_call);
	m->open = plan_map(m->p, MAP_ARRAY, "open", 4, m->places * m->place_size, 1);
	m->p->channel.calls = m->open;
	for (m->cpus = 1, m->slots = TOLD_SLOTS; m->cpus < m->p->channel.cpus; m->cpus *= 2)
		;
	while (m->cpus * m->slots > TOLD_MOST && m->slots > 1)
		m->slots /= 2;
	m->told = plan_map(m->p, MAP_ARRAY, "told", 4,
			   m->cpus * m->slots * (unsigned)sizeof(struct task_record), 1);
	return m->buffer < 0 || m->open < 0 || m->told < 0 ? -1 : 0;
}

int calls_attach(struct plan *p)
{
	static struct bpf_code code;
	struct programs m = { .p = p, .all = !p->listed };
	int r;

	if (prepare(&m) < 0 || plan_calls(&m) < 0)
		return -1;
	m.tasks = plan_map(p, MAP_ARRAY, "tasks", 4, LIST_PIDS, 1);
	if (m.tasks < 0)
		return -1;
	p->tasks = m.tasks;
	if (p->cpu) /* before the program that forgets a task that ends */
		cpu_attach(p, &m);
	r = follow_tasks(&m, &code);
	/* the return first: a call whose beginning was not seen is read there */
	emit_side(&code, &m, 0);
	r = r ? r : plan_attach(p, &code, "sys_exit", m.types[0] ? m.types[0] : RAW_TRACEPOINT);
	if (r || p->at_return)
		return r;
	emit_side(&code, &m, 1);
	return plan_attach(p, &code, "sys_enter", m.types[1] ? m.types[1] : RAW_TRACEPOINT);
}
