/* SPDX-License-Identifier: ISC */
/* dtin.c - programs of what comes: marked bytes, and who reads them */

#include "bpf/bpf.h"
#include "requests/requests.h"
#include "requests/program.h"

enum { LISTEN = 10 };           /* of a socket (include/net/tcp_states.h) */
enum { SYN = 2, ACCEPT = 1 };

/* Fields of struct bpf_sock and bpf_tcp_sock (uapi/linux/bpf.h). */
enum { SOCK_STATE_ARG = 72, TCP_RCV_NXT = 16 };

/* The windows that receivers offer end long before; a stranger's guess hardly. */
enum { WINDOW_MOST = 1 << 26 };

/* What was read so long ago is forgotten. */
enum { FAR = 1 << 30 };

/* So often a range is tried to be changed that others change meanwhile. */
enum { TRIES = 4 };

/* The range of the struct dt_received is the register's, if it is R0; R0 = what it was. */
static void put_range(struct bpf_code *c, const struct dt_plan *p, enum bpf_reg at, enum bpf_reg from)
{
	if (p->plain)
		emit_store(c, SIZE_DW, at, offsetof(struct dt_received, range), from);
	else
		emit_cmpxchg(c, at, offsetof(struct dt_received, range), from);
}

/*
 * The bytes from R7 to R9 are marked in the struct dt_received at R6, to out then.
 * Segments of one socket may be here on several processors at once. Of a range that
 * all was read of a new one begins; else it grows at either side, as they may be out
 * of order. R6, R7 and R9 stay.
 */
static void grow(struct bpf_code *c, const struct dt_plan *p, int labels, int out)
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
	emit_jump_if(c, R0, JEQ, R8, out);
}

/*
 * A packet has come for a socket (a cgroup's ingress: behind the firewall, before
 * TCP has looked at it). It only says which bytes are marked. What TCP will not
 * take, as it has it or could not place it, must not count.
 */
void dt_rx(struct bpf_code *c, const struct dt_plan *p)
{
	enum { OUT, V6, TCP_HEADER, STRANGER, CHILD, V6_FROM, KNOWN, ADD, KNOWN_SOCKET, TRY };

	emit_alu(c, ALU_MOV, R6, R1);
	emit_alu_imm(c, ALU_MOV, R7, 0);
	dt_emit_tcp_data(c, V6, TCP_HEADER, OUT);
	emit_load(c, SIZE_B, R1, FP, HEADER + 12);
	emit_alu_imm(c, ALU_AND, R1, MARK);
	emit_jump_if_imm(c, R1, JEQ, 0, OUT);
	emit_load(c, SIZE_B, R1, FP, HEADER + 13);
	emit_alu_imm(c, ALU_AND, R1, SYN);
	emit_jump_if_imm(c, R1, JNE, 0, OUT);

	/* whose marks are believed: a network of IPv6, where IPv4 is ::ffff:0:0/96 */
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
	dt_emit_lookup(c, p->from, NETWORK);
	emit_jump_if_imm(c, R0, JEQ, 0, STRANGER);

	/* R9 = end, R7 = start, in the order of this machine */
	emit_load(c, SIZE_W, R7, FP, HEADER + 4);
	emit_from_be(c, R7, 32);
	emit_alu32(c, ALU_ADD, R9, R7);
	emit_load(c, SIZE_DW, R1, R6, SKB_SK);
	emit_jump_if_imm(c, R1, JEQ, 0, OUT);
	emit_call(c, FN_SK_FULLSOCK);
	emit_jump_if_imm(c, R0, JEQ, 0, OUT);
	emit_alu(c, ALU_MOV, R6, R0);
	emit_alu(c, ALU_MOV, R1, R0);
	dt_emit_socket_key(c, p, offsetof(struct dt_state, socket_in), OUT);
	emit_load(c, SIZE_W, R1, R6, SOCK_STATE_ARG);
	emit_jump_if_imm(c, R1, JEQ, LISTEN, CHILD);
	emit_alu(c, ALU_MOV, R1, R6);
	emit_call(c, FN_TCP_SOCK);
	emit_jump_if_imm(c, R0, JEQ, 0, OUT);
	emit_load(c, SIZE_W, R6, R0, TCP_RCV_NXT);
	/* a duplicate; out of the window; one that overlaps what is here begins behind it */
	dt_emit_jump_seq(c, R9, R6, JSLE, OUT);
	emit_alu32(c, ALU_MOV, R1, R7);
	emit_alu32(c, ALU_SUB, R1, R6);
	emit_jump32_if_imm(c, R1, JSGT, WINDOW_MOST, OUT);
	emit_jump32_if_imm(c, R1, JSGE, 0, ADD);
	emit_alu32(c, ALU_MOV, R7, R6);
	emit_label(c, ADD);
	emit_alu_imm(c, ALU_MOV, R1, 1);
	emit_atomic_add(c, R8, offsetof(struct dt_state, marked_in), R1);

	dt_emit_lookup(c, p->received, SOCKET);
	emit_jump_if_imm(c, R0, JNE, 0, KNOWN_SOCKET);
	dt_emit_begin_received(c, R7, R9, R6);
	dt_emit_insert(c, p->received, SOCKET);
	emit_jump_if_imm(c, R0, JEQ, 0, OUT);
	dt_emit_lookup(c, p->received, SOCKET);
	emit_jump_if_imm(c, R0, JEQ, 0, OUT);
	emit_label(c, KNOWN_SOCKET);
	emit_alu(c, ALU_MOV, R6, R0);
	for (int i = 0; i < TRIES; i++)
		grow(c, p, TRY + 2 * i, OUT);
	emit_exit(c, ACCEPT);

	/* data with the last of a handshake: the socket is not yet there (dt_state) */
	emit_label(c, CHILD);
	emit_store(c, SIZE_W, R8, offsetof(struct dt_state, child_start), R7);
	emit_store(c, SIZE_W, R8, offsetof(struct dt_state, child_end), R9);
	emit_alu_imm(c, ALU_MOV, R1, 1);
	emit_atomic_add(c, R8, offsetof(struct dt_state, marked_in), R1);
	emit_exit(c, ACCEPT);

	emit_label(c, STRANGER);
	dt_emit_count(c, p, offsetof(struct dt_state, refused), OUT);
	emit_label(c, OUT);
	emit_exit(c, ACCEPT);
}

/*
 * R8 = the socket of R6 if a request came on it; if an answer did, the socket of the
 * request that was passed on here, as long as nothing was sent to that one; 0: not known.
 * Not for the rules of the module. To the labels, six from the first on.
 */
static void whose(struct bpf_code *c, const struct dt_plan *p, int labels)
{
	enum { SEEN, PUT, REQUEST, OPENED, UNKNOWN, KNOWN };

	dt_emit_lookup(c, p->sent, SOCKET);
	emit_jump_if_imm(c, R0, JNE, 0, labels + SEEN);
	begin_older(c, p);
	emit_jump_if_imm(c, R9, JEQ, 0, labels + PUT);
	emit_store_imm(c, SIZE_W, FP, VALUE + (int)offsetof(struct dt_sent, flags), SENT_PASSIVE);
	emit_label(c, labels + PUT);
	dt_emit_insert(c, p->sent, SOCKET);
	dt_emit_lookup(c, p->sent, SOCKET);
	emit_jump_if_imm(c, R0, JEQ, 0, labels + UNKNOWN);
	emit_label(c, labels + SEEN);
	emit_alu(c, ALU_MOV, R7, R0);
	emit_load(c, SIZE_W, R1, R7, offsetof(struct dt_sent, flags));
	emit_jump_if_imm(c, R1, JSET, SENT_PASSIVE, labels + REQUEST);
	emit_load(c, SIZE_DW, R8, R7, offsetof(struct dt_sent, tag));
	emit_jump_if_imm(c, R8, JEQ, 0, labels + OPENED);
	emit_store(c, SIZE_DW, FP, WORD, R8);
	dt_emit_lookup(c, p->sent, WORD);
	emit_jump_if_imm(c, R0, JEQ, 0, labels + OPENED);
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
 * A thread has read from a socket (tcp_rcv_space_adjust, once for each part that
 * was copied): do the bytes from read to copied_seq meet the marked ones? A peek
 * does not come here; splice(2) does also when there was nothing.
 */
void dt_read(struct bpf_code *c, const struct dt_plan *p)
{
	enum { OUT, UNMARKED, FIRST, TRACED, FRESH, OWN, KEEP, ELSEWHERE, PASSED, WHOSE };
	enum { BEFORE = NETWORK };

	dt_emit_socket_arg(c, 0);
	dt_emit_current(c, p);
	dt_emit_lookup(c, p->received, SOCKET);
	emit_jump_if_imm(c, R0, JEQ, 0, UNMARKED);
	emit_alu(c, ALU_MOV, R7, R0);
	dt_emit_field(c, SIZE_W, R9, R6, p->copied_seq);
	emit_load(c, SIZE_W, R8, R7, offsetof(struct dt_received, read));
	emit_jump_if(c, R8, JEQ, R9, OUT);
	/* once all is read, dt_rx may begin another range at any moment: what was, first */
	emit_load(c, SIZE_DW, R2, R7, offsetof(struct dt_received, range));
	emit_alu32(c, ALU_MOV, R3, R2);
	emit_alu_imm(c, ALU_RSH, R2, 32);
	emit_store(c, SIZE_W, R7, offsetof(struct dt_received, read), R9);
	dt_emit_jump_seq(c, R8, R2, JSGE, PASSED);
	dt_emit_jump_seq(c, R9, R3, JSLE, UNMARKED);
	/* R8 = the first marked byte of these; BEFORE: whether others were read before */
	emit_alu32(c, ALU_MOV, R1, R8);
	emit_alu32(c, ALU_SUB, R1, R3);
	emit_store(c, SIZE_W, FP, BEFORE, R1);
	emit_jump32_if_imm(c, R1, JSGE, 0, FIRST);
	emit_alu32(c, ALU_MOV, R8, R3);
	emit_label(c, FIRST);
	dt_emit_message(c, p, R8, 0);
	if (!(p->flags & DT_MODULE))
		whose(c, p, WHOSE);

	dt_emit_lookup(c, p->pids, WHO);
	emit_jump_if_imm(c, R0, JNE, 0, TRACED);
	if (!(p->flags & DT_MODULE)) {
		/*
		 * The answer to a request of ours that was not marked: its own mark
		 * came back through the peer, and would go on for ever.
		 */
		dt_emit_lookup(c, p->sent, SOCKET);
		emit_jump_if_imm(c, R0, JEQ, 0, FRESH);
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
	emit_jump_if_imm(c, R0, JNE, 0, OUT);  /* no room */
	dt_emit_printk(c, p, 'B');
	dt_emit_count(c, p, offsetof(struct dt_state, windows), OUT);
	emit_exit(c, 0);

	emit_label(c, TRACED);
	emit_alu(c, ALU_MOV, R7, R0);
	emit_load(c, SIZE_W, R1, FP, BEFORE);
	emit_jump32_if_imm(c, R1, JSGT, 0, OUT); /* the same message goes on */
	emit_load(c, SIZE_DW, R1, R7, offsetof(struct dt_task, tag));
	emit_jump_if_imm(c, R1, JEQ, 0, KEEP);
	if (!(p->flags & DT_MODULE)) {
		/*
		 * An event loop takes the next request before the last was answered, or
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
	/* far behind: the numbers will come around to it */
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
		 * An event loop turns to somebody else's request. Not so when this is
		 * the answer to a marked request of ours, of a peer without a probe.
		 */
		dt_emit_lookup(c, p->pids, WHO);
		emit_jump_if_imm(c, R0, JEQ, 0, OUT);
		emit_alu(c, ALU_MOV, R7, R0);
		emit_load(c, SIZE_DW, R1, R7, offsetof(struct dt_task, tag));
		emit_jump_if_imm(c, R1, JEQ, 0, OUT);
		dt_emit_lookup(c, p->sent, SOCKET);
		emit_jump_if_imm(c, R0, JEQ, 0, ELSEWHERE);
		emit_alu(c, ALU_MOV, R8, R0);
		dt_emit_field(c, SIZE_W, R9, R6, p->copied_seq);
		emit_load(c, SIZE_W, R1, R8, offsetof(struct dt_sent, copied));
		emit_jump_if(c, R1, JEQ, R9, OUT);
		emit_store(c, SIZE_W, R8, offsetof(struct dt_sent, copied), R9);
		emit_load(c, SIZE_W, R1, R8, offsetof(struct dt_sent, flags));
		emit_alu_imm(c, ALU_AND, R1, SENT_ACTIVE | SENT_OPEN);
		emit_jump_if_imm(c, R1, JEQ, SENT_ACTIVE | SENT_OPEN, OUT);
		emit_label(c, ELSEWHERE);
		dt_emit_end_window(c, p);
	}
	emit_label(c, OUT);
	emit_exit(c, 0);
}
