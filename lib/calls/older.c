/* SPDX-License-Identifier: ISC */
/* older.c - read the records of earlier versions, which are text */

#include "event/event.h"
#include "calls/calls.h"

enum { WORDS = 12 }; /* of 8 bytes in a record, after an address */

const char *older_text(const struct event_set *evs, const struct field *f, const struct record *r,
		       const char *id, size_t *n)
{
	const char *s, *end, *space;
	struct field_data v;

	if (!f || field_value(evs, f, r, &v) < 0 || v.kind != FIELD_STRING)
		return NULL;
	s = (const char *)v.data;
	end = s + v.n;
	space = memchr(s, ' ', v.n);
	if (!space || (id ? (size_t)(space - s) != strlen(id) || memcmp(s, id, strlen(id)) :
		       space - s < 4 || memcmp(s, "tfs_", 4)))
		return NULL;
	*n = (size_t)(end - space - 1);
	return *n ? space + 1 : NULL;
}

/* Read a hexadecimal number at *s up to a space, a dot or the end, and move *s. Return 0 or -1. */
static int read_hex(const char **s, const char *end, uint64_t *v)
{
	int digits = 0;

	for (*v = 0; *s < end && **s != ' ' && **s != '.'; ++*s, digits++) {
		unsigned c = (unsigned char)**s;
		unsigned d = c - '0' < 10 ? c - '0' : c - 'a' < 6 ? c - 'a' + 10 : 16;

		if (d > 15 || digits == 16)
			return -1;
		*v = *v << 4 | d;
	}
	return digits ? 0 : -1;
}

/*
 * Read hexadecimal numbers of 8 bytes with spaces between; .3 at the end: 3 bytes count. Return the
 * number of bytes; 0: it is no such text.
 */
static size_t read_words(const char *s, const char *end, unsigned most, uint64_t *v)
{
	size_t n = 0;

	for (; s < end; s++) {
		if (n == most || read_hex(&s, end, &v[n++]) < 0)
			return 0;
		if (s < end && *s == '.')
			return end - s == 2 && s[1] > '0' && s[1] < '8' ?
			       (n - 1) * sizeof(*v) + (size_t)(s[1] - '0') : 0;
	}
	return n * sizeof(*v);
}

int older_begins(const char *record, size_t n)
{
	return n && *record >= 'A' && *record <= 'Z' &&
	       (n == 1 || (record[1] >= 'a' && record[1] <= 'f'));
}

int older_memory(struct call_user *u, const char *record, size_t n)
{
	unsigned arg = n < 2 ? CALL_ARGS + 1 : (unsigned)(unsigned char)record[1] -
		       (older_begins(record, n) ? 'a' : '0');
	const char *s = record + (n < 3 ? n : 3), *end = record + n;
	uint64_t v[WORDS + 1];
	size_t words = 0;

	if (arg > CALL_ARGS || (n > 2 && record[2] != ' '))
		return -1;
	if (strchr("rpPdD", *record) || (strchr("eE", *record) && s < end)) {
		words = read_words(s, end, WORDS + (arg == CALL_ARGS), v);
		if (!words)
			return -1;
	}
	switch (*record) {
	case 'r':
		if (words != 3 * sizeof(*v) || arg + 3 > CALL_ARGS)
			return -1;
		memcpy(&u->registers[arg], v, words);
		u->nregisters = arg + 3;
		return 0;
	case 'p':
	case 'P':
		u->netlink = (uint8_t)(1 + v[0]);
		return 0;
	}
	for (size_t i = 0; i < WORDS + 1 && u->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__); i++)
		v[i] = __builtin_bswap64(v[i]);
	return words ? call_user_add(u, *record, arg, v, words) :
	       call_user_add(u, *record, arg, s, (size_t)(end - s));
}
