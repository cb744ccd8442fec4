/* SPDX-License-Identifier: ISC */
/* packet.c - messages of protocol buffers, and the packets of a trace of Perfetto */

#include "base/base.h"
#include "reader/reader.h"
#include "lines/lines.h"
#include "packet.h"

static char buffer[PACKETS_FULL + PACKET_MOST + PACKET_TAIL];

struct packets packets = {
	.o = { .at = buffer, .end = buffer + PACKETS_FULL + PACKET_MOST },
};

/* ---- messages ---------------------------------------------------------------------------- */

static void put_number(struct out *o, uint64_t v)
{
	for (; v >= 0x80 && o->at < o->end; v >>= 7)
		*o->at++ = (char)(v | 0x80);
	if (o->at < o->end)
		*o->at++ = (char)v;
}

void proto_begin(unsigned field)
{
	put_number(&packets.o, (uint64_t)field << 3 | 2);
	out_char(&packets.o, 0);
	packets.open[packets.depth++] = packets.o.at;
}

/* The length stands before the message, which moves if the length needs more than a byte. */
void proto_end(void)
{
	char *begin = packets.open[--packets.depth];
	size_t n = (size_t)(packets.o.at - begin);
	struct out length = out_to(begin - 1, 10);
	unsigned more = 0;

	for (size_t rest = n; rest >>= 7; more++)
		;
	/* packets.o.end leaves PACKET_TAIL bytes for this */
	if (more)
		memmove(begin + more, begin, n);
	packets.o.at += more;
	put_number(&length, n);
}

void proto_varint(unsigned field, uint64_t v)
{
	put_number(&packets.o, (uint64_t)field << 3);
	put_number(&packets.o, v);
}

static void put_fixed(unsigned field, uint64_t v)
{
	put_number(&packets.o, (uint64_t)field << 3 | 1);
	for (unsigned i = 0; i < 64; i += 8)
		out_char(&packets.o, (char)(v >> i));
}

void proto_string(unsigned field, const void *text, size_t n)
{
	const unsigned char *s = text, *end = s + n;

	proto_begin(field);
	while (s < end) {
		size_t len = text_utf8(s, (size_t)(end - s));

		if (*s < 0x80)
			for (len = 1; s + len < end && s[len] < 0x80; len++)
				;
		out_text(&packets.o, len ? (const char *)s : "\xef\xbf\xbd", len ? len : 3);
		s += len ? len : 1;
	}
	proto_end();
}

/* ---- packets ----------------------------------------------------------------------------- */

void packets_write(void)
{
	reader_write(buffer, (size_t)(packets.o.at - buffer));
	packets.o.at = buffer;
}

int packets_full(void)
{
	return packets.o.at - buffer >= PACKETS_FULL;
}

static void packet_end(void)
{
	packets.o.end += PACKET_TAIL;
	proto_varint(98, packets.machine); /* Trace.packet.machine_id */
	proto_end();
	packets.o.end -= PACKET_TAIL;
	if (packets_full())
		packets_write();
}

/* ---- fields ------------------------------------------------------------------------------- */

void proto_put(const char *form, ...)
{
	va_list ap;

	va_start(ap, form);
	for (; *form; form++) {
		unsigned field = (unsigned)text_digits(&form);
		struct text_part p;

		switch (*form) {
		case '{':
			proto_begin(field);
			break;
		case 'u':
			proto_varint(field, va_arg(ap, uint64_t));
			break;
		case 'f':
			put_fixed(field, va_arg(ap, uint64_t));
			break;
		case 's':
			p.text = va_arg(ap, const char *);
			proto_string(field, p.text, strnlen(p.text, PACKET_NAME));
			break;
		case 'p':
			p = *va_arg(ap, const struct text_part *);
			proto_string(field, p.n ? p.text : "",
				     p.n < PACKET_TEXT ? p.n : PACKET_TEXT);
			break;
		case '}':
			proto_end();
			break;
		default:
			packet_end();
		}
	}
	va_end(ap);
}
