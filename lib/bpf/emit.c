/* SPDX-License-Identifier: ISC */
/* emit.c - emit instructions of the BPF machine, one per call, with labels */
#include <endian.h>
#include <string.h>

#include "bpf/bpf.h"

/* Classes of instructions, and the bits that select a variant. */
enum { LD = 0x00, LDX = 0x01, ST = 0x02, STX = 0x03, ALU32 = 0x04, JMP = 0x05, JMP32 = 0x06,
       ALU64 = 0x07 };
enum { MEMORY = 0x60, ATOMIC = 0xc0, BY_REGISTER = 0x08, WIDE = 0x18, TO_BIG = 0xd0 | 0x08,
       CALL = 0x80, EXIT = 0x90, MAP_DESCRIPTOR = 1 };

/*
 * Append an instruction and return its index. In a program that is too long only n goes on;
 * bpf_load refuses the program.
 */
static unsigned emit(struct bpf_code *c, int code, enum bpf_reg to, enum bpf_reg from,
		     int off, int32_t imm)
{
	unsigned at = c->n < CODE_MOST ? c->n : 0;
	struct bpf_insn *i = &c->v[at];

	c->n++;
	i->code = (uint8_t)code;
	i->regs = (uint8_t)(__BYTE_ORDER == __LITTLE_ENDIAN ? from << 4 | to : to << 4 | from);
	i->off = (int16_t)off;
	i->imm = imm;
	return at;
}

void emit_load(struct bpf_code *c, enum bpf_size w, enum bpf_reg to, enum bpf_reg from, int at)
{
	emit(c, LDX | MEMORY | (int)w, to, from, at, 0);
}

void emit_store(struct bpf_code *c, enum bpf_size w, enum bpf_reg to, int at, enum bpf_reg from)
{
	emit(c, STX | MEMORY | (int)w, to, from, at, 0);
}

void emit_store_imm(struct bpf_code *c, enum bpf_size w, enum bpf_reg to, int at, int32_t n)
{
	emit(c, ST | MEMORY | (int)w, to, R0, at, n);
}

void emit_alu(struct bpf_code *c, enum bpf_alu a, enum bpf_reg to, enum bpf_reg from)
{
	emit(c, ALU64 | BY_REGISTER | (int)a, to, from, 0, 0);
}

void emit_alu32(struct bpf_code *c, enum bpf_alu a, enum bpf_reg to, enum bpf_reg from)
{
	emit(c, ALU32 | BY_REGISTER | (int)a, to, from, 0, 0);
}

void emit_alu_imm(struct bpf_code *c, enum bpf_alu a, enum bpf_reg to, int32_t n)
{
	emit(c, ALU64 | (int)a, to, R0, 0, n);
}

void emit_from_be(struct bpf_code *c, enum bpf_reg r, int bits)
{
	emit(c, ALU32 | TO_BIG, r, R0, 0, bits);
}

void emit_address(struct bpf_code *c, enum bpf_reg to, enum bpf_reg from, int at)
{
	emit_alu(c, ALU_MOV, to, from);
	emit_alu_imm(c, ALU_ADD, to, at);
}

void emit_count(struct bpf_code *c, enum bpf_reg to, int at)
{
	emit_alu_imm(c, ALU_MOV, R1, 1);
	emit(c, STX | ATOMIC | SIZE_DW, to, R1, at, 0);
}

void emit_cmpxchg(struct bpf_code *c, enum bpf_reg to, int at, enum bpf_reg from)
{
	emit(c, STX | ATOMIC | SIZE_DW, to, from, at, 0xf1);
}

/* Emit the load of a 64-bit constant, which takes two instructions. */
static void wide(struct bpf_code *c, enum bpf_reg to, int source, uint64_t n)
{
	emit(c, LD | WIDE, to, (enum bpf_reg)source, 0, (int32_t)n);
	emit(c, 0, R0, R0, 0, (int32_t)(n >> 32));
}

void emit_load_imm64(struct bpf_code *c, enum bpf_reg to, uint64_t n)
{
	wide(c, to, 0, n);
}

void emit_map(struct bpf_code *c, int map, int key)
{
	wide(c, R1, MAP_DESCRIPTOR, (uint32_t)map);
	emit_address(c, R2, FP, key);
}

void emit_string(struct bpf_code *c, enum bpf_reg to, int at, const char *text)
{
	size_t n = strlen(text) + 1;

	for (size_t i = 0; i < n; i += 8) {
		uint64_t eight = 0;

		memcpy(&eight, text + i, n - i < 8 ? n - i : 8);
		emit_load_imm64(c, R1, eight);
		emit_store(c, SIZE_DW, to, at + (int)i, R1);
	}
}

static void jumps(struct bpf_code *c, int code, enum bpf_reg a, enum bpf_reg b, int32_t n, int to)
{
	c->label[emit(c, code, a, b, 0, n)] = (uint8_t)(to + 1);
}

void emit_jump(struct bpf_code *c, int to)
{
	jumps(c, JMP, R0, R0, 0, to);
}

void emit_jump_if(struct bpf_code *c, enum bpf_reg a, enum bpf_jump is, enum bpf_reg b, int to)
{
	jumps(c, JMP | BY_REGISTER | (int)is, a, b, 0, to);
}

void emit_jump_if_imm(struct bpf_code *c, enum bpf_reg a, enum bpf_jump is, int32_t b, int to)
{
	jumps(c, JMP | (int)is, a, R0, b, to);
}

void emit_jump32_if_imm(struct bpf_code *c, enum bpf_reg a, enum bpf_jump is, int32_t b, int to)
{
	jumps(c, JMP32 | (int)is, a, R0, b, to);
}

void emit_label(struct bpf_code *c, int n)
{
	c->here[n] = c->n + 1;
}

void emit_call(struct bpf_code *c, enum bpf_helper h)
{
	emit(c, JMP | CALL, R0, R0, 0, (int32_t)h);
}

void emit_exit(struct bpf_code *c, int32_t n)
{
	emit_alu_imm(c, ALU_MOV, R0, n);
	emit(c, JMP | EXIT, R0, R0, 0, 0);
}

void emit_out(struct bpf_code *c, int32_t n)
{
	emit_label(c, OUT);
	emit_exit(c, n);
}

/* A distance counts from the instruction after the jump. */
void emit_resolve(struct bpf_code *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->label[i])
			c->v[i].off = (int16_t)(c->here[c->label[i] - 1] - 1 - (i + 1));
}
