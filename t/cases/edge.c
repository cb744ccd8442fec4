/* SPDX-License-Identifier: ISC */
/* edge - write by writev(2), then open a path of three bytes before a page that is not there */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void)
{
	const long page = sysconf(_SC_PAGESIZE);
	char *end = (char *)mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + page;
	struct iovec v = { "text\n", 5 };

	munmap(end, (size_t)page);
	end[-3] = end[-2] = end[-1] = 'a';
	return writev(1, &v, 1) != 5 || open(end - 3, O_RDONLY) >= 0;
}
