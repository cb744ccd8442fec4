/* SPDX-License-Identifier: ISC */
/*
 * strings.c - programs that print the strings of system calls
 *
 * A program at the beginning of a call notes the path by the thread's id, because the program may
 * change it while the call waits. If the path is not in memory there, a program at the end of the
 * call reads it, when the kernel has read it, too. Arguments and results come from the record of
 * the tracepoint, which is the same on all architectures. Each end prints a record, so no call is
 * missing without being counted as lost by the ring buffer.
 *
 * A program at sched_process_exec reads the words on the stack of the new program, where the
 * kernel has just copied them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "strings_programs.h"

/* Calls of one kind that may be under way at once; the path of any other is not known. */
enum { CALLS_MAX = 1024 };

/*
 * Bytes of a path that are noted with its call. A longer path is noted in a map of its own, which
 * has room for LONGS_MAX of them; any other one is not known.
 */
enum { PATH_SHORT = 256, PATH_LONG = 4096, LONGS_MAX = 256 };

/* The kernel's flag for an exec's open (include/linux/fs.h), and its O_LARGEFILE. */
enum { FMODE_EXEC = 0x20 };
#if defined(__arm__) || defined(__aarch64__)
enum { LARGEFILE = 0400000 };
#elif defined(__powerpc__)
enum { LARGEFILE = 0200000 };
#elif defined(__mips__)
enum { LARGEFILE = 020000 };
#else
enum { LARGEFILE = 0100000 };
#endif

/*
 * On PowerPC and MIPS the record of sys_exit has errors without a sign. There the ends of all
 * calls are seen through the raw tracepoint sys_exit, which has the sign.
 */
#if defined(__powerpc__) || defined(__mips__)
enum { RAW_EXITS = 1 };
#else
enum { RAW_EXITS = 0 };
#endif

enum { O_OPEN_MASK = O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK |
		     O_SYNC | O_DSYNC | O_ASYNC | O_DIRECT | LARGEFILE | O_DIRECTORY |
		     O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_PATH | O_TMPFILE,
       O_PATH_MASK = O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC };

/* A system call with a path. */
struct path_call {
	const char *name;
	int path;               /* index of the argument */
	int flags;              /* index of the argument, or one of these: */
	int is_exec;
};
enum { FLAGS_CREAT = -1, FLAGS_HOW = -2, FLAGS_EXEC = -3 };

static const struct path_call opens[] = {
	{ "openat", 1, 2, 0 }, { "open", 0, 1, 0 }, { "creat", 0, FLAGS_CREAT, 0 },
	{ "openat2", 1, FLAGS_HOW, 0 },
};

static const struct path_call execs[] = {
	{ "execve", 0, FLAGS_EXEC, 1 }, { "execveat", 1, FLAGS_EXEC, 1 },
};

/*
 * Offsets on the stack of a program, 8 bytes each; the text of a record lies below. At the end of
 * a call STACK has the state of its path.
 */
enum { KEY = -8, PATH = -16, FLAGS = -24, RET = -32, STACK = -40, TEXT = -104 };

/* The value of the map of calls, and of the buffer. */
enum { CALL_FLAGS = 0, CALL_PATH = 8, CALL_STATE = 16, CALL_TEXT = 24,
       CALL_SIZE = CALL_TEXT + PATH_SHORT };

/* Where the path of a call is */
enum { IN_CALL, IN_LONGS, IN_MEMORY, NOWHERE };
enum { BUFFER_LEFT = 0, BUFFER_NEXT = 8, BUFFER_TEXT = 16 };

/* ---- phrases of instructions -------------------------------------------------------------- */

/* R6 = a long of the tracepoint's record at R1, with its sign */
static void load_long(struct bpf_code *c, const struct strings_plan *p, int at)
{
	emit_load(c, p->word == 8 ? SIZE_DW : SIZE_W, R6, R1, at);
	if (p->word == 4) {
		emit_alu_imm(c, ALU_LSH, R6, 32);
		emit_alu_imm(c, ALU_ARSH, R6, 32);
	}
}

/* Copy size bytes at the address from, a register, into the slot. R0 is 0, or an error. */
static void read_to(struct bpf_code *c, enum bpf_helper read, int at, unsigned size,
		    enum bpf_reg from, int offset)
{
	emit_alu(c, ALU_MOV, R3, from);
	if (offset)
		emit_alu_imm(c, ALU_ADD, R3, offset);
	emit_store_imm(c, SIZE_DW, FP, at, 0);
	emit_address(c, R1, FP, at);
	emit_alu_imm(c, ALU_MOV, R2, (int32_t)size);
	emit_call(c, read);
}

/* Load what read_to has copied of a long that has no sign. */
static void load_read(struct bpf_code *c, const struct strings_plan *p, enum bpf_reg to, int at)
{
	emit_load(c, p->word == 8 ? SIZE_DW : SIZE_W, to, FP, at);
}

/* Set KEY to the thread's id, or to 0. */
static void set_key(struct bpf_code *c, int thread)
{
	emit_store_imm(c, SIZE_DW, FP, KEY, 0);
	if (thread) {
		emit_call(c, FN_GET_CURRENT_PID_TGID);
		emit_store(c, SIZE_W, FP, KEY, R0);
	}
}

static void map_call(struct bpf_code *c, enum bpf_helper helper, int map)
{
	emit_map(c, map, KEY);
	emit_call(c, helper);
}

/* Set R7 to the buffer of this CPU; jump if there is none, which cannot be. */
static void find_buffer(struct bpf_code *c, const struct strings_plan *p)
{
	set_key(c, 0);
	map_call(c, FN_MAP_LOOKUP_ELEM, p->buffer);
	emit_jump_if_imm(c, R0, JEQ, 0, OUT);
	emit_alu(c, ALU_MOV, R7, R0);
}

/* Set R1 and R2 to the text of a record behind the id, for bpf_trace_printk. */
static void set_text(struct bpf_code *c, const struct strings_plan *p, const char *text)
{
	char all[-TEXT + STACK] = "";
	size_t n = str_format(all, sizeof(all), "%s %s", p->id, text) + 1;

	emit_string(c, FP, TEXT, all);
	emit_address(c, R1, FP, TEXT);
	emit_alu_imm(c, ALU_MOV, R2, (int32_t)n); /* with the NUL, which Linux 5.10 wants */
}

/* Set the register to the text in the buffer. */
static void set_piece(struct bpf_code *c, enum bpf_reg to)
{
	emit_address(c, to, R7, BUFFER_TEXT);
}

/* Print the piece in the buffer behind the tag. */
static void print_piece(struct bpf_code *c, const struct strings_plan *p, const char *text)
{
	set_text(c, p, text);
	set_piece(c, R3);
	emit_call(c, FN_TRACE_PRINTK);
}

static void print_mark(struct bpf_code *c, const struct strings_plan *p, const char *text)
{
	set_text(c, p, text);
	emit_call(c, FN_TRACE_PRINTK);
}

/*
 * Read a piece of the string at R8. R0 is its length with its NUL, 0 for an empty string in
 * Linux 5.10, or a negative error.
 */
static void read_piece(struct bpf_code *c, const struct strings_plan *p, enum bpf_helper read)
{
	set_piece(c, R1);
	emit_alu_imm(c, ALU_MOV, R2, (int32_t)p->piece + 1);
	emit_alu(c, ALU_MOV, R3, R8);
	emit_call(c, read);
}

int strings_pieces(const struct strings_plan *p)
{
	return (int)(4096 / p->piece) + 1;
}

/* ---- the programs ---------------------------------------------------------------------- */

/* Copy at most size bytes of the string at R8, with its NUL, behind the note at R7. */
static void note_path(struct bpf_code *c, int size)
{
	emit_address(c, R1, R7, CALL_TEXT);
	emit_alu_imm(c, ALU_MOV, R2, size);
	emit_alu(c, ALU_MOV, R3, R8);
	emit_call(c, FN_PROBE_READ_USER_STR);
}

/* A call begins: note its path and its flags. */
static void call_begins(struct bpf_code *c, const struct strings_plan *p,
			const struct path_call *call, int calls)
{
	enum { NOTED = OUT + 1 };
	int first = p->word == 8 ? 16 : 12;

	load_long(c, p, first + call->path * (int)p->word);
	emit_store(c, SIZE_DW, FP, PATH, R6);
	if (call->flags >= 0 || call->flags == FLAGS_HOW) {
		int index = call->flags == FLAGS_HOW ? 2 : call->flags;

		load_long(c, p, first + index * (int)p->word);
	} else {
		emit_alu_imm(c, ALU_MOV, R6, call->flags == FLAGS_CREAT ?
			     O_CREAT | O_WRONLY | O_TRUNC : FMODE_EXEC);
	}
	emit_store(c, SIZE_DW, FP, FLAGS, R6);
	set_key(c, 0);
	map_call(c, FN_MAP_LOOKUP_ELEM, p->notes);
	emit_jump_if_imm(c, R0, JEQ, 0, OUT);
	emit_alu(c, ALU_MOV, R7, R0);
	emit_load(c, SIZE_DW, R1, FP, FLAGS);
	emit_store(c, SIZE_DW, R7, CALL_FLAGS, R1);
	emit_load(c, SIZE_DW, R8, FP, PATH);
	emit_store(c, SIZE_DW, R7, CALL_PATH, R8);
	emit_alu_imm(c, ALU_MOV, R9, IN_MEMORY);
	note_path(c, PATH_SHORT);
	emit_jump_if_imm(c, R0, JSLT, 0, NOTED);
	emit_alu_imm(c, ALU_MOV, R9, IN_CALL);
	emit_jump_if_imm(c, R0, JNE, PATH_SHORT, NOTED);
	emit_alu_imm(c, ALU_MOV, R9, IN_MEMORY);
	note_path(c, PATH_LONG + 1);
	emit_jump_if_imm(c, R0, JSLT, 0, NOTED);
	emit_jump_if_imm(c, R0, JEQ, PATH_LONG + 1, NOTED); /* the kernel refuses it */
	set_key(c, 1);
	emit_map(c, p->longs, KEY);
	emit_address(c, R3, R7, CALL_TEXT);
	emit_alu_imm(c, ALU_MOV, R4, 0);
	emit_call(c, FN_MAP_UPDATE_ELEM);
	emit_alu_imm(c, ALU_MOV, R9, IN_LONGS);
	emit_jump_if_imm(c, R0, JEQ, 0, NOTED);
	emit_alu_imm(c, ALU_MOV, R9, NOWHERE);
	emit_label(c, NOTED);
	emit_store(c, SIZE_DW, R7, CALL_STATE, R9);
	set_key(c, 1);
	emit_map(c, calls, KEY);
	emit_alu(c, ALU_MOV, R3, R7);
	emit_alu_imm(c, ALU_MOV, R4, 0);
	emit_call(c, FN_MAP_UPDATE_ELEM);
	if (RAW_EXITS) { /* the end will not know that this is a call */
		char text[32];

		emit_jump_if_imm(c, R0, JEQ, 0, OUT);
		str_format(text, sizeof(text), "?%s", call->name);
		print_mark(c, p, text);
	}
	emit_out(c, 0);
}

/* Change the flags at FLAGS as the kernel does (fs/open.c, build_open_how). */
static void normalize_flags(struct bpf_code *c, const struct strings_plan *p,
			    const struct path_call *call, int is_path, int done)
{
	if (call->flags == FLAGS_HOW) {
		emit_load(c, SIZE_DW, R6, FP, FLAGS);
		read_to(c, FN_PROBE_READ_USER, FLAGS, 8, R6, 0);
	}
	emit_load(c, SIZE_DW, R6, FP, FLAGS);
	if (call->flags >= 0)
		emit_alu_imm(c, ALU_AND, R6, O_OPEN_MASK);
	emit_alu(c, ALU_MOV, R1, R6);
	emit_alu_imm(c, ALU_AND, R1, O_PATH);
	emit_jump_if_imm(c, R1, JNE, 0, is_path);
	if (p->word == 8)
		emit_alu_imm(c, ALU_OR, R6, LARGEFILE);
	emit_jump(c, done);
	emit_label(c, is_path);
	if (call->flags >= 0)
		emit_alu_imm(c, ALU_AND, R6, O_PATH_MASK);
	emit_label(c, done);
	emit_store(c, SIZE_DW, FP, FLAGS, R6);
}

/* Set R3 and R4 to flags and result. */
static void set_numbers(struct bpf_code *c)
{
	emit_load(c, SIZE_DW, R3, FP, FLAGS);
	emit_load(c, SIZE_W, R4, FP, __BYTE_ORDER == __LITTLE_ENDIAN ? RET : RET + 4);
}

/*
 * Print the result of a call and its path, at R8, which the helper reads. The labels from first
 * on are free. At the end, go to done.
 */
static void print_path(struct bpf_code *c, const struct strings_plan *p,
		       const struct path_call *call, enum bpf_helper read, int first, int done)
{
	const int fault = first, more = first + 1, next = first + 2, last = first + 3,
		  late_fault = first + 4;
	char text[64];

	read_piece(c, p, read);
	emit_jump_if_imm(c, R0, JSLT, 0, fault);
	emit_jump_if_imm(c, R0, JEQ, (int32_t)p->piece + 1, more);
	str_format(text, sizeof(text), "=%s %%llx %%d %%pks", call->name);
	set_text(c, p, text);
	set_numbers(c);
	set_piece(c, R5);
	emit_call(c, FN_TRACE_PRINTK);
	emit_jump(c, done);

	emit_label(c, more);
	*text = '+';
	set_text(c, p, text);
	set_numbers(c);
	set_piece(c, R5);
	emit_call(c, FN_TRACE_PRINTK);
	emit_alu_imm(c, ALU_MOV, R9, 0);
	emit_label(c, next);
	emit_alu_imm(c, ALU_ADD, R8, (int32_t)p->piece);
	read_piece(c, p, read);
	emit_jump_if_imm(c, R0, JSLT, 0, late_fault);
	emit_jump_if_imm(c, R0, JNE, (int32_t)p->piece + 1, last);
	print_piece(c, p, "&%pks");
	emit_alu_imm(c, ALU_ADD, R9, 1);
	emit_jump_if_imm(c, R9, JNE, strings_pieces(p), next);
	print_mark(c, p, "~");
	emit_jump(c, done);
	emit_label(c, last);
	print_piece(c, p, ".%pks");
	emit_jump(c, done);
	emit_label(c, late_fault);
	print_mark(c, p, "x");
	emit_jump(c, done);

	emit_label(c, fault);
	str_format(text, sizeof(text), "!%s %%llx %%d", call->name);
	set_text(c, p, text);
	set_numbers(c);
	emit_call(c, FN_TRACE_PRINTK);
	emit_jump(c, done);
}

/* A call ends: print its result and its path. */
static void call_ends(struct bpf_code *c, const struct strings_plan *p,
		      const struct path_call *call, int calls)
{
	enum { UNKNOWN = OUT + 1, IS_PATH, NORMAL, NOTED, FOUND, LONG, ENDED, IN_KERNEL,
	       IN_USER = IN_KERNEL + 5 };
	char text[64];

	if (RAW_EXITS)
		emit_load(c, SIZE_DW, R6, R1, 8);
	else
		load_long(c, p, p->word == 8 ? 16 : 12);
	emit_store(c, SIZE_DW, FP, RET, R6);
	set_key(c, 1);
	map_call(c, FN_MAP_LOOKUP_ELEM, calls);
	emit_jump_if_imm(c, R0, JEQ, 0, RAW_EXITS ? OUT : UNKNOWN);
	emit_load(c, SIZE_DW, R1, R0, CALL_FLAGS);
	emit_store(c, SIZE_DW, FP, FLAGS, R1);
	emit_load(c, SIZE_DW, R8, R0, CALL_PATH);
	emit_load(c, SIZE_DW, R9, R0, CALL_STATE);
	emit_store(c, SIZE_DW, FP, STACK, R9);
	emit_address(c, R0, R0, CALL_TEXT);
	emit_store(c, SIZE_DW, FP, PATH, R0);
	if (call->is_exec)
		emit_jump_if_imm(c, R6, JEQ, 0, ENDED);
	else if (p->failed)
		emit_jump_if_imm(c, R6, JSGE, 0, ENDED);
	normalize_flags(c, p, call, IS_PATH, NORMAL);
	emit_jump_if_imm(c, R9, JEQ, NOWHERE, NOTED);
	find_buffer(c, p);
	emit_jump_if_imm(c, R9, JEQ, IN_MEMORY, FOUND);
	emit_jump_if_imm(c, R9, JEQ, IN_LONGS, LONG);
	emit_load(c, SIZE_DW, R1, FP, PATH);
	emit_store(c, SIZE_DW, R7, BUFFER_NEXT, R1); /* from there it is a number */
	emit_load(c, SIZE_DW, R8, R7, BUFFER_NEXT);
	print_path(c, p, call, FN_PROBE_READ_KERNEL_STR, IN_KERNEL, ENDED);
	emit_label(c, LONG);
	set_key(c, 1);
	map_call(c, FN_MAP_LOOKUP_ELEM, p->longs);
	emit_jump_if_imm(c, R0, JEQ, 0, NOTED);
	emit_store(c, SIZE_DW, R7, BUFFER_NEXT, R0);
	emit_load(c, SIZE_DW, R8, R7, BUFFER_NEXT);
	print_path(c, p, call, FN_PROBE_READ_KERNEL_STR, IN_USER + 5, ENDED);
	emit_label(c, FOUND);
	print_path(c, p, call, FN_PROBE_READ_USER_STR, IN_USER, ENDED);

	emit_label(c, NOTED);
	str_format(text, sizeof(text), "?%s %%d", call->name);
	set_text(c, p, text);
	emit_load(c, SIZE_DW, R3, FP, RET);
	emit_call(c, FN_TRACE_PRINTK);
	emit_label(c, ENDED);
	set_key(c, 1);
	map_call(c, FN_MAP_DELETE_ELEM, calls);
	emit_load(c, SIZE_DW, R9, FP, STACK);
	emit_jump_if_imm(c, R9, JNE, IN_LONGS, OUT);
	map_call(c, FN_MAP_DELETE_ELEM, p->longs);
	emit_exit(c, 0);

	if (!RAW_EXITS) { /* the kernel refuses code that nothing jumps to */
		emit_label(c, UNKNOWN);
		if (call->is_exec)
			emit_jump_if_imm(c, R6, JEQ, 0, OUT);
		else if (p->failed)
			emit_jump_if_imm(c, R6, JSGE, 0, OUT);
		str_format(text, sizeof(text), "?%s %%d", call->name);
		set_text(c, p, text);
		emit_alu(c, ALU_MOV, R3, R6);
		emit_call(c, FN_TRACE_PRINTK);
	}
	emit_out(c, 0);
}

/* Offsets in struct linux_binprm. */
struct binprm {
	int stack, argc, file;
	int other_stack;        /* where the stack is in other kernels; 0: it is known */
};

/*
 * A task executes a new program (sched_process_exec): print the file and the words. The
 * number of words is at the top of the stack, and their addresses are behind it.
 */
static void program_begins(struct bpf_code *c, const struct strings_plan *p,
			   const struct binprm *b)
{
	enum { FOUND = OUT + 1, CHECKED, COUNTED, FILE_NEXT, FILE_LAST, FILE_FAULT, WORDS, WORD,
	       NEXT, FAULT, LAST, END, CUT };

	emit_load(c, SIZE_DW, R6, R1, 16);
	find_buffer(c, p);
	read_to(c, FN_PROBE_READ_KERNEL, RET, 4, R6, b->argc);
	read_to(c, FN_PROBE_READ_KERNEL, STACK, p->word, R6, b->stack);
	if (b->other_stack) {
		/* the right one has the number of words at its top */
		load_read(c, p, R8, STACK);
		read_to(c, FN_PROBE_READ_USER, PATH, p->word, R8, 0);
		emit_jump_if_imm(c, R0, JNE, 0, FOUND);
		load_read(c, p, R1, PATH);
		emit_load(c, SIZE_W, R2, FP, RET);
		emit_jump_if(c, R1, JEQ, R2, CHECKED);
		emit_label(c, FOUND);
		read_to(c, FN_PROBE_READ_KERNEL, STACK, p->word, R6, b->other_stack);
		emit_label(c, CHECKED);
	}
	load_read(c, p, R8, STACK);
	emit_store(c, SIZE_DW, R7, BUFFER_NEXT, R8);
	emit_load(c, SIZE_W, R9, FP, RET);
	emit_jump_if_imm(c, R9, JSLE, (int32_t)p->words, COUNTED);
	emit_alu_imm(c, ALU_MOV, R9, (int32_t)p->words);
	emit_label(c, COUNTED);
	emit_store(c, SIZE_DW, R7, BUFFER_LEFT, R9);
	set_text(c, p, "#%d %d");
	emit_load(c, SIZE_W, R3, FP, RET);
	emit_address(c, R4, R9, 1);
	emit_call(c, FN_TRACE_PRINTK);

	/* the file, in the kernel's memory */
	read_to(c, FN_PROBE_READ_KERNEL, PATH, p->word, R6, b->file);
	load_read(c, p, R8, PATH);
	emit_alu_imm(c, ALU_MOV, R9, 0);
	emit_label(c, FILE_NEXT);
	read_piece(c, p, FN_PROBE_READ_KERNEL_STR);
	emit_jump_if_imm(c, R0, JSLT, 0, FILE_FAULT);
	emit_jump_if_imm(c, R0, JNE, (int32_t)p->piece + 1, FILE_LAST);
	print_piece(c, p, "&%pks");
	emit_alu_imm(c, ALU_ADD, R8, (int32_t)p->piece);
	emit_alu_imm(c, ALU_ADD, R9, 1);
	emit_jump_if_imm(c, R9, JNE, strings_pieces(p), FILE_NEXT);
	emit_jump(c, CUT);
	emit_label(c, FILE_FAULT);
	print_mark(c, p, "x");
	emit_jump(c, WORDS);
	emit_label(c, FILE_LAST);
	print_piece(c, p, ".%pks");

	/*
	 * The words. How many are left is in the buffer, where the verifier does not know it,
	 * so that it checks each round of the loop only once.
	 */
	emit_label(c, WORDS);
	emit_alu_imm(c, ALU_MOV, R9, 0);
	emit_label(c, WORD);
	emit_load(c, SIZE_DW, R1, R7, BUFFER_LEFT);
	emit_jump_if_imm(c, R1, JEQ, 0, END);
	emit_alu_imm(c, ALU_SUB, R1, 1);
	emit_store(c, SIZE_DW, R7, BUFFER_LEFT, R1);
	emit_load(c, SIZE_DW, R8, R7, BUFFER_NEXT);
	emit_alu_imm(c, ALU_ADD, R8, (int32_t)p->word);
	emit_store(c, SIZE_DW, R7, BUFFER_NEXT, R8);
	read_to(c, FN_PROBE_READ_USER, PATH, p->word, R8, 0);
	load_read(c, p, R8, PATH);
	emit_label(c, NEXT);
	emit_alu_imm(c, ALU_ADD, R9, 1);
	emit_jump_if_imm(c, R9, JGT, strings_pieces(p) + STRINGS_WORDS_MAX, CUT);
	read_piece(c, p, FN_PROBE_READ_USER_STR);
	emit_jump_if_imm(c, R0, JSLT, 0, FAULT);
	emit_jump_if_imm(c, R0, JNE, (int32_t)p->piece + 1, LAST);
	print_piece(c, p, "&%pks");
	emit_alu_imm(c, ALU_ADD, R8, (int32_t)p->piece);
	emit_jump(c, NEXT);
	emit_label(c, FAULT);
	print_mark(c, p, "x");
	emit_jump(c, WORD);
	emit_label(c, LAST);
	print_piece(c, p, ".%pks");
	emit_jump(c, WORD);
	emit_label(c, CUT);
	print_mark(c, p, "~");
	emit_label(c, END);
	emit_out(c, 0);
}

/* ---- load and attach -------------------------------------------------------------------- */

int strings_prepare(struct strings_plan *p)
{
	char *page = file_read(p->root, "events/header_page", NULL);
	struct utsname host;
	unsigned version;

	if (!page)
		return err_file("unable to read events/header_page");
	p->word = strstr(page, "commit;") && strstr(strstr(page, "commit;"), "size:8") ? 8 : 4;
	free(page);
	version = !uname(&host) ? kernel_version(host.release) : 0;
	p->piece = version >= KERNEL(5, 13) ? PIECE_NEW : PIECE_OLD;
	p->numbers = version >= KERNEL(5, 16) ? 12 : 3; /* bpf_trace_vprintk */
	p->buffer = bpf_map(MAP_PERCPU_ARRAY, "tfs_strings", 4, STRINGS_BUFFER, 2);
	if (p->buffer < 0)
		return err_capability(CAPS_BPF, "unable to make a BPF map");
	/* not only a number: the kernel's filters take a glob that begins with a digit for one */
	str_format(p->id, sizeof(p->id), "tfs_%x", bpf_id(p->buffer));
	return 0;
}

/* Load the code. Return a descriptor, or -1, reported. */
static int load(const struct strings_plan *p, struct bpf_code *c, const char *name,
		enum bpf_program_type kind)
{
	static const uint64_t needs = CAPS_BPF | CAPS_PERFMON;
	const struct bpf_load_as as = { .kind = kind };
	char why[256];
	int fd = bpf_load(c, p->id, &as, why, sizeof(why));

	if (fd < 0 && *why)
		err_capability(needs, "the kernel refused the program for %s (%s)", name, why);
	else if (fd < 0)
		err_capability(needs, "the kernel refused the program for %s", name);
	return fd;
}

int strings_attach(struct strings_plan *p, struct bpf_code *c, const char *event, int raw)
{
	char path[128], *id = NULL;
	const char *digits;
	int fd, held;

	if (p->n == sizeof(p->fds) / sizeof(*p->fds))
		return err_msg("too many programs");
	if (!raw) {
		str_format(path, sizeof(path), "events/%s/id", event);
		id = file_read(p->root, path, NULL);
		if (!id)
			return err_file("unable to read %s", path);
	}
	fd = load(p, c, event, raw ? PROGRAM_RAW_TRACEPOINT : PROGRAM_TRACEPOINT);
	digits = id;
	held = fd < 0 ? -1 : raw ? bpf_raw_tracepoint(fd, event) :
	       bpf_tracepoint(fd, (unsigned long)text_digits(&digits));
	if (fd >= 0 && held < 0)
		err_capability(CAPS_PERFMON, "unable to attach to %s", event);
	free(id);
	if (fd >= 0)
		close(fd);
	if (held < 0)
		return -1;
	p->fds[p->n++] = held;
	return 0;
}

/* Attach to the beginnings and ends of the calls that this kernel has. Return 0 or -1. */
static int attach_calls(struct strings_plan *p, const struct path_call *calls, size_t n)
{
	static struct bpf_code begins, ends;
	char event[64];
	int map, r = 0;

	/* the longest path, its NUL, and a byte that tells whether it is longer */
	p->notes = bpf_map(MAP_PERCPU_ARRAY, p->id, 4, CALL_TEXT + PATH_LONG + 8, 1);
	p->longs = bpf_map(MAP_HASH, p->id, 4, PATH_LONG + 8, LONGS_MAX);
	if (p->notes < 0 || p->longs < 0)
		return err_capability(CAPS_BPF, "unable to make a BPF map");

	for (size_t i = 0; i < n && !r; i++) {
		str_format(event, sizeof(event), "events/syscalls/sys_exit_%s", calls[i].name);
		if (!file_exists(p->root, event)) {
			if (!i)
				return err_msg("this kernel has no %s: use one with "
					       "CONFIG_FTRACE_SYSCALLS", event);
			continue;
		}
		map = bpf_map(MAP_HASH, p->id, 4, CALL_SIZE, CALLS_MAX);
		if (map < 0)
			return err_capability(CAPS_BPF, "unable to make a BPF map");
		memset(&begins, 0, sizeof(begins));
		memset(&ends, 0, sizeof(ends));
		call_begins(&begins, p, &calls[i], map);
		call_ends(&ends, p, &calls[i], map);
		/* the end first: a call without a beginning is printed, but not the reverse */
		str_format(event, sizeof(event), "syscalls/sys_exit_%s", calls[i].name);
		r = strings_attach(p, &ends, RAW_EXITS ? "sys_exit" : event, RAW_EXITS);
		str_format(event, sizeof(event), "syscalls/sys_enter_%s", calls[i].name);
		r = r < 0 ? r : strings_attach(p, &begins, event, 0);
		close(map);
	}
	close(p->notes);
	close(p->longs);
	return r;
}

int strings_attach_opens(struct strings_plan *p)
{
	return attach_calls(p, opens, sizeof(opens) / sizeof(*opens));
}

/* Fill b from the kernel's BTF, or by the layouts since Linux 5.10 if it has none. */
static void find_binprm(const struct strings_plan *p, struct binprm *b)
{
	char path[PATH_MAX];
	struct btf btf;

	*b = p->word == 8 ? (struct binprm){ 24, 88, 96, 32 } : (struct binprm){ 12, 48, 56, 16 };
	str_format(path, sizeof(path), "%s/kernel/btf/vmlinux", path_sysfs());
	if (btf_read(&btf, path) < 0)
		return;
	if (btf_member(&btf, "linux_binprm", "p") >= 0 &&
	    btf_member(&btf, "linux_binprm", "argc") >= 0 &&
	    btf_member(&btf, "linux_binprm", "filename") >= 0)
		*b = (struct binprm){ btf_member(&btf, "linux_binprm", "p"),
				      btf_member(&btf, "linux_binprm", "argc"),
				      btf_member(&btf, "linux_binprm", "filename"), 0 };
	btf_free(&btf);
}

int strings_binprm_file(const struct strings_plan *p)
{
	struct binprm b;

	find_binprm(p, &b);
	return b.file;
}

int strings_status(void)
{
	char path[PATH_MAX];
	struct utsname host;
	struct btf btf;
	/* flags, since Linux 5.11 syscall_work, and status; thread_info comes first */
	int at = !uname(&host) && kernel_version(host.release) < KERNEL(5, 11) ? 8 : 16;

	str_format(path, sizeof(path), "%s/kernel/btf/vmlinux", path_sysfs());
	if (btf_read(&btf, path) < 0)
		return at;
	if (btf_member(&btf, "task_struct", "thread_info") >= 0 &&
	    btf_member(&btf, "thread_info", "status") >= 0)
		at = btf_member(&btf, "task_struct", "thread_info") +
		     btf_member(&btf, "thread_info", "status");
	btf_free(&btf);
	return at;
}

int strings_attach_execs(struct strings_plan *p)
{
	static struct bpf_code c;
	struct binprm b;

	find_binprm(p, &b);
	memset(&c, 0, sizeof(c));
	program_begins(&c, p, &b);
	if (strings_attach(p, &c, "sched_process_exec", 1) < 0)
		return -1;
	return p->failed ? attach_calls(p, execs, sizeof(execs) / sizeof(*execs)) : 0;
}
