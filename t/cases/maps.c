/* SPDX-License-Identifier: ISC */
/* maps N - map N pages of a file whose path has 3,400 newlines, and open a file again and again */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char name[256] = { 0 };
	int n = argc > 1 ? atoi(argv[1]) : 1, file;

	memset(name, '\n', 240);
	for (int i = 0; i < 14; i++)
		if (mkdir(name, 0777) < 0 || chdir(name) < 0)
			return 1;
	file = open("f", O_RDWR | O_CREAT, 0777);
	if (file < 0 || ftruncate(file, 8192) < 0)
		return 1;
	/* neighbours differ, so that the kernel does not join them */
	for (int i = 0; i < n; i++)
		if (mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_READ | PROT_EXEC, MAP_PRIVATE, file,
			 i % 2 * 4096) == MAP_FAILED)
			return 1;
	puts("ready");
	fflush(stdout);
	for (;;) {
		close(open("/etc/hostname", O_RDONLY));
		usleep(20000);
	}
}
