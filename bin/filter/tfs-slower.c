/* SPDX-License-Identifier: ISC */
/*
 * tfs-slower - print the calls of function_graph that took at least a given time
 *
 * Requires: only the text of function_graph on standard input, from the kernel, tfs-report or
 * trace-cmd report.
 * tfs-slower prints the lines whose duration, such as "1234.567 us", is at least
 * MICROSECONDS, the lines that begin with #, and the lines about lost events. It adds the
 * name of the function after a closing brace, unless another task ran on the CPU
 * meanwhile. tfs-slower ignores SIGINT, so that the program that makes the trace can
 * finish first.
 * Exit: 0 done, 1 no call took that long, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "help.h"
#include "seen/seen.h"

static const struct tool tool = { TOOL_TFS_SLOWER };

#define MOST_CPUS 4096 /* no names of functions are added for higher numbers */
#define MOST_DEPTH 64  /* of two columns each, see print_graph_entry_nested */

static struct input in; /* in.comments only counts the lines that are not understood */
static unsigned long least;
static int found;

/* The functions that have been entered on a CPU, by depth. */
static struct cpu {
	char *open[MOST_DEPTH];
} *cpus[MOST_CPUS];

/*
 * Return the bar after the duration, "1234.567 us |", and the whole microseconds in *us
 * (kernel/trace/trace_functions_graph.c, print_graph_duration). If the line has no
 * duration, return its last bar, with *us -1. Return NULL if the line is not a call.
 */
static const char *find_duration(const char *line, long long *us)
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
		/* text_digits would overflow with more digits, and 15 digits are 31 years */
		*us = strspn(p, "0123456789") > 15 ? LLONG_MAX : (long long)text_digits(&p);
		break;
	}
	return last;
}

/*
 * Return the CPU of the line, as in " 12) ..." of the kernel or "[012]" of trace-cmd report;
 * NULL if the line has none.
 */
static struct cpu *cpu_of(const char *line, const struct seen *l)
{
	const char *p = line + strspn(line, " "), *digits = p;
	unsigned long long n;

	if (l->cpu.n)
		digits = p = l->cpu.text;
	n = text_digits(&p);
	if (p == digits || *p != (l->cpu.n ? ']' : ')') || n >= MOST_CPUS)
		return NULL;
	if (!cpus[n])
		cpus[n] = xcalloc(1, sizeof(**cpus));
	return cpus[n];
}

/* Forget the functions of a CPU, because another task runs there now. */
static void forget(struct cpu *c)
{
	for (size_t i = 0; i < MOST_DEPTH; i++) {
		free(c->open[i]);
		c->open[i] = NULL;
	}
}

/* Return the place of the function at the depth of this line, or NULL if it is too deep. */
static char **at_depth(struct cpu *c, const char *text)
{
	size_t depth = strspn(text, " ") / 2;

	return c && depth < MOST_DEPTH ? &c->open[depth] : NULL;
}

/* Print the line if its call took at least so many microseconds. */
static void each_line(void)
{
	char *line = in.line;
	long long us;
	const char *bar = find_duration(line, &us), *text = bar ? bar + 1 : NULL;
	int event = input_look(&in), gap = comments_is_gap(line), slow;
	struct cpu *c = cpu_of(line, &in.l);
	char **open = text ? at_depth(c, text) : NULL;

	if (!event && !bar && in.l.miss != MISS_GRAPH)
		comments_miss(&in.comments, &in.l);
	if (*line == '#' || gap)
		stdout_print("%s\n", line);
	for (size_t i = 0; gap && i < MOST_CPUS; i++)
		if (cpus[i])
			forget(cpus[i]);
	if (c && !bar && strstr(line, " => "))
		forget(c);
	text = text ? text + strspn(text, " ") : NULL;
	slow = us >= 0 && (unsigned long long)us >= least;
	if (slow && open && *open && !strcmp(text, "}"))
		stdout_print("%s /* %s */\n", line, *open);
	else if (slow)
		stdout_print("%s\n", line);
	if (open) {
		size_t end = strlen(line);

		free(*open);
		*open = NULL;
		if (end > 4 && !strcmp(line + end - 4, "() {")) {
			line[end - 4] = '\0';
			*open = strdup(text);
		}
	}
	found |= slow;
}

int main(int argc, char **argv)
{
	opt_next(&tool, argc, argv);
	argv += opt_index;
	if (!*argv)
		usage_error(&tool, "no operand; give a number of microseconds");
	if (text_number(*argv, 0, ULONG_MAX, &least) < 0)
		usage_error(&tool, "not a number of microseconds: '%.80s'", *argv);
	in.whole = 1;
	input_takes_dat(&in);
	input_file(&in, &tool, argv + 1);
	input_each(&in, each_line);
	return input_end(&in, found ? NULL : "no call of function_graph took that long");
}
