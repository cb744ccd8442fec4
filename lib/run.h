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

#include "event.h"

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
	OP_OWN,                 /* pop; what only the ftrace events' text has */
	OP_FIELDS,              /* all fields as name=value */
};

/* What OP_OWN writes, in k. */
enum own { OWN_IP, OWN_PROBE, OWN_PROBE_BARE, OWN_BYTES, OWN_STACK, OWN_USER_STACK,
	   OWN_TIME, OWN_BPRINT, OWN_MODE, OWN_BUFFER, OWN_TEXT, OWN_QUOTED,
	   OWN_WORD };

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

/* ---- output: put.c ---------------------------------------------------------- */

/*
 * Where text goes. Whatever writes makes sure of its room first; at the end of
 * the room, text is cut.
 */
struct out {
	char *at, *end;
};

HOT static inline size_t room(const struct out *o)
{
	return (size_t)(o->end - o->at);
}

void put(struct out *, const char *s, size_t n);
void put_char(struct out *, char c);

/* Is it a control character? A line of text does not have these as they are. */
HOT static inline int is_control(unsigned char c)
{
	return c < ' ' || c == 0x7f;
}

/* How many of eight bytes are in front of the first control character; 8: there is none. */
HOT static inline unsigned plain_bytes(const void *s)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t v, x, found;

	memcpy(&v, s, 8);
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		v = __builtin_bswap64(v);
	x = v ^ 0x7f * ones;
	/* the high bit of a byte that is below a blank, or DEL; the lowest one is true */
	found = (((v - ' ' * ones) & ~v) | ((x - ones) & ~x)) & 0x80 * ones;
	return found ? (unsigned)__builtin_ctzll(found) / 8 : 8;
}

/* Put a question mark for each, where a column is as wide whatever a task's name is. */
static inline void mask_controls(char *s, const char *end)
{
	for (; s < end; s++)
		if (is_control((unsigned char)*s))
			*s = '?';
}

/*
 * Write text that came with a record: \n, \t and \x1b stand for control characters.
 * exact: write every byte as it is.
 */
void put_data(struct out *, const char *s, size_t n, int exact);
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

/* Eight hexadecimal digits, the first in the lowest byte in memory. */
HOT static inline void eight_hex(char *p, uint32_t v)
{
	uint64_t x = (uint64_t)(v >> 16) << 32 | (v & 0xffff), tens;

	x = (x << 8 | x) & 0x00ff00ff00ff00ffull;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0full;
	tens = (x + 0x0606060606060606ull) >> 4 & 0x0101010101010101ull;
	x += 0x3030303030303030ull + tens * ('a' - '0' - 10);
	x = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? x : __builtin_bswap64(x);
	memcpy(p, &x, 8);
}

/* The digits of v, where there is room for DIGITS; behind them. */
enum { DIGITS = 20 };

HOT static inline char *hex_digits(char *p, uint64_t v)
{
	unsigned n = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;

	v <<= 64 - 4 * n;
	eight_hex(p, (uint32_t)(v >> 32));
	if (n > 8)
		eight_hex(p + 8, (uint32_t)v);
	return p + n;
}

char *decimal_digits(char *p, uint64_t v);

/* ---- own.c: the kernel's own entries, seldom.c: what few events have ---------- */

struct machine {
	struct events *evs;
	const struct event *e;
	const struct program *p;
	const struct record *r;
	struct out o;
	int raw_clock;
	uint64_t stack[STACK + 1];
	char *padded;           /* what PADDED pads starts here */
	unsigned pad_flags;
	int pad_width, pad_precision;
};

/* The bytes of a region, inside the record whatever it says. */
const unsigned char *memory(const struct machine *, uint64_t where, size_t *len);

/* The step, with the stack's top; the top it leaves. It is none that jumps. */
uint64_t *run_seldom(struct machine *, const struct step *, uint64_t *top);

/* Write a number, or the character of a %c as put_data writes it. */
void put_one(struct machine *, const struct conversion *, int width, int precision,
	     uint64_t v);

void put_own(struct machine *, enum own, uint64_t v, uint64_t below);
void put_bytes(struct machine *, uint64_t where, char between);

/* The place of what a step writes for a value, whosever it is now. */
HOT static inline struct memo *memo_of(struct events *evs, const struct step *s, uint64_t v)
{
	return &evs->memos[(v ^ v >> 8 ^ v >> 16 ^ (uintptr_t)s >> 3) %
			   (sizeof(evs->memos) / sizeof(*evs->memos))];
}

/* What event_print is made of: text from at on, no further than end; behind it. */
char *run_event(struct events *, const struct record *, int raw_clock, char *at, char *end);

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

/* page_next, if the next record is one as nearly all: its type the length in words. */
HOT static inline int page_plain(struct page *p, struct record *r)
{
	size_t left = (size_t)(p->end - p->at);
	uint32_t word, words;

	if (left < 4)
		return 0;
	word = (uint32_t)get(p->at, 4, 0, p->big);
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
