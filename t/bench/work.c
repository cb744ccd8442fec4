/* SPDX-License-Identifier: ISC */
/*
 * work - the traced program of the hooks: do one thing N times, and time it
 *
 *	work KIND N FILE
 * It prints "ready" and waits for a line of standard input; then it does KIND N times:
 *	exec    start a child that runs a program, /proc/self/exe without an operand
 *	open    open and close a file; every second file is missing
 *	signal  send a signal to itself and handle it
 *	sched   send a byte to another thread and get a byte back
 *	call    make a system call, getppid
 *	deep    call, in 20 calls of functions
 *	fork    start a child that ends at once
 *	tcp     connect to itself, accept and close
 *	probed  call a function of that name
 *	block   read 4096 bytes of $BENCH_DEVICE, past the page cache
 * At the end a line goes to FILE: nanoseconds per round, seconds in all, N.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];

static void do_exec(long i)
{
	static char *argv[] = { "work", NULL };
	pid_t pid = vfork();

	(void)i;
	if (!pid) {
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void do_fork(long i)
{
	pid_t pid = fork();

	(void)i;
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void do_open(long i)
{
	int fd = open(i & 1 ? "/nonexistent" : "/dev/null", O_RDONLY);

	if (fd >= 0)
		close(fd);
}

static void handler(int signo)
{
	(void)signo;
}

static void do_signal(long i)
{
	(void)i;
	kill(getpid(), SIGUSR1);
}

static void *answer(void *arg)
{
	char c;

	while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
		;
	return arg;
}

static void do_sched(long i)
{
	char c = (char)i;

	if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
		exit(111);
}

static void do_call(long i)
{
	(void)i;
	syscall(SYS_getppid);
}

__attribute__((noinline)) static void deeper(long depth)
{
	if (depth > 0)
		deeper(depth - 1);
	else
		do_call(0);
	__asm__ volatile("" : : "r"(depth)); /* or it would be a loop */
}

static void do_deep(long i)
{
	(void)i;
	deeper(18);
}

static void do_tcp(long i)
{
	/* leave no port in TIME_WAIT */
	static const struct linger at_once = { .l_onoff = 1 };
	static struct sockaddr_in to = { .sin_family = AF_INET };
	static int listener;
	socklen_t len = sizeof(to);
	int fd = socket(AF_INET, SOCK_STREAM, 0), other;

	(void)i;
	if (!listener) {
		to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		listener = socket(AF_INET, SOCK_STREAM, 0);
		if (bind(listener, (struct sockaddr *)&to, len) || listen(listener, 8) ||
		    getsockname(listener, (struct sockaddr *)&to, &len))
			exit(111);
	}
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		exit(111);
	other = accept(listener, NULL, NULL);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
	close(other);
}

__attribute__((noinline)) void probed(long i);
__attribute__((noinline)) void probed(long i)
{
	__asm__ volatile("" : : "r"(i));
}

static void do_block(long i)
{
	static char block[4096] __attribute__((aligned(4096)));
	static int fd = -1;

	if (fd < 0)
		fd = open(getenv("BENCH_DEVICE"), O_RDONLY | O_DIRECT);
	if (pread(fd, block, sizeof(block), i % 256 * (off_t)sizeof(block)) != sizeof(block))
		exit(111);
}

static const struct {
	const char *name;
	void (*once)(long);
} kinds[] = {
	{ "exec", do_exec }, { "open", do_open }, { "signal", do_signal },
	{ "sched", do_sched }, { "call", do_call }, { "deep", do_deep },
	{ "fork", do_fork }, { "tcp", do_tcp }, { "probed", probed }, { "block", do_block },
};

int main(int argc, char **argv)
{
	void (*once)(long) = NULL;
	struct timespec a, b;
	pthread_t thread;
	double ns;
	FILE *f;
	long n;
	char c;

	if (argc == 1)
		return 0; /* exec runs this */
	for (size_t i = 0; argc == 4 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[1], kinds[i].name))
			once = kinds[i].once;
	n = once ? atol(argv[2]) : 0;
	if (n <= 0 || pipe(there) || pipe(back)) {
		fprintf(stderr, "usage: work KIND N FILE\n");
		return 100;
	}
	signal(SIGUSR1, handler);
	if (once == do_sched)
		pthread_create(&thread, NULL, answer, NULL);
	write(STDOUT_FILENO, "ready\n", 6);
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (long i = 0; i < n; i++)
		once(i);
	clock_gettime(CLOCK_MONOTONIC, &b);
	ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
	f = fopen(argv[3], "w");
	if (!f || fprintf(f, "%.1f %.3f %ld\n", ns / (double)n, ns / 1e9, n) < 0 || fclose(f))
		return 111;
	return 0;
}
