/* SPDX-License-Identifier: ISC */
/* reuse A B - opens A (descriptor 3), prints "ready" and waits for a line of standard input: a
 * session may begin here. Then it writes 5 bytes to A, closes it, and opens B (3 again) to read.
 * A session that names B as written is wrong. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int a = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);

	puts("ready");
	fflush(stdout);
	getchar();
	write(a, "12345", 5);
	close(a);
	open(argv[2], O_RDONLY);
	return 0;
}
