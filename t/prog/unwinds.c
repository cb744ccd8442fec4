/* SPDX-License-Identifier: ISC */
/*
 * unwinds.c - unwind the own stack at each instruction, and compare the frames with backtrace(3)
 *
 * The processor traps after each instruction of the work: calls through a PLT that is bound
 * lazily, libc, alloca, recursion of 200, a signal's handler on both stacks, a longjmp, a thread.
 * The handler of the trap walks the stack from the registers of the trap by elf_unwind_step. On
 * arm64 a timer interrupts the work a thousand times instead, without handlers and the longjmp, and
 * only the frames above the function at work are compared: the trampoline of signals and PLTs have
 * no table there.
 *
 * Print the numbers of stops, of frames, of the deepest stack, and of stops that differ; the first
 * few of these on stderr. With an argument N, take the time of N walks instead; with one more, each
 * of them makes the rows anew.
 * Exit: 0 done, 3 another machine, or a libc without backtrace.
 */
#include <stdlib.h>
#ifdef __GLIBC__
#include <execinfo.h>
#define BACKTRACE
#endif
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <ucontext.h>

#include "base/base.h"
#include "elf/elf.h"

#if defined(BACKTRACE) && (defined(__x86_64__) || defined(__aarch64__))

enum { FILES = 32, FRAMES = 512, TRAP_FLAG = 0x100, ALT = 1 << 16, STOPS = 1000 };

static struct region {
	uint64_t from, to, offset;
	struct elf_unwind u;
} files[FILES];
static unsigned file_count;

/* The stacks, which may be read. */
static struct {
	uint64_t from, to;
} stacks[FILES];
static unsigned stack_count;

static char alternative[ALT];
static volatile int stepping;
static unsigned long stops, frames, deepest, differences;

static void add_stack(const void *p, size_t n)
{
	stacks[stack_count].from = (uintptr_t)p;
	stacks[stack_count++].to = (uintptr_t)p + n;
}

static void read_table(struct region *r, const char *path)
{
	struct stat st;
	int fd = *path == '/' ? open(path, O_RDONLY | O_CLOEXEC) : memfd_create("vdso", 0);

	if (*path != '/' && write(fd, (void *)(uintptr_t)r->from, r->to - r->from) < 0)
		perror("vdso");
	fstat(fd, &st);
	elf_unwind_read(fd, (uint64_t)st.st_size, &r->u);
	elf_unwind_check(&r->u);
	close(fd);
}

static void read_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], flags[8], path[256];
	unsigned long from, to, offset;

	while (f && fgets(line, sizeof(line), f)) {
		*path = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &from, &to, flags, &offset,
			   path) < 4)
			continue;
		if (!strcmp(path, "[stack]"))
			add_stack((void *)(from - (1 << 20)), to - from + (1 << 20));
		if (flags[2] != 'x' || (*path != '/' && strcmp(path, "[vdso]")))
			continue;
		files[file_count] = (struct region){ from, to, offset, { 0 } };
		read_table(&files[file_count++], path);
	}
	if (f)
		fclose(f);
}

static int stack_word(void *arg, uint64_t address, uint64_t *word)
{
	(void)arg;
	for (unsigned i = 0; i < stack_count; i++)
		if (address >= stacks[i].from && address < stacks[i].to) {
			memcpy(word, (void *)(uintptr_t)address, sizeof(*word));
			return 0;
		}
	return -1;
}

/* Put the frames into pcs. Return their number, and why there are no more. */
static int walk(struct unwind_frame *f, void **pcs, enum unwind_result *result)
{
	int n = 0;

	for (*result = UNWIND_STEP; *result == UNWIND_STEP && n < FRAMES;) {
		uint64_t place = f->pc - !f->interrupted;
		const struct region *r = files;

		pcs[n++] = (void *)(uintptr_t)f->pc;
		while (r < files + file_count && (place < r->from || place >= r->to))
			r++;
		*result = r == files + file_count ? UNWIND_NO_TABLE :
			  elf_unwind_step(&r->u, place - r->from + r->offset, f, stack_word, NULL);
	}
	return n;
}

static struct unwind_frame frame_of(const ucontext_t *c)
{
#ifdef __aarch64__
	struct unwind_frame f = { .known = 0xffffffff, .interrupted = 1 };

	for (unsigned i = 0; i < 31; i++)
		f.reg[i] = c->uc_mcontext.regs[i];
	f.reg[31] = c->uc_mcontext.sp;
	f.pc = c->uc_mcontext.pc;
#else
	static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP,
		REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	struct unwind_frame f = { .known = 0xffff, .interrupted = 1 };

	for (unsigned i = 0; i < 16; i++)
		f.reg[i] = (uint64_t)c->uc_mcontext.gregs[order[i]];
	f.pc = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
#endif
	return f;
}

static void tell(const char *who, void **pcs, int n)
{
	fprintf(stderr, "%s:", who);
	for (int i = 0; i < n && i < 20; i++) {
		const struct region *r = files;
		uint64_t pc = (uintptr_t)pcs[i];

		while (r < files + file_count && (pc < r->from || pc >= r->to))
			r++;
		if (r < files + file_count)
			pc += r->offset - r->from;
		fprintf(stderr, " %td:%llx", r - files, (unsigned long long)pc);
	}
	fputc('\n', stderr);
}

#ifdef __aarch64__
/* The frames above the function at work. */
static void *callers[FRAMES];
static int caller_count;
#endif

static void compare(const ucontext_t *c)
{
	void *own[FRAMES], *theirs[FRAMES];
	struct unwind_frame f = frame_of(c);
	enum unwind_result result;
	int n = walk(&f, own, &result), all, first;

#ifdef __aarch64__
	if (n == 1 && result == UNWIND_NO_TABLE)
		return; /* in a PLT */
	first = n > caller_count ? n - caller_count : 0;
	all = first + caller_count;
	memcpy(theirs, own, sizeof(own));
	memcpy(theirs + first, callers, (size_t)caller_count * sizeof(*callers));
#else
	all = backtrace(theirs, FRAMES);
	/* theirs begins in this handler */
	for (first = 0; first < all && theirs[first] != own[0];)
		first++;
	memmove(theirs, theirs + first, (size_t)(all - first) * sizeof(*theirs));
	all -= first;
#endif
	stops++;
	frames += (unsigned long)n;
	deepest = (unsigned long)n > deepest ? (unsigned long)n : deepest;
	if (result == UNWIND_END && n == all && !memcmp(own, theirs, (size_t)n * sizeof(*own)))
		return;
	if (differences++ < 10) {
		fprintf(stderr, "result %d\n", result);
		tell("own", own, n);
		tell("backtrace", theirs, all);
	}
}

static void trapped(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)sig, (void)info;
	if (stepping)
		compare(c);
#ifdef __x86_64__
	c->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	c->uc_mcontext.gregs[REG_EFL] |= stepping * TRAP_FLAG;
#endif
}

#define APART __attribute__((noinline))

APART static void begin(void)
{
#ifdef __x86_64__
	stepping = 1;
	__asm__ volatile("int3");
#else
	/* begin and its caller are the first two */
	caller_count = backtrace(callers, FRAMES) - 2;
	memmove(callers, callers + 2, (size_t)caller_count * sizeof(*callers));
	stepping = 1;
#endif
}

static void end(void)
{
	stepping = 0;
}

/* ---- the work ---------------------------------------------------------------------- */

static volatile int sink;

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

APART static void call_libc(void)
{
	int numbers[] = { 9, 2, 7, 4, 5 };
	char text[100];
	void *p;

	begin();
	qsort(numbers, 5, sizeof(int), compare_ints);
	snprintf(text, sizeof(text), "%d %s %f %a", numbers[0], "text", 0.1, 1e10);
	sink += (int)strtod(text, NULL);
	p = malloc(100000);
	memset(p, sink, 5000);
	free(p);
	sink += getppid() + (int)time(NULL);
	end();
}

APART static int sum(const int *v, int n)
{
	int all = 0;

	while (n--)
		all += v[n] * sink;
	return all;
}

/* The frame has a size that is not known, and is aligned, so that rules are expressions. */
APART static int allocate(int n)
{
	int __attribute__((aligned(64))) fixed[16], *v = __builtin_alloca((size_t)n * sizeof(*v));

	begin();
	for (int i = 0; i < n; i++)
		v[i] = fixed[i % 16] = i;
	sink += sum(v, n) + sum(fixed, 16);
	end();
	return sink;
}

APART static int recurse(int depth, int a, int b, int c, int d, int e, int f)
{
	int r;

	if (!depth) {
		begin();
		sink += sum((int[]){ a, b, c, d, e, f, sink, 8, 9 }, 9);
		end();
		return sink;
	}
	r = recurse(depth - 1, b, c, d, e, f, a + sink);
	return r + a * sink;
}

#ifdef __x86_64__
static jmp_buf out_of_here;

APART static void leave(int n)
{
	begin();
	longjmp(out_of_here, n);
}

APART static void jump(void)
{
	if (!setjmp(out_of_here))
		leave(sink | 1);
	end();
}

static void handler(int sig)
{
	sink += sig;
	allocate(20);
	begin();
	sink += sum((int[]){ sig, 2, 3 }, 3);
	end();
}

static void handle(int sig, int flags)
{
	struct sigaction a = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &a, NULL);
	raise(sig);
}
#endif

APART static void work(void)
{
	do {
		sink = 3;
		call_libc();
		allocate(33);
		recurse(200, 1, 2, 3, 4, 5, 6);
#ifdef __x86_64__
		jump();
		handle(SIGUSR1, 0);
		handle(SIGUSR2, SA_ONSTACK);
#endif
	} while (stops < STOPS);
}

static void *thread(void *arg)
{
	add_stack((char *)__builtin_frame_address(0) - (1 << 20), (1 << 20) + 4096);
	work();
	return arg;
}

/* ---- cost -------------------------------------------------------------------------- */

/* Print the time of n walks from the registers. Cold: each makes all rows anew. */
static void measure(const ucontext_t *c, unsigned long n, int cold)
{
	const uint64_t begun = time_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct unwind_frame f;
	void *pcs[FRAMES];
	enum unwind_result r;
	int found = 0;

	for (unsigned long i = 0; i < n; i++) {
		for (unsigned j = 0; cold && j < file_count; j++)
			elf_unwind_check(&files[j].u);
		f = frame_of(c);
		found = walk(&f, pcs, &r);
	}
	printf("%d frames, %lu ns of CPU time each\n", found, (unsigned long)
	       ((time_ns(CLOCK_PROCESS_CPUTIME_ID) - begun) / n / (unsigned long)found));
}

APART static void measure_below(int depth, unsigned long n, int cold)
{
	ucontext_t c;

	if (depth) {
		measure_below(depth - 1, n, cold);
		sink++;
	} else {
		getcontext(&c);
		measure(&c, n, cold);
	}
}

int main(int argc, char **argv)
{
	struct sigaction a = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO };
	stack_t alt = { .ss_sp = alternative, .ss_size = sizeof(alternative) };
	sigset_t alarms;
	pthread_t t;
	void *first[4];

	backtrace(first, 4); /* loads its library */
	read_maps();
	if (argc > 1) {
		measure_below(16, strtoul(argv[1], NULL, 10), argc > 2);
		return 0;
	}
#ifdef __x86_64__
	sigaction(SIGTRAP, &a, NULL);
#else
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 2000 }, { 0, 2000 } }, NULL);
#endif
	sigaltstack(&alt, NULL);
	add_stack(alternative, sizeof(alternative));
	work();
	sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
	pthread_create(&t, NULL, thread, NULL);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL); /* they are for the thread */
	pthread_join(t, NULL);
	printf("%lu stops, %lu frames, at most %lu, %lu differ\n", stops, frames, deepest,
	       differences);
	return 0;
}

#else

int main(void)
{
	return 3;
}

#endif
