/* SPDX-License-Identifier: ISC */
/*
 * delays - programs that are slow for one known reason, or for four
 *
 *	delays database FILE N      append N records to FILE, and fdatasync after each
 *	delays convoy THREADS N     THREADS threads take one mutex N times each, and sleep 1 ms with
 *	                            it and 1 ms without it
 *	delays spin MS              compute until it has run for MS milliseconds
 *	delays server MS            print "ready PORT": a DNS server on 127.0.0.1 that answers each
 *	                            query after MS milliseconds
 *	delays lookup PORT N        ask it N times for a name
 *	delays mixed FILE           sleep 100 ms, read a pipe whose writer takes 200 ms, append to
 *	                            FILE and sync it, and compute for 100 ms beside a program that
 *	                            does the same on the same CPU
 * Each prints "TID KIND TIMES NANOSECONDS" for each of its tasks and each kind of wait: how often
 * and how long it was in the calls that wait, by its own clock.
 * Exit: 0 done, 100 misused, 111 refused.
 */
#include <inttypes.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "prog.h"

/* How often and how long the task has waited on a kind. */
struct sum {
	long times;
	int64_t ns;
};

static int64_t clock_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t now(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "delays: unable to %s: %s\n", what, strerror(errno));
	exit(111);
}

static void add(struct sum *s, int64_t start)
{
	s->times++;
	s->ns += now() - start;
}

static void tell(const char *kind, const struct sum *s)
{
	printf("%ld %s %ld %" PRId64 "\n", syscall(SYS_gettid), kind, s->times, s->ns);
}

static void pause_for(int64_t ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void spin(int64_t ms)
{
	while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < ms * 1000000)
		;
}

/* ---- a database that waits for its disk ------------------------------------ */

static void append(int fd, long n, struct sum *s)
{
	static const char record[4096] = "record";

	for (; n; n--) {
		int64_t start;

		must(write(fd, record, sizeof(record)) == sizeof(record), "write");
		start = now();
		must(!fdatasync(fd), "sync");
		add(s, start);
	}
}

static void database(const char *file, long n)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	struct sum s = { 0 };

	must(fd >= 0, "open the file");
	append(fd, n, &s);
	tell("disk", &s);
}

/* ---- a lock convoy --------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun;
static long turns;

static void *take_turns(void *number)
{
	struct sum lock = { 0 }, sleep = { 0 };
	char comm[16];

	snprintf(comm, sizeof(comm), "convoy%ld", (long)(intptr_t)number);
	prctl(PR_SET_NAME, comm);
	pthread_barrier_wait(&begun);
	for (long n = turns; n; n--) {
		int64_t start = now();

		pthread_mutex_lock(&mutex);
		add(&lock, start);
		start = now();
		pause_for(1);
		add(&sleep, start);
		pthread_mutex_unlock(&mutex);
		start = now();
		pause_for(1);
		add(&sleep, start);
	}
	pthread_mutex_lock(&mutex); /* one line after the other */
	tell("futex", &lock);
	tell("sleep", &sleep);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void convoy(long threads, long n)
{
	pthread_t *all = calloc((size_t)threads, sizeof(*all));

	turns = n;
	must(all && !pthread_barrier_init(&begun, NULL, (unsigned)threads), "get memory");
	for (long i = 0; i < threads; i++)
		must(!pthread_create(&all[i], NULL, take_turns, (void *)(intptr_t)i),
			"make a thread");
	for (long i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
}

/* ---- a slow DNS server ------------------------------------------------------ */

static const struct sockaddr_in loopback = { .sin_family = AF_INET };

static void server(long ms)
{
	struct sockaddr_in a = loopback, from;
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* the answer: a pointer to the name, A, IN, one minute, 192.0.2.1 */
	static const unsigned char answer[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0,
		2, 1 };
	unsigned char text[512];

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(fd >= 0 && !bind(fd, (struct sockaddr *)&a, n) &&
		!getsockname(fd, (struct sockaddr *)&a, &n), "listen");
	printf("ready %d\n", ntohs(a.sin_port));
	fflush(stdout);
	for (;;) {
		ssize_t size = recvfrom(fd, text, sizeof(text) - sizeof(answer), 0,
			(struct sockaddr *)&from, &n);

		must(size >= 12, "receive");
		pause_for(ms);
		text[2] |= 0x80; /* an answer */
		text[7] = 1;     /* of one record */
		memcpy(text + size, answer, sizeof(answer));
		must(sendto(fd, text, (size_t)size + sizeof(answer), 0, (struct sockaddr *)&from,
			n) > 0, "answer");
	}
}

static void lookup(const char *port, long n)
{
	/* number 1, recursion desired, one question: example., A, IN */
	static const char query[] = "\0\1\1\0\0\1\0\0\0\0\0\0\7example\0\0\1\0\1";
	struct sockaddr_in a = loopback;
	struct sum s = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char text[512];

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons((uint16_t)atoi(port));
	must(fd >= 0 && !connect(fd, (struct sockaddr *)&a, sizeof(a)), "connect");
	for (; n; n--) {
		int64_t start;

		must(send(fd, query, sizeof(query) - 1, 0) > 0, "ask");
		start = now();
		must(recv(fd, text, sizeof(text), 0) > 12, "receive");
		add(&s, start);
	}
	tell("socket", &s);
}

/* ---- four reasons ------------------------------------------------------------ */

static void mixed(const char *file)
{
	struct sum sleep = { 0 }, tube = { 0 }, disk = { 0 }, child = { 0 };
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644), pair[2];
	int64_t start = now();
	cpu_set_t one;
	pid_t writer, rival;
	char c;

	pause_for(100);
	add(&sleep, start);
	must(fd >= 0 && !pipe2(pair, O_CLOEXEC) && (writer = fork()) >= 0, "start");
	if (!writer) {
		prctl(PR_SET_NAME, "writer");
		pause_for(200);
		_exit(write(pair[1], "", 1) != 1);
	}
	start = now();
	must(read(pair[0], &c, 1) == 1, "read");
	add(&tube, start);
	append(fd, 20, &disk);
	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	must(!sched_setaffinity(0, sizeof(one), &one) && (rival = fork()) >= 0, "start");
	if (!rival)
		prctl(PR_SET_NAME, "rival");
	spin(100);
	if (!rival)
		_exit(0);
	start = now();
	waitpid(rival, NULL, 0);
	waitpid(writer, NULL, 0);
	add(&child, start);
	tell("sleep", &sleep);
	tell("pipe", &tube);
	tell("disk", &disk);
	tell("child", &child);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "", *second = argc > 3 ? argv[3] : "0";

	if (!strcmp(what, "database") && argc == 4)
		database(argv[2], atol(second));
	else if (!strcmp(what, "convoy") && argc == 4)
		convoy(atol(argv[2]), atol(second));
	else if (!strcmp(what, "spin") && argc == 3)
		spin(atol(argv[2]));
	else if (!strcmp(what, "server") && argc == 3)
		server(atol(argv[2]));
	else if (!strcmp(what, "lookup") && argc == 4)
		lookup(argv[2], atol(second));
	else if (!strcmp(what, "mixed") && argc == 3)
		mixed(argv[2]);
	else
		return 100;
	return 0;
}
