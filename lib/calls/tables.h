/* SPDX-License-Identifier: ISC */
/*
 * tables.h - the compiled tables of system calls: tables.awk makes them of data/, tables.c has them
 *
 * They have no pointers: a text is an offset, and what belongs to a set, layout or call are rows
 * of a common table from .first on. The names of constants and members are packed.
 */
#ifndef CALLS_TABLES_H
#define CALLS_TABLES_H

#include "calls/calls.h"
#include "syscalls_names.h" /* made by tables.awk: SET_NAME, LAYOUT_NAME */

/* The kinds of members that no argument has. */
enum {
	MEMBER_SIGSET = CALL_NONE + 1, /* or bits of a set */
	MEMBER_FDSET,
	MEMBER_WAIT,            /* a status of wait(2) */
	MEMBER_CHARS,           /* an array of characters that a NUL may end */
	MEMBER_PAD,
	MEMBER_PORT,            /* a number in network byte order, perhaps of a set */
	MEMBER_INET,
	MEMBER_INET6,
	MEMBER_SUN_PATH,
	MEMBER_POINTER,         /* set: the argument of call_arguments that it points to */
	MEMBER_CAPS,            /* capabilities: 32, and 32 more in the next structure */
	MEMBER_DEV,             /* printed in place of the next member if it is not 0 */
	MEMBER_MAC,             /* a hardware address: 00:11:22:33:44:55 */
};

/* So many bytes of structures that follow each other are recorded. */
enum { CALL_CHAIN_MOST = 512 };

/* How a number in hexadecimal is printed: its set. */
enum { HEX_NUMBER, HEX_POINTER, HEX_BITS };

/* The contents of a buffer: its set. A NUL at the end of a value is not printed. */
enum { BUFFER_BYTES, BUFFER_VALUE, BUFFER_BITS, BUFFER_MESSAGE };

/* How a number is printed that no constant is equal to. */
enum set_rest { REST_HEX, REST_SIGNED, REST_UNSIGNED, REST_OCTAL, REST_KIBI, REST_PARTS };

/* A byte of a packed text. */
struct call_piece {
	char text[7];
	uint8_t n : 7;
	uint8_t last : 1;       /* the text ends behind it */
};

/*
 * The constants of sets whose values need one byte are first, then those of two, four and eight.
 * Those from CONSTANTS_ABIS on have a bit for each ABI, and each ABI has the others.
 */
struct call_constant {
	uint16_t name;          /* without the prefix of the set */
};

struct call_set {
	uint32_t mask;          /* these bits of flags are an enumeration */
	uint16_t first, n;      /* constants; of an enumeration: in the order of values */
	uint16_t prefix;
	uint8_t flags;          /* 0 an enumeration, 1 flags, 2 parts, 3 texts */
	uint8_t rest;           /* enum set_rest */
	uint16_t sub;           /* the set of the enumeration in mask; 0: this one */
	uint16_t parts;         /* the set of the rest */
};

enum member_rare { RARE_NEVER, RARE_ZERO, RARE_OTHER, RARE_BOTH };

/* What a member is. */
#define CALL_SHAPE                                                                                 \
	uint16_t count;                                                                            \
	uint16_t kind : 5, width : 5;                                                              \
	uint16_t array : 1;     /* print brackets */                                               \
	uint16_t rare : 2;      /* enum member_rare: when the member is left out */                \
	uint16_t unless : 1;    /* left out if a bit of the other member is set, not if none is */ \
	uint16_t out : 1;       /* the kernel writes it */                                         \
	uint16_t both : 1;      /* the kernel reads and writes it */                               \
	uint16_t set;                                                                              \
	uint8_t other;          /* the member that decides whether this one is left out */         \
	uint8_t last : 1;       /* printed in place of all after it */                             \
	uint8_t equal : 1;      /* bits is the value of the other member */                        \
	uint8_t counted : 1;    /* the other member has the number of elements */                  \
	uint8_t words : 2       /* of bits, in call_member_words */

struct call_shape {
	CALL_SHAPE;
};

/* The tables have it as words, call_members as this. */
struct call_member {
	uint32_t bits;          /* of the other member; 0: all */
	uint16_t name, offset;
	union {
		struct call_shape shape;
		struct {
			CALL_SHAPE;
		};
	};
};

struct call_layout {
	uint16_t first;         /* in call_member_words */
	uint16_t n;             /* members */
	uint16_t size, used;
	uint8_t least;          /* the size of the oldest version; 0: of the only one */
	uint8_t limit;          /* the member with the bytes that pointers may have; 0: none */
	uint16_t bare : 1;      /* one member that is printed without a name */
	uint16_t more : 1;      /* members are missing: "..." */
	uint16_t now : 1;       /* nanoseconds may be UTIME_NOW or UTIME_OMIT */
	uint16_t all : 1;       /* an option that is not all in memory is not printed as one */
	uint16_t part : 1;      /* the kernel writes as much as there is room for */
	uint16_t chain : 1;     /* its first member is its size: the next one follows */
	uint16_t length : 1;    /* print the old and the new value in one pair of [] */
	uint16_t joined : 1;    /* "|" is between members */
	uint16_t later : 1;     /* print what the kernel writes to its pointers after it */
	uint16_t names;         /* the set of attributes, whose types are in bits; 0: a structure */
};

enum call_unit { UNIT_ONE, UNIT_NODES, UNIT_PAGES };

enum { WIDTH_LONG = 16, WIDTH_OLD };    /* of an ABI: bytes of a long, and of an old id */

/* An argument of any ABI. */
struct call_argument {
	uint32_t name : 16;
	uint32_t set : 9;
	uint32_t kind : 7;      /* in call_kinds */
};

/* What an argument is; see struct call_arg. */
struct call_argument_kind {
	uint16_t label;
	uint16_t kind : 5, width : 5, place : 3, in : 1, out : 2;
	uint16_t after : 1, whole : 1, sized : 3;
	uint16_t count : 4;             /* this and sized: 1 + the argument, or member; 0: none */
	uint16_t unit : 2;              /* of the count: enum call_unit */
	uint16_t eights : 5;            /* 8 bytes each; 0: as many as the count or the kind says */
};

/* Rows of data/netlink.in; the last message has no layout, and the last protocol no types. */
struct call_message {
	uint16_t first, last;   /* types */
	uint16_t layout, attributes;
	uint8_t protocol;
	uint8_t family;         /* of addresses; 0: any */
	uint8_t request;        /* 1: a request, 2: none, 0: any */
};

struct call_protocol {
	uint16_t types, flags;  /* sets */
	uint8_t protocol;
};

enum { TEST_END, TEST_EQUAL, TEST_ANY, TEST_NONE };

/* Compare an argument with the value of this number. */
struct call_test {
	uint8_t test : 2, arg : 3;
	uint8_t bits : 3;       /* in call_test_bits: TEST_EQUAL: these have the value; 0: all */
};

struct call_data {
	uint16_t name, args;    /* the arguments and the result, in call_lists */
	uint16_t nargs : 3, variants : 13;      /* up to those of the next call */
};

struct call_variant_data {
	uint16_t args, when[2];
	uint8_t nargs, abis;
};

struct call_abi {
	char name[8];
	uint8_t word, big, align8;      /* align8: the alignment of 8 bytes */
	uint16_t numbers, n;            /* 1 + the call with each number, in call_numbers */
};

/* The rows of a layout, and which of them each ABI has. */
struct layout_rows {
	uint16_t first : 10;    /* in call_layouts */
	uint16_t form : 6;      /* in call_forms */
};

struct layout_form {
	uint8_t row[7];
};

extern const struct call_constant call_constants[];
extern const uint8_t call_values_1[];
extern const uint16_t call_values_2[];
extern const uint32_t call_values_4[];
extern const int64_t call_values_8[];
extern const uint8_t call_constant_abis[];
extern const struct call_set call_sets[];
extern const struct call_layout call_layouts[];
extern const struct call_message call_messages[];
extern const struct call_protocol call_protocols[];
extern const struct call_piece call_pieces[];
extern const char call_texts[];
extern const unsigned char call_packed[];

/* ---- tables.c ---- */

struct calls {
	const struct call_abi *abi;
	uint8_t word, big, ppc;
	uint8_t bit;                    /* in abis */
	struct call_entry **found;      /* the calls that calls_find has returned, by number */
};

/* Return the members of a layout. */
const struct call_member *call_members(const struct call_layout *);

/* Return a layout of this ABI. */
const struct call_layout *call_layout(const struct calls *, unsigned layout);

/* Set the argument to what a MEMBER_POINTER points to; its count is a member of the structure. */
void call_pointed(const struct calls *, const struct call_member *, struct call_arg *);

static inline uint64_t call_value_of(const struct call_constant *k)
{
	size_t i = (size_t)(k - call_constants);

	return i < CONSTANTS_2 ? call_values_1[i] :
	       i < CONSTANTS_4 ? call_values_2[i - CONSTANTS_2] :
	       i < CONSTANTS_8 ? call_values_4[i - CONSTANTS_4] :
				 (uint64_t)call_values_8[i - CONSTANTS_8];
}

/* Does this ABI have the constant? */
static inline int call_has_constant(const struct calls *c, const struct call_constant *k)
{
	size_t i = (size_t)(k - call_constants);

	return i < CONSTANTS_ABIS || call_constant_abis[i - CONSTANTS_ABIS] & c->bit;
}

/* ---- print.c ---- */

/* Write an address of IPv6 as inet_ntop(3) does, which writes a mapped one as IPv4. */
void call_ip6(struct out *, const unsigned char *);

#endif
