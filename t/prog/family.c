/* SPDX-License-Identifier: ISC */
/*
 * family - a program that makes processes, and tells what wait(2) said of each
 *
 *	family storm N    N children, eight at a time, each "family end K": by fork or vfork
 *	family kinds      a child of each of these kinds, one after the other
 *	family again N    N children with the same pid, each with another parent
 *	family end K      exits with K modulo 251; every tenth kills itself
 *	family leader     its first thread ends before the process, which ends with 5
 *	family becomes    another thread executes "family end 3"
 *	family user       becomes the user 65534, and ends with 6
 * storm, kinds and again print "PID STATUS ARGUMENTS" for each child, STATUS as wait(2) gives it.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "prog.h"

static char self[4096];
static pthread_t first;

static _Noreturn void end(int k)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	if (k % 10 == 9)
		kill(getpid(), k % 20 == 9 ? SIGKILL : SIGSEGV);
	_exit(k % 251);
}

static void *end_alone(void *unused)
{
	(void)unused;
	pthread_join(first, NULL);
	_exit(5);
}

static void *become(void *unused)
{
	(void)unused;
	execl(self, "family", "end", "3", (char *)NULL);
	_exit(111);
}

static _Noreturn void in_thread(void *(*fn)(void *))
{
	pthread_t t;

	first = pthread_self();
	if (pthread_create(&t, NULL, fn, NULL))
		_exit(112);
	pthread_exit(NULL);
}

static pid_t make(int by_vfork, const char *what, const char *argument)
{
	pid_t pid = by_vfork ? vfork() : fork();

	if (!pid) {
		execl(self, "family", what, argument, (char *)NULL);
		_exit(111);
	}
	return pid;
}

static void storm(int n)
{
	struct { pid_t pid; int k; } child[8] = { { 0, 0 } };
	int status, living = 0, k = 0;
	char text[12];

	while (k < n || living) {
		for (int i = 0; i < 8 && k < n; i++) {
			if (child[i].pid)
				continue;
			snprintf(text, sizeof(text), "%d", k);
			child[i].k = k;
			child[i].pid = make(k % 2, "end", text);
			k++;
			living++;
		}
		pid_t pid = wait(&status);

		for (int i = 0; i < 8; i++)
			if (child[i].pid == pid) {
				printf("%d %d family end %d\n", (int)pid, status, child[i].k);
				child[i].pid = 0;
				living--;
			}
	}
}

static void kinds(void)
{
	static const char *const all[] = { "leader", "becomes", "user" };
	int status;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		pid_t pid = make(0, all[i], NULL);

		waitpid(pid, &status, 0);
		printf("%d %d family %s\n", (int)pid, status,
		       strcmp(all[i], "becomes") ? all[i] : "end 3");
	}
}

/* Make a child that has the pid, if it is not 0. */
static pid_t make_again(pid_t pid, const char *argument)
{
	/* struct clone_args: exit_signal, set_tid and set_tid_size */
	uint64_t args[] = { 0, 0, 0, 0, SIGCHLD, 0, 0, 0,
			    pid ? (uint64_t)(size_t)&pid : 0, pid > 0 };
	pid_t child = (pid_t)syscall(SYS_clone3, args, sizeof(args));

	if (!child) {
		execl(self, "family", "end", argument, (char *)NULL);
		_exit(111);
	}
	return child;
}

static int again(int n)
{
	pid_t *pid = mmap(NULL, sizeof(*pid), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);
	int status;
	char text[12];

	*pid = 0;
	for (int k = 0; k < n; k++) {
		snprintf(text, sizeof(text), "%d", k);
		if (!fork()) {
			pid_t child = make_again(*pid, text);

			if (child < 0)
				_exit(77);
			*pid = child;
			waitpid(child, &status, 0);
			printf("%d %d %d family end %d\n", (int)getpid(), (int)child, status, k);
			fflush(stdout);
			_exit(0);
		}
		wait(&status);
		if (status)
			return WEXITSTATUS(status);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	/* a thread has no /proc/self/exe when the first thread has ended */
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 113;
	if (!strcmp(what, "end") && argc > 2)
		end(atoi(argv[2]));
	if (!strcmp(what, "leader"))
		in_thread(end_alone);
	if (!strcmp(what, "becomes"))
		in_thread(become);
	if (!strcmp(what, "user"))
		_exit(setuid(65534) < 0 ? 111 : 6);
	if (!strcmp(what, "storm") && argc > 2)
		storm(atoi(argv[2]));
	else if (!strcmp(what, "again") && argc > 2)
		return again(atoi(argv[2]));
	else if (!strcmp(what, "kinds"))
		kinds();
	else
		return 2;
	return 0;
}
