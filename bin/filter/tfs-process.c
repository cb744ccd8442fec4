/* SPDX-License-Identifier: ISC */
/*
 * tfs-process - print one line for each process of a trace, when it ends
 *
 * Requires: only a trace on standard input, as text or lines of JSON, with the events
 * task_newtask, sched_process_exec and sched_process_exit and their facts (tfs-report -F), and
 * task_rename for a program that tfs-run has started.
 * Arguments come from decoded calls of execve (-D). For a trace in JSON, tfs-process prints JSON.
 * A dash stands for what the trace does not tell. A process is kept until its end; with -t all
 * processes are kept. Processes without an end come last: they still run, or events were lost.
 * The CPU time of a process is known after its end, when its last task leaves its CPU. So the line
 * of the process, and the lines of later ends, wait up to two seconds of the trace; with -n, not.
 * The processes of -p run when tfs-process begins; procfs tells their names, users and parents.
 * -s prints sums for each command instead, at the end. At a terminal, START is a time of day, and a
 * line is cut at the width.
 * tfs-process ignores SIGINT, so that the program that makes the trace can finish first.
 * Exit: 0 done, 1 the trace has no process, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "calls/calls.h"
#include "people/people.h"
#include "proc/proc.h"
#include "seen/seen.h"

static int tree, json, at_once, sums;
static const char *only_uid, *only_comm, *running;

static const struct tool tool = {
	TOOL_TFS_PROCESS,
	.places = (const struct opt_place[]){
		{ 't', .flag = &tree }, { 'u', .text = &only_uid }, { 'C', .text = &only_comm },
		{ 'p', .text = &running }, { 'j', .flag = &json },
		{ 'n', .flag = &at_once }, { 's', .flag = &sums }, { 0 },
	},
};

enum { CLONE_THREAD_FLAG = 0x10000, UNTIMED = -2, DEEPEST = 32 };

/* How long a line waits for the CPU time, in ns */
#define HOLD 2000000000u

/* A process. Its strings have the escapes of out_escaped; NULL: not known. */
struct process {
	char *name, *command, *maker_name;
	char *uid;              /* a number */
	uint64_t pid, maker;    /* maker 0: not known */
	uint64_t start, age, cpu; /* ns */
	int digits;             /* of the time of start; UNTIMED: not known */
	int ended, shown;       /* shown: it began, executed a program or ended, or is of -p */
	int asked;              /* its name is what procfs says of -p */
	int timed, unsure;      /* age is known; its end may be lost */
	enum { CPU_UNKNOWN, CPU_LEAST, CPU_KNOWN } cpu_known;
	int64_t code;           /* of wait(2); -1: not known */
	struct living *living;  /* NULL: no more is known of the process */
	uint64_t over;          /* when it has ended, and waits for its CPU time; 0: it does not */
	struct process *up, *child, *last, *next; /* -t; without it, next is to be printed next */
};

/* The living process with a pid, which is the key, with the host of the line. */
struct living {
	struct table_entry entry;
	struct process *process;
};

static struct table all = { .size = sizeof(struct living) };
static struct { struct process *first, *last; } queue; /* ended processes, without -t */
static struct process root; /* -t: its children have no known parent */
static struct strbuf text;
static unsigned long long printed;

/* ---- processes ----------------------------------------------------------------------- */

static struct input in;

/* Return the key of a process of the line's host. */
static const struct strbuf *key_of(uint64_t pid)
{
	static struct strbuf key;

	strbuf_add(strbuf_empty(&key), (const char *)&pid, sizeof(pid));
	strbuf_add(&key, in.l.host.text, in.l.host.n);
	return &key;
}

static struct living *slot_of(uint64_t pid)
{
	const struct strbuf *key = key_of(pid);

	return table_at(&all, key->text, key->n);
}

static struct process *find(uint64_t pid)
{
	const struct strbuf *key = key_of(pid);
	struct living *l = table_find(&all, key->text, key->n);

	return l ? l->process : NULL;
}

static void settle(struct process *);

/* Return the process. A new one began before the trace, or its fork is lost. */
static struct process *process_of(uint64_t pid)
{
	struct living *l = slot_of(pid);

	if (l->process && l->process->over) { /* the pid is used again */
		settle(l->process);
		l = slot_of(pid);
	}
	if (l->process)
		return l->process;
	l->process = xcalloc(1, sizeof(*l->process));
	l->process->living = l;
	l->process->pid = pid;
	l->process->code = -1;
	l->process->digits = UNTIMED;
	return l->process;
}

/* Hang the process below another, after its other children. */
static void hang(struct process *p, struct process *up)
{
	p->up = up;
	if (up->last)
		up->last->next = p;
	else
		up->child = p;
	up->last = p;
}

static void drop(struct process *p)
{
	free(p->name);
	free(p->command);
	free(p->maker_name);
	free(p->uid);
	free(p);
}

/* Set a string to a part of the line, with the escapes of text. */
static void keep(char **to, const struct seen *l, struct text_part part)
{
	seen_add_string(strbuf_empty(&text), l, part);
	free(*to);
	*to = xstrdup(text.n ? text.text : "");
}

/* ---- lines --------------------------------------------------------------------------- */

/* Write a time in ns to s (DECIMAL_TEXT bytes), with ">" before it if it is a lower bound. */
static const char *time_text(char *s, uint64_t ns, int known, int least)
{
	str_format(s, DECIMAL_TEXT, known && least ? ">" : "-");
	if (known)
		time_words(s + least, ns, 0);
	return s;
}

/* Return how the process ended; words has EXIT_WORDS bytes. */
static const char *status_text(const struct process *p, char *words)
{
	static const char killed[] = "killed by ";

	if (!p->ended)
		return p->unsure ? "end unknown" : "still running";
	if (p->code < 0)
		return "-";
	exit_words((unsigned)p->code, words);
	return strncmp(words, killed, strlen(killed)) ? words : words + strlen(killed);
}

static void put_seconds(const char *name, uint64_t ns, int known)
{
	if (known)
		stdout_print(",\"%s\":%llu.%09llu", name, (unsigned long long)ns / 1000000000,
			     (unsigned long long)ns % 1000000000);
	else
		stdout_print(",\"%s\":null", name);
}

static void print_json(const struct process *p)
{
	char words[EXIT_WORDS];

	stdout_print("{\"pid\":%llu", (unsigned long long)p->pid);
	stdout_print(p->maker ? ",\"parent\":%llu" : ",\"parent\":null",
		     (unsigned long long)p->maker);
	json_print_name("parent_comm", text_part_of(p->maker_name));
	stdout_print(",\"uid\":%s", p->uid ? p->uid : "null");
	put_seconds("start", p->start, p->digits >= 0);
	put_seconds("duration", p->age, p->timed);
	put_seconds("cpu", p->cpu, p->cpu_known == CPU_KNOWN);
	if (p->cpu_known == CPU_LEAST)
		put_seconds("cpu_least", p->cpu, 1);
	stdout_print(p->code < 0 ? ",\"exit_code\":null" : ",\"exit_code\":%lld",
		     (long long)p->code);
	json_print_string("end", text_part_of(status_text(p, words)));
	json_print_name("comm", text_part_of(p->name));
	/* with the escapes of text, which the quotes of its words need */
	json_print_string("command", text_part_of(p->command));
	stdout_print("}\n");
}

/* Add the command, or in brackets the name of a process that executed none in the trace. */
static void add_command(struct strbuf *to, const struct process *p)
{
	if (p->command)
		strbuf_puts(to, p->command);
	else
		strbuf_format(to, "[%s]", p->name ? p->name : "-");
}

/* Return the end of a string in quotes that begins at s. */
static const char *end_of_string(const char *s, const char *end)
{
	for (s++; s < end && *s != '"'; s++)
		s += *s == '\\' && s + 1 < end;
	return s < end ? s + 1 : end;
}

/* ---- sums for each command ------------------------------------------------------------ */

/* The processes of a command; the key is its name. */
struct sum {
	struct table_entry entry;
	uint64_t runs, failed, untimed, total, longest, cpu; /* times in ns */
	int cpu_least;          /* some of it is not known */
	char *command;          /* of the longest run */
};

static struct table all_sums = { .size = sizeof(struct sum) };

/* Return the end of the first word of a command; a name in brackets is one word. */
static const char *end_of_word(const char *s)
{
	const char *end = s + strlen(s);

	return *s == '"' ? end_of_string(s, end) : *s == '[' ? end : s + strcspn(s, " ");
}

/* Add the name of the command: the last part of its first word, or the name in brackets. */
static void add_name(struct strbuf *to, const char *command)
{
	const char *word = command, *end = end_of_word(word);

	if (*word == '"') {
		word++;
		end -= end > word;
	}
	for (const char *s = word; *word != '[' && s + 1 < end; s++)
		if (*s == '/')
			word = s + 1;
	strbuf_add(to, word, (size_t)(end - word));
}

static void add_sum(const struct process *p)
{
	static struct strbuf command, name;
	struct sum *s;

	add_command(strbuf_empty(&command), p);
	add_name(strbuf_empty(&name), command.text);
	s = table_at(&all_sums, name.text, name.n);
	if (!s->command || p->age > s->longest) {
		free(s->command);
		s->command = xstrdup(command.text);
	}
	s->runs++;
	s->failed += p->code > 0;
	s->total += p->age;
	s->untimed += !p->timed;
	s->longest = p->age > s->longest ? p->age : s->longest;
	s->cpu += p->cpu;
	s->cpu_least |= p->cpu_known != CPU_KNOWN;
	printed++;
}

static int by_total(const void *a, const void *b)
{
	const struct sum *x = *(struct sum *const *)a, *y = *(struct sum *const *)b;

	return x->total != y->total ? ASCENDING(y->total, x->total) :
	       strcmp(x->entry.key, y->entry.key);
}

/* How wide the columns are: for programs, and for people, who have a terminal. */
static const struct form { int start, time, status; } forms[2] = { { 15, 10, 13 }, { 12, 8, 9 } };
static const struct form *form = forms;

static struct people people;
static int width;               /* see people_width */
static struct strbuf row;

/* Print the row. At a terminal, it is cut. */
static void put_row(void)
{
	strbuf_puts(&row, "\n");
	people_print(row.text, row.n, width);
}

static void add_mark(char mark)
{
	if (people.marks)
		strbuf_add(&row, &mark, 1);
}

static void begin_row(void)
{
	strbuf_empty(&row);
	add_mark(PEOPLE_ROW);
}

/* Add the columns that only wide terminals have. */
static void add_wide(const char *maker, const char *uid)
{
	add_mark(PEOPLE_WIDE);
	strbuf_format(&row, " %7s %5s", maker, uid);
	add_mark(PEOPLE_WIDE);
	strbuf_puts(&row, " ");
}

static void put_title(void)
{
	begin_row();
	if (!tree) {
		strbuf_format(&row, people.by_day ? "%-*s" : "%*s", form->start, "START");
		add_wide("PARENT", "UID");
	}
	strbuf_format(&row, "%7s %*s %*s %-*s %s", "PID", form->time, "DURATION", form->time,
		      "CPU", form->status, "STATUS", "COMMAND");
	put_row();
}

/* Add the time of the start: for people to the millisecond, as a time of day if it is known. */
static void add_start(const struct process *p)
{
	char line[64];
	struct out o = out_to(line, sizeof(line));
	const char *day = p->digits < 0 ? NULL : people_time(&people, &o, p->start);

	stdout_print("%.*s", (int)(o.at - line), line); /* another date */
	if (day)
		strbuf_format(&row, "%.12s", day);
	else if (p->digits < 0)
		strbuf_format(&row, "%*s", form->start, "-");
	else
		strbuf_format(&row, "%*llu.%06llu", form->start - 7,
			      (unsigned long long)p->start / 1000000000,
			      (unsigned long long)p->start / 1000 % 1000000);
}

static void print_sum_json(const struct sum *s)
{
	stdout_print("{\"runs\":%llu,\"failed\":%llu,\"untimed\":%llu",
		     (unsigned long long)s->runs, (unsigned long long)s->failed,
		     (unsigned long long)s->untimed);
	put_seconds("total", s->total, 1);
	put_seconds("longest", s->longest, 1);
	put_seconds("cpu", s->cpu, !s->cpu_least);
	if (s->cpu_least)
		put_seconds("cpu_least", s->cpu, 1);
	json_print_string("name", (struct text_part){ s->entry.key, s->entry.n });
	json_print_string("longest_command", text_part_of(s->command));
	stdout_print("}\n");
}

static void print_sums(void)
{
	char total[DECIMAL_TEXT], longest[DECIMAL_TEXT], cpu[DECIMAL_TEXT];
	size_t most = strlen("COMMAND");

	table_sort(&all_sums, by_total);
	for (size_t i = 0; i < all_sums.n; i++)
		if (all_sums.v[i]->n > most && all_sums.v[i]->n <= 15)
			most = all_sums.v[i]->n;
	begin_row();
	strbuf_format(&row, "%6s %8s %8s %8s %6s  %-*s  %s", "RUNS", "TOTAL", "LONGEST", "CPU",
		      "FAILED", (int)most, "COMMAND", "LONGEST RUN");
	if (!json && all_sums.n)
		put_row();
	for (size_t i = 0; i < all_sums.n; i++) {
		const struct sum *s = (const struct sum *)all_sums.v[i];

		if (json) {
			print_sum_json(s);
			continue;
		}
		begin_row();
		strbuf_format(&row, "%6llu %8s %8s %8s %6llu  %-*s %s",
			      (unsigned long long)s->runs,
			      time_text(total, s->total, s->untimed < s->runs, s->untimed != 0),
			      time_text(longest, s->longest, s->untimed < s->runs,
					s->untimed != 0),
			      time_text(cpu, s->cpu, s->cpu || !s->cpu_least, s->cpu_least),
			      (unsigned long long)s->failed, (int)most, s->entry.key,
			      end_of_word(s->command));
		put_row();
	}
}

static void print(const struct process *p, int depth)
{
	char age[DECIMAL_TEXT], cpu[DECIMAL_TEXT + 1], maker[DECIMAL_TEXT];
	char words[EXIT_WORDS];

	if (only_uid && (!p->uid || strcmp(p->uid, only_uid)))
		return;
	if (only_comm && (!p->name || strcmp(p->name, only_comm)))
		return;
	if (sums) {
		add_sum(p);
		return;
	}
	if (!printed++ && !json)
		put_title();
	if (json) {
		print_json(p);
		return;
	}
	begin_row();
	str_format(maker, sizeof(maker), p->maker ? "%llu" : "-", (unsigned long long)p->maker);
	if (!tree) {
		add_start(p);
		add_wide(maker, p->uid ? p->uid : "-");
	}
	strbuf_format(&row, "%7llu %*s %*s %-*s %*s", (unsigned long long)p->pid,
		      form->time, time_text(age, p->age, p->timed, 0), form->time,
		      time_text(cpu, p->cpu, p->cpu_known != CPU_UNKNOWN,
				p->cpu_known == CPU_LEAST),
		      form->status, status_text(p, words),
		      2 * (depth < DEEPEST ? depth : DEEPEST), "");
	if (!tree && p->maker_name)
		strbuf_format(&row, "%s: ", p->maker_name);
	add_command(&row, p);
	put_row();
}

/* ---- events -------------------------------------------------------------------------- */

static uint64_t number(const struct seen *l, const char *key)
{
	uint64_t n;

	return text_part_number(seen_text(l, key), 10, &n) < 0 ? 0 : n;
}

/* Remove a process from the living. */
static void bury(struct process *p)
{
	table_remove(&all, p->living);
	p->living = NULL;
}

/* Print a process that is not among the living, unless it is part of a tree. */
static void put(struct process *p)
{
	if (tree)
		return;
	print(p, 0);
	drop(p);
}

/* Print the ended processes, up to the first one that waits for its CPU time. */
static void print_ended(uint64_t now)
{
	struct process *p;

	while ((p = queue.first) && (!p->living || now >= p->over + HOLD)) {
		if (p->living)
			bury(p);
		queue.first = p->next;
		if (!queue.first)
			queue.last = NULL;
		put(p);
	}
}

/* Finish a process that has ended: the trace tells no more of it. */
static void settle(struct process *p)
{
	bury(p);
	if (!tree)
		print_ended(0);
}

static void born(const struct seen *l)
{
	uint64_t pid = number(l, ".pid"), process = number(l, "process"), flags = 0;
	uint64_t maker = number(l, "parent");
	struct process *p = find(pid), *up;

	text_part_number(seen_text(l, "clone_flags"), l->json ? 10 : 16, &flags);
	if (!pid || flags & CLONE_THREAD_FLAG || (process && process != pid))
		return;
	if (p && !p->over) { /* its end was lost */
		p->unsure = 1;
		bury(p);
		put(p);
	}
	if (!maker)
		maker = number(l, "pid");
	p = process_of(pid);
	p->shown = 1;
	p->maker = maker;
	if (seen_time(l, &p->start, &p->digits) < 0)
		p->digits = UNTIMED;
	keep(&p->name, l, seen_text(l, ".comm"));
	up = maker ? process_of(maker) : NULL;
	if (up && !up->name)
		keep(&up->name, l, l->comm);
	p->maker_name = up ? xstrdup(up->name) : NULL;
	if (!tree)
		return;
	if (up && !up->up)
		hang(up, &root);
	hang(p, up ? up : &root);
}

/*
 * tfs-run holds PROG until the session records, and PROG has the name tfs-run until then. So PROG
 * begins when it gets its own name.
 */
static void renamed(const struct seen *l)
{
	uint64_t pid = number(l, "pid");
	struct process *p;

	if (!pid || !text_part_is(seen_text(l, "oldcomm"), "tfs-run"))
		return;
	p = process_of(pid);
	if (p->digits == UNTIMED && seen_time(l, &p->start, &p->digits) < 0)
		p->digits = UNTIMED;
}

/* The last thread that executed a program and took the pid of its process; its call follows. */
static struct { uint64_t thread, process; } execer;

/* Return the process of this line, which executes a program. */
static struct process *executes(const struct seen *l)
{
	uint64_t pid = number(l, "pid");
	struct process *p;

	if (!pid)
		return NULL;
	p = process_of(pid == execer.thread ? execer.process : pid);
	p->shown = 1;
	if (tree && !p->up)
		hang(p, &root);
	keep(&p->name, l, l->comm);
	return p;
}

/* Follow sched_process_exec. The arguments follow with the return of the call. */
static void executed(const struct seen *l)
{
	uint64_t thread = number(l, "old_pid");
	struct process *p = executes(l);

	execer.thread = p && thread != p->pid ? thread : 0;
	execer.process = p ? p->pid : 0;
	if (p)
		keep(&p->command, l, seen_text(l, "filename"));
}

/* Append the strings of ["WORD", "WORD"...] to text, without the quotes that no shell needs. */
static void add_words(const char *s, const char *end)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./:=,@%+";

	while (s < end && *s != ']') {
		const char *word = s, *next = *s == '"' ? end_of_string(s, end) : s + 1;
		size_t n = (size_t)(next - word), inside = 0;

		s = next;
		if (*word == ',' || *word == ' ')
			continue;
		while (n > 2 && inside < n - 2 && strchr(plain, word[1 + inside]))
			inside++;
		if (text.n && (*word != '.' || word[-1] == ' '))
			strbuf_puts(&text, " ");
		if (n > 2 && inside == n - 2)
			strbuf_add(&text, word + 1, n - 2);
		else
			strbuf_add(&text, word, n);
		/* the dots of a word or of a list that goes on */
		for (; s < end && *s == '.'; s++)
			strbuf_puts(&text, ".");
	}
}

/* Follow a decoded execve. */
static void called(const struct seen *l)
{
	static struct strbuf unescaped;
	struct text_part list = seen_body(l);
	const char *s, *end;
	struct process *p;

	if (l->json)
		list = strbuf_unescaped(&unescaped, seen_text(l, "argv"), 1);
	for (s = list.text, end = s ? s + list.n : s; s < end && *s != '[';)
		s = *s == '"' ? end_of_string(s, end) : s + 1;
	if (s >= end || !(p = executes(l)))
		return;
	text.n = 0;
	add_words(s + 1, end);
	if (text.n) {
		free(p->command);
		p->command = xstrdup(text.text);
	}
}

static void ended(const struct seen *l)
{
	uint64_t pid = number(l, "process"), end = 0;
	struct text_part status = seen_text(l, "process_exit_code");
	struct text_part dead = seen_text(l, "group_dead"), part;
	int last = status.text || seen_text(l, "parent").text || seen_text(l, "uid").text;
	struct process *p = find(number(l, ".pid"));
	int digits;

	/* the name of a process is that of its first thread, also if another one ends last */
	if (p && !p->over && seen_text(l, ".comm").text)
		keep(&p->name, l, seen_text(l, ".comm"));
	if (!(last || text_part_is(dead, "true") || text_part_is(dead, "1")))
		return;
	if (!pid)
		pid = number(l, ".pid");
	if (!pid)
		return;
	p = process_of(pid);
	p->ended = p->shown = 1;
	if (tree && !p->up)
		hang(p, &root);
	if (!p->name)
		keep(&p->name, l, l->comm);
	if (status.text)
		p->code = (int64_t)number(l, "process_exit_code");
	if (!p->maker)
		p->maker = number(l, "parent");
	part = seen_text(l, "uid");
	if (part.text && strspn(part.text, "0123456789") >= part.n)
		keep(&p->uid, l, part);
	p->cpu = number(l, "cpu_least_ns");
	p->cpu_known = seen_text(l, "cpu_least_ns").text ? CPU_LEAST : CPU_UNKNOWN;
	if (!seen_time(l, &end, &digits) && digits >= 0) {
		uint64_t age = number(l, "age_us") * 1000;

		if (p->digits == UNTIMED && age && age <= end) {
			p->start = end - age;
			p->digits = digits;
		}
		p->timed = p->digits >= 0 && end >= p->start;
		p->age = p->timed ? end - p->start : 0;
	}
	p->over = end ? end : 1;
	if (!tree && queue.last)
		queue.last->next = p;
	else if (!tree)
		queue.first = p;
	queue.last = p;
	if (at_once)
		settle(p);
}

/* Follow the CPU time of a process that has ended. */
static void spent(const struct seen *l)
{
	struct text_part ns = seen_text(l, "ns");
	struct process *p = ns.text ? find(number(l, "process")) : NULL;

	if (!p || !p->over)
		return;
	p->cpu = number(l, "ns");
	p->cpu_known = CPU_KNOWN;
	settle(p);
}

static void each_event(const struct seen *l)
{
	struct text_part call = seen_text(l, "call");
	uint64_t now;
	int digits;

	json |= l->json;
	if (queue.first && !seen_time(l, &now, &digits))
		print_ended(now);
	if (l->decoded)
		call = l->event;
	if (text_part_is(l->event, "task_newtask"))
		born(l);
	else if (text_part_is(l->event, "task_rename"))
		renamed(l);
	else if (text_part_is(l->event, "sched_process_exec"))
		executed(l);
	else if (text_part_is(l->event, "sched_process_exit"))
		ended(l);
	else if (text_part_is(l->event, "cpu"))
		spent(l);
	else if (role_of(call)->is & IS_EXEC)
		called(l);
}

/* ---- the end of the trace ------------------------------------------------------------ */

static int by_start(const void *a, const void *b)
{
	const struct process *x = (*(struct living *const *)a)->process;
	const struct process *y = (*(struct living *const *)b)->process;

	return x->start != y->start ? ASCENDING(x->start, y->start) : ASCENDING(x->pid, y->pid);
}

static void print_tree(void)
{
	int depth = 0;

	for (const struct process *p = root.child; p;) {
		print(p, depth);
		if (p->child) {
			p = p->child;
			depth++;
			continue;
		}
		for (; p != &root && !p->next; depth--)
			p = p->up;
		p = p == &root ? NULL : p->next;
	}
}

static void print_rest(void)
{
	if (tree) {
		print_tree();
		return;
	}
	print_ended(UINT64_MAX);
	table_sort(&all, by_start);
	for (size_t i = 0; i < all.n; i++)
		if (((struct living *)all.v[i])->process->shown)
			print(((struct living *)all.v[i])->process, 0);
	if (sums)
		print_sums();
}

/* After a gap the end of any living process may be missing. */
static void doubt(void)
{
	for (size_t i = 0; i < all.room; i++)
		if (all.v[i])
			((struct living *)all.v[i])->process->unsure = 1;
}

/* Choose the form for people, who have a terminal, or whose lines tfs-run prints. */
static void choose_form(void)
{
	const char *eyes = getenv(FOR_PEOPLE);

	width = people_width();
	if (width < 0 && (!eyes || strcmp(eyes, FOR_EYES)))
		return;
	people_screen(&people, width >= 0);
	form = &forms[1];
}

/* If the line says the date, and people read it, begin with the date. */
static void take_date(const char *line)
{
	struct text_part seconds;
	int64_t time, offset;
	char date[64];
	struct out o = out_to(date, sizeof(date));

	if (form == forms || !comments_date(line, &seconds, &time, &offset))
		return;
	people_begin(&people, &o, (uint64_t)time, offset);
	stdout_print("%.*s", (int)(o.at - date), date);
}

/* Begin with the processes of -p. */
static void add_running(void)
{
	struct pids pids = { 0 };
	struct process *p;
	struct task task;
	pid_t tgid;
	uid_t uid;

	if (!running)
		return;
	if (pids_option(&tool, running, 0, &pids) < 0)
		exit(REFUSED);
	for (size_t i = 0; i < pids.n; i++) {
		if (task_ids(pids.v[i], &tgid, &uid) < 0 || task_read(tgid, &task) < 0)
			continue;
		p = process_of((uint64_t)tgid);
		if (p->asked)
			continue;
		p->asked = p->shown = 1;
		p->maker = (uint64_t)task.ppid;
		strbuf_escaped(strbuf_empty(&text), task.comm, strlen(task.comm), ESCAPE_TEXT);
		p->name = xstrdup(text.text);
		strbuf_format(strbuf_empty(&text), "%u", (unsigned)uid);
		p->uid = xstrdup(text.text);
		if (tree)
			hang(p, &root);
	}
	pids_clear(&pids);
}

static void each(void)
{
	if (input_event(&in)) {
		if (!in.l.stack)
			each_event(&in.l);
	} else {
		comments_keep(&in.comments, in.line);
		take_date(in.line);
		if (comments_is_gap(in.line))
			doubt();
	}
}

int main(int argc, char **argv)
{
	opt_next(&tool, argc, argv);
	if (sums && tree)
		usage_error(&tool, "-s cannot be combined with -t");
	choose_form();
	in.facts = 1;
	input_takes_dat(&in);
	input_file(&in, &tool, argv + opt_index);
	add_running();
	input_each(&in, each);
	print_rest();
	return input_end(&in, printed ? NULL : "no such process in the trace");
}
