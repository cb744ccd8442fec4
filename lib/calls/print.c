/* SPDX-License-Identifier: ISC */
/* print.c - print arguments and results of system calls, as a C programmer would write them */
#include <sys/socket.h>

#include "host/host.h"
#include "calls/print.h"

static void hex(struct print *p, uint64_t v)
{
	if (v)
		out_string(&p->o, "0x");
	out_hex(&p->o, v);
}

static void next_hex(struct print *p, const char *before, uint64_t v)
{
	out_string(&p->o, before);
	hex(p, v);
}

/* Print a mode: three digits at least. */
static void octal(struct print *p, uint64_t v)
{
	char buf[24], *s = buf + sizeof(buf);

	do
		*--s = (char)('0' + v % 8);
	while (v /= 8);
	out_string(&p->o, buf + sizeof(buf) - s < 2 ? "00" : "0");
	out_text(&p->o, s, (size_t)(buf + sizeof(buf) - s));
}

static uint64_t bits_of(unsigned width)
{
	return width >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * width) - 1;
}

/* Cut the value to its width, with its sign if it has one. */
static uint64_t cut(uint64_t v, unsigned width, int sign)
{
	uint64_t bits = bits_of(width);

	v &= bits;
	return sign && v > bits >> 1 ? v | ~bits : v;
}

static void packed(struct out *o, unsigned at)
{
	for (const unsigned char *s = call_packed + at;; s++) {
		const struct call_piece *piece = &call_pieces[*s];

		if (out_room(o) >= sizeof(*piece)) { /* faster than bytes, which are as many as n */
			memcpy(o->at, piece, sizeof(*piece));
			o->at += piece->n;
		} else {
			out_text(o, piece->text, piece->n);
		}
		if (piece->last)
			return;
	}
}

static void name(struct print *p, const struct call_set *set, const struct call_constant *k)
{
	packed(&p->o, set->prefix);
	packed(&p->o, k->name);
}

/* Return the constant of this ABI whose bits in the mask are this value, or NULL. */
static const struct call_constant *find(const struct calls *c, const struct call_set *set,
					uint64_t v, uint64_t bits)
{
	const struct call_constant *k = &call_constants[set->first], *end = k + set->n;

	/* an enumeration is sorted by values */
	for (size_t n = set->n, half; !set->flags && (half = n / 2); n -= half)
		if (call_value_of(k + half - 1) < v)
			k += half;
	for (; k < end && (set->flags || call_value_of(k) <= v); k++)
		if ((call_value_of(k) & bits) == v && (v || !call_value_of(k)) &&
		    call_has_constant(c, k))
			return k;
	return NULL;
}

static void print_value(struct print *p, unsigned kind, unsigned width, unsigned set, uint64_t v);

/* Print a number part by part: a text, and the bits that follow it. */
static void print_parts(struct print *p, const struct call_set *set, uint64_t v, unsigned width)
{
	const struct call_constant *k = &call_constants[set->first], *end = k + set->n;

	(void)width;
	for (uint32_t part; k < end; k++) {
		name(p, set, k);
		part = (uint32_t)call_value_of(k); /* shift, bits, kind and set: a byte each */
		if (part >> 8 & 0xff)
			print_value(p, part >> 16 & 0xff, 8, part >> 24,
				    v >> (part & 0xff) & (((uint64_t)1 << (part >> 8 & 0xff)) - 1));
	}
}

/* Print a number that no constant is equal to, as the set says. */
static void rest(struct print *p, const struct call_set *set, uint64_t v, unsigned width)
{
	if (set->rest == REST_SIGNED && width < 8)
		out_signed(&p->o, (int64_t)cut(v, width, 1));
	else if (set->rest == REST_OCTAL)
		octal(p, v);
	else if (set->rest == REST_KIBI && v > 1024 && !(v % 1024)) {
		out_decimal(&p->o, v / 1024);
		out_string(&p->o, "*1024");
	} else if (set->rest == REST_PARTS)
		print_parts(p, &call_sets[set->parts], v, width);
	else if (set->rest != REST_HEX)
		out_decimal(&p->o, v);
	else
		hex(p, v);
}

static void constant_or_rest(struct print *p, const struct call_set *set,
			     const struct call_constant *k, uint64_t v, unsigned width)
{
	if (k)
		name(p, set, k);
	else
		rest(p, set, v, width);
}

static void print_enumeration(struct print *p, const struct call_set *set, uint64_t v,
			      unsigned width)
{
	uint64_t key = v;
	const struct call_constant *k;

	/* asm/ioctl.h of ppc64le has other bits: 1 none, 2 read, 4 write */
	if (set->rest == REST_PARTS && p->c->ppc && v >> 29)
		key = (v & 0x1fffffff) | (v >> 30 & 1) << 31 | (v >> 31 & 1) << 30;
	k = find(p->c, set, key, UINT64_MAX);
	if (!k && v >> (8 * width - 1) & 1)
		k = find(p->c, set, v | ~bits_of(width), UINT64_MAX);
	constant_or_rest(p, set, k, set->rest == REST_PARTS ? key : v, width);
}

static void bar(struct print *p, const struct call_set *set, int *any)
{
	if ((*any)++ && set->flags == 1)
		out_string(&p->o, "|");
}

/* Print flags: the enumeration in the mask, or after the others if another set has it. */
static void print_flags(struct print *p, const struct call_set *set, uint64_t v, unsigned width)
{
	uint64_t bits = bits_of(width), low = v & set->mask;
	const struct call_constant *k;
	int any = 0;

	v &= ~(uint64_t)set->mask;
	if (set->mask && !set->sub) {
		k = find(p->c, set, low, UINT64_MAX);
		if (k) {
			bar(p, set, &any);
			name(p, set, k);
		} else if (low && set->rest == REST_OCTAL) { /* an unknown type of file */
			octal(p, v | low);
			return;
		} else {
			v |= low;
		}
	}
	k = &call_constants[set->first];
	for (const struct call_constant *end = k + set->n; v && k < end; k++) {
		uint64_t value = call_value_of(k) & bits;

		if (value & ~(uint64_t)set->mask && (v & value) == value &&
		    call_has_constant(p->c, k)) {
			bar(p, set, &any);
			name(p, set, k);
			v &= ~value;
		}
	}
	if (v || (set->rest == REST_OCTAL && any)) {
		bar(p, set, &any);
		rest(p, set, v, width);
	}
	/* a mode is printed, also if it is 0 */
	if (set->sub && (low || call_sets[set->sub].sub ||
			 call_sets[set->sub].rest == REST_OCTAL)) {
		bar(p, set, &any);
		put_set(p, set->sub, low, width);
	}
	if (!any && set->flags == 1)
		constant_or_rest(p, set, find(p->c, set, 0, bits), 0, width);
}

void put_set(struct print *p, unsigned index, uint64_t v, unsigned width)
{
	const struct call_set *set = &call_sets[index];

	v &= bits_of(width);
	(set->flags == 2 ? print_parts : set->flags ? print_flags : print_enumeration)
		(p, set, v, width);
}

uint64_t call_value(const struct calls *c, const struct call *call, unsigned arg,
		    const uint64_t *args)
{
	const struct call_arg *a = &call->args[arg];
	uint64_t low = bits_of(c->word < 8 ? c->word : 4), v = args[arg], next;

	next = arg + 1 < CALL_ARGS ? args[arg + 1] : 0;
	switch (a->place) {
	case PLACE_PAIR:
	case PLACE_LOW_HIGH:
		if (c->word == 8)
			break;
		v = a->place == PLACE_PAIR && c->big ? v << 32 | (next & low)
						     : next << 32 | (v & low);
		break;
	case PLACE_HIGH_LOW:
		v = v << 32 | (next & low);
		break;
	case PLACE_PAGES:
		v = (v & bits_of(c->word)) * 4096;
		break;
	}
	/* size of the others is that of what the address points to */
	return cut(v, a->kind <= CALL_SET ? a->size : c->word,
		   a->kind == CALL_INT || a->kind == CALL_FD || a->kind == CALL_DIRFD);
}

/* Return the number of elements that an argument points to, by the argument that counts them. */
static uint64_t count_of(const struct calls *c, const struct call *call, const struct call_arg *a,
			 const uint64_t *args)
{
	uint64_t v = call_value(c, call, (unsigned)a->count, args) - a->less;

	return (v + ((uint64_t)1 << a->shift) - 1) >> a->shift;
}

/* Print a number of an argument, a result or a structure. */
static void print_value(struct print *p, unsigned kind, unsigned width, unsigned set, uint64_t v)
{
	uint64_t u = v & bits_of(width);

	switch (kind) {
	case CALL_DIRFD:
		if ((int32_t)v == AT_FDCWD) {
			out_string(&p->o, "AT_FDCWD");
			break;
		}
		/* fall through */
	case CALL_INT:
	case CALL_FD:
		out_signed(&p->o, (int64_t)cut(v, width, 1));
		break;
	case CALL_ID:
		if (u == bits_of(width)) {
			out_string(&p->o, "-1");
			break;
		}
		/* fall through */
	case CALL_UINT:
		out_decimal(&p->o, u);
		break;
	case CALL_OCTAL:
		octal(p, u);
		break;
	case CALL_SET:
		put_set(p, set, v, width);
		break;
	case CALL_NONE:
		break;
	case MEMBER_DEV: /* as new_encode_dev of include/linux/kdev_t.h makes it */
		next_hex(p, "makedev(", v >> 8 & 0xfff);
		next_hex(p, ", ", (v & 0xff) | (v >> 12 & 0xfff00));
		out_string(&p->o, ")");
		break;
	case CALL_HEX:
		if (set == HEX_BITS) {
			out_string(&p->o, u ? "0x" : "00");
			for (unsigned i = 2 * width; i-- > 0;)
				if (i < 2 * width - 2 || u >> 4 * i)
					out_text(&p->o, &"0123456789abcdef"[u >> 4 * i & 15], 1);
			break;
		}
		/* fall through */
	default:
		u = v & bits_of(kind == CALL_HEX ? width : p->c->word);
		if (u || (kind == CALL_HEX && !set))
			hex(p, u);
		else
			out_string(&p->o, "NULL");
	}
}

/* Print bytes as a string of C. more: there are more of them. */
void put_quoted(struct print *p, const char *s, size_t n, int more)
{
	out_string(&p->o, "\"");
	out_escaped(&p->o, s, n, ESCAPE_C);
	out_string(&p->o, more ? "\"..." : "\"");
}

/* Return an integer of user memory. */
uint64_t call_load(const struct calls *c, const char *at, unsigned width)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < width; i++)
		v |= (uint64_t)(unsigned char)at[i] << 8 * (c->big ? width - 1 - i : i);
	return v;
}

/* Is the bit of a set of signals or descriptors set? The kernel keeps them in longs. */
static int bit(const struct calls *c, const char *at, size_t n, size_t i)
{
	size_t byte = i / 8;

	if (c->big)
		byte ^= c->word - 1u;
	return byte < n && at[byte] >> i % 8 & 1;
}

/* Print the signals of a set, or those that are not in it if that is shorter; or bits of a set. */
static void signals(struct print *p, const char *at, size_t n, unsigned set)
{
	size_t count = 0, most = n < 8 ? 8 * n : 64;
	int any = 0, others;

	for (size_t i = 0; i < most; i++)
		count += (size_t)bit(p->c, at, n, i);
	others = count > most * 2 / 3;
	out_string(&p->o, others ? "~[" : "[");
	for (size_t i = 0; i < most; i++) {
		const struct call_constant *k;

		if (bit(p->c, at, n, i) == others)
			continue;
		if (any++)
			out_string(&p->o, " ");
		if (set) {
			put_set(p, set, i, 4);
			continue;
		}
		k = find(p->c, &call_sets[SET_SIGNAL], i + 1, UINT64_MAX);
		if (k)
			packed(&p->o, k->name);
		else
			out_decimal(&p->o, i + 1);
	}
	out_string(&p->o, "]");
}

/* Print the file of a descriptor. */
static void named(struct print *p, int fd)
{
	size_t room = out_room(&p->o);
	size_t n = room <= 8 ? 0 : p->v->print_fd(p->v->arg, fd, p->o.at + 1, room - 2);

	if (!n)
		return;
	*p->o.at = '<';
	p->o.at[n + 1] = '>';
	p->o.at += n + 2;
}

static void descriptors(struct print *p, const char *at, size_t n, uint64_t most)
{
	int any = 0;

	out_string(&p->o, "[");
	for (size_t i = 0; i < 8 * n && i < most; i++)
		if (bit(p->c, at, n, i)) {
			if (any++)
				out_string(&p->o, " ");
			out_decimal(&p->o, i);
			if (p->v->print_fd && !p->behind)
				named(p, (int)i);
		}
	out_string(&p->o, "]");
}

/* Print a status of wait(2): an exit code in bits 8 to 15, a signal in bits 0 to 6. */
static void wait_status(struct print *p, unsigned v)
{
	unsigned low = v & 0x7f, high = v >> 8 & 0xff;

	out_string(&p->o, "[{WIF");
	if (v == 0xffff) {
		out_string(&p->o, "CONTINUED(s)");
	} else if (!low) {
		out_format(&p->o, "EXITED(s) && WEXITSTATUS(s) == %u", high);
	} else {
		int stopped = low == 0x7f;

		out_string(&p->o, stopped ? "STOPPED(s) && WSTOPSIG(s) == "
				: "SIGNALED(s) && WTERMSIG(s) == ");
		put_set(p, SET_SIGNAL, stopped ? high : low, 4);
		if (!stopped && v & 0x80)
			out_string(&p->o, " && WCOREDUMP(s)");
	}
	out_string(&p->o, "}]");
}

/* A structure that is printed: n bytes of it are known. */
struct structure {
	const struct call_layout *l;
	const char *at;
	size_t n;
	uint64_t most;          /* descriptors in a set */
};

static void print_layout(struct print *p, unsigned layout, const char *at, size_t n, uint64_t most);

/* Return the bytes of one element of a member. */
static size_t size_of(const struct calls *c, const struct call_member *m)
{
	return m->kind == CALL_STRUCT ? call_layout(c, m->set)->size :
	       m->kind == MEMBER_INET6 ? 16 : m->width;
}

/* Print an element of a member, of which n bytes are known. */
void put_element(struct print *p, const struct call_member *m, const char *at, size_t n,
			  uint64_t most)
{
	uint64_t v = 0;

	switch (m->kind) {
	case CALL_STRUCT:
		print_layout(p, m->set, at, n, most);
		break;
	case MEMBER_SIGSET:
		signals(p, at, n < m->width ? n : m->width, m->set);
		break;
	case MEMBER_WAIT:
		wait_status(p, (unsigned)call_load(p->c, at, 4));
		break;
	case MEMBER_CAPS: /* version 1 of the structure ends before the other 32 */
		v = n < 16 ? 0 : call_load(p->c, at + 12, 4);
		if (!v || call_load(p->c, at, 4))
			put_set(p, SET_CAP_LOW, call_load(p->c, at, 4), 4);
		if (v && call_load(p->c, at, 4))
			out_string(&p->o, "|");
		if (v)
			put_set(p, SET_CAP_HIGH, v, 4);
		break;
	case MEMBER_PORT:
		for (unsigned i = 0; i < m->width; i++)
			v = v << 8 | (unsigned char)at[i];
		out_string(&p->o, m->width == 2 ? "htons(" : m->width == 4 ? "htonl(" : "htobe64(");
		print_value(p, m->set ? CALL_SET : CALL_UINT, m->width, m->set, v);
		out_string(&p->o, ")");
		break;
	case MEMBER_INET:
		out_format(&p->o, "inet_addr(\"%d.%d.%d.%d\")", (unsigned char)at[0],
			   (unsigned char)at[1], (unsigned char)at[2], (unsigned char)at[3]);
		break;
	default:
		v = call_load(p->c, at, m->width);
		print_value(p, m->kind, m->width, m->set, v);
		if (m->kind == CALL_FD && p->v->print_fd && !p->behind)
			named(p, (int32_t)v);
	}
}

/* Print an array; of: the number of elements, if another member has it. */
static void print_elements(struct print *p, const struct call_member *m, const char *at, size_t n,
			   uint64_t most, size_t of)
{
	size_t one = size_of(p->c, m), count = m->count ? m->count : n / one;

	if (m->counted && n > count * one)
		n = count * one;
	if (m->counted)
		count = of;
	out_string(&p->o, "[");
	for (size_t i = 0; i < count; i++) {
		if (i)
			out_string(&p->o, ", ");
		if (n < (i + 1) * one) {
			out_string(&p->o, "...");
			break;
		}
		put_element(p, m, at + i * one, one, most);
	}
	out_string(&p->o, "]");
}

/* Print the name of a socket, of which n bytes are known. all: its length is the longest one. */
static void print_sun_path(struct print *p, const char *at, size_t n, int all)
{
	if (*at) {
		put_quoted(p, at, strnlen(at, n), 0);
		return;
	}
	/* an abstract name: all its bytes count */
	while (n > 1 && all && !at[n - 1])
		n--;
	out_string(&p->o, "@");
	put_quoted(p, at + 1, n - 1, 0);
}

/* Is a member left out of the structure? */
static int left_out(const struct print *p, const struct structure *s, const struct call_member *m)
{
	const struct call_member *other = call_members(s->l) + m->other;
	size_t known = s->n - m->offset, all = (size_t)m->count * m->width, i = 0;
	uint64_t v;

	while (i < all && i < known && !s->at[m->offset + i])
		i++;
	if (m->rare == RARE_NEVER || (m->rare != RARE_OTHER && i < all))
		return 0;
	if (m->rare == RARE_ZERO)
		return 1;
	if (other->offset + (size_t)other->width > s->n)
		return 0;
	v = call_load(p->c, s->at + other->offset, other->width);
	if (m->equal)
		return v != m->bits;
	return (v & (m->bits ? m->bits : UINT64_MAX)) ? m->unless : !m->unless;
}

static int print_bytes(struct print *p, const struct call_arg *a, const struct call_bytes *user,
		       uint64_t count, uint64_t most);

/* Return where a member of n bytes was at the entry; at, if that is not known. */
static const char *old_of(const struct print *p, const char *at, size_t n)
{
	size_t place = p->old ? (size_t)(at - p->new->bytes) : 0;

	return p->old && p->old->n >= place + n ? p->old->bytes + place : at;
}

/* Does a buffer or a string at an address end where a page begins that is not in memory? */
static int is_broken(const struct calls *c, const struct call_arg *a, uint64_t at,
		     const struct call_bytes *user)
{
	return user->cut && !((at + user->n) % 4096) &&
	       (a->kind == CALL_BUFFER ||
		(a->kind == CALL_STRUCT && !memchr(user->bytes, '\0', user->n) &&
		 call_members(call_layout(c, a->set))->kind == MEMBER_CHARS));
}

/* Print what a member points to, or its address. */
static void print_pointed(struct print *p, const struct structure *s, const struct call_member *m)
{
	uint64_t at = call_load(p->c, s->at + m->offset, m->width), count = 1;
	struct call_bytes user = { .bytes = "" };
	int with_out = p->with_out, later = p->later, known = 0;
	const struct call_member *counted;
	struct call_arg a;

	call_pointed(p->c, m, &a);
	if (a.count >= 0) {
		counted = call_members(s->l) + a.count;
		count = counted->offset + (size_t)counted->width > s->n ? 0 :
			call_load(p->c, s->at + counted->offset, counted->width);
		/* the count of a name is its whole length; the program may have room for a part */
		if (counted->both && p->old &&
		    call_load(p->c, old_of(p, s->at + counted->offset, counted->width),
			 counted->width) < count)
			count = call_load(p->c, old_of(p, s->at + counted->offset, counted->width),
				     counted->width);
	}
	if (a.kind == CALL_BUFFER && a.out) {
		if (count > p->left)
			count = p->left;
		p->left -= count;
	}
	if (at && p->v && (a.in || (p->v->returned && p->v->result >= 0)) &&
	    (a.in || !s->l->later || later) &&
	    ((!count && (a.kind == CALL_BUFFER || a.count >= 0)) ||
	     call_user_at(p->v->memory, at, count * (a.size ? a.size : 1), &user)) &&
	    !is_broken(p->c, &a, at, &user)) {
		p->later = 0;
		known = print_bytes(p, &a, &user, count, 0);
	}
	p->later = later;
	p->with_out = with_out;
	if (!known)
		print_value(p, CALL_HEX, m->width, HEX_POINTER, at);
}

static void print_address(struct print *p, const char *at, size_t known, size_t n);

void put_mac(struct print *p, const char *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out_format(&p->o, &":%02x"[!i], (unsigned char)at[i]);
}

static void print_member(struct print *p, const struct structure *s, const struct call_member *m)
{
	const struct call_member *other = call_members(s->l) + m->other;
	const char *at = s->at + m->offset, *before;
	size_t known = s->n - m->offset, one = size_of(p->c, m);
	size_t all = m->count && known > m->count ? m->count : known;
	size_t of = m->counted ?
		    (size_t)call_load(p->c, s->at + other->offset, other->width) : 0;

	if (m->kind == MEMBER_INET6) {
		out_string(&p->o, "inet_pton(AF_INET6, \"");
		call_ip6(&p->o, (const unsigned char *)at);
		out_string(&p->o, "\", &");
		packed(&p->o, m->name);
		out_string(&p->o, ")");
		return;
	}
	before = p->o.at;
	packed(&p->o, m->name);
	if (p->o.at > before)
		out_string(&p->o, "=");
	if (m->kind == MEMBER_POINTER) {
		print_pointed(p, s, m);
	} else if (m->kind == MEMBER_FDSET) {
		descriptors(p, at, all, s->most);
	} else if (m->kind == MEMBER_SUN_PATH) {
		print_sun_path(p, at, all, s->n >= 110);
	} else if (m->kind == MEMBER_CHARS) {
		put_quoted(p, at, strnlen(at, all), 0);
	} else if (m->kind == MEMBER_MAC) {
		put_mac(p, at, m->counted && all > of ? of : all);
	} else if (m->kind == CALL_BUFFER) {
		put_quoted(p, at, all, 0);
	} else if (m->counted && m->kind == CALL_STRUCT) {
		put_element(p, m, at, known < of ? known : of, s->most);
	} else if (m->kind == CALL_SOCKADDR) {
		print_address(p, at, all, all);
	} else if (m->array) {
		print_elements(p, m, at, known, s->most, of);
	} else {
		const char *old = m->both ? old_of(p, at, one) : at;

		if (old != at && memcmp(old, at, one)) {
			put_element(p, m, old, one, s->most);
			out_string(&p->o, " => ");
		}
		put_element(p, m, at, known, s->most);
	}
}

/* Print UTIME_NOW or UTIME_OMIT; the seconds have no meaning then. */
static int print_now(struct print *p, const struct structure *s)
{
	const struct call_member *m = call_members(s->l) + 1;
	uint64_t ns = 0;

	if (s->l->now && s->n >= s->l->size)
		ns = call_load(p->c, s->at + m->offset, m->width);

	if (ns != K_UTIME_NOW && ns != K_UTIME_OMIT)
		return 0;
	out_string(&p->o, ns == K_UTIME_NOW ? "UTIME_NOW" : "UTIME_OMIT");
	return 1;
}

/* Does the member point to what the kernel writes? */
static int is_output(const struct calls *c, const struct call_member *m)
{
	struct call_arg a = { 0 };

	if (m->kind == MEMBER_POINTER)
		call_pointed(c, m, &a);
	return a.out;
}

/* Print what follows the members in a structure of size bytes, as strace does, unless it is 0. */
static void print_rest(struct print *p, const struct structure *s, uint64_t size)
{
	size_t i = s->l->size;

	if (s->n < size && s->n < CALL_CHAIN_MOST) {
		out_string(&p->o, ", ???");
		return;
	}
	while (i < s->n && !s->at[i])
		i++;
	if (i == s->n)
		return;
	out_format(&p->o, ", /* bytes %u..%llu */ ", s->l->size, (unsigned long long)size - 1);
	put_quoted(p, s->at + s->l->size, s->n - s->l->size, s->n < size);
}

/* Print a structure that begins at at; n bytes of it are known. */
static void print_layout(struct print *p, unsigned layout, const char *at, size_t n, uint64_t most)
{
	struct structure s = { call_layout(p->c, layout), at, n, most };
	const struct call_member *first = call_members(s.l);
	int any = 0, more = s.l->more, in_place = 0;
	uint64_t size = p->size;

	p->size = 0;
	if (print_now(p, &s))
		return;
	if (!s.l->bare)
		out_string(&p->o, "{");
	if (s.l->limit && first[s.l->limit].offset + (size_t)first[s.l->limit].width <= n)
		p->left = call_load(p->c, at + first[s.l->limit].offset, first[s.l->limit].width);
	for (const struct call_member *m = first; m < first + s.l->n && !p->o.cut; m++) {
		size_t known = n > m->offset ? n - m->offset : 0;

		if (m->kind == MEMBER_PAD || (p->failed && !m->both) ||
		    (p->later && !is_output(p->c, m)) ||
		    (p->written ? !m->out && m != first : m->out && !p->with_out))
			continue;
		if (known < (m->kind == MEMBER_SUN_PATH || m->kind == MEMBER_SIGSET ||
			     (m->kind == CALL_STRUCT && call_layout(p->c, m->set)->least) ? 1 :
			     size_of(p->c, m))) {
			if (p->part && known) {
				out_string(&p->o, any ? ", " : "");
				packed(&p->o, m->name);
				out_string(&p->o, "=");
				put_quoted(p, at + m->offset, known, 0);
			}
			more |= !p->part && m->kind != MEMBER_SUN_PATH && !s.l->least;
			break;
		}
		if (in_place || left_out(p, &s, m)) {
			in_place = 0;
			continue;
		}
		in_place = m->kind == MEMBER_DEV;
		if (any++)
			out_string(&p->o, s.l->joined ? "|" : ", ");
		print_member(p, &s, m);
		if (m->last)
			break;
	}
	if (size > s.l->size && !p->later)
		print_rest(p, &s, size);
	if (!s.l->bare)
		out_string(&p->o, more ? any ? ", ...}" : "...}" : "}");
	else if (!any)
		out_string(&p->o, "...");
}

/* Print a socket address of n bytes, of which known are known. */
static void print_address(struct print *p, const char *at, size_t known, size_t n)
{
	static const struct { uint8_t family, layout; } families[] = {
		{ AF_UNIX, LAYOUT_SOCKADDR_UN }, { AF_INET, LAYOUT_SOCKADDR_IN },
		{ AF_INET6, LAYOUT_SOCKADDR_IN6 }, { AF_NETLINK, LAYOUT_SOCKADDR_NL },
		{ AF_PACKET, LAYOUT_SOCKADDR_LL }, { AF_VSOCK, LAYOUT_SOCKADDR_VM },
		{ AF_IPX, LAYOUT_SOCKADDR_IPX }, { AF_X25, LAYOUT_SOCKADDR_X25 },
		{ AF_RXRPC, LAYOUT_SOCKADDR_RXRPC },
	};
	unsigned layout = LAYOUT_SOCKADDR;
	uint64_t family;
	size_t least;

	if (n > sizeof(struct sockaddr_storage)) /* the kernel refuses a longer one */
		n = sizeof(struct sockaddr_storage);
	family = known < 2 ? 0 : call_load(p->c, at, 2);
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (families[i].family == family)
			layout = families[i].layout;
	/* an address that is too short, so that the kernel refuses it, is not of its family */
	least = call_layout(p->c, layout)->least;
	if (!least)
		least = call_layout(p->c, layout)->size;
	if (layout == LAYOUT_SOCKADDR || n < least) {
		out_string(&p->o, "{sa_family=");
		put_set(p, SET_FAMILY, family, 2);
		if (known > 2) {
			out_string(&p->o, ", sa_data=");
			put_quoted(p, at + 2, known - 2, known < n);
		}
		out_string(&p->o, "}");
		return;
	}
	print_layout(p, layout, at, known, 0);
}

/* Print strings that end with a NUL each. */
static void strings(struct print *p, const struct call_bytes *user)
{
	const char *s = user->bytes;
	size_t n = user->n;
	unsigned i = 0;

	out_string(&p->o, "[");
	for (; n && !p->o.cut; i++) {
		size_t len = strnlen(s, n), step = len < n ? len + 1 : n;

		if (i)
			out_string(&p->o, ", ");
		put_quoted(p, s, len, i < CALL_STRINGS_MOST && user->cut_strings >> i & 1);
		s += step;
		n -= step;
	}
	out_string(&p->o, user->cut ? i ? ", ...]" : "...]" : "]");
}

/* Is a member of the structure not zero that the kernel writes? */
static int is_written(const struct calls *c, const struct call_layout *l, const char *at, size_t n)
{
	for (const struct call_member *m = call_members(l), *end = m + l->n; m < end; m++)
		if (m->out && n >= (size_t)m->offset + m->width &&
		    call_load(c, at + m->offset, m->width))
			return 1;
	return 0;
}

/*
 * Print the value of a socket option. The value has count bytes; user may have only the first of
 * them. A value that is shorter than its layout is no structure. Return 0 if only its address makes
 * sense.
 */
static int print_option(struct print *p, const struct call_arg *a, const struct call_bytes *user,
			uint64_t count)
{
	const struct call_layout *l = call_layout(p->c, a->set);
	size_t n = user->n < count ? user->n : (size_t)count;
	const struct call_member *m = call_members(l);
	int brackets = l->bare && !m->array && m->kind <= CALL_SET;

	if ((int64_t)count < 0 || (a->out && !count))
		return 0;
	if (a->set == LAYOUT_OPTION_TEXT || (a->set == LAYOUT_OPTION && count != 4) ||
	    (a->out && count < l->size && !l->part)) {
		if (!a->out && n < count && n < CALL_CHAIN_MOST)
			return 0;
		put_quoted(p, user->bytes, n, n < count);
		return 1;
	}
	p->part = a->out && l->part;
	if ((n < l->size && !p->part) || (l->all && n < count))
		return 0;
	out_string(&p->o, brackets ? "[" : "");
	print_layout(p, a->set, user->bytes, n, 0);
	out_string(&p->o, brackets ? "]" : "");
	return 1;
}

/* Print an array of count structures, or the only one. */
static void structures(struct print *p, const struct call_arg *a, const struct call_bytes *user,
		       uint64_t count, uint64_t most)
{
	const struct call_layout *l = call_layout(p->c, a->set);
	const struct call_member *m = call_members(l);
	int brackets = a->count >= 0 || (l->bare && !m->array && m->kind <= CALL_SET);
	int any = 0;
	size_t at = 0, n = p->size && user->n > p->size ? (size_t)p->size : user->n;

	if (brackets)
		out_string(&p->o, "[");
	for (uint64_t i = 0; i < count && !p->o.cut; i++, at += a->size) {
		if (p->written && at < user->n &&
		    !is_written(p->c, l, user->bytes + at, user->n - at))
			continue;
		if (any++)
			out_string(&p->o, ", ");
		if (at >= n || (i && n - at < a->size)) {
			out_string(&p->o, "...");
			break;
		}
		p->with_out = a->out && !a->after && p->v->returned &&
			      p->v->result >= (a->count < 0 ? 0 : (int64_t)i + 1);
		print_layout(p, a->set, user->bytes + at, n - at, most);
		if (!a->size)
			break;
	}
	if (brackets)
		out_string(&p->o, "]");
}

/* Print structures that begin with their size, in all count bytes. Return 0 if some are missing. */
static int chain(struct print *p, const struct call_arg *a, const struct call_bytes *user,
		 uint64_t count)
{
	/* a size, a level and a type */
	size_t head = p->c->word + 8u, at = 0, n = user->n;
	uint64_t length;

	if (n < head || (n < count && n < CALL_CHAIN_MOST))
		return 0;
	out_string(&p->o, "[");
	do {
		length = call_load(p->c, user->bytes + at, p->c->word);
		print_layout(p, a->set, user->bytes + at,
			     length < head ? head : length < n - at ? (size_t)length : n - at, 0);
		at += length < head ? head : length > n ? n :
		      ((size_t)length + p->c->word - 1) & ~((size_t)p->c->word - 1);
		if (at < count && length >= head)
			out_string(&p->o, ", ");
	} while (length >= head && at + head <= n);
	out_string(&p->o, length < head && at < count ? ", ...]" : at < count ? "...]" : "]");
	return 1;
}

static int is_known(const struct call_bytes *user)
{
	return user->bytes && !user->fault;
}

/* Is enough of a string known that strace, too, prints it if the rest is not in memory? */
static int is_long(const struct call_arg *a, const struct call_bytes *user, int64_t result)
{
	return a->kind <= CALL_STRING && user->bytes && user->fault && result != -EFAULT &&
	       user->n >= (a->kind == CALL_PATH ? 4095 : 32);
}

/* Does the structure have members that the kernel writes; with both: that it reads and writes? */
static int has_sides(const struct call_layout *l, int both)
{
	for (unsigned i = 0; l && i < l->n; i++) {
		const struct call_member *m = call_members(l) + i;

		if (both ? m->both : m->out)
			return 1;
	}
	return 0;
}

/* Does the kernel take no structure from this memory, or write none there? */
static int is_refused(const struct calls *c, const struct call *call, unsigned arg,
		      const struct call_values *v, const struct call_bytes *user)
{
	const struct call_arg *a = &call->args[arg];
	const struct call_layout *l = call_layout(c, a->set);
	unsigned kind = l->bare ? call_members(l)->kind : CALL_NONE;

	if (a->sized) {
		uint64_t size = call_value(c, call, a->sized - 1u, v->args);

		if (kind == MEMBER_SIGSET && !l->least ? size != l->size :
		    size < (l->least ? l->least : l->size))
			return 1;
		if (user->cut && user->n < (size < l->size ? size : l->size))
			return 1;
	}
	/* if a structure ends behind the end of memory, its last members are not read */
	return (kind == MEMBER_FDSET && (int32_t)v->args[0] < 0) ||
	       (v->returned && v->result == -EFAULT && l->used < l->size && !has_sides(l, 1)) ||
	       (!a->sized && user->cut && kind != MEMBER_FDSET &&
		user->n < (a->count < 0 ? a->used : a->size));
}

/* Print user memory. Return 0 if it makes no sense, and the address is to be printed. */
static int print_user(struct print *p, const struct call *call, unsigned arg,
		      const struct call_bytes *user)
{
	const struct call_values *v = p->v;
	const struct call_arg *a = &call->args[arg];
	uint64_t count = a->size;

	if (a->count >= 0)
		count = count_of(p->c, call, a, v->args);
	else if (a->kind == CALL_STRUCT)
		count = 1;
	if (a->sized)
		p->size = call_value(p->c, call, a->sized - 1u, v->args);
	if (a->out && (a->out == CALL_OUT_POSITIVE || !a->in) && !a->whole && a->count >= 0 &&
	    v->returned && v->result >= 0 && (uint64_t)v->result < count)
		count = (uint64_t)v->result;
	/* the length may be in user memory, in the next argument */
	if ((a->kind == CALL_SOCKADDR || a->kind == CALL_OPTION) && a->count < 0 &&
	    arg + 1 < call->nargs && v->user[arg + 1].n >= 4 && v->user[arg + 1].bytes)
		count = cut(call_load(p->c, v->user[arg + 1].bytes, 4), 4, 1);
	/* it is the length of the whole address; the program may have had room for a part */
	if ((a->kind == CALL_SOCKADDR || a->kind == CALL_OPTION) && a->out &&
	    is_known(&v->entry[arg + 1]) &&
	    v->entry[arg + 1].n >= 4 && call_load(p->c, v->entry[arg + 1].bytes, 4) < count)
		count = call_load(p->c, v->entry[arg + 1].bytes, 4);
	if (a->kind == CALL_STRUCT && (!count || is_refused(p->c, call, arg, v, user)))
		return 0;
	return print_bytes(p, a, user, count, call_value(p->c, call, 0, v->args));
}

/* Print count elements or bytes of user memory, as print_user. */
static int print_bytes(struct print *p, const struct call_arg *a, const struct call_bytes *user,
		       uint64_t count, uint64_t most)
{
	size_t n = user->n;

	switch (a->kind) {
	case CALL_PATH:
	case CALL_STRING:
		n = strnlen(user->bytes, n);
		put_quoted(p, user->bytes, n, n == user->n && user->cut);
		break;
	case CALL_STRINGS:
		strings(p, user);
		break;
	case CALL_BUFFER:
		if (n > count)
			n = (size_t)count;
		if (a->bits) {
			descriptors(p, user->bytes, n, 8 * n);
			break;
		}
		if (p->v && p->v->netlink && call_put_netlink(p, user->bytes, n, (size_t)count))
			break;
		if (a->set == BUFFER_VALUE && n && n == count && !user->bytes[n - 1]) {
			n--;
			count--;
		}
		put_quoted(p, user->bytes, n, n < count);
		break;
	case CALL_OPTION:
		return print_option(p, a, user, count);
	case CALL_SOCKADDR:
		if ((int64_t)count < 2 || n < 2)
			return 0;
		print_address(p, user->bytes, n < count ? n : (size_t)count, (size_t)count);
		break;
	default:
		if (call_layout(p->c, a->set)->chain)
			return chain(p, a, user, count);
		structures(p, a, user, count, most);
	}
	return 1;
}

static size_t end(struct print *p, char *buf)
{
	size_t n = (size_t)(p->o.at - buf);

	if (p->o.cut)
		memcpy(p->o.at - (n < 3 ? n : 3), "...", n < 3 ? n : 3);
	return n;
}

/* Did the kernel write the user memory of an argument? */
static int has_output(const struct call_arg *a, const struct call_values *v)
{
	int32_t result = (int32_t)v->result;

	if (a->out == CALL_OUT_INTERRUPTED)
		return v->returned && (result == -EINTR || result == -K_ERESTART_RESTARTBLOCK);
	return v->returned && v->result >= (a->out == CALL_OUT_POSITIVE);
}

/* Return what the kernel wrote to an argument that it reads and writes, or NULL. */
static const struct call_bytes *written(const struct call_arg *a, unsigned arg,
					const struct call_values *v)
{
	const struct call_bytes *user = &v->user[arg];

	return a->in && a->out && v->args[arg] && v->returned && v->result >= 0 &&
	       is_known(user) && user->bytes != v->entry[arg].bytes ? user : NULL;
}

/* Return the layout of an argument, or NULL. */
static const struct call_layout *layout_of(const struct calls *c, const struct call_arg *a)
{
	return a->kind == CALL_STRUCT ? call_layout(c, a->set) : NULL;
}

/* Print a value before and after the call: [3] => [8], or [100 => 16] of a length. */
static void changed(struct print *p, const struct call *call, unsigned arg,
		    const struct call_bytes *old, const struct call_bytes *new)
{
	const struct call_layout *l = layout_of(p->c, &call->args[arg]);
	size_t n = l->size;

	if (is_known(old) && old->n >= n && new->n >= n && !memcmp(old->bytes, new->bytes, n)) {
		print_user(p, call, arg, new);
	} else if (is_known(old) && l->length) {
		out_string(&p->o, "[");
		print_layout(p, call->args[arg].set, old->bytes, old->n, 0);
		out_string(&p->o, " => ");
		print_layout(p, call->args[arg].set, new->bytes, new->n, 0);
		out_string(&p->o, "]");
	} else {
		if (is_known(old))
			print_user(p, call, arg, old);
		else if (old->fault) /* and not the memory of an older trace */
			hex(p, p->v->args[arg]);
		if (is_known(old) || old->fault)
			out_string(&p->o, " => ");
		print_user(p, call, arg, new);
	}
}

/* Print what the kernel wrote to the pointers of a structure: => {parent_tid=[3141]} */
static void print_later(struct print *p, const struct call *call, unsigned arg,
			const struct call_bytes *user)
{
	char *at = p->o.at;

	out_string(&p->o, " => ");
	p->later = 1;
	print_user(p, call, arg, user);
	if (p->o.at - at < 7) /* {} */
		p->o.at = at;
}

void put_layout(struct print *p, unsigned layout, const char *at, size_t n)
{
	print_layout(p, layout, at, n, 0);
}

int put_constant(struct out *o, const struct calls *c, unsigned set, uint64_t v)
{
	const struct call_constant *k = find(c, &call_sets[set], v, UINT64_MAX);

	if (k)
		packed(o, k->name);
	return k != NULL;
}

size_t call_print(const struct calls *c, const struct call *call, unsigned arg,
		  const struct call_values *v, char *buf, size_t size)
{
	struct print p = { .o = out_to(buf, size), .c = c, .v = v, .left = (uint64_t)v->result };
	const struct call_arg *a = &call->args[arg];
	const struct call_bytes *user = &v->user[arg], *new = written(a, arg, v);
	const struct call_layout *l = layout_of(c, a);
	int address = 0;

	if (arg >= call->nargs)
		return 0;
	if (a->after && new && !has_sides(l, 0))
		user = &v->entry[arg];
	if (a->kind == CALL_BUFFER && a->out && v->args[arg] && v->returned && !v->result) {
		out_string(&p.o, "\"\""); /* the end of a file: nothing was read */
	} else if (a->kind == CALL_BUFFER && a->in && a->count >= 0 && v->args[arg] &&
		   !count_of(c, call, a, v->args)) {
		out_string(&p.o, a->bits ? "[]" : "\"\""); /* nothing is to be written */
	} else if (l && a->count >= 0 && v->args[arg] &&
		   (a->out && !a->in && !a->whole ? v->returned && !v->result :
		    !call_value(c, call, (unsigned)a->count, v->args))) {
		out_string(&p.o, "[]"); /* no event came, or the array has none */
	} else if (new && !a->after && l && l->bare) {
		changed(&p, call, arg, &v->entry[arg], new);
	} else if (a->kind >= CALL_PATH && a->kind < CALL_NONE &&
		   (is_known(user) || is_long(a, user, v->result)) &&
		   v->args[arg] &&
		   ((a->in && a->out != CALL_OUT_POSITIVE) || has_output(a, v)) &&
		   (a->kind != CALL_STRUCT || l)) {
		if (new && !a->after && is_known(&v->entry[arg])) {
			p.old = &v->entry[arg];
			p.new = user;
		}
		p.failed = v->returned && v->result < 0 && a->out && has_sides(l, 1);
		address = !print_user(&p, call, arg, user);
		if (l && l->later && new && v->memory && v->memory->pointed.bytes.n)
			print_later(&p, call, arg, user);
	} else {
		address = 1;
	}
	if (address)
		print_value(&p, a->kind, a->size, a->set, call_value(c, call, arg, v->args));
	return end(&p, buf);
}

size_t call_print_written(const struct calls *c, const struct call *call, unsigned arg,
			  const struct call_values *v, char *buf, size_t size)
{
	struct print p = { .o = out_to(buf, size), .c = c, .v = v };
	const struct call_arg *a = &call->args[arg];
	const struct call_bytes *new = written(a, arg, v);

	if (arg >= call->nargs || !a->after || !new)
		return 0;
	p.written = has_sides(layout_of(c, a), 0);
	p.behind = 1;
	print_user(&p, call, arg, new);
	/* strace leaves out what is empty, too */
	return p.o.at - buf == 2 && !memcmp(buf, "[]", 2) ? 0 : end(&p, buf);
}

size_t call_print_behind(const struct calls *c, const struct call *call,
			 const struct call_values *v, char *buf, size_t size)
{
	struct print p = { .o = out_to(buf, size), .c = c };
	int any = 0, has_after = 0;

	for (unsigned i = 0; i < call->nargs; i++) {
		const struct call_arg *a = &call->args[i];
		char *begin = p.o.at;
		size_t n;

		has_after |= a->after && a->bits;
		if (!a->after || !v->returned || v->result < 0 || p.o.cut)
			continue;
		if (!v->result && !any) {
			out_string(&p.o, " (Timeout)");
			break;
		}
		out_string(&p.o, any ? ", " : " (");
		out_string(&p.o, a->label);
		out_string(&p.o, *a->label ? " " : "");
		n = call_print_written(c, call, i, v, p.o.at, (size_t)(p.o.end - p.o.at));
		if (!n)
			p.o.at = begin;
		p.o.at += n;
		any |= n != 0;
	}
	if (any || (has_after && v->returned && v->result > 0))
		out_string(&p.o, any ? ")" : " ()");
	return end(&p, buf);
}

size_t call_print_result(const struct calls *c, const struct call *call, int64_t result,
			 char *buf, size_t size)
{
	struct print p = { .o = out_to(buf, size), .c = c };
	const struct call_arg *a = &call->result;

	if (c->word == 4 || (a->kind == CALL_INT && a->size == 4)) /* modify_ldt(2) has no sign */
		result = (int32_t)result;
	if (error_of_result(result)) {
		const struct call_set *set = &call_sets[SET_ERRNO];

		const struct call_constant *k = find(c, set, (uint64_t)-result, UINT64_MAX);

		out_string(&p.o, result <= -512 ? "? " : "-1 ");
		if (k)
			name(&p, set, k);
		else
			out_decimal(&p.o, (uint64_t)-result);
	} else if (a->kind == CALL_NONE) {
		out_string(&p.o, "?");
	} else if (a->kind == CALL_SET && a->after) {
		const struct call_set *set = &call_sets[a->set];

		print_value(&p, set->flags == 1 ? CALL_HEX : CALL_INT, 4, 0, (uint64_t)result);
		if (set->flags == 2 || (result && set->flags) ||
		    find(c, set, (uint64_t)result, UINT64_MAX)) {
			out_string(&p.o, " (");
			out_string(&p.o, a->label);
			out_string(&p.o, *a->label ? " " : "");
			put_set(&p, a->set, (uint64_t)result, a->size);
			out_string(&p.o, ")");
		}
	} else {
		print_value(&p, a->kind, a->size, a->set, (uint64_t)result);
	}
	return end(&p, buf);
}

void call_ip6(struct out *o, const unsigned char *at)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff }, zero[12];

	out_ip6(o, at, !memcmp(at, mapped, 12) || (!memcmp(at, zero, 12) && (at[12] || at[13])));
}
