/* SPDX-License-Identifier: ISC */
/* words.c - split and quote words as a shell does, without any expansion */

#include "base/base.h"

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/*
 * Copy the word at *s to out, without its quotes and with a NUL, and move *s after the
 * word. The rules are those of POSIX sh, 2.2 Quoting, without expansions. Return the end
 * of the copy, or NULL with the reason in *why.
 */
static char *copy_word(const char **s, char *out, const char **why)
{
	const char *p = *s;
	char quote = 0;

	for (; *p && (quote || !is_blank(*p)); p++) {
		if (quote ? *p == quote : *p == '\'' || *p == '"') {
			quote = quote ? 0 : *p;
		} else if (*p == '\\' && quote != '\'') {
			if (!p[1]) {
				*why = "a backslash at the end quotes nothing";
				return NULL;
			}
			if (quote && !strchr("$`\"\\\n", p[1]))
				*out++ = *p; /* in double quotes, an ordinary backslash */
			else if (*++p != '\n')
				*out++ = *p;
			/* else: the line continues */
		} else {
			*out++ = *p;
		}
	}
	if (quote) {
		*why = quote == '"' ? "a double quote is left open"
				    : "a single quote is left open";
		return NULL;
	}
	*out++ = '\0';
	*s = p;
	return out;
}

char **words_split(const char *s, const char **why)
{
	size_t size = strlen(s) + 1, n = 0;
	/* a space or the end follows each word: there are at most size / 2 + 1 words */
	size_t most = size / 2 + 2;
	char **words = malloc(most * sizeof(*words) + size);
	char *out = words ? (char *)(words + most) : NULL;

	if (!words) {
		*why = "out of memory";
		return NULL;
	}
	for (;;) {
		while (is_blank(*s) || (*s == '\\' && s[1] == '\n'))
			s += *s == '\\' ? 2 : 1;
		if (!*s)
			break;
		words[n++] = out;
		out = copy_word(&s, out, why);
		if (!out) {
			free(words);
			return NULL;
		}
	}
	words[n] = NULL;
	return words;
}

int words_quote(char *buf, size_t size, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./:=,@%+";
	int quotes = !*word || word[strspn(word, plain)];
	size_t n = strlen(buf), need = strlen(word) + (n > 0) + (quotes ? 3 : 1);

	for (const char *p = word; (p = strchr(p, '\'')); p++)
		need += 3;
	if (n >= size || need > size - n)
		return -1;
	buf += n;
	if (n)
		*buf++ = ' ';
	if (!quotes) {
		strcpy(buf, word);
		return 0;
	}
	*buf++ = '\'';
	for (; *word; word++)
		if (*word == '\'')
			buf = stpcpy(buf, "'\\''");
		else
			*buf++ = *word;
	*buf++ = '\'';
	*buf = '\0';
	return 0;
}
