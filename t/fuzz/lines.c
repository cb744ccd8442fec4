/* SPDX-License-Identifier: ISC */
/* lines.c - the lines of standard input, with any bytes */
#include <sys/mman.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line_reader in = { 0 };
	const uint8_t *end = data + size;
	ssize_t n;
	char *line;

	must(dup2(memory_file(data, size), STDIN_FILENO) == STDIN_FILENO);
	while ((n = line_read(&in, &line)) >= 0) {
		must(data + n <= end && !memcmp(data, line, (size_t)n) && !line[n]);
		must(!memchr(line, '\n', (size_t)n));
		data += n;
		must(data == end ? n > 0 : *data == '\n');
		data += data < end;
	}
	must(data == end && line_read(&in, &line) == -1);
	free(in.text);
	return 0;
}
