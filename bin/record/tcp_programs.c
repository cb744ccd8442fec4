/* SPDX-License-Identifier: ISC */
/*
 * tcp_programs.c - programs that record what no event of a TCP connection has
 *
 * One runs at inet_sock_set_state. When a socket closes, it records the bytes that were sent and
 * received; or, if no connection came about, the error. Two run when connect begins and fails: a
 * connect that fails by its route, by a full range of ports or by a policy changes no state. One
 * runs when accept returns, and records the socket, in the task that accepts. Two do the same for
 * connects and accepts of io_uring (Linux 6.4). All read the kernel's structures by its BTF.
 *
 * An MPTCP socket of a program has TCP sockets below it, its subflows. The events are those of the
 * subflows, so the programs record the first subflow in place of the MPTCP socket.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "calls/calls.h"
#include "live/live.h"
#include "strings.h"

/* tcp_states.h, socket_state of net.h, and sock_flags of sock.h: the number of the bit */
enum { SS_CONNECTING = 2, TCP_SYN_SENT = 2, TCP_CLOSE = 7, TCP_LISTEN = 10, SOCK_DEAD = 0,
       SOCK_DONE = 1 };

/* Connects that run at one time; of more, the oldest is forgotten. Each has two keys. */
enum { CONNECTS_MOST = 16384 };

/* A connect that runs, in the map by its socket, and by its task or its request of io_uring */
struct connecting {
	uint64_t socket, begun;
	unsigned char address[16]; /* of the other side; IPv4 addresses as mapped ones */
	uint64_t port;
};

/*
 * Slots on the stack: what is read, the rings, keys of the map, an address, a value of
 * the map with its members, and a record
 */
enum { READ = -8, RING = -24, KEY = -64, SOCKET = -72, ADDRESS = -88,
       VALUE = -128, BEGUN = -120, TO = -112, PORT = -96,
       RECORD_SIZE = sizeof(struct ring_head) + sizeof(struct tcp_record),
       RECORD = VALUE - RECORD_SIZE, FIELDS = RECORD + (int)sizeof(struct ring_head) };
_Static_assert(sizeof(struct connecting) == ADDRESS - VALUE &&
	       offsetof(struct connecting, begun) == BEGUN - VALUE &&
	       offsetof(struct connecting, address) == TO - VALUE &&
	       offsetof(struct connecting, port) == PORT - VALUE, "the members of a value");

static struct btf btf;
static const char *missing; /* a member that this kernel does not have */
static int connects;        /* the map of connects that run */
static int at_once;         /* record only connects that fail at once */

static int member(const char *structure, const char *name)
{
	int at = btf_member(&btf, structure, name);

	if (at < 0)
		missing = name;
	return at;
}

/* to = the number at from + at */
static void read_at(struct bpf_code *c, enum bpf_reg to, enum bpf_reg from, int at,
		    enum bpf_size size)
{
	emit_store_imm(c, SIZE_DW, FP, READ, 0);
	emit_copy(c, FN_PROBE_READ_KERNEL, READ, size == SIZE_H ? 2 : size == SIZE_W ? 4 :
		  size == SIZE_B ? 1 : (int)sizeof(long), from, at);
	emit_load(c, size, to, FP, READ);
}

/* to = the member of the structure at from */
static void read_member(struct bpf_code *c, enum bpf_reg to, enum bpf_reg from,
			const char *structure, const char *name, enum bpf_size size)
{
	read_at(c, to, from, member(structure, name), size);
}

/*
 * Record the socket in R6, and what is in R4 and R5; of a connection that has ended (S), also the
 * number of the inode in R9. Overwrites R0 to R5.
 */
static void record(struct bpf_code *c, const struct plan *p, char what)
{
	emit_store(c, SIZE_DW, FP, FIELDS + (int)offsetof(struct tcp_record, a), R4);
	emit_store(c, SIZE_DW, FP, FIELDS + (int)offsetof(struct tcp_record, b), R5);
	emit_store(c, SIZE_DW, FP, FIELDS + (int)offsetof(struct tcp_record, socket), R6);
	emit_store_imm(c, SIZE_DW, FP, FIELDS + (int)offsetof(struct tcp_record, what), 0);
	emit_store_imm(c, SIZE_B, FP, FIELDS + (int)offsetof(struct tcp_record, what), what);
	if (what == 'S')
		emit_store(c, SIZE_W, FP, FIELDS + (int)offsetof(struct tcp_record, inode), R9);
	emit_until_end(c, &p->channel, RING);
	emit_head(c, FP, RECORD, RECORD_TCP);
	emit_record(c, &p->channel, FP, RECORD, RECORD_SIZE, RING, 1);
}

/* Record only the socket in R6. */
static void record_socket(struct bpf_code *c, const struct plan *p, char what)
{
	emit_mov_imm(c, R4, 0);
	emit_mov_imm(c, R5, 0);
	record(c, p, what);
}

/* If the socket in R6 is a subflow of MPTCP, let SOCKET be the MPTCP socket. Overwrites R7. */
static void to_mptcp(struct bpf_code *c)
{
	int owner = btf_member(&btf, "mptcp_subflow_context", "conn");
	uint64_t name = 0;

	if (owner < 0)
		return;
	memcpy(&name, "mptcp", 5);
	emit_scope(c);
	read_member(c, R7, R6, "inet_connection_sock", "icsk_ulp_ops", SIZE_DW);
	emit_jump_if_imm(c, R7, JEQ, 0, "tcp");
	read_member(c, R7, R7, "tcp_ulp_ops", "name", SIZE_DW);
	emit_load_imm64(c, R1, name);
	emit_jump_if(c, R7, JNE, R1, "tcp");
	read_member(c, R7, R6, "inet_connection_sock", "icsk_ulp_data", SIZE_DW);
	read_at(c, R7, R7, owner, SIZE_DW);
	emit_store(c, SIZE_DW, FP, SOCKET, R7);
	emit_label(c, "tcp");
	emit_scope_end(c);
}

/* The connect has begun, so it does not fail at once: its socket is no key of the map any more. */
static void forget_begun(struct bpf_code *c)
{
	emit_jump32_if_imm(c, R8, JNE, TCP_SYN_SENT, "out");
	/* the state of an MPTCP socket changes before its route is known */
	read_member(c, R7, R6, "sock", "sk_protocol", SIZE_H);
	emit_jump_if_imm(c, R7, JEQ, K_IPPROTO_MPTCP, "out");
	emit_store(c, SIZE_DW, FP, SOCKET, R6);
	to_mptcp(c);
	emit_delete(c, connects, SOCKET);
	emit_out(c, 0);
}

static void emit_state(struct bpf_code *c, const struct plan *p)
{
	bpf_begin(c, NULL, &p->alone);
	emit_load(c, SIZE_DW, R6, R1, 0);  /* the socket */
	emit_load(c, SIZE_DW, R7, R1, 8);  /* its old state */
	emit_load(c, SIZE_DW, R8, R1, 16); /* its new state */
	emit_alone(c);
	if (at_once) {
		forget_begun(c);
		return;
	}
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
	/* a socket that waits in the queue of a listener has no program yet, and is not dead */
	emit_store(c, SIZE_DW, FP, SOCKET, R6);
	emit_mov(c, R9, R7);
	to_mptcp(c);
	emit_mov(c, R7, R9);
	emit_load(c, SIZE_DW, R9, FP, SOCKET);
	read_member(c, R9, R9, "sock_common", "skc_flags", SIZE_DW);
	emit_jump_if_imm(c, R9, JSET, 1 << SOCK_DEAD, "dead");
	emit_load(c, SIZE_DW, R9, FP, SOCKET);
	read_member(c, R9, R9, "sock", "sk_socket", SIZE_DW);
	emit_jump_if_imm(c, R9, JNE, 0, "held");
	emit_mov(c, R4, R7);
	emit_mov(c, R5, R8);
	record(c, p, 'Q');
	emit_jump(c, "out");
	emit_label(c, "held");
	read_member(c, R9, R9, "socket", "file", SIZE_DW);
	emit_jump_if_imm(c, R9, JEQ, 0, "accepted");
	read_member(c, R9, R9, "file", "f_inode", SIZE_DW);
	read_member(c, R9, R9, "inode", "i_ino", SIZE_DW);
	emit_jump(c, "accepted");
	emit_label(c, "dead");
	emit_mov_imm(c, R9, 0);
	emit_label(c, "accepted");
	emit_mov(c, R4, R7);
	emit_mov(c, R5, R8);
	record(c, p, 'S');
	emit_jump(c, "out");
	emit_label(c, "error");
	read_member(c, R8, R6, "sock", "sk_err", SIZE_W);
	emit_jump_if_imm(c, R8, JNE, 0, "known");
	emit_store(c, SIZE_DW, FP, SOCKET, R6);
	to_mptcp(c);
	emit_find(c, connects, SOCKET, R0, "known");
	record_socket(c, p, 'W');
	emit_jump(c, "out");
	emit_label(c, "known");
	emit_mov(c, R4, R8);
	emit_mov_imm(c, R5, 0);
	record(c, p, 'E');
	emit_out(c, 0);
}

/* R6 = the file of the descriptor R7 of the running task. Overwrites R7. */
static void read_descriptor(struct bpf_code *c)
{
	emit_alu_imm(c, ALU_LSH, R7, sizeof(long) == 8 ? 3 : 2);
	emit_call(c, FN_GET_CURRENT_TASK);
	emit_mov(c, R6, R0);
	read_member(c, R6, R6, "task_struct", "files", SIZE_DW);
	read_member(c, R6, R6, "files_struct", "fdt", SIZE_DW);
	read_member(c, R6, R6, "fdtable", "fd", SIZE_DW);
	emit_alu(c, ALU_ADD, R6, R7);
	read_at(c, R6, R6, 0, SIZE_DW);
}

/*
 * R6 = the file in slot R7 of the table of files that the ring R6 of io_uring has; jump to none if
 * there is none. Overwrites R7.
 */
static void read_fixed(struct bpf_code *c, const char *none)
{
	int table = btf_member(&btf, "io_ring_ctx", "file_table"), file = 0;
	int nodes = btf_member(&btf, "io_rsrc_data", "nodes");       /* since Linux 6.13 */
	int number = btf_member(&btf, nodes < 0 ? "io_ring_ctx" : "io_rsrc_data",
				nodes < 0 ? "nr_user_files" : "nr");

	if (table < 0 || number < 0) {
		emit_mov_imm(c, R6, 0);
		emit_jump_if_imm(c, R6, JEQ, 0, none);
		return;
	}
	if (nodes >= 0) {
		table += member("io_file_table", "data");
		number += table;
		file = member("io_rsrc_node", "file_ptr");
	}
	read_at(c, R1, R6, number, SIZE_W);
	emit_jump_if(c, R1, JLE, R7, none);
	read_at(c, R6, R6, table + (nodes < 0 ? 0 : nodes), SIZE_DW);
	emit_alu_imm(c, ALU_LSH, R7, sizeof(long) == 8 ? 3 : 2);
	emit_alu(c, ALU_ADD, R6, R7);
	read_at(c, R6, R6, 0, SIZE_DW);
	if (nodes >= 0) {
		emit_jump_if_imm(c, R6, JEQ, 0, none);
		read_at(c, R6, R6, file, SIZE_DW);
	}
	emit_alu_imm(c, ALU_AND, R6, -(int)sizeof(long)); /* flags are below */
	emit_jump_if_imm(c, R6, JEQ, 0, none);
}

/* R6 = the TCP or MPTCP socket of the file R6; jump to none if it has none. Overwrites R7. */
static void read_socket(struct bpf_code *c, const char *none)
{
	read_member(c, R7, R6, "file", "f_inode", SIZE_DW);
	read_member(c, R7, R7, "inode", "i_mode", SIZE_H);
	emit_alu_imm(c, ALU_AND, R7, S_IFMT);
	emit_jump_if_imm(c, R7, JNE, S_IFSOCK, none);
	read_member(c, R6, R6, "file", "private_data", SIZE_DW);
	read_member(c, R6, R6, "socket", "sk", SIZE_DW);
	emit_scope(c);
	read_member(c, R7, R6, "sock_common", "skc_family", SIZE_H);
	emit_jump_if_imm(c, R7, JEQ, AF_INET, "inet");
	emit_jump_if_imm(c, R7, JNE, AF_INET6, none);
	emit_label(c, "inet");
	/* before Linux 5.6 it has one byte, and the type of the socket follows */
	read_member(c, R7, R6, "sock", "sk_protocol", SIZE_H);
	emit_jump_if_imm(c, R7, JEQ, IPPROTO_TCP, "tcp");
	emit_jump_if_imm(c, R7, JNE, K_IPPROTO_MPTCP, none);
	emit_label(c, "tcp");
	emit_scope_end(c);
}

/* If the socket in R6 is an MPTCP socket, R6 = its first subflow, if it has one. */
static void to_subflow(struct bpf_code *c)
{
	int first = btf_member(&btf, "mptcp_sock", "first");

	if (first < 0)
		return;
	emit_scope(c);
	read_member(c, R7, R6, "sock", "sk_protocol", SIZE_H);
	emit_jump_if_imm(c, R7, JNE, K_IPPROTO_MPTCP, "subflow");
	read_at(c, R7, R6, first, SIZE_DW);
	emit_jump_if_imm(c, R7, JEQ, 0, "subflow");
	emit_mov(c, R6, R7);
	emit_label(c, "subflow");
	emit_scope_end(c);
}

/* The file in R6 is new: record its socket, in the task that has accepted it, or jump to none. */
static void record_accepted(struct bpf_code *c, const struct plan *p, const char *none)
{
	read_socket(c, none);
	to_subflow(c);
	record_socket(c, p, 'A');
}

/* KEY = the running task */
static void set_task(struct bpf_code *c)
{
	emit_call(c, FN_GET_CURRENT_PID_TGID);
	emit_store(c, SIZE_DW, FP, KEY, R0);
}

/*
 * Keep the connect of the socket in R6 to the address at R8 in user memory, by KEY and by the
 * socket. Jump to out if it is no connect: an address without a family ends a connection.
 */
static void keep_connect(struct bpf_code *c)
{
	if (at_once) { /* the call only asks for the end of a connect that has begun */
		read_member(c, R7, R6, "sock", "sk_socket", SIZE_DW);
		read_member(c, R7, R7, "socket", "state", SIZE_W);
		emit_jump_if_imm(c, R7, JEQ, SS_CONNECTING, "out");
	}
	emit_store(c, SIZE_DW, FP, SOCKET, R6);
	emit_store(c, SIZE_DW, FP, VALUE, R6);
	emit_store_imm(c, SIZE_DW, FP, TO, 0);
	emit_store_imm(c, SIZE_DW, FP, TO + 8, 0);
	emit_store_imm(c, SIZE_H, FP, TO + 10, 0xffff);
	emit_store_imm(c, SIZE_DW, FP, PORT, 0);
	/* family, port and IPv4 address: if they cannot be read, the call fails by EFAULT */
	emit_copy(c, FN_PROBE_READ_USER, ADDRESS, 8, R8, 0);
	emit_jump_if_imm(c, R0, JNE, 0, "keep");
	emit_load(c, SIZE_H, R7, FP, ADDRESS);
	emit_jump_if_imm(c, R7, JEQ, AF_UNSPEC, "out");
	emit_jump_if_imm(c, R7, JEQ, AF_INET, "four");
	emit_jump_if_imm(c, R7, JNE, AF_INET6, "keep");
	emit_copy(c, FN_PROBE_READ_USER, TO, 16, R8, offsetof(struct sockaddr_in6, sin6_addr));
	emit_jump(c, "port");
	emit_label(c, "four");
	emit_move(c, SIZE_W, FP, TO + 12, FP, ADDRESS + 4);
	emit_label(c, "port");
	emit_load(c, SIZE_H, R1, FP, ADDRESS + 2);
	emit_from_be(c, R1, 16);
	emit_store(c, SIZE_DW, FP, PORT, R1);
	emit_label(c, "keep");
	emit_call(c, FN_KTIME_GET_NS);
	emit_store(c, SIZE_DW, FP, BEGUN, R0);
	emit_update(c, connects, KEY, FP, VALUE, UPDATE_ANY);
	emit_update(c, connects, SOCKET, FP, VALUE, UPDATE_ANY);
}

/* Record the address of 16 bytes in a slot as two numbers. */
static void record_address(struct bpf_code *c, const struct plan *p, int slot, char what)
{
	emit_load(c, SIZE_DW, R4, FP, slot);
	emit_from_be(c, R4, 64);
	emit_load(c, SIZE_DW, R5, FP, slot + 8);
	emit_from_be(c, R5, 64);
	record(c, p, what);
}

/*
 * The connect of KEY has returned R8: forget it. If it has failed for good, record both addresses,
 * then the error with the ports, and the time that it took.
 */
static void record_failed(struct bpf_code *c, const struct plan *p)
{
	static const int going_on[] = { EINPROGRESS, EALREADY, EINTR, ECANCELED };

	emit_find(c, connects, KEY, R7, "out");
	for (int i = 0; i < (int)sizeof(struct connecting); i += 8) {
		emit_move(c, SIZE_DW, FP, VALUE + i, R7, i);
	}
	emit_load(c, SIZE_DW, R6, FP, VALUE);
	emit_store(c, SIZE_DW, FP, SOCKET, R6);
	emit_delete(c, connects, KEY);
	if (at_once)
		emit_find(c, connects, SOCKET, R7, "out");
	emit_delete(c, connects, SOCKET);
	emit_jump32_if_imm(c, R8, JSGE, 0, "out");
	for (size_t i = 0; i < sizeof(going_on) / sizeof(*going_on); i++)
		emit_jump32_if_imm(c, R8, JEQ, -going_on[i], "out");
	emit_jump32_if_imm(c, R8, JSGT, -K_ERESTARTSYS, "failed");
	emit_jump32_if_imm(c, R8, JSGE, -K_ERESTART_RESTARTBLOCK, "out");
	emit_label(c, "failed");
	to_subflow(c);
	record_address(c, p, TO, 'D');
	/* the own address; of IPv4 as a mapped one */
	emit_store_imm(c, SIZE_DW, FP, ADDRESS, 0);
	emit_store_imm(c, SIZE_DW, FP, ADDRESS + 8, 0);
	read_member(c, R7, R6, "sock_common", "skc_family", SIZE_H);
	emit_jump_if_imm(c, R7, JEQ, AF_INET, "own_four");
	emit_copy(c, FN_PROBE_READ_KERNEL, ADDRESS, 16, R6,
		  member("sock_common", "skc_v6_rcv_saddr"));
	emit_jump(c, "own");
	emit_label(c, "own_four");
	emit_store_imm(c, SIZE_H, FP, ADDRESS + 10, 0xffff);
	emit_copy(c, FN_PROBE_READ_KERNEL, ADDRESS + 12, 4, R6,
		  member("sock_common", "skc_rcv_saddr"));
	emit_label(c, "own");
	record_address(c, p, ADDRESS, 'L');
	read_member(c, R7, R6, "inet_sock", "inet_sport", SIZE_H);
	emit_from_be(c, R7, 16);
	emit_alu_imm(c, ALU_LSH, R7, 16);
	emit_load(c, SIZE_DW, R1, FP, PORT);
	emit_alu(c, ALU_OR, R7, R1);
	emit_alu_imm(c, ALU_LSH, R7, 16);
	emit_alu(c, ALU_SUB, R7, R8);
	emit_call(c, FN_KTIME_GET_NS);
	emit_mov(c, R5, R0);
	emit_load(c, SIZE_DW, R1, FP, BEGUN);
	emit_alu(c, ALU_SUB, R5, R1);
	emit_mov(c, R4, R7);
	record(c, p, 'F');
}

/* The programs at events. They find each field by the format of the event. */

enum { OF_ACCEPT = 1, OF_REQUESTS = 2, OF_SENDS = 4, IN_HEADER = 8 };

static void emit_accept(struct bpf_code *c, const struct plan *p, const char *format)
{
	emit_load(c, SIZE_DW, R7, R1, format_field(format, "ret;"));
	emit_jump32_if_imm(c, R7, JSLT, 0, "out");
	read_descriptor(c);
	record_accepted(c, p, "out");
}

/*
 * A connect begins, or with MSG_FASTOPEN a call that sends. Its address is the field of the event,
 * or the first member of a structure in user memory there.
 */
static void emit_begin(struct bpf_code *c, const char *format, const char *address, unsigned flags)
{
	if (flags & OF_SENDS) {
		emit_load(c, SIZE_DW, R7, R1, format_field(format, " flags;"));
		emit_alu_imm(c, ALU_AND, R7, MSG_FASTOPEN);
		emit_jump_if_imm(c, R7, JEQ, 0, "out");
	}
	emit_load(c, SIZE_DW, R7, R1, format_field(format, "fd;"));
	emit_load(c, SIZE_DW, R8, R1, format_field(format, address));
	if (flags & IN_HEADER) {
		emit_store_imm(c, SIZE_DW, FP, READ, 0);
		emit_copy(c, FN_PROBE_READ_USER, READ, sizeof(long), R8, 0);
		emit_load(c, SIZE_DW, R8, FP, READ);
	}
	emit_alu_imm(c, ALU_LSH, R7, 32); /* an int in a register */
	emit_alu_imm(c, ALU_RSH, R7, 32);
	read_descriptor(c);
	read_socket(c, "out");
	set_task(c);
	keep_connect(c);
}

static void emit_connected(struct bpf_code *c, const struct plan *p, const char *format)
{
	emit_load(c, SIZE_DW, R8, R1, format_field(format, "ret;"));
	set_task(c);
	record_failed(c, p);
}

/* The request has the number of the descriptor, but gets its file only later. */
static void emit_submit(struct bpf_code *c, const struct plan *p, const char *format)
{
	(void)p;
	emit_load(c, SIZE_DW, R9, R1, format_field(format, "req;"));
	emit_load(c, SIZE_B, R7, R1, format_field(format, "opcode;"));
	emit_jump_if_imm(c, R7, JNE, K_IORING_OP_CONNECT, "out");
	emit_store(c, SIZE_DW, FP, KEY, R9);
	/* struct io_connect: file, address */
	read_at(c, R8, R9, member("io_kiocb", "file") + (int)sizeof(long), SIZE_DW);
	read_member(c, R6, R9, "io_kiocb", "flags", SIZE_DW);
	read_at(c, R7, R9, member("io_kiocb", "cqe") + 12, SIZE_W);
	emit_jump_if_imm(c, R6, JSET, K_IOSQE_FIXED_FILE, "fixed");
	read_descriptor(c);
	emit_jump(c, "file");
	emit_label(c, "fixed");
	read_member(c, R6, R9, "io_kiocb", "ctx", SIZE_DW);
	read_fixed(c, "out");
	emit_label(c, "file");
	read_socket(c, "out");
	keep_connect(c);
}

/*
 * An accept makes a descriptor, or fills a slot of the ring's table of files. If one request
 * accepts several times, only its first completion names the request. The result of a later one
 * may be a slot or a descriptor: it is that which is a socket.
 */
static void emit_complete(struct bpf_code *c, const struct plan *p, const char *format)
{
	emit_load(c, SIZE_DW, R9, R1, format_field(format, "req;"));
	emit_load(c, SIZE_DW, R6, R1, format_field(format, "ctx;"));
	emit_load(c, SIZE_W, R8, R1, format_field(format, "res;"));
	emit_jump_if_imm(c, R9, JEQ, 0, "more");
	read_member(c, R7, R9, "io_kiocb", "opcode", SIZE_B);
	emit_jump_if_imm(c, R7, JEQ, K_IORING_OP_ACCEPT, "accept");
	emit_jump_if_imm(c, R7, JNE, K_IORING_OP_CONNECT, "out");
	emit_store(c, SIZE_DW, FP, KEY, R9);
	emit_alu_imm(c, ALU_LSH, R8, 32);
	emit_alu_imm(c, ALU_ARSH, R8, 32);
	record_failed(c, p);
	emit_jump(c, "out");
	emit_label(c, "accept");
	emit_jump32_if_imm(c, R8, JSLT, 0, "out");
	read_member(c, R7, R9, "io_accept", "file_slot", SIZE_W);
	emit_jump_if_imm(c, R7, JEQ, 0, "descriptor");
	emit_jump32_if_imm(c, R7, JEQ, -1, "slot"); /* IORING_FILE_INDEX_ALLOC */
	emit_alu_imm(c, ALU_SUB, R7, 1);
	emit_mov(c, R8, R7);
	emit_jump(c, "slot");
	emit_label(c, "more");
	emit_jump32_if_imm(c, R8, JSLT, 0, "out");
	emit_label(c, "slot");
	emit_mov(c, R7, R8);
	read_fixed(c, "unfilled");
	record_accepted(c, p, "unfilled");
	emit_label(c, "unfilled");
	emit_jump_if_imm(c, R9, JNE, 0, "out");
	emit_label(c, "descriptor");
	emit_mov(c, R7, R8);
	read_descriptor(c);
	record_accepted(c, p, "out");
}

/* ---- attach -------------------------------------------------------------------------------- */

/* Only the first of several messages of sendmmsg can connect, and the call returns its error. */
static const struct {
	const char *event;
	unsigned flags;
	void (*emit)(struct bpf_code *, const struct plan *, const char *format);
	const char *address;    /* of the events that emit_begin is for */
} programs[] = {
	{ "syscalls/sys_exit_connect", 0, emit_connected, NULL },
	{ "syscalls/sys_enter_connect", 0, NULL, "uservaddr;" },
	{ "syscalls/sys_exit_sendto", 0, emit_connected, NULL },
	{ "syscalls/sys_enter_sendto", OF_SENDS, NULL, "addr;" },
	{ "syscalls/sys_exit_sendmsg", 0, emit_connected, NULL },
	{ "syscalls/sys_enter_sendmsg", OF_SENDS | IN_HEADER, NULL, "msg;" },
	{ "syscalls/sys_exit_sendmmsg", 0, emit_connected, NULL },
	{ "syscalls/sys_enter_sendmmsg", OF_SENDS | IN_HEADER, NULL, "mmsg;" },
	{ "io_uring/io_uring_complete", OF_REQUESTS, emit_complete, NULL },
	{ "io_uring/io_uring_submit_req", OF_REQUESTS, emit_submit, NULL },
	{ "syscalls/sys_exit_accept4", OF_ACCEPT, emit_accept, NULL },
	{ "syscalls/sys_exit_accept", OF_ACCEPT, emit_accept, NULL },
};

/* Return the format of an event, or NULL if this kernel does not have it. */
static char *format_of(const struct plan *p, const char *event)
{
	char path[64];

	str_format(path, sizeof(path), "events/%s/format", event);
	return file_read(p->root, path, NULL);
}

/* Attach the programs whose events this kernel has. Return 0, or -1, reported. */
static int attach_programs(struct plan *p, struct bpf_code *c, int accepts)
{
	char *requests = format_of(p, "io_uring/io_uring_submit_req");
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(programs) / sizeof(*programs); i++) {
		unsigned flags = programs[i].flags;
		char *format;

		if ((flags & OF_ACCEPT && !accepts) || (flags & OF_REQUESTS && !requests))
			continue;
		format = format_of(p, programs[i].event);
		if (!format) /* an architecture without accept, a kernel without events of calls */
			continue;
		bpf_begin(c, NULL, NULL); /* the kernel lets no task run meanwhile */
		if (programs[i].address)
			emit_begin(c, format, programs[i].address, flags);
		else
			programs[i].emit(c, p, format);
		emit_out(c, 0);
		free(format);
		r = missing ? err_msg("the kernel has no member %s", missing) :
		    plan_attach(p, c, programs[i].event, 0);
	}
	free(requests);
	return r;
}

int tcp_attach(struct plan *p, int accepts, int failed)
{
	static struct bpf_code code;
	char path[PATH_MAX];
	int r;

	at_once = failed;
	connects = plan_map(p, MAP_LRU_HASH, "tcp", 8, sizeof(struct connecting), CONNECTS_MOST);
	if (connects < 0)
		return -1;
	str_format(path, sizeof(path), "%s/kernel/btf/vmlinux", path_sysfs());
	if (btf_read(&btf, path) < 0)
		return err_file("unable to read %s (CONFIG_DEBUG_INFO_BTF)", path);
	plan_alone(p, &btf);
	emit_state(&code, p);
	r = missing ? err_msg("the kernel's sockets have no %s", missing) :
	    plan_attach(p, &code, "inet_sock_set_state", RAW_TRACEPOINT);
	r = r ? r : attach_programs(p, &code, accepts);
	btf_free(&btf);
	return r;
}
