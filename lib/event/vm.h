/* SPDX-License-Identifier: ISC */
/*
 * run.h - what the compiler of print fmts and its interpreter share
 *
 * A program is a list of steps for a machine with a small stack of 64-bit
 * numbers and one output. Text is never a value: what C has as a string, the
 * step that makes it writes out, and a ternary between strings is a jump.
 * Memory of a record is a number too, offset and length (a region): it is
 * checked against the record when it is made, so that what reads from it later
 * need not know the record's end.
 */
#ifndef EVENT_VM_H
#define EVENT_VM_H

#include "event/event.h"

enum op {
	/* all up to OP_LOC begin with text */
	OP_END,                 /* the text at the end, newline included */
	OP_TEXT,                /* text only */
	OP_NUMBER,              /* text, then the number of size bytes that ends at n */
	OP_ARGUMENT,            /* the same as a system call's argument */
	OP_HERE,                /* text, then the string of k bytes at n */
	OP_LOC,                 /* text, then the string that the u32 at n locates */
	OP_CONST,               /* push k */
	OP_FIELD,               /* push the number of size bytes that ends at n */
	OP_REGION,              /* push the region at n of k bytes; k ~0: the rest */
	OP_LOCATE,              /* push the region that the u32 at n locates */
	OP_LENGTH,              /* a region's length */
	OP_ELEMENT,             /* pop index, region; push the number there */
	OP_BINARY,              /* pop b, a; push a OPERATOR b */
	OP_BINARY_K,            /* the same, b is k */
	OP_UNARY,
	OP_EXTEND,              /* as a number of size bytes */
	OP_SWAP,
	OP_SELECT,              /* pop c, b, a; push a ? b : c */
	OP_JUMP,                /* to step n */
	OP_JUMP_ZERO,           /* pop; to step n when it is 0 */
	OP_PRINT,               /* pop; as conversion k has it */
	OP_PAD,                 /* what follows, up to PADDED, is padded or cut */
	OP_PADDED,
	OP_FLAGS,               /* pop; names of table n; the delimiter is the text */
	OP_SYMBOLIC,            /* pop; the name of table n */
	OP_HEX,                 /* pop a region; bytes, with n between them */
	OP_ARRAY,               /* pop size, count, region; {0x1,0x2} */
	OP_BITS,                /* pop a region; as %*pb, n: as %*pbl */
	OP_DUMP,                /* pop what __print_hex_dump takes */
	OP_STRING,              /* pop a region; up to its NUL */
	OP_POINTED,             /* pop an address; the string there */
	OP_POINTER,             /* pop a number or region; %p with what k has; n: kept */
	OP_BUILTIN,             /* pop; what only the ftrace events' text has */
	OP_FIELDS,              /* all fields as name=value */
};

/* What OP_BUILTIN writes, in k. */
enum builtin { BUILTIN_IP, BUILTIN_PROBE, BUILTIN_PROBE_BARE, BUILTIN_BYTES, BUILTIN_STACK, BUILTIN_USER_STACK,
	   BUILTIN_TIME, BUILTIN_BPRINT, BUILTIN_MODE, BUILTIN_BUFFER, BUILTIN_TEXT, BUILTIN_QUOTED,
	   BUILTIN_WORD };

enum operator {
	ADD, SUB, MUL, DIV, MOD, SHL, SHR, AND, OR, XOR,
	EQ, NE, LT, LE, GT, GE, LAND, LOR,
	NEG, NOT, INV,
};

struct vm_insn {
	uint8_t op;
	uint8_t size;           /* of a number, in bytes */
	uint8_t is_signed;
	uint8_t what;           /* operator, letter, place */
	uint32_t n;
	uint32_t text, len;     /* in program->text */
	uint64_t k;             /* or an index of program->conversions */
};

struct vm_name {
	uint64_t value;
	uint32_t text, len;
};

/* Names first to last of program->names. */
struct vm_table {
	uint32_t first, n;
};

struct bytecode {
	struct vm_insn *steps;
	struct vm_name *names;
	struct vm_table *tables;
	struct conversion *conversions;
	char *text;
	uint32_t nsteps, nnames, ntables, nconversions, ntext;
};

enum { STACK = 24, TEXT_SLACK = 32 };

static inline uint64_t vm_region(uint32_t at, uint32_t len)
{
	return (uint64_t)len << 32 | at;
}

/* v as C has it after a conversion to that type. */
static inline uint64_t vm_extend(uint64_t v, unsigned size, int is_signed)
{
	switch (size) {
	case 1: return is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2: return is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4: return is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	}
	return v;
}

/* a OPERATOR b of numbers of that type; what C leaves undefined is 0. */
uint64_t vm_calculate(enum operator, uint64_t a, uint64_t b, unsigned size, int is_signed);

/* The region that the u32 at n of the record locates, cut to the record. */
uint64_t vm_locate(const struct event_set *, const struct record *, uint32_t at, int place);

/* The hexadecimal digits at *s, and *s behind them. */
uint64_t text_hex(const char **s, const char *end);

/* ---- the compiler: compile.h ------------------------------------------------ */

/* event->program; NULL: out of memory. Sets event->opaque. */
struct bytecode *bytecode_make(const struct event_set *, struct event *);
void bytecode_free(struct bytecode *);

/* Read the conversion behind a % into *c; the first character behind it. */
const char *conversion_parse(struct conversion *c, const char *s, const char *end,
			     int long_size);

/* ---- own.c: the kernel's own entries, seldom.c: what few events have ---------- */

struct vm {
	struct event_set *evs;
	const struct event *e;
	const struct bytecode *p;
	const struct record *r;
	struct out o;
	int raw_clock;
	uint64_t stack[STACK + 1];
	char *padded;           /* what PADDED pads starts here */
	unsigned pad_flags;
	int pad_width, pad_precision;
};

/* The place of what a step writes for a value, whosever it is now. */
HOT static inline struct vm_memo *vm_memo(struct event_set *evs, const struct vm_insn *s, uint64_t v)
{
	return &evs->memos[(v ^ v >> 8 ^ v >> 16 ^ (uintptr_t)s >> 3) %
			   (sizeof(evs->memos) / sizeof(*evs->memos))];
}

/* What line_print_text is made of: text from at on, no further than end; behind it. */
char *vm_run(struct event_set *, const struct record *, int raw_clock, char *at, char *end);

/* ---- page.c --------------------------------------------------------------------- */

/* A record's first word; on a big-endian kernel its bit fields start at the other end. */
HOT static inline uint32_t record_type(uint32_t word, int big)
{
	return big ? word >> 27 : word & 31;
}

HOT static inline uint32_t record_delta(uint32_t word, int big)
{
	return big ? word & 0x7ffffff : word >> 5;
}

/* subbuf_next, if the next record is one as nearly all: its type the length in words. */
HOT static inline int page_plain(struct subbuf *p, struct record *r)
{
	size_t left = (size_t)(p->end - p->at);
	uint32_t word, words;

	if (left < 4)
		return 0;
	word = (uint32_t)raw_number(p->at, 4, 0, p->big);
	words = record_type(word, p->big);
	if (!words || words > 28 || left < 4 + 4 * words)
		return 0;
	p->ts += record_delta(word, p->big);
	r->ts = p->ts;
	r->data = p->at + 4;
	r->len = 4 * words;
	r->cpu = p->cpu;
	p->at += 4 + 4 * words;
	return 1;
}

/* ---- pointer.c ---------------------------------------------------------------- */

/*
 * A %p conversion of an address, or of len bytes at data; width is that of a
 * `*`, or of the conversion.
 */
void out_pointer(struct event_set *, struct out *, const struct conversion *, int width,
		 uint64_t address, const unsigned char *data, size_t len);
/* name, or name+0x1/0x2; [module] behind it; 0x1 when in no symbol */
void out_symbol(struct event_set *, struct out *, uint64_t address, int offset, int module,
		int digits);
void out_bits(const struct event_set *, struct out *, const unsigned char *, size_t len,
	      size_t bits, int list);
void out_dump(struct out *, const char *prefix, size_t prefix_len, int prefix_type,
	      int row, int group, const unsigned char *data, size_t len, int ascii,
	      int big);

/* The text at an address that printk_formats tells; NULL: none. */
const char *event_string_at(const struct event_set *, uint64_t address);

#endif
