/* SPDX-License-Identifier: ISC */
/*
 * uprobe.c - name a file to the kernel so that it opens the file that was read
 *
 * The kernel takes a probe of a program as FILE:OFFSET and opens FILE when the record is
 * written (kernel/trace/trace_uprobe.c, __trace_uprobe_create). A program that may write to a
 * directory on the way can exchange the file after its offset was looked up, and the breakpoint
 * would be written into the middle of any other program. /proc/self/fd/N always leads to the
 * file that is open. But the kernel lists the path that it was given, and such a path would tell
 * nobody which file it was. So make a link with the path of the file, in a file system in
 * memory that no other process can reach and that ends with this process:
 *	/proc/self/fd/M/usr/lib/libc.so.6 -> /proc/self/fd/N
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"
#include "elf/elf.h"
#include "tracefs/tracefs.h"

/* Return a descriptor of an empty file system in memory, not mounted anywhere, or -1. */
static int own_file_system(void)
{
	int fs = (int)syscall(SYS_fsopen, "tmpfs", K_FSOPEN_CLOEXEC), fd = -1;

	if (fs < 0)
		return -1;
	if (!syscall(SYS_fsconfig, fs, K_FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = (int)syscall(SYS_fsmount, fs, K_FSMOUNT_CLOEXEC, 0);
	close(fs);
	return fd;
}

/* Make the directories of path, and path as a link. Return 0, or -1, silent. */
static int make_link(int fs, char *path, const char *target)
{
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdirat(fs, path, 0700);
		*slash = '/';
	}
	return symlinkat(target, fs, path);
}

void uprobe_path(const struct elf_file *file, char *path)
{
	static int fs = -2;     /* one for all files of this process */
	char direct[sizeof(UPROBE_FD) + 16], name[PATH_MAX];
	ssize_t n;

	str_format(direct, sizeof(direct), UPROBE_FD "%d", file->fd);
	str_format(path, PATH_MAX, "%s", direct);
	if (fs == -2)
		fs = own_file_system();
	if (fs < 0)
		return;         /* an old kernel, or a container that forbids it */
	str_format(name, sizeof(name), "%s", file->path);
	if (*name != '/' || strstr(name, "/../") || strstr(name, "/./")) {
		n = readlink(direct, name, sizeof(name) - 1);
		name[n > 0 ? n : 0] = '\0';
	}
	if (*name == '/' && strlen(name) + sizeof(direct) < PATH_MAX && !ctl_cut(name) &&
	    !make_link(fs, name + strspn(name, "/"), direct))
		str_format(path, PATH_MAX, UPROBE_FD "%d%s", fs, name);
}

const char *uprobe_shown(const char *path)
{
	size_t n = strlen(UPROBE_FD), digits;

	if (strncmp(path, UPROBE_FD, n))
		return path;
	digits = strspn(path + n, "0123456789");
	return digits && path[n + digits] == '/' ? path + n + digits : path;
}
