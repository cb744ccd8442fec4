/* SPDX-License-Identifier: ISC */
/*
 * graph.c - print the records of the tracer function_graph as the kernel does
 *
 * An entry and an exit of a function are two records. If the next record of the processor is
 * the exit of the same call, both are one line with a semicolon. Otherwise the entry has a
 * brace, and the exit the closing brace and the duration
 * (kernel/trace/trace_functions_graph.c, print_graph_entry, print_graph_return).
 */
#include <stdlib.h>

#include "base/base.h"
#include "event/event.h"
#include "event/vm.h"

/* The kernel follows calls to this depth; a damaged record may claim any. */
enum { MOST_DEPTH = 50, MOST_INDENT = 200 };

/* What a processor runs. */
struct graph_cpu {
	int seen, pid;
	uint64_t open[MOST_DEPTH];      /* the functions that have been entered, by depth */
	int leaf;                       /* the next exit is printed already: of this call */
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

static void put_blanks(struct out *o, uint64_t n)
{
	for (; n; n--)
		out_char(o, ' ');
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
	out_text(o, ") ", 2);
}

/* Write COMM-PID in the middle of 14 columns; a name has seven letters. */
static void put_task(struct out *o, const struct event_set *evs, int pid)
{
	char text[32];
	struct out word = out_to(text, sizeof(text));
	const char *name = line_task_name(evs, pid);
	size_t n, blanks;

	name = name ? name : "<...>";
	out_text(&word, name, strnlen(name, 7));
	if (!evs->exact)
		text_mask_controls(text, word.at);
	out_char(&word, '-');
	out_signed(&word, pid);
	n = (size_t)(word.at - text);
	blanks = n < 14 ? 14 - n : 0;
	put_blanks(o, blanks / 2);
	out_text(o, text, n);
	put_blanks(o, blanks - blanks / 2);
}

/* If another task runs on the processor now, say so. */
static void put_switch(struct out *o, const struct event_set *evs, const struct line_graph *g,
		       struct graph_cpu *c, int cpu, int pid)
{
	static const char rule[] = " ------------------------------------------\n";

	if (c && c->seen && c->pid != pid) {
		out_string(o, rule);
		put_cpu(o, g, cpu);
		put_task(o, evs, c->pid);
		out_text(o, " => ", 4);
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
	static const struct conversion three = { .letter = 'u', .size = 4, .flags = F_ZERO };
	char fraction[8], mark = ' ', *first;
	size_t len, room;

	for (size_t i = sizeof(marks) / sizeof(*marks); i--;)
		mark = ns > marks[i].above ? marks[i].mark : mark;
	out_char(o, mark);
	out_char(o, ' ');
	first = o->at;
	out_decimal(o, ns / 1000);
	len = (size_t)(o->at - first);
	if (len < 7) {
		struct out f = out_to(fraction, sizeof(fraction));

		out_number(&f, &three, 3, -1, ns % 1000);
		room = 7 - len < 3 ? 7 - len : 3;
		out_char(o, '.');
		out_text(o, fraction, room);
		len += 1 + room;
	}
	out_text(o, " us ", 4);
	put_blanks(o, len < 8 ? 8 - len : 0);
	out_text(o, "|  ", 3);
}

/* Write the name of a function. */
static void put_function(struct event_set *evs, struct out *o, uint64_t func)
{
	out_symbol(evs, o, func, 0, 0, 0);
}

int graph_kind(const struct event_set *evs, const struct record *r)
{
	unsigned id = record_id(evs, r);

	return !id ? GRAPH_NONE : id == evs->graph_exit ? GRAPH_EXIT :
	       id == evs->graph_entry || id == evs->graph_retaddr ? GRAPH_ENTRY : GRAPH_NONE;
}

/*
 * Is the record the exit of this call? Set *ns to its duration.
 */
static int is_exit_of(const struct event_set *evs, const struct record *r, int pid, uint64_t func,
		      uint64_t depth, uint64_t *ns)
{
	uint64_t f, d, from, to;

	if (!r || graph_kind(evs, r) != GRAPH_EXIT || record_pid(evs, r) != pid ||
	    !number(evs, r, "func", &f) || f != func || !number(evs, r, "depth", &d) ||
	    d != depth || !number(evs, r, "calltime", &from) || !number(evs, r, "rettime", &to))
		return 0;
	*ns = to - from;
	return 1;
}

size_t graph_print(struct line_format *l, const struct record *r, char *buf, size_t size)
{
	struct event_set *evs = l->events;
	struct line_graph *g = l->graph;
	struct out o = out_to(buf, size);
	int kind = graph_kind(evs, r), cpu = r->cpu, pid = record_pid(evs, r), named = 0, returns;
	struct graph_cpu *c = cpu_at(g, cpu);
	uint64_t func = 0, depth = 0, from = 0, to = 0, ns, caller = 0;

	number(evs, r, "func", &func);
	number(evs, r, "depth", &depth);
	if (kind == GRAPH_EXIT && c && c->leaf && c->func == func && c->depth == depth) {
		c->leaf = 0;
		return 0;
	}
	if (c)
		c->leaf = 0;
	put_switch(&o, evs, g, c, cpu, pid);
	put_cpu(&o, g, cpu);
	if (kind == GRAPH_EXIT) {
		number(evs, r, "calltime", &from);
		number(evs, r, "rettime", &to);
		put_duration(&o, to - from);
		if (c && depth < MOST_DEPTH) {
			named = c->open[depth] != func;
			c->open[depth] = 0;
		}
		put_blanks(&o, 2 * (depth < MOST_INDENT ? depth : MOST_INDENT));
		out_char(&o, '}');
		if (named) {
			out_text(&o, " /* ", 4);
			put_function(evs, &o, func);
			out_text(&o, " */", 3);
		}
		out_char(&o, '\n');
		return (size_t)(o.at - buf);
	}
	returns = number(evs, r, "retaddr", &caller);
	/* r is not valid any more when the next record is read */
	if (is_exit_of(evs, c && g->peek ? g->peek(g->arg) : NULL, pid, func, depth, &ns)) {
		put_duration(&o, ns);
		if (c) {
			c->leaf = 1;
			c->func = func;
			c->depth = depth;
		}
	} else {
		out_string(&o, "              |  ");
		named = 1;
	}
	if (c && depth < MOST_DEPTH)
		c->open[depth] = named ? func : 0;
	put_blanks(&o, 2 * (depth < MOST_INDENT ? depth : MOST_INDENT));
	put_function(evs, &o, func);
	out_string(&o, named ? "() {" : "();");
	if (returns) {
		out_text(&o, " /* <-", 6);
		out_symbol(evs, &o, caller, 1, 0, 8);
		out_text(&o, " */", 3);
	}
	out_char(&o, '\n');
	return (size_t)(o.at - buf);
}

void graph_end(struct line_graph *g)
{
	free(g->v);
	g->v = NULL;
	g->room = 0;
}
