/* SPDX-License-Identifier: ISC */
/*
 * p32 - a 32-bit program without libc: gcc -m32 -nostdlib -static -fno-pic -no-pie
 *       -fno-stack-protector -O1
 *
 * open("f32", O_WRONLY|O_CREAT), write 5 bytes, rename to g32, llseek beyond 4 GiB, pwrite64,
 * ftruncate64 6 GiB, stat64, fork (child: exit 3), waitpid, unlink; exit 7
 */
static long s(long n, long a, long b, long c, long d, long e)
{
	long r;

	__asm__ volatile("push %%ebp; mov %7, %%ebp; int $0x80; pop %%ebp" : "=a"(r)
			 : "0"(n), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e), "i"(0) : "memory");
	return r;
}
static char st[200]; static long long off;
static int fds[2];
static struct { long tv, ns; } ts = {0, 1000000};
static struct { int fd; short ev, re; } pf = {0, 0, 0};
void _start(void)
{
	long f = s(5, (long)"f32", 0101, 0644, 0, 0), p; int w;
	s(4, f, (long)"hello", 5, 0, 0);
	s(38, (long)"f32", (long)"g32", 0, 0, 0);
	s(140, f, 1, 0x40000000, (long)&off, 0);          /* _llseek 5 GiB */
	s(181, f, (long)"x", 1, 0x40000000, 1);           /* pwrite64 at 5 GiB */
	s(194, f, 0x80000000, 1, 0, 0);                   /* ftruncate64 6 GiB */
	s(195, (long)"g32", (long)st, 0, 0, 0);           /* stat64 */
	s(162, (long)&ts, 0, 0, 0, 0);                    /* nanosleep */
	s(42, (long)fds, 0, 0, 0, 0);                     /* pipe */
	s(168, (long)&pf, 1, 0, 0, 0);                    /* poll */
	s(33, (long)"none", 0, 0, 0, 0);                  /* access ENOENT */
	s(5, (long)"none", 0, 0, 0, 0);                   /* open ENOENT */
	p = s(2, 0, 0, 0, 0, 0); if (!p) s(1, 3, 0, 0, 0, 0);
	s(7, p, (long)&w, 0, 0, 0);
	s(999, 1, 2, 3, 4, 5);                            /* ENOSYS */
	s(10, (long)"g32", 0, 0, 0, 0);
	s(1, 7, 0, 0, 0, 0);
}
