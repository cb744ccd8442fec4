/* SPDX-License-Identifier: ISC */
/*
 * localchain ROUNDS SIZE [MODE] - client, middle, server: requests over loopback
 *
 * Two clients ask at the same time, each of them ROUNDS times, over a connection of its
 * own, one middle of one thread. It passes each request on to one server, over one
 * connection for both, and the answer back. The first byte says whose request it is, and
 * whoever serves it tells the trace so by a call, getpgid of a task that is not there:
 * 1000001 for the first client, 1000002 for the other. The middle does that before and
 * behind, the server once.
 *
 * Prints the first client's pid, reads a line, and runs. MODE is msg for sendmsg and
 * recvmsg, vec for writev and readv, rw for write and read, and else send and recv; with
 * a 6 in it, over ::1; with a +, the connections are made before that line is read.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char mode[16];
static size_t size;

static void check(int truth, const char *what)
{
	if (truth)
		return;
	perror(what);
	_exit(1);
}

static ssize_t once(int fd, char *p, size_t n, int out)
{
	struct iovec iov = { p, n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	switch (*mode) {
	case 'm':
		return out ? sendmsg(fd, &msg, MSG_NOSIGNAL) : recvmsg(fd, &msg, 0);
	case 'v':
		return out ? writev(fd, &iov, 1) : readv(fd, &iov, 1);
	case 'r':
		return out ? write(fd, p, n) : read(fd, p, n);
	default:
		return out ? send(fd, p, n, MSG_NOSIGNAL) : recv(fd, p, n, 0);
	}
}

/* All of a message; 0: the other end is gone. */
static int message(int fd, char *p, int out)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = once(fd, p + done, size - done, out);

		check(n >= 0, "message");
		if (!n)
			return 0;
		done += (size_t)n;
	}
	return 1;
}

static int is6(void)
{
	return strchr(mode, '6') != NULL;
}

/* A listening socket and its address. */
static int listener(struct sockaddr_storage *at, socklen_t *n)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in four = { .sin_family = AF_INET };
	int fd = socket(is6() ? AF_INET6 : AF_INET, SOCK_STREAM, 0);

	four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*n = is6() ? sizeof(six) : sizeof(four);
	check(fd >= 0, "socket");
	check(!bind(fd, is6() ? (void *)&six : (void *)&four, *n) && !listen(fd, 8), "listen");
	*n = sizeof(*at);
	check(!getsockname(fd, (void *)at, n), "getsockname");
	return fd;
}

static int connected(const struct sockaddr_storage *at, socklen_t n)
{
	int fd = socket(at->ss_family, SOCK_STREAM, 0), one = 1;

	check(fd >= 0 && !connect(fd, (const void *)at, n), "connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static void truth(const char *request)
{
	getpgid(1000000 + *request - '0');
}

/* Of n clients, as they come; up is the connection to who serves them, -1: nobody. */
static void serve(int listening, int n, int up)
{
	struct pollfd fds[2];
	char *p = malloc(size);
	int left = n, one = 1;

	for (int i = 0; i < n; i++) {
		fds[i] = (struct pollfd){ .fd = accept(listening, NULL, NULL), .events = POLLIN };
		check(fds[i].fd >= 0, "accept");
		setsockopt(fds[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	}
	while (left && poll(fds, (nfds_t)n, -1) > 0)
		for (int i = 0; i < n; i++) {
			if (!fds[i].revents)
				continue;
			if (!message(fds[i].fd, p, 0)) {
				fds[i].fd = -fds[i].fd;
				left--;
				continue;
			}
			truth(p);
			if (up >= 0) {
				check(message(up, p, 1) && message(up, p, 0), "upstream");
				truth(p);
			}
			check(message(fds[i].fd, p, 1), "answer");
		}
	_exit(0);
}

static void ask(int fd, long rounds, char whose)
{
	char *p = malloc(size);

	memset(p, 'x', size);
	*p = whose;
	while (rounds--)
		check(message(fd, p, 1) && message(fd, p, 0), "ask");
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sockaddr_storage server, middle;
	socklen_t nserver, nmiddle;
	int to_server, to_middle, early, gate[2], status, failed = 0;
	pid_t first;
	char c;

	check(argc > 2, "localchain ROUNDS SIZE [MODE]");
	size = strtoul(argv[2], NULL, 10);
	snprintf(mode, sizeof(mode), "%s", argc > 3 ? argv[3] : "");
	early = strchr(mode, '+') != NULL;
	to_server = listener(&server, &nserver);
	to_middle = listener(&middle, &nmiddle);
	check(!pipe(gate), "pipe");
	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();
		int fd = -1;

		if (!i)
			first = pid;
		if (pid)
			continue;
		/* the gate is each one's, and opens when its other end is closed */
		close(gate[1]);
		if (early && i != 3)
			fd = i < 2 ? connected(&middle, nmiddle) : connected(&server, nserver);
		check(!read(gate[0], &c, 1), "gate");
		if (!early && i != 3)
			fd = i < 2 ? connected(&middle, nmiddle) : connected(&server, nserver);
		if (i < 2)
			ask(fd, strtol(argv[1], NULL, 10), i ? '2' : '1');
		if (i == 2)
			serve(to_middle, 2, fd);
		serve(to_server, 1, -1);
	}
	close(to_server);
	close(to_middle);
	printf("%d\n", (int)first);
	fflush(stdout);
	check(read(STDIN_FILENO, &c, 1) >= 0, "stdin");
	close(gate[1]);
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
