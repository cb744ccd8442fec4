/* SPDX-License-Identifier: ISC */
/*
 * maps - a program whose /proc/PID/maps is long
 *
 *	maps N
 * It makes a file with a name of about 3,400 newlines below the current directory, and maps it N
 * times; each line of maps shows a newline as four bytes. It prints "ready", and then makes
 * 10 calls of getppid after each line of standard input.
 */
#include <sys/stat.h>

#include "prog.h"

int main(int argc, char **argv)
{
	char name[241];
	int fd, n = argc > 1 ? atoi(argv[1]) : 0;

	memset(name, '\n', 240);
	name[240] = '\0';
	for (int i = 0; i < 14; i++)
		if (mkdir(name, 0700) < 0 || chdir(name) < 0)
			return 1;
	fd = open("f", O_RDWR | O_CREAT, 0700);
	if (fd < 0 || ftruncate(fd, 8192) < 0)
		return 1;
	for (int i = 0; i < n; i++)
		if (mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			 i % 2 * 4096) == MAP_FAILED)
			return 1;
	puts("ready");
	fflush(stdout);
	for (int c; (c = getchar()) != EOF;)
		for (int i = 0; c == '\n' && i < 10; i++)
			syscall(SYS_getppid);
	return 0;
}
