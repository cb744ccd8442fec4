/* SPDX-License-Identifier: ISC */
/*
 * tfs.h - the dictionary: everything that two tools share, a family a file.
 *
 * Conventions. A function that can fail returns -1 after it has said why, one
 * line on stderr in the error grammar (say.c); its caller only decides what to
 * undo and with which status to leave. Where silence is meant, the comment
 * says "silent" and errno tells. Running out of memory is such a failure: only
 * main exits, because only main knows what has to be undone. The functions that
 * exit nevertheless are those that end a filter or refuse an operand, and their
 * comments say "exits". No manager, janitor or recorder calls one of them once
 * it has made anything. Directories are passed as descriptors, so
 * that a root, an instance and a test's plain directory are reached alike.
 */
#ifndef TFS_H
#define TFS_H

#include <limits.h>
#include <stdarg.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The one table of exit statuses; 126, 127 and 128+n are the shell's own. */
enum {
	DONE = 0,      /* done */
	NO = 1,        /* a truthful "no": nothing matched, nothing there */
	TIMED_OUT = 99, /* the time limit came first */
	MISUSED = 100, /* the caller asked for something that cannot be */
	REFUSED = 111, /* the system refused */
};

/* ---- say.c: the one error grammar -------------------------------------- */

/* The program's name in messages; set once by main. The only global. */
extern const char *prog;

/*
 * Write one line "PROG: fatal: MESSAGE" to stderr in a single write. Control
 * characters of hostile values become '?', long ones are cut. Returns -1.
 */
int complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "PROG: MESSAGE": nothing ends for it. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As complain with ": strerror(errno)" behind it; errno is kept. Returns -1. */
int complain_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As complain with ": REASON" behind it. */
void vcomplain(const char *fmt, va_list ap, const char *reason)
	__attribute__((format(printf, 1, 0)));

/* complain, then exit with the status. */
_Noreturn void die(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- caps.c: capabilities(7) ------------------------------------------------ */

/* A set of capabilities has the bit of each. */
#define CAPS(number)      ((uint64_t)1 << (number))
#define CAPS_DAC_OVERRIDE CAPS(1)  /* files of other users */
#define CAPS_FOWNER       CAPS(3)
#define CAPS_NET_ADMIN    CAPS(12)
#define CAPS_SYS_PTRACE   CAPS(19) /* procfs of other users' tasks */
#define CAPS_SYS_ADMIN    CAPS(21)
#define CAPS_SYS_RESOURCE CAPS(24) /* pipes beyond the limits */
#define CAPS_LEASE        CAPS(28)
#define CAPS_SYSLOG       CAPS(34) /* addresses of symbols */
#define CAPS_PERFMON      CAPS(38)
#define CAPS_BPF          CAPS(39)

/*
 * Return the likely reason why the kernel refused a call with the error e. The text is ""
 * if e is neither EPERM nor EACCES, or if no reason is known. Otherwise the text begins
 * with "; " and names the needed capabilities that the process lacks. If it lacks none,
 * the text names a user namespace, lockdown or seccomp. The next call overwrites the
 * text. errno is not kept.
 */
const char *caps_hint(int e, uint64_t needs);

/* Do as complain_errno, and add caps_hint to the reason. errno is kept. */
int complain_needs(uint64_t needs, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Do the same for a file whose permissions may refuse it: CAP_DAC_OVERRIDE is needed. */
int complain_file(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Give up all capabilities but those in keep. From then on no program that the process
 * runs gains any (PR_SET_NO_NEW_PRIVS). A kernel that refuses it gets no message.
 */
void caps_keep(uint64_t keep);

/* ---- io.c: text in and out ------------------------------------------------ */

/*
 * Write as snprintf does and return the length of the whole text. The conversions are
 * %s %d %u %x %c %%, the lengths l, ll and z, and a precision for %s. The build refuses
 * any other (formats.awk).
 */
size_t format(char *buf, size_t size, const char *f, ...)
	__attribute__((format(printf, 3, 4)));
size_t vformat(char *buf, size_t size, const char *f, va_list);

/*
 * To standard output, buffered; exits REFUSED when it cannot be written. Where
 * that is a FIFO of packets (O_DIRECT), what ends a line is one.
 */
void print(const char *f, ...) __attribute__((format(printf, 1, 2)));

/* From now on to this file, after what print holds back is written. */
void print_to(int fd, const char *name);

/* Write what print holds back: call last. next_line does before it waits. */
void flush(void);

/* write(2) until all is written. 0, or -1 and errno, silent. */
int write_all(int fd, const char *text, size_t n);

/* The reader is gone: end as a filter does, of the signal, even where it is ignored. */
_Noreturn void die_of_pipe(void);

/* Lines of standard input, or of a file; all zero at first but for the file. */
struct reader {
	int fd;
	const char *name;       /* the file's; NULL: standard input */
	char *text;
	size_t at, n, room, seen;
	int ended;
};

/*
 * The next line's length, its newline cut off, in *line until the next call;
 * -1 at the end. Exits REFUSED when it cannot be read.
 */
ssize_t next_line(struct reader *, char **line);

/* ---- opt.c: options of the tools --------------------------------------- */

/*
 * One tool's face. usage is the synopsis without the word "usage", the same
 * string in --help, the man page and the README; purpose is the line after
 * the dash in the tool's first comment; letters are its options, one with a
 * value has ":" behind it.
 */
struct tool {
	const char *name, *usage, *purpose, *letters;
};

/* The last option's value, NULL if it takes none; the next word of argv. */
extern char *opt_value;
extern int opt_index;

/*
 * The next option's letter; -1 at the end, opt_index is then that of the first
 * operand. As getopt(3) of POSIX has it, whose code is three kilobytes of every
 * program. Answers --help and --version itself; exits MISUSED with the synopsis
 * on anything else unknown.
 */
int next_option(const struct tool *t, int argc, char **argv);

/* Complain about the operands and exit MISUSED with the synopsis. */
_Noreturn void misused(const struct tool *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- confine.c: give up rights ------------------------------------------- */

/*
 * Call it once, in main, when all files are open. From then on the process has no
 * capabilities, no program that it runs gains any (PR_SET_NO_NEW_PRIVS), and it can only
 * use its open files and memory (seccomp): it cannot open a file, run a program, make a
 * socket, map memory that runs, or send a signal to another process. Such a call fails
 * with ENOSYS. Silent: a kernel that lacks one of these leaves it out, and a machine
 * that confine.c does not know has no filter of calls.
 */
void confine(void);

/*
 * Do the same for a tool that opens files by their paths until it ends. It gets no filter
 * of calls, and the capabilities in keep stay. files has the n open files and directories
 * at which those paths begin; -1 stands for none. If another user owns one of them,
 * CAP_DAC_OVERRIDE and CAP_FOWNER stay too.
 */
void confine_paths(uint64_t keep, const int *files, size_t n);

/* A tool that streams what an instance records keeps these. */
#define CAPS_STREAM (CAPS_SYSLOG | CAPS_SYS_RESOURCE | CAPS_SYS_PTRACE)

/* ---- output.c: standard output, where it is a FIFO ----------------------- */

/*
 * Open it anew, O_WRONLY or O_RDWR, in place of standard output: a descriptor whose
 * writes do not wait, and with packets each is one. No FIFO: standard output as it is,
 * or with packets, the option -l, exits MISUSED. -1, silent: nobody has it open to
 * read any more, as O_WRONLY wants; standard output is as it was. Exits REFUSED when
 * it cannot be opened.
 */
int own_output(const struct tool *t, int access, int packets);

/*
 * A session sets this variable for its stream, to DEVICE:INODE of the FIFO (compare
 * JOURNAL_STREAM in systemd.exec(5)). The FIFO may get another reader after the last one
 * has left, so the stream waits for that reader and keeps what nobody has got yet. All
 * others end with their reader: a program whose standard output is another FIFO or pipe
 * may have inherited the variable.
 */
#define NEXT_READER "TFS_NEXT_READER"

/* Set the variable for the FIFO fd. -1: fd is no FIFO, or out of memory. */
int expect_next_reader(int fd);

/* Return 1 if fd is the FIFO that the variable names. */
int outlives_reader(int fd);

/* Wait until somebody has the FIFO open to read. fd is open to write. */
void await_reader(int fd);

/* ---- text.c: words and numbers that a stranger may have sent ------------ */

/*
 * A decimal number of digits only, low <= *n <= high. Silent: 0, or -1 for
 * anything else (sign, blank, overflow, empty).
 */
int number(const char *s, unsigned long low, unsigned long high,
	   unsigned long *n);

/*
 * How many bytes n KB are: on a host of 32 bits, more than an unsigned long may hold.
 * MOST_KB is the largest number of KB that number() can give and whose bytes off_t holds.
 */
#define KB_BYTES(n) ((unsigned long long)(n) * 1024)
#define MOST_KB ((unsigned long)(sizeof(long) < sizeof(long long) ? ULONG_MAX : LONG_MAX / 1024))

/* The digits at *s as a number, and *s behind them; 0 when there are none. */
unsigned long long digits_at(const char **s);

/* Bytes of the UTF-8 character of more than one that is at s; 0: none is. */
size_t utf8_wide(const unsigned char *s, size_t n);

/* include/linux/threads.h: PID_MAX_LIMIT of 64-bit kernels */
#define PID_MAX_LIMIT (4 * 1024 * 1024)

/* A pid: a number from 1 to the kernel's PID_MAX_LIMIT; 0 for none. Silent. */
pid_t pid_number(const char *s);

/* Is it a name: 1 to most, or to 64, of [A-Za-z0-9_.-], not starting with dot or dash? */
int name_fits(const char *s, size_t most);
int name_ok(const char *s);

/*
 * Split s as a shell splits words: blanks and newlines part words; ' " and \
 * quote; nothing is expanded. One allocation: the vector, NULL at its end,
 * with the words behind it; free() it. NULL: *why is a sentence that tells
 * what was wrong.
 */
char **split_words(const char *s, const char **why);

/*
 * Append word to buf (size bytes, NUL-terminated), quoted so that split_words
 * gives it back. -1, silent: it does not fit.
 */
int quote_word(char *buf, size_t size, const char *word);

/* ---- root.c: where the kernel's files are ------------------------------- */

/* $TRACER_PROCFS_PATH, or /proc; $TRACER_SYSFS_PATH, or /sys. */
const char *procfs(void);
const char *sysfs(void);

/* The root of the hierarchy of cgroup v2, by the mount table. -1, silent. */
int open_cgroup2(void);

/* In the place of an instance's name: the root itself, which all users share. */
#define TOP_LEVEL "/"

/*
 * Open the tracefs root, or the directory of an instance in it; its path goes
 * to path (PATH_MAX bytes) unless that is NULL. root NULL: it is searched for
 * as KERNEL facts have it ($TRACER_SYSFS_PATH/kernel/tracing, the debugfs
 * automount, the mount table) and must be a mounted tracefs; given, it is
 * taken as it is. instance NULL: $TFS_INSTANCE, if set; instance TOP_LEVEL or "":
 * the root itself. Returns a descriptor (close-on-exec), -1 said.
 */
int open_tracefs(const char *root, const char *instance, char *path);

/* ---- ctl.c: control files, below a directory ----------------------------- */

enum { CTL_TRUNCATE = 1 }; /* clear the list first; never without being asked */

/*
 * Put one record into a control file: one newline-terminated write, the rest
 * of a short write (word lists take a word at a time) following it. A refusal
 * is said with the file, the record and the kernel's own reason from
 * error_log, where it left one. 0 or -1.
 */
int ctl_write(int dir, const char *file, const char *record, int flags);

/* The same, silent: 0 or -errno. */
int ctl_try(int dir, const char *file, const char *record, int flags);

/*
 * Print the two last lines of the kernel's error_log (the command and its
 * caret) to stderr when they are about record, without control characters.
 */
void ctl_caret(int dir, const char *record);

/*
 * A whole file, NUL-terminated, length in *len unless NULL; free() it. NULL
 * and errno, silent.
 */
char *ctl_read(int dir, const char *file, size_t *len);

/*
 * The names in a directory, without those that start with a dot, ascending;
 * NULL at the end. One allocation. NULL and errno, silent.
 */
char **names_in(const char *path);

/* Does it name a file below a directory, and not outside of it? */
int ctl_is_below(const char *path);

/* Does the path exist below dir? */
int ctl_exists(int dir, const char *path);

/* ---- only.c: files that somebody else names ------------------------------ */

struct stat;

/* Kinds of files; ONLY_NULL is /dev/null. */
enum { ONLY_FILE = 1, ONLY_FIFO = 2, ONLY_BLOCK = 4, ONLY_NULL = 8 };

/* What open_only returns for a file of no such kind. */
enum { OTHER_KIND = -2 };

/*
 * Open the path with these flags of open(2), close-on-exec, if it leads to a file of one
 * of the kinds; fill *st. A file of another kind is not opened at all. Without ONLY_FIFO
 * the open does not wait. A descriptor, OTHER_KIND, or -1 and errno; silent.
 */
int open_only(const char *path, int kinds, int flags, struct stat *st);

/* ---- glob.c: names of events, by glob ------------------------------------ */

/* Does the glob, of * ? [a-z] [!a-z] \x, match all of the text? */
int glob_matches(const char *glob, const char *text);

/* Does it name the event? With a colon in it as SYSTEM:EVENT, else as EVENT. */
int glob_names(const char *glob, const char *system, const char *event);

/* ---- near.c: what somebody may have meant --------------------------------- */

enum { NEAR_MOST = 3 };

/* The nearest of the names that were offered, the nearest first. */
struct near {
	const char *word;               /* the caller's, as the names are */
	const char *name[NEAR_MOST];
	unsigned far[NEAR_MOST];        /* how many letters differ */
	unsigned n;
};

/*
 * Keep the name if it is nearer than those at hand, and near enough to be
 * meant: a third of its letters, two at least, may be other ones.
 */
void near_offer(struct near *, const char *name);

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
void pid_operands(const struct tool *, char **argv, struct pids *out);

/*
 * Exit MISUSED unless somebody has named the instance with -i or TFS_INSTANCE, the top
 * level with TOP_LEVEL in the place of a name, or a root. Tools call this that take
 * events out of a buffer, or change what others have set: a variable that is unset is
 * not to do that to the buffer which all users share.
 */
void instance_named(const struct tool *, const char *root, const char *instance);

enum {
	PID_LIST_IDLE = 1,      /* 0 too, the idle task */
	PID_LIST_OTHERS = 2,    /* -PID too: all but this task */
};

/*
 * Add the pids of an option's value, with commas between, and sort the set. Exit
 * MISUSED if a word is not a number up to PID_MAX_LIMIT.
 */
void pid_list(const struct tool *, const char *list, int flags, struct pids *out);

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
int each_process(int (*fn)(void *, pid_t), void *arg);

/*
 * Add a process with its threads; of a thread that leads none, only itself.
 * Fails as pids_add does: pids_sort tells.
 */
void add_threads(struct pids *, const struct task *);

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

/* ---- owned.c: directories that live as long as their maker ------------------ */

/*
 * Make the directory below parent and lock it in the caller's name: whoever
 * asks later learns whether the maker still lives, across pid namespaces and
 * restarts, with no pid or start time to compare. The lock goes with the
 * caller's process; it is not inherited by fork and is lost when the process
 * closes *any* descriptor of the directory, so reach into it through the one
 * returned. -1 and errno, silent (EEXIST: somebody made it before).
 */
int owned_make(int parent, const char *name, mode_t mode);

enum { OWNER_NONE = 0, OWNER_ELSEWHERE = -2 };

/*
 * The maker's pid as this pid namespace knows it, OWNER_ELSEWHERE when it is
 * alive in another, OWNER_NONE when it is dead; -1, silent: no such directory.
 */
pid_t owned_by(int parent, const char *name);

/*
 * Call fn for each directory below parent whose name starts with prefix while
 * nobody can make or sweep one there; sum of what fn returns.
 */
int owned_each(int parent, const char *prefix,
	       int (*fn)(void *, int parent, const char *name, pid_t owner),
	       void *arg);

/*
 * A descriptor; until it is closed nobody can make or sweep a directory below
 * parent. -1 and errno, silent.
 */
int owned_guard(int parent);

/* ---- instance.c: instances of tracefs ----------------------------------------- */

/* A session's instance is called by the prefix of its subsystem and the session's name. */
#define INSTANCE_PREFIX "tfs."
#define BLK_INSTANCE_PREFIX "tfs-blk."
#define DT_INSTANCE_PREFIX "tfs-dt."

/*
 * Behind that of an instance: one beside it, whose events make a dump. No
 * session's name has a '+'.
 */
#define TRIGGER_SUFFIX "+trigger"

/* The same; in it the kernel follows tasks for a hook that picks their events itself. */
#define TASKS_SUFFIX "+tasks"

/* The same; in it is recorded who enters a cgroup. */
#define ENTRIES_SUFFIX "+cgroup"

/* What begins the names of dumps, which outlive their session. */
#define DUMP_PREFIX "dump."

/*
 * Remove the instance below the instances directory; waits up to ms for
 * readers that are letting go of it (EBUSY). 0 or -1 and errno, silent.
 */
int instance_remove(int instances, const char *name, long ms);

/*
 * One count of the ring buffer (a line of per_cpu/cpuN/stats, key with its
 * colon and blank), added up over the processors of an instance.
 */
unsigned long long buffer_count(int instance, const char *key);

/* How many processors a per_cpu directory has: the highest number + 1. */
unsigned cpu_count(int per_cpu);

/* ---- probes.c: dynamic events, which are the whole kernel's ------------------------ */

/* With its NUL, as the kernel has it: MAX_EVENT_NAME_LEN. */
#define PROBE_NAME 64
#define PROBE_PREFIX "tfs_"

/* A line of dynamic_events. */
struct probe {
	const char *line;       /* without its newline: length */
	size_t length;
	char group[PROBE_NAME], event[PROBE_NAME];
};

/*
 * The group of a session's probes, into PROBE_NAME bytes: PROBE_PREFIX and the
 * session's name as a C identifier, one of its own for each name.
 */
void probe_group(char *group, const char *session);

/* The next probe of the list, *text moves behind it. 0: there is none. */
int next_probe(const char **text, struct probe *);

/*
 * Remove the group's event, or all of its events with NULL, the newest first,
 * going on past one that cannot be. 0 or -1 and errno, silent.
 */
int probes_remove(int root, const char *group, const char *event);

/* Remove all of the group, switched off wherever they are on. As above. */
int probes_end(int root, const char *group);

/* The same for the group of a session; instances is the directory of all instances. */
int probes_end_session(int instances, const char *session);

/* ---- stale.c: instances of sessions whose owner is dead ---------------------------- */

/*
 * Can the name be that of a session's instance, "tfs.NAME" or "tfs-SUBSYSTEM.NAME"? The
 * next session removes one that nobody holds.
 */
int instance_is_reserved(const char *name);

/*
 * Call fn for each instance of a dead session, whatever its subsystem, while nobody can
 * make or sweep one; return the sum of what fn returns, or -1.
 */
int stale_each(int instances, int (*fn)(void *, int instances, const char *name), void *arg);

/*
 * Remove what the session of a stale instance left outside of it: probes, the tracing of
 * devices, BPF programs. Call it before instance_remove, because the instance is what
 * tells that they are stale. 0, or -1 and errno, silent.
 */
int stale_release(int instances, const char *name);

/* ---- pidfilter.c: who is traced in an instance --------------------------------- */

/*
 * Trace these pids too, and their children from the fork on. Fork following
 * is switched on before the first pid is in. functions: the function tracers'
 * filter as well. -1 said.
 */
int pidfilter_add(int instance, const struct pids *, int functions);

/*
 * Trace these pids no more. The kernel has no way to take one pid out of
 * set_event_pid, and emptying the list traces everybody: they go to
 * set_event_notrace_pid. -1 said.
 */
int pidfilter_remove(int instance, const struct pids *, int functions);

/* Let the function tracers follow the same tasks as the events do. -1 said. */
int pidfilter_mirror(int dir);

/* The pids that are traced now, sorted. -1 said. */
int pidfilter_list(int instance, struct pids *out);

/* ---- exclude.c: keep tasks out of an instance that traces everybody ---------------- */

/*
 * Write the filter of SYSTEM:EVENT into buf: what filter says ("none" and NULL: nothing),
 * and none of the tasks' own events. Events of interrupts pass whomever they hit. A
 * clause of an earlier call is replaced. -1, silent: it does not fit.
 */
int exclude_filter(char *buf, size_t size, const char *event, const char *filter,
		   const struct pids *tasks);

/*
 * Keep the tasks out of all events that are enabled. If every one of these happens only
 * in the task that it tells of, set_event_notrace_pid is left as it is, which must list
 * the tasks; otherwise it is emptied, and the events' filters do it. -1 said.
 */
int exclude_tasks(int instance, const struct pids *tasks);

/* ---- wait.c: one wait point for signal, time, tasks ------------------------------ */

struct waiting {
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

/* Stop, and give up whoever does not read: what is not delivered is told as lost. */
#define GIVE_UP SIGUSR2

/*
 * Block the signals that tell a tool to stop, HUP INT TERM USR1, and GIVE_UP. A
 * descriptor, non-blocking, that tells of them: signalfd(2).
 */
int stop_signals(void);

/* Wait for the first of them without ever waking up in between. -1 said. */
int wait_for(const struct waiting *, int *signo);

/* Milliseconds on the monotonic clock. */
long long now_ms(void);

/* ---- child.c: processes that we start ------------------------------------------------- */

/* The status that a shell gives for what waitpid says. */
int exit_status(int status);

/* Wait for the child's end; its exit_status. */
int finish(pid_t);

/* Let the descriptor lead to /dev/null. */
void to_null(int fd);

/* ---- tree.c: where the programs of this tree are ----------------------------------- */

/* Of a manager that is a link to the one program (lib/one): the link's directory. */
extern const char *own_link;

/*
 * The directory of the running program, by /proc/self/exe, never the
 * caller's: PATH_MAX bytes. -1 said.
 */
int own_directory(char *dir);

/*
 * The first of the candidate paths (relative to dir, NULL ends) that exists,
 * into path. -1, silent.
 */
int find_near(const char *dir, char *path, const char *const *candidates);

#endif
