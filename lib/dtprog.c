/* SPDX-License-Identifier: ISC */
/* dtprog.c - what the programs of a probe have alike */
#include <string.h>

#include "dtprog.h"

enum { HOP_BY_HOP = 0, TCP = 6 };

void stack(struct code *c, enum reg to, int slot)
{
	compute(c, SET, to, FP);
	compute_number(c, PLUS, to, slot);
}

void lookup(struct code *c, int map, int slot)
{
	load_map(c, R1, map);
	stack(c, R2, slot);
	call(c, MAP_LOOKUP);
}

static void put(struct code *c, int map, int slot, int how)
{
	load_map(c, R1, map);
	stack(c, R2, slot);
	stack(c, R3, VALUE);
	compute_number(c, SET, R4, how);
	call(c, MAP_UPDATE);
}

void update(struct code *c, int map, int slot)
{
	put(c, map, slot, 0);
}

void add(struct code *c, int map, int slot)
{
	put(c, map, slot, 1); /* BPF_NOEXIST */
}

void forget(struct code *c, int map, int slot)
{
	load_map(c, R1, map);
	stack(c, R2, slot);
	call(c, MAP_DELETE);
}

void field(struct code *c, enum width w, enum reg to, enum reg from, int at)
{
	stack(c, R1, WORD);
	compute_number(c, SET, R2, w == U16 ? 2 : 4);
	compute(c, SET, R3, from);
	compute_number(c, PLUS, R3, at);
	call(c, READ_KERNEL);
	load(c, w, to, FP, WORD);
}

void jump_if_before(struct code *c, enum reg a, enum reg b, enum condition is, int to)
{
	compute32(c, SET, R1, a);
	compute32(c, MINUS, R1, b);
	jump_if_number32(c, R1, is, 0, to);
}

void socket_argument(struct code *c, int at)
{
	load(c, U64, R6, R1, at);
	store(c, U64, FP, SOCKET, R6);
}

void who(struct code *c, const struct dt_plan *p)
{
	call(c, CURRENT_PID_TGID);
	if (p->flags & DT_GROUP)
		compute_number(c, RIGHT, R0, 32);
	store(c, U32, FP, WHO, R0);
}

void who_is_traced(struct code *c, const struct dt_plan *p, int skip)
{
	who(c, p);
	lookup(c, p->pids, WHO);
	jump_if_number(c, R0, IS, 0, skip);
	compute(c, SET, R7, R0);
}

void message(struct code *c, const struct dt_plan *p, enum reg seq, int sending)
{
	field(c, U16, R0, R6, p->peer_port);
	from_network(c, R0, 16);
	compute_number(c, LEFT, R0, sending ? 32 : 48);
	store(c, U64, FP, MESSAGE, R0);
	field(c, U16, R0, R6, p->port);
	compute_number(c, LEFT, R0, sending ? 48 : 32);
	load(c, U64, R1, FP, MESSAGE);
	compute(c, OR_, R1, R0);
	compute(c, OR_, R1, seq);
	store(c, U64, FP, MESSAGE, R1);
}

void tell(struct code *c, const struct dt_plan *p, char what)
{
	char text[16] = "dt_ %x %d %llx"; /* Linux 5.10 wants its NUL to be the last byte */
	uint64_t half[2];

	text[2] = what;
	memcpy(half, text, sizeof(half));
	load_number(c, R1, half[0]);
	store(c, U64, FP, TEXT_AT, R1);
	load_number(c, R1, half[1]);
	store(c, U64, FP, TEXT_AT + 8, R1);
	stack(c, R1, TEXT_AT);
	compute_number(c, SET, R2, 15);
	load_number(c, R3, p->id);
	load(c, U32, R4, FP, WHO);
	load(c, U64, R5, FP, MESSAGE);
	call(c, TRACE_PRINTK);
}

void count(struct code *c, const struct dt_plan *p, size_t counter, int skip)
{
	store_number(c, U32, FP, WORD, 0);
	lookup(c, p->state, WORD);
	jump_if_number(c, R0, IS, 0, skip);
	compute_number(c, SET, R1, 1);
	add_to(c, R0, (int)counter, R1);
}

void clear_value(struct code *c, size_t size)
{
	for (int i = 0; i < (int)size; i += 8)
		store_number(c, U64, FP, VALUE + i, 0);
}

void begin_value(struct code *c)
{
	clear_value(c, sizeof(struct dt_task));
	store_number(c, U32, FP, VALUE + (int)offsetof(struct dt_task, count), 1);
}

void begin_received(struct code *c, enum reg start, enum reg end, enum reg read)
{
	compute(c, SET, R1, end);
	compute_number(c, LEFT, R1, 32);
	compute(c, OR_, R1, start);
	store(c, U64, FP, VALUE + (int)offsetof(struct dt_received, range), R1);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_received, read), read);
	store_number(c, U32, FP, VALUE + (int)offsetof(struct dt_received, pad), 0);
}

void begin_older(struct code *c, const struct dt_plan *p)
{
	clear_value(c, sizeof(struct dt_sent));
	field(c, U32, R9, R6, p->copied_seq);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, copied), R9);
	field(c, U32, R9, R6, p->backlog);
}

void end_window(struct code *c, const struct dt_plan *p)
{
	load(c, U64, R1, R7, offsetof(struct dt_task, key));
	store(c, U64, FP, MESSAGE, R1);
	forget(c, p->pids, WHO);
	tell(c, p, 'E');
}

void socket_key(struct code *c, const struct dt_plan *p, size_t place, int skip)
{
	store(c, U64, FP, SOCKET, R1);
	store_number(c, U32, FP, WORD, 0);
	lookup(c, p->state, WORD);
	jump_if_number(c, R0, IS, 0, skip);
	load(c, U64, R1, FP, SOCKET);
	store(c, U64, R0, (int)place, R1);
	load(c, U64, R1, R0, (int)place);
	store(c, U64, FP, SOCKET, R1);
	compute(c, SET, R8, R0);
}

void packet_bytes(struct code *c, int slot, int n, int skip)
{
	compute(c, SET, R1, R6);
	stack(c, R3, slot);
	compute_number(c, SET, R4, n);
	call(c, LOAD_BYTES);
	jump_if_number(c, R0, IS_NOT, 0, skip);
}

void tcp_data(struct code *c, int v6, int tcp, int skip)
{
	compute(c, SET, R2, R7);
	packet_bytes(c, IP, 24, skip);
	load(c, U8, R1, FP, IP);
	compute(c, SET, R2, R1);
	compute_number(c, RIGHT, R2, 4);
	jump_if_number(c, R2, IS, 6, v6);
	jump_if_number(c, R2, IS_NOT, 4, skip);
	load(c, U8, R2, FP, IP + 9);
	jump_if_number(c, R2, IS_NOT, TCP, skip);
	load(c, U16, R2, FP, IP + 6);
	from_network(c, R2, 16);
	compute_number(c, AND_, R2, 0x1fff); /* a later fragment has no TCP header */
	jump_if_number(c, R2, IS_NOT, 0, skip);
	compute_number(c, AND_, R1, 15);
	compute_number(c, LEFT, R1, 2);
	compute(c, PLUS, R7, R1);
	jump(c, tcp);
	label(c, v6);
	compute_number(c, PLUS, R7, 40);
	load(c, U8, R2, FP, IP + 6);
	jump_if_number(c, R2, IS, TCP, tcp);
	jump_if_number(c, R2, IS_NOT, HOP_BY_HOP, skip);
	compute(c, SET, R2, R7);
	packet_bytes(c, WORD, 2, skip);
	load(c, U8, R2, FP, WORD);
	jump_if_number(c, R2, IS_NOT, TCP, skip);
	load(c, U8, R2, FP, WORD + 1);
	compute_number(c, LEFT, R2, 3);
	compute_number(c, PLUS, R2, 8);
	compute(c, PLUS, R7, R2);
	label(c, tcp);
	compute(c, SET, R2, R7);
	packet_bytes(c, HEADER, 16, skip);
	load(c, U32, R9, R6, SKB_LEN);
	compute(c, MINUS, R9, R7);
	load(c, U8, R1, FP, HEADER + 12);
	compute_number(c, RIGHT, R1, 4);
	compute_number(c, LEFT, R1, 2);
	compute(c, MINUS, R9, R1);
	jump_if_number(c, R9, AT_MOST, 0, skip);
}
