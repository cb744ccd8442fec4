/* SPDX-License-Identifier: ISC */
/*
 * tracefs.h - PURPOSE of tracefs
 */
#ifndef TRACEFS_H
#define TRACEFS_H

#include <stdint.h>

#include "base/base.h"
#include "proc/proc.h"

/* ---- root.c: where the kernel's files are ------------------------------- */

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
int tracefs_open(const char *root, const char *instance, char *path);

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

/* ---- operands.c: pids that somebody gives ----------------------------------- */

/*
 * Exit MISUSED unless somebody has named the instance with -i or TFS_INSTANCE, the top
 * level with TOP_LEVEL in the place of a name, or a root. Tools call this that take
 * events out of a buffer, or change what others have set: a variable that is unset is
 * not to do that to the buffer which all users share.
 */
void instance_require(const struct tool *, const char *root, const char *instance);

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
unsigned long long instance_buffer_count(int instance, const char *key);

/* How many processors a per_cpu directory has: the highest number + 1. */
unsigned instance_cpu_count(int per_cpu);

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
int probe_next(const char **text, struct probe *);

/*
 * Remove the group's event, or all of its events with NULL, the newest first,
 * going on past one that cannot be. 0 or -1 and errno, silent.
 */
int probes_remove(int root, const char *group, const char *event);

/* Remove all of the group, switched off wherever they are on. As above. */
int probes_end(int root, const char *group);

/* The same for the group of a session; instances is the directory of all instances. */
int probes_end_session(int instances, const char *session);

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

/* elfsym.h - elf.c: where in its file a function of a program or library is */

struct elf_location {
	uint64_t offset;        /* in the file */
	unsigned machine;       /* EM_* of <elf.h> */
	int wide;               /* 64 bits */
	/*
	 * The caller sets it. Then one message stands for all reasons that a file has no
	 * symbols for us, and does not tell whether the file exists.
	 */
	int discreet;
};

/*
 * The place of the function name, and so many bytes into it. 0 or -1 said: no
 * ELF, stripped, no such function (with the nearest names), none with code.
 */
int elf_symbol(const char *path, const char *name, uint64_t into, struct elf_location *);

/*
 * Does a function that has a symbol begin at this offset of the file? 1 or 0, and the
 * place is filled; -1 said.
 */
int elf_function_at(const char *path, uint64_t offset, struct elf_location *);

#endif
