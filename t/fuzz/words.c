/* SPDX-License-Identifier: ISC */
/* words.c - words_split against a second splitter, words_quote as its inverse */
#include "fuzz.h"

/*
 * Split by POSIX sh, 2.2 Quoting, one character at a time. Write the words to out, each
 * with a NUL. Return their number, or -1 if a quote is left open.
 */
static int oracle(const char *s, char *out)
{
	enum { BETWEEN, PLAIN, SINGLE, DOUBLE } state = BETWEEN;
	int words = 0;
	char c;

	while ((c = *s++)) {
		if (c == '\\' && *s == '\n' && state != SINGLE) {
			s++;
			continue;
		}
		if (state == BETWEEN && strchr(" \t\n", c))
			continue;
		if (state == BETWEEN) {
			state = PLAIN;
			words++;
		}
		if (state == SINGLE && c == '\'') {
			state = PLAIN;
		} else if (state == SINGLE) {
			*out++ = c;
		} else if (c == '"') {
			state = state == DOUBLE ? PLAIN : DOUBLE;
		} else if (c == '\\' && !*s) {
			return -1;
		} else if (c == '\\' && (state == PLAIN || strchr("$`\"\\", *s))) {
			*out++ = *s++;
		} else if (state == PLAIN && c == '\'') {
			state = SINGLE;
		} else if (state == PLAIN && strchr(" \t\n", c)) {
			*out++ = '\0';
			state = BETWEEN;
		} else {
			*out++ = c;
		}
	}
	if (state == PLAIN)
		*out++ = '\0';
	return state == BETWEEN || state == PLAIN ? words : -1;
}

/* Call words_quote with exactly enough room, and with one byte less. */
static char *quote(const char *before, const char *word)
{
	size_t quotes = 0, need;
	int plain = *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRS"
					  "TUVWXYZ0123456789_-./:=,@%+")];
	char *buf, *tight;

	for (const char *p = word; *p; p++)
		quotes += *p == '\'';
	need = strlen(before) + (*before != '\0') + strlen(word) + 3 * quotes + (plain ? 1 : 3);
	buf = malloc(need);
	tight = malloc(need - 1);
	must(buf && tight);
	strcpy(buf, before);
	must(!words_quote(buf, need, word) && strlen(buf) == need - 1);
	must(!strncmp(buf, before, strlen(before)));
	strcpy(tight, before);
	must(words_quote(tight, need - 1, word) == -1 && !strcmp(tight, before));
	free(tight);
	return buf;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = next_part(&data, &size), *expected = malloc(strlen(s) + 1), *p = expected;
	const char *why = NULL;
	char **words = words_split(s, &why), **again, *quoted;
	int n = oracle(s, expected);

	must(expected && (words != NULL) == (n >= 0) && (words == NULL) == (why != NULL));
	for (int i = 0; i < n; i++, p += strlen(p) + 1)
		must(words[i] && !strcmp(words[i], p));
	must(n < 0 || !words[n]);

	/* all words, quoted in one string, and the input itself as one word */
	quoted = calloc(1, 1);
	for (int i = 0; i < n && i < 64; i++) {
		char *more = quote(quoted, words[i]);

		free(quoted);
		quoted = more;
	}
	again = words_split(quoted, &why);
	must(again);
	for (int i = 0; i < n && i < 64; i++)
		must(again[i] && !strcmp(again[i], words[i]));
	must(!again[n < 0 ? 0 : n < 64 ? n : 64]);
	free(again);
	free(quoted);

	quoted = quote("", s);
	again = words_split(quoted, &why);
	must(again && again[0] && !strcmp(again[0], s) && !again[1]);
	free(again);
	free(quoted);
	free(words);
	free(expected);
	free(s);
	return 0;
}
