/* SPDX-License-Identifier: ISC */
/* bytes.c - growing bytes, for programs that must not exit without memory */

#include "base/base.h"

int bytes_room(struct bytes *b, size_t n)
{
	if (n > b->room - b->n && !b->failed) {
		size_t room = b->n + n > 2 * b->room ? b->n + n + 4096 : 2 * b->room;
		char *more = realloc(b->v, room);

		b->failed = !more;
		if (more) {
			b->v = more;
			b->room = room;
		}
	}
	return b->failed ? -1 : 0;
}

void bytes_add(struct bytes *b, const void *data, size_t n)
{
	if (bytes_room(b, n) < 0)
		return;
	if (n)
		memcpy(b->v + b->n, data, n);
	b->n += n;
}

void bytes_string(struct bytes *b, const char *s)
{
	bytes_add(b, s, strlen(s) + 1);
}

void bytes_u32(struct bytes *b, uint32_t n)
{
	bytes_add(b, &n, sizeof(n));
}

void bytes_u64(struct bytes *b, uint64_t n)
{
	bytes_add(b, &n, sizeof(n));
}
