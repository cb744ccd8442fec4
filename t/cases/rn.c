/* SPDX-License-Identifier: ISC */
/* rn DIR US - opens DIR/x, writes 1 byte, renames it to DIR/y, writes 2; US microseconds between */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned us = atoi(argv[2]);
	int a;

	chdir(argv[1]);
	a = open("x", O_WRONLY | O_CREAT, 0600);
	write(a, "1", 1);
	usleep(us);
	rename("x", "y");
	usleep(us);
	write(a, "22", 2);
	usleep(us);
	return 0;
}
