/* SPDX-License-Identifier: ISC */
/*
 * proc.h - PURPOSE of proc
 */
#ifndef PROC_H
#define PROC_H

#include "base/base.h"

/* ---- root.c: where the kernel's files are ------------------------------- */

/* The root of the hierarchy of cgroup v2, by the mount table. -1, silent. */
int cgroup_open_v2(void);

/* ---- pids.c: sorted sets of pids ------------------------------------------ */

struct pids {
	pid_t *v;      /* ascending, no pid twice */
	size_t n, room;
	int failed;    /* a pid is missing: memory ran out */
};

/*
 * Out of memory: -1 said, once. The set remembers it, so that it is enough to
 * look at what pids_sort or pids_parse returns, which is then -1 as well.
 */
int pids_add(struct pids *, pid_t);
int pids_has(const struct pids *, pid_t);
int pids_sort(struct pids *);                   /* after the last pids_add */
void pids_minus(struct pids *, const struct pids *gone);
int pids_same(const struct pids *, const struct pids *);
void pids_clear(struct pids *);                 /* frees; may be used again */
int pids_parse(struct pids *, const char *);    /* add the numbers of a list, and sort */

/* ---- operands.c: pids that somebody gives ----------------------------------- */

/*
 * The operands as pids, sorted, into out; none, or a single "-": what standard
 * input has, parted by blanks or lines. Exits MISUSED where one is no pid, and
 * REFUSED out of memory.
 */
void pids_operands(const struct tool *, char **argv, struct pids *out);

enum {
	PID_LIST_IDLE = 1,      /* 0 too, the idle task */
	PID_LIST_OTHERS = 2,    /* -PID too: all but this task */
};

/*
 * Add the pids of an option's value, with commas between, and sort the set. Exit
 * MISUSED if a word is not a number up to PID_MAX_LIMIT.
 */
void pids_option(const struct tool *, const char *list, int flags, struct pids *out);

/* ---- proc.c: tasks, read from procfs -------------------------------------- */

struct task {
	pid_t pid, ppid;
	char state;             /* as in /proc/PID/stat */
	long threads;
	char comm[64];          /* may hold any byte but NUL */
};

/* One task or thread by its number. 0, or -1 when there is none. Silent. */
int task_read(pid_t, struct task *);

/*
 * Is it running or able to? A zombie is not, unless threads of it live on.
 * Silent.
 */
int task_alive(pid_t);
int task_lives(const struct task *);

/* The process that it is a thread of, and its real uid. 0, or -1. Silent. */
int task_ids(pid_t, pid_t *tgid, uid_t *uid);

/* Our own number in procfs, which may be another than getpid's. 0, silent: none. */
pid_t task_self(void);

/*
 * A descriptor that polls readable once the task is gone: a pidfd, of the
 * thread itself where the kernel has PIDFD_THREAD. -1, silent: this kernel or
 * this pid namespace has no such thing; look again from time to time.
 */
int task_fd(pid_t);

/* The inode of a task's pid namespace; 0, silent: not to be had, errno tells. */
ino_t task_pidns(pid_t);

/*
 * Does procfs show the pids that tracefs uses, those of the initial pid
 * namespace? 0, or -1 said.
 */
int procfs_is_initial(void);

/* The same, silent: 1 or 0. Where it cannot be told, it is taken to. */
int procfs_shows_initial(void);

/* Every process (not thread) now in procfs, ascending; one look. -1 said. */
int task_each_process(int (*fn)(void *, pid_t), void *arg);

/*
 * Add a process with its threads; of a thread that leads none, only itself.
 * Fails as pids_add does: pids_sort tells.
 */
void task_add_threads(struct pids *, const struct task *);

/* ---- cgroup.c: cgroups by their names ------------------------------------- */

enum { ANY_HIERARCHY = -1 };

struct cgroup {
	int hierarchy;          /* its ID in /proc/PID/cgroup, 0 for version 2 */
	char path[PATH_MAX];    /* from the root of the hierarchy */
};

/*
 * The cgroup of this name: a path below a mounted hierarchy, a path from the root of
 * a hierarchy, or the last part of a path that no other cgroup ends with. 0; 1,
 * silent: there is none; -1 said.
 */
int cgroup_find(const char *name, struct cgroup *);

/*
 * The cgroup that tells a task from others: a container's, then that of version 2,
 * then the longest path; not the root, and none that task 1 is in. 0 or -1 said.
 */
int cgroup_of(pid_t, struct cgroup *);

/* Is the task in the cgroup, or in one below it? */
int cgroup_has(const struct cgroup *, pid_t);

/* ---- select.c: selectors to pids ------------------------------------------- */

struct selector {
	enum selector_kind {
		SELECT_PID,     /* this task */
		SELECT_CGROUP,  /* tasks of the cgroup called text, or of pid's */
		SELECT_PIDNS,   /* tasks in the pid namespace of pid */
		SELECT_UID,     /* tasks whose real uid is number */
		SELECT_COMM,    /* tasks whose comm is text */
	} kind;
	pid_t pid;
	unsigned long number;
	const char *text;
	const struct cgroup *cgroup; /* of select_pids */
};

enum {
	SELECT_THREADS = 1,     /* their threads too */
	SELECT_DESCENDANTS = 2, /* and their descendants */
	SELECT_GONE_OK = 4,     /* a pid or cgroup that is not there names nobody */
};

/*
 * The tasks that any of the n selectors names now, sorted, into out. -1 said
 * (a pid that is not there; procfs cannot be read; out of memory).
 */
int select_pids(const struct selector *, size_t n, int flags, struct pids *out);

/* ---- wait.c: one wait point for signal, time, tasks ------------------------------ */

struct wait {
	const sigset_t *signals; /* blocked by the caller */
	long ms;                 /* limit from now, -1 none */
	int fd;                  /* ends the wait when it polls ready; -1 none */
	/*
	 * Fill the set with the tasks to outlive; called again when all of
	 * those are gone, since others may have been born meanwhile. NULL:
	 * no tasks to wait for.
	 */
	int (*tasks)(void *arg, struct pids *);
	void *arg;
};

enum ended { ENDED_SIGNAL, ENDED_TIME, ENDED_TASKS, ENDED_FD };

/* Wait for the first of them without ever waking up in between. -1 said. */
int wait_for(const struct wait *, int *signo);

#endif
