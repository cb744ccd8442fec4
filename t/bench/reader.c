/* SPDX-License-Identifier: ISC */
/*
 * reader - read a trace to its end, and count delivered and lost events
 *
 *	reader [-c] PATH
 * With -c it reads as container-tracer does, and keeps only the first line of each
 * read of 4096 bytes; without -c it keeps whole blocks. It prints the number of lines
 * that it kept, and the number of lost events from the trace's last line.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char mark[] = "# lost ";
static unsigned long lines, lost;

static void take(const char *line)
{
	if (!strncmp(line, mark, sizeof(mark) - 1))
		lost = strtoul(line + sizeof(mark) - 1, NULL, 10);
	else if (strncmp(line, "CPU:", 4)) /* the kernel's own note of a loss */
		lines++;
}

int main(int argc, char **argv)
{
	static char buf[64 * 1024 + 1];
	int caller = argc > 1 && !strcmp(argv[1], "-c");
	int fd = argc == caller + 2 ? open(argv[caller + 1], O_RDONLY) : -1;
	size_t room = caller ? 4096 : sizeof(buf) - 1, n = 0;
	ssize_t got;

	if (fd < 0) {
		perror("reader");
		return 111;
	}
	while ((got = read(fd, buf + n, room - n)) > 0) {
		char *line = buf, *end;

		n += (size_t)got;
		buf[n] = '\0';
		while ((end = memchr(line, '\n', n - (size_t)(line - buf)))) {
			take(line);
			line = end + 1;
			if (caller)
				break;
		}
		n -= (size_t)(line - buf);
		if (caller)
			n = 0;
		memmove(buf, line, n);
	}
	printf("%lu %lu\n", lines, lost);
	return fflush(stdout) ? 111 : 0;
}
