/* SPDX-License-Identifier: ISC */
/*
 * files - a program that does one thing of each kind to files of the directory DIR
 *
 *	files DIR
 * First it opens DIR/before and DIR itself, prints "ready" and waits for a line of standard input.
 * Then it changes files by absolute and relative paths, from DIR/sub, and by descriptors. DIR has
 * the directory sub and the link DIR/link to sub.
 */
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>

#include "prog.h"

enum { EXCHANGE = 2 }; /* RENAME_EXCHANGE of linux/fs.h */

static void must(long r)
{
	if (r < 0) {
		perror("files");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct iovec v[2] = { { (char[]){ "ab" }, 2 }, { (char[]){ "cde" }, 3 } };
	char path[4096], bytes[64];
	int dir, before, fd, from, ends[2];

	if (argc != 2)
		return 2;
	snprintf(path, sizeof(path), "%s/before", argv[1]);
	must(before = open(path, O_RDWR | O_CREAT, 0600));
	must(dir = open(argv[1], O_PATH | O_DIRECTORY));
	ready();

	must(write(before, "before", 6));
	snprintf(path, sizeof(path), "%s/sub", argv[1]);
	must(chdir(path));
	must(fd = open("../sub/./one", O_WRONLY | O_CREAT | O_TRUNC, 0644));
	must(write(fd, "1", 1));
	must(pwrite(fd, "22", 2, 5));
	must(writev(fd, v, 2));
	must(ftruncate(fd, 3));
	must(fallocate(fd, 0, 0, 4096));
	must(fchmod(fd, 0600));
	must(from = dup(before));
	must(sendfile(fd, from, (off_t[]){ 0 }, 6));
	must(copy_file_range(from, (off_t[]){ 0 }, fd, NULL, 4, 0));
	must(pipe(ends));
	must(splice(from, (off_t[]){ 0 }, ends[1], NULL, 3, 0));
	must(splice(ends[0], NULL, fd, NULL, 3, 0));
	must(futimens(fd, NULL));
	must(fsync(fd));
	must(close(fd));
	must(pread(from, bytes, 6, 0));
	must(openat(dir, "link/two", O_CREAT | O_EXCL | O_RDWR, 0644));
	must(rename("one", "../one"));
	/* musl has no renameat2 */
	must(syscall(SYS_renameat2, dir, "one", AT_FDCWD, "two", EXCHANGE));
	must(link("two", "hard"));
	must(symlinkat("two", AT_FDCWD, "soft"));
	must(truncate("soft", 7));
	must(chmod("soft", 0640));
	must(lchown("soft", 0, 0));
	must(mkdir("made", 0755));
	must(mknod("made/fifo", S_IFIFO | 0600, 0));
	must(setxattr("two", "user.tfs", "x", 1, 0) < 0 && errno != EOPNOTSUPP ? -1 : 0);
	must(unlink("hard"));
	must(unlinkat(dir, "sub/made/fifo", 0));
	must(rmdir("made"));
	must(unlink("nowhere") < 0 ? 0 : -1);
	/* none of these changes a file */
	must(write(ends[1], "x", 1));
	must(open("two", O_RDONLY));
	must(stat("two", &(struct stat){ 0 }));
	return 0;
}
