/* SPDX-License-Identifier: ISC */
/*
 * chains - make chains of calls that are known, of every kind that C has
 *
 *	chains [-x] MODE [N]	make the chain N times (10), below 0, 1, 2 ... calls
 *	chains -l		print the modes
 *
 * Each ends in getppid. -x prints the functions of each chain in its place, innermost first:
 * those of this file that are not between a jump and its end.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <ftw.h>
#include <link.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "chains.h"
#ifdef __GLIBC__
#include <printf.h>
#include <ucontext.h>
#endif

/* ---- frames of a function -------------------------------------------------------------- */

static long plain(void)
{
	return deepest();
}

/* all registers that a function has to keep hold something */
static FUNCTION long saved(void)
{
	long a = number, b = 2, c = 3, d = 4, e = 5, f = 6, result;
	HERE;

	for (int i = 0; i < 2; i++) {
		AFTER(a), AFTER(b), AFTER(c), AFTER(d), AFTER(e), AFTER(f);
		result = deepest();
		a += b, b ^= c, c += d, d ^= e, e += f, f ^= a;
	}
	AFTER(a), AFTER(b), AFTER(c), AFTER(d), AFTER(e), AFTER(f);
	return result + (a & b & c & d & e & f);
}

static long recursion(void)
{
	return again(180 + number % 21, deepest);
}

static FUNCTION long third_jump(long a)
{
	AFTER(a);
	return deepest();
}

static FUNCTION long second_jump(long a)
{
	AFTER(a);
	return third_jump(a + 1);
}

/* its callees are jumped to, and have no frame when the chain ends */
static FUNCTION long jumps(void)
{
	long result;
	HERE;

	result = second_jump(number);
	AFTER(result);
	return result;
}

static FUNCTION long variable(void)
{
	char *room = alloca((size_t)(100 + 50 * number));
	long result;
	HERE;

	room[0] = 1;
	AFTER(room);
	result = deepest();
	AFTER(room);
	return result;
}

static FUNCTION long array(void)
{
	char room[100 + 50 * number];
	long result;
	HERE;

	room[0] = 1;
	__asm__ volatile("" : : "r"(room) : "memory");
	result = deepest();
	AFTER(result);
	return result;
}

static FUNCTION long takes(long a, long b, long c, long d, long e, long f, long g, long h)
{
	char room[64] __attribute__((aligned(64)));
	char *more = alloca((size_t)(16 * (number + 1)));
	long result;
	HERE;

	room[0] = more[0] = (char)(a + b + c + d + e + f + g + h);
	__asm__ volatile("" : : "r"(room), "r"(more) : "memory");
	result = deepest();
	AFTER(result);
	return result + g + h;
}

/* the stack is aligned anew, and arguments lie in the caller's frame */
static FUNCTION long aligned(void)
{
	long result;
	HERE;

	result = takes(number, 2, 3, 4, 5, 6, 7, 8);
	AFTER(result);
	return result;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static FUNCTION long wide(void)
{
	typedef long v4 __attribute__((vector_size(32)));
	volatile v4 kept = { number, 1, 2, 3 };
	long result;
	HERE;

	result = deepest();
	AFTER(result);
	return result + kept[0];
}

__attribute__((force_align_arg_pointer)) static FUNCTION long realigned(void)
{
	long result;
	HERE;

	result = deepest();
	AFTER(result);
	return result;
}

/* it keeps more registers, xmm6 to xmm15 among them */
__attribute__((ms_abi)) static FUNCTION long foreign(long a, long b, long c, long d, long e)
{
	long result;
	HERE;

	result = deepest();
	AFTER(result);
	return result + a + b + c + d + e;
}

static FUNCTION long windows(void)
{
	long result;
	HERE;

	result = foreign(1, 2, 3, 4, number);
	AFTER(result);
	return result;
}
#endif

/* frames of up to 80 KB */
static FUNCTION long big(void)
{
	char room[1 + 4096 * number];
	long result;
	HERE;

	for (int i = 0; i < number; i++)
		room[4096 * i] = 1;
	__asm__ volatile("" : : "r"(room) : "memory");
	result = deepest();
	AFTER(result);
	return result;
}

__attribute__((cold)) static FUNCTION long rare(void)
{
	long result;
	HERE;

	result = deepest();
	AFTER(result);
	return result;
}

/* the part that calls is far from the function's begin */
static FUNCTION long split(void)
{
	static int odd = 1;
	long result = 0;
	HERE;

	AFTER(odd);
	if (odd) {
		result = rare();
		AFTER(result);
	}
	return result;
}

/* ---- jumps out of functions ------------------------------------------------------------ */

static sigjmp_buf back;

static _Noreturn FUNCTION void ends(void)
{
	HERE;

	deepest();
	siglongjmp(back, 1);
}

/* the address after its last call is the next function's */
static _Noreturn FUNCTION void never_returns(void)
{
	HERE;

	ends();
}

static FUNCTION long noreturn(void)
{
	struct here *volatile kept;
	long result;
	HERE;

	kept = inmost;
	if (!sigsetjmp(back, 1))
		never_returns();
	inmost = kept;
	result = deepest();
	AFTER(result);
	return result;
}

static void jumps_out(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static FUNCTION void hear(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &action, NULL);
}

static FUNCTION long longjmp_out(void)
{
	struct here *volatile kept;
	long result;
	HERE;

	kept = inmost;
	hear(SIGUSR1, jumps_out, 0);
	if (!sigsetjmp(back, 1)) {
		raise(SIGUSR1);
		return -1;
	}
	inmost = kept;
	result = deepest();
	AFTER(result);
	return result;
}

/* ---- signals --------------------------------------------------------------------------- */

static volatile sig_atomic_t heard;

static void handler(int sig)
{
	HERE;

	(void)sig;
	deepest();
	heard++;
}

static void raises(int sig)
{
	HERE;

	(void)sig;
	raise(SIGUSR2);
	heard++;
}

static FUNCTION long signalled(void)
{
	long result;
	HERE;

	hear(SIGUSR1, handler, 0);
	result = raise(SIGUSR1);
	AFTER(result);
	return result;
}

static FUNCTION long nested(void)
{
	long result;
	HERE;

	hear(SIGUSR1, raises, SA_NODEFER);
	hear(SIGUSR2, handler, 0);
	result = raise(SIGUSR1);
	AFTER(result);
	return result;
}

static FUNCTION long spins(long a, long b)
{
	a += b;
	AFTER(a);
	return a;
}

/* a signal comes at any instruction, and its handler has a stack of its own */
static FUNCTION long alarmed(void)
{
	struct itimerval soon = { .it_value.tv_usec = 500 + 37 * number };
	stack_t stack = { .ss_size = 1 << 17, .ss_sp = malloc(1 << 17) };
	long result = 0;
	HERE;

	sigaltstack(&stack, NULL);
	hear(SIGALRM, handler, number % 2 ? SA_ONSTACK : 0);
	heard = 0;
	setitimer(ITIMER_REAL, &soon, NULL);
	while (!heard)
		result = spins(result, 3);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
	return result;
}

static char *closed;

static void opens(int sig)
{
	HERE;

	(void)sig;
	deepest();
	mprotect(closed, 4096, PROT_READ | PROT_WRITE);
}

/* a fault within libc */
static FUNCTION long faults(void)
{
	char from[100] = { 1 };
	HERE;

	hear(SIGSEGV, opens, 0);
	closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(closed + number, from, (size_t)(80 + number % 10));
	munmap(closed, 4096);
	return 0;
}

/* ---- functions that others call ---------------------------------------------------------- */

static int compares(const void *a, const void *b)
{
	const int *x = a, *y = b;
	HERE;

	deepest();
	return (*x > *y) - (*x < *y);
}

static FUNCTION long sorts(void)
{
	int numbers[] = { 3, 1, 2 };
	HERE;

	qsort(numbers, 3, sizeof(*numbers), compares);
	return 0;
}

static FUNCTION long searches(void)
{
	/* libc's own, not the one of its header */
	void *(*volatile search)(const void *, const void *, size_t, size_t,
				 int (*)(const void *, const void *)) = bsearch;
	int numbers[] = { 1, 2, 3, 4, 5 }, key = number % 6;
	HERE;

	search(&key, numbers, 5, sizeof(*numbers), compares);
	return 0;
}

static void visits(const void *node, VISIT which, int depth)
{
	HERE;

	(void)node;
	(void)depth;
	if (which == leaf || which == postorder)
		deepest();
}

static FUNCTION long walks(void)
{
	static int numbers[] = { 3, 1, 2 };
	void *root = NULL;
	HERE;

	for (int i = 0; i < 3; i++)
		tsearch(numbers + i, &root, compares);
	twalk(root, visits);
	for (int i = 0; i < 3; i++)
		tdelete(numbers + i, &root, compares);
	return 0;
}

static int loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	HERE;

	(void)info;
	(void)size;
	(void)arg;
	deepest();
	return 1;
}

static FUNCTION long iterates(void)
{
	long result;
	HERE;

	result = dl_iterate_phdr(loaded, NULL);
	AFTER(result);
	return result;
}

static int enters(const char *path, const struct stat *s, int type)
{
	HERE;

	(void)path;
	(void)s;
	(void)type;
	deepest();
	return 0;
}

static FUNCTION long trees(void)
{
	long result;
	HERE;

	result = ftw("/dev/null", enters, 2);
	AFTER(result);
	return result;
}

static ssize_t writes(void *cookie, const char *buf, size_t n)
{
	HERE;

	(void)cookie;
	(void)buf;
	deepest();
	return (ssize_t)n;
}

/* through the streams of libc */
static FUNCTION long prints(void)
{
	FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = writes });
	HERE;

	setvbuf(f, NULL, _IONBF, 0);
	fprintf(f, "%d\n", number);
	return fclose(f);
}

static pthread_once_t once;

static void first(void)
{
	HERE;

	deepest();
}

static FUNCTION long only_once(void)
{
	HERE;

	once = (pthread_once_t)PTHREAD_ONCE_INIT;
	return pthread_once(&once, first);
}

/* ---- threads --------------------------------------------------------------------------- */

static void *thread(void *arg)
{
	HERE;

	again(*(int *)arg % 7, deepest);
	return NULL;
}

static FUNCTION long run_thread(void *(*begin)(void *))
{
	pthread_t t;

	if (!pthread_create(&t, NULL, begin, &number))
		pthread_join(t, NULL);
	return 0;
}

static long threads(void)
{
	return run_thread(thread);
}

static FUNCTION void cleans(void *arg)
{
	HERE;

	(void)arg;
	deepest();
}

/* the unwinder of libgcc calls what is to be cleaned up */
static void *exits(void *arg)
{
	HERE;

	pthread_cleanup_push(cleans, arg);
	pthread_exit(arg);
	pthread_cleanup_pop(1);
	return arg;
}

static long thread_exits(void)
{
	return run_thread(exits);
}

static pthread_key_t key;

static void drops(void *arg)
{
	HERE;

	(void)arg;
	deepest();
}

static void *holds(void *arg)
{
	pthread_key_create(&key, drops);
	pthread_setspecific(key, &key);
	return arg;
}

static FUNCTION long thread_keys(void)
{
	run_thread(holds);
	pthread_key_delete(key);
	return 0;
}

/* ---- processes --------------------------------------------------------------------------- */

static char self[PATH_MAX];

static FUNCTION long waits(pid_t child)
{
	return waitpid(child, NULL, 0);
}

static FUNCTION long forks(void)
{
	pid_t child;
	HERE;

	child = fork();
	if (child) {
		waits(child);
		_exit(0); /* what is left is the child's */
	}
	return again(3, deepest);
}

static FUNCTION void execute(const char *mode, const char *n)
{
	execl(self, self, print_only ? "-x" : mode, print_only ? mode : n, print_only ? n : NULL,
	      (char *)NULL);
	_exit(127);
}

static FUNCTION long vforks(void)
{
	pid_t child;
	HERE;

	child = vfork();
	if (!child)
		execute("saved", "5");
	return waits(child);
}

#define COPY "chains.gone"

/* The program removes its own file, if it is a copy. */
static FUNCTION long removed(void)
{
	if (!strcmp(strrchr(self, '/') + 1, COPY))
		unlink(self);
	return saved();
}

/* Execute a copy of this program that removes itself. */
static long gone(void)
{
	char path[PATH_MAX], buf[1 << 16];
	const char *dir = getenv("TMPDIR");
	int from = open(self, O_RDONLY), to;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/" COPY, dir ? dir : "/tmp");
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	while ((n = read(from, buf, sizeof(buf))) > 0 && write(to, buf, (size_t)n) == n)
		;
	close(to);
	memcpy(self, path, sizeof(self));
	execute("removed", "10");
	return 0;
}

static int begun; /* before main, and after it */

__attribute__((constructor)) static void begins(void)
{
	HERE;

	begun = !!getenv("CHAINS_BEGIN");
	print_only = begun && !!getenv("CHAINS_PRINT");
	if (begun)
		deepest();
}

__attribute__((destructor)) static void over(void)
{
	HERE;

	if (begun)
		deepest();
}

static void at_exit(void)
{
	HERE;

	deepest();
}

static long nothing(void)
{
	return 0;
}

/* Execute this program, whose constructor, destructor and function of atexit end a chain. */
static long outside_main(void)
{
	static int once_only;

	if (begun) {
		if (!once_only++)
			atexit(at_exit);
		return 0;
	}
	setenv("CHAINS_BEGIN", "1", 1);
	if (print_only)
		setenv("CHAINS_PRINT", "1", 1);
	execute("outside-main", "1");
	return 0;
}

/* ---- code of others ------------------------------------------------------------------------ */

/* a library that comes and goes */
static FUNCTION long loads(void)
{
	char path[PATH_MAX + 20];
	long (*function)(long (*)(void));
	void *library, *found;
	long result;
	HERE;

	snprintf(path, sizeof(path), "%.*schainlib.so", (int)(strrchr(self, '/') + 1 - self), self);
	library = dlopen(path, RTLD_LAZY);
	found = library ? dlsym(library, "library_calls") : NULL;
	if (!found)
		return -1;
	memcpy(&function, &found, sizeof(function));
	result = function(deepest);
	AFTER(result);
	dlclose(library);
	return result;
}

static long vdso(void)
{
	in_vdso = 1;
	return saved();
}

#ifdef __GLIBC__
static ucontext_t outer, inner;

static void coroutine(void)
{
	struct here *out = inmost, *in;

	inmost = NULL;
	{
		HERE;

		again(2, deepest);
		in = inmost;
		inmost = out;
		swapcontext(&inner, &outer);
		inmost = in;
		again(number % 5, deepest);
	}
	inmost = out;
}

/* a function that runs on a stack of its own, and is left and entered again */
static FUNCTION long coroutines(void)
{
	static char stack[1 << 17];
	HERE;

	getcontext(&inner);
	inner.uc_stack.ss_sp = stack;
	inner.uc_stack.ss_size = sizeof(stack);
	inner.uc_link = &outer;
	makecontext(&inner, coroutine, 0);
	swapcontext(&outer, &inner);
	deepest();
	swapcontext(&outer, &inner);
	return 0;
}

static int converts(FILE *f, const struct printf_info *info, const void *const *args)
{
	HERE;

	(void)info;
	(void)args;
	deepest();
	return fprintf(f, "W");
}

static int describes(const struct printf_info *info, size_t n, int *types, int *sizes)
{
	(void)info;
	(void)sizes;
	if (n)
		*types = PA_INT;
	return 1;
}

static FUNCTION long formats(void)
{
	char buf[100], how[] = "%W %d";
	HERE;

	register_printf_specifier('W', converts, describes);
	return snprintf(buf, sizeof(buf), how, 1, number);
}
#endif

/* ---- hand-written code: twists.S --------------------------------------------------------- */

#ifdef __x86_64__
#define TWISTS(X) \
	X(pushes) X(held) X(saved_low) X(expression) X(spilled) X(in_register) X(remembered) \
	X(offset) X(value) X(undefined) X(bare) X(bare_frame)

/* with a frame pointer, which every twist loses or moves */
#define TWIST(NAME) \
	long twist_##NAME(long (*what)(void)); \
	static FUNCTION long calls_##NAME(void) \
	{ \
		char *room = alloca((size_t)(10 * number + 1)); \
		long result; \
		HERE; \
\
		room[0] = 1; \
		AFTER(room); \
		result = twist_##NAME(deepest); \
		AFTER(result); \
		return result; \
	}

TWISTS(TWIST)
#endif

/* ---- */

#define MODE_OF_TWIST(NAME) { "twist-" #NAME, calls_##NAME },

static const struct mode modes[] = {
	{ "plain", plain },
	{ "saved", saved },
	{ "recursion", recursion },
	{ "jumps", jumps },
	{ "alloca", variable },
	{ "array", array },
	{ "aligned", aligned },
#ifdef __x86_64__
	{ "wide", wide },
	{ "realigned", realigned },
	{ "windows", windows },
#endif
	{ "big", big },
	{ "split", split },
	{ "noreturn", noreturn },
	{ "longjmp", longjmp_out },
	{ "signal", signalled },
	{ "nested", nested },
	{ "alarm", alarmed },
	{ "fault", faults },
	{ "qsort", sorts },
	{ "bsearch", searches },
	{ "twalk", walks },
	{ "phdr", iterates },
	{ "ftw", trees },
	{ "stdio", prints },
	{ "once", only_once },
	{ "threads", threads },
	{ "thread-exit", thread_exits },
	{ "thread-key", thread_keys },
	{ "fork", forks },
	{ "vfork", vforks },
	{ "gone", gone },
	{ "removed", removed },
	{ "outside-main", outside_main },
	{ "dlopen", loads },
	{ "vdso", vdso },
#ifdef __GLIBC__
	{ "coroutines", coroutines },
	{ "printf", formats },
#endif
#ifdef __x86_64__
	TWISTS(MODE_OF_TWIST)
#endif
	{ "nothing", nothing },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	HERE;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 111;
	return run_modes(modes, argc, argv);
}
