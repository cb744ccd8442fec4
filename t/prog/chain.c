/* SPDX-License-Identifier: ISC */
/*
 * chain - a client, a middle and a server of requests whose work can be counted
 *
 *	chain [-c CALLS] [-m MODEL] [-w N] [-l N] [-g BASE] [-q SEQ] [-z] [-y MS]
 *		server ADDRESS PORT
 *	chain [the same] [-e] middle ADDRESS PORT ADDRESS PORT
 *	chain [-c CALLS] [-q SEQ] [-u | -b] [-t N] [-n N] [-s BYTES] [-1] [-e] [-i]
 *		client ADDRESS PORT
 *
 * The client sends requests. The middle passes each request on and returns the answer. The
 * server answers in upper case. Addresses are IPv4 or IPv6; port 0 selects any free port.
 * Server and middle print "ready PORT", and run until they are killed.
 *
 * A request begins with T if its client is traced, else with U. A host reads the whole
 * request, calls getpgid N times (-l, default 2), and sends the answer. The argument is
 * BASE + 1 for T and BASE + 2 for U. The middle makes the larger half of the N calls before
 * it passes the request on, and the others when it has the answer. After the answer each
 * host calls getpgid(BASE + 3) once. BASE is 1000000 by default.
 *	-c CALLS  send, write, writev, or sendmsg, with the matching calls to read; sendfile
 *	          (with read); splice (to read and to send)
 *	-m MODEL  fork: a process for each connection; thread: a thread for each connection;
 *	          pool: -w N threads (default 4) and EPOLLONESHOT; loop: one thread with epoll,
 *	          and as many requests in progress as connections; hand: -w N threads for each
 *	          connection: one thread reads a message, the next works on it and sends, the
 *	          next reads, and so on; one: one thread, one request at a time, and one
 *	          connection from the middle to the server
 *	-q SEQ    on connections that this host makes, the sequence numbers begin after SEQ
 *	-z        make the last byte of each answer of the server wrong
 *	-y MS     sleep MS milliseconds before each answer of the server
 * The middle has one connection to the server for each connection of a client, or with -m
 * one a single connection. It connects when the first request has come.
 *
 * The client has -t N connections (default 1) with a thread for each. Each thread sends
 * -n N requests (default 1) of -s BYTES (default 64), one after the other. All requests are
 * T; with -u all are U; with -b connections are T and U by turns. The client prints "tid TID
 * T" or "tid TID U" for each thread, then "ready". It begins when standard input has a line
 * or ends. The first thread is the main thread.
 *	-1        make a new connection for each request
 *	-e        connect before "ready"; for a middle, only with -m one
 *	-i        read a number from each line of standard input, send that many requests on
 *	          each connection, and print "done"; ignore -n
 * Exit: 0 if each answer was right, 1 if one was wrong, 100 misused, 111 refused.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "prog.h"

/* the bytes of a message's head: "T" or "U", the length, the number of the request */
#define HEAD 17
#define LENGTH 1
#define NUMBER 9

static const char *const call_names[] = { "send", "write", "writev", "sendmsg", "sendfile",
	"splice" };
static const char *const model_names[] = { "fork", "thread", "pool", "loop", "hand", "one" };
static enum { SEND, WRITE, WRITEV, SENDMSG, SENDFILE, SPLICE } calls;
static enum { FORK, THREAD, POOL, LOOP, HAND, ONE } model;
static long workers = 4, truths = 2, base = 1000000, delay;
static int spoil, has_first, early;
static uint32_t first_number; /* -q */

static int complain(const char *what)
{
	fprintf(stderr, "chain: unable to %s: %s\n", what, strerror(errno));
	return 111;
}

static _Noreturn void die(const char *what)
{
	exit(complain(what));
}

static void *room(void *old, size_t n)
{
	void *p = realloc(old, n);

	if (!p)
		die("get memory");
	return p;
}

/* ---- the calls that move bytes ------------------------------------------- */

/* Return this thread's pipe for splice. */
static int *own_pipe(void)
{
	static _Thread_local int fd[2] = { -1, -1 };

	if (fd[0] < 0 && pipe2(fd, O_CLOEXEC))
		die("make a pipe");
	return fd;
}

static ssize_t get_spliced(int fd, char *to, size_t n)
{
	int *tube = own_pipe();
	ssize_t r = splice(fd, NULL, tube[1], NULL, n < 65536 ? n : 65536,
		model == LOOP ? SPLICE_F_NONBLOCK : 0);

	for (ssize_t at = 0, got; at < r; at += got) {
		got = read(tube[0], to + at, (size_t)(r - at));
		if (got <= 0)
			die("read a pipe");
	}
	return r;
}

static ssize_t get(int fd, char *to, size_t n)
{
	struct iovec v[2] = { { to, n / 2 }, { to + n / 2, n - n / 2 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };

	switch (calls) {
	case SEND: return recv(fd, to, n, 0);
	case WRITEV: return readv(fd, v, 2);
	case SENDMSG: return recvmsg(fd, &m, 0);
	case SPLICE: return get_spliced(fd, to, n);
	default: return read(fd, to, n);
	}
}

/* Send n bytes from a file, with sendfile or with splice through a pipe. */
static ssize_t put_file(int fd, const char *from, size_t n)
{
	int file = memfd_create("answer", MFD_CLOEXEC), *tube = own_pipe();
	loff_t at = 0;
	off_t start = 0;
	ssize_t r, in, done = 0;

	if (file < 0 || write(file, from, n) != (ssize_t)n)
		die("write a file");
	if (calls == SENDFILE) {
		done = sendfile(fd, file, &start, n);
	} else if ((in = splice(file, &at, tube[1], NULL, n, 0)) < 0) {
		done = in;
	} else {
		while (done < in) {
			r = splice(tube[0], NULL, fd, NULL, (size_t)(in - done), 0);
			if (r < 0)
				break;
			done += r;
		}
		if (done < in) { /* discard the rest; the next call sends it from a file */
			int error = errno;

			close(tube[0]);
			close(tube[1]);
			tube[0] = -1;
			errno = error;
			done = done ? done : -1;
		}
	}
	close(file);
	return done;
}

static ssize_t put(int fd, const char *from, size_t n)
{
	struct iovec v[2] = { { (char *)(size_t)from, n / 2 },
		{ (char *)(size_t)from + n / 2, n - n / 2 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };

	switch (calls) {
	case SEND: return send(fd, from, n, 0);
	case WRITE: return write(fd, from, n);
	case WRITEV: return writev(fd, v, 2);
	case SENDMSG: return sendmsg(fd, &m, 0);
	default: return put_file(fd, from, n);
	}
}

/* ---- sockets --------------------------------------------------------------- */

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static union address upstream;
static int shared = -1; /* -m one: the middle's connection to the server */

static union address parse(const char *text, const char *port)
{
	union address a;

	memset(&a, 0, sizeof(a));
	if (strchr(text, ':')) {
		a.any.sa_family = AF_INET6;
		a.six.sin6_port = htons((uint16_t)atoi(port));
		if (inet_pton(AF_INET6, text, &a.six.sin6_addr) == 1)
			return a;
	} else {
		a.any.sa_family = AF_INET;
		a.four.sin_port = htons((uint16_t)atoi(port));
		if (inet_pton(AF_INET, text, &a.four.sin_addr) == 1)
			return a;
	}
	fprintf(stderr, "chain: not an address: %s\n", text);
	exit(100);
}

static socklen_t size_of(const union address *a)
{
	return a->any.sa_family == AF_INET6 ? sizeof(a->six) : sizeof(a->four);
}

static void at_once(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Set the sequence number of the next byte, as a program that restores connections does. */
static void begin_at(int fd, uint32_t seq)
{
	enum { REPAIR = 19, REPAIR_QUEUE = 20, QUEUE_SEQ = 21, SEND_QUEUE = 2 };
	const int on = 1, queue = SEND_QUEUE, off = 0;

	if (setsockopt(fd, IPPROTO_TCP, REPAIR, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_TCP, REPAIR_QUEUE, &queue, sizeof(queue)) ||
	    setsockopt(fd, IPPROTO_TCP, QUEUE_SEQ, &seq, sizeof(seq)) ||
	    setsockopt(fd, IPPROTO_TCP, REPAIR, &off, sizeof(off)))
		die("set a sequence number");
}

/* Connect. Return the socket, or -1 and errno. With SOCK_NONBLOCK the connect may go on. */
static int connect_to(const union address *to, int flags)
{
	int fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);

	if (fd < 0)
		return -1;
	at_once(fd);
	if (has_first)
		begin_at(fd, first_number);
	if (!connect(fd, &to->any, size_of(to)) || errno == EINPROGRESS)
		return fd;
	close(fd);
	return -1;
}

/* Return the middle's connection to the server, or -1 and errno. */
static int connect_up(int flags)
{
	if (model != ONE)
		return connect_to(&upstream, flags);
	if (shared < 0)
		shared = connect_to(&upstream, flags);
	return shared;
}

/* Listen on the address and print "ready PORT". Return the socket. */
static int listen_on(union address a)
{
	int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	socklen_t n = size_of(&a);

	if (fd < 0)
		die("make a socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, &a.any, n) || listen(fd, 1024) || getsockname(fd, &a.any, &n))
		die("listen");
	printf("ready %d\n", ntohs(a.any.sa_family == AF_INET6 ?
		a.six.sin6_port : a.four.sin_port));
	fflush(stdout);
	return fd;
}

/* ---- server and middle: one state machine, with sockets that block or do not */

enum state { REQUEST, UPWARD, ANSWER, DOWN };

struct conn {
	int fd, up; /* sockets to the client and, of a middle, to the server */
	enum state state;
	char *text;
	size_t size, at, need; /* bytes of text; bytes of this state: done, all */
	int full;              /* all bytes of this state are done */
};

static struct conn *new_conn(int fd)
{
	struct conn *c = room(NULL, sizeof(*c));

	*c = (struct conn){ .fd = fd, .up = -1, .size = 65536 };
	c->text = room(NULL, c->size);
	at_once(fd);
	return c;
}

static void free_conn(struct conn *c)
{
	close(c->fd);
	if (c->up >= 0 && c->up != shared)
		close(c->up);
	free(c->text);
	free(c);
}

static void truth(const struct conn *c, long n)
{
	while (n-- > 0)
		syscall(SYS_getpgid, base + (c->text[0] == 'T' ? 1 : 2));
}

/* Read. Return 1 if the message is complete, 2 if not, 0 on EAGAIN, -1 at the end. */
static int read_more(struct conn *c, int fd)
{
	ssize_t n = get(fd, c->text + c->at, c->need ? c->need - c->at : c->size - c->at);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0 || (!n && c->at)) {
		if (!n)
			errno = EPIPE;
		complain("read a message");
	}
	if (n <= 0)
		return -1;
	c->at += (size_t)n;
	if (!c->need && c->at >= HEAD) {
		char length[NUMBER - LENGTH + 1] = "";

		memcpy(length, c->text + LENGTH, NUMBER - LENGTH);
		c->need = strtoul(length, NULL, 16);
		if (c->need < c->at) {
			fprintf(stderr, "chain: more than a message\n");
			return -1;
		}
		if (c->need > c->size)
			c->text = room(c->text, c->size = c->need);
	}
	return c->need && c->at == c->need ? 1 : 2;
}

static int write_more(struct conn *c, int fd)
{
	ssize_t n = put(fd, c->text + c->at, c->need - c->at);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0) {
		complain("send a message");
		return -1;
	}
	c->at += (size_t)n;
	return c->at == c->need ? 1 : 2;
}

/* Do the work between two states. Return the next state. */
static enum state turn(struct conn *c)
{
	const long later = truths / 2;

	c->at = 0;
	switch (c->state) {
	case REQUEST:
		truth(c, upstream.any.sa_family ? truths - later : truths);
		if (upstream.any.sa_family)
			return UPWARD;
		if (delay)
			usleep((useconds_t)delay * 1000);
		for (size_t i = 0; i < c->need; i++)
			c->text[i] = (char)toupper((unsigned char)c->text[i]);
		if (spoil)
			c->text[c->need - 1] = '?';
		return DOWN;
	case UPWARD:
		c->need = 0;
		return ANSWER;
	case ANSWER:
		truth(c, later);
		return DOWN;
	default:
		c->need = 0;
		syscall(SYS_getpgid, base + 3);
		return REQUEST;
	}
}

/* Return 1 after a request (-m hand: a message), 0 if a socket has to wait, -1 at the end. */
static int serve(struct conn *c, int flags)
{
	int r;

	for (;;) {
		if (c->full) {
			c->full = 0;
			c->state = turn(c);
			if (c->state == REQUEST && model != HAND)
				return 1;
		}
		if (c->state == UPWARD && c->up < 0) {
			c->up = connect_up(flags);
			if (c->up < 0) {
				complain("connect to the server");
				return -1;
			}
			if (flags)
				return 0; /* the caller watches c->up, and then calls again */
		}
		switch (c->state) {
		case REQUEST: r = read_more(c, c->fd); break;
		case UPWARD: r = write_more(c, c->up); break;
		case ANSWER: r = read_more(c, c->up); break;
		default: r = write_more(c, c->fd); break;
		}
		if (r <= 0)
			return r;
		c->full = r == 1;
		if (c->full && model == HAND)
			return 1;
	}
}

static void *serve_all(void *of)
{
	struct conn *c = of;

	while (serve(c, 0) > 0)
		;
	free_conn(c);
	return NULL;
}

static void start(void *(*what)(void *), void *with)
{
	pthread_t id;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	errno = pthread_create(&id, &attr, what, with);
	if (errno)
		die("make a thread");
	pthread_attr_destroy(&attr);
}

/* A thread of a connection. The threads pass the connection on in a ring of pipes. */
struct hand {
	int belt[2];
	struct hand *next;
};

static void hand_to(struct hand *h, struct conn *c)
{
	if (write(h->belt[1], &c, sizeof(c)) != sizeof(c))
		die("hand on a connection");
}

static void *run_hand(void *of)
{
	struct hand *h = of, *other;
	struct conn *c;

	while (read(h->belt[0], &c, sizeof(c)) == sizeof(c)) {
		if (serve(c, 0) > 0) {
			hand_to(h->next, c);
			continue;
		}
		free_conn(c);
		/* end all threads of the ring; each of the others waits in read */
		other = h;
		do
			close(other->belt[1]);
		while ((other = other->next) != h);
	}
	close(h->belt[0]);
	return NULL;
}

static void start_hands(struct conn *c)
{
	struct hand *ring = room(NULL, (size_t)workers * sizeof(*ring));

	for (long i = 0; i < workers; i++) {
		ring[i].next = &ring[(i + 1) % workers];
		if (pipe2(ring[i].belt, O_CLOEXEC))
			die("make a pipe");
	}
	for (long i = 0; i < workers; i++)
		start(run_hand, &ring[i]);
	hand_to(ring, c);
}

static void run_apart(int in)
{
	pid_t self = getpid();

	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept4(in, NULL, NULL, SOCK_CLOEXEC);
		pid_t child;

		if (fd < 0)
			die("accept");
		if (model == THREAD) {
			start(serve_all, new_conn(fd));
			continue;
		}
		if (model == HAND) {
			start_hands(new_conn(fd));
			continue;
		}
		child = fork();
		if (child < 0)
			die("fork");
		if (!child) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(in);
			if (getppid() == self)
				serve_all(new_conn(fd));
			_exit(0);
		}
		close(fd);
	}
}

static int events, listening;

static void watch(int op, int fd, unsigned what, void *with)
{
	struct epoll_event e = { .events = what, .data.ptr = with };

	if (epoll_ctl(events, op, fd, &e))
		die("watch a socket");
}

/* Serve events, as a thread of the pool or the only thread. An event wakes one thread. */
static void *work(void *none)
{
	struct epoll_event e;
	struct conn *c;
	int fd;

	for (;;) {
		if (epoll_wait(events, &e, 1, -1) < 1)
			continue;
		c = e.data.ptr;
		if (!c) {
			fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
			if (fd >= 0)
				watch(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLONESHOT, new_conn(fd));
		} else if (serve(c, 0) > 0) {
			watch(EPOLL_CTL_MOD, c->fd, EPOLLIN | EPOLLONESHOT, c);
		} else {
			free_conn(c);
		}
	}
	return none;
}

static void loop(void)
{
	const unsigned both = EPOLLIN | EPOLLOUT | EPOLLET;
	struct epoll_event e;
	struct conn *c;
	int fd, r, up;

	for (;;) {
		/* take one event: another event may belong to a connection that ends now */
		if (epoll_wait(events, &e, 1, -1) < 1)
			continue;
		c = e.data.ptr;
		if (!c) {
			while ((fd = accept4(listening, NULL, NULL,
				SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
				watch(EPOLL_CTL_ADD, fd, both, new_conn(fd));
			continue;
		}
		up = c->up;
		while ((r = serve(c, SOCK_NONBLOCK)) > 0)
			;
		if (r < 0)
			free_conn(c);
		else if (c->up != up)
			watch(EPOLL_CTL_ADD, c->up, both, c);
	}
}

static void run_events(int in)
{
	events = epoll_create1(EPOLL_CLOEXEC);
	listening = in;
	fcntl(in, F_SETFL, O_NONBLOCK);
	watch(EPOLL_CTL_ADD, in, model == LOOP ? EPOLLIN : EPOLLIN | EPOLLEXCLUSIVE, NULL);
	if (model == LOOP)
		loop();
	for (long i = 1; i < workers && model == POOL; i++)
		start(work, NULL);
	work(NULL);
}

/* ---- client ----------------------------------------------------------------- */

static union address target;
static size_t size = 64;
static long requests = 1, threads = 1;
static int once, by_line;
static pthread_barrier_t printed, begun, done;

struct worker {
	pthread_t id;
	long index;
	char flavour;
	int fd;
	unsigned number;
	char *text, *answer;
};

static void connect_worker(struct worker *w)
{
	if (w->fd < 0 && (w->fd = connect_to(&target, 0)) < 0)
		die("connect");
}

static void request(struct worker *w)
{
	char head[HEAD + 1];

	connect_worker(w);
	snprintf(head, sizeof(head), "%c%08zx%08x", w->flavour, size, w->number++);
	memcpy(w->text, head, HEAD);
	for (size_t at = 0; at < size;) {
		ssize_t n = put(w->fd, w->text + at, size - at);

		if (n < 0)
			die("send a request");
		at += (size_t)n;
	}
	for (size_t at = 0; at < size;) {
		ssize_t n = get(w->fd, w->answer + at, size - at);

		if (n < 0)
			die("read an answer");
		if (!n) {
			fprintf(stderr, "chain: an answer ends after %zu bytes\n", at);
			exit(1);
		}
		at += (size_t)n;
	}
	for (size_t i = 0; i < size; i++)
		if (w->answer[i] != toupper((unsigned char)w->text[i])) {
			fprintf(stderr, "chain: byte %zu of an answer is wrong\n", i);
			exit(1);
		}
	if (once) {
		close(w->fd);
		w->fd = -1;
	}
}

/* Read a line of standard input. Return its number, or 0 at the end. */
static long line(void)
{
	char text[32];
	size_t n = 0;

	while (read(STDIN_FILENO, text + n, 1) == 1 && text[n] != '\n')
		n += n < sizeof(text) - 1;
	text[n] = '\0';
	return atol(text);
}

static void *run_client(void *of)
{
	struct worker *w = of;
	int first = !w->index;

	w->text = room(NULL, size);
	w->answer = room(NULL, size);
	for (size_t i = 0; i < size; i++)
		w->text[i] = (char)('a' + (i + i / 26 + (size_t)w->index) % 26);
	printf("tid %ld %c\n", (long)syscall(SYS_gettid), w->flavour);
	if (early)
		connect_worker(w);
	pthread_barrier_wait(&printed);
	if (first) {
		puts("ready");
		fflush(stdout);
		if (!by_line)
			line();
	}
	for (;;) {
		if (first && by_line)
			requests = line();
		pthread_barrier_wait(&begun);
		for (long i = 0; i < requests; i++)
			request(w);
		if (!by_line || !requests)
			return NULL;
		pthread_barrier_wait(&done);
		if (first) {
			puts("done");
			fflush(stdout);
		}
	}
}

static void run_clients(char flavour)
{
	struct worker *all = room(NULL, (size_t)threads * sizeof(*all));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	pthread_barrier_init(&printed, NULL, (unsigned)threads);
	pthread_barrier_init(&begun, NULL, (unsigned)threads);
	pthread_barrier_init(&done, NULL, (unsigned)threads);
	for (long i = threads - 1; i >= 0; i--) {
		struct worker *w = all + i;

		*w = (struct worker){ .index = i, .flavour = flavour, .fd = -1 };
		if (flavour == 'b')
			w->flavour = i % 2 ? 'U' : 'T';
		if (!i)
			run_client(w);
		else if ((errno = pthread_create(&w->id, &attr, run_client, w)))
			die("make a thread");
	}
	for (long i = 1; i < threads; i++)
		pthread_join(all[i].id, NULL);
}

/* ------------------------------------------------------------------------------ */

static _Noreturn void misused(const char *what)
{
	fprintf(stderr, "chain: %s; see its source for usage\n", what);
	exit(100);
}

static long number(const char *text, long least)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end || end == text || n < least)
		misused("no such number");
	return n;
}

static int one_of(const char *word, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(word, names[i]))
			return i;
	misused("no such word");
}

int main(int argc, char **argv)
{
	char flavour = 'T', **word;
	int o, in;

	while ((o = getopt(argc, argv, "+c:m:w:l:g:q:y:zubt:n:s:1ei")) != -1)
		switch (o) {
		case 'c': calls = (unsigned)one_of(optarg, call_names, 6); break;
		case 'm': model = (unsigned)one_of(optarg, model_names, 6); break;
		case 'w': workers = number(optarg, 1); break;
		case 'l': truths = number(optarg, 0); break;
		case 'g': base = number(optarg, 0); break;
		case 'q': first_number = (uint32_t)strtoul(optarg, NULL, 10), has_first = 1; break;
		case 'y': delay = number(optarg, 0); break;
		case 'z': spoil = 1; break;
		case 'u': flavour = 'U'; break;
		case 'b': flavour = 'b'; break;
		case 't': threads = number(optarg, 1); break;
		case 'n': requests = number(optarg, 1); break;
		case 's': size = (size_t)number(optarg, HEAD); break;
		case '1': once = 1; break;
		case 'e': early = 1; break;
		case 'i': by_line = 1; break;
		default: misused("no such option");
		}
	word = argv + optind;
	argc -= optind;
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && !strcmp(word[0], "client")) {
		target = parse(word[1], word[2]);
		run_clients(flavour);
		return 0;
	}
	if (argc == 5 && !strcmp(word[0], "middle"))
		upstream = parse(word[3], word[4]);
	else if (argc != 3 || strcmp(word[0], "server") != 0)
		misused("which role?");
	if (argc == 5 && early && model == ONE && connect_up(0) < 0)
		die("connect to the server");
	in = listen_on(parse(word[1], word[2]));
	if (model == FORK || model == THREAD || model == HAND)
		run_apart(in);
	run_events(in);
	return 0;
}
