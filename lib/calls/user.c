/* SPDX-License-Identifier: ISC */
/* user.c - user memory of a call, from the records of a trace */

#include "calls/calls.h"

/* Append bytes to an argument, as many as it may have. Return 0, or -1 without memory. */
static int add(struct call_user *u, struct call_memory *m, const char *s, size_t n)
{
	struct strbuf *b = &m->text;

	if (n > CALL_USER_MOST - b->n) {
		n = CALL_USER_MOST - b->n;
		m->cut = 1;
	}
	m->bytes.cut = m->cut;
	if (b->n + n >= b->room) {
		size_t room = 2 * (b->n + n) + 32;
		char *more = realloc(b->text, room);

		if (!more)
			return -1;
		b->text = more;
		u->room += room - b->room;
		if (u->held)
			*u->held += room - b->room;
		b->room = room;
	}
	if (n)
		memcpy(b->text + b->n, s, n);
	m->bytes.bytes = b->text;
	m->bytes.n = b->n += n;
	b->text[b->n] = '\0';
	return 0;
}

/* Add a string, or a part of one, of an array or not. last: it is the last part. */
static int add_string(struct call_user *u, struct call_memory *m, const char *s, size_t n,
		      int last, int cut)
{
	int r = add(u, m, s, n);

	if (!m->array) {
		m->cut |= (uint8_t)cut;
		m->bytes.cut = !last || m->cut; /* until the next part comes */
		return r;
	}
	if (m->strings <= CALL_STRINGS_MOST) {
		uint64_t bit = (uint64_t)1 << (m->strings - 1);

		if (!last || cut || m->cut)
			m->bytes.cut_strings |= bit;
		else
			m->bytes.cut_strings &= ~bit;
	}
	return !r && last && !m->cut ? add(u, m, "", 1) : r;
}

/* Begin the next string of an array. */
static int next_string(struct call_user *u, struct call_memory *m)
{
	int ended = !m->array || !m->bytes.n || !m->bytes.bytes[m->bytes.n - 1];
	int r = add(u, m, "", !ended); /* the string before may be cut */

	m->array = 1;
	m->strings++;
	m->bytes.cut = 1; /* until the string comes */
	return r;
}

/* A piece of memory that a pointer points to, whose bytes follow */
struct call_piece {
	uint64_t at;
	size_t n;
};

/* Add an address and the bytes there, to the newest piece or as another one. Return 0 or -1. */
static int add_pointed(struct call_user *u, const char *s, size_t n)
{
	struct call_memory *m = &u->pointed;
	struct call_piece piece = { 0 }, last;
	size_t old = m->text.n;

	if (n < sizeof(piece.at))
		return -1;
	memcpy(&piece.at, s, sizeof(piece.at));
	if (u->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		piece.at = __builtin_bswap64(piece.at);
	if (old) {
		memcpy(&last, m->text.text + u->last, sizeof(last));
		if (last.at + last.n == piece.at)
			piece = last;
	}
	if (!piece.n) {
		u->last = old;
		if (m->cut || old + sizeof(piece) >= CALL_USER_MOST)
			return 0;
		if (add(u, m, (const char *)&piece, sizeof(piece)) < 0)
			return -1;
		old = m->text.n;
	}
	if (add(u, m, s + sizeof(piece.at), n - sizeof(piece.at)) < 0)
		return -1;
	piece.n += m->text.n - old;
	memcpy(m->text.text + u->last, &piece, sizeof(piece));
	return 0;
}

int call_user_at(const struct call_user *u, uint64_t address, uint64_t n, struct call_bytes *bytes)
{
	const struct strbuf *b = u ? &u->pointed.text : NULL;
	struct call_piece piece;

	*bytes = (struct call_bytes){ 0 };
	for (size_t i = 0; b && i + sizeof(piece) <= b->n; i += sizeof(piece) + piece.n) {
		size_t from, known;

		memcpy(&piece, b->text + i, sizeof(piece));
		from = (size_t)(address - piece.at);
		known = piece.n - from;
		if (address < piece.at || address - piece.at >= piece.n ||
		    (known < n && known < bytes->n))
			continue;
		bytes->bytes = b->text + i + sizeof(piece) + from;
		bytes->n = known;
		bytes->cut = known < n;
	}
	return bytes->bytes != NULL;
}

int call_user_add(struct call_user *u, char tag, unsigned arg, const void *bytes, size_t n)
{
	const int entry = tag >= 'A' && tag <= 'Z';
	struct call_memory *m;

	if (entry)
		tag = (char)(tag - 'A' + 'a');
	if (arg == CALL_ARGS && (tag == 'd' || tag == 'e'))
		return add_pointed(u, bytes, n);
	if (arg >= CALL_ARGS)
		return -1;
	m = entry ? &u->entry[arg] : &u->after[arg];
	switch (tag) {
	case 'a':
		return add_string(u, m, bytes, n, 1, 0);
	case 'b':
		return add_string(u, m, bytes, n, 0, 0);
	case 'c':
		return add_string(u, m, bytes, n, 1, 1);
	case 'x':
		m->bytes.fault = 1;
		return 0;
	case 'e':
		m->cut = 1;
		/* fall through */
	case 'd':
	case 'z':
		return add(u, m, bytes, n);
	case 's':
		return next_string(u, m);
	case 'n':
		return add(u, &u->program, bytes, n);
	}
	return -1;
}

/* Set the id of a file, whose upper half is at s. */
static void add_file(struct call_user *u, const struct memory_piece *p, const char *s)
{
	uint32_t high;

	if (p->arg >= CALL_FILES_MOST || p->n != sizeof(high))
		return;
	memcpy(&high, s, sizeof(high));
	if (u->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		high = __builtin_bswap32(high);
	u->files[p->arg] = (uint64_t)high << 32 | p->value;
}

int call_user_take(struct call_user *u, const void *memory, size_t n)
{
	const int swap = u->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	const char *at = memory, *end = at + n;
	struct memory_piece p;

	for (; (size_t)(end - at) >= sizeof(p); at += (p.n + PIECE_ROUND) & -PIECE_ROUND) {
		memcpy(&p, at, sizeof(p));
		if (swap) {
			p.n = __builtin_bswap16(p.n);
			p.value = __builtin_bswap32(p.value);
		}
		at += sizeof(p);
		if (((p.n + PIECE_ROUND) & -PIECE_ROUND) > end - at)
			return -1;
		if (p.tag == 'P')
			u->netlink = (uint8_t)(1 + p.value);
		else if (p.tag == 'F' || p.tag == 'f')
			add_file(u, &p, at);
		else if (call_user_add(u, (char)p.tag, p.arg, at, p.n) < 0)
			return -1;
	}
	return at == end ? 0 : -1;
}

/* Return the path that execveat(2) was given, of a program that the kernel names /dev/fd/FD/... */
static struct call_bytes as_given(struct call_bytes path, int fd)
{
	char begin[24];
	size_t n = str_format(begin, sizeof(begin), "/dev/fd/%d", fd);

	if (path.n >= n && !memcmp(path.bytes, begin, n) &&
	    (!path.bytes[n] || path.bytes[n] == '/')) {
		n += path.bytes[n] == '/';
		path.bytes += n;
		path.n -= n;
	}
	return path;
}

void call_user_get(const struct call_user *u, const struct call *call, struct call_values *v)
{
	v->netlink = u->netlink;
	memcpy(v->files, u->files, sizeof(v->files));
	for (unsigned i = 0; i < CALL_ARGS; i++) {
		const struct call_bytes *entry = &u->entry[i].bytes, *after = &u->after[i].bytes;

		v->memory = u;
		v->entry[i] = *entry;
		v->user[i] = after->bytes || after->fault ? *after : *entry;
	}
	if (!call || !u->program.bytes.bytes || !(call->role->is & IS_EXEC))
		return;
	for (unsigned i = 0; i < 2; i++)
		if (call->args[i].kind == CALL_PATH && (v->user[i].fault || !v->user[i].bytes))
			v->user[i] = i ? as_given(u->program.bytes, (int)v->args[0]) :
				     u->program.bytes;
}

void call_user_shift(struct call_user *u)
{
	struct call_memory last = u->after[CALL_ARGS - 1];

	for (unsigned i = CALL_ARGS; --i;)
		u->after[i] = u->after[i - 1];
	u->after[0] = last;
}

size_t call_user_room(const struct call_user *u)
{
	return sizeof(*u) + u->room;
}

/* Forget memory, and keep the room. */
static void clear(struct call_memory *m)
{
	*m = (struct call_memory){ .text = { .text = m->text.text, .room = m->text.room } };
}

void call_user_clear(struct call_user *u)
{
	for (unsigned i = 0; i < CALL_ARGS; i++) {
		clear(&u->entry[i]);
		clear(&u->after[i]);
	}
	clear(&u->program);
	clear(&u->pointed);
	memset(u->files, 0, sizeof(u->files));
	u->nregisters = 0;
	u->netlink = 0;
}

void call_user_free(struct call_user *u)
{
	for (unsigned i = 0; i < CALL_ARGS; i++) {
		free(u->entry[i].text.text);
		free(u->after[i].text.text);
	}
	free(u->pointed.text.text);
	free(u->program.text.text);
	*u = (struct call_user){ .big = u->big };
}
