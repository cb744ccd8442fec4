/* SPDX-License-Identifier: ISC */
/*
 * host.h - parts of Linux that libc lacks: constants, names, rights, netlink, passed descriptors
 */
#ifndef HOST_H
#define HOST_H

#include "base/base.h"
#include "host/kernel.h"

/* ---- capability.c: which capability a refused call lacks, capabilities(7) ---------- */

/* The bit of a capability. A set of capabilities is the OR of their bits. */
#define CAPS(number)      ((uint64_t)1 << (number))
#define CAPS_DAC_OVERRIDE CAPS(K_CAP_DAC_OVERRIDE)  /* files of other users */
#define CAPS_FOWNER       CAPS(K_CAP_FOWNER)
#define CAPS_NET_ADMIN    CAPS(K_CAP_NET_ADMIN)
#define CAPS_SYS_PTRACE   CAPS(K_CAP_SYS_PTRACE) /* procfs of other users' tasks */
#define CAPS_SYS_ADMIN    CAPS(K_CAP_SYS_ADMIN)
#define CAPS_SYS_NICE     CAPS(K_CAP_SYS_NICE) /* run before other programs */
#define CAPS_SYS_RESOURCE CAPS(K_CAP_SYS_RESOURCE) /* pipes beyond the limits */
#define CAPS_LEASE        CAPS(K_CAP_LEASE)
#define CAPS_SYSLOG       CAPS(K_CAP_SYSLOG) /* addresses of symbols */
#define CAPS_PERFMON      CAPS(K_CAP_PERFMON)
#define CAPS_BPF          CAPS(K_CAP_BPF)
#define CAPS_CHECKPOINT_RESTORE CAPS(K_CAP_CHECKPOINT_RESTORE) /* the files that a task maps */

/*
 * Return a likely reason why the kernel refused a call with the error e: "; " and the capabilities
 * in needs that the process lacks, or else a user namespace, lockdown or seccomp. Return ""
 * for other errors than EPERM and EACCES, or if no reason is known. The text is valid until the
 * next call. errno is not kept.
 */
const char *caps_hint(int e, uint64_t needs);

/* Report as err_errno does, with caps_hint; for a file, CAP_DAC_OVERRIDE is needed. */
int err_capability(uint64_t needs, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int err_file(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Does the process have all capabilities of the set? If not, set errno to EPERM. */
int caps_have(uint64_t needs);

/*
 * Give up all capabilities except those of the set. From then on, no program that the process runs
 * gains any (PR_SET_NO_NEW_PRIVS). Errors are ignored.
 */
void caps_keep(uint64_t keep);

/* ---- confine.c: give up the rights that a tool no longer needs --------------------- */

/*
 * Call this once, in main, after all files are open. From then on the process has no capabilities,
 * and can use only its open files and its memory (seccomp): it cannot open a file, run a program,
 * make a socket, map executable memory, or send a signal to another process. Such a call fails with
 * ENOSYS. If the kernel or the architecture (confine.c) lacks a part of this, leave it out
 * silently.
 */
void confine(void);

/*
 * Do the same for a tool that opens files by their paths until it ends: install no filter of
 * calls, and keep the capabilities in keep. Those paths begin at the n descriptors in files
 * (-1: none). If another user owns one of these, keep CAP_DAC_OVERRIDE and CAP_FOWNER as well.
 */
void confine_paths(uint64_t keep, const int *files, size_t n);

/* For keep: the capabilities of a tool that streams the records of an instance. */
#define CAPS_STREAM (CAPS_SYSLOG | CAPS_SYS_RESOURCE | CAPS_SYS_PTRACE)

/* For keep: to read the files that a task maps. */
#define CAPS_MAPPED (CAPS(K_CAP_DAC_READ_SEARCH) | CAPS_CHECKPOINT_RESTORE)

/* ---- numbers.c: names of errors, signals and system calls -------------------------- */

/*
 * Return the name of an error (ENOENT), a signal (SIGTERM) or a system call (openat) of this host,
 * or NULL. Errors include those that only the kernel uses, such as ERESTARTSYS. Real-time signals
 * have no name. error_of_name returns the number of the error whose name has n bytes, or 0.
 */
const char *name_of_error(int64_t number);
int64_t error_of_name(const char *name, size_t n);
const char *name_of_signal(int64_t number);
const char *name_of_syscall(int64_t number);

/* Put an exit code of wait(2) into text as words: "exit 3", "killed by SIGSEGV (core dumped)". */
enum { EXIT_WORDS = 48 };
const char *exit_words(unsigned code, char text[EXIT_WORDS]);

/* Return the error, 1 to 4095, that a call or function returned; 0: the result is no error. */
int64_t error_of_result(int64_t result);

/*
 * Return the first system call if name is NULL, otherwise the one after name, the last result. Set
 * *number to its number. Return NULL after the last one.
 */
const char *syscall_next(const char *name, int *number);

/* Return the call of a kernel function: sys_newstat is stat. A function not known here is kept. */
const char *syscall_of_function(const char *function);

/* Return the call of this host that has this name, or whose function has it; NULL: none. */
const char *syscall_of_name(const char *name);

/*
 * Does this function serve a call of that name (syscall_names.in)? SERVES_IF_NO_OTHER: the name
 * means this function only if the kernel has no function that returns SERVES for it.
 */
enum serves { SERVES_NOT, SERVES_IF_NO_OTHER, SERVES };
enum serves syscall_serves(const char *function, const char *name);

/* Is this the name of a call that a function of another name serves? */
int syscall_is_other_name(const char *name);

/* Return the pid that s names, a number from 1 to K_PID_MAX_LIMIT; 0, silent, otherwise. */
pid_t text_pid(const char *s);

/* ---- urgent.c: run before the programs that a trace is about ------------------------ */

/*
 * Let this task run before all ordinary tasks (SCHED_FIFO, sched(7)), because while it waits for a
 * CPU, events are lost or tracing takes time from programs. Do nothing if that is refused (it needs
 * CAP_SYS_NICE or RLIMIT_RTPRIO), or if the user has given the task another policy or a lower
 * priority. Return 1 if the caller has to call urgent_end, which makes this an ordinary task again.
 */
int urgent_begin(void);
void urgent_end(void);

/* ---- descriptors.c: pass open descriptors to another process ------------------------ */

enum { FD_SEND_MAX = 16 };

/*
 * In the environment of a hook: the number of a socket. The session keeps the descriptors that a
 * tool sends there until the session ends, for any reason.
 */
#define SESSION_KEEPS "TFS_KEEPS"

/* In the environment of a stream: the rings of the session's BPF programs (lib/live/live.h). */
#define SESSION_RINGS "TFS_RINGS"

/*
 * In the environment of tfs-record in a session with rings: a descriptor of the file in the
 * session's directory to which it writes how many records it has read, and how many are lost.
 */
#define SESSION_COUNTS "TFS_COUNTS"
#define SESSION_COUNTS_FILE "counts"

/* The kinds of such descriptors (lib/live/live.h: rings.c) */
enum keep { KEEP, KEEP_CONTROL, KEEP_RING, KEEP_CALLS, KEEP_TASKS };

/* Send descriptors of a kind through a Unix socket. Return 0, or -1 and errno, silent. */
int fd_send(int socket, const int *fds, size_t n, enum keep);

/*
 * Receive all descriptors that were sent to the socket (close-on-exec), without waiting. Stop if
 * fewer than FD_SEND_MAX places are left. Set the kind of each. Return their number.
 */
size_t fd_receive(int socket, int *fds, uint8_t *kinds, size_t room);

/* ---- netlink.c: requests to the kernel and its answers, netlink(7); silent ------------- */

/* A request: struct nlmsghdr, the head of the protocol, and attributes, at most 256 bytes. */
struct netlink_message {
	uint32_t len;
	uint16_t type, flags;
	uint32_t seq, port;
	char text[256];
};

/* Open a bound socket. Return a descriptor, or -1 and errno. */
int netlink_open(int protocol);
void netlink_begin(struct netlink_message *, unsigned type, unsigned flags, const void *head,
		   size_t n);
/* Append an attribute and return its address. netlink_end puts all later ones inside of it. */
char *netlink_add(struct netlink_message *, unsigned type, const void *value, size_t n);
void netlink_end(const struct netlink_message *, char *outer);
int netlink_send(int fd, const struct netlink_message *);

/* The messages of a socket, all zero at first except fd and wait. */
struct netlink_answer {
	int fd, wait;           /* wait for a message */
	unsigned type;          /* of the message */
	const char *text;       /* its n bytes after struct nlmsghdr */
	size_t n;
	int error;              /* after the last: 0, or -errno of the kernel */
	const char *at;         /* private */
	size_t left;
	char room[8192];
};

/* Take the next message. Return 1; 0 after the last one of an answer; or -errno. */
int netlink_next(struct netlink_answer *);

/* Find the attribute of that type in the n bytes at p. Return it and set *len, or NULL. */
const char *netlink_find(const char *p, size_t n, unsigned type, size_t *len);

#endif
