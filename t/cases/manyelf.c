/* SPDX-License-Identifier: ISC */
/* manyelf N - map N links of big.so (bigelf.py) as code, and open with frames in all of them */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long chain[2 * 600];

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < n; i++) {
		char name[64], *p;
		int fd;

		sprintf(name, "l%d.so", i);
		fd = link("big.so", name) < 0 ? -1 : open(name, O_RDONLY);
		p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED)
			return 1;
		close(fd);
		chain[2 * i] = (unsigned long)&chain[2 * i + 2];
		chain[2 * i + 1] = (unsigned long)p + 256;
	}
	chain[2 * n - 2] = 0;
	puts("ready");
	fflush(stdout);
	for (;; usleep(10000)) {
		long r;
#ifdef __x86_64__
		__asm__ volatile("push %%rbp\n mov %2, %%rbp\n syscall\n pop %%rbp\n"
			: "=a"(r) : "a"(SYS_openat), "r"(chain), "D"(-100), "S"("/etc/hostname"),
			"d"(0) : "rcx", "r11", "memory");
#else
		r = open("/etc/hostname", O_RDONLY);
#endif
		close((int)r);
	}
}
