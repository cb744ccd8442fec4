/* SPDX-License-Identifier: ISC */
/* dots - read /etc/hostname by paths with links and "..", where lnk leads to
 * /etc/alternatives; the argument is the working directory */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

static void rd(const char *p)
{
	int f = open(p, O_RDONLY);
	char b;
	read(f, &b, 1);
	close(f);
}

int main(int c, char **v)
{
	rd("lnk/../hostname");
	chdir("lnk");
	rd("../hostname");
	chdir(v[1]);
	rd("lnk/../hostname");
	rd("/proc/self/root/etc/hostname");
	rd("/proc/self/cwd/lnk/../hostname");
	int d = open("lnk", O_RDONLY | O_DIRECTORY);
	int f = openat(d, "../hostname", O_RDONLY);
	char b;
	read(f, &b, 1);
	symlink("/etc/hostname", "tmplink");
	rd("tmplink");
	unlink("tmplink");
	return 0;
}
