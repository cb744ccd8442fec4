/* SPDX-License-Identifier: ISC */
/*
 * tracefs.h - tracefs: its root, control files, instances, pid filters and dynamic events
 *
 * This layer reads no events.
 *
 * Terms: the tracefs root is the mounted tracefs, or the directory given with -R. An instance is a
 * directory below instances/ with ring buffers and enabled events of its own. A control file is a
 * file of tracefs that a tool reads or writes. A dynamic event is a kprobe, uprobe or event probe.
 */
#ifndef TRACEFS_H
#define TRACEFS_H

#include "base/base.h"
#include "tool/tool.h"
#include "proc/proc.h"

/* ---- root.c: find and open tracefs ------------------------------------------------- */

/* Given as the name of an instance: the root itself, which all users share. */
#define TOP_LEVEL "/"

/*
 * Open the tracefs root, or the directory of an instance in it, and write its path to path
 * (PATH_MAX bytes) unless path is NULL. If root is NULL, search for a mounted tracefs at
 * $TRACER_SYSFS_PATH/kernel/tracing, at the automount in debugfs, and in the mount table; a root
 * that is given is not checked. If instance is NULL, it is $TFS_INSTANCE, if set. For TOP_LEVEL or
 * "", open the root. Return a descriptor (close-on-exec), or -1, reported.
 */
int tracefs_open(const char *root, const char *instance, char *path);

/* ---- control.c: write control files below a directory ------------------------------ */

enum { CTL_TRUNCATE = 1 }; /* clear the list first; never the default */

/*
 * Write a record into a control file with one write that ends in a newline; if the kernel takes
 * only a part, as of a list of words, write the rest. On an error report the file, the record, and
 * the kernel's reason if error_log has one. Return 0 or -1; ctl_try is silent, and returns 0 or
 * -errno. ctl_explain prints also the command and its caret from error_log, without control
 * characters.
 */
int ctl_write(int dir, const char *file, const char *record, int flags);
int ctl_try(int dir, const char *file, const char *record, int flags);
int ctl_explain(int dir, const char *file, const char *record, int flags);

/*
 * Return the first byte of s at which the kernel would end a word, or the whole record, of a
 * dynamic event; NULL if there is none. Such bytes are spaces, control characters, the byte a0,
 * which is a space for the kernel (isspace in lib/ctype.c) and a part of many letters in UTF-8, and
 * #, which begins a comment (kernel/trace/trace.c, trace_parse_run_command). Check every text of
 * such a record with this function.
 */
const char *ctl_cut(const char *s);

/* Return the name of a byte that ctl_cut found, for a message. */
const char *ctl_cut_name(const char *at);

/* Write the path of a control file of the event SYSTEM:EVENT to path (PATH_MAX bytes). */
void ctl_event_file(char *path, const char *event, const char *file);

/* ---- trace_clock.c: the trace clock of an instance, and the time of day -------------------- */

/*
 * Return the time of the trace clock in nanoseconds, or 0, silent, if it does not count time or
 * cannot be read.
 */
uint64_t trace_clock_now(int dir);

/*
 * Return the time of any trace clock in the units of a record's time, rounded down to 1 us, or 0,
 * silent, if it cannot be read.
 */
uint64_t trace_clock_mark(int dir);

/*
 * Set *offset to the time of day (time_of_day_us) minus the time of the trace clock, in us. Return
 * 0, or -1, reported, if the clock does not count time.
 */
int trace_clock_offset(int dir, int64_t *offset);

/*
 * Return by how many milliseconds the offset has grown: because somebody has set the time of day,
 * the clocks do not run equally fast, or the machine has slept; 0 if the clock cannot be read.
 */
long long trace_clock_moved(int dir, int64_t offset);

/* ---- owned.c: directories that live as long as the process that made them ----------- */

/*
 * Make a directory below parent, and lock it for the calling process. The lock shows every process,
 * also of other pid namespaces, whether the maker is alive. It goes away with the process, is not
 * inherited by fork, and is lost if the process closes *any* descriptor of the directory, so reach
 * it only through the one that is returned. Return -1 and errno, silent: EEXIST if the directory
 * exists. owned_take locks one that exists; EBUSY: another process holds it.
 */
int owned_make(int parent, const char *name, mode_t mode);
int owned_take(int parent, const char *name);

/* No process holds the lock; a process of another pid namespace holds it. */
enum { OWNER_NONE = 0, OWNER_ELSEWHERE = -2 };

/*
 * Call fn for each directory below parent whose name begins with prefix, with the pid of its maker,
 * OWNER_NONE or OWNER_ELSEWHERE. Meanwhile no other process can make or remove one. Return the sum
 * of the results of fn, or -1, silent.
 */
int owned_each(int parent, const char *prefix,
	       int (*fn)(void *, int parent, const char *name, pid_t owner),
	       void *arg);

/*
 * Return a descriptor: until it is closed, no other process can make or remove an owned directory
 * below parent. Return -1 and errno, silent, on failure.
 */
int owned_guard(int parent);

/* ---- instance.c: instances of tracefs ---------------------------------------------- */

/* The name of a session's instance: the prefix of its subsystem, and the session's name. */
#define INSTANCE_PREFIX "tfs."

/*
 * The suffixes of the names of a session's further instances. No session's name has a '+'. The
 * events of this instance trigger a dump:
 */
#define TRIGGER_SUFFIX "+trigger"

/* This instance records calls; the slow ones trigger a dump. */
#define SLOW_SUFFIX "+slow"

/* In this instance a recorder with a budget measures its load: */
#define BUDGET_SUFFIX "+budget"

/* In this instance the kernel follows tasks for a hook that filters their events itself. */
#define TASKS_SUFFIX "+tasks"

/* This instance records which tasks enter a cgroup, and which threads io_uring makes. */
#define ENTRIES_SUFFIX "+cgroup"

/* The names of dumps begin with this. Dumps outlive their session. */
#define DUMP_PREFIX "dump."
/* The variable that limits a flight recorder's dumps: the most files, and the most KB of all. */
#define DUMPS_MOST "TFS_DUMPS"

/*
 * Exit MISUSED unless -i or TFS_INSTANCE names an instance (TOP_LEVEL for the top level), or -R a
 * root. For tools that take events out of a buffer or change shared settings: an unset variable
 * must not select the buffer that all users share.
 */
void instance_require(const struct tool *, const char *root, const char *instance);

/*
 * Remove the instance below the instances directory. Wait up to ms milliseconds while readers still
 * hold it (EBUSY). Return 0, or -1 and errno, silent.
 */
int instance_remove(int instances, const char *name, long ms);

/* For ms: the kernel keeps an instance busy until its dead readers are gone. */
enum { INSTANCE_REMOVE_MS = 5000 };

/*
 * Read the next event of *list, the text of a set_event, and move *list after it. The text is
 * changed. Skip lines that are no names. Return 1, or 0 at the end.
 */
int events_next(char **list, const char **system, const char **event);

/*
 * Return a count of the ring buffer, summed over all CPUs of an instance. key is the beginning of a
 * line in per_cpu/cpuN/stats, with its colon and space. stats_count reads that text; 0: there is no
 * such line.
 */
unsigned long long instance_buffer_count(int instance, const char *key);
unsigned long long stats_count(const char *text, const char *key);

/*
 * Return the number of events that the ring buffer of a CPU, whose stats are text, or that all ring
 * buffers of an instance have dropped.
 */
unsigned long long stats_lost(const char *text);
unsigned long long instance_lost(int instance);

/* Return the number of CPUs of a per_cpu directory: its highest CPU number + 1. */
unsigned instance_cpu_count(int per_cpu);

/* ---- probes.c: dynamic events, which the whole kernel shares ------------------------ */

/* The size of a name with its NUL: the kernel's MAX_EVENT_NAME_LEN. */
#define PROBE_NAME 64
#define PROBE_PREFIX "tfs_"

/* A line of dynamic_events. */
struct probe {
	const char *line;       /* in the caller's text, without a NUL */
	size_t length;          /* of the line, without its newline */
	char group[PROBE_NAME], event[PROBE_NAME];
};

/*
 * Write the group of a session's probes into group (PROBE_NAME bytes): PROBE_PREFIX and the
 * session's name as a C identifier, different for different names.
 */
void probe_group(char *group, const char *session);

/* Read the next probe of the list, and move *text after it. Return 1, or 0 at the end. */
int probe_next(const char **text, struct probe *);

/*
 * Remove the event of the group, or all its events if event is NULL, the newest first. If one
 * cannot be removed, go on with the next. Return 0, or -1 and errno, silent.
 */
int probes_remove(int root, const char *group, const char *event);

/*
 * Remove all events of the group, after disabling them in every instance; probes_end_session does
 * so for a session's group. Return 0, or -1 and errno, silent.
 */
int probes_end(int root, const char *group);
int probes_end_session(int instances, const char *session);

/* ---- pidfilter.c: the tasks that an instance traces -------------------------------- */

/*
 * Trace these tasks as well, and their children from the fork on: let the kernel follow forks
 * before the first pid is written. If functions is set, set the filter of the function tracers,
 * too; if it is PIDFILTER_MIRRORED, only if pidfilter_mirror has begun to set that filter. Return
 * 0, or -1, reported.
 */
enum { PIDFILTER_MIRRORED = -1 };
int pidfilter_add(int instance, const struct pids *, int functions);

/*
 * Stop tracing these tasks: add them to set_event_notrace_pid, because the kernel cannot take a
 * single pid out of set_event_pid, and an empty list would trace all. Return 0, or -1, reported.
 */
int pidfilter_remove(int instance, const struct pids *, int functions);

/* Let the function tracers follow the same tasks as the events do. Return 0, or -1, reported. */
int pidfilter_mirror(int dir);

/* Put the pids that are traced now into out, sorted. Return 0, or -1, reported. */
int pidfilter_list(int instance, struct pids *out);

/* Add the tasks that are excluded from the instance to out. Return 0, or -1, reported. */
int pidfilter_excluded(int dir, struct pids *out);

/* ---- exclude.c: exclude tasks from an instance that traces all tasks ---------------- */

/*
 * Write an event filter for SYSTEM:EVENT into buf: the condition of filter ("none" and NULL: none),
 * and a clause that excludes events of the tasks. It replaces the clause of an earlier call. Events
 * of interrupts pass, whichever task they interrupt. Return 0, or -1, silent, if it does not fit.
 */
int exclude_filter(char *buf, size_t size, const char *event, const char *filter,
		   const struct pids *tasks);

/*
 * Exclude the tasks, which the caller has written to set_event_notrace_pid, from all enabled
 * events. If one of the events can come from an interrupt, empty that list and set event filters
 * instead. Return 0, or -1, reported.
 */
int exclude_tasks(int instance, const struct pids *tasks);

/* ---- uprobe.c: name a file to the kernel --------------------------------------------- */

/* The descriptors of the process that makes a probe, as the kernel finds them. */
#define UPROBE_FD "/proc/self/fd/"

/*
 * Write a path to path (PATH_MAX bytes) that leads to the open file, for a record of uprobe_events
 * that this process writes. It ends in the path of the file if that has no byte of ctl_cut and the
 * kernel can do so (Linux 5.2).
 */
struct elf_file;
void uprobe_path(const struct elf_file *, char *path);

/* Return the part of a listed path that people know, after UPROBE_FD and a number. */
const char *uprobe_shown(const char *path);

/* ---- syscalls.c: names of system calls from globs, classes and negations ------------- */

/*
 * Replace the *n words in *v, values of the option, by the names of system calls of the tracefs at
 * root. A word is a name, a glob, a class of strace(1) with or without "%", or one of these after
 * "!" to leave its calls out. A word that names both a call and a class means the call. "sys_exit_"
 * before a word means the return. Names of unknown calls stay. The new vector is allocated. Change
 * nothing if tracefs has no events/syscalls. Return 0, or -1, reported.
 */
int syscalls_expand(int root, const char *option, const char ***v, size_t *n);

/* Offer the names of all calls to near for the word. */
struct suggest;
void syscalls_suggest(int root, const char *word, struct suggest *near);

#endif
