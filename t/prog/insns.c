/* SPDX-License-Identifier: ISC */
/*
 * insns - what lib/emit.c makes of a program, an instruction a line
 *
 *	insns each       one of every kind of instruction
 *	insns jumps      jumps forward, backward, to the next and over a wide one
 *	insns too-long   more than there is room for
 *	insns rx|read|send|end|state|gone|fork|exit|mark|mark_bare [FLAGS [1]]
 * The last: a program of lib/dtprog.h, of a probe with these flags (lib/dt.h), that
 * ends windows at the send. Prints "CODE TO FROM OFFSET NUMBER", CODE and NUMBER in
 * hexadecimal, as Documentation/bpf/standardization/instruction-set.rst names them.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dt.h"
#include "tfs.h"

static const struct {
	const char *name;
	dt_program *build;
} programs[] = {
	{ "rx", dt_rx }, { "read", dt_read }, { "send", dt_send }, { "end", dt_end },
	{ "state", dt_state }, { "gone", dt_gone }, { "fork", dt_fork }, { "exit", dt_exit },
	{ "mark", dt_egress }, { "mark_bare", dt_egress_bare },
};

static void each(struct code *c)
{
	load(c, U64, R1, R2, 8);
	load(c, U32, R1, R2, -4);
	load(c, U16, R1, R2, 0);
	load(c, U8, R1, R2, 12);
	store(c, U64, FP, -8, R9);
	store(c, U8, FP, -512, R0);
	store_number(c, U32, FP, -16, -2);
	store_number(c, U16, FP, -6, 0xffff);
	compute(c, SET, R6, R1);
	compute(c, PLUS, R6, R1);
	compute(c, MINUS, R6, R1);
	compute(c, OR_, R6, R1);
	compute32(c, SET, R6, R6);
	compute32(c, MINUS, R1, R2);
	compute_number(c, AND_, R3, ~1);
	compute_number(c, LEFT, R3, 32);
	compute_number(c, RIGHT, R3, 32);
	compute_number(c, RIGHT_SIGNED, R3, 63);
	compute_number32(c, SET, R3, -1);
	from_network(c, R4, 16);
	from_network(c, R4, 32);
	add_to(c, R0, 24, R1);
	exchange(c, R6, 8, R4);
	load_map(c, R1, 7);
	load_number(c, R2, 0x0123456789abcdef);
	load_number(c, R2, 0xffffffff);
	call(c, MAP_LOOKUP);
	call(c, READ_KERNEL);
	leave(c, -1);
}

static void jumps(struct code *c)
{
	enum { AGAIN, NEXT, OVER, END, UNUSED };

	label(c, AGAIN);
	jump(c, NEXT);
	label(c, NEXT);
	jump_if(c, R1, IS, R2, END);
	jump_if(c, R1, IS_NOT, R9, AGAIN);
	jump_if_number(c, R3, ABOVE, -5, OVER);
	load_number(c, R4, 1ull << 32);
	label(c, OVER);
	jump_if_number32(c, R3, LESS, 5, AGAIN);
	jump_if_number32(c, R3, AT_LEAST, 5, END);
	jump_if_number(c, R3, HAS, 8, END);
	jump_if_number(c, R3, MORE, 8, END);
	jump_if_number32(c, R3, AT_MOST, 8, END);
	label(c, UNUSED);
	jump(c, AGAIN);
	label(c, END);
	leave(c, 0);
}

int main(int argc, char **argv)
{
	static struct code c;
	struct dt_plan p = { .id = 0x2a, .pids = 3, .received = 4, .sent = 5, .from = 6, .state = 7,
			     .copied_seq = 100, .write_seq = 200, .snd_una = 300, .rcv_nxt = 400,
			     .peer_port = 12, .port = 14, .pid = 500, .tgid = 504 };
	const char *what = argc > 1 ? argv[1] : "";
	int known = 1;

	prog = "insns";
	p.flags = argc > 2 ? atoi(argv[2]) : 0;
	p.end_at_send = argc > 3;
	if (!strcmp(what, "each"))
		each(&c);
	else if (!strcmp(what, "jumps"))
		jumps(&c);
	else if (!strcmp(what, "too-long"))
		for (;;)
			call(&c, TRACE_PRINTK);
	else
		known = 0;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs) && !known; i++)
		if (!strcmp(what, programs[i].name)) {
			programs[i].build(&c, &p);
			known = 1;
		}
	if (!known)
		return 100;
	code_resolve(&c);
	for (unsigned i = 0; i < c.n; i++) {
		const struct insn *in = &c.v[i];
		int low = in->regs & 15, high = in->regs >> 4;

		if (__BYTE_ORDER == __BIG_ENDIAN) {
			low = in->regs >> 4;
			high = in->regs & 15;
		}
		printf("%02x %d %d %d %x\n", in->code, low, high, in->off, (unsigned)in->imm);
	}
	return 0;
}
