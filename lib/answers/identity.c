/* SPDX-License-Identifier: ISC */
/*
 * identity.c - the uid and the name that each task has at the time of a record
 *
 * In this file, each part uses those above it:
 *	tasks: the uid and the name that they have when they are first seen
 *	records: how each of them changes a task
 *	the interface
 */
#include <sys/syscall.h>

#include "base/base.h"
#include "proc/proc.h"
#include "event/event.h"
#include "answers/answers.h"
#include "answers/facts.h"

/* The bits of fact_task.marks */
enum {
	UID_KNOWN = 1, UID_OK = 2,      /* the task has the uid of -u */
	COMM_KNOWN = 4, COMM_OK = 8,    /* the task has the name of -C */
	PENDING = 16,                   /* in a system call that may change the uid */
	PENDING_OK = 32,                /* the call may change it to the uid of -u */
	PENDING_ASK = 64,               /* unknown: read procfs when the call returns */
};

/* Clear marks and set those of to. */
static void set(struct fact_task *t, unsigned marks, unsigned to)
{
	t->marks = (uint16_t)((t->marks & ~marks) | to);
}

/* ---- tasks ---- */

/* Find out whether a task has the uid and the name, from the caller (-U, -N) or procfs. */
static void look_up(struct identity *p, struct fact_task *t)
{
	struct line_format *l = p->line;
	int pid = t->comm.pid, ok;
	const char *name;
	pid_t tgid;
	uid_t uid;

	if (p->by_uid && !(t->marks & UID_KNOWN)) {
		ok = pids_has(&p->uids, pid);
		if (!ok && !pids_has(&p->uids, -pid) && p->facts->live &&
		    !task_ids(pid, &tgid, &uid))
			ok = uid == p->uid;
		set(t, UID_KNOWN | UID_OK, ok ? UID_KNOWN | UID_OK : UID_KNOWN);
	}
	if (p->comm && !(t->marks & COMM_KNOWN)) {
		ok = pids_has(&p->comms, pid);
		if (!ok && !pids_has(&p->comms, -pid)) {
			if (l->learn_name)
				l->learn_name(l->arg, pid);
			name = line_task_name(l->events, pid);
			ok = name && !strcmp(name, p->comm);
		}
		set(t, COMM_KNOWN | COMM_OK, ok ? COMM_KNOWN | COMM_OK : COMM_KNOWN);
	}
}

/* Return a task with uid and name known. NULL: no task. */
static struct fact_task *known(struct identity *p, int pid)
{
	struct fact_task *t = facts_task(p->facts, pid);
	unsigned want = (p->by_uid ? UID_KNOWN : 0u) | (p->comm ? COMM_KNOWN : 0u);

	if (t && (t->marks & want) != want)
		look_up(p, t);
	return t;
}

/* ---- records: how each of them changes a task ---- */

/* Is the field the name of -C, byte for byte? */
static int is_comm(const struct identity *p, const struct field_data *v)
{
	return p->comm && v->kind == FIELD_STRING && strlen(p->comm) == v->n &&
	       !memcmp(p->comm, v->data, v->n);
}

/* Follow a record of sys_enter: a call that may change the uid. */
static void entered(struct identity *p, struct fact_task *t, const struct record *r)
{
	int64_t id = facts_number(p->facts, 0, r);
	uint32_t uid = (uint32_t)facts_argument(p->facts, 0, r);
	unsigned marks = PENDING;

	set(t, PENDING | PENDING_OK | PENDING_ASK, 0);
	switch (id) {
#ifdef SYS_setuid32
	case SYS_setuid32:
	case SYS_setreuid32:
	case SYS_setresuid32:
		marks |= id == SYS_setuid32 ? PENDING_ASK : 0;
		break;
#endif
	case SYS_setuid:
	case SYS_setreuid:
	case SYS_setresuid:
		marks |= id == SYS_setuid ? PENDING_ASK : 0;
#ifdef SYS_setuid32 /* calls without 32 in the name take 16 bits, in which -1 is 0xffff */
		uid = (uint16_t)uid == 0xffff ? UINT32_MAX : (uint16_t)uid;
#endif
		break;
	default:
		return;
	}
	if (!p->by_uid || uid == UINT32_MAX)
		return;
	if (p->facts->live)
		uid = uid_outside(t->comm.pid, uid);
	set(t, 0, marks | (uid == p->uid ? PENDING_OK : 0));
}

/* Did the call change the real uid? Without CAP_SETUID, setuid changes the effective uid only. */
static int changed(const struct identity *p, const struct fact_task *t)
{
	pid_t tgid;
	uid_t uid;

	if (!(t->marks & PENDING_ASK) || !p->facts->live || task_ids(t->comm.pid, &tgid, &uid) < 0)
		return 1;
	return (uid == p->uid) == !!(t->marks & PENDING_OK);
}

/* Follow a record of sys_exit. */
static void returned(struct identity *p, struct fact_task *t, const struct record *r)
{
	if (!(t->marks & PENDING))
		return;
	if (!facts_number(p->facts, 1, r) && changed(p, t))
		set(t, UID_OK, t->marks & PENDING_OK ? UID_OK : 0);
	set(t, PENDING | PENDING_OK | PENDING_ASK, 0);
}

/* Follow a record of task_newtask: a new task has the uid of its parent. */
static void born(struct identity *p, const struct fact_task *parent, const struct record *r)
{
	struct fact_task *t = facts_task(p->facts, (int)facts_number(p->facts, 0, r));
	struct field_data v;

	if (t && parent)
		set(t, 0, parent->marks & (UID_KNOWN | UID_OK));
	if (t && !facts_field(p->facts, 2, r, &v))
		set(t, 0, is_comm(p, &v) ? COMM_KNOWN | COMM_OK : COMM_KNOWN);
}

/* Follow a record of task_rename. */
static void renamed(struct identity *p, const struct record *r)
{
	struct facts *f = p->facts;
	struct fact_task *t = facts_task(f, f->now->field[0] ? (int)facts_number(f, 0, r)
				       : record_pid(p->line->events, r));
	struct field_data v;

	if (t && !facts_field(f, 1, r, &v))
		set(t, COMM_OK, is_comm(p, &v) ? COMM_KNOWN | COMM_OK : COMM_KNOWN);
}

/* Follow a record of sched_process_exec: a thread that becomes the leader keeps its uid. */
static void executed(struct identity *p, struct fact_task *t, const struct record *r)
{
	struct fact_task *old = facts_task(p->facts, (int)facts_number(p->facts, 0, r));

	if (old && old != t)
		set(t, UID_KNOWN | UID_OK, old->marks & (UID_KNOWN | UID_OK));
}

/* ---- the interface ---- */

void identity_begin(struct identity *p, struct line_format *l, struct facts *f)
{
	p->line = l;
	p->facts = f;
	/* a task of -N has the name until a record changes it */
	for (size_t i = 0; p->comm && i < p->comms.n; i++)
		if (p->comms.v[i] > 0)
			line_task(l, p->comms.v[i], 0, p->comm, strlen(p->comm));
}

void identity_learn(struct identity *p, const struct record *r, int lost)
{
	enum fact_role role = p->facts->now->kind;
	struct fact_task *t;

	if (lost && p->facts->live) {
		pids_clear(&p->uids);
		pids_clear(&p->comms);
	}
	if (role == ROLE_RENAME)
		renamed(p, r);
	if (role == ROLE_RENAME || !(p->by_uid || p->comm))
		return;
	t = facts_task(p->facts, record_pid(p->line->events, r));
	if (t && role == ROLE_EXEC)
		executed(p, t, r);
	t = known(p, record_pid(p->line->events, r));
	if (role == ROLE_NEWTASK)
		born(p, t, r);
	else if (t && role == ROLE_ENTER)
		entered(p, t, r);
	else if (t && role == ROLE_EXIT)
		returned(p, t, r);
}

int identity_picks(struct identity *p, const struct record *r)
{
	struct fact_task *t;

	if (!p->by_uid && !p->comm)
		return 1;
	t = known(p, record_pid(p->line->events, r));
	return t && (!p->by_uid || t->marks & UID_OK) && (!p->comm || t->marks & COMM_OK);
}
