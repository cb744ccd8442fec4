/* SPDX-License-Identifier: ISC */
/*
 * exits - print what a stream learns about the exit codes of tasks (lib/live)
 *
 *	exits told      one child exits with 3, and SIGTERM ends another
 *	exits lost N    SIGTERM ends N children while the socket is full; their codes are
 *	                requested while other tasks end
 *	exits again     SIGTERM ends a child whose pid another task had before
 * It prints the codes, and -1 for an unknown code. Exit: 0, 100, or 77 if the kernel does
 * not report codes or does not let a task have the pid of another.
 */

#include "show/show.h"
#include "record/record.h"

#include "prog.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

static struct taskstats x = { .fd = -1 };
static struct used used;

/* Fork a child that exits with the code, or waits for a signal (-1). Return 0 in the child. */
static pid_t child(int code)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	while (code < 0)
		pause();
	_exit(code);
}

static void killed(pid_t pid)
{
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

static int told(void)
{
	pid_t three = child(3), term = child(-1);

	waitpid(three, NULL, 0);
	kill(term, SIGTERM);
	/* as when the signal is delivered: the child may not have run yet */
	printf("killed: %ld\n", taskstats_killed_code(&x, term));
	waitpid(term, NULL, 0);
	taskstats_read(&x);
	printf("three: %ld\n", taskstats_exit_code(&x, three, &used));
	printf("term: %ld\n", taskstats_exit_code(&x, term, &used));
	printf("twice: %ld\n", taskstats_exit_code(&x, term, &used));
	return 0;
}

static int lost(int n)
{
	pid_t *pids = calloc((size_t)n, sizeof(*pids));
	int room = 1, known = 0;

	setsockopt(x.fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	for (int i = 0; pids && i < 20; i++)
		waitpid(child(0), NULL, 0);
	for (int i = 0; pids && i < n; i++)
		killed(pids[i] = child(-1));
	for (int i = 0; pids && i < n; i++) {
		known += taskstats_killed_code(&x, pids[i]) >= 0;
		waitpid(child(0), NULL, 0);
		taskstats_read(&x);
	}
	free(pids);
	printf("known: %d\n", known);
	return !pids;
}

static int again(void)
{
	pid_t first = child(0);
	/* struct clone_args: exit_signal, set_tid and set_tid_size */
	uint64_t args[] = { 0, 0, 0, 0, SIGCHLD, 0, 0, 0, (uint64_t)(size_t)&first, 1 };
	long pid;

	waitpid(first, NULL, 0);
	/* the buffers are empty now, and later events are newer */
	for (int i = 0; i < 4; i++) {
		taskstats_read(&x);
		x.looks++;
	}
	x.look = x.looks;
	pid = syscall(SYS_clone3, args, sizeof(args));
	if (pid < 0)
		return 77;
	if (!pid)
		wait_forever();
	kill((pid_t)pid, SIGTERM);
	printf("killed: %ld\n", taskstats_killed_code(&x, (int)pid));
	waitpid((pid_t)pid, NULL, 0);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	taskstats_open(&x, (unsigned)sysconf(_SC_NPROCESSORS_CONF));
	if (x.fd < 0)
		return 77;
	if (!strcmp(what, "told"))
		return told();
	if (!strcmp(what, "lost") && argc > 2)
		return lost(atoi(argv[2]));
	if (!strcmp(what, "again"))
		return again();
	return 100;
}
