/* SPDX-License-Identifier: ISC */
/* chr - open files by absolute and relative paths in a chroot; N: wait N seconds after it */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int c, char **v)
{
	if (chroot("root"))
		perror("x");
	chdir("/sub");
	if (c > 1)
		sleep(atoi(v[1]));
	open("/sub", O_RDONLY);
	open("../sub", O_RDONLY);
	open("/sub/../../nofile", O_RDONLY);
	if (c > 1)
		sleep(1);
	return 0;
}
