/* SPDX-License-Identifier: ISC */
/*
 * confined - show what a process can still do after confine()
 *
 * It prints a line "TRIED: REASON" for each attempt, with "Success" if it worked. At the end
 * it raises SIGTERM, which must end it.
 */
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"

#include "prog.h"

static void tried(const char *what, long result)
{
	char line[80];
	int e = errno;

	str_format(line, sizeof(line), "%s: %s\n", what, result == -1 ? strerror(e) : "Success");
	if (fd_write_all(STDOUT_FILENO, line, strlen(line)) < 0)
		_exit(REFUSED);
}

int main(int argc, char **argv)
{
	char *const words[] = { argv[0], NULL }, *const none[] = { NULL };
	int file = open("/dev/null", O_RDWR), ends[2];
	pid_t parent = getppid();
	struct stat st;
	char byte;

	(void)argc;
	if (file < 0 || pipe(ends) < 0)
		return REFUSED;
	confine();
	tried("read", read(file, &byte, 1));
	tried("write", write(file, "", 1));
	tried("fstat", fstat(file, &st));
	tried("allocate", (long)mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	tried("do not block", fcntl(ends[1], F_SETFL, O_NONBLOCK));
	tried("open", open("/dev/null", O_RDONLY));
	tried("exec", execve("/proc/self/exe", words, none));
	tried("fork", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	tried("socket", socket(AF_INET, SOCK_STREAM, 0));
	tried("remove", unlinkat(AT_FDCWD, "a-file", 0));
	tried("stat", syscall(
#ifdef SYS_newfstatat
		SYS_newfstatat,
#else
		SYS_fstatat64,
#endif
		AT_FDCWD, "/", &st, 0));
	tried("signal another", kill(parent, 0));
	tried("signal a thread of another", syscall(SYS_tgkill, parent, parent, 0));
	tried("let a file signal another", fcntl(ends[0], F_SETOWN, parent));
	tried("map memory that runs", (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC,
						 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	tried("call another ABI", syscall(0x40000000 | SYS_getpid));
	raise(SIGTERM);
	return DONE;
}
