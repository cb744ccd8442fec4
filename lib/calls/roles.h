/* SPDX-License-Identifier: ISC */
/*
 * roles.h - what kind of system call is this, and what does it do to which file: roles.in
 *
 * All code that needs the kind of a call by its name asks here. A name is that of the call, or that
 * of the kernel's function, as events have it: stat and newstat have the same roles.
 */
#ifndef ROLES_H
#define ROLES_H

#include "base/base.h"
#include "roles_data.h" /* made by roles.awk */

/* IS_WORD, DOES_WORD: a bit for each word of roles.in. ROLE_CLASSES: the bits of the classes. */
#define IS_NUMBER(NAME, word) IS_##NAME##_NUMBER,
#define IS_BIT(NAME, word) IS_##NAME = 1 << IS_##NAME##_NUMBER,
#define DOES_NUMBER(NAME, word) DOES_##NAME##_NUMBER,
#define DOES_BIT(NAME, word) DOES_##NAME = 1 << DOES_##NAME##_NUMBER,
enum { ROLE_WORDS(IS_NUMBER) };
enum { ROLE_WORDS(IS_BIT) };
enum { ROLE_DOES(DOES_NUMBER) };
enum { ROLE_DOES(DOES_BIT) };

/* What a call does to descriptors; a greater number than FDS_END: it makes a file of that name. */
#define FDS_NUMBER(NAME, word) FDS_##NAME,
enum { FDS_NONE, ROLE_FDS(FDS_NUMBER) FDS_END };

/* Is a symbolic link itself the file of its path? The lower bits have the argument of flags. */
enum { LINK_ITSELF = 1, LINK_IF = 8, LINK_UNLESS = 16 };

struct call_role {
	uint32_t is;            /* IS_WORD */
	uint16_t does;          /* DOES_WORD */
	uint8_t waits;          /* role_waits returns the word */
	uint8_t fds;            /* FDS_WORD */
	struct {
		uint8_t arg, link;      /* 1 + the argument; 0: none */
	} file[2];
};

/* Return the roles of a call; all zero if it has none. */
const struct call_role *role_of(struct text_part name);
const struct call_role *role_of_call(const char *name);

/* Return the IS_ bit that stands for this word of roles.in; 0 if it is no such word. */
unsigned role_of_word(struct text_part word);

/* Words of roles.in: bits IS_WORD, DOES_WORD, and 1 << FDS_WORD. */
struct call_role_set {
	unsigned is, does, fds;
};

/* Set the set to words with commas between. Return 0, or -1 if one of them is unknown. */
int roles_parse(const char *words, struct call_role_set *);

/* Does one of the words describe the call? */
int roles_match(const struct call_role_set *, const struct call_role *);

/* Return the word for what a task waits for in the call, or NULL. */
const char *role_waits(const struct call_role *);

/* Return the name of the file that the call makes, or NULL. */
const char *role_makes(const struct call_role *);

#endif
