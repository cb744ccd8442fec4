/* SPDX-License-Identifier: ISC */
/* perfetto.c - a trace.dat, damaged or not, or event lines, for Perfetto */
#include "again.h"

#define main tool_main
#include "../../bin/draw/tfs-perfetto.c"
#undef main

/* Check that the output is a list of packets: field 1, a length, and as many bytes. */
static void check(const char *out, size_t n, int status, const char *line)
{
	const unsigned char *p = (const unsigned char *)out, *end = p + n;

	must(status != NO || !*line);
	while (p < end) {
		uint64_t size = 0;

		must(*p++ == (1 << 3 | 2));
		for (unsigned shift = 0;; shift += 7) {
			must(p < end && shift < 64);
			size |= (uint64_t)(*p & 0x7f) << shift;
			if (!(*p++ & 0x80))
				break;
		}
		must(size <= (uint64_t)(end - p));
		p += size;
	}
}

RUN_AGAIN(check, "&", "-a 1.5 & &", "& &", "-a -0.000000001 & &", "")
