/* SPDX-License-Identifier: ISC */
/*
 * session.h - PURPOSE of session
 */
#ifndef SESSION_H
#define SESSION_H

#include <sys/stat.h>

#include "proc/proc.h"

/*
 * manager.h - what every manager is made of
 *
 * A manager is this dispatch linked with one struct subsystem. It knows
 * sessions and hooks, nothing about any event: what a hook wants is in its
 * head (hook.c), what a caller wants in a request (request.c), and what a
 * session is made of in the subsystem.
 */

/* ---- hook.c: the machine-read header of a hook ------------------------------ */

enum hook_type {
	TYPE_FLAG,   /* no value */
	TYPE_NAME,   /* [A-Za-z0-9_.-], no leading dot or dash */
	TYPE_PID,    /* of a task that is alive */
	TYPE_NUMBER, /* N */
	TYPE_MS, TYPE_KB, TYPE_UID,
	TYPE_TEXT,   /* anything printable */
	TYPE_CHOICE, /* one|of|these */
};

struct hook_option {
	char letter;        /* 0: long form only */
	char name[32];
	enum hook_type type;
	char prefix[32];    /* may stand before a value, and is taken off */
	char choices[96];
	int many, commas, may_be_empty; /* commas: they part TEXTs, too */
	int taken;          /* a common one that the hook has as its own */
	const char *line;   /* as written, for --describe */
	/* what the caller gave; words of the request */
	int given;
	const char **v;
	size_t n;
};

#define HOOK_OPTIONS_MAX 40

struct hook {
	const char *name;
	char path[PATH_MAX];
	char *head;                 /* owns all text below */
	const char *description;
	int alone;                  /* its stream is there for no reader's sake */
	int whom_optional;          /* with nobody named it is there for whoever comes */
	const char *whom;           /* its events belong to no task: what selectors mean */
	const char *requires[16];
	size_t nrequires;
	struct hook_option options[HOOK_OPTIONS_MAX]; /* the common ones first */
	size_t noptions, ncommon;
};

/* The hook of that name from hooks.d/ beside the program. 0 or -1 said. */
int hook_read(struct hook *r, const char *dir, const char *name);

/* The hooks' names, one a line, ascending. 0 or -1 said. */
int hook_list(const char *dir);

void hook_describe(const struct hook *r);

/*
 * Is everything in the head's "requires" lines there, below root? {option} in
 * a path stands for each of the option's values. 0, or -1 and into why (size
 * bytes) what is not. path is what root is called.
 */
int hook_check_requirements(const struct hook *r, int root, const char *path, char *why,
			    size_t size);

/* The option of that name among the common ones, which are always there. */
const struct hook_option *hook_common_option(const struct hook *r, const char *name);

/* ---- request.c: what the caller asked for ------------------------------------- */

enum output_kind { OUTPUT_LINES, OUTPUT_FIFO, OUTPUT_FILE, OUTPUT_DAT }; /* files last */

struct request {
	struct hook *hook;
	char **words;                /* owns every value */
	char session[128];           /* its name */
	struct selector *who;
	size_t nwho;
	struct pids parents;         /* their children, not they */
	struct pids dead;            /* named, and not alive when the request was read */
	int everybody;
	long ms;                     /* time limit, -1 none */
	enum output_kind output;
	int dry;                     /* make the session, record nothing, and remove it */
	int header;                  /* in front of text */
	unsigned long buffer_kb;     /* a processor; 0: the kernel's default */
	unsigned long size_kb;       /* of a file */
	const char *clock;           /* NULL: the kernel's default */
	const char *args;            /* as they came, for audit.c */
};

/* The common options, as lines of a head. */
extern const char request_common_options[];

/*
 * Check the words of args against the hook's options and fill the request.
 * Nothing is made. 0 or -1 said.
 */
int request_parse(struct request *rq, struct hook *r, const char *args);

/*
 * The environment of the hook: its options as HOOK_NAME, and no stranger's.
 * NULL: out of memory.
 */
char **request_environment(const struct request *rq, const char *tools,
			   const char *const *place);

enum { HOOK_VARIABLES_MAX = 4 };

/* Does the hook itself pick the events of those that the request names? */
int request_hook_picks(const struct request *rq);

/* ---- policy.c: what an administrator allows: tfs-policy(5) ------------------------- */

/* Read the policy, first of all. -1 said: nothing is allowed. */
int policy_read(void);

/* Is the hook allowed? Silent. */
int policy_hook(const char *hook);

/* Are the options of the request allowed, and whom it names? 0 or -1 said. */
int policy_request(const struct request *rq);

/*
 * Is there room for the session: before it is made, with more 1, and once it is there,
 * with 0? Two that begin at once see each other then. 0 or -1 said.
 */
int policy_limits(const struct request *rq, int rundir, int more);

/* ---- audit.c: a record of each session in the host's log -------------------------- */

/*
 * Send records to the place that the word says: "syslog" (/dev/log), "kmsg" (/dev/kmsg),
 * the absolute path of a datagram socket, or "off", the default. where stays the
 * caller's. 0, or -1 for another word, silent.
 */
int audit_to(const char *where);

/*
 * Record that the session begins, before anything of it is made, and that it has ended
 * with that status of the janitor's; -1: the janitor was killed. Silent, and without a
 * wait: a record that nobody takes is lost. A dry session has no record.
 */
void audit_begin(const struct request *rq, const char *subsystem);
void audit_end(const struct request *rq, const char *subsystem, int status);

/* ---- rundir.c: the directories of sessions --------------------------------------- */

/* $TFS_RUNDIR or /run/tfs, and the subsystem's in it; path as tracefs_open. */
int rundir_open(const char *subsystem, char *path);

/*
 * The mode of a session's file whose path the caller was not told yet; the
 * sticky bit means nothing on a file. Once told, it is the caller's and 0600.
 */
#define UNTOLD (S_ISVTX | 0600)

/* The path of the session's file is told: give the file its mode. */
void rundir_hand_over(const char *session);

/*
 * Take a session's trace out of its directory. Returns a descriptor of it, the
 * caller's, or -1 when there was none. A reader that is in open() of a FIFO
 * would stay there for ever: as long as that writer is open it is let out, to
 * an end of file; the caller waits for those that have found the name and are
 * not yet in the FIFO's open.
 */
int rundir_unlink_trace(int dir);

/*
 * Remove a session's directory; a file in it that the caller was told of, and
 * dumps, only with files set. 0, or -1 and errno, silent.
 */
int rundir_remove(int dir, const char *name, int files);

/* ---- whom.c: whom a session follows: an instance of tracefs knows --------------------- */

/* Before anything exists: is anybody there? 0 or -1 said. */
int recording_check_tasks(const struct request *rq);

/*
 * Put the next part of a comment that names the dead tasks of the request into
 * line (size bytes, NUL-terminated, no newline). *at is 0 at first and counts the
 * tasks that were named. Returns the length; 0 when all of them were.
 */
size_t recording_name_dead(const struct request *rq, size_t *at, char *line, size_t size);

/* Write these comments to a session's output before its stream does. How many bytes. */
size_t recording_write_dead(const struct request *rq, int fd);

/* Trace those that the request names in this instance, and their children. 0 or -1 said. */
int recording_follow(const struct request *rq, int instance);

/*
 * Follow tasks that enter a cgroup of the request later. First recording_watch_cgroup makes an
 * instance that records such entries; it returns a descriptor, -1 said. Then follow
 * looks who is there. Then recording_follow_cgroup starts a process that adds to the instance who
 * enters; it returns its pid, -1 said. Whoever ends the session kills it.
 */
int recording_names_cgroup(const struct request *rq);
int recording_watch_cgroup(int instances, const char *name);
pid_t recording_follow_cgroup(const struct request *rq, int watched, int instance);

/* The tasks that are followed now in the instance of this name. */
int recording_followed(const char *instance, struct pids *out);

/* The directory of all instances; -1 said. */
int recording_instances(void);

/*
 * Remove the instances whose names begin with prefix and whose makers are dead;
 * before is called first for each, if there is one, and returns -1 and errno,
 * silent, if it is to stay for now; and once more when it is gone. session as in
 * struct subsystem, sweep.
 */
int recording_sweep(const char *prefix, const char *session, int (*before)(const char *name));

/* ---- recording.c: sessions that record in an instance -------------------------------- */

/* Before anything exists: can this kernel record so? root as struct subsystem's. 0 or -1 said. */
int recording_check(const struct request *rq, int root);

/*
 * Make the instance, locked (owned_make), not yet recording, with the buffer that
 * was asked for and this clock, NULL for the kernel's own. A descriptor; -1 said.
 */
int recording_make(const struct request *rq, int instances, const char *name,
		   const char *clock);

/*
 * Record everybody but the session's own processes and what they start. 0 or -1 said.
 * Once events are enabled, exclude_tasks is to be called as well.
 */
int recording_exclude_us(int instance);

/* ---- stream.c: the processes that make a session's output --------------------------- */

#define STREAM_WORDS_MAX 64

/* What a hook printed, trace-hook(5); all zero at first. */
struct stream_words {
	char text[32768];                    /* a line each, in half of a pipe: no hook waits */
	const char *word[STREAM_WORDS_MAX];  /* options, or a tool and its; NULL ends */
	const char *const *filter;           /* NULL: none */
};

/*
 * Make words of the n bytes of text, which is destroyed, and see whether the
 * tools among them are there. 0 or -1 said.
 */
int stream_parse(struct stream_words *, size_t n, const char *hook, const char *tools);

/*
 * In the stream's process: fork another one if there is a filter. Each writes its pid,
 * as procfs has it, to pids and waits for a byte from go. Returns then, not 0 in the
 * process that is the filter's child, whose standard output stream_run sees to.
 */
int stream_hold(const struct request *rq, const struct stream_words *, int pids, int go);

/*
 * After stream_hold, become the stream, which writes to standard output and which SIGTERM to the
 * process group tells to stop; SIGTERM is blocked, and this process leads its
 * group. Of OUTPUT_DAT words say nothing.
 */
_Noreturn void stream_run(const struct request *rq, const struct stream_words *,
			  const char *tools);

/* ---- janitor.c: what a session is made of, and the process that undoes it -------- */

/*
 * What differs between subsystems. Each call says what went wrong and returns
 * -1. Those marked J run in the janitor.
 */
struct subsystem {
	const char *name;
	/* The directory that "requires" is relative to; path as tracefs_open. */
	int (*root)(char *path);
	/* Can the kernel do what the common options ask for? */
	int (*check)(const struct request *rq, int root);
	/* J: make the session's kernel side, who is traced included, unarmed. */
	int (*open)(const struct request *rq);
	/*
	 * J: the directory that the hook runs in, after open, and what tells
	 * its tools where to work: up to HOOK_VARIABLES_MAX of "NAME=VALUE", then NULL.
	 */
	int (*place)(const struct request *rq, const char **variables);
	/* J: what comes after the hook, before there is a stream. NULL: nothing. */
	int (*prepare)(const struct request *rq);
	/*
	 * J: after that, and before each stream begins: leave these tasks, the
	 * session's own, out of what is recorded. NULL: nothing to do.
	 */
	int (*exclude)(const struct request *rq, const struct pids *us);
	/* J: what comes after that: begin to record. */
	int (*arm)(const struct request *rq);
	/*
	 * J: the tool that streams to standard output, or with OUTPUT_DAT puts
	 * its file in the place of "trace" when it is told to stop; argv has
	 * room for 16.
	 */
	int (*stream)(const struct request *rq, const char **argv);
	/* J: record no more. Is anything there that was not read? */
	int (*disarm)(void);
	/* J: remove what open made, in any state of completeness. */
	int (*close)(const struct request *rq);
	/* The tasks that the session follows now. */
	int (*members)(const struct request *rq, struct pids *out);
	/*
	 * Remove what sessions left whose janitor is dead. What is busy of the
	 * named one is waited for; of all with NULL, which is also to say what
	 * could not be removed.
	 */
	int (*sweep)(const char *session);
	/* What --clear resets besides sessions. */
	int (*reset)(void);
};

extern struct subsystem manager_subsystem;

/*
 * Make the session, tell its path over the socket to the manager, and take it
 * down when that hangs up. Runs in a process of its own, whose stderr the
 * manager hears until the session has begun. The janitor's exit status.
 */
int janitor_run(const struct request *rq, const char *tools, int manager);

/* What the manager says before it hangs up: nobody asked for the end. */
#define BY_ITSELF 'e'

/* What it says, and does not hang up: SIGUSR1 is for a stream that works alone. */
#define PASS_ON 'u'

/* ---- session.c: from the request to the last trace of it -------------------------- */

/*
 * Keep the signals that end a session until it waits for them. To be called
 * first: one that the caller's shell left ignored is lost until then.
 */
void session_hold_signals(void);

/* Run the session to its end; a dry one ends at once. The manager's exit status. */
int session_run(const struct request *rq, const char *tools);

/* End and remove every session of the subsystem. 0 or -1 said. */
int session_clear(void);

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

#endif
