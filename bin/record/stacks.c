/* SPDX-License-Identifier: ISC */
/*
 * stacks.c - find the functions of a user stack, from the registers and the memory of the stack
 *
 * The tables of .eh_frame of each file say where a function keeps the registers of its caller
 * (lib/elf/unwind.c). The memory that is read is the copy that a BPF program has made; nothing of
 * the task itself is read, because it runs on, or has ended. A frame is printed only if the step to
 * it was certain. Where it is not, the last line says why.
 */

#include "base/base.h"
#include "host/host.h"
#include "elf/elf.h"
#include "event/event.h"
#include "calls/calls.h"
#include "live/live.h"
#include "record.h"

enum { FRAMES_MOST = 1024, PAGE = 4096, ARGUMENTS_MOST = 1 << 20,
       STACK_AREA = 8 << 20 };


/* The registers by their DWARF numbers: their places in the kernel's struct pt_regs. */
#if defined(__aarch64__)
enum { NREGISTERS = 33, REG_SP = 31, REG_FP = 29 };
static unsigned place_of(unsigned reg)
{
	return reg; /* x0 to x30, sp, pc */
}
static int is_32(const uint64_t *kernel)
{
	return kernel[33] >> 4 & 1; /* pstate */
}
#else
enum { NREGISTERS = 17, REG_SP = 7, REG_FP = 6 };
static unsigned place_of(unsigned reg)
{
	static const uint8_t places[NREGISTERS] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2,
						    1, 0, 16 };

	return places[reg];
}
static int is_32(const uint64_t *kernel)
{
	return kernel[17] == 0x23; /* cs: __USER32_CS */
}
#endif

/* How stacks end; the first one is whole. */
enum stack_end {
	WHOLE, NO_TABLE, TOO_LONG, ABSENT, ELSEWHERE, UNKNOWN, STRANGE, PROBED, WIDTH, NO_ROOM,
	ENDS,
};
static const char *const ends[ENDS] = {
	[NO_TABLE] = "[no unwind table]", [TOO_LONG] = "[stack of more than 64 KiB]",
	[ABSENT] = "[page not in memory]", [ELSEWHERE] = "[another stack]",
	[UNKNOWN] = "[no file is known here]",
	[STRANGE] = "[unwind table not understood]", [PROBED] = "[return probe]",
	[WIDTH] = "[32-bit code]", [NO_ROOM] = "[more frames]",
};
static unsigned long long counts[ENDS];

/* A stack while its frames are found */
struct walk {
	struct stack_copy c;
	const unsigned char *bytes;     /* the memory from sp on, n bytes */
	uint64_t sp;
	size_t n;
	char *text;
	struct out o;
	enum stack_end why;             /* read_word has failed */
	int doubtful;                   /* a line says that a caller may be missing */
	const char *file;               /* of the last frame */
	int brief;                      /* name the file only if it is another one */
};

static int read_word(void *walk, uint64_t address, uint64_t *word)
{
	struct walk *w = walk;
	const uint64_t at = address - w->sp, from = w->sp % PAGE + at;

	w->why = at >= STACK_AREA ? ELSEWHERE : at + sizeof(*word) > STACK_MOST ? TOO_LONG : ABSENT;
	if (at >= w->n || w->n - at < sizeof(*word) || w->c.missing >> from / PAGE & 1 ||
	    w->c.missing >> (from + sizeof(*word) - 1) / PAGE & 1)
		return -1;
	memcpy(word, w->bytes + at, sizeof(*word));
	return 0;
}

/* Begin with the innermost frame. */
static void begin_walk(struct walk *w, struct unwind_frame *f)
{
	*f = (struct unwind_frame){ .interrupted = 1 };
	for (unsigned i = 0; i < NREGISTERS; i++) {
		f->reg[i] = w->c.kernel[place_of(i)];
		f->known |= 1ull << i;
	}
	f->pc = f->reg[NREGISTERS - 1];
	w->sp = f->reg[REG_SP];
	w->file = NULL;
	w->doubtful = 0;
}

/* Print a line for the frame. */
static void put_frame(struct walk *w, const struct unwind_frame *f, const struct program_place *at)
{
	if (w->o.at > w->text)
		out_char(&w->o, '\n');
	if (!at->file) {
		out_address(&w->o, f->pc);
		return;
	}
	programs_function(&w->o, at, !f->interrupted, !w->brief || at->file != w->file);
	w->file = at->file;
}

/*
 * Is this the outermost function of a program or thread? Each libc uses these names for it. Without
 * a name it is one of the few places of a file that its table leaves out, and the frame pointer is
 * 0, and the number of the program's arguments at the end of the stack, before a pointer to the
 * first one (System V ABI).
 */
static int is_outermost(struct walk *w, const struct unwind_frame *f,
			const struct program_place *at)
{
	static const char names[][8] = { "clone", "__clone", "clone3" };
	const uint64_t sp = f->reg[REG_SP];
	uint64_t words[2];

	if (at->name && !strcmp(at->name, "_start"))
		return 1;
	for (size_t i = 0; at->name && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(at->name, names[i]))
			return !f->interrupted; /* the parent's call returns there, too */
	return !at->name && at->tables && f->known >> REG_FP & 1 && !f->reg[REG_FP] &&
	       !read_word(w, sp, &words[0]) && words[0] < ARGUMENTS_MOST &&
	       !read_word(w, sp + 8, &words[1]) && words[1] - sp < STACK_AREA;
}

/* Code without a table: what is known of its frames */
enum code { NOTHING_KNOWN, TRAMPOLINE, MAY_HAVE_FP, HAS_FP };

/*
 * All code of V8 has a frame pointer. On x86-64, a function of Python is a trampoline, which pushes
 * a word and calls the interpreter (CPython, Python/asm_trampoline.S). Other JITs may have frame
 * pointers, such as Java with PreserveFramePointer.
 */
static enum code code_of(const struct program_place *at)
{
	static const char v8[][18] = { "JS:", "Script:", "Function:", "Eval:", "LazyCompile:",
				       "Builtin:", "BytecodeHandler:", "RegExp:" };

	if (!at->name)
		return NOTHING_KNOWN;
	if (at->kind != PLACE_OF_JIT)
		return strncmp(at->name, "Builtins_", 9) ? NOTHING_KNOWN : HAS_FP;
	for (size_t i = 0; i < sizeof(v8) / sizeof(*v8); i++)
		if (!strncmp(at->name, v8[i], strlen(v8[i])))
			return HAS_FP;
	return REG_FP == 6 && !strncmp(at->name, "py::", 4) ? TRAMPOLINE : MAY_HAVE_FP;
}

/* The word that a trampoline has pushed may be the frame pointer, which then has its address. */
static enum unwind_result leave_trampoline(struct walk *w, struct unwind_frame *f)
{
	const uint64_t sp = f->reg[REG_SP];
	uint64_t words[2];

	if (f->interrupted)
		return UNWIND_NO_TABLE;
	if (read_word(w, sp, &words[0]) < 0 || read_word(w, sp + 8, &words[1]) < 0)
		return UNWIND_NO_MEMORY;
	if (f->known >> REG_FP & 1 && f->reg[REG_FP] == sp)
		f->reg[REG_FP] = words[0];
	f->reg[REG_SP] = sp + 16;
	f->pc = words[1];
	return UNWIND_STEP;
}

/*
 * Go to the caller of a function without a table. The innermost function may not have made its
 * frame yet, or code that makes none is between: a line says that a caller may be missing.
 */
static enum unwind_result step_without(struct walk *w, struct unwind_frame *f,
				       const struct program_place *at)
{
	const uint64_t fp = f->reg[REG_FP];
	const enum code code = code_of(at);
	uint64_t words[2];

	if (is_outermost(w, f, at))
		return UNWIND_END;
	if (code == TRAMPOLINE)
		return leave_trampoline(w, f);
	if (!(f->known >> REG_FP & 1) || code == NOTHING_KNOWN || fp < f->reg[REG_SP])
		return UNWIND_NO_TABLE;
	if (read_word(w, fp, &words[0]) < 0 || read_word(w, fp + 8, &words[1]) < 0)
		return UNWIND_NO_MEMORY;
	if (!words[1])
		return UNWIND_END;
	if (code == MAY_HAVE_FP && words[0] <= fp)
		return UNWIND_NO_TABLE;
	if ((f->interrupted || code == MAY_HAVE_FP) && !w->doubtful++)
		out_string(&w->o, "\n[a caller may be missing]");
	*f = (struct unwind_frame){ .pc = words[1], .known = 1ull << REG_FP | 1ull << REG_SP };
	f->reg[REG_FP] = words[0];
	f->reg[REG_SP] = fp + 16;
	return UNWIND_STEP;
}

/* Print the frames. Return how the stack ends. */
static enum stack_end walk_stack(struct walk *w)
{
	struct unwind_frame f;

	begin_walk(w, &f);
	if (is_32(w->c.kernel)) {
		out_address(&w->o, f.pc);
		return WIDTH;
	}
	for (unsigned n = 0; n < FRAMES_MOST && w->o.at < w->o.end; n++) {
		const uint64_t pc = f.pc - !f.interrupted;
		struct program_place at;
		enum unwind_result r;

		programs_at(w->c.comm, w->c.head.pid, w->c.tgid, pc, &at);
		/*
		 * A function whose return has a probe returns to the beginning of the highest page
		 * (kernel/events/uprobes.c, xol_add_vma).
		 */
		if (!at.file && f.pc % PAGE == 0 && f.pc > w->sp)
			return PROBED;
		put_frame(w, &f, &at);
		if (!at.file)
			return UNKNOWN;
		r = at.tables ? elf_unwind_step(at.tables, at.offset, &f, read_word, w) :
		    UNWIND_NO_TABLE;
		if (r == UNWIND_NO_TABLE)
			r = step_without(w, &f, &at);
		if (r == UNWIND_END)
			return WHOLE;
		if (r == UNWIND_NO_MEMORY)
			return w->why;
		if (r != UNWIND_STEP)
			return r == UNWIND_NO_TABLE ? NO_TABLE : STRANGE;
	}
	return NO_ROOM;
}

static size_t stack_text(const unsigned char *data, size_t n, uint64_t ts, char *text, size_t size)
{
	struct walk w = { .bytes = data + sizeof(w.c), .n = n - sizeof(w.c), .text = text };
	enum stack_end end;

	memcpy(&w.c, data, sizeof(w.c));
	w.c.comm[sizeof(w.c.comm) - 1] = '\0';
	programs_learn(ts);
	do { /* a deep stack may have room only if its frames do not all name their files */
		w.o = out_to(text, size - 64);
		end = walk_stack(&w);
	} while (w.o.at == w.o.end && !w.brief++);
	if (w.o.at == w.o.end) {
		end = NO_ROOM;
		while (w.o.at > text && w.o.at[-1] != '\n')
			w.o.at--;
		w.o.at -= w.o.at > text;
	}
	w.o.end = text + size;
	if (end != WHOLE)
		out_format(&w.o, "\n%s", ends[end]);
	return (size_t)(w.o.at - text);
}

void stacks_count(const struct record *r)
{
	struct stack_record s;
	const char *text, *last;
	size_t n;
	int end = ENDS - 1;

	if (r->len < sizeof(s))
		return;
	memcpy(&s, r->data, sizeof(s));
	n = s.frames >> 16;
	if ((s.frames & 0xffff) + n > r->len || !n)
		return;
	text = (const char *)r->data + (s.frames & 0xffff);
	last = memrchr(text, '\n', n);
	last = last ? last + 1 : text;
	n -= (size_t)(last - text);
	while (end && (strlen(ends[end]) + 1 != n || memcmp(ends[end], last, n)))
		end--;
	counts[end]++;
}

int stacks_begin(const struct rings *rings, int instance)
{
	if (!rings_have(rings, RINGS_STACKS))
		return 0;
	mappings_open(instance);
	rings_name_stacks(rings, stack_text);
	return 1;
}

size_t stacks_told(char *text, size_t size)
{
	struct out o = out_to(text, size - 1);
	unsigned long long all = 0;

	for (int i = 0; i < ENDS; i++)
		all += counts[i];
	if (!all)
		return 0;
	out_format(&o, "user stacks: %llu of %llu are whole", counts[WHOLE], all);
	for (int i = WHOLE + 1; i < ENDS; i++)
		if (counts[i])
			out_format(&o, ", %llu end with %s", counts[i], ends[i]);
	*o.at = '\0';
	return (size_t)(o.at - text);
}
