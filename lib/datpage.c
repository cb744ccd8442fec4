/* SPDX-License-Identifier: ISC */
/* datpage.c - pages of the ring buffer: how they are laid out, and counting */
#include <string.h>

#include "tracedat.h"

/* The number behind key, in the line of this field; -1 there is none. */
static long field_number(const char *text, const char *field, const char *key)
{
	const char *p = strstr(text, field), *end = p ? strchr(p, '\n') : NULL;

	p = p ? strstr(p, key) : NULL;
	if (!p || (end && p > end))
		return -1;
	p += strlen(key);
	if (*p < '0' || *p > '9')
		return -1;
	return (long)(digits_at(&p) & 0xffffff);
}

int dat_layout(struct dat_layout *l, const char *text)
{
	long data = field_number(text, " data;", "offset:");
	long size = field_number(text, " data;", "size:");
	long wide = field_number(text, " commit;", "size:");

	if (data < 12 || data > 64 || size < 64 || size > 1 << 23 ||
	    (wide != 4 && wide != 8) || data < 8 + wide)
		return -1;
	l->data = (size_t)data;
	l->page = (size_t)(data + size);
	l->wide = (unsigned)wide;
	return 0;
}

static uint32_t u32_at(const struct dat_layout *l, const unsigned char *p)
{
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	if (l->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		n = __builtin_bswap32(n);
	return n;
}

size_t dat_count(const struct dat_layout *l, const void *page)
{
	const unsigned char *p = page, *end;
	size_t n = 0, len;

	/* the low half of the commit word, wherever that is */
	len = u32_at(l, p + 8 + (l->big ? l->wide - 4 : 0)) & 0xfffff;
	p += l->data;
	end = p + (len < l->page - l->data ? len : l->page - l->data);
	for (; end - p >= 4; p += len) {
		uint32_t word = u32_at(l, p);
		uint32_t type = l->big ? word >> 27 : word & 31;
		uint32_t delta = l->big ? word & 0x7ffffff : word >> 5;

		if (type == 29 && !delta)
			break; /* nothing up to the end */
		if (type == 0 || type == 29) {
			if (end - p < 8)
				break;
			len = 4 + (size_t)u32_at(l, p + 4);
		} else {
			len = type >= 30 ? 8 : 4 + 4 * (size_t)type;
		}
		if (len < 8 || len > (size_t)(end - p))
			break;
		n += type < 29;
	}
	return n;
}
