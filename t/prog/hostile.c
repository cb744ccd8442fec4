/* SPDX-License-Identifier: ISC */
/*
 * hostile - a program that attacks whoever decodes its system calls
 *
 *	hostile strings          open paths without an end, across the ends of mapped pages, of
 *	                         about 4 KiB and of each byte; pass structures and words likewise
 *	hostile names TEXT...    open each TEXT as a path, and as the name of the task; \x1b, \n
 *	                         and \\ in it are as in C
 *	hostile races N          open and connect N times, while other threads change the memory
 *	hostile fds N            open, duplicate and close N descriptors; N as the limit allows
 *	hostile execs N          in one thread of several, execute this program N times, while the
 *	                         others are in calls
 *	hostile numbers          make calls with numbers that the kernel does not have
 *	hostile compat N         make pairs of a 32-bit call openat(2) of /forged/by, and a call
 *	                         openat(2) of /own, N times
 * First it prints "ready" and waits for a line of standard input. It calls openat(2) itself. In
 * the end it prints "done" and the number of these calls (fds: of the descriptors; execs: no
 * number), and waits for another line.
 */
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/un.h>

#include "prog.h"

static long page;
static long opened;             /* calls of openat by opens() */

static void opens(const char *path)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);

	opened++;
	if (fd >= 0)
		close(fd);
}

/* Return the end of n mapped pages, after which nothing is mapped. */
static char *end_of_pages(long n)
{
	char *p = mmap(NULL, (size_t)((n + 1) * page), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || munmap(p + n * page, (size_t)page) < 0)
		exit(111);
	memset(p, 'z', (size_t)(n * page));
	return p + n * page;
}

static void strings(void)
{
	static const long lengths[] = { 1, 2, 8, 63, 64, 447, 448, 449, 500, 4094, 4095, 4096 };
	static const uintptr_t addresses[] = { 0, 1, 8, 4095, 0x7fffffffffff, (uintptr_t)-4096,
					       (uintptr_t)-1, (uintptr_t)1 << 63 };
	struct timespec none = { 0 };
	struct pollfd *polls;
	struct sockaddr_un *to;
	char *end = end_of_pages(256), every[256], **words;
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		opens(end - lengths[i]); /* no NUL before the end */
		end[-1] = '\0';
		opens(end - lengths[i]); /* the NUL is the last byte */
		end[-1] = 'z';
	}
	opens(end - 256 * page);
	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		opens((const char *)addresses[i]);
		syscall(SYS_connect, fd, addresses[i], 110);
		syscall(SYS_ppoll, addresses[i], 3, &none, NULL, 0);
		syscall(SYS_execve, addresses[i], addresses[i], addresses[i]);
		syscall(SYS_execve, "/nowhere", addresses[i], addresses[i]);
	}
	for (unsigned i = 0; i < 255; i++)
		every[i] = (char)(i + 1);
	every[255] = '\0';
	opens(every);
	for (int at = 1; at < 64; at += 7) {
		to = (struct sockaddr_un *)(void *)(end - at);
		syscall(SYS_connect, fd, to, 110);
		syscall(SYS_connect, fd, to, 0x7fffffff);
		polls = (struct pollfd *)(void *)(end - at);
		syscall(SYS_ppoll, polls, 100, &none, NULL, 0);
		syscall(SYS_ppoll, polls, 0xffffffff, &none, NULL, 0);
	}
	/* words: each is the same text without an end, and so is the array */
	words = (char **)(void *)(end - page);
	for (long i = 0; i < page / (long)sizeof(*words); i++)
		words[i] = end - 128 * page;
	syscall(SYS_execve, "/nowhere", words, words);
	for (long i = 0; i < page / (long)sizeof(*words); i++)
		words[i] = (char *)(uintptr_t)(i * 8);
	syscall(SYS_execve, "/nowhere", words, words);
	printf("done %ld\n", opened);
}

/* Open a text in which the escapes of C are made bytes, with the same text as the task's name. */
static void name(const char *text)
{
	char bytes[8192];
	size_t n = 0;

	for (; *text && n < sizeof(bytes) - 1; text++) {
		char c = *text;

		if (c == '\\' && text[1] == 'n') {
			c = '\n';
			text++;
		} else if (c == '\\' && text[1] == 'x') {
			c = (char)strtoul((char[]){ text[2], text[3], '\0' }, NULL, 16);
			text += 3;
		} else if (c == '\\' && text[1]) {
			text++;
		}
		bytes[n++] = c;
	}
	bytes[n] = '\0';
	prctl(PR_SET_NAME, bytes);
	opens(bytes);
}

static struct {
	char text[8192];
	struct sockaddr_un to;
	const char *volatile path;
	char *unmapped;
	volatile int stop;
} shared;

static void *change(void *unused)
{
	for (unsigned n = 1; !shared.stop; n = n * 1103515245 + 12345) {
		memset(shared.text + n / 7 % 4096, (int)(n >> 16 & 0xff), n / 65536 % 4096);
		shared.to.sun_family = (unsigned short)(n >> 20);
		shared.to.sun_path[n / 3 % 108] = (char)(n >> 8);
		if (n >> 30)
			mprotect(shared.unmapped, (size_t)page,
				 n >> 29 & 1 ? PROT_READ : PROT_NONE);
	}
	return unused;
}

static void races(long n)
{
	pthread_t threads[2];
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	shared.unmapped = end_of_pages(2) - page;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, change, NULL))
			exit(111);
	for (long i = 0; i < n; i++) {
		opens(i & 1 ? shared.text : shared.unmapped - 100);
		syscall(SYS_connect, fd, &shared.to, sizeof(shared.to));
	}
	shared.stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("done %ld\n", opened);
}

static void fds(long n)
{
	struct rlimit most;
	long made = 0;
	int fd;

	getrlimit(RLIMIT_NOFILE, &most);
	if (most.rlim_max < (rlim_t)n + 100) /* root may raise it */
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){ (rlim_t)n + 100, (rlim_t)n + 100 });
	getrlimit(RLIMIT_NOFILE, &most);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ most.rlim_max, most.rlim_max });
	while (made < n && (fd = (int)syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY)) >= 0) {
		made++;
		if (made < n && dup(fd) >= 0)
			made++;
	}
	syscall(SYS_close_range, 3, (unsigned)made / 2, 0);
	for (fd = (int)made / 2 + 1; fd < made + 3; fd++)
		close(fd);
	printf("done %ld\n", made);
}

static void *wait_in_call(void *fd)
{
	char c;

	while (read(*(int *)fd, &c, 1) < 0 && errno == EINTR)
		;
	return NULL;
}

static void *execute(void *argv)
{
	execv("/proc/self/exe", argv);
	exit(111);
}

/* Execute this program from a thread while others wait, and so on; at last print "done". */
static void execs(char **argv, long n)
{
	static char number[24], again[] = "execs-again";
	static int pair[2];
	pthread_t thread;

	if (n <= 0) {
		puts("done");
		return;
	}
	snprintf(number, sizeof(number), "%ld", n - 1);
	argv[1] = again;
	argv[2] = number;
	if (pipe2(pair, O_CLOEXEC) < 0)
		exit(111);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread, NULL, wait_in_call, &pair[0]))
			exit(111);
	if (pthread_create(&thread, NULL, execute, argv))
		exit(111);
	pthread_join(thread, NULL);
}

static void numbers(void)
{
	static const long some[] = { -1, -2, -100, 5000, 65536, 0x40000000, 0x40000001, 0x7fffffff,
				     (long)0xffffffffu, (long)0x80000000u };
	static char text[] = "tfs_1a a1 /forged";

	for (long i = 600; i < 1100; i++)
		syscall(i, text, text, text, text, text, text);
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		syscall(some[i], text, text, text, text, text, text);
#if __SIZEOF_LONG__ == 8
	syscall((long)1 << 32 | SYS_openat, AT_FDCWD, text, O_RDONLY);
#endif
	opens("/own");
	printf("done %ld\n", opened);
}

#ifdef __x86_64__
static void compat(long n)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result;

	if (low == MAP_FAILED)
		exit(111);
	strcpy(low, "/forged/by");
	for (long i = 0; i < n; i++) {
		/* openat, whose number is preadv of 64-bit code */
		__asm__ volatile("int $0x80" : "=a"(result) :
				 "0"(295L), "b"((long)AT_FDCWD), "c"(low), "d"(0L), "S"(0L) :
				 "memory", "r8", "r9", "r10", "r11");
		/* select; its number is rename of 64-bit code, which has two paths */
		__asm__ volatile("int $0x80" : "=a"(result) :
				 "0"(82L), "b"(0L), "c"(low), "d"(0L), "S"(low), "D"(low) :
				 "memory", "r8", "r9", "r10", "r11");
		opens("/own");
	}
	printf("done %ld\n", opened);
}
#else
static void compat(long n)
{
	printf("none %ld\n", n);
}
#endif

int main(int argc, char **argv)
{
	const char *act = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0;

	if (strcmp(act, "execs-again"))
		ready();
	page = sysconf(_SC_PAGESIZE);
	if (!strcmp(act, "strings"))
		strings();
	else if (!strcmp(act, "names")) {
		for (int i = 2; i < argc; i++)
			name(argv[i]);
		printf("done %ld\n", opened);
	} else if (!strcmp(act, "races"))
		races(n);
	else if (!strcmp(act, "fds"))
		fds(n);
	else if (!strncmp(act, "execs", 5))
		execs(argv, n);
	else if (!strcmp(act, "numbers"))
		numbers();
	else if (!strcmp(act, "compat"))
		compat(n);
	else
		return 100;
	fflush(stdout);
	wait_line(STDIN_FILENO);
	return 0;
}
