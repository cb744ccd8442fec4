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
#ifndef RUN_H
#define RUN_H

#include <string.h>

#include "event.h"

/* Where a nanosecond counts, in a build that is made small. */
#if defined(__GNUC__) && !defined(__clang__)
#define HOT __attribute__((optimize("O2")))
#else
#define HOT
#endif

enum op {
	OP_END,                 /* the text at the end, newline included */
	OP_TEXT,                /* text only */
	OP_NUMBER,              /* text, then the number of size bytes at n */
	OP_ARGUMENT,            /* the same as a system call's argument */
	OP_HERE,                /* text, then the string of k bytes at n */
	OP_LOC,                 /* text, then the string that the u32 at n locates */
	OP_CONST,               /* push k */
	OP_FIELD,               /* push the number of size bytes at n */
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
	OP_POINTER,             /* pop a number or region; %p with what k has */
	OP_OWN,                 /* pop; what only the ftrace events' text has */
	OP_FIELDS,              /* all fields as name=value */
};

/* What OP_OWN writes, in k. */
enum own { OWN_IP, OWN_PROBE, OWN_PROBE_BARE, OWN_BYTES, OWN_STACK, OWN_USER_STACK,
	   OWN_TIME, OWN_BPRINT, OWN_MODE, OWN_BUFFER };

enum operator {
	ADD, SUB, MUL, DIV, MOD, SHL, SHR, AND, OR, XOR,
	EQ, NE, LT, LE, GT, GE, LAND, LOR,
	NEG, NOT, INV,
};

/* A conversion, packed into k. */
enum {
	F_LEFT = 1, F_ZERO = 2, F_ALT = 4, F_SPACE = 8, F_PLUS = 16,
	F_STAR = 32, F_STAR_PRECISION = 64, F_HAS_PRECISION = 128,
};

struct conversion {
	uint8_t flags;
	char letter;            /* d u x X o c s p */
	uint8_t size;           /* bytes of the value: 1 2 4 8 */
	uint8_t more;           /* letters behind p: how many */
	int16_t width;          /* -1: none */
	int16_t precision;
	char suffix[6];         /* the letters behind p */
};

struct step {
	uint8_t op;
	uint8_t size;           /* of a number, in bytes */
	uint8_t is_signed;
	uint8_t what;           /* operator, letter, place */
	uint32_t n;
	uint32_t text, len;     /* in program->text */
	uint64_t k;             /* or an index of program->conversions */
};

struct name {
	uint64_t value;
	uint32_t text, len;
};

/* Names first to last of program->names. */
struct table {
	uint32_t first, n;
};

struct program {
	struct step *steps;
	struct name *names;
	struct table *tables;
	struct conversion *conversions;
	char *text;
	uint32_t nsteps, nnames, ntables, nconversions, ntext;
};

enum { STACK = 24, TEXT_SLACK = 32 };

static inline uint64_t region(uint32_t at, uint32_t len)
{
	return (uint64_t)len << 32 | at;
}

/* A number of the kernel's, wherever it lies. */
HOT static inline uint64_t get(const void *p, unsigned size, int is_signed, int big)
{
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;
	int swap = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	switch (size) {
	case 8:
		memcpy(&v8, p, 8);
		return swap ? __builtin_bswap64(v8) : v8;
	case 4:
		memcpy(&v4, p, 4);
		v4 = swap ? __builtin_bswap32(v4) : v4;
		return is_signed ? (uint64_t)(int32_t)v4 : v4;
	case 2:
		memcpy(&v2, p, 2);
		v2 = swap ? __builtin_bswap16(v2) : v2;
		return is_signed ? (uint64_t)(int16_t)v2 : v2;
	case 1:
		return is_signed ? (uint64_t)*(const int8_t *)p : *(const uint8_t *)p;
	}
	return 0;
}

/* v as C has it after a conversion to that type. */
static inline uint64_t extend(uint64_t v, unsigned size, int is_signed)
{
	switch (size) {
	case 1: return is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2: return is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4: return is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	}
	return v;
}

/* a OPERATOR b of numbers of that type; what C leaves undefined is 0. */
uint64_t calculate(enum operator, uint64_t a, uint64_t b, unsigned size, int is_signed);

/* The region that the u32 at n of the record locates, cut to the record. */
uint64_t locate(const struct events *, const struct record *, uint32_t at, int place);

/* The hexadecimal digits at *s, and *s behind them. */
uint64_t hex_at(const char **s, const char *end);

/* ---- the compiler: compile.h ------------------------------------------------ */

/* event->program; NULL: out of memory. Sets event->opaque. */
struct program *program_make(const struct events *, struct event *);
void program_free(struct program *);

/* Read the conversion behind a % into *c; the first character behind it. */
const char *conversion_parse(struct conversion *c, const char *s, const char *end,
			     int long_size);

/* ---- output: run.c ---------------------------------------------------------- */

/*
 * Where text goes. Whatever writes makes sure of its room first; at the end of
 * the room, text is cut.
 */
struct out {
	char *at, *end;
};

void put(struct out *, const char *s, size_t n);
void put_char(struct out *, char c);
void put_decimal(struct out *, uint64_t v);
void put_hex(struct out *, uint64_t v);
void put_number(struct out *, const struct conversion *, int width, int precision,
		uint64_t v);
/* Pad or cut what was written from start on, as a %s. */
void put_padded(struct out *, char *start, unsigned flags, int width, int precision);
/* trace_print_time's; raw: as a number. */
void put_time(struct out *, uint64_t ts, int raw);

/* "00" to "99" */
extern const char two_digits[];

HOT static inline char *six_digits(char *p, uint32_t v)
{
	uint32_t high = v / 10000, rest = v - high * 10000, mid = rest / 100;

	memcpy(p, two_digits + 2 * high, 2);
	memcpy(p + 2, two_digits + 2 * mid, 2);
	memcpy(p + 4, two_digits + 2 * (rest - mid * 100), 2);
	return p + 6;
}

/* What event_print is made of. */
void run_event(struct events *, const struct record *, int raw_clock, struct out *);

/* ---- pointer.c ---------------------------------------------------------------- */

/*
 * A %p conversion of an address, or of len bytes at data; width is that of a
 * `*`, or of the conversion.
 */
void put_pointer(struct events *, struct out *, const struct conversion *, int width,
		 uint64_t address, const unsigned char *data, size_t len);
/* name, or name+0x1/0x2; [module] behind it; 0x1 when in no symbol */
void put_symbol(struct events *, struct out *, uint64_t address, int offset, int module,
		int digits);
void put_bits(const struct events *, struct out *, const unsigned char *, size_t len,
	      size_t bits, int list);
void put_dump(struct out *, const char *prefix, size_t prefix_len, int prefix_type,
	      int row, int group, const unsigned char *data, size_t len, int ascii,
	      int big);

/* The text at an address that printk_formats tells; NULL: none. */
const char *string_at(const struct events *, uint64_t address);

#endif
