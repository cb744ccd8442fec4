/* SPDX-License-Identifier: ISC */
/* blktext.c - records of the block layer's trace, and their lines */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = copy_of(data, size);
	struct table names = { 0 };
	struct blk_record r;
	size_t at = 0, room = 64;
	ssize_t n;

	while ((n = blk_record(&r, bytes + at, size - at)) > 0) {
		char *line = malloc(room);
		size_t length;

		must(line && (size_t)n <= size - at && n >= BLK_RECORD);
		must(r.payload >= bytes && r.payload + r.npayload <= bytes + at + n);
		blk_learn(&names, &r);
		length = blk_line(&names, &r, r.time / 2, line, room);
		must(length < room);
		must(!length || (line[length - 1] == '\n' && strlen(line) == length));
		free(line);
		at += (size_t)n;
		room = room == 64 ? 1024 : 64;
	}
	table_clear(&names);
	free(names.v);
	free(bytes);
	return 0;
}
