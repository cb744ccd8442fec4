/* SPDX-License-Identifier: ISC */
/* fprog - open a file again and again */
#include <fcntl.h>
#include <unistd.h>

int main(void)
{
	for (;; usleep(20000))
		close(open("/etc/hostname", O_RDONLY));
}
