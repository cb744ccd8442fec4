/* SPDX-License-Identifier: ISC */
/*
 * graph.c - print the records of the tracer function_graph as the kernel does
 *
 * An entry and an exit of a function are two records. If the next record of the CPU is
 * the exit of the same call, both are one line with a semicolon. Otherwise the entry has a
 * brace, and the exit the closing brace and the duration
 * (kernel/trace/trace_functions_graph.c, print_graph_entry, print_graph_return).
 */

#include "base/base.h"
#include "event/event.h"
#include "event/vm.h"

/* The kernel follows calls to this depth; a damaged record may claim any. */
enum { MOST_DEPTH = 50, MOST_INDENT = 200 };

/* The task that a CPU runs. */
struct graph_cpu {
	int seen, pid;
	uint64_t open[MOST_DEPTH];      /* the functions that have been entered, by depth */
	int leaf;                       /* the next exit, of this call, is already printed */
	uint64_t func, depth;
};

/* Read the number in the field of that name. Return 1, or 0 if there is none. */
static int number(const struct event_set *evs, const struct record *r, const char *name,
		  uint64_t *v)
{
	const struct event *e = event_of(evs, r);
	const struct field *f = e ? event_field(e, name) : NULL;
	struct field_data data;

	if (!f || field_value(evs, f, r, &data) < 0)
		return 0;
	*v = data.u;
	return 1;
}

static struct graph_cpu *cpu_at(struct line_graph *g, int cpu)
{
	unsigned n = (unsigned)cpu;

	if (!g->room) {
		g->room = g->cpus ? g->cpus : 1;
		g->v = calloc(g->room, sizeof(*g->v));
	}
	return g->v && n < g->room ? &g->v[n] : NULL;
}

/* Write " CPU) ", as wide as the highest number. */
static void put_cpu(struct out *o, const struct line_graph *g, int cpu)
{
	static const struct conversion number = { .letter = 'u', .size = 4 };
	int wide = 1;

	for (unsigned n = g->cpus ? g->cpus - 1 : 0; n > 9; n /= 10)
		wide++;
	out_char(o, ' ');
	out_number(o, &number, wide, -1, (uint64_t)cpu);
	out_string(o, ") ");
}

/* Write COMM-PID in the middle of 14 columns, with at most seven letters of the name. */
static void put_task(struct out *o, const struct event_set *evs, int pid)
{
	char text[64];
	struct out word = out_to(text, sizeof(text));
	const char *name = line_task_name(evs, pid);
	size_t n;
	int spaces;

	name = name ? name : "<...>";
	out_escaped(&word, name, strnlen(name, 7), evs->exact ? ESCAPE_NOTHING : ESCAPE_NAME);
	out_char(&word, '-');
	out_signed(&word, pid);
	n = (size_t)(word.at - text);
	spaces = n < 14 ? 14 - (int)n : 0;
	out_fill(o, ' ', spaces / 2);
	out_text(o, text, n);
	out_fill(o, ' ', spaces - spaces / 2);
}

/* If another task runs on the CPU now, say so. */
static void put_switch(struct out *o, const struct event_set *evs, const struct line_graph *g,
		       struct graph_cpu *c, int cpu, int pid)
{
	static const char rule[] = " ------------------------------------------\n";

	if (c && c->seen && c->pid != pid) {
		out_string(o, rule);
		put_cpu(o, g, cpu);
		put_task(o, evs, c->pid);
		out_string(o, " => ");
		put_task(o, evs, pid);
		out_char(o, '\n');
		out_string(o, rule);
		out_char(o, '\n');
	}
	if (c) {
		c->seen = 1;
		c->pid = pid;
	}
}

/* Write the mark of a long duration, the duration in seven digits, and the bar. */
static void put_duration(struct out *o, uint64_t ns)
{
	static const struct { uint64_t above; char mark; } marks[] = {
		{ 1000000000, '$' }, { 100000000, '@' }, { 10000000, '*' }, { 1000000, '#' },
		{ 100000, '!' }, { 10000, '+' },
	};
	char text[32], mark = ' ';
	struct out digits = out_to(text, sizeof(text));
	size_t whole, len;

	for (size_t i = sizeof(marks) / sizeof(*marks); i--;)
		mark = ns > marks[i].above ? marks[i].mark : mark;
	out_decimals(&digits, ns, 3);
	len = (size_t)(digits.at - text);
	whole = len - 4;
	/* seven digits; the point may be the eighth character */
	len = whole >= 7 ? whole : len < 8 ? len : 8;
	out_format(o, "%c %.*s us ", mark, (int)len, text);
	out_fill(o, ' ', 8 - (int)len);
	out_string(o, "|  ");
}

int graph_kind(const struct event_set *evs, const struct record *r)
{
	unsigned id = record_id(evs, r);

	return !id ? GRAPH_NONE : id == evs->graph_exit ? GRAPH_EXIT :
	       id == evs->graph_entry || id == evs->graph_retaddr ? GRAPH_ENTRY : GRAPH_NONE;
}

/* A call of a function. */
struct graph_call {
	struct graph_cpu *cpu;  /* NULL: too many */
	uint64_t func, depth;
};

/* Is the record the exit of this call? Set *ns to its duration. */
static int is_exit_of(const struct event_set *evs, const struct record *r, int pid,
		      const struct graph_call *call, uint64_t *ns)
{
	uint64_t f, d, from, to;

	if (!r || graph_kind(evs, r) != GRAPH_EXIT || record_pid(evs, r) != pid ||
	    !number(evs, r, "func", &f) || f != call->func || !number(evs, r, "depth", &d) ||
	    d != call->depth || !number(evs, r, "calltime", &from) ||
	    !number(evs, r, "rettime", &to))
		return 0;
	*ns = to - from;
	return 1;
}

static void put_indent(struct out *o, uint64_t depth)
{
	out_fill(o, ' ', 2 * (int)(depth < MOST_INDENT ? depth : MOST_INDENT));
}

/* Write the exit of a function, with its name if the line of its entry is not known. */
static void put_exit(struct out *o, struct event_set *evs, const struct record *r,
		     const struct graph_call *call)
{
	uint64_t from = 0, to = 0, *open = NULL;

	number(evs, r, "calltime", &from);
	number(evs, r, "rettime", &to);
	put_duration(o, to - from);
	put_indent(o, call->depth);
	out_char(o, '}');
	if (call->cpu && call->depth < MOST_DEPTH)
		open = &call->cpu->open[call->depth];
	if (open && *open != call->func) {
		out_string(o, " /* ");
		out_symbol(evs, o, call->func, 0, 0, 0);
		out_string(o, " */");
	}
	if (open)
		*open = 0;
}

/* Write the entry of a function, and its exit if that comes next. */
static void put_entry(struct out *o, struct line_graph *g, struct event_set *evs,
		      const struct record *r, const struct graph_call *call)
{
	struct graph_cpu *c = call->cpu;
	int pid = record_pid(evs, r), leaf;
	uint64_t caller = 0, ns;
	int returns = number(evs, r, "retaddr", &caller);

	/* r is not valid any more when the next record is read */
	leaf = is_exit_of(evs, c && g->peek ? g->peek(g->arg) : NULL, pid, call, &ns);
	if (leaf) {
		put_duration(o, ns);
		c->leaf = 1;
		c->func = call->func;
		c->depth = call->depth;
	} else {
		out_string(o, "              |  ");
	}
	if (c && call->depth < MOST_DEPTH)
		c->open[call->depth] = leaf ? 0 : call->func;
	put_indent(o, call->depth);
	out_symbol(evs, o, call->func, 0, 0, 0);
	out_string(o, leaf ? "();" : "() {");
	if (returns) {
		out_string(o, " /* <-");
		out_symbol(evs, o, caller, 1, 0, 8);
		out_string(o, " */");
	}
}

size_t graph_print(struct line_format *l, const struct record *r, char *buf, size_t size)
{
	struct event_set *evs = l->events;
	struct graph_call call = { .cpu = cpu_at(l->graph, r->cpu) };
	struct out o = out_to(buf, size);
	int is_exit = graph_kind(evs, r) == GRAPH_EXIT, leaf = call.cpu && call.cpu->leaf;

	number(evs, r, "func", &call.func);
	number(evs, r, "depth", &call.depth);
	if (call.cpu)
		call.cpu->leaf = 0;
	if (is_exit && leaf && call.cpu->func == call.func && call.cpu->depth == call.depth)
		return 0;
	put_switch(&o, evs, l->graph, call.cpu, r->cpu, record_pid(evs, r));
	put_cpu(&o, l->graph, r->cpu);
	if (is_exit)
		put_exit(&o, evs, r, &call);
	else
		put_entry(&o, l->graph, evs, r, &call);
	out_char(&o, '\n');
	return (size_t)(o.at - buf);
}

void graph_end(struct line_graph *g)
{
	free(g->v);
	g->v = NULL;
	g->room = 0;
}
