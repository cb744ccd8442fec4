/* SPDX-License-Identifier: ISC */
/* tmpf DIR - O_TMPFILE, 100 bytes, then linked as "linked", then 50 bytes */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char b[100] = "", s[64];
	int d;

	chdir(argv[1]);
	d = open(".", O_TMPFILE | O_RDWR, 0600);
	write(d, b, 100);
	sprintf(s, "/proc/self/fd/%d", d);
	linkat(AT_FDCWD, s, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW);
	write(d, b, 50);
	return 0;
}
