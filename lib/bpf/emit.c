/* SPDX-License-Identifier: ISC */
/* emit.c - emit instructions of the BPF machine, one per call, with labels */
#include <endian.h>

#include "base/base.h"
#include "bpf/bpf.h"
#include "bpf/code.h"

/*
 * Append an instruction and return its index. If the program is too long, only n grows; bpf_load
 * refuses the program.
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

void bpf_begin(struct bpf_code *c, const struct bpf_slot *slots, const struct bpf_alone *alone)
{
	memset(c, 0, sizeof(*c));
	c->slots = slots;
	c->alone = alone && alone->disable ? alone : NULL;
}

void emit_mov(struct bpf_code *c, enum bpf_reg to, enum bpf_reg from)
{
	emit_alu(c, ALU_MOV, to, from);
}

void emit_mov_imm(struct bpf_code *c, enum bpf_reg to, int32_t n)
{
	emit_alu_imm(c, ALU_MOV, to, n);
}

void emit_load(struct bpf_code *c, enum bpf_size w, enum bpf_reg to, enum bpf_reg from, int at)
{
	emit(c, BPF_LDX | MEMORY | (int)w, to, from, at, 0);
}

void emit_store(struct bpf_code *c, enum bpf_size w, enum bpf_reg to, int at, enum bpf_reg from)
{
	emit(c, BPF_STX | MEMORY | (int)w, to, from, at, 0);
}

void emit_store_imm(struct bpf_code *c, enum bpf_size w, enum bpf_reg to, int at, int32_t n)
{
	emit(c, BPF_ST | MEMORY | (int)w, to, R0, at, n);
}

void emit_move(struct bpf_code *c, enum bpf_size w, enum bpf_reg to, int at, enum bpf_reg from,
	       int from_at)
{
	emit_load(c, w, R1, from, from_at);
	emit_store(c, w, to, at, R1);
}

void emit_alu(struct bpf_code *c, enum bpf_alu a, enum bpf_reg to, enum bpf_reg from)
{
	emit(c, BPF_ALU64 | BY_REGISTER | (int)a, to, from, 0, 0);
}

void emit_alu32(struct bpf_code *c, enum bpf_alu a, enum bpf_reg to, enum bpf_reg from)
{
	emit(c, BPF_ALU32 | BY_REGISTER | (int)a, to, from, 0, 0);
}

void emit_alu_imm(struct bpf_code *c, enum bpf_alu a, enum bpf_reg to, int32_t n)
{
	emit(c, BPF_ALU64 | (int)a, to, R0, 0, n);
}

void emit_from_be(struct bpf_code *c, enum bpf_reg r, int bits)
{
	emit(c, BPF_ALU32 | TO_BIG, r, R0, 0, bits);
}

void emit_address(struct bpf_code *c, enum bpf_reg to, enum bpf_reg from, int at)
{
	emit_mov(c, to, from);
	emit_alu_imm(c, ALU_ADD, to, at);
}

void emit_add(struct bpf_code *c, enum bpf_reg to, int at, enum bpf_reg from)
{
	emit(c, BPF_STX | ATOMIC | SIZE_DW, to, from, at, 0);
}

void emit_count(struct bpf_code *c, enum bpf_reg to, int at)
{
	emit_mov_imm(c, R1, 1);
	emit_add(c, to, at, R1);
}

void emit_cmpxchg(struct bpf_code *c, enum bpf_reg to, int at, enum bpf_reg from)
{
	emit(c, BPF_STX | ATOMIC | SIZE_DW, to, from, at, CMPXCHG);
}

/* Emit the load of a 64-bit constant, which takes two instructions. */
static void wide(struct bpf_code *c, enum bpf_reg to, int source, uint64_t n)
{
	emit(c, BPF_LD | WIDE, to, (enum bpf_reg)source, 0, (int32_t)n);
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

void emit_value(struct bpf_code *c, enum bpf_reg to, int map)
{
	wide(c, to, MAP_VALUE, (uint32_t)map);
}

void emit_lookup(struct bpf_code *c, int map, int key)
{
	emit_map(c, map, key);
	emit_call(c, FN_MAP_LOOKUP_ELEM);
}

void emit_find(struct bpf_code *c, int map, int key, enum bpf_reg to, const char *skip)
{
	emit_lookup(c, map, key);
	emit_jump_if_imm(c, R0, JEQ, 0, skip);
	if (to != R0)
		emit_mov(c, to, R0);
}

void emit_update(struct bpf_code *c, int map, int key, enum bpf_reg from, int at, int how)
{
	emit_map(c, map, key);
	if (at)
		emit_address(c, R3, from, at);
	else
		emit_mov(c, R3, from);
	emit_mov_imm(c, R4, how);
	emit_call(c, FN_MAP_UPDATE_ELEM);
}

void emit_delete(struct bpf_code *c, int map, int key)
{
	emit_map(c, map, key);
	emit_call(c, FN_MAP_DELETE_ELEM);
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

static void jumps(struct bpf_code *c, int code, enum bpf_reg a, enum bpf_reg b, int32_t n,
		  const char *to)
{
	unsigned at = emit(c, code, a, b, 0, n);

	c->to[at] = to;
	c->in[at] = (uint16_t)c->scope;
}

void emit_jump(struct bpf_code *c, const char *to)
{
	jumps(c, BPF_JMP, R0, R0, 0, to);
}

void emit_jump_if(struct bpf_code *c, enum bpf_reg a, enum bpf_jump is, enum bpf_reg b,
		  const char *to)
{
	jumps(c, BPF_JMP | BY_REGISTER | (int)is, a, b, 0, to);
}

void emit_jump_if_imm(struct bpf_code *c, enum bpf_reg a, enum bpf_jump is, int32_t b,
		      const char *to)
{
	jumps(c, BPF_JMP | (int)is, a, R0, b, to);
}

void emit_jump32_if_imm(struct bpf_code *c, enum bpf_reg a, enum bpf_jump is, int32_t b,
			const char *to)
{
	jumps(c, BPF_JMP32 | (int)is, a, R0, b, to);
}

void emit_may_goto(struct bpf_code *c, const char *to)
{
	jumps(c, BPF_JMP | MAY_GOTO, R0, R0, 0, to);
}

void emit_label(struct bpf_code *c, const char *name)
{
	if (c->nlabels < LABELS_MOST) /* emit_resolve refuses jumps to further ones */
		c->labels[c->nlabels++] = (struct bpf_label){ name, c->scope, c->n };
}

void emit_scope(struct bpf_code *c)
{
	c->outer = c->scope;
	c->scope = ++c->scopes;
}

void emit_scope_end(struct bpf_code *c)
{
	c->scope = c->outer;
	c->outer = 0;
}

void emit_call(struct bpf_code *c, enum bpf_helper h)
{
	emit(c, BPF_JMP | CALL, R0, R0, 0, (int32_t)h);
}

void emit_copy(struct bpf_code *c, enum bpf_helper h, int slot, int n, enum bpf_reg from, int at)
{
	emit_address(c, R3, from, at);
	emit_address(c, R1, FP, slot);
	emit_mov_imm(c, R2, n);
	emit_call(c, h);
}

/* Call the kernel's function with this BTF id. */
static void call_kernel(struct bpf_code *c, uint32_t function, const char *name)
{
	unsigned at = emit(c, BPF_JMP | CALL, R0, (enum bpf_reg)KERNEL_FUNCTION, 0,
			   (int32_t)function);

	c->to[at] = name;
	c->in[at] = KERNEL_NAME;
}

void emit_cast(struct bpf_code *c, uint32_t function, uint32_t type)
{
	emit_mov_imm(c, R2, (int32_t)type);
	call_kernel(c, function, "bpf_rdonly_cast");
}

void emit_alone(struct bpf_code *c)
{
	if (!c->alone)
		return;
	call_kernel(c, c->alone->disable, "bpf_preempt_disable");
	c->is_alone = 1;
}

/*
 * Let other tasks run again. If one waits, bpf_preempt_enable runs it at once, within this program,
 * unless interrupts are disabled; bpf_local_irq_restore does not.
 */
static void end_alone(struct bpf_code *c)
{
	enum { FLAGS = -8 };

	emit_address(c, R1, FP, FLAGS);
	call_kernel(c, c->alone->save, "bpf_local_irq_save");
	call_kernel(c, c->alone->enable, "bpf_preempt_enable");
	emit_address(c, R1, FP, FLAGS);
	call_kernel(c, c->alone->restore, "bpf_local_irq_restore");
}

void emit_function(struct bpf_code *c, const char *name)
{
	emit_label(c, name);
	if (c->nfunctions < FUNCTIONS_MOST) /* the kernel refuses further functions */
		c->functions[c->nfunctions++] = c->n;
}

void emit_call_function(struct bpf_code *c, const char *name)
{
	jumps(c, BPF_JMP | CALL, R0, (enum bpf_reg)FUNCTION, 0, name);
}

void emit_exit(struct bpf_code *c, int32_t n)
{
	emit_mov_imm(c, R0, n);
	emit(c, BPF_JMP | EXIT, R0, R0, 0, 0);
}

void emit_out(struct bpf_code *c, int32_t n)
{
	emit_label(c, "out");
	if (c->is_alone)
		end_alone(c);
	emit_label(c, "exit");
	emit_exit(c, n);
}

/* A jump in a scope leads to a label of that scope, or else to one outside of all scopes. */
const struct bpf_label *emit_target(const struct bpf_code *c, unsigned jump)
{
	const struct bpf_label *found = NULL;

	for (const struct bpf_label *l = c->labels; l < c->labels + c->nlabels; l++)
		if ((l->scope == c->in[jump] || (!l->scope && !found)) &&
		    !strcmp(l->name, c->to[jump]))
			found = l;
	return found;
}

int emit_resolve(struct bpf_code *c, char *why, size_t size)
{
	const struct bpf_label *label;

	if (c->n > CODE_MOST) {
		str_format(why, size, "it has more than %d instructions", CODE_MOST);
		return -1;
	}
	for (unsigned i = 0; i < c->n; i++) {
		if (!c->to[i] || c->in[i] == KERNEL_NAME)
			continue;
		label = emit_target(c, i);
		if (!label) {
			str_format(why, size, "it has no label %s", c->to[i]);
			return -1;
		}
		/* a distance counts from the instruction after the jump */
		if (c->v[i].code == (BPF_JMP | CALL))
			c->v[i].imm = (int32_t)(label->at - (i + 1));
		else
			c->v[i].off = (int16_t)(label->at - (i + 1));
	}
	return 0;
}
