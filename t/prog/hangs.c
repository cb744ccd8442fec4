/* SPDX-License-Identifier: ISC */
/*
 * hangs - hang in a known way, and print who waits for whom
 *
 * hangs MODE prints a line "TID RELATION TID" for each wait, with "TID RELATION" for what is no
 * task, and "deadlock TID..." with the tids in ascending order. Then it waits for the end of its
 * standard input, and kills its processes. hangs list prints the modes.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void fn(void);

static struct shared {
	pthread_mutex_t mutex[2];
	pthread_barrier_t barrier;
	volatile int step; /* of processes that take turns */
	volatile pid_t tid[8];
	uint32_t word;
} * all;
static pid_t made[16]; /* all processes */
static int nmade;
static int p[2], q[2]; /* pipes and sockets */
static pid_t a, b, c, d;

static void must(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

/* Wait until another process has come so far. */
/* Tell until, in whatever process, that one more step is done. */
static void reached(void)
{
	__atomic_add_fetch(&all->step, 1, __ATOMIC_SEQ_CST);
}

static void until(int step)
{
	while (all->step < step)
		usleep(1000);
}

static void keep(int one, int two)
{
	for (int fd = 0; fd < 64; fd++)
		if (fd != one && fd != two)
			close(fd);
}

static pid_t start(fn *f)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		f();
		for (;;)
			pause();
	}
	must(pid > 0, "fork");
	made[nmade++] = pid;
	return pid;
}

static void nap(void)
{
	sleep(100000);
}

static void edge(pid_t from, const char *relation, pid_t to)
{
	printf(to ? "%d %s %d\n" : "%d %s\n", from, relation, to);
}

static void dead(pid_t x, pid_t y, pid_t z)
{
	pid_t v[3] = {x, y, z}, t;

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			if (v[k] > v[k + 1]) {
				t = v[k];
				v[k] = v[k + 1];
				v[k + 1] = t;
			}
	printf("deadlock");
	for (int i = 0; i < 3; i++)
		if (v[i])
			printf(" %d", v[i]);
	printf("\n");
}

static char byte[1 << 20];

static void read_p0(void)
{
	keep(p[0], -1);
	if (read(p[0], byte, 4096))
		pause();
}
static void fill_p1(void)
{
	keep(p[1], -1);
	for (;;)
		if (write(p[1], byte, sizeof(byte)) < 0)
			pause();
}
static void hold_p0(void)
{
	keep(p[0], -1);
	pause();
}
static void hold_p1(void)
{
	keep(p[1], -1);
	nap();
}

/* A waits for B, which sleeps */
static void reads_from(const char *relation)
{
	b = start(hold_p1);
	a = start(read_p0);
	edge(a, relation, b);
	edge(b, "clock", 0);
}

static void writes_to(const char *relation)
{
	b = start(hold_p0);
	a = start(fill_p1);
	edge(a, relation, b);
	edge(b, "signal", 0);
}

/* ---- pipes and FIFOs --------------------------------------------------------------------- */

static void pipe_empty(void)
{
	must(!pipe(p), "pipe");
	reads_from("writer");
}
static void pipe_full(void)
{
	must(!pipe(p), "pipe");
	writes_to("reader");
}

static void read_own(void)
{
	keep(p[0], p[1]);
	if (read(p[0], byte, 1))
		pause();
}
static void pipe_own(void)
{
	must(!pipe(p), "pipe");
	a = start(read_own);
	edge(a, "writer", a);
	dead(a, 0, 0);
}

static void splice_p0(void)
{
	keep(p[0], q[1]);
	splice(p[0], NULL, q[1], NULL, 100, 0);
}
static void pipe_splice(void)
{
	must(!pipe(p) && !pipe(q), "pipe");
	b = start(hold_p1);
	a = start(splice_p0);
	edge(a, "writer", b);
	edge(b, "clock", 0);
}

static void fifo_write(void)
{
	keep(-1, -1);
	p[1] = open("fifo", O_WRONLY);
	nap();
}
static void fifo_read(void)
{
	keep(-1, -1);
	p[0] = open("fifo", O_RDONLY);
	if (read(p[0], byte, 1))
		pause();
}
static void fifo_empty(void)
{
	must(!mkfifo("fifo", 0600), "mkfifo");
	b = start(fifo_write);
	a = start(fifo_read);
	edge(a, "writer", b);
	edge(b, "clock", 0);
}
static void fifo_alone(void)
{
	must(!mkfifo("fifo", 0600), "mkfifo");
	a = start(fifo_read);
	edge(a, "not known", 0);
}

/* Each of three reads from the next one. */
static int ring[3][2];
static int self;
static void ring_read(void)
{
	keep(ring[self][0], ring[(self + 2) % 3][1]);
	if (read(ring[self][0], byte, 1))
		pause();
}
static void pipe_ring(void)
{
	pid_t v[3];

	for (int i = 0; i < 3; i++)
		must(!pipe(ring[i]), "pipe");
	for (self = 0; self < 3; self++)
		v[self] = start(ring_read);
	for (int i = 0; i < 3; i++)
		edge(v[i], "writer", v[(i + 1) % 3]);
	dead(v[0], v[1], v[2]);
}

/* ---- sockets ----------------------------------------------------------------------------- */

static void socketpair_empty(void)
{
	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, p), "socketpair");
	reads_from("writer");
}
static void socketpair_full(void)
{
	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, p), "socketpair");
	writes_to("reader");
}

static int listener;
static struct sockaddr_storage address;
static socklen_t length;

static void listens(int family, int type)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "socket"};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};

	length = family == AF_UNIX ? sizeof(un) : family == AF_INET ? sizeof(in) : sizeof(in6);
	memcpy(&address,
	       family == AF_UNIX   ? (void *)&un
	       : family == AF_INET ? (void *)&in
				   : &in6,
	       length);
	listener = socket(family, type, 0);
	must(listener >= 0 && !bind(listener, (void *)&address, length), "bind");
	must(type == SOCK_DGRAM || !listen(listener, 0), "listen");
	getsockname(listener, (void *)&address, &length);
}

/* Connect p[0] to the listener; p[1] is the other end if it is accepted. */
static void connects(int family, int accepts)
{
	listens(family, SOCK_STREAM);
	p[0] = socket(family, SOCK_STREAM, 0);
	must(!connect(p[0], (void *)&address, length), "connect");
	if (accepts)
		p[1] = accept(listener, NULL, NULL);
}

static void hold_listener(void)
{
	keep(listener, -1);
	nap();
}
static void accept_one(void)
{
	keep(listener, -1);
	accept(listener, NULL, NULL);
}

static void unix_empty(void)
{
	connects(AF_UNIX, 1);
	reads_from("writer");
}
static void tcp_empty(void)
{
	connects(AF_INET, 1);
	reads_from("writer");
}
static void tcp6_empty(void)
{
	connects(AF_INET6, 1);
	reads_from("writer");
}
static void tcp_full(void)
{
	connects(AF_INET, 1);
	writes_to("reader");
}

static void not_accepted(int family)
{
	connects(family, 0);
	b = start(hold_listener);
	a = start(read_p0);
	edge(a, "acceptor", b);
	edge(b, "clock", 0);
}
static void unix_waiting(void)
{
	not_accepted(AF_UNIX);
}
static void tcp_waiting(void)
{
	not_accepted(AF_INET);
}

static void connect_again(void)
{
	keep(p[0], p[1]);
	connect(p[1], (void *)&address, length);
}
static void unix_backlog(void)
{
	connects(AF_UNIX, 0);
	p[1] = socket(AF_UNIX, SOCK_STREAM, 0);
	b = start(hold_listener);
	a = start(connect_again);
	edge(a, "acceptor", b);
	edge(b, "clock", 0);
}

static void send_many(void)
{
	keep(p[0], -1);
	connect(p[0], (void *)&address, length);
	for (;;)
		if (send(p[0], byte, 100, 0) < 0)
			pause();
}
static void unix_datagrams(void)
{
	listens(AF_UNIX, SOCK_DGRAM);
	p[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
	b = start(hold_listener);
	a = start(send_many);
	edge(a, "reader", b);
	edge(b, "clock", 0);
}

static void tcp_accept(void)
{
	listens(AF_INET, SOCK_STREAM);
	a = start(accept_one);
	edge(a, "network", 0);
}
static void unix_accept(void)
{
	listens(AF_UNIX, SOCK_STREAM);
	a = start(accept_one);
	edge(a, "client", 0);
}

/* ---- locks of files ------------------------------------------------------------------------ */

static int command = F_SETLKW, kind = F_WRLCK;

static int take(const char *name)
{
	struct flock l = {.l_type = (short)kind, .l_len = 10};
	int fd = open(name, O_RDWR | O_CREAT, 0600);

	if (command < 0)
		flock(fd, kind == F_WRLCK ? LOCK_EX : LOCK_SH);
	else
		fcntl(fd, command, &l);
	reached();
	return fd;
}
static void lock_first(void)
{
	keep(-1, -1);
	take("lock");
	nap();
}
static void lock_then(void)
{
	keep(-1, -1);
	until(1);
	take("lock");
}

static void lock_of(int how)
{
	command = how;
	b = start(lock_first);
	a = start(lock_then);
	edge(a, "holder", b);
	edge(b, "clock", 0);
}
static void lock_posix(void)
{
	lock_of(F_SETLKW);
}
static void lock_ofd(void)
{
	lock_of(F_OFD_SETLKW);
}
static void lock_flock(void)
{
	lock_of(-1);
}

static void lock_exclusive(void)
{
	keep(-1, -1);
	until(2);
	kind = F_WRLCK;
	take("lock");
}
static void lock_readers(void)
{
	kind = F_RDLCK;
	b = start(lock_first);
	c = start(lock_first);
	a = start(lock_exclusive);
	edge(a, "holder", b);
	edge(a, "holder", c);
	edge(b, "clock", 0);
	edge(c, "clock", 0);
}

/* The process that took a flock has ended; its child has the description. */
static void lock_taker(void)
{
	int fd;

	keep(-1, -1);
	fd = take("lock");
	if (!fork()) {
		all->tid[0] = getpid();
		prctl(PR_SET_PDEATHSIG, 0);
		reached();
		for (;;)
			sleep(100000);
	}
	(void)fd;
	until(2);
	_exit(0);
}
static void lock_inherited(void)
{
	command = -1;
	b = start(lock_taker);
	waitpid(b, NULL, 0);
	until(2);
	made[nmade++] = all->tid[0];
	a = start(lock_then);
	edge(a, "holder", all->tid[0]);
	edge(all->tid[0], "clock", 0);
}

static void lease_hold(void)
{
	int fd;
	keep(-1, -1);
	signal(SIGIO, SIG_IGN);
	fd = open("lock", O_RDONLY | O_CREAT, 0600);
	fcntl(fd, F_SETLEASE, F_RDLCK);
	reached();
	for (;;)
		nap();
}
static void lease_break(void)
{
	keep(-1, -1);
	until(1);
	open("lock", O_WRONLY);
}
static void lock_lease(void)
{
	b = start(lease_hold);
	a = start(lease_break);
	edge(a, "holder", b);
	edge(b, "clock", 0);
}

static void lock_ab(void)
{
	keep(-1, -1);
	take("one");
	until(2);
	take("two");
}
static void lock_ba(void)
{
	keep(-1, -1);
	take("two");
	until(2);
	take("one");
}
static void lock_both(void)
{
	command = -1;
	a = start(lock_ab);
	b = start(lock_ba);
	edge(a, "holder", b);
	edge(b, "holder", a);
	dead(a, b, 0);
}

static void lock_and_read(void)
{
	keep(p[0], -1);
	take("lock");
	if (read(p[0], byte, 1))
		pause();
}
static void lock_before_write(void)
{
	keep(p[1], -1);
	until(1);
	take("lock");
	if (write(p[1], byte, 1))
		pause();
}
static void lock_and_pipe(void)
{
	must(!pipe(p), "pipe");
	a = start(lock_and_read);
	b = start(lock_before_write);
	edge(a, "writer", b);
	edge(b, "holder", a);
	dead(a, b, 0);
}

/* ---- futexes --------------------------------------------------------------------------------- */

static void mutexes(int shared, int robust, int protocol)
{
	pthread_mutexattr_t m;
	pthread_barrierattr_t s;

	pthread_mutexattr_init(&m);
	pthread_barrierattr_init(&s);
	pthread_mutexattr_setpshared(&m, shared);
	pthread_mutexattr_setrobust(&m, robust);
	pthread_mutexattr_setprotocol(&m, protocol);
	pthread_barrierattr_setpshared(&s, PTHREAD_PROCESS_SHARED);
	for (int i = 0; i < 2; i++)
		pthread_mutex_init(&all->mutex[i], &m);
	pthread_barrier_init(&all->barrier, &s, 2);
}

static void *thread_second(void *arg)
{
	(void)arg;
	all->tid[1] = gettid();
	until(1);
	reached();
	pthread_mutex_lock(&all->mutex[0]);
	return NULL;
}
static void owner_sleeps(void)
{
	pthread_t t;

	keep(-1, -1);
	pthread_mutex_lock(&all->mutex[0]);
	pthread_create(&t, NULL, thread_second, NULL);
	reached();
	nap();
}
static void mutex_of(int robust, int protocol)
{
	mutexes(PTHREAD_PROCESS_PRIVATE, robust, protocol);
	a = start(owner_sleeps);
	until(2);
	edge(all->tid[1], "owner", a);
	edge(a, "clock", 0);
}
static void mutex_plain(void)
{
	mutex_of(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
}
static void mutex_pi(void)
{
	mutex_of(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
}

static void shared_first(void)
{
	keep(-1, -1);
	pthread_mutex_lock(&all->mutex[0]);
	reached();
	nap();
}
static void shared_second(void)
{
	keep(-1, -1);
	until(1);
	pthread_mutex_lock(&all->mutex[0]);
}
static void shared_of(int robust, int protocol)
{
	mutexes(PTHREAD_PROCESS_SHARED, robust, protocol);
	b = start(shared_first);
	a = start(shared_second);
	edge(a, "owner", b);
	edge(b, "clock", 0);
}
static void mutex_robust(void)
{
	shared_of(PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
}
static void mutex_pi_shared(void)
{
	shared_of(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
}
static void mutex_shared(void)
{
	shared_of(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
}

static void *thread_ab(void *arg)
{
	int first = arg != NULL;

	all->tid[first] = gettid();
	pthread_mutex_lock(&all->mutex[first]);
	pthread_barrier_wait(&all->barrier);
	pthread_mutex_lock(&all->mutex[!first]);
	return NULL;
}
static void two_threads(void)
{
	pthread_t t[2];

	keep(-1, -1);
	pthread_create(&t[0], NULL, thread_ab, NULL);
	pthread_create(&t[1], NULL, thread_ab, all);
	while (!all->tid[0] || !all->tid[1])
		usleep(1000);
	reached();
	pthread_join(t[0], NULL);
}
static void mutex_both(void)
{
	mutexes(PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
	a = start(two_threads);
	until(1);
	edge(a, "thread", all->tid[0]);
	edge(all->tid[0], "owner", all->tid[1]);
	edge(all->tid[1], "owner", all->tid[0]);
	dead(all->tid[0], all->tid[1], 0);
}

/* A word that nobody changes: only those that have it can wake the thread. */
static void futex_alone(void)
{
	static uint32_t word;
	keep(-1, -1);
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}
static void futex_nobody(void)
{
	a = start(futex_alone);
	edge(a, "waker", a);
	dead(a, 0, 0);
}
static void futex_timed(void)
{
	static uint32_t word;
	struct timespec t = {100000, 0};
	keep(-1, -1);
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
}
static void futex_limit(void)
{
	a = start(futex_timed);
	edge(a, "clock", 0);
	edge(a, "waker", a);
}
static void futex_two(void)
{
	keep(-1, -1);
	syscall(SYS_futex, &all->word, FUTEX_WAIT, 0, NULL, NULL, 0);
}
/* all processes of this program map the word, and the first one waits for its input */
static void futex_shared(void)
{
	a = start(futex_two);
	edge(a, "waker", a);
	edge(a, "waker", getpid());
}

/* ---- children ---------------------------------------------------------------------------------
 */

static void wait_any(void)
{
	keep(-1, -1);
	all->tid[0] = start(nap);
	reached();
	wait(NULL);
}
static void child_any(void)
{
	a = start(wait_any);
	until(1);
	edge(a, "child", all->tid[0]);
	edge(all->tid[0], "clock", 0);
}
static void wait_one(void)
{
	siginfo_t i;
	keep(-1, -1);
	all->tid[0] = start(nap);
	all->tid[1] = start(nap);
	reached();
	waitid(P_PID, (id_t)all->tid[1], &i, WEXITED);
}
static void child_one(void)
{
	a = start(wait_one);
	until(1);
	edge(a, "child", all->tid[1]);
	edge(all->tid[1], "clock", 0);
}
static void wait_group(void)
{
	keep(-1, -1);
	all->tid[0] = start(nap);
	all->tid[1] = start(nap);
	setpgid(all->tid[1], all->tid[1]);
	reached();
	waitpid(-all->tid[1], NULL, 0);
}
static void child_group(void)
{
	a = start(wait_group);
	until(1);
	edge(a, "child", all->tid[1]);
	edge(all->tid[1], "clock", 0);
}
static void wait_vfork(void)
{
	keep(-1, -1);
	if (!vfork()) {
		all->tid[0] = getpid();
		reached();
		for (;;)
			sleep(100000);
	}
}
static void child_vfork(void)
{
	a = start(wait_vfork);
	until(1);
	made[nmade++] = all->tid[0];
	edge(a, "child", all->tid[0]);
	edge(all->tid[0], "clock", 0);
}
static void stops(void)
{
	raise(SIGSTOP); /* it will be killed with its parent from here on */
}
static void wait_stopped(void)
{
	keep(-1, -1);
	all->tid[0] = start(stops);
	waitpid(all->tid[0], NULL, WUNTRACED);
	reached();
	wait(NULL);
}
static void child_stopped(void)
{
	a = start(wait_stopped);
	until(1);
	edge(a, "child", all->tid[0]);
	edge(all->tid[0], "not known", 0);
}
static void continued(void)
{
	a = start(nap);
	usleep(100000); /* it sleeps */
	kill(a, SIGSTOP);
	waitpid(a, NULL, WUNTRACED);
	kill(a, SIGCONT);
	edge(a, "not known", 0);
}
static void exits(void)
{
	_exit(0);
}
static void forgets(void)
{
	keep(-1, -1);
	all->tid[0] = start(exits);
	reached();
	nap();
}
static void zombie(void)
{
	a = start(forgets);
	until(1);
	edge(all->tid[0], "parent", a);
	edge(a, "clock", 0);
}
static void traced(void)
{
	reached();
	nap();
}
static void traces(void)
{
	int s;
	keep(-1, -1);
	all->tid[0] = start(traced);
	until(1);
	ptrace(PTRACE_ATTACH, all->tid[0], 0, 0);
	waitpid(all->tid[0], &s, 0);
	reached();
	nap();
}
static void tracer(void)
{
	a = start(traces);
	until(2);
	edge(all->tid[0], "tracer", a);
	edge(a, "clock", 0);
}
static void process_fd(void)
{
	struct pollfd f = {.events = POLLIN};
	keep(-1, -1);
	f.fd = (int)syscall(SYS_pidfd_open, b, 0);
	poll(&f, 1, -1);
}
static void pidfd(void)
{
	b = start(nap);
	a = start(process_fd);
	edge(a, "process", b);
	edge(b, "clock", 0);
}

/* ---- poll, and files of the kernel -------------------------------------------------------------
 */

static void poll_two(void)
{
	struct pollfd f[2] = {{p[0], POLLIN, 0}, {q[0], POLLIN, 0}};
	keep(p[0], q[0]);
	poll(f, 2, -1);
}
static void hold_q1(void)
{
	keep(q[1], -1);
	nap();
}
static void poll_both(void)
{
	must(!pipe(p) && !socketpair(AF_UNIX, SOCK_DGRAM, 0, q), "pipe");
	b = start(hold_p1);
	c = start(hold_q1);
	a = start(poll_two);
	edge(a, "writer", b);
	edge(a, "writer", c);
	edge(b, "clock", 0);
	edge(c, "clock", 0);
}
static void poll_some_ms(void)
{
	struct pollfd f = {p[0], POLLIN, 0};
	keep(p[0], -1);
	poll(&f, 1, 100000000);
}
static void poll_limit(void)
{
	must(!pipe(p), "pipe");
	b = start(hold_p1);
	a = start(poll_some_ms);
	edge(a, "clock", 0);
	edge(a, "writer", b);
	edge(b, "clock", 0);
}
static void select_one(void)
{
	fd_set s;
	keep(p[0], -1);
	FD_ZERO(&s);
	FD_SET(p[0], &s);
	select(p[0] + 1, &s, NULL, NULL, NULL);
}
static void selects(void)
{
	must(!pipe(p), "pipe");
	b = start(hold_p1);
	a = start(select_one);
	edge(a, "writer", b);
	edge(b, "clock", 0);
}
static void epoll_one(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	int one, two;

	keep(p[0], -1);
	one = epoll_create1(0);
	two = epoll_create1(0);
	epoll_ctl(one, EPOLL_CTL_ADD, p[0], &e);
	epoll_ctl(two, EPOLL_CTL_ADD, one, &e);
	epoll_wait(two, &e, 1, -1);
}
static void epoll(void)
{
	must(!pipe(p), "pipe");
	b = start(hold_p1);
	a = start(epoll_one);
	edge(a, "writer", b);
	edge(b, "clock", 0);
}
static void event_fd(void)
{
	p[0] = p[1] = eventfd(0, 0);
	b = start(hold_p1);
	a = start(read_p0);
	edge(a, "writer", a);
	edge(a, "writer", b);
	edge(b, "clock", 0);
}
static void timer_fd(void)
{
	struct itimerspec t = {.it_value.tv_sec = 100000};

	p[0] = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(p[0], 0, &t, NULL);
	a = start(read_p0);
	edge(a, "clock", 0);
}
static void signal_fd(void)
{
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	p[0] = signalfd(-1, &s, 0);
	a = start(read_p0);
	edge(a, "signal", 0);
}
static void inotifies(void)
{
	p[0] = inotify_init();
	mkdir("watched", 0700);
	inotify_add_watch(p[0], "watched", IN_CREATE);
	a = start(read_p0);
	edge(a, "files", 0);
}
static void terminal(void)
{
	char name[64];

	p[1] = posix_openpt(O_RDWR | O_NOCTTY);
	must(!grantpt(p[1]) && !unlockpt(p[1]) && !ptsname_r(p[1], name, sizeof(name)), "pty");
	p[0] = open(name, O_RDWR | O_NOCTTY);
	b = start(hold_p1);
	a = start(read_p0);
	edge(a, "terminal", 0);
}
static void mq_hold(void)
{
	keep(-1, -1);
	mq_open("/tfs-hangs", O_WRONLY | O_CREAT, 0600, NULL);
	reached();
	nap();
}
static void mq_wait(void)
{
	mqd_t m;
	keep(-1, -1);
	until(1);
	m = mq_open("/tfs-hangs", O_RDONLY);
	mq_unlink("/tfs-hangs");
	mq_receive(m, byte, sizeof(byte), NULL);
}
static void message_queue(void)
{
	b = start(mq_hold);
	a = start(mq_wait);
	edge(a, "writer", b);
	edge(b, "clock", 0);
}
static int ipc;
static void sem_wait_for(void)
{
	struct sembuf o = {0, -1, 0};
	keep(-1, -1);
	semop(ipc, &o, 1);
}
static void semaphore(void)
{
	ipc = semget(IPC_PRIVATE, 1, 0600);
	a = start(sem_wait_for);
	edge(a, "not known", 0);
}
static void msg_wait(void)
{
	keep(-1, -1);
	msgrcv(ipc, byte, 100, 0, 0);
}
static void messages(void)
{
	ipc = msgget(IPC_PRIVATE, 0600);
	a = start(msg_wait);
	edge(a, "not known", 0);
}

/* A file system whose server answers only the first request. */
static void fuse_stat(void)
{
	struct stat s;
	keep(-1, -1);
	stat("mount/x", &s);
}
static void fuse_serve(void)
{
	struct fuse_in_header *h = (void *)byte;
	char text[128];
	struct {
		struct fuse_out_header h;
		struct fuse_init_out o;
	} answer = {{sizeof(answer), 0, 0}, {.major = 7, .minor = 31, .max_write = 4096}};
	int fd;

	keep(-1, -1);
	mkdir("mount", 0700);
	fd = open("/dev/fuse", O_RDWR);
	snprintf(text, sizeof(text), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (mount("hangs", "mount", "fuse", MS_NOSUID | MS_NODEV, text) ||
	    read(fd, byte, sizeof(byte)) < 0)
		_exit(1);
	answer.h.unique = h->unique;
	if (write(fd, &answer, sizeof(answer)) < 0)
		_exit(1);
	reached();
	nap();
}
static void fuse(void)
{
	b = start(fuse_serve);
	until(1);
	a = start(fuse_stat);
	edge(a, "server", b);
	edge(b, "clock", 0);
}

/* ---- chains -------------------------------------------------------------------------------------
 */

static void lock_then_sleep(void)
{
	keep(p[1], -1);
	until(2); /* the lock is held, and main can go on to the reader */
	take("lock");
}
static void wait_and_hold(void)
{
	all->tid[1] = start(lock_then_sleep);
	keep(-1, -1);
	reached();
	wait(NULL);
}
/* A reads from B, which waits for a lock of C; D waits for B. */
static void chain(void)
{
	command = -1;
	must(!pipe(p), "pipe");
	c = start(lock_first);
	d = start(wait_and_hold);
	until(2);
	a = start(read_p0);
	edge(a, "writer", all->tid[1]);
	edge(d, "child", all->tid[1]);
	edge(all->tid[1], "holder", c);
	edge(c, "clock", 0);
}

/* Other network namespaces have other sockets. */
static void unix_namespace(void)
{
	must(!unshare(CLONE_NEWNET), "unshare");
	unix_waiting();
}

/* ---- cgroups ------------------------------------------------------------------------------- */

static char cgroup[64];

static void cgroup_write(const char *file, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	fd = open(path, O_WRONLY);
	must(fd >= 0 && write(fd, text, strlen(text)) > 0, path);
	close(fd);
}
static void enter(void)
{
	cgroup_write("cgroup.procs", "0");
	reached();
}
static void frozen_nap(void)
{
	enter();
	keep(-1, -1);
	nap();
}
static void busy(void)
{
	enter();
	keep(-1, -1);
	for (;;)
		all->word++;
}
static void cgroup_make(const char *root)
{
	snprintf(cgroup, sizeof(cgroup), "%s/tfs-hangs.%d", root, getpid());
	must(!mkdir(cgroup, 0700), cgroup);
}
static void frozen(void)
{
	cgroup_make(!access("/sys/fs/cgroup/cgroup.controllers", F_OK) ? "/sys/fs/cgroup"
								       : "/sys/fs/cgroup/unified");
	a = start(frozen_nap);
	until(1);
	cgroup_write("cgroup.freeze", "1");
	edge(a, "cgroup", 0);
}
static void throttled(void)
{
	if (!access("/sys/fs/cgroup/cgroup.controllers", F_OK)) {
		cgroup_make("/sys/fs/cgroup");
		cgroup_write("cpu.max", "2000 100000");
	} else {
		cgroup_make("/sys/fs/cgroup/cpu");
		cgroup_write("cpu.cfs_quota_us", "2000");
	}
	a = start(busy);
	edge(a, "cgroup", 0);
}

/* The same in a pid namespace: its tids are others there than here. */
static void *inside_second(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&all->mutex[0]);
	return NULL;
}
static void inside(void)
{
	pthread_t t;

	keep(-1, -1);
	pthread_mutex_lock(&all->mutex[0]);
	pthread_create(&t, NULL, inside_second, NULL);
	reached();
	nap();
}
static void wait_inside(void)
{
	pid_t in;
	keep(-1, -1);
	in = start(inside);
	start(nap);
	waitpid(in, NULL, 0);
}
/* Print the children, or the second thread, of a process. */
static pid_t number(const char *format, pid_t of, int skip)
{
	char text[256];
	FILE *f;
	pid_t found = 0;

	snprintf(text, sizeof(text), format, of, of);
	while (!found) {
		f = popen(text, "r");
		for (int i = 0; f && i <= skip; i++)
			if (fscanf(f, "%d", &found) != 1)
				found = 0;
		pclose(f);
	}
	return found;
}
static void namespaces(void)
{
	pid_t in, second;

	mutexes(PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
	must(!unshare(CLONE_NEWPID), "unshare");
	a = start(wait_inside);
	until(1);
	in = number("cat /proc/%d/task/%d/children", a, 0);
	second = number("ls /proc/%d/task | sort -n", in, 1);
	edge(a, "child", in);
	edge(in, "clock", 0);
	edge(second, "owner", in);
}

static const struct mode {
	const char *name;
	fn *f;
} modes[] = {
    {"pipe-empty", pipe_empty},
    {"pipe-full", pipe_full},
    {"pipe-own", pipe_own},
    {"pipe-splice", pipe_splice},
    {"pipe-ring", pipe_ring},
    {"fifo-empty", fifo_empty},
    {"fifo-alone", fifo_alone},
    {"socketpair-empty", socketpair_empty},
    {"socketpair-full", socketpair_full},
    {"unix-empty", unix_empty},
    {"unix-waiting", unix_waiting},
    {"unix-backlog", unix_backlog},
    {"unix-datagrams", unix_datagrams},
    {"unix-accept", unix_accept},
    {"tcp-empty", tcp_empty},
    {"tcp-full", tcp_full},
    {"tcp6-empty", tcp6_empty},
    {"tcp-waiting", tcp_waiting},
    {"tcp-accept", tcp_accept},
    {"lock-posix", lock_posix},
    {"lock-ofd", lock_ofd},
    {"lock-flock", lock_flock},
    {"lock-readers", lock_readers},
    {"lock-inherited", lock_inherited},
    {"lock-lease", lock_lease},
    {"lock-both", lock_both},
    {"lock-and-pipe", lock_and_pipe},
    {"mutex-plain", mutex_plain},
    {"mutex-pi", mutex_pi},
    {"mutex-robust", mutex_robust},
    {"mutex-shared", mutex_shared},
    {"mutex-pi-shared", mutex_pi_shared},
    {"mutex-both", mutex_both},
    {"futex-nobody", futex_nobody},
    {"futex-limit", futex_limit},
    {"futex-shared", futex_shared},
    {"child-any", child_any},
    {"child-one", child_one},
    {"child-group", child_group},
    {"child-vfork", child_vfork},
    {"child-stopped", child_stopped},
    {"continued", continued},
    {"zombie", zombie},
    {"tracer", tracer},
    {"pidfd", pidfd},
    {"poll", poll_both},
    {"poll-limit", poll_limit},
    {"select", selects},
    {"epoll", epoll},
    {"eventfd", event_fd},
    {"timerfd", timer_fd},
    {"signalfd", signal_fd},
    {"inotify", inotifies},
    {"terminal", terminal},
    {"message-queue", message_queue},
    {"semaphore", semaphore},
    {"messages", messages},
    {"fuse", fuse},
    {"chain", chain},
    {"namespace", namespaces},
    {"unix-namespace", unix_namespace},
    {"frozen", frozen},
    {"throttled", throttled},
};

int main(int argc, char **argv)
{
	const struct mode *m, *end = modes + sizeof(modes) / sizeof(*modes);

	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (m = modes; m < end; m++)
		if (argc == 2 && !strcmp(argv[1], "list"))
			puts(m->name);
		else if (argc == 2 && !strcmp(argv[1], m->name))
			break;
	if (m == end)
		return argc != 2 || strcmp(argv[1], "list");
	m->f();
	fflush(stdout);
	for (int fd = 3; fd < 64; fd++)
		close(fd);
	close(1);
	while (read(0, byte, 1) > 0)
		;
	for (int i = 0; i < nmade; i++)
		kill(made[i], SIGKILL);
	if (*cgroup && strstr(cgroup, "unified"))
		cgroup_write("cgroup.freeze", "0");
	while (wait(NULL) > 0)
		;
	while (*cgroup && rmdir(cgroup) && errno == EBUSY)
		usleep(1000);
	umount2("mount", MNT_DETACH);
	if (ipc) {
		semctl(ipc, 0, IPC_RMID);
		msgctl(ipc, IPC_RMID, NULL);
	}
	return 0;
}
