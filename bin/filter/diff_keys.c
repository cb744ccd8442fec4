/* SPDX-License-Identifier: ISC */
/* diff_keys.c - what one recording has: files, programs, connections, calls, lines ... */

#include "host/host.h"
#include "tool/tool.h"
#include "seen/seen.h"
#include "line_calls.h"
#include "diff.h"

const char diff_kinds[][12] = {
	"programs", "connections", "files", "failures", "errors", "waits", "times", "calls",
	"events", "lines", "",
};

#define BIT(kind) (1u << DIFF_##kind)

static struct input in;
static unsigned wanted, has;
static int switches;            /* the trace has switches of CPUs */
static int entries;             /* the trace has the beginnings of calls */
static int execs;               /* it has events of programs that begin, besides their calls */

/* The group of a program of which only the call is known so far. */
#define BY_CALL "by call runs"

struct counted {
	struct table_entry entry;
	uint64_t n;
};

static struct table counts = { .size = sizeof(struct counted) };
static struct strbuf key;
static size_t subject;          /* where it begins in the key */
static struct line_calls calls = { .pairing.tasks.size = sizeof(struct call_task) };

/* ---- keys ---- */

static void begin(enum diff_kind kind, struct text_part group)
{
	const char letter = (char)('A' + kind);

	strbuf_add(strbuf_empty(&key), &letter, 1);
	strbuf_add(&key, group.text ? group.text : "", group.n);
	text_mask_controls(key.text, key.text + key.n);
	strbuf_puts(&key, "\t");
	subject = key.n;
}

/* Add to the number of the key, which no program can make look like another line. */
static void count(uint64_t n)
{
	text_mask_controls(key.text + subject, key.text + key.n);
	((struct counted *)table_at(&counts, key.text, key.n))->n += n;
}

/* Count a key whose subject is a path. */
static void count_path(enum diff_kind kind, const char *group, struct text_part path, int made)
{
	begin(kind, text_part_of(group));
	diff_path(&key, path, made);
	count(1);
}

/* ---- the parts of a decoded call ---- */

struct call_text {
	struct text_part name, args, result, file, error;
};

/* Return what is between the quotes of string i of the arguments. */
static struct text_part string_at(struct text_part args, int i)
{
	const char *s = args.text, *end = s + args.n, *from = NULL;

	for (; s && s < end; s++) {
		if (*s == '"') {
			if (from && !i--)
				return (struct text_part){ from, (size_t)(s - from) };
			from = from ? NULL : s + 1;
		} else if (*s == '\\' && from) {
			s++;
		}
	}
	return (struct text_part){ 0 };
}

/* Return what is between the first occurrence of from and the next one of to, or nothing. */
static struct text_part between(struct text_part text, const char *from, const char *to)
{
	const char *at = text.n ? memmem(text.text, text.n, from, strlen(from)) : NULL, *end;

	if (!at)
		return (struct text_part){ 0 };
	at += strlen(from);
	end = memmem(at, (size_t)(text.text + text.n - at), to, strlen(to));
	return (struct text_part){ at, end ? (size_t)(end - at) : 0 };
}

/* Set args to the text of the arguments of a call in JSON. */
static void args_of_json(struct strbuf *args, struct text_part body)
{
	const char *s = body.text, *end = s + body.n, *at, *last;
	struct text_part name, value, arg;
	static struct strbuf plain;

	strbuf_empty(args);
	while (json_member(&s, end, &name, &value)) {
		if (!text_part_is(name, "args"))
			continue;
		at = value.text;
		last = at + value.n;
		while (json_element(&at, last, &arg))
			for (s = arg.text; json_member(&s, arg.text + arg.n, &name, &value);)
				if (text_part_is(name, "text")) {
					value = strbuf_unescaped(&plain, json_unquoted(value), 1);
					strbuf_puts(args, args->n ? ", " : "");
					strbuf_add(args, value.text, value.n);
				}
		break;
	}
}

/* Read the parts of a decoded call. */
static void read_call(struct call_text *c, const struct seen *l)
{
	static struct strbuf args;
	struct text_part body = seen_body(l);
	const char *open, *end = body.text + body.n, *at = NULL;

	*c = (struct call_text){ .name = seen_text(l, "call"),
				 .error = seen_text(l, "error") };
	if (l->json) {
		args_of_json(&args, body);
		c->args = (struct text_part){ args.text, args.n };
		c->result = seen_text(l, "ret");
		return;
	}
	open = body.n ? memchr(body.text, '(', body.n) : NULL;
	for (const char *s = open; s && (s = memmem(s, (size_t)(end - s), ") = ", 4)); s += 4)
		at = s;
	if (!at)
		return;
	c->args = (struct text_part){ open + 1, (size_t)(at - open) - 1 };
	/* without the duration */
	open = *l->lat && end[-1] == '>' ? memrchr(at, '<', (size_t)(end - at)) : NULL;
	end = open ? open - 1 : end;
	c->result = (struct text_part){ at + 4, end > at + 4 ? (size_t)(end - at) - 4 : 0 };
	open = memchr(c->result.text, '<', c->result.n);
	if (open && c->result.text[c->result.n - 1] == '>')
		c->file = (struct text_part){ open + 1,
			(size_t)(c->result.text + c->result.n - open) - 2 };
}

/* ---- what a call says ---- */

/* Does this error depend on the timing of a run? */
static int is_of_timing(struct text_part error)
{
	return text_part_is(error, "EAGAIN") || text_part_is(error, "EINTR") ||
	       text_part_is(error, "EINPROGRESS") || text_part_is(error, "ETIMEDOUT") ||
	       text_part_begins(error, "ERESTART");
}

/* Append an address, and the port unless the kernel has chosen it. */
static void add_address(struct text_part address, struct text_part port)
{
	uint64_t n;

	if (text_part_is(port, "53"))
		strbuf_puts(&key, "DNS ");
	strbuf_add(&key, address.text, address.n);
	if (!text_part_number(port, 10, &n) && n < 32768)
		strbuf_format(&key, ":%u", (unsigned)n);
}

static void count_connection(const struct call_text *c)
{
	struct text_part port = between(c->args, "htons(", ")"), address;
	static struct strbuf group;

	strbuf_add(strbuf_empty(&group), c->error.n ? c->error.text : "", c->error.n);
	address = between(c->args, "inet_addr(\"", "\"");
	if (!address.n)
		address = between(c->args, "inet_pton(AF_INET6, \"", "\"");
	if (!address.n)
		address = between(c->args, "sun_path=\"", "\"");
	if (!address.n)
		address = between(c->args, "sun_path=@\"", "\"");
	if (!address.n)
		return;
	begin(DIFF_CONNECTIONS, is_of_timing(c->error) ? (struct text_part){ 0 } :
	      (struct text_part){ group.text, group.n });
	if (port.n)
		add_address(address, port);
	else
		diff_path(&key, address, 0);
	count(1);
}

static int says(struct text_part args, const char *word)
{
	return memmem(args.text, args.n, word, strlen(word)) != NULL;
}

/* Count what the call has done to a file. at: its path. */
static void count_file(const struct call_text *c, const struct call_role *role,
		       struct text_part path)
{
	static const struct { unsigned does; char verb[8]; } verbs[] = {
		{ DOES_REMOVED, "removes" }, { DOES_RENAMED, "renames" },
		{ DOES_LINKED, "links" }, { DOES_MADE, "makes" }, { DOES_RESIZED, "resizes" },
		{ DOES_CHANGED, "changes" },
	};
	int made = says(c->args, "O_EXCL");

	if (!path.n)
		return;
	if (role->does & DOES_OPENED) {
		if (made) /* learn the name as the call gives it, too */
			diff_path(strbuf_empty(&key), path, 1);
		count_path(DIFF_FILES, says(c->args, "O_WRONLY") || says(c->args, "O_RDWR") ||
			   says(c->args, "O_CREAT") || text_part_is(c->name, "creat") ?
			   "writes" : "opens", c->file.n && *c->file.text == '/' ? c->file : path,
			   made);
		return;
	}
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (role->does & verbs[i].does) {
			count_path(DIFF_FILES, verbs[i].verb, path, role->does & DOES_MADE);
			return;
		}
}

/* Return the path in the first argument of the call, or the path of the descriptor there. */
static struct text_part path_of(const struct call_text *c)
{
	struct text_part path = string_at(c->args, 0);
	const char *comma = memchr(c->args.text, ',', c->args.n);

	if (!path.n) {
		path = between((struct text_part){ c->args.text, comma ?
			       (size_t)(comma - c->args.text) : c->args.n }, "<", ">");
		path.n = path.n && *path.text == '/' ? path.n : 0;
	}
	return path;
}

static void count_failure(const struct call_text *c, const struct call_role *role)
{
	static struct strbuf group;

	strbuf_add(strbuf_empty(&group), c->name.text, c->name.n);
	strbuf_puts(&group, " ");
	strbuf_add(&group, c->error.text, c->error.n);
	if (is_of_timing(c->error)) {
		begin(DIFF_CALLS, (struct text_part){ group.text, group.n });
		count(1);
	} else if (role->is & IS_FILE && string_at(c->args, 0).n) {
		count_path(DIFF_FAILURES, group.text, string_at(c->args, 0), 0);
	} else {
		begin(DIFF_ERRORS, (struct text_part){ group.text, group.n });
		count(1);
	}
}

/* Count the time of a call, by the other end of its connection. */
static void count_time(const struct seen *l, const struct call_text *c)
{
	const char *comma = c->args.n ? memchr(c->args.text, ',', c->args.n) : NULL;
	struct text_part to = { 0 }, port = { 0 };
	const uint64_t ns = seen_latency(l, 9);
	const char *colon;

	if (comma)
		to = between((struct text_part){ c->args.text, (size_t)(comma - c->args.text) },
			     "->", ">");
	colon = to.n ? memrchr(to.text, ':', to.n) : NULL;
	if (colon) {
		port = (struct text_part){ colon + 1, (size_t)(to.text + to.n - colon) - 1 };
		to.n -= port.n + 1;
	}
	begin(DIFF_TIMES, c->name);
	if (port.n && *port.text >= '0' && *port.text <= '9')
		add_address(to, port);
	count(ns);
}

static void count_line(const struct call_text *c)
{
	static struct strbuf line;

	begin(DIFF_LINES, c->name);
	strbuf_add(strbuf_empty(&line), c->args.text ? c->args.text : "", c->args.n);
	strbuf_puts(&line, ") = ");
	strbuf_add(&line, c->result.text ? c->result.text : "", c->result.n);
	strbuf_add(&key, c->name.text, c->name.n);
	strbuf_puts(&key, "(");
	diff_text(&key, (struct text_part){ line.text, line.n });
	count(1);
}

/* Count a decoded call. */
static void take_decoded(const struct seen *l)
{
	const struct call_role *role;
	struct call_text c;
	struct text_part path;

	read_call(&c, l);
	role = role_of(c.name);
	has |= BIT(PROGRAMS) | BIT(CONNECTIONS) | BIT(FILES) | BIT(FAILURES) | BIT(ERRORS) |
	       BIT(CALLS) | BIT(LINES) | BIT(TIMES);
	begin(DIFF_CALLS, c.name);
	count(1);
	if (!c.args.text)
		return;
	if (wanted & BIT(TIMES) && (*l->lat || l->json))
		count_time(l, &c);
	path = path_of(&c);
	if (text_part_is(c.name, "connect"))
		count_connection(&c);
	else if (c.error.n)
		count_failure(&c, role);
	else if (role->is & IS_EXEC)
		count_path(DIFF_PROGRAMS, BY_CALL, path, 0);
	else
		count_file(&c, role, path);
	if (wanted & BIT(LINES) && !c.error.n && !(role->does & (DOES_OPENED | DOES_EXECUTED)))
		count_line(&c);
}

/* ---- other events ---- */

/* Count the entry or the return of a call whose arguments are not known. */
static void take_plain_call(const struct seen *l)
{
	struct call_task *t;
	enum pairing_fate fate = line_calls_event(&calls, l, &t);
	const int side = seen_side(l);
	const char *error;
	int64_t result;

	has |= BIT(CALLS) | (side < 0 ? BIT(ERRORS) : 0);
	entries |= side > 0;
	if (line_calls_counts(fate, t) || (side < 0 && !entries)) {
		begin(DIFF_CALLS, (struct text_part){ calls.name.text, calls.name.n });
		count(1);
	}
	if (side > 0 || line_calls_result(l, &result) < 0 || result >= 0 || result < -4095 ||
	    !(error = name_of_error(-result)))
		return;
	begin(is_of_timing(text_part_of(error)) ? DIFF_CALLS : DIFF_ERRORS,
	      (struct text_part){ calls.name.text, calls.name.n });
	key.n--;
	strbuf_format(&key, " %s\t", error);
	count(1);
}

/* Count an event of trace_files, which names the file. Return 0 if it is another event. */
static int take_file(const struct seen *l)
{
	const struct text_part path = seen_text(l, ".path");
	const struct call_text c = { .name = l->event, .args = seen_body(l), .file = path };

	if (!path.n || !role_of(l->event)->does)
		return 0;
	has |= BIT(FILES);
	count_file(&c, role_of(l->event), path);
	return 1;
}

static void take_other(const struct seen *l)
{
	struct text_part part;

	if (seen_side(l)) {
		take_plain_call(l);
	} else if (text_part_is(l->event, "sched_process_exec")) {
		has |= BIT(PROGRAMS);
		execs = 1;
		count_path(DIFF_PROGRAMS, "runs", seen_text(l, ".filename"), 0);
	} else if (text_part_is(l->event, "inet_sock_set_state")) {
		has |= BIT(CONNECTIONS);
		part = seen_text(l, ".newstate");
		if (text_part_is(part, "TCP_SYN_SENT") || text_part_is(part, "2")) {
			begin(DIFF_CONNECTIONS, (struct text_part){ 0 });
			add_address(seen_text(l, ".daddr"), seen_text(l, ".dport"));
			count(1);
		}
	} else if (!take_file(l)) {
		has |= BIT(EVENTS);
		if (text_part_is(l->event, "sched_switch")) {
			switches = 1;
			has |= l->json ? 0 : BIT(STACKS); /* tfs-why can tell the waits */
		}
		begin(DIFF_EVENTS, l->event);
		count(1);
	}
}

int diff_wait(struct strbuf *to, const char *line, int whole, uint64_t *ns)
{
	const char *number = strrchr(line, ' '), *end = number, *at;
	size_t frames = 0, most, n;
	uint64_t us;
	int told;

	if (!number || text_part_number(text_part_of(number + 1), 10, &us))
		return 0;
	*ns = us * 1000;
	at = strchr(line, ';');
	if (!at || at > end)
		return 0;
	strbuf_format(strbuf_empty(to), "%c%.*s\t", 'A' + (whole ? DIFF_STACKS : DIFF_WAITS),
		      (int)(at - line), line);
	text_mask(to->text, to->text + to->n, '\t');
	subject = to->n;
	/* how long a task waits for a CPU depends on other programs */
	told = whole || !strncmp(at, ";blocked;", 9) || !strncmp(at, ";running", 8) ||
	       !strncmp(at, ";throttled", 10);
	most = whole ? SIZE_MAX : !strncmp(at, ";blocked;", 9) ? 2 : 1;
	for (at++; at < end && frames < most; at += n + 1, frames++) {
		const char *last;

		n = strcspn(at, ";");
		if (at + n > end)
			n = (size_t)(end - at);
		last = memrchr(at, ' ', n); /* of a task: its pid */
		strbuf_puts(to, frames ? ";" : "");
		diff_text(to, (struct text_part){ at, last && last[1] >= '0' && last[1] <= '9' &&
			  frames ? (size_t)(last - at) : n });
	}
	text_mask_controls(to->text + subject, to->text + to->n);
	return told;
}

static void each(void)
{
	uint64_t ns;

	text_mask_nul(in.line, in.n);
	if (input_event(&in)) {
		if (in.l.stack)
			return;
		diff_pid(in.l.pid);
		if (seen_is_call(&in.l))
			take_decoded(&in.l);
		else
			take_other(&in.l);
	} else if (!comments_keep(&in.comments, in.line) && *in.line != '#' &&
		   diff_wait(&key, in.line, (wanted & BIT(STACKS)) != 0, &ns)) {
		has |= BIT(WAITS) | (wanted & BIT(STACKS));
		count(ns);
	}
}

static void print_key(const struct counted *c)
{
	const char *text = c->entry.key;
	const int by_call = !strncmp(text + 1, BY_CALL, strlen(BY_CALL));

	if (!(wanted & 1u << (*text - 'A')) || (by_call && execs))
		return;
	stdout_print("%llu %c%s\n", (unsigned long long)c->n, *text,
		     text + 1 + (by_call ? strlen("by call ") : 0));
}

int diff_read(const struct tool *tool, const char *path, unsigned kinds)
{
	char *operands[] = { (char *)(uintptr_t)path, NULL };
	const struct counted *c;

	wanted = kinds;
	in.paths = 1;
	input_takes_dat(&in);
	input_file(&in, tool, operands);
	input_each(&in, each);
	stdout_by(NULL, 0); /* the parent reads all of it */
	if (in.comments.missed && !counts.n) {
		err_msg("%s has no event of a trace", path);
		return REFUSED;
	}
	if (has & BIT(CALLS) || switches) /* other programs have a share in most other events */
		has &= ~BIT(EVENTS);
	stdout_print("!%u %d\n", has, comments_lost(&in.comments));
	for (size_t i = 0; (c = table_next(&counts, &i));)
		print_key(c);
	stdout_flush();
	return in.damaged ? REFUSED : DONE;
}
