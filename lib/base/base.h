/* SPDX-License-Identifier: ISC */
/*
 * base.h - the lowest layer: messages, text, memory, files, child processes, standard output
 *
 * This layer knows nothing of tracing and includes no other layer. The layer host has those parts
 * of Linux that libc lacks, and the layer tool has the command line.
 *
 * Terms: a function "reports" an error if it has written the message to stderr. A "silent"
 * function writes nothing; its caller reports. A function that returns int returns -1 on an error,
 * unless its comment says otherwise. "errno" in a comment: the function leaves the reason there.
 *
 * A function of the library returns an error, and only main exits. The exceptions, each of them
 * named in t/exits, besides the children of fork(2), which end by _exit:
 * - A function with an argument of type struct tool reads arguments of the command line for main,
 *   before main makes anything. If one is wrong, it reports a usage error and exits MISUSED.
 *   input_file exits REFUSED if it cannot open the file.
 * - stdout_print and stdout_flush exit REFUSED if a write fails, as SIGPIPE ends a program whose
 *   reader has left.
 * - The x functions of memory.c, and with them strbuf_add, strbuf_puts and table_at, exit REFUSED
 *   without memory. They are for tools that hold nothing which outlives the process. Managers,
 *   janitors and recorders use struct bytes and struct pids, which remember the error instead.
 *
 * lib/ includes no header of linux/ or asm/, because builds with musl, and builds for the guests of
 * the tests (t/vm/cc), have no such headers. A constant comes from a header that glibc and musl
 * have, or is defined with the name of the kernel's header.
 */
#ifndef BASE_H
#define BASE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* All exit statuses of the tools. The shell itself gives 126, 127 and 128+n. */
enum {
	DONE = 0,       /* success */
	NO = 1,         /* a truthful "no": nothing matched, nothing exists */
	TIMED_OUT = 99, /* the time limit came first */
	MISUSED = 100,  /* usage error */
	REFUSED = 111,  /* the system refused */
};

/* ---- error.c: messages to stderr, one line in one write --------------------------- */

/* The program's name in messages. opt_next sets it. */
extern const char *program_name;

/*
 * Write the line "PROGRAM: fatal: MESSAGE" to stderr. Control characters become '?', and a long
 * message is cut. Return -1. err_errno appends ": strerror(errno)" and keeps errno; err_vmsg
 * appends ": REASON" unless reason is NULL. For main, err_exit exits with the status after the
 * message, and err_refuse exits REFUSED after a message like that of err_errno.
 */
int err_msg(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int err_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void err_vmsg(const char *fmt, va_list ap, const char *reason)
	__attribute__((format(printf, 1, 0)));
_Noreturn void err_exit(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
_Noreturn void err_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Write the line "PROGRAM: MESSAGE": a warning, after which the program goes on. */
void err_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * A variable for the programs that tfs-run starts: their messages name tfs-run, not the manager. If
 * its value is FOR_EYES, the stream makes lines for people if it can, after a line "# DATE, UTC".
 */
#define FOR_PEOPLE "TFS_RUN"
#define FOR_EYES "human"

/* Note what was not found, unless tfs-run, which itself says why, started this. Return NO. */
int err_no(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- out.c: text within a bound ------------------------------------------------------ */

/*
 * The destination of text, the one bounded writer of the tree. Each function cuts its text at
 * end, and adds the number of bytes that it has left out to cut.
 */
struct out {
	char *at, *end;
	size_t cut;
};

static inline struct out out_to(char *buf, size_t size)
{
	return (struct out){ buf, buf + size, 0 };
}

/* Return the number of bytes that are free. */
static inline size_t out_room(const struct out *o)
{
	return (size_t)(o->end - o->at);
}

void out_text(struct out *, const char *s, size_t n);
void out_fill(struct out *, char c, int n);

static inline void out_char(struct out *o, char c)
{
	if (o->at < o->end)
		*o->at++ = c;
	else
		o->cut++;
}

static inline void out_string(struct out *o, const char *s)
{
	out_text(o, s, strlen(s));
}

/* How out_escaped writes a string that a program chose; tfs-catpipe(1) has the rule. */
enum escape {
	ESCAPE_NOTHING,         /* every byte as it is */
	ESCAPE_TEXT,            /* the string is all of the text: controls (text_char), \ */
	ESCAPE_QUOTED,          /* a string in quotes: " as well */
	ESCAPE_NAME,            /* without quotes: also text that looks like another field */
	ESCAPE_JSON,            /* a string of JSON; a byte that is no UTF-8 is U+FFFD */
	ESCAPE_C,               /* a string of C, as strace prints it: ASCII, octal numbers */
};

/* Return the length of the escape of out_escaped that begins at s, or 1 if there is none. */
size_t out_escape_length(const char *s, size_t n);

/* Write a string with escapes: \n \t \\ \" \x1b. strbuf_unescaped gives the string back. */
void out_escaped(struct out *, const char *s, size_t n, enum escape);

void out_decimal(struct out *, uint64_t v);
void out_signed(struct out *, int64_t v);
void out_hex(struct out *, uint64_t v);

/* Write 0x and v in hexadecimal. */
void out_address(struct out *, uint64_t v);

/* Write two hexadecimal digits. */
void out_byte(struct out *, unsigned char);

/*
 * Write an address of IPv6 with its longest run of two or more zero words as "::". With ip4, the
 * last four bytes are those of an address of IPv4.
 */
void out_ip6(struct out *, const unsigned char *, int ip4);

/* Write v as a number with 3, 6 or 9 digits after the point: 1500000 with 6 is 1.500000. */
void out_decimals(struct out *, uint64_t v, unsigned digits);

/*
 * Write as printf does. The conversions are %s %d %u %x %c %%, the lengths l, ll and z, a width
 * with - or 0 before it, also as *, and a precision for %s. Zeros are for numbers that are not
 * negative. The build refuses any other conversion (formats.awk).
 */
void out_format(struct out *, const char *f, ...) __attribute__((format(printf, 2, 3)));
void out_vformat(struct out *, const char *f, va_list);

/* Write as snprintf does, with these conversions, and return the length of the whole text. */
size_t str_format(char *buf, size_t size, const char *f, ...)
	__attribute__((format(printf, 3, 4)));
size_t str_vformat(char *buf, size_t size, const char *f, va_list);

/*
 * Return how many of eight bytes precede the first one that out_escaped may have to escape; 8 if
 * there is none. A space counts as such a byte because of ESCAPE_NAME.
 */
static inline unsigned out_plain_bytes(const void *s)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t v, del, back, found;

	memcpy(&v, s, 8);
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		v = __builtin_bswap64(v);
	del = v ^ 0x7f * ones;
	back = v ^ '\\' * ones;
	/*
	 * Set the high bit of each byte that is DEL, a backslash, not ASCII, or at most '"'. Bits
	 * above the lowest one that is set may be wrong, because a borrow goes up.
	 */
	found = ((v - ('"' + 1) * ones) | (del - ones) | (back - ones) | v) & 0x80 * ones;
	return found ? (unsigned)__builtin_ctzll(found) / 8 : 8;
}

/* "00" to "99" */
extern const char digits_pairs[];

/* Write six decimal digits of v, which must be less than 1000000. Return their end. */
static inline char *digits_six(char *p, uint32_t v)
{
	uint32_t high = v / 10000, rest = v - high * 10000, mid = rest / 100;

	memcpy(p, digits_pairs + 2 * high, 2);
	memcpy(p + 2, digits_pairs + 2 * mid, 2);
	memcpy(p + 4, digits_pairs + 2 * (rest - mid * 100), 2);
	return p + 6;
}

/* Write eight hexadecimal digits of v. */
static inline void digits_eight_hex(char *p, uint32_t v)
{
	uint64_t x = (uint64_t)(v >> 16) << 32 | (v & 0xffff), tens;

	x = (x << 8 | x) & 0x00ff00ff00ff00ffull;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0full;
	tens = (x + 0x0606060606060606ull) >> 4 & 0x0101010101010101ull;
	x += 0x3030303030303030ull + tens * ('a' - '0' - 10);
	x = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? x : __builtin_bswap64(x);
	memcpy(p, &x, 8);
}

/* The room that digits_hex and digits_decimal need, in bytes. */
enum { DIGITS_ROOM = 20 };

/* Write v in hexadecimal. Return the end of the digits. */
static inline char *digits_hex(char *p, uint64_t v)
{
	unsigned n = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;

	v <<= 64 - 4 * n;
	digits_eight_hex(p, (uint32_t)(v >> 32));
	if (n > 8)
		digits_eight_hex(p + 8, (uint32_t)v);
	return p + n;
}

/* Write v in decimal. Return the end of the digits. */
char *digits_decimal(char *p, uint64_t v);

/* ---- json.c: JSON text --------------------------------------------------------------- */

/* A part of a text, which need not end with a NUL. text is NULL if there is no such part. */
struct text_part {
	const char *text;
	size_t n;
};

/* Is the part this word? */
int text_part_is(struct text_part, const char *word);
int text_part_begins(struct text_part, const char *word);
int text_part_ends(struct text_part, const char *word);

/* Return a whole string as a part; NULL is an empty one. */
struct text_part text_part_of(const char *);

/* Read a number of 64 bits that takes up the whole part, hex without 0x. Return 0, or -1. */
int text_part_number(struct text_part, unsigned base, uint64_t *n);

/* Write a string with its quotes. Bytes that are no UTF-8 become U+FFFD. */
void json_string(struct out *, const void *text, size_t n);

/* Begin a member, "NAME":, with a comma before it unless it is the first of its object. */
void json_key(struct out *, const char *name, size_t n);

/* Write a member whose value is JSON, or a string that needs no escapes; none if it is empty. */
void json_put(struct out *, const char *name, struct text_part value);
void json_put_plain(struct out *, const char *name, const char *value);

/*
 * Take the next member of a JSON object, or the next element of an array, and move *s after it. At
 * first *s is the beginning of the object or array. Strings keep their quotes and escapes. Return
 * 1; 0 after the last one, or if the text is no such JSON. There must be no spaces between values,
 * as in the JSON of tfs-report -j. Nothing is read at end or after it.
 */
int json_member(const char **s, const char *end, struct text_part *name, struct text_part *value);
int json_element(const char **s, const char *end, struct text_part *value);

/* Return a string without its quotes, and another value as it is. */
struct text_part json_unquoted(struct text_part value);

/* ---- text.c: numbers, names and lines in untrusted text ---------------------------- */

/*
 * Read a decimal number of digits only, from low to high, into *n. Return 0, or -1, silent, for
 * anything else (sign, space, overflow, empty text).
 */
int text_number(const char *s, unsigned long low, unsigned long high, unsigned long *n);

/* A unit after a number, or "" for a number without a unit. The factor 0 ends an array of units. */
struct text_unit {
	char name[4];           /* an array needs no relocation */
	unsigned factor;
};

/* Do the same with one of the units after the number, such as 5s; *n is the product. */
int text_quantity(const char *s, const struct text_unit *units, unsigned long low,
		  unsigned long high, unsigned long *n);

/* The number of bytes of n KB; on a 32-bit host it may exceed unsigned long. */
#define KB_BYTES(n) ((unsigned long long)(n) * 1024)

/* Return the number whose digits begin at *s, 0 without digits. Move *s after the digits. */
unsigned long long text_digits(const char **s);

/*
 * Return the number at s, after spaces, in a base up to 16, without a sign or 0x: 0 without digits,
 * and UINT64_MAX if it is larger. Set *end after it, unless end is NULL.
 */
uint64_t text_value(const char *s, const char **end, unsigned base);

/* Parse the hexadecimal digits at *s, and move *s after them. */
uint64_t text_hex(const char **s, const char *end);

/*
 * Return the length of the character at s (n bytes, at least 1): 1 to 4 bytes in UTF-8, or 1 for a
 * byte that is no UTF-8. Set *control to whether a line of text must not contain the character. No
 * other place decides that. These "control characters" are:
 * - characters that a terminal executes: 00 to 1f, 7f, and the C1 set of ISO 6429, which is 80 to
 *   9f alone, and c2 80 to c2 9f in UTF-8;
 * - characters that change the direction of the text around them, so that a name looks like another
 *   one, or that begin a new line in some programs.
 */
size_t text_char(const char *s, size_t n, int *control);

/* Return the code point of a character of len bytes in UTF-8, or the byte if len is below 2. */
uint32_t text_code_point(const char *s, size_t len);

/* Replace each semicolon, which separates the frames of folded lines. */
void text_mask_semicolons(char *s, const char *end);

/* Is there a control character in s? */
int text_has_control(const char *s);

/* Replace each byte of a control character by '?'; text_mask leaves the character keep. */
void text_mask(char *s, const char *end, char keep);
void text_mask_controls(char *s, const char *end);

/* Return the length of the multi-byte UTF-8 character at s, or 0 if there is none. */
size_t text_utf8(const unsigned char *s, size_t n);

/*
 * Is s a name: 1 to most characters of [A-Za-z0-9_.-] that do not begin with a dot or a
 * dash? text_is_name allows 64 characters.
 */
int text_name_fits(const char *s, size_t most);
int text_is_name(const char *s);

/* The number of digits of a container's id. */
enum { CONTAINER_ID = 64 };

/* Return the length of the first line with its newline; n if the line has no newline. */
size_t text_line_length(const char *text, size_t n);

/* Cut the next line off the text, and return it. NULL: there are no more lines. */
char *text_next_line(char **text);

/*
 * Count the lines of text. A last line without a newline counts, too, because Linux 5.10 keeps the
 * newline for the next read of trace_pipe.
 */
unsigned long long text_count_lines(const char *text, size_t n);

/* Replace each NUL, which only a string of an untrusted program can have, by a question mark. */
void text_mask_nul(char *line, size_t n);

/* Return the hash FNV-1a (Fowler, Noll, Vo) of n bytes, which starts with h, often TEXT_HASH. */
#define TEXT_HASH 0xcbf29ce484222325u
uint64_t text_hash(uint64_t h, const char *s, size_t n);

/* ---- words.c: words as a shell splits and quotes them ------------------------------ */

/*
 * Split s as a shell does: spaces, tabs and newlines separate words, and ' " \ quote; nothing is
 * expanded. Return a vector of words that ends with NULL, in one allocation that the caller frees.
 * On an error return NULL, silent, with the reason as a sentence in *why.
 */
char **words_split(const char *s, const char **why);

/*
 * Append word to buf (size bytes, NUL-terminated), quoted so that words_split gives the
 * same word. Return -1, silent, if it does not fit.
 */
int words_quote(char *buf, size_t size, const char *word);

/* ---- glob.c: match names of events against a glob ---------------------------------- */

/* Does the glob (* ? [a-z] [!a-z] \x) match all of the text? */
int glob_matches(const char *glob, const char *text);

/* Does the glob match SYSTEM:EVENT if it has a colon, or EVENT if it has none? */
int glob_names(const char *glob, const char *system, const char *event);

/* Does one of the globs of a list, with commas or spaces between, match all of the text? */
int glob_listed(const char *list, const char *text);

/* ---- suggest.c: find the names that a mistyped word may have meant ----------------- */

enum { SUGGEST_MAX = 3 };

/* The offered names that are nearest to a word, the nearest first. */
struct suggest {
	const char *word;               /* set by the caller */
	const char *name[SUGGEST_MAX];  /* not copied */
	unsigned far[SUGGEST_MAX];      /* the number of letters that differ */
	unsigned n;
};

/*
 * Keep the name if it is nearer than the names found so far, and if the word may be a mistyped form
 * of the name: at most a third of its letters differ, or two of a short name, or it begins so.
 */
void suggest_offer(struct suggest *, const char *name);

/*
 * Return what to tell a person: "did you mean A, B?", or otherwise if no name is near. The text is
 * valid until the next call.
 */
const char *suggest_remedy(const struct suggest *, const char *otherwise);

/* ---- memory.c: allocate memory; the tool exits if memory runs out --------------------- */

/* Do as calloc(3) and reallocarray(3), but never return NULL. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);

/* Make room for one more entry in the vector v, which has n entries. Return the vector. */
void *xgrow(void *v, size_t n, size_t *room, size_t size);

/* Do as xgrow for a vector whose room doubles at the powers of two; NULL: out of memory. */
void *array_more(void *v, size_t n, size_t size);

/* Return a copy of s, which the caller frees, or NULL if s is NULL. */
char *xstrdup(const char *s);

/* ---- strbuf.c: growing text; the tool exits if memory runs out ------------------------ */

/* Growing text with a NUL at its end. All zero at first; free(text). */
struct strbuf {
	char *text;
	size_t n, room;
};

/* Append n bytes, a string, text as out_format writes it, or n bytes as out_escaped does. */
void strbuf_add(struct strbuf *, const char *, size_t n);
void strbuf_puts(struct strbuf *, const char *);
void strbuf_format(struct strbuf *, const char *f, ...) __attribute__((format(printf, 2, 3)));
void strbuf_escaped(struct strbuf *, const char *, size_t n, enum escape);

/*
 * Return the string whose escaped form out_escaped has written, or, if json is set, json_string
 * (without its quotes). If there are escapes, the string is then the text of the strbuf.
 */
struct text_part strbuf_unescaped(struct strbuf *, struct text_part, int json);

/* Empty the text, and return it for a function that appends to it. */
static inline struct strbuf *strbuf_empty(struct strbuf *w)
{
	w->n = 0;
	return w;
}

/* Make room for n bytes and a NUL, and return the place after the text. */
char *strbuf_room(struct strbuf *, size_t n);

/* Empty the text, make room for size bytes, and return a writer to them. */
static inline struct out strbuf_out(struct strbuf *w, size_t size)
{
	w->n = 0;
	return out_to(strbuf_room(w, size), size);
}

/* ---- bytes.c: growing bytes, for programs that must not exit without memory --------- */

/* All zero at first; free(v). */
struct bytes {
	char *v;
	size_t n, room;
	int failed;             /* bytes are missing because memory ran out */
};

int bytes_room(struct bytes *, size_t n);               /* make room for n more; -1: failed */
void bytes_add(struct bytes *, const void *, size_t n); /* out of memory: set failed */
void bytes_string(struct bytes *, const char *);        /* add a string with its NUL */
void bytes_u32(struct bytes *, uint32_t);               /* in native byte order */
void bytes_u64(struct bytes *, uint64_t);

/* ---- table.c: hash table from keys to entries -------------------------------------- */

/* The first member of every entry. */
struct table_entry {
	uint64_t hash;
	size_t n;
	char *key;              /* n bytes and a NUL */
};

/* All zero at first, except size: the size of an entry. */
struct table {
	size_t size;
	struct table_entry **v; /* room slots; NULL is a free slot */
	size_t n, room;
};

/* Return the entry of the key. A new entry is all zero after its first member. */
void *table_at(struct table *, const char *key, size_t n);

/* Return the entry of the key, or NULL if there is none. */
void *table_find(const struct table *, const char *key, size_t n);

/* Return the entry in slot *i or in the next one, and move *i after it, or NULL: no more. */
void *table_next(const struct table *, size_t *i);

/* Remove and free the entry, or all entries. The caller frees what an entry points to. */
void table_remove(struct table *, void *entry);
void table_clear(struct table *);

/*
 * Put all entries into v[0..n) in the order of compare(struct entry **, struct entry **).
 * After that, the table can be cleared, but no longer searched.
 */
void table_sort(struct table *, int (*compare)(const void *, const void *));

/* For table_sort: compare the bytes of the keys. */
int table_by_key(const void *, const void *);

/* ---- pids.c: sorted sets of pids --------------------------------------------------- */

struct pids {
	pid_t *v;      /* ascending, without duplicates, after pids_sort */
	size_t n;
	int failed;    /* a pid is missing because memory ran out */
};

/*
 * Add a pid. If memory runs out, report it once, and return -1 from then on, as pids_sort and
 * pids_parse do, so it is enough to check these.
 */
int pids_add(struct pids *, pid_t);
int pids_has(const struct pids *, pid_t);       /* by binary search */
int pids_sort(struct pids *);                   /* call it after the last pids_add */
int pids_plus(struct pids *, const struct pids *more); /* add all of more, and sort */
void pids_minus(struct pids *, const struct pids *gone);
int pids_same(const struct pids *, const struct pids *);
void pids_clear(struct pids *);                 /* frees the set, which can be used again */
int pids_parse(struct pids *, const char *);    /* add the numbers of a list, and sort */

/* Return the pids as allocated text, separated by `between`; NULL: out of memory, reported. */
char *pids_text(const struct pids *, const char *between);

/* ---- sort.c: sort an array ---------------------------------------------------------- */

/* Sort as qsort(3) does. */
void array_sort(void *array, size_t n, size_t size, int (*compare)(const void *, const void *));

/* For compare: the order of two numbers, which are evaluated twice. */
#define ASCENDING(x, y) (((x) > (y)) - ((x) < (y)))

/* ---- clock.c, time.c, signals.c: clocks, dates, signals that stop a tool -------------- */

/* Return the time of this clock in ns; the time of the monotonic clock in ms, or in us. */
uint64_t time_ns(clockid_t);
long long time_now_ms(void);
long long time_now_us(void);

/* Return the time of day: microseconds since 1970, in UTC. */
int64_t time_of_day_us(void);

/* Write a time of day, 0 or more, to out as "2026-11-23T19:50:01.123456Z" and a NUL. */
enum { TIME_DATE = 28 };
void time_date(char *out, int64_t us);

/*
 * Write a time for people, as "954 us" or "1.29 s". If precise is set, write a time below a
 * microsecond in ns, as "87 ns", and a longer time always with three digits.
 */
enum { TIME_WORDS = 32 };
void time_words(char *out, uint64_t ns, int precise);

/* The signal to stop without waiting for a reader that does not read: the rest counts as lost. */
#define GIVE_UP SIGUSR2

/*
 * Block the signals of this array, which 0 ends. Return a non-blocking signalfd(2) for them, or
 * -1 and errno, silent.
 */
int wait_signals(const int *signals);

/* Do as wait_signals for GIVE_UP and the signals that stop a tool: HUP, INT, TERM and USR1. */
int wait_stop_signals(void);

/* ---- child.c: child processes ------------------------------------------------------ */

/* Do as fork(2). The kernel kills the child when this process dies. */
pid_t child_fork(void);

/* Return the exit status that a shell gives for this status of waitpid(2). */
int child_status(int status);

/* Wait until the child ends, and return its child_status. */
int child_wait(pid_t);

/* Close the descriptor unless it is negative. Keep errno. */
void fd_close(int fd);

/* Let programs that this process executes inherit fd, and set the variable name to its number. */
void fd_pass(int fd, const char *name);

/* Redirect the descriptor to /dev/null. */
void fd_to_null(int fd);

/*
 * Open /dev/null in place of each standard descriptor that the caller has closed, so that
 * no other file gets its number.
 */
void fd_open_standard(void);

/* ---- paths.c: where procfs, sysfs and the other programs of this installation are ----- */

/* Return the value of the environment variable, or fallback if it is unset or empty. */
const char *path_from_env(const char *name, const char *fallback);

/* Return $TRACER_PROCFS_PATH, or /proc; $TRACER_SYSFS_PATH, or /sys. */
const char *path_procfs(void);
const char *path_sysfs(void);

/* The directory of a manager that is a link to the single program (bin/tfs.c), or NULL. */
extern const char *program_link;

/*
 * Write the directory of the running program into dir (PATH_MAX bytes). It comes from
 * /proc/self/exe and never from the caller's environment. Return 0, or -1, reported.
 */
int program_directory(char *dir);

/*
 * Write the path of the first candidate that exists into path (PATH_MAX bytes). The candidates are
 * relative to dir, and NULL ends them. Return 0, or -1, silent.
 */
int program_find(const char *dir, char *path, const char *const *candidates);

/* ---- file.c: read files and directories, open untrusted paths, find mounts ----------- */

/* Raise the limit of open files as far as the process may. */
void file_raise_limit(void);

/*
 * Return the contents of a file with a NUL at the end, and the length in *len unless len is NULL.
 * file_read_most reads at most the first `most` bytes. The caller frees the text. On an error
 * return NULL and errno, silent. procfs_read (proc/proc.h) reads files of procfs that a task fills.
 */
char *file_read(int dir, const char *file, size_t *len);
char *file_read_most(int dir, const char *file, size_t most, size_t *len);

/* Is c the first character of the file? It is '\0' if the file is empty. */
int file_begins(int dir, const char *file, char c);

/*
 * Return the number after the key in a file, or at the beginning of the file if key is NULL. Return
 * `none` if the file cannot be read, or does not have the key.
 */
unsigned long long file_number(int dir, const char *file, const char *key,
			       unsigned long long none);

/* The most bytes of the mount table that are read: a container with shared mounts can add some. */
enum { MOUNTS_MOST = 16 << 20 };

/*
 * Return the names in a directory in ascending order, without those that begin with a dot. NULL
 * ends the vector, one allocation that the caller frees. On an error return NULL and errno, silent.
 */
char **file_names(const char *path);

/* Open a directory below dir. Return a descriptor, or -1 and errno, silent. */
int dir_open(int dir, const char *name);

/*
 * Open a directory below dir to read its names from the first on. The caller closes it. On an
 * error return NULL and errno, silent.
 */
DIR *file_list(int dir, const char *name);

/* Return the next name that does not begin with a dot. After the last one close d; return NULL. */
const char *file_next(DIR *d);

/* Does the path lead to a file below a directory, and not outside of that directory? */
int file_is_below(const char *path);

/* Does the path exist below dir? */
int file_exists(int dir, const char *path);

struct stat;

/* Kinds of files; FILE_NULL is /dev/null, FILE_KMSG /dev/kmsg; FILE_OTHER is another kind. */
enum {
	FILE_REGULAR = 1, FILE_FIFO = 2, FILE_BLOCK = 4, FILE_NULL = 8, FILE_KMSG = 16,
	FILE_OTHER = -2,
};

/*
 * Open the path with these flags of open(2), close-on-exec, if it leads to a file of one of the
 * kinds; fill *st. Never open a file of another kind. Without FILE_FIFO the open does not wait.
 * Return a descriptor, FILE_OTHER, or -1 and errno; silent.
 */
int file_open(const char *path, int kinds, int flags, struct stat *st);

/*
 * Open path if a file system with this magic number is mounted there, because a mount point without
 * its file system is an empty directory. Return a descriptor, or -1 and errno, silent: EACCES if
 * the caller must not open it.
 */
int path_open_mounted(const char *path, unsigned long magic);

/*
 * Open the first file system of this type in the mount table, and write its directory to path
 * (PATH_MAX bytes). For a directory below /sys, take the same one below path_sysfs(). Return a
 * descriptor, or -1, silent.
 */
int path_open_listed(char *path, const char *type, unsigned long magic);

/* ---- metrics.c: metrics as text, for Prometheus ---------------------------------------- */

/* Print OpenMetrics instead of the text format 0.0.4. */
extern int metrics_open;

/* The buckets of a histogram but the last, which has no bound: up to 1 us, 2 us, 4 us ... 67 s */
enum { METRICS_BUCKETS = 27 };

/* Return the bucket of a duration, or METRICS_BUCKETS. */
unsigned metrics_bucket(uint64_t ns);

/* Print the lines before the samples of a family of metrics. A counter ends in _total. */
void metrics_family(const char *name, const char *type, const char *help);

/*
 * Set the text to the labels of a sample, KEY="VALUE",... The keys end with NULL, and the values
 * have tabs between them. A dot at the beginning of a key is left out.
 */
struct strbuf;
void metrics_labels(struct strbuf *, const char *const *keys, const char *values);

/*
 * Print the samples of a histogram. Bucket k has the numbers above 2^(k-1), up to 2^k, or so many
 * microseconds as seconds. sum "": it is not known.
 */
void metrics_histogram(const char *family, const char *labels, const uint64_t *buckets,
		       const char *sum, int seconds);

/* ---- stdout.c: buffered text to standard output, lines from standard input ---------- */

/* Print to standard output through a buffer. If a write fails, report it and exit REFUSED. */
void stdout_print(const char *f, ...) __attribute__((format(printf, 1, 2)));

/* Flush the buffer, then print to this file. name is for messages and is not copied. */
void stdout_to(int fd, const char *name);

/*
 * From now on, write the buffered text with put, as for reader_of_filter. If by_line is set, do so
 * after each line.
 */
void stdout_by(void (*put)(const char *, size_t), int by_line);

/* Append the printed text to the strbuf instead of writing it. NULL: write it again. */
void stdout_collect(struct strbuf *);

/* Write the buffered text. Call this last. line_read calls it before it waits. */
void stdout_flush(void);

/* Write all n bytes with write(2). Return 0, or -1 and errno, silent. */
int fd_write_all(int fd, const char *text, size_t n);

/* The lines of standard input or of a file. All zero at first, except fd and name. */
struct line_reader {
	int fd;
	const char *name;       /* of the file; NULL is standard input */
	char *text;             /* the caller frees it */
	size_t at, n, room, seen;
	int ended;
	int failed;             /* the end is an error, which is reported */
	void (*wait)(void);     /* wait until fd can be read; NULL: read(2) waits */
};

/*
 * Set *line to the next line without its newline; it is valid until the next call.
 * Return the length of the line, or -1 at the end. If a read fails or memory runs out,
 * report it, set failed and return -1.
 */
ssize_t line_read(struct line_reader *, char **line);

#endif
