/* SPDX-License-Identifier: ISC */
/* steady N MS - N getppid calls, MS milliseconds after each 100 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0;

	for (int i = 0; i < n; i++) {
		syscall(SYS_getppid);
		if (i % 100 == 99)
			usleep((useconds_t)atoi(argv[2]) * 1000);
	}
	return 0;
}
