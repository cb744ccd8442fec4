/* SPDX-License-Identifier: ISC */
/*
 * cursor.h - read the head of an untrusted trace.dat step by step
 *
 * A cursor reads only inside its range of the file. The first error prints one message and
 * sets failed. After that every read returns 0, so a caller checks failed only where it
 * matters.
 */
#ifndef TRACEDAT_CURSOR_H
#define TRACEDAT_CURSOR_H

#include "tracedat/tracedat.h"

/* Bytes that are read at a time */
#define DAT_CURSOR_MAX 4096

/* A position in the file, and the end of the cursor's range. */
struct dat_cursor {
	const struct dat *d;
	uint64_t at, end;
	const char *what;       /* name of the range, for messages: "FILE ends in WHAT" */
	int failed;
	uint64_t from;          /* text holds n bytes of the file from here on */
	size_t n;
	unsigned char text[DAT_CURSOR_MAX];
};

/* Return a cursor over n bytes of the file. what is owned by the caller. */
struct dat_cursor dat_cursor_begin(const struct dat *, uint64_t at, uint64_t n, const char *what);

/* Fail: print "FILE is damaged: WHY", unless the cursor has failed already. */
void dat_cursor_damaged(struct dat_cursor *, const char *why);

/* Skip n bytes. Return 1, or 0, reported, if there are fewer. */
int dat_cursor_skip(struct dat_cursor *, uint64_t n);

/* Read n bytes, at most DAT_CURSOR_MAX. Return them, valid until the next call, or NULL. */
const unsigned char *dat_cursor_bytes(struct dat_cursor *, size_t n);

/* Read a number of n bytes. */
uint64_t dat_cursor_number(struct dat_cursor *, size_t n);

/* Read a string and its NUL into out, cut to size. Fail if it has DAT_CURSOR_MAX bytes. */
void dat_cursor_string(struct dat_cursor *, char *out, size_t size);

/* Read n bytes and fail with why if they differ from word. */
void dat_cursor_expect(struct dat_cursor *, const char *word, size_t n, const char *why);

/* Read a length of size bytes, skip that many bytes and return them as an extent. */
struct dat_extent dat_cursor_extent(struct dat_cursor *, size_t size);

/* Read n bytes of the file from offset at into out. Return 0, or -1, reported. */
int dat_read(const struct dat *, void *out, size_t n, uint64_t at);

#endif
