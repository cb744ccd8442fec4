/* SPDX-License-Identifier: ISC */
/* inroot2 DIR - openat2(DIR, "/etc/passwd", RESOLVE_IN_ROOT) and (DIR, "elink/passwd") with
 * elink -> /etc, as runc does in a root file system; writes 4 bytes to each: to DIR/etc/passwd */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct open_how h = { .flags = O_WRONLY | O_APPEND, .resolve = RESOLVE_IN_ROOT };
	int d = open(argv[1], O_PATH | O_DIRECTORY);

	write(syscall(SYS_openat2, d, "/etc/passwd", &h, sizeof(h)), "four", 4);
	write(syscall(SYS_openat2, d, "elink/passwd", &h, sizeof(h)), "more", 4);
	return 0;
}
