/* SPDX-License-Identifier: ISC */
/*
 * strings_programs.c - programs that print the strings of system calls
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
#include <sys/utsname.h>

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

/* The kernel's O_LARGEFILE */
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
 * Slots of a program: 8 bytes each on the stack, where the text of a record lies below, and in the
 * buffer of the CPU, to which R7 points. At the end of a call STACK has the state of its path.
 */
#define SLOTS(X) \
	X(KEY, FP, -8) X(PATH, FP, -16) X(FLAGS, FP, -24) X(RET, FP, -32) X(STACK, FP, -40) \
	X(TEXT, FP, -104) \
	X(BUFFER_LEFT, R7, 0) X(BUFFER_NEXT, R7, 8) X(BUFFER_TEXT, R7, 16)
enum { SLOTS(BPF_SLOT_AT) };
static const struct bpf_slot slots[] = { SLOTS(BPF_SLOT) { 0 } };

/* A call that has begun: the value of the map of calls, and of the notes. */
struct note {
	uint64_t flags, path, state;
	char text[PATH_SHORT];
};

/* Where the path of a call is */
enum { IN_CALL, IN_LONGS, IN_MEMORY, NOWHERE };

/* ---- phrases of instructions -------------------------------------------------------------- */

enum bpf_size strings_word_size(const struct strings_plan *p)
{
	return p->word == 8 ? SIZE_DW : SIZE_W;
}

/* R6 = a long of the tracepoint's record at R1, with its sign */
static void load_long(struct bpf_code *c, const struct strings_plan *p, int at)
{
	emit_load(c, strings_word_size(p), R6, R1, at);
	if (p->word == 4) {
		emit_alu_imm(c, ALU_LSH, R6, 32);
		emit_alu_imm(c, ALU_ARSH, R6, 32);
	}
}

void strings_read(struct bpf_code *c, enum bpf_helper read, int at, unsigned size,
		  enum bpf_reg from, int offset)
{
	emit_mov(c, R3, from);
	if (offset)
		emit_alu_imm(c, ALU_ADD, R3, offset);
	emit_store_imm(c, SIZE_DW, FP, at, 0);
	emit_address(c, R1, FP, at);
	emit_mov_imm(c, R2, (int32_t)size);
	emit_call(c, read);
}

/* Load what strings_read has copied of a long that has no sign. */
static void load_read(struct bpf_code *c, const struct strings_plan *p, enum bpf_reg to, int at)
{
	emit_load(c, strings_word_size(p), to, FP, at);
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

/* Set R7 to the value of a map of one entry; jump if there is none, which cannot be. */
static void find_buffer(struct bpf_code *c, int map)
{
	set_key(c, 0);
	emit_find(c, map, KEY, R7, "out");
}

/* Set R1 and R2 to the text of a record after the id, for bpf_trace_printk. */
static void set_text(struct bpf_code *c, const struct strings_plan *p, const char *text)
{
	char all[-TEXT + STACK] = "";
	size_t n = str_format(all, sizeof(all), "%s %s", p->id, text) + 1;

	emit_string(c, FP, TEXT, all);
	emit_address(c, R1, FP, TEXT);
	emit_mov_imm(c, R2, (int32_t)n); /* with the NUL, which Linux 5.10 wants */
}

/* Do the same for a record whose text has the name of the call after a tag. */
static void set_call_text(struct bpf_code *c, const struct strings_plan *p, char tag,
			  const struct path_call *call, const char *values)
{
	char text[64];

	str_format(text, sizeof(text), "%c%s%s", tag, call->name, values);
	set_text(c, p, text);
}

/* Set the register to the text in the buffer. */
static void set_piece(struct bpf_code *c, enum bpf_reg to)
{
	emit_address(c, to, R7, BUFFER_TEXT);
}

/* Print the piece in the buffer after the tag. */
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

void strings_read_piece(struct bpf_code *c, const struct strings_plan *p, enum bpf_helper read,
			int at)
{
	emit_address(c, R1, R7, at);
	emit_mov_imm(c, R2, (int32_t)p->piece + 1);
	emit_mov(c, R3, R8);
	emit_call(c, read);
}

/*
 * Read a piece. If it is not the last one, print it. Jump to fault if it is not in memory, and to
 * last if it is the last.
 */
static void read_part(struct bpf_code *c, const struct strings_plan *p, enum bpf_helper read,
		      const char *fault, const char *last)
{
	strings_read_piece(c, p, read, BUFFER_TEXT);
	emit_jump_if_imm(c, R0, JSLT, 0, fault);
	emit_jump_if_imm(c, R0, JNE, (int32_t)p->piece + 1, last);
	print_piece(c, p, "&%pks");
}

int strings_pieces(const struct strings_plan *p)
{
	return (int)(4096 / p->piece) + 1;
}

/* ---- the beginning of a call ------------------------------------------------------------ */

/* PATH and FLAGS = the arguments of the call. */
static void load_arguments(struct bpf_code *c, const struct strings_plan *p,
			   const struct path_call *call)
{
	const int first = p->word == 8 ? 16 : 12;
	const int flags = call->flags == FLAGS_HOW ? 2 : call->flags;

	load_long(c, p, first + call->path * (int)p->word);
	emit_store(c, SIZE_DW, FP, PATH, R6);
	if (flags >= 0)
		load_long(c, p, first + flags * (int)p->word);
	else
		emit_mov_imm(c, R6, flags == FLAGS_CREAT ? O_CREAT | O_WRONLY | O_TRUNC :
			     K_FMODE_EXEC);
	emit_store(c, SIZE_DW, FP, FLAGS, R6);
}

/* Copy at most size bytes of the string at R8, with its NUL, to the note at R7. */
static void note_path(struct bpf_code *c, int size)
{
	emit_address(c, R1, R7, offsetof(struct note, text));
	emit_mov_imm(c, R2, size);
	emit_mov(c, R3, R8);
	emit_call(c, FN_PROBE_READ_USER_STR);
}

/* Copy the path to the note, or to a map of its own if it is long. R9 = where it is. */
static void keep_path(struct bpf_code *c, const struct strings_plan *p)
{
	emit_mov_imm(c, R9, IN_MEMORY);
	note_path(c, PATH_SHORT);
	emit_jump_if_imm(c, R0, JSLT, 0, "noted");
	emit_mov_imm(c, R9, IN_CALL);
	emit_jump_if_imm(c, R0, JNE, PATH_SHORT, "noted");
	emit_mov_imm(c, R9, IN_MEMORY);
	note_path(c, PATH_LONG + 1);
	emit_jump_if_imm(c, R0, JSLT, 0, "noted");
	emit_jump_if_imm(c, R0, JEQ, PATH_LONG + 1, "noted"); /* the kernel refuses it */
	set_key(c, 1);
	emit_update(c, p->longs, KEY, R7, offsetof(struct note, text), UPDATE_ANY);
	emit_mov_imm(c, R9, IN_LONGS);
	emit_jump_if_imm(c, R0, JEQ, 0, "noted");
	emit_mov_imm(c, R9, NOWHERE);
	emit_label(c, "noted");
}

/* A call begins: note its path and its flags. */
static void call_begins(struct bpf_code *c, const struct strings_plan *p,
			const struct path_call *call, int calls)
{
	load_arguments(c, p, call);
	find_buffer(c, p->notes);
	emit_load(c, SIZE_DW, R1, FP, FLAGS);
	emit_set(c, R7, note, flags, R1);
	emit_load(c, SIZE_DW, R8, FP, PATH);
	emit_set(c, R7, note, path, R8);
	keep_path(c, p);
	emit_set(c, R7, note, state, R9);
	set_key(c, 1);
	emit_update(c, calls, KEY, R7, 0, UPDATE_ANY);
	if (RAW_EXITS) { /* the end will not know that this is a call */
		emit_jump_if_imm(c, R0, JEQ, 0, "out");
		set_call_text(c, p, '?', call, "");
		emit_call(c, FN_TRACE_PRINTK);
	}
	emit_out(c, 0);
}

/* ---- the end of a call ------------------------------------------------------------------ */

/* RET and R6 = the result, FLAGS, PATH, STACK, R8 and R9 = what was noted at the beginning */
static void find_note(struct bpf_code *c, const struct strings_plan *p, int calls)
{
	if (RAW_EXITS)
		emit_load(c, SIZE_DW, R6, R1, 8);
	else
		load_long(c, p, p->word == 8 ? 16 : 12);
	emit_store(c, SIZE_DW, FP, RET, R6);
	set_key(c, 1);
	emit_find(c, calls, KEY, R0, RAW_EXITS ? "out" : "unknown");
	emit_get(c, R1, R0, note, flags);
	emit_store(c, SIZE_DW, FP, FLAGS, R1);
	emit_get(c, R8, R0, note, path);
	emit_get(c, R9, R0, note, state);
	emit_store(c, SIZE_DW, FP, STACK, R9);
	emit_address(c, R0, R0, offsetof(struct note, text));
	emit_store(c, SIZE_DW, FP, PATH, R0);
}

/* Jump if calls with the result in R6 are not printed. */
static void choose(struct bpf_code *c, const struct strings_plan *p, const struct path_call *call,
		   const char *skip)
{
	if (call->is_exec)
		emit_jump_if_imm(c, R6, JEQ, 0, skip);
	else if (p->failed)
		emit_jump_if_imm(c, R6, JSGE, 0, skip);
}

/* Change the flags at FLAGS as the kernel does (fs/open.c, build_open_how). */
static void normalize_flags(struct bpf_code *c, const struct strings_plan *p,
			    const struct path_call *call)
{
	if (call->flags == FLAGS_HOW) {
		emit_load(c, SIZE_DW, R6, FP, FLAGS);
		strings_read(c, FN_PROBE_READ_USER, FLAGS, 8, R6, 0);
	}
	emit_load(c, SIZE_DW, R6, FP, FLAGS);
	if (call->flags >= 0)
		emit_alu_imm(c, ALU_AND, R6, O_OPEN_MASK);
	emit_mov(c, R1, R6);
	emit_alu_imm(c, ALU_AND, R1, O_PATH);
	emit_jump_if_imm(c, R1, JNE, 0, "is_path");
	if (p->word == 8)
		emit_alu_imm(c, ALU_OR, R6, LARGEFILE);
	emit_jump(c, "normal");
	emit_label(c, "is_path");
	if (call->flags >= 0)
		emit_alu_imm(c, ALU_AND, R6, O_PATH_MASK);
	emit_label(c, "normal");
	emit_store(c, SIZE_DW, FP, FLAGS, R6);
}

/* Print a record of the call with this tag, its flags, its result, and the piece if there is one */
static void print_call(struct bpf_code *c, const struct strings_plan *p,
		       const struct path_call *call, char tag)
{
	set_call_text(c, p, tag, call, tag == '!' ? " %llx %d" : " %llx %d %pks");
	emit_load(c, SIZE_DW, R3, FP, FLAGS);
	emit_load(c, SIZE_W, R4, FP, __BYTE_ORDER == __LITTLE_ENDIAN ? RET : RET + 4);
	if (tag != '!')
		set_piece(c, R5);
	emit_call(c, FN_TRACE_PRINTK);
}

/* Print the result of a call and its path, at R8, which the helper reads; go to "ended". */
static void print_path(struct bpf_code *c, const struct strings_plan *p,
		       const struct path_call *call, enum bpf_helper read)
{
	emit_scope(c);
	strings_read_piece(c, p, read, BUFFER_TEXT);
	emit_jump_if_imm(c, R0, JSLT, 0, "fault");
	emit_jump_if_imm(c, R0, JEQ, (int32_t)p->piece + 1, "more");
	print_call(c, p, call, '=');
	emit_jump(c, "ended");

	emit_label(c, "more");
	print_call(c, p, call, '+');
	emit_mov_imm(c, R9, 0);
	emit_label(c, "next");
	emit_alu_imm(c, ALU_ADD, R8, (int32_t)p->piece);
	read_part(c, p, read, "late_fault", "last");
	emit_alu_imm(c, ALU_ADD, R9, 1);
	emit_jump_if_imm(c, R9, JNE, strings_pieces(p), "next");
	print_mark(c, p, "~");
	emit_jump(c, "ended");
	emit_label(c, "last");
	print_piece(c, p, ".%pks");
	emit_jump(c, "ended");
	emit_label(c, "late_fault");
	print_mark(c, p, "x");
	emit_jump(c, "ended");

	emit_label(c, "fault");
	print_call(c, p, call, '!');
	emit_jump(c, "ended");
	emit_scope_end(c);
}

/* Set R8 to the address in the register, which from there is a number. */
static void set_number(struct bpf_code *c, enum bpf_reg from)
{
	emit_store(c, SIZE_DW, R7, BUFFER_NEXT, from);
	emit_load(c, SIZE_DW, R8, R7, BUFFER_NEXT);
}

/* Print the call with its path, wherever that is, and go to "ended"; or fall to "lost". */
static void print_noted(struct bpf_code *c, const struct strings_plan *p,
			const struct path_call *call)
{
	emit_jump_if_imm(c, R9, JEQ, NOWHERE, "lost");
	find_buffer(c, p->buffer);
	emit_jump_if_imm(c, R9, JEQ, IN_MEMORY, "in_memory");
	emit_jump_if_imm(c, R9, JEQ, IN_LONGS, "in_longs");
	emit_load(c, SIZE_DW, R1, FP, PATH);
	set_number(c, R1);
	print_path(c, p, call, FN_PROBE_READ_KERNEL_STR);
	emit_label(c, "in_longs");
	set_key(c, 1);
	emit_find(c, p->longs, KEY, R0, "lost");
	set_number(c, R0);
	print_path(c, p, call, FN_PROBE_READ_KERNEL_STR);
	emit_label(c, "in_memory");
	print_path(c, p, call, FN_PROBE_READ_USER_STR);
}

/* A call ends: print its result and its path. */
static void call_ends(struct bpf_code *c, const struct strings_plan *p,
		      const struct path_call *call, int calls)
{
	find_note(c, p, calls);
	choose(c, p, call, "ended");
	normalize_flags(c, p, call);
	print_noted(c, p, call);

	emit_label(c, "lost");
	set_call_text(c, p, '?', call, " %d");
	emit_load(c, SIZE_DW, R3, FP, RET);
	emit_call(c, FN_TRACE_PRINTK);
	emit_label(c, "ended");
	set_key(c, 1);
	emit_delete(c, calls, KEY);
	emit_load(c, SIZE_DW, R9, FP, STACK);
	emit_jump_if_imm(c, R9, JNE, IN_LONGS, "out");
	emit_delete(c, p->longs, KEY);
	emit_exit(c, 0);

	if (!RAW_EXITS) { /* the kernel refuses code that nothing jumps to */
		emit_label(c, "unknown");
		choose(c, p, call, "out");
		set_call_text(c, p, '?', call, " %d");
		emit_mov(c, R3, R6);
		emit_call(c, FN_TRACE_PRINTK);
	}
	emit_out(c, 0);
}

/* ---- a new program ---------------------------------------------------------------------- */

/* RET = the number of arguments, STACK = the address of the stack, with that number at its top */
static void find_stack(struct bpf_code *c, const struct strings_plan *p,
		       const struct strings_offsets *o)
{
	strings_read(c, FN_PROBE_READ_KERNEL, RET, 4, R6, o->argc);
	strings_read(c, FN_PROBE_READ_KERNEL, STACK, p->word, R6, o->stack);
	if (!o->other_stack)
		return;
	load_read(c, p, R8, STACK);
	strings_read(c, FN_PROBE_READ_USER, PATH, p->word, R8, 0);
	emit_jump_if_imm(c, R0, JNE, 0, "other_stack");
	load_read(c, p, R1, PATH);
	emit_load(c, SIZE_W, R2, FP, RET);
	emit_jump_if(c, R1, JEQ, R2, "has_stack");
	emit_label(c, "other_stack");
	strings_read(c, FN_PROBE_READ_KERNEL, STACK, p->word, R6, o->other_stack);
	emit_label(c, "has_stack");
}

/* Print how many strings follow. BUFFER_LEFT = the number of arguments among them */
static void print_count(struct bpf_code *c, const struct strings_plan *p)
{
	load_read(c, p, R8, STACK);
	emit_store(c, SIZE_DW, R7, BUFFER_NEXT, R8);
	emit_load(c, SIZE_W, R9, FP, RET);
	emit_jump_if_imm(c, R9, JSLE, (int32_t)p->words, "counted");
	emit_mov_imm(c, R9, (int32_t)p->words);
	emit_label(c, "counted");
	emit_store(c, SIZE_DW, R7, BUFFER_LEFT, R9);
	set_text(c, p, "#%d %d");
	emit_load(c, SIZE_W, R3, FP, RET);
	emit_address(c, R4, R9, 1);
	emit_call(c, FN_TRACE_PRINTK);
}

/* Print the path of the program, which is in the kernel's memory. */
static void print_file(struct bpf_code *c, const struct strings_plan *p,
		       const struct strings_offsets *o)
{
	strings_read(c, FN_PROBE_READ_KERNEL, PATH, p->word, R6, o->file);
	load_read(c, p, R8, PATH);
	emit_mov_imm(c, R9, 0);
	emit_label(c, "file_next");
	read_part(c, p, FN_PROBE_READ_KERNEL_STR, "file_fault", "file_last");
	emit_alu_imm(c, ALU_ADD, R8, (int32_t)p->piece);
	emit_alu_imm(c, ALU_ADD, R9, 1);
	emit_jump_if_imm(c, R9, JNE, strings_pieces(p), "file_next");
	emit_jump(c, "cut");
	emit_label(c, "file_fault");
	print_mark(c, p, "x");
	emit_jump(c, "arguments");
	emit_label(c, "file_last");
	print_piece(c, p, ".%pks");
	emit_label(c, "arguments");
}

/*
 * Print the arguments. How many are left is in the buffer, where the verifier does not know it,
 * so that it checks each round of the loop only once.
 */
static void print_arguments(struct bpf_code *c, const struct strings_plan *p)
{
	emit_mov_imm(c, R9, 0);
	emit_label(c, "argument");
	emit_load(c, SIZE_DW, R1, R7, BUFFER_LEFT);
	emit_jump_if_imm(c, R1, JEQ, 0, "out");
	emit_alu_imm(c, ALU_SUB, R1, 1);
	emit_store(c, SIZE_DW, R7, BUFFER_LEFT, R1);
	emit_load(c, SIZE_DW, R8, R7, BUFFER_NEXT);
	emit_alu_imm(c, ALU_ADD, R8, (int32_t)p->word);
	emit_store(c, SIZE_DW, R7, BUFFER_NEXT, R8);
	strings_read(c, FN_PROBE_READ_USER, PATH, p->word, R8, 0);
	load_read(c, p, R8, PATH);
	emit_label(c, "next");
	emit_alu_imm(c, ALU_ADD, R9, 1);
	emit_jump_if_imm(c, R9, JGT, strings_pieces(p) + STRINGS_WORDS_MAX, "cut");
	read_part(c, p, FN_PROBE_READ_USER_STR, "fault", "last");
	emit_alu_imm(c, ALU_ADD, R8, (int32_t)p->piece);
	emit_jump(c, "next");
	emit_label(c, "fault");
	print_mark(c, p, "x");
	emit_jump(c, "argument");
	emit_label(c, "last");
	print_piece(c, p, ".%pks");
	emit_jump(c, "argument");
	emit_label(c, "cut");
	print_mark(c, p, "~");
}

/*
 * A task executes a new program (sched_process_exec): print the file and the arguments. Their
 * addresses follow their number on the stack.
 */
static void program_begins(struct bpf_code *c, const struct strings_plan *p,
			   const struct strings_offsets *o)
{
	emit_load(c, SIZE_DW, R6, R1, 16);
	find_buffer(c, p->buffer);
	find_stack(c, p, o);
	print_count(c, p);
	print_file(c, p, o);
	print_arguments(c, p);
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

int strings_map(const struct strings_plan *p, enum bpf_map_type kind, const char *name,
		unsigned key, unsigned value, unsigned entries)
{
	char as[32];
	int fd;

	str_format(as, sizeof(as), "%s_%s", p->id, name);
	fd = bpf_map(kind, as, key, value, entries);
	return fd < 0 ? err_capability(CAPS_BPF, "unable to make a BPF map") : fd;
}

/* Load the code. Return a descriptor, or -1, reported. */
static int load(const struct strings_plan *p, struct bpf_code *c, const char *name,
		enum bpf_program_type kind)
{
	static const uint64_t needs = CAPS_BPF | CAPS_PERFMON;
	const struct bpf_load_as as = { .kind = kind, .where = name };
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
	fd_close(fd);
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
	p->notes = strings_map(p, MAP_PERCPU_ARRAY, "notes", 4,
			       offsetof(struct note, text) + PATH_LONG + 8, 1);
	p->longs = strings_map(p, MAP_HASH, "longs", 4, PATH_LONG + 8, LONGS_MAX);
	if (p->notes < 0 || p->longs < 0)
		return -1;

	for (size_t i = 0; i < n && !r; i++) {
		str_format(event, sizeof(event), "events/syscalls/sys_exit_%s", calls[i].name);
		if (!file_exists(p->root, event)) {
			if (!i)
				return err_msg("this kernel has no %s: use one with "
					       "CONFIG_FTRACE_SYSCALLS", event);
			continue;
		}
		map = strings_map(p, MAP_HASH, "calls", 4, sizeof(struct note), CALLS_MAX);
		if (map < 0)
			return -1;
		begins = ends = (struct bpf_code){ .slots = slots };
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

void strings_find_offsets(const struct strings_plan *p, struct strings_offsets *o)
{
	char path[PATH_MAX];
	struct utsname host;
	struct btf btf;
	int stack, argc, file, info, status;

	*o = p->word == 8 ? (struct strings_offsets){ 24, 88, 96, 32, 0 } :
			    (struct strings_offsets){ 12, 48, 56, 16, 0 };
	/* flags, since Linux 5.11 syscall_work, and status; thread_info comes first */
	o->status = !uname(&host) && kernel_version(host.release) < KERNEL(5, 11) ? 8 : 16;
	str_format(path, sizeof(path), "%s/kernel/btf/vmlinux", path_sysfs());
	if (btf_read(&btf, path) < 0)
		return;
	stack = btf_member(&btf, "linux_binprm", "p");
	argc = btf_member(&btf, "linux_binprm", "argc");
	file = btf_member(&btf, "linux_binprm", "filename");
	info = btf_member(&btf, "task_struct", "thread_info");
	status = btf_member(&btf, "thread_info", "status");
	btf_free(&btf);
	if (stack >= 0 && argc >= 0 && file >= 0)
		*o = (struct strings_offsets){ stack, argc, file, 0, o->status };
	if (info >= 0 && status >= 0)
		o->status = info + status;
}

int strings_attach_execs(struct strings_plan *p)
{
	static struct bpf_code c;
	struct strings_offsets o;

	strings_find_offsets(p, &o);
	c = (struct bpf_code){ .slots = slots };
	program_begins(&c, p, &o);
	if (strings_attach(p, &c, "sched_process_exec", 1) < 0)
		return -1;
	return p->failed ? attach_calls(p, execs, sizeof(execs) / sizeof(*execs)) : 0;
}
