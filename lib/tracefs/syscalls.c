/* SPDX-License-Identifier: ISC */
/*
 * syscalls.c - names of system calls from globs, classes and negations
 *
 * The names are those in events/syscalls, which the kernel's functions have, and the other names
 * of these calls: the function newstat is the call stat.
 */

#include "host/host.h"
#include "calls/calls.h"
#include "tracefs/tracefs.h"

#define EVENTS "events/syscalls"

/* Return the bit of a class of strace(1), which describes what a call works on, or 0. */
static unsigned class_of(const char *word)
{
	return role_of_word((struct text_part){ word, strlen(word) }) & ROLE_CLASSES;
}

/* Does this kernel have an event for the call? */
static int is_call(int root, const char *name)
{
	char path[512];

	return str_format(path, sizeof(path), EVENTS "/sys_enter_%s", name) < sizeof(path) &&
	       file_exists(root, path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Return the sorted names of all calls, and their number; NULL, silent. */
static char **all_calls(int root, size_t *n)
{
	char **v = NULL, **more;
	DIR *d = file_list(root, EVENTS);
	const char *name;

	*n = 0;
	while ((name = file_next(d))) {
		if (strncmp(name, "sys_enter_", 10) || !(more = array_more(v, *n, sizeof(*v))))
			continue;
		v = more;
		v[*n] = strdup(name + 10);
		*n += v[*n] != NULL;
	}
	array_sort(v, *n, sizeof(*v), by_name);
	return v;
}

/* Return the length of the beginning of a word that says whether it is an entry or a return. */
static size_t side_length(const char *word)
{
	return !strncmp(word, "sys_exit_", 9) ? 9 : !strncmp(word, "sys_enter_", 10) ? 10 : 0;
}

/* Return "sys_exit_" and the name as allocated text if the word has that prefix. */
static const char *with_side(int exits, const char *name)
{
	char *s = exits ? malloc(strlen(name) + sizeof("sys_exit_")) : NULL;

	if (s)
		str_format(s, strlen(name) + sizeof("sys_exit_"), "sys_exit_%s", name);
	return s ? s : name;
}

void syscalls_suggest(int root, const char *word, struct suggest *near)
{
	size_t n;
	char **all = all_calls(root, &n);

	near->word = word;
	for (size_t i = 0; i < n; i++)
		suggest_offer(near, all[i]);
	free(all);
}

/* The expansion of the words of one option. */
struct expansion {
	int root;
	const char *option;
	char **all;             /* the n calls of this kernel */
	size_t n, nout;
	char *chosen;           /* flags: for the entry of each call, then for each return */
	const char **out;
};

/* Choose the calls of a word, or, after "!" (not), leave them out. Return 0, or -1, reported. */
static int choose(struct expansion *x, const char *given, int not)
{
	const char *word = given + not;
	int exits = !strncmp(word, "sys_exit_", 9), any = 0;
	enum serves best = SERVES_IF_NO_OTHER;
	unsigned class;

	word += side_length(word);
	for (size_t i = 0; i < x->n && best < SERVES; i++)
		if (syscall_serves(x->all[i], word) == SERVES)
			best = SERVES;
	class = *word == '%' ? class_of(word + 1) : is_call(x->root, word) ? 0 : class_of(word);
	if (!class && *word == '%')
		return err_msg("--%s: no class of system calls '%.80s'; the classes are file, "
			       "desc, network, process, memory, signal, ipc", x->option, word);
	for (size_t i = 0; i < x->n; i++) {
		const char *call = x->all[i];

		if (class ? !(role_of_call(call)->is & class) :
			    !glob_matches(word, call) && syscall_serves(call, word) < best)
			continue;
		any = 1;
		x->chosen[i + (exits ? x->n : 0)] = !not;
	}
	if (any)
		return 0;
	if (word[strcspn(word, "*?[")])
		return err_msg("--%s: no system call of this kernel matches '%.80s'; syscall-nr "
			       "lists the names", x->option, word);
	if (not)
		return err_msg("--%s: no system call '%.80s' to leave out; syscall-nr lists the "
			       "names", x->option, word);
	x->out[x->nout++] = given; /* not known: the requirements of the hook refuse the word */
	return 0;
}

int syscalls_expand(int root, const char *option, const char ***v, size_t *n)
{
	struct expansion x = { .root = root, .option = option };
	int needed = 0, positive = 0;

	for (size_t i = 0; i < *n; i++) {
		const char *word = (*v)[i];

		/* is it more than the name of one call? */
		needed |= word[strcspn(word, "*?[!%")] ||
			  (class_of(word) && !is_call(root, word)) ||
			  syscall_is_other_name(word + side_length(word));
		positive |= *word != '!';
	}
	if (!needed || !file_exists(root, EVENTS))
		return 0;
	x.all = all_calls(root, &x.n);
	x.chosen = calloc(2 * x.n + 1, 1);
	x.out = calloc(2 * x.n + *n + 1, sizeof(*x.out));
	if (!x.all || !x.chosen || !x.out)
		return err_msg("out of memory");
	if (!positive)
		memset(x.chosen, 1, x.n);
	/* leave calls out after all others are in */
	for (int not = 0; not < 2; not++)
		for (size_t i = 0; i < *n; i++)
			if ((*(*v)[i] == '!') == not && choose(&x, (*v)[i], not) < 0)
				return -1;
	for (size_t i = 0; i < 2 * x.n; i++)
		if (x.chosen[i])
			x.out[x.nout++] = with_side(i >= x.n, x.all[i % x.n]);
	if (!x.nout)
		return err_msg("--%s: these words leave no system call", option);
	free(x.chosen);
	*v = x.out;
	*n = x.nout;
	return 0;
}
