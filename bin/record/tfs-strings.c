/* SPDX-License-Identifier: ISC */
/*
 * tfs-strings - record system calls, with paths, strings and structures, by BPF
 *
 * Requires: Linux 5.10 with CONFIG_BPF_EVENTS and CONFIG_FTRACE_SYSCALLS, tracefs, root.
 *	calls        attach programs that record all system calls, or only those that are named,
 *	             with their user memory: strings, structures, socket addresses
 *	tcp          attach a program that records the bytes that a TCP connection has carried, or
 *	             the error of a connect; with accept, also which task accepts one; with
 *	             failed, only connects that fail at once
 *	otel         attach programs that record the OpenTelemetry context of the running thread,
 *	             before each system call, or before these events: tracepoints, or one call's
 *	             as syscalls/sys_enter_openat
 *	stack        attach programs that record the user stack after each event that the instance
 *	             records now
 *	-b FILE      with stack, also at the probes of this file that have been made
 *	-B           with stack, not after a switch of a task that could go on
 *	-S           print the programs as assembly, and load nothing
 *	-a           do not record the arguments of a program that is executed
 *	-c           also record the CPU time of each process, after its end
 *	-d BYTES     record at most so many bytes of what is read and written; default 0
 *	-e           record the environment of a program that is executed
 *	-f           record which files the descriptors of calls are, with BTF
 *	-F           with -f, also root directories, for the paths of the host
 *	-E           record each call when it begins, too
 *	-r           record calls at their return only, without the time of their entry
 *	-w WORDS     record at most so many arguments of a program; default 8
 * The programs run for all tasks, and record those of the pid filter of the instance that is in
 * use. They write into rings of their own, whose clock is mono. PROGRAM, such as tfs-catpipe or
 * tfs-record, inherits the rings, and the programs live as long as it does. In a hook tfs-strings
 * needs no program: the session's stream has the rings, and the session keeps the programs.
 * Exit: 0 done, 100 usage error, 111 refused.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "calls/calls.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "bpf/bpf.h"
#include "live/live.h"
#include "strings.h"
#include "otel.h"

static struct plan plan;
static int printing;
static unsigned long data, words = 8;
static struct otel otel;
static const char *binary;
static int blocked;
static const char *kind;        /* calls, tcp, otel or stack */

static const struct tool tool = {
	TOOL_TFS_STRINGS,
	.places = (const struct opt_place[]){
		{ 'S', .flag = &printing }, { 'a', .flag = &plan.no_args },
		{ 'c', .flag = &plan.cpu }, { 'd', .number = &data }, { 'e', .flag = &plan.env },
		{ 'E', .flag = &plan.entries }, { 'r', .flag = &plan.at_return },
		{ 'f', .flag = &plan.files }, { 'F', .flag = &plan.roots },
		{ 's', .flag = &plan.sockets }, { 'b', .text = &binary },
		{ 'B', .flag = &blocked }, { 'w', .number = &words },
		{ 0 },
	},
};

/* Does the call end elsewhere than it began, or does its return not say what it was? */
static int needs_entry(const char *call)
{
	return role_of_call(call)->is & (IS_EXEC | IS_EXIT | IS_FORK | IS_SIGRETURN);
}

static int attach(struct plan *p)
{
	const char *word = p->names[0] ? p->names[0] : "";

	int r;

	p->channel.outer = -1;
	if ((*kind == 'c' && calls_check(p) < 0) ||
	    channel_make(&p->channel, p->instance, *kind == 't' || *kind == 'o') < 0)
		return -1;
	str_format(p->id, sizeof(p->id), "%s", p->channel.id);
	r = *kind == 't' ? tcp_attach(p, *word == 'a', *word == 'f') :
	    *kind == 'o' ? otel_attach(p, &otel) :
	    *kind == 's' ? stacks_attach(p, binary, blocked) : calls_attach(p);
	return channel_ready(&p->channel) < 0 ? -1 : r;
}

/*
 * Start the process that finds the contexts of processes to come. It ends when the session closes
 * the descriptor that is added to the plan. Return 0, or -1, reported.
 */
static int serve(struct plan *p)
{
	int ends[2], null;
	pid_t pid;
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 || (pid = fork()) < 0)
		return err_errno("unable to start a process");
	if (pid) {
		close(ends[0]);
		p->fds[p->n++] = ends[1];
		/* the hook must not end before the process has left its group */
		return read(ends[1], &c, 1) == 1 ? 0 : err_errno("unable to start a process");
	}
	setsid();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 8192; fd++) /* the hook may have others open */
		if (fd < 3)
			dup2(null, fd);
		else if (fd != ends[0] && fd != otel.places && fd != otel.notes)
			close(fd);
	if (chdir("/") < 0 || send(ends[0], "", 1, MSG_NOSIGNAL) != 1)
		_exit(REFUSED);
	otel_serve(&otel, ends[0]);
	_exit(DONE);
}

/* Give the map of tasks to the session, if it has selected some. Return 0, or -1, reported. */
static int give_tasks(int socket)
{
	return plan.tasks && plan.listed && fd_send(socket, &plan.tasks, 1, KEEP_TASKS) ?
	       err_errno("unable to give the programs to the session") : 0;
}

/* Find the instance that is in use, and whether it has a pid filter. Return 0, or -1, reported. */
static int find_instance(struct plan *p)
{
	struct pids pids = { 0 };

	p->root = tracefs_open(NULL, "", NULL);
	p->instance = p->root < 0 ? -1 : tracefs_open(NULL, NULL, NULL);
	if (p->instance < 0 || pidfilter_list(p->instance, &pids) < 0)
		return -1;
	p->listed = pids.n > 0;
	pids_clear(&pids);
	return 0;
}

int main(int argc, char **argv)
{
	const int session = channel_session();
	char **program = argv + argc;

	opt_next(&tool, argc, argv);
	if (printing)
		bpf_print_only();
	plan.data = (unsigned)data;
	plan.words = (unsigned)words;
	kind = argv[opt_index];
	if (!kind || (strcmp(kind, "calls") && strcmp(kind, "tcp") && strcmp(kind, "otel") &&
		      strcmp(kind, "stack")))
		usage_error(&tool, "the operand calls, tcp, otel or stack is needed");
	plan.names = argv + opt_index + 1;
	for (char **word = argv + opt_index + 1; *word && program == argv + argc; word++)
		if (!strcmp(*word, "--")) {
			*word = NULL;
			program = word + 1;
			argc = (int)(word - argv);
		}
	if (*kind == 't' && *plan.names && (plan.names[1] ||
	    (strcmp(*plan.names, "accept") && strcmp(*plan.names, "failed"))))
		usage_error(&tool, "only accept or failed may follow tcp");
	if (*kind == 's' && *plan.names)
		usage_error(&tool, "no word may follow stack");
	if (*kind == 'o' && argc - opt_index - 1 > OTEL_EVENTS)
		usage_error(&tool, "at most %d events may follow otel", OTEL_EVENTS);
	if (!printing && !*program && session == -1)
		usage_error(&tool, "give -- and a program that reads the records, such as "
			    "tfs-catpipe");
	if (session < -1)
		usage_error(&tool, SESSION_KEEPS " is not a number");
	/* the hook gives names of events */
	for (char **name = argv + opt_index + 1; *kind == 'c' && *name; name++)
		*name = (char *)(size_t)syscall_of_function(*name);
	if (plan.at_return && (*kind != 'c' || plan.entries || !*plan.names))
		usage_error(&tool, "--at-return needs names of system calls, and not --enter");
	for (char *const *name = plan.names; plan.at_return && *name; name++)
		if (needs_entry(*name))
			usage_error(&tool, "--at-return: the return of %s does not tell all of "
				    "the call", *name);
	if (find_instance(&plan) < 0 || attach(&plan) < 0)
		return REFUSED;
	stdout_flush();
	if (printing)
		return DONE;
	if (*kind == 'o' && serve(&plan) < 0)
		return REFUSED;
	if (*program)
		channel_run(&plan.channel, plan.fds, plan.n, program);
	else if (!channel_give(&plan.channel, session, plan.fds, plan.n) && !give_tasks(session))
		return DONE;
	return REFUSED;
}
