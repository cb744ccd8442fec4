/* SPDX-License-Identifier: ISC */
/*
 * event.h - raw ring-buffer pages to the text of the kernel's own `trace`
 *
 * In the order of use: where a page keeps what (page_format_parse), the
 * formats of the events (event_add), what else lies behind a record's numbers
 * (symbols, strings, comms), the records of a page (page_open, page_next), and
 * their text (event_line, event_print) or their fields (field_value).
 *
 * Nothing here is said on stderr, nothing here trusts a length or an offset,
 * from whichever file it came, and nothing is allocated for a record: an
 * event's print fmt is compiled when its first record is printed, or before
 * that by event_prepare. Pages may come from another machine: its byte order
 * and the size of its long are in struct events.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "comms.h"

/* Where a nanosecond counts, in a build that is made small. */
#if defined(__GNUC__) && !defined(__clang__)
#define HOT __attribute__((optimize("O2")))
#else
#define HOT
#endif

/* A number of the kernel's, wherever it lies. */
HOT static inline uint64_t get(const void *p, unsigned size, int is_signed, int big)
{
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;
	int swap = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	switch (size) {
	case 8:
		memcpy(&v8, p, 8);
		return swap ? __builtin_bswap64(v8) : v8;
	case 4:
		memcpy(&v4, p, 4);
		v4 = swap ? __builtin_bswap32(v4) : v4;
		return is_signed ? (uint64_t)(int32_t)v4 : v4;
	case 2:
		memcpy(&v2, p, 2);
		v2 = swap ? __builtin_bswap16(v2) : v2;
		return is_signed ? (uint64_t)(int16_t)v2 : v2;
	case 1:
		return is_signed ? (uint64_t)*(const int8_t *)p : *(const uint8_t *)p;
	}
	return 0;
}

/* ---- page.c: the records of a sub-buffer ------------------------------- */

/* Where a page keeps what, as events/header_page has it. */
struct page_format {
	uint32_t commit;        /* offset of the length of the data */
	uint32_t commit_size;   /* 4 or 8 bytes: the kernel's long */
	uint32_t data;          /* offset of the first record */
	uint32_t size;          /* of the whole page, where the text says so */
	int big;                /* big-endian; set by page_format_parse's caller */
};

/*
 * Read the text of events/header_page. 0; -1: it is no such text, and *f is
 * what a kernel with this program's own long has.
 */
int page_format_parse(struct page_format *f, const char *text, size_t len);

/* One record, good as long as its page. */
struct record {
	uint64_t ts;            /* in the units of the trace clock */
	const unsigned char *data;
	uint32_t len;           /* of data, in bytes */
	int cpu;                /* copied from the page */
};

enum { LOST_UNKNOWN = -1 };

/* A page while its records are taken out. */
struct page {
	const unsigned char *at, *end;
	uint64_t ts;
	int64_t lost;           /* events missing before this page; or LOST_UNKNOWN */
	int cpu, big;
	int bad;                /* its rest makes no sense; set by page_next */
};

/*
 * Begin with the size bytes of a page that come from that CPU. 0; -1: shorter
 * than its own head. A commit beyond size is cut to it.
 */
int page_open(struct page *, const struct page_format *, const void *data,
	      size_t size, int cpu);

/* The next record: 1; 0 at the end, or where the rest makes no sense. */
int page_next(struct page *, struct record *);

/* How many records the size bytes of a page hold. */
size_t page_count(const struct page_format *, const void *data, size_t size);

/* ---- format.c: what the events are ---------------------------------------- */

enum field_kind {
	FIELD_NUMBER,           /* size bytes, is_signed */
	FIELD_POINTER,          /* the same, best shown in hexadecimal */
	FIELD_STRING,           /* characters, up to a NUL or their end */
	FIELD_ARRAY,            /* of numbers, elem bytes each */
	FIELD_BITMASK,          /* bits in words of the kernel's long */
};

enum field_place { PLACE_HERE, PLACE_DATA_LOC, PLACE_REL_LOC, PLACE_REST };

struct field {
	const char *type, *name;
	uint32_t offset, size;  /* as the format has them; size of the whole array */
	uint8_t kind, place, is_signed;
	uint8_t elem;           /* bytes of one element, of a plain number all */
};

struct program;

struct event {
	const char *system, *name;
	const char *print_fmt;  /* as in the format's last line */
	struct program *program;        /* NULL until event_prepare */
	struct field *fields;   /* the common ones first */
	uint16_t nfields, ncommon;
	uint16_t id;
	/* its print fmt could not be compiled: field=value is printed */
	uint8_t opaque;
	uint8_t picked;         /* pick.c's: 0 not asked yet */
	uint8_t role;           /* roles.c's, the same */
};

/* An address, and the text that is there. */
struct string {
	uint64_t address;
	const char *text;
};

/* What a step of a program wrote for a value: most values come again and again. */
struct memo {
	const struct step *step;
	uint64_t value;
	uint8_t len;
	char text[47];
};

struct symbols;

/*
 * All that is known of the kernel which wrote the pages. Zero it, set the
 * first eight, then event_add.
 */
struct events {
	int big;                /* its byte order */
	int long_size;          /* of its long: 4 or 8 */
	unsigned version;       /* KERNEL(5, 10): some text changed since */
	/*
	 * Its symbols, asked for once, when the first address is printed.
	 * NULL, or a result of NULL: addresses stay numbers.
	 */
	struct symbols *(*load_symbols)(void *arg);
	/* Called for a record whose event is not known: add it, if it can be had. */
	void (*missing)(void *arg, const struct record *);
	/* Called once for an event that is opaque. */
	void (*unclear)(void *arg, const struct event *);
	void *arg;
	/*
	 * Address of its array of struct page, which memory events' page= counts
	 * from; 0 where it is not known: page= is then as if it were there.
	 */
	uint64_t vmemmap;
	int sym_offset, sym_addr; /* options of these names are on */
	/*
	 * Every byte of a record's strings as it is, newlines too, as the kernel prints
	 * them. 0: control characters are \n, \t or \x1b, so that one event is one line.
	 */
	int exact;

	struct event **by_id;   /* may hold NULLs */
	uint32_t size;
	struct symbols *symbols;
	int symbols_asked;
	int failed;             /* memory ran out: an event has no program, and no text */
	struct string *strings;
	size_t nstrings;
	char *strings_text;
	struct comms comms;
	/* offsets of common_pid, common_flags, common_preempt_count */
	uint16_t pid_at, flags_at, preempt_at;
	uint16_t newtask, rename; /* ids of task:task_newtask, task:task_rename; or 0 */
	uint16_t stack, user_stack; /* of ftrace:kernel_stack, ftrace:user_stack; or 0 */
	uint8_t pid_size;
	uint8_t usual_header;   /* common_flags, _preempt_count, _pid in bytes 2, 3, 4-7 */
	struct memo memos[256];
};

#define KERNEL(major, minor) ((unsigned)(major) << 16 | (unsigned)(minor))

/* The version in a release as uname has it, "6.18.44-x"; 0: none there. */
unsigned kernel_version(const char *release);

/*
 * Take in the text of one events/SYSTEM/NAME/format; the text is copied. An
 * id that is there already is replaced. The event, or NULL: no format, or out
 * of memory.
 */
struct event *event_add(struct events *, const char *system, const char *text,
			size_t len);

/* The event of a record's or an event's id; NULL: not known. */
struct event *event_by_id(const struct events *, unsigned id);

/* common_type, which is the id of its event; 0, which is none: too short. */
HOT static inline unsigned record_id(const struct events *evs, const struct record *r)
{
	return r->len < 2 ? 0 : (unsigned)get(r->data, 2, 0, evs->big);
}

/* The event of a record; NULL: too short, or not known. */
HOT static inline struct event *event_of(const struct events *evs, const struct record *r)
{
	unsigned id = record_id(evs, r);

	return r->len >= 2 && id < evs->size ? evs->by_id[id] : NULL;
}

/* The same, and missing was asked for it. */
struct event *event_wanted(struct events *, const struct record *);

/* The field of that name, or NULL. */
const struct field *event_field(const struct event *, const char *name);

/*
 * Compile its print fmt, unless that was done. 0; -1: it holds what we do not
 * know, and records print as field=value (event->opaque).
 */
int event_prepare(struct events *, struct event *);

void events_free(struct events *);

/* What a field holds, read from a record. */
struct value {
	enum field_kind kind;
	union {
		int64_t i;      /* of a number that is_signed */
		uint64_t u;
	};
	const unsigned char *data;      /* of the other kinds, in the record */
	size_t n;               /* characters, elements, or bytes of a bitmask */
};

/* 0; -1: the record ends before it. */
int field_value(const struct events *, const struct field *,
		const struct record *, struct value *);

/* Element i < n of an array, extended by its sign. */
uint64_t field_element(const struct events *, const struct field *,
		       const struct value *, size_t i);

/* common_pid; 0 where there is none. */
int record_pid(const struct events *, const struct record *);

/*
 * Take in the text of printk_formats (0xADDRESS : "TEXT"), which is what some
 * events' pointers point to. 0; -1: out of memory.
 */
int events_strings(struct events *, const char *text, size_t len);

/* ---- line.c: a line, as `trace` has it -------------------------------------- */

/* How lines look; zero it, set the first four, then the rest is its own. */
struct line {
	struct events *events;
	int raw_clock;          /* counter, x86-tsc: time as it is, not secs.usecs */
	int no_irq_info;        /* options/irq-info is off */
	int tgid;               /* options/record-tgid is on */
	/* Called before the name of a task is looked up in events->comms. */
	void (*who)(void *arg, int pid);
	void *arg;
	/*
	 * Go into struct comm by line_learn. told is for a live trace that tells
	 * all names from 1 on, and counts losses, which may have told another.
	 */
	uint32_t told, seen;

	struct head {
		uint64_t who;           /* common_preempt_count, _flags, _pid */
		int32_t cpu, pid;
		uint8_t len;
		char text[63];
	} heads[128];           /* "   COMM-PID     [CPU] LETTERS" */
	uint64_t second;        /* in usecs; text below is that second's */
	uint32_t second_len;
	char second_text[24];
};

/* What the task is called in lines; NULL: not known, "<...>" there. */
const char *task_name(const struct events *, int pid);

/* Does the clock of that name count something else than nanoseconds? */
int clock_counts(const char *name);

/* comms or the clock are others now: forget what was kept of them. */
void line_changed(struct line *);

/* common_flags (kernel/trace/trace.h, enum trace_flag_type) */
enum { IRQS_OFF = 1, LAZY = 2, RESCHED = 4, HARDIRQ = 8, SOFTIRQ = 16, PREEMPT_RESCHED = 32,
       NMI = 64, BH_OFF = 128 };

/* Is it a record of the two events by which a task gets its name? 1 or 0. */
HOT static inline int tells_name(const struct events *evs, const struct record *r)
{
	unsigned id = record_id(evs, r);

	return id && (id == evs->newtask || id == evs->rename);
}

/* Is it a stack, which belongs to the event before it in the same context? 1 or 0. */
HOT static inline int stack_of_event(const struct events *evs, const struct record *r)
{
	unsigned id = record_id(evs, r);

	return id && (id == evs->stack || id == evs->user_stack);
}

/* The task has the name which such a record tells from here on. */
void line_learn(struct line *, const struct record *);

/*
 * The whole line of a record, its newline (or newlines, of a stack) included.
 * Its length, at most size; a line that does not fit in is cut. size should be
 * 16 KiB, since a kernel's line is no longer than 8.
 */
size_t event_line(struct line *, const struct record *, char *buf, size_t size);

/* The same without the head: what follows "secs.usecs: ", newline included. */
size_t event_print(struct events *, const struct record *, char *buf, size_t size);

/* "CPU:N [LOST M EVENTS]", or without M when lost is LOST_UNKNOWN. */
size_t lost_line(int cpu, int64_t lost, char *buf, size_t size);

/* The comment lines that `trace` starts with. */
size_t header_lines(const struct line *, const char *tracer, uint64_t entries,
		    uint64_t written, unsigned cpus, char *buf, size_t size);

/* ---- symbols.c: kallsyms ------------------------------------------------------ */

/*
 * Symbols from the text of kallsyms, which the result keeps and frees. NULL:
 * out of memory, or every address hidden (kptr_restrict).
 */
struct symbols *symbols_parse(char *text, size_t len);

/* load_symbols for this machine: /proc/kallsyms. */
struct symbols *symbols_load(void *unused);

void symbols_free(struct symbols *);

struct symbol {
	const char *name;       /* not terminated: len bytes */
	const char *module;     /* NULL, or mlen bytes without brackets */
	uint32_t len, mlen;
	uint64_t address, size;
};

/* The symbol that the address is in: 1; 0: in none. */
int symbol_at(struct symbols *, uint64_t address, struct symbol *);

#endif
