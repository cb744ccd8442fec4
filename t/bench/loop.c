/* SPDX-License-Identifier: ISC */
/*
 * loop - the traced program: make N system calls, and time them
 *
 *	loop [-w] [-t THREADS] [-r RATE] [-d SECONDS] [-k KINDS | -o PATH | -f FILES] N FILE
 *	loop -l
 *	-w  print "ready" and wait for a line of standard input first
 *	-t  so many threads, each on a CPU of its own, make N calls together
 *	-r  make so many calls per second in all; otherwise as many as possible
 *	-d  stop after so many seconds
 *	-k  make calls of so many kinds in turn, the first kinds that -l prints;
 *	    otherwise getppid alone. All kinds fail at once, or return a number.
 *	-o  open this path, which is not there, instead
 *	-f  seek in so many open files in turn instead
 * The calls are made in batches. At the end a line goes to FILE: nanoseconds per
 * call in the median batch, seconds from the first call to the last, and calls
 * made. If the program was preempted for a while, the second number includes that
 * time, and the first does not.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BATCH 1000
#define MOST_BATCHES 200000 /* the median is taken from the last batches */
#define MOST_THREADS 64
#define SECOND 1000000000LL

/* calls that do nothing if each argument is -1 */
static const struct kind {
	const char *name;
	long nr;
} kinds[] = {
#define K(name) { #name, SYS_##name }
	K(getppid), K(openat), K(close), K(read), K(write), K(lseek), K(ioctl), K(fcntl),
	K(readlinkat), K(faccessat), K(getpid), K(gettid), K(getuid), K(geteuid), K(getgid),
	K(getegid), K(getpgid), K(getsid), K(pread64), K(pwrite64), K(readv), K(writev),
	K(preadv), K(pwritev), K(fsync), K(fdatasync), K(ftruncate), K(fchmod), K(fchown),
	K(fchdir), K(getdents64), K(fadvise64), K(fallocate), K(fstatfs),
	K(fgetxattr), K(fsetxattr), K(flistxattr), K(fremovexattr), K(dup), K(dup3),
	K(splice), K(tee), K(vmsplice), K(sync_file_range), K(readahead), K(epoll_ctl),
	K(epoll_pwait), K(timerfd_settime), K(timerfd_gettime), K(signalfd4), K(eventfd2),
	K(epoll_create1), K(inotify_init1), K(inotify_add_watch), K(inotify_rm_watch),
	K(mkdirat), K(unlinkat), K(linkat), K(symlinkat), K(fchmodat), K(fchownat),
	K(mknodat), K(utimensat), K(syncfs), K(setns), K(connect), K(accept), K(accept4),
	K(bind), K(listen), K(getsockname), K(getpeername), K(getsockopt), K(setsockopt),
	K(shutdown), K(sendto), K(recvfrom), K(sendmsg), K(recvmsg), K(sendmmsg),
	K(recvmmsg), K(getitimer), K(setitimer), K(clock_gettime), K(clock_getres),
	K(gettimeofday), K(times), K(getrusage), K(getpriority), K(sched_getparam),
	K(sched_getscheduler), K(sched_getaffinity), K(sched_get_priority_max),
	K(sched_get_priority_min), K(sched_rr_get_interval), K(statfs), K(chdir),
	K(truncate), K(getxattr), K(setxattr), K(listxattr), K(removexattr), K(mq_unlink),
	K(timer_settime), K(timer_gettime), K(timer_delete), K(timer_getoverrun),
	K(msgctl), K(semctl), K(shmctl), K(shmdt), K(mincore), K(msync), K(madvise),
	K(mprotect), K(munmap), K(getgroups), K(capget), K(prctl), K(getrandom),
	K(memfd_create), K(pidfd_open), K(pidfd_send_signal),
#undef K
};

static long calls, threads = 1, rate, seconds, nkinds = 1, files, first_file;
static int pinned;
static const char *path;
static pthread_barrier_t start;

static struct worker {
	long long *took, first, last;
	long batches, calls;
} workers[MOST_THREADS];

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static void until(long long ns)
{
	struct timespec t = { ns / SECOND, ns % SECOND };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static int by_value(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

static void batch(long n)
{
	if (path) {
		for (long i = 0; i < n; i++)
			syscall(SYS_openat, AT_FDCWD, path, 0);
		return;
	}
	if (files) {
		static long at; /* goes on in the next batch */

		for (long i = 0; i < n; i++)
			syscall(SYS_lseek, first_file + at++ % files, 0L, SEEK_CUR);
		return;
	}
	if (nkinds == 1) {
		for (long i = 0; i < n; i++)
			syscall(SYS_getppid);
		return;
	}
	for (long i = 0; i < n; i++)
		syscall(kinds[i % nkinds].nr, -1L, -1L, -1L, -1L, -1L, -1L);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	long mine = calls / threads + (w - workers < calls % threads), size = BATCH;
	long long begin, end;
	cpu_set_t set;

	if (pinned) {
		CPU_ZERO(&set);
		CPU_SET((size_t)(w - workers), &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
	/* about one batch a millisecond */
	if (rate && rate / threads < BATCH * 1000L)
		size = rate / threads / 1000 ? rate / threads / 1000 : 1;
	pthread_barrier_wait(&start);
	w->first = end = now();
	while (w->calls < mine && (!seconds || end - w->first < seconds * SECOND)) {
		if (rate)
			until(w->first + (long long)((double)w->calls * (double)threads *
						     SECOND / (double)rate));
		if (size > mine - w->calls)
			size = mine - w->calls;
		begin = now();
		batch(size);
		end = now();
		w->took[w->batches++ % MOST_BATCHES] = (end - begin) * BATCH / size;
		w->calls += size;
	}
	w->last = end;
	return NULL;
}

/* Return the median of all workers' batches, per call. */
static double median(void)
{
	long long *all = calloc((size_t)threads * MOST_BATCHES, sizeof(*all));
	long n = 0;

	if (!all)
		exit(111);
	for (struct worker *w = workers; w < workers + threads; w++) {
		long had = w->batches < MOST_BATCHES ? w->batches : MOST_BATCHES;

		memcpy(all + n, w->took, (size_t)had * sizeof(*all));
		n += had;
	}
	if (!n)
		return 0;
	qsort(all, (size_t)n, sizeof(*all), by_value);
	return (double)all[n / 2] / BATCH;
}

/* Open the files, which have no name. Return 0 or -1. */
static int open_files(void)
{
	struct rlimit all = { (rlim_t)files + 100, (rlim_t)files + 100 };

	if (files && setrlimit(RLIMIT_NOFILE, &all) < 0)
		return -1;
	for (long i = 0; i < files; i++) {
		int fd = open("/dev/shm", O_RDWR | O_TMPFILE, 0600);

		if (fd < 0)
			return -1;
		if (!i)
			first_file = fd;
	}
	return 0;
}

int main(int argc, char **argv)
{
	long long first = 0, last = 0;
	pthread_t id[MOST_THREADS];
	int c, held = 0;
	long made = 0;
	char in;
	FILE *f;

	while ((c = getopt(argc, argv, "wlt:r:d:k:o:f:")) != -1)
		switch (c) {
		case 'w':
			held = 1;
			break;
		case 'l':
			for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
				puts(kinds[i].name);
			return 0;
		case 't':
			threads = atol(optarg);
			pinned = 1;
			break;
		case 'r':
			rate = atol(optarg);
			break;
		case 'd':
			seconds = atol(optarg);
			break;
		case 'k':
			nkinds = atol(optarg);
			break;
		case 'o':
			path = optarg;
			break;
		case 'f':
			files = atol(optarg);
			break;
		default:
			return 100;
		}
	if (argc != optind + 2 || (calls = atol(argv[optind])) < 1 || threads < 1 ||
	    threads > MOST_THREADS || nkinds < 1 ||
	    nkinds > (long)(sizeof(kinds) / sizeof(*kinds)))
		return 100;
	if (open_files() < 0)
		return 111;
	for (long i = 0; i < threads; i++) {
		workers[i].took = calloc(MOST_BATCHES, sizeof(*workers[i].took));
		if (!workers[i].took)
			return 111;
	}
	if (held) {
		puts("ready");
		fflush(stdout);
		while (read(STDIN_FILENO, &in, 1) == 1 && in != '\n')
			;
	}
	/* threads that start now are followed as any child is */
	pthread_barrier_init(&start, NULL, (unsigned)threads);
	for (long i = 1; i < threads; i++)
		if (pthread_create(&id[i], NULL, work, &workers[i]))
			return 111;
	work(&workers[0]);
	for (long i = 0; i < threads; i++) {
		if (i)
			pthread_join(id[i], NULL);
		first = !i || workers[i].first < first ? workers[i].first : first;
		last = workers[i].last > last ? workers[i].last : last;
		made += workers[i].calls;
	}
	f = fopen(argv[optind + 1], "w");
	if (!f || fprintf(f, "%.1f %.6f %ld\n", median(), (double)(last - first) / SECOND,
			  made) < 0 || fclose(f))
		return 111;
	return 0;
}
