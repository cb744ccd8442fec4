/* SPDX-License-Identifier: ISC */
/* numbers.c - names of errors, signals and system calls, as this host numbers them */
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"

/*
 * A table is all names, a NUL after each, and the numbers in the same order. An array of
 * pointers would need a relocation for each name, and an array of characters is padded.
 */
#define NAME(name) ENTRY(#name, name)

#define KERNEL_ERRORS \
	/* include/linux/errno.h: no program sees these, but a trace does */ \
	ENTRY("ERESTARTSYS", 512) ENTRY("ERESTARTNOINTR", 513) ENTRY("ERESTARTNOHAND", 514) \
	ENTRY("ENOIOCTLCMD", 515) ENTRY("ERESTART_RESTARTBLOCK", 516) ENTRY("EPROBE_DEFER", 517) \
	ENTRY("ENOTSUPP", 524)

#ifdef SIGSTKFLT
#define STACK_FAULT NAME(SIGSTKFLT)
#else
#define STACK_FAULT
#endif
#define SIGNALS \
	NAME(SIGHUP) NAME(SIGINT) NAME(SIGQUIT) NAME(SIGILL) NAME(SIGTRAP) NAME(SIGABRT) \
	NAME(SIGBUS) NAME(SIGFPE) NAME(SIGKILL) NAME(SIGUSR1) NAME(SIGSEGV) NAME(SIGUSR2) \
	NAME(SIGPIPE) NAME(SIGALRM) NAME(SIGTERM) NAME(SIGCHLD) NAME(SIGCONT) NAME(SIGSTOP) \
	NAME(SIGTSTP) NAME(SIGTTIN) NAME(SIGTTOU) NAME(SIGURG) NAME(SIGXCPU) NAME(SIGXFSZ) \
	NAME(SIGVTALRM) NAME(SIGPROF) NAME(SIGWINCH) NAME(SIGIO) NAME(SIGPWR) NAME(SIGSYS) \
	STACK_FAULT

#define ENTRY(name, number) name "\0"
static const char signal_names[] = SIGNALS;
static const char error_names[] =
#include "error_numbers.h" /* made by the Makefile from errno.h */
	KERNEL_ERRORS;
static const char syscall_names[] =
#include "syscall_numbers.h" /* made by the Makefile from sys/syscall.h */
;
#undef ENTRY
#define ENTRY(name, number) number,
static const short signal_numbers[] = { SIGNALS };
static const short error_numbers[] = {
#include "error_numbers.h"
	KERNEL_ERRORS
};
static const short syscall_numbers[] = {
#include "syscall_numbers.h"
};

#define COUNT(numbers) (sizeof(numbers) / sizeof(*(numbers)))

static const char *find(const char *names, const short *numbers, size_t n, int64_t number)
{
	for (size_t i = 0; i < n; i++) {
		if (numbers[i] != number)
			continue;
		while (i--)
			names += strlen(names) + 1;
		return names;
	}
	return NULL;
}

/* A trace has the same numbers again and again. */
enum { KNOWN_MOST = 512 };
struct known {
	int64_t number;
	const char *name;
	int asked;              /* number is set; name is NULL if it has none */
};

static const char *known(struct known *k, const char *names, const short *numbers, size_t n,
			 int64_t number)
{
	k += number & (KNOWN_MOST - 1);
	if (k->number != number || !k->asked)
		*k = (struct known){ number, find(names, numbers, n, number), 1 };
	return k->name;
}

const char *name_of_error(int64_t number)
{
	static struct known memo[KNOWN_MOST];

	return number <= 0 ? NULL : /* most calls succeed */
	       known(memo, error_names, error_numbers, COUNT(error_numbers), number);
}

int64_t error_of_result(int64_t result)
{
	return result < 0 && result >= -K_MAX_ERRNO ? -result : 0;
}

int64_t error_of_name(const char *name, size_t n)
{
	static struct known last;
	const char *s = error_names;

	if (last.name && !strncmp(last.name, name, n) && !last.name[n])
		return last.number;
	for (size_t i = 0; i < COUNT(error_numbers); i++, s += strlen(s) + 1)
		if (strlen(s) == n && !memcmp(s, name, n)) {
			last = (struct known){ error_numbers[i], s, 1 };
			return last.number;
		}
	return 0;
}

const char *name_of_signal(int64_t number)
{
	return find(signal_names, signal_numbers, COUNT(signal_numbers), number);
}

const char *exit_words(unsigned code, char text[EXIT_WORDS])
{
	unsigned sig = code & 0x7f;
	const char *name = name_of_signal(sig), *core = code & 0x80 ? " (core dumped)" : "";

	if (!sig)
		str_format(text, EXIT_WORDS, "exit %u", code >> 8 & 0xff);
	else if (name)
		str_format(text, EXIT_WORDS, "killed by %s%s", name, core);
	else
		str_format(text, EXIT_WORDS, "killed by signal %u%s", sig, core);
	return text;
}

const char *name_of_syscall(int64_t number)
{
	static struct known memo[KNOWN_MOST];

	return known(memo, syscall_names, syscall_numbers, COUNT(syscall_numbers), number);
}

const char *syscall_next(const char *name, int *number)
{
	static size_t i;

	i = name ? i + 1 : 0;
	name = name ? name + strlen(name) + 1 : syscall_names;
	if (i >= COUNT(syscall_numbers))
		return NULL;
	*number = syscall_numbers[i];
	return name;
}

/* The rows of syscall_names.in: a NUL follows each word, and another NUL each row. */
static const char function_rows[] =
#include "syscall_names.h"
	;

/* Return the next word of a row, NULL at its end. Set *weak if the word has a ~. */
static const char *next_name(const char *name, int *weak)
{
	name += strlen(name) + 1;
	*weak = *name == '~';
	return *name ? name + *weak : NULL;
}

/* A row, and the name of this host's call, or NULL until syscall_of_function has looked for it. */
struct function {
	const char *row, *call;
};

static int by_name(const void *function, const void *row)
{
	return strcmp(function, ((const struct function *)row)->row);
}

static struct function functions[256];
static size_t nfunctions;

static void read_functions(void)
{
	int weak;

	for (const char *s = nfunctions ? "" : function_rows; *s; s++) {
		functions[nfunctions++].row = s;
		for (const char *name = s; name; name = next_name(name, &weak))
			s = name + strlen(name) + 1;
	}
}

/* Return the row of the function, or NULL. */
static struct function *row_of(const char *function)
{
	read_functions();
	return bsearch(function, functions, nfunctions, sizeof(*functions), by_name);
}

enum serves syscall_serves(const char *function, const char *name)
{
	const struct function *f = row_of(function);
	const char *word = f ? f->row : NULL;
	int weak;

	if (!strcmp(function, name))
		return SERVES;
	while (word && (word = next_name(word, &weak)))
		if (!strcmp(word, name))
			return weak ? SERVES_IF_NO_OTHER : SERVES;
	return SERVES_NOT;
}

static int is_call_here(const char *name)
{
	const char *call = NULL;
	int n;

	while ((call = syscall_next(call, &n)))
		if (!strcmp(call, name))
			return 1;
	return 0;
}

const char *syscall_of_function(const char *function)
{
	struct function *f = row_of(function);
	const char *first = NULL;
	int weak;

	for (const char *name = f ? f->row : NULL; name && !f->call;) {
		name = next_name(name, &weak);
		if (!name || (!weak && is_call_here(name)))
			f->call = name ? name : first ? first : f->row;
		else if (!weak && !first)
			first = name;
	}
	return f ? f->call : function;
}

int syscall_is_other_name(const char *name)
{
	int weak;

	read_functions();
	for (size_t i = 0; i < nfunctions; i++)
		for (const char *word = functions[i].row; (word = next_name(word, &weak));)
			if (!strcmp(word, name) && strcmp(word, functions[i].row))
				return 1;
	return 0;
}

const char *syscall_of_name(const char *name)
{
	const char *call = syscall_of_function(name), *other = NULL;

	/* on a host that has both calls, such as s390, the function umount serves umount2 */
	if (is_call_here(name) && strcmp(name, "umount"))
		return name;
	if (is_call_here(call))
		return call;
	for (size_t i = 0; i < nfunctions; i++) {
		enum serves serves = syscall_serves(functions[i].row, name);

		call = syscall_of_function(functions[i].row);
		if (serves == SERVES_NOT || !is_call_here(call))
			continue;
		if (serves == SERVES)
			return call;
		other = call;
	}
	return other;
}

pid_t text_pid(const char *s)
{
	unsigned long n;

	return text_number(s, 1, K_PID_MAX_LIMIT, &n) < 0 ? 0 : (pid_t)n;
}
