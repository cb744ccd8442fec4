/* SPDX-License-Identifier: ISC */
/* text.c - words, names and numbers that a stranger may have sent */
#include <stdlib.h>
#include <string.h>

#include "tfs.h"


int number(const char *s, unsigned long low, unsigned long high,
	   unsigned long *n)
{
	unsigned long v = 0;

	if (!*s)
		return -1;
	for (; *s; s++) {
		unsigned long digit = (unsigned long)(*s - '0');

		if (*s < '0' || *s > '9' || v > (ULONG_MAX - digit) / 10)
			return -1;
		v = 10 * v + digit;
	}
	if (v < low || v > high)
		return -1;
	*n = v;
	return 0;
}

unsigned long long digits_at(const char **s)
{
	unsigned long long n = 0;

	while (**s >= '0' && **s <= '9')
		n = 10 * n + (unsigned long long)(*(*s)++ - '0');
	return n;
}

size_t utf8_wide(const unsigned char *s, size_t n)
{
	size_t len = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;

	if (*s < 0xc2 || *s > 0xf4 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if (s[i] >> 6 != 2)
			return 0;
	/* longer than need be, a surrogate, beyond the last */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

pid_t pid_number(const char *s)
{
	unsigned long n;

	return number(s, 1, PID_MAX_LIMIT, &n) < 0 ? 0 : (pid_t)n;
}

int name_fits(const char *s, size_t most)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "abcdefghijklmnopqrstuvwxyz0123456789_.-");

	return n >= 1 && n <= most && !s[n] && *s != '.' && *s != '-';
}

int name_ok(const char *s)
{
	return name_fits(s, 64);
}

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/*
 * Copy the word at *s to out, unquoted and NUL-terminated; *s moves behind it.
 * The rules are those of POSIX sh, 2.2 Quoting, less every expansion.
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
				*out++ = *p; /* an ordinary character there */
			else if (*++p != '\n')
				*out++ = *p;
			/* else: a line continued */
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

char **split_words(const char *s, const char **why)
{
	size_t size = strlen(s) + 1, n = 0;
	/* each word needs a blank or the end behind it: size / 2 + 1 of them */
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

int quote_word(char *buf, size_t size, const char *word)
{
	size_t n = strlen(buf), need = strlen(word) + (n > 0) + 3;

	for (const char *p = word; (p = strchr(p, '\'')); p++)
		need += 3;
	if (n >= size || need > size - n)
		return -1;
	buf += n;
	if (n)
		*buf++ = ' ';
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
