/* SPDX-License-Identifier: ISC */
/*
 * unwind.c - go from a frame of a stack to the frame of its caller, by .eh_frame
 *
 * The section consists of CIEs, which have what several functions share, and FDEs, one for each
 * function (Linux Standard Base, "Exception Frames"). The instructions of both make the row of a
 * place: how to compute the CFA, which is the stack pointer before the call, and where the
 * registers of the caller are (DWARF 5, 6.4). The rows of recent places are kept.
 *
 * A stranger has written the bytes: each length is checked, and the work of a step is limited.
 */
#include <elf.h>

#include "elf/elf.h"

enum {
	INSNS = 32768,          /* for a row; a function of cc1 has 11,000 */
	OPERATIONS = 64,        /* of an expression */
	DEPTH = 16,             /* of its stack */
	REMEMBERED = 8,         /* rows, within each other */
	LETTERS = 8,            /* of an augmentation */
	RULES = 32,             /* the registers that have rules */
	CACHED = 1024,          /* rows */
};

/* A register of the caller is ... */
enum kind {
	UNDEFINED,              /* not known */
	SAVED,                  /* in memory at CFA + n */
	VALUE,                  /* CFA + n */
	COPY,                   /* in register n */
	SAVED_EXPRESSION,       /* in memory where the expression at place n says */
	EXPRESSION,             /* the result of that expression */
};

/*
 * The rules for a place. The CFA is a VALUE, register cfa + cfa_n, or the EXPRESSION at cfa_place:
 * after an expression, assembly goes back to a register and means the offset from before.
 */
struct row {
	uint32_t rules;         /* a bit for each register that has one */
	int32_t n[RULES], cfa_n, cfa_place;
	uint8_t kind[RULES], cfa_kind, cfa;
	uint8_t pc;             /* the register with the return address */
	uint8_t arm64, is_signed, is_signal;
};

/* What the two machines do not have in common. */
static const struct {
	uint64_t callee_saved;
	unsigned rules, sp, pc, link;   /* registers with rules; link holds the return address */
} machines[] = {
	{ 0xf0c8, 17, 7, 16, 16 },      /* rbx, rbp, rsp, r12 to r15 */
	{ 0xbff80000, 32, 31, 32, 30 }, /* x19 to x29, sp */
};

/* ---- bytes ------------------------------------------------------------------- */

struct reader {
	const unsigned char *at, *end;
	int bad;                /* something lies after the end, or is invalid */
};

static int skip(struct reader *r, uint64_t n)
{
	r->bad |= n > (uint64_t)(r->end - r->at);
	r->at = r->bad ? r->end : r->at + n;
	return r->bad;
}

/* Read a number of n bytes. */
static uint64_t take(struct reader *r, unsigned n)
{
	const unsigned char *p = r->at;
	uint64_t v = 0;

	if (!skip(r, n))
		while (n--)
			v = v << 8 | p[n];
	return v;
}

static uint64_t extend(uint64_t v, unsigned bits)
{
	return bits - 1 < 63 && v >> (bits - 1) & 1 ? v | ~0ull << bits : v;
}

/* Read a number of at most ten bytes of seven bits. */
static uint64_t leb(struct reader *r, int is_signed)
{
	uint64_t v = 0, byte;
	unsigned bits = 0;

	do {
		byte = take(r, 1);
		v |= (byte & 0x7f) << bits;
		bits += 7;
	} while (byte >> 7 && bits < 70);
	r->bad |= byte >> 7 != 0;
	return is_signed ? extend(v, bits) : v;
}

/* Read a number in the form of DW_EH_PE_*, without what it is relative to. */
static uint64_t encoded(struct reader *r, unsigned encoding)
{
	static const uint8_t sizes[8] = { 8, 0, 2, 4, 8 };
	unsigned size = sizes[encoding & 7];
	uint64_t v;

	if ((encoding & 7) == 1)
		return leb(r, encoding & 8);
	r->bad |= !size;
	v = take(r, size);
	return encoding & 8 ? extend(v, 8 * size) : v;
}

/* ---- entries ----------------------------------------------------------------- */

struct cie {
	uint64_t code, data;    /* the factors */
	uint64_t pc;            /* register */
	unsigned encoding;      /* of addresses of code */
	int has_size, is_signal;
	struct reader program;
};

struct fde {
	struct cie cie;
	uint64_t from, size;    /* addresses of code */
	struct reader program;
};

static struct elf_unwind_head head_of(const struct elf_unwind *u)
{
	struct elf_unwind_head h;

	memcpy(&h, u->bytes, sizeof(h));
	return h;
}

/* Read an address: absolute, or relative to its own place. */
static uint64_t address(const struct elf_unwind *u, struct reader *r, unsigned encoding)
{
	uint64_t at = head_of(u).address + (uint64_t)(r->at - u->bytes), v = encoded(r, encoding);

	r->bad |= encoding > 0x1f;
	return v && encoding & 0x10 ? v + at : v;
}

/* Begin to read the entry at the place. Return its second word, and the place of that in *place. */
static uint64_t begin(const struct elf_unwind *u, uint64_t *place, struct reader *r)
{
	uint64_t n;

	*r = (struct reader){ u->bytes + sizeof(struct elf_unwind_head), u->bytes + u->size, 0 };
	skip(r, *place - sizeof(struct elf_unwind_head));
	n = take(r, 4);
	if (n == 0xffffffff)
		n = take(r, 8);
	*place = (uint64_t)(r->at - u->bytes);
	if (n > (uint64_t)(r->end - r->at))
		r->bad = 1;
	else
		r->end = r->at + n;
	return take(r, 4);
}

/* Read the data of an augmentation that begins with z. An unknown letter ends what is known. */
static void read_augmentation(const char *letters, struct reader r, struct cie *c)
{
	for (;; letters++)
		switch (*letters) {
		case 'R':
			c->encoding = (unsigned)take(&r, 1);
			break;
		case 'P':
			encoded(&r, (unsigned)take(&r, 1) & 0xf);
			break;
		case 'L':
			take(&r, 1);
			break;
		case 'S':
			c->is_signal = 1;
			break;
		case 'B': /* the key of signed return addresses */
			break;
		default:
			return;
		}
}

static int read_cie(const struct elf_unwind *u, uint64_t place, struct cie *c)
{
	char letters[LETTERS + 1] = "";
	struct reader r, data;
	uint64_t id = begin(u, &place, &r), version = take(&r, 1);
	unsigned n = 0;

	*c = (struct cie){ 0 };
	while ((letters[n] = (char)take(&r, 1)))
		if (++n == LETTERS)
			return -1;
	if (version == 4 && take(&r, 2) != 8) /* the sizes of an address and a segment */
		return -1;
	c->code = leb(&r, 0);
	c->data = leb(&r, 1);
	c->pc = version == 1 ? take(&r, 1) : leb(&r, 0);
	c->has_size = *letters == 'z';
	data = r;
	if (c->has_size) {
		skip(&r, leb(&r, 0));
		leb(&data, 0);
		read_augmentation(letters + 1, data, c);
	}
	c->program = r;
	return r.bad || id || (version != 1 && version != 3 && version != 4) ||
	       (*letters && !c->has_size) ? -1 : 0;
}

static int read_fde(const struct elf_unwind *u, uint64_t place, struct fde *f)
{
	uint64_t back = begin(u, &place, &f->program);

	/* the second word says how far back the CIE is */
	if (!back || back > place - sizeof(struct elf_unwind_head) ||
	    read_cie(u, place - back, &f->cie) < 0)
		return -1;
	f->from = address(u, &f->program, f->cie.encoding);
	f->size = encoded(&f->program, f->cie.encoding & 0xf);
	if (f->cie.has_size)
		skip(&f->program, leb(&f->program, 0));
	return f->program.bad ? -1 : 0;
}

static int by_from(const void *a, const void *b)
{
	const struct elf_unwind_entry *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

void elf_unwind_index(struct elf_unwind *u, elf_offset_fn *offset_of, const void *arg)
{
	uint64_t at = sizeof(struct elf_unwind_head), next, offset;
	size_t room = 0;
	struct reader r;
	struct fde f;

	for (u->n = 0;; at = next) {
		next = at;
		begin(u, &next, &r);
		if (r.bad)
			break;
		next = (uint64_t)(r.end - u->bytes);
		/* a function that the linker has removed may have the address 0 */
		if (read_fde(u, at, &f) < 0 || !f.from || !f.size || f.size != (uint32_t)f.size ||
		    offset_of(arg, f.from, &offset) < 0 || offset != (uint32_t)offset)
			continue;
		u->v = xgrow(u->v, u->n, &room, sizeof(*u->v));
		u->v[u->n++] = (struct elf_unwind_entry){
			(uint32_t)offset, (uint32_t)f.size, (uint32_t)at };
	}
	u->size = (size_t)at;
	if (u->n)
		array_sort(u->v, u->n, sizeof(*u->v), by_from);
}

int elf_unwind_check(struct elf_unwind *u)
{
	static uint32_t last;
	uint64_t machine;

	if (!u->n || u->size < sizeof(struct elf_unwind_head) || u->size > INT32_MAX)
		return -1;
	machine = head_of(u).machine;
	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return -1;
	u->number = ++last;
	return 0;
}

/* ---- rows -------------------------------------------------------------------- */

/* The making of the row for `wanted`, which is so far after the begin of the function. */
struct making {
	const struct elf_unwind *u;
	const struct fde *fde;
	uint64_t at, wanted;
	unsigned insns, remembered;
	struct row row, first, rows[REMEMBERED];
};

/* Set a number of a row. */
static void set_n(struct reader *r, int32_t *to, uint64_t n)
{
	*to = (int32_t)n;
	r->bad |= (uint64_t)*to != n;
}

static void set_rule(struct making *m, struct reader *r, uint64_t reg, enum kind kind, uint64_t n)
{
	if (reg >= machines[m->row.arm64].rules)
		return; /* of floating point, say */
	m->row.rules |= 1u << reg;
	m->row.kind[reg] = (uint8_t)kind;
	set_n(r, &m->row.n[reg], n);
}

/* Give a register the rule that it had at the begin of the function. */
static void restore_rule(struct making *m, uint64_t reg)
{
	if (reg >= RULES)
		return;
	m->row.rules = (m->row.rules & ~(1u << reg)) | (m->first.rules & 1u << reg);
	m->row.kind[reg] = m->first.kind[reg];
	m->row.n[reg] = m->first.n[reg];
}

/* The operands of instructions: numbers, also times the factor, also signed, and blocks. */
enum operand { NONE, NUMBER, FACTORED, SIGNED, BLOCK };

static uint64_t operand(const struct making *m, struct reader *r, enum operand form)
{
	uint64_t v;

	if (form == NONE)
		return 0;
	if (form == BLOCK) {
		v = (uint64_t)(r->at - m->u->bytes);
		skip(r, leb(r, 0));
		return v;
	}
	v = leb(r, form == SIGNED);
	return form == NUMBER ? v : v * m->fde->cie.data;
}

/* By DW_CFA_*: the two operands, and the kind of rule that the instruction sets. */
static const struct {
	uint8_t x, y, kind;
} insns[] = {
	[0x05] = { NUMBER, FACTORED, SAVED },           /* offset_extended */
	[0x06] = { NUMBER, NONE, 0 },                   /* restore_extended */
	[0x07] = { NUMBER, NONE, UNDEFINED },           /* undefined */
	[0x08] = { NUMBER, NONE, COPY },                /* same_value */
	[0x09] = { NUMBER, NUMBER, COPY },              /* register */
	[0x0c] = { NUMBER, NUMBER, 0 },                 /* def_cfa */
	[0x0d] = { NUMBER, NONE, 0 },                   /* def_cfa_register */
	[0x0e] = { NONE, NUMBER, 0 },                   /* def_cfa_offset */
	[0x0f] = { NONE, BLOCK, 0 },                    /* def_cfa_expression */
	[0x10] = { NUMBER, BLOCK, SAVED_EXPRESSION },   /* expression */
	[0x11] = { NUMBER, SIGNED, SAVED },             /* offset_extended_sf */
	[0x12] = { NUMBER, SIGNED, 0 },                 /* def_cfa_sf */
	[0x13] = { NONE, SIGNED, 0 },                   /* def_cfa_offset_sf */
	[0x14] = { NUMBER, FACTORED, VALUE },           /* val_offset */
	[0x15] = { NUMBER, SIGNED, VALUE },             /* val_offset_sf */
	[0x16] = { NUMBER, BLOCK, EXPRESSION },         /* val_expression */
	[0x2e] = { NUMBER, NONE, 0 },                   /* GNU_args_size */
	[0x2f] = { NUMBER, FACTORED, SAVED },           /* GNU_negative_offset_extended */
};

static void execute(struct making *m, struct reader *r)
{
	unsigned op = (unsigned)take(r, 1), kind = SAVED;
	uint64_t code = m->fde->cie.code, x = op & 0x3f, y = 0;
	struct row *row = &m->row;

	op = op >> 6 ? op & 0xc0 : op;
	if (op < sizeof(insns) / sizeof(*insns)) {
		x = operand(m, r, insns[op].x);
		y = operand(m, r, insns[op].y);
		kind = insns[op].kind;
	}
	switch (op) {
	case 0x00: case 0x2e: /* nop */
		break;
	case 0x01: /* set_loc */
		m->at = address(m->u, r, m->fde->cie.encoding) - m->fde->from;
		break;
	case 0x02: case 0x03: case 0x04: /* advance_loc1, 2, 4 */
		x = take(r, 1u << (op - 2));
		/* fall through */
	case 0x40: /* advance_loc */
		m->at += x * code;
		break;
	case 0x80: /* offset */
		y = operand(m, r, FACTORED);
		/* fall through */
	case 0x05: case 0x07: case 0x09: case 0x10: case 0x11: case 0x14: case 0x15: case 0x16:
		set_rule(m, r, x, kind, y);
		break;
	case 0x08:
		set_rule(m, r, x, kind, x);
		break;
	case 0x2f:
		set_rule(m, r, x, kind, 0 - y);
		break;
	case 0x06: case 0xc0: /* restore */
		restore_rule(m, x);
		break;
	case 0x0a: /* remember_state */
		r->bad |= m->remembered == REMEMBERED;
		if (!r->bad)
			m->rows[m->remembered++] = *row;
		break;
	case 0x0b: /* restore_state */
		r->bad |= !m->remembered;
		if (!r->bad)
			*row = m->rows[--m->remembered];
		break;
	case 0x0c: case 0x0d: case 0x12: /* def_cfa, def_cfa_register */
		row->cfa_kind = VALUE;
		row->cfa = x < UNWIND_REGISTERS ? (uint8_t)x : UNWIND_REGISTERS;
		if (op == 0x0d)
			break;
		/* fall through */
	case 0x0e: case 0x13: /* def_cfa_offset */
		set_n(r, &row->cfa_n, y);
		break;
	case 0x0f: /* def_cfa_expression */
		row->cfa_kind = EXPRESSION;
		set_n(r, &row->cfa_place, y);
		break;
	case 0x2c: case 0x2d: /* AARCH64_negate_ra_state_with_pc, AARCH64_negate_ra_state */
		row->is_signed = !row->is_signed;
		r->bad |= !row->arm64;
		break;
	default:
		r->bad = 1;
	}
}

/* Execute the program up to the wanted place. Return 0, or -1 if it is invalid. */
static int execute_all(struct making *m, struct reader r)
{
	for (m->at = 0; !r.bad && r.at < r.end && m->at <= m->wanted;) {
		execute(m, &r);
		r.bad |= ++m->insns > INSNS;
	}
	return r.bad ? -1 : 0;
}

static const struct elf_unwind_entry *entry_around(const struct elf_unwind *u, uint64_t offset)
{
	size_t low = 0, high = u->n, mid;

	while (low < high) { /* find the first entry after the offset */
		mid = low + (high - low) / 2;
		if (u->v[mid].from > offset)
			high = mid;
		else
			low = mid + 1;
	}
	return low && offset - u->v[low - 1].from < u->v[low - 1].size ? &u->v[low - 1] : NULL;
}

static enum unwind_result make_row(const struct elf_unwind *u, uint64_t offset, struct row *row)
{
	const struct elf_unwind_entry *e = entry_around(u, offset);
	int arm64 = head_of(u).machine == EM_AARCH64;
	struct making m = { .u = u };
	struct fde f;

	if (!e)
		return UNWIND_NO_TABLE;
	if (e->place < sizeof(struct elf_unwind_head) || read_fde(u, e->place, &f) < 0 ||
	    f.cie.pc != machines[arm64].link)
		return UNWIND_BAD;
	m.fde = &f;
	m.row.arm64 = (uint8_t)arm64;
	m.row.pc = (uint8_t)f.cie.pc;
	m.row.is_signal = (uint8_t)f.cie.is_signal;
	if (execute_all(&m, f.cie.program) < 0)
		return UNWIND_BAD;
	m.first = m.row;
	m.wanted = offset - e->from;
	if (execute_all(&m, f.program) < 0 || m.row.cfa_kind == UNDEFINED)
		return UNWIND_BAD;
	*row = m.row;
	return UNWIND_STEP;
}

/* ---- steps ------------------------------------------------------------------- */

struct step {
	const struct elf_unwind *u;
	const struct row *row;
	const struct unwind_frame *frame;
	unwind_memory_fn *memory;
	void *arg;
	uint64_t cfa;
};

static enum unwind_result get_word(const struct step *s, uint64_t at, uint64_t *v)
{
	return s->memory(s->arg, at, v) < 0 ? UNWIND_NO_MEMORY : UNWIND_STEP;
}

static enum unwind_result get_register(const struct step *s, uint64_t reg, uint64_t *v)
{
	int is_pc = reg == machines[s->row->arm64].pc;

	if (reg >= UNWIND_REGISTERS || (!is_pc && !(s->frame->known >> reg & 1)))
		return UNWIND_BAD;
	*v = is_pc ? s->frame->pc : s->frame->reg[reg];
	return UNWIND_STEP;
}

/* Return the result of an operation DW_OP_* on two numbers. */
static uint64_t combine(unsigned op, uint64_t a, uint64_t b, int *bad)
{
	const int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case 0x1a: return a & b;
	case 0x1c: return a - b;
	case 0x1e: return a * b;
	case 0x21: return a | b;
	case 0x22: return a + b;
	case 0x24: return b < 64 ? a << b : 0;
	case 0x25: return b < 64 ? a >> b : 0;
	case 0x27: return a ^ b;
	case 0x29: return x == y;
	case 0x2a: return x >= y;
	case 0x2b: return x > y;
	case 0x2c: return x <= y;
	case 0x2d: return x < y;
	case 0x2e: return x != y;
	}
	*bad = 1;
	return 0;
}

/* Compute the result of the expression at the place. Its stack begins with the CFA. */
static enum unwind_result evaluate(const struct step *s, uint64_t place, uint64_t *result)
{
	struct reader r = { s->u->bytes + place, s->u->bytes + s->u->size, 0 };
	uint64_t v[DEPTH] = { s->cfa }, size = leb(&r, 0), *top;
	enum unwind_result got;
	unsigned n = 1, op;

	r.end = r.at + size; /* skip has checked it */
	for (unsigned done = 0; r.at < r.end; done++) {
		op = (unsigned)take(&r, 1);
		top = v + n;
		if (!n || n == DEPTH || done == OPERATIONS)
			return UNWIND_BAD;
		if (op >= 0x30 && op < 0x50) { /* lit0 to lit31 */
			v[n++] = op - 0x30;
			continue;
		}
		if ((op >= 0x70 && op < 0x90) || op == 0x92) { /* breg0 to breg31, bregx */
			got = get_register(s, op == 0x92 ? leb(&r, 0) : op - 0x70, top);
			if (got != UNWIND_STEP)
				return got;
			v[n++] += leb(&r, 1);
			continue;
		}
		switch (op) {
		case 0x06: /* deref */
			got = get_word(s, top[-1], &top[-1]);
			if (got != UNWIND_STEP)
				return got;
			break;
		case 0x08: case 0x09: case 0x0a: case 0x0b: /* const1u, const1s to const8s */
		case 0x0c: case 0x0d: case 0x0e: case 0x0f:
			size = 1u << (op - 8) / 2;
			v[n++] = take(&r, (unsigned)size);
			if (op & 1)
				*top = extend(*top, 8 * (unsigned)size);
			break;
		case 0x10: /* constu, consts */
		case 0x11:
			v[n++] = leb(&r, op & 1);
			break;
		case 0x12: /* dup */
			v[n++] = top[-1];
			break;
		case 0x13: /* drop */
			n--;
			break;
		case 0x16: /* swap */
			if (n < 2)
				return UNWIND_BAD;
			*top = top[-1];
			top[-1] = top[-2];
			top[-2] = *top;
			break;
		case 0x23: /* plus_uconst */
			top[-1] += leb(&r, 0);
			break;
		case 0x96: /* nop */
			break;
		default:
			if (n < 2)
				return UNWIND_BAD;
			n--;
			top[-2] = combine(op, top[-2], top[-1], &r.bad);
		}
	}
	*result = v[n ? n - 1 : 0];
	return r.bad || !n ? UNWIND_BAD : UNWIND_STEP;
}

static enum unwind_result get_value(const struct step *s, enum kind kind, int32_t n, uint64_t *v)
{
	uint64_t at = s->cfa + (uint64_t)n;
	enum unwind_result got;

	switch (kind) {
	case SAVED:
		return get_word(s, at, v);
	case VALUE:
		*v = at;
		return UNWIND_STEP;
	case COPY:
		return get_register(s, (uint64_t)n, v);
	case SAVED_EXPRESSION:
	case EXPRESSION:
		got = evaluate(s, (uint64_t)n, v);
		return got == UNWIND_STEP && kind == SAVED_EXPRESSION ? get_word(s, *v, v) : got;
	case UNDEFINED:
		break;
	}
	return UNWIND_BAD;
}

/* The row of a place, or why there is none. The number 0 is no table's. */
static struct cached {
	uint64_t offset;
	uint32_t number;
	enum unwind_result result;
	struct row row;
} cache[CACHED];

static const struct cached *row_at(const struct elf_unwind *u, uint64_t offset)
{
	uint64_t hash = (offset + ((uint64_t)u->number << 32)) * 0x9e3779b97f4a7c15;
	struct cached *c = &cache[(hash >> 32) % CACHED];

	if (c->number != u->number || c->offset != offset) {
		c->number = u->number;
		c->offset = offset;
		c->result = make_row(u, offset, &c->row);
	}
	return c;
}

/*
 * Compute the registers of the caller that have rules. Return UNWIND_STEP if the return address is
 * among them. A leaf function of arm64 has it still in its register.
 */
static enum unwind_result get_all(struct step *s, uint64_t *v, uint64_t *known)
{
	const struct row *row = s->row;
	enum unwind_result got, found = UNWIND_BAD;

	if (row->cfa_kind == VALUE)
		got = get_register(s, row->cfa, &s->cfa);
	else
		got = evaluate(s, (uint64_t)row->cfa_place, &s->cfa);
	if (row->cfa_kind == VALUE)
		s->cfa += (uint64_t)row->cfa_n;
	if (got != UNWIND_STEP)
		return got;
	for (uint32_t rest = row->rules; rest; rest &= rest - 1) {
		unsigned reg = (unsigned)__builtin_ctz(rest);

		got = get_value(s, row->kind[reg], row->n[reg], &v[reg]);
		*known |= (uint64_t)(got == UNWIND_STEP) << reg;
		if (reg == row->pc)
			found = got;
	}
	if (!(row->rules >> row->pc & 1) && row->arm64 && s->frame->interrupted) {
		found = get_register(s, row->pc, &v[row->pc]);
		*known |= 1ull << row->pc;
	}
	return found;
}

enum unwind_result elf_unwind_step(const struct elf_unwind *u, uint64_t offset,
				   struct unwind_frame *f, unwind_memory_fn *memory, void *arg)
{
	const struct cached *c = u->number ? row_at(u, offset) : NULL;
	const struct row *row;
	struct step s = { u, NULL, f, memory, arg, 0 };
	uint64_t v[RULES], known = 0, old;
	enum unwind_result got;
	unsigned sp;

	if (!c || c->result != UNWIND_STEP)
		return c ? c->result : UNWIND_NO_TABLE;
	s.row = row = &c->row;
	if (row->rules >> row->pc & 1 && row->kind[row->pc] == UNDEFINED)
		return UNWIND_END;
	got = get_all(&s, v, &known);
	if (got != UNWIND_STEP)
		return got;
	sp = machines[row->arm64].sp;
	old = f->reg[sp];
	if (!(row->rules >> sp & 1)) {
		v[sp] = s.cfa;
		known |= 1ull << sp;
		/* glibc's loader of arm64 counts without the 16 bytes that a PLT has pushed */
		if (row->arm64 && row->kind[row->pc] == SAVED && row->n[row->pc] == 8)
			v[sp] += 16;
	}
	/*
	 * The stack of the caller is higher. But the handler of a signal may have a stack of its
	 * own, and an innermost function may have nothing on the stack: a leaf of arm64, or an end
	 * that has moved the return address to another register.
	 */
	if (!(f->known & known & 1ull << sp) ||
	    (!row->is_signal && v[sp] <= old &&
	     (v[sp] < old || !f->interrupted || row->kind[row->pc] == SAVED)))
		return UNWIND_BAD;
	/* the signature takes the bits above the highest that stacks and libraries have */
	if (row->is_signed)
		v[row->pc] &= ~0ull >> __builtin_clzll(f->pc | old | 1);
	if (!v[row->pc])
		return UNWIND_END;
	f->known = (f->known & machines[row->arm64].callee_saved & ~(uint64_t)row->rules) | known;
	for (; known; known &= known - 1)
		f->reg[__builtin_ctzll(known)] = v[__builtin_ctzll(known)];
	f->pc = v[row->pc];
	f->interrupted = row->is_signal;
	return UNWIND_STEP;
}
