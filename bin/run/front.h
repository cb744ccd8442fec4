/* SPDX-License-Identifier: ISC */
/*
 * front.h - what tfs-run shows to a person: the hooks, their options, and mistakes
 *
 * This layer is above session. tfs-run alone uses it. It reads the headers of hooks, as managers
 * do, and asks managers what this kernel can run. It makes no session.
 *
 * "Reported" means that the function printed the error.
 */
#ifndef FRONT_H
#define FRONT_H

#include "base/base.h"
#include "tool/tool.h"
#include "people/people.h"

/* ---- ask.c: what the words of tfs-run's command line ask for ------------------------- */

/* The words are those of argv, which ask_parse rearranges. */
struct ask {
	const char *subsystem;      /* -m; NULL: any */
	char *hook;                 /* NULL: none is named */
	char **words;               /* the hook's options, NULL at the end */
	char **command;             /* PROG and its arguments; NULL: none */
	const char *file;           /* -o; NULL: standard output */
	const char *color;          /* of lines for people: auto, always, never; NULL: auto */
	const char *top, *sort, *every, *per; /* of --summary */
	int check, help;            /* --check, --help after HOOK */
	int help_all;               /* --help all */
	int list;                   /* -l */
	const char *end;            /* -k */
	int summary, human;         /* --summary, --human */
};

/* Is the word among the words? */
int ask_has_word(char *const *words, const char *word);

/* The options of tfs-run that may stand after HOOK, "NAMES [VALUE]  TEXT"; NULL at the end. */
extern const char *const ask_options[];

/* Is this line of ask_options about --summary, or about an option of --summary? */
int ask_is_of_summary(const char *line);

/* Read the words after tfs-run's name. Exit MISUSED if they are wrong. */
void ask_parse(struct ask *ask, const struct tool *tool, int argc, char **argv);

struct hook;

/* Append a space and a word to line as a person types it: in quotes only if a shell needs them. */
void ask_add_word(char *line, size_t size, const char *word);

/* Is the word a program that a person may want to trace? */
int ask_is_program(const char *word);

/* Is the word an option of the hook whose values are the next words? */
int ask_takes_values(const struct hook *h, const char *word);

/* Is the word an option of tfs-run that may stand after HOOK? */
int ask_is_own(const char *word);

/*
 * If the words after tfs-run's name begin with an option that belongs after the hook, report what
 * to type and return -1. Otherwise return 0. hooks is the directory of catalog_find.
 */
int ask_check_option(const char *hooks, char **words);

/* Check that the first word after HOOK is an option. Return 0, or -1, reported. */
int ask_check_first(const struct ask *ask, const struct hook *h);

/*
 * Check that each time has a unit, because managers take a number as milliseconds, and other
 * tracers as seconds. Return 0, or -1, reported.
 */
int ask_check_units(const struct ask *ask, const struct hook *);

/*
 * Check that no option of --summary stands without --summary. If the hook has a --summary of its
 * own, give the word back to the hook. Return 0, or -1, reported.
 */
int ask_check_summary(struct ask *ask, const struct hook *);

/* If the word in the hook's place is a program, report what to type. Return whether it is. */
int ask_hook_is_program(const struct ask *ask);

/*
 * After the manager has refused the words of ask: if one of them is a program, print the line with
 * "--" before the program.
 */
struct catalog_hook;
void ask_hint(const struct ask *ask, const struct catalog_hook *hook);

/*
 * Write the path of a program to path (PATH_MAX bytes) as execvp(3) finds it. Return 0, or the
 * status that a shell gives, silent: 126 and the path of a file that is not executable, or 127.
 */
int ask_find_program(const char *name, char *path);

/* ---- peers.c: the words of strace, perf, bcc and trace-cmd ---------------------------- */

/* Is the word an option of the hook, or of tfs-run? */
int peers_has(const struct hook *h, const char *word);

/* If an option of ask is one of a peer, report what to type and return -1. Otherwise return 0. */
int peers_check_options(const struct ask *ask, const struct hook *h);

/*
 * The words begin with an option, and no hook is named. Write the command for trace_syscalls to
 * line. Return 0 if neither trace_syscalls nor a peer has the first option.
 */
int peers_command(const char *hooks, char **words, char *line, size_t size);

/*
 * If the name of a peer, a system call or an event is in the hook's place, report what to type, and
 * return -1. Otherwise return 0. peers_strace does it for strace.
 */
int peers_answer(const struct ask *ask);
int peers_strace(const struct ask *ask, const char *hooks);

/* ---- output.c: where the trace goes: a file, a filter, a person ----------------------- */

enum { OUTPUT_MORE = 5 };

struct output {
	const char *file;           /* -o; NULL: standard output */
	int dat;                    /* the session writes a trace.dat, which becomes the file */
	int json;                   /* the session has to print JSON */
	int human;                  /* a person reads the lines */
	int terminal;               /* standard output is a terminal, and shows the trace */
	int direct;                 /* the stream may make the lines for people itself */
	int decoded;                /* a line is a call: two events */
	int date;                   /* the session has to give the date */
	int ready;                  /* the first line says that the session is ready for PROG */
	int header;                 /* the session has to name the traced tasks, for a picture */
	const char *more[OUTPUT_MORE + 1]; /* options that the output needs; NULL ends */
	int alone;                  /* the session says itself why it prints nothing */
	struct strbuf title;        /* of the picture: the command */
	const char *filter[32];     /* a tool between tfs-run and fd, and its options; or none */
	const char *reader[4];      /* a tool between the trace and tfs-run, if it is needed */
	int decided;                /* it is decided whether reader is needed */
	pid_t pid;                  /* of the filter or the reader */
	int made;                   /* the file is new */
	int fd;                     /* write the trace to this */
	/* for a person: what output_count has seen */
	unsigned long long events, bytes;
	unsigned long long lost, overwritten; /* all lost events; those lost in a full buffer */
	char last[80];              /* the beginning of the line */
	size_t nlast;
	/* at a terminal */
	struct strbuf lines, shown; /* the begun line, and the text to write */
	struct screen screen;       /* if the session prints tables that replace each other */
	int tables;                 /* the session prints such tables */
	int hurried;                /* nobody waits: show the last lines, and count the others */
	unsigned long long unwritten; /* the number of the others */
	/* the line of the progress */
	int counted;                /* a person is told how many events there are */
	int progress, drawn;        /* a person sees the line meanwhile; it is there */
	int tracefs;                /* the root */
	int session;                /* the directory of the session */
	long long next;             /* when to draw it again */
	char instance[NAME_MAX + 16]; /* below the root */
};

/*
 * Choose the output by the options, the end of the file's name, and the hook. ask and hook must
 * live as long. Return 0, or -1, reported: options contradict each other.
 */
int output_plan(struct output *o, const struct ask *ask, const struct hook *);

/* Find the filter and open the file; its content stays. Return 0, or -1, reported. */
int output_open(struct output *o);

/* Remove the file if output_open has made it, because no session has begun. */
void output_drop(const struct output *o);

/* The session has begun: empty the file and start the filter. Return 0, or -1, reported. */
int output_start(struct output *o);

/* Move the session's trace.dat to the file, and remove its directory. Return 0, or -1, reported. */
int output_copy(struct output *o, const char *path);

/*
 * Call this before the first read, when the trace is readable. If its lines are not for people yet,
 * start the reader, and set *trace to the reader's output. Return 0, or -1, reported.
 */
int output_reader(struct output *o, int *trace);

/*
 * At a terminal: replace the text, n bytes of the trace, by the text to write, in lines that fit.
 * n is 0 at the end of the trace.
 */
void output_show(struct output *o, const char **text, size_t *n);

/* Close the output and wait for the tool. Return its exit status, or REFUSED, reported. */
int output_close(struct output *o);

/* Count the events in n bytes of the trace, if a person or output_end needs the number. */
void output_count(struct output *o, const char *text, size_t n);

/*
 * If the trace goes to a file or into a summary and standard error is a terminal, a line shows the
 * progress: output_watch begins, after the session has printed path, output_progress is called
 * every PROGRESS_MS, and output_clear removes the line for good.
 */
enum { PROGRESS_MS = 500 };
void output_watch(struct output *o, const char *path);
void output_progress(struct output *o);
void output_clear(struct output *o);

/*
 * Tell a person at a terminal that the trace begins, and how it ended. none: the filter printed
 * nothing; output_end says this even without a terminal. status: that of the session.
 */
void output_begin(const struct output *o, const struct ask *ask, pid_t pid);
void output_end(const struct output *o, const struct ask *ask, int none, int status);

/* Tell what the selected tasks wait for. Return 0 if one of them runs: try again later. */
int output_waits(const struct ask *ask);

/* Does a program such as an editor, or one that asks for a password, use the terminal? */
int output_is_taken(void);

/* ---- silence.c: what a session that begins or ends waits for -------------------------- */

enum { SILENCE_MS = 1000 };

/* All zero at first: nobody waits. */
struct silence {
	const char *what;       /* "starting" */
	pid_t manager;
	long long since, next;  /* since when nothing happens, and when to say so; 0: never */
	int drawn;              /* a line says it */
};

/*
 * Begin a silence: from now on, nothing happens. Call silence_tell when silence_wait milliseconds
 * have passed (-1: never): it prints a line that the next line overwrites. silence_end removes it.
 */
void silence_begin(struct silence *, const char *what, pid_t manager);
int silence_wait(const struct silence *);
void silence_tell(struct silence *);
void silence_end(struct silence *);

/* ---- catalog.c: the hooks of all subsystems, and those of the user ------------------ */

/* One hook. The user's own hooks are in the directories of $TFS_HOOKS, see tfs-run(1). */
struct catalog_hook {
	char name[80], subsystem[80];
	char dir[PATH_MAX];         /* the directory of its manager */
	char path[PATH_MAX];        /* the hook's file */
	int executable;
};

/*
 * Write the directory of all subsystems to dir (PATH_MAX bytes). subsystem is NULL, or must exist
 * there. Return 0, or an exit status, reported.
 */
int catalog_find(char *dir, const char *subsystem);

/*
 * Return all hooks, of the subsystem if it is not NULL, sorted by name, and their number in *n. The
 * caller frees the vector. Exit REFUSED without memory.
 */
struct catalog_hook *catalog_read(const char *dir, const char *subsystem, size_t *n);

/*
 * Find the hook that a person's word means: its name, its name without trace_, or the path of an
 * executable file, whose directory is then put before $TFS_HOOKS. Return 0, or -1, reported, or
 * CATALOG_NONE, silent, if there is no such hook.
 */
enum { CATALOG_NONE = -2 };
int catalog_choose(struct catalog_hook *hook, const char *dir, const char *subsystem,
		   const char *word);

/* Report that there is no such hook, and what the word may have meant. Return -1. */
int catalog_suggest(const char *dir, const char *subsystem, const char *word);

/* ---- help.c: print what hooks there are, and what one of them does ------------------ */

/*
 * Run a program, whose path is argv[0], without input. Write its first line, without what an error
 * message begins with, to why (size bytes). Return its exit status.
 */
int help_ask(const char *const *argv, char *why, size_t size);

/* Print all hooks by the question that they answer, and why some cannot run here. */
void help_list(const char *dir, const char *subsystem);

/*
 * Print the options and examples of a hook; of the options that all hooks have the names only,
 * unless all is set. front_options are those of tfs-run, "NAMES [VALUE]  TEXT"; NULL ends them.
 * Return 0, or -1, reported.
 */
int help_hook(const struct catalog_hook *hook, const char *const *front_options, int all);

/*
 * Print for each hook whether this kernel can run it, or why not. Return DONE if all can, else NO.
 */
int help_check(const char *dir, const char *subsystem);

/* ---- sessions.c: the sessions that run, and dumps -------------------------------------- */

/* Print the sessions that run, and the dumps of the flight recorder. Return the exit status. */
int sessions_list(void);

/* End the session of this name, or remove the dump of this path. Return the exit status. */
int sessions_end(const char *name);

#endif
