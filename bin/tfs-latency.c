/* SPDX-License-Identifier: ISC */
/*
 * tfs-latency - print how long it took from one event of a trace to another
 *
 * Requires: nothing but a trace on standard input, as text or lines of JSON.
 *	-s EVENT[:KEY,...]  what begins: a glob, and what says which one it was
 *	-e EVENT[:KEY,...]  what ends it: it has the same in its keys, one by one
 *	PAIR        instead of both, syscalls, block or wakeup
 *	-c [NAME=]KEY  carry what the beginning has in KEY to the line, as NAME
 *	-b          print the beginnings, too, as they are
 *	-m US       only those that took so many microseconds or more
 *	-p PID,...  what these tasks, and those that they fork, began; wakeup: waits of
 *	            these tasks only, since an instance that records for them has just
 *	            a part of the others'
 * A key is any of tfs-count's, the default is pid. Each event that ends something is
 * printed, with what is carried and lat=MICROSECONDS behind it; what tells of lost
 * events passes through, and over a gap nothing is paired. What has no other half is
 * counted in a last line. An interrupt from the terminal is the trace's to hear.
 * Exit: 0 done, 1 nothing was printed, 100 misused, 111 refused.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "tfs.h"

static const struct tool tool = {
	.name = "tfs-latency",
	.usage = "tfs-latency [-b] [-c [NAME=]KEY]... [-m US] [-p PID,...] "
		 "-s EVENT[:KEY,...] -e EVENT[:KEY,...] | PAIR",
	.purpose = "print how long it took from one event of a trace to another",
	.letters = "bc:e:m:p:s:",
};

static const struct pair {
	const char *name, *from, *to;
} pairs[] = {
	{ "syscalls", "sys_enter*:pid,call", "sys_exit*:pid,call" },
	{ "block", "block_rq_issue:dev,sector", "block_rq_complete:dev,sector" },
	/* of a new task, too */
	{ "wakeup", "sched_wakeup*:.pid", "sched_switch:next_pid" },
};

/* What -s or -e names. */
struct half {
	char *event;
	const char **keys;
	size_t nkeys;
};

/* Something that has begun. */
struct begun {
	struct entry entry;
	uint64_t time;
	int open, digits;
	size_t n;
	char *carried;          /* of n bytes, NULL: of none */
};

struct latency {
	struct half from, to;
	const char **keys, **names;             /* that are carried */
	uint64_t least;                         /* microseconds */
	struct table begun;
	struct words event, key, fields, line;
	unsigned long long printed, no_end, no_begin;
	struct pids only;                       /* none: of all */
	int wakeup;                             /* the pair of this name */
	int beginnings;                         /* are printed */
	int json;                               /* the last event was */
};

static void parse_half(struct half *h, const char *text)
{
	char *s = strdup(text), *colon;

	if (!s)
		die(REFUSED, "out of memory");
	/* one with the system in front is not what a line has */
	colon = strchr(s, ':');
	h->nkeys = 0;
	h->event = s;
	h->keys = allocate(strlen(s) + 2, sizeof(*h->keys));
	if (!colon)
		h->keys[h->nkeys++] = "pid";
	else
		*colon++ = '\0';
	for (char *key; (key = strsep(&colon, ",")); h->keys[h->nkeys++] = key)
		if (!*key || !strcmp(key, "."))
			misused(&tool, "not a key: '%s' in '%.80s'", key, text);
	if (!*h->event)
		misused(&tool, "no event in '%.80s'", text);
}

static int is_half(struct latency *t, const struct half *h)
{
	return glob_matches(h->event, t->event.text);
}

/*
 * -1: it has none of them. Text never is JSON's other half, nor is what is another
 * host's, where dt-join has put several together: its numbers are others.
 */
static int make_key(struct latency *t, const struct half *h, const struct trace_line *l)
{
	size_t there = words_values(&t->key, l, h->keys);

	words_put(&t->key, l->json ? "j" : "t");
	words_add(&t->key, l->host.text, l->host.n);
	return there ? 0 : -1;
}

static void forget(struct latency *t, struct begun *b)
{
	free(b->carried);
	table_remove(&t->begun, b);
}

static void begin(struct latency *t, const struct trace_line *l, const char *line,
		  uint64_t time, int digits)
{
	struct begun *b;

	if (make_key(t, &t->from, l) < 0) {
		t->no_end++;
		return;
	}
	b = table_at(&t->begun, t->key.text, t->key.n);
	t->no_end += (unsigned)b->open;
	b->open = 1;
	t->fields.n = 0;
	words_put(&t->fields, "");
	for (size_t i = 0; t->keys[i]; i++)
		words_field(&t->fields, l, t->names[i], trace_key(l, t->keys[i]));
	free(b->carried);
	b->carried = t->fields.n ? allocate(t->fields.n, 1) : NULL;
	b->n = t->fields.n;
	if (b->n)
		memcpy(b->carried, t->fields.text, b->n);
	b->time = time;
	b->digits = digits;
	if (t->beginnings) {
		print("%s\n", line);
		t->printed++;
	}
}

/* Microseconds, with three digits more where one of the times has them. */
static void put_lat(struct words *w, const struct trace_line *l, const struct begun *b,
		    uint64_t time, int digits)
{
	uint64_t lat = time > b->time ? time - b->time : b->time - time;
	const char *sign = time < b->time ? "-" : "";
	uint64_t nano = 1000 + lat % 1000;
	char text[48];

	if (digits < 0)
		format(text, sizeof(text), "%s%llu", sign, (unsigned long long)lat);
	else if (digits > 6 || b->digits > 6)
		format(text, sizeof(text), "%s%llu.%c%c%c", sign,
		       (unsigned long long)lat / 1000, '0' + (int)(nano / 100 % 10),
		       '0' + (int)(nano / 10 % 10), '0' + (int)(nano % 10));
	else
		format(text, sizeof(text), "%s%llu", sign, (unsigned long long)lat / 1000);
	words_put(w, l->json ? ",\"lat\":" : " lat=");
	words_put(w, text);
}

static void end(struct latency *t, const struct trace_line *l, const char *line, size_t n,
		uint64_t time, int digits)
{
	struct begun *b;
	uint64_t least;

	b = make_key(t, &t->to, l) < 0 ? NULL :
	    table_find(&t->begun, t->key.text, t->key.n);
	if (!b) {
		/* with -p most of them are others' */
		t->no_begin += !t->only.n || t->wakeup;
		return;
	}
	/* a clock without a point counts what it counts */
	least = t->least > UINT64_MAX / 1000 ? UINT64_MAX : (digits < 0 ? 1 : 1000) * t->least;
	if (!least || (time >= b->time && time - b->time >= least)) {
		t->fields.n = 0;
		words_add(&t->fields, b->carried, b->n);
		put_lat(&t->fields, l, b, time, digits);
		words_line(&t->line, l, line, n, &t->fields);
		print("%s\n", t->line.text);
		t->printed++;
	}
	forget(t, b);
}

/* Who knows what ended in the gap? */
static void forget_all(struct latency *t)
{
	t->no_end += t->begun.n;
	for (size_t i = 0; i < t->begun.room; i++)
		if (t->begun.v[i]) {
			free(((struct begun *)t->begun.v[i])->carried);
			free(t->begun.v[i]);
			t->begun.v[i] = NULL;
		}
	t->begun.n = 0;
}

static pid_t task_at(const struct trace_line *l, const char *key)
{
	struct part p = trace_key(l, key);
	char text[16];

	format(text, sizeof(text), "%.*s", (int)(p.n < 16 ? p.n : 0), p.text);
	return pid_number(text);
}

static void follow(struct latency *t, pid_t pid)
{
	pids_add(&t->only, pid);
	if (pids_sort(&t->only) < 0)
		exit(REFUSED);
}

/*
 * Is the event a beginning by another task than those that are followed? If one of
 * theirs has the same key, it ended unseen.
 */
static int is_strangers(struct latency *t, const struct trace_line *l)
{
	struct begun *b;

	if (!t->only.n || t->wakeup || pids_has(&t->only, task_at(l, "pid")))
		return 0;
	b = make_key(t, &t->from, l) < 0 ? NULL :
	    table_find(&t->begun, t->key.text, t->key.n);
	if (b) {
		t->no_end++;
		forget(t, b);
	}
	return 1;
}

/*
 * Is the event about who is followed? An instance that records for some tasks has
 * each switch that one of them has a part in, and each wake-up by or of one: of
 * others it has not all. A switch between the idle task and another tells that the
 * other is one of them.
 */
static int is_ours(struct latency *t, const struct trace_line *l)
{
	pid_t prev, next;

	if (!t->only.n)
		return 1;
	if (!strcmp(t->event.text, "sched_process_fork")) {
		next = task_at(l, "child_pid");
		if (next && pids_has(&t->only, task_at(l, ".pid")))
			follow(t, next);
		return 0;
	}
	if (!t->wakeup)
		return 1;
	if (strcmp(t->event.text, "sched_switch"))
		return pids_has(&t->only, task_at(l, ".pid"));
	prev = task_at(l, "prev_pid");
	next = task_at(l, "next_pid");
	if (!prev != !next && !pids_has(&t->only, prev ? prev : next))
		follow(t, prev ? prev : next);
	return pids_has(&t->only, next);
}

static void each_line(struct latency *t, char *line, size_t n)
{
	struct trace_line l;
	uint64_t time;
	int digits;

	if (!trace_line(&l, line, n)) {
		struct part host;

		if (tells_gap(line))
			forget_all(t);
		if (line[trace_host(line, n, &host)] == '#' || tells_gap(line) ||
		    !strncmp(line, "{\"lost\":", 8))
			print("%s\n", line);
		return;
	}
	if (trace_time(&l, &time, &digits) < 0 ||
	    (l.json && (l.body.n < 2 || l.body.text[l.body.n - 1] != '}')))
		return;
	t->json = l.json;
	t->event.n = 0;
	words_put(&t->event, l.prefix);
	words_add(&t->event, l.event.text, l.event.n);
	if (!is_ours(t, &l))
		return;
	/* an event may be both: from one to the next */
	if (is_half(t, &t->to))
		end(t, &l, line, n, time, digits);
	if (is_half(t, &t->from) && !is_strangers(t, &l))
		begin(t, &l, line, time, digits);
}

static void print_unpaired(struct latency *t)
{
	forget_all(t);
	if (!t->no_end && !t->no_begin)
		return;
	print(t->json ? "{\"unpaired\":%llu,\"without_end\":%llu,\"without_beginning\":%llu}\n" :
			"# unpaired %llu events: %llu without an end, %llu without a beginning\n",
	      t->no_end + t->no_begin, t->no_end, t->no_begin);
}

static int is_name(const char *s)
{
	return *s && !s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* NAME=KEY, or KEY, whose name is that without the dot in front. */
static void carry(struct latency *t, size_t i, char *text)
{
	char *equals = strchr(text, '=');

	if (equals)
		*equals = '\0';
	t->names[i] = text + (!equals && *text == '.');
	t->keys[i] = equals ? equals + 1 : text;
	if (!is_name(t->names[i]))
		misused(&tool, "not a name: '%.80s'", t->names[i]);
	if (!*t->keys[i] || !strcmp(t->keys[i], "."))
		misused(&tool, "not a key: '%s'", t->keys[i]);
}

/* Which two belong together, by name or by -s and -e. */
static void choose(struct latency *t, const char *from, const char *to, char **operands)
{
	if (*operands) {
		size_t i = 0, n = sizeof(pairs) / sizeof(*pairs);

		if (operands[1])
			misused(&tool, "unexpected operand '%.80s'", operands[1]);
		while (i < n && strcmp(pairs[i].name, *operands))
			i++;
		if (i == n)
			misused(&tool, "no pair is called '%.80s'; there are syscalls, block "
				"and wakeup", *operands);
		if (from || to)
			misused(&tool, "a pair by name, or -s and -e");
		from = pairs[i].from;
		to = pairs[i].to;
	}
	if (!from || !to)
		misused(&tool, "from what to what?");
	parse_half(&t->from, from);
	parse_half(&t->to, to);
	if (t->from.nkeys != t->to.nkeys)
		misused(&tool, "-s and -e have not as many keys");
}

int main(int argc, char **argv)
{
	static struct latency t = { .begun = { .size = sizeof(struct begun) } };
	static struct reader in;
	const char *from = NULL, *to = NULL;
	unsigned long least = 0;
	size_t ncarried = 0;
	char *line;
	ssize_t n;
	int c;

	t.keys = allocate((size_t)argc + 1, sizeof(*t.keys));
	t.names = allocate((size_t)argc + 1, sizeof(*t.names));
	while ((c = next_option(&tool, argc, argv)) != -1)
		if (c == 'c')
			carry(&t, ncarried++, opt_value);
		else if (c == 'b')
			t.beginnings = 1;
		else if (c == 's')
			from = opt_value;
		else if (c == 'e')
			to = opt_value;
		else if (c == 'p')
			pid_list(&tool, opt_value, 0, &t.only);
		else if (number(opt_value, 0, ULONG_MAX, &least) < 0)
			misused(&tool, "not microseconds: '%.80s'", opt_value);
	t.least = least;
	t.wakeup = argv[opt_index] && !strcmp(argv[opt_index], "wakeup");
	choose(&t, from, to, argv + opt_index);

	signal(SIGINT, SIG_IGN);
	while ((n = next_line(&in, &line)) >= 0) {
		/* a line of text has none; what has is a stranger's */
		for (char *nul; (nul = memchr(line, '\0', (size_t)n)); *nul = '?')
			;
		each_line(&t, line, (size_t)n);
	}
	print_unpaired(&t);
	flush();
	return t.printed ? DONE : NO;
}
