/* SPDX-License-Identifier: ISC */
/*
 * facts.c - derive from the records of a trace what none of them says: signals, ends, kinship
 *
 * In this file, each part uses those above it:
 *	roles of events, and their fields by name
 *	tasks and processes
 *	signals: which one was sent
 *	ends: exit codes of tasks, and the status that the parent of a process gets
 *	records: how each of them changes a task
 *	the interface
 */
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "event/event.h"
#include "answers/answers.h"
#include "answers/facts.h"

/* The bits of fact_task.state */
enum {
	EXEC = 1,               /* (p) a thread is in execve */
	OWN_CODE = 2,           /* code is set, by exit */
	GROUP_CODE = 4,         /* (p) group is set: the process ends with it */
	OVER = 8,               /* ended: the pid may be used again */
	MISSED = 16,            /* dead, and its end was not recorded */
	GONE = 32,              /* (p) all of its threads have ended */
	GUESS = 64,             /* its process is not known, and perhaps not this one */
	BORN = 128,             /* since is its birth */
};

/* include/uapi/linux/sched.h */
#define PARENT 0x8000  /* CLONE_PARENT */
#define THREAD 0x10000 /* CLONE_THREAD */

/* ---- roles of events, and their fields by name ---- */

static const struct event_kind roles[] = {
	{ "raw_syscalls:sys_enter", ROLE_ENTER, "id args" },
	{ "raw_syscalls:sys_exit", ROLE_EXIT, "id ret" },
	{ "signal:signal_deliver", ROLE_DELIVER, "sig errno code sa_handler" },
	{ "signal:signal_generate", ROLE_GENERATE, "sig pid result" },
	{ "task:task_newtask", ROLE_NEWTASK, "pid clone_flags comm" },
	{ "task:task_rename", ROLE_RENAME, "pid newcomm" },
	{ "sched:sched_process_exec", ROLE_EXEC, "old_pid" },
	{ "sched:sched_process_exit", ROLE_END, "pid group_dead" /* Linux 6.16 */ },
	{ "", 0, "" },
};

int facts_field(const struct facts *f, unsigned i, const struct record *r, struct field_data *v)
{
	return f->now->field[i] ? field_value(f->events, f->now->field[i], r, v) : -1;
}

int64_t facts_number(const struct facts *f, unsigned i, const struct record *r)
{
	return field_integer(f->events, f->now->field[i], r);
}

uint64_t facts_argument(const struct facts *f, unsigned i, const struct record *r)
{
	struct field_data v;

	if (facts_field(f, 1, r, &v) < 0 || v.kind != FIELD_ARRAY || i >= v.n)
		return 0;
	return field_element(f->events, f->now->field[1], &v, i);
}

/* ---- tasks and processes ---- */

struct fact_task *facts_task(struct facts *f, int pid)
{
	struct fact_task *t = f->last;

	if (t && t->comm.pid == pid)
		return t;
	t = f->last = (struct fact_task *)comms_entry(&f->tasks, pid);
	if (t && !t->life)
		t->life = ++f->lives;
	return t;
}

/* Begin the life of another task with the same pid. */
static void renew(struct facts *f, struct fact_task *t)
{
	struct comm comm = t->comm;

	*t = (struct fact_task){ .comm = comm, .life = ++f->lives };
	t->comm.tgid = 0;
}

/* Clear bits and set those of to. */
static void set(struct fact_task *t, unsigned bits, unsigned to)
{
	t->state = (uint16_t)((t->state & ~bits) | to);
}

/* Return the leader of the task's process. */
static struct fact_task *group_of(struct facts *f, const struct fact_task *t)
{
	return facts_task(f, t->comm.tgid ? t->comm.tgid : t->comm.pid);
}

static void set_parent(struct fact_task *g, const struct fact_task *parent)
{
	g->parent = parent->comm.pid;
	g->parent_life = parent->life;
}

/* Return the task of a record with its process and, if procfs tells it, its parent. */
static struct fact_task *known(struct facts *f, int pid)
{
	struct fact_task *t = facts_task(f, pid), *g, *parent;
	pid_t tgid = pid;
	struct task in_procfs;
	uid_t uid;

	if (!t || t->comm.tgid)
		return t;
	if (!f->live || task_ids(pid, &tgid, &uid) < 0) {
		tgid = pid;
		set(t, 0, GUESS);
	}
	t->comm.tgid = tgid;
	g = facts_task(f, tgid);
	if (g && !g->parent && f->live && !task_read(tgid, &in_procfs) &&
	    (parent = facts_task(f, in_procfs.ppid)))
		set_parent(g, parent);
	return t;
}

/* Forget what may be wrong after lost events. */
static void forget(struct facts *f)
{
	for (size_t i = 0; f->live && i < f->tasks.room; i++) {
		struct fact_task *t = (struct fact_task *)f->tasks.v[i];

		if (!t)
			continue;
		set(t, EXEC | OWN_CODE | GROUP_CODE, 0);
		t->marks = 0;
		t->threads = 0;
	}
}

/* Keep a task in comms_prune? Its records may come after its death: ask twice. */
static int is_wanted(void *facts, struct comm *c)
{
	const struct facts *f = facts;
	struct fact_task *t = (struct fact_task *)c;
	int threads_live = t->threads && !(t->state & GONE);

	if (t->state & MISSED || (t->state & OVER && !threads_live))
		return 0;
	set(t, 0, f->live && !task_alive(c->pid) ? MISSED : 0);
	return 1;
}

/* Drop the tasks that have ended, when there are many. */
static void prune(struct facts *f)
{
	if (f->tasks.n < f->prune_at)
		return;
	f->last = NULL;
	if (f->prune_at)
		comms_prune(&f->tasks, is_wanted, f);
	f->prune_at = 2 * f->tasks.n + 4096;
}

/* Set a fact of the present record. */
static void tell(struct facts *f, enum fact fact, int64_t value)
{
	f->value[fact] = value;
	f->told |= 1u << fact;
}

/* Tell the parent of a process; 0: the parent has ended, and no event names the reaper. */
static void tell_parent(struct facts *f, const struct fact_task *g)
{
	const struct comm *c = comms_find(&f->tasks, g->parent);
	const struct fact_task *parent = (const struct fact_task *)c;

	if (g->parent)
		tell(f, FACT_PARENT, parent && parent->life == g->parent_life &&
		     !(parent->state & GONE) ? g->parent : 0);
}

/* ---- signals ---- */

/* Return the default action of a signal: 0 none, 1 end the process, 2 end it with a core. */
static int deadly(int64_t sig)
{
	switch (sig) {
	case SIGQUIT: case SIGILL: case SIGTRAP: case SIGABRT: case SIGBUS: case SIGFPE:
	case SIGSEGV: case SIGXCPU: case SIGXFSZ: case SIGSYS:
		return 2;
	case SIGCHLD: case SIGCONT: case SIGSTOP: case SIGTSTP: case SIGTTIN: case SIGTTOU:
	case SIGURG: case SIGWINCH:
		return 0;
	}
	return sig > 0 && sig <= 64;
}

/* Set the code with which all threads of a process end, unless one is set. */
static void end_group(struct fact_task *g, unsigned code)
{
	if (!g || g->state & GROUP_CODE)
		return;
	set(g, 0, GROUP_CODE);
	g->group = (uint16_t)code;
}

/* Is the task's exit code that of its process? Before 5.17 only for the leader. */
static int has_code(const struct facts *f, const struct fact_task *t, const struct fact_task *g)
{
	return g == t || f->events->version >= KERNEL(5, 17);
}

/*
 * Return the signal that caused the delivery of SIGKILL to a task; 0: not known. When a signal
 * ends a process, the kernel delivers SIGKILL to its threads. The record of the sender or the
 * task's exit code has the signal itself. When a thread calls exit_group or execve, the kernel
 * also delivers SIGKILL to the other threads, although no signal was sent.
 */
static int64_t killed_by(struct facts *f, struct fact_task *t, struct fact_task *g)
{
	long code = -1;

	if (g->state & EXEC)
		return 0;
	if (f->killed && has_code(f, t, g))
		code = f->killed(f->arg, t->comm.pid);
	if (code < 0 && g->state & GROUP_CODE)
		code = g->group;
	if (code < 0)
		code = g->sent;
	return code & 0x7f;
}

/* Follow a record of signal_deliver. */
static void delivered(struct facts *f, struct fact_task *t, const struct record *r)
{
	int64_t sig = facts_number(f, 0, r), sent = sig;
	struct fact_task *g = group_of(f, t);

	if (!g)
		return;
	if (sig == SIGKILL) {
		sent = killed_by(f, t, g);
		if (sent)
			tell(f, FACT_SENT, sent);
	} else if (sig == g->sent) {
		g->sent = 0;
	}
	if (facts_number(f, 3, r) || !deadly(sig) || (sig == SIGKILL && g->state & EXEC))
		return;
	end_group(g, (unsigned)(sent ? sent : SIGKILL));
}

/* Follow a record of signal_generate. */
static void generated(struct facts *f, const struct record *r)
{
	int64_t sig = facts_number(f, 0, r);
	struct fact_task *t, *g;

	/* a result other than 0: the kernel dropped the signal */
	if (deadly(sig) != 1 || facts_number(f, 2, r))
		return;
	t = facts_task(f, (int)facts_number(f, 1, r));
	g = t ? group_of(f, t) : NULL;
	if (g && (sig == SIGKILL || g->sent != SIGKILL))
		g->sent = (uint16_t)sig;
}

/* ---- ends ---- */

/* Return the exit code of a task that ends; -1: not known. Set *used if the kernel tells it. */
static long end_code(struct facts *f, struct fact_task *t, struct fact_task *g, struct used *used)
{
	long code = f->ended ? f->ended(f->arg, t->comm.pid, used) : -1;

	if (code >= 0 && has_code(f, t, g))
		return code;
	if (t->state & OWN_CODE)
		return t->code;
	return !g ? -1 : g->state & GROUP_CODE ? g->group : g->state & EXEC ? 0 : -1;
}

/*
 * Return the status of a process that ends with a task, as its parent gets it: the code with
 * which the process ended all its threads, or else that of the leader, which may have ended
 * long before. -1: not known.
 */
static long status_of(const struct fact_task *t, const struct fact_task *g, long code)
{
	if (t->state & OWN_CODE && g->state & GROUP_CODE)
		return g->group;
	if (t == g || (g->state & GROUP_CODE))
		return code;
	return g->state & OWN_CODE && (t->state & OWN_CODE || g->code == code) ? g->code : -1;
}

/* Follow a record of sched_process_exit. */
static void ended(struct facts *f, struct fact_task *t, const struct record *r)
{
	struct fact_task *g = group_of(f, t);
	struct used used = { .age = (r->ts - t->since) / 1000, .born = !!(t->state & BORN) };
	long code = end_code(f, t, g, &used), status;
	int last;

	set(t, 0, OVER);
	if (code >= 0)
		tell(f, FACT_CODE, code);
	if (!g)
		return;
	last = g->threads == 1 || used.last;
	g->threads = (uint16_t)(g->threads - (g->threads > 0));
	if (f->now->field[1])
		last = facts_number(f, 1, r) != 0;
	if (!(t->state & GUESS))
		tell(f, FACT_PROCESS, g->comm.pid);
	if (!last && g->state & EXEC && g->execer != t->comm.pid)
		tell(f, FACT_EXEC_THREAD, g->execer);
	if (!last && t == g && code >= 0) { /* for the end of its process */
		t->code = (uint16_t)code;
		set(t, 0, OWN_CODE);
	}
	if (!last || t->state & GUESS)
		return;
	set(g, 0, GONE);
	status = status_of(t, g, code);
	if (status >= 0)
		tell(f, FACT_STATUS, status);
	tell_parent(f, g);
	if (used.runs)
		tell(f, FACT_UID, used.uid);
	if (used.runs)
		tell(f, FACT_CPU_LEAST, (int64_t)used.cpu);
	if (used.runs && t == g)
		tell(f, FACT_AGE, (int64_t)used.age);
}

/* ---- records: how each of them changes a task ---- */

/* Follow a record of sys_enter. */
static void entered(struct facts *f, struct fact_task *t, const struct record *r)
{
	struct fact_task *g;

	set(t, OWN_CODE, 0);
	switch (facts_number(f, 0, r)) {
	case SYS_exit:
		t->code = (uint16_t)((facts_argument(f, 0, r) & 0xff) << 8);
		set(t, 0, OWN_CODE);
		break;
	case SYS_exit_group:
		end_group(group_of(f, t), (unsigned)(facts_argument(f, 0, r) & 0xff) << 8);
		break;
	case SYS_execve:
	case SYS_execveat:
		g = group_of(f, t);
		if (!g)
			break;
		set(g, 0, EXEC);
		g->execer = t->comm.pid;
		break;
	}
}

/* Follow a record of sys_exit: execve failed; or exit_group returned, a call of another ABI. */
static void returned(struct facts *f, struct fact_task *t, const struct record *r)
{
	int64_t id = facts_number(f, 0, r);
	int executes = id == SYS_execve || id == SYS_execveat;
	struct fact_task *g = executes || id == SYS_exit_group ? group_of(f, t) : NULL;

	if (g)
		set(g, executes ? EXEC : GROUP_CODE, 0);
}

/* Follow a record of task_newtask. */
static void born(struct facts *f, struct fact_task *creator, const struct record *r)
{
	int pid = (int)facts_number(f, 0, r);
	uint64_t flags = (uint64_t)facts_number(f, 1, r);
	struct fact_task *g = creator ? group_of(f, creator) : NULL;
	struct fact_task *t = facts_task(f, pid);

	if (!t)
		return;
	renew(f, t);
	t->since = r->ts;
	set(t, 0, BORN);
	if (f->begins)
		f->begins(f->arg, pid);
	t->comm.tgid = g && flags & THREAD ? g->comm.pid : pid;
	if (g && flags & THREAD) {
		g->threads = (uint16_t)(g->threads + (g->threads > 0));
		set(t, 0, creator->state & GUESS);
		if (!(t->state & GUESS))
			tell(f, FACT_PROCESS, g->comm.pid);
		return;
	}
	t->threads = 1;
	tell(f, FACT_PROCESS, pid);
	if (!g || creator->state & GUESS)
		return;
	if (flags & PARENT) {
		t->parent = g->parent;
		t->parent_life = g->parent_life;
	} else {
		set_parent(t, g);
	}
	tell_parent(f, t);
}

/*
 * Follow a record of sched_process_exec. A thread that is not the leader becomes the leader, and
 * takes the leader's pid.
 */
static void executed(struct facts *f, const struct record *r)
{
	int pid = record_pid(f->events, r), old_pid = (int)facts_number(f, 0, r);
	struct fact_task *t = facts_task(f, pid), *old;

	if (!t)
		return;
	set(t, EXEC | GROUP_CODE | OWN_CODE | OVER | GONE | GUESS, 0);
	t->sent = 0;
	t->comm.tgid = pid;
	t->threads = 1;
	if (!old_pid || old_pid == pid)
		return;
	tell(f, FACT_EXEC_THREAD, old_pid);
	old = facts_task(f, old_pid);
	if (old)
		set(old, 0, OVER);
}

/* ---- the interface ---- */

void facts_begin(struct facts *f, struct event_set *evs)
{
	f->events = evs;
	event_notes_free(&f->roles);
	f->tasks.size = sizeof(struct fact_task);
}

void facts_learn(struct facts *f, const struct record *r, int lost)
{
	const enum fact_role role = (f->now = event_seen(&f->roles, f->events, r, roles, 0))->kind;
	struct fact_task *t;
	int pid;

	f->told = 0;
	if (lost)
		forget(f);
	prune(f);
	if (role == ROLE_NONE || role == ROLE_RENAME)
		return;
	if (role == ROLE_EXEC)
		executed(f, r);
	if (role == ROLE_GENERATE)
		generated(f, r);
	pid = record_pid(f->events, r);
	t = facts_task(f, pid);
	if (t && t->state & OVER && role != ROLE_GENERATE)
		renew(f, t);
	t = known(f, pid);
	if (t && !t->since)
		t->since = r->ts;
	if (role == ROLE_NEWTASK)
		born(f, t, r);
	else if (t && role == ROLE_ENTER)
		entered(f, t, r);
	else if (t && role == ROLE_EXIT)
		returned(f, t, r);
	else if (t && role == ROLE_DELIVER)
		delivered(f, t, r);
	else if (t && role == ROLE_END)
		ended(f, t, r);
}

int64_t facts_signal(const struct facts *f, const struct record *r)
{
	if (f->now->kind != ROLE_DELIVER && f->now->kind != ROLE_GENERATE)
		return 0;
	return facts_knows(f, FACT_SENT) ? f->value[FACT_SENT] : facts_number(f, 0, r);
}

static void put_word(struct out *o, const char *name, const char *text)
{
	json_key(o, name, strlen(name));
	json_string(o, text, strlen(text));
}

void facts_put(const struct facts *f, struct out *o, int json)
{
	static const char *const names[FACTS] = { FACT_NAMES };
	char words[EXIT_WORDS];

	for (unsigned i = 0; i < FACTS; i++) {
		if (!facts_knows(f, i))
			continue;
		if (!json) {
			out_format(o, " %s=%lld", names[i], (long long)f->value[i]);
			continue;
		}
		json_key(o, names[i], strlen(names[i]));
		out_signed(o, f->value[i]);
		if (i == FACT_SENT && name_of_signal(f->value[i]))
			put_word(o, "signal", name_of_signal(f->value[i]));
		else if (i == FACT_CODE)
			put_word(o, "end", exit_words((unsigned)f->value[i], words));
	}
}
