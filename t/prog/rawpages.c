/* SPDX-License-Identifier: ISC */
/*
 * rawpages DIR - take all records that an instance's ring buffers hold, and print their
 * sub-buffers unchanged
 *
 * Exit: 0 done, 111 a ring buffer cannot be read.
 */
#include "prog.h"

int main(int argc, char **argv)
{
	static char pages[64 * 1024];
	char path[4096];
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	ssize_t n;
	int fd;

	for (long cpu = 0; argc > 1 && cpu < cpus; cpu++) {
		snprintf(path, sizeof(path), "%s/per_cpu/cpu%ld/trace_pipe_raw", argv[1], cpu);
		fd = open(path, O_RDONLY | O_NONBLOCK);
		if (fd < 0)
			return 111;
		while ((n = read(fd, pages, sizeof(pages))) > 0)
			fwrite(pages, 1, (size_t)n, stdout);
		if (n < 0 && errno != EAGAIN)
			return 111;
		close(fd);
	}
	return 0;
}
