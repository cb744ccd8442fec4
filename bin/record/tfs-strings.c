/* SPDX-License-Identifier: ISC */
/*
 * tfs-strings - record strings and structures of system calls with BPF programs
 *
 * Requires: Linux 5.10 with CONFIG_BPF_EVENTS and CONFIG_FTRACE_SYSCALLS, tracefs, root;
 * with -i only a trace on standard input.
 *	opens        attach programs that record each call that opens a file, with its path
 *	execs        attach programs that record each program that is executed, with its
 *	             words
 *	calls        attach programs that record the user memory of all system calls, or only
 *	             of the calls that are named: strings, structures, socket addresses
 *	-S           print the programs as assembly, and load nothing
 *	-a           calls: do not record the words of a program that is executed
 *	-d BYTES     calls: record at most so many bytes of what is read and written; default 0
 *	-e           calls: record the environment of a program that is executed
 *	-f           opens: only those that fail. execs: also those that fail
 *	-w WORDS     execs, calls: record at most so many arguments; default 8
 *	-i ID        instead: join the records of this ID on standard input into event lines
 *	-c COMMENT   with -i: print this comment line before the first event
 * The programs run for all tasks. Their records are events bpf_trace:bpf_trace_printk, which
 * an instance records, filters and counts like all others. tfs-strings prints the ID with
 * which the records begin. The programs end with tfs-strings, which waits for HUP, INT, TERM
 * or USR1. In a hook tfs-strings ends at once, and the session keeps the programs.
 * Exit: 0 done, 1 with -i: there was no event, 100 usage error, 111 refused.
 */
#include <poll.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "bpf/bpf.h"
#include "lines/lines.h"
#include "strings_programs.h"

static const struct tool tool = {
	.name = "tfs-strings",
	.help =
		"tfs-strings [-Saef] [-d BYTES] [-w WORDS] opens|execs|calls [CALL ...] | "
		"tfs-strings -i ID [-c COMMENT]\n"
		"record strings and structures of system calls with BPF programs\n"
		"opens  attach programs that record each call that opens a file\n"
		"execs  attach programs that record each program that is executed\n"
		"calls  attach a program that records the user memory of all calls\n"
		"-S  print the programs as assembly; load nothing\n"
		"-a  calls: do not record the arguments of programs that are executed\n"
		"-d BYTES  calls: record so many bytes of what is read and written; default 0\n"
		"-e  calls: record the environment of programs that are executed\n"
		"-f  opens: only those that fail; execs: also those that fail\n"
		"-w WORDS  execs, calls: record at most so many arguments, 1 to 32; default 8\n"
		"-i ID  join the records of this ID on standard input into event lines\n"
		"-c COMMENT  with -i: print this comment line before the first event\n",
};

/* ---- join records ------------------------------------------------------------------ */

/* The records of a task, until the last of them has come. */
struct partial {
	struct table_entry entry;       /* the pid, as text */
	struct strbuf call;             /* the system call; NULL: an exec that succeeded */
	struct strbuf tail;             /* fields after the path; an exec's argc */
	struct strbuf fields;           /* those that are complete, and a part of a string */
	size_t quote;                   /* where the value of the last string begins in fields */
	int is_exec, in_string, json;
	uint64_t strings;               /* an exec's strings that are missing */
	unsigned word;                  /* number of the next word; the file comes first */
};

struct join {
	const char *id, *comment;
	struct table tasks;
	int found;
};

static void forget(struct join *j, struct partial *p)
{
	free(p->call.text);
	free(p->tail.text);
	free(p->fields.text);
	table_remove(&j->tasks, p);
}

/* Print the comment once, as text or as JSON. */
static void print_comment(struct join *j, int json)
{
	struct strbuf b = { 0 };

	if (j->comment && json) {
		struct out o = strbuf_out(&b, 6 * strlen(j->comment) + 2);

		json_string(&o, j->comment, strlen(j->comment));
		stdout_print("{\"comment\":%.*s}\n", (int)(o.at - b.text), b.text);
		free(b.text);
	} else if (j->comment) {
		stdout_print("# %s\n", j->comment);
	}
	j->comment = NULL;
}

/* ---- fields, as text or JSON ----------------------------------------------------------- */

/* Append a field. */
static void add(struct partial *p, struct strbuf *b, const char *name, const char *value)
{
	strbuf_format(b, p->json ? ",\"%s\":%s" : " %s=%s", name, value);
}

/* Append a number, which is written in this base, 10 or 16. In JSON it is decimal. */
static void add_number(struct partial *p, struct strbuf *b, const char *name, const char *value,
		       unsigned base)
{
	const char *digits = value + (base == 10 && *value == '-');
	char text[32] = "null";
	uint64_t n;

	if (!p->json)
		str_format(text, sizeof(text), base == 16 ? "0x%s" : "%s", value);
	else if (!text_part_number((struct text_part){ digits, strlen(digits) }, base, &n))
		str_format(text, sizeof(text), "%s%llu", *value == '-' ? "-" : "",
			   (unsigned long long)n);
	add(p, b, name, text);
}

/* Begin a string. */
static void begin_string(struct partial *p)
{
	char name[32];

	str_format(name, sizeof(name), !p->is_exec ? "path" : p->word ? "argv%u" : "filename",
		   p->word - 1);
	add(p, &p->fields, name, "");
	p->quote = p->fields.n;
	strbuf_puts(&p->fields, "\"");
	p->in_string = 1;
}

/*
 * Append a part of a string. The stream has escaped it, in text as ESCAPE_TEXT; in quotes, a \ goes
 * before each quote as well.
 */
static void add_part(struct partial *p, const char *s)
{
	for (; *s && !p->json; s++) {
		strbuf_add(&p->fields, "\\", *s == '"');
		strbuf_add(&p->fields, s, 1);
	}
	strbuf_puts(&p->fields, s);
}

/* End a string. With fault, print (fault) instead, because the string could not be read. */
static void end_string(struct partial *p, int fault)
{
	if (fault) {
		p->fields.n = p->quote;
		strbuf_puts(&p->fields, p->json ? "\"(fault)\"" : "(fault)");
	} else {
		strbuf_puts(&p->fields, "\"");
	}
	if (p->is_exec && !p->word)
		strbuf_puts(&p->fields, p->tail.text);
	p->word++;
	p->in_string = 0;
}

/* Print the event, in the place of the record in line. */
static void print_event(struct join *j, const struct partial *p, const struct trace_line *l,
			const char *line, const char *event, const struct strbuf *fields)
{
	const char *s = line, *end = l->event.text, *call = p->call.text ? p->call.text : "";
	const char *text = fields->text ? fields->text : "";
	struct text_part name, value;

	print_comment(j, p->json);
	if (p->json) {
		while (json_member(&s, l->body.text, &name, &value) &&
		       !text_part_is(name, "system"))
			;
		stdout_print("%.*s\"system\":\"%s\",\"event\":\"%s\",\"fields\":{%s%s%s%s}}\n",
			     (int)(name.text - 1 - line), line, j->id, event,
			     *call ? "\"call\":\"" : "", call, *call ? "\"" : "",
			     text + (!*call && *text));
	} else {
		stdout_print("%.*s%s: (%s%s)%s\n", (int)(end - line), line, event,
			     *call ? "sys_" : "sched_process_exec", call, text);
	}
	j->found = 1;
}

/* ---- records --------------------------------------------------------------------------- */

/* Return the next word of *s, end it with a NUL, and move *s after its space. */
static char *cut_word(char **s)
{
	char *word = *s;

	*s += strcspn(word, " ");
	if (**s)
		*(*s)++ = '\0';
	return word;
}

/* Are these the records of an exec that failed? */
static int is_exec_call(const struct partial *p)
{
	return p->call.text && !strncmp(p->call.text, "exec", 4);
}

/* Set call and tail from "CALL FLAGS RET"; return the rest, the path. */
static char *read_call(struct partial *p, char *s)
{
	char *call = cut_word(&s), *flags = cut_word(&s), *ret = cut_word(&s);

	strbuf_puts(&p->call, call);
	add_number(p, &p->tail, "flags", flags, 16);
	if (!is_exec_call(p))
		add_number(p, &p->tail, "ret", ret, 10);
	return s;
}

/* Print the event of a task whose records have all come. */
static void print_complete(struct join *j, struct partial *p, const struct trace_line *l,
			   const char *line)
{
	char event[32];

	str_format(event, sizeof(event), p->is_exec ? "exec%u" :
		   is_exec_call(p) ? "exec_open" : "open", p->word - 1);
	if (!p->is_exec)
		strbuf_puts(&p->fields, p->tail.text);
	print_event(j, p, l, line, event, &p->fields);
	forget(j, p);
}

/* Print the event of a task whose strings are too long, without the strings. */
static void print_cut(struct join *j, struct partial *p, const struct trace_line *l,
		      const char *line)
{
	print_event(j, p, l, line, p->is_exec ? "exec_long" :
		    is_exec_call(p) ? "exec_open_long" : "open_long", &p->tail);
	forget(j, p);
}

/* Process a record of tfs-strings, whose text is s after the tag. */
static void record(struct join *j, const struct trace_line *l, const char *line, char tag, char *s)
{
	struct partial *p = table_find(&j->tasks, l->pid.text, l->pid.n);
	char *word;

	if (strchr("=+!?#", tag)) {
		if (p) /* its last records are lost, and counted */
			forget(j, p);
		p = table_at(&j->tasks, l->pid.text, l->pid.n);
		p->json = l->json;
	} else if (!p || p->json != l->json) { /* its first records are lost, and counted */
		return;
	}
	switch (tag) {
	case '=':
	case '+':
		s = read_call(p, s);
		begin_string(p);
		add_part(p, s);
		if (tag == '+')
			return;
		end_string(p, 0);
		break;
	case '!':
		read_call(p, s);
		begin_string(p);
		end_string(p, 1);
		break;
	case '?':
		strbuf_puts(&p->call, cut_word(&s));
		strbuf_puts(&p->tail, "");
		if (*s)
			add_number(p, &p->tail, "ret", s, 10);
		break;
	case '#':
		p->is_exec = 1;
		word = cut_word(&s);
		add_number(p, &p->tail, "argc", word, 10);
		if (text_part_number((struct text_part){ s, strlen(s) }, 10, &p->strings) < 0)
			p->strings = 1;
		return;
	case '~':
		print_cut(j, p, l, line);
		return;
	default:
		if (!p->in_string)
			begin_string(p);
		add_part(p, s);
		if (tag == '&')
			return;
		end_string(p, tag == 'x');
		if (p->is_exec && --p->strings)
			return;
	}
	print_complete(j, p, l, line);
}

/* Return the text of a record of tfs-strings, from its tag on, or NULL for any other line. */
static char *find_record(const struct join *j, const struct trace_line *l)
{
	const char *fields = l->body.text;
	struct text_part name, value = l->body;
	size_t n = strlen(j->id);
	char *s;

	if (l->stack || !text_part_is(l->event, "bpf_trace_printk"))
		return NULL;
	if (l->json && !(json_member(&fields, fields + l->body.n, &name, &value) &&
			 text_part_is(name, "bpf_string")))
		return NULL;
	value = l->json ? json_unquoted(value) : value;
	s = (char *)(size_t)value.text;
	if (value.n < n + 2 || strncmp(s, j->id, n) || s[n] != ' ')
		return NULL;
	s[value.n] = '\0';
	return s + n + 1;
}

static int join(const char *id, const char *comment)
{
	struct join j = { .id = id, .comment = comment, .tasks.size = sizeof(struct partial) };
	struct line_reader in = { 0 };
	struct trace_line l;
	char *line, *s;
	ssize_t n;

	input_begin();
	while ((n = line_read(&in, &line)) >= 0) {
		text_mask_nul(line, (size_t)n);
		s = trace_line(&l, line, (size_t)n) ? find_record(&j, &l) : NULL;
		if (s) {
			record(&j, &l, line, *s, s + 1);
			continue;
		}
		if (*line != '#') {
			print_comment(&j, *line == '{');
			j.found = 1;
		}
		stdout_print("%s\n", line);
	}
	if (in.failed)
		return REFUSED;
	stdout_flush();
	return j.found ? DONE : NO;
}

/* ---- attach programs --------------------------------------------------------------------- */

/* Make and attach the programs. Return 0 or -1. */
static int attach(struct strings_plan *p, char kind)
{
	if (strings_prepare(p) < 0)
		return -1;
	return kind == 'c' ? strings_attach_calls(p) : kind == 'e' ? strings_attach_execs(p) :
	       strings_attach_opens(p);
}

/* Do the same while the event of the top level stays as it was. */
static int attach_quietly(struct strings_plan *p, char kind)
{
	int lock = printk_lock(p->root), on, guard = -1, r;

	if (lock < 0)
		return err_file("unable to lock events/bpf_trace; this kernel may lack "
				"CONFIG_BPF_EVENTS");
	on = printk_is_on(p->root);
	if (on < 0)
		return err_file("unable to read " PRINTK_ENABLE);
	if (!on) {
		guard = printk_guard(p->root);
		if (guard < 0)
			return -1;
	}
	r = attach(p, kind);
	if (!on && printk_quiet(p->root) < 0)
		r = -1;
	if (guard >= 0)
		printk_relieve(guard);
	close(lock);
	return r;
}

/* Give the programs to the session of the hook, or keep them until a signal comes. */
static int keep(const struct strings_plan *p)
{
	const char *socket = getenv(SESSION_KEEPS);
	struct pollfd signals = { .events = POLLIN };
	unsigned long fd;

	if (socket) {
		if (text_number(socket, 0, INT_MAX, &fd) < 0 ||
		    fd_send((int)fd, p->fds, p->n) < 0)
			return err_errno("unable to give the programs to the session");
		stdout_print("%s\n", p->id);
		stdout_flush();
		return 0;
	}
	signals.fd = wait_stop_signals();
	if (signals.fd < 0)
		return err_errno("unable to wait for signals");
	stdout_print("%s\n", p->id);
	stdout_flush();
	while (poll(&signals, 1, -1) < 0)
		;
	return 0;
}

/* Set tasks if the instance that is in use has a pid filter. Return 0, or -1, reported. */
static int has_filter(struct strings_plan *p)
{
	struct pids pids = { 0 };
	int instance = tracefs_open(NULL, NULL, NULL);

	if (instance < 0 || pidfilter_list(instance, &pids) < 0)
		return -1;
	if (pids.n)
		p->tasks = instance;
	return 0;
}

/* What the command line asks for. */
struct wanted {
	struct strings_plan plan;
	const char *id, *comment, *words, *what;
	int for_calls;                  /* an option that only calls have */
};

static void read_options(struct wanted *w, int argc, char **argv)
{
	struct strings_plan *p = &w->plan;
	unsigned long n;
	int c;

	while ((c = opt_next(&tool, argc, argv)) != -1) {
		w->for_calls |= c == 'a' || c == 'd' || c == 'e';
		switch (c) {
		case 'S':
			bpf_print_only();
			break;
		case 'a':
			p->no_args = 1;
			break;
		case 'd':
			opt_number(&tool, "a number of bytes, 0 to 4096", 0, 4096, &n);
			p->data = (unsigned)n;
			break;
		case 'e':
			p->env = 1;
			break;
		case 'f':
			p->failed = 1;
			break;
		case 'w':
			w->words = opt_value;
			if (text_number(w->words, 1, STRINGS_WORDS_MAX, &n) < 0)
				usage_error(&tool, "-w: not a number from 1 to %d: '%.80s'",
					    STRINGS_WORDS_MAX, w->words);
			p->words = (unsigned)n;
			break;
		case 'i':
			w->id = opt_value;
			break;
		default:
			w->comment = opt_value;
		}
	}
	w->what = argv[opt_index];
}

/* Check which options and operands can be combined. */
static void check_options(const struct wanted *w)
{
	const char *what = w->what ? w->what : "";
	const int calls = !strcmp(what, "calls"), opens = !strcmp(what, "opens");

	if (w->id && (w->what || w->plan.failed || w->for_calls || w->words || bpf_is_printing()))
		usage_error(&tool, "-i takes no operand, and no other option than -c");
	if (w->id)
		return;
	if (w->comment)
		usage_error(&tool, "-c needs -i");
	if (!calls && !opens && strcmp(what, "execs"))
		usage_error(&tool, "one operand is needed: opens, execs or calls");
	if (!calls)
		opt_end(&tool, *w->plan.names);
	if (w->words && opens)
		usage_error(&tool, "-w is for execs and calls");
	if (w->plan.failed && calls)
		usage_error(&tool, "-f is for opens and execs");
	if (w->for_calls && !calls)
		usage_error(&tool, "-a, -d and -e are for calls");
}

int main(int argc, char **argv)
{
	struct wanted w = { .plan.words = 8 };
	struct strings_plan *p = &w.plan;
	int r;

	read_options(&w, argc, argv);
	p->names = argv + opt_index + !!w.what;
	for (char **name = argv + opt_index; *name; name++) /* the hook gives names of events */
		*name = (char *)(size_t)syscall_of_function(*name);
	check_options(&w);
	if (w.id)
		return join(w.id, w.comment);
	p->root = tracefs_open(NULL, "", NULL);
	if (p->root < 0 || (*w.what == 'c' && has_filter(p) < 0))
		return REFUSED;
	if (bpf_is_printing()) {
		r = attach(p, *w.what);
		stdout_flush();
	} else {
		r = attach_quietly(p, *w.what) < 0 || keep(p) < 0 ? -1 : 0;
	}
	return r < 0 ? REFUSED : DONE;
}
