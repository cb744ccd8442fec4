/* SPDX-License-Identifier: ISC */
/*
 * sides.c - calls whose memory is not the same at the entry and at the return
 *
 * usage: sides calls        memory that the kernel reads and writes, each call once
 *        sides hidden FIFO  open FIFO, whose path a thread overwrites meanwhile, and a path
 *                           that is not in memory at the entry
 *        sides execs N      execute /bin/true with N variables in each way
 *        sides words        execute /bin/true with long words
 * It works in the current directory, and makes the call getpriority before the first call of
 * interest.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include "prog.h"

#ifndef SYS_clock_nanosleep /* musl on 32 bits, where struct timespec has 64 bits */
#define SYS_clock_nanosleep SYS_clock_nanosleep_time64
#endif

#define CALL(name, ...) syscall(SYS_##name, __VA_ARGS__)

static char path[4096];
static char **environment;

/* Return the text in a page that is not in memory. */
static char *absent(const char *text)
{
	int fd = open("page", O_RDWR | O_CREAT, 0600);
	char *p;

	if (fd < 0 || write(fd, text, strlen(text) + 1) < 0)
		exit(111);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	unlink("page");
	return p == MAP_FAILED ? NULL : p;
}

static void nothing(int n)
{
	(void)n;
}

static void calls(void)
{
	struct timespec ts = { 7, 7 };
	struct itimerval soon = { .it_value.tv_usec = 20000 };
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "./name" }, peer;
	struct epoll_event events[2] = { 0 };
	struct pollfd polls[3];
	struct timeval tv = { 0, 3000 };
	long long in = 3, out = 4;
	int p[2], q[2], s[2], fd = open("file", O_RDWR | O_CREAT, 0600), word = 1, value = 0;
	struct iovec iov = { path, 2 };
	struct msghdr m = { .msg_name = &peer, .msg_namelen = sizeof(peer), .msg_iov = &iov,
			    .msg_iovlen = 1 };
	long offset = 3;
	socklen_t size = sizeof(peer);
	struct flock lock = { .l_type = F_WRLCK, .l_start = 1, .l_len = 2 };
	fd_set r, w;

	if (fd < 0 || pipe(p) < 0 || pipe(q) < 0 || write(p[1], "x", 1) != 1 ||
	    write(fd, "abcdefghijklmnop", 16) != 16 || socketpair(AF_UNIX, SOCK_DGRAM, 0, s) < 0)
		exit(111);
	signal(SIGALRM, nothing);
	polls[0] = (struct pollfd){ p[0], POLLIN, 0 };
	polls[1] = (struct pollfd){ q[0], POLLIN, 0 };
	polls[2] = (struct pollfd){ q[1], POLLIN | POLLOUT, 0 };
	CALL(getpriority, 0, 0);
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(p[0], &r);
	FD_SET(q[0], &r);
	FD_SET(q[1], &w);
	CALL(pselect6, 20, &r, &w, NULL, &ts, NULL);
	FD_SET(q[0], &r);
	FD_CLR(p[0], &r);
	ts = (struct timespec){ 0, 3000 };
	CALL(pselect6, 20, &r, NULL, NULL, &ts, NULL);
#ifdef SYS_select
	FD_SET(q[0], &r);
	CALL(select, 20, &r, NULL, NULL, &tv);
	CALL(poll, polls, 3, 1000);
	CALL(poll, polls + 1, 1, 1);
#endif
	ts = (struct timespec){ 7, 7 };
	CALL(ppoll, polls, 3, &ts, NULL, 8);
	CALL(ppoll, polls + 1, 1, &tv, NULL, 8);
	CALL(nanosleep, &(struct timespec){ 0, 9 }, &ts);
	ts = (struct timespec){ 0, 9 };
	CALL(nanosleep, &ts, &ts);
	setitimer(ITIMER_REAL, &soon, NULL);
	ts = (struct timespec){ 9, 9 };
	CALL(nanosleep, &ts, &ts);
	setitimer(ITIMER_REAL, &soon, NULL);
	ts = (struct timespec){ 9, 9 };
	CALL(clock_nanosleep, CLOCK_REALTIME, 0, &ts, &ts);
	CALL(sendfile, p[1], fd, &offset, 5);
	CALL(sendfile, p[1], fd, absent("\3"), 5);
	CALL(splice, fd, &in, p[1], NULL, 2, 0);
	CALL(sendfile, 99, fd, &offset, 5);
	CALL(bind, s[0], &name, sizeof(sa_family_t) + 7);
	unlink("name");
	CALL(getsockname, s[0], &peer, &size);
	CALL(getsockname, s[0], &peer, &size);
	size = 5;
	CALL(getsockname, 99, &peer, &size);
	CALL(sendto, s[0], "hey", 3, 0, NULL, 0);
	size = 100;
	CALL(recvfrom, s[1], path, 2, 0, &peer, &size);
	CALL(recvfrom, s[1], path, 2, MSG_DONTWAIT, &peer, &size);
	CALL(sendto, s[0], "hey", 3, 0, NULL, 0);
	CALL(recvmsg, s[1], &m, 0);
	size = 40;
	CALL(getsockopt, s[0], SOL_SOCKET, SO_TYPE, &value, &size);
	out = CALL(epoll_create1, 0);
	CALL(epoll_pwait, out, events, 2, 1, NULL, 8);
	ts = (struct timespec){ 0, 9 };
	CALL(futex, &word, 0, 1, &ts, NULL, 0);
	CALL(fcntl, fd, F_SETLK, &lock);
	CALL(fcntl, fd, F_GETLK, &lock);
}

static void *overwrite(void *fifo)
{
	int fd;

	/* the open waits until the FIFO has a writer */
	usleep(50000);
	strcpy(path, "/nowhere/else");
	fd = open(fifo, O_WRONLY);
	return (void *)(long)fd;
}

static void hidden(const char *fifo)
{
	static char other[4096];
	pthread_t t;

	strcpy(path, fifo);
	strcpy(other, fifo);
	CALL(getpriority, 0, 0);
	if (pthread_create(&t, NULL, overwrite, other))
		exit(111);
	CALL(openat, AT_FDCWD, path, O_RDONLY);
	pthread_join(t, NULL);
	CALL(openat, AT_FDCWD, absent("/nowhere/absent"), O_RDONLY);
	CALL(openat, AT_FDCWD, (char *)8, O_RDONLY);
}

static char *thread_words[] = { (char *)"thread", (char *)"word", NULL };

static void *exec_thread(void *file)
{
	execve(file, thread_words, environment);
	_exit(1);
}

/* Execute /bin/true in one of the ways, in a child. Return 0 if there are no more. */
static int way(int i)
{
	static char *one[] = { (char *)"one", (char *)"", NULL };
	char *empty[] = { NULL }; /* in memory: the kernel adds a word to a list that is empty */
	char *words[] = { NULL, (char *)"x", NULL };
	pid_t pid = i < 11 ? fork() : 0;
	pthread_t t;
	int fd;

	if (i == 11)
		return 0;
	if (pid)
		return waitpid(pid, NULL, 0) == pid;
	dup2(open("/dev/null", O_WRONLY), 2); /* that of busybox complains of its name */
	fd = open(i == 4 || i == 5 ? "/bin" : "/bin/true", O_RDONLY);
	words[0] = i == 2 || i == 5 ? absent("absent") : one[0];
	switch (i) {
	case 0: CALL(execve, "/bin/true", one, environment); break;
	case 1: CALL(execve, absent("/bin/true"), one, environment); break;
	case 2: CALL(execve, "/bin/true", words, environment); break;
	case 3: CALL(execveat, fd, "", one, environment, AT_EMPTY_PATH); break;
	case 4: CALL(execveat, fd, absent("true"), one, environment, 0); break;
	case 5: CALL(execveat, fd, "true", words, environment, 0); break;
	case 6: CALL(execveat, fd, absent(""), one, environment, AT_EMPTY_PATH); break;
	case 7:
	case 8:
		pthread_create(&t, NULL, exec_thread, i == 7 ? (char *)"/bin/true" :
			       absent("/bin/true"));
		pause();
		break;
	case 9: CALL(execve, "/bin/true", empty, environment); break;
	case 10:
		CALL(execve, absent("/nowhere/program"), one, environment);
	}
	_exit(1);
}

static void execs(int n)
{
	environment = calloc((size_t)n + 1, sizeof(*environment));
	for (int i = 0; i < n; i++) {
		char text[32];

		sprintf(text, "V%d=value", i);
		environment[i] = strdup(text);
	}
	CALL(getpriority, 0, 0);
	for (int i = 0; way(i); i++)
		;
}

/* Execute /bin/true with these words, up to NULL. */
static void with(char **words)
{
	pid_t pid = fork();

	if (!pid) {
		CALL(execve, "/bin/true", words, NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void words(void)
{
	static char z[20001], q[4001], *few[34] = { (char *)"true" };
	char *list[] = { (char *)"true", z, (char *)"last", NULL };
	char *many[] = { (char *)"true", q, q, q, q, q, (char *)"end", NULL };

	CALL(getpriority, 0, 0);
	memset(z, 'z', 20000);
	for (int n = 100; n <= 20000; n = n < 4000 ? n + 1300 : 5 * n) {
		z[n] = '\0';
		with(list);
		z[n] = 'z';
	}
	memset(q, 'q', 4000);
	for (int n = 700; n < 4000; n += 700) {
		q[n] = '\0';
		with(many);
		q[n] = 'q';
	}
	for (int n = 1; n < 33; n++) {
		few[n] = (char *)"w";
		if (n == 3 || n == 7 || n == 8 || n >= 31)
			with(few);
	}
}

int main(int argc, char **argv)
{
	const char *act = argc > 1 ? argv[1] : "";

	alarm(60);
	if (!strcmp(act, "calls"))
		calls();
	else if (!strcmp(act, "hidden") && argc > 2)
		hidden(argv[2]);
	else if (!strcmp(act, "execs") && argc > 2)
		execs(atoi(argv[2]));
	else if (!strcmp(act, "words"))
		words();
	else
		return 1;
	return 0;
}
