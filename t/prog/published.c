/* SPDX-License-Identifier: ISC */
/*
 * published - publish a thread context (OTEP 4947) with another span for each call
 *
 *	published [-t THREADS] [-f] [-x] [-w] [-l LIBRARY] [-s | -c | -a | -d | -p | -b DISK] CALLS
 *
 * Each thread makes so many calls lseek(-1, SPAN, 0), while the span with this id is active. The id
 * is the pid of the thread, and a counter N in its low 32 bits. Instead of these calls:
 *	-s  it sleeps for 1 ms
 *	-c  it connects to port 1 of 127.1.0.N, where nobody listens
 *	-a  it prints its port, connects from 127.1.0.N to it in span 3N - 2, accepts in span
 *	    3N - 1, and closes both ends in span 3N. It has a connection from 127.1.0.0 before all
 *	    others, and closes it in span 3 * CALLS + 1
 *	-d  it closes a Unix socket with a datagram that nobody has read
 *	-p  it touches the page at 0x700000000000 + 0x10000 * N, without a call
 *	-b  it writes the Nth block of 4096 bytes of the disk
 * -f: a child does so, too. -x: then do all this again in the same program, executed anew. -l: the
 * library publishes, and is loaded after the first half of the calls. -w: print a line, and wait
 * for a byte first.
 * With -DPART=1 this is the library alone, with -DPART=2 the program that is linked with it, with
 * -DPART=3 the program that loads it. -DBEFORE: there are so many words before the variable.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PART
#define PART 0
#endif

void publish(uint64_t trace, uint64_t span);

#if PART < 2
struct context {
	unsigned char trace[16], span[8];
	volatile unsigned char valid;
	unsigned char flags, size[2];
};

#ifdef BEFORE
__thread uint64_t before[BEFORE] = { 1 };
#endif
__thread struct context *otel_thread_ctx_v1;
static __thread struct context context;

static void put(unsigned char *to, uint64_t n)
{
	for (int i = 8; i--; n >>= 8)
		to[i] = (unsigned char)n;
}

void publish(uint64_t trace, uint64_t span)
{
	context.valid = 0;
	put(context.trace, trace);
	put(context.trace + 8, ~trace);
	put(context.span, span);
	context.flags = 1;
	context.valid = 1;
	otel_thread_ctx_v1 = span ? &context : NULL;
}
#endif

#if PART != 1
static unsigned long calls;
static void (*by)(uint64_t trace, uint64_t span)
#if PART != 3
	= publish
#endif
	;

static char kind;       /* of -s, -c, -a, -d, -p, -b; 0: none of them */
static int disk;
static int listener, old[2];    /* of -a */
#define PAGES 0x700000000000

/* Connect to the listener from 127.1.0.N, and accept that, in two spans after this one. */
static void make_pair(int pair[2], uint64_t n, uint64_t self, uint64_t span)
{
	struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr = {
					htonl(0x7f010000 | (uint32_t)n) } };
	struct sockaddr_in to;
	socklen_t size = sizeof(to);

	pair[0] = socket(AF_INET, SOCK_STREAM, 0);
	getsockname(listener, (struct sockaddr *)&to, &size);
	by(self, self | ++span);
	if (bind(pair[0], (struct sockaddr *)&from, sizeof(from)) ||
	    connect(pair[0], (struct sockaddr *)&to, size))
		_exit(1);
	by(self, self | ++span);
	pair[1] = accept(listener, NULL, NULL);
}

static void close_pair(const int pair[2], uint64_t self, uint64_t span)
{
	by(self, self | span);
	close(pair[0]);
	close(pair[1]);
}

static void begin_pairs(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr = {
					htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(any);

	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&any, sizeof(any)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&any, &size) ||
	    dprintf(1, "port %d\n", ntohs(any.sin_port)) < 0)
		_exit(1);
	make_pair(old, 0, 0, 0);
}

static void act(uint64_t self, uint64_t n)
{
	static char block[4096] __attribute__((aligned(4096)));
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(1),
				  .sin_addr = { htonl(0x7f010000 | (uint32_t)n) } };
	const struct timespec ms = { 0, 1000000 };
	int s, pair[2];

	switch (kind) {
	case 'a':
		make_pair(pair, n, self, 3 * n - 3);
		close_pair(pair, self, 3 * n);
		break;
	case 's':
		nanosleep(&ms, NULL);
		break;
	case 'c':
		s = socket(AF_INET, SOCK_STREAM, 0);
		if (!connect(s, (struct sockaddr *)&to, sizeof(to)))
			_exit(1);
		close(s);
		break;
	case 'd':
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) || send(pair[0], "x", 1, 0) != 1)
			_exit(1);
		close(pair[1]);
		close(pair[0]);
		break;
	case 'p':
		*(volatile char *)(PAGES + 0x10000 * n) = 1;
		break;
	case 'b':
		if (pwrite(disk, block, sizeof(block), (off_t)((n - 1) * sizeof(block))) < 0)
			_exit(1);
		break;
	default:
		syscall(SYS_lseek, -1, self | n, 0);
	}
}

static void *work(void *until)
{
	uint64_t self = (uint64_t)syscall(SYS_gettid) << 32;

	for (uint64_t n = 1; n <= calls; n++) {
		if (by)
			by(self, self | n);
		act(self, n);
	}
	if (kind == 'a')
		close_pair(old, self, 3 * calls + 1);
	if (by)
		by(0, 0);
	return until;
}

int main(int argc, char **argv)
{
	const char *library = NULL;
	pthread_t thread[64];
	int c, threads = 0, forks = 0, again = 0;
	char byte;

	while ((c = getopt(argc, argv, "t:fxwl:scadpb:")) != -1)
		switch (c) {
		case 't':
			threads = atoi(optarg);
			break;
		case 'f':
			forks = 1;
			break;
		case 'x':
			again = 1;
			break;
		case 'b':
			disk = open(optarg, O_WRONLY | O_DIRECT);
			if (disk < 0)
				return 1;
			/* fall through */
		case 'a':
		case 'd':
		case 'p':
		case 's':
		case 'c':
			kind = (char)c;
			if (c == 'a')
				begin_pairs();
			if (c == 'p' && (mmap((void *)PAGES, 1 << 24, PROT_READ | PROT_WRITE,
					      MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
					 MAP_FAILED ||
					 madvise((void *)PAGES, 1 << 24, MADV_NOHUGEPAGE)))
				return 1;
			break;
		case 'l':
			library = optarg;
			by = NULL;
			break;
		case 'w':
			if (write(1, "ready\n", 6) < 0 || read(0, &byte, 1) < 0)
				return 1;
		}
	calls = strtoul(argv[optind], NULL, 0);
	if (library) {
		void *loaded;

		work(NULL);
		loaded = dlopen(library, RTLD_NOW);
		by = loaded ? (void (*)(uint64_t, uint64_t))(intptr_t)dlsym(loaded, "publish") :
			      NULL;
		if (!by)
			return 1;
	}
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	if (forks && !fork()) {
		work(NULL);
		_exit(0);
	}
	work(NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	if (forks)
		wait(NULL);
	if (again)
		execl("/proc/self/exe", argv[0], argv[optind], NULL);
	return 0;
}
#endif
