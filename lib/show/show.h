/* SPDX-License-Identifier: ISC */
/*
 * show.h - print the records that a tool shows: as text, as JSON or for people
 *
 * A struct show has all options of tfs-catpipe, tfs-report and tfs-flight together: what is
 * selected (select.h, answers.h), and the form.
 */
#ifndef SHOW_H
#define SHOW_H

#include "base/base.h"
#include "tool/tool.h"
#include "people/people.h"
#include "proc/proc.h"
#include "event/event.h"
#include "select/select.h"
#include "calls/calls.h"
#include "answers/answers.h"

/* ---- record_json.c: print a record as one line of JSON ----------------------------------- */

/*
 *	{"ts":12.345678901,"cpu":0,"pid":42,"comm":"cat","system":"sched",
 *	 "event":"sched_wakeup","fields":{"comm":"sh","pid":7,...}}
 *
 * ts is in seconds, or a number of a clock that counts. Numbers are JSON numbers, also those
 * of 64 bits, and arrays are JSON arrays. Pointers and bit masks are strings of hexadecimal
 * digits. Bytes of a string that are no UTF-8 become U+FFFD. comm is null if it is not known,
 * and so is a field for which the record has no room. For an unknown event, system and event
 * are null, and "type" is its id. Fields that would make the line longer than its room are
 * left out, and "cut" is true. If the record tells facts, "facts":{"exit_code":15,...} follows.
 * With dated, "timeUnixNano":"1795463401123456901" follows ts, in nanoseconds as OTLP has it.
 */

/* Zero it, and set the members that are not private. */
struct json {
	struct line_format *line; /* its events, names and clock are used */
	const char *instance;   /* NULL, or the value of "instance" in each line */
	int dated;              /* print timeUnixNano: the time of day */
	int64_t offset;         /* of the time of day to the clock, in microseconds */
	const struct facts *facts; /* NULL, or what the record tells */
	struct otel_contexts *otel; /* NULL, or the contexts of tasks */
	void (*container)(struct out *, int pid); /* NULL, or of containers.c */

	/* private */
	struct json_head {
		int32_t pid;
		uint8_t len;
		char text[135];
	} heads[64];            /* "pid":N,"comm":"...", by pid */
};

/* The room of the line of the longest record of the kernel. */
enum { JSON_ROOM = 32 * 1024 };

/* Print the line with its newline. Return its length. size: JSON_ROOM, 8 KiB at least. */
size_t json_line(struct json *, const struct record *, char *buf, size_t size);

/* Print the beginning of a line, up to the names of the task, in 2 KiB. Return its length. */
size_t json_begin(struct json *, const struct record *, char *buf, size_t size);

/* Print the value of an event's field in a record. */
void json_value(const struct event_set *, struct out *, const struct event *,
		const struct field *, const struct record *);

/* Print {"ts":...,"cpu":0,"lost":204} before the record; null if lost is not known. */
size_t json_lost(struct json *, const struct record *, int64_t lost, char *buf, size_t size);

/* Forget cached names, as line_changed does. */
void json_changed(struct json *);

/* ---- process.c: the lines of -P ------------------------------------------------------------ */

/* The kinds of lines of -P, a bit each. */
enum { SHOW_SYSCALLS = 1, SHOW_SIGNALS = 2, SHOW_LIFECYCLE = 4 };

/* Set kinds by names with commas between. Return 0, or -1 without a message for another name. */
struct show;
int process_kinds(struct show *, const char *names);

/* Do the kinds select the record that facts_learn had last? */
int process_picks(const struct show *);

/* Print the -P line of that record. Return its length. */
size_t process_line(const struct show *, const struct record *, char *buf, size_t size);

/* Print the comment lines with the names of the columns. Return their length. */
size_t process_header(char *buf, size_t size);

/* ---- show.c: the options with which a tool shows records ------------------------------------ */

/* The functions that take events instead of text. */
struct show_sink {
	/*
	 * Take an event that is selected, or a call with the record of its beginning. Both are
	 * valid until this returns.
	 */
	void (*event)(void *arg, const struct record *, const struct decoded *call);
	void (*line)(void *arg, const char *line, size_t n); /* with its newline: no event */
	void *arg;
};

/* CPUs with a slot of their own for stacks; with more CPUs, some share a slot. */
enum { SHOW_CPUS = 4096 };

/* All zero at first. */
struct show {
	struct pick pick;
	struct subjects subjects;
	struct json lines;
	struct told_tasks told; /* the tasks of calls */
	struct facts facts;     /* the caller sets live, ended, killed and arg */
	struct identity identity;
	unsigned process;       /* 0: no -P */
	struct otel_contexts otel;
	struct line_format *line;
	struct people *people;  /* NULL: no -m */
	const struct people_view *view; /* its functions, of record_people.c */
	const char *machine;    /* of the calls, as uname -m has it; NULL: this one */
	const char *keys[16 + PEOPLE_COLUMNS + 2]; /* the values that record_people.c looks for */
	int json, header, exact; /* -j, -H, -x */
	int dated;              /* -d */
	int strace;             /* calls as strace(1) prints them, and no date line */
	int traced;             /* the caller has named the traced tasks: name their children */
	int tells;              /* -F, -G, or -j: print the facts of a record */
	uint64_t signals;       /* -G: a bit for each; 0: all */
	int64_t offset;         /* the caller sets it: see struct json */
	int asked;              /* an option that changes the kernel's text is given */
	int plain;              /* text of all records: the usual case */
	int follows;            /* facts are needed */
	int hide_names;         /* do not show the naming events */
	/* for each CPU a bit per context: its last event was left out, so leave out its stacks */
	unsigned char left_out[SHOW_CPUS];
	unsigned nleft_out;     /* number of bits that events have set */
	struct stack_pairs stacks;
	/* NULL, or print the text of a record instead (calls.c, tcp.c); shown: it is selected */
	size_t (*decoder)(struct show *, const struct record *, int lost, int *shown, char *buf,
			  size_t size);
	struct decode *decode;  /* of calls.c */
	struct tcp *tcp;        /* of tcp.c; NULL: no -T */
	struct out *out;        /* where both print */
	/* NULL, or print a line that names the container of the record's task (containers.c) */
	size_t (*container)(const struct show *, const struct record *, int shown, char *buf,
			    size_t size);
	const struct show_sink *sink; /* NULL, or what takes the events instead of text */
};

/* Take the last option. Return 1; 0 if it is not one of those above. Exit if its value is wrong. */
int show_option(struct show *, const struct tool *);

/* Begin after the options; call it again with another line. */
void show_begin(struct show *, struct line_format *);

/* The room that show_record needs. */
enum { SHOW_ROOM = JSON_ROOM };

/*
 * Print a record, and the loss before it (from merge_next), unless it is outside of the time range.
 * Return the length. Set *shown to 0 if the record is left out.
 */
size_t show_record(struct show *, const struct record *, int64_t lost, char *buf, size_t size,
		   int *shown);

/* Print a record that is selected, as text or JSON. Return the length. */
size_t show_text(struct show *, const struct record *, char *buf, size_t size);

/* Would show_record show the record? For live_rest; show is a struct show. */
int show_counts(void *show, const struct record *);

/* Print the comment lines of -H. Return their length; 0 without -H. */
size_t show_header(const struct show *, unsigned cpus, char *buf, size_t size);

/*
 * With -H, print a line that says that the task was traced: "# traced: PID COMM"; for pid 0, that
 * all tasks were. Return its length. comments_traced of lines.h reads it.
 */
size_t show_traced(const struct show *, int pid, char *buf, size_t size);

/*
 * Print the comment line of -d: the time of day at this time of the trace's clock, in
 * microseconds, or now if it is negative. Return its length; 0 without -d or with -j or --strace.
 */
size_t show_date(const struct show *, int64_t at, char *buf, size_t size);

/* Numbers of lost events. */
struct losses {
	uint64_t overwritten;   /* what the ring buffers dropped */
	uint64_t unwritten;     /* what was read and not delivered, or not read */
};

/* Print the last line, "# lost 7 events: ...", in 512 bytes. Return its length; 0: none is lost. */
size_t show_losses(const struct show *, const struct losses *, char *buf, size_t size);

/* Forget cached names, as line_changed does. */
void show_changed(struct show *);

/* ---- containers.c: name the container of each task ----------------------------------------- */

/*
 * Take the option --container-names. Then text has a line "# container: PID NAMESPACE/POD/NAME:ID"
 * before the first event of a task in a container, and again when that changes; JSON has members of
 * container_members after the name of the task. Only a stream can do this, because it reads /proc.
 */
int containers_take(struct show *);

/* ---- record_people.c: print a record as a line for people -------------------------------- */

/* The options of record_people.c, for struct tool. */

/*
 * Take an option as show_option does. Only programs that call it have the code of record_people.c.
 */
int people_take(struct show *, const struct tool *);

/* The functions that the other files of this layer need of record_people.c, and of people.h. */
struct people_view {
	/* Let the events of s->line have marks, before the first event is printed. */
	void (*keys)(struct show *);
	/* Print the line of a record; a stack has several. Return the length. */
	size_t (*line)(const struct show *, const struct record *, char *buf, size_t size);
	/* Write the beginning of such a line: TIME, COMM and PID. */
	void (*start)(const struct show *, const struct record *, struct out *);
	/* Return the name of a system call, or NULL. */
	const char *(*call)(const struct show *, int64_t number);
	/* people_begin, people_result, people_siginfo, people_exit */
	void (*begin)(struct people *, struct out *, uint64_t ns, int64_t offset);
	void (*result)(const struct people *, struct out *, int64_t);
	void (*siginfo)(const struct people *, struct out *, int64_t sig, int64_t error,
			int64_t code);
	int (*ended)(const struct people *, struct out *, int64_t code);
};

/* ---- tcp.c: TCP connections, one line each ----------------------------------------------- */

/*
 *	... tcp_begin: 10.0.0.1:0 -> 10.0.0.2:80
 *	... tcp_connect: 10.0.0.1:3456 -> 10.0.0.2:80 lat=1234
 *	... tcp_connect: 10.0.0.1:3456 -> 10.0.0.2:81 lat=1100 error=ECONNREFUSED
 *	... tcp_connect: 10.0.0.1:3456 -> 10.0.0.2:82 lat=- error=unfinished
 *	... tcp_accept: 10.0.0.2:80 <- 10.0.0.1:3456 lat=20
 *	... tcp_life: 10.0.0.1:3456 -> 10.0.0.2:80 lat=98765 sent=100 received=2000
 *
 * The task is that of the connection.
 */

/* Take an option as show_option does. Only programs that call it have the code of tcp.c. */
int show_tcp_take(struct show *, const struct tool *);

/*
 * At the end of a trace, print the connects that still wait, and connections whose tasks are not
 * known. Return the length; 0: that was all. Call it again until then, and begin another trace.
 */
size_t show_tcp_end(struct show *, char *buf, size_t size);

/* ---- calls.c: the lines of system calls --------------------------------------------------- */

/* Exit with a usage error if the options contradict each other. Call it after the last one. */
void show_calls_check(struct show *, const struct decode *, const struct tool *);

/* Begin to show calls, after each show_begin. */
void show_calls_begin(struct show *, struct decode *);

/* Print the text of a call, or its result and error only, without a newline. Return the length. */
size_t show_call_text(const struct show *, const struct decoded *, char *buf, size_t size);
size_t show_call_result(const struct show *, const struct decoded *, char *buf, size_t size);

/* Print the calls that have not returned at the end of the trace. Call it until it returns 0. */
size_t show_calls_end(struct show *, char *buf, size_t size);

/* ---- record_why.c: where the time of tasks went (why.h) ---------------------------------- */

/* Take an option as show_option does. Only programs that call it have the code of record_why.c. */
int account_take(struct show *, struct decode *, const struct tool *);

/* Take what such options set, and these tasks; without any, all that account_subject names. */
struct why;
void account_use(const struct why *, const struct pids *, struct show *, struct decode *);

/* Is --why given? */
int account_on(void);

/* Begin after show_calls_begin. */
void account_begin(struct show *, struct decode *);

/* Account the time of this task; of pid 0, of all. Without a call no task is accounted. */
void account_subject(int pid);

/* Set the text, or standard output if it is NULL, to the account. Return the number of windows. */
size_t account_end(struct strbuf *text);

/*
 * Set the text to the account so far, as if the trace ended now, in ns of its clock (0: with its
 * last record). Return 0, or -1, reported, with no text.
 */
int account_so_far(struct strbuf *text, uint64_t now);

#endif
