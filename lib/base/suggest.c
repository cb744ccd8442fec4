/* SPDX-License-Identifier: ISC */
/* suggest.c - find the names that a mistyped word may have meant */

#include "base/base.h"

enum { LONGEST = 64, SHORTEST = 3 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * Return how many letters must be inserted, deleted, replaced, or swapped with the next letter to
 * make a from b (Damerau 1964, adjacent swaps only). Return UINT_MAX if one is longer than LONGEST.
 */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][LONGEST + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > LONGEST || lb > LONGEST)
		return UINT_MAX;
	for (unsigned j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= la; i++) {
		unsigned *now = rows[i % 3], *one = rows[(i + 2) % 3], *two = rows[(i + 1) % 3];

		now[0] = i;
		for (unsigned j = 1; j <= lb; j++) {
			now[j] = least(one[j - 1] + (a[i - 1] != b[j - 1]),
				       least(one[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], two[j - 2] + 1);
		}
	}
	return rows[la % 3][lb];
}

void suggest_offer(struct suggest *near, const char *name)
{
	size_t wanted = strlen(near->word), n = strnlen(name, 2 * wanted + 16);
	unsigned limit = n / 3 > 2 ? (unsigned)(n / 3) : 2, d, i;

	if (wanted >= SHORTEST && !strncmp(name, near->word, wanted)) {
		d = 1; /* the word is the beginning of the name */
	} else {
		/* do not compare names of very different lengths: there may be 100,000 names */
		if ((n > wanted ? n - wanted : wanted - n) > limit)
			return;
		d = distance(near->word, name);
		if (d > limit)
			return;
	}
	/* if names are equally near, the one that was offered first comes first */
	for (i = near->n; i && near->far[i - 1] > d; i--)
		if (i < SUGGEST_MAX) {
			near->name[i] = near->name[i - 1];
			near->far[i] = near->far[i - 1];
		}
	if (i == SUGGEST_MAX)
		return;
	near->name[i] = name;
	near->far[i] = d;
	if (near->n < SUGGEST_MAX)
		near->n++;
}

const char *suggest_remedy(const struct suggest *near, const char *otherwise)
{
	static char text[SUGGEST_MAX * (2 * LONGEST + 4) + 16];
	size_t n = str_format(text, sizeof(text), "did you mean ");

	for (unsigned i = 0; i < near->n; i++)
		n += str_format(text + n, sizeof(text) - n, "%s%s", near->name[i],
				i + 1 < near->n ? ", " : "?");
	return near->n ? text : otherwise;
}
