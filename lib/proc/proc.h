/* SPDX-License-Identifier: ISC */
/*
 * proc.h - tasks, cgroups, and the selection of tasks, all from procfs. This layer knows nothing of
 * tracefs. A task is a thread and its pid, a process is a thread group and its tgid. A selector
 * names tasks by pid, cgroup, pid namespace, uid or comm.
 */
#ifndef PROC_H
#define PROC_H

#include "base/base.h"
#include "host/host.h"

/* ---- procfs.c: files of procfs that a task makes long or slow to read --------------- */

/* The most bytes of a file that procfs_read returns. */
enum { PROCFS_MOST = 4 << 20 };

/*
 * Return the contents of a file in a task's directory, such as maps, with a NUL at the end, and the
 * length in *len unless len is NULL. Cut a text of PROCFS_MOST or more bytes after a line, and set
 * *cut, unless cut is NULL, to whether it is cut. The caller frees the text. On an error, or if
 * procfs_begin refuses (EAGAIN), return NULL and errno, silent. A helper (stranger.c) reads the
 * files for which the kernel looks into the memory of the task: maps, environ, cmdline.
 */
char *procfs_read(pid_t, const char *name, size_t *len, int *cut);

/*
 * From now on, spend at most a quarter of the time on procfs and on the files of traced programs.
 * For a tool that has other work at the same time, as a stream does.
 */
void procfs_limit(void);

/* Read nothing more from procfs: the tool was told to stop. */
void procfs_stop(void);

/*
 * Begin and end a reading whose length a task determines. procfs_begin returns 0; or -1, silent, if
 * procfs_stop was called, or if the share of time is used up, which procfs_missed counts. After -1,
 * do not call procfs_end. Within another reading, it refuses only after procfs_stop.
 */
int procfs_begin(void);
void procfs_end(void);

/*
 * Begin to read a file of a traced program, as procfs_begin, with two differences: procfs_stop does
 * not refuse it (stranger_stop limits the time then), and within another reading, it is refused if
 * the share is used up.
 */
int procfs_begin_file(void);

/* A share of the time, a quarter, that a kind of work may take. All zero: without a limit. */
struct share {
	int limited;
	long long left_us;      /* of the share */
	long long begun_us;     /* of the work that goes on */
	long long seen_us;      /* when the share last grew */
};

/* Limit the share from now on. Begin work: 0; or -1 if the share is used up, counted. End it. */
void share_limit(struct share *);
int share_begin(struct share *);
void share_end(struct share *);

/* Count one more reading that was cut or left out; return how many there were. */
void procfs_miss(void);
unsigned long long procfs_missed(void);

/* ---- stranger.c: read files and memory of strangers in a process that may be abandoned --- */

/*
 * The answer of a helper: an error, two allocated parts, and a descriptor. In the tool, a NUL
 * follows each part. The tool trusts nothing of it: a hostile file may have taken over the helper.
 */
struct stranger_answer {
	int error, fd;          /* fd 0: none */
	void *part[2];
	size_t size[2];
};
typedef void stranger_fn(const void *question, struct stranger_answer *);

/*
 * Let a helper call fn with a copy of the n bytes of the question (at most PATH_MAX + 256), and
 * wait for its answer, which the caller gives to stranger_free. Return 0; or -1, which
 * procfs_missed counts: the helper had to be abandoned, has ended, or could not be started. The
 * question is about the process `of`, or, if that is 0, about a file that this process reads for
 * itself. If too many helpers for one user's processes do not end, start no more for this user.
 */
int stranger_ask(stranger_fn *, const void *question, size_t n, pid_t of,
		 struct stranger_answer *);
void stranger_free(struct stranger_answer *);

/*
 * Do as stranger_ask, in parts. stranger_begin returns the number of a helper, or -1 if all are
 * busy or none can be started. stranger_end waits for ms milliseconds, or, if ms is negative, until
 * the helper has answered or is abandoned. It returns 1 with the answer, 0 if the helper is still
 * at work, or -1. The descriptor of stranger_fd polls readable when a part of the answer is there.
 * stranger_demote makes a helper an ordinary task (urgent_end).
 */
enum { STRANGER_HELPERS = 4 };
int stranger_begin(stranger_fn *, const void *question, size_t n, pid_t of);
int stranger_end(int helper, int ms, struct stranger_answer *);
int stranger_fd(int helper);
void stranger_demote(int helper);

/* When fd polls readable (stranger_stop: now), let all questions take only a moment more. */
void stranger_stop_at(int fd);
void stranger_stop(void);

/*
 * For functions in a helper. stranger_step tells the tool that the helper makes progress.
 * stranger_enter names the place that the helper waits for next: a device, or STRANGER_PROCESS and
 * a pid. It returns 0, or -1 and EHOSTDOWN, silent, if that place did not answer lately.
 * stranger_open enters the device of a regular file and opens the file. It returns the descriptor,
 * or -1 or FILE_OTHER as file_open does.
 */
#define STRANGER_PROCESS ((uint64_t)1 << 63)
struct stat;
void stranger_step(void);
int stranger_enter(uint64_t place);
int stranger_open(const char *path, struct stat *);

/* ---- mappings.c: what tasks map and begin, as the kernel reports it at once ----------------- */

/* In the environment of a stream: the descriptors of mappings_listen, with spaces between */
#define MAPPINGS_RINGS "TFS_MAPPINGS"

/* The most CPUs; the bytes of the ring buffer of each CPU, after a page that describes it */
enum { MAPPINGS_CPUS = 1024, MAPPINGS_RING = 256 * 1024 };

/*
 * Let the kernel report what these tasks, or all tasks if the set is empty, map and begin, from now
 * on until this process ends. Return the number of descriptors of ring buffers in rings, or 0,
 * silent, if the kernel refuses.
 */
struct pids;
unsigned mappings_listen(const struct pids *, int rings[MAPPINGS_CPUS]);

/* Map a ring buffer. Return NULL if that fails. */
char *mappings_map(int ring);

/* ---- late.c: how many tasks a session has traced only after their first events -------- */

/* In the environment of a stream: the descriptor of late_open */
#define LATE_FD "TFS_LATE"

/* Return a descriptor of a file with the number, which processes can share; -1 and errno. */
int late_open(void);

/* Return the number in the file, or 0 if fd is -1. Add to it; return 0, or -1 and errno. */
unsigned late_count(int fd);
int late_add(int fd, unsigned more);

/* Write a session's note about n such tasks to text (size bytes). Return the length; 0: none. */
size_t late_text(char *text, size_t size, unsigned n);

/* ---- taskstats.c: a message of the kernel at the end of each task -------------------- */

/*
 * In the environment of a stream: the descriptor of a socket of taskstats_listen. It was opened
 * before the session began to record, so it has the ends of all tasks.
 */
#define TASKSTATS_FD "TFS_TASKSTATS"

/* Return a socket with a message for each task that ends on these CPUs, or -1, silent. */
int taskstats_listen(unsigned cpus);

/* Find an attribute of a message of a generic netlink family. Return NULL if there is none. */
struct netlink_answer;
const char *taskstats_attribute(const struct netlink_answer *, unsigned type, size_t *len);

/* ---- task.c: tasks and processes --------------------------------------------------- */

struct task {
	pid_t pid, ppid;
	char state;             /* as in /proc/PID/stat */
	long threads;
	char comm[64];          /* may hold any byte except NUL */
	uint64_t start;         /* in ticks of the clock since the boot */
	int exit_code;          /* of a zombie, as for wait(2), if this process may trace it */
};

/* Read the beginning of a task's file in procfs into text. Return 0, or -1, silent. */
int task_read_file(pid_t, const char *name, char *text, size_t size);

/* Read a task. Return 0, or -1, silent, if there is none with this pid. */
int task_read(pid_t, struct task *);

/* Is the task alive? A zombie is not, unless other threads of it are alive. Silent. */
int task_alive(pid_t);
int task_lives(const struct task *);

/* Read the tgid and the real uid of a task. Return 0, or -1, silent. */
int task_ids(pid_t, pid_t *tgid, uid_t *uid);

/*
 * Translate a uid from the task's user namespace to the initial one (/proc/PID/uid_map). If the
 * task is gone, return the uid itself.
 */
uid_t uid_outside(pid_t, uid_t);

/*
 * Return the calling process's pid in procfs, whose pid namespace may be another one than that of
 * getpid(2). Return 0, silent, if procfs does not show the process.
 */
pid_t task_self(void);

/*
 * Translate a pid of the own pid namespace to the pid in procfs. Return the same pid if procfs does
 * not show the task, or if the kernel has no pidfd_open(2).
 */
pid_t task_procfs_pid(pid_t);

/*
 * Return a descriptor that polls readable once the task is gone: a pidfd, of the thread itself if
 * the kernel has PIDFD_THREAD. Return -1, silent, if the kernel or this pid namespace gives none;
 * the caller then polls task_alive.
 */
int task_fd(pid_t);

/* Return the inode of a task's pid namespace; 0 and errno, silent, if it cannot be read. */
ino_t task_pidns(pid_t);

/*
 * Check that procfs shows the pids of the initial pid namespace, which tracefs uses. Return 0, or
 * -1, reported. procfs_shows_initial is silent: it returns 1 or 0, and 1 if it cannot find out.
 */
int procfs_is_initial(void);
int procfs_shows_initial(void);

/*
 * Call fn for each process of procfs in ascending order, until fn returns a negative number. Return
 * 0; or -1 if fn returned a negative number, or, reported, if procfs cannot be read.
 */
int task_each_process(int (*fn)(void *, pid_t), void *arg);

/*
 * Add a process with its threads, or only the task itself if it is not the leader. A later
 * pids_sort returns an error of this.
 */
void task_add_threads(struct pids *, const struct task *);

/* ---- cgroup.c: cgroups by their names ---------------------------------------------- */

enum { ANY_HIERARCHY = -1 };

struct cgroup {
	int hierarchy;          /* its ID in /proc/PID/cgroup, 0 for version 2 */
	char path[PATH_MAX];    /* from the root of the hierarchy */
};

/*
 * Find a cgroup by a path below a mounted hierarchy or from the root of one, or by the last part of
 * its path if no other path ends so. Return 0; 1, silent, if there is none; or -1, reported.
 */
int cgroup_find(const char *name, struct cgroup *);

/*
 * Write the id of the container that a cgroup's path (up to a newline) leads to, to id
 * (CONTAINER_ID + 1 bytes): the outermost one, which the runtime has given, or "". Return the
 * length of the path up to the directory that has the id, or 0.
 */
size_t cgroup_container(const char *path, char *id);

/*
 * Find the cgroup of the container whose id begins with these digits, by the directories of the
 * mounted hierarchies. Write its path from the root of the hierarchy to path (PATH_MAX bytes).
 * Return 0; 1, silent, if no cgroup has the id; or -1, reported: two have it.
 */
int cgroup_find_container(const char *digits, char *path);

/*
 * Find the cgroup that distinguishes the task from others: a container's, or that of version 2, or
 * the longest path, but never the root or a cgroup of task 1. Return 0, or -1, reported.
 */
int cgroup_of(pid_t, struct cgroup *);

/* Return the allocated lines of /proc/PID/cgroup, or NULL, silent. */
char *cgroups_of(pid_t);

/* Is a task with these lines in the cgroup, or in a cgroup below it? NULL is no line. */
int cgroup_is_among(const struct cgroup *, const char *lines);

/* Is the task in the cgroup, or in a cgroup below it? */
int cgroup_has(const struct cgroup *, pid_t);

/*
 * A name of a cgroup that need not exist yet: its path from the root of its hierarchy, the last
 * part of that path, or, with container, globs of container_is_named.
 */
struct cgroup_name {
	int container;
	const char *text;
};

/*
 * Write the path of a cgroup that does not exist yet to path (PATH_MAX bytes): a path below a
 * mounted hierarchy becomes one from its root. Return 0, or -1, silent: no cgroup can have it.
 */
int cgroup_expect(const char *text, char *path);

/* Does the path lead to the cgroup of this name, or to one below it? */
int cgroup_is_named(const char *path, const struct cgroup_name *);

/* Return whether the task is in such a cgroup now; -1: it is gone, or procfs cannot be read. */
int cgroup_names_task(const struct cgroup_name *, pid_t);

/* Open the root of the hierarchy of cgroup v2, by the mount table. -1, silent. */
int cgroup_open_v2(void);

/* ---- container.c: the names of containers and pods ---------------------------------- */

/* What the node knows of a container. A part that is not known is "". */
struct container {
	char id[NAME_MAX - 1];  /* CONTAINER_ID hexadecimal digits at most */
	/* The uid and the names of the Kubernetes pod; names have only [A-Za-z0-9_.-] */
	char uid[NAME_MAX - 1], pod[NAME_MAX - 1], namespace[NAME_MAX - 1];
	char name[NAME_MAX - 1]; /* of the container, as the pod or a person calls it */
	int of_user;            /* a user may have made the cgroup, and chosen the id */
};

/* Set the id and uid from the lines of /proc/PID/cgroup, or from the path of a cgroup. */
void container_of(struct container *, const char *lines);

/* Look for the names in the files of the node: those of task 1's root, or else of the own root. */
void container_name(struct container *);

/* Take the names from the n bytes of a file of a runtime. */
void container_said(struct container *, const char *text, size_t n);

/*
 * Return the container of a task with these lines of /proc/PID/cgroup, or of the path of a cgroup,
 * with the names that are known by now. known has the containers that were looked up, all zero at
 * first. It only grows: the caller clears it when it has CONTAINERS_MOST entries, and then uses no
 * container of it any more.
 */
enum { CONTAINERS_MOST = 4096 };
const struct container *containers_find(struct table *known, const char *lines);

/*
 * From now on, spend at most a quarter of the time on names, however many cgroups come. A container
 * for which no time is left has no names at that time; procfs_missed counts it.
 */
void container_limit(void);

/* Write NAMESPACE/POD/NAME:ID, in sizeof(struct container) bytes. Return the length. */
size_t container_text(const struct container *, char *text, size_t size);

/* Return the container of a task; NULL, silent: it has ended, or procfs cannot be read now. */
const struct container *containers_find_task(struct table *known, pid_t);

/* Keep a container whose names come from elsewhere, as containers_find does. */
const struct container *containers_keep(struct table *known, const struct container *);

/*
 * Write the id and the names as members of JSON: id, name, pod_uid, pod_name and namespace, as far
 * as they are known; among others, the first two are container_id and container_name.
 * container_take takes the value of such a member, without its quotes, if it may be a name.
 */
void container_members(struct out *, const struct container *, int among_others);
void container_take(struct container *, struct text_part name, struct text_part value);

/*
 * Is a task with these lines of /proc/PID/cgroup in a container that one of the globs, with commas
 * between, matches as NAMESPACE/POD/NAME:ID?
 */
int container_is_named(const char *lines, const char *globs);

/* ---- resource.c: the program and the service that a process is --------------------------- */

/*
 * Append who a process is as members of JSON, as far as they fit: process.executable.name, its
 * process context, and service.name: the one that it publishes or that its environment names, or
 * else its program. Return 0 if the process has no program, or has ended; RESOURCE_NAMED if it
 * names its service; or 1.
 */
enum { RESOURCE_NAMED = 2 };
int resource_put(struct out *, pid_t process);

/*
 * Append the attributes of a text such as "k8s.node.name=a,service.name=b%20c", which is the value
 * of OTEL_RESOURCE_ATTRIBUTES, as members of JSON. Leave out what does not fit or has no such form,
 * and names that begin with "tfs.", which are this project's own.
 */
void resource_attributes(struct out *, const char *text);

/* Append a member with these names of n and length bytes, or nothing if there is no room for it. */
void resource_text(struct out *, const char *key, size_t n, const char *value, size_t length);

/* May it be the name of an attribute: letters, digits and "_.-", and not this project's own? */
int resource_is_name(struct text_part);

/* ---- process_context.c: the resource that a process publishes ----------------------------- */

/* Append the attributes that the process publishes as members of JSON, as far as they fit. */
void process_context(struct out *, pid_t);

/* Append those of the n bytes of a message ProcessContext. */
void process_context_put(struct out *, const void *bytes, size_t n);

/* ---- select.c: selectors to pids --------------------------------------------------- */

struct selector {
	enum selector_kind {
		SELECT_PID,     /* this task */
		SELECT_NAMED,   /* tasks of the containers that the globs of text match */
		SELECT_CGROUP,  /* tasks of the cgroup called text, or of pid's cgroup */
		SELECT_PIDNS,   /* tasks in the pid namespace of pid */
		SELECT_UID,     /* tasks with the real uid number */
		SELECT_COMM,    /* tasks with the comm text */
	} kind;
	pid_t pid;
	unsigned long number;
	const char *text;
	const struct cgroup *cgroup; /* used by select_pids */
};

enum {
	SELECT_THREADS = 1,     /* and their threads */
	SELECT_DESCENDANTS = 2, /* and their descendants */
	SELECT_GONE_OK = 4,     /* a pid or cgroup that does not exist selects nothing */
};

/*
 * Make a selector of the containers NAME or [NAMESPACE]/[POD]/[NAME]: globs, of which an empty one
 * stands for all. If NAME may be the first digits of an id, at least 4, take such a container, too;
 * if a cgroup has the id now, select that cgroup. Return 0, or -1, reported: two cgroups have it.
 */
int select_container(const char *names, struct selector *);

/* Append a glob of container_is_named for the containers that all of these globs name. */
void select_glob(struct strbuf *, const char *namespace, const char *pod, const char *name);

/*
 * Put all tasks that any of the n selectors selects now into out, and sort the set. Return 0, or
 * -1, reported: a pid does not exist, procfs cannot be read, or memory ran out.
 */
int select_pids(const struct selector *, size_t n, int flags, struct pids *out);

/* ---- wait.c: wait for a signal, a time limit, a descriptor, or the end of tasks ----- */

struct wait {
	const sigset_t *signals; /* blocked by the caller */
	long ms;                 /* time limit from now, -1: none */
	int fd;                  /* ends the wait when it polls readable, -1: none */
	/*
	 * Fill the set with the tasks to wait for; called again when all of these are gone, because
	 * there may be new ones. NULL: wait for no tasks.
	 */
	int (*tasks)(void *arg, struct pids *);
	void *arg;
};

enum ended { ENDED_SIGNAL, ENDED_TIME, ENDED_TASKS, ENDED_FD };

/*
 * Wait for the first of these, without waking up in between unless a task has no descriptor
 * (task_fd). Return one of enum ended, and the signal in *signo; or -1, reported.
 */
int wait_for(const struct wait *, int *signo);

#endif
