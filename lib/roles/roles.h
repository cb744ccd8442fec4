/* SPDX-License-Identifier: ISC */
/*
 * roles.h - what kind of system call is this: the roles of each call, from roles.in
 *
 * All that asks for the kind of a call by its name asks here. A name is that of the call or of the
 * kernel's function, whose events have it: stat and newstat have the same roles.
 */
#ifndef ROLES_H
#define ROLES_H

#include "base/base.h"
#include "roles_data.h" /* made by roles.awk */

/* IS_WORD: a bit for each word of roles.in. ROLE_CLASSES: those of the classes. */
#define ROLE_NUMBER(NAME, word) IS_##NAME##_NUMBER,
#define ROLE_BIT(NAME, word) IS_##NAME = 1 << IS_##NAME##_NUMBER,
enum { ROLE_WORDS(ROLE_NUMBER) ROLE_WORDS_END };
enum { ROLE_WORDS(ROLE_BIT) };

/* Return the roles of a call, or 0: bits, and what it waits for. */
unsigned roles_of(struct text_part name);
unsigned roles_of_call(const char *name);

/* Return the bit of a word of roles.in, or 0. */
unsigned role_of_word(struct text_part word);

/* Return the word for what a task waits for in a call with these roles, or NULL. */
const char *roles_wait(unsigned roles);

#endif
