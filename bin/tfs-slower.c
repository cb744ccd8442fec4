/* SPDX-License-Identifier: ISC */
/*
 * tfs-slower - let through the calls of function_graph that took so long
 *
 * Requires: nothing but function_graph's text on standard input.
 * A line whose duration, "1234.567 us", is MICROSECONDS or more goes through; so
 * do lines that begin with # or tell of lost events. A closing brace gets the name
 * of its function behind it, unless another task had the processor between. An
 * interrupt from the terminal is the trace's to hear.
 * Exit: 0 done, 1 nothing was so slow, 100 misused, 111 refused.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "filter/filter.h"

static const struct tool tool = {
	.name = "tfs-slower",
	.usage = "tfs-slower MICROSECONDS",
	.purpose = "let through the calls of function_graph that took so long",
	.letters = "",
};

#define MOST_CPUS 4096 /* as many as a kernel can be built for, and half of it again */
#define MOST_DEPTH 64  /* by two columns each; print_graph_entry_nested indents so */

/* The functions that are open on a processor, by depth. */
struct cpu {
	char *open[MOST_DEPTH];
};

/*
 * The bar behind the duration, "1234.567 us |" (kernel/trace/trace_functions_graph.c,
 * print_graph_duration), and its whole microseconds; without one the last bar, which
 * is there too, and -1. NULL: no line of a call.
 */
static const char *duration(const char *line, long long *us)
{
	const char *last = NULL, *end, *p;

	*us = -1;
	for (const char *bar = strchr(line, '|'); bar; bar = strchr(bar + 1, '|')) {
		last = bar;
		for (end = bar; end > line && end[-1] == ' '; end--)
			;
		if (end - line < 3 || strncmp(end - 3, " us", 3))
			continue;
		for (p = end -= 3; p > line && strchr("0123456789.", p[-1]); p--)
			;
		if (p == end)
			continue;
		/* more than 15 digits would be years */
		*us = strspn(p, "0123456789") > 15 ? LLONG_MAX : (long long)text_digits(&p);
		break;
	}
	return last;
}

static struct cpu *cpus[MOST_CPUS];

/* The line's processor, " 12) ...", which is made if need be; NULL: it has none. */
static struct cpu *cpu_of(const char *line)
{
	const char *p = line + strspn(line, " "), *digits = p;
	unsigned long long n = text_digits(&p);

	if (p == digits || *p != ')' || n >= MOST_CPUS)
		return NULL;
	if (!cpus[n] && !(cpus[n] = calloc(1, sizeof(**cpus))))
		err_exit(REFUSED, "out of memory");
	return cpus[n];
}

/* Another task has the processor. */
static void forget(struct cpu *c)
{
	for (size_t i = 0; i < MOST_DEPTH; i++) {
		free(c->open[i]);
		c->open[i] = NULL;
	}
}

/* Where the function of this line's depth is kept; NULL: too deep. */
static char **at_depth(struct cpu *c, const char *text)
{
	size_t depth = strspn(text, " ") / 2;

	return c && depth < MOST_DEPTH ? &c->open[depth] : NULL;
}

int main(int argc, char **argv)
{
	struct line_reader in = { 0 };
	unsigned long least;
	int found = 0;
	char *line;

	opt_next(&tool, argc, argv);
	argv += opt_index;
	if (!*argv || argv[1])
		usage_error(&tool, "how slow?");
	if (text_number(*argv, 0, ULONG_MAX, &least) < 0)
		usage_error(&tool, "not a number of microseconds: '%.80s'", *argv);
	confine();
	signal(SIGINT, SIG_IGN);
	while (line_read(&in, &line) >= 0) {
		long long us;
		const char *bar = duration(line, &us), *text = bar ? bar + 1 : NULL;
		struct cpu *c = cpu_of(line);
		char **open = text ? at_depth(c, text) : NULL;
		size_t end = strlen(line);
		int gap = remarks_is_gap(line);

		if (*line == '#' || gap)
			stdout_print("%s\n", line);
		for (size_t i = 0; gap && i < MOST_CPUS; i++)
			if (cpus[i])
				forget(cpus[i]);
		if (c && !bar && strstr(line, " => "))
			forget(c);
		text = text ? text + strspn(text, " ") : NULL;
		if (us >= 0 && (unsigned long long)us >= least) {
			int known = open && *open && !strcmp(text, "}");

			stdout_print("%s%s%s%s\n", line, known ? " /* " : "", known ? *open : "",
				     known ? " */" : "");
			found = 1;
		}
		if (open) {
			free(*open);
			*open = NULL;
		}
		if (open && end > 4 && !strcmp(line + end - 4, "() {")) {
			line[end - 4] = '\0';
			*open = strdup(text);
		}
	}
	stdout_flush();
	return found ? DONE : NO;
}
