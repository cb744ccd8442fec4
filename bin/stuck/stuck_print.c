/* SPDX-License-Identifier: ISC */
/* stuck_print.c - threads and their links as a tree, as JSON, and as a graph for dot(1) */

#include "stuck.h"

enum { MOST_LINKS = 16, DEEPEST = 40 };

static struct {
	struct strbuf text;
	int knots;
	size_t hidden;
} this;

/* Return text with escapes. It is valid until the next call. */
static const char *escaped(const char *s, enum escape how)
{
	strbuf_escaped(strbuf_empty(&this.text), s, strlen(s), how);
	strbuf_puts(&this.text, "");
	return this.text.text;
}

static const char *what_of(const struct thread *t)
{
	return t->what.text ? t->what.text : "waits";
}

/* ---- tree ------------------------------------------------------------------------------- */

static void print_thread(struct thread *, const char *relation, int depth);

/* Print a line that begins with the relation in the column of this depth. */
static void print_begin(const char *relation, int depth)
{
	stdout_print("%*s%s%s", 2 * depth, "", relation, *relation ? " " : "");
}

static void print_link(const struct link *l, int depth)
{
	const struct pids *all;

	if (!l->tgid) {
		stdout_print("%*s%s: %s\n", 2 * depth, "", l->relation,
			     escaped(l->text, ESCAPE_TEXT));
		return;
	}
	if (l->tid) {
		struct thread *t = thread_of(l->tid);

		if (t) {
			print_thread(t, l->relation, depth);
			return;
		}
	}
	all = process_threads(l->tgid);
	if (!all->n) {
		print_begin(l->relation, depth);
		stdout_print("%d, which has ended or may not be read\n", (int)l->tgid);
	}
	for (size_t i = 0; i < all->n; i++) {
		struct thread *t = thread_of(all->v[i]);

		if (t)
			print_thread(t, l->relation, depth);
	}
}

static void print_thread(struct thread *t, const char *relation, int depth)
{
	print_begin(relation, depth);
	if (t->tgid != t->task.pid)
		stdout_print("%d/", (int)t->tgid);
	stdout_print("%d %s", (int)t->task.pid, escaped(t->task.comm, ESCAPE_TEXT));
	if (t->printed || depth >= DEEPEST) {
		stdout_print(t->printed ? ", as above\n" : "...\n");
		return;
	}
	t->printed = 1;
	stdout_print(": %s%s\n", what_of(t), t->knot ? " [deadlock]" : "");
	for (size_t i = 0; i < t->nlinks; i++) {
		if (i == MOST_LINKS) {
			print_begin("and", depth + 1);
			stdout_print("%zu more\n", t->nlinks - i);
			break;
		}
		print_link(&t->links[i], depth + 1);
	}
}

static void count_knots(struct thread *t)
{
	if (t->knot > this.knots)
		this.knots = t->knot;
	this.hidden = t->hidden > this.hidden ? t->hidden : this.hidden;
}

static void print_member(struct thread *t)
{
	if (t->knot == this.knots)
		stdout_print(" %d", (int)t->task.pid);
}

void print_tree(const struct pids *roots)
{
	for (size_t i = 0; i < roots->n; i++) {
		struct thread *t = thread_of(roots->v[i]);

		if (t && !t->printed)
			print_thread(t, "", 0);
	}
	this.knots = 0;
	this.hidden = 0;
	threads_each(count_knots);
	for (int n = this.knots; n; n--) {
		this.knots = n;
		stdout_print("deadlock:");
		threads_each(print_member);
		stdout_print("\n");
	}
	if (this.hidden)
		stdout_print("# processes that may not be read, and may have to act as well: %zu\n",
			     this.hidden);
}

/* ---- marks ------------------------------------------------------------------------------ */

/* Return the text of a program for a mark: it cannot end its own place or begin another one. */
static const char *marked(const char *s)
{
	escaped(s, ESCAPE_TEXT);
	for (char *c = this.text.text; *c; c++)
		*c = *c == '"' ? '\'' : *c == ';' ? ',' : *c;
	return this.text.text;
}

/* Add "; holder 7111 backup" to the text of a mark. */
static void mark_link(struct out *o, const struct link *l)
{
	const struct thread *t = thread_of(l->tid ? l->tid : l->tgid);

	out_format(o, "; %s", l->relation);
	if (l->text)
		out_format(o, ": %s", marked(l->text));
	else
		out_format(o, " %d %s", (int)(l->tid ? l->tid : l->tgid),
			   t ? marked(t->task.comm) : "");
}

void print_marks(const struct pids *roots)
{
	enum { MOST = 400 }; /* a mark has 1 KiB at most */
	char line[MOST];
	size_t running = 0;

	for (size_t i = 0; i < roots->n; i++) {
		const struct thread *t = thread_of(roots->v[i]);

		running += t && t->task.state == 'R';
	}
	if (running)
		stdout_print("# runs: %zu\n", running);
	for (size_t i = 0; i < roots->n; i++) {
		const struct thread *t = thread_of(roots->v[i]);
		struct out o = out_to(line, sizeof(line));

		stdout_flush();
		if (!t || t->task.state == 'R')
			continue;
		out_format(&o, "# waits: %d \"%s\" %s: ", (int)t->task.pid,
			   marked(t->task.comm), t->on ? t->on : "call");
		out_string(&o, marked(what_of(t)));
		for (size_t k = 0; k < t->nlinks; k++)
			mark_link(&o, &t->links[k]);
		stdout_print("%.*s\n", (int)(o.at - line), line);
	}
}

/* ---- JSON ------------------------------------------------------------------------------- */

/* Print a member whose value is a string. */
static void json_text(const char *name, const char *text)
{
	if (text)
		stdout_print(",\"%s\":\"%s\"", name, escaped(text, ESCAPE_JSON));
}

static void json_thread(struct thread *t)
{
	const char state[2] = { t->task.state };

	stdout_print("{\"pid\":%d,\"tid\":%d", (int)t->tgid, (int)t->task.pid);
	json_text("comm", t->task.comm);
	json_text("state", state);
	json_text("call", t->call);
	json_text("on", t->on);
	json_text("wchan", *t->wchan ? t->wchan : NULL);
	json_text("what", what_of(t));
	stdout_print(",\"links\":[");
	for (size_t i = 0; i < t->nlinks; i++) {
		const struct link *l = &t->links[i];

		stdout_print("%s{\"relation\":\"%s\"", i ? "," : "", l->relation);
		if (l->tgid)
			stdout_print(",\"pid\":%d", (int)l->tgid);
		if (l->tid)
			stdout_print(",\"tid\":%d", (int)l->tid);
		json_text("text", l->text);
		stdout_print("}");
	}
	stdout_print("]");
	if (t->knot)
		stdout_print(",\"deadlock\":%d", t->knot);
	stdout_print("}\n");
}

void print_json(void)
{
	threads_each(json_thread);
}

/* ---- dot -------------------------------------------------------------------------------- */

static void dot_thread(struct thread *t)
{
	stdout_print("\t%d [label=\"%d %s\\n", (int)t->task.pid, (int)t->task.pid,
		     escaped(t->task.comm, ESCAPE_QUOTED));
	stdout_print("%s\"%s];\n", escaped(what_of(t), ESCAPE_QUOTED), t->knot ? " color=red" : "");
	for (size_t i = 0; i < t->nlinks; i++) {
		const struct link *l = &t->links[i];
		const pid_t one[] = { l->tid };
		const struct pids of = { (pid_t *)one, l->tid != 0, 0 };
		const struct pids *all = l->tgid && !l->tid ? process_threads(l->tgid) : &of;

		for (size_t k = 0; k < all->n; k++)
			stdout_print("\t%d -> %d [label=\"%s\"];\n", (int)t->task.pid,
				     (int)all->v[k], l->relation);
		if (!l->tgid)
			stdout_print("\t%d -> \"%s\" [label=\"%s\"];\n", (int)t->task.pid,
				     escaped(l->text, ESCAPE_QUOTED), l->relation);
	}
}

void print_dot(void)
{
	stdout_print("digraph stuck {\n\tnode [shape=box];\n");
	threads_each(dot_thread);
	stdout_print("}\n");
}
