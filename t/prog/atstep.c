/* SPDX-License-Identifier: ISC */
/*
 * atstep - send a signal to a program at one of its system calls
 *
 *	atstep [-c] [-o FILE] SIGNAL N PROG...
 * The signal is sent at the entry of PROG's Nth call (execve is the first); SIGKILL
 * prevents the call. With -c it is sent to PROG's first child. Other children are not
 * traced. Reads of tasks in /proc are not counted, because their number depends on
 * the machine. FILE always holds the number of the current call: a final number
 * below N means that no signal was sent.
 * Exit: PROG's own status, 128+n when signal n ended it, 100, 111.
 */
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "prog.h"

#define FORKS (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE)

static long seen, wanted;
static int sig, looking, file = -1;

/* Return 1 for openat, read and close of a file below /proc/PID. */
static int is_look(pid_t pid)
{
	struct __ptrace_syscall_info call;
	char path[16] = "";
	struct iovec to = { path, 7 }, from;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(call), &call) <= 0)
		return 0;
	if (looking && call.entry.nr == SYS_read)
		return 1;
	if (looking && call.entry.nr == SYS_close) {
		looking = 0;
		return 1;
	}
	looking = 0;
	if (call.entry.nr != SYS_openat)
		return 0;
	from = (struct iovec){ (void *)(size_t)call.entry.args[1], to.iov_len };
	looking = process_vm_readv(pid, &to, 1, &from, 1, 0) > 0 &&
		  !strncmp(path, "/proc/", 6) && path[6] >= '0' && path[6] <= '9';
	return looking;
}

/* Count a call that the target enters. Return 1 if the signal was sent. */
static int step(pid_t pid)
{
	char text[24];

	if (is_look(pid))
		return 0;
	snprintf(text, sizeof(text), "%ld\n", ++seen); /* the text never gets shorter */
	if (file >= 0 && pwrite(file, text, strlen(text), 0) < 0)
		exit(111);
	if (seen < wanted)
		return 0;
	kill(pid, sig);
	return 1;
}

/* Continue to trace the target, which is stopped. */
static void go_on(pid_t pid, int status)
{
	static int inside;
	int signal = WSTOPSIG(status);

	if (signal == (SIGTRAP | 0x80)) { /* entry and exit, in turn */
		signal = 0;
		inside = !inside;
		if (inside && step(pid)) {
			ptrace(PTRACE_DETACH, pid, 0, 0);
			return;
		}
	} else if (status >> 16) {
		signal = 0; /* an event of the tracing itself */
	}
	ptrace(PTRACE_SYSCALL, pid, 0, signal);
}

/* PROG is stopped and not the target: release it when its first child starts. */
static void wait_for_child(pid_t pid, int status)
{
	int event = status >> 16;

	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
	    event == PTRACE_EVENT_CLONE)
		ptrace(PTRACE_DETACH, pid, 0, 0);
	else
		ptrace(PTRACE_CONT, pid, 0, event ? 0 : WSTOPSIG(status));
}

static pid_t start(char **argv, long options)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		/* a shell starts background programs with some signals ignored */
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		raise(SIGSTOP);
		execv(*argv, argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, WUNTRACED) != pid ||
	    ptrace(PTRACE_SEIZE, pid, 0, options) < 0) {
		perror("atstep: unable to trace");
		kill(pid, SIGKILL);
		exit(111);
	}
	kill(pid, SIGCONT);
	return pid;
}

int main(int argc, char **argv)
{
	int child = 0, c, status, result = 111, known = 0;
	pid_t pid, who;

	while ((c = getopt(argc, argv, "+co:")) != -1)
		if (c == 'c')
			child = 1;
		else if (c == 'o')
			file = open(optarg, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	argv += optind;
	if (argc - optind < 3)
		return 100;
	sig = atoi(argv[0]);
	wanted = atol(argv[1]);
	pid = start(argv + 2, PTRACE_O_TRACESYSGOOD | (child ? FORKS : 0));
	while ((who = waitpid(-1, &status, __WALL)) > 0) {
		if (who == pid && WIFEXITED(status))
			result = WEXITSTATUS(status);
		else if (who == pid && WIFSIGNALED(status))
			result = 128 + WTERMSIG(status);
		if (!WIFSTOPPED(status))
			continue;
		if (child && who != pid && !known++) /* the child inherited more */
			ptrace(PTRACE_SETOPTIONS, who, 0, PTRACE_O_TRACESYSGOOD);
		if (child && who == pid)
			wait_for_child(who, status);
		else
			go_on(who, status);
	}
	return result;
}
