/* SPDX-License-Identifier: ISC */
/*
 * session.h - sessions: managers, hooks, requests of callers, janitors and streams
 *
 * This layer may include all layers below it except lines, answers, show, seen and draw.
 *
 * Terms: a hook is an executable file in hooks.d/; its header is the comment at its top, which the
 * manager reads. A session is one run of a hook, with its instance, its directory in the run
 * directory, and its processes. The manager checks the request and waits. The janitor makes
 * everything and removes everything. The stream turns records into output. A session is stale if
 * its janitor is dead. A selector is an option that selects tasks. The caller runs the manager; the
 * reader reads the output.
 *
 * A manager is manager.c, linked with one struct subsystem. lib/session/ knows sessions and hooks
 * but no event. Only the subsystem knows the kernel side of a session.
 *
 * "Reported" means that the function printed the error.
 */
#ifndef SESSION_H
#define SESSION_H

#include <sys/stat.h>

#include "tool/tool.h"
#include "proc/proc.h"

/* ---- hook.c: find hooks and read their headers ------------------------------------- */

/*
 * The options of a hook are struct opt of tool.h. Here, taken says that the hook has redefined this
 * common option. for_hook says that the option is the hook's own: the hook gets its values as one
 * text. given says that the request has this option, with its n values v, which the request owns.
 */
#define HOOK_OPTIONS_MAX 40

struct hook {
	const char *name;
	char path[PATH_MAX];
	char *text;                 /* the text of the file, which the strings below point into */
	const char *description;
	const char *question;       /* the question that it answers, for tfs-run; NULL: none */
	const char *examples[4];    /* "COMMAND[  TEXT]" */
	size_t nexamples;
	const char *columns;        /* of lines for people; NULL: none */
	const char *summary;        /* options of tfs-summary, or as picture; NULL: none */
	const char *picture;        /* which lines a picture shows, and why not others; NULL: all */
	int alone;                  /* its stream works without a reader */
	/* with one of these options the stream's first line says that it is ready; "": always */
	const char *ready;
	int plain;                  /* its stream prints text of its own, without dates */
	int marked;                 /* marks say what tasks wait for, and when the session ends */
	const char *adds[4];        /* "VIEW OPTION...", see trace-hook(5) */
	size_t nadds;
	const char *complete;       /* an option if each call has its beginning; NULL: none */
	int selectors_optional;     /* without selectors it waits for any task */
	const char *selects;        /* NULL, or what selectors mean if the hook selects events */
	int selects_subjects;       /* it selects only if --event is about another task */
	const char *alternative;    /* a command that needs less of the kernel, or NULL */
	const char *requires[16];
	size_t nrequires;
	struct opt options[HOOK_OPTIONS_MAX]; /* the common options first */
	size_t noptions, ncommon;
};

/* Return the command that prints the options of the hook, valid until the next call. */
const char *hook_help(const char *name);

/* Can a hook have this name? */
int hook_is_name(const char *name);

/*
 * The environment variable with the directories of the user's own hooks, absolute paths with colons
 * between, which come before hooks.d. A client of container-tracer cannot set it.
 */
#define HOOK_DIRECTORIES "TFS_HOOKS"

/* Write the i-th of these directories to path (PATH_MAX bytes). Return 0, or -1: no more. */
int hook_own_directory(char *path, size_t i);

/* Read the hook from a directory of $TFS_HOOKS or from dir/hooks.d. Return 0, or -1, reported. */
int hook_read(struct hook *r, const char *dir, const char *name);

/*
 * Read the header at the beginning of text into the hook, which keeps pointers into text. file is
 * for messages. Return 0, or -1, reported.
 */
int hook_parse_header(struct hook *r, char *text, const char *file);

/* Print the names of all hooks that the policy allows, sorted. Return 0, or -1, reported. */
int hook_list(const char *dir);

/* Does the hook take this common option? */
int hook_shows(const struct hook *r, const struct opt *o);

/* Print the description and the options of a hook. */
void hook_describe(const struct hook *r);

/*
 * Check the "requires" lines of the header below the open directory root. {option} in a path stands
 * for each value of that option. Return 0, or -1 and what is missing in why (size bytes). path is
 * that of root, for the text.
 */
int hook_check_requirements(const struct hook *r, int root, const char *path, char *why,
			    size_t size);

/* Return the hook's own option whose name is at the beginning of the text, or NULL. */
struct opt *hook_own_option(const struct hook *r, const char *name);

/* Return the common option of that name, which must exist. */
const struct opt *hook_common_option(const struct hook *r, const char *name);

/* ---- value.c: check the values of options ------------------------------------------ */

/* Do as opt_check does, also for the types that only hooks have. */
const char *value_check(const struct opt *o, const char *s, char *why);

/* ---- request.c: parse the options that the caller gave ----------------------------- */

enum output_kind { OUTPUT_LINES, OUTPUT_FIFO, OUTPUT_FILE, OUTPUT_DAT }; /* files last */

struct request {
	struct hook *hook;
	char **words;                /* the values of options lie in them */
	char session[128];           /* the name of the session */
	struct selector *selectors;
	size_t nselectors;
	struct pids parents;         /* of --parent: trace only their children */
	struct pids dead;            /* named, but dead when the request was parsed */
	int all_tasks;               /* --all, or a hook without selectors */
	/* how tasks join later: rules of tfs-catpipe -W, one per line; NULL: only as children */
	char *joins;
	int waits;                   /* a selector may have no task now: go on without tasks */
	int threads;                 /* the stream selects tasks that the kernel does not follow */
	const struct subject *about; /* an event of a hook with selects_subjects; NULL: none */
	const struct subject *subject; /* with selects: an event in other tasks; NULL: none */
	long ms;                     /* time limit; -1: none */
	enum output_kind output;
	int dry;                     /* --check: make the session, record nothing, remove it */
	int header;                  /* begin text with header lines */
	int date;                    /* give the date */
	int containers;              /* name the container of each task */
	int json;                    /* print JSON lines, not text */
	int human;                   /* print lines for people: FOR_EYES */
	int persist;                 /* record in the reserved instance (a hook's --persist) */
	unsigned long buffer_kb;     /* per CPU; 0: the kernel's default */
	unsigned long size_kb;       /* of a file */
	const char *clock;           /* NULL: the kernel's default */
	const char *args;            /* the words as a shell splits them, for audit.c */
};

/* The common options, as lines of a header. */
extern const char request_common_options[];

/*
 * Check the words against the hook's options and fill in the request, which keeps them. Overwrite
 * commas in them. Make nothing. Return 0, or -1, reported.
 */
int request_parse(struct request *rq, struct hook *r, char **words);

/*
 * Report an option that the hook does not have, with the nearest of its options and of more, lines
 * of options that NULL ends; NULL: none. Return -1.
 */
int request_no_option(const struct hook *r, const char *word, const char *const *more);

/* A socket, through which a hook's tools send descriptors for the janitor to keep. */
#define KEEPS_FD 3

/*
 * Add the selectors of --container, --pod and --namespace, after policy_request, because messages
 * name containers of the host. Return 0, or -1, reported.
 */
int request_find_containers(struct request *rq);

/*
 * Let the stream take the tasks that come later: those of --comm and --uid, and those that enter
 * cgroups and containers. Call it after request_find_containers. If the stream cannot do that,
 * change nothing. Return 0, or -1, reported.
 */
int request_wait(struct request *rq);

/*
 * Is the cgroup, or the container, without a task now, and may it have one later? If that cannot be
 * told, recording_check_tasks reports it.
 */
int request_is_empty(const struct selector *);

/* Does a selector name a cgroup or a container? */
int request_names_cgroup(const struct request *);

/* Replace globs, classes and negations of system calls by names. Return 0, or -1, reported. */
int request_expand_syscalls(struct request *rq, int root);

/*
 * Return the environment of the hook: the path of the tools, the variables of the subsystem (NULL
 * ends them), and the options as HOOK_NAME; nothing else. NULL: memory is out.
 */
char **request_environment(const struct request *rq, const char *tools,
			   const char *const *variables);

enum { HOOK_VARIABLES_MAX = 4 };

/* Return how many files a flight recorder wants for its dumps, and their size in total. */
void request_dumps(const struct request *rq, unsigned long *files, unsigned long *kb);

/* Return whether the hook itself selects the events of the selected tasks. */
int request_hook_selects(const struct request *rq);

/*
 * Return whether the session may record threads of io_uring and vhost, and nothing follows them but
 * recording_follow_late.
 */
int request_lacks_threads(const struct request *rq);

/* ---- policy.c: what an administrator allows, see tfs-policy(5) --------------------- */

/* Read the policy. Call it first. Return 0, or -1, reported: nothing is allowed. */
int policy_read(void);

/* Return whether the hook is allowed. */
int policy_hook(const char *hook);

/* Check the options and selectors of the request. Return 0, or -1, reported. */
int policy_request(const struct request *rq);

/*
 * Check the limits for sessions, buffers and files: with more = 1 before the session is made, and
 * with 0 when it exists, so that sessions that start at the same time see each other. Return 0, or
 * -1, reported.
 */
int policy_limits(const struct request *rq, int rundir, int more);

/* Return the KB in which a stream may keep events for its reader; 0: the policy does not say. */
unsigned long policy_memory_kb(void);

/*
 * A session that works alone wants so many files of so many KB in total for its dumps. Lower both
 * to what the limits leave to it. Return 0, or -1, reported, if they leave nothing.
 */
int policy_dumps(const struct request *rq, int rundir, unsigned long *files, unsigned long *kb);

/* ---- audit.c: write a record of each session to the host's log --------------------- */

/*
 * Set where records go: "syslog" (/dev/log), "kmsg" (/dev/kmsg), the absolute path of a datagram
 * socket, which the caller keeps, or "off", the default. Return 0, or -1 for another word.
 */
int audit_to(const char *where);

/*
 * Record that the session begins, before anything of it is made; and that it has ended, with the
 * status of the janitor (-1: the janitor was killed). A record that the log does not accept at once
 * is lost. A dry session has none.
 */
void audit_begin(const struct request *rq, const char *subsystem);
void audit_end(const struct request *rq, const char *subsystem, int status);

/* ---- rundir.c: the directories of sessions ----------------------------------------- */

/* Return the path of the run directory: $TFS_RUNDIR or /run/tfs. */
const char *rundir_root(void);

/*
 * Make and open the subsystem's directory in $TFS_RUNDIR or /run/tfs, and write its path to path
 * (PATH_MAX bytes). Return a descriptor, or -1, reported.
 */
int rundir_open(const char *subsystem, char *path);

/*
 * The mode of a session's file until its path is printed; the sticky bit has no meaning on a file.
 * Then it belongs to the caller and has mode 0600.
 */
#define UNANNOUNCED (S_ISVTX | 0600)

/*
 * Note in a session's directory that it may have so many files of so many KB in total; return 0, or
 * -1 and errno. rundir_reserved reads both: 0 if the session has ended, or has noted nothing.
 */
int rundir_reserve(int dir, unsigned long kb, unsigned long files);
void rundir_reserved(int dir, unsigned long *kb, unsigned long *files);

/*
 * Remove the trace from a session's directory. Return a descriptor of it, which the caller closes,
 * or -1 if there was none. A reader inside open() of the FIFO would wait there for ever, but the
 * open writer lets it continue to an end of file. First wait for readers that have found the name
 * but are not yet inside open().
 */
int rundir_unlink_trace(int dir);

/*
 * Remove a session's directory; a file whose path was printed, and dumps, only if files is set.
 * Return 0, or -1 and errno.
 */
int rundir_remove(int dir, const char *name, int files);

/* ---- recording.c: sessions that record in an instance ------------------------------ */

/* Check, before anything is made, that the selectors match a task. Return 0, or -1, reported. */
int recording_check_tasks(const struct request *rq);

/*
 * Write the next part of the comment line that names the dead tasks of the request to line (size
 * bytes), without a newline. *at, 0 at first, counts the tasks that are named. Return the length,
 * or 0 after the last one.
 */
size_t recording_dead_comment(const struct request *rq, size_t *at, char *line, size_t size);

/* Write these lines to a session's output, before its stream writes. Return the number of bytes. */
size_t recording_write_dead_comments(const struct request *rq, int fd);

/* Trace the selected tasks and their children in this instance. Return 0, or -1, reported. */
int recording_follow(const struct request *rq, int instance);

/*
 * Follow tasks that the kernel does not follow: those that enter a cgroup of the request later, and
 * threads of io_uring and vhost. recording_is_late tells whether there may be some.
 * recording_watch_late makes an instance that records them, and returns its descriptor, or -1,
 * reported. Then recording_follow finds the tasks that are there. Then recording_follow_late starts
 * a process that adds later ones to the instance, and to the map of rings_list if calls is not -1,
 * and counts them (late_add). It returns the pid, or -1, reported; SIGTERM ends the process, after
 * it has counted all.
 */
int recording_is_late(const struct request *rq);
int recording_watch_late(const struct request *rq, int instances, const char *name);
pid_t recording_follow_late(const struct request *rq, int watched, int instance, int count,
			    int calls);

/*
 * The kernel's list of tasks to trace lacks the threads of io_uring and vhost, which are no forks.
 * So do not trace, in the instance, the tasks that are there now and that the other instance does
 * not follow, and their children. Return 0, or -1, reported.
 */
int recording_exclude_others(int instance, int followed);

/* Add the tasks that the instance of this name follows to out. Return 0, or -1, reported. */
int recording_followed(const char *instance, struct pids *out);

/* Return a descriptor of the directory of all instances, or -1, reported. */
int recording_instances(void);

/* Return the name of the session's instance: prefix and name; valid until the next call. */
const char *recording_name(const struct request *rq);

/* Add the tasks of --parent and their threads to out, and sort it. Return 0, or -1, reported. */
int recording_parents(const struct request *rq, struct pids *out);

/*
 * Set argv to the tool and the options that all streams have: the instance (NULL: no -i), the size
 * limit, -l and -H. Return their number; NULL ends them.
 */
size_t recording_stream(const struct request *rq, const char *tool, const char *instance,
			const char **argv);

/* Append the option to the n words of argv if it has a value, not NULL or "". Return the new n. */
size_t recording_option(const char **argv, size_t n, const char *option, const char *value);

/* Stop recording in the instance; -1: there is none. Return whether it has unread records. */
int recording_stop(int instance);

/*
 * Remove the instance of the session before its lock, so that nobody takes it for a stale one.
 * Close both descriptors. Return 0, or -1, reported.
 */
int recording_remove(const struct request *rq, int instances, int instance);

/*
 * Open a file of the session's instance that stays open over exec, so that nobody removes the
 * instance before this process has ended. Return 0, or -1, reported.
 */
int recording_pin(const struct request *rq);

/*
 * Remove the stale instances of the subsystem: sweep of struct subsystem. Release each before and
 * after its removal. If it cannot be released, the instance stays for now. Wait for the recorder of
 * a session that is named. Return 0 or -1.
 */
int recording_sweep(const char *session);

/*
 * Check, before anything is made, that this kernel can record as requested. root is that of struct
 * subsystem. Return 0, or -1, reported.
 */
int recording_check(const struct request *rq, int root);

/*
 * Make the instance of the session with owned_make, or for --persist take the reserved one, whose
 * events of the last boot are saved first. Return a descriptor, or -1, reported.
 */
int recording_own(const struct request *rq, int instances);

/* Do the same, with the requested buffer and this clock (NULL: the default), not yet recording. */
int recording_make(const struct request *rq, int instances, const char *clock);

/*
 * Add the janitor, which calls this, the manager, and tfs-run if it runs the manager to us, and
 * sort it. Return 0, or -1, reported.
 */
int recording_own_tasks(struct pids *us);

/*
 * Record all tasks except the session's processes and their children. When events are enabled, the
 * caller has to call exclude_tasks as well. Return 0, or -1, reported.
 */
int recording_exclude_session(int instance);

/* ---- stream.c: the processes that write a session's output ------------------------- */

#define STREAM_WORDS_MAX 64
#define STREAM_BYTES 32768 /* half of a pipe, so no hook blocks */

/* The words that a hook printed, see trace-hook(5). Initialize it with zeros. */
struct stream_words {
	char text[STREAM_BYTES];
	int tool;                            /* the first word is a tool */
	const char *word[STREAM_WORDS_MAX];  /* options, after the tool; NULL ends */
	const char *filter[STREAM_WORDS_MAX]; /* the filter and its arguments; NULL: none */
};

/*
 * Find the words in n bytes of text, the records of trace-hook(5), and check them: the tools exist,
 * and no word has a control character. Add the options of the caller that the header of the hook
 * passes. Return 0, or -1, reported.
 */
int stream_parse(struct stream_words *, size_t n, const struct hook *, const char *tools);

/* Let the tool of the stream inherit this descriptor. Call it before stream_hold. */
void stream_inherits(int fd);

/*
 * In the stream's process: if there is a filter, fork a second process. Each writes its pid to
 * pids, first as procfs shows it and then as the janitor sees it, and waits for a byte from go.
 * Then return, nonzero in the child of the filter, whose standard output stream_run connects.
 */
int stream_hold(const struct request *rq, const struct stream_words *, int pids, int go);

/*
 * After stream_hold, execute the tool that writes to standard output. SIGTERM to the process group,
 * which this process leads and where it is blocked, stops it. OUTPUT_DAT ignores the words.
 */
_Noreturn void stream_run(const struct request *rq, const struct stream_words *, const char *tools);

/* ---- janitor.c: make a session, and take it down ----------------------------------- */

/*
 * The instances of a subsystem, as trace-hooks/NAME/instances.c registers them. The Makefile makes
 * the table of all subsystems, which ends with NULL.
 */
struct instance_kind {
	const char *prefix;     /* of their names; the name of the session follows */
	/*
	 * Remove what a stale session left outside of this instance: dynamic events, block traces,
	 * request probes. Return 0, or -1 and errno.
	 */
	int (*release)(int instances, const char *name);
};

extern const struct instance_kind *const instance_kinds[];

/*
 * The differences between subsystems. Each function reports an error and returns -1. The janitor
 * calls those that are marked J.
 */
enum { STREAM_ARGV = 24 };

struct subsystem {
	const char *name;
	int waits;              /* its stream takes tasks that join later, see request_wait */
	const struct instance_kind *instances;
	/* Open the directory that "requires" lines refer to; path as in tracefs_open. */
	int (*root)(char *path);
	/* Check that the kernel supports the common options of the request. */
	int (*check)(const struct request *rq, int root);
	/* J: make the kernel side of the session with its traced tasks, not yet recording. */
	int (*open)(const struct request *rq);
	/*
	 * J, after open: return the directory that the hook runs in, and set the variables that
	 * tell its tools the session: up to HOOK_VARIABLES_MAX of "NAME=VALUE", then NULL.
	 */
	int (*hook_env)(const struct request *rq, const char **variables);
	/*
	 * J: work after the hook and before the stream. tasks: the map of the tasks whose calls the
	 * hook's programs record (rings_list), or -1. calls: they record calls. NULL: nothing.
	 */
	int (*prepare)(const struct request *rq, const struct stream_words *, int tasks,
		       int calls);
	/*
	 * J: then, before each stream starts: do not record these tasks, which belong to the
	 * session. NULL: nothing.
	 */
	int (*exclude)(const struct request *rq, const struct pids *us);
	/* J: then begin to record. */
	int (*start)(const struct request *rq);
	/*
	 * J: set argv (room for STREAM_ARGV) to the tool that streams to standard output. With
	 * OUTPUT_DAT the tool replaces "trace" with its file when it is told to stop.
	 */
	int (*stream)(const struct request *rq, const char **argv);
	/* J: stop recording. Return whether there are unread records. */
	int (*stop)(void);
	/* J: then say what tfs-run prints at the end, or NULL. No function: nothing. */
	const char *(*last_words)(const struct request *rq);
	/* J: remove what open made, even if open failed halfway. */
	int (*close)(const struct request *rq);
	/* Add the tasks that the session follows now to out. */
	int (*members)(const struct request *rq, struct pids *out);
	/*
	 * Remove what stale sessions left. Wait for busy parts of the named session; with NULL wait
	 * for those of all sessions, and report what cannot be removed.
	 */
	int (*sweep)(const char *session);
	/* Reset what --clear resets besides sessions. NULL: nothing. */
	int (*reset)(void);
};

extern struct subsystem manager_subsystem;

/*
 * Make the session, send the path of its trace over the socket to the manager, and take the session
 * down when the manager hangs up. Run it in a process of its own, whose stderr the manager reads
 * until the session has started. Return the janitor's exit status.
 */
int janitor_run(const struct request *rq, const char *tools, int manager);

/* The most bytes of the janitor's message about a stream that failed, with a NUL. */
enum { FAILURE_MAX = 600 };

/* The manager sends this before it hangs up if neither a signal nor --clear ended the session. */
#define ENDED_BY_ITSELF 'e'

/* The manager sends this, and stays, to forward SIGUSR1 to a stream that works alone. */
#define FORWARD_SIGUSR1 'u'

/* ---- session.c: run one session, or end all sessions ------------------------------- */

/*
 * Block the signals that end a session until it waits for them. Call it first, because the kernel
 * discards a signal that the caller ignores and that is not blocked.
 */
void session_hold_signals(void);

/* Run the session to its end; a dry session ends at once. Return the manager's exit status. */
int session_run(const struct request *rq, const char *tools);

/* End and remove every session of the subsystem. Return 0, or -1, reported. */
int session_clear(void);

/* ---- running.c: the sessions of all subsystems that run ---------------------------- */

/*
 * Call fn for each session directory, with the subsystem's directory and the pid of the janitor, or
 * OWNER_NONE if only files are left, or OWNER_ELSEWHERE. Meanwhile no session begins or ends.
 * Return the sum of the results of fn, or -1, reported.
 */
int running_each(int (*fn)(void *, int dir, const char *subsystem, const char *name,
			   pid_t janitor), void *arg);

/* End these sessions, and wait until everything of them is removed. */
void running_end(const struct pids *janitors);

/* ---- stale.c: instances of stale sessions ------------------------------------------ */

/*
 * Return whether a session's instance can have this name: tfs. or tfs-SUBSYSTEM. and the name of a
 * session. The next session removes such an instance if no process holds it.
 */
int instance_is_session_name(const char *name);

/*
 * Call fn for each instance of a stale session of any subsystem, while no other process can make or
 * sweep an instance. A reserved instance without a session is at rest, and not stale. Return the
 * sum of what fn returns, or -1.
 */
int stale_each(int instances, int (*fn)(void *, int instances, const char *name), void *arg);

/*
 * Remove what the session of a stale instance left outside of it: dynamic events, block traces,
 * request probes. Call it before instance_remove, because the instance proves that they are stale.
 * Return 0, or -1 and errno.
 */
int stale_release(int instances, const char *name);

/*
 * Remove an instance as instance_remove does. Reset a reserved instance, which cannot be removed
 * (tracedat.h). Return 0, or -1 and errno.
 */
int stale_remove(int instances, const char *name, long ms);

#endif
