/* SPDX-License-Identifier: ISC */
/* dtout.c - programs of what is sent: by whom, and how it leaves */
#include <endian.h>

#include "dtprog.h"

enum { CONTINUE = -1, ETHERNET = 14 };

/*
 * A thread sends on a socket, whose lock it holds: what it is about to put at
 * write_seq is marked if the thread is traced, else not. Called once for each
 * call, or (the tracepoint) for each buffer of it.
 */
void dt_send(struct code *c, const struct dt_plan *p)
{
	enum { OUT, TRACED, NONE, CLOSED_RANGE, START, MARKED, TELL, TOLD, NEW, BORN, LOOKED,
	       PASSED_ON, ACCEPTED, ANSWER };

	socket_argument(c, p->first_argument);
	who(c, p);
	lookup(c, p->sent, SOCKET);
	compute(c, SET, R8, R0);
	jump_if_number(c, R8, IS, 0, LOOKED);
	store_number(c, U32, R8, offsetof(struct dt_sent, asked), 0);
	label(c, LOOKED);
	lookup(c, p->pids, WHO);
	compute(c, SET, R7, R0);
	jump_if_number(c, R7, IS_NOT, 0, TRACED);

	/* untraced: the range ends here; once all of it has arrived it is none */
	jump_if_number(c, R8, IS, 0, OUT);
	load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
	jump_if_number(c, R1, HAS, SENT_BORN, BORN);
	compute_number(c, AND_, R1, SENT_RANGE | SENT_OPEN);
	jump_if_number(c, R1, IS, 0, OUT);
	jump_if_number(c, R1, IS, SENT_RANGE, CLOSED_RANGE);
	field(c, U32, R9, R6, p->write_seq);
	store(c, U32, R8, offsetof(struct dt_sent, end), R9);
	load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
	compute_number(c, AND_, R1, ~SENT_OPEN);
	store(c, U32, R8, offsetof(struct dt_sent, flags), R1);
	leave(c, 0);
	label(c, CLOSED_RANGE);
	field(c, U32, R9, R6, p->snd_una);
	load(c, U32, R2, R8, offsetof(struct dt_sent, end));
	jump_if_before(c, R9, R2, LESS, OUT);
	load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
	compute_number(c, AND_, R1, ~SENT_RANGE);
	store(c, U32, R8, offsetof(struct dt_sent, flags), R1);
	leave(c, 0);

	/*
	 * An event loop goes on with the request that it opened this connection for,
	 * and was with another one meanwhile.
	 */
	label(c, BORN);
	begin_value(c);
	load(c, U64, R1, R8, offsetof(struct dt_sent, tag));
	store(c, U64, FP, VALUE + (int)offsetof(struct dt_task, tag), R1);
	load(c, U64, R1, R8, offsetof(struct dt_sent, key));
	store(c, U64, FP, VALUE + (int)offsetof(struct dt_task, key), R1);
	store(c, U64, FP, MESSAGE, R1);
	update(c, p->pids, WHO);
	tell(c, p, 'B');
	lookup(c, p->pids, WHO);
	jump_if_number(c, R0, IS, 0, OUT);
	compute(c, SET, R7, R0);

	label(c, TRACED);
	jump_if_number(c, R8, IS, 0, NEW);
	/*
	 * R9 = where the marked bytes begin. Those of an older range that are still
	 * on their way stay marked, and what lies between; those that arrived do not.
	 */
	field(c, U32, R9, R6, p->snd_una);
	load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
	compute_number(c, AND_, R1, SENT_RANGE | SENT_OPEN);
	jump_if_number(c, R1, IS, SENT_RANGE | SENT_OPEN, START);
	jump_if_number(c, R1, IS_NOT, SENT_RANGE, NONE);
	load(c, U32, R2, R8, offsetof(struct dt_sent, end));
	jump_if_before(c, R9, R2, LESS, START);
	label(c, NONE);
	field(c, U32, R9, R6, p->write_seq);
	store(c, U32, R8, offsetof(struct dt_sent, start), R9);
	store(c, U32, R8, offsetof(struct dt_sent, high), R9);
	jump(c, MARKED);
	label(c, START);
	load(c, U32, R2, R8, offsetof(struct dt_sent, start));
	jump_if_before(c, R9, R2, AT_MOST, MARKED);
	store(c, U32, R8, offsetof(struct dt_sent, start), R9);
	label(c, MARKED);
	load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
	/* whose request it is is known, or was told with the first part of this send */
	jump_if_number(c, R1, HAS, SENT_BORN, PASSED_ON);
	load(c, U64, R2, R7, offsetof(struct dt_task, sending));
	jump_if(c, R2, IS, R6, PASSED_ON);
	load(c, U64, R2, R7, offsetof(struct dt_task, tag));
	jump_if(c, R2, IS, R6, PASSED_ON);
	store(c, U64, R8, offsetof(struct dt_sent, tag), R2);
	label(c, PASSED_ON);
	compute_number(c, OR_, R1, SENT_RANGE | SENT_OPEN | SENT_EVER);
	compute_number(c, AND_, R1, ~SENT_BORN);
	store(c, U32, R8, offsetof(struct dt_sent, flags), R1);
	jump(c, TELL);

	label(c, NEW);
	/*
	 * A socket that is older than the probe. Who passes a request on there has
	 * connected.
	 */
	begin_older(c, p);
	compute_number(c, SET, R8, SENT_RANGE | SENT_OPEN | SENT_EVER);
	jump_if_number(c, R9, IS_NOT, 0, ACCEPTED);
	load(c, U64, R1, R7, offsetof(struct dt_task, tag));
	jump_if(c, R1, IS, R6, ANSWER);
	store(c, U64, FP, VALUE + (int)offsetof(struct dt_sent, tag), R1);
	compute_number(c, OR_, R8, SENT_ACTIVE);
	jump(c, ANSWER);
	label(c, ACCEPTED);
	compute_number(c, OR_, R8, SENT_PASSIVE);
	label(c, ANSWER);
	field(c, U32, R9, R6, p->write_seq);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, start), R9);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, end), R9);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, high), R9);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, flags), R8);
	update(c, p->sent, SOCKET);

	label(c, TELL);
	load(c, U64, R1, R7, offsetof(struct dt_task, sending));
	jump_if(c, R1, IS, R6, TOLD);
	if (!p->end_at_send)
		store(c, U64, R7, offsetof(struct dt_task, sending), R6);
	field(c, U32, R9, R6, p->write_seq);
	message(c, p, R9, 1);
	tell(c, p, 'M');
	label(c, TOLD);
	if (p->end_at_send) {
		load(c, U64, R1, R7, offsetof(struct dt_task, tag));
		jump_if(c, R1, IS_NOT, R6, OUT);
		end_window(c, p);
	}
	label(c, OUT);
	leave(c, 0);
}

/* The send is done (sock_send_length, with what it returned): that was the answer. */
void dt_end(struct code *c, const struct dt_plan *p)
{
	enum { OUT };

	load(c, U64, R8, R1, 8);
	socket_argument(c, 0);
	who_is_traced(c, p, OUT);
	store_number(c, U64, R7, offsetof(struct dt_task, sending), 0);
	jump_if_number32(c, R8, AT_MOST, 0, OUT);
	load(c, U64, R1, R7, offsetof(struct dt_task, tag));
	jump_if(c, R1, IS_NOT, R6, OUT);
	end_window(c, p);
	label(c, OUT);
	leave(c, 0);
}

/* R1 = the type of what follows, as the packet of R6 has it there; too short: to skip */
static void ether_type(struct code *c, int at, int skip)
{
	compute_number(c, SET, R2, at);
	packet_bytes(c, WORD, 2, skip);
	load(c, U16, R1, FP, WORD);
	from_network(c, R1, 16);
}

/*
 * A packet leaves by a device (its egress): it carries the mark if its data meet
 * the marked bytes of its socket. All checksums stay right: the helper knows
 * whether the device is to compute them.
 */
static void mark(struct code *c, const struct dt_plan *p, int ethernet)
{
	enum { OUT, V6, TCP_HEADER, TAGGED, PLAIN, IS_IP, OPEN };

	compute(c, SET, R6, R1);
	load(c, U64, R1, R6, SKB_SK);
	jump_if_number(c, R1, IS, 0, OUT);
	socket_key(c, p, offsetof(struct dt_state, socket_out), OUT);
	lookup(c, p->sent, SOCKET);
	jump_if_number(c, R0, IS, 0, OUT);
	load(c, U32, R1, R0, offsetof(struct dt_sent, flags));
	compute_number(c, AND_, R1, SENT_RANGE);
	jump_if_number(c, R1, IS, 0, OUT);
	compute(c, SET, R8, R0);
	compute_number(c, SET, R7, ethernet ? ETHERNET : 0);
	if (ethernet) {
		ether_type(c, 12, OUT);
		jump_if_number(c, R1, IS, 0x8100, TAGGED);
		jump_if_number(c, R1, IS_NOT, 0x88a8, PLAIN);
		label(c, TAGGED);
		compute_number(c, PLUS, R7, 4);
		ether_type(c, 16, OUT);
		label(c, PLAIN);
		/* neither a second tag nor labels may be taken for an IP header */
		jump_if_number(c, R1, IS, 0x0800, IS_IP);
		jump_if_number(c, R1, IS_NOT, 0x86dd, OUT);
		label(c, IS_IP);
	}
	tcp_data(c, V6, TCP_HEADER, OUT);
	load(c, U32, R2, FP, HEADER + 4);
	from_network(c, R2, 32);
	compute32(c, PLUS, R9, R2);
	/* R2 = the first byte, R9 = the one behind the last */
	load(c, U32, R3, R8, offsetof(struct dt_sent, start));
	jump_if_before(c, R9, R3, AT_MOST, OUT);
	load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
	compute_number(c, AND_, R1, SENT_OPEN);
	jump_if_number(c, R1, IS_NOT, 0, OPEN);
	load(c, U32, R3, R8, offsetof(struct dt_sent, end));
	jump_if_before(c, R2, R3, AT_LEAST, OUT);
	label(c, OPEN);
	if (p->flags & DT_ONCE) {
		/* sent before: a box on the way may drop what is marked */
		load(c, U32, R3, R8, offsetof(struct dt_sent, high));
		jump_if_before(c, R2, R3, LESS, OUT);
		store(c, U32, R8, offsetof(struct dt_sent, high), R9);
	}
	load(c, U16, R8, FP, HEADER + 12);
	compute(c, SET, R9, R8);
	compute_number(c, OR_, R9, __BYTE_ORDER == __LITTLE_ENDIAN ? MARK : MARK << 8);
	jump_if(c, R9, IS, R8, OUT);
	store(c, U16, FP, WORD, R9);
	compute(c, SET, R1, R6);
	compute(c, SET, R2, R7);
	compute_number(c, PLUS, R2, 16);
	compute(c, SET, R3, R8);
	compute(c, SET, R4, R9);
	compute_number(c, SET, R5, 2);
	call(c, L4_CSUM_REPLACE);
	compute(c, SET, R1, R6);
	compute(c, SET, R2, R7);
	compute_number(c, PLUS, R2, 12);
	stack(c, R3, WORD);
	compute_number(c, SET, R4, 2);
	compute_number(c, SET, R5, 0);
	call(c, STORE_BYTES);
	count(c, p, offsetof(struct dt_state, marked_out), OUT);
	label(c, OUT);
	leave(c, CONTINUE);
}

void dt_egress(struct code *c, const struct dt_plan *p)
{
	mark(c, p, 1);
}

void dt_egress_bare(struct code *c, const struct dt_plan *p)
{
	mark(c, p, 0);
}
