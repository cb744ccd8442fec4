/* SPDX-License-Identifier: ISC */
/*
 * tool.h - the command line of a tool, and the files that its user names for the output
 */
#ifndef TOOL_H
#define TOOL_H

#include "base/base.h"

/* ---- options.c: declared options, and the command line of a tool -------------------- */

/* The type of an option's value. The words for the types are in options.c. */
enum opt_type {
	TYPE_FLAG,   /* no value */
	TYPE_NAME,   /* [A-Za-z0-9_.-], no leading dot or dash */
	TYPE_PID,
	TYPE_NUMBER, TYPE_MS, TYPE_US, TYPE_KB, /* from least to most; times and sizes with units */
	TYPE_UID, TYPE_PORT, /* a number or a name */
	TYPE_KEY,    /* what a filter counts by */
	TYPE_SYSCALL, /* a system call, a glob, a class, or one of these after ! */
	TYPE_ERROR,  /* ENOENT */
	TYPE_ID,     /* of a container: its first digits */
	TYPE_CONTAINER, /* a glob of names of containers, pods or namespaces, or an id */
	TYPE_DISK,   /* a disk in /sys/class/block, not a partition */
	TYPE_TEXT,   /* printable text */
	TYPE_CHOICE, /* one|of|these */
};

/*
 * An option as a line declares it, in the help of a tool or in the header of a hook:
 *	[-x, ]--name[ VALUE]  TEXT
 * A VALUE is a word of options.c such as MS, which names a type, or choices that are separated by
 * |. After the word of a number, a time or a size, :LEAST-MOST or :LEAST- gives the range of the
 * value, which --help does not print. "..." allows many values, and "[VALUE...]" also no value.
 * ",..." allows many values of type TEXT that commas separate; for all other types commas always
 * separate values. A [prefix] before the word is optional in a value. Two spaces begin the TEXT,
 * which is for people.
 */
struct opt {
	const char *line;
	char letter;        /* 0: long form only */
	char name[32];
	enum opt_type type;
	unsigned long least, most;
	char prefix[32];    /* removed from a value that begins with it */
	char choices[96];
	int many, commas, may_be_empty; /* commas: commas separate values of type TEXT, too */
	int all;                /* "all" is the greatest number */
	/* for managers, see session.h */
	int taken, for_hook, given;
	const char *pass;   /* NULL, or what the stream gets for the option; a space ends it */
	int to_filter;      /* the filter of the stream gets the option */
	const struct opt *implied; /* NULL, or an option that the hook gets, too */
	const char **v;
	size_t n;
};

/* Read a line, which a newline may end. Return 0, or -1, silent: it declares no option. */
int opt_parse(struct opt *, const char *line);

/*
 * Does the word, --name, --name=VALUE, -x or -xVALUE, give the option? Then set *value to the value
 * in the word, or to NULL if it has none.
 */
int opt_is(const struct opt *, const char *word, const char **value);

/* Print the line of an option without ranges: on one line; or as --help does, in 80 columns. */
void opt_describe(const char *line);
void opt_print(const char *line);

/* Add the name of the option that the line declares, after ", " if it is not the first one. */
void opt_add_name(struct strbuf *names, const char *line);

/* The word after --help that makes it describe all options. */
#define HELP_ALL "all"

/* Print text, which begins in this column, and continue at the column indent, to 80 columns. */
void print_wrapped(const char *text, size_t column, size_t indent);

/*
 * Check a value. Return it as programs take it: a number without a unit, or the number of a name.
 * Return NULL, with what is wrong in why (OPT_WHY bytes), if the option cannot have the value. The
 * types SYSCALL, ERROR, ID, CONTAINER and DISK are for hooks, and checked in lib/session/value.c.
 */
enum { OPT_WHY = 400 };
const char *opt_check(const struct opt *, const char *value, char *why);

/*
 * How to check a value of a type: check returns the value as programs take it, or NULL; or `is`
 * returns whether the option can have the value. If both are NULL, it can have any. If check writes
 * no message, the message is "VALUE is not WHAT", with the text what.
 */
struct opt_check {
	const char *(*check)(const struct opt *, const char *, char *why);
	int (*is)(const char *);
	const char *what;
};
const char *opt_check_as(const struct opt_check *, const struct opt *, const char *, char *why);

/* Append to why. Return NULL. */
const char *opt_why(char *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * The command line of one tool. --help prints the lines of help. They come from the file NAME.help
 * beside the tool (help.awk):
 * - the synopsis without "usage", the same as in the manual page;
 * - the purpose, which is the text after the dash in the tool's first comment;
 * - a line for each option, as above, and for each command, which is only printed;
 * - before each further group of these, a line ":TITLE": --help prints only the names of the group.
 * The manual page has the same options, commands and values. In the line of a tool, a word that
 * names no type stands for text that opt_next does not check.
 */
struct tool {
	const char *name, *help;
	int takes_instance;     /* opt_next takes -R ROOT and -i INSTANCE itself, */
	const struct opt_place {
		char letter;            /* 0: see name */
		const char *name;       /* the long name; no letter and no name: the end */
		int *flag;              /* becomes 1, or */
		const char **text;      /* the last value, or */
		unsigned long *number;  /* the last value, of type N, MS, US or KB, or */
		struct opt_list *list;  /* all values */
	} *places;              /* and these options */
};

/* The values of an option that may be repeated, and NULL. At first n is 0; v has the default. */
struct opt_list {
	const char **v;
	size_t n;
};

/* For v. */
#define OPT_LIST(...) ((const char *[]){ __VA_ARGS__, NULL })

/* The last option; its value, NULL if it takes none; the index of the next argument in argv. */
extern struct opt opt_last;
extern char *opt_value;
extern int opt_index;

/* The values of -R and -i of a tool with takes_instance; NULL: not given. */
extern const char *opt_root, *opt_instance;

/*
 * Return the letter of the next option, OPT_LONG if it has none, or -1 after the last one;
 * opt_index is then the index of the first operand. The rules are those of POSIX getopt(3), and
 * --name VALUE or --name=VALUE is the same as -x VALUE. Check the value by its type: opt_value is
 * then as opt_check returns it. Answer -h, --help and --version, and exit DONE. If an option or its
 * value is wrong, report that and the synopsis, and exit MISUSED.
 */
enum { OPT_LONG = 1 };
int opt_next(const struct tool *t, int argc, char **argv);

/* Store the last option at its place among these. Return 0 if it has none there. */
int opt_put(const struct opt_place *);

/* Return opt_value as a number, for an option of type N, MS, US or KB. */
unsigned long opt_number(void);

/* Report the message and the synopsis, then exit MISUSED. */
_Noreturn void usage_error(const struct tool *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Exit MISUSED: the value of the last option is not what it has to be, such as "a list of pids". */
_Noreturn void opt_refuse(const struct tool *, const char *what);

/* Return the pid that an operand names. Exit MISUSED if it names none. */
pid_t opt_pid(const struct tool *, const char *operand);

/* Exit MISUSED unless operand, the first argument that the tool does not take, is NULL. */
void opt_end(const struct tool *, const char *operand);

/* ---- names.c: users and ports by their names --------------------------------------- */

struct suggest;

/*
 * Write the number of a user in /etc/passwd, or of a port of TCP in /etc/services, to *n. Other
 * databases of names (NSS) are not asked. Return 0; 1, silent, if the file has no such name: then
 * the nearest names, which stay allocated until the next call, are offered to near; or -1 and
 * errno, silent, if the file cannot be read.
 */
int names_user(const char *name, unsigned long *n, struct suggest *near);
int names_port(const char *name, unsigned long *n, struct suggest *near);

/* ---- pid_args.c: pids of the command line ------------------------------------------ */

/*
 * Put the operands into out as pids, and sort the set. Without operands, or with only "-", read
 * standard input, where spaces and newlines separate the pids. Exit MISUSED if one is not a pid, or
 * if there is none. Return 0, or -1, reported.
 */
int pids_operands(const struct tool *, char **argv, struct pids *out);

enum {
	PID_LIST_IDLE = 1,      /* allow 0, the idle task */
	PID_LIST_OTHERS = 2,    /* allow -PID: all tasks except this one */
};

/*
 * Add the pids of an option's value, with commas between, and sort the set. Exit MISUSED if one is
 * not a number up to K_PID_MAX_LIMIT. Return 0, or -1, reported.
 */
int pids_option(const struct tool *, const char *list, int flags, struct pids *out);

/* ---- output_file.c: a file that the user has named for the output of a tool ---------- */

/*
 * Create the file, with mode 0600, or open it without truncating it if it exists: a regular file
 * without another name, and in a sticky directory not of another user; or /dev/null or /dev/full.
 * Never follow a link, and never wait. Set *made to 1 if the file is new, else to 0. Return a
 * descriptor for writing, or -1, reported.
 */
int output_file(const char *path, int *made);

/*
 * Open the directory of the path (O_PATH), and set *name to the last part of it. Return a
 * descriptor; OUTPUT_NO_NAME, silent, if the path ends in no file's name, or is too long; or -1,
 * reported.
 */
enum { OUTPUT_NO_NAME = -2 };
int output_parent(const char *path, const char **name);

/*
 * May a new file replace the name? Return 1 if there is none or it is a regular file, 0 if it is
 * anything else, or -1 and errno.
 */
int output_is_regular(int dir, const char *name);

/* ---- atomic_file.c: a file that appears complete, or not at all --------------------- */

/*
 * The file has no name while it is written, so it disappears if the program dies. Where an unnamed
 * file cannot get a name, the file is written as .PROGRAM.PID in the same directory.
 */
struct atomic_file {
	unsigned long files;    /* set by the caller: files to keep, NAME, NAME.1, ...; 0: NAME */
	const char *path, *name; /* the caller's path, and its last part */
	int dir;                /* the directory */
	int named;              /* unnamed files cannot get a name there */
};

/*
 * Open the directory of path. Check that path, and NAME.1 and so on, do not exist or are
 * regular files; exit MISUSED if they are something else. path is not copied. Return 0, or
 * -1, reported.
 */
int atomic_file_find(struct atomic_file *, const struct tool *, const char *path);

/* Return an empty file without a name on the same disk. -1 and errno, silent. */
int atomic_file_scratch(const struct atomic_file *);

/* Test with a scratch file whether a file without a name can get one. Call this once, early. */
void atomic_file_try(struct atomic_file *, int scratch);

/* Return a new file for atomic_file_publish. -1 and errno, silent. */
int atomic_file_make(const struct atomic_file *);

/*
 * Rename NAME.1 to NAME.2, NAME to NAME.1 and so on, and give fd the name NAME. Return 0,
 * or report and -1; the caller then calls atomic_file_drop.
 */
int atomic_file_publish(const struct atomic_file *, int fd);

/* Remove the temporary name of the file that atomic_file_make made. */
void atomic_file_drop(const struct atomic_file *);

/* Remove the file NAME.i if it exists. Return 0, or -1, reported. */
int atomic_file_remove(const struct atomic_file *, unsigned long i);

#endif
