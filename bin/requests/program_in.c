/* SPDX-License-Identifier: ISC */
/* program_in.c - programs of incoming segments, and of threads that read marked bytes */
#include <netinet/tcp.h>

#include "host/host.h"
#include "bpf/bpf.h"
#include "requests.h"
#include "program.h"

enum { SYN = 2, ACCEPT = 1 };

/* Receivers offer smaller windows than this. A forged segment is mostly farther ahead. */
enum { WINDOW_MOST = 1 << 26 };

/* A range that was read so many bytes ago is forgotten. */
enum { FAR = 1 << 30 };

/* How often to try to change a range that other CPUs change at the same time. */
enum { TRIES = 4 };

/* If the range of the struct dt_received is R0, set it to the register. R0 = the old range. */
static void put_range(struct bpf_code *c, const struct dt_plan *p, enum bpf_reg at,
		      enum bpf_reg from)
{
	if (p->plain)
		emit_set(c, at, dt_received, range, from);
	else
		emit_cmpxchg(c, at, offsetof(struct dt_received, range), from);
}

/*
 * Add the marked bytes from R7 to R9 to the struct dt_received at R6, and jump to "out". If
 * the range was read completely, begin a new one. Else extend it at either end, because
 * segments may be out of order. If another CPU has changed the range meanwhile, change
 * nothing and fall through. Keeps R6, R7 and R9.
 */
static void grow(struct bpf_code *c, const struct dt_plan *p)
{
	emit_scope(c);
	emit_get(c, R8, R6, dt_received, range);
	emit_alu32(c, ALU_MOV, R4, R9);
	emit_alu32(c, ALU_MOV, R5, R7);
	emit_mov(c, R3, R8);
	emit_alu_imm(c, ALU_RSH, R3, 32);
	emit_get(c, R2, R6, dt_received, read);
	dt_emit_jump_seq(c, R2, R3, JSGE, "done");
	emit_alu32(c, ALU_MOV, R2, R8);
	dt_emit_jump_seq(c, R5, R2, JSLE, "earlier");
	emit_alu32(c, ALU_MOV, R5, R2);
	emit_label(c, "earlier");
	dt_emit_jump_seq(c, R4, R3, JSGE, "done");
	emit_alu32(c, ALU_MOV, R4, R3);
	emit_label(c, "done");
	emit_alu_imm(c, ALU_LSH, R4, 32);
	emit_alu(c, ALU_OR, R4, R5);
	emit_mov(c, R0, R8);
	put_range(c, p, R6, R4);
	emit_jump_if(c, R0, JEQ, R8, "out");
	emit_scope_end(c);
}

/* Jump to "out" unless HEADER has the mark and does not belong to a handshake. */
static void check_mark(struct bpf_code *c)
{
	emit_load(c, SIZE_B, R1, FP, HEADER + 12);
	emit_alu_imm(c, ALU_AND, R1, MARK);
	emit_jump_if_imm(c, R1, JEQ, 0, "out");
	emit_load(c, SIZE_B, R1, FP, HEADER + 13);
	emit_alu_imm(c, ALU_AND, R1, SYN);
	emit_jump_if_imm(c, R1, JNE, 0, "out");
}

/*
 * Jump to "stranger" unless the sender is in the map of believed networks. IPv4 is in
 * ::ffff:0:0/96.
 */
static void check_sender(struct bpf_code *c, const struct dt_plan *p)
{
	emit_store_imm(c, SIZE_W, FP, NETWORK, 128);
	emit_load(c, SIZE_B, R1, FP, IP);
	emit_alu_imm(c, ALU_RSH, R1, 4);
	emit_jump_if_imm(c, R1, JEQ, 6, "from_ip6");
	emit_store_imm(c, SIZE_W, FP, NETWORK + 4, 0);
	emit_store_imm(c, SIZE_W, FP, NETWORK + 8, 0);
	emit_store_imm(c, SIZE_H, FP, NETWORK + 12, 0);
	emit_store_imm(c, SIZE_H, FP, NETWORK + 14, 0xffff);
	emit_move(c, SIZE_W, FP, NETWORK + 16, FP, IP + 12);
	emit_jump(c, "has_network");
	emit_label(c, "from_ip6");
	for (int i = 0; i < 16; i += 4) {
		emit_move(c, SIZE_W, FP, NETWORK + 4 + i, FP, IP + 8 + i);
	}
	emit_label(c, "has_network");
	emit_find(c, p->from, NETWORK, R0, "stranger");
}

/*
 * SOCKET and R6 = the socket of the packet, R8 = the struct dt_state, R7 and R9 = start and end
 * of its R9 bytes of data, in host byte order. Jump to "child" if the socket listens.
 */
static void find_socket(struct bpf_code *c, const struct dt_plan *p)
{
	emit_load(c, SIZE_W, R7, FP, HEADER + 4);
	emit_from_be(c, R7, 32);
	emit_alu32(c, ALU_ADD, R9, R7);
	emit_load(c, SIZE_DW, R1, R6, K_SKB_SK);
	emit_jump_if_imm(c, R1, JEQ, 0, "out");
	emit_call(c, FN_SK_FULLSOCK);
	emit_jump_if_imm(c, R0, JEQ, 0, "out");
	emit_mov(c, R6, R0);
	emit_mov(c, R1, R0);
	dt_emit_socket_key(c, p, offsetof(struct dt_state, socket_in));
	emit_load(c, SIZE_W, R1, R6, K_SOCK_STATE);
	emit_jump_if_imm(c, R1, JEQ, TCP_LISTEN, "child");
}

/* R6 = rcv_nxt. Ignore duplicates and data out of the window; begin an overlap at rcv_nxt. */
static void clip_to_window(struct bpf_code *c)
{
	emit_mov(c, R1, R6);
	emit_call(c, FN_TCP_SOCK);
	emit_jump_if_imm(c, R0, JEQ, 0, "out");
	emit_load(c, SIZE_W, R6, R0, K_TCP_SOCK_RCV_NXT);
	dt_emit_jump_seq(c, R9, R6, JSLE, "out");
	emit_alu32(c, ALU_MOV, R1, R7);
	emit_alu32(c, ALU_SUB, R1, R6);
	emit_jump32_if_imm(c, R1, JSGT, WINDOW_MOST, "out");
	emit_jump32_if_imm(c, R1, JSGE, 0, "in_window");
	emit_alu32(c, ALU_MOV, R7, R6);
	emit_label(c, "in_window");
}

/* Note the marked bytes from R7 to R9 for the SOCKET, which has received all before R6. */
static void note_received(struct bpf_code *c, const struct dt_plan *p)
{
	emit_count(c, R8, offsetof(struct dt_state, marked_in));
	emit_lookup(c, p->received, SOCKET);
	emit_jump_if_imm(c, R0, JNE, 0, "known_socket");
	dt_emit_begin_received(c, R7, R9, R6);
	dt_emit_update(c, p->received, SOCKET, UPDATE_NEW);
	emit_jump_if_imm(c, R0, JEQ, 0, "out");
	emit_find(c, p->received, SOCKET, R0, "out");
	emit_label(c, "known_socket");
	emit_mov(c, R6, R0);
	for (int i = 0; i < TRIES; i++)
		grow(c, p);
}

/* The data came with the last ACK of a handshake: dt_state gives them to the new socket. */
static void note_child(struct bpf_code *c)
{
	emit_set(c, R8, dt_state, child_start, R7);
	emit_set(c, R8, dt_state, child_end, R9);
	emit_count(c, R8, offsetof(struct dt_state, marked_in));
}

/*
 * A packet has come for a socket (ingress of a cgroup: after the firewall, before TCP).
 * Note its marked bytes. Ignore bytes that TCP will not take, because it has them already
 * or because they are outside its window.
 */
void dt_rx(struct bpf_code *c, const struct dt_plan *p)
{
	emit_mov(c, R6, R1);
	emit_mov_imm(c, R7, 0);
	dt_emit_tcp_data(c);
	check_mark(c);
	check_sender(c, p);
	find_socket(c, p);
	clip_to_window(c);
	note_received(c, p);
	emit_exit(c, ACCEPT);
	emit_label(c, "child");
	note_child(c);
	emit_exit(c, ACCEPT);
	emit_label(c, "stranger");
	dt_emit_count(c, p, offsetof(struct dt_state, refused));
	emit_out(c, ACCEPT);
}

/*
 * R8 = the socket of the request that the marked bytes at R6 belong to. If they are a request, it
 * is R6 itself. If they are an answer, it is the socket whose request was passed on here, as long
 * as nothing was sent on that socket. 0: not known. The rules of the module do not use this.
 */
static void request_socket(struct bpf_code *c, const struct dt_plan *p)
{
	emit_lookup(c, p->sent, SOCKET);
	emit_jump_if_imm(c, R0, JNE, 0, "seen");
	dt_emit_begin_older(c, p);
	emit_jump_if_imm(c, R9, JEQ, 0, "note");
	dt_value_imm(c, dt_sent, flags, SENT_PASSIVE);
	emit_label(c, "note");
	dt_emit_update(c, p->sent, SOCKET, UPDATE_NEW);
	emit_find(c, p->sent, SOCKET, R0, "unknown");
	emit_label(c, "seen");
	emit_mov(c, R7, R0);
	emit_jump_if_member(c, R7, dt_sent, flags, JSET, SENT_PASSIVE, "request");
	emit_get(c, R8, R7, dt_sent, tag);
	emit_jump_if_imm(c, R8, JEQ, 0, "opened");
	emit_store(c, SIZE_DW, FP, WORD, R8);
	emit_find(c, p->sent, WORD, R0, "opened");
	emit_jump_if_member(c, R0, dt_sent, asked, JNE, 0, "known");
	emit_label(c, "opened");
	emit_jump_if_member(c, R7, dt_sent, flags, JSET, SENT_ACTIVE, "unknown");
	emit_set_imm(c, R7, dt_sent, asked, 1);
	emit_label(c, "unknown");
	emit_mov_imm(c, R8, 0);
	emit_jump(c, "known");
	emit_label(c, "request");
	emit_set_imm(c, R7, dt_sent, asked, 1);
	emit_mov(c, R8, R6);
	emit_label(c, "known");
}

/*
 * R7 = the struct dt_received, R8 = the first marked byte that was read, BEFORE > 0: marked
 * bytes were read before. Jump to "passed" if the new bytes are after the range, to "unmarked"
 * if they are before it.
 */
static void find_marked(struct bpf_code *c, const struct dt_plan *p)
{
	emit_find(c, p->received, SOCKET, R7, "unmarked");
	dt_emit_field(c, SIZE_W, R9, p->copied_seq);
	emit_get(c, R8, R7, dt_received, read);
	emit_jump_if(c, R8, JEQ, R9, "out");
	/* get the range before storing read: after that dt_rx may begin another range */
	emit_get(c, R2, R7, dt_received, range);
	emit_alu32(c, ALU_MOV, R3, R2);
	emit_alu_imm(c, ALU_RSH, R2, 32);
	emit_set(c, R7, dt_received, read, R9);
	dt_emit_jump_seq(c, R8, R2, JSGE, "passed");
	dt_emit_jump_seq(c, R9, R3, JSLE, "unmarked");
	emit_alu32(c, ALU_MOV, R1, R8);
	emit_alu32(c, ALU_SUB, R1, R3);
	emit_store(c, SIZE_W, FP, BEFORE, R1);
	emit_jump32_if_imm(c, R1, JSGE, 0, "first");
	emit_alu32(c, ALU_MOV, R8, R3);
	emit_label(c, "first");
}

/*
 * Ignore marked bytes on a socket that connected and has sent no marked bytes. Otherwise a
 * marked answer to an unmarked request would begin a window, which marks the next request,
 * and so on without end.
 */
static void ignore_strange_answer(struct bpf_code *c, const struct dt_plan *p)
{
	emit_find(c, p->sent, SOCKET, R0, "fresh");
	dt_emit_jump_flags(c, R0, SENT_ACTIVE | SENT_EVER, JEQ, SENT_ACTIVE, "out");
	emit_label(c, "fresh");
}

/* Begin the window of WHO, for the request of the socket R8, or of R6 if R8 is 0. */
static void begin_window(struct bpf_code *c, const struct dt_plan *p)
{
	dt_emit_begin_value(c);
	dt_value(c, dt_task, tag, R6);
	if (!(p->flags & DT_MODULE)) {
		emit_jump_if_imm(c, R8, JEQ, 0, "own");
		dt_value(c, dt_task, tag, R8);
		emit_label(c, "own");
	}
	emit_load(c, SIZE_DW, R1, FP, MESSAGE);
	dt_value(c, dt_task, key, R1);
	dt_emit_update(c, p->pids, WHO, UPDATE_ANY);
	emit_jump_if_imm(c, R0, JNE, 0, "out"); /* the map is full */
	dt_emit_mark(c, p, 'B');
	dt_emit_count(c, p, offsetof(struct dt_state, windows));
	emit_exit(c, 0);
}

/*
 * The thread R7 has a window. If it is an event loop, it turns to the next request, of the socket
 * R8, before it has answered the last one, or goes on with an earlier request.
 */
static void change_window(struct bpf_code *c, const struct dt_plan *p)
{
	emit_load(c, SIZE_W, R1, FP, BEFORE);
	emit_jump32_if_imm(c, R1, JSGT, 0, "out"); /* the same message continues */
	emit_get(c, R1, R7, dt_task, tag);
	emit_jump_if_imm(c, R1, JEQ, 0, "keep");
	if (!(p->flags & DT_MODULE)) {
		emit_jump_if_imm(c, R8, JEQ, 0, "keep");
		emit_jump_if(c, R1, JEQ, R8, "keep");
		emit_set(c, R7, dt_task, tag, R8);
		emit_load(c, SIZE_DW, R1, FP, MESSAGE);
		emit_set(c, R7, dt_task, key, R1);
		dt_emit_mark(c, p, 'B');
		emit_exit(c, 0);
	}
	emit_label(c, "keep");
	dt_emit_mark(c, p, 'R');
	emit_exit(c, 0);
}

/* Forget a range that is far behind R9, before the numbers come around to it. */
static void forget_range(struct bpf_code *c, const struct dt_plan *p)
{
	emit_get(c, R0, R7, dt_received, range);
	emit_mov(c, R2, R0);
	emit_alu_imm(c, ALU_RSH, R2, 32);
	emit_alu32(c, ALU_MOV, R1, R9);
	emit_alu32(c, ALU_SUB, R1, R2);
	emit_jump32_if_imm(c, R1, JSLT, FAR, "unmarked");
	emit_mov(c, R2, R9);
	emit_alu_imm(c, ALU_LSH, R2, 32);
	emit_alu(c, ALU_OR, R2, R9);
	put_range(c, p, R7, R2);
}

/*
 * The thread is an event loop that turns to another request, so end its window. But keep the
 * window if these bytes are the answer to a marked request of the thread, from a peer without
 * a request probe.
 */
static void leave_window(struct bpf_code *c, const struct dt_plan *p)
{
	emit_find(c, p->pids, WHO, R7, "out");
	emit_jump_if_member(c, R7, dt_task, tag, JEQ, 0, "out");
	emit_find(c, p->sent, SOCKET, R8, "elsewhere");
	dt_emit_field(c, SIZE_W, R9, p->copied_seq);
	emit_get(c, R1, R8, dt_sent, copied);
	emit_jump_if(c, R1, JEQ, R9, "out");
	emit_set(c, R8, dt_sent, copied, R9);
	dt_emit_jump_flags(c, R8, SENT_ACTIVE | SENT_OPEN, JEQ, SENT_ACTIVE | SENT_OPEN, "out");
	emit_label(c, "elsewhere");
	dt_emit_end_window(c, p);
}

/*
 * A thread has read from a socket (tcp_rcv_space_adjust, once for each part that was
 * copied). If the bytes from read to copied_seq contain marked ones, begin a window. A peek
 * does not call this; splice(2) calls it even if there was nothing to read.
 */
void dt_read(struct bpf_code *c, const struct dt_plan *p)
{
	const int event_loops = !(p->flags & DT_MODULE);

	dt_emit_socket_arg(c, 0);
	dt_emit_current(c, p);
	find_marked(c, p);
	dt_emit_key_read(c, p, R8);
	if (event_loops)
		request_socket(c, p);

	emit_lookup(c, p->pids, WHO);
	emit_jump_if_imm(c, R0, JNE, 0, "traced");
	if (event_loops)
		ignore_strange_answer(c, p);
	begin_window(c, p);
	emit_label(c, "traced");
	emit_mov(c, R7, R0);
	change_window(c, p);

	emit_label(c, "passed");
	forget_range(c, p);
	emit_label(c, "unmarked");
	if (event_loops)
		leave_window(c, p);
	emit_out(c, 0);
}
