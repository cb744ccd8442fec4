/* SPDX-License-Identifier: ISC */
/* program_out.c - programs of threads that send, and of segments that leave */
#include <endian.h>

#include "host/host.h"
#include "bpf/bpf.h"
#include "requests.h"
#include "program.h"

enum { CONTINUE = -1, ETHERNET = 14 };

/*
 * In dt_send R6 is the socket, R7 the struct dt_task of the thread, and R8 the struct dt_sent of
 * the socket; 0: there is none.
 */
static void find_task_and_socket(struct bpf_code *c, const struct dt_plan *p)
{
	emit_lookup(c, p->sent, SOCKET);
	emit_mov(c, R8, R0);
	emit_jump_if_imm(c, R8, JEQ, 0, "no_socket");
	emit_set_imm(c, R8, dt_sent, asked, 0);
	emit_label(c, "no_socket");
	emit_lookup(c, p->pids, WHO);
	emit_mov(c, R7, R0);
}

static void clear_flag(struct bpf_code *c, int flag)
{
	emit_get(c, R1, R8, dt_sent, flags);
	emit_alu_imm(c, ALU_AND, R1, ~flag);
	emit_set(c, R8, dt_sent, flags, R1);
}

/* End the range at write_seq. Remove it once all its bytes are acknowledged. */
static void end_range(struct bpf_code *c, const struct dt_plan *p)
{
	emit_jump_if_imm(c, R8, JEQ, 0, "out");
	emit_get(c, R1, R8, dt_sent, flags);
	emit_jump_if_imm(c, R1, JSET, SENT_BORN, "born");
	emit_alu_imm(c, ALU_AND, R1, SENT_RANGE | SENT_OPEN);
	emit_jump_if_imm(c, R1, JEQ, 0, "out");
	emit_jump_if_imm(c, R1, JEQ, SENT_RANGE, "closed_range");
	dt_emit_field(c, SIZE_W, R9, p->write_seq);
	emit_set(c, R8, dt_sent, end, R9);
	clear_flag(c, SENT_OPEN);
	emit_exit(c, 0);
	emit_label(c, "closed_range");
	dt_emit_field(c, SIZE_W, R9, p->snd_una);
	emit_get(c, R2, R8, dt_sent, end);
	dt_emit_jump_seq(c, R9, R2, JSLT, "out");
	clear_flag(c, SENT_RANGE);
	emit_exit(c, 0);
}

/*
 * An event loop continues the request for which it has opened this connection, after it has
 * served another request. Begin the window of the first request again.
 */
static void resume_window(struct bpf_code *c, const struct dt_plan *p)
{
	dt_emit_begin_value(c);
	emit_get(c, R1, R8, dt_sent, tag);
	dt_value(c, dt_task, tag, R1);
	emit_get(c, R1, R8, dt_sent, key);
	dt_value(c, dt_task, key, R1);
	emit_store(c, SIZE_DW, FP, MESSAGE, R1);
	dt_emit_update(c, p->pids, WHO, UPDATE_ANY);
	dt_emit_mark(c, p, 'B');
	emit_find(c, p->pids, WHO, R7, "out");
}

/*
 * Set the start of the marked bytes. If bytes of an older range are not acknowledged yet, they
 * stay marked, and so do all bytes between that range and these.
 */
static void set_start(struct bpf_code *c, const struct dt_plan *p)
{
	dt_emit_field(c, SIZE_W, R9, p->snd_una);
	dt_emit_jump_flags(c, R8, SENT_RANGE | SENT_OPEN, JEQ, SENT_RANGE | SENT_OPEN,
			   "older_range");
	emit_jump_if_imm(c, R1, JNE, SENT_RANGE, "no_range");
	emit_get(c, R2, R8, dt_sent, end);
	dt_emit_jump_seq(c, R9, R2, JSLT, "older_range");
	emit_label(c, "no_range");
	dt_emit_field(c, SIZE_W, R9, p->write_seq);
	emit_set(c, R8, dt_sent, start, R9);
	emit_set(c, R8, dt_sent, high, R9);
	emit_jump(c, "has_start");
	emit_label(c, "older_range");
	emit_get(c, R2, R8, dt_sent, start);
	dt_emit_jump_seq(c, R9, R2, JSLE, "has_start");
	emit_set(c, R8, dt_sent, start, R9);
	emit_label(c, "has_start");
}

/* Open the range. Note which request is passed on, unless that is known or this is its answer. */
static void open_range(struct bpf_code *c)
{
	emit_get(c, R1, R8, dt_sent, flags);
	/* the request of this socket is known, or the first part of this send has stored it */
	emit_jump_if_imm(c, R1, JSET, SENT_BORN, "passed_on");
	emit_get(c, R2, R7, dt_task, sending);
	emit_jump_if(c, R2, JEQ, R6, "passed_on");
	emit_get(c, R2, R7, dt_task, tag);
	emit_jump_if(c, R2, JEQ, R6, "passed_on");
	emit_set(c, R8, dt_sent, tag, R2);
	emit_label(c, "passed_on");
	emit_alu_imm(c, ALU_OR, R1, SENT_RANGE | SENT_OPEN | SENT_EVER);
	emit_alu_imm(c, ALU_AND, R1, ~SENT_BORN);
	emit_set(c, R8, dt_sent, flags, R1);
}

/*
 * The socket is older than the request probe: note it, with an open range. A thread passes a
 * request on only through a socket that connected.
 */
static void note_older_socket(struct bpf_code *c, const struct dt_plan *p)
{
	dt_emit_begin_older(c, p);
	emit_mov_imm(c, R8, SENT_RANGE | SENT_OPEN | SENT_EVER);
	emit_jump_if_imm(c, R9, JNE, 0, "has_accepted");
	emit_get(c, R1, R7, dt_task, tag);
	emit_jump_if(c, R1, JEQ, R6, "note");
	dt_value(c, dt_sent, tag, R1);
	emit_alu_imm(c, ALU_OR, R8, SENT_ACTIVE);
	emit_jump(c, "note");
	emit_label(c, "has_accepted");
	emit_alu_imm(c, ALU_OR, R8, SENT_PASSIVE);
	emit_label(c, "note");
	dt_emit_field(c, SIZE_W, R9, p->write_seq);
	dt_value(c, dt_sent, start, R9);
	dt_value(c, dt_sent, end, R9);
	dt_value(c, dt_sent, high, R9);
	dt_value(c, dt_sent, flags, R8);
	dt_emit_update(c, p->sent, SOCKET, UPDATE_ANY);
}

/* Write the mark line of the send, once for all its parts. */
static void tell_send(struct bpf_code *c, const struct dt_plan *p)
{
	emit_get(c, R1, R7, dt_task, sending);
	emit_jump_if(c, R1, JEQ, R6, "told");
	dt_emit_field(c, SIZE_W, R9, p->write_seq);
	dt_emit_key_sent(c, p, R9, "told");
	if (!p->end_at_send)
		emit_set(c, R7, dt_task, sending, R6);
	dt_emit_mark(c, p, 'M');
	emit_label(c, "told");
}

/*
 * A thread sends on a socket, whose lock it holds. Mark the bytes that it is about to put at
 * write_seq if the thread is traced; else end the marked range there. The function entry
 * calls this once per send, the tracepoint once for each buffer of a send.
 */
void dt_send(struct bpf_code *c, const struct dt_plan *p)
{
	dt_emit_socket_arg(c, p->first_argument);
	dt_emit_current(c, p);
	find_task_and_socket(c, p);
	emit_jump_if_imm(c, R7, JNE, 0, "traced");
	end_range(c, p);
	emit_label(c, "born");
	resume_window(c, p);

	emit_label(c, "traced");
	emit_jump_if_imm(c, R8, JEQ, 0, "new");
	set_start(c, p);
	open_range(c);
	emit_jump(c, "tell");
	emit_label(c, "new");
	note_older_socket(c, p);
	emit_label(c, "tell");
	tell_send(c, p);
	if (p->end_at_send)
		dt_emit_end_own_window(c, p);
	emit_out(c, 0);
}

/* A send has ended (sock_send_length). On the socket of the request, it was the answer. */
void dt_end(struct bpf_code *c, const struct dt_plan *p)
{
	emit_load(c, SIZE_DW, R8, R1, 8);
	dt_emit_socket_arg(c, 0);
	dt_emit_current_traced(c, p);
	emit_set_imm(c, R7, dt_task, sending, 0);
	emit_jump32_if_imm(c, R8, JSLE, 0, "out");
	dt_emit_end_own_window(c, p);
	emit_out(c, 0);
}

/* R1 = the EtherType at this offset of the packet R6. Jump to "out" if the packet ends before. */
static void ether_type(struct bpf_code *c, int at)
{
	emit_mov_imm(c, R2, at);
	dt_emit_packet_bytes(c, WORD, 2);
	emit_load(c, SIZE_H, R1, FP, WORD);
	emit_from_be(c, R1, 16);
}

/* R7 = offset of the IP header, after the Ethernet header and one tag. */
static void skip_ethernet(struct bpf_code *c)
{
	ether_type(c, 12);
	emit_jump_if_imm(c, R1, JEQ, 0x8100, "tagged");
	emit_jump_if_imm(c, R1, JNE, 0x88a8, "plain");
	emit_label(c, "tagged");
	emit_alu_imm(c, ALU_ADD, R7, 4);
	ether_type(c, 16);
	emit_label(c, "plain");
	/* do not take a second tag, or MPLS labels, for an IP header */
	emit_jump_if_imm(c, R1, JEQ, 0x0800, "is_ip");
	emit_jump_if_imm(c, R1, JNE, 0x86dd, "out");
	emit_label(c, "is_ip");
}

/* R8 = the struct dt_sent of the packet's socket. Jump to "out" unless it has a range. */
static void find_range(struct bpf_code *c, const struct dt_plan *p)
{
	emit_load(c, SIZE_DW, R1, R6, K_SKB_SK);
	emit_jump_if_imm(c, R1, JEQ, 0, "out");
	dt_emit_socket_key(c, p, offsetof(struct dt_state, socket_out));
	emit_find(c, p->sent, SOCKET, R0, "out");
	dt_emit_jump_flags(c, R0, SENT_RANGE, JEQ, 0, "out");
	emit_mov(c, R8, R0);
}

/* Jump to "out" unless some of the R9 bytes of data after HEADER are in the range. */
static void check_overlap(struct bpf_code *c, const struct dt_plan *p)
{
	/* R2 = sequence number of the first byte, R9 = of the byte after the last */
	emit_load(c, SIZE_W, R2, FP, HEADER + 4);
	emit_from_be(c, R2, 32);
	emit_alu32(c, ALU_ADD, R9, R2);
	emit_get(c, R3, R8, dt_sent, start);
	dt_emit_jump_seq(c, R9, R3, JSLE, "out");
	dt_emit_jump_flags(c, R8, SENT_OPEN, JNE, 0, "open");
	emit_get(c, R3, R8, dt_sent, end);
	dt_emit_jump_seq(c, R2, R3, JSGE, "out");
	emit_label(c, "open");
	if (p->flags & DT_ONCE) {
		/* a retransmission: a device on the way may have dropped it for its mark */
		emit_get(c, R3, R8, dt_sent, high);
		dt_emit_jump_seq(c, R2, R3, JSLT, "out");
		emit_set(c, R8, dt_sent, high, R9);
	}
}

/* Set the mark in the packet. The helper keeps the checksum right, even if the device makes it. */
static void set_mark(struct bpf_code *c)
{
	emit_load(c, SIZE_H, R8, FP, HEADER + 12);
	emit_mov(c, R9, R8);
	emit_alu_imm(c, ALU_OR, R9, __BYTE_ORDER == __LITTLE_ENDIAN ? MARK : MARK << 8);
	emit_jump_if(c, R9, JEQ, R8, "out");
	emit_store(c, SIZE_H, FP, WORD, R9);
	emit_mov(c, R1, R6);
	emit_address(c, R2, R7, 16);
	emit_mov(c, R3, R8);
	emit_mov(c, R4, R9);
	emit_mov_imm(c, R5, 2);
	emit_call(c, FN_L4_CSUM_REPLACE);
	emit_mov(c, R1, R6);
	emit_address(c, R2, R7, 12);
	emit_address(c, R3, FP, WORD);
	emit_mov_imm(c, R4, 2);
	emit_mov_imm(c, R5, 0);
	emit_call(c, FN_SKB_STORE_BYTES);
}

/*
 * A packet leaves by the egress of a device. Set the mark if its data contain marked bytes of
 * its socket.
 */
static void mark(struct bpf_code *c, const struct dt_plan *p, int ethernet)
{
	emit_mov(c, R6, R1);
	find_range(c, p);
	emit_mov_imm(c, R7, ethernet ? ETHERNET : 0);
	if (ethernet)
		skip_ethernet(c);
	dt_emit_tcp_data(c);
	check_overlap(c, p);
	set_mark(c);
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
