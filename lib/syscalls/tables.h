/* SPDX-License-Identifier: ISC */
/* tables.h - the tables of an ABI in memory: table.c reads them, print.c prints with them */
#ifndef CALLS_TABLES_H
#define CALLS_TABLES_H

#include "syscalls/syscalls.h"

/* The kinds of members that no argument has. */
enum {
	MEMBER_SIGSET = CALL_NONE + 1,
	MEMBER_FDSET,
	MEMBER_WAIT,            /* a status of wait(2) */
	MEMBER_CHARS,           /* an array of characters that a NUL may end */
	MEMBER_PAD,
	MEMBER_PORT,            /* a number in network byte order */
	MEMBER_INET,
	MEMBER_INET6,
	MEMBER_SUN_PATH,
	MEMBER_DEV,             /* printed in place of the next member if it is not 0 */
	MEMBER_KINDS
};

/* How a number in hexadecimal is printed: its set. */
enum { HEX_NUMBER, HEX_POINTER, HEX_BITS };

/* The sets that print.c itself uses: tables.awk gives them these numbers. */
enum { SET_ERRNO, SET_SIGNAL, SET_OWN };

/* The same of layouts: socket addresses; options of sockets that have no layout. */
enum { ADDRESS_ANY, ADDRESS_UNIX, ADDRESS_INET, ADDRESS_INET6, ADDRESS_NETLINK, ADDRESS_PACKET,
       ADDRESS_VSOCK, OPTION_ANY, OPTION_TEXT, LAYOUTS_OWN };

struct constant {
	uint64_t value;
	const char *name;       /* without the prefix of the set */
	size_t length;
};

struct set {
	const struct constant *v;       /* of an enumeration: in the order of values */
	size_t n;
	uint64_t mask;                  /* these bits of flags are an enumeration */
	const char *prefix;
	uint8_t nprefix, parsed;
	uint8_t flags;
	char rest;                      /* how to print an unknown value: x d u o k i */
	uint16_t sub;                   /* the set of the enumeration in mask; 0: this one */
};

enum member_rare { RARE_NEVER, RARE_ZERO, RARE_OTHER, RARE_BOTH };

struct member {
	const char *name;
	uint16_t offset, count, set;
	uint8_t length, kind, width;
	uint8_t array;                  /* print brackets */
	uint8_t rare;                   /* enum member_rare: when the member is left out */
	uint8_t other;                  /* the member that decides it */
	char test;                      /* & one of the bits, ! none of them, 0: not zero */
	uint64_t bits;
	uint8_t place;                  /* of an argument: enum call_place */
	uint8_t out;                    /* the kernel writes it */
	uint8_t both;                   /* the kernel reads and writes it */
};

struct layout {
	const struct member *v;
	uint16_t n, size, used;
	uint8_t parsed;
	uint8_t bare;                   /* one member that is printed without a name */
	uint8_t more;                   /* members are missing: "..." */
	uint8_t now;                    /* nanoseconds may be UTIME_NOW or UTIME_OMIT */
	uint8_t length;                 /* print the old and the new value in one pair of [] */
};

struct call_entry {
	struct call call;
	struct {
		uint64_t value, bits;
		char test;              /* = & !; 0: none */
		uint8_t arg;
	} when[2];                      /* of a variant: see calls_match */
	uint8_t parsed;
};

struct calls {
	char *text;
	char **lines;                   /* sets, layouts, calls */
	struct set *sets;
	struct layout *layouts;
	struct call_entry *calls;
	struct constant *constants;     /* room for nconstants */
	struct member *members;
	void *all_constants, *all_members;
	uint16_t *numbers;              /* 1 + the index of the call */
	size_t nsets, nlayouts, ncalls, nconstants, nmembers, nnumbers;
	uint8_t abi, ppc, word, big, align8; /* align8: the alignment of 8 bytes */
};

#endif
