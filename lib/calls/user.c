/* SPDX-License-Identifier: ISC */
/* user.c - user memory of a call, from the records of a trace */
#include <stdlib.h>
#include <string.h>

#include "calls/calls.h"

/* Append bytes to an argument, as many as it may have. Return 0, or -1 without memory. */
static int add(struct call_user *u, unsigned arg, const char *s, size_t n)
{
	struct strbuf *b = &u->text[arg];
	struct call_bytes *to = &u->args[arg];

	if (n > CALL_USER_MOST - b->n) {
		n = CALL_USER_MOST - b->n;
		u->cut |= 1u << arg;
	}
	to->cut = u->cut >> arg & 1;
	if (b->n + n >= b->room) {
		size_t room = 2 * (b->n + n) + 32;
		char *more = realloc(b->text, room);

		if (!more)
			return -1;
		b->text = more;
		u->room += room - b->room;
		b->room = room;
	}
	if (n)
		memcpy(b->text + b->n, s, n);
	to->bytes = b->text;
	to->n = b->n += n;
	b->text[b->n] = '\0';
	return 0;
}

/* Add the bytes of hexadecimal numbers with blanks between. Return 0 or -1. */
static int add_words(struct call_user *u, unsigned arg, const char *s, const char *end)
{
	int swap = u->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__), words = 0;

	for (; s < end; s++, words++) {
		uint64_t v = 0;
		int digits = 0;

		for (; s < end && *s != ' '; s++, digits++) {
			unsigned c = (unsigned char)*s;
			unsigned d = c - '0' < 10 ? c - '0' : c - 'a' < 6 ? c - 'a' + 10 : 16;

			if (d > 15 || digits == 16)
				return -1;
			v = v << 4 | d;
		}
		if (swap)
			v = __builtin_bswap64(v);
		if (!digits || words == 12 || add(u, arg, (const char *)&v, sizeof(v)) < 0)
			return -1;
	}
	return words ? 0 : -1;
}

int call_user_add(struct call_user *u, const char *record, size_t n)
{
	unsigned arg = n < 2 ? CALL_ARGS : (unsigned)(unsigned char)record[1] - '0';
	const char *s = record + (n < 3 ? n : 3), *end = record + n;
	char tag = n ? *record : '\0';
	struct call_bytes *to;
	int r = -1;

	if (tag == 'k' && n == 1) {
		u->compat = 1;
		return 0;
	}
	if (arg >= CALL_ARGS || (n > 2 && record[2] != ' '))
		return -1;
	to = &u->args[arg];
	switch (tag) {
	case 'a':
		r = add(u, arg, s, (size_t)(end - s));
		if (!r && u->arrays >> arg & 1)
			r = add(u, arg, "", 1);
		break;
	case 'b':
		r = add(u, arg, s, (size_t)(end - s));
		to->cut = 1; /* until the next part comes */
		break;
	case 'c':
		u->cut |= 1u << arg;
		r = add(u, arg, s, (size_t)(end - s));
		break;
	case 'x':
		to->fault = 1;
		to->cut = u->cut >> arg & 1;
		r = 0;
		break;
	case 'd':
		r = add_words(u, arg, s, end);
		break;
	case 'e':
		u->cut |= 1u << arg;
		r = s == end ? add(u, arg, "", 0) : add_words(u, arg, s, end);
		break;
	case 's':
		u->arrays |= 1u << arg;
		/* the string before it may be cut */
		r = add(u, arg, "", to->n && to->bytes[to->n - 1]);
		to->cut = 1; /* until the string comes */
		break;
	}
	return r;
}

int call_user_set(struct call_user *u, unsigned arg, const void *bytes, size_t n)
{
	u->text[arg].n = 0;
	u->args[arg] = (struct call_bytes){ 0 };
	u->cut &= ~(1u << arg);
	return add(u, arg, bytes, n);
}

size_t call_user_room(const struct call_user *u)
{
	return sizeof(*u) + u->room;
}

void call_user_clear(struct call_user *u)
{
	for (unsigned i = 0; i < CALL_ARGS; i++)
		u->text[i].n = 0;
	memset(u->args, 0, sizeof(u->args));
	u->arrays = u->cut = 0;
	u->compat = 0;
}

void call_user_free(struct call_user *u)
{
	for (unsigned i = 0; i < CALL_ARGS; i++)
		free(u->text[i].text);
	*u = (struct call_user){ .big = u->big };
}
