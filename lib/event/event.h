/* SPDX-License-Identifier: ISC */
/*
 * event.h - PURPOSE of event
 */
#ifndef EVENT_H
#define EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/*
 * comms.h - what the tasks of a trace are called: a table from pid to name
 *
 * Events carry pids alone. The kernel remembers the names of the tasks that
 * recorded last, 128 of them (saved_cmdlines); procfs knows those that live.
 * Who looks at both from time to time knows nearly all.
 */

struct comm {
	pid_t pid;              /* 0: an empty slot */
	pid_t tgid;             /* of its leader; 0: not known */
	uint32_t seen;          /* the caller's: when it was looked for */
	uint32_t asked;         /* the caller's: when it was asked for tgid itself */
	uint32_t told;          /* the caller's: since when the trace tells it */
	uint16_t state;         /* follow.h's: what is known of it, */
	uint16_t code, group;   /* the code that it, that its process is to end with, */
	uint16_t sent;          /* the last deadly signal sent to its process */
	char name[16];          /* NUL-terminated, as long as the kernel's; "": not known */
	struct comm *next;      /* comms.c's: of those that may be used again */
};

/*
 * All zero at first. A task is found by its pid in a step or two. It stays where it is
 * until it is pruned or the table is cleared, however many others are added: only the
 * slots move when the table grows.
 */
struct comms {
	struct comm **v;        /* room slots, NULL or a task; the next takes who collides */
	size_t n, room;         /* tasks; slots, a power of two */
	int failed;             /* memory ran out: a task is missing */
	struct comm_block *blocks; /* comms.c's: where the tasks are */
	struct comm *unused;    /* comms.c's: tasks in blocks that are none now */
};

/*
 * The task is called so from now on: the n bytes of name, or less if that is
 * longer than a name can be. 1 when the pid was not known, else 0. Out of memory it
 * stays unknown, and failed is set.
 */
int comms_add(struct comms *, pid_t, const char *name, size_t n);

/* The task; NULL: not known. */
const struct comm *comms_find(const struct comms *, pid_t);

/* The same, made without a name if need be; NULL: no pid, or failed. */
struct comm *comms_entry(struct comms *, pid_t);

/*
 * Add the lines "PID NAME" of a saved_cmdlines of n bytes; others are passed
 * over. How many were not known.
 */
size_t comms_parse(struct comms *, const char *text, size_t n);

/*
 * Add the lines "PID TGID" of a saved_tgids of n bytes, but for those who were asked
 * themselves at the moment now; 0: all.
 */
void comms_parse_tgids(struct comms *, const char *text, size_t n, uint32_t now);

/* Drop all that keep does not want; their places may get other tasks. */
void comms_prune(struct comms *, int (*keep)(void *arg, struct comm *), void *arg);

/* Forget all; may be used again. */
void comms_clear(struct comms *);

/*
 * event.h - raw ring-buffer pages to the text of the kernel's own `trace`
 *
 * In the order of use: where a page keeps what (subbuf_format_parse), the
 * formats of the events (event_add), what else lies behind a record's numbers
 * (symbols, strings, comms), the records of a page (subbuf_open, subbuf_next), and
 * their text (line_print, line_print_text) or their fields (field_value).
 *
 * Nothing here is said on stderr, nothing here trusts a length or an offset,
 * from whichever file it came, and nothing is allocated for a record: an
 * event's print fmt is compiled when its first record is printed, or before
 * that by event_prepare. Pages may come from another machine: its byte order
 * and the size of its long are in struct events.
 */

/* Where a nanosecond counts, in a build that is made small. */
#if defined(__GNUC__) && !defined(__clang__)
#define HOT __attribute__((optimize("O2")))
#else
#define HOT
#endif

/* A number of the kernel's, wherever it lies. */
HOT static inline uint64_t raw_number(const void *p, unsigned size, int is_signed, int big)
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
struct subbuf_format {
	uint32_t commit;        /* offset of the length of the data */
	uint32_t commit_size;   /* 4 or 8 bytes: the kernel's long */
	uint32_t data;          /* offset of the first record */
	uint32_t size;          /* of the whole page, where the text says so */
	int big;                /* big-endian; set by subbuf_format_parse's caller */
};

/*
 * Read the text of events/header_page. 0; -1: it is no such text, and *f is
 * what a kernel with this program's own long has.
 */
int subbuf_format_parse(struct subbuf_format *f, const char *text, size_t len);

/* One record, good as long as its page. */
struct record {
	uint64_t ts;            /* in the units of the trace clock */
	const unsigned char *data;
	uint32_t len;           /* of data, in bytes */
	int cpu;                /* copied from the page */
};

enum { LOST_UNKNOWN = -1 };

/* A page while its records are taken out. */
struct subbuf {
	const unsigned char *at, *end;
	uint64_t ts;
	int64_t lost;           /* events missing before this page; or LOST_UNKNOWN */
	int cpu, big;
	int bad;                /* its rest makes no sense; set by subbuf_next */
};

/*
 * Begin with the size bytes of a page that come from that CPU. 0; -1: shorter
 * than its own head. A commit beyond size is cut to it.
 */
int subbuf_open(struct subbuf *, const struct subbuf_format *, const void *data,
		size_t size, int cpu);

/* The next record: 1; 0 at the end, or where the rest makes no sense. */
int subbuf_next(struct subbuf *, struct record *);

/* How many records the size bytes of a page hold. */
size_t subbuf_count(const struct subbuf_format *, const void *data, size_t size);

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

struct bytecode;

struct event {
	const char *system, *name;
	const char *print_fmt;  /* as in the format's last line */
	struct bytecode *program;       /* NULL until event_prepare */
	struct field *fields;   /* the common ones first */
	uint16_t nfields, ncommon;
	uint16_t id;
	/* its print fmt could not be compiled: field=value is printed */
	uint8_t opaque;
	uint8_t picked;         /* pick.c's: 0 not asked yet */
	uint8_t role;           /* roles.c's, the same */
};

/* An address, and the text that is there. */
struct event_string {
	uint64_t address;
	const char *text;
};

/* What a step of a program wrote for a value: most values come again and again. */
struct vm_memo {
	const struct vm_insn *step;
	uint64_t value;
	uint8_t len;
	char text[47];
};

struct symbols;

/*
 * All that is known of the kernel which wrote the pages. Zero it, set the
 * first eight, then event_add.
 */
struct event_set {
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
	struct event_string *strings;
	size_t nstrings;
	char *strings_text;
	struct comms comms;
	/* offsets of common_pid, common_flags, common_preempt_count */
	uint16_t pid_at, flags_at, preempt_at;
	uint16_t newtask, rename; /* ids of task:task_newtask, task:task_rename; or 0 */
	uint16_t stack, user_stack; /* of ftrace:kernel_stack, ftrace:user_stack; or 0 */
	uint8_t pid_size;
	uint8_t usual_header;   /* common_flags, _preempt_count, _pid in bytes 2, 3, 4-7 */
	struct vm_memo memos[256];
};

#define KERNEL(major, minor) ((unsigned)(major) << 16 | (unsigned)(minor))

/* The version in a release as uname has it, "6.18.44-x"; 0: none there. */
unsigned kernel_version(const char *release);

/*
 * Take in the text of one events/SYSTEM/NAME/format; the text is copied. An
 * id that is there already is replaced. The event, or NULL: no format, or out
 * of memory.
 */
struct event *event_add(struct event_set *, const char *system, const char *text,
			size_t len);

/* The event of a record's or an event's id; NULL: not known. */
struct event *event_by_id(const struct event_set *, unsigned id);

/* common_type, which is the id of its event; 0, which is none: too short. */
HOT static inline unsigned record_id(const struct event_set *evs, const struct record *r)
{
	return r->len < 2 ? 0 : (unsigned)raw_number(r->data, 2, 0, evs->big);
}

/* The event of a record; NULL: too short, or not known. */
HOT static inline struct event *event_of(const struct event_set *evs, const struct record *r)
{
	unsigned id = record_id(evs, r);

	return r->len >= 2 && id < evs->size ? evs->by_id[id] : NULL;
}

/* The same, and missing was asked for it. */
struct event *event_wanted(struct event_set *, const struct record *);

/* The field of that name, or NULL. */
const struct field *event_field(const struct event *, const char *name);

/*
 * Compile its print fmt, unless that was done. 0; -1: it holds what we do not
 * know, and records print as field=value (event->opaque).
 */
int event_prepare(struct event_set *, struct event *);

void events_free(struct event_set *);

/* What a field holds, read from a record. */
struct field_data {
	enum field_kind kind;
	union {
		int64_t i;      /* of a number that is_signed */
		uint64_t u;
	};
	const unsigned char *data;      /* of the other kinds, in the record */
	size_t n;               /* characters, elements, or bytes of a bitmask */
};

/* 0; -1: the record ends before it. */
int field_value(const struct event_set *, const struct field *,
		const struct record *, struct field_data *);

/* Element i < n of an array, extended by its sign. */
uint64_t field_element(const struct event_set *, const struct field *,
		       const struct field_data *, size_t i);

/* common_pid; 0 where there is none. */
int record_pid(const struct event_set *, const struct record *);

/*
 * Take in the text of printk_formats (0xADDRESS : "TEXT"), which is what some
 * events' pointers point to. 0; -1: out of memory.
 */
int events_strings(struct event_set *, const char *text, size_t len);

/* ---- line.c: a line, as `trace` has it -------------------------------------- */

/* How lines look; zero it, set the first four, then the rest is its own. */
struct line_format {
	struct event_set *events;
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

	struct line_head {
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
const char *line_task_name(const struct event_set *, int pid);

/* Does the clock of that name count something else than nanoseconds? */
int line_clock_counts(const char *name);

/* comms or the clock are others now: forget what was kept of them. */
void line_changed(struct line_format *);

/* common_flags (kernel/trace/trace.h, enum trace_flag_type) */
enum { FLAG_IRQS_OFF = 1, FLAG_NEED_RESCHED_LAZY = 2, FLAG_NEED_RESCHED = 4, FLAG_HARDIRQ = 8, FLAG_SOFTIRQ = 16, FLAG_PREEMPT_RESCHED = 32,
       FLAG_NMI = 64, FLAG_BH_OFF = 128 };

/* Is it a record of the two events by which a task gets its name? 1 or 0. */
HOT static inline int record_names_task(const struct event_set *evs, const struct record *r)
{
	unsigned id = record_id(evs, r);

	return id && (id == evs->newtask || id == evs->rename);
}

/* Is it a stack, which belongs to the event before it in the same context? 1 or 0. */
HOT static inline int record_is_stack(const struct event_set *evs, const struct record *r)
{
	unsigned id = record_id(evs, r);

	return id && (id == evs->stack || id == evs->user_stack);
}

/* The task has the name which such a record tells from here on. */
void line_learn(struct line_format *, const struct record *);

/*
 * The whole line of a record, its newline (or newlines, of a stack) included.
 * Its length, at most size; a line that does not fit in is cut. size should be
 * 16 KiB, since a kernel's line is no longer than 8.
 */
size_t line_print(struct line_format *, const struct record *, char *buf, size_t size);

/* "CPU:N [LOST M EVENTS]", or without M when lost is LOST_UNKNOWN. */
size_t line_lost(int cpu, int64_t lost, char *buf, size_t size);

/* The comment lines that `trace` starts with. */
size_t line_header(const struct line_format *, const char *tracer, uint64_t entries,
		   uint64_t written, unsigned cpus, char *buf, size_t size);

/* ---- symbols.c: kallsyms ------------------------------------------------------ */

/*
 * Symbols from the text of kallsyms, which the result keeps and frees. NULL:
 * out of memory, or every address hidden (kptr_restrict).
 */
struct symbols *symbols_parse(char *text, size_t len);

void symbols_free(struct symbols *);

struct symbol {
	const char *name;       /* not terminated: len bytes */
	const char *module;     /* NULL, or mlen bytes without brackets */
	uint32_t len, mlen;
	uint64_t address, size;
};

/* The symbol that the address is in: 1; 0: in none. */
int symbols_at(struct symbols *, uint64_t address, struct symbol *);

/* ---- out.c: text with a bound ---------------------------------------------------------- */

/* Flags of a conversion of a format string. */
enum {
	F_LEFT = 1, F_ZERO = 2, F_ALT = 4, F_SPACE = 8, F_PLUS = 16,
	F_STAR = 32, F_STAR_PRECISION = 64, F_HAS_PRECISION = 128,
};

struct conversion {
	uint8_t flags;
	char letter;            /* d u x X o c s p */
	uint8_t size;           /* bytes of the value: 1 2 4 8 */
	uint8_t more;           /* letters behind p: how many */
	int16_t width;          /* -1: none */
	int16_t precision;
	char suffix[6];         /* the letters behind p */
};

/*
 * Where text goes. Whatever writes makes sure of its room first; at the end of
 * the room, text is cut.
 */
struct out {
	char *at, *end;
};

HOT static inline size_t out_room(const struct out *o)
{
	return (size_t)(o->end - o->at);
}

void out_text(struct out *, const char *s, size_t n);
void out_char(struct out *, char c);

/* How many of eight bytes are in front of the first control character; 8: there is none. */
HOT static inline unsigned out_plain_bytes(const void *s)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t v, x, found;

	memcpy(&v, s, 8);
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		v = __builtin_bswap64(v);
	x = v ^ 0x7f * ones;
	/* the high bit of a byte that is below a blank, or DEL; the lowest one is true */
	found = (((v - ' ' * ones) & ~v) | ((x - ones) & ~x)) & 0x80 * ones;
	return found ? (unsigned)__builtin_ctzll(found) / 8 : 8;
}

/*
 * Write text that came with a record: \n, \t and \x1b stand for control characters.
 * exact: write every byte as it is.
 */
void out_escaped(struct out *, const char *s, size_t n, int exact);
void out_decimal(struct out *, uint64_t v);
void out_hex(struct out *, uint64_t v);
void out_number(struct out *, const struct conversion *, int width, int precision,
		uint64_t v);
/* Pad or cut what was written from start on, as a %s. */
void out_padded(struct out *, char *start, unsigned flags, int width, int precision);
/* trace_print_time's; raw: as a number. */
void out_time(struct out *, uint64_t ts, int raw);

/* "00" to "99" */
extern const char two_digits[];

HOT static inline char *six_digits(char *p, uint32_t v)
{
	uint32_t high = v / 10000, rest = v - high * 10000, mid = rest / 100;

	memcpy(p, two_digits + 2 * high, 2);
	memcpy(p + 2, two_digits + 2 * mid, 2);
	memcpy(p + 4, two_digits + 2 * (rest - mid * 100), 2);
	return p + 6;
}

/* Eight hexadecimal digits, the first in the lowest byte in memory. */
HOT static inline void eight_hex(char *p, uint32_t v)
{
	uint64_t x = (uint64_t)(v >> 16) << 32 | (v & 0xffff), tens;

	x = (x << 8 | x) & 0x00ff00ff00ff00ffull;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0full;
	tens = (x + 0x0606060606060606ull) >> 4 & 0x0101010101010101ull;
	x += 0x3030303030303030ull + tens * ('a' - '0' - 10);
	x = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? x : __builtin_bswap64(x);
	memcpy(p, &x, 8);
}

/* The digits of v, where there is room for DIGITS; behind them. */
enum { DIGITS = 20 };

HOT static inline char *hex_digits(char *p, uint64_t v)
{
	unsigned n = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;

	v <<= 64 - 4 * n;
	eight_hex(p, (uint32_t)(v >> 32));
	if (n > 8)
		eight_hex(p + 8, (uint32_t)v);
	return p + n;
}

char *decimal_digits(char *p, uint64_t v);

/*
 * merge.h - the records of all processors as one stream, in the order of time
 *
 * merge.c puts pages of several processors together; live.c brings it those of
 * an instance that records, tracedat.c those of a file.
 */

enum { MERGE_LATER = -1, MERGE_NONE = 0, MERGE_SUBBUF = 1 };

/* One processor's part. */
struct merge_lane {
	struct subbuf page;
	struct record next;     /* the oldest record not given, if has is set */
	int has;
	int none;               /* there was MERGE_NONE; whoever gets more clears it */
	int64_t lost;           /* in front of next; see struct page */
};

/*
 * Zero it; set lanes (zeroed), n, more and arg.
 *
 * more: the last record of a lane's page was taken. Open the lane's next page
 * and return MERGE_SUBBUF; MERGE_NONE when nothing older than what other lanes
 * hold can come any more; MERGE_LATER when it can, and all must wait for it.
 * gate: NULL, or nothing is given while that is 0.
 */
struct merge {
	struct merge_lane *lanes;
	unsigned n;
	int (*more)(void *arg, unsigned lane, struct subbuf *);
	void *arg;
	const size_t *gate;

	/* while lane run is before all others: up to whose turn, and when */
	unsigned run, rival;
	uint64_t until;
	int running;
};

/*
 * The next record, of equal ones that of the first processor, as the kernel
 * has it; *lost is how many events were lost in front of it, as in struct
 * page. It is good until the next call. NULL: none that may be given now.
 */
const struct record *merge_next(struct merge *, int64_t *lost);

#endif
