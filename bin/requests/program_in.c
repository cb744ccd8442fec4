/* SPDX-License-Identifier: ISC */
/* program_in.c - programs of incoming segments, and of threads that read marked bytes */
#include "bpf/bpf.h"
#include "requests.h"
#include "program.h"

enum { LISTEN = 10 };           /* of a socket (include/net/tcp_states.h) */
enum { SYN = 2, ACCEPT = 1 };

/* Fields of struct bpf_sock and bpf_tcp_sock (uapi/linux/bpf.h). */
enum { SOCK_STATE_ARG = 72, TCP_RCV_NXT = 16 };

/* Receivers offer smaller windows than this. A forged segment is mostly farther ahead. */
enum { WINDOW_MOST = 1 << 26 };

/* A range that was read so many bytes ago is forgotten. */
enum { FAR = 1 << 30 };

/* How often to try to change a range that other CPUs change at the same time. */
enum { TRIES = 4 };

/* Set the range of the struct dt_received to the register, if it is R0. R0 = the old range. */
static void put_range(struct bpf_code *c, const struct dt_plan *p, enum bpf_reg at,
		      enum bpf_reg from)
{
	if (p->plain)
		emit_store(c, SIZE_DW, at, offsetof(struct dt_received, range), from);
	else
		emit_cmpxchg(c, at, offsetof(struct dt_received, range), from);
}

/*
 * Add the marked bytes from R7 to R9 to the struct dt_received at R6, and jump to OUT. If
 * the range was read completely, begin a new one. Else extend it at either end, because
 * segments may be out of order. If another CPU has changed the range meanwhile, change
 * nothing and fall through. Keeps R6, R7 and R9.
 */
static void grow(struct bpf_code *c, const struct dt_plan *p, int labels)
{
	int earlier = labels, done = labels + 1;

	emit_load(c, SIZE_DW, R8, R6, offsetof(struct dt_received, range));
	emit_alu32(c, ALU_MOV, R4, R9);
	emit_alu32(c, ALU_MOV, R5, R7);
	emit_alu(c, ALU_MOV, R3, R8);
	emit_alu_imm(c, ALU_RSH, R3, 32);
	emit_load(c, SIZE_W, R2, R6, offsetof(struct dt_received, read));
	dt_emit_jump_seq(c, R2, R3, JSGE, done);
	emit_alu32(c, ALU_MOV, R2, R8);
	dt_emit_jump_seq(c, R5, R2, JSLE, earlier);
	emit_alu32(c, ALU_MOV, R5, R2);
	emit_label(c, earlier);
	dt_emit_jump_seq(c, R4, R3, JSGE, done);
	emit_alu32(c, ALU_MOV, R4, R3);
	emit_label(c, done);
	emit_alu_imm(c, ALU_LSH, R4, 32);
	emit_alu(c, ALU_OR, R4, R5);
	emit_alu(c, ALU_MOV, R0, R8);
	put_range(c, p, R6, R4);
	emit_jump_if(c, R0, JEQ, R8, OUT);
}

/*
 * A packet has come for a socket (ingress of a cgroup: after the firewall, before TCP).
 * Note its marked bytes. Ignore bytes that TCP will not take, because it has them already
 * or because they are outside its window.
 */
void dt_rx(struct bpf_code *c, const struct dt_plan *p)
{
	enum { V6 = OUT + 1, TCP_HEADER, STRANGER, CHILD, V6_FROM, KNOWN, ADD, KNOWN_SOCKET, TRY };

	emit_alu(c, ALU_MOV, R6, R1);
	emit_alu_imm(c, ALU_MOV, R7, 0);
	dt_emit_tcp_data(c, V6, TCP_HEADER);
	emit_load(c, SIZE_B, R1, FP, HEADER + 12);
	emit_alu_imm(c, ALU_AND, R1, MARK);
	emit_jump_if_imm(c, R1, JEQ, 0, OUT);
	emit_load(c, SIZE_B, R1, FP, HEADER + 13);
	emit_alu_imm(c, ALU_AND, R1, SYN);
	emit_jump_if_imm(c, R1, JNE, 0, OUT);

	/* look up the sender in the map of believed networks; IPv4 is in ::ffff:0:0/96 */
	emit_store_imm(c, SIZE_W, FP, NETWORK, 128);
	emit_load(c, SIZE_B, R1, FP, IP);
	emit_alu_imm(c, ALU_RSH, R1, 4);
	emit_jump_if_imm(c, R1, JEQ, 6, V6_FROM);
	emit_store_imm(c, SIZE_W, FP, NETWORK + 4, 0);
	emit_store_imm(c, SIZE_W, FP, NETWORK + 8, 0);
	emit_store_imm(c, SIZE_H, FP, NETWORK + 12, 0);
	emit_store_imm(c, SIZE_H, FP, NETWORK + 14, 0xffff);
	emit_load(c, SIZE_W, R1, FP, IP + 12);
	emit_store(c, SIZE_W, FP, NETWORK + 16, R1);
	emit_jump(c, KNOWN);
	emit_label(c, V6_FROM);
	for (int i = 0; i < 16; i += 4) {
		emit_load(c, SIZE_W, R1, FP, IP + 8 + i);
		emit_store(c, SIZE_W, FP, NETWORK + 4 + i, R1);
	}
	emit_label(c, KNOWN);
	dt_emit_find(c, p->from, NETWORK, STRANGER);

	/* R7 = start and R9 = end of the data, in host byte order */
	emit_load(c, SIZE_W, R7, FP, HEADER + 4);
	emit_from_be(c, R7, 32);
	emit_alu32(c, ALU_ADD, R9, R7);
	emit_load(c, SIZE_DW, R1, R6, SKB_SK);
	emit_jump_if_imm(c, R1, JEQ, 0, OUT);
	emit_call(c, FN_SK_FULLSOCK);
	emit_jump_if_imm(c, R0, JEQ, 0, OUT);
	emit_alu(c, ALU_MOV, R6, R0);
	emit_alu(c, ALU_MOV, R1, R0);
	dt_emit_socket_key(c, p, offsetof(struct dt_state, socket_in));
	emit_load(c, SIZE_W, R1, R6, SOCK_STATE_ARG);
	emit_jump_if_imm(c, R1, JEQ, LISTEN, CHILD);
	emit_alu(c, ALU_MOV, R1, R6);
	emit_call(c, FN_TCP_SOCK);
	emit_jump_if_imm(c, R0, JEQ, 0, OUT);
	emit_load(c, SIZE_W, R6, R0, TCP_RCV_NXT);
	/* ignore duplicates and data out of the window; begin an overlap at rcv_nxt */
	dt_emit_jump_seq(c, R9, R6, JSLE, OUT);
	emit_alu32(c, ALU_MOV, R1, R7);
	emit_alu32(c, ALU_SUB, R1, R6);
	emit_jump32_if_imm(c, R1, JSGT, WINDOW_MOST, OUT);
	emit_jump32_if_imm(c, R1, JSGE, 0, ADD);
	emit_alu32(c, ALU_MOV, R7, R6);
	emit_label(c, ADD);
	emit_count(c, R8, offsetof(struct dt_state, marked_in));

	dt_emit_lookup(c, p->received, SOCKET);
	emit_jump_if_imm(c, R0, JNE, 0, KNOWN_SOCKET);
	dt_emit_begin_received(c, R7, R9, R6);
	dt_emit_insert(c, p->received, SOCKET);
	emit_jump_if_imm(c, R0, JEQ, 0, OUT);
	dt_emit_find(c, p->received, SOCKET, OUT);
	emit_label(c, KNOWN_SOCKET);
	emit_alu(c, ALU_MOV, R6, R0);
	for (int i = 0; i < TRIES; i++)
		grow(c, p, TRY + 2 * i);
	emit_exit(c, ACCEPT);

	/* data came with the last ACK of a handshake: dt_state gives them to the new socket */
	emit_label(c, CHILD);
	emit_store(c, SIZE_W, R8, offsetof(struct dt_state, child_start), R7);
	emit_store(c, SIZE_W, R8, offsetof(struct dt_state, child_end), R9);
	emit_count(c, R8, offsetof(struct dt_state, marked_in));
	emit_exit(c, ACCEPT);

	emit_label(c, STRANGER);
	dt_emit_count(c, p, offsetof(struct dt_state, refused));
	emit_out(c, ACCEPT);
}

/*
 * R8 = the socket of the request that the marked bytes at R6 belong to: R6 itself if they
 * are a request; if they are an answer, the socket whose request was passed on here, as
 * long as nothing was sent to that one; 0 if it is not known. The rules of the module do
 * not use this. labels is the first of six labels.
 */
static void request_socket(struct bpf_code *c, const struct dt_plan *p, int labels)
{
	enum { SEEN, PUT, REQUEST, OPENED, UNKNOWN, KNOWN };

	dt_emit_lookup(c, p->sent, SOCKET);
	emit_jump_if_imm(c, R0, JNE, 0, labels + SEEN);
	dt_emit_begin_older(c, p);
	emit_jump_if_imm(c, R9, JEQ, 0, labels + PUT);
	emit_store_imm(c, SIZE_W, FP, VALUE + (int)offsetof(struct dt_sent, flags), SENT_PASSIVE);
	emit_label(c, labels + PUT);
	dt_emit_insert(c, p->sent, SOCKET);
	dt_emit_find(c, p->sent, SOCKET, labels + UNKNOWN);
	emit_label(c, labels + SEEN);
	emit_alu(c, ALU_MOV, R7, R0);
	emit_load(c, SIZE_W, R1, R7, offsetof(struct dt_sent, flags));
	emit_jump_if_imm(c, R1, JSET, SENT_PASSIVE, labels + REQUEST);
	emit_load(c, SIZE_DW, R8, R7, offsetof(struct dt_sent, tag));
	emit_jump_if_imm(c, R8, JEQ, 0, labels + OPENED);
	emit_store(c, SIZE_DW, FP, WORD, R8);
	dt_emit_find(c, p->sent, WORD, labels + OPENED);
	emit_load(c, SIZE_W, R1, R0, offsetof(struct dt_sent, asked));
	emit_jump_if_imm(c, R1, JNE, 0, labels + KNOWN);
	emit_label(c, labels + OPENED);
	emit_load(c, SIZE_W, R1, R7, offsetof(struct dt_sent, flags));
	emit_jump_if_imm(c, R1, JSET, SENT_ACTIVE, labels + UNKNOWN);
	emit_store_imm(c, SIZE_W, R7, offsetof(struct dt_sent, asked), 1);
	emit_label(c, labels + UNKNOWN);
	emit_alu_imm(c, ALU_MOV, R8, 0);
	emit_jump(c, labels + KNOWN);
	emit_label(c, labels + REQUEST);
	emit_store_imm(c, SIZE_W, R7, offsetof(struct dt_sent, asked), 1);
	emit_alu(c, ALU_MOV, R8, R6);
	emit_label(c, labels + KNOWN);
}

/*
 * A thread has read from a socket (tcp_rcv_space_adjust, once for each part that was
 * copied). If the bytes from read to copied_seq contain marked ones, begin a window. A peek
 * does not call this; splice(2) calls it even if there was nothing to read.
 */
void dt_read(struct bpf_code *c, const struct dt_plan *p)
{
	enum { UNMARKED = OUT + 1, FIRST, TRACED, FRESH, OWN, KEEP, ELSEWHERE, PASSED, KEY,
	       WHOSE = KEY + 3 };
	enum { BEFORE = NETWORK };

	dt_emit_socket_arg(c, 0);
	dt_emit_current(c, p);
	dt_emit_find(c, p->received, SOCKET, UNMARKED);
	emit_alu(c, ALU_MOV, R7, R0);
	dt_emit_field(c, SIZE_W, R9, p->copied_seq);
	emit_load(c, SIZE_W, R8, R7, offsetof(struct dt_received, read));
	emit_jump_if(c, R8, JEQ, R9, OUT);
	/* get the range before storing read: after that dt_rx may begin another range */
	emit_load(c, SIZE_DW, R2, R7, offsetof(struct dt_received, range));
	emit_alu32(c, ALU_MOV, R3, R2);
	emit_alu_imm(c, ALU_RSH, R2, 32);
	emit_store(c, SIZE_W, R7, offsetof(struct dt_received, read), R9);
	dt_emit_jump_seq(c, R8, R2, JSGE, PASSED);
	dt_emit_jump_seq(c, R9, R3, JSLE, UNMARKED);
	/* R8 = the first of these that is marked; BEFORE > 0: marked ones were read before */
	emit_alu32(c, ALU_MOV, R1, R8);
	emit_alu32(c, ALU_SUB, R1, R3);
	emit_store(c, SIZE_W, FP, BEFORE, R1);
	emit_jump32_if_imm(c, R1, JSGE, 0, FIRST);
	emit_alu32(c, ALU_MOV, R8, R3);
	emit_label(c, FIRST);
	dt_emit_key_read(c, p, R8, KEY);
	if (!(p->flags & DT_MODULE))
		request_socket(c, p, WHOSE);

	dt_emit_lookup(c, p->pids, WHO);
	emit_jump_if_imm(c, R0, JNE, 0, TRACED);
	if (!(p->flags & DT_MODULE)) {
		/*
		 * Ignore marked bytes on a socket that connected and has sent no marked
		 * bytes. Otherwise a marked answer to an unmarked request would begin a
		 * window, which marks the next request, and so on without end.
		 */
		dt_emit_find(c, p->sent, SOCKET, FRESH);
		emit_load(c, SIZE_W, R1, R0, offsetof(struct dt_sent, flags));
		emit_alu_imm(c, ALU_AND, R1, SENT_ACTIVE | SENT_EVER);
		emit_jump_if_imm(c, R1, JEQ, SENT_ACTIVE, OUT);
		emit_label(c, FRESH);
	}
	dt_emit_begin_value(c);
	emit_store(c, SIZE_DW, FP, VALUE + (int)offsetof(struct dt_task, tag), R6);
	if (!(p->flags & DT_MODULE)) {
		emit_jump_if_imm(c, R8, JEQ, 0, OWN);
		emit_store(c, SIZE_DW, FP, VALUE + (int)offsetof(struct dt_task, tag), R8);
		emit_label(c, OWN);
	}
	emit_load(c, SIZE_DW, R1, FP, MESSAGE);
	emit_store(c, SIZE_DW, FP, VALUE + (int)offsetof(struct dt_task, key), R1);
	dt_emit_update(c, p->pids, WHO);
	emit_jump_if_imm(c, R0, JNE, 0, OUT);  /* the map is full */
	dt_emit_printk(c, p, 'B');
	dt_emit_count(c, p, offsetof(struct dt_state, windows));
	emit_exit(c, 0);

	emit_label(c, TRACED);
	emit_alu(c, ALU_MOV, R7, R0);
	emit_load(c, SIZE_W, R1, FP, BEFORE);
	emit_jump32_if_imm(c, R1, JSGT, 0, OUT); /* the same message continues */
	emit_load(c, SIZE_DW, R1, R7, offsetof(struct dt_task, tag));
	emit_jump_if_imm(c, R1, JEQ, 0, KEEP);
	if (!(p->flags & DT_MODULE)) {
		/*
		 * An event loop turns to the next request before it has answered the last, or
		 * goes on with an earlier one.
		 */
		emit_jump_if_imm(c, R8, JEQ, 0, KEEP);
		emit_jump_if(c, R1, JEQ, R8, KEEP);
		emit_store(c, SIZE_DW, R7, offsetof(struct dt_task, tag), R8);
		emit_load(c, SIZE_DW, R1, FP, MESSAGE);
		emit_store(c, SIZE_DW, R7, offsetof(struct dt_task, key), R1);
		dt_emit_printk(c, p, 'B');
		emit_exit(c, 0);
	}
	emit_label(c, KEEP);
	dt_emit_printk(c, p, 'R');
	emit_exit(c, 0);

	emit_label(c, PASSED);
	/* forget a range that is far behind, before the numbers come around to it */
	emit_load(c, SIZE_DW, R0, R7, offsetof(struct dt_received, range));
	emit_alu(c, ALU_MOV, R2, R0);
	emit_alu_imm(c, ALU_RSH, R2, 32);
	emit_alu32(c, ALU_MOV, R1, R9);
	emit_alu32(c, ALU_SUB, R1, R2);
	emit_jump32_if_imm(c, R1, JSLT, FAR, UNMARKED);
	emit_alu(c, ALU_MOV, R2, R9);
	emit_alu_imm(c, ALU_LSH, R2, 32);
	emit_alu(c, ALU_OR, R2, R9);
	put_range(c, p, R7, R2);

	emit_label(c, UNMARKED);
	if (!(p->flags & DT_MODULE)) {
		/*
		 * The thread is an event loop that turns to another request, so end its
		 * window. But keep the window if these bytes are the answer to a marked
		 * request of the thread, from a peer without a request probe.
		 */
		dt_emit_find(c, p->pids, WHO, OUT);
		emit_alu(c, ALU_MOV, R7, R0);
		emit_load(c, SIZE_DW, R1, R7, offsetof(struct dt_task, tag));
		emit_jump_if_imm(c, R1, JEQ, 0, OUT);
		dt_emit_find(c, p->sent, SOCKET, ELSEWHERE);
		emit_alu(c, ALU_MOV, R8, R0);
		dt_emit_field(c, SIZE_W, R9, p->copied_seq);
		emit_load(c, SIZE_W, R1, R8, offsetof(struct dt_sent, copied));
		emit_jump_if(c, R1, JEQ, R9, OUT);
		emit_store(c, SIZE_W, R8, offsetof(struct dt_sent, copied), R9);
		emit_load(c, SIZE_W, R1, R8, offsetof(struct dt_sent, flags));
		emit_alu_imm(c, ALU_AND, R1, SENT_ACTIVE | SENT_OPEN);
		emit_jump_if_imm(c, R1, JEQ, SENT_ACTIVE | SENT_OPEN, OUT);
		emit_label(c, ELSEWHERE);
		dt_emit_end_window(c, p);
	}
	emit_out(c, 0);
}
