/* SPDX-License-Identifier: ISC */
/* roles.c - look up the roles of system calls */

#include "calls/roles.h"

const struct call_role *role_of(struct text_part name)
{
	static const char names[] = ROLE_NAMES;
	static const uint16_t first[] = { ROLE_FIRST };
	static const struct call_role rows[] = { ROLE_ROWS }, none;
	const char *at, *end;
	unsigned hash = 0;

	for (size_t i = 0; i < name.n; i++)
		hash = hash * 31 + (unsigned char)name.text[i];
	hash %= ROLE_LISTS;
	end = names + first[hash + 1];
	for (at = names + first[hash]; at < end; at += at[1] + 2)
		if ((size_t)at[1] == name.n && !memcmp(at + 2, name.text, name.n))
			return &rows[(unsigned char)*at];
	return &none;
}

const struct call_role *role_of_call(const char *name)
{
	return role_of(text_part_of(name));
}

/* Return the bit of a word in a list of n words, or 0. */
static unsigned bit_of(const char (*list)[12], size_t n, struct text_part word)
{
	for (size_t i = 0; i < n; i++)
		if (text_part_is(word, list[i]))
			return 1u << i;
	return 0;
}

#define ROLE_TEXT(NAME, word) word,
#define BIT_OF(words, word) \
	bit_of((const char[][12]){ words(ROLE_TEXT) }, \
	       sizeof((const char[][12]){ words(ROLE_TEXT) }) / 12, word)

unsigned role_of_word(struct text_part word)
{
	return BIT_OF(ROLE_WORDS, word);
}

int roles_parse(const char *words, struct call_role_set *set)
{
	*set = (struct call_role_set){ 0 };
	for (;; words++) {
		const struct text_part word = { words, strcspn(words, ",") };
		const unsigned is = role_of_word(word), does = BIT_OF(ROLE_DOES, word),
			       fds = BIT_OF(ROLE_FDS, word);

		if (!(is | does | fds))
			return -1;
		set->is |= is;
		set->does |= does;
		set->fds |= fds << 1;
		words += word.n;
		if (!*words)
			return 0;
	}
}

int roles_match(const struct call_role_set *set, const struct call_role *role)
{
	return set->is & role->is || set->does & role->does ||
	       (role->fds < FDS_END && set->fds >> role->fds & 1);
}

const char *role_waits(const struct call_role *role)
{
	static const char waits[][18] = { ROLE_WAITS };

	return role->waits ? waits[role->waits - 1] : NULL;
}

const char *role_makes(const struct call_role *role)
{
	static const char named[][24] = { ROLE_NAMED };

	return role->fds == FDS_PIPE ? "pipe" :
	       role->fds > FDS_END ? named[role->fds - FDS_END - 1] : NULL;
}
