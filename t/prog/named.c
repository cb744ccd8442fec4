/* SPDX-License-Identifier: ISC */
/*
 * named - a program whose tasks have known names at each call
 *
 *	named often N        call close(1000000 + i) N times, each under another name: by
 *	                     prctl(2), by /proc/thread-self/comm, and by another thread
 *	named execs PROG     execute PROG call 2000000 by vfork(2), and then PROG call 2000001
 *	                     from a thread that is not the first one
 *	named lives N        make N processes one after the other that have the same pid; each has a
 *	                     name and a uid of its own, and calls close(3000000 + i) once, and
 *	                     close(-1) i times
 *	named call FD        call close(FD)
 * First "often" names itself "early", prints "ready" and waits for a line of standard input. Then
 * it prints a line for each call: the descriptor, and the bytes of the name as \x41. Exit: 77 if
 * the kernel does not let it choose a pid.
 */
#include <linux/sched.h>
#include <sys/prctl.h>

#include "prog.h"

static pthread_barrier_t turn;
static char name[32];
static pid_t leader;
static char *self;

static void put_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, name, strlen(name)) < 0) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static void *rename_leader(void *unused)
{
	char path[64];

	(void)unused;
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)leader);
	for (;;) {
		pthread_barrier_wait(&turn);
		if (!*name)
			return NULL;
		put_file(path);
		pthread_barrier_wait(&turn);
	}
}

static void rename_often(int n)
{
	static const char *const forms[] = {
		"n%d", "a b %d", "x\ny%d", "t]%d", "%d) = 0 <0", "\"%d\\", "\303\251%d \t",
		"fifteen_%07d", "-%d [000]", "\033[31m%d",
	};
	pthread_t other;

	prctl(PR_SET_NAME, "early");
	ready();
	leader = getpid();
	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&other, NULL, rename_leader, NULL);
	for (int i = 0; i < n; i++) {
		const char *form = forms[(size_t)(i / 3) % (sizeof(forms) / sizeof(*forms))];

		snprintf(name, sizeof(name), form, i);
		name[15] = '\0';
		if (i % 3 == 0)
			prctl(PR_SET_NAME, name);
		else if (i % 3 == 1)
			put_file("/proc/thread-self/comm");
		else
			for (int k = 0; k < 2; k++)
				pthread_barrier_wait(&turn);
		close(1000000 + i);
		printf("%d ", 1000000 + i);
		for (const char *s = name; *s; s++)
			printf("\\x%02x", (unsigned char)*s);
		puts("");
	}
	*name = '\0';
	pthread_barrier_wait(&turn);
	pthread_join(other, NULL);
}

static void *execute(void *number)
{
	execl(self, self, "call", number, (char *)0);
	_exit(1);
}

static void live_again(int n)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < n; i++) {
		struct clone_args args = { .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid,
					   .set_tid_size = 1 };
		long child = syscall(SYS_clone3, &args, sizeof(args));

		if (child < 0)
			exit(77);
		if (!child) {
			snprintf(name, sizeof(name), "life %d", i);
			prctl(PR_SET_NAME, name);
			setuid((uid_t)(1000 + i));
			close(3000000 + i);
			for (int k = 0; k < i; k++)
				close(-1);
			_exit(0);
		}
		waitpid((pid_t)child, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	const char *act = argc > 2 ? argv[1] : "";
	pthread_t thread;

	self = argc > 2 ? argv[2] : NULL;
	if (!strcmp(act, "often")) {
		rename_often(atoi(argv[2]));
	} else if (!strcmp(act, "call")) {
		close(atoi(argv[2]));
	} else if (!strcmp(act, "lives")) {
		live_again(atoi(argv[2]));
	} else if (!strcmp(act, "execs")) {
		if (!vfork()) {
			execl(self, self, "call", "2000000", (char *)0);
			_exit(1);
		}
		wait(NULL);
		prctl(PR_SET_NAME, "before");
		pthread_create(&thread, NULL, execute, "2000001");
		pthread_join(thread, NULL);
	}
	return 0;
}
