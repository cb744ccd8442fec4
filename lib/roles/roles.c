/* SPDX-License-Identifier: ISC */
/* roles.c - look up the roles of system calls */

#include "roles/roles.h"

enum { WAITS_SHIFT = 24 };

unsigned roles_of(struct text_part name)
{
	static const char names[] = ROLE_NAMES;
	static const uint16_t first[] = { ROLE_FIRST };
	static const uint32_t rows[] = { ROLE_ROWS };
	const char *at, *end;
	unsigned hash = 0;

	for (size_t i = 0; i < name.n; i++)
		hash = hash * 31 + (unsigned char)name.text[i];
	hash %= ROLE_LISTS;
	end = names + first[hash + 1];
	for (at = names + first[hash]; at < end; at += at[1] + 2)
		if ((size_t)at[1] == name.n && !memcmp(at + 2, name.text, name.n))
			return rows[(unsigned char)*at];
	return 0;
}

unsigned roles_of_call(const char *name)
{
	return roles_of((struct text_part){ name, strlen(name) });
}

unsigned role_of_word(struct text_part word)
{
#define ROLE_TEXT(NAME, word) word,
	static const char words[][12] = { ROLE_WORDS(ROLE_TEXT) };

	for (unsigned i = 0; i < ROLE_WORDS_END; i++)
		if (text_part_is(word, words[i]))
			return 1u << i;
	return 0;
}

const char *roles_wait(unsigned roles)
{
	static const char waits[][18] = { "", ROLE_WAITS };

	return roles >> WAITS_SHIFT ? waits[roles >> WAITS_SHIFT] : NULL;
}
