/* SPDX-License-Identifier: ISC */
/*
 * load - work of a kind that programs do, as much as is asked for
 *
 *	load hack N	four groups of ten processes send N messages each through pipes
 *	load web N	two clients ask a server N times each for a file, over TCP
 *	load idle N	wake up N times, every 10 ms, and compute for a moment
 *	load outlier N FILE	every 300 ms wait for a lock of FILE, until N waits took 10 ms
 * It ends when all work is done, and has waited for all its processes.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GROUPS = 4, PAIRS = 5, MESSAGE = 100, CLIENTS = 2, PAGE = 4096 };

static void check(int bad, const char *what)
{
	if (bad) {
		perror(what);
		exit(111);
	}
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* Read or write all n bytes. Return 0 at the end of the file. */
static int all(ssize_t (*act)(int, void *, size_t), int fd, void *data, size_t n)
{
	char *p = data;

	while (n) {
		ssize_t done = act(fd, p, n);

		if (done <= 0)
			return 0;
		p += done;
		n -= (size_t)done;
	}
	return 1;
}

static ssize_t write_to(int fd, void *data, size_t n)
{
	return write(fd, data, n);
}

/* Compute for about so many microseconds; the result is of no use. */
static unsigned compute(unsigned us)
{
	volatile unsigned sum = 1;

	for (unsigned i = 0; i < us * 500; i++)
		sum = sum * 1103515245 + 12345;
	return sum;
}

/* As hackbench: in each group every sender writes to the pipe of every receiver in turn. */
static void hack(long n)
{
	char message[MESSAGE] = "";

	for (int g = 0; g < GROUPS; g++) {
		int pipes[PAIRS][2];

		for (int i = 0; i < PAIRS; i++)
			check(pipe(pipes[i]) < 0, "pipe");
		for (int i = 0; i < 2 * PAIRS; i++) {
			if (fork())
				continue;
			if (i < PAIRS) {
				for (int k = 0; k < PAIRS; k++)
					close(pipes[k][1]);
				while (all(read, pipes[i][0], message, MESSAGE))
					;
			} else {
				for (long m = 0; m < n; m++)
					all(write_to, pipes[m % PAIRS][1], message, MESSAGE);
			}
			_exit(0);
		}
		for (int i = 0; i < PAIRS; i++) {
			close(pipes[i][0]);
			close(pipes[i][1]);
		}
	}
}

/* Serve one client: for each line of a request open the file, compute, and send a page. */
static void serve(int client)
{
	static char page[PAGE], request[64];

	while (all(read, client, request, sizeof(request))) {
		int file = open("/proc/self/exe", O_RDONLY);

		check(read(file, page, sizeof(page)) < 0, "read");
		close(file);
		compute(20);
		all(write_to, client, page, sizeof(page));
	}
}

static void web(long n)
{
	static char page[PAGE], request[64] = "GET / HTTP/1.1\r\n";
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	int server = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	check(server < 0 || bind(server, (void *)&a, size) < 0 || listen(server, 8) < 0 ||
	      getsockname(server, (void *)&a, &size) < 0, "listen");
	for (int i = 0; i < CLIENTS; i++) {
		if (!fork()) {
			serve(accept(server, NULL, NULL));
			_exit(0);
		}
		if (!fork()) {
			int fd = socket(AF_INET, SOCK_STREAM, 0);

			check(connect(fd, (void *)&a, sizeof(a)) < 0, "connect");
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
			for (long m = 0; m < n; m++) {
				all(write_to, fd, request, sizeof(request));
				all(read, fd, page, sizeof(page));
			}
			_exit(0);
		}
	}
}

static void idle(long n)
{
	while (n-- > 0) {
		compute(200);
		pause_ms(10);
	}
}

/* A child holds the lock for 10 ms; the wait of this process is the outlier. */
static void outlier(long n, const char *file)
{
	int ours = open(file, O_RDWR | O_CREAT, 0600), to[2], from[2];
	char c = 0;

	check(ours < 0 || pipe(to) < 0 || pipe(from) < 0, file);
	if (!fork()) {
		int its = open(file, O_RDWR);

		close(to[1]);
		while (read(to[0], &c, 1) == 1) {
			fcntl(its, F_OFD_SETLKW, &(struct flock){ .l_type = F_WRLCK });
			check(write(from[1], &c, 1) != 1, "write");
			pause_ms(11);
			fcntl(its, F_OFD_SETLK, &(struct flock){ .l_type = F_UNLCK });
		}
		_exit(0);
	}
	while (n > 0) {
		struct timespec begin, end;

		pause_ms(300);
		check(write(to[1], &c, 1) != 1 || read(from[0], &c, 1) != 1, "pipe");
		flock(ours, LOCK_SH); /* a rare call, without a conflict */
		clock_gettime(CLOCK_MONOTONIC, &begin);
		fcntl(ours, F_OFD_SETLKW, &(struct flock){ .l_type = F_WRLCK });
		clock_gettime(CLOCK_MONOTONIC, &end);
		flock(ours, LOCK_UN);
		/* without a CPU for this process, the child may be ready before it waits */
		n -= (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec >=
		     10000000;
		fcntl(ours, F_OFD_SETLK, &(struct flock){ .l_type = F_UNLCK });
	}
	close(to[1]);
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;

	signal(SIGPIPE, SIG_IGN);
	if (argc > 2 && !strcmp(argv[1], "hack"))
		hack(n);
	else if (argc > 2 && !strcmp(argv[1], "web"))
		web(n);
	else if (argc > 2 && !strcmp(argv[1], "idle"))
		idle(n);
	else if (argc > 3 && !strcmp(argv[1], "outlier"))
		outlier(n, argv[3]);
	else
		return 100;
	while (wait(NULL) > 0)
		;
	return 0;
}
