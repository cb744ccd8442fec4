/* SPDX-License-Identifier: ISC */
/*
 * fusehang DIRECTORY FILE [OPCODE N] - mount a FUSE file system with one file x, a copy of FILE;
 * after SIGUSR1, or from the N-th request of OPCODE on, where none is cached, take requests, answer
 * none, and print of each its opcode and the pid that asks. The end of this program ends them all.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile sig_atomic_t hangs;
static char *data;
static size_t size;
static uint32_t opcode;
static int left;
static int fuse;

static void hang(int signal)
{
	(void)signal;
	hangs = 1;
}

static void answer(uint64_t unique, int error, const void *p, size_t n)
{
	static char b[1 << 20];
	struct fuse_out_header h = { .len = (uint32_t)(sizeof(h) + n), .error = -error,
				     .unique = unique };

	memcpy(b, &h, sizeof(h));
	if (n)
		memcpy(b + sizeof(h), p, n);
	if (write(fuse, b, h.len) < 0)
		perror("write");
}

static struct fuse_attr attributes(uint64_t inode)
{
	return (struct fuse_attr){
		.ino = inode, .mode = inode == 1 ? S_IFDIR | 0755 : S_IFREG | 0755, .nlink = 1,
		.size = inode == 1 ? 0 : size, .blksize = 4096, .mtime = 1, .ctime = 1,
	};
}

static void serve(const struct fuse_in_header *h, const void *words)
{
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_readahead = 65536,
				      .max_write = 4096 };
	struct fuse_entry_out entry = { .nodeid = 2, .entry_valid = !opcode,
					.attr = attributes(2) };
	struct fuse_attr_out attr = { .attr = attributes(h->nodeid) };
	struct fuse_open_out opened = { .fh = 1, .open_flags = opcode ? FOPEN_DIRECT_IO : 0 };
	const struct fuse_read_in *in = words;
	size_t n;

	switch (h->opcode) {
	case FUSE_INIT:
		answer(h->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		if (strcmp(words, "x"))
			answer(h->unique, ENOENT, NULL, 0);
		else
			answer(h->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(h->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(h->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		n = in->offset >= size ? 0 : size - in->offset;
		answer(h->unique, 0, data + in->offset, n < in->size ? n : in->size);
		break;
	case FUSE_FLUSH:
		answer(h->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(h->unique, ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char b[1 << 20];
	struct stat st;
	char options[200];
	int file = argc >= 3 ? open(argv[2], O_RDONLY) : -1;

	if (file < 0 || fstat(file, &st) < 0)
		return 1;
	if (argc > 4) {
		opcode = (uint32_t)atoi(argv[3]);
		left = atoi(argv[4]);
	}
	size = (size_t)st.st_size;
	data = malloc(size);
	if (!data || read(file, data, size) != st.st_size)
		return 1;
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	sprintf(options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
	if (mount("fusehang", argv[1], "fuse", 0, options) < 0) {
		perror("mount");
		return 1;
	}
	signal(SIGUSR1, hang);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	for (;;) {
		const struct fuse_in_header *h = (const void *)b;
		ssize_t n = read(fuse, b, sizeof(b));

		if (n < 0 && errno != EINTR && errno != ENOENT)
			return 0;
		if (n < 0)
			continue;
		if (opcode && h->opcode == opcode && !--left)
			hangs = 1;
		if (hangs)
			printf("opcode %u of %u\n", h->opcode, h->pid);
		else
			serve(h, b + sizeof(*h));
	}
}
