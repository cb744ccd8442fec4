/* SPDX-License-Identifier: ISC */
/* print.h - what print.c has for the other files that print parts of calls */
#ifndef CALLS_PRINT_H
#define CALLS_PRINT_H

#include "calls/tables.h"

/* A call or a part of it that is printed. */
struct print {
	struct out o;
	const struct calls *c;
	const struct call_values *v;    /* of the call; not of a result */
	const struct call_bytes *old;   /* the memory at the entry; NULL: not known */
	const struct call_bytes *new;   /* at the return */
	int written;                    /* print only the members that the kernel writes */
	int behind;                     /* and descriptors without names: it is after the result */
	int with_out;                   /* print the members that the kernel writes, too */
	int failed;                     /* print only members that the kernel reads and writes */
	int part;                       /* print the bytes of a member of which a part is known */
	uint64_t left;                  /* bytes of the result that pointers of iovecs may have */
	int later;                      /* print only pointers to what the kernel writes */
	uint64_t size;                  /* of a structure, as an argument says; 0: none */
	unsigned family;                /* of the message of a netlink socket */
};

/* ---- print.c ---- */

uint64_t call_load(const struct calls *, const char *at, unsigned width);

/* Write the name of a constant without the prefix of its set. Return 0 if there is none. */
int put_constant(struct out *, const struct calls *, unsigned set, uint64_t v);

void put_set(struct print *, unsigned set, uint64_t v, unsigned width);
void put_quoted(struct print *, const char *, size_t n, int more);
void put_mac(struct print *, const char *, size_t n);

/* Print an element of a member, or a structure, of which n bytes are known. */
void put_element(struct print *, const struct call_member *, const char *at, size_t n,
		 uint64_t most);
void put_layout(struct print *, unsigned layout, const char *at, size_t n);

/* ---- print_netlink.c ---- */

/*
 * Print messages of n bytes, of which known are known, of a netlink socket. Return 0 if they are
 * none.
 */
int call_put_netlink(struct print *, const char *at, size_t known, size_t n);

#endif
