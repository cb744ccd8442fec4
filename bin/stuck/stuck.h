/* SPDX-License-Identifier: ISC */
/*
 * stuck.h - what threads wait for, and who would have to act, from procfs alone
 *
 * A thread has links. Each leads to a thread, to the threads of a process, or to something that
 * procfs does not show as a task: a clock, a terminal, another host. A thread can go on if one of
 * them can act. Nothing is guessed: where a fact cannot be read, a link says so.
 *
 * The tool opens no file of another process, and no path that another process has chosen: a file
 * system without a server would stop the tool. The tool only reads the links in /proc/PID/fd. A
 * helper reads memory (proc/stranger.c).
 */
#ifndef STUCK_H
#define STUCK_H

#include "base/base.h"
#include "proc/proc.h"

/* Who would have to act. */
struct link {
	const char *relation;   /* what it is to the thread that waits: "writer", "holder" */
	pid_t tgid, tid;        /* tid 0: any thread of the process; both 0: no task */
	char *text;             /* if both are 0: who or what; allocated */
};

struct thread {
	struct table_entry entry; /* its key is the tid */
	struct task task;
	pid_t tgid, tracer;
	uint64_t blocked, caught; /* signals, a bit each from signal 1 on */
	pid_t inner[8];         /* its tid in each pid namespace from that of procfs on */
	unsigned ninner;
	char wchan[64];         /* the function of the kernel in which it waits; "": not known */
	const char *call;       /* the system call, or NULL */
	uint64_t args[6];
	const char *on;         /* a word for what it waits for */
	struct strbuf what;     /* the same for people */
	struct link *links;
	size_t nlinks;
	int active;             /* it goes on by itself, or it is not known whether it does */
	size_t hidden;          /* number of unreadable processes, which may have to act, too */
	int knot;               /* the number of its deadlock, or 0 */
	int printed;            /* private to stuck_print.c */
	int seen, can_go_on, order, low, on_stack; /* private to thread.c */
};

/* ---- thread.c: threads and processes ---------------------------------------------------- */

/* Return the thread, which is read when it is first asked for; NULL: there is none. */
struct thread *thread_of(pid_t tid);

/* Return the threads of a process. They stay until threads_forget. */
const struct pids *process_threads(pid_t tgid);

/* Add a link to a task, or to something else, with text as out_format writes it; each only once. */
void link_task(struct thread *, const char *relation, pid_t tgid, pid_t tid);
void link_other(struct thread *, const char *relation, const char *f, ...)
	__attribute__((format(printf, 3, 4)));

/* Do as link_other, and note that the thread goes on by itself, or that this is not known. */
#define link_active(t, ...) ((t)->active = 1, link_other(t, __VA_ARGS__))
#define link_unknown(t, ...) link_active(t, "not known", __VA_ARGS__)

/* Return the thread of a process that has the tid inner in the pid namespace of t; 0: none. */
pid_t thread_inside(const struct thread *t, pid_t tgid, pid_t inner);

/* Follow the links from these threads on, and find those that can never go on. */
void threads_follow(const struct pids *from);

/* Call fn for each thread whose wait was read, by tid. After this, call only threads_forget. */
void threads_each(void (*fn)(struct thread *));

/* Forget all that was read. */
void threads_forget(void);

/* ---- calls.c: system calls -------------------------------------------------------------- */

/* Find out for what a thread waits in its call. */
void call_wait(struct thread *);

/* Note that the thread also waits for one of a set of signals, which has a bit for each. */
void expects_signals(struct thread *, uint64_t set);

/* ---- stuck_memory.c: the memory of other processes -------------------------------------- */

/* Read memory of a task. Return 0, or -1: not all of it can be read. */
int memory_read(pid_t, uint64_t address, void *to, size_t n);

/* Read a string of at most size - 1 bytes. Return 0, or -1. */
int memory_string(pid_t, uint64_t address, char *to, size_t size);

/* ---- stuck_descriptors.c: descriptors of all processes ---------------------------------- */

enum file_kind {
	FILE_CLOSED, FILE_PIPE, FILE_SOCKET, FILE_ANON, FILE_PATH,
};

struct file {
	enum file_kind kind;
	uint64_t inode;         /* of a pipe or a socket */
	char name[512];         /* as the link in /proc/PID/fd has it */
};

/* A descriptor of the host. */
struct held {
	pid_t tgid;
	int fd;
	enum file_kind kind;
	uint64_t inode;
	uint32_t hash;          /* of the name */
};

/* For dir of fd_wait. */
enum { TO_READ = 1, TO_WRITE = 2 };

/* Read what a descriptor of a task leads to. */
void file_of(pid_t, int fd, struct file *);

/* Return the number after a key in the fdinfo of a descriptor, or `none`. base: 8 or 10. */
uint64_t fdinfo_number(pid_t, int fd, const char *key, unsigned base, uint64_t none);

/* Return the device of a descriptor's mount as "0:45"; "": not known. */
const char *device_of(pid_t, int fd);

/* Add the name of a descriptor to the text of a thread. */
void fd_name(struct thread *, int fd);

/* Read the name of a task's working directory. */
void working_directory(pid_t, struct file *);

/* The thread waits until it can read or write a descriptor: add its name and the links. */
void fd_wait(struct thread *, int fd, unsigned dir);

/* The thread waits for the file system of a descriptor, or of a path if that is not NULL. */
void file_system_wait(struct thread *, int fd, const char *path);

/* Link the processes that have this file open with this access (O_WRONLY; -1: any). */
void link_holders(struct thread *, enum file_kind, uint64_t inode, int access,
		  const char *relation);

/* Call fn for each descriptor of the host. */
void held_each(void (*fn)(void *, const struct held *), void *arg);

/* Note that processes that may not be read may have the file as well. */
void held_note(struct thread *);
void held_forget(void);

/* ---- stuck_sockets.c -------------------------------------------------------------------- */

/* The thread waits for a socket: add the addresses to its text, and the links. */
void socket_wait(struct thread *, uint64_t inode, unsigned dir);

/* The thread connects the socket to this address (sockaddr). */
void socket_connects(struct thread *, uint64_t inode, const void *address, size_t n);
void ends_forget(void);

/* ---- locks.c: locks of files ------------------------------------------------------------ */

/* The thread waits for a lock: fcntl(2) or flock(2). fd -1: a lease of any file. */
void lock_wait(struct thread *, int fd, int is_flock);
void locks_forget(void);

/* ---- futex.c ---------------------------------------------------------------------------- */

void futex_wait(struct thread *, uint64_t address, unsigned op, uint32_t value);

/* ---- stuck_print.c ---------------------------------------------------------------------- */

void print_tree(const struct pids *roots);

/*
 * Print how many threads run, and a line for each thread that waits. Each line is one write, and
 * has the format that events.c of lib/why reads.
 */
void print_marks(const struct pids *roots);
void print_json(void);
void print_dot(void);

#endif
