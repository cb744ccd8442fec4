/* SPDX-License-Identifier: ISC */
/* subjects.c - select the records that are about given tasks and their later children */

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "event/event.h"
#include "select/select.h"

/* How a task joins by an event. After POPULATED and SETS_UID, a later event decides. */
enum join { NO_JOIN, JOIN_NEW, JOIN_NAME, JOIN_CGROUP, POPULATED, EXECUTED, SETS_UID, JOIN_SETUID,
	    JOIN_UID };

/* The task that an event is about, and whether a task joins by this event. */
struct about {
	enum { UNDECIDED, RUNNING, OTHER, EITHER, EVERY, HIDDEN } who;
	enum join join;
	const struct field *field; /* NULL, or the field with the pid of the other task */
};

static int is_in(const unsigned char *bits, int64_t pid)
{
	return pid > 0 && pid < K_PID_MAX_LIMIT && bits[pid / 8] >> pid % 8 & 1;
}

static void put(unsigned char *bits, int64_t pid, int is)
{
	if (pid <= 0 || pid >= K_PID_MAX_LIMIT)
		return;
	bits[pid / 8] &= (unsigned char)~(1u << pid % 8);
	bits[pid / 8] |= (unsigned char)((unsigned)is << pid % 8);
}

int subjects_have(const struct subjects *s, int64_t pid)
{
	return is_in(s->member, pid);
}

static void set(struct subjects *s, int64_t pid, int member)
{
	if (s->names && member && !subjects_have(s, pid))
		pids_add(&s->joined, (pid_t)pid);
	put(s->member, pid, member);
}

int subjects_begin(struct subjects *s, const struct pids *pids)
{
	s->member = calloc(K_PID_MAX_LIMIT / 8, 1);
	s->joining = calloc(K_PID_MAX_LIMIT / 8, 1);
	if (!s->member || !s->joining)
		return err_msg("out of memory");
	s->rules = s->rules ? s->rules : "";
	for (size_t i = 0; i < pids->n; i++)
		put(s->member, pids->v[i], 1);
	return 0;
}

static enum join join_of(const struct event *e)
{
	static const struct { char name[24]; enum join join; } events[] = {
		{ "cgroup_attach_task", JOIN_CGROUP }, { "cgroup_notify_populated", POPULATED },
		{ "sched_process_exec", EXECUTED }, { "sys_enter_setuid", SETS_UID },
		{ "sys_enter_setreuid", SETS_UID }, { "sys_enter_setresuid", SETS_UID },
		{ "sys_exit_setuid", JOIN_SETUID }, { "sys_exit_setreuid", JOIN_UID },
		{ "sys_exit_setresuid", JOIN_UID },
	};

	if (!strcmp(e->system, "task"))
		return !strcmp(e->name, "task_newtask") ? JOIN_NEW :
		       !strcmp(e->name, "task_rename") ? JOIN_NAME : NO_JOIN;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		if (!strcmp(e->name, events[i].name))
			return events[i].join;
	return NO_JOIN;
}

int subjects_hide(const struct subjects *s, const struct event *e)
{
	char name[128];

	if (!s->hidden)
		return 0;
	str_format(name, sizeof(name), "%s:%s", e->system, e->name);
	return glob_listed(s->hidden, name);
}

/* Decide once which task the event is about. */
static void decide(const struct subjects *sel, struct about *a, const struct event *e)
{
	const struct subject *s = subject_of(e->system, e->name);

	a->join = join_of(e);
	/* the pid filter does not apply to markers */
	a->who = strcmp(e->system, "ftrace") || !strncmp(e->name, "func", 4) ? RUNNING : EVERY;
	a->field = s && s->kind != SUBJECT_NONE ? event_field(e, s->field) : NULL;
	if (a->field)
		a->who = s->kind == SUBJECT_OTHER ? OTHER : EITHER;
	if (subjects_hide(sel, e))
		a->who = HIDDEN;
}

/* ---- tasks that join ---- */

/*
 * Did the call that returns give the task this real uid? A task may be gone when its record is
 * read, so trust the argument of the call. But without CAP_SETUID, setuid changes only the
 * effective uid, so look at the uid of a task that is alive.
 */
static int got_uid(const struct subjects *s, const struct about *a, int pid, unsigned long number)
{
	pid_t tgid;
	uid_t uid;
	int alive = !task_ids(pid, &tgid, &uid);

	return (alive && uid == number) ||
	       (is_in(s->joining, pid) && !(alive && a->join == JOIN_SETUID));
}

/* Return the value of a rule KEY=VALUE if it has this key, or else NULL. */
static const char *value_of(const char *rule, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(rule, key, n) && rule[n] == '=' ? rule + n + 1 : NULL;
}

/*
 * Does the task join by this rule, KEY=VALUE without its newline? Return -1 if the task is gone, so
 * that its cgroup is not known. For POPULATED and SETS_UID, return whether the task or its child
 * may join at a later event.
 */
static int joins(const struct subjects *s, const struct about *a, const struct event_set *evs,
		 const struct event *e, const struct record *r, int pid, const char *rule)
{
	const struct field *arg;
	const char *comm = value_of(rule, "comm"), *id = value_of(rule, "uid");
	const char *container = value_of(rule, "container");
	struct cgroup_name cgroup = { .container = container != NULL,
				      .text = container ? container : value_of(rule, "cgroup") };
	uint64_t uid = id ? text_value(id, NULL, 10) : 0;
	int64_t flags;

	switch (a->join) {
	case JOIN_NAME:
		return comm && !strcmp(comm, field_string(evs, event_field(e, "newcomm"), r));
	case JOIN_CGROUP:
		return cgroup.text &&
		       cgroup_is_named(field_string(evs, event_field(e, "dst_path"), r), &cgroup);
	case JOIN_NEW:
		flags = field_integer(evs, event_field(e, "clone_flags"), r);
		return !cgroup.text || subjects_have(s, pid) || !(flags & K_CLONE_INTO_CGROUP) ? 0 :
		       is_in(s->joining, record_pid(evs, r)) ? 1 : cgroup_names_task(&cgroup, pid);
	case POPULATED: /* the parent runs: clone3 makes its child in this cgroup */
		return cgroup.text && field_integer(evs, event_field(e, "val"), r) &&
		       cgroup_is_named(field_string(evs, event_field(e, "path"), r), &cgroup);
	case SETS_UID:
		arg = event_field(e, "uid");
		arg = arg ? arg : event_field(e, "ruid");
		return id && uid_outside(pid, (uid_t)field_integer(evs, arg, r)) == uid;
	case JOIN_SETUID:
	case JOIN_UID:
		return id && !field_integer(evs, event_field(e, "ret"), r) &&
		       got_uid(s, a, pid, (unsigned long)uid);
	default:
		return 0;
	}
}

/* A task that enters a cgroup takes its threads with it. */
static void set_threads(struct subjects *s, pid_t pid)
{
	struct pids threads = { 0 };
	struct task t;

	if (!task_read(pid, &t))
		task_add_threads(&threads, &t);
	for (size_t i = 0; i < threads.n; i++)
		set(s, threads.v[i], 1);
	pids_clear(&threads);
}

/* Let the task of the event join, if one of the rules says so. */
static void join(struct subjects *s, const struct about *a, const struct event_set *evs,
		 const struct event *e, const struct record *r)
{
	int64_t other = field_integer(evs, event_field(e, "pid"), r);
	int pid = other ? (int)other : record_pid(evs, r);
	int running = record_pid(evs, r), before = a->join == POPULATED || a->join == SETS_UID;
	char rule[PATH_MAX + 16];
	int unplaced = 0, is;
	size_t n;

	/* a thread that executes a program takes the pid of its process */
	if (a->join == EXECUTED &&
	    subjects_have(s, field_integer(evs, event_field(e, "old_pid"), r)))
		set(s, pid, 1);
	for (const char *at = s->rules; *at; at += n + 1) {
		n = strcspn(at, "\n");
		str_format(rule, sizeof(rule), "%.*s", (int)n, at);
		is = joins(s, a, evs, e, r, pid, rule);
		unplaced |= is < 0;
		if (is <= 0)
			continue;
		if (before)
			put(s->joining, running, 1);
		else
			set(s, pid, 1);
		s->joins++;
		if (a->join == JOIN_CGROUP)
			set_threads(s, pid);
	}
	s->unplaced += unplaced && !subjects_have(s, pid);
	if (!before)
		put(s->joining, running, 0);
}

int subjects_pick(struct subjects *s, struct event_set *evs, const struct record *r)
{
	const struct event *e = event_wanted(evs, r);
	int running = subjects_have(s, record_pid(evs, r));
	struct about *a;

	if (!e)
		return running;
	a = event_note(&s->about, e, sizeof(*a));
	if (a->who == UNDECIDED)
		decide(s, a, e);
	if (e->id == evs->newtask)
		set(s, field_integer(evs, event_field(e, "pid"), r), running);
	if (a->join && *s->rules) {
		join(s, a, evs, e, r);
		running = subjects_have(s, record_pid(evs, r));
	}
	if (a->who == HIDDEN)
		return 0;
	return a->who == EVERY || (a->who != OTHER && running) ||
	       (a->who != RUNNING && subjects_have(s, field_integer(evs, a->field, r)));
}
