/* SPDX-License-Identifier: ISC */
/*
 * acts - a program that does one thing a known number of times
 *
 *	acts functions N [WORD]   call acts_work(i, WORD) N times; default "word"
 *	acts sleeps N M           call acts_sleep(M) N times; it sleeps 2 ms, then calls
 *	                          acts_sleep(M - 1) if M is not 0
 *	acts usdt N               pass the USDT probes acts:pass, acts:two (at two places) and
 *	                          acts:seen N times; acts:seen only if its semaphore is not 0.
 *	                          Print how often it was not 0
 *	acts callers N M          call acts_work N times from acts_often and M times from
 *	                          acts_rarely, each of which also calls getppid; then wait for
 *	                          another line of standard input
 *	acts opens N M PATH       open PATH N times, and a missing file M times
 *	acts threads N M PATH     open PATH N times in each of M threads, and in each of M
 *	                          children
 *	acts unread N M FILE      open the path in FILE N times, each time from memory that
 *	                          was not read yet, and M times by a bad pointer
 *	acts execs N M WORD...    run this program N times, with WORD..., and a
 *	                          missing file M times
 *	acts connects N           connect N times to a socket of its own
 *	acts retransmits N        connect without an answer, until its first packet was
 *	                          sent again N times
 *	acts blocks N M PATH      write N blocks of 4096 bytes to PATH, from block M on,
 *	                          past the page cache
 *	acts cached N M PATH      the same, into the page cache
 *	acts fsyncs N M PATH      the same, and call fsync after each
 *	acts memory               call the kernel with user memory of all kinds, which memory()
 *	                          lists; then execute this program
 *	acts secrets              pass a secret to the kernel in each way that secrets() lists;
 *	                          then wait for another line of standard input
 *	acts moves N M            move to another CPU N times, by its affinity, in this
 *	                          process and in M children, after a move to the first one
 *	acts nothing
 * First it prints "ready" and waits for a line of standard input, except for "nothing".
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "prog.h"

int acts_work(int i, const char *word);
int acts_sleep(int n);
int acts_ask(int i);
int acts_often(int i);
int acts_rarely(int i);
int acts_worker(void);          /* a similar name */

#ifdef __arm__ /* Linux cannot probe Thumb code */
#define PLAIN __attribute__((noinline, noclone, target("arm")))
#else
#define PLAIN __attribute__((noinline, noclone))
#endif

/* the compiler must not inline, clone or remove this function */
PLAIN int acts_work(int i, const char *word)
{
	__asm__ volatile("" : : "r"(word) : "memory");
	return 2 * i + 1;
}

/* The Makefile compiles this program with frame pointers. */
PLAIN int acts_ask(int i)
{
	return (int)syscall(SYS_getppid) + i;
}

PLAIN int acts_often(int i)
{
	return acts_work(i, "often") + acts_ask(i) + 1;
}

PLAIN int acts_rarely(int i)
{
	return acts_work(i, "rarely") + acts_ask(i) + 2;
}

PLAIN int acts_sleep(int n)
{
	struct timespec t = { .tv_nsec = 2000000 };

	while (nanosleep(&t, &t) < 0)
		;
	return n ? acts_sleep(n - 1) + 1 : 10;
}

/*
 * A USDT probe as <sys/sdt.h> makes it: an instruction that does nothing, and a note with
 * three addresses and three strings.
 */
#if __SIZEOF_POINTER__ == 8
#define WORD ".8byte "
#else
#define WORD ".4byte "
#endif
#define USDT(name, semaphore, args, ...) \
	__asm__ volatile("990: nop\n" \
		".pushsection .note.stapsdt,\"\",%%note\n" \
		".balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
		"991: .asciz \"stapsdt\"\n992: .balign 4\n" \
		"993: " WORD "990b\n" WORD "_.stapsdt.base\n" WORD semaphore "\n" \
		".asciz \"acts\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n" \
		"994: .balign 4\n.popsection\n" \
		".ifndef _.stapsdt.base\n" \
		".pushsection .stapsdt.base,\"aG\",%%progbits,.stapsdt.base,comdat\n" \
		".weak _.stapsdt.base\n.hidden _.stapsdt.base\n" \
		"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n" \
		".popsection\n.endif\n" : : __VA_ARGS__)

__attribute__((section(".probes"), used)) volatile unsigned short acts_semaphore;

/* clones would have further places */
PLAIN int acts_pass(int i, const char *word)
{
	volatile int16_t small = (int16_t)-i;
	int seen = 0;

	USDT("pass", "0", "-4@%0 8@%1 -2@%2 -4@%3 8f@%%xmm0", "r"(i), "r"(word),
	     "m"(small), "i"(-7));
	USDT("two", "0", "", "r"(i));
	if (acts_semaphore) {
		USDT("seen", "acts_semaphore", "4@%0", "r"(i));
		seen = 1;
	}
	USDT("two", "0", "", "r"(i));
	return seen;
}

PLAIN int acts_worker(void)
{
	__asm__ volatile("");
	return 7;
}

static void run(char **argv)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execv(argv[0], argv);
		_exit(0);
	}
	waitpid(pid, &status, 0);
}

static struct {
	const char *path;
	long n;
} each;

static void *open_each(void *unused)
{
	for (long i = 0; i < each.n; i++)
		close(open(each.path, O_RDONLY));
	return unused;
}

static void in_threads(long n, long m, const char *path)
{
	pthread_t id;

	each.path = path;
	each.n = n;
	for (long i = 0; i < m; i++) {
		if (pthread_create(&id, NULL, open_each, NULL) || pthread_join(id, NULL))
			exit(111);
		if (!fork()) {
			open_each(NULL);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static void unread(long n, long m, const char *file)
{
	int fd = open(file, O_RDONLY);

	for (long i = 0; i < n; i++) {
		char *path = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

		if (path == MAP_FAILED)
			exit(111);
		close((int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY));
		munmap(path, 4096);
	}
	for (long i = 0; i < m; i++)
		syscall(SYS_openat, AT_FDCWD, (char *)8, O_RDONLY);
	close(fd);
}

/* Move between the first two CPUs that this process may use. */
static void move_often(long n)
{
	cpu_set_t all, one;
	size_t cpus[2];
	int found = 0;

	sched_getaffinity(0, sizeof(all), &all);
	for (size_t cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, &all))
			cpus[found++] = cpu;
	for (long i = 0; i <= n && found == 2; i++) {
		CPU_ZERO(&one);
		CPU_SET(cpus[i % 2], &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
}

static void moves(long n, long children)
{
	for (long i = 0; i < children; i++)
		if (!fork()) {
			move_often(n);
			_exit(0);
		}
	move_often(n);
	while (wait(NULL) > 0)
		;
}

/* Return a socket that listens on loopback; store its address in *to. */
static int listener(struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct ifreq lo = { .ifr_name = "lo" };
	socklen_t n = sizeof(*to);

	if (!ioctl(fd, SIOCGIFFLAGS, &lo) && !(lo.ifr_flags & IFF_UP)) {
		lo.ifr_flags |= IFF_UP;
		ioctl(fd, SIOCSIFFLAGS, &lo);
	}
	*to = (struct sockaddr_in){ .sin_family = AF_INET };
	to->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)to, n) || listen(fd, 16) ||
	    getsockname(fd, (struct sockaddr *)to, &n))
		exit(111);
	return fd;
}

static void connects(int in, const struct sockaddr_in *to, long n)
{
	while (n--) {
		int out = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(out, (const struct sockaddr *)to, sizeof(*to)))
			exit(111);
		close(accept(in, NULL, NULL));
		close(out);
	}
}

static void retransmits(int in, const struct sockaddr_in *to, int n)
{
	/* "return 0" drops the packet; not every libc has <linux/filter.h> */
	struct { unsigned short code; unsigned char jt, jf; unsigned k; } none = { 0x06, 0, 0, 0 };
	struct { unsigned short n; void *filter; } prog = { 1, &none };
	int out = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);

	if (setsockopt(in, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) ||
	    !connect(out, (const struct sockaddr *)to, sizeof(*to)))
		exit(111);
	while ((int)info.tcpi_total_retrans < n) {
		poll(NULL, 0, 10);
		if (getsockopt(out, IPPROTO_TCP, TCP_INFO, &info, &size))
			exit(111);
	}
}

/* (dd(1) of busybox gives up O_DIRECT if it fails, and writes pages) */
static void blocks(long n, long first, const char *path, int flags, int (*then)(int))
{
	static _Alignas(4096) char block[4096];
	int fd = open(path, O_WRONLY | flags);

	for (long i = first; i < first + n; i++)
		if (pwrite(fd, block, sizeof(block), (off_t)i * (off_t)sizeof(block)) !=
		    (ssize_t)sizeof(block) || (then && then(fd))) {
			perror(path);
			exit(111);
		}
	close(fd);
}

/* Secrets in what it writes, in the words of programs, and in their environment */
static void memory(const char *self)
{
	static char secret[] = "SECRET-written";
	char *words[] = { (char *)(size_t)"acts", (char *)(size_t)"nothing",
			  (char *)(size_t)"two words", (char *)(size_t)"SECRET-word",
			  (char *)(size_t)"", NULL };
	char *env[] = { (char *)(size_t)"ONE=SECRET-env", NULL };
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "/nowhere/two" };
	struct pollfd polls[13];
	struct timespec none = { 0 };
	socklen_t size = sizeof(to);
	long page = sysconf(_SC_PAGESIZE);
	char longer[601], *end = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int pair[2], to_null = open("/dev/null", O_WRONLY);

	if (end == MAP_FAILED || munmap(end + page, (size_t)page) < 0)
		exit(111);
	end += page - 500;
	memset(end, 'z', 500);
	memset(longer, 'q', 600);
	longer[600] = '\0';
	for (int i = 0; i < 13; i++)
		polls[i] = (struct pollfd){ .fd = 999, .events = POLLIN };
	syscall(SYS_openat, AT_FDCWD, "/nowhere/one", O_RDONLY);
	syscall(SYS_openat, AT_FDCWD, longer, O_RDONLY);
	syscall(SYS_openat, AT_FDCWD, "", O_RDONLY);
	syscall(SYS_openat, AT_FDCWD, (char *)8, O_RDONLY);
	syscall(SYS_openat, AT_FDCWD, NULL, O_RDONLY);
	syscall(SYS_openat, AT_FDCWD, end, O_RDONLY);
	syscall(SYS_renameat2, AT_FDCWD, "/nowhere/from", AT_FDCWD, "/nowhere/to", 0);
	if (syscall(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
		exit(111);
	syscall(SYS_connect, pair[0], &to, sizeof(sa_family_t) + 13);
	syscall(SYS_getsockname, pair[0], &to, &size);
	syscall(SYS_ppoll, polls, 1, &none, NULL, 0);
	syscall(SYS_ppoll, polls, 13, &none, NULL, 0);
	syscall(SYS_write, to_null, secret, sizeof(secret));
	syscall(SYS_sendto, pair[0], secret, sizeof(secret), 0, NULL, 0);
	syscall(SYS_execve, "/nowhere/three", words, env);
	syscall(SYS_execve, self, words, env);
}

/*
 * Pass SECRET-x, three times, to the kernel: x is w in what is written, v in vectors, s in what is
 * sent, q in a message of a queue, x in an attribute, p in a path, a in the words of a program,
 * and e in its environment. Calls that fail pass it as well.
 */
static void secrets(const char *self)
{
#define SECRET(x) "SECRET-" x "SECRET-" x "SECRET-" x
	static char written[] = SECRET("w"), vector[] = SECRET("v"), sent[] = SECRET("s");
	static char back[sizeof(written)];
	char *words[] = { (char *)(size_t)"acts", (char *)(size_t)"nothing",
			  (char *)(size_t)SECRET("a"), NULL };
	char *env[] = { (char *)(size_t)"NAME=" SECRET("e"), NULL };
	struct iovec iov = { vector, sizeof(vector) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	int pair[2], to_null = open("/dev/null", O_WRONLY);
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
		exit(111);
	syscall(SYS_write, pair[0], written, sizeof(written));
	syscall(SYS_read, pair[1], back, sizeof(back));
	syscall(SYS_pwrite64, -1, written, sizeof(written), 0, 0);
	syscall(SYS_writev, to_null, &iov, 1);
	syscall(SYS_sendmsg, pair[0], &message, 0);
	syscall(SYS_sendto, pair[0], sent, sizeof(sent), 0, NULL, 0);
	syscall(SYS_mq_timedsend, -1, SECRET("q"), 24, 0, NULL);
	syscall(SYS_fsetxattr, -1, "user.name", SECRET("x"), 24, 0);
	syscall(SYS_openat, AT_FDCWD, "/nowhere/" SECRET("p"), O_RDONLY);
	pid = fork();
	if (!pid) {
		syscall(SYS_execve, "/nowhere/three", words, env);
		syscall(SYS_execve, self, words, env);
		_exit(111);
	}
	waitpid(pid, NULL, 0);
	puts("passed");
	fflush(stdout);
	wait_line(STDIN_FILENO);
}

int main(int argc, char **argv)
{
	const char *act = argc > 1 ? argv[1] : "nothing";
	long n = argc > 2 ? atol(argv[2]) : 0, m = argc > 3 ? atol(argv[3]) : 0;
	char self[4096] = "", *none[] = { (char *)(size_t)"/nowhere/at all", NULL };
	struct sockaddr_in to;
	int in = -1;

	if (!strcmp(act, "nothing"))
		return 0;
	if (!strcmp(act, "connects") || !strcmp(act, "retransmits"))
		in = listener(&to);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 111;
	if (in >= 0)
		printf("port %d\n", ntohs(to.sin_port));
	ready();
	if (!strcmp(act, "functions"))
		for (long i = 0; i < n; i++)
			acts_work((int)i, argc > 3 ? argv[3] : "word");
	else if (!strcmp(act, "callers")) {
		for (long i = 0; i < n + m; i++)
			i < n ? acts_often((int)i) : acts_rarely((int)i);
		wait_line(STDIN_FILENO);
	} else if (!strcmp(act, "sleeps"))
		for (long i = 0; i < n; i++)
			acts_sleep((int)m);
	else if (!strcmp(act, "usdt")) {
		for (long i = 0; i < n; i++)
			m += acts_pass((int)i, "word");
		printf("seen %ld\n", m);
	} else if (!strcmp(act, "opens"))
		for (long i = 0; i < n + m; i++)
			/* musl's open(3) makes another call, or has another flag */
			close((int)syscall(SYS_openat, AT_FDCWD, i < n ? argv[4] : none[0],
					   O_RDONLY));
	else if (!strcmp(act, "threads"))
		in_threads(n, m, argv[4]);
	else if (!strcmp(act, "memory"))
		memory(self);
	else if (!strcmp(act, "secrets"))
		secrets(self);
	else if (!strcmp(act, "unread"))
		unread(n, m, argv[4]);
	else if (!strcmp(act, "blocks"))
		blocks(n, m, argv[4], O_DIRECT, NULL);
	else if (!strcmp(act, "cached") || !strcmp(act, "fsyncs"))
		blocks(n, m, argv[4], 0, *act == 'f' ? fsync : NULL);
	else if (!strcmp(act, "moves"))
		moves(n, m);
	else if (!strcmp(act, "connects"))
		connects(in, &to, n);
	else if (!strcmp(act, "retransmits"))
		retransmits(in, &to, (int)n);
	else if (!strcmp(act, "execs"))
		for (long i = 0; i < n + m; i++) {
			argv[2] = self;
			argv[3] = (char *)(size_t)"nothing";
			run(i < n ? argv + 2 : none);
		}
	return 0;
}
