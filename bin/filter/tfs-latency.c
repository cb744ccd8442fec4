/* SPDX-License-Identifier: ISC */
/*
 * tfs-latency - print the time from one event of a trace to another
 *
 * Requires: only a trace on standard input, as text or lines of JSON.
 * With -d, tfs-latency also drops the stacks below the ends. -a, -b and -d change no line,
 * but with "block", -b adds the values of -c. With "wakeup", -p prints only waits of these
 * tasks, since an instance that records them has only a part of the other tasks' events.
 * A key is any key of tfs-count; the default is pid. tfs-latency prints each end with the
 * values of -c and lat=MICROSECONDS behind it. Lines about lost events pass through, and
 * no pair spans a gap. On a terminal, tfs-latency prints as with -H. A last line counts
 * the beginnings and ends without the other half.
 * tfs-latency ignores SIGINT, so that the program that makes the trace can finish first.
 * Exit: 0 done, 1 nothing was printed, 100 usage error, 111 refused.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "lines/lines.h"
#include "latency.h"

static const struct tool tool = {
	.name = "tfs-latency",
	.help =
		"tfs-latency [-abdH] [-c [NAME=]KEY]... [-m US] [-p PID,...] "
		"[-u] [-x] -s EVENT[:KEY,...] -e EVENT[:KEY,...] | -f SUFFIX | PAIR\n"
		"print the time from one event of a trace to another\n"
		"syscalls  pair the beginning and the end of each system call\n"
		"block  pair the issue and the completion of each block request\n"
		"wakeup  pair the wakeup of a task and its first run\n"
		"-s EVENT[:KEY,...]  the beginning: a glob, and the keys to match by\n"
		"-e EVENT[:KEY,...]  the end, whose keys have the same values\n"
		"-f SUFFIX  pair the calls of functions, nested: EVENTSUFFIX and EVENT\n"
		"-c [NAME=]KEY  add KEY of the beginning to the line, under NAME\n"
		"-a  also print the ends without a beginning\n"
		"-b  also print the beginnings\n"
		"-d  print all lines but the ends that have a beginning\n"
		"-H  print the unit of lat in front of the first line\n"
		"-m US  print only latencies of at least US microseconds\n"
		"-p PID,...  pair only beginnings of these tasks and of their children\n"
		"-u  do not count beginnings without an end\n"
		"-x  wakeup: leave out the session that tfs-latency is part of\n",
};

static const struct pair {
	const char *name;
	const struct latency_matcher *matcher; /* NULL: by the keys of -s and -e */
	const char *from, *to;
} pairs[] = {
	{ "syscalls", NULL, "sys_enter*:pid,call", "sys_exit*:pid,call" },
	{ "block", &latency_block, NULL, NULL },
	{ "wakeup", &latency_sched, NULL, NULL },
};

/* The event and keys of -s or -e. */
struct half {
	char *event;
	const char **keys;
	size_t nkeys;
};

/* An open call of -f, in which a later call of the same function began. */
struct caller {
	struct latency_start begun;
	struct caller *next;
};

/* A beginning, found by the values of its keys. With -d also the state of a processor. */
struct keyed {
	struct table_entry entry;
	struct latency_start begun;
	int open;
	struct caller *callers; /* with -f: the calls around this one, the innermost first */
	unsigned long long cpu; /* with -d: the processor of the beginning */
	int dropped;            /* with -d, of a processor: its last event was dropped */
};

static struct half first, last;
static const char *suffix; /* of -f; NULL: -f was not given */

static void parse_half(struct half *h, const char *text)
{
	char *s = xstrdup(text), *colon;

	/* a line has no system in front of the event, so the first colon ends the event */
	colon = strchr(s, ':');
	h->nkeys = 0;
	h->event = s;
	h->keys = xcalloc(strlen(s) + 2, sizeof(*h->keys));
	if (!colon)
		h->keys[h->nkeys++] = "pid";
	else
		*colon++ = '\0';
	for (char *key; (key = strsep(&colon, ",")); h->keys[h->nkeys++] = key)
		if (!*key || !strcmp(key, "."))
			usage_error(&tool, "not a key: '%s' in '%.80s'", key, text);
	if (!*h->event)
		usage_error(&tool, "no event in '%.80s'; put its name in front", text);
}

/* ---- the pair of -s and -e ------------------------------------------------------- */

/* Point m at the line and at the event's whole name. */
static void set_event(struct latency *t, struct latency_event *m, const struct trace_line *l)
{
	t->event.n = 0;
	strbuf_puts(&t->event, l->prefix);
	strbuf_add(&t->event, l->event.text, l->event.n);
	m->l = l;
	m->event = t->event.text;
}

/*
 * Put the values of the keys into t->key; with -f also the name of the function, which is
 * t->event. Return -1 if the event has none of the keys.
 */
static int make_key(struct latency *t, const struct half *h, const struct trace_line *l)
{
	size_t found = latency_key(&t->key, l, h->keys);

	if (suffix) {
		strbuf_puts(&t->key, " ");
		strbuf_add(&t->key, t->event.text, t->event.n);
	}
	return found ? 0 : -1;
}

/* Close the innermost open call. Remove k if it was the only one. */
static void close_one(struct latency *t, struct keyed *k)
{
	struct caller *c = k->callers;

	latency_start_clear(&k->begun);
	if (!c) {
		table_remove(&t->open, k);
		return;
	}
	k->begun = c->begun;
	k->callers = c->next;
	free(c);
}

/*
 * Return 1 if the task of a beginning is not selected by -p. If a beginning of a selected
 * task is open by the same key, its end is missing: count and close it.
 */
static int is_unselected(struct latency *t, const struct latency_event *m)
{
	struct keyed *k;

	if (!t->only.n || pids_has(&t->only, latency_task(m->l, "pid")))
		return 0;
	k = make_key(t, &first, m->l) < 0 ? NULL :
	    table_find(&t->open, t->key.text, t->key.n);
	if (k) {
		t->no_end++;
		close_one(t, k);
	}
	return 1;
}

static void begin(struct latency *t, const struct latency_event *m)
{
	struct keyed *k;

	if (make_key(t, &first, m->l) < 0) {
		t->no_end++;
		return;
	}
	k = table_at(&t->open, t->key.text, t->key.n);
	if (suffix && k->open) {
		struct caller *c = xcalloc(1, sizeof(*c));

		*c = (struct caller){ k->begun, k->callers };
		k->callers = c;
		k->begun = (struct latency_start){ 0 };
	} else {
		t->no_end += (unsigned)k->open;
	}
	k->open = 1;
	latency_start_set(t, &k->begun, m);
}

static void end(struct latency *t, const struct latency_event *m)
{
	struct keyed *k;

	k = make_key(t, &last, m->l) < 0 ? NULL :
	    table_find(&t->open, t->key.text, t->key.n);
	if (!k) {
		if (t->only.n) /* most ends belong to other tasks */
			return;
		if (t->ends) {
			stdout_print("%s\n", m->line);
			t->printed++;
		} else {
			t->no_begin++;
		}
		return;
	}
	latency_start_print(t, &k->begun, m);
	close_one(t, k);
}

static int match_keys(struct latency *t, const struct latency_event *m)
{
	if (t->only.n && !strcmp(m->event, "sched_process_fork"))
		return latency_follow_fork(t, m->l);
	if (suffix) {
		size_t n = strlen(suffix);

		if (m->l->stack)
			return 0;
		if (t->event.n <= n || strcmp(m->event + t->event.n - n, suffix)) {
			end(t, m);
			return 0;
		}
		t->event.n -= n;
		if (!is_unselected(t, m))
			begin(t, m);
		return 0;
	}
	/* If both globs match an event, end the open pair before beginning the next. */
	if (glob_matches(last.event, m->event))
		end(t, m);
	if (glob_matches(first.event, m->event) && !is_unselected(t, m))
		begin(t, m);
	return 0;
}

static void forget_one(struct latency *t, void *entry)
{
	struct keyed *k = entry;

	for (struct caller *c; (c = k->callers); t->no_end++) {
		latency_start_clear(&c->begun);
		k->callers = c->next;
		free(c);
	}
	t->no_end++;
	latency_start_clear(&k->begun);
}

static void forget_keys(struct latency *t)
{
	latency_forget_all(t, &t->open, forget_one);
}

static const struct latency_matcher by_keys = { sizeof(struct keyed), match_keys, forget_keys };

/* ---- -d: drop the ends that have a beginning --------------------------------------- */

/* Return the number of the processor at s, or ULLONG_MAX if there is none. */
static unsigned long long cpu_at(const char *s)
{
	return *s >= '0' && *s <= '9' ? text_digits(&s) : ULLONG_MAX;
}

/*
 * Close the beginnings on the processor of a line about lost events: "CPU:1 [LOST 3
 * EVENTS]", or in JSON "cpu":1. The lost events of a processor contain no end of a
 * beginning on another processor.
 */
static void forget_cpu(struct latency *t, const char *line)
{
	const char *json = strstr(line, "\"cpu\":"), *text = strstr(line, "CPU:");
	unsigned long long cpu = cpu_at(json ? json + 6 : text ? text + 4 : "");

	for (size_t i = 0; i < t->open.room; i++) {
		struct keyed *k = (void *)t->open.v[i];

		if (k && k->cpu == cpu)
			k->open = 0;
	}
}

/* Return whether the line is a stack: in text the line above the frames, in JSON an event. */
static int is_stack(const struct trace_line *l)
{
	return l->stack || (l->json && (text_part_is(l->event, "kernel_stack") ||
					text_part_is(l->event, "user_stack")));
}

/*
 * Store for the processor of this line whether the event was dropped, because a following
 * stack on the same processor belongs to that event. With dropped -1, store nothing.
 * Return the stored value.
 */
static int last_was_dropped(struct latency *t, const struct trace_line *l, int dropped)
{
	static const char *const cpu[] = { "cpu", NULL };
	struct keyed *k;

	latency_key(&t->key, l, cpu);
	strbuf_puts(&t->key, " last");
	k = dropped > 0 ? table_at(&t->open, t->key.text, t->key.n) :
	    table_find(&t->open, t->key.text, t->key.n);
	if (!k)
		return 0;
	if (dropped >= 0)
		k->dropped = dropped;
	return k->dropped;
}

/* Return 1 if the event is an end with an open beginning. Otherwise store a beginning. */
static int drops(struct latency *t, const struct latency_event *m)
{
	int is_end = glob_matches(last.event, m->event);
	struct keyed *k;

	if (!is_end && !glob_matches(first.event, m->event))
		return 0;
	if (make_key(t, is_end ? &last : &first, m->l) < 0)
		return 0;
	k = is_end ? table_find(&t->open, t->key.text, t->key.n) :
		     table_at(&t->open, t->key.text, t->key.n);
	if (!is_end) {
		k->open = 1;
		k->cpu = cpu_at(m->l->cpu.text);
		return 0;
	}
	if (!k)
		return 0;
	is_end = k->open;
	table_remove(&t->open, k);
	return is_end;
}

static void each_line_but_ends(struct latency *t, char *line, size_t n)
{
	static int below; /* the head line of a stack was dropped, so drop the frames too */
	struct latency_event m = { .line = line, .n = n };
	struct trace_line l;
	int event = trace_line(&l, line, n);

	if (below && !strncmp(line, " => ", 4))
		return;
	below = is_stack(&l) && last_was_dropped(t, &l, -1);
	if (below)
		return;
	if (event && !is_stack(&l)) {
		int dropped;

		set_event(t, &m, &l);
		dropped = drops(t, &m);
		last_was_dropped(t, &l, dropped);
		if (dropped)
			return;
		t->printed++;
	} else if (comments_is_gap(line)) {
		forget_cpu(t, line);
	}
	stdout_print("%s\n", line);
}

/* ---- the lines of all pairs -------------------------------------------------------- */

static const struct latency_matcher *matcher = &by_keys;
static int header;
static struct comments comments; /* only for lines that are not understood */

static void each_line(struct latency *t, char *line, size_t n)
{
	struct latency_event m = { .line = line, .n = n };
	struct trace_line l;

	if (!comments_event(&comments, &l, line, n)) {
		struct text_part host;

		/* the lost events may contain any end */
		if (comments_is_gap(line))
			matcher->forget(t);
		if (line[trace_line_host(line, n, &host)] == '#' || comments_is_gap(line) ||
		    !strncmp(line, "{\"lost\":", 8))
			stdout_print("%s\n", line);
		return;
	}
	if (trace_line_time(&l, &m.time, &m.digits) < 0 ||
	    (l.json && (l.body.n < 2 || l.body.text[l.body.n - 1] != '}')))
		return;
	t->json = l.json;
	set_event(t, &m, &l);
	if (header)
		stdout_print("# lat: %s from the beginning to the end\n",
			     m.digits < 0 ? "units of the trace clock" : "microseconds");
	header = 0;
	if (matcher->event(t, &m) < 0)
		exit(REFUSED);
}

static void print_unpaired(struct latency *t)
{
	unsigned long long lost;
	char reason[80] = "";

	t->ended = 1;
	matcher->forget(t);
	if (t->some_end)
		t->no_end = t->lost_end = 0;
	if (!t->no_end && !t->no_begin)
		return;
	lost = t->lost_end + t->lost_begin;
	if (lost)
		str_format(reason, sizeof(reason), t->json ? ",\"events_missing\":%llu" :
			   "; %llu because events are missing", lost);
	stdout_print(t->json ?
		     "{\"unpaired\":%llu,\"without_end\":%llu,\"without_beginning\":%llu%s}\n" :
		     "# unpaired %llu events: %llu without an end, %llu without a beginning%s\n",
		     t->no_end + t->no_begin, t->no_end, t->no_begin, reason);
}

static int is_name(const char *s)
{
	return *s && !s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* Add the i-th -c: NAME=KEY, or KEY. The name of KEY alone is KEY without a dot in front. */
static void add_carried(struct latency *t, size_t i, char *text)
{
	char *equals = strchr(text, '=');

	if (equals)
		*equals = '\0';
	t->names[i] = text + (!equals && *text == '.');
	t->keys[i] = equals ? equals + 1 : text;
	if (!is_name(t->names[i]))
		usage_error(&tool, "not a name: '%.80s'", t->names[i]);
	if (!*t->keys[i] || !strcmp(t->keys[i], "."))
		usage_error(&tool, "not a key: '%s'", t->keys[i]);
}

/* Choose the matcher by the name of a pair, or the events of -s and -e. */
static void choose_pair(const char *from, const char *to, char **operands)
{
	if (*operands) {
		size_t i = 0, n = sizeof(pairs) / sizeof(*pairs);

		opt_end(&tool, operands[1]);
		while (i < n && strcmp(pairs[i].name, *operands))
			i++;
		if (i == n)
			usage_error(&tool, "no pair is called '%.80s'; there are syscalls, block "
				    "and wakeup", *operands);
		if (from || to || suffix)
			usage_error(&tool, "a pair by name excludes -s, -e and -f");
		if (pairs[i].matcher) {
			matcher = pairs[i].matcher;
			return;
		}
		from = pairs[i].from;
		to = pairs[i].to;
	}
	if (suffix) {
		if (from || to || !*suffix)
			usage_error(&tool, "-f takes a suffix, and excludes -s and -e");
		from = to = "*";
	}
	if (!from || !to)
		usage_error(&tool, "no pair of events; give both -s and -e, or a pair by name");
	parse_half(&first, from);
	parse_half(&last, to);
	if (first.nkeys != last.nkeys)
		usage_error(&tool, "-s and -e have different numbers of keys");
}

static int add_child(void *arg, pid_t pid)
{
	struct pids *session = arg;
	struct task t;

	return !task_read(pid, &t) && t.ppid == session->v[0] ? pids_add(session, pid) : 0;
}

/*
 * Exclude the tasks of the session. A session that traces all tasks keeps its own tasks
 * out, so the trace has only a part of their events. The tasks are tfs-latency, its
 * parent (the janitor), the janitor's parent (the manager), and the children of
 * tfs-latency, which read the buffers.
 */
static void leave_session_out(struct latency *t, const char *pair)
{
	pid_t pid = task_self();
	struct task task;

	if (!pair || strcmp(pair, "wakeup"))
		usage_error(&tool, "-x needs the pair wakeup");
	if (!pid) {
		err_errno("unable to read %s/self", path_procfs());
		exit(REFUSED);
	}
	if (pids_add(&t->except, pid) < 0 || task_each_process(add_child, &t->except) < 0)
		exit(REFUSED);
	for (int i = 0; i < 2 && !task_read(pid, &task); i++)
		pids_add(&t->except, pid = task.ppid);
	if (pids_sort(&t->except) < 0)
		exit(REFUSED);
}

int main(int argc, char **argv)
{
	static struct latency t = { 0 };
	static struct line_reader in;
	const char *from = NULL, *to = NULL;
	unsigned long least = 0;
	size_t ncarried = 0;
	char *line;
	ssize_t n;
	int c, except = 0, drop = 0, pairs_only = 0;

	t.keys = xcalloc((size_t)argc + 1, sizeof(*t.keys));
	t.names = xcalloc((size_t)argc + 1, sizeof(*t.names));
	while ((c = opt_next(&tool, argc, argv)) != -1) {
		header |= c == 'H';
		pairs_only |= c != 'd' && c != 's' && c != 'e';
		if (c == 'a')
			t.ends = 1;
		else if (c == 'd')
			drop = 1;
		else if (c == 'f')
			suffix = opt_value;
		else if (c == 'c')
			add_carried(&t, ncarried++, opt_value);
		else if (c == 'b')
			t.beginnings = 1;
		else if (c == 's')
			from = opt_value;
		else if (c == 'e')
			to = opt_value;
		else if (c == 'p')
			pids_option(&tool, opt_value, 0, &t.only);
		else if (c == 'u')
			t.some_end = 1;
		else if (c == 'x')
			except = 1;
		else if (c == 'm')
			opt_number(&tool, "a number of microseconds", 0, ULONG_MAX, &least);
	}
	if (t.only.failed)
		return REFUSED;
	if (drop && (pairs_only || argv[opt_index]))
		usage_error(&tool, "-d excludes all other options but -s and -e");
	t.least = least;
	header |= isatty(STDOUT_FILENO);
	if (except)
		leave_session_out(&t, argv[opt_index]);
	choose_pair(from, to, argv + opt_index);
	t.open.size = matcher->size;

	input_begin();
	while ((n = line_read(&in, &line)) >= 0) {
		/* no line of the kernel has a NUL, so a string of an untrusted program has it */
		for (char *nul; (nul = memchr(line, '\0', (size_t)n)); *nul = '?')
			;
		if (drop)
			each_line_but_ends(&t, line, (size_t)n);
		else
			each_line(&t, line, (size_t)n);
	}
	if (in.failed)
		return REFUSED;
	if (!drop)
		print_unpaired(&t);
	comments_print(&comments);
	stdout_flush();
	return t.printed ? DONE : NO;
}
