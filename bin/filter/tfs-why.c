/* SPDX-License-Identifier: ISC */
/*
 * tfs-why - print where the time of tasks went, and who ended each of their waits
 *
 * Requires: only a trace on standard input or in FILE, as text or a trace.dat, with
 * sched_switch and sched_waking; with raw_syscalls or syscalls, what a task waits for is known.
 * Without -p it accounts the traced tasks that the trace names, or else all tasks. The parts of a
 * task add up to its time; time of which nothing is known is a part of its own. tfs-why ignores
 * SIGINT, so that the program that makes the trace can finish first.
 * Exit: 0 done, 1 no task, call or window, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "seen/seen.h"
#include "why/why.h"
#include "line_calls.h"

static struct input in;
static struct why why;
static int calls, requests;
static const char *only;
static const char nothing[] = "no such task, call or window in the trace";
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

/* Return a number for the host that dt-join put before the line; 0 if the line has none. */
static int host_of(const struct seen *l)
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
static int32_t pid_of(const struct seen *l, int64_t pid)
{
	return pid > 0 && pid < WHY_PIDS ? (int32_t)(host_of(l) * WHY_PIDS + pid) : 0;
}

static struct why_who who_at(const struct seen *l, const char *pid, const char *comm)
{
	static struct strbuf text[2], named[2];
	static int turn;
	struct text_part name = seen_text(l, comm);

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
	return (struct why_who){ pid_of(l, seen_number(l, pid)), name };
}

/* The kind of an event, and the keys of the fields that the account reads from its line. */
struct kind {
	char event[48];
	enum why_kind kind;
	char fields[5][20];
};

struct source {
	const struct seen *l;
	const struct kind *kind;
};

/* Return a field as a number; for the letters of prev_state, return the kernel's bits. */
static int64_t number(const void *source, unsigned i)
{
	const struct source *s = source;
	struct text_part p = seen_text(s->l, s->kind->fields[i]);
	const char *space = p.n ? memchr(p.text, ' ', p.n) : NULL;
	struct decimal v;

	if (strcmp(s->kind->fields[i], "prev_state")) {
		p.n = space ? (size_t)(space - p.text) : p.n; /* vec=9 [action=RCU] */
		return decimal_parse(&v, p) < 0 ? 0 :
		       (int64_t)(v.negative ? 0 - v.whole : v.whole);
	}
	switch (seen_wait(s->l)) {
	case WAIT_RUNNABLE:
		return 0;
	case WAIT_NONE:
		return 0x10; /* dead */
	default:
		return p.n && (*p.text == 'T' || *p.text == 't') ? 4 : 1;
	}
}

static struct text_part text(const void *source, unsigned i)
{
	const struct source *s = source;

	return s->kind->kind == WHY_MARK ? seen_body(s->l) :
	       seen_text(s->l, s->kind->fields[i]);
}

static struct why_who who(const void *source, unsigned pid, unsigned comm)
{
	const struct source *s = source;

	return who_at(s->l, s->kind->fields[pid], s->kind->fields[comm]);
}

/* Read the row of an event. Its pid and comm are fields, so their keys are .pid and .comm. */
static void read_kind(struct kind *k, struct text_part event)
{
	static const char vectors[] = "local_timer_*,call_function_*,reschedule_*,irq_work_*";
	const struct event_kind *rule = why_kinds;
	const char *at;

	str_format(k->event, sizeof(k->event), "%.*s", (int)event.n, event.text);
	/* a line has no system, and other systems have events that end like those of irq_vectors */
	while (*rule->name && (!glob_matches(strchr(rule->name, ':') + 1, k->event) ||
				(*rule->name == 'i' && strchr(rule->name, '*') &&
				 !glob_listed(vectors, k->event))))
		rule++;
	k->kind = rule->kind;
	at = rule->fields;
	for (size_t i = 0, n; *at && i < 5; i++, at += n + !!at[n]) {
		n = strcspn(at, " ");
		str_format(k->fields[i], sizeof(*k->fields), "%s%.*s",
			   !strncmp(at, "pid", n) || !strncmp(at, "comm", n) ? "." : "", (int)n,
			   at);
	}
}

/* Return the kind of the event; it is valid until the next call. */
static const struct kind *kind_of(const struct seen *l)
{
	static struct kind known[64], other = { .kind = WHY_OTHER };
	struct kind *k = &known[text_hash(TEXT_HASH, l->event.text, l->event.n) % 64];

	if (*l->prefix || l->event.n >= sizeof(k->event))
		return &other;
	if (!text_part_is(l->event, k->event))
		read_kind(k, l->event);
	return k;
}

/* Keep the first argument of the call that begins. The kernel and perf write it in hexadecimal. */
static void keep_argument(const struct seen *l, int32_t pid)
{
	struct argument *a = table_at(&arguments, (const char *)&pid, sizeof(pid));
	const struct text_part body = seen_body(l);
	const char *at = body.text, *end = at ? at + body.n : at;
	const char *rest;
	char text[24];
	size_t n = 0;

	a->known = 0;
	/* not the form of options/fields: id=0x3d (61) args={0x3,...} */
	if (!at || (!*l->prefix && *at != 'N') ||
	    !(at = memchr(at, *l->prefix ? ':' : '(', body.n)))
		return;
	for (at++; at < end && *at == ' '; at++)
		;
	while (at + n < end && n < sizeof(text) - 1 && at[n] != ',' && at[n] != ')')
		n++;
	str_format(text, sizeof(text), "%.*s", (int)n, at);
	a->value = text_value(text + 2 * !strncmp(text, "0x", 2), &rest, 16);
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
static int take_call(const struct seen *l, uint64_t ts, struct why_who by)
{
	struct call_task *task;
	enum pairing_fate fate;
	int64_t result;

	if (!seen_side(l))
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

/* The window of a task. */
struct window {
	struct table_entry entry;
	struct dt_window window;
};

/* Open and close the windows of requests, and follow their messages. */
static void take_mark(const struct seen *l, uint64_t ts, int32_t own,
		      const struct dt_mark *mark)
{
	/* who has sent the messages that are on their way */
	static struct {
		uint64_t key;
		int32_t sender;
	} sent[65536], *at;
	static struct table windows = { .size = sizeof(struct window) };
	const struct why_who by = { .pid = pid_of(l, (int64_t)mark->tid) };
	struct window *w = table_at(&windows, (const char *)&by.pid, sizeof(by.pid));
	struct dt_window ended = dt_window_mark(&w->window, mark, ts);
	char label[40] = "";

	at = &sent[mark->key % (sizeof(sent) / sizeof(*sent))];
	if (mark->what == 'B') {
		if (mark->key)
			str_format(label, sizeof(label), "request %llx",
				   (unsigned long long)mark->key);
		why_open(&why, ts, by, (struct text_part){ label, strlen(label) }, by.pid == own);
	} else if (ended.open && mark->what == 'E') {
		why_close(&why, ts, by.pid);
	} else if (mark->what == 'M') {
		at->key = mark->key;
		at->sender = by.pid;
	} else if (at->key == mark->key) {
		why_message(&why, by.pid, at->sender);
	}
}

/* Open and close the windows that the user has named. */
static void take_window(const struct seen *l, uint64_t ts, struct why_who by)
{
	struct dt_mark mark;
	char name[128];
	int raw = !*l->prefix && seen_side(l);

	if (requests && dt_mark(&mark, l))
		take_mark(l, ts, by.pid, &mark);
	str_format(name, sizeof(name), "%s%.*s", l->prefix,
		   (int)(l->event.n < 100 ? l->event.n : 0), l->event.text);
	why_event(&why, ts, by, name, raw ? line_calls.name.text : "");
}

static void take_event(const struct seen *l, uint64_t ts)
{
	const struct source source = { l, kind_of(l) };
	const enum why_kind kind = source.kind->kind;
	const struct why_event e = {
		.ts = ts, .by = who_at(l, "pid", "comm"), .name = l->event,
		.cpu = (int)(seen_number(l, "cpu") % 65536) + host_of(l) * 65536,
		.soft = seen_within(l, "sH"), .hard = seen_within(l, "hHzZ"),
		.number = number, .text = text, .who = who, .source = &source,
	};

	if ((kind != WHY_CALL && kind != WHY_RETURN && kind != WHY_OTHER) ||
	    !take_call(l, ts, e.by))
		why_take(&why, kind, &e);
	if (why.scope == WHY_SPANS)
		take_window(l, ts, e.by);
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
			&(struct seen){ .host = host }, text_pid(text)) });
}

/* ---- the command line ---- */

/* Account a trace.dat by its records. */
static int account_dat(const struct pids *of)
{
	static struct replay r;
	static char text[SHOW_ROOM];
	const struct record *record;
	size_t windows = 0, n;
	int64_t lost;
	int shown;

	if (requests)
		err_exit(MISUSED, "-r needs text; type tfs-report -H %s | tfs-why -r",
			 in.dat);
	account_use(&why, of, &r.show, &r.decode);
	if (replay_open(&r, in.dat) < 0)
		return REFUSED;
	for (size_t i = 0; i < r.dat.nbuffers; i++) {
		replay_begin(&r, &r.dat.buffers[i]);
		account_begin(&r.show, &r.decode);
		account_subject(0);
		while ((record = merge_next(&r.merge, &lost))) {
			n = show_record(&r.show, record, lost, text, sizeof(text), &shown);
			if (n) /* a loss */
				stdout_print("%.*s", (int)n, text);
		}
		windows += account_end(NULL);
		stdout_print("%.*s", (int)replay_losses(&r, text, sizeof(text)), text);
		replay_end(&r);
	}
	stdout_flush();
	return replay_status(&r) != DONE ? REFUSED : windows ? DONE : err_no("%s", nothing);
}

/* Return the tasks of -p. */
static struct pids parse(int argc, char **argv)
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
	why.given = only != NULL;
	if (only && pids_option(&tool, only, 0, &pids) < 0)
		exit(REFUSED);
	input_takes_dat(&in);
	input_file(&in, &tool, argv + opt_index);
	return pids;
}

static void each(void)
{
	uint64_t ts;
	int digits;

	text_mask_nul(in.line, in.n);
	if (!input_event(&in)) {
		take_comment();
		comments_keep(&in.comments, in.line);
		return;
	}
	if (in.l.json)
		err_exit(REFUSED, "the trace is JSON, which does not tell what interrupts did; "
			 "give text, or a trace.dat");
	if (!why.traced)
		why.all |= !only;
	if (seen_time(&in.l, &ts, &digits) == 0)
		take_event(&in.l, ts);
}

int main(int argc, char **argv)
{
	const struct pids pids = parse(argc, argv);

	if (in.dat)
		return account_dat(&pids);
	why_begin(&why);
	for (size_t i = 0; i < pids.n; i++)
		why_subject(&why, (struct why_who){ .pid = pids.v[i] });
	input_each(&in, each);
	if (!why.told)
		err_exit(NO, "the trace has no sched_switch, which tells when a task runs");
	return input_end(&in, why_end(&why) ? NULL : nothing);
}
