/* SPDX-License-Identifier: ISC */
/* off64 - offsets and sizes above 4 GiB */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <sys/syscall.h>

int main(void)
{
	struct stat st;
	char b[8] = { 0 };
	int f = open("tfs-off64", O_RDWR | O_CREAT | O_TRUNC, 0600);
	ftruncate(f, 6442450944LL);       /* 6 GiB */
	lseek(f, 5368709120LL, SEEK_SET); /* 5 GiB */
	lseek(f, 4294967296LL + 7, SEEK_SET);
	pwrite(f, "x", 1, 4294967296LL + 9);
	pread(f, b, 1, 8589934592LL + 1);
	fstat(f, &st);
	syscall(SYS_fstat, f, &st);
	posix_fadvise(f, 1LL << 40, 1LL << 41, 0);
	fallocate(f, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 1LL << 32, 1LL << 32);
	mmap(0, 4096, PROT_READ, MAP_SHARED, f, 1LL << 32);
	mmap((void *)0, 1LL << 33, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	truncate("tfs-off64", 1LL << 33);
	fprintf(stderr, "size %lld\n", (long long)st.st_size);
	unlink("tfs-off64");
	return 0;
}
