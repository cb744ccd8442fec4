/* SPDX-License-Identifier: ISC */
/* mapit FILE... - map the files as code, and wait */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (mmap(NULL, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			 open(argv[i], O_RDONLY), 0) == MAP_FAILED)
			return 1;
	puts("ready");
	fflush(stdout);
	return pause();
}
