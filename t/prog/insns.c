/* SPDX-License-Identifier: ISC */
/*
 * insns - print the instructions that lib/bpf/emit.c makes, one per line
 *
 *	insns each       one instruction of every kind
 *	insns jumps      jumps forward, backward, to the next and over a wide instruction
 *	insns rx|read|send|end|state|gone|fork|exit|wait|mark|mark_bare [FLAGS [1]]
 *	insns -S ...     the same as assembly
 * The third form prints a program of bin/requests/program.h, of a request probe with these
 * flags (bin/requests/requests.h). With 1, its windows end at the send. A line is "CODE TO
 * FROM OFFSET NUMBER", with CODE and NUMBER in hexadecimal, as in the kernel's
 * Documentation/bpf/standardization/instruction-set.rst.
 */
#include <endian.h>
#include <stdio.h>

#include "base/base.h"
#include "bpf/bpf.h"
#include "requests/requests.h"
#include "requests/program.h"

static const struct {
	const char *name;
	dt_program *build;
} programs[] = {
	{ "rx", dt_rx }, { "read", dt_read }, { "send", dt_send }, { "end", dt_end },
	{ "state", dt_state }, { "gone", dt_gone }, { "fork", dt_fork }, { "exit", dt_exit },
	{ "wait", dt_wait },
	{ "mark", dt_egress }, { "mark_bare", dt_egress_bare },
};

static void each(struct bpf_code *c)
{
	emit_load(c, SIZE_DW, R1, R2, 8);
	emit_load(c, SIZE_W, R1, R2, -4);
	emit_load(c, SIZE_H, R1, R2, 0);
	emit_load(c, SIZE_B, R1, R2, 12);
	emit_store(c, SIZE_DW, FP, -8, R9);
	emit_store(c, SIZE_B, FP, -512, R0);
	emit_store_imm(c, SIZE_W, FP, -16, -2);
	emit_store_imm(c, SIZE_H, FP, -6, 0xffff);
	emit_mov(c, R6, R1);
	emit_alu(c, ALU_ADD, R6, R1);
	emit_alu(c, ALU_SUB, R6, R1);
	emit_alu(c, ALU_OR, R6, R1);
	emit_alu32(c, ALU_MOV, R6, R6);
	emit_alu32(c, ALU_SUB, R1, R2);
	emit_alu_imm(c, ALU_AND, R3, ~1);
	emit_alu_imm(c, ALU_LSH, R3, 32);
	emit_alu_imm(c, ALU_RSH, R3, 32);
	emit_alu_imm(c, ALU_ARSH, R3, 63);
	emit_from_be(c, R4, 16);
	emit_from_be(c, R4, 32);
	emit_count(c, R0, 24);
	emit_cmpxchg(c, R6, 8, R4);
	emit_map(c, 7, -8);
	emit_load_imm64(c, R2, 0x0123456789abcdef);
	emit_load_imm64(c, R2, 0xffffffff);
	emit_call(c, FN_MAP_LOOKUP_ELEM);
	emit_call(c, FN_PROBE_READ_KERNEL);
	emit_exit(c, -1);
}

static void jumps(struct bpf_code *c)
{
	emit_label(c, "again");
	emit_jump(c, "next");
	emit_label(c, "next");
	emit_jump_if(c, R1, JEQ, R2, "end");
	emit_jump_if(c, R1, JNE, R9, "again");
	emit_jump_if_imm(c, R3, JGT, -5, "over");
	emit_load_imm64(c, R4, 1ull << 32);
	emit_label(c, "over");
	emit_jump32_if_imm(c, R3, JSLT, 5, "again");
	emit_jump32_if_imm(c, R3, JSGE, 5, "end");
	emit_jump_if_imm(c, R3, JSET, 8, "end");
	emit_jump_if_imm(c, R3, JSGT, 8, "end");
	emit_jump32_if_imm(c, R3, JSLE, 8, "end");
	emit_label(c, "unused");
	emit_jump(c, "again");
	emit_label(c, "end");
	emit_exit(c, 0);
}

static const char *map_name(int map)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d", map);
	return text;
}

static void print(const struct bpf_code *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		const struct bpf_insn *in = &c->v[i];
		int low = in->regs & 15, high = in->regs >> 4;

		if (__BYTE_ORDER == __BIG_ENDIAN) {
			low = in->regs >> 4;
			high = in->regs & 15;
		}
		printf("%02x %d %d %d %x\n", in->code, low, high, in->off, (unsigned)in->imm);
	}
}

int main(int argc, char **argv)
{
	static struct bpf_code c;
	struct dt_plan p = { .id = 0x2a, .pids = 3, .received = 4, .sent = 5, .from = 6, .state = 7,
			     .copied_seq = 100, .write_seq = 200, .snd_una = 300, .rcv_nxt = 400,
			     .bytes_acked = 12, .bytes_received = 16,
			     .status = 18, .pid = 500, .tgid = 504 };
	const int as_text = argc > 1 && !strcmp(argv[1], "-S");
	const char *what;
	char why[64];
	int known = 1;

	argc -= as_text;
	argv += as_text;
	what = argc > 1 ? argv[1] : "";
	program_name = "insns";
	p.flags = argc > 2 ? atoi(argv[2]) : 0;
	p.end_at_send = argc > 3;
	if (!strcmp(what, "each"))
		each(&c);
	else if (!strcmp(what, "jumps"))
		jumps(&c);
	else
		known = 0;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs) && !known; i++)
		if (!strcmp(what, programs[i].name)) {
			c.slots = dt_slots;
			programs[i].build(&c, &p);
			known = 1;
		}
	if (!known)
		return 100;
	if (emit_resolve(&c, why, sizeof(why)) < 0) {
		err_msg("%s", why);
		return 111;
	}
	if (as_text) {
		bpf_print(&c, what, map_name);
		stdout_flush();
	} else {
		print(&c);
	}
	return 0;
}
