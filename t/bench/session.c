/* SPDX-License-Identifier: ISC */
/*
 * session - measure how long sessions take to begin and to end
 *
 *	session ROUNDS INSTANCES NAME PEER MANAGER...
 * It runs these in turn, ROUNDS times: PEER (a shell command that makes the
 * instance NAME in the directory INSTANCES and lets it trace getppid; "" for none);
 * system calls that make and remove an instance of the same kind; and for each
 * MANAGER a session without a reader and a session with one. It prints a line for
 * each: name, minimum and median in milliseconds.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_MANAGERS 4

struct series {
	const char *name;
	double *ms;
	long n;
};

static pid_t traced;
static const char *name;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static _Noreturn void fail(const char *what)
{
	perror(what);
	kill(traced, SIGKILL);
	exit(111);
}

static void add(struct series *s, double ms)
{
	s->ms[s->n++] = ms;
}

static void put(const char *dir, const char *file, const char *text)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	close(fd);
}

/* Time the start of the peer, and then remove its instance. */
static void peer(const char *command, const char *dir, struct series *s)
{
	double begin = now_ms();

	if (system(command))
		fail(command);
	add(s, now_ms() - begin);
	if (rmdir(dir) < 0)
		fail(dir);
}

static void kernel(const char *dir, struct series *make, struct series *unmake)
{
	char pid[16];
	double begin = now_ms();

	if (mkdir(dir, 0750) < 0)
		fail(dir);
	add(make, now_ms() - begin);
	snprintf(pid, sizeof(pid), "%d\n", (int)traced);
	put(dir, "options/event-fork", "1\n");
	put(dir, "set_event_pid", pid);
	put(dir, "events/syscalls/sys_enter_getppid/enable", "1\n");
	put(dir, "tracing_on", "0\n");
	begin = now_ms();
	if (rmdir(dir) < 0)
		fail(dir);
	add(unmake, now_ms() - begin);
}

static pid_t start_manager(char *manager, int out)
{
	char args[256];
	pid_t pid;

	snprintf(args, sizeof(args), "--pid %d --instance %s -s getppid", (int)traced, name);
	pid = vfork();
	if (!pid) {
		dup2(out, STDOUT_FILENO);
		execl(manager, manager, "--run", "trace_syscalls", "--args", args, NULL);
		_exit(127);
	}
	return pid;
}

static void session(char *manager, int read_it, struct series *start, struct series *stop)
{
	char path[4096];
	int out[2], status, fd = -1;
	double begin;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		fail("pipe");
	begin = now_ms();
	pid = start_manager(manager, out[1]);
	close(out[1]);
	while (n < sizeof(path) && !memchr(path, '\n', n) &&
	       (got = read(out[0], path + n, sizeof(path) - n)) > 0)
		n += (size_t)got;
	add(start, now_ms() - begin);
	if (!n || path[n - 1] != '\n')
		fail(manager);
	path[n - 1] = '\0';
	if (read_it && (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		fail(path);
	begin = now_ms();
	kill(pid, SIGINT);
	if (waitpid(pid, &status, 0) != pid || status)
		fail(manager);
	add(stop, now_ms() - begin);
	close(out[0]);
	if (fd >= 0)
		close(fd);
}

static struct series new_series(const char *of, long rounds)
{
	struct series s = { .name = of, .ms = calloc((size_t)(2 * rounds), sizeof(double)) };

	return s;
}

static void show(struct series *s)
{
	if (!s->n)
		return;
	qsort(s->ms, (size_t)s->n, sizeof(double), by_value);
	printf("%s %.3f %.3f\n", s->name, s->ms[0], s->ms[s->n / 2]);
}

int main(int argc, char **argv)
{
	struct series by_peer, make, unmake, start[MOST_MANAGERS], stop[MOST_MANAGERS],
		stop_read[MOST_MANAGERS];
	long rounds = argc > 5 ? atol(argv[1]) : 0;
	int managers = argc - 5;
	char dir[4096];

	if (rounds < 1 || managers > MOST_MANAGERS)
		return 100;
	name = argv[3];
	snprintf(dir, sizeof(dir), "%s/%s", argv[2], name);
	by_peer = new_series("peer", rounds);
	make = new_series("mkdir", rounds);
	unmake = new_series("rmdir", rounds);
	for (int i = 0; i < managers; i++) {
		start[i] = new_series("start", rounds);
		stop[i] = new_series("stop", rounds);
		stop_read[i] = new_series("stop-read", rounds);
	}
	traced = fork();
	if (!traced)
		for (;;)
			pause();
	for (long r = 0; r < rounds; r++) {
		if (*argv[4])
			peer(argv[4], dir, &by_peer);
		kernel(dir, &make, &unmake);
		for (int i = 0; i < managers; i++) {
			session(argv[5 + i], 0, &start[i], &stop[i]);
			session(argv[5 + i], 1, &start[i], &stop_read[i]);
		}
	}
	kill(traced, SIGKILL);
	show(&by_peer);
	show(&make);
	show(&unmake);
	for (int i = 0; i < managers; i++) {
		show(&start[i]);
		show(&stop[i]);
		show(&stop_read[i]);
	}
	return fflush(stdout) ? 111 : 0;
}
