/* SPDX-License-Identifier: ISC */
/*
 * tcp_programs.c - programs that print what no event of a TCP connection has
 *
 * One runs at inet_sock_set_state. When a socket closes, it prints the bytes that were sent and
 * received; or, if no connection came about, the error. The other runs when accept returns, and
 * prints the socket, in the task that accepts. Both read the kernel's structures by its BTF.
 */
#include "base/base.h"
#include "proc/proc.h"
#include "memory_programs.h"

/* include/net/tcp_states.h and enum sock_flags of include/net/sock.h */
enum { TCP_SYN_SENT = 2, TCP_CLOSE = 7, TCP_LISTEN = 10, SOCK_DONE = 1 };

/* Slots on the stack: what is read, and the format */
enum { READ = -8, FORMAT = -48, FORMAT_SIZE = 40 };

static struct btf btf;
static const char *missing; /* a member that this kernel does not have */

static int member(const char *structure, const char *name)
{
	int at = btf_member(&btf, structure, name);

	if (at < 0)
		missing = name;
	return at;
}

/* to = the member of the structure at from */
static void read_member(struct bpf_code *c, enum bpf_reg to, enum bpf_reg from,
			const char *structure, const char *name, enum bpf_size size)
{
	emit_address(c, R3, from, member(structure, name));
	emit_address(c, R1, FP, READ);
	emit_mov_imm(c, R2, size == SIZE_W ? 4 : sizeof(long));
	emit_store_imm(c, SIZE_DW, FP, READ, 0);
	emit_call(c, FN_PROBE_READ_KERNEL);
	emit_load(c, size, to, FP, READ);
}

/* Print the socket in R6, and what is in R4 and R5, by this format. */
static void print(struct bpf_code *c, const struct memory_plan *p, const char *format)
{
	char text[FORMAT_SIZE];
	size_t n = str_format(text, sizeof(text), "%s %s", p->id, format);

	emit_string(c, FP, FORMAT, text);
	emit_address(c, R1, FP, FORMAT);
	emit_mov_imm(c, R2, (int32_t)n + 1);
	emit_mov(c, R3, R6);
	emit_call(c, FN_TRACE_PRINTK);
}

static void emit_state(struct bpf_code *c, const struct memory_plan *p)
{
	memset(c, 0, sizeof(*c));
	emit_load(c, SIZE_DW, R6, R1, 0);  /* the socket */
	emit_load(c, SIZE_DW, R7, R1, 8);  /* its old state */
	emit_load(c, SIZE_DW, R8, R1, 16); /* its new state */
	emit_jump32_if_imm(c, R8, JNE, TCP_CLOSE, "out");
	emit_jump32_if_imm(c, R7, JEQ, TCP_LISTEN, "out");
	emit_jump32_if_imm(c, R7, JEQ, TCP_SYN_SENT, "error");
	read_member(c, R7, R6, "tcp_sock", "bytes_sent", SIZE_DW);
	read_member(c, R8, R6, "tcp_sock", "bytes_retrans", SIZE_DW);
	emit_alu(c, ALU_SUB, R7, R8);
	read_member(c, R8, R6, "tcp_sock", "bytes_received", SIZE_DW);
	/* a FIN counts as a byte */
	read_member(c, R9, R6, "sock_common", "skc_flags", SIZE_DW);
	emit_alu_imm(c, ALU_RSH, R9, SOCK_DONE);
	emit_alu_imm(c, ALU_AND, R9, 1);
	emit_alu(c, ALU_SUB, R8, R9);
	emit_mov(c, R4, R7);
	emit_mov(c, R5, R8);
	print(c, p, "S %llx %llu %llu");
	emit_jump(c, "out");
	emit_label(c, "error");
	read_member(c, R4, R6, "sock", "sk_err", SIZE_W);
	print(c, p, "E %llx %llu");
	emit_out(c, 0);
}

/* result: where the event has the result of the call */
static void emit_accept(struct bpf_code *c, const struct memory_plan *p, int result)
{
	memset(c, 0, sizeof(*c));
	emit_load(c, SIZE_DW, R7, R1, result);
	emit_jump32_if_imm(c, R7, JSLT, 0, "out");
	emit_alu_imm(c, ALU_LSH, R7, sizeof(long) == 8 ? 3 : 2);
	emit_call(c, FN_GET_CURRENT_TASK);
	emit_mov(c, R6, R0);
	read_member(c, R6, R6, "task_struct", "files", SIZE_DW);
	read_member(c, R6, R6, "files_struct", "fdt", SIZE_DW);
	read_member(c, R6, R6, "fdtable", "fd", SIZE_DW);
	emit_alu(c, ALU_ADD, R6, R7);
	emit_address(c, R3, R6, 0);
	emit_address(c, R1, FP, READ);
	emit_mov_imm(c, R2, sizeof(long));
	emit_call(c, FN_PROBE_READ_KERNEL);
	emit_load(c, SIZE_DW, R6, FP, READ);
	read_member(c, R6, R6, "file", "private_data", SIZE_DW);
	read_member(c, R6, R6, "socket", "sk", SIZE_DW);
	print(c, p, "A %llx");
	emit_out(c, 0);
}

/* Attach the program to the return of accept and of accept4. Return 0, or -1, reported. */
static int attach_accepts(struct memory_plan *p, struct bpf_code *c)
{
	static const char *const events[] = { "syscalls/sys_exit_accept4",
					      "syscalls/sys_exit_accept" };

	for (size_t i = 0; i < 2; i++) {
		char path[64];
		char *format;

		str_format(path, sizeof(path), "events/%s/format", events[i]);
		format = file_read(p->root, path, NULL);
		if (!format && !i)
			return err_file("unable to read %s", path);
		if (!format) /* an architecture without it */
			continue;
		emit_accept(c, p, memory_field(format, "ret;"));
		free(format);
		if (memory_attach_at(p, c, events[i], 0) < 0)
			return -1;
	}
	return 0;
}

int tcp_attach(struct memory_plan *p, int accepts)
{
	static struct bpf_code code;
	char path[PATH_MAX];
	int map = bpf_map(MAP_ARRAY, "tfs_tcp", 4, 8, 1), r; /* for its id */

	if (map < 0)
		return err_capability(CAPS_BPF, "unable to make a BPF map");
	str_format(p->id, sizeof(p->id), "tfs_%x", bpf_id(map));
	str_format(path, sizeof(path), "%s/kernel/btf/vmlinux", path_sysfs());
	if (btf_read(&btf, path) < 0)
		return err_file("unable to read %s (CONFIG_DEBUG_INFO_BTF)", path);
	emit_state(&code, p);
	r = missing ? err_msg("the kernel's sockets have no %s", missing) :
	    memory_attach_at(p, &code, "inet_sock_set_state", RAW_TRACEPOINT);
	if (!r && accepts)
		r = attach_accepts(p, &code);
	btf_free(&btf);
	return r;
}
