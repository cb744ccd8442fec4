/* SPDX-License-Identifier: ISC */
/*
 * vm.c - run the bytecode of a print fmt
 *
 * In this file, each part uses those above it:
 *	numbers with names, arrays, and regions of the record
 *	the fields of an event whose print fmt is not supported
 *	texts that only events of ftrace have
 *	vm_compute, vm_write: the instructions that few records have
 *	run: the instructions that most records are made of
 *
 * Bounds: an instruction checks an offset against the record when it reads; each function that
 * writes checks the room of the output. The compiler ensures that the stack is large enough
 * and that jumps only go forward.
 */

#include "base/base.h"
#include "event/event.h"
#include "event/vm.h"

/* ---- numbers with names, arrays, and regions of the record ---- */

/* Return the memory of a region and set *len; 0 bytes if it is outside of the record. */
static const unsigned char *vm_memory(const struct vm *m, uint64_t where, size_t *len)
{
	uint32_t at = (uint32_t)where, n = (uint32_t)(where >> 32);

	if (at > m->r->len || n > m->r->len - at) {
		*len = 0;
		return m->r->data;
	}
	*len = n;
	return m->r->data + at;
}

/* Remember the text from start to m->o.at as the output of instruction s for v. */
static void remember(struct vm *m, const struct vm_insn *s, uint64_t v, const char *start)
{
	struct vm_memo *memo = vm_memo(m->evs, s, v);
	size_t len = (size_t)(m->o.at - start);

	if (len > sizeof(memo->text) || !out_room(&m->o)) /* the text may be cut */
		return;
	memo->insn = s;
	memo->value = v;
	memo->len = (uint8_t)len;
	memcpy(memo->text, start, len);
}

/* Print the names of the bits in v, and the rest as a number. */
static void put_flags(struct vm *m, const struct vm_insn *s, uint64_t v)
{
	const struct vm_table *t = &m->p->tables[s->n];
	int first = 1;

	v = vm_extend(v, s->size, 0);
	for (uint32_t i = 0; i < t->n && v; i++) {
		const struct vm_name *name = &m->p->names[t->first + i];
		uint64_t mask = vm_extend(name->value, s->size, 0);

		if ((v & mask) != mask)
			continue;
		v &= ~mask;
		if (!first)
			out_text(&m->o, m->p->text + s->text, s->len);
		first = 0;
		out_text(&m->o, m->p->text + name->text, name->len);
	}
	if (v) {
		if (!first)
			out_text(&m->o, m->p->text + s->text, s->len);
		out_address(&m->o, v);
	}
}

/* Print the name of v, or v as a number. */
static void put_symbolic(struct vm *m, const struct vm_insn *s, uint64_t v)
{
	const struct vm_table *t = &m->p->tables[s->n];

	v = vm_extend(v, s->size, 0);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct vm_name *name = &m->p->names[t->first + i];

		if (v == vm_extend(name->value, s->size, 0)) {
			/* the kernel prints the number instead of an empty name */
			if (!name->len)
				break;
			out_text(&m->o, m->p->text + name->text, name->len);
			return;
		}
	}
	out_address(&m->o, v);
}

/* Print the names of a number and keep them. */
static void put_names(struct vm *m, const struct vm_insn *s, uint64_t v)
{
	const char *start = m->o.at;

	if (s->op == OP_FLAGS)
		put_flags(m, s, v);
	else
		put_symbolic(m, s, v);
	remember(m, s, v, start);
}

/* Print the bytes of a region in hexadecimal with a character between them. */
static void vm_print_hex(struct vm *m, uint64_t where, char between)
{
	size_t len;
	const unsigned char *s = vm_memory(m, where, &len);

	for (size_t i = 0; i < len; i++) {
		if (i && between)
			out_char(&m->o, between);
		out_byte(&m->o, s[i]);
	}
}

/* Print n bytes that a program chose. */
static void put_text(struct vm *m, const void *s, size_t n, enum escape how)
{
	out_escaped(&m->o, s, n, m->evs->exact ? ESCAPE_NOTHING : how);
}

/* Print a region up to its NUL. */
static void put_string(struct vm *m, uint64_t where, enum escape how)
{
	size_t len;
	const char *s = (const char *)vm_memory(m, where, &len);

	put_text(m, s, strnlen(s, len), how);
}

/* Print count elements of size bytes of a region: {0x1,0x2} */
static void put_array(struct vm *m, uint64_t where, uint64_t count, uint64_t size)
{
	size_t len;
	const unsigned char *s = vm_memory(m, where, &len), *end = s + len;

	if (count < len && size && size <= 8 && count * size < len)
		end = s + count * size;
	out_char(&m->o, '{');
	for (int first = 1; s < end; first = 0, s += size) {
		if (!first)
			out_char(&m->o, ',');
		if (size != 1 && size != 2 && size != 4 && size != 8) {
			out_format(&m->o, "BAD SIZE:%llu 0x%x", (unsigned long long)size, *s);
			size = 1;
			continue;
		}
		if ((size_t)(end - s) < size)
			break;
		out_address(&m->o, raw_number(s, (unsigned)size, 0, m->evs->big));
	}
	out_char(&m->o, '}');
}

/* ---- the fields of an event whose print fmt is not supported ---- */

static void put_value(struct vm *m, const struct field *f)
{
	struct field_data v;

	if (field_value(m->evs, f, m->r, &v) < 0) {
		out_string(&m->o, "<OVERFLOW>");
		return;
	}
	switch (v.kind) {
	case FIELD_NUMBER:
		if (f->is_signed)
			out_signed(&m->o, v.i);
		else
			out_decimal(&m->o, v.u);
		break;
	case FIELD_POINTER:
		out_address(&m->o, v.u);
		break;
	case FIELD_STRING:
		put_text(m, v.data, v.n, ESCAPE_NAME);
		break;
	case FIELD_ARRAY:
		put_array(m, vm_region((uint32_t)(v.data - m->r->data), (uint32_t)v.n * f->elem),
			  v.n, f->elem);
		break;
	case FIELD_BITMASK:
		out_bits(m->evs, &m->o, v.data, v.n, v.n * 8, m->evs->bitmask_list);
		break;
	}
}

static void put_fields(struct vm *m)
{
	for (unsigned i = m->e->ncommon; i < m->e->nfields; i++) {
		const struct field *f = &m->e->fields[i];

		out_char(&m->o, ' ');
		out_string(&m->o, f->name);
		out_char(&m->o, '=');
		put_value(m, f);
	}
}

/* Pad the string from start to m->o.at, or cut it; an escape counts as one byte. */
static void pad_string(struct vm *m, char *start, unsigned flags, int width, int precision)
{
	char *s = start;

	for (int n = 0; n < precision && s < m->o.at && !m->evs->exact; n++)
		s += out_escape_length(s, (size_t)(m->o.at - s));
	out_padded(&m->o, start, flags, width, s > start ? (int)(s - start) : precision);
}

/* Print a number or a character. */
static void vm_print_number(struct vm *m, const struct conversion *c, int width, int precision,
			    uint64_t v)
{
	char *start = m->o.at, byte = (char)v;

	if (c->letter != 'c') {
		out_number(&m->o, c, width, precision, v);
		return;
	}
	put_text(m, &byte, 1, ESCAPE_QUOTED);
	out_padded(&m->o, start, c->flags & F_LEFT, width, -1);
}

/* ---- texts that only events of ftrace have ---- */

/* Print " <00...ADDRESS>". */
static void put_address(struct vm *m, uint64_t ip)
{
	static const struct conversion number = { .letter = 'x', .size = 8, .flags = F_ZERO };

	out_string(&m->o, " <");
	out_number(&m->o, &number, 2 * m->evs->long_size, -1, ip);
	out_char(&m->o, '>');
}

/* Print an address as the kernel does (kernel/trace/trace_output.c, seq_print_ip_sym). */
static void put_ip(struct vm *m, uint64_t ip)
{
	if (!ip) {
		out_char(&m->o, '0');
		return;
	}
	out_symbol(m->evs, &m->o, ip, m->evs->sym_offset, m->evs->sym_offset, 8);
	if (m->evs->sym_addr)
		put_address(m, ip);
}

/* Print a frame of a user stack. call says that it is not the innermost one. */
static COLD void put_user(struct vm *m, uint64_t ip, int call)
{
	const struct event_set *evs = m->evs;

	out_string(&m->o, " => ");
	if (!evs->put_user ||
	    !evs->put_user(evs, &m->o, record_pid(evs, m->r), ip, call, 1))
		put_address(m, ip);
	out_char(&m->o, '\n');
}

/* Print the lines of a kernel's or a user stack. */
static void put_stack(struct vm *m, uint64_t where, int user)
{
	uint32_t at = (uint32_t)where, len = (uint32_t)(where >> 32);
	const unsigned char *s = m->r->data + at;
	unsigned size = (unsigned)m->evs->long_size;
	uint64_t last = size == 8 ? UINT64_MAX : UINT32_MAX, caller = 0;
	int frames = 0;

	if (at > m->r->len)
		return;
	/* a kernel stack goes to the end of the record, whatever the format says */
	if (!user || len > m->r->len - at)
		len = m->r->len - at;
	for (; len >= size; s += size, len -= size) {
		uint64_t ip = raw_number(s, size, 0, m->evs->big);

		if (user ? !ip : ip == last)
			break;
		if (user) {
			/* the kernel misses the caller: the innermost function has no frame yet */
			if (frames == 1 && caller && caller != ip)
				put_user(m, caller, 1);
			put_user(m, ip, frames > 0);
			caller = frames++ ? 0 : m->evs->caller;
			continue;
		}
		out_string(&m->o, " => ");
		if (ip == INT32_MAX)
			out_string(&m->o, "[FTRACE TRAMPOLINE]");
		else
			put_ip(m, ip);
		out_char(&m->o, '\n');
	}
	if (caller)
		put_user(m, caller, 1);
}

/* Print the lines of a user stack that have the names of its functions. */
static void put_frames(struct vm *m, uint64_t where)
{
	size_t len, n;
	const char *s = (const char *)vm_memory(m, where, &len), *end = s + strnlen(s, len);

	for (; s < end; s += n + 1) {
		const char *next = memchr(s, '\n', (size_t)(end - s));

		n = (size_t)((next ? next : end) - s);
		out_string(&m->o, " => ");
		put_text(m, s, n, ESCAPE_TEXT);
		out_char(&m->o, '\n');
	}
}

/* Read the next number of a trace_printk, and move *at after it. Return 0, or -1 at the end. */
static int next_packed(const struct vm *m, const unsigned char *s, size_t len, size_t *at,
		       unsigned size, uint64_t *v)
{
	*at = (*at + size - 1) & ~(size_t)(size - 1);
	if (*at > len || size > len - *at)
		return -1;
	*v = raw_number(s + *at, size, 1, m->evs->big);
	*at += size;
	return 0;
}

/*
 * Print a trace_printk. The kernel packs its arguments (lib/vsprintf.c, vbin_printf): a number
 * is aligned to its size, at least 4; a string is in place.
 */
static void put_bprint(struct vm *m, uint64_t format, uint64_t where)
{
	const char *f = event_string_at(m->evs, format), *begin = f, *end;
	int whole = f && (!strcmp(f, "%s") || !strcmp(f, "%s\n"));
	size_t len, at = 0, n;
	const unsigned char *s = vm_memory(m, where, &len);

	if (!f) {
		out_format(&m->o, "0x%llx\n", (unsigned long long)format);
		return;
	}
	for (end = f + strlen(f); f < end;) {
		struct conversion c;
		uint64_t width, precision, v = 0;
		char *start = m->o.at;
		enum escape how = whole ? ESCAPE_TEXT :
				  f > begin && f[-1] == '"' ? ESCAPE_QUOTED : ESCAPE_NAME;

		if (*f != '%') {
			out_char(&m->o, *f++);
			continue;
		}
		f = conversion_parse(&c, f + 1, end, m->evs->long_size);
		if (c.letter == '%') {
			out_char(&m->o, '%');
			continue;
		}
		width = (uint64_t)c.width;
		precision = (uint64_t)c.precision;
		if ((c.flags & F_STAR && next_packed(m, s, len, &at, 4, &width) < 0) ||
		    (c.flags & F_STAR_PRECISION &&
		     next_packed(m, s, len, &at, 4, &precision) < 0) ||
		    (c.letter != 's' &&
		     next_packed(m, s, len, &at, c.size == 8 ? 8 : 4, &v) < 0))
			return;
		if (c.letter == 's') {
			n = strnlen((const char *)s + at, len - at);
			put_text(m, s + at, n, how);
			pad_string(m, start, c.flags, (int)width, (int)precision);
			at += n + (n < len - at);
		} else if (c.letter == 'p') {
			out_pointer(m->evs, &m->o, &c, (int)width, v, NULL, 0);
		} else {
			vm_print_number(m, &c, (int)width, (int)precision, v);
		}
	}
}

/*
 * Print the bytes that a system call read from user space: "(61:0a) "a."". If the kernel has
 * kept fewer bytes than length, add ", ...".
 */
static void put_buffer(struct vm *m, uint64_t length, uint64_t where)
{
	int cut = (int)(where >> 32) < (int)length, printable = 0;
	size_t len;
	const unsigned char *s = vm_memory(m, where, &len);

	out_char(&m->o, '(');
	vm_print_hex(m, where, ':');
	if (cut)
		out_string(&m->o, ", ...");
	out_char(&m->o, ')');
	for (size_t i = 0; i < len; i++)
		printable |= s[i] >= ' ' && s[i] < 127;
	if (!printable)
		return;
	out_string(&m->o, " \"");
	for (size_t i = 0; i < len; i++)
		put_text(m, s[i] >= ' ' && s[i] < 127 ? (const void *)(s + i) : ".", 1,
			 ESCAPE_QUOTED);
	out_text(&m->o, "\"...", cut ? 4 : 1);
}

/* End the line of an event whose text should have ended with a newline but does not. */
static void end_line(struct vm *m)
{
	if (!m->evs->exact && m->o.at[-1] != '\n')
		out_char(&m->o, '\n');
}

/*
 * Print a message from trace_marker. Its last newline ends the line; the newlines before it
 * are part of the message (kernel/trace/trace.c, tracing_mark_write).
 */
static void put_mark(struct vm *m, uint64_t where)
{
	size_t len, n;
	const char *s = (const char *)vm_memory(m, where, &len);

	n = strnlen(s, len);
	if (!m->evs->exact && n && s[n - 1] == '\n')
		n--;
	put_text(m, s, n, ESCAPE_TEXT);
	end_line(m);
}

/* Execute OP_BUILTIN with the argument v. If there are two, `below` is the other one. */
static void vm_builtin(struct vm *m, enum builtin which, uint64_t v, uint64_t below)
{
	static const struct conversion octal = { .letter = 'o', .size = 4,
						 .flags = F_HAS_PRECISION };
	size_t len;

	switch (which) {
	case BUILTIN_IP:
		put_ip(m, v);
		break;
	case BUILTIN_PROBE:
		out_symbol(m->evs, &m->o, v, 1, 1, 0);
		break;
	case BUILTIN_PROBE_BARE:
		out_symbol(m->evs, &m->o, v, 0, 1, 0);
		break;
	case BUILTIN_BYTES:
		vm_memory(m, v, &len);
		if (len)
			out_char(&m->o, ' ');
		vm_print_hex(m, v, ' ');
		break;
	case BUILTIN_STACK:
	case BUILTIN_USER_STACK:
		put_stack(m, v, which == BUILTIN_USER_STACK);
		break;
	case BUILTIN_FRAMES:
		put_frames(m, v);
		break;
	case BUILTIN_QUOTED: /* kernel/trace/trace_probe.c, print_type_string */
	case BUILTIN_READABLE:
		vm_memory(m, v, &len);
		if (!len && which == BUILTIN_QUOTED) {
			out_string(&m->o, "(fault)");
			break;
		}
		out_char(&m->o, '"');
		put_string(m, v, ESCAPE_QUOTED);
		out_char(&m->o, '"');
		break;
	case BUILTIN_TIME:
		out_time(&m->o, m->r->ts - v, m->raw_clock);
		break;
	case BUILTIN_BPRINT:
		put_bprint(m, below, v);
		end_line(m);
		break;
	case BUILTIN_TEXT:
		put_mark(m, v);
		break;
	case BUILTIN_MODE:
		out_string(&m->o, ", mode: 0");
		out_number(&m->o, &octal, -1, 3, v);
		break;
	case BUILTIN_BUFFER:
		put_buffer(m, below, v);
		break;
	}
}

/* ---- vm_compute, vm_write: the instructions that few records have ---- */

/* Execute OP_POINTER. */
static void pointer(struct vm *m, const struct vm_insn *s, const struct conversion *c,
		    int width, uint64_t v)
{
	size_t len = 0;
	const unsigned char *data = s->arg ? NULL : vm_memory(m, v, &len);
	const char *start = m->o.at;

	out_pointer(m->evs, &m->o, c, width, v, data, len);
	if (s->n)
		remember(m, s, v, start);
}

/* Print the string at an address in the kernel. */
static void put_pointed(struct vm *m, uint64_t v, enum escape how)
{
	const char *text = event_string_at(m->evs, v);

	if (text) {
		put_text(m, text, strlen(text), how);
	} else if (!v) {
		out_string(&m->o, "(null)");
	} else { /* in the kernel's memory, which is not part of the trace */
		out_format(&m->o, "(0x%llx)", (unsigned long long)v);
	}
}

/* Execute OP_DUMP with the arguments of __print_hex_dump. */
static void dump(struct vm *m, const struct vm_insn *s, const uint64_t *v)
{
	struct dump d = {
		.prefix = m->p->text + s->text, .prefix_len = s->len, .with_offset = v[0] == 1 ||
		v[0] == 2, .row = (int)v[1], .group = (int)v[2], .ascii = v[5] != 0,
		.big = m->evs->big,
	};
	size_t len;
	const unsigned char *data = vm_memory(m, v[3], &len);

	out_dump(&m->o, &d, data, v[4] < len ? (size_t)v[4] : len);
}

/* Take the width and precision of a conversion that are on the stack. */
static struct stars pop_stars(const struct vm *m, const struct vm_insn *s, uint64_t *top)
{
	const struct conversion *c = &m->p->conversions[s->k];
	struct stars x = { c, c->width, c->precision, top };

	if (c->flags & F_STAR_PRECISION)
		x.precision = (int)*x.top--;
	if (c->flags & F_STAR)
		x.width = (int)*x.top--;
	return x;
}

/* Execute an instruction of numbers and regions that run does not. Return the new top. */
static uint64_t *vm_compute(const struct vm *m, const struct vm_insn *s, uint64_t *top)
{
	size_t len;
	const unsigned char *data;
	uint64_t v;

	switch ((enum op)s->op) {
	case OP_REGION:
		*++top = vm_region(s->n, (uint32_t)s->k);
		break;
	case OP_LOCATE:
		*++top = vm_locate(m->evs, m->r, s->n, s->arg);
		break;
	case OP_LENGTH:
		*top >>= 32;
		break;
	case OP_ELEMENT:
		v = *top--;
		data = vm_memory(m, *top, &len);
		*top = v < len / s->size
			? raw_number(data + v * s->size, s->size, s->is_signed, m->evs->big)
			: 0;
		break;
	case OP_SWAP:
		v = top[0];
		top[0] = top[-1];
		top[-1] = v;
		break;
	case OP_SELECT:
		if (s->arg) { /* cut a region to a length */
			top--;
			if (top[1] < top[0] >> 32)
				*top = vm_region((uint32_t)*top, (uint32_t)top[1]);
			break;
		}
		top -= 2;
		*top = top[0] ? top[1] : top[2];
		break;
	default: /* run executes the others */
		break;
	}
	return top;
}

/* Execute an instruction that writes and that run does not. Return the new top of the stack. */
static COLD uint64_t *vm_write(struct vm *m, const struct vm_insn *s, uint64_t *top)
{
	const unsigned char *data;
	struct stars x;
	size_t len;
	int two;

	if (s->op != OP_FLAGS && s->op != OP_DUMP) /* their text is a delimiter or a prefix */
		out_text(&m->o, m->p->text + s->text, s->len);
	switch ((enum op)s->op) {
	case OP_PRINT:
		x = pop_stars(m, s, top - 1);
		vm_print_number(m, x.c, x.width, x.precision, *top);
		return x.top;
	case OP_PAD:
		m->pad = pop_stars(m, s, top);
		m->padded = m->o.at;
		return m->pad.top;
	case OP_PADDED:
		pad_string(m, m->padded, m->pad.c->flags, m->pad.width, m->pad.precision);
		return top;
	case OP_FLAGS:
	case OP_SYMBOLIC:
		put_names(m, s, *top);
		break;
	case OP_HEX:
		vm_print_hex(m, *top, (char)s->n);
		break;
	case OP_ARRAY:
		put_array(m, top[-2], top[-1], top[0]);
		return top - 3;
	case OP_BITS:
		data = vm_memory(m, *top, &len);
		out_bits(m->evs, &m->o, data, len, len * 8, m->evs->bitmask_list);
		break;
	case OP_DUMP:
		dump(m, s, top - 5);
		return top - 6;
	case OP_STRING:
		put_string(m, *top, (enum escape)s->size);
		break;
	case OP_POINTED:
		put_pointed(m, *top, (enum escape)s->size);
		break;
	case OP_POINTER:
		x = pop_stars(m, s, top - 1);
		pointer(m, s, x.c, x.width, *top);
		return x.top;
	case OP_BUILTIN:
		two = s->k == BUILTIN_BPRINT || s->k == BUILTIN_BUFFER;
		vm_builtin(m, (enum builtin)s->k, *top, two ? top[-1] : 0);
		return top - 1 - two;
	case OP_FIELDS:
		put_fields(m);
		return top;
	case OP_VALUE:
		put_value(m, &m->e->fields[s->n]);
		return top;
	default: /* run executes the others */
		return top;
	}
	return top - 1;
}

/* ---- run: the instructions that most records are made of ---- */

/*
 * Write n bytes of the bytecode's text. TEXT_SLACK more bytes after it are readable. Return
 * the end of the text.
 */
static inline char *text_to(char *at, char *end, const char *s, size_t n)
{
	struct out o = { at, end, 0 };

	if (n <= TEXT_SLACK && (size_t)(end - at) >= TEXT_SLACK) {
		memcpy(at, s, TEXT_SLACK);
		return at + n;
	}
	out_text(&o, s, n);
	return o.at;
}

/* Write a region of the record up to its NUL, as out_escaped does. Return the end. */
static inline char *string_to(char *at, char *end, const struct event_set *evs,
			      const struct record *r, uint64_t where, enum escape how)
{
	uint32_t from = (uint32_t)where, n = (uint32_t)(where >> 32), most = n;
	const unsigned char *s = r->data + from, *begin = s;
	struct out o = { at, end, 0 };

	if (from > r->len || n > r->len - from)
		return at;
	for (; n >= 8 && end - at >= 8; n -= 8, s += 8) {
		unsigned some = out_plain_bytes(s);

		memcpy(at, s, 8);
		at += some;
		if (some == 8)
			continue;
		s += some;
		n -= some;
		break;
	}
	for (; n && at < end && *s > '"' && *s < 0x7f && *s != '\\'; n--)
		*at++ = (char)*s++;
	if ((!n || !*s) && (how != ESCAPE_NAME || at == o.at || at[-1] != ','))
		return at;
	out_escaped(&o, (const char *)begin, strnlen((const char *)begin, most),
		    evs->exact ? ESCAPE_NOTHING : how);
	return o.at;
}

/* Do as number_at for one of the few numbers that end within the first eight bytes. */
static uint64_t common_number(const struct record *r, const struct vm_insn *s, int is_signed,
			      int big)
{
	return raw_number(r->data + s->n - s->size, s->size, is_signed, big);
}

/* Return the number of size bytes that ends at s->n; 0 if it is outside of the record. */
static inline uint64_t number_at(const struct record *r, const struct vm_insn *s,
				 int is_signed, int big)
{
	unsigned shift = 64 - 8u * s->size;
	uint64_t v;

	if (s->n > r->len)
		return 0;
	if (s->n < 8)
		return common_number(r, s, is_signed, big);
	/* read the eight bytes up to s->n at once: the record has them */
	v = raw_number(r->data + s->n - 8, 8, 0, big);
	v = big ? v << shift : v;
	return is_signed ? (uint64_t)((int64_t)v >> shift) : v >> shift;
}

/* The room that number_digits and argument_digits need, in bytes. */
enum { NUMBER = DIGITS_ROOM + 2 };

/* Write the number of an OP_NUMBER. Return its end. */
static inline char *number_digits(char *p, const struct vm_insn *s, uint64_t v,
				  int long_size)
{
	switch (s->arg) {
	case 'x':
		return digits_hex(p, v);
	case 'p':
		if (long_size == 8) {
			digits_eight_hex(p, (uint32_t)(v >> 32));
			p += 8;
		}
		digits_eight_hex(p, (uint32_t)v);
		return p + 8;
	case 'd':
		if (s->is_signed && (int64_t)v < 0) {
			*p++ = '-';
			v = 0 - v;
		}
	}
	return digits_decimal(p, v);
}

/* Write the number of an OP_ARGUMENT. Return its end. */
static inline char *argument_digits(char *p, const struct vm_insn *s, uint64_t v)
{
	if (v >= 10 && !s->arg) {
		memcpy(p, "0x", 2);
		p += 2;
	}
	return digits_hex(p, v);
}

/*
 * Write the number of an OP_NUMBER or OP_ARGUMENT into less than NUMBER bytes. Cut it if it
 * does not fit.
 */
static COLD char *cut_number(char *at, char *end, const struct vm_insn *s, uint64_t v,
			     int long_size)
{
	struct out o = { at, end, 0 };
	char digits[NUMBER];

	out_text(&o, digits, (size_t)((s->op == OP_NUMBER ? number_digits(digits, s, v, long_size)
						     : argument_digits(digits, s, v)) -
				      digits));
	return o.at;
}

/* Write the number of an OP_NUMBER or OP_ARGUMENT. Return its end. */
static inline char *put_number(char *at, char *end, const struct vm_insn *s, uint64_t v,
			       int long_size)
{
	if ((size_t)(end - at) < NUMBER)
		return cut_number(at, end, s, v, long_size);
	return s->op == OP_NUMBER ? number_digits(at, s, v, long_size) : argument_digits(at, s, v);
}

/*
 * Write the text that the instruction wrote before for the same value. Return its end, or NULL
 * if it is not known.
 */
static inline char *again(const struct vm *m, const struct vm_insn *s, uint64_t v, char *at,
			  char *end)
{
	const struct vm_memo *memo = vm_memo(m->evs, s, v);

	if (memo->insn != s || memo->value != v)
		return NULL;
	if (s->op == OP_POINTER)
		at = text_to(at, end, m->p->text + s->text, s->len);
	if ((size_t)(end - at) < sizeof(memo->text))
		return NULL;
	memcpy(at, memo->text, sizeof(memo->text));
	return at + memo->len;
}

/* Execute an operator on one or two numbers. Return the new top of the stack. */
static inline uint64_t *operate(const struct vm_insn *s, uint64_t *top)
{
	uint64_t b = s->op == OP_BINARY ? *top-- : s->k; /* of OP_UNARY: 0 */

	*top = vm_calculate((enum operator)s->arg, *top, b, s->size, s->is_signed);
	return top;
}

/*
 * Run the bytecode and write its text between at and end, which stay in registers. Return the
 * end of the text.
 */
static char *run(struct vm *m, char *at, char *const end)
{
	const struct vm_insn *const insns = m->p->insns;
	const char *const texts = m->p->text;
	const struct record *const r = m->r;
	const int big = m->evs->big;
	uint64_t *top = m->stack; /* stack[0] is never used */
	char *p;

	for (const struct vm_insn *s = insns;; s++) {
		if (s->op <= OP_LOC)
			at = text_to(at, end, texts + s->text, s->len);
		switch ((enum op)s->op) {
		case OP_END:
			return at;
		case OP_TEXT:
			continue;
		case OP_NUMBER:
		case OP_ARGUMENT:
			at = put_number(at, end, s, number_at(r, s, s->is_signed, big),
					m->evs->long_size);
			continue;
		case OP_HERE:
		case OP_LOC:
			at = string_to(at, end, m->evs, r,
				       s->op == OP_HERE ? vm_region(s->n, (uint32_t)s->k) :
				       vm_locate(m->evs, r, s->n, s->arg), (enum escape)s->size);
			continue;
		case OP_CONST:
			*++top = s->k;
			continue;
		case OP_FIELD:
			*++top = number_at(r, s, s->is_signed, big);
			continue;
		case OP_BINARY:
		case OP_BINARY_K:
		case OP_UNARY:
			top = operate(s, top);
			continue;
		case OP_EXTEND:
			*top = vm_extend(*top, s->size, s->is_signed);
			continue;
		case OP_JUMP:
		case OP_JUMP_ZERO:
			if (s->op == OP_JUMP || !*top--)
				s = insns + s->n - 1;
			continue;
		case OP_POINTER:
		case OP_FLAGS:
		case OP_SYMBOLIC:
			p = again(m, s, *top, at, end);
			if (!p)
				break;
			at = p;
			top--;
			continue;
		default:
			break;
		}
		m->o.at = at;
		top = s->op < OP_PRINT ? vm_compute(m, s, top) : vm_write(m, s, top);
		at = m->o.at;
	}
}

static COLD char *unknown_type(const struct event_set *evs, const struct record *r, char *at,
			       char *end)
{
	struct out o = { at, end, 0 };

	out_format(&o, "Unknown type %u\n", record_id(evs, r));
	return o.at;
}

char *vm_run(struct event_set *evs, const struct record *r, int raw_clock, char *at,
	     char *end)
{
	struct event *e = event_of(evs, r);
	struct vm m;

	if (!e || !e->program) {
		e = event_wanted(evs, r);
		if (!e || (event_prepare(evs, e) < 0 && !e->program))
			return unknown_type(evs, r, at, end);
	}
	m.evs = evs;
	m.e = e;
	m.p = e->program;
	m.r = r;
	m.o.end = end;
	m.raw_clock = raw_clock;
	return run(&m, at, end);
}
