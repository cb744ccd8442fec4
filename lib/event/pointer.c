/* SPDX-License-Identifier: ISC */
/*
 * pointer.c - print the kernel's %p and its extensions, %pS, %pI4 and so on
 *
 * A plain %p is printed as the address itself. The kernel prints a hash instead, with a secret
 * key, unless options/hash-ptr is off.
 */

#include "event/event.h"
#include "event/vm.h"

/* Write at least that many digits. */
static void put_padded_hex(struct out *o, uint64_t v, int digits)
{
	out_number(o, &(struct conversion){ .letter = 'x', .size = 8, .flags = F_ZERO },
		   digits, -1, v);
}

void out_symbol(struct event_set *evs, struct out *o, uint64_t address, int offset, int module,
		int digits)
{
	struct symbol s;

	if (!evs->symbols_asked && evs->load_symbols) {
		evs->symbols = evs->load_symbols(evs->arg);
		evs->symbols_asked = 1;
	}
	/* a return address belongs to the call before it */
	if (!evs->symbols || !symbols_at(evs->symbols, address - (offset == 2), &s)) {
		out_string(o, "0x");
		put_padded_hex(o, address, digits ? digits : 1);
		return;
	}
	out_text(o, s.name, s.len);
	if (offset)
		out_format(o, "+0x%llx/0x%llx", (unsigned long long)(address - s.address),
			   (unsigned long long)s.size);
	if (module && s.module)
		out_format(o, " [%.*s]", (int)s.mlen, s.module);
}

/* ---- network addresses ---- */

static void put_ip4(struct out *o, const unsigned char *a, int zeros, int reversed)
{
	for (int i = 0; i < 4; i++) {
		unsigned byte = a[reversed ? 3 - i : i];

		if (i)
			out_char(o, '.');
		if (zeros && byte < 100)
			out_string(o, byte < 10 ? "00" : "0");
		out_decimal(o, byte);
	}
}

static void put_ip6(struct out *o, const unsigned char *a, int colons)
{
	for (int i = 0; i < 16; i++) {
		if (colons && i && !(i & 1))
			out_char(o, ':');
		out_byte(o, a[i]);
	}
}

/* The kernel writes the end of an IPv4-mapped address, and of an ISATAP address, as IPv4. */
static void put_ip6_compressed(struct out *o, const unsigned char *a)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

	out_ip6(o, a, !memcmp(a, mapped, 12) ||
		((a[8] | 2) == 2 && !a[9] && a[10] == 0x5e && a[11] == 0xfe));
}

/* Is the letter among those after p? */
static int has(const struct conversion *c, char letter)
{
	return memchr(c->suffix, letter, c->more) != NULL;
}

/* Write a struct sockaddr (%pIS): p adds the port, f the flow info, s the scope. */
static void put_sockaddr(struct event_set *evs, struct out *o, const struct conversion *c,
			 const unsigned char *a, size_t len)
{
	enum { IP4 = 2, IP6 = 10 };
	unsigned family = len >= 2 ? (unsigned)raw_number(a, 2, 0, evs->big) : 0;
	int more = has(c, 'p') || has(c, 'f') || has(c, 's');

	if (family == IP4 && len >= 8) {
		put_ip4(o, a + 4, c->suffix[0] == 'i', 0);
	} else if (family == IP6 && len >= 28) {
		if (more)
			out_char(o, '[');
		if (c->suffix[0] == 'I' && has(c, 'c'))
			put_ip6_compressed(o, a + 8);
		else
			put_ip6(o, a + 8, c->suffix[0] == 'I');
		if (more)
			out_char(o, ']');
	} else {
		out_string(o, "(einval)");
		return;
	}
	if (has(c, 'p')) {
		out_char(o, ':');
		out_decimal(o, raw_number(a + 2, 2, 0, 1));
	}
	if (family == IP6 && has(c, 'f')) {
		out_char(o, '/');
		out_decimal(o, raw_number(a + 4, 4, 0, 1) & 0x0fffffff);
	}
	if (family == IP6 && has(c, 's')) {
		out_char(o, '%');
		out_decimal(o, raw_number(a + 24, 4, 0, evs->big));
	}
}

static void put_ip(struct event_set *evs, struct out *o, const struct conversion *c,
		   const unsigned char *a, size_t len)
{
	char kind = c->more > 1 ? c->suffix[1] : 0, order = c->more > 2 ? c->suffix[2] : 0;
	int big = evs->big;

	if (kind == 'S') {
		put_sockaddr(evs, o, c, a, len);
	} else if (kind == '4' && len >= 4) {
		put_ip4(o, a, c->suffix[0] == 'i', order == 'l' || (order == 'h' && !big));
	} else if (kind == '6' && len >= 16) {
		if (c->suffix[0] == 'I' && order == 'c')
			put_ip6_compressed(o, a);
		else
			put_ip6(o, a, c->suffix[0] == 'I');
	} else {
		out_string(o, "(einval)");
	}
}

/* ---- bytes and bits ---- */

static void put_mac(struct out *o, const struct conversion *c, const unsigned char *a)
{
	char between = has(c, 'F') ? '-' : ':';

	for (int i = 0; i < 6; i++) {
		if (i && c->suffix[0] == 'M')
			out_char(o, between);
		out_byte(o, a[has(c, 'R') ? 5 - i : i]);
	}
}

static void put_uuid(struct out *o, const struct conversion *c, const unsigned char *a)
{
	static const unsigned char little[16] = {
		3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15
	};
	char kind = c->more > 1 ? c->suffix[1] : 'b';
	int upper = kind == 'B' || kind == 'L', swap = kind == 'l' || kind == 'L';
	const struct conversion two = { .letter = upper ? 'X' : 'x', .size = 1, .flags = F_ZERO };

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			out_char(o, '-');
		out_number(o, &two, 2, -1, a[swap ? little[i] : i]);
	}
}

/* Write up to 64 bytes in hexadecimal (%ph). */
static void put_some_hex(struct out *o, const struct conversion *c, int width,
			 const unsigned char *a, size_t len)
{
	size_t n = width < 0 ? 1 : width > 64 ? 64 : (size_t)width;
	char kind = c->more > 1 ? c->suffix[1] : ' ';
	char between = kind == 'C' ? ':' : kind == 'D' ? '-' : kind == 'N' ? 0 : ' ';

	for (size_t i = 0; i < n && i < len; i++) {
		if (i && between)
			out_char(o, between);
		out_byte(o, a[i]);
	}
}

static unsigned bit(const struct event_set *evs, const unsigned char *a, size_t len, size_t i)
{
	size_t byte = i / 8, l = (size_t)evs->long_size;

	if (evs->big) /* the lowest bit of each long is in its last byte */
		byte = byte / l * l + l - 1 - byte % l;
	return byte < len ? a[byte] >> i % 8 & 1 : 0;
}

void out_bits(const struct event_set *evs, struct out *o, const unsigned char *a, size_t len,
	      size_t bits, int list)
{
	size_t i, n = bits % 32 ? bits % 32 : 32;
	int first = 1;

	if (bits > len * 8 + 64) /* the record has no more bits */
		bits = len * 8 + 64;
	if (list) {
		for (i = 0; i < bits; i++) {
			if (!bit(evs, a, len, i))
				continue;
			if (!first)
				out_char(o, ',');
			first = 0;
			out_decimal(o, i);
			for (n = i; n + 1 < bits && bit(evs, a, len, n + 1);)
				n++;
			if (n > i) {
				out_char(o, '-');
				out_decimal(o, n);
			}
			i = n;
		}
		return;
	}
	for (i = bits; i; i -= n, n = 32) { /* 32 bits at a time, the first chunk may be less */
		uint32_t v = 0;

		if (n > i)
			n = i;
		for (size_t j = 0; j < n; j++)
			v |= (uint32_t)bit(evs, a, len, i - n + j) << j;
		if (!first)
			out_char(o, ',');
		first = 0;
		put_padded_hex(o, v, (int)(n + 3) / 4);
	}
}

/* Write the n bytes of a line as numbers of size bytes, and as characters. */
static void put_row(struct out *o, const struct dump *d, const unsigned char *data, size_t n,
		    size_t size, size_t width)
{
	size_t column = width * 2 + width / size + 1;

	for (size_t i = 0; i < n; i += size) {
		if (i)
			out_char(o, ' ');
		put_padded_hex(o, raw_number(data + i, (unsigned)size, 0, d->big), (int)size * 2);
	}
	if (!d->ascii)
		return;
	out_fill(o, ' ', (int)(column - (2 * n + (n - 1) / size)));
	for (size_t i = 0; i < n; i++)
		out_char(o, data[i] >= ' ' && data[i] < 127 ? (char)data[i] : '.');
}

void out_dump(struct out *o, const struct dump *d, const unsigned char *data, size_t len)
{
	size_t width = d->row == 32 ? 32 : 16;
	size_t group = d->group == 2 || d->group == 4 || d->group == 8 ? (size_t)d->group : 1;

	out_char(o, '\n');
	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < width ? len - at : width;
		out_text(o, d->prefix, d->prefix_len);
		if (d->with_offset) {
			put_padded_hex(o, at, 8);
			out_string(o, ": ");
		}
		put_row(o, d, data + at, n, n % group ? 1 : group, width);
		out_char(o, '\n');
	}
}

/* ---- the conversion ---- */

void out_pointer(struct event_set *evs, struct out *o, const struct conversion *c, int width,
		 uint64_t address, const unsigned char *data, size_t len)
{
	int digits = 2 * evs->long_size;
	char kind = c->more ? c->suffix[0] : 0;
	struct conversion number = { .letter = 'x', .size = 8, .flags = c->flags };
	char *start = o->at;

	if (!data && kind && strchr("SsFfB", kind)) {
		out_symbol(evs, o, address, kind == 'B' ? 2 : kind == 'S' || kind == 'F', 1, 0);
	} else if (data && (kind == 'I' || kind == 'i')) {
		put_ip(evs, o, c, data, len);
	} else if (data && len >= 6 && (kind == 'M' || kind == 'm')) {
		put_mac(o, c, data);
	} else if (data && len >= 16 && kind == 'U') {
		put_uuid(o, c, data);
	} else if (data && kind == 'h') {
		put_some_hex(o, c, width, data, len);
		return;
	} else if (data && kind == 'b') {
		out_bits(evs, o, data, len, width < 0 ? 0 : (size_t)width, has(c, 'l'));
		return;
	} else if (data && kind == 'a' && (len == 4 || len == 8)) {
		out_string(o, "0x");
		put_padded_hex(o, raw_number(data, (unsigned)len, 0, evs->big), (int)len * 2);
		return;
	} else if (data) { /* a field of the record: its address in the kernel is not known */
		out_string(o, "(record)");
		return;
	} else {
		if (width < 0) {
			width = digits + (c->flags & F_ALT ? 2 : 0);
			number.flags |= F_ZERO;
		}
		out_number(o, &number, width, -1,
			   vm_extend(address, (unsigned)evs->long_size, 0));
		return;
	}
	out_padded(o, start, c->flags, width, c->precision);
}
