/* SPDX-License-Identifier: ISC */
/*
 * why - run chains of tasks that wait for each other, and print what each of them waited for
 *
 *	why [-k KINDS] [-d DEPTH] [-f FILE] [-o FILE] [-u US] SEED [CHAINS]
 *
 * A chain has 1 to DEPTH tasks (default 4). The first task, the head, waits for the second,
 * which waits for the third, and so on. The last task waits for no other task: it sleeps,
 * reads a disk, or competes for a CPU. When its wait is over, it wakes the task before it. The
 * seed determines kinds, times and tasks of all chains, which run one after the other.
 *	-k KINDS  select from these kinds of wait, separated by commas: futex pipe socket child
 *	          fault poll signal lock; sleep disk preempted runnable (the last task's).
 *	          Without -k: all of them except disk; with -f: all of them
 *	-f FILE   the disk or the file on a disk that "disk" reads, with O_DIRECT or by page faults
 *	-o FILE   write the lines there, not to standard output
 *	-u US     the shortest wait of a last task in microseconds (default 1000); the longest is
 *	          five times as long
 * All tasks have the policy SCHED_FIFO, so that the load of the machine does not disturb them. A
 * chain is run again if one of its tasks came to its wait too late.
 *
 *	# seed SEED chains CHAINS
 *	task CHAIN LEVEL TID COMM RUN_NS DELAY_NS VOLUNTARY INVOLUNTARY
 *	wait CHAIN LEVEL TID STATE ON WAKER LEAST_NS MOST_NS TEXT
 *
 * "task": the times that the task ran and waited for a CPU (its schedstat), and its voluntary and
 * involuntary context switches, shortly before its end. "wait": the task waited in STATE (blocked,
 * preempted or runnable) ON a kind until WAKER, a tid or 0, ended the wait; the wait took LEAST_NS
 * to MOST_NS, latencies of the scheduler left out. TEXT says by which call. The kind is that of the
 * call, so a poll that times out is poll, not sleep. For preempted and
 * runnable, WAKER is the task that ran instead. Before its wait, a task other than the head waits
 * for the task before it, on a futex, to begin.
 * Exit: 0 done, 77 it may not use SCHED_FIFO, 100 misused, 111 refused.
 */
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <time.h>

#include "prog.h"

enum { MOST_LEVELS = 8, PAGE = 65536 /* of all architectures */ };

enum kind { FUTEX, PIPE, SOCKET, CHILD, FAULT, POLL, SIGNAL, LOCK, SLEEP, DISK, PREEMPTED, RUNNABLE,
	KINDS };
enum { FIRST_LAST = SLEEP }; /* the kinds from here on are those of the last task */
static const char *const kind_names[] = { "futex", "pipe", "socket", "child", "fault", "poll",
	"signal", "lock", "sleep", "disk", "preempted", "runnable" };

/* How a kind waits. The names are for the text. */
static const char *const ways[KINDS][6] = {
	[FUTEX] = { "wait", "wait_bitset", "wait_timeout" },
	[PIPE] = { "read", "write" },
	[SOCKET] = { "unix_stream", "unix_datagram", "tcp", "unix_write" },
	[CHILD] = { "waitpid", "waitid" },
	[FAULT] = { "read_page", "write_page" },
	[POLL] = { "poll", "epoll", "select" },
	[SIGNAL] = { "sigtimedwait", "sigsuspend" },
	[LOCK] = { "flock", "fcntl" },
	[SLEEP] = { "nanosleep", "clock_nanosleep", "poll_timeout", "epoll_timeout",
		"futex_timeout" },
	[DISK] = { "pread", "read_mapped" },
	[PREEMPTED] = { "spin" },
	[RUNNABLE] = { "spin" },
};

struct level {
	enum kind kind;
	unsigned way;
	int process;          /* a process of its own, else a thread */
	int32_t go, done;     /* futexes */
	int over;             /* the other task no longer competes for the CPU */
	int fd[2];            /* [0] is the waiting task's end */
	int held;             /* the file that the task before it wants to lock */
	int32_t tid, tgid;
	int64_t start, end;   /* of the wait */
	int64_t before, after; /* the times between which this task ended the other's wait */
	uint64_t ran, delayed;
	long voluntary, involuntary;
};

struct chain {
	unsigned number, depth;
	int64_t ns;               /* of the last task's wait */
	int64_t sleep;            /* runnable: before it */
	int cpu;                  /* preempted, runnable: the CPU of both tasks */
	struct level level[MOST_LEVELS + 1]; /* the last one competes for the CPU */
	pthread_t thread[MOST_LEVELS + 1];
};

static struct chain *chain; /* shared by processes */
static char *slow_page;     /* faults wait for the descriptor fault_fd */
static int fault_fd = -1;
static const char *disk;
static FILE *out;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "why: unable to %s: %s\n", what, strerror(errno));
	_exit(111);
}

static void must(int ok, const char *what)
{
	if (!ok)
		die(what);
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct timespec span(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
}

static uint64_t state;

/* Return a random number below n (splitmix64). */
static unsigned below(unsigned n)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (unsigned)((z ^ z >> 31) % n);
}

/* Run with this priority, above all tasks that are not of real time; musl refuses to do it. */
static int priority(int n)
{
	struct sched_param p = { .sched_priority = n };

	return (int)syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &p);
}

/* ---- futexes ---------------------------------------------------------------- */

static void futex_wait(int32_t *word, unsigned way)
{
	enum { WAIT = 0, WAIT_BITSET = 9 };
	struct { long s, ns; } hour = { 3600, 0 }; /* what SYS_futex reads on every architecture */

	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, word, way == 1 ? WAIT_BITSET : WAIT, 0,
			way == 2 ? &hour : NULL, NULL, -1);
}

static void futex_wake(int32_t *word)
{
	enum { WAKE = 1 };

	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, WAKE, 1, NULL, NULL, 0);
}

/* ---- the descriptors of a wait, made before the chain begins ----------------- */

/* Fill what the writer's end writes to, until a write would wait. */
static void fill(int fd)
{
	static const char bytes[4096];
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	for (size_t n = sizeof(bytes); n; n /= 2)
		while (write(fd, bytes, n) > 0)
			;
	fcntl(fd, F_SETFL, flags);
}

static void make_tcp(int fd[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof(a);
	int in = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	fd[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(!bind(in, (struct sockaddr *)&a, n) && !listen(in, 1) &&
		!getsockname(in, (struct sockaddr *)&a, &n) &&
		!connect(fd[1], (struct sockaddr *)&a, n) && (fd[0] = accept(in, NULL, NULL)) >= 0,
		"connect");
	setsockopt(fd[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	close(in);
}

static void swap(int fd[2])
{
	int was = fd[0];

	fd[0] = fd[1];
	fd[1] = was;
}

/* Return a descriptor of a new file without a name, opened for itself by each caller of opened. */
static int new_file(void)
{
	char name[] = "/tmp/why.XXXXXX";
	int fd = mkstemp(name);

	must(fd >= 0, "make a file");
	unlink(name);
	return fd;
}

static int opened(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDWR | O_CLOEXEC);
}

static void prepare(struct level *l)
{
	l->fd[0] = l->fd[1] = -1;
	switch (l->kind) {
	case PIPE:
		must(!pipe2(l->fd, O_CLOEXEC), "make a pipe");
		if (l->way == 1) {
			swap(l->fd);
			fill(l->fd[0]);
		}
		break;
	case POLL:
		must(!pipe2(l->fd, O_CLOEXEC), "make a pipe");
		break;
	case SOCKET:
		if (l->way == 2) {
			make_tcp(l->fd);
			break;
		}
		must(!socketpair(AF_UNIX, (l->way == 1 ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC,
			0, l->fd), "make a socket");
		if (l->way == 3)
			fill(l->fd[0]);
		break;
	case LOCK:
		l->fd[0] = new_file();
		break;
	case DISK:
		l->fd[0] = open(disk, O_RDONLY | O_DIRECT | O_CLOEXEC);
		must(l->fd[0] >= 0, "open the disk");
		posix_fadvise(l->fd[0], 0, 0, POSIX_FADV_DONTNEED);
		posix_fadvise(l->fd[0], 0, 0, POSIX_FADV_RANDOM);
		break;
	default:
		break;
	}
}

/* ---- userfaultfd; its header is not in every libc --------------------------- */

struct uffd_api { uint64_t api, features, ioctls; };
struct uffd_range { uint64_t start, len; };
struct uffd_register { struct uffd_range range; uint64_t mode, ioctls; };
struct uffd_copy { uint64_t to, from, len, mode; int64_t copied; };
#define UFFD_API _IOWR(0xaa, 0x3f, struct uffd_api)
#define UFFD_REGISTER _IOWR(0xaa, 0x00, struct uffd_register)
#define UFFD_COPY _IOWR(0xaa, 0x03, struct uffd_copy)

static void prepare_fault(void)
{
	struct uffd_api api = { .api = 0xaa };
	struct uffd_register r = { .mode = 1 /* missing pages */ };

	if (fault_fd >= 0) { /* give the page back */
		must(!madvise(slow_page, PAGE, MADV_DONTNEED), "free a page");
		return;
	}
	slow_page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	r.range = (struct uffd_range){ (uintptr_t)slow_page, PAGE };
	must(slow_page != MAP_FAILED && fault_fd >= 0 && !ioctl(fault_fd, UFFD_API, &api) &&
		!ioctl(fault_fd, UFFD_REGISTER, &r), "use userfaultfd");
}

static void end_fault(void)
{
	static char zeros[PAGE] __attribute__((aligned(PAGE)));
	struct uffd_copy c = { (uintptr_t)slow_page, (uintptr_t)zeros, PAGE, 0, 0 };

	must(!ioctl(fault_fd, UFFD_COPY, &c), "end a fault");
}

/* ---- waits of the last task --------------------------------------------------- */

static void sleep_for(const struct level *l, int64_t ns)
{
	struct timespec t = span(ns);
	struct { long s, ns; } limit = { t.tv_sec, t.tv_nsec };
	int32_t never = 0;
	int fd;

	switch (l->way) {
	case 0:
		nanosleep(&t, NULL);
		break;
	case 1:
		t = span(now() + ns);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		break;
	case 2:
		poll(NULL, 0, (int)(ns / 1000000));
		break;
	case 3: {
		struct epoll_event e;

		fd = epoll_create1(EPOLL_CLOEXEC);
		epoll_wait(fd, &e, 1, (int)(ns / 1000000));
		close(fd);
		break;
	}
	default:
		syscall(SYS_futex, &never, 0, 0, &limit, NULL, 0);
	}
}

/*
 * Read until the time has passed, at places that a program before has not read. Without
 * MADV_RANDOM a fault also reads the pages around it, and a later fault, or one of the next chain,
 * waits for a page whose request was sent before.
 */
static void read_disk(const struct level *l, int64_t ns)
{
	static char block[PAGE] __attribute__((aligned(4096)));
	off_t size = lseek(l->fd[0], 0, SEEK_END) / PAGE, at = chain->number;
	volatile char *mapped = l->way ? mmap(NULL, (size_t)size * PAGE, PROT_READ, MAP_SHARED,
		l->fd[0], 0) : NULL;

	must(size && mapped != MAP_FAILED, "map the disk");
	if (l->way)
		madvise((void *)(uintptr_t)mapped, (size_t)size * PAGE, MADV_RANDOM);
	do {
		if (l->way)
			(void)mapped[at % size * PAGE];
		else
			must(pread(l->fd[0], block, sizeof(block), at % size * PAGE) > 0,
				"read the disk");
		at++;
	} while (now() < l->start + ns);
	if (l->way)
		munmap((void *)(uintptr_t)mapped, (size_t)size * PAGE);
}

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	must(!sched_setaffinity(0, sizeof(one), &one), "use one CPU");
}

/* ---- a wait, and how the next task ends it ------------------------------------ */

static void nothing(int signal)
{
	(void)signal;
}

static void start_child(struct level *l);

static void wait_signal(unsigned way)
{
	sigset_t set;

	if (way == 0) {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigwaitinfo(&set, NULL);
	} else {
		pthread_sigmask(SIG_BLOCK, NULL, &set);
		sigdelset(&set, SIGUSR1);
		sigsuspend(&set);
	}
}

static void wait_poll(const struct level *l)
{
	struct pollfd p = { .fd = l->fd[0], .events = POLLIN };
	struct epoll_event e = { .events = EPOLLIN };
	fd_set set;
	int fd;

	if (l->way == 0) {
		poll(&p, 1, -1);
	} else if (l->way == 1) {
		fd = epoll_create1(EPOLL_CLOEXEC);
		epoll_ctl(fd, EPOLL_CTL_ADD, l->fd[0], &e);
		epoll_wait(fd, &e, 1, -1);
		close(fd);
	} else {
		FD_ZERO(&set);
		FD_SET(l->fd[0], &set);
		select(l->fd[0] + 1, &set, NULL, NULL, NULL);
	}
}

/* Lock the file of the wait, or unlock it. */
static void lock(const struct level *l, int fd, int on)
{
	struct flock f = { .l_type = on ? F_WRLCK : F_UNLCK };

	must(!(l->way ? fcntl(fd, F_OFD_SETLKW, &f) : flock(fd, on ? LOCK_EX : LOCK_UN)), "lock");
}

/* Wait as the level does. The next level has begun. */
static void block(struct level *l)
{
	struct level *next = l + 1;
	siginfo_t gone;
	char c = 0;

	switch (l->kind) {
	case FUTEX:
		futex_wait(&l->done, l->way);
		break;
	case PIPE:
	case SOCKET:
		must((l->kind == PIPE ? l->way == 1 : l->way == 3) ?
			write(l->fd[0], &c, 1) == 1 : read(l->fd[0], &c, 1) == 1, "read");
		break;
	case CHILD:
		must(l->way ? !waitid(P_PID, (id_t)next->tid, &gone, WEXITED) :
			waitpid(next->tid, NULL, 0) == next->tid, "wait for the child");
		break;
	case FAULT:
		if (l->way)
			((volatile char *)slow_page)[1] = 1;
		else
			(void)((volatile char *)slow_page)[1];
		break;
	case POLL:
		wait_poll(l);
		break;
	case SIGNAL:
		wait_signal(l->way);
		break;
	case LOCK:
		lock(l, l->fd[1], 1);
		break;
	default:
		break;
	}
}

/* Wait as the last level does. */
static void block_last(struct level *l)
{
	struct timespec sleep = span(chain->sleep);

	switch (l->kind) {
	case SLEEP:
		sleep_for(l, chain->ns);
		break;
	case DISK:
		read_disk(l, chain->ns);
		break;
	case RUNNABLE: /* the other task runs when this one's sleep ends */
		futex_wake(&l[1].go);
		l->start = now();
		nanosleep(&sleep, NULL);
		break;
	default: /* the other task has the higher priority */
		futex_wake(&l[1].go);
		while (!__atomic_load_n(&l[1].over, __ATOMIC_ACQUIRE))
			;
	}
}

static void unblock(struct level *l)
{
	static char bytes[1 << 20];
	ssize_t r;

	switch (l->kind) {
	case FUTEX:
		futex_wake(&l->done);
		break;
	case PIPE:
	case SOCKET:
		if (l->kind == PIPE ? l->way == 1 : l->way == 3)
			r = read(l->fd[1], bytes, sizeof(bytes));
		else
			r = write(l->fd[1], "", 1);
		must(r > 0, "end a wait");
		break;
	case FAULT:
		end_fault();
		break;
	case POLL:
		must(write(l->fd[1], "", 1) == 1, "end a wait");
		break;
	case SIGNAL:
		syscall(SYS_tgkill, l->tgid, l->tid, SIGUSR1);
		break;
	case LOCK:
		lock(l, l[1].held, 0);
		break;
	default:
		break; /* a child ends */
	}
}

/* ---- tasks -------------------------------------------------------------------- */

static void name_self(struct level *l, const char *level)
{
	char comm[16];

	snprintf(comm, sizeof(comm), "w%u.%s", chain->number, level);
	prctl(PR_SET_NAME, comm);
	l->tgid = getpid();
	__atomic_store_n(&l->tid, (int32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
}

static void count_self(struct level *l)
{
	struct rusage u;
	char text[128] = "";
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	getrusage(RUSAGE_THREAD, &u);
	l->voluntary = u.ru_nvcsw;
	l->involuntary = u.ru_nivcsw;
	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0)
		sscanf(text, "%" SCNu64 " %" SCNu64, &l->ran, &l->delayed);
	close(fd);
}

/* Compete for the CPU: sleep first if the other task is to sleep longer, then run. */
static void compete(struct level *l)
{
	int64_t end;

	name_self(l, "c");
	pin(chain->cpu);
	futex_wake(&l->done);
	futex_wait(&l->go, 0);
	if (l[-1].kind == RUNNABLE) {
		struct timespec half = span(chain->sleep / 2);

		nanosleep(&half, NULL);
	}
	l->before = now();
	/* on some machines each look at the clock is a system call */
	for (end = l->before + chain->ns; (l->after = now()) < end;)
		for (volatile int i = 0; i < 1000; i++)
			;
	__atomic_store_n(&l->over, 1, __ATOMIC_RELEASE);
}

/* Be one level of the chain. */
static void live(struct level *l)
{
	unsigned n = (unsigned)(l - chain->level);
	struct level *other = n ? l - 1 : NULL;
	const int last = n + 1 == chain->depth;
	char level[8];

	snprintf(level, sizeof(level), "%u", n);
	name_self(l, level);
	if (l->kind == PREEMPTED || l->kind == RUNNABLE)
		pin(chain->cpu);
	if (l->kind == LOCK)
		l->fd[1] = opened(l->fd[0]);
	if (other && other->kind == LOCK) {
		l->held = opened(other->fd[0]);
		lock(other, l->held, 1);
	}
	if (other && other->kind != CHILD) {
		futex_wake(&l->done); /* ready */
		futex_wait(&l->go, 0);
	}
	__atomic_store_n(&l->done, 0, __ATOMIC_RELEASE);
	if (!last && l->kind == CHILD)
		start_child(l + 1);
	else if (!last)
		futex_wake(&l[1].go);
	l->start = now();
	if (last)
		block_last(l);
	else
		block(l);
	l->end = now();
	if (other && other->kind == CHILD)
		count_self(l);
	l->before = now();
	if (other)
		unblock(other);
	l->after = now();
	if (!other || other->kind != CHILD)
		count_self(l);
	if (other && other->kind == LOCK)
		close(l->held);
}

static void *thread(void *level)
{
	if ((struct level *)level == &chain->level[chain->depth])
		compete(level);
	else
		live(level);
	return NULL;
}

static void start_child(struct level *l)
{
	const pid_t pid = fork();

	must(pid >= 0, "fork");
	if (!pid) { /* the level is shared: only a number other than 0 may go there */
		thread(l);
		_exit(0);
	}
	l->tid = pid;
}

static void start(struct level *l)
{
	if (l->process)
		start_child(l);
	else
		must(!pthread_create(&chain->thread[l - chain->level], NULL, thread, l),
			"make a thread");
}

static void end(struct level *l)
{
	if (l->process)
		waitpid(l->tid, NULL, 0);
	else
		pthread_join(chain->thread[l - chain->level], NULL);
}

/* ---- schedules ---------------------------------------------------------------- */

/* Choose one of the kinds. Return KINDS if there is none. */
static enum kind choose(unsigned allowed)
{
	unsigned n = 0;

	for (int i = 0; i < KINDS; i++)
		n += allowed >> i & 1;
	if (!n)
		return KINDS;
	n = below(n);
	for (int i = 0;; i++)
		if (allowed >> i & 1 && !n--)
			return (enum kind)i;
}

/* Plan the chain: only a thread of this process can wait for a fault. */
static void plan(unsigned number, unsigned most, unsigned allowed, int64_t least)
{
	unsigned inner = allowed & ((1u << FIRST_LAST) - 1), last = allowed & ~inner;
	int faults = 0;

	memset(chain, 0, sizeof(*chain));
	chain->number = number;
	chain->depth = inner ? 1 + below(most) : 1;
	chain->sleep = least;
	chain->ns = least + (int64_t)below(1000) * least * 4 / 1000;
	for (unsigned i = 0; i < chain->depth; i++) {
		struct level *l = &chain->level[i];
		unsigned some = i + 1 == chain->depth ? last : inner;

		l->process = i && l[-1].kind == CHILD ? 1 : (int)below(2);
		if (faults || l->process)
			some &= ~(1u << FAULT);
		l->kind = choose(some);
		if (l->kind == KINDS) { /* only faults are allowed */
			chain->depth = i + 1;
			l->kind = choose(last);
		}
		faults |= l->kind == FAULT;
		for (l->way = 0; ways[l->kind][l->way]; l->way++)
			;
		l->way = below(l->way);
		/* these take whole milliseconds */
		if (l->kind == SLEEP && (l->way == 2 || l->way == 3))
			chain->ns = (chain->ns + 999999) / 1000000 * 1000000;
	}
}

/* Start the last task first, because each is to be ready when the task before it starts. */
static void run(void)
{
	struct level *l = chain->level, *last = l + chain->depth - 1;
	const int competes = last->kind == PREEMPTED || last->kind == RUNNABLE;

	chain->cpu = sched_getcpu();
	for (struct level *i = l; i <= last; i++) {
		prepare(i);
		if (i->kind == FAULT)
			prepare_fault();
	}
	if (competes) {
		last[1].process = (int)(chain->number & 1);
		must(!priority(20), "use SCHED_FIFO");
		start(last + 1);
		must(!priority(10), "use SCHED_FIFO");
		futex_wait(&last[1].done, 0);
	}
	for (struct level *i = last; i >= l; i--) {
		if (i > l && i[-1].kind == CHILD)
			continue;
		start(i);
		if (i > l)
			futex_wait(&i->done, 0);
	}
	end(l);
	for (struct level *i = l + 1; i <= last + competes; i++)
		if (i > last || i[-1].kind != CHILD)
			end(i);
	for (struct level *i = l; i <= last; i++)
		for (int k = 0; k < 2; k++)
			if (i->fd[k] >= 0)
				close(i->fd[k]);
}

/*
 * Did each task wait soon after it let the next one begin, and before that one ended its wait? On a
 * machine under load it may come too late.
 */
static int waited(void)
{
	const struct level *l = chain->level;

	for (; l + 1 < chain->level + chain->depth; l++)
		if (l[1].before - l->start < chain->ns / 2 ||
		    l->start - l[1].start > chain->ns / 8)
			return 0;
	return l->kind != RUNNABLE || l[1].before - l->start > chain->sleep / 8;
}

/* ---- what happened -------------------------------------------------------------- */

static void tell_wait(const struct level *l, const char *state, const char *on, int waker,
	int64_t least, int64_t most)
{
	/* as tfs-why says it, with _ for a space */
	if (!strcmp(on, "fault"))
		on = "page_fault";
	else if (!strcmp(on, "lock"))
		on = "file_lock";
	else if (l->kind == SLEEP)
		on = l->way < 2 ? "sleep" : l->way < 4 ? "poll" : "futex";
	fprintf(out, "wait %u %d %d %s %s %d %" PRId64 " %" PRId64 " %s\n", chain->number,
		(int)(l - chain->level), l->tid, state, on, waker, least < 0 ? 0 : least, most,
		ways[l->kind][l->way]);
}

static void tell(const struct level *l)
{
	const struct level *next = l + 1;
	const int64_t ran = next->after - next->before;
	int64_t slept;

	fprintf(out, "task %u %d %d w%u.%d %" PRIu64 " %" PRIu64 " %ld %ld\n", chain->number,
		(int)(l - chain->level), l->tid, chain->number, (int)(l - chain->level), l->ran,
		l->delayed, l->voluntary, l->involuntary);
	switch (l->kind) {
	case SLEEP:
		tell_wait(l, "blocked", "sleep", 0, chain->ns, l->end - l->start);
		break;
	case DISK:
		tell_wait(l, "blocked", "disk", 0, 0, l->end - l->start);
		break;
	case PREEMPTED:
		tell_wait(l, "preempted", "-", next->tid, ran, l->end - l->start);
		break;
	case RUNNABLE:
		/* a timer of a virtual machine can be late */
		slept = next->before - l->start;
		if (slept < chain->sleep)
			slept = chain->sleep;
		tell_wait(l, "blocked", "sleep", 0, chain->sleep, slept);
		tell_wait(l, "runnable", "-", next->tid, next->after - l->start - slept,
			l->end - l->start - chain->sleep);
		break;
	case CHILD:
		tell_wait(l, "blocked", kind_names[l->kind], next->tid, next->before - l->start,
			l->end - l->start);
		break;
	default:
		tell_wait(l, "blocked", kind_names[l->kind], next->tid, next->before - l->start,
			next->after - l->start);
	}
}

/* ---- the command line ----------------------------------------------------------- */

static _Noreturn void misused(const char *what)
{
	fprintf(stderr, "why: %s; see its source\n", what);
	exit(100);
}

static unsigned kinds_of(char *list)
{
	unsigned all = 0;

	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		int i = 0;

		while (i < KINDS && strcmp(word, kind_names[i]) != 0)
			i++;
		if (i == KINDS)
			misused("no such kind");
		all |= 1u << i;
	}
	if (!(all >> FIRST_LAST))
		all |= 1u << SLEEP;
	return all;
}

int main(int argc, char **argv)
{
	struct sigaction a = { .sa_handler = nothing };
	unsigned allowed = 0, most = 4, chains;
	struct chain plain;
	int64_t least = 1000000;
	sigset_t set;

	out = stdout;
	for (int c; (c = getopt(argc, argv, "k:d:f:o:u:")) != -1;)
		switch (c) {
		case 'k': allowed = kinds_of(optarg); break;
		case 'd': most = (unsigned)atoi(optarg); break;
		case 'f': disk = optarg; break;
		case 'o': out = fopen(optarg, "we"); break;
		case 'u': least = atol(optarg) * INT64_C(1000); break;
		default: misused("no such option");
		}
	if (optind == argc || most < 1 || most > MOST_LEVELS || least < 1000 || !out)
		misused("SEED [CHAINS]");
	if (!allowed)
		allowed = (1u << KINDS) - 1 - (disk ? 0 : 1u << DISK);
	if (allowed >> DISK & 1 && !disk)
		misused("disk needs -f");
	state = strtoull(argv[optind], NULL, 10);
	chains = optind + 1 < argc ? (unsigned)atoi(argv[optind + 1]) : 1;
	chain = mmap(NULL, sizeof(*chain), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		-1, 0);
	must(chain != MAP_FAILED, "get memory");
	if (priority(10))
		return 77;
	sigaction(SIGUSR1, &a, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fprintf(out, "# seed %s chains %u\n", argv[optind], chains);
	for (unsigned i = 0; i < chains; i++) {
		plan(i, most, allowed, least);
		plain = *chain;
		do {
			*chain = plain;
			run();
		} while (!waited());
		for (unsigned k = 0; k < chain->depth; k++)
			tell(&chain->level[k]);
		fflush(out);
	}
	return 0;
}
