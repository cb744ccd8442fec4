/* SPDX-License-Identifier: ISC */
/* process.c - whose uid and name is which, and who ends, followed through a trace */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "follow.h"
#include "tfs.h"

/* ---- tasks ------------------------------------------------------------------------- */

/* What is known of a task that comes by: what somebody saw, or procfs shows. */
static void look_up(struct process *p, struct comm *t)
{
	struct line *l = p->line;
	int pid = t->pid, ok;
	const char *name;
	pid_t tgid;
	uid_t uid;

	if (p->by_uid && !(t->state & UID_KNOWN)) {
		ok = pids_has(&p->uids, pid);
		if (!ok && !pids_has(&p->uids, -pid) && p->live &&
		    !task_ids(pid, &tgid, &uid))
			ok = uid == p->uid;
		set(t, UID_KNOWN | UID_OK, ok ? UID_KNOWN | UID_OK : UID_KNOWN);
	}
	if (p->comm && !(t->state & COMM_KNOWN)) {
		ok = pids_has(&p->comms, pid);
		if (!ok && !pids_has(&p->comms, -pid)) {
			if (l->who)
				l->who(l->arg, pid);
			name = task_name(l->events, pid);
			ok = name && !strcmp(name, p->comm);
		}
		set(t, COMM_KNOWN | COMM_OK, ok ? COMM_KNOWN | COMM_OK : COMM_KNOWN);
	}
}

/* The task whose record it is, its process's leader made as well; NULL: none. */
HOT static struct comm *known(struct process *p, int pid)
{
	struct comm *t = task(p, pid);
	unsigned want = (p->by_uid ? UID_KNOWN : 0u) | (p->comm ? COMM_KNOWN : 0u);

	if (t && !t->tgid) {
		pid_t tgid = pid;
		uid_t uid;

		if (!p->live || task_ids(pid, &tgid, &uid) < 0)
			tgid = pid;
		task(p, tgid);
		t->tgid = tgid;
	}
	if (t && (t->state & want) != want)
		look_up(p, t);
	return t;
}

/* ---- what a record tells -------------------------------------------------------------- */

/* Is it the name that is wanted? As the kernel has it, to the byte. */
static int is_comm(const struct process *p, const struct value *v)
{
	return p->comm && v->kind == FIELD_STRING && strlen(p->comm) == v->n &&
	       !memcmp(p->comm, v->data, v->n);
}

/* Uids were of 16 bits, and -1 no other than it is now. */
static uint32_t uid_argument(struct process *p, unsigned i, const struct record *r, int old)
{
	uint32_t uid = (uint32_t)role_argument(p, i, r);

	return !old ? uid : (uint16_t)uid == 0xffff ? UINT32_MAX : (uint16_t)uid;
}

/* In a user namespace uids are counted otherwise. */
static uint32_t outside(const struct process *p, int pid, uint32_t uid)
{
	char path[PATH_MAX];
	const char *s;
	char *text;

	if (!p->live)
		return uid;
	format(path, sizeof(path), "%s/%d/uid_map", procfs(), pid);
	text = ctl_read(AT_FDCWD, path, NULL);
	for (s = text; s && *s;) {
		unsigned long long n[3];

		for (unsigned i = 0; i < 3; i++) {
			s += strspn(s, " \n");
			n[i] = digits_at(&s);
		}
		s += strspn(s, " \n");
		if (uid >= n[0] && uid - n[0] < n[2]) {
			uid = (uint32_t)(uid - n[0] + n[1]);
			break;
		}
		if (!n[2])
			break;
	}
	free(text);
	return uid;
}

static void entered(struct process *p, struct comm *t, const struct record *r)
{
	int64_t id = role_number(p, ROLE_ENTER, 0, r);
	unsigned bits = 0;
	int old = 0;

	if (t->state & (PENDING | EXEC | OWN_CODE))
		set(t, PENDING | PENDING_OK | PENDING_ASK | OWN_CODE, 0);
	switch (id) {
	case SYS_exit:
		t->code = (uint16_t)((role_argument(p, 0, r) & 0xff) << 8);
		bits = OWN_CODE;
		break;
	case SYS_exit_group:
		end_group(p, t, (unsigned)(role_argument(p, 0, r) & 0xff) << 8);
		break;
	case SYS_execve:
	case SYS_execveat:
		t = group_of(p, t);
		bits = EXEC;
		break;
#ifdef SYS_setuid32
	case SYS_setuid32:
	case SYS_setreuid32:
	case SYS_setresuid32:
		bits = PENDING | (id == SYS_setuid32 ? PENDING_ASK : 0);
		break;
#define OLD 1
#else
#define OLD 0
#endif
	case SYS_setuid:
	case SYS_setreuid:
	case SYS_setresuid:
		bits = PENDING | (id == SYS_setuid ? PENDING_ASK : 0);
		old = OLD;
		break;
	default:
		return;
	}
	if (bits & PENDING) {
		uint32_t uid = uid_argument(p, 0, r, old);

		if (!p->by_uid || uid == UINT32_MAX)
			return;
		if (outside(p, t->pid, uid) == p->uid)
			bits |= PENDING_OK;
	}
	if (t)
		set(t, 0, bits);
}

/* setuid changes only the effective uid of one who may not more. */
static int changed(const struct process *p, const struct comm *t)
{
	pid_t tgid;
	uid_t uid;

	if (!(t->state & PENDING_ASK) || !p->live || task_ids(t->pid, &tgid, &uid) < 0)
		return 1;
	return (uid == p->uid) == !!(t->state & PENDING_OK);
}

static void returned(struct process *p, struct comm *t, const struct record *r)
{
	struct comm *g;

	/* an execve that failed; an exit_group is another call, of another kind of task */
	g = group_of(p, t);
	if (g && g->state & (EXEC | GROUP_CODE)) {
		int64_t id = role_number(p, ROLE_EXIT, 0, r);

		if (id == SYS_execve || id == SYS_execveat)
			set(g, EXEC, 0);
		else if (id == SYS_exit_group)
			set(g, GROUP_CODE, 0);
	}
	if (!(t->state & PENDING))
		return;
	if (!role_number(p, ROLE_EXIT, 1, r) && changed(p, t))
		set(t, UID_OK, t->state & PENDING_OK ? UID_OK : 0);
	set(t, PENDING | PENDING_OK | PENDING_ASK, 0);
}

/* CLONE_THREAD */
#define THREAD 0x10000

static void born(struct process *p, struct comm *parent, const struct record *r)
{
	int pid = (int)role_number(p, ROLE_NEWTASK, 0, r);
	uint64_t flags = (uint64_t)role_number(p, ROLE_NEWTASK, 1, r);
	struct comm *g = parent && flags & THREAD ? group_of(p, parent) : NULL;
	unsigned state = parent ? parent->state & (UID_KNOWN | UID_OK) : 0;
	pid_t tgid = g ? g->pid : pid;
	struct comm *t = task(p, pid);
	struct value v;

	if (!t)
		return;
	if (!role_value(p, ROLE_NEWTASK, 2, r, &v))
		state |= is_comm(p, &v) ? COMM_KNOWN | COMM_OK : COMM_KNOWN;
	t->state = (uint16_t)state;
	t->sent = 0;
	t->tgid = tgid;
}

static void renamed(struct process *p, const struct record *r)
{
	const struct field *f = p->roles[ROLE_RENAME].field[0];
	struct comm *t = task(p, f ? (int)role_number(p, ROLE_RENAME, 0, r)
				   : record_pid(p->line->events, r));
	struct value v;

	if (t && !role_value(p, ROLE_RENAME, 1, r, &v))
		set(t, COMM_OK, is_comm(p, &v) ? COMM_KNOWN | COMM_OK : COMM_KNOWN);
}

/* A thread that is not the leader becomes it, with its uid and the leader's pid. */
static void executed(struct process *p, const struct record *r)
{
	int pid = record_pid(p->line->events, r);
	int old_pid = (int)role_number(p, ROLE_EXEC, 0, r);
	struct comm *old = old_pid && old_pid != pid ? task(p, old_pid) : NULL;
	unsigned uid = old ? old->state & (UID_KNOWN | UID_OK) : 0;
	struct comm *t = task(p, pid);

	if (!t)
		return;
	if (old)
		set(t, UID_KNOWN | UID_OK, uid);
	set(t, EXEC | GROUP_CODE | OWN_CODE | OVER, 0);
	t->sent = 0;
	t->tgid = pid;
	if (old)
		set(old, 0, OVER);
}

/* Nothing is known for certain any more. */
static void forget(struct process *p)
{
	struct comms *c = &p->line->events->comms;

	if (!p->live)
		return;
	for (size_t i = 0; i < c->room; i++)
		if (c->v[i])
			set(c->v[i], UID_KNOWN | COMM_KNOWN | PENDING | EXEC | OWN_CODE |
				     GROUP_CODE, 0);
	pids_clear(&p->uids);
	pids_clear(&p->comms);
}

HOT void process_learn(struct process *p, const struct record *r, int lost)
{
	enum role role = role_of(p, r);
	int pid = record_pid(p->line->events, r);
	struct comm *t;

	if (lost)
		forget(p);
	if (role == ROLE_RENAME) {
		renamed(p, r);
		return;
	}
	if (role == ROLE_EXEC)
		executed(p, r);
	if (role == ROLE_NONE && !p->by_uid && !p->comm)
		return;
	t = task(p, pid);
	if (t && t->state & OVER && role != ROLE_GENERATE && role != ROLE_NONE) {
		t->state = 0;
		t->tgid = 0;
	}
	t = known(p, pid);
	if (role == ROLE_NEWTASK)
		born(p, t, r);
	else if (role == ROLE_GENERATE)
		end_generated(p, r);
	if (!t)
		return;
	switch (role) {
	case ROLE_ENTER:
		entered(p, t, r);
		break;
	case ROLE_EXIT:
		returned(p, t, r);
		break;
	case ROLE_DELIVER:
		end_delivered(p, t, r);
		break;
	case ROLE_END:
		p->code = end_code(p, t);
		set(t, 0, OVER);
		break;
	default:
		break;
	}
}

HOT int process_picks(struct process *p, const struct record *r)
{
	struct comm *t;

	if (p->kinds && !role_shown(p, r))
		return 0;
	if (!p->by_uid && !p->comm)
		return 1;
	t = known(p, record_pid(p->line->events, r));
	return t && (!p->by_uid || t->state & UID_OK) && (!p->comm || t->state & COMM_OK);
}

/* ---- what is wanted, and the beginning ------------------------------------------------- */

void process_begin(struct process *p, struct line *l)
{
	p->line = l;
	memset(p->roles, 0, sizeof(p->roles));
	/* those that had the name had it to the record that says otherwise */
	for (size_t i = 0; p->comm && i < p->comms.n; i++)
		if (p->comms.v[i] > 0) {
			struct comm *t;

			comms_add(&l->events->comms, p->comms.v[i], p->comm, strlen(p->comm));
			t = task(p, p->comms.v[i]);
			if (t) {
				t->told = l->told;
				t->seen = l->seen;
			}
		}
}
