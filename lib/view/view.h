/* SPDX-License-Identifier: ISC */
/*
 * view.h - PURPOSE of view
 */
#ifndef VIEW_H
#define VIEW_H

#include "base/base.h"
#include "proc/proc.h"
#include "event/event.h"

/*
 * pick.h - which records: by event, task and time
 *
 * Asked of a record as it is, before any text is made of it; whether an event
 * is meant is found out once and kept in struct event.
 */

/* A number of seconds as somebody wrote it, or of what a clock counts. */
struct pick_time {
	uint64_t whole;
	uint32_t nano;          /* of a second */
	uint8_t digits;         /* behind the point, that were given */
	uint8_t given;
};

/* All zero at first: everything. */
struct pick {
	const char **globs;     /* any of them is enough; the caller's */
	size_t nglobs;
	struct pids pids;
	struct pick_time begin, end;
	/* set by pick_begin */
	uint64_t from, to;      /* in units of the clock, both included */
	int all;                /* nothing is left out */
};

/* Events that SYSTEM:EVENT or EVENT, a glob, names. */
int pick_event(struct pick *, const char *glob); /* 0 or -1 said */

/*
 * FROM-TO, FROM- or -TO in seconds, both included. With six digits behind the
 * point or less it is the time that lines show, which is rounded; with up to
 * nine to the nanosecond. Of a clock that counts, its whole numbers. -1,
 * silent: no such range.
 */
int pick_time(struct pick *, const char *range);

/* After the last of the above, and again when the clock is another. */
void pick_begin(struct pick *, int raw_clock);

/* Is it before (-1), within (0) or after (1) the time? */
static inline int pick_when(const struct pick *p, const struct record *r)
{
	return r->ts < p->from ? -1 : r->ts > p->to;
}

/* Is it of such an event and task? An event that is not known is of none. */
int pick_record(const struct pick *, struct event_set *, const struct record *);

/*
 * json.h - a record as one line of JSON
 *
 *	{"ts":12.345678901,"cpu":0,"pid":42,"comm":"cat","system":"sched",
 *	 "event":"sched_wakeup","fields":{"comm":"sh","pid":7,...}}
 *
 * ts is seconds, or what a clock counts. Numbers are numbers, of 64 bits too,
 * arrays arrays; pointers and bit masks are strings of hexadecimal digits;
 * what in a string is no UTF-8 is U+FFFD. comm is null when it is not known,
 * a field that the record has no room for as well. Of an event that is not
 * known, system and event are null, and "type" is its number. What would make
 * the line longer than its room is left out, and "cut" is true.
 */

/* Zero it, set the first two. */
struct json {
	struct line_format *line; /* whose events, names and clock */
	const char *instance;   /* NULL, or "instance" in each line */

	struct json_head {
		int32_t pid;
		uint8_t len;
		char text[135];
	} heads[64];            /* "pid":N,"comm":"...", by pid */
};

/* Of a line's room: enough for what the kernel makes. */
enum { JSON_ROOM = 32 * 1024 };

/* The line, its newline included. size: JSON_ROOM, 8 KiB at least. */
size_t json_line(struct json *, const struct record *, char *buf, size_t size);

/* {"ts":...,"cpu":0,"lost":204} in front of the record; null is not known. */
size_t json_lost(struct json *, const struct record *, int64_t lost, char *buf, size_t size);

/* As line_changed. */
void json_changed(struct json *);

/*
 * process.h - what a trace tells of its processes, followed record by record
 *
 * Who has which uid and name at each event (-u UID, -C COMM), and the lines of
 * the process event tracer (-P), whose exit codes are what wait(2) would give.
 * It lives on these events, as far as the trace has them:
 *
 *	raw_syscalls:sys_enter, sys_exit     task:task_newtask, task_rename
 *	signal:signal_deliver, _generate     sched:sched_process_exec, _exit
 */

/* What -P shows, a bit each. */
enum { SHOW_SYSCALLS = 1, SHOW_SIGNALS = 2, SHOW_LIFECYCLE = 4 };

enum role { ROLE_NONE = 1, ROLE_ENTER, ROLE_EXIT, ROLE_DELIVER, ROLE_GENERATE, ROLE_NEWTASK,
	    ROLE_RENAME, ROLE_EXEC, ROLE_END, ROLES };

/* All zero at first. */
struct process {
	unsigned kinds;         /* 0: no -P */
	int by_uid;
	uid_t uid;
	const char *comm;       /* NULL: of any name */
	/*
	 * What the tasks were when the trace began, as far as somebody looked
	 * then: PID has this uid, -PID has another.
	 */
	struct pids uids, comms;
	/* NULL, or the code that a task ended with; -1: not known */
	long (*ended)(void *arg, int pid);
	/* NULL, or the same of a task that is being killed; the code can still be asked for */
	long (*killed)(void *arg, int pid);
	void *arg;
	int live;               /* the tasks are in procfs */

	/* its own */
	struct line_format *line;
	long code;              /* of the end at hand */
	int64_t signal;         /* that was sent, of the delivery at hand */
	struct role_of {
		const struct event *event;
		const struct field *field[4];
	} roles[ROLES];
};

/* Set kinds by names with commas between. -1, silent: another name. */
int process_kinds(struct process *, const char *names);

/* Is any of it wanted? */
static inline int process_on(const struct process *p)
{
	return p->kinds || p->by_uid || p->comm;
}

/* After the options; again with another line. */
void process_begin(struct process *, struct line_format *);

/* The next record, all of them in their order; lost: some are missing before it. */
void process_learn(struct process *, const struct record *, int lost);

/* Is the record, learnt just now, of such a task, and of such a kind? */
int process_picks(struct process *, const struct record *);

/* The line of one that is picked; of -P. */
size_t process_line(struct process *, const struct record *, char *buf, size_t size);

/* The names of its columns. */
size_t process_header(char *buf, size_t size);

/* ---- exits.c: the codes with which tasks of this machine end ------------------- */

/*
 * The kernel tells them by taskstats(7), before it records the end of the
 * task: what was read after the record has its code. Who may not ask, or has
 * a kernel without, learns nothing.
 */
struct taskstats {
	int fd;                 /* -1: none */
	uint16_t looks;         /* how many times the caller found the buffers empty */
	struct taskstats_exit {
		int32_t pid;    /* 0: empty */
		uint16_t code;
		uint16_t look;  /* looks, when the code was read */
	} slot[65536];          /* by pid */
};

void taskstats_open(struct taskstats *, unsigned cpus);

/* Read what the kernel has told. */
void taskstats_read(struct taskstats *);

/* The code, once; -1: not known. Of a struct exits, as struct process wants it. */
long taskstats_exit_code(void *exits, int pid);

/* The code of a task that was delivered SIGKILL; waits a moment while the task lives. */
long taskstats_killed_code(void *exits, int pid);

/*
 * show.h - the options with which a tool shows records: which, and as what
 *
 *	-e GLOB     only these events, SYSTEM:EVENT or EVENT; may be repeated
 *	-p PID,...  only of these tasks; may be repeated
 *	-t FROM-TO  only of this time, in seconds
 *	-u UID      only of tasks with this real uid, at the moment
 *	-C COMM     only of tasks of this name, at the moment
 *	-U PID,...  at first these tasks have the uid, and those with a dash do not
 *	-N PID,...  the same of the name
 *	-j          lines of JSON
 *	-P KIND,... lines of the process event tracer: syscalls, signals, lifecycle
 *	-H          the comment lines that `trace` begins with
 *	-x          control characters in strings as they are, newlines too
 */

/* Processors whose stacks are told apart; with more some share. */
enum { SHOW_CPUS = 4096 };

/* All zero at first. */
struct show {
	struct pick pick;
	struct json lines;
	struct process process; /* its live, ended and arg are the caller's */
	struct line_format *line;
	int json, header, exact; /* -j, -H, -x */
	int asked;              /* any option by which text is not the kernel's */
	int plain;              /* nearly all records are text that is shown */
	int hide_names;         /* events that tell names are for that alone */
	/*
	 * By processor, a bit for each context: the last event there was left
	 * out, and so are the stacks that follow it.
	 */
	unsigned char left_out[SHOW_CPUS];
	unsigned nleft_out;     /* bits in it, of those that may be cleared again */
};

/* Was the letter, with its opt_value, one of these? 1 or 0; exits MISUSED. */
int show_option(struct show *, const struct tool *, int letter);

/* After the last option, with the line of what is shown; again with another. */
void show_begin(struct show *, struct line_format *);

/* Of the room that show_record needs. */
enum { SHOW_ROOM = JSON_ROOM };

/*
 * A record, and what was lost in front of it (as of merge_next): the length of
 * their text; *shown: the record itself is in it, and not left out. Where the
 * record is out of time, its loss is as well.
 */
size_t show_record(struct show *, const struct record *, int64_t lost, char *buf, size_t size,
		   int *shown);

/* Would it be in it? As live_rest wants it, of a struct show. */
int show_counts(void *show, const struct record *);

/* What is in front of all records: its length. */
size_t show_header(const struct show *, unsigned cpus, char *buf, size_t size);

/* As line_changed. */
void show_changed(struct show *);

#endif
