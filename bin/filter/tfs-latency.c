/* SPDX-License-Identifier: ISC */
/*
 * tfs-latency - print the time from one event of a trace to another
 *
 * Requires: only a trace on standard input, as text or lines of JSON.
 * With -d, tfs-latency also drops the stacks below the ends. -a, -b and -d change no line,
 * but with "block", -b adds the values of -c. With "wakeup", -p prints only waits of these
 * tasks, since an instance that records them has only a part of the other tasks' events.
 * A key is any key of tfs-count; the default is pid. tfs-latency prints each end with the
 * values of -c and lat=MICROSECONDS after it. Lines about lost events pass through, and
 * no pair spans a gap. On a terminal, tfs-latency prints as with -H. A last line counts
 * the beginnings and ends without the other half.
 * tfs-latency ignores SIGINT, so that the program that makes the trace can finish first.
 * Exit: 0 done, 1 nothing was printed, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "help.h"
#include "proc/proc.h"
#include "seen/seen.h"
#include "latency.h"

static struct latency t;
static const struct latency_matcher *matcher = &latency_keys;
static struct input in; /* in.comments only counts the lines that are not understood */
static const char *from, *to;
static int drop, header, except;

static const struct tool tool = {
	TOOL_TFS_LATENCY,
	.places = (const struct opt_place[]){
		{ 'a', .flag = &t.ends }, { 'b', .flag = &t.beginnings }, { 'd', .flag = &drop },
		{ 'e', .text = &to }, { 'f', .text = &t.suffix }, { 'H', .flag = &header },
		{ 's', .text = &from }, { 'u', .flag = &t.some_end }, { 'x', .flag = &except },
		{ 0 },
	},
};

static const struct pair {
	const char *name;
	const struct latency_matcher *matcher;
	/* for latency_keys: the values of -s, -e and -c; a wait for a mutex begins twice (once) */
	const char *from, *to, *carried;
} pairs[] = {
	{ "syscalls", &latency_calls, NULL, NULL, NULL },
	{ "block", &latency_block, NULL, NULL, NULL },
	{ "wakeup", &latency_sched, NULL, NULL, NULL },
	{ "locks", &latency_keys, "contention_begin:pid,lock_addr", "contention_end:pid,lock_addr",
	  "flags" },
};

/* ---- the lines of all pairs -------------------------------------------------------- */

/* Pair the line. Return 0, or -1, reported. */
static int each_line(void)
{
	static int headed; /* the user wants a header, and so the names of the tasks */
	struct latency_event m = { .line = in.line, .n = in.n };
	const struct seen *l = &in.l;

	if (!input_event(&in)) {
		struct text_part host, pid;

		/* -x: the stream selects the tasks, and names them */
		if (except && comments_traced(in.line, &host, &pid) && !text_part_is(pid, "all")) {
			if (headed)
				stdout_print("%s\n", in.line);
			return latency_follow_task(&t, (pid_t)text_value(pid.text, NULL, 10));
		}
		headed |= !strncmp(in.line, "# tracer: ", 10);
		/* the lost events may contain any end */
		if (comments_is_gap(in.line))
			matcher->forget(&t);
		if (in.line[line_prefix(in.line, in.n, &host)] == '#' ||
		    comments_is_gap(in.line) || !strncmp(in.line, "{\"lost\":", 8))
			stdout_print("%s\n", in.line);
		return 0;
	}
	if (seen_time(l, &m.time, &m.digits) < 0 ||
	    (l->json && (l->body.n < 2 || l->body.text[l->body.n - 1] != '}')))
		return 0;
	t.json = l->json;
	latency_event_set(&t, &m, l);
	if (header)
		stdout_print("# lat: %s from the beginning to the end\n",
			     m.digits < 0 ? "units of the trace clock" : "microseconds");
	header = 0;
	return latency_follow_child(&t, l) < 0 ? -1 : matcher->event(&t, &m);
}

static void print_unpaired(void)
{
	unsigned long long lost;
	char reason[160] = "";
	size_t n = 0;

	t.ended = 1;
	matcher->forget(&t);
	if (t.some_end)
		t.no_end = t.lost_end = 0;
	if (!t.no_end && !t.no_begin && !t.denied && !t.answered)
		return;
	lost = t.lost_end + t.lost_begin;
	if (lost)
		n = str_format(reason, sizeof(reason), t.json ? ",\"events_missing\":%llu" :
			       "; %llu because events are missing", lost);
	if (t.denied)
		n += str_format(reason + n, sizeof(reason) - n, t.json ? ",\"denied\":%llu" :
				"; seccomp denied %llu calls", t.denied);
	if (t.answered)
		str_format(reason + n, sizeof(reason) - n, t.json ? ",\"answered\":%llu" :
			   "; seccomp answered %llu calls", t.answered);
	stdout_print(t.json ?
		     "{\"unpaired\":%llu,\"without_end\":%llu,\"without_beginning\":%llu%s}\n" :
		     "# unpaired %llu events: %llu without an end, %llu without a beginning%s\n",
		     t.no_end + t.no_begin, t.no_end, t.no_begin, reason);
}

/* ---- the command line ---------------------------------------------------------------- */

/* Parse EVENT[:KEY,...]. Return the number of keys. */
static size_t parse_half(struct latency_half *h, const char *text)
{
	char *s = xstrdup(text), *colon;
	size_t n = 0;

	/* a line has no system before the event, so the first colon ends the event */
	colon = strchr(s, ':');
	h->event = s;
	h->keys = xcalloc(strlen(s) + 2, sizeof(*h->keys));
	if (!colon)
		h->keys[n++] = "pid";
	else
		*colon++ = '\0';
	for (char *key; (key = strsep(&colon, ",")); h->keys[n++] = key)
		if (!*key || !strcmp(key, "."))
			usage_error(&tool,
				    "'%s' in '%.80s' is not a key, the name of a field such as pid",
				    key, text);
	if (!*h->event)
		usage_error(&tool, "no event in '%.80s'; put its name in front", text);
	return n;
}

/* Add the i-th -c: NAME=KEY, or KEY. The name of KEY alone is KEY without a dot before it. */
static void add_carried(size_t i, char *text)
{
	char *equals = strchr(text, '=');
	const char *name = text + (!equals && *text == '.');

	if (equals)
		*equals = '\0';
	t.names[i] = name;
	t.keys[i] = equals ? equals + 1 : text;
	if (!*name || name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"abcdefghijklmnopqrstuvwxyz0123456789_")])
		usage_error(&tool, "not a name: '%.80s'; use letters, digits and _", name);
	if (!*t.keys[i] || !strcmp(t.keys[i], "."))
		usage_error(&tool, "'%s' is not a key, the name of a field such as pid",
				    t.keys[i]);
}

/*
 * Choose the matcher by the name of a pair, or the events of -s and -e. Return the operands after
 * the name.
 */
static char **choose_pair(char **operands)
{
	size_t i = 0, n = sizeof(pairs) / sizeof(*pairs);

	while (*operands && i < n && strcmp(pairs[i].name, *operands))
		i++;
	if (*operands && (i < n || !(from || to || t.suffix))) {
		if (i == n)
			usage_error(&tool, "no pair is called '%.80s'; there are syscalls, block, "
				    "wakeup and locks", *operands);
		if (from || to || t.suffix)
			usage_error(&tool, "a pair by name cannot be combined with -s, -e and -f");
		matcher = pairs[i].matcher;
		from = pairs[i].from;
		to = pairs[i].to;
		t.once = pairs[i].carried != NULL;
		if (t.once && !*t.keys)
			*t.keys = *t.names = pairs[i].carried;
		operands++;
		if (!from)
			return operands;
	}
	if (t.suffix) {
		if (from || to || !*t.suffix)
			usage_error(&tool, "-f takes a suffix, and cannot be combined with -s and "
				    "-e");
		from = to = "*";
	}
	if (!from || !to)
		usage_error(&tool, "no pair of events; give both -s and -e, or a pair by name");
	if (parse_half(&t.first, from) != parse_half(&t.last, to))
		usage_error(&tool, "-s and -e have different numbers of keys");
	return operands;
}

static int add_child(void *arg, pid_t pid)
{
	struct pids *session = arg;
	struct task task;

	return !task_read(pid, &task) && task.ppid == session->v[0] ? pids_add(session, pid) : 0;
}

/*
 * Exclude the tasks of the session. A session that traces all tasks keeps its own tasks
 * out, so the trace has only a part of their events. The tasks are tfs-latency, its
 * parent (the janitor), the janitor's parent (the manager), and the children of
 * tfs-latency, which read the buffers.
 */
static void leave_session_out(const char *pair)
{
	pid_t pid = task_self();
	struct task task;

	if (!pair || strcmp(pair, "wakeup"))
		usage_error(&tool, "-x needs the pair wakeup");
	if (!pid)
		err_refuse("unable to read %s/self", path_procfs());
	if (pids_add(&t.except, pid) < 0 || task_each_process(add_child, &t.except) < 0)
		exit(REFUSED);
	for (int i = 0; i < 2 && !task_read(pid, &task); i++)
		pids_add(&t.except, pid = task.ppid);
	if (pids_sort(&t.except) < 0)
		exit(REFUSED);
}

static void parse(int argc, char **argv)
{
	size_t ncarried = 0;
	int c, more = 0;

	t.keys = xcalloc((size_t)argc + 1, sizeof(*t.keys));
	t.names = xcalloc((size_t)argc + 1, sizeof(*t.names));
	while ((c = opt_next(&tool, argc, argv)) != -1) {
		more = 1;
		if (c == 'c')
			add_carried(ncarried++, opt_value);
		else if (c == 'p')
			pids_option(&tool, opt_value, 0, &t.only);
		else
			t.least = opt_number();
	}
	if (t.only.failed)
		exit(REFUSED);
	more |= t.ends || t.beginnings || t.suffix || header || t.some_end || except;
	if (drop && (more || (argv[opt_index] && !from)))
		usage_error(&tool, "-d cannot be combined with other options, except -s and -e");
	header |= isatty(STDOUT_FILENO);
	if (except)
		leave_session_out(argv[opt_index]);
	in.whole = 1;
	input_takes_dat(&in);
	input_file(&in, &tool, choose_pair(argv + opt_index));
	t.open.size = matcher->size;
}

static void each(void)
{
	text_mask_nul(in.line, in.n);
	if (drop)
		keyed_drop_ends(&t, in.line, in.n);
	else if (each_line() < 0)
		exit(REFUSED);
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	input_each(&in, each);
	if (!drop)
		print_unpaired();
	return input_end(&in, t.printed ? NULL : "no such pair of events in the trace");
}
