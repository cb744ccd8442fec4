/* SPDX-License-Identifier: ISC */
/* program.c - phrases of instructions that the programs of a request probe share */
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "base/base.h"
#include "host/host.h"
#include "calls/calls.h"
#include "bpf/bpf.h"
#include "live/live.h"
#include "requests.h"
#include "program.h"

const struct bpf_slot dt_slots[] = { DT_SLOTS(BPF_SLOT) { 0 } };

void dt_emit_update(struct bpf_code *c, int map, int slot, int how)
{
	emit_update(c, map, slot, FP, VALUE, how);
}

void dt_emit_field(struct bpf_code *c, enum bpf_size w, enum bpf_reg to, int at)
{
	emit_copy(c, FN_PROBE_READ_KERNEL, WORD, w == SIZE_B ? 1 : 4, R6, at);
	emit_load(c, w, to, FP, WORD);
}

void dt_emit_jump_flags(struct bpf_code *c, enum bpf_reg sent, int mask, enum bpf_jump is, int n,
			const char *to)
{
	emit_get(c, R1, sent, dt_sent, flags);
	emit_alu_imm(c, ALU_AND, R1, mask);
	emit_jump_if_imm(c, R1, is, n, to);
}

void dt_emit_jump_seq(struct bpf_code *c, enum bpf_reg a, enum bpf_reg b, enum bpf_jump is,
		      const char *to)
{
	emit_alu32(c, ALU_MOV, R1, a);
	emit_alu32(c, ALU_SUB, R1, b);
	emit_jump32_if_imm(c, R1, is, 0, to);
}

void dt_emit_socket_arg(struct bpf_code *c, int at)
{
	emit_load(c, SIZE_DW, R6, R1, at);
	emit_store(c, SIZE_DW, FP, SOCKET, R6);
}

void dt_emit_current(struct bpf_code *c, const struct dt_plan *p)
{
	emit_call(c, FN_GET_CURRENT_PID_TGID);
	if (p->flags & DT_GROUP)
		emit_alu_imm(c, ALU_RSH, R0, 32);
	emit_store(c, SIZE_W, FP, WHO, R0);
}

void dt_emit_current_traced(struct bpf_code *c, const struct dt_plan *p)
{
	dt_emit_current(c, p);
	emit_find(c, p->pids, WHO, R7, "out");
}

/* MESSAGE = R0 as the upper half, and the number in the register as the lower half. */
static void put_key(struct bpf_code *c, enum bpf_reg seq)
{
	emit_alu_imm(c, ALU_LSH, R0, 32);
	emit_alu(c, ALU_OR, R0, seq);
	emit_store(c, SIZE_DW, FP, MESSAGE, R0);
}

/* R0 = the field at offset at, minus the field at offset minus; 32 bits. */
static void difference(struct bpf_code *c, int at, int minus)
{
	dt_emit_field(c, SIZE_W, R0, minus);
	emit_store(c, SIZE_W, FP, MESSAGE, R0);
	dt_emit_field(c, SIZE_W, R0, at);
	emit_load(c, SIZE_W, R1, FP, MESSAGE);
	emit_alu32(c, ALU_SUB, R0, R1);
}

void dt_emit_key_sent(struct bpf_code *c, const struct dt_plan *p, enum bpf_reg seq,
		      const char *skip)
{
	difference(c, p->rcv_nxt, p->bytes_received);
	emit_jump_if_imm(c, R0, JNE, 0, "connected");
	/* before the peer has answered, both fields are 0 */
	dt_emit_field(c, SIZE_B, R0, p->status);
	emit_jump_if_imm(c, R0, JEQ, TCP_SYN_SENT, skip);
	emit_jump_if_imm(c, R0, JEQ, TCP_CLOSE, skip);
	emit_mov_imm(c, R0, 0);
	emit_label(c, "connected");
	put_key(c, seq);
}

void dt_emit_key_read(struct bpf_code *c, const struct dt_plan *p, enum bpf_reg seq)
{
	difference(c, p->snd_una, p->bytes_acked);
	emit_store(c, SIZE_DW, FP, MESSAGE, R0);
	/* a socket that connected counts its SYN as an acknowledged byte */
	emit_find(c, p->sent, SOCKET, R0, "older");
	emit_get(c, R1, R0, dt_sent, flags);
	emit_jump_if_imm(c, R1, JSET, SENT_PASSIVE, "accepted");
	emit_jump_if_imm(c, R1, JSET, SENT_ACTIVE, "connected");
	emit_label(c, "older");
	dt_emit_field(c, SIZE_W, R0, p->backlog);
	emit_jump_if_imm(c, R0, JNE, 0, "accepted");
	emit_label(c, "connected");
	emit_load(c, SIZE_DW, R1, FP, MESSAGE);
	emit_alu_imm(c, ALU_ADD, R1, 1);
	emit_store(c, SIZE_DW, FP, MESSAGE, R1);
	emit_label(c, "accepted");
	emit_load(c, SIZE_DW, R0, FP, MESSAGE);
	put_key(c, seq);
}

void dt_emit_mark(struct bpf_code *c, const struct dt_plan *p, char what)
{
	enum { AT = MARK_RECORD + (int)sizeof(struct ring_head) };
	const char name[] = { 'd', 't', what, '\0' };

	emit_string(c, FP, AT + (int)offsetof(struct mark_record, what), name);
	emit_store_imm(c, SIZE_W, FP, AT + (int)offsetof(struct mark_record, probe),
		       (int32_t)p->id);
	emit_move(c, SIZE_W, FP, AT + (int)offsetof(struct mark_record, task), FP, WHO);
	emit_move(c, SIZE_DW, FP, AT + (int)offsetof(struct mark_record, key), FP, MESSAGE);
	emit_head(c, FP, MARK_RECORD, RECORD_MARK);
	emit_to_readers(c, &p->readers, MARK_RECORD,
			sizeof(struct ring_head) + sizeof(struct mark_record), READERS);
}

void dt_emit_count(struct bpf_code *c, const struct dt_plan *p, size_t counter)
{
	emit_store_imm(c, SIZE_W, FP, WORD, 0);
	emit_find(c, p->state, WORD, R0, "out");
	emit_count(c, R0, (int)counter);
}

void dt_emit_clear_value(struct bpf_code *c, size_t size)
{
	for (int i = 0; i < (int)size; i += 8)
		emit_store_imm(c, SIZE_DW, FP, VALUE + i, 0);
}

void dt_emit_begin_value(struct bpf_code *c)
{
	dt_emit_clear_value(c, sizeof(struct dt_task));
	dt_value_imm(c, dt_task, count, 1);
}

void dt_emit_begin_received(struct bpf_code *c, enum bpf_reg start, enum bpf_reg end,
			    enum bpf_reg read)
{
	emit_mov(c, R1, end);
	emit_alu_imm(c, ALU_LSH, R1, 32);
	emit_alu(c, ALU_OR, R1, start);
	dt_value(c, dt_received, range, R1);
	dt_value(c, dt_received, read, read);
	dt_value_imm(c, dt_received, pad, 0);
}

void dt_emit_begin_older(struct bpf_code *c, const struct dt_plan *p)
{
	dt_emit_clear_value(c, sizeof(struct dt_sent));
	dt_emit_field(c, SIZE_W, R9, p->copied_seq);
	dt_value(c, dt_sent, copied, R9);
	dt_emit_field(c, SIZE_W, R9, p->backlog);
}

void dt_emit_end_window(struct bpf_code *c, const struct dt_plan *p)
{
	emit_get(c, R1, R7, dt_task, key);
	emit_store(c, SIZE_DW, FP, MESSAGE, R1);
	emit_delete(c, p->pids, WHO);
	dt_emit_mark(c, p, 'E');
}

void dt_emit_end_own_window(struct bpf_code *c, const struct dt_plan *p)
{
	emit_get(c, R1, R7, dt_task, tag);
	emit_jump_if(c, R1, JNE, R6, "out");
	dt_emit_end_window(c, p);
}

void dt_emit_socket_key(struct bpf_code *c, const struct dt_plan *p, size_t scratch)
{
	emit_store(c, SIZE_DW, FP, SOCKET, R1);
	emit_store_imm(c, SIZE_W, FP, WORD, 0);
	emit_find(c, p->state, WORD, R0, "out");
	emit_move(c, SIZE_DW, R0, (int)scratch, FP, SOCKET);
	emit_move(c, SIZE_DW, FP, SOCKET, R0, (int)scratch);
	emit_mov(c, R8, R0);
}

void dt_emit_packet_bytes(struct bpf_code *c, int slot, int n)
{
	emit_mov(c, R1, R6);
	emit_address(c, R3, FP, slot);
	emit_mov_imm(c, R4, n);
	emit_call(c, FN_SKB_LOAD_BYTES);
	emit_jump_if_imm(c, R0, JNE, 0, "out");
}

/* R7 = offset of the TCP header, after the header of IPv4, whose first byte is R1. */
static void skip_ip4(struct bpf_code *c)
{
	emit_load(c, SIZE_B, R2, FP, IP + 9);
	emit_jump_if_imm(c, R2, JNE, IPPROTO_TCP, "out");
	emit_load(c, SIZE_H, R2, FP, IP + 6);
	emit_from_be(c, R2, 16);
	emit_alu_imm(c, ALU_AND, R2, 0x1fff); /* a later fragment has no TCP header */
	emit_jump_if_imm(c, R2, JNE, 0, "out");
	emit_alu_imm(c, ALU_AND, R1, 15);
	emit_alu_imm(c, ALU_LSH, R1, 2);
	emit_alu(c, ALU_ADD, R7, R1);
	emit_jump(c, "tcp");
}

/* Do the same after the header of IPv6 and hop-by-hop options. */
static void skip_ip6(struct bpf_code *c)
{
	emit_alu_imm(c, ALU_ADD, R7, 40);
	emit_load(c, SIZE_B, R2, FP, IP + 6);
	emit_jump_if_imm(c, R2, JEQ, IPPROTO_TCP, "tcp");
	emit_jump_if_imm(c, R2, JNE, IPPROTO_HOPOPTS, "out");
	emit_mov(c, R2, R7);
	dt_emit_packet_bytes(c, WORD, 2);
	emit_load(c, SIZE_B, R2, FP, WORD);
	emit_jump_if_imm(c, R2, JNE, IPPROTO_TCP, "out");
	emit_load(c, SIZE_B, R2, FP, WORD + 1);
	emit_alu_imm(c, ALU_LSH, R2, 3);
	emit_alu_imm(c, ALU_ADD, R2, 8);
	emit_alu(c, ALU_ADD, R7, R2);
}

void dt_emit_tcp_data(struct bpf_code *c)
{
	emit_mov(c, R2, R7);
	dt_emit_packet_bytes(c, IP, 24);
	emit_load(c, SIZE_B, R1, FP, IP);
	emit_mov(c, R2, R1);
	emit_alu_imm(c, ALU_RSH, R2, 4);
	emit_jump_if_imm(c, R2, JEQ, 6, "ip6");
	emit_jump_if_imm(c, R2, JNE, 4, "out");
	skip_ip4(c);
	emit_label(c, "ip6");
	skip_ip6(c);
	emit_label(c, "tcp");
	emit_mov(c, R2, R7);
	dt_emit_packet_bytes(c, HEADER, 16);
	/* R9 = length of the packet - R7 - length of the TCP header */
	emit_load(c, SIZE_W, R9, R6, K_SKB_LEN);
	emit_alu(c, ALU_SUB, R9, R7);
	emit_load(c, SIZE_B, R1, FP, HEADER + 12);
	emit_alu_imm(c, ALU_RSH, R1, 4);
	emit_alu_imm(c, ALU_LSH, R1, 2);
	emit_alu(c, ALU_SUB, R9, R1);
	emit_jump_if_imm(c, R9, JSLE, 0, "out");
}
