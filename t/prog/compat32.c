/* SPDX-License-Identifier: ISC */
/*
 * compat32 - a program of 32 bits (i386) that makes known system calls, without a libc
 *
 * The Makefile makes it if the compiler can. It opens /nowhere/open and /nowhere/openat, maps
 * 8192 bytes, connects a socket to /nowhere/socketcall by socketcall(2) and another to
 * /nowhere/connect by connect(2), executes /nowhere/execve with a word, writes a text to
 * standard output, and ends with status 7.
 */
typedef unsigned long word;

static long call(long nr, word a, word b, word c, word d, word e)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) :
			 "0"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e) : "memory");
	return result;
}

/* arch/x86/entry/syscalls/syscall_32.tbl */
enum { WRITE = 4, OPEN = 5, EXECVE = 11, SOCKETCALL = 102, MMAP2 = 192, EXIT_GROUP = 252,
       OPENAT = 295, SOCKET = 359, CONNECT = 362 };

/* linux/un.h */
struct address {
	unsigned short family;
	char path[20];
};

void _start(void);
void _start(void)
{
	static const struct address one = { 1, "/nowhere/socketcall" };
	static const struct address two = { 1, "/nowhere/connect" };
	static const char *const words[] = { "word", 0 }, *const none[] = { 0 };
	word args[3] = { 1, 2, 0 };
	long fd;

	call(OPEN, (word)"/nowhere/open", 02000000, 0, 0, 0);
	call(OPENAT, (word)-100, (word)"/nowhere/openat", 0101, 0644, 0);
	call(MMAP2, 0, 8192, 3, 0x22, (word)-1);
	fd = call(SOCKETCALL, 1, (word)args, 0, 0, 0);
	args[0] = (word)fd;
	args[1] = (word)&one;
	args[2] = sizeof(one);
	call(SOCKETCALL, 3, (word)args, 0, 0, 0);
	fd = call(SOCKET, 1, 2, 0, 0, 0);
	call(CONNECT, (word)fd, (word)&two, sizeof(two), 0, 0);
	call(EXECVE, (word)"/nowhere/execve", (word)words, (word)none, 0, 0);
	call(WRITE, 1, (word)"passed\n", 7, 0, 0);
	call(EXIT_GROUP, 7, 0, 0, 0, 0);
	for (;;)
		;
}
