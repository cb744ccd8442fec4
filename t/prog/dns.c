/* SPDX-License-Identifier: ISC */
/*
 * dns - a server of DNS that answers as the name asks, and a client that asks by all calls
 *
 *	dns serve             print a port of 127.0.0.1 and ::1, then a line for each query:
 *	                      ID NAME TYPE PROTOCOL CODE; end at the end of standard input
 *	dns ask PORT ROUNDS   ask in so many rounds, and print the same lines, each with the
 *	                      microseconds that the query took, or -; CODE is that of the client
 *
 * The first label of a name, to the dash, says what becomes of it: ok, nx, fail, refused; lost: no
 * answer; tc: one that is truncated by UDP, and long by TCP; loop: a record whose name is a loop;
 * half: the record is longer than the message; junk: no DNS.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/uio.h>
#include <time.h>

#include "prog.h"

enum { A = 1, AAAA = 28 };
static const char *const codes[] = {
	"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED",
};

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_storage at(int family, int port)
{
	struct sockaddr_storage s = { .ss_family = (sa_family_t)family };

	((struct sockaddr_in *)&s)->sin_port = htons((uint16_t)port);
	if (family == AF_INET)
		((struct sockaddr_in *)&s)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&s)->sin6_addr = in6addr_loopback;
	return s;
}

static socklen_t size_of(int family)
{
	return family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* ---- the server ----------------------------------------------------------------------- */

/* Read the name at 12. Return the bytes of the question. */
static int question(const unsigned char *q, char *name)
{
	int i = 12;

	for (; q[i]; i += q[i] + 1)
		name += sprintf(name, "%.*s%s", q[i], q + i + 1, q[i + q[i] + 1] ? "." : "");
	return i + 5 - 12;
}

/* Answer a query of n bytes in place. Return the length; 0: it is lost. */
static int answer(unsigned char *q, int n, int tcp)
{
	static const char *const words[] = { "ok-", "", "fail-", "nx-", "", "refused-" };
	char name[256];
	int code = 5, end = 12 + question(q, name), type = q[end - 3];
	int lost = !strncmp(name, "lost-", 5), records = 1;

	for (int i = 0; i < 6; i++)
		if (*words[i] && !strncmp(name, words[i], strlen(words[i])))
			code = i;
	code = strpbrk(name, "tlhj") == name ? 0 : code;
	printf("%d %s %s %s %s\n", q[0] << 8 | q[1], name, type == A ? "A" : "AAAA",
	       tcp ? "tcp" : "udp", lost ? "lost" : *name == 'j' ? "junk" : codes[code]);
	fflush(stdout);
	if (lost)
		return 0;
	if (*name == 'j')
		return 5;
	memset(q + 6, 0, 6);
	q[2] = 0x84 | (q[2] & 1) | (*name == 't' && !tcp) << 1;
	q[3] = (unsigned char)(0x80 | code);
	if (code || (*name == 't' && !tcp))
		return end;
	if (*name == 't')
		records = 200;
	q[6] = (unsigned char)(records >> 8);
	q[7] = (unsigned char)records;
	n = end;
	for (int i = 0; i < records; i++) {
		int size = type == A ? 4 : 16, pointer = *name == 'l' ? n : 12;
		unsigned char record[12] = {
			0xc0 | pointer >> 8, (unsigned char)pointer, 0, (unsigned char)type,
			0, 1, 0, 0, 0, 60, 0, (unsigned char)size,
		};

		memcpy(q + n, record, 12);
		memset(q + n + 12, 0, (size_t)size);
		q[n + 12] = type == A ? 10 : 0xfd;
		q[n + 12 + size - 1] = (unsigned char)(i + 1);
		n += 12 + size - (*name == 'h' ? 2 : 0);
	}
	return n;
}

static int bound(int family, int type, int port)
{
	struct sockaddr_storage s = at(family, port);
	int fd = socket(family, type, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (fd < 0 || bind(fd, (struct sockaddr *)&s, size_of(family)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 9) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int all(int fd, void *v, size_t n)
{
	return recv(fd, v, n, MSG_WAITALL) == (ssize_t)n;
}

static void serve_connection(int fd)
{
	unsigned char q[8192];
	int n;

	while (all(fd, q, 2) && all(fd, q + 2, (size_t)(q[0] << 8 | q[1]))) {
		n = answer(q + 2, q[0] << 8 | q[1], 1);
		q[0] = (unsigned char)(n >> 8);
		q[1] = (unsigned char)n;
		if (n && write(fd, q, (size_t)n + 2) < 0)
			fail("write");
	}
	close(fd);
}

static void serve(void)
{
	struct pollfd p[5] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	struct sockaddr_storage from;
	socklen_t size = sizeof(from);
	unsigned char q[8192];
	int port = 0;

	for (int tries = 0; tries < 100; tries++) {
		p[1].fd = bound(AF_INET, SOCK_DGRAM, 0);
		size = sizeof(from);
		getsockname(p[1].fd, (struct sockaddr *)&from, &size);
		port = ntohs(((struct sockaddr_in *)&from)->sin_port);
		p[2].fd = bound(AF_INET, SOCK_STREAM, port);
		p[3].fd = bound(AF_INET6, SOCK_DGRAM, port);
		p[4].fd = bound(AF_INET6, SOCK_STREAM, port);
		if (p[2].fd >= 0 && p[3].fd >= 0 && p[4].fd >= 0)
			break;
	}
	printf("%d\n", port);
	fflush(stdout);
	for (int i = 1; i < 5; i++)
		p[i].events = POLLIN;
	while (poll(p, 5, -1) > 0 && !p[0].revents)
		for (int i = 1; i < 5; i++) {
			ssize_t n;

			size = sizeof(from);
			if (p[i].revents && i % 2 == 0) {
				serve_connection(accept(p[i].fd, NULL, NULL));
			} else if (p[i].revents) {
				struct sockaddr *to = (struct sockaddr *)&from;

				n = recvfrom(p[i].fd, q, sizeof(q), 0, to, &size);
				n = n > 0 ? answer(q, (int)n, 0) : 0;
				if (n)
					sendto(p[i].fd, q, (size_t)n, 0, to, size);
			}
		}
}

/* ---- the client ----------------------------------------------------------------------- */

static int port, id;
static unsigned char reply[8192];

/* A query, and when it began */
struct asked {
	unsigned char q[300];
	size_t n;
	char name[64];
	int type;
	struct timespec begin;
};

static struct asked make(const char *what, int n, int type)
{
	struct asked a = { .n = 12, .type = type };
	unsigned char head[6] = { ++id >> 8, (unsigned char)id, 1, 0, 0, 1 };

	memcpy(a.q, head, sizeof(head));
	snprintf(a.name, sizeof(a.name), "%s-%d.test", what, n);
	a.q[a.n] = (unsigned char)strcspn(a.name, ".");
	memcpy(a.q + 13, a.name, a.q[12]);
	a.n += a.q[12] + 1u;
	memcpy(a.q + a.n, "\4test\0\0", 7);
	a.n += 7;
	a.q[a.n++] = (unsigned char)type;
	a.q[a.n++] = 0;
	a.q[a.n++] = 1;
	clock_gettime(CLOCK_MONOTONIC, &a.begin);
	return a;
}

static void told(const struct asked *a, const char *protocol, const char *code, int timed)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%d %s %s %s %s", a->q[0] << 8 | a->q[1], a->name, a->type == A ? "A" : "AAAA",
	       protocol, code);
	if (timed)
		printf(" %ld\n", (now.tv_sec - a->begin.tv_sec) * 1000000 +
		       (now.tv_nsec - a->begin.tv_nsec) / 1000);
	else
		printf(" -\n");
}

/* The reply has come. */
static void came(const struct asked *a, const char *protocol, ssize_t n)
{
	if (n < 12 || memcmp(reply, a->q, 2))
		fail("reply");
	told(a, protocol, codes[reply[3] & 15], 1);
}

static int opened(int family, int type, int connects)
{
	struct sockaddr_storage s = at(family, port);
	int fd = socket(family, type, 0);

	if (fd < 0 || (connects && connect(fd, (struct sockaddr *)&s, size_of(family)) < 0))
		fail("connect");
	return fd;
}

static void by_sendto(const char *what, int n, int binds)
{
	struct sockaddr_storage s = at(AF_INET, port), from, any = { .ss_family = AF_INET };
	socklen_t size = sizeof(from);
	int fd = opened(AF_INET, SOCK_DGRAM, 0);
	struct asked a;

	if (binds && bind(fd, (struct sockaddr *)&any, size_of(AF_INET)) < 0)
		fail("bind");
	a = make(what, n, A);
	sendto(fd, a.q, a.n, 0, (struct sockaddr *)&s, size_of(AF_INET));
	came(&a, "udp", recvfrom(fd, reply, sizeof(reply), 0, (struct sockaddr *)&from, &size));
	close(fd);
}

/* Two queries at once, as glibc sends them; the answers come by read. */
static void by_sendmmsg(const char *what, int n, int family)
{
	int fd = opened(family, SOCK_DGRAM, 1);
	struct asked a[2] = { make(what, n, A), make(what, n, AAAA) };
	struct iovec v[2] = { { a[0].q, a[0].n }, { a[1].q, a[1].n } };
	struct mmsghdr m[2] = { { .msg_hdr = { .msg_iov = v, .msg_iovlen = 1 } },
				{ .msg_hdr = { .msg_iov = v + 1, .msg_iovlen = 1 } } };

	if (sendmmsg(fd, m, 2, 0) != 2)
		fail("sendmmsg");
	for (int i = 0; i < 2; i++)
		came(&a[i], "udp", read(fd, reply, sizeof(reply)));
	close(fd);
}

/* A query in two pieces; the answer is looked at first, and comes by recvmmsg or recvmsg. */
static void by_sendmsg(const char *what, int n, int many)
{
	int fd = opened(AF_INET, SOCK_DGRAM, 1);
	struct asked a = make(what, n, AAAA);
	struct iovec v[2] = { { a.q, 7 }, { a.q + 7, a.n - 7 } };
	struct iovec w[2] = { { reply, 20 }, { reply + 20, 2000 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
	struct mmsghdr got = { .msg_hdr = { .msg_iov = w, .msg_iovlen = 2 } };

	if (sendmsg(fd, &m, 0) < 0 || recv(fd, reply, sizeof(reply), MSG_PEEK) < 12)
		fail("sendmsg");
	if (many)
		recvmmsg(fd, &got, 1, 0, NULL);
	else
		recvmsg(fd, &got.msg_hdr, 0);
	came(&a, "udp", 12);
	close(fd);
}

static void by_write(const char *what, int n, int family)
{
	int fd = opened(family, SOCK_DGRAM, 1);
	struct asked a = make(what, n, A);

	if (write(fd, a.q, a.n) < 0)
		fail("write");
	came(&a, "udp", recv(fd, reply, sizeof(reply), 0));
	close(fd);
}

/* By TCP; bytes: a byte in each call. */
static void by_tcp(const char *what, int n, int bytes)
{
	int fd = opened(AF_INET, SOCK_STREAM, 1);
	struct asked a = make(what, n, A);
	unsigned char all[302] = { (unsigned char)(a.n >> 8), (unsigned char)a.n };
	struct iovec v[2] = { { all, 2 }, { a.q, a.n } };
	size_t got = 0, want = 2;

	memcpy(all + 2, a.q, a.n);
	if (!bytes && writev(fd, v, 2) < 0)
		fail("writev");
	for (size_t i = 0; bytes && i < a.n + 2; i++)
		if (write(fd, all + i, 1) != 1)
			fail("write");
	while (got < want) {
		ssize_t part = read(fd, reply + got, bytes ? 1 : got < 2 ? 2 : want - got);

		if (part <= 0)
			fail("read");
		got += (size_t)part;
		want = got >= 2 ? 2 + (size_t)(reply[0] << 8 | reply[1]) : 2;
	}
	memmove(reply, reply + 2, want);
	came(&a, "tcp", (ssize_t)want - 2);
	close(fd);
}

static void *receive(void *fd)
{
	return recv(*(int *)fd, reply, sizeof(reply), 0) < 12 ? NULL : fd;
}

/* One thread waits for the answer, another one asks. */
static void by_threads(const char *what, int n)
{
	int fd = opened(AF_INET, SOCK_DGRAM, 1);
	pthread_t thread;
	struct asked a;

	if (pthread_create(&thread, NULL, receive, &fd))
		fail("thread");
	a = make(what, n, A);
	if (send(fd, a.q, a.n, 0) < 0)
		fail("send");
	pthread_join(thread, NULL);
	came(&a, "udp", 12);
	close(fd);
}

/* No answer comes: ask twice by the same socket. */
static void unanswered(int n)
{
	int fd = opened(AF_INET, SOCK_DGRAM, 1);
	struct asked a = make("lost", n, A);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (int i = 0; i < 2; i++) {
		if (send(fd, a.q, a.n, 0) < 0 || poll(&p, 1, 20))
			fail("lost");
		told(&a, "udp", i ? "unanswered" : "retried", 0);
	}
	close(fd);
}

/* Nobody listens at port 1. */
static void refused(int n)
{
	int was = port, fd;
	struct asked a = make("ok", n, A);

	port = 1;
	fd = opened(AF_INET, SOCK_DGRAM, 1);
	if (send(fd, a.q, a.n, 0) < 0 || recv(fd, reply, sizeof(reply), 0) >= 0)
		fail("refused");
	told(&a, "udp", errno == ECONNREFUSED ? "ECONNREFUSED" : "another error", 0);
	close(fd);
	port = was;
}

static void ask(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		by_sendto("ok", i, 0);
		by_sendto("nx", i, 1);
		by_sendmmsg("ok", i, AF_INET);
		by_sendmmsg("fail", i, AF_INET6);
		by_sendmsg("ok", i, 0);
		by_sendmsg("refused", i, 1);
		by_write("nx", i, AF_INET);
		by_write("loop", i, AF_INET6);
		by_write("half", i, AF_INET);
		by_write("tc", i, AF_INET);
		by_tcp("tc", i, 0);
		by_tcp("ok", i, 1);
		by_threads("ok", i);
		unanswered(i);
		refused(i);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "serve")) {
		serve();
	} else if (argc == 4) {
		port = atoi(argv[2]);
		ask(atoi(argv[3]));
	}
	return 0;
}
