/* SPDX-License-Identifier: ISC */
/*
 * format.c - the formatter against snprintf, and the one line of an error
 *
 * Input: which directive, room, 8 bytes of a value, then text NUL text.
 */
#include <stdio.h>

#include "fuzz.h"

/* Run both with the same arguments: length and every byte must be equal. */
#define agree(room, ...) do { \
	char *ours = malloc(room), *theirs = malloc(room); \
	size_t n_ours = str_format(ours, room, __VA_ARGS__); \
	int n_theirs = snprintf(theirs, room, __VA_ARGS__); \
	must((size_t)n_theirs == n_ours); \
	must(!(room) || !memcmp(ours, theirs, n_ours < (room) ? n_ours + 1 : (room))); \
	free(ours); \
	free(theirs); \
} while (0)

/* Use text as part of a format that takes no argument. */
static char *literal(const char *s)
{
	char *text = malloc(2 * strlen(s) + 1), *p = text;

	must(text);
	for (; *s; s++) {
		if (*s == '%')
			*p++ = '%';
		*p++ = *s;
	}
	*p = '\0';
	return text;
}

static void one(int which, size_t room, long long v, const char *a, const char *b)
{
	size_t len = strlen(a);
	/* memory that ends with the text: a precision also limits reading */
	char *bare = malloc(len + 1);
	int most = (int)((unsigned long long)v % (len + 1));

	must(bare);
	memcpy(bare, a, len + 1);
	switch (which) {
	case 0: agree(room, "%s %s", a, b); break;
	case 1: agree(room, "%d.%d", (int)v, (int)(v >> 32)); break;
	case 2: agree(room, "%ld%lld", (long)v, v); break;
	case 3: agree(room, "%u,%lu", (unsigned)v, (unsigned long)v); break;
	case 4: agree(room, "%llu%%%s", (unsigned long long)v, b); break;
	case 5: agree(room, "%zu%zd", (size_t)v, (ssize_t)v); break;
	case 6: agree(room, "%c%c", (int)(v & 255), 'x'); break;
	case 7: agree(room, "%.3s|%.0s|%.80s", a, b, b); break;
	case 8: agree(room, "<%.*s>", (int)v, a); break;
	case 9:
		bare = realloc(bare, (size_t)most + 1);
		bare[most] = '!';
		agree(room, "%.*s", most, bare);
		break;
	}
	free(bare);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *a, *b, *text;
	long long v;
	size_t room;
	int which;

	if (size < 10)
		return 0;
	which = *data % 10;
	room = data[1];
	memcpy(&v, data + 2, sizeof(v));
	data += 10;
	size -= 10;
	a = next_part(&data, &size);
	b = next_part(&data, &size);
	one(which, room, v, a, b);
	text = literal(a);
	agree(room, text);
	free(text);

	listen_to_stderr();
	must_be_said(err_msg("%s%s", a, *a || *b ? b : "x"));
	listen_to_stderr();
	errno = EINVAL;
	must_be_said(err_errno("%s '%.80s' %lld", a, b, v));
	must(errno == EINVAL);
	free(a);
	free(b);
	return 0;
}
