/* SPDX-License-Identifier: ISC */
/*
 * output.c - standard output, where it is a FIFO
 *
 * Whether writes block, and whether each is a packet, are flags of an open file
 * description, which standard output may share with somebody.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tfs.h"

static int is_fifo(const struct tool *t, int packets)
{
	struct stat st;

	if (!fstat(STDOUT_FILENO, &st) && S_ISFIFO(st.st_mode))
		return 1;
	if (packets)
		misused(t, "-l needs a FIFO or pipe as standard output");
	return 0;
}

int own_output(const struct tool *t, int access, int packets)
{
	char path[PATH_MAX];
	int fd;

	if (!is_fifo(t, packets))
		return STDOUT_FILENO;
	format(path, sizeof(path), "%s/self/fd/%d", procfs(), STDOUT_FILENO);
	fd = open(path, access | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENXIO)
		return -1;
	if (fd < 0) {
		complain_errno("unable to open %s", path);
		exit(REFUSED);
	}
	/* pipe(7): packet mode; taken by F_SETFL, not by open, on a FIFO */
	if (packets && fcntl(fd, F_SETFL, O_NONBLOCK | O_DIRECT) < 0) {
		complain_errno("unable to write packets");
		exit(REFUSED);
	}
	close(STDOUT_FILENO);
	return fd;
}
