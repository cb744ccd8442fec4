/* SPDX-License-Identifier: ISC */
/*
 * datat.h - reading at a place of a trace.dat that nobody vouches for
 *
 * Nothing in a file is believed: whatever is read is inside the file, and inside
 * of what it is a part of. What goes wrong is said once, and all else is 0: who
 * reads looks at failed where it matters.
 */
#ifndef TRACEDAT_CURSOR_H
#define TRACEDAT_CURSOR_H

#include "tracedat/tracedat.h"

/* What is read of a head at a time */
#define DAT_CURSOR_MAX 4096

/* Where we are in the file. */
struct dat_cursor {
	const struct dat *d;
	uint64_t at, end;       /* nothing of it is read from end on */
	const char *what;       /* for messages */
	int failed;
	uint64_t from;          /* what text holds */
	size_t n;
	unsigned char text[DAT_CURSOR_MAX];
};

/* From there on in the file, n bytes. what is the caller's: it ends in WHAT. */
struct dat_cursor dat_cursor_begin(const struct dat *, uint64_t at, uint64_t n, const char *what);

/* It has failed, and this is why. */
void dat_cursor_damaged(struct dat_cursor *, const char *why);

/* Go past n bytes; 1 when there are as many. */
int dat_cursor_skip(struct dat_cursor *, uint64_t n);

/* n bytes, no more than DAT_CURSOR_MAX, valid until the next call; NULL failed. */
const unsigned char *dat_cursor_bytes(struct dat_cursor *, size_t n);

/* A number of n bytes */
uint64_t dat_cursor_number(struct dat_cursor *, size_t n);

/* A string with its NUL, into out, cut to size; it has 0 to DAT_CURSOR_MAX - 1 bytes. */
void dat_cursor_string(struct dat_cursor *, char *out, size_t size);

/* The n bytes of word, or it is damaged. */
void dat_cursor_expect(struct dat_cursor *, const char *word, size_t n, const char *why);

/* An extent behind its length of size bytes */
struct dat_extent dat_cursor_extent(struct dat_cursor *, size_t size);

/* n bytes of the file, from there on, into out. -1 said. */
int dat_read(const struct dat *, void *out, size_t n, uint64_t at);

#endif
