/* SPDX-License-Identifier: ISC */
/*
 * base.h - PURPOSE of base
 */
#ifndef BASE_H
#define BASE_H

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
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
extern const char *program_name;

/*
 * Write one line "PROG: fatal: MESSAGE" to stderr in a single write. Control
 * characters of hostile values become '?', long ones are cut. Returns -1.
 */
int err_msg(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "PROG: MESSAGE": nothing ends for it. */
void err_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As complain with ": strerror(errno)" behind it; errno is kept. Returns -1. */
int err_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As complain with ": REASON" behind it. */
void err_vmsg(const char *fmt, va_list ap, const char *reason)
	__attribute__((format(printf, 1, 0)));

/* complain, then exit with the status. */
_Noreturn void err_exit(int status, const char *fmt, ...)
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

/* Do as err_errno, and add caps_hint to the reason. errno is kept. */
int err_capability(uint64_t needs, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Do the same for a file whose permissions may refuse it: CAP_DAC_OVERRIDE is needed. */
int err_file(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

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
size_t str_format(char *buf, size_t size, const char *f, ...)
	__attribute__((format(printf, 3, 4)));
size_t str_vformat(char *buf, size_t size, const char *f, va_list);

/*
 * To standard output, buffered; exits REFUSED when it cannot be written. Where
 * that is a FIFO of packets (O_DIRECT), what ends a line is one.
 */
void stdout_print(const char *f, ...) __attribute__((format(printf, 1, 2)));

/* From now on to this file, after what print holds back is written. */
void stdout_to(int fd, const char *name);

/* Write what print holds back: call last. line_read does before it waits. */
void stdout_flush(void);

/* write(2) until all is written. 0, or -1 and errno, silent. */
int fd_write_all(int fd, const char *text, size_t n);

/* The reader is gone: end as a filter does, of the signal, even where it is ignored. */
_Noreturn void stdout_broken_pipe(void);

/* Lines of standard input, or of a file; all zero at first but for the file. */
struct line_reader {
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
ssize_t line_read(struct line_reader *, char **line);

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
int opt_next(const struct tool *t, int argc, char **argv);

/* Complain about the operands and exit MISUSED with the synopsis. */
_Noreturn void usage_error(const struct tool *t, const char *fmt, ...)
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
int stdout_reopen(const struct tool *t, int access, int packets);

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
int text_number(const char *s, unsigned long low, unsigned long high,
		unsigned long *n);

/*
 * How many bytes n KB are: on a host of 32 bits, more than an unsigned long may hold.
 * KB_MAX is the largest number of KB that number() can give and whose bytes off_t holds.
 */
#define KB_BYTES(n) ((unsigned long long)(n) * 1024)
#define KB_MAX ((unsigned long)(sizeof(long) < sizeof(long long) ? ULONG_MAX : LONG_MAX / 1024))

/* The digits at *s as a number, and *s behind them; 0 when there are none. */
unsigned long long text_digits(const char **s);

/* Is it a control character? A line of text does not have these as they are. */
static inline int text_is_control(unsigned char c)
{
	return c < ' ' || c == 0x7f;
}

/* Put a question mark for each, where a column is as wide whatever a task's name is. */
static inline void text_mask_controls(char *s, const char *end)
{
	for (; s < end; s++)
		if (text_is_control((unsigned char)*s))
			*s = '?';
}

/* Bytes of the UTF-8 character of more than one that is at s; 0: none is. */
size_t text_utf8(const unsigned char *s, size_t n);

/* include/linux/threads.h: PID_MAX_LIMIT of 64-bit kernels */
#define PID_MAX_LIMIT (4 * 1024 * 1024)

/* A pid: a number from 1 to the kernel's PID_MAX_LIMIT; 0 for none. Silent. */
pid_t text_pid(const char *s);

/* Is it a name: 1 to most, or to 64, of [A-Za-z0-9_.-], not starting with dot or dash? */
int text_name_fits(const char *s, size_t most);
int text_is_name(const char *s);

/*
 * Split s as a shell splits words: blanks and newlines part words; ' " and \
 * quote; nothing is expanded. One allocation: the vector, NULL at its end,
 * with the words behind it; free() it. NULL: *why is a sentence that tells
 * what was wrong.
 */
char **words_split(const char *s, const char **why);

/*
 * Append word to buf (size bytes, NUL-terminated), quoted so that words_split
 * gives it back. -1, silent: it does not fit.
 */
int words_quote(char *buf, size_t size, const char *word);

/* ---- root.c: where the kernel's files are ------------------------------- */

/* $TRACER_PROCFS_PATH, or /proc; $TRACER_SYSFS_PATH, or /sys. */
/* The variable of the environment, or otherwise if it is not set or empty. */
const char *path_from_env(const char *name, const char *otherwise);

const char *path_procfs(void);
const char *path_sysfs(void);

/*
 * Open path if a file system with this magic number is mounted there. A mount point
 * without its file system is an empty directory, so the number decides. Return a
 * descriptor, or -1 and errno, silent: EACCES if the caller must not open it.
 */
int path_open_mounted(const char *path, unsigned long magic);

/*
 * Open the first file system of this type in the mount table; its directory goes to path
 * (PATH_MAX bytes). A path below /sys is taken below path_sysfs(). A descriptor; -1, silent.
 */
int path_open_listed(char *path, const char *type, unsigned long magic);

/* ---- ctl.c: control files, below a directory ----------------------------- */

/*
 * A whole file, NUL-terminated, length in *len unless NULL; free() it. NULL
 * and errno, silent.
 */
char *file_read(int dir, const char *file, size_t *len);

/*
 * The names in a directory, without those that start with a dot, ascending;
 * NULL at the end. One allocation. NULL and errno, silent.
 */
char **file_names(const char *path);

/* Does it name a file below a directory, and not outside of it? */
int file_is_below(const char *path);

/* Does the path exist below dir? */
int file_exists(int dir, const char *path);

/* ---- only.c: files that somebody else names ------------------------------ */

struct stat;

/* Kinds of files; FILE_NULL is /dev/null. */
enum { FILE_REGULAR = 1, FILE_FIFO = 2, FILE_BLOCK = 4, FILE_NULL = 8 };

/* What file_open returns for a file of no such kind. */
enum { FILE_OTHER = -2 };

/*
 * Open the path with these flags of open(2), close-on-exec, if it leads to a file of one
 * of the kinds; fill *st. A file of another kind is not opened at all. Without FILE_FIFO
 * the open does not wait. A descriptor, FILE_OTHER, or -1 and errno; silent.
 */
int file_open(const char *path, int kinds, int flags, struct stat *st);

/* ---- glob.c: names of events, by glob ------------------------------------ */

/* Does the glob, of * ? [a-z] [!a-z] \x, match all of the text? */
int glob_matches(const char *glob, const char *text);

/* Does it name the event? With a colon in it as SYSTEM:EVENT, else as EVENT. */
int glob_names(const char *glob, const char *system, const char *event);

/* ---- near.c: what somebody may have meant --------------------------------- */

enum { SUGGEST_MAX = 3 };

/* The nearest of the names that were offered, the nearest first. */
struct suggest {
	const char *word;               /* the caller's, as the names are */
	const char *name[SUGGEST_MAX];
	unsigned far[SUGGEST_MAX];      /* how many letters differ */
	unsigned n;
};

/*
 * Keep the name if it is nearer than those at hand, and near enough to be
 * meant: a third of its letters, two at least, may be other ones.
 */
void suggest_offer(struct suggest *, const char *name);

/* ---- wait.c: one wait point for signal, time, tasks ------------------------------ */

/* Stop, and give up whoever does not read: what is not delivered is told as lost. */
#define GIVE_UP SIGUSR2

/*
 * Block the signals that tell a tool to stop, HUP INT TERM USR1, and GIVE_UP. A
 * descriptor, non-blocking, that tells of them: signalfd(2).
 */
int wait_stop_signals(void);

/* Milliseconds on the monotonic clock. */
long long time_now_ms(void);

/* ---- child.c: processes that we start ------------------------------------------------- */

/* The status that a shell gives for what waitpid says. */
int child_status(int status);

/* Wait for the child's end; its child_status. */
int child_wait(pid_t);

/* Let the descriptor lead to /dev/null. */
void fd_to_null(int fd);

/* ---- tree.c: where the programs of this tree are ----------------------------------- */

/* Of a manager that is a link to the one program (lib/one): the link's directory. */
extern const char *program_link;

/*
 * The directory of the running program, by /proc/self/exe, never the
 * caller's: PATH_MAX bytes. -1 said.
 */
int program_directory(char *dir);

/*
 * The first of the candidate paths (relative to dir, NULL ends) that exists,
 * into path. -1, silent.
 */
int program_find(const char *dir, char *path, const char *const *candidates);

/*
 * place.h - a file that appears whole, in its place, or not at all
 *
 * While it is made it has no name, so it is gone when we are. Where a file without a
 * name cannot get one, it is made under another: .PROGRAM.PID, beside its place.
 */

struct atomic_file {
	unsigned long files;    /* the caller's: to keep, NAME.1 and so on; 0: no other */
	const char *path, *name; /* as the caller has it, and its last part */
	int dir;                /* where that is */
	int named;              /* files without a name cannot get one there */
};

/*
 * Where path will be, and that nothing is there which is no earlier file. path stays
 * the caller's. Exits MISUSED, with the tool's synopsis, or REFUSED.
 */
void atomic_file_find(struct atomic_file *, const struct tool *, const char *path);

/* A file that is gone when we are, empty, on the same disk. -1 and errno, silent. */
int atomic_file_scratch(const struct atomic_file *);

/* Find out, by one of them, whether such a file can get a name. Once, at first. */
void atomic_file_try(struct atomic_file *, int scratch);

/* A file for atomic_file_publish, where no scratch file is to be it. -1 and errno, silent. */
int atomic_file_make(const struct atomic_file *);

/*
 * Move the files that are finished one further, and put this one in front. -1 said;
 * atomic_file_drop then.
 */
int atomic_file_publish(const struct atomic_file *, int fd);

/* The file that was made is to have no name. */
void atomic_file_drop(const struct atomic_file *);

/* Remove the file NAME.i, if there is one. -1 said. */
int atomic_file_remove(const struct atomic_file *, unsigned long i);

/*
 * consumer.h - the reader of a tool's standard output, who may be slow, or leave
 *
 * A FIFO's reader may leave and another come; a tool waits for the one, and ends
 * with the last, unless it is a session's stream (NEXT_READER). Everything that a tool
 * waits for is waited for here, so that neither a reader's death nor the word to stop is
 * ever missed.
 */

struct consumer {
	int out;                /* standard output, or the FIFO that it was, opened anew */
	int signals;            /* wait_stop_signals() */
	int packets;            /* one line a write, in parts of PIPE_BUF at most */
	int stopping;           /* we were told to stop */
	unsigned readers;       /* how many readers came after another one had left */
	int given_up;           /* SIGUSR2: the reader is not worth waiting for any more */
	/*
	 * Nothing more can be written: 1 as the size limit leaves no room, which the
	 * owner may find first; TIMED_OUT, the reader took nothing; REFUSED, said.
	 */
	int full;
	int in_line;            /* what was written last does not end a line */
	int failed;             /* errno, of a write that could not be done */
	char tail[4096];        /* what was written last, */
	size_t ntail;
	unsigned long patience; /* ms, for a reader that takes nothing, when stopping */
	long long left;         /* bytes that may still be written; < 0 any */
};

/* At first: nobody yet, two seconds of patience, any size. */
#define CONSUMER (struct consumer){ .out = -1, .signals = -1, .patience = 2000, .left = -1 }

/* Room that a size limit leaves for the last line. */
enum { CONSUMER_LAST = 256 };

/* The value of an option: write no more than that many kilobytes. Exits MISUSED. */
void consumer_limit(struct consumer *, const struct tool *, const char *kilobytes);

/*
 * Standard output as stdout_reopen has it, in packets where packets is set. Without
 * a reader: as when one leaves. From here on SIGPIPE is ignored.
 */
void consumer_open(struct consumer *, const struct tool *);

/*
 * The one wait point: for events on fd (-1: none), for being told to stop or to give
 * up the reader, for the reader's death, at most us microseconds (< 0: any time). 1
 * when fd is ready, 0
 * when the time is up or we were told to stop just now. The last reader gone: ends
 * the program as SIGPIPE does; a session's stream waits for the next reader first, for
 * any time, and leaves signals pending until that reader comes.
 */
int consumer_wait(struct consumer *, int fd, short events, long us);

/*
 * Write all of it, waiting for the reader. Sets full when that cannot be, said where
 * it is an error. How many bytes of it were not written.
 */
size_t consumer_put(struct consumer *, const char *text, size_t n);

/*
 * A file has no more room: take back as many of its last lines as a last line needs.
 * How many of them were events. Else 0.
 */
unsigned long long consumer_take_back(struct consumer *);

/*
 * The same of a last line, of CONSUMER_LAST bytes at most. A reader that was given
 * up gets it as well, if he ever reads on: the FIFO is made larger for it.
 */
void consumer_last(struct consumer *, const char *line, size_t n);

/* How much of text fits below the size limit, in whole lines. */
size_t consumer_fitting(const struct consumer *, const char *text, size_t n);

/* The length of the first line, newline included; n when there is no end. */
size_t text_line_length(const char *text, size_t n);

/*
 * How many lines text has, one without its end too: Linux 5.10 keeps that for the
 * next read of trace_pipe.
 */
unsigned long long text_count_lines(const char *text, size_t n);

/* ---- words.c: text that grows, and an event's values in it ------------------------- */

struct strbuf {
	char *text;
	size_t n, room;
};

void strbuf_add(struct strbuf *, const char *, size_t n);
void strbuf_puts(struct strbuf *, const char *);

/* calloc; room for nothing is room, too. */
void *xcalloc(size_t n, size_t size);

/* ---- table.c: what a tool keeps of each key ------------------------------------------ */

/* The first member of what it keeps. */
struct table_entry {
	uint64_t hash;
	size_t n;
	char *key;              /* of n bytes, a NUL behind them */
};

/* All zero but for size: that of what is kept. */
struct table {
	size_t size;
	struct table_entry **v;
	size_t n, room;
};

/* What is kept of the key; all zero when it is new. */
void *table_at(struct table *, const char *key, size_t n);

/* The same; NULL: nothing is. */
void *table_find(const struct table *, const char *key, size_t n);

/* It is freed, and what it points to is the caller's. */
void table_remove(struct table *, void *entry);

/* All are in v[0..n), in the order of compare(struct entry **, ...): the table's end. */
void table_sort(struct table *, int (*compare)(const void *, const void *));

/* By the bytes of their keys. */
int table_by_key(const void *, const void *);

/* ---- bytes.c: bytes that grow ------------------------------------------- */

/* Bytes that grow; all zero at first. free(v). */
struct bytes {
	char *v;
	size_t n, room;
	int failed;             /* memory ran out: bytes are missing */
};

int bytes_room(struct bytes *, size_t n);               /* for n more; -1, silent: failed */
void bytes_add(struct bytes *, const void *, size_t n); /* out of memory: sets failed */
void bytes_string(struct bytes *, const char *);        /* with its NUL */
void bytes_u32(struct bytes *, uint32_t);               /* in our own byte order */
void bytes_u64(struct bytes *, uint64_t);

#endif
