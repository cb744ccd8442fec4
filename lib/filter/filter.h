/* SPDX-License-Identifier: ISC */
/*
 * filter.h - PURPOSE of filter
 */
#ifndef FILTER_H
#define FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "proc/proc.h"

/*
 * traceline.h - an event out of a line of text, as the filters read it
 *
 * Of the kernel's text (kernel/trace/trace_output.c, trace_print_context), as
 * trace, trace_pipe, tfs-catpipe, tfs-report and trace-cmd report have it, and
 * of the lines of JSON of json.h.
 */

/* A part of the line; text NULL: there is none. */
struct text_part {
	const char *text;
	size_t n;
};

struct trace_line {
	struct text_part host;  /* of a trace that dt-join has made */
	struct text_part comm, pid, cpu, time, event;
	struct text_part tgid;  /* of text with a column for it; "-------": not known */
	const char *prefix;     /* in front of event: sys_enter_, sys_exit_, or "" */
	struct text_part body;  /* what the event's fields are in */
	int json;
	int stack;              /* no event, but the line that a stack is below */
};

/* Is it that word? */
int text_part_is(struct text_part, const char *word);

/*
 * How many bytes the column "HOST | " takes that dt-join puts in front of each line;
 * 0: there is none.
 */
size_t trace_line_host(const char *line, size_t n, struct text_part *host);

/* The line, without its newline: is it an event? 1 or 0. Its parts point into it. */
int trace_line(struct trace_line *, const char *line, size_t n);

/*
 * What a key names: comm, pid, cpu, time, event, call, or a field of the event; with
 * a dot in front, as .pid, a field in any case. In text a field is NAME=VALUE or
 * NAME: VALUE, the return of a call is ret, a function's names are func and caller,
 * and the events of block devices have dev, rwbs, sector and nr_sector. The event is
 * without its prefix; call is that of an event with one; host is a field as well where
 * the line has none.
 *
 * A string that a stranger has chosen may look like a field. It is none in the events
 * of event_text_field, in those of block devices, and where all strings are in quotes, as in
 * probes and calls, in front of the first quote and behind the last one. Elsewhere a
 * line that has a field twice, with two values, does not have it.
 */
struct text_part trace_line_key(const struct trace_line *, const char *key);

/* ---- eventtext.c: how the kernel prints some events, and what is behind that ---------- */

/* The bytes for which trace_line_add_field puts a value in quotes. */
#define NOT_PLAIN " \"=()]"

/*
 * Look for a field of an event whose text is known and holds a task's or a file's name.
 * 1: *value is the field's, or is empty, since the event has none of that name. 0: the
 * event is not known, or its text has another form here.
 */
int event_text_field(const struct trace_line *, const char *key, struct text_part *value);

/* Is there nothing from s on but fields that trace_line_add_field has appended? */
int event_text_only_appended(const char *s, const char *end);

/* The field of that name among those; text NULL: there is none. */
struct text_part event_text_appended(const char *s, const char *end, const char *key);

/*
 * The time in nanoseconds, or as a clock counts that has no point, with so many digits
 * behind the point, -1: it has none. 0, or -1: 64 bits do not hold it, or it is no time.
 */
int trace_line_time(const struct trace_line *, uint64_t *time, int *digits);

/* All of it is a number, decimal or hex without 0x, of no more than 64 bits: 0, or -1. */
int text_part_number(struct text_part, unsigned base, uint64_t *n);

/*
 * filter.h - what the filters of traces share
 *
 * They read a trace of any length, made by strangers, and keep what differs in it
 * and no line. What is out of memory ends the tool, status REFUSED.
 */

/* ---- fields.c: fields of an event line, and lines with more fields --------------- */

/*
 * In place of what was in it: what the event has in the keys, NULL at their end,
 * with a tab between; "-" for what it does not have; \n, \t or \x1b for control
 * characters. Returns how many it has.
 */
size_t trace_line_values(struct strbuf *, const struct trace_line *, const char *const *keys);

/*
 * Behind what is in it: a field for this event's line, as text or JSON. The value
 * is a part of a line of the same form. In text trace_line_key gives it back, but for
 * double quotes, which are single ones then.
 */
void trace_line_add_field(struct strbuf *, const struct trace_line *, const char *name, struct text_part);

/* In place of what was in it: the event's line, of n bytes, with such fields. */
void trace_line_with_fields(struct strbuf *, const struct trace_line *, const char *line, size_t n,
			    const struct strbuf *fields);

/* ---- value.c: a number as a trace has it ----------------------------------------------- */

struct decimal {
	int negative;
	uint64_t whole;
	uint32_t nano;          /* behind the point, cut to nine digits */
};

/*
 * [+-]DIGITS[.DIGITS], or 0xDIGITS, negative as a signed number of 64 bits is. 0, or
 * -1: it is none, or 64 bits do not hold it. Silent.
 */
int decimal_parse(struct decimal *, struct text_part);

/* As strcmp. */
int decimal_compare(const struct decimal *, const struct decimal *);

/*
 * Its power of two: 0 of [0, 1), 1 of [1, 2), 2 of [2, 4) ... 64, and of negative
 * ones -1 of (-1, 0), -2 of (-2, -1] ... -65.
 */
enum { DECIMAL_POWER_MIN = -65 };
int decimal_power(const struct decimal *);

/* ---- svg.c: pictures, well-formed whatever the names are ------------------------------ */

/*
 * The text, escaped; what is no character of XML is a question mark. What is longer
 * than so many characters ends in two points, or is left out where they do not fit.
 */
void svg_text(struct strbuf *, const char *, size_t n, size_t most);

/* A number of hundredths, as 12.5. */
void svg_number(struct strbuf *, uint64_t hundredths);

/* " NAME='NUMBER'" of hundredths. */
void svg_attribute(struct strbuf *, const char *name, uint64_t hundredths);

/* The beginning of a picture of this size, in pixels, with a title, and its end. */
void svg_begin(uint64_t width, uint64_t height, const char *title);
void svg_end(void);

/* A fill of its own for each name. */
void svg_colour(struct strbuf *, const char *name, size_t n);

/* Text at a place. */
void svg_label(unsigned x, uint64_t y, const char *, size_t n, size_t most);

enum { SVG_LETTER = 720 /* hundredths: how wide one is */ };

/* ---- remarks.c: what is no event, and is told at the end --------------------------- */

/*
 * "# lost" and then "# unpaired", in text or JSON, the last of each, and of each host
 * where they have one in front; all zero at first.
 */
enum { REMARKS_MAX = 128 };
struct remarks {
	char *line[REMARKS_MAX];
	unsigned kind[REMARKS_MAX], n;
};

/* Is the line one? It is kept then. */
int remarks_keep(struct remarks *, const char *line);
void remarks_print(const struct remarks *);

/* Below a picture that has room for two: the room that more take, and all of them. */
uint64_t remarks_room(const struct remarks *);
void remarks_draw(const struct remarks *, uint64_t bottom);

/* Does the line tell of a gap in the trace, in front of the next event? */
int remarks_is_gap(const char *line);

/*
 * latency.h - what has begun in a trace and has not ended yet
 *
 * tfs-latency pairs events by their keys. Two of its pairs need to know more: how
 * the scheduler moves tasks (latsched.c), and how requests reach a disk
 * (latblock.c, bios.c). Each matcher keeps what has begun in the table of struct latency.
 */

/* An event, its line and its time, as trace_line_time gives that. */
struct latency_event {
	const struct trace_line *l;
	const char *event;              /* its whole name */
	const char *line;               /* of n bytes */
	size_t n;
	uint64_t time;
	int digits;
};

/* A beginning, and the fields that its line gives to the line of its end. */
struct latency_start {
	uint64_t time;
	int digits;
	size_t n;
	char *carried;                  /* of n bytes; NULL: none */
};

struct latency {
	const char **keys, **names;     /* fields to carry, NULL at the end */
	uint64_t least;                 /* print no latency of fewer microseconds */
	struct pids only;               /* what these tasks began; none: all */
	struct pids except;             /* latsched.c: but not these */
	int beginnings;                 /* print them too */
	int ends;                       /* print those without a beginning, too */
	int some_end;                   /* beginnings without an end are no news */
	struct table open;              /* the matcher's */
	struct table bios;              /* latblock.c: what no request has taken yet */
	struct strbuf event, key, fields, line;
	unsigned long long printed, no_end, no_begin;
	int json;                       /* the last event was */
};

/* ---- latency.c: beginnings and ends ------------------------------------------------ */

/*
 * Keep the time of the event, and what is carried, in place of what b had. Print the
 * event, if beginnings are printed.
 */
void latency_start_set(struct latency *, struct latency_start *, const struct latency_event *);

/*
 * Return what -c carries of the event's task, which are the keys comm and pid: a field a
 * line, the caller's to free. NULL: -c names neither.
 */
char *latency_task_fields(struct latency *, const struct trace_line *);

/*
 * Do as latency_start_set, but carry comm and pid from task, which latency_task_fields has made of another
 * event, and print what is carried behind the beginning.
 */
void latency_start_set_for(struct latency *, struct latency_start *, const struct latency_event *, const char *task);

/* Print the line of the end, with what is carried and lat=, if it took long enough. */
void latency_start_print(struct latency *, const struct latency_start *, const struct latency_event *);

/* Free what b carries; it is as new. */
void latency_start_clear(struct latency_start *);

/*
 * Add what separates keys of different traces to latency.key: text never ends what
 * JSON began, and no host ends what another host began.
 */
void latency_key_origin(struct latency *, const struct trace_line *);

/* The task in the key; 0: none, or the idle task. */
pid_t latency_task(const struct trace_line *, const char *key);

/* Add a task, or the child of a sched_process_fork, to latency.only. 0, or -1 said. */
int latency_follow_task(struct latency *, pid_t);
int latency_follow_fork(struct latency *, const struct trace_line *);

/* Remove all entries of the table, after fn has freed what they point to. */
void latency_forget_all(struct latency *, struct table *, void (*fn)(struct latency *, void *entry));

/*
 * A matcher: pair one event, 0 or -1 said; and give up what is open, at a gap in the
 * trace or at its end.
 */
struct latency_matcher {
	size_t size;                    /* of the table's entries */
	int (*event)(struct latency *, const struct latency_event *);
	void (*forget)(struct latency *);
};

/* latsched.c: from the moment that a task may run until it does */
extern const struct latency_matcher latency_sched;

/* latblock.c: from the issue of a request to a block device to its completion */
extern const struct latency_matcher latency_block;

/* ---- bios.c: bios that are queued, until a request takes them ---------------------- */

/* A bio, or what is left of it, and the task that queued it. */
struct bio {
	uint64_t from, to;              /* its first sector, and the first one behind it */
	uint64_t number;                /* that of the oldest is the least */
	int strangers;                  /* -p: of a task that is not followed */
	int fua;                        /* it is to be on the medium when it is complete */
	char *task;                     /* latency_task_fields; may be NULL */
};

/* Those of a device and an operation, by from and number. All zero at first. */
struct bios {
	struct table_entry entry;
	struct bio *v;
	size_t n, room;
	int served;                     /* a request has come that could take one */
};

/*
 * Add a bio and take over the memory of its task. If there are too many bios, forget the
 * older half: the device makes no requests of bios, or the trace lost some.
 */
void bios_add(struct bios *, const struct bio *);

/*
 * Remove the sectors of a request from the bios, and give in *got whose it is: that of
 * the first bio, or of the first one of a task that is followed. got->task is the
 * caller's. Return 0 if there is no such bio.
 */
int bios_take(struct bios *, uint64_t from, uint64_t to, struct bio *got);

/* Return the oldest bio of a task that is followed, else the oldest. NULL: none. */
const struct bio *bios_oldest(const struct bios *);

/* Remove the oldest bio that begins or ends at this sector, if there is one. */
void bios_end(struct bios *, uint64_t sector);

/* Remove all of them. */
void bios_clear(struct bios *);

#endif
