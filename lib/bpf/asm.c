/* SPDX-License-Identifier: ISC */
/* asm.c - print programs as assembly, in the syntax of LLVM, with names in comments */
#include <ctype.h>
#include <endian.h>

#include "base/base.h"
#include "bpf/bpf.h"
#include "bpf/code.h"

/* An instruction and its line. */
struct line {
	const struct bpf_code *c;
	const struct bpf_insn *i;
	unsigned to, from;
	struct out out;         /* to text */
	char text[128], comment[64];
};

#define NOTE(l, ...) str_format((l)->comment, sizeof((l)->comment), __VA_ARGS__)

static void decode(struct line *l, const struct bpf_code *c, unsigned at)
{
	const struct bpf_insn *i = &c->v[at];
	const unsigned low = i->regs & 15, high = i->regs >> 4;
	const int little = __BYTE_ORDER == __LITTLE_ENDIAN;

	*l = (struct line){ .c = c, .i = i, .to = little ? low : high,
			    .from = little ? high : low };
	l->out = out_to(l->text, sizeof(l->text));
}

static const char *helper_name(int32_t number)
{
#define CASE(ID, NAME, NUMBER) case NUMBER: return #NAME;
	switch (number) {
	BPF_HELPERS(CASE)
	}
	return "?";
#undef CASE
}

/* Comment on the slot that the address reg + at is in. */
static void note_slot(struct line *l, unsigned reg, int at)
{
	const struct bpf_slot *in = NULL;

	for (const struct bpf_slot *s = l->c->slots; s && s->name; s++)
		if (s->reg == reg && s->at <= at && (!in || s->at > in->at))
			in = s;
	if (in && in->at == at)
		NOTE(l, "%s", in->name);
	else if (in)
		NOTE(l, "%s + %d", in->name, at - in->at);
}

static void print_memory(struct line *l)
{
	static const unsigned bits[] = { 32, 16, 8, 64 };
	const struct bpf_insn *i = l->i;
	const unsigned class = i->code & BPF_CLASS, base = class == BPF_LDX ? l->from : l->to;
	char address[16], place[32];

	str_format(address, sizeof(address), "r%u %c %d", base, i->off < 0 ? '-' : '+',
		   i->off < 0 ? -i->off : i->off);
	str_format(place, sizeof(place), "*(u%u *)(%s)", bits[i->code >> 3 & 3], address);
	note_slot(l, base, i->off);
	if (class == BPF_LDX)
		out_format(&l->out, "r%u = %s", l->to, place);
	else if (class == BPF_ST)
		out_format(&l->out, "%s = %d", place, i->imm);
	else if ((i->code & ATOMIC) != ATOMIC)
		out_format(&l->out, "%s = r%u", place, l->from);
	else if (i->imm == CMPXCHG)
		out_format(&l->out, "r0 = cmpxchg_64(%s, r0, r%u)", address, l->from);
	else
		out_format(&l->out, "lock %s += r%u", place, l->from);
}

/* Append "REGISTER OPERATION OPERAND", where the operand is a register or a number. */
static void add_operation(struct line *l, int is_64, const char *name, const char *equal)
{
	const char prefix = is_64 ? 'r' : 'w';

	out_format(&l->out, "%c%u %s%s ", prefix, l->to, name, equal);
	if (l->i->code & BY_REGISTER)
		out_format(&l->out, "%c%u", prefix, l->from);
	else
		out_format(&l->out, "%d", l->i->imm);
}

static void print_alu(struct line *l)
{
	static const char names[16][4] = {
		[ALU_ADD >> 4] = "+", [ALU_SUB >> 4] = "-", [ALU_MUL >> 4] = "*",
		[ALU_OR >> 4] = "|", [ALU_AND >> 4] = "&", [ALU_LSH >> 4] = "<<",
		[ALU_RSH >> 4] = ">>", [ALU_ARSH >> 4] = "s>>",
		[ALU_XOR >> 4] = "^",
	};
	const unsigned at = (unsigned)(l->i - l->c->v);
	struct line before;

	if (l->i->code == (BPF_ALU32 | TO_BIG)) {
		out_format(&l->out, "r%u = be%d r%u", l->to, l->i->imm, l->to);
		return;
	}
	add_operation(l, (l->i->code & BPF_CLASS) == BPF_ALU64, names[l->i->code >> 4], "=");
	if (!at || l->i->code != (BPF_ALU64 | ALU_ADD))
		return;
	decode(&before, l->c, at - 1); /* see emit_address */
	if (before.i->code == (BPF_ALU64 | BY_REGISTER | ALU_MOV) && before.to == l->to)
		note_slot(l, before.from, l->i->imm);
}

/* A label in a scope has the number of the scope after its name. */
static void add_label(struct line *l, const struct bpf_label *label)
{
	out_format(&l->out, "%s", label->name);
	if (label->scope)
		out_format(&l->out, "_%u", label->scope);
}

static void print_jump(struct line *l)
{
	static const char names[16][4] = {
		[JEQ >> 4] = "==", [JGT >> 4] = ">", [JLE >> 4] = "<=", [JSET >> 4] = "&",
		[JNE >> 4] = "!=", [JSGT >> 4] = "s>", [JSGE >> 4] = "s>=", [JSLT >> 4] = "s<",
		[JSLE >> 4] = "s<=",
	};

	if (l->i->code == (BPF_JMP | CALL) && l->from == FUNCTION) {
		out_format(&l->out, "call ");
		add_label(l, emit_target(l->c, (unsigned)(l->i - l->c->v)));
	} else if (l->i->code == (BPF_JMP | CALL)) {
		out_format(&l->out, "call %s", l->from == KERNEL_FUNCTION ?
			   l->c->to[l->i - l->c->v] : helper_name(l->i->imm));
	} else if (l->i->code == (BPF_JMP | EXIT)) {
		out_format(&l->out, "exit");
	} else {
		if (l->i->code == (BPF_JMP | MAY_GOTO)) {
			out_format(&l->out, "may_");
		} else if (l->i->code != BPF_JMP) {
			out_format(&l->out, "if ");
			add_operation(l, (l->i->code & BPF_CLASS) == BPF_JMP,
				      names[l->i->code >> 4], "");
			out_format(&l->out, " ");
		}
		out_format(&l->out, "goto ");
		add_label(l, emit_target(l->c, (unsigned)(l->i - l->c->v)));
	}
}

/* Print the load of a 64-bit constant, and comment on one that is a part of a text. */
static void print_wide(struct line *l, const char *(*map_name)(int))
{
	uint64_t n = (uint64_t)(uint32_t)l->i[1].imm << 32 | (uint32_t)l->i->imm;
	char text[9] = "";
	size_t printable = 0;

	if (l->from) {
		out_format(&l->out, "r%u = %s %s", l->to,
			   l->from == MAP_VALUE ? "value of" : "map", map_name(l->i->imm));
		return;
	}
	out_format(&l->out, "r%u = %llu ll", l->to, (unsigned long long)n);
	memcpy(text, &n, sizeof(n));
	while (isprint((unsigned char)text[printable]))
		printable++;
	if (printable && !text[printable])
		NOTE(l, "\"%s\"", text);
}

static void print_insn(struct line *l, const char *(*map_name)(int))
{
	switch (l->i->code & BPF_CLASS) {
	case BPF_LDX:
	case BPF_ST:
	case BPF_STX:
		print_memory(l);
		break;
	case BPF_ALU32:
	case BPF_ALU64:
		print_alu(l);
		break;
	case BPF_JMP:
	case BPF_JMP32:
		print_jump(l);
		break;
	default:
		print_wide(l, map_name);
	}
}

void bpf_print(const struct bpf_code *c, const char *name, const char *(*map_name)(int))
{
	struct line l;

	stdout_print("// %s: %u instructions\n", name, c->n);
	for (unsigned i = 0; i < c->n; i++) {
		for (const struct bpf_label *at = c->labels; at < c->labels + c->nlabels; at++)
			if (at->at == i) {
				decode(&l, c, i);
				add_label(&l, at);
				stdout_print("%.*s:\n", (int)(l.out.at - l.text), l.text);
			}
		decode(&l, c, i);
		print_insn(&l, map_name);
		stdout_print("\t%.*s%s%s\n", (int)(l.out.at - l.text), l.text,
			     *l.comment ? "\t\t// " : "", l.comment);
		i += (l.i->code & BPF_CLASS) == BPF_LD;
	}
}
