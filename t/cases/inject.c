/* SPDX-License-Identifier: ISC */
/* inject - open and execute with names that contain quotes, backslashes, newlines and fields */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
#include <sys/wait.h>

int main(void)
{
	open("/none/plain", O_RDONLY);
	open("/none/a\" flags=0x0 ret=77 x=\"", O_RDONLY);
	open("/none/back\\nslash", O_RDONLY);
	open("/none/new\nline", O_RDONLY);
	open("/none/x\n            init-1       [000] .....  1.000000: open: "
	     "(sys_openat) path=\"/etc/shadow\" flags=0x0 ret=3",
	     O_RDONLY);
	open("", O_RDONLY);
	open((char *)1, O_RDONLY);
	open(0, O_RDONLY);
	open("/none/tab\tend ", O_RDONLY);
	if (!fork()) {
		execl("/bin/true", "true", "hello world", "a\" argv3=\"evil", "",
		      "x\ny", "back\\nslash", (char *)0);
	}
	wait(0);
	if (!fork()) {
		execl("/bin/true", "true", "hello", "world", (char *)0);
	}
	wait(0);
	return 0;
}
