/* SPDX-License-Identifier: ISC */
/*
 * own.c - what only the text of the kernel's own entries has: addresses with
 * symbols, stacks, the arguments of a trace_printk
 */
#include "run.h"

/* " <00...ADDRESS>" */
static void put_address(struct machine *m, uint64_t ip)
{
	static const struct conversion number = { .letter = 'x', .size = 8, .flags = F_ZERO };

	put(&m->o, " <", 2);
	put_number(&m->o, &number, 2 * m->evs->long_size, -1, ip);
	put_char(&m->o, '>');
}

/* seq_print_ip_sym */
static void put_ip(struct machine *m, uint64_t ip)
{
	if (!ip) {
		put_char(&m->o, '0');
		return;
	}
	put_symbol(m->evs, &m->o, ip, m->evs->sym_offset, m->evs->sym_offset, 8);
	if (m->evs->sym_addr)
		put_address(m, ip);
}

static void put_stack(struct machine *m, uint64_t where, int user)
{
	uint32_t at = (uint32_t)where, len = (uint32_t)(where >> 32);
	const unsigned char *s = m->r->data + at;
	unsigned size = (unsigned)m->evs->long_size;
	uint64_t last = size == 8 ? UINT64_MAX : UINT32_MAX;

	if (at > m->r->len)
		return;
	/* a kernel's goes to the end of the record, whatever the format says */
	if (!user || len > m->r->len - at)
		len = m->r->len - at;
	for (; len >= size; s += size, len -= size) {
		uint64_t ip = get(s, size, 0, m->evs->big);

		if (user ? !ip : ip == last)
			break;
		put(&m->o, " => ", 4);
		if (user)
			put_address(m, ip);
		else if (ip == INT32_MAX)
			put(&m->o, "[FTRACE TRAMPOLINE]", 19);
		else
			put_ip(m, ip);
		put_char(&m->o, '\n');
	}
}

/*
 * vbin_printf's packing of a trace_printk's arguments: numbers aligned to their
 * size, at least 4; strings in place.
 */
static void put_bprint(struct machine *m, uint64_t format, uint64_t where)
{
	const char *f = string_at(m->evs, format), *end;
	size_t len, at = 0;
	const unsigned char *s = memory(m, where, &len);

	if (!f) {
		put(&m->o, "0x", 2);
		put_hex(&m->o, format);
		put_char(&m->o, '\n');
		return;
	}
	for (end = f + strlen(f); f < end;) {
		struct conversion c;
		uint64_t v[3] = { 0 };
		int width, precision, n = 0;
		unsigned size;

		if (*f != '%') {
			put_char(&m->o, *f++);
			continue;
		}
		f = conversion_parse(&c, f + 1, end, m->evs->long_size);
		if (c.letter == '%') {
			put_char(&m->o, '%');
			continue;
		}
		n = !!(c.flags & F_STAR) + !!(c.flags & F_STAR_PRECISION);
		if (c.letter == 's') {
			size = 0;
		} else {
			v[n++] = 0;
			size = c.size == 8 ? 8 : 4;
		}
		for (int i = 0; i < n; i++) {
			unsigned one = i < n - (size != 0) ? 4 : size;

			at = (at + one - 1) & ~(size_t)(one - 1);
			if (at > len || one > len - at)
				return;
			v[i] = get(s + at, one, 1, m->evs->big);
			at += one;
		}
		n = 0;
		width = c.flags & F_STAR ? (int)v[n++] : c.width;
		precision = c.flags & F_STAR_PRECISION ? (int)v[n++] : c.precision;
		if (c.letter == 's') {
			char *start = m->o.at;
			size_t text = strnlen((const char *)s + at, len - at);

			put_data(&m->o, (const char *)s + at, text, m->evs->exact);
			put_padded(&m->o, start, c.flags, width, precision);
			at += text + (text < len - at);
		} else if (c.letter == 'p') {
			put_pointer(m->evs, &m->o, &c, width, v[n], NULL, 0);
		} else {
			put_one(m, &c, width, precision, v[n]);
		}
	}
}

/* The bytes that a call read, as many as were kept of length: "(61:0a) "a."" */
static void put_buffer(struct machine *m, uint64_t length, uint64_t where)
{
	int cut = (int)(where >> 32) < (int)length, printable = 0;
	size_t len;
	const unsigned char *s = memory(m, where, &len);

	put_char(&m->o, '(');
	put_bytes(m, where, ':');
	if (cut)
		put(&m->o, ", ...", 5);
	put_char(&m->o, ')');
	for (size_t i = 0; i < len; i++)
		printable |= s[i] >= ' ' && s[i] < 127;
	if (!printable)
		return;
	put(&m->o, " \"", 2);
	for (size_t i = 0; i < len; i++)
		put_char(&m->o, s[i] >= ' ' && s[i] < 127 ? (char)s[i] : '.');
	put(&m->o, "\"...", cut ? 4 : 1);
}

/* End the line of an event whose text has to bring its own newline and does not. */
static void end_line(struct machine *m)
{
	if (!m->evs->exact && m->o.at[-1] != '\n')
		put_char(&m->o, '\n');
}

/*
 * Write the text of a mark. Its last newline ends the line, those before it came
 * from whoever wrote the mark (kernel/trace/trace.c, tracing_mark_write).
 */
static void put_mark(struct machine *m, uint64_t where)
{
	size_t len, n;
	const char *s = (const char *)memory(m, where, &len);

	n = strnlen(s, len);
	if (!m->evs->exact && n && s[n - 1] == '\n')
		n--;
	put_data(&m->o, s, n, m->evs->exact);
	end_line(m);
}

void put_own(struct machine *m, enum own which, uint64_t v, uint64_t below)
{
	static const struct conversion octal = { .letter = 'o', .size = 4,
						 .flags = F_HAS_PRECISION };
	const unsigned char *data;
	size_t len;

	switch (which) {
	case OWN_IP:
		put_ip(m, v);
		break;
	case OWN_PROBE:
		put_symbol(m->evs, &m->o, v, 1, 1, 0);
		break;
	case OWN_PROBE_BARE:
		put_symbol(m->evs, &m->o, v, 0, 1, 0);
		break;
	case OWN_BYTES:
		memory(m, v, &len);
		if (len)
			put_char(&m->o, ' ');
		put_bytes(m, v, ' ');
		break;
	case OWN_STACK:
	case OWN_USER_STACK:
		put_stack(m, v, which == OWN_USER_STACK);
		break;
	case OWN_QUOTED: /* trace_probe.c, print_type_string */
	case OWN_WORD:
		data = memory(m, v, &len);
		if (!len && which == OWN_QUOTED) {
			put(&m->o, "(fault)", 7);
			break;
		}
		put_char(&m->o, '"');
		put_data(&m->o, (const char *)data, strnlen((const char *)data, len),
			 m->evs->exact);
		put_char(&m->o, '"');
		break;
	case OWN_TIME:
		put_time(&m->o, m->r->ts - v, m->raw_clock);
		break;
	case OWN_BPRINT:
		put_bprint(m, below, v);
		end_line(m);
		break;
	case OWN_TEXT:
		put_mark(m, v);
		break;
	case OWN_MODE:
		put(&m->o, ", mode: 0", 9);
		put_number(&m->o, &octal, -1, 3, v);
		break;
	case OWN_BUFFER:
		put_buffer(m, below, v);
		break;
	}
}
