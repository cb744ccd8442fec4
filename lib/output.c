/* SPDX-License-Identifier: ISC */
/*
 * output.c - standard output, where it is a FIFO
 *
 * Whether writes block, and whether each is a packet, are flags of an open file
 * description, which standard output may share with somebody.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
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

/* Device and inode of a FIFO, as a value of NEXT_READER. -1: it is no FIFO. */
static int identify(int fd, char *id, size_t size)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return -1;
	format(id, size, "%llu:%llu", (unsigned long long)st.st_dev,
	       (unsigned long long)st.st_ino);
	return 0;
}

int expect_next_reader(int fd)
{
	char id[48];

	return identify(fd, id, sizeof(id)) < 0 ? -1 : setenv(NEXT_READER, id, 1);
}

int outlives_reader(int fd)
{
	const char *value = getenv(NEXT_READER);
	char id[48];

	return value && !identify(fd, id, sizeof(id)) && !strcmp(value, id);
}

/* A confined tool cannot open the FIFO and looks again after this time. */
#define LOOK_AGAIN_MS 100

/* A reader that comes wakes a writer in open(2), but not one in poll(2). */
void await_reader(int fd)
{
	struct pollfd p = { .fd = fd };
	char path[PATH_MAX];
	int other;

	format(path, sizeof(path), "%s/self/fd/%d", procfs(), fd);
	while (poll(&p, 1, 0) > 0 && p.revents & POLLERR) {
		other = open(path, O_WRONLY | O_CLOEXEC);
		if (other >= 0)
			close(other);
		/* the pause is for readers that come and leave all the time */
		poll(NULL, 0, other < 0 ? LOOK_AGAIN_MS : 1);
	}
}
