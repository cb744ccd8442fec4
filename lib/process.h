/* SPDX-License-Identifier: ISC */
/*
 * process.h - what a trace tells of its processes, followed record by record
 *
 * Who has which uid and name at each event (-u UID, -C COMM), and the lines of
 * the process event tracer (-P), whose exit codes are what wait(2) would give.
 * It lives on these events, as far as the trace has them:
 *
 *	raw_syscalls:sys_enter, sys_exit     task:task_newtask, task_rename
 *	signal:signal_deliver, _generate     sched:sched_process_exec, _exit
 */
#ifndef PROCESS_H
#define PROCESS_H

#include "event.h"

/* What -P shows, a bit each. */
enum { SHOW_SYSCALLS = 1, SHOW_SIGNALS = 2, SHOW_LIFECYCLE = 4 };

enum role { ROLE_NONE = 1, ROLE_ENTER, ROLE_EXIT, ROLE_DELIVER, ROLE_GENERATE, ROLE_NEWTASK,
	    ROLE_RENAME, ROLE_EXEC, ROLE_END, ROLES };

/* All zero at first. */
struct process {
	unsigned kinds;         /* 0: no -P */
	int by_uid;
	uid_t uid;
	const char *comm;       /* NULL: of any name */
	/*
	 * What the tasks were when the trace began, as far as somebody looked
	 * then: PID has this uid, -PID has another.
	 */
	struct pids uids, comms;
	/* NULL, or the code that a task ended with; -1: not known */
	long (*ended)(void *arg, int pid);
	/* NULL, or the same of a task that is being killed; the code can still be asked for */
	long (*killed)(void *arg, int pid);
	void *arg;
	int live;               /* the tasks are in procfs */

	/* its own */
	struct line *line;
	long code;              /* of the end at hand */
	int64_t signal;         /* that was sent, of the delivery at hand */
	struct role_of {
		const struct event *event;
		const struct field *field[4];
	} roles[ROLES];
};

/* Set kinds by names with commas between. -1, silent: another name. */
int process_kinds(struct process *, const char *names);


/* Is any of it wanted? */
static inline int process_on(const struct process *p)
{
	return p->kinds || p->by_uid || p->comm;
}

/* After the options; again with another line. */
void process_begin(struct process *, struct line *);

/* The next record, all of them in their order; lost: some are missing before it. */
void process_learn(struct process *, const struct record *, int lost);

/* Is the record, learnt just now, of such a task, and of such a kind? */
int process_picks(struct process *, const struct record *);

/* The line of one that is picked; of -P. */
size_t process_line(struct process *, const struct record *, char *buf, size_t size);

/* The names of its columns. */
size_t process_header(char *buf, size_t size);

/* ---- exits.c: the codes with which tasks of this machine end ------------------- */

/*
 * The kernel tells them by taskstats(7), before it records the end of the
 * task: what was read after the record has its code. Who may not ask, or has
 * a kernel without, learns nothing.
 */
struct exits {
	int fd;                 /* -1: none */
	uint16_t looks;         /* how many times the caller found the buffers empty */
	struct end {
		int32_t pid;    /* 0: empty */
		uint16_t code;
		uint16_t look;  /* looks, when the code was read */
	} slot[65536];          /* by pid */
};

void exits_open(struct exits *, unsigned cpus);

/* Read what the kernel has told. */
void exits_read(struct exits *);

/* The code, once; -1: not known. Of a struct exits, as struct process wants it. */
long exits_code(void *exits, int pid);

/* The code of a task that was delivered SIGKILL; waits a moment while the task lives. */
long exits_killed(void *exits, int pid);

#endif
