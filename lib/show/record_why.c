/* SPDX-License-Identifier: ISC */
/*
 * record_why.c - the account of why.h from records
 *
 * The events are sched:sched_switch, sched_waking and sched_process_fork, and as far as the trace
 * has them the system calls, interrupts, requests of disks and page faults. decode.c knows which
 * call a task is in, and the files of descriptors.
 */

#include <sys/times.h>
#include <time.h>

#include "base/base.h"
#include "tool/tool.h"
#include "event/event.h"
#include "show/show.h"
#include "why/why.h"

static struct {
	int on;
	struct why why;
	struct decode *decode;
	struct show *show;
	struct event_notes events;
	struct pids of;                 /* the tasks of --of */
	int given;
	long long begun;                /* in ms */
} account; /* large: an initializer would put it into the program's file */

/* ---- what records say ---- */

/* A record, and what its event is. */
struct source {
	const struct record *r;
	const struct event_seen *of;
};

static struct field_data get(const void *source, unsigned i)
{
	const struct source *s = source;

	return event_value(s->of, i, account.show->line->events, s->r);
}

static int64_t number(const void *source, unsigned i)
{
	return get(source, i).i;
}

/* Return a string; or a device, by the kernel's dev_t: 12 bits, 20 bits. */
static struct text_part text(const void *source, unsigned i)
{
	static char device[24];
	const struct field_data v = get(source, i);

	if (v.kind == FIELD_STRING)
		return (struct text_part){ (const char *)v.data, v.n };
	str_format(device, sizeof(device), "%u:%u", (unsigned)(v.u >> 20),
		   (unsigned)(v.u & 0xfffff));
	return (struct text_part){ device, strlen(device) };
}

static struct why_who who(const void *source, unsigned pid, unsigned comm)
{
	const struct field_data name = get(source, comm);

	return (struct why_who){
		.pid = (int32_t)number(source, pid),
		.comm = { (const char *)name.data, name.kind == FIELD_STRING ? name.n : 0 },
	};
}

static const struct event_seen *event_at(const struct record *r)
{
	return event_seen(&account.events, account.show->line->events, r, why_kinds, 1);
}

/* Return the task that ran at the record. */
static struct why_who current(const struct record *r)
{
	const struct event_set *evs = account.show->line->events;
	struct why_who who = { .pid = record_pid(evs, r) };
	const struct comm *c = comms_find(&evs->comms, who.pid);

	if (c)
		who.comm = (struct text_part){ c->name, strlen(c->name) };
	return who;
}

/* Is fd in one of the sets of select(2)? They are arrays of words, the lowest bit first. */
static int in_sets(const struct call_bytes *sets, size_t fd, int big)
{
	const size_t byte = big ? fd / 8 ^ 7 : fd / 8;
	int in = 0;

	for (unsigned k = 1; k < 4; k++)
		in |= byte < sets[k].n && sets[k].bytes[byte] >> fd % 8 & 1;
	return in;
}

/*
 * Print the descriptors of poll(2) or select(2), or only those that are ready. Print few, because
 * an account has a part for each text. Return how many there were.
 */
static int put_polled(struct out *o, const struct decoded *c, int ready)
{
	/* UAPI asm-generic/poll.h: struct pollfd; linux/posix_types.h: __FD_SETSIZE */
	enum { ENTRY = 8, REVENTS = 6, SET_BITS = 1024, MOST = 8 };
	const struct call_values *v = &c->values;
	const int big = account.show->line->events->big;
	const int sets = strstr(c->call->name, "select") != NULL;
	const size_t all = (size_t)v->args[!sets], known = sets ? SET_BITS : v->user[0].n / ENTRY;
	int n = 0;

	for (size_t i = 0; i < all && i < known && n <= MOST; i++) {
		const char *entry = sets ? NULL : v->user[0].bytes + i * ENTRY;
		const int fd = sets ? (int)i : (int)raw_number(entry, 4, 1, big);
		char name[64] = "";

		if (fd < 0 || (sets ? !in_sets(ready ? v->user : v->entry, i, big) :
			       ready && !raw_number(entry + REVENTS, 2, 0, big)))
			continue;
		if (n++ == MOST)
			break;
		if (v->print_fd)
			v->print_fd(v->arg, fd, name, sizeof(name));
		out_format(o, *name ? "%s%d<%s>" : "%s%d", n > 1 ? ", " : "", fd, name);
	}
	out_string(o, n && (n > MOST || (!ready && !sets && known < all)) ? ", ..." : "");
	return n;
}

/* Take a call that has ended, with its memory (struct decode). */
static void take_call(void *unused, struct decoded *c, const struct decoded_files *files,
		      const struct record *r)
{
	char polled[128];
	struct out o = out_to(polled, sizeof(polled) - 1);

	(void)unused;
	(void)files;
	(void)r;
	if (!c->call || !(c->call->role->is & IS_POLLS) || !c->used)
		return;
	if (!c->values.returned || !put_polled(&o, c, 1))
		put_polled(&o, c, 0);
	*o.at = '\0';
	if (*polled)
		why_polled(&account.why, c->pid, c->call->name, polled);
}

/* Say what a task waits for in this call (struct why). */
static void doing(void *unused, int32_t pid, const char *name, struct why_wait *wait)
{
	const struct call_values *values;
	const struct call *c = decode_call(account.decode, pid, &values);
	const int same = c && !strcmp(c->name, name) && c->nargs;
	const struct file_known *known = same ? files_find(&account.decode->known,
							   values->files[0]) : NULL;
	char file[128] = "";

	(void)unused;
	if (same && c->args[0].kind == CALL_FD && known)
		str_format(file, sizeof(file), "%s", known->name);
	why_describe(wait, name, same ? &values->args[0] : NULL, file);
}

/* Write the context in which the task ends its window (struct why). */
static void context_of(void *unused, int32_t pid, char text[WHY_CONTEXT])
{
	struct otel_context c = otel_of_task(&account.show->otel, pid);
	struct out o = out_to(text, WHY_CONTEXT - 1);

	(void)unused;
	otel_put(&c, &o, account.show->json);
	*o.at = '\0';
}

/* Return the name of the call that begins or returns. */
static const char *name_of_call(const struct source *s)
{
	const struct call_values *values;
	const struct call *c = decode_call(account.decode,
					   record_pid(account.show->line->events, s->r), &values);

	if (!c)
		c = calls_find(account.decode->calls, (uint64_t)number(s, 0));
	return c ? c->name : "a call without a name";
}

/* If a selection waits for tasks, those that have joined it are subjects from then on. */
static void take_joined(const struct record *r)
{
	const struct subjects *s = &account.show->subjects;

	if (s->member && !account.given &&
	    subjects_have(s, record_pid(account.show->line->events, r)))
		why_subject(&account.why, current(r));
}

/* Account a record, and print nothing (struct show). */
static size_t take_record(struct show *s, const struct record *r, int lost, int *shown, char *buf,
			  size_t size)
{
	const struct event_seen *of = event_at(r);
	const unsigned flags = record_flags(account.show->line->events, r);
	const struct source source = { r, of };
	struct why *w = &account.why;
	const char *call = "";

	(void)s;
	(void)buf;
	(void)size;

	if (lost)
		why_lost(w);
	take_joined(r);
	if (of->kind == WHY_RETURN)
		why_return(w, r->ts, current(r), call = name_of_call(&source), number(&source, 1));
	decode_record(account.decode, r, lost, 1);
	if (of->kind == WHY_CALL)
		why_call(w, r->ts, current(r), call = name_of_call(&source));
	else if (of->kind != WHY_RETURN && of->kind != WHY_OTHER)
		why_take(w, of->kind, &(struct why_event){
			.ts = r->ts, .cpu = r->cpu, .by = current(r), .soft = flags & FLAG_SOFTIRQ,
			.hard = flags & (FLAG_HARDIRQ | FLAG_NMI),
			.name = { of->event->name, strlen(of->event->name) }, .number = number,
			.text = text, .who = who, .source = &source,
		});
	if (w->scope == WHY_SPANS && of->event)
		why_event(w, r->ts, current(r), of->event->name, call);
	*shown = 0;
	return 0;
}

/* ---- the interface ---- */

int account_take(struct show *s, struct decode *d, const struct tool *tool)
{
	struct why *w = &account.why;
	unsigned long depth = account.on ? w->depth : 3, top = account.on ? w->top : 5;
	const struct opt_place places[] = {
		{ .name = "depth", .number = &depth }, { .name = "top", .number = &top },
		{ .name = "folded", .flag = &w->folded }, { .name = "begin", .text = &w->opens },
		{ .name = "end", .text = &w->closes }, { 0 },
	};

	if (!strcmp(opt_last.name, "why"))
		w->scope = !strcmp(opt_value, "calls") ? WHY_CALLS : WHY_TASKS;
	else if (!strcmp(opt_last.name, "of"))
		account.given |= pids_option(tool, opt_value, 0, &account.of) >= 0;
	else if (!opt_put(places))
		return 0;
	w->depth = (unsigned)depth;
	w->top = top;
	account.on = 1;
	d->on = d->names = d->known.prints = 1;
	s->asked = 1;
	return 1;
}

void account_use(const struct why *w, const struct pids *of, struct show *s, struct decode *d)
{
	account.why = *w;
	account.of = *of;
	account.given = of->n > 0;
	account.on = 1;
	d->on = d->names = d->known.prints = 1;
	d->slower = w->slower;
	s->json = w->json;
}

void account_begin(struct show *s, struct decode *d)
{
	struct why *w = &account.why;

	if (!account.on)
		return;
	account.begun = time_now_ms();
	account.show = s;
	account.decode = d;
	s->decoder = take_record;
	d->take = take_call;
	w->slower = d->slower;
	if (w->opens)
		w->scope = WHY_SPANS;
	w->json = s->json;
	w->given = account.given;
	w->doing = doing;
	w->context = s->otel.on && w->scope != WHY_TASKS ? context_of : NULL;
	why_begin(w);
	for (size_t i = 0; i < account.of.n; i++)
		why_subject(w, (struct why_who){ .pid = account.of.v[i] });
}

int account_on(void)
{
	return account.on;
}

void account_subject(int pid)
{
	if (!account.on || account.given)
		return;
	if (!pid)
		account.why.all = 1;
	else
		why_subject(&account.why, (struct why_who){ .pid = pid });
}

/* Return the CPU time, in ms, of this program and of those that account_so_far has started. */
static long long cpu_time(void)
{
	struct tms t;

	times(&t);
	return clock() * 1000LL / CLOCKS_PER_SEC +
	       (long long)(t.tms_cutime + t.tms_cstime) * 1000 / sysconf(_SC_CLK_TCK);
}

/* Make the account of a program that took so much CPU time. */
static size_t make_account(struct strbuf *text, long long ran)
{
	const long long ms = time_now_ms() - account.begun, share = ran * 1000 / (ms ? ms : 1);
	size_t n;

	stdout_collect(text);
	n = why_end(&account.why);
	if (n && account.show->facts.live && !account.why.json && !account.why.folded)
		stdout_print("# the tracer took %lld.%lld %% of a CPU\n", share / 10, share % 10);
	stdout_collect(NULL);
	return n;
}

size_t account_end(struct strbuf *text)
{
	return account.on ? make_account(text, cpu_time()) : 0;
}

/* An account takes open waits to its end, so a child makes it: this process goes on with them. */
int account_so_far(struct strbuf *text, uint64_t now)
{
	const long long ran = cpu_time();
	struct strbuf own = { 0 };
	char part[4096];
	ssize_t n = 0;
	pid_t child;
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return err_errno("unable to print the account so far");
	child = child_fork();
	if (!child) {
		if (now > account.why.now)
			account.why.now = now;
		make_account(&own, ran);
		_exit(fd_write_all(p[1], own.text, own.n) < 0 ? REFUSED : DONE);
	}
	close(p[1]);
	while (child > 0 && ((n = read(p[0], part, sizeof(part))) > 0 || (n < 0 && errno == EINTR)))
		strbuf_add(text, part, n > 0 ? (size_t)n : 0);
	close(p[0]);
	if (child > 0 && !child_wait(child) && !n)
		return 0;
	text->n = 0;
	return err_msg("unable to print the account so far");
}
