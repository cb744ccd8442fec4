/* SPDX-License-Identifier: ISC */
/*
 * caller - read a trace as container-tracer does
 *
 *	caller PATH
 * It uses a new buffer of 4096 bytes for every line: it keeps the first line of each
 * read, drops the rest of that read, and continues a line without an end from the next
 * read. It prints the lines that it kept.
 */
#include "prog.h"

int main(int argc, char **argv)
{
	char buf[4096];
	ssize_t n;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0) {
		perror("caller: open");
		return 111;
	}
	setlinebuf(stdout);
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		char *end = memchr(buf, '\n', (size_t)n);

		fwrite(buf, 1, end ? (size_t)(end + 1 - buf) : (size_t)n, stdout);
	}
	return fflush(stdout) ? 111 : 0;
}
