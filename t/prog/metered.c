/* SPDX-License-Identifier: ISC */
/*
 * metered - a program that makes a known number of calls of semtimedop, which few programs make
 *
 *	metered THREADS N FAILS WAITS MS
 * It waits for a line (or the end) of standard input. Then each of THREADS threads makes N calls
 * that succeed at once, FAILS that fail with EINVAL, and WAITS that wait MS milliseconds and fail
 * with EAGAIN.
 *	metered crowd N
 * A child has a pid that differs by 16384 from that of another child, which waits in a call
 * meanwhile. The first makes N calls that succeed. The last one ends the wait, after 50 ms or more.
 *	metered denied N
 * N calls are denied with EPERM by seccomp(2), so the kernel does not begin them.
 */
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <time.h>

#include "prog.h"

static int set;
static long n, fails, waits, ms;

/* Add to the semaphore. If by is negative, wait for that at most so long; NULL: for ever. */
static long change(int id, short by, const struct timespec *time)
{
	struct sembuf op = { .sem_op = by };

	return syscall(SYS_semtimedop, id, &op, 1, time);
}

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void expect(int is)
{
	if (!is) {
		perror("metered");
		exit(111);
	}
}

static void *work(void *arg)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
	int other = semget(IPC_PRIVATE, 1, 0600);

	(void)arg;
	for (long i = 0; i < n; i++)
		expect(!change(other, 0, NULL));
	for (long i = 0; i < fails; i++)
		expect(change(-1, 1, NULL) < 0 && errno == EINVAL);
	for (long i = 0; i < waits; i++)
		expect(change(other, -1, &time) < 0 && errno == EAGAIN);
	semctl(other, 0, IPC_RMID);
	return NULL;
}

/* Make a child; pid 0: with any pid. Return its pid, 0 in it, or -1. */
static pid_t child(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD };

	if (pid) {
		args.set_tid = (uint64_t)(uintptr_t)&pid;
		args.set_tid_size = 1;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static void crowd(void)
{
	pid_t first = child(0), second;
	char path[64], text[64] = "";
	long from;
	FILE *f;

	if (!first) {
		expect(!change(set, -1, NULL));
		_exit(0);
	}
	/* it waits when the kernel says that it is in the call */
	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)first);
	while (strtol(text, NULL, 10) != SYS_semtimedop) {
		f = fopen(path, "r");
		expect(f != NULL);
		if (!fgets(text, sizeof(text), f))
			*text = '\0';
		fclose(f);
	}
	second = child(first > 16384 ? first - 16384 : first + 16384);
	if (second < 0) {
		kill(first, SIGKILL);
		puts("no such pid");
		exit(1);
	}
	if (!second) {
		for (long i = 1; i < n; i++)
			expect(!change(set, 0, NULL));
		for (from = now_us(); now_us() - from < 50000;)
			;
		expect(!change(set, 1, NULL));
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

static void denied(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_semtimedop, 0, 1),
		BPF_STMT(BPF_RET, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	for (long i = 0; i < n; i++)
		expect(change(set, 0, NULL) < 0 && errno == EPERM);
}

int main(int argc, char **argv)
{
	long threads = argc == 6 ? atol(argv[1]) : 0;
	pthread_t id[64];

	set = semget(IPC_PRIVATE, 1, 0600);
	expect(set >= 0 && argc >= 3 && threads <= 64);
	n = atol(argv[2]);
	ready();
	if (!threads) {
		*argv[1] == 'c' ? crowd() : denied();
	} else {
		fails = atol(argv[3]);
		waits = atol(argv[4]);
		ms = atol(argv[5]);
		for (long i = 0; i < threads; i++)
			expect(!pthread_create(&id[i], NULL, work, NULL));
		for (long i = 0; i < threads; i++)
			pthread_join(id[i], NULL);
	}
	semctl(set, 0, IPC_RMID);
	return 0;
}
