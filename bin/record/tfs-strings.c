/* SPDX-License-Identifier: ISC */
/*
 * tfs-strings - record paths, strings and structures of system calls with BPF
 *
 * Requires: Linux 5.10 with CONFIG_BPF_EVENTS and CONFIG_FTRACE_SYSCALLS, tracefs, root.
 *	calls        attach programs that record the user memory of all system calls, or only
 *	             of the calls that are named: strings, structures, socket addresses
 *	tcp          attach a program that records the bytes that a TCP connection has carried, or
 *	             the error of a connect; with accept, also which task accepts one; with failed,
 *	             only connects that fail at once
 *	otel         attach programs that record the OpenTelemetry context of the running thread,
 *	             before each system call, or before these events: tracepoints, or one call's
 *	             as syscalls/sys_enter_openat
 *	-S           print the programs as assembly, and load nothing
 *	-a           do not record the arguments of a program that is executed
 *	-c           also record the CPU time of each process, after its end
 *	-d BYTES     record at most so many bytes of what is read and written; default 0
 *	-e           record the environment of a program that is executed
 *	-w WORDS     record at most so many arguments of a program; default 8
 * The programs run for all tasks. Their records are events bpf_trace:bpf_trace_printk, which
 * an instance records, filters and counts like all others. tfs-strings prints the ID with
 * which the records begin. The programs end with tfs-strings, which waits for HUP, INT, TERM
 * or USR1. In a hook tfs-strings ends at once, and the session keeps the programs.
 * Exit: 0 done, 100 usage error, 111 refused.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "syscalls/syscalls.h"
#include "bpf/bpf.h"
#include "memory_programs.h"
#include "otel.h"

static struct memory_plan plan;
static int printing;
static unsigned long data, words = 8;
static struct otel otel;
static const char *kind;        /* calls, tcp or otel */

static const struct tool tool = {
	.name = "tfs-strings",
	.help =
		"tfs-strings [-Sace] [-d N] [-w N] calls [CALL ...] | tcp [accept | failed] | "
		"otel [EVENT ...]\n"
		"record paths, strings and structures of system calls with BPF\n"
		"-S, --assembly  print the programs as assembly; load nothing\n"
		"-a, --no-args  do not record the arguments of programs that are executed\n"
		"-c, --cpu  record the CPU time of processes after their end, with BTF\n"
		"-d, --data N:0-4096  record N bytes of what is read and written; default 0\n"
		"-e, --environment  record the environment of programs that are executed\n"
		"-w, --words N:1-32  record at most N arguments of a program; default 8\n",
	.places = (const struct opt_place[]){
		{ 'S', .flag = &printing }, { 'a', .flag = &plan.no_args },
		{ 'c', .flag = &plan.cpu },
		{ 'd', .number = &data }, { 'e', .flag = &plan.env }, { 'w', .number = &words },
		{ 0 },
	},
};

static int attach(struct memory_plan *p)
{
	const char *word = p->names[0] ? p->names[0] : "";

	return *kind == 't' ? tcp_attach(p, *word == 'a', *word == 'f') :
	       *kind == 'o' ? otel_attach(p, &otel) : memory_attach(p);
}

/* Attach the programs while the event of the top level stays as it was. Return 0 or -1. */
static int attach_quietly(struct memory_plan *p)
{
	int lock = printk_lock(p->root), on, guard = -1, r;

	if (lock < 0)
		return err_file("unable to lock events/bpf_trace; this kernel may lack "
				"CONFIG_BPF_EVENTS");
	on = printk_is_on(p->root);
	if (on < 0)
		return err_file("unable to read " PRINTK_ENABLE);
	if (!on) {
		guard = printk_guard(p->root);
		if (guard < 0)
			return -1;
	}
	r = attach(p);
	if (!on && printk_quiet(p->root) < 0)
		r = -1;
	if (guard >= 0)
		printk_relieve(guard);
	close(lock);
	return r;
}

/*
 * Start the process that finds the contexts of processes to come. It ends when the session closes
 * the descriptor that is added to the plan. Return 0, or -1, reported.
 */
static int serve(struct memory_plan *p)
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
	for (int fd = 0; fd < 256; fd++) /* the hook may have others open */
		if (fd < 3)
			dup2(null, fd);
		else if (fd != ends[0] && fd != otel.places && fd != otel.notes)
			close(fd);
	if (chdir("/") < 0 || send(ends[0], "", 1, MSG_NOSIGNAL) != 1)
		_exit(REFUSED);
	otel_serve(&otel, ends[0]);
	_exit(DONE);
}

/* Give the programs to the session of the hook, or keep them until a signal comes. */
static int keep(struct memory_plan *p)
{
	const char *socket = getenv(SESSION_KEEPS);
	struct pollfd signals = { .events = POLLIN };
	unsigned long fd;

	if (socket) {
		if (text_number(socket, 0, INT_MAX, &fd) < 0 ||
		    (*kind == 'o' && serve(p) < 0) ||
		    fd_send((int)fd, p->fds, p->n) < 0)
			return err_errno("unable to give the programs to the session");
		stdout_print("%s\n", p->id);
		stdout_flush();
		return 0;
	}
	signals.fd = wait_stop_signals();
	if (signals.fd < 0)
		return err_errno("unable to wait for signals");
	stdout_print("%s\n", p->id);
	stdout_flush();
	if (*kind == 'o')
		otel_serve(&otel, signals.fd);
	else
		while (poll(&signals, 1, -1) < 0)
			;
	return 0;
}

/* Set tasks if the instance that is in use has a pid filter. Return 0, or -1, reported. */
static int has_filter(struct memory_plan *p)
{
	struct pids pids = { 0 };
	int instance = tracefs_open(NULL, NULL, NULL);

	if (instance < 0 || pidfilter_list(instance, &pids) < 0)
		return -1;
	if (pids.n)
		p->tasks = instance;
	return 0;
}

int main(int argc, char **argv)
{
	int r;

	opt_next(&tool, argc, argv);
	if (printing)
		bpf_print_only();
	plan.data = (unsigned)data;
	plan.words = (unsigned)words;
	kind = argv[opt_index];
	if (!kind || (strcmp(kind, "calls") && strcmp(kind, "tcp") && strcmp(kind, "otel")))
		usage_error(&tool, "the operand calls, tcp or otel is needed");
	plan.names = argv + opt_index + 1;
	if (*kind == 't' && *plan.names && (plan.names[1] ||
	    (strcmp(*plan.names, "accept") && strcmp(*plan.names, "failed"))))
		usage_error(&tool, "only accept or failed may follow tcp");
	if (*kind == 'o' && argc - opt_index - 1 > OTEL_EVENTS)
		usage_error(&tool, "at most %d events may follow otel", OTEL_EVENTS);
	/* the hook gives names of events */
	for (char **name = argv + opt_index + 1; *kind == 'c' && *name; name++)
		*name = (char *)(size_t)syscall_of_function(*name);
	plan.root = tracefs_open(NULL, "", NULL);
	if (plan.root < 0 || has_filter(&plan) < 0)
		return REFUSED;
	if (bpf_is_printing()) {
		r = attach(&plan);
		stdout_flush();
	} else {
		r = attach_quietly(&plan) < 0 || keep(&plan) < 0 ? -1 : 0;
	}
	return r < 0 ? REFUSED : DONE;
}
