/* SPDX-License-Identifier: ISC */
/*
 * process - a program whose every step is known, for the process event tracer
 *
 *	process SCENE [N]
 * Prints "ready" and waits for a line of standard input. Then:
 *	ends     children that end one after the other, each in another way
 *	threads  processes of two threads, likewise
 *	waits    N children that wait for a signal; their pids go to "pids"
 *	core     like waits, and the children may dump core
 *	uids     getppid as root 1 time, as 1234 2, as 4321 3, as root again 4,
 *	         and for good as 1234 5 times
 *	names    getppid as "process" once, as "one" 2 times, as "two words" 3,
 *	         and in a child of that name 4 times
 *	hostile  getppid with a name that holds a newline and a line of the tracer
 *	orphans  a child that exits with 2 before its own child, which exits with 6
 *	becomes  execs itself, as a thread that is not the first, to make N
 *	         calls of getppid ("calls", which is another scene)
 */
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "prog.h"

#ifdef SYS_setresuid32 /* glibc's setresuid sets the uid of all threads */
#define SETRESUID SYS_setresuid32
#define SETREUID SYS_setreuid32
#define SETUID SYS_setuid32
#else
#define SETRESUID SYS_setresuid
#define SETREUID SYS_setreuid
#define SETUID SYS_setuid
#endif

static const char *self;

static void calls(int n)
{
	while (n-- > 0)
		syscall(SYS_getppid);
}

/* ---- ends ---------------------------------------------------------------------- */

static void die_of(int sig)
{
	/* raise may block the signal meanwhile */
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
	_exit(111);
}

static void ends(void)
{
	static const int codes[] = { 0, 3, 255 };
	static const int signals[] = { SIGKILL, SIGTERM, SIGSEGV, SIGUSR1 };

	for (int i = 0; i < 3; i++) {
		if (!fork())
			_exit(codes[i]);
		wait(NULL);
	}
	for (int i = 0; i < 4; i++) {
		if (!fork())
			die_of(signals[i]);
		wait(NULL);
	}
	if (!fork()) {
		execlp("false", "false", NULL);
		_exit(111);
	}
	wait(NULL);
	if (!fork())
		syscall(SYS_exit, 0x1234); /* the low byte counts */
	wait(NULL);
}

/* ---- threads ------------------------------------------------------------------- */

static int there[2];
static volatile long left;

/* Start a thread that the libc does not know; no thread can join it. */
static void *leave(void *code)
{
	left = syscall(SYS_gettid);
	syscall(SYS_exit, (long)code);
	return NULL;
}

static void *leave_all(void *code)
{
	syscall(SYS_exit_group, (long)code);
	return NULL;
}

static void *stay(void *unused)
{
	if (write(there[1], "", 1) == 1)
		wait_forever();
	return unused;
}

static void *become(void *argv)
{
	execv(self, argv);
	_exit(111);
}

static void two(void *(*fn)(void *), void *arg)
{
	pthread_t id;
	char c;

	if (pthread_create(&id, NULL, fn, arg))
		_exit(111);
	if (fn == stay && read(there[0], &c, 1) != 1)
		_exit(111);
	if (fn == leave)
		while (!left || !syscall(SYS_tgkill, getpid(), left, 0))
			sched_yield();
}

static void threads(void)
{
	for (int i = 0; i < 6; i++) {
		if (!fork()) {
			switch (i) {
			case 0: /* a thread with an exit code of its own */
				two(leave, (void *)7);
				_exit(9);
			case 1: /* the first thread ends all threads */
				two(stay, NULL);
				_exit(4);
			case 2: /* another thread ends all threads */
				two(leave_all, (void *)5);
				wait_forever();
			case 3: /* the first thread has ended before */
				two(stay, NULL);
				two(stay, NULL);
				syscall(SYS_tgkill, getpid(), getpid(), SIGTERM);
				wait_forever();
			case 4: /* exec ends the other threads */
				two(stay, NULL);
				execlp("false", "false", NULL);
				_exit(111);
			case 5:
				two(stay, NULL);
				die_of(SIGSEGV);
			}
		}
		wait(NULL);
	}
}

static void waits(int n)
{
	FILE *pids = fopen("pids.new", "w");

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid)
			wait_forever();
		fprintf(pids, "%d\n", (int)pid);
	}
	fclose(pids);
	rename("pids.new", "pids");
	while (wait(NULL) > 0)
		;
}

static void orphans(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!fork()) {
		pid_t parent = getpid();

		if (fork())
			_exit(2);
		while (getppid() == parent)
			sched_yield();
		_exit(6);
	}
	while (wait(NULL) > 0)
		;
}

/* ---- uids and names -------------------------------------------------------------- */

static void uids(void)
{
	calls(1);
	syscall(SETRESUID, 1234, -1, -1);
	calls(2);
	syscall(SETREUID, 4321, -1);
	calls(3);
	syscall(SETRESUID, -1, 0, 0);   /* no change of the real uid, */
	syscall(SETRESUID, 0, 0, 0);
	calls(4);
	syscall(SETUID, 1234);
	syscall(SETUID, 0);             /* nor a change if the call fails */
	calls(5);
}

static void names(void)
{
	calls(1);
	prctl(PR_SET_NAME, "one");
	calls(2);
	prctl(PR_SET_NAME, "two words");
	calls(3);
	if (!fork()) {
		calls(4);
		_exit(0);
	}
	wait(NULL);
}

static void hostile(void)
{
	prctl(PR_SET_NAME, "\n%s 1 1 exec\n");
	calls(1);
}

int main(int argc, char **argv)
{
	static const struct rlimit no_core;
	const char *scene = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	self = "/proc/self/exe";
	if (!strcmp(scene, "calls")) {
		calls(n);
		return 0;
	}
	if (strcmp(scene, "core"))
		setrlimit(RLIMIT_CORE, &no_core);
	if (pipe(there) < 0)
		return 111;
	ready();
	if (!strcmp(scene, "ends"))
		ends();
	else if (!strcmp(scene, "threads"))
		threads();
	else if (!strcmp(scene, "waits") || !strcmp(scene, "core"))
		waits(n);
	else if (!strcmp(scene, "orphans"))
		orphans();
	else if (!strcmp(scene, "uids"))
		uids();
	else if (!strcmp(scene, "names"))
		names();
	else if (!strcmp(scene, "hostile"))
		hostile();
	else if (!strcmp(scene, "becomes")) {
		char *args[] = { argv[0], "calls", argv[2], NULL };
		pthread_t id;

		if (!pthread_create(&id, NULL, become, args))
			wait_forever();
	} else
		return 100;
	return 0;
}
