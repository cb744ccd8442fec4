/* SPDX-License-Identifier: ISC */
/*
 * execs32 PROGRAM - a program of 32 bits without libc: two children execute PROGRAM, of 32 bits,
 * and /bin/true, and then it executes PROGRAM itself
 */

static int call(int number, long a, const void *b, const void *c)
{
	int r;

	__asm__ volatile("int $0x80" : "=a"(r) : "0"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return r;
}

static void run(const char *program)
{
	const char *const words[] = { program, 0 }, *const none[] = { 0 };

	call(11, (long)program, words, none); /* execve */
	call(1, 127, 0, 0);                   /* exit */
}

__attribute__((used)) static void start(char **stack)
{
	const char *const programs[] = { stack[2], "/bin/true" };
	int pid, status;

	for (int i = 0; i < 2; i++) {
		pid = call(2, 0, 0, 0); /* fork */
		if (!pid)
			run(programs[i]);
		call(7, pid, &status, 0); /* waitpid */
	}
	run(stack[2]);
}

__asm__(".globl _start\n_start: mov %esp, %eax\npush %eax\ncall start\n");
