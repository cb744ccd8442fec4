/* SPDX-License-Identifier: ISC */
/* program_out.c - programs of threads that send, and of segments that leave */
#include <endian.h>

#include "bpf/bpf.h"
#include "requests.h"
#include "program.h"

enum { CONTINUE = -1, ETHERNET = 14 };

/*
 * A thread sends on a socket, whose lock it holds. Mark the bytes that it is about to put at
 * write_seq if the thread is traced; else end the marked range there. The function entry
 * calls this once per send, the tracepoint once for each buffer of a send.
 */
void dt_send(struct bpf_code *c, const struct dt_plan *p)
{
	enum { TRACED = OUT + 1, NONE, CLOSED_RANGE, START, MARKED, TELL, TOLD, NEW, BORN, LOOKED,
	       PASSED_ON, ACCEPTED, ANSWER, CONNECTED };

	dt_emit_socket_arg(c, p->first_argument);
	dt_emit_current(c, p);
	dt_emit_lookup(c, p->sent, SOCKET);
	emit_alu(c, ALU_MOV, R8, R0);
	emit_jump_if_imm(c, R8, JEQ, 0, LOOKED);
	emit_store_imm(c, SIZE_W, R8, offsetof(struct dt_sent, asked), 0);
	emit_label(c, LOOKED);
	dt_emit_lookup(c, p->pids, WHO);
	emit_alu(c, ALU_MOV, R7, R0);
	emit_jump_if_imm(c, R7, JNE, 0, TRACED);

	/* untraced: end the range here; remove it once all its bytes are acknowledged */
	emit_jump_if_imm(c, R8, JEQ, 0, OUT);
	emit_load(c, SIZE_W, R1, R8, offsetof(struct dt_sent, flags));
	emit_jump_if_imm(c, R1, JSET, SENT_BORN, BORN);
	emit_alu_imm(c, ALU_AND, R1, SENT_RANGE | SENT_OPEN);
	emit_jump_if_imm(c, R1, JEQ, 0, OUT);
	emit_jump_if_imm(c, R1, JEQ, SENT_RANGE, CLOSED_RANGE);
	dt_emit_field(c, SIZE_W, R9, p->write_seq);
	emit_store(c, SIZE_W, R8, offsetof(struct dt_sent, end), R9);
	emit_load(c, SIZE_W, R1, R8, offsetof(struct dt_sent, flags));
	emit_alu_imm(c, ALU_AND, R1, ~SENT_OPEN);
	emit_store(c, SIZE_W, R8, offsetof(struct dt_sent, flags), R1);
	emit_exit(c, 0);
	emit_label(c, CLOSED_RANGE);
	dt_emit_field(c, SIZE_W, R9, p->snd_una);
	emit_load(c, SIZE_W, R2, R8, offsetof(struct dt_sent, end));
	dt_emit_jump_seq(c, R9, R2, JSLT, OUT);
	emit_load(c, SIZE_W, R1, R8, offsetof(struct dt_sent, flags));
	emit_alu_imm(c, ALU_AND, R1, ~SENT_RANGE);
	emit_store(c, SIZE_W, R8, offsetof(struct dt_sent, flags), R1);
	emit_exit(c, 0);

	/*
	 * An event loop continues the request for which it has opened this connection. It
	 * has served another one meanwhile. Begin the window of that request again.
	 */
	emit_label(c, BORN);
	dt_emit_begin_value(c);
	emit_load(c, SIZE_DW, R1, R8, offsetof(struct dt_sent, tag));
	emit_store(c, SIZE_DW, FP, VALUE + (int)offsetof(struct dt_task, tag), R1);
	emit_load(c, SIZE_DW, R1, R8, offsetof(struct dt_sent, key));
	emit_store(c, SIZE_DW, FP, VALUE + (int)offsetof(struct dt_task, key), R1);
	emit_store(c, SIZE_DW, FP, MESSAGE, R1);
	dt_emit_update(c, p->pids, WHO);
	dt_emit_printk(c, p, 'B');
	dt_emit_find(c, p->pids, WHO, OUT);
	emit_alu(c, ALU_MOV, R7, R0);

	emit_label(c, TRACED);
	emit_jump_if_imm(c, R8, JEQ, 0, NEW);
	/*
	 * R9 = start of the marked bytes. If bytes of an older range are not acknowledged
	 * yet, they stay marked, and so do all bytes between that range and these.
	 */
	dt_emit_field(c, SIZE_W, R9, p->snd_una);
	emit_load(c, SIZE_W, R1, R8, offsetof(struct dt_sent, flags));
	emit_alu_imm(c, ALU_AND, R1, SENT_RANGE | SENT_OPEN);
	emit_jump_if_imm(c, R1, JEQ, SENT_RANGE | SENT_OPEN, START);
	emit_jump_if_imm(c, R1, JNE, SENT_RANGE, NONE);
	emit_load(c, SIZE_W, R2, R8, offsetof(struct dt_sent, end));
	dt_emit_jump_seq(c, R9, R2, JSLT, START);
	emit_label(c, NONE);
	dt_emit_field(c, SIZE_W, R9, p->write_seq);
	emit_store(c, SIZE_W, R8, offsetof(struct dt_sent, start), R9);
	emit_store(c, SIZE_W, R8, offsetof(struct dt_sent, high), R9);
	emit_jump(c, MARKED);
	emit_label(c, START);
	emit_load(c, SIZE_W, R2, R8, offsetof(struct dt_sent, start));
	dt_emit_jump_seq(c, R9, R2, JSLE, MARKED);
	emit_store(c, SIZE_W, R8, offsetof(struct dt_sent, start), R9);
	emit_label(c, MARKED);
	emit_load(c, SIZE_W, R1, R8, offsetof(struct dt_sent, flags));
	/* the request of this socket is known, or the first part of this send has stored it */
	emit_jump_if_imm(c, R1, JSET, SENT_BORN, PASSED_ON);
	emit_load(c, SIZE_DW, R2, R7, offsetof(struct dt_task, sending));
	emit_jump_if(c, R2, JEQ, R6, PASSED_ON);
	emit_load(c, SIZE_DW, R2, R7, offsetof(struct dt_task, tag));
	emit_jump_if(c, R2, JEQ, R6, PASSED_ON);
	emit_store(c, SIZE_DW, R8, offsetof(struct dt_sent, tag), R2);
	emit_label(c, PASSED_ON);
	emit_alu_imm(c, ALU_OR, R1, SENT_RANGE | SENT_OPEN | SENT_EVER);
	emit_alu_imm(c, ALU_AND, R1, ~SENT_BORN);
	emit_store(c, SIZE_W, R8, offsetof(struct dt_sent, flags), R1);
	emit_jump(c, TELL);

	emit_label(c, NEW);
	/*
	 * The socket is older than the request probe. A thread passes a request on only
	 * through a socket that connected.
	 */
	dt_emit_begin_older(c, p);
	emit_alu_imm(c, ALU_MOV, R8, SENT_RANGE | SENT_OPEN | SENT_EVER);
	emit_jump_if_imm(c, R9, JNE, 0, ACCEPTED);
	emit_load(c, SIZE_DW, R1, R7, offsetof(struct dt_task, tag));
	emit_jump_if(c, R1, JEQ, R6, ANSWER);
	emit_store(c, SIZE_DW, FP, VALUE + (int)offsetof(struct dt_sent, tag), R1);
	emit_alu_imm(c, ALU_OR, R8, SENT_ACTIVE);
	emit_jump(c, ANSWER);
	emit_label(c, ACCEPTED);
	emit_alu_imm(c, ALU_OR, R8, SENT_PASSIVE);
	emit_label(c, ANSWER);
	dt_emit_field(c, SIZE_W, R9, p->write_seq);
	emit_store(c, SIZE_W, FP, VALUE + (int)offsetof(struct dt_sent, start), R9);
	emit_store(c, SIZE_W, FP, VALUE + (int)offsetof(struct dt_sent, end), R9);
	emit_store(c, SIZE_W, FP, VALUE + (int)offsetof(struct dt_sent, high), R9);
	emit_store(c, SIZE_W, FP, VALUE + (int)offsetof(struct dt_sent, flags), R8);
	dt_emit_update(c, p->sent, SOCKET);

	emit_label(c, TELL);
	emit_load(c, SIZE_DW, R1, R7, offsetof(struct dt_task, sending));
	emit_jump_if(c, R1, JEQ, R6, TOLD);
	dt_emit_field(c, SIZE_W, R9, p->write_seq);
	dt_emit_key_sent(c, p, R9, TOLD, CONNECTED);
	if (!p->end_at_send)
		emit_store(c, SIZE_DW, R7, offsetof(struct dt_task, sending), R6);
	dt_emit_printk(c, p, 'M');
	emit_label(c, TOLD);
	if (p->end_at_send) {
		emit_load(c, SIZE_DW, R1, R7, offsetof(struct dt_task, tag));
		emit_jump_if(c, R1, JNE, R6, OUT);
		dt_emit_end_window(c, p);
	}
	emit_out(c, 0);
}

/* A send has ended (sock_send_length). On the socket of the request it was the answer. */
void dt_end(struct bpf_code *c, const struct dt_plan *p)
{
	emit_load(c, SIZE_DW, R8, R1, 8);
	dt_emit_socket_arg(c, 0);
	dt_emit_current_traced(c, p);
	emit_store_imm(c, SIZE_DW, R7, offsetof(struct dt_task, sending), 0);
	emit_jump32_if_imm(c, R8, JSLE, 0, OUT);
	emit_load(c, SIZE_DW, R1, R7, offsetof(struct dt_task, tag));
	emit_jump_if(c, R1, JNE, R6, OUT);
	dt_emit_end_window(c, p);
	emit_out(c, 0);
}

/* R1 = the EtherType at this offset of the packet R6. Jump to OUT if it is too short. */
static void ether_type(struct bpf_code *c, int at)
{
	emit_alu_imm(c, ALU_MOV, R2, at);
	dt_emit_packet_bytes(c, WORD, 2);
	emit_load(c, SIZE_H, R1, FP, WORD);
	emit_from_be(c, R1, 16);
}

/*
 * A packet leaves by the egress of a device. Set the mark if its data contain marked bytes
 * of its socket. The helper keeps the checksum right, even if the device computes it.
 */
static void mark(struct bpf_code *c, const struct dt_plan *p, int ethernet)
{
	enum { V6 = OUT + 1, TCP_HEADER, TAGGED, PLAIN, IS_IP, OPEN };

	emit_alu(c, ALU_MOV, R6, R1);
	emit_load(c, SIZE_DW, R1, R6, SKB_SK);
	emit_jump_if_imm(c, R1, JEQ, 0, OUT);
	dt_emit_socket_key(c, p, offsetof(struct dt_state, socket_out));
	dt_emit_find(c, p->sent, SOCKET, OUT);
	emit_load(c, SIZE_W, R1, R0, offsetof(struct dt_sent, flags));
	emit_alu_imm(c, ALU_AND, R1, SENT_RANGE);
	emit_jump_if_imm(c, R1, JEQ, 0, OUT);
	emit_alu(c, ALU_MOV, R8, R0);
	emit_alu_imm(c, ALU_MOV, R7, ethernet ? ETHERNET : 0);
	if (ethernet) {
		ether_type(c, 12);
		emit_jump_if_imm(c, R1, JEQ, 0x8100, TAGGED);
		emit_jump_if_imm(c, R1, JNE, 0x88a8, PLAIN);
		emit_label(c, TAGGED);
		emit_alu_imm(c, ALU_ADD, R7, 4);
		ether_type(c, 16);
		emit_label(c, PLAIN);
		/* do not take a second tag, or MPLS labels, for an IP header */
		emit_jump_if_imm(c, R1, JEQ, 0x0800, IS_IP);
		emit_jump_if_imm(c, R1, JNE, 0x86dd, OUT);
		emit_label(c, IS_IP);
	}
	dt_emit_tcp_data(c, V6, TCP_HEADER);
	emit_load(c, SIZE_W, R2, FP, HEADER + 4);
	emit_from_be(c, R2, 32);
	emit_alu32(c, ALU_ADD, R9, R2);
	/* R2 = sequence number of the first byte, R9 = of the byte after the last */
	emit_load(c, SIZE_W, R3, R8, offsetof(struct dt_sent, start));
	dt_emit_jump_seq(c, R9, R3, JSLE, OUT);
	emit_load(c, SIZE_W, R1, R8, offsetof(struct dt_sent, flags));
	emit_alu_imm(c, ALU_AND, R1, SENT_OPEN);
	emit_jump_if_imm(c, R1, JNE, 0, OPEN);
	emit_load(c, SIZE_W, R3, R8, offsetof(struct dt_sent, end));
	dt_emit_jump_seq(c, R2, R3, JSGE, OUT);
	emit_label(c, OPEN);
	if (p->flags & DT_ONCE) {
		/* a retransmission: a device on the way may have dropped it for its mark */
		emit_load(c, SIZE_W, R3, R8, offsetof(struct dt_sent, high));
		dt_emit_jump_seq(c, R2, R3, JSLT, OUT);
		emit_store(c, SIZE_W, R8, offsetof(struct dt_sent, high), R9);
	}
	emit_load(c, SIZE_H, R8, FP, HEADER + 12);
	emit_alu(c, ALU_MOV, R9, R8);
	emit_alu_imm(c, ALU_OR, R9, __BYTE_ORDER == __LITTLE_ENDIAN ? MARK : MARK << 8);
	emit_jump_if(c, R9, JEQ, R8, OUT);
	emit_store(c, SIZE_H, FP, WORD, R9);
	emit_alu(c, ALU_MOV, R1, R6);
	emit_address(c, R2, R7, 16);
	emit_alu(c, ALU_MOV, R3, R8);
	emit_alu(c, ALU_MOV, R4, R9);
	emit_alu_imm(c, ALU_MOV, R5, 2);
	emit_call(c, FN_L4_CSUM_REPLACE);
	emit_alu(c, ALU_MOV, R1, R6);
	emit_address(c, R2, R7, 12);
	emit_address(c, R3, FP, WORD);
	emit_alu_imm(c, ALU_MOV, R4, 2);
	emit_alu_imm(c, ALU_MOV, R5, 0);
	emit_call(c, FN_SKB_STORE_BYTES);
	dt_emit_count(c, p, offsetof(struct dt_state, marked_out));
	emit_out(c, CONTINUE);
}

void dt_egress(struct bpf_code *c, const struct dt_plan *p)
{
	mark(c, p, 1);
}

void dt_egress_bare(struct bpf_code *c, const struct dt_plan *p)
{
	mark(c, p, 0);
}
