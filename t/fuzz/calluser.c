/* SPDX-License-Identifier: ISC */
/*
 * calluser.c - records of user memory
 *
 * Input: the byte order, and records, one per line; or in place of these, pieces of a record of a
 * call. The strings of arguments without an array are their parts one after the other; a plainer
 * parser puts them together.
 */
#include "fuzz.h"

/* Read all bytes. */
static int sum_of(const char *s, size_t n)
{
	int sum = 0;

	while (n--)
		sum += *s++ & 1;
	return sum;
}

/* Check what is known of the memory, and of all that pointers point to. */
static void check(const struct call_user *u, size_t n)
{
	struct call_values v = { 0 };
	struct call_bytes b;

	for (unsigned i = 0; i < CALL_ARGS; i++) {
		must(u->after[i].bytes.n <= CALL_USER_MOST &&
		     u->entry[i].bytes.n <= CALL_USER_MOST);
		must(u->after[i].bytes.bytes || !u->after[i].bytes.n);
	}
	must(call_user_room(u) <= sizeof(*u) + 14 * (2 * CALL_USER_MOST + 32));
	for (uint64_t at = 0; at < 64; at += 5)
		if (call_user_at(u, at << (n & 32), n, &b))
			must(b.bytes && b.n <= CALL_USER_MOST && sum_of(b.bytes, b.n) >= 0);
	call_user_get(u, NULL, &v);
}

/* Give pieces. Memory that ends in a piece is refused. */
static void give_pieces(struct call_user *u, const uint8_t *data, size_t size)
{
	uint8_t *exact = copy_of(data, size);

	must(call_user_take(u, exact, size) < 0 || size % PIECE_ROUND == 0);
	free(exact);
	check(u, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[CALL_ARGS][1 << 16];
	size_t n[CALL_ARGS] = { 0 };
	int known[CALL_ARGS] = { 0 }, other[CALL_ARGS] = { 0 };
	struct call_user u = { .big = size && data[0] & 1 };

	if (size && data[0] & 2) {
		give_pieces(&u, data + 1, size - 1);
		size = 0;
	}
	for (const char *s = (const char *)data, *end = s + size, *line; s < end; s++) {
		line = s;
		while (s < end && *s != '\n')
			s++;
		if (s - line >= 3 && strchr("abc", line[0]) && line[0] && line[1] >= '0' &&
		    line[1] < '0' + CALL_ARGS && line[2] == ' ') {
			int arg = line[1] - '0';
			size_t more = (size_t)(s - line) - 3;

			if (n[arg] + more < sizeof(*text)) {
				memcpy(text[arg] + n[arg], line + 3, more);
				n[arg] += more;
				known[arg] = 1;
			} else {
				other[arg] = 1;
			}
		} else if (s - line >= 2 && line[1] >= '0' && line[1] < '0' + CALL_ARGS) {
			other[line[1] - '0'] = 1;
		}
		older_memory(&u, line, (size_t)(s - line));
	}
	for (unsigned i = 0; i < CALL_ARGS; i++) {
		size_t most = n[i] < CALL_USER_MOST ? n[i] : CALL_USER_MOST;

		must(u.after[i].bytes.n <= CALL_USER_MOST);
		must(u.after[i].bytes.bytes || !u.after[i].bytes.n);
		if (!known[i] || other[i])
			continue;
		must(u.after[i].bytes.n == most && !memcmp(u.after[i].bytes.bytes, text[i], most));
		must(!u.after[i].bytes.fault && (n[i] <= CALL_USER_MOST || u.after[i].bytes.cut));
	}
	call_user_clear(&u);
	for (unsigned i = 0; i < CALL_ARGS; i++)
		must(!u.after[i].bytes.bytes && !u.after[i].bytes.n);
	call_user_free(&u);
	return 0;
}
