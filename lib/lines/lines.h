/* SPDX-License-Identifier: ISC */
/*
 * lines.h - lines of a trace read back: events, fields, comments
 *
 * The filter tools read a trace of any length, which may come from an untrusted source. They keep
 * what differs in the trace, but not its lines. Without memory they exit REFUSED (base.h).
 *
 * Terms: an event line is one event as a line of text, as in the kernel's trace, or as
 * JSON. A comment line begins with '#'. A key names a part of an event line.
 */
#ifndef LINES_H
#define LINES_H

#include "base/base.h"
#include "tool/tool.h"
#include "calls/calls.h"
#include "proc/proc.h"

/* ---- event_line.c: read an event line ----------------------------------------------- */

/* tfs-count(1) says which text and JSON this is (kernel/trace/trace_output.c). */

/* The reasons why a line is not an event line. */
enum trace_miss {
	MISS_NOTHING,   /* an event line; or a comment, a frame of a stack, an empty line ... */
	MISS_HEAD,      /* it does not begin with task, CPU and time */
	MISS_TIME,      /* no time after the CPU */
	MISS_EVENT,     /* no event after the time */
	MISS_GRAPH,     /* a line of function_graph, which tfs-slower reads */
	MISS_JSON,      /* an object that is neither an event nor a comment */
	MISS_DELTA,     /* its time is the time since the event before (comments_event says so) */
	MISS_KINDS
};

/* The functions that answer for a record of a trace.dat, which has no line (seen.h). */
struct seen;
struct seen_source {
	/* Return a field, as seen_text does of text. */
	struct text_part (*field)(const struct seen *, const char *key);
	/* Set *number to a field that is a number, and return 1; or return 0. */
	int (*number)(const struct seen *, const char *key, int64_t *number);
	/* Return the text of the fields. */
	struct text_part (*body)(const struct seen *);
};

/*
 * An event of a trace: a line, as text or JSON (event_line.c), or a record of a trace.dat
 * (of_record.c of seen). A caller that asks for a part by its key need not know which.
 */
struct seen {
	struct text_part host;  /* in a trace made by dt-join */
	struct text_part comm, pid, cpu, time, event;
	struct text_part flags; /* in text: d..2., and h or s within an interrupt; often empty */
	struct text_part tgid;  /* in text with a column for it; "-------" if unknown */
	const char *prefix;     /* before event: sys_enter_, sys_exit_, or "" */
	struct text_part object; /* of JSON: the whole line */
	struct text_part body;  /* the fields of the event */
	struct text_part context; /* the trace context, the last fields (tfs-catpipe -O) */
	struct text_part facts; /* in JSON: the object after them */
	int json;
	int perf;               /* a line of perf script */
	int stack;              /* SEEN_STACK ...: the title of a stack, no event; 0: none */
	enum trace_miss miss;   /* why it is no event line */
	/* a call of tfs-catpipe -D: event is its name, and body is all of its text */
	enum pairing_fate decoded;      /* PAIRING_NOTHING: no such call */
	struct text_part ret, error;
	char lat[24];           /* in microseconds; "": not known */
	const struct seen_source *from; /* NULL: a line; then body and facts are not set */
	uint64_t ts;            /* of a record: its time, as the line of the record has it */
};

/* The stack of the kernel's functions, or of the program's. */
enum { SEEN_STACK = 1, SEEN_USER_STACK };

/* Read a line without its newline. Return 1 if it is an event line, or 0. Copy nothing. */
int seen_line(struct seen *, const char *line, size_t n);

/* A frame of a stack below an event. */
struct line_frame {
	struct text_part host;
	struct text_part name;  /* the function without its offset, or a file, or an address */
	int user;               /* a function of a program, in the text of perf script */
};

/* Read a line " => FUNCTION", or a frame of perf script. Return 1, or 0 for another line. */
int line_frame(struct line_frame *, const char *line, size_t n);

/*
 * Read the task, the CPU and the time of a line without a host (line_head.c). Return the text after
 * the colon of the time; or NULL, with l->miss set.
 */
const char *line_head(struct seen *, const char *s, const char *end);

/*
 * Return the length of what other programs have put in front of a line, such as dt-join's
 * "HOST | " and grep's "FILE:", or 0. Set host to the host or the file, or to nothing
 * (line_prefix.c).
 */
size_t line_prefix(const char *line, size_t n, struct text_part *host);

/*
 * Return the part that the key names: comm, pid, cpu, time, event, call, host, or a field
 * of the event. With a dot before it, as in .pid, the key is always a field. event is
 * without its prefix. call is the name of the system call, in its sys_enter_ and sys_exit_
 * events only. host is a field if the line has no host.
 *
 * In text a field is NAME=VALUE or NAME: VALUE. The result of a system call is ret. A decoded
 * call has ret, error (a name) and lat, and in JSON also the text of each argument. The names
 * of a function event are func and caller, and the events of block devices have dev, rwbs,
 * sector and nr_sector.
 *
 * A string has the escapes of out_escaped, or of JSON, which strbuf_unescaped removes. In text that
 * is not ours, an untrusted string may look like a field; a field that occurs twice with two values
 * is then treated as missing, except in the events of event_text_field.
 */
struct text_part seen_text(const struct seen *, const char *key);

/* Return the field of this name of a line, never one of its other parts. */
struct text_part seen_field(const struct seen *, const char *key);

/* Return the fields of the event as text. */
struct text_part seen_body(const struct seen *);

/* Return the number of the call of an event of raw_syscalls, which has no name, and its result. */
struct text_part seen_call_number(const struct seen *);
struct text_part seen_call_result(const struct seen *);

/*
 * Read the time in nanoseconds. *digits is the number of digits after the point of the
 * seconds; -1 if the clock has no point, and *time is then the clock's own count. Return 0, or
 * -1 if the line has no time or the time exceeds 64 bits.
 */
int seen_time(const struct seen *, uint64_t *time, int *digits);

/* Return lat in ns, or in counts of the clock if digits is negative; 0 if the line has none. */
uint64_t seen_latency(const struct seen *, int digits);

/* Is this a decoded call? Its time is when it began; a lat of other lines ends at their time. */
int seen_is_call(const struct seen *);

/* Return 1 for the entry of a system call, -1 for a return or a decoded call, 0 for others. */
int seen_side(const struct seen *);

/* ---- event_text.c: fields of events whose text does not name them --------------------- */

/* The bytes for which seen_add_field quotes a value. */
#define NOT_PLAIN " \"=()]"

/*
 * Look for a field of an event whose form is known. Return 1 if the line has that form: *value is
 * the field, or is empty if the event has no such field. Return 0 if the event or its form is
 * unknown.
 */
int event_text_field(const struct seen *, const char *key, struct text_part *value);

/*
 * If the text is that of a tracer whose lines have no name of an event (osnoise, timerlat,
 * hwlat, the switches of wakeup, raw markers), set event and body of the line and return 1.
 */
int event_text_tracer(struct seen *, const char *s, const char *end);

/* Return the length of a name without the decoder's escapes, such as \x1b and \n. */
size_t event_text_length(const char *s, size_t n);

/* Are there only fields of seen_add_field between s and end? */
int event_text_only_appended(const char *s, const char *end);

/* ---- sched.c: switches, wake-ups and new tasks --------------------------------------- */

/* The state of a task that does not run. */
enum task_wait { WAIT_NONE, WAIT_ASLEEP, WAIT_BLOCKED, WAIT_RUNNABLE };

/* Its name in pictures. */
extern const char *const task_wait_names[];

/* Return how the task that leaves its CPU in this sched_switch waits then, by prev_state. */
enum task_wait seen_wait(const struct seen *);

/*
 * Does the event have one of these letters as its context: s in a softirq, h or H in a hardirq, z
 * or Z in an NMI? Only text has them.
 */
int seen_within(const struct seen *, const char *letters);

/* Does the event wake up the task .pid? */
int seen_wakes(const struct seen *);

/*
 * Does the key name the idle task of the line's CPU? All idle tasks have pid 0, so a caller that
 * keeps a state of each task needs the CPU, too.
 */
int seen_is_idle(const struct seen *, const char *key);

/*
 * Does the task that runs make a task by this event? Set the keys of the new one's pid and name.
 * Each new task has task_newtask, but threads of io_uring and vhost have no sched_process_fork.
 */
int seen_born(const struct seen *, const char **pid, const char **comm);

/* ---- fields.c: values of several keys, and lines with more fields -------------------- */

/* Append a string of the line for people and tables: in the escapes of ESCAPE_TEXT only. */
void seen_add_string(struct strbuf *, const struct seen *, struct text_part);

/*
 * Set the text to the values of the keys (NULL ends the keys), as seen_add_string appends
 * them, with tabs between. A missing value is "-". Return the number of the others.
 */
size_t seen_values(struct strbuf *, const struct seen *, const char *const *keys);

/* Remove the sys_enter_ of such values, for a person who asks about system calls. */
void seen_shorten(char *values);

/*
 * Append a field for this event line, as text or JSON. The value is a part of a line of
 * the same kind. seen_text returns the same string again.
 */
void seen_add_field(struct strbuf *, const struct seen *, const char *name,
		    struct text_part);

/*
 * Set the text to the event line, of n bytes, with the appended fields. If the line has a trace
 * context, this one comes last instead.
 */
void seen_with_fields(struct strbuf *, const struct seen *, const char *line, size_t n,
		      const struct strbuf *fields, struct text_part context);

/*
 * Print the member of a JSON object after others: a string, or one with the escapes of
 * seen_add_string. Without a text, print null.
 */
void json_print_string(const char *name, struct text_part);
void json_print_name(const char *name, struct text_part);

/* Print such members for the keys and their values, as seen_values has set them. */
void json_print_keys(const char *const *keys, const char *values);

/* ---- decimal.c: a number in a trace -------------------------------------------------- */

struct decimal {
	int negative;
	uint64_t whole;
	uint32_t nano;          /* after the point, cut to nine digits */
};

/*
 * Read [+-]DIGITS[.DIGITS] or 0xDIGITS. A hexadecimal number is a signed number of 64
 * bits. Return 0, or -1, silent, if the part is not a number or exceeds 64 bits.
 */
int decimal_parse(struct decimal *, struct text_part);

/* Return the number that the key names, without its fraction; 0 if there is none. */
int64_t seen_number(const struct seen *, const char *key);

/*
 * Convert a latency from microseconds to nanoseconds. counts: the latency is in units of a clock
 * that does not count seconds; return the number itself. Return -1, silent, if it is no number.
 */
int64_t decimal_latency(struct text_part, int counts);

/* Write the number to s (DECIMAL_TEXT bytes), cut to a whole number or to three digits. */
enum { DECIMAL_TEXT = TIME_WORDS };
void decimal_text(char *s, const struct decimal *, int three);

/* Write a time in microseconds as time_words does, to s (DECIMAL_TEXT bytes). */
void decimal_time(char *s, const struct decimal *us, int precise);

/* Add a number that is not negative. The greatest number stays where it is. */
void decimal_add(struct decimal *to, const struct decimal *);

/* Compare as strcmp does. */
int decimal_compare(const struct decimal *, const struct decimal *);

/*
 * Return the power of two: 0 for [0, 1), 1 for [1, 2), 2 for [2, 4) ... 64. For negative
 * numbers return -1 for (-1, 0), -2 for (-2, -1] ... -65.
 */
enum { DECIMAL_POWER_MIN = -65 };
int decimal_power(const struct decimal *);

/* ---- comments.c: what is said at the end of the output ------------------------------- */

/*
 * The last "# lost" and "# unpaired" line of each host, in text or JSON, and the number of
 * lines that should be events and are not understood. All zero at first.
 */
enum { COMMENTS_MAX = 128, COMMENTS_MISSED = 500 };
struct comments {
	char *line[COMMENTS_MAX];
	unsigned kind[COMMENTS_MAX], n;
	unsigned long long lines;       /* that comments_event has read */
	unsigned long long missed, misses[MISS_KINDS], first;
	unsigned long long perf, back;  /* lines of perf script; those that go back in time */
	uint64_t time;                  /* of the last line of perf script */
	char *file;                     /* tail's name of the file; NULL: none */
	int json;                       /* an event was JSON */
};

/*
 * Read a line as seen_line does, and count it if it should be an event and is not understood.
 * No filter leaves such a line out without a word: comments_print says how many and why.
 */
int comments_event(struct comments *, struct seen *, const char *line, size_t n);

/* Count a line that seen_line has read, if it should be an event and is not understood. */
void comments_miss(struct comments *, const struct seen *);

/* Did a line that was kept say that events are lost? */
int comments_lost(const struct comments *r);

/*
 * Set the text, with room for COMMENTS_MISSED bytes, to the number of lines that were not
 * understood, and why. Return 1, or 0 if there was none.
 */
int comments_missed(const struct comments *, char *text, size_t size);

/* If the line is of this kind, keep it and return 1. Otherwise return 0. */
int comments_keep(struct comments *, const char *line);

/* Add the line "# not understood" if there is one to add. comments_print does so itself. */
void comments_end(struct comments *);
void comments_print(struct comments *);

/*
 * Is this a line of show_traced (show.h), perhaps after a host's column? Return 1 and set host and
 * pid, which is "all" for all tasks of the host; or return 0.
 */
int comments_traced(const char *line, struct text_part *host, struct text_part *pid);

/* Does the line report lost events between the events around it? */
int comments_is_gap(const char *line);

/*
 * If this is the line of show_date (show.h), perhaps after a host's column, set seconds to the time
 * of the trace's clock, *time to that time and *offset to the difference of the time of day, both
 * in nanoseconds. Return 1, or 0 for another line.
 */
int comments_date(const char *line, struct text_part *seconds, int64_t *time, int64_t *offset);

/* ---- sample.c: what the metrics of a filter say of the trace ---------------------------- */

/* Write a time in microseconds as seconds to s (DECIMAL_TEXT bytes). */
void metrics_seconds(char *s, const struct decimal *us);

/* Take the time of an event for the length of the sample. */
void metrics_time(const struct seen *);

/*
 * Print the length of the sample, how many events were lost and how many lines were not understood.
 */
void metrics_end(const struct comments *);

/* ---- mark.c: markers, and the mark lines of a trace ---------------------------------- */

/* The name of a marker's event ends so, if the kernel knows the function that writes the marker. */
#define MARKER_EVENT "mark_write"

/* Return what a program has written to trace_marker, or nothing if that is not the event. */
struct text_part seen_marker(const struct seen *);

/*
 * A mark line is an event tfs:mark with one of these texts, of earlier versions an event
 * bpf_trace:bpf_trace_printk:
 *	dtB ID TID KEY    a window begins: the thread has read marked bytes
 *	dtR ID TID KEY    a thread that is already traced has read marked bytes
 *	dtM ID TID KEY    a traced thread begins to send marked bytes
 *	dtE ID TID KEY    the window that began with this key ends
 * ID and KEY are hexadecimal, TID is decimal. ID is that of the request probe. TID is a
 * thread group if the request probe traces processes. For each selected task the manager itself
 * writes dtB with the key 0, as an event tracing_mark_write. In JSON the fields of tfs:mark are
 * what, probe and task, which are decimal, and the string key, "0x" and hexadecimal.
 */

struct dt_mark {
	char what;              /* B, R, M or E */
	uint64_t id, tid, key;
};

/* Parse the event. Return 1, or 0 without an error message if it is not a mark line. */
int dt_mark(struct dt_mark *, const struct seen *);

/* The window of a thread. All zero at first. */
struct dt_window {
	int open;
	uint64_t key, since;
};

/*
 * Begin or end the window of the mark's thread. Return the window that ended, which is not open if
 * none did. A mark dtE ends the window of its key only: it may come after a newer dtB.
 */
struct dt_window dt_window_mark(struct dt_window *, const struct dt_mark *, uint64_t now);

#endif
