/* SPDX-License-Identifier: ISC */
/*
 * joins.c - print "ready", wait for a line of standard input, and act as a task that is selected
 * later. Each act calls getppid a known number of times.
 *
 * joins storm N EACH NAME: make N short children. Each child whose number EACH divides is called
 *	NAME and calls getppid 3 times. The others are called "other" and call it 5 times.
 * joins uid CALL UID: make two children, one after the other. The first changes the real uid by
 *	setuid, setreuid, setresuid or setgid to UID, calls getppid 7 times and ends at once. The
 *	second keeps its uid and calls getppid 5 times.
 * joins thread NAME: a thread takes NAME and calls getppid 4 times, and the first thread 5 times
 * joins exec NAME PROG WORD...: a thread takes NAME and executes PROG
 * joins into DIR N: make N short children in the cgroup DIR by clone3, which call getppid 3 times
 */
#include <linux/sched.h>
#include <sys/prctl.h>

#include "prog.h"

static void calls(int n)
{
	while (n-- > 0)
		syscall(SYS_getppid);
}

static int storm(int n, int each, const char *name)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_NAME, i % each ? "other" : name);
			calls(i % each ? 5 : 3);
			_exit(0);
		}
		if (i >= 15)
			wait(NULL);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

static int change(const char *call, unsigned uid)
{
	if (!strcmp(call, "setuid"))
		return (int)syscall(SYS_setuid, uid);
	if (!strcmp(call, "setreuid"))
		return (int)syscall(SYS_setreuid, uid, -1);
	if (!strcmp(call, "setresuid"))
		return (int)syscall(SYS_setresuid, uid, -1, -1);
	return (int)syscall(SYS_setgid, uid);
}

static int uid(const char *call, unsigned number)
{
	for (int i = 0; i < 2; i++) {
		if (!fork()) {
			if (!i && change(call, number))
				_exit(1);
			calls(i ? 5 : 7);
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}

static char **words;

static void *thread(void *name)
{
	prctl(PR_SET_NAME, name);
	if (words)
		execv(*words, words);
	calls(4);
	return NULL;
}

static int threads(char *name)
{
	pthread_t t;

	if (pthread_create(&t, NULL, thread, name))
		return 1;
	pthread_join(t, NULL);
	calls(5);
	return 0;
}

static int into(const char *dir, int n)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };

	args.cgroup = (unsigned)open(dir, O_PATH | O_DIRECTORY);
	while (n-- > 0) {
		long pid = syscall(SYS_clone3, &args, sizeof(args));

		if (pid < 0)
			return 1;
		if (!pid) {
			calls(3);
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 100;
	ready();
	if (!strcmp(argv[1], "storm"))
		return storm(atoi(argv[2]), atoi(argv[3]), argv[4]);
	if (!strcmp(argv[1], "uid"))
		return uid(argv[2], (unsigned)strtoul(argv[3], NULL, 10));
	if (!strcmp(argv[1], "into"))
		return into(argv[2], atoi(argv[3]));
	words = !strcmp(argv[1], "exec") ? argv + 3 : NULL;
	return threads(argv[2]);
}
