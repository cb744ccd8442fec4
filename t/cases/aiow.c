/* SPDX-License-Identifier: ISC */
/* aiow FILE - writes 4 x 4096 bytes to FILE with io_submit (libaio's call), and reads them back */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

int main(int argc, char **argv)
{
	int f = open(argv[1], O_RDWR | O_CREAT, 0600);
	struct iocb cb[8], *p[8];
	struct io_event e[8];
	aio_context_t x = 0;
	char *b;

	if (posix_memalign((void **)&b, 4096, 65536))
		return 1;
	memset(b, 65, 65536);
	if (syscall(SYS_io_setup, 8, &x))
		return 1;
	for (int k = 0; k < 2; k++) {
		int n, g = 0;

		for (int i = 0; i < 4; i++) {
			memset(cb + i, 0, sizeof *cb);
			cb[i].aio_fildes = f;
			cb[i].aio_lio_opcode = k ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE;
			cb[i].aio_buf = (long)(b + i * 4096);
			cb[i].aio_nbytes = 4096;
			cb[i].aio_offset = i * 4096L;
			p[i] = cb + i;
		}
		n = syscall(SYS_io_submit, x, 4L, p);
		while (g < n)
			g += syscall(SYS_io_getevents, x, 1L, 4L, e, 0);
		fprintf(stderr, "%s %d, result %lld\n", k ? "read" : "written", n, e[0].res);
	}
	close(f);
	return 0;
}
