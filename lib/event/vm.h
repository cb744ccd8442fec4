/* SPDX-License-Identifier: ISC */
/*
 * vm.h - the bytecode of a print fmt: shared by its compiler and its interpreter
 *
 * The VM has a small stack of 64-bit numbers and one output. Text is never a value: the
 * instruction that makes a string writes it at once, and a ternary between strings is a jump.
 * A string or an array in the record is a number too: a region, with its offset and length.
 * An instruction that reads a region checks it against the record.
 */
#ifndef EVENT_VM_H
#define EVENT_VM_H

#include "event/event.h"

/* Few records reach such a function: GCC makes it small and keeps it out of the fast path. */
#define COLD __attribute__((cold, noinline))

enum op {
	/*
	 * run writes the text of the instructions up to OP_LOC, vm_write that of OP_PRINT and
	 * those after it.
	 */
	OP_END,                 /* the text at the end, newline included */
	OP_TEXT,                /* text only */
	OP_NUMBER,              /* text, then the number of size bytes that ends at n */
	OP_ARGUMENT,            /* the same, as an argument of a system call */
	OP_HERE,                /* text, then the string of k bytes at n */
	OP_LOC,                 /* text, then the string that the u32 at n locates */
	OP_CONST,               /* push k */
	OP_FIELD,               /* push the number of size bytes that ends at n */
	OP_REGION,              /* push the region of k bytes at n; k ~0: the rest */
	OP_LOCATE,              /* push the region that the u32 at n locates */
	OP_LENGTH,              /* replace a region by its length */
	OP_ELEMENT,             /* pop index and region; push that element */
	OP_BINARY,              /* pop b, a; push a OPERATOR b */
	OP_BINARY_K,            /* the same; b is k */
	OP_UNARY,
	OP_EXTEND,              /* convert to a number of size bytes */
	OP_SWAP,
	OP_SELECT,              /* pop c, b, a; push a ? b : c */
	OP_JUMP,                /* to instruction n */
	OP_JUMP_ZERO,           /* pop; jump to instruction n if it is 0 */
	OP_PRINT,               /* pop; print by conversion k */
	OP_PAD,                 /* pad or cut the output from here to OP_PADDED */
	OP_PADDED,
	OP_FLAGS,               /* pop; print names of table n; the delimiter is the text */
	OP_SYMBOLIC,            /* pop; print the name from table n */
	OP_HEX,                 /* pop a region; print its bytes with n between them */
	OP_ARRAY,               /* pop size, count, region; print {0x1,0x2} */
	OP_BITS,                /* pop a region; print it as %*pb */
	OP_DUMP,                /* pop the arguments of __print_hex_dump */
	OP_STRING,              /* pop a region; print it up to its NUL */
	OP_POINTED,             /* pop an address; print the string at it */
	OP_POINTER,             /* pop a number or region; print %p by conversion k */
	OP_BUILTIN,             /* pop; print what only events of ftrace have: enum builtin */
	OP_FIELDS,              /* print all fields as name=value */
	OP_VALUE,               /* print field n, whatever its type */
};

/* The text that OP_BUILTIN writes, in k. */
enum builtin {
	BUILTIN_IP, BUILTIN_PROBE, BUILTIN_PROBE_BARE, BUILTIN_BYTES, BUILTIN_STACK,
	BUILTIN_USER_STACK, BUILTIN_FRAMES, BUILTIN_TIME, BUILTIN_BPRINT, BUILTIN_MODE,
	BUILTIN_BUFFER,
	BUILTIN_TEXT, BUILTIN_QUOTED, BUILTIN_READABLE,
};

enum operator {
	ADD, SUB, MUL, DIV, MOD, SHL, SHR, AND, OR, XOR,
	EQ, NE, LT, LE, GT, GE, LAND, LOR,
	NEG, NOT, INV,
	SWAP,                   /* the bytes of a number of size bytes, in the other order */
};

struct vm_insn {
	uint8_t op;
	uint8_t size;           /* of a number, in bytes; of a string, enum escape */
	uint8_t is_signed;
	/*
	 * OP_BINARY, OP_BINARY_K, OP_UNARY: enum operator
	 * OP_NUMBER: letter of the conversion
	 * OP_LOC, OP_LOCATE: enum field_place
	 * OP_ARGUMENT: 1: without 0x
	 * OP_SELECT: 1: cut a region to a length
	 * OP_POINTER: 1: a number and no region
	 */
	uint8_t arg;
	uint32_t n;             /* of OP_POINTER: 1 if vm_memo may keep the text */
	uint32_t text, len;     /* in bytecode.text */
	uint64_t k;             /* a constant, or an index of bytecode.conversions */
};

/* A value and its name in a table of __print_flags or __print_symbolic. */
struct vm_name {
	uint64_t value;
	uint32_t text, len;
};

/* n names from bytecode.names[first] on. */
struct vm_table {
	uint32_t first, n;
};

struct bytecode {
	struct vm_insn *insns;
	struct vm_name *names;
	struct vm_table *tables;
	struct conversion *conversions;
	char *text;
	uint32_t ninsns, nnames, ntables, nconversions, ntext;
};

enum {
	STACK_ROOM = 24,        /* numbers on the stack */
	TEXT_SLACK = 32,        /* bytes after bytecode.text: text is copied in such pieces */
};

/* Return the region of len bytes at the offset in the record. */
static inline uint64_t vm_region(uint32_t offset, uint32_t len)
{
	return (uint64_t)len << 32 | offset;
}

/* Return v converted to that type, as C does it. */
static inline uint64_t vm_extend(uint64_t v, unsigned size, int is_signed)
{
	switch (size) {
	case 1: return is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2: return is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4: return is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	}
	return v;
}

/* ---- compile.c: make bytecode from a print fmt ---------------------------------- */

/*
 * Compile the print fmt of the event. Set event->opaque if it is not supported: then the
 * program prints field=value. Return NULL if memory ran out.
 */
struct bytecode *bytecode_make(const struct event_set *, struct event *);
void bytecode_free(struct bytecode *);

/* Parse the conversion after a % into *c. Return the first character after it. */
const char *conversion_parse(struct conversion *c, const char *s, const char *end,
			     int long_size);

/* ---- codegen.c: arithmetic, at compile time and in the VM -------------------------- */

/* Return a OPERATOR b of numbers of that type; 0 where C leaves the result undefined. */
uint64_t vm_calculate(enum operator, uint64_t a, uint64_t b, unsigned size, int is_signed);

/* ---- vm.c: run the bytecode of a record's event -------------------------------------- */

/* The width and precision of a conversion, and the stack without its stars. */
struct stars {
	const struct conversion *c;
	int width, precision;
	uint64_t *top;
};

/* The state of the VM while it prints one record. */
struct vm {
	struct event_set *evs;
	const struct event *e;
	const struct bytecode *p;
	const struct record *r;
	struct out o;
	int raw_clock;
	uint64_t stack[STACK_ROOM + 2];
	char *padded;           /* start of the text that OP_PADDED pads */
	struct stars pad;       /* of OP_PAD */
};

/*
 * Return the slot of the memo for this instruction and value; another instruction or value
 * may be in it.
 */
static inline struct vm_memo *vm_memo(struct event_set *evs, const struct vm_insn *s, uint64_t v)
{
	return &evs->memos[(v ^ v >> 8 ^ v >> 16 ^ (uintptr_t)s >> 3) %
			   (sizeof(evs->memos) / sizeof(*evs->memos))];
}

/* Print the text of a record between at and end. Return the end of the text. */
char *vm_run(struct event_set *, const struct record *, int raw_clock, char *at, char *end);

/* ---- field.c: regions of a record ------------------------------------------------------ */

/* Return the region that the u32 at the offset locates, cut to the record. */
uint64_t vm_locate(const struct event_set *, const struct record *, uint32_t offset, int place);

/* ---- subbuf.c: read a record of the usual kind, inline -------------------------------------- */

/*
 * Return type_len and time_delta of a record's first word. On a big-endian kernel the bit fields
 * start at the other end of the word.
 */
static inline uint32_t record_type(uint32_t word, int big)
{
	return big ? word >> 27 : word & 31;
}

static inline uint32_t record_delta(uint32_t word, int big)
{
	return big ? word & 0x7ffffff : word >> 5;
}

/*
 * Read the next record if it is of the usual kind, whose type is its length in words. Return
 * 1, or 0 if subbuf_next has to read it.
 */
static inline int subbuf_next_plain(struct subbuf *p, struct record *r)
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

/* ---- pointer.c: print %p and its extensions ------------------------------------------------ */

/*
 * Write a %p conversion of an address, or of the len bytes at data if data is not NULL. width
 * is that of the `*`, or of the conversion.
 */
void out_pointer(struct event_set *, struct out *, const struct conversion *, int width,
		 uint64_t address, const unsigned char *data, size_t len);

/*
 * Write the symbol of an address: "name"; if offset is set, "name+0x1/0x2" (offset 2: it is a
 * return address); if module is set, "[module]" after it. If there is no symbol, write the address
 * with at least that many digits.
 */
void out_symbol(struct event_set *, struct out *, uint64_t address, int offset, int module,
		int digits);

/* Write bits as %*pb does, or, if list is set, as %*pbl. */
void out_bits(const struct event_set *, struct out *, const unsigned char *, size_t len,
	      size_t bits, int list);

/* How print_hex_dump of the kernel prints memory. */
struct dump {
	const char *prefix;     /* prefix_len bytes before each line */
	size_t prefix_len;
	int with_offset;        /* the offset follows the prefix */
	int row, group;         /* bytes of a line, and of a number */
	int ascii, big;
};

/* Write the lines of a dump. */
void out_dump(struct out *, const struct dump *, const unsigned char *data, size_t len);

/* ---- format.c: numbers of a format, and strings of printk_formats ------------------------- */

/* Return the number after key in the text, which may be too large by far; 0 if there is none. */
uint32_t format_number(const char *text, const char *key);

/* Return the string of printk_formats at an address; NULL if there is none. */
const char *event_string_at(const struct event_set *, uint64_t address);

#endif
