/* SPDX-License-Identifier: ISC */
/*
 * export.h - records that leave the host: who made them, and OTLP
 *
 * A record is a line of JSON, as tfs-report -j and tfs-catpipe -j print it: an event, or a
 * report of lost events. OTLP is the OpenTelemetry protocol, here in its JSON encoding: a line
 * is one ExportLogsServiceRequest or ExportTraceServiceRequest of
 * opentelemetry-proto (collector/logs/v1, collector/trace/v1).
 */
#ifndef EXPORT_H
#define EXPORT_H

#include "base/base.h"
#include "lines/lines.h"

/* ---- record.c: parse a record -------------------------------------------------------- */

/* The application's span in which a thread was, as --otel reads it. All zero: none. */
struct export_context {
	uint64_t trace[2], span;
	unsigned flags;                 /* of W3C's traceparent; 1: the trace is sampled */
};

#define EXPORT_NO_CPU UINT64_MAX

struct export_record {
	const char *line;               /* of n bytes */
	size_t n;
	uint64_t time;                  /* nanoseconds since 1970; 0: it has none */
	uint64_t tid, tgid;             /* 0 if there is none */
	uint64_t cpu;                   /* EXPORT_NO_CPU if there is none */
	struct text_part comm;          /* values of JSON: strings have their quotes */
	struct text_part system, event, fields, lost, overwritten, comment, host;
	struct text_part error;         /* the member error of fields */
	int64_t lat;                    /* of fields, in nanoseconds; -1: none */
	int answered;                   /* seccomp(2) has denied or emulated the call */
	int contained;                  /* it names its container */
	int decoded;                    /* a decoded call: its time is that of its beginning */
	struct export_context context;  /* of fields */
};

/* Parse a line of n bytes. Return 1; 0 if it is no JSON object, or is cut. */
int export_read(struct export_record *, const char *line, size_t n);

/* Is it one of the events that request probes write? */
int export_is_mark(const struct export_record *);

/*
 * Write the fields, {"name":value,...}. Leave out the fields for which there is no room, and add
 * "cut":true as the last one. EXPORT_REDACT: write an argument with a string or a structure as its
 * address, and other strings as empty, except names of tasks and errors.
 */
enum { EXPORT_REDACT = 1, EXPORT_ERRORS = 2 };
void export_fields(struct out *, const struct export_record *, int flags);

/* ---- origin.c: who made a record ------------------------------------------------------- */

/* The container of a task, by its cgroup */
struct origin_task {
	struct table_entry entry;       /* the pid */
	uint64_t looked;                /* time of the record when it was looked up; in a trace
					   that is noted: the last note is one of an exec */
	const struct container *container; /* without an id if it is in none */
	pid_t process;                  /* 0: unknown */
	int named;                      /* the process says which service it is */
	char names[1024];               /* members of JSON: the name of its program and service */
};

/* Set up with origin_begin. */
struct origin {
	const char *host, *session;
	char unnamed[24];               /* the session, if it has no other name */
	char name[65], boot[37], id[37]; /* this host's; empty if unknown */
	char names[512];                /* members of JSON, of $OTEL_RESOURCE_ATTRIBUTES */
	int processes;                  /* look up programs and services, too */
	int no_tasks;                   /* do not look for containers */
	int noted, begun;               /* the trace tells of its tasks; it has had an event */
	struct table tasks, containers;
};

/*
 * Find out the names of the host and of this boot. host and session may be NULL. Return 0, or
 * -1, reported, if a name has other characters than letters, digits and "-_.:".
 */
int origin_begin(struct origin *, const char *host, const char *session);

/*
 * If a session has no name, name it by the time of its first record, which is the same if the
 * trace is exported once more.
 */
void origin_session(struct origin *, uint64_t time);

/*
 * Take a line that tells of a task (bin/record/services.h). From then on, nothing is looked up: the
 * trace tells all that it knows. Return 0 if the line is none.
 */
int origin_note(struct origin *, const struct export_record *);

/*
 * Return the container of the record's task, or of its process if the record has its tgid. If the
 * record does not name it, it is looked up once a second, because pids are used again and tasks
 * enter cgroups. A task that is gone keeps what is known: by the last look, by the task that made
 * it, and by the program that it executed.
 */
const struct origin_task *origin_of(struct origin *, const struct export_record *);

/* ---- vocabulary.c: fields of events in OpenTelemetry's words ------------------------------ */

/* The version of the semantic conventions that the names are from */
#define SCHEMA_URL "https://opentelemetry.io/schemas/1.45.0"

/* Before the name of an argument or a field that the conventions do not know */
#define EXPORT_ARGUMENT "tfs.arg."

/* An attribute: its name, in two parts, and its value as JSON. */
struct export_word {
	const char *prefix;
	struct text_part name, value;
	char text[48];                  /* room for the value */
};

/* Set the attribute of a field. Return 0 if the field gives none. */
int export_word(struct export_word *, const struct export_record *, struct text_part field,
		struct text_part value, int flags);

/*
 * Does the record tell of a failure? A lookup of a file that does not exist, and EAGAIN, are
 * answers and no failures, unless the flags have EXPORT_ERRORS.
 */
int export_is_failure(const struct export_record *, int flags);

/* ---- otlp.c: lines of OTLP ---------------------------------------------------------------- */

struct otlp {
	struct origin *origin;
	int spans;                      /* spans instead of logs */
	int flags;                      /* EXPORT_REDACT, EXPORT_ERRORS */
	size_t most;                    /* bytes of a line, at least 4096 */
	/* private: */
	struct strbuf line, resource, next_resource, record, fields;
};

/* A span. Ids are 0 if there is none. */
struct otlp_span {
	uint64_t trace[2], id, parent;
	struct export_context link;     /* a span of another trace that belongs to it */
	struct text_part name;          /* a JSON string */
	const char *kind;               /* a number, as in trace.proto */
	uint64_t from, to;              /* nanoseconds since 1970 */
	const char *note;               /* NULL, or the name of an attribute that is true */
};

/* Add a log record. */
void otlp_log(struct otlp *, const struct export_record *, uint64_t number);

/* Add a span with the record's task, its fields and its error. */
void otlp_span(struct otlp *, const struct otlp_span *, const struct export_record *,
	       uint64_t number);

/* Print the line that is not complete yet. */
void otlp_flush(struct otlp *);

/* ---- spans.c: from records to spans ------------------------------------------------------- */

/*
 * Several hosts, or two runs over the same trace, give spans the same ids without asking each
 * other:
 * - A message has the key of its marks (mark.c) as id. Its span lasts from dtM to the dtR of the
 *   answer, or else to the thread's next message or the end of the window.
 * - The window that the message opens on the other host, from dtB to dtE, has the complement of
 *   the key as id, and the key as its parent. A window whose message is missing in the trace of
 *   all hosts has no parent, and says so.
 * - A trace has the key of its first message twice as its id. In the trace of one host that is
 *   the message that opened the window. Where all hosts of a request are joined (dt-join), the
 *   trace goes on with the trace of the sender.
 * - A call or a wait belongs to the span of the application in which it happened, if the line
 *   names one (trace_id, span_id, trace_flags) that is sampled; or else to the window. Another
 *   one is in a trace of its thread, whose root lasts at most a minute.
 */
struct spans {
	struct otlp *to;
	unsigned long long instants;    /* events without a duration, which give no span */
	unsigned sample;                /* keep one trace of so many */
	unsigned long long left_out;    /* spans that were not kept */
	uint64_t slower;                /* add up events that take fewer nanoseconds */
	/* private: */
	struct table threads;           /* by host and thread */
	struct table messages;          /* the trace of each message, by its key */
	uint64_t next;                  /* when old roots end */
};

/* Take a record. number is its place in the input. */
void spans_take(struct spans *, const struct export_record *, uint64_t number);

/* End all windows: at the end of the trace, or because their ends may be lost. */
void spans_end(struct spans *, uint64_t time);

#endif
