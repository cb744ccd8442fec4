/* SPDX-License-Identifier: ISC */
/*
 * calls.h - system calls: their kinds (roles.h), what becomes of each (pairing.h), and what their
 * arguments and results mean
 *
 * The tables are data: calls, their arguments, constants and structures of each ABI, in data/.
 * The build compiles them to C (tables.awk, tables.h). Terms:
 *
 *	ABI              the calls of one kind of program: x86_64, i386, aarch64, arm, s390x,
 *	                 ppc64le, riscv64; numbers, constants and structures depend on it
 *	user memory      bytes of the traced program that an argument points to
 *	set              the constants of one type of argument: flags or an enumeration
 *	layout           the members of a structure
 */
#ifndef CALLS_H
#define CALLS_H

#include "tool/tool.h"
#include "event/event.h"
#include "select/select.h"
#include "calls/pairing.h"
#include "calls/roles.h"

/* ---- tables.c: the tables --------------------------------------------------------------- */

enum { CALL_ARGS = 6, CALL_RESULTS = 2, CALL_ROOT = CALL_ARGS + CALL_RESULTS,
       CALL_FILES_MOST };

enum call_kind {
	CALL_HEX,               /* an address, or anything unknown */
	CALL_INT,               /* a number with a sign */
	CALL_UINT,              /* a number without a sign */
	CALL_ID,                /* an id of a user or group: as CALL_UINT, or -1: all bits set */
	CALL_OCTAL,             /* a mode */
	CALL_FD,
	CALL_DIRFD,             /* a descriptor, or AT_FDCWD */
	CALL_SET,               /* constants of a set */
	CALL_PATH,              /* user memory: a string that names a file */
	CALL_STRING,            /* user memory: another string */
	CALL_STRINGS,           /* user memory: an array of strings, as argv */
	CALL_BUFFER,            /* user memory: count bytes of data */
	CALL_STRUCT,            /* user memory: count structures of a layout */
	CALL_SOCKADDR,          /* user memory: a socket address of count bytes */
	CALL_OPTION,            /* user memory: a value of count bytes, that may be a layout */
	CALL_NONE,              /* a part of the argument before it, or nothing: do not print it */
};

/* In which registers the value of an argument is. */
enum call_place {
	PLACE_REGISTER,         /* in its own */
	PLACE_PAIR,             /* 64 bits in two registers of a 32-bit ABI, in its byte order */
	PLACE_LOW_HIGH,         /* 64 bits in two longs, the lower half in its own register */
	PLACE_HIGH_LOW,         /* 32 bits in its own register, the lower 32 in the next one */
	PLACE_PAGES,            /* in units of 4096 */
};

/* When the kernel writes the user memory of an argument */
enum call_out {
	CALL_OUT = 1,           /* if the call succeeds */
	CALL_OUT_INTERRUPTED,   /* if a signal interrupts it */
	CALL_OUT_POSITIVE,      /* if it succeeds, and its result is not 0 */
};

/* An argument, or the result. The width of a number is that of its C type in this ABI. */
struct call_arg {
	const char *name;       /* as in the kernel's source */
	const char *label;      /* the word that is printed before what the kernel wrote */
	uint8_t kind;           /* enum call_kind */
	uint8_t in;             /* user memory is read by the kernel: it counts at the entry */
	uint8_t out;            /* user memory is written by the kernel: enum call_out */
	uint8_t after;         /* if both, what was written is printed after the result */
	int8_t count;           /* argument with the number of elements or bytes; -1: one */
	uint8_t place;          /* enum call_place */
	uint8_t sized;          /* 1 + the argument with the size of the only structure; 0: none */
	uint8_t bits;           /* a set of bits; the first argument has their number */
	uint8_t message;        /* it may be a message of a netlink socket */
	uint8_t whole;          /* the result is not the number of elements that it wrote */
	uint8_t shift;          /* an element is for 2^shift of what the argument counts */
	uint8_t less;           /* the argument counts so many more than there are */
	uint16_t size;          /* bytes of one element in this ABI, or of the number */
	uint16_t used;          /* bytes of a structure that are printed, at its beginning */
	uint16_t set;           /* private: the set or layout */
};

struct call {
	const char *name;       /* without sys_ */
	const struct call_role *role;
	uint8_t nargs;
	struct call_arg args[CALL_ARGS];
	struct call_arg result;
};

/* The tables of one ABI. */
struct calls;

/*
 * Return the ABI of the 32-bit programs that a 64-bit kernel runs, by the names that uname -m has,
 * or NULL.
 */
const char *calls_abi_32(const char *abi);

/*
 * Return the tables of an ABI, by the name that uname -m has for it; NULL: that of this
 * program. They stay for good. Return NULL, reported, if there is no such ABI.
 */
struct calls *calls_open(const char *abi);

/* Return the call with this number, or NULL. It stays valid. */
const struct call *calls_find(struct calls *, uint64_t number);

/*
 * Return the variant of the call for the values of its arguments, or the call itself. A variant
 * has another list of arguments: open has a mode only with O_CREAT, and the third argument of
 * fcntl depends on the second. It may have fewer arguments. Print the call by the variant.
 */
const struct call *calls_match(const struct call *, const uint64_t *args);

/* A variant that is chosen by the value of an argument. */
struct call_variant {
	const struct call *call;
	uint32_t value;
	unsigned arg;
};

/*
 * Set v to such a variant of a call that calls_find returned: i is 0 for the first one. Return 1,
 * or 0 if there are no more. If values agree, the first one counts.
 */
int calls_variant(const struct call *, unsigned i, struct call_variant *v);

/* A pointer in a structure, and what it points to: arg, whose count is a member of the structure */
struct call_pointer {
	struct call_arg arg;
	uint16_t offset, count_at;
	uint8_t count_width;    /* 0: it points to one */
};

/* Set p to pointer i of the structure of an argument, from 0 on. Return 1, or 0 if it has fewer. */
int call_pointer(const struct calls *, const struct call_arg *, unsigned i, struct call_pointer *p);

/* Is the argument the memory of two descriptors that the call makes? */
int call_makes_pair(const struct calls *, const struct call_arg *);

/*
 * Does the call give the socket that is its first argument an address, even if it fails, as
 * connect(2) and bind(2)? Later calls of it may pass the descriptor in memory.
 */
int call_addresses(const struct call *);

/* Is argument i, a path, that of a symbolic link itself, not that of the file it leads to? */
int call_names_link(const struct call *, const uint64_t *args, unsigned i);

/* Is a structure in user memory big-endian? call_bytes holds it as the program does. */
int calls_big_endian(const struct calls *);

/* Return the highest number of a call. */
unsigned calls_most(const struct calls *);

/* ---- print.c: print arguments ------------------------------------------------------------ */

/* User memory of an argument, as far as the trace has it. All zero: nothing is known. */
struct call_bytes {
	const char *bytes;      /* NULL: nothing is known */
	size_t n;
	uint8_t cut;            /* the program had more bytes */
	uint8_t fault;          /* the address could not be read */
	uint64_t cut_strings;   /* of an array of strings: a bit for each string that is cut */
};

/* A call that is printed. */
struct call_values {
	uint64_t args[CALL_ARGS];
	struct call_bytes user[CALL_ARGS];      /* at the return, or else at the entry */
	struct call_bytes entry[CALL_ARGS];     /* at the entry */
	int64_t result;
	uint64_t files[CALL_FILES_MOST]; /* ids of files, as in struct call_user */
	const struct call_user *memory; /* NULL, or what the pointers in structures point to */
	uint8_t netlink;        /* 1 + the protocol of the first argument, a netlink socket; or 0 */
	uint8_t returned;       /* 1: result is valid; 0: what the kernel writes is unknown */
	/* NULL, or print the file of a descriptor in a structure, without "<" */
	size_t (*print_fd)(void *arg, int fd, char *buf, size_t size);
	void *arg;
};

/*
 * Return an argument as its C type has it in this ABI: put together from two registers,
 * without the bits of the register above a narrower type, and with the sign of CALL_INT, CALL_FD
 * and CALL_DIRFD in all bits. args has a register for each argument.
 */
uint64_t call_value(const struct calls *, const struct call *, unsigned arg,
		    const uint64_t *args);

/*
 * Print an argument as a C programmer would write it: O_RDONLY|O_CLOEXEC, 0644, "/etc/passwd",
 * {sa_family=AF_INET, ...}, [{fd=3, events=POLLIN}], 0x7ffc1234. User memory that is not known
 * is printed as its address. A descriptor is a number. Control characters, quotes and
 * backslashes in strings are escaped as in C. Return the length, at most size. A text that
 * does not fit ends with "...".
 */
size_t call_print(const struct calls *, const struct call *, unsigned arg,
		  const struct call_values *, char *buf, size_t size);

/*
 * Print what the kernel wrote to the memory of an argument whose old value call_print prints:
 * [4] of the set [3 4] of select. Return the length; 0: nothing.
 */
size_t call_print_written(const struct calls *, const struct call *, unsigned arg,
			  const struct call_values *, char *buf, size_t size);

/*
 * Do so for all arguments, as strace does after the result: " (in [4], left {tv_sec=0,
 * tv_usec=999999})" or " (Timeout)". Return the length; 0: nothing.
 */
size_t call_print_behind(const struct calls *, const struct call *, const struct call_values *,
			 char *buf, size_t size);

/*
 * Print the result: 3, 0x7f2a4000 or -1 ENOENT. Return the length. An error of the kernel
 * is from -4095 to -1.
 */
size_t call_print_result(const struct calls *, const struct call *, int64_t result,
			 char *buf, size_t size);

/*
 * Return the flags of a call that opens or makes a file, as those of open(2), or 0. K_O_TMPFILE is
 * among them if the path does not say where the file is, or the flags are not known.
 */
uint64_t call_flags(const struct calls *, const struct call *, const struct call_values *);

/* ---- records.c: the events that BPF programs record ------------------------------------------ */

/*
 * The programs of tfs-strings and of request probes write records into BPF ring buffers. In a trace
 * they are events of RECORD_SYSTEM, with ids from RECORD_FIRST on; KernelShark takes none above
 * 0x7fff:
 *
 *	enter   a call begins, with the memory that it passes, unless the record call has all
 *	call    a call has returned
 *	open    a call has not returned when the task, or the recording, ended
 *	part    a part of the memory of the next one of these records of the task
 *	tcp     lib/answers/tcp.c
 *	otel    otel.c
 *	cpu     the CPU time of a process that has ended
 *	mark    lib/lines/mark.c
 *	file    a file, to which later records refer by its id
 *	task    name and user of the task whose calls follow on this CPU
 *	user_stack  the functions of the program that called each other down to an event
 */
enum record_kind { RECORD_ENTER, RECORD_CALL, RECORD_OPEN, RECORD_PART, RECORD_TCP, RECORD_OTEL,
		   RECORD_CPU, RECORD_MARK, RECORD_FILE, RECORD_TASK, RECORD_STACK, RECORDS };

/* Write the format of an event, as in events/SYSTEM/NAME/format. Return its length. */
enum { RECORD_FORMAT = 24 * 1024 };
size_t record_format(unsigned i, char *text, size_t size);

/* The beginning of a record, as in each event */
struct record_head {
	uint16_t id;
	uint8_t flags, preempt;
	int32_t pid;
};

/*
 * Does the record only help another one, which is the event: the entry of a call that has its own
 * record at its end, a part of its memory, or its file or task?
 */
int record_helps(const struct record *);

/* Count the other records of a sub-buffer of size bytes. */
size_t records_in(const struct subbuf_format *, const void *data, size_t size);

/* A call, as it was at its entry. The map of open calls has it, and the memory at the entry. */
struct call_begun {
	uint64_t begin;         /* 0: its entry was not seen */
	uint64_t args[CALL_ARGS];
	int32_t nr;
	uint16_t cpu;
	uint16_t flags;
};
enum {
	CALL_COMPAT = 1,        /* one of 32-bit code on a 64-bit kernel */
	CALL_COMPAT_RETURN = 8, /* its return is one: it may have executed a program */
	CALL_ENTERED = 2,       /* the record enter has its memory at the entry */
	CALL_AT_RETURN = 16,    /* begin is the time of its return: its entry was not looked at */
	CALL_CUT = 4,           /* it has more memory, which is not recorded */
	CALL_UNTOLD = 32,       /* no record says which name its task has */
};

/* The events enter, call and open; the memory follows: a struct memory_piece each, and its bytes */
struct call_record {
	struct record_head head;
	struct call_begun call;
	int64_t ret;
	int32_t ret_nr;         /* its number at the return */
	uint32_t reserved;
	uint32_t memory, path;  /* __data_loc: offset, and length << 16 */
};

/*
 * The task of the calls that follow on the same CPU and have its pid, until the next such record.
 * Later it may have another name, and another task its pid, but not without a record.
 */
struct task_record {
	struct record_head head;
	uint64_t start;         /* when it began, by CLOCK_MONOTONIC; 0: not known */
	char comm[16];
	int32_t tgid;
	uint32_t uid;
};

/*
 * The user stack below an event. The names of its functions are lines; the last one may say in
 * brackets why the stack is cut.
 */
struct stack_record {
	struct record_head head;
	uint16_t event;         /* the id of the event, which comes before it */
	uint16_t reserved;
	uint32_t frames;        /* __data_loc: offset, and length << 16 */
};

/*
 * What a program records of a user stack in a ring, with this kind, too: the kernel's struct
 * pt_regs, and the memory from the stack pointer on, which follows. It is not in a trace: the
 * reader of the ring makes a struct stack_record of it.
 */
#ifdef __aarch64__
enum { STACK_REGISTERS = 34 };
#else
enum { STACK_REGISTERS = 21 };
#endif
/* Bytes of memory in all; a stack of more than STACK_CHUNK bytes has several such records. */
enum { STACK_MOST = 65536, STACK_CHUNK = 16384 };
struct stack_copy {
	struct record_head head;
	uint16_t event;
	uint8_t chunk, more;    /* its number; whether there is another one */
	/*
	 * A bit for each page, from that of the stack pointer on, which was not in memory; a page
	 * that the program has never used is not.
	 */
	uint32_t missing;
	int32_t tgid;
	uint32_t stamp;         /* the same in all chunks of a stack: when it began */
	char comm[16];
	uint64_t kernel[STACK_REGISTERS];
};

/*
 * The last events of each CPU, which may still get a struct stack_record; each gets at most one.
 * The programs record a stack also after an event that the kernel's filter has dropped.
 */
enum { STACK_PAIRS_CPUS = 64, STACK_PAIRS_LAST = 8 };
struct stack_pairs {
	struct stack_events {
		unsigned n;             /* of all so far */
		struct stack_event {
			int pid;
			uint16_t id, shown;
		} last[STACK_PAIRS_LAST];
	} cpu[STACK_PAIRS_CPUS];
};

/* An event comes; shown is any number. */
void stack_pairs_event(struct stack_pairs *, int cpu, const struct record_head *, int shown);

/* Return shown of the event to which the stack belongs; -1: it is not in the trace. */
int stack_pairs_stack(struct stack_pairs *, const struct record *);

/*
 * A place in the map of open calls: the record of the call in a ring, and its memory if that is
 * short. The place of a task is that of its pid modulo OPEN_CALLS. If another task has it already,
 * the entry of the call is a record of its own.
 */
enum { OPEN_CALLS = 8192, OPEN_CALL_MEMORY = 304 };
struct open_call {
	uint64_t claims;        /* tasks that have the place, or try to take it */
	int32_t pid;            /* the task that has the place, or 0 */
	uint16_t open;          /* the call has not returned */
	uint16_t used;          /* bytes of memory */
	uint32_t end;           /* for the programs: struct call_end */
	uint32_t pad;
	uint64_t head[2];       /* the beginning of a record in a ring */
	struct call_record record;
	unsigned char memory[OPEN_CALL_MEMORY];
};

/*
 * A piece of memory, of n bytes, which follow. The tag is as below. One more byte follows them, and
 * then as many as the next piece needs to begin at a multiple of 8.
 */
struct memory_piece {
	uint8_t tag, arg;
	uint16_t n;
	uint32_t value;         /* of the tag p: the protocol */
};
enum { PIECE_ROUND = 8 };

/*
 * A piece with the tag F or f says which file a descriptor is: value is the lower half of the id of
 * a struct file_record, and the other half follows. arg is the argument; if that is a path without
 * a descriptor, the file is the directory of the task. arg is CALL_ARGS or the next number for what
 * the call returns, or CALL_ROOT for the root directory of the task.
 */

struct tcp_record {
	struct record_head head;
	uint64_t socket, a, b;
	char what, reserved[3];
	uint32_t inode;         /* of the socket, if a program has it as a file; else 0 */
};

enum otel_seen { OTEL_SEEN_NONE, OTEL_SEEN_UNKNOWN, OTEL_SEEN };
struct otel_record {
	struct record_head head;
	uint64_t trace[2], span;
	uint8_t state;          /* enum otel_seen */
	uint8_t flags, reserved[6];
};

struct cpu_record {
	struct record_head head;
	int32_t process;
	uint32_t reserved;
	uint64_t ns;
};

/* A mark of a request probe (bin/requests): the numbers of a mark line, and its first word */
struct mark_record {
	struct record_head head;
	uint64_t key;
	uint32_t probe;
	int32_t task;
	char what[8];
};

/*
 * A file to which a descriptor or a directory of a task leads. In a ring, its names follow, the
 * last name of the path first, each with a NUL; in a trace, the path as readlink(2) of /proc/PID/fd
 * gives it. An id is of one path: a file that is renamed gets another one.
 */
struct file_record {
	struct record_head head;
	uint64_t id, inode;
	uint32_t device;                /* as the kernel has it: 12 bits, and 20 bits */
	uint16_t mode;                  /* as in struct stat */
	uint16_t flags;
	uint32_t magic;                 /* of its file system, statfs(2) */
	uint32_t path, socket;          /* __data_loc; its addresses, if it is a socket */
	uint16_t family, type, protocol; /* of a socket; family 0: it is none */
	uint16_t inside;                /* in a ring: where the names of inside_path begin */
	uint32_t inside_path;           /* __data_loc; from the root of its file system */
	uint32_t space;                 /* the inode of the namespace of its mount; 0: none */
	uint32_t generation;            /* of the inode, which another file may have later */
	uint32_t root;                  /* the id of the mount with the task's root directory */
};

/* The names of a socket of IPv4 or IPv6, in a ring: its own address, and that of its peer */
struct file_socket {
	unsigned char here[16], there[16];
	uint16_t port_here, port_there; /* the latter in network byte order */
};
enum {
	FILE_DELETED = 1,
	FILE_CUT = 2,                   /* the beginning of the path is missing */
	FILE_PSEUDO = 4,                /* it is in no directory, as a pipe */
	FILE_INSIDE = 8,                /* inside_path is known */
	FILE_CHROOT = 16,               /* the task's root directory is not that of a mount */
	FILE_OUTSIDE = 32,              /* the path begins above the task's root directory */
	FILE_SOLID = 1 << 15,           /* noted.c: no link is in the path */
};

/* ---- user.c: user memory in a trace ------------------------------------------------------ */

/*
 * A record of a call has pieces of its user memory: a tag, the number of the argument, and bytes.
 *
 *	a       the string, or its last part
 *	b       a part of the string; more follows
 *	c       a part of the string; the rest is not recorded
 *	x       it could not be read, from here on
 *	d       the next bytes
 *	e       the same; the rest is not recorded
 *	s       of an array of strings: the next string follows, as a, b, c or x
 *	e       of an array of strings: more follow, which are not recorded
 *	z       of an array of strings: it has none
 *	n       the path of a new program as the event sched_process_exec has it
 *	d6, e6  an address, and memory there that a pointer in a structure points to
 *
 * A capital letter says that the memory was read at the entry of the call. A small letter says that
 * the memory was read at the return. Memory that the kernel reads is read at the entry, if it is in
 * memory there, and otherwise at the return; then x says so at the entry.
 *
 * Bytes after the size of a structure or buffer have no meaning. Members that are not printed may
 * be missing at the end of a structure. If an exec succeeds, words and environment that could not
 * be read at the entry are read from the stack of the new program. Its path is then as the kernel
 * names it: /dev/fd/3/name for a file below descriptor 3.
 */

/* The user memory of an argument */
struct call_memory {
	struct call_bytes bytes;
	/* private: */
	struct strbuf text;
	uint32_t strings;       /* of an array of strings: their number */
	uint8_t array;          /* it is an array of strings */
	uint8_t cut;            /* cut, whatever follows */
};

/* The user memory of the call of one task. All zero at first; set big. */
struct call_user {
	struct call_memory entry[CALL_ARGS];    /* at the entry */
	struct call_memory after[CALL_ARGS];    /* at the return */
	struct call_memory program;             /* the path of a new program */
	struct call_memory pointed;             /* of pointers: struct call_piece, and its bytes */
	size_t last;                            /* private: the newest piece */
	int big;                /* the traced host is big-endian */
	uint8_t netlink;        /* 1 + the protocol of the first argument, a netlink socket; or 0 */
	uint64_t files[CALL_FILES_MOST]; /* the ids of the files of descriptors; 0: not known */
	unsigned nregisters;    /* so many arguments are in registers: 0 or CALL_ARGS */
	uint64_t registers[CALL_ARGS];
	size_t room;            /* private: of all texts */
	size_t *held;           /* NULL, or room of all tasks */
};

/*
 * Add what a tag says of an argument, with its n bytes. Return 0; -1 for an unknown tag, or if
 * memory is used up. At most CALL_USER_MOST bytes are kept of an argument at each side; it is then
 * cut. The strings of an array end with a NUL each, except for a last one that is cut. The first
 * CALL_STRINGS_MOST of them can be cut each.
 */
enum { CALL_USER_MOST = 8192, CALL_STRINGS_MOST = 64 };
int call_user_add(struct call_user *, char tag, unsigned arg, const void *bytes, size_t n);

/* Add n bytes of struct memory_piece, in the byte order of the traced host. Return 0 or -1. */
int call_user_take(struct call_user *, const void *memory, size_t n);

/*
 * Set user and entry of the values of a call, which has its arguments there; call NULL: it is
 * not known. The bytes stay in the user memory.
 */
void call_user_get(const struct call_user *, const struct call *, struct call_values *);

/*
 * An execveat(2) has returned as execve(2): let each record that came at the return belong to
 * the argument after. The memory of the last argument belongs to the first one then.
 */
void call_user_shift(struct call_user *);

/*
 * Set bytes to what is known of n bytes at an address, to which a pointer points. Return 1, or 0
 * if nothing is.
 */
int call_user_at(const struct call_user *, uint64_t address, uint64_t n, struct call_bytes *bytes);

/* Return the bytes of memory that it has. */
size_t call_user_room(const struct call_user *);

/* Forget the memory of the last call, and keep the room. */
void call_user_clear(struct call_user *);
void call_user_free(struct call_user *);

/* ---- older.c: records of earlier versions, which are text --------------------------------- */

/*
 * They are events bpf_trace:bpf_trace_printk in the task's own context: an id, a space, the tag,
 * the number of the argument (0 to 5), a space, and what the tag says, as in "a2 /etc/passwd".
 * Bytes are hexadecimal numbers, 8 in each of 1 to 12 in the host's byte order; HEX.3 at the end: 3
 * bytes count. There are more tags:
 *
 *	k                 the call is one of 32-bit code on a 64-bit kernel (i386, arm)
 *	r0 HEX HEX HEX    these three arguments, of a call whose entry was not seen; then r3
 *	p0 HEX            the protocol of the netlink socket of the first argument
 *
 * The first record of a call at its entry is K, or has a letter from a to f in place of the number
 * of the argument: Ac is A2. The records at the entry come before the record sys_enter of the call,
 * and those at the return before sys_exit, if the instance enables these events after the programs
 * were attached.
 */

/*
 * Return the text of a record of this field, after its id and a space, and its length; NULL: it is
 * of no program of tfs-strings. id NULL: tfs_ANYTHING.
 */
const char *older_text(const struct event_set *, const struct field *, const struct record *,
		       const char *id, size_t *n);

/*
 * Add the memory in a text that older_text returned to that of a call. Return 0, or -1 as
 * call_user_add.
 */
int older_memory(struct call_user *, const char *record, size_t n);

/* Is a text that older_text returned the first one of a call, at its entry? */
int older_begins(const char *record, size_t n);

/* ---- tasks.c: the tasks of calls ------------------------------------------------------------ */

/*
 * The programs keep the last task_record for each CPU and each pid modulo a power of 2, at most
 * TOLD_SLOTS. The reader keeps it modulo TOLD_SLOTS, so at each call it has the same record.
 */
enum { TOLD_SLOTS = 512 };

/* All zero at first. */
struct told_tasks {
	struct task_record **v; /* of each CPU, in the host's byte order; NULL: none */
	unsigned n;
	/* told_learn sets: */
	const struct task_record *now; /* the task of the record's call; NULL: nothing is told */
	int reused;             /* its pid was that of another task before */
};

/*
 * Learn from a record what the task of a call is called: line_task. Return 1 if its name or
 * process is another one now.
 */
int told_learn(struct told_tasks *, struct line_format *, const struct record *);
void told_free(struct told_tasks *);

/* ---- otel.c: the trace context of the thread of each event -------------------------------- */

/*
 * The records of tfs-strings otel (bin/record/otel_programs.c) say when the context of a task
 * changes. Each event of the task then has three more fields at its end,
 *
 *	trace_id=0af7651916cd43dd8448eb211c80319c span_id=b7ad6b7169203331 trace_flags=01
 *
 * or otel=none, without a context, or otel=unknown: the context has not been read, or the
 * record that says it may be lost.
 */

/* A context: the two halves of the trace's id, the id of the span, the flags. */
struct otel_context {
	uint64_t trace[2], span;
	uint8_t flags;
	enum { CONTEXT_UNKNOWN, CONTEXT_NONE, CONTEXT_KNOWN } state;
	uint32_t losses;        /* when it was read */
};

/* All zero at first. */
struct otel_contexts {
	int on;                 /* -O */

	/* private */
	struct event_notes events;
	struct table tasks;     /* by pid */
	uint32_t losses;
};

/* Follow the next record; give all records in order. Return 1 if it is one of tfs-strings otel. */
int otel_learn(struct otel_contexts *, struct event_set *, const struct record *, int lost);

/*
 * Return the context of the task that the record is about (subject_of of select.h): the one that
 * is woken or gets the CPU, or else the running one; none for an event that is about no task, such
 * as one within an interrupt.
 */
struct otel_context otel_of(struct otel_contexts *, struct event_set *, const struct record *);
struct otel_context otel_of_task(const struct otel_contexts *, int32_t pid);

/* Print the context as the last fields of a line: " NAME=VALUE", or ,"NAME":"VALUE". */
void otel_put(const struct otel_context *, struct out *, int json);

/* ---- files.c: the files to which records refer --------------------------------------------- */

/*
 * Write the path of a file as readlink(2) of /proc/PID/fd gives it: f is in the host's byte order,
 * and its n bytes of names follow in a ring. Return the length, below size. A NUL follows.
 */
size_t file_path(const struct file_record *f, const char *names, size_t n, char *path, size_t size);

/* Do so with the path from the root of its file system. Return 0 if it is not known. */
size_t file_inside(const struct file_record *f, const char *names, size_t n, char *path,
		   size_t size);

/*
 * Do so with the addresses of a socket, as TCP:10.0.0.1:5000->10.0.0.2:80. Return 0 if it is none,
 * or they are not known.
 */
size_t file_socket(const struct file_record *f, const char *names, size_t n, char *text,
		   size_t size);

/* The identity of the file: the inode, the device as the kernel has it, and the generation, or 0 */
struct file_identity {
	uint64_t inode;                 /* 0: not known */
	uint32_t device, generation;
};

struct file_known {
	struct table_entry entry;
	struct file_identity is;
	uint64_t id, used;
	uint32_t space, root;           /* its path begins at this root directory */
	uint16_t mode, flags, family, protocol;
	char *path;
	const char *name;       /* the path, or the addresses of a socket; it lies in path */
	const char *inside;     /* the path in its file system, or ""; it lies in path, too */
};

/* The files of a trace. All zero at first; set the first four. */
struct known_files {
	int live;               /* the host is this one */
	int host_paths;         /* give the host's paths */
	int prints;             /* files are printed */
	int by_kernel;          /* the kernel says which files descriptors are */
	struct table all;
	uint64_t uses;
	struct mounts *host;    /* the host's mounts */
	int64_t host_read;      /* when */
	struct table groups;    /* noted.c; */
	size_t held;            /* the bytes of it */
	struct table linked;    /* of files_name */
	struct mounts *mounts;  /* the mounts of a namespace, */
	uint32_t space;         /* with this inode */
	uint64_t own;           /* the inode of the namespace of this program */
};

/* Add a file with the fields of its record. Return the file of an id; NULL: it is not known. */
void files_add(struct known_files *, const struct file_record *, const char *path,
	       const char *socket, const char *inside);
const struct file_known *files_find(struct known_files *, uint64_t id);
void files_free(struct known_files *);

/*
 * Write the path, of n bytes, from a directory to out. ".." removes a part of the directory, and of
 * the directory known, but no other part of the path, which may be a link. Return the length, below
 * size; 0: it does not fit.
 */
size_t file_join(const char *from, const char *known, const char *path, size_t n, char *out,
		 size_t size);

/*
 * Return the path of a file as its record has it; or with host_paths, as the host has it, with "?"
 * before it if that is not known. out has PATH_MAX bytes.
 */
const char *files_path(struct known_files *, const struct file_known *, char *out);

/*
 * Is anything mounted on the way from a directory to a path below it, as the task sees both? Also
 * 1 if it is not known.
 */
int files_between(struct known_files *, int pid, const struct file_known *from, const char *to);

/*
 * Note that a file without a name, as of O_TMPFILE, got this one; is NULL: the name is gone.
 * Return the name of a file, or NULL.
 */
void files_name(struct known_files *, const struct file_identity *is, const char *path);
const char *files_named(struct known_files *, const struct file_identity *is);

/* Write a name, which must not look like the result of a call after its arguments. */
void file_put_name(struct out *, const char *name);
void file_put_known(struct out *, const struct file_known *);

/* Write the kind of a socket, as TCPv6. */
void file_put_protocol(struct out *, unsigned family, unsigned type);
/* Write the address that a program has passed. Return 0 if it is of another kind, or not known. */
int file_put_peer(struct out *, const struct call_bytes *);

/* ---- wanted.c: the files of --path ------------------------------------------------------- */

/*
 * Follow the links of a path from the root directory of a task (here: of this program), and write
 * where it leads now to out (PATH_MAX bytes). last: if the path itself is that of a link, follow
 * it, too. Set is, if it is not NULL, to the identity of the file. Return the length; 0: it is not
 * known any more.
 */
size_t file_resolve(int pid, int here, const char *path, int last, char *out,
		    struct file_identity *is);

/*
 * Return the root directory of this program: the id of its mount, with this bit if it is another
 * directory of the mount than the first; 0: not known.
 */
#define ROOT_BELOW (1u << 31)
uint32_t file_root(void);

/*
 * The wanted paths: each is that of a file, by any of its names, or of a directory with all files
 * below it, or a glob of names. All zero at first; add the paths, then call wanted_begin with
 * file_root, or 0 if the trace is not live.
 */
enum { WANTED_MOST = 2, WANTED_ROOTS = 4096 };
struct wanted {
	char *path[WANTED_MOST];
	unsigned n;
	uint32_t root;          /* private */
	struct table known, names; /* private: what the paths lead to, and other names of that */
};
void wanted_add(struct wanted *, const char *path);
void wanted_begin(struct wanted *, uint32_t root);

/* A file as a call has it: its identity, and its path in a root directory; 0, NULL: not known */
struct file_seen {
	struct file_identity is;
	uint32_t root;
	const char *path;
	unsigned flags;         /* as in struct file_record */
	int known;              /* a record has it all: the path led to the inode at that moment */
	const struct file_known *file;  /* NULL: only its path is known, */
	unsigned arg;           /* this argument of the call */
};
int wanted_is(struct wanted *, const struct file_seen *);

/* Is the path one that is wanted, or below it? */
int wanted_names(const struct wanted *, const char *path);

/* A file got another name, or lost its name: to is NULL. */
void wanted_name(struct wanted *, const struct file_seen *from, const struct file_seen *to);
void wanted_free(struct wanted *);

/* ---- noted.c: the files of descriptors that no record names -------------------------------- */

/*
 * A group has the tasks that share their descriptors; its number is the pid of one of them. Calls
 * refer to files by ids (struct call_values), which the kernel says with BTF (by_kernel). Otherwise
 * they are learned: from the opens of a group, from copies of its descriptors, and in a live trace
 * from procfs when the group is first seen. Such a path begins with "?". Forget a name that is not
 * known for sure. Memory is bounded.
 */

/* Return the group of a task that is first seen. Without by_kernel, read its files now. */
int noted_begin(struct known_files *, int pid);

/*
 * Set the files of the arguments of a call, unless the kernel says them. Return 1, or 0 if the
 * kernel does, or if nothing is known of the group.
 */
int noted_refer(struct known_files *, int group, const struct call *, struct call_values *);

/*
 * Note the files of a call that has returned, and set that of its result. Return the group, which
 * may be another one now.
 */
int noted_call(struct known_files *, const struct calls *, int pid, int group, const struct call *,
	       struct call_values *);

/* A task of a group has made a child, with the flags of clone(2). Return the group of the child. */
int noted_fork(struct known_files *, int group, int child, uint64_t clone_flags);

/* A task executes a program. Return its group. */
int noted_exec(struct known_files *, int group, int pid);

/* Forget a group, whose task has ended; or all, because events were lost. */
void noted_forget(struct known_files *, int group);
void noted_lost(struct known_files *);

/* Return the file of a descriptor that no call has as an argument; NULL: not known. */
const struct file_known *noted_file(struct known_files *, int group, int fd);

/* Return descriptor k, 0 or 1, of the two that a call has made in user memory, or -1. */
int64_t noted_made(const struct calls *, const struct call *, const struct call_values *,
		   unsigned k);

/*
 * Write a path that a call gives, from a directory (NULL: not known), to out (PATH_MAX bytes).
 * Return the length; 0: not known. ".." removes no part of it that may be a link.
 */
size_t noted_path(const struct known_files *, const struct file_known *dir,
		  const struct call_bytes *path, char *out);

/* ---- decode.c: the calls of a trace ------------------------------------------------------- */

/*
 * It pairs the events syscalls:sys_enter_* and sys_exit_* (or raw_syscalls) of each task, or takes
 * the records tfs:call, and tells a call when it returns. Show prints it with the time of its
 * beginning:
 *
 *	... openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3 <0.000003>
 *	... read(0, 0x7ffd5c3a1000, 4096 <unfinished ...>
 *	... <... clone resumed>) = 0
 *
 * A call is unfinished if its task or the trace ends, or if its return may be lost. It is
 * resumed if its beginning is not known. It uses sched:sched_process_exit and sched_process_exec
 * as well. User memory comes from the records of tfs-strings, or from the kernel's own copies.
 */

/* A file of a call by --files: its path, and the name of the field. */
struct decoded_file {
	const char *name;
	char path[PATH_MAX + 1];
	struct file_seen seen;
};

/* The files of a call, and what it does to them. */
struct decoded_files {
	unsigned n;             /* 0: none is known */
	const char *bytes;      /* NULL, or what its result counts: "read", "written" */
	struct decoded_file file[2];
};

/* A call that has ended, or does not return. */
struct decoded {
	struct decode *decode;
	int32_t pid;
	int32_t group;                  /* noted.c; 0: not yet known */
	enum pairing_fate fate;
	struct calls *tables;           /* those of the call */
	const struct call *call;        /* NULL: not in the tables */
	char name[32];                  /* if call is NULL: its name, from the event */
	unsigned nargs;
	struct call_values values;
	uint64_t ts, time;              /* of its beginning; how long it took */
	uint8_t foreign;                /* only the program that it has executed is known */
	uint8_t untimed;                /* how long it took is not known */
	uint8_t trapped;                /* it has no result */
	uint8_t used;                   /* the user memory of its values may have bytes */
	struct task_record task;        /* what was told of its task; tgid 0: nothing */
	struct otel_context context;    /* at its beginning */
};

/* All zero at first. */
struct decode {
	int on;                 /* -D */
	const char *option;     /* the line of another option; NULL: none */
	const char *abi;        /* NULL: that of the host */
	const char *id;         /* of the records of user memory; NULL: tfs_ANYTHING */
	const char *note;       /* NULL, or the text of a comment line, printed by the caller */
	/* select calls */
	int failed, succeeded, execs, by_error, by_fd;
	int32_t fd;
	uint64_t errors[64];    /* a bit each */
	uint64_t slower;        /* ns, or units of a clock that counts */
	struct wanted wanted;   /* --path */
	uint32_t root;          /* the root directory of this program, if the trace is live */
	int names;              /* print the files of descriptors: 3</etc/passwd> */
	int paths;              /* print absolute paths */
	unsigned files;         /* 0, or print calls that do this, by their files */
	int reads;              /* and opens for reading */
	int strace;             /* print calls as strace -f -ttt -T does */
	struct known_files known; /* the files to which calls refer; set live */
	const struct merge *merge; /* NULL, or where the records come from */

	/* what the records are asked, set before decode_begin */
	struct event_set *events;
	const struct pick *pick;
	const struct told_tasks *told;
	struct otel_contexts *otel; /* NULL: no -O */
	/*
	 * Take a call that is selected, and the record of its beginning, or of its return if that
	 * is all there is; files: of --files, or NULL. reused: a pid is now that of another task.
	 */
	void (*take)(void *arg, struct decoded *, const struct decoded_files *,
		     const struct record *);
	void (*reused)(void *arg, int32_t pid);
	void *arg;

	/* private */
	struct calls *calls;
	int keeps_number;       /* the register of a call's result has its number at first */
	struct calls *calls_32; /* of 32-bit programs; NULL: none, or --abi is given */
	struct event_notes notes;
	struct pairing pairing; /* its losses, and its tasks */
	struct decode_task *last;
	size_t held;            /* bytes of user memory */
	size_t hand;            /* decode_end: the next task */
	int gap;                /* events were lost directly before this one */
	int ended;
	unsigned long long requests, polled; /* requests of io_uring; rings that a thread polls */
	unsigned long long queued; /* reads and writes of io_submit */
	unsigned long long unnamed; /* files of shown calls that are not known; show counts them */
};

/* Take an option; return 0 if it is none of decode.help. Exit if its value is wrong. */
int decode_take(struct decode *, const struct tool *);

/* Find the tables of calls of --abi, machine (uname -m) or this one. Return 0, or -1, reported. */
int decode_open(struct decode *, const char *machine);

/* Begin to decode the records of a trace. */
void decode_begin(struct decode *);

/* Take the next record. shown: it is selected. Return 1 if it is an event beside calls. */
int decode_record(struct decode *, const struct record *, int lost, int shown);

/* At the end of the trace, take the next call that has not returned. Return 0 if there is none. */
int decode_end(struct decode *);

void decode_free(struct decode *);

/* Return the call that a task is in, with its values; NULL: it is in none that is known. */
const struct call *decode_call(struct decode *, int pid, const struct call_values **);

const char *decoded_name(const struct decoded *);

/* Had the call no entry? */
static inline int decoded_no_entry(const struct decoded *c)
{
	return c->fate == PAIRING_DENIED || c->fate == PAIRING_EMULATED;
}

/* Is it known how long the call took? */
static inline int decoded_timed(const struct decoded *c)
{
	return c->fate == PAIRING_RETURNED && !c->foreign && !c->untimed;
}

/* Return the file of an argument, or of CALL_ARGS, which is the result; NULL: it is not known. */
const struct file_known *decoded_file(const struct decoded *, unsigned i);

/*
 * Write the absolute path of argument i, a path, as the task sees it. Return its length, below
 * size; 0: not known.
 */
size_t decoded_path(const struct decoded *, unsigned i, char *path, size_t size);

#endif
