/* SPDX-License-Identifier: ISC */
/*
 * tfs-why - print where the time of tasks went, and who ended each of their waits
 *
 * Requires: only a trace on standard input or in FILE, as text or a trace.dat, with
 * sched_switch and sched_waking; with raw_syscalls or syscalls, what a task waits for is known.
 * For a trace.dat, tfs-why runs tfs-report. Without -p it accounts the traced tasks that the
 * trace names, or else all tasks. The parts of a task add up to its time; time of which
 * nothing is known is a part of its own. tfs-why ignores SIGINT, so that the program that makes the
 * trace can finish first.
 * Exit: 0 done, 1 no task, call or window, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "lines/lines.h"
#include "why/why.h"
#include "line_calls.h"

static struct input in;
static struct why why;
static int calls, requests;
static const char *only;
static unsigned long depth = 3, top = 5, slower;

static const struct tool tool = {
	TOOL_TFS_WHY,
	.places = (const struct opt_place[]){
		{ 'c', .flag = &calls }, { 'd', .number = &depth }, { 'e', .text = &why.closes },
		{ 'f', .flag = &why.folded }, { 'j', .flag = &why.json },
		{ 'm', .number = &slower }, { 'n', .number = &top }, { 'p', .text = &only },
		{ 'r', .flag = &requests }, { 's', .text = &why.opens }, { 0 },
	},
};

/* The first argument of a task's call: its descriptor, or the address of a futex. */
struct argument {
	struct table_entry entry;
	uint64_t value;
	int known;
};

static struct table arguments = { .size = sizeof(struct argument) };
static struct line_calls line_calls = { .pairing.tasks.size = sizeof(struct call_task) };

/* ---- what a line says ---- */

/* Return the number of the line's host, by which dt-join has begun the line; others have 0. */
static int host_of(const struct trace_line *l)
{
	enum { MOST = 64 }; /* of dt-join */
	static char hosts[MOST][72];
	int i = 0;

	if (!l->host.n)
		return 0;
	while (i < MOST - 1 && *hosts[i] && !text_part_is(l->host, hosts[i]))
		i++;
	if (!*hosts[i])
		str_format(hosts[i], sizeof(hosts[i]), "%.*s",
			   (int)(l->host.n < 70 ? l->host.n : 70), l->host.text);
	return i;
}

/* Return the task of the line's host. */
static int32_t pid_of(const struct trace_line *l, int64_t pid)
{
	return pid > 0 && pid < WHY_PIDS ? (int32_t)(host_of(l) * WHY_PIDS + pid) : 0;
}

static struct why_who who_at(const struct trace_line *l, const char *pid, const char *comm)
{
	static struct strbuf text[2], named[2];
	static int turn;
	struct text_part name = trace_line_key(l, comm);

	/* a line has two tasks at most */
	turn = !turn;
	if (text_part_is(name, "<...>"))
		name.n = 0; /* the kernel has forgotten it */
	if (name.n)
		name = strbuf_unescaped(&text[turn], name, 0);
	if (name.n && l->host.n) {
		strbuf_add(strbuf_empty(&named[turn]), l->host.text, l->host.n);
		strbuf_add(&named[turn], ":", 1);
		strbuf_add(&named[turn], name.text, name.n);
		name = (struct text_part){ named[turn].text, named[turn].n };
	}
	return (struct why_who){ pid_of(l, trace_line_integer(l, pid)), name };
}

static enum why_leave leave_of(const struct trace_line *l)
{
	struct text_part p = trace_line_key(l, "prev_state");

	switch (trace_line_wait(l)) {
	case WAIT_RUNNABLE:
		return WHY_STAYS;
	case WAIT_NONE:
		return WHY_DIES;
	default:
		return p.n && (*p.text == 'T' || *p.text == 't') ? WHY_STOPS : WHY_SLEEPS;
	}
}

/* Keep the first argument of the call that begins. The kernel and perf write it in hexadecimal. */
static void keep_argument(const struct trace_line *l, int32_t pid)
{
	struct argument *a = table_at(&arguments, (const char *)&pid, sizeof(pid));
	const char *at = l->body.text, *end = at ? at + l->body.n : at;
	char text[24], *rest;
	size_t n = 0;

	a->known = 0;
	/* not the form of options/fields: id=0x3d (61) args={0x3,...} */
	if (!at || (!*l->prefix && *at != 'N') ||
	    !(at = memchr(at, *l->prefix ? ':' : '(', l->body.n)))
		return;
	for (at++; at < end && *at == ' '; at++)
		;
	while (at + n < end && n < sizeof(text) - 1 && at[n] != ',' && at[n] != ')')
		n++;
	str_format(text, sizeof(text), "%.*s", (int)n, at);
	a->value = strtoull(text, &rest, 16);
	a->known = n && !*rest;
}

/* Say what a task waits for in this call (struct why). */
static void doing(void *unused, int32_t pid, const char *name, struct why_wait *wait)
{
	const struct argument *a = table_find(&arguments, (const char *)&pid, sizeof(pid));

	(void)unused;
	why_describe(wait, name, a && a->known ? &a->value : NULL, "");
}

/* Account the entry or the return of a call. Return 0 if the line is neither. */
static int take_call(const struct trace_line *l, uint64_t ts, struct why_who by)
{
	struct call_task *task;
	enum pairing_fate fate;
	int64_t result;

	if (!trace_line_side(l))
		return 0;
	fate = line_calls_event(&line_calls, l, &task);
	if (fate == PAIRING_NOTHING || l->decoded)
		return 1;
	if (fate == PAIRING_BEGAN || fate == PAIRING_NO_RETURN) {
		keep_argument(l, by.pid);
		why_call(&why, ts, by, line_calls.name.text);
	} else {
		why_return(&why, ts, by, line_calls.name.text,
			   line_calls_result(l, &result) < 0 ? 0 : result);
	}
	return 1;
}

/* Return the word of softirq_entry: vec=9 [action=RCU]. */
static struct text_part softirq_of(const struct trace_line *l)
{
	static const char key[] = "[action=";
	const char *at = memmem(l->body.text, l->body.n, key, sizeof(key) - 1), *end, *close;

	if (!at)
		return (struct text_part){ 0 };
	at += sizeof(key) - 1;
	end = l->body.text + l->body.n;
	close = memchr(at, ']', (size_t)(end - at));
	return (struct text_part){ at, (size_t)((close ? close : end) - at) };
}

/* Account an interrupt. Return 0 if the line is about none. */
static int take_irq(const struct trace_line *l, uint64_t ts, int cpu, struct why_who by)
{
	static const char *const events[] = {
		"irq_handler_", "softirq_", "local_timer_", "call_function_single_",
		"call_function_", "reschedule_", "irq_work_",
	};
	struct text_part what = { 0 };
	char name[32];

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		size_t n = strlen(events[i]);

		if (l->event.n <= n || memcmp(l->event.text, events[i], n))
			continue;
		if (text_part_is((struct text_part){ l->event.text + n, l->event.n - n }, "exit")) {
			why_irq(&why, ts, cpu, by, "", 0);
			return 1;
		}
		if (!text_part_is((struct text_part){ l->event.text + n, l->event.n - n }, "entry"))
			continue;
		what = i == 1 ? softirq_of(l) : trace_line_key(l, "name");
		if (!what.n)
			what = (struct text_part){ events[i], n - 1 };
		str_format(name, sizeof(name), "%.*s", (int)(what.n < 31 ? what.n : 31), what.text);
		why_irq(&why, ts, cpu, by, name, 1);
		return 1;
	}
	return 0;
}

/* Open and close the windows of requests, and follow their messages. */
static void take_mark(const struct trace_line *l, uint64_t ts, int32_t own,
		      const struct dt_mark *mark)
{
	/* who has sent the messages that are on their way */
	static struct {
		uint64_t key;
		int32_t sender;
	} sent[65536], *at;
	const struct why_who by = { .pid = pid_of(l, (int64_t)mark->tid) };
	char label[40] = "";

	at = &sent[mark->key % (sizeof(sent) / sizeof(*sent))];
	if (mark->what == 'B') {
		if (mark->key)
			str_format(label, sizeof(label), "request %llx",
				   (unsigned long long)mark->key);
		why_open(&why, ts, by, (struct text_part){ label, strlen(label) }, by.pid == own);
	} else if (mark->what == 'E') {
		why_close(&why, ts, by.pid);
	} else if (mark->what == 'M') {
		at->key = mark->key;
		at->sender = by.pid;
	} else if (at->key == mark->key) {
		why_message(&why, by.pid, at->sender);
	}
}

/* Open and close the windows that the user has named. */
static void take_window(const struct trace_line *l, uint64_t ts, struct why_who by)
{
	struct dt_mark mark;
	char name[128];
	int raw = !*l->prefix && trace_line_side(l);

	if (requests && dt_mark(&mark, l))
		take_mark(l, ts, by.pid, &mark);
	str_format(name, sizeof(name), "%s%.*s", l->prefix,
		   (int)(l->event.n < 100 ? l->event.n : 0), l->event.text);
	why_event(&why, ts, by, name, raw ? line_calls.name.text : "");
}

static void take_event(const struct trace_line *l, uint64_t ts)
{
	struct why_who by = who_at(l, "pid", "comm");
	int cpu = (int)(trace_line_integer(l, "cpu") % 65536) + host_of(l) * 65536;
	const char *child, *comm;
	char disk[40], *comma;
	struct text_part part;

	if (text_part_is(l->event, "sched_switch")) {
		why_switch(&why, ts, cpu, who_at(l, "prev_pid", "prev_comm"), leave_of(l),
			   who_at(l, "next_pid", "next_comm"));
	} else if (trace_line_wakes(l)) {
		why_waking(&why, ts, cpu, by, trace_line_within(l, "sH"),
			   trace_line_within(l, "hHzZ"), who_at(l, ".pid", ".comm"));
	} else if (trace_line_born(l, &child, &comm)) {
		why_new_task(&why, ts, by, who_at(l, child, comm));
	} else if (text_part_is(l->event, "sched_process_exec")) {
		why_exec(&why, ts, by, (int32_t)trace_line_integer(l, "old_pid"));
	} else if ((text_part_is(l->event, "block_bio_queue") ||
		    text_part_is(l->event, "block_rq_issue")) && !trace_line_within(l, "shHzZ")) {
		part = trace_line_key(l, "dev");
		str_format(disk, sizeof(disk), "%.*s", (int)(part.n < 20 ? part.n : 0), part.text);
		if ((comma = strchr(disk, ',')))
			*comma = ':';
		part = trace_line_key(l, "rwbs");
		str_format(disk + strlen(disk), 16, " %.*s", (int)(part.n < 12 ? part.n : 0),
			   part.text);
		why_disk(&why, ts, by, disk);
	} else if (text_part_is(l->event, "task_throttled") && !trace_line_within(l, "shHzZ")) {
		why_throttled(&why, ts, by);
	} else if (text_part_is(l->event, "signal_deliver")) {
		why_signal(&why, ts, by, (int)trace_line_integer(l, "sig"));
	} else if (text_part_is(l->event, "page_fault_user")) {
		why_fault(&why, ts, by, (uint64_t)trace_line_integer(l, "address"));
	} else if (!take_call(l, ts, by) && !take_irq(l, ts, cpu, by)) {
		why_time(&why, ts);
	}
	if (why.scope == WHY_SPANS)
		take_window(l, ts, by);
}

/* Does dt-join tell with this line how well it knows the clock of a host? */
static int tells_clocks(const char *line)
{
	return !strncmp(line, "# ", 2) && strstr(line, " message");
}

static void take_comment(void)
{
	struct text_part host, pid;
	char text[16];

	if (comments_is_gap(in.line))
		why_lost(&why);
	if (requests && !why.json && !why.folded && tells_clocks(in.line))
		stdout_print("%s\n", in.line);
	if (only || !comments_traced(in.line, &host, &pid))
		return;
	str_format(text, sizeof(text), "%.*s", (int)(pid.n < 16 ? pid.n : 0), pid.text);
	if (text_part_is(pid, "all"))
		why.all = 1;
	else if (text_pid(text))
		why_subject(&why, (struct why_who){ .pid = pid_of(
			&(struct trace_line){ .host = host }, text_pid(text)) });
}

/* ---- the command line ---- */

/* Account a trace.dat by tfs-report. Return only if there is none, or exit. */
static void account_dat(const char *file)
{
	char path[PATH_MAX], dir[PATH_MAX], numbers[3][24];
	const char *argv[20] = { "tfs-report", "--why", calls ? "calls" : "tasks", "--depth",
				 numbers[0], "--top", numbers[1], "--slower", numbers[2] };
	size_t n = 9;
	int fd = file && strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC) : -1, dat;

	dat = fd >= 0 && input_is_dat(fd);
	fd_close(fd);
	if (!dat)
		return;
	if (requests)
		err_exit(MISUSED, "-r needs text; type tfs-report -H %s | tfs-why -r", file);
	str_format(numbers[0], sizeof(numbers[0]), "%lu", depth);
	str_format(numbers[1], sizeof(numbers[1]), "%lu", top);
	str_format(numbers[2], sizeof(numbers[2]), "%lu", slower);
	if (why.json)
		argv[n++] = "-j";
	if (why.folded)
		argv[n++] = "--folded";
	if (only) {
		argv[n++] = "--of";
		argv[n++] = only;
	}
	if (why.opens) {
		argv[n++] = "--begin";
		argv[n++] = why.opens;
		argv[n++] = "--end";
		argv[n++] = why.closes;
	}
	argv[n] = file;
	if (program_directory(dir) < 0 || program_find(dir, path, (const char *const[]){
		"tfs-report", "../bin/tfs-report", NULL }) < 0)
		err_exit(REFUSED, "unable to find tfs-report, which reads a trace.dat");
	execv(path, (char *const *)(size_t)argv);
	err_refuse("unable to run %s", path);
}

static void parse(int argc, char **argv)
{
	struct pids pids = { 0 };

	while (opt_next(&tool, argc, argv) != -1)
		;
	if (!why.opens != !why.closes)
		usage_error(&tool, "a window needs both -s and -e");
	if ((why.opens != NULL) + calls + requests > 1)
		usage_error(&tool, "-c, -r and -s are three ways to cut time; give one");
	if (why.json && why.folded)
		usage_error(&tool, "-j and -f cannot be given together");
	why.scope = calls ? WHY_CALLS : why.opens || requests ? WHY_SPANS : WHY_TASKS;
	why.slower = (uint64_t)slower * 1000;
	why.depth = (unsigned)depth;
	why.top = top;
	why.doing = doing;
	why.requests = requests;
	if (only && pids_option(&tool, only, 0, &pids) < 0)
		exit(REFUSED);
	account_dat(argv[opt_index]);
	why_begin(&why);
	for (size_t i = 0; i < pids.n; i++)
		why_subject(&why, (struct why_who){ .pid = pids.v[i] });
	input_file(&tool, argv + opt_index);
}

int main(int argc, char **argv)
{
	uint64_t ts;
	int digits;

	parse(argc, argv);
	input_begin();
	while (input_read(&in)) {
		text_mask_nul(in.line, in.n);
		if (!input_event(&in)) {
			take_comment();
			comments_keep(&in.comments, in.line);
			continue;
		}
		if (in.l.json)
			err_exit(REFUSED, "the trace is JSON, which does not tell what interrupts "
				 "did; give text, or a trace.dat");
		if (!why.traced)
			why.all |= !only;
		if (trace_line_time(&in.l, &ts, &digits) == 0)
			take_event(&in.l, ts);
	}
	if (in.in.failed)
		return REFUSED;
	if (!why.switches)
		err_exit(NO, "the trace has no sched_switch, which tells when a task runs");
	return input_end(&in, why_end(&why) ? NULL :
			 "no such task, call or window in the trace");
}
