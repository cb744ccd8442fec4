/* SPDX-License-Identifier: ISC */
/*
 * event.h - turn raw sub-buffers of the ring buffer into the text of the kernel's `trace`
 *
 * A sub-buffer is the unit in which the kernel hands its ring buffer over. A record is one
 * entry of a sub-buffer. The event of a record says how to read the record: its format lists
 * the fields, and its print fmt is a C expression that makes the text.
 *
 * This layer prints no message. It trusts no length and no offset, because a sub-buffer or a
 * format may come from any file. It allocates nothing for a record: a print fmt is compiled
 * when its first record is printed, or before that by event_prepare.
 *
 * It includes only the layer base.
 */
#ifndef EVENT_H
#define EVENT_H

#include "base/base.h"

/* Return the number of size bytes at p, in the byte order of the traced kernel. */
static inline uint64_t raw_number(const void *p, unsigned size, int is_signed, int big)
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

/* ---- subbuf.c: read the records of one sub-buffer ------------------------------ */

/* The layout of a sub-buffer, from events/header_page. */
struct subbuf_format {
	uint32_t commit;        /* offset of the length of the data */
	uint32_t commit_size;   /* 4 or 8 bytes: the kernel's long */
	uint32_t data;          /* offset of the first record */
	uint32_t size;          /* bytes of a sub-buffer */
	int big;                /* big-endian; set by the caller of subbuf_format_parse */
};

/* Parse events/header_page. If it has another form, return -1 and this machine's layout, else 0. */
int subbuf_format_parse(struct subbuf_format *, const char *text);

/* One record; valid as long as its sub-buffer. */
struct record {
	uint64_t ts;            /* in the units of the trace clock */
	const unsigned char *data;
	uint32_t len;           /* of data, in bytes */
	int cpu;                /* copied from the sub-buffer */
};

enum { LOST_UNKNOWN = -1 };

/* A position in a sub-buffer. */
struct subbuf {
	const unsigned char *at, *end;
	uint64_t ts;            /* of the last record */
	int64_t lost;           /* events lost before this sub-buffer; or LOST_UNKNOWN */
	int cpu, big;
	int bad;                /* the rest is corrupt; set by subbuf_open and subbuf_next */
};

/* Begin to read a sub-buffer of size bytes. Return 0, or -1 if it is shorter than its header. */
int subbuf_open(struct subbuf *, const struct subbuf_format *, const void *data, size_t size,
		int cpu);

/* Return how many of the size bytes subbuf_open and subbuf_next need. */
size_t subbuf_length(const struct subbuf_format *, const void *data, size_t size);

/* Read the next record. Return 1, or 0 at the end or if the rest is corrupt. */
int subbuf_next(struct subbuf *, struct record *);

/* Return the number of records in a sub-buffer of size bytes. */
size_t subbuf_count(const struct subbuf_format *, const void *data, size_t size);

/*
 * Move the records after this time from the sub-buffer in data to that in rest, of the same size.
 * If data keeps no record, also move its count of lost events. Return 1, or 0 if none is later.
 */
int subbuf_split(const struct subbuf_format *, void *data, size_t size, uint64_t time,
		 void *rest);

/* Say in the sub-buffer that events before it are lost, if it does not say so. */
void subbuf_lose(const struct subbuf_format *, void *data);

/* A sub-buffer that is written. */
struct subbuf_writer {
	const struct subbuf_format *format;
	unsigned char *data;    /* format->size bytes, owned by the caller */
	size_t at;              /* bytes that are written */
	uint64_t ts;            /* of the last record */
	int64_t lost;           /* as in struct subbuf */
	unsigned n;             /* number of records */
};

/*
 * Begin a sub-buffer. Add a record, not older than the last one; return -1 if it does not fit
 * (SUBBUF_MOST bytes fit into an empty sub-buffer of 4096). Make the sub-buffer complete.
 */
enum { SUBBUF_MOST = 4000 };
void subbuf_begin(struct subbuf_writer *, const struct subbuf_format *, void *data, int64_t lost);
int subbuf_add(struct subbuf_writer *, uint64_t ts, const void *data, uint32_t len);
void subbuf_end(struct subbuf_writer *);

/* ---- comms.c: keep the names of tasks by pid ------------------------------------ */

/* A task. A record has only the pid of its task. */
struct comm {
	pid_t pid;              /* 0: an empty slot */
	pid_t tgid;             /* thread group; 0: not known */
	char name[16];          /* NUL-terminated, as long as the kernel's; "": not known */
	uint64_t start;         /* when it began (told_learn); 0: not known */
	struct comm *next;      /* private: list of unused entries */
};

/*
 * A hash table of tasks by pid; all zero at first, except size. The address of a task does not
 * change until the task is pruned or the table is cleared.
 */
struct comms {
	size_t size;            /* of an entry, which begins with a struct comm; 0: only that */
	struct comm **v;        /* room slots, each NULL or a task; a collision takes the next */
	size_t n, room;         /* tasks; slots, a power of two */
	int failed;             /* memory ran out: a task is missing */
	/* private */
	struct comm_block *blocks;
	struct comm *unused;
};

/* Set the task's name, cut to the size of a kernel name. Return 1 if it was not known, else 0. */
int comms_add(struct comms *, pid_t, const char *name, size_t n);

/* Return the task, or NULL if it is not known. */
const struct comm *comms_find(const struct comms *, pid_t);

/* Return the task; make it without a name if it is not known. NULL: no pid, or no memory. */
struct comm *comms_entry(struct comms *, pid_t);

/* Add the lines "PID NAME" of a saved_cmdlines. Return the number of names that were not known. */
size_t comms_parse(struct comms *, const char *text, size_t n);

/* Add the lines "PID TGID" of a saved_tgids of n bytes for tasks that wanted (or NULL) accepts. */
void comms_parse_tgids(struct comms *, const char *text, size_t n,
		       int (*wanted)(void *arg, struct comm *), void *arg);

/* Drop all tasks for which keep returns 0. */
void comms_prune(struct comms *, int (*keep)(void *arg, struct comm *), void *arg);

/* Drop all tasks and free the memory. The table can be used again. */
void comms_clear(struct comms *);

/* ---- format.c: events and their fields ------------------------------------------- */

enum field_kind {
	FIELD_NUMBER,           /* size bytes, is_signed */
	FIELD_POINTER,          /* a number that is shown in hexadecimal */
	FIELD_STRING,           /* characters, up to a NUL or the end of the field */
	FIELD_ARRAY,            /* numbers of elem bytes each */
	FIELD_BITMASK,          /* bits in words of the kernel's long */
};

enum field_place {
	PLACE_HERE,             /* size bytes at offset */
	PLACE_DATA_LOC,         /* __data_loc: a u32 with length and offset in the record */
	PLACE_REL_LOC,          /* __rel_loc: as above, offset counted from after the u32 */
	PLACE_REST,             /* from offset to the end of the record */
};

struct field {
	const char *type, *name;
	uint32_t offset, size;  /* from the format; size of the whole array */
	uint8_t kind, place, is_signed;
	uint8_t elem;           /* bytes of one element; of a plain number: its size */
};

struct bytecode;

struct event {
	const char *system, *name;
	const char *print_fmt;  /* from the last line of the format */
	struct bytecode *program;       /* NULL until event_prepare */
	struct field *fields;   /* the common fields first */
	uint16_t nfields, ncommon;
	uint16_t id;
	uint8_t opaque;         /* unsupported print fmt: fields are printed as field=value */
	/* NULL, or the first part of print_fmt that is not supported and printed as a value */
	const char *unclear;
	uint32_t unclear_len;
	uint32_t serial;        /* unique in the set, for tables of callers; never used again */
};

/* A kernel address and the string at that address. */
struct event_string {
	uint64_t address;
	const char *text;
};

/* The text that an instruction wrote for a value, because most values come again and again. */
struct vm_memo {
	const struct vm_insn *insn;
	uint64_t value;
	uint8_t len;
	char text[47];
};

struct symbols;
struct out;

/* The marks of event_set.keys. Strings have no such characters, unless exact is set. */
enum { KEY_BEGIN = 1, KEY_END = 2 };

/*
 * Everything that is known about the kernel that wrote the trace. Zero it, set the fields
 * from big to exact, then call event_add.
 */
struct event_set {
	int big;                /* its byte order: big-endian */
	int long_size;          /* size of its long: 4 or 8 */
	unsigned version;       /* KERNEL(5, 10); some texts changed in later kernels */
	/* NULL, or return the symbols; called once. Without them addresses are numbers. */
	struct symbols *(*load_symbols)(void *arg);
	/* NULL, or add the unknown event of a record if possible. */
	void (*missing)(void *arg, const struct record *);
	/* NULL, or called once for each event whose print fmt is not, or not wholly, supported. */
	void (*unclear)(void *arg, const struct event *);
	void *arg;
	uint64_t vmemmap;       /* address of the array of struct page, for page=; 0: not known */
	int sym_offset, sym_addr, bitmask_list; /* the options of these names are on */
	int exact;              /* print control characters of strings as the kernel does */
	/*
	 * NULL, or names, ended by NULL. The text then has marks around the value of each
	 * NAME=VALUE, and of each field of such a name: KEY_BEGIN and the letter 'A' plus the index
	 * of the name before the value, and KEY_END after it.
	 */
	const char *const *keys;
	/*
	 * NULL, or print the function at an address of a program; call: the address follows a call.
	 * The field caller is an address in the function that called the innermost one of the user
	 * stack that comes next; 0: not known.
	 */
	int (*put_user)(const struct event_set *, struct out *, int pid, uint64_t address,
			int call, int frame);
	uint64_t caller;

	/* private */
	struct event **by_id;   /* some are NULL */
	uint32_t size, serial;
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
	uint16_t stack, user_stack; /* ids of ftrace:kernel_stack, ftrace:user_stack; or 0 */
	uint16_t own_stack;     /* id of RECORD_SYSTEM:user_stack, or 0 */
	/* ids of ftrace:funcgraph_entry, fgraph_retaddr_entry, funcgraph_exit; or 0 */
	uint16_t graph_entry, graph_retaddr, graph_exit;
	uint8_t pid_size;
	uint8_t usual_header;   /* common_flags, _preempt_count, _pid in bytes 2, 3, 4-7 */
	struct vm_memo memos[256];
};

#define KERNEL(major, minor) ((unsigned)(major) << 16 | (unsigned)(minor))

/* Return the version in a release as uname has it, "6.18.44-x"; 0 if there is none. */
unsigned kernel_version(const char *release);

/*
 * Add the event of an events/SYSTEM/NAME/format; replace one of the same id. Return it, or NULL if
 * the text is not a format or memory ran out.
 */
struct event *event_add(struct event_set *, const char *system, const char *text, size_t len);

/* Return the event of this id, or NULL if it is not known. */
struct event *event_by_id(const struct event_set *, unsigned id);

/* Return the id of the record's event; 0 (no event) if the record is too short. */
static inline unsigned record_id(const struct event_set *evs, const struct record *r)
{
	return r->len < 2 ? 0 : (unsigned)raw_number(r->data, 2, 0, evs->big);
}

/* Return the event of this name, or NULL if it is not known. */
struct event *event_named(const struct event_set *, const char *system, const char *name);

/* Return the event of a record; NULL if it is not known or the record is too short. */
static inline struct event *event_of(const struct event_set *evs, const struct record *r)
{
	unsigned id = record_id(evs, r);

	return r->len >= 2 && id < evs->size ? evs->by_id[id] : NULL;
}

/* Return the event of a record; call missing first if it is not known. */
struct event *event_wanted(struct event_set *, const struct record *);

/*
 * Return the field whose value the event's text has as KEY=VALUE, in the plain form of its type.
 * NULL: there is no KEY= in the text, or the value is another expression.
 */
const struct field *event_plain_field(const struct event *, const char *key);

/*
 * A kind of events that the caller knows, and the fields that it reads. A list ends with an empty
 * name. The members are arrays, because pointers would need relocations.
 */
enum { KIND_OTHER = 1, KIND_FIELDS = 8 };
struct event_kind {
	char name[32];          /* SYSTEM:EVENT, a glob */
	uint8_t kind;           /* above KIND_OTHER */
	char fields[64];        /* names with a space between, KIND_FIELDS at most */
};

/* Return the field of that name, or NULL. */
const struct field *event_field(const struct event *, const char *name);

/* Compile the event's print fmt, unless that is done. Return 0, or -1 if it is opaque. */
int event_prepare(struct event_set *, struct event *);

/* Parse printk_formats: strings that some events point to. Return 0, or -1 without memory. */
int events_strings(struct event_set *, const char *text, size_t len);

void events_free(struct event_set *);

/* ---- field.c: the values of a record's fields -------------------------------------- */

/* The value of a field of a record. */
struct field_data {
	enum field_kind kind;
	union {
		int64_t i;      /* of a number that is_signed */
		uint64_t u;
	};
	const unsigned char *data;      /* the value in the record */
	size_t n;               /* characters, elements, or bytes of a bitmask */
	size_t size;            /* bytes in the record, with the NUL of a string */
};

/* Read a field. Return 0, or -1 if the record ends before the field. */
int field_value(const struct event_set *, const struct field *, const struct record *,
		struct field_data *);

/* Return a field of a record as a number; 0: there is no such field, or it is no number. */
int64_t field_integer(const struct event_set *, const struct field *, const struct record *);

/* Return the string of a field; "": it is NULL, or no string with a NUL in the record. */
const char *field_string(const struct event_set *, const struct field *, const struct record *);

/* Return element i of an array, extended by its sign; i must be less than n. */
uint64_t field_element(const struct event_set *, const struct field *,
		       const struct field_data *, size_t i);

/* Return common_pid; 0 if there is none. */
int record_pid(const struct event_set *, const struct record *);

/* Is this one of the two events by which a task gets its name? */
static inline int record_names_task(const struct event_set *evs, const struct record *r)
{
	unsigned id = record_id(evs, r);

	return id && (id == evs->newtask || id == evs->rename);
}

/* Is it an event of our BPF programs, whose system is RECORD_SYSTEM? No kernel uses their ids. */
#define RECORD_SYSTEM "tfs"
enum { RECORD_FIRST = 0x7f00 };
static inline int record_is_own(const struct event_set *evs, const struct record *r)
{
	return record_id(evs, r) >= RECORD_FIRST;
}

/* Is it a user stack that a BPF program has recorded? */
static inline int record_is_own_stack(const struct event_set *evs, const struct record *r)
{
	return evs->own_stack && record_id(evs, r) == evs->own_stack;
}

/* Is it a stack? A stack belongs to the event before it in the same context. */
static inline int record_is_stack(const struct event_set *evs, const struct record *r)
{
	unsigned id = record_id(evs, r);

	return id && (id == evs->stack || id == evs->user_stack || id == evs->own_stack);
}

/* common_flags (kernel/trace/trace.h, enum trace_flag_type) */
enum {
	FLAG_IRQS_OFF = 1, FLAG_NEED_RESCHED_LAZY = 2, FLAG_NEED_RESCHED = 4, FLAG_HARDIRQ = 8,
	FLAG_SOFTIRQ = 16, FLAG_PREEMPT_RESCHED = 32, FLAG_NMI = 64, FLAG_BH_OFF = 128,
	FLAG_INTERRUPT = FLAG_SOFTIRQ | FLAG_HARDIRQ | FLAG_NMI, /* one of these */
};

/* Return these flags of a record; 0 if it has none. */
static inline unsigned record_flags(const struct event_set *evs, const struct record *r)
{
	return r->len > evs->flags_at ? r->data[evs->flags_at] : 0;
}

/* ---- notes.c: what a part of a tool keeps of each event ----------------------------- */

/* A table with an entry for each event of a set; all zero at first. */
struct event_notes {
	char *v;
	size_t n;
};

/*
 * Return the event's entry of size bytes (NOTE_MOST at most), zero at first, and valid until the
 * next call. If memory ran out, the entry is zero at each call, so that the caller decides anew.
 */
enum { NOTE_MOST = 160 };
void *event_note(struct event_notes *, const struct event *, size_t size);

/* An event with its kind, the first of the list that fits. */
struct event_seen {
	unsigned kind;          /* KIND_OTHER: none; 0: not looked at */
	const struct event *event;
	const struct field *field[KIND_FIELDS]; /* NULL: it has no such field */
};

/* Find the kind of an event. If strict is set, an event that lacks a field is KIND_OTHER. */
void event_see(struct event_seen *, const struct event *, const struct event_kind *, int strict);

/* Return a record's event and its kind, valid until the next call; KIND_OTHER if not known. */
const struct event_seen *event_seen(struct event_notes *, struct event_set *,
				    const struct record *, const struct event_kind *, int strict);

/* Return field i of a record, or, if there is none, the number 0 without data. */
struct field_data event_value(const struct event_seen *, unsigned i, const struct event_set *,
			      const struct record *);
void event_notes_free(struct event_notes *);

/* ---- symbols.c: find the kernel symbol of an address ------------------------------- */

/* Parse a kallsyms and own its text. NULL: no memory, or all addresses are 0 (kptr_restrict). */
struct symbols *symbols_parse(char *text, size_t len);

void symbols_free(struct symbols *);

struct symbol {
	const char *name;       /* len bytes, not NUL-terminated */
	const char *module;     /* NULL, or mlen bytes without brackets */
	uint32_t len, mlen;
	uint64_t address, size;
};

/* Find the symbol that contains the address. Return 1, or 0 if there is none. */
int symbols_at(struct symbols *, uint64_t address, struct symbol *);

/* ---- line.c: print a record as a line of `trace` ------------------------------------- */

/* How to print lines. Zero it and set the fields from events to graph. */
struct line_format {
	struct event_set *events;
	int raw_clock;          /* the clock counts no nanoseconds: print its number as it is */
	int no_irq_info;        /* options/irq-info is off */
	int tgid;               /* options/record-tgid is on */
	/* Called before the name of a task is looked up in events->comms. */
	void (*learn_name)(void *arg, int pid);
	void *arg;
	/* NULL, or called when an event has named a task, which is in events->comms. */
	void (*learned_name)(void *arg, struct comm *);
	uint32_t losses;        /* how often events were lost; show_record counts them */
	struct line_graph *graph; /* NULL, or print function_graph as a graph; see graph.c */

	/* private */
	struct line_head {
		uint64_t key;           /* common_preempt_count, _flags, _pid */
		int32_t cpu, pid;
		uint8_t len, comm;      /* bytes of text, and of its name */
		char text[110];
	} heads[128];           /* "   COMM-PID     [CPU] LETTERS" */
	uint64_t second;        /* in usecs; second_text has the text of this second */
	uint32_t second_len;
	char second_text[24];
};

/* The graph of the tracer function_graph. Zero it and set the fields up to arg. */
struct line_graph {
	unsigned cpus;          /* of the traced machine */
	/*
	 * NULL, or return the record after the printed one on the same CPU, or NULL if it is not
	 * known, or if events between both were lost. The printed record is then no longer valid.
	 */
	const struct record *(*peek)(void *arg);
	void *arg;

	/* private */
	struct graph_cpu *v;
	unsigned room;
};

/* Return the task's name for a line; NULL if it is not known (the kernel prints "<...>"). */
const char *line_task_name(const struct event_set *, int pid);

/* Does the clock of that name count something other than nanoseconds? */
int line_clock_counts(const char *name);

/* Forget cached names and times: call this when comms or the clock changed. */
void line_changed(struct line_format *);

/*
 * Set the name of a task, of at most n bytes, and its tgid; tgid 0: keep the tgid that is known.
 * Return 1 if that changes anything.
 */
int line_task(struct line_format *, int pid, int tgid, const char *name, size_t n);

/* Do as line_task with the name in a record for which record_names_task is true. */
int line_learn(struct line_format *, const struct record *);

/*
 * Print the line of a record, or the lines of a stack. Return the length. A line longer than size
 * is cut: give 16 KiB, because a line of the kernel has at most 8 KiB.
 */
size_t line_print(struct line_format *, const struct record *, char *buf, size_t size);

/* Print the beginning of a line, up to the event, in LINE_HEAD_ROOM bytes. Return its length. */
enum { LINE_HEAD_ROOM = 160 };
size_t line_begin(struct line_format *, const struct record *, char *buf);

/* Print the beginning of a line, and set its parts. */
struct line_parts {
	struct text_part comm, pid, cpu, flags, time;
};
void line_parts(struct line_format *, const struct record *, char *buf, struct line_parts *);

/* Print the rest of the line, as line_print does. Return its length. */
size_t line_event(struct line_format *, const struct record *, char *buf, size_t size);

/* Print "CPU:N [LOST M EVENTS]", without M if lost is LOST_UNKNOWN. Return the length. */
size_t line_lost(int cpu, int64_t lost, char *buf, size_t size);

/* Print the comment lines at the top of `trace`, with no counts. Return the length. */
size_t line_header(const struct line_format *, unsigned cpus, char *buf, size_t size);

/* ---- merge.c: give the records of all CPUs in the order of time ------------------------ */

/* The result of merge.more. */
enum {
	MERGE_LATER = -1,       /* older records may still come: return none yet */
	MERGE_NONE = 0,         /* no record that comes is older than those of other CPUs */
	MERGE_SUBBUF = 1,       /* the next sub-buffer is open */
};

/* The sub-buffer that is read of one CPU. */
struct merge_cpu {
	struct subbuf subbuf;
	struct record next;     /* if has is set: the oldest record not returned yet */
	int has;
	int none;               /* more returned MERGE_NONE; cleared by the caller on new data */
	int64_t lost;           /* events lost before next; see struct subbuf */
};

/*
 * Zero it; set cpus (zeroed), n, more and arg. merge_next calls more after the last record of a
 * CPU's sub-buffer, to open the next sub-buffer.
 */
struct merge {
	struct merge_cpu *cpus;
	unsigned n;
	int (*more)(void *arg, unsigned cpu, struct subbuf *);
	void *arg;
	const size_t *gate;     /* NULL, or return no record while *gate is 0 */

	/* private: cpus[run] is first until cpus[rival] has its turn at the time until */
	unsigned run, rival;
	uint64_t until;
	int running;
};

/*
 * Return the next record, valid until the next call; if several have the same time, that of the
 * lowest CPU. Set *lost as in struct subbuf. NULL: no record can be returned now.
 */
const struct record *merge_next(struct merge *, int64_t *lost);

/* Were events lost on any CPU before its next record? Any CPU, because tasks move between them. */
int merge_in_loss(const struct merge *);

/*
 * Return the record on the same CPU after the one that merge_next returned, which is then no longer
 * valid. NULL: there is none, or events between both were lost.
 */
const struct record *merge_peek(struct merge *);

/* ---- graph.c: print function_graph as the kernel does ------------------------------------ */

/* Return whether the record is the entry or the exit of a function. */
enum { GRAPH_NONE, GRAPH_ENTRY, GRAPH_EXIT };
int graph_kind(const struct event_set *, const struct record *);

/*
 * Print the record of a function, for which graph_kind is true, if l->graph is set. Return the
 * length; 0 for an exit that the line of its entry has shown.
 */
size_t graph_print(struct line_format *l, const struct record *, char *buf, size_t size);

/* Forget what runs, and free the memory. The graph can be used again. */
void graph_end(struct line_graph *);

/* ---- conversion.c: numbers and padding as in the kernel's format strings ------------------ */

/* Flags of a conversion of a format string. */
enum {
	F_LEFT = 1, F_ZERO = 2, F_ALT = 4, F_SPACE = 8, F_PLUS = 16,
	F_STAR = 32, F_STAR_PRECISION = 64, F_HAS_PRECISION = 128,
};

/* A conversion of a format string, "%-8llx". */
struct conversion {
	uint8_t flags;
	char letter;            /* d u x X o c s p */
	uint8_t size;           /* bytes of the value: 1 2 4 8 */
	uint8_t more;           /* number of letters after p */
	int16_t width;          /* -1: none */
	int16_t precision;
	char suffix[6];         /* the letters after p */
};

/* Write v by the conversion, as the kernel's vsprintf does. */
void out_number(struct out *, const struct conversion *, int width, int precision,
		uint64_t v);
/* Pad or cut the text from start to here as %s does. */
void out_padded(struct out *, char *start, unsigned flags, int width, int precision);
/* Write a time stamp as the kernel's trace_print_time does; if raw is set, as a number. */
void out_time(struct out *, uint64_t ts, int raw);

#endif
